"""``RankingPairs``: two rankings of a query, side by side, with the unjudged documents that could decide between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Bools, Floats, Ints, per_query_count, ranges, row_blocks
from ir_lexirecall.data.pools import Depth, Pool, Ranks

Gain = Callable[[Floats], Floats]
"""Gains of grades: 0 for grades up to 0."""
Weight = Callable[[Ints, Ints], NDArray[np.floating[Any]]]
"""Weights of documents from their ranks and the number of documents that their ranking holds."""

_AT_ONCE = 2**22  # documents of pairs


@dataclass(frozen=True)
class RankingPairs:
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
    def blocks(
        cls, pool: Pool, a: Ints, b: Ints | None, values: Floats, depth: Depth, cutoff: Depth, unretrieved: int = 0
    ) -> Iterator[tuple[slice, RankingPairs]]:
        """The cases of pairs of runs on all queries, some pairs at a time: case ``p * Q + q``; see ``bounds_of_differences``.

        Documents below ``cutoff`` count as not retrieved; open ones can still be relevant.
        """
        pool = pool.only(np.where(pool.is_judged, pool.grade > 0, pool.within(depth)))
        queries, (rank, top) = len(pool.judgments), pool.ranks_within(depth, cutoff)
        seen = top | (pool.is_judged & (rank > 0))
        for some in row_blocks(len(a), len(pool.query), _AT_ONCE):
            first, second = a[some], None if b is None else b[some]
            pair, row = np.nonzero(seen[first] if second is None else seen[first] | seen[second])
            of_a, nothing = first[pair], np.zeros(len(first) * queries)
            of_b = None if second is None else second[pair]
            yield (
                some,
                cls(
                    case=pair * queries + pool.query[row],
                    rank_a=rank[of_a, row],
                    rank_b=np.zeros(len(row), dtype=rank.dtype) if of_b is None else rank[of_b, row],
                    is_open=top[of_a, row] if of_b is None else top[of_a, row] | top[of_b, row],
                    grade=pool.grade[row],
                    query=np.tile(np.arange(queries), len(first)),
                    retrieved_a=pool.retrieved[first].ravel(),
                    retrieved_b=nothing.astype(np.int64) if second is None else pool.retrieved[second].ravel(),
                    value_a=values[first].ravel(),
                    value_b=nothing if second is None else values[second].ravel(),
                    elsewhere=np.full(len(first) * queries, unretrieved),
                    alone=second is None,
                ),
            )

    def __len__(self) -> int:
        return len(self.query)

    def swapped(self) -> RankingPairs:
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

    def only(self, cases: Ints) -> RankingPairs:
        """Some of the cases, by their numbers, in the order given; one may be taken several times."""
        first, end = (np.searchsorted(self.case, cases, side=side) for side in ("left", "right"))
        row = ranges(first, end)
        of_documents = ("rank_a", "rank_b", "is_open", "grade")
        of_cases = ("query", "retrieved_a", "retrieved_b", "value_a", "value_b", "elsewhere")
        kept = {name: getattr(self, name)[row] for name in of_documents}
        kept |= {name: getattr(self, name)[cases] for name in of_cases}
        return replace(self, case=np.repeat(np.arange(len(cases)), end - first), **kept)

    @property
    def shared(self) -> Bools:
        """Which open documents are in both rankings, shape ``(N,)``."""
        return self.is_open & (self.rank_a > 0) & (self.rank_b > 0)

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

    def in_order(self, rank: Ranks, which: Bools) -> Ints:
        """Rows of some documents that a ranking retrieved, by case and rank."""
        row = np.flatnonzero(which & (rank > 0))
        return row[np.argsort((self.case[row] << 32) | rank[row])]

    def count(self, which: Bools) -> Ints:
        """How many of each case's documents are so, shape ``(C,)``."""
        return per_query_count(self.case[which], len(self))


def segment_max(case: Ints, values: Floats, least: Floats) -> Floats:
    """Largest of ``least`` (one for each case) and the ``values`` of the case.

    >>> segment_max(np.array([0, 0, 2]), np.array([3.0, 5.0, 1.0]), np.array([4.0, 0.0, 2.0]))
    array([5., 0., 2.])
    """
    high = least.copy()
    np.maximum.at(high, case, values)
    return high
