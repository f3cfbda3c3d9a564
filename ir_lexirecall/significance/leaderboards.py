"""Leaderboards: many models with one value per task, some of which are missing.

Tasks are the sample, drawn for all models alike. A task has one value per model, or one for each
of its cells (splits and subsets). A pair of models is compared on the cells that both have: no
value is filled in. Two models are told apart by their means, or by their mean ranks over tasks
(Borda), and all pairs are bounded together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Ints,
    common,
    dividing_by_zero,
    means_of_present,
    product,
    ratio,
    row_blocks,
)
from ir_lexirecall._util.rounding import SUM, levelled
from ir_lexirecall.significance.deviations import Deviations, least_error_share
from ir_lexirecall.significance.draws import Draws, Statistic, resample, times_drawn
from ir_lexirecall.significance.outcomes import Resampled, less_shared
from ir_lexirecall.significance.over_collections import interval_over_collections

LEAST_SHARED = 6  # tasks that tell two models apart: with fewer, 2^(1 - n) is above .05
_ENOUGH = 2_500  # resamples of all pairs
_AT_ONCE = 256  # resamples whose pairs stay in a processor's cache
_NO_VARIANCE = np.float32(1e-30)


@dataclass(frozen=True)
class TaskCells:
    """Values of S models in the C cells of D tasks.

    The value of a task is a mean over cells: over those that a model has, or that both models of a
    pair have.

    Attributes:
        values: larger is better, NaN where missing, shape ``(S, C)``.
        starts: index of the first cell of each task, whose cells stand together, shape ``(D,)``.
    """

    values: Floats
    starts: Ints

    @classmethod
    def of_tasks(cls, values: Floats) -> TaskCells:
        """Return values per task as tasks of one cell, shape ``(S, D)``."""
        return cls(values, np.arange(values.shape[1]))

    @property
    def n_tasks(self) -> int:
        """Number of tasks."""
        return len(self.starts)

    @property
    def is_single(self) -> bool:
        """Whether each task has a single cell."""
        return self.values.shape[1] == self.n_tasks

    def of_each_task(self) -> list[Floats]:
        """Return the values of each task, shape ``(S, C_d)``."""
        return np.split(self.values, self.starts[1:], axis=1)

    def task_means(self) -> Floats:
        """Return the mean of each model over the cells it has, NaN without any, ``(S, D)``.

        >>> values = np.array([[0.2, 0.4, 0.9], [np.nan, 0.6, np.nan]])
        >>> TaskCells(values, np.array([0, 2])).task_means().round(2)
        array([[0.3, 0.9],
               [0.6, nan]])
        """
        if self.is_single:
            return self.values
        return np.stack([means_of_present(x) for x in self.of_each_task()], axis=1)

    def shared_cells(self) -> Ints:
        """Return how many cells each pair of models shares, shape ``(S, S)``."""
        has_value = ~np.isnan(self.values)
        return common(has_value, has_value)

    def shared_tasks(self) -> Ints:
        """Return how many tasks each pair of models shares a cell of, shape ``(S, S)``."""
        if self.is_single:
            return self.shared_cells()
        n_models = len(self.values)
        shared = np.zeros((n_models, n_models), dtype=np.int64)
        for x in self.of_each_task():
            has_value = ~np.isnan(x)
            shared += common(has_value, has_value) > 0
        return shared

    def differences(self, rows: slice | Ints, i: int | Ints) -> Floats:
        """Return the differences of some models to model i per task, NaN without shared cells.

        If `i` is an array as long as `rows`, each of the rows has its own model i.
        """
        x = self.values[rows] - self.values[i]
        if self.is_single:
            return x
        both = ~np.isnan(x)
        n_cells = np.add.reduceat(both, self.starts, axis=1, dtype=np.int64)
        sums = np.add.reduceat(np.where(both, x, 0.0), self.starts, axis=1)
        return ratio(sums, n_cells, np.nan)


def ranks_by_pairs(cells: TaskCells) -> Floats:
    """Return the rank of each model on each task, where two models may have different cells of it.

    The rank is 1 and the number of better models, half of one for an equal model: each by the mean
    over the cells that both have. Ranks are spread as in `ranks_in_tasks`, which this equals where
    all models with a task have the same cells of it.

    >>> nan = np.nan
    >>> values = np.array([[0.9, 0.1], [0.8, nan], [nan, 0.2]])
    >>> ranks_by_pairs(TaskCells(values, np.array([0])))
    array([[2.],
           [3.],
           [1.]])
    """
    ranks = ranks_in_tasks(cells.task_means())
    if cells.is_single:
        return ranks
    for d, x in enumerate(cells.of_each_task()):
        has_value = ~np.isnan(x)
        is_there = has_value.any(axis=1)
        if not has_value[is_there][:, has_value.any(axis=0)].all():
            ranks[:, d] = _ranks_in_uneven_task(x)
    return ranks


def _ranks_in_uneven_task(values: Floats) -> Floats:
    """Return the ranks of models on one task, by pairs; NaN for a model that shares no cell."""
    n_models = len(values)
    has_value = (~np.isnan(values)).astype(np.float64)
    # Row i, column j: of model i, over the cells that model j has, too.
    sums = np.where(np.isnan(values), 0.0, values) @ has_value.T
    difference = sums - sums.T
    difference[np.abs(difference) <= SUM * (np.abs(sums) + np.abs(sums.T))] = 0.0
    is_pair = has_value @ has_value.T > 0
    np.fill_diagonal(is_pair, val=False)
    n_better = np.sum(is_pair * ((difference < 0) + (difference == 0) / 2), axis=1)
    n_others = is_pair.sum(axis=1)
    return 1 + ratio(n_better, n_others, np.nan) * (n_models - 1)


def ranks_in_tasks(values: Floats) -> Floats:
    """Return the rank of each model on each task among those that have it, 1 the best.

    Models of equal values share the mean of their ranks. Where n of S models have a task, the ranks
    1 to n are spread over 1 to S, so that a task counts as much as one that all have. A task that
    a single model has ranks nothing.

    Args:
        values: of S models on D tasks, larger is better, NaN where missing, shape ``(S, D)``.

    Returns:
        Ranks, NaN where missing, shape ``(S, D)``.

    >>> ranks_in_tasks(np.array([[0.9, 0.5], [0.3, np.nan], [0.3, 0.7]]))
    array([[1. , 3. ],
           [2.5, nan],
           [2.5, 1. ]])
    """
    n_models = len(values)
    ranks = np.full(values.shape, np.nan)
    for d in range(values.shape[1]):
        has_value = ~np.isnan(values[:, d])
        n = int(np.count_nonzero(has_value))
        if n < 2 and n < n_models:
            continue
        x = levelled(values[has_value, d][:, None], SUM)[:, 0]
        ordered = np.sort(-x)
        first = 1 + np.searchsorted(ordered, -x, "left")
        last = np.searchsorted(ordered, -x, "right")
        spread = (n_models - 1) / (n - 1) if n > 1 else 1.0
        ranks[has_value, d] = 1 + ((first + last) / 2 - 1) * spread
    return ranks


class SharedDeviations(Statistic):
    """Differences of all pairs of models on the tasks both have, and their largest deviations.

    A resample's t of a pair is (its difference - the observed one) / its standard error in the
    resample, which is at least c times the observed one: see `rank_intervals`. Pairs that share
    fewer than `LEAST_SHARED` tasks are not told apart: their t is 0.

    Attributes:
        result: the deviations, as `best_set` and `rank_intervals` take them.
        shared: how many tasks each pair shares, shape ``(S, S)``.
    """

    def __init__(self, cells: TaskCells, n_resamples: int) -> None:
        enough = min(n_resamples, max(_ENOUGH, n_resamples // 4))
        n_models, n_tasks = len(cells.values), cells.n_tasks
        # Tasks are drawn, with all their cells.
        one_of_task = cells.values[:, cells.starts]
        super().__init__(
            [one_of_task], "queries", n_resamples=enough, widest=2 * n_models
        )
        self._is_complete = not np.isnan(cells.values).any()
        (scaled,), _ = less_shared([cells.values])
        self._cells = TaskCells(scaled, cells.starts)
        self._largest: Floats = np.fmax.reduce(scaled, axis=1, initial=0.0)
        self.shared: Ints = cells.shared_tasks()
        above: Any = np.zeros((n_models, enough), dtype=np.float32)
        t, furthest = np.zeros((n_models, n_models)), np.zeros(enough)
        self.result: Deviations = Deviations(t, above, furthest, 2.0**-n_tasks)
        self._least_error_share = least_error_share(n_models)
        for pairs in self._differences():
            self.result.t[pairs.i, pairs.rows] = pairs.t
            self.result.t[pairs.rows, pairs.i] = -pairs.t

    def _differences(self) -> Iterator[_Differences]:
        """Yield the differences of later models to each model.

        Of the later models only those that share enough tasks with it are there, all from the
        first to the last of them if no value is missing.
        """
        for i in range(len(self.shared) - 1):
            rows: slice | Ints = slice(i + 1, None)
            shared = self.shared[i, i + 1 :]
            if shared.min() < LEAST_SHARED:
                rows = i + 1 + np.flatnonzero(shared >= LEAST_SHARED)
                shared = self.shared[i, rows]
            if len(shared):
                yield self._differences_to(i, rows, shared)

    def _differences_to(self, i: int, rows: slice | Ints, shared: Ints) -> _Differences:
        """Return the differences of later models to a model."""
        differences = self._cells.differences(rows, i)
        both = ~np.isnan(differences)
        x = np.where(both, differences, 0.0)
        mean = x.sum(axis=1) / shared
        noise = SUM * np.maximum(self._largest[rows], self._largest[i])
        mean[np.abs(mean) <= noise] = 0.0
        centred = np.where(both, x - mean[:, None], 0.0)
        variance = (centred**2).sum(axis=1) / (shared * (shared - 1.0))
        error = np.sqrt(np.where(variance <= noise**2, 0.0, variance))
        return _Differences(i, rows, both, mean, centred, error, shared)

    def take(self, draws: Draws) -> None:
        """Find the largest deviations in some resamples."""
        above = self.result.above[:, draws.block]
        for pairs in self._differences():
            # All in single precision: n - 1 is in the smallest variance and in the mean.
            n: Any = pairs.shared.astype(np.float32)[:, None]
            least_variance = (self._least_error_share * pairs.error) ** 2
            least: Any = least_variance.astype(np.float32)[:, None]
            least = np.maximum(least * (n - 1), _NO_VARIANCE)
            centred = pairs.centred.astype(np.float32)
            squares = np.square(centred)
            both: Any = None if self._is_complete else pairs.both.astype(np.float32)
            for block in row_blocks(above.shape[1], 1, _AT_ONCE):
                count = draws.count[:, block]
                n_drawn: Any = n
                if both is not None:
                    n_drawn = np.maximum(product(both, count), 1)
                total = product(centred, count)
                total_squares = product(squares, count)
                t = _studentised(total, total_squares, n_drawn, least)
                t *= np.sqrt(n - 1)
                np.maximum(
                    above[pairs.i, block], t.max(axis=0), out=above[pairs.i, block]
                )
                above[pairs.rows, block] = np.maximum(
                    above[pairs.rows, block], np.negative(t, out=t)
                )
        self.result.furthest[draws.block] = above.max(axis=0, initial=0.0)


@dataclass(frozen=True)
class _Differences:
    """Differences of P models to model i, on the tasks that both have.

    Attributes:
        i: index of the model.
        rows: indices of the others.
        both: whether both have a task, shape ``(P, D)``.
        mean: of the differences, shape ``(P,)``.
        centred: the differences less their mean; 0 where one is missing, shape ``(P, D)``.
        error: standard error of the mean, shape ``(P,)``.
        shared: how many tasks both have, shape ``(P,)``.
    """

    i: int
    rows: slice | Ints
    both: Bools
    mean: Floats
    centred: Floats
    error: Floats
    shared: Ints

    @property
    def t(self) -> Floats:
        """The means over their standard errors: 0 for equal ones, infinite without any spread."""
        with dividing_by_zero():
            return np.where(self.mean == 0, 0.0, self.mean / self.error)


def _studentised(
    total: Floats, squares: Floats, n_drawn: Floats, least: Floats
) -> Floats:
    """Return means of resamples over their standard deviations, shape ``(P, B)``.

    Args:
        total: sum over the drawn tasks; it is changed.
        squares: sum of squares over the drawn tasks; it is changed.
        n_drawn: how many tasks of the pair are drawn, shape ``(P, 1)`` or ``(P, B)``.
        least: the smallest variance that counts, shape ``(P, 1)``.
    """
    total /= n_drawn
    squares /= n_drawn
    squares -= np.square(total)
    np.maximum(squares, least, out=squares)
    total /= np.sqrt(squares, out=squares)
    return total


def shared_deviations(values: Floats | TaskCells, draws: Resampled) -> Deviations:
    """Return the studentised deviations of all pairs of models.

    Args:
        values: of S models on D tasks, larger is better, NaN where missing, shape ``(S, D)``; or in
            the cells of tasks.
        draws: resamples of the tasks.

    >>> from ir_lexirecall.significance import rank_intervals
    >>> x = np.random.default_rng(0).normal([[0.5], [0.5], [0.9]], 0.1, (3, 20))
    >>> x[1, 4:] = np.nan
    >>> rank_intervals(shared_deviations(x, Resampled(999)))
    (array([2, 1, 1]), array([3, 3, 2]))
    """
    if isinstance(values, TaskCells):
        cells = values
    else:
        cells = TaskCells.of_tasks(values)
    pairs = SharedDeviations(cells, draws.number)
    resample([pairs], draws)
    return pairs.result


class TaskMeans(Statistic):
    """Means of models in resamples of the tasks.

    A model that has none of the drawn tasks keeps its observed mean.

    Attributes:
        means: of S models in B resamples, shape ``(S, B)``.
    """

    def __init__(self, values: Floats, n_resamples: int) -> None:
        columns = [values[:, [d]] for d in range(values.shape[1])]
        super().__init__(
            columns, "collections", n_resamples=n_resamples, widest=2 * len(values)
        )
        self._observed = means_of_present(values)
        self._has_value = (~np.isnan(values)).astype(np.float64)
        self._values = np.where(np.isnan(values), 0.0, values)
        self.means: Floats = np.empty((len(values), n_resamples))

    def take(self, draws: Draws) -> None:
        """Find the means in some resamples."""
        count = times_drawn(draws.drawn, self._values.shape[1]).T
        n_drawn = product(self._has_value, count)
        means = np.broadcast_to(self._observed[:, None], n_drawn.shape).copy()
        np.divide(product(self._values, count), n_drawn, out=means, where=n_drawn > 0)
        self.means[:, draws.block] = means


def task_means(values: Floats, draws: Resampled) -> Floats:
    """Return the means of models in resamples of the tasks, shape ``(S, B)``.

    Args:
        values: of S models on D tasks, NaN where missing, shape ``(S, D)``.
        draws: resamples of the tasks.
    """
    statistic = TaskMeans(values, draws.number)
    resample([statistic], draws)
    return statistic.means


def corrected_mean(means: Floats, resampled: Floats) -> float:
    """Return the largest mean, corrected for having been selected.

    The largest of many means is too large on average. In a resample of the tasks, let w be the
    model of the largest mean. By how much its mean in the resample exceeds its observed mean, on
    average over resamples, is taken off: max_i mean_i - average of (mean*_w - mean_w).

    Args:
        means: of S models, larger is better, shape ``(S,)``.
        resampled: the same in B resamples, shape ``(S, B)``.

    Sources: Tibshirani, Tibshirani, A Bias Correction for the Minimum Error Rate in
    Cross-Validation, Annals of Applied Statistics 2009, doi 10.1214/08-AOAS224 (the same over
    folds); Faye, Sun, Dimitromanolakis, Bull, A Flexible Genome-Wide Bootstrap Method That Accounts
    for Ranking and Threshold-Selection Bias, Statistics in Medicine 2011, doi 10.1002/sim.4228.

    >>> x = np.random.default_rng(0).normal(0.5, 0.1, (50, 20))
    >>> means = x.mean(axis=1)
    >>> resampled = task_means(x, Resampled(999))
    >>> round(float(means.max()), 3), round(corrected_mean(means, resampled), 3)
    (0.542, 0.507)
    """
    excess = resampled.max(axis=0) - means[resampled.argmax(axis=0)]
    return float(means.max() - excess.mean())


def interval_over_tasks(values: Floats, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Return intervals of means over the tasks that are there, and p that the means are 0.

    They are those of random effects, by t: see `random_effects`.

    Args:
        values: of P models or pairs on D tasks, NaN where missing, shape ``(P, D)``.
        alpha: 1 - confidence.
    """
    low, high, p = np.full((3, len(values)), np.nan)
    patterns, pattern_of_row = np.unique(~np.isnan(values), axis=0, return_inverse=True)
    for k, is_there in enumerate(patterns):
        rows = np.flatnonzero(pattern_of_row.ravel() == k)
        if is_there.any():
            x = values[np.ix_(rows, is_there)]
            low[rows], high[rows], p[rows] = interval_over_collections(
                x, np.zeros(x.shape), alpha
            )
    return low, high, p
