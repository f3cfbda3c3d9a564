"""Measures of trec_eval 10 that ir_measures lacks, the original nDCG, and unjudged documents.

Doubles are added, multiplied and divided in the program's order, so that values are its to the last
bit.
"""

from __future__ import annotations

import math
from functools import partial
from math import log2
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import (
    Floats,
    Ints,
    per_query_sum,
    position_in_segment,
    ratio,
    starts_segment,
)
from ir_lexirecall.measures.about import RANKS, About, Example
from ir_lexirecall.measures.declaration import UNIT, Measure
from ir_lexirecall.measures.parameters import Param, cutoff, rel
from ir_lexirecall.measures.toolkits import R_cap
from ir_lexirecall.measures.trec_eval import (
    Gains,
    best_precision,
    cutoff_of,
    gains,
    ideal_gains,
)

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.data.judgments import Judgments

_about = partial(
    About,
    zero="no relevant document is retrieved, or the query has none",
    source="buckley2000",
)
_RANKING = (1, 0, 0, 1)

_VERSION = Param(
    int,
    "release of trec_eval: 10 rounds recall x m, 9 truncates it after adding 0.9",
    default=10,
    check=lambda number: number in (9, 10),
    expects="9 or 10",
)


class _TrecEval(Measure, register=False):
    """What they share: relevance is binary unless they say otherwise."""

    PAGE: ClassVar[str] = "trec_eval"
    RANGE = UNIT
    FAMILY: ClassVar[str] = "binary"


class IPrec_TE(_TrecEval):
    """Best precision at or below the rank where a recall is reached, rounded as trec_eval 10 does.

    The recall is reached with relevant document c rounded with halves up (``version=10``), or c =
    floor(recall x m + 0.9) (``version=9``, which is ir_measures' ``IPrec``); 0 where fewer are
    retrieved.

    Source: Buckley, Voorhees, Evaluating Evaluation Measure Stability, SIGIR 2000,
    doi 10.1145/345508.345543; trec_eval 10.

    >>> from ir_lexirecall import IPrec_TE
    >>> run = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    >>> [(IPrec_TE(version=v) @ 0.6).calc_aggregate({"q": {"a": 1, "b": 1}}, run) for v in (9, 10)]
    [0.6666666666666666, 1.0]
    """

    PRETTY_NAME: ClassVar[str] = "Interpolated Precision of trec_eval 10"
    ABOUT = _about(
        formula=r"\max_{i \ge c} \frac{i}{p_i}, \quad c = \mathrm{round}(\mathrm{recall} \cdot m)",
        symbols=f"{RANKS}; c: at least 1 in the maximum; version=9: c = floor(recall x m + 0.9), "
        "as IPrec",
        zero="fewer than c relevant documents are retrieved, or none",
        ties="the same best precision from relevant document c on",
        use="to draw precision over recall as trec_eval 10 does; with trec_eval 9 and "
        "ir_measures, IPrec",
        example=Example(
            "IPrec_TE@0.6",
            _RANKING,
            1.0,
            "c = round(0.6 x 2) = 1: the larger of 1/1 and 2/4.",
        ),
        see_also=("IPrec", "ElevenPt", "AP"),
    )
    AT_PARAM: ClassVar[str] = "recall"
    params: dict[str, Any] = {
        "recall": Param(float, "recall to be reached", required=True, least=0, most=1),
        "version": _VERSION,
        "rel": rel(),
    }

    def score(self, run: AlignedRun) -> Floats:
        """Return the interpolated precision at the recall for each query."""
        relevant = run.relevant(self["rel"])
        return best_precision(
            relevant, recall_point(self["recall"], relevant.m, self["version"])
        )


