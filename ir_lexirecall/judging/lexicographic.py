"""What one of two rankings can reach lexicographically, if open documents turn out the best for it: exact, one walk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Bools, Ints, row_blocks, starts_segment
from ir_lexirecall.data.pools import Pool

_AT_ONCE = 2**25  # documents of pairs
_NO, _YES, _OPEN = 0, 1, 2  # what is known of a document: not relevant, relevant, neither
_DEEPEST = np.iinfo(np.int32).max

Outcomes = NDArray[np.int8]  # of run A: 1 wins, 0 ties, -1 loses; also what is known of documents


def best_outcome(
    pool: Pool, a: Ints, b: Ints, *, rel: float, cutoff: int | None, depth: int | None, from_the_end: bool
) -> Outcomes:
    """What run ``a`` makes of run ``b`` under the best judging of the open documents, for P pairs, shape ``(P, Q)``.

    1: it can win; 0: it can tie, but not win; -1: it loses.

    Args:
        pool, a, b, rel, cutoff, depth: as in ``bounds_of_wins``.
        from_the_end: lexicographic recall (the more relevant documents, then the smaller last rank, and so on); otherwise
            lexicographic precision (the smaller first rank, and so on).

    An open document has one grade, so what both runs retrieved is decided for both at once. The walk goes from rank to rank, in the
    order in which the preference looks at them, and stops at the first where A could be ahead; where A cannot, the
    documents at that rank must be alike if A is to win below, or to tie, which decides open ones.
    """
    pool = pool.only(np.where(pool.is_judged, pool.grade >= rel, pool.within(depth)))
    lists = _Lists.from_pool(pool, cutoff, from_the_end)
    out = np.zeros((len(a), len(pool.judgments)), dtype=np.int8)
    for some in row_blocks(len(a), len(pool.query), _AT_ONCE):
        out[some] = _walk(pool, lists, a[some], b[some], rel, cutoff, depth, from_the_end)
    return out


@dataclass(frozen=True)
class _Lists:
    """The documents of every run that may be relevant, in the order of the walk."""

    row: Ints  # their rows in the pool, run by run and query by query; one row more at the end, for none
    order: Ints  # where each stands in the walk
    start: Ints  # where the documents of a run and query begin, shape ``(S, Q)``
    end: Ints  # and where they end

    @classmethod
    def from_pool(cls, pool: Pool, cutoff: int | None, from_the_end: bool) -> _Lists:
        run, row = np.nonzero((pool.rank > 0) & (pool.rank <= (cutoff or _DEEPEST)))
        queries = len(pool.judgments)
        ranking = run * queries + pool.query[row]
        order = pool.rank[run, row].astype(np.int64)
        if from_the_end:
            order = -order
        arranged = np.lexsort((order, ranking))
        count = np.bincount(ranking, minlength=len(pool.rank) * queries)
        end = np.cumsum(count)
        shape = (len(pool.rank), queries)
        return cls(
            np.append(row[arranged], -1),
            np.append(order[arranged], _DEEPEST),
            (end - count).reshape(shape),
            end.reshape(shape),
        )


def _walk(
    pool: Pool,
    lists: _Lists,
    a: Ints,
    b: Ints,
    rel: float,
    cutoff: int | None,
    depth: int | None,
    from_the_end: bool,
) -> Outcomes:
    queries = len(pool.judgments)
    relevant = pool.is_judged & (pool.grade >= rel)
    top = (pool.rank > 0) & (pool.rank <= (_DEEPEST if depth is None else depth)) & ~pool.is_judged
    state: Outcomes = np.where(top[a] | top[b], _OPEN, relevant.astype(np.int8)).astype(np.int8)
    best: Outcomes = np.zeros((len(a), queries), dtype=np.int8)
    if from_the_end:
        seen = (pool.rank > 0) & (pool.rank <= (cutoff or _DEEPEST))
        is_open, only_a, only_b = state == _OPEN, seen[a] & ~seen[b], seen[b] & ~seen[a]
        state[is_open & only_a] = _YES
        state[is_open & only_b] = _NO
        ahead = _count(pool, (state == _YES) & only_a) - _count(pool, (state == _YES) & only_b)
        best = np.sign(ahead).astype(np.int8)
    some = lists.start < lists.end
    pair, query = np.nonzero((best == 0) & (some[a] | some[b]))
    place = [lists.start[s[pair], query] for s in (a, b)]
    end = [lists.end[s[pair], query] for s in (a, b)]
    # With lexirecall A is ahead where B has a relevant document and A has not; with lexiprecision the other way round.
    loser, winner = (0, 1) if from_the_end else (1, 0)
    while len(pair):
        at = [np.where(p < e, lists.order[p], _DEEPEST) for p, e in zip(place, end, strict=True)]
        now = np.minimum(at[0], at[1])
        here = [(each == now) & (p < e) for each, p, e in zip(at, place, end, strict=True)]
        row = [np.where(h, lists.row[p], -1) for p, h in zip(place, here, strict=True)]
        known = [np.where(h, state[pair, r], _NO) for r, h in zip(row, here, strict=True)]
        differ = row[0] != row[1]
        ahead_here = differ & (known[loser] != _YES) & (known[winner] != _NO)
        behind = differ & (known[loser] == _YES) & (known[winner] == _NO)
        # Alike from here on: an open document beside a known one has to be as that one.
        for one, other in ((0, 1), (1, 0)):
            forced = np.flatnonzero(differ & ~ahead_here & (known[one] == _OPEN) & (known[other] != _OPEN))
            state[pair[forced], row[one][forced]] = known[other][forced]
        best[pair[ahead_here], query[ahead_here]] = 1
        best[pair[behind], query[behind]] = -1
        place = [p + h for p, h in zip(place, here, strict=True)]
        going = ~(ahead_here | behind) & ((place[0] < end[0]) | (place[1] < end[1]))
        pair, query = pair[going], query[going]
        place, end = [each[going] for each in place], [each[going] for each in end]
    return best


def _count(pool: Pool, which: Bools) -> Ints:
    """How many documents of each pair and query are so, for ``which`` of shape ``(P, N)``; shape ``(P, Q)``."""
    count = np.zeros((len(which), len(pool.judgments)), dtype=np.int64)
    starts = np.flatnonzero(starts_segment(pool.query))
    if len(starts):
        count[:, pool.query[starts]] = np.add.reduceat(which, starts, axis=1, dtype=np.int64)
    return count
