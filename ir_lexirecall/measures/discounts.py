"""Gains of grades, and sums over ranks of V(i), the share of users who read rank i.

V(i) = B(i) S(i): a discount B of the rank alone (``Discount``) and the satisfaction left over, S(i)
= product of (1 - r_j) over j < i. Between two judged documents the gain is constant, so sums of V
over such a stretch close, and the cost is that of the judged documents retrieved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import (
    Floats,
    Ints,
    geometric_sum,
    per_query_sum,
    product_before,
    running_product,
    shifted_within_segment,
)
from ir_lexirecall._util.lazy import special

MOST_HOPED_FOR = 1e300  # T of ``inverse_square``
# Times 1 / (1 - q): q^j is below 2^-64 (1 - q) then, for all q that are summed up
_TERMS_UNTIL_FADED = 90
_MOST_TERMS = 10**6
_ASYMPTOTIC = 64
# B_2, B_4, ...: the next term is below 2^-60 of the sum.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30)

GAINS = ("exp", "linear")
_LARGE = 1000  # from this top grade on, powers of 2 could leave the range of floats


def gain(grade: Floats, max_rel: float | Floats, kind: str) -> Floats:
    """``'exp'``: (2^g - 1) / 2^max_rel; ``'linear'``: g / max_rel. A negative grade counts as 0.

    >>> gain(np.array([-2.0, 0.0, 1.0, 2.0]), 2, "exp")
    array([0.  , 0.  , 0.25, 0.75])
    >>> gain(np.array([1999.0, 2000.0]), 2000, "exp")
    array([0.5, 1. ])
    """
    top = np.asarray(max_rel, dtype=np.float64)
    units, scale = in_units(np.maximum(grade, 0), top, kind)
    return units / scale


def in_units(g: Floats, top: Floats, kind: str) -> tuple[Floats, Floats]:
    """Return g and top, or 2^g - 1 and 2^top, whose quotient is the gain.

    Sums of the first are exact, since they are whole for whole grades. Where a power of 2 could
    leave the range of floats, both are divided by 2^top.
    """
    if kind == "linear":
        return g, top
    large = top >= _LARGE
    if not large.any():
        return np.exp2(g) - 1, np.exp2(top)
    power = np.where(large, top, 0)
    return np.exp2(g - power) - np.exp2(-power), np.exp2(top - power)


class Discount(NamedTuple):
    """B(i) = V(i) for a ranking without gain, and its sums over ranks."""

    at: Callable[[Floats], Floats]
    """B(rank)."""
    total: Callable[[Floats, Floats], Floats]
    """Sum of B(i) for i = first..last; ``last`` may be infinite where B has a finite sum."""
    cascade: bool = True
    """Whether a satisfied user stops, S(i) = product of (1 - r_j), else S = 1 (RBP)."""


UNIFORM = Discount(np.ones_like, lambda first, last: last - first + 1)
"""Equation 8: C(i) = 1 - r_i, hence B(i) = 1."""

RECIPROCAL = Discount(
    lambda i: 1 / i,
    lambda first, last: special.digamma(last + 1) - special.digamma(first),
)
"""Equation 9: C(i) = i / (i+1) (1 - r_i), hence B(i) = 1 / i; sums are harmonic numbers."""

FIRST_RANK = Discount(
    lambda i: (i == 1).astype(np.float64),
    lambda first, last: (first == 1).astype(np.float64),
)
"""Discount of users who read one document, the limit of the other two at 0."""


def geometric(phi: float) -> Discount:
    """Return the discount B(i) = phi^(i-1) of Equation 10 and of RBP, for 0 <= phi < 1."""
    if phi == 0:
        return FIRST_RANK
    return Discount(
        lambda i: phi ** (i - 1),
        lambda first, last: phi ** (first - 1) * geometric_sum(phi, last - first + 1),
    )


def inverse_square(T: float) -> Discount:
    """Return the discount B(i) = (2T / (i-1+2T))^2 of Equation 11, T >= 0; sums are trigamma."""
    if T == 0:
        return FIRST_RANK
    return Discount(
        lambda i: (2 * T / (i - 1 + 2 * T)) ** 2,
        lambda first, last: inverse_square_sum(
            2 * T, first - 1 + 2 * T, last - first + 1
        ),
    )


def inverse_square_sum(scale: float | Floats, start: Floats, terms: Floats) -> Floats:
    """Return the sum of (scale / (start + j))^2 for j = 0..terms-1; `terms` may be infinite.

    Small starts by the Hurwitz zeta function; from ``_ASYMPTOTIC`` on, where differences of its
    values lose digits, by the formula of Euler and Maclaurin, whose terms are differences of powers
    and are factored: nothing cancels.

    >>> inverse_square_sum(1, np.array([1.0, 1e8]), np.array([np.inf, 2.0]))
    array([1.64493407e+00, 1.99999998e-16])
    """
    total = np.zeros(np.shape(start))
    large = start >= _ASYMPTOTIC
    scale = np.broadcast_to(scale, np.shape(start))
    if large.any():
        a, n, c = start[large], terms[large], scale[large]
        b, endless = a + n, np.isinf(n)
        first, end = c / a, c / b
        integral = np.where(endless, first * c, first * end * np.where(endless, 0, n))
        value = integral + np.where(endless, first**2, integral * (1 / a + 1 / b)) / 2
        for k, bernoulli in enumerate(_BERNOULLI):
            power = -(2 * k + 1)
            value += bernoulli * (first**2 * a**power - end**2 * b**power)
        total[large] = value
    small = np.flatnonzero(~large & (terms > 0))
    if len(small):
        a, n, c = start[small], terms[small], scale[small]
        # The first term alone: squares of tiny numbers have no place among floats.
        total[small] = (c / a) ** 2 + c**2 * (
            special.zeta(2, a + 1) - special.zeta(2, a + n)
        )
    return total


Sums: TypeAlias = tuple[Floats, Floats]


def cwl(
    query: Ints,
    rank: Ints,
    r: Floats,
    discount: Discount,
    *,
    end: float,
    unjudged: Floats,
) -> Sums:
    """Sum of V and sum of V r over ranks 1..``end`` of each query (``end`` may be infinite).

    Args:
        query: query of each retrieved judged document; documents are sorted by query, then rank.
        rank: rank of each document.
        r: gain of each document, in [0, 1].
        discount: B.
        end: the last rank that is looked at; a shorter ranking goes on with unjudged documents.
        unjudged: gain of an unjudged document for each query, shape ``(Q,)``.

    Returns:
        (sum of V, sum of V r), each of shape ``(Q,)``.
    """
    queries, keep = len(unjudged), (rank <= end) & (r != unjudged[query])
    query, r = query[keep], r[keep]
    i = rank[keep].astype(np.float64)
    # Between the document before and this one stands a stretch of unjudged documents.
    before = shifted_within_segment(query, i, 0)
    stretch = i - before - 1
    # Shares of S that an unjudged document leaves, and that each of the others does.
    if discount.cascade:
        q, stays = 1 - unjudged, 1 - r
    else:
        q, stays = np.ones(queries), np.ones(len(r))
    # S right after each document.
    after = running_product(query, q[query] ** stretch * stays)
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
    query: Ints, rank: Ints, r: Floats, queries: int, discount: Discount, *, end: float
) -> Sums:
    """Compute `cwl` of a handful of documents row by row, by the same operations.

    Arrays take longer to make than such sums; B and its sums are still computed as arrays, whose
    powers may have other bits.
    """
    # The query, rank and gain of each document.
    documents = zip(query.tolist(), rank.tolist(), r.tolist(), strict=True)
    rows = [row for row in documents if row[2] and row[1] <= end]
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
    for (q, _, r_i), stretch, b in zip(
        rows, stretches, discount.at(ranks).tolist(), strict=False
    ):
        v = b * s[q]
        sum_unjudged[q] += s[q] * stretch
        sum_judged[q] += v
        sum_vr[q] += v * r_i
        if discount.cascade:
            s[q] *= 1 - r_i
    tails = zip(sum_unjudged, s, stretches[len(rows) :], sum_judged, strict=True)
    return np.array(
        [(unjudged + left * tail) + judged for unjudged, left, tail, judged in tails]
    ), np.array(sum_vr)


def _stretch(discount: Discount, first: Floats, length: Floats, q: Floats) -> Floats:
    """Return the sum of B(first + j) q^j for j = 0..length-1, until q^j is 0 as a float."""
    total = np.where(q < 1, 0.0, _undisturbed(discount, first, length))
    fading = np.flatnonzero((q < 1) & (length > 0))
    if (
        np.minimum(length[fading], _TERMS_UNTIL_FADED / (1 - q[fading])).max(initial=0)
        > _MOST_TERMS
    ):
        raise ValueError(
            f"the gain of unjudged documents, {1 - q.max(where=q < 1, initial=0):.3g}, is too "
            f"small to sum up: raise max_rel, or "
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


def expected_reciprocal_rank(
    query: Ints, rank: Ints, r: Floats, queries: int
) -> Floats:
    """Return ERR, the sum of r_i / i times the product of 1 - r_j over j < i.

    The source is Chapelle et al., CIKM 2009.
    """
    return per_query_sum(query, r * product_before(query, 1 - r) / rank, queries)
