"""Frames, and tables in files that fit in memory, as columns by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Any, Self

import numpy as np

from ir_lexirecall._util import engine
from ir_lexirecall._util.arrays import Floats, Objects
from ir_lexirecall._util.errors import (
    and_more,
    counted,
    is_integer,
    is_number,
    repeated,
    shown,
    shown_names,
)
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io.cells import TRUTH_VALUES, number_or_text
from ir_lexirecall.io.files import File, Location
from ir_lexirecall.io.lines import NumberedRow, stacked
from ir_lexirecall.io.names import ITEM_NAMES, QUERY_NAMES, RUN_NAMES, TASK_NAMES
from ir_lexirecall.io.readers import format_of
from ir_lexirecall.io.schemas import VALUES
from ir_lexirecall.io.summary_rows import is_summary_name
from ir_lexirecall.io.value_cells import is_missing, texts, value_of
from ir_lexirecall.io.whole_columns import (
    distinct,
    id_texts,
    numbers_in,
    rows_with_values,
)

_INTEGER = re.compile(r"0|-?[1-9]\d*", re.ASCII)  # "007" is a text
_LEADING_ZERO = re.compile(r"-?0\d")
_CAPITAL_WITHIN = re.compile(r"(?<=[a-z\d])(?=[A-Z])")


class Kind(Enum):
    """What the values of a column are."""

    EMPTY = "nothing"
    FLAG = "True and False"
    INTEGER = "integers"
    NUMBER = "numbers"
    TEXT = "texts"
    OTHER = "other objects"


_KIND_OF_TYPE = {bool: Kind.FLAG, int: Kind.INTEGER, float: Kind.NUMBER}
"""The kind of a column whose values are all of one type."""


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file or frame, as arrays of numbers or of objects.

    Attributes:
        columns: the columns by name; None stands for a missing value.
        name: the label of the table in messages.
        location: returns the label of the n-th row in messages.
        index: the row labels of a pandas frame, if they have no name and are not just numbered.
        levels: names of the levels of a pandas frame's index: they label rows, and hold no values.
        is_typed: whether the source tells numbers from texts, which CSV does not.
        run: the run that the whole table is of, if the source names it.
        measures: the columns of values that are taken by default, if the source says which.
        notes: sentences on how the source was read.
        cut: sentences on what the source lacks because it ended early.
        repeat: the column that tells the repeats of a stochastic system apart, if there is one.
        one_run: whether it has the values of a single run; None if its columns decide that.
    """

    columns: Mapping[str, Objects]
    name: str
    location: Location
    index: Objects | None = None
    levels: frozenset[str] = frozenset()
    is_typed: bool = True
    run: str | None = None
    measures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    repeat: str | None = None
    one_run: bool | None = False

    @classmethod
    def from_rows(cls, rows: Sequence[NumberedRow], path: str) -> Self:
        """Return the rows of a file, given with their lines; the first row names the columns."""
        (_, names), *rows = rows
        for line, row in rows:
            if row == names:
                raise ValueError(
                    f"{path}, line {line}: the header is repeated; leave this line out"
                )
            if len(row) != len(names):
                raise ValueError(
                    f"{path}, line {line}: {counted(len(row), 'field')} where {len(names)} are "
                    f"expected: {shown_names(names)}{_row_name_hint(names, rows)}"
                )
        numbers = _columns_with_content(names, rows, path)
        if (twice := repeated([names[i] for i in numbers])) is not None:
            way_out = "keep one"
            if not twice:
                way_out = (
                    "give all columns names in one row, also where cells are merged"
                )
            raise ValueError(f"{path}: the header names {twice!r} twice; {way_out}")
        columns = {names[i]: texts(row[i] or None for _, row in rows) for i in numbers}
        return cls(
            columns, path, lambda row: f"{path}, line {rows[row][0]}", is_typed=False
        )

    @classmethod
    def from_file(cls, file: File) -> Self | None:
        """Return the columns of a file whose format always has columns; None for JSON and text."""
        one = format_of(file)
        if not one.always_has_columns:
            return None
        table = stacked([*one.read(file, VALUES)])
        columns = {column.name: texts(column.to_list()) for column in table}
        return cls(columns, file.path, lambda row: f"{file.path}, row {row + 1}")

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def rows(self, kept: Sequence[int] | Objects) -> Table:
        """Return a part of the rows; messages name each of them as before."""
        columns = {name: values[kept] for name, values in self.columns.items()}
        index = None if self.index is None else self.index[kept]
        return replace(
            self,
            columns=columns,
            location=lambda n: self.location(kept[n]),
            index=index,
        )

    def renamed(self, column: str, name: str) -> Table:
        """Return the same table where a column has another name, which no column had."""
        columns = {}
        for old, values in self.columns.items():
            columns[name if old == column else old] = values
        return replace(self, columns=columns)

    def named(self, aliases: Iterable[str]) -> str | None:
        """Return the column with the first of some names; None if there is no such column.

        Case does not count, and `Task Name` and `taskName` count as `task_name`.
        """
        names = {_plain_name(name): name for name in self.columns}
        names |= {name.lower(): name for name in self.columns}
        return next((names[name] for name in aliases if name in names), None)

    def kind(self, column: str) -> Kind:
        """Return the kind of a column's values, without missing ones."""
        return kind_of(self.columns[column])

    def ids(self, column: str) -> set[str | None]:
        """Return the ids in a column; None stands for a missing one."""
        return set(id_texts(self.columns[column]))

    def has_values(self, column: str) -> bool:
        """Return whether a column holds numbers, or True and False."""
        values = self.columns[column]
        if values.dtype.kind in "fiub":
            return True
        present = texts(value for value in distinct(values) if value is not None)
        if not len(present):
            return False
        if _are_numbers(present):
            return True
        if self.is_typed and all(isinstance(value, str) for value in present):
            return False
        return any(map(_is_number_but_no_flag, present))

    def floats(self, column: str) -> Floats:
        """Return a column as floats, with 1 and 0 for True and False, and NaN for what is missing.

        True and False may stand among numbers.

        Raises:
            ValueError: a value is not a number.
        """
        values = self.columns[column]
        if values.dtype.kind in "fiub":
            return np.asarray(values, dtype=np.float64)
        numbers = numbers_in(values)
        if numbers is not None:
            return numbers
        floats = []
        for value in values:
            floats.append(np.nan if is_missing(value) else value_of(value))
        faults = [row for row, number in enumerate(floats) if number is None]
        if faults:
            raise ValueError(
                f"{self.location(faults[0])}: {column} is {shown(values[faults[0]])}, "
                f"not a number{and_more(len(faults) - 1)}"
            )
        return np.array(floats, dtype=np.float64)


