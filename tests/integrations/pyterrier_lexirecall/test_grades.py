"""Grades that are no integers, which PyTerrier cannot read."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd
import pytest

import ir_lexirecall as irl

pt = pytest.importorskip("pyterrier")

TOPICS = pd.DataFrame({"qid": ["1", "2"], "query": ["x", "y"]})
RUN = pd.DataFrame(
    {
        "qid": ["1", "1", "2"],
        "docno": ["a", "b", "a"],
        "score": [2.0, 1.0, 1.0],
        "rank": [0, 1, 0],
    }
)
SYSTEMS = {"one": pt.Transformer.from_df(RUN), "two": pt.Transformer.from_df(RUN)}
pytestmark = pytest.mark.filterwarnings("ignore")


def qrels(*labels: Any) -> pd.DataFrame:
    return pd.DataFrame(
        {"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "label": labels}
    )


@pytest.mark.parametrize("labels", [(1.0, 0.0, 2.0), (True, False, True)])
def test_whole_numbers_are_grades(labels: tuple[Any, ...]) -> None:
    whole = qrels(*labels)
    before = whole.copy()
    table = pt.lexirecall.Experiment(SYSTEMS, TOPICS, whole, ["map", "LR"])
    expected = pt.lexirecall.Experiment(
        SYSTEMS, TOPICS, qrels(*map(int, labels)), ["map", "LR"]
    )
    pd.testing.assert_frame_equal(table, expected)
    pd.testing.assert_frame_equal(whole, before)


@pytest.mark.parametrize("kind", ["Int64", "UInt8", "Float64", "category", "uint8"])
@pytest.mark.parametrize("measures", [["map"], ["nDCG@5", "LR"]])
def test_grades_of_any_type_of_column_are_grades(
    kind: str, measures: list[str]
) -> None:
    plain = qrels(1, 0, 2)
    typed = plain.assign(label=plain["label"].astype(kind))
    table = pt.lexirecall.Experiment(SYSTEMS, TOPICS, typed, measures)
    expected = pt.lexirecall.Experiment(SYSTEMS, TOPICS, plain, measures)
    pd.testing.assert_frame_equal(table, expected)


def test_a_missing_grade_of_a_nullable_column_is_named() -> None:
    missing = qrels(1, 0, 2).assign(label=pd.array([None, 1, 0], dtype="Int64"))
    with pytest.raises(ValueError, match="qrels: the relevance of document 'a' for"):
        pt.lexirecall.Experiment(SYSTEMS, TOPICS, missing, ["map"])


@pytest.mark.parametrize("measure", ["map", "nDCG@10", "P_5", "num_q", "mrt"])
def test_fractions_are_refused_where_other_packages_compute(measure: str) -> None:
    with pytest.raises(
        ValueError,
        match=r"^pt\.lexirecall\.Experiment: qrels: pt\.Experiment computes .* whole grades only, "
        r"and a label is 0\.5; use ir_lexirecall\.compare",
    ):
        pt.lexirecall.Experiment(SYSTEMS, TOPICS, qrels(0.5, 1.0, 0.7), [measure])


LOADED = {
    "levels": (qrels(0.7, 0.2, 0.9), {"levels": 0.5}, qrels(1, 0, 1)),
    "two levels": (qrels(0.7, 0.2, 0.9), {"levels": [0.5, 0.8]}, qrels(1, 0, 2)),
    "nothing": (qrels(1, 0, 2), {}, qrels(1, 0, 2)),
    "negative": (qrels(1, -1, 2), {"levels": 1}, qrels(1, -1, 1)),
    "queries": (qrels(1, 0, 2), {"queries": ["1"]}, qrels(1, 0, 2)[:2]),
}


@pytest.mark.parametrize("kind", LOADED)
def test_qrels_that_were_loaded_are_those_in_a_frame(kind: str) -> None:
    frame, options, expected = LOADED[kind]
    loaded = irl.load(frame, **options)
    tables = [
        pt.lexirecall.Experiment(
            SYSTEMS, TOPICS, one, ["map", "LR", "nDCG@10"], perquery="both"
        )
        for one in (loaded, expected)
    ]
    for table, other in zip(*tables, strict=True):
        pd.testing.assert_frame_equal(table, other)


def test_fractions_that_were_loaded_are_grades_of_our_measures() -> None:
    loaded, frame = (
        pt.lexirecall.Experiment(SYSTEMS, TOPICS, one, ["LR"])
        for one in (irl.load(qrels(0.5, 1.0, 0.7)), qrels(0.5, 1.0, 0.7))
    )
    pd.testing.assert_frame_equal(loaded, frame)


@pytest.mark.parametrize(
    "options", [{"exclude": {"1": ["a"]}}, {"judged_only": True}, {"trec_eval": 10}]
)
def test_what_pyterrier_cannot_do_with_loaded_qrels_is_refused(options: Any) -> None:
    loaded = irl.load(qrels(1, 0, 2), **options)
    with pytest.raises(
        ValueError, match="load the qrels without exclude, rules, judged_only and"
    ):
        pt.lexirecall.Experiment(SYSTEMS, TOPICS, loaded, ["map"])


def test_fractions_are_grades_of_our_measures() -> None:
    table = pt.lexirecall.Experiment(
        SYSTEMS, TOPICS, qrels(0.5, 1.0, 0.7), ["LR", "TSE"]
    )
    assert table["LexiRecall"].notna().all()


@pytest.mark.parametrize("baseline", [None, "one"])
@pytest.mark.parametrize(
    ("labels", "measure", "preference"),
    [
        ((0.5, 0.2, 0.7), "LR(rel=0.5)", "lexirecall"),
        ((0.5, 0.2, 0.7), "LR(rel=0.5)", "rpp"),
        ((0.0, 0.0, 0.0), "nDCG@10", "lexirecall"),
        ((1, 0, 2), "nDCG@10", "rpp(rel=3)"),
    ],
)
def test_a_preference_for_which_nothing_is_relevant_is_named(
    labels: tuple[Any, ...], measure: str, preference: str, baseline: str | None
) -> None:
    with pytest.warns(
        UserWarning, match=f"count as relevant for {re.escape(preference)}: the highest"
    ):
        pt.lexirecall.Experiment(
            SYSTEMS,
            TOPICS,
            qrels(*labels),
            [measure],
            preferences=preference,
            baseline=baseline,
        )


@pytest.mark.parametrize("label", ["1", float("nan"), float("inf"), None])
def test_what_is_no_number_is_named(label: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^pt\.lexirecall\.Experiment: qrels: the relevance of"
    ):
        pt.lexirecall.Experiment(SYSTEMS, TOPICS, qrels(label, 1.0, 0.5), ["map"])


def with_integers(table: pd.DataFrame, *columns: str) -> pd.DataFrame:
    return table.assign(**{column: range(len(table)) for column in columns})


@pytest.mark.parametrize(
    ("topics", "judged", "message"),
    [
        (with_integers(TOPICS, "qid"), qrels(1, 0, 2), "topics: qid holds integers"),
        (TOPICS, with_integers(qrels(1, 0, 2), "qid"), "qrels: qid holds integers"),
        (TOPICS, with_integers(qrels(1, 0, 2), "docno"), "qrels: docno holds integers"),
        (
            with_integers(TOPICS, "qid"),
            with_integers(qrels(1, 0, 2), "qid"),
            "qrels: qid holds integers, and pt.Experiment computes map from texts",
        ),
        (TOPICS[["query"]], qrels(1, 0, 2), "topics lack the column qid"),
    ],
)
def test_ids_that_pyterrier_cannot_use_are_named(
    topics: pd.DataFrame, judged: pd.DataFrame, message: str
) -> None:
    with pytest.raises(ValueError, match=rf"^pt\.lexirecall\.Experiment: {message}"):
        pt.lexirecall.Experiment(SYSTEMS, topics, judged, ["map"])


def test_measures_of_ours_take_integers_as_ids() -> None:
    judged = with_integers(qrels(1, 0, 2), "docno")
    table = pt.lexirecall.Experiment(SYSTEMS, TOPICS, judged, ["LR"])
    assert table["LexiRecall"].tolist() == [0, 0]


@pytest.mark.parametrize("measures", [[3], ["map", None], [["map"]], [b"map"], 3, None])
def test_measures_that_are_none_are_named(measures: Any) -> None:
    with pytest.raises(ValueError, match=r"Experiment: eval_metrics (holds|must be)"):
        pt.lexirecall.Experiment(SYSTEMS, TOPICS, qrels(1, 0, 2), measures)
