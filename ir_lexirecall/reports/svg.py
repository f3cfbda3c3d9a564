"""Small pictures of a page, in their own units: scales for marks beside the rows of tables, and what a measure rewards."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.rounding import DIFFERENCE
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.plots.marks import Mark
from ir_lexirecall.reports.report_tables import minus

FOREST = {"width": 200, "height": 20}  # of the picture of a row
REWARD = {"width": 180, "height": 70}  # of a measure's picture
_MARGIN = 8
_RANKS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)
_LEFT, _BOTTOM, _TOP = 26, 14, 4  # around the curves
_FOUND = 3  # relevant documents of the query of the second curve


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


class Reward(NamedTuple):
    """Two curves, by the rank of a relevant document: the query's only one, and the last of three."""

    only: str
    last: str
    top: str
    bottom: str
    ranks: Sequence[tuple[float, str]]


def reward(measure: IRMeasure) -> Reward | None:
    """The picture of a measure; None for one that needs more than grades, or that is no number there.

    >>> from ir_measures import RR
    >>> reward(RR).top
    '1'
    """
    values = _values(measure)
    if values is None or not np.isfinite(values).all():
        return None
    low, high = min(0.0, float(values.min())), max(float(values.max()), 1e-9)

    def points(curve: np.ndarray, ranks: Sequence[int]) -> str:
        y = REWARD["height"] - _BOTTOM - (curve - low) / (high - low) * (REWARD["height"] - _BOTTOM - _TOP)
        return " ".join(f"{_x(rank):.1f},{at:.1f}" for rank, at in zip(ranks, y.tolist(), strict=True))

    split = len(_RANKS)
    return Reward(
        only=points(values[:split], _RANKS),
        last=points(values[split:], _RANKS[_FOUND - 1 :]),
        top=minus(f"{high:.3g}"),
        bottom=minus(f"{low:.3g}"),
        ranks=[(_x(rank), str(rank)) for rank in (1, 10, 100)],
    )


def _x(rank: int) -> float:
    share = np.log(rank) / np.log(_RANKS[-1])
    return round(float(_LEFT + share * (REWARD["width"] - _LEFT - 2 * _TOP)), 1)


def _values(measure: IRMeasure) -> np.ndarray | None:
    """The values on made-up rankings of 100 documents, the first curve's before the second's."""
    given = [measure[name] for name in ("max_rel", "rel") if name in measure.SUPPORTED_PARAMS]
    grade = max([1, *(int(number) for number in given if isinstance(number, (int, float)))])
    placed = [[rank] for rank in _RANKS] + [[*range(1, _FOUND), rank] for rank in _RANKS[_FOUND - 1 :]]
    qrels, run = {}, {}
    for number, ranks in enumerate(placed):
        query = f"q{number:03}"
        run[query] = {f"d{rank}": float(-rank) for rank in range(1, _RANKS[-1] + 1)}
        qrels[query] = {f"d{rank}": grade for rank in ranks}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scored = ScoredRuns.from_runs({"measure": measure}, qrels, {"run": run}, progress=False)
    except (ValueError, KeyError, TypeError):  # it needs subtopics, aspects, the collection's size
        return None
    values: np.ndarray = scored.values["measure"][0]
    return values
