"""What the query browser of a page shows: rankings, judgments, texts, and what decided between two runs, packed."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ir_lexirecall._util.arrays import Ints
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.criteria import MeasureCriterion
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import RunLike, align
from ir_lexirecall.data.collection import Collection, find_collection, is_data_set
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.columns import run_table
from ir_lexirecall.io.texts import QUERIES, TextsLike, texts_of
from ir_lexirecall.present.text import printable, short_names

_DEPTH = 100  # documents of a ranking; relevant ones are shown below, too
_LEAST_DEPTH = 10
_MOST_DOCUMENTS = 250_000  # of all rankings together
_MOST_QUERIES, _FEWEST_QUERIES = 500, 10
_MOST_DECISIONS = 40_000  # pairs of runs by queries by preferences
_TEXT = 240  # characters of a document's text
_MOST_TEXT = 1_200_000  # characters
_DIRECTION = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class BrowserData(NamedTuple):
    """The data of the query browser: JSON, compressed (deflate), in base64; what is in it, in words; the collection's name."""

    packed: str
    scope: str
    collection: str


@dataclass(frozen=True)
class Sources:
    """Where the browser finds what results do not hold.

    Attributes:
        runs: runs by name, of many collections by collection: they know the documents without judgment.
    """

    runs: Mapping[str, Any]
    texts: TextsLike | None = None
    queries: TextsLike | None = None


def browsers_of(
    result: Comparison | Benchmark, sources: Sources, details: int | None, progress: bool | None
) -> list[BrowserData]:
    """What the query browser shows, for each collection that has something to browse.

    ``details``: how many pairs of runs at most, those of the best runs first; None: as many as fit.
    """
    results = dict(result) if isinstance(result, Benchmark) else {"": result}
    made = []
    for name, one in results.items():
        runs = sources.runs
        if isinstance(result, Benchmark):
            runs = runs.get(name, {} if len(results) > 1 else runs)
        texts = one.texts.texts if sources.texts is None else sources.texts
        queries = one.texts.queries if sources.queries is None else sources.queries
        here = Sources({str(run): source for run, source in runs.items()}, texts, queries)
        made.append(_browser_data(one, here, details, progress, name, len(results)))
    return [data for data in made if data is not None]


