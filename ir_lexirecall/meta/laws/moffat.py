"""Moffat's seven numeric properties (AIRS 2013), as quoted by Diaz et al. and Ferrante et al.

The source could not be had beyond its abstract. All are about the value at a depth k: that of the
measure with this cutoff (``P@k``, ``nDCG@k``), or of the first k documents if it takes none. They
are checked at small depths, whatever cutoff the measure has.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial

from ir_lexirecall.meta.laws.properties import (
    Claim,
    Property,
    Space,
    changed,
    equal,
    more,
    swapped,
)
from ir_lexirecall.meta.made_up_rankings import Ranking

_property = partial(Property, source="Moffat 2013", labels=lambda space: space.binary)
_DEEPEST = 4
_MOST_RELEVANT = 20  # documents of the topics in which values must be bounded

WITHOUT_RELEVANT = frozenset(
    [
        *("P", "RR", "Success", "SetP", "NumRet", "Judged", "Unjudged", "Hole"),
        *("RBP", "RBP_TE", "SDCG", "INSQ", "INST", "BPM", "DCG", "ERR", "GERR"),
        *("NERR8", "NERR9", "NERR10", "NERR11"),
        *("CWL_ERR8", "CWL_ERR9", "CWL_ERR10", "CWL_ERR11", "CWL_RBP"),
        *("EU", "RBU", "CT", "ACT", "NRBP_G", "alpha_DCG_IA"),
    ]
)
"""Measures whose formula has a value without relevant documents; others have it by convention."""


def _depths(ranking: Ranking) -> range:
    """Return the depths at which a ranking is looked at, whole or in part."""
    return range(1, min(_DEEPEST, len(ranking.retrieved)) + 1)


def _deeper(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim at least as much at the next depth."""
    for k in _depths(ranking):
        if k < len(ranking.retrieved):
            yield more(ranking.at(k + 1), ranking.at(k))


def _swaps_at(ranking: Ranking, space: Space, *, across: bool) -> Iterator[Claim]:
    """Claim more at a depth after a swap with a more relevant document from below, or within it."""
    labels = ranking.retrieved
    for i, j in itertools.combinations(range(len(labels)), 2):
        if labels[i] == 0 != labels[j]:
            for k in _depths(ranking):
                if i < k and (j >= k) == across:
                    yield more(swapped(ranking, i, j).at(k), ranking.at(k))


def _others_below(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim the same value at a depth with another document below, or one more that is missing."""
    top = space.top
    if not any(ranking.retrieved) and not any(ranking.missing):
        return
    for k in _depths(ranking):
        here = Ranking(ranking.retrieved, (*ranking.missing, top), k)
        yield from equal(ranking.at(k), here)
        if k < len(ranking.retrieved):
            other = changed(ranking.retrieved, (k, 0 if ranking.retrieved[k] else top))
            if any(other) or any(ranking.missing):  # each topic has a relevant document
                yield from equal(ranking.at(k), Ranking(other, ranking.missing, k))


def _bounded(space: Space) -> Iterator[Claim]:
    """Claim a finite value at every depth, however many relevant documents there are."""
    for k, m in _depths_and_numbers(space):
        for retrieved in itertools.product(space.binary, repeat=k):
            n_relevant = retrieved.count(space.top)
            if n_relevant <= m:
                missing = (space.top,) * (m - n_relevant)
                yield Claim(((1, Ranking(retrieved, missing, k)),), number=m)


def _reached(space: Space) -> Iterator[Claim]:
    """Claim the value 1 of the first k documents where all are relevant, or all m of them are."""
    for k, m in _depths_and_numbers(space):
        first = (space.top,) * min(k, m) + (0,) * max(0, k - m)
        ideal = Ranking(first, (space.top,) * max(0, m - k), k)
        yield Claim(((1, ideal),), constant=-1.0, number=m)


def _depths_and_numbers(space: Space) -> Iterator[tuple[int, int]]:
    """Yield depths, each with every number of relevant documents of a topic."""
    for k in range(1, _DEEPEST + 1):
        for m in range(1, int(min(_MOST_RELEVANT, space.longest - k)) + 1):
            yield k, m


PROPERTIES = (
    _property(
        "Moffat's boundedness",
        "at a depth k, values are finite, however many relevant documents there are",
        claims=_bounded,
        searched="k = 1 to 4, up to {last} relevant documents",
        needs="number",
        counterexample="{r0} scores {v0}",
    ),
    _property(
        "monotonicity",
        "the value at depth k + 1 is at least that at depth k of the same ranking",
        around=_deeper,
    ),
    _property(
        "convergence",
        "swapping a nonrelevant document in the top k with a relevant one from below raises the "
        "value at depth k",
        strict=True,
        around=partial(_swaps_at, across=True),
    ),
    _property(
        "top-weightedness",
        "swapping a nonrelevant document in the top k with a lower relevant one there raises the "
        "value at depth k",
        strict=True,
        around=partial(_swaps_at, across=False),
    ),
    _property(
        "Moffat's localization",
        "the value at depth k depends on the first k documents alone, not on those below or on how "
        "many are relevant",
        around=_others_below,
    ),
    _property(
        "Moffat's completeness",
        "the formula, not a convention, has a value for topics without relevant documents "
        "(declared for each measure)",
        declared=WITHOUT_RELEVANT,
    ),
    _property(
        "Moffat's realizability",
        "for every number of relevant documents, the best ranking scores 1 at depth k",
        claims=_reached,
        searched="k = 1 to 4, m = 1 to {last}",
        counterexample="{r0} scores {v0}, not 1",
    ),
)
