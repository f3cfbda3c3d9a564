"""Whatever happens, the command line ends with one line and a documented exit code, and writes files whole or not at all."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd
import pytest
from command_line import BM25, Cli, exit_code, program

from ir_lexirecall.cli import eval as evaluation
from ir_lexirecall.cli import main
from ir_lexirecall.cli.output import FORMATS, for_programs
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.plots.kinds import KINDS

pytestmark = pytest.mark.sparse

EVAL = ("eval", "qrels.txt", "bm25.run", "dph.txt", "-m", "LR")


def failing(error: BaseException) -> Callable[..., NoReturn]:
    def fail(*_: Any, **__: Any) -> NoReturn:
        raise error

    return fail


# -- input -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (("eval", "qrels.txt", "bm25.run", "-m", "AP", "-o"), "qrels.txt"),
        (("eval", "qrels.txt", "bm25.run", "-m", "AP", "-o"), "./bm25.run"),
        (("eval", "qrels.txt", "*.run", "-m", "AP", "-o"), "bm25.run"),
        (("compare", "qrels.txt", "bm25.run", "dph.txt", "-o"), "dph.txt"),
        (("compare", "qrels.txt", "bm25.run", "dph.txt", "--plot"), "dph.txt"),
        (("report", "qrels.txt", "bm25.run", "dph.txt", "-o"), "qrels.txt"),
        (("gate", "qrels.txt", "bm25.run", "dph.txt", "-m", "AP", "-o"), "dph.txt"),
        (("to-judge", "qrels.txt", "bm25.run", "dph.txt", "-o"), "bm25.run"),
        (("merge-judged", "qrels.txt", "qrels.txt", "-o"), "qrels.txt"),
        (("eval", "qrels.txt", "bm25.run", "-m", "AP", "-o"), "link.txt"),
    ],
    ids=lambda words: words if isinstance(words, str) else words[0],
)
def test_a_file_that_is_read_is_not_written(
    words: tuple[str, ...], written: str, cli: Cli
) -> None:
    Path("link.txt").symlink_to("qrels.txt")
    before = Path(written).read_bytes()
    said = cli(*words, written)
    assert said.code == 1
    assert "this file is read, and would be overwritten; name another" in said.err
    assert Path(written).read_bytes() == before


def test_a_run_is_the_same_however_its_path_is_written(cli: Cli) -> None:
    said = cli("eval", "qrels.txt", "bm25.run", "./bm25.run", "-m", "AP")
    assert said.code == 1
    assert "bm25.run: the same run is given twice" in said.err


def test_a_directory_is_a_directory(cli: Cli) -> None:
    Path("folder").mkdir()
    for words in (
        ("folder", "bm25.run"),
        ("qrels.txt", "folder"),
        ("qrels.txt", "folder/"),
    ):
        said = cli("eval", *words, "-m", "LR")
        assert (said.code, said.out) == (1, "")
        assert "is a directory" in said.err
        assert "no such file" not in said.err


def test_standard_input(process: Cli, cli: Cli) -> None:
    expected = cli("eval", "qrels.txt", "bm25.run", "-m", "LR", "AP", "--format", "tsv")
    said = process(
        "eval", "qrels.txt", "-", "-m", "LR", "AP", "--format", "tsv", stdin=BM25
    )
    assert (said.code, said.err) == (0, "")
    assert said.out == expected.out.replace("bm25", "stdin")
    qrels = Path("qrels.txt").read_text()
    assert (
        process(
            "eval", "-", "bm25.run", "-m", "LR", "AP", "--format", "tsv", stdin=qrels
        )
        == expected
    )


def test_standard_input_is_read_once(cli: Cli) -> None:
    for words in (
        ("-", "-"),
        ("qrels.txt", "-", "-"),
        ("-", "bm25.run", "--aspect", "quality=-"),
    ):
        said = cli("eval", *words, "-m", "LR")
        assert (said.code, said.out) == (1, "")
        assert said.err.startswith("ir-lexirecall: eval: -: ")


# -- interruptions -----------------------------------------------------------------------------------


def test_an_interruption_is_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        evaluation.ScoredRuns, "from_runs", failing(KeyboardInterrupt())
    )
    assert cli(*EVAL) == (130, "", "ir-lexirecall: interrupted\n")


def test_ctrl_c_while_it_reads(folder: Path) -> None:
    with subprocess.Popen(
        program("eval", "qrels.txt", "-", "-m", "LR"),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        try:
            wait_until(lambda: reads(running.pid) or running.poll() is not None)
            running.send_signal(signal.SIGINT)
            code = running.wait(30)
        finally:
            running.kill()
        out, err = running.stdout.read(), running.stderr.read()  # type: ignore[union-attr]
        assert (code, out, err) == (130, b"", b"ir-lexirecall: interrupted\n")


def reads(pid: int) -> bool:
    """Whether a process waits for its standard input."""
    try:
        return (
            Path(f"/proc/{pid}/syscall").read_text().startswith("0 0x0 ")
        )  # read(0, ...)
    except OSError:
        pytest.skip("this system does not say what a process waits for")


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("closed", "said"),
    [("", "ir-lexirecall: interrupted\n"), ("2>&-", "")],
    ids=["heard", "unheard"],
)
def test_ctrl_c_before_the_command_line_is_loaded(closed: str, said: str) -> None:
    program = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'ir_lexirecall': raise KeyboardInterrupt\n"
        "from shell_lexirecall import run\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "run()"
    )
    command = [
        "bash",
        "-c",
        f'exec "$@" {closed}',
        "bash",
        sys.executable,
        "-c",
        program,
        "measures",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=600
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", said)


# -- output ------------------------------------------------------------------------------------------


def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            program(*EVAL),
            cwd=folder,
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
            timeout=600,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="without /dev/full")
@pytest.mark.parametrize(
    "words", [EVAL, ("--help",), ("--version",), ("measures",)], ids=" ".join
)
def test_a_full_disk_is_an_error(words: tuple[str, ...], folder: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            program(*words),
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=600,
        )
    assert (done.returncode, done.stderr) == (
        1,
        "ir-lexirecall: standard output: No space left on device\n",
    )


def test_closed_output_is_an_error(folder: Path) -> None:
    command = " ".join(f"'{word}'" for word in program(*EVAL))
    done = subprocess.run(
        ["bash", "-c", f"{command} >&-"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 1
    assert (
        done.stderr
        == "ir-lexirecall: eval: standard output is closed; -o FILE writes into a file\n"
    )


def test_nobody_need_listen(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In services, there is no standard error."""
    printed = io.StringIO()
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(sys, "stdout", printed)
    assert exit_code(*EVAL) == 0
    assert exit_code("eval", "nowhere.txt", "bm25.run", "-m", "LR") == 1
    assert [line.split()[0] for line in printed.getvalue().splitlines()][:3] == [
        "run",
        "bm25",
        "dph",
    ]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "there is not enough memory"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (PermissionError(13, "Permission denied", "a.run"), "a.run: Permission denied"),
        (ValueError("two\nlines \x1b[31m"), r"eval: two lines \x1b[31m"),
        (RuntimeError(), "RuntimeError"),
        (TypeError("no"), "unexpected TypeError: no; please report it"),
        (
            type("PanicException", (BaseException,), {})("index out of bounds"),
            "unexpected PanicException: index out of",
        ),
        (
            RecursionError("maximum recursion depth exceeded"),
            "maximum recursion depth exceeded",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_traceback_reaches_a_user(
    error: BaseException, line: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation.ScoredRuns, "from_runs", failing(error))
    said = cli(*EVAL)
    assert (said.code, said.out) == (1, "")
    assert said.err.startswith(f"ir-lexirecall: {line}")
    assert len(said.err.splitlines()) == 1


def test_too_little_memory_while_a_file_is_read(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ir_lexirecall.io.files._BLOCK", 2**43)  # bytes at a time
    assert cli(*EVAL) == (1, "", "ir-lexirecall: there is not enough memory\n")


def test_a_developer_sees_the_traceback(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation.ScoredRuns, "from_runs", failing(TypeError("no")))
    monkeypatch.setenv("IR_LEXIRECALL_TRACEBACK", "1")
    said = cli(*EVAL)
    assert said.code == 1
    assert "Traceback" in said.err


# -- files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_goes_into_a_file(form: str, cli: Cli) -> None:
    printed = cli(*EVAL, "--format", form)
    assert cli(*EVAL, "--format", form, "-o", "table") == (0, "", "")
    assert Path("table").read_text() == printed.out


@pytest.mark.parametrize(
    "words",
    [
        (*EVAL, "-o", "old"),
        ("compare", *EVAL[1:4], "-o", "old"),
        ("compare", *EVAL[1:4], "--plot", "old"),
        ("compare", *EVAL[1:4], "--plot", "old", "--explain", "bm25", "dph"),
        ("report", *EVAL[1:], "-o", "old"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), OSError(28, "No space left on device"), MemoryError()],
)
def test_an_existing_file_survives(
    words: tuple[str, ...],
    error: BaseException,
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    Path("old").write_text("old")
    before = set(os.listdir())
    if "--plot" in words:
        monkeypatch.setattr(Figure, "savefig", failing(error))
    else:
        monkeypatch.setattr(Path, "write_text", failing(error))
    said = cli(*words)
    assert said.code == (130 if isinstance(error, KeyboardInterrupt) else 1)
    assert len(said.err.splitlines()) == 1
    assert set(os.listdir()) == before
    assert Path("old").read_bytes() == b"old"


@pytest.mark.parametrize("path", ["none/x.svg", "folder", "x.nope"])
def test_a_picture_that_cannot_be_written_is_an_error(path: str, cli: Cli) -> None:
    pytest.importorskip("matplotlib")
    Path("folder").mkdir()
    before = set(os.listdir())
    said = cli("compare", *EVAL[1:4], "--plot", path)
    assert (said.code, said.out) == (1, "")
    assert path in said.err
    assert len(said.err.splitlines()) == 1
    assert set(os.listdir()) == before


# -- strict JSON -------------------------------------------------------------------------------------


def strict(text: str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_has_no_numbers_that_json_does_not_know() -> None:
    table = pd.DataFrame(
        {
            "run": ["a", "b", "c", None],
            "x": [float("nan"), float("inf"), -float("inf"), 1.5],
        }
    )
    for places in (None, 2):
        assert strict(for_programs(table, "json", places)) == [
            {"run": "a", "x": None},
            {"run": "b", "x": "Infinity"},
            {"run": "c", "x": "-Infinity"},
            {"run": None, "x": 1.5},
        ]


# -- names -------------------------------------------------------------------------------------------


def test_main_leaves_the_process_as_it_was(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import warnings

    before = (
        sys.stdout,
        sys.stderr,
        warnings.showwarning,
        warnings.filters[:],
        signal.getsignal(signal.SIGINT),
    )
    assert main(EVAL) == 0
    assert main(["eval", "nowhere", "bm25.run", "-m", "LR"]) == 1
    after = (
        sys.stdout,
        sys.stderr,
        warnings.showwarning,
        warnings.filters[:],
        signal.getsignal(signal.SIGINT),
    )
    assert before == after


@pytest.mark.parametrize("ending", [".svg", ".png", ".pdf", ""])
def test_pictures_are_written(ending: str, cli: Cli) -> None:
    pytest.importorskip("matplotlib")
    assert cli("compare", *EVAL[1:4], "--plot", f"heatmap{ending}").code == 0
    beginning = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF", "": b"\x89PNG"}[
        ending
    ]
    assert Path(f"heatmap{ending}").read_bytes().startswith(beginning)


@pytest.mark.parametrize("kind", KINDS[Comparison])
def test_pictures_of_all_kinds_are_written(kind: str, cli: Cli) -> None:
    pytest.importorskip("matplotlib")
    words = {
        "pair": ["--explain", "bm25", "dph"],
        "groups": ["--groups", "groups.tsv"],
    }.get(kind, [])
    Path("groups.tsv").write_text("q1\tone\nq2\ttwo\n")
    assert (
        cli("compare", *EVAL[1:4], *words, "--plot", "a.svg", "--kind", kind).code == 0
    )
    assert b"<svg" in Path("a.svg").read_bytes()
