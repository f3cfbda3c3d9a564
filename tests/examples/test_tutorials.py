"""Tutorials have no block of code without code: the gallery shows it as an empty grey box."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TUTORIALS = sorted((Path(__file__).parents[2] / "examples" / "tutorials").glob("*.py"))
BLOCK = re.compile(
    r"^# ?%%.*$\n(?:^#.*$\n)*", re.MULTILINE
)  # the text that begins a block


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_every_block_of_code_has_code(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    first, *blocks = BLOCK.split(text)
    assert len(ast.parse(first).body) == 1, (
        "code, or a comment, between the docstring and the text"
    )
    assert not re.search(r"^#", first, re.MULTILINE)
    assert all(ast.parse(block).body or not block.strip() for block in blocks)
