"""Tests in closed form: of signs, of differences of one magnitude, of means by t.

Units are queries, or groups of queries.

Differences of one magnitude are 0, c or -c: wins, losses and ties, as preferences and binary
measures have. Their sum is c times a count, so the exact randomisation test of their mean is the
binomial test of wins against losses. The t-test and the bootstrap know no spread if all differences
are equal, and reject too often if these are few (with 8 of +-c in 8.5% of samples at level 5%, with
2 in half of them).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ir_lexirecall._util.arrays import (
    Bools,
    Bounds,
    Floats,
    Interval,
    Ints,
    dividing_by_zero,
    ratio,
)
from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.lazy import special
from ir_lexirecall._util.rounding import DIFFERENCE, settled
from ir_lexirecall.significance.evidence import differing_queries, least_two_sided_p
from ir_lexirecall.significance.outcomes import (
    Groups,
    Kernel,
    MirroredTest,
    Procedure,
    Resampled,
    Sides,
    TestResult,
    effect_of_mean,
    mean_and_deviation,
    moved,
    two_sided,
)

# -- signs -----------------------------------------------------------------------------------------


def sign_test(x: Floats, alpha: float = 0.05) -> TestResult:
    """Test wins (x > 0) against losses by the exact two-sided binomial test, without ties.

    The interval is the one of Clopper and Pearson. The estimate is the effect (wins - losses) /
    (wins + losses), in [-1, 1]. Both tails of the test and of the interval hold at most alpha / 2,
    so they agree. Without a win or a loss, p is 1, the estimate 0 and the interval [-1, 1].

    Source: Clopper, Pearson, The Use of Confidence or Fiducial Limits Illustrated in the Case of
    the Binomial, Biometrika 1934, doi 10.1093/biomet/26.4.404.

    >>> result = sign_test(np.array([[1.0, 1.0, 1.0, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0, 0.0]]))
    >>> result.p, result.estimate
    (array([0.625, 1.   ]), array([0.5, 0. ]))
    >>> result.low.round(4), result.high.round(4)
    (array([-0.6118, -1.    ]), array([0.9874, 1.    ]))
    """
    wins, losses = wins_and_losses(x)
    decided = wins + losses
    effect = ratio(wins - losses, decided)
    low = 2 * _least_share(wins, losses, alpha) - 1
    high = 1 - 2 * _least_share(losses, wins, alpha)
    no_shift = np.zeros((1, 1))
    p = two_sided(sign_p(x, no_shift)[0], sign_p(-x, no_shift)[0])
    return TestResult(effect, low, high, p, effect)


def wins_and_losses(x: Floats) -> tuple[Ints, Ints]:
    """Return how many differences of each row are above and below 0."""
    return np.count_nonzero(x > 0, axis=1), np.count_nonzero(x < 0, axis=1)


def _least_share(wins: Ints, losses: Ints, alpha: float) -> Floats:
    """Return the lower limit of the share of wins at 1 - alpha / 2."""
    # The beta distribution needs at least one win.
    share = special.betaincinv(np.maximum(wins, 1), losses + 1, alpha / 2)
    return np.where(wins > 0, share, 0.0)


def sign_p(x: Floats, shifts: Floats) -> Floats:
    """Return p of effects (wins - losses) / (wins + losses) of at most -shift, shape ``(K, P)``.

    It is the probability of so many wins or more, if each decided query is won with a probability
    of (1 - shift) / 2. An effect is never below -1.

    >>> sign_p(np.array([[1.0, 1.0, 1.0, 0.0, -1.0]]), np.array([[0.0], [0.5]])).round(4)
    array([[0.3125],
           [0.0508]])
    """
    wins, losses = wins_and_losses(x)
    p = special.bdtr(
        losses, np.maximum(wins + losses, 1), (1 + np.minimum(shifts, 1)) / 2
    )
    return np.where(shifts > 1, 0.0, np.where(wins == 0, 1.0, p))


SIGN = Procedure(
    "sign",
    "sign test",
    of="signs",
    meaning="Tests whether one run wins more queries than the other; it sees only which one is "
    "better, not by how much.",
    plain="wins ~ Binomial(wins + losses, 1/2), exact; the interval of (wins - losses)/(wins + "
    "losses) is Clopper and Pearson's",
    ties="tied queries are left out",
    use="for preferences, and where differences of measures are not comparable between queries",
    see_also=("t", "wilcoxon", "randomisation"),
    pairs=MirroredTest(lambda x, alpha, _: sign_test(x, alpha), sign_p),
    estimate="net share of decided queries won",
    effect="(wins - losses) / (wins + losses)",
    exact=np.inf,
    also_called=("binomial",),
)

# -- differences of one magnitude ------------------------------------------------------------------


def of_one_magnitude(x: Floats) -> Bools:
    """Return whether each row holds only 0, c and -c, but for rounding, shape ``(P,)``.

    >>> of_one_magnitude(np.array([[0.1, 0.0, -0.1], [0.1, 0.2, 0.0], [0.0, 0.0, 0.0]]))
    array([ True, False,  True])
    """
    magnitude = np.abs(x)
    largest = magnitude.max(axis=1, initial=0, keepdims=True)
    return np.all((magnitude >= largest * (1 - DIFFERENCE)) | (magnitude == 0), axis=1)


def preference_interval(x: Floats, alpha: float = 0.05) -> Interval:
    """Return the interval of mean preferences in [-1, 1]: low and high ends, shape ``(S,)`` each.

    It is the t interval of the Q preferences and two more, a win and a loss. It is cut at -1 and 1,
    holds the mean itself, and is never a point. In simulations 95% intervals hold the true mean in
    93 to 100% for 5 to 250 queries, whether it is 0 or 0.98; the plain t interval in 5 to 99%.

    Args:
        x: preferences of S runs on Q queries (against one run, or averaged over several), shape
            ``(S, Q)``.
        alpha: 1 - confidence.

    Source: Bonett, Price, Adjusted Wald Confidence Interval for a Difference of Binomial
    Proportions Based on Paired Data, Journal of Educational and Behavioral Statistics 2012, doi
    10.3102/1076998611411915, of preferences -1, 0 and 1.

    >>> low, high = preference_interval(np.array([[1.0] * 10, [1.0] * 5 + [-0.5] * 5]))
    >>> low.round(3), high.round(3)
    (array([ 0.467, -0.324]), array([1.   , 0.741]))
    """
    middle, error = with_a_win_and_a_loss(x)
    half = -special.stdtrit(x.shape[1] + 1, alpha / 2) * error
    # The win and the loss move the middle towards 0: an interval of low confidence would miss the
    # mean.
    mean = x.mean(axis=1) if x.shape[1] else middle
    low = np.minimum(middle - half, mean)
    high = np.maximum(middle + half, mean)
    return np.clip(low, -1, 1), np.clip(high, -1, 1)


def interval_with_ends(x: Floats, limits: Bounds, alpha: float = 0.05) -> Interval:
    """Return the t interval of means with both ends of the range added as observations.

    It is `preference_interval` of the values scaled to [-1, 1]. With two values it is nearly, or
    wholly, the range.

    Args:
        x: values of S runs on Q queries, all within the limits, shape ``(S, Q)``.
        limits: the smallest and the largest possible value.
        alpha: 1 - confidence.

    >>> low, high = interval_with_ends(np.array([[1.0] * 12, [1.0] * 6 + [0.5] * 6]), (0.0, 1.0))
    >>> low.round(3), high.round(3)
    (array([0.774, 0.528]), array([1.   , 0.901]))
    """
    least, most = limits
    scale = most - least
    low, high = preference_interval((2 * x - least - most) / scale, alpha)
    middle = (least + most) / 2
    low, high = middle + low * scale / 2, middle + high * scale / 2
    return np.clip(low, least, most), np.clip(high, least, most)


def with_a_win_and_a_loss(x: Floats) -> tuple[Floats, Floats]:
    """Return means and their standard errors with 1 and -1 added to each row.

    They have Q + 1 degrees of freedom.
    """
    n = x.shape[1] + 2
    middle = x.sum(axis=1) / n
    variance = ((x**2).sum(axis=1) + 2 - n * middle**2) / (n - 1)
    return middle, np.sqrt(variance / n)


def by_counts(
    x: Floats, shifts: Floats, alpha: float | None, _: object = None
) -> Sides:
    """Test the mean of differences that are 0, c and -c by exact randomisation.

    The interval is ``c preference_interval(x / c)``. `agreeing` widens it to hold 0 if the test
    does not reject, and cuts it if it does. One query says nothing of the spread: the interval has
    no ends.

    >>> x = np.array([[0.2, 0.2], [0.2, -0.2], [0.0, 0.0]])
    >>> tested = by_counts(x, np.zeros((1, 3)), 0.05)
    >>> tested.p, tested.mean
    (array([0.5, 1. , 1. ]), array([0.2, 0. , 0. ]))
    >>> tested.low.round(3), tested.high.round(3)
    (array([-0.2, -0.2,  0. ]), array([0.2, 0.2, 0. ]))
    """
    above, below = counts_p(x, shifts), counts_p(-x, shifts)
    mean, _ = mean_and_deviation(x)
    mean = np.where(np.sign(x).sum(axis=1) == 0, 0.0, mean)
    low, high = np.full(len(x), -np.inf), np.full(len(x), np.inf)
    if alpha is not None and x.shape[1] > 1:
        c = np.abs(x).max(axis=1, initial=0)
        low, high = preference_interval(np.sign(x), alpha)
        low, high = np.minimum(c * low, mean), np.maximum(c * high, mean)
    return Sides(above, below, two_sided(above[0], below[0]), mean, low, high)


def counts_p(x: Floats, shifts: Floats) -> Floats:
    """Return p of means of at most -shift, of differences of one magnitude c, shape ``(K, P)``.

    For a shift of 0, it is the p of the exact randomisation test, one-sided. For a larger one, it
    is that of the t of ``preference_interval(x / c)``, but never above the exact p. It is at least
    2^-Q, the exact p of Q wins, as few queries that are all alike tell little; and at least 1/2 if
    the mean itself is at most -shift.

    >>> counts_p(np.array([[0.01, 0.0, -0.01] * 5]), np.array([[0.0], [0.005], [0.5]])).round(4)
    array([[0.623],
           [0.015],
           [0.   ]])
    """
    n_queries = x.shape[1]
    exact = sign_p(x, np.zeros_like(shifts))
    if not shifts.any():
        return exact
    c = np.abs(x).max(axis=1, initial=0)
    middle, error = with_a_win_and_a_loss(np.sign(x))
    with dividing_by_zero():
        p = special.stdtr(n_queries + 1, -(middle + shifts / c) / error)
    p = np.where(c == 0, 0.0, p)
    mean, _ = mean_and_deviation(x)
    least = np.where(moved(mean, shifts) > 0, 2.0**-n_queries, 0.5)
    return np.where(shifts > 0, np.clip(p, least, exact), exact)


# -- means -----------------------------------------------------------------------------------------


def of_means(
    test: Kernel, x: Floats, shifts: Floats, alpha: float | None, draws: Resampled
) -> Sides:
    """Test means: rows of one magnitude by `by_counts`, all others by `test`.

    In the others, p of a larger shift (the first one is 0) is exact, too, if the differences with
    the shift added are of one magnitude. A test that rejects a mean of at most 0 rejects one of at
    most -shift, so this p is never above the one of the shift 0.
    """
    is_exact = of_one_magnitude(x)
    sides = Sides(*np.empty((2, *shifts.shape)), *np.empty((4, len(x))))
    for rows, kernel in ((is_exact, by_counts), (~is_exact, test)):
        if rows.any():
            part = kernel(x[rows], shifts[:, rows], alpha, draws)
            for array, of_rows in zip(sides.arrays, part.arrays, strict=True):
                array[..., rows] = of_rows
    for side, signed in ((sides.above, x), (sides.below, -x)):
        for p, shift in zip(side[1:], shifts[1:], strict=True):
            total = moved(signed, shift[:, None])
            rows = of_one_magnitude(total) & ~is_exact
            p[rows] = np.minimum(
                sign_p(total[rows], np.zeros((1, 1)))[0], side[0, rows]
            )
    return sides


@dataclass(frozen=True)
class MeansTest:
    """The arithmetic of a test of means, with queries or groups of them as units.

    Attributes:
        kernel: the test of rows that are not of one magnitude.
    """

    kernel: Kernel

    def two_sided(
        self, x: Floats, alpha: float, draws: Resampled, groups: Groups
    ) -> TestResult:
        """Test means of 0, with Cohen's d_z as effect."""
        sides = self._sides(x, np.zeros((1, len(x))), alpha, draws, groups)
        effect = effect_of_mean(x)
        if groups is None:
            effect = np.where(sides.mean == 0, 0.0, effect)
        return TestResult(sides.mean, sides.low, sides.high, sides.p, effect)

    def one_sided(
        self, x: Floats, shifts: Floats, draws: Resampled, groups: Groups
    ) -> tuple[Floats, Floats]:
        """Return p of both sides at each shift."""
        sides = self._sides(x, shifts, None, draws, groups)
        return sides.above, sides.below

    def _sides(
        self,
        x: Floats,
        shifts: Floats,
        alpha: float | None,
        draws: Resampled,
        groups: Groups,
    ) -> Sides:
        """Return the test of queries, or of groups as units, with the floors of few queries."""
        if groups is None:
            return _with_floors(of_means(self.kernel, x, shifts, alpha, draws), x)
        sides = self.of_groups(x, shifts, alpha, draws, groups)
        sides = _with_floors(sides, group_means(x, groups))
        if alpha is not None:
            unknown = ~group_interval_holds(x, groups)
            sides.low[unknown] = sides.high[unknown] = np.nan
        return sides

    def of_groups(
        self,
        x: Floats,
        shifts: Floats,
        alpha: float | None,
        draws: Resampled,
        groups: ArrayLike,
    ) -> Sides:
        """Return the test of numbers that stand for the groups."""
        return of_means(self.kernel, group_units(x, groups), shifts, alpha, draws)


