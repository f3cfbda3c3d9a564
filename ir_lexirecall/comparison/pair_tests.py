"""How the pairs of runs are tested, on all queries or in groups of them: the columns of a comparison's tables, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats
from ir_lexirecall._util.lazy import memoised
from ir_lexirecall._util.rounding import SUM
from ir_lexirecall.comparison.compared import ComparedRuns
from ir_lexirecall.comparison.criteria import MeasureCriterion
from ir_lexirecall.comparison.verdicts import Verdicts, two_sided
from ir_lexirecall.judging.predicted import (
    PredictionPowered,
    human_queries,
    powered_margin_test,
    prediction_powered,
    with_people_alone,
)
from ir_lexirecall.significance import (
    MarginTest,
    Resampled,
    SignificanceTest,
    TestResult,
    corrected,
    effect_interval,
    margin_test,
    margin_test_of_all,
    margin_verdicts,
    mean_interval,
    preference_interval,
)

Columns: TypeAlias = dict[str, Any]
Interval: TypeAlias = tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class TestedRuns(ComparedRuns):
    """Compared runs, and what their tests say, as arrays; ``Comparison`` makes tables of it."""

    @memoised
    def means_of(self, by: str) -> Columns:
        """The columns of ``Comparison.means`` for a criterion; where the test has groups, these are the units of the intervals."""
        criterion, test = self.by[by], self.test_of(by)
        low = high = np.full(len(criterion.means), np.nan)
        if criterion.query_ids and np.isfinite(criterion.standings).all():
            values = (
                criterion.values if isinstance(criterion, MeasureCriterion) else criterion.standings
            )
            if test.groups is not None:
                of_groups = replace(test, name="randomisation").of_pairs(
                    values, bounds=criterion.bounds
                )
                low, high = of_groups.low, of_groups.high
            elif criterion.is_measure:
                low, high = mean_interval(
                    values, test.alpha, Resampled(test.n_resamples, test.seed)
                )
            else:
                low, high = preference_interval(values, test.alpha)
            low, high = cut_at_range(low, high, criterion.range, [values])
        return {"run": self.runs, "mean": criterion.means, "ci_low": low, "ci_high": high}

    @memoised
    def columns_of(self, by: str, in_groups: bool = False) -> list[Columns]:
        """The columns of ``Comparison.table`` for one criterion, or those of ``group_table`` for each group.

        ``p_corrected``, and with it ``verdict``, hold for all pairs on all groups together. With predicted judgments these test, and
        effect sizes are missing.
        """
        criterion, test = self.by[by], self.test_of(by)
        self.check_defined(criterion.name)
        columns = [
            part.uncorrected(by, test) for part in (self.by_group.values() if in_groups else [self])
        ]
        adjusted, reject = _family([part["p"] for part in columns], test)
        for part, p, rejected in zip(columns, adjusted, reject, strict=True):
            part |= {
                "p_corrected": p,
                "verdict": two_sided(rejected, criterion.sign * part["estimate"]),
            }
        if self.margins is not None:
            for part, with_margin in zip(columns, self._with_margins(in_groups)[by], strict=True):
                del part["verdict"]
                part |= with_margin
        return columns

    def uncorrected(self, by: str, test: SignificanceTest) -> Columns:
        """The columns of ``columns_of`` but for what is corrected over all groups, and for margins."""
        (a, b), criterion = self.places, self.by[by]
        both = None if self.predicted is None else self.powered(by)
        queries, unknown = len(criterion.query_ids), np.full(len(a), np.nan)
        effect_low = effect_high = unknown
        if both is not None:
            tested = TestResult(both.estimate, both.low, both.high, both.p, unknown)
        else:
            if test.procedure.at_once:
                bounds = (
                    (-2.0, 2.0) if criterion.bounds and queries else None
                )  # of differences of mean preferences
                tested = test.of_all(criterion.standings.T, bounds=bounds)[a, b]
                if criterion.sign < 0:
                    ends = -tested.estimate, -tested.high, -tested.low
                    tested = TestResult(*ends, tested.p, -tested.effect_size)
            else:
                blocks = [
                    test.of_pairs(x, bounds=criterion.bounds) for x in criterion.differences(a, b)
                ]
                tested = TestResult.concatenate(blocks)
            if test.procedure.of == "signs":
                effect_low, effect_high = tested.low, tested.high
            elif (
                test.procedure.of == "mean" and test.groups is None and queries > 1
            ):  # of d_z, for tests of means
                p = None if test.resampled else tested.p
                effect_low, effect_high = effect_interval(
                    tested.effect_size, queries, test.alpha, p=p
                )
        wins, losses, incomparable = criterion.counts(a, b)
        means = criterion.means if criterion.is_measure else np.full(len(self.runs), np.nan)
        return {
            **self.of_pairs,
            "wins": wins,
            "losses": losses,
            "ties": queries - wins - losses - incomparable,
            "incomparable": incomparable,
            "net_wins": (wins - losses) / max(1, queries),
            "mean_a": means[a],
            "mean_b": means[b],
            "difference": both.estimate if both else criterion.mean_differences(a, b),
            "estimate": tested.estimate,
            "ci_low": tested.low,
            "ci_high": tested.high,
            "p": tested.p,
            "p_corrected": tested.p,
            "effect_size": tested.effect_size,
            "effect_low": effect_low,
            "effect_high": effect_high,
        } | ({"rho": both.rho, "n_effective": both.n_effective} if both else {})

    @memoised
    def powered(self, by: str) -> PredictionPowered:
        """What human and predicted judgments say of every pair together: see ``prediction_powered``.

        A query on which a preference has nothing to say, having no relevant document, counts as a tie: else the queries that people
        judged would be no random sample of those with predictions.
        """
        other, bounds, test = self.predicted, self.by[by].bounds, self.test_of(by)
        if other is None:
            raise ValueError("there are no predicted judgments; pass predicted= to compare")
        d, f = (judge.differences_of(by, self.places) for judge in (self, other))
        result = prediction_powered(
            d, f, human_queries(self.query_ids, other.query_ids), test.alpha
        )
        return with_people_alone(result, d, test.of_pairs(d, bounds=bounds), bounds)

    @memoised
    def _with_margins(self, in_groups: bool) -> dict[str, list[Columns]]:
        """The columns that margins add, by criterion: they are corrected over all."""
        margins = self.margins or {}
        return margin_columns(
            {name: self.one_sided(name, margins[name], in_groups) for name in self.by}, self.test
        )

    def one_sided(self, by: str, margin: float, in_groups: bool = False) -> list[MarginTest]:
        """The one-sided tests of every pair's difference against 0 and a margin, on all queries or in each group."""
        self.check_defined(by)
        test, tested = self.test_of(by), []
        for part in self.by_group.values() if in_groups else [self]:
            criterion = part.by[by]
            if part.predicted is not None:
                d, sign = part.differences_of(by, self.places), criterion.sign
                alone = margin_test(test, sign * d, margin)
                tested.append(
                    powered_margin_test(part.powered(by), d, alone, criterion.bounds, sign, margin)
                )
            elif test.procedure.at_once:
                tested.append(margin_test_of_all(test, criterion.standings.T, margin)[self.places])
            else:
                blocks = [
                    margin_test(test, criterion.sign * x, margin)
                    for x in criterion.differences(*self.places)
                ]
                tested.append(MarginTest.concatenate(blocks))
        return tested

    def verdicts_by(self, by: str | None = None) -> Verdicts:
        """The verdicts of one criterion by pair of runs."""
        return Verdicts(
            dict(
                zip(self.pairs, self.columns_of(self.criterion(by).name)[0]["verdict"], strict=True)
            )
        )

    def interval(self, by: str, of_mean: bool) -> Interval:
        """The interval of the table, or by t where that is not the interval ``of_mean``."""
        other = of_mean and self.test_of(by).procedure.of != "mean"
        (tested,) = (
            replace(self, test=replace(self.test, name="t")) if other else self
        ).columns_of(by)
        return tested["ci_low"], tested["ci_high"]


