"""Preference functions: which of several rankings of a query is better, from ranks.

Two kinds. An *ordering* puts the systems of a query in order (``standing``: how many are better),
so S systems cost one sort, and preferences are signs of differences. A *pairwise* function gives a
number in [-1, 1] for every pair, from the ranks of several queries at once, padded to the same
number of levels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.rounding import settled
from ir_lexirecall.data.aligned_run import AlignedRun

Ranks = NDArray[np.signedinteger[Any]]
_REFINED = 2**9  # numbers that are compared at once where systems are still tied
INCOMPARABLE = np.nan  # what a partial order gives for a pair that it does not order


@dataclass(frozen=True)
class Positions:
    """Ranks of the retrieved relevant documents of S runs on Q queries with m > 0 each."""

    rank: Ints  # the ranks, ascending within a system and query
    row: Ints  # for each of ``rank``, which row of the system's ``AlignedRun`` it is
    start: Ints  # where the ranks of system s on query q begin, shape ``(S, Q)``
    r: Ints  # how many there are, shape ``(S, Q)``
    m: Ints  # relevant documents of each query, shape ``(Q,)``

    @classmethod
    def from_runs(
        cls,
        systems: Sequence[AlignedRun],
        rel: float,
        cutoff: int | None,
        queries: Ints,
    ) -> Positions:
        """Return positions at grade ``rel`` within ``cutoff``, on the given queries."""
        ranks, rows, counts = [], [], []
        relevant = systems[0].judgments.grade >= rel
        for system in systems:
            keep = relevant[system.doc]
            if cutoff is not None:
                keep &= system.rank <= cutoff
            row = np.flatnonzero(keep)
            ranks.append(system.rank[row])
            rows.append(row)
            counts.append(
                np.bincount(system.query[row], minlength=len(system.judgments))
            )
        r = np.stack(counts)
        start = (np.cumsum(r) - r.ravel()).reshape(r.shape)
        m = systems[0].judgments.m(rel)
        return cls(
            np.concatenate(ranks),
            np.concatenate(rows),
            start[:, queries],
            r[:, queries],
            m[queries],
        )

    def part(self, queries: slice) -> Positions:
        """Return the same for a subset of the queries."""
        return replace(
            self, start=self.start[:, queries], r=self.r[:, queries], m=self.m[queries]
        )

    def padded(self, queries: Any = slice(None), systems: Any = slice(None)) -> Ranks:
        """Return p_1, p_2, ... on some queries of some systems, shape ``(levels, Q, S)``.

        A missing one is the type's maximum.

        The type is the smallest that holds the ranks, because comparing all pairs reads them often.
        """
        deepest = int(self.rank.max(initial=0))
        dtype = next(
            t for t in (np.int16, np.int32, np.int64) if deepest < np.iinfo(t).max
        )
        r = self.r[systems][:, queries].T
        start = self.start[systems][:, queries].T
        m = self.m[queries]
        level = np.arange(m.max(initial=0))[:, None, None]
        there = level < r
        ranks: Ranks = np.full(there.shape, np.iinfo(dtype).max, dtype=dtype)
        ranks[there] = self.rank[(start + level)[there]]
        return ranks


def lexirecall_standing(p: Positions) -> Ints:
    """Count the systems with a better ranking: more relevant documents, then p_r, p_{r-1}, ..."""

    def from_the_end(level: Ints, system: Any, query: Any) -> Ints:
        last = p.start[system, query] + p.r[system, query] - 1 - level
        if len(p.rank):
            return np.where(p.r[system, query] > level, p.rank[np.maximum(last, 0)], 0)
        return last * 0

    return _lexicographic(
        p, from_the_end, first=p.r.max(initial=0) - p.r, most=int(p.rank.max(initial=0))
    )


def lexiprecision_standing(p: Positions) -> Ints:
    """Count the systems with a better ranking: p_1, then p_2, ...; a missing one loses."""
    beyond = int(p.rank.max(initial=0)) + 1

    def from_the_top(level: Ints, system: Any, query: Any) -> Ints:
        row = p.start[system, query] + level
        there = p.r[system, query] > level
        if len(p.rank):
            return np.where(there, p.rank[np.where(there, row, 0)], beyond)
        return row * 0

    return _lexicographic(p, from_the_top, first=np.zeros_like(p.r), most=beyond)


def _lexicographic(
    p: Positions, value: Callable[[Ints, Any, Any], Ints], *, first: Ints, most: int
) -> Ints:
    """Return the standing by ``first``, then by ``value(level, system, query)`` per level.

    Smaller is better.

    As many levels as 63 bits hold are compared as one number; values lie in 0..``most``. The fewer
    systems are still tied, the more levels are looked at next.
    """
    bits = max(1, most.bit_length())
    at_once, room = max(1, 63 // bits), 63 - int(first.max(initial=0)).bit_length()

    def packed(level: Ints, levels: int, system: Any, query: Any) -> Ints:
        """``levels`` values as one number, from each of the given levels on."""
        key: Ints = np.zeros(1, dtype=np.int64)
        for following in range(levels):
            key = (key << bits) | value(level + following, system, query)
        return key

    done = max(0, room // bits)
    system, query = np.ogrid[: p.r.shape[0], : p.r.shape[1]]
    standing = _split(
        (first << bits * done)
        | packed(np.zeros(1, dtype=np.int64), done, system, query)
    )
    system, query = _tied(standing, *np.indices(standing.shape).reshape(2, -1))
    levels = p.r.max(axis=0, initial=0)
    while True:
        more = levels[query] > done
        system, query = system[more], query[more]
        if len(system) == 0:
            return standing
        left = -(-int(levels[query].max() - done) // at_once)
        numbers = np.arange(min(left, max(1, _REFINED // len(system))))
        keys = packed(done + at_once * numbers[:, None], at_once, system, query)
        _refine(standing, keys, system, query)
        system, query = _tied(standing, system, query)
        done += at_once * len(numbers)


def _refine(standing: Ints, keys: Ints, system: Ints, query: Ints) -> None:
    """Break the ties of ``standing`` among (system, query) pairs by ``keys``, row by row.

    Smaller is better. ``keys`` has a column per pair.
    """
    row = standing[system, query]
    order = np.lexsort((*keys[::-1], row, query))
    group_changes = np.r_[
        True, (np.diff(query[order]) != 0) | (np.diff(row[order]) != 0)
    ]
    key_changes = np.r_[True, (np.diff(keys[:, order]) != 0).any(axis=0)]
    at = np.arange(len(order))
    group_start = np.maximum.accumulate(np.where(group_changes, at, 0))
    key_start = np.maximum.accumulate(np.where(group_changes | key_changes, at, 0))
    standing[system[order], query[order]] = row[order] + (key_start - group_start)


def _tied(standing: Ints, system: Ints, query: Ints) -> tuple[Ints, Ints]:
    """Return the (system, query) pairs that share their standing with another system."""
    key = query * len(standing) + standing[system, query]
    again = np.bincount(key, minlength=1)[key] > 1
    return system[again], query[again]


def _split(value: NDArray[Any]) -> Ints:
    """Standing by one value per system and query, smaller is better."""
    by_query = np.ascontiguousarray(value.T)
    order = np.argsort(by_query, axis=1)
    in_order = np.take_along_axis(by_query, order, axis=1)
    changes = np.ones(by_query.shape, dtype=bool)
    changes[:, 1:] = in_order[:, 1:] != in_order[:, :-1]
    first_of_tie = np.maximum.accumulate(
        np.where(changes, np.arange(len(value)), 0), axis=1
    )
    out = np.empty(value.shape, dtype=np.int64)
    np.put_along_axis(out.T, order, first_of_tie, axis=1)
    return out


def rrlexiprecision(ranks: Ranks, m: Ints) -> Floats:
    """1/p_i - 1/p'_i at the first i where the rankings differ, for every pair; shape ``(Q, S, S)``.

    ``ranks`` and ``m`` are ``Positions.padded`` and ``Positions.m`` of the queries.
    """
    if len(ranks) == 0:
        return np.zeros((*ranks.shape[1:], ranks.shape[2]))
    first = (ranks[:, :, :, None] != ranks[:, :, None, :]).argmax(axis=0)
    gain = np.where(ranks == np.iinfo(ranks.dtype).max, 0.0, 1 / ranks)
    query, system = np.ogrid[: ranks.shape[1], : ranks.shape[2]]
    own_gain = gain[first, query[:, :, None], system[:, :, None]]
    return own_gain - gain[first, query[:, :, None], system[:, None, :]]


def recall_paired(weights: Callable[[int], Floats]) -> Callable[[Ranks, Ints], Floats]:
    """Return a preference: the sum over recall levels i of w_i sign(p'_i - p_i).

    ``weights(m)`` are scaled to sum to 1.
    """

    def preference(ranks: Ranks, m: Ints) -> Floats:
        earlier = ranks[:, :, :, None] < ranks[:, :, None, :]
        w = np.zeros(ranks.shape[:2])
        for size in np.unique(m).tolist():
            w[:size, m == size] = (weights(size) / weights(size).sum())[:, None]
        ahead = np.add.reduce(earlier * w[:, :, None, None], axis=0)
        total = ahead - ahead.transpose(0, 2, 1)
        # Levels that balance (1/2 + 1/3 + 1/6 = 1) tie, whatever their floats add up to.
        return settled(total, 1.0)

    return preference


def _uniform_recall_paired(ranks: Ranks, m: Ints) -> Floats:
    """``recall_paired`` with equal weights: levels are counted, and divided once."""
    earlier = ranks[:, :, :, None] < ranks[:, :, None, :]
    ahead = np.add.reduce(
        earlier.view(np.uint8), axis=0, dtype=np.min_scalar_type(len(ranks))
    ).astype(np.int64)
    return (ahead - ahead.transpose(0, 2, 1)) / np.maximum(m, 1)[:, None, None]


def _levels(m: int) -> Floats:
    return np.arange(1, m + 1, dtype=np.float64)


def dominance(by_grade: Sequence[Ranks]) -> Floats:
    """Return 1 where a system dominates another one.

    It does if, at every depth, it has at least as many documents of every grade or more, and once
    strictly more.

    ``by_grade`` holds the padded ranks at each grade threshold; the result, of shape ``(Q, S, S)``,
    has 0 for equal rankings and NaN for pairs that are not comparable (Ferrante, Ferro, Maistro,
    ICTIR 2015).
    """
    _, queries, size = by_grade[0].shape
    at_least = np.ones((queries, size, size), dtype=bool)
    for ranks in by_grade:
        at_least &= np.all(ranks[:, :, :, None] <= ranks[:, :, None, :], axis=0)
    at_most = at_least.transpose(0, 2, 1)
    preference = at_least.astype(np.float64) - at_most
    preference[~at_least & ~at_most] = INCOMPARABLE
    return preference


STANDINGS: dict[str, Callable[[Positions], Ints]] = {
    "lexirecall": lexirecall_standing,
    "lexiprecision": lexiprecision_standing,
}
PAIRWISE: dict[str, Callable[[Ranks, Ints], Floats]] = {
    "rrlexiprecision": rrlexiprecision,
    "rpp": _uniform_recall_paired,
    "invrpp": recall_paired(lambda m: 1 / _levels(m)),
    "dcgrpp": recall_paired(lambda m: 1 / np.log2(_levels(m) + 1)),
}
NAMES = (*STANDINGS, *PAIRWISE, "dominance")
# Preferences that are decided at the first level that differs.
LEXICOGRAPHIC = ("lexirecall", "lexiprecision", "rrlexiprecision")
