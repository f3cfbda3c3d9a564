"""Expected values of measures that add up gains of grades, each discounted by its rank."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import Floats, per_query_sum
from ir_lexirecall.measures import discounts
from ir_lexirecall.measures.expected.groups import Spread, groups_of, steps
from ir_lexirecall.measures.other_programs import (
    GDEVAL_MAX_REL,
    PROGRAM_DEPTH,
    inverse_squares,
    linear_gain,
)
from ir_lexirecall.measures.trec_eval import (
    UNLIMITED,
    Gains,
    cutoff_of,
    gains,
    log2_of_next,
    ndcg_of_gains,
    number,
    optional,
    ranking_of,
    with_named_gains,
)

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
    query, rank, mean = groups_of(run).spread(gain)
    top = rank <= len(weights)
    part = weights[rank[top] - 1] * mean[top]
    return per_query_sum(query[top], part, len(run.judgments))


def _of_program(run: AlignedRun, gain: Floats, v: Floats) -> Floats:
    """Return the expected utility per document of cwl_eval, whose weights are V(1), V(2), ..."""
    return _weighted(run, gain, v[:PROGRAM_DEPTH]) / v[:PROGRAM_DEPTH].sum()


def rbp(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected RBP."""
    p, rel, k = number(measure, "p", high=1), optional(measure, "rel"), cutoff_of(measure)
    gain = np.maximum(run.grade, 0) if rel is None else (run.grade >= rel).astype(np.float64)
    if rel is not None and k == UNLIMITED:
        return _of_program(run, gain, p ** np.arange(PROGRAM_DEPTH + 1.0))
    ranks = np.arange(min(k, int(run.depth.max(initial=0))))
    return _weighted(run, gain, (1 - p) * p ** ranks.astype(np.float64))


def rbp_of_trec_eval(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected RBP_TE, whose gains are shares of the query's top grade."""
    top = np.ones(len(run.judgments))
    np.maximum.at(top, run.judgments.query, run.judgments.grade)
    gain = np.maximum(run.grade, 0) / top[run.query]
    ranks = np.arange(float(run.depth.max(initial=0)))
    return _weighted(run, gain, (1 - measure["p"]) * measure["p"] ** ranks)


def sdcg(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected SDCG."""
    i = np.arange(1, min(cutoff_of(measure), PROGRAM_DEPTH + 1) + 1)
    return _of_program(run, linear_gain(measure, run), 1 / log2_of_next(i))


def insq(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected INSQ."""
    return _of_program(run, linear_gain(measure, run), inverse_squares(measure))


def cwl_rbp(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected CWL_RBP; with `unjudged='best'` also unjudged documents have a gain."""
    best, r = unjudged_gain(measure), gains_on_scale(measure, run)
    groups = groups_of(run)
    query, rank, mean = groups.spread(r)
    size, group = (
        groups.size[groups.start],
        np.repeat(np.arange(len(groups.start)), groups.size[groups.start]),
    )
    mean = mean + best * (1 - groups.count / size)[group]
    unjudged = np.full(len(run.judgments), best)
    items, utility = discounts.cwl(
        query, rank, mean, measure.discount(), end=inf, unjudged=unjudged
    )
    return utility / items


def unjudged_gain(measure: Any) -> float:
    """Return the gain of an unjudged document under `unjudged='worst'` or `'best'`."""
    if measure["unjudged"] == "worst":
        return 0.0
    top = np.array([float(measure["max_rel"])])
    return float(discounts.gain(top, measure["max_rel"], measure["gain"])[0])


def gains_on_scale(measure: Any, run: AlignedRun) -> Floats:
    """Return the gains of retrieved documents on a scale up to `max_rel`.

    With `unjudged='best'`, a document of a negative grade gains like an unjudged one; else a C/W/L
    measure gives no gain where no document is relevant.
    """
    r = discounts.gain(run.grade, measure["max_rel"], measure["gain"])
    if measure["unjudged"] == "best":
        return np.where(run.is_judged, r, unjudged_gain(measure))
    if measure.NAME.startswith("CWL_"):
        return np.where((run.judgments.m() > 0)[run.query], r, 0.0)
    return r


# -- users who stop when they are satisfied -------------------------------------------------------


def expected_cascade(groups: Groups, r: Floats, deepest: float, unjudged: float = 0.0) -> Spread:
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
    size, first = groups.size[groups.start], groups.first[groups.start]
    tied = np.flatnonzero((size > 1) & (first <= deepest))
    factors = [
        _factors(r[groups.start[g] :][: groups.count[g]], int(size[g]), unjudged)
        for g in tied.tolist()
    ]
    number = np.array([len(one) for one in factors], dtype=np.int64)
    offset = np.cumsum(number + 1) - (number + 1)
    means = np.concatenate([np.zeros(0), *map(symmetric_means, factors)])
    begin = np.cumsum(size) - size
    gain = np.zeros(int(size.sum()))
    alone = np.flatnonzero(size == 1)
    gain[begin[alone]] = r[groups.start[alone]]
    last = int(min(deepest, 2**61)) + 1
    before = np.ones(len(tied))  # S at the position before, of each group
    for step in steps(first[tied], size[tied] + 1, number, last):
        column = np.arange(step.probability.shape[1])
        within = np.minimum(column, number[step.group][:, None])
        mean = (step.probability * means[offset[step.group][:, None] + within]).sum(axis=1)
        if step.position:
            row = begin[tied[step.group]] + step.position - 1
            previous = before[step.group]
            gain[row] = 1 - np.divide(mean, previous, out=np.ones(len(mean)), where=previous > 0)
        before[step.group] = mean
    group = np.repeat(np.arange(len(size)), size)
    rank = first[group] + np.arange(len(group)) - begin[group]
    keep = rank <= deepest
    return Spread(groups.segment[groups.start][group][keep], rank[keep], gain[keep])


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
        share = np.arange(1, n + 1) / n  # of the choices of s among n that have the n-th one
        mean[1 : n + 1] = share * factor * mean[:n] + (1 - share) * mean[1 : n + 1]
    return mean


def err(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected ERR."""
    r = discounts.gain(run.grade, GDEVAL_MAX_REL, "exp")
    cascade = expected_cascade(groups_of(run), r, cutoff_of(measure))
    return discounts.expected_reciprocal_rank(*cascade, len(run.judgments))


def gerr(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected GERR."""
    k = inf if measure["cutoff"] is None else measure["cutoff"]
    best, r = unjudged_gain(measure), gains_on_scale(measure, run)
    cascade = expected_cascade(groups_of(run), r, k, best)
    if not best:
        return discounts.expected_reciprocal_rank(*cascade, len(run.judgments))
    unjudged = np.full(len(run.judgments), best)
    return discounts.cwl(*cascade, discounts.RECIPROCAL, end=k, unjudged=unjudged)[1]
