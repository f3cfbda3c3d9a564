"""Qrels and runs of any format as columns: the one place that knows formats of users.

A run or qrels may be a path, a pandas, Polars or Arrow table, a dict of dicts, an iterable of named
tuples or dicts (a generator too), or
what other programs hold: rankings of ranx, hits of Pyserini, data sets of Hugging Face. What comes
out is a Polars table with string ids and checked numbers; small ones become plain lists, without a
query engine.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import chain, islice, pairwise
from math import nan
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util import engine
from ir_lexirecall._util.arrays import Bools
from ir_lexirecall._util.errors import and_more, check_text, is_number, naming, shown, shown_names
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io import readers
from ir_lexirecall.io.cells import grade_of, id_of, number_of, number_or_text
from ir_lexirecall.io.files import STDIN, parts_of
from ir_lexirecall.io.names import (
    grades_may_be_scores,
    our_names,
    renaming,
)
from ir_lexirecall.io.schemas import QRELS, RUN, Schema

TableLike: TypeAlias = str | os.PathLike[str] | Mapping[Any, Mapping[Any, Any]] | Iterable[Any]
"""A path, a pandas, Polars or Arrow table, a dict of dicts, an iterable of named tuples or of dicts, or an object that holds
one of these (DuckDB, Hugging Face, ranx, trectools, Pyserini's hits)."""
_REFUSED = {
    "dask": "a Dask table is not computed yet; give its .compute()",
    "lenskit": "LensKit's lists are compared by lenskit_lexirecall.compare and measured by its metrics; or give their .to_df()",
    "pyspark": "a Spark table is evaluated where it is by spark_lexirecall.evaluate; or give its .toPandas()",
}
_TRECTOOLS = {"query": "query_id", "docid": "doc_id", "rel": "relevance", "score": "score"}
_CHECKED = 3  # rankings in which hits are looked for
_TOP_K = "ir_lexirecall.io.columns.top_k"
_FEW_ROWS = 4096  # of a table that is read without a query engine
RISING = "scores rise with the run's own ranks, so that what it ranks first comes last (negate scores of which the smaller is better)"
"""What to say of a run of which ``scores_rise_with_ranks`` is true."""
_LOOKS = {  # by what was read, the column that it lacks, and whether there are grades and scores
    ("score", "score", True, False): "; this looks like qrels, not a run",
    ("relevance", "relevance", False, True): "; this looks like a run, not qrels",
}


def is_file(source: Any) -> bool:
    """Whether a text or path is that of something to read (a file, a pattern of files, a folder of Parquet, a pipe, ``-``), not a data set's id.

    >>> is_file("lexirecall/demo"), is_file("-")
    (False, True)
    """
    if not isinstance(source, (str, os.PathLike)):
        return False
    return (
        source == STDIN
        or bool(parts_of(source))
        or (os.path.exists(source) and not os.path.isdir(source))
    )


def run_table(run: TableLike, first_row: int = 1) -> pl.DataFrame:
    """Return any run as columns ``query_id``, ``doc_id`` (strings) and ``score`` (float64, finite), in input order.

    Args:
        run: the run, or a part of a larger one.
        first_row: the number of its first row.
    """
    table = _table(run, RUN, readers.read_run)
    columns = {name: _ids(table[name], "run", first_row) for name in ("query_id", "doc_id")}
    if "score" in table:
        return pl.DataFrame({**columns, "score": _numbers(table["score"], "run", columns)})
    ranks = _numbers(table["rank"], "run", columns).to_numpy()
    return pl.DataFrame({**columns, "score": -ranks})


def scores_rise_with_ranks(run: Any) -> bool:
    """Return whether scores in a run's first rows rise with the ranks beside them, as costs do.

    At least nine in ten steps to the next rank must rise; a run without ranks has none.

    >>> rows = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "rank": [1, 2], "score": [0.1, 0.7]}
    >>> scores_rise_with_ranks(pl.DataFrame(rows)), scores_rise_with_ranks(pl.DataFrame(rows | {"rank": [2, 1]}))
    (True, False)
    """
    rises = steps = 0
    numbers = (
        (query, number_or_text(rank), number_or_text(score))
        for query, rank, score in _ranked_scores(run)
    )
    for (query, rank, score), (next_query, next_rank, next_score) in pairwise(numbers):
        if query != next_query or None in (rank, score, next_rank, next_score):
            continue
        step = (next_rank - rank) * (next_score - score)  # type: ignore[operator]
        rises += step > 0
        steps += step != 0
    return steps > 0 and rises >= 0.9 * steps


def _ranked_scores(run: Any) -> list[tuple[Any, Any, Any]]:
    """Return query, rank and score of a run's first rows; none if it has no ranks beside its scores."""
    if isinstance(run, (str, os.PathLike)):
        return readers.first_ranks(os.fspath(run))
    if not isinstance(run, pl.DataFrame) and not hasattr(run, "itertuples"):
        return []
    columns = [*map(str, run.columns)]
    names = dict(zip(our_names(columns), columns, strict=True))
    if not set(readers.RANKED_SCORES) <= names.keys() or len(names) != len(columns):
        return []
    first = run.head(readers.LOOKED_AT)
    return [*zip(*(first[names[name]].to_list() for name in readers.RANKED_SCORES), strict=True)]


def qrel_columns(qrels: TableLike) -> dict[str, pl.Series]:
    """Return any qrels as columns ``query_id``, ``doc_id`` (strings), ``relevance`` (float64) and further ones, unchecked."""
    table = _table(qrels, QRELS, readers.read_qrels)
    columns = {name: _ids(table[name], "qrels") for name in ("query_id", "doc_id")}
    grades = _numbers(table["relevance"], "qrels", columns, grade_of)
    return {**table, **columns, "relevance": grades}


def qrel_table(qrels: TableLike) -> pl.DataFrame:
    """Return any qrels as a table, see ``qrel_columns``."""
    return pl.DataFrame(qrel_columns(qrels))


def id_pairs(data: TableLike, what: str) -> list[tuple[str, str]]:
    """Return the ids of every row of a table with the columns ``query_id`` and ``doc_id``."""
    schema = Schema(what, ("query_id", "doc_id"), frozenset())
    table = _table(readable(data, what), schema, readers.read_run)
    columns = [_ids(table[name], what).to_list() for name in ("query_id", "doc_id")]
    return list(zip(*columns, strict=True))


def _table(data: Any, schema: Schema, read_path: Any) -> dict[str, pl.Series]:
    """Return the columns that the schema needs, and further ones if it keeps them; their values are unchecked.

    A run that has ranks and no scores gives its ranks.

    Raises:
        ValueError: the data cannot be read, or lacks a needed column or has it twice.
    """
    if isinstance(data, (str, os.PathLike)):
        data = read_path(os.fspath(data))
    columns = _columns_of(data, schema)
    names = [check_text(name, f"{schema.what}: names of columns") for name, _ in columns]
    renamed = _renamed(names, columns, schema)
    needed = schema.needed
    if schema.what == "run" and "score" not in renamed and "rank" in renamed:
        needed = tuple("rank" if name == "score" else name for name in needed)
    kept = set(renamed if schema.further else needed)
    _check_columns(names, renamed, needed, kept, schema)
    pairs = zip(renamed, columns, strict=True)
    return {name: _series(name, values) for name, (_, values) in pairs if name in kept}


def _columns_of(data: Any, schema: Schema) -> list[tuple[str, Any]]:
    """Return the names and values of the columns of a table, a dict of dicts or rows.

    Raises:
        ValueError: the data is none of these.
    """
    if isinstance(data, pl.LazyFrame) and engine.computes():
        data = data.collect()
    columns: Iterable[tuple[str, Any]] | None = None
    if isinstance(data, pl.DataFrame):
        columns = data.to_dict().items()
    elif isinstance(data, Mapping):
        columns = _columns_of_dicts(with_string_keys(data, schema.what), schema)
    elif hasattr(data, "itertuples"):
        columns = [(str(label), data.iloc[:, i]) for i, label in enumerate(data.columns)]
    elif hasattr(data, "__arrow_c_stream__") and not hasattr(data, "dtype"):
        columns = _columns_of_arrow(data)
    elif isinstance(data, Iterable) and not hasattr(data, "dtype"):
        columns = _fields(data, schema.what, schema.needed).items()
    if columns is None:
        raise ValueError(_not_a_table(data, schema))
    return list(columns)


def _columns_of_dicts(
    nested: Mapping[str, Mapping[str, Any]], schema: Schema
) -> list[tuple[str, list[Any]]]:
    """Return the columns of ``{query: {document: number}}``."""
    query_ids = chain.from_iterable([query_id] * len(docs) for query_id, docs in nested.items())
    return [
        ("query_id", list(query_ids)),
        ("doc_id", list(chain.from_iterable(nested.values()))),
        (schema.needed[-1], list(chain.from_iterable(docs.values() for docs in nested.values()))),
    ]


def _columns_of_arrow(data: Any) -> list[tuple[str, Any]] | None:
    """Return the columns of what speaks Arrow's interface; None if it cannot be read."""
    if engine.computes():
        with contextlib.suppress(TypeError, ValueError, pl.exceptions.PolarsError):
            return list(pl.DataFrame(data).to_dict().items())
    elif hasattr(data, "column_names"):
        return [(name, data.column(name).to_pylist()) for name in data.column_names]
    return None


def _not_a_table(data: Any, schema: Schema) -> str:
    """Return what to say of data that is not a table."""
    is_column = hasattr(data, "dtype") and getattr(data, "ndim", 1) == 1
    kind = f"{type(data).__name__}{', a single column,' if is_column else ''}"
    where = "" if engine.computes() else f" {engine.where()}"
    return (
        f"{schema.what} of type {kind} cannot be read{where}: give a path, a DataFrame with columns "
        f"{', '.join(schema.needed)}, a dict of dicts, or an iterable of named tuples"
    )


def _renamed(names: Sequence[str], columns: Sequence[tuple[str, Any]], schema: Schema) -> list[str]:
    """Return our names of columns that the schema needs; the others keep theirs."""
    renamed = [
        ours if ours in schema.needed else name
        for name, ours in zip(names, our_names(names), strict=True)
    ]
    if "relevance" not in schema.needed or not grades_may_be_scores(names):
        return renamed
    scores = next(values for name, values in columns if name == "score")
    if _are_whole(_series("score", scores)):  # with fractions among the scores, it is a run
        return ["relevance" if name == "score" else name for name in renamed]
    return renamed


def _are_whole(numbers: pl.Series) -> bool:
    """Return whether all are whole numbers."""
    if not numbers.dtype.is_float():
        return numbers.dtype.is_integer()
    values = numbers.to_numpy()
    return bool((values == values.round()).all())


def _check_columns(
    names: Sequence[str],
    renamed: Sequence[str],
    needed: Sequence[str],
    kept: set[str],
    schema: Schema,
) -> None:
    """Raise if a kept column occurs twice, or a needed one is missing."""
    counts = Counter(names)
    ours = dict(zip(names, renamed, strict=True))
    twice = [name for name, count in counts.items() if count > 1 and ours[name] in kept]
    if twice:
        raise ValueError(
            f"{schema.what}: the column {twice[0]!r} occurs twice{and_more(len(twice) - 1)}; keep one"
        )
    missing = [name for name in needed if name not in renamed]
    if missing:
        has_grades = "relevance" in names or "label" in names
        look = _LOOKS.get((needed[-1], missing[-1], has_grades, "score" in names), "")
        raise ValueError(
            f"{schema.what} lacks the column {missing[0]!r}: it has {shown_names(names)}"
            f"{renaming(names) or look}"
        )


def _fields(items: Iterable[Any], what: str, needed: tuple[str, ...]) -> dict[str, list[Any]]:
    """Return the columns of an iterable of named tuples, or of dicts."""
    rows = list(items)
    if not rows:
        return {name: [] for name in needed}
    if isinstance(rows[0], Mapping):
        return _columns_of_row_dicts(rows, what)
    return _columns_of_named_tuples(rows, what, needed)


def _columns_of_row_dicts(rows: list[Any], what: str) -> dict[str, list[Any]]:
    """Return the columns of dicts with the same keys.

    Raises:
        ValueError: a row is not a dict, or has other keys than the first one.
    """
    keys = set(rows[0])
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping) or set(row) != keys:
            wanted = ", ".join(map(str, rows[0]))
            raise ValueError(f"{what}: row {number} is {shown(row)}, not a dict with {wanted}")
    return {str(name): [row[name] for row in rows] for name in rows[0]}


