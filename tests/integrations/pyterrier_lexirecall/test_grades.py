"""Grades that are no integers, which PyTerrier cannot read."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

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


@pytest.mark.parametrize("measure", ["map", "nDCG@10", "P_5", "num_q", "mrt"])
def test_fractions_are_refused_where_other_packages_compute(measure: str) -> None:
    with pytest.raises(
        ValueError,
        match=r"^pt\.lexirecall\.Experiment: qrels: pt\.Experiment computes .* whole grades only, "
        r"and a label is 0\.5; use ir_lexirecall\.compare",
    ):
        pt.lexirecall.Experiment(SYSTEMS, TOPICS, qrels(0.5, 1.0, 0.7), [measure])


def test_fractions_are_grades_of_our_measures() -> None:
    table = pt.lexirecall.Experiment(
        SYSTEMS, TOPICS, qrels(0.5, 1.0, 0.7), ["LR", "TSE"]
    )
    assert table["LexiRecall"].notna().all()


@pytest.mark.parametrize("label", ["1", float("nan"), float("inf"), None])
def test_what_is_no_number_is_named(label: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^pt\.lexirecall\.Experiment: qrels: the relevance of"
    ):
        pt.lexirecall.Experiment(SYSTEMS, TOPICS, qrels(label, 1.0, 0.5), ["map"])
