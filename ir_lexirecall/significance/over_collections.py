"""Statistics over many collections: resampling, intervals of macro means, meta-analysis, tests.

``values`` are those of S runs on the queries of D collections: a sequence of D arrays, shape ``(S,
Q_d)``. A collection counts once, however many queries it has: the macro mean of a run is the mean
over collections of its means over queries. Queries are resampled for all runs alike, so differences
stay paired.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import (
    Bounds,
    Floats,
    Interval,
    Ints,
    dividing_by_zero,
    product,
)
from ir_lexirecall._util.lazy import special, stats
from ir_lexirecall._util.rounding import SUM, levelled, settled
from ir_lexirecall.significance.closed_form import interval_with_ends
from ir_lexirecall.significance.draws import Draws, Statistic, resample
from ir_lexirecall.significance.outcomes import (
    DEFAULT_DRAWS,
    Arrays,
    Resampled,
    corrected,
    kth_largest,
    most_extreme,
    scaled,
)
from ir_lexirecall.significance.signed_rank import wilcoxon

# Collections up to which a mean has the usual t, whatever their skewness.
MOST_FOR_T = 3
# The standard error of a resample is at least this share of the observed one.
LEAST_ERROR = 0.35
# Queries in all that such intervals need; with fewer, they would hold too seldom.
_ENOUGH_QUERIES = 25
# Queries of each collection, from which on no query differs much more than those seen.
_MANY_QUERIES = 10


@dataclass(frozen=True)
class Resamples(Arrays):
    """Macro means of B resamples, with their standard errors."""

    mean: Floats  # shape ``(S, B)``
    error: Floats  # of each mean, estimated from the resample alone, shape ``(S, B)``


def macro_means(values: Sequence[Floats]) -> Floats:
    """Return the mean over collections of the means over queries, shape ``(S,)``.

    It is 0 where the values cancel but for rounding.

    >>> macro_means([np.array([[0.0, 1.0]]), np.array([[1.0, 1.0, 1.0]])])
    array([0.75])
    """
    largest = np.max([np.abs(x).max(axis=1, initial=0.0) for x in values], axis=0)
    return settled(np.mean([x.mean(axis=1) for x in values], axis=0), largest)


def macro_error(values: Sequence[Floats], over: str) -> Floats:
    """Return the standard error of the macro means, shape ``(S,)``.

    With ``over="queries"``, the collections are fixed: sqrt(sum_d s_d^2 / Q_d) / D. With
    ``over="collections"``, they are a sample: the standard deviation of their means / sqrt(D), but
    at least the error over queries, as collections that agree are no evidence beyond their queries.
    It is infinite if there are too few queries or collections to know the spread.

    >>> values = [np.array([[0.0, 1.0]]), np.array([[0.2, 0.8]])]
    >>> macro_error(values, "queries").round(4), macro_error(values, "collections").round(4)
    (array([0.2915]), array([0.2915]))
    """
    total = np.zeros(len(values[0]))
    for x in values:
        n_queries = x.shape[1]
        with np.errstate(invalid="ignore"):
            if n_queries > 1:
                deviation = x.std(axis=1, ddof=1)
            else:
                deviation = np.full(len(x), np.inf)
        total += settled(deviation, np.abs(x).max(axis=1)) ** 2 / n_queries
    of_queries = np.sqrt(total) / len(values)
    if over == "queries":
        return of_queries
    means = np.stack([x.mean(axis=1) for x in values])
    if len(means) < 2:
        return np.full(means.shape[1], np.inf)
    deviation = settled(means.std(axis=0, ddof=1), np.abs(means).max(axis=0))
    least = np.where(np.isinf(of_queries), 0.0, of_queries)
    return np.maximum(deviation / np.sqrt(len(means)), least)


def macro_bootstrap(
    values: Sequence[Floats], over: str, draws: Resampled = DEFAULT_DRAWS
) -> Resamples:
    """Resample the queries of each collection, and the collections if they are a sample.

    With ``over="queries"``, these collections are the benchmark. With ``over="collections"``, they
    are a sample of tasks; the standard error is that of the D drawn means, so a statistic divided
    by it accounts for the queries' noise once: in the observed means as well as in the resampled
    ones. The module ``draws`` says how they are drawn.

    >>> values = [np.array([[0.0, 1.0]]), np.array([[0.2, 0.8]])]
    >>> resamples = macro_bootstrap(values, "queries", Resampled(1000))
    >>> resamples.mean.shape, abs(float(resamples.mean.mean()) - 0.5) < 0.02
    ((1, 1000), True)
    """
    means = MacroMeans(values, over, draws.number)
    resample([means], draws)
    return means.resamples


class MacroMeans(Statistic):
    """Macro means and their standard errors in resamples; see `macro_bootstrap`.

    Attributes:
        resamples: the means and errors.
    """

    def __init__(self, values: Sequence[Floats], over: str, n_resamples: int) -> None:
        """Take the arguments of `macro_bootstrap`, with the number of resamples."""
        widest = (2 if over == "queries" else len(values)) * len(values[0])
        super().__init__(values, over, n_resamples=n_resamples, widest=widest)
        self._means = [x.mean(axis=1, keepdims=True) for x in values]
        self._centred = [x - mean for x, mean in zip(values, self._means, strict=True)]
        self._noise = SUM * np.max([np.abs(x).max(axis=1) for x in values], axis=0)
        self.resamples: Resamples = Resamples(
            *np.empty((2, len(values[0]), n_resamples))
        )

    def take(self, draws: Draws) -> None:
        """Compute means and errors of some resamples."""
        if self.over == "queries":
            mean, error = self._of_queries(draws)
        else:
            mean, error = self._of_means(draws)
        self.resamples.mean[:, draws.block] = mean
        self.resamples.error[:, draws.block] = error

    def _of_queries(self, draws: Draws) -> tuple[Floats, Floats]:
        """Return macro means and their errors by the variance within each collection."""
        mean, variance = np.zeros((2, len(self._noise), len(draws.drawn)))
        n_collections = len(self.sizes)
        for x, observed, one in zip(
            self._centred, self._means, draws.collections, strict=True
        ):
            n_queries = x.shape[1]
            first, second = np.split(
                product(np.concatenate([x, x**2]), one.count.T) / n_queries, 2
            )
            second -= first**2
            mean += first + observed
            largest = np.abs(x).max(axis=1, keepdims=True)
            variance += settled(second, largest**2) / max(1, n_queries - 1)
        return mean / n_collections, np.sqrt(variance) / n_collections

    def _of_means(self, draws: Draws) -> tuple[Floats, Floats]:
        """Return macro means and their errors by the variance between drawn collections."""
        n_collections, overall = len(self.sizes), np.mean(self._means, axis=0)
        means = draws.means(self._centred)
        effects = np.concatenate(self._means, axis=1) - overall
        for of_collection, drawn in zip(means, draws.drawn.T, strict=True):
            of_collection += effects[:, drawn]
        mean = means.mean(axis=0)
        means -= mean
        variance = np.einsum("dsb,dsb->sb", means, means) / n_collections
        variance[variance <= self._noise[:, None] ** 2] = 0
        return mean + overall, np.sqrt(variance / max(1, n_collections - 1))


def mean_interval(
    values: Floats,
    alpha: float = 0.05,
    draws: Resampled = DEFAULT_DRAWS,
    limits: Bounds = (-np.inf, np.inf),
    *,
    few_values: bool = False,
    is_binary: bool | None = None,
) -> Interval:
    """Return the interval of mean values over queries: low and high ends, shape ``(S,)`` each.

    This is the interval of a mean wherever one is printed. There is one method for all values
    of a measure in a call:

    - For measures that take few values, and if all values are 0 or 1, it is the t interval with the
      two ends of the range added as observations (`interval_with_ends`). In simulations, 95%
      intervals hold true means of 0.01 to 0.99 of values of 0 and 1 in at least 0.936, Wilson's in
      0.828 and the bootstrap's in 0.900.
    - For others, it is the studentised bootstrap. With skewed values (``tests/simulations``), its
      95% intervals hold the true mean in 94 to 96% from 10 queries on; percentile and BCa intervals
      in 86% with 10 and 92% with 50.
    - If that has no end for some run (all values are equal, or too many resamples have no spread),
      but the range has ends, it is the first one.

    Both ends are NaN for a single query, and if neither the bootstrap nor the range has ends. The
    interval is not cut at the range: cut it if the measure has bounds.

    Args:
        values: of S runs on Q queries, shape ``(S, Q)``.
        alpha: 1 - confidence.
        draws: resamples of queries.
        limits: the smallest and the largest value that is possible; infinite if not known.
        few_values: whether the measure takes few values, such as reciprocal ranks.
        is_binary: whether all values of the call are 0 or 1, if these are a part of them (those of
            a group or of a collection); by default, whether these are.

    >>> low, high = mean_interval(np.array([[0.1, 0.4, 0.2, 0.9, 0.5, 0.3], [0.4] * 6]))
    >>> low.round(2), high.round(2)
    (array([0.03,  nan]), array([0.77,  nan]))
    >>> low, high = mean_interval(np.array([[1.0] * 12]))
    >>> low.round(3), high.round(3)
    (array([0.774]), array([1.]))
    """
    if is_binary is None:
        is_binary = bool(np.isin(values, (0.0, 1.0)).all())
    if (is_binary or few_values) and not np.isfinite(limits).all():
        limits = (0.0, 1.0)
    has_ends = bool(np.isfinite(limits).all()) and values.shape[1] > 1
    takes_few_values = few_values or (is_binary and limits == (0.0, 1.0))
    if has_ends and takes_few_values:
        return interval_with_ends(values, limits, alpha)
    x, exponent = scaled(values)
    resamples = macro_bootstrap([x], "queries", draws)
    error = macro_error([x], "queries")
    low, high, _ = studentised_interval(x.mean(axis=1), error, resamples, alpha)
    low, high = np.ldexp([low, high], exponent[:, 0])
    if has_ends and np.isnan([low, high]).any():
        return interval_with_ends(values, limits, alpha)
    return low, high


def studentised_interval(
    mean: Floats,
    error: Floats,
    resamples: Resamples,
    alpha: float,
    least_error: float = 0.0,
) -> tuple[Floats, ...]:
    """Return symmetric bootstrap-t intervals of means, and the p-values that the means are 0.

    t = (mean of the resample - mean) / error of the resample. p = (1 + number of resamples with a t
    at least as far from 0 as mean / error) / (1 + B); the interval is mean -/+ q error, q the k-th
    largest absolute t, k = alpha (B + 1). So it leaves out 0 exactly if p is at most alpha. Its
    ends are NaN if they cannot be estimated: with too few resamples or queries, with so many
    resamples without any spread that q is infinite, or without any spread at all.

    Args:
        mean: the observed means, shape ``(S,)``, with their standard errors ``error``.
        error: infinite if too little is known of the spread.
        resamples: of the same means.
        alpha: 1 - confidence.
        least_error: share of the observed error that the error of a resample is at least. Without
            it, a difference that one query carries has an interval some thousand times as wide as
            its error, as a third of the resamples lack that query.

    Returns:
        Low and high ends, and p, shape ``(S,)`` each.
    """
    shifted = resamples.mean - mean[:, None]
    scale = np.abs(mean)[:, None] + np.abs(shifted).max(
        axis=1, initial=0.0, keepdims=True
    )
    shifted = settled(shifted, scale)
    with dividing_by_zero():
        errors = np.maximum(resamples.error, least_error * error[:, None])
        t = np.where(shifted == 0, 0.0, np.abs(shifted) / errors)
        observed = np.where(mean == 0, 0.0, np.abs(mean) / error)
    n_resamples = resamples.mean.shape[1]
    # The last bits must not separate equal ones.
    n_as_far = np.count_nonzero(t * (1 + SUM) >= observed[:, None], axis=1)
    p = np.where(np.isinf(error), 1.0, (1 + n_as_far) / (1 + n_resamples))
    with np.errstate(invalid="ignore"):
        half = kth_largest(t, most_extreme(n_resamples, alpha)) * error
    half[np.isinf(half) | (error == 0)] = np.nan
    # An end at 0 is 0, not a difference of the last bits.
    low, high = settled(np.stack([mean - half, mean + half]), 2 * np.abs(mean))
    return low, high, p


def rank_interval(resampled: Floats, alpha: float) -> tuple[Ints, Ints]:
    """Return the lowest and the highest rank that 1 - alpha of the resamples give to each run.

    Args:
        resampled: means of the resamples, shape ``(S, B)``.
        alpha: the share of resamples that may lie outside, half of it at either end.

    >>> low, high = rank_interval(np.array([[0.5, 0.6, 0.1], [0.4, 0.3, 0.2]]), 0.05)
    >>> low, high
    (array([1, 1]), array([2, 2]))
    """
    noise = SUM * np.abs(resampled).max(initial=0.0)
    n_runs = len(resampled)
    order = np.argsort(-resampled, axis=0, kind="stable")
    ordered = np.take_along_axis(resampled, order, axis=0)
    # Runs of equal means share their ranks.
    starts = np.ones(ordered.shape, dtype=bool)
    starts[1:] = ordered[:-1] - ordered[1:] > noise
    ends = np.roll(starts, -1, axis=0)
    index = np.arange(n_runs)[:, None]
    first, last = np.empty((2, *ordered.shape), dtype=np.int64)
    first_ordered = np.maximum.accumulate(np.where(starts, index, 0), axis=0)
    from_the_end = np.where(ends, index, n_runs)[::-1]
    last_ordered = np.minimum.accumulate(from_the_end, axis=0)[::-1]
    np.put_along_axis(first, order, 1 + first_ordered, axis=0)
    np.put_along_axis(last, order, 1 + last_ordered, axis=0)
    low = np.quantile(first, alpha / 2, axis=1, method="inverted_cdf")
    high = np.quantile(last, 1 - alpha / 2, axis=1, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64)


# -- a number per collection -----------------------------------------------------------------------


def ranks(means: Floats) -> Floats:
    """Return the ranks of S runs by their means, shape ``(S, ...)``, the highest first.

    Runs whose means differ by rounding only share the mean of their ranks.

    >>> ranks(np.array([0.2, 0.5, 0.2]))
    array([2.5, 1. , 2.5])
    """
    means = levelled(means.reshape(len(means), -1), SUM).reshape(means.shape)
    above = (means[None] > means[:, None]).sum(axis=1)
    same = (means[None] == means[:, None]).sum(axis=1)
    return 1 + above + (same - 1) / 2


@dataclass(frozen=True)
class RandomEffects:
    """Random-effects means of differences on collections, and how these vary, ``(P,)`` each.

    Attributes:
        effect: mean over all tasks like these.
        effect_low, effect_high: ends of its interval.
        p: that it is 0; at most alpha exactly if the interval leaves out 0.
        next_low, next_high: ends for the difference on one more collection like these.
        tau2: variance of the true differences between collections.
        i2: share of the observed variance between collections that is not chance, from 0 to 1.
    """

    effect: Floats
    effect_low: Floats
    effect_high: Floats
    p: Floats
    next_low: Floats
    next_high: Floats
    tau2: Floats
    i2: Floats


def random_effects(
    effect: Floats, variance: Floats, alpha: float = 0.05
) -> RandomEffects:
    """Combine differences on collections by random effects, with equal weights.

    Let y_d be the difference on one of D collections, v_d its sampling variance, v the mean of the
    v_d, s^2 the variance of the y_d (ddof 1), and V = max(s^2, v): even if collections agree by
    chance, the noise of their queries remains.

    - The mean is that of the y_d; its interval is by t with D - 1 degrees of freedom and the
      variance V / D. From 4 collections on, the ends t are those of Hall's transformation for the
      skewness g of the y_d (their third moment by the power 3/2 of the variance), ((1 + 3 a (t - a
      / 2))^(1/3) - 1) / a with a = g / (3 sqrt(D)).
    - tau^2 = V - v, and I2 = tau^2 / V.
    - The prediction interval of the difference on one more collection with as many queries is mean
      -/+ t_(D-1) sqrt(V (1 + 1 / D)); it holds the true difference there at least as often.

    Weights 1 / v_d would be biased if mean and variance go together: for measures that are mostly
    0, such intervals held 0.70 for 0.95 with 8 collections of 10 queries, these 0.95 to 0.97
    (without Hall's transformation 0.91 to 0.95; for normal differences 0.94 to 0.98, with 3
    collections 0.99). With 4 or 5 collections that differ much, Hall's hold 0.90 to 0.95 of such
    measures, the usual ones 0.85 to 0.90; of normal differences, both 0.94 to 0.97.

    Args:
        effect: y, mean difference of P pairs on D collections, shape ``(P, D)``.
        variance: the sampling variance of each. A pair with an unknown one, or without any spread,
            has NaN.
        alpha: 1 - confidence.

    Sources: Hedges, A Random Effects Model for Effect Sizes, Psychological Bulletin 1983, doi
    10.1037/0033-2909.93.2.388; Higgins, Thompson, Spiegelhalter, A Re-evaluation of Random-Effects
    Meta-Analysis, Journal of the Royal Statistical Society A 2009, doi
    10.1111/j.1467-985X.2008.00552.x; Hall, On the Removal of Skewness by Transformation, Journal of
    the Royal Statistical Society B 1992, doi 10.1111/j.2517-6161.1992.tb01876.x.

    >>> result = random_effects(np.array([[0.05, 0.02, 0.08]]), np.full((1, 3), 0.0004))
    >>> result.effect.round(3), result.effect_low.round(3), result.effect_high.round(3)
    (array([0.05]), array([-0.025]), array([0.125]))
    >>> result.next_low.round(3)
    array([-0.099])
    """
    n_collections = effect.shape[1]
    numbers = np.full((8, len(effect)), np.nan)
    chance = variance.mean(axis=1)
    is_known = np.isfinite(chance) & (n_collections > 1)
    if not is_known.any():
        return RandomEffects(*numbers)
    y, chance = effect[is_known], chance[is_known]
    mean = y.mean(axis=1)
    total = np.maximum(
        chance, settled(y.var(axis=1, ddof=1), np.abs(y).max(axis=1) ** 2)
    )
    total[total == 0] = np.nan
    tau2 = total - chance
    t = -special.stdtrit(n_collections - 1, alpha / 2)
    error = np.sqrt(total / n_collections)
    low_t, high_t = _ends_by_hall(y, total, t)
    is_unknown = np.isnan(total) & (mean != 0)
    p = np.where(is_unknown, np.nan, p_over_collections(y, total))
    low, high = mean - low_t * error, mean - high_t * error
    half = t * np.sqrt(total * (1 + 1 / n_collections))
    numbers[:, is_known] = [
        mean,
        low,
        high,
        p,
        mean - half,
        mean + half,
        tau2,
        tau2 / total,
    ]
    return RandomEffects(*numbers)


def p_over_collections(effect: Floats, variance: Floats) -> Floats:
    """Return the two-sided p that mean differences over collections are 0, shape ``(P,)``.

    It is that of `random_effects`. Without any variance, only the signs of the collections tell.

    Args:
        effect: differences of P pairs on D collections, shape ``(P, D)``.
        variance: between collections, at least that by chance, shape ``(P,)``.

    >>> p_over_collections(np.array([[0.05, 0.02, 0.08]]), np.array([0.0009])).round(3)
    array([0.102])
    """
    n_collections = effect.shape[1]
    t = _t_by_hall(effect, variance)
    p = 2 * special.stdtr(n_collections - 1, -np.abs(t))
    p = np.where(variance > 0, p, min(1.0, 2.0 ** (1 - n_collections)))
    return np.where(effect.mean(axis=1) == 0, 1.0, p)


def _ends_by_hall(y: Floats, total: Floats, t: float) -> tuple[Floats, Floats]:
    """Return t and -t by Hall's transformation for skewness; arguments as in `_skewness`."""
    a = _skewness(y, total)
    with dividing_by_zero():
        low, high = (
            np.where(a != 0, (np.cbrt(1 + 3 * a * (end - a / 2)) - 1) / a, end)
            for end in (t, -t)
        )
    return low, high


