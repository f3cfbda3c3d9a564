"""A run of any format, aligned with judgments: where the judged documents stand.

The one place that knows the tie rule, which is trec_eval's: scores as 32-bit floats, descending; ties by
document id, descending in byte order. A run that is sorted this way already is recognised, not sorted again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall import engine
from ir_lexirecall.arrays import Bools, Floats, Ints, position_in_segment, ranges
from ir_lexirecall.errors import and_more, naming, warn
from ir_lexirecall.files import rereadable
from ir_lexirecall.formats import RUN_COLUMNS, TableLike, changes, nested_dicts, packed_numbers, run_table
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.lazy import LazyModule
from ir_lexirecall.lookup import repetitions
from ir_lexirecall.readers import run_batches
from ir_lexirecall.threads import one_ahead

if TYPE_CHECKING:
    import polars as pl
else:
    pl = LazyModule("polars")

RunLike: TypeAlias = TableLike
"""A run in any form: a path, a DataFrame (pandas, Polars, Arrow), a dict of dicts, or an iterable of named tuples."""

_NONE = np.zeros(0, dtype=np.int64)
_FEW_QUERIES, _SHORT = 4, 256  # of a run that is aligned query by query, and documents of each ranking
_FINITE = float(np.finfo(np.float32).max)  # scores beyond may be infinite to trec_eval
_ROWS = 2**18  # of a run that are aligned at once


@dataclass(frozen=True)
class Relevant:
    """The retrieved relevant documents, by query and rank, with m and r per query: what ``AlignedRun.relevant`` gives a measure.

    Attributes:
        query: index of each document's query, rising, shape ``(R,)``.
        rank: its rank in the whole ranking, from 1, rising within a query, shape ``(R,)``.
        m: relevant documents of each query in the judgments, retrieved or not, shape ``(Q,)``.
        r: those retrieved, shape ``(Q,)``.

    >>> judgments = Judgments.from_qrels({"q": {"a": 1, "b": 1, "c": 1}})
    >>> relevant = align(judgments, {"q": {"a": 3.0, "x": 2.0, "c": 1.0}}).relevant()
    >>> relevant.rank, relevant.level, relevant.m, relevant.r, relevant.p_r
    (array([1, 3]), array([1, 2]), array([3]), array([2]), array([3]))
    """

    query: Ints
    rank: Ints
    m: Ints
    r: Ints

    @property
    def level(self) -> Ints:
        """Recall level of each document: i for the i-th relevant one of its query, shape ``(R,)``."""
        return position_in_segment(self.query) + 1

    @property
    def p_r(self) -> Ints:
        """Rank of the last retrieved relevant document of each query, 0 where there is none, shape ``(Q,)``."""
        last = np.zeros(len(self.m), dtype=np.int64)
        last[self.query] = self.rank
        return last


@dataclass(frozen=True)
class Ties:
    """The retrieved judged documents whose score other documents of the ranking share.

    Attributes:
        row: their rows in the ``AlignedRun``, rising.
        first: the rank at which the documents of that score begin, for each row.
        size: how many documents share the score.
    """

    row: Ints
    first: Ints
    size: Ints

    @classmethod
    def among(cls, first: NDArray[Any], size: NDArray[Any]) -> Ties | None:
        """The ties among all rows, from the first rank of each row's score and how many documents share it (1: none)."""
        row = np.flatnonzero(size > 1)
        return cls(row, first[row], size[row]) if len(row) else None


