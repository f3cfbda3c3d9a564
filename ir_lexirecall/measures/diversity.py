"""Diversity measures for graded and weighted subtopics: IA, D_nDCG, DSharp, EU, CT, SRR; and GERR, ERR of any scale.

Aspects (subtopics) come from the qrels' ``subtopic_id`` or ``iteration``, their weights w_t from the column ``weight``
(else equal), scaled to sum to 1 over the aspects with a relevant document. A query without relevant documents scores 0.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import ir_measures
import numpy as np

from ir_lexirecall.arrays import (
    Bools,
    Floats,
    Ints,
    per_query_count,
    per_query_sum,
    position_in_segment,
    running_sum,
    shifted_within_segment,
)
from ir_lexirecall.measures import cwl
from ir_lexirecall.measures import gain as gains
from ir_lexirecall.measures.base import Measure, Param, cutoff, gain, max_rel, rel, unjudged
from ir_lexirecall.measures.based import BasedMeasure, base
from ir_lexirecall.measures.ndeval import coverage, subtopic_recall
from ir_lexirecall.measures.scoring import values

if TYPE_CHECKING:
    from ir_lexirecall.alignment import AlignedRun
    from ir_lexirecall.judgments import Judgments

# -- parameters --------------------------------------------------------------------------------------


def share(desc: str, default: float) -> Param:
    """A number in [0, 1]."""
    return Param(
        float, desc, default=default, check=lambda x: 0 <= x <= 1, expects="a number of at least 0 and at most 1"
    )


def alpha() -> Param:
    """``alpha``: what a further document about the same subtopic loses."""
    return share("share of its gain that a document loses with each earlier one on the same subtopic", 0.5)


# -- what the measures share -------------------------------------------------------------------------


def has_relevant(judgments: Judgments) -> Bools:
    """Which queries have an aspect that counts: with a relevant document, and a weight above 0."""
    aspects = judgments.aspects
    return np.bincount(aspects.query, weights=aspects.weight, minlength=len(judgments)) > 0


def relevant_rows(run: AlignedRun, k: int | None) -> tuple[Ints, Ints, Floats]:
    """``run.aspect_rows`` of grades above 0 among the first ``k`` documents, ordered by aspect, then rank."""
    pair, rank, grade = run.aspect_rows()
    keep = (grade > 0) & (rank <= (inf if k is None else k))
    pair, rank, grade = pair[keep], rank[keep], grade[keep]
    order = np.argsort(pair, kind="stable")  # within an aspect, ranks rise already
    return pair[order], rank[order], grade[order]


def top_grades(measure: Measure, judgments: Judgments) -> Floats:
    """max_rel of every (query, aspect) pair: the parameter, or the pair's largest grade."""
    aspects = judgments.aspects
    if measure["max_rel"] is not None:
        judgments.check_top_grade_of_aspects(measure["max_rel"], str(measure))
        return np.full(len(aspects.query), float(measure["max_rel"]))
    largest = np.zeros(len(aspects.query))
    np.maximum.at(largest, aspects.aspect, aspects.grade)
    return np.where(largest > 0, largest, 1.0)


# -- intent-aware measures ---------------------------------------------------------------------------


class IA(BasedMeasure):
    """Intent-aware form of any measure: its mean over the subtopics, each judged alone, IA = sum_t w_t base_t.

    For every subtopic t with a relevant document, ``base`` scores the ranking by the judgments for t only: a document that
    was not judged for t is unjudged. ``base`` is any measure that ir_measures knows, with its own parameters
    (``'AP(rel=2)'``, ``'RBP(p=0.8)'``), which takes grades of at least 1 as relevant unless it says otherwise; a cutoff is that
    of the base.

    Source: Agrawal, Gollapudi, Halverson, Ieong, Diversifying Search Results, WSDM 2009, doi 10.1145/1498759.1498766.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> IA(base="RR").calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.75
    """

    PRETTY_NAME = "Intent-Aware Measure"
    SHORT_DESC = "Weighted mean over subtopics of any base measure, each subtopic judged alone."
    FORMULA = "sum_t w_t base_t"
    SOURCE = "Agrawal et al., WSDM 2009"
    params = {"cutoff": cutoff(), "base": base()}

    def score(self, run: AlignedRun) -> Floats:
        base = self.base_measure()
        aspects = run.judgments.aspects
        value = np.zeros(len(run.judgments))
        counted = np.flatnonzero(aspects.weight > 0)
        position = position_in_segment(aspects.query[counted])
        for place in range(int(position.max(initial=-1)) + 1):  # the first aspect of all queries, then the second, ...
            pair = counted[position == place]
            query = aspects.query[pair]
            value[query] += aspects.weight[pair] * values(base, judged_for(run, pair), 1)[query]
        return value


