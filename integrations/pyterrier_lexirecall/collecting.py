"""Seeing what PyTerrier scores: the judgments of an experiment, made once, and every run of it, aligned with them.

``pt.Experiment`` does not say which system it is scoring, nor in how many batches. Our experiment adds a measure to those
of the user, ``EXECUTION``: it is scored as any other is (by a provider of its own, which needs no more than query ids), notes the
aligned run, and has values that tell the systems apart; the j-th ranking of a query belongs to the j-th system scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyterrier as pt
from ir_measures import Metric
from ir_measures.measures.base import Measure as IRMeasure
from ir_measures.providers.base import Evaluator, Provider

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall.data.aligned_run import AlignedRun, Ties
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments, known_judgments
from ir_lexirecall.io.small_tables import id_string


class Collector:
    """The judgments of an experiment, made from its table once, and the runs scored so far.

    A run is known by how often each of its queries came before. With ``needed`` all runs must be rankings of documents; without,
    the collector is blind as soon as one is not. With ``predicted`` judgments of more queries, whole runs are aligned with these
    as well.
    """

    def __init__(self, qrels: pd.DataFrame, needed: bool = True, predicted: Judgments | None = None) -> None:
        self._qrels = pt.model.to_ir_measures(qrels).copy()
        self._parts: dict[tuple[str, ...], Judgments] = {}
        self._needed = needed
        self.predicted = predicted
        self.by_program: list[AlignedRun] = []
        self._times: Counter[str] = Counter()
        self._seen: list[tuple[AlignedRun, Ints]] = []
        self.blind = False

    @cached_property
    def judgments(self) -> Judgments:
        """The judgments of all queries."""
        with known_judgments(lambda qrels: None):
            return Judgments.from_qrels(self._qrels)

    def _part(self, query_ids: Iterable[str]) -> Judgments:
        """The judgments of some queries: the same object for the same queries."""
        key = tuple(query_ids)
        if key not in self._parts:
            self._parts[key] = self.judgments.restricted_to(key)
        return self._parts[key]

    def find(self, qrels: Any) -> Judgments | None:
        """The judgments of qrels that are, row by row, those of some of the queries; None for any others."""
        mine = self._qrels
        if not isinstance(qrels, pd.DataFrame) or list(qrels) != list(mine) or "query_id" not in qrels:
            return None
        mine = mine[mine["query_id"].isin(qrels["query_id"].unique())]
        if len(mine) != len(qrels) or not all(_equal(mine[name], qrels[name]) for name in mine):
            return None
        return self._part(id_string(query_id) for query_id in mine["query_id"].unique())

    def add(self, qrels: Any, run: Any) -> tuple[list[str], Ints]:
        """Take in a scored run; gives the queries, and for each of them how many rankings of it came before."""
        aligned = None
        if self._needed or (_has(qrels, "doc_id", "relevance") and _has(run, "doc_id", "score")):
            aligned = align(Judgments.from_qrels(qrels), run)
            query_ids = aligned.judgments.query_ids
            if self.predicted is not None:
                self.by_program.append(align(self.predicted, run))
        else:
            self.blind = True
            query_ids = [id_string(query_id) for query_id in qrels["query_id"].unique()]
        ordinal = np.array([self._times[query_id] for query_id in query_ids], dtype=np.int64)
        self._times.update(query_ids)
        if aligned is not None:
            self._seen.append((aligned, ordinal))
        return query_ids, ordinal

    def runs(self, systems: int) -> list[AlignedRun]:
        """The run of each system in the order scored, over all queries.

        A query that was scored for fewer systems (outside the topics, once for all) is an empty ranking for the rest.

        Raises:
            ValueError: a run was judged by other qrels than the others.
        """
        whole = self.judgments
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
        known = self.judgments.place.keys()
        if not known >= set(part.query_ids) or not _same_judgments(part, self._part(part.query_ids)):
            raise ValueError("the qrels changed while the experiment ran")


def _equal(a: pd.Series, b: pd.Series) -> bool:
    """Whether two columns hold the same values, whatever their index and type."""
    a, b = a.reset_index(drop=True), b.reset_index(drop=True)
    return bool(a.equals(b) or a.astype(object).equals(b.astype(object)))


def _has(table: Any, *columns: str) -> bool:
    """Whether a table has these columns; what is no DataFrame has them in forms of its own."""
    return not isinstance(table, pd.DataFrame) or set(columns) <= set(table)


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
def collecting(qrels: pd.DataFrame, needed: bool = True, predicted: Judgments | None = None) -> Iterator[Collector]:
    """Within the ``with`` block (in this thread or task), judge by these qrels and collect what is scored."""
    collector = Collector(qrels, needed, predicted)
    token = _current.set(collector)
    try:
        with known_judgments(collector.find):
            yield collector
    finally:
        _current.reset(token)


class _Execution(IRMeasure):  # type: ignore[misc]
    """Not a measure of quality: its values are larger for systems scored later."""

    NAME = __name__ = "lexirecall_execution"
    STEP = 1e12

    def has_values(self, values: Floats) -> bool:
        """Whether these are values of this measure: no other one has them."""
        executions, rest = np.divmod(values, self.STEP)
        return bool(np.all((executions >= 1) & (rest == 0)))


EXECUTION = _Execution()


class _ExecutionEvaluator(Evaluator):  # type: ignore[misc]
    """Hands what is scored to the collector."""

    def __init__(self, qrels: Any) -> None:
        super().__init__([EXECUTION], set())
        self._qrels = qrels

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        collector = _current.get()
        if collector is not None:
            query_ids, ordinal = collector.add(self._qrels, run)
            for query_id, executions in zip(query_ids, (ordinal + 1).tolist(), strict=True):
                yield Metric(query_id, EXECUTION, executions * EXECUTION.STEP)


class _ExecutionProvider(Provider):  # type: ignore[misc]
    NAME = "pyterrier_lexirecall"

    def supports(self, measure: IRMeasure) -> bool:
        return measure is EXECUTION

    def run_inputs(self, measures: Iterable[IRMeasure]) -> list[str]:
        return ["query_id"]

    qrel_inputs = run_inputs

    def _evaluator(self, measures: Iterable[IRMeasure], qrels: Any) -> Evaluator:
        return _ExecutionEvaluator(qrels)


ir_measures.DefaultPipeline.providers.insert(-1, _ExecutionProvider())  # ours stays the last
