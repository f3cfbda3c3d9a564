"""Assignments of nuggets as qrels with subtopics."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ir_lexirecall._util.errors import entry, is_number
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.io.content import parsed_json, text_of_file
from ir_lexirecall.io.json_runs import id_in_json, shown_json

_GRADES = {"support": 2, "partial_support": 1, "not_support": 0}


@entry
def nugget_qrels(
    assignments: str | os.PathLike[str] | Iterable[Mapping[str, Any]], *, vital: float = 1.0, okay: float = 0.5
) -> pd.DataFrame:
    """Qrels with weighted subtopics out of assignments of nuggets (TREC RAG, AutoNuggetizer).

    A record says which nuggets of a query a text supports: ``{"qid", "nuggets": [{"text", "importance", "assignment"}]}``. The
    text is called by ``docid`` (or ``doc_id``, ``docno``), and where the record is of a whole answer by ``run_id``.

    Args:
        assignments: records, or the path of a file with one per line (JSON lines).
        vital, okay: weights of nuggets of this importance.

    Returns:
        ``query_id``, ``doc_id``, ``subtopic_id`` (the nugget's text), ``relevance`` (2 support, 1 partial support, 0 none) and
        ``weight``: for RBU, ``D_nDCG``, ``IA`` and the other measures of diversity.

    Raises:
        ValueError: a record or nugget lacks a field, or one has an unknown value; the message names it.

    >>> record = {"qid": "1", "docid": "d7", "nuggets": [
    ...     {"text": "Rome was founded", "importance": "vital", "assignment": "support"},
    ...     {"text": "by twins", "importance": "okay", "assignment": "partial_support"}]}
    >>> nugget_qrels([record])
      query_id doc_id       subtopic_id  relevance  weight
    0        1     d7  Rome was founded          2     1.0
    1        1     d7          by twins          1     0.5
    """
    weights = {"vital": vital, "okay": okay}
    for name, weight in weights.items():
        if not is_number(weight) or not 0 <= weight < float("inf"):
            raise ValueError(f"{name} must be a number of at least 0, not {weight!r}")
    rows = []
    for place, record in _records(assignments):
        query_id = _field(record, ("qid", "query_id"), place)
        doc_id = _field(record, ("docid", "doc_id", "docno", "run_id"), place)
        nuggets = record.get("nuggets")
        if not isinstance(nuggets, list):
            raise ValueError(f"{place}: no list of nuggets for query {query_id!r}")
        for nugget in nuggets:
            if not isinstance(nugget, Mapping):
                raise ValueError(f"{place}: a nugget of query {query_id!r} is {shown_json(nugget)}")
            text = _field(nugget, ("text",), place)
            weight = _choice(nugget, "importance", weights, place, text)
            grade = _choice(nugget, "assignment", _GRADES, place, text)
            rows.append((query_id, doc_id, text, grade, weight))
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "subtopic_id", "relevance", "weight"])


def _records(source: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        items: Iterable[tuple[str, Any]] = (
            (f"{path}, line {n}", parsed_json(line, path, n))
            for n, line in enumerate(text_of_file(path).split("\n"), start=1)
            if line.strip()
        )
    else:
        items = ((f"record {n}", record) for n, record in enumerate(source, start=1))
    for place, record in items:
        if not isinstance(record, Mapping):
            raise ValueError(f"{place}: expected an assignment of nuggets, got {shown_json(record)}")
        yield place, record


def _field(record: Mapping[str, Any], names: tuple[str, ...], place: str) -> str:
    name = next((name for name in names if name in record), None)
    if name is None:
        raise ValueError(
            f"{place}: there is no {' or '.join(names)}; it has {', '.join(map(str, record)) or 'nothing'}"
        )
    return id_in_json(record[name], name, place)


def _choice(nugget: Mapping[str, Any], name: str, choices: Mapping[str, Any], place: str, text: str) -> Any:
    value = nugget.get(name)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"{place}: nugget {shown_json(text)} has the {name} {shown_json(value)}; expected one of {', '.join(choices)}"
        )
    return choices[value]
