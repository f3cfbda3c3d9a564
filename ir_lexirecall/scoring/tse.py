"""Total search efficiency: the exposure of the last relevant document (Diaz et al., TORS 2026)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ir_lexirecall.scoring.arrays import Floats, Ints


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
