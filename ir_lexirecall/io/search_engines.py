"""Search engines: Elasticsearch's and OpenSearch's ``_rank_eval``, and judgment lists of Quepid and the Search Relevance Workbench."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ir_lexirecall._util.errors import and_more, entry, is_integer, repeated, shown, shown_names
from ir_lexirecall.io.cells import number_or_text as as_float
from ir_lexirecall.io.checks import check_not_cut
from ir_lexirecall.io.files import first_line, parsed_json, rereadable, text_of_file
from ir_lexirecall.io.lines import csv_rows, separator_of
from ir_lexirecall.io.schemas import Cut

JSONLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any]"
"""The path of a JSON file, or what was read from it."""

_COLUMNS = (  # what a judgment list calls queries, documents and ratings
    ("query_id", "qid", "query", "querytext", "query_text"),
    ("docid", "doc_id", "document_id", "_id", "docno", "id"),
    ("rating", "judgement", "judgment", "grade", "relevance", "label"),
)


@dataclass(frozen=True)
class RankEval:
    """What a ``_rank_eval`` request and its response say.

    Attributes:
        qrels: ratings by query and document: those of the request; of the response's hits alone
            where none is given.
        run: ranked hits by query, with negative ranks as scores: the engine's order, whatever it
            sorts by.
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

    The response holds as many hits as the request's ``metric`` asked for with ``k`` (10 by
    default): for measures of recall, ask for as many as users may read.

    Args:
        response: what the engine answered.
        request: what it was asked. Without it, documents that were rated but not returned are
            unknown: give judgments of another source to ``evaluate`` instead of ``qrels``.

    Returns:
        A ``RankEval``. Documents are called by their ``_id``; by ``_index/_id`` where there are
        several indexes.

    Raises:
        ValueError: not such a file, a query that failed or is in one of the two only, or a document
            twice.

    >>> hit = {"hit": {"_index": "films", "_id": "42", "_score": 3.1}, "rating": 1}
    >>> found = read_rank_eval({"metric_score": 1.0, "details": {"amsterdam": {"metric_score": 1.0, "unrated_docs": [],
    ...     "hits": [hit]}}, "failures": {}})
    >>> found.run, found.qrels
    ({'amsterdam': {'42': -1.0}}, {'amsterdam': {'42': 1.0}})
    """
    answer, what = _content(response, "response")
    details = answer.get("details")
    if not isinstance(details, Mapping):
        raise ValueError(
            f"{what}: not a response of _rank_eval: it has {shown_names(list(map(str, answer)))}, but no details"
        )
    if failures := answer.get("failures"):
        raise ValueError(f"{what}: queries failed: {shown(failures)}")
    hits: dict[str, list[_Hit]] = {}
    for query_id, detail in details.items():
        items: Any = detail.get("hits", []) if isinstance(detail, Mapping) else None
        if not isinstance(items, list):
            raise ValueError(
                f"{what}: the hits of query {query_id!r} are {shown(items)}, not a list"
            )
        hits[query_id] = []
        for item in items:
            match item:
                case {"hit": {"_id": doc_id} as hit}:
                    hits[query_id].append(
                        (str(hit.get("_index", "")), str(doc_id), item.get("rating"))
                    )
                case _:
                    raise ValueError(
                        f"{what}: a hit of query {query_id!r} is {shown(item)}, without hit and _id"
                    )
    asked = None if request is None else _requested(request)
    if asked is not None and (odd := asked.keys() ^ hits.keys()):
        where = "the request" if min(odd) in asked else "the response"
        raise ValueError(
            f"{what}: query {min(odd)!r} is in {where} only{and_more(len(odd) - 1)}; are they of one evaluation?"
        )
    indexes = {
        index for found in [*hits.values(), *(asked or {}).values()] for index, _, _ in found
    }
    ranked = {
        q: [(*hit[:2], -rank) for rank, hit in enumerate(found, 1)] for q, found in hits.items()
    }
    run = _by_document(ranked, len(indexes) > 1, what)
    rated = (
        {q: [hit for hit in found if hit[2] is not None] for q, found in hits.items()}
        if asked is None
        else asked
    )
    qrels = _by_document(rated, len(indexes) > 1, what if asked is None else "request")
    values = {q: as_float(detail.get("metric_score")) for q, detail in details.items()}
    return RankEval(
        qrels,
        run,
        {q: [doc for doc in docs if doc not in qrels[q]] for q, docs in run.items()},
        {q: math.nan if value is None else value for q, value in values.items()},
    )


def qrels_in(content: Any) -> dict[str, dict[str, float]] | None:
    """The qrels in what was read from JSON, if that is a request of ``_rank_eval`` or a judgment list; else None."""
    if isinstance(content, dict) and isinstance(content.get("requests"), list):
        requested = _requested(content)
        return _by_document(
            requested, len({hit[0] for hits in requested.values() for hit in hits}) > 1, "request"
        )
    return (
        read_judgments(content)
        if isinstance(content, dict) and "judgmentRatings" in _list(content)
        else None
    )


def is_judgment_list(header: str) -> bool:
    """Return whether the first line of a CSV file is that of a judgment list.

    >>> is_judgment_list("query,docid,rating"), is_judgment_list("query_id,doc_id,relevance")
    (True, False)
    """
    parts = header.split(separator_of(header))
    names = [_column_name(name.strip().strip('"')) for name in parts]
    return "query_id" not in names and not any(map(set(names).isdisjoint, _COLUMNS))


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
    ratings = _ratings(content, ("requests", "id", "_id"), what)
    if (twice := repeated([query_id for query_id, _ in ratings])) is not None:
        raise ValueError(f"{what}: two requests have the id {twice!r}")
    return dict(ratings)


def _ratings(
    content: Mapping[str, Any], names: tuple[str, str, str], what: str
) -> list[tuple[str, list[_Hit]]]:
    """What was rated for each query; ``names`` are those of the list of queries, of a query's id and of a document's."""
    queries, query, document = names
    if not isinstance(content.get(queries), list):
        raise ValueError(
            f"{what}: there is no list of {queries} in it: it has {shown_names(list(map(str, content)))}"
        )
    default: Any = [] if queries == "requests" else None  # a request may rate nothing
    ratings = []
    for item in content[queries]:
        if (
            not isinstance(item, Mapping)
            or query not in item
            or not isinstance(item.get("ratings", default), list)
        ):
            raise ValueError(f"{what}: expected {query} and a list of ratings, got {shown(item)}")
        query_id, found = str(item[query]), []
        for rated in item.get("ratings", default):
            if not isinstance(rated, Mapping) or not {document, "rating"} <= rated.keys():
                raise ValueError(
                    f"{what}: a rating of query {query_id!r} is {shown(rated)}, without {document} and rating"
                )
            found.append((str(rated.get("_index", "")), str(rated[document]), rated["rating"]))
        ratings.append((query_id, found))
    return ratings


def _by_document(
    hits: Mapping[str, list[_Hit]], several: bool, what: str
) -> dict[str, dict[str, float]]:
    """Ratings by query and document; documents of several indexes are called by these, too."""
    ratings: dict[str, dict[str, float]] = {}
    for query_id, found in hits.items():
        of_query = ratings[query_id] = {}
        for index, doc_id, rating in found:
            name = f"{index}/{doc_id}" if several else doc_id
            grade = _rating(rating, query_id, name, what)
            if of_query.setdefault(name, grade) != grade:
                raise ValueError(
                    f"{what}: document {name!r} appears twice for query {query_id!r}; keep one"
                )
    return ratings


def _rating(value: Any, query_id: str, doc_id: str, what: str) -> float:
    rating = as_float(value)
    if rating is None:
        raise ValueError(
            f"{what}: the rating of document {doc_id!r} for query {query_id!r} is {shown(value)}, not a number"
        )
    return rating


# -- judgment lists ----------------------------------------------------------------------------------------


@entry
def read_judgments(source: JSONLike, *, levels: int | None = None) -> dict[str, dict[str, float]]:
    """Read a judgment list as qrels.

    Args:
        source: CSV with the columns ``query``, ``docid`` and ``rating`` (Quepid; other usual names
            are known, too), or JSON with ``judgmentRatings`` (OpenSearch's Search Relevance
            Workbench, as imported or as it answers), as a path or as what was read from it.
        levels: for ratings between 0 and 1 (judgments derived from clicks): the grades 0, 1, ...,
            levels that they are rounded to. Measures take grades of at least 1 as relevant.

    Returns:
        Ratings by query and document. Rows without a rating are left out: nobody has rated them
        yet.

    Raises:
        ValueError: no such list, a rating that is not a number, or two ratings of a document that
            differ; the message names the line.

    >>> read_judgments({"judgmentRatings": [{"query": "red dress", "ratings": [{"docId": "B07", "rating": "0.66"}]}]}, levels=3)
    {'red dress': {'B07': 2.0}}
    """
    if levels is not None and (not is_integer(levels) or levels < 1):
        raise ValueError(f"levels must be an integer of at least 1, not {levels!r}")
    what = "judgments" if isinstance(source, Mapping) else os.fspath(source)
    qrels: dict[str, dict[str, float]] = {}
    for query_id, doc_id, value, location in _rated_documents(source, what):
        if value is None:
            continue
        rating = _rating(value, query_id, doc_id, location)
        grade = rating if levels is None else _grade(rating, levels, query_id, doc_id, location)
        ratings = qrels.setdefault(query_id, {})
        if ratings.setdefault(doc_id, grade) != grade:
            raise ValueError(
                f"{location}: document {doc_id!r} is rated twice for query {query_id!r}; keep one"
            )
    if not qrels:
        raise ValueError(f"{what}: there are no ratings in it")
    return qrels


def _rated_documents(source: JSONLike, what: str) -> list[tuple[str, str, Any, str]]:
    """Return query, document, rating and location of everything in a judgment list."""
    if isinstance(source, Mapping):
        return _rows_of_json(source, what)
    with rereadable(what) as file:
        if first_line(file).lstrip().startswith("{"):
            return _rows_of_json(file, what)
        return _rows_of_csv(file)


def _rows_of_json(source: JSONLike, what: str) -> list[tuple[str, str, Any, str]]:
    """Return query, document, rating and location of everything in a list of the Search Relevance Workbench."""
    content, _ = _content(source, what)
    ratings_by_query = _ratings(_list(content), ("judgmentRatings", "query", "docId"), what)
    return [
        (query_id, doc_id, rating, what)
        for query_id, hits in ratings_by_query
        for _, doc_id, rating in hits
    ]


def _grade(rating: float, levels: int, query_id: str, doc_id: str, location: str) -> float:
    """Return the grade that a rating between 0 and 1 is rounded to.

    Raises:
        ValueError: the rating is not between 0 and 1.
    """
    if not 0 <= rating <= 1:
        raise ValueError(
            f"{location}: the rating of document {doc_id!r} for query {query_id!r} is {rating:g}; "
            "levels are for ratings between 0 and 1"
        )
    return float(round(rating * levels))


def _list(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """A judgment list, also where it is the only hit of a search for it."""
    match content:
        case {"hits": {"hits": [{"_source": dict(source)}]}}:
            return source
    return content


def _rows_of_csv(path: str) -> list[tuple[str, str, Any, str]]:
    """Return query, document, rating and location of everything in a list that is CSV.

    Raises:
        ValueError: a column is missing, a row has a wrong number of fields or lacks an id, or the
            file may be cut within its last rating.
    """
    text = text_of_file(path)
    is_ended, last = text.endswith("\n"), text.count("\n") + 1
    lines = csv_rows(text, lambda line: f"{path}, line {line}", separator_of(first_line(path)))
    names = [_column_name(name) for name in next(lines, (0, []))[1]]
    columns = _columns_of_list(names, path) if names else []
    rows = []
    for line, row in lines:
        location = f"{path}, line {line}"
        if len(row) == 1 and columns[0] == 0 and (line < last or is_ended):
            continue  # a query without ratings, as Quepid writes it; not a line that is cut off
        if len(row) != len(names):
            raise ValueError(f"{location}: {len(row)} fields where {len(names)} are expected")
        query_id, doc_id, rating = (row[column] for column in columns)
        if query_id and not doc_id and not rating:
            continue  # the same, as Quepid wrote it before
        if not query_id or not doc_id:
            raise ValueError(f"{location}: there is no {'document' if query_id else 'query'}")
        rows.append((query_id, doc_id, rating or None, location))
    if not is_ended and columns and columns[2] == len(names) - 1:
        ratings = [rating for _, _, rating, _ in rows if rating]
        check_not_cut(ratings, Cut.IF_LONGER, lambda: f"{path}, line {last}", "rating")
    return rows


def _columns_of_list(names: list[str], path: str) -> list[int]:
    """Return where the query, the document and the rating stand.

    Raises:
        ValueError: one of the three is missing.
    """
    columns = []
    for aliases in _COLUMNS:
        matches = [name for name in aliases if name in names]
        if not matches:
            raise ValueError(
                f"{path}, line 1: no column {' or '.join(aliases[:3])}: it has {shown_names(names)}; "
                "the header must be such as query,docid,rating"
            )
        columns.append(names.index(matches[0]))
    return columns