@lru_cache(10_000)
def _plain_name(name: str) -> str:
    """Return the name of a column in lower case, with underscores between words.

    >>> _plain_name("Task Name"), _plain_name("queryId"), _plain_name("query-id")
    ('task_name', 'query_id', 'query_id')
    """
    words = _CAPITAL_WITHIN.sub("_", name.strip())
    return re.sub(r"[\s-]+", "_", words).lower()


def _columns_with_content(
    names: Sequence[str], rows: Sequence[NumberedRow], path: str
) -> list[int]:
    """Return the indices of the columns that have a name or values.

    Raises:
        ValueError: only some rows have a value in a column without a name: they may be shifted.
    """
    indices = []
    for i, name in enumerate(names):
        filled = [(line, row[i]) for line, row in rows if row[i]] if not name else []
        if i and filled and len(filled) < len(rows):
            line, cell = filled[0]
            raise ValueError(
                f"{path}, line {line}: {shown(cell)} stands in a column without a name; does a "
                "field of this row contain a separator? Quote the field, or name the column"
            )
        if name or filled or not i:
            indices.append(i)
    return indices


def _row_name_hint(names: Sequence[str], rows: Sequence[NumberedRow]) -> str:
    """Return advice on rows that all have one field more than the header, as R writes them."""
    if all(len(row) == len(names) + 1 for _, row in rows):
        return (
            "; if the first field of each row is its name, write the table without row names, in R "
            "by row.names = FALSE"
        )
    return ""


