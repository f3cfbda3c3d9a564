"""Diversity measures for graded and weighted subtopics: D_nDCG, DSharp, EU, CT, SRR, IA.

Aspects (subtopics) come from the qrels' ``subtopic_id`` or ``iteration``, their weights w_t from
the column ``weight`` (else equal), scaled to sum to 1 over the aspects with a relevant document. A
query without relevant documents scores 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf, log2
from typing import TYPE_CHECKING, Any, ClassVar

import ir_measures
import numpy as np

from ir_lexirecall._util.arrays import (
    Floats,
    Ints,
    per_query_sum,
    position_in_segment,
    ratio,
    sum_before,
)
from ir_lexirecall.measures import discounts
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.composed import BASE, ComposedMeasure
from ir_lexirecall.measures.declaration import UNIT, Measure, looked_at
from ir_lexirecall.measures.other_programs import (
    coverage,
    rows_by_aspect,
    subtopic_recall,
)
from ir_lexirecall.measures.parameters import GAIN_OF_ASPECTS, Param, cutoff, rel
from ir_lexirecall.measures.scoring import least_grade, values, with_threshold

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.data.judgments import Judgments

# What descriptions of several measures say.
WEIGHTS = (
    "t: subtopics with a relevant document; w_t: their weights, equal unless the qrels have some, "
    "of sum 1"
)
GAIN = (
    "r(d, t): gain of the document's grade, (2^g - 1)/2^max_rel (gain='exp') or g/max_rel "
    "('linear')"
)
NOTHING = "no document relevant to a subtopic is retrieved (down to rank k), or the query has none"
ANY_GAIN = np.nextafter(0.0, 1.0)  # the smallest grade with a gain
BOTH = ((1, None), (None, 1))  # a ranking of a document for either subtopic


def top_grades(measure: Measure, judgments: Judgments) -> Floats:
    """max_rel of every (query, aspect) pair: the parameter, or the pair's largest grade."""
    aspects = judgments.aspects
    if measure["max_rel"] is not None:
        judgments.check_top_grade(measure["max_rel"], str(measure), of_aspects=True)
        return np.full(len(aspects.query), float(measure["max_rel"]))
    return aspects.top_grade


_REPETITION = (
    "share of its gain that a document loses with each earlier one on the same subtopic"
)
ALPHA = Param(float, _REPETITION, default=0.5, least=0, most=1)


class DiversityMeasure(Measure, register=False):
    """A measure of subtopics."""

    PAGE: ClassVar[str] = "diversity"
    FAMILY: ClassVar[str] = "subtopics"


def with_summed_grades(run: AlignedRun) -> AlignedRun:
    """Return the same ranking, graded by the weighted sums of grades over subtopics."""
    aspects = run.judgments.aspects
    weighted_grade = aspects.weight[aspects.aspect] * np.maximum(aspects.grade, 0)
    n_documents = len(run.judgments.query)
    return run.with_grades(per_query_sum(aspects.doc, weighted_grade, n_documents))


class D_nDCG(DiversityMeasure):
    """nDCG with the weighted sum of a document's grades for all subtopics as its gain.

    The grade itself is the gain (a negative one counts as 0), so that for one subtopic D_nDCG is
    nDCG.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 2, "t1"), Qrel("q", "b", 1, "t2")]
    >>> D_nDCG().calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.79670...
    """

    PRETTY_NAME: ClassVar[str] = "D-nDCG"
    RANGE = UNIT
    ABOUT = About(
        formula=r"\frac{\sum_{i \le k} g(d_i) / \log_2(i + 1)}"
        r"{\sum_{i \le k} g(d^*_i) / \log_2(i + 1)}, \quad "
        r"g(d) = \sum_t w_t\, \mathrm{grade}(d, t)",
        plain="nDCG@k of the gain g(d) = sum_t w_t grade(d, t)",
        symbols=f"{WEIGHTS}; d*_i: the documents in the order of g",
        zero=NOTHING,
        ties="the same sums of grades at the same ranks",
        use="when documents for probable intents should rank higher; novelty does not count",
        example=Example(
            "D_nDCG",
            ((1, None), (2, 1)),
            (0.5 + 1.5 / log2(3)) / (1.5 + 0.5 / log2(3)),
            "g = 1/2, 3/2: (0.5 + 1.5/log2 3) / (1.5 + 0.5/log2 3) = 0.7967.",
        ),
        source="sakai2011",
        see_also=("DSharp", "nDCG", "IA"),
    )
    params: dict[str, Any] = {"cutoff": cutoff()}

    def score(self, run: AlignedRun) -> Floats:
        """Return nDCG by the weighted sums of grades for each query."""
        return values(ir_measures.nDCG(cutoff=self["cutoff"]), with_summed_grades(run))


