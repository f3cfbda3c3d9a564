"""Whether the scores of a run rise with its own ranks: then its first documents come last."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats
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
    if not rows:
        return ""
    queries, *columns = zip(*rows, strict=True)
    ranks, scores = map(_numbers, columns)
    if scores_rise_with_ranks(queries, ranks, scores):
        return RISING
    if ranks_are_scores(queries, ranks, scores):
        return SWAPPED
    return ""


def ranks_are_scores(queries: Sequence[Any], ranks: Floats, scores: Floats) -> bool:
    """Return whether ranks have decimals, and the scores of each query are 1, 2, 3, ...

    >>> ranks_are_scores("qq", np.array([2.5, 1.5]), np.array([1.0, 2.0]))
    True
    """
    if not (ranks % 1 > 0).any():
        return False
    scores_of: dict[Any, list[float]] = {}
    for query, score in zip(queries, scores.tolist(), strict=True):
        scores_of.setdefault(query, []).append(score)
    if max(map(len, scores_of.values())) < 2:
        return False
    return all(one == [*range(1, len(one) + 1)] for one in scores_of.values())


def scores_rise_with_ranks(
    queries: Sequence[Any], ranks: Floats, scores: Floats
) -> bool:
    """Return whether scores rise with the ranks beside them, as costs do.

    At least nine in ten steps to the next rank must rise; a run without ranks has none.

    >>> scores_rise_with_ranks("qq", np.array([1.0, 2.0]), np.array([0.1, 0.7]))
    True
    >>> scores_rise_with_ranks("qq", np.array([2.0, 1.0]), np.array([0.1, 0.7]))
    False
    """
    stays = np.array([query == following for query, following in pairwise(queries)])
    with np.errstate(invalid="ignore", over="ignore"):  # of infinite scores
        steps = np.diff(ranks) * np.diff(scores)
    steps = steps[stays.astype(bool)]
    rises, falls = (steps > 0).sum(), (steps < 0).sum()
    return bool(rises and rises >= 0.9 * (rises + falls))


def _numbers(values: Sequence[Any]) -> Floats:
    """Return numbers, and texts of numbers; NaN for other values.

    >>> _numbers([1, "0.5", "x", None])
    array([1. , 0.5, nan, nan])
    """
    try:
        return np.array(list(map(float, values)))
    except (TypeError, ValueError, OverflowError):
        return np.array([number_or_text(value) for value in values], dtype=float)
