"""What the best order of documents can reach (Maistro, Chaves Lima, Simonsen, Lioma, CIKM 2021)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ir_lexirecall.meta.laws.properties import Claim, Property, Space
from ir_lexirecall.meta.made_up_rankings import Ranking


def _best_orders(space: Space) -> Iterator[Claim]:
    """All orders of all topics of up to three documents; a group is a topic."""
    labels: list[Any] = list(space.grades)
    if space.aspects:
        units = [tuple(int(a == b) for a in range(space.aspects)) for b in range(space.aspects)]
        labels = list(dict.fromkeys([(0,) * space.aspects, *units, (1,) * space.aspects]))
    topics = itertools.chain(*(itertools.combinations_with_replacement(labels, size) for size in (1, 2, 3)))
    for group, topic in enumerate(topics):
        if np.all(np.any(np.array(topic).reshape(len(topic), -1) >= space.least, axis=0)):  # relevant in every aspect
            for order in dict.fromkeys(itertools.permutations(topic)):
                yield Claim(((1, Ranking(order)),), constant=-1.0, group=group)


PROPERTIES = (
    Property(
        "reachable maximum",
        "the best order of all documents of a topic scores 1, for every topic with relevant documents in every aspect",
        source="Maistro 2021",
        claims=_best_orders,
        needs="one",
        searched="all orders of all topics of up to 3 documents",
        counterexample="no order of the topic scores 1; the best is {r0} with {v0}",
    ),
)
