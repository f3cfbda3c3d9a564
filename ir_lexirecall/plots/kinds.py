"""Kinds of pictures: what ``plot(kind)`` of a result, and the command line, find by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ir_lexirecall._util.errors import check_choice

Draw = TypeVar("Draw", bound=Callable[..., Any])

KINDS: dict[type, dict[str, Callable[..., Any]]] = {}
"""For each type of result, the functions that draw it, by their names."""


def picture_of(result: type) -> Callable[[Draw], Draw]:
    """Let results of a type be drawn by the function that is decorated; its name is the kind of picture."""

    def register(draw: Draw) -> Draw:
        KINDS.setdefault(result, {})[draw.__name__] = draw
        return draw

    return register


def picture(result: type, kind: str) -> Callable[..., Any]:
    """The function that draws results of a type as a kind of picture."""
    return KINDS[result][check_choice("kind", kind, KINDS[result])]
