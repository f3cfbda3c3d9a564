"""How the pairs of runs of one criterion are tested, on all queries or in groups of them: the columns of a comparison's table, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats
from ir_lexirecall._util.rounding import SUM
from ir_lexirecall.comparison.criteria import Criterion, MeasureCriterion, Places
from ir_lexirecall.comparison.verdicts import two_sided
from ir_lexirecall.io.groups import QueryGroups
from ir_lexirecall.judging.predicted import PredictionPowered
from ir_lexirecall.measures.scoring import mean
from ir_lexirecall.significance import (
    MarginTest,
    SignificanceTest,
    TestResult,
    corrected,
    effect_interval,
    group_units,
    margin_test,
    margin_test_of_all,
    margin_verdicts,
    mean_interval,
    preference_interval,
)
from ir_lexirecall.significance.deviations import best_set, studentised_deviations


def columns_of_pairs(
    parts: Sequence[Criterion],
    test: SignificanceTest,
    runs: Sequence[str],
    places: Places,
    powered: Sequence[PredictionPowered | None],
) -> list[dict[str, Any]]:
    """The columns of ``Comparison.table`` but for margins, of one criterion on all queries, or on each of several sets of them.

    ``p_corrected``, and with it ``verdict``, hold for all pairs on all sets together. With predicted judgments (``powered``, of each set) these
    test, and effect sizes are missing.
    """
    (a, b), columns = places, []
    unknown = np.full(len(a), np.nan)
    for criterion, both in zip(parts, powered, strict=True):
        queries = len(criterion.query_ids)
        effect_low = effect_high = unknown
        if both is not None:
            tested = TestResult(both.estimate, both.low, both.high, both.p, unknown)
        else:
            tested = _two_sided(criterion, test, places)
            if test.name == "sign":
                effect_low, effect_high = tested.low, tested.high
            elif test.name != "wilcoxon" and test.groups is None and queries > 1:  # of d_z, for tests of means
                p = tested.p if test.name == "t" else None
                effect_low, effect_high = effect_interval(tested.effect_size, queries, test.alpha, p=p)
        wins, losses, incomparable = criterion.counts(a, b)
        means = criterion.means if criterion.is_measure else np.full(len(runs), np.nan)
        part: dict[str, Any] = {
            "run_a": [runs[i] for i in a],
            "run_b": [runs[i] for i in b],
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
        columns.append(part)
    adjusted, reject = _family([part["p"] for part in columns], test)
    for part, p, rejected in zip(columns, adjusted, reject, strict=True):
        part |= {"p_corrected": p, "verdict": two_sided(rejected, parts[0].sign * part["estimate"])}
    return columns


def _two_sided(criterion: Criterion, test: SignificanceTest, places: Places) -> TestResult:
    a, b = places
    if test.name != "tukey":
        blocks = [test.of_pairs(x, bounds=criterion.bounds) for x in criterion.differences(a, b)]
        return TestResult.concatenate(blocks) if blocks else TestResult(*np.zeros((5, 0)))
    if not criterion.query_ids:
        return test.of_all(np.zeros((0, len(criterion.means))))[a, b]
    bounds = criterion.bounds and (criterion.bounds[0] - criterion.bounds[1], criterion.bounds[1] - criterion.bounds[0])
    found = test.of_all(criterion.standings.T, bounds=bounds)[a, b]
    if criterion.sign > 0:
        return found
    return TestResult(-found.estimate, -found.high, -found.low, found.p, -found.effect_size)


def one_sided_tests(criterion: Criterion, test: SignificanceTest, places: Places, margin: float) -> MarginTest:
    """The one-sided tests of every pair's difference against 0 and a margin."""
    if test.name == "tukey":
        tested = margin_test_of_all(test, criterion.standings.T, margin)
        return MarginTest(*(p[places] for p in vars(tested).values()))
    blocks = [vars(margin_test(test, criterion.sign * x, margin)).values() for x in criterion.differences(*places)]
    return MarginTest(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


def margin_columns(
    tested: Mapping[str, Sequence[MarginTest]], test: SignificanceTest
) -> dict[str, list[dict[str, Any]]]:
    """What a margin adds to the table: of each criterion, for each set of pairs that was tested (one, or one per group).

    ``worse_p`` and ``better_p`` are corrected over all criteria and pairs, ``within_p`` and ``not_worse_p`` over the pairs of their
    criterion: all criteria must pass.
    """
    of_all = [part for parts in tested.values() for part in parts]
    worse, better = (iter(_family(p, test)[0]) for p in ([p.worse for p in of_all], [p.better for p in of_all]))
    columns: dict[str, list[dict[str, Any]]] = {}
    for name, parts in tested.items():
        not_worse, within = (_family(p, test)[0] for p in ([p.not_worse for p in parts], [p.within for p in parts]))
        columns[name] = []
        for inside, above in zip(within, not_worse, strict=True):
            found = MarginTest(better=next(better), worse=next(worse), not_worse=above, within=inside)
            p = {"worse_p": found.worse, "better_p": found.better, "within_p": inside, "not_worse_p": above}
            columns[name].append(p | {"verdict": margin_verdicts(found, test.alpha).tolist()})
    return columns


def _family(p: list[Floats], test: SignificanceTest) -> tuple[list[Floats], list[Bools]]:
    """p of several sets of as many pairs each, corrected together, and which are rejected.

    Tukey's HSD accounts for the pairs of one set only, so that its p of several sets are corrected, too.
    """
    method = test.counted_correction if len(p) == 1 else test.correction
    adjusted, reject = corrected(np.concatenate(p), method, test.alpha)
    return np.split(adjusted, len(p)), np.split(reject, len(p))


def mean_intervals(criterion: Criterion, test: SignificanceTest) -> tuple[Floats, Floats]:
    """The ends of the interval of each run's mean; where the test has groups, they are the units."""
    low = high = np.full(len(criterion.means), np.nan)
    if not criterion.query_ids or not np.isfinite(criterion.standings).all():
        return low, high
    values = criterion.values if isinstance(criterion, MeasureCriterion) else criterion.standings
    if test.groups is not None:
        of_groups = replace(test, name="randomisation").of_pairs(values, bounds=criterion.bounds)
        low, high = of_groups.low, of_groups.high
    elif not criterion.is_measure:
        return preference_interval(values, test.alpha)
    else:
        low, high = mean_interval(values, test.alpha, n_resamples=test.n_resamples, seed=test.seed)
    return cut_at_range(low, high, criterion.range, [values])


def cut_at_range(
    low: Floats, high: Floats, limits: tuple[float, float], values: Sequence[Floats]
) -> tuple[Floats, Floats]:
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
    rounded = np.where(np.isfinite(means), np.round(finite / step), np.where(np.isnan(means), -np.inf, means))
    return np.argsort(-rounded, kind="stable")


def chances_to_be_best(criterion: Criterion, test: SignificanceTest) -> Floats:
    """p of each run of the hypothesis that no run has a better mean: see ``Comparison.best_set``."""
    x = criterion.standings if test.groups is None else group_units(criterion.standings, test.groups)
    return best_set(studentised_deviations([x], n_resamples=test.n_resamples, seed=test.seed, progress=test.progress))


def planned_ends(criterion: Criterion, places: Places, plan: Callable[[Floats], Any]) -> list[Floats]:
    """What is planned for each pair by the differences that were observed, with the ends of its interval."""
    if len(criterion.query_ids) < 2:
        raise ValueError(f"{criterion.name}: the variance needs at least 2 queries")
    parts = [plan(x) for x in criterion.differences(*places)]
    return [np.concatenate([getattr(part, end) for part in parts]) for end in ("estimate", "low", "high")]


# -- groups of queries -----------------------------------------------------------------------------


def labels_of(groups: QueryGroups, criterion: Criterion) -> tuple[str, ...]:
    """The group of each query that counts."""
    group = dict(zip(groups.query_ids, groups.labels.tolist(), strict=True))
    return tuple(group[query_id] for query_id in criterion.query_ids)


def in_group(criterion: Criterion, groups: QueryGroups, group: str, measure: IRMeasure | None) -> Criterion:
    """A criterion on the queries of a group; ``measure``: that values were computed with, else their means are plain ones."""
    if not isinstance(criterion, MeasureCriterion):
        members = np.flatnonzero(groups.code == groups.names.index(group))
        return replace(criterion, preferences=replace(criterion.preferences, some=members))
    queries = np.flatnonzero(np.array(labels_of(groups, criterion), dtype=object) == group)
    values = np.ascontiguousarray(criterion.values[:, queries])
    means = values.mean(axis=1) if measure is None else np.array([mean(measure, row) for row in values])
    return replace(criterion, values=values, query_ids=[criterion.query_ids[q] for q in queries], means=means)
