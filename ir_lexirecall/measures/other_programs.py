"""Measures of cwl_eval, gdeval and ir_measures itself from one aligned run, equal but for rounding."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import (
    Floats,
    per_query_sum,
    ratio,
    running_product,
    running_sum,
    shifted_within_segment,
)
from ir_lexirecall.measures import discounts, trec_eval
from ir_lexirecall.measures.declaration import Utility
from ir_lexirecall.measures.trec_eval import UNLIMITED, Score, cutoff_of, number, optional

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


BY_OTHERS: dict[str, Score] = {}
"""The functions of this module by the measures that they compute."""

_computes = partial(trec_eval.computes, BY_OTHERS)
PROGRAM_DEPTH = 1000  # cwl_eval pads or cuts every ranking to that
GDEVAL_MAX_REL = 4


@_computes("Judged")
def _judged(measure: Measure, run: AlignedRun) -> Floats:
    """Documents with a judgment among the first k, over how many these are."""
    k = cutoff_of(measure)
    return ratio(np.bincount(run.query[run.rank <= k], minlength=len(run.depth)), np.minimum(run.depth, k))


@_computes("ERR")
def _err(measure: Measure, run: AlignedRun) -> Floats:
    """gdeval's ERR: gains (2^g - 1) / 2^4."""
    run.judgments.check_top_grade(GDEVAL_MAX_REL, str(measure))
    top = run.rank <= cutoff_of(measure)
    r = discounts.gain(run.grade[top], GDEVAL_MAX_REL, "exp")
    return discounts.expected_reciprocal_rank(run.query[top], run.rank[top], r, len(run.judgments))


@_computes("RBP")
def _rbp(measure: Measure, run: AlignedRun) -> Floats | Utility:
    """(1 - p) sum of p^(i-1) g_i; cwl_eval's, of binary gains without cutoff, is that of 1,000 ranks, scaled to sum to 1."""
    p, rel, k = number(measure, "p", high=1), optional(measure, "rel"), cutoff_of(measure)
    gain = np.maximum(run.grade, 0) if rel is None else (run.grade >= rel).astype(np.float64)
    if rel is not None and k == UNLIMITED:
        return _weighted(run, gain, p ** np.arange(PROGRAM_DEPTH + 1.0), PROGRAM_DEPTH)
    terms = (1 - p) * p ** (run.rank - 1.0) * gain
    return per_query_sum(run.query, np.where(run.rank <= k, terms, 0.0), len(run.depth))


def _linear_gain(measure: Measure, run: AlignedRun) -> Floats:
    """Gain of each judged document retrieved: its grade between min_rel and max_rel, scaled to [0, 1]."""
    low, high = measure["min_rel"], measure["max_rel"]
    if low >= high:
        raise ValueError(f"{measure}: min_rel={low} must be below max_rel={high}")
    run.judgments.check_top_grade(high, str(measure))
    return np.maximum(np.maximum(run.grade, 0) - low, 0) / (high - low)


def _weighted(run: AlignedRun, gain: Floats, v: Floats, end: int) -> Utility:
    """Expected utility of users who look at rank i with probability ``v[i - 1]``, and end at rank ``end``.

    cwl_eval leaves the users out of the total utility and cost who would look at rank 1,001: ``v[1000]``, if given.
    """
    queries, top = len(run.depth), run.rank <= end
    query, gain = run.query[top], gain[top]
    utility = per_query_sum(query, v[run.rank[top] - 1] * gain, queries)
    items = np.full(queries, v[:end].sum())
    beyond = v[end:].sum()
    return Utility(
        value=utility / items,
        expected_total_utility=utility - beyond * per_query_sum(query, gain, queries),
        expected_total_cost=items - beyond * end,
        expected_items=items,
    )


@_computes("SDCG")
def _sdcg(measure: Measure, run: AlignedRun) -> Utility:
    """V(i) = 1 / log2(i + 1) down to rank k."""
    k = min(cutoff_of(measure), PROGRAM_DEPTH + 1)
    return _weighted(
        run, _linear_gain(measure, run), 1 / trec_eval.log2_of_next(np.arange(1, k + 1)), min(k, PROGRAM_DEPTH)
    )


@_computes("INSQ")
def _insq(measure: Measure, run: AlignedRun) -> Utility:
    """V(i) = (2T / (i + 2T - 1))^2."""
    t = number(measure, "T", high=discounts.MOST_HOPED_FOR)
    i = np.arange(2, PROGRAM_DEPTH + 2)
    v = np.r_[1.0, (2 * t / (i - 1 + 2 * t)) ** 2]
    return _weighted(run, _linear_gain(measure, run), v, PROGRAM_DEPTH)


