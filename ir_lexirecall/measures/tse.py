"""Total search efficiency: the exposure of the last relevant document (Diaz et al., TORS 2026)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ir_lexirecall.arrays import Floats, Ints
from ir_lexirecall.errors import and_more
from ir_lexirecall.measures import exposure
from ir_lexirecall.measures.base import Measure, Param, collection_size, cutoff, persistence, rel

if TYPE_CHECKING:
    from ir_lexirecall.alignment import AlignedRun


class TSE(Measure):
    """Total search efficiency: the exposure of the last relevant document, TSE = e(p_m).

    How soon is a user served who needs *every* relevant document? With the default exposure e(i) = 1/i it is
    the reciprocal rank of the last one. A missing relevant document sits at the bottom of the collection
    (``impute='pessimistic'``: rank n, infinity without ``n``), or follows the ranking at once (``'optimistic'``).
    ``normalize=True`` gives (e(p_m) - e(n)) / (e(m) - e(n)). Values lie in [0, 1].

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026,
    doi 10.1145/3728373.

    >>> from ir_lexirecall import TSE
    >>> qrels = {"q": {"a": 1, "b": 1}}
    >>> run = {"q": {"a": 3.0, "x": 2.0, "y": 1.5, "b": 1.0}}
    >>> TSE.calc_aggregate(qrels, run), TSE(exposure="nDCG").calc_aggregate(qrels, run)
    (0.25, 0.43067...)
    """

    PRETTY_NAME = "Total Search Efficiency"
    SHORT_DESC = "Exposure of the last relevant document: how soon everything relevant has been seen."
    FORMULA = "e(p_m)"
    SOURCE = "Diaz et al., TORS 2026"
    params = {
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
