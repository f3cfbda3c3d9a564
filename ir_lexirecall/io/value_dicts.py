"""Values per query in nested dicts, and in lists of values as ir_measures has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.errors import and_more, naming, shown, shown_names
from ir_lexirecall.io.names import METRIC_NAMES
from ir_lexirecall.io.no_measures import is_no_measure, note_on_name
from ir_lexirecall.io.value_cells import (
    SUMMARY,
    CellRow,
    Cells,
    id_text,
    is_known_measure,
    is_missing_mark,
    is_text_measure,
    value_of,
)

_MOST_MEASURES = 1000
"""Number of outer keys up to which they may be measures; more are queries."""
DictRow: TypeAlias = tuple[str, str, Any]
"""A query, a measure and a value, as nested dicts have them."""


def cells_of_dicts(
    content: Mapping[Any, Any],
    name: str,
    measures: Sequence[str] | None = None,
    *,
    may_be_by_run: bool = False,
) -> Cells:
    """Return the values in nested dicts.

    Args:
        content: ``{query: {measure: value}}``, ``{query: value}``, or ``{measure: {user: value}}``
            with integers for users, as Cornac has it.
        name: the label of the dicts in messages.
        measures: the name of the measure in ``{query: value}``, if there is just one.
        may_be_by_run: whether they may also be ``{run: {query: value}}``, which is settled later.
    """
    with naming(name):
        rows = _rows_of_dicts(content, measures)
    rows = [row for row in rows if not is_text_measure(row[1])]
    if rows and all(query in SUMMARY for query, _, _ in rows):
        raise ValueError(
            f"{name}: it has values over all queries only ({rows[0][0]!r}); give a value per "
            "query: {query_id: {measure: value}}"
        )
    notes: list[str] = []
    if not (may_be_by_run and may_be_queries_of_runs(rows)):
        rows, notes = _without_no_measures(rows, name, measures or ())
    with naming(name):
        cells = _cells_of_rows(rows)
    return Cells.from_rows(
        cells,
        lambda n: f"{name}, query {rows[n][0]!r}",
        may_have_summary=True,
        notes=tuple(notes),
    )


def _cells_of_rows(rows: Sequence[DictRow]) -> list[CellRow]:
    """Return the cells of queries, measures and values; NaN for missing values.

    Raises:
        ValueError: a value is neither a number nor missing.
    """
    cells: list[CellRow] = []
    faults = []
    for query, measure, value in rows:
        if is_missing_mark(value):
            value = None
        if _is_number_or_missing(value):
            number = np.nan if value is None else float(value)
            cells.append((None, query, measure, number))
        elif isinstance(value, Mapping):
            raise ValueError(
                f"values in this shape of JSON or dicts are not known: one is {shown(value)}, not "
                "a number; give {query_id: {measure: value}}"
            )
        else:
            faults.append(f"the {measure} of query {shown(query)} is {shown(value)}")
    if faults:
        raise ValueError(
            f"{faults[0]}, not a number{and_more(len(faults) - 1)}; "
            "give {query_id: {measure: value}}"
        )
    return cells


def _without_no_measures(
    rows: Sequence[DictRow], name: str, named: Sequence[str]
) -> tuple[list[DictRow], list[str]]:
    """Return the rows of names that may be measures, and notes on the other names.

    A query that has only other names gets a missing value.

    Args:
        rows: queries, names and values.
        name: the label of the dicts in messages.
        named: measures that the user names, which stay.

    Raises:
        ValueError: no name can be that of a measure.
    """
    names = dict.fromkeys(measure for _, measure, _ in rows)
    left_out = [one for one in names if one not in named and is_no_measure(one)]
    if not left_out:
        return list(rows), []
    if len(left_out) == len(names):
        raise ValueError(
            f"{name}: no name is that of a measure ({shown_names(left_out)}); name those that "
            f"are measures, such as {left_out[0]!r}"
        )
    measured = [row for row in rows if row[1] not in left_out]
    first_measure = measured[0][1]
    with_values = {query for query, _, _ in measured}
    for query in dict.fromkeys(query for query, _, _ in rows):
        if query not in with_values:
            measured.append((query, first_measure, None))
    return measured, list(map(note_on_name, left_out))


def may_be_queries_of_runs(rows: Sequence[DictRow]) -> bool:
    """Return whether rows of query and measure may be rows of run and query instead.

    They may if there are several runs, more queries than runs, and no inner key names a measure.
    If some inner keys are names such as `tstamp`, the others are measures.
    """
    outer = {query for query, _, _ in rows}
    inner = {measure for _, measure, _ in rows}
    if len(outer) < 2 or len(inner) <= len(outer):
        return False
    n_no_measures = sum(map(is_no_measure, inner))
    if 0 < n_no_measures < len(inner):
        return False
    return not any(map(is_known_measure, inner))


def cells_of_metrics(metrics: Iterable[Any], name: str) -> Cells:
    """Return values as ir_measures' `iter_calc` gives them: with query_id, measure and value."""
    rows: list[CellRow] = [
        (None, str(one.query_id), str(one.measure), float(one.value)) for one in metrics
    ]
    return Cells.from_rows(rows, lambda n: f"{name}, query {rows[n][1]!r}")


