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
    Bools,
    Floats,
    Ints,
    per_query_sum,
    position_in_segment,
    ranges,
    ratio,
    running_sum,
    starts_segment,
)
from ir_lexirecall._util.lazy import cached_property, special
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
        in_neither = ~pairs.a.has & ~pairs.b.has
        best = self.sums(pairs, pairs.a, best=True)
        worst = self.sums(pairs, pairs.b, best=False)
        n_open, m = pairs.count(pairs.is_open), self.m[pairs.query].astype(np.float64)
        # Without shared open documents, the numbers of both decide together.
        outside_both = pairs.count(pairs.is_open & in_neither) + pairs.elsewhere
        exact = largest_ratio(best, worst, m, outside_both)
        # With some, A's largest value and B's smallest are taken apart.
        outside_b = n_open - worst.most + pairs.elsewhere
        best_of_a = largest_ratio(best, None, m, np.zeros_like(n_open))
        high = best_of_a + largest_ratio(None, worst, m, outside_b)

        has_shared = pairs.count(pairs.shared) > 0
        differs = _differs(pairs, self.rel)
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
        row = pairs.in_order(one, pairs.may_be_relevant(self.rel))
        case, is_open, inverse = pairs.case[row], pairs.is_open[row], 1 / one.rank[row]
        fixed = ~is_open
        # Number of relevant judged documents down to here.
        i = running_sum(case, fixed.astype(np.float64))
        of_judged = np.bincount(case, weights=i * inverse * fixed, minlength=len(pairs))
        precision = np.bincount(case, weights=inverse * fixed, minlength=len(pairs))
        # Another relevant document lifts the precisions of the judged ones below it.
        below = precision[case] - running_sum(case, inverse * fixed)
        u = np.flatnonzero(is_open)
        if not best:
            # The last document of each case comes first.
            u = u[::-1][np.argsort(case[u][::-1], kind="stable")]
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
        outside_b = pairs.count(pairs.is_open & ~pairs.b.has) + pairs.elsewhere
        high = self.extreme(pairs, pairs.a, None) - self.extreme(
            pairs, pairs.b, outside_b
        )
        differs = pairs.alone | _differs(pairs, self.rel)
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
        ranking = _OpenRanking.of(
            pairs, one, self.rel, is_first_relevant=outside is None
        )
        choices = ranking.choices(self.m[pairs.query], outside)
        if outside is None:
            choices = choices.only(choices.can_be_largest)
            largest = np.full(len(pairs), -np.inf)
            np.maximum.at(largest, choices.case, ranking.nested(choices))
            return largest
        choices = choices.only(choices.can_be_smallest)
        smallest = np.full(len(pairs), np.inf)
        np.minimum.at(smallest, choices.case, ranking.nested(choices))
        return smallest


def _differs(pairs: RankingPairs, rel: float) -> Bools:
    """Return the cases with a document at different ranks that is or may be relevant."""
    return pairs.count(pairs.may_be_relevant(rel) & (pairs.a.rank != pairs.b.rank)) > 0


