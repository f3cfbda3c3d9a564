"""Tests and meta-analysis over collections, of a number per collection, and ranks, as functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, row_blocks
from ir_lexirecall._util.lazy import special, stats
from ir_lexirecall._util.rounding import DIFFERENCE, SUM, levelled, settled
from ir_lexirecall.significance.outcomes import corrected
from ir_lexirecall.significance.signed_rank import wilcoxon


def ranks(means: Floats) -> Floats:
    """Ranks of S runs by ``means`` of shape ``(S, ...)``, the highest first.

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
    """Random-effects means of per-collection differences, and how much these differ beyond chance; shape ``(P,)`` each."""

    mean: Floats  # over all tasks like these, and its interval
    low: Floats
    high: Floats
    next_low: Floats  # of the difference on one more collection like these
    next_high: Floats
    tau2: Floats  # variance of the true differences between collections
    i2: Floats  # share of the observed variance between collections that is not chance, from 0 to 1


def random_effects(effect: Floats, variance: Floats, alpha: float = 0.05) -> RandomEffects:
    """Random-effects meta-analysis in which all collections weigh the same.

    With y_d the difference on one of D collections, v_d its sampling variance, and s^2 the variance of the y_d (ddof 1): the mean is
    that of the y_d, its interval by t with D - 1 degrees of freedom and a variance of max(s^2, mean of v_d) / D (where collections
    agree by chance, the noise of their queries remains). From 4 collections on, the ends t are those of Hall's transformation for the
    skewness g of the y_d (their third moment by the power 3/2 of that variance), ((1 + 3 a (t - a / 2))^(1/3) - 1) / a with a = g / (3 sqrt(D)). tau^2 = max(0, s^2 - mean of v_d), I2 = tau^2 / (tau^2 + mean of v_d). The
    prediction interval of the difference on one more collection with as many queries is
    mean -/+ t_(D-1) sqrt(max(s^2, mean of v_d) (1 + 1 / D)); it holds the true difference there at least as often.

    Weights 1 / v_d would be biased where mean and variance go together: of measures that are mostly 0, such intervals held .70 for
    .95 with 8 collections of 10 queries, these .95 to .97 (without Hall's transformation .91 to .95; .94 to .98 of normal differences, 3
    collections .99).

    Args:
        effect: y, mean difference of P pairs on D collections, shape ``(P, D)``.
        variance: v, the sampling variance of each. A pair with an unknown one, or without any spread, is left out: NaN.
        alpha: 1 - confidence.

    Sources: Hedges, A Random Effects Model for Effect Sizes, Psychological Bulletin 1983, doi 10.1037/0033-2909.93.2.388; Higgins,
    Thompson, Spiegelhalter, A Re-evaluation of Random-Effects Meta-Analysis, Journal of the Royal Statistical Society A 2009,
    doi 10.1111/j.1467-985X.2008.00552.x; Hall, On the Removal of Skewness by Transformation, Journal of the Royal Statistical Society B
    1992, doi 10.1111/j.2517-6161.1992.tb01876.x.

    >>> result = random_effects(np.array([[0.05, 0.02, 0.08]]), np.full((1, 3), 0.0004))
    >>> result.mean.round(3), result.low.round(3), result.high.round(3), result.next_low.round(3)
    (array([0.05]), array([-0.025]), array([0.125]), array([-0.099]))
    """
    collections = effect.shape[1]
    numbers = np.full((7, len(effect)), np.nan)
    chance = variance.mean(axis=1)
    known = np.isfinite(chance) & (collections > 1)
    if not known.any():
        return RandomEffects(*numbers)
    y, chance = effect[known], chance[known]
    mean = y.mean(axis=1)
    total = np.maximum(chance, settled(y.var(axis=1, ddof=1), np.abs(y).max(axis=1) ** 2))
    total[total == 0] = np.nan
    tau2 = total - chance
    t = -special.stdtrit(collections - 1, alpha / 2)
    error, further = np.sqrt(total / collections), t * np.sqrt(total * (1 + 1 / collections))
    z = y - mean[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (
            total * (collections - 1) / collections
        ) ** 1.5  # at least chance: differences by rounding are not skewed
        a = (z**3).mean(axis=1) / spread / (3 * np.sqrt(collections))
        skewed = (np.abs(a) > SUM) & (collections > 3)
        ends = [np.where(skewed, (np.cbrt(1 + 3 * a * (c - a / 2)) - 1) / a, c) for c in (t, -t)]
    numbers[:, known] = [
        mean,
        mean - ends[0] * error,
        mean - ends[1] * error,
        mean - further,
        mean + further,
        tau2,
        tau2 / total,
    ]
    return RandomEffects(*numbers)


PERMUTATIONS = 999  # of queries among parts
_WORK = 2**27  # numbers that all of them may take; fewer are drawn of more, but at least 199
_BLOCK = 2**22


def heterogeneity(parts: Sequence[Floats], seed: int = 0) -> tuple[Floats, Floats]:
    """Welch's test that mean differences are the same in D parts (collections, groups of queries): F and p, shape ``(P,)`` each.

    With w_d = Q_d / s_d^2, W their sum, m the mean of the means y_d weighted by them, and lambda = sum_d (1 - w_d / W)^2 / (Q_d - 1),
    F = sum_d w_d (y_d - m)^2 / (D - 1) / (1 + 2 (D - 2) lambda / (D^2 - 1)). p is the larger one of that of the F distribution with
    D - 1 and (D^2 - 1) / (3 lambda) degrees of freedom, and of the share of permutations of all queries among the parts (the observed
    order among them) with an F as large. The first alone rejects in .15 to .44 of samples for .05 where differences are skewed and
    parts of unequal size, the second alone where variances differ; both together in .03 to .07 where differences have one
    shape, and in .07 to .12 where parts of few queries have skewed ones of a larger variance.

    Args:
        parts: differences of P pairs on the Q_d queries of each part, shape ``(P, Q_d)``. NaN where a part has fewer than two queries,
            or no spread.
        seed: of the permutations, the same for all pairs.

    Sources: Welch, On the Comparison of Several Mean Values: an Alternative Approach, Biometrika 1951, doi 10.1093/biomet/38.3-4.330;
    Chung, Romano, Exact and Asymptotically Robust Permutation Tests, Annals of Statistics 2013, doi 10.1214/13-AOS1090.

    >>> rng = np.random.default_rng(0)
    >>> x = [rng.normal([[0.0], [0.0]], 1, (2, 30)), rng.normal([[0.0], [1.0]], 1, (2, 20))]
    >>> heterogeneity(x)[1].round(3)
    array([0.239, 0.028])
    """
    sizes = np.array([x.shape[1] for x in parts])
    everything = np.concatenate(parts, axis=1)
    found, p = np.full((2, len(everything)), np.nan)
    known = np.array([~np.all(x == x[:, :1], axis=1) for x in parts]).all(axis=0)
    if len(parts) < 2 or sizes.min() < 2 or not known.any():
        return found, p
    x = everything[known] - everything[known].mean(axis=1, keepdims=True)
    x /= np.abs(x).max(axis=1, keepdims=True)
    starts = np.r_[0, np.cumsum(sizes)[:-1]]
    f, spread = _welch(x[:, None], starts, sizes)
    by_f = stats.f.sf(f[:, 0], len(sizes) - 1, (len(sizes) ** 2 - 1) / (3 * spread[:, 0]))
    number = int(np.clip(_WORK // x.size, 199, PERMUTATIONS))
    rng, count = np.random.default_rng(seed), np.ones(len(x))
    for some in row_blocks(number, x.size, _BLOCK):
        order = rng.permuted(np.tile(np.arange(x.shape[1]), (some.stop - some.start, 1)), axis=1)
        count += np.count_nonzero(_welch(x[:, order], starts, sizes)[0] >= f * (1 - DIFFERENCE), axis=1)
    found[known], p[known] = f[:, 0], np.maximum(by_f, count / (1 + number))
    return found, p


def _welch(x: Floats, starts: Ints, sizes: Ints) -> tuple[Floats, Floats]:
    """F and lambda over the last axis, in which parts follow each other."""
    d = len(sizes)
    mean = np.add.reduceat(x, starts, axis=-1) / sizes
    variance = np.add.reduceat(x**2, starts, axis=-1) / sizes - mean**2
    w = (sizes - 1) / np.maximum(variance, SUM)
    share = w / w.sum(axis=-1, keepdims=True)
    q = (w * (mean - (share * mean).sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    spread = ((1 - share) ** 2 / (sizes - 1)).sum(axis=-1)
    return q / (d - 1) / (1 + 2 * (d - 2) * spread / (d**2 - 1)), spread


def friedman(means: Floats) -> tuple[float, float]:
    """Friedman's test that all runs rank alike over collections: chi-squared (corrected for ties) and p, by SciPy.

    Args:
        means: shape ``(D, S)``. With fewer than 3 runs or 2 collections, and where all tie, NaN.

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
    """Nemenyi's critical difference of mean ranks over collections, and p of each pair, shape ``(S, S)``.

    CD = q sqrt(S (S + 1) / (6 D)), q the quantile of the studentised range of S normal variables / sqrt(2).

    Args:
        means: shape ``(D, S)``.
        alpha: family-wise level.

    Source: Demsar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 2006.

    >>> difference, p = nemenyi(np.array([[0.3, 0.2, 0.1], [0.5, 0.4, 0.2], [0.6, 0.3, 0.1]]))
    >>> round(difference, 3), p[0].round(3)
    (1.914, array([1.   , 0.438, 0.038]))
    """
    collections, runs = means.shape
    if runs < 2:
        return np.nan, np.ones((runs, runs))
    mean_rank = np.stack([ranks(row) for row in means]).mean(axis=0)
    error = np.sqrt(runs * (runs + 1) / (6 * collections))
    distance = np.abs(mean_rank[:, None] - mean_rank) / error * np.sqrt(2)
    p = np.clip(stats.studentized_range.sf(distance, runs, np.inf), 0.0, 1.0)
    np.fill_diagonal(p, 1.0)
    return float(stats.studentized_range.ppf(1 - alpha, runs, np.inf) / np.sqrt(2) * error), p


def wilcoxon_of_pairs(means: Floats, alpha: float = 0.05) -> tuple[Floats, Floats]:
    """Wilcoxon's signed-rank test of each pair of runs over collections: p, and p by Holm over all pairs, ``(S, S)`` each.

    Beside Nemenyi's: its p of a pair depends on no other run. With D collections no p is below 2^(1-D).

    Args:
        means: shape ``(D, S)``.
        alpha: family-wise level.

    Source: Benavoli, Corani, Mangili, Should We Really Use Post-Hoc Tests Based on Mean-Ranks?, JMLR 2016.

    >>> means = np.array([[0.3, 0.2], [0.5, 0.4], [0.6, 0.3], [0.4, 0.1], [0.7, 0.6], [0.5, 0.2]])
    >>> [p[0].tolist() for p in wilcoxon_of_pairs(means)]
    [[1.0, 0.03125], [1.0, 0.03125]]
    """
    runs = means.shape[1]
    i, j = np.triu_indices(runs, 1)
    p = wilcoxon((means[:, i] - means[:, j]).T, None).p
    both = np.ones((2, runs, runs))
    for matrix, numbers in zip(both, (p, corrected(p, "holm", alpha)[0]), strict=True):
        matrix[i, j] = matrix[j, i] = numbers
    return both[0], both[1]


def partial_conjunction(p: Floats) -> Floats:
    """p-values of "better on at least u of the D collections", u = 1 ... D, shape ``(R, D)``.

    p_u = max over v <= u of (D - v + 1) p_(v), p_(1) <= ... <= p_(D) the sorted p of the collections, which are independent or
    not (Bonferroni); at most 1.

    Args:
        p: one-sided p of R runs on D collections; NaN (not tested there) counts as 1, shape ``(R, D)``.

    Sources: Benjamini, Heller, Screening for Partial Conjunction Hypotheses, Biometrics 2008,
    doi 10.1111/j.1541-0420.2007.00984.x; Dror, Baumer, Bogomolov, Reichart, Replicability Analysis for Natural Language
    Processing, TACL 2017, doi 10.1162/tacl_a_00074.

    >>> partial_conjunction(np.array([[0.01, 0.004, 0.3, 0.02]])).round(3)
    array([[0.016, 0.03 , 0.04 , 0.3  ]])
    """
    p = np.sort(np.where(np.isnan(p), 1.0, p), axis=1)
    return np.minimum(np.maximum.accumulate(p * np.arange(p.shape[1], 0, -1), axis=1), 1.0)


def better_on_at_least(p_u: Floats, alpha: float = 0.05) -> Ints:
    """On how many collections a run is better, with confidence 1 - alpha: the largest u with p_u <= alpha, shape ``(R,)``.

    As p_u rises with u, no further correction is needed for one run: with a probability of at least 1 - alpha the run is
    better on at least that many.

    Args:
        p_u: of ``partial_conjunction``, shape ``(R, D)``; corrected over runs where several are spoken of.

    >>> better_on_at_least(np.array([[0.016, 0.03, 0.04, 0.3], [0.2, 0.2, 0.6, 1.0]]))
    array([3, 0])
    """
    return np.count_nonzero(p_u <= alpha, axis=1)
