"""Wilcoxon's signed-rank test, and the interval of the Hodges-Lehmann estimate by it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, ranges
from ir_lexirecall._util.lazy import special
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.rounding import DIFFERENCE
from ir_lexirecall.significance.outcomes import (
    MirroredTest,
    Procedure,
    TestResult,
    moved,
)

MOST_EXACT = 50  # differences up to which the distribution is exact
_FEW = 10  # distinct ranks up to which it is exact for more differences, too
_WORK = 2**24  # additions that this may take
_BEYOND = 64  # further averages on either side, where they are
_AT_ONCE = 2**12  # Walsh averages that are sorted without narrowing them down first


def wilcoxon(
    x: Floats, alpha: float | None = 0.05, *, progress: bool | None = False
) -> TestResult:
    """Test differences by Wilcoxon's signed ranks, with the Hodges-Lehmann estimate and interval.

    The n differences other than 0 are ranked by magnitude, equal ones share their mean rank, and W
    is the sum of the ranks of those above 0. p is twice the smaller tail of W when every sign is as
    likely + as -, ranks fixed. Up to 50 differences, and for more if they have few distinct
    magnitudes (as preferences have), the distribution is exact, whatever the ties; else it is the
    normal one with the variance of the ranks. So p is that of SciPy's ``wilcoxon`` without ties,
    and with them where SciPy enumerates.

    Estimate and interval, too, are those of the differences other than 0: the estimate is the
    median of their Walsh averages (x_i + x_j) / 2, i <= j. If zeros took part, and half of the
    differences were 0, intervals would hold the median of all Walsh averages in 0.67 to 0.92 of
    samples for 0.95, and the less often, the more queries there are.

    The interval inverts the test. W also counts the Walsh averages that lie above 0, those of 0
    half; counted above theta instead, W falls as theta grows, and the interval ends where it passes
    from what the test rejects to what it does not. Without ties, its ends are the usual order
    statistics of the Walsh averages. With ties, many Walsh averages are equal: W is interpolated
    linearly between neighbouring ones, so that an interval of preferences need not end at -1, 0 or
    1. The estimate is never outside: if ties put it there, it is the nearer end.

    If nothing differs, p is 1 and the estimate 0. The interval has no ends while there are too few
    differences other than 0 for any p <= alpha: fewer than 6 for 0.05. If ``alpha`` is None, no
    interval is computed, which is faster.

    Sources: Wilcoxon, Individual Comparisons by Ranking Methods, Biometrics Bulletin 1945, doi
    10.2307/3001968; Hodges, Lehmann, Estimates of Location Based on Rank Tests, Annals of
    Mathematical Statistics 1963, doi 10.1214/aoms/1177704172.

    >>> result = wilcoxon(np.array([[0.1, 0.4, 0.2, 0.7, -0.05, 0.6], [1.0] * 6]))
    >>> result.p, result.estimate.round(4)
    (array([0.0625 , 0.03125]), array([0.325, 1.   ]))
    >>> result.low.round(4), result.high.round(4)
    (array([-0.05  ,  0.1667]), array([0.7, 1. ]))
    """
    results = np.empty((5, len(x)))
    # Preferences repeat the same wins and losses.
    result_of: dict[bytes, list[float]] = {}
    for i, row in enumerate(progress_bar(progress, x, desc="Wilcoxon")):
        differences = _Differences(row)
        key = differences.value.tobytes() + differences.count.tobytes()
        if key not in result_of:
            result_of[key] = _tested(differences, alpha)
        results[:, i] = result_of[key]
    return TestResult(*results)


def _tested(differences: _Differences, alpha: float | None) -> list[float]:
    """Return estimate, ends of the interval, p and effect of one pair."""
    null, w = differences.null, differences.statistic
    p = min(1.0, 2 * null.lower_tail(min(w, null.total - w)))
    effect = 0.0
    if null.total:
        effect = (2 * w - null.total) / null.total
    if alpha is None:
        interval = [np.nan] * 3
    else:
        interval = _interval(differences, alpha)
    return [*interval, p, effect]


def wilcoxon_p(x: Floats, shifts: Floats) -> Floats:
    """Return p of centres of at most -shift: the upper tail of W of x_q + shift, ``(K, P)``.

    Differences of 0 are left out whatever the shift, as of the estimate, unless there are no
    others. Else ties could deny a loss that the estimate shows.

    >>> x = np.array([[0.1, 0.4, 0.2, 0.7, -0.05, 0.6, 0.0]])
    >>> wilcoxon_p(x, np.array([[0.0], [0.1]]))
    array([[0.03125 ],
           [0.015625]])
    """
    p = np.empty(shifts.shape)
    is_left_out = (x == 0) & (x != 0).any(axis=1, keepdims=True)
    for k, shift in enumerate(shifts):
        shifted = np.where(is_left_out, 0.0, moved(x, shift[:, None]))
        for i, row in enumerate(shifted):
            differences = _Differences(row)
            p[k, i] = differences.null.lower_tail(
                differences.null.total - differences.statistic
            )
    return p


WILCOXON = Procedure(
    "wilcoxon",
    "Wilcoxon signed-rank test",
    of="centre",
    meaning="Tests whether differences per query are symmetric about 0, by the ranks of their "
    "sizes.",
    plain=(
        "W = sum of the ranks of |x_i| over positive x_i; the estimate is the median of the Walsh "
        "averages (Hodges and Lehmann's) of the differences other than 0"
    ),
    ties="zeros are left out; equal sizes share their mean rank",
    use="when few queries have very large differences; it does not ask what their mean is",
    see_also=("t", "sign"),
    pairs=MirroredTest(
        lambda x, alpha, draws: wilcoxon(x, alpha, progress=draws.progress), wilcoxon_p
    ),
    estimate="pseudomedian of the differences that are not 0",
    effect="matched-pairs rank-biserial correlation",
    exact=np.inf,
    also_called=("signed-rank",),
)


# -- the distribution of W -----------------------------------------------------------------------


class _Null:
    """Distribution of 2 W without a difference, on the multiples of ``step`` from 0 to ``total``.

    Attributes:
        twice_ranks: twice the mean rank of every group of ties.
        lower: P(2 W <= i step) for i up to the middle; None: normal, with this ``deviation``.
    """

    def __init__(self, tied: bytes) -> None:
        """Compute the distribution for groups of ties.

        Args:
            tied: the sizes of the groups, smallest magnitude first, as 64-bit integers.
        """
        sizes = np.frombuffer(tied, dtype=np.int64)
        self.twice_ranks: Ints = 2 * np.cumsum(sizes) - sizes + 1
        n, self.total = int(sizes.sum()), int(self.twice_ranks @ sizes)
        self.step = max(1, int(np.gcd.reduce(self.twice_ranks)))
        self.deviation = float(np.sqrt((self.twice_ranks**2) @ sizes) / 2)
        self.lower: Floats | None = None
        is_few = len(sizes) <= _FEW and n * (self.total // self.step) <= _WORK
        if n <= MOST_EXACT or is_few:
            ranks = np.repeat(self.twice_ranks // self.step, sizes).tolist()
            self.lower = np.cumsum(_lower_half(ranks))

    def lower_tail(self, value: int) -> float:
        """Return P(2 W <= value)."""
        if self.lower is None:
            return float(special.ndtr((value - self.total / 2) / self.deviation))
        n_steps = value // self.step
        if n_steps < len(self.lower):
            return float(self.lower[n_steps])
        n_above = (self.total - value) // self.step - 1
        return float(1 - self.lower[n_above]) if n_above >= 0 else 1.0  # by symmetry

    def threshold(self, alpha: float) -> float | None:
        """Return the middle between the largest 2 W that is rejected and the next one.

        None if nothing is rejected.
        """
        if self.lower is not None:
            # Values of 2 W that can occur.
            possible = np.flatnonzero(np.diff(self.lower, prepend=0) > 0)
            n_rejected = np.count_nonzero(2 * self.lower[possible] <= alpha)
            if n_rejected == 0:
                return None
            # The middle value, or one of the two next to it, is never rejected.
            return (possible[n_rejected - 1] + possible[n_rejected]) / 2 * self.step
        n_steps = int(
            (self.total / 2 + special.ndtri(alpha / 2) * self.deviation) // self.step
        )
        while 2 * self.lower_tail((n_steps + 1) * self.step) <= alpha:
            n_steps += 1
        while n_steps >= 0 and 2 * self.lower_tail(n_steps * self.step) > alpha:
            n_steps -= 1
        if n_steps >= 0:
            return (n_steps + 0.5) * self.step
        return None


def _lower_half(ranks: list[int]) -> Floats:
    """Return the distribution of a sum of ranks, each taken with probability 1/2, up to its middle.

    Powers of 1/2 are exact up to 50 ranks.
    """
    probability = np.zeros(sum(ranks) // 2 + 1)
    probability[0] = 1
    reach = 0
    for rank in ranks:
        reach = min(reach + rank, len(probability) - 1)
        taken = probability[: max(0, reach + 1 - rank)].copy()
        probability[rank : reach + 1] += taken
        probability[: reach + 1] /= 2
    return probability


_null = lru_cache(maxsize=256)(_Null)


class _Differences:
    """The differences of one pair that are not 0.

    Attributes:
        value, count: distinct values, ascending (magnitudes that are equal but for rounding are
            equal), and how often each occurs.
        null: distribution of twice W.
        statistic: twice W, an integer whatever the ties.
    """

    def __init__(self, row: Floats) -> None:
        differs = row[row != 0]
        magnitude = np.abs(differs)
        order = np.argsort(magnitude)
        magnitude = magnitude[order]
        new = np.ones(len(differs), dtype=bool)
        new[1:] = magnitude[1:] > magnitude[:-1] * (1 + DIFFERENCE)
        group = np.cumsum(new) - 1
        tied = np.bincount(group)
        above = np.bincount(group[differs[order] > 0], minlength=len(tied))
        distinct, count = magnitude[new], np.r_[(tied - above)[::-1], above]
        self.value = np.r_[-distinct[::-1], distinct][count > 0]
        self.count = count[count > 0]
        self.null = _null(tied.tobytes())
        self.statistic = int(self.null.twice_ranks @ above)


# -- the interval --------------------------------------------------------------------------------


def _interval(differences: _Differences, alpha: float) -> list[float]:
    """Return the estimate and the ends of the interval."""
    u, count, null = differences.value, differences.count, differences.null
    if not len(u):
        return [0.0, -np.inf, np.inf]
    threshold, middle = null.threshold(alpha), null.total / 2
    if threshold is None:
        return [_walsh(u, count)[0], -np.inf, np.inf]
    estimate, theta, twice_w = _walsh_at_ends(u, count, threshold, null.total)
    # W is counted from its mean, such that what is rejected lies beyond -1 and 1.
    w = (twice_w - middle) / (middle - threshold)
    w_at_zero = (differences.statistic - middle) / (middle - threshold)
    # The test of theta = 0 is exact, and what it rejects or not holds for theta further off.
    w = np.where(theta < 0, np.maximum(w, w_at_zero), np.minimum(w, w_at_zero))
    if np.any(theta == 0):
        w[theta == 0] = w_at_zero
    else:
        index = int(np.searchsorted(theta, 0.0))
        theta, w = np.insert(theta, index, 0.0), np.insert(w, index, w_at_zero)
    low = float(np.interp(1.0, w[::-1], theta[::-1]))
    high = -float(np.interp(1.0, -w, -theta))
    return [float(np.clip(estimate, low, high)), low, high]


def _walsh_at_ends(
    u: Floats, count: Ints, threshold: float, total: int
) -> tuple[float, Floats, Ints]:
    """Return what `_walsh` does, of the averages between which W passes both thresholds.

    Few averages are sorted all; of many only those near the ends are.
    """
    if len(u) * (len(u) + 1) // 2 <= _AT_ONCE:
        return _walsh(u, count)
    low, high = _bracket(u, count, threshold, total)
    estimate, theta, twice_w = _walsh(u, count, low, high)
    is_complete = (
        len(twice_w) and twice_w[0] >= total - threshold and twice_w[-1] <= threshold
    )
    if np.isfinite(low) and not is_complete:
        return _walsh(u, count)  # averages next to many ties are missing
    return estimate, theta, twice_w


def _walsh(
    u: Floats, count: Ints, low: float = -np.inf, high: float = np.inf
) -> tuple[float, Floats, Ints]:
    """Return the median of all Walsh averages, and those from ``low`` to ``high`` with their ranks.

    A Walsh average is the mean of two differences, or a difference itself. The median lies between
    ``low`` and ``high``.

    Args:
        u: distinct differences, in order.
        count: how often each occurs.
        low: the smallest average that is wanted.
        high: the largest one.

    Returns:
        The median; distinct averages in order; and for each, twice the number of averages above it,
        those equal to it counted half. If ``low`` or ``high`` leaves averages out, the first and
        the last distinct one are left out, too: averages that equal them may be missing.
    """
    index = np.arange(len(u))
    first = np.maximum(index, np.searchsorted(u, 2 * low - u, side="left"))
    end = np.maximum(first, np.searchsorted(u, 2 * high - u, side="right"))
    i, j = np.repeat(index, end - first), ranges(first, end)
    average = (u[i] + u[j]) / 2
    order = np.argsort(average)
    i, j, average = i[order], j[order], average[order]
    n_pairs = np.where(i == j, count[i] * (count[i] + 1) // 2, count[i] * count[j])

    n, before = int(count.sum()), np.r_[0, np.cumsum(count)]
    total = n * (n + 1) // 2
    with_itself = np.where(end == index, count * (count + 1) // 2 - count * count, 0)
    n_above = int((count * (n - before[end]) + with_itself).sum())
    n_below = total - n_above - int(n_pairs.sum())
    ranks = n_below + np.cumsum(n_pairs)
    middle = np.searchsorted(ranks, [(total - 1) // 2, total // 2], side="right")
    median = float(average[middle].mean())

    start = _starts_of_distinct(average, np.maximum(np.abs(u[i]), np.abs(u[j])))
    last = np.r_[start[1:], len(average)] - 1
    n_equal = np.add.reduceat(n_pairs, start)
    n_not_below = n_above + np.cumsum(n_equal[::-1])[::-1]
    is_whole = n_below == n_above == 0
    complete = slice(None) if is_whole else slice(1, -1)
    distinct = (average[start] + average[last]) / 2
    return median, distinct[complete], (2 * n_not_below - n_equal)[complete]


def _starts_of_distinct(average: Floats, magnitude: Floats) -> Ints:
    """Return the index at which each distinct value of an ordered array begins.

    Values are equal if they differ by rounding only, relative to the magnitude of what they were
    computed from. The tolerance is finer than the one by which magnitudes tie, so that only the
    averages of tied differences count as 0.
    """
    start = np.flatnonzero(np.r_[True, np.diff(average) > 0])
    scale = np.minimum.reduceat(magnitude, start)
    tolerance = DIFFERENCE / 10 * np.minimum(scale[1:], scale[:-1])
    return np.asarray(start[np.r_[True, np.diff(average[start]) > tolerance]])


def _bracket(
    u: Floats, count: Ints, threshold: float, total: int
) -> tuple[float, float]:
    """Return two numbers between which 2 W passes both thresholds.

    At the lower one, 2 W is well above ``total - threshold``; at the upper one, well below
    ``threshold``.
    """
    before, slack, ends = np.r_[0, np.cumsum(count)], total // 400, []

    def twice_above(theta: float) -> int:
        """Return 2 W of the differences from a centre."""
        n_below = before[np.searchsorted(u, 2 * theta - u, side="right")]
        n_ordered = (count * (before[-1] - n_below)).sum()
        return int(n_ordered + count[u > theta].sum())

    for level in (total - threshold + slack, threshold - slack):
        low, high = float(u[0]), float(u[-1])
        over, under = twice_above(low), 0
        while over - under > slack:
            middle = (low + high) / 2
            if not low < middle < high:
                break
            counted = twice_above(middle)
            if counted > level:
                low, over = middle, counted
            else:
                high, under = middle, counted
        ends += [low, high]
    low, high = ends[0], ends[3]

    # Beyond many ties a few distinct averages are needed: for each difference, the average next to
    # either end.
    lower = np.searchsorted(u, 2 * low - u, side="left") - 1
    upper = np.searchsorted(u, 2 * high - u, side="right")
    lower_ends = np.unique((u + u[lower])[lower >= 0] / 2)[-_BEYOND:]
    has_upper = upper < len(u)
    upper_ends = np.unique((u[has_upper] + u[upper[has_upper]]) / 2)[:_BEYOND]
    return min([low, *lower_ends]), max([high, *upper_ends])
