"""``judged_only``: every measure of a ranking without the documents that have no judgment (a condensed list)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import ir_lexirecall as irl
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.comparison.shared_queries import NothingShared
from ir_lexirecall.measures.declaration import REGISTRY
from tests.conftest import (
    PROVIDER,
    collections,
    rankings,
    subtopic_collections,
    subtopic_table,
    words,
)

REQUIRED = {
    "cutoff": 5,
    "recall": 0.5,
    "max_rel": 4,
    "aspects": {"relevance": 4, "quality": 4},
}
FURTHER = words(
    "TSE(rel=2)@3 TSE(exposure='nDCG',impute='optimistic',n=5000,normalize=True) LR(form='weighted',n=5000)@3 "
    "CWL_ERR9(max_rel=4,unjudged='best')@3 GERR(max_rel=4,unjudged='best')@3 RBU(p=0.8,normalize=True)@3 "
    "DSharp(gamma=0.3)@3 IA(base='AP')@3 EU(alpha=0.2)@3"
)
MEASURES = [
    *(
        measure(
            **{
                key: REQUIRED[key]
                for key, param in measure.SUPPORTED_PARAMS.items()
                if param.required
            },
            **(
                {"n": 5000}
                if measure.SUPPORTED_PARAMS.get("n") and measure["n"] == "ranking"
                else {}
            ),
        )
        for name, measure in REGISTRY.items()
        if name == measure.NAME
        and type(measure).__module__.startswith("ir_lexirecall.")
    ),
    *map(parse_measure, FURTHER),
]
CONDENSED = {str(measure): measure(judged_only=True) for measure in MEASURES}
PLAIN = {str(measure): measure for measure in MEASURES}

Run = Mapping[str, Mapping[str, float]]
NATURAL = st.sampled_from([0, 0, 1, 1, 2, 3, 4])


def judged_documents(qrels: pd.DataFrame, run: Run) -> dict[str, dict[str, float]]:
    """Return the run without unjudged documents; queries without judgments stay as they are.

    A negative grade says that a document was not judged.
    """
    graded = qrels[qrels["relevance"] >= 0] if "relevance" in qrels else qrels
    pairs = set(zip(graded["query_id"], graded["doc_id"], strict=True))
    queries = set(qrels["query_id"])
    return {
        q: {doc: s for doc, s in docs.items() if (q, doc) in pairs or q not in queries}
        for q, docs in run.items()
    }


def rows(qrels: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    listed = [
        (q, doc, grade, (3 * grade) % 5)
        for q, docs in qrels.items()
        for doc, grade in docs.items()
    ]
    return pd.DataFrame(listed, columns=["query_id", "doc_id", "relevance", "quality"])


def check(qrels: pd.DataFrame, run: Run, measures: Mapping[str, Any]) -> None:
    names = list(measures)
    condensed = {name: CONDENSED[name] for name in names}
    by_hand = judged_documents(qrels, run)
    wanted = irl.evaluate(measures, qrels, by_hand)
    assert_frame_equal(irl.evaluate(condensed, qrels, run), wanted, check_exact=True)
    assert_frame_equal(
        irl.evaluate(condensed, qrels, by_hand), wanted, check_exact=True
    )  # fully judged: the plain value


def test_every_measure_of_the_registry_takes_it() -> None:
    tried = {measure.NAME for measure in MEASURES}
    assert tried == {
        m.NAME
        for m in REGISTRY.values()
        if type(m).__module__.startswith("ir_lexirecall.")
    }
    assert len(tried) > 18
    for measure in CONDENSED.values():
        assert measure["judged_only"] is True
        assert "judged_only=True" in str(measure)
        assert parse_measure(str(measure)) == measure


@pytest.mark.slow
@given(subtopic_collections(NATURAL), st.sampled_from(["subtopic_id", "iteration"]))
@settings(max_examples=60)
def test_subtopics(collection: Any, column: str) -> None:
    judgments, run = collection
    without_aspects = {
        name: measure
        for name, measure in PLAIN.items()
        if "aspects" not in measure.SUPPORTED_PARAMS
    }
    check(subtopic_table(judgments, column), run, without_aspects)


QRELS = {"q": {"a": 2, "b": 1, "c": 0, "d": 1}, "r": {"a": 1}}
RUN = {
    "q": {"x": 9.0, "a": 8.0, "y": 7.0, "b": 7.0, "c": 7.0, "z": 0.0},
    "r": {"x": 2.0, "a": 1.0},
}


def test_through_ir_measures() -> None:
    """All values that a measure has, C/W/L's expected utility among them."""
    measures = [irl.CWL_ERR10(max_rel=4), irl.CWL_RBP(max_rel=4), irl.TSE, irl.RBU]
    by_hand = judged_documents(rows(QRELS), RUN)
    for measure in measures:
        found = list(PROVIDER.iter_calc([measure(judged_only=True)], QRELS, RUN))
        wanted = list(PROVIDER.iter_calc([measure], QRELS, by_hand))
        assert [(m.query_id, *m[2:]) for m in found] == [
            (m.query_id, *m[2:]) for m in wanted
        ]


@pytest.mark.slow
@given(collections(NATURAL), st.data())
def test_compare_and_benchmark(collection: Any, data: st.DataObject) -> None:
    qrels, run = collection
    table = rows(qrels)
    runs = {"a": run, "b": {q: data.draw(rankings()) for q in run}}
    by_hand = {name: judged_documents(table, ranking) for name, ranking in runs.items()}
    preferences = ["lexirecall", "rpp", "AP", "TSE@3"]
    condensed_lists = irl.load(qrels, judged_only=True)
    try:
        found = irl.compare(condensed_lists, runs, preferences, allow_empty=True)
    except NothingShared:  # runs without a common query are tried elsewhere
        reject()
    assert_frame_equal(
        found.table(),
        irl.compare(qrels, by_hand, preferences, allow_empty=True).table(),
        check_exact=True,
    )
    options = {
        "allow_empty": True,
        "test": irl.SignificanceTest(n_resamples=99, progress=False),
    }
    condensed = irl.benchmark(
        irl.load(qrels, judged_only=True), runs, ["AP", "LR"], **options
    )
    assert_frame_equal(
        condensed.means(),
        irl.benchmark(qrels, by_hand, ["AP", "LR"], **options).means(),
        check_exact=True,
    )


@given(collections(), st.sampled_from([False, True]))
def test_a_whole_evaluation_may_be_of_condensed_lists(
    collection: tuple[Any, Any], aggregate: bool
) -> None:
    qrels, run = collection
    measures = ["AP", "nDCG@3", "LR", "P@2"]
    found = irl.evaluate(
        measures, irl.load(qrels, judged_only=True), run, aggregate=aggregate
    )
    wanted = irl.evaluate(
        measures, qrels, judged_documents(rows(qrels), run), aggregate=aggregate
    )
    assert found.equals(wanted)


def test_a_run_that_retrieves_nothing_may_be_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^evaluate: the run retrieves nothing .*allow_empty"
    ):
        irl.evaluate("AP", {"q": {"a": 1}}, {"x": {"a": 1.0}}, allow_empty=False)
