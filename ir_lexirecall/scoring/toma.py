"""Total-order multi-aspect weights (Maistro et al., CIKM 2021), and the aggregates CAM and MM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall.scoring.arrays import Floats, Ints

DISTANCES = ("euclidean", "manhattan", "chebyshev")


def label_weights(
    embedding: Mapping[str, Sequence[Fraction]],
    labels: Mapping[str, Ints],
    *,
    distance: str,
    gate: str | None,
) -> tuple[Ints, int]:
    """The weight of each document's label tuple, and K, the number of distinct weights.

    The distinct distances of all label tuples to the best tuple, farthest first, are numbered 0, 1, 2, ...
    Distances are compared as integers (squared for the Euclidean), so that equal ones are equal.

    Args:
        embedding: for each aspect, the embedded values of its labels, lowest first.
        labels: for each aspect, the position of each document's label in its embedding.
        distance: one of ``DISTANCES``.
        gate: an aspect; a tuple in which it is lowest while another is not counts as the lowest tuple.
    """
    unit = lcm(*(value.denominator for values in embedding.values() for value in values))
    parts = {a: _distances(values, unit, distance) for a, values in embedding.items()}
    merge: Any = np.maximum if distance == "chebyshev" else np.add

    def all_totals(parts_of_tuple: Sequence[NDArray[Any]]) -> NDArray[Any]:
        totals = np.zeros(1, dtype=parts_of_tuple[0].dtype)
        for part in parts_of_tuple:
            totals = np.unique(merge.outer(totals, part))
        return totals

    if gate is None:
        distinct = all_totals(list(parts.values()))
        position = dict(labels)
    else:
        above = [part[1:] if a == gate else part for a, part in parts.items()]
        lowest = [part[:1] for part in parts.values()]
        distinct = np.unique(np.concatenate([all_totals(above), all_totals(lowest)]))
        position = {a: np.where(labels[gate] == 0, 0, label) for a, label in labels.items()}

    total = np.zeros(len(next(iter(labels.values()))), dtype=distinct.dtype)
    for a, part in parts.items():
        total = merge(total, part[position[a]])
    nearer = np.searchsorted(distinct, total)
    return len(distinct) - 1 - nearer, len(distinct)


def _distances(values: Sequence[Fraction], unit: int, distance: str) -> NDArray[Any]:
    """Each label's share in the distance, in integers: (best - value) * unit, squared for the Euclidean."""
    best = max(values)
    power = 2 if distance == "euclidean" else 1
    parts = [int((best - value) * unit) ** power for value in values]
    return np.array(parts, dtype=np.int64 if max(parts) < 2**48 else object)


def weighted_mean(scores: Floats, p: Floats) -> Floats:
    """CAM = sum of p_a base_a, the p_a scaled to sum to 1; ``scores`` has shape (aspects, Q)."""
    return _sum_over_aspects((p / p.sum())[:, None] * scores)


def harmonic_mean(scores: Floats, p: Floats) -> Floats:
    """MM = sum p_a / sum (p_a / base_a), 0 where any base is 0; shapes as in ``weighted_mean``."""
    positive = np.all(scores > 0, axis=0)
    value = np.zeros(scores.shape[1])
    value[positive] = p.sum() / _sum_over_aspects(p[:, None] / scores[:, positive])
    return value


def _sum_over_aspects(values: Floats) -> Floats:
    """Sum of the rows, one after the other: ``numpy.sum`` groups them differently for different numbers of queries."""
    total = np.zeros(values.shape[1])
    for row in values:
        total += row
    return total
