"""Expected values of measures of the ranks of relevant documents: search lengths, total recall.

The m relevant documents of a query have the ranks p_1 < ... < p_m; its collection has n documents.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import Bools, Floats, Ints, per_query_sum, ranges, ratio
from ir_lexirecall._util.rounding import SUM
from ir_lexirecall.measures.expected.binary import expected_count, relevant_groups
from ir_lexirecall.measures.expected.groups import Groups, whole_cutoff
from ir_lexirecall.measures.recall import exposure, scaled

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


# -- the last relevant document, and search lengths -----------------------------------------------


def total_search_efficiency(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected exposure of the last relevant document, E[e(p_m)].

    With `normalize`, it is (E[e(p_m)] - e(n)) / (e(m) - e(n)).

    The exposure begins with that of a ranking in which nothing is found. Each relevant document
    that is found adds the difference that it makes.
    """
    m, n = run.judgments.m(measure["rel"]), measure["n"]
    e = exposure(measure["exposure"], p=measure["p"], n=n)
    e_at_end = e(np.array([inf if n is None else float(n)]))
    e_with_missing = _exposure_with_missing(measure, run, e, float(e_at_end[0]))

    def difference(segment: Ints, rank: Ints, level: Ints) -> Floats:
        """Return by how much the document at a level changes the exposure."""
        with_it = e_with_missing(segment, level)
        is_last = level == m[segment]
        with_it[is_last] = e(rank[is_last].astype(np.float64))
        return with_it - e_with_missing(segment, level - 1)

    value = relevant_groups(measure, run).level_sum(difference, whole_cutoff(measure))
    has_relevant = np.flatnonzero(m > 0)
    nothing_found = np.zeros(len(has_relevant), dtype=np.int64)
    value[has_relevant] += e_with_missing(has_relevant, nothing_found)
    if measure["normalize"]:
        best = e(m[has_relevant].astype(np.float64))
        value[has_relevant] = scaled(value[has_relevant], e_at_end, best)
    return value


def _exposure_with_missing(
    measure: Measure, run: AlignedRun, e: Callable[[Floats], Floats], e_at_end: float
) -> Callable[[Ints, Ints], Floats]:
    """Return the exposure where r < m relevant documents stand above the cutoff, by query and r.

    The last of the m - r missing documents stands at the end of the collection, or m - r ranks
    below the ranking if the imputation is optimistic.
    """
    m = run.judgments.m(measure["rel"])
    depth = np.minimum(run.depth, whole_cutoff(measure))

    def optimistic(query: Ints, r: Ints) -> Floats:
        """Return the exposure at rank depth + m - r."""
        rank = depth[query] + m[query] - r
        return e(rank.astype(np.float64))

    def pessimistic(query: Ints, r: Ints) -> Floats:
        """Return the exposure at the end of the collection."""
        return np.full(len(r), e_at_end)

    if measure["impute"] == "optimistic":
        return optimistic
    return pessimistic


def _are_all_found(groups: Groups, m: Ints, k: int) -> Bools:
    """Return the queries whose relevant documents are all above the cutoff in every order."""
    n_retrieved = np.bincount(groups.segment, minlength=groups.n_segments)
    deepest_rank = np.zeros(groups.n_segments, dtype=np.int64)
    np.maximum.at(deepest_rank, groups.segment, groups.first + groups.size - 1)
    are_found: Bools = (n_retrieved == m) & (deepest_rank <= k)
    return are_found