def _with_floors(sides: Sides, units: Floats) -> Sides:
    """Return a test of means whose p of 0 are at least what exchanging signs of differences gives.

    Args:
        sides: the test, whose arrays are changed.
        units: differences of queries, or mean differences of groups, shape ``(P, U)``.
    """
    least = least_two_sided_p(differing_queries(units))
    np.maximum(sides.p, least, out=sides.p)
    for side in (sides.above, sides.below):
        np.maximum(side[0], np.where(least < 1, least / 2, side[0]), out=side[0])
    return sides


SKEWED = 5  # queries from which one-sided tests correct for skewness
MOST_CORRECTED = (
    100  # times Student's p, that a correction for skewness makes of it at most
)


def by_t(x: Floats, shifts: Floats, alpha: float | None, _: object = None) -> Sides:
    """Test means by Student's paired t-test; rows have two queries or more and several magnitudes.

    With `alpha`, it is that two-sided test. One-sided, from 5 queries on, p is the larger one of
    Student's p and the p of t corrected for the skewness g of the differences, Johnson's t + a (t^2
    + 1/2), a = g / (3 sqrt(Q)). From t = -1 / (2 a) on, where this would fall, it rises as Hall's
    transformation does, by the growth of a^2 t^3 / 3 since. If a run rarely loses much, t alone
    says *not worse* too often: in 0.079 of samples of 10 queries for 0.05, corrected in 0.062.
    The corrected p is at most 100 times Student's: thus a run that loses much on 8 of 10 queries is
    still found worse, despite the skewness. This raises the shares above by at most 0.003.

    Sources: Student, The Probable Error of a Mean, Biometrika 1908, doi 10.1093/biomet/6.1.1;
    Johnson, Modified t Tests and Confidence Intervals for Asymmetrical Populations, JASA 1978, doi
    10.1080/01621459.1978.10480051; Hall, On the Removal of Skewness by Transformation, Journal of
    the Royal Statistical Society B 1992, doi 10.1111/j.2517-6161.1992.tb01876.x.

    >>> tested = by_t(np.array([[0.1, 0.3, 0.2, 0.0]]), np.array([[0.0], [0.1]]), 0.05)
    >>> tested.above.round(4), tested.p.round(4), tested.low.round(4)
    (array([[0.0514],
           [0.0152]]), array([0.1027]), array([-0.0554]))
    """
    mean, deviation = mean_and_deviation(x)
    n_queries = x.shape[1]
    error = deviation / np.sqrt(n_queries)
    if alpha is None:
        a = skew_correction(x)
    else:
        a = np.zeros(len(x))
    above, below = np.empty((2, *shifts.shape))
    for p, sign in ((above, 1), (below, -1)):
        for k, shift in enumerate(shifts):
            gain = sign * mean
            if shift.any():
                gain, _ = mean_and_deviation(moved(sign * x, shift[:, None]))
            p[k] = skewed_p(gain / error, sign * a, n_queries - 1)
    tail = 0.5 if alpha is None else alpha / 2
    half = -special.stdtrit(n_queries - 1, tail) * error
    return Sides(
        above, below, two_sided(above[0], below[0]), mean, mean - half, mean + half
    )


