"""How far documents of equal score can move values: the range over orders of theirs, and what is said of it."""

from __future__ import annotations

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.measures.scoring import aggregate, values

NOTABLE = 0.005  # by which ties must be able to change a mean to be worth a warning


def tie_range(measure: IRMeasure, run: AlignedRun, value: Floats) -> tuple[Floats, Floats]:
    """Lowest and highest values of a measure, shape ``(Q,)``, over three orders of documents with equal scores.

    trec_eval's order, of which ``value`` are the values, and the best and the worst grades first. For a measure that never falls
    when a better document moves up, no other order gives a value beyond.

    >>> from ir_lexirecall.data.judgments import Judgments
    >>> from ir_lexirecall.data.alignment import align
    >>> from ir_measures import RR
    >>> run = align(Judgments.from_qrels({"q": {"a": 1, "b": 0}}), {"q": {"a": 1.0, "b": 1.0}})
    >>> tie_range(RR, run, values(RR, run))
    (array([0.5]), array([1.]))
    """
    low, high = value.copy(), value.copy()
    if run.ties is not None:
        query, *orders = run.tied_queries()
        moved = [value[query], *(values(measure, order) for order in orders)]
        low[query], high[query] = np.minimum.reduce(moved), np.maximum.reduce(moved)
    return low, high


def tie_warning(name: str, measure: IRMeasure, low: Floats, high: Floats) -> str | None:
    """That ties could change the mean of a measure by more than 0.005, in words; None where they cannot."""
    lowest, highest = aggregate(measure, low), aggregate(measure, high)
    if not highest - lowest > NOTABLE:
        return None
    return (
        f"documents of equal score put {name} anywhere from {lowest:.3f} to {highest:.3f} ({int((low < high).sum())} queries); "
        "give them different scores, or see tie_audit."
    )
