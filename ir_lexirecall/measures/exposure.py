"""Exposure e(i): how much attention rank ``i`` gets. The one table of exposure models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ir_lexirecall._util.arrays import Floats

NAMES = ("AP", "RR", "nDCG", "RBP", "linear")


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
