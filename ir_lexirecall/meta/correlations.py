"""Correlation of measures over runs and queries."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import stats
from ir_lexirecall.meta.decisions import Decisions, Signs, means
from ir_lexirecall.meta.records import ON_RUNS, Headline, Option, recorded, study
from ir_lexirecall.plots.studies import Matrix

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


def coefficient_of(name: str, x: Floats, y: Floats) -> float:
    """A coefficient of correlation; NaN where one side is constant or not finite, or there are fewer than two points."""
    if len(x) < 2 or np.all(x == x[0]) or np.all(y == y[0]):
        return float("nan")
    if name == "pearson" and not (np.isfinite(x).all() and np.isfinite(y).all()):
        return float("nan")
    return float(COEFFICIENTS[name](x, y).statistic)


def tau_b(x: Signs, y: Signs) -> Floats:
    """Kendall's tau-b of every column from the signs of the differences of all pairs, shape ``(P, Q)``; NaN: undefined.

    >>> tau_b(np.array([[1], [1], [1]], dtype=np.int8), np.array([[1], [1], [-1]], dtype=np.int8)).round(3)
    array([0.333])
    """
    decided = np.sqrt((x != 0).sum(axis=0) * (y != 0).sum(axis=0))
    return (x * y).sum(axis=0) / np.where(decided > 0, decided, np.nan)


@study(
    "Correlation of measures",
    Headline("kendall", "Kendall's tau", "most alike", "least alike"),
    Matrix("How alike measures order the runs: Kendall's tau"),
    example="qrels.txt *.run -m LR AP nDCG",
    runs=ON_RUNS,
    options={"by": Option("what a point is: values (of a run on a query; the default) or runs")},
)
def correlation(self: Decisions, *, by: str = "values") -> pd.DataFrame:
    """Correlation of every two measures over runs and queries.

    Coefficients: Pearson's r, Spearman's rho, Kendall's tau (tau-b), and top-weighted Kendall: scipy's ``weightedtau``,
    in which an exchange of places s and s' (from 0, best first) weighs 1/(s+1) + 1/(s'+1). A measure whose smaller value is
    better counts with the opposite sign, so that measures that agree correlate positively. Preferences (``'lexirecall'``, ...)
    count as the mean preference of a run over all others.

    Args:
        by: ``'values'``: a point is a run on a query; ``'runs'``: a point is a run's mean over the queries.

    Returns:
        A row per pair of measures: ``measure_a``, ``measure_b``, ``points``, ``pearson``, ``spearman``, ``kendall``,
        ``top_weighted_kendall`` (NaN where a measure is constant).

    Raises:
        ValueError: fewer than two measures or runs, or another ``by``.

    Source: Azzopardi, Mackenzie, Moffat, ERR is not C/W/L, ICTIR 2021, doi 10.1145/3471158.3472239.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> table = Study(["AP", "RR"], demo.qrels(), demo.runs()).correlation(by="runs")
    >>> table["points"].tolist(), bool(table["kendall"][0] <= 1)
    ([5], True)
    """
    check_choice("by", by, BY)
    self.check(measures=2)
    pick = np.ravel if by == "values" else means
    at = {label: pick(self.rising(label)) for label in self.labels}
    rows = [
        {"measure_a": a, "measure_b": b, "points": len(at[a])}
        | {name: coefficient_of(name, at[a], at[b]) for name in COEFFICIENTS}
        for a, b in combinations(at, 2)
    ]
    return recorded(pd.DataFrame(rows), "correlation", by=by, **self.provenance)


@study(
    "Kendall's tau between the orders in which two measures put the runs, query by query",
    Headline("kendall", "mean of Kendall's tau", "most alike", "least alike"),
    Matrix("How alike measures order the runs of a query: mean Kendall's tau"),
)
def per_query_kendall(self: Decisions) -> pd.DataFrame:
    """Kendall's tau between the orders in which two measures put the runs, query by query.

    Tau is tau-b; queries on which a measure gives all runs the same value have none and are left out. A run's mean preference
    over all others orders it by a preference.

    Returns:
        A row per pair of measures: ``measure_a``, ``measure_b``, ``queries`` (with a tau), ``kendall`` (the mean),
        ``smallest``, ``largest``.

    Raises:
        ValueError: fewer than two measures or runs.

    Source: Maistro, Chaves Lima, Simonsen, Lioma, Principled Multi-Aspect Evaluation Measures of Rankings, CIKM 2021,
    doi 10.1145/3459637.3482287.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> Study(["AP", "nDCG"], demo.qrels(), demo.runs()).per_query_kendall()["queries"].tolist()
    [16]
    """
    self.check(measures=2)
    signs = {label: self.value_signs(label) for label in self.labels}
    rows = []
    for a, b in combinations(signs, 2):
        tau = tau_b(signs[a], signs[b])
        tau = tau[~np.isnan(tau)]
        mean, least, most = map(float, (tau.mean(), tau.min(), tau.max()) if len(tau) else (np.nan,) * 3)
        row = {"measure_a": a, "measure_b": b, "queries": len(tau)}
        rows.append(row | {"kendall": mean, "smallest": least, "largest": most})
    return recorded(pd.DataFrame(rows), "per_query_kendall", **self.provenance)
