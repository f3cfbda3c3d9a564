"""Expected values of measures of subtopics: a sum over subtopics, each judged alone."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import Floats, Ints, per_query_sum, product_before, ratio
from ir_lexirecall.measures import discounts
from ir_lexirecall.measures.diversity import ANY_GAIN, CT, DiversityMeasure, top_grades
from ir_lexirecall.measures.expected.binary import average_precision_sum, found_down_to
from ir_lexirecall.measures.expected.graded import expected_cascade, ndcg
from ir_lexirecall.measures.expected.groups import NO_CUTOFF, Groups, groups_by_aspect, steps
from ir_lexirecall.measures.expected.sums import without_each
from ir_lexirecall.measures.other_programs import (
    Novelty,
    condensed_by_ndeval,
    normalised_novelty,
)
from ir_lexirecall.measures.trec_eval import cutoff_of

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


def _cutoff(measure: Any) -> int:
    """Return the cutoff of a measure of this library."""
    return NO_CUTOFF if measure["cutoff"] is None else int(measure["cutoff"])


def of_queries(run: AlignedRun, of_pairs: Floats) -> Floats:
    """Return the sums over the subtopics of each query."""
    return per_query_sum(run.judgments.aspects.query, of_pairs, len(run.judgments))


def relevant_of_pairs(run: AlignedRun, rel: float) -> tuple[Ints, Ints]:
    """Return the relevant documents of each subtopic, and the subtopics with one, by query."""
    aspects = run.judgments.aspects
    relevant = np.bincount(aspects.aspect[aspects.grade >= rel], minlength=len(aspects.query))
    return relevant, np.bincount(aspects.query[relevant > 0], minlength=len(run.judgments))


def subtopic_recall(run: AlignedRun, rel: float, cutoff: int) -> Floats:
    """Return the expected share of the subtopics with a relevant document above the cutoff."""
    groups, _ = groups_by_aspect(run, rel)
    covered = groups.level_sum(lambda pair, rank, level: 1.0 * (level == 1), cutoff)
    return ratio(of_queries(run, covered), relevant_of_pairs(run, rel)[1])


# -- ndeval ---------------------------------------------------------------------------------------


def of_ndeval(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected value of one of ndeval's measures."""
    run, rel = condensed_by_ndeval(measure, run), measure["rel"]
    k = cutoff_of(measure)
    if measure.NAME == "StRecall":
        return subtopic_recall(run, rel, k)
    groups, _ = groups_by_aspect(run, rel)
    relevant, subtopics = relevant_of_pairs(run, rel)
    if measure.NAME == "P_IA":
        return ratio(of_queries(run, found_down_to(groups, k)), float(k) * subtopics)
    if measure.NAME == "AP_IA":
        precision = ratio(average_precision_sum(groups), relevant)
        return ratio(of_queries(run, precision), subtopics)
    novelty = Novelty.of(measure)

    def worth(pair: Ints, rank: Ints, level: Ints) -> Floats:
        return (1 - novelty.alpha) ** (level - 1) * novelty.discount(rank)

    total = of_queries(run, groups.level_sum(worth, k))
    return normalised_novelty(measure, run, total, subtopics)


# -- gains that shrink with earlier ones on a subtopic --------------------------------------------


def gains_by_aspect(measure: DiversityMeasure, run: AlignedRun) -> tuple[Groups, Floats, Floats]:
    """Return the documents with a gain for each subtopic, their grades and their gains."""
    groups, grade = groups_by_aspect(run, ANY_GAIN, measure["cutoff"])
    top = top_grades(measure, run.judgments)[groups.segment]
    return groups, grade, discounts.gain(grade, top, measure["gain"])


def _novel_gains(
    measure: Any, run: AlignedRun, weight: Floats, discount: Callable[[Ints], Any]
) -> Floats:
    """Return the expected sum of weighted, discounted gains that shrink with earlier ones."""
    groups, _, gain = gains_by_aspect(measure, run)

    def worth(pair: Ints, rank: Ints, level: Ints) -> Floats:
        return weight[pair] * discount(rank) * (1 - measure["alpha"]) ** (level - 1)

    return of_queries(run, groups.level_sum(worth, _cutoff(measure), gain))


