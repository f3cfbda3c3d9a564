"""Search engines: Elasticsearch's and OpenSearch's ``_rank_eval``, and judgment lists of Quepid and the Search Relevance Workbench."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ir_lexirecall._util.errors import and_more, entry, is_integer, shown, shown_names
from ir_lexirecall.io.files import first_line, parsed_json, rereadable, text_of_file
from ir_lexirecall.io.lines import as_float, csv_rows

JSONLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any]"
"""The path of a JSON file, or what was read from it."""

_QUERIES = ("query_id", "qid", "query", "querytext", "query_text")
_DOCUMENTS = ("docid", "doc_id", "document_id", "_id", "docno", "id")
_RATINGS = ("rating", "judgement", "judgment", "grade", "relevance", "label")


@dataclass(frozen=True)
class RankEval:
    """What a ``_rank_eval`` request and its response say.

    Attributes:
        qrels: ratings by query and document: those of the request; of the response's hits alone where none is given.
        run: ranked hits by query, with negative ranks as scores: the engine's order, whatever it sorts by.
        unrated: documents of each query that were returned and have no rating.
        values: the engine's own metric, by query.
    """

    qrels: dict[str, dict[str, float]]
    run: dict[str, dict[str, float]]
    unrated: dict[str, list[str]]
    values: dict[str, float]


@entry
def read_rank_eval(response: JSONLike, request: JSONLike | None = None) -> RankEval:
    """Read a response of ``_rank_eval`` as a run, and the request as qrels.

    The response holds as many hits as the request's ``metric`` asked for with ``k`` (10 by default): for measures of recall, ask
    for as many as users may read.

    Args:
        response: what the engine answered.
        request: what it was asked. Without it, documents that were rated but not returned are unknown: give judgments of
            another source to ``evaluate`` instead of ``qrels``.

    Returns:
        A ``RankEval``. Documents are called by their ``_id``; by ``_index/_id`` where there are several indexes.

    Raises:
        ValueError: not such a file, a query that failed or is in one of the two only, or a document twice.

    >>> hit = {"hit": {"_index": "films", "_id": "42", "_score": 3.1}, "rating": 1}
    >>> found = read_rank_eval({"metric_score": 1.0, "details": {"amsterdam": {"metric_score": 1.0, "unrated_docs": [],
    ...     "hits": [hit]}}, "failures": {}})
    >>> found.run, found.qrels
    ({'amsterdam': {'42': -1.0}}, {'amsterdam': {'42': 1.0}})
    """
    answer, what = _content(response, "response")
    answer = _answer(answer)
    details = answer.get("details")
    if not isinstance(details, Mapping):
        raise ValueError(
            f"{what}: not a response of _rank_eval: it has {shown_names(list(map(str, answer)))}, but no details"
        )
    failures = answer.get("failures")
    if failures:
        if not isinstance(failures, Mapping):
            raise ValueError(f"{what}: queries failed: {shown(failures)}")
        query_id = next(iter(failures))
        raise ValueError(f"{what}: query {query_id!r} failed{and_more(len(failures) - 1)}: {shown(failures[query_id])}")
    asked = None if request is None else _requested(request)
    hits: dict[str, list[_Hit]] = {}
    for query_id, detail in details.items():
        items: Any = detail.get("hits", []) if isinstance(detail, Mapping) else None
        if not isinstance(items, list):
            raise ValueError(f"{what}: the hits of query {query_id!r} are {shown(items)}, not a list")
        hits[query_id] = []
        for item in items:
            hit = item.get("hit") if isinstance(item, Mapping) else None
            if not isinstance(hit, Mapping) or "_id" not in hit:
                raise ValueError(f"{what}: a hit of query {query_id!r} is {shown(item)}, without hit and _id")
            hits[query_id].append((str(hit.get("_index", "")), str(hit["_id"]), item.get("rating")))
    indexes = {index for found in hits.values() for index, _, _ in found}
    indexes |= {index for found in (asked or {}).values() for index, _, _ in found}
    several = len(indexes) > 1
    if asked is not None and (odd := asked.keys() ^ hits.keys()):
        where = "the request" if min(odd) in asked else "the response"
        raise ValueError(
            f"{what}: query {min(odd)!r} is in {where} only{and_more(len(odd) - 1)}; are they of one evaluation?"
        )
    run = {query_id: _by_name(found, several, query_id, what) for query_id, found in hits.items()}
    rated = asked if asked is not None else {q: [h for h in found if h[2] is not None] for q, found in hits.items()}
    qrels = {query_id: _by_name(found, several, query_id, "the request") for query_id, found in rated.items()}
    values = {q: as_float(detail.get(_score_of(detail) or "")) for q, detail in details.items()}
    return RankEval(
        {q: {doc: _rating(value, q, doc, what) for doc, value in docs.items()} for q, docs in qrels.items()},
        {q: {doc: -float(rank) for rank, doc in enumerate(docs, 1)} for q, docs in run.items()},
        {q: [doc for doc in docs if doc not in qrels[q]] for q, docs in run.items()},
        {q: math.nan if value is None else value for q, value in values.items()},
    )


_SCORES = ("metric_score", "quality_level")
"""What the engine calls the value of its metric: since version 7, and before."""


def _score_of(part: Mapping[str, Any]) -> str | None:
    return next((name for name in _SCORES if name in part), None)


def _answer(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """The response, also where it is wrapped as in the engine's manual."""
    inner = content.get("rank_eval")
    return inner if isinstance(inner, Mapping) and "details" in inner else content


