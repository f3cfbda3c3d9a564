"""Measures of the first relevant document (RR, Success) or of the last one (TSE): one open document decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall.data.pools import Ranks
from ir_lexirecall.judging.duels import Duels, segment_max


@dataclass(frozen=True)
class First:
    """value(rank of the first relevant document), falling with the rank: RR, Success.

    One document is the first relevant one of A. Any further relevant one can only bring B's first up, so the best judging has at
    most one open document relevant: the largest of today's difference and U others.
    """

    value: Callable[[Ints], Floats]  # of a rank from 1 on

    def high(self, duels: Duels) -> tuple[Floats, Bools]:
        """Largest difference of each case, and that it is reached."""
        case = duels.case[duels.is_open]
        a, b = (
            np.maximum(today[case], np.where(rank > 0, self.value(np.maximum(rank, 1)), 0.0))
            for rank, today in (
                (duels.rank_a[duels.is_open], duels.value_a),
                (duels.rank_b[duels.is_open], duels.value_b),
            )
        )
        return segment_max(case, a - b, duels.difference), np.ones(len(duels), dtype=bool)


@dataclass(frozen=True)
class Last:
    """exposure(rank of the last relevant document), the bottom's where one is not retrieved: TSE.

    Once A reads down to rank t, every open document above costs A nothing: the best judgings admit the first ones in A's order,
    and B's last rank is a running maximum.
    """

    exposure: Callable[[Floats], Floats]  # of a rank, falling; of infinity: the bottom
    rel: float  # smallest grade that counts as relevant
    m: Ints  # relevant judged documents of each query

    def high(self, duels: Duels) -> tuple[Floats, Bools]:
        """Largest difference of each case, and that it is reached."""
        last_a, last_b = (self._last(duels, rank) for rank in (duels.rank_a, duels.rank_b))
        u = np.flatnonzero(duels.is_open)
        rank_a, rank_b = (np.where(rank[u] > 0, rank[u], np.inf) for rank in (duels.rank_a, duels.rank_b))
        u = u[np.lexsort((rank_a, duels.case[u]))]
        case = duels.case[u]
        rank_a, rank_b = (np.where(rank[u] > 0, rank[u], np.inf) for rank in (duels.rank_a, duels.rank_b))
        admitted_b = _running_max(case, np.maximum(rank_b, last_b[case]))
        value = self._value(np.maximum(rank_a, last_a[case]), duels.alone and duels.is_a_empty)
        value = value - self._value(admitted_b, duels.alone and not duels.is_a_empty)
        high = segment_max(case, value, duels.difference)
        bottom = float(self.exposure(np.array([np.inf]))[0])
        none = 0.0 if not duels.alone else -bottom if duels.is_a_empty else bottom
        return np.where(duels.elsewhere > 0, np.maximum(high, none), high), np.ones(len(duels), dtype=bool)

    def _value(self, last: Floats, empty: bool) -> Floats:
        return np.zeros(len(last)) if empty else self.exposure(last)

    def _last(self, duels: Duels, rank: Ranks) -> Floats:
        """Rank of the last relevant judged document of each case, infinite where one is not retrieved."""
        relevant = ~duels.is_open & (duels.grade >= self.rel) & (rank > 0)
        last = segment_max(duels.case[relevant], rank[relevant].astype(np.float64), np.zeros(len(duels)))
        return np.where(duels.count(relevant) < self.m[duels.query], np.inf, last)


def _running_max(case: Ints, values: Floats) -> Floats:
    """Running maximum within every run of equal values of ``case``, which rises.

    >>> _running_max(np.array([0, 0, 0, 2, 2]), np.array([1.0, np.inf, 2.0, 1.0, 3.0]))
    array([ 1., inf, inf,  1.,  3.])
    """
    order = np.argsort(values, kind="stable")
    place = np.empty(len(values), dtype=np.int64)
    place[order] = np.arange(len(values))
    top = np.maximum.accumulate(case * len(values) + place) - case * len(values)
    return values[order][top]
