"""Tests by resampling: the paired bootstrap, randomisation of signs, and randomised Tukey HSD.

The observed sample counts as one of the resamples: p = (1 + count) / (1 + n_resamples) is never 0, and under no difference
at most alpha with a probability of at most alpha where signs or systems are exchangeable (Phipson, Smyth, Permutation
P-values Should Never Be Zero, 2010, doi 10.2202/1544-6115.1585).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, row_blocks
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.significance.draws import times_drawn
from ir_lexirecall.significance.intervals import (
    RELATIVE,
    TestResult,
    effect_of_mean,
    mean_and_deviation,
    most_extreme,
    scaled,
)
from ir_lexirecall.significance.one_magnitude import exact_where_of_one_magnitude

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

    Where the differences other than 0 have one magnitude, p and interval are those of ``exact_test``. One query says nothing
    of the spread: p is 1, and the interval has no ends.

    Source: Sakai, Evaluating Evaluation Metrics based on the Bootstrap, SIGIR 2006, doi 10.1145/1148170.1148261.

    >>> result = bootstrap(np.array([[0.1, 0.3, 0.2, 0.0, 0.2, 0.1]]), n_resamples=999, seed=0)
    >>> bool(result.p[0] < 0.05), bool(0 < result.low[0] < 0.15 < result.high[0])
    (True, True)
    """
    return exact_where_of_one_magnitude(x, alpha, lambda rows: _bootstrap(rows, alpha, n_resamples, seed, progress))


def _bootstrap(x: Floats, alpha: float, n_resamples: int, seed: int, progress: bool | None) -> TestResult:
    """At least two queries, not all of one magnitude."""
    queries = x.shape[1]
    mean, deviation = mean_and_deviation(x)
    p, half = np.ones(len(x)), np.full(len(x), np.inf)
    k = most_extreme(n_resamples, alpha)
    for pairs in row_blocks(len(x), n_resamples, 2 * _BLOCK):
        z, _ = scaled(x[pairs] - mean[pairs, None])
        error = deviation[pairs] / np.sqrt(queries)
        # A mean that is 0 but for rounding is 0.
        far = np.abs(mean[pairs]) > _NOISE * np.abs(x[pairs]).mean(axis=1)
        observed = np.where(far, np.abs(mean[pairs]) / error, 0.0)
        t = _bootstrap_t(z, n_resamples, seed, progress)
        # Wins and losses repeat the same few sums: the last bits must not separate equal ones, of the t or of
        # the terms of a mean that nearly cancel.
        noise = np.where(far, _NOISE * np.abs(x[pairs]).max(axis=1) / error, 0.0)
        least = (1 - RELATIVE) * observed - noise
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
        count = times_drawn(draw, queries)  # the same for all pairs
        mean = z @ count.T / queries
        variance = z**2 @ count.T / queries - mean**2
        mean[np.abs(mean) <= _NOISE * largest] = 0
        variance[variance <= _NOISE * largest**2] = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            t[:, some] = np.where(mean == 0, 0.0, np.abs(mean) / np.sqrt(variance / (queries - 1)))
    return t


