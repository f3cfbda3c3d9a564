"""Parts of sequences and mappings, by membership; and the order in which people read ids."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence, Sized
from typing import Any, TypeVar

K = TypeVar("K")
T = TypeVar("T")

_INTEGER = re.compile("-?[0-9]{1,300}")  # longer ones are no numbers that people read


def among(items: Iterable[T], kept: Container[Any]) -> list[T]:
    """Return the items that are among others, in order.

    >>> among(["a", "b", "c"], {"c", "a"})
    ['a', 'c']
    """
    return [item for item in items if item in kept]


def without(items: Iterable[T], excluded: Container[Any]) -> list[T]:
    """Return the items that are not among others, in order.

    >>> without(["a", "b", "c"], {"c", "a"})
    ['b']
    """
    return [item for item in items if item not in excluded]


def with_keys(mapping: Mapping[K, T], keys: Iterable[K]) -> dict[K, T]:
    """Return the entries of those keys that a mapping has, in the order of the keys.

    >>> with_keys({"a": 1, "b": 2}, ["b", "c", "a"])
    {'b': 2, 'a': 1}
    """
    return {key: mapping[key] for key in keys if key in mapping}


def without_keys(mapping: Mapping[K, T], excluded: Container[Any]) -> dict[K, T]:
    """Return the entries of a mapping whose keys are not among others.

    >>> without_keys({"a": 1, "b": 2}, ["b"])
    {'a': 1}
    """
    return {key: value for key, value in mapping.items() if key not in excluded}


def index_of(items: Iterable[K]) -> dict[K, int]:
    """Return where each item stands.

    >>> index_of(["a", "b"])
    {'a': 0, 'b': 1}
    """
    return {item: index for index, item in enumerate(items)}


def part_and_row(parts: Iterable[Sized], row: int) -> tuple[int, int]:
    """Return the index of the part that holds a row of all parts together, and the row in it.

    >>> part_and_row(["ab", "", "cde"], 3)
    (2, 1)
    """
    for index, part in enumerate(parts):
        if row < len(part):
            return index, row
        row -= len(part)
    raise IndexError(row)


def of_type(mapping: Mapping[K, Any], kind: type[T]) -> dict[K, T]:
    """Return the entries of a mapping whose values have a type.

    >>> of_type({"a": 1, "b": "x"}, str)
    {'b': 'x'}
    """
    return {key: value for key, value in mapping.items() if isinstance(value, kind)}


def reading_order(ids: Sequence[str]) -> list[int]:
    """Return the indices of ids in the order in which people read them.

    Ids that are all integers go by number; otherwise, or if they are equal numbers, all keep their
    order.

    >>> reading_order(["1", "10", "2"])
    [0, 2, 1]
    >>> reading_order(["q1", "q10", "q2"])
    [0, 1, 2]
    """
    indices = list(range(len(ids)))
    if not all(map(_INTEGER.fullmatch, ids)):
        return indices
    return sorted(indices, key=lambda index: int(ids[index]))
