"""Qrels and runs in the wrong order, and runs that are no mapping, are named as such."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo

RUNS = {name: demo.run(name) for name in ("bm25", "ql")}
DICTS = {"a": {"q": {"d": 2.0}}, "b": {"q": {"d": 1.0}}}


@pytest.mark.parametrize("runs", [RUNS, DICTS, {"a": "a.run"}, {"a": Path("a.run"), "b": "b.run"}])
@pytest.mark.parametrize("qrels", [demo.qrels(), {"q": {"d": 1}}, "qrels.txt", [("q", "d", 1)]])
def test_the_wrong_order_is_named(runs: Any, qrels: Any) -> None:
    with pytest.raises(ValueError, match=r"^compare: the first argument is a mapping of names to"):
        irl.compare(runs, qrels)


@pytest.mark.parametrize("runs", ["runs/*.run", ["a.run", "b.run"], demo.run("ql"), 7])
def test_runs_that_are_no_mapping_say_how_to_give_them(runs: Any) -> None:
    with pytest.raises(ValueError, match=r"^compare: give the runs as a mapping .* \{'bm25':"):
        irl.compare(demo.qrels(), runs)


def test_the_right_order_is_taken() -> None:
    assert irl.compare({"q": {"d": 1}}, DICTS).runs == ["a", "b"]