@dataclass(frozen=True)
class _OpenRanking:
    """Documents of one ranking of each case that are or may be relevant: arrays of shape `(N,)`.

    Attributes:
        case: index of the case; the documents of a case follow each other by rank.
        rank: rank of the document.
        is_open: whether the document is open; else it is relevant.
        turn: of open documents, how many of the case become relevant before it; else -1.
        n_open, n_judged: numbers of documents of each case, shape `(C,)`.
        is_first_relevant: whether the first open documents become relevant first, or the last ones.
    """

    case: Ints
    rank: Floats
    is_open: Bools
    turn: Ints
    n_open: Ints
    n_judged: Ints
    is_first_relevant: bool

    @classmethod
    def of(
        cls, pairs: RankingPairs, one: Retrieved, rel: float, *, is_first_relevant: bool
    ) -> _OpenRanking:
        """Return the documents of one ranking of each case."""
        row = pairs.in_order(one, pairs.may_be_relevant(rel))
        case, is_open = pairs.case[row], pairs.is_open[row]
        n_open = np.bincount(case[is_open], minlength=len(pairs))
        n_judged = np.bincount(case[~is_open], minlength=len(pairs))
        number = position_in_segment(case[is_open])
        turn = np.full(len(row), -1)
        if is_first_relevant:
            turn[is_open] = number
        else:
            turn[is_open] = n_open[case[is_open]] - 1 - number
        rank = one.rank[row].astype(np.float64)
        return cls(case, rank, is_open, turn, n_open, n_judged, is_first_relevant)

    def choices(self, m: Ints, outside: Ints | None) -> _Choices:
        """Return every choice of a case and of a number of its open documents that are relevant.

        Args:
            m: relevant judged documents of each case, retrieved or not.
            outside: relevant documents of each case outside the ranking, if there are some.
        """
        n_cases = len(self.n_open)
        first = np.cumsum(self.n_open + 1) - (self.n_open + 1)
        case = np.repeat(np.arange(n_cases), self.n_open + 1)
        j = position_in_segment(case)
        m_of_choice = m[case] + j
        if outside is not None:
            m_of_choice = m_of_choice + outside[case]
        last = np.maximum(
            self._last_open(case, first, j), self._last(~self.is_open)[case]
        )
        return _Choices(case, j, self.n_judged[case] + j, m_of_choice, last)

    def _last_open(self, case: Ints, first: Ints, j: Ints) -> Floats:
        """Return the rank of the last open document that is relevant in a choice; 0 without one."""
        last = np.where(j > 0, self._last(self.is_open)[case], 0.0)
        if self.is_first_relevant:
            choice = first[self.case[self.is_open]] + self.turn[self.is_open] + 1
            last[choice] = self.rank[self.is_open]
        return last

    def _last(self, which: Bools) -> Floats:
        """Return the last rank of some documents of each case, 0 without one."""
        nothing = np.zeros(len(self.n_open))
        return segment_max(self.case[which], self.rank[which], nothing)

    def nested(self, choices: _Choices) -> Floats:
        """Return the LR of choices."""
        n_documents = (self.n_open + self.n_judged)[choices.case]
        start = np.searchsorted(self.case, choices.case)
        document = ranges(start, start + n_documents)
        choice = np.repeat(np.arange(len(choices.case)), n_documents)
        is_relevant = self.turn[document] < choices.j[choice]
        ranks = self.rank[document[is_relevant]]
        return _nested(choice[is_relevant], ranks, choices.r, choices.last, choices.m)


class _Choices(NamedTuple):
    """Choices of a case and of how many open documents are relevant: arrays of shape `(K,)`.

    Attributes:
        case: index of the case; the choices of a case follow each other.
        j: number of its open documents that are relevant.
        r: number of retrieved relevant documents.
        m: number of relevant documents.
        last: rank of the last retrieved relevant document, 0 without one.
    """

    case: Ints
    j: Ints
    r: Ints
    m: Ints
    last: Floats

    def only(self, which: Bools) -> _Choices:
        """Return some of the choices."""
        return _Choices._make(column[which] for column in self)

    @property
    def _first(self) -> Ints:
        """The first choice of each case, shape `(C,)`; every case has one."""
        return np.flatnonzero(starts_segment(self.case))

    @property
    def least(self) -> Floats:
        """Lower bound of the LR of each choice."""
        return (self.r + self.r / np.maximum(self.last, 1)) / (self.m + 1)

    @property
    def most(self) -> Floats:
        """Upper bound of the LR of each choice."""
        return (self.r + self.r / np.maximum(self.last - 1, 1)) / (self.m + 1)

    @property
    def can_be_largest(self) -> Bools:
        """Whether no other choice of the case is certainly larger."""
        highest = np.maximum.reduceat(self.least, self._first)[self.case]
        return self.most >= highest * (1 - SUM)

    @property
    def can_be_smallest(self) -> Bools:
        """Whether no other choice of the case is certainly smaller."""
        lowest = np.minimum.reduceat(self.most, self._first)[self.case]
        return self.least <= lowest * (1 + SUM)


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
        count, sums = self._sums_of_moves(pairs, moves)
        # If no open document can move anything, the value is today's, to the last bit.
        movable = np.flatnonzero(count > 0)
        if len(movable) == 0:
            return high, is_exact
        # The part of the numerator that judged documents give.
        gain = np.where(pairs.is_open, 0.0, self.gain(pairs.grade))
        fixed = per_query_sum(pairs.case, gain * moves, len(pairs))
        gains = self.gain(np.arange(self.max_rel + 1.0))
        ratios = _Ratios(
            fixed[movable],
            sums[movable],
            np.diff(gains),
            self._ideals(pairs.query[movable], sums.shape[1], gains),
        )
        guess = ratios.first_guess(count[movable])
        guess = raised(guess, np.arange(len(movable)), ratios.best)
        high[movable] = np.where(ratios.nothing, np.maximum(guess, 0.0), guess)
        return high, is_exact

    def _sums_of_moves(self, pairs: RankingPairs, moves: Floats) -> tuple[Ints, Floats]:
        """Return the number of open documents, and the sums of D_u of the first s = 0, 1, ...

        The open documents with the largest D_u come first. Those with D_u = 0 move the ideal only,
        and no more than k can be in it.

        Returns:
            Shapes `(C,)` and `(C, most + 1)`; -infinity beyond the number of documents.
        """
        moving = pairs.is_open & (moves != 0)
        still = pairs.count(pairs.is_open & (moves == 0)) + pairs.elsewhere
        if self.cutoff is not None:
            still = np.minimum(still, self.cutoff)
        case = np.concatenate(
            [pairs.case[moving], np.repeat(np.arange(len(pairs)), still)]
        )
        moves = np.concatenate([moves[moving], np.zeros(still.sum())])
        order = np.lexsort((-moves, case))
        case, moves = case[order], moves[order]
        count = np.bincount(case, minlength=len(pairs))
        steps = np.full((len(pairs), int(count.max(initial=0)) + 1), -np.inf)
        steps[:, 0] = 0
        steps[case, position_in_segment(case) + 1] = moves
        return count, np.cumsum(steps, axis=1)

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
            n_better = np.bincount(query_of_better, minlength=int(queries.max()) + 1)
            n_better = n_better[queries]
            j = int(np.searchsorted(gains, high)) - 1
            ideals[:, j] += (high - low) * total[np.minimum(n_better[:, None] + s, k)]
        return ideals[row]


