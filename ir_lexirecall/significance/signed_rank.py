"""Wilcoxon's signed-rank test, and the interval of the Hodges-Lehmann estimate from the same distribution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ir_lexirecall.arrays import Floats, Ints, ranges
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.significance.intervals import RELATIVE, TestResult

EXACT = 50  # differences up to which the distribution is exact
_FEW = 10  # distinct ranks up to which it is exact for more differences, too
_WORK = 2**24  # additions that this may take
_AT_ONCE = 2**12  # Walsh averages that are sorted without narrowing them down first


def wilcoxon(x: Floats, alpha: float | None = 0.05, *, progress: bool | None = False) -> TestResult:
    """Wilcoxon's signed-rank test; the estimate is the median of the Walsh averages (Hodges-Lehmann).

    Differences of 0 are left out, from the estimate and its interval, too: they are of the queries on which systems
    differ. The n others are ranked by magnitude, equal ones share their mean rank, and W is the sum of the ranks of those
    above 0. p is twice the smaller tail of W when every sign is as likely + as -, ranks fixed. Up to 50 differences, and for
    more if they have few distinct magnitudes (as preferences have), the distribution is exact, whatever the ties; else
    it is the normal one with the variance of the ranks. So p is that of SciPy's ``wilcoxon`` without ties, and with them
    where SciPy enumerates.

    The interval inverts the test in that distribution. W counts the Walsh averages (x_i + x_j) / 2, i <= j, above
    0, those of 0 half. Counted above theta instead of 0, W falls as theta grows, and the interval's ends are where
    it passes from what the test rejects to what it does not: without ties an order statistic of the Walsh averages. With
    ties, many Walsh averages are equal; between neighbouring values W is interpolated linearly, so that an interval of
    preferences need not end at -1, 0 or 1. Where W is not known from a Walsh average, at 0, it is the test's.
    The estimate is never outside: where ties put it there, it is the nearer end.

    Where nothing differs, p is 1, the estimate 0, and the interval without ends; these it has from the first n on that
    allow p <= alpha.

    Args:
        x: differences of P pairs on Q queries, shape ``(P, Q)``.
        alpha: 1 - confidence of the interval; None: p and effect only, which is faster.
        progress: as in ``progress_bar``.

    Sources: Wilcoxon, Individual Comparisons by Ranking Methods, Biometrics Bulletin 1945, doi 10.2307/3001968; Hodges,
    Lehmann, Estimates of Location Based on Rank Tests, Annals of Mathematical Statistics 1963, doi
    10.1214/aoms/1177704172.

    >>> result = wilcoxon(np.array([[0.1, 0.4, 0.2, 0.7, 0.0, -0.05, 0.6], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]]))
    >>> result.p, result.estimate.round(4)
    (array([0.0625 , 0.03125]), array([0.325, 1.   ]))
    >>> result.low.round(4), result.high.round(4)
    (array([-0.05  ,  0.0476]), array([0.7, 1. ]))
    """
    out = np.empty((5, len(x)))
    known: dict[bytes, list[float]] = {}  # preferences repeat the same wins and losses
    for i, row in enumerate(progress_bar(progress, x, desc="Wilcoxon")):
        differences = _Differences.of(row)
        key = differences.value.tobytes() + differences.count.tobytes()
        if key not in known:
            known[key] = _test(differences, alpha)
        out[:, i] = known[key]
    return TestResult(*out)


def _test(differences: _Differences, alpha: float | None) -> list[float]:
    """Estimate, low, high, p and effect size."""
    if not len(differences.value):
        return [0.0, -np.inf, np.inf, 1.0, 0.0]
    null = _null(differences.tied.tobytes())
    w, total = differences.statistic, null.total
    p, effect = float(null.p(np.array(min(w, total - w)))), (2 * w - total) / total
    if alpha is None:
        return [np.nan, np.nan, np.nan, p, effect]
    return [*_interval(differences, null.threshold(alpha), total), p, effect]


@dataclass(frozen=True)
class _Differences:
    """The differences of one pair that are not 0.

    Attributes:
        value: distinct values, ascending; magnitudes that are equal but for rounding are equal.
        count: how often each of them occurs.
        tied: how many differences share each magnitude, from the smallest on.
        statistic: twice W, an integer whatever the ties.
    """

    value: Floats
    count: Ints
    tied: Ints
    statistic: int

    @staticmethod
    def of(row: Floats) -> _Differences:
        row = row[row != 0]
        magnitude = np.abs(row)
        order = np.argsort(magnitude)
        magnitude = magnitude[order]
        new = np.ones(len(row), dtype=bool)
        new[1:] = magnitude[1:] > magnitude[:-1] * (1 + RELATIVE)
        group = np.cumsum(new) - 1
        tied = np.bincount(group)
        above = np.bincount(group[row[order] > 0], minlength=len(tied))
        distinct = magnitude[new]
        value, count = np.r_[-distinct[::-1], distinct], np.r_[(tied - above)[::-1], above]
        return _Differences(value[count > 0], count[count > 0], tied, int(_twice_ranks(tied) @ above))


def _twice_ranks(tied: Ints) -> Ints:
    """Twice the mean rank of every group of ties.

    >>> _twice_ranks(np.array([1, 2, 1]))
    array([2, 5, 8])
    """
    return 2 * np.cumsum(tied) - tied + 1


# -- the distribution of W ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Null:
    """Distribution of twice W under no difference, on the multiples of ``step`` from 0 to ``total``.

    Attributes:
        lower: P(2 W <= i step) for i up to the middle; None: normal.
        deviation: its standard deviation.
    """

    total: int
    step: int
    lower: Floats | None
    deviation: float

    def p(self, smaller: Ints) -> Floats:
        """Two-sided p of 2 W, the smaller one of both directions."""
        from scipy import special  # not needed to import this library

        if self.lower is not None:
            return np.minimum(1, 2 * self.lower[smaller // self.step])
        return np.minimum(1, 2 * special.ndtr((smaller - self.total / 2) / self.deviation))

    def threshold(self, alpha: float) -> float | None:
        """What lies half-way between the largest 2 W that is rejected and the next one; None: none is."""
        from scipy import special  # not needed to import this library

        if self.lower is not None:
            places = np.flatnonzero(np.diff(self.lower, prepend=0) > 0)  # of values that 2 W can have
            rejected = np.count_nonzero(self.p(places * self.step) <= alpha)
            # The middle one, or one of the two next to it, is never rejected.
            return (places[rejected - 1] + places[rejected]) / 2 * self.step if rejected else None
        place = int((self.total / 2 + special.ndtri(alpha / 2) * self.deviation) // self.step)
        while self.p(np.array((place + 1) * self.step)) <= alpha:
            place += 1
        while place >= 0 and self.p(np.array(place * self.step)) > alpha:
            place -= 1
        return (place + 0.5) * self.step if place >= 0 else None


@lru_cache(maxsize=256)
def _null(tied: bytes) -> _Null:
    """For groups of that many ties, smallest magnitude first."""
    sizes = np.frombuffer(tied, dtype=np.int64)
    twice_ranks = _twice_ranks(sizes)
    n, total, step = int(sizes.sum()), int(twice_ranks @ sizes), int(np.gcd.reduce(twice_ranks))
    exact = n <= EXACT or (len(sizes) <= _FEW and n * (total // step) <= _WORK)
    ranks = np.repeat(twice_ranks // step, sizes).tolist()
    deviation = float(np.sqrt((twice_ranks**2) @ sizes) / 2)
    return _Null(total, step, _lower_half(ranks) if exact else None, deviation)


def _lower_half(ranks: list[int]) -> Floats:
    """P(sum <= i) up to the middle, of the sum of ``ranks`` each taken with probability 1/2.

    >>> _lower_half([1, 2, 3])
    array([0.125, 0.25 , 0.375, 0.625])
    """
    probability = np.zeros(sum(ranks) // 2 + 1)
    probability[0] = 1
    reach = 0
    for rank in ranks:  # sums of powers of 1/2: exact up to 50 ranks
        reach = min(reach + rank, len(probability) - 1)
        taken = probability[: max(0, reach + 1 - rank)].copy()
        probability[rank : reach + 1] += taken
        probability[: reach + 1] /= 2
    return np.cumsum(probability)


# -- the interval ------------------------------------------------------------------------------------


def _interval(differences: _Differences, threshold: float | None, total: int) -> list[float]:
    """Estimate and ends of the interval."""
    walsh = _Walsh.of(differences, threshold, total)
    estimate = walsh.median()
    if threshold is None:
        return [estimate, -np.inf, np.inf]
    low, high = walsh.crossings(differences.statistic, [total - threshold, threshold])
    return [float(np.clip(estimate, low, high)), low, high]


@dataclass(frozen=True)
class _Walsh:
    """Walsh averages, ascending, as many as the interval needs.

    Attributes:
        value: the averages, distinct pairs of distinct differences.
        weight: how many pairs of differences share each.
        scale: larger magnitude of each pair, to which rounding is relative.
        below, above: how many pairs of differences have an average below and above all of these.
    """

    value: Floats
    weight: Ints
    scale: Floats
    below: int
    above: int

    @staticmethod
    def of(differences: _Differences, threshold: float | None, total: int) -> _Walsh:
        u, count = differences.value, differences.count
        if threshold is None or len(u) * (len(u) + 1) // 2 <= _AT_ONCE:
            return _Walsh._within(u, count, -np.inf, np.inf)
        ends = _bracket(u, count, threshold, total)
        walsh = _Walsh._within(u, count, *ends)
        _, counted = walsh.distinct
        if counted[0] >= total - threshold and counted[-1] <= threshold:
            return walsh
        return _Walsh._within(u, count, -np.inf, np.inf)  # the ends were set within one heap of ties

    @staticmethod
    def _within(u: Floats, count: Ints, low: float, high: float) -> _Walsh:
        """The averages from low to high."""
        size = np.arange(len(u))
        first = np.maximum(size, np.searchsorted(u, 2 * low - u, side="left"))
        end = np.maximum(first, np.searchsorted(u, 2 * high - u, side="right"))
        i = np.repeat(size, end - first)
        j = ranges(first, end)
        value = (u[i] + u[j]) / 2
        order = np.argsort(value)
        i, j, value = i[order], j[order], value[order]
        weight = np.where(i == j, count[i] * (count[i] + 1) // 2, count[i] * count[j])
        n, before = int(count.sum()), np.r_[0, np.cumsum(count)]
        with_itself = np.where(end == size, count * (count + 1) // 2 - count * count, 0)
        above = int((count * (n - before[end]) + with_itself).sum())
        below = n * (n + 1) // 2 - above - int(weight.sum())
        return _Walsh(value, weight, np.maximum(np.abs(u[i]), np.abs(u[j])), below, above)

    def median(self) -> float:
        """The median of all averages."""
        rank = self.below + np.cumsum(self.weight)
        n = int(rank[-1]) + self.above
        middle = np.searchsorted(rank, [(n - 1) // 2, n // 2], side="right")
        return float(self.value[middle].mean())

    @cached_property
    def distinct(self) -> tuple[Floats, Ints]:
        """Distinct averages and twice how many are above each, with those equal to it counted half."""
        # Finer than what ties magnitudes: averages of 0 are only those of differences that are tied.
        gap = np.diff(self.value) > RELATIVE / 10 * np.minimum(self.scale[1:], self.scale[:-1])
        new = np.r_[True, gap | np.diff(self.value == 0)]
        weight = np.add.reduceat(self.weight, np.flatnonzero(new))
        above = self.above + np.cumsum(weight[::-1])[::-1]  # itself included
        return self.value[new], 2 * above - weight

    def crossings(self, at_zero: int, levels: list[float]) -> list[float]:
        """Where twice W, falling from average to average, passes each level."""
        value, counted = self.distinct
        if not np.any(value == 0):
            place = int(np.searchsorted(value, 0.0))
            value, counted = np.insert(value, place, 0.0), np.insert(counted, place, at_zero)
        crossings: list[float] = np.interp(levels, counted[::-1], value[::-1]).tolist()
        return crossings


def _bracket(u: Floats, count: Ints, threshold: float, total: int) -> tuple[float, float]:
    """Two numbers between which 2 W passes from well above ``total - threshold`` to well below ``threshold``."""
    before = np.r_[0, np.cumsum(count)]

    def twice_above(theta: float) -> int:
        ordered = (count * (before[-1] - before[np.searchsorted(u, 2 * theta - u, side="right")])).sum()
        return int(ordered + count[u > theta].sum())

    slack = total // 400

    def around(level: float) -> tuple[float, float]:
        low, high = float(u[0]), float(u[-1])
        over, under = twice_above(low), 0
        while over - under > slack and low < (middle := (low + high) / 2) < high:
            if (counted := twice_above(middle)) > level:
                low, over = middle, counted
            else:
                high, under = middle, counted
        return low, high

    return around(total - threshold + slack)[0], around(threshold - slack)[1]
