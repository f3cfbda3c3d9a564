"""Habits of wording that make a sentence need a second reading, on pages and in the help of commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ir_lexirecall.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "ir_lexirecall" / "pt_docs").glob("*.rst")),
    ROOT / "ir_lexirecall" / "pt_docs" / "measures" / "index.rst",
    *sorted((ROOT / ".github").glob("**/*.md")),
]
COMMANDS = [
    *("eval", "compare", "benchmark", "gate", "to-judge", "merge-judged"),
    *("report", "meta", "measures", "explain-measure", "demo"),
]
HABITS = {
    "none as a predicate": r"\b(?:is|are) none\b",
    "a thing that says so": r"\bsays so\b",
    "whoever": r"\bwhoever\b",
    "as they may be": r"\bas (?:it|they) may be\b",
    "a relative clause as a subject": (
        r"\bwhat (?:is|are|was|were|has|have|had) \w+(?: \w+)? "
        r"(?:is|are|was|were|has|have|counts?|stays?|holds?)\b"
    ),
}


def habits_in(text: str) -> list[str]:
    """Return each passage of a text that has one of these habits."""
    joined = " ".join(text.split())
    return [
        f"{name}: {found.group()}"
        for name, pattern in HABITS.items()
        for found in re.finditer(pattern, joined, re.IGNORECASE)
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_read_once(path: Path) -> None:
    assert habits_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_reads_once(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert habits_in(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "A rank that is none counts as infinite.",
        "The cut file is left out, and the result says so.",
        "Judged as they may be, they leave the difference open.",
        "What was judged is read by --judged.",
        "What is undecided is a warning.",
        "Whoever likes it better may change it.",
    ],
)
def test_each_habit_would_be_found(sentence: Any) -> None:
    assert len(habits_in(sentence)) == 1
