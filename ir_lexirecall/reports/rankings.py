"""The documents of rankings, as far as a page shows them: the first ones, and what is relevant below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Ints
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike, align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.columns import run_table


@dataclass(frozen=True)
class ShownRanking:
    """The documents shown of one run, ordered by query, then rank.

    Attributes:
        query: place of each document's query among those shown.
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
        """What is shown of a run on some queries, given as rising positions in the judgments: its first documents, to ``depth``,
        and relevant ones below. The run itself (``source``) alone knows the documents that have no judgment.
        """
        place = np.full(len(aligned.depth), -1)
        place[queries] = np.arange(len(queries))
        keep = (place[aligned.query] >= 0) & ((aligned.rank <= depth) | (aligned.grade >= rel))
        query, rank, doc = place[aligned.query[keep]], aligned.rank[keep], aligned.doc[keep]
        retrieved = aligned.depth[queries]
        if source is None:
            return cls(query, rank, doc, [], retrieved)
        free = np.arange(depth) < retrieved[:, None]  # ranks at which no judged document stands
        free[query[rank <= depth], rank[rank <= depth] - 1] = False
        further = _unjudged(aligned.judgments, source, queries)
        ranks = [np.flatnonzero(row)[: len(ids)] + 1 for row, ids in zip(free, further, strict=True)]
        query = np.concatenate([query, np.repeat(np.arange(len(ranks)), list(map(len, ranks)))])
        rank, doc = np.concatenate([rank, *ranks]), np.concatenate([doc, np.full(sum(map(len, ranks)), -1)])
        order = np.lexsort((rank, query))
        shown = [doc_id for ids, some in zip(further, ranks, strict=True) for doc_id in ids[: len(some)]]
        return cls(query[order], rank[order], doc[order], shown, retrieved)


def _unjudged(judgments: Judgments, source: RunLike, queries: Ints) -> list[list[str]]:
    """For each query the documents of a run that have no judgment and are not excluded, in order."""
    names = [judgments.query_ids[q] for q in queries.tolist()]
    table = run_table(source).filter(pl.col("query_id").is_in(names))
    # Whatever ranks documents anywhere ranks these: the run is aligned with judgments of all its documents.
    everything = Judgments.from_qrels(table.select("query_id", "doc_id", pl.lit(0.0).alias("relevance")))
    ranked = align(everything, table)
    known = judgments if judgments.exclusion is None else judgments.exclusion.everything
    judged = pl.DataFrame(
        {"query_id": pl.Series(known.query_ids, dtype=pl.String).gather(known.query), "doc_id": known.doc_id}
    )
    documents = pl.DataFrame(
        {
            "query_id": pl.Series(everything.query_ids, dtype=pl.String).gather(ranked.query),
            "doc_id": everything.doc_id.gather(ranked.doc),
            "rank": ranked.rank,
        }
    )
    others = documents.join(judged, on=["query_id", "doc_id"], how="anti").sort("rank")
    by_query = dict(others.group_by("query_id", maintain_order=True).agg("doc_id").iter_rows())
    return [by_query.get(name, []) for name in names]


def numbered_documents(
    judgments: Judgments, rankings: Mapping[str, ShownRanking], queries: Ints
) -> tuple[list[list[str]], list[list[float | None]], dict[str, Ints]]:
    """For each query the ids of its documents, shown or judged, and their grades (None: no judgment); for each ranking the
    places, among these ids, of its documents.
    """
    first = np.searchsorted(judgments.query, queries)
    spans = zip(first.tolist(), np.searchsorted(judgments.query, queries, side="right").tolist(), strict=True)
    rows = [np.arange(start, end) for start, end in spans]
    ids, grades = [judgments.ids_of(some) for some in rows], [judgments.grade[some].tolist() for some in rows]
    others: list[dict[str, int]] = [{} for _ in ids]  # numbers of documents without judgment
    numbers = {}
    for name, ranking in rankings.items():
        number = ranking.doc - first[ranking.query]
        for row, doc_id in zip(np.flatnonzero(ranking.doc < 0).tolist(), ranking.doc_id, strict=True):
            query = int(ranking.query[row])
            number[row] = others[query].setdefault(doc_id, len(ids[query]) + len(others[query]))
        numbers[name] = number
    for documents, judged, further in zip(ids, grades, others, strict=True):
        documents += further
        judged += [None] * len(further)
    return ids, grades, numbers
