"""Files are written whole or not at all; pipes are read like files."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ir_lexirecall as irl
from ir_lexirecall.io import files
from ir_lexirecall.io.files import File, written_whole

QRELS = "q1 0 a 1\nq1 0 c 2\nq2 0 a 2\n"
RUN = "q1 Q0 a 1 3.0 t\nq1 Q0 x 2 2.0 t\nq1 Q0 c 3 1.0 t\nq2 Q0 x 1 1 t\n"


def write(path, content="new"):
    with written_whole(path) as temporary:
        temporary.write_text(content)


def test_a_new_file_and_an_existing_one(tmp_path):
    path = tmp_path / "table.txt"
    write(path)
    assert path.read_text() == "new"
    write(str(path), "newer")
    assert path.read_text() == "newer"
    assert os.listdir(tmp_path) == ["table.txt"]


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, ValueError, MemoryError, SystemExit, GeneratorExit]
)
@pytest.mark.parametrize("existing", [True, False])
def test_what_is_not_finished_leaves_everything_as_it_was(error, existing, tmp_path):
    path = tmp_path / "table.txt"
    if existing:
        path.write_text("old")

    def fail():
        with written_whole(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert os.listdir(tmp_path) == (["table.txt"] if existing else [])
    assert not existing or path.read_text() == "old"


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "table.txt"
    path.write_text("old")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write(path)
    assert caught.value.filename == str(path)  # not the temporary one
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["table.txt"]


def test_a_process_that_is_killed_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "table.txt"
    path.write_text("old")
    script = (
        "import os, signal, sys\nfrom ir_lexirecall.io.files import written_whole\n"
        "with written_whole(sys.argv[1]) as temporary:\n"
        "    temporary.write_text('half')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(irl.__file__).parents[1])}
    killed = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        env=environment,
        check=False,
        timeout=600,
    )
    assert killed.returncode == -signal.SIGKILL
    assert path.read_text() == "old"


def test_permissions_stay(tmp_path):
    path = tmp_path / "private"
    path.touch(0o600)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o664)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o664


def test_the_content_of_a_private_file_is_private_from_the_start(tmp_path):
    path = tmp_path / "private"
    path.touch(0o600)
    with written_whole(path) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
        temporary.write_text("secret")


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("none/x", FileNotFoundError),
        (".", IsADirectoryError),
        ("file/x", NotADirectoryError),
    ],
)
def test_errors_name_the_file(name, error, tmp_path):
    (tmp_path / "file").touch()
    path = str(tmp_path / name)
    with pytest.raises(error) as caught:
        write(path)
    assert caught.value.filename == path


def test_what_is_not_a_regular_file_gets_the_content(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write(pipe)
    reader.join()
    assert read == ["new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write("/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


# -- pipes -------------------------------------------------------------------------------------------


@pytest.fixture
def pipe(tmp_path):
    """Gives the path of a pipe out of which a text comes, once."""
    writers = []

    def make(name, content):
        path = tmp_path / name
        os.mkfifo(path)
        content = content if isinstance(content, bytes) else content.encode()
        writers.append(threading.Thread(target=path.write_bytes, args=(content,)))
        writers[-1].start()
        return str(path)

    yield make
    for writer in writers:
        writer.join()


def test_runs_and_qrels_come_out_of_pipes(pipe, tmp_path):
    qrels, run = tmp_path / "qrels.txt", tmp_path / "bm25.run"
    qrels.write_text(QRELS)
    run.write_text(RUN)
    expected = irl.evaluate(["LR", "AP"], str(qrels), str(run))
    assert irl.evaluate(["LR", "AP"], pipe("q", QRELS), pipe("r", RUN)).equals(expected)


def test_tables_and_packed_files_come_out_of_pipes(pipe, tmp_path):
    expected = irl.evaluate("LR", {"q1": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}})
    for ending, content in {
        ".csv": b"query_id,doc_id,score\nq1,b,2\nq1,a,1\n",
        ".run.gz": gzip.compress(b"q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n"),
    }.items():
        assert irl.evaluate("LR", {"q1": {"a": 1}}, pipe(f"r{ending}", content)).equals(
            expected
        )


def test_a_pipe_whose_queries_do_not_stand_together_is_read_twice(pipe):
    scattered = "q1 Q0 a 1 3 t\nq2 Q0 x 1 1 t\nq1 Q0 c 2 2 t\n"
    expected = irl.evaluate(
        "LR",
        {"q1": {"a": 1, "c": 1}, "q2": {"a": 1}},
        {"q1": {"a": 3.0, "c": 2.0}, "q2": {"x": 1.0}},
    )
    with pytest.warns(UserWarning, match="reading the file again"):
        values = irl.evaluate(
            "LR", {"q1": {"a": 1, "c": 1}, "q2": {"a": 1}}, pipe("r", scattered)
        )
    assert values.equals(expected)


def test_errors_name_the_pipe_and_the_line(pipe):
    path = pipe("r", RUN + "q3 Q0 a 1 high t\n")
    with pytest.raises(ValueError, match=rf"^evaluate: {path}, line 5: .*'high'"):
        irl.evaluate("LR", {"q1": {"a": 1}}, path)


def test_the_copy_of_a_pipe_is_private_and_goes(pipe):
    file = File.opened(pipe("p", "text"))
    copy = Path(file.content)
    assert file.path.endswith("p")
    assert copy.read_text() == "text"
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    del file
    assert not copy.parent.exists()


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/full", "/dev/urandom"])
@pytest.mark.parametrize(
    "call",
    [
        lambda device: irl.evaluate("AP", device, {"q": {"a": 1.0}}),
        lambda device: irl.evaluate("AP", {"q": {"a": 1}}, device),
        lambda device: irl.compare(values={"x": device, "y": device}),
    ],
    ids=["qrels", "run", "values"],
)
def test_a_device_that_never_ends_is_refused(
    call: Callable[[str], Any], device: str
) -> None:
    if not os.path.exists(device):
        pytest.skip("there is no such device")
    with pytest.raises(ValueError, match=f"{device} is a device, not a file"):
        call(device)


LINE = b"q1 Q0 d%d 1 1.0 t\n"
ENDLESS = {
    "zeros": (b"\0" * 2**21, "it begins with zeros"),
    "random bytes": (bytes(range(1, 256)) * 2**13, "not UTF-8"),
    "one line": (b"y\n" * 2**20, "the line 'y' is repeated again and again"),
    "one row": (LINE % 1 * 2**17, "the line 'q1 Q0 d1 1 1.0 t' is repeated"),
    "empty lines": (b"\n" * 2**21, "the line '' is repeated again and again"),
    "no line": (b"a" * 2**21, "line 1: longer than 1,048,576 bytes"),
}


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Replaces standard input by one with some content."""

    def replace(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return replace


@pytest.mark.parametrize("name", ENDLESS)
def test_input_that_never_ends_is_refused_by_its_beginning(
    name: str, stdin: Callable[[bytes], None]
) -> None:
    content, message = ENDLESS[name]
    stdin(content)
    with pytest.raises(ValueError, match=f"^evaluate: -.*{message}"):
        irl.evaluate("AP", {"q1": {"a": 1}}, "-")


def test_standard_input_from_a_device_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not os.path.exists("/dev/zero"):
        pytest.skip("there is no such device")
    with open("/dev/zero") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        with pytest.raises(ValueError, match=r"^evaluate: - is a device"):
            irl.evaluate("AP", {"q1": {"a": 1}}, "-")


def test_input_beyond_the_limit_is_refused(
    stdin: Callable[[bytes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"".join(LINE % number for number in range(150_000))
    stdin(content)
    file = File.opened("-")
    assert Path(file.content).read_bytes() == content
    monkeypatch.setattr(files, "_LARGEST_COPY", 2**21)
    stdin(content)
    with pytest.raises(
        ValueError, match="bytes are read, and more follow; does it end"
    ):
        File.opened("-")


@pytest.mark.parametrize(
    "content",
    [
        b'[{"query_id": "' + b"q" * 2**21 + b'"}]',
        gzip.compress(b"y\n" * 2**26, 1),
        b"PAR1" + b"\xff" * 2**21,
        "\u20ac\n".encode() + b"a\xcc\x88\n" * 2**19,
    ],
    ids=["JSON", "packed", "Parquet", "UTF-8"],
)
def test_long_pipes_of_other_formats_are_copied(
    pipe: Callable[..., str], content: bytes
) -> None:
    file = File.opened(pipe("p", content))
    assert Path(file.content).read_bytes() == content


@pytest.mark.parametrize("line", [b"\n", b"#\n", b" \n", b"\r\n", b"# a comment\n"])
def test_lines_without_rows_are_left_out_of_every_block(
    line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_BLOCK", 64)
    path = tmp_path / "a.run"
    path.write_bytes(line * 100 + b"q Q0 a 1 2 t\n" + line * 100 + b"q Q0 b x y t\n")
    with pytest.raises(ValueError, match=r"a.run, line 202: .*'y', not a number"):
        irl.evaluate("AP", {"q": {"a": 1}}, path)
    path.write_bytes(line * 100 + b"q Q0 x 1 2 t\n" + line * 100 + b"q Q0 a 2 1 t\n")
    assert irl.evaluate("AP", {"q": {"a": 1}}, path)["AP"].tolist() == [0.5]


RUN_LINES = "q Q0 a 1 3.0 t\nq Q0 b 2 2.0 t\n", "q Q0 c 3 1.0 t\nr Q0 a 1 1.0 t\n"
CSV_LINES = "query_id,doc_id,score\nq,a,3.0\nq,b,2.0\n", "q,c,1.0\nr,a,1.0\n"
TSV_LINES = tuple(text.replace(",", "\t") for text in CSV_LINES)
JSON_LINES = tuple(
    "".join(
        json.dumps({"query_id": query_id, "doc_id": doc_id, "score": score}) + "\n"
        for query_id, doc_id, score in rows
    )
    for rows in (
        [("q", "a", 3.0), ("q", "b", 2.0)],
        [("q", "c", 1.0), ("r", "a", 1.0)],
    )
)
PARTS = {"x.run": RUN_LINES, "x.csv": CSV_LINES, "x.tsv": TSV_LINES}
QRELS_OF_PARTS = {"q": {"a": 0, "c": 1}, "r": {"a": 1}}


@pytest.mark.parametrize(
    ("name", "parts"), [*PARTS.items(), ("x.jsonl", JSON_LINES)], ids=str
)
def test_marks_of_files_that_were_appended_to_each_other_do_not_count(
    name: str, parts: tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text("\ufeff" + "\ufeff".join(parts), encoding="utf-8")
    values = irl.evaluate("AP", QRELS_OF_PARTS, path)
    assert values["AP"].tolist() == pytest.approx([1 / 3, 1])


@pytest.mark.parametrize(("name", "parts"), PARTS.items(), ids=str)
@pytest.mark.parametrize("zeros", ["\0", "\0" * 600])
def test_zeros_within_a_text_are_refused_with_their_line(
    zeros: str, name: str, parts: tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(parts[0] + zeros + parts[1])
    line = parts[0].count("\n") + 1
    with pytest.raises(ValueError, match=rf"{name}, line {line}: a zero \(NUL\)"):
        irl.evaluate("AP", QRELS_OF_PARTS, path)


@pytest.mark.parametrize(("name", "parts"), PARTS.items(), ids=str)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_text_in_utf_16_is_named(
    encoding: str, name: str, parts: tuple[str, str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(("\ufeff" + parts[0]).encode(encoding))
    with pytest.raises(ValueError, match=f"{name} cannot be read: it is a text in UTF"):
        irl.evaluate("AP", QRELS_OF_PARTS, path)
