"""Which of two rankings can win level by level (rpp, invrpp, dcgrpp), whatever grades the open documents turn out to have.

One more relevant document in a ranking moves no recall level down. So open documents of A alone are relevant and those of B alone
are not, if A is to win. Where open documents are in both, a judging that lets A win is looked for: none of them
relevant, all, those that A ranks higher, and, up to 2^8, every choice. A bound is what A gets where they counted for A only: if
A does not win then, it cannot. Between the two the answer is "can win", and not exact.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, per_query_sum, position_in_segment
from ir_lexirecall.data.pools import Pool, Ranks
from ir_lexirecall.judging.duels import Duels

_MOST_SHARED = 8  # open documents of both rankings whose 2^s judgings are all looked at
_ROUNDING = 1e-12  # as preferences take sums for ties
_AT_ONCE = 2**22  # documents of pairs

WEIGHTS: dict[str, Callable[[Floats], Floats]] = {
    "rpp": np.ones_like,
    "invrpp": lambda level: 1 / level,
    "dcgrpp": lambda level: 1 / np.log2(level + 1),
}


def can_win(
    pool: Pool, a: Ints, b: Ints, name: str, *, rel: float, cutoff: int | None, depth: int | None
) -> tuple[Bools, Bools]:
    """Whether run ``a`` can beat run ``b`` under some judging, for P pairs, and whether that is exact; shape ``(P, Q)`` each."""
    queries = len(pool.judgments)
    values = np.zeros((len(pool.rank), queries))
    win, is_exact = np.zeros((2, len(a), queries), dtype=bool)
    step = max(1, _AT_ONCE // max(1, len(pool.query)))
    for start in range(0, len(a), step):
        some = slice(start, start + step)
        duels = Duels.from_pool(pool, a[some], b[some], values, depth=depth, cutoff=cutoff)
        win[some], is_exact[some] = (x.reshape(-1, queries) for x in _can_win(duels, rel, WEIGHTS[name]))
    return win, is_exact


def _can_win(duels: Duels, rel: float, weight: Callable[[Floats], Floats]) -> tuple[Bools, Bools]:
    in_a, in_b = duels.rank_a > 0, duels.rank_b > 0
    fixed = ~duels.is_open & (duels.grade >= rel)
    open_a, open_b = duels.is_open & in_a, duels.is_open & in_b
    shared = np.flatnonzero(open_a & open_b)
    only_a = open_a & ~open_b
    number = position_in_segment(duels.case[shared])
    count = np.bincount(duels.case[shared], minlength=len(duels))
    relaxed = _wins(duels, fixed | open_a, fixed, weight, np.ones(len(duels), dtype=bool))
    win = relaxed & (count == 0)
    sooner = duels.rank_a[shared] < duels.rank_b[shared]
    for choice in (np.zeros(len(shared), dtype=bool), np.ones(len(shared), dtype=bool), sooner):
        unknown = relaxed & ~win
        if not unknown.any():
            break
        win |= _with_choice(duels, fixed | only_a, fixed, shared, choice, weight, unknown)
    few = count <= _MOST_SHARED
    for bits in range(1, 2 ** int(count[relaxed & ~win & few].max(initial=0)) - 1):
        unknown = relaxed & ~win & few & (bits < 2**count)
        if unknown.any():
            choice = (bits >> np.minimum(number, 62) & 1).astype(bool)
            win |= _with_choice(duels, fixed | only_a, fixed, shared, choice, weight, unknown)
    is_exact = ~relaxed | win | few
    return win | ~is_exact, is_exact


def _with_choice(
    duels: Duels,
    relevant_a: Bools,
    relevant_b: Bools,
    shared: Ints,
    choice: Bools,
    weight: Callable[[Floats], Floats],
    which: Bools,
) -> Bools:
    relevant_a, relevant_b = relevant_a.copy(), relevant_b.copy()
    relevant_a[shared] = relevant_b[shared] = choice
    return _wins(duels, relevant_a, relevant_b, weight, which)


def _wins(
    duels: Duels, relevant_a: Bools, relevant_b: Bools, weight: Callable[[Floats], Floats], which: Bools
) -> Bools:
    """Whether A wins with these documents relevant in A and those in B, in some of the cases."""
    a, b = (
        _keys(duels, rank, relevant & which[duels.case])
        for rank, relevant in ((duels.rank_a, relevant_a), (duels.rank_b, relevant_b))
    )
    total = _ahead(a, b, weight, len(duels)) - _ahead(b, a, weight, len(duels))
    levels = np.bincount(a[0], minlength=len(duels)) + np.bincount(b[0], minlength=len(duels))
    scale = np.cumsum(np.r_[1.0, weight(np.arange(1.0, levels.max(initial=0) + 1))])[levels]
    return total > _ROUNDING * scale


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
