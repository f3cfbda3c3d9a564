"""Intervals of effect sizes: noncentralities of Student's t distribution.

The interval of an effect size needs the noncentrality at which an observed t has a given
probability, which has no closed form. For given degrees of freedom it is a smooth function of t. So
it is solved for at a few points only, and a polynomial through them gives all others: two million
pairs of runs take a second.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.polynomial import chebyshev

from ir_lexirecall._util.arrays import Floats, Interval, dividing_by_zero, row_blocks
from ir_lexirecall._util.lazy import special
from ir_lexirecall._util.rounding import SUM, same
from ir_lexirecall.significance.outcomes import TestResult, agreeing
from ir_lexirecall.significance.planning import noncentral_t_cdf

_DEGREE = 24  # of the polynomials: with it, their error is that of the solutions
_N_PANELS = 7  # one polynomial for each of t in [0, 1), [1, 2), [2, 4), ... [32, 64)
_ROWS = 2**14  # numbers that stay in a processor's cache


def effect_interval(
    effect: Floats, queries: int, alpha: float = 0.05, p: Floats | None = None
) -> Interval:
    """Return the interval of Cohen's d_z, the mean over the standard deviation of differences.

    t = d_z sqrt(Q) has a noncentral t distribution for normal differences; the ends are the
    noncentralities at which it is as small, and as large, with probability alpha / 2, / sqrt(Q). 0
    lies outside exactly where the t-test rejects. NaN where
    d_z has no estimate: fewer than two queries, or no spread.

    Args:
        effect: d_z, shape ``(P,)``.
        queries: Q.
        alpha: 1 - confidence.
        p: of the test beside which the interval is printed, shape ``(P,)``; by default that of the
            t-test. The end next to 0 is moved to the side of it that p says (``t_test`` is exact
            where differences have one magnitude).

    Returns:
        Low and high ends, shape ``(P,)`` each.

    Source: Goulet-Pelletier, Cousineau, A Review of Effect Sizes and Their Confidence Intervals,
    The Quantitative Methods for Psychology 2018, doi 10.20982/tqmp.14.4.p242.

    >>> low, high = effect_interval(np.array([0.5]), 50)
    >>> low.round(3), high.round(3)
    (array([0.203]), array([0.792]))
    """
    effect = np.asarray(effect, dtype=np.float64)
    ends = np.full((2, *effect.shape), np.nan)
    if queries < 2:
        return ends[0], ends[1]
    is_finite = np.isfinite(effect)
    t = np.abs(effect[is_finite]) * np.sqrt(queries)
    for end, level in zip(ends, (1 - alpha / 2, alpha / 2), strict=True):
        end[is_finite] = noncentrality(t, queries - 1.0, level) / np.sqrt(queries)
    low, high = np.where(effect < 0, -ends[::-1], ends)
    if p is None:
        p = 2 * special.stdtr(queries - 1, -np.abs(effect) * np.sqrt(queries))
    result = agreeing(TestResult(effect, low, high, p, effect), alpha, None)
    return result.low, result.high


def noncentrality(t: Floats, df: float, level: float) -> Floats:
    """Return the noncentralities at which P(T <= t) is a level.

    They are those of `solved_noncentrality`, up to the rounding of that.

    Args:
        t: at least 0, shape ``(P,)``.
        df: degrees of freedom.
        level: the probability.

    >>> noncentrality(np.array([2.0, 2000.0]), 49.0, 0.025).round(3)
    array([   3.99 , 2394.256])
    """
    result = np.empty(len(t))
    for rows in row_blocks(len(t), 1, _ROWS):
        result[rows] = _noncentrality_of_block(t[rows], df, level)
    return result


def _noncentrality_of_block(t: Floats, df: float, level: float) -> Floats:
    """Return the noncentralities of some t, interpolated where they are small enough."""
    result = np.empty(len(t))
    panel_of_t = np.maximum(np.frexp(t)[1], 0)
    for panel in np.unique(panel_of_t):
        rows = panel_of_t == panel
        coefficients = None
        if panel < _N_PANELS:
            coefficients = _panel_coefficients(int(panel), df, level)
        if coefficients is None:
            result[rows] = solved_noncentrality(t[rows], df, level)
        else:
            low, high = _panel_ends(int(panel))
            x = (2 * t[rows] - low - high) / (high - low)
            result[rows] = chebyshev.chebval(x, coefficients)
    return result


def _panel_ends(panel: int) -> tuple[float, float]:
    """Return the smallest and the largest t of a panel."""
    return (2.0 ** (panel - 1) if panel else 0.0), 2.0**panel


@lru_cache(maxsize=1024)
def _panel_coefficients(panel: int, df: float, level: float) -> Floats | None:
    """Return the Chebyshev coefficients of the noncentrality on a panel.

    None if the last ones show that a polynomial of this degree is less exact than a solution, as
    for millions of degrees of freedom.
    """
    low, high = _panel_ends(panel)

    points = chebyshev.chebpts1(_DEGREE + 1)
    solutions = solved_noncentrality(
        (low + high + (high - low) * points) / 2, df, level
    )
    coefficients = np.asarray(
        chebyshev.chebfit(points, solutions, _DEGREE), dtype=np.float64
    )
    is_exact = np.abs(coefficients[-3:]).max() <= SUM * (1 + high)
    return coefficients if is_exact else None


def solved_noncentrality(t: Floats, df: float, level: float) -> Floats:
    """Return the noncentralities at which P(T <= t) is a level, solved for one by one.

    Args:
        t: at least 0, shape ``(P,)``.
        df: degrees of freedom.
        level: the probability.
    """
    # The normal quantile of P(T <= t) falls almost as a line: where it is too high by an error, the
    # noncentrality is too low by the error times the slope. The first slope is that of the normal
    # approximation, later ones are those of a secant through the last two solutions.
    target, slope = special.ndtri(level), np.sqrt(1 + t**2 / (2 * df))
    low, high = _bracket(t, df, level)
    solution = np.clip(t * (1 - 1 / (4 * df)) - target * slope, low, high)
    error = special.ndtri(noncentral_t_cdf(t, df, solution)) - target
    rows = np.arange(len(t))
    for _ in range(100):
        low[rows] = np.where(error > 0, solution[rows], low[rows])
        high[rows] = np.where(error < 0, solution[rows], high[rows])
        step = _inner_step(solution[rows], error * slope, low[rows], high[rows])
        solution[rows] += step
        is_open = ~same(step, 0.0, 1 + t[rows], SUM / 10)
        rows, step, previous_error = rows[is_open], step[is_open], error[is_open]
        if not len(rows):
            break
        error = special.ndtri(noncentral_t_cdf(t[rows], df, solution[rows])) - target
        with dividing_by_zero():
            slope = step / (previous_error - error)
        slope = np.where(np.isinf(previous_error), np.nan, slope)
        slope = np.where(error == previous_error, 1.0, slope)
    return solution


def _bracket(t: Floats, df: float, level: float) -> tuple[Floats, Floats]:
    """Return two ends that enclose the noncentrality d with P(T <= t) = level.

    T = (Z + d) / C, with a normal Z and C = chi / sqrt(df). As t is at least 0, Z <= -d makes
    T <= t: d is at least minus the normal quantile of the level. And T <= t needs Z <= -a or
    C >= (d - a) / t, for any a: d is at most that at which each has half the level, or less.
    """
    tail = min(level, 1 - level) / 2
    low = np.full(len(t), -special.ndtri(level))
    high = t * np.sqrt(special.chdtri(df, tail) / df) - special.ndtri(tail)
    return low, high


def _inner_step(solution: Floats, step: Floats, low: Floats, high: Floats) -> Floats:
    """Return steps; one that leaves the bracket is replaced by one to its middle."""
    is_inside = (low <= solution + step) & (solution + step <= high)
    return np.where(is_inside, step, (low + high) / 2 - solution)
