"""Tests by resampling: paired bootstrap, randomisation of signs, Tukey HSD, differences of parts.

The observed sample counts as one of the resamples: p = (1 + count) / (1 + n_resamples) is never 0,
and under no difference at most alpha with a probability of at most alpha where signs or systems are
exchangeable (Phipson, Smyth, Permutation P-values Should Never Be Zero, 2010, doi
10.2202/1544-6115.1585).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, row_blocks
from ir_lexirecall._util.blocks import BLOCK
from ir_lexirecall._util.lazy import stats
from ir_lexirecall._util.rounding import DIFFERENCE, SUM, settled
from ir_lexirecall.significance.draws import times_drawn
from ir_lexirecall.significance.outcomes import (
    Procedure,
    Resampled,
    Sides,
    TestResult,
    effect_of_mean,
    kth_largest,
    mean_and_deviation,
    most_extreme,
    scaled,
    two_sided,
)

EXACT = 12  # queries up to which all assignments of signs are enumerated


def by_bootstrap(x: Floats, shifts: Floats, alpha: float | None, draws: Resampled) -> Sides:
    """Test the mean difference by the paired bootstrap of studentised means, with its interval.

    t = mean / standard error. A resample of the units, from the differences shifted to mean 0, is
    as extreme as the sample if its t is at least as far from 0 (infinitely far where its
    differences are all equal, but not 0). The interval is mean -/+ q x standard error, q the k-th
    largest absolute t of the resamples with k = alpha (n_resamples + 1).

    One-sided p are half the two-sided p of (mean + shift) / error, or 1 less that half where the
    sum is below 0: the ends of the interval at 1 - 2 alpha are the one-sided bounds at 1 - alpha.
    Signed t of resamples would reject in .07 to .09 of samples for .05 where tails are heavy.

    ``x`` are rows of at least two units, not of one magnitude.

    Source: Sakai, Evaluating Evaluation Metrics based on the Bootstrap, SIGIR 2006, doi
    10.1145/1148170.1148261.

    >>> x = np.array([[0.1, 0.3, 0.2, 0.0, 0.2, 0.1]])
    >>> found = by_bootstrap(x, np.array([[0.0], [0.05]]), 0.05, Resampled(999, 0))
    >>> bool(found.above[1, 0] < found.above[0, 0] < 0.05), bool(found.below[1, 0] > 0.9)
    (True, True)
    >>> bool(found.p[0] < 0.05)
    True
    >>> bool(0 < found.low[0] < 0.15 < found.high[0])
    True
    """
    mean, deviation = mean_and_deviation(x)
    sides, half = np.ones((2, *shifts.shape)), np.empty(len(x))
    k, queries = 0 if alpha is None else most_extreme(draws.number, alpha), x.shape[1]
    for pairs in row_blocks(len(x), draws.number, 2 * BLOCK):
        z, _ = scaled(x[pairs] - mean[pairs, None])
        furthest, rng = np.abs(z).max(axis=1, keepdims=True), np.random.default_rng(draws.seed)
        t = np.empty((len(z), draws.number))  # absolute, of the resamples
        for some in draws.blocks(draws.number, queries + len(z), "bootstrap"):
            count = times_drawn(
                rng.integers(queries, size=(some.stop - some.start, queries)), queries
            )  # of all pairs
            of_sample = z @ count.T / queries
            variance = z**2 @ count.T / queries - of_sample**2
            of_sample[np.abs(of_sample) <= SUM * furthest] = 0
            variance[variance <= SUM * furthest**2] = 0
            with np.errstate(divide="ignore", invalid="ignore"):
                t[:, some] = np.where(
                    of_sample == 0, 0.0, np.abs(of_sample) / np.sqrt(variance / (queries - 1))
                )
        error, largest = deviation[pairs] / np.sqrt(queries), np.abs(x[pairs]).max(axis=1)
        for p, sign in zip(sides, (1, -1), strict=True):
            for s, shift in enumerate(shifts[:, pairs]):
                observed = (sign * mean[pairs] + shift) / error
                # Wins and losses repeat the same few sums: the last bits must not separate equal
                # ones, of the t or of
                # the terms of a mean that nearly cancel.
                least = (1 - DIFFERENCE) * np.abs(observed) - SUM * (largest + shift) / error
                share = (1 + np.count_nonzero(t >= least[:, None], axis=1)) / (1 + draws.number) / 2
                p[s, pairs] = np.where(observed > 0, share, 1 - share)
        half[pairs] = kth_largest(t, k) * error
    return Sides(
        sides[0], sides[1], two_sided(sides[0, 0], sides[1, 0]), mean, mean - half, mean + half
    )


BOOTSTRAP = Procedure(
    "bootstrap",
    "paired bootstrap test",
    meaning="Tests whether the mean difference is 0 by drawing queries with replacement, "
    "studentised.",
    plain="p = share of resamples whose |t| about the observed mean reaches the observed |t|",
    use="when the distribution of differences is far from normal; needs n_resamples and a seed",
    see_also=("t", "randomisation"),
    kernel=by_bootstrap,
    resampled=True,
)


def by_randomisation(
    x: Floats, shifts: Floats, alpha: float | None, draws: Resampled, size: Floats | None = None
) -> Sides:
    """Test the mean difference by exchanging the signs of the differences at random.

    Where ``x`` are sums over groups of queries, ``size``, the number of queries of each, shape
    ``(Q,)``, weighs them: then the signs of whole groups are exchanged, and means are over queries.

    p is the share of assignments of signs whose mean is at least as far from 0, all of them up to
    12 queries, a sample of ``n_resamples`` and the observed one beyond. The interval holds every
    theta that the same test, with the same signs, does not reject as the centre of the differences,
    and needs no search: exchanging the signs of the x_q - theta in a set F of queries gives a mean
    at least as far from 0 exactly if theta lies between the mean of x over F and that over the
    other queries (Hartigan's *typical values*). So its ends are the k-th smallest of the smaller
    and the k-th largest of the larger of these two means over all F, k = alpha (n_resamples + 1).

    One-sided: exchanging the signs of the x_q + shift in F lowers their mean unless the mean of x
    over F is at most -shift: p is the share of such sets, the empty one of which always counts. A
    sample of sets serves both sides of the two-sided test, so that its p is not twice a one-sided
    one there. With a level only the two-sided test is made, without one only one-sided ones.

    Sources: Smucker, Allan, Carterette, A Comparison of Statistical Significance Tests for
    Information Retrieval Evaluation, CIKM 2007, doi 10.1145/1321440.1321528; Hartigan, Using
    Subsample Values as Typical Values, JASA 1969, doi 10.1080/01621459.1969.10501057; Canay,
    Romano, Shaikh, Randomization Tests under an Approximate Symmetry Assumption, Econometrica 2017,
    doi 10.3982/ECTA13081, of groups.

    >>> x, no_shift = np.array([[0.1, 0.3, 0.2, 0.1, 0.2, 0.1]]), np.zeros((1, 1))
    >>> found = by_randomisation(x, no_shift, 0.05, Resampled(999, 0))
    >>> found.p, found.low.round(4), found.high.round(4)
    (array([0.03125]), array([0.1]), array([0.3]))
    >>> by_randomisation(x, no_shift, None, Resampled(999, 0)).above
    array([[0.015625]])
    """
    queries = x.shape[1]
    weight = np.ones(queries) if size is None else size
    is_exact, is_one_sided = queries <= EXACT, alpha is None
    # The observed signs are one more. Two-sided, the set that holds the last query stands for its
    # complement, too.
    total = 2 ** (queries - (not is_one_sided)) - 1 if is_exact else draws.number
    mean = mean_and_deviation(x)[0] if size is None else x.sum(axis=1) / size.sum()
    above, below = np.ones((2, *shifts.shape))
    found = Sides(
        above, below, np.ones(len(x)), mean, np.full(len(x), -np.inf), np.full(len(x), np.inf)
    )
    k = 0 if alpha is None else most_extreme(total, alpha)
    for pairs in row_blocks(len(x), total, 2 * BLOCK):
        inside, outside, number = _means_over_sets(x[pairs], weight, total, is_one_sided, draws)
        if is_one_sided:
            noise = DIFFERENCE * np.abs(x[pairs]).sum(axis=1) / weight.sum()
            for side, signed in ((found.above, inside), (found.below, -inside)):
                for p, shift in zip(side, shifts[:, pairs], strict=True):
                    lowers = (signed <= (noise - shift)[:, None]) | (number == 0)
                    p[pairs] = (1 + np.count_nonzero(lowers, axis=1)) / (1 + total)
            continue
        unchanged = (number == 0) | (
            number == queries
        )  # a set of all queries or none changes no mean
        lower = np.where(unchanged, -np.inf, np.minimum(inside, outside))
        upper = np.where(unchanged, np.inf, np.maximum(inside, outside))
        # Where the mean is above 0, the larger mean of the two sets always is; where it is below,
        # the smaller.
        extreme = np.minimum(
            np.count_nonzero(lower <= 0, axis=1), np.count_nonzero(upper >= 0, axis=1)
        )
        found.p[pairs] = (1 + extreme) / (1 + total)
        found.low[pairs] = np.minimum(-kth_largest(-lower, k), mean[pairs])
        found.high[pairs] = np.maximum(kth_largest(upper, k), mean[pairs])
    return found


def _means_over_sets(
    x: Floats, weight: Floats, total: int, is_one_sided: bool, draws: Resampled
) -> tuple[Floats, ...]:
    """Return the means over ``total`` sets of queries and over the others, and the sets' sizes.

    The means over the others are there where both sides are asked for. Two-sided, a mean of 0 but
    for rounding is 0. The sets are all but the empty one in order up to 12 queries, else sampled.
    """
    queries = x.shape[1]
    rng = np.random.default_rng(draws.seed)
    means, number = np.zeros((2, len(x), total)), np.empty(total)
    both = x if is_one_sided else np.concatenate([x, np.abs(x)])
    quiet = replace(draws, progress=False) if queries <= EXACT else draws
    for some in quiet.blocks(
        total, queries + len(both) * (1 if is_one_sided else 2), "randomisation"
    ):
        if queries <= EXACT:
            chosen = (
                np.arange(some.start + 1, some.stop + 1)[:, None] >> np.arange(queries) & 1
            ).astype(np.float64)
        else:
            chosen = (rng.random((some.stop - some.start, queries)) < 0.5).astype(np.float64)
        number[some] = chosen.sum(axis=1)
        for place, members in enumerate((chosen,) if is_one_sided else (chosen, 1 - chosen)):
            sums = both @ members.T
            if not is_one_sided:
                sums = settled(sums[: len(x)], sums[len(x) :], DIFFERENCE)
            means[place][:, some] = sums / np.maximum(members @ weight, 1)
    return means[0], means[1], number


RANDOMISATION = Procedure(
    "randomisation",
    "randomisation test",
    meaning="Tests whether the two runs are exchangeable, by exchanging them on every subset of "
    "the queries.",
    plain="p = share of sign patterns whose |mean| reaches the observed one: all of them up to 12 "
    "queries, else sampled",
    use="with few assumptions: the runs are exchangeable under the null hypothesis",
    see_also=("t", "bootstrap", "tukey"),
    kernel=by_randomisation,
    exact=EXACT,
    resampled=True,
    also_called=("permutation", "fisher"),
)


def tukey_hsd(values: Floats, alpha: float, draws: Resampled) -> TestResult:
    """Test all pairs of systems at once by randomised Tukey HSD, with simultaneous intervals.

    Each permutation reorders the systems within every query. p is the share of permutations (the
    observed order among them) whose largest difference of means is at least the pair's, so the
    family is accounted for already: under no difference between any systems, the probability that
    any p <= alpha is at most alpha. The intervals are mean difference -/+ q, q the k-th largest of
    these largest differences, k = alpha (n_resamples + 1).

    Returns:
        Arrays of shape ``(S, S)``: the system of the row against that of the column.

    Source: Carterette, Multiple Testing in Statistical Analysis of Systems-Based Information
    Retrieval Experiments, TOIS 2012, doi 10.1145/2094072.2094076.

    >>> good, weak = [0.9, 0.8, 0.7, 0.9, 0.8], [0.1, 0.2, 0.3, 0.1, 0.2]
    >>> values = np.array([good, weak, [0.2, 0.1, 0.1, 0.3, 0.2]]).T
    >>> result = tukey_hsd(values, 0.05, Resampled(999, 0))
    >>> (result.p <= 0.05).tolist(), result.estimate[0].round(4)
    ([[False, True, True], [True, False, False], [True, False, False]], array([0.  , 0.64, 0.64]))
    """
    above, difference, spread = tukey_p(values, np.zeros(1), draws)
    half = np.full(difference.shape, kth_largest(spread[None], most_extreme(draws.number, alpha)))
    np.fill_diagonal(half, 0.0)
    effect = np.stack([effect_of_mean(scaled(column - values.T)[0]) for column in values.T])
    return TestResult(
        difference, difference - half, difference + half, np.minimum(above[0], above[0].T), effect
    )


TUKEY = Procedure(
    "tukey",
    "randomised Tukey HSD test",
    meaning="Tests all pairs of runs at once, so that no further correction is needed.",
    plain="p of a pair = share of permutations of the runs within queries whose largest difference "
    "of means reaches the pair's",
    use="when all pairs of many runs are compared that are exchangeable where they do not differ",
    see_also=("randomisation",),
    resampled=True,
    also_called=("hsd",),
)


def tukey_p(values: Floats, shifts: Floats, draws: Resampled) -> tuple[Floats, Floats, Floats]:
    """Return simultaneous p of mean differences of at most -shift, shape ``(K, S, S)``.

    A difference is that of the row's system minus the column's. p is the share of the permutations
    of ``tukey_hsd`` whose largest difference of means is at least difference + shift; ``shifts``
    are 0 or more, shape ``(K,)``. With p come the differences, ``(S, S)``, and the largest ones of
    the permutations, ascending.
    """
    queries, systems = values.shape
    # What all systems share on a query changes no difference: without it, less is rounded.
    shifted = values - values.min(axis=1, keepdims=True)
    exponent = np.frexp(shifted.max(initial=0))[1]
    shifted = np.ldexp(shifted, -exponent)
    mean, noise = shifted.mean(axis=0), SUM * shifted.max(axis=1).mean()
    difference = mean[:, None] - mean
    rng = np.random.default_rng(draws.seed)
    spread = np.empty(draws.number)
    for some in draws.blocks(draws.number, queries * systems, "Tukey HSD"):
        shuffled = rng.permuted(
            np.broadcast_to(shifted, (some.stop - some.start, queries, systems)), axis=2
        )
        means = shuffled.mean(axis=1)
        spread[some] = means.max(axis=1) - means.min(axis=1)
    spread.sort()
    gain = difference + np.ldexp(shifts, -exponent)[:, None, None]
    # Sums of the same numbers in another order may differ in the last bits, a difference of 0 from
    # 0, too.
    reaching = len(spread) - np.searchsorted(spread, gain - DIFFERENCE * np.abs(gain) - noise)
    p = (1 + reaching) / (1 + len(spread))
    for k in np.flatnonzero(shifts == 0):
        np.fill_diagonal(p[k], 1.0)
    return p, np.ldexp(difference, exponent), np.ldexp(spread, exponent)


# -- differences of parts ------------------------------------------------------------------------

PERMUTATIONS = 999  # of queries among parts
_WORK = 2**27  # numbers that all of them may take; fewer are drawn of more, but at least 199


def heterogeneity(parts: Sequence[Floats], seed: int = 0) -> tuple[Floats, Floats]:
    """Test by Welch's F that mean differences are the same in D parts; F and p, ``(P,)`` each.

    Parts are collections, or groups of queries. With w_d = Q_d / s_d^2, W their sum, m the mean of
    the means y_d weighted by them, and lambda = sum_d (1 - w_d / W)^2 / (Q_d - 1),

        F = sum_d w_d (y_d - m)^2 / (D - 1) / (1 + 2 (D - 2) lambda / (D^2 - 1))

    p is the larger one of two. The first is that of the F distribution with D - 1 and (D^2 - 1) /
    (3 lambda) degrees of freedom. It alone rejects in 0.15 to 0.44 of samples for 0.05 where
    differences are skewed and parts of unequal size. The second is the share of permutations of all
    queries among the parts (the observed order among them) with an F as large. It alone rejects too
    often where variances differ. Both together reject in 0.03 to 0.07 where differences have one
    shape, and in 0.07 to 0.12 where parts of few queries have skewed ones of a larger variance.

    Args:
        parts: differences of P pairs on the Q_d queries of each part, shape ``(P, Q_d)``. NaN where
            a part has fewer than two queries, or no spread.
        seed: of the permutations, the same for all pairs.

    Sources: Welch, On the Comparison of Several Mean Values: an Alternative Approach, Biometrika
    1951, doi 10.1093/biomet/38.3-4.330; Chung, Romano, Exact and Asymptotically Robust Permutation
    Tests, Annals of Statistics 2013, doi 10.1214/13-AOS1090.

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
    for some in row_blocks(number, x.size, BLOCK):
        order = rng.permuted(np.tile(np.arange(x.shape[1]), (some.stop - some.start, 1)), axis=1)
        count += np.count_nonzero(
            _welch(x[:, order], starts, sizes)[0] >= f * (1 - DIFFERENCE), axis=1
        )
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
