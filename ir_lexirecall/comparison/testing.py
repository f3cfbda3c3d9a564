"""How the pairs of runs of one criterion are tested: the columns of a comparison's table, as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall.comparison.criteria import Criterion, MeasureCriterion
from ir_lexirecall.judging.predicted import PredictionPowered
from ir_lexirecall.significance import (
    SignificanceTest,
    TestResult,
    effect_interval,
    mean_interval,
    preference_interval,
)
from ir_lexirecall.significance.margins import MarginTest, margin_test, margin_test_of_all, margin_verdicts


def pair_columns(
    criterion: Criterion,
    test: SignificanceTest,
    runs: Sequence[str],
    places: tuple[Ints, Ints],
    powered: PredictionPowered | None = None,
) -> tuple[dict[str, Any], Bools]:
    """The columns of ``Comparison.table`` but for margins and verdicts, and whether the corrected test rejects.

    With predicted judgments (``powered``) these test, and effect sizes are missing.
    """
    a, b = places
    queries = len(criterion.query_ids)
    unknown = np.full(len(a), np.nan)
    tested = (
        _two_sided(criterion, test, places)
        if powered is None
        else TestResult(powered.estimate, powered.low, powered.high, powered.p, unknown)
    )
    wins, losses, incomparable = criterion.counts(a, b)
    adjusted, reject = test.corrected(tested.p)
    means = criterion.means if criterion.is_measure else np.full(len(runs), np.nan)
    effect_low, effect_high = (unknown, unknown) if powered else _effect_ends(test, tested, queries)
    columns = {
        "run_a": [runs[i] for i in a],
        "run_b": [runs[i] for i in b],
        "wins": wins,
        "losses": losses,
        "ties": queries - wins - losses - incomparable,
        "incomparable": incomparable,
        "net_wins": (wins - losses) / max(1, queries),
        "mean_a": means[a],
        "mean_b": means[b],
        "difference": criterion.mean_differences(a, b),
        "estimate": tested.estimate,
        "ci_low": tested.low,
        "ci_high": tested.high,
        "p": tested.p,
        "p_corrected": adjusted,
        "effect_size": tested.effect_size,
        "effect_low": effect_low,
        "effect_high": effect_high,
    } | ({"rho": powered.rho, "n_effective": powered.n_effective} if powered else {})
    return columns, reject


def _two_sided(criterion: Criterion, test: SignificanceTest, places: tuple[Ints, Ints]) -> TestResult:
    a, b = places
    if test.name == "tukey":
        if not criterion.query_ids:
            return test.of_all(np.zeros((0, len(criterion.means))))[a, b]
        return turned(test.of_all(criterion.standings.T, bounds=_twice(criterion.bounds))[a, b], criterion.sign)
    blocks = [test.of_pairs(x, bounds=criterion.bounds) for x in criterion.differences(a, b)]
    return TestResult.concatenate(blocks) if blocks else TestResult(*np.zeros((5, 0)))


def one_sided_tests(
    criterion: Criterion, test: SignificanceTest, places: tuple[Ints, Ints], margin: float
) -> MarginTest:
    """The one-sided tests of every pair's difference against 0 and a margin."""
    if test.name == "tukey":
        tested = margin_test_of_all(test, criterion.standings.T, margin)
        return MarginTest(*(p[places] for p in vars(tested).values()))
    blocks = [vars(margin_test(test, criterion.sign * x, margin)).values() for x in criterion.differences(*places)]
    return MarginTest(*(np.concatenate(parts) for parts in zip(*blocks, strict=True)))


_Key = TypeVar("_Key")


def margin_columns(tested: Mapping[_Key, MarginTest], test: SignificanceTest) -> dict[_Key, dict[str, Any]]:
    """``worse_p``, corrected over all criteria (and groups) and pairs, ``within_p`` and ``verdict``, by criterion."""
    worse, _ = test.corrected(np.concatenate([one.worse for one in tested.values()]))
    columns = {}
    for name, part in zip(tested, np.split(worse, len(tested)), strict=True):
        verdicts = margin_verdicts(replace(tested[name], worse=part), test.alpha)
        columns[name] = {"worse_p": part, "within_p": tested[name].within, "verdict": verdicts.tolist()}
    return columns


def mean_intervals(criterion: Criterion, test: SignificanceTest) -> tuple[Floats, Floats]:
    """The ends of the interval of each run's mean; where the test has groups, they are the units."""
    low = high = np.full(len(criterion.means), np.nan)
    if not criterion.query_ids or not np.isfinite(criterion.standings).all():
        return low, high
    values = criterion.values if isinstance(criterion, MeasureCriterion) else criterion.standings
    if test.groups is not None:
        of_groups = replace(test, name="t").of_pairs(values, bounds=criterion.bounds)
        low, high = of_groups.low, of_groups.high
    elif not criterion.is_measure:
        return preference_interval(values, test.alpha)
    else:
        low, high = mean_interval(values, test.alpha, n_resamples=test.n_resamples, seed=test.seed)
    return (np.maximum(low, 0.0) if (values >= 0).all() else low), high


_NOISE = 1e-12  # of sums in another order


def best_first(means: Sequence[float] | Floats) -> Any:
    """The places of means in their order, the largest first; what differs by rounding only stays as it is.

    >>> best_first([0.25, 0.1 + 0.2, 0.3]).tolist()
    [1, 2, 0]
    """
    means = np.asarray(means, dtype=np.float64)
    finite = np.where(np.isfinite(means), means, 0.0)
    step = _NOISE * np.abs(finite).max(initial=0.0) or 1.0
    rounded = np.where(np.isfinite(means), np.round(finite / step), np.where(np.isnan(means), -np.inf, means))
    return np.argsort(-rounded, kind="stable")


def turned(result: TestResult, sign: int) -> TestResult:
    if sign > 0:
        return result
    return TestResult(-result.estimate, -result.high, -result.low, result.p, -result.effect_size)


def _effect_ends(test: SignificanceTest, tested: TestResult, queries: int) -> tuple[Floats, Floats]:
    """The interval of the effect size: that of the estimate for the sign test, of d_z for tests of means."""
    if test.name == "sign":
        return tested.low, tested.high
    if test.name == "wilcoxon" or test.groups is not None or queries < 2:
        unknown = np.full(len(tested.p), np.nan)
        return unknown, unknown
    return effect_interval(tested.effect_size, queries, test.alpha)


def _twice(bounds: tuple[float, float] | None) -> tuple[float, float] | None:
    """The bounds of a difference of two numbers with these bounds."""
    return None if bounds is None else (bounds[0] - bounds[1], bounds[1] - bounds[0])
