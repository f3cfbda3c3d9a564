"""The mean over all orders one by one, where there are few of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from math import comb, nan, prod
from typing import TYPE_CHECKING

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import Floats, Ints, starts_segment
from ir_lexirecall.measures.scoring import is_native, values

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun

MOST_ORDERS = 4096  # of the tied documents of one query that are tried
_MOST_OF_PROVIDERS = 120  # where every order takes a call of another program


def mean_over_orders(measure: Measure, run: AlignedRun, threshold: float | None) -> Floats:
    """Return the mean of any measure over all orders; NaN for queries with too many orders.

    Documents with the same judgments are alike, so that only orders that differ are tried.
    """
    most = MOST_ORDERS if is_native(measure) else _MOST_OF_PROVIDERS
    queries = [each for each in _tied_queries(run) if each.n_orders <= most]
    total, count = np.zeros(len(run.judgments)), np.zeros(len(run.judgments))
    orders = [each.orders() for each in queries]
    rank = run.rank.copy()
    while queries:
        counted = np.zeros(len(total), dtype=bool)
        for each, remaining in zip(queries, orders, strict=True):
            following = next(remaining, None)
            if following is not None:
                rank[each.row] = following
                counted[each.query] = True
        if not counted.any():
            break
        total[counted] += values(measure, _with_ranks(run, rank), threshold)[counted]
        count += counted
    return np.divide(total, count, out=np.full(len(total), nan), where=count > 0)


def _with_ranks(run: AlignedRun, rank: Ints) -> AlignedRun:
    """Return the ranking with other ranks of its judged documents."""
    order = np.lexsort((rank, run.query))
    return replace(run, doc=run.doc[order], rank=rank[order], ties=None)


@dataclass(frozen=True)
class _Group:
    """The judged documents of one group: its first rank and size, and how many are alike."""

    first: int
    size: int
    alike: tuple[int, ...]

    @property
    def n_orders(self) -> int:
        """Return how many orders differ."""
        left = self.size - np.cumsum([0, *self.alike])
        return prod(comb(int(n), k) for n, k in zip(left, self.alike, strict=False))

    def orders(self) -> Iterator[tuple[int, ...]]:
        """Yield the ranks of the documents, kind by kind, of every order."""
        return self._orders(tuple(range(self.first, self.first + self.size)), self.alike)

    def _orders(self, free: tuple[int, ...], alike: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if not alike:
            yield ()
            return
        for ranks in combinations(free, alike[0]):
            left = tuple(rank for rank in free if rank not in ranks)
            for others in self._orders(left, alike[1:]):
                yield ranks + others


@dataclass(frozen=True)
class _Query:
    """The tied documents of one query: their rows in the run, kind by kind within each group."""

    query: int
    row: Ints
    groups: list[_Group]

    @property
    def n_orders(self) -> int:
        """Return how many orders differ."""
        return prod(group.n_orders for group in self.groups)

    def orders(self) -> Iterator[list[int]]:
        """Yield the ranks of the rows of every order."""
        for choice in product(*(list(group.orders()) for group in self.groups)):
            yield [rank for ranks in choice for rank in ranks]


def _tied_queries(run: AlignedRun) -> Iterator[_Query]:
    """Yield the queries with tied documents."""
    if run.ties is None:
        return
    kind = _kinds(run)[run.ties.row]
    query, first = run.query[run.ties.row], run.ties.first
    order = np.lexsort((kind, first, query))
    row, kind, query, first = run.ties.row[order], kind[order], query[order], first[order]
    size = run.ties.size[order]
    bounds = [*np.flatnonzero(starts_segment(query)).tolist(), len(row)]
    for start, end in pairwise(bounds):
        groups = []
        for group in np.split(np.arange(start, end), _changes(first[start:end])):
            _, alike = np.unique(kind[group], return_counts=True)
            members = group[0]
            groups.append(_Group(int(first[members]), int(size[members]), tuple(alike.tolist())))
        yield _Query(int(query[start]), row[start:end], groups)


def _changes(values: Ints) -> Ints:
    """Return the indices at which values differ from the one before."""
    return np.flatnonzero(np.diff(values)) + 1


def _kinds(run: AlignedRun) -> Ints:
    """Return a number for each retrieved document; those with the same judgments share it.

    Where documents have more than one grade, each one is of its own kind.
    """
    if run.judgments.table is not None:
        return run.doc
    return np.unique(run.grade, return_inverse=True)[1].reshape(-1)
