"""Diversity measures for graded and weighted subtopics: IA, D_nDCG, DSharp, EU, CT, SRR; and GERR, ERR of any scale.

Aspects (subtopics) come from the qrels' ``subtopic_id`` or ``iteration``, their weights w_t from the column ``weight``
(else equal), scaled to sum to 1 over the aspects with a relevant document. A query without relevant documents scores 0.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf, log2
from typing import TYPE_CHECKING, Any, ClassVar

import ir_measures
import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, per_query_sum, position_in_segment
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.composed import ComposedMeasure, base
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.ndeval import coverage, subtopic_recall
from ir_lexirecall.measures.parameters import cutoff, rel
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.measures.subtopics import BOTH, NOTHING, WEIGHTS, share

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


class IA(ComposedMeasure):
    """Intent-aware form of any measure: its mean over the subtopics, each judged alone, IA = sum_t w_t base_t.

    For every subtopic t with a relevant document, ``base`` scores the ranking by the judgments for t only: a document that
    was not judged for t is unjudged. ``base`` is any measure that ir_measures knows, with its own parameters
    (``'AP(rel=2)'``, ``'RBP(p=0.8)'``), which takes grades of at least 1 as relevant unless it says otherwise; a cutoff is that
    of the base.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> IA(base="RR").calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.75
    """

    PRETTY_NAME: ClassVar[str] = "Intent-Aware Measure"
    SHORT_DESC: ClassVar[str] = "Weighted mean over subtopics of any base measure, each subtopic judged alone."
    ABOUT: ClassVar[About] = About(
        formula=r"\sum_t w_t\, \mathrm{base}_t",
        plain="sum_t w_t base_t",
        symbols=f"{WEIGHTS}; base_t: the base measure of the ranking, judged for t alone",
        values="those of the base",
        zero="the base is 0 for every subtopic",
        ties="where the base ties on every subtopic",
        use="to make any measure intent-aware: an average user, whose intent is one of the subtopics",
        example=Example("IA(base='RR')", BOTH, 3 / 4, "RR is 1 for t1 and 1/2 for t2: (1 + 1/2)/2 = 3/4."),
        source="agrawal2009",
        see_also=("AP_IA", "ERR_IA", "D_nDCG"),
    )
    params: dict[str, Any] = {"cutoff": cutoff(), "base": base()}

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


class D_nDCG(Measure):
    """nDCG with one gain for all subtopics, g(d) = sum_t w_t grade(d, t), over that of the ideal order of g.

    D_nDCG@k = sum_{i<=k} g(d_i) / log2(i+1) over the same sum for all judged documents in the order of g. The grade itself is
    the gain (a negative one counts as 0), so that for one subtopic D_nDCG is nDCG.

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 2, "t1"), Qrel("q", "b", 1, "t2")]
    >>> D_nDCG().calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.79670...
    """

    PRETTY_NAME: ClassVar[str] = "D-nDCG"
    SHORT_DESC: ClassVar[str] = "nDCG with the weighted sum of a document's grades for all subtopics as its gain."
    ABOUT: ClassVar[About] = About(
        formula=r"\frac{\sum_{i \le k} g(d_i) / \log_2(i + 1)}{\sum_{i \le k} g(d^*_i) / \log_2(i + 1)}, \quad "
        r"g(d) = \sum_t w_t\, \mathrm{grade}(d, t)",
        plain="nDCG@k of the gain g(d) = sum_t w_t grade(d, t)",
        symbols=f"{WEIGHTS}; d*_i: the documents in the order of g",
        values="0 to 1",
        zero=NOTHING,
        ties="the same sums of grades at the same ranks",
        use="when documents for probable intents should stand above; novelty does not count",
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

    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 2, "t1"), Qrel("q", "b", 1, "t2")]
    >>> (DSharp(gamma=1) @ 1).calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.5
    >>> (DSharp() @ 1).calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.41666...
    """

    PRETTY_NAME: ClassVar[str] = "D#-nDCG"
    SHORT_DESC: ClassVar[str] = "Subtopic recall and D-nDCG, weighted by gamma and 1 - gamma."
    ABOUT: ClassVar[About] = About(
        formula=r"\gamma\, \mathrm{StRecall}@k + (1 - \gamma)\, \mathrm{D\_nDCG}@k",
        plain="gamma StRecall@k + (1 - gamma) D_nDCG@k",
        symbols="gamma: weight of subtopic recall",
        values="0 to 1",
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
    params: dict[str, Any] = {"cutoff": cutoff(), "gamma": share("weight of subtopic recall", 0.5), "rel": rel()}

    def score(self, run: AlignedRun) -> Floats:
        gamma, k = self["gamma"], self["cutoff"]
        recall = subtopic_recall(coverage(run, self["rel"], inf if k is None else k))
        return gamma * recall + (1 - gamma) * d_ndcg(run, k)
