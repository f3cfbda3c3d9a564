"""Novelty with graded gains: ACT, nDCU, alpha_DCG_IA, alpha_nDCG_G, NRBP_G, P_at_Recall.

They are named in Amigó, Spina, Carrillo-de-Albornoz, SIGIR 2018. Aspects, weights and gains are
those of `ir_lexirecall.measures.diversity`. ndeval's alpha_nDCG and NRBP, which count a document as
relevant to a subtopic or not, are in `ir_lexirecall.measures.other_programs`.
"""

from __future__ import annotations

from math import inf, log2
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import (
    Floats,
    Ints,
    per_query_sum,
    ratio,
)
from ir_lexirecall.measures import discounts
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.declaration import UNIT, last_rank, looked_at
from ir_lexirecall.measures.diversity import (
    ALPHA,
    ANY_GAIN,
    CT,
    EU,
    GAIN,
    NOTHING,
    WEIGHTS,
    DiversityMeasure,
    novel_utility,
    top_grades,
)
from ir_lexirecall.measures.other_programs import (
    Coverage,
    coverage,
    greedy_ideal,
    rows_by_aspect,
)
from ir_lexirecall.measures.parameters import GAIN_OF_ASPECTS, Param, cutoff, rel

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.data.judgments import Judgments

_EARLIER = "c: earlier documents with a gain for t; alpha: what repetition loses"
_GREEDY = (
    "the ideal takes the document of the largest gain next (the best order is too "
    "costly to find)"
)
_TWICE = ((1, None), (1, None), (None, 1))  # a ranking that repeats a subtopic


class ACT(CT):
    """Mean of the cube test over the ranks that are read.

    >>> from ir_lexirecall import ACT
    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1")]
    >>> run = {"q": {"x": 4.0, "a": 3.0, "y": 2.0, "z": 1.0}}
    >>> (ACT(gain="linear") @ 4).calc_aggregate(qrels, run)
    0.375
    """

    PRETTY_NAME: ClassVar[str] = "Average Cube Test"
    ABOUT = About(
        formula=r"\frac{1}{n} \sum_{i \le n} \mathrm{CT}@i",
        symbols="n: documents that are read, the first k or all of a shorter ranking; CT: the cube "
        "test, with the same parameters; "
        "a measure of TREC Dynamic Domain 2015",
        values="0 upwards",
        zero=NOTHING,
        ties="the same grades for all subtopics at the same ranks, in equally long rankings (down "
        "to rank k)",
        use="as CT, when a user may stop at any of the first k documents (TREC Dynamic Domain)",
        example=Example(
            "ACT(gain='linear')@2",
            ((1, None), (0, None)),
            1.0,
            "One subtopic, r = 1: CT@1 = CT@2 = 1, and their mean is 1.",
        ),
        source="amigo2018",
        see_also=("CT", "EU"),
    )

    def discounted(
        self, worth: Floats, run: AlignedRun, query: Ints, rank: Ints
    ) -> Floats:
        """Return what documents add to the mean of CT over the ranks from theirs on."""
        read = looked_at(self, run)[query]
        return worth * (read - rank + 1) / (read * rank)


class nDCU(EU):
    """Expected utility, divided by that of a greedy ideal ranking.

    >>> from ir_lexirecall import nDCU
    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> nDCU(e=0).calc_aggregate(qrels, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    0.92456...
    """

    PRETTY_NAME: ClassVar[str] = "Normalised Discounted Cumulated Utility"
    ABOUT = About(
        formula=r"\frac{\mathrm{EU}@k}{\mathrm{EU}@k \text{ of the ideal ranking}}",
        symbols="EU: expected utility, with the same parameters; the ideal ranking ends where no "
        "document is worth its effort; "
        f"{_GREEDY}",
        values="below 0 (many irrelevant documents) to 1, or slightly above where a better order "
        "than the greedy one exists",
        zero="an empty ranking, no document that is worth its effort, or gain and effort in "
        "balance",
        ties="the same grades for all subtopics at the same ranks, and equally long rankings (down "
        "to rank k)",
        use="as EU, when queries with many subtopics or relevant documents should not count more "
        "than others",
        example=Example(
            "nDCU(e=0)",
            ((1, None), (None, 0), (None, 1)),
            (1 + 1 / (1 + log2(3))) / 1.5,
            "r = w = 1/2 for either subtopic: (1 + 1/(1 + log2 3)) / (1 + 1/2) = 0.9246.",
        ),
        source="yang2007",
        see_also=("EU", "alpha_DCG_IA", "nDCG"),
    )

    def less_effort(self, run: AlignedRun, utility: Floats) -> Floats:
        """Return the utility less the effort, divided by that of the ideal ranking."""
        return ratio(super().less_effort(run, utility), self.ideal(run.judgments))

    def ideal(self, judgments: Judgments) -> Floats:
        """Return the expected utility of the greedy ideal ranking of each query."""
        aspects = judgments.aspects
        return judgments.cached(
            ("ideal utility", str(self)),
            lambda: greedy_ideal(
                judgments,
                aspects.weight[aspects.aspect] * gain_of_rows(self, judgments),
                self["alpha"],
                lambda rank: 1 / (1 + np.log2(rank)),
                depth=last_rank(self),
                effort=self["e"],
            ),
        )


