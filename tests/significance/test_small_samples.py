"""Few queries and differences of one magnitude: exact p, no false alarms, intervals that are no points."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ir_lexirecall.significance import (
    SignificanceTest,
    margin_test_of_all,
    preference_interval,
)

PAIRED = ["sign", "t", "wilcoxon", "bootstrap", "randomisation"]
OF_MEANS = ["t", "bootstrap", "randomisation"]
ALPHAS = st.sampled_from([0.001, 0.01, 0.05, 0.1, 0.3, 0.6])
OUTCOMES = st.lists(st.integers(-1, 1), min_size=2, max_size=9)


def outcomes(queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Every (wins, losses) of so many queries: differences, and how many orders each stands for, without any tie's weight."""
    counts = [(a, b) for a in range(queries + 1) for b in range(queries + 1 - a)]
    rows = [[1.0] * a + [-1.0] * b + [0.0] * (queries - a - b) for a, b in counts]
    return np.array(rows), np.array(counts)


def probability(
    counts: np.ndarray, queries: int, win: float, loss: float
) -> np.ndarray:
    ties = queries - counts.sum(axis=1)
    return stats.multinomial.pmf(
        np.column_stack([counts, ties]), queries, [win, loss, max(0.0, 1 - win - loss)]
    )


@pytest.mark.sparse
@pytest.mark.parametrize("queries", [2, 3, 5, 8, 16, 37])
@pytest.mark.parametrize("name", PAIRED)
def test_wins_as_likely_as_losses_are_called_different_in_at_most_alpha(
    name: str, queries: int
) -> None:
    """By enumeration, not simulation, with any share of ties."""
    x, counts = outcomes(queries)
    for alpha in (0.05, 0.01, 0.1):
        p = (
            SignificanceTest(name, alpha=alpha, n_resamples=999, progress=False)
            .of_pairs(0.3 * x)
            .p
        )
        for tie in (0.0, 0.1, 0.3, 0.6, 0.9):
            assert (
                probability(counts, queries, (1 - tie) / 2, (1 - tie) / 2)
                @ (p <= alpha)
                <= alpha + 1e-12
            )


@pytest.mark.parametrize("queries", [2, 3, 5])
def test_exchangeable_wins_of_two_systems_are_called_different_by_tukey_in_at_most_alpha(
    queries: int,
) -> None:
    test = SignificanceTest("tukey", n_resamples=999, progress=False)
    rejected = [
        test.of_all(np.array([signs, np.zeros(queries)]).T).p[0, 1] <= 0.05
        for signs in itertools.product([-1.0, 1.0], repeat=queries)
    ]
    assert np.mean(rejected) <= 0.065


@pytest.mark.parametrize(("systems", "differing"), [(2, 4), (7, 3), (7, 6)])
def test_p_of_tukey_is_at_least_that_of_exchanging_all_signs(
    systems: int, differing: int
) -> None:
    values = np.full((10, systems), 0.2)
    values[:differing, 0] = 0.9
    for alpha in (0.05, 0.2):
        test = SignificanceTest("tukey", alpha=alpha, n_resamples=9999, progress=False)
        result = test.of_all(values)
        p = result.p[0, 1]
        assert p >= 2.0 ** (1 - differing)
        assert (result.low[0, 1] > 0) == (p <= alpha)
        tested = margin_test_of_all(test, values, 0.1)
        assert (tested.better[0, 1], tested.worse[1, 0]) == (p, p)


@given(OUTCOMES, st.sampled_from([1.0, 0.1, 1 / 3, 1e-200]), ALPHAS)
def test_p_of_one_magnitude_counts_all_assignments_of_signs(
    x: list[int], c: float, alpha: float
) -> None:
    signs = itertools.product([-1, 1], repeat=len(x))
    share = Fraction(
        int(sum(abs(np.dot(s, x)) >= abs(sum(x)) for s in signs)), 2 ** len(x)
    )
    for name in OF_MEANS:
        result = SignificanceTest(name, alpha=alpha, n_resamples=99).of_pairs(
            c * np.array([x], dtype=float)
        )
        assert result.p[0] == pytest.approx(float(share), rel=1e-12)
        assert result.estimate[0] == pytest.approx(c * np.mean(x), rel=1e-12, abs=0)
        assert (result.low[0] > 0 or result.high[0] < 0) == (share <= Fraction(alpha))
        assert result.low[0] <= result.estimate[0] <= result.high[0]
        assert (result.low[0] < result.high[0]) == any(x)
        if abs(sum(x)) == len(x):
            assert result.effect_size[0] == math.copysign(math.inf, sum(x))


# -- intervals of mean preferences -------------------------------------------------------------------


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), ALPHAS)
def test_the_interval_of_a_mean_preference_is_by_t_with_one_more_win_and_loss_and_holds_the_mean(
    x: list[float], alpha: float
) -> None:
    low, high = preference_interval(np.array([x]), alpha)
    more = [*x, 1.0, -1.0]
    expected = stats.t.interval(
        1 - alpha, len(more) - 1, np.mean(more), stats.sem(more)
    )
    expected = min(expected[0], np.mean(x)), max(expected[1], np.mean(x))
    assert (low[0], high[0]) == pytest.approx(
        np.clip(expected, -1, 1), rel=1e-9, abs=1e-12
    )
    assert -1 <= low[0] < high[0] <= 1


@pytest.mark.parametrize("queries", [5, 10, 25, 50])
@pytest.mark.parametrize("ties", [0.0, 0.05])
def test_the_interval_of_a_mean_preference_holds_its_level_near_the_ends(
    queries: int, ties: float
) -> None:
    """Exactly, over all numbers of wins and losses."""
    x, counts = outcomes(queries)
    low, high = preference_interval(x)
    for mean in (-0.98, -0.6, 0.0, 0.2, 0.6, 0.9, 0.95):
        win = float(np.clip((1 - ties + mean) / 2, 0, 1 - ties))
        loss = 1 - ties - win
        truth = win - loss
        covered = probability(counts, queries, win, loss) @ (
            (low <= truth) & (truth <= high)
        )
        assert covered >= 0.93
