"""Preference functions: which of several rankings of one query is better, from the ranks themselves.

Two kinds. An *ordering* puts the systems of a query in order (``standing``: how many are better), so S systems cost
one sort, and preferences are signs of differences. A *pairwise* function gives a number in [-1, 1] for every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall.alignment import JudgedRanks
from ir_lexirecall.scoring.arrays import Floats, Ints

_ROUNDING = 1e-12  # levels that balance (1/2 + 1/3 + 1/6 = 1) must tie, whatever their floats add up to
INCOMPARABLE = np.nan  # what a partial order gives for a pair that it does not order


@dataclass(frozen=True)
class Positions:
    """Ranks of the retrieved relevant documents of S systems on Q queries with m > 0 relevant documents each.

    Attributes:
        rank: the ranks, ascending within a system and query.
        row: for each of ``rank``, which row of the system's ``JudgedRanks`` it is.
        start: where the ranks of system s on query q begin, shape ``(S, Q)``.
        r: how many there are, shape ``(S, Q)``.
        m: relevant documents of each query, shape ``(Q,)``.
    """

    rank: Ints
    row: Ints
    start: Ints
    r: Ints
    m: Ints

    @classmethod
    def of(cls, systems: Sequence[JudgedRanks], rel: float, cutoff: int | None, queries: Ints) -> Positions:
        """Positions at grade ``rel`` within ``cutoff``, on the given queries of the systems' judgments."""
        ranks, rows, counts = [], [], []
        for system in systems:
            keep = system.grade >= rel
            if cutoff is not None:
                keep &= system.rank <= cutoff
            row = np.flatnonzero(keep)
            ranks.append(system.rank[row])
            rows.append(row)
            counts.append(np.bincount(system.query[row], minlength=len(system.judgments)))
        r = np.stack(counts)
        start = (np.cumsum(r) - r.ravel()).reshape(r.shape)
        m = systems[0].judgments.m(rel)
        return cls(np.concatenate(ranks), np.concatenate(rows), start[:, queries], r[:, queries], m[queries])

    def part(self, queries: slice) -> Positions:
        """The same on some of the queries."""
        return replace(self, start=self.start[:, queries], r=self.r[:, queries], m=self.m[queries])

    def padded(self, query: int) -> Floats:
        """p_1, ..., p_m of every system on a query, infinite where missing; shape ``(S, m)``."""
        level = np.arange(self.m[query])
        there = level < self.r[:, query, None]
        ranks = np.full(there.shape, np.inf)
        ranks[there] = self.rank[(self.start[:, query, None] + level)[there]]
        return ranks