def skew_correction(x: Floats) -> Floats:
    """Return a = g / (3 sqrt(Q)) of each row, g its skewness; 0 for fewer than 5 queries.

    >>> skew_correction(np.array([[0.0, 0.0, 0.0, 0.0, 1.0], [0.2, 0.2, 0.2, 0.2, 0.2]])).round(3)
    array([0.333, 0.   ])
    """
    n_queries = x.shape[1]
    if n_queries < SKEWED:
        return np.zeros(len(x))
    return skewness(x) / (3 * np.sqrt(n_queries))


def skewed_p(t: Floats, a: Floats, degrees: int) -> Floats:
    """Return the one-sided p of t, or of t corrected for skewness, whichever is larger.

    It is at most 100 times the p of t.

    Args:
        t: (mean + shift) / error of each pair.
        a: see `skew_correction`; 0 corrects nothing.
        degrees: of freedom.

    >>> skewed_p(np.array([2.0, 2.0]), np.array([0.0, -0.1]), 9).round(3)
    array([0.038, 0.078])
    """
    p = special.stdtr(degrees, -t)
    if not a.any():
        return p
    corrected_p = special.stdtr(degrees, -_corrected_t(t, a))
    return np.where(a == 0, p, np.clip(corrected_p, p, MOST_CORRECTED * p))


