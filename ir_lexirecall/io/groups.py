"""Groups of queries: types, languages, users, sessions. What users say of them, as one group per query."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Ints
from ir_lexirecall._util.errors import and_more, entry, shown, shown_names
from ir_lexirecall.io.columns import is_file
from ir_lexirecall.io.files import is_parquet, rereadable, text_of_file
from ir_lexirecall.io.lines import as_float, csv_rows
from ir_lexirecall.io.value_cells import QUERY_NAMES, TASK_NAMES, Table, id_text, table_of_frame

GroupsLike: TypeAlias = "Mapping[Any, Any] | str | os.PathLike[str] | Any"
"""A mapping of query ids to groups, a table or column, a file, or the name of a column of another table."""

_GROUP_NAMES = ("group", "cluster", "type", "category", "language", "user", "user_id", "session", "session_id")


@dataclass(frozen=True)
class QueryGroups:
    """The group of every query.

    Attributes:
        names: of the groups, sorted (numbers by size).
        query_ids: the queries, in the order that was asked for.
        code: the group of each query, as a place in ``names``, shape ``(Q,)``.
    """

    names: list[str]
    query_ids: list[str]
    code: Ints

    def __iter__(self) -> Iterator[tuple[str, Ints]]:
        """Every group with the places of its queries in ``query_ids``."""
        for place, name in enumerate(self.names):
            yield name, np.flatnonzero(self.code == place)

    def __len__(self) -> int:
        return len(self.names)

    def members(self, group: str) -> list[str]:
        """The queries of a group."""
        place = self.names.index(group)
        return [query_id for query_id, code in zip(self.query_ids, self.code.tolist(), strict=True) if code == place]

    def only(self, query_ids: Sequence[str]) -> QueryGroups:
        """The groups of some of the queries, those without any of them included."""
        place = {query_id: q for q, query_id in enumerate(self.query_ids)}
        return QueryGroups(self.names, [*query_ids], self.code[[place[query_id] for query_id in query_ids]])

    @property
    def sizes(self) -> dict[str, int]:
        """Number of queries of each group."""
        return dict(zip(self.names, np.bincount(self.code, minlength=len(self.names)).tolist(), strict=True))

    @property
    def labels(self) -> NDArray[Any]:
        """The group of each query, by name; what tests of dependent queries take."""
        return np.array(self.names, dtype=object)[self.code]


@entry
def read_groups(
    groups: GroupsLike,
    query_ids: Sequence[str],
    *,
    column: str | None = None,
    table: Any = None,
    collection: str | None = None,
) -> QueryGroups:
    """Read which group each query belongs to.

    Args:
        groups: a mapping of query ids to groups; a table (pandas, Polars, Arrow) with ``query_id`` and one more column; a column
            indexed by query; a file (CSV, TSV or Parquet with a header, or lines of query and group); or the name of a column
            of ``table``.
        query_ids: the queries that need a group, in the order of the result; others are ignored.
        column: the column with groups, where a table has several.
        table: where ``groups`` names a column: the table, one row or several (of the same group) per query.
        collection: of a table with a column ``collection`` (or ``dataset``, ``task``), take the rows of this one.

    Raises:
        ValueError: a query has no group or two, there is only one group, or the source cannot be read; the message names the
            query or line.

    >>> found = read_groups({"q1": "who", "q2": "how", "q3": "who"}, ["q1", "q2", "q3"])
    >>> found.names, found.code.tolist(), found.sizes
    (['how', 'who'], [1, 0, 1], {'how': 1, 'who': 2})
    """
    pairs, what = _pairs(groups, column, table, collection)
    group: dict[str, str] = {}
    for query_id, name, where in pairs:
        if name is None:
            raise ValueError(f"{where}: query {query_id!r} has no group; give it one")
        if group.setdefault(query_id, name) != name:
            raise ValueError(f"{where}: query {query_id!r} is in group {group[query_id]!r} and in {name!r}; keep one")
    lacking = [query_id for query_id in query_ids if query_id not in group]
    if lacking:
        known = f"; it has {shown_names(list(group), 3)}" if len(lacking) == len(query_ids) else ""
        raise ValueError(f"{what}: query {lacking[0]!r} has no group{and_more(len(lacking) - 1)}{known}; add it")

    def order(name: str) -> tuple[int, float, str]:
        """Numbers by size, then texts."""
        value = as_float(name)
        return (1, 0.0, name) if value is None else (0, value, name)

    names = sorted({group[query_id] for query_id in query_ids}, key=order)
    if len(names) < 2:
        raise ValueError(
            f"{what}: all queries are in one group, {shown_names(names)}; leave groups out, or give several"
        )
    code = {name: place for place, name in enumerate(names)}
    return QueryGroups(names, list(query_ids), np.array([code[group[q]] for q in query_ids], dtype=np.int64))


_Pair: TypeAlias = "tuple[str, str | None, str]"


def _pairs(groups: Any, column: str | None, table: Any, collection: str | None) -> tuple[list[_Pair], str]:
    """Query, group and place of every row."""
    if isinstance(groups, str) and table is not None:
        groups, column = table, groups
    elif isinstance(groups, Mapping):
        odd = next((value for value in groups.values() if isinstance(value, (list, tuple, set, Mapping))), None)
        if odd is not None:
            raise ValueError(f"groups: expected a mapping of query ids to groups, but one query maps to {shown(odd)}")
        return [(id_text(query) or "", id_text(name), "groups") for query, name in groups.items()], "groups"
    elif isinstance(groups, (str, os.PathLike)):
        path = os.fspath(groups)
        if not is_file(path):
            raise ValueError(f"groups: there is no file {path!r}; to use a column of a table, give the table, too")
        with rereadable(path) as file:
            content = Table.from_parquet(file) if is_parquet(file) else _of_text(file)
            return _of_table(content, column, collection) if isinstance(content, Table) else content, path
    frame = table_of_frame(groups, "groups")
    if frame is None:
        raise ValueError(
            f"groups of type {type(groups).__name__} cannot be read: give a mapping of query ids to groups, a table with query_id "
            "and one more column, or a file"
        )
    return _of_table(frame, column, collection), "groups"


def _of_table(table: Table, column: str | None, collection: str | None) -> list[_Pair]:
    columns, what = table.columns, table.what
    query = next((name for name in QUERY_NAMES if name in columns and name != column), None)
    if query is None and table.index is None:
        raise ValueError(f"{what} has no column query_id: it has {shown_names(list(columns))}")
    task = None
    if collection is not None:
        task = next((name for name in TASK_NAMES if name in columns and name not in (query, column)), None)
    others = [name for name in columns if name not in (query, task)]
    chosen = column or next((name for name in _GROUP_NAMES if name in others), others[0] if len(others) == 1 else None)
    if chosen is None or chosen not in others:
        named = f"no column {column!r}" if column is not None else "several columns, none of them called group"
        raise ValueError(f"{what} has {named}: it has {shown_names(list(columns))}; name one with column=")
    collections = [] if task is None else list(map(id_text, columns[task]))
    if task is not None and collection not in collections:
        names = list(map(str, dict.fromkeys(collections)))
        raise ValueError(f"{what}: no row is of collection {collection!r}; {task} has {shown_names(names)}")
    ids: Any = table.index if query is None else columns[query]
    pairs = []
    for row, (query_id, name) in enumerate(zip(ids, columns[chosen], strict=True)):
        if task is not None and collections[row] != collection:
            continue
        text = id_text(query_id)
        if text is None:
            raise ValueError(f"{table.where(row)}: there is no query")
        pairs.append((text, id_text(name), table.where(row)))
    return pairs


def _of_text(path: str) -> Table | list[_Pair]:
    """A text file's table, where it has a header; else its lines of query and group, whatever separates them."""
    text = text_of_file(path)
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip() and not line.startswith("#")]
    separator = next((mark for mark in ("\t", ",", ";") if lines and mark in lines[0][1]), None)
    found: Iterable[tuple[int, list[str]]] = ((n, line.split()) for n, line in lines)
    if separator is not None:
        found = csv_rows(text, lambda line: f"{path}, line {line}", separator, skipinitialspace=True)
    rows = [(n, row) for n, row in found if not row[0].startswith("#")]
    if not rows:
        raise ValueError(f"{path}: there are no groups in it")
    has_header = any(name in QUERY_NAMES for name in rows[0][1])
    width = len(rows[0][1]) if has_header else 2
    for n, row in rows:
        if len(row) != width:
            raise ValueError(f"{path}, line {n}: {len(row)} fields where {width} are expected (query and group)")
    return (
        Table.from_rows(rows, path)
        if has_header
        else [(row[0], row[1] or None, f"{path}, line {n}") for n, row in rows]
    )