def _columns_of_named_tuples(
    rows: list[Any], what: str, needed: tuple[str, ...]
) -> dict[str, list[Any]]:
    """Return the columns of named tuples with the same fields.

    Raises:
        ValueError: a row is not a named tuple, or has other fields than the first one.
    """
    names = getattr(rows[0], "_fields", None)
    kinds = set(map(type, rows))
    if names is None or any(getattr(kind, "_fields", None) != names for kind in kinds):
        odd = [row for row in rows if names is None or getattr(row, "_fields", None) != names]
        fields = ", ".join(names or needed)
        raise ValueError(f"{what}: {shown(odd[0])} is not a named tuple with the fields {fields}")
    return {name: list(map(itemgetter(i), rows)) for i, name in enumerate(names)}


def _series(name: str, values: Any) -> pl.Series:
    """A list, or a column, as a Polars one; ``Object`` where its values are of several types."""
    if isinstance(values, pl.Series):
        return values.alias(name)
    if hasattr(values, "to_numpy"):
        dtype = getattr(values, "dtype", None)
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
            # Polars knows no floats of 16 or 128 bits, nor numbers of another machine's order of
            # bytes.
            odd = dtype.kind == "f" and dtype.itemsize not in (4, 8)
            return pl.Series(
                name, values.to_numpy().astype("f8" if odd else dtype.newbyteorder("="), copy=False)
            )
        if not isinstance(dtype, np.dtype) or dtype.kind != "O":
            # Without PyArrow to translate with, or of an extension type that it does not know, they
            # are objects.
            with contextlib.suppress(ImportError, TypeError, ValueError, pl.exceptions.PolarsError):
                return pl.Series(name, values)
        values = values.to_numpy(dtype=object)
        try:
            return pl.Series(name, values, dtype=pl.String, strict=True)
        except (TypeError, UnicodeEncodeError, pl.exceptions.PolarsError):
            values = values.tolist()
    if isinstance(
        next(iter(values), None), Decimal
    ):  # Polars panics at decimals that are no number
        return pl.Series(name, values, dtype=pl.Object)
    try:
        series = pl.Series(name, values, strict=True)
        if series.dtype.is_numeric() and not {bool, np.bool_}.isdisjoint(map(type, values)):
            return pl.Series(
                name, values, dtype=pl.Object
            )  # Polars takes True for 1 after a number
        return series
    except (
        TypeError,
        OverflowError,
        UnicodeEncodeError,
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
    ):
        return pl.Series(name, values, dtype=pl.Object)


