"""Whether the scores of a run rise with its own ranks: then its first documents come last."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from ir_lexirecall.io.cells import number_or_text

RISING = (
    "scores rise with the run's own ranks: its first documents come last (negate scores if "
    "smaller ones are better)"
)
"""Warning of a run for which ``scores_rise_with_ranks`` is true."""


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
