"""Qrels and runs of any format as columns: the one place that knows formats of users.

A run or qrels may be a path, a pandas, Polars or Arrow table, a dict of dicts, or an iterable of named tuples
(a generator too); what comes out is a Polars table with string ids and checked numbers.
"""

from __future__ import annotations

import math
import numbers
import os
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall import engine, readers
from ir_lexirecall.arrays import Bools, Ints
from ir_lexirecall.errors import and_more, check_text, is_number, naming, shown, shown_names
from ir_lexirecall.files import STDIN
from ir_lexirecall.lazy import LazyModule

if TYPE_CHECKING:
    import polars as pl
else:
    pl = LazyModule("polars")

TableLike: TypeAlias = str | os.PathLike[str] | Mapping[Any, Mapping[Any, Any]] | Iterable[Any]
"""A path, a pandas, Polars or Arrow table, a dict of dicts, or an iterable of named tuples."""

RUN_COLUMNS = ("query_id", "doc_id", "score")
QREL_COLUMNS = ("query_id", "doc_id", "relevance")


def is_file(source: Any) -> bool:
    """Whether a text or path is that of something to read (a file, a pipe, ``-``); otherwise it may be a data set's id.

    >>> is_file("lexirecall/demo"), is_file("-")
    (False, True)
    """
    if not isinstance(source, (str, os.PathLike)):
        return False
    return source == STDIN or (os.path.exists(source) and not os.path.isdir(source))


def run_table(run: TableLike, first_row: int = 1) -> pl.DataFrame:
    """Any run as columns ``query_id``, ``doc_id`` (strings) and ``score`` (float64, no NaN), in input order.

    ``first_row`` is the number of its first row, where it is a part of a larger one.

    Raises:
        ValueError: a column or id is missing, or a score is missing, not a number, or NaN.
    """
    table = _table(run, "run", RUN_COLUMNS, readers.read_run)
    columns = {name: _ids(table[name], "run", first_row) for name in ("query_id", "doc_id")}
    score = _numbers(table["score"], "score", "run", columns)
    return pl.DataFrame({**columns, "score": score})


def qrel_columns(qrels: TableLike) -> dict[str, pl.Series]:
    """Any qrels as columns ``query_id``, ``doc_id`` (strings), ``relevance`` (float64) and whatever else there is, unchecked.

    Raises:
        ValueError: a column or id is missing, or a grade is missing or not a finite number.
    """
    table = _table(qrels, "qrels", QREL_COLUMNS, readers.read_qrels, everything=True)
    columns = {name: _ids(table[name], "qrels") for name in ("query_id", "doc_id")}
    grade = _numbers(table["relevance"], "relevance", "qrels", columns)
    infinite = np.isinf(grade.to_numpy())
    if infinite.any():
        _refuse_number(table["relevance"], infinite, "relevance", "qrels", columns)
    others = {name: values for name, values in table.items() if name not in QREL_COLUMNS}
    return {**columns, "relevance": grade, **others}


def qrel_table(qrels: TableLike) -> pl.DataFrame:
    """``qrel_columns`` as a table."""
    return pl.DataFrame(qrel_columns(qrels))


_MISSING = ("None", "nan", "<NA>", "NaT")  # how the missing values of Python, NumPy and pandas print


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer of more than 1,000 bits
        return math.inf if value > 0 else -math.inf


def numeric_column(
    values: pl.Series, row: Ints, name: str, ids: Callable[[int], tuple[str, str]]
) -> NDArray[np.float64]:
    """Some rows of a further column of qrels as float64, missing values as NaN.

    Args:
        values: the column; row: the rows that are wanted.
        name: its name.
        ids: query and document of the n-th of these rows.

    Raises:
        ValueError: a value is there but not a number.
    """
    if values.dtype == pl.Null:
        return np.full(len(row), np.nan)
    if values.dtype.is_float() or values.dtype.is_integer():
        return values.cast(pl.Float64).to_numpy()[row]
    items = values.to_list()
    picked = [items[i] for i in row.tolist()]
    bad = [n for n, value in enumerate(picked) if not is_number(value) and not _is_missing(value)]
    if bad:
        query_id, doc_id = ids(bad[0])
        raise ValueError(
            f"qrels: the {name} of document {doc_id!r} for query {query_id!r} is {shown(picked[bad[0]])}, not a finite number"
            f"{and_more(len(bad) - 1)}"
        )
    return np.array([_as_float(value) if is_number(value) else np.nan for value in picked], dtype=np.float64)


