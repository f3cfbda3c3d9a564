"""Groups of queries, such as their types or languages."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Ints
from ir_lexirecall._util.errors import and_more, entry, shown, shown_names
from ir_lexirecall._util.paths import is_path
from ir_lexirecall._util.selecting import among, index_of, without
from ir_lexirecall.io.cells import number_or_text
from ir_lexirecall.io.checks import check_not_cut
from ir_lexirecall.io.files import File, named_files
from ir_lexirecall.io.frames import Table, table_of_frame
from ir_lexirecall.io.id_forms import form_hint
from ir_lexirecall.io.lines import NumberedRow, csv_rows, numbered_lines
from ir_lexirecall.io.names import (
    GROUP_NAMES,
    QUERY_NAMES,
    TASK_NAMES,
)
from ir_lexirecall.io.query_columns import (
    is_row_count,
    is_row_label,
    table_label,
)
from ir_lexirecall.io.schemas import Cut
from ir_lexirecall.io.value_cells import id_text, texts

GroupsLike: TypeAlias = "Mapping[Any, Any] | str | os.PathLike[str] | Any"
"""A mapping of query ids to groups, a table or column, a file, or the name of a column of another
table."""

_SEPARATORS = ("\t", ",", ";")


@dataclass(frozen=True)
class QueryGroups:
    """The group of every query.

    Attributes:
        names: of the groups, sorted (numbers by size).
        query_ids: the queries, in the order that was asked for.
        code: the group of each query, as an index into ``names``, shape ``(Q,)``.
    """

    names: list[str]
    query_ids: list[str]
    code: Ints

    @classmethod
    def from_mapping(
        cls, group_of_query: Mapping[str, str], query_ids: Sequence[str]
    ) -> QueryGroups:
        """Return the groups of some queries, all of which have one."""
        names = sorted(
            {group_of_query[query_id] for query_id in query_ids}, key=_by_size
        )
        code_of_group = index_of(names)
        codes = [code_of_group[group_of_query[query_id]] for query_id in query_ids]
        return cls(names, list(query_ids), np.array(codes, dtype=np.int64))

    def __iter__(self) -> Iterator[tuple[str, Ints]]:
        """Yield every group with the indexes of its queries in ``query_ids``."""
        for code, name in enumerate(self.names):
            yield name, np.flatnonzero(self.code == code)

    def __len__(self) -> int:
        return len(self.names)

    def only(self, query_ids: Sequence[str]) -> QueryGroups:
        """Return the groups of some of the queries, those without any of them included."""
        index = index_of(self.query_ids)
        indexes = [index[query_id] for query_id in query_ids]
        return QueryGroups(self.names, [*query_ids], self.code[indexes])

    @property
    def sizes(self) -> dict[str, int]:
        """Number of queries of each group."""
        counts = np.bincount(self.code, minlength=len(self.names)).tolist()
        return dict(zip(self.names, counts, strict=True))

    @property
    def labels(self) -> NDArray[Any]:
        """The group of each query, by name; what tests of dependent queries take."""
        return np.array(self.names, dtype=object)[self.code]


def _by_size(name: str) -> tuple[bool, float, str]:
    """Return the key that sorts groups: numbers by size, then texts."""
    value = number_or_text(name)
    return value is None, value or 0.0, name


@entry
def read_groups(
    groups: GroupsLike,
    query_ids: Sequence[str],
    *,
    table: Any = None,
    collection: str | None = None,
) -> QueryGroups:
    """Read which group each query belongs to.

    Args:
        groups: a mapping of query ids to groups; a table (pandas, Polars, Arrow) with ``query_id``
            and one more column; a column indexed by query; a file (CSV, TSV or Parquet with a
            header, or lines of query and group); or the name of a column of ``table``.
        query_ids: the queries that need a group, in the order of the result; others are ignored.
        table: where ``groups`` names a column: the table, one row or several (of the same group)
            per query.
        collection: of a table with a column ``collection`` (or ``dataset``, ``task``), take the
            rows of this one.

    Returns:
        The group of each query.

    Raises:
        ValueError: a query has no group or two, there is only one group, or the source cannot be
            read; the message names the query or line.

    >>> groups = read_groups({"q1": "who", "q2": "how", "q3": "who"}, ["q1", "q2", "q3"])
    >>> groups.names, groups.code.tolist(), groups.sizes
    (['how', 'who'], [1, 0, 1], {'how': 1, 'who': 2})
    """
    source, column = _table_with_groups(groups, table)
    query_column = _query_column_of(source, other_than=column)
    candidates = without(source.columns, [query_column])
    task_column = _first_of(TASK_NAMES, without(candidates, [column]))
    if collection is not None and task_column is not None:
        source = _rows_of_collection(source, task_column, collection)
        candidates.remove(task_column)
    group_column = _group_column_of(source, candidates, column)
    group_of_query = _single_group_of_each(source, query_column, group_column)
    _check_all_have_a_group(source, query_ids, group_of_query)
    result = QueryGroups.from_mapping(group_of_query, query_ids)
    if len(result) < 2:
        raise ValueError(
            f"{source.name}: all queries are in one group, {shown_names(result.names)}; "
            "leave groups out, or give several"
        )
    return result


# -- the table -------------------------------------------------------------------------------------


def _table_with_groups(groups: GroupsLike, table: Any) -> tuple[Table, str | None]:
    """Return the table that holds the groups, and the column that was named, if any."""
    if isinstance(groups, str) and table is not None:
        return _table_of_object(table), groups
    return _table_of_object(groups), None


def _table_of_object(groups: Any) -> Table:
    """Return a mapping, a file or a frame as a table."""
    if isinstance(groups, Mapping):
        return _table_of_mapping(groups)
    if isinstance(groups, File):
        return _table_of_file(groups)
    if is_path(groups):
        if not named_files(groups):
            raise ValueError(
                f"groups: there is no file {os.fspath(groups)!r}; to use a column of a table, give "
                "the table, too"
            )
        return _table_of_file(File.opened(groups))
    table = table_of_frame(groups, "groups")
    if table is None:
        raise ValueError(
            f"groups of type {type(groups).__name__} cannot be read: give a mapping of query ids "
            "to groups, a table with query_id and one more column, or a file"
        )
    return table


def _table_of_mapping(groups: Mapping[Any, Any]) -> Table:
    """Return a mapping of query ids to groups as a table."""
    for group in groups.values():
        if isinstance(group, (list, tuple, set, Mapping)):
            raise ValueError(
                "groups: expected a mapping of query ids to groups, but one query maps to "
                f"{shown(group)}"
            )
    columns = {"query_id": texts(groups), "group": texts(groups.values())}
    return Table(columns, "groups", lambda row: "groups")


def _table_of_file(file: File) -> Table:
    """Return the table in a file."""
    table = Table.from_file(file)
    if table is not None:
        return table
    rows = _rows_of_text(file)
    if not rows:
        raise ValueError(f"{file.path}: there are no groups in it")
    if not file.text().endswith("\n"):
        line, last_row = rows[-1]
        column = [row[-1] for _, row in rows if len(row) == len(last_row)]
        check_not_cut(column, Cut.IF_BEGINNING, lambda: file.line_name(line), "group")
    if {*rows[0][1]}.isdisjoint(QUERY_NAMES):
        rows = [(0, ["query_id", "group"]), *rows]
    return Table.from_rows(rows, file.path)


def _rows_of_text(file: File) -> list[NumberedRow]:
    """Return the rows of a text with their lines; the first line tells what separates fields."""
    text = file.text()
    lines = numbered_lines(text)
    first = lines[0][1] if lines else ""
    separator = next((mark for mark in _SEPARATORS if mark in first), None)
    if separator is None:
        return [(n, line.split()) for n, line in lines]
    rows = csv_rows(text, file.line_name, separator, skipinitialspace=True)
    return [(n, row) for n, row in rows if not row[0].startswith("#")]


# -- its columns -----------------------------------------------------------------------------------


def _query_column_of(source: Table, other_than: str | None) -> str | None:
    """Return the column of queries; None if the index holds them."""
    column = _first_of(QUERY_NAMES, without(source.columns, [other_than]))
    if column is None and source.index is None:
        raise ValueError(
            f"{table_label(source.name)} has no column query_id: {_columns_shown(source)}"
        )
    return column


def _first_of(names: Iterable[str], columns: Collection[str]) -> str | None:
    """Return the first of some names that is that of a column; None without one."""
    return next(iter(among(names, columns)), None)


def _rows_of_collection(source: Table, task_column: str, collection: str) -> Table:
    """Return the rows of one collection."""
    collections = [id_text(value) for value in source.columns[task_column]]
    if collection not in collections:
        names = shown_names([str(name) for name in dict.fromkeys(collections)])
        raise ValueError(
            f"{source.name}: no row is of collection {collection!r}; {task_column} has {names}"
        )
    return source.rows(
        [row for row, name in enumerate(collections) if name == collection]
    )


def _labels_rows(source: Table, column: str) -> bool:
    """Return whether a column holds pandas' row labels, or counts the rows."""
    return is_row_label(source, column) or is_row_count(source, column)


