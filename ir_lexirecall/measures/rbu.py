"""Rank-biased utility (Amigó, Spina, Carrillo-de-Albornoz, SIGIR 2018)."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import (
    FEW,
    Floats,
    Ints,
    geometric_sum,
    per_query_sum,
    product_before,
)
from ir_lexirecall._util.errors import warn
from ir_lexirecall.measures import discounts
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.declaration import last_rank, looked_at
from ir_lexirecall.measures.diversity import (
    BOTH,
    GAIN,
    WEIGHTS,
    DiversityMeasure,
    top_grades,
)
from ir_lexirecall.measures.parameters import GAIN_OF_ASPECTS, Param, cutoff

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.data.judgments import Judgments


ONE_ASPECT = (
    "RBU: the qrels name one aspect per query, so nothing counts as redundant. If the collection "
    "has subtopics, give them in "
    "'subtopic_id' or 'iteration' (a dict of dicts cannot hold them)."
)
"""What to warn of where no query has several aspects."""


class RBU(DiversityMeasure):
    """Gain over several aspects with diminishing returns, minus the effort of reading.

    Aspects (subtopics) come from the qrels' ``subtopic_id`` or ``iteration``, their weights w_t
    from the column ``weight`` (else equal), scaled to sum to 1 over the aspects with a relevant
    document. ``max_rel`` defaults to the largest grade of the query and aspect. Irrelevant
    documents only cost effort, so values may be negative; a query without relevant documents scores
    0. ``normalize=True`` multiplies by (1-p)/p.

    >>> from ir_measures import Qrel
    >>> from ir_lexirecall import RBU
    >>> qrels = [Qrel("q", "a", 1, "t1"), Qrel("q", "b", 1, "t2")]
    >>> RBU(p=1, e=0.05).calc_aggregate(qrels, {"q": {"a": 3.0, "b": 2.0}})
    0.4
    """

    PRETTY_NAME: ClassVar[str] = "Rank-Biased Utility"
    ABOUT = About(
        formula=r"\sum_{i \le k} p^i \left( \sum_t w_t\, r(d_i, t) \prod_{j<i} (1 - r(d_j, t)) - e "
        r"\right)",
        symbols=f"p: persistence; e: effort of reading a document, in units of gain, taken off at "
        f"every rank (compare runs of the "
        f"same depth; 0: none); {WEIGHTS}; {GAIN}",
        values="below 0 to less than 1; normalize=True: times (1-p)/p. Without a cutoff a long "
        "ranking only costs: two documents "
        "of the top grade, one for each of two subtopics, above 1,000 others give -4.46 by "
        "default; compare at a cutoff",
        zero="an empty ranking, a query without relevant documents, or gain and effort in balance",
        ties="the same grades for all subtopics at the same ranks, and equally long rankings (down "
        "to rank k)",
        use="when documents should cover all subtopics without repetition, and long rankings cost "
        "effort; of its authors' ten "
        "constraints it violates 'aspect relevance' as printed, but meets its narrower reading "
        "'aspect relevance, unseen elsewhere' (no document further down is about either "
        "subtopic); it meets saturation only if the top grade has gain 1 (gain='linear')",
        meanings={
            "max_rel": "grade of full gain; by default the largest grade of each query and "
            "subtopic, so that a grade may have several gains"
        },
        example=Example(
            "RBU(p=1,e=0.05)",
            BOTH,
            0.4,
            "r = 1/2, w = 1/2 for either subtopic: 1/4 + 1/4 - 2 x 0.05 = 0.4.",
        ),
        source="amigo2018",
        see_also=("ERR_IA", "alpha_nDCG", "EU", "RBP"),
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "p": Param(float, "persistence", default=0.99, above=0, most=1),
        "e": Param(float, "effort of reading a document", default=0.05, least=0),
        **GAIN_OF_ASPECTS,
        "normalize": Param(
            bool, "multiply by (1-p)/p, the scale of RBP", default=False
        ),
    }

    def check_together(self) -> None:
        """Raise if the scale is not defined: `normalize=True` needs p below 1."""
        if self["normalize"] and self["p"] == 1:
            raise ValueError(
                f"{self}: normalize=True needs p below 1 (the scale is (1-p)/p)"
            )

    def check_judgments(self, judgments: Judgments) -> None:
        """Warn if every query has one aspect only."""
        if len(judgments) and len(judgments.aspects.query) == len(judgments):
            warn(ONE_ASPECT)

    def value_range(self) -> tuple[float, float]:
        """Return the range of the values; only effort makes them negative."""
        p, end = self["p"], last_rank(self)
        scale = 1.0
        if self["normalize"]:
            scale = (1 - p) / p
        if p == 1:
            longest = end
        else:
            longest = p * (1 - p**end) / (1 - p)
        return -self["e"] * longest * scale if self["e"] else 0.0, p * scale

    def score(self, run: AlignedRun) -> Floats:
        """Return the utility less the effort for each query."""
        judgments, p, end = run.judgments, self["p"], last_rank(self)
        row, rank = run.aspect_places()
        if max(len(row), len(judgments)) <= FEW:
            value = self._utility_of_few(judgments, row, rank, end)
        else:
            aspects = judgments.aspects
            keep = (aspects.grade[row] > 0) & (rank <= end)
            row, rank = row[keep], rank[keep]
            pair = aspects.aspect[row]
            if np.any(pair[1:] < pair[:-1]):
                # Within a pair, ranks rise already.
                order = np.argsort(pair, kind="stable")
                row, rank, pair = row[order], rank[order], pair[order]
            r = discounts.gain(
                aspects.grade[row], top_grades(self, judgments)[pair], self["gain"]
            )
            worth = (
                p ** rank.astype(np.float64)
                * aspects.weight[pair]
                * r
                * product_before(pair, 1 - r)
            )
            value = per_query_sum(aspects.query[pair], worth, len(judgments))
        return self.less_effort(run, value)

    def less_effort(self, run: AlignedRun, value: Floats) -> Floats:
        """Return the gain of each query less the effort of reading, on the scale asked for."""
        p, read = self["p"], looked_at(self, run).astype(np.float64)
        value = value - self["e"] * (p * geometric_sum(p, read))  # p^1 + p^2 + ...
        return np.where(
            run.judgments.has_weight,
            value * ((1 - p) / p if self["normalize"] else 1),
            0.0,
        )

    def _utility_of_few(
        self, judgments: Judgments, row: Ints, rank: Ints, end: float
    ) -> Floats:
        """Return the gain of a handful of documents, row by row, by the same operations."""
        aspects, top, kind = judgments.aspects, self["max_rel"], self["gain"]
        gain = judgments.cached(
            ("gain of aspects", top, kind),
            lambda: discounts.gain(
                aspects.grade, top_grades(self, judgments)[aspects.aspect], kind
            ),
        )
        pair, weight = aspects.aspect[row], aspects.weight.tolist()
        p_i = self["p"] ** rank.astype(np.float64)
        rows = list(
            zip(
                pair.tolist(),
                rank.tolist(),
                gain[row].tolist(),
                p_i.tolist(),
                strict=True,
            )
        )
        if len(weight) > 1:
            rows.sort(key=itemgetter(0))  # within a pair, ranks rise already
        value, novelty = [0.0] * len(judgments), [1.0] * len(weight)
        query = aspects.query.tolist()
        for t, i, r, discount in rows:
            if r and i <= end:
                value[query[t]] += discount * weight[t] * r * novelty[t]
                novelty[t] *= 1 - r
        return np.array(value)
