"""How far open documents move a sum of weights, or a recall: each moves it by itself, so the best judging is a closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, per_query_sum
from ir_lexirecall.judging.ranking_pairs import RankingPairs, Weight, segment_max


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