def _ids(values: pl.Series, what: str, first_row: int = 1) -> pl.Series:
    """Ids as strings: strings stay, integers become decimal strings, everything else is refused."""
    if not values.null_count():
        if values.dtype == pl.String:
            return values
        if values.dtype.is_integer():
            new = changes(values)
            if 4 * np.count_nonzero(new) > len(values):
                return values.cast(pl.String)
            # Where ids repeat, as queries do, each stretch is printed once.
            return values.filter(pl.Series(new)).cast(pl.String)[np.cumsum(new) - 1]
        if values.dtype in (pl.Categorical, pl.Enum):
            return values.cast(pl.String)
    texts = []
    for row, value in enumerate(values.to_list(), start=first_row):
        try:
            texts.append(id_of(value))
        except ValueError as error:
            raise ValueError(f"{what}: row {row} has no usable {values.name}: {error}") from None
    return pl.Series(values.name, texts, dtype=pl.String)


def _numbers(
    values: pl.Series,
    what: str,
    ids: Mapping[str, pl.Series],
    parse: Callable[[Any], float | None] = number_of,
) -> pl.Series:
    """Return scores or grades as float64.

    Raises:
        ValueError: a value is not a finite number.
    """
    name, column = values.name, values
    if not values.dtype.is_numeric():
        column = pl.Series(name, [parse(value) for value in values.to_list()], dtype=pl.Float64)
    column = column.cast(pl.Float64)
    bad = ~np.isfinite(column.to_numpy())
    if bad.any():
        first = int(bad.argmax())
        raise ValueError(
            f"{what}: the {name} of document {ids['doc_id'][first]!r} for query "
            f"{ids['query_id'][first]!r} is {shown(values[first])}, not a finite number"
            f"{and_more(int(bad.sum()) - 1)}"
        )
    return column