def margin_columns(
    tested: Mapping[str, Sequence[MarginTest]], test: SignificanceTest
) -> dict[str, list[Columns]]:
    """What a margin adds to the table: of each criterion, for each set of pairs that was tested (one, or one per group).

    ``worse_p`` and ``better_p`` are corrected over all criteria and pairs, ``within_p`` and ``not_worse_p`` over the pairs of their
    criterion: all criteria must pass.
    """
    of_all = [part for parts in tested.values() for part in parts]
    worse, better = (
        iter(_family(p, test)[0]) for p in ([p.worse for p in of_all], [p.better for p in of_all])
    )
    columns: dict[str, list[Columns]] = {}
    for name, parts in tested.items():
        not_worse, within = (
            _family(p, test)[0] for p in ([p.not_worse for p in parts], [p.within for p in parts])
        )
        columns[name] = []
        for inside, above in zip(within, not_worse, strict=True):
            found = MarginTest(
                better=next(better), worse=next(worse), not_worse=above, within=inside
            )
            p = {
                "worse_p": found.worse,
                "better_p": found.better,
                "within_p": inside,
                "not_worse_p": above,
            }
            columns[name].append(p | {"verdict": margin_verdicts(found, test.alpha).tolist()})
    return columns


def _family(p: list[Floats], test: SignificanceTest) -> tuple[list[Floats], list[Bools]]:
    """p of several sets of as many pairs each, corrected together, and which are rejected.

    Tukey's HSD accounts for the pairs of one set only, so that its p of several sets are corrected, too.
    """
    method = test.counted_correction if len(p) == 1 else test.correction
    adjusted, reject = corrected(np.concatenate(p), method, test.alpha)
    return np.split(adjusted, len(p)), np.split(reject, len(p))


def cut_at_range(
    low: Floats, high: Floats, limits: tuple[float, float], values: Sequence[Floats]
) -> Interval:
    """Intervals of means, cut where no mean can be: beyond the range; where none is known, below 0 if no value is.

    >>> cut_at_range(np.array([-0.1]), np.array([1.1]), (-np.inf, 1.0), [np.array([[0.2, 0.9]])])
    (array([0.]), array([1.]))
    """
    least, most = (float(end([end(x) for x in values])) for end in (np.min, np.max))
    floor = limits[0] if np.isfinite(limits[0]) or least < 0 else 0.0
    return np.maximum(low, min(least, floor)), np.minimum(high, max(most, limits[1]))


def best_first(means: Sequence[float] | Floats) -> Any:
    """The places of means in their order, the largest first; what differs by rounding only stays as it is.

    >>> best_first([0.25, 0.1 + 0.2, 0.3]).tolist()
    [1, 2, 0]
    """
    means = np.asarray(means, dtype=np.float64)
    finite = np.where(np.isfinite(means), means, 0.0)
    step = SUM * np.abs(finite).max(initial=0.0) or 1.0
    rounded = np.where(
        np.isfinite(means), np.round(finite / step), np.where(np.isnan(means), -np.inf, means)
    )
    return np.argsort(-rounded, kind="stable")
