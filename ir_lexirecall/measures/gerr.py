"""Expected reciprocal rank for any scale of grades (Chapelle et al., CIKM 2009)."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import Floats, per_query_count
from ir_lexirecall.measures import gain as gains
from ir_lexirecall.measures import reading
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parameters import cutoff, gain, max_rel, unjudged

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


_ZERO = "nothing with a gain is read, or the query has no relevant document"
_TIES = "rankings of the same gains at the same ranks; documents without gain are alike"


class GERR(Measure):
    """Expected reciprocal rank for any scale of grades: sum over ranks i of r_i / i times the product of (1 - r_j) over j < i.

    The gain r of grade g is (2^g - 1) / 2^max_rel (``gain='exp'``) or g / max_rel (``'linear'``). ``unjudged='worst'`` gives
    unjudged documents no gain; ``'best'`` gives them that of max_rel, and has such documents follow the ranking, down to
    rank k or for ever: the two bound the value whatever the missing judgments are (their difference is the residual).
    ``GERR(max_rel=4)@k`` is ir_measures' ERR@k.

    The residual: Azzopardi, Mackenzie, Moffat, ICTIR 2021, doi 10.1145/3471158.3472239.

    >>> qrels, run = {"q": {"a": 1}}, {"q": {"x": 2.0, "a": 1.0}}
    >>> (GERR(max_rel=1) @ 2).calc_aggregate(qrels, run), (GERR(max_rel=1, unjudged="best") @ 2).calc_aggregate(qrels, run)
    (0.25, 0.625)
    """

    PRETTY_NAME: ClassVar[str] = "Expected Reciprocal Rank of Any Scale"
    SHORT_DESC: ClassVar[str] = "ERR for any top grade and gain, with bounds for unjudged documents."
    ABOUT: ClassVar[About] = About(
        formula=r"\sum_{i} \frac{r_i}{i} \prod_{j<i} (1 - r_j)",
        plain="sum over ranks i of r_i / i times the product of (1 - r_j) over j < i",
        symbols="r_i: gain of rank i, (2^g - 1)/2^max_rel of grade g (gain='exp') or g/max_rel ('linear'); unjudged='best' gives "
        "unjudged documents the gain of max_rel: with 'worst' it bounds the value",
        values="0 to 1",
        zero=_ZERO,
        ties=_TIES,
        use="ERR for any scale of grades, and its residual; for ir_measures' ERR take max_rel=4",
        example=Example("GERR(max_rel=1)@2", (None, 1), 1 / 4, "r_2 = 1/2 at rank 2: (1/2) / 2 = 1/4."),
        source="chapelle2009",
        see_also=("ERR", "CWL_ERR9", "RR"),
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "max_rel": max_rel(required=True),
        "gain": gain(),
        "unjudged": unjudged(),
    }

    def score(self, run: AlignedRun) -> Floats:
        top, kind = self["max_rel"], self["gain"]
        k = inf if self["cutoff"] is None else self["cutoff"]
        judgments, queries = run.judgments, len(run.judgments)
        judgments.check_top_grade(top, str(self))
        looked_at = run.rank <= k
        query, rank = run.query[looked_at], run.rank[looked_at]
        r = gains.gain(run.grade[looked_at], top, kind)
        if self["unjudged"] == "worst":
            return reading.expected_reciprocal_rank(query, rank, r, queries)
        best = gains.gain(np.full(queries, float(top)), top, kind)
        # ERR is the expected total utility of the C/W/L measure with B(i) = 1 / i.
        value = reading.cwl(query, rank, r, queries, reading.Reciprocal(), end=k, unjudged=best)[1]
        relevant = per_query_count(judgments.query[judgments.grade > 0], queries) > 0
        return np.where(relevant, value, 0.0)
