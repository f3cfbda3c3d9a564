"""What one of two rankings can reach level by level (rpp, invrpp, dcgrpp), if open documents turn out the best for it.

One more relevant document in a ranking moves no recall level down. So open documents of A alone are relevant and those of B alone
are not, if A is to win. Where open documents are in both, a judging that lets A win is looked for: none of them
relevant, all, those that A ranks higher, and, up to 2^8, every choice. A bound is what A gets where they counted for A only: if
A does not win then, it cannot, and if it loses then, it always does. Between the two the answer is "can win", and not exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, per_query_sum, position_in_segment, row_blocks
from ir_lexirecall.data.pools import Pool, Ranks
from ir_lexirecall.judging.duels import Duels
from ir_lexirecall.judging.lexicographic import Outcomes

_MOST_SHARED = 8  # open documents of both rankings whose 2^s judgings are all looked at
_ROUNDING = 1e-12  # as preferences take sums for ties
_AT_ONCE = 2**22  # documents of pairs

WEIGHTS: dict[str, Callable[[Floats], Floats]] = {
    "rpp": np.ones_like,
    "invrpp": lambda level: 1 / level,
    "dcgrpp": lambda level: 1 / np.log2(level + 1),
}


def best_outcome(
    pool: Pool, a: Ints, b: Ints, name: str, *, rel: float, cutoff: int | None, depth: int | None
) -> tuple[Outcomes, Bools]:
    """What run ``a`` makes of run ``b`` under the best judging, for P pairs, and whether who can win is exact; shape ``(P, Q)`` each.

    1: it can win; 0: it cannot, but may tie; -1: it loses.
    """
    queries = len(pool.judgments)
    values = np.zeros((len(pool.rank), queries))
    best = np.zeros((len(a), queries), dtype=np.int8)
    is_exact = np.zeros(best.shape, dtype=bool)
    for some in row_blocks(len(a), len(pool.query), _AT_ONCE):
        duels = Duels.from_pool(pool, a[some], b[some], values, depth=depth, cutoff=cutoff)
        best[some], is_exact[some] = (x.reshape(-1, queries) for x in _best(duels, rel, WEIGHTS[name]))
    return best, is_exact


def _best(duels: Duels, rel: float, weight: Callable[[Floats], Floats]) -> tuple[Outcomes, Bools]:
    count = duels.count(_shared(duels))
    few = count <= _MOST_SHARED
    most = _outcome(duels, rel, weight, None)
    relaxed = most > 0
    win = relaxed & (count == 0)
    sooner = duels.rank_a < duels.rank_b
    for choice in (np.zeros_like(sooner), np.ones_like(sooner), sooner):
        unknown = relaxed & ~win
        win[unknown] = _outcome(duels.only(unknown), rel, weight, choice[unknown[duels.case]]) > 0
    # Which of the first ``size`` shared documents are relevant, the last of them among these.
    for size in range(1, _MOST_SHARED + 1):
        unknown = relaxed & ~win & few & (count >= size)
        some = duels.only(unknown)
        number = np.zeros(len(some.case), dtype=np.int64)
        shared = _shared(some)
        number[shared] = position_in_segment(some.case[shared])
        for bits in range(2 ** (size - 1), 2**size) if len(some) else ():
            win[unknown] |= _outcome(some, rel, weight, (bits >> number & 1).astype(bool)) > 0
    is_exact = ~relaxed | win | few
    return np.where(win | ~is_exact, 1, np.minimum(most, 0)).astype(np.int8), is_exact


def _shared(duels: Duels) -> Bools:
    """Which open documents are in both rankings."""
    return duels.is_open & (duels.rank_a > 0) & (duels.rank_b > 0)


def _outcome(duels: Duels, rel: float, weight: Callable[[Floats], Floats], choice: Bools | None) -> Outcomes:
    """What A makes of B if its open documents are relevant, those of B are not, and of shared ones these; None: all, in A alone."""
    relevant, shared = ~duels.is_open & (duels.grade >= rel), _shared(duels)
    chosen = shared if choice is None else shared & choice
    a = _keys(duels, duels.rank_a, relevant | (duels.is_open & ~shared) | chosen)
    b = _keys(duels, duels.rank_b, relevant if choice is None else relevant | chosen)
    total = _ahead(a, b, weight, len(duels)) - _ahead(b, a, weight, len(duels))
    levels = np.bincount(a[0], minlength=len(duels)) + np.bincount(b[0], minlength=len(duels))
    scale = np.cumsum(np.r_[1.0, weight(np.arange(1.0, levels.max(initial=0) + 1))])[levels]
    return np.where(np.abs(total) > _ROUNDING * scale, np.sign(total), 0).astype(np.int8)


def _keys(duels: Duels, rank: Ranks, relevant: Bools) -> tuple[Ints, Ints]:
    """Case, and case and rank as one number, of the relevant documents of a ranking, sorted."""
    row = np.flatnonzero(relevant & (rank > 0))
    key = np.sort((duels.case[row] << 32) | rank[row])
    return key >> 32, key


def _ahead(a: tuple[Ints, Ints], b: tuple[Ints, Ints], weight: Callable[[Floats], Floats], cases: int) -> Floats:
    """Weight of the recall levels that A reaches at smaller ranks than B: B has fewer than i documents down to A's i-th."""
    case, key = a
    level = position_in_segment(case) + 1
    start = np.searchsorted(b[0], np.arange(cases))
    down_to = np.searchsorted(b[1], key, side="right") - start[case]
    sooner = down_to < level
    return per_query_sum(case[sooner], weight(level[sooner].astype(np.float64)), cases)
