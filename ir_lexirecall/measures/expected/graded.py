"""Expected values of measures that add up gains of grades, each discounted by its rank."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import Floats, Ints, per_query_sum, ratio
from ir_lexirecall.measures import discounts
from ir_lexirecall.measures.cwl import gains_on_scale, unjudged_gain
from ir_lexirecall.measures.declaration import last_rank
from ir_lexirecall.measures.expected.groups import Spread, groups_of, steps
from ir_lexirecall.measures.other_programs import (
    GDEVAL_MAX_REL,
    PROGRAM_DEPTH,
    inverse_logarithms,
    inverse_squares,
    linear_gain,
    rbp_gain,
)
from ir_lexirecall.measures.trec_eval import (
    UNLIMITED,
    Gains,
    cutoff_of,
    gains,
    ndcg_of_gains,
    number,
    optional,
    ranking_of,
    with_named_gains,
)
from ir_lexirecall.measures.trec_eval_10 import top_grade_of_queries

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.measures.expected.groups import Groups


def mean_gains(run: AlignedRun, dcg: str) -> Gains:
    """Return the mean gain at every rank where a document with a gain can stand."""
    groups = groups_of(run, run.grade > 0)
    return Gains(*groups.spread(gains(run, dcg).gain))


def ndcg(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected nDCG (McSherry and Najork, ECIR 2008)."""
    graded = with_named_gains(measure, run)
    actual = mean_gains(ranking_of(measure, graded), measure["dcg"])
    return ndcg_of_gains(measure, graded, actual)


