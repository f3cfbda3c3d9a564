"""Rank-biased utility (Amigó, Spina, Carrillo-de-Albornoz, SIGIR 2018)."""

from __future__ import annotations

import numpy as np

from ir_lexirecall.scoring.arrays import (
    Floats,
    Ints,
    geometric_sum,
    per_query_sum,
    running_product,
    shifted_within_segment,
)


def utility(query: Ints, aspect: Ints, rank: Ints, r: Floats, weight: Floats, queries: int, *, p: float) -> Floats:
    """Sum over ranks i and aspects t of p^i w_t r(d_i, t) times the product of (1 - r(d_j, t)) over j < i.

    One row per retrieved document and aspect, by query, aspect and rank; ``aspect`` numbers the aspects of
    all queries, ``weight`` is w_t.
    """
    novelty = shifted_within_segment(aspect, running_product(aspect, 1 - r), 1)
    return per_query_sum(query, p ** rank.astype(np.float64) * weight * r * novelty, queries)


def effort(looked_at: Ints, *, p: float) -> Floats:
    """Sum of p^i for i = 1..``looked_at``: what reading that many documents costs, per unit of e."""
    return p * geometric_sum(p, looked_at.astype(np.float64))
