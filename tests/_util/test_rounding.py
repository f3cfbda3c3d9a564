"""What is said of numbers is true of them, and rounding is no order, whatever the size of the numbers."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall._util.rounding import levelled, same, settled
from ir_lexirecall.significance.over_collections import ranks

QUERIES = [f"q{i}" for i in range(100)]
QRELS = {q: {"a": 1, "b": 0} for q in QUERIES}
FIRST = {q: {"a": 2.0, "b": 1.0} for q in QUERIES}
SECOND = {q: {"a": 1.0, "b": 2.0} for q in QUERIES}


numbers = st.lists(
    st.integers(-1000, 1000).map(lambda n: n / 7), min_size=1, max_size=50
)


@given(numbers, st.randoms(use_true_random=False), st.integers(-900, 900))
def test_sums_in_another_order_are_the_same_at_any_scale(
    terms: list[float], random: object, exponent: int
) -> None:
    shuffled = sorted(terms, key=lambda _: random.random())  # type: ignore[attr-defined]
    a, b = (np.ldexp(np.add.reduce(x) + 1e5, exponent) for x in (terms, shuffled))
    assert same(a, b)
    assert not same(a, np.ldexp(b, 1))
    assert settled(np.array([a - b]), abs(a)) == 0
    assert len(np.unique(levelled(np.array([[a], [a * (1 + 2.0**-50)]])))) == 1


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [(np.inf, np.inf, True), (np.inf, -np.inf, False), (np.nan, np.nan, False)],
)
def test_ends_of_the_scale(a: float, b: float, expected: bool) -> None:
    assert bool(same(a, b)) is expected


def test_ranks_of_means_that_differ_by_rounding_are_shared() -> None:
    means = np.array([0.1 + 0.2, 0.3, 0.5, 0.1])
    assert ranks(means).tolist() == [2.5, 2.5, 1, 4]


def test_friedman_takes_rounding_for_ties() -> None:
    class Third(irl.Measure, register=False):
        """A third of reciprocal rank, added up in an order that depends on the ranking."""

        params = {}

        def score(self, run):  # type: ignore[no-untyped-def]
            first = run.relevant(1, None).rank == 1
            return np.where(first, 0.1 + 0.2, 0.3)

    runs = {"one": FIRST, "two": SECOND, "three": FIRST}
    suite = irl.benchmark({"x": QRELS, "y": QRELS}, {"x": runs, "y": runs}, [Third()])
    found = suite.friedman()
    assert found["mean_rank"].tolist() == [2, 2, 2]
    assert (
        found["p_pairs"].to_numpy().min() == found["p_wilcoxon"].to_numpy().min() == 1
    )
    assert suite.overall()["mean_rank"].tolist() == [2, 2, 2]


def test_runs_that_are_the_same_are_level() -> None:
    said = irl.compare(QRELS, {"x": FIRST, "y": FIRST, "z": FIRST}, "AP").summary(
        full=True
    )
    assert "all runs are level" in said


def test_the_range_of_ties_by_query_is_that_of_the_mean() -> None:
    runs = {"tied": FIRST | {"q0": {"a": 1.0, "b": 1.0}}}
    for by_query in (False, True):
        said = irl.meta.summary(irl.tie_audit("RR", QRELS, runs, by_query=by_query))
        assert "tied by RR (0.0050)" in said


def test_a_leader_behind_the_baseline_on_a_collection_is_said() -> None:
    ahead = {"base": SECOND, "new": FIRST}
    few = {q: QRELS[q] for q in QUERIES[:30]}
    behind = {"base": FIRST, "new": FIRST | {q: SECOND[q] for q in QUERIES[:5]}}
    suite = irl.benchmark(
        {"x": QRELS, "y": few}, {"x": ahead, "y": behind}, ["AP"], baseline="base"
    )
    assert "new leads by AP, but is behind base on y." in suite.diagnostics


def test_missing_intervals_are_explained() -> None:
    one = {"q0": {"a": 1}}
    runs = {"base": FIRST, "new": SECOND}
    suite = irl.benchmark({"x": one, "y": QRELS}, {"x": runs, "y": runs}, ["RR"])
    assert (
        "One query on x: it has no spread, and intervals are missing (-)."
        in suite.diagnostics
    )
    assert "One collection: it says nothing about others" in irl.benchmark(
        QRELS, runs, ["RR"]
    ).summary("collections")


def test_values_per_query_are_a_copy() -> None:
    result = irl.compare(QRELS, {"x": FIRST, "y": SECOND}, "RR")
    values = result.per_query()
    values.iloc[:] = 7.0
    assert result.means()["mean"].tolist() == [1.0, 0.5]
    assert result.per_query().to_numpy().max() == 1.0


def test_collections_can_be_pickled() -> None:
    collection = pickle.loads(pickle.dumps(irl.load("lexirecall/demo")))
    pd.testing.assert_frame_equal(collection.qrels, irl.load("lexirecall/demo").qrels)


def test_measures_over_a_greedy_ideal_may_exceed_1() -> None:
    for name in ("alpha_nDCG", "nERR_IA", "nNRBP"):
        assert "rarely above 1" in str(irl.describe(name)).replace("\n          ", " ")


def test_sums_of_rounding_errors_are_zero() -> None:
    differences = np.array([0.3 - 0.1 - 0.2, 1e-9, -1e-9])
    assert settled(differences, 0.3).tolist() == [0.0, 1e-9, -1e-9]
    assert settled(differences, 1e6).tolist() == [0.0, 0.0, 0.0]


def test_infinite_values_are_not_merged_with_finite_ones() -> None:
    values = np.array([[1.0, -np.inf], [np.inf, -1.0], [1e300, np.inf]])
    np.testing.assert_array_equal(levelled(values), values)