def _is_missing(value: Any) -> bool:
    return value is None or (not isinstance(value, str) and str(value) in _MISSING)


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


_FEW_ROWS = 4096  # of a table that is read without a query engine


def id_pairs(data: TableLike, what: str) -> list[tuple[str, str]]:
    """The ids of every row of a table with the columns ``query_id`` and ``doc_id``."""
    table = _table(data, what, ("query_id", "doc_id"), readers.read_run)
    columns = [_ids(table[name], what).to_list() for name in ("query_id", "doc_id")]
    return list(zip(*columns, strict=True))


def nested_dicts(data: TableLike, what: str, needed: tuple[str, str, str]) -> Mapping[str, Mapping[str, Any]] | None:
    """A dict of dicts with strings as keys, of a dict of dicts or of a small plain table; None of anything else.

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

    None of anything larger, or not plain: with other columns, ids that are neither all strings nor all integers, or texts that
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
    renamed = [_OUR_NAMES.get(name, name) if name not in wanted else name for name in names]
    if len(renamed) != len(wanted) or set(renamed) != wanted:
        return None
    columns = dict(zip(renamed, lists or [data[name].tolist() for name in names], strict=True))
    for name in (*needed[:2], *texts):
        plain = _plain_ids(columns[name], integers=name not in texts)
        if plain is None:
            return None
        columns[name] = plain
    return columns


def _plain_ids(column: list[Any], integers: bool) -> list[str] | None:
    """Ids as strings, if they are all strings (or all integers, where they may be)."""
    kinds = set(map(type, column))
    if kinds == {str}:
        return column if "".join(column).isascii() else None
    return list(map(str, column)) if integers and kinds == {int} else None


def packed_numbers(rows: Iterable[Sequence[Any]]) -> NDArray[np.float64] | None:
    """All numbers of several sequences, one after the other, as float64; None where one is no number.

    Sequences that are made on the way are checked and packed while the processor's cache still has them.
    """
    packed = []
    for row in rows:
        kinds = list(map(type, row))
        if kinds.count(float) < len(row) and not set(kinds) <= {float, int} and not all(map(is_number, row)):
            return None
        try:
            packed.append(struct.pack(f"{len(row)}d", *row))
        except (struct.error, OverflowError):
            return None
    return np.frombuffer(b"".join(packed))


def rows_of_dicts(outer: Mapping[Any, Mapping[Any, Any]], value: str) -> dict[str, list[Any]]:
    """A dict of dicts as columns."""
    return {
        "query_id": list(chain.from_iterable([q] * len(docs) for q, docs in outer.items())),
        "doc_id": list(chain.from_iterable(outer.values())),
        value: list(chain.from_iterable(docs.values() for docs in outer.values())),
    }


def _table(
    data: Any, what: str, needed: tuple[str, ...], read_path: Any, *, everything: bool = False
) -> dict[str, pl.Series]:
    """``data`` as a table whose values are still unchecked: the columns that are needed, or ``everything`` that it has."""
    table: dict[str, pl.Series]
    if isinstance(data, (str, os.PathLike)):
        table = _columns(read_path(os.fspath(data)))
    elif isinstance(data, Mapping):
        table = _series(rows_of_dicts(with_string_keys(data, what), needed[-1]), what)
    elif isinstance(data, pl.DataFrame):
        table = _columns(data)
    elif isinstance(data, pl.LazyFrame):
        if not engine.computes():
            raise ValueError(f"{what}: a LazyFrame cannot be collected {engine.where()}; collect it before")
        table = _columns(data.collect())
    elif hasattr(data, "itertuples"):
        table = _series(_pandas_columns(data, what, needed, everything), what)
    elif hasattr(data, "__arrow_c_stream__") and not hasattr(data, "dtype"):
        table = _arrow_columns(data, what, needed)
    elif isinstance(data, Iterable) and not hasattr(data, "dtype"):
        table = _series(_fields(data, what, needed), what)
    else:
        raise _unreadable(data, what, needed)
    names = list(table)
    table = _with_our_names(table, needed)
    if missing := [name for name in needed if name not in table]:
        hint = _LOOKS.get((needed[-1], missing[-1], "relevance" in names or "label" in names, "score" in names), "")
        raise ValueError(f"{what} lacks the column {missing[0]!r}: it has {shown_names(names)}{hint}")
    return table


_LOOKS = {  # by what was read, the column that it lacks, and whether there are grades and scores
    ("score", "score", True, False): "; this looks like qrels, not a run",
    ("relevance", "relevance", False, True): "; this looks like a run, not qrels",
}


def _unreadable(data: Any, what: str, needed: tuple[str, ...]) -> ValueError:
    kind = type(data).__name__
    one_column = ", a single column," if hasattr(data, "dtype") and getattr(data, "ndim", 1) == 1 else ""
    return ValueError(
        f"{what} of type {kind}{one_column} cannot be read: give a path, a DataFrame with columns {', '.join(needed)}, a dict "
        "of dicts, or an iterable of named tuples"
    )


def _pandas_columns(table: Any, what: str, needed: tuple[str, ...], everything: bool) -> dict[str, Any]:
    """The columns of a pandas table by the texts of their labels: those that are needed, under either name, or all."""
    names = [check_text(str(label), f"{what}: names of columns") for label in table.columns]
    theirs = [_PYTERRIER_NAMES.get(name, name) for name in needed]
    lacks_one = any(ours not in names and other not in names for ours, other in zip(needed, theirs, strict=True))
    wanted = set(names) if everything or lacks_one else {*needed, *theirs}
    twice = [name for name, count in Counter(names).items() if count > 1 and name in wanted]
    if twice:
        raise ValueError(f"{what}: the column {twice[0]!r} occurs twice{and_more(len(twice) - 1)}; keep one")
    return {name: table.iloc[:, place] for place, name in enumerate(names) if name in wanted}


def _arrow_columns(data: Any, what: str, needed: tuple[str, ...]) -> dict[str, pl.Series]:
    """The columns of what hands over Arrow tables."""
    if engine.computes():
        try:
            return _columns(pl.DataFrame(data))
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            raise _unreadable(data, what, needed) from None
    if not hasattr(data, "column_names"):
        raise ValueError(f"{what}: a {type(data).__name__} cannot be read {engine.where()}; give a pandas DataFrame")
    return _series({name: data.column(name).to_pylist() for name in data.column_names}, what)


_PYTERRIER_NAMES = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
_OUR_NAMES = {theirs: ours for ours, theirs in _PYTERRIER_NAMES.items()}


def _with_our_names(table: dict[str, pl.Series], needed: tuple[str, ...]) -> dict[str, pl.Series]:
    """A table of PyTerrier's (``qid``, ``docno``, ``label``) with ir_measures' names for its columns."""
    theirs = {_PYTERRIER_NAMES[name]: name for name in needed if name not in table and name in _PYTERRIER_NAMES}
    if theirs.keys().isdisjoint(table):
        return table
    return {theirs.get(name, name): values.alias(theirs.get(name, name)) for name, values in table.items()}


def _columns(table: pl.DataFrame) -> dict[str, pl.Series]:
    return {series.name: series for series in table}


def _fields(items: Iterable[Any], what: str, needed: tuple[str, ...]) -> dict[str, list[Any]]:
    """The columns of an iterable of named tuples."""
    rows = list(items)
    if not rows:
        return {name: [] for name in needed}
    names = getattr(rows[0], "_fields", None)
    if names is None or any(getattr(kind, "_fields", None) != names for kind in set(map(type, rows))):
        odd = next(row for row in rows if names is None or getattr(row, "_fields", None) != names)
        raise ValueError(f"{what}: {shown(odd)} is not a named tuple with the fields {', '.join(names or needed)}")
    return {name: list(map(itemgetter(i), rows)) for i, name in enumerate(names)}


def _series(columns: Mapping[str, Any], what: str) -> dict[str, pl.Series]:
    return {
        check_text(name, f"{what}: names of columns"): _one_series(name, values) for name, values in columns.items()
    }


def _one_series(name: str, values: Any) -> pl.Series:
    """A list, or a pandas column, as a Polars one; ``Object`` where its values are of several types."""
    if hasattr(values, "to_numpy"):
        dtype = getattr(values, "dtype", None)
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
            return pl.Series(name, _plain_array(values.to_numpy()))
        try:
            if not (isinstance(dtype, np.dtype) and dtype.kind == "O"):
                arrow = getattr(values.array, "__arrow_array__", None)  # strings come over without a copy
                return pl.Series(name, values if arrow is None else arrow())
        except (ImportError, TypeError, ValueError, pl.exceptions.PolarsError):
            pass  # no PyArrow to translate with, or an extension type it does not know
        values = values.to_numpy(dtype=object)
        try:
            return pl.Series(name, values, dtype=pl.String, strict=True)
        except (TypeError, UnicodeEncodeError, pl.exceptions.PolarsError):
            values = values.tolist()
    try:
        series = pl.Series(name, values, strict=True)
        if series.dtype.is_numeric() and not {bool, np.bool_}.isdisjoint(map(type, values)):
            return pl.Series(name, values, dtype=pl.Object)  # Polars takes True for 1 after a number
        return series
    except (TypeError, OverflowError, UnicodeEncodeError, pl.exceptions.PolarsError):
        return pl.Series(name, values, dtype=pl.Object)


def _plain_array(numbers: NDArray[Any]) -> NDArray[Any]:
    """Numbers in a type that Polars knows: not of 16 or 128 bits, and in this machine's order of bytes."""
    if numbers.dtype.kind == "f" and numbers.dtype.itemsize not in (4, 8):
        return numbers.astype(np.float64)
    return numbers if numbers.dtype.isnative else numbers.astype(numbers.dtype.newbyteorder("="))


