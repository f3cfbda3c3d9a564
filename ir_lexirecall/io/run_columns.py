"""Columns beside those of runs that are no runs: differences, counts, and words for values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations

import numpy as np

from ir_lexirecall._util.arrays import Floats, Objects
from ir_lexirecall._util.errors import shown, shown_names
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.io.cells import is_printed_number, number_hint
from ir_lexirecall.io.frames import Kind, Table
from ir_lexirecall.io.measure_names import equivalent, known
from ir_lexirecall.io.query_columns import words_of
from ir_lexirecall.io.summary_rows import COARSE, COARSEST, unit_of
from ir_lexirecall.io.value_cells import (
    MISSING_MARKS,
    is_known_measure,
    is_missing,
    value_of,
)
from ir_lexirecall.io.whole_columns import rows_with_values

MISSING = MISSING_MARKS | {"", "-", "--", "?"}
"""Texts that stand for a missing value, in lower case."""
_SEPARATOR = re.compile(r"[\W_]+")
VERDICTS = {
    # inspect_ai
    "c",
    "i",
    "p",
    "n",
    # people and programs
    "y",
    "yes",
    "no",
    "t",
    "true",
    "f",
    "false",
    "correct",
    "partial",
    "incorrect",
    "right",
    "wrong",
    "pass",
    "passed",
    "fail",
    "failed",
    "success",
    "failure",
    "good",
    "bad",
}
"""Texts that stand for values, in lower case."""
_DIFFERENCE_WORDS = {
    "change",
    "delta",
    "diff",
    "difference",
    "diffs",
    "gain",
    "gap",
    "improv",
    "improvement",
    "increase",
    "lift",
    "range",
    "uplift",
    "δ",
}
"""Words in the name of a column that holds differences of two runs."""
_MOST_RUNS = 40
"""Columns among which differences are looked for: tables of more are not made by hand."""
_FEWEST_ROWS = 5
_LONGEST_MEASURE = 200
"""Characters of a measure's name at most, with parameters: further ones are not looked at."""
_MOST_CANDIDATES = 3
"""Columns with negative values: if more have some, values may well be negative."""
_SURE = 1e-6
"""A column is unlike those of runs if it would be by chance at most this often."""


