"""Average precision: a relevant document lifts the precision at all relevant ones below it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, position_in_segment, running_sum
from ir_lexirecall.data.pools import Ranks
from ir_lexirecall.judging.duels import Duels
from ir_lexirecall.judging.ratios import largest_ratio


@dataclass(frozen=True)
class AveragePrecision:
    """(1 / m) sum of i / p_i over the retrieved relevant documents.

    With j of its open documents relevant, a ranking has its largest sum if they are the first ones, and its smallest if they are
    the last. Where no open document is in both rankings (within the cutoff), the numbers j_A and j_B alone decide, and
    m = judged + j_A + j_B (+ relevant documents elsewhere): exact. Else the bound is that of A's largest and B's smallest value,
    which no single judging may reach. Rankings with all these documents at the same ranks differ under no judging.
    """

    rel: float  # smallest grade that counts as relevant
    m: Ints  # relevant judged documents of each query

    def high(self, duels: Duels) -> tuple[Floats, Bools]:
        """Largest difference of each case (or a bound of it), and whether some judging reaches it."""
        in_a, in_b = (duels.rank_a > 0) & duels.is_open, (duels.rank_b > 0) & duels.is_open
        best, count_a = self._sums(duels, duels.rank_a, best=True)
        worst, count_b = self._sums(duels, duels.rank_b, best=False)
        nothing = np.zeros((len(duels), 1))
        none = np.zeros(len(duels), dtype=np.int64)
        is_open = duels.count(duels.is_open)
        m = self.m[duels.query].astype(np.float64)
        outside = duels.count(duels.is_open & ~in_a & ~in_b) + duels.elsewhere
        exact = largest_ratio(best, count_a, worst, count_b, m, outside)
        shared = duels.count(in_a & in_b) > 0
        high_a = largest_ratio(best, count_a, nothing, none, m, is_open - count_a + duels.elsewhere)
        low_b = -largest_ratio(nothing, none, worst, count_b, m, is_open - count_b + duels.elsewhere)
        high = np.where(shared, high_a - low_b, exact)
        apart = duels.count((duels.rank_a != duels.rank_b) & (duels.is_open | (duels.grade >= self.rel))) > 0
        movable = apart & ((is_open > 0) | (duels.elsewhere > 0))
        return np.where(movable, high, duels.difference), ~(shared & apart)

    def _sums(self, duels: Duels, rank: Ranks, best: bool) -> tuple[Floats, Ints]:
        """Sums of precisions with j of the open documents relevant, shape ``(C, most + 1)``, and how many there are."""
        row = np.flatnonzero((rank > 0) & (duels.is_open | (duels.grade >= self.rel)))
        row = row[np.lexsort((rank[row], duels.case[row]))]
        case, is_open, inverse = duels.case[row], duels.is_open[row], 1 / rank[row]
        fixed = ~is_open
        i = running_sum(case, fixed.astype(np.float64))  # relevant judged documents down to here
        of_judged = np.bincount(case, weights=i * inverse * fixed, minlength=len(duels))
        precision = np.bincount(case, weights=inverse * fixed, minlength=len(duels))
        below = precision[case] - running_sum(case, inverse * fixed)  # of judged documents further down
        u = np.flatnonzero(is_open)
        if not best:
            u = u[::-1][np.argsort(case[u][::-1], kind="stable")]  # the last one of each case first
        j = position_in_segment(case[u]) + 1
        others = j - 1 if best else np.zeros(len(u))
        lifted = below[u]
        if not best:
            lifted = lifted + running_sum(case[u], inverse[u]) - inverse[u]
        gained = (i[u] + others + 1) * inverse[u] + lifted
        count = np.bincount(case[u], minlength=len(duels))
        sums = np.zeros((len(duels), int(count.max(initial=0)) + 1))
        sums[:, 0] = of_judged
        sums[case[u], j] = gained
        return np.cumsum(sums, axis=1), count
