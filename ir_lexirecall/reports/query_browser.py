"""Pack what the query browser of a report shows: rankings, judgments, texts and decisions."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.selecting import index_of
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.criteria import MeasureCriterion
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.collection import Collection, find_collection, is_data_set
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.names import QUERIES
from ir_lexirecall.io.texts import TextSources, texts_of
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
# Columns of ``explain``, and what the page calls them.
_DECIDED |= {"levels_a": "a", "levels_b": "b"}


def browsers_of(
    result: Comparison | Benchmark,
    runs: Mapping[str, Any],
    texts: TextSources,
    details: int | None,
    progress: bool | None,
) -> list[dict[str, str]]:
    """Return the data of the query browser for each collection that has something to browse.

    Args:
        result: what is reported.
        runs: by name, of many collections by collection: they know the documents without judgment,
            which results do not hold.
        texts: by default those that the result knows.
        details: how many pairs of runs at most, those of the best runs first; None: as many as fit.
        progress: show a progress bar over the pairs; by default on a terminal only.

    Returns:
        ``packed``: JSON, compressed (deflate), in base64; ``scope``: what is in it, in words; the
        ``collection``'s name.
    """
    if isinstance(result, Benchmark):
        results = dict(result)
    else:
        results = {"": result}
    browsers = []
    for collection, comparison in results.items():
        sources = runs
        if isinstance(result, Benchmark):
            sources = runs.get(collection, {} if len(results) > 1 else runs)
        part = _part_shown(comparison, details, len(results))
        if part is None:
            continue
        data = _browser_data(
            part,
            {str(run): source for run, source in sources.items()},
            _with_known_texts(texts, comparison.compared.texts),
            progress,
        )
        scope = _scope_in_words(part, names_unjudged=bool(sources))
        browsers.append(
            {"packed": _packed_json(data), "scope": scope, "collection": collection}
        )
    return browsers


# -- which part of a result fits on the page -------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """The part of a comparison that the page shows, and the room that it has there.

    ``n_parts`` collections share the page; ``queries`` are indices into the result's queries, of
    which ``n_counted`` count for a criterion; ``runs`` are named in the order of their rank.
    """

    result: Comparison
    scored: ScoredRuns
    n_parts: int
    queries: Ints
    n_counted: int
    pairs: list[tuple[str, str]]
    runs: list[str]
    depth: int

    @property
    def query_ids(self) -> list[str]:
        return [self.scored.judgments.query_ids[q] for q in self.queries.tolist()]


def _part_shown(result: Comparison, details: int | None, n_parts: int) -> _Part | None:
    """Return as much of a comparison as fits the page; None if there is nothing to browse."""
    scored = result.compared.scored
    if scored is None or len(result.runs) < 2 or details == 0:
        return None
    counted = _counted_queries(result)
    if not len(counted):
        return None
    queries = _queries_that_differ_most(
        result, counted, max(_FEWEST_QUERIES, _MOST_QUERIES // n_parts)
    )
    rank_of_run = index_of(result.ranking()["run"])
    pairs = _pairs_of_best_runs(
        result, rank_of_run, _most_pairs(result, len(queries), details, n_parts)
    )
    runs = [name for name in rank_of_run if any(name in pair for pair in pairs)]
    documents_per_ranking = (
        _MOST_DOCUMENTS // n_parts // max(1, len(runs) * len(queries))
    )
    depth = int(np.clip(documents_per_ranking, _LEAST_DEPTH, _DEPTH))
    return _Part(result, scored, n_parts, queries, len(counted), pairs, runs, depth)


def _counted_queries(result: Comparison) -> Ints:
    """Return the indices of the queries that count for some criterion."""
    counted: set[str] = set()
    for criterion in result.compared.by.values():
        counted.update(criterion.query_ids)
    return np.flatnonzero([query_id in counted for query_id in result.query_ids])


def _queries_that_differ_most(result: Comparison, queries: Ints, most: int) -> Ints:
    """Return the queries on which the runs differ most by the first criterion, in order."""
    if len(queries) <= most:
        return queries
    criterion = result.compared.criterion()
    deviations = np.nan_to_num(criterion.standings.std(axis=0))
    deviation_of_query = dict(zip(criterion.query_ids, deviations, strict=True))
    deviation = np.array(
        [deviation_of_query.get(result.query_ids[q], 0.0) for q in queries]
    )
    return np.sort(queries[np.argsort(-deviation, kind="stable")[:most]])


def _most_pairs(
    result: Comparison, n_queries: int, details: int | None, n_parts: int
) -> int:
    """Return how many pairs of runs the page has room for, or how many are asked for if fewer."""
    n_preferences = max(1, len(result.criteria) - len(result.compared.measures))
    room = max(1, _MOST_DECISIONS // n_parts // (n_queries * n_preferences))
    if details is None:
        return room
    return min(room, details)


def _pairs_of_best_runs(
    result: Comparison, rank_of_run: Mapping[str, int], most: int
) -> list[tuple[str, str]]:
    """Return the pairs of the best runs: by the rank of the worse run, then of the better one."""

    def ranks(pair: tuple[str, str]) -> list[int]:
        return sorted((rank_of_run[name] for name in pair), reverse=True)

    return sorted(result.pairs, key=ranks)[:most]


def _scope_in_words(part: _Part, names_unjudged: bool) -> str:
    """Return sentences on what the browser shows and what it leaves out."""
    n_queries = len(part.queries)
    n_pairs = len(part.pairs)
    n_all_pairs = len(part.result.pairs)
    sentences = []
    if n_queries < part.n_counted:
        sentences.append(
            f"The {n_queries:,} of {part.n_counted:,} queries on which the runs differ most."
        )
    if n_pairs < n_all_pairs:
        sentences.append(
            f"{n_pairs:,} of {n_all_pairs:,} pairs, those of the runs that rank highest."
        )
    sentences.append(
        f"The first {part.depth} ranks, and relevant documents below them."
    )
    if not names_unjudged:
        sentences.append(
            "Documents without judgment are counted; name the runs (runs=) to see them."
        )
    return " ".join(sentences)


# -- what is packed --------------------------------------------------------------------------------


def _with_known_texts(given: TextSources, known: TextSources) -> TextSources:
    """Return the texts that were given, and those of the collection where none were."""
    texts, queries = given.texts, given.queries
    if texts is None:
        texts = known.texts
    if queries is None:
        queries = known.queries
    return TextSources(texts, queries)


def _browser_data(
    part: _Part, sources: dict[str, Any], texts: TextSources, progress: bool | None
) -> dict[str, Any]:
    """Return what the page's script reads; lists of documents and grades have an item per query.

    Args:
        part: of the result that is shown.
        sources: the runs by name; without them, unjudged documents have no names.
        texts: of documents and queries.
        progress: show a progress bar over the pairs.
    """
    result, query_ids = part.result, part.query_ids
    judgments = part.scored.judgments.restricted_to(query_ids)
    rel = _least_relevant_grade(result, judgments)
    judged = pd.DataFrame(
        {
            "query": judgments.query,
            "doc_id": judgments.doc_ids,
            "grade": judgments.grade,
        }
    )[judgments.is_judged]
    rankings = _rankings_shown(part, judgments, judged, sources, rel)
    documents = _numbered_documents(judged, rankings, rel)
    collection = _texts_of_documents(result, texts)
    most_texts = _MOST_TEXT // part.n_parts
    return {
        "runs": list(map(printable, part.runs)),
        "rel": rel,
        "depth": part.depth,
        "queries": _queries(
            judgments, rel, _texts_of_queries(texts, collection, query_ids)
        ),
        "docs": [
            list(map(printable, doc_ids))
            for doc_ids in _by_query(documents, "doc_id", len(query_ids))
        ],
        "grades": _by_query(documents, "grade", len(query_ids)),
        "texts": _beginnings(
            collection, _highest_first(rankings, documents, rel), most_texts
        ),
        "rankings": [
            {
                **_packed_ranking(rows, documents, len(query_ids)),
                "depth": part.scored.runs[name].depth[part.queries].tolist(),
            }
            for name, rows in zip(part.runs, rankings, strict=True)
        ],
        "criteria": [
            _criterion(result, name, part.runs, query_ids) for name in result.criteria
        ],
        "pairs": [[part.runs.index(a), part.runs.index(b)] for a, b in part.pairs],
        "decided": _decisions(part, progress),
        "open": _open_by_criterion(part),
        "unjudged": bool(sources),
    }


def _packed_json(data: dict[str, Any]) -> str:
    """Return data as JSON, compressed; see `packed_text`."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return packed_text(text)


