"""Measures that ranx and BEIR offer and ir_measures does not: DCG, F1 and capped recall."""

from __future__ import annotations

from abc import abstractmethod
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, ratio
from ir_lexirecall.measures.about import RANKS, About, Example
from ir_lexirecall.measures.declaration import UNIT, Measure, documents_read
from ir_lexirecall.measures.parameters import Param, cutoff, rel
from ir_lexirecall.measures.trec_eval import cutoff_of, gains

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.data.judgments import Judgments


class _OfToolkits(Measure, register=False):
    """Base of the measures of this module."""

    PAGE: ClassVar[str] = "trec_eval"


class DCG(_OfToolkits):
    """Gain of the documents, discounted by rank, without division by the ideal.

    >>> from ir_lexirecall import DCG
    >>> DCG.calc_aggregate({"q": {"a": 2, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})
    2.5
    """

    PRETTY_NAME: ClassVar[str] = "Discounted Cumulative Gain"
    RANGE = (0.0, inf)
    ABOUT = About(
        formula=r"\sum_{i \le k} \frac{g(d_i)}{\log_2(i + 1)}",
        symbols="g(d): the document's grade, a negative one counts as 0 (dcg='log2'), or "
        "2^grade - 1 ('exp-log2')",
        values="0 upwards; queries with more relevant documents have larger values, so nDCG is "
        "better for means",
        zero="no document with a grade above 0 is retrieved (down to rank k)",
        ties="the same gains at the same ranks",
        use="to compare with values of ranx's dcg; for means over queries use nDCG",
        example=Example("DCG", (2, 0, 1), 2.5, "2/log2 2 + 1/log2 4 = 2.5."),
        source="jarvelin2002",
        see_also=("nDCG",),
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "dcg": Param(
            str,
            "gain of a grade: 'log2' the grade, 'exp-log2' 2^grade - 1",
            default="log2",
            choices=("log2", "exp-log2"),
        ),
    }

    def check_judgments(self, judgments: Judgments) -> None:
        """Raise if a grade is too large for exponential gains."""
        if self["dcg"] == "exp-log2" and judgments.highest_grade >= 512:
            raise ValueError(
                f"{self}: 2^{judgments.highest_grade:g} is too large a gain; load the qrels with "
                "levels=[...], or give dcg='log2'"
            )

    def score(self, run: AlignedRun) -> Floats:
        """Return the discounted cumulative gain of each query."""
        return gains(run, self["dcg"]).dcg(cutoff_of(self), len(run.judgments))


class _OfCount(_OfToolkits, register=False):
    """Base of measures of r, the number of relevant documents among the first k."""

    RANGE = UNIT
    FAMILY: ClassVar[str] = "binary"
    params: dict[str, Any] = {"cutoff": cutoff(), "rel": rel()}

    @abstractmethod
    def of_count(self, run: AlignedRun, r: Ints | Floats) -> Floats:
        """Return the values for a number of relevant documents of each query."""

    def score(self, run: AlignedRun) -> Floats:
        """Return the value of each query for the relevant documents that it has."""
        return self.of_count(run, run.relevant(self["rel"], self["cutoff"]).r)


class F1(_OfCount):
    """Harmonic mean of precision and recall of the first documents.

    >>> from ir_lexirecall import F1
    >>> (F1 @ 4).calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0, "y": 1.0}})
    0.33333...
    """

    PRETTY_NAME: ClassVar[str] = "F1 of Precision and Recall"
    ABOUT = About(
        formula=r"\frac{2 r}{k + m}",
        symbols=f"{RANKS} (r down to rank k); without a cutoff, k is the number of documents "
        "retrieved",
        zero="no relevant document is retrieved (down to rank k), or the query has none",
        ties="the same number of relevant documents among the first k",
        use="to weigh precision and recall equally at a cutoff; SetF has other weights, of the "
        "whole ranking",
        example=Example(
            "F1@4", (1, 0, 0), 1 / 3, "r = 1, k = 4, m = 2: 2/(4 + 2) = 1/3.", (1,)
        ),
        source="chinchor1992",
        see_also=("SetF", "P", "R"),
    )

    def of_count(self, run: AlignedRun, r: Ints | Floats) -> Floats:
        """Return the harmonic mean of precision and recall of each query."""
        m = run.judgments.m(self["rel"])
        return ratio(2 * r, np.where(m > 0, documents_read(self, run) + m, 0))


class R_cap(_OfCount):
    """Recall in which a cutoff below the number of relevant documents does not count against a run.

    >>> from ir_lexirecall import R_cap
    >>> (R_cap @ 1).calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"a": 3.0, "x": 2.0}})
    1.0
    """

    PRETTY_NAME: ClassVar[str] = "Capped Recall"
    ABOUT = About(
        formula=r"\frac{r}{\min(k, m)}",
        symbols=f"{RANKS} (r down to rank k); without a cutoff, k is the number of documents "
        f"retrieved; "
        "BEIR's R_cap, in Diaz et al. without a cutoff",
        zero="no relevant document is retrieved (down to rank k), or the query has none",
        ties="the same number of relevant documents among the first k",
        use="where queries have more relevant documents than the cutoff, as in BEIR's Touche and "
        "TREC-COVID",
        example=Example("R_cap@2", (1, 0), 1 / 2, "r = 1, min(2, 3) = 2: 1/2.", (1, 1)),
        source="diaz2026",
        see_also=("R", "Rprec"),
    )

    def of_count(self, run: AlignedRun, r: Ints | Floats) -> Floats:
        """Return the capped recall of each query."""
        m = run.judgments.m(self["rel"])
        return ratio(r, np.minimum(m, documents_read(self, run)))