class DSharp(D_nDCG):
    """Subtopic recall and D-nDCG, weighted by gamma and 1 - gamma.

    StRecall@k is the share of the subtopics with a relevant document (a grade of at least ``rel``)
    that one of the first k documents is relevant to.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 2, "t1"), Qrel("q", "b", 1, "t2")]
    >>> (DSharp(gamma=1) @ 1).calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.5
    >>> (DSharp() @ 1).calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.41666...
    """

    PRETTY_NAME: ClassVar[str] = "D#-nDCG"
    ABOUT = About(
        formula=r"\gamma\, \mathrm{StRecall}@k + (1 - \gamma)\, \mathrm{D\_nDCG}@k",
        symbols="gamma: weight of subtopic recall",
        zero=NOTHING,
        ties="where both parts tie, or their differences balance",
        use="to ask for coverage of the subtopics and for relevance at once (NTCIR's D#-nDCG)",
        example=Example(
            "DSharp@1",
            ((1, None), (2, 1)),
            5 / 12,
            "One of two subtopics: 1/2; D_nDCG@1 = (1/2)/(3/2) = 1/3; (1/2 + 1/3)/2 = 5/12.",
        ),
        source="sakai2011",
        see_also=("D_nDCG", "StRecall"),
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "gamma": Param(
            float, "weight of subtopic recall", default=0.5, least=0, most=1
        ),
        "rel": rel(),
    }

    def score(self, run: AlignedRun) -> Floats:
        """Return the weighted mean of subtopic recall and D-nDCG for each query."""
        gamma = self["gamma"]
        recall = subtopic_recall(coverage(run, self["rel"], self["cutoff"]))
        return gamma * recall + (1 - gamma) * super().score(run)


class EU(DiversityMeasure):
    """Gain over several subtopics with diminishing returns, minus effort, discounted by rank.

    The gain r of a grade is (2^g - 1) / 2^max_rel (``gain='exp'``) or g / max_rel (``'linear'``);
    ``max_rel`` defaults to the largest grade of the query and aspect. Documents that are not
    relevant only cost effort, so values may be negative.

    Proposed by Yang and Lad (ICTIR 2009); this is the formula of Amigó, Spina,
    Carrillo-de-Albornoz, SIGIR 2018, doi 10.1145/3209978.3210024.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t1")]
    >>> EU(e=0, gain="linear").calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    1.25
    """

    PRETTY_NAME: ClassVar[str] = "Expected Utility"
    ABOUT = About(
        formula=r"\sum_{i \le k} \frac{\sum_t w_t\, r(d_i, t)\, (1 - \alpha)^{c} - e}"
        r"{1 + \log_2 i}",
        symbols="c: earlier documents with a gain for t; alpha: what repetition loses; e: effort "
        "of reading a document; "
        f"{WEIGHTS}; {GAIN}; "
        "proposed by Yang and Lad (ICTIR 2009); the formula is that of Amigó et al. 2018",
        values="below 0 (many irrelevant documents) without upper bound",
        zero="an empty ranking, a query without relevant documents, or gain and effort in balance",
        ties="the same grades for all subtopics at the same ranks, and equally long rankings (down "
        "to rank k)",
        use="when repetition should still be worth something and reading costs effort",
        example=Example(
            "EU(e=0,gain='linear')",
            ((1, None), (1, None)),
            5 / 4,
            "One subtopic, r = 1: 1/1 + (1/2)/(1 + log2 2) = 5/4.",
        ),
        source="amigo2018",
        see_also=("RBU", "CT", "alpha_DCG"),
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "alpha": ALPHA,
        "e": Param(float, "effort of reading a document", default=0.05, least=0),
        **GAIN_OF_ASPECTS,
    }

    def value_range(self) -> tuple[float, float]:
        """Return the range of the values; only effort makes them negative."""
        return -inf if self["e"] else 0.0, inf

    def score(self, run: AlignedRun) -> Floats:
        """Return the utility less the effort for each query."""
        judgments, k = run.judgments, self["cutoff"]
        aspects = judgments.aspects
        pair, rank, grade = rows_by_aspect(run, ANY_GAIN, k)
        r = discounts.gain(grade, top_grades(self, judgments)[pair], self["gain"])
        utility = novel_utility(
            judgments,
            pair,
            aspects.weight[pair] * r / (1 + np.log2(rank)),
            self["alpha"],
        )
        return self.less_effort(run, utility)

    def less_effort(self, run: AlignedRun, utility: Floats) -> Floats:
        """Return the utility of each query less the effort of reading the ranking."""
        read = looked_at(self, run)
        i = np.arange(1, int(read.max(initial=0)) + 1)
        # Sum of 1 / (1 + log2 i) for i = 1..read.
        effort = np.r_[0.0, np.cumsum(1 / (1 + np.log2(i)))][read]
        return np.where(run.judgments.has_weight, utility - self["e"] * effort, 0.0)