def are_metrics(data: Any) -> bool:
    """Return whether data is a list of ir_measures' values per query."""
    if not isinstance(data, (list, tuple)) or not data:
        return False
    return all(METRIC_NAMES.issubset(dir(one)) for one in data)


def _rows_of_dicts(
    content: Mapping[Any, Any], measures: Sequence[str] | None
) -> list[tuple[str, str, Any]]:
    """Return nested dicts as tuples of query, measure and value."""
    rows = []
    only_measure = measures[0] if measures else "value"
    if _is_by_measure(content):
        return [
            (_query_of_key(query), str(measure), value)
            for measure, inner in content.items()
            for query, value in inner.items()
        ]
    for key, inner in content.items():
        if not isinstance(inner, Mapping):
            rows.append((_query_of_key(key), only_measure, inner))
        elif _is_measure_of_users(key, inner):
            rows += [(_query_of_key(user), key, value) for user, value in inner.items()]
        else:
            query = _query_of_key(key)
            rows += [(query, str(measure), value) for measure, value in inner.items()]
    return rows


def _query_of_key(key: Any) -> str:
    """Return the query that a key of a dict names.

    Raises:
        ValueError: it is missing or empty, or a pair, as of a query and a measure.
    """
    if isinstance(key, tuple):
        raise ValueError(
            f"{shown(key)} is the key of a value; give {{query_id: {{measure: value}}}}"
        )
    query = id_text(key)
    if query is None:
        raise ValueError(f"{shown(key)} is the key of a query; name the query")
    return query


def _is_by_measure(content: Mapping[Any, Any]) -> bool:
    """Return whether dicts are ``{measure: {query: value}}``, as ranx has them.

    There is more than one query, and all outer keys are names of measures, while not all inner ones
    are; or at least half of the outer keys are, and no inner one. Times and settings do not count.
    """
    if not 0 < len(content) <= _MOST_MEASURES:
        return False
    if not all(map(_is_dict_of_several, content.values())):
        return False
    measures = [key for key in content if not _is_key_of_no_measure(key)]
    n_known = sum(map(_is_key_of_measure, measures))
    if not n_known or 2 * n_known < len(measures):
        return False
    inner_keys = dict.fromkeys(chain.from_iterable(content.values()))
    if n_known == len(measures):
        return not all(map(_is_key_of_measure, inner_keys))
    return not any(map(_is_key_of_measure, inner_keys))


def _is_dict_of_several(inner: Any) -> bool:
    """Return whether an object is a dict with more than one key."""
    return isinstance(inner, Mapping) and len(inner) > 1


def _is_key_of_measure(key: Any) -> bool:
    """Return whether a key is the name of a measure."""
    return isinstance(key, str) and is_known_measure(key)


def _is_key_of_no_measure(key: Any) -> bool:
    """Return whether a key is a name that no measure has, such as `tstamp`."""
    return isinstance(key, str) and is_no_measure(key)


def _is_measure_of_users(key: Any, inner: Mapping[Any, Any]) -> bool:
    """Return whether a dict is Cornac's ``{measure: {user: value}}``, with integers for users."""
    return (
        isinstance(key, str)
        and bool(inner)
        and not any(isinstance(user, str) for user in inner)
    )


def _is_number_or_missing(value: Any) -> bool:
    """Return whether a value is a number, True, False or None, not a text."""
    if value is None:
        return True
    return not isinstance(value, str) and value_of(value) is not None
