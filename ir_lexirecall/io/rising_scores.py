"""Whether the scores of a run rise with its own ranks: then its first documents come last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from ir_lexirecall.io.cells import number_or_text

RISING = (
    "scores rise with the run's own ranks: its first documents come last (negate scores if "
    "smaller ones are better)"
)
"""Warning of a run for which ``scores_rise_with_ranks`` is true."""


SWAPPED = (
    "ranks have decimals and scores count from 1: are the two swapped? Its first documents "
    "come last"
)
"""Warning of a run for which ``ranks_are_scores`` is true."""


def fault_of_order(rows: Sequence[tuple[Any, Any, Any]]) -> str:
    """Return the warning of a run whose first documents come last; empty if they do not.

    Args:
        rows: query, rank and score; see ``Source.ranked_scores``.
    """
    if scores_rise_with_ranks(rows):
        return RISING
    if ranks_are_scores(rows):
        return SWAPPED
    return ""


def ranks_are_scores(rows: Iterable[tuple[Any, Any, Any]]) -> bool:
    """Return whether ranks have decimals, and the scores of each query are 1, 2, 3, ...

    >>> ranks_are_scores([("q", 2.5, 1), ("q", 1.5, 2)]), ranks_are_scores([("q", 1, 2.5)])
    (True, False)
    """
    scores_of: dict[Any, list[float | None]] = {}
    has_decimals = False
    for query, rank, score in rows:
        number = number_or_text(rank)
        has_decimals |= number is not None and number % 1 != 0
        scores_of.setdefault(query, []).append(number_or_text(score))
    if not has_decimals or max(map(len, scores_of.values())) < 2:
        return False
    return all(scores == [*range(1, len(scores) + 1)] for scores in scores_of.values())


def scores_rise_with_ranks(rows: Iterable[tuple[Any, Any, Any]]) -> bool:
    """Return whether scores rise with the ranks beside them, as costs do.

    At least nine in ten steps to the next rank must rise; a run without ranks has none.

    Args:
        rows: query, rank and score; see ``Source.ranked_scores``.

    >>> scores_rise_with_ranks([("q", 1, 0.1), ("q", 2, 0.7)])
    True
    >>> scores_rise_with_ranks([("q", 2, 0.1), ("q", 1, 0.7)])
    False
    """
    rises = steps = 0
    numbers = (
        (query, number_or_text(rank), number_or_text(score))
        for query, rank, score in rows
    )
    for (query, rank, score), (next_query, next_rank, next_score) in pairwise(numbers):
        if query != next_query or None in (rank, score, next_rank, next_score):
            continue
        step = (next_rank - rank) * (next_score - score)  # type: ignore[operator]
        rises += step > 0
        steps += step != 0
    return steps > 0 and rises >= 0.9 * steps
