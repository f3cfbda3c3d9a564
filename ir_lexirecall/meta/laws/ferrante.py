"""Utility-oriented measurements (Ferrante, Ferro, Maistro, ICTIR 2015): replacement and swap; the set-based order."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

from ir_lexirecall.meta.laws.properties import Claim, Property, Space, equal, more, replaced, swapped, swaps
from ir_lexirecall.meta.made_up_rankings import Ranking

_property = partial(Property, source="Ferrante 2015")


def _replacements(ranking: Ranking, space: Space) -> Iterator[Claim]:
    labels: Any = ranking.retrieved
    for i, grade in itertools.product(range(len(labels)), space.grades):
        if labels[i] < grade:
            yield more(*replaced(ranking, i, grade))


def _same_set(ranking: Ranking, space: Space) -> Iterator[Claim]:
    labels: Any = ranking.retrieved
    for i in range(len(labels) - 1):
        if labels[i] < labels[i + 1]:
            yield from equal(swapped(ranking, i, i + 1), ranking)
    yield from _replacements(ranking, space)


PROPERTIES = (
    _property(
        "replacement",
        "replacing a document by one of a higher grade never lowers the value",
        around=_replacements,
    ),
    _property(
        "strict replacement",
        "replacing a document by one of a higher grade raises the value",
        strict=True,
        around=_replacements,
    ),
    _property(
        "swap",
        "swapping a document with a lower one of a higher grade never lowers the value",
        around=swaps,
    ),
    _property(
        "strict swap",
        "swapping a document with a lower one of a higher grade raises the value",
        strict=True,
        around=swaps,
    ),
    _property(
        "set-based order",
        "of two rankings of equal length, the one with at least as many documents of every grade or more never scores less; "
        "so the order of the documents does not matter",
        around=_same_set,
    ),
)