class ElevenPt(_TrecEval):
    """Mean of interpolated precision at the recall points 0, 0.1, ..., 1.

    trec_eval's 11pt_avg.

    Recall points are rounded as by ``IPrec_TE``: ``version`` 10 or 9.

    Source: Buckley, Voorhees, Evaluating Evaluation Measure Stability, SIGIR 2000,
    doi 10.1145/345508.345543; trec_eval 10.

    >>> from ir_lexirecall import ElevenPt
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "y": 1.5, "b": 1.0}}
    >>> ElevenPt.calc_aggregate(qrels, run)
    0.8636363636363636
    """

    PRETTY_NAME: ClassVar[str] = "Eleven-Point Average Precision"
    ABOUT = _about(
        formula=r"\frac{1}{11} \sum_{i=0}^{10} \mathrm{IPrec\_TE}@\tfrac{i}{10}",
        plain="(1/11) sum over recall = 0, 0.1, ..., 1 of IPrec_TE@recall",
        symbols=RANKS,
        ties="the same interpolated precision at all eleven recall points",
        use="to compare with papers that report the eleven-point average (trec_eval's 11pt_avg)",
        example=Example(
            "ElevenPt",
            _RANKING,
            9.5 / 11,
            "c = round(2 recall) is at most 1 up to 0.7: 8 x 1, then 3 x 2/4, over 11.",
        ),
        see_also=("AP", "IPrec_TE"),
    )
    params: dict[str, Any] = {"version": _VERSION, "rel": rel()}

    def score(self, run: AlignedRun) -> Floats:
        """Return the mean interpolated precision at eleven recall points for each query."""
        relevant = run.relevant(self["rel"])
        total = np.zeros(len(relevant.m))
        for tenth in range(10, -1, -1):  # trec_eval goes up the ranking
            total += best_precision(
                relevant, recall_point(tenth / 10, relevant.m, self["version"])
            )
        return total / 11


class RBP_TE(_TrecEval):
    """Rank-biased precision with gains in shares of the query's top grade.

    With binary judgments it is ir_measures' ``RBP(p=0.9)``. ``CWL_RBP`` takes one top grade for all
    queries instead.

    Source: Moffat, Zobel, Rank-Biased Precision for Measurement of Retrieval Effectiveness, TOIS
    2008, doi 10.1145/1416950.1416952; trec_eval 10.

    >>> from ir_lexirecall import RBP_TE
    >>> RBP_TE(p=0.5).calc_aggregate({"q": {"a": 1, "b": 2}}, {"q": {"a": 3.0, "b": 2.0}})
    0.5
    """

    PRETTY_NAME: ClassVar[str] = "Rank-Biased Precision of trec_eval 10"
    FAMILY: ClassVar[str] = "graded"
    ABOUT = About(
        formula=r"(1 - p) \sum_{i=1}^{k} p^{\,i-1} \frac{g_i}{\max(1, \max g)}",
        symbols="g_i: grade of the document at rank i, negative ones count as 0; p: persistence",
        values="0 to less than 1",
        zero="no document with a grade above 0 is retrieved, or the query has none",
        ties="the same sum; documents without a grade play no part",
        use="to compare with trec_eval 10's rbp; for one top grade of all queries, CWL_RBP; for "
        "binary judgments, RBP",
        example=Example(
            "RBP_TE(p=0.5)",
            _RANKING,
            0.5 * (1 + 1 / 8),
            "(1 - 0.5)(1 + 0.5^3) = 0.5625.",
        ),
        source="moffat2008",
        see_also=("RBP", "CWL_RBP"),
    )
    params: dict[str, Any] = {
        "p": Param(float, "persistence", default=0.9, above=0, below=1)
    }

    def score(self, run: AlignedRun) -> Floats:
        """Return rank-biased precision of each query."""
        p, queries = self["p"], len(run.judgments)
        top = top_grade_of_queries(run.judgments)
        keep = run.grade > 0
        query, rank = run.query[keep], run.rank[keep]
        weight = np.multiply.accumulate(
            np.r_[1.0, np.full(int(rank.max(initial=1)) - 1, p)]
        )
        return (1 - p) * per_query_sum(
            query, run.grade[keep] / top[query] * weight[rank - 1], queries
        )


class RelP(R_cap):
    """Precision, divided by the largest that k documents can have: P up to rank m, R below.

    trec_eval's relative_P and set_relative_P.

    Without ``@k``, k is the number of documents retrieved.

    Source: Buckley, Voorhees, Evaluating Evaluation Measure Stability, SIGIR 2000,
    doi 10.1145/345508.345543; trec_eval 10.

    >>> from ir_lexirecall import RelP
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "y": 1.0}}
    >>> RelP.calc_aggregate(qrels, run), (RelP @ 1).calc_aggregate(qrels, run)
    (0.5, 1.0)
    """

    PRETTY_NAME: ClassVar[str] = "Relative Precision"
    ABOUT = _about(
        formula=r"\frac{|\{i : p_i \le k\}|}{\min(k, m)}",
        plain="relevant documents among the first k, over min(k, m)",
        symbols=f"{RANKS}; k: the cutoff, without one the number of documents retrieved",
        ties="the same number of relevant documents among the first k, in whatever order",
        use="when precision should reach 1 for queries with few relevant documents, too",
        example=Example(
            "RelP@1",
            _RANKING,
            1.0,
            "One relevant document in the first 1, min(1, 2) = 1: 1/1.",
        ),
        see_also=("P", "R", "Rprec"),
    )


