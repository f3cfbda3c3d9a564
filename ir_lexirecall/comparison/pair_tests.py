"""Test pairs of runs, on all queries or in groups of them, for the tables of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Bools, Bounds, Floats, Interval
from ir_lexirecall._util.lazy import Memoised, cached_property, memoised
from ir_lexirecall._util.rounding import SUM
from ir_lexirecall.comparison.compared import ComparedRuns
from ir_lexirecall.comparison.criteria import Criterion, MeasureCriterion
from ir_lexirecall.comparison.margins import (
    Corrected,
    agreeing_bounds,
    corrected_together,
    margin_columns,
)
from ir_lexirecall.comparison.verdicts import BETTER, Verdicts, two_sided
from ir_lexirecall.io.measure_names import holds_few_values
from ir_lexirecall.judging.predicted import (
    PredictionPowered,
    human_queries,
    powered_bounds,
    powered_margin_test,
    powered_preferences,
    prediction_powered,
    with_people_alone,
)
from ir_lexirecall.significance import (
    MarginTest,
    Resampled,
    SignificanceTest,
    TestResult,
    effect_interval,
    group_units,
    least_loss_ruled_out,
    margin_test,
    margin_test_of_all,
    mean_interval,
    one_sided_bounds,
    preference_interval,
)
from ir_lexirecall.significance.deviations import best_set, studentised_deviations

Columns: TypeAlias = dict[str, Any]


@dataclass(frozen=True, eq=False)
class PairTests(Memoised):
    """Tests of all pairs of runs, as arrays; `Comparison` makes tables of them."""

    compared: ComparedRuns

    @cached_property
    def by_group(self) -> list[PairTests]:
        """Hypothesis tests on the queries of each group."""
        return [PairTests(part) for part in self.compared.by_group.values()]

    def parts(self, in_groups: bool) -> list[PairTests]:
        """Return the tests in each group, or on all queries."""
        return self.by_group if in_groups else [self]

    def _apart(self, in_groups: bool) -> list[Bools]:
        """Return which pairs share no query with results, for each of ``parts``."""
        if in_groups:
            return list(self.compared.apart_by_group.values())
        return [np.zeros(len(self.compared.pairs), dtype=bool)]

    @memoised
    def means_of(self, by: str) -> Columns:
        """Return the columns of `Comparison.means` for a criterion."""
        criterion = self.compared.by[by]
        low = high = np.full(len(criterion.means), np.nan)
        if criterion.query_ids and np.isfinite(criterion.standings).all():
            values = criterion.per_query
            low, high = self._mean_interval(
                criterion, values, self.compared.test_of(by)
            )
            low, high = self._with_seeds(criterion, low, high)
            low, high = cut_at_range(low, high, criterion.limits, [values])
        return {
            "run": self.compared.runs,
            "mean": criterion.means,
            "ci_low": low,
            "ci_high": high,
        }

    @staticmethod
    def _mean_interval(
        criterion: Criterion, values: Floats, test: SignificanceTest
    ) -> Interval:
        """Return intervals of the means of runs; groups are the units if the test has groups."""
        if test.groups is not None:
            randomisation = replace(test, name="randomisation")
            tested = randomisation.of_pairs(values, bounds=criterion.bounds)
            return tested.low, tested.high
        if not isinstance(criterion, MeasureCriterion):
            if len(criterion.query_ids) < 2:  # one query says nothing of the spread
                return np.full(len(values), np.nan), np.full(len(values), np.nan)
            return preference_interval(values, test.alpha)
        draws = Resampled(test.n_resamples, test.seed)
        few_values = holds_few_values(criterion.name)
        return mean_interval(
            values,
            test.alpha,
            draws,
            criterion.limits,
            few_values=few_values,
            is_binary=criterion.is_binary,
        )

    def _with_seeds(self, criterion: Criterion, low: Floats, high: Floats) -> Interval:
        """Return intervals of means that also allow for the seeds, if there are any."""
        means = criterion.variance_of_means()
        if means is None:
            return low, high
        ends = means.interval(self.compared.test.alpha)
        return np.fmin(low, ends[0]), np.fmax(high, ends[1])

    @memoised
    def columns_of(self, by: str, in_groups: bool = False) -> list[Columns]:
        """Return the columns of `Comparison.table` for one criterion, or of `group_table`.

        In groups there is a set of columns for each. `p_corrected`, and with it `verdict`, hold
        for all pairs in all groups together; with the family ``"all"``, for all criteria, too.
        With predicted judgments, tests are prediction-powered, and effect sizes are missing.
        """
        self.compared.check_defined(by)
        columns = [dict(part) for part in self._uncorrected_parts(by, in_groups)]
        adjusted, reject = self._corrected(by, in_groups)
        of_all = None
        if len(self.compared.by) > 1:
            of_all = self._corrected_over_all(in_groups)[by]
            if self.compared.test.family == "all":
                adjusted, reject = of_all
        for k, part in enumerate(columns):
            part["p_corrected"] = adjusted[k]
            if of_all is not None:
                part["p_corrected_all"] = of_all[0][k]
            part["verdict"] = two_sided(
                reject[k], self.compared.by[by].sign * part["estimate"]
            )
        if self.compared.margins is not None:
            for part, with_margin in zip(
                columns, self._with_margins(in_groups)[by], strict=True
            ):
                del part["verdict"]
                part |= with_margin
        return columns

    @memoised
    def _uncorrected_parts(self, by: str, in_groups: bool) -> list[Columns]:
        """Return the columns of `uncorrected` on all queries, or in each group."""
        test = self.compared.test_of(by)
        columns = []
        for part, apart in zip(
            self.parts(in_groups), self._apart(in_groups), strict=True
        ):
            columns.append(without_pairs(part.uncorrected(by, test), apart))
        return columns

    def _corrected(self, by: str, in_groups: bool) -> Corrected:
        """Return corrected p and rejections of one criterion, in each part of the queries."""
        p = [part["p"] for part in self._uncorrected_parts(by, in_groups)]
        return corrected_together(p, self.compared.test_of(by))

    @memoised
    def _corrected_over_all(self, in_groups: bool) -> dict[str, Corrected]:
        """Return corrected p and rejections over all criteria that are defined, by criterion."""
        p = {
            name: [part["p"] for part in self._uncorrected_parts(name, in_groups)]
            for name in self.compared.defined_criteria
        }
        adjusted, reject = corrected_together(
            [one for parts in p.values() for one in parts], self.compared.test
        )
        columns: dict[str, Corrected] = {}
        start = 0
        for name, parts in p.items():
            end = start + len(parts)
            columns[name] = adjusted[start:end], reject[start:end]
            start = end
        return columns

    def uncorrected(self, by: str, test: SignificanceTest) -> Columns:
        """Return the columns of `columns_of` without margins and correction over groups."""
        if self.compared.has_uneven_pairs:
            return self._uncorrected_by_part(by, test)
        compared, criterion = self.compared, self.compared.by[by]
        a, b = compared.pair_indices
        unknown = np.full(len(a), np.nan)
        n_queries = len(criterion.query_ids)
        wins, losses, incomparable = criterion.counts(a, b)
        if criterion.is_measure:
            means = criterion.means
        else:
            means = np.full(len(compared.runs), np.nan)
        effect_low, effect_high = unknown, unknown
        extra: Columns = {}
        if compared.predicted is None:
            tested = self._tested(criterion, test)
            difference = criterion.mean_differences(a, b)
            if criterion.is_measure and test.procedure.of == "mean":
                estimate = np.where(difference == 0, 0.0, tested.estimate)
                tested = replace(tested, estimate=estimate)
            if not compared.has_seeds:  # d_z is that of queries alone
                effect_low, effect_high = self._effect_interval(tested, test, n_queries)
        else:
            powered = self.powered(by)
            tested = TestResult(
                powered.estimate, powered.low, powered.high, powered.p, unknown
            )
            difference = powered.estimate
            extra = {"rho": powered.rho, "n_effective": unknown}
            # Intervals of preferences hold those of people's queries alone, too: they gain less.
            if criterion.is_measure:
                extra["n_effective"] = powered.n_effective
        low, high = cut_at_limits(
            (tested.low, tested.high), _limits(criterion, test), tested.estimate
        )
        return {
            **compared.pair_columns,
            "wins": wins,
            "losses": losses,
            "ties": n_queries - wins - losses - incomparable,
            "incomparable": incomparable,
            "net_wins": (wins - losses) / max(1, n_queries),
            "mean_a": means[a],
            "mean_b": means[b],
            "difference": difference,
            "estimate": tested.estimate,
            "ci_low": low,
            "ci_high": high,
            "p": tested.p,
            "p_corrected": tested.p,
            "effect_size": tested.effect_size,
            "effect_low": effect_low,
            "effect_high": effect_high,
            **self.repeat_columns(by),
            **extra,
        }

    def _uncorrected_by_part(self, by: str, test: SignificanceTest) -> Columns:
        """Return the columns of `uncorrected`, each pair on the values that both runs have.

        Two more columns count these queries and, for MTEB's results, cells.
        """
        compared = self.compared
        parts = [
            PairTests(part).uncorrected(by, test) for _, part in compared.pair_parts
        ]
        joined = {}
        for name in parts[0]:
            if name not in compared.pair_columns:
                joined[name] = compared.joined([columns[name] for columns in parts])
        n_cells = compared.n_shared_cells(by)
        cells = {} if n_cells is None else {"cells": n_cells}
        return {
            **compared.pair_columns,
            "queries": compared.n_queries_of_pairs(by),
            **cells,
            **joined,
        }

    def _tested(self, criterion: Criterion, test: SignificanceTest) -> TestResult:
        """Return the test of every pair's differences by a criterion."""
        if test.procedure.at_once:
            return self._tested_at_once(criterion, test)
        pairs = self.compared.pair_indices
        if test.procedure.of == "signs":
            blocks = criterion.signs(*pairs)
        else:
            blocks = criterion.differences(*pairs)
        results = [test.of_pairs(x, bounds=criterion.bounds) for x in blocks]
        tested = TestResult.concatenate(results)
        seeds = criterion.variance_with_seeds(pairs)
        if seeds is None:
            return tested
        return seeds.widened(tested, test.alpha)

    def _tested_at_once(
        self, criterion: Criterion, test: SignificanceTest
    ) -> TestResult:
        """Return the test of every pair by a test that looks at all runs together."""
        bounds = None
        if criterion.bounds and criterion.query_ids:
            bounds = _limits(criterion, test)
        of_all = test.of_all(criterion.standings.T, bounds=bounds)
        tested = of_all[self.compared.pair_indices]
        if criterion.sign > 0:
            return tested
        ends = 0.0 - tested.estimate, 0.0 - tested.high, 0.0 - tested.low
        return TestResult(*ends, tested.p, -tested.effect_size)

    @staticmethod
    def _effect_interval(
        tested: TestResult, test: SignificanceTest, n_queries: int
    ) -> Interval:
        """Return the interval of the effect size: d_z for tests of means; NaN if there is none."""
        if test.procedure.of == "signs":
            return tested.low, tested.high
        if test.procedure.of != "mean" or test.groups is not None or n_queries < 2:
            unknown = np.full(len(tested.p), np.nan)
            return unknown, unknown
        p = None if test.resampled else tested.p
        return effect_interval(tested.effect_size, n_queries, test.alpha, p=p)

    def repeat_columns(self, by: str) -> Columns:
        """Return the repeats of each pair and its components of variance; none without repeats."""
        criterion = self.compared.by[by]
        if criterion.repeated is None:
            return {}
        a, b = self.compared.pair_indices
        unknown = np.full(len(a), np.nan)
        sd = {"sd_queries": unknown, "sd_seeds": unknown, "sd_noise": unknown}
        if len(criterion.query_ids) > 1:
            parts = criterion.components(self.compared.pair_indices)
            sd = {
                "sd_queries": np.sqrt(parts.queries),
                "sd_seeds": np.sqrt(parts.seeds),
                "sd_noise": np.sqrt(parts.noise),
            }
        n_repeats = criterion.repeated.n_repeats
        labels = []
        for one, other in zip(n_repeats[a], n_repeats[b], strict=True):
            if one == other:
                labels.append(f"{one}")
            else:
                labels.append(f"{one}/{other}")
        return {"repeats": labels, **sd}

    @memoised
    def powered(self, by: str) -> PredictionPowered:
        """Return the estimates of all pairs from human and predicted judgments together.

        For a preference, queries without relevant documents count as ties. Otherwise the
        human-judged queries would not be a random sample of the queries with predictions. See
        `prediction_powered`.
        """
        by_people, by_program = self.compared, self.compared.predicted
        if by_program is None:
            raise ValueError(
                "there are no predicted judgments; pass predicted= to compare"
            )
        test, bounds = by_people.test_of(by), by_people.by[by].bounds
        d = by_people.differences_of(by, by_people.pair_indices)
        f = by_program.differences_of(by, by_people.pair_indices)
        human = human_queries(by_people.query_ids, by_program.query_ids)
        result = prediction_powered(d, f, human, test.alpha)
        is_powered = None
        if bounds is not None:
            result, is_powered = powered_preferences(result, d, f, human, test.alpha)
        alone = test.of_pairs(d, bounds=bounds)
        return with_people_alone(result, d, alone, bounds, is_powered)

    @memoised
    def _with_margins(self, in_groups: bool) -> dict[str, list[Columns]]:
        """Return the columns that margins add, by criterion: they are corrected over all.

        *Better* asks for the two-sided p, as it does without a margin.
        """
        margins = self.compared.margins or {}
        one_sided: dict[str, list[MarginTest]] = {}
        tested: dict[str, list[MarginTest]] = {}
        for name, criterion in self.compared.by.items():
            one_sided[name] = self.one_sided(name, margins[name], in_groups)
            tested[name] = []
            for part, columns in zip(
                one_sided[name], self._uncorrected_parts(name, in_groups), strict=True
            ):
                is_no_gain = criterion.sign * columns["estimate"] <= 0
                better = np.where(is_no_gain, 1.0, columns["p"])
                tested[name].append(replace(part, better=better))
        columns_of = margin_columns(tested, self.compared.test)
        for name in columns_of:
            self._add_bounds(name, columns_of[name], one_sided[name], in_groups)
        return columns_of

    def _add_bounds(
        self,
        by: str,
        with_margins: list[Columns],
        one_sided: list[MarginTest],
        in_groups: bool,
    ) -> None:
        """Add one-sided bounds to the columns that a margin adds, before the verdicts.

        Args:
            by: the criterion.
            with_margins: the columns on all queries, or in each group.
            one_sided: the p of the same queries, before any correction.
            in_groups: whether they are of groups.
        """
        test = self.compared.test_of(by)
        for part, apart, tested, columns, added in zip(
            self.parts(in_groups),
            self._apart(in_groups),
            one_sided,
            self._uncorrected_parts(by, in_groups),
            with_margins,
            strict=True,
        ):
            verdicts = added.pop("verdict")
            low, high = part.one_sided_bounds(
                by, test, tested, {**columns, "verdict": verdicts}
            )
            bounds = without_pairs({"bound_low": low, "bound_high": high}, apart)
            added |= {**bounds, "verdict": verdicts}

    def one_sided_bounds(
        self, by: str, test: SignificanceTest, tested: MarginTest, columns: Columns
    ) -> Interval:
        """Return one-sided bounds of every pair's estimate at 1 - alpha, which agree with p.

        Args:
            by: the criterion.
            test: how its differences are tested.
            tested: the one-sided p, before any correction.
            columns: those of `uncorrected`, and the verdicts.
        """
        if self.compared.has_uneven_pairs:
            return self._one_sided_bounds_by_part(by, test, tested, columns)
        criterion, margin = self.compared.by[by], (self.compared.margins or {})[by]
        if test.procedure.at_once:
            low, high = columns["ci_low"], columns["ci_high"]
        elif self.compared.predicted is not None:
            low, high = self._powered_bounds(by)
        else:
            low, high = self._bounds_of_differences(criterion, test)
        least = self._least_losses(criterion, test, margin)
        # Bounds agree with p where larger differences are better; for costs, both are turned.
        of_gains = (low, high) if criterion.sign > 0 else (-high, -low)
        is_better = np.asarray(columns["verdict"]) == BETTER
        ends = agreeing_bounds(of_gains, tested, is_better, margin, least, test.alpha)
        if criterion.sign < 0:
            ends = -ends[1], -ends[0]
        return cut_at_limits(ends, _limits(criterion, test), columns["estimate"])

    def _one_sided_bounds_by_part(
        self, by: str, test: SignificanceTest, tested: MarginTest, columns: Columns
    ) -> Interval:
        """Return one-sided bounds, each pair on the values that both runs have."""
        bounds = []
        for indices, part in self.compared.pair_parts:
            columns_of_part = {
                name: np.asarray(x)[indices] for name, x in columns.items()
            }
            tests = PairTests(part)
            bounds.append(
                tests.one_sided_bounds(by, test, tested[indices], columns_of_part)
            )
        low, high = self.compared.joined_each(bounds)
        return low, high

    def _bounds_of_differences(
        self, criterion: Criterion, test: SignificanceTest
    ) -> Interval:
        """Return one-sided bounds of mean differences at 1 - alpha, which allow for seeds."""
        blocks = [
            np.stack(one_sided_bounds(test, x, criterion.bounds))
            for x in criterion.differences(*self.compared.pair_indices)
        ]
        low, high = np.concatenate([np.zeros((2, 0)), *blocks], axis=1)
        seeds = criterion.variance_with_seeds(self.compared.pair_indices)
        if seeds is None or 2 * test.alpha >= 1:
            return low, high
        low_of_seeds, high_of_seeds = seeds.interval(2 * test.alpha)
        return np.minimum(low, low_of_seeds), np.maximum(high, high_of_seeds)

    def _least_losses(
        self, criterion: Criterion, test: SignificanceTest, margin: float
    ) -> Floats:
        """Return the smallest loss that can be ruled out despite ties, for each pair.

        It is 0 for tests of signs, which do not look at the size of differences.
        """
        unlimited = np.zeros(len(self.compared.pairs))
        if test.procedure.of == "signs":
            return unlimited
        width = criterion.largest_loss(margin)
        blocks = []
        for x in criterion.differences(*self.compared.pair_indices):
            blocks.append(
                least_loss_ruled_out(
                    test.units_of(x), np.full(len(x), margin), width, test.alpha
                )
            )
        if blocks:
            return np.concatenate(blocks)
        return unlimited

    def _powered_bounds(self, by: str) -> Interval:
        """Return prediction-powered one-sided bounds at 1 - alpha."""
        test = self.compared.test_of(by)
        if 2 * test.alpha >= 1:
            unknown = np.full(len(self.compared.pairs), np.nan)
            return unknown, unknown
        wider = self._tested_by(
            replace(self.compared.test, alpha=2 * test.alpha)
        ).powered(by)
        return powered_bounds(wider, len(self.compared.query_ids), test.alpha)

    def one_sided(
        self, by: str, margin: float, in_groups: bool = False
    ) -> list[MarginTest]:
        """Return one-sided tests of every pair's difference, on all queries or in each group.

        They are against 0 and against the margin; `better` is one-sided, too.
        """
        self.compared.check_defined(by)
        test = self.compared.test_of(by)
        tests = []
        for part, apart in zip(
            self.parts(in_groups), self._apart(in_groups), strict=True
        ):
            p = vars(part.one_sided_by(by, test, margin))
            tests.append(MarginTest(**without_pairs(p, apart)))
        return tests

    def one_sided_by(
        self, by: str, test: SignificanceTest, margin: float
    ) -> MarginTest:
        """Return the one-sided tests of every pair's difference by a test that is named."""
        if self.compared.has_uneven_pairs:
            parts = [
                PairTests(part).one_sided_by(by, test, margin)
                for _, part in self.compared.pair_parts
            ]
            arrays = self.compared.joined_each(part.arrays for part in parts)
            return MarginTest(*arrays)
        criterion = self.compared.by[by]
        sign, width = criterion.sign, criterion.largest_loss(margin)
        if self.compared.predicted is not None:
            d = self.compared.differences_of(by, self.compared.pair_indices)
            alone = margin_test(test, sign * d, margin, width)
            both = self.powered(by)
            return powered_margin_test(
                both, d, alone, criterion.bounds, sign, margin, width
            )
        if test.procedure.at_once:
            tested = margin_test_of_all(test, criterion.standings.T, margin, width)
            return tested[self.compared.pair_indices]
        blocks = [
            margin_test(test, sign * x, margin, width)
            for x in criterion.differences(*self.compared.pair_indices)
        ]
        tested = MarginTest.concatenate(blocks)
        seeds = criterion.variance_with_seeds(self.compared.pair_indices)
        if seeds is None:
            return tested
        return seeds.margin_test(tested, sign, margin)

    def _tested_by(self, test: SignificanceTest) -> PairTests:
        """Return the tests of the same runs by another test."""
        return PairTests(replace(self.compared, test=test))

    def verdicts_by(self, by: str | None = None) -> Verdicts:
        """Return the verdicts of one criterion by pair of runs."""
        verdicts = self.columns_of(self.compared.criterion(by).name)[0]["verdict"]
        return Verdicts(dict(zip(self.compared.pairs, verdicts, strict=True)))

    def interval(self, by: str, of_mean: bool) -> Interval:
        """Return the interval of the table; by t if the interval `of_mean` is wanted instead."""
        tests = self
        if of_mean and self.compared.test_of(by).procedure.of != "mean":
            tests = self._tested_by(replace(self.compared.test, name="t"))
        (tested,) = tests.columns_of(by)
        return tested["ci_low"], tested["ci_high"]

    @memoised
    def best_set_p(self, by: str) -> Floats:
        """Return p of the hypothesis that no run has a better mean, for each run."""
        if self.compared.has_seeds:
            return self._not_beaten(by)
        test, standings = self.compared.test_of(by), self.compared.by[by].standings
        if test.groups is not None:
            standings = group_units(standings, test.groups)
        deviations = studentised_deviations(
            [standings], draws=test.resampling, for_ranks=False
        )
        return best_set(deviations)

    def _not_beaten(self, by: str) -> Floats:
        """Return Bonferroni's p that no other run is better, for each run; it knows seeds."""
        every = replace(self.compared, baseline=None, margins=None)
        tested = PairTests(every).one_sided_by(by, every.test_of(by), 0.0)
        n_runs, (a, b) = len(every.runs), every.pair_indices
        p = np.ones((n_runs, n_runs))
        p[a, b], p[b, a] = tested.worse, tested.better
        return np.minimum(1.0, p.min(axis=1) * max(1, n_runs - 1))


