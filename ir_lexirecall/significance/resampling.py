"""Tests by resampling: paired bootstrap, randomisation of signs, Tukey HSD, differences of parts.

The observed sample counts as one of the resamples: p = (1 + count) / (1 + n_resamples) is never 0,
and without a difference it is at most alpha with a probability of at most alpha, if signs or
systems are exchangeable (Phipson, Smyth, Permutation P-values Should Never Be Zero, 2010, doi
10.2202/1544-6115.1585).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ir_lexirecall._util.arrays import (
    Floats,
    Ints,
    dividing_by_zero,
    product,
    row_blocks,
)
from ir_lexirecall._util.blocks import BLOCK
from ir_lexirecall._util.lazy import stats
from ir_lexirecall._util.rounding import DIFFERENCE, SUM, settled
from ir_lexirecall.significance.closed_form import MeansTest, group_sums
from ir_lexirecall.significance.draws import times_drawn
from ir_lexirecall.significance.evidence import least_two_sided_p
from ir_lexirecall.significance.outcomes import (
    AllAtOnce,
    Procedure,
    Resampled,
    Sides,
    TestResult,
    effect_of_mean,
    kth_largest,
    less_shared,
    mean_and_deviation,
    most_extreme,
    scaled,
    two_sided,
)

MOST_ENUMERATED = 12  # queries up to which all assignments of signs are enumerated


def by_bootstrap(
    x: Floats, shifts: Floats, alpha: float | None, draws: Resampled
) -> Sides:
    """Test the mean difference by the paired bootstrap of studentised means, with its interval.

    t = mean / standard error. A resample of the units, from the differences shifted to mean 0, is
    as extreme as the sample if its t is at least as far from 0 (infinitely far if its differences
    are all equal, but not 0). The interval is mean -/+ q x standard error, q the k-th
    largest absolute t of the resamples with k = alpha (n_resamples + 1).

    One-sided p are half the two-sided p of (mean + shift) / error, or 1 less that half if the sum
    is below 0. So the ends of the interval at 1 - 2 alpha are the one-sided bounds at 1 - alpha.
    Signed t of resamples would reject in 0.07 to 0.09 of samples for 0.05 if tails are heavy.

    ``x`` are rows of at least two units, not of one magnitude.

    Source: Sakai, Evaluating Evaluation Metrics based on the Bootstrap, SIGIR 2006, doi
    10.1145/1148170.1148261.

    >>> x = np.array([[0.1, 0.3, 0.2, 0.0, 0.2, 0.1]])
    >>> tested = by_bootstrap(x, np.array([[0.0], [0.05]]), 0.05, Resampled(999, 0))
    >>> bool(tested.above[1, 0] < tested.above[0, 0] < 0.05), bool(tested.below[1, 0] > 0.9)
    (True, True)
    >>> bool(tested.p[0] < 0.05)
    True
    >>> bool(0 < tested.low[0] < 0.15 < tested.high[0])
    True
    """
    mean, deviation = mean_and_deviation(x)
    error = deviation / np.sqrt(x.shape[1])
    largest = np.abs(x).max(axis=1)
    sides, half = np.ones((2, *shifts.shape)), np.empty(len(x))
    if alpha is None:
        k = 0
    else:
        k = most_extreme(draws.number, alpha)
    for pairs in row_blocks(len(x), draws.number, 2 * BLOCK):
        t = _distances_of_resamples(x[pairs] - mean[pairs, None], draws)
        half[pairs] = kth_largest(t, k) * error[pairs]
        for p, sign in zip(sides, (1, -1), strict=True):
            for of_shift, shift in zip(p, shifts[:, pairs], strict=True):
                observed = (sign * mean[pairs] + shift) / error[pairs]
                # Wins and losses repeat the same few sums. The last bits must not separate equal
                # t, nor those of terms of a mean that nearly cancel.
                noise = SUM * (largest[pairs] + shift) / error[pairs]
                least = (1 - DIFFERENCE) * np.abs(observed) - noise
                n_as_far = np.count_nonzero(t >= least[:, None], axis=1)
                half_p = (1 + n_as_far) / (1 + draws.number) / 2
                of_shift[pairs] = np.where(observed > 0, half_p, 1 - half_p)
    above, below = sides
    return Sides(
        above, below, two_sided(above[0], below[0]), mean, mean - half, mean + half
    )


def _distances_of_resamples(centred: Floats, draws: Resampled) -> Floats:
    """Return the absolute t of the mean in each resample, shape ``(P, B)``.

    Args:
        centred: differences of P pairs less their means, shape ``(P, Q)``.
        draws: B resamples.
    """
    x, _ = scaled(centred)
    n_queries = x.shape[1]
    furthest = np.abs(x).max(axis=1, keepdims=True)
    rng = np.random.default_rng(draws.seed)
    t = np.empty((len(x), draws.number))
    for block in draws.blocks(draws.number, n_queries + len(x), "bootstrap"):
        queries = rng.integers(n_queries, size=(block.stop - block.start, n_queries))
        count = times_drawn(queries, n_queries)
        mean = product(x, count.T) / n_queries
        variance = product(x**2, count.T) / n_queries - mean**2
        mean[np.abs(mean) <= SUM * furthest] = 0
        variance[variance <= SUM * furthest**2] = 0
        with dividing_by_zero():
            distance = np.abs(mean) / np.sqrt(variance / (n_queries - 1))
        t[:, block] = np.where(mean == 0, 0.0, distance)
    return t


BOOTSTRAP = Procedure(
    "bootstrap",
    "paired bootstrap test",
    meaning="Tests whether the mean difference is 0 by drawing queries with replacement, "
    "studentised.",
    plain="p = share of resamples whose |t| about the observed mean reaches the observed |t|",
    use="when the distribution of differences is far from normal; needs n_resamples and a seed",
    see_also=("t", "randomisation"),
    pairs=MeansTest(by_bootstrap),
    resampled=True,
)


def by_randomisation(
    x: Floats,
    shifts: Floats,
    alpha: float | None,
    draws: Resampled,
    size: Floats | None = None,
) -> Sides:
    """Test the mean difference by exchanging the signs of the differences at random.

    Signs are exchanged in sets F of queries: in all sets up to 12 queries, else in a sample of
    ``n_resamples`` and in the empty set, which stands for the observed signs.

    Two-sided, p is the share of sets F whose exchange leaves a mean at least as far from 0 as the
    observed one. The interval has every centre theta that this test does not reject for the
    differences x - theta. It needs no search: F leaves a mean at least as far from 0 exactly if
    theta lies between the mean of x over F and that over the other queries (Hartigan's *typical
    values*). So its ends are the k-th smallest of the smaller of these two means, and the k-th
    largest of the larger, k = alpha (n_resamples + 1).

    One-sided, p is the share of sets F whose exchange does not lower the mean of x + shift: the
    mean of x over F is at most -shift, or F is empty. In the two-sided test, a set stands for its
    complement, too, so that p from a sample is not twice a one-sided one.

    Args:
        x: differences of P pairs, shape ``(P, Q)``; or, with ``size``, their sums over Q groups,
            of which the signs are exchanged as a whole.
        shifts: added to the differences by the one-sided tests, a row for each, shape ``(M, P)``.
        alpha: the level: only the two-sided test is made; None: only the one-sided ones.
        draws: the number of resamples, and the seed.
        size: the number of queries of each group, shape ``(Q,)``: means are over queries.

    Sources: Smucker, Allan, Carterette, A Comparison of Statistical Significance Tests for
    Information Retrieval Evaluation, CIKM 2007, doi 10.1145/1321440.1321528; Hartigan, Using
    Subsample Values as Typical Values, JASA 1969, doi 10.1080/01621459.1969.10501057; Canay,
    Romano, Shaikh, Randomization Tests under an Approximate Symmetry Assumption, Econometrica 2017,
    doi 10.3982/ECTA13081, of groups.

    >>> x, no_shift = np.array([[0.1, 0.3, 0.2, 0.1, 0.2, 0.1]]), np.zeros((1, 1))
    >>> tested = by_randomisation(x, no_shift, 0.05, Resampled(999, 0))
    >>> tested.p, tested.low.round(4), tested.high.round(4)
    (array([0.03125]), array([0.1]), array([0.3]))
    >>> by_randomisation(x, no_shift, None, Resampled(999, 0)).above
    array([[0.015625]])
    """
    n_queries = x.shape[1]
    weight = np.ones(n_queries) if size is None else size
    if size is None:
        mean = mean_and_deviation(x)[0]
    else:
        mean = x.sum(axis=1) / size.sum()
    above, below = np.ones((2, *shifts.shape))
    sides = Sides(
        above,
        below,
        p=np.ones(len(x)),
        mean=mean,
        low=np.full(len(x), -np.inf),
        high=np.full(len(x), np.inf),
    )
    # The observed signs are one more set. Two-sided, the set that holds the last query stands for
    # its complement, too.
    n_sets = draws.number
    if n_queries <= MOST_ENUMERATED:
        if alpha is None:
            n_sets = 2**n_queries - 1
        else:
            n_sets = 2 ** (n_queries - 1) - 1
    for pairs in row_blocks(len(x), n_sets, 2 * BLOCK):
        if alpha is None:
            _one_sided_by_sets(sides, pairs, x, weight, shifts, n_sets, draws)
        else:
            _two_sided_by_sets(sides, pairs, x, weight, alpha, n_sets, draws)
    return sides


def _one_sided_by_sets(
    sides: Sides,
    pairs: slice,
    x: Floats,
    weight: Floats,
    shifts: Floats,
    n_sets: int,
    draws: Resampled,
) -> None:
    """Set one-sided p of some pairs, by sets of queries whose signs are exchanged."""
    means, n_exchanged = np.empty((len(x[pairs]), n_sets)), np.empty(n_sets)
    for block, is_in in _sets(x.shape[1], n_sets, x.shape[1] + len(means), draws):
        n_in = product(weight[None], is_in.T)[0]
        means[:, block] = product(x[pairs], is_in.T) / np.maximum(n_in, 1)
        n_exchanged[block] = is_in.sum(axis=1)
    noise = DIFFERENCE * np.abs(x[pairs]).sum(axis=1) / weight.sum()
    for side, signed in ((sides.above, means), (sides.below, -means)):
        for p, shift in zip(side, shifts[:, pairs], strict=True):
            keeps_mean = (signed <= (noise - shift)[:, None]) | (n_exchanged == 0)
            p[pairs] = (1 + np.count_nonzero(keeps_mean, axis=1)) / (1 + n_sets)


def _two_sided_by_sets(
    sides: Sides,
    pairs: slice,
    x: Floats,
    weight: Floats,
    alpha: float,
    n_sets: int,
    draws: Resampled,
) -> None:
    """Set p and intervals of some pairs, by sets of queries whose signs are exchanged."""
    n_queries = x.shape[1]
    lower, upper = np.empty((2, len(x[pairs]), n_sets))
    for block, is_in in _sets(n_queries, n_sets, n_queries + 4 * len(lower), draws):
        inside = _settled_means(x[pairs], is_in, weight)
        outside = _settled_means(x[pairs], 1 - is_in, weight)
        n_exchanged = is_in.sum(axis=1)
        # A set of all queries, or of none, changes no mean.
        changes_nothing = (n_exchanged == 0) | (n_exchanged == n_queries)
        lower[:, block] = np.where(
            changes_nothing, -np.inf, np.minimum(inside, outside)
        )
        upper[:, block] = np.where(changes_nothing, np.inf, np.maximum(inside, outside))
    # If the mean is above 0, the larger mean of the two sets always is; if below, the smaller.
    n_lower = np.count_nonzero(lower <= 0, axis=1)
    n_upper = np.count_nonzero(upper >= 0, axis=1)
    k = most_extreme(n_sets, alpha)
    sides.p[pairs] = (1 + np.minimum(n_lower, n_upper)) / (1 + n_sets)
    sides.low[pairs] = np.minimum(-kth_largest(-lower, k), sides.mean[pairs])
    sides.high[pairs] = np.maximum(kth_largest(upper, k), sides.mean[pairs])


def _settled_means(x: Floats, is_in: Floats, weight: Floats) -> Floats:
    """Return the means over sets of queries; a mean of 0 but for rounding is 0."""
    sums = product(np.concatenate([x, np.abs(x)]), is_in.T)
    sums = settled(sums[: len(x)], sums[len(x) :], DIFFERENCE)
    n_in = product(weight[None], is_in.T)[0]
    return np.asarray(sums / np.maximum(n_in, 1))


def _sets(
    n_queries: int, n_sets: int, width: int, draws: Resampled
) -> Iterator[tuple[slice, Floats]]:
    """Yield blocks of sets of queries: where they stand, and 1 for each query in each set.

    Up to 12 queries these are all sets but the empty one, in order; for more they are sampled.
    """
    if n_queries <= MOST_ENUMERATED:
        for block in replace(draws, progress=False).blocks(
            n_sets, width, "randomisation"
        ):
            number = np.arange(block.start + 1, block.stop + 1)
            yield (
                block,
                (number[:, None] >> np.arange(n_queries) & 1).astype(np.float64),
            )
        return
    rng = np.random.default_rng(draws.seed)
    for block in draws.blocks(n_sets, width, "randomisation"):
        is_in = rng.random((block.stop - block.start, n_queries)) < 0.5
        yield block, is_in.astype(np.float64)


class _RandomisationTest(MeansTest):
    """The arithmetic of the randomisation test, which exchanges the signs of whole groups."""

    def of_groups(
        self,
        x: Floats,
        shifts: Floats,
        alpha: float | None,
        draws: Resampled,
        groups: ArrayLike,
    ) -> Sides:
        """Return the test of sums over the groups."""
        sums, size = group_sums(x, groups)
        return by_randomisation(sums, shifts, alpha, draws, size)


RANDOMISATION = Procedure(
    "randomisation",
    "randomisation test",
    meaning="Tests whether the two runs are exchangeable, by exchanging them on every subset of "
    "the queries.",
    plain="p = share of sign patterns whose |mean| reaches the observed one: all of them up to 12 "
    "queries, else sampled",
    use="with few assumptions: the runs are exchangeable under the null hypothesis",
    see_also=("t", "bootstrap", "tukey"),
    pairs=_RandomisationTest(by_randomisation),
    exact=MOST_ENUMERATED,
    resampled=True,
    also_called=("permutation", "fisher"),
)


def tukey_hsd(values: Floats, alpha: float, draws: Resampled) -> TestResult:
    """Test all pairs of systems at once by randomised Tukey HSD, with simultaneous intervals.

    Each permutation reorders the systems within every query. p is the share of permutations (the
    observed order among them) whose largest difference of means is at least the pair's, so the
    family is accounted for already: under no difference between any systems, the probability that
    any p <= alpha is at most alpha. The intervals are mean difference -/+ q, q the k-th largest of
    these largest differences, k = alpha (n_resamples + 1). The p of a pair that differs on n
    queries is at least 2^(1 - n), as in tests of the pair alone.

    Returns:
        Arrays of shape ``(S, S)``: the system of the row against that of the column.

    Source: Carterette, Multiple Testing in Statistical Analysis of Systems-Based Information
    Retrieval Experiments, TOIS 2012, doi 10.1145/2094072.2094076.

    >>> good, weak = [0.9, 0.8, 0.7, 0.9, 0.8, 0.9], [0.1, 0.2, 0.3, 0.1, 0.2, 0.1]
    >>> values = np.array([good, weak, [0.2, 0.1, 0.1, 0.3, 0.2, 0.2]]).T
    >>> result = tukey_hsd(values, 0.05, Resampled(999, 0))
    >>> (result.p <= 0.05).tolist(), result.estimate[0].round(2)
    ([[False, True, True], [True, False, False], [True, False, False]], array([0.  , 0.67, 0.65]))
    """
    above, difference, spread = tukey_p(values, np.zeros(1), draws)
    half = np.full(
        difference.shape, kth_largest(spread[None], most_extreme(draws.number, alpha))
    )
    np.fill_diagonal(half, 0.0)
    effect = np.stack(
        [effect_of_mean(scaled(column - values.T)[0]) for column in values.T]
    )
    p = np.minimum(above[0], above[0].T)
    return TestResult(difference, difference - half, difference + half, p, effect)


TUKEY = Procedure(
    "tukey",
    "randomised Tukey HSD test",
    meaning="Tests all pairs of runs at once, so that no further correction is needed.",
    plain="p of a pair = share of permutations of the runs within queries whose largest difference "
    "of means reaches the pair's",
    use="when all pairs of many runs are compared that are exchangeable where they do not differ",
    see_also=("randomisation",),
    pairs=AllAtOnce(),
    resampled=True,
    also_called=("hsd",),
)


def tukey_p(
    values: Floats, shifts: Floats, draws: Resampled
) -> tuple[Floats, Floats, Floats]:
    """Return simultaneous p of mean differences of at most -shift, shape ``(K, S, S)``.

    A difference is that of the row's system minus the column's. p is the share of the permutations
    of ``tukey_hsd`` whose largest difference of means is at least difference + shift; ``shifts``
    are 0 or more, shape ``(K,)``. With p come the differences, ``(S, S)``, and the largest ones of
    the permutations, ascending. p of a shift of 0 are at least 2^(1 - k) for k queries on which two
    systems differ.
    """
    (by_system,), exponent = less_shared([values.T])
    x = by_system.T
    mean, noise = x.mean(axis=0), SUM * x.max(axis=1).mean()
    difference = mean[:, None] - mean
    rng = np.random.default_rng(draws.seed)
    spread = np.empty(draws.number)
    for block in draws.blocks(draws.number, x.size, "Tukey HSD"):
        copies = np.broadcast_to(x, (block.stop - block.start, *x.shape))
        means = rng.permuted(copies, axis=2).mean(axis=1)
        spread[block] = means.max(axis=1) - means.min(axis=1)
    spread.sort()
    gain = difference + np.ldexp(shifts, -exponent)[:, None, None]
    # Sums of the same numbers in another order may differ in the last bits, also from 0.
    least_spread = gain - DIFFERENCE * np.abs(gain) - noise
    n_as_large = len(spread) - np.searchsorted(spread, least_spread)
    p = (1 + n_as_large) / (1 + len(spread))
    n_differing = [np.count_nonzero(column != values.T, axis=1) for column in values.T]
    least = least_two_sided_p(np.array(n_differing))
    for k in np.flatnonzero(shifts == 0):
        p[k] = np.maximum(p[k], least)
        np.fill_diagonal(p[k], 1.0)
    return p, np.ldexp(difference, exponent), np.ldexp(spread, exponent)


# -- differences of parts ------------------------------------------------------------------------

PERMUTATIONS = 999  # of queries among parts
# Numbers that all permutations may take. Of more queries fewer are drawn, but at least 199.
_WORK = 2**27


def heterogeneity(parts: Sequence[Floats], seed: int = 0) -> tuple[Floats, Floats]:
    """Test by Welch's F that mean differences are the same in D parts; F and p, ``(P,)`` each.

    Parts are collections, or groups of queries. With w_d = Q_d / s_d^2, W their sum, m the mean of
    the means y_d weighted by them, and lambda = sum_d (1 - w_d / W)^2 / (Q_d - 1),

        F = sum_d w_d (y_d - m)^2 / (D - 1) / (1 + 2 (D - 2) lambda / (D^2 - 1))

    p is the larger one of two. The first is that of the F distribution with D - 1 and (D^2 - 1) /
    (3 lambda) degrees of freedom. It alone rejects in 0.15 to 0.44 of samples for 0.05 if
    differences are skewed and parts of unequal size. The second is the share of permutations of all
    queries among the parts (the observed order among them) with an F as large. It alone rejects too
    often if variances differ. Both together reject in 0.03 to 0.07 if differences have one shape,
    and in 0.07 to 0.12 if parts of few queries have skewed differences of a larger variance.

    F and p are NaN for a pair if a part has fewer than two queries, or no spread.

    Args:
        parts: differences of P pairs on the Q_d queries of each part, shape ``(P, Q_d)``.
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
    f_of_all, p = np.full((2, len(everything)), np.nan)
    has_spread = np.array([~np.all(x == x[:, :1], axis=1) for x in parts]).all(axis=0)
    if len(parts) < 2 or sizes.min() < 2 or not has_spread.any():
        return f_of_all, p
    x = everything[has_spread] - everything[has_spread].mean(axis=1, keepdims=True)
    x /= np.abs(x).max(axis=1, keepdims=True)
    f, spread = _welch(x[:, None], sizes)
    by_f = stats.f.sf(
        f[:, 0], len(sizes) - 1, (len(sizes) ** 2 - 1) / (3 * spread[:, 0])
    )
    by_permutations = _share_of_permutations(x, sizes, f, seed)
    f_of_all[has_spread], p[has_spread] = f[:, 0], np.maximum(by_f, by_permutations)
    return f_of_all, p


