"""How far users read: sums over ranks of V(i), the share of users who read rank i.

V(i) = B(i) S(i): a discount B of the rank alone (``Discount``) and the satisfaction left over, S(i) = product of (1 - r_j) over
j < i. Between two judged documents the gain is constant, so sums of V over such a stretch close, and the cost is that of the
judged documents retrieved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ir_lexirecall._util.arrays import (
    Floats,
    Ints,
    geometric_sum,
    per_query_sum,
    running_product,
    shifted_within_segment,
)

MOST_HOPED_FOR = 1e300  # T of InverseSquare
_TERMS_UNTIL_FADED = 90  # times 1 / (1 - q): q^j is below 2^-64 (1 - q) then, for all q that are summed up
_MOST_TERMS = 10**6


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


class FirstRank:
    """Nobody goes on: B(1) = 1 and B(i) = 0 below, the limit of ``Geometric`` and ``InverseSquare`` at 0."""

    def at(self, rank: Floats) -> Floats:
        return (rank == 1).astype(np.float64)

    def total(self, first: Floats, last: Floats) -> Floats:
        return (first == 1).astype(np.float64)


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
    """Equation 11: C(i) = ((i+2T-1) / (i+2T))^2 (1 - r_i), hence B(i) = (2T / (i-1+2T))^2; sums are trigamma."""

    T: float

    def at(self, rank: Floats) -> Floats:
        return (2 * self.T / (rank - 1 + 2 * self.T)) ** 2

    def total(self, first: Floats, last: Floats) -> Floats:
        return inverse_square_sum(2 * self.T, first - 1 + 2 * self.T, last - first + 1)


def geometric(phi: float) -> Discount:
    """The discount for 0 <= phi < 1; with phi = 0, only rank 1 is looked at."""
    return Geometric(phi) if phi > 0 else FirstRank()


def inverse_square(T: float) -> Discount:
    """The discount for T >= 0; with T = 0, only rank 1 is looked at."""
    return InverseSquare(T) if T > 0 else FirstRank()


def inverse_square_sum(scale: float | Floats, start: Floats, terms: Floats) -> Floats:
    """Sum of (scale / (start + j))^2 for j = 0..terms-1, with ``start`` above 0; ``terms`` may be infinite.

    Small starts by the Hurwitz zeta function; from ``_ASYMPTOTIC`` on, where differences of its values lose digits, by the
    formula of Euler and Maclaurin, whose terms are differences of powers and are factored: nothing cancels.

    >>> inverse_square_sum(1, np.array([1.0, 1e8]), np.array([np.inf, 2.0]))
    array([1.64493407e+00, 1.99999998e-16])
    """
    total = np.zeros(np.shape(start))
    large = start >= _ASYMPTOTIC
    if large.any():
        total[large] = _euler_maclaurin(np.broadcast_to(scale, large.shape)[large], start[large], terms[large])
    small = np.flatnonzero(~large & (terms > 0))
    if len(small):
        from scipy.special import zeta

        a, n, c = start[small], terms[small], np.broadcast_to(scale, large.shape)[small]
        # The first term alone: squares of tiny numbers have no place among floats.
        beyond = np.where(np.isinf(n), 0, zeta(2, np.where(np.isinf(n), 1, n) + a))
        total[small] = (c / a) ** 2 + c**2 * (zeta(2, a + 1) - beyond)
    return total


_ASYMPTOTIC = 64
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30)  # B_2, B_4, ...: the next term is below 2^-60 of the sum


def _euler_maclaurin(scale: Floats, a: Floats, terms: Floats) -> Floats:
    """``inverse_square_sum`` by its integral, half the difference of its ends, and differences of their derivatives."""
    endless = np.isinf(terms)
    n = np.where(endless, 1.0, terms)
    b = a + n
    first, end = scale / a, np.where(endless, 0.0, scale / b)
    integral = np.where(endless, first * scale, first * end * n)
    half = np.where(endless, first**2, first * end * n * (1 / a + 1 / b)) / 2
    total = integral + half
    for k, bernoulli in enumerate(_BERNOULLI):
        power = -(2 * k + 1)
        total += bernoulli * (first**2 * a**power - end**2 * b**power)
    return total


def cwl(
    query: Ints, rank: Ints, r: Floats, discount: Discount, *, end: float, unjudged: Floats, cascade: bool = True
) -> tuple[Floats, Floats]:
    """Sum of V and sum of V r over ranks 1..``end`` of each query (``end`` may be infinite).

    Args:
        query, rank, r: the retrieved judged documents, by query and rank, and their gains in [0, 1].
        discount: B.
        end: the last rank that is looked at; a shorter ranking goes on with unjudged documents.
        unjudged: gain of an unjudged document for each query, shape ``(Q,)``.
        cascade: whether S(i) = product of (1 - r_j), else S = 1 (RBP).

    Returns:
        (sum of V, sum of V r), each of shape ``(Q,)``.
    """
    queries, keep = len(unjudged), (rank <= end) & (r != unjudged[query])
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


def cwl_of_few(
    query: Ints, rank: Ints, r: Floats, queries: int, discount: Discount, *, end: float, cascade: bool
) -> tuple[Floats, Floats]:
    """``cwl`` of a handful of documents, for unjudged documents without gain: the same operations, row by row.

    Arrays take longer to make than such sums; B and its sums are still computed as arrays, whose powers may have other bits.
    """
    rows = [row for row in zip(query.tolist(), rank.tolist(), r.tolist(), strict=True) if row[2] and row[1] <= end]
    last, s = [0.0] * queries, [1.0] * queries  # where each query is, and S right after
    first, length = [], []  # of the stretches of unjudged documents between them
    for q, i, _ in rows:
        first.append(last[q] + 1)
        length.append(i - last[q] - 1)
        last[q] = float(i)
    first += [i + 1 for i in last]
    length += [end - i for i in last]
    stretches = _undisturbed(discount, np.array(first), np.array(length)).tolist()
    ranks = np.array([i for _, i, _ in rows], dtype=np.float64)
    sum_unjudged, sum_judged, sum_vr = [0.0] * queries, [0.0] * queries, [0.0] * queries
    for (q, _, r_i), stretch, b in zip(rows, stretches, discount.at(ranks).tolist(), strict=False):
        v = b * s[q]
        sum_unjudged[q] += s[q] * stretch
        sum_judged[q] += v
        sum_vr[q] += v * r_i
        if cascade:
            s[q] *= 1 - r_i
    tails = zip(sum_unjudged, s, stretches[len(rows) :], sum_judged, strict=True)
    return np.array([(unjudged + left * tail) + judged for unjudged, left, tail, judged in tails]), np.array(sum_vr)


def _stretch(discount: Discount, first: Floats, length: Floats, q: Floats) -> Floats:
    """Sum of B(first + j) q^j for j = 0..length-1; closed for q = 1, else until q^j is beyond a float's reach."""
    if not (q < 1).any():
        return _undisturbed(discount, first, length)
    total = np.zeros(len(first))
    closed = (q == 1) & (length > 0)
    total[closed] = discount.total(first[closed], first[closed] + length[closed] - 1)
    fading = np.flatnonzero((q < 1) & (length > 0))
    if np.minimum(length[fading], _TERMS_UNTIL_FADED / (1 - q[fading])).max(initial=0) > _MOST_TERMS:
        raise ValueError(
            f"the gain of unjudged documents, {1 - q.max(where=q < 1, initial=0):.3g}, is too small to sum up: raise max_rel, or "
            "take unjudged='worst'"
        )
    j = 0
    power = np.ones(len(fading))
    while len(fading):
        total[fading] += power * discount.at(first[fading] + j)
        j += 1
        power = power * q[fading]
        going = (j < length[fading]) & (power > 2.0**-64 * (1 - q[fading]))
        fading, power = fading[going], power[going]
    return total


def _undisturbed(discount: Discount, first: Floats, length: Floats) -> Floats:
    """Sum of B(first + j) for j = 0..length-1."""
    return np.where(length > 0, discount.total(first, first + length - 1), 0.0)


def expected_reciprocal_rank(query: Ints, rank: Ints, r: Floats, queries: int) -> Floats:
    """ERR = sum of r_i / i times the product of (1 - r_j) over j < i (Chapelle et al., CIKM 2009)."""
    left = shifted_within_segment(query, running_product(query, 1 - r), 1)
    return per_query_sum(query, r * left / rank, queries)
