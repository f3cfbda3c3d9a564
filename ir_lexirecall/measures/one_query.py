"""The commonest measures for one query, from a few numbers: arrays would take longer to make than to compute with.

Every function adds and divides doubles in the order of the formulas over all queries, so that values are theirs to the last bit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from math import log2
from typing import TypeAlias

from ir_measures.measures.base import Measure as IRMeasure
from ir_measures.providers.base import NOT_PROVIDED

from ir_lexirecall.measures.lexirecall import nested_of_one

OfRanks: TypeAlias = Callable[[list[int], int, float], float]
"""From the ranks of the relevant documents retrieved (down to the cutoff), m, and the cutoff."""


def function_of_ranks(measure: IRMeasure) -> OfRanks | None:
    """How to compute a measure from p_1 < ... < p_r and m alone; None for others.

    >>> import ir_measures
    >>> function_of_ranks(ir_measures.AP)([1, 4], 2, float("inf"))
    0.75
    """
    defaults = {name: measure.SUPPORTED_PARAMS[name].default for name in measure.params}
    plain = all(
        name in ("rel", "cutoff") or value == (None if defaults[name] is NOT_PROVIDED else defaults[name])
        for name, value in measure.params.items()
    )
    return _OF_RANKS.get(type(measure).__module__.partition(".")[0] + "." + measure.NAME) if plain else None


def is_plain_ndcg(measure: IRMeasure) -> bool:
    """Whether a measure is ir_measures' nDCG with grades as gains."""
    return (
        type(measure).__module__.startswith("ir_measures.")
        and measure.NAME == "nDCG"
        and measure.params.keys() <= {"cutoff"}
    )


def dcg(ranked: Sequence[tuple[int, float]], k: float) -> float:
    """DCG down to rank k of (rank, gain) pairs in order of rank."""
    total = 0.0
    for rank, gain in ranked:
        if rank > k:
            break
        total += gain / log2(rank + 1)
    return total


def _ap(ranks: list[int], m: int, k: float) -> float:
    total = 0.0  # not sum(), which rounds otherwise from Python 3.12 on
    for i, p in enumerate(ranks, start=1):
        total += i / p
    return total / m


_OF_RANKS: dict[str, OfRanks] = {
    "ir_measures.AP": _ap,
    "ir_measures.RR": lambda ranks, m, k: 1 / ranks[0],
    "ir_measures.P": lambda ranks, m, k: len(ranks) / k,
    "ir_measures.R": lambda ranks, m, k: len(ranks) / m,
    "ir_measures.Rprec": lambda ranks, m, k: bisect_right(ranks, m) / m,
    "ir_measures.Success": lambda ranks, m, k: 1.0,
    "ir_lexirecall.LexiRecall": lambda ranks, m, k: nested_of_one(ranks, m),
    "ir_lexirecall.TSE": lambda ranks, m, k: 1 / ranks[-1] if len(ranks) == m else 0.0,
}
