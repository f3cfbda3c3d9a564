"""Lexicographic recall as a number (Diaz et al., TORS 2026), from exact integers, rounded once."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np

from ir_lexirecall.scoring.arrays import Floats, Ints, per_query_count


def nested(query: Ints, rank: Ints, m: Ints) -> Floats:
    """LR = (r + r / p*) / (m + 1), with p* = (p_r - 1) + (N' + 1) / C(p_r - 1, r - 1), and 0 if r = 0.

    N' = sum_{i<r} C(p_i - 1, i) counts the placements of the first r - 1 relevant documents that are better.
    ``query`` and ``rank`` are the retrieved relevant documents, by query and rank; ``m`` has shape ``(Q,)``.
    """
    value = np.zeros(len(m))
    r_per_query = per_query_count(query, len(m))
    ends = np.cumsum(r_per_query)
    ranks = rank.tolist()
    # Exact integers have no width: one query at a time, each in a few big-integer operations.
    for q in np.flatnonzero(r_per_query).tolist():
        r, end, m_q = int(r_per_query[q]), int(ends[q]), int(m[q])
        *before, p_r = ranks[end - r : end]
        better = sum(map(comb, [p - 1 for p in before], range(1, r)))  # N'
        placements = comb(p_r - 1, r - 1)
        p_star = (p_r - 1) * placements + better + 1  # p* times `placements`
        value[q] = (r * (p_star + placements)) / ((m_q + 1) * p_star)
    return value


def weighted(query: Ints, rank: Ints, m: Ints, *, n: int, eps: float) -> Floats:
    """Metric lexirecall (Diaz et al., Eq. 12): sum of w_i x_i with x_i = (n - p_i) / n.

    With Delta = 1 / (n + eps), w_1 = Delta^(m-1) / (1 + Delta)^(m-1) and w_i = Delta^(m-i) / (1 + Delta)^(m+1-i).
    The m - r missing documents take the last ranks, n - (m - r) + 1, ..., n. Arguments as in ``nested``.

    Writing N = 1 / Delta = u / v and A = u + v, the sum is
    (v^(m-1) X_1 + u sum_{i>=2} A^(i-2) v^(m-i) X_i) / (n A^(m-1)) with the integers X_i = n - p_i.
    """
    value = np.zeros(len(m))
    r_per_query = per_query_count(query, len(m))
    ends = np.cumsum(r_per_query)
    ranks = rank.tolist()
    big_n = n + Fraction(eps)
    u, v = big_n.numerator, big_n.denominator
    for q in np.flatnonzero(m).tolist():
        r, end, m_q = int(r_per_query[q]), int(ends[q]), int(m[q])
        p = ranks[end - r : end] + list(range(n - (m_q - r) + 1, n + 1))
        tail, power = 0, 1  # the sum over i >= 2, and A^(i-2)
        for p_i in p[1:]:
            tail = tail * v + (n - p_i) * power
            power *= u + v
        value[q] = (v ** (m_q - 1) * (n - p[0]) + u * tail) / (n * power)
    return value
