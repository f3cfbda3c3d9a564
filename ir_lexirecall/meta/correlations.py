"""Correlation of measures over runs and queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice, entry
from ir_lexirecall._util.lazy import stats
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import QrelsLike
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.meta.decisions import Decisions, means
from ir_lexirecall.meta.result import study

BY = ("values", "runs")


COEFFICIENTS: dict[str, Callable[[Floats, Floats], Any]] = {
    "pearson": lambda x, y: stats.pearsonr(x, y),
    "spearman": lambda x, y: stats.spearmanr(x, y),
    "kendall": lambda x, y: stats.kendalltau(x, y),
    # Vigna's: an exchange weighs the sum of 1 / (s + 1) over the two places s = 0, 1, ..., averaged over both orders.
    "top_weighted_kendall": lambda x, y: stats.weightedtau(
        x, y, rank=True, weigher=lambda s: 1 / (s + 1), additive=True
    ),
}


def coefficient(name: str, x: Floats, y: Floats) -> float:
    """A coefficient of correlation; NaN where one side is constant or not finite, or there are fewer than two points."""
    if len(x) < 2 or np.all(x == x[0]) or np.all(y == y[0]):
        return float("nan")
    if name == "pearson" and not (np.isfinite(x).all() and np.isfinite(y).all()):
        return float("nan")
    return float(COEFFICIENTS[name](x, y).statistic)


@entry
def correlation(
    measures: MeasuresLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    *,
    by: str = "values",
    rel: float = 1,
    cutoff: int | None = None,
    allow_empty: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Correlation of every two measures over runs and queries.

    Coefficients: Pearson's r, Spearman's rho, Kendall's tau (tau-b), and top-weighted Kendall: scipy's ``weightedtau``,
    in which an exchange of places s and s' (from 0, best first) weighs 1/(s+1) + 1/(s'+1). A measure whose smaller value is
    better counts with the opposite sign, so that measures that agree correlate positively.

    Args:
        measures: measures or strings; preferences (``'lexirecall'``, ...) count as the mean preference of a run over all
            others.
        by: ``'values'``: a point is a run on a query; ``'runs'``: a point is a run's mean over the queries.
        qrels, runs, rel, cutoff, allow_empty, progress: as in ``ties``.

    Returns:
        A row per pair of measures: ``measure_a``, ``measure_b``, ``points``, ``pearson``, ``spearman``, ``kendall``,
        ``top_weighted_kendall`` (NaN where a measure is constant).

    Raises:
        ValueError: bad input, fewer than two measures or runs, or another ``by``.

    Source: Azzopardi, Mackenzie, Moffat, ERR is not C/W/L, ICTIR 2021, doi 10.1145/3471158.3472239.

    >>> from ir_lexirecall import demo
    >>> table = correlation(["AP", "RR"], demo.qrels(), demo.runs(), by="runs")
    >>> table["points"].tolist(), bool(table["kendall"][0] <= 1)
    ([5], True)
    """
    check_choice("by", by, BY)
    decisions = Decisions.from_runs(measures, qrels, runs, rel, cutoff, allow_empty, progress, least_measures=2)
    at = {label: points(decisions.rising(label), by) for label in decisions.labels}
    rows = [
        {"measure_a": a, "measure_b": b, "points": len(at[a])}
        | {name: coefficient(name, at[a], at[b]) for name in COEFFICIENTS}
        for a, b in combinations(at, 2)
    ]
    return study(pd.DataFrame(rows), "correlation", by=by, **decisions.provenance)


def points(values: Floats, by: str) -> Floats:
    """What is correlated: all values, or their means over the queries (the last axis)."""
    return values.ravel() if by == "values" else means(values)
