"""`RankingPairs`: two rankings of a query, and the documents that could decide between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Ints,
    ranges,
    row_blocks,
    stretches,
)
from ir_lexirecall.data.pools import Depth, Pool, Ranks

Gain = Callable[[Floats], Floats]
"""Gains of grades: 0 for grades up to 0."""
Weight = Callable[[Ints, Ints], NDArray[np.floating[Any]]]
"""Weights of documents from their ranks and the number of documents that their ranking holds."""

Largest = tuple[Floats, Bools]
"""The largest difference of each case, or a bound of it, and whether some judging reaches it."""

_AT_ONCE = 2**22  # documents of pairs


@dataclass(frozen=True)
class Retrieved:
    """One of the two rankings: the documents it retrieved, and its value."""

    rank: Ranks  # of each of the N documents, 0: not retrieved, shape ``(N,)``
    documents: Ints  # how many it retrieved in all, shape ``(C,)``
    value: Floats  # what the measure says of it today, shape ``(C,)``
    # Whether it is no ranking at all, and its value 0: the other's value is bounded
    is_nothing: bool = False

    @property
    def has(self) -> Bools:
        """Which documents it retrieved."""
        return self.rank > 0

    def only(self, row: Ints, cases: Ints) -> Retrieved:
        """Return the retrieved documents among some, and the value, for the given cases."""
        return replace(
            self,
            rank=self.rank[row],
            documents=self.documents[cases],
            value=self.value[cases],
        )

    @classmethod
    def nothing(cls, ranks: Ranks, cases: int) -> Retrieved:
        """Return an empty ranking to pair with these ranks."""
        return cls(
            np.zeros_like(ranks), np.zeros(cases, dtype=np.int64), np.zeros(cases), True
        )


@dataclass(frozen=True)
class RankingPairs:
    """C cases, each a ranking A and a ranking B of one query.

    Their documents are those that have a gain, or may turn out to have one. An *open* document has
    no judgment and stands among the first `depth` of A or B: it may turn out to have any grade, the
    same in both rankings. What is ranked below counts as not relevant.
    """

    case: Ints  # case of each of the N documents, rising, shape ``(N,)``
    a: Retrieved
    b: Retrieved
    is_open: Bools  # whether it is open
    grade: Floats  # its grade, 0 for unjudged ones
    query: Ints  # query of each case, shape ``(C,)``
    # Relevant documents of each case, at most, that neither retrieved, shape ``(C,)``
    elsewhere: Ints

    @classmethod
    def blocks(
        cls,
        pool: Pool,
        a: Ints,
        b: Ints | None,
        values: Floats,
        depth: Depth,
        cutoff: Depth,
        unretrieved: int = 0,
    ) -> Iterator[tuple[slice, RankingPairs]]:
        """Yield the cases of pairs of runs on all queries, some pairs at a time.

        Pair p and query q are case `p * Q + q`. Documents below `cutoff` count as not retrieved;
        open ones can still be relevant. The arguments are those of `bounds_of_differences`.
        """
        pool = pool.that_can_matter(depth)
        queries, (rank, top) = len(pool.judgments), pool.ranks_within(depth, cutoff)
        seen = top | (pool.is_judged & (rank > 0))
        for block in row_blocks(len(a), len(pool.query), _AT_ONCE):
            if b is None:
                both = [a[block]]
            else:
                both = [a[block], b[block]]
            pair, row = np.nonzero(reduce(or_, [seen[runs] for runs in both]))
            sides = []
            for runs in both:
                sides.append(
                    Retrieved(
                        rank[runs[pair], row],
                        pool.retrieved[runs].ravel(),
                        values[runs].ravel(),
                    )
                )
            case = pair * queries + pool.query[row]
            query = np.tile(np.arange(queries), len(both[0]))
            if b is None:
                other = Retrieved.nothing(sides[0].rank, len(query))
            else:
                other = sides[1]
            is_open = reduce(or_, [top[runs[pair], row] for runs in both])
            elsewhere = np.full(len(query), unretrieved)
            yield (
                block,
                cls(case, sides[0], other, is_open, pool.grade[row], query, elsewhere),
            )

    def __len__(self) -> int:
        return len(self.query)

    def swapped(self) -> RankingPairs:
        """Return B against A."""
        return replace(self, a=self.b, b=self.a)

    def only(self, cases: Ints) -> RankingPairs:
        """Return the cases with these numbers, in this order; one may be taken several times."""
        first, end = stretches(self.case, cases)
        row = ranges(first, end)
        a, b = self.a.only(row, cases), self.b.only(row, cases)
        case = np.repeat(np.arange(len(cases)), end - first)
        of_rows = (self.is_open[row], self.grade[row])
        return RankingPairs(
            case, a, b, *of_rows, self.query[cases], self.elsewhere[cases]
        )

    @property
    def alone(self) -> bool:
        """Whether either ranking is missing."""
        return self.a.is_nothing or self.b.is_nothing

    @property
    def shared(self) -> Bools:
        """Which open documents are in both rankings, shape ``(N,)``."""
        return self.is_open & self.a.has & self.b.has

    def is_relevant(self, rel: float) -> Bools:
        """Return which documents count as relevant whatever the judging, shape `(N,)`."""
        return ~self.is_open & (self.grade >= rel)

    def may_be_relevant(self, rel: float) -> Bools:
        """Return which documents count as relevant under some judging, shape `(N,)`."""
        return self.is_open | (self.grade >= rel)

    @property
    def difference(self) -> Floats:
        """What the measure says today: value of A less that of B."""
        return self.a.value - self.b.value

    def moves(self, weight: Weight) -> Floats:
        """Return w(rank in A) - w(rank in B) of every document, shape `(N,)`."""
        w_a, w_b = (
            weighed(weight, one.rank, one.documents[self.case])
            for one in (self.a, self.b)
        )
        return w_a - w_b

    def in_order(self, one: Retrieved, which: Bools) -> Ints:
        """Return the rows of documents that a ranking retrieved, by case and rank."""
        row = np.flatnonzero(which & one.has)
        return row[np.argsort((self.case[row] << 32) | one.rank[row])]

    def count(self, which: Bools) -> Ints:
        """Return how many documents of each case are marked, shape `(C,)`."""
        return np.bincount(self.case[which], minlength=len(self))


def weighed(weight: Weight, rank: Ranks, documents: Ints) -> Floats:
    """Return the weight of each rank; 0 for documents that were not retrieved."""
    return np.where(
        rank > 0, weight(np.maximum(rank, 1).astype(np.int64), documents), 0.0
    )


def segment_max(case: Ints, values: Floats, least: Floats) -> Floats:
    """Return the largest of `least` (one for each case) and the `values` of the case.

    >>> segment_max(np.array([0, 0, 2]), np.array([3.0, 5.0, 1.0]), np.array([4.0, 0.0, 2.0]))
    array([5., 0., 2.])
    """
    high = least.copy()
    np.maximum.at(high, case, values)
    return high


def worst_and_best(
    most_of: Callable[[RankingPairs], tuple[Any, Bools]],
    blocks: Iterable[tuple[slice, RankingPairs]],
    shape: tuple[int, int],
    dtype: type[np.generic],
) -> tuple[Any, Any, Bools]:
    """Return what P pairs make of Q queries at worst and at best.

    Args:
        most_of: what A can make of B at best in each case, and whether some judging does it.
        blocks: the cases, as `RankingPairs.blocks` gives them.
        shape: ``(P, Q)``.
        dtype: of the result.

    Returns:
        The worst, the best, and whether some judging reaches both, shape ``(P, Q)`` each.
    """
    worst, best = np.empty((2, *shape), dtype=dtype)
    exact = np.ones(shape, dtype=bool)
    for block, pairs in blocks:
        of_a, is_reached = most_of(pairs)
        of_b, is_reached_too = most_of(pairs.swapped())
        best[block] = of_a.reshape(-1, shape[1])
        worst[block] = -of_b.reshape(-1, shape[1])
        exact[block] = (is_reached & is_reached_too).reshape(-1, shape[1])
    return worst, best, exact