def one_sided_bootstrap_p(
    x: Floats, shifts: Floats, *, n_resamples: int, seed: int, progress: bool | None = False
) -> tuple[Floats, Floats]:
    """p of means of at most -shift, and of at least shift, from the resamples of ``bootstrap``: shape ``(K, P)`` each.

    Half the two-sided p of (mean + shift) / error, or 1 less that half where the sum is below 0: the ends of the interval at
    1 - 2 alpha are the one-sided bounds at 1 - alpha. Signed t of resamples would reject in .07 to .09 of samples for .05
    where tails are heavy.

    ``x`` are rows of at least two queries, not of one magnitude.

    >>> x = np.array([[0.1, 0.3, 0.2, 0.0, 0.2, 0.1]])
    >>> above, below = one_sided_bootstrap_p(x, np.array([[0.0], [0.05]]), n_resamples=999, seed=0)
    >>> bool(above[1, 0] < above[0, 0] < 0.05), bool(below[1, 0] > 0.9)
    (True, True)
    """
    mean, deviation = mean_and_deviation(x)
    p = np.ones((2, *shifts.shape))
    for pairs in row_blocks(len(x), n_resamples, 2 * _BLOCK):
        z, _ = scaled(x[pairs] - mean[pairs, None])
        error = deviation[pairs] / np.sqrt(x.shape[1])
        t = _bootstrap_t(z, n_resamples, seed, progress)
        for k, shift in enumerate(shifts[:, pairs]):
            noise = _NOISE * (np.abs(x[pairs]).max(axis=1) + shift) / error
            for side, sign in enumerate((1, -1)):
                observed = (sign * mean[pairs] + shift) / error
                least = (1 - RELATIVE) * np.abs(observed) - noise
                half = (1 + np.count_nonzero(t >= least[:, None], axis=1)) / (1 + n_resamples) / 2
                p[side, k, pairs] = np.where(observed > 0, half, 1 - half)
    return p[0], p[1]


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

    Where the differences other than 0 have one magnitude, no sampling is needed: p and interval are those of ``exact_test``.

    Sources: Smucker, Allan, Carterette, A Comparison of Statistical Significance Tests for Information Retrieval
    Evaluation, CIKM 2007, doi 10.1145/1321440.1321528; Hartigan, Using Subsample Values as Typical Values, JASA 1969,
    doi 10.1080/01621459.1969.10501057.

    >>> result = randomisation(np.array([[0.1, 0.3, 0.2, 0.1, 0.2, 0.1]]), n_resamples=999, seed=0)
    >>> result.p, result.low.round(4), result.high.round(4)
    (array([0.03125]), array([0.1]), array([0.3]))
    """
    return exact_where_of_one_magnitude(x, alpha, lambda rows: _randomisation(rows, alpha, n_resamples, seed, progress))


def _randomisation(x: Floats, alpha: float, n_resamples: int, seed: int, progress: bool | None) -> TestResult:
    """At least two queries, not all of one magnitude."""
    queries = x.shape[1]
    total = 2 ** (queries - 1) - 1 if queries <= EXACT else n_resamples  # the observed signs are one more
    k = most_extreme(total, alpha)
    mean, _ = mean_and_deviation(x)
    p, low, high = np.ones(len(x)), np.full(len(x), -np.inf), np.full(len(x), np.inf)
    for pairs in row_blocks(len(x), total, 2 * _BLOCK):
        below, above = _typical_values(x[pairs], total, seed, progress)
        # Where the mean is above 0, the larger mean of the two sets always is; where it is below, the smaller.
        extreme = np.minimum(np.count_nonzero(below <= 0, axis=1), np.count_nonzero(above >= 0, axis=1))
        p[pairs] = (1 + extreme) / (1 + total)
        if k:
            low[pairs] = np.minimum(-_kth_largest(-below, k), mean[pairs])
            high[pairs] = np.maximum(_kth_largest(above, k), mean[pairs])
    return TestResult(mean, low, high, p, effect_of_mean(x))


def one_sided_randomisation_p(
    x: Floats, shifts: Floats, *, n_resamples: int, seed: int, progress: bool | None = False
) -> tuple[Floats, Floats]:
    """p of centres of at most -shift, and of at least shift, by exchanged signs: shape ``(K, P)`` each.

    Exchanging the signs of the x_q + shift in a set F of queries lowers their mean unless the mean of x over F is at most
    -shift: p is the share of such sets (all of them up to 12 queries, else sampled), the empty one of which always counts.

    >>> above, below = one_sided_randomisation_p(np.array([[0.1, 0.3, 0.2]]), np.array([[0.0]]), n_resamples=99, seed=0)
    >>> above, below
    (array([[0.125]]), array([[1.]]))
    """
    queries = x.shape[1]
    total = 2**queries - 1 if queries <= EXACT else n_resamples
    p = np.ones((2, *shifts.shape))
    for pairs in row_blocks(len(x), total, 2 * _BLOCK):
        means, empty = _means_over_sets(x[pairs], total, seed, progress)
        noise = RELATIVE * np.abs(x[pairs]).mean(axis=1)
        for k, shift in enumerate(shifts[:, pairs]):
            for side, signed in enumerate((means, -means)):
                lowers = (signed <= (noise - shift)[:, None]) | empty
                p[side, k, pairs] = (1 + np.count_nonzero(lowers, axis=1)) / (1 + total)
    return p[0], p[1]


def _means_over_sets(x: Floats, total: int, seed: int, progress: bool | None) -> tuple[Floats, Any]:
    """Means over ``total`` sets of queries, shape ``(P, total)``, and which sets are empty."""
    queries = x.shape[1]
    rng = np.random.default_rng(seed)
    means, size = np.empty((len(x), total)), np.empty(total)
    for some in _resample_blocks(total, queries + len(x), progress if queries > EXACT else False, "randomisation"):
        chosen = _sets(some, queries, rng)
        size[some] = chosen.sum(axis=1)
        means[:, some] = x @ chosen.T / np.maximum(size[some], 1)
    return means, size == 0


def _sets(some: slice, queries: int, rng: np.random.Generator) -> Floats:
    """Sets of queries, 1 where a query is in it: all but the empty one in order up to 12 queries, else sampled."""
    if queries <= EXACT:
        return (np.arange(some.start + 1, some.stop + 1)[:, None] >> np.arange(queries) & 1).astype(np.float64)
    return (rng.random((some.stop - some.start, queries)) < 0.5).astype(np.float64)


def _typical_values(x: Floats, total: int, seed: int, progress: bool | None) -> tuple[Floats, Floats]:
    """The smaller and the larger of the means over a set of queries and over the others, for ``total`` sets.

    A mean of 0 but for rounding is 0. A set of all queries or none changes no mean: -inf and inf.
    """
    queries = x.shape[1]
    rng = np.random.default_rng(seed)
    below, above = np.empty((2, len(x), total))
    both = np.concatenate([x, np.abs(x)])
    for some in _resample_blocks(total, queries + 4 * len(x), progress if queries > EXACT else False, "randomisation"):
        chosen = _sets(some, queries, rng)  # up to 12 queries without the last; the other set holds that
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

    Returns:
        Arrays of shape ``(S, S)``: the system of the row against that of the column.

    Source: Carterette, Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval Experiments,
    TOIS 2012, doi 10.1145/2094072.2094076.

    >>> values = np.array([[0.9, 0.1, 0.2], [0.8, 0.2, 0.1], [0.7, 0.3, 0.1], [0.9, 0.1, 0.3], [0.8, 0.2, 0.2]])
    >>> result = tukey_hsd(values, n_resamples=999, seed=0)
    >>> (result.p <= 0.05).tolist(), result.estimate[0].round(4)
    ([[False, True, True], [True, False, False], [True, False, False]], array([0.  , 0.64, 0.64]))
    """
    difference, spread, noise, exponent = _permuted(values, n_resamples, seed, progress)
    p = _share_of_ranges(np.abs(difference), spread, noise)
    k = most_extreme(n_resamples, alpha)
    half = np.full(difference.shape, spread[n_resamples - k] if k else np.inf)
    np.fill_diagonal(p, 1.0)
    np.fill_diagonal(half, 0.0)
    low, high = difference - half, difference + half
    estimate, low, high = (np.ldexp(array, exponent) for array in (difference, low, high))
    return TestResult(
        estimate, low, high, p, np.stack([effect_of_mean(scaled(column - values.T)[0]) for column in values.T])
    )


