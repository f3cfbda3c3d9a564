"""Runs and qrels in memory: what other programs hold (rankings of ranx, hits of Pyserini, data sets of Hugging Face), as ``columns`` reads it.

Small ones become plain lists, without a query engine.
"""

from __future__ import annotations

import numbers
import os
import struct
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.errors import check_text, is_number, naming, shown
from ir_lexirecall._util.lazy import pandas as pd

TableLike: TypeAlias = str | os.PathLike[str] | Mapping[Any, Mapping[Any, Any]] | Iterable[Any]
"""A path, a pandas, Polars or Arrow table, a dict of dicts, an iterable of named tuples or of dicts, or an object that holds
one of these (DuckDB, Hugging Face, ranx, trectools, Pyserini's hits)."""
RUN_COLUMNS = ("query_id", "doc_id", "score")
QREL_COLUMNS = ("query_id", "doc_id", "relevance")
PYTERRIER = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}
"""PyTerrier's names of columns, and ours."""
_RECOMMENDERS = {
    "user": "query_id",
    "user_id": "query_id",
    "item": "doc_id",
    "item_id": "doc_id",
    "rating": "relevance",
}
_REFUSED = {
    "dask": "a Dask table is not computed yet; give its .compute()",
    "lenskit": "LensKit's lists are compared by lenskit_lexirecall.compare and measured by its metrics; or give their .to_df()",
    "pyspark": "a Spark table is evaluated where it is by spark_lexirecall.evaluate; or give its .toPandas()",
}
_TRECTOOLS = {"query": "query_id", "docid": "doc_id", "rel": "relevance", "score": "score"}
_CHECKED = 3  # rankings in which hits are looked for
_TOP_K = "ir_lexirecall.io.objects.top_k"
_FEW_ROWS = 4096  # of a table that is read without a query engine


def our_names(names: Sequence[str]) -> list[str]:
    """The names of a table's columns, PyTerrier's as ours.

    >>> our_names(["qid", "docno", "score"]), our_names(["query_id", "qid"])
    (['query_id', 'doc_id', 'score'], ['query_id', 'qid'])
    """
    return [ours if (ours := PYTERRIER.get(name, name)) == name or ours not in names else name for name in names]


def renaming(names: Sequence[str]) -> str:
    """A hint at what columns should be called here that recommender systems call otherwise; empty for others.

    >>> renaming(["user", "item", "rating"])
    '; rename user to query_id, item to doc_id, rating to relevance'
    """
    known = [f"{name} to {_RECOMMENDERS[name]}" for name in names if name in _RECOMMENDERS]
    return f"; rename {', '.join(known)}" if len(known) > 1 else ""


# -- what other programs hold --------------------------------------------------------------------------------------


def readable(data: Any, what: str) -> Any:
    """A run or qrels as a path, a table, a dict of dicts or an iterable of rows: as it is, or what it holds.

    >>> import numpy as np
    >>> readable({"q": [("a", 2.5), ("b", 1.5)]}, "run")
    {'q': {'a': 2.5, 'b': 1.5}}
    >>> readable(np.array([("q", "a", 2.5)], dtype=[("query_id", "U5"), ("doc_id", "U5"), ("score", "f4")]), "run")
      query_id doc_id  score
    0        q      a    2.5
    """
    if type(data) in (str, dict, list) and not _has_hits(data):
        return data
    package, _, _ = type(data).__module__.partition(".")
    if package == "ranx":
        return data.to_dict()
    if package == "trectools":
        table = data.qrels_data if hasattr(data, "qrels_data") else data.run_data
        return table[[name for name in _TRECTOOLS if name in table]].rename(columns=_TRECTOOLS)
    if package == "datasets":
        if isinstance(data, Mapping):  # a DatasetDict
            splits = ", ".join(map(repr, data))
            raise ValueError(f"{what}: a {type(data).__name__} has splits ({splits}); give one of them")
        return data.with_format("arrow")[:] if hasattr(data, "num_rows") else data
    if package == "pyarrow" and hasattr(data, "to_table"):  # a data set of files, or a scanner of one
        return data.to_table()
    if package in _REFUSED and not hasattr(data, "_fields"):
        raise ValueError(f"{what} of type {type(data).__name__}: {_REFUSED[package]}")
    if isinstance(data, np.ndarray):
        if data.dtype.names is None:
            kind = f"an array of shape {data.shape}, without ids; for the k best documents of each query, use {_TOP_K}"
            kind = "a single column, without ids" if data.ndim == 1 else kind
            raise ValueError(f"{what} of type {type(data).__name__} cannot be read: it is {kind}")
        fields = {name: data[name].ravel() for name in data.dtype.names}
        return pd.DataFrame(
            {name: np.char.decode(x, "utf-8") if x.dtype.kind == "S" else x for name, x in fields.items()}
        )
    if what == "run" and isinstance(data, Mapping) and _has_hits(data):
        run = dict(data)
        for query_id, hits in data.items():
            if isinstance(hits, (list, tuple)):
                run[query_id] = {}
                for hit in hits:
                    if (pair := _hit(hit)) is None:
                        raise ValueError(
                            f"run: query {shown(query_id)} has {shown(hit)} among its hits, not a document and its score"
                        )
                    if pair[0] in run[query_id]:
                        raise ValueError(f"run: document {shown(pair[0])} occurs twice for query {shown(query_id)}")
                    run[query_id][pair[0]] = pair[1]
        return run
    return data


