"""Steps over whole columns give what a look at each value gives."""

from __future__ import annotations

import numpy as np
import pytest

from ir_lexirecall.io.value_cells import id_text, is_missing, texts, value_of
from ir_lexirecall.io.whole_columns import (
    contradictions,
    distinct,
    id_texts,
    numbers_in,
    rows_by_name,
    rows_with_values,
)

COLUMNS = {
    "texts": ["q1", "q2", "q1"],
    "blank": ["q1", " ", ""],
    "missing": ["q1", None, float("nan")],
    "integers": [1, 2, 1],
    "mixed": [1, True, 1.0, "1", None],
    "numpy": [np.int64(3), np.float64(0.5), np.str_("x")],
    "numbers": ["1", "0.5", "-1e3", "inf", "nan"],
    "underscore": ["1_000", "2"],
    "padded": [" 1", "2"],
    "other digits": ["\u0661", "2"],
    "flags": ["True", "false"],
    "empty": ["0.5", ""],
    "huge": [10**400, 1],
    "long": ["1" * 400, "1"],
    "gap": ["0.5", None],
    "floats": [0.5, float("nan"), 2],
    "nothing": [],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_ids_are_those_of_each_value(name):
    column = texts(COLUMNS[name])
    assert id_texts(column).tolist() == list(map(id_text, column))


@pytest.mark.parametrize("name", COLUMNS)
def test_numbers_are_those_of_each_value(name):
    column = texts(COLUMNS[name])
    numbers = numbers_in(column)
    each = [np.nan if is_missing(value) else value_of(value) for value in column]
    if None in each:
        assert numbers is None
    elif numbers is not None:
        np.testing.assert_array_equal(numbers, np.array(each, dtype=np.float64))


@pytest.mark.parametrize("name", ["numbers", "gap", "floats", "integers"])
def test_plain_numbers_are_read_at_once(name):
    assert numbers_in(texts(COLUMNS[name])) is not None


@pytest.mark.parametrize("name", COLUMNS)
def test_rows_with_values(name):
    column = texts(COLUMNS[name])
    rows = [row for row, value in enumerate(column) if not is_missing(value)]
    assert rows_with_values(column).tolist() == rows


def test_values_that_are_equal_but_not_alike_stay():
    assert distinct(texts([1, True, 1.0])).tolist() == [1, True, 1.0]
    assert distinct(texts(["b", "a", "b"])).tolist() == ["b", "a"]


def test_rows_by_several_names_come_in_order_of_appearance():
    runs, measures = texts(["b", "a", "b", "b"]), texts(["AP", "AP", "P", "AP"])
    groups = [rows.tolist() for rows in rows_by_name([runs, measures])]
    assert groups == [[0, 3], [1], [2]]
    assert rows_by_name([texts([])]) == []


def test_contradictions_are_with_the_first_value():
    keys, values = texts(["a", "b", "a", "b", "a"]), texts(["x", "y", "z", "y", "x"])
    positions, first = contradictions(keys, values)
    assert (positions.tolist(), first.tolist()) == ([2], [0])
