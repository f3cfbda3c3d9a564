"""Exposure e(i): how much attention rank ``i`` gets. The one table of exposure models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ir_lexirecall._util.arrays import Floats


def reciprocal(rank: Floats) -> Floats:
    """e(i) = 1 / i, the exposure behind average precision and reciprocal rank."""
    return 1 / rank


def logarithmic(rank: Floats) -> Floats:
    """e(i) = 1 / log2(i + 1), the discount of nDCG."""
    return 1 / np.log2(rank + 1)


def geometric(rank: Floats, p: float) -> Floats:
    """e(i) = (1 - p) p^(i - 1), the weights of rank-biased precision."""
    return (1 - p) * p ** (rank - 1)


def linear(rank: Floats, n: int) -> Floats:
    """e(i) = 1 - i / n, falling to 0 at the end of a collection of ``n`` documents."""
    return 1 - rank / n


NAMES = ("AP", "RR", "nDCG", "RBP", "linear")


def exposure(name: str, *, p: float, n: int | None) -> Callable[[Floats], Floats]:
    """The exposure model called ``name``; ``p`` belongs to RBP's and ``n`` to the linear one.

    >>> exposure("nDCG", p=0.8, n=None)(np.array([1.0, 3.0, np.inf]))
    array([1. , 0.5, 0. ])
    """
    if name == "RBP":
        return lambda rank: geometric(rank, p)
    if name == "linear":
        assert n is not None
        return lambda rank: linear(rank, n)
    return logarithmic if name == "nDCG" else reciprocal