def kind_of(values: Objects) -> Kind:
    """Return the kind of values, without missing ones.

    >>> kind_of(texts(["1", "2"])), kind_of(texts(["1", "q2"])), kind_of(texts([0.5, None]))
    (<Kind.INTEGER: 'integers'>, <Kind.TEXT: 'texts'>, <Kind.NUMBER: 'numbers'>)
    """
    if values.dtype.kind in "iuf":
        return _kind_of_numbers(values)
    present = values[rows_with_values(values)]
    if not len(present):
        return Kind.EMPTY
    types = set(map(type, present))
    if types == {str}:
        return _kind_by_looks(present) or Kind.TEXT
    if len(types) == 1 and not types.isdisjoint(_KIND_OF_TYPE):
        return _KIND_OF_TYPE[types.pop()]
    kind = _kind_by_looks(present)
    if kind is None and all(map(_is_text, present)):
        return Kind.TEXT
    return kind or Kind.OTHER


def _kind_of_numbers(values: Objects) -> Kind:
    """Return the kind of an array of numbers."""
    if values.dtype.kind in "iu":
        return Kind.INTEGER
    if np.isnan(values).all():
        return Kind.EMPTY
    return Kind.NUMBER


def _kind_by_looks(values: Objects) -> Kind | None:
    """Return the kind of flags and numbers, or of their texts; None for other values."""
    for kind, belongs in (
        (Kind.FLAG, _is_flag),
        (Kind.INTEGER, _is_integer),
        (Kind.NUMBER, _is_number),
    ):
        if all(map(belongs, values)):
            return kind
    return None


def _are_numbers(values: Objects) -> bool:
    """Return whether all values are numbers or truth values, also as texts."""
    if numbers_in(values) is not None:
        return True
    return all(value_of(value) is not None for value in values)


def _is_number_but_no_flag(value: Any) -> bool:
    """Return whether a value is a number, also as a text, and not a truth value."""
    return value_of(value) is not None and not _is_flag(value)


def _is_flag(value: Any) -> bool:
    """Return whether a value is True or False, or the name of one."""
    if isinstance(value, str):
        return value.lower() in TRUTH_VALUES
    return isinstance(value, (bool, np.bool_))