def judged_for(run: AlignedRun, pair: Ints) -> AlignedRun:
    """The same ranking, judged for one aspect of each query: ``pair`` numbers (query, aspect) pairs, rising."""
    judgments = run.judgments
    aspects = judgments.aspects
    wanted = np.zeros(len(aspects.query), dtype=bool)
    wanted[pair] = True
    row = np.flatnonzero(wanted[aspects.aspect])
    old = aspects.doc[row]
    new = np.full(len(judgments.query), -1)
    new[old] = np.arange(len(old))
    doc = new[run.doc]
    keep = doc >= 0
    one = judgments.of_documents(old, aspects.grade[row])
    return replace(run, judgments=one, query=run.query[keep], doc=doc[keep], rank=run.rank[keep], ties=None)


# -- D-measures --------------------------------------------------------------------------------------


class D_nDCG(Measure):
    """nDCG with one gain for all subtopics, g(d) = sum_t w_t grade(d, t), over that of the ideal order of g.

    D_nDCG@k = sum_{i<=k} g(d_i) / log2(i+1) over the same sum for all judged documents in the order of g. The grade itself is
    the gain (a negative one counts as 0), so that for one subtopic D_nDCG is nDCG.

    Source: Sakai, Song, Evaluating Diversified Search Results Using Per-intent Graded Relevance, SIGIR 2011,
    doi 10.1145/2009916.2010055.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 2, "t1"), Qrel("q", "b", 1, "t2")]
    >>> D_nDCG().calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.79670...
    """

    PRETTY_NAME = "D-nDCG"
    SHORT_DESC = "nDCG with the weighted sum of a document's grades for all subtopics as its gain."
    FORMULA = "nDCG of sum_t w_t grade(d,t)"
    SOURCE = "Sakai and Song, SIGIR 2011"
    params = {"cutoff": cutoff()}

    def score(self, run: AlignedRun) -> Floats:
        return d_ndcg(run, self["cutoff"])


def d_ndcg(run: AlignedRun, k: int | None) -> Floats:
    """D_nDCG@k of all queries, shape ``(Q,)``."""
    judgments = run.judgments
    aspects = judgments.aspects
    part = aspects.weight[aspects.aspect] * np.maximum(aspects.grade, 0)
    g = per_query_sum(aspects.doc, part, len(judgments.query))  # per document
    ndcg = ir_measures.nDCG if k is None else ir_measures.nDCG @ k
    return values(ndcg, run.with_grades(g))


class DSharp(Measure):
    """D#-nDCG: subtopic recall and D-nDCG together, gamma StRecall@k + (1 - gamma) D_nDCG@k.

    StRecall@k is the share of the subtopics with a relevant document (a grade of at least ``rel``) that one of the first k
    documents is relevant to.

    Source: Sakai, Song, Evaluating Diversified Search Results Using Per-intent Graded Relevance, SIGIR 2011,
    doi 10.1145/2009916.2010055.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 2, "t1"), Qrel("q", "b", 1, "t2")]
    >>> (DSharp(gamma=1) @ 1).calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.5
    >>> (DSharp() @ 1).calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.41666...
    """

    PRETTY_NAME = "D#-nDCG"
    SHORT_DESC = "Subtopic recall and D-nDCG, weighted by gamma and 1 - gamma."
    FORMULA = "gamma StRecall + (1 - gamma) D_nDCG"
    SOURCE = "Sakai and Song, SIGIR 2011"
    params = {"cutoff": cutoff(), "gamma": share("weight of subtopic recall", 0.5), "rel": rel()}

    def score(self, run: AlignedRun) -> Floats:
        gamma, k = self["gamma"], self["cutoff"]
        recall = subtopic_recall(coverage(run, self["rel"], inf if k is None else k))
        return gamma * recall + (1 - gamma) * d_ndcg(run, k)


# -- utility with diminishing returns ----------------------------------------------------------------


