"""Haystack: a component of any measure, beside its own evaluators in a pipeline.

pipeline.add_component("lr", RankingEvaluator("LR@100"))
"""

from __future__ import annotations

from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

import ir_lexirecall as irl


@component
class RankingEvaluator:
    def __init__(self, measure: str = "LR@100") -> None:
        self.measure = measure
        self._score = irl.scorer(measure)

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self, measure=self.measure)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RankingEvaluator:
        return default_from_dict(cls, data)

    @component.output_types(score=float, individual_scores=list[float])
    def run(
        self,
        ground_truth_documents: list[list[Document]],
        retrieved_documents: list[list[Document]],
    ) -> dict[str, Any]:
        values = self._score.batch(
            [list(dict.fromkeys(d.id for d in docs)) for docs in retrieved_documents],
            [[d.id for d in docs] for docs in ground_truth_documents],
        )
        return {"score": float(values.mean()), "individual_scores": values.tolist()}