@dataclass(frozen=True)
class AlignedRun:
    """The ranks of the judged documents that a run retrieved, ordered by query, then rank.

    Attributes:
        judgments: what the run was aligned with; it numbers queries and documents.
        query: query of each retrieved judged document.
        doc: its row in ``judgments``.
        rank: its rank, from 1.
        depth: number of documents retrieved for each query, shape ``(Q,)``; 0 for a query the run lacks.
        ties: where scores tie with those of other documents, None where no judged document is tied.
        ranked: the queries that the run has, in the order in which it names them first.
    """

    judgments: Judgments
    query: Ints
    doc: Ints
    rank: Ints
    depth: Ints
    ties: Ties | None = None
    ranked: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    _cache: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def grade(self) -> Floats:
        """Grade of each retrieved judged document."""
        grade: Floats | None = self._cache.get("grade")
        if grade is None:
            grade = self._cache["grade"] = self.judgments.grade[self.doc]
        return grade

    def relevant(self, rel: float = 1, cutoff: int | None = None) -> Relevant:
        """The documents of at least grade ``rel`` among the first ``cutoff``."""
        key = ("relevant", rel, cutoff)
        relevant: Relevant | None = self._cache.get(key)
        if relevant is None:
            keep = self.grade >= rel
            if cutoff is not None:
                keep &= self.rank <= cutoff
            row = keep.nonzero()[0]
            query = self.query[row]
            r = np.bincount(query, minlength=len(self.judgments))
            relevant = Relevant(query=query, rank=self.rank[row], m=self.judgments.m(rel), r=r)
            self._cache[key] = relevant
        return relevant

    def aspect_places(self) -> tuple[Ints, Ints]:
        """The retrieved documents once per judged aspect: row in ``judgments.aspects`` and rank, by query, rank and aspect."""
        aspects = self.judgments.aspects
        if len(aspects.doc) == len(self.judgments.grade):  # one for each document
            return self.doc, self.rank
        first, end = (np.searchsorted(aspects.doc, self.doc, side=side) for side in ("left", "right"))
        return ranges(first, end), np.repeat(self.rank, end - first)

    def aspect_rows(self) -> tuple[Ints, Ints, Floats]:
        """The retrieved documents once per judged aspect: number of the (query, aspect) pair, rank, grade for it.

        Pairs are those of ``judgments.aspects``; rows are ordered by query, rank and aspect.
        """
        row, rank = self.aspect_places()
        return self.judgments.aspects.aspect[row], rank, self.judgments.aspects.grade[row]

    def with_grades(self, grade: Floats) -> AlignedRun:
        """The same ranking, judged with other grades: ``grade`` of each judged document."""
        return replace(self, judgments=self.judgments.with_grades(grade))

    def tied(self) -> tuple[Ints, Ints]:
        """For every row, the rank at which the documents of its score begin, and how many these are (1: itself)."""
        first, size = self.rank.copy(), np.ones(len(self.rank), dtype=np.int64)
        if self.ties is not None:
            first[self.ties.row], size[self.ties.row] = self.ties.first, self.ties.size
        return first, size

    def condensed(self) -> AlignedRun:
        """The ranking without the documents that have no judgment (a condensed list)."""
        depth = np.bincount(self.query, minlength=len(self.judgments))
        return replace(self, rank=position_in_segment(self.query) + 1, depth=depth, ties=None)

    def with_ties_broken(self, *, best_first: bool) -> AlignedRun:
        """The ranking with documents of equal score ordered by grade, ``best_first`` or worst first; unjudged ones count as grade 0."""
        if self.ties is None:
            return self
        ties = self.ties
        grade = self.grade[ties.row]
        order = np.lexsort((-grade if best_first else grade, ties.first, self.query[ties.row]))
        row, first, size, grade = ties.row[order], ties.first[order], ties.size[order], grade[order]
        group = np.cumsum(np.r_[True, (np.diff(first) != 0) | (np.diff(self.query[row]) != 0)]) - 1
        place = position_in_segment(group)
        # Unjudged documents stand between those of positive and those of other grades.
        behind = grade <= 0 if best_first else grade > 0
        judged = np.bincount(group)[group]
        rank = self.rank.copy()
        rank[row] = first + place + np.where(behind, size - judged, 0)
        order = np.lexsort((rank, self.query))
        return replace(self, doc=self.doc[order], rank=rank[order], ties=None)

    def tied_queries(self) -> tuple[Ints, AlignedRun, AlignedRun]:
        """The queries with tied judged documents; their rankings with these best first, and worst first."""
        if "tied queries" not in self._cache:
            query = np.zeros(0, np.int64) if self.ties is None else np.unique(self.query[self.ties.row])
            part = self.restricted_to(query)
            orders = (part.with_ties_broken(best_first=best_first) for best_first in (True, False))
            self._cache["tied queries"] = (query, *orders)
        tied: tuple[Ints, AlignedRun, AlignedRun] = self._cache["tied queries"]
        return tied

    def restricted_to(self, query: Ints) -> AlignedRun:
        """The rankings of some queries (their numbers, rising), aligned with the judgments of these."""
        if len(query) == len(self.judgments):
            return self
        ids = self.judgments.query_ids
        wanted = np.zeros(len(self.judgments), dtype=bool)
        wanted[query] = True
        row, judged = wanted[self.query].nonzero()[0], wanted[self.judgments.query].nonzero()[0]
        ties = self.ties
        if ties is not None:
            kept = wanted[self.query[ties.row]].nonzero()[0]
            ties = Ties(row.searchsorted(ties.row[kept]), ties.first[kept], ties.size[kept]) if len(kept) else None
        return AlignedRun(
            self.judgments.restricted_to([ids[q] for q in query.tolist()]),
            query=query.searchsorted(self.query[row]),
            doc=judged.searchsorted(self.doc[row]),
            rank=self.rank[row],
            depth=self.depth[query],
            ties=ties,
            ranked=query.searchsorted(self.ranked[wanted[self.ranked]]),
        )

    def forget(self) -> None:
        """Let go of what measures computed on the way and kept for each other."""
        self._cache.clear()

    def as_run(self, others: str) -> dict[str, NDArray[Any]]:
        """Columns of a run with the same judged documents at the same ranks; ``others`` and their rank are the rest's ids."""
        query = np.repeat(np.arange(len(self.depth)), self.depth)
        start = np.cumsum(self.depth) - self.depth
        rank = np.arange(len(query)) - start[query] + 1
        names = np.array([f"{others}{i}" for i in range(1, int(self.depth.max(initial=0)) + 1)], dtype=object)
        doc_id = names[rank - 1]
        doc_id[start[self.query] + self.rank - 1] = self.judgments.ids_of(self.doc)
        return {
            "query_id": np.array(self.judgments.query_ids, dtype=object)[query],
            "doc_id": doc_id,
            "score": (self.depth[query] - rank).astype(np.float64),
        }