def _corrected_t(t: Floats, a: Floats) -> Floats:
    """Return t corrected for skewness; arguments as in `skewed_p`."""
    johnson = t + a * (t**2 + 0.5)
    turn = np.divide(-0.5, a, out=np.full(len(a), np.inf), where=a < 0)
    return np.asarray(johnson + a**2 * (t**3 - np.minimum(t, turn) ** 3) / 3)


def t_bounds(x: Floats, alpha: float) -> Interval:
    """Return the one-sided lower and upper bounds of means at 1 - alpha.

    At a bound, the one-sided p of `by_t` is alpha.

    Args:
        x: differences of P pairs on at least 2 queries, shape ``(P, Q)``.
        alpha: below 0.5.

    >>> low, high = t_bounds(np.array([[0.1, 0.3, 0.2, 0.0]]), 0.0514)
    >>> bool(abs(low[0]) < 1e-4)
    True
    """
    mean, deviation = mean_and_deviation(x)
    queries = x.shape[1]
    return skewed_bounds(
        mean, deviation / np.sqrt(queries), skew_correction(x), queries - 1, alpha
    )


def skewed_bounds(
    mean: Floats, error: Floats, a: Floats, degrees: int, alpha: float
) -> Interval:
    """Return the lower and upper bounds of means at which `skewed_p` is alpha.

    Args:
        mean: the estimates.
        error: their standard errors.
        a: see `skew_correction`.
        degrees: of freedom.
        alpha: level of each bound, below 0.5.
    """
    # At `critical`, the p-value of t without correction is alpha. At `certain`, it is so small
    # that even the largest correction does not take it above alpha.
    critical = -special.stdtrit(degrees, alpha)
    certain = -special.stdtrit(degrees, alpha / MOST_CORRECTED)
    ends = []
    for sign in (1, -1):
        low, high = np.full(len(mean), critical), np.full(len(mean), certain)
        for _ in range(60):  # the corrected t rises with t
            middle = (low + high) / 2
            rejects = _corrected_t(middle, sign * a) >= critical
            low, high = np.where(rejects, low, middle), np.where(rejects, middle, high)
        ends.append(mean - sign * high * error)
    return ends[0], ends[1]


