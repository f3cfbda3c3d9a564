"""The partial orders, against their definitions and the examples of the paper."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall.meta import partial_order

GRADES = st.lists(st.integers(0, 2), min_size=1, max_size=5)


@given(a=GRADES, b=GRADES)
def test_a_ranking_is_better_iff_it_is_ahead_at_every_depth_and_grade(a: list[int], b: list[int]) -> None:
    depth = max(len(a), len(b))

    def at_least(x: list[int], y: list[int]) -> bool:
        counts = [
            (sum(g >= grade for g in x[:k]), sum(g >= grade for g in y[:k]))
            for k, grade in itertools.product(range(1, depth + 1), (1, 2))
        ]
        return all(own >= other for own, other in counts)

    expected = {(True, True): "=", (True, False): ">", (False, True): "<", (False, False): "not comparable"}
    row = partial_order({"a": a, "b": b}).iloc[0]
    assert row["order"] == expected[at_least(a, b), at_least(b, a)]
    for ahead, x, y in ((row["a_ahead"], a, b), (row["b_ahead"], b, a)):
        if ahead is not None:
            k, grade = ahead
            assert sum(g >= grade for g in x[:k]) > sum(g >= grade for g in y[:k])


@given(a=GRADES, b=GRADES)
def test_the_partial_order_is_the_preference_dominance(a: list[int], b: list[int]) -> None:
    size = max(len(a), len(b))
    a, b = a + [0] * (size - len(a)), b + [0] * (size - len(b))
    pool = {(grade, i): f"g{grade}-{i}" for grade in range(3) for i in range(size)}
    qrels = {"q": {name: grade for (grade, _), name in pool.items()}}

    def run(grades: list[int]) -> dict[str, dict[str, float]]:
        return {"q": {pool[grade, grades[:i].count(grade)]: -float(i) for i, grade in enumerate(grades)}}

    [preference] = irl.compare(qrels, {"a": run(a), "b": run(b)}, "dominance").explain("a", "b")["preference"]
    sign = {">": 1, "<": -1, "=": 0}
    order = partial_order({"a": a, "b": b})["order"].iloc[0]
    assert np.isnan(preference) if order == "not comparable" else preference == sign[order]


@pytest.mark.parametrize(
    ("rankings", "message"),
    [
        ({"a": [1]}, "at least two rankings"),
        ({1: [1], "1": [0]}, "two rankings have the same name"),
        ([[1], [0]], "at least two rankings"),
        ({"a": [1], "b": ["x"]}, "grades of ranking 'b'"),
        ({"a": [float("nan")], "b": [1]}, "ranking 'a' has a grade that is not a finite number"),
    ],
)
def test_what_is_no_ranking_is_refused(rankings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        partial_order(rankings)


def dominates(a: list[int], b: list[int]) -> bool:
    """Whether every grade is reached at least as often, in the whole ranking."""
    size = max(len(a), len(b))
    a, b = ([max(grade, 0) for grade in x] + [0] * (size - len(x)) for x in (a, b))
    return all(sum(g >= grade for g in a) >= sum(g >= grade for g in b) for grade in {*a, *b} - {0})


@given(a=st.lists(st.integers(-1, 3), min_size=1, max_size=6), b=st.lists(st.integers(-1, 3), min_size=1, max_size=6))
def test_the_set_based_order_looks_at_the_documents_only(a: list[int], b: list[int]) -> None:
    expected = {(True, True): "=", (True, False): ">", (False, True): "<", (False, False): "not comparable"}
    row = partial_order({"a": a, "b": b}, by="set").iloc[0]
    assert row["order"] == expected[dominates(a, b), dominates(b, a)]
    shuffled = partial_order({"a": sorted(a), "b": sorted(b, reverse=True)}, by="set").iloc[0]
    assert shuffled["order"] == row["order"] or len(a) != len(b)
    for ahead, x, y in ((row["a_ahead"], a, b), (row["b_ahead"], b, a)):
        if ahead is not None:
            assert ahead[0] == max(len(a), len(b))
            assert sum(g >= ahead[1] for g in x) > sum(g >= ahead[1] for g in y)


@pytest.mark.parametrize(
    ("a", "b", "by", "order"),
    [
        ((0, 1, 1, 2, 2), (0, 1, 1, 2, 3), "set", "<"),
        ((0, 1, 1, 2, 2), (0, 1, 1, 1, 3), "set", "not comparable"),
        ((0, 1, 1, 2, 2), (2, 0, 1, 2, 1), "rank", "<"),  # printed as not comparable: an error of the paper
        ((0, 0, 1, 1), (1, 0, 0, 1), "rank", "<"),  # (0..0, 1..1) is the least of all with two relevant documents
        ((2, 2, 0, 0), (1, 0, 2, 0), "rank", ">"),  # (q..q, 0..0) is the greatest
    ],
)
def test_examples_of_the_paper(a: Any, b: Any, by: str, order: str) -> None:
    """Ferrante, Ferro, Maistro, ICTIR 2015; one printed example contradicts the definition."""
    assert partial_order({"a": a, "b": b}, by=by)["order"].item() == order