def without_pairs(columns: Columns, left_out: Bools) -> Columns:
    """Return columns with missing numbers, or counts of 0, for some pairs.

    >>> columns = {"wins": np.array([3, 1]), "p": np.array([0.5, 0.25])}
    >>> without_pairs(columns, np.array([True, False]))
    {'wins': array([0, 1]), 'p': array([ nan, 0.25])}
    """
    if not left_out.any():
        return columns
    changed = {}
    for name, column in columns.items():
        missing = {"f": np.nan, "i": 0}.get(np.asarray(column).dtype.kind)
        if missing is None:
            changed[name] = column
        else:
            changed[name] = np.where(left_out, missing, column)
    return changed


def _limits(criterion: Criterion, test: SignificanceTest) -> Bounds:
    """Return the smallest and the largest number that a test of differences can estimate."""
    if test.procedure.of == "signs":
        return -1.0, 1.0
    if test.procedure.at_once and not criterion.is_measure:
        return -2.0, 2.0  # of differences of mean preferences
    return criterion.range_of_differences


def cut_at_limits(ends: Interval, limits: Bounds, estimate: Floats) -> Interval:
    """Cut intervals at the numbers that are possible, but not within an estimate.

    Infinite ends stay: they stand for an interval that has no such end.

    >>> cut_at_limits((np.array([-1.2]), np.array([np.inf])), (-1.0, 1.0), np.array([-0.3]))
    (array([-1.]), array([inf]))
    """
    least, most = limits
    low, high = ends
    low = np.where(np.isfinite(low), np.maximum(low, np.fmin(least, estimate)), low)
    high = np.where(np.isfinite(high), np.minimum(high, np.fmax(most, estimate)), high)
    return low, high


