"""Tests and meta-analysis over collections, of a number per collection, and ranks, as functions of arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import special, stats
from ir_lexirecall._util.rounding import SUM, levelled
from ir_lexirecall.significance.outcomes import corrected
from ir_lexirecall.significance.signed_rank import wilcoxon

_STEPS = 200  # at most, each at least as good as the last


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
    tau2: Floats  # variance of the true differences between collections
    i2: Floats  # share of the observed variance between collections that is not chance, from 0 to 1
    p_heterogeneity: Floats  # of Welch's test that the true differences are all alike


def random_effects(effect: Floats, variance: Floats, queries: Ints, alpha: float = 0.05) -> RandomEffects:
    """Random-effects meta-analysis: Paule and Mandel's tau2, intervals of Hartung and Knapp that are never narrower.

    With weights w_d = 1 / (v_d + tau2), the mean is sum w_d y_d / sum w_d, and its variance max(1, q) / sum w_d with
    q = sum w_d (y_d - mean)^2 / (D - 1): where collections agree by chance, the noise of their queries remains. tau2 is 0, or
    such that q = 1. The interval is a t interval with D - 1 degrees of freedom; in simulations, 95% intervals cover in 95 to
    100% (2 collections: nearly 100%, and wide: t is 12.7; 8 collections: 95%).

    I2 = max(0, 1 - (D - 1) / Q), Q Cochran's. Heterogeneity is tested by Welch's analysis of variance, which is Q that knows
    that variances are estimated: with fixed weights w_d = 1 / v_d, W = sum w_d, and
    lambda = sum_d (1 - w_d / W)^2 / (Q_d - 1), F = Q / (D - 1) / (1 + 2 (D - 2) lambda / (D^2 - 1)) has D - 1 and
    (D^2 - 1) / (3 lambda) degrees of freedom. By Q's own chi-squared distribution, one in ten sets of collections with 10
    queries would be called heterogeneous at 0.05.

    Args:
        effect: y, mean difference of P pairs on D collections, shape ``(P, D)``.
        variance: v, the sampling variance of each. A pair with a variance of 0 or unknown is left out: NaN.
        queries: Q_d, the number of queries of each collection, shape ``(D,)``.
        alpha: 1 - confidence.

    Sources: Paule, Mandel, Consensus Values and Weighting Factors, Journal of Research of the NBS 1982,
    doi 10.6028/jres.087.022; Hartung, Knapp, Statistics in Medicine 2001, doi 10.1002/sim.791; Welch, On the Comparison of
    Several Mean Values: an Alternative Approach, Biometrika 1951, doi 10.1093/biomet/38.3-4.330.

    >>> result = random_effects(np.array([[0.05, 0.02, 0.08]]), np.full((1, 3), 0.0004), np.array([50, 50, 50]))
    >>> result.mean.round(3), result.low.round(3), result.high.round(3)
    (array([0.05]), array([-0.025]), array([0.125]))
    """
    collections = effect.shape[1]
    numbers = np.full((6, len(effect)), np.nan)
    known = (variance > 0).all(axis=1) & np.isfinite(variance).all(axis=1) & (collections > 1)
    y, v = effect[known], variance[known]
    if not len(y):
        return RandomEffects(*numbers)
    tau2 = _paule_mandel(y, v)
    mean, q, weights = _weighted(y, v, tau2)
    half = -special.stdtrit(collections - 1, alpha / 2) * np.sqrt(np.maximum(1, q) / weights.sum(axis=1))
    _, q, weights = _weighted(y, v, np.zeros(len(y)))
    with np.errstate(divide="ignore"):
        i2 = np.maximum(0.0, 1 - 1 / q)
    spread = ((1 - weights / weights.sum(axis=1, keepdims=True)) ** 2 / (queries - 1)).sum(axis=1)
    ratio = q / (1 + 2 * (collections - 2) * spread / (collections**2 - 1))
    p = stats.f.sf(ratio, collections - 1, (collections**2 - 1) / (3 * spread))
    numbers[:, known] = [mean, mean - half, mean + half, tau2, i2, p]
    return RandomEffects(*numbers)


def _weighted(y: Floats, v: Floats, tau2: Floats) -> tuple[Floats, Floats, Floats]:
    """Weighted means, q = sum w (y - mean)^2 / (D - 1), and the weights w."""
    weights = 1 / (v + tau2[:, None])
    mean = (weights * y).sum(axis=1) / weights.sum(axis=1)
    return mean, (weights * (y - mean[:, None]) ** 2).sum(axis=1) / (y.shape[1] - 1), weights


def _paule_mandel(y: Floats, v: Floats) -> Floats:
    """tau2 with q = 1, or 0: q falls and is convex in tau2, so Newton's steps from 0 never pass it."""
    tau2 = np.zeros(len(y))
    for _ in range(_STEPS):
        mean, q, weights = _weighted(y, v, tau2)
        slope = (weights**2 * (y - mean[:, None]) ** 2).sum(axis=1) / (y.shape[1] - 1)
        step = np.divide(q - 1, slope, out=np.zeros(len(y)), where=(q > 1) & (slope > 0))
        tau2 += step
        if (step <= SUM / 100 * tau2).all():
            break
    return tau2


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