def _least_relevant_grade(result: Comparison, judgments: Judgments) -> float:
    """Return the grade from which documents are relevant for the first criterion that has one."""
    grades = [*(result.provenance["rel"] or {}).values(), judgments.threshold]
    return float(grades[0])


def _rankings_shown(
    part: _Part,
    judgments: Judgments,
    judged: pd.DataFrame,
    sources: dict[str, Any],
    rel: float,
) -> list[pd.DataFrame]:
    """Return the documents of each run that are shown, with grades, by query and rank."""
    rankings = []
    for name in part.runs:
        # Unjudged documents are shown if the run's source has them and they are not left out.
        if judgments.judged_only or sources.get(name) is None:
            rows = _judged_documents(part.scored.runs[name], part.queries)
        else:
            rows = _all_documents(judgments, name, sources[name], part.depth)
        rows = rows.merge(judged, on=_KEY, how="left")
        # The top of the ranking, and relevant documents further down.
        is_shown = (rows["rank"] <= part.depth) | (rows["grade"] >= rel)
        rankings.append(rows[is_shown].sort_values(["query", "rank"]))
    return rankings


def _texts_of_documents(result: Comparison, texts: TextSources) -> Any:
    """Return the source of the documents' texts, or the data set that was evaluated, if local."""
    if texts.texts is not None or not is_data_set(result.compared.source):
        return texts.texts
    collection = find_collection(result.compared.source)
    if collection.has_texts:
        return collection
    return None


