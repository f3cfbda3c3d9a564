"""Arrow in, Arrow out: the same values and ranks, whole or in parts."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import CAM, CWL_ERR10, LR, MM, RBU, TOMA, TSE
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.evaluation.arrow import align_arrow, evaluate_arrow, ranks_from_arrow
from tests.conftest import (
    aspect_collections,
    collections,
    subtopic_collections,
    subtopic_table,
)

MEASURES = [TSE, TSE(exposure="nDCG") @ 7, LR, CWL_ERR10(max_rel=4), RBU(p=0.9) @ 20]
RUN_TYPES = pa.schema(
    [("query_id", pa.string()), ("doc_id", pa.string()), ("score", pa.float64())]
)
EMPTY_RUN = RUN_TYPES.empty_table()


def run_table(run: Mapping[str, Mapping[str, float]]) -> pa.Table:
    rows = [
        (q, doc, score) for q, ranking in run.items() for doc, score in ranking.items()
    ]
    return pa.table([[row[i] for row in rows] for i in range(3)], schema=RUN_TYPES)


def qrel_table(qrels: Mapping[str, Mapping[str, float]]) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {"query_id": q, "doc_id": doc, "relevance": grade}
            for q, judged in qrels.items()
            for doc, grade in judged.items()
        ]
    )


def parts_of(table: pa.Table, part_of: Mapping[str, int]) -> list[pa.Table]:
    """The table cut by query; some parts may be without rows."""
    part = np.array(
        [part_of[query_id] for query_id in table["query_id"].to_pylist()],
        dtype=np.int64,
    )
    return [table.filter(pa.array(part == number)) for number in range(3)]


def drawn_parts(data: st.DataObject, *tables: pa.Table) -> list[tuple[pa.Table, ...]]:
    queries = sorted(
        {query_id for table in tables for query_id in table["query_id"].to_pylist()}
    )
    part_of = {query_id: data.draw(st.integers(0, 2)) for query_id in queries}
    return list(zip(*(parts_of(table, part_of) for table in tables), strict=True))


def as_frame(table: pa.Table) -> pd.DataFrame:
    columns = {
        name: table[name].to_numpy()
        for name in table.column_names
        if name != "query_id"
    }
    return pd.DataFrame(
        columns, index=pd.Index(table["query_id"].to_pylist(), name="query_id")
    )


def assert_same_values(
    measures: Any, qrels: pa.Table, run: pa.Table, parts: Any = (), aspects: Any = ()
) -> None:
    wanted = irl.evaluate(measures, qrels, run)
    whole = evaluate_arrow(measures, qrels, run)
    pd.testing.assert_frame_equal(
        as_frame(whole), wanted, check_exact=True, check_index_type=False
    )
    if parts:
        values = [evaluate_arrow(measures, *part, aspects=aspects) for part in parts]
        assert {table.schema for table in values} == {whole.schema}
        assert pa.concat_tables(values).sort_by("query_id").equals(whole)


def assert_same_ranks(ranks: AlignedRun, wanted: AlignedRun) -> None:
    for name in ("query", "doc", "rank", "depth"):
        np.testing.assert_array_equal(
            getattr(ranks, name), getattr(wanted, name), strict=True
        )
    assert (ranks.ties is None) == (wanted.ties is None)
    for ours, others in zip(ranks.tied(), wanted.tied(), strict=True):
        np.testing.assert_array_equal(ours, others)


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.slow
@given(collections(), st.data())
def test_values_are_those_of_evaluate_whole_or_in_parts(
    collection: Any, data: st.DataObject
) -> None:
    qrels, run = qrel_table(collection[0]), run_table(collection[1])
    assert_same_values(MEASURES, qrels, run, drawn_parts(data, qrels, run))


@pytest.mark.slow_except("iteration")
@pytest.mark.parametrize("column", ["subtopic_id", "iteration"])
@given(collection=subtopic_collections(), data=st.data())
def test_subtopics_in_parts(column: str, collection: Any, data: st.DataObject) -> None:
    judgments, made = collection
    qrels, run = (
        pa.table(subtopic_table(judgments, column).to_dict("list")),
        run_table(made),
    )
    assert_same_values(MEASURES, qrels, run, drawn_parts(data, qrels, run))


@pytest.mark.slow
@given(aspect_collections(), st.data())
def test_aspects_that_rows_of_another_part_name(
    collection: Any, data: st.DataObject
) -> None:
    scales, judgments, made = collection
    rows = [
        {"query_id": q, "doc_id": doc, "iteration": aspect, "relevance": float(label)}
        for q, docs in judgments.items()
        for doc, labels in docs.items()
        for aspect, label in labels.items()
    ]
    qrels, run = pa.Table.from_pylist(rows), run_table(made)
    aspects = set(scales) & {row["iteration"] for row in rows}
    measures = [
        TSE,
        TOMA(aspects=scales) @ 10,
        CAM(aspects=scales, base="AP"),
        MM(aspects=scales),
        "AP",
        "NumRet",
    ]
    assert_same_values(measures, qrels, run, drawn_parts(data, qrels, run), aspects)


def test_a_part_does_not_guess_at_aspects_of_the_others() -> None:
    qrels = pa.table(
        {"query_id": ["q"], "doc_id": ["a"], "relevance": [1], "iteration": ["quality"]}
    )
    run = run_table({"q": {"a": 1.0}})
    measure = CAM(aspects={"quality": 1, "trust": 1}, base="AP")
    with pytest.raises(ValueError, match="no aspect 'trust'"):
        evaluate_arrow(measure, qrels, run)
    assert evaluate_arrow(measure, qrels, run, aspects=["quality", "trust"])[
        str(measure)
    ].to_pylist() == [0.5]
    assert evaluate_arrow(TSE, qrels, run, aspects=["relevance"])[
        "TSE"
    ].to_pylist() == [0.0]


@pytest.mark.parametrize(
    "measures", [MEASURES, ["AP", "nDCG@10"], TOMA(aspects={"quality": 2})]
)
def test_a_part_without_judgments(measures: Any) -> None:
    nothing = qrel_table({"q": {"a": 1}}).slice(1)
    for run in (EMPTY_RUN, run_table({"q": {"a": 1.0}})):
        values = evaluate_arrow(measures, nothing, run)
        assert len(values) == 0
        assert set(values.schema.types[1:]) == {pa.float64()}
        assert len(align_arrow(nothing, run)) == 0


def test_bad_input_is_refused_as_by_evaluate() -> None:
    qrels, run = qrel_table({"q": {"a": 1}}), run_table({"q": {"a": 1.0}})
    twice = pa.concat_tables([run, run])
    for bad in (
        (TSE, qrels, twice),
        ("Nope", qrels, run),
        (TSE, qrels, run.drop_columns(["score"])),
        ([], qrels, run),
    ):
        with pytest.raises(ValueError, match=r".") as expected:
            irl.evaluate(*bad)
        with pytest.raises(ValueError, match=r".") as refused:
            evaluate_arrow(*bad)
        assert str(refused.value).removeprefix("evaluate_arrow: ") == str(
            expected.value
        ).removeprefix("evaluate: ")
    with pytest.raises(ValueError, match="'query_id'"):
        evaluate_arrow({"query_id": TSE}, qrels, run)


# -- ranks -----------------------------------------------------------------------------------------


@pytest.mark.slow
@given(collections(), st.data())
def test_ranks_come_back_as_they_were(collection: Any, data: st.DataObject) -> None:
    qrels, run = qrel_table(collection[0]), run_table(collection[1])
    judgments = Judgments.from_qrels(qrels)
    wanted = align(judgments, run)
    assert_same_ranks(ranks_from_arrow(judgments, align_arrow(qrels, run)), wanted)
    parts = [
        align_arrow(*part)
        for part in data.draw(st.permutations(drawn_parts(data, qrels, run)))
    ]
    assert_same_ranks(ranks_from_arrow(judgments, pa.concat_tables(parts)), wanted)


@pytest.mark.parametrize("exclude", [{"q1": ["x", "a"], "q9": ["a"]}, "self"], ids=str)
@pytest.mark.parametrize("judged_only", [False, True])
def test_documents_taken_out_and_condensed_lists(
    exclude: Any, judged_only: bool
) -> None:
    qrels = {"q1": {"a": 1, "b": 2, "q1": 1}, "q2": {"a": 1, "c": 0}}
    run = {
        "q1": {"q1": 4.0, "x": 3.0, "a": 2.0, "y": 1.5, "b": 1.0},
        "q2": {"q2": 2.0, "c": 1.0, "a": 0.5},
    }
    judgments = irl.load(qrel_table(qrels), exclude=exclude, judged_only=judged_only)
    wanted = irl.evaluate(MEASURES, judgments, run)
    values = evaluate_arrow(MEASURES, judgments, run_table(run))
    pd.testing.assert_frame_equal(
        as_frame(values), wanted, check_exact=True, check_index_type=False
    )
    ranks = align_arrow(judgments, run_table(run))
    assert_same_ranks(ranks_from_arrow(judgments, ranks), align(judgments, run))


def test_a_query_with_nothing_judged_retrieved_keeps_its_depth() -> None:
    qrels = qrel_table({"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1, "b": 0}})
    run = run_table(
        {"q1": {"x": 2.0, "y": 1.0}, "q3": {"x": 3.0, "b": 2.0, "a": 1.0, "c": 1.0}}
    )
    assert align_arrow(qrels, run).to_pylist() == [
        {
            "query_id": "q1",
            "doc_id": None,
            "rank": None,
            "first_rank": None,
            "alike": None,
            "depth": 2,
        },
        {
            "query_id": "q2",
            "doc_id": None,
            "rank": None,
            "first_rank": None,
            "alike": None,
            "depth": 0,
        },
        {
            "query_id": "q3",
            "doc_id": "b",
            "rank": 2,
            "first_rank": 2,
            "alike": 1,
            "depth": 4,
        },
        {
            "query_id": "q3",
            "doc_id": "a",
            "rank": 4,
            "first_rank": 3,
            "alike": 2,
            "depth": 4,
        },
    ]


RANKS = align_arrow(
    qrel_table({"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}),
    run_table({"q1": {"a": 2.0, "b": 1.0}}),
)


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        (RANKS.slice(0, 2), "query 'q2' of the judgments is missing"),
        (pa.concat_tables([RANKS, RANKS.slice(0, 1)]), "query 'q1' is in two parts"),
        (
            pa.concat_tables(
                [
                    RANKS,
                    align_arrow(
                        qrel_table({"q2": {"a": 1}}), run_table({"q2": {"a": 1.0}})
                    ),
                ]
            ),
            "'q2' is in two parts",
        ),
        (
            pa.concat_tables(
                [RANKS, align_arrow(qrel_table({"q3": {"a": 1}}), EMPTY_RUN)]
            ),
            "'q3' is not judged",
        ),
        (
            align_arrow(qrel_table({"q1": {"z": 1}}), run_table({"q1": {"z": 1.0}})),
            "document 'z' of query 'q1'",
        ),
    ],
)
def test_ranks_that_do_not_belong_to_the_judgments(
    ranks: pa.Table, message: str
) -> None:
    judgments = Judgments.from_qrels({"q1": {"a": 1, "b": 1}, "q2": {"a": 1}})
    ranks_from_arrow(judgments, RANKS)
    with pytest.raises(ValueError, match=message):
        ranks_from_arrow(judgments, ranks)


# -- without PyArrow -------------------------------------------------------------------------------


def test_pyarrow_is_asked_for_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    qrels, run = qrel_table({"q": {"a": 1}}), run_table({"q": {"a": 1.0}})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for work in (
        lambda: evaluate_arrow(TSE, qrels, run),
        lambda: align_arrow(qrels, run),
    ):
        with pytest.raises(ModuleNotFoundError, match="needs PyArrow"):
            work()
