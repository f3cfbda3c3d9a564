"""Judged documents are found by hashes, but never by their hashes alone."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall.data import alignment
from ir_lexirecall.data.alignment import align, find_judged, repetitions
from ir_lexirecall.data.judgments import Judgments

PAIRS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "c", "dd", "ä", ""])),
    max_size=40,
)


def table(pairs: list[tuple[int, str]]) -> pl.DataFrame:
    return pl.DataFrame(
        pairs, schema={"query": pl.Int32, "doc_id": pl.String}, orient="row"
    )


def poor(keys: pl.DataFrame) -> pl.Series:
    """Hashes of three values only: most rows share theirs with others."""
    return keys.hash_rows() % 3


@pytest.mark.parametrize("hashes", [pl.DataFrame.hash_rows, poor])
@given(known=PAIRS, wanted=PAIRS)
def test_every_row_that_is_judged_is_found_and_no_other(hashes, known, wanted):
    known = sorted(set(known))
    judged = table(known).with_columns(
        doc=pl.Series(range(len(known)), dtype=pl.Int64), hash=hashes(table(known))
    )
    rows, docs = find_judged(judged, table(wanted), hashes(table(wanted)))
    found = list(zip(rows.tolist(), docs.tolist(), strict=True))
    assert found == [
        (row, known.index(pair)) for row, pair in enumerate(wanted) if pair in known
    ]


@pytest.mark.parametrize("hashes", [pl.DataFrame.hash_rows, poor])
@given(rows=PAIRS)
def test_repetitions_are_the_later_ones_of_equal_rows(hashes, rows):
    expected = [row for place, row in enumerate(rows) if row in rows[:place]]
    assert repetitions(table(rows), hashes(table(rows))).rows() == expected


@pytest.mark.slow_except("dict-2")
@pytest.mark.parametrize("rows", [1, 2, 7, 10**6])
@pytest.mark.parametrize("form", [dict, pl.DataFrame])
@given(data=st.data())
def test_ranks_do_not_depend_on_how_many_rows_are_aligned_at_once(rows, form, data):
    ids = st.sampled_from(["q1", "q2", "q3", "q4"])
    documents = st.dictionaries(
        st.sampled_from("abcdefg"), st.sampled_from([0.0, 0.5, 1.0]), max_size=7
    )
    run = data.draw(st.dictionaries(ids, documents))
    judgments = Judgments.from_qrels(
        {"q1": {"a": 1, "b": 0}, "q3": {"c": 1, "a": 1}, "q4": {"x": 1, "g": 1}}
    )
    expected = align(judgments, run)
    given_run = run
    if form is pl.DataFrame:
        lines = [
            (q, doc, score)
            for q, scores in run.items()
            for doc, score in scores.items()
        ]
        columns = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
        given_run = pl.DataFrame(lines, schema=columns, orient="row")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment, "_ROWS", rows)
        found = align(judgments, given_run)
    for name in ("query", "doc", "rank", "depth"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