def _texts_of_queries(
    texts: TextSources, documents: Any, query_ids: list[str]
) -> Mapping[str, Any]:
    """Return the texts of queries, by default those of the documents' collection."""
    text_of_query = texts_of(texts.queries, query_ids, QUERIES)
    if not text_of_query and isinstance(documents, Collection):
        return documents.query_texts
    return text_of_query


def _queries(
    judgments: Judgments, rel: float, text_of_query: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the id, the text and the number of relevant documents of each query."""
    queries = []
    for query_id, m in zip(judgments.query_ids, judgments.m(rel).tolist(), strict=True):
        queries.append(
            {
                "id": printable(query_id),
                "text": _shown(str(text_of_query.get(query_id, ""))),
                "m": m,
            }
        )
    return queries


def _beginnings(documents: Any, doc_ids: list[str], room: int) -> list[list[str]]:
    """Return the beginnings of documents' texts, of the first ones until the room is used up."""
    wanted = doc_ids[: room // 20]
    text_of_doc = texts_of(documents, wanted)
    beginnings = []
    for doc_id in wanted:
        if text_of_doc.get(doc_id) is None:
            continue
        beginning = _beginning(str(text_of_doc[doc_id]))
        room -= len(beginning)
        if room < 0:
            break
        beginnings.append([printable(doc_id), beginning])
    return beginnings


def _beginning(text: str) -> str:
    """Return the first characters of a text, its first line set off as a title."""
    title, _, rest = text.strip().partition("\n")
    shown = _shown(f"{title} — {rest}" if rest.strip() else title)
    if len(shown) <= _TEXT:
        return shown
    return shown[:_TEXT].rstrip() + "…"


def _decisions(part: _Part, progress: bool | None) -> list[list[dict[str, Any]]]:
    """Return what decided between the runs of each pair, by each criterion."""
    with progress_bar(progress, part.pairs, desc="pairs") as bar:
        decisions = []
        for a, b in bar:
            decisions.append(
                [
                    _decided(part.result, a, b, name, part.query_ids)
                    for name in part.result.criteria
                ]
            )
        return decisions


def _open_by_criterion(part: _Part) -> list[dict[str, Any] | None]:
    """Return for each criterion which queries of the pairs unjudged documents could decide."""
    index_of_pair = index_of(part.result.pairs)
    rows = [index_of_pair[pair] for pair in part.pairs]
    return [
        _open_queries(part.result, name, rows, part.query_ids)
        for name in part.result.criteria
    ]


def _judged_documents(run: AlignedRun, queries: Ints) -> pd.DataFrame:
    """Return the judged documents that a run retrieves for `queries`, numbered by their order."""
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


def _all_documents(
    judgments: Judgments, name: str, source: Any, depth: int
) -> pd.DataFrame:
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
    judged: pd.DataFrame, rankings: list[pd.DataFrame], rel: float
) -> pd.DataFrame:
    """Return the documents that rankings show and the relevant ones, numbered query by query.

    Judged ones come first, then the others in the order in which rankings have them. Most judged
    documents are neither relevant nor in a ranking: they are left out.
    """
    relevant = judged[judged["grade"] >= rel]
    shown = pd.concat([relevant, *(rows[[*_KEY, "grade"]] for rows in rankings)])
    shown = shown.drop_duplicates(_KEY)
    judged_first = pd.concat(
        [judged.merge(shown[_KEY], on=_KEY), shown]
    ).drop_duplicates(_KEY)
    return judged_first.assign(number=judged_first.groupby("query").cumcount())


def _packed_ranking(
    rows: pd.DataFrame, documents: pd.DataFrame, n_queries: int
) -> dict[str, Any]:
    """Return the documents of a ranking by their numbers, and steps from one rank to the next."""
    rows = rows.merge(documents[[*_KEY, "number"]], on=_KEY, how="left")
    step = rows.groupby("query")["rank"].diff().fillna(rows["rank"]).astype(np.int64)
    rows = rows.assign(step=step)
    return {
        "doc": _by_query(rows, "number", n_queries),
        "step": _by_query(rows, "step", n_queries),
    }


def _highest_first(
    rankings: list[pd.DataFrame], documents: pd.DataFrame, rel: float
) -> list[str]:
    """Return the ids of documents by their best rank, then of relevant ones in no ranking."""
    best = pd.concat(rankings).groupby("doc_id", sort=False)["rank"].min()
    best = best.sort_values(kind="stable")
    relevant = documents.loc[documents["grade"] >= rel, "doc_id"]
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
    """Return a criterion's names and direction; of a measure the values of each run, too.

    Values of a query that differ by rounding only are equal, as they are in the comparison.
    ``order`` has how many runs are better on a query, of measures whose values round this order.
    """
    criterion, values, order = result.compared.by[name], None, None
    if isinstance(criterion, MeasureCriterion):
        rows = [result.runs.index(run) for run in runs]
        values = _by_run_and_query(criterion, criterion.levelled[rows], query_ids)
        if criterion.order is not None:
            order = _by_run_and_query(
                criterion, criterion.order.standing[rows], query_ids
            )
    return {
        "name": printable(name),
        "short": printable(short_names(result.criteria).get(name, name)),
        "smaller": criterion.smaller_is_better,
        "values": values,
        "order": order,
    }


def _by_run_and_query(
    criterion: MeasureCriterion, numbers: Floats | Ints, query_ids: list[str]
) -> list[list[float | None]]:
    """Return the numbers of each run by query; None for queries that the measure leaves out."""
    columns = pd.DataFrame(numbers, columns=list(criterion.query_ids))
    columns = columns.reindex(columns=query_ids)
    return [list(map(_finite, row)) for row in columns.to_numpy().tolist()]


def _decided(
    result: Comparison, a: str, b: str, by: str, query_ids: list[str]
) -> dict[str, Any]:
    """Return what decided between two runs by a preference; for measures, {}: values tell it."""
    if result.compared.by[by].is_measure:
        return {}
    table = result.explain(a, b, by).set_index("query_id").reindex(query_ids)
    columns = {}
    for column, short in _DECIDED.items():
        if column in table:
            columns[short] = list(
                map(
                    _finite,
                    table[column].to_numpy(dtype=float, na_value=np.nan).tolist(),
                )
            )
    return columns | {"kind": _kind_of_explanation(table)}


def _kind_of_explanation(table: pd.DataFrame) -> str:
    """Return how the page words a preference: by levels won, by the deciding level, or plainly."""
    if "levels_a" in table:
        return "ahead"
    return "level" if "level" in table else ""


def _open_queries(
    result: Comparison, name: str, pairs: list[int], query_ids: list[str]
) -> dict[str, Any] | None:
    """Return the queries whose winner unjudged documents could change, for each of some pairs.

    Args:
        result: the comparison.
        name: of the criterion.
        pairs: their indices in the result.
        query_ids: the queries that are shown.

    Returns:
        ``queries``: a string per pair with 1 for those queries and 0 for the others; ``depth``,
        ``cutoff`` and ``shared``, which say what documents could do so. None without bounds.
    """
    left = result.missing.undecided(name)
    if left is None:
        return None
    index_of_query = index_of(left.query_ids)
    shown = np.array([index_of_query.get(query_id, -1) for query_id in query_ids])
    is_open = left.is_open[pairs][:, shown] & (shown >= 0)
    return {
        "depth": left.depth,
        "cutoff": _cutoff(result, name),
        "shared": left.is_shared,
        "queries": ["".join("01"[flag] for flag in row) for row in is_open.tolist()],
    }


def _cutoff(result: Comparison, name: str) -> int | None:
    """Return the rank at which a criterion stops, if it does."""
    scored, criterion = result.compared.scored, result.compared.by[name]
    if scored is not None and name in scored.measures:
        return scored.measures[name].params.get("cutoff")
    if isinstance(criterion, MeasureCriterion):
        return None
    return criterion.preferences.cutoff


def _finite(value: float) -> float | None:
    """Return a number as JSON holds it: None for what is missing, integers without a point."""
    if not np.isfinite(value):
        return None
    if value == int(value):
        return int(value)
    return value


def _shown(text: str) -> str:
    """Return a text in one line, without marks of direction."""
    return printable(" ".join(_DIRECTION.sub("", text).split()))