def _browser_data(
    result: Comparison, sources: Sources, details: int | None, progress: bool | None, collection: str, parts: int
) -> BrowserData | None:
    """None where there is nothing to browse; ``parts``: among how many collections the room of the page is divided."""
    some = {query_id for criterion in result.by.values() for query_id in criterion.query_ids}
    counted = np.flatnonzero([query_id in some for query_id in result.query_ids])  # for some criterion
    if result.scored is None or len(result.runs) < 2 or not len(counted) or details == 0:
        return None
    judgments = result.scored.judgments
    queries, most, criterion = counted, max(_FEWEST_QUERIES, _MOST_QUERIES // parts), result.criterion()
    if len(counted) > most:  # those on which the runs differ most, in order
        column, spread = {query_id: i for i, query_id in enumerate(result.query_ids)}, np.zeros(len(result.query_ids))
        spread[[column[query_id] for query_id in criterion.query_ids]] = np.nan_to_num(criterion.standings.std(axis=0))
        queries = np.sort(counted[np.argsort(-spread[counted], kind="stable")[:most]])
    # Pairs of the best runs first: by the place of the worse one, then of the better one.
    ranked = {name: i for i, name in enumerate(result.ranking()["run"])}
    fit = max(1, _MOST_DECISIONS // parts // (len(queries) * max(1, len(result.criteria) - len(result.measures))))
    pairs = sorted(result.pairs, key=lambda pair: sorted((ranked[name] for name in pair), reverse=True))
    pairs = pairs[: fit if details is None else min(fit, details)]
    names = [name for name in ranked if any(name in pair for pair in pairs)]
    depth = int(np.clip(_MOST_DOCUMENTS // parts // max(1, len(names) * len(queries)), _LEAST_DEPTH, _DEPTH))
    rel = float(next(iter((result.provenance["rel"] or {}).values()), judgments.threshold))
    rankings = {
        name: ShownRanking.from_run(result.scored.runs[name], queries, depth, rel, sources.runs.get(name))
        for name in names
    }
    ids, grades, numbers = numbered_documents(judgments, rankings, queries)
    query_ids = [judgments.query_ids[q] for q in queries.tolist()]
    store = sources.texts if isinstance(sources.texts, Collection) else None
    if sources.texts is None and is_data_set(result.source):
        known = find_collection(result.source)
        store = known if known.has_texts else None  # on this machine already
    texts = _texts(_highest_first(ids, grades, rel, rankings, numbers), sources, store, _MOST_TEXT // parts)
    of_queries = texts_of(sources.queries, query_ids, QUERIES)
    if not of_queries and store is not None:
        of_queries = store.query_texts
    criteria = [_criterion(result, name, names, query_ids) for name in result.criteria]
    with progress_bar(progress, pairs, desc="pairs") as bar:
        decided = [[_decided(result, a, b, name, query_ids) for name in result.criteria] for a, b in bar]
    place = {name: i for i, name in enumerate(names)}
    data = {
        "runs": list(map(printable, names)),
        "rel": rel,
        "depth": depth,
        "queries": [
            {"id": printable(query_id), "text": _shown(str(of_queries.get(query_id, ""))), "m": m}
            for query_id, m in zip(query_ids, judgments.m(rel)[queries].tolist(), strict=True)
        ],
        "docs": [list(map(printable, documents)) for documents in ids],
        "grades": grades,
        "texts": [[printable(doc_id), text] for doc_id, text in texts.items()],
        "rankings": [_packed_ranking(rankings[name], numbers[name], len(queries)) for name in names],
        "criteria": criteria,
        "pairs": [[place[a], place[b]] for a, b in pairs],
        "decided": decided,
        "open": [_open_queries(result, name, pairs, query_ids) for name in result.criteria],
        "unjudged": bool(sources.runs),
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    packed = zlib.compress(text.encode("utf-8", "replace"), 9)
    said = []
    if len(queries) < len(counted):
        said.append(f"The {len(queries):,} of {len(counted):,} queries on which the runs differ most.")
    if len(pairs) < len(result.pairs):
        said.append(f"{len(pairs):,} of {len(result.pairs):,} pairs, those of the runs that rank highest.")
    said.append(f"Rankings to rank {depth}, and what is relevant below.")
    if not sources.runs:
        said.append("Documents without judgment are counted; name the runs (runs=) to see them.")
    return BrowserData(b64encode(packed).decode("ascii"), " ".join(said), collection)


def _packed_ranking(ranking: ShownRanking, number: Ints, queries: int) -> dict[str, Any]:
    """Per query: the numbers of documents, and by how much each one's rank is larger than the last one's."""
    cut = np.searchsorted(ranking.query, np.arange(1, queries))
    step = np.diff(ranking.rank, prepend=0)
    first = np.flatnonzero(np.diff(ranking.query, prepend=-1))
    step[first] = ranking.rank[first]
    return {
        "doc": [part.tolist() for part in np.split(number, cut)],
        "step": [part.tolist() for part in np.split(step, cut)],
        "depth": ranking.depth.tolist(),
    }


def _criterion(result: Comparison, name: str, runs: Sequence[str], query_ids: Sequence[str]) -> dict[str, Any]:
    """A criterion: of a measure all its values, those of a query that differ by rounding only made equal."""
    criterion, values = result.by[name], None
    if isinstance(criterion, MeasureCriterion):
        column = {query_id: place for place, query_id in enumerate(criterion.query_ids)}
        array = criterion.levelled[[result.runs.index(run) for run in runs]]
        values = [[_finite(row[column[q]]) if q in column else None for q in query_ids] for row in array.tolist()]
    names = {"name": printable(name), "short": printable(short_names(result.criteria).get(name, name))}
    return names | {"smaller": criterion.smaller_is_better, "values": values}


def _decided(result: Comparison, a: str, b: str, by: str, query_ids: Sequence[str]) -> dict[str, Any]:
    """Columns of what decided between two runs by a preference; nothing by measures, whose values say it."""
    if result.by[by].is_measure:
        return {}
    table = result.explain(a, b, by).set_index("query_id").reindex(query_ids)
    columns = {"preference": "v", "level": "level", "tied_levels": "tied", "rank_a": "a", "rank_b": "b"}
    columns |= {"levels_a": "a", "levels_b": "b"}
    decided: dict[str, Any] = {
        short: list(map(_finite, table[column].to_numpy(dtype=float, na_value=np.nan).tolist()))
        for column, short in columns.items()
        if column in table
    }
    return decided | {"kind": "ahead" if "levels_a" in table else "level" if "level" in table else ""}


def _open_queries(
    result: Comparison, name: str, pairs: Sequence[tuple[str, str]], query_ids: Sequence[str]
) -> dict[str, Any] | None:
    """For each pair the queries whose winner unjudged documents could change, as 0 and 1; None where that is not known."""
    left = result.undecided(name)
    if left is None:
        return None
    criterion = result.by[name]
    place = {query_id: q for q, query_id in enumerate(left.query_ids)}
    row = {pair: p for p, pair in enumerate(result.pairs)}
    shown = np.array([place.get(query_id, -1) for query_id in query_ids])
    of_pairs = left.is_open[[row[pair] for pair in pairs]][:, shown] & (shown >= 0)
    cutoff = None if isinstance(criterion, MeasureCriterion) else criterion.preferences.cutoff
    if result.scored is not None and name in result.scored.measures:
        cutoff = result.scored.measures[name].params.get("cutoff")
    bits = ["".join("01"[is_open] for is_open in line) for line in of_pairs.tolist()]
    return {"depth": left.depth, "cutoff": cutoff, "shared": left.is_shared, "queries": bits}


def _finite(value: float) -> float | None:
    """A number as JSON holds it: None for what is missing, whole numbers without a point."""
    return None if not np.isfinite(value) else int(value) if value == int(value) else value


def _highest_first(
    ids: Sequence[Sequence[str]],
    grades: Sequence[Sequence[float | None]],
    rel: float,
    rankings: Mapping[str, ShownRanking],
    numbers: Mapping[str, Ints],
) -> list[str]:
    """The documents that are shown: those that stand highest in some ranking first, relevant ones that none has last."""
    best: dict[str, int] = {}
    for name, ranking in rankings.items():
        columns = (column.tolist() for column in (ranking.query, numbers[name], ranking.rank))
        for query, number, rank in zip(*columns, strict=True):
            doc_id = ids[query][number]
            best[doc_id] = min(rank, best.get(doc_id, rank))
    pairs = (pair for of_query in zip(ids, grades, strict=True) for pair in zip(*of_query, strict=True))
    missed = [doc_id for doc_id, grade in pairs if grade is not None and grade >= rel]
    return list(dict.fromkeys([*sorted(best, key=best.__getitem__), *missed]))


def _texts(doc_ids: Sequence[str], sources: Sources, store: Collection | None, room: int) -> dict[str, str]:
    """Beginnings of the texts of documents, of the first ones as far as there is room."""
    wanted = list(doc_ids[: room // 20])
    found = texts_of(store if sources.texts is None else sources.texts, wanted)
    texts = {}
    for doc_id in (doc_id for doc_id in wanted if found.get(doc_id) is not None):
        title, _, rest = str(found[doc_id]).strip().partition("\n")
        short = _shown(f"{title} — {rest}" if rest.strip() else title)
        short = short if len(short) <= _TEXT else short[:_TEXT].rstrip() + "…"
        room -= len(short)
        if room < 0:
            break
        texts[doc_id] = short
    return texts


def _shown(text: str) -> str:
    """A text in one line, without marks of direction."""
    return printable(" ".join(_DIRECTION.sub("", text).split()))


# -- the documents of rankings: the first ones, and what is relevant below -------------------------


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
    query_ids = pl.Series(judgments.query_ids, dtype=pl.String).gather(judgments.query)
    judged = pl.DataFrame({"query_id": query_ids, "doc_id": judgments.doc_id})
    documents = pl.DataFrame(
        {
            "query_id": pl.Series(everything.query_ids, dtype=pl.String).gather(ranked.query),
            "doc_id": everything.doc_id.gather(ranked.doc),
            "rank": ranked.rank,
        }
    )
    others = documents.join(judged, on=["query_id", "doc_id"], how="anti").sort("rank")
    by_query = dict(others.group_by("query_id", maintain_order=True).agg("doc_id").iter_rows())
    return [[doc for doc in by_query.get(name, []) if doc not in judgments.excluded.get(name, ())] for name in names]


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
