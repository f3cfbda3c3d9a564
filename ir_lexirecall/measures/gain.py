"""Gain of a grade: the one mapping that the C/W/L measures, ERR and RBU share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall.arrays import Floats

NAMES = ("exp", "linear")


def gain(grade: Floats, max_rel: float | NDArray[Any], kind: str) -> Floats:
    """``'exp'``: (2^g - 1) / 2^max_rel; ``'linear'``: g / max_rel. A negative grade counts as 0.

    >>> gain(np.array([-2.0, 0.0, 1.0, 2.0]), 2, "exp")
    array([0.  , 0.  , 0.25, 0.75])
    """
    g = np.maximum(grade, 0)
    return g / max_rel if kind == "linear" else (np.exp2(g) - 1) / np.exp2(max_rel)
