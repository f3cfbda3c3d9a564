"""Judged documents are found by hashes, but never by their hashes alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall.data import alignment, judged_documents
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judged_documents import Lookup, repetitions
from ir_lexirecall.data.judgments import Judgments

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "c", "dd", "ä", ""])), max_size=40)


def table(pairs: list[tuple[int, str]]) -> pl.DataFrame:
    return pl.DataFrame(pairs, schema={"query": pl.Int32, "doc_id": pl.String}, orient="row")


def poor(keys: pl.DataFrame, seed: int) -> Any:
    """A hash function with three values under most seeds."""
    hashes = keys.hash_rows(seed).to_numpy()
    return hashes if seed == 4 else hashes % np.uint64(3) << np.uint64(62)


@pytest.mark.parametrize("function", [judged_documents._hashes, poor])
@given(known=PAIRS, wanted=PAIRS)
def test_find_gives_every_key_that_is_known_and_no_other(function, known, wanted):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judged_documents, "_hashes", function)
        known = sorted(set(known))
        keys = Lookup.from_keys(table(known))
        rows, judged = keys.find(table(wanted), keys.hashes(table(wanted)))
        # Foreign rows may share the hash of a judged document, too.
        again, same = keys.find(table(wanted), np.zeros(len(wanted), dtype=np.uint64))
    found = dict(zip(rows.tolist(), judged.tolist(), strict=True))
    assert found == {row: known.index(pair) for row, pair in enumerate(wanted) if pair in known}
    assert all(wanted[row] == known[place] for row, place in zip(again.tolist(), same.tolist(), strict=True))


@pytest.mark.parametrize("function", [judged_documents._hashes, poor])
@given(rows=PAIRS)
def test_repetitions_are_the_later_ones_of_equal_rows(function, rows):
    expected = [row for place, row in enumerate(rows) if row in rows[:place]]
    assert repetitions(table(rows), function(table(rows), 0)).rows() == expected


@pytest.mark.parametrize("rows", [1, 2, 7, 10**6])
@pytest.mark.parametrize("form", [dict, pl.DataFrame])
@given(data=st.data())
def test_ranks_do_not_depend_on_how_many_rows_are_aligned_at_once(rows, form, data):
    ids = st.sampled_from(["q1", "q2", "q3", "q4"])
    documents = st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([0.0, 0.5, 1.0]), max_size=7)
    run = data.draw(st.dictionaries(ids, documents))
    judgments = Judgments.from_qrels({"q1": {"a": 1, "b": 0}, "q3": {"c": 1, "a": 1}, "q4": {"x": 1, "g": 1}})
    expected = align(judgments, run)
    given_run = run
    if form is pl.DataFrame:
        lines = [(q, doc, score) for q, scores in run.items() for doc, score in scores.items()]
        columns = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
        given_run = pl.DataFrame(lines, schema=columns, orient="row")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "_ROWS", rows)
        patch.setattr(judged_documents, "_SMALL", data.draw(st.sampled_from([0, 10**6])))
        found = align(judgments, given_run)
    for name in ("query", "doc", "rank", "depth"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