def _has_hits(data: Any) -> bool:
    """Whether queries map to lists: of hits with ``docid`` and ``score``, or of pairs of both."""
    if not isinstance(data, Mapping):
        return False
    first = next((hits for hits in islice(data.values(), _CHECKED) if not isinstance(hits, Mapping)), None)
    return isinstance(first, (list, tuple)) and all(_hit(hit) is not None for hit in first[:_CHECKED])


def _hit(hit: Any) -> tuple[Any, Any] | None:
    """Document and score of a hit of Pyserini's, or of a pair; None of anything else."""
    if hasattr(hit, "docid") and hasattr(hit, "score"):
        return hit.docid, hit.score
    return (hit[0], hit[1]) if isinstance(hit, (tuple, list)) and len(hit) == 2 else None


def top_k(query_ids: Sequence[Any], documents: Any, scores: Any, *, names: Sequence[Any] | None = None) -> pd.DataFrame:
    """The run of a search that gave arrays: for each query its k best documents, and their scores.

    Args:
        query_ids: the ids of the Q queries.
        documents: ids of documents, shape ``(Q, k)``; or with ``names`` their places, where a negative one is none (as FAISS
            fills short lists).
        scores: the scores, shape ``(Q, k)``, larger ones first or not.
        names: the ids of all documents, in the index's order.

    Returns:
        A table with a row per retrieved document: ``query_id``, ``doc_id``, ``score``.

    Raises:
        ValueError: shapes that do not fit, or a place without a name.

    >>> top_k(["q1", "q2"], [[2, 0], [1, -1]], [[0.9, 0.5], [0.7, -1.0]], names=["a", "b", "c"])
      query_id doc_id  score
    0       q1      c    0.9
    1       q1      a    0.5
    2       q2      b    0.7
    """
    docs, values = np.asarray(documents), np.asarray(scores)
    if docs.ndim != 2 or docs.shape != values.shape or len(docs) != len(query_ids):
        raise ValueError(
            f"top_k: documents and scores must both have the shape (Q, k), with a row per query; they have {docs.shape} and "
            f"{values.shape} for {len(query_ids)} queries"
        )
    places = docs.dtype.kind in "iu"
    if names is not None and (not places or (docs.size and docs.max() >= len(names))):
        raise ValueError(f"top_k: with names, documents must be places below their number, {len(names)}")
    kept = docs >= 0 if places else np.ones(docs.shape, dtype=bool)
    found = docs[kept] if names is None else np.asarray(names)[docs[kept]]
    queries = np.repeat(np.asarray(query_ids), kept.sum(axis=1))
    return pd.DataFrame({"query_id": queries, "doc_id": found, "score": values[kept]})


# -- small ones as plain lists ------------------------------------------------------------------------------------


def is_plain_number(value: Any) -> bool:
    """Whether a value is a number, or a decimal."""
    return is_number(value) or isinstance(value, Decimal)


def id_string(value: Any) -> str:
    """A query or document id as a string; an integer means its decimal string.

    >>> id_string(7), id_string("d7")
    ('7', 'd7')
    """
    if isinstance(value, str):
        return check_text(str(value), "ids")
    if isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)):
        return str(int(value))
    raise ValueError(f"ids must be strings or integers, but one is {shown(value)} ({type(value).__name__})")


