"""Rank-biased utility (Amigó, Spina, Carrillo-de-Albornoz, SIGIR 2018)."""

from __future__ import annotations

from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from ir_lexirecall.arrays import (
    FEW,
    Floats,
    Ints,
    geometric_sum,
    per_query_sum,
    running_product,
    shifted_within_segment,
)
from ir_lexirecall.errors import warn
from ir_lexirecall.measures import gain as gains
from ir_lexirecall.measures.base import Measure, Param, cutoff, gain, is_share, max_rel

if TYPE_CHECKING:
    from ir_lexirecall.alignment import AlignedRun
    from ir_lexirecall.judgments import Judgments


class RBU(Measure):
    """Rank-biased utility: what a user gains over all aspects, less the effort of reading.

    RBU@k = sum over ranks i = 1..min(k, depth) of p^i (sum over aspects t of w_t r(d_i, t) times the product of
    (1 - r(d_j, t)) over j < i, minus e). Aspects (subtopics) come from the qrels' ``subtopic_id`` or ``iteration``, their
    weights w_t from the column ``weight`` (else equal), scaled to sum to 1 over the aspects with a relevant document.
    ``max_rel`` defaults to the largest grade of the query and aspect. Irrelevant documents only cost effort, so
    values may be negative; a query without relevant documents scores 0. ``normalize=True`` multiplies by (1-p)/p.

    Source: Amigó, Spina, Carrillo-de-Albornoz, An Axiomatic Analysis of Diversity Evaluation Metrics, SIGIR 2018,
    doi 10.1145/3209978.3210024.

    >>> from ir_measures import Qrel
    >>> from ir_lexirecall import RBU
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> RBU(p=1, e=0.05).calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.4
    """

    PRETTY_NAME = "Rank-Biased Utility"
    SHORT_DESC = "Gain over several aspects with diminishing returns, less the effort of reading."
    FORMULA = "sum p^i (sum_t w_t r(d_i,t) prod (1 - r(d_j,t)) - e)"
    SOURCE = "Amigó et al., SIGIR 2018"
    params = {
        "cutoff": cutoff(),
        "p": Param(
            float,
            "persistence",
            default=0.99,
            check=lambda p: 0 < p <= 1,
            expects="a number above 0 and at most 1",
        ),
        "e": Param(
            float,
            "effort of reading a document",
            default=0.05,
            check=is_share,
            expects="a number of at least 0",
        ),
        "gain": gain(),
        "max_rel": max_rel(required=False),
        "normalize": Param(bool, "multiply by (1-p)/p, the scale of RBP", default=False),
    }

    def check_together(self) -> None:
        if self["normalize"] and self["p"] == 1:
            raise ValueError(f"{self}: normalize=True needs p below 1 (the scale is (1-p)/p)")

    def check_judgments(self, judgments: Judgments) -> None:
        if len(judgments) and len(judgments.aspects.query) == len(judgments):
            warn(
                "RBU: the qrels name one aspect per query, so nothing counts as redundant. If the collection has "
                "subtopics, give them in 'subtopic_id' or 'iteration' (a dict of dicts cannot hold them)."
            )

    def score(self, run: AlignedRun) -> Floats:
        judgments, p, k = run.judgments, self["p"], self["cutoff"]
        end = inf if k is None else k
        row, rank = run.aspect_places()
        if max(len(row), len(judgments)) <= FEW:
            value = self._utility_of_few(judgments, row, rank, end)
        else:
            value = self._utility(judgments, row, rank, end)
        looked_at = run.depth if k is None else np.minimum(run.depth, k)
        value = value - self["e"] * effort(looked_at, p=p)
        return np.where(judgments.has_weight, value * ((1 - p) / p if self["normalize"] else 1), 0.0)

    def _utility(self, judgments: Judgments, row: Ints, rank: Ints, end: float) -> Floats:
        """``utility`` of the documents and aspects in these rows of ``judgments.aspects`` down to rank ``end``."""
        aspects = judgments.aspects
        keep = (aspects.grade[row] > 0) & (rank <= end)
        row, rank = row[keep], rank[keep]
        pair = aspects.aspect[row]
        if np.any(pair[1:] < pair[:-1]):
            order = np.argsort(pair, kind="stable")  # within a pair, ranks rise already
            row, rank, pair = row[order], rank[order], pair[order]
        r = gains.gain(aspects.grade[row], self._top_grades(judgments)[pair], self["gain"])
        return utility(aspects.query[pair], pair, rank, r, aspects.weight[pair], len(judgments), p=self["p"])

    def _utility_of_few(self, judgments: Judgments, row: Ints, rank: Ints, end: float) -> Floats:
        """The same of a handful of documents, by the same operations, row by row."""
        aspects, top, kind = judgments.aspects, self["max_rel"], self["gain"]
        gain = judgments.cached(
            ("gain of aspects", top, kind),
            lambda: gains.gain(aspects.grade, self._top_grades(judgments)[aspects.aspect], kind),
        )
        pair, weight = aspects.aspect[row], aspects.weight.tolist()
        p_i = self["p"] ** rank.astype(np.float64)
        rows = list(zip(pair.tolist(), rank.tolist(), gain[row].tolist(), p_i.tolist(), strict=True))
        if len(weight) > 1:
            rows.sort(key=itemgetter(0))  # within a pair, ranks rise already
        value, novelty = [0.0] * len(judgments), [1.0] * len(weight)
        query = aspects.query.tolist()
        for t, i, r, discount in rows:
            if r and i <= end:
                value[query[t]] += discount * weight[t] * r * novelty[t]
                novelty[t] *= 1 - r
        return np.array(value)

    def _top_grades(self, judgments: Judgments) -> Floats:
        """max_rel of every (query, aspect) pair: the parameter, or the pair's largest grade."""
        if self["max_rel"] is None:
            return judgments.aspects.top_grade
        judgments.check_top_grade_of_aspects(self["max_rel"], str(self))
        return np.full(len(judgments.aspects.query), float(self["max_rel"]))


def utility(query: Ints, aspect: Ints, rank: Ints, r: Floats, weight: Floats, queries: int, *, p: float) -> Floats:
    """Sum over ranks i and aspects t of p^i w_t r(d_i, t) times the product of (1 - r(d_j, t)) over j < i.

    One row per retrieved document and aspect, by query, aspect and rank; ``aspect`` numbers the aspects of
    all queries, ``weight`` is w_t.
    """
    novelty = shifted_within_segment(aspect, running_product(aspect, 1 - r), 1)
    return per_query_sum(query, p ** rank.astype(np.float64) * weight * r * novelty, queries)


def effort(looked_at: Ints, *, p: float) -> Floats:
    """Sum of p^i for i = 1..``looked_at``: what reading that many documents costs, per unit of e."""
    return p * geometric_sum(p, looked_at.astype(np.float64))
