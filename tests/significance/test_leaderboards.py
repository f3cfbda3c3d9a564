"""Leaderboards with missing values beside slow loops over pairs, tasks and resamples."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest

from ir_lexirecall._util.arrays import means_of_present
from ir_lexirecall.significance import (
    Resampled,
    best_set,
    rank_intervals,
    studentised_deviations,
)
from ir_lexirecall.significance.leaderboards import (
    LEAST_SHARED,
    TaskCells,
    corrected_mean,
    interval_over_tasks,
    ranks_by_pairs,
    ranks_in_tasks,
    shared_deviations,
    task_means,
)
from ir_lexirecall.significance.over_collections import Resamples, macro_interval

N_RUNS, N_TASKS, DRAWS = 6, 14, Resampled(60, seed=3)


def board(share_missing: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.normal(np.linspace(0.4, 0.6, N_RUNS)[:, None], 0.1, (N_RUNS, N_TASKS))
    values[rng.random(values.shape) < share_missing] = np.nan
    return values


def drawn_tasks() -> np.ndarray:
    return np.random.default_rng(DRAWS.seed).integers(
        N_TASKS, size=(DRAWS.number, N_TASKS)
    )


def slow_t(values: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """t of the column's run over the row's: observed, and largest in resamples for each row."""
    observed, above = np.zeros((N_RUNS, N_RUNS)), np.zeros((N_RUNS, DRAWS.number))
    for i in range(N_RUNS):
        for j in range(N_RUNS):
            gain = values[j] - values[i]
            tasks = [d for d in range(N_TASKS) if not math.isnan(gain[d])]
            if i == j or len(tasks) < LEAST_SHARED:
                continue
            n, mean = len(tasks), np.mean(gain[tasks])
            error = np.std(gain[tasks], ddof=1) / math.sqrt(n)
            observed[i, j] = mean / error
            for b, drawn in enumerate(drawn_tasks()):
                sample = [gain[d] - mean for d in drawn if d in tasks]
                if sample:
                    error_drawn = np.std(sample) / math.sqrt(n - 1)
                    t = np.mean(sample) / max(error_drawn, share * error)
                    above[i, b] = max(above[i, b], t)
    return observed, above


@pytest.mark.parametrize("share_missing", [0.0, 0.1, 0.5])
def test_pairs_are_compared_on_the_tasks_both_have(share_missing: float) -> None:
    values = board(share_missing)
    deviations = shared_deviations(values, DRAWS)
    t, above = slow_t(values, share=0.35)
    np.testing.assert_allclose(deviations.t, t, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(deviations.above, above, rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(deviations.furthest, above.max(axis=0), rtol=2e-4)


def test_without_gaps_ranks_are_those_of_values_per_query() -> None:
    values = board(0.0)
    draws = Resampled(999)
    ours, theirs = (
        shared_deviations(values, draws),
        studentised_deviations([values], draws=draws),
    )
    np.testing.assert_allclose(ours.t, theirs.t, rtol=1e-9)
    assert np.array_equal(rank_intervals(ours), rank_intervals(theirs))


def test_a_run_that_shares_too_few_tasks_may_have_any_rank() -> None:
    values = board(0.0)
    values[0, 1:] = np.nan
    values[0, 0] = 9.0
    deviations = shared_deviations(values, Resampled(199))
    low, high = rank_intervals(deviations)
    assert (low[0], high[0]) == (1, N_RUNS)
    assert best_set(deviations)[0] == 1.0


def test_equal_runs_are_not_told_apart() -> None:
    values = np.tile(board(0.0)[:1], (3, 1))
    low, high = rank_intervals(shared_deviations(values, Resampled(99)))
    assert (low.tolist(), high.tolist()) == ([1, 1, 1], [3, 3, 3])


@pytest.mark.parametrize("share_missing", [0.0, 0.3, 0.8])
def test_ranks_are_those_among_the_runs_that_have_the_task(
    share_missing: float,
) -> None:
    values = np.round(board(share_missing), 1)
    ranks = ranks_in_tasks(values)
    for d in range(N_TASKS):
        present = [i for i in range(N_RUNS) if not math.isnan(values[i, d])]
        for i in range(N_RUNS):
            if i not in present or len(present) < 2:
                assert math.isnan(ranks[i, d])
                continue
            better = sum(values[j, d] > values[i, d] for j in present)
            equal = sum(values[j, d] == values[i, d] for j in present) - 1
            spread = (N_RUNS - 1) / (len(present) - 1)
            assert ranks[i, d] == pytest.approx(1 + (better + equal / 2) * spread)


def test_means_in_resamples_are_over_the_drawn_tasks_a_run_has() -> None:
    values = board(0.4)
    values[0, 1:] = np.nan
    observed = means_of_present(values)
    resampled = task_means(values, DRAWS)
    drawn = np.random.default_rng([DRAWS.seed, N_TASKS]).integers(
        N_TASKS, size=(60, N_TASKS)
    )
    for b in range(DRAWS.number):
        for i in range(N_RUNS):
            sample = [x for x in values[i, drawn[b]] if not math.isnan(x)]
            expected = np.mean(sample) if sample else observed[i]
            assert resampled[i, b] == pytest.approx(expected)


def test_the_largest_mean_is_corrected_by_what_the_winners_of_resamples_gain() -> None:
    values = board(0.0)
    means, resampled = values.mean(axis=1), task_means(values, DRAWS)
    excess = []
    for column in resampled.T:
        winner = max(range(N_RUNS), key=lambda i: column[i])
        excess.append(column[winner] - means[winner])
    assert corrected_mean(means, resampled) == pytest.approx(
        means.max() - np.mean(excess)
    )
    assert corrected_mean(means, resampled) < means.max()


def test_intervals_are_those_of_each_run_on_its_tasks() -> None:
    values = board(0.4)
    low, high, p = interval_over_tasks(values, 0.05)
    unused = Resamples(np.zeros((1, 1)), np.zeros((1, 1)))
    for i, row in enumerate(values):
        columns = [np.array([[x]]) for x in row if not math.isnan(x)]
        expected = macro_interval(columns, unused, "collections", 0.05)
        assert (low[i], high[i], p[i]) == tuple(float(x[0]) for x in expected)


def uneven_cells(n_models: int = 6, seed: int = 0) -> TaskCells:
    """Values in one to four cells of nine tasks, of which a third are missing."""
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *rng.integers(1, 5, 8)])
    values = rng.normal(0.5, 0.1, (n_models, starts[-1] + 2)).round(1)
    values[rng.random(values.shape) < 1 / 3] = np.nan
    return TaskCells(values, starts)


def slow_difference(cells: TaskCells, a: int, b: int, task: slice) -> float:
    """The mean difference over the cells of a task that both have; NaN without any."""
    both = zip(
        cells.values[a, task].tolist(), cells.values[b, task].tolist(), strict=True
    )
    differences = [x - y for x, y in both if not np.isnan(x) and not np.isnan(y)]
    return float(np.mean(differences)) if differences else np.nan


def tasks_of(cells: TaskCells) -> list[slice]:
    ends = [*cells.starts[1:].tolist(), cells.values.shape[1]]
    return [slice(*both) for both in zip(cells.starts.tolist(), ends, strict=True)]


def test_differences_are_of_the_cells_that_both_models_have() -> None:
    cells = uneven_cells()
    for a, b in permutations(range(6), 2):
        expected = [slow_difference(cells, a, b, task) for task in tasks_of(cells)]
        ours = cells.differences(np.array([a]), b)[0]
        np.testing.assert_allclose(ours, expected, atol=1e-12)
        assert cells.shared_tasks()[a, b] == np.count_nonzero(~np.isnan(expected))
        both = ~np.isnan(cells.values[a]) & ~np.isnan(cells.values[b])
        assert cells.shared_cells()[a, b] == np.count_nonzero(both)


@pytest.mark.parametrize("seed", range(5))
def test_ranks_count_the_better_models_pair_by_pair(seed: int) -> None:
    cells = uneven_cells(seed=seed)
    ranks = ranks_by_pairs(cells)
    for d, task in enumerate(tasks_of(cells)):
        for model in range(6):
            others = [
                slow_difference(cells, i, model, task) for i in range(6) if i != model
            ]
            others = [x for x in others if not np.isnan(x)]
            if not others:
                assert np.isnan(ranks[model, d])
                continue
            n_better = sum(1 if x > 1e-9 else 0.5 if x > -1e-9 else 0 for x in others)
            assert ranks[model, d] == pytest.approx(1 + 5 * n_better / len(others))


def test_tasks_whose_cells_all_models_have_are_as_tasks_of_one_value() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.1, (5, 24))
    values[2, :6] = np.nan
    cells = TaskCells(values, np.arange(0, 24, 3))
    np.testing.assert_allclose(
        ranks_by_pairs(cells), ranks_in_tasks(cells.task_means())
    )
    ours = shared_deviations(cells, Resampled(199))
    theirs = shared_deviations(cells.task_means(), Resampled(199))
    np.testing.assert_allclose(ours.t, theirs.t)
    np.testing.assert_allclose(ours.furthest, theirs.furthest, rtol=1e-5)


def test_deviations_are_those_of_every_pair_on_its_tasks() -> None:
    cells = uneven_cells()
    deviations = shared_deviations(cells, Resampled(99))
    for a, b in combinations(range(6), 2):
        x = np.array([slow_difference(cells, b, a, task) for task in tasks_of(cells)])
        x = x[~np.isnan(x)]
        expected = (
            0.0
            if len(x) < LEAST_SHARED
            else x.mean() / (x.std(ddof=1) / np.sqrt(len(x)))
        )
        assert deviations.t[a, b] == pytest.approx(expected)
