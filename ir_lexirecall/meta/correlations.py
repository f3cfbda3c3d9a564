"""Correlation of measures over runs and queries, and the parameter with which a measure comes closest to another one."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice, is_number
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import stats
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.measures import scoring
from ir_lexirecall.measures.parsing import MeasureLike, parse_one
from ir_lexirecall.meta.decisions import Decisions, Signs, means, parse_labels, parse_measures_for, rising
from ir_lexirecall.meta.records import ON_RUNS, Headline, Option, recorded, study
from ir_lexirecall.plots.studies import Curve, Matrix
from ir_lexirecall.present.findings import Finding
from ir_lexirecall.present.text import count, format_number

BY = ("values", "runs")
_SCAN = 16  # values of a parameter that are tried before the best one is refined
_BY = {"by": Option("what a point is: values (of a run on a query; the default) or runs")}


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
    options=_BY,
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
    at = {label: _points(self.rising(label), by) for label in self.labels}
    rows = [
        {"measure_a": a, "measure_b": b, "points": len(at[a])}
        | {name: coefficient_of(name, at[a], at[b]) for name in COEFFICIENTS}
        for a, b in combinations(at, 2)
    ]
    return recorded(pd.DataFrame(rows), "correlation", by=by, **self.provenance)


def _points(values: Floats, by: str) -> Floats:
    """What is correlated: all values, or their means over the queries (the last axis)."""
    return values.ravel() if by == "values" else means(values)


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


def _closest(table: pd.DataFrame) -> Finding:
    """The best value of a parameter."""
    attrs = table.attrs
    found = format_number(float(attrs.get("correlation", math.nan)), 4)
    return Finding(
        [
            f"{attrs.get('parameter')} of {attrs.get('measure')} to {attrs.get('target')}.",
            f"Of {count(len(table), 'value')} tried, {attrs.get('best')} is closest ({attrs.get('coefficient')} {found}).",
        ]
    )


@study(
    "Parameter with which a measure correlates best with another one",
    _closest,
    Curve(
        "The value that correlates best is marked",
        "value",
        "{parameter} of {measure}",
        "best",
        value="correlation",
        meaning="{coefficient} with {target}",
    ),
    example="qrels.txt *.run -m \"TSE(exposure='RBP')\" --target AP --parameter p --bounds 0.1 0.99",
    measures="measure",
    options={
        "target": Option("measure or preference to match", "measure", required=True),
        "parameter": Option("name of the parameter to fit", required=True),
        "grid": Option("values of the parameter to try", "value", several=True, shown="VALUE"),
        "bounds": Option("range of the parameter", float, several=2, shown=("LOW", "HIGH")),
        "coefficient": Option("pearson (the default), spearman, kendall or top_weighted_kendall"),
    }
    | _BY,
    runs=ON_RUNS,
)
def fit(
    self: Decisions,
    measure: MeasureLike,
    target: MeasureLike,
    parameter: str,
    *,
    grid: Iterable[Any] | None = None,
    bounds: tuple[float, float] | None = None,
    by: str = "values",
    coefficient: str = "pearson",
) -> pd.DataFrame:
    """Find the value of a parameter with which a measure correlates best with another measure.

    A measure whose smaller value is better counts with the opposite sign. The study's own measures take no part.

    Args:
        measure: the measure to fit, with its other parameters.
        target: the measure, or preference, to come close to.
        parameter: name of the parameter.
        grid: values to try; or else
        bounds: the smallest and the largest value. Of an integer (a cutoff), all from the one to the other are tried; of
            a number, evenly spread values between them, and the best one is refined (scipy's bounded
            ``minimize_scalar``; the bounds themselves are not tried).
        by: as in ``correlation``.
        coefficient: what to maximise: ``'pearson'``, ``'spearman'``, ``'kendall'`` or ``'top_weighted_kendall'``.

    Returns:
        A row per value tried, in their order: ``parameter``, ``value``, ``correlation``, ``best``; ``attrs`` hold the
        ``best`` value and its ``correlation``.

    Raises:
        ValueError: no such parameter or coefficient, a value out of range, or not one of grid and bounds.

    Source: Azzopardi, Mackenzie, Moffat, ERR is not C/W/L, ICTIR 2021, doi 10.1145/3471158.3472239.

    >>> from ir_lexirecall import demo
    >>> from ir_lexirecall.meta import Study
    >>> measure, target = "TSE(exposure='RBP')", "TSE(exposure='RBP',p=0.9)"
    >>> Study((), demo.qrels(), demo.runs()).fit(measure, target, "p", grid=[0.8, 0.9, 0.95]).attrs["best"]
    0.9
    """
    check_choice("by", by, BY)
    check_choice("coefficient", coefficient, COEFFICIENTS)
    if (grid is None) == (bounds is None):
        raise ValueError("give either a grid of values or bounds")
    base = _base(measure, parameter)
    if not isinstance(parameter, str) or parameter not in base.SUPPORTED_PARAMS:
        known = ", ".join(base.SUPPORTED_PARAMS) or "none"
        raise ValueError(f"{base} has no parameter {parameter!r}; it has {known}")
    whole = base.SUPPORTED_PARAMS[parameter].dtype is int
    low, high = 0.0, 1.0
    if bounds is not None:
        try:
            low, high = (float(value) for value in bounds)
        except (TypeError, ValueError):
            low = high = math.nan
        if not -math.inf < low < high < math.inf:
            raise ValueError(f"bounds must be two numbers, the smaller one first, not {bounds!r}")
    candidates: list[Any]
    if grid is not None:
        if isinstance(grid, str) or not isinstance(grid, Iterable):
            raise ValueError(f"the grid must be a list of values, not {grid!r}")
        candidates = [value.item() if isinstance(value, np.generic) else value for value in grid]
        if odd := [value for value in candidates if not isinstance(value, (str, numbers.Real))]:
            raise ValueError(f"the grid holds {odd[0]!r}, which is neither a number nor a text")
        if not candidates:
            raise ValueError("the grid is empty")
        if base.SUPPORTED_PARAMS[parameter].dtype is float:  # ir_measures does not take 2 for 2.0
            candidates = [float(value) if is_number(value) else value for value in candidates]
    elif whole:
        candidates = list(range(math.ceil(low), math.floor(high) + 1))
        if not candidates:
            raise ValueError(f"no integer lies between the bounds {low:g} and {high:g}")
    else:
        candidates = (low + (high - low) * (np.arange(_SCAN) + 0.5) / _SCAN).tolist()
    of_target = self.with_measures(parse_labels([target]))
    of_target.check()
    wanted = _points(of_target.rising(next(iter(of_target.labels))), by)
    tried: dict[Any, float] = {}

    def correlate(value: Any) -> float:
        if value not in tried:
            candidate = next(iter(parse_measures_for([base(**{parameter: value})]).values()))
            values = np.stack([scoring.values(candidate, run) for run in self.aligned.runs.values()])
            tried[value] = coefficient_of(
                coefficient, _points(rising(candidate, values[:, of_target.queries]), by), wanted
            )
        return tried[value]

    for value in progress_bar(self.progress, candidates, desc=parameter):
        correlate(value)
    if bounds is not None and not whole:
        from scipy.optimize import minimize_scalar

        best, step = _best(tried), (high - low) / _SCAN
        minimize_scalar(
            lambda value: -np.nan_to_num(correlate(float(value)), nan=-np.inf),
            bounds=(max(low, best - step), min(high, best + step)),
            method="bounded",
            options={"xatol": 1e-6 * (high - low)},
        )
    best = _best(tried)
    table = pd.DataFrame({"parameter": parameter, "value": list(tried), "correlation": list(tried.values())})
    table["best"] = table["value"] == best
    facts: dict[str, Any] = {"measure": str(base), "target": str(target), "parameter": parameter, "by": by}
    facts["coefficient"] = coefficient
    facts |= {"grid": None if grid is None else candidates, "bounds": None if bounds is None else (low, high)}
    facts |= {"best": best, "correlation": tried[best]}
    of_runs = {name: value for name, value in of_target.provenance.items() if name != "measures"}
    return recorded(table.sort_values("value", ignore_index=True), "fit", **facts, **of_runs)


def _base(measure: MeasureLike, parameter: str) -> IRMeasure:
    """The measure to fit, which may lack the parameter even where that is required."""
    try:
        return next(iter(parse_measures_for([measure]).values()))
    except ValueError:
        try:
            base = parse_one(measure)
            needs = base.SUPPORTED_PARAMS[parameter].required
        except (ValueError, KeyError):
            needs = False
        if not needs or parameter in base.params:
            raise
        return base


def _best(tried: Mapping[Any, float]) -> Any:
    """The value with the largest correlation; the first one tried of equals."""
    defined = {value: found for value, found in tried.items() if not np.isnan(found)}
    if not defined:
        raise ValueError("the correlation is undefined at every value tried: one of the measures is constant")
    return max(defined, key=defined.__getitem__)
