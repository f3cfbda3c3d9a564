"""Search length: how far a user reads to find every relevant document (Cooper), or one on average (Rocchio)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import Floats, per_query_sum
from ir_lexirecall.measures.about import RANKS, About, Example
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parameters import collection_size, cutoff, rel
from ir_lexirecall.measures.tse import check_n

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun, Relevant

_MISSING = """
    Smaller is better, 0 is the ideal ranking, and comparisons take it so. The u missing documents of a query (below the
    cutoff, too) end the collection, at ranks n-u+1, ..., n; without ``n``, a value with a missing document is infinite, and so
    is a mean with it. A query without relevant documents scores 0.
"""


class _SearchLength(Measure, register=False):
    """What both share: where the relevant documents stand, the missing ones at the end of the collection."""

    SMALLER_IS_BETTER: ClassVar[bool] = True
    params: dict[str, Any] = {"cutoff": cutoff(), "rel": rel(), "n": collection_size()}

    def _relevant(self, run: AlignedRun) -> Relevant:
        found = run.relevant(self["rel"], self["cutoff"])
        if self["n"] is not None:
            check_n(self, run, found.p_r + (found.m - found.r))
        return found


class SL3(_SearchLength):
    __doc__ = f"""Cooper's search length: nonrelevant documents above the last relevant one, SL3 = p_m - m.
    {_MISSING}
    SL3 of Diaz, Ekstrand, Mitra, TORS 2026, Section 3.2, doi 10.1145/3728373.

    >>> from ir_lexirecall import SL3
    >>> SL3.calc_aggregate({{"q": {{"a": 1, "b": 1}}}}, {{"q": {{"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}}}})
    2.0
    """

    PRETTY_NAME: ClassVar[str] = "Search Length of the Last Relevant Document"
    SHORT_DESC: ClassVar[str] = (
        "Nonrelevant documents that a user passes to find all relevant ones (smaller is better)."
    )
    ABOUT: ClassVar[About] = About(
        formula=r"\mathrm{SL3} = p_m - m",
        plain="SL3 = p_m - m",
        symbols=f"{RANKS}; missing documents end the collection of n, without n the value is infinite",
        values="0 to n - m, or infinite without n; smaller is better",
        zero="the ideal ranking, or a query without relevant documents",
        ties="the last relevant document stands at the same rank",
        use="when effort counts in documents: nonrelevant ones that a user passes to find everything; give n",
        example=Example("SL3", (1, 0, 0, 1), 2.0, "The last of m = 2 relevant documents has rank 4: 4 - 2 = 2."),
        source="cooper1968",
        see_also=("RE", "TSE"),
    )

    def score(self, run: AlignedRun) -> Floats:
        found = self._relevant(run)
        return search_length(found.m, found.r, found.p_r, n=self["n"])


class RE(_SearchLength):
    __doc__ = f"""Rocchio's recall error: mean rank of the relevant documents above the ideal, (1/m) sum p_i - (m+1)/2.
    {_MISSING}
    RE of Diaz, Ekstrand, Mitra, TORS 2026, Section 3.2, doi 10.1145/3728373.

    >>> from ir_lexirecall import RE
    >>> RE.calc_aggregate({{"q": {{"a": 1, "b": 1}}}}, {{"q": {{"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}}}})
    1.0
    """

    PRETTY_NAME: ClassVar[str] = "Recall Error"
    SHORT_DESC: ClassVar[str] = (
        "Mean rank of the relevant documents, above that of the ideal ranking (smaller is better)."
    )
    ABOUT: ClassVar[About] = About(
        formula=r"\mathrm{RE} = \frac{1}{m} \sum_{i=1}^{m} p_i - \frac{m + 1}{2}",
        plain="RE = (1/m) sum of p_i - (m + 1)/2",
        symbols=f"{RANKS}; the u missing documents stand at ranks n-u+1, ..., n, without n the value is infinite",
        values="0 to n - m, or infinite without n; smaller is better",
        zero="the ideal ranking, or a query without relevant documents",
        ties="the same mean rank of the relevant documents",
        use="when effort counts on average over the relevant documents, not for the last one; give n",
        example=Example("RE", (1, 0, 0, 1), 1.0, "Mean rank (1 + 4)/2 = 2.5, ideal (1 + 2)/2 = 1.5: 2.5 - 1.5 = 1."),
        source="rocchio1966",
        see_also=("SL3", "TSE", "AP"),
    )

    def score(self, run: AlignedRun) -> Floats:
        found = self._relevant(run)
        ranks = per_query_sum(found.query, found.rank, len(found.m))
        return recall_error(found.m, found.r, ranks, n=self["n"])


def search_length(m: np.ndarray, r: np.ndarray, p_r: np.ndarray, *, n: int | None) -> Floats:
    """SL3 = p_m - m, with p_m = n where a document is missing (infinite without ``n``); arrays of shape ``(Q,)``.

    ``m`` relevant documents, of which ``r`` were retrieved, the last one at rank ``p_r``.
    """
    return np.where(r == m, p_r, np.inf if n is None else n) - m.astype(np.float64) * (m > 0)


def recall_error(m: np.ndarray, r: np.ndarray, ranks: Floats, *, n: int | None) -> Floats:
    """RE = (1/m) sum p_i - (m+1)/2, the m - r missing documents at the end of ``n`` (infinite without); shape ``(Q,)``.

    ``ranks`` is the sum of the ranks of the ``r`` documents retrieved.
    """
    u = m - r
    bottom = np.where(u > 0, np.inf, 0.0) if n is None else u * (n - (u - 1) / 2)
    return np.divide(ranks + bottom, m, out=np.zeros(len(m)), where=m > 0) - np.where(m > 0, (m + 1) / 2, 0.0)