def search_length(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected SL3, E[p_m] - m; a missing document has rank n, without n infinity."""
    groups, m = relevant_groups(measure, run), run.judgments.m(measure["rel"])
    n, k = measure["n"], whole_cutoff(measure)
    rank_if_missing = 0 if n is None else n

    def closer_than_missing(segment: Ints, rank: Ints, level: Ints) -> Floats:
        """Return the rank of the last relevant document, less that of a missing one."""
        return (level == m[segment]) * (rank - float(rank_if_missing))

    p_m = rank_if_missing + groups.level_sum(closer_than_missing, k)
    if n is None:
        p_m[~_are_all_found(groups, m, k)] = inf
    return np.where(m > 0, p_m - m, 0.0)


def recall_error(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected RE, E[sum of p_i] / m - (m + 1) / 2.

    A missing document of level i has rank n - m + i; without n, RE is infinite then.
    """
    groups, m = relevant_groups(measure, run), run.judgments.m(measure["rel"])
    n, k = measure["n"], whole_cutoff(measure)
    if n is None:
        n_not_relevant = np.zeros(len(m))
    else:
        n_not_relevant = n - m.astype(np.float64)

    def closer_than_missing(segment: Ints, rank: Ints, level: Ints) -> Floats:
        """Return the rank of a document, less its rank if it were missing."""
        return rank - (n_not_relevant[segment] + level)

    sum_if_all_missing = m * n_not_relevant
    rank_sum = (
        groups.level_sum(closer_than_missing, k) + sum_if_all_missing + m * (m + 1) / 2
    )
    if n is None:
        rank_sum[~_are_all_found(groups, m, k)] = inf
    best_mean = np.where(m > 0, (m + 1) / 2, 0.0)
    return ratio(rank_sum, m) - best_mean


def weighted_lexirecall(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected weighted form of LR, E[sum of w_i (n - p_i) / n] over all levels i.

    With d = 1 / (n + eps) and q = d / (1 + d), the weights are w_1 = q^(m - 1) and
    w_i = q^(m - i) / (1 + d). A missing document of level i has rank n - m + i.
    """
    groups, m = relevant_groups(measure, run), run.judgments.m(measure["rel"])
    n = measure["n"]
    delta = 1 / (n + measure["eps"])
    q = delta / (1 + delta)

    def weight(segment: Ints, level: Ints) -> Floats:
        """Return w_i of a level."""
        return q ** (m[segment] - level) * np.where(level == 1, 1.0, 1 / (1 + delta))

    def better_than_missing(segment: Ints, rank: Ints, level: Ints) -> Floats:
        """Return what a document adds to the value it has if it is missing."""
        return weight(segment, level) * (n - rank - (m[segment] - level)) / n

    segment = np.repeat(np.arange(len(m)), m)
    level = ranges(np.ones(len(m), dtype=np.int64), m + 1)
    if_missing = weight(segment, level) * (m[segment] - level) / n
    return groups.level_sum(better_than_missing, whole_cutoff(measure)) + per_query_sum(
        segment, if_missing, len(m)
    )


# -- total recall ---------------------------------------------------------------------------------


def _rise_of_rank_sum(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected sum of the ranks of relevant documents, less that in the given order."""
    is_relevant = run.grade >= measure["rel"]
    first, size = run.tied()
    expected_rank = first + (size - 1) / 2
    rise = expected_rank - run.rank
    return per_query_sum(run.query[is_relevant], rise[is_relevant], len(run.judgments))


def time_to_discovery(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected ATD, the mean rank of the relevant documents."""
    _, n = measure.positions(run)
    rise = ratio(_rise_of_rank_sum(measure, run), run.judgments.m(measure["rel"]))
    if measure["normalize"]:
        rise = rise / n
    value: Floats = measure.score(run) + rise
    return value


def recall_loss(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected RecallLoss, which rises by (sum of ranks) / (m (n - m))."""
    _, n = measure.positions(run)
    m = run.judgments.m(measure["rel"])
    n_not_relevant = (n - m).astype(np.float64)
    value: Floats = measure.score(run) + ratio(
        _rise_of_rank_sum(measure, run), m * n_not_relevant
    )
    return value


def _expected_rank(measure: Any, run: AlignedRun, level: Floats) -> Floats:
    """Return the expected rank of the relevant document of a level, one of each query.

    A document that was not retrieved stands at the end of the collection.
    """
    groups = relevant_groups(measure, run)
    expected_rank = groups.level_sum(
        lambda segment, rank, level_here: (level_here == level[segment]) * rank
    )
    positions, _ = measure.positions(run)
    n_retrieved = run.relevant(measure["rel"]).r
    is_missing = positions.level > n_retrieved[positions.query]
    row = np.flatnonzero(is_missing & (positions.level == level[positions.query]))
    expected_rank[positions.query[row]] = positions.rank[row]
    return expected_rank


def last_relevant(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected rank of the last relevant document, E[p_m]."""
    return _expected_rank(
        measure, run, run.judgments.m(measure["rel"]).astype(np.float64)
    )


def work_saved(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected WSS, (n - E[p_j]) / n - (1 - r) with j = ceil(r m)."""
    _, n = measure.positions(run)
    m, r = run.judgments.m(measure["rel"]), measure["r"]
    j = np.ceil(r * m * (1 - SUM))
    p_j = _expected_rank(measure, run, j)
    return np.where(m > 0, (n - p_j) / n - (1 - r), 0.0)


def extra_relevant_found(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected ERF, E[relevant documents down to rank x n] / m - x.

    Documents that are not ranked end the collection, and no order of the ranked ones moves them.
    """
    positions, n = measure.positions(run)
    m, x = run.judgments.m(measure["rel"]), measure["x"]
    deepest = np.floor(x * n * (1 + SUM))
    n_found = expected_count(relevant_groups(measure, run), deepest)

    is_missing = positions.level > run.relevant(measure["rel"]).r[positions.query]
    is_read = positions.rank <= deepest[positions.query]
    n_found += np.bincount(positions.query[is_missing & is_read], minlength=len(n))
    return np.where(m > 0, ratio(n_found, m) - x, 0.0)
