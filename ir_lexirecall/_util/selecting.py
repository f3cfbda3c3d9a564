"""Parts of sequences and mappings, by membership."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any, TypeVar

K = TypeVar("K")
T = TypeVar("T")


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


def of_type(mapping: Mapping[K, Any], kind: type[T]) -> dict[K, T]:
    """Return the entries of a mapping whose values have a type.

    >>> of_type({"a": 1, "b": "x"}, str)
    {'b': 'x'}
    """
    return {key: value for key, value in mapping.items() if isinstance(value, kind)}
