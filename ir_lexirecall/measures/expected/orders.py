"""The mean, and the ends, over all orders one by one, where there are few of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations, pairwise, product, zip_longest
from math import comb, nan, prod
from typing import TYPE_CHECKING

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import Bools, Floats, Ints, ratio, starts_segment
from ir_lexirecall.measures.scoring import is_native, values

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun

MOST_ORDERS = 4096  # of the tied documents of one query that are tried
_MOST_OF_PROVIDERS = 120  # where every order takes a call of another program


def mean_over_orders(
    measure: Measure, run: AlignedRun, threshold: float | None
) -> Floats:
    """Return the mean of any measure over all orders; NaN for queries with too many orders.

    Documents with the same judgments are alike, so that only orders that differ are tried.
    """
    n_queries = len(run.judgments)
    total, n_tried = np.zeros(n_queries), np.zeros(n_queries)
    for value, has_order in _values_by_order(measure, run, threshold):
        total[has_order] += value[has_order]
        n_tried += has_order
    return ratio(total, n_tried, nan)


def ends_over_orders(measure: Measure, run: AlignedRun) -> tuple[Floats, Floats]:
    """Return the lowest and the highest value over all orders; NaN as in `mean_over_orders`."""
    low, high = np.full((2, len(run.judgments)), nan)
    for value, has_order in _values_by_order(measure, run, None):
        low[has_order] = np.fmin(low, value)[has_order]
        high[has_order] = np.fmax(high, value)[has_order]
    return low, high


def _values_by_order(
    measure: Measure, run: AlignedRun, threshold: float | None
) -> Iterator[tuple[Floats, Bools]]:
    """Yield the values of all queries in one order after the other.

    With them comes which queries have such an order: those with few enough, until all were tried.
    """
    most = MOST_ORDERS if is_native(measure) else _MOST_OF_PROVIDERS
    queries = [query for query in _tied_queries(run) if query.n_orders <= most]
    rank = run.rank.copy()
    # The n-th orders of all queries are scored at once.
    for orders in zip_longest(*(query.orders() for query in queries)):
        has_order = np.zeros(len(run.judgments), dtype=bool)
        for query, order in zip(queries, orders, strict=True):
            if order is not None:
                rank[query.row] = order
                has_order[query.index] = True
        yield values(measure, _with_ranks(run, rank), threshold), has_order


def _with_ranks(run: AlignedRun, rank: Ints) -> AlignedRun:
    """Return the ranking with other ranks of its judged documents."""
    order = np.lexsort((rank, run.query))
    return replace(run, doc=run.doc[order], rank=rank[order], ties=None)


@dataclass(frozen=True)
class _Group:
    """The judged documents of one group.

    Attributes:
        first: its first rank.
        size: its number of documents, judged or not.
        alike: how many of the judged ones are of each kind.
    """

    first: int
    size: int
    alike: tuple[int, ...]

    @property
    def n_orders(self) -> int:
        """Return how many orders differ."""
        n_left = self.size - np.cumsum([0, *self.alike[:-1]])
        return prod(comb(int(n), k) for n, k in zip(n_left, self.alike, strict=True))

    def orders(self) -> Iterator[tuple[int, ...]]:
        """Yield the ranks of the documents, kind by kind, of every order."""
        return self._orders(
            tuple(range(self.first, self.first + self.size)), self.alike
        )

    def _orders(
        self, free: tuple[int, ...], alike: tuple[int, ...]
    ) -> Iterator[tuple[int, ...]]:
        """Yield the ranks of documents of some kinds that can have the free ranks."""
        if not alike:
            yield ()
            return
        for ranks in combinations(free, alike[0]):
            left = tuple(rank for rank in free if rank not in ranks)
            for others in self._orders(left, alike[1:]):
                yield ranks + others


@dataclass(frozen=True)
class _Query:
    """The tied documents of one query.

    Attributes:
        index: the number of the query.
        row: rows of the documents in the run, kind by kind within each group.
        groups: the groups, from the top down.
    """

    index: int
    row: Ints
    groups: list[_Group]

    @property
    def n_orders(self) -> int:
        """Return how many orders differ."""
        return prod(group.n_orders for group in self.groups)

    def orders(self) -> Iterator[list[int]]:
        """Yield the ranks of the rows of every order."""
        orders_of_groups = [list(group.orders()) for group in self.groups]
        for orders in product(*orders_of_groups):
            yield list(chain.from_iterable(orders))


def _tied_queries(run: AlignedRun) -> Iterator[_Query]:
    """Yield the queries with tied documents."""
    if run.ties is None:
        return
    kind = _kinds(run)[run.ties.row]
    query, first = run.query[run.ties.row], run.ties.first
    order = np.lexsort((kind, first, query))
    kind, query, first = kind[order], query[order], first[order]
    row, size = run.ties.row[order], run.ties.size[order]
    query_starts = np.flatnonzero(starts_segment(query)).tolist()
    for start, end in pairwise([*query_starts, len(row)]):
        groups = []
        group_starts = np.flatnonzero(starts_segment(first[start:end]))
        for members in np.split(np.arange(start, end), group_starts[1:]):
            _, alike = np.unique(kind[members], return_counts=True)
            top = members[0]
            groups.append(
                _Group(int(first[top]), int(size[top]), tuple(alike.tolist()))
            )
        yield _Query(int(query[start]), row[start:end], groups)


def _kinds(run: AlignedRun) -> Ints:
    """Return a number for each retrieved document; those with the same judgments share it.

    Where documents have more than one grade, each one is of its own kind.
    """
    if run.judgments.table is not None:
        return run.doc
    return np.unique(run.grade, return_inverse=True)[1].reshape(-1)
