"""Expected values of measures of relevant and other documents."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import Floats, Ints, per_query_sum, ranges, ratio
from ir_lexirecall._util.rounding import SUM
from ir_lexirecall.measures.expected.groups import NO_CUTOFF, Groups, groups_of, steps
from ir_lexirecall.measures.recall import exposure
from ir_lexirecall.measures.trec_eval import INFAP_EPSILON, cutoff_of, ranking_of

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


def relevant_groups(run: AlignedRun, rel: float) -> Groups:
    """Return the retrieved relevant documents, in their groups."""
    return groups_of(run, run.grade >= rel)


def found_down_to(groups: Groups, deepest: Any) -> Floats:
    """Return the expected number of documents down to a rank, of all segments or one for each."""
    segment, rank, share = groups.spread(np.ones(len(groups.segment)))
    limit = np.broadcast_to(deepest, groups.segments)[segment]
    return per_query_sum(segment, np.where(rank <= limit, share, 0.0), groups.segments)


def average_precision_sum(groups: Groups, cutoff: int = NO_CUTOFF) -> Floats:
    """Return the expected sum of i / p_i down to a cutoff (McSherry and Najork, ECIR 2008).

    A relevant document at position j of a group of n has, on average, j (R - 1) / (n - 1) of the
    R - 1 other relevant ones of the group above it.
    """
    size, first, count = groups.size[groups.start], groups.first[groups.start], groups.count
    group = np.repeat(np.arange(len(size)), size)
    rank = ranges(first, first + size)
    position = rank - first[group]
    above = position * ((count - 1) / np.maximum(size - 1, 1))[group]
    level = groups.level_before[group] + above + 1
    part = np.where(rank <= cutoff, (count / size)[group] * level / rank, 0.0)
    return per_query_sum(groups.segment[groups.start][group], part, groups.segments)


# -- measures that count relevant documents down to a rank ----------------------------------------


def _count(measure: Measure, run: AlignedRun) -> tuple[Floats, AlignedRun]:
    """Return the expected number of relevant documents down to the cutoff, and the ranking."""
    ranking = ranking_of(measure, run)
    groups = relevant_groups(ranking, measure["rel"])
    return found_down_to(groups, cutoff_of(measure)), ranking


def precision(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected precision: r / k."""
    return _count(measure, run)[0] / float(cutoff_of(measure))


