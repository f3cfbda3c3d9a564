"""How far open documents move measures that no ideal ranking normalises: sums of weights (P, RBP) and recall, in closed form; the first
relevant document (RR, Success) and the last one (TSE); and what hides those below it (ERR and its kin)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, per_query_sum, position_in_segment
from ir_lexirecall.data.pools import Ranks
from ir_lexirecall.judging.ranking_pairs import Gain, RankingPairs, Weight, segment_max
from ir_lexirecall.measures.discounts import Discount, cwl, expected_reciprocal_rank


@dataclass(frozen=True)
class WeightedSum:
    """sum over ranks of weight(rank) x gain: an open document moves the difference by D_u = w(rank in A) - w(rank in B) per gain.

    high = today's difference + G x sum max(D_u, 0), with G the largest gain (P, RBP, DCG, ...: Moffat and Zobel's residuals,
    for two rankings).
    """

    weight: Weight  # of a rank from 1 on
    top: float  # G, the gain of the top grade
    falls: bool = False  # whether a judgment lowers the value by ``top``: where unjudged documents are counted

    def high(self, pairs: RankingPairs) -> tuple[Floats, Bools]:
        """Largest difference of each case, and whether some judging reaches it."""
        moves = np.where(pairs.is_open, pairs.moves(self.weight), 0.0)
        gain = self.top * np.maximum(-moves if self.falls else moves, 0)
        return pairs.difference + per_query_sum(pairs.case, gain, len(pairs)), np.ones(len(pairs), dtype=bool)


@dataclass(frozen=True)
class Recall:
    """r / m: an open document that is relevant adds one to m, and to r where it is retrieved within the cutoff.

    With d = r_A - r_B, X open documents of A alone and Z of both or of neither (these and relevant documents elsewhere move m only), the
    largest difference is (d + X) / (m + X), and (d + X) / (m + X + Z) where d + X is negative.
    """

    rel: float  # smallest grade that counts as relevant
    m: Ints  # relevant judged documents of each query

    def high(self, pairs: RankingPairs) -> tuple[Floats, Bools]:
        """Largest difference of each case, and that it is reached."""
        in_a, in_b = pairs.rank_a > 0, pairs.rank_b > 0
        relevant = ~pairs.is_open & (pairs.grade >= self.rel)
        d = pairs.count(relevant & in_a) - pairs.count(relevant & in_b)
        x = pairs.count(pairs.is_open & in_a & ~in_b)
        z = pairs.count(pairs.is_open & (in_a == in_b)) + pairs.elsewhere
        most = d + x
        m = self.m[pairs.query] + x + np.where(most < 0, z, 0)
        high = np.divide(most, m, out=np.zeros(len(pairs)), where=m > 0)
        # Where no document could move it, the value is today's, to the last bit.
        return np.where((x == 0) & ((most >= 0) | (z == 0)), pairs.difference, high), np.ones(len(pairs), dtype=bool)


@dataclass(frozen=True)
class SharesOfTop:
    """sum of weight(rank) x grade / T, with T the top grade of the query's judgments, at least 1: RBP_TE.

    Open documents add at most their weight; one with a grade above T makes less of all judged documents. With their sum F, the largest
    difference is F / T + sum max(D_u, 0); or F / G and as much, less what the cheapest document of grade G costs, if all cost.
    """

    weight: Weight
    top: float  # G, the top grade
    of_query: Floats  # T of each query

    def high(self, pairs: RankingPairs) -> tuple[Floats, Bools]:
        """Largest difference of each case, and that it is reached."""
        moves, today = pairs.moves(self.weight), self.of_query[pairs.query]
        fixed = per_query_sum(pairs.case, np.where(pairs.is_open, 0.0, np.maximum(pairs.grade, 0)) * moves, len(pairs))
        gain = per_query_sum(pairs.case, np.where(pairs.is_open, np.maximum(moves, 0), 0.0), len(pairs))
        nothing = np.where(pairs.elsewhere > 0, 0.0, -np.inf)  # to pay for one that neither retrieved
        cheapest = np.minimum(segment_max(pairs.case[pairs.is_open], moves[pairs.is_open], nothing), 0)
        shrunk = np.where(self.top > today, fixed / self.top + cheapest, -np.inf)
        high = np.maximum(fixed / today, shrunk) + gain
        return np.where(np.isinf(cheapest), pairs.difference, high), np.ones(len(pairs), dtype=bool)


_MOST_SHARED = 6  # open documents of both rankings whose 2^s judgings are all looked at


@dataclass(frozen=True)
class First:
    """value(rank of the first relevant document), falling with the rank: RR, Success.

    One document is the first relevant one of A. Any further relevant one can only bring B's first up, so the best judging has at
    most one open document relevant: the largest of today's difference and U others.
    """

    value: Callable[[Ints], Floats]  # of a rank from 1 on

    def high(self, pairs: RankingPairs) -> tuple[Floats, Bools]:
        """Largest difference of each case, and that it is reached."""
        case = pairs.case[pairs.is_open]
        a, b = (
            np.maximum(today[case], np.where(rank > 0, self.value(np.maximum(rank, 1)), 0.0))
            for rank, today in (
                (pairs.rank_a[pairs.is_open], pairs.value_a),
                (pairs.rank_b[pairs.is_open], pairs.value_b),
            )
        )
        return segment_max(case, a - b, pairs.difference), np.ones(len(pairs), dtype=bool)


@dataclass(frozen=True)
class Last:
    """exposure(rank of the last relevant document), the bottom's where one is not retrieved: TSE.

    Once A reads down to rank t, every open document above costs A nothing: the best judgings admit the first ones in A's order,
    and B's last rank is a running maximum.
    """

    exposure: Callable[[Floats], Floats]  # of a rank, falling; of infinity: the bottom
    rel: float  # smallest grade that counts as relevant
    m: Ints  # relevant judged documents of each query

    def high(self, pairs: RankingPairs) -> tuple[Floats, Bools]:
        """Largest difference of each case, and that it is reached."""
        last_a, last_b = (self._last(pairs, rank) for rank in (pairs.rank_a, pairs.rank_b))
        at_a, at_b = (np.where(rank > 0, rank, np.inf) for rank in (pairs.rank_a, pairs.rank_b))
        u = np.flatnonzero(pairs.is_open)
        u = u[np.lexsort((at_a[u], pairs.case[u]))]
        case = pairs.case[u]
        value, bottom = np.zeros(len(u)), 0.0
        if not (pairs.alone and pairs.is_a_empty):
            value += self.exposure(np.maximum(at_a[u], last_a[case]))
            bottom += float(self.exposure(np.array([np.inf]))[0])
        if not (pairs.alone and not pairs.is_a_empty):
            value -= self.exposure(_running_max(case, np.maximum(at_b[u], last_b[case])))
            bottom -= float(self.exposure(np.array([np.inf]))[0])
        high = segment_max(case, value, pairs.difference)
        return np.where(pairs.elsewhere > 0, np.maximum(high, bottom), high), np.ones(len(pairs), dtype=bool)

    def _last(self, pairs: RankingPairs, rank: Ranks) -> Floats:
        """Rank of the last relevant judged document of each case, infinite where one is not retrieved."""
        relevant = ~pairs.is_open & (pairs.grade >= self.rel) & (rank > 0)
        last = segment_max(pairs.case[relevant], rank[relevant].astype(np.float64), np.zeros(len(pairs)))
        return np.where(pairs.count(relevant) < self.m[pairs.query], np.inf, last)


def _running_max(case: Ints, values: Floats) -> Floats:
    """Running maximum within every run of equal values of ``case``, which rises.

    >>> _running_max(np.array([0, 0, 0, 2, 2]), np.array([1.0, np.inf, 2.0, 1.0, 3.0]))
    array([ 1., inf, inf,  1.,  3.])
    """
    order = np.argsort(values, kind="stable")
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    top = np.maximum.accumulate(case * len(values) + place) - case * len(values)
    return values[order][top]


@dataclass(frozen=True)
class Cascade:
    """sum of r_i / i times the product of (1 - r_j) over j < i.

    ERR rises with every r_i (what a document hides is worth at most 1 / (i + 1)), and the difference of two rankings is linear in the
    gain of each document, so grades 0 and max_rel are enough. Open documents of A alone get max_rel, those of B alone 0; of those
    in both all choices are looked at, up to 2^6. Where there are more, the bound is that of A's largest and B's smallest
    value, which no single judging may reach.
    """

    gain: Gain
    best: float  # gain of the best grade that a document can get

    def high(self, pairs: RankingPairs) -> tuple[Floats, Bools]:
        """Largest difference of each case (or a bound of it), and whether some judging reaches it."""
        in_a, in_b = pairs.rank_a > 0, pairs.rank_b > 0
        shared = np.flatnonzero(pairs.is_open & in_a & in_b)
        count = np.bincount(pairs.case[shared], minlength=len(pairs))
        is_exact = count <= _MOST_SHARED
        r = np.where(pairs.is_open, 0.0, self.gain(pairs.grade))
        r[pairs.is_open & in_a & ~in_b] = self.best
        r_best = r.copy()
        r_best[shared] = self.best
        bound = self._err(pairs, pairs.rank_a, r_best) - self._err(pairs, pairs.rank_b, r)
        high = np.where(is_exact, -np.inf, bound)
        number = position_in_segment(pairs.case[shared])
        for choice in range(2 ** int(count[is_exact].max(initial=0))):
            part = is_exact & (choice < 2 ** np.minimum(count, _MOST_SHARED))
            r_choice = r.copy()
            r_choice[shared] = np.where(choice >> np.minimum(number, 62) & 1, self.best, 0.0)
            difference = self._err(pairs, pairs.rank_a, r_choice, part) - self._err(pairs, pairs.rank_b, r_choice, part)
            high = np.where(part, np.maximum(high, difference), high)
        movable = np.bincount(pairs.case[pairs.is_open & (in_a | in_b)], minlength=len(pairs)) > 0
        return np.where(movable, high, pairs.difference), is_exact

    def _err(self, pairs: RankingPairs, rank: Ranks, r: Floats, which: Bools | None = None) -> Floats:
        """ERR of one ranking of each case, or of some cases only."""
        row = pairs.in_order(rank, r > 0 if which is None else (r > 0) & which[pairs.case])
        return expected_reciprocal_rank(pairs.case[row], rank[row].astype(np.int64), r[row], len(pairs))


@dataclass(frozen=True)
class ExpectedUtility:
    """sum V r / sum V with V(i) = B(i) times the product of (1 - r_j) over j < i, and B falling: CWL_ERR8 to 11, NERR8 to 11.

    A larger r_i adds at least as much to sum V r as it hides further down, and shortens sum V: the value rises with every gain. Open
    documents of A get the best gain, those of B none; both at once where no open document is in both rankings.
    """

    gain: Gain
    best: float  # gain of the best grade that a document can get
    discount: Discount
    end: float  # the last rank that is looked at

    def high(self, pairs: RankingPairs) -> tuple[Floats, Bools]:
        """Largest difference of each case (or a bound of it), and whether some judging reaches it."""
        r = np.where(pairs.is_open, 0.0, self.gain(pairs.grade))
        high = self._value(pairs, pairs.rank_a, np.where(pairs.is_open, self.best, r))
        high -= self._value(pairs, pairs.rank_b, r)
        read = [(rank > 0) & (rank <= self.end) & pairs.is_open for rank in (pairs.rank_a, pairs.rank_b)]
        moved = pairs.count(read[0] | read[1]) > 0
        return np.where(moved, high, pairs.difference), pairs.count(read[0] & read[1]) == 0

    def _value(self, pairs: RankingPairs, rank: Ranks, r: Floats) -> Floats:
        row, nothing = pairs.in_order(rank, r > 0), np.zeros(len(pairs))
        case, at = pairs.case[row], rank[row].astype(np.int64)
        items, utility = cwl(case, at, r[row], len(pairs), self.discount, end=self.end, unjudged=nothing)
        return utility / items
