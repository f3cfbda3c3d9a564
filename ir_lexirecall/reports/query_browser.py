"""What the query browser of a page shows: rankings, judgments, texts, and what decided between two runs, packed."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Ints
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.criteria import MeasureCriterion
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.collection import Collection, find_collection, is_data_set
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.io.texts import QUERIES, TextSources, texts_of
from ir_lexirecall.present.text import printable, short_names

_KEY = ["query", "doc_id"]
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
        documents = one.compared.texts.texts if texts.texts is None else texts.texts
        queries = one.compared.texts.queries if texts.queries is None else texts.queries
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
    some = {
        query_id for criterion in result.compared.by.values() for query_id in criterion.query_ids
    }
    counted = np.flatnonzero(
        [query_id in some for query_id in result.query_ids]
    )  # for some criterion
    scored = result.compared.scored
    if scored is None or len(result.runs) < 2 or not len(counted) or details == 0:
        return {}
    queries, most, criterion = (
        counted,
        max(_FEWEST_QUERIES, _MOST_QUERIES // parts),
        result.compared.criterion(),
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
        // (len(queries) * max(1, len(result.criteria) - len(result.compared.measures))),
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
    known = pd.DataFrame(
        {"query": judgments.query, "doc_id": judgments.doc_ids, "grade": judgments.grade}
    )[judgments.is_judged]
    rankings = []
    for name in names:
        source = None if judgments.judged_only else runs.get(name)
        rows = (
            _judged_documents(scored.runs[name], queries)
            if source is None
            else _all_documents(judgments, name, source, depth)
        )
        rows = rows.merge(known, on=_KEY, how="left")
        is_shown = (rows["rank"] <= depth) | (rows["grade"] >= rel)
        rankings.append(rows[is_shown].sort_values(["query", "rank"]))
    every = _numbered_documents(known, rankings, rel)
    packed_rankings = [
        {
            **_packed_ranking(rows, every, len(queries)),
            "depth": scored.runs[name].depth[queries].tolist(),
        }
        for name, rows in zip(names, rankings, strict=True)
    ]
    documents = texts.texts
    if (
        documents is None
        and is_data_set(result.compared.source)
        and (collection := find_collection(result.compared.source)).has_texts
    ):
        documents = collection  # on this machine already
    # Beginnings of the texts of documents, of the first ones as far as there is room.
    room, beginnings = _MOST_TEXT // parts, []
    wanted = _highest_first(rankings, every, rel)[: room // 20]
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


def _judged_documents(run: AlignedRun, queries: Ints) -> pd.DataFrame:
    """Return the judged documents of a run for some queries, which are numbered anew."""
    number = np.full(len(run.depth), -1)
    number[queries] = np.arange(len(queries))
    rows = pd.DataFrame(
        {
            "query": number[run.query],
            "doc_id": run.judgments.doc_id.gather(run.doc).to_list(),
            "rank": run.rank,
        }
    )
    return rows[rows["query"] >= 0]


def _all_documents(judgments: Judgments, name: str, source: Any, depth: int) -> pd.DataFrame:
    """Return the documents of a run that are judged or among its first ``depth``."""
    pool = Pool.from_runs(judgments, {name: source}, depth)
    return pd.DataFrame(
        {
            "query": pool.query,
            "doc_id": pool.doc_id.to_list(),
            "rank": pool.rank[0].astype(np.int64),
        }
    )


def _numbered_documents(
    known: pd.DataFrame, rankings: list[pd.DataFrame], rel: float
) -> pd.DataFrame:
    """Return the documents that rankings show and the relevant ones, numbered query by query.

    Judged ones come first, then the others in the order in which rankings have them. Most judged
    documents are neither relevant nor in a ranking: they are left out.
    """
    relevant = known[known["grade"] >= rel]
    shown = pd.concat([relevant, *(rows[[*_KEY, "grade"]] for rows in rankings)])
    shown = shown.drop_duplicates(_KEY)
    judged = known.merge(shown[_KEY], on=_KEY)
    every = pd.concat([judged, shown]).drop_duplicates(_KEY)
    return every.assign(number=every.groupby("query").cumcount())


def _packed_ranking(rows: pd.DataFrame, every: pd.DataFrame, n_queries: int) -> dict[str, Any]:
    """Return the documents of a ranking by their numbers, and steps from one rank to the next."""
    rows = rows.merge(every[[*_KEY, "number"]], on=_KEY, how="left")
    step = rows.groupby("query")["rank"].diff().fillna(rows["rank"]).astype(np.int64)
    rows = rows.assign(step=step)
    return {"doc": _by_query(rows, "number", n_queries), "step": _by_query(rows, "step", n_queries)}


def _highest_first(rankings: list[pd.DataFrame], every: pd.DataFrame, rel: float) -> list[str]:
    """Return the ids of documents by their best rank, then of relevant ones in no ranking."""
    best = pd.concat(rankings).groupby("doc_id", sort=False)["rank"].min()
    best = best.sort_values(kind="stable")
    relevant = every.loc[every["grade"] >= rel, "doc_id"]
    return list(dict.fromkeys([*best.index, *relevant]))


def packed_text(text: str) -> str:
    """Return a text compressed (deflate) and in base64, as the page's script unpacks it.

    >>> from base64 import b64decode
    >>> zlib.decompress(b64decode(packed_text("text")))
    b'text'
    """
    return b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode("ascii")


def _by_query(rows: pd.DataFrame, column: str, n_queries: int) -> list[list[Any]]:
    """Return the values of a column, a list per query, in order; None for missing ones."""
    lists: list[list[Any]] = [[] for _ in range(n_queries)]
    values = rows[column].astype(object).where(rows[column].notna(), None)
    for query, value in zip(rows["query"].tolist(), values.tolist(), strict=True):
        lists[query].append(value)
    return lists


def _criterion(
    result: Comparison, name: str, runs: list[str], query_ids: list[str]
) -> dict[str, Any]:
    """A criterion: of a measure all its values, those of a query that differ by rounding only made equal."""
    criterion, values = result.compared.by[name], None
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
    if result.compared.by[by].is_measure:
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
    left = result.missing.undecided(name)
    if left is None:
        return None
    place = {query_id: q for q, query_id in enumerate(left.query_ids)}
    shown = np.array([place.get(query_id, -1) for query_id in query_ids])
    of_pairs = left.is_open[rows][:, shown] & (shown >= 0)
    bits = ["".join("01"[is_open] for is_open in line) for line in of_pairs.tolist()]
    criterion = result.compared.by[name]
    cutoff = None if isinstance(criterion, MeasureCriterion) else criterion.preferences.cutoff
    if result.compared.scored is not None and name in result.compared.scored.measures:
        cutoff = result.compared.scored.measures[name].params.get("cutoff")
    return {"depth": left.depth, "cutoff": cutoff, "shared": left.is_shared, "queries": bits}


def _finite(value: float) -> float | None:
    """A number as JSON holds it: None for what is missing, whole numbers without a point."""
    return None if not np.isfinite(value) else int(value) if value == int(value) else value


def _shown(text: str) -> str:
    """A text in one line, without marks of direction."""
    return printable(" ".join(_DIRECTION.sub("", text).split()))
