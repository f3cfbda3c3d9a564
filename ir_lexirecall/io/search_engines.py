"""Files of search engines: ``_rank_eval`` of Elasticsearch and OpenSearch, and judgment lists.

Judgment lists are those of Quepid and of the Search Relevance Workbench.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from ir_lexirecall._util.errors import (
    and_more,
    check_integer,
    counted,
    entry,
    repeated,
    shown,
    shown_names,
)
from ir_lexirecall.io.cells import NumbersByQuery, number_or_text
from ir_lexirecall.io.checks import check_not_cut
from ir_lexirecall.io.files import File, JSONObject
from ir_lexirecall.io.lines import csv_rows, separator_of
from ir_lexirecall.io.names import JUDGMENT_NAMES, QREL_COLUMNS, our_names
from ir_lexirecall.io.schemas import Cut

JSONLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any]"
"""The path of a JSON file, or what was read from it."""


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
    >>> query = {"metric_score": 1.0, "unrated_docs": [], "hits": [hit]}
    >>> response = {"metric_score": 1.0, "details": {"amsterdam": query}, "failures": {}}
    >>> found = read_rank_eval(response)
    >>> found.run, found.qrels
    ({'amsterdam': {'42': -1.0}}, {'amsterdam': {'42': 1.0}})
    """
    answer, what = _content(response, "response")
    details = _details_of(answer, what)
    hits = {
        query_id: _hits_of(query_id, detail, what)
        for query_id, detail in details.items()
    }
    if request is None:
        rated, rated_in = {q: _only_rated(listed) for q, listed in hits.items()}, what
    else:
        rated, rated_in = _requested(request), "request"
        _check_same_queries(rated, hits, what)
    ranked = {query_id: _with_ranks(listed) for query_id, listed in hits.items()}
    several = _has_several_indexes([*hits.values(), *rated.values()])
    run = _by_document(ranked, what, several=several)
    qrels = _by_document(rated, rated_in, several=several)
    unrated = {}
    for query_id, docs in run.items():
        unrated[query_id] = [doc for doc in docs if doc not in qrels[query_id]]
    values = {q: _score_of(detail) for q, detail in details.items()}
    return RankEval(qrels, run, unrated, values)


