"""Recognise runs, qrels and other tables once, when a user hands them over.

`what_is` tells files, tables, dicts of dicts and ids apart. It takes tables out of the objects of
other programs: rankings of ranx, hits of Pyserini, data sets of Hugging Face.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.errors import shown
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.io.files import File, named_files
from ir_lexirecall.io.schemas import Schema

_REFUSED = {
    "dask": "a Dask table is not computed yet; give its .compute()",
    "lenskit": "LensKit's lists are compared by lenskit_lexirecall.compare and measured by its "
    "metrics; or give their .to_df()",
    "pyspark": "a Spark table is evaluated where it is by spark_lexirecall.evaluate; or give its "
    ".toPandas()",
}
"""Packages whose objects cannot be read as tables, and what to give instead."""
_TRECTOOLS = {
    "query": "query_id",
    "docid": "doc_id",
    "rel": "relevance",
    "score": "score",
}
_CHECKED = 3  # rankings in which hits are looked for
_TOP_K = "ir_lexirecall.io.columns.top_k"


class Kind(Enum):
    """What a source is."""

    FILES = "files, whose rows belong together"
    ID = "the id of a data set"
    TABLE = "a frame, or columns by name"
    NESTED = "documents by query"


@dataclass(frozen=True, eq=False)
class Source:
    """What a user gave; it can be read twice.

    Attributes:
        kind: what it is.
        data: the files, the id, the table (a frame or ``Fields``), or the dict of dicts.
        name: the path that was given; empty of anything else.
    """

    kind: Kind
    data: Any
    name: str = ""

    @property
    def metadata(self) -> str:
        """The ir-metadata of a run that is a file; empty where there is none."""
        if self.kind is Kind.FILES:
            return self.data[0].metadata
        return ""


@dataclass(frozen=True, eq=False)
class Fields:
    """Rows as columns: their values by name."""

    columns: Mapping[str, list[Any]] = field(repr=False)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values()), ()))


def what_is(data: Any, schema: Schema, *, ids: bool = False) -> Source:
    """Return the user's argument in a form that can be read twice.

    Args:
        data: a path, a table, a dict of dicts, rows, or an object of another program that holds
            one of these; or a ``Source``, which is returned as it is.
        schema: what is to be read.
        ids: whether a text that names no file is the id of a data set.

    Raises:
        ValueError: there is no such file, or the object cannot be read.

    >>> from ir_lexirecall.io.schemas import RUN
    >>> what_is({"q": [("a", 2.5), ("b", 1.5)]}, RUN)
    Source(kind=<Kind.NESTED: 'documents by query'>, data={'q': {'a': 2.5, 'b': 1.5}}, name='')
    """
    if isinstance(data, Source):
        return data
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        files = tuple(map(File.opened, named_files(path)))
        if files:
            return Source(Kind.FILES, files, path)
        if ids and isinstance(data, str):
            return Source(Kind.ID, path, path)
        return Source(
            Kind.FILES, (File.opened(path),), path
        )  # which says what is wrong
    table = unwrapped(data, schema)
    return Source(Kind.NESTED if isinstance(table, Mapping) else Kind.TABLE, table)


def unwrapped(data: Any, schema: Schema) -> Any:
    """Return the frame, the columns or the dict of dicts that an object of any program holds.

    >>> from ir_lexirecall.io.schemas import RUN
    >>> types = [("query_id", "U5"), ("doc_id", "U5"), ("score", "f4")]
    >>> unwrapped(np.array([("q", "a", 2.5)], dtype=types), RUN)
      query_id doc_id  score
    0        q      a    2.5
    """
    package = type(data).__module__.partition(".")[0]
    if package in _REFUSED and not hasattr(data, "_fields"):
        raise ValueError(
            f"{schema.what} of type {type(data).__name__}: {_REFUSED[package]}"
        )
    table = _table_of_package(data, package, schema)
    if table is not None:
        return table
    if isinstance(data, Mapping):
        if schema.what == "run":
            return _rankings_of_hits(data)
        return data
    if isinstance(data, Iterator) and hasattr(
        data, "read_all"
    ):  # a reader of Arrow's tables
        return data.read_all()
    is_frame = any(
        hasattr(data, name) for name in ("columns", "__arrow_c_stream__", "dtype")
    )
    if isinstance(data, Iterable) and not is_frame:
        return rows_as_columns(list(data), schema)
    return data


def _table_of_package(data: Any, package: str, schema: Schema) -> Any:
    """Return the table, or the dict of dicts, that an object of a program holds.

    None of an object that has no form of its own: it is read by what it can do.

    Raises:
        ValueError: a data set has splits, or an array has no names of columns.
    """
    match package:
        case "ranx":
            return data.to_dict()
        case "trectools":
            table = data.qrels_data if hasattr(data, "qrels_data") else data.run_data
            return table[[name for name in _TRECTOOLS if name in table]].rename(
                columns=_TRECTOOLS
            )
        case "datasets" if isinstance(data, Mapping):
            splits = ", ".join(map(repr, data))
            raise ValueError(
                f"{schema.what}: a {type(data).__name__} has splits ({splits}); give one of them"
            )
        case "datasets" if hasattr(data, "num_rows"):
            return data.with_format("arrow")[:]
        case "pyarrow" if hasattr(
            data, "to_table"
        ):  # a data set of files, or its scanner
            return data.to_table()
        case "numpy" if isinstance(data, np.ndarray):
            return _table_of_records(data, schema.what)
        case "polars" | "pandas":
            return data
    return None


def rows_as_columns(rows: list[Any], schema: Schema) -> Fields:
    """Return named tuples with the same fields, or dicts with the same keys, as columns.

    Raises:
        ValueError: a row is something else.
    """
    if not rows:
        return Fields({name: [] for name in schema.needed})
    if isinstance(rows[0], Mapping):
        return _dicts_as_columns(rows, schema)
    return _tuples_as_columns(rows, schema)


def _dicts_as_columns(rows: list[Any], schema: Schema) -> Fields:
    """Return dicts as columns; raise if one has other keys than the first."""
    keys = set(rows[0])
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping) or set(row) != keys:
            wanted = ", ".join(map(str, rows[0]))
            raise ValueError(
                f"{schema.what}: row {number} is {shown(row)}, not a dict with {wanted}"
            )
    return Fields({str(name): [row[name] for row in rows] for name in rows[0]})


def _tuples_as_columns(rows: list[Any], schema: Schema) -> Fields:
    """Return named tuples as columns; raise if one has other fields than the first."""
    names: Any = getattr(rows[0], "_fields", None)
    for kind in dict.fromkeys(map(type, rows)):
        if names is None or getattr(kind, "_fields", None) != names:
            odd = next(row for row in rows if type(row) is kind)
            fields = ", ".join(names or schema.needed)
            raise ValueError(
                f"{schema.what}: {shown(odd)} is not a named tuple with the fields {fields}"
            )
    return Fields(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def _table_of_records(data: NDArray[Any], what: str) -> pd.DataFrame:
    """Return a structured array as a table.

    Raises:
        ValueError: its columns have no names.
    """
    if data.dtype.names is None:
        kind = "a single column, without ids"
        if data.ndim != 1:
            kind = (
                f"an array of shape {data.shape}, without ids; for the k best documents of each "
                f"query, use {_TOP_K}"
            )
        raise ValueError(
            f"{what} of type {type(data).__name__} cannot be read: it is {kind}"
        )
    fields = {name: data[name].ravel() for name in data.dtype.names}
    for name, values in fields.items():
        if values.dtype.kind == "S":
            fields[name] = np.char.decode(values, "utf-8")
    return pd.DataFrame(fields)


def _rankings_of_hits(data: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return a run whose queries map to lists of hits as a dict of dicts; another one as it is."""
    first = None
    for first in islice(data.values(), _CHECKED):
        if not isinstance(first, Mapping):
            break
    if not isinstance(first, (list, tuple)) or None in map(_hit, first[:_CHECKED]):
        return data
    return {query_id: _ranking_of(query_id, hits) for query_id, hits in data.items()}


def _ranking_of(query_id: Any, hits: Any) -> Any:
    """Return the scores of a query's hits by document; what is not a list of hits stays.

    Raises:
        ValueError: a hit is not a document and its score, or a document occurs twice.
    """
    if not isinstance(hits, (list, tuple)):
        return hits
    ranking: dict[Any, Any] = {}
    for hit in hits:
        pair = _hit(hit)
        if pair is None:
            raise ValueError(
                f"run: query {shown(query_id)} has {shown(hit)} among its hits, not a document and "
                "its score"
            )
        doc_id, score = pair
        if doc_id in ranking:
            raise ValueError(
                f"run: document {shown(doc_id)} occurs twice for query {shown(query_id)}"
            )
        ranking[doc_id] = score
    return ranking


def _hit(hit: Any) -> tuple[Any, Any] | None:
    """Return document and score of a hit of Pyserini's, or of a pair; None of anything else."""
    if hasattr(hit, "docid") and hasattr(hit, "score"):
        return hit.docid, hit.score
    if isinstance(hit, (tuple, list)) and len(hit) == 2:
        return (hit[0], hit[1])
    return None
