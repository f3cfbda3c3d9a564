"""Bounds of measures that no ideal ranking normalises.

In closed form: sums of weights (P, RBP), recall, the first relevant document (RR, Success), and the
last one (TSE).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, per_query_sum, ratio
from ir_lexirecall.judging.ranking_pairs import (
    Largest,
    RankingPairs,
    Retrieved,
    Weight,
    segment_max,
)


@dataclass(frozen=True)
class WeightedSum:
    """Bound a sum over ranks of weight(rank) x gain: P, RBP, DCG, ...

    An open document moves the difference by D_u = w(rank in A) - w(rank in B) per gain. So, with G
    the largest gain, high = today's difference + G x sum max(D_u, 0): the residuals of Moffat and
    Zobel, for two rankings.
    """

    weight: Weight  # of a rank from 1 on
    top: float  # G, the gain of the top grade
    falls: bool = False  # whether a judgment lowers the value by `top`, as in Unjudged

    def __call__(self, pairs: RankingPairs) -> Largest:
        """Return the largest difference of each case, or a bound of it, and whether it is exact."""
        moves = np.where(pairs.is_open, pairs.moves(self.weight), 0.0)
        gain = self.top * np.maximum(-moves if self.falls else moves, 0)
        high = pairs.difference + per_query_sum(pairs.case, gain, len(pairs))
        return high, _exact(pairs)


def recall(rel: float, m: Ints, pairs: RankingPairs) -> Largest:
    """Bound r / m.

    An open document that is relevant adds one to m, and to r if it is retrieved within the cutoff.
    With d = r_A - r_B, X open documents of A alone, and Z of both or of neither (these and relevant
    documents elsewhere move m only), the largest difference is (d + X) / (m + X), and
    (d + X) / (m + X + Z) if d + X is negative.

    Args:
        rel: smallest grade that counts as relevant.
        m: relevant judged documents of each query.
        pairs: the cases.
    """
    in_a, in_b = pairs.a.has, pairs.b.has
    relevant = pairs.is_relevant(rel)
    d = pairs.count(relevant & in_a) - pairs.count(relevant & in_b)
    x = pairs.count(pairs.is_open & in_a & ~in_b)
    z = pairs.count(pairs.is_open & (in_a == in_b)) + pairs.elsewhere
    most = d + x
    high = ratio(most, m[pairs.query] + x + np.where(most < 0, z, 0))
    # Where no document could move it, the value is today's, to the last bit.
    is_fixed = (x == 0) & ((most >= 0) | (z == 0))
    return np.where(is_fixed, pairs.difference, high), _exact(pairs)


def shares_of_top(
    weight: Weight, top: float, top_of_query: Floats, pairs: RankingPairs
) -> Largest:
    """Bound the sum of weight(rank) x grade / T: RBP_TE.

    T is the top grade of the query's judgments, at least 1. Open documents add at most their
    weight; one with a grade above T makes less of all judged documents. With F the sum of the
    judged ones, the largest difference is F / T + sum max(D_u, 0). Or it is F / G and as much, less
    what the cheapest document of grade G costs, if all cost.

    Args:
        weight: of a rank.
        top: G, the top grade that a document can get.
        top_of_query: T of each query.
        pairs: the cases.
    """
    is_open = pairs.is_open
    moves = pairs.moves(weight)
    today = top_of_query[pairs.query]
    judged = np.where(is_open, 0.0, np.maximum(pairs.grade, 0)) * moves
    fixed = per_query_sum(pairs.case, judged, len(pairs))
    gained = np.where(is_open, np.maximum(moves, 0), 0.0)
    gain = per_query_sum(pairs.case, gained, len(pairs))
    # A document of grade G that neither run retrieved costs nothing.
    least = np.where(pairs.elsewhere > 0, 0.0, -np.inf)
    cheapest = np.minimum(segment_max(pairs.case[is_open], moves[is_open], least), 0)
    shrunk = np.where(top > today, fixed / top + cheapest, -np.inf)
    high = np.maximum(fixed / today, shrunk) + gain
    return np.where(np.isinf(cheapest), pairs.difference, high), _exact(pairs)


def first(value: Callable[[Ints], Floats], pairs: RankingPairs) -> Largest:
    """Bound a value of the rank of the first relevant document that falls with it: RR, Success.

    One document is the first relevant one of A. Any further relevant one can only bring B's first
    up. So the best judging has at most one open document relevant: the largest of today's
    difference and U others.
    """
    is_open, case = pairs.is_open, pairs.case[pairs.is_open]

    def with_one(one: Retrieved) -> Floats:
        """Return the value of a ranking if one open document turns out to be relevant."""
        rank = one.rank[is_open]
        of_document = np.where(rank > 0, value(np.maximum(rank, 1)), 0.0)
        return np.maximum(one.value[case], of_document)

    difference = with_one(pairs.a) - with_one(pairs.b)
    return segment_max(case, difference, pairs.difference), _exact(pairs)


def last(
    exposure: Callable[[Floats], Floats], rel: float, m: Ints, pairs: RankingPairs
) -> Largest:
    """Bound the exposure at the rank of the last relevant document: TSE.

    If one is not retrieved, that is the exposure at the bottom. Of several open documents that turn
    out to be relevant, the one that B has last brings B as far down by itself, and A no further. So
    the best judging has at most one of them: the largest of today's difference and U others.

    Args:
        exposure: of a rank, falling; of infinity: the bottom.
        rel: smallest grade that counts as relevant.
        m: relevant judged documents of each query.
        pairs: the cases.
    """
    is_open, case = pairs.is_open, pairs.case[pairs.is_open]
    at_bottom = float(exposure(np.array([np.inf]))[0])
    difference, bottom = np.zeros(len(case)), 0.0
    for one, sign in ((pairs.a, 1), (pairs.b, -1)):
        if one.is_nothing:
            continue
        relevant = pairs.is_relevant(rel) & one.has
        ranks = one.rank[relevant].astype(np.float64)
        last_judged = segment_max(pairs.case[relevant], ranks, np.zeros(len(pairs)))
        is_incomplete = pairs.count(relevant) < m[pairs.query]
        last_judged = np.where(is_incomplete, np.inf, last_judged)
        rank = np.where(one.has, one.rank, np.inf)[is_open]
        difference += sign * exposure(np.maximum(rank, last_judged[case]))
        bottom += sign * at_bottom
    high = segment_max(case, difference, pairs.difference)
    return np.where(pairs.elsewhere > 0, np.maximum(high, bottom), high), _exact(pairs)


def _exact(pairs: RankingPairs) -> Bools:
    """Return that every bound is exact, shape `(C,)`."""
    return np.ones(len(pairs), dtype=bool)