def novel_utility(
    judgments: Judgments, pair: Ints, worth: Floats, alpha: float
) -> Floats:
    """Return the sum of worth x (1 - alpha)^c for each query, c = earlier rows of the same pair.

    Rows are ordered by pair of query and aspect, then by rank.
    """
    novel = worth * (1 - alpha) ** position_in_segment(pair)
    return per_query_sum(judgments.aspects.query[pair], novel, len(judgments))


class CT(DiversityMeasure):
    """Gain over several subtopics per document read, until each of them is full.

    Gains as in ``EU``.

    Proposed by Luo et al. (CIKM 2013); this is the formula of Amigó, Spina, Carrillo-de-Albornoz,
    SIGIR 2018, doi 10.1145/3209978.3210024.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t1"), Qrel("q", "c", 1, "t1")]
    >>> run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    >>> measures = [CT(gain="linear"), CT(gain="linear", saturation=2)]
    >>> tuple(measure.calc_aggregate(qrels, run) for measure in measures)
    (1.0, 1.25)
    """

    PRETTY_NAME: ClassVar[str] = "Cube Test"
    RANGE = (0.0, inf)
    ABOUT = About(
        formula=r"\sum_{i \le k} \frac{1}{i} \sum_t w_t\, r(d_i, t)\, (1 - \alpha)^{c} f",
        symbols="c: earlier documents with a gain for t; f: 0 once the gains of t have reached the "
        "saturation, else 1; "
        f"alpha: what repetition loses; {WEIGHTS}; {GAIN}; "
        "proposed by Luo et al. (CIKM 2013); the formula is that of Amigó et al. 2018",
        values="0 upwards",
        zero=NOTHING,
        ties="the same grades for all subtopics at the same ranks; documents for a full subtopic "
        "do not count",
        use="when each subtopic needs a certain amount of material early, and no more",
        example=Example(
            "CT(gain='linear',saturation=2)",
            ((1, None), (1, None), (1, None)),
            5 / 4,
            "One subtopic, r = 1: 1 + (1/2)(1/2), and the third document comes when it is full: "
            "5/4.",
        ),
        source="amigo2018",
        see_also=("EU", "alpha_DCG"),
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "alpha": ALPHA,
        "saturation": Param(
            float, "sum of gains at which a subtopic is full", default=1, above=0
        ),
        **GAIN_OF_ASPECTS,
    }

    def score(self, run: AlignedRun) -> Floats:
        """Return, for each query, the discounted gain of documents before a subtopic is full."""
        judgments = run.judgments
        aspects = judgments.aspects
        pair, rank, grade = rows_by_aspect(run, ANY_GAIN, self["cutoff"])
        top = top_grades(self, judgments)[pair]
        # Whole numbers are added up and divided at the end: ten floats of 1/10 do not reach 1.
        units, scale = discounts.in_units(grade, top, self["gain"])
        full = sum_before(pair, units) / scale >= self["saturation"]
        weighted = aspects.weight[pair] * (units / scale)
        worth = self.discounted(weighted, run, aspects.query[pair], rank)
        return novel_utility(judgments, pair, np.where(full, 0.0, worth), self["alpha"])

    def discounted(
        self, worth: Floats, run: AlignedRun, query: Ints, rank: Ints
    ) -> Floats:
        """Return what documents at some ranks of some queries are worth after the discount."""
        return worth / rank


