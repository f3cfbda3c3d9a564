"""What the query browser of a page shows: rankings, judgments, texts, and what decided between two runs, packed."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np

from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.criteria import MeasureCriterion
from ir_lexirecall.data.collection import Collection, find_collection, is_data_set
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.io.texts import QUERIES, TextSources, texts_of
from ir_lexirecall.present.text import printable, short_names

_DEPTH = 100  # documents of a ranking; relevant ones are shown below, too
_LEAST_DEPTH = 10
_MOST_DOCUMENTS = 250_000  # of all rankings together
_MOST_QUERIES, _FEWEST_QUERIES = 500, 10
_MOST_DECISIONS = 40_000  # pairs of runs by queries by preferences
_TEXT = 240  # characters of a document's text
_MOST_TEXT = 1_200_000  # characters
_DIRECTION = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_DECIDED = {
    "preference": "v",
    "level": "level",
    "tied_levels": "tied",
    "rank_a": "a",
    "rank_b": "b",
}
_DECIDED |= {
    "levels_a": "a",
    "levels_b": "b",
}  # columns of ``explain``, and what the page calls them


def browsers_of(
    result: Comparison | Benchmark,
    runs: Mapping[str, Any],
    texts: TextSources,
    details: int | None,
    progress: bool | None,
) -> list[dict[str, str]]:
    """What the query browser shows, for each collection that has something to browse.

    Args:
        runs: by name, of many collections by collection: they know the documents without judgment,
            which results do not hold.
        texts: by default those that the result knows.
        details: how many pairs of runs at most, those of the best runs first; None: as many as fit.

    Returns:
        ``packed``: JSON, compressed (deflate), in base64; ``scope``: what is in it, in words; the
        ``collection``'s name.
    """
    results = dict(result) if isinstance(result, Benchmark) else {"": result}
    found = []
    for name, one in results.items():
        own = (
            runs.get(name, {} if len(results) > 1 else runs)
            if isinstance(result, Benchmark)
            else runs
        )
        documents = one.texts.texts if texts.texts is None else texts.texts
        queries = one.texts.queries if texts.queries is None else texts.queries
        known = {str(run): source for run, source in own.items()}
        data = _browser_data(
            one, known, TextSources(documents, queries), details, progress, len(results)
        )
        found += [{**data, "collection": name}] if data else []
    return found


def _browser_data(
    result: Comparison,
    runs: dict[str, Any],
    texts: TextSources,
    details: int | None,
    progress: bool | None,
    parts: int,
) -> dict[str, str]:
    """Empty where there is nothing to browse; ``parts``: among how many collections the room of the page is divided."""
    some = {query_id for criterion in result.by.values() for query_id in criterion.query_ids}
    counted = np.flatnonzero(
        [query_id in some for query_id in result.query_ids]
    )  # for some criterion
    scored = result.scored
    if scored is None or len(result.runs) < 2 or not len(counted) or details == 0:
        return {}
    queries, most, criterion = (
        counted,
        max(_FEWEST_QUERIES, _MOST_QUERIES // parts),
        result.criterion(),
    )
    if len(counted) > most:  # those on which the runs differ most, in order
        spread = dict(
            zip(criterion.query_ids, np.nan_to_num(criterion.standings.std(axis=0)), strict=True)
        )
        apart = np.array([spread.get(result.query_ids[q], 0.0) for q in counted])
        queries = np.sort(counted[np.argsort(-apart, kind="stable")[:most]])
    # Pairs of the best runs first: by the place of the worse one, then of the better one.
    ranked = {name: i for i, name in enumerate(result.ranking()["run"])}
    fit = max(
        1,
        _MOST_DECISIONS
        // parts
        // (len(queries) * max(1, len(result.criteria) - len(result.measures))),
    )
    pairs = sorted(
        result.pairs, key=lambda pair: sorted((ranked[name] for name in pair), reverse=True)
    )
    pairs = pairs[: fit if details is None else min(fit, details)]
    names = [name for name in ranked if any(name in pair for pair in pairs)]
    depth = int(
        np.clip(_MOST_DOCUMENTS // parts // max(1, len(names) * len(queries)), _LEAST_DEPTH, _DEPTH)
    )
    query_ids = [scored.judgments.query_ids[q] for q in queries.tolist()]
    judgments = scored.judgments.restricted_to(query_ids)
    rel = float(next(iter((result.provenance["rel"] or {}).values()), judgments.threshold))
    # The documents of each ranking: the first ones, and what is relevant below. Only a run itself
    # knows those without judgment.
    key = ["query", "doc_id"]
    known = pl.DataFrame(
        {"query": judgments.query, "doc_id": judgments.doc_id, "grade": judgments.grade}
    ).filter(pl.Series(judgments.is_judged))
    rankings = []
    for name in names:
        run, source = scored.runs[name], runs.get(name)
        if source is None or judgments.judged_only:
            number = np.full(len(run.depth), -1)
            number[queries] = np.arange(len(queries))
            query, doc_id, rank = (
                number[run.query],
                scored.judgments.doc_id.gather(run.doc),
                run.rank,
            )
        else:
            pool = Pool.from_runs(judgments, {name: source}, depth)
            query, doc_id, rank = pool.query, pool.doc_id, pool.rank[0].astype(np.int64)
        rows = pl.DataFrame({"query": query, "doc_id": doc_id, "rank": rank}).join(
            known, on=key, how="left"
        )
        rows = rows.filter(
            pl.col("query") >= 0, (pl.col("rank") <= depth) | (pl.col("grade") >= rel)
        )
        rankings.append(rows.sort("query", "rank"))
    # Documents are numbered query by query: the judged ones, then the others in the order in which
    # rankings have them. Most judged documents are neither relevant nor in any ranking: left out.
    shown = pl.concat(
        [known.filter(pl.col("grade") >= rel), *(rows.select(known.columns) for rows in rankings)]
    )
    judged = known.join(shown, on=key, how="semi", maintain_order="left")
    every = pl.concat([judged, shown]).unique(key, keep="first", maintain_order=True)
    every = every.with_columns(number=pl.int_range(pl.len()).over("query"))
    best = pl.concat(rankings).group_by("doc_id", maintain_order=True).agg(pl.col("rank").min())
    best = best.sort("rank", maintain_order=True)
    highest_first = pl.concat([best["doc_id"], every.filter(pl.col("grade") >= rel)["doc_id"]])
    packed_rankings = []
    for name, rows in zip(names, rankings, strict=True):
        step = (
            pl.col("rank").diff().over("query").fill_null(pl.col("rank"))
        )  # from one rank to the next
        rows = rows.join(every, on=key, how="left", maintain_order="left").with_columns(step=step)
        doc, steps = (_by_query(rows, column, len(queries)) for column in ("number", "step"))
        packed_rankings.append(
            {"doc": doc, "step": steps, "depth": scored.runs[name].depth[queries].tolist()}
        )
    documents = texts.texts
    if (
        documents is None
        and is_data_set(result.source)
        and (collection := find_collection(result.source)).has_texts
    ):
        documents = collection  # on this machine already
    # Beginnings of the texts of documents, of the first ones as far as there is room.
    room, beginnings = _MOST_TEXT // parts, []
    wanted = highest_first.unique(maintain_order=True).head(room // 20).to_list()
    found = texts_of(documents, wanted)
    for doc_id in (doc_id for doc_id in wanted if found.get(doc_id) is not None):
        title, _, rest = str(found[doc_id]).strip().partition("\n")
        short = _shown(f"{title} — {rest}" if rest.strip() else title)
        short = short if len(short) <= _TEXT else short[:_TEXT].rstrip() + "…"
        room -= len(short)
        if room < 0:
            break
        beginnings.append([printable(doc_id), short])
    of_queries = texts_of(texts.queries, query_ids, QUERIES)
    if not of_queries and isinstance(documents, Collection):
        of_queries = documents.query_texts
    place = {pair: i for i, pair in enumerate(result.pairs)}
    with progress_bar(progress, pairs, desc="pairs") as bar:
        decided = [
            [_decided(result, a, b, name, query_ids) for name in result.criteria] for a, b in bar
        ]
    data = {
        "runs": list(map(printable, names)),
        "rel": rel,
        "depth": depth,
        "queries": [
            {"id": printable(query_id), "text": _shown(str(of_queries.get(query_id, ""))), "m": m}
            for query_id, m in zip(query_ids, judgments.m(rel).tolist(), strict=True)
        ],
        "docs": [
            list(map(printable, documents))
            for documents in _by_query(every, "doc_id", len(queries))
        ],
        "grades": _by_query(every, "grade", len(queries)),
        "texts": beginnings,
        "rankings": packed_rankings,
        "criteria": [_criterion(result, name, names, query_ids) for name in result.criteria],
        "pairs": [[names.index(a), names.index(b)] for a, b in pairs],
        "decided": decided,
        "open": [
            _open_queries(result, name, [place[pair] for pair in pairs], query_ids)
            for name in result.criteria
        ],
        "unjudged": bool(runs),
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    packed = packed_text(text)
    said = []
    if len(queries) < len(counted):
        said.append(
            f"The {len(queries):,} of {len(counted):,} queries on which the runs differ most."
        )
    if len(pairs) < len(result.pairs):
        said.append(
            f"{len(pairs):,} of {len(result.pairs):,} pairs, those of the runs that rank highest."
        )
    said.append(f"The first {depth} ranks, and relevant documents below them.")
    if not runs:
        said.append("Documents without judgment are counted; name the runs (runs=) to see them.")
    return {"packed": packed, "scope": " ".join(said)}


def packed_text(text: str) -> str:
    """Return a text compressed (deflate) and in base64, as the page's script unpacks it.

    >>> packed_text("a" * 1000)
    'eNpLTBwFo2AUDHcAAIQVezg='
    """
    return b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode("ascii")


def _by_query(rows: pl.DataFrame, column: str, queries: int) -> list[list[Any]]:
    """The values of a column, a list per query, in order."""
    lists = dict(rows.group_by("query", maintain_order=True).agg(column).iter_rows())
    return [lists.get(query, []) for query in range(queries)]


def _criterion(
    result: Comparison, name: str, runs: list[str], query_ids: list[str]
) -> dict[str, Any]:
    """A criterion: of a measure all its values, those of a query that differ by rounding only made equal."""
    criterion, values = result.by[name], None
    if isinstance(criterion, MeasureCriterion):
        column = {query_id: place for place, query_id in enumerate(criterion.query_ids)}
        array = criterion.levelled[[result.runs.index(run) for run in runs]]
        values = [
            [_finite(row[column[q]]) if q in column else None for q in query_ids]
            for row in array.tolist()
        ]
    names = {
        "name": printable(name),
        "short": printable(short_names(result.criteria).get(name, name)),
    }
    return names | {"smaller": criterion.smaller_is_better, "values": values}


def _decided(result: Comparison, a: str, b: str, by: str, query_ids: list[str]) -> dict[str, Any]:
    """Columns of what decided between two runs by a preference; nothing by measures, whose values say it."""
    if result.by[by].is_measure:
        return {}
    table = result.explain(a, b, by).set_index("query_id").reindex(query_ids)
    decided: dict[str, Any] = {
        short: list(map(_finite, table[column].to_numpy(dtype=float, na_value=np.nan).tolist()))
        for column, short in _DECIDED.items()
        if column in table
    }
    return decided | {
        "kind": "ahead" if "levels_a" in table else "level" if "level" in table else ""
    }


def _open_queries(
    result: Comparison, name: str, rows: list[int], query_ids: list[str]
) -> dict[str, Any] | None:
    """For some pairs, by their places in the result, the queries whose winner unjudged documents could change, as 0 and 1; None where that is not known."""
    left = result.undecided(name)
    if left is None:
        return None
    place = {query_id: q for q, query_id in enumerate(left.query_ids)}
    shown = np.array([place.get(query_id, -1) for query_id in query_ids])
    of_pairs = left.is_open[rows][:, shown] & (shown >= 0)
    bits = ["".join("01"[is_open] for is_open in line) for line in of_pairs.tolist()]
    criterion = result.by[name]
    cutoff = None if isinstance(criterion, MeasureCriterion) else criterion.preferences.cutoff
    if result.scored is not None and name in result.scored.measures:
        cutoff = result.scored.measures[name].params.get("cutoff")
    return {"depth": left.depth, "cutoff": cutoff, "shared": left.is_shared, "queries": bits}


def _finite(value: float) -> float | None:
    """A number as JSON holds it: None for what is missing, whole numbers without a point."""
    return None if not np.isfinite(value) else int(value) if value == int(value) else value


def _shown(text: str) -> str:
    """A text in one line, without marks of direction."""
    return printable(" ".join(_DIRECTION.sub("", text).split()))
