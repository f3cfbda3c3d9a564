"""Values in tables of any shape: a row per value, a column per measure, or a column per run."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, Objects
from ir_lexirecall._util.errors import and_more, shown, shown_names
from ir_lexirecall._util.selecting import without
from ir_lexirecall.io.frames import Kind, Table
from ir_lexirecall.io.measure_names import known
from ir_lexirecall.io.mteb_results import further_parts, has_cells
from ir_lexirecall.io.names import MEASURE_NAMES, TASK_NAMES, VALUE_NAMES
from ir_lexirecall.io.no_measures import (
    is_no_measure,
    names_of_no_measures,
    note_on_name,
    without_no_measures,
)
from ir_lexirecall.io.query_columns import (
    Roles,
    advice_on_repeats,
    is_system_name,
    is_unique_in_runs,
    known_item_column,
)
from ir_lexirecall.io.run_columns import (
    VERDICTS,
    are_numbered,
    check_left_out,
    check_like_runs,
    columns_of_differences,
    notes_of_left_out,
)
from ir_lexirecall.io.summary_rows import names_means, runs_of_means
from ir_lexirecall.io.value_cells import (
    Cells,
    id_text,
    is_known_measure,
    is_measure,
    is_missing,
    is_text_measure,
    texts,
)
from ir_lexirecall.io.whole_columns import id_texts, without_missing_marks


def cells_of_table(
    table: Table,
    roles: Roles,
    measures: Sequence[str] | None,
    constant: frozenset[str] = frozenset(),
) -> Cells:
    """Return the values in a table.

    Args:
        table: the table.
        roles: what its columns hold.
        measures: the columns to take if all of them are there, else all with numbers. A single
            one is also the name of the values in a table with a column per run, and of a column
            called `value`.
        constant: columns with the same number in all rows of all tables (`constants`).

    Raises:
        ValueError: an id is missing, a value is not a number, or there are no values.
    """
    check_has_texts(table, roles.query)
    table = with_missing_values(table, roles)
    if roles.value is not None:
        return cells_of_rows(table, roles, measures or ())
    columns, notes = value_columns(table, roles, measures, constant)
    table = replace(table, notes=(*table.notes, *notes))
    label = None
    if measures is not None and len(measures) == 1:
        [label] = measures
    if has_column_per_run(table, roles, list(columns)):
        table = _with_notes_of_left_out(table, roles, columns)
        return cells_by_run(table, roles, columns, label or "value")
    if roles.run is None and label is not None and len(columns) == 1:
        [(name, column)] = columns.items()
        if name.lower() in VALUE_NAMES:
            columns = {label: column}
    return cells_by_measure(table, roles, columns)


def _with_notes_of_left_out(
    table: Table, roles: Roles, columns: Container[str]
) -> Table:
    """Return the same table with sentences on columns that are left out and may be of runs.

    Args:
        table: the table.
        roles: what its columns hold.
        columns: the columns of values, which are taken.
    """
    names = [name for name in roles.others(table) if name not in columns]
    notes = notes_of_left_out(table, names)
    return replace(table, notes=(*table.notes, *notes))


def with_missing_values(table: Table, roles: Roles) -> Table:
    """Return a table whose columns of numbers have None where a text such as `NA` stands."""
    ids = (roles.query, roles.run, roles.measure, table.repeat)
    columns = {
        name: values if name in ids else without_missing_marks(values)
        for name, values in table.columns.items()
    }
    return replace(table, columns=columns)


def has_column_per_run(table: Table, roles: Roles, columns: Sequence[str]) -> bool:
    """Return whether columns of values are those of runs, not of measures.

    Raises:
        ValueError: the columns are measures, and nothing names the runs.
    """
    if roles.run is not None or table.one_run:
        return False
    if _have_runs(table, columns):
        return True
    if table.one_run is None:
        return False
    hint = ""
    systems = [name for name in table.columns if is_system_name(name)]
    if systems:
        hint = f", or if {systems[0]} names the runs, say so: run={systems[0]!r}"
    raise ValueError(
        f"{table.name} has columns of measures ({shown_names(list(columns), 3)}) and none of "
        f"runs; give {{run: table}}, or add a column run{hint}"
    )


def _have_runs(table: Table, columns: Sequence[str]) -> bool:
    """Return whether a column has the name of no measure, which is then that of a run.

    In a file that may be of one run, `value` is the name of a measure, too. Columns such as `r1`
    and `r2` are of runs, although `r2` is a measure.
    """
    if are_numbered(columns):
        return True
    others = []
    for name in columns:
        is_known = len(name) > 1 and known(name) is not None
        if not is_known and not is_measure(name):
            others.append(name)
    if table.one_run is None:
        others = [name for name in others if name.lower() not in VALUE_NAMES]
    return bool(others)


def check_has_texts(table: Table, column: str) -> None:
    """Raise if a row has nothing in a column of ids or names."""
    ids = id_texts(table.columns[column]).tolist()
    if None in ids:
        raise ValueError(f"{table.location(ids.index(None))}: there is no {column}")


def value_columns(
    table: Table,
    roles: Roles,
    measures: Sequence[str] | None,
    constant: frozenset[str],
) -> tuple[dict[str, Floats], list[str]]:
    """Return the columns of values by name: those asked for, if they are there, else all.

    With them come notes on columns of numbers that are left out, as they are no measures.

    Raises:
        ValueError: there are none, or a value is not a number.
    """
    notes: list[str] = []
    if measures is None or not set(measures) <= table.columns.keys():
        named = measures or ()
        candidates = table.measures or roles.others(table)
        with_numbers = [name for name in candidates if table.has_values(name)]
        if not with_numbers:
            raise ValueError(_no_values(table, roles))
        measures = with_numbers
        if not table.measures:
            measures, notes = without_no_measures(
                table,
                with_numbers,
                named,
                constant,
                beside_runs=roles.run is None and not table.one_run,
            )
            notes += _notes_on_counts_and_ids(table, roles)
        is_run = has_column_per_run(table, roles, measures)
        for name in without(candidates, set(with_numbers)):
            if not is_no_measure(name, or_label=not is_run):
                check_left_out(table, name, is_run=is_run)
    return {name: table.floats(name) for name in measures}, notes


def _notes_on_counts_and_ids(table: Table, roles: Roles) -> list[str]:
    """Return a sentence on each column that looks like values, but counts rows or holds ids."""
    notes = []
    for name in roles.counts(table):
        notes.append(f"The column {name!r} counts the rows: left out.")
    for name in roles.further_ids(table):
        notes.append(f"The column {name!r} holds ids beside {roles.query!r}: left out.")
    return notes


def _no_values(table: Table, roles: Roles) -> str:
    """Return the message on a table without numbers.

    It names the column that most likely stands for values: others have ids, models and texts.
    """
    labels_of = {name: _labels(table, name) for name in roles.others(table)}
    names = [name for name, labels in labels_of.items() if labels]
    if not names:
        columns = shown_names(list(table.columns))
        way_out = "add some"
        reasons = {
            **dict.fromkeys(roles.counts(table), "counts the rows"),
            **dict.fromkeys(roles.further_ids(table), "holds ids"),
        }
        if reasons:
            name, reason = next(iter(reasons.items()))
            way_out = f"{name!r} {reason}; if it is a measure, say measures={name!r}"
        return f"{table.name}: there are no values in it: it has {columns}; {way_out}"
    name = max(names, key=lambda column: _likeness(table, roles, column))
    labels = labels_of[name]
    way_out = "write numbers as 0.5"
    if len(labels) <= 2 and not re.search(r"\d", "".join(labels)):
        way_out = "write 0 and 1"
    values = table.columns[name]
    row = next(row for row, value in enumerate(values) if not is_missing(value))
    return (
        f"{table.name}: no column holds numbers: {name!r} has {shown(values[row])} "
        f"({table.location(row)}); {way_out}"
    )


def _labels(table: Table, column: str) -> set[str]:
    """Return the texts in a column."""
    return {str(value) for value in table.columns[column] if not is_missing(value)}


def _likeness(table: Table, roles: Roles, column: str) -> int:
    """Return how much a column without numbers looks like one of values.

    Most where all its texts are verdicts, such as the C and I of inspect_ai; then where it has two
    texts, and some run has both.
    """
    labels = _labels(table, column)
    if {label.strip().lower() for label in labels} <= VERDICTS:
        return 2
    if len(labels) != 2:
        return 0
    values = table.columns[column]
    runs = [None] * len(table) if roles.run is None else table.columns[roles.run]
    label_of_run: dict[Any, str] = {}
    for run, value in zip(runs, values, strict=True):
        if is_missing(value):
            continue
        if label_of_run.setdefault(run, str(value)) != str(value):
            return 1
    return 0


def cells_of_rows(table: Table, roles: Roles, named: Sequence[str]) -> Cells:
    """Return the values of a table with a row per value.

    Args:
        table: the table.
        roles: what its columns hold.
        named: measures that the user names.
    """
    assert roles.measure is not None
    assert roles.value is not None
    check_has_texts(table, roles.measure)
    names = list(map(str, table.columns[roles.measure]))
    no_measures = names_of_no_measures(names, named)
    kept = []
    for row, name in enumerate(names):
        if not is_text_measure(name) and name not in no_measures:
            kept.append(row)
    notes = map(note_on_name, no_measures)
    table = replace(table.rows(kept), notes=(*table.notes, *notes))
    values = {roles.value: table.floats(roles.value)}
    measures = texts(map(str, table.columns[roles.measure]))
    cells = _stacked(table, roles, values, run_of_rows(table, roles), measures)
    return replace(cells, location=table.location)


def cells_by_measure(table: Table, roles: Roles, columns: dict[str, Floats]) -> Cells:
    """Return the values of a table with a column per measure."""
    runs = run_of_rows(table, roles)
    names = np.repeat(texts(columns), len(table))
    return _stacked(table, roles, columns, np.tile(runs, len(columns)), names)


def cells_by_run(
    table: Table, roles: Roles, columns: dict[str, Floats], measure: str
) -> Cells:
    """Return the values of a table with a column per run, and perhaps a row per measure.

    A column `Average` that holds the means of the others, or `max`, is no run, nor is a column
    `delta` that holds the differences of two.

    Args:
        table: the table.
        roles: what its columns hold.
        columns: the columns of values.
        measure: the name of the values, unless each row names its measure.

    Raises:
        ValueError: a column is unlike those of runs.
    """
    runs = dict(columns)
    notes = list(table.notes)
    for name, pair in columns_of_differences(runs).items():
        del runs[name]
        notes.append(f"The column {name!r} holds the differences of {pair}: left out.")
    grid = np.stack([*runs.values()])[None]
    for name in runs_of_means(grid, list(runs), other_statistics=True):
        del runs[name]
        statistic = "the means" if names_means(name) else "what its name says"
        notes.append(f"The column {name!r} holds {statistic} of the others: left out.")
    check_like_runs(table, runs)
    table = replace(table, notes=tuple(notes))
    run_of_value = np.repeat(texts(runs), len(table))
    measure_of_value = np.tile(measures_of_rows(table, measure), len(runs))
    return _stacked(table, roles, runs, run_of_value, measure_of_value)


def measures_of_rows(table: Table, measure: str) -> Objects:
    """Return the measure of each row of a table with a column per run.

    Args:
        table: the table.
        measure: the name of the values if the rows do not name their measures.

    Raises:
        ValueError: some rows name a measure, and others do not.
    """
    column = table.named(MEASURE_NAMES)
    if column is None or table.kind(column) is not Kind.TEXT:
        return np.full(len(table), measure, dtype=object)
    check_has_texts(table, column)
    return texts(map(str, table.columns[column]))


def _stacked(
    table: Table,
    roles: Roles,
    columns: dict[str, Floats],
    runs: Objects,
    measures: Objects,
) -> Cells:
    """Return columns of values below each other as cells."""
    names, height = list(columns), len(table)
    repeat = None
    if table.repeat is not None:
        repeat = np.tile(id_texts(table.columns[table.repeat]), len(columns))

    def advice(first: int, second: int) -> str:
        values = [name for name in names if not _tells_rows_apart(table, roles, name)]
        of_rows = advice_on_repeats(table, roles, values)
        return of_rows(first % height, second % height)

    return Cells(
        runs,
        np.tile(id_texts(table.columns[roles.query]), len(columns)),
        measures,
        np.concatenate([*columns.values()]),
        lambda n: f"{table.location(n % height)}, column {names[n // height]!r}",
        per_task=roles.query == table.named(TASK_NAMES),
        may_have_summary=True,
        advice=advice,
        query_column=roles.query,
        notes=table.notes,
        cut=table.cut,
        repeat=repeat,
        repeat_column=table.repeat,
    )


def _tells_rows_apart(table: Table, roles: Roles, column: str) -> bool:
    """Return whether a column of integers by no measure's name numbers the rows of each query."""
    are_runs = roles.run is None and not table.one_run
    if are_runs or is_known_measure(column) or table.kind(column) is not Kind.INTEGER:
        return False
    if table.ids(column) <= {"0", "1", None}:
        return False
    names = (roles.query, roles.run, roles.measure, column)
    columns = [table.columns[name] for name in names if name is not None]
    keys = zip(*(map(id_text, values) for values in columns), strict=True)
    return len(set(keys)) == len(table)


