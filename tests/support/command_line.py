"""How the tests call the command line."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ir_lexirecall.cli import main

ROOT = Path(__file__).parents[2]
QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 a 2\n"
BM25 = "q1 Q0 a 1 3.0 t\nq1 Q0 x 2 2.0 t\nq1 Q0 c 3 1.0 t\nq2 Q0 x 1 1 t\n"
DPH = "q1 Q0 c 1 3.0 t\nq1 Q0 a 2 2.0 t\nq2 Q0 x 1 2 t\nq2 Q0 a 2 1 t\n"
QUALITY = "q1 0 a 0\nq1 0 b 1\nq1 0 c 1\nq2 0 a 1\n"
FILES = {"qrels.txt": QRELS, "bm25.run": BM25, "dph.txt": DPH, "quality.txt": QUALITY}


class Said(NamedTuple):
    """What a call printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[list[str]]:
        """The words of every line that it printed."""
        return [line.split() for line in self.out.splitlines()]


Cli = Callable[..., Said]


def exit_code(*arguments: str) -> int:
    """The exit code of a call in this process, which warns of what others would."""
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        try:
            return main(arguments)
        except SystemExit as leaving:  # argparse's way out
            return leaving.code if isinstance(leaving.code, int) else 1


def program(*arguments: str) -> list[str]:
    """The words that start the command line as a program."""
    return [sys.executable, "-c", "from shell_lexirecall import run; run()", *arguments]


def read_terminal(terminal: int, blocks: list[bytes]) -> None:
    """Read what is printed on a terminal until its other end is closed."""
    while True:
        try:
            block = os.read(terminal, 2**16)
        except OSError:  # the other end is closed
            return
        if not block:
            return
        blocks.append(block)
