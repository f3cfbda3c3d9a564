"""Expected values of measures of subtopics: a sum over subtopics, each judged alone."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import (
    Floats,
    Ints,
    per_query_sum,
    product_before,
    ratio,
)
from ir_lexirecall.measures import discounts
from ir_lexirecall.measures.diversity import (
    ANY_GAIN,
    CT,
    DiversityMeasure,
    top_grades,
    with_summed_grades,
)
from ir_lexirecall.measures.expected.binary import average_precision_sum, expected_count
from ir_lexirecall.measures.expected.graded import expected_cascade, ndcg
from ir_lexirecall.measures.expected.groups import (
    Groups,
    groups_by_aspect,
    whole_cutoff,
)
from ir_lexirecall.measures.expected.sums import without_each
from ir_lexirecall.measures.other_programs import (
    Novelty,
    condensed_by_ndeval,
    normalised_novelty,
    relevant_of_pairs,
)
from ir_lexirecall.measures.trec_eval import cutoff_of

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


def of_queries(run: AlignedRun, value_of_pair: Floats) -> Floats:
    """Return the sums over the subtopics of each query."""
    return per_query_sum(run.judgments.aspects.query, value_of_pair, len(run.judgments))


def subtopic_recall(run: AlignedRun, rel: float, cutoff: int) -> Floats:
    """Return the expected share of the subtopics with a relevant document above the cutoff."""
    groups, _ = groups_by_aspect(run, rel)
    covered = groups.level_sum(lambda pair, rank, level: 1.0 * (level == 1), cutoff)
    _, n_subtopics = relevant_of_pairs(run.judgments, rel)
    return ratio(of_queries(run, covered), n_subtopics)


# -- ndeval ---------------------------------------------------------------------------------------


def of_ndeval(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected value of one of ndeval's measures."""
    run, rel = condensed_by_ndeval(measure, run), measure["rel"]
    k = cutoff_of(measure)
    if measure.NAME == "StRecall":
        return subtopic_recall(run, rel, k)
    groups, _ = groups_by_aspect(run, rel)
    n_relevant, n_subtopics = relevant_of_pairs(run.judgments, rel)
    if measure.NAME == "P_IA":
        return ratio(of_queries(run, expected_count(groups, k)), float(k) * n_subtopics)
    if measure.NAME == "AP_IA":
        average_precision = ratio(average_precision_sum(groups), n_relevant)
        return ratio(of_queries(run, average_precision), n_subtopics)
    novelty_model = Novelty.of(measure)

    def worth(pair: Ints, rank: Ints, level: Ints) -> Floats:
        """Return (1 - alpha)^(i - 1) times the discount of the rank."""
        return (1 - novelty_model.alpha) ** (level - 1) * novelty_model.discount(rank)

    total = of_queries(run, groups.level_sum(worth, k))
    return normalised_novelty(measure, run, total, n_subtopics)


# -- gains that shrink with earlier ones on a subtopic --------------------------------------------


def gains_by_aspect(
    measure: DiversityMeasure, run: AlignedRun
) -> tuple[Groups, Floats, Floats]:
    """Return the documents with a gain for each subtopic, their grades and their gains."""
    groups, grade = groups_by_aspect(run, ANY_GAIN, measure["cutoff"])
    top = top_grades(measure, run.judgments)[groups.segment]
    return groups, grade, discounts.gain(grade, top, measure["gain"])


def _novel_gains(
    measure: Any, run: AlignedRun, weight: Floats, discount: Callable[[Ints], Any]
) -> Floats:
    """Return the expected sum of weighted, discounted gains that shrink with earlier ones.

    It is the sum of w B(rank) g (1 - alpha)^(i - 1) over the i-th documents of all subtopics.
    """
    groups, _, gain = gains_by_aspect(measure, run)

    def worth(pair: Ints, rank: Ints, level: Ints) -> Floats:
        """Return what a document adds for a gain of 1."""
        return weight[pair] * discount(rank) * (1 - measure["alpha"]) ** (level - 1)

    return of_queries(run, groups.level_sum(worth, whole_cutoff(measure), gain))


