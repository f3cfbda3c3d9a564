"""Expected values of measures that count relevant documents; r of the m are above the cutoff k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import Floats, Ints, per_query_sum, ranges, ratio
from ir_lexirecall.measures.expected.groups import (
    NO_CUTOFF,
    Groups,
    Step,
    groups_of,
    steps,
)
from ir_lexirecall.measures.trec_eval import INFAP_EPSILON, cutoff_of, ranking_of

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


def relevant_groups(measure: Measure, run: AlignedRun) -> Groups:
    """Return the retrieved documents that are relevant to a measure, in their groups."""
    return groups_of(run, run.grade >= measure["rel"])


def expected_count(groups: Groups, deepest: Any) -> Floats:
    """Return the expected number of documents down to a rank, of all segments or one for each."""
    one_each = np.ones(len(groups.segment))
    segment, rank, probability = groups.spread(one_each)
    last_rank = np.broadcast_to(deepest, groups.n_segments)[segment]
    counted = np.where(rank <= last_rank, probability, 0.0)
    return per_query_sum(segment, counted, groups.n_segments)


def average_precision_sum(groups: Groups, cutoff: int = NO_CUTOFF) -> Floats:
    """Return the expected sum of i / p_i down to a cutoff (McSherry and Najork, ECIR 2008).

    A relevant document at position j = 0, 1, ... of a group of n has, on average,
    j (R - 1) / (n - 1) of the R - 1 other relevant ones of the group above it.
    """
    n, n_relevant = groups.size_of_group, groups.count
    share_of_others = (n_relevant - 1) / np.maximum(n - 1, 1)
    probability_relevant = n_relevant / n

    group, rank = groups.group_of_rank, groups.rank
    position = rank - groups.first_of_group[group]
    expected_above = position * share_of_others[group]
    expected_level = groups.level_before[group] + expected_above + 1
    expected_term = probability_relevant[group] * expected_level / rank
    counted = np.where(rank <= cutoff, expected_term, 0.0)
    return per_query_sum(groups.segment_of_group[group], counted, groups.n_segments)


# -- measures that are linear in the number of relevant documents above a rank --------------------


def _relevant_above_cutoff(measure: Measure, run: AlignedRun) -> Floats:
    """Return E[r], the expected number of relevant documents down to the cutoff."""
    groups = relevant_groups(measure, ranking_of(measure, run))
    return expected_count(groups, cutoff_of(measure))


def precision(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected precision, E[r] / k."""
    return _relevant_above_cutoff(measure, run) / float(cutoff_of(measure))


