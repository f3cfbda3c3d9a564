"""Leaderboards: ranks of all runs at once, the best set and means, from a value per task or cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from ir_lexirecall.significance import Resampled, best_set, rank_intervals
from ir_lexirecall.significance.leaderboards import (
    TaskCells,
    interval_over_tasks,
    ranks_by_pairs,
    shared_deviations,
)
from tests.simulations.rows import (
    ALPHA,
    FEW_COLLECTIONS,
    JOINT,
    RANKS,
    Floats,
    Row,
    covers,
)

N_RUNS = 12
RESAMPLES = 199
MORE_TASKS = "take more tasks"
KINDS = ("nearly equal", "a step apart", "in clusters", "skewed")
GAPS = ((1, 0.0), (3, 0.4))
"""Numbers of cells of each task, and shares of missing cells."""
CELL_NOISE = 0.03


def leaderboards(samples: int, rng: Generator) -> Iterator[Row]:
    """Return the rows of leaderboards of 12 runs, complete and with missing cells."""
    for kind in KINDS:
        for n_tasks in (15, 41):
            for n_cells, missing in GAPS:
                yield from _rows(samples, rng, kind, n_tasks, n_cells, missing)


def _rows(
    samples: int, rng: Generator, kind: str, n_tasks: int, n_cells: int, missing: float
) -> Iterator[Row]:
    """Yield the rows of one kind of leaderboard."""
    reasons = {"ranks by mean": RANKS, "ranks by mean rank": RANKS}
    reasons |= {"best set": JOINT, "mean": FEW_COLLECTIONS}
    holds: dict[str, list[Floats]] = {name: [] for name in reasons}
    for sample in range(samples):
        quality = _quality(rng, kind)
        cells = _board(rng, quality, kind, n_tasks, n_cells, missing)
        rank = N_RUNS - quality.argsort().argsort()
        draws = Resampled(RESAMPLES, sample)
        by_mean = shared_deviations(cells, draws)
        # Runs differ by a shift, so that their mean ranks have the order of their means.
        by_rank = shared_deviations(-ranks_by_pairs(cells), draws)
        for name, deviations in (
            ("ranks by mean", by_mean),
            ("ranks by mean rank", by_rank),
        ):
            low, high = rank_intervals(deviations, ALPHA)
            holds[name].append(np.all((low <= rank) & (rank <= high)))
        holds["best set"].append(best_set(by_mean)[quality.argmax()] > ALPHA)
        (low,), (high,), _ = interval_over_tasks(cells.task_means()[:1], ALPHA)
        holds["mean"].append(low <= quality[0] <= high)
    per_task = f", {n_cells} cells each" if n_cells > 1 else ""
    gaps = f", {missing:.0%} missing" if missing else ""
    setting = f"{N_RUNS} runs {kind}, {n_tasks} tasks{per_task}{gaps}"
    for name, reason in reasons.items():
        row = covers(f"leaderboard: {name}", setting, np.array(holds[name]), reason)
        yield replace(row, instead=MORE_TASKS)


def _board(
    rng: Generator,
    quality: Floats,
    kind: str,
    n_tasks: int,
    n_cells: int,
    missing: float,
) -> TaskCells:
    """Return values in cells, some of which are missing."""
    values = quality[:, None] + _noise(rng, kind, n_tasks)
    starts = n_cells * np.arange(n_tasks)
    if n_cells > 1:
        values = np.repeat(values, n_cells, axis=1)
        values += rng.normal(0, 0.1, values.shape[1]) + rng.normal(
            0, CELL_NOISE, values.shape
        )
    values[rng.random(values.shape) < missing] = np.nan
    return TaskCells(values, starts)


def _quality(rng: Generator, kind: str) -> Floats:
    """Return the true means of the runs, which differ."""
    if kind == "a step apart":
        return np.linspace(0.3, 0.7, N_RUNS)
    if kind == "in clusters":
        centres = np.repeat([0.4, 0.45, 0.6], N_RUNS // 3)
        return centres + rng.normal(0, 0.001, N_RUNS)
    return 0.5 + rng.normal(0, 0.002, N_RUNS)


def _noise(rng: Generator, kind: str, n_tasks: int) -> Floats:
    """Return what tasks add to the means: the same for all runs, and noise of each."""
    of_task = rng.normal(0, 0.15, n_tasks)
    shape = N_RUNS, n_tasks
    if kind == "skewed":
        return of_task + 0.06 * (rng.exponential(size=shape) - 1)
    if kind == "in clusters":
        of_cluster = np.repeat(rng.normal(0, 0.06, (3, n_tasks)), N_RUNS // 3, axis=0)
        return of_task + of_cluster + rng.normal(0, 0.01, shape)
    return of_task + rng.normal(0, 0.06, shape)
