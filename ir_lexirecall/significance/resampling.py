"""Tests by resampling: the paired bootstrap, randomisation of signs, and randomised Tukey HSD.

The observed sample counts as one of the resamples: p = (1 + count) / (1 + n_resamples) is never 0, and under no difference
at most alpha with a probability of at most alpha where signs or systems are exchangeable (Phipson, Smyth, Permutation
P-values Should Never Be Zero, 2010, doi 10.2202/1544-6115.1585).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ir_lexirecall.arrays import Floats
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.significance.intervals import (
    RELATIVE,
    TestResult,
    effect_of_mean,
    mean_and_deviation,
    most_extreme,
    scaled,
)

EXACT = 12  # queries up to which all assignments of signs are enumerated

_BLOCK = 2**22  # numbers that a block of resamples may hold
_NOISE = 1e-13  # rounding of a sum, relative to its terms


def bootstrap(
    x: Floats, alpha: float = 0.05, *, n_resamples: int, seed: int, progress: bool | None = False
) -> TestResult:
    """Paired bootstrap test of the mean difference on studentised means, and the interval of the same resamples.

    t = mean / standard error. A resample of the queries, from the differences shifted to mean 0, is as extreme as the
    sample if its t is at least as far from 0 (infinitely far where its differences are all equal, but not 0). The interval
    is mean -/+ q x standard error, q the k-th largest absolute t of the resamples with k = alpha (n_resamples + 1).

    One query says nothing of the spread: p is 1, and the interval has no ends.

    Args:
        x: differences of P pairs on Q queries, shape ``(P, Q)``.
        alpha: 1 - confidence of the interval.
        n_resamples, seed: resamples, the same for all pairs.
        progress: as in ``progress_bar``.

    Source: Sakai, Evaluating Evaluation Metrics based on the Bootstrap, SIGIR 2006, doi 10.1145/1148170.1148261.

    >>> result = bootstrap(np.array([[0.1, 0.3, 0.2, 0.0, 0.2, 0.1]]), n_resamples=999, seed=0)
    >>> bool(result.p[0] < 0.05), bool(0 < result.low[0] < 0.15 < result.high[0])
    (True, True)
    """
    queries = x.shape[1]
    mean, deviation = mean_and_deviation(x)
    p, half = np.ones(len(x)), np.full(len(x), np.inf)
    k = most_extreme(n_resamples, alpha)
    for pairs in _pair_blocks(len(x), n_resamples) if queries > 1 else ():
        z, _ = scaled(x[pairs] - mean[pairs, None])
        error = deviation[pairs] / np.sqrt(queries)
        # A mean that is 0 but for rounding is 0.
        far = np.abs(mean[pairs]) > _NOISE * np.abs(x[pairs]).mean(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = np.where(far, np.abs(mean[pairs]) / error, 0.0)
        t = _bootstrap_t(z, n_resamples, seed, progress)
        # Wins and losses repeat the same few sums: equal ones must not be told apart by their last bits, of the t or of
        # the terms of a mean that nearly cancel.
        with np.errstate(divide="ignore", invalid="ignore"):
            noise = np.where(far, _NOISE * np.abs(x[pairs]).max(axis=1) / error, 0.0)
            least = np.where(np.isinf(observed), np.inf, (1 - RELATIVE) * observed - noise)
        p[pairs] = (1 + np.count_nonzero(t >= least[:, None], axis=1)) / (1 + n_resamples)
        if k:
            half[pairs] = _kth_largest(t, k) * error
    return TestResult(mean, mean - half, mean + half, p, effect_of_mean(x))


def _bootstrap_t(z: Floats, n_resamples: int, seed: int, progress: bool | None) -> Floats:
    """Absolute t of resamples of rows with mean 0, shape ``(P, n_resamples)``."""
    queries = z.shape[1]
    largest = np.abs(z).max(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    t = np.empty((len(z), n_resamples))
    for some in _resample_blocks(n_resamples, queries + len(z), progress, "bootstrap"):
        draw = rng.integers(queries, size=(some.stop - some.start, queries))
        # How often each query is drawn, the same for all pairs.
        place = draw + queries * np.arange(len(draw))[:, None]
        count = np.bincount(place.ravel(), minlength=draw.size).reshape(draw.shape).astype(np.float64)
        mean = z @ count.T / queries
        variance = z**2 @ count.T / queries - mean**2
        mean[np.abs(mean) <= _NOISE * largest] = 0
        variance[variance <= _NOISE * largest**2] = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            t[:, some] = np.where(mean == 0, 0.0, np.abs(mean) / np.sqrt(variance / (queries - 1)))
    return t


def randomisation(
    x: Floats, alpha: float = 0.05, *, n_resamples: int, seed: int, progress: bool | None = False
) -> TestResult:
    """Paired randomisation test of the mean difference: signs of the differences exchanged at random.

    p is the share of assignments of signs whose mean is at least as far from 0, all of them up to 12 queries, a sample of
    ``n_resamples`` and the observed one beyond. The interval holds every theta that the same test, with the same signs,
    does not reject as the centre of the differences, and needs no search: exchanging the signs of the x_q - theta in a
    set F of queries gives a mean at least as far from 0 exactly if theta lies between the mean of x over F and that over
    the other queries (Hartigan's *typical values*). So its ends are the k-th smallest of the smaller and the k-th
    largest of the larger of these two means over all F, k = alpha (n_resamples + 1).

    Args:
        x: differences of P pairs on Q queries, shape ``(P, Q)``.
        alpha: 1 - confidence of the interval.
        n_resamples, seed: sampled assignments, the same for all pairs.
        progress: as in ``progress_bar``.

    Sources: Smucker, Allan, Carterette, A Comparison of Statistical Significance Tests for Information Retrieval
    Evaluation, CIKM 2007, doi 10.1145/1321440.1321528; Hartigan, Using Subsample Values as Typical Values, JASA 1969,
    doi 10.1080/01621459.1969.10501057.

    >>> result = randomisation(np.array([[0.1, 0.3, 0.2, 0.1, 0.2, 0.1]]), n_resamples=999, seed=0)
    >>> result.p, result.low.round(4), result.high.round(4)
    (array([0.03125]), array([0.1]), array([0.3]))
    """
    queries = x.shape[1]
    total = 2 ** (queries - 1) - 1 if queries <= EXACT else n_resamples  # the observed signs are one more
    k = most_extreme(total, alpha)
    mean, _ = mean_and_deviation(x)
    p, low, high = np.ones(len(x)), np.full(len(x), -np.inf), np.full(len(x), np.inf)
    for pairs in _pair_blocks(len(x), total):
        below, above = _typical_values(x[pairs], total, seed, progress)
        # Where the mean is above 0, the larger mean of the two sets always is; where it is below, the smaller.
        extreme = np.minimum(np.count_nonzero(below <= 0, axis=1), np.count_nonzero(above >= 0, axis=1))
        p[pairs] = (1 + extreme) / (1 + total)
        if k:
            low[pairs] = np.minimum(-_kth_largest(-below, k), mean[pairs])
            high[pairs] = np.maximum(_kth_largest(above, k), mean[pairs])
    return TestResult(mean, low, high, p, effect_of_mean(x))


def _typical_values(x: Floats, total: int, seed: int, progress: bool | None) -> tuple[Floats, Floats]:
    """The smaller and the larger of the means over a set of queries and over the others, for ``total`` sets.

    A mean of 0 but for rounding is 0. A set of all queries or none changes no mean: -inf and inf.
    """
    queries = x.shape[1]
    rng = np.random.default_rng(seed)
    below, above = np.empty((2, len(x), total))
    both = np.concatenate([x, np.abs(x)])
    for some in _resample_blocks(total, queries + 4 * len(x), progress if queries > EXACT else False, "randomisation"):
        if queries <= EXACT:  # every set but the empty one, of all queries but the last; the other set holds that
            chosen = (np.arange(some.start + 1, some.stop + 1)[:, None] >> np.arange(queries) & 1).astype(np.float64)
        else:
            chosen = (rng.random((some.stop - some.start, queries)) < 0.5).astype(np.float64)
        means = []
        for members in (chosen, 1 - chosen):
            sums, sizes = both @ members.T, members.sum(axis=1)
            signed, absolute = sums[: len(x)], sums[len(x) :]
            signed[np.abs(signed) <= RELATIVE * absolute] = 0
            means.append(signed / np.maximum(sizes, 1))
        unchanged = np.isin(chosen.sum(axis=1), (0, queries))
        below[:, some] = np.where(unchanged, -np.inf, np.minimum(*means))
        above[:, some] = np.where(unchanged, np.inf, np.maximum(*means))
    return below, above


def tukey_hsd(
    values: Floats, alpha: float = 0.05, *, n_resamples: int, seed: int, progress: bool | None = False
) -> TestResult:
    """Randomised Tukey HSD: all pairs of systems at once, with simultaneous intervals of their mean differences.

    Each permutation reorders the systems within every query. p is the share of permutations (the observed order among
    them) whose largest difference of means is at least the pair's, so the family is accounted for already: under no
    difference between any systems, the probability that any p <= alpha is at most alpha. The intervals are mean
    difference -/+ q, q the k-th largest of these largest differences, k = alpha (n_resamples + 1).

    Args:
        values: per query and system, shape ``(Q, S)``.
        alpha: 1 - simultaneous confidence of the intervals.
        n_resamples, seed: permutations.
        progress: as in ``progress_bar``.

    Returns:
        Arrays of shape ``(S, S)``: the system of the row against that of the column.

    Source: Carterette, Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval Experiments,
    TOIS 2012, doi 10.1145/2094072.2094076.

    >>> values = np.array([[0.9, 0.1, 0.2], [0.8, 0.2, 0.1], [0.7, 0.3, 0.1], [0.9, 0.1, 0.3], [0.8, 0.2, 0.2]])
    >>> result = tukey_hsd(values, n_resamples=999, seed=0)
    >>> (result.p <= 0.05).tolist(), result.estimate[0].round(4)
    ([[False, True, True], [True, False, False], [True, False, False]], array([0.  , 0.64, 0.64]))
    """
    queries, systems = values.shape
    # What all systems share on a query changes no difference: without it, less is rounded.
    shifted = values - values.min(axis=1, keepdims=True)
    exponent = np.frexp(shifted.max(initial=0))[1]
    shifted = np.ldexp(shifted, -exponent)
    mean = shifted.mean(axis=0)
    difference = mean[:, None] - mean[None, :]
    rng = np.random.default_rng(seed)
    spread = np.empty(n_resamples)
    for some in _resample_blocks(n_resamples, queries * systems, progress, "Tukey HSD"):
        shuffled = rng.permuted(np.broadcast_to(shifted, (some.stop - some.start, queries, systems)), axis=2)
        means = shuffled.mean(axis=1)
        spread[some] = means.max(axis=1) - means.min(axis=1)
    spread.sort()
    # Sums of the same numbers in another order may differ in the last bits, a difference of 0 from 0, too.
    least = (1 - RELATIVE) * np.abs(difference) - _NOISE * shifted.max(axis=1).mean()
    p = (1 + n_resamples - np.searchsorted(spread, least)) / (1 + n_resamples)
    k = most_extreme(n_resamples, alpha)
    half = np.full((systems, systems), spread[n_resamples - k] if k else np.inf)
    np.fill_diagonal(p, 1.0)
    np.fill_diagonal(half, 0.0)
    low, high = difference - half, difference + half
    estimate, low, high = (np.ldexp(array, exponent) for array in (difference, low, high))
    return TestResult(
        estimate, low, high, p, np.stack([effect_of_mean(scaled(column - values.T)[0]) for column in values.T])
    )


def _kth_largest(values: Floats, k: int) -> Floats:
    """Of each row."""
    place = values.shape[1] - k
    return np.partition(values, place, axis=1)[:, place]


def _pair_blocks(pairs: int, n_resamples: int) -> Iterator[Any]:
    """Slices of pairs whose resamples are held at once."""
    step = max(1, 2 * _BLOCK // max(1, n_resamples))
    return (slice(start, min(start + step, pairs)) for start in range(0, pairs, step))


def _resample_blocks(total: int, width: int, progress: bool | None, what: str) -> Iterator[Any]:
    """Slices of resamples that hold a bounded number of values each."""
    step = max(1, _BLOCK // max(1, width))
    with progress_bar(progress, total=total, desc=what) as bar:
        for start in range(0, total, step):
            yield slice(start, min(start + step, total))
            bar.update(min(step, total - start))