class Rndcg(_TrecEval):
    """Mean of nDCG over the ranks where the ideal ranking's grade changes, and the whole ranking.

    trec_eval's Rndcg.

    The ranks are c_1 < ... < c_L, how many documents have at least the highest grade, at least the
    second highest, ..., a grade above 0; and the depth of the ranking, where that is above c_L + 1.

    Source: Järvelin, Kekäläinen, Cumulated Gain-Based Evaluation of IR Techniques, TOIS 2002,
    doi 10.1145/582415.582418; trec_eval 10.

    >>> from ir_lexirecall import Rndcg
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}}
    >>> Rndcg.calc_aggregate(qrels, run)
    0.7451...
    """

    PRETTY_NAME: ClassVar[str] = "nDCG at R Levels"
    LEAST_GRADE: ClassVar[float] = 1
    FAMILY: ClassVar[str] = "graded"
    ABOUT = About(
        formula=r"\frac{1}{|D|} \sum_{d \in D} \mathrm{nDCG}@d",
        plain="mean of nDCG@d over d in D = {c_1, ..., c_L} and the depth of the ranking",
        symbols="c_l: documents of at least the l-th highest grade; L: number of grades above 0; "
        "the depth counts if above c_L + 1",
        zero="no document with a grade above 0 is retrieved, or the query has no relevant one",
        ties="the same nDCG at every rank of D",
        use="to compare with trec_eval's Rndcg, an experimental measure that does not depend on "
        "one cutoff",
        example=Example(
            "Rndcg",
            _RANKING,
            (1 / (1 + 1 / log2(3)) + (1 + 1 / log2(5)) / (1 + 1 / log2(3))) / 2,
            "c_1 = 2 and the depth 4 > 3: nDCG@2 = 1/(1 + 1/log2 3) and nDCG@4 = (1 + 1/log2 "
            "5)/(1 + 1/log2 3), halved.",
        ),
        source="jarvelin2002",
        see_also=("nDCG", "nDCG_JK"),
    )
    params: dict[str, Any] = {}

    def score(self, run: AlignedRun) -> Floats:
        """Return the mean of nDCG over the ranks of D for each query."""
        return self.of_gains(run, gains(run, "log2"))

    def of_gains(self, run: AlignedRun, actual: Gains) -> Floats:
        """Return the values of a run with the gains that stand at its ranks."""
        judgments, queries = run.judgments, len(run.judgments)
        ideal = ideal_gains(judgments, "log2")
        # A segment holds the documents of one grade.
        starts = starts_segment(ideal.query) | starts_segment(ideal.gain)
        last = np.flatnonzero(np.r_[starts, True])[1:] - 1
        query = ideal.query[last]
        level = position_in_segment(query)
        # The row D of each query, filled up with 0.
        ranks = np.zeros((int(level.max(initial=-1)) + 2, queries), dtype=np.int64)
        ranks[level, query] = ideal.rank[last]  # c_1, c_2, ...
        c_L = np.bincount(ideal.query, minlength=queries)
        ranks[-1] = np.where((run.depth > c_L + 1) & (c_L > 0), run.depth, 0)
        total = np.zeros(queries)
        for k in ranks:
            total += ratio(actual.dcg(k, queries), ideal.dcg(k, queries))
        return ratio(total, np.count_nonzero(ranks, axis=0) * (judgments.m(1) > 0))