def expected_utility(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected EU or nDCU."""
    weight = run.judgments.aspects.weight
    utility = _novel_gains(measure, run, weight, lambda rank: 1 / (1 + np.log2(rank)))
    value: Floats = measure.less_effort(run, utility)
    return ratio(value, measure.ideal(run.judgments)) if measure.NAME == "nDCU" else value


def novelty(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected alpha_DCG_IA, alpha_nDCG_G or NRBP_G."""
    value = _novel_gains(measure, run, measure.weights(run.judgments), measure.discount)
    if measure.NAME == "alpha_nDCG_G":
        return ratio(value, measure.ideal(run.judgments))
    return value


def cube_test(measure: CT, run: AlignedRun) -> Floats:
    """Return the expected CT or ACT, whose subtopics are full from a sum of gains on."""
    aspects, k, alpha = run.judgments.aspects, _cutoff(measure), measure["alpha"]
    groups, grade, gain = gains_by_aspect(measure, run)
    top = top_grades(measure, run.judgments)[groups.segment]
    units, scale = (grade, top) if measure["gain"] == "linear" else discounts.in_units(grade, top)
    open_gain = _gains_of_open_subtopics(groups, units, scale, gain, measure["saturation"])
    total = np.zeros(groups.segments)
    segment, first, size = (a[groups.start] for a in (groups.segment, groups.first, groups.size))
    for step in steps(first, size, groups.count - 1, k):
        pair, rank = segment[step.group], first[step.group] + step.position
        kept = np.zeros(len(step.group))
        for row, g in enumerate(step.group.tolist()):
            number = groups.level_before[g] + np.arange(groups.count[g])
            novel = (1.0 - alpha) ** number * open_gain[g]
            kept[row] = (step.probability[row, : len(novel)] * novel).sum() / size[g]
        query = aspects.query[pair]
        part = measure.discounted(aspects.weight[pair] * kept, run, query, rank)
        total += per_query_sum(pair, part, groups.segments)
    return of_queries(run, total)


def _gains_of_open_subtopics(
    groups: Groups, units: Floats, scale: Floats, gain: Floats, saturation: float
) -> list[Floats]:
    """Return, for each group and s = 0, 1, ..., the sum of gains that still count.

    A document counts if the group's s documents above it, and those above the group, do not reach
    the saturation; the mean is over all choices of s others.
    """
    results = []
    begin = np.searchsorted(groups.segment, np.arange(groups.segments))
    for start, count in zip(groups.start.tolist(), groups.count.tolist(), strict=True):
        rows = slice(start, start + count)
        pair = int(groups.segment[start])
        before = float(units[int(begin[pair]) : start].sum())
        limit = _smallest_full(float(scale[start]), saturation)
        shares = without_each(units[rows], limit - before)
        still = np.zeros(count)
        for unit, worth in zip(units[rows].tolist(), gain[rows].tolist(), strict=True):
            still += worth * np.array([sum(each.values()) for each in shares[unit]])
        results.append(still)
    return results


def _smallest_full(scale: float, saturation: float) -> float:
    """Return the smallest sum of units from which on a subtopic is full, as floats divide."""
    limit = scale * saturation
    while limit / scale >= saturation:
        limit = float(np.nextafter(limit, -inf))
    while limit / scale < saturation:
        limit = float(np.nextafter(limit, inf))
    return limit


def rank_biased_utility(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected RBU."""
    aspects, p, k = run.judgments.aspects, measure["p"], _cutoff(measure)
    groups, _, gain = gains_by_aspect(measure, run)
    pair, rank, mean = expected_cascade(groups, gain, k)
    worth = (
        p ** rank.astype(np.float64) * aspects.weight[pair] * mean * product_before(pair, 1 - mean)
    )
    value: Floats = measure.less_effort(
        run, of_queries(run, per_query_sum(pair, worth, groups.segments))
    )
    return value


# -- measures made of others ----------------------------------------------------------------------


def d_ndcg(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected D_nDCG: nDCG of weighted sums of grades."""
    aspects = run.judgments.aspects
    part = aspects.weight[aspects.aspect] * np.maximum(aspects.grade, 0)
    g = per_query_sum(aspects.doc, part, len(run.judgments.query))
    return ndcg(ir_measures.nDCG(cutoff=measure["cutoff"]), run.with_grades(g))


def d_sharp(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected DSharp: subtopic recall and D_nDCG, weighted by gamma."""
    gamma = measure["gamma"]
    covered = subtopic_recall(run, measure["rel"], _cutoff(measure))
    return gamma * covered + (1 - gamma) * d_ndcg(measure, run)