def changes(values: Any) -> Bools:
    """Which values differ from the one before; the first one does.

    >>> changes(pl.Series(["a", "a", "b"])).tolist()
    [True, False, True]
    """
    new = np.ones(len(values), dtype=bool)
    new[1:] = np.asarray(values[1:] != values[:-1])
    return new


# -- what other programs hold --------------------------------------------------------------------------------------


def readable(data: Any, what: str) -> Any:
    """Return a run or qrels as a path, a table, a dict of dicts or rows: as it is, or what it holds.

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
    if package in _UNWRAPPED:
        return _UNWRAPPED[package](data, what)
    if package in _REFUSED and not hasattr(data, "_fields"):
        raise ValueError(f"{what} of type {type(data).__name__}: {_REFUSED[package]}")
    if isinstance(data, np.ndarray):
        return _table_of_records(data, what)
    if what == "run" and isinstance(data, Mapping) and _has_hits(data):
        return {query_id: _ranking_of(query_id, hits) for query_id, hits in data.items()}
    return data


def _of_ranx(data: Any, what: str) -> Any:
    return data.to_dict()


def _of_trectools(data: Any, what: str) -> Any:
    """Return the table of trectools' qrels or run, with our names of columns."""
    table = data.qrels_data if hasattr(data, "qrels_data") else data.run_data
    return table[[name for name in _TRECTOOLS if name in table]].rename(columns=_TRECTOOLS)


