"""Axes to draw on."""

from __future__ import annotations

import sys
from typing import Any


def new_axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes that the user passed, or new ones of a size in inches."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ModuleNotFoundError("pictures need matplotlib: pip install 'ir-lexirecall[plots]'") from None
    if "matplotlib.pyplot" in sys.modules:  # somebody is drawing interactively
        return sys.modules["matplotlib.pyplot"].subplots(figsize=size, layout="constrained")[1]
    return Figure(figsize=size, layout="constrained").subplots()