def align(judgments: Judgments, run: RunLike) -> AlignedRun:
    """Ranks of the documents of ``judgments`` in ``run`` (a path, a table, a dict of dicts, or named tuples).

    Queries without judgments are ignored; a query the run lacks has depth 0.

    >>> judgments = Judgments.from_qrels({"q": {"a": 1, "b": 0, "c": 2}})
    >>> ranks = align(judgments, {"q": {"c": 0.5, "x": 0.9, "a": 0.5}})
    >>> ranks.rank.tolist(), ranks.grade.tolist(), ranks.depth.tolist()
    ([2, 3], [2.0, 1.0], [3])

    Raises:
        ValueError: a missing column, a score that is missing or not a number, or a document twice for one query.
    """
    if judgments.exclusion is not None:
        return _without_excluded(judgments, align(judgments.exclusion.everything, run))
    if isinstance(run, (str, os.PathLike)):
        with rereadable(os.fspath(run)) as path:
            parts = _align_file(judgments, path)
    elif (nested := nested_dicts(run, "run", RUN_COLUMNS)) is not None:
        aligned = _align_few(judgments, nested) if len(nested) <= _FEW_QUERIES else None
        if aligned is not None:
            return aligned
        parts = _align_dict(judgments, nested)
    else:
        parts = _align_rows(judgments, [run_table(run)])
    return _joined(judgments, parts)


def _without_excluded(judgments: Judgments, run: AlignedRun) -> AlignedRun:
    """A run that was aligned with the excluded documents among the judged ones, without them: all below move up."""
    assert judgments.exclusion is not None
    doc = judgments.exclusion.row[run.doc]
    gone = doc < 0
    before: Ints = np.cumsum(gone, dtype=np.int64)
    start = np.searchsorted(run.query, np.arange(len(run.depth)))
    before = before - np.r_[0, before][start][run.query]
    lost = np.bincount(run.query[gone], minlength=len(run.depth))
    keep = np.flatnonzero(~gone)
    depth = run.depth - lost
    ties = None
    if run.ties is not None:
        same = run.query[run.ties.row] * (int(run.depth.max()) + 1) + run.ties.first
        groups, group = np.unique(same, return_inverse=True)
        fewer = np.bincount(group[gone[run.ties.row]], minlength=len(groups))[group]
        size = run.ties.size - fewer
        # Excluded documents above the group move its first rank up, those within it do not.
        above = before[run.ties.row] - _before_within(group, gone[run.ties.row])
        left = np.flatnonzero((size > 1) & ~gone[run.ties.row])
        new_row = np.cumsum(~gone) - 1
        ties = Ties(new_row[run.ties.row[left]], (run.ties.first - above)[left], size[left]) if len(left) else None
    return AlignedRun(
        judgments,
        query=run.query[keep],
        doc=doc[keep],
        rank=(run.rank - before)[keep],
        depth=depth,
        ties=ties,
        ranked=run.ranked[depth[run.ranked] > 0],
    )