class nDCG_JK(_TrecEval):
    """Normalised discounted cumulative gain, undiscounted down to rank a.

    A grade below 0 counts as 0. ir_measures' nDCG discounts by log2(i + 1) from rank 1 on instead.

    Analysed by Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452.

    >>> from ir_lexirecall import nDCG_JK
    >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"x": 3.0, "a": 2.0, "y": 1.0, "b": 0.0}}
    >>> nDCG_JK(a=2).calc_aggregate(qrels, run)
    0.75
    """

    PRETTY_NAME: ClassVar[str] = "nDCG of Base a"
    FAMILY: ClassVar[str] = "graded"
    ABOUT = About(
        formula=r"\frac{\mathrm{DCG}}{\mathrm{ideal\ DCG}}, \quad \mathrm{DCG} = \sum_{i \le k} "
        r"\frac{g_i}{\max(1, \log_a i)}",
        symbols="g_i: grade of rank i; a: base of the logarithm, down to which nothing is "
        "discounted; ideal: the best order",
        zero="no document of a grade above 0 among the first k, or the query has none",
        ties="the same grades at the same ranks; the first a ranks are alike",
        use="to follow older papers: the first a documents count in full",
        example=Example(
            "nDCG_JK(a=2)",
            (0, 1, 0, 1),
            3 / 4,
            "DCG = 1/1 + 1/2 = 3/2; ideal 1 + 1 = 2: 3/4.",
        ),
        source="jarvelin2002",
        see_also=("nDCG", "SDCG"),
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "a": Param(float, "base of the logarithm", default=2, above=1),
    }

    def score(self, run: AlignedRun) -> Floats:
        """Return nDCG of each query, undiscounted down to rank a."""
        return self.of_gains(run, gains(run, "log2"))

    def of_gains(self, run: AlignedRun, actual: Gains) -> Floats:
        """Return the values of a run with the gains that stand at its ranks."""
        n_queries = len(run.judgments)
        ideal = ideal_gains(run.judgments, "log2")
        return ratio(self._dcg(actual, n_queries), self._dcg(ideal, n_queries))

    def _dcg(self, gains: Gains, n_queries: int) -> Floats:
        """Return the sum of discounted gains down to the cutoff, for each query."""
        discounted = gains.gain * log_discount(gains.rank, self["a"])
        is_counted = gains.rank <= cutoff_of(self)
        part = np.where(is_counted, discounted, 0.0)
        return per_query_sum(gains.query, part, n_queries)


class Unjudged(_TrecEval):
    """Share of the first k documents without a judgment (smaller is better).

    Smaller is better, and 0 says that a measure of the first k documents rests on judgments alone.
    A ranking of fewer documents has fewer without a judgment. ``Unjudged@5`` is trec_eval 10's
    ``unj_5``, for which a negative grade says that a document was pooled and not judged.
    ``Hole@10`` is BEIR's name, whose program takes a document as judged if it is for any query.

    >>> from ir_lexirecall import Unjudged
    >>> run = {"q": {"x": 4.0, "a": 3.0, "y": 2.0, "b": 1.0, "z": 0.0}}
    >>> (Unjudged @ 4).calc_aggregate({"q": {"a": 1, "b": 0}}, run)
    0.5
    """

    ALIASES: ClassVar[tuple[str, ...]] = ("Hole",)
    PRETTY_NAME: ClassVar[str] = "Unjudged Documents"
    SMALLER_IS_BETTER: ClassVar[bool] = True
    FAMILY: ClassVar[str] = "unjudged"
    ABOUT = About(
        formula=r"\frac{1}{k} |\{i \le k : d_i \text{ unjudged}\}|",
        plain="documents without a judgment among the first k, over k",
        symbols="d_i: the document at rank i",
        zero="all of the first k documents are judged, or the ranking is empty",
        ties="the same number of unjudged documents among the first k",
        use="with any measure of the first k documents: does its value rest on judgments?",
        example=Example(
            "Unjudged@4",
            (None, 1, None, 0),
            0.5,
            "Two of the first four have no judgment: 2/4.",
        ),
        source="moffat2008",
        see_also=("Judged", "P"),
    )
    params: dict[str, Any] = {"cutoff": cutoff(required=True)}

    def score(self, run: AlignedRun) -> Floats:
        """Return the share of the first k documents without a judgment for each query."""
        k = self["cutoff"]
        judged = np.bincount(
            run.query[(run.rank <= k) & run.is_judged], minlength=len(run.depth)
        )
        return (np.minimum(run.depth, k) - judged) / float(k)


def recall_point(recall: float, m: Ints, version: int) -> Ints:
    """Which relevant document reaches a recall, shape ``(Q,)``; 0 for none.

    >>> recall_point(0.6, np.array([2, 4]), 9), recall_point(0.6, np.array([2, 4]), 10)
    (array([2, 3]), array([1, 2]))
    """
    exact = recall * m
    if version == 9:
        return np.floor(exact + 0.9).astype(np.int64)
    whole = np.floor(exact)
    return (whole + (exact - whole >= 0.5)).astype(np.int64)


def top_grade_of_queries(judgments: Judgments) -> Floats:
    """Return the highest grade of each query, at least 1; shape ``(Q,)``."""
    top = np.ones(len(judgments))
    np.maximum.at(top, judgments.query, judgments.grade)
    return top


def log_discount(rank: Ints | Floats, a: float) -> Floats:
    """1 / max(1, log_a rank)."""
    return 1 / np.maximum(1.0, np.log(rank) / math.log(a))