def _t_by_hall(y: Floats, total: Floats) -> Floats:
    """Return t of the means by Hall's transformation; arguments as in `_skewness`."""
    a = _skewness(y, total)
    with dividing_by_zero():
        usual = y.mean(axis=1) / np.sqrt(total / y.shape[1])
        return np.where(a != 0, ((1 + a * usual) ** 3 - 1) / (3 * a) + a / 2, usual)


def _skewness(y: Floats, total: Floats) -> Floats:
    """Return the skewness of mean differences, for Hall's transformation, shape ``(P,)``.

    It is 0 up to 3 collections, and for differences that are not skewed: t is then the usual one.

    Args:
        y: differences of P pairs on D collections, shape ``(P, D)``.
        total: their variance, which is at least that by chance: rounding errors are not skewed.
    """
    n_collections = y.shape[1]
    z = y - y.mean(axis=1)[:, None]
    with dividing_by_zero():
        spread = (total * (n_collections - 1) / n_collections) ** 1.5
        a = (z**3).mean(axis=1) / spread / (3 * np.sqrt(n_collections))
    is_skewed = (np.abs(a) > SUM) & (n_collections > MOST_FOR_T)
    return np.where(is_skewed, a, 0.0)


def macro_interval(
    values: Sequence[Floats], resamples: Resamples, over: str, alpha: float
) -> tuple[Floats, Floats, Floats]:
    """Return the interval of macro means, and p that they are 0.

    Over queries it is that of the resamples, whose errors are at least a share of the observed
    ones, and goes no further than the largest values of the collections. Over collections it is
    that of random effects, by t: with 3 to 5 collections a bootstrap rejects in 0.007 of samples
    for 0.05.

    Args:
        values: of S runs or pairs on the queries of D collections, shape ``(S, Q_d)`` each.
        resamples: their macro means in resamples.
        over: ``"queries"`` or ``"collections"``.
        alpha: 1 - confidence.
    """
    if over == "collections":
        return interval_over_collections(*collection_means(values), alpha)
    mean, error = macro_means(values), macro_error(values, over)
    sizes = [x.shape[1] for x in values]
    share = 0.0
    if sum(sizes) >= _ENOUGH_QUERIES:
        share = LEAST_ERROR
    low, high, p = studentised_interval(mean, error, resamples, alpha, share)
    if min(sizes) >= _MANY_QUERIES:
        most = np.mean([np.abs(x).max(axis=1) for x in values], axis=0)
        low, high = np.maximum(low, -most), np.minimum(high, most)
    return low, high, p


