"""``Pool``: what several runs retrieved, judged or not, with the rank of each document.

An ``AlignedRun`` knows judged documents only. What unjudged ones could change depends on which
document stands where, for those that two runs share cancel: so the runs are read once more, and
only by who asks for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util import engine
from ir_lexirecall._util.arrays import Bools, Floats, Ints, position_in_segment
from ir_lexirecall._util.errors import naming
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike, numbered_queries
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.columns import read_columns
from ir_lexirecall.io.schemas import RUN
from ir_lexirecall.io.source import what_is

Ranks = NDArray[np.signedinteger[Any]]
Depth: TypeAlias = int | None
"""Down to which rank documents are looked at; None: all."""
DEEPEST = np.iinfo(np.int32).max
"""A rank below every ranking."""


@dataclass(frozen=True, eq=False)
class Pool:
    """The N documents that S runs retrieved, of some depth.

    They are all judged ones, and the unjudged ones that a run has among its first ``depth``.
    """

    # They say which documents are judged, and the order of the Q queries.
    judgments: Judgments
    names: list[str]  # names of the runs
    # Unjudged documents are here down to this rank of any run; None: all.
    depth: int | None
    query: Ints  # query of each document, rising, shape ``(N,)``
    doc: Ints  # its row in the judgments, -1 if it was not judged, shape ``(N,)``
    doc_id: pl.Series  # its id
    # Its rank in each run, from 1, also below ``depth``; 0: not retrieved; shape ``(S, N)``.
    rank: Ranks
    # Number of documents that each run retrieved for each query, shape ``(S, Q)``.
    retrieved: Ints

    @classmethod
    def from_runs(
        cls,
        judgments: Judgments,
        runs: Mapping[str, RunLike | AlignedRun],
        depth: int | None = None,
    ) -> Pool:
        """Read ``runs`` (in any form that ``align`` takes) and pool what they retrieved.

        Raises:
            ValueError: a run that is aligned already, which knows judged documents only, or one
                that can be read only once and has been.

        >>> judgments = Judgments.from_qrels({"q": {"a": 1, "b": 0}})
        >>> runs = {"x": {"q": {"a": 3, "u": 2}}, "y": {"q": {"u": 3, "v": 2, "w": 1}}}
        >>> pool = Pool.from_runs(judgments, runs, depth=2)
        >>> pool.doc_id.to_list(), pool.is_judged.tolist(), pool.rank.tolist()
        (['a', 'u', 'v'], [True, False, False], [[1, 2, 0], [0, 1, 2]])
        >>> pool.grade.tolist()
        [1.0, 0.0, 0.0]
        """
        ranked = _ranked if engine.computes() else _ranked_in_python
        tables = {
            str(name): ranked(judgments, _tables_of(run, str(name)))
            for name, run in runs.items()
        }
        pooled = _pooled if engine.computes() else _pooled_in_python
        query, doc, doc_id, rank = pooled(judgments, list(tables.values()), depth)
        counts = [
            np.bincount(table["query"].to_numpy(), minlength=len(judgments))
            for table in tables.values()
        ]
        retrieved = np.array(counts, dtype=np.int64).reshape(
            len(tables), len(judgments)
        )
        return cls(judgments, list(tables), depth, query, doc, doc_id, rank, retrieved)

    @cached_property
    def is_judged(self) -> Bools:
        """Whether each document was judged, shape ``(N,)``."""
        return self.doc >= 0

    @cached_property
    def grade(self) -> Floats:
        """Grade of each document, 0 without a judgment, shape ``(N,)``."""
        # The row -1 of a document without a judgment is that of the 0.
        return np.append(self.judgments.grade, 0.0)[self.doc]

    def unjudged_of_queries(self) -> Iterator[Ints]:
        """Yield the rows of the unjudged documents of each query."""
        rows = np.flatnonzero(~self.is_judged)
        queries = np.arange(len(self.judgments) + 1)
        ends = np.searchsorted(self.query[rows], queries)
        for first, end in pairwise(ends.tolist()):
            yield rows[first:end]

    def only(self, which: Bools) -> Pool:
        """Return the part of the pool that has the documents at the rows ``which``."""
        row = np.flatnonzero(which)
        return replace(
            self,
            query=self.query[row],
            doc=self.doc[row],
            doc_id=self.doc_id.gather(row),
            rank=self.rank[:, row],
        )

    def that_can_matter(self, depth: Depth) -> Pool:
        """Return the judged documents with a gain, and the unjudged ones down to a depth."""
        return self.only(np.where(self.is_judged, self.grade > 0, self.within(depth)))

    def within(self, depth: Depth) -> Bools:
        """Whether any run has the document among its first ``depth``, shape ``(N,)``."""
        first: Ranks = self.rank.min(axis=0, where=self.rank > 0, initial=DEEPEST)
        return first <= _last_rank(depth)

    def ranks_within(self, depth: Depth, cutoff: Depth) -> tuple[Ranks, Bools]:
        """Return ranks down to ``cutoff``, and which runs have a document unjudged.

        Both have the shape ``(S, N)``. Ranks below the cutoff are 0. Only the first ``depth``
        documents of a run count as unjudged.
        """
        ranks = np.where(self.rank <= _last_rank(cutoff), self.rank, 0)
        is_within = (self.rank > 0) & (self.rank <= _last_rank(depth))
        return ranks, ~self.is_judged & is_within

    def check_agrees(self, runs: Mapping[str, AlignedRun]) -> None:
        """Require that the judged documents stand where they stood when the runs were aligned.

        Raises:
            ValueError: a run has changed; the message names it.
        """
        for s, name in enumerate(self.names):
            run = runs[name]
            rank_of_row = np.full(len(self.judgments.query), 0, dtype=np.int64)
            there = np.flatnonzero(self.is_judged & (self.rank[s] > 0))
            rank_of_row[self.doc[there]] = self.rank[s, there]
            doc, rank = run.doc[run.is_judged], run.rank[run.is_judged]
            if len(there) != len(doc) or np.any(rank_of_row[doc] != rank):
                raise ValueError(
                    f"run {name!r} has changed since it was compared, or can be read only once; "
                    "compare the runs again"
                )


def _last_rank(depth: Depth) -> int:
    """Return the last rank of a depth, the largest of all where it is None."""
    if depth is None:
        return DEEPEST
    return depth


# A text, so that Polars is not loaded.
_Pooled: TypeAlias = "tuple[Ints, Ints, pl.Series, Ranks]"
"""The documents of a pool: query, row in the judgments, id, and rank in each run."""


def _pooled(
    judgments: Judgments, tables: Sequence[pl.DataFrame], depth: Depth
) -> _Pooled:
    """Return the documents of ranked runs that are judged or within ``depth`` of any run."""
    judged = judgments.judged_keys.with_columns(pl.col("doc").cast(pl.Int64))
    rows = [
        table.join(judged, on=["query", "doc_id"], how="left").with_columns(
            run=pl.lit(s, dtype=pl.Int32)
        )
        for s, table in enumerate(tables)
    ]
    columns = {
        "query": pl.Int32,
        "doc_id": pl.String,
        "rank": pl.Int32,
        "doc": pl.Int64,
        "run": pl.Int32,
    }
    everything = pl.concat(rows) if rows else pl.DataFrame(schema=columns)
    shallow = pl.col("rank") <= (depth or DEEPEST)
    keys = (
        everything.filter(pl.col("doc").is_not_null() | shallow)
        .select("query", "doc_id", "doc")
        .unique()
    )
    keys = keys.sort("query", "doc", "doc_id", nulls_last=True).with_row_index("row")
    placed = everything.join(
        keys.select("row", "query", "doc_id"), on=["query", "doc_id"], how="inner"
    )
    rank = np.zeros((len(tables), len(keys)), dtype=np.int32)
    rank[placed["run"].to_numpy(), placed["row"].to_numpy()] = placed["rank"].to_numpy()
    return (
        keys["query"].to_numpy().astype(np.int64),
        keys["doc"].fill_null(-1).to_numpy().astype(np.int64),
        keys["doc_id"],
        rank,
    )


def _pooled_in_python(
    judgments: Judgments, tables: Sequence[pl.DataFrame], depth: Depth
) -> _Pooled:
    """Return what ``_pooled`` returns, without Polars' threads."""
    query_and_id = list(zip(judgments.query.tolist(), judgments.doc_ids, strict=True))
    row_of = {
        query_and_id[row]: row for row in np.flatnonzero(judgments.is_judged).tolist()
    }
    rankings = [_rank_of_document(table) for table in tables]
    last = depth or DEEPEST
    pooled: set[tuple[int, str]] = set()
    for rank_of in rankings:
        for key, rank in rank_of.items():
            if rank <= last or key in row_of:
                pooled.add(key)
    unjudged = len(row_of) + len(judgments.query)  # after every row
    in_order = sorted(
        pooled, key=lambda key: (key[0], row_of.get(key, unjudged), key[1])
    )
    ranks = [[rank_of.get(key, 0) for key in in_order] for rank_of in rankings]
    return (
        np.array([query for query, _ in in_order], dtype=np.int64),
        np.array([row_of.get(key, -1) for key in in_order], dtype=np.int64),
        pl.Series("doc_id", [doc_id for _, doc_id in in_order], dtype=pl.String),
        np.array(ranks, dtype=np.int32).reshape(len(tables), len(in_order)),
    )