def dcg(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected DCG."""
    return mean_gains(run, measure["dcg"]).dcg(cutoff_of(measure), len(run.judgments))


def of_mean_gains(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected Rndcg or nDCG_JK."""
    value: Floats = measure.of_gains(run, mean_gains(run, "log2"))
    return value


# -- weights of ranks -----------------------------------------------------------------------------


def _weighted(run: AlignedRun, gain: Floats, weights: Floats) -> Floats:
    """Return the expected sum of gains, each times the weight of its rank, from rank 1."""
    query, rank, mean_gain = groups_of(run).spread(gain)
    has_weight = rank <= len(weights)
    part = weights[rank[has_weight] - 1] * mean_gain[has_weight]
    return per_query_sum(query[has_weight], part, len(run.judgments))


def _of_program(run: AlignedRun, gain: Floats, v: Floats) -> Floats:
    """Return the expected utility per document of cwl_eval, whose weights are V(1), V(2), ..."""
    weights = v[:PROGRAM_DEPTH]
    return _weighted(run, gain, weights) / weights.sum()


def rbp(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected RBP, the sum of (1 - p) p^(i - 1) E[gain at rank i].

    With `rel` and without a cutoff, it is that of cwl_eval: p^(i - 1) over the sum of these.
    """
    p = number(measure, "p", high=1)
    k = cutoff_of(measure)
    gain = rbp_gain(measure, run)
    if optional(measure, "rel") is not None and k == UNLIMITED:
        return _of_program(run, gain, p ** np.arange(PROGRAM_DEPTH + 1.0))
    n_ranks = min(k, int(run.depth.max(initial=0)))
    return _weighted(run, gain, (1 - p) * p ** np.arange(float(n_ranks)))


def rbp_of_trec_eval(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected RBP_TE, whose gains are shares of the query's top grade."""
    p = measure["p"]
    gain = np.maximum(run.grade, 0) / top_grade_of_queries(run.judgments)[run.query]
    n_ranks = float(run.depth.max(initial=0))
    return _weighted(run, gain, (1 - p) * p ** np.arange(n_ranks))


def sdcg(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected SDCG, whose weights are 1 / log2(i + 1)."""
    return _of_program(run, linear_gain(measure, run), inverse_logarithms(measure))


def insq(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected INSQ, whose weights are inverse squares."""
    return _of_program(run, linear_gain(measure, run), inverse_squares(measure))


def cwl_rbp(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected CWL_RBP; with `unjudged='best'` also unjudged documents have a gain."""
    groups = groups_of(run)
    gain_if_unjudged = unjudged_gain(measure)
    query, rank, mean_of_judged = groups.spread(gains_on_scale(measure, run))
    share_unjudged = 1 - groups.count / groups.size_of_group
    mean_gain = mean_of_judged + gain_if_unjudged * share_unjudged[groups.group_of_rank]
    unjudged = np.full(len(run.judgments), gain_if_unjudged)
    items, utility = discounts.cwl(
        query, rank, mean_gain, measure.discount(), end=inf, unjudged=unjudged
    )
    return utility / items


# -- users who stop when they are satisfied -------------------------------------------------------


def expected_cascade(
    groups: Groups, r: Floats, deepest: float, unjudged: float = 0.0
) -> Spread:
    """Return gains that leave over, rank by rank, as much satisfaction as the groups on average.

    With S(j) = expected product of 1 - r over the first j documents of a group, the gain at its
    next rank is 1 - S(j + 1) / S(j): a sum of B(i) S(i) r(i) over such gains is the expected sum.
    The mean product over s of R documents is that of the s-th elementary symmetric polynomial.

    Args:
        groups: documents in their groups.
        r: the gain of each one.
        deepest: the last rank that counts.
        unjudged: the gain of the other documents of a group.
    """
    size = groups.size_of_group
    first_row = np.cumsum(size) - size  # of each group, among the rows of ranks
    gain = np.zeros(int(size.sum()))
    alone = np.flatnonzero(size == 1)
    gain[first_row[alone]] = r[groups.start[alone]]

    last = int(min(deepest, 2**61))
    for group, position, satisfaction_gain in _gains_of_tied(groups, r, last, unjudged):
        gain[first_row[group] + position] = satisfaction_gain

    group_of_rank, rank = groups.group_of_rank, groups.rank
    counts = rank <= deepest
    segment = groups.segment_of_group[group_of_rank]
    return Spread(segment[counts], rank[counts], gain[counts])


def _gains_of_tied(
    groups: Groups, r: Floats, last: int, unjudged: float
) -> Iterator[tuple[Ints, int, Floats]]:
    """Yield positions of groups of several documents, with their gains 1 - S(j + 1) / S(j).

    Yields:
        Groups, a position 0, 1, ... that they all have, and the gain of each there.
    """
    tied = np.flatnonzero((groups.size_of_group > 1) & (groups.first_of_group <= last))
    size, first = groups.size_of_group[tied], groups.first_of_group[tied]
    factors = []
    for start, count, n in zip(
        groups.start[tied].tolist(),
        groups.count[tied].tolist(),
        size.tolist(),
        strict=True,
    ):
        factors.append(_factors(r[start : start + count], n, unjudged))
    n_factors = np.array([len(of_group) for of_group in factors], dtype=np.int64)
    # The mean products over 0, 1, ... factors, group after group.
    mean_products = np.concatenate([np.zeros(0), *map(symmetric_means, factors)])
    offset = np.cumsum(n_factors + 1) - (n_factors + 1)

    left_before = np.ones(len(tied))  # S at the position before
    # With one more rank, the step at position j says which documents are among the first j.
    for step in steps(first, size + 1, n_factors, last + 1):
        above = np.arange(step.probability.shape[1])
        above = np.minimum(above, n_factors[step.group][:, None])
        products = mean_products[offset[step.group][:, None] + above]
        left = (step.probability * products).sum(axis=1)
        if step.position:
            before = left_before[step.group]
            share_left = ratio(left, before, 1.0)
            yield tied[step.group], step.position - 1, 1 - share_left
        left_before[step.group] = left


def _factors(r: Floats, size: int, unjudged: float) -> Floats:
    """Return 1 - r of the documents of a group that satisfy anybody."""
    if unjudged:
        r = np.concatenate([r, np.full(size - len(r), unjudged)])
    return 1 - r[r != 0]


def symmetric_means(factors: Floats) -> Floats:
    """Return the mean product over s of the factors, for s = 0, 1, ..., all of them.

    >>> symmetric_means(np.array([0.5, 0.25])).tolist()
    [1.0, 0.375, 0.125]
    """
    mean = np.zeros(len(factors) + 1)
    mean[0] = 1.0
    for n, factor in enumerate(factors.tolist(), start=1):
        # Share of the choices of s among n that have the n-th one.
        share_with = np.arange(1, n + 1) / n
        mean[1 : n + 1] = (
            share_with * factor * mean[:n] + (1 - share_with) * mean[1 : n + 1]
        )
    return mean


def err(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected ERR, the sum of r(i) S(i) / i over ranks i."""
    r = discounts.gain(run.grade, GDEVAL_MAX_REL, "exp")
    cascade = expected_cascade(groups_of(run), r, cutoff_of(measure))
    return discounts.expected_reciprocal_rank(*cascade, len(run.judgments))


def gerr(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected GERR, the sum of r(i) S(i) / i over ranks i."""
    k = last_rank(measure)
    gain_if_unjudged = unjudged_gain(measure)
    r = gains_on_scale(measure, run)
    cascade = expected_cascade(groups_of(run), r, k, gain_if_unjudged)
    if not gain_if_unjudged:
        return discounts.expected_reciprocal_rank(*cascade, len(run.judgments))
    unjudged = np.full(len(run.judgments), gain_if_unjudged)
    _, value = discounts.cwl(*cascade, discounts.RECIPROCAL, end=k, unjudged=unjudged)
    return value
