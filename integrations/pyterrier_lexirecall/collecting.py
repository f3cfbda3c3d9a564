"""Seeing what a framework scores: the aligned ranks of every run that passes through our evaluator.

A framework that evaluates through ir_measures does not say which system it is scoring, nor in how many batches. While
``collecting()`` is on, our evaluator hands every aligned run for which the measure ``EXECUTION`` is asked to a
``Collector``; the j-th ranking of a query belongs to the j-th system scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import polars as pl
from ir_measures.measures.base import Measure

from ir_lexirecall.alignment import JudgedRanks
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.scoring.arrays import Floats, Ints


class Collector:
    """The rankings scored so far, told apart by how often each query came before."""

    def __init__(self) -> None:
        self._times: dict[str, int] = {}
        self._seen: list[tuple[JudgedRanks, Ints]] = []

    def add(self, ranks: JudgedRanks) -> Ints:
        """Take in a scored run; gives for each of its queries how many rankings of it came before."""
        ordinal = np.array([self._times.get(q, 0) for q in ranks.judgments.query_ids], dtype=np.int64)
        for query_id in ranks.judgments.query_ids:
            self._times[query_id] = self._times.get(query_id, 0) + 1
        self._seen.append((ranks, ordinal))
        return ordinal

    def rankings(self, systems: int) -> list[JudgedRanks]:
        """The ranks of each system in the order scored, over all queries, with common judgments.

        A query that was scored for fewer systems (outside the topics, once for all) is an empty ranking for the rest.
        """
        judgments = self._judgments()
        parts: list[list[tuple[Ints, Ints, Ints]]] = [[] for _ in range(systems)]
        depth = np.zeros((systems, len(judgments)), dtype=np.int64)
        place = {query_id: q for q, query_id in enumerate(judgments.query_ids)}
        for ranks, ordinal in self._seen:
            own = ranks.judgments
            query = np.array([place[query_id] for query_id in own.query_ids], dtype=np.int64)
            # The documents of a query stand together, in the same order, in both judgments.
            shift = np.searchsorted(judgments.query, query) - np.searchsorted(own.query, np.arange(len(own)))
            for system in np.unique(ordinal[ordinal < systems]).tolist():
                depth[system, query[ordinal == system]] = ranks.depth[ordinal == system]
                rows = np.flatnonzero(ordinal[ranks.query] == system)
                at = ranks.query[rows]
                parts[system].append((query[at], ranks.doc[rows] + shift[at], ranks.rank[rows]))
        return [_joined(judgments, part, depth[system]) for system, part in enumerate(parts)]

    def _judgments(self) -> Judgments:
        """The judgments of all queries seen."""
        tables, known = [], set[str]()
        for ranks, _ in self._seen:
            new = [query_id for query_id in ranks.judgments.query_ids if query_id not in known]
            if new:
                known.update(new)
                tables.append(ranks.judgments.rows.filter(pl.col("query_id").is_in(new)))
        return Judgments.of(pl.concat(tables, how="diagonal_relaxed").drop("doc", "aspect"))


def _joined(judgments: Judgments, parts: list[tuple[Ints, Ints, Ints]], depth: Ints) -> JudgedRanks:
    none = np.zeros(0, dtype=np.int64)
    query, doc, rank = (
        (np.concatenate([none, *column]) for column in zip(*parts, strict=True)) if parts else (none,) * 3
    )
    order = np.lexsort((rank, query))
    return JudgedRanks(judgments, query=query[order], doc=doc[order], rank=rank[order], depth=depth)


_current: ContextVar[Collector | None] = ContextVar("ir_lexirecall_collector", default=None)


@contextmanager
def collecting() -> Iterator[Collector]:
    """Collect what our evaluator scores within the ``with`` block (in this thread or task)."""
    collector = Collector()
    token = _current.set(collector)
    try:
        yield collector
    finally:
        _current.reset(token)


def collect(ranks: JudgedRanks) -> Ints:
    """Hand ranks to the collector, if one is on; gives the ordinal of each query's ranking, from 0."""
    collector = _current.get()
    return np.zeros(len(ranks.judgments), dtype=np.int64) if collector is None else collector.add(ranks)


class _Execution(Measure):  # type: ignore[misc]
    """Not a measure of quality: a number that tells executions of several systems apart, larger for later ones."""

    __name__ = "lexirecall_execution"
    NAME = __name__
    STEP = 1e12

    def values(self, ordinal: Ints) -> Floats:
        """One number per execution, far from the values of any measure and from each other."""
        return np.multiply(self.STEP, ordinal + 1, dtype=np.float64)

    def validate_params(self) -> None:
        """Nothing to check."""


EXECUTION = _Execution()