def _ids(values: pl.Series, what: str, first_row: int = 1) -> pl.Series:
    """Ids as strings: strings stay, integers become decimal strings, everything else is refused."""
    if values.dtype == pl.String and not values.null_count():
        return values
    if values.dtype.is_integer() and not values.null_count():
        return _decimal(values)
    if values.dtype.is_integer() or values.dtype in (pl.Categorical, pl.Enum):
        strings = values.cast(pl.String)
    elif len(values) == 0:
        return pl.Series(values.name, [], dtype=pl.String)
    else:
        strings = values
    if strings.dtype == pl.String and not strings.null_count():
        return strings
    texts = []
    for row, value in enumerate(values.to_list(), start=first_row):
        try:
            texts.append(id_string(value))
        except ValueError as error:
            raise ValueError(f"{what}: row {row} has no usable {values.name}: {error}") from None
    return pl.Series(values.name, texts, dtype=pl.String)


def _decimal(values: pl.Series) -> pl.Series:
    """Integers as decimal strings; where they repeat, as queries do, each stretch is printed once."""
    new = changes(values)
    if 4 * np.count_nonzero(new) > len(values):
        return values.cast(pl.String)
    return values.filter(pl.Series(new)).cast(pl.String)[np.cumsum(new) - 1]


def _numbers(values: pl.Series, name: str, what: str, ids: Mapping[str, pl.Series]) -> pl.Series:
    """Numbers as float64 without gaps."""
    if values.dtype.is_float() or values.dtype.is_integer():
        column = values.cast(pl.Float64)
    elif len(values) == 0:
        column = pl.Series(name, [], dtype=pl.Float64)
    else:
        items = values.to_list()
        usable = np.array([is_number(value) for value in items])
        if not usable.all():
            _refuse_number(values, ~usable, name, what, ids)
        column = pl.Series(name, [_as_float(value) for value in items], pl.Float64)
    missing = np.isnan(column.to_numpy())
    if missing.any():
        _refuse_number(values, missing, name, what, ids)
    return column.alias(name)


def _refuse_number(values: pl.Series, bad: Bools, name: str, what: str, ids: Mapping[str, pl.Series]) -> None:
    first = int(bad.argmax())
    raise ValueError(
        f"{what}: the {name} of document {ids['doc_id'][first]!r} for query {ids['query_id'][first]!r} is "
        f"{shown(values[first])}, not a finite number{and_more(int(bad.sum()) - 1)}"
    )


def changes(values: pl.Series) -> Bools:
    """Which values differ from the one before; the first one does.

    >>> changes(pl.Series(["a", "a", "b"])).tolist()
    [True, False, True]
    """
    new = np.ones(len(values), dtype=bool)
    new[1:] = (values[1:] != values[:-1]).to_numpy()
    return new
