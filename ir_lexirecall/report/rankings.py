"""The documents of rankings, as far as a page shows them: the first ones, and what is relevant below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ir_lexirecall.alignment import AlignedRun, RunLike, align
from ir_lexirecall.arrays import Ints, position_in_segment, starts_segment
from ir_lexirecall.formats import run_table
from ir_lexirecall.judgments import Judgments

if TYPE_CHECKING:
    import polars as pl
else:
    from ir_lexirecall.lazy import LazyModule

    pl = LazyModule("polars")


@dataclass(frozen=True)
class ShownRanking:
    """The documents shown of one run, ordered by query, then rank.

    Attributes:
        query: place of each document's query among those shown.
        rank: its rank, from 1.
        doc: its row in the judgments, -1 for a document without judgment.
        doc_id: the ids of those without judgment, in order.
        depth: number of documents retrieved for each query shown.
    """

    query: Ints
    rank: Ints
    doc: Ints
    doc_id: list[str]
    depth: Ints

    @classmethod
    def from_run(
        cls, aligned: AlignedRun, queries: Ints, depth: int, rel: float, source: RunLike | None = None
    ) -> ShownRanking:
        """What is shown of a run.

        Args:
            aligned: the run.
            queries: the queries shown, as positions in the judgments, rising.
            depth: how many of the first documents; relevant ones are shown below, too.
            rel: smallest grade that counts as relevant.
            source: the run itself, which alone knows the documents that have no judgment.
        """
        place = np.full(len(aligned.depth), -1)
        place[queries] = np.arange(len(queries))
        keep = (place[aligned.query] >= 0) & ((aligned.rank <= depth) | (aligned.grade >= rel))
        query, rank, doc = place[aligned.query[keep]], aligned.rank[keep], aligned.doc[keep]
        retrieved = aligned.depth[queries]
        if source is None:
            return cls(query, rank, doc, [], retrieved)
        free_query, free_rank = _free_ranks(query, rank, np.minimum(retrieved, depth), depth)
        other_query, other_ids = _unjudged(aligned.judgments, source, queries)
        free, other = _first_of_each(free_query, other_query, len(queries))
        all_query = np.concatenate([query, free_query[free]])
        all_rank = np.concatenate([rank, free_rank[free]])
        all_doc = np.concatenate([doc, np.full(len(free), -1)])
        order = np.lexsort((all_rank, all_query))
        ids = [other_ids[i] for i in other.tolist()]
        return cls(all_query[order], all_rank[order], all_doc[order], ids, retrieved)


def _free_ranks(query: Ints, rank: Ints, retrieved: Ints, depth: int) -> tuple[Ints, Ints]:
    """The ranks at which no judged document stands, by query."""
    free = np.arange(depth) < retrieved[:, None]
    shown = rank <= depth
    free[query[shown], rank[shown] - 1] = False
    queries, column = np.nonzero(free)
    return queries, column + 1


def _unjudged(judgments: Judgments, source: RunLike, queries: Ints) -> tuple[Ints, list[str]]:
    """The documents of a run that have no judgment and are not excluded, in order; their queries, as places in ``queries``."""
    names = [judgments.query_ids[q] for q in queries.tolist()]
    table = run_table(source).filter(pl.col("query_id").is_in(names))
    # Whatever ranks documents anywhere ranks these: the run is aligned with judgments of all its documents.
    everything = Judgments.from_qrels(table.select("query_id", "doc_id", pl.lit(0.0).alias("relevance")))
    ranked = align(everything, table)
    known = judgments if judgments.exclusion is None else judgments.exclusion.everything
    judged = pl.DataFrame(
        {"query_id": pl.Series(known.query_ids, dtype=pl.String).gather(known.query), "doc_id": known.doc_id}
    )
    place = pl.DataFrame({"query_id": pl.Series(names, dtype=pl.String), "place": np.arange(len(names))})
    documents = pl.DataFrame(
        {
            "query_id": pl.Series(everything.query_ids, dtype=pl.String).gather(ranked.query),
            "doc_id": everything.doc_id.gather(ranked.doc),
            "rank": ranked.rank,
        }
    )
    others = documents.join(judged, on=["query_id", "doc_id"], how="anti").join(place, on="query_id")
    others = others.sort("place", "rank")
    return others["place"].to_numpy().astype(np.int64), others["doc_id"].to_list()


def _first_of_each(a: Ints, b: Ints, queries: int) -> tuple[Ints, Ints]:
    """The first rows of each query in two sorted columns of queries, of each query as many as both have."""
    both = np.minimum(np.bincount(a, minlength=queries), np.bincount(b, minlength=queries))
    rows = [np.flatnonzero(position_in_segment(column) < both[column]) for column in (a, b)]
    return rows[0], rows[1]


def numbered_documents(
    judgments: Judgments, rankings: Mapping[str, ShownRanking], queries: Ints
) -> tuple[list[list[str]], list[list[float | None]], dict[str, Ints]]:
    """A number, within its query, for every document that some ranking shows or that is judged.

    Returns:
        For each query the ids of its documents, and their grades (None: no judgment); for each ranking the numbers of its
        documents.
    """
    first = np.searchsorted(judgments.query, queries)
    end = np.searchsorted(judgments.query, queries, side="right")
    spans = list(zip(first.tolist(), end.tolist(), strict=True))
    ids = [judgments.ids_of(np.arange(start, stop)) for start, stop in spans]
    grades: list[list[float | None]] = [judgments.grade[start:stop].tolist() for start, stop in spans]
    parts = []
    for name, ranking in rankings.items():
        rows = np.flatnonzero(ranking.doc < 0)
        columns = {"query": ranking.query[rows], "doc_id": pl.Series(ranking.doc_id, dtype=pl.String), "row": rows}
        parts.append(pl.DataFrame(columns).with_columns(run=pl.lit(name)))
    others = (
        pl.concat(parts) if parts else pl.DataFrame(schema={"query": pl.Int64, "doc_id": pl.String, "run": pl.String})
    )
    different = others.select("query", "doc_id").unique(maintain_order=True).sort("query", maintain_order=True)
    query = different["query"].to_numpy()
    number = position_in_segment(query) + (end - first)[query] if len(query) else query
    different = different.with_columns(number=pl.Series(number, dtype=pl.Int64))
    starts = np.flatnonzero(starts_segment(query)) if len(query) else np.zeros(0, dtype=np.int64)
    names = different["doc_id"].to_list()
    for start, stop in zip(starts.tolist(), [*starts.tolist()[1:], len(query)], strict=False):
        ids[query[start]] += names[start:stop]
        grades[query[start]] += [None] * (stop - start)
    numbered = others.join(different, on=["query", "doc_id"], how="left")
    numbers = {}
    for name, ranking in rankings.items():
        number = ranking.doc - first[ranking.query]
        rows_of_run = numbered.filter(pl.col("run") == name)
        number[rows_of_run["row"].to_numpy()] = rows_of_run["number"].to_numpy()
        numbers[name] = number
    return ids, grades, numbers