class EU(Measure):
    """Expected utility of reading: what is new about each subtopic, less the effort, discounted by 1 + log2 of the rank.

    EU@k = sum over ranks i = 1..min(k, depth) of (sum_t w_t r(d_i, t) (1 - alpha)^c - e) / (1 + log2 i), where c is the
    number of earlier documents with r(., t) > 0. The gain r of a grade is (2^g - 1) / 2^max_rel (``gain='exp'``) or
    g / max_rel (``'linear'``); ``max_rel`` defaults to the largest grade of the query and aspect. Documents that are not
    relevant only cost effort, so values may be negative.

    Source: Yang, Lad, Modeling Expected Utility of Multi-session Information Distillation, ICTIR 2009, as formulated by
    Amigó, Spina, Carrillo-de-Albornoz, SIGIR 2018, doi 10.1145/3209978.3210024.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t1")]
    >>> EU(e=0, gain="linear").calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    1.25
    """

    PRETTY_NAME = "Expected Utility"
    SHORT_DESC = "Gain over several subtopics with diminishing returns, less effort, discounted by rank."
    FORMULA = "sum (sum_t w_t r(d_i,t) (1-alpha)^c - e) / (1 + log2 i)"
    SOURCE = "Yang and Lad, ICTIR 2009"
    params = {
        "cutoff": cutoff(),
        "alpha": alpha(),
        "e": Param(
            float,
            "effort of reading a document",
            default=0.05,
            check=lambda e: e >= 0,
            expects="a number of at least 0",
        ),
        "gain": gain(),
        "max_rel": max_rel(required=False),
    }

    def score(self, run: AlignedRun) -> Floats:
        judgments, k = run.judgments, self["cutoff"]
        aspects = judgments.aspects
        pair, rank, grade = relevant_rows(run, k)
        r = gains.gain(grade, top_grades(self, judgments)[pair], self["gain"])
        utility = novel_utility(
            aspects.query[pair], pair, aspects.weight[pair] * r / (1 + np.log2(rank)), self["alpha"], len(judgments)
        )
        looked_at = run.depth if k is None else np.minimum(run.depth, k)
        return np.where(has_relevant(judgments), utility - self["e"] * logarithmic_effort(looked_at), 0.0)


def novel_utility(query: Ints, aspect: Ints, worth: Floats, alpha: float, queries: int) -> Floats:
    """Sum of worth x (1 - alpha)^c, c = number of rows of the same aspect before; rows by query, aspect and rank."""
    return per_query_sum(query, worth * (1 - alpha) ** position_in_segment(aspect), queries)


def logarithmic_effort(looked_at: Ints) -> Floats:
    """Sum of 1 / (1 + log2 i) for i = 1..``looked_at``.

    >>> logarithmic_effort(np.array([0, 1, 2]))
    array([0. , 1. , 1.5])
    """
    rank = np.arange(1, int(looked_at.max(initial=0)) + 1)
    up_to: Floats = np.r_[0.0, np.cumsum(1 / (1 + np.log2(rank)))]
    return up_to[looked_at]


class CT(Measure):
    """Cube test: how fast a ranking fills every subtopic with relevant material, until it is full.

    CT@k = sum over ranks i <= k of (1/i) sum_t w_t r(d_i, t) (1 - alpha)^c f, where c is the number of earlier documents with
    r(., t) > 0, and f = 0 once the gains of the earlier documents for t have reached ``saturation`` together, else 1. Gains
    as in ``EU``.

    Source: Luo, Wing, Yang, Hearst, The Water Filling Model and the Cube Test: Multi-dimensional Evaluation for
    Professional Search, CIKM 2013, as formulated by Amigó, Spina, Carrillo-de-Albornoz, SIGIR 2018,
    doi 10.1145/3209978.3210024.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t1"), Qrel("q", "c", 1, "t1")]
    >>> run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    >>> CT(gain="linear").calc_aggregate(qrels, run), CT(gain="linear", saturation=2).calc_aggregate(qrels, run)
    (1.0, 1.25)
    """

    PRETTY_NAME = "Cube Test"
    SHORT_DESC = "Gain over several subtopics per document read, until each of them is full."
    FORMULA = "sum 1/i sum_t w_t r(d_i,t) (1-alpha)^c f"
    SOURCE = "Luo et al., CIKM 2013"
    params = {
        "cutoff": cutoff(),
        "alpha": alpha(),
        "saturation": Param(
            float,
            "sum of gains from which on a subtopic is full",
            default=1,
            check=lambda s: s > 0,
            expects="a number above 0",
        ),
        "gain": gain(),
        "max_rel": max_rel(required=False),
    }

    def score(self, run: AlignedRun) -> Floats:
        judgments = run.judgments
        aspects = judgments.aspects
        pair, rank, grade = relevant_rows(run, self["cutoff"])
        top = top_grades(self, judgments)[pair]
        r = gains.gain(grade, top, self["gain"])
        # Sums of whole numbers are exact, those of quotients are not: ten gains of 1/10 must reach 1.
        units, scale = (grade, top) if self["gain"] == "linear" else gains.in_units(grade, top)
        full = shifted_within_segment(pair, running_sum(pair, units), 0.0) / scale >= self["saturation"]
        worth = np.where(full, 0.0, aspects.weight[pair] * r / rank)
        return novel_utility(aspects.query[pair], pair, worth, self["alpha"], len(judgments))