def lexirecall_standing(p: Positions) -> Ints:
    """Number of systems with the better ranking, shape ``(S, Q)``: more relevant documents, then p_r, p_{r-1}, ..."""
    standing = _split(-p.r)

    def from_the_end(level: int, system: Ints, query: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        there = p.r[system, query] > level
        last = p.start[system, query] + p.r[system, query] - 1 - level
        return p.rank[last[there]], there

    return _refine(standing, from_the_end)


def lexiprecision_standing(p: Positions) -> Ints:
    """Number of systems with the better ranking, shape ``(S, Q)``: p_1, then p_2, ...; a missing one loses."""
    beyond = int(p.rank.max(initial=0)) + 1

    def from_the_top(level: int, system: Ints, query: Ints) -> tuple[Ints, NDArray[np.bool_]]:
        there = p.m[query] > level
        system, query = system[there], query[there]
        missing = p.r[system, query] <= level
        place = np.where(missing, 0, p.start[system, query] + level)
        return np.where(missing, beyond, p.rank[place] if len(p.rank) else beyond), there

    return _refine(np.zeros_like(p.r), from_the_top)


def _refine(standing: Ints, values: Callable[[int, Ints, Ints], tuple[Ints, NDArray[np.bool_]]]) -> Ints:
    """Break the ties of ``standing`` level by level, until none is left that a further level could break.

    ``values(level, system, query)`` gives what to compare (smaller is better) and for which of the pairs there is
    something left; systems that are tied have equally much left.
    """
    standing = standing.copy()
    system, query = _tied(standing, *np.indices(standing.shape).reshape(2, -1))
    level = 0
    while len(system):
        value, there = values(level, system, query)
        system, query = system[there], query[there]
        place = standing[system, query]
        order = np.lexsort((value, place, query))
        group_changes = np.r_[True, (np.diff(query[order]) != 0) | (np.diff(place[order]) != 0)][: len(order)]
        value_changes = np.r_[True, np.diff(value[order]) != 0][: len(order)]
        at = np.arange(len(order))
        group_start = np.maximum.accumulate(np.where(group_changes, at, 0))
        value_start = np.maximum.accumulate(np.where(group_changes | value_changes, at, 0))
        standing[system[order], query[order]] = place[order] + (value_start - group_start)
        system, query = _tied(standing, system, query)
        level += 1
    return standing


def _tied(standing: Ints, system: Ints, query: Ints) -> tuple[Ints, Ints]:
    """Those of the given (system, query) pairs that share their standing with another one of the same query."""
    key = query * len(standing) + standing[system, query]
    again = np.bincount(key, minlength=1)[key] > 1
    return system[again], query[again]


def _split(value: NDArray[Any]) -> Ints:
    """Standing by one value per system and query, smaller is better."""
    order = np.argsort(value, axis=0, kind="stable")
    in_order = np.take_along_axis(value, order, axis=0)
    changes = np.ones(value.shape, dtype=bool)
    changes[1:] = in_order[1:] != in_order[:-1]
    place = np.maximum.accumulate(np.where(changes, np.arange(len(value))[:, None], 0), axis=0)
    out = np.empty(value.shape, dtype=np.int64)
    np.put_along_axis(out, order, place, axis=0)
    return out


def score_standing(scores: Floats) -> Ints:
    """Number of systems with a larger score, for scores of shape ``(S, Q)``."""
    return _split(-scores)


def rrlexiprecision(ranks: Floats) -> Floats:
    """1/p_i - 1/p'_i at the first i where the rankings differ; ``ranks`` is ``Positions.padded``, result ``(S, S)``."""
    if ranks.shape[1] == 0:
        return np.zeros((len(ranks), len(ranks)))
    differ = ranks[:, None, :] != ranks[None, :, :]
    first = differ.argmax(axis=2)
    gain = 1 / ranks
    rows = np.arange(len(ranks))
    return gain[rows[:, None], first] - gain[rows[None, :], first]


def recall_paired(weights: Callable[[int], Floats]) -> Callable[[Floats], Floats]:
    """Sum over recall levels i of w_i sign(p'_i - p_i), with ``weights(m)`` scaled to sum to 1."""

    def preference(ranks: Floats) -> Floats:
        w = weights(ranks.shape[1])
        earlier = (ranks[:, None, :] < ranks[None, :, :]).astype(np.float64)
        signs = earlier - (ranks[:, None, :] > ranks[None, :, :])
        total = np.add.reduce(signs * (w / w.sum()), axis=2)
        return np.where(np.abs(total) < _ROUNDING, 0.0, total)

    return preference


def _levels(m: int) -> Floats:
    return np.arange(1, m + 1, dtype=np.float64)


def dominance(by_grade: Sequence[Floats]) -> Floats:
    """1 where a system has, at every depth, at least as many documents of every grade or more, and once strictly more.

    ``by_grade`` holds the padded ranks at each grade threshold; the result has 0 for equal rankings and NaN for
    pairs that are not comparable (Ferrante, Ferro, Maistro, ICTIR 2015).
    """
    size = len(by_grade[0])
    at_least, at_most = np.ones((2, size, size), dtype=bool)
    for ranks in by_grade:
        at_least &= np.all(ranks[:, None, :] <= ranks[None, :, :], axis=2)
        at_most &= np.all(ranks[:, None, :] >= ranks[None, :, :], axis=2)
    preference = at_least.astype(np.float64) - at_most
    preference[~at_least & ~at_most] = INCOMPARABLE
    return preference


STANDINGS: dict[str, Callable[[Positions], Ints]] = {
    "lexirecall": lexirecall_standing,
    "lexiprecision": lexiprecision_standing,
}
PAIRWISE: dict[str, Callable[[Floats], Floats]] = {
    "rrlexiprecision": rrlexiprecision,
    "rpp": recall_paired(np.ones),
    "invrpp": recall_paired(lambda m: 1 / _levels(m)),
    "dcgrpp": recall_paired(lambda m: 1 / np.log2(_levels(m) + 1)),
}
NAMES = (*STANDINGS, *PAIRWISE, "dominance")
