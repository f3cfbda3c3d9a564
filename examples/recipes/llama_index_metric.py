"""LlamaIndex: a retrieval metric of any measure, for ``RetrieverEvaluator``.

evaluator = RetrieverEvaluator(metrics=[LexicographicRecall()], retriever=retriever)
"""

from __future__ import annotations

from typing import Any, ClassVar

from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY
from llama_index.core.evaluation.retrieval.metrics_base import (
    BaseRetrievalMetric,
    RetrievalMetricResult,
)

import ir_lexirecall as irl

score = irl.scorer("LR@100")


class LexicographicRecall(BaseRetrievalMetric):
    metric_name: ClassVar[str] = "lexicographic_recall"

    def compute(
        self,
        query: str | None = None,
        expected_ids: list[str] | None = None,
        retrieved_ids: list[str] | None = None,
        expected_texts: list[str] | None = None,
        retrieved_texts: list[str] | None = None,
        **kwargs: Any,
    ) -> RetrievalMetricResult:
        ranking = list(dict.fromkeys(retrieved_ids or []))  # chunks of one document
        return RetrievalMetricResult(score=score(ranking, expected_ids or []))


METRIC_REGISTRY[LexicographicRecall.metric_name] = LexicographicRecall  # by name, too