def _is_integer(value: Any) -> bool:
    """Return whether a value is an integer, or the decimal text of one."""
    if isinstance(value, str):
        return _INTEGER.fullmatch(value) is not None
    return is_integer(value)


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, or True or False among numbers."""
    if _is_flag(value):
        return True
    if isinstance(value, str):
        return number_or_text(value) is not None and _LEADING_ZERO.match(value) is None
    return is_number(value)


def _is_text(value: Any) -> bool:
    """Return whether a value is a text, or an integer among texts."""
    return isinstance(value, str) or is_integer(value)


# -- frames ----------------------------------------------------------------------------------------


def table_of_frame(data: Any, name: str = "") -> Table | None:
    """Return the columns of a frame or column, or None if `data` is neither.

    Args:
        data: a frame of pandas, Polars or Arrow, a list of records, a column of pandas, results of
            ragas, or a table.
        name: the label of the frame in messages.
    """
    if isinstance(data, Table):
        return data
    data = _as_frame(data)
    if hasattr(data, "itertuples"):
        return _table_of_pandas(data, name)
    if hasattr(data, "to_dicts"):  # Polars
        columns = {series.name: texts(series) for series in data}
    elif hasattr(data, "to_pydict"):  # Arrow
        columns = {column: texts(values) for column, values in data.to_pydict().items()}
    else:
        return None
    return _table(columns, name)


def _table_of_pandas(data: Any, name: str) -> Table:
    """Return the table of a pandas frame, with the labels of its rows."""
    data = _with_queries_as_rows(data)
    names = [level for level in data.index.names if level is not None]
    levels = frozenset(map(str, names))
    data = _with_one_level(_with_named_index(data))
    index = None
    if type(data.index).__name__ != "RangeIndex":
        index = texts(data.index)
    return replace(_table(_pandas_columns(data), name), index=index, levels=levels)


def _with_queries_as_rows(data: Any) -> Any:
    """Turn a frame of pandas whose columns are queries or tasks, as the name of their axis says.

    `pivot` and `unstack` make such frames, whose rows are runs.
    """
    query_names = {*QUERY_NAMES, *ITEM_NAMES, *TASK_NAMES}
    own_names = {_plain_name(str(name)) for name in (*data.index.names, *data.columns)}
    is_turned = _plain_name(str(data.columns.name)) in query_names
    if not is_turned or not query_names.isdisjoint(own_names):
        return data
    if type(data.index).__name__ != "RangeIndex":
        return data.T
    labels = list(data.select_dtypes(exclude=["number", "bool"]).columns)
    return data.set_index(labels).T if labels else data


def _table(columns: Mapping[str, Objects], name: str) -> Table:
    """Return columns as a table; a name stands before the row in messages."""
    label = f"{name}, " if name else ""
    return Table(columns, name or "values", lambda row: f"{label}row {row + 1}")


def _as_frame(data: Any) -> Any:
    """Return the frame of records, a lazy frame, a column, or results of ragas; else the data."""
    if are_records(data) or _is_structured(data):
        return pd.DataFrame(data)
    if hasattr(data, "collect") and not hasattr(data, "itertuples"):
        data = data.collect()  # Polars' LazyFrame
    if hasattr(data, "to_frame") and hasattr(data, "index"):
        data = _frame_of_series(data)
    if hasattr(data, "itertuples") or hasattr(data, "to_dicts"):
        return data
    if hasattr(data, "__arrow_c_stream__"):
        return _frame_of_stream(data)
    if hasattr(data, "to_pandas"):  # ragas' results
        return data.to_pandas()
    return data


def _is_structured(data: Any) -> bool:
    """Return whether data is an array of NumPy whose columns have names."""
    return isinstance(data, np.ndarray) and data.dtype.names is not None


def _frame_of_series(data: Any) -> Any:
    """Return the frame of a column of pandas, which is called `value` if it has no name."""
    if data.name is None:
        return data.to_frame("value")
    return data.to_frame()


def _frame_of_stream(data: Any) -> Any:
    """Return a table of Arrow as it is, and the frame of another program's stream."""
    if hasattr(data, "to_pydict") or not engine.computes():
        return data
    return pl.DataFrame(data)  # of any program, such as DuckDB


def readable_again(data: Any) -> Any:
    """Return data that can be read again: of an iterator, what it yields.

    A stream of Arrow becomes a table. The iterators in a mapping of runs are read, too.
    """
    if isinstance(data, Mapping) and any(
        isinstance(x, Iterator) for x in data.values()
    ):
        return {name: readable_again(one) for name, one in data.items()}
    if not isinstance(data, Iterator):
        return data
    if hasattr(data, "read_all"):
        return data.read_all()
    return list(data)


def are_records(data: Any) -> bool:
    """Return whether data is a list of rows, each a dict of ids and values by column.

    >>> are_records([{"qid": 1, "AP": 0.5}]), are_records([{"q1": 0.5, "q2": 0.25}])
    (True, False)
    """
    if not isinstance(data, (list, tuple)):
        return False
    return bool(data) and all(map(_is_record, data))


def _is_record(row: Any) -> bool:
    """Return whether a row is a dict with a text, or with an id under a known name."""
    if not isinstance(row, Mapping):
        return False
    if any(isinstance(cell, Mapping) for cell in row.values()):
        return False
    if any(isinstance(cell, str) for cell in row.values()):
        return True
    return any(str(name).lower() in (*QUERY_NAMES, *ITEM_NAMES) for name in row)


def _with_named_index(data: Any) -> Any:
    """Return a frame of pandas where an index with a name has become a column."""
    names = [name for name in data.index.names if name is not None]
    if not names:
        return data
    for name in set(names) & set(data.columns):
        if list(data.index.get_level_values(name)) != list(data[name]):
            raise ValueError(f"{name!r} names an index and another column; rename one")
        data = data.drop(columns=name)
    return data.reset_index()