T = Procedure(
    "t",
    "paired t-test",
    meaning="Tests whether the mean difference per query is 0.",
    plain="t = mean / (sd / sqrt(n)), n - 1 degrees of freedom",
    use="for means of measures: robust from some 25 queries on",
    see_also=("bootstrap", "randomisation", "wilcoxon"),
    pairs=MeansTest(by_t),
    also_called=("student", "t-test", "ttest"),
)


def skewness(x: Floats) -> Floats:
    """Return the skewness of each row, Fisher's G1, which has no bias for normal differences.

    It is 0 for rows without spread, and for fewer than 3 queries, also where there are none.

    >>> skewness(np.array([[0.0, 0.0, 0.0, 1.0], [0.2, 0.2, 0.2, 0.2]]))
    array([2., 0.])
    """
    queries = x.shape[1]
    if queries < 3:
        return np.zeros(len(x))
    mean, deviation = mean_and_deviation(x)
    z = (x - mean[:, None]) / np.where(deviation == 0, 1.0, deviation)[:, None]
    third = np.einsum("pq,pq,pq->p", z, z, z)
    return np.where(
        deviation == 0, 0.0, queries * third / ((queries - 1) * (queries - 2))
    )


# -- groups of queries -----------------------------------------------------------------------------


def members(groups: ArrayLike, queries: int) -> Floats:
    """Return 1 for each query (row) in its group (column), else 0; shape ``(Q, G)``.

    Raises:
        ValueError: another number of labels than of queries.
    """
    labels, group = np.unique(np.asarray(groups), return_inverse=True)
    if group.shape != (queries,):
        raise ValueError(
            f"expected a group for each of {queries} queries, got {np.size(groups)} labels"
        )
    member = np.zeros((queries, len(labels)))
    member[np.arange(queries), group] = 1
    return member