def _group_column_of(source: Table, candidates: list[str], column: str | None) -> str:
    """Return the column that was named, else the one that is called so, or the only one."""
    if column is not None:
        if column not in candidates:
            raise ValueError(
                f"{table_label(source.name)} has no column {column!r}: {_columns_shown(source)}; "
                "name one of these"
            )
        return column
    group_column = _first_of(GROUP_NAMES, candidates)
    if group_column is not None:
        return group_column
    if len(candidates) > 1:
        candidates = [name for name in candidates if not _labels_rows(source, name)]
    if len(candidates) != 1:
        raise ValueError(
            f"{source.name} has several columns, none of them called group: "
            f"{_columns_shown(source)}; call one group, or leave the others out"
        )
    return candidates[0]


def _columns_shown(source: Table) -> str:
    """Return the columns of a table as messages name them."""
    return f"it has {shown_names(list(source.columns))}"


# -- its groups ------------------------------------------------------------------------------------


def _single_group_of_each(
    source: Table, query_column: str | None, group_column: str
) -> dict[str, str]:
    """Return the group of every query in the table."""
    queries: Any = (
        source.index if query_column is None else source.columns[query_column]
    )
    group_of_query: dict[str, str] = {}
    rows = zip(
        map(id_text, queries), map(id_text, source.columns[group_column]), strict=True
    )
    for row, (query_id, group) in enumerate(rows):
        if query_id is None:
            raise ValueError(f"{source.location(row)}: there is no query")
        if group is None:
            raise ValueError(
                f"{source.location(row)}: query {shown(query_id)} has no group; give it one"
            )
        first = group_of_query.setdefault(query_id, group)
        if first != group:
            raise ValueError(
                f"{source.location(row)}: query {shown(query_id)} is in group {first!r} and in "
                f"{group!r}; keep one"
            )
    return group_of_query


def _check_all_have_a_group(
    source: Table, query_ids: Sequence[str], group_of_query: Mapping[str, str]
) -> None:
    """Raise if a query has no group; the message says in which form its id would have one."""
    missing = without(query_ids, group_of_query)
    if not missing:
        return
    message = (
        f"{source.name}: query {missing[0]!r} has no group{and_more(len(missing) - 1)}"
    )
    if len(missing) == len(query_ids):
        message += f"; it has {shown_names(list(group_of_query), 3)}"
    message += "; add it"
    extra = group_of_query.keys() - set(query_ids)
    hint = form_hint(missing, sorted(extra), ("query", "one with a group,"))
    if hint:
        message += f". {hint}"
    raise ValueError(message)