def stands_for_none(value: object) -> bool:
    """Return whether a cell is empty, or has a text that stands for a missing value."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    return is_missing(value)


def check_left_out(table: Table, column: str, *, is_run: bool) -> None:
    """Raise if a column that is left out as a text holds values: its run would vanish.

    The texts are numbers as printed for readers, such as ``95 %``; numbers beside ``-``; or, where
    the columns are runs, numbers beside some other texts, or words such as yes and no.

    Args:
        table: the table.
        column: the column.
        is_run: whether columns of values are runs, not measures.
    """
    values = table.columns[column]
    rows = rows_with_values(values).tolist()
    if not rows:
        return
    if all(is_printed_number(values[row]) for row in rows):
        raise ValueError(
            f"{table.location(rows[0])}: {column} is {shown(values[rows[0]])}, not a number; "
            "write numbers as 0.5, or leave the column out"
            f"{number_hint(values[rows[0]])}"
        )
    stray = _text_among_numbers(values[rows], is_run=is_run)
    if stray is not None:
        row = rows[stray]
        raise ValueError(
            f"{table.location(row)}: {column} is {shown(values[row])}, not a number as in other "
            "rows; leave the cell empty if the value is missing, or leave the column out"
        )
    if is_run and _are_verdicts(table, column):
        raise ValueError(
            f"{table.location(rows[0])}: {column} is {shown(values[rows[0]])}, not a number; "
            "write 1 and 0 if it is a run, or leave the column out"
        )


def _text_among_numbers(values: Objects, *, is_run: bool) -> int | None:
    """Return the index of the first text in a column most of which are numbers; else None.

    Unless the column is a run's, all of its texts must stand for missing values: answers may be
    numbers, too.
    """
    first = None
    n_texts = 0
    for index, value in enumerate(values):
        if value_of(value) is not None:
            continue
        if not is_run and not stands_for_none(value):
            return None
        n_texts += 1
        if 2 * n_texts >= len(values):
            return None
        if first is None:
            first = index
    return first


def _are_verdicts(table: Table, column: str) -> bool:
    """Return whether all texts of a column are words that stand for values, such as yes and no."""
    if table.kind(column) is not Kind.TEXT:
        return False
    labels = {str(value).strip().lower() for value in table.columns[column]}
    return len(labels) > 1 and labels <= VERDICTS


def check_like_runs(table: Table, columns: Mapping[str, Floats]) -> None:
    """Raise if a column beside those of runs is a measure, or holds numbers of another kind.

    Such a column, as of the number of relevant documents or the length of a query, would be a run.

    Args:
        table: the table.
        columns: the columns of values, of which two at least are to be runs.
    """
    several = measures_of_runs_in(columns)
    if several:
        raise ValueError(
            f"{table.name}: the columns {shown_names(list(columns), 4)} are of several measures "
            f"({shown_names(several, 3)}); give a row per query and run, with a column for "
            f"runs and one per measure, or only the columns of one measure, such as {several[0]}"
        )
    measures = [name for name in columns if _is_named_measure(name)]
    if measures and len(measures) < len(columns) and not are_numbered(list(columns)):
        raise ValueError(_no_run(table, measures[0], "has the name of a measure"))
    for name in columns:
        if not _is_of_another_kind(table, columns, name):
            continue
        kind = "whole numbers"
        if table.kind(name) is Kind.FLAG:
            kind = "True and False"
        reason = f"holds {kind}, while other columns have fractions"
        raise ValueError(_no_run(table, name, reason))


def are_numbered(names: Sequence[str]) -> bool:
    """Return whether names are of numbered runs: a small letter, and the numbers from 1 (or 0) on.

    >>> are_numbered(["r1", "r2"]), are_numbered(["R1", "R2"]), are_numbered(["r5", "r10"])
    (True, False, False)
    """
    start = min(names, default="")[-1:]
    if len(names) < 2 or start not in ("0", "1"):
        return False
    expected = {f"{names[0][0]}{int(start) + i}" for i in range(len(names))}
    return names[0][0].islower() and {*names} == expected


def measures_of_runs_in(names: Iterable[str]) -> list[str]:
    """Return the measures that have a column for each run, if there are several; else nothing.

    >>> measures_of_runs_in(["AP_a", "nDCG@10_a", "AP_b", "nDCG@10_b"])
    ['AP', 'nDCG@10']
    >>> measures_of_runs_in(["('AP', 'a')", "('AP', 'b')", "('RR', 'a')", "('RR', 'b')"])
    ['AP', 'RR']
    >>> measures_of_runs_in(["AP_a", "AP_b"]), measures_of_runs_in(["a_x", "a_y", "b_x", "b_y"])
    ([], [])
    """
    names = list(names)
    for is_first in (True, False):
        runs_of_measure: dict[str, set[str]] = {}
        for name in names:
            measure, run = _measure_and_run(name, is_first=is_first)
            runs_of_measure.setdefault(measure, set()).add(run)
        first, *others = runs_of_measure.values()
        is_grid = bool(others) and all(runs == first for runs in others)
        if is_grid and len(first) > 1 and "" not in runs_of_measure:
            return list(runs_of_measure)
    return []


def _measure_and_run(name: str, *, is_first: bool) -> tuple[str, str]:
    """Return the measure and the run in the name of a column, such as `AP_bm25`.

    Without a measure, the measure is empty and the run is the whole name.

    Args:
        name: the name.
        is_first: whether the measure stands before the run.
    """
    name = name.strip("()[]'\" ")  # of a tuple that was turned into a text
    # The longest measure counts, as in `nDCG@10_a`.
    if is_first:
        separators = [*_SEPARATOR.finditer(name[:_LONGEST_MEASURE])][::-1]
    else:
        start = max(len(name) - _LONGEST_MEASURE, 0)
        separators = [*_SEPARATOR.finditer(name, start)]
    for separator in separators:
        parts = name[: separator.start()], name[separator.end() :]
        measure, run = parts if is_first else parts[::-1]
        if run and len(measure) > 1 and is_known_measure(measure):
            return measure, run
    return "", name


def _is_of_another_kind(table: Table, columns: Mapping[str, Floats], name: str) -> bool:
    """Return whether a column holds whole numbers or flags where others have fractions."""
    if not _has_integers_or_flags(table, name, columns[name]):
        return False
    others = []
    for other, values in columns.items():
        if other != name and not _has_integers_or_flags(table, other, values):
            others.append(other)
    return _has_no_fractions(columns, name, others)


def _no_run(table: Table, column: str, reason: str) -> str:
    """Return the message on a column that is hardly one of a run."""
    return (
        f"{table.name}: {column} {reason}; leave it out if it is not a run, or give a table with "
        "columns run, query_id and value"
    )


def _is_named_measure(name: str) -> bool:
    """Return whether a name is that of a measure, with nothing before or behind it.

    A single letter, such as `P` and `R`, is as often a run.
    """
    if len(name) == 1:
        return False
    if equivalent(name) is not None:
        return True
    if known(name) is not None:
        return not _is_named_difference(name)
    try:
        parse_measure(name)
    except ValueError:
        return False
    return True


def _has_no_fractions(
    columns: Mapping[str, Floats], name: str, others: Sequence[str]
) -> bool:
    """Return whether a column has no fractions, and would hardly do so if it were a run.

    The others lie between 0 and 1, with more than one digit: people rate in halves, or in whole
    numbers, and times and counts may well be whole in one run.
    """
    values = columns[name][np.isfinite(columns[name])]
    if not others:
        return False
    stacked = np.concatenate([columns[other] for other in others])
    stacked = stacked[np.isfinite(stacked)]
    are_shares = len(stacked) and stacked.min() >= 0 and stacked.max() <= 1
    if not are_shares or unit_of(stacked) > COARSEST:
        return False
    n_fractions = int((stacked % 1 != 0).sum())
    chance = (1 - n_fractions / (len(stacked) + 1)) ** len(values)
    return bool(chance <= _SURE)


def _has_integers_or_flags(table: Table, column: str, values: Floats) -> bool:
    """Return whether a column holds True and False, or integers other than 0 and 1.

    A run may have zeros and ones only.
    """
    present = values[np.isfinite(values)]
    if not len(present) or (present % 1 != 0).any():
        return False
    return table.kind(column) is Kind.FLAG or not np.isin(present, (0.0, 1.0)).all()


def columns_of_differences(columns: Mapping[str, Floats]) -> dict[str, str]:
    """Return the columns that hold differences of two others, with what they are differences of.

    A column called `delta` or `b - a` may also hold the absolute value, or a share of one of the
    two. Under another name, so many values must be differences that they are not by chance, and
    some must be negative.

    >>> a, b = np.array([0.5, 0.25]), np.array([0.75, 0.75])
    >>> columns_of_differences({"a": a, "b": b, "delta": b - a, "c": a})
    {'delta': 'a and b'}
    """
    if not 2 < len(columns) <= _MOST_RUNS:
        return {}
    negative = _columns_with_negatives(columns)
    pair_of_column: dict[str, str] = {}
    for name in columns:
        others = [one for one in columns if one != name and one not in pair_of_column]
        pair = _pair_of_differences(columns, name, others, may_be_any=name in negative)
        if pair is not None:
            pair_of_column[name] = " and ".join(pair)
    return pair_of_column


def _columns_with_negatives(columns: Mapping[str, Floats]) -> list[str]:
    """Return the columns with negative values; none if they are many, as of values."""
    names = [name for name, values in columns.items() if (values < 0).any()]
    if len(names) > _MOST_CANDIDATES:
        return []
    return names


def _pair_of_differences(
    columns: Mapping[str, Floats], name: str, others: Sequence[str], *, may_be_any: bool
) -> tuple[str, str] | None:
    """Return the two columns whose differences a column holds; None if there are none.

    Args:
        columns: the columns of values.
        name: the column that may hold differences.
        others: the columns whose differences they may be.
        may_be_any: whether it may hold differences under any name, not only under one that says so.
    """
    is_named = _is_named_difference(name)
    if not is_named and not may_be_any:
        # It may be called `b - a`.
        others = [other for other in others if other in name]
    for first, second in permutations(others, 2):
        by_name = is_named or _is_named_after(name, first, second)
        if not by_name and not may_be_any:
            continue
        if _is_difference(columns, name, first, second, is_named=by_name):
            return first, second
    return None


def _is_named_difference(name: str) -> bool:
    """Return whether a column is one of differences by its name, such as `delta`."""
    words = [*words_of(name), name.strip().lower()]
    return not _DIFFERENCE_WORDS.isdisjoint(words)


def _is_named_after(name: str, first: str, second: str) -> bool:
    """Return whether a column has the names of two others and little else, as in `b - a`."""
    rest = name
    for run in sorted((first, second), key=len, reverse=True):
        if run not in rest:
            return False
        rest = rest.replace(run, " ", 1)
    return re.search(r"[A-Za-z\d]{3}", re.sub("minus|against", "", rest)) is None


def _is_difference(
    columns: Mapping[str, Floats], name: str, first: str, second: str, *, is_named: bool
) -> bool:
    """Return whether a column holds the differences of two others, as they are printed."""
    values, x, y = columns[name], columns[first], columns[second]
    present = np.isfinite(values) & np.isfinite(x) & np.isfinite(y)
    values, x, y = values[present], x[present], y[present]
    if len(values) < 2 or not np.ptp(values):
        return False
    unit, rounding = unit_of(values), (unit_of(x) + unit_of(y)) / 2
    if not is_named:
        is_fine = len(values) >= _FEWEST_ROWS and unit <= COARSE * float(np.ptp(values))
        return is_fine and bool((np.abs(values - (x - y)) <= unit / 2 + rounding).all())
    return any(
        bool((np.abs(values - one) <= unit / 2 + tolerance).all())
        for one, tolerance in _differences(x, y, rounding)
    )


def _differences(
    x: Floats, y: Floats, rounding: float
) -> Iterator[tuple[Floats, Floats]]:
    """Yield forms of differences of two columns, each with what rounding makes of them."""
    tolerance = np.full(len(x), rounding)
    yield x - y, tolerance
    yield np.abs(x - y), tolerance
    if (y > 0).all():
        share = (x - y) / y
        tolerance = rounding * (2 + np.abs(share)) / y
        yield share, tolerance
        yield 100 * share, 100 * tolerance


def notes_of_left_out(table: Table, names: Sequence[str]) -> list[str]:
    """Return sentences on columns without numbers or texts, which may be of runs."""
    notes = []
    for name in names:
        values = table.columns[name]
        if values.dtype.kind in "fiub":
            continue
        if all(map(stands_for_none, values)):
            notes.append(f"The column {name!r} has no values: left out.")
        elif table.kind(name) is Kind.OTHER:
            notes.append(f"The column {name!r} holds no numbers: left out.")
    return notes
