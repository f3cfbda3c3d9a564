"""C/W/L variants of ERR (Azzopardi, Mackenzie, Moffat, ICTIR 2021), summed in closed form.

A user who looks at rank i goes on with probability C(i); V(1) = 1 and V(i+1) = V(i) C(i). In all variants
V(i) = B(i) S(i): a discount B of the rank alone (``Discount``) and, but for RBP, the satisfaction left over,
S(i) = product of (1 - r_j) over j < i. Between two judged documents the gain is constant, so sums of V over
such a stretch close, and the cost is that of the judged documents retrieved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ir_lexirecall.scoring.arrays import (
    Floats,
    Ints,
    geometric_sum,
    per_query_sum,
    running_product,
    shifted_within_segment,
)


class Discount(Protocol):
    """B(i) = V(i) for a ranking without gain, and its sums over ranks."""

    def at(self, rank: Floats) -> Floats:
        """B(rank)."""

    def total(self, first: Floats, last: Floats) -> Floats:
        """Sum of B(i) for i = first..last; ``last`` may be infinite where B has a finite sum."""


class Uniform:
    """Equation 8: C(i) = 1 - r_i, hence B(i) = 1."""

    def at(self, rank: Floats) -> Floats:
        return np.ones_like(rank)

    def total(self, first: Floats, last: Floats) -> Floats:
        return last - first + 1


class Reciprocal:
    """Equation 9: C(i) = i / (i+1) (1 - r_i), hence B(i) = 1 / i; sums are harmonic numbers."""

    def at(self, rank: Floats) -> Floats:
        return 1 / rank

    def total(self, first: Floats, last: Floats) -> Floats:
        from scipy.special import digamma  # here and below: SciPy takes longer to import than all of this library

        return digamma(last + 1) - digamma(first)


@dataclass(frozen=True)
class Geometric:
    """Equation 10: C(i) = phi (1 - r_i), and RBP: C(i) = phi; hence B(i) = phi^(i-1)."""

    phi: float

    def at(self, rank: Floats) -> Floats:
        return self.phi ** (rank - 1)

    def total(self, first: Floats, last: Floats) -> Floats:
        return self.phi ** (first - 1) * geometric_sum(self.phi, last - first + 1)


@dataclass(frozen=True)
class InverseSquare:
    """Equation 11: C(i) = ((i+2T-1) / (i+2T))^2 (1 - r_i), hence B(i) = (2T / (i+2T-1))^2; sums are trigamma."""

    T: float

    def at(self, rank: Floats) -> Floats:
        return (2 * self.T / (rank + 2 * self.T - 1)) ** 2

    def total(self, first: Floats, last: Floats) -> Floats:
        from scipy.special import zeta

        beyond = np.where(np.isinf(last), 0, zeta(2, np.where(np.isinf(last), 1, last) + 2 * self.T))
        return (2 * self.T) ** 2 * (zeta(2, first + 2 * self.T - 1) - beyond)


def cwl(
    query: Ints,
    rank: Ints,
    r: Floats,
    queries: int,
    discount: Discount,
    *,
    end: float,
    cascade: bool = True,
    unjudged: Floats,
) -> tuple[Floats, Floats]:
    """Sum of V and sum of V r over ranks 1..``end`` of each query (``end`` may be infinite).

    Args:
        query, rank, r: the retrieved judged documents, by query and rank, and their gains in [0, 1].
        queries: Q, the number of queries.
        discount: B.
        end: the last rank that is looked at; a shorter ranking goes on with unjudged documents.
        cascade: whether S(i) = product of (1 - r_j), else S = 1 (RBP).
        unjudged: gain of an unjudged document for each query, shape ``(Q,)``.

    Returns:
        (sum of V, sum of V r), each of shape ``(Q,)``.
    """
    keep = (rank <= end) & (r != unjudged[query])
    query, r = query[keep], r[keep]
    i = rank[keep].astype(np.float64)
    # Between the document before and this one stands a stretch of unjudged documents.
    before = shifted_within_segment(query, i, 0)
    stretch = i - before - 1
    q = 1 - unjudged if cascade else np.ones(queries)  # what an unjudged document leaves of S
    stays = 1 - r if cascade else np.ones_like(r)
    after = running_product(query, q[query] ** stretch * stays)  # S right after each document
    s_before = shifted_within_segment(query, after, 1)
    s_here = s_before * q[query] ** stretch

    v_stretch = s_before * _stretch(discount, before + 1, stretch, q[query])
    v_here = discount.at(i) * s_here
    last, s_last = np.zeros(queries), np.ones(queries)
    last[query], s_last[query] = i, after  # the last row of each query stays
    v_tail = s_last * _stretch(discount, last + 1, end - last, q)

    sum_v_unjudged = per_query_sum(query, v_stretch, queries) + v_tail
    sum_v = sum_v_unjudged + per_query_sum(query, v_here, queries)
    sum_vr = per_query_sum(query, v_here * r, queries) + unjudged * sum_v_unjudged
    return sum_v, sum_vr


def _stretch(discount: Discount, first: Floats, length: Floats, q: Floats) -> Floats:
    """Sum of B(first + j) q^j for j = 0..length-1; closed for q = 1, else until q^j is beyond a float's reach."""
    total = np.zeros(len(first))
    closed = (q == 1) & (length > 0)
    total[closed] = discount.total(first[closed], first[closed] + length[closed] - 1)
    fading = np.flatnonzero((q < 1) & (length > 0))
    j = 0
    power = np.ones(len(fading))
    while len(fading):
        total[fading] += power * discount.at(first[fading] + j)
        j += 1
        power = power * q[fading]
        going = (j < length[fading]) & (power > 2.0**-64 * (1 - q[fading]))
        fading, power = fading[going], power[going]
    return total


def truncated_by_program(
    query: Ints, rank: Ints, r: Floats, discount: Discount, etu: Floats, etc: Floats, depth: int
) -> tuple[Floats, Floats]:
    """Expected total utility and cost as cwl_eval sums them over a ranking cut at ``depth``.

    It weights cumulated gains and costs by L(i) = V(i) - V(i+1), which leaves out the users who would go on
    below ``depth``: V(depth + 1).
    """
    inside = rank <= depth
    query, r = query[inside], r[inside]
    v_next = np.full(len(etu), discount.at(np.array([depth + 1.0]))[0])
    left = running_product(query, 1 - r)
    last = np.r_[query[1:] != query[:-1], True][: len(query)]
    v_next[query[last]] *= left[last]
    return etu - v_next * per_query_sum(query, r, len(etu)), etc - v_next * depth


def expected_reciprocal_rank(query: Ints, rank: Ints, r: Floats, queries: int) -> Floats:
    """ERR = sum of r_i / i times the product of (1 - r_j) over j < i (Chapelle et al., CIKM 2009)."""
    left = shifted_within_segment(query, running_product(query, 1 - r), 1)
    return per_query_sum(query, r * left / rank, queries)