def _of_datasets(data: Any, what: str) -> Any:
    """Return the table of a data set of Hugging Face.

    Raises:
        ValueError: it has several splits.
    """
    if isinstance(data, Mapping):  # a DatasetDict
        splits = ", ".join(map(repr, data))
        raise ValueError(f"{what}: a {type(data).__name__} has splits ({splits}); give one of them")
    return data.with_format("arrow")[:] if hasattr(data, "num_rows") else data


def _of_pyarrow(data: Any, what: str) -> Any:
    """Return a table, or that of a data set of files or of its scanner."""
    return data.to_table() if hasattr(data, "to_table") else data


_UNWRAPPED: dict[str, Callable[[Any, str], Any]] = {
    "ranx": _of_ranx,
    "trectools": _of_trectools,
    "datasets": _of_datasets,
    "pyarrow": _of_pyarrow,
}
"""How to get the table out of what other programs hold, by package."""


def _table_of_records(data: NDArray[Any], what: str) -> pd.DataFrame:
    """Return a structured array as a table.

    Raises:
        ValueError: its columns have no names.
    """
    if data.dtype.names is None:
        kind = "a single column, without ids"
        if data.ndim != 1:
            kind = f"an array of shape {data.shape}, without ids; for the k best documents of each query, use {_TOP_K}"
        raise ValueError(f"{what} of type {type(data).__name__} cannot be read: it is {kind}")
    fields = {name: data[name].ravel() for name in data.dtype.names}
    for name, values in fields.items():
        if values.dtype.kind == "S":
            fields[name] = np.char.decode(values, "utf-8")
    return pd.DataFrame(fields)


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
                f"run: query {shown(query_id)} has {shown(hit)} among its hits, not a document and its score"
            )
        doc_id, score = pair
        if doc_id in ranking:
            raise ValueError(
                f"run: document {shown(doc_id)} occurs twice for query {shown(query_id)}"
            )
        ranking[doc_id] = score
    return ranking


