"""Total search efficiency: the exposure of the last relevant document (Diaz et al., TORS 2026)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.errors import and_more
from ir_lexirecall.measures import exposure
from ir_lexirecall.measures.about import RANKS, About, Example
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parameters import Param, collection_size, cutoff, persistence, rel

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


class TSE(Measure):
    """Total search efficiency: the exposure of the last relevant document, TSE = e(p_m).

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
    SHORT_DESC: ClassVar[str] = "Exposure of the last relevant document: how soon everything relevant has been seen."
    ABOUT: ClassVar[About] = About(
        formula=r"\mathrm{TSE}_e = e(p_m), \quad e(i) = \frac{1}{i}",
        plain="TSE = e(p_m), by default e(i) = 1/i",
        symbols=f"{RANKS}; e(i): exposure of rank i (1/i, 1/log2(i+1), (1-p) p^(i-1) or 1 - i/n); a missing document has rank "
        "n, infinity without n (impute='pessimistic'), or follows the ranking at once ('optimistic')",
        values="0 to 1",
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
            choices=exposure.NAMES,
        ),
        "p": persistence(0.8, "persistence of the exposure 'RBP'"),
        "n": collection_size(),
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
        depth = run.depth if k is None else np.minimum(run.depth, k)
        p_m = last_rank(found.m, found.r, found.p_r, depth, n=n, optimistic=self["impute"] == "optimistic")
        if n is not None:
            check_n(self, run, np.maximum(found.p_r + (found.m - found.r), np.where(found.m > 0, p_m, 0)))
        e = exposure.exposure(self["exposure"], p=self["p"], n=n)
        return total_search_efficiency(found.m, p_m, e, n=n, normalize=self["normalize"])


def check_n(measure: Measure, run: AlignedRun, needed: Ints | Floats) -> None:
    """Refuse an ``n`` below a rank in use."""
    over = np.flatnonzero(needed > measure["n"])
    if len(over):
        raise ValueError(
            f"{measure}: n={measure['n']} is smaller than rank {int(needed[over[0]])}, needed for query "
            f"{run.judgments.query_ids[over[0]]!r}{and_more(len(over) - 1)}; n is the size of the collection"
        )


def last_rank(m: Ints, r: Ints, p_r: Ints, depth: Ints, *, n: int | None, optimistic: bool) -> Floats:
    """p_m, the rank of the last relevant document of each query (all arrays of shape ``(Q,)``).

    ``m`` relevant documents, of which ``r`` were retrieved, the last one at rank ``p_r``. The missing ones
    follow the ranking at once (``optimistic``), or end the collection: rank ``n``, infinity without ``n``.
    """
    bottom = depth + (m - r) if optimistic else (np.inf if n is None else n)
    return np.where(r == m, p_r, bottom).astype(np.float64)


def total_search_efficiency(
    m: Ints, p_m: Floats, e: Callable[[Floats], Floats], *, n: int | None, normalize: bool
) -> Floats:
    """TSE_e = e(p_m); normalised, (e(p_m) - e(n)) / (e(m) - e(n)), where e(n) = 0 without ``n``.

    ``m`` and ``p_m`` have shape ``(Q,)``; a query with m = 0 scores 0.
    """
    some = m > 0
    value = np.zeros(len(m))
    value[some] = e(p_m[some])
    if normalize:
        worst = 0.0 if n is None else float(e(np.array([float(n)]))[0])
        best = e(m[some].astype(np.float64))
        span = best - worst
        meet = span == 0
        value[some] = np.where(meet, 1.0, (value[some] - worst) / np.where(meet, 1.0, span))
    return value
