"""Habits of wording that make a sentence need a second reading.

They are looked for on pages, in tutorials, in help, in messages, and in the sentences that results
print.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from ir_lexirecall.cli import main
from ir_lexirecall.cli.meta import STUDIES

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "ir_lexirecall" / "pt_docs").glob("*.rst")),
    ROOT / "ir_lexirecall" / "pt_docs" / "measures" / "index.rst",
    *sorted((ROOT / ".github").glob("**/*.md")),
    *sorted((ROOT / "examples" / "tutorials").glob("*.py")),
]
COMMANDS = [
    *("eval", "compare", "benchmark", "gate", "to-judge", "merge-judged"),
    *("report", "meta", "measures", "explain-measure", "demo"),
]
COMMANDS += [f"meta {study}" for study in STUDIES]
PRINTING = [
    path
    for folder in ("present", "plots", "reports", "cli")
    for path in sorted((ROOT / "ir_lexirecall" / folder).rglob("*.py"))
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
    "a relative clause after a preposition": (
        r"\b(?:of|by|from|for|with|to|in) what (?:is|are|was|were|has|have|had)\b"
    ),
    "that which": r"\bthat which\b",
    "but for": r"\bbut for\b",
    "of none": r"\b(?:of|for) none\b",
    "less, for minus": r"\bless (?:that|those) (?:of|with|in|for)\b",
    "a difference to something": r"\bdifferences? to (?:the|a|an|its|their)\b",
    "an interval that holds the truth": r"\bholds? the truth\b",
    "a page to judge in": r"\bto judge in\b",
    "something that is said": r"\b(?:is|are|be) said (?:of|in|over)\b",
    "nothing that tells": r"\bnothing tells\b",
    "things that know nothing": r"\bknows? nothing\b",
    "something of, or about, its place": (
        r"\b(?:is|are) (?:of the page|about (?:values|judgments|runs|--))"
    ),
    "a purpose as a relative clause": r"\bwhich (?:is|are) to\b",
    "none is left": r"\bnone (?:is|are) left\b",
    "the reverse": r"\bthe reverse\b",
    "from there on": r"\bfrom there on\b",
    "has had": r"\b(?:has|have) had\b",
    "beside, for against": r"\bbeside (?:a|\{\}|run_b|the baseline|those)(?= |$)",
    "leave out it": r"\bleave out it\b",
    "shall": r"\bshall\b",
    "where there is no": r"\bwhere there (?:is|are) not?\b",
}


def habits_in(text: str) -> list[str]:
    """Return each passage of a text that has one of these habits."""
    joined = " ".join(text.replace("\n# ", "\n").split())
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
        main([*command.split(), "--help"])
    assert habits_in(capsys.readouterr().out) == []


def messages_of(path: Path) -> str:
    """Return the texts of a module's errors and warnings, a line each; {} for what is filled in."""
    lines = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        is_warning = (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).split(".")[-1] == "warn"
        )
        if isinstance(node, ast.Raise) or is_warning:
            texts = [part for part in ast.walk(node) if _is_text(part)]
            within = {
                id(part)
                for text in texts
                for part in ast.walk(text)
                if part is not text
            }
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
        str(part.value) if isinstance(part, ast.Constant) else "{}"
        for part in node.values
    )


def printed_by(path: Path) -> str:
    """Return the texts of a module that are not docstrings, a line each; {} for what is filled in."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    texts = [node for node in ast.walk(tree) if _is_text(node)]
    within = {id(part) for text in texts for part in ast.walk(text) if part is not text}
    within |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return "\n".join(_text(text) for text in texts if id(text) not in within)


@pytest.mark.parametrize("path", PRINTING, ids=lambda path: str(path.relative_to(ROOT)))
def test_printed_sentences_read_once(path: Path) -> None:
    assert habits_in(printed_by(path)) == []


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
        "It speaks of what was found.",
        "All but for one agree.",
        "The mean of a run, less that of the baseline.",
        "The difference to the baseline is small.",
        "Intervals hold the truth in 0.95 of cases.",
        "It is a page to judge in.",
        "Little can be said of others.",
    ],
)
def test_each_habit_would_be_found(sentence: Any) -> None:
    assert len(habits_in(sentence)) == 1
