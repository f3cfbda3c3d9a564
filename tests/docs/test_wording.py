"""Habits of wording that make a sentence need a second reading: on pages, in help and messages."""

from __future__ import annotations

import ast
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
MODULES = [
    *sorted((ROOT / "ir_lexirecall").rglob("*.py")),
    *sorted((ROOT / "integrations").rglob("*.py")),
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


def messages_of(path: Path) -> str:
    """Return the texts of a module's errors and warnings, a line each; {} for what is filled in."""
    lines = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        is_warning = isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "warn"
        if isinstance(node, ast.Raise) or is_warning:
            texts = [part for part in ast.walk(node) if _is_text(part)]
            within = {id(part) for text in texts for part in ast.walk(text) if part is not text}
            lines += [_text(text) for text in texts if id(text) not in within]
    return "\n".join(lines)


def _is_text(node: ast.AST) -> bool:
    is_constant = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return is_constant or isinstance(node, ast.JoinedStr)


def _text(node: Any) -> str:
    """Return a string, or an f-string with {} for its values."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_messages_read_once(path: Path) -> None:
    assert habits_in(messages_of(path)) == []


def test_messages_are_those_of_errors_and_warnings(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        'warn(f"run {name} says so")\nraise ValueError("there " "is none") from None\n'
        'text = "whoever"\n',
        encoding="utf-8",
    )
    assert habits_in(messages_of(module)) == [
        "none as a predicate: is none",
        "a thing that says so: says so",
    ]


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