def _with_one_level(data: Any) -> Any:
    """Return a frame of pandas whose columns have names of one level.

    Of columns such as ``("AP", "bm25")``, as ``pivot`` makes them of several measures, the level of
    runs becomes a column. A level that is the same everywhere is left out.

    Raises:
        ValueError: no level is known to be that of runs.
    """
    columns = data.columns
    if columns.nlevels < 2:
        return data
    is_id = np.array([_names_one_level(name) for name in columns])
    is_margin = np.array(list(map(_is_margin, columns, data.dtypes)))
    ids, values = columns[is_id & ~is_margin], columns[~is_id]
    run_levels = _run_levels(values)
    if columns.nlevels == 2 and len(run_levels) == 1:
        return _with_runs_as_rows(data, ids, values, run_levels[0])
    level = _level_of_names(values)
    return data[[*ids, *values]].set_axis(_names_at(level, ids, values), axis=1)


def _names_one_level(name: Iterable[Any]) -> bool:
    """Return whether a column was an index: it has a name on one level, as ("query_id", "")."""
    return sum(str(part) != "" for part in name) < 2


def _is_margin(name: Sequence[Any], dtype: Any) -> bool:
    """Return whether a column holds the means of the others, as margins of `pivot_table` do."""
    label = "".join(map(str, name))
    is_numbers = getattr(dtype, "kind", "O") == "f"
    return is_numbers and _names_one_level(name) and is_summary_name(label)


def _run_levels(columns: Any) -> list[int]:
    """Return the levels of the names of columns that are those of runs, by their own names."""
    levels = range(columns.nlevels)
    return [n for n in levels if str(columns.names[n]).lower() in RUN_NAMES]


def _level_of_names(columns: Any) -> int:
    """Return the only level on which the names of columns differ; the last one if none does.

    Raises:
        ValueError: they differ on several levels.
    """
    levels = range(columns.nlevels)
    varying = [n for n in levels if columns.get_level_values(n).nunique() > 1]
    if len(varying) > 1:
        raise ValueError(
            f"the columns have {columns.nlevels} levels, as in {tuple(columns[0])}, and none is "
            "called run; call that of runs so (frame.columns.names), or give a row per query and "
            "run"
        )
    return varying[0] if varying else columns.nlevels - 1


def _names_at(level: int, ids: Any, values: Any) -> list[str]:
    """Return the names of columns of ids, and those of columns of values on one level."""
    names = ["".join(map(str, name)) for name in ids]
    return [*names, *map(str, values.get_level_values(level))]


def _with_runs_as_rows(data: Any, ids: Any, values: Any, run_level: int) -> Any:
    """Return a frame with a column of runs and a column per measure.

    Args:
        data: the frame, whose columns have two levels.
        ids: columns with a name on one level only.
        values: the other columns.
        run_level: the level of runs; the other one is that of measures.
    """
    runs = values.get_level_values(run_level)
    parts = []
    for run in runs.unique():
        of_run = values[runs == run]
        names = _names_at(1 - run_level, ids, of_run)
        part = data[[*ids, *of_run]].set_axis(names, axis=1)
        parts.append(part.assign(run=run))
    return pd.concat(parts)


def _pandas_columns(data: Any) -> dict[str, Objects]:
    """Return the columns of a frame of pandas, with None for missing values."""
    names = [str(name) for name in data.columns]
    if (twice := repeated(names)) is not None:
        raise ValueError(f"the column {twice!r} occurs twice; keep one")
    columns = {}
    for i, name in enumerate(names):
        column = data.iloc[:, i]
        if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiu":
            columns[name] = column.to_numpy()
        else:  # by a list: pandas makes no objects of Arrow's views of strings
            present = zip(column.tolist(), column.notna(), strict=True)
            columns[name] = texts(
                value if is_there else None for value, is_there in present
            )
    return columns