def _share_of_permutations(x: Floats, sizes: Ints, f: Floats, seed: int) -> Floats:
    """Return p of a permutation test: the share of permutations whose F is at least as large.

    Each permutation puts all queries into the parts at random.
    """
    number = int(np.clip(_WORK // x.size, 199, PERMUTATIONS))
    rng, n_as_large = np.random.default_rng(seed), np.ones(len(x))
    for block in row_blocks(number, x.size, BLOCK):
        queries = np.tile(np.arange(x.shape[1]), (block.stop - block.start, 1))
        f_of_permutations, _ = _welch(x[:, rng.permuted(queries, axis=1)], sizes)
        n_as_large += np.count_nonzero(
            f_of_permutations >= f * (1 - DIFFERENCE), axis=1
        )
    return np.asarray(n_as_large / (1 + number))


def _welch(x: Floats, sizes: Ints) -> tuple[Floats, Floats]:
    """Return F and lambda over the last axis, in which parts follow each other."""
    d, starts = len(sizes), np.r_[0, np.cumsum(sizes)[:-1]]
    mean = np.add.reduceat(x, starts, axis=-1) / sizes
    variance = np.add.reduceat(x**2, starts, axis=-1) / sizes - mean**2
    w = (sizes - 1) / np.maximum(variance, SUM)
    share = w / w.sum(axis=-1, keepdims=True)
    q = (w * (mean - (share * mean).sum(axis=-1, keepdims=True)) ** 2).sum(axis=-1)
    spread = ((1 - share) ** 2 / (sizes - 1)).sum(axis=-1)
    return q / (d - 1) / (1 + 2 * (d - 2) * spread / (d**2 - 1)), spread
