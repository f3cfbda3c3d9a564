"""Tables over all tasks of a leaderboard: a value per task and run, some of which are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, means_of_present
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.selecting import without
from ir_lexirecall.comparison.criteria import Criterion
from ir_lexirecall.comparison.pair_tests import Columns, cut_at_range
from ir_lexirecall.comparison.verdicts import two_sided
from ir_lexirecall.significance import (
    Resampled,
    SignificanceTest,
    TestResult,
    corrected,
    least_two_sided_p,
)
from ir_lexirecall.significance.deviations import Deviations, rank_intervals
from ir_lexirecall.significance.leaderboards import (
    TaskCells,
    corrected_mean,
    interval_over_tasks,
    ranks_by_pairs,
    shared_deviations,
    task_means,
)
from ir_lexirecall.significance.outcomes import agreeing
from ir_lexirecall.significance.over_collections import rank_interval


@dataclass(frozen=True)
class Leaderboard:
    """Values of S runs on D tasks by one criterion, and how they are compared.

    Attributes:
        runs: names of the runs.
        cells: values in the cells of tasks, as they were given.
        criterion: what the values are.
        test: how differences are tested.
    """

    runs: Sequence[str]
    cells: TaskCells
    criterion: Criterion
    test: SignificanceTest

    @cached_property
    def values(self) -> Floats:
        """The mean of each run over its cells of each task, NaN without any, shape ``(S, D)``."""
        return self.cells.task_means()

    @cached_property
    def means(self) -> Floats:
        """The mean of each run over the tasks that it has, shape ``(S,)``."""
        return means_of_present(self.values)

    @cached_property
    def _candidates(self) -> Ints:
        """Indices of the runs with the most tasks, the one with the best mean first."""
        n_tasks = np.count_nonzero(~np.isnan(self.values), axis=1)
        candidates = np.flatnonzero(n_tasks == n_tasks.max())
        order = np.argsort(-self.criterion.sign * self.means[candidates], kind="stable")
        return candidates[order]

    @cached_property
    def contested_by(self) -> str:
        """The first run that the one with the best mean does not beat on the cells of both.

        Both are among the runs with the most tasks, and have different cells. Empty if there is no
        such run, so that the best mean is the best one by cells that runs share, too.
        """
        winner, *others = self._candidates.tolist()
        is_missing = np.isnan(self.cells.values)
        for other in others:
            if (is_missing[other] != is_missing[winner]).any():
                losses = self.gains.differences(np.array([other]), winner)
                if not means_of_present(losses)[0] < 0:
                    return self.runs[other]
        return ""

    @property
    def gains(self) -> TaskCells:
        """The values in cells, turned so that larger is better."""
        return replace(self.cells, values=self.criterion.sign * self.cells.values)

    @property
    def draws(self) -> Resampled:
        """How tasks are resampled."""
        return self.test.resampling

    def columns(self, deviations: Deviations) -> Columns:
        """Return means and ranks of all runs, with their intervals.

        Args:
            deviations: those of all pairs of runs.
        """
        alpha = self.test.alpha
        has_value = ~np.isnan(self.cells.values)
        low, high, _ = interval_over_tasks(self.values, alpha)
        present = [x[~np.isnan(x)][:, None] for x in self.values.T]
        low, high = cut_at_range(low, high, self.criterion.limits, present)
        ranks = ranks_by_pairs(self.gains)
        rank_low, rank_high = rank_intervals(deviations, alpha)
        borda_low, borda_high = rank_intervals(
            shared_deviations(-ranks, self.draws), alpha
        )
        resampled = task_means(self.criterion.sign * self.values, self.draws)
        rank_from, rank_to = rank_interval(resampled, alpha)
        return {
            "run": list(self.runs),
            "tasks": np.count_nonzero(~np.isnan(self.values), axis=1),
            **self._numbers_of_cells("cells", np.count_nonzero(has_value, axis=1)),
            "mean": self.means,
            "mean_corrected": self._corrected_means(resampled),
            "ci_low": low,
            "ci_high": high,
            "mean_rank": means_of_present(ranks),
            "rank_low": rank_low,
            "rank_high": rank_high,
            "rank_from": rank_from,
            "rank_to": rank_to,
            "borda_low": borda_low,
            "borda_high": borda_high,
        }

    def _numbers_of_cells(self, name: str, numbers: Ints) -> Columns:
        """Return a column of numbers of cells, where tasks have several."""
        if self.cells.is_single:
            return {}
        return {name: numbers}

    def _corrected_means(self, resampled: Floats) -> Floats:
        """Return the corrected mean of the best run with the most tasks, and NaN for all others.

        It is NaN, too, if the run is not the best one by the cells that runs share.
        """
        result = np.full(len(self.means), np.nan)
        candidates, sign = np.sort(self._candidates), self.criterion.sign
        if self.values.shape[1] > 1 and not self.contested_by:
            mean = corrected_mean(sign * self.means[candidates], resampled[candidates])
            result[self._candidates[0]] = sign * mean
        return result

    def _tested(self, differences: Floats) -> tuple[Floats, Floats, Floats]:
        """Return intervals of mean differences over tasks, and p that they are 0."""
        low, high, p = interval_over_tasks(differences, self.test.alpha)
        low, high = np.clip((low, high), *self.criterion.range_of_differences)
        # No exchange of the signs of so few differing tasks gives a smaller p.
        differing = np.count_nonzero(np.nan_to_num(differences), axis=1)
        p = np.maximum(np.where(np.isnan(p), 1.0, p), least_two_sided_p(differing))
        return low, high, p

    def pair_p(self) -> Floats:
        """Return the two-sided p of each pair of runs by itself, shape ``(S, S)``."""
        n_runs = len(self.runs)
        p = np.ones((n_runs, n_runs))
        a, b = np.triu_indices(n_runs, 1)
        *_, of_pairs = self._tested(self.cells.differences(b, a))
        p[a, b] = p[b, a] = of_pairs
        return p

    def against(self, baseline: str) -> Columns:
        """Return the differences of all other runs to the baseline, on the tasks both have."""
        index = self.runs.index(baseline)
        is_rival: Bools = np.arange(len(self.runs)) != index
        differences = self.cells.differences(np.flatnonzero(is_rival), index)
        mean = means_of_present(differences)
        tested = TestResult(mean, *self._tested(differences), mean)
        columns = columns_of_differences(tested, self.criterion, self.test)
        # A value per task tells nothing of the noise of its queries.
        unknown = np.full(len(differences), np.nan)
        return {
            "run": without(self.runs, [baseline]),
            "shared_tasks": np.count_nonzero(~np.isnan(differences), axis=1),
            **self._numbers_of_cells(
                "shared_cells", self.cells.shared_cells()[is_rival, index]
            ),
            **columns,
            "effect": mean,
            "effect_low": columns["difference_low"],
            "effect_high": columns["difference_high"],
            **dict.fromkeys(
                ("next_low", "next_high", "tau2", "i2", "p_heterogeneity"), unknown
            ),
        }


def columns_of_differences(
    tested: TestResult, criterion: Criterion, test: SignificanceTest
) -> Columns:
    """Return the columns of mean differences to the baseline, with corrected p and verdicts."""
    agreed = agreeing(tested, test.alpha, criterion.range_of_differences)
    adjusted, reject = corrected(tested.p, test.correction, test.alpha)
    gains = criterion.sign * np.nan_to_num(tested.estimate)
    return {
        "difference": tested.estimate,
        "difference_low": agreed.low,
        "difference_high": agreed.high,
        "p": tested.p,
        "p_corrected": adjusted,
        "verdict": two_sided(reject, gains),
    }