def run_of_rows(table: Table, roles: Roles) -> Objects:
    """Return the run of each row; None where it is not named."""
    if roles.run is None:
        return texts([None] * len(table))
    return id_texts(table.columns[roles.run])


# -- several collections ---------------------------------------------------------------------------


def _is_leaderboard(table: Table, column: str) -> bool:
    """Return whether a table has a value per task, or per split and subset, not per query."""
    if has_cells(table, further_parts([table])):
        return True
    return known_item_column(table) is None and is_unique_in_runs(table, column)


def tables_of_collections(table: Table, query: str | None) -> dict[str, Table] | None:
    """Return the rows of each collection, or None if no column names collections beside queries.

    Args:
        table: the table.
        query: the column that names the queries, if the user said it.

    Raises:
        ValueError: a row names no collection.
    """
    column = table.named(TASK_NAMES)
    if column is None or column == query:
        return None
    if query is None and _is_leaderboard(table, column):
        return None
    rows: dict[str | None, list[int]] = {}
    for row, collection in enumerate(map(id_text, table.columns[column])):
        rows.setdefault(collection, []).append(row)
    if nameless := rows.get(None):
        raise ValueError(
            f"{table.location(nameless[0])}: there is no {column}{and_more(len(nameless) - 1)}; "
            "add it"
        )
    others = {name: values for name, values in table.columns.items() if name != column}
    rest = replace(table, columns=others)
    return {str(collection): rest.rows(kept) for collection, kept in rows.items()}