def expected_utility(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected EU or nDCU."""
    weight = run.judgments.aspects.weight
    utility = _novel_gains(measure, run, weight, lambda rank: 1 / (1 + np.log2(rank)))
    value: Floats = measure.less_effort(run, utility)
    return value


def novelty(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected alpha_DCG_IA, alpha_nDCG_G or NRBP_G."""
    total = _novel_gains(measure, run, measure.weights(run.judgments), measure.discount)
    value: Floats = measure.normalised(total, run.judgments)
    return value


def cube_test(measure: CT, run: AlignedRun) -> Floats:
    """Return the expected CT or ACT, whose subtopics are full from a sum of gains on.

    A document of gain g adds (1 - alpha)^s g, discounted by its rank, if s documents about the
    subtopic stand above it and the subtopic is not full yet.
    """
    aspects, alpha = run.judgments.aspects, measure["alpha"]
    groups, grade, gain = gains_by_aspect(measure, run)
    open_gain = _gains_of_open_subtopics(measure, run, groups, grade, gain)
    total = np.zeros(groups.n_segments)
    for step in groups.steps(whole_cutoff(measure)):
        expected_gain = np.zeros(len(step.group))
        for row, g in enumerate(step.group.tolist()):
            n_above = groups.level_before[g] + np.arange(groups.count[g])
            novel_gain = (1.0 - alpha) ** n_above * open_gain[g]
            probability = step.probability[row, : len(novel_gain)]
            expected_gain[row] = (
                probability * novel_gain
            ).sum() / groups.size_of_group[g]
        pair = groups.segment_of_group[step.group]
        rank = groups.first_of_group[step.group] + step.position
        weighted = aspects.weight[pair] * expected_gain
        part = measure.discounted(weighted, run, aspects.query[pair], rank)
        total += per_query_sum(pair, part, groups.n_segments)
    return of_queries(run, total)


def _gains_of_open_subtopics(
    measure: CT, run: AlignedRun, groups: Groups, grade: Floats, gain: Floats
) -> list[Floats]:
    """Return, for each group and s = 0, 1, ..., the sum of gains that still count.

    A document counts if the group's s documents above it, and those above the group, do not reach
    the saturation; the mean is over all choices of s others.
    """
    top = top_grades(measure, run.judgments)[groups.segment]
    units, scale = discounts.in_units(grade, top, measure["gain"])
    first_row = np.searchsorted(groups.segment, np.arange(groups.n_segments))
    open_gains = []
    for start, count in zip(groups.start.tolist(), groups.count.tolist(), strict=True):
        members = slice(start, start + count)
        pair = int(groups.segment[start])
        above_group = float(units[int(first_row[pair]) : start].sum())
        full = _smallest_full(float(scale[start]), measure["saturation"])
        shares_of_others = without_each(units[members], full - above_group)
        open_gain = np.zeros(count)
        for unit, gain_of_doc in zip(
            units[members].tolist(), gain[members].tolist(), strict=True
        ):
            probability_open = [sum(sums.values()) for sums in shares_of_others[unit]]
            open_gain += gain_of_doc * np.array(probability_open)
        open_gains.append(open_gain)
    return open_gains


def _smallest_full(scale: float, saturation: float) -> float:
    """Return the smallest sum of units from which on a subtopic is full, as floats divide."""
    limit = scale * saturation
    while limit / scale >= saturation:
        limit = float(np.nextafter(limit, -inf))
    while limit / scale < saturation:
        limit = float(np.nextafter(limit, inf))
    return limit


def rank_biased_utility(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected RBU, the sum of p^rank w r(rank) S(rank), less the effort."""
    aspects, p = run.judgments.aspects, measure["p"]
    groups, _, gain = gains_by_aspect(measure, run)
    pair, rank, r = expected_cascade(groups, gain, whole_cutoff(measure))
    discount = p ** rank.astype(np.float64)
    satisfaction_left = product_before(pair, 1 - r)
    worth = discount * aspects.weight[pair] * r * satisfaction_left
    utility = of_queries(run, per_query_sum(pair, worth, groups.n_segments))
    value: Floats = measure.less_effort(run, utility)
    return value


# -- measures made of others ----------------------------------------------------------------------


def d_ndcg(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected D_nDCG: nDCG of weighted sums of grades."""
    return ndcg(ir_measures.nDCG(cutoff=measure["cutoff"]), with_summed_grades(run))


def d_sharp(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected DSharp: subtopic recall and D_nDCG, weighted by gamma."""
    gamma = measure["gamma"]
    covered = subtopic_recall(run, measure["rel"], whole_cutoff(measure))
    return gamma * covered + (1 - gamma) * d_ndcg(measure, run)