def _before_within(group: Ints, gone: Bools) -> Ints:
    """For each row, how many rows of its group up to it are gone; rows are in order of their ranks within a group."""
    order = np.argsort(group, kind="stable")
    count = np.cumsum(gone[order])
    start = np.flatnonzero(np.r_[True, np.diff(group[order]) != 0])
    base = np.r_[0, count][start]
    within = np.empty(len(group), dtype=np.int64)
    within[order] = count - np.repeat(base, np.diff(np.r_[start, len(group)]))
    return within


@dataclass(frozen=True)
class _Part:
    """What ``AlignedRun`` says, of some queries only."""

    query: Ints  # of each retrieved judged document,
    doc: Ints
    rank: Ints
    first: NDArray[np.int32]  # the rank at which the documents of its score begin,
    size: NDArray[np.int32]  # and how many these are, 1 for itself
    ranked: Ints  # the queries, whether or not they retrieved any,
    depth: Ints  # and their depths

    @classmethod
    def from_blocks(cls, judgments: Judgments, blocks: _Blocks) -> _Part:
        rank, first, size = _ranks(blocks, judgments)
        query = judgments.query[blocks.doc]
        order = np.lexsort((rank, query))
        short = (first[order].astype(np.int32), size[order].astype(np.int32))
        return cls(query[order], blocks.doc[order], rank[order], *short, blocks.query, blocks.length)

    def without(self, gone: Bools) -> _Part:
        """The same, but for the queries that are gone."""
        keep, ranked = ~gone[self.query], ~gone[self.ranked]
        short = (self.first[keep], self.size[keep])
        return _Part(self.query[keep], self.doc[keep], self.rank[keep], *short, self.ranked[ranked], self.depth[ranked])


def _joined(judgments: Judgments, parts: Sequence[_Part]) -> AlignedRun:
    """All parts together; no query is in two of them."""
    none = np.zeros(0, dtype=np.int64)

    def column(name: str) -> Ints:
        return np.concatenate([none, *(getattr(part, name) for part in parts)])

    query, doc, rank, ranked = (column(name) for name in ("query", "doc", "rank", "ranked"))
    order: Any = slice(None)
    if np.any(query[1:] < query[:-1]):
        order = np.argsort(query, kind="stable")  # within a query, ranks rise already
        query, doc, rank = query[order], doc[order], rank[order]
    depth = np.zeros(len(judgments), dtype=np.int64)
    depth[ranked] = column("depth")
    ties = None
    if any((part.size > 1).any() for part in parts):
        ties = Ties.among(column("first")[order], column("size")[order])
    return AlignedRun(judgments, query, doc, rank, depth, ties, ranked)


def _align_rows(judgments: Judgments, tables: Iterable[pl.DataFrame]) -> list[_Part]:
    """Align what ``run_table`` gave for the parts of a run, all of them; without Polars' threads where there are none."""
    if engine.computes():
        return [part for table in tables for part in _align_table(judgments, table)]
    rankings: dict[str, dict[str, float]] = {}
    again: list[tuple[str, str]] = []
    for table in tables:
        for query_id, doc_id, score in zip(*(table[name].to_list() for name in RUN_COLUMNS), strict=True):
            if query_id in judgments.place:
                ranking = rankings.setdefault(query_id, {})
                if doc_id in ranking:
                    again.append((query_id, doc_id))
                ranking[doc_id] = score
    if again:
        order = list(rankings)
        query_id, doc_id = min(again, key=lambda pair: order.index(pair[0]))
        raise _twice(query_id, doc_id, len(again))
    return _align_dict(judgments, rankings)


def _twice(query_id: str, doc_id: str, count: int) -> ValueError:
    return ValueError(
        f"run: document {doc_id!r} stands twice in the ranking of query {query_id!r}{and_more(count - 1)}; keep one"
    )


