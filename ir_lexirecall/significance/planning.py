"""Planning by the paired t-test: how many queries a difference needs, or what queries can show.

The user names a difference or a margin; only its variance is estimated. The "power of the observed
difference" is not computed. It is a function of p alone (0.5 where p = alpha), and says nothing
about the queries.

All powers are those of one comparison, before any correction. The noncentral t distribution has
Q - 1 degrees of freedom and the noncentrality difference sqrt(Q) / s.

Ties stay ties: if k of Q queries differ, a true difference D is one of D Q / k on those. That adds
D^2 (Q / k - 1) to the variance that the test sees, and so its critical value is larger by the
factor sqrt(1 + (Q / k - 1) (D / s)^2). The observed mean adds as much to the observed variance, so
s is the deviation without it. And p is at least 2^(1 - k), so enough queries must differ.
If differences are 0, 1 and -1, none can grow: then at least a share D of the queries differs.
In simulations of normal differences on 8 to 15 queries, it is found in 0.76 to 0.87 of samples for
0.80; without both, in 0.55 to 0.72.

A planned number has the interval of the variance, by the kurtosis of the differences (Bonett).
The kurtosis is freed from the bias that it has for normal differences, and the quantile is
Student's. From 25 queries on the interval holds in 0.90 to 0.97 of samples of real differences.
Without these two changes it holds in 0.88 to 0.95, and by chi-squared in 0.75 to 0.90.

Sources: Bonett, Approximate Confidence Interval for Standard Deviation of Nonnormal Distributions,
Computational Statistics and Data Analysis 2006, doi 10.1016/j.csda.2004.10.003; Hoenig, Heisey, The
Abuse of Power, The American Statistician 2001, doi 10.1198/000313001300339897; Sakai, Statistical
Significance, Power, and Sample Sizes, SIGIR 2016, doi 10.1145/2911451.2911492.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, dividing_by_zero, ratio
from ir_lexirecall._util.errors import check_number, entry
from ir_lexirecall._util.lazy import special
from ir_lexirecall._util.rounding import DIFFERENCE, settled
from ir_lexirecall.significance.evidence import (
    chance_of_ties,
    differing_queries,
    shares_of_margin,
    weight_of_ties,
)
from ir_lexirecall.significance.outcomes import Arrays, mean_and_deviation, scaled

MOST = 10**7  # queries; above this many, infinity is reported
_LARGEST_EFFECT = 1e4  # in standard deviations; larger ones are found as easily
_LARGE = 1e3  # t from which SciPy's distribution is less exact than 1e-12
_LEGENDRE = lru_cache(np.polynomial.legendre.leggauss)


@dataclass(frozen=True)
class Planned(Arrays):
    """Planned numbers with the intervals that the variance gives them; arrays of one shape.

    They are NaN where the variance is not known: fewer than two queries, or all differences equal.
    Queries for a margin are known if all differences are 0, too.
    """

    estimate: Floats
    low: Floats
    high: Floats

    def at_least(self, queries: Floats) -> Planned:
        """Return the same numbers, where smaller ones are raised to others."""
        return Planned(*(np.maximum(number, queries) for number in self.arrays))


@entry
def queries_for_difference(
    x: Floats, difference: float | Floats, power: float = 0.8, alpha: float = 0.05
) -> Planned:
    """Return the queries with which the two-sided t-test finds a true difference.

    Args:
        x: observed differences of P pairs on Q queries, shape ``(P, Q)``: only their variance and
            their ties count.
        difference: to be found, above 0, in the unit of ``x``; one, or one per pair.
        power: the probability of finding it, between 0 and 1.
        alpha: level of the test, between 0 and 1.

    Returns:
        Whole numbers, shape ``(P,)``; inf: more than ten million. If k queries differ, p is at
        least 2^(1 - k): there are enough queries for a k with which p can reach ``alpha``.

    Raises:
        ValueError: a number out of range.

    >>> x = np.random.default_rng(0).normal(0, 0.1, (1, 50))
    >>> planned = queries_for_difference(x, 0.05)
    >>> planned.estimate, planned.low, planned.high
    (array([29.]), array([21.]), array([44.]))
    """
    planned = _needed(x, difference, power, alpha, sides=2)
    return planned.at_least(queries_that_differ(x, power, alpha, difference))


@entry
def queries_for_margin(
    x: Floats,
    margin: float | Floats,
    power: float = 0.8,
    alpha: float = 0.05,
    width: float = 1.0,
) -> Planned:
    """Return the queries with which equal runs are found *not worse* than a margin.

    Then the one-sided lower bound at 1 - alpha lies above -margin with the given power, where the
    true difference is 0, and ties of queries like these do not forbid the verdict. Arguments,
    result and errors are those of ``queries_for_difference``, with a margin in place of the
    difference; ``width`` is the largest loss on a query, as in ``margin_test``.

    >>> x = np.random.default_rng(0).normal(0, 0.1, (1, 50))
    >>> queries_for_margin(x, 0.05).estimate
    array([23.])
    """
    is_tied = (x.shape[1] > 1) & (differing_queries(x) == 0)
    level = _without_difference(x)
    plans = []
    for power_of_t, power_beyond_ties in _powers_of_both(power):
        planned = _needed(x, margin, power_of_t, alpha, sides=1)
        arrays = [np.where(is_tied, 0.0, numbers) for numbers in planned.arrays]
        of_ties = queries_beyond_ties(level, margin, width, power_beyond_ties, alpha)
        plans.append(Planned(*arrays).at_least(of_ties).arrays)
    return Planned(*np.min(plans, axis=0))


def _powers_of_both(power: float) -> list[tuple[float, float]]:
    """Return pairs of powers with which two conditions hold together with a power.

    Mostly one of them decides, and the other one holds nearly surely.
    """
    halfway = (1 + power) / 2
    nearly_sure = 1 - (1 - power) / 200
    return [(power, nearly_sure), (halfway, halfway), (nearly_sure, power)]


@entry
def detectable_difference(
    x: Floats, power: float = 0.8, alpha: float = 0.05
) -> Planned:
    """Return the smallest true difference that the two-sided t-test finds with as many queries.

    Arguments are those of ``queries_for_difference``. It is infinite if too few of these queries
    differ to find any difference with that power. If differences are 0, 1 and -1, it is the share
    of queries that must differ.

    >>> x = np.random.default_rng(0).normal(0, 0.1, (1, 50))
    >>> planned = detectable_difference(x)
    >>> planned.estimate.round(3), planned.low.round(3), planned.high.round(3)
    (array([0.037]), array([0.031]), array([0.047]))
    """
    n_queries = x.shape[1]
    degrees = np.full(len(x), max(1.0, n_queries - 1.0))
    noncentrality = noncentrality_to_find(x, degrees, power, alpha, ties_that_stay(x))
    least = np.where(
        _are_whole(x), least_share_that_differs(n_queries, power, alpha), 0
    )
    ends = []
    for deviation in _deviations(x, alpha, power):
        with np.errstate(invalid="ignore"):
            difference = noncentrality * deviation / np.sqrt(max(1, n_queries))
        is_never = np.isinf(noncentrality) & ~np.isnan(deviation)
        ends.append(np.maximum(np.where(is_never, np.inf, difference), least))
    return Planned(*ends)


def noncentrality_to_find(
    x: Floats,
    degrees: Floats,
    power: float,
    alpha: float,
    ties: Floats | float = 0.0,
) -> Floats:
    """Return how many standard errors from 0 a difference must lie to be found, shape ``(P,)``.

    The errors are those where the true difference is 0. Infinity where too few queries differ.

    Args:
        x: observed differences, shape ``(P, Q)``, of which only ties count.
        degrees: of freedom of the test, shape ``(P,)``.
        power: the probability of finding the difference.
        alpha: level of the two-sided test.
        ties: for each query that differs, as far as a difference adds to the variance.

    >>> x = np.array([[0.1] * 40, [0.1] * 20 + [0.0] * 20, [0.1] * 4 + [0.0] * 36])
    >>> noncentrality_to_find(x, np.full(3, 39.0), 0.8, 0.05, ties_per_difference(x)).round(2)
    array([2.87, 3.11,  inf])
    """
    n_queries = max(1, x.shape[1])
    is_found = _are_whole(x) | (queries_that_differ(x, power, alpha) <= n_queries)
    ties = np.where(is_found, ties, 0.0)
    cases, case_of_pair = np.unique(
        np.column_stack([ties, degrees]), axis=0, return_inverse=True
    )
    low, high = np.zeros(len(cases)), np.full(len(cases), 1e4)
    for _ in range(100):
        middle = (low + high) / 2
        factor = np.sqrt(1 + cases[:, 0] * middle**2 / n_queries)
        is_enough = t_power(middle, cases[:, 1], alpha, factor=factor) >= power
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    found = np.where(high < 1e4, high, np.inf)[case_of_pair.reshape(-1)]
    return np.where(is_found, found, np.inf)


def ties_per_difference(x: Floats) -> Floats:
    """Return how many queries tie for each that differs, Q / k - 1; infinity if all tie.

    >>> ties_per_difference(np.array([[0.1, -0.2, 0.0, 0.1], [0.0, 0.0, 0.0, 0.0]])).round(2)
    array([0.33,  inf])
    """
    differing = differing_queries(x)
    return ratio(x.shape[1] - differing, differing, np.inf)


def ties_that_stay(x: Floats) -> Floats:
    """Return how many queries tie for each that differs, as far as a difference leaves them ties.

    Differences of 0, 1 and -1 cannot grow, so a true difference makes more queries differ: 0 ties.
    """
    return np.where(_are_whole(x), 0.0, ties_per_difference(x))


def _are_whole(x: Floats) -> Bools:
    """Return which pairs differ by 1 wherever they differ, as by a measure that is 0 or 1."""
    are_whole: Bools = np.isin(x, (-1.0, 0.0, 1.0)).all(axis=1) & (x != 0).any(axis=1)
    return are_whole


def least_share_that_differs(n_queries: int, power: float, alpha: float) -> float:
    """Return the share of queries that must differ for a two-sided p to reach ``alpha``.

    It does so with the given power; infinity if it cannot, as there are too few queries.

    >>> round(least_share_that_differs(50, 0.8, 0.05), 3)
    0.154
    """
    least = _least_that_differ(alpha)
    if n_queries < least:
        return np.inf
    return float(special.bdtri(least - 1, n_queries, 1 - power))


def _least_that_differ(alpha: float) -> int:
    """Return on how many queries runs must differ for a two-sided p to reach ``alpha``."""
    return int(np.ceil(1 - np.log2(alpha)))


def _needed(
    x: Floats, difference: float | Floats, power: float, alpha: float, sides: int
) -> Planned:
    """Return the queries that find a difference, with those for the ends of the deviation.

    Arguments are those of ``queries_for_difference``; the test has 1 or 2 sides. One of 1 side has
    a margin, and the true difference is 0.
    """
    deviations = _deviations(x, alpha, power)
    difference = np.asarray(difference, dtype=np.float64)
    if not (np.isfinite(difference).all() and (difference > 0).all()):
        raise ValueError(
            f"a difference must be a finite number above 0, not {difference.tolist()!r}"
        )
    ties = np.zeros(len(x))
    if sides == 2:
        ties = ties_that_stay(x)
    return Planned(
        *(_queries_of(difference, s, ties, power, alpha, sides) for s in deviations)
    )


def _queries_of(
    difference: Floats,
    deviation: Floats,
    ties: Floats,
    power: float,
    alpha: float,
    sides: int,
) -> Floats:
    """Return the least number of queries that is enough for a standard deviation, by bisection."""
    with dividing_by_zero():
        effect = np.minimum(difference / deviation, _LARGEST_EFFECT)
        factor = np.sqrt(1 + ties * effect**2)

    def is_enough(queries: Floats) -> Bools:
        noncentrality = effect * np.sqrt(queries)
        degrees = np.maximum(queries, 2) - 1
        reached = t_power(noncentrality, degrees, alpha, sides, factor)
        enough: Bools = reached >= power
        return enough

    n_queries = least_enough(is_enough, len(deviation), MOST)
    return np.where(np.isnan(deviation), np.nan, n_queries)


def queries_that_differ(
    x: Floats, power: float, alpha: float, difference: Floats | float = 0.0
) -> Floats:
    """Return how many queries like these let a two-sided p reach ``alpha``, shape ``(P,)``.

    With k differing queries p is at least 2^(1 - k). Samples of so many queries have enough that
    differ with a probability of ``power``; infinity if none of these differs. If differences are 0,
    1 and -1, at least a share of ``difference`` differs.

    >>> queries_that_differ(np.array([[0.1, -0.2], [0.1, 0.0], [0.0, 0.0]]), 0.8, 0.05)
    array([ 6., 15., inf])
    """
    least = _least_that_differ(alpha)
    share = differing_queries(x) / x.shape[1]
    growing = np.minimum(np.maximum(share, difference), 1.0)
    share = np.where(_are_whole(x), growing, share)

    def is_enough(queries: Floats) -> Bools:
        chance = special.bdtrc(least - 1, queries.astype(np.int64), share)
        enough: Bools = (queries >= least) & ((chance >= power) | (share == 1))
        return enough

    return least_enough(is_enough, len(x), MOST)


def queries_beyond_ties(
    x: Floats,
    margins: Floats | float,
    width: Floats | float,
    power: float,
    alpha: float,
) -> Floats:
    """Return how many queries like these let ties allow *not worse* at ``alpha``, shape ``(P,)``.

    So many queries take the floor of ``least_margin_p`` to ``alpha``, if its S is as large as it is
    with a probability of ``power``: n times the mean of the shares of the margin, less the normal
    quantile times the deviation of their sum.

    >>> queries_beyond_ties(np.zeros((1, 10)), 0.01, 1.0, 0.8, 0.05)
    array([299.])
    >>> queries_beyond_ties(np.full((1, 10), 0.1), 0.01, 1.0, 0.8, 0.05)
    array([8.])
    """
    share = shares_of_margin(x, margins)
    mean, deviation = share.mean(axis=1), share.std(axis=1)
    quantile = float(special.ndtri(power))

    def is_enough(queries: Floats) -> Bools:
        total = queries * mean - quantile * np.sqrt(queries) * deviation
        least = weight_of_ties(total) * chance_of_ties(queries, margins, width)
        enough: Bools = least <= alpha
        return enough

    return least_enough(is_enough, len(x), MOST)


def least_enough(
    is_enough: Callable[[Floats], Bools], size: int, most: float
) -> Floats:
    """Return the least whole number above 1 that is enough, by bisection; infinity above ``most``.

    >>> least_enough(lambda number: number**2 >= np.array([10, 10_000]), 2, 50)
    array([ 4., inf])
    """
    low, high = np.ones(size), np.full(size, most + 1.0)
    while (high - low > 1).any():
        middle = np.maximum(np.floor((low + high) / 2), 2)
        enough = is_enough(middle)
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(high > most, np.inf, high)


def check_levels(power: float, alpha: float) -> None:
    """Raise if a power or a level does not lie between 0 and 1."""
    check_number("power", power, above=0, below=1)
    check_number("alpha", alpha, above=0, below=1)


def _deviations(x: Floats, alpha: float, power: float) -> tuple[Floats, ...]:
    """Return the standard deviation s without a difference of each row, with its interval.

    By Bonett, with Student's t, the logarithm of the variance has the interval

        ln(c s^2) -/+ t c sqrt((k - (n - 3) / n) / (n - 1)),    c = n / (n - z)

    with the normal quantile z, Student's t, and the kurtosis k of ``_kurtosis``. Below 5 queries,
    or where n is at most z, it has no upper end, and its lower end is 0. All are NaN where there is
    no spread, or fewer than two queries.
    """
    check_levels(power, alpha)
    n = x.shape[1]
    z = -float(special.ndtri(alpha / 2))
    t = -float(special.stdtrit(n - 1, alpha / 2))
    x, exponent = scaled(_without_difference(x))
    if n > 1:
        deviation = mean_and_deviation(x)[1]
    else:
        deviation = np.full(len(x), np.nan)
    deviation = np.where(deviation > 0, deviation, np.nan)
    if n < 5 or n <= z:
        deviation = np.ldexp(deviation, exponent[:, 0])
        return deviation, deviation * 0, deviation * np.inf
    c = n / (n - z)
    half = t * c * np.sqrt((_kurtosis(x, deviation) - (n - 3) / n) / (n - 1)) / 2
    centre = deviation * np.sqrt(c)
    ends = np.stack([deviation, centre * np.exp(-half), centre * np.exp(half)])
    return tuple(np.ldexp(ends, exponent[:, 0]))


def _without_difference(x: Floats) -> Floats:
    """Return differences less the mean of the k queries that differ; ties stay 0.

    Their variance, over all Q queries, is that of the k over k - 1, times k / Q. Rows that differ
    on one query, by one number only, or by 0, 1 and -1, stay as they are.

    >>> _without_difference(np.array([[0.3, 0.1, 0.0, 0.0], [0.2, 0.2, 0.0, 0.0]])).round(4)
    array([[ 0.1225, -0.1225,  0.    ,  0.    ],
           [ 0.2   ,  0.2   ,  0.    ,  0.    ]])
    """
    differs = x != 0
    k = differs.sum(axis=1, keepdims=True)
    mean = x.sum(axis=1, keepdims=True) / np.maximum(k, 1)
    without = np.where(differs, settled(x - mean, np.abs(x), DIFFERENCE), 0.0)
    n_queries = x.shape[1]
    share = k / np.maximum(k - 1, 1) * (n_queries - 1) / max(n_queries, 1)
    is_kept = _are_whole(x) | (without == 0).all(axis=1)
    return np.where(is_kept[:, None], x, without * np.sqrt(share))


def _kurtosis(x: Floats, deviation: Floats) -> Floats:
    """Return the kurtosis of each row, n sum (x - m)^4 / (sum (x - mean)^2)^2.

    m is the mean without a share of 1 / (2 sqrt(n - 4)) of the values at either end. The result
    is at least 3 + G2, where Fisher's G2 is unbiased for normal values.
    """
    n = x.shape[1]
    cut = int(n / (2 * np.sqrt(n - 4)))
    if 2 * cut < n:
        middle = np.sort(x, axis=1)[:, cut : n - cut].mean(axis=1)
    else:
        middle = np.median(x, axis=1)
    scaled = (x - middle[:, None]) / deviation[:, None]
    kurtosis = (scaled**4).sum(axis=1) * n / (n - 1) ** 2
    unbiased = 3 + (n - 1) * ((n + 1) * (kurtosis - 3) + 6) / ((n - 2) * (n - 3))
    return np.maximum(kurtosis, unbiased)


def t_power(
    noncentrality: Floats,
    degrees: Floats,
    alpha: float,
    sides: int = 2,
    factor: Floats | float = 1.0,
) -> Floats:
    """Return the power of a t-test.

    Args:
        noncentrality: the difference over its standard error.
        degrees: degrees of freedom.
        alpha: level of the test.
        sides: 1 or 2.
        factor: of the critical value, for what a difference adds to the variance.
    """
    critical = -special.stdtrit(degrees, alpha / sides) * factor
    above = 1 - noncentral_t_cdf(critical, degrees, noncentrality)
    if sides == 2:
        return above + noncentral_t_cdf(-critical, degrees, noncentrality)
    return above


def noncentral_t_cdf(t: Floats, df: float | Floats, noncentrality: Floats) -> Floats:
    """Return P(T <= t) of the noncentral t distribution.

    It is that of the normal approximation where SciPy has no number, and by quadrature for t above
    1,000.
    """
    large, positive = t > _LARGE, noncentrality >= 0
    p = special.nctdtr(
        df,
        np.abs(np.where(large, 0, noncentrality)),
        np.where(large, 0, np.where(positive, t, -t)),
    )
    normal = special.ndtr(
        (t * (1 - 1 / (4 * df)) - noncentrality) / np.sqrt(1 + t**2 / (2 * df))
    )
    p = np.where(np.isnan(p), normal, np.where(positive, p, 1 - p))
    if large.any():
        # P(T <= t) is the mean over Z of P(chi / sqrt(df) >= (Z + noncentrality) / t), which is 1
        # for Z of at most -noncentrality.
        df = np.broadcast_to(np.asarray(df, dtype=np.float64), t.shape)[large, None]
        t, nc = t[large, None], noncentrality[large, None]
        low, high = np.clip(-nc, -10, 10), 10.0
        nodes, weights = _LEGENDRE(100)  # exact to 1e-12
        z = low + (high - low) * (nodes + 1) / 2
        above = (
            np.exp(-(z**2) / 2)
            / np.sqrt(2 * np.pi)
            * special.chdtrc(df, df * ((z + nc) / t) ** 2)
        )
        p[large] = special.ndtr(low[:, 0]) + (high - low[:, 0]) / 2 * (
            above * weights
        ).sum(axis=1)
    return p