class SRR(DiversityMeasure):
    """Reciprocal of the rank at which every subtopic has been covered.

    A subtopic is covered by the first document of at least grade ``rel`` for it.

    It is S-RR@100% of Amigó, Spina, Carrillo-de-Albornoz, SIGIR 2018, doi 10.1145/3209978.3210024.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> SRR().calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.5
    """

    PRETTY_NAME: ClassVar[str] = "Subtopic Reciprocal Rank"
    RANGE = UNIT
    ABOUT = About(
        formula=r"\frac{1}{\max_t \min\{i : d_i \text{ is relevant to } t\}}",
        plain="1 / (rank at which every subtopic is covered)",
        symbols="t: subtopics with a relevant document",
        zero="a subtopic is never covered (down to rank k), or the query has none",
        ties="all subtopics are covered at the same rank; all rankings that miss one",
        use="when a user needs something on every subtopic: TSE for subtopics",
        example=Example(
            "SRR", BOTH, 1 / 2, "t1 is covered at rank 1, t2 at rank 2: 1/2."
        ),
        source="zhai2003",
        see_also=("StRecall", "TSE"),
    )
    params: dict[str, Any] = {"cutoff": cutoff(), "rel": rel()}

    def score(self, run: AlignedRun) -> Floats:
        """Return the reciprocal of the rank that covers every subtopic for each query."""
        covered = coverage(run, self["rel"], self["cutoff"])
        is_complete = covered.n_covered == covered.subtopics
        return ratio(is_complete, covered.rank_of_last)


class IA(ComposedMeasure, DiversityMeasure):
    """Weighted mean over subtopics of any base measure, each subtopic judged alone.

    For every subtopic t with a relevant document, ``base`` scores the ranking by the judgments for
    t only: a document that was not judged for t is unjudged. ``base`` is any measure that
    ir_measures knows, with its own parameters (``'AP(rel=2)'``, ``'RBP(p=0.8)'``), which takes
    grades of at least 1 as relevant unless it says otherwise; a cutoff is that of the base.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> IA(base="RR").calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.75
    """

    PRETTY_NAME: ClassVar[str] = "Intent-Aware Measure"
    ABOUT = About(
        formula=r"\sum_t w_t\, \mathrm{base}_t",
        symbols=f"{WEIGHTS}; base_t: the base measure of the ranking, judged for t alone",
        values="those of the base",
        zero="the base is 0 for every subtopic",
        ties="where the base ties on every subtopic",
        use="to make any measure intent-aware: an average user, whose intent is one of the "
        "subtopics",
        example=Example(
            "IA(base='RR')",
            BOTH,
            3 / 4,
            "RR is 1 for t1 and 1/2 for t2: (1 + 1/2)/2 = 3/4.",
        ),
        source="agrawal2009",
        see_also=("AP_IA", "ERR_IA", "D_nDCG"),
    )
    params: dict[str, Any] = {"cutoff": cutoff(), "base": BASE}

    def score(self, run: AlignedRun) -> Floats:
        """Return the weighted mean of the base measure over the subtopics for each query."""
        base, value = self.base_measure(), np.zeros(len(run.judgments))
        for ranking, query, weight in self.by_subtopic(run):
            value[query] += weight * values(base, ranking, 1)[query]
        return value

    def least_grade(self) -> float:
        """Return the smallest grade that is relevant to the base measure."""
        return least_grade(with_threshold(self.base_measure(), 1))

    def by_subtopic(self, run: AlignedRun) -> Iterator[tuple[AlignedRun, Ints, Floats]]:
        """Yield the ranking judged for the first subtopic of all queries, then the second, ...

        Each one comes with the queries that have this subtopic, and its weight for them.
        """
        judgments, aspects = run.judgments, run.judgments.aspects
        of_one_aspect = judgments.with_grades(judgments.grade)
        counted = np.flatnonzero(aspects.weight > 0)
        number_in_query = np.full(len(aspects.query), -1)
        number_in_query[counted] = position_in_segment(aspects.query[counted])
        first, size = run.tied()
        for number_of_aspect in range(int(number_in_query.max(initial=-1)) + 1):
            row = np.flatnonzero(number_in_query[aspects.aspect] == number_of_aspect)
            judged = aspects.doc[row]
            number = np.full(len(judgments.query), -1)
            number[judged] = np.arange(len(judged))
            doc = number[run.doc]
            keep = doc >= 0
            alone = of_one_aspect.of_documents(judged).with_grades(aspects.grade[row])
            ranking = replace(
                run,
                judgments=alone,
                query=run.query[keep],
                doc=doc[keep],
                rank=run.rank[keep],
                ties=run.ties and run.ties.among(first[keep], size[keep]),
            )
            pair = np.flatnonzero(number_in_query == number_of_aspect)
            yield ranking, aspects.query[pair], aspects.weight[pair]