def _has_hits(data: Any) -> bool:
    """Whether queries map to lists: of hits with ``docid`` and ``score``, or of pairs of both."""
    if not isinstance(data, Mapping):
        return False
    first = next(
        (hits for hits in islice(data.values(), _CHECKED) if not isinstance(hits, Mapping)), None
    )
    return isinstance(first, (list, tuple)) and all(
        _hit(hit) is not None for hit in first[:_CHECKED]
    )


def _hit(hit: Any) -> tuple[Any, Any] | None:
    """Document and score of a hit of Pyserini's, or of a pair; None of anything else."""
    if hasattr(hit, "docid") and hasattr(hit, "score"):
        return hit.docid, hit.score
    return (hit[0], hit[1]) if isinstance(hit, (tuple, list)) and len(hit) == 2 else None


def top_k(
    query_ids: Sequence[Any], documents: Any, scores: Any, *, names: Sequence[Any] | None = None
) -> pd.DataFrame:
    """The run of a search that gave arrays: for each query its k best documents, and their scores.

    Args:
        query_ids: the ids of the Q queries.
        documents: ids of documents, shape ``(Q, k)``; or with ``names`` their places, where a
            negative one is none (as FAISS fills short lists).
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
        raise ValueError(
            f"top_k: with names, documents must be places below their number, {len(names)}"
        )
    kept = docs >= 0 if places else np.ones(docs.shape, dtype=bool)
    found = docs[kept] if names is None else np.asarray(names)[docs[kept]]
    queries = np.repeat(np.asarray(query_ids), kept.sum(axis=1))
    return pd.DataFrame({"query_id": queries, "doc_id": found, "score": values[kept]})


# -- small ones as plain lists ------------------------------------------------------------------------------------


def with_string_keys(
    outer: Mapping[Any, Mapping[Any, Any]], what: str
) -> Mapping[str, Mapping[str, Any]]:
    """The same dict of dicts if all ids are strings already, else a copy with integer ids as decimal strings."""
    for query_id, docs in outer.items():
        if not isinstance(docs, Mapping):
            hint = (
                " (several runs by name are for compare)"
                if what == "run" and not is_number(docs)
                else ""
            )
            raise ValueError(
                f"{what}: query {shown(query_id)} maps to {shown(docs)}, not to a dict of documents{hint}"
            )
    try:
        for keys in (outer, *outer.values()):
            text = "".join(keys)  # the quickest way to learn that all are strings
            if not text.isascii():
                text.encode("utf-8")
        return outer
    except (TypeError, UnicodeEncodeError):
        pass
    with naming(what):
        copy = {
            id_of(q): {id_of(d): value for d, value in docs.items()} for q, docs in outer.items()
        }
    if len(copy) < len(outer) or any(
        len(a) < len(b) for a, b in zip(copy.values(), outer.values(), strict=True)
    ):
        raise ValueError(f"{what}: an id occurs as a string and as an integer; use one of the two")
    return copy


def nested_dicts(
    data: TableLike, what: str, needed: tuple[str, str, str]
) -> Mapping[str, Mapping[str, Any]] | None:
    """A dict of dicts with strings as keys, of a dict of dicts or of a small plain table; None for any other input.

    A table is plain if it has no other columns, ids that are all strings or all integers, and no
    row twice. So small inputs need no query engine, whose start would take longer than their
    evaluation; whatever is odd is left to the general way, which names the offender.
    """
    if isinstance(data, Mapping):
        return with_string_keys(data, what)
    columns = few_columns(data, needed)
    if columns is None:
        return None
    nested: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for query_id, doc_id, number in zip(*(columns[name] for name in needed), strict=True):
        nested[query_id][doc_id] = number
    return dict(nested) if sum(map(len, nested.values())) == len(columns[needed[1]]) else None


def few_columns(
    data: Any, needed: tuple[str, str, str], texts: tuple[str, ...] = ()
) -> dict[str, list[Any]] | None:
    """Return the columns of a small table or of few named tuples: those that are needed, and all ``texts``.

    None for anything larger, or not plain: with other columns, ids that are neither all strings nor
    all integers, or texts that are no strings.
    """
    small = _names_and_lists(data)
    if small is None:
        return None
    names, lists = small
    if needed[2] == "relevance" and not texts and _are_qrels_of_ir_measures(names, lists):
        names, lists = names[:3], lists[:3]
    wanted = {*needed, *texts}
    renamed = our_names(names)
    if len(renamed) != len(wanted) or set(renamed) != wanted:
        return None
    columns = dict(zip(renamed, lists or [data[name].tolist() for name in names], strict=True))
    for name in (*needed[:2], *texts):
        ids = _plain_ids(columns[name], integers=name not in texts)
        if ids is None:
            return None
        columns[name] = ids
    return columns


def _names_and_lists(data: Any) -> tuple[tuple[Any, ...], list[list[Any]]] | None:
    """Return the names of columns and, of named tuples, their values; None if it is large or something else."""
    kinds = set(map(type, data)) if isinstance(data, list) and len(data) <= _FEW_ROWS else set()
    if len(kinds) == 1 and hasattr(data[0], "_fields"):
        return data[0]._fields, list(map(list, zip(*data, strict=True)))
    if hasattr(data, "itertuples") and len(data) <= _FEW_ROWS:
        return tuple(data.columns), []
    return None


def _are_qrels_of_ir_measures(names: tuple[Any, ...], lists: list[list[Any]]) -> bool:
    """Return whether these are columns of ``ir_measures.Qrel`` whose iteration says nothing."""
    return bool(lists) and names[3:] == ("iteration",) and set(lists[3]) == {"0"}


def _plain_ids(values: list[Any], *, integers: bool) -> list[str] | None:
    """Return ids as texts; None unless all are texts in ASCII, or all integers where these may be ids."""
    kinds = set(map(type, values))
    if kinds == {int} and integers:
        return list(map(str, values))
    return values if kinds == {str} and "".join(values).isascii() else None


def packed_numbers(rows: Iterable[Sequence[Any]]) -> NDArray[np.float64] | None:
    """All numbers of several sequences, one after the other, as float64, NaN where there is none; None where one is too large.

    Sequences that are made on the way are checked and packed while the processor's cache still has
    them.
    """
    packed = []
    for row in rows:
        kinds = list(map(type, row))
        if kinds.count(float) < len(row) and not set(kinds) <= {float, int}:
            row = [nan if (number := number_of(value)) is None else number for value in row]
        try:
            packed.append(struct.pack(f"{len(row)}d", *row))
        except (OverflowError, struct.error):
            return None
    return np.frombuffer(b"".join(packed))