def one_sided_tukey_p(
    values: Floats, shifts: Floats, *, n_resamples: int, seed: int, progress: bool | None = False
) -> Floats:
    """p of mean differences of at most -shift, simultaneous, shape ``(K, S, S)``: the row's system minus the column's.

    The share of the permutations of ``tukey_hsd`` whose largest difference of means is at least difference + shift; ``shifts``
    are 0 or more, shape ``(K,)``.
    """
    difference, spread, noise, exponent = _permuted(values, n_resamples, seed, progress)
    p = np.stack([_share_of_ranges(difference + shift, spread, noise) for shift in np.ldexp(shifts, -exponent)])
    for k in np.flatnonzero(shifts == 0):
        np.fill_diagonal(p[k], 1.0)
    return p


def _share_of_ranges(difference: Floats, spread: Floats, noise: float) -> Floats:
    """Share of permutations, the observed order among them, whose range is at least the difference."""
    # Sums of the same numbers in another order may differ in the last bits, a difference of 0 from 0, too.
    least = difference - RELATIVE * np.abs(difference) - noise
    return (1 + len(spread) - np.searchsorted(spread, least)) / (1 + len(spread))


def _permuted(values: Floats, n_resamples: int, seed: int, progress: bool | None) -> tuple[Floats, Floats, float, int]:
    """Mean differences, the ranges of means of permutations, ascending, their rounding, and the exponent of the scale."""
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
    return difference, spread, float(_NOISE * shifted.max(axis=1).mean()), int(exponent)


def _kth_largest(values: Floats, k: int) -> Floats:
    """Of each row."""
    place = values.shape[1] - k
    return np.partition(values, place, axis=1)[:, place]


def _resample_blocks(total: int, width: int, progress: bool | None, what: str) -> Iterator[Any]:
    """Slices of resamples that hold a bounded number of values each."""
    with progress_bar(progress, total=total, desc=what) as bar:
        for some in row_blocks(total, width, _BLOCK):
            yield some
            bar.update(some.stop - some.start)
