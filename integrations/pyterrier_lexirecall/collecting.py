"""Seeing what PyTerrier scores: the judgments of an experiment, made once, and every run of it, aligned with them.

``pt.Experiment`` does not say which system it is scoring, nor in how many batches. Our experiment adds a measure to those
of the user, ``EXECUTION``: it is scored as any other is, notes the aligned run, and has values that tell the systems apart;
the j-th ranking of a query belongs to the j-th system scored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyterrier as pt

from ir_lexirecall.alignment import AlignedRun, Ties
from ir_lexirecall.arrays import Floats, Ints
from ir_lexirecall.formats import id_string
from ir_lexirecall.judgments import Judgments, known_judgments
from ir_lexirecall.measures.base import Measure


class SharedJudgments:
    """The judgments of an experiment, made from its table once; those of a batch are a part of them.

    Args:
        qrels: the qrels of the experiment with PyTerrier's column names; they are remembered as they are now.
    """

    def __init__(self, qrels: pd.DataFrame) -> None:
        self._qrels = pt.model.to_ir_measures(qrels).copy()
        self._parts: dict[tuple[str, ...], Judgments] = {}

    @cached_property
    def whole(self) -> Judgments:
        """The judgments of all queries."""
        with known_judgments(lambda qrels: None):
            return Judgments.from_qrels(self._qrels)

    def part(self, query_ids: Iterable[str]) -> Judgments:
        """The judgments of some queries: the same object for the same queries."""
        key = tuple(query_ids)
        if key not in self._parts:
            self._parts[key] = self.whole.restricted_to(key)
        return self._parts[key]

    def find(self, qrels: Any) -> Judgments | None:
        """The judgments of qrels that are, row by row, those of some of the queries; None for any others."""
        mine = self._qrels
        if not isinstance(qrels, pd.DataFrame) or list(qrels) != list(mine) or "query_id" not in qrels:
            return None
        mine = mine[mine["query_id"].isin(qrels["query_id"].unique())]
        if len(mine) != len(qrels) or not all(_equal(mine[name], qrels[name]) for name in mine):
            return None
        return self.part(id_string(query_id) for query_id in mine["query_id"].unique())


def _equal(a: pd.Series, b: pd.Series) -> bool:
    """Whether two columns hold the same values, whatever their index and type."""
    a, b = a.reset_index(drop=True), b.reset_index(drop=True)
    return bool(a.equals(b) or a.astype(object).equals(b.astype(object)))


class Collector:
    """The runs scored so far, told apart by how often each of their queries came before.

    Args:
        judgments: those of the experiment.
    """

    def __init__(self, judgments: SharedJudgments) -> None:
        self._judgments = judgments
        self._times: dict[str, int] = {}
        self._seen: list[tuple[AlignedRun, Ints]] = []

    def add(self, run: AlignedRun) -> Ints:
        """Take in a scored run; gives for each of its queries how many rankings of it came before."""
        query_ids = run.judgments.query_ids
        ordinal = np.array([self._times.get(query_id, 0) for query_id in query_ids], dtype=np.int64)
        for query_id in query_ids:
            self._times[query_id] = self._times.get(query_id, 0) + 1
        self._seen.append((run, ordinal))
        return ordinal

    def runs(self, systems: int) -> list[AlignedRun]:
        """The run of each system in the order scored, over all queries.

        A query that was scored for fewer systems (outside the topics, once for all) is an empty ranking for the rest.

        Raises:
            ValueError: a run was judged by other qrels than the others.
        """
        whole = self._judgments.whole
        parts: list[list[tuple[Ints, ...]]] = [[] for _ in range(systems)]
        depth = np.zeros((systems, len(whole)), dtype=np.int64)
        for run, ordinal in self._seen:
            part = run.judgments
            self._check(part)
            query = np.array([whole.place[query_id] for query_id in part.query_ids], dtype=np.int64)
            # The documents of a query stand together, in the same order, in the part and in the whole.
            shift = np.searchsorted(whole.query, query) - np.searchsorted(part.query, np.arange(len(part)))
            columns = (query[run.query], run.rank, run.doc + shift[run.query], *run.tied())
            for system in np.unique(ordinal[ordinal < systems]).tolist():
                depth[system, query[ordinal == system]] = run.depth[ordinal == system]
                rows = np.flatnonzero(ordinal[run.query] == system)
                parts[system].append(tuple(column[rows] for column in columns))
        return [_joined(whole, columns, depth[system]) for system, columns in enumerate(parts)]

    def _check(self, part: Judgments) -> None:
        known = self._judgments.whole.place.keys()
        if not known >= set(part.query_ids) or not _same_judgments(part, self._judgments.part(part.query_ids)):
            raise ValueError("pt.lexirecall.Experiment: the qrels changed while the experiment ran")


def _same_judgments(a: Judgments, b: Judgments) -> bool:
    return a is b or (
        np.array_equal(a.query, b.query) and a.doc_id.equals(b.doc_id) and np.array_equal(a.grade, b.grade)
    )


def _joined(judgments: Judgments, parts: list[tuple[Ints, ...]], depth: Ints) -> AlignedRun:
    """One run of its parts: of each, the query, rank and row of the documents, and what they tie with."""
    none = (np.zeros(0, dtype=np.int64),) * 5
    query, rank, doc, first, size = map(np.concatenate, zip(none, *parts, strict=True))
    order = np.lexsort((rank, query))
    ties = Ties.among(first[order], size[order])
    return AlignedRun(judgments, query=query[order], doc=doc[order], rank=rank[order], depth=depth, ties=ties)


_current: ContextVar[Collector | None] = ContextVar("pyterrier_lexirecall_collector", default=None)


@contextmanager
def collecting(qrels: pd.DataFrame) -> Iterator[Collector]:
    """Within the ``with`` block (in this thread or task), judge by these qrels and collect what is scored.

    Args:
        qrels: those of the experiment, with PyTerrier's column names.
    """
    judgments = SharedJudgments(qrels)
    collector = Collector(judgments)
    token = _current.set(collector)
    try:
        with known_judgments(judgments.find):
            yield collector
    finally:
        _current.reset(token)


class _Execution(Measure, register=False):
    """Not a measure of quality: it notes the run that is scored, and its values are larger for systems scored later."""

    NAME = "lexirecall_execution"
    STEP = 1e12

    def score(self, run: AlignedRun) -> Floats:
        collector = _current.get()
        ordinal = np.zeros(len(run.judgments), dtype=np.int64) if collector is None else collector.add(run)
        return np.multiply(self.STEP, ordinal + 1, dtype=np.float64)

    def has_values(self, values: Floats) -> bool:
        """Whether these are values of this measure: no other one has them."""
        executions, rest = np.divmod(values, self.STEP)
        return bool(np.all((executions >= 1) & (rest == 0)))


EXECUTION = _Execution()
