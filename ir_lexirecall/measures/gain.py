"""Gain of a grade: the one mapping that the C/W/L measures, ERR and RBU share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats

NAMES = ("exp", "linear")


_LARGE = 1000  # from this top grade on, powers of 2 could leave the range of floats


def gain(grade: Floats, max_rel: float | NDArray[Any], kind: str) -> Floats:
    """``'exp'``: (2^g - 1) / 2^max_rel; ``'linear'``: g / max_rel. A negative grade counts as 0.

    >>> gain(np.array([-2.0, 0.0, 1.0, 2.0]), 2, "exp")
    array([0.  , 0.  , 0.25, 0.75])
    >>> gain(np.array([1999.0, 2000.0]), 2000, "exp")
    array([0.5, 1. ])
    """
    g, top = np.maximum(grade, 0), np.asarray(max_rel, dtype=np.float64)
    if kind == "linear":
        return g / top
    units, scale = in_units(g, top)
    return units / scale


def in_units(g: Floats, top: Floats) -> tuple[Floats, Floats]:
    """The exponential gains of grades of at least 0 before the division: 2^g - 1 (whole for whole grades), and 2^top.

    Where a power of 2 could leave the range of floats, both are divided by 2^top.
    """
    large = top >= _LARGE
    if not large.any():
        return np.exp2(g) - 1, np.exp2(top)
    small = np.where(large, 0, top)
    units = np.exp2(np.where(large, 0, g)) - 1
    return np.where(large, np.exp2(g - top) - np.exp2(-top), units), np.exp2(small)