def run_in(content: Any) -> dict[str, dict[str, float]] | None:
    """The run in what was read from JSON, if that is a response of ``_rank_eval``; else None."""
    answer = _answer(content) if isinstance(content, dict) else {}
    return read_rank_eval(answer).run if "details" in answer and _score_of(answer) is not None else None


def qrels_in(content: Any) -> dict[str, dict[str, float]] | None:
    """The qrels in what was read from JSON, if that is a request of ``_rank_eval`` or a judgment list; else None."""
    if not isinstance(content, dict):
        return None
    if not isinstance(content.get("requests"), list):
        return read_judgments(content) if "judgmentRatings" in _list(content) else None
    requested = _requested(content)
    several = len({index for found in requested.values() for index, _, _ in found}) > 1
    named = {query_id: _by_name(found, several, query_id, "request") for query_id, found in requested.items()}
    return {q: {doc: _rating(value, q, doc, "request") for doc, value in docs.items()} for q, docs in named.items()}


def is_judgment_list(header: str) -> bool:
    """Whether the first line of a CSV file is that of a judgment list.

    >>> is_judgment_list("query,docid,rating"), is_judgment_list("query_id,doc_id,relevance")
    (True, False)
    """
    names = [_column_name(name.strip().strip('"')) for name in header.split(",")]
    columns = (_QUERIES, _DOCUMENTS, _RATINGS)
    return "query_id" not in names and all(any(name in names for name in known) for known in columns)