def with_string_keys(outer: Mapping[Any, Mapping[Any, Any]], what: str) -> Mapping[str, Mapping[str, Any]]:
    """The same dict of dicts if all ids are strings already, else a copy with integer ids as decimal strings."""
    for query_id, docs in outer.items():
        if not isinstance(docs, Mapping):
            hint = " (several runs by name are for compare)" if what == "run" and not is_number(docs) else ""
            raise ValueError(f"{what}: query {shown(query_id)} maps to {shown(docs)}, not to a dict of documents{hint}")
    try:
        for keys in (outer, *outer.values()):
            text = "".join(keys)  # the quickest way to learn that all are strings
            if not text.isascii():
                text.encode("utf-8")
        return outer
    except (TypeError, UnicodeEncodeError):
        pass
    with naming(what):
        copy = {id_string(q): {id_string(d): value for d, value in docs.items()} for q, docs in outer.items()}
    if len(copy) < len(outer) or any(len(a) < len(b) for a, b in zip(copy.values(), outer.values(), strict=True)):
        raise ValueError(f"{what}: an id occurs as a string and as an integer; use one of the two")
    return copy


def nested_dicts(data: TableLike, what: str, needed: tuple[str, str, str]) -> Mapping[str, Mapping[str, Any]] | None:
    """A dict of dicts with strings as keys, of a dict of dicts or of a small plain table; None for any other input.

    A table is plain if it has no other columns, ids that are all strings or all integers, and no row twice. So small inputs
    need no query engine, whose start would take longer than their evaluation; whatever is odd is left to the general way,
    which names the offender.
    """
    if isinstance(data, Mapping):
        return with_string_keys(data, what)
    columns = few_columns(data, needed)
    if columns is None:
        return None
    nested: dict[str, dict[str, Any]] = {}
    query, doc, value = (columns[name] for name in needed)
    for query_id, doc_id, number in zip(query, doc, value, strict=True):
        ranking = nested.get(query_id)
        if ranking is None:
            ranking = nested[query_id] = {}
        ranking[doc_id] = number
    return nested if sum(map(len, nested.values())) == len(doc) else None


def few_columns(data: Any, needed: tuple[str, str, str], texts: tuple[str, ...] = ()) -> dict[str, list[Any]] | None:
    """The columns of a small table or of few named tuples: those that are needed, and all ``texts``.

    None for anything larger, or not plain: with other columns, ids that are neither all strings nor all integers, or texts that
    are no strings.
    """
    if isinstance(data, list):
        if (
            not 0 < len(data) <= _FEW_ROWS
            or getattr(data[0], "_fields", None) is None
            or set(map(type, data)) != {type(data[0])}
        ):
            return None
        names, lists = data[0]._fields, list(map(list, zip(*data, strict=True)))
        if needed[2] == "relevance" and not texts and names[3:] == ("iteration",) and set(lists[3]) == {"0"}:
            names, lists = names[:3], lists[:3]  # ir_measures.Qrel
    else:
        if not hasattr(data, "itertuples") or len(data) > _FEW_ROWS:
            return None
        names, lists = tuple(data.columns), []
    wanted = {*needed, *texts}
    renamed = [PYTERRIER.get(name, name) if name not in wanted else name for name in names]
    if len(renamed) != len(wanted) or set(renamed) != wanted:
        return None
    columns = dict(zip(renamed, lists or [data[name].tolist() for name in names], strict=True))
    for name in (*needed[:2], *texts):
        kinds = set(map(type, columns[name]))
        if kinds == {int} and name not in texts:
            columns[name] = list(map(str, columns[name]))
        elif kinds != {str} or not "".join(columns[name]).isascii():
            return None
    return columns


def packed_numbers(rows: Iterable[Sequence[Any]]) -> NDArray[np.float64] | None:
    """All numbers of several sequences, one after the other, as float64; None if a value is not a number.

    Sequences that are made on the way are checked and packed while the processor's cache still has them.
    """
    packed = []
    for row in rows:
        kinds = list(map(type, row))
        if kinds.count(float) < len(row) and not set(kinds) <= {float, int} and not all(map(is_plain_number, row)):
            return None
        try:
            packed.append(struct.pack(f"{len(row)}d", *row))
        except (struct.error, OverflowError, ValueError):
            return None
    return np.frombuffer(b"".join(packed))
