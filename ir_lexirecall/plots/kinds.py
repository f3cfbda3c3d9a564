"""Kinds of pictures: what ``plot(kind)`` of a result, and the command line, find by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar

from ir_lexirecall._util.errors import check_choice, entry

P = ParamSpec("P")
R = TypeVar("R")


class Register(Protocol):
    """A decorator that keeps the signature of what it decorates."""

    def __call__(self, draw: Callable[P, R], /) -> Callable[P, R]:
        """Register a function that draws, and return it."""
        ...


KINDS: dict[type, dict[str, Callable[..., Any]]] = {}
"""For each type of result, the functions that draw it, by their names."""


def picture_of(result: type) -> Register:
    """Register the decorated function as a kind of picture, by its name, of results of a type."""

    def register(draw: Callable[P, R]) -> Callable[P, R]:
        named = entry(draw)
        KINDS.setdefault(result, {})[draw.__name__] = named
        return named

    return register


def picture(result: type, kind: str) -> Callable[..., Any]:
    """Return the function that draws results of a type as a kind of picture."""
    return KINDS[result][check_choice("kind", kind, KINDS[result])]