def gain_of_rows(measure: DiversityMeasure, judgments: Judgments) -> Floats:
    """Return the gain of every row of `judgments.aspects` under a measure's parameters."""
    aspects = judgments.aspects
    top = top_grades(measure, judgments)[aspects.aspect]
    return discounts.gain(np.maximum(aspects.grade, 0), top, measure["gain"])


class Novelty(DiversityMeasure, register=False):
    """Base of measures that sum up discounted gains, smaller with earlier ones on a subtopic."""

    RANGE = (0.0, inf)
    params: dict[str, Any] = {"cutoff": cutoff(), "alpha": ALPHA, **GAIN_OF_ASPECTS}

    def discount(self, rank: Ints) -> Floats:
        """Return the discount of ranks."""
        return 1 / np.log2(rank + 1.0)

    def weights(self, judgments: Judgments) -> Floats:
        """Return the weight of every aspect."""
        return np.ones(len(judgments.aspects.query))

    def score(self, run: AlignedRun) -> Floats:
        """Return the sum of discounted gains for each query."""
        judgments = run.judgments
        aspect, rank, grade = rows_by_aspect(run, ANY_GAIN, self["cutoff"])
        gain = discounts.gain(grade, top_grades(self, judgments)[aspect], self["gain"])
        worth = self.weights(judgments)[aspect] * gain * self.discount(rank)
        total = novel_utility(judgments, aspect, worth, self["alpha"])
        return self.normalised(total, judgments)

    def normalised(self, total: Floats, judgments: Judgments) -> Floats:
        """Return the values for these sums: themselves."""
        return total


class alpha_DCG_IA(Novelty):
    """Graded gain over weighted subtopics with diminishing returns, discounted by rank.

    >>> from ir_lexirecall import alpha_DCG_IA
    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> alpha_DCG_IA(gain="linear").calc_aggregate(qrels, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    0.75
    """

    PRETTY_NAME: ClassVar[str] = "Intent-Aware alpha-DCG"
    ABOUT = About(
        formula=r"\sum_{i \le k} \frac{\sum_t w_t\, r(d_i, t)\, (1 - \alpha)^{c}}{\log_2(i + 1)}",
        symbols=f"{_EARLIER}; {WEIGHTS}; {GAIN}",
        values="0 upwards",
        zero=NOTHING,
        ties="the same grades for all subtopics at the same ranks",
        use="to compare with values that are not normalised; alpha=0 is the intent-aware form of "
        "DCG",
        example=Example(
            "alpha_DCG_IA(gain='linear')",
            ((1, None), (0, 0), (None, 1)),
            3 / 4,
            "r = 1, w = 1/2 for either subtopic: (1/2)/log2 2 + (1/2)/log2 4 = 3/4.",
        ),
        source="amigo2018",
        see_also=("alpha_nDCG_G", "alpha_DCG", "EU", "IA"),
    )

    def weights(self, judgments: Judgments) -> Floats:
        """Return the weight of every aspect, from the judgments."""
        return judgments.aspects.weight


class alpha_nDCG_G(Novelty):
    """Graded gain over subtopics with diminishing returns, divided by that of a greedy ideal.

    >>> from ir_lexirecall import alpha_nDCG_G
    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> alpha_nDCG_G.calc_aggregate(qrels, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    0.91972...
    """

    PRETTY_NAME: ClassVar[str] = "Graded alpha-nDCG"
    ABOUT = About(
        formula=r"\frac{1}{Z_k} \sum_{i \le k} \frac{\sum_t r(d_i, t)\, (1 - \alpha)^{c}}"
        r"{\log_2(i + 1)}",
        symbols=f"{_EARLIER}; t: subtopics; Z_k: the same sum for the ideal ranking; {_GREEDY}; "
        f"{GAIN}",
        values="0 upwards; above 1 only where a better order than the greedy one exists",
        zero=NOTHING,
        ties="the same grades for all subtopics at the same ranks",
        use="alpha_nDCG for graded judgments; alpha_nDCG itself counts a document as relevant to "
        "a subtopic or not",
        example=Example(
            "alpha_nDCG_G(gain='linear')",
            _TWICE,
            (1 + 0.5 / log2(3) + 0.5) / (1 + 1 / log2(3) + 0.25),
            "r = 1: 1 + (1/2)/log2 3 + 1/log2 4, over 1 + 1/log2 3 + (1/2)/log2 4 = 0.9652.",
        ),
        source="clarke2008",
        see_also=("alpha_nDCG", "alpha_DCG_IA", "NRBP_G"),
    )

    def normalised(self, total: Floats, judgments: Judgments) -> Floats:
        """Return the gain divided by that of the ideal ranking for each query."""
        return ratio(total, self.ideal(judgments))

    def ideal(self, judgments: Judgments) -> Floats:
        """Return the discounted gain of the greedy ideal ranking of each query."""
        return judgments.cached(
            ("graded ideal", str(self)),
            lambda: greedy_ideal(
                judgments,
                gain_of_rows(self, judgments),
                self["alpha"],
                self.discount,
                depth=last_rank(self),
            ),
        )