@_computes("INST")
def _inst(measure: Measure, run: AlignedRun) -> Utility:
    """V(i + 1) / V(i) = ((b - 1) / b)^2, b = i + 2T less the gain down to rank i; between two gains, sums of V close."""
    t = number(measure, "T", low=0.25, high=discounts.MOST_HOPED_FOR)  # below, V(2) could be above V(1)
    gain, queries = _linear_gain(measure, run), len(run.depth)
    keep = (gain > 0) & (run.rank <= PROGRAM_DEPTH)
    query, rank, gain = run.query[keep], run.rank[keep], gain[keep]
    total = running_sum(query, gain)
    # V falls as (b / (i + c))^2 below rank i0, with c = 2T - 1 less the gain so far, and b = i0 + c.
    first = shifted_within_segment(query, rank, 0)  # i0, where a gain was before
    c = 2 * t - 1 - shifted_within_segment(query, total, 0)
    b = np.maximum(first, 1) + c
    v = running_product(query, (b / (rank + c)) ** 2)
    between = shifted_within_segment(query, v, 1) * discounts.inverse_square_sum(b, first + 1 + c, rank - first - 1.0)
    # Below the last gain the ranking goes on to rank 1,000.
    last, v_last, gained = np.zeros(queries), np.ones(queries), np.zeros(queries)
    last[query], v_last[query], gained[query] = rank, v, total  # the last row of each query stays
    c = 2 * t - 1 - gained
    b = np.maximum(last, 1) + c
    below = v_last * discounts.inverse_square_sum(b, last + 1 + c, PROGRAM_DEPTH - last)
    beyond = v_last * (b / (PROGRAM_DEPTH + 1 + c)) ** 2
    items = per_query_sum(query, v + between, queries) + below
    utility = per_query_sum(query, v * gain, queries)
    return Utility(utility / items, utility - beyond * gained, items - beyond * PROGRAM_DEPTH, items)


@_computes("BPM")
def _bpm(measure: Measure, run: AlignedRun) -> Utility:
    """The mean gain down to the rank at which the gain reaches T, or rank k."""
    t, k = number(measure, "T"), cutoff_of(measure)
    gain, queries = _linear_gain(measure, run), len(run.depth)
    end = min(k, PROGRAM_DEPTH) if t > 0 else 1
    keep = (gain > 0) & (run.rank <= end)
    query, rank = run.query[keep], run.rank[keep]
    total = running_sum(query, gain[keep])
    last = np.full(queries, end)
    reached = np.flatnonzero(total >= t)[::-1]
    last[query[reached]] = rank[reached]  # the first row of each query stays
    gained = np.zeros(queries)
    seen = rank <= last[query]
    gained[query[seen]] = total[seen]  # the last row of each query stays
    items = last.astype(np.float64)
    # cwl_eval gives users who would look at rank 1,001 no total utility or cost.
    stops = (np.bincount(query[reached], minlength=queries) > 0) | (end != PROGRAM_DEPTH) | (k <= PROGRAM_DEPTH)
    return Utility(gained / items, gained * stops, items * stops, items)


@_computes("NERR8", "NERR9", "NERR10", "NERR11")
def _nerr(measure: Measure, run: AlignedRun) -> Utility:
    """V(i) of the measure's discount times the satisfaction left over: the product of 1 - r_j over j < i."""
    k = cutoff_of(measure) if "cutoff" in measure.SUPPORTED_PARAMS else UNLIMITED
    r, discount = _linear_gain(measure, run), nerr_discount(measure)
    end = min(k, PROGRAM_DEPTH)
    items, utility = discounts.cwl(run.query, run.rank, r, discount, end=end, unjudged=np.zeros(len(run.depth)))
    if k <= PROGRAM_DEPTH:
        return Utility(utility / items, utility, items, items)
    # cwl_eval leaves the users out of the total utility and cost who would look at rank 1,001: V(1001).
    inside = run.rank <= PROGRAM_DEPTH
    query, r = run.query[inside], r[inside]
    left = np.ones(len(run.depth))
    left[query] = running_product(query, 1 - r)  # the last row of each query stays
    beyond = discount.at(np.array([PROGRAM_DEPTH + 1.0])) * left
    return Utility(
        utility / items, utility - beyond * per_query_sum(query, r, len(beyond)), items - beyond * PROGRAM_DEPTH, items
    )


def nerr_discount(measure: Measure) -> discounts.Discount:
    """The discount of NERR8 to NERR11."""
    if measure.NAME == "NERR10":
        return discounts.geometric(number(measure, "p", high=1))
    if measure.NAME == "NERR11":
        return discounts.inverse_square(number(measure, "T", high=discounts.MOST_HOPED_FOR))
    return discounts.UNIFORM if measure.NAME == "NERR8" else discounts.RECIPROCAL