def _align_file(judgments: Judgments, path: str) -> list[_Part]:
    """Align a file some whole queries at a time, so that memory is bounded however long the file is.

    Where a query's lines do not stand together, its lines are gathered in a second reading.
    """
    if not engine.computes():
        with naming(path):
            return _align_rows(judgments, _checked_batches(path))
    parts: list[_Part] = []
    seen: set[str] = set()
    scattered: set[str] = set()
    for table in _whole_queries(one_ahead(_checked_batches(path))):
        queries = set(table["query_id"].filter(pl.Series(changes(table["query_id"]))).to_list())
        scattered |= queries & seen
        seen |= queries
        if judged := (queries & judgments.place.keys()) - scattered:
            if len(judged) < len(queries):
                table = table.filter(pl.col("query_id").is_in(list(judged)))
            with naming(path):
                parts += _align_table(judgments, table)
    scattered &= judgments.place.keys()
    if scattered:
        warn(
            f"{path}: the lines of {len(scattered)} queries, such as {min(scattered)!r}, do not stand together; they are "
            "gathered in a second reading. Sort the file by query to save time and memory."
        )
        wanted = pl.col("query_id").is_in(list(scattered))
        gathered = pl.concat([batch.filter(wanted) for batch in one_ahead(_checked_batches(path))])
        gone = np.zeros(len(judgments), dtype=bool)
        gone[[judgments.place[query_id] for query_id in scattered]] = True
        with naming(path):
            parts = [*(part.without(gone) for part in parts), *_align_table(judgments, gathered)]
    return parts


def _checked_batches(path: str) -> Iterator[pl.DataFrame]:
    row = 1
    for batch in run_batches(path):
        with naming(path):
            yield run_table(batch, row)
        row += len(batch)


