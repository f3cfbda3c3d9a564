"""What CONTRIBUTING.md shows to copy, run as it stands there; its measure is in tests/measures/test_own_measure.py,
its picture in tests/plots/test_pictures.py."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ir_lexirecall import demo, meta
from ir_lexirecall.meta.records import RECORDS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ir_lexirecall"


def defined(name: str) -> Any:
    """The function of the example that defines it."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (code,) = (
        code
        for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        if f"def {name}(" in code
    )
    names: dict[str, Any] = {}
    exec(compile(re.sub(r"^   ", "", code, flags=re.MULTILINE), name, "exec"), names)
    return names[name]


def test_the_study_gives_told_and_drawn_what_its_example_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(RECORDS, "spread", None)  # and taken out again
    spread = defined("spread")
    table = spread(meta.Study(["AP", "RR"], demo.qrels(), demo.runs()))
    assert re.findall(r"\[[\d., ]+\]$", spread.__doc__, re.MULTILINE) == [
        str(table["share"].tolist())
    ]
    assert "most AP (0.3125), least RR" in meta.summary(table)
    assert [bar.get_width() for bar in meta.plot(table).patches] == table[
        "share"
    ].tolist()


def modules_listed() -> dict[str, list[str]]:
    """The tests of the modules that ``tests/README.md`` lists; patterns stand for their modules."""
    text = (ROOT / "tests/README.md").read_text(encoding="utf-8")
    listed = {}
    for line in text.splitlines():
        if line.startswith("| `"):
            modules, tests = (
                re.findall(r"`([^`]+)`", cell) for cell in line.split("|")[1:3]
            )
            for pattern in modules:
                found = sorted(PACKAGE.glob(pattern))
                assert found, pattern
                listed |= {
                    path.relative_to(PACKAGE).as_posix(): tests for path in found
                }
    return listed


def test_the_tests_of_every_module_are_found_by_its_path() -> None:
    listed = modules_listed()
    for path in PACKAGE.rglob("*.py"):
        module = path.relative_to(PACKAGE)
        if path.name == "__init__.py" or "gallery" in module.parts:
            continue
        of_its_name = ROOT / "tests" / module.parent / f"test_{module.name}"
        assert of_its_name.exists() or module.as_posix() in listed, module
    for name in {name for tests in listed.values() for name in tests}:
        assert (ROOT / "tests" / name).exists(), name
