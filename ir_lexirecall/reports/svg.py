"""Scales of the small pictures of a page: marks beside the rows of tables, in units of their own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.rounding import DIFFERENCE
from ir_lexirecall.plots.marks import Mark
from ir_lexirecall.reports.report_tables import minus

FOREST = {"width": 200, "height": 20}  # of the picture of a row
_MARGIN = 8


@dataclass(frozen=True)
class Scale:
    """A range of numbers across the width of a picture, with a few round numbers on it."""

    low: float
    high: float
    ticks: Sequence[float]

    @classmethod
    def around(cls, numbers: Iterable[float], include: Sequence[float] = ()) -> Scale:
        """The scale that shows all numbers (those that are finite), and some more.

        >>> Scale.around([0.21, 0.68]).ticks
        [0.4, 0.6]
        >>> Scale.around([-0.3, 0.1], include=[0]).ticks
        [-0.3, -0.2, -0.1, 0.0, 0.1]
        """
        finite = [float(x) for x in (*numbers, *include) if np.isfinite(x)] or [0.0, 1.0]
        low, high = min(finite), max(finite)
        if low == high:
            low, high = low - 0.5, high + 0.5
        step = 10.0 ** np.floor(np.log10((high - low) / 2))
        while (high - low) / step > 4:
            step *= 2 if (high - low) / step <= 8 else 2.5
        ticks = step * np.arange(np.ceil(low / step - DIFFERENCE), np.floor(high / step + DIFFERENCE) + 1)
        return cls(low, high, [float(round(tick, 10)) + 0.0 for tick in ticks])

    @classmethod
    def of(cls, marks: Iterable[Mark], include: Sequence[float] = ()) -> Scale:
        """The scale that shows all marks."""
        return cls.around((end for mark in marks for end in (mark.value, mark.low, mark.high)), include)

    def x(self, number: float) -> float | None:
        """Where a number stands, from the margin on the left to that on the right; None for what is not finite."""
        if not np.isfinite(number):
            return None
        share = (min(max(number, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_MARGIN + share * (FOREST["width"] - 2 * _MARGIN), 1)

    def labels(self) -> list[tuple[float | None, str]]:
        """The round numbers with their places."""
        return [(self.x(tick), minus(f"{tick:g}")) for tick in self.ticks]
