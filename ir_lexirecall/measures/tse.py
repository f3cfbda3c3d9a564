"""How far a user reads to find everything: total search efficiency (Diaz et al., TORS 2026), and search lengths (Cooper, Rocchio)."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, per_query_sum
from ir_lexirecall._util.errors import and_more
from ir_lexirecall.measures.about import RANKS, About, Example
from ir_lexirecall.measures.declaration import UNIT, Measure
from ir_lexirecall.measures.parameters import COLLECTION_SIZE, Param, cutoff, persistence, rel

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun, Relevant


EXPOSURES = ("AP", "RR", "nDCG", "RBP", "linear")


def exposure(name: str, *, p: float, n: int | None) -> Callable[[Floats], Floats]:
    """The exposure model called ``name``; ``p`` belongs to RBP's and ``n``, the size of the collection, to the linear one.

    >>> exposure("nDCG", p=0.8, n=None)(np.array([1.0, 3.0, np.inf]))
    array([1. , 0.5, 0. ])
    """
    if name == "nDCG":
        return lambda rank: 1 / np.log2(rank + 1)
    if name == "RBP":
        return lambda rank: (1 - p) * p ** (rank - 1)
    if name == "linear":
        assert n is not None
        return lambda rank: 1 - rank / n
    return lambda rank: 1 / rank


class TSE(Measure):
    """Exposure of the last relevant document: how soon everything relevant has been seen.

    Total search efficiency: the exposure of the last relevant document, TSE = e(p_m).

    How soon is a user served who needs *every* relevant document? With the default exposure e(i) = 1/i it is
    the reciprocal rank of the last one. A missing relevant document sits at the bottom of the collection
    (``impute='pessimistic'``: rank n, infinity without ``n``), or follows the ranking at once (``'optimistic'``).
    ``normalize=True`` gives (e(p_m) - e(n)) / (e(m) - e(n)). Values lie in [0, 1].

    >>> from ir_lexirecall import TSE
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> run = {"q": {"a": 3.0, "x": 2.0, "y": 1.5, "b": 1.0}}
    >>> TSE.calc_aggregate(qrels, run), TSE(exposure="nDCG").calc_aggregate(qrels, run)
    (0.25, 0.43067...)
    """

    PRETTY_NAME: ClassVar[str] = "Total Search Efficiency"
    PAGE: ClassVar[str] = "recall"
    RANGE = UNIT
    FAMILY: ClassVar[str] = "binary"
    ABOUT = About(
        formula=r"\mathrm{TSE}_e = e(p_m), \quad e(i) = \frac{1}{i}",
        plain="TSE = e(p_m), by default e(i) = 1/i",
        symbols=f"{RANKS}; e(i): exposure of rank i (1/i, 1/log2(i+1), (1-p) p^(i-1) or 1 - i/n); a missing document has rank "
        "n, infinity without n (impute='pessimistic'), or follows the ranking at once ('optimistic')",
        zero="a relevant document is missing (with n, the value is e(n) instead), or the query has none",
        ties="the last relevant document stands at the same rank, whatever the others do; all rankings that miss one, without n",
        use="when a user needs every relevant document: reviews, patents, law; and to see the worst-off user or provider",
        example=Example("TSE", (1, 0, 0, 1), 1 / 4, "The last relevant document has rank 4: e(4) = 1/4."),
        source="diaz2026",
        see_also=("LexiRecall", "SL3", "RE", "R", "RR"),
    )
    params: dict[str, Any] = {
        "cutoff": cutoff(),
        "rel": rel(),
        "exposure": Param(
            str,
            "exposure of rank i: 'AP'='RR' 1/i, 'nDCG' 1/log2(i+1), 'RBP' (1-p)p^(i-1), 'linear' 1-i/n",
            default="AP",
            choices=EXPOSURES,
        ),
        "p": persistence(0.8, "persistence of the exposure 'RBP'"),
        "n": COLLECTION_SIZE,
        "impute": Param(
            str,
            "where missing relevant documents are: 'pessimistic' at rank n, 'optimistic' right below",
            default="pessimistic",
            choices=("pessimistic", "optimistic"),
        ),
        "normalize": Param(bool, "scale between the worst and the best value", default=False),
    }

    def check_together(self) -> None:
        if self["exposure"] == "linear" and self["n"] is None:
            raise ValueError(f"{self}: exposure='linear' needs n, the number of documents in the collection")

    def score(self, run: AlignedRun) -> Floats:
        n, k = self["n"], self["cutoff"]
        found = run.relevant(self["rel"], k)
        m, missing = found.m, found.m - found.r
        bottom: Any = np.inf if n is None else n  # where missing documents are
        if self["impute"] == "optimistic":
            bottom = (run.depth if k is None else np.minimum(run.depth, k)) + missing
        p_m = np.where(missing == 0, found.p_r, bottom).astype(np.float64)
        if n is not None:
            check_n(self, run, np.maximum(found.p_r + missing, np.where(m > 0, p_m, 0)))
        e, some = exposure(self["exposure"], p=self["p"], n=n), m > 0
        value = np.zeros(len(m))
        value[some] = e(p_m[some])
        if self["normalize"]:
            worst = 0.0 if n is None else float(e(np.array([float(n)]))[0])  # e(n)
            span = e(m[some].astype(np.float64)) - worst
            meet = span == 0
            value[some] = np.where(meet, 1.0, (value[some] - worst) / np.where(meet, 1.0, span))
        return value


class _SearchLength(Measure, register=False):
    """What both share: where the relevant documents stand, the missing ones at the end of the collection of n (or infinitely far)."""

    SMALLER_IS_BETTER: ClassVar[bool] = True
    RANGE = (0.0, inf)
    FAMILY: ClassVar[str] = "collections"
    PAGE: ClassVar[str] = "recall"
    params: dict[str, Any] = {"cutoff": cutoff(), "rel": rel(), "n": COLLECTION_SIZE}

    def _relevant(self, run: AlignedRun) -> Relevant:
        found = run.relevant(self["rel"], self["cutoff"])
        if self["n"] is not None:
            check_n(self, run, found.p_r + (found.m - found.r))
        return found


class SL3(_SearchLength):
    """Nonrelevant documents that a user passes to find all relevant ones (smaller is better).

    Cooper's search length: nonrelevant documents above the last relevant one, SL3 = p_m - m.

    Smaller is better, 0 is the ideal ranking, and comparisons take it so. The u missing documents of a query (below the
    cutoff, too) end the collection, at ranks n-u+1, ..., n; without ``n``, a value with a missing document is infinite, and so
    is a mean with it. A query without relevant documents scores 0.

    SL3 of Diaz, Ekstrand, Mitra, TORS 2026, Section 3.2, doi 10.1145/3728373.

    >>> from ir_lexirecall import SL3
    >>> SL3.calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}})
    2.0
    """

    PRETTY_NAME: ClassVar[str] = "Search Length of the Last Relevant Document"
    ABOUT = About(
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
        found, n = self._relevant(run), self["n"]
        return np.where(found.r == found.m, found.p_r, np.inf if n is None else n) - found.m.astype(np.float64)


class RE(_SearchLength):
    """Mean rank of the relevant documents, above that of the ideal ranking (smaller is better).

    Rocchio's recall error: mean rank of the relevant documents above the ideal, (1/m) sum p_i - (m+1)/2.

    Smaller is better, 0 is the ideal ranking; ``n`` and missing documents as in ``SL3``.

    RE of Diaz, Ekstrand, Mitra, TORS 2026, Section 3.2, doi 10.1145/3728373.

    >>> from ir_lexirecall import RE
    >>> RE.calc_aggregate({"q": {"a": 1, "b": 1}}, {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}})
    1.0
    """

    PRETTY_NAME: ClassVar[str] = "Recall Error"
    ABOUT = About(
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
        found, n = self._relevant(run), self["n"]
        m, u = found.m, found.m - found.r
        bottom = np.where(u > 0, np.inf, 0.0) if n is None else u * (n - (u - 1) / 2)
        ranks = per_query_sum(found.query, found.rank, len(m)) + bottom
        return np.divide(ranks, m, out=np.zeros(len(m)), where=m > 0) - np.where(m > 0, (m + 1) / 2, 0.0)


def check_n(measure: Measure, run: AlignedRun, needed: Ints | Floats) -> None:
    """Refuse an ``n`` below a rank in use."""
    over = np.flatnonzero(needed > measure["n"])
    if len(over):
        raise ValueError(
            f"{measure}: n={measure['n']} is smaller than rank {int(needed[over[0]])}, needed for query "
            f"{run.judgments.query_ids[over[0]]!r}{and_more(len(over) - 1)}; n is the size of the collection"
        )
