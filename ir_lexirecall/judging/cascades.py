"""ERR: a satisfying document hides what stands below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, position_in_segment
from ir_lexirecall.data.pools import Ranks
from ir_lexirecall.judging.duels import Duels
from ir_lexirecall.measures.gain import gain
from ir_lexirecall.measures.reading import expected_reciprocal_rank

_MOST_SHARED = 6  # open documents of both rankings whose 2^s judgings are all looked at


@dataclass(frozen=True)
class Cascade:
    """sum of r_i / i times the product of (1 - r_j) over j < i.

    ERR rises with every r_i (what a document hides is worth at most 1 / (i + 1)), and the difference of two rankings is linear in the
    gain of each document, so grades 0 and max_rel are enough. Open documents of A alone get max_rel, those of B alone 0; of those
    in both all choices are looked at, up to 2^6. Where there are more, the bound is that of A's largest and B's smallest
    value, which no single judging may reach.
    """

    max_rel: float  # top grade of the scale
    kind: str  # of the gain, ``'exp'`` or ``'linear'``
    best: float  # gain of the best grade that a document can get

    def high(self, duels: Duels) -> tuple[Floats, Bools]:
        """Largest difference of each case (or a bound of it), and whether some judging reaches it."""
        in_a, in_b = duels.rank_a > 0, duels.rank_b > 0
        shared = np.flatnonzero(duels.is_open & in_a & in_b)
        count = np.bincount(duels.case[shared], minlength=len(duels))
        is_exact = count <= _MOST_SHARED
        r = np.where(duels.is_open, 0.0, gain(duels.grade, self.max_rel, self.kind))
        r[duels.is_open & in_a & ~in_b] = self.best
        r_best = r.copy()
        r_best[shared] = self.best
        bound = self._err(duels, duels.rank_a, r_best) - self._err(duels, duels.rank_b, r)
        high = np.where(is_exact, -np.inf, bound)
        number = position_in_segment(duels.case[shared])
        for choice in range(2 ** int(count[is_exact].max(initial=0))):
            tried = np.flatnonzero(is_exact & (choice < 2**count))
            part = np.zeros(len(duels), dtype=bool)
            part[tried] = True
            r_choice = r.copy()
            r_choice[shared] = np.where(choice >> np.minimum(number, 62) & 1, self.best, 0.0)
            rows = np.flatnonzero(part[duels.case])
            difference = self._err(duels, duels.rank_a, r_choice, rows) - self._err(duels, duels.rank_b, r_choice, rows)
            high = np.where(part, np.maximum(high, difference), high)
        movable = np.bincount(duels.case[duels.is_open & (in_a | in_b)], minlength=len(duels)) > 0
        return np.where(movable, high, duels.difference), is_exact

    def _err(self, duels: Duels, rank: Ranks, r: Floats, rows: Any = slice(None)) -> Floats:
        """ERR of one ranking of each case, of some documents only."""
        case, rank, r = duels.case[rows], rank[rows].astype(np.int64), r[rows]
        row = np.flatnonzero((rank > 0) & (r > 0))
        row = row[np.lexsort((rank[row], case[row]))]
        return expected_reciprocal_rank(case[row], rank[row], r[row], len(duels))
