"""How far open documents move a sum of weights, or a recall: each moves it by itself, so the best judging is a closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, per_query_sum
from ir_lexirecall.judging.duels import Duels, Weight


@dataclass(frozen=True)
class WeightedSum:
    """sum over ranks of weight(rank) x gain: an open document moves the difference by D_u = w(rank in A) - w(rank in B) per gain.

    high = today's difference + G x sum max(D_u, 0), with G the largest gain (P, RBP, DCG, ...: Moffat and Zobel's residuals,
    for two rankings).
    """

    weight: Weight  # of a rank from 1 on
    top: float  # G, the gain of the top grade
    falls: bool = False  # whether a judgment lowers the value by ``top``: where unjudged documents are counted

    def high(self, duels: Duels) -> tuple[Floats, Bools]:
        """Largest difference of each case, and whether some judging reaches it."""
        moves = np.where(duels.is_open, duels.moves(self.weight), 0.0)
        gain = self.top * np.maximum(-moves if self.falls else moves, 0)
        return duels.difference + per_query_sum(duels.case, gain, len(duels)), np.ones(len(duels), dtype=bool)


@dataclass(frozen=True)
class Recall:
    """r / m: an open document that is relevant adds one to m, and to r where it is retrieved within the cutoff.

    With d = r_A - r_B, X open documents of A alone and Z of both or of neither (these and relevant documents elsewhere move m only), the
    largest difference is (d + X) / (m + X), and (d + X) / (m + X + Z) where d + X is negative.
    """

    rel: float  # smallest grade that counts as relevant
    m: Ints  # relevant judged documents of each query

    def high(self, duels: Duels) -> tuple[Floats, Bools]:
        """Largest difference of each case, and that it is reached."""
        in_a, in_b = duels.rank_a > 0, duels.rank_b > 0
        relevant = ~duels.is_open & (duels.grade >= self.rel)
        d = duels.count(relevant & in_a) - duels.count(relevant & in_b)
        x = duels.count(duels.is_open & in_a & ~in_b)
        z = duels.count(duels.is_open & (in_a == in_b)) + duels.elsewhere
        most = d + x
        m = self.m[duels.query] + x + np.where(most < 0, z, 0)
        high = np.divide(most, m, out=np.zeros(len(duels)), where=m > 0)
        # Where no document could move it, the value is today's, to the last bit.
        return np.where((x == 0) & ((most >= 0) | (z == 0)), duels.difference, high), np.ones(len(duels), dtype=bool)