def group_sums(x: Floats, groups: ArrayLike) -> tuple[Floats, Floats]:
    """Return the sum of each row over each group, shape ``(P, G)``, and the sizes of the groups.

    >>> group_sums(np.array([[0.2, 0.4, 0.1]]), ["a", "b", "b"])
    (array([[0.2, 0.5]]), array([1., 2.]))
    """
    member = members(groups, x.shape[1])
    return settled(x @ member, np.abs(x) @ member), member.sum(axis=0)


def group_means(x: Floats, groups: ArrayLike) -> Floats:
    """Return the mean of each row over each group, shape ``(P, G)``."""
    sums, size = group_sums(x, groups)
    return sums / size


def group_interval_holds(x: Floats, groups: ArrayLike) -> Bools:
    """Return whether the mean over queries may have an interval by groups as units, ``(P,)``.

    Groups of about one size (up to twice the smallest) are exchangeable. For other groups, whose
    size can go with their effect, an interval holds the mean in 0.78 to 0.92 of samples for 0.95.
    So they have one only if they weigh as much as 8 equal groups, and size and mean of the groups
    are not correlated (Pearson, p > 0.1). Then, in simulations, at most 0.05 of all samples give a
    false one.

    Args: as in `group_units`.

    >>> group_interval_holds(np.array([[0.2, 0.4, 0.1]]), ["a", "b", "b"])
    array([ True])
    >>> group_interval_holds(np.eye(4), ["a", "b", "b", "b"])
    array([False, False, False, False])
    """
    sums, size = group_sums(x, groups)
    if size.max() <= 2 * size.min():
        return np.ones(len(x), dtype=bool)
    n_equal_groups = size.sum() ** 2 / (size**2).sum()
    if n_equal_groups < 8:
        return np.zeros(len(x), dtype=bool)
    means, of_size = sums / size, size - size.mean()
    means -= means.mean(axis=1, keepdims=True)
    degrees = len(size) - 2
    with dividing_by_zero():
        r = means @ of_size / np.sqrt((means**2).sum(axis=1) * (of_size**2).sum())
        t = np.abs(r) * np.sqrt(degrees / np.maximum(1 - r**2, 0))
    is_correlated = 2 * special.stdtr(degrees, -t) <= 0.1
    return np.asarray(~is_correlated)


