"""What the query browser of a page shows: rankings, judgments, texts, and what decided between two runs, packed."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ir_lexirecall.alignment import RunLike
from ir_lexirecall.arrays import Ints
from ir_lexirecall.benchmark import Benchmark
from ir_lexirecall.collections import Collection, is_data_set, load
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.report.rankings import ShownRanking, numbered_documents
from ir_lexirecall.text import short_names

_DEPTH = 100  # documents of a ranking; relevant ones are shown below, too
_LEAST_DEPTH = 10
_MOST_DOCUMENTS = 250_000  # of all rankings together
_MOST_QUERIES, _FEWEST_QUERIES = 500, 10
_MOST_DECISIONS = 40_000  # pairs of runs by queries by preferences
_TEXT = 240  # characters of a document's text
_MOST_TEXT = 1_200_000  # characters


@dataclass(frozen=True)
class BrowserData:
    """The data of the query browser, and what was left out of it.

    Attributes:
        packed: JSON, compressed (deflate), in base64.
        queries, of_queries: how many are in it, and how many took part.
        pairs, of_pairs: the same of pairs of runs.
        depth: how many of the first documents of a ranking are in it.
        unjudged: whether it names documents without judgment.
        texts: how many documents have a text.
        collection: its name, where there are several.
    """

    packed: str = field(repr=False)
    queries: int
    of_queries: int
    pairs: int
    of_pairs: int
    depth: int
    unjudged: bool
    texts: int
    collection: str = ""

    @property
    def scope(self) -> str:
        """What is in it, in words."""
        said = []
        if self.queries < self.of_queries:
            said.append(f"The {self.queries:,} of {self.of_queries:,} queries on which the runs differ most.")
        if self.pairs < self.of_pairs:
            said.append(f"{self.pairs:,} of {self.of_pairs:,} pairs, those of the runs that rank highest.")
        said.append(f"Rankings to rank {self.depth}, and what is relevant below.")
        if not self.unjudged:
            said.append("Documents without judgment are counted; name the runs (runs=) to see them.")
        return " ".join(said)


@dataclass(frozen=True)
class Sources:
    """Where the browser finds what results do not hold.

    Attributes:
        runs: runs by name: they know the documents without judgment.
        texts: texts by document id, or a collection that has them.
        queries: texts by query id.
        collection: what the judgments are called: if that is a data set's id, its texts are used where they are on this machine
            already.
    """

    runs: Mapping[str, RunLike]
    texts: Mapping[str, str] | Collection | None
    queries: Mapping[str, str] | None
    collection: str

    def store(self) -> Collection | None:
        """The collection that texts come from."""
        if isinstance(self.texts, Collection):
            return self.texts
        if self.texts is None and is_data_set(self.collection):
            collection = load(self.collection)
            return collection if collection.has_texts else None
        return None


def browser_data(
    result: Benchmark | Preferences,
    sources: Sources,
    details: int | None,
    progress: bool | None = None,
    *,
    collection: str = "",
    parts: int = 1,
) -> BrowserData | None:
    """Pack what the query browser shows; None where there is nothing to browse.

    Args:
        result: the result.
        sources: where it finds texts and unjudged documents.
        details: how many pairs of runs at most, those of the best runs first; None: as many as fit.
        progress: show a progress bar over the pairs; by default on a terminal only.
        collection: its name, where there are several.
        parts: among how many collections the room of the page is divided.
    """
    preferences = result.preferences if isinstance(result, Benchmark) else result
    if preferences is None or not preferences.query_ids or details == 0:
        return None
    counts = preferences.counts
    shown = _queries_shown(preferences, max(_FEWEST_QUERIES, _MOST_QUERIES // parts))
    queries = counts.queries[shown]
    pairs = _pairs_shown(preferences, details, len(queries), _MOST_DECISIONS // parts)
    names = [name for name in preferences.ranking().index if any(name in pair for pair in pairs)]
    depth = int(np.clip(_MOST_DOCUMENTS // parts // max(1, len(names) * len(queries)), _LEAST_DEPTH, _DEPTH))
    judgments = counts.judgments
    rankings = {
        name: ShownRanking.from_run(counts.runs[name], queries, depth, counts.rel, sources.runs.get(name))
        for name in names
    }
    ids, grades, numbers = numbered_documents(judgments, rankings, queries)
    query_ids = [preferences.query_ids[q] for q in shown.tolist()]
    store = sources.store()
    texts = _texts(_highest_first(ids, grades, counts.rel, rankings, numbers), sources, store, _MOST_TEXT // parts)
    query_texts = _query_texts(query_ids, sources, store)
    with progress_bar(progress, pairs, desc="pairs") as bar:
        decided = [_decided(preferences, a, b, shown) for a, b in bar]
    place = {name: i for i, name in enumerate(names)}
    data = {
        "runs": names,
        "rel": counts.rel,
        "depth": depth,
        "queries": [
            {"id": query_id, "text": text, "m": m}
            for query_id, text, m in zip(query_ids, query_texts, judgments.m(counts.rel)[queries].tolist(), strict=True)
        ],
        "docs": ids,
        "grades": grades,
        "rankings": [_packed_ranking(rankings[name], numbers[name], len(queries)) for name in names],
        "texts": texts,
        "preferences": [{"name": name, "measure": preferences.is_measure(name)} for name in preferences.preferences],
        "pairs": [[place[a], place[b]] for a, b in pairs],
        "decided": decided,
        "values": _values(result, preferences, names, queries),
        "falling": sorted(_falling(result, preferences)),
        "unjudged": bool(sources.runs),
        "short": short_names([*preferences.preferences, *(result.measures if isinstance(result, Benchmark) else [])]),
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    packed = zlib.compress(text.encode("utf-8", "replace"), 9)
    return BrowserData(
        packed=b64encode(packed).decode("ascii"),
        queries=len(queries),
        of_queries=len(preferences.query_ids),
        pairs=len(pairs),
        of_pairs=len(preferences.pairs),
        depth=depth,
        unjudged=bool(sources.runs),
        texts=len(texts),
        collection=collection,
    )


def _queries_shown(preferences: Preferences, most: int) -> Ints:
    """The queries on which the runs differ most, in order."""
    count = len(preferences.query_ids)
    if count <= most:
        return np.arange(count)
    spread = preferences.counts.count(preferences.preferences[0]).against_others.std(axis=1)
    return np.sort(np.argsort(-spread, kind="stable")[:most])


def _pairs_shown(preferences: Preferences, details: int | None, queries: int, decisions: int) -> list[tuple[str, str]]:
    """Pairs of the best runs first: by the place of the worse one, then of the better one."""
    place = {name: i for i, name in enumerate(preferences.ranking().index)}
    pairs = sorted(preferences.pairs, key=lambda pair: sorted((place[pair[0]], place[pair[1]]), reverse=True))
    fit = max(1, decisions // (queries * len(preferences.preferences)))
    return pairs[: fit if details is None else min(fit, details)]


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


def _decided(preferences: Preferences, a: str, b: str, shown: Ints) -> list[dict[str, list[Any]]]:
    """For each preference, columns of what decided between two runs; nothing for measures, whose values say it."""
    columns = {"preference": "v", "level": "level", "tied_levels": "tied", "rank_a": "a", "rank_b": "b"}
    columns |= {"levels_a": "a", "levels_b": "b"}
    found: list[dict[str, list[Any]]] = []
    for name in preferences.preferences:
        if preferences.is_measure(name):
            found.append({})
            continue
        table = preferences.explain(a, b, name).iloc[shown]
        found.append(
            {short: _plain(table[column]) for column, short in columns.items() if column in table.columns}
            | ({"kind": ["ahead" if "levels_a" in table else "level" if "level" in table else ""]})
        )
    return found


def _plain(column: Any) -> list[Any]:
    """Numbers as JSON holds them: without more digits than are shown, None for what is missing."""
    values = column.to_numpy(dtype=float, na_value=np.nan)
    return [
        None if np.isnan(value) else int(value) if value == int(value) else round(value, 5) for value in values.tolist()
    ]


def _values(
    result: Benchmark | Preferences, preferences: Preferences, names: Sequence[str], queries: Ints
) -> dict[str, list[list[float | None]]]:
    """Values of all measures, for every run and query shown."""
    runs = [preferences.runs.index(name) for name in names]
    arrays = dict(preferences.counts.values)
    if isinstance(result, Benchmark):
        arrays |= {name: result.values(name) for name in result.measures}
    return {
        name: [
            [round(value, 5) if np.isfinite(value) else None for value in row]
            for row in array[runs][:, queries].tolist()
        ]
        for name, array in arrays.items()
    }


def _falling(result: Benchmark | Preferences, preferences: Preferences) -> frozenset[str]:
    """The measures of which the smaller value is better."""
    others = result.smaller_is_better if isinstance(result, Benchmark) else frozenset[str]()
    return preferences.counts.smaller_is_better | others


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
        shown = zip(ranking.query.tolist(), numbers[name].tolist(), ranking.rank.tolist(), strict=True)
        for query, number, rank in shown:
            doc_id = ids[query][number]
            best[doc_id] = min(rank, best.get(doc_id, rank))
    missed = [
        doc_id
        for documents, judged in zip(ids, grades, strict=True)
        for doc_id, grade in zip(documents, judged, strict=True)
        if grade is not None and grade >= rel
    ]
    return list(dict.fromkeys([*sorted(best, key=best.__getitem__), *missed]))


def _texts(doc_ids: Sequence[str], sources: Sources, store: Collection | None, room: int) -> dict[str, str]:
    """Beginnings of the texts of documents, of the first ones as far as there is room."""
    if store is None and not isinstance(sources.texts, Mapping):
        return {}
    wanted = list(doc_ids[: room // 20])
    found = sources.texts if isinstance(sources.texts, Mapping) else store.texts(wanted) if store is not None else {}
    texts = {}
    for doc_id in wanted:
        text = found.get(doc_id)
        if text is None:
            continue
        title, _, rest = str(text).strip().partition("\n")
        short = f"{title} — {rest}" if rest.strip() else title
        short = " ".join(short.split())
        short = short if len(short) <= _TEXT else short[:_TEXT].rstrip() + "…"
        room -= len(short)
        if room < 0:
            break
        texts[doc_id] = short
    return texts


_QUERY_FIELDS = ("text", "title", "query")


def _query_texts(query_ids: Sequence[str], sources: Sources, store: Collection | None) -> list[str]:
    """Texts of the queries, empty where there are none."""
    found: Mapping[str, Any] = {} if sources.queries is None else {str(q): text for q, text in sources.queries.items()}
    if not found and store is not None:
        table = store.queries
        column = next((name for name in _QUERY_FIELDS if name in table.columns), None)
        found = {} if column is None else dict(zip(table["query_id"], table[column], strict=True))
    return [" ".join(str(found.get(query_id, "")).split()) for query_id in query_ids]
