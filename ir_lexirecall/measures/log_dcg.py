"""nDCG in its older form: the discount begins at the base of its logarithm (Järvelin, Kekäläinen, TOIS 2002)."""

from __future__ import annotations

import math
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall.arrays import Floats, per_query_sum, position_in_segment
from ir_lexirecall.measures.base import Measure, Param, cutoff

if TYPE_CHECKING:
    from ir_lexirecall.alignment import AlignedRun


class nDCG_JK(Measure):
    """nDCG of Järvelin and Kekäläinen: ranks up to a count in full, those below are discounted by 1/log_a(rank).

    DCG@k = sum over i <= k of g_i / max(1, log_a i), over the largest value of any ranking of the query's documents; a grade
    below 0 counts as 0. ir_measures' nDCG discounts by log2(i + 1) from rank 1 on instead.

    Source: Järvelin, Kekäläinen, Cumulated Gain-Based Evaluation of IR Techniques, TOIS 2002, doi 10.1145/582415.582418;
    analysed by Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452.

    >>> from ir_lexirecall import nDCG_JK
    >>> nDCG_JK(a=2).calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"x": 3.0, "a": 2.0, "y": 1.0, "b": 0.0}})
    0.75
    """

    PRETTY_NAME = "nDCG of Base a"
    SHORT_DESC = "Normalised discounted cumulative gain, undiscounted down to rank a."
    FORMULA = "sum g_i / max(1, log_a i), over its ideal"
    SOURCE = "Järvelin, Kekäläinen, TOIS 2002"
    params = {
        "cutoff": cutoff(),
        "a": Param(float, "base of the logarithm", default=2, check=lambda a: a > 1, expects="a number above 1"),
    }

    def score(self, run: AlignedRun) -> Floats:
        judgments, a, k = run.judgments, self["a"], self["cutoff"] or inf
        ideal = np.lexsort((-judgments.grade, judgments.query))
        query = judgments.query[ideal]
        best = _dcg(query, position_in_segment(query) + 1, judgments.grade[ideal], len(judgments), a=a, k=k)
        value = _dcg(run.query, run.rank, run.grade, len(judgments), a=a, k=k)
        return np.divide(value, best, out=np.zeros(len(judgments)), where=best > 0)


def discount(rank: NDArray[np.generic], a: float) -> Floats:
    """1 / max(1, log_a rank)."""
    return 1 / np.maximum(1.0, np.log(rank) / math.log(a))


def _dcg(
    query: NDArray[np.int64], rank: NDArray[np.int64], grade: Floats, queries: int, *, a: float, k: float
) -> Floats:
    top = rank <= k
    return per_query_sum(query[top], np.maximum(grade[top], 0) * discount(rank[top], a), queries)