# -- subtopic coverage -------------------------------------------------------------------------------


class SRR(Measure):
    """Subtopic reciprocal rank: 1 / (rank at which every subtopic with a relevant document is covered), 0 if never.

    A subtopic is covered by the first document of at least grade ``rel`` for it.

    Source: Zhai, Cohen, Lafferty, Beyond Independent Relevance: Methods and Evaluation Metrics for Subtopic Retrieval,
    SIGIR 2003, doi 10.1145/860435.860440; S-RR@100% of Amigó, Spina, Carrillo-de-Albornoz, SIGIR 2018.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> SRR().calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.5
    """

    PRETTY_NAME = "Subtopic Reciprocal Rank"
    SHORT_DESC = "Reciprocal of the rank at which every subtopic has been covered."
    FORMULA = "1 / (rank at which all subtopics are covered)"
    SOURCE = "Zhai et al., SIGIR 2003"
    params = {"cutoff": cutoff(), "rel": rel()}

    def score(self, run: AlignedRun) -> Floats:
        k = self["cutoff"]
        covered = coverage(run, self["rel"], inf if k is None else k)
        first = position_in_segment(covered.subtopic) == 0
        return reciprocal_cover_rank(covered.query[first], covered.rank[first], covered.subtopics)


def reciprocal_cover_rank(query: Ints, rank: Ints, subtopics: Ints) -> Floats:
    """1 / (largest ``rank``) of the queries with as many rows as ``subtopics``, which has shape ``(Q,)``; 0 elsewhere.

    A row is a covered subtopic and the rank at which it is covered first.
    """
    last = np.zeros(len(subtopics), dtype=np.int64)
    np.maximum.at(last, query, rank)
    all_covered = (per_query_count(query, len(subtopics)) == subtopics) & (subtopics > 0)
    return np.divide(1.0, last, out=np.zeros(len(subtopics)), where=all_covered)


# -- ERR of any scale --------------------------------------------------------------------------------


class GERR(Measure):
    """Expected reciprocal rank for any scale of grades: sum over ranks i of r_i / i times the product of (1 - r_j) over j < i.

    The gain r of grade g is (2^g - 1) / 2^max_rel (``gain='exp'``) or g / max_rel (``'linear'``). ``unjudged='worst'`` gives
    unjudged documents no gain; ``'best'`` gives them that of max_rel, and has such documents follow the ranking, down to
    rank k or for ever: the two bound the value whatever the missing judgments are (their difference is the residual).
    ``GERR(max_rel=4)@k`` is ir_measures' ERR@k.

    Source: Chapelle, Metzler, Zhang, Grinspan, Expected Reciprocal Rank for Graded Relevance, CIKM 2009,
    doi 10.1145/1645953.1646033; its residual: Azzopardi, Mackenzie, Moffat, ICTIR 2021, doi 10.1145/3471158.3472239.

    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}
    >>> (GERR(max_rel=1) @ 2).calc_aggregate(qrels, run), (GERR(max_rel=1, unjudged="best") @ 2).calc_aggregate(qrels, run)
    (0.25, 0.625)
    """

    PRETTY_NAME = "Expected Reciprocal Rank of Any Scale"
    SHORT_DESC = "ERR for any top grade and gain, with bounds for unjudged documents."
    FORMULA = "sum r_i / i prod (1 - r_j)"
    SOURCE = "Chapelle et al., CIKM 2009"
    params = {"cutoff": cutoff(), "max_rel": max_rel(required=True), "gain": gain(), "unjudged": unjudged()}

    def score(self, run: AlignedRun) -> Floats:
        top, kind = self["max_rel"], self["gain"]
        k = inf if self["cutoff"] is None else self["cutoff"]
        judgments, queries = run.judgments, len(run.judgments)
        judgments.check_top_grade(top, str(self))
        looked_at = run.rank <= k
        query, rank = run.query[looked_at], run.rank[looked_at]
        r = gains.gain(run.grade[looked_at], top, kind)
        if self["unjudged"] == "worst":
            return cwl.expected_reciprocal_rank(query, rank, r, queries)
        best = gains.gain(np.full(queries, float(top)), top, kind)
        # ERR is the expected total utility of the C/W/L measure with B(i) = 1 / i.
        value = cwl.cwl(query, rank, r, queries, cwl.Reciprocal(), end=k, unjudged=best)[1]
        relevant = per_query_count(judgments.query[judgments.grade > 0], queries) > 0
        return np.where(relevant, value, 0.0)
