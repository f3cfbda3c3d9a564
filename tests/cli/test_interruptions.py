"""Ctrl-C and a full disk: a command says so in one line, exits with 130 or 1, and leaves no half file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT of this kind"),
]

_PATIENCE = 120  # seconds
_INTERRUPTED = """
import os, signal, sys
def interrupt(event, arguments):
    if event == "open" and not sent and moment in str(arguments[0]):
        sent.append(True)
        os.kill(os.getpid(), signal.SIGINT)
sent, moment = [], sys.argv.pop(1)
sys.addaudithook(interrupt)
from shell_lexirecall import run
run()
"""
_ON_A_FULL_DISK = """
import resource, sys
from shell_lexirecall import run
resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))
run()
"""
RUNS = ("qrels.txt", "bm25.run", "dph.txt")
COMMANDS = {
    "eval": ("eval", *RUNS, "-m", "AP", "-o", "new.txt"),
    "compare": ("compare", *RUNS, "-m", "AP", "-o", "new.txt"),
    "compare --plot": ("compare", *RUNS, "-m", "AP", "--plot", "new.png"),
    "report": ("report", *RUNS, "-m", "AP", "-o", "new.html"),
    "benchmark": ("benchmark", "suite.toml", "-m", "AP", "-o", "new.txt"),
    "benchmark --report": (
        "benchmark",
        "suite.toml",
        "-m",
        "AP",
        "--report",
        "new.html",
    ),
    "gate": ("gate", *RUNS, "-m", "AP", "-o", "new.txt"),
    "to-judge": ("to-judge", *RUNS, "-m", "AP", "-o", "new.csv"),
    "merge-judged": ("merge-judged", "qrels.txt", "quality.txt", "-o", "new.csv"),
    "meta": ("meta", "agreement", *RUNS, "-m", "AP", "RR", "-o", "new.txt"),
}
SUITE = """
[collections]
one = "qrels.txt"
two = "qrels.txt"
[runs.one]
a = "bm25.run"
b = "dph.txt"
[runs.two]
a = "bm25.run"
b = "dph.txt"
"""


def started(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run Python with these words, and return what it printed."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE,
    )


def with_old_output(command: str) -> Path:
    """Return the file that a command writes, which exists already."""
    Path("suite.toml").write_text(SUITE)
    new = Path(next(word for word in COMMANDS[command] if word.startswith("new")))
    new.write_text("as before")
    return new


@pytest.mark.parametrize(
    "moment", ["qrels.txt", ".ir-lexirecall-"], ids=["reading", "writing"]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c(command: str, moment: str, folder: Path) -> None:
    new = with_old_output(command)
    before = set(os.listdir())
    done = started("-c", _INTERRUPTED, moment, *COMMANDS[command], folder=folder)
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    assert done.stderr == "ir-lexirecall: interrupted\n"
    assert new.read_text() == "as before"
    assert set(os.listdir()) == before


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_commands_without_an_interruption(command: str, folder: Path) -> None:
    """Else nothing was interrupted while it wrote."""
    Path("suite.toml").write_text(SUITE)
    done = started(
        "-c", _INTERRUPTED, "no file of this name", *COMMANDS[command], folder=folder
    )
    assert done.returncode == 0, done.stderr
    assert [name for name in os.listdir() if name.startswith("new")]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_disk(command: str, folder: Path) -> None:
    """A limit of the size of files, which a write meets as it meets the end of a disk."""
    pytest.importorskip("resource")
    new = with_old_output(command)
    before = set(os.listdir())
    done = started("-B", "-c", _ON_A_FULL_DISK, *COMMANDS[command], folder=folder)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    (line,) = done.stderr.splitlines()
    assert line.endswith("File too large")
    assert new.read_text() == "as before"
    assert set(os.listdir()) == before
