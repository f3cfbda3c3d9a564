"""A shell completes commands and options, where argcomplete is installed; help fits the terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ir_lexirecall import cli


@pytest.mark.parametrize(
    ("line", "known"),
    [("ir-lexirecall ev", "eval"), ("ir-lexirecall eval --base", "--baseline")],
)
def test_what_a_shell_completes(line: str, known: str, tmp_path: Path) -> None:
    pytest.importorskip("argcomplete")
    said = tmp_path / "said"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(said),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    program = "import sys; from ir_lexirecall.cli import main; sys.argv[0] = 'ir-lexirecall'; main()"
    subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **asked},
        check=True,
        timeout=600,
    )
    assert known in said.read_text()


def test_the_demo_is_written_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["demo", "--write", str(tmp_path / "files")]) == 0
    files = {Path(line).name: line for line in capsys.readouterr().out.splitlines()}
    assert {
        "qrels.txt",
        "qrels.tsv",
        "queries.tsv",
        "docs.tsv",
        "bm25.run",
        "ql.run",
    } <= set(files)
    words = ["-m", "LR", "nDCG@10", "RBU@20", "--format", "csv"]
    said = []
    for qrels in (files["qrels.txt"], "lexirecall/demo"):
        assert (
            cli.main(["eval", qrels, files["bm25.run"], files["ql.run"], *words]) == 0
        )
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert cli.main(["demo", "--write", str(tmp_path / "files")]) == 1
    assert "is there already" in capsys.readouterr().err


def test_the_demo_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = Path.write_text

    def full_disk(path: Path, text: str, **options: str) -> int:
        if path.suffix == ".run":
            written(path, text[:10])
            raise OSError(28, "No space left on device", str(path))
        return written(path, text, **options)

    monkeypatch.setattr(Path, "write_text", full_disk)
    assert cli.main(["demo", "--write", str(tmp_path / "files")]) == 1
    assert list((tmp_path / "files").iterdir()) == []


def test_programs_read_how_it_was_tested(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["demo", "--write", str(tmp_path)]) == 0
    capsys.readouterr()
    files = [str(tmp_path / name) for name in ("qrels.txt", "bm25.run", "ql.run")]
    for form, tested in {
        "json": "paired t-test, p <= 0.05",
        "markdown": r"paired t-test, p \<= 0.05",
        "latex": r"paired t-test, $p \le 0.05$",
    }.items():
        assert (
            cli.main(
                ["eval", *files, "-m", "AP", "--baseline", "bm25", "--format", form]
            )
            == 0
        )
        assert tested in capsys.readouterr().out.replace("\n", " ")
