"""Vespa: pyvespa's evaluator with any measure beside its own, on the hits in the order in which Vespa gave them.

RankedEvaluator(["LR@10"], queries=..., relevant_docs=..., vespa_query_fn=..., app=...).run(). Several configurations are compared
from what stays: irl.compare(evaluator.relevant_docs as grades, {name: evaluator.rankings, ...}), or by ``per_query``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vespa.evaluation import VespaEvaluator

import ir_lexirecall as irl


class RankedEvaluator(VespaEvaluator):
    def __init__(self, measures: Sequence[str], **options: Any) -> None:
        super().__init__(**options)
        self.scorers = {measure: irl.scorer(measure) for measure in measures}

    def _compute_metrics(
        self, queries_result_list: list[list[tuple[str, float]]]
    ) -> dict[str, float]:
        ids = [[doc for doc, _ in hits] for hits in queries_result_list]
        self.rankings = dict(zip(self.queries_ids, ids, strict=True))
        relevant = [self.relevant_docs[query_id] for query_id in self.queries_ids]
        values = {
            measure: score.batch(ids, relevant)
            for measure, score in self.scorers.items()
        }
        self.per_query = {
            measure: dict(zip(self.queries_ids, x.tolist(), strict=True))
            for measure, x in values.items()
        }
        own: dict[str, float] = super()._compute_metrics(queries_result_list)
        return own | {measure: float(x.mean()) for measure, x in values.items()}