def interval_over_collections(
    means: Floats, variance: Floats, alpha: float
) -> tuple[Floats, Floats, Floats]:
    """Return the interval of means over collections by random effects, and p that they are 0.

    Args:
        means: of S runs or pairs on D collections, shape ``(S, D)``.
        variance: the sampling variance of each.
        alpha: 1 - confidence.
    """
    # One query tells nothing of its noise; the spread of the collections does.
    combined = random_effects(means, np.where(np.isinf(variance), 0.0, variance), alpha)
    # Without any spread, only the signs of the collections tell.
    p_of_signs = p_over_collections(means, np.zeros(len(means)))
    p = np.where(np.isnan(combined.p), p_of_signs, combined.p)
    return combined.effect_low, combined.effect_high, p


def collection_means(values: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Return the mean on each collection and its sampling variance, shape ``(P, D)`` each."""
    means = means_on_collections(values)
    errors = np.stack([macro_error([x], "queries") for x in values], axis=1)
    return means, errors**2


def means_on_collections(values: Sequence[Floats]) -> Floats:
    """Return the mean of each row on each collection, shape ``(P, D)``."""
    return np.stack([x.mean(axis=1) for x in values], axis=1)


def friedman(means: Floats) -> tuple[float, float]:
    """Test by Friedman's test of SciPy that all runs rank alike over collections.

    Args:
        means: of S runs on D collections, shape ``(D, S)``.

    Returns:
        Chi-squared (corrected for ties) and p; NaN with fewer than 3 runs or 2 collections, and if
        all runs tie.

    >>> chi2, p = friedman(np.array([[0.3, 0.2, 0.1], [0.5, 0.4, 0.2], [0.6, 0.3, 0.1]]))
    >>> round(chi2, 3), round(p, 3)
    (6.0, 0.05)
    """
    collections, runs = means.shape
    if runs < 3 or collections < 2 or (means == means[:, :1]).all():
        return np.nan, np.nan
    result = stats.friedmanchisquare(*means.T)
    return float(result.statistic), float(result.pvalue)


def nemenyi(means: Floats, alpha: float = 0.05) -> tuple[float, Floats]:
    """Return Nemenyi's critical difference of mean ranks over collections, and p of each pair.

    It is CD = q sqrt(S (S + 1) / (6 D)), q the quantile of the studentised range of S normal
    variables / sqrt(2).

    Args:
        means: of S runs on D collections, shape ``(D, S)``.
        alpha: family-wise level.

    Returns:
        CD, and p, shape ``(S, S)``.

    Source: Demsar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006.

    >>> difference, p = nemenyi(np.array([[0.3, 0.2, 0.1], [0.5, 0.4, 0.2], [0.6, 0.3, 0.1]]))
    >>> round(difference, 3), p[0].round(3)
    (1.914, array([1.   , 0.438, 0.038]))
    """
    collections, runs = means.shape
    if runs < 2:
        return np.nan, np.ones((runs, runs))
    mean_rank = ranks(means.T).mean(axis=1)
    error = np.sqrt(runs * (runs + 1) / (6 * collections))
    distance = np.abs(mean_rank[:, None] - mean_rank) / error * np.sqrt(2)
    p = np.clip(stats.studentized_range.sf(distance, runs, np.inf), 0.0, 1.0)
    np.fill_diagonal(p, 1.0)
    return float(
        stats.studentized_range.ppf(1 - alpha, runs, np.inf) / np.sqrt(2) * error
    ), p


def wilcoxon_of_pairs(means: Floats) -> Floats:
    """Return p of Wilcoxon's signed-rank test over collections of each pair of runs, ``(S, S)``.

    They are corrected by Holm over all pairs. Unlike Nemenyi's, before the correction the p of a
    pair depends on no other run. With D collections no p is below 2^(1-D).

    Args:
        means: shape ``(D, S)``.

    Source: Benavoli, Corani, Mangili, Should We Really Use Post-Hoc Tests Based on Mean-Ranks?,
    JMLR 2016.

    >>> means = np.array([[0.3, 0.2], [0.5, 0.4], [0.6, 0.3], [0.4, 0.1], [0.7, 0.6], [0.5, 0.2]])
    >>> wilcoxon_of_pairs(means)[0].tolist()
    [1.0, 0.03125]
    """
    i, j = np.triu_indices(means.shape[1], 1)
    p = wilcoxon((means[:, i] - means[:, j]).T, None).p
    by_holm, _ = corrected(p, "holm", 0.05)  # whatever the level
    adjusted = np.ones((means.shape[1], means.shape[1]))
    adjusted[i, j] = adjusted[j, i] = by_holm
    return adjusted


def partial_conjunction(p: Floats, combination: str = "fisher") -> Floats:
    """Return p-values of "better on at least u of the D collections", u = 1 ... D.

    If the run is better on fewer than u collections, it is not better on at least D - u + 1. That
    is tested by the largest D - u + 1 of the p, p_(u) <= ... <= p_(D), together; p_u is made to
    rise with u.

    - Fisher's combination, -2 sum of log p by chi-squared with 2 (D - u + 1) degrees of freedom,
      needs collections that are independent of each other. Of 8 collections with an effect of 0.2
      standard deviations on 50 queries it shows 3.2, Bonferroni's 1.0. Its level is 0.04 for 0.05
      if differences are symmetric. With real runs on 25 queries, it is 0.05 (TREC 2003 Robust) to
      0.18 (CLEF eHealth 2016, where a run gains much on few queries), Simes' 0.07 to 0.16.
    - Simes' combination, the smallest (D - u + 1) p_(u - 1 + i) / i, tolerates dependence such as
      that of collections with the same topics (0.049, while Fisher's reaches 0.11 to 0.16).

    Args:
        p: one-sided p of R runs on D collections, shape ``(R, D)``; NaN (not tested) counts as 1.
        combination: ``"fisher"`` or ``"simes"``.

    Returns:
        p_1 ... p_D of each run, shape ``(R, D)``.

    Sources: Benjamini, Heller, Screening for Partial Conjunction Hypotheses, Biometrics 2008, doi
    10.1111/j.1541-0420.2007.00984.x; Dror, Baumer, Bogomolov, Reichart, Replicability Analysis for
    Natural Language Processing, TACL 2017, doi 10.1162/tacl_a_00074.

    >>> p = np.array([[0.01, 0.004, 0.3, 0.02]])
    >>> partial_conjunction(p).round(3), partial_conjunction(p, "simes").round(3)
    (array([[0.   , 0.003, 0.037, 0.3  ]]), array([[0.016, 0.03 , 0.04 , 0.3  ]]))
    """
    p = np.sort(np.where(np.isnan(p), 1.0, p), axis=1)
    n_collections = p.shape[1]
    combined = np.ones(p.shape)
    for u in range(n_collections):
        largest, number = p[:, u:], n_collections - u
        if combination == "fisher":
            with np.errstate(divide="ignore"):
                statistic = -2 * np.log(largest).sum(axis=1)
            combined[:, u] = special.chdtrc(2 * number, statistic)
        else:
            combined[:, u] = (largest * number / np.arange(1, number + 1)).min(axis=1)
    return np.minimum(np.maximum.accumulate(combined, axis=1), 1.0)


def corrected_over_runs(p: Floats, method: str | None, alpha: float) -> Floats:
    """Correct p of "better on at least u of the D collections" over R runs.

    With Holm's method, a false statement on any run and u has a probability of at most alpha: the p
    of all u are multiplied by the number of runs that are not yet shown to be better on all D
    collections. Holm's correction of each u by itself would say something false of 2 to 4 runs in
    0.08 to 0.10 of samples for 0.05, as the u that are false differ from run to run.

    Args:
        p: as from `partial_conjunction`, shape ``(R, D)``.
        method: the correction; others than ``"holm"`` correct each u by itself.
        alpha: level of the family.

    >>> corrected_over_runs(np.array([[0.03, 0.8], [0.001, 0.03]]), "holm", 0.05)
    array([[0.06 , 0.8  ],
           [0.002, 0.06 ]])
    >>> corrected_over_runs(np.array([[0.03, 0.8], [0.001, 0.02]]), "holm", 0.05)
    array([[0.04 , 0.8  ],
           [0.002, 0.04 ]])
    """
    if method != "holm" or len(p) == 0:
        return np.stack([corrected(of_u, method, alpha)[0] for of_u in p.T], axis=1)
    n_runs = len(p)
    on_all, _ = corrected(p[:, -1], method, alpha)
    # The level from which on 0, 1, ... runs are shown to be better on all collections.
    levels = np.append(0.0, np.sort(on_all))[:n_runs, None, None]
    n_left = np.arange(n_runs, 0, -1)[:, None, None]
    return np.minimum(np.maximum(levels, n_left * p).min(axis=0), 1.0)
