"""What other programs hold in memory (rankings of ranx, hits of Pyserini, data sets of Hugging Face), as ``columns`` reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ir_lexirecall._util.errors import shown
from ir_lexirecall._util.lazy import pandas as pd

_REFUSED = {
    "dask": "a Dask table is not computed yet; give its .compute()",
    "lenskit": "LensKit's lists are compared by lenskit_lexirecall.compare and measured by its metrics; or give their .to_df()",
    "pyspark": "a Spark table is evaluated where it is by spark_lexirecall.evaluate; or give its .toPandas()",
}
_TRECTOOLS = {"query": "query_id", "docid": "doc_id", "rel": "relevance", "score": "score"}
_CHECKED = 3  # rankings in which hits are looked for


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
        return _of_hugging_face(data, what)
    if package == "pyarrow" and hasattr(data, "to_table"):  # a data set of files, or a scanner of one
        return data.to_table()
    if package in _REFUSED and not hasattr(data, "_fields"):
        raise ValueError(f"{what} of type {type(data).__name__}: {_REFUSED[package]}")
    if isinstance(data, np.ndarray):
        return _of_array(data, what)
    if what == "run" and isinstance(data, Mapping) and _has_hits(data):
        return {query_id: _scores(query_id, hits) for query_id, hits in data.items()}
    return data


def _of_hugging_face(data: Any, what: str) -> Any:
    if isinstance(data, Mapping):  # a DatasetDict
        splits = ", ".join(map(repr, data))
        raise ValueError(f"{what}: a {type(data).__name__} has splits ({splits}); give one of them")
    return data.with_format("arrow")[:] if hasattr(data, "num_rows") else data


def _of_array(array: Any, what: str) -> Any:
    """A structured array as a table."""
    if array.dtype.names is None:
        more = "" if array.ndim == 1 else "; for the k best documents of each query, use ir_lexirecall.io.objects.top_k"
        kind = "a single column" if array.ndim == 1 else f"an array of shape {array.shape}"
        raise ValueError(f"{what} of type {type(array).__name__} cannot be read: it is {kind}, without ids{more}")
    columns = {name: array[name].ravel() for name in array.dtype.names}
    return pd.DataFrame(
        {
            name: np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values
            for name, values in columns.items()
        }
    )


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


def _scores(query_id: Any, hits: Any) -> Any:
    if not isinstance(hits, (list, tuple)):
        return hits
    scores = {}
    for hit in hits:
        pair = _hit(hit)
        if pair is None:
            raise ValueError(
                f"run: query {shown(query_id)} has {shown(hit)} among its hits, not a document and its score"
            )
        if pair[0] in scores:
            raise ValueError(f"run: document {shown(pair[0])} occurs twice for query {shown(query_id)}")
        scores[pair[0]] = pair[1]
    return scores


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
