"""Bounds of measures over the number of relevant documents, or over an ideal: AP, LR, nDCG.

Open documents move both the numerator and the denominator. The largest ratios are found by guesses
that rise to them (Dinkelbach, Management Science 1967, doi 10.1287/mnsc.13.7.492).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import (
    Floats,
    Ints,
    per_query_sum,
    position_in_segment,
    ranges,
    ratio,
    running_sum,
)
from ir_lexirecall._util.lazy import special
from ir_lexirecall._util.rounding import SUM
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.judging.ranking_pairs import (
    Largest,
    RankingPairs,
    Retrieved,
    segment_max,
)

_GUESSES = 100


def raised(
    guess: Floats, active: Ints, best: Callable[[Floats, Ints], Floats]
) -> Floats:
    """Raise each active guess to the largest attainable ratio (Dinkelbach's method).

    Args:
        guess: a ratio that some choice attains; the array is changed.
        active: indices of the guesses to raise.
        best: gives, for guesses and their indices, the ratio of the choice with the largest
            numerator - guess x denominator. It is larger than the guess, or that is the largest.
    """
    for _ in range(_GUESSES):
        ratio = best(guess[active], active)
        better = ratio > guess[active]
        guess[active[better]] = ratio[better]
        active = active[better]
        if not len(active):
            break
    return guess


class Sums(NamedTuple):
    """Values of rankings with 0, 1, ... of their open documents relevant."""

    value: Floats  # each at least 0, shape ``(C, ...)``
    most: Ints  # how many open documents there are, shape ``(C,)``

    def of(self, case: Ints) -> Sums:
        """Return the sums of some cases."""
        return Sums(self.value[case], self.most[case])


def largest_ratio(
    plus: Sums | None, minus: Sums | None, m: Floats, outside: Ints
) -> Floats:
    """Return the largest (plus[i] - minus[j]) / (m + i + j + k) over i, j and k.

    They go up to their numbers of documents. The ratio is 0 if nothing is relevant.

    Args:
        plus: values with i relevant documents; None for always 0.
        minus: values with j relevant documents; None for always 0.
        m: shape ``(C,)``; where it is 0, the values for no document are 0.
        outside: largest k, shape ``(C,)``.

    >>> one = np.array([1])
    >>> plus, minus = Sums(np.array([[1.0, 3.0]]), one), Sums(np.array([[0.5, 2.0]]), one)
    >>> largest_ratio(plus, minus, np.array([1.0]), np.array([0]))
    array([1.25])
    """
    nothing = Sums(np.zeros((len(m), 1)), np.zeros(len(m), dtype=np.int64))
    (gained, most_i), (lost, most_j) = plus or nothing, minus or nothing
    i, j = np.arange(gained.shape[1]), np.arange(lost.shape[1])
    gained = np.where(i <= most_i[:, None], gained, -np.inf)
    lost = np.where(j <= most_j[:, None], lost, np.inf)

    def best(guess: Floats, case: Ints) -> Floats:
        best_i = (gained[case] - guess[:, None] * i).argmax(axis=1)
        best_j = (lost[case] + guess[:, None] * j).argmin(axis=1)
        numerator = gained[case, best_i] - lost[case, best_j]
        denominator = m[case] + best_i + best_j + np.where(guess < 0, outside[case], 0)
        return ratio(numerator, denominator)

    guess = ratio(gained[:, 0] - lost[:, 0], m)
    return raised(
        guess, np.flatnonzero((most_i > 0) | (most_j > 0) | (outside > 0)), best
    )


@dataclass(frozen=True)
class AveragePrecision:
    """Bound (1 / m) x the sum of i / p_i over the retrieved relevant documents.

    With j of its open documents relevant, a ranking has its largest sum if they are the first ones,
    and its smallest if they are the last. If no open document is in both rankings (within the
    cutoff), the numbers j_A and j_B alone decide, and m = judged + j_A + j_B (+ relevant documents
    elsewhere): exact. Else the bound is that of A's largest and B's smallest value, which no single
    judging may reach. Rankings with all these documents at the same ranks differ under no judging.
    """

    rel: float  # smallest grade that counts as relevant
    m: Ints  # relevant judged documents of each query

    def __call__(self, pairs: RankingPairs) -> Largest:
        """Return the largest difference of each case, or a bound of it, and whether it is exact."""
        in_a, in_b = pairs.a.has & pairs.is_open, pairs.b.has & pairs.is_open
        best, worst = (
            self.sums(pairs, pairs.a, best=True),
            self.sums(pairs, pairs.b, best=False),
        )
        n_open, m = pairs.count(pairs.is_open), self.m[pairs.query].astype(np.float64)
        # Without shared open documents, the numbers of both decide together.
        outside_both = pairs.count(pairs.is_open & ~in_a & ~in_b) + pairs.elsewhere
        exact = largest_ratio(best, worst, m, outside_both)
        # With some, A's largest value and B's smallest are taken apart.
        outside_b = n_open - worst.most + pairs.elsewhere
        best_of_a = largest_ratio(best, None, m, np.zeros_like(n_open))
        high = best_of_a + largest_ratio(None, worst, m, outside_b)

        has_shared = pairs.count(in_a & in_b) > 0
        may_be_relevant = pairs.is_open | (pairs.grade >= self.rel)
        differs = pairs.count((pairs.a.rank != pairs.b.rank) & may_be_relevant) > 0
        can_change = differs & ((n_open > 0) | (pairs.elsewhere > 0))
        bound = np.where(
            can_change, np.where(has_shared, high, exact), pairs.difference
        )
        return bound, ~(has_shared & differs)

    def extreme(
        self, pairs: RankingPairs, one: Retrieved, outside: Ints | None
    ) -> Floats:
        """Return the largest AP of a ranking over all judgings, or the smallest.

        It is the smallest if `outside` is given: relevant documents outside the ranking, at most.
        """
        sums = self.sums(pairs, one, best=outside is None)
        m = self.m[pairs.query].astype(np.float64)
        if outside is None:
            return largest_ratio(sums, None, m, np.zeros(len(pairs), dtype=np.int64))
        return -largest_ratio(None, sums, m, outside)

    def sums(self, pairs: RankingPairs, one: Retrieved, best: bool) -> Sums:
        """Return sums of precisions with j open documents relevant, shape `(C, most + 1)`."""
        row = pairs.in_order(one, pairs.is_open | (pairs.grade >= self.rel))
        case, is_open, inverse = pairs.case[row], pairs.is_open[row], 1 / one.rank[row]
        fixed = ~is_open
        i = running_sum(
            case, fixed.astype(np.float64)
        )  # relevant judged documents down to here
        of_judged = np.bincount(case, weights=i * inverse * fixed, minlength=len(pairs))
        precision = np.bincount(case, weights=inverse * fixed, minlength=len(pairs))
        # Another relevant document lifts the precisions of the judged ones below it.
        below = precision[case] - running_sum(case, inverse * fixed)
        u = np.flatnonzero(is_open)
        if not best:
            u = u[::-1][
                np.argsort(case[u][::-1], kind="stable")
            ]  # the last one of each case first
        j = position_in_segment(case[u]) + 1
        if best:
            lifted = below[u]
        else:
            lifted = below[u] + running_sum(case[u], inverse[u]) - inverse[u]
        gained = (i[u] + (j if best else 1)) * inverse[u] + lifted
        count = np.bincount(case[u], minlength=len(pairs))
        sums = np.zeros((len(pairs), int(count.max(initial=0)) + 1))
        sums[:, 0] = of_judged
        sums[case[u], j] = gained
        return Sums(np.cumsum(sums, axis=1), count)


@dataclass(frozen=True)
class NestedLexirecall:
    """Bound LR = (r + r / p*) / (m + 1), with p* above p_r - 1 and at most p_r.

    See `measures.recall`. With j of its open documents relevant, a ranking is best if they are the
    first ones, and worst if they are the last: these are componentwise at the smallest and largest
    ranks. Relevant documents that it did not retrieve lower LR. So the best and the worst judging
    of one ranking are found among the numbers j; of two, the bound is that of A's largest and B's
    smallest value, which no single judging may reach.
    """

    rel: float  # smallest grade that counts as relevant
    m: Ints  # relevant judged documents of each query

    def __call__(self, pairs: RankingPairs) -> Largest:
        """Return the largest difference of each case, or a bound of it, and whether it is exact."""
        may_be_relevant = pairs.is_open | (pairs.grade >= self.rel)
        in_a, in_b = pairs.a.has & may_be_relevant, pairs.b.has & may_be_relevant
        outside_b = pairs.count(pairs.is_open & ~in_b) + pairs.elsewhere
        high = self.extreme(pairs, pairs.a, None) - self.extreme(
            pairs, pairs.b, outside_b
        )
        n_differing = pairs.count((in_a | in_b) & (pairs.a.rank != pairs.b.rank))
        differs = pairs.alone | (n_differing > 0)
        can_change = differs & (
            (pairs.count(pairs.is_open) > 0) | (pairs.elsewhere > 0)
        )
        bound = np.where(can_change, high, pairs.difference)
        return bound, np.full(len(pairs), pairs.alone) | ~can_change

    def extreme(
        self, pairs: RankingPairs, one: Retrieved, outside: Ints | None
    ) -> Floats:
        """Return the largest LR of a ranking over all judgings, or the smallest.

        It is the smallest if `outside` is given: relevant documents outside the ranking, at most.
        """
        row = pairs.in_order(one, pairs.is_open | (pairs.grade >= self.rel))
        case, is_open = pairs.case[row], pairs.is_open[row]
        rank: Floats = one.rank[row].astype(np.float64)
        n_open = np.bincount(case[is_open], minlength=len(pairs))
        n_judged = np.bincount(case[~is_open], minlength=len(pairs))
        # In which order the open documents of a case become relevant.
        number = position_in_segment(case[is_open])
        order = np.full(len(row), -1)
        if outside is None:
            order[is_open] = number
        else:
            order[is_open] = n_open[case[is_open]] - 1 - number

        # A choice is a case and a number j of its open documents that are relevant.
        first_choice = np.cumsum(n_open + 1) - (n_open + 1)
        case_of = np.repeat(np.arange(len(pairs)), n_open + 1)
        j = position_in_segment(case_of)
        last_judged = segment_max(case[~is_open], rank[~is_open], np.zeros(len(pairs)))
        last_open = segment_max(case[is_open], rank[is_open], np.zeros(len(pairs)))
        last = np.where(j > 0, last_open[case_of], 0.0)
        if outside is None:
            last[first_choice[case[is_open]] + number + 1] = rank[is_open]
        last = np.maximum(last, last_judged[case_of])
        r = n_judged[case_of] + j
        m = self.m[pairs.query[case_of]] + j
        if outside is not None:
            m = m + outside[case_of]

        # LR lies between these; few choices remain that can be the extreme ones.
        least = (r + r / np.maximum(last, 1)) / (m + 1)
        most = (r + r / np.maximum(last - 1, 1)) / (m + 1)
        if outside is None:
            can_be_largest = most >= np.maximum.reduceat(least, first_choice)[
                case_of
            ] * (1 - SUM)
            choices = np.flatnonzero(can_be_largest)
        else:
            can_be_smallest = least <= np.minimum.reduceat(most, first_choice)[
                case_of
            ] * (1 + SUM)
            choices = np.flatnonzero(can_be_smallest)

        n_documents = (n_open + n_judged)[case_of[choices]]
        start = np.searchsorted(case, case_of[choices])
        document = ranges(start, start + n_documents)
        choice = np.repeat(np.arange(len(choices)), n_documents)
        is_relevant = order[document] < j[choices][choice]
        ranks = rank[document[is_relevant]]
        value = _nested(
            choice[is_relevant], ranks, r[choices], last[choices], m[choices]
        )
        if outside is None:
            largest = np.full(len(pairs), -np.inf)
            np.maximum.at(largest, case_of[choices], value)
            return largest
        smallest = np.full(len(pairs), np.inf)
        np.minimum.at(smallest, case_of[choices], value)
        return smallest


ByRun: TypeAlias = AveragePrecision | NestedLexirecall
"""Measures whose differences of all pairs are bounded by what each run reaches by itself."""


def _nested(case: Ints, rank: Floats, r: Ints, last: Floats, m: Ints) -> Floats:
    """Return the LR of cases from the ranks of their relevant documents, in order.

    It is computed from logarithms of binomial coefficients.
    """

    def log_binomial(n: Any, k: Any) -> Floats:
        return (
            special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
        )

    level = position_in_segment(case) + 1.0
    placements = log_binomial(np.maximum(last, 1) - 1, np.maximum(r, 1) - 1.0)
    counts = (level < r[case]) & (rank > level)  # C(p_i - 1, i) is 0 where p_i = i
    case, rank, level = case[counts], rank[counts], level[counts]
    share = np.exp(log_binomial(rank - 1, level) - placements[case])
    better = np.bincount(case, share, minlength=len(r))
    p = np.maximum(last, 1) - 1 + better + np.exp(-placements)
    return np.where(r > 0, (r + r / p) / (m + 1), 0.0)


@dataclass(frozen=True)
class Normalised:
    """Bound the sum of discount(rank) x gain over that of the best ranking, both down to rank k.

    The bound is exact. The ideal depends on how many open documents have grade 1 and more, 2 and
    more, ...: s_1 >= s_2 >= ... >= s_G. For given numbers the numerator is largest if the highest
    gains go to the documents with the largest D_u. For a guess of the largest ratio, numerator -
    guess x ideal is a sum over grades of functions of s_j alone, and running maxima find the best
    numbers; their ratio is the next guess.
    """

    cutoff: int | None  # k, None: none
    discount: Callable[[Floats], Floats]  # of a rank, falling
    gain: Callable[[Floats], Floats]  # of a grade: 0 for grades up to 0, rising above
    max_rel: int  # the top grade
    judgments: Judgments

    def __call__(self, pairs: RankingPairs) -> Largest:
        """Return the largest difference of each case, or a bound of it, and whether it is exact."""
        high, is_exact = pairs.difference.copy(), np.ones(len(pairs), dtype=bool)
        moves = pairs.moves(
            lambda rank, retrieved: self.discount(rank.astype(np.float64))
        )
        # Open documents, the largest D_u of each case first. Those with D_u = 0 move the ideal
        # only, and no more than k can be in it.
        moving = pairs.is_open & (moves != 0)
        still = pairs.count(pairs.is_open & (moves == 0)) + pairs.elsewhere
        if self.cutoff is not None:
            still = np.minimum(still, self.cutoff)
        case = np.concatenate(
            [pairs.case[moving], np.repeat(np.arange(len(pairs)), still)]
        )
        gained = np.concatenate([moves[moving], np.zeros(still.sum())])
        order = np.lexsort((-gained, case))
        case, gained = case[order], gained[order]
        # If no open document can move anything, the value is today's, to the last bit.
        count = np.bincount(case, minlength=len(pairs))
        movable = np.flatnonzero(count > 0)
        if len(movable) == 0:
            return high, is_exact
        # Sums of the first s moves, none beyond their number.
        prefix = np.full((len(pairs), int(count.max()) + 1), -np.inf)
        prefix[:, 0] = 0
        prefix[case, position_in_segment(case) + 1] = gained
        prefix = np.cumsum(prefix[movable], axis=1)
        # The part of the numerator that judged documents give.
        gain = np.where(pairs.is_open, 0.0, self.gain(pairs.grade))
        fixed = per_query_sum(pairs.case, gain * moves, len(pairs))[movable]
        gains = self.gain(np.arange(self.max_rel + 1.0))
        steps, ideal = (
            np.diff(gains),
            self._ideals(pairs.query[movable], prefix.shape[1], gains),
        )
        nothing = ideal[:, :, 0].sum(axis=1) <= 0

        def best_ratio(guess: Floats, at: Ints) -> Floats:
            """Return the ratio of the choice with the largest numerator - guess x ideal."""
            row, sums = np.arange(len(at))[:, None], prefix[at]
            numerator, denominator = np.zeros_like(sums), np.zeros_like(sums)
            for j in reversed(range(len(steps))):
                numerator = numerator + steps[j] * sums
                denominator = denominator + ideal[at, j]
                worth = numerator - guess[:, None] * denominator
                if j == 0:
                    worth[
                        nothing[at], 0
                    ] = -np.inf  # without relevant documents, there is no ratio
                    break
                # s_j is at least s_(j+1): take the best number up to s_j.
                best = _index_of_running_maximum(worth)
                numerator, denominator = numerator[row, best], denominator[row, best]
            chosen = row[:, 0], worth.argmax(axis=1)
            return (fixed[at] + numerator[chosen]) / denominator[chosen]

        # Start from no relevant document or, if that gives no ratio, from the top grade for all.
        row, start = np.arange(len(movable)), np.where(nothing, count[movable], 0)
        guess = (fixed + steps.sum() * prefix[row, start]) / ideal[row, :, start].sum(
            axis=1
        )
        guess = raised(guess, row, best_ratio)
        high[movable] = np.where(nothing, np.maximum(guess, 0.0), guess)
        return high, is_exact

    def _ideals(self, query: Ints, sizes: int, gains: Floats) -> Floats:
        """Return what s open documents of grade j and more add to the ideal.

        The shape is `(C, G, sizes)`.
        """
        # Between two neighbouring gains, those judged documents count that have more than the
        # lower one.
        judged_gain = self.gain(self.judgments.grade)
        edges = np.unique(np.concatenate([gains, judged_gain]))
        queries, row = np.unique(query, return_inverse=True)
        most = int(np.bincount(self.judgments.query, minlength=1).max()) + sizes
        if self.cutoff is None:
            k = most
        else:
            k = min(self.cutoff, most)
        total = np.r_[0.0, np.cumsum(self.discount(np.arange(1.0, k + 1)))]
        ideals = np.zeros((len(queries), len(gains) - 1, sizes))
        s = np.arange(sizes)
        for low, high in pairwise(edges.tolist()):
            query_of_better = self.judgments.query[judged_gain >= high]
            n_better = np.bincount(query_of_better, minlength=int(queries.max()) + 1)[
                queries
            ]
            j = int(np.searchsorted(gains, high)) - 1
            ideals[:, j] += (high - low) * total[np.minimum(n_better[:, None] + s, k)]
        return ideals[row]


def _index_of_running_maximum(x: Floats) -> Ints:
    """Return, for each number of a row, the index of the first largest number up to it."""
    highest = np.maximum.accumulate(x, axis=1)
    is_new = np.ones(x.shape, dtype=bool)
    is_new[:, 1:] = x[:, 1:] > highest[:, :-1]
    return np.maximum.accumulate(np.where(is_new, np.arange(x.shape[1]), 0), axis=1)
