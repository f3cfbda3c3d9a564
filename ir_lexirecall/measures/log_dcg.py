"""nDCG in its older form: the discount begins at the base of its logarithm (Järvelin, Kekäläinen, TOIS 2002)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats, per_query_sum, ratio
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.declaration import UNIT, Measure
from ir_lexirecall.measures.parameters import Param, cutoff
from ir_lexirecall.measures.rankings import cutoff_of, gains, ideal_gains

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


class nDCG_JK(Measure):
    """Normalised discounted cumulative gain, undiscounted down to rank a.

    nDCG of Järvelin and Kekäläinen: ranks up to a count in full, those below are discounted by 1/log_a(rank).

    DCG@k = sum over i <= k of g_i / max(1, log_a i), over the largest value of any ranking of the query's documents; a grade
    below 0 counts as 0. ir_measures' nDCG discounts by log2(i + 1) from rank 1 on instead.

    Analysed by Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452.

    >>> from ir_lexirecall import nDCG_JK
    >>> nDCG_JK(a=2).calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"x": 3.0, "a": 2.0, "y": 1.0, "b": 0.0}})
    0.75
    """

    PRETTY_NAME: ClassVar[str] = "nDCG of Base a"
    PAGE: ClassVar[str] = "trec_eval"
    RANGE = UNIT
    ABOUT = About(
        formula=r"\frac{\mathrm{DCG}}{\mathrm{ideal\ DCG}}, \quad \mathrm{DCG} = \sum_{i \le k} \frac{g_i}{\max(1, \log_a i)}",
        plain="DCG / ideal DCG, DCG = sum over ranks i <= k of g_i / max(1, log_a i)",
        symbols="g_i: grade of rank i; a: base of the logarithm, down to which nothing is discounted; ideal: the best order",
        zero="no document of a grade above 0 among the first k, or the query has none",
        ties="the same grades at the same ranks; the first a ranks are alike",
        use="to follow older papers: the first a documents count in full",
        example=Example("nDCG_JK(a=2)", (0, 1, 0, 1), 3 / 4, "DCG = 1/1 + 1/2 = 3/2; ideal 1 + 1 = 2: 3/4."),
        source="jarvelin2002",
        see_also=("nDCG", "SDCG"),
    )
    params: dict[str, Any] = {"cutoff": cutoff(), "a": Param(float, "base of the logarithm", default=2, above=1)}

    def score(self, run: AlignedRun) -> Floats:
        queries, a, k = len(run.judgments), self["a"], cutoff_of(self)
        value, best = (
            per_query_sum(one.query, np.where(one.rank <= k, one.gain * discount(one.rank, a), 0.0), queries)
            for one in (gains(run, "log2"), ideal_gains(run.judgments, "log2"))
        )
        return ratio(value, best)


def discount(rank: NDArray[np.generic], a: float) -> Floats:
    """1 / max(1, log_a rank)."""
    return 1 / np.maximum(1.0, np.log(rank) / math.log(a))
