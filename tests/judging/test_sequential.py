"""The sequential sign test: e-values, their correction, decisions, and error rates."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ir_lexirecall import compare
from ir_lexirecall.judging.sequential import e_holm, e_value, sequential_signs
from ir_lexirecall.significance import SignificanceTest
from tests.simulations.judging import false_decisions, false_decisions_of_any

QUERIES = [f"q{i}" for i in range(30)]


def test_e_values_are_likelihoods_over_that_of_a_fair_coin() -> None:
    grid = (np.arange(200_000) + 0.5) / 200_000
    prior = stats.beta(0.5, 0.5).pdf(grid) / 200_000
    for w, l in [(0, 0), (3, 1), (10, 4), (2, 12)]:  # noqa: E741
        mixed = np.sum(prior * grid**w * (1 - grid) ** l)
        assert e_value(np.array(w), np.array(l)) == pytest.approx(
            mixed * 2 ** (w + l), rel=2e-3
        )


def test_the_expectation_of_an_e_value_is_one_at_every_length() -> None:
    for n in range(1, 12):
        wins = np.arange(n + 1)
        assert np.sum(
            stats.binom.pmf(wins, n, 0.5) * e_value(wins, n - wins)
        ) == pytest.approx(1)


def test_the_test_decides_too_often_at_most_at_its_level_however_long_one_looks() -> (
    None
):
    assert false_decisions(0.5, 0.2, 500, 3000) <= 0.05
    assert false_decisions(0.7, 0.2, 500, 300) >= 0.95


@given(e=st.lists(st.floats(0, 1e6), min_size=1, max_size=6))
def test_corrected_e_values_are_the_smallest_means_of_sets_that_hold_them(
    e: list[float],
) -> None:
    sets = [
        subset
        for k in range(1, len(e) + 1)
        for subset in combinations(range(len(e)), k)
    ]
    expected = [
        min(np.mean([e[j] for j in subset]) for subset in sets if i in subset)
        for i in range(len(e))
    ]
    np.testing.assert_allclose(e_holm(np.array(e)), expected, rtol=1e-12)
    assert e_holm(np.zeros((3, 0))).shape == (3, 0)


@pytest.mark.slow
def test_among_many_equal_runs_no_pair_is_decided_more_often_than_said() -> None:
    assert false_decisions_of_any(17, 250, 200) <= 0.05
    assert false_decisions_of_any(17, 250, 100, correct=False) >= 0.8


def test_a_table_of_decisions_is_corrected_over_its_pairs_and_says_so() -> None:
    runs = {
        name: {q: {"a": float(i >= worse), "b": 0.5} for i, q in enumerate(QUERIES)}
        for name, worse in {"x": 0, "y": 7, "z": 7}.items()
    }
    qrels = {q: {"a": 1} for q in QUERIES}
    result = compare(qrels, runs)
    table = result.sequential()
    assert table.attrs["correction"] == "e-Holm over 3 pairs"
    assert table["verdict"].tolist() == ["undecided"] * 3
    assert ((table["verdict"] == "undecided") == (table["e_corrected"] < 20)).all()
    alone = compare(qrels, {name: runs[name] for name in "xy"}).sequential()
    assert (alone["e"] == alone["e_corrected"]).all()
    alone = compare(qrels, runs, test=SignificanceTest(correction=None)).sequential()
    assert alone.attrs["correction"] is None
    assert alone["verdict"].tolist() == ["better", "better", "undecided"]


def test_orders_are_seeded_ties_say_nothing_and_stopping_is_reported() -> None:
    x = np.array([[1.0, 0.0] * 20, [0.0] * 40, [-1.0] * 40])
    one, again = (sequential_signs(x, seed=3, correct=False) for _ in range(2))
    assert one.decided_after.tolist() == again.decided_after.tolist()
    assert (
        one.decided_after.tolist()
        != sequential_signs(x, seed=4, correct=False).decided_after.tolist()
    )
    assert one.decided_after[1] == 0
    assert one.decided_after[2] == 7
    assert one.sign.tolist() == [1, 0, -1]
    assert one.e.tolist() == e_value(np.array([7, 0, 0]), np.array([0, 0, 7])).tolist()
    assert one.e[0] >= 20 > e_value(np.array(6), np.array(0))
    assert sequential_signs(x[:, :0]).e_corrected.tolist() == [1.0] * 3
