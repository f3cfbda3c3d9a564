"""The parameter with which a measure comes closest to another one."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

import ir_measures
import numpy as np
import pandas as pd
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall.alignment import RunLike
from ir_lexirecall.errors import check_choice, is_number
from ir_lexirecall.evaluation import MeasureLike
from ir_lexirecall.judgments import QrelsLike
from ir_lexirecall.measures import scoring
from ir_lexirecall.meta.correlations import BY, COEFFICIENTS, coefficient, points
from ir_lexirecall.meta.decisions import Decisions, parse_measures_for, rising, with_defaults
from ir_lexirecall.meta.result import study
from ir_lexirecall.progress import progress_bar

if TYPE_CHECKING:
    from typing_extensions import Unpack

_SCAN = 16  # values of a parameter that are tried before the best one is refined


class FitOptions(TypedDict, total=False):
    """Options of ``fit``: ``by``, ``coefficient``, and those of all studies on runs, ``rel``, ``cutoff``,
    ``allow_empty``, ``progress``.
    """

    by: str
    coefficient: str
    rel: float
    cutoff: int | None
    allow_empty: bool
    progress: bool | None


_DEFAULTS = FitOptions(by="values", coefficient="pearson", rel=1, cutoff=None, allow_empty=False, progress=None)


def fit(
    measure: MeasureLike,
    target: MeasureLike,
    qrels: QrelsLike,
    runs: Mapping[str, RunLike],
    parameter: str,
    *,
    grid: Iterable[Any] | None = None,
    bounds: tuple[float, float] | None = None,
    **options: Unpack[FitOptions],
) -> pd.DataFrame:
    """Find the value of a parameter with which a measure correlates best with another measure.

    A measure whose smaller value is better counts with the opposite sign.

    Args:
        measure: the measure to fit, with its other parameters.
        target: the measure, or preference, to come close to.
        qrels: judgments in any form that ``evaluate`` takes.
        runs: at least two runs by name, in any form that ``evaluate`` takes, or aligned (``AlignedRun``).
        parameter: name of the parameter.
        grid: values to try; or else
        bounds: the smallest and the largest value. Of an integer (a cutoff), all from the one to the other are tried; of
            a number, evenly spread values between them, and the best one is refined (scipy's bounded
            ``minimize_scalar``; the bounds themselves are not tried).
        options: ``coefficient`` to maximise: ``'pearson'`` (default), ``'spearman'``, ``'kendall'`` or
            ``'top_weighted_kendall'``; ``by``, ``rel``, ``cutoff``, ``allow_empty`` and ``progress`` as in ``correlation``.

    Returns:
        A row per value tried, in their order: ``parameter``, ``value``, ``correlation``, ``best``; ``attrs`` hold the
        ``best`` value and its ``correlation``.

    Raises:
        ValueError: bad input, no such parameter or coefficient, a value out of range, or not one of grid and bounds.
        TypeError: an unknown option.

    Source: Azzopardi, Mackenzie, Moffat, ERR is not C/W/L, ICTIR 2021, doi 10.1145/3471158.3472239.

    >>> from ir_lexirecall import demo
    >>> measure, target = "TSE(exposure='RBP')", "TSE(exposure='RBP',p=0.9)"
    >>> fit(measure, target, demo.qrels(), demo.runs(), "p", grid=[0.8, 0.9, 0.95]).attrs["best"]
    0.9
    """
    chosen = with_defaults("fit", options, _DEFAULTS)
    by = check_choice("fit", "by", chosen["by"], BY)
    maximised = check_choice("fit", "coefficient", chosen["coefficient"], COEFFICIENTS)
    if (grid is None) == (bounds is None):
        raise ValueError("fit: give either a grid of values or bounds")
    base = _base(measure, parameter)
    if not isinstance(parameter, str) or parameter not in base.SUPPORTED_PARAMS:
        known = ", ".join(base.SUPPORTED_PARAMS) or "none"
        raise ValueError(f"fit: {base} has no parameter {parameter!r}; it has {known}")
    whole = base.SUPPORTED_PARAMS[parameter].dtype is int
    low, high = _checked_bounds(bounds) if bounds is not None else (0.0, 0.0)
    if grid is not None:
        candidates = _grid(base, parameter, grid)
    elif whole:
        candidates = list(range(math.ceil(low), math.floor(high) + 1))
        if not candidates:
            raise ValueError(f"fit: no integer lies between the bounds {low:g} and {high:g}")
    else:
        candidates = (low + (high - low) * (np.arange(_SCAN) + 0.5) / _SCAN).tolist()
    progress = chosen["progress"]
    decisions = Decisions.from_runs(
        "fit",
        [target],
        qrels,
        runs,
        rel=chosen["rel"],
        cutoff=chosen["cutoff"],
        allow_empty=chosen["allow_empty"],
        progress=progress,
    )
    wanted = points(decisions.rising(next(iter(decisions.labels))), by)
    tried: dict[Any, float] = {}

    def correlate(value: Any) -> float:
        if value not in tried:
            candidate = next(iter(parse_measures_for("fit", [base(**{parameter: value})]).values()))
            values = np.stack([scoring.values(candidate, run) for run in decisions.scored.runs.values()])
            tried[value] = coefficient(maximised, points(rising(candidate, values[:, decisions.queries]), by), wanted)
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
        coefficient=maximised,
        grid=None if grid is None else candidates,
        bounds=None if bounds is None else (low, high),
        best=best,
        correlation=tried[best],
        **{name: value for name, value in decisions.provenance.items() if name != "measures"},
    )


def _base(measure: MeasureLike, parameter: str) -> IRMeasure:
    """The measure to fit, which may lack the parameter even where that is required."""
    try:
        return next(iter(parse_measures_for("fit", [measure]).values()))
    except ValueError:
        try:
            base = ir_measures.parse_measure(measure) if isinstance(measure, str) else measure
            needs = isinstance(base, IRMeasure) and base.SUPPORTED_PARAMS[parameter].required
        except (NameError, SyntaxError, ValueError, TypeError, AttributeError, KeyError):
            needs = False
        if not needs or parameter in base.params:
            raise
        return base


def _grid(measure: IRMeasure, parameter: str, grid: Any) -> list[Any]:
    """The values to try, of the parameter's type: ir_measures does not take 2 for 2.0."""
    if isinstance(grid, str) or not isinstance(grid, Iterable):
        raise ValueError(f"fit: the grid must be a list of values, not {grid!r}")
    values = [value.item() if isinstance(value, np.generic) else value for value in grid]
    odd = [value for value in values if not isinstance(value, (str, numbers.Real))]
    if odd:
        raise ValueError(f"fit: the grid holds {odd[0]!r}, which is neither a number nor a text")
    if not values:
        raise ValueError("fit: the grid is empty")
    is_float = measure.SUPPORTED_PARAMS[parameter].dtype is float
    return [float(value) if is_float and is_number(value) else value for value in values]


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    try:
        low, high = (float(value) for value in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"fit: bounds must be two numbers, the smaller one first, not {bounds!r}") from None
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"fit: bounds must be two numbers, the smaller one first, not {bounds!r}")
    return low, high


def _best(tried: Mapping[Any, float]) -> Any:
    """The value with the largest correlation; the first one tried of equals."""
    defined = {value: found for value, found in tried.items() if not np.isnan(found)}
    if not defined:
        raise ValueError("fit: the correlation is undefined at every value tried: one of the measures is constant")
    return max(defined, key=defined.__getitem__)