def _rank_of_document(table: pl.DataFrame) -> dict[tuple[int, str], int]:
    """Return the rank of each document of a ranking, by query number and id."""
    keys = zip(table["query"].to_list(), table["doc_id"].to_list(), strict=True)
    return dict(zip(keys, table["rank"].to_list(), strict=True))


def _tables_of(run: RunLike | AlignedRun, name: str) -> Iterator[pl.DataFrame]:
    """Yield the rows of a run, a table per block: columns ``query_id``, ``doc_id``, ``score``.

    Raises:
        ValueError: the run is aligned already.
    """
    if isinstance(run, AlignedRun):
        raise ValueError(
            f"run {name!r} is aligned, which keeps only judged documents; give it as a file, "
            "table or dict"
        )
    with naming(f"run {name!r}"):
        source = what_is(run, RUN)
    with naming(source.name or f"run {name!r}"):
        yield from read_columns(source, RUN)


def _ranked_in_python(
    judgments: Judgments, tables: Iterable[pl.DataFrame]
) -> pl.DataFrame:
    """Return what ``_ranked`` returns, without Polars' threads."""
    query, doc_ids, scores = list[int](), list[str](), list[float]()
    for table in tables:
        columns = (
            table[column].to_list() for column in ("query_id", "doc_id", "score")
        )
        for query_id, doc_id, score in zip(*columns, strict=True):
            excluded = judgments.excluded.get(query_id, frozenset())
            if query_id in judgments.place and doc_id not in excluded:
                query.append(judgments.place[query_id])
                doc_ids.append(doc_id)
                scores.append(score)
    [keys] = judgments.order.keys(
        np.array(query, dtype=np.int64), np.array(scores, dtype=float)
    )
    order = sorted(range(len(doc_ids)), key=doc_ids.__getitem__, reverse=True)
    order.sort(key=keys.tolist().__getitem__)
    queries = np.array(query, dtype=np.int64)[np.array(order, dtype=np.int64)]
    return pl.DataFrame(
        {
            "query": queries.astype(np.int32),
            "doc_id": pl.Series([doc_ids[row] for row in order], dtype=pl.String),
            "rank": (position_in_segment(queries) + 1).astype(np.int32),
        }
    )


def _ranked(judgments: Judgments, tables: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Return the documents of the judged queries, by query and rank.

    The columns are ``query`` (its number), ``doc_id`` and ``rank``.
    """
    table = pl.concat([_of_queries(judgments, table) for table in tables])
    if judgments.excluded:
        table = table.join(
            judgments.excluded_keys,
            on=["query", "doc_id"],
            how="anti",
            maintain_order="left",
        )
    [key] = judgments.order.keys(table["query"].to_numpy(), table["score"].to_numpy())
    table = table.drop("score")
    if not np.all(key[1:] > key[:-1]):
        table = (
            table.with_columns(key=pl.Series(key))
            .sort("key", "doc_id", descending=[False, True])
            .drop("key")
        )
    rank = position_in_segment(table["query"].to_numpy()) + 1
    return table.with_columns(rank=pl.Series(rank.astype(np.int32)))


def _of_queries(judgments: Judgments, table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of judged queries, with the query's number instead of its id."""
    query = np.repeat(*numbered_queries(judgments, table)).astype(np.int32)
    return table.select(pl.Series("query", query), "doc_id", "score").filter(
        pl.Series(query >= 0)
    )
