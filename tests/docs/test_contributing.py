"""What CONTRIBUTING.md shows to copy, run as it stands there; its measure is in tests/measures/test_own_measure.py,
its picture in tests/plots/test_pictures.py."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ir_lexirecall import demo, meta
from ir_lexirecall.meta.records import RECORDS


def defined(name: str) -> Any:
    """The function of the example that defines it."""
    text = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
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