def _column_name(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


def _content(source: JSONLike, what: str) -> tuple[Mapping[str, Any], str]:
    """A JSON object, and what messages call it."""
    if isinstance(source, Mapping):
        return source, what
    path = os.fspath(source)
    with rereadable(path) as file:
        content = parsed_json(text_of_file(file), path)
    if not isinstance(content, dict):
        raise ValueError(f"{path}: expected a JSON object, got a {type(content).__name__}")
    return content, path


_Hit: TypeAlias = "tuple[str, str, Any]"  # index, id and rating


def _requested(request: JSONLike) -> dict[str, list[_Hit]]:
    content, what = _content(request, "request")
    requests = content.get("requests")
    if not isinstance(requests, list):
        raise ValueError(
            f"{what}: not a request of _rank_eval: it has {shown_names(list(map(str, content)))}, but no requests"
        )
    ratings: dict[str, list[_Hit]] = {}
    for item in requests:
        if not isinstance(item, Mapping) or "id" not in item:
            raise ValueError(f"{what}: a request is {shown(item)}, without an id")
        query_id = str(item["id"])
        if query_id in ratings:
            raise ValueError(f"{what}: two requests have the id {query_id!r}")
        ratings[query_id] = []
        if not isinstance(item.get("ratings", []), list):
            raise ValueError(f"{what}: the ratings of query {query_id!r} are {shown(item['ratings'])}, not a list")
        for rated in item.get("ratings", []):
            if not isinstance(rated, Mapping) or not {"_id", "rating"} <= rated.keys():
                raise ValueError(f"{what}: a rating of query {query_id!r} is {shown(rated)}, without _id and rating")
            ratings[query_id].append((str(rated.get("_index", "")), str(rated["_id"]), rated["rating"]))
    return ratings


def _by_name(hits: Iterable[_Hit], several: bool, query_id: str, what: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for index, doc_id, rating in hits:
        name = f"{index}/{doc_id}" if several else doc_id
        if name in found:
            raise ValueError(f"{what}: document {name!r} appears twice for query {query_id!r}")
        found[name] = rating
    return found


def _rating(value: Any, query_id: str, doc_id: str, what: str) -> float:
    rating = as_float(value)
    if rating is None:
        raise ValueError(
            f"{what}: the rating of document {doc_id!r} for query {query_id!r} is {shown(value)}, not a number"
        )
    return rating


_Row: TypeAlias = "tuple[str, str, Any, str]"

# -- judgment lists ----------------------------------------------------------------------------------------


@entry
def read_judgments(source: JSONLike, *, levels: int | None = None) -> dict[str, dict[str, float]]:
    """Read a judgment list as qrels.

    Args:
        source: CSV with the columns ``query``, ``docid`` and ``rating`` (Quepid; other usual names are known, too), or JSON with
            ``judgmentRatings`` (OpenSearch's Search Relevance Workbench, as imported or as it answers), as a path or as what was
            read from it.
        levels: for ratings between 0 and 1 (judgments derived from clicks): the grades 0, 1, ..., levels that they are rounded
            to. Measures take grades of at least 1 as relevant.

    Returns:
        Ratings by query and document. Rows without a rating are left out: nobody has rated them yet.

    Raises:
        ValueError: no such list, or a rating that is not a number or occurs twice; the message names the line.

    >>> read_judgments({"judgmentRatings": [{"query": "red dress", "ratings": [{"docId": "B07", "rating": "0.66"}]}]}, levels=3)
    {'red dress': {'B07': 2.0}}
    """
    if levels is not None and (not is_integer(levels) or levels < 1):
        raise ValueError(f"levels must be an integer of at least 1, not {levels!r}")
    rows: list[_Row] = []  # query, document, rating and place of everything in the list
    what = "judgments" if isinstance(source, Mapping) else os.fspath(source)
    with contextlib.nullcontext("") if isinstance(source, Mapping) else rereadable(what) as file:
        if file and not first_line(file).lstrip().startswith("{"):
            rows = _from_csv(file)
        else:
            content, what = _content(file or source, what)
            lists = _list(content).get("judgmentRatings")
            if not isinstance(lists, list):
                raise ValueError(
                    f"{what}: not a judgment list: it has {shown_names(list(map(str, content)))}, but no judgmentRatings"
                )
            for item in lists:
                if not isinstance(item, Mapping) or "query" not in item or not isinstance(item.get("ratings"), list):
                    raise ValueError(f"{what}: expected query and ratings, got {shown(item)}")
                for rated in item["ratings"]:
                    if not isinstance(rated, Mapping) or not {"docId", "rating"} <= rated.keys():
                        raise ValueError(
                            f"{what}: a rating of query {item['query']!r} is {shown(rated)}, without docId and rating"
                        )
                    rows.append((str(item["query"]), str(rated["docId"]), rated["rating"], what))
    qrels: dict[str, dict[str, float]] = {}
    for query_id, doc_id, value, where in rows:
        if value is None:
            continue
        rating = _rating(value, query_id, doc_id, where)
        ratings = qrels.setdefault(query_id, {})
        if doc_id in ratings:
            raise ValueError(f"{where}: document {doc_id!r} is rated twice for query {query_id!r}; keep one")
        if levels is not None and not 0 <= rating <= 1:
            raise ValueError(
                f"{where}: the rating of document {doc_id!r} for query {query_id!r} is {rating:g}; levels are for ratings between 0 "
                "and 1"
            )
        ratings[doc_id] = rating if levels is None else float(round(rating * levels))
    if not qrels:
        raise ValueError(f"{what}: there are no ratings in it")
    return qrels


def _list(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """A judgment list, also where it is the only hit of a search for it."""
    outer = content.get("hits")
    hits = outer.get("hits") if isinstance(outer, Mapping) else None
    if isinstance(hits, list) and len(hits) == 1 and isinstance(hits[0], Mapping):
        source = hits[0].get("_source")
        return source if isinstance(source, Mapping) else content
    return content


def _from_csv(path: str) -> list[_Row]:
    text = text_of_file(path)
    last = text.count("\n") + 1
    lines = csv_rows(text, lambda line: f"{path}, line {line}")
    header = next(lines, None)
    if header is None:
        return []
    names = [_column_name(name) for name in header[1]]
    places = []
    for known in (_QUERIES, _DOCUMENTS, _RATINGS):
        if not (there := [name for name in known if name in names]):
            raise ValueError(
                f"{path}, line 1: no column {' or '.join(known[:3])}: it has {shown_names(names)}; the header must be such as "
                "query,docid,rating"
            )
        places.append(names.index(there[0]))
    rows: list[_Row] = []
    for line, row in lines:
        if len(row) == 1 and places[0] == 0 and (line < last or text.endswith("\n")):
            continue  # a query without ratings, as Quepid writes it; not a line that is cut off
        if len(row) != len(names):
            raise ValueError(f"{path}, line {line}: {len(row)} fields where {len(names)} are expected")
        query_id, doc_id, rating = (row[place] for place in places)
        if not query_id or not doc_id:
            raise ValueError(f"{path}, line {line}: there is no {'query' if not query_id else 'document'}")
        rows.append((query_id, doc_id, rating or None, f"{path}, line {line}"))
    return rows
