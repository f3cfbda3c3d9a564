"""Ids, numbers and contradictions in whole columns, where a look at each value takes long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, Objects
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.io.value_cells import (
    id_text,
    is_missing,
    is_missing_mark,
    texts,
    value_of,
)

_PYTHON_NUMBERS = frozenset((bool, int, float, type(None)))
_TEXTS_OR_NONE = frozenset((str, type(None)))
_NOT_IN_NUMBERS = re.compile(r"[\s_]")
"""What `float` allows in a text, and values do not: blanks, and `_` between digits."""


def has_texts_only(values: Objects) -> bool:
    """Return whether all values of a column are texts."""
    return values.dtype.kind == "O" and set(map(type, values)) <= {str}


def rows_with_values(values: Objects) -> Ints:
    """Return the rows of a column whose values are not missing.

    >>> rows_with_values(texts(["a", None, float("nan"), ""])).tolist()
    [0, 3]
    """
    rows: Iterable[int] = range(len(values))
    if not has_texts_only(values):
        rows = [row for row in rows if not is_missing(values[row])]
    return np.fromiter(rows, dtype=np.int64)


def distinct(values: Objects) -> Objects:
    """Return each value of a column of texts once, in order; other columns as they are.

    Among other values, some are equal that are not alike, such as 1 and True.

    >>> distinct(texts(["b", "a", "b"])).tolist(), distinct(texts([1, True])).tolist()
    (['b', 'a'], [1, True])
    """
    if has_texts_only(values):
        return texts(dict.fromkeys(values))
    return values


def id_texts(values: Objects) -> Objects:
    """Return the ids in a column as texts, as `id_text` does; None for each that is missing.

    >>> id_texts(texts([7.0, "q1", " ", None])).tolist()
    ['7', 'q1', None, None]
    """
    if has_texts_only(values) and all(map(str.strip, values)):
        return values
    return texts(map(id_text, values))


def numbers_in(values: Objects) -> Floats | None:
    """Return a column of numbers, or of texts of numbers, as floats; NaN for missing values.

    True and False are 1 and 0. Return None if a closer look is needed: at a column with numbers of
    other types, with some texts that are no numbers, or with the texts True and False.

    >>> numbers_in(texts([1, None, 0.5])), numbers_in(texts(["1", "x"]))
    (array([1. , nan, 0.5]), None)
    """
    types = set(map(type, values))
    if types <= _TEXTS_OR_NONE:
        joined = "".join(filter(None, values))
        if not joined.isascii() or _NOT_IN_NUMBERS.search(joined):
            return None
    elif not types <= _PYTHON_NUMBERS:
        return None
    try:
        return values.astype(np.float64)
    except (ValueError, OverflowError):
        return None


def without_missing_marks(values: Objects) -> Objects:
    """Return a column with None for texts that stand for missing values, if the others are numbers.

    >>> without_missing_marks(texts(["0.5", "NA"])).tolist()
    ['0.5', None]
    >>> without_missing_marks(texts(["Paris", "NA"])).tolist()
    ['Paris', 'NA']
    """
    if values.dtype.kind != "O":
        return values
    present = (value for value in values if not is_missing(value))
    first = next((value for value in present if not is_missing_mark(value)), None)
    if value_of(first) is None or numbers_in(values) is not None:
        return values
    marked = texts(None if is_missing_mark(value) else value for value in values)
    is_number = (value_of(value) is not None for value in marked if value is not None)
    if all(is_number):
        return marked
    return values


def rows_by_name(columns: Sequence[Objects]) -> list[Ints]:
    """Return the rows of each combination of values in some columns, in order of appearance.

    >>> [rows.tolist() for rows in rows_by_name([texts(["b", "a", "b"])])]
    [[0, 2], [1]]
    """
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        code_of_row, names = pd.factorize(texts(map(str, column)))
        codes, _ = pd.factorize(codes * len(names) + code_of_row)
    order = np.argsort(codes, kind="stable")
    if not len(order):
        return []
    return np.split(order, np.cumsum(np.bincount(codes))[:-1])


def first_positions(keys: Objects) -> Ints:
    """Return for each key the position at which it occurs first.

    >>> first_positions(texts(["b", "a", "b", None, None])).tolist()
    [0, 1, 0, 3, 3]
    """
    codes, names = pd.factorize(keys, use_na_sentinel=False)
    first_of_code = np.zeros(len(names), dtype=np.int64)
    # Of several positions, the one that is written last stays: the first one.
    first_of_code[codes[::-1]] = np.arange(len(keys))[::-1]
    return first_of_code[codes]


def contradictions(keys: Objects, values: Objects) -> tuple[Ints, Ints]:
    """Return the positions of values that are unlike the first one of the same key.

    Args:
        keys: ids as texts, some perhaps None.
        values: a text for each, or None.

    Returns:
        The positions, in order, and the position of the first value of the key of each.

    >>> at, first = contradictions(texts(["a", "b", "a"]), texts(["x", "x", "y"]))
    >>> at.tolist(), first.tolist()
    ([2], [0])
    """
    first = first_positions(keys)
    (positions,) = np.nonzero(values != values[first])
    return positions, first[positions]
