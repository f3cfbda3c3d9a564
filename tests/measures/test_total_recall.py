"""Measures of total recall against their definitions, document by document, and against each other."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import ATD, ERF, WSS, LastRel, RecallLoss
from tests.conftest import collections, reference_values, values

RELS = st.sampled_from([1, 2, 3])
SIZES = st.integers(200, 10**6)
SHARES = st.sampled_from(["0.05", "0.1", "1/3", "0.5", "0.7", "0.95", "1"]).map(
    Fraction
)
Score = Callable[..., Fraction]


def whole_ranking(
    ranking: Sequence[str], grades: Mapping[str, float], rel: float, n: int
) -> list[int]:
    """Ranks of the relevant documents in a collection of n, the missing ones at its end."""
    relevant = {doc for doc, grade in grades.items() if grade >= rel}
    ranks = [rank for rank, doc in enumerate(ranking, start=1) if doc in relevant]
    u = len(relevant) - len(ranks)
    return ranks + list(range(n - u + 1, n + 1))


def wss(p: list[int], n: int, r: Fraction) -> Fraction:
    return Fraction(n - p[math.ceil(r * len(p)) - 1], n) - (1 - r)


def atd(p: list[int], n: int) -> Fraction:
    return Fraction(sum(p), len(p))


def last_rel(p: list[int], n: int) -> Fraction:
    return Fraction(p[-1])


def loss(p: list[int], n: int) -> Fraction:
    m = len(p)
    area = sum(n - rank + 1 for rank in p)
    return (m * (n - Fraction(m - 1, 2)) - area) / (m * (n - m))


def erf(p: list[int], n: int, x: Fraction) -> Fraction:
    return Fraction(sum(rank <= math.floor(x * n) for rank in p), len(p)) - x


def scored(score: Score, rel: int, n: int, **parameters: Any) -> Callable[..., float]:
    def of_query(ranking: Sequence[str], grades: Mapping[str, float]) -> float:
        p = whole_ranking(ranking, grades, rel, n)
        return float(score(p, n, **parameters)) if p else 0.0

    return of_query


@given(collections(), RELS, SIZES, SHARES)
def test_they_are_their_formulas(
    collection: Any, rel: int, n: int, share: Fraction
) -> None:
    x = float(share)
    measures: dict[Any, Callable[..., float]] = {
        WSS(r=x, rel=rel, n=n): scored(wss, rel, n, r=share),
        ATD(rel=rel, n=n): scored(atd, rel, n),
        ATD(rel=rel, n=n, normalize=True): scored(lambda p, n: atd(p, n) / n, rel, n),
        LastRel(rel=rel, n=n): scored(last_rel, rel, n),
        RecallLoss(rel=rel, n=n): scored(loss, rel, n),
        ERF(x=x, rel=rel, n=n): scored(erf, rel, n, x=share),
    }
    for measure, score in measures.items():
        assert values(measure, *collection) == pytest.approx(
            reference_values(score, *collection), rel=1e-12, abs=1e-12
        )


@given(st.integers(1, 6), st.integers(2, 40), st.data())
def test_the_loss_is_the_area_of_the_curve_counted_rank_by_rank(
    m: int, n: int, data: st.DataObject
) -> None:
    m = min(m, n - 1)
    relevant = data.draw(st.sets(st.integers(1, n), min_size=m, max_size=m))
    qrels = {"q": {f"d{rank}": int(rank in relevant) for rank in range(1, n + 1)}}
    run = {"q": {f"d{rank}": -float(rank) for rank in range(1, n + 1)}}
    found = np.cumsum([rank in relevant for rank in range(1, n + 1)])
    ideal = np.minimum(np.arange(1, n + 1), m)
    worst = np.maximum(np.arange(1, n + 1) - (n - m), 0)
    expected = (ideal - found).sum() / (ideal - worst).sum()
    assert values(RecallLoss(), qrels, run)["q"] == pytest.approx(expected, abs=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_ideal_and_the_worst_ranking(m: int) -> None:
    n = 6
    qrels = {"q": {f"d{i}": int(i < m) for i in range(n)}}
    seen = {}
    for order in itertools.permutations(range(n)):
        run = {"q": {f"d{i}": -float(rank) for rank, i in enumerate(order)}}
        seen[order] = irl.evaluate(
            ["RecallLoss", "WSS@1", "LastRel", "ATD"], qrels, run
        ).iloc[0]
    losses = [value["RecallLoss"] for value in seen.values()]
    assert (min(losses), max(losses)) == pytest.approx((0, 1))
    assert max(value["WSS@1"] for value in seen.values()) == (n - m) / n
    assert min(value["LastRel"] for value in seen.values()) == m
    assert min(value["ATD"] for value in seen.values()) == (m + 1) / 2


QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}, "q3": {"a": 0}}
RUN = {"q1": {"a": 3.0, "x": 2.0, "b": 1.0}, "q2": {"y": 2.0, "a": 1.0}}


def test_sizes_differ_from_query_to_query() -> None:
    assert values(WSS(r=1, n={"q1": 10, "q2": 4}), QRELS, RUN) == pytest.approx(
        {"q1": 0.7, "q2": 0.5, "q3": 0}
    )
    assert values(WSS(r=1), QRELS, RUN) == pytest.approx({"q1": 0, "q2": 0, "q3": 0})
    named = WSS(r=1, n={"q1": 10, "q2": 4})
    assert irl.evaluate(str(named), QRELS, RUN)[str(named)].tolist() == pytest.approx(
        [0.7, 0.5, 0]
    )
    missing = {"q1": {"a": 1.0}}
    assert values(LastRel(n={"q1": 10, "q2": 4}), QRELS, missing) == {
        "q1": 10,
        "q2": 4,
        "q3": 0,
    }


@pytest.mark.parametrize("measure", [WSS, ATD, RecallLoss, LastRel, ERF])
def test_what_does_not_fit_the_collection_is_named(measure: Any) -> None:
    with pytest.raises(
        ValueError,
        match=f"{measure.NAME}: the ranking of query 'q2' lacks 1 relevant documents; give n",
    ):
        values(measure, QRELS, {"q1": RUN["q1"]})
    with pytest.raises(
        ValueError,
        match=f"{measure.NAME}.*n=2 is smaller than the 3 documents of query 'q1'; n is the size",
    ):
        values(measure(n=2), QRELS, RUN)
    with pytest.raises(
        ValueError, match=f"{measure.NAME}: n has no size for query 'q2'; add it"
    ):
        values(measure(n={"q1": 5}), QRELS, RUN)


def test_cutoffs_are_shares() -> None:
    assert [str(WSS @ 0.95), str(WSS @ 0.9), str(ERF @ 0.2)] == [
        "WSS@0.95",
        "WSS@0.9",
        "ERF@0.2",
    ]
    assert irl.evaluate("WSS@0.9", QRELS, RUN, aggregate=True).index.tolist() == [
        "WSS@0.9"
    ]
