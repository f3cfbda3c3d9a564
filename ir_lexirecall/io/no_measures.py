"""Columns of numbers that are no measures: times, processes, settings, labels, and constants."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ir_lexirecall._util.arrays import Objects
from ir_lexirecall._util.errors import shown_names
from ir_lexirecall._util.selecting import without
from ir_lexirecall.io.frames import Table
from ir_lexirecall.io.names import VALUE_NAMES
from ir_lexirecall.io.query_columns import words_of
from ir_lexirecall.io.value_cells import is_known_measure, value_of
from ir_lexirecall.io.whole_columns import rows_with_values

_TIMES = """
    begin, begin time, created, created at, created time, creation time, date, datetime, day, end,
    end time, ended, ended at, epoch time, event time, finished at, hour, modified, modified at,
    month, start, start time, started, started at, time stamp, ts, unix time, updated, updated at,
    week, year
"""
_PROCESSES = """
    core, device, gpu, host, job, local rank, machine, node, partition, pid, port, ppid, process,
    shard, thread, tid, worker, world size
"""
_SETTINGS = """
    attempt, batch, batch idx, batch index, batch size, beam size, beams, chunk, chunk size,
    context length, context size, error code, evaluation cost, exit code, frequency penalty,
    http code, http status, idx, index, iteration, k, learning rate, lr, max length, max new tokens,
    max output tokens, max tokens, min p, n shots, n samples, num beams, num fewshot, num samples,
    num shots, num workers, order, page, params, patience, presence penalty, repetition penalty,
    return code, returncode, round, row, shots, status, status code, step, temp, template,
    test idx, top k, top p, try, turn, variant, window size
"""
_LABELS = """
    actual output, answer, choice, class, expected, expected output, gold, gold idx, gold index,
    ground truth, gt, model answer, output, pred, predicted, prediction, reference,
    reference answer, response, target, target idx, target index, y pred, y true
"""
_TESTS = "p val, p value, pval, pvalue"
_LAST_WORDS = frozenset(
    ("date", "datetime", "label", "seed", "temperature", "threshold", "timestamp")
) | {"labels", "tstamp", "version"}
"""Last words of names that no measure has, as in `gold_label` or `prompt_version`."""
_SPREADS = frozenset(("std", "stdev", "stddev", "sem", "stderr", "variance"))
"""Words that end the names of measures of spread, such as `acc_stderr`."""
EXTREMES = (0.0, 1.0)
"""Values that a measure may well have in all rows."""


def _plain_names(text: str) -> frozenset[str]:
    """Return names between commas, without blanks."""
    return frozenset("".join(name.split()) for name in text.split(","))


_ABOUT_RUNS = _plain_names(",".join((_TIMES, _PROCESSES, _SETTINGS, _TESTS)))
_ABOUT_ANSWERS = _plain_names(_LABELS)


def is_no_measure(name: str, *, or_label: bool = True) -> bool:
    """Return whether the name of a column says that it is no measure.

    Args:
        name: its name; what stands before a point does not count, as in `metadata.turn`.
        or_label: whether names of labels, answers and spreads count, too.

    >>> is_no_measure("createdAt"), is_no_measure("gold_label"), is_no_measure("latency")
    (True, True, False)
    """
    words = words_of(name.rsplit(".", maxsplit=1)[-1])
    plain = "".join(words)
    if plain in _ABOUT_RUNS:
        return True
    if not _LAST_WORDS.isdisjoint(words[-1:]):
        return or_label or not words[-1].startswith("label")
    is_spread = not _SPREADS.isdisjoint(words[-1:])
    return or_label and (is_spread or plain in _ABOUT_ANSWERS)


def constants(tables: Sequence[Table]) -> frozenset[str]:
    """Return the columns with the same number in all rows of all tables.

    Columns with the name of a measure are not among them, nor columns of 0 or of 1: a measure may
    well have one value everywhere.
    """
    if not tables or sum(map(len, tables)) < 2:
        return frozenset()
    names = [name for name in tables[0].columns if not is_known_measure(name)]
    return frozenset(name for name in names if _is_constant(name, tables))


def _is_constant(name: str, tables: Iterable[Table]) -> bool:
    """Return whether all tables have one and the same number in a column, other than 0 and 1."""
    numbers = {_only_number(table.columns.get(name)) for table in tables}
    return len(numbers) == 1 and numbers.isdisjoint((None, *EXTREMES))


def _only_number(values: Objects | None) -> float | None:
    """Return the number that all rows of a column have; None if there is no such number.

    Rows without a value are ignored: a row of means may lack one.
    """
    if values is None:
        return None
    if values.dtype.kind in "iuf":
        present = values[~np.isnan(values)]
    else:
        present = values[rows_with_values(values)]
    if not len(present) or not isinstance(present[0], (str, int, float, np.number)):
        return None
    return value_of(present[0]) if np.all(present == present[0]) else None


def without_no_measures(
    table: Table,
    columns: Sequence[str],
    named: Iterable[str],
    constant: frozenset[str],
    *,
    beside_runs: bool,
) -> tuple[list[str], list[str]]:
    """Return the columns that may hold values, and notes on those that are left out.

    Args:
        table: the table.
        columns: its columns of numbers that may hold values.
        named: measures that the user names: they stay.
        constant: see `constants`.
        beside_runs: whether columns may be runs: a label may then be the name of one, and any
            values may be level.

    Raises:
        ValueError: there are numbers, but none that is a measure.
    """
    lower = {name.lower() for name in columns}
    or_label = not beside_runs or not lower.isdisjoint(VALUE_NAMES)
    kept, notes = _measures_by_name(table, columns, named, or_label=or_label)
    if beside_runs:
        return kept, notes
    level = [name for name in kept if name in constant and name not in named]
    if len(level) == len(kept):
        return kept, notes
    for name in level:
        notes.append(note_on_constant(name, float(table.floats(name)[0])))
    return without(kept, level), notes


def _measures_by_name(
    table: Table, columns: Sequence[str], named: Iterable[str], *, or_label: bool
) -> tuple[list[str], list[str]]:
    """Return the columns that may be measures by their names, and notes on the others.

    Raises:
        ValueError: there is none.
    """
    kept, left_out = [], []
    for name in columns:
        if name not in named and is_no_measure(name, or_label=or_label):
            left_out.append(name)
        else:
            kept.append(name)
    if left_out and not kept:
        raise ValueError(
            f"{table.name}: no column has the name of a measure; of the columns with numbers "
            f"({shown_names(left_out)}), name those that are measures, such as {left_out[0]!r}"
        )
    return kept, list(map(note_on_name, left_out))


def names_of_no_measures(names: Iterable[str], named: Iterable[str]) -> list[str]:
    """Return the names that no measure has; an empty list if that would be all names.

    Args:
        names: names of values in rows of their own.
        named: measures that the user names, which are never returned.
    """
    distinct = dict.fromkeys(names)
    left_out = [name for name in distinct if name not in named and is_no_measure(name)]
    return left_out if len(left_out) < len(distinct) else []


def note_on_constant(name: str, value: float) -> str:
    """Return a sentence on a column that is left out because all rows have the same value."""
    return f"The column {name!r} is {value:.12g} in all rows: left out."


def note_on_name(name: str) -> str:
    """Return a sentence on a column that is left out by its name."""
    return f"The column {name!r} is left out: its name is not that of a measure."
