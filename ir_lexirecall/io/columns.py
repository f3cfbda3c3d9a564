"""Qrels and runs of any format as columns: the one place that knows formats of users.

A run or qrels may be a path, a pandas, Polars or Arrow table, a dict of dicts, or an iterable of named tuples or dicts
(a generator too); ``objects`` makes one of these of what other programs hold; what comes out is a Polars table with string ids and checked numbers.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from ir_lexirecall._util import engine
from ir_lexirecall._util.arrays import Bools
from ir_lexirecall._util.errors import and_more, check_text, shown, shown_names
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io import readers
from ir_lexirecall.io.files import STDIN, parts_of
from ir_lexirecall.io.lines import as_float
from ir_lexirecall.io.objects import (
    PYTERRIER,
    QREL_COLUMNS,
    RUN_COLUMNS,
    TableLike,
    id_string,
    is_plain_number,
    readable,
    renaming,
    with_string_keys,
)

_OTHER_NAMES = {
    **PYTERRIER,
    "query-id": "query_id",  # BEIR
    "corpus-id": "doc_id",
    "q_id": "query_id",  # ranx
}
"""What other programs call the columns of runs and qrels."""
_GRADES_ARE_SCORES = ("query-id", "q_id")  # whose tables call the grades of qrels scores
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
    return source == STDIN or bool(parts_of(source)) or (os.path.exists(source) and not os.path.isdir(source))


def run_table(run: TableLike, first_row: int = 1) -> pl.DataFrame:
    """Any run as columns ``query_id``, ``doc_id`` (strings) and ``score`` (float64, finite), in input order.

    ``first_row`` is the number of its first row, where it is a part of a larger one.
    """
    table = _table(run, "run", RUN_COLUMNS, readers.read_run)
    columns = {name: _ids(table[name], "run", first_row) for name in ("query_id", "doc_id")}
    score = _numbers(table["score"], "score", "run", columns)
    return pl.DataFrame({**columns, "score": score})


def scores_rise_with_ranks(run: Any) -> bool:
    """Whether scores in the first rows of a run rise with the ranks beside them, nine in ten or more, as costs do; False without ranks.

    >>> rows = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "rank": [1, 2], "score": [0.1, 0.7]}
    >>> scores_rise_with_ranks(pl.DataFrame(rows)), scores_rise_with_ranks(pl.DataFrame(rows | {"rank": [2, 1]}))
    (True, False)
    """
    rows: list[tuple[Any, Any, Any]] = []
    if isinstance(run, (str, os.PathLike)):
        rows = readers.first_ranks(os.fspath(run))
    elif isinstance(run, pl.DataFrame) or hasattr(run, "itertuples"):
        names = {_OTHER_NAMES.get(name, name): name for name in map(str, run.columns)}
        if set(readers.RANKED_SCORES) <= names.keys() and len(names) == len(run.columns):
            first = run.head(readers.LOOKED_AT)
            rows = [*zip(*(first[names[name]].to_list() for name in readers.RANKED_SCORES), strict=True)]
    rises = steps = 0
    numbers = ((query, as_float(rank), as_float(score)) for query, rank, score in rows)
    for (query, rank, score), (next_query, next_rank, next_score) in pairwise(numbers):
        if query == next_query and not (rank is None or score is None or next_rank is None or next_score is None):
            step = (next_rank - rank) * (next_score - score)
            rises, steps = rises + (step > 0), steps + (step != 0)
    return steps > 0 and rises >= 0.9 * steps


def qrel_columns(qrels: TableLike) -> dict[str, pl.Series]:
    """Any qrels as columns ``query_id``, ``doc_id`` (strings), ``relevance`` (float64) and whatever else there is, unchecked."""
    table = _table(qrels, "qrels", QREL_COLUMNS, readers.read_qrels, everything=True)
    columns = {name: _ids(table[name], "qrels") for name in ("query_id", "doc_id")}
    grade = _numbers(table["relevance"], "relevance", "qrels", columns)
    infinite = np.isinf(grade.to_numpy())
    if infinite.any():
        _refuse_number(table["relevance"], infinite, "relevance", "qrels", columns)
    others = {name: values for name, values in table.items() if name not in QREL_COLUMNS}
    return {**columns, "relevance": grade, **others}


def qrel_table(qrels: TableLike) -> pl.DataFrame:
    return pl.DataFrame(qrel_columns(qrels))


def float_of(value: Any) -> float:
    """A number, or a decimal, as a float."""
    try:
        return float(value)
    except OverflowError:  # an integer of more than 1,000 bits
        return math.inf if value > 0 else -math.inf
    except ValueError:  # a decimal that signals that it is none
        return math.nan


def id_pairs(data: TableLike, what: str) -> list[tuple[str, str]]:
    """The ids of every row of a table with the columns ``query_id`` and ``doc_id``."""
    table = _table(readable(data, what), what, ("query_id", "doc_id"), readers.read_run)
    columns = [_ids(table[name], what).to_list() for name in ("query_id", "doc_id")]
    return list(zip(*columns, strict=True))


def _table(
    data: Any, what: str, needed: tuple[str, ...], read_path: Any, *, everything: bool = False
) -> dict[str, pl.Series]:
    """``data`` as a table whose values are still unchecked: the columns that are needed, or ``everything`` that it has."""
    table: dict[str, pl.Series]
    if isinstance(data, (str, os.PathLike)):
        table = read_path(os.fspath(data)).to_dict()
    elif isinstance(data, Mapping):
        nested = with_string_keys(data, what)
        columns = {
            "query_id": list(chain.from_iterable([q] * len(docs) for q, docs in nested.items())),
            "doc_id": list(chain.from_iterable(nested.values())),
            needed[-1]: list(chain.from_iterable(docs.values() for docs in nested.values())),
        }
        table = _series(columns, what)
    elif isinstance(data, pl.DataFrame):
        table = data.to_dict()
    elif isinstance(data, pl.LazyFrame):
        if not engine.computes():
            raise ValueError(f"{what}: a LazyFrame cannot be collected {engine.where()}; collect it before")
        table = data.collect().to_dict()
    elif hasattr(data, "itertuples"):
        names = [check_text(str(label), f"{what}: names of columns") for label in data.columns]
        aliases = {name: {name, *(other for other, ours in _OTHER_NAMES.items() if ours == name)} for name in needed}
        if not everything and not any(known.isdisjoint(names) for known in aliases.values()):
            wanted = set[str]().union(*aliases.values())
        else:
            wanted = set(names)
        if twice := [name for name, count in Counter(names).items() if count > 1 and name in wanted]:
            raise ValueError(f"{what}: the column {twice[0]!r} occurs twice{and_more(len(twice) - 1)}; keep one")
        table = _series({name: data.iloc[:, i] for i, name in enumerate(names) if name in wanted}, what)
    elif hasattr(data, "__arrow_c_stream__") and not hasattr(data, "dtype"):
        if engine.computes():
            try:
                table = pl.DataFrame(data).to_dict()
            except (TypeError, ValueError, pl.exceptions.PolarsError):
                raise _unreadable(data, what, needed) from None
        elif hasattr(data, "column_names"):
            table = _series({name: data.column(name).to_pylist() for name in data.column_names}, what)
        else:
            raise ValueError(
                f"{what}: a {type(data).__name__} cannot be read {engine.where()}; give a pandas DataFrame"
            )
    elif isinstance(data, Iterable) and not hasattr(data, "dtype"):
        table = _series(_fields(data, what, needed), what)
    else:
        raise _unreadable(data, what, needed)
    names = list(table)
    ours = {name: _OTHER_NAMES[name] for name in table if _OTHER_NAMES.get(name) in needed}
    ours = {name: our for name, our in ours.items() if our not in table}
    grades_lack = "relevance" in needed and not {"relevance", "label"} & table.keys()
    if grades_lack and "score" in table and any(name in table for name in _GRADES_ARE_SCORES):
        score = table["score"]
        values = score.to_numpy() if score.dtype.is_float() else None
        # With fractions among the scores, it is a run.
        if score.dtype.is_integer() if values is None else (values == values.round()).all():
            ours["score"] = "relevance"
    table = {ours.get(name, name): values.alias(ours.get(name, name)) for name, values in table.items()}
    if missing := [name for name in needed if name not in table]:
        hint = _LOOKS.get((needed[-1], missing[-1], "relevance" in names or "label" in names, "score" in names), "")
        raise ValueError(
            f"{what} lacks the column {missing[0]!r}: it has {shown_names(names)}{renaming(names) or hint}"
        )
    return table


def _unreadable(data: Any, what: str, needed: tuple[str, ...]) -> ValueError:
    kind = type(data).__name__
    one_column = ", a single column," if hasattr(data, "dtype") and getattr(data, "ndim", 1) == 1 else ""
    return ValueError(
        f"{what} of type {kind}{one_column} cannot be read: give a path, a DataFrame with columns {', '.join(needed)}, a dict "
        "of dicts, or an iterable of named tuples"
    )


def _fields(items: Iterable[Any], what: str, needed: tuple[str, ...]) -> dict[str, list[Any]]:
    """The columns of an iterable of named tuples, or of dicts."""
    rows = list(items)
    if not rows:
        return {name: [] for name in needed}
    if isinstance(rows[0], Mapping):
        keys = set(rows[0])
        odd = next((n for n, row in enumerate(rows) if not isinstance(row, Mapping) or set(row) != keys), None)
        if odd is not None:
            wanted = ", ".join(map(str, rows[0]))
            raise ValueError(f"{what}: row {odd + 1} is {shown(rows[odd])}, not a dict with {wanted}")
        return {str(name): [row[name] for row in rows] for name in rows[0]}
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
            numbers = values.to_numpy()
            if dtype.kind == "f" and dtype.itemsize not in (4, 8):  # Polars knows none of 16 or 128 bits,
                numbers = numbers.astype(np.float64)
            if not numbers.dtype.isnative:  # nor those of another machine's order of bytes
                numbers = numbers.astype(numbers.dtype.newbyteorder("="))
            return pl.Series(name, numbers)
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
    if isinstance(next(iter(values), None), Decimal):  # Polars panics at decimals that are no number
        return pl.Series(name, values, dtype=pl.Object)
    try:
        series = pl.Series(name, values, strict=True)
        if series.dtype.is_numeric() and not {bool, np.bool_}.isdisjoint(map(type, values)):
            return pl.Series(name, values, dtype=pl.Object)  # Polars takes True for 1 after a number
        return series
    except (TypeError, OverflowError, UnicodeEncodeError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return pl.Series(name, values, dtype=pl.Object)


def _ids(values: pl.Series, what: str, first_row: int = 1) -> pl.Series:
    """Ids as strings: strings stay, integers become decimal strings, everything else is refused."""
    if len(values) == 0:
        return pl.Series(values.name, [], dtype=pl.String)
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
            texts.append(id_string(value))
        except ValueError as error:
            raise ValueError(f"{what}: row {row} has no usable {values.name}: {error}") from None
    return pl.Series(values.name, texts, dtype=pl.String)


def _numbers(values: pl.Series, name: str, what: str, ids: Mapping[str, pl.Series]) -> pl.Series:
    if values.dtype.is_numeric():
        column = values.cast(pl.Float64)
    elif len(values) == 0:
        column = pl.Series(name, [], dtype=pl.Float64)
    else:
        items = values.to_list()
        usable = np.array([is_plain_number(value) for value in items])
        if not usable.all():
            _refuse_number(values, ~usable, name, what, ids)
        column = pl.Series(name, [float_of(value) for value in items], pl.Float64)
    unusable = ~np.isfinite(column.to_numpy())
    if unusable.any():
        _refuse_number(values, unusable, name, what, ids)
    return column.alias(name)


def _refuse_number(values: pl.Series, bad: Bools, name: str, what: str, ids: Mapping[str, pl.Series]) -> None:
    first = int(bad.argmax())
    raise ValueError(
        f"{what}: the {name} of document {ids['doc_id'][first]!r} for query {ids['query_id'][first]!r} is "
        f"{shown(values[first])}, not a finite number{and_more(int(bad.sum()) - 1)}"
    )


def changes(values: Any) -> Bools:
    """Which values differ from the one before; the first one does.

    >>> changes(pl.Series(["a", "a", "b"])).tolist()
    [True, False, True]
    """
    new = np.ones(len(values), dtype=bool)
    new[1:] = np.asarray(values[1:] != values[:-1])
    return new
