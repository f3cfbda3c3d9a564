"""The parameter with which a measure comes closest to another one."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import check_choice, entry, is_number
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import QrelsLike
from ir_lexirecall.measures import scoring
from ir_lexirecall.measures.parsing import MeasureLike, parse_one
from ir_lexirecall.meta import correlations
from ir_lexirecall.meta.correlations import BY, COEFFICIENTS, points
from ir_lexirecall.meta.decisions import Decisions, parse_measures_for, rising
from ir_lexirecall.meta.result import study

_SCAN = 16  # values of a parameter that are tried before the best one is refined


@entry
def fit(
    measure: MeasureLike,
    target: MeasureLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    parameter: str,
    *,
    grid: Iterable[Any] | None = None,
    bounds: tuple[float, float] | None = None,
    by: str = "values",
    coefficient: str = "pearson",
    rel: float = 1,
    cutoff: int | None = None,
    allow_empty: bool = False,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Find the value of a parameter with which a measure correlates best with another measure.

    A measure whose smaller value is better counts with the opposite sign.

    Args:
        measure: the measure to fit, with its other parameters.
        target: the measure, or preference, to come close to.
        parameter: name of the parameter.
        grid: values to try; or else
        bounds: the smallest and the largest value. Of an integer (a cutoff), all from the one to the other are tried; of
            a number, evenly spread values between them, and the best one is refined (scipy's bounded
            ``minimize_scalar``; the bounds themselves are not tried).
        coefficient: what to maximise: ``'pearson'``, ``'spearman'``, ``'kendall'`` or ``'top_weighted_kendall'``.
        by, rel, cutoff, allow_empty, progress: as in ``correlation``.
        qrels, runs: as in ``ties``.

    Returns:
        A row per value tried, in their order: ``parameter``, ``value``, ``correlation``, ``best``; ``attrs`` hold the
        ``best`` value and its ``correlation``.

    Raises:
        ValueError: bad input, no such parameter or coefficient, a value out of range, or not one of grid and bounds.

    Source: Azzopardi, Mackenzie, Moffat, ERR is not C/W/L, ICTIR 2021, doi 10.1145/3471158.3472239.

    >>> from ir_lexirecall import demo
    >>> measure, target = "TSE(exposure='RBP')", "TSE(exposure='RBP',p=0.9)"
    >>> fit(measure, target, demo.qrels(), demo.runs(), "p", grid=[0.8, 0.9, 0.95]).attrs["best"]
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
    low, high = _checked_bounds(bounds) if bounds is not None else (0.0, 0.0)
    if grid is not None:
        candidates = _grid(base, parameter, grid)
    elif whole:
        candidates = list(range(math.ceil(low), math.floor(high) + 1))
        if not candidates:
            raise ValueError(f"no integer lies between the bounds {low:g} and {high:g}")
    else:
        candidates = (low + (high - low) * (np.arange(_SCAN) + 0.5) / _SCAN).tolist()
    decisions = Decisions.from_runs([target], qrels, runs, rel, cutoff, allow_empty, progress)
    wanted = points(decisions.rising(next(iter(decisions.labels))), by)
    tried: dict[Any, float] = {}

    def correlate(value: Any) -> float:
        if value not in tried:
            candidate = next(iter(parse_measures_for([base(**{parameter: value})]).values()))
            values = np.stack([scoring.values(candidate, run) for run in decisions.scored.runs.values()])
            tried[value] = correlations.coefficient(
                coefficient, points(rising(candidate, values[:, decisions.queries]), by), wanted
            )
        return tried[value]

    for value in progress_bar(progress, candidates, desc=parameter):
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
    return study(
        table.sort_values("value", ignore_index=True),
        "fit",
        measure=str(base),
        target=str(target),
        parameter=parameter,
        by=by,
        coefficient=coefficient,
        grid=None if grid is None else candidates,
        bounds=None if bounds is None else (low, high),
        best=best,
        correlation=tried[best],
        **{name: value for name, value in decisions.provenance.items() if name != "measures"},
    )


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


def _grid(measure: IRMeasure, parameter: str, grid: Any) -> list[Any]:
    """The values to try, of the parameter's type: ir_measures does not take 2 for 2.0."""
    if isinstance(grid, str) or not isinstance(grid, Iterable):
        raise ValueError(f"the grid must be a list of values, not {grid!r}")
    values = [value.item() if isinstance(value, np.generic) else value for value in grid]
    odd = [value for value in values if not isinstance(value, (str, numbers.Real))]
    if odd:
        raise ValueError(f"the grid holds {odd[0]!r}, which is neither a number nor a text")
    if not values:
        raise ValueError("the grid is empty")
    is_float = measure.SUPPORTED_PARAMS[parameter].dtype is float
    return [float(value) if is_float and is_number(value) else value for value in values]


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    try:
        low, high = (float(value) for value in bounds)
    except (TypeError, ValueError):
        low = high = math.nan
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"bounds must be two numbers, the smaller one first, not {bounds!r}")
    return low, high


def _best(tried: Mapping[Any, float]) -> Any:
    """The value with the largest correlation; the first one tried of equals."""
    defined = {value: found for value, found in tried.items() if not np.isnan(found)}
    if not defined:
        raise ValueError("the correlation is undefined at every value tried: one of the measures is constant")
    return max(defined, key=defined.__getitem__)
