"""Calls of the command line, in this process, in one of its own, and on terminals."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import FILES, Cli, Said, exit_code, program, read_terminal


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder with qrels and runs, in which commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    for name, text in FILES.items():
        Path(name).write_text(text)
    return tmp_path


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str], folder: Path) -> Cli:
    """The command line in the folder with qrels and runs."""

    def call(*arguments: str) -> Said:
        return Said(exit_code(*arguments), *capfd.readouterr())

    return call


@pytest.fixture
def process(folder: Path) -> Cli:
    """The command line as a program of its own, in the folder with qrels and runs."""

    def call(*arguments: str, stdin: str | None = None, **environment: str) -> Said:
        done = subprocess.run(
            program(*arguments),
            cwd=folder,
            env={**os.environ, **environment},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        return Said(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    """The command line on a terminal of so many columns."""
    pty = pytest.importorskip("pty")
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")

    def call(columns: int, *arguments: str) -> Said:
        parent, child = pty.openpty()
        fcntl.ioctl(
            child,
            termios.TIOCSWINSZ,
            (24).to_bytes(2, sys.byteorder)
            + columns.to_bytes(2, sys.byteorder)
            + b"\0" * 4,
        )
        printed: list[bytes] = []
        reader = threading.Thread(target=read_terminal, args=(parent, printed))
        reader.start()
        with (
            monkeypatch.context() as patch,
            open(child, "w", encoding="utf-8") as stream,
        ):
            patch.setattr(sys, "stdout", stream)
            code = exit_code(*arguments)
        reader.join()
        os.close(parent)
        return Said(code, b"".join(printed).decode().replace("\r\n", "\n"), "")

    return call