def _only_rated(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits that have a rating."""
    return [hit for hit in hits if hit.rating is not None]


def _with_ranks(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits that are rated -1, -2, ... from the top, as scores of a run."""
    return [hit._replace(rating=-rank) for rank, hit in enumerate(hits, start=1)]


def _score_of(detail: JSONObject) -> float:
    """Return the value of the engine's own metric for a query; NaN if there is none."""
    value = number_or_text(detail.get("metric_score"))
    return math.nan if value is None else value


def _details_of(answer: JSONObject, what: str) -> JSONObject:
    """Return the details of each query in a response of ``_rank_eval``.

    Raises:
        ValueError: it is not such a response, or a query failed.
    """
    details = answer.get("details")
    if not isinstance(details, Mapping):
        names = shown_names(list(map(str, answer)))
        raise ValueError(
            f"{what}: not a response of _rank_eval: it has {names}, but no details"
        )
    failures = answer.get("failures")
    if failures:
        raise ValueError(f"{what}: queries failed: {shown(failures)}")
    return details


def _hits_of(query_id: str, detail: Any, what: str) -> list[Hit]:
    """Return the hits of a query in a response of ``_rank_eval``."""
    items = detail.get("hits", []) if isinstance(detail, Mapping) else None
    if not isinstance(items, list):
        raise ValueError(
            f"{what}: the hits of query {shown(query_id)} are {shown(items)}, not a list"
        )
    hits = []
    for item in items:
        match item:
            case {"hit": {"_id": doc_id} as hit}:
                hits.append(
                    Hit(str(hit.get("_index", "")), str(doc_id), item.get("rating"))
                )
            case _:
                raise ValueError(
                    f"{what}: a hit of query {shown(query_id)} is {shown(item)}, "
                    "without hit and _id"
                )
    return hits


def _check_same_queries(
    requested: Mapping[str, object], answered: Mapping[str, object], what: str
) -> None:
    """Raise if a query is in the request or in the response only."""
    odd = requested.keys() ^ answered.keys()
    if odd:
        where = "the request" if min(odd) in requested else "the response"
        raise ValueError(
            f"{what}: query {min(odd)!r} is in {where} only{and_more(len(odd) - 1)}; "
            "are they of one evaluation?"
        )


def _has_several_indexes(hits: Iterable[list[Hit]]) -> bool:
    """Return whether documents are of several indexes."""
    names = {hit.index_name for hit in chain.from_iterable(hits)}
    return len(names) > 1


def qrels_in(content: Any) -> NumbersByQuery | None:
    """Return the qrels in the content of a JSON file of a search engine; None of other content.

    It is a request of ``_rank_eval`` or a judgment list.
    """
    if not isinstance(content, dict):
        return None
    if isinstance(content.get("requests"), list):
        requested = _requested(content)
        several = _has_several_indexes(requested.values())
        return _by_document(requested, "request", several=several)
    if "judgmentRatings" in _list(content):
        return read_judgments(content)
    return None


def is_judgment_list(header: str) -> bool:
    """Return whether the first line of a CSV file is that of a judgment list.

    A table with the names of PyTerrier's columns is qrels; further columns may hold subtopics.

    >>> is_judgment_list("query,docid,rating"), is_judgment_list("query_id,doc_id,relevance")
    (True, False)
    >>> is_judgment_list("qid,docno,label")
    False
    """
    parts = header.split(separator_of(header))
    names = [_column_name(name.strip().strip('"')) for name in parts]
    if "query_id" in names or set(QREL_COLUMNS) <= set(our_names(names)):
        return False
    return not any(map(set(names).isdisjoint, JUDGMENT_NAMES))


def _column_name(name: str) -> str:
    return name.strip().lower().replace(" ", "_")


def _content(source: JSONLike, what: str) -> tuple[JSONObject, str]:
    """Return a JSON object, and its label in messages."""
    if isinstance(source, Mapping):
        return source, what
    file = File.opened(source)
    return _object_in(file), file.path


def _object_in(file: File) -> JSONObject:
    """Return the JSON object that a file holds; raise if it holds something else."""
    content = file.json()
    if not isinstance(content, dict):
        raise ValueError(
            f"{file.path}: expected a JSON object, got a {type(content).__name__}"
        )
    return content


class Hit(NamedTuple):
    """A document of an index, and its rating."""

    index_name: str
    doc_id: str
    rating: Any


def _requested(request: JSONLike) -> dict[str, list[Hit]]:
    """Return the documents that a request of ``_rank_eval`` rates for each query."""
    content, what = _content(request, "request")
    ratings = _ratings(content, ("requests", "id", "_id"), what)
    twice = repeated([query_id for query_id, _ in ratings])
    if twice is not None:
        raise ValueError(f"{what}: two requests have the id {twice!r}")
    return dict(ratings)


def _ratings(
    content: JSONObject, keys: tuple[str, str, str], what: str
) -> list[tuple[str, list[Hit]]]:
    """Return the rated documents of each query.

    Args:
        content: the JSON object.
        keys: the keys of the list of queries, of the id of a query and of the id of a document.
        what: what messages call it.
    """
    list_key, query_key, doc_key = keys
    if not isinstance(content.get(list_key), list):
        has = shown_names(list(map(str, content)))
        raise ValueError(f"{what}: there is no list of {list_key} in it: it has {has}")
    default: Any = [] if list_key == "requests" else None  # a request may rate nothing
    ratings = []
    for item in content[list_key]:
        rated = item.get("ratings", default) if isinstance(item, Mapping) else None
        if not isinstance(rated, list) or query_key not in item:
            raise ValueError(
                f"{what}: expected {query_key} and a list of ratings, got {shown(item)}"
            )
        query_id = str(item[query_key])
        hits = [_rated_hit(rating, doc_key, query_id, what) for rating in rated]
        ratings.append((query_id, hits))
    return ratings


def _rated_hit(rating: Any, doc_key: str, query_id: str, what: str) -> Hit:
    """Return a rated document, whose id has the key ``doc_key``."""
    if not isinstance(rating, Mapping) or not {doc_key, "rating"} <= rating.keys():
        raise ValueError(
            f"{what}: a rating of query {shown(query_id)} is {shown(rating)}, "
            f"without {doc_key} and rating"
        )
    return Hit(str(rating.get("_index", "")), str(rating[doc_key]), rating["rating"])


def _by_document(
    hits: Mapping[str, list[Hit]], what: str, *, several: bool
) -> NumbersByQuery:
    """Return ratings by query and document.

    Documents of several indexes are called by these, too.
    """
    ratings: NumbersByQuery = {}
    for query_id, listed in hits.items():
        of_query = ratings[query_id] = {}
        for index, doc_id, rating in listed:
            name = f"{index}/{doc_id}" if several else doc_id
            grade = _rating(rating, query_id, name, what)
            if of_query.setdefault(name, grade) != grade:
                raise ValueError(
                    f"{what}: document {name!r} appears twice for query {shown(query_id)}; keep one"
                )
    return ratings


def _rating(value: Any, query_id: str, doc_id: str, what: str) -> float:
    """Return a rating as a number."""
    rating = number_or_text(value)
    if rating is None:
        raise ValueError(
            f"{what}: the rating of document {shown(doc_id)} for query {shown(query_id)} "
            f"is {shown(value)}, not a number"
        )
    return rating


# -- judgment lists --------------------------------------------------------------------------------


@entry
def read_judgments(source: JSONLike, *, levels: int | None = None) -> NumbersByQuery:
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

    >>> ratings = [{"docId": "B07", "rating": "0.66"}]
    >>> read_judgments({"judgmentRatings": [{"query": "red dress", "ratings": ratings}]}, levels=3)
    {'red dress': {'B07': 2.0}}
    """
    if levels is not None:
        check_integer("levels", levels)
    if isinstance(source, Mapping):
        return _graded(_rated_in_json(source, "judgments"), "judgments", levels)
    return ratings_in(File.opened(source), levels)


def ratings_in(file: File, levels: int | None = None) -> NumbersByQuery:
    """Return the ratings in a judgment list, by query and document; see ``read_judgments``."""
    return _graded(_rated_in_file(file), file.path, levels)


class Rated(NamedTuple):
    """A document, its rating for a query, and where this stands."""

    query_id: str
    doc_id: str
    rating: Any
    location: str


def _graded(rated: Iterable[Rated], what: str, levels: int | None) -> NumbersByQuery:
    """Return ratings by query and document, rounded to levels, if any.

    Raises:
        ValueError: a rating is not a number, two of a document differ, or there are none.
    """
    qrels: NumbersByQuery = {}
    for query_id, doc_id, value, location in rated:
        if value is None:
            continue
        rating = _rating(value, query_id, doc_id, location)
        if levels is None:
            grade = rating
        else:
            grade = _grade(rating, levels, query_id, doc_id, location)
        ratings = qrels.setdefault(query_id, {})
        if ratings.setdefault(doc_id, grade) != grade:
            raise ValueError(
                f"{location}: document {shown(doc_id)} is rated twice for query "
                f"{shown(query_id)}; keep one"
            )
    if not qrels:
        raise ValueError(f"{what}: there are no ratings in it")
    return qrels


def _rated_in_file(file: File) -> list[Rated]:
    """Return everything in a judgment list, JSON or CSV."""
    if not file.first_line.lstrip().startswith("{"):
        return _rated_in_csv(file)
    return _rated_in_json(_object_in(file), file.path)


def _rated_in_json(content: JSONObject, what: str) -> list[Rated]:
    """Return everything in a list of the Search Relevance Workbench."""
    ratings_by_query = _ratings(
        _list(content), ("judgmentRatings", "query", "docId"), what
    )
    rated = []
    for query_id, hits in ratings_by_query:
        rated += [Rated(query_id, hit.doc_id, hit.rating, what) for hit in hits]
    return rated


def _grade(
    rating: float, levels: int, query_id: str, doc_id: str, location: str
) -> float:
    """Return the grade that a rating between 0 and 1 is rounded to.

    Raises:
        ValueError: the rating is not between 0 and 1.
    """
    if not 0 <= rating <= 1:
        raise ValueError(
            f"{location}: the rating of document {shown(doc_id)} for query "
            f"{shown(query_id)} is {rating:g}; levels are for ratings between 0 and 1"
        )
    return float(round(rating * levels))


def _list(content: JSONObject) -> JSONObject:
    """Return a judgment list, or the judgment list that is the only hit of a search."""
    match content:
        case {"hits": {"hits": [{"_source": dict(source)}]}}:
            return source
    return content


def _rated_in_csv(file: File) -> list[Rated]:
    """Return everything in a list that is CSV.

    Raises:
        ValueError: a column is missing, a row has a wrong number of fields or lacks an id, or the
            file may be cut within its last rating.
    """
    text = file.text()
    rows = csv_rows(text, file.line_name, separator_of(file.first_line))
    _, header = next(rows, (0, []))
    if not header:
        return []
    names = [_column_name(name) for name in header]
    columns = _columns_of_list(names, file.line_name(1))
    n_lines = text.count("\n") + 1
    line_without_end = None if text.endswith("\n") else n_lines

    rated = []
    for line, row in rows:
        if len(row) == 1 and columns[0] == 0 and line != line_without_end:
            continue  # a query without ratings, as Quepid writes it
        rated += _rated_in_row(row, columns, len(names), file.line_name(line))

    rating_ends_the_line = columns[2] == len(names) - 1
    if rating_ends_the_line and line_without_end is not None:
        ratings = [row.rating for row in rated if row.rating]
        check_not_cut(ratings, Cut.IF_LONGER, lambda: file.line_name(n_lines), "rating")
    return rated


def _rated_in_row(
    row: Sequence[str], columns: Sequence[int], n_fields: int, location: str
) -> list[Rated]:
    """Return the rating in a row, as a list of one; an empty list if it names a query only.

    Raises:
        ValueError: the row has a wrong number of fields, or lacks an id.
    """
    if len(row) != n_fields:
        raise ValueError(
            f"{location}: {counted(len(row), 'field')} where {n_fields} are expected"
        )
    query_id, doc_id, rating = (row[column] for column in columns)
    if not query_id:
        raise ValueError(f"{location}: there is no query")
    if not doc_id:
        if not rating:
            return []  # a query without ratings, as Quepid wrote it before
        raise ValueError(f"{location}: there is no document")
    return [Rated(query_id, doc_id, rating or None, location)]


def _columns_of_list(names: list[str], location: str) -> list[int]:
    """Return the indices of the columns of the query, the document and the rating.

    Raises:
        ValueError: one of the three is missing.
    """
    columns = []
    for aliases in JUDGMENT_NAMES:
        matches = [name for name in aliases if name in names]
        if not matches:
            raise ValueError(
                f"{location}: no column {' or '.join(aliases[:3])}: it has {shown_names(names)}; "
                "the header must be such as query,docid,rating"
            )
        columns.append(names.index(matches[0]))
    return columns
