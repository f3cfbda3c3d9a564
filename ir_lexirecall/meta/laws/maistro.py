"""Replacement, swap and the set-based order of measurements, and what the best order can reach.

Sources: Ferrante, Ferro, Maistro, ICTIR 2015; Maistro, Chaves Lima, Simonsen, Lioma, CIKM 2021.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ir_lexirecall.meta.laws.properties import (
    Claim,
    Property,
    Space,
    equal,
    more,
    replaced,
    swapped,
    swaps,
    weak_and_strict,
)
from ir_lexirecall.meta.made_up_rankings import Ranking

_property = partial(Property, source="Ferrante 2015")
_and_strict = partial(
    weak_and_strict, _property, "strict", weak="never lowers", strict="raises"
)


def _replacements(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim that a document of a higher grade is worth more."""
    labels: Any = ranking.retrieved
    for i, grade in itertools.product(range(len(labels)), space.grades):
        if labels[i] < grade:
            yield more(*replaced(ranking, i, grade))


def _same_set(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim that only the set of documents counts."""
    labels: Any = ranking.retrieved
    for i in range(len(labels) - 1):
        if labels[i] < labels[i + 1]:
            yield from equal(swapped(ranking, i, i + 1), ranking)
    yield from _replacements(ranking, space)


UTILITY_ORIENTED = (
    *_and_strict(
        "replacement",
        "replacing a document by one of a higher grade",
        around=_replacements,
    ),
    *_and_strict(
        "swap", "swapping a document with a lower one of a higher grade", around=swaps
    ),
    _property(
        "set-based order",
        "of two rankings of equal length, the one with at least as many documents of every grade "
        "or more never scores less; "
        "so the order of the documents does not matter",
        around=_same_set,
    ),
)


def _best_orders(space: Space) -> Iterator[Claim]:
    """All orders of all topics of up to three documents; a group is a topic."""
    labels: list[Any] = list(space.grades)
    if space.aspects:
        units = [
            tuple(int(a == b) for a in range(space.aspects))
            for b in range(space.aspects)
        ]
        labels = list(
            dict.fromkeys([(0,) * space.aspects, *units, (1,) * space.aspects])
        )
    topics = itertools.chain(
        *(itertools.combinations_with_replacement(labels, size) for size in (1, 2, 3))
    )
    for group, topic in enumerate(topics):
        # For every aspect, some document is relevant.
        if np.all(
            np.any(np.array(topic).reshape(len(topic), -1) >= space.least, axis=0)
        ):
            for order in dict.fromkeys(itertools.permutations(topic)):
                yield Claim(((1, Ranking(order)),), constant=-1.0, group=group)


REACHABLE = (
    Property(
        "reachable maximum",
        "the best order of all documents of a topic scores 1, for every topic with relevant "
        "documents in every aspect",
        source="Maistro 2021",
        claims=_best_orders,
        needs="one",
        searched="all orders of all topics of up to 3 documents",
        counterexample="no order of the topic scores 1; the best is {r0} with {v0}",
    ),
)
