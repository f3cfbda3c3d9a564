"""A part of judgments: its queries are judged as in the whole, whatever the other queries' rows name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import CAM, CWL_ERR10, LR, MM, RBU, TOMA, TSE
from ir_lexirecall.data.judgments import Judgments
from tests.conftest import (
    aspect_collections,
    collections,
    subtopic_collections,
    subtopic_table,
)


def drawn_parts(data: st.DataObject, judgments: Judgments) -> list[list[str]]:
    """The queries, in up to three parts, one of which may be empty."""
    part_of = [data.draw(st.integers(0, 2)) for _ in judgments.query_ids]
    return [
        [
            q
            for q, number in zip(judgments.query_ids, part_of, strict=True)
            if number == part
        ]
        for part in range(3)
    ]


def judged_rows(judgments: Judgments) -> tuple[Any, ...]:
    table = judgments.aspect_rows
    return table.doc, np.array(table.names)[table.aspect], table.grade


def assert_equal_judgments(part: Judgments, wanted: Judgments) -> None:
    assert part.query_ids == wanted.query_ids
    assert part.doc_id.to_list() == wanted.doc_id.to_list()
    np.testing.assert_array_equal(part.query, wanted.query, strict=True)
    np.testing.assert_array_equal(part.grade, wanted.grade, strict=True)
    for a, b in zip(judged_rows(part), judged_rows(wanted), strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.slow
@given(collections(), st.data())
def test_a_part_is_what_its_queries_alone_are(
    collection: Any, data: st.DataObject
) -> None:
    qrels, run = collection
    judgments = Judgments.from_qrels(qrels)
    for query_ids in drawn_parts(data, judgments):
        part = judgments.restricted_to(query_ids)
        if query_ids:
            assert_equal_judgments(
                part, Judgments.from_qrels({q: qrels[q] for q in query_ids})
            )
        measures = [TSE, LR, CWL_ERR10(max_rel=4), "nDCG@10", "AP"]
        wanted = irl.evaluate(measures, judgments, run).loc[query_ids]
        assert irl.evaluate(measures, part, run).equals(wanted)


@pytest.mark.slow
@pytest.mark.parametrize("column", ["subtopic_id", "iteration"])
@settings(max_examples=30)  # NumRet is another provider's, and slow
@given(collection=subtopic_collections(st.integers(-1, 4)), data=st.data())
def test_subtopics_of_a_part_are_those_of_the_whole(
    column: str, collection: Any, data: st.DataObject
) -> None:
    judgments = Judgments.from_qrels(subtopic_table(collection[0], column))
    measures = [RBU(p=0.9) @ 20, RBU, TSE, "alpha_nDCG@10", "StRecall@5", "NumRet"]
    whole = irl.evaluate(measures, judgments, collection[1])
    for query_ids in drawn_parts(data, judgments):
        values = irl.evaluate(
            measures, judgments.restricted_to(query_ids), collection[1]
        )
        assert values.equals(whole.loc[query_ids])


@pytest.mark.slow
@given(aspect_collections(), st.data())
def test_aspects_that_only_other_queries_name(
    collection: Any, data: st.DataObject
) -> None:
    scales, drawn, run = collection
    judgments = Judgments.from_qrels(
        aspect_rows(
            (q, doc, float(label), aspect)
            for q, docs in drawn.items()
            for doc, labels in docs.items()
            for aspect, label in labels.items()
        )
    )
    measures = [
        TSE,
        TOMA(aspects=scales) @ 10,
        CAM(aspects=scales, base="AP"),
        MM(aspects=scales),
        "AP",
        "NumRet",
    ]
    whole = irl.evaluate(measures, judgments, run)
    for query_ids in drawn_parts(data, judgments):
        if query_ids:
            part = judgments.restricted_to(query_ids)
            assert irl.evaluate(measures, part, run).equals(whole.loc[query_ids])
            again = part.restricted_to(query_ids[:1])  # a part of a part
            assert irl.evaluate(measures, again, run).equals(whole.loc[query_ids[:1]])


def aspect_rows(rows: Iterable[tuple[str, str, float, str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "iteration"])


def test_queries_without_documents_stay() -> None:
    judgments = Judgments.from_qrels({"q1": {"a": 1}, "q2": {}, "q3": {"b": 2, "c": 0}})
    part = judgments.restricted_to(["q3", "q2"])
    assert part.query_ids == ["q2", "q3"]
    assert part.query.tolist() == [1, 1]
    assert part.m().tolist() == [0, 1]
    assert judgments.restricted_to(judgments.query_ids) is judgments


def test_grades_for_one_aspect_have_no_other_aspects() -> None:
    qrels = aspect_rows([("q1", "a", 2.0, "relevance"), ("q2", "a", 3.0, "quality")])
    part = Judgments.from_qrels(qrels).restricted_to(["q2"])
    assert part.grade.tolist() == [0.0]
    assert part.with_grades(np.array([2.0])).for_ir_measures()[
        "relevance"
    ].tolist() == [2]


@given(collections(), st.data())
def test_documents_that_are_taken_out_stay_out_of_a_part(
    collection: Any, data: st.DataObject
) -> None:
    qrels, run = collection
    docs = sorted({doc for docs in [*qrels.values(), *run.values()] for doc in docs})
    gone = {
        q: data.draw(st.lists(st.sampled_from([*docs, "never seen"]), max_size=4))
        for q in [*qrels, "other"]
    }
    judgments = Judgments.from_qrels(qrels).excluding(gone)
    measures = [TSE, LR, "nDCG@10", RBU]
    whole = irl.evaluate(measures, judgments, run)
    for query_ids in drawn_parts(data, judgments):
        assert irl.evaluate(measures, judgments.restricted_to(query_ids), run).equals(
            whole.loc[query_ids]
        )