def recall(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected recall: r / m."""
    return ratio(_count(measure, run)[0], run.judgments.m(measure["rel"]))


def r_precision(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected precision at rank m."""
    m = run.judgments.m(measure["rel"])
    deepest = np.minimum(m, cutoff_of(measure))
    return ratio(
        found_down_to(relevant_groups(ranking_of(measure, run), measure["rel"]), deepest), m
    )


def f1(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected F1, which is 2 E[r] / (k + m), as F1 is linear in r."""
    found, m, k = _count(measure, run)[0], run.judgments.m(measure["rel"]), measure["cutoff"]
    documents = run.depth if k is None else float(k)
    return ratio(2 * found, np.where(m > 0, documents + m, 0))


def capped_recall(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected R_cap or RelP: r / min(k, m)."""
    found, m, k = _count(measure, run)[0], run.judgments.m(measure["rel"]), measure["cutoff"]
    return ratio(found, np.minimum(m, run.depth if k is None else k))


def success(measure: Measure, run: AlignedRun) -> Floats:
    """Return the probability that a relevant document stands above the cutoff."""
    groups = relevant_groups(ranking_of(measure, run), measure["rel"])
    return groups.level_sum(lambda segment, rank, level: 1.0 * (level == 1), cutoff_of(measure))


def reciprocal_rank(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected reciprocal rank of the first relevant document."""
    groups = relevant_groups(ranking_of(measure, run), measure["rel"])
    return groups.level_sum(lambda segment, rank, level: (level == 1) / rank, cutoff_of(measure))


def average_precision(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected average precision."""
    groups = relevant_groups(ranking_of(measure, run), measure["rel"])
    total = average_precision_sum(groups, cutoff_of(measure))
    return ratio(total, run.judgments.m(measure["rel"]))


def judged(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected share of judged documents among the first k."""
    k = cutoff_of(measure)
    return ratio(found_down_to(groups_of(run, run.is_judged), k), np.minimum(run.depth, k))


def unjudged(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected share of unjudged documents among the first k."""
    k = measure["cutoff"]
    n_judged = found_down_to(groups_of(run, run.is_judged), k)
    return (np.minimum(run.depth, k) - n_judged) / float(k)


# -- bpref and infAP ------------------------------------------------------------------------------


def bpref(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected bpref.

    A relevant document has 0, 1, ..., J of the J judged non-relevant documents of its group above
    it, with equal probabilities.
    """
    rel, m = measure["rel"], run.judgments.m(measure["rel"])
    groups = groups_of(run)
    n_relevant = groups.sums(run.grade >= rel).astype(np.int64)
    n_other = groups.sums(run.is_judged & (run.grade < rel)).astype(np.int64)
    query = groups.segment[groups.start]
    total_before = np.cumsum(n_other) - n_other
    before = total_before - total_before[np.searchsorted(query, query)]
    group = np.repeat(np.arange(len(query)), n_other + 1)
    above = ranges(before, before + n_other + 1)
    not_relevant = np.maximum(run.judgments.m(0) - m, 0)
    of_group = query[group]
    lost = ratio(np.minimum(above, m[of_group]), np.minimum(not_relevant[of_group], m[of_group]))
    share = (n_relevant / (n_other + 1))[group]
    return ratio(per_query_sum(of_group, share * (1 - lost), len(m)), m)


def inferred_ap(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected infAP.

    Given the number of judged documents of the group above, those that are relevant and the pooled
    ones without a judgment are independent, and their means are known.
    """
    rel, m = measure["rel"], run.judgments.m(measure["rel"])
    groups, epsilon = groups_of(run), INFAP_EPSILON
    query, first, size = (a[groups.start] for a in (groups.segment, groups.first, groups.size))
    is_relevant, counted = run.grade >= rel, run.is_judged | (run.grade >= rel)
    n_relevant, n_judged = (groups.sums(a).astype(np.int64) for a in (is_relevant, counted))
    n_pooled = groups.count

    def before(number: Ints) -> Ints:
        total = np.cumsum(number) - number
        return total - total[np.searchsorted(query, query)]

    relevant_before, judged_before, pooled_before = map(before, (n_relevant, n_judged, n_pooled))
    kept = np.flatnonzero(n_relevant)
    others = n_judged[kept] - 1
    total = np.zeros(len(m))
    for step in steps(first[kept], size[kept], others):
        group = kept[step.group]
        b = np.arange(step.probability.shape[1])
        rank = first[group] + step.position
        share = (n_relevant[group] - 1) / np.maximum(n_judged[group] - 1, 1)
        relevant = relevant_before[group, None] + b * share[:, None]
        free = np.maximum(size[group] - n_judged[group], 1)
        pooled_share = ((n_pooled - n_judged)[group] / free)[:, None]
        pooled = pooled_before[group, None] + b + (step.position - b) * pooled_share
        found = (relevant + epsilon) / (judged_before[group, None] + b + 2 * epsilon)
        mean = (step.probability * pooled * found).sum(axis=1)
        value = np.where(rank == 1, 1.0, (1 + mean) / rank)
        part = n_relevant[group] / size[group] * value
        total += per_query_sum(query[group], part, len(m))
    return ratio(total, m)


# -- the rank of one relevant document ------------------------------------------------------------


def total_search_efficiency(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected exposure of the last relevant document."""
    k, n, m = measure["cutoff"], measure["n"], run.judgments.m(measure["rel"])
    e, end = exposure(measure["exposure"], p=measure["p"], n=n), inf if n is None else float(n)
    depth = run.depth if k is None else np.minimum(run.depth, k)

    def if_missing(segment: Ints, r: Ints) -> Floats:
        """Exposure where r < m relevant documents stand above the cutoff."""
        if measure["impute"] == "optimistic":
            return e((depth[segment] + m[segment] - r).astype(np.float64))
        return np.full(len(r), e(np.array([end]))[0])

    def gained(segment: Ints, rank: Ints, level: Ints) -> Floats:
        is_last = level == m[segment]
        with_it = if_missing(segment, level)
        with_it[is_last] = e(rank[is_last].astype(np.float64))
        return with_it - if_missing(segment, level - 1)

    groups = relevant_groups(run, measure["rel"])
    value = groups.level_sum(gained, NO_CUTOFF if k is None else k)
    some = np.flatnonzero(m > 0)
    value[some] += if_missing(some, np.zeros(len(some), dtype=np.int64))
    if measure["normalize"]:
        worst = e(np.array([end]))
        span = e(m[some].astype(np.float64)) - worst
        scaled = np.ones(len(span))
        value[some] = np.divide(value[some] - worst, span, out=scaled, where=span != 0)
    return value


def _is_sure(groups: Groups, m: Ints, k: int) -> Any:
    """Return the queries whose relevant documents are all above the cutoff in every order."""
    deepest = np.zeros(groups.segments, dtype=np.int64)
    np.maximum.at(deepest, groups.segment, groups.first + groups.size - 1)
    return (np.bincount(groups.segment, minlength=groups.segments) == m) & (deepest <= k)


def search_length(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected SL3: the rank of the last relevant document, less m."""
    groups, m, n = (
        relevant_groups(run, measure["rel"]),
        run.judgments.m(measure["rel"]),
        measure["n"],
    )
    k = NO_CUTOFF if measure["cutoff"] is None else measure["cutoff"]
    bottom = 0 if n is None else n
    value = bottom + groups.level_sum(
        lambda segment, rank, level: (level == m[segment]) * (rank - float(bottom)), k
    )
    if n is None:
        value[~_is_sure(groups, m, k)] = inf
    return np.where(m > 0, value - m, 0.0)


def recall_error(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected RE; the missing document of level i has rank n - m + i."""
    groups, m, n = (
        relevant_groups(run, measure["rel"]),
        run.judgments.m(measure["rel"]),
        measure["n"],
    )
    k = NO_CUTOFF if measure["cutoff"] is None else measure["cutoff"]
    size = np.zeros(len(m)) if n is None else n - m.astype(np.float64)
    gained = groups.level_sum(lambda segment, rank, level: rank - (size[segment] + level), k)
    total = gained + m * size + m * (m + 1) / 2
    if n is None:
        total[~_is_sure(groups, m, k)] = inf
    return ratio(total, m) - np.where(m > 0, (m + 1) / 2, 0.0)


def weighted_lexirecall(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected weighted form of LR: the sum of w_i (n - p_i) / n over all levels."""
    groups, m, n = (
        relevant_groups(run, measure["rel"]),
        run.judgments.m(measure["rel"]),
        measure["n"],
    )
    k = NO_CUTOFF if measure["cutoff"] is None else measure["cutoff"]
    delta = 1 / (n + measure["eps"])
    q = delta / (1 + delta)

    def weight(segment: Ints, level: Ints) -> Floats:
        return q ** (m[segment] - level) * np.where(level == 1, 1.0, 1 / (1 + delta))

    def gained(segment: Ints, rank: Ints, level: Ints) -> Floats:
        return weight(segment, level) * (n - rank - (m[segment] - level)) / n

    segment = np.repeat(np.arange(len(m)), m)
    level = ranges(np.ones(len(m), dtype=np.int64), m + 1)
    missing = weight(segment, level) * (m[segment] - level) / n
    return groups.level_sum(gained, k) + per_query_sum(segment, missing, len(m))


# -- total recall ---------------------------------------------------------------------------------


def _shift(measure: Measure, run: AlignedRun) -> Floats:
    """Return by how much the sum of the ranks of relevant documents rises on average."""
    keep = run.grade >= measure["rel"]
    first, size = run.tied()
    mean = first + (size - 1) / 2
    return per_query_sum(run.query[keep], (mean - run.rank)[keep], len(run.judgments))


def time_to_discovery(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected ATD, the mean rank of the relevant documents."""
    _, n = measure.positions(run)
    moved = ratio(_shift(measure, run), run.judgments.m(measure["rel"]))
    return measure.score(run) + (moved / n if measure["normalize"] else moved)


def recall_loss(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected RecallLoss, which is linear in the sum of the ranks."""
    (_, n), m = measure.positions(run), run.judgments.m(measure["rel"])
    return measure.score(run) + ratio(_shift(measure, run), m * (n - m).astype(np.float64))


def _rank_of_level(measure: Any, run: AlignedRun, wanted: Floats) -> Floats:
    """Return the expected rank of one relevant document of each query, retrieved or not."""
    positions = measure.positions(run)[0]
    groups = relevant_groups(run, measure["rel"])
    value = groups.level_sum(lambda segment, rank, level: (level == wanted[segment]) * rank)
    missing = (positions.level == wanted[positions.query]) & (
        positions.level > run.relevant(measure["rel"]).r[positions.query]
    )
    value[positions.query[missing]] = positions.rank[missing]
    return value


def last_relevant(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected rank of the last relevant document."""
    return _rank_of_level(measure, run, run.judgments.m(measure["rel"]).astype(np.float64))


def work_saved(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected WSS, which is linear in the rank of one relevant document."""
    (_, n), m, r = measure.positions(run), run.judgments.m(measure["rel"]), measure["r"]
    p = _rank_of_level(measure, run, np.ceil(r * m * (1 - SUM)))
    return np.where(m > 0, (n - p) / n - (1 - r), 0.0)


def extra_relevant_found(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected ERF: the recall of a share of the collection, less that share.

    Documents that are not ranked end the collection; no order of the ranked ones moves them.
    """
    (positions, n), m, x = measure.positions(run), run.judgments.m(measure["rel"]), measure["x"]
    deepest = np.floor(x * n * (1 + SUM))
    found = found_down_to(relevant_groups(run, measure["rel"]), deepest)
    retrieved = run.relevant(measure["rel"]).r
    counted = (positions.rank <= deepest[positions.query]) & (
        positions.level > retrieved[positions.query]
    )
    found += np.bincount(positions.query[counted], minlength=len(n))
    return np.where(m > 0, ratio(found, m) - x, 0.0)
