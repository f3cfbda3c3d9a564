"""Measures that trec_eval has and ir_measures has not: by its own values, and by its definitions in slow code."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import ir_measures
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import RBP_TE, ElevenPt, IPrec_TE, RelP, Rndcg, Unjudged
from tests.conftest import Data, collections, reference_values, values

RELS = st.sampled_from([1, 2, 3])


def relevant(grades: Mapping[str, float], rel: float) -> int:
    return sum(grade >= rel for grade in grades.values())


def interpolated(
    ranking: Sequence[str],
    grades: Mapping[str, float],
    recall: float,
    rel: float,
    version: int,
) -> float:
    m = relevant(grades, rel)
    c = math.floor(recall * m + 0.5) if version == 10 else math.floor(recall * m + 0.9)
    precisions, hits = [], 0
    for rank, doc in enumerate(ranking, start=1):
        hits += grades.get(doc, -1) >= rel
        if hits >= max(c, 1) and grades.get(doc, -1) >= rel:
            precisions.append(hits / rank)
    return max(precisions, default=0.0)


@given(
    collections(),
    RELS,
    st.sampled_from([9, 10]),
    st.sampled_from([0, 0.1, 0.25, 0.5, 0.75, 1]),
)
def test_interpolated_precision_is_its_definition(
    collection: Any, rel: int, version: int, recall: float
) -> None:
    def score(ranking: Sequence[str], grades: Mapping[str, float]) -> float:
        return interpolated(ranking, grades, recall, rel, version)

    assert values(
        IPrec_TE(version=version, rel=rel) @ recall, *collection
    ) == reference_values(score, *collection)


@given(collections(), RELS, st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 1.0]))
def test_version_9_is_that_of_ir_measures(
    collection: Any, rel: int, recall: float
) -> None:
    ours = values(IPrec_TE(version=9, rel=rel) @ recall, *collection)
    assert ours == values(ir_measures.IPrec(rel=rel) @ recall, *collection)


@given(collections(), RELS, st.sampled_from([9, 10]))
def test_the_eleven_point_average_is_that_of_its_points(
    collection: Any, rel: int, version: int
) -> None:
    points = [
        values(IPrec_TE(version=version, rel=rel) @ (i / 10), *collection)
        for i in range(11)
    ]
    found = values(ElevenPt(version=version, rel=rel), *collection)
    assert found == pytest.approx(
        {q: sum(point[q] for point in points) / 11 for q in found}, abs=1e-15
    )


@given(collections(), st.floats(0.01, 0.99))
def test_gains_are_shares_of_the_top_grade_of_the_query(
    collection: Any, p: float
) -> None:
    def score(ranking: Sequence[str], grades: Mapping[str, float]) -> float:
        top = max([1.0, *grades.values()])
        gains = [max(grades.get(doc, 0), 0) / top for doc in ranking]
        return (1 - p) * math.fsum(gain * p**i for i, gain in enumerate(gains))

    assert values(RBP_TE(p=p), *collection) == pytest.approx(
        reference_values(score, *collection), rel=1e-12
    )


@given(collections(), RELS, st.none() | st.integers(1, 40))
def test_relative_precision_is_its_definition(
    collection: Any, rel: int, cutoff: int | None
) -> None:
    def score(ranking: Sequence[str], grades: Mapping[str, float]) -> float:
        hits = sum(grades.get(doc, -1) >= rel for doc in ranking[:cutoff])
        return (
            hits / min(cutoff or len(ranking), relevant(grades, rel)) if hits else 0.0
        )

    assert values(RelP(rel=rel, cutoff=cutoff), *collection) == reference_values(
        score, *collection
    )


def levels_ndcg(ranking: Sequence[str], grades: Mapping[str, float]) -> float:
    """Rank by rank, as the program goes: an average whenever the ideal gain changes."""
    gains = [max(grades.get(doc, 0), 0) for doc in ranking]
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    if relevant(grades, 1) == 0:
        return 0.0
    ends = [
        i
        for i in range(1, len(ideal) + 1)
        if i == len(ideal) or ideal[i] != ideal[i - 1]
    ]
    if len(ranking) > len(ideal) + 1:
        ends.append(len(ranking))

    def dcg(column: Sequence[float], k: int) -> float:
        return sum(gain / math.log2(i + 2) for i, gain in enumerate(column[:k]))

    return sum(dcg(gains, k) / dcg(ideal, k) for k in ends) / len(ends)


@given(collections())
def test_ndcg_at_r_levels_is_its_definition(collection: Any) -> None:
    assert values(Rndcg(), *collection) == pytest.approx(
        reference_values(levels_ndcg, *collection), rel=1e-13
    )


@pytest.mark.parametrize("grade", [1, 0.5])
def test_a_ranking_one_longer_than_the_ideal_adds_no_level_and_fractions_are_not_relevant(
    grade: float,
) -> None:
    assert Rndcg().calc_aggregate({"q": {"a": grade}}, {"q": {"x": 2.0, "a": 1.0}}) == 0
    assert Rndcg().calc_aggregate({"q": {"a": grade}}, {"q": {"a": 1.0}}) == (
        grade >= 1
    )


# -- trec_eval's own values ------------------------------------------------------------------------------

OURS = {
    "11pt_avg": "ElevenPt",
    "Rndcg": "Rndcg",
    "bpref": "Bpref",
    "infAP": "infAP",
    "map": "AP",
    "ndcg": "nDCG",
    "rbp": "RBP_TE",
    "set_relative_P": "RelP",
    **{f"unj_{k}": f"Unjudged@{k}" for k in (5, 10, 20)},
    **{f"iprec_at_recall_{i / 10:.2f}": f"IPrec_TE@{i / 10}" for i in range(11)},
}
NOT_HERE = {"rbp_resid"}


@pytest.mark.parametrize("run", ["aplrob03a", "rutcor03100"])
def test_values_are_trec_evals_to_the_last_bit(data: Data, run: str) -> None:
    qrels, path = (
        data.path("robust2003/qrels.txt.gz"),
        data.path(f"robust2003/runs/{run}.gz"),
    )
    theirs = data.vectors("trec_eval10-robust2003.json")["runs"][run]
    assert set(theirs) == {*OURS, *NOT_HERE}
    table = irl.evaluate(list(OURS.values()), qrels, path)
    for name, measure in OURS.items():
        assert table[measure].to_dict() == theirs[name], name


@given(collection=collections(), k=st.integers(1, 50))
def test_unjudged_counts_what_has_no_judgment(collection: Any, k: int) -> None:
    qrels, run = collection
    expected = {
        q: sum(judged.get(doc, -1) < 0 for doc in reference.order(run.get(q, {}))[:k])
        / k
        for q, judged in qrels.items()
    }
    assert values(Unjudged @ k, qrels, run) == expected
    if all(grade >= 0 for judged in qrels.values() for grade in judged.values()):
        assert set(values(Unjudged(judged_only=True) @ k, qrels, run).values()) <= {0}


def test_unjudged_needs_a_cutoff() -> None:
    with pytest.raises(ValueError, match="cutoff"):
        values(Unjudged(), {"q": {"a": 1}}, {"q": {"a": 1}})
