"""Forests: numbers with their intervals as marks on a common scale, a small picture for each row of a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.reports.cells import minus

WIDTH, HEIGHT = 200, 20  # of the picture of a row, in its own units
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
        ticks = step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
        return cls(low, high, [float(round(tick, 10)) + 0.0 for tick in ticks])

    def x(self, number: float) -> float:
        """Where a number stands, from the margin on the left to that on the right."""
        share = (min(max(number, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_MARGIN + share * (WIDTH - 2 * _MARGIN), 1)

    def labels(self) -> list[tuple[float, str]]:
        """The round numbers with their places."""
        return [(self.x(tick), minus(f"{tick:g}")) for tick in self.ticks]


@dataclass(frozen=True)
class Mark:
    """A number with an interval, drawn: places on a scale, None for what is not finite.

    Attributes:
        inner: places of the ends of a narrower interval.
        kind: how it is drawn: ``'leads'``, ``'may'`` (be the best), ``'rest'``; ``'better'``, ``'worse'``, ``'undecided'``, with
            ``'all'`` over collections; or plain.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    inner: tuple[float, float] | None = None
    kind: str = ""

    @classmethod
    def on(cls, scale: Scale, value: float, low: float = np.nan, high: float = np.nan, kind: str = "") -> Mark:
        """The mark of a number on a scale."""
        at, left, right = (scale.x(number) if np.isfinite(number) else None for number in (value, low, high))
        return cls(at, left, right, kind=kind)

    @classmethod
    def of_verdict(cls, scale: Scale, row: Any, outer: tuple[float, float] | None = None) -> Mark:
        """The mark of a tested difference, from a row of a table with verdicts: filled where it is significant.

        With an outer interval, its own is the inner one.
        """
        kind = str(row.verdict) if row.verdict in (BETTER, WORSE) else "undecided"
        mark = cls.on(scale, row.estimate, row.ci_low, row.ci_high, kind)
        if outer is None or mark.low is None or mark.high is None:
            return mark
        low, high = min(mark.low, scale.x(outer[0])), max(mark.high, scale.x(outer[1]))
        return replace(mark, low=low, high=high, inner=(mark.low, mark.high))

    @classmethod
    def of_rank(cls, scale: Scale, place: int, row: Any) -> Mark:
        """The mark of a rank with its intervals, from a row of ``Benchmark.overall``."""
        inner = (scale.x(row.rank_from), scale.x(row.rank_to))
        return cls(scale.x(place), scale.x(row.rank_low), scale.x(row.rank_high), inner)
