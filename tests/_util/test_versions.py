"""Facts on the making of results, in the ``attrs`` of their tables."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable

import pytest

import ir_lexirecall as irl
from ir_lexirecall._util.versions import Facts

RUNS = {name: {"q": {"a": score, "b": 1.0}} for name, score in (("x", 2.0), ("y", 0.5))}
QRELS = {"q": {"a": 1, "b": 0}}


@pytest.mark.parametrize(
    "change",
    [
        lambda facts: facts.__setitem__("AP", 9),
        lambda facts: facts.__delitem__("AP"),
        lambda facts: facts.__ior__({"AP": 9}),
        lambda facts: facts.update(AP=9),
        lambda facts: facts.setdefault("other", 9),
        lambda facts: facts.pop("AP"),
        lambda facts: facts.popitem(),
        lambda facts: facts.clear(),
    ],
)
def test_a_table_cannot_change_the_facts_of_its_result(
    change: Callable[[Facts], None],
) -> None:
    result = irl.compare(QRELS, RUNS, "AP")
    with pytest.raises(TypeError, match=r"copy them first: dict\(facts\)"):
        change(result.table().attrs["queries"])
    assert result.table().attrs["queries"] == {"AP": 1}


def test_facts_are_dicts_that_can_be_copied_and_written() -> None:
    facts = irl.compare(QRELS, RUNS, "AP").table().attrs["queries"]
    for same in (
        copy.copy(facts),
        copy.deepcopy(facts),
        pickle.loads(pickle.dumps(facts)),
        json.loads(json.dumps(facts)),
        dict(facts),
    ):
        assert same == {"AP": 1}
    changed = dict(facts)
    changed["AP"] = 2
    assert facts == {"AP": 1}
