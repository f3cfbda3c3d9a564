"""The values of any measure for an aligned run: of this library, of ir_measures, or of another provider."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import ir_measures
import numpy as np
from ir_measures.measures.base import MeanAgg, SumAgg
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.measures import foreign, ndeval, standard
from ir_lexirecall.measures.declaration import Measure, Utility

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


def is_native(measure: IRMeasure) -> bool:
    """Whether this library computes a measure itself, from the ranks of the judged documents alone."""
    return isinstance(measure, Measure) or standard.serves(measure) or ndeval.serves(measure)


def smaller_is_better(measure: IRMeasure) -> bool:
    """Whether the smaller value of a measure is the better one.

    >>> import ir_measures
    >>> smaller_is_better(ir_measures.AP)
    False
    """
    return isinstance(measure, Measure) and measure.SMALLER_IS_BETTER


def check_served(measures: Iterable[IRMeasure]) -> None:
    """Refuse measures that nobody serves, before anything is scored.

    >>> class Unserved(IRMeasure):
    ...     NAME = __name__ = "Unserved"
    >>> check_served([Unserved()])
    Traceback (most recent call last):
    ValueError: Unsupported measures {Unserved}.
    """
    for measure in measures:
        if not is_native(measure):
            ir_measures.evaluator([measure], {"q": {"d": 1}})


def score(measure: IRMeasure, run: AlignedRun) -> Floats | Utility:
    """Values of all queries, shape ``(Q,)``; those of C/W/L measures with cost and utility."""
    if isinstance(measure, Measure):
        return _checked(measure, measure.score(run.condensed() if measure["judged_only"] else run), run)
    if standard.serves(measure):
        return standard.score(measure, run)
    return ndeval.values(measure, run) if ndeval.serves(measure) else foreign.values(measure, run)


def values(measure: IRMeasure, run: AlignedRun, threshold: float | None = None) -> Floats:
    """Values of all queries, shape ``(Q,)``; ``threshold`` is the measure's ``rel`` unless it names one itself."""
    if threshold is not None and "rel" in measure.SUPPORTED_PARAMS and "rel" not in measure.params:
        measure = measure(rel=threshold)
    result = score(measure, run)
    return result.value if isinstance(result, Utility) else result


def aggregate(measure: IRMeasure, per_query: Floats) -> float:
    """One number from the values of all queries, as the measure's own aggregator makes it, added up in their order."""
    aggregator = measure.aggregator()
    if type(aggregator) in (MeanAgg, SumAgg) and len(per_query):
        total = float(np.cumsum(per_query)[-1]) if len(per_query) > 1 else float(per_query[0])  # one by one, as they do
        return total / len(per_query) if type(aggregator) is MeanAgg else total
    for value in per_query.tolist():
        aggregator.add(value)
    return float(aggregator.result())


def mean(measure: IRMeasure, per_query: Floats) -> float:
    """The mean over queries: what ``aggregate`` gives, but for counts, which it adds up."""
    total = aggregate(measure, per_query)
    return total / max(1, len(per_query)) if is_added_up(measure) else total


def is_added_up(measure: IRMeasure) -> bool:
    """Whether tables show a sum over queries (``NumRet``), not a mean."""
    return type(measure.aggregator()) is SumAgg


def _checked(measure: Measure, result: Floats | Utility, run: AlignedRun) -> Floats | Utility:
    """Refuse the values of a user's measure that are not one number per query."""
    array = result.value if isinstance(result, Utility) else result
    if not isinstance(array, np.ndarray) or array.shape != (len(run.judgments),) or array.dtype.kind not in "fiu":
        shape = getattr(array, "shape", type(array).__name__)
        raise ValueError(
            f"{measure}: score must give an array of {len(run.judgments)} numbers, one per query, not {shape}"
        )
    return result