@entry
def group_units(x: Floats, groups: ArrayLike) -> Floats:
    """Return a number for each group that stands for its queries, with the same mean overall.

    They are jackknife pseudo-values, for everything that resamples differences or values of
    queries. With n_g of the Q queries in group g, their sum X_g, and the mean m over all queries,
    the number is m + (G - 1) (X_g - n_g m) / (Q - n_g), moved such that the mean is m. For groups
    of one size, that is the group's mean.

    A bootstrap knows no degrees of freedom. So, if sizes differ, the numbers spread about the mean
    as those of n equal groups with the same weight would, n = Q^2 / sum_g n_g^2: wider by sqrt(n /
    (n - 1) (G - 1) / G). In simulations, 95% intervals of 6 to 30 groups hold the true mean in 0.94
    to 0.98, but in 0.86 to 0.91 if the size of groups goes with their effect: see
    ``group_interval_holds``.

    Args:
        x: differences or values of P pairs or runs on Q queries, shape ``(P, Q)``.
        groups: a label per query, shape ``(Q,)``.

    Returns:
        Shape ``(P, G)``.

    Raises:
        ValueError: another number of labels than of queries.

    >>> group_units(np.array([[0.2, 0.4, 0.1, 0.3]]), ["a", "a", "b", "b"])
    array([[0.3, 0.2]])
    """
    n_queries = x.shape[1]
    member = members(groups, n_queries)
    size, n_groups = member.sum(axis=0), member.shape[1]
    mean = mean_and_deviation(x)[0][:, None]
    if n_groups < 2:
        return mean
    effect = (n_groups - 1) * ((x - mean) @ member) / (n_queries - size)
    effect -= effect.mean(axis=1, keepdims=True)
    n_equal_groups = n_queries**2 / (size**2).sum()
    if n_equal_groups < n_groups:
        effect *= np.sqrt(n_equal_groups / (n_equal_groups - 1) * (1 - 1 / n_groups))
    return moved(effect, mean)
