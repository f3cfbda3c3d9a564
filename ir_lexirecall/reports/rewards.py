"""What a measure rewards, as a small picture: its value as a relevant document moves down a ranking."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.reports.cells import minus

RANKS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100)
WIDTH, HEIGHT = 180, 70  # of the picture, in its own units
_LEFT, _BOTTOM, _MARGIN = 26, 14, 4
_FOUND = 3  # relevant documents of the query of the second curve


@dataclass(frozen=True)
class Reward:
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
        y = HEIGHT - _BOTTOM - (curve - low) / (high - low) * (HEIGHT - _BOTTOM - _MARGIN)
        return " ".join(f"{_x(rank):.1f},{at:.1f}" for rank, at in zip(ranks, y.tolist(), strict=True))

    split = len(RANKS)
    return Reward(
        only=points(values[:split], RANKS),
        last=points(values[split:], RANKS[_FOUND - 1 :]),
        top=minus(f"{high:.3g}"),
        bottom=minus(f"{low:.3g}"),
        ranks=[(_x(rank), str(rank)) for rank in (1, 10, 100)],
    )


def _x(rank: int) -> float:
    share = np.log(rank) / np.log(RANKS[-1])
    return round(float(_LEFT + share * (WIDTH - _LEFT - 2 * _MARGIN)), 1)


def _values(measure: IRMeasure) -> np.ndarray | None:
    """The values on made-up rankings of 100 documents, the first curve's before the second's."""
    given = [measure[name] for name in ("max_rel", "rel") if name in measure.SUPPORTED_PARAMS]
    grade = max([1, *(int(number) for number in given if isinstance(number, (int, float)))])
    placed = [[rank] for rank in RANKS] + [[*range(1, _FOUND), rank] for rank in RANKS[_FOUND - 1 :]]
    qrels, run = {}, {}
    for number, ranks in enumerate(placed):
        query = f"q{number:03}"
        run[query] = {f"d{rank}": float(-rank) for rank in range(1, RANKS[-1] + 1)}
        qrels[query] = {f"d{rank}": grade for rank in ranks}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scored = ScoredRuns.from_runs({"measure": measure}, qrels, {"run": run}, progress=False)
    except (ValueError, KeyError, TypeError):  # it needs subtopics, aspects, the collection's size
        return None
    values: np.ndarray = scored.values["measure"][0]
    return values