def recall(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected recall, E[r] / m."""
    return ratio(_relevant_above_cutoff(measure, run), run.judgments.m(measure["rel"]))


def r_precision(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected precision at rank m: E[r down to rank m] / m."""
    m = run.judgments.m(measure["rel"])
    groups = relevant_groups(measure, ranking_of(measure, run))
    r = expected_count(groups, np.minimum(m, cutoff_of(measure)))
    return ratio(r, m)


def of_count(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected F1, R_cap or RelP."""
    value: Floats = measure.of_count(run, _relevant_above_cutoff(measure, run))
    return value


def judged(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected share of judged documents among the first k."""
    k = cutoff_of(measure)
    n_judged = expected_count(groups_of(run, run.is_judged), k)
    return ratio(n_judged, np.minimum(run.depth, k))


def unjudged(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected share of unjudged documents among the first k."""
    k = measure["cutoff"]
    n_judged = expected_count(groups_of(run, run.is_judged), k)
    return (np.minimum(run.depth, k) - n_judged) / float(k)


# -- the first relevant document, and average precision -------------------------------------------


def success(measure: Measure, run: AlignedRun) -> Floats:
    """Return the probability that a relevant document stands above the cutoff."""
    groups = relevant_groups(measure, ranking_of(measure, run))
    return groups.level_sum(
        lambda segment, rank, level: 1.0 * (level == 1), cutoff_of(measure)
    )


def reciprocal_rank(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected reciprocal rank of the first relevant document, E[1 / p_1]."""
    groups = relevant_groups(measure, ranking_of(measure, run))
    return groups.level_sum(
        lambda segment, rank, level: (level == 1) / rank, cutoff_of(measure)
    )


def average_precision(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected average precision, E[sum of i / p_i] / m."""
    groups = relevant_groups(measure, ranking_of(measure, run))
    total = average_precision_sum(groups, cutoff_of(measure))
    return ratio(total, run.judgments.m(measure["rel"]))


# -- bpref and infAP ------------------------------------------------------------------------------


def bpref(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected bpref, E[sum of 1 - min(above, m) / min(N, m)] / m.

    N documents are judged not relevant; `above` of them stand above a relevant document. Of the J
    in its own group, 0, 1, ..., J are above it, with equal probabilities.
    """
    rel = measure["rel"]
    m = run.judgments.m(rel)
    n_not_relevant = np.maximum(run.judgments.m(0) - m, 0)

    groups = groups_of(run)
    n_relevant = groups.counts(run.grade >= rel)
    n_other = groups.counts(run.is_judged & (run.grade < rel))
    n_cases = n_other + 1
    probability = n_relevant / n_cases

    # A row for each group and each number of its other judged documents that can be above.
    case = np.repeat(np.arange(len(n_cases)), n_cases)
    query = groups.segment_of_group[case]
    above_group = groups.before(n_other)
    above = ranges(above_group, above_group + n_cases)
    loss = ratio(
        np.minimum(above, m[query]), np.minimum(n_not_relevant[query], m[query])
    )
    total = per_query_sum(query, probability[case] * (1 - loss), len(m))
    return ratio(total, m)


def inferred_ap(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected infAP.

    infAP of a relevant document at rank p is

        (1 + pooled (relevant + e) / (judged + 2 e)) / p,

    where `pooled`, `relevant` and `judged` count the documents above it. If b of the judged
    documents of its group are above, those that are relevant and the pooled ones without a judgment
    are independent, so the mean of their product is the product of their means.
    """
    rel = measure["rel"]
    m = run.judgments.m(rel)
    groups = groups_of(run)
    is_relevant = run.grade >= rel
    counts = _InferredCounts(
        groups, groups.counts(is_relevant), groups.counts(run.is_judged | is_relevant)
    )
    with_relevant = np.flatnonzero(counts.n_relevant)
    total = np.zeros(len(m))
    for step in steps(
        groups.first_of_group[with_relevant],
        groups.size_of_group[with_relevant],
        counts.n_judged[with_relevant] - 1,
    ):
        group = with_relevant[step.group]
        value = counts.expected_precision(step, group)
        probability_relevant = counts.n_relevant[group] / groups.size_of_group[group]
        total += per_query_sum(
            groups.segment_of_group[group], probability_relevant * value, len(m)
        )
    return ratio(total, m)


class _InferredCounts:
    """Relevant, judged and pooled documents of each group, and above it.

    The rows of `groups` are the pooled documents, of which some are not judged.
    """

    def __init__(self, groups: Groups, n_relevant: Ints, n_judged: Ints) -> None:
        self.groups = groups
        self.n_relevant = n_relevant
        self.n_judged = n_judged
        self.relevant_before = groups.before(n_relevant)
        self.judged_before = groups.before(n_judged)
        self.pooled_before = groups.before(groups.count)

    def expected_precision(self, step: Step, group: Ints) -> Floats:
        """Return the expected inferred precision at a relevant document of each group.

        Args:
            step: the position of the document, and how many judged ones of its group are above.
            group: the groups, a row of the step for each.
        """
        above = np.arange(step.probability.shape[1])  # judged documents of the group
        n_judged, size = self.n_judged[group], self.groups.size_of_group[group]

        share_relevant = (self.n_relevant[group] - 1) / np.maximum(n_judged - 1, 1)
        relevant = self.relevant_before[group, None] + above * share_relevant[:, None]
        judged = self.judged_before[group, None] + above
        n_unjudged_pooled = self.groups.count[group] - n_judged
        share_pooled = n_unjudged_pooled / np.maximum(size - n_judged, 1)
        unjudged_above = step.position - above
        pooled = (
            self.pooled_before[group, None]
            + above
            + unjudged_above * share_pooled[:, None]
        )

        inferred = (relevant + INFAP_EPSILON) / (judged + 2 * INFAP_EPSILON)
        mean = (step.probability * pooled * inferred).sum(axis=1)
        rank = self.groups.first_of_group[group] + step.position
        return np.where(rank == 1, 1.0, (1 + mean) / rank)