def _whole_queries(batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows, cut between queries: what a batch's last query has so far waits for the next batch."""
    waiting: list[pl.DataFrame] = []
    for batch in batches:
        query = batch["query_id"]
        if len(query) == 0:
            continue
        same = query == query[-1]
        last = len(query) - int((~same).arg_true().max() + 1) if not same.all() else len(query)
        if last < len(query):
            yield pl.concat([*waiting, batch[: len(query) - last]])
            waiting = []
        elif waiting and waiting[-1]["query_id"][-1] != query[0]:
            yield pl.concat(waiting)
            waiting = []
        waiting.append(batch[len(query) - last :])
    if waiting:
        yield pl.concat(waiting)


@dataclass(frozen=True)
class _Blocks:
    """A run restricted to judged queries, whose rows stand together: a block per query."""

    query: Ints  # of each block
    length: Ints  # of each block, at least 1
    score: NDArray[np.float32]  # of each row
    doc_ids: Callable[[Ints], Sequence[str]]  # of the given rows
    doc: Ints  # the retrieved judged documents: rows of the judgments,
    doc_block: Ints  # the block each one is in,
    doc_score: NDArray[np.float32]  # and its score


def _align_table(judgments: Judgments, table: pl.DataFrame) -> list[_Part]:
    """Align what ``run_table`` gave, some whole queries at a time: beyond the table, memory is that of a block."""
    new = changes(table["query_id"])
    length = np.diff(np.flatnonzero(np.r_[new, True]))
    place = judgments.place
    names = table["query_id"].filter(pl.Series(new)).to_list()
    query = np.array([place.get(name, -1) for name in names], dtype=np.int64)
    if (query < 0).any():
        table = table.filter(np.repeat(query >= 0, length))
        query, length = query[query >= 0], length[query >= 0]
    if len(np.unique(query)) < len(query):  # a query in several places: bring its rows together
        table = table[np.argsort(_appearance(query)[np.repeat(np.arange(len(query)), length)], kind="stable")]
        rows = np.bincount(query, weights=length).astype(np.int64)
        _, first_place = np.unique(query, return_index=True)
        query = query[np.sort(first_place)]
        length = rows[query]
    return [
        _Part.from_blocks(judgments, _blocks_of_table(judgments, query[some], length[some], table[rows]))
        for some, rows in _portions(length)
    ]


def _appearance(query: Ints) -> Ints:
    """Which of the different queries, in the order of their first places, each one is."""
    _, first, number = np.unique(query, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[number]


def _portions(length: Ints) -> Iterator[tuple[slice, slice]]:
    """Consecutive queries with about ``_ROWS`` rows together: which queries, and which rows."""
    end = np.cumsum(length)
    start = end - length
    cuts = [0, *(np.flatnonzero(np.diff(start // _ROWS)) + 1).tolist(), len(length)]
    for first, last in pairwise(cuts):
        if first < last:
            yield slice(first, last), slice(int(start[first]), int(end[last - 1]))


def _blocks_of_table(judgments: Judgments, query: Ints, length: Ints, table: pl.DataFrame) -> _Blocks:
    block = np.repeat(np.arange(len(query)), length)
    keys = pl.DataFrame({"query": query.astype(np.int32)[block], "doc_id": table["doc_id"]})
    lookup, judged = judgments.lookup(query)
    hashes = lookup.hashes(keys)
    repeated = repetitions(keys, hashes)
    if len(repeated):
        q, doc_id = repeated.row(0)
        raise _twice(judgments.query_ids[q], doc_id, len(repeated))
    row, found = lookup.find(keys, hashes)
    score = _float32(table["score"].to_numpy())
    return _Blocks(
        query=query,
        length=length,
        score=score,
        doc_ids=lambda rows: table["doc_id"].gather(rows).to_list(),
        doc=judged[found],
        doc_block=block[row],
        doc_score=score[row],
    )


def _align_few(judgments: Judgments, run: Mapping[str, Mapping[str, Any]]) -> AlignedRun | None:
    """Align short rankings of few queries one by one, without looking for ties among others; None where that is no way.

    Ties of judged documents are left to the general way, and so is naming what is no number.
    """
    query, doc, rank = [], [], []
    depth = np.zeros(len(judgments), dtype=np.int64)
    ranked = []
    for name, ranking in run.items():
        q = judgments.place.get(name)
        score = packed_numbers([list(ranking.values())])
        if score is None or not len(score) or len(score) > _SHORT:
            return None
        if q is None:
            if np.isnan(score).any():
                return None
            continue
        rows = [row for row, doc_id in judgments.rows_of_query(q) if doc_id in ranking]
        in_order = np.sort(score)
        if not (in_order[0] >= -_FINITE and in_order[-1] <= _FINITE):  # NaN comes last
            return None
        in_order = in_order.astype(np.float32)
        ids = judgments.doc_ids
        wanted = np.array([ranking[ids[row]] for row in rows], dtype=np.float64).astype(np.float32)
        end = in_order.searchsorted(wanted, "right")
        if max((end - in_order.searchsorted(wanted)).tolist(), default=0) > 1:
            return None
        order = end.argsort()[::-1]
        doc.append(np.array(rows, dtype=np.int64)[order])
        rank.append(len(score) + 1 - end[order])
        query.append(judgments.query[doc[-1]])
        depth[q] = len(score)
        ranked.append(q)
    if len(ranked) > 1 and any(first > second for first, second in pairwise(ranked)):
        return None
    queries, docs, ranks = (
        parts[0] if len(parts) == 1 else np.concatenate([_NONE, *parts]) for parts in (query, doc, rank)
    )
    return AlignedRun(judgments, queries, docs, ranks, depth, None, np.array(ranked, dtype=np.int64))


def _align_dict(judgments: Judgments, run: Mapping[str, Mapping[str, Any]]) -> list[_Part]:
    """Align a dict of dicts, some queries at a time."""
    place = judgments.place
    query = np.array([place[name] for name, ranking in run.items() if ranking and name in place], dtype=np.int64)
    rankings = [run[judgments.query_ids[q]] for q in query]
    length = np.array([len(ranking) for ranking in rankings], dtype=np.int64)
    score = packed_numbers(chain((list(ranking.values()) for ranking in rankings), _ignored(judgments, run)))
    if score is None or np.isnan(score).any():
        return _align_rows(judgments, [run_table(run)])  # which names the offender
    return [
        _Part.from_blocks(judgments, _blocks_of_dict(judgments, query[some], length[some], rankings[some], score[rows]))
        for some, rows in _portions(length)
    ]


def _ignored(judgments: Judgments, run: Mapping[str, Mapping[str, Any]]) -> Iterator[list[Any]]:
    """The scores of queries without judgments, which must be numbers all the same."""
    return (list(ranking.values()) for name, ranking in run.items() if name not in judgments.place)


def _blocks_of_dict(
    judgments: Judgments, query: Ints, length: Ints, rankings: list[Mapping[str, Any]], score: Floats
) -> _Blocks:
    """Dicts look documents up themselves: only the few judged ones are looked for, one by one."""
    first, end = (np.searchsorted(judgments.query, query, side=side) for side in ("left", "right"))
    doc_ids = judgments.doc_ids
    judged_scores = [
        value
        for ranking, a, b in zip(rankings, first.tolist(), end.tolist(), strict=True)
        for value in map(ranking.get, doc_ids[a:b])
    ]
    doc = ranges(first, end)
    doc_block = np.repeat(np.arange(len(query)), end - first)
    doc_score = np.array(judged_scores, dtype=np.float64)  # NaN: not retrieved
    found = ~np.isnan(doc_score)

    start = np.cumsum(length) - length

    def doc_ids_of(rows: Ints) -> list[str]:
        block = np.searchsorted(start, rows, side="right") - 1
        names = {b: list(rankings[b]) for b in np.unique(block).tolist()}
        places = zip(block.tolist(), (rows - start[block]).tolist(), strict=True)
        return [names[b][i] for b, i in places]

    return _Blocks(
        query=query,
        length=length,
        score=_float32(score),
        doc_ids=doc_ids_of,
        doc=doc[found],
        doc_block=doc_block[found],
        doc_score=_float32(doc_score[found]),
    )


def _float32(score: Floats) -> NDArray[np.float32]:
    """Scores as trec_eval holds them; beyond the range of 32 bits they are infinite, and -0 equals 0."""
    with np.errstate(over="ignore"):
        rounded: NDArray[np.float32] = score.astype(np.float32)
    return np.add(rounded, np.float32(0))


def _sort_key(block: Ints, score: NDArray[np.float32]) -> NDArray[np.uint64]:
    """A number that sorts by block, then by descending score: the block above the inverted bits of the score."""
    bits = score.view(np.uint32)
    ascending = np.where(bits >> 31 == 1, ~bits, bits | np.uint32(1 << 31))
    key: NDArray[np.uint64] = block.astype(np.uint64) << np.uint64(32)
    key |= ~ascending
    return key


def _ranks(blocks: _Blocks, judgments: Judgments) -> tuple[Ints, Ints, Ints]:
    """Rank of each retrieved judged document: one more than the documents before it.

    And where the documents of its score begin, and how many these are.
    """
    key = _sort_key(np.repeat(np.arange(len(blocks.length)), blocks.length), blocks.score)
    in_order = key if np.all(key[1:] >= key[:-1]) else np.sort(key)
    doc_key = _sort_key(blocks.doc_block, blocks.doc_score)
    start = np.cumsum(blocks.length) - blocks.length
    first = np.searchsorted(in_order, doc_key)
    rank = first - start[blocks.doc_block] + 1
    size = np.ones(len(rank), dtype=np.int64)
    # A document whose key its right neighbour shares is tied: document ids decide.
    tied = np.flatnonzero((first + 1 < len(key)) & (in_order[np.minimum(first + 1, len(key) - 1)] == doc_key))
    if len(tied) == 0:
        return rank, rank, size
    size[tied] = np.searchsorted(in_order, doc_key[tied], side="right") - first[tied]
    first_rank = rank.copy()
    rows = _rows_with(key, np.unique(doc_key[tied]), in_order is key)
    names = judgments.ids_of(blocks.doc[tied])
    rank[tied] += _before(key[rows].tolist(), blocks.doc_ids(rows), doc_key[tied].tolist(), names)
    return rank, first_rank, size


def _before(
    keys: Sequence[int], doc_ids: Sequence[str], wanted_keys: Sequence[int], wanted_ids: Sequence[str]
) -> list[int]:
    """How many documents of equal key stand before each one that is wanted: those whose id is greater.

    Python compares strings by code point, which is the byte order of UTF-8.
    """
    in_order = sorted(zip(keys, doc_ids, strict=True), key=itemgetter(1), reverse=True)
    place: dict[tuple[int, str], int] = {}
    seen: dict[int, int] = {}
    for key, doc_id in in_order:
        place[key, doc_id] = seen.get(key, 0)
        seen[key] = place[key, doc_id] + 1
    return [place[pair] for pair in zip(wanted_keys, wanted_ids, strict=True)]


def _rows_with(key: NDArray[np.uint64], wanted: NDArray[np.uint64], in_order: bool) -> Ints:
    """The rows whose key is one of those wanted, which are sorted."""
    if not in_order:
        return np.flatnonzero(np.isin(key, wanted))
    return ranges(np.searchsorted(key, wanted), np.searchsorted(key, wanted, side="right"))
