"""The design page and the glossary say what is so: floors, files to read, one name per thing."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ir_lexirecall"
PAGES = PACKAGE / "pt_docs"
DESIGN = (PAGES / "design.rst").read_text(encoding="utf-8")
GLOSSARY = (PAGES / "glossary.rst").read_text(encoding="utf-8")


def floors() -> list[str]:
    """Return the packages from top to bottom, as the contract of import-linter has them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (
        contract["layers"]
        for contract in contracts
        if contract["name"] == "Dependencies point down"
    )
    names = [name for layer in layers for name in layer.split(" | ")]
    return [name for name in names if name != "__main__"]


def test_the_picture_shows_the_floors_that_the_layers_allow() -> None:
    picture = (PAGES / "floors.svg").read_text(encoding="utf-8")
    assert re.findall(r'class="floor"[^>]*>(\w+)<', picture) == floors()


def test_the_text_of_the_picture_names_the_same_floors() -> None:
    (alt,) = re.findall(r":alt: .*from top to bottom: (.+)\. Imports", DESIGN)
    assert re.split(r"; | and ", alt) == floors()


def test_every_package_has_an_answer_to_one_of_the_four_questions() -> None:
    answers = DESIGN.partition("Four questions")[2].partition(".. image::")[0]
    named = set(re.findall(r"``(\w+)``", answers))
    assert set(floors()) - named == {"pt_docs", "_util"}


def test_files_of_the_reading_order_exist() -> None:
    order = DESIGN.partition("Reading order")[2]
    files = re.findall(r"^#\. ``(.+?)``", order, re.MULTILINE)
    assert [Path(name).stem for name in files] == [
        "tie_rule",
        "aligned_run",
        "recall",
        "criteria",
        "comparing",
        "result",
    ]
    assert [name for name in files if not (PACKAGE / name).is_file()] == []


def test_the_page_fits_on_two_screens() -> None:
    assert len(DESIGN.splitlines()) <= 110


TERMS = [
    "run",
    "system",
    "query",
    "criterion",
    "baseline",
    "judged document",
    "pool",
    "bounds",
    "verdict",
    "look",
    "gate",
    "margin",
    "level",
]


@pytest.mark.parametrize("term", TERMS)
def test_the_glossary_defines_a_term(term: str) -> None:
    assert re.search(rf"^   {term}\n      \w", GLOSSARY, re.MULTILINE)


def test_the_glossary_defines_every_verdict() -> None:
    from ir_lexirecall.comparison.verdicts import (
        BETTER,
        NOT_WORSE,
        UNDECIDED,
        WITHIN,
        WORSE,
    )

    for verdict in (BETTER, WORSE, WITHIN, NOT_WORSE, UNDECIDED):
        assert f"*{verdict}*" in GLOSSARY


def test_both_pages_are_linked_from_the_first_page() -> None:
    index = (PAGES / "index.rst").read_text(encoding="utf-8")
    for page in ("design", "glossary"):
        assert f"<{page}>`" in index
        assert re.search(rf"^   {page}$", index, re.MULTILINE)
