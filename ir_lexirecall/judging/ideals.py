"""nDCG: open documents move the sum and the ideal. Exact for any number of grades, by the method of Dinkelbach over numbers of grades.

The ideal depends on how many open documents have grade 1 and more, 2 and more, ...: s_1 >= s_2 >= ... >= s_G. For given numbers the
numerator is largest if the highest gains go to the documents with the largest D_u. For a guess of the largest ratio, numerator -
guess x ideal is a sum over grades of functions of s_j alone, and running maxima find the best numbers; their ratio is the next
guess. Guesses rise to the largest ratio and stop there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, per_query_sum, position_in_segment
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.judging.duels import Duels
from ir_lexirecall.judging.ratios import raised


@dataclass(frozen=True)
class Normalised:
    """sum of discount(rank) x gain over that of the best ranking of all relevant documents, both down to rank k."""

    cutoff: int | None  # k, None: none
    discount: Callable[[Floats], Floats]  # of a rank, falling
    gain: Callable[[Floats], Floats]  # of a grade: 0 for grades up to 0, rising above
    max_rel: int  # the top grade
    judged_query: Ints  # of every judged document
    judged_grade: Floats

    @cached_property
    def gains(self) -> Floats:
        """Gains of the grades 0, 1, ..., max_rel."""
        return self.gain(np.arange(self.max_rel + 1.0))

    def high(self, duels: Duels) -> tuple[Floats, Bools]:
        """Largest difference of each case, and that it is reached."""
        high = duels.difference.copy()
        case, moves = self._candidates(duels)
        # Where no open document can move anything the value is today's, to the last bit.
        some = np.flatnonzero(np.bincount(case, minlength=len(duels)) > 0)
        if len(some) == 0:
            return high, np.ones(len(duels), dtype=bool)
        new = np.cumsum(np.bincount(some, minlength=len(duels))) - 1
        prefix, count = _prefix_sums(new[case], moves, len(some))
        fixed = self._fixed(duels)[some]
        ideal = self._ideals(duels.query[some], prefix.shape[1])
        steps = np.diff(self.gains)
        high[some] = _largest_ratio(fixed, prefix, count, steps, ideal)
        return high, np.ones(len(duels), dtype=bool)

    def _candidates(self, duels: Duels) -> tuple[Ints, Floats]:
        """Case and D_u of the open documents, the largest D_u of each case first; those elsewhere have 0.

        Of documents with D_u = 0, which move the ideal only, no more than k can be in it.
        """
        moves = self._moves(duels)
        still = duels.is_open & (moves == 0)
        count = duels.count(still) + duels.elsewhere
        count = count if self.cutoff is None else np.minimum(count, self.cutoff)
        moving = duels.is_open & ~still
        extra = np.repeat(np.arange(len(duels)), count)
        case = np.concatenate([duels.case[moving], extra])
        moves = np.concatenate([moves[moving], np.zeros(len(extra))])
        order = np.lexsort((-moves, case))
        return case[order], moves[order]

    def _moves(self, duels: Duels) -> Floats:
        """w(rank in A) - w(rank in B) of every document; ranks below the cutoff are 0."""
        return duels.moves(lambda rank, retrieved: self.discount(rank.astype(np.float64)))

    def _fixed(self, duels: Duels) -> Floats:
        """Difference of the sums over judged documents."""
        gain = np.where(duels.is_open, 0.0, self.gain(duels.grade))
        return per_query_sum(duels.case, gain * self._moves(duels), len(duels))

    def _ideals(self, query: Ints, sizes: int) -> Floats:
        """Contribution to the ideal of s open documents of grade j and more, shape ``(C, G, sizes)``."""
        # Between two neighbouring gains, as many judged documents count as have more than the lower one.
        judged_gain = self.gain(self.judged_grade)
        edges = np.unique(np.concatenate([self.gains, judged_gain]))
        queries, row = np.unique(query, return_inverse=True)
        most = int(np.bincount(self.judged_query, minlength=1).max()) + sizes
        k = most if self.cutoff is None else min(self.cutoff, most)
        total = np.r_[0.0, np.cumsum(self.discount(np.arange(1.0, k + 1)))]
        out = np.zeros((len(queries), len(self.gains) - 1, sizes))
        s = np.arange(sizes)
        for low, high in pairwise(edges.tolist()):
            above = np.bincount(self.judged_query[judged_gain >= high], minlength=int(queries.max()) + 1)[queries]
            j = int(np.searchsorted(self.gains, high)) - 1
            out[:, j] += (high - low) * total[np.minimum(above[:, None] + s, k)]
        return out[row]


def _prefix_sums(case: Ints, moves: Floats, cases: int) -> tuple[Floats, Ints]:
    """Sums of the first s moves of each case, shape ``(C, most + 1)``, minus infinity beyond their number; and that number."""
    count = np.bincount(case, minlength=cases)
    padded = np.full((cases, int(count.max(initial=0)) + 1), -np.inf)
    padded[:, 0] = 0
    padded[case, position_in_segment(case) + 1] = moves
    return np.cumsum(padded, axis=1), count


def _largest_ratio(fixed: Floats, prefix: Floats, count: Ints, steps: Floats, ideal: Floats) -> Floats:
    """Largest (fixed + sum of steps x prefix sums) / sum of ideals over s_1 >= ... >= s_G; 0 where nothing is relevant.

    Args:
        fixed: part of the numerator that no choice moves, shape ``(C,)``.
        prefix: sums of the first s moves, shape ``(C, most + 1)``.
        count: how many moves there are.
        steps: gain of each grade above that of the one before, shape ``(G,)``.
        ideal: shape ``(C, G, most + 1)``.
    """
    nothing = ideal[:, :, 0].sum(axis=1) <= 0
    # Start from no document relevant, or where this is no ratio from all of the top grade.
    start = np.where(nothing, count, 0)
    row = np.arange(len(fixed))
    numerator = fixed + steps.sum() * prefix[row, start]
    guess = numerator / ideal[row, :, start].sum(axis=1)
    guess = raised(
        guess, row, lambda at, some: _best_ratio(at, fixed[some], prefix[some], steps, ideal[some], nothing[some])
    )
    return np.where(nothing, np.maximum(guess, 0.0), guess)


def _best_ratio(guess: Floats, fixed: Floats, prefix: Floats, steps: Floats, ideal: Floats, nothing: Bools) -> Floats:
    """Ratio of the choice with the largest numerator - guess x ideal."""
    row = np.arange(len(fixed))[:, None]
    numerator, denominator = np.zeros_like(prefix), np.zeros_like(prefix)
    for j in reversed(range(len(steps))):  # s_j is at least s_(j+1): the best of those up to s_j
        numerator = numerator + steps[j] * prefix
        denominator = denominator + ideal[:, j]
        worth = numerator - guess[:, None] * denominator
        if j == 0:
            worth[nothing, 0] = -np.inf  # no relevant document at all: there is no ratio
            break
        highest = np.maximum.accumulate(worth, axis=1)
        is_new = np.r_["1", np.ones((len(worth), 1), dtype=bool), worth[:, 1:] > highest[:, :-1]]
        best = np.maximum.accumulate(np.where(is_new, np.arange(worth.shape[1]), 0), axis=1)
        numerator, denominator = numerator[row, best], denominator[row, best]
    best = worth.argmax(axis=1)
    chosen = np.arange(len(fixed)), best
    return (fixed + numerator[chosen]) / denominator[chosen]