class NRBP_G(Novelty):
    """Graded gain over subtopics with diminishing returns, discounted by a persistence.

    >>> from ir_lexirecall import NRBP_G
    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> NRBP_G(gain="linear").calc_aggregate(qrels, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    1.64...
    """

    PRETTY_NAME: ClassVar[str] = "Graded Novelty- and Rank-Biased Precision"
    ABOUT = About(
        formula=r"\sum_{i \le k} p^{i-1} \sum_t r(d_i, t)\, (1 - \alpha)^{c}",
        symbols=f"p: persistence; {_EARLIER}; t: subtopics; {GAIN}",
        values="0 upwards; ndeval's NRBP is this sum for grades 0 and 1, times (1 - (1 - alpha) "
        "beta) / subtopics, with p = beta",
        zero=NOTHING,
        ties="the same grades for all subtopics at the same ranks",
        use="NRBP for graded judgments; NRBP itself counts a document as relevant to a subtopic "
        "or not",
        example=Example(
            "NRBP_G(gain='linear')",
            ((1, None), (0, 0), (None, 1)),
            1.64,
            "r = 1, p = 0.8: 1 + 0.8^2 = 1.64.",
        ),
        source="amigo2018",
        see_also=("NRBP", "alpha_nDCG_G", "RBU"),
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "p": Param(float, "persistence", default=0.8, least=0, most=1),
        "alpha": ALPHA,
        **GAIN_OF_ASPECTS,
    }

    def discount(self, rank: Ints) -> Floats:
        """Return the discount of ranks, p^(i-1)."""
        return self["p"] ** (rank - 1.0)


class P_at_Recall(DiversityMeasure):
    """Share of documents with something new, down to the rank where every subtopic is covered.

    >>> from ir_lexirecall import P_at_Recall
    >>> from ir_measures import Qrel
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> run = {"q": {"a": 3.0, "b": 2.0, "x": 1.0}}
    >>> measures = [P_at_Recall(), P_at_Recall(form="subtopics")]
    >>> tuple(measure.calc_aggregate(qrels, run) for measure in measures)
    (1.0, 0.75)
    """

    PRETTY_NAME: ClassVar[str] = "Precision at Recall of Subtopics"
    RANGE = UNIT
    ABOUT = About(
        formula=r"\frac{1}{s} \sum_{i \le s} u(d_i)",
        symbols="s: rank at which every subtopic is covered, else the last rank (down to rank k); "
        "u(d): 1 for a document relevant to "
        "a subtopic that no earlier one is relevant to, else 0 (form='documents'), or the share "
        "of the document's subtopics that are "
        "new (form='subtopics'); a measure of TREC Dynamic Domain 2015",
        zero="no document relevant to a subtopic is retrieved (down to rank k), or the query has "
        "none",
        ties="the same number of documents with new subtopics, and every subtopic is covered at "
        "the same rank",
        use="when a user reads until every subtopic is covered, and each document should add one "
        "(TREC Dynamic Domain)",
        example=Example(
            "P_at_Recall(form='subtopics')",
            ((1, None), (1, 1), (0, 0)),
            3 / 4,
            "Everything is covered at rank 2; the first document is new, half of the second: (1 + "
            "1/2)/2 = 3/4.",
        ),
        source="amigo2018",
        see_also=("SRR", "StRecall", "ACT"),
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "rel": rel(),
        "form": Param(
            str,
            "what a document counts: 'documents': 1 if it is new; 'subtopics': the share of its "
            "subtopics that are",
            default="documents",
            choices=("documents", "subtopics"),
        ),
    }

    def score(self, run: AlignedRun) -> Floats:
        """Return the share of new documents down to the rank of full recall for each query."""
        covered = coverage(run, self["rel"], self["cutoff"])
        stop = rank_of_stop(covered, looked_at(self, run))
        # A row per document and subtopic; documents of a query are told apart by their ranks.
        within = covered.rank <= stop[covered.query]
        key = np.stack([covered.query[within], covered.rank[within]])
        document, number, size = np.unique(
            key, axis=1, return_inverse=True, return_counts=True
        )
        new = np.bincount(
            number.ravel(), weights=covered.is_first[within], minlength=len(size)
        )
        if self["form"] == "subtopics":
            worth = new / size
        else:
            worth = np.minimum(new, 1.0)
        return ratio(per_query_sum(document[0], worth, len(stop)), stop)


def rank_of_stop(covered: Coverage, last: Ints) -> Ints:
    """Return the rank at which every subtopic of a query is covered; `last` if one never is."""
    is_complete = covered.n_covered == covered.subtopics
    return np.where(is_complete & (covered.subtopics > 0), covered.rank_of_last, last)
