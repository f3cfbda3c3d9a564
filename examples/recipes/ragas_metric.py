"""ragas: a metric of any measure on the ids of retrieved contexts; it asks no language model.

evaluate(dataset, metrics=[RankedContexts()])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ragas.dataset_schema import SingleTurnSample
from ragas.metrics.base import MetricType, SingleTurnMetric

import ir_lexirecall as irl


@dataclass
class RankedContexts(SingleTurnMetric):
    name: str = "lexicographic_recall"
    measure: str = "LR@100"
    _required_columns: dict[MetricType, set[str]] = field(
        default_factory=lambda: {
            MetricType.SINGLE_TURN: {"retrieved_context_ids", "reference_context_ids"}
        }
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._score = irl.scorer(self.measure)

    def init(self, run_config: Any) -> None:
        """Nothing to prepare."""

    async def _single_turn_ascore(
        self, sample: SingleTurnSample, callbacks: Any
    ) -> float:
        ranking = list(dict.fromkeys(sample.retrieved_context_ids or []))
        return self._score(ranking, set(sample.reference_context_ids or []))