def cut_at_range(
    low: Floats, high: Floats, limits: Bounds, values: Sequence[Floats]
) -> Interval:
    """Cut intervals of means at the range of a measure.

    If its range is not known, they are cut at 0 where no value is below 0.

    >>> cut_at_range(np.array([-0.1]), np.array([1.1]), (-np.inf, 1.0), [np.array([[0.2, 0.9]])])
    (array([0.]), array([1.]))
    """
    least = float(np.min([x.min() for x in values]))
    most = float(np.max([x.max() for x in values]))
    floor = 0.0
    if np.isfinite(limits[0]) or least < 0:
        floor = limits[0]
    return np.maximum(low, min(least, floor)), np.minimum(high, max(most, limits[1]))


def best_set_columns(
    runs: Sequence[str], gains: Floats, p: Floats, alpha: float
) -> Columns:
    """Return the columns of `best_set`, the best run first.

    Args:
        runs: names of the runs.
        gains: their means, larger is better.
        p: p-value, for each run, of the hypothesis that no run has a better mean.
        alpha: 1 - confidence.
    """
    order = best_first(gains)
    return {
        "run": [runs[i] for i in order],
        "p_not_beaten": p[order],
        "may_be_best": p[order] > alpha,
    }


def best_first(means: Sequence[float] | Floats) -> Any:
    """Return the indices of means, largest first; means that differ by rounding keep their order.

    >>> best_first([0.25, 0.1 + 0.2, 0.3]).tolist()
    [1, 2, 0]
    """
    means = np.asarray(means, dtype=np.float64)
    is_finite = np.isfinite(means)
    finite = np.where(is_finite, means, 0.0)
    step = SUM * np.abs(finite).max(initial=0.0) or 1.0
    missing_last = np.where(np.isnan(means), -np.inf, means)
    rounded = np.where(is_finite, np.round(finite / step), missing_last)
    return np.argsort(-rounded, kind="stable")