@dataclass(frozen=True)
class _Ratios:
    """Ratios of C cases by how many open documents have which grades; see `Normalised`.

    Attributes:
        fixed: what judged documents add to the numerator, shape `(C,)`.
        sums: of the s largest D_u, for s = 0, 1, ..., shape `(C, sizes)`.
        steps: from the gain of a grade to that of the next, shape `(G,)`.
        ideal: what s documents of grade j and more add to the ideal, shape `(C, G, sizes)`.
    """

    fixed: Floats
    sums: Floats
    steps: Floats
    ideal: Floats

    @cached_property
    def nothing(self) -> Bools:
        """Whether the ideal is 0 without a relevant open document, so that there is no ratio."""
        return self.ideal[:, :, 0].sum(axis=1) <= 0

    def first_guess(self, count: Ints) -> Floats:
        """Return a ratio of each case, that without relevant open documents.

        If there is none, it is the ratio with the top grade for all of `count` open documents.
        """
        row, start = np.arange(len(count)), np.where(self.nothing, count, 0)
        numerator = self.fixed + self.steps.sum() * self.sums[row, start]
        return numerator / self.ideal[row, :, start].sum(axis=1)

    def best(self, guess: Floats, at: Ints) -> Floats:
        """Return the ratio of the choice with the largest numerator - guess x ideal."""
        row, sums = np.arange(len(at))[:, None], self.sums[at]
        numerator, denominator = np.zeros_like(sums), np.zeros_like(sums)
        for j in reversed(range(len(self.steps))):
            numerator = numerator + self.steps[j] * sums
            denominator = denominator + self.ideal[at, j]
            worth = numerator - guess[:, None] * denominator
            if j > 0:
                # s_j is at least s_(j+1): take the best number up to s_j.
                best = _index_of_running_maximum(worth)
                numerator, denominator = numerator[row, best], denominator[row, best]
        worth[self.nothing[at], 0] = -np.inf
        chosen = row[:, 0], worth.argmax(axis=1)
        return (self.fixed[at] + numerator[chosen]) / denominator[chosen]


def _index_of_running_maximum(x: Floats) -> Ints:
    """Return, for each number of a row, the index of the first largest number up to it."""
    highest = np.maximum.accumulate(x, axis=1)
    is_new = np.ones(x.shape, dtype=bool)
    is_new[:, 1:] = x[:, 1:] > highest[:, :-1]
    return np.maximum.accumulate(np.where(is_new, np.arange(x.shape[1]), 0), axis=1)
