"""JSON: runs and qrels (predictions of MTEB and sentence-transformers, dicts of dicts), and assignments of nuggets as qrels with subtopics."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ir_lexirecall._util.errors import and_more, entry, is_number, naming
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io import search_engines
from ir_lexirecall.io.files import json_lines, parsed_json, text_of_file

_MTEB = "mteb_model_meta"
_GRADES = {"support": 2, "partial_support": 1, "not_support": 0}


def is_json(first_line: str) -> bool:
    """Whether a file whose first line this is starts as JSON does; a line of six fields is TREC's whatever it starts with."""
    line = first_line.lstrip("\ufeff \t\r\n")
    return line.startswith(("{", "[")) and (len(line.split()) != 6 or '"' in line)


def json_run(path: str) -> pl.DataFrame:
    text = text_of_file(path)
    first, _, rest = text.lstrip().partition("\n")
    has_lines = first.startswith("{") and first.rstrip().endswith("}") and bool(rest.strip())
    content = next(json_lines(text, path))[1] if has_lines else parsed_json(text, path, 1)
    read = next((read for knows, read in RECORDS if knows(content)), predictions if has_lines else None)
    if read is not None:
        return table_of_dicts(read(json_lines(text, path) if has_lines else [(1, content)], path), "score")
    with naming(path):
        found = search_engines.run_in(content)
    if found is not None:
        return table_of_dicts(found, "score")
    if isinstance(content, dict) and is_mteb(content):
        return table_of_dicts(mteb_run(content, path), "score")
    return table_of_dicts(_dicts(content, path, "run"), "score")


def json_qrels(path: str) -> Mapping[str, Mapping[str, Any]]:
    content = parsed_json(text_of_file(path), path, 1)
    with naming(path):
        found = search_engines.qrels_in(content)
    return _dicts(content, path, "qrels") if found is None else found


def _dicts(content: Any, path: str, what: str) -> dict[str, dict[str, Any]]:
    value = "grade" if what == "qrels" else "score"
    expected = f"expected {{query_id: {{doc_id: {value}}}}}"
    if not isinstance(content, dict):
        raise ValueError(f"{path}: taken for JSON, but a {type(content).__name__} is not a {what}: {expected}")
    for query_id, docs in content.items():
        if not isinstance(docs, dict):
            raise ValueError(f"{path}: taken for JSON, but query {query_id!r} maps to {shown_json(docs)}: {expected}")
        odd = [doc_id for doc_id, number in docs.items() if not is_number(number)]
        if odd:
            raise ValueError(
                f"{path}: the {value} of document {odd[0]!r} for query {query_id!r} is {shown_json(docs[odd[0]])}, not a number"
                f"{and_more(len(odd) - 1)}"
            )
    return content


def shown_json(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def table_of_dicts(nested: Mapping[str, Mapping[str, Any]], value: str) -> pl.DataFrame:
    numbers = [float(number) for docs in nested.values() for number in docs.values()]
    return pl.DataFrame(
        {
            "query_id": pl.Series([q for q, docs in nested.items() for _ in docs], dtype=pl.String),
            "doc_id": pl.Series([doc_id for docs in nested.values() for doc_id in docs], dtype=pl.String),
            value: pl.Series(numbers, dtype=pl.Float64),
        }
    )


def is_mteb(content: dict[str, Any]) -> bool:
    if _MTEB in content:
        return True
    return bool(content) and all(
        isinstance(splits, dict)
        and bool(splits)
        and all(
            isinstance(run, dict) and bool(run) and all(isinstance(d, dict) for d in run.values())
            for run in splits.values()
        )
        for splits in content.values()
    )


def mteb_run(content: dict[str, Any], path: str) -> dict[str, dict[str, float]]:
    """Predictions of MTEB, which are written before it takes identical ids out; ``load(qrels, exclude="self")`` does that."""
    splits = {name: part for name, part in content.items() if name != _MTEB and isinstance(part, dict)}
    there = [(name, split) for name, part in splits.items() for split in part]
    if len(there) != 1:
        listed = ", ".join(f"{name}/{split}" for name, split in there) or "nothing"
        raise ValueError(
            f"{path}: expected predictions of MTEB for one subset and split, it has {listed}; give one of them: "
            "json.load(open(path))[subset][split]"
        )
    name, split = there[0]
    return _dicts(content[name][split], f"{path} ({name}/{split})", "run")


def _is_prediction(content: Any) -> bool:
    return isinstance(content, dict) and isinstance(content.get("results"), list) and "query_id" in content


def predictions(records: Iterable[tuple[int, Any]], path: str) -> dict[str, dict[str, float]]:
    """Lines ``{"query_id": ..., "results": [{"corpus_id": ..., "score": ...}, ...]}``."""
    run: dict[str, dict[str, float]] = {}
    for number, content in records:
        place = f"{path}, line {number}"
        if not _is_prediction(content):
            raise ValueError(
                f"{place}: taken for predictions of sentence-transformers, but it is not "
                '{"query_id": ..., "results": [{"corpus_id": ..., "score": ...}, ...]}'
            )
        query_id = id_in_json(content["query_id"], "query_id", place)
        if query_id in run:
            raise ValueError(f"{place}: query {query_id!r} occurs twice")
        ranking = run[query_id] = {}
        for result in content["results"]:
            if not isinstance(result, dict) or not {"corpus_id", "score"} <= result.keys():
                raise ValueError(
                    f"{place}: a result of query {query_id!r} is {shown_json(result)}, without corpus_id and score"
                )
            doc_id, score = id_in_json(result["corpus_id"], "corpus_id", place), result["score"]
            if doc_id in ranking:
                raise ValueError(f"{place}: document {doc_id!r} appears twice for query {query_id!r}; keep one")
            if not is_number(score):
                raise ValueError(
                    f"{place}: the score of document {doc_id!r} for query {query_id!r} is {shown_json(score)}, not a number"
                )
            ranking[doc_id] = float(score)
    return run


RECORDS = ((_is_prediction, predictions),)
"""Formats of runs with a JSON object per query, on a line each where there are several: what knows one of them, and reads all with their lines."""


def id_in_json(value: Any, name: str, place: str) -> str:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return str(value)
    raise ValueError(f"{place}: {name} is {shown_json(value)}, not a string or an integer")


# -- assignments of nuggets ---------------------------------------------------------------------------------


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
    if isinstance(assignments, (str, os.PathLike)):
        path = os.fspath(assignments)
        records: Iterable[Any] = ((f"{path}, line {n}", record) for n, record in json_lines(text_of_file(path), path))
    else:
        records = ((f"record {n}", record) for n, record in enumerate(assignments, start=1))
    for place, record in records:
        if not isinstance(record, Mapping):
            raise ValueError(f"{place}: expected an assignment of nuggets, got {shown_json(record)}")
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
