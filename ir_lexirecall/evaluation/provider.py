"""ir_measures' adapter: what it asks of a provider, answered from one alignment per run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import ir_measures
from ir_measures import CwlMetric, Metric
from ir_measures.measures.base import Measure as IRMeasure
from ir_measures.providers.base import Evaluator, Provider

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.errors import called, warn
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall.measures.declaration import REGISTRY, Utility
from ir_lexirecall.measures.scoring import aggregate, check_judgments, is_native, score

if TYPE_CHECKING:
    from ir_lexirecall.data import alignment, judgments
    from ir_lexirecall.data.alignment import RunLike
    from ir_lexirecall.data.judgments import QrelsLike
else:  # what reads qrels and runs is imported when there are some to read
    alignment = LazyModule("ir_lexirecall.data.alignment")
    judgments = LazyModule("ir_lexirecall.data.judgments")

NAME = "ir_lexirecall"


class LexiRecallEvaluator(Evaluator):  # type: ignore[misc]
    """Scores runs with native measures: the qrels are read once, and every run is aligned once."""

    @called("")  # errors name no function: the user called one of ir_measures
    def __init__(self, measures: Iterable[IRMeasure], qrels: QrelsLike) -> None:
        self.judgments: judgments.Judgments = judgments.Judgments.from_qrels(
            qrels, allow_empty=True
        )
        if not len(self.judgments.grade):
            warn(
                "there are no judgments in the qrels, so no query has a value; give a list if "
                "the qrels are an iterator, which can be read only once"
            )
        # ir_measures hands over a set, whose order is another one in every process.
        if isinstance(measures, (set, frozenset)):
            ordered = sorted(measures, key=str)
        else:
            ordered = list(measures)
        super().__init__(ordered, set(self.judgments.query_ids))
        for measure in self.measures:
            measure.validate_params()
        check_judgments(self.measures, self.judgments)

    @called("")
    def score(self, run: RunLike) -> list[Floats | Utility]:
        """Values of all queries, in the order of ``judgments.query_ids``, of every measure."""
        aligned = alignment.align(self.judgments, run)
        return [score(measure, aligned) for measure in self.measures]

    def iter_calc(self, run: RunLike) -> Iterator[Metric]:
        """Yield metrics of every query of the qrels, measure by measure, by query id."""
        for measure, result in zip(self.measures, self.score(run), strict=True):
            yield from metrics(measure, result, self.judgments.query_ids)

    def calc_aggregate(self, run: RunLike) -> dict[IRMeasure, float]:
        """Return the aggregate of each measure, added up in the order of the query ids."""
        results = {}
        for measure, result in zip(self.measures, self.score(run), strict=True):
            if isinstance(result, Utility):
                result = result.value
            results[measure] = aggregate(measure, result)
        return results


def metrics(
    measure: IRMeasure,
    result: Floats | Utility,
    query_ids: Sequence[str],
    order: Ints | None = None,
) -> Iterator[Metric]:
    """Yield the values of a measure as ir_measures hands them out, query by query."""
    names = query_ids if order is None else [query_ids[q] for q in order.tolist()]
    rows_wanted: Any = slice(None) if order is None else order
    if isinstance(result, Utility):
        columns = (
            result.value,
            result.expected_total_utility,
            result.expected_total_cost,
            result.expected_items,
        )
        rows = zip(
            names, *(column[rows_wanted].tolist() for column in columns), strict=True
        )
        for query_id, value, etu, etc, items in rows:
            yield CwlMetric(query_id, measure, value, etu, 1.0, etc, items)
    else:
        for query_id, value in zip(names, result[rows_wanted].tolist(), strict=True):
            yield Metric(query_id, measure, value)


class LexiRecallProvider(Provider):  # type: ignore[misc]
    """Provider of all measures of this library for ir_measures.

    It also provides those of ir_measures, after the providers that ir_measures ships.
    """

    NAME: str = NAME

    @property
    def SUPPORTED_MEASURES(self) -> list[IRMeasure]:
        """The measures of this library, each under its own name."""
        return [measure for name, measure in REGISTRY.items() if name == measure.NAME]

    def supports(self, measure: IRMeasure) -> bool:
        """Return whether this library can compute a measure."""
        measure.validate_params()
        return is_native(measure)

    def _evaluator(
        self, measures: Iterable[IRMeasure], qrels: Any
    ) -> LexiRecallEvaluator:
        return LexiRecallEvaluator(measures, qrels)


def register() -> None:
    """Append the provider to ir_measures' own, which keep precedence; once only."""
    provider = LexiRecallProvider()
    pipeline = ir_measures.DefaultPipeline.providers
    pipeline[:] = [known for known in pipeline if known.NAME != NAME] + [provider]
    ir_measures.providers.registry[NAME] = provider
