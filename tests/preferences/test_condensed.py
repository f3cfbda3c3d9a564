"""``compare(judged_only=..., exclude=...)``: the comparison of runs without the documents that are taken out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conftest import collections, rankings
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import ir_lexirecall as irl

PREFERENCES = ["lexirecall", "rpp", "nDCG@3", "LR@2"]


def without(table: Mapping[str, Mapping[str, Any]], gone: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {q: {doc: value for doc, value in docs.items() if doc not in gone.get(q, ())} for q, docs in table.items()}


@st.composite
def compared(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    qrels, run = draw(collections())
    return qrels, {"a": run, "b": {q: draw(rankings()) for q in run}}


@given(compared())
def test_condensed_lists(drawn: Any) -> None:
    qrels, runs = drawn
    judged = {
        name: {q: {d: s for d, s in docs.items() if d in qrels.get(q, {})} for q, docs in run.items()}
        for name, run in runs.items()
    }
    result = irl.compare(irl.load(qrels, judged_only=True), runs, PREFERENCES, allow_empty=True)
    assert_frame_equal(result.table(), irl.compare(qrels, judged, PREFERENCES, allow_empty=True).table())
