"""How far open documents move measures that no ideal ranking normalises: sums of weights (P, RBP) and recall, in closed form; the first
relevant document (RR, Success) and the last one (TSE); and what hides those below it (ERR and its kin)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Ints,
    per_query_sum,
    position_in_segment,
    ratio,
)
from ir_lexirecall.judging.ranking_pairs import (
    Gain,
    Largest,
    RankingPairs,
    Retrieved,
    Weight,
    segment_max,
)
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

    def __call__(self, pairs: RankingPairs) -> Largest:
        moves = np.where(pairs.is_open, pairs.moves(self.weight), 0.0)
        gain = self.top * np.maximum(-moves if self.falls else moves, 0)
        return pairs.difference + per_query_sum(pairs.case, gain, len(pairs)), np.ones(
            len(pairs), dtype=bool
        )


def recall(rel: float, m: Ints, pairs: RankingPairs) -> Largest:
    """r / m: an open document that is relevant adds one to m, and to r where it is retrieved within the cutoff.

    With d = r_A - r_B, X open documents of A alone and Z of both or of neither (these and relevant documents elsewhere move m only), the
    largest difference is (d + X) / (m + X), and (d + X) / (m + X + Z) where d + X is negative.

    Args:
        rel: smallest grade that counts as relevant.
        m: relevant judged documents of each query.
    """
    in_a, in_b = pairs.a.has, pairs.b.has
    relevant = ~pairs.is_open & (pairs.grade >= rel)
    d = pairs.count(relevant & in_a) - pairs.count(relevant & in_b)
    x = pairs.count(pairs.is_open & in_a & ~in_b)
    z = pairs.count(pairs.is_open & (in_a == in_b)) + pairs.elsewhere
    most = d + x
    m = m[pairs.query] + x + np.where(most < 0, z, 0)
    high = ratio(most, m)
    # Where no document could move it, the value is today's, to the last bit.
    return np.where((x == 0) & ((most >= 0) | (z == 0)), pairs.difference, high), np.ones(
        len(pairs), dtype=bool
    )


def shares_of_top(weight: Weight, top: float, of_query: Floats, pairs: RankingPairs) -> Largest:
    """sum of weight(rank) x grade / T, with T the top grade of the query's judgments, at least 1: RBP_TE.

    Open documents add at most their weight; one with a grade above T makes less of all judged documents. With their sum F, the largest
    difference is F / T + sum max(D_u, 0); or F / G and as much, less what the cheapest document of grade G costs, if all cost.

    Args:
        top: G, the top grade.
        of_query: T of each query.
    """
    moves, today = pairs.moves(weight), of_query[pairs.query]
    fixed = per_query_sum(
        pairs.case, np.where(pairs.is_open, 0.0, np.maximum(pairs.grade, 0)) * moves, len(pairs)
    )
    gain = per_query_sum(pairs.case, np.where(pairs.is_open, np.maximum(moves, 0), 0.0), len(pairs))
    nothing = np.where(pairs.elsewhere > 0, 0.0, -np.inf)  # to pay for one that neither retrieved
    cheapest = np.minimum(segment_max(pairs.case[pairs.is_open], moves[pairs.is_open], nothing), 0)
    shrunk = np.where(top > today, fixed / top + cheapest, -np.inf)
    high = np.maximum(fixed / today, shrunk) + gain
    return np.where(np.isinf(cheapest), pairs.difference, high), np.ones(len(pairs), dtype=bool)


_MOST_SHARED = 6  # open documents of both rankings whose 2^s judgings are all looked at


def first(value: Callable[[Ints], Floats], pairs: RankingPairs) -> Largest:
    """value(rank of the first relevant document), falling with the rank: RR, Success.

    One document is the first relevant one of A. Any further relevant one can only bring B's first up, so the best judging has at
    most one open document relevant: the largest of today's difference and U others.
    """
    case = pairs.case[pairs.is_open]
    a, b = (
        np.maximum(today[case], np.where(rank > 0, value(np.maximum(rank, 1)), 0.0))
        for rank, today in ((one.rank[pairs.is_open], one.value) for one in (pairs.a, pairs.b))
    )
    return segment_max(case, a - b, pairs.difference), np.ones(len(pairs), dtype=bool)


def last(exposure: Callable[[Floats], Floats], rel: float, m: Ints, pairs: RankingPairs) -> Largest:
    """exposure(rank of the last relevant document), the bottom's where one is not retrieved: TSE.

    Of several open documents that turn out to be relevant, the one that B has last brings B as far down by itself, and A no
    further: the best judging has at most one of them, the largest of today's difference and U others.

    Args:
        exposure: of a rank, falling; of infinity: the bottom.
        rel, m: as in ``recall``.
    """
    case = pairs.case[pairs.is_open]
    value, bottom, lowest = np.zeros(len(case)), 0.0, float(exposure(np.array([np.inf]))[0])
    for one, sign in ((pairs.a, 1), (pairs.b, -1)):
        if one.is_nothing:
            continue
        # Rank of the last relevant judged document, infinite where one is not retrieved.
        relevant = ~pairs.is_open & (pairs.grade >= rel) & one.has
        judged = segment_max(
            pairs.case[relevant], one.rank[relevant].astype(np.float64), np.zeros(len(pairs))
        )
        judged = np.where(pairs.count(relevant) < m[pairs.query], np.inf, judged)
        at = np.where(one.has, one.rank, np.inf)[pairs.is_open]
        value += sign * exposure(np.maximum(at, judged[case]))
        bottom += sign * lowest
    high = segment_max(case, value, pairs.difference)
    return np.where(pairs.elsewhere > 0, np.maximum(high, bottom), high), np.ones(
        len(pairs), dtype=bool
    )


def cascade(gain: Gain, best: float, pairs: RankingPairs) -> Largest:
    """sum of r_i / i times the product of (1 - r_j) over j < i.

    ERR rises with every r_i (what a document hides is worth at most 1 / (i + 1)), and the difference of two rankings is linear in the
    gain of each document, so grades 0 and max_rel are enough. Open documents of A alone get max_rel, those of B alone 0; of those
    in both all choices are looked at, up to 2^6. Where there are more, the bound is that of A's largest and B's smallest
    value, which no single judging may reach. ``best`` is the gain of the best grade that a document can get.
    """

    def err(one: Retrieved, r: Floats, which: Bools) -> Floats:
        """ERR of one ranking of some cases."""
        row = pairs.in_order(one, (r > 0) & which[pairs.case])
        return expected_reciprocal_rank(
            pairs.case[row], one.rank[row].astype(np.int64), r[row], len(pairs)
        )

    in_a, in_b = pairs.a.has, pairs.b.has
    shared = np.flatnonzero(pairs.shared)
    count = np.bincount(pairs.case[shared], minlength=len(pairs))
    is_exact = count <= _MOST_SHARED
    r = np.where(pairs.is_open, 0.0, gain(pairs.grade))
    r[pairs.is_open & in_a & ~in_b] = best
    r_best, every = r.copy(), np.ones(len(pairs), dtype=bool)
    r_best[shared] = best
    high = np.where(is_exact, -np.inf, err(pairs.a, r_best, every) - err(pairs.b, r, every))
    number = position_in_segment(pairs.case[shared])
    for choice in range(2 ** int(count[is_exact].max(initial=0))):
        part = is_exact & (choice < 2 ** np.minimum(count, _MOST_SHARED))
        r_choice = r.copy()
        r_choice[shared] = np.where(choice >> np.minimum(number, 62) & 1, best, 0.0)
        difference = err(pairs.a, r_choice, part) - err(pairs.b, r_choice, part)
        high = np.where(part, np.maximum(high, difference), high)
    movable = pairs.count(pairs.is_open & (in_a | in_b)) > 0
    return np.where(movable, high, pairs.difference), is_exact


def expected_utility(
    gain: Gain, best: float, discount: Discount, end: float, pairs: RankingPairs
) -> Largest:
    """sum V r / sum V with V(i) = B(i) times the product of (1 - r_j) over j < i, and B falling: CWL_ERR8 to 11, NERR8 to 11.

    A larger r_i adds at least as much to sum V r as it hides further down, and shortens sum V: the value rises with every gain. Open
    documents of A get the best gain, those of B none; both at once where no open document is in both rankings.

    Args:
        best: gain of the best grade that a document can get.
        end: the last rank that is looked at.
    """

    def value(one: Retrieved, r: Floats) -> Floats:
        row, nothing = pairs.in_order(one, r > 0), np.zeros(len(pairs))
        case, at = pairs.case[row], one.rank[row].astype(np.int64)
        items, utility = cwl(case, at, r[row], discount, end=end, unjudged=nothing)
        return utility / items

    r = np.where(pairs.is_open, 0.0, gain(pairs.grade))
    high = value(pairs.a, np.where(pairs.is_open, best, r)) - value(pairs.b, r)
    in_a, in_b = (one.has & (one.rank <= end) & pairs.is_open for one in (pairs.a, pairs.b))
    return np.where(pairs.count(in_a | in_b) > 0, high, pairs.difference), pairs.count(
        in_a & in_b
    ) == 0
