"""Rows that summarise the others, such as `Average` below a table: they are no queries."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats

_SUMMARY_WORDS = frozenset(
    [
        "aggregate",
        "all",
        "amean",
        "average",
        "averaged",
        "avg",
        "macro",
        "mean",
        "means",
        "overall",
        "summary",
        "total",
    ]
)
_FURTHER_WORDS = frozenset(
    ["by", "of", "over", "per", "queries", "query", "score", "task", "tasks", "the", "topics"]
)
_SURE = 1e-6
"""A row under an ordinary name is a summary if it is the mean by chance at most this often."""
_MOST_DIGITS = 12
_COARSE = 0.02
"""Share of the spread of values above which the unit of a last digit says nothing."""


def is_summary_name(name: str) -> bool:
    """Return whether a row may be a summary by its name, which has no other words.

    >>> is_summary_name("Mean (Task)"), is_summary_name("macro-avg"), is_summary_name("q1")
    (True, True, False)
    >>> is_summary_name("what is the average height?")
    False
    """
    words = {word for word in re.split(r"[\W\d_]+", name.lower()) if word}
    return bool(words & _SUMMARY_WORDS) and words <= _SUMMARY_WORDS | _FURTHER_WORDS


def summary_rows(values: Floats, query_ids: Sequence[str], is_last: Bools) -> list[int]:
    """Return the indices of queries whose values are the means of the others.

    Every value must be the mean of the other values of its run and measure, up to the digits that
    are printed. Under a name such as `Average` the sum will do, too, as trec_eval has it for
    counts. Under another name, the row must be the last one, and its values must be so many and so
    precise that they are no means by chance: where all queries have the same value, or a table has
    one column of two digits, a query may well be the mean of the others.

    Args:
        values: shape ``(K, S, Q)``; NaN where a value is missing.
        query_ids: the names of the rows.
        is_last: whether the row is the last one of its run.

    >>> table = np.array([[[0.5, 0.25, 0.38], [0.75, 0.5, 0.63]]])
    >>> summary_rows(table, ["q1", "q2", "Average"], np.array([False, False, True]))
    [2]
    >>> summary_rows(table, ["q1", "q2", "q3"], np.array([False, False, True]))
    []
    """
    summaries: list[int] = []
    for q, query_id in enumerate(query_ids):
        has_name = is_summary_name(query_id)
        if not has_name and not is_last[q]:
            continue
        others = np.delete(values, [*summaries, q], axis=2)
        is_mean = _is_mean(values[:, :, q], others, or_sum=has_name)
        if is_mean and (has_name or _chance(others) <= _SURE):
            summaries.append(q)
    return summaries


def _is_mean(row: Floats, others: Floats, *, or_sum: bool) -> bool:
    """Return whether all values of a row are the means of the others, as far as printed."""
    present = ~np.isnan(row)
    printed, columns = row[present], [x[~np.isnan(x)] for x in others[present]]
    if not printed.size or not all(x.size and np.isfinite(x).all() for x in columns):
        return False
    unit = _unit(printed)
    return all(
        _is_near(value, x.mean(), x, unit) or (or_sum and _is_near(value, x.sum(), x, unit))
        for value, x in zip(printed, columns, strict=True)
    )


def _is_near(value: float, mean: float, values: Floats, unit: float) -> bool:
    """Return whether a printed value is a mean of printed values, whatever was rounded.

    Args:
        value: the value, printed with its last digit in `unit`.
        mean: the mean, or sum, of what is printed of the values.
        values: the values. The mean of n that are rounded to u is off by about u / sqrt(12 n).
        unit: counts only where it is much smaller than the spread of values: 1 may be 1.0000.
    """
    unit_of_values = _unit(values)
    if unit > _COARSE * np.ptp(values):
        unit = min(unit, unit_of_values)
    tolerance = unit / 2 + unit_of_values * min(0.5, 2 / np.sqrt(12 * len(values)))
    return bool(abs(value - mean) <= tolerance)


def _unit(values: Floats) -> float:
    """Return the unit of the last digit of values.

    >>> _unit(np.array([0.5, 0.25]))
    0.01
    """
    size = max(1.0, float(np.abs(values).max()))
    if not np.isfinite(size):
        return 1.0
    for digits in range(_MOST_DIGITS):
        if np.abs(np.round(values, digits) - values).max() <= 1e-14 * size:
            return float(10.0**-digits)
    return 10.0**-_MOST_DIGITS * size


def _chance(values: Floats) -> float:
    """Return how probable it is that one more row holds the means of these, by chance.

    Each column counts once: with `n` steps between its smallest and largest value, 1 in `n`.
    """
    chance = 1.0
    for column in np.unique(values.reshape(-1, values.shape[2]), axis=0):
        present = column[~np.isnan(column)]
        spread = float(np.ptp(present)) if len(present) else 0.0
        if spread > 0:
            chance *= min(1.0, 2 * _unit(present) / spread)
    return chance
