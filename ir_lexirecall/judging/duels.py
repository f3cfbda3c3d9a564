"""``Duels``: pairs of rankings of one query, side by side, with the unjudged documents that could decide between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Bools, Floats, Ints, per_query_count
from ir_lexirecall.data.pools import Pool, Ranks

Weight = Callable[[Ints, Ints], NDArray[np.floating[Any]]]
"""Weights of documents from their ranks and the number of documents that their ranking holds."""


@dataclass(frozen=True)
class Duels:
    """C cases, each a ranking A and a ranking B of one query, and their documents that have a gain or may turn out to have one.

    An *open* document has no judgment and stands among the first ``depth`` of A or B: it may turn out to have any grade, the same
    in both rankings. What is ranked below counts as not relevant.
    """

    case: Ints  # case of each of the N documents, rising, shape ``(N,)``
    rank_a: Ranks  # its rank in A, 0: not retrieved
    rank_b: Ranks
    is_open: Bools  # whether it is open
    grade: Floats  # its grade, 0 for unjudged ones
    query: Ints  # query of each case, shape ``(C,)``
    retrieved_a: Ints  # how many documents A retrieved, shape ``(C,)``
    retrieved_b: Ints
    value_a: Floats  # what the measure says of A today, shape ``(C,)``
    value_b: Floats
    elsewhere: Ints  # relevant documents of each case, at most, that neither retrieved, shape ``(C,)``
    alone: bool = False  # whether one of the two is no ranking at all, and its value 0: bounds of the other's value
    is_a_empty: bool = False  # whether that is A

    @classmethod
    def from_pool(
        cls,
        pool: Pool,
        a: Ints,
        b: Ints | None,
        values: Floats,
        *,
        depth: int | None,
        cutoff: int | None,
        unretrieved: int = 0,
    ) -> Duels:
        """The cases of pairs of runs on all queries, pair by pair: case ``p * Q + q``; arguments as of ``bounds_of_differences``.

        Documents below ``cutoff`` count as not retrieved; open ones can still be relevant.
        """
        pool = pool.only(np.where(pool.is_judged, pool.grade > 0, pool.within(depth)))
        queries = len(pool.judgments)
        rank_a = pool.rank[a]
        rank_b = np.zeros_like(rank_a) if b is None else pool.rank[b]
        is_open = ~pool.is_judged & (_within(rank_a, depth) | _within(rank_b, depth))
        rank_a, rank_b = _cut(rank_a, cutoff), _cut(rank_b, cutoff)
        pair, row = np.nonzero(is_open | (pool.is_judged & ((rank_a > 0) | (rank_b > 0))))
        none = np.zeros(len(a) * queries)
        return cls(
            case=pair * queries + pool.query[row],
            rank_a=rank_a[pair, row],
            rank_b=rank_b[pair, row],
            is_open=is_open[pair, row],
            grade=pool.grade[row],
            query=np.tile(np.arange(queries), len(a)),
            retrieved_a=pool.retrieved[a].ravel(),
            retrieved_b=none.astype(np.int64) if b is None else pool.retrieved[b].ravel(),
            value_a=values[a].ravel(),
            value_b=none if b is None else values[b].ravel(),
            elsewhere=np.full(len(a) * queries, unretrieved),
            alone=b is None,
        )

    def __len__(self) -> int:
        return len(self.query)

    def swapped(self) -> Duels:
        """B against A."""
        return replace(
            self,
            rank_a=self.rank_b,
            rank_b=self.rank_a,
            retrieved_a=self.retrieved_b,
            retrieved_b=self.retrieved_a,
            value_a=self.value_b,
            value_b=self.value_a,
            is_a_empty=self.alone and not self.is_a_empty,
        )

    def only(self, which: Bools) -> Duels:
        """Some of the cases, shape ``(C,)``, in their order."""
        row, place = which[self.case], np.cumsum(which) - 1
        return replace(
            self,
            case=place[self.case[row]],
            **{name: getattr(self, name)[row] for name in ("rank_a", "rank_b", "is_open", "grade")},
            **{
                name: getattr(self, name)[which]
                for name in ("query", "retrieved_a", "retrieved_b", "value_a", "value_b", "elsewhere")
            },
        )

    @property
    def difference(self) -> Floats:
        """What the measure says today: value of A less that of B."""
        return self.value_a - self.value_b

    def moves(self, weight: Weight) -> Floats:
        """w(rank in A) - w(rank in B) of every document, 0 for a rank that is none, shape ``(N,)``."""
        w_a, w_b = (
            np.where(rank > 0, weight(np.maximum(rank, 1).astype(np.int64), retrieved[self.case]), 0.0)
            for rank, retrieved in ((self.rank_a, self.retrieved_a), (self.rank_b, self.retrieved_b))
        )
        return w_a - w_b

    def count(self, which: Bools) -> Ints:
        """How many of each case's documents are so, shape ``(C,)``."""
        return per_query_count(self.case[which], len(self))


def _within(rank: Ranks, depth: int | None) -> Bools:
    return (rank > 0) if depth is None else (rank > 0) & (rank <= depth)


def _cut(rank: Ranks, cutoff: int | None) -> Ranks:
    return rank if cutoff is None else np.where(rank <= cutoff, rank, 0)


def segment_max(case: Ints, values: Floats, least: Floats) -> Floats:
    """Largest of ``least`` (one for each case) and the ``values`` of the case.

    >>> segment_max(np.array([0, 0, 2]), np.array([3.0, 5.0, 1.0]), np.array([4.0, 0.0, 2.0]))
    array([5., 0., 2.])
    """
    high = least.copy()
    np.maximum.at(high, case, values)
    return high
