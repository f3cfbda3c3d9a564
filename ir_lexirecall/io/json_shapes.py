"""Shapes of JSON objects with values: by run, by query, or by column, as pandas writes tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ir_lexirecall.io.names import ITEM_NAMES, QUERY_NAMES, RUN_NAMES
from ir_lexirecall.io.value_cells import Cells, is_known_measure
from ir_lexirecall.io.value_dicts import cells_of_dicts, may_be_queries_of_runs

_COLUMN_NAMES = frozenset((*QUERY_NAMES, *ITEM_NAMES, *RUN_NAMES))
_OTHER_ORIENTS = ({"columns", "index", "data"}, {"columns", "data"}, {"schema", "data"})
"""Keys of the tables that pandas writes with orient='split' or 'table'."""


def cells_of_object(
    content: Mapping[str, Any], path: str, measures: Sequence[str] | None
) -> Cells | None:
    """Return the values in an object of JSON; None if it is a record, a row of a table.

    Args:
        content: ``{run: {query: {measure: value}}}``, or what `cells_of_dicts` takes.
        path: the file.
        measures: the measures that are wanted, if the user named them.

    Raises:
        ValueError: it is a table by columns, or something in it is no number.
    """
    _check_is_not_by_column(content, path)
    if all(map(_holds_dicts, content.values())):
        cells = [
            cells_of_dicts(inner, f"{path}, run {run!r}", measures).of_run(run)
            for run, inner in content.items()
        ]
        return Cells.joined(cells)
    if _names_its_query(content):
        return None
    has_dicts = any(isinstance(value, (dict, list)) for value in content.values())
    if has_dicts or _is_by_query(content):
        return cells_of_dicts(content, path, measures, may_be_by_run=True)
    return None


def _names_its_query(content: Mapping[str, Any]) -> bool:
    """Return whether an object is a record, with a text under a known name such as `query_id`."""
    return any(
        isinstance(value, str) and name.lower() in _COLUMN_NAMES
        for name, value in content.items()
    )


def _holds_dicts(inner: Any) -> bool:
    """Return whether an object holds objects only."""
    if not isinstance(inner, Mapping) or not inner:
        return False
    return all(isinstance(value, Mapping) for value in inner.values())


def _is_by_query(content: Mapping[str, Any]) -> bool:
    """Return whether an object is ``{query: value}``: numbers under names of no columns."""
    if any(isinstance(value, str) for value in content.values()):
        return False
    names = [name.lower() for name in content]
    return _COLUMN_NAMES.isdisjoint(names) and not any(map(is_known_measure, content))


def _check_is_not_by_column(content: Mapping[str, Any], path: str) -> None:
    """Raise if an object is a table by columns, ``{column: {row: value}}``.

    A column of ids or runs has texts, or a known name, and all columns have the same rows.
    """
    if set(content) in _OTHER_ORIENTS:
        raise ValueError(
            f"{path}: a table as pandas writes it with orient='split' or 'table'; write it by "
            "rows, with to_json(..., orient='records')"
        )
    columns = [value for value in content.values() if isinstance(value, Mapping)]
    if len(columns) < max(2, len(content)):
        return
    if any(column.keys() != columns[0].keys() for column in columns):
        return
    if set(columns[0]) != set(map(str, range(len(columns[0])))):
        return
    known = _COLUMN_NAMES.intersection(name.lower() for name in content)
    if known or any(isinstance(x, str) for column in columns for x in column.values()):
        raise ValueError(
            f"{path}: a table by columns, as pandas writes it by default; write it by rows, with "
            "to_json(..., orient='records')"
        )


def by_run(cells: Cells, measures: Sequence[str] | None) -> Cells:
    """Return cells of ``{run: {query: value}}`` as such, which were read by query and measure.

    No name is that of a measure, and there are more queries than runs.

    Args:
        cells: values of one object, whose runs are not named.
        measures: the name of the measure, if there is just one.
    """
    if any(run is not None for run in cells.run):
        return cells
    pairs = dict.fromkeys(zip(cells.query_id, cells.measure, strict=True))
    if not may_be_queries_of_runs([(*pair, None) for pair in pairs]):
        return cells
    measure = measures[0] if measures else "value"
    return replace(
        cells,
        run=cells.query_id,
        query_id=cells.measure,
        measure=cells.of_run(measure).run,
    )
