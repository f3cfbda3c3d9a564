"""Measures that are made of another measure: IA here, TOMA, CAM and MM in ``multi_aspect``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats, Ints, position_in_segment
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.io.measure_names import known_of
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.diversity import BOTH, WEIGHTS
from ir_lexirecall.measures.parameters import Param, cutoff
from ir_lexirecall.measures.parsing import check_parameters
from ir_lexirecall.measures.scoring import values

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


BASE = Param(str, "measure that scores the ranking", default="nDCG")


class ComposedMeasure(Measure, register=False):
    """A measure made of another one, its base, which is checked and cut off."""

    def base_measure(self) -> IRMeasure:
        """The base with this measure's cutoff."""
        k = self["cutoff"]
        try:
            base = parse_measure(self["base"])
            if isinstance(base, ComposedMeasure):
                raise ValueError("it is itself made of another measure; name one that is not")
            if k is not None:
                if "cutoff" not in base.SUPPORTED_PARAMS or base.params.get("cutoff", k) != k:
                    raise ValueError(f"it cannot be cut at {k}")
                base = base(cutoff=k)
            check_parameters(base)
        except ValueError as error:
            raise ValueError(f"{self.NAME}: base={self['base']!r} cannot be used: {error}") from None
        return base

    def check_together(self) -> None:
        self.base_measure()

    def value_range(self) -> tuple[float, float]:
        low, high, _ = known_of(self.base_measure())
        return min(low, 0.0), max(high, 0.0)  # 0 of a query without relevant documents

    def is_cost(self) -> bool:
        return known_of(self.base_measure()).smaller_is_better


class IA(ComposedMeasure):
    """Weighted mean over subtopics of any base measure, each subtopic judged alone.

    Intent-aware form of any measure: its mean over the subtopics, each judged alone, IA = sum_t w_t base_t.

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
    PAGE: ClassVar[str] = "diversity"
    FAMILY: ClassVar[str] = "subtopics"
    ABOUT = About(
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
    params: dict[str, Any] = {"cutoff": cutoff(), "base": BASE}

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
