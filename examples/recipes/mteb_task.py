"""MTEB: any measure among the scores of a retrieval task, by the task's own rule on documents with the query's id.

task = with_measures(type(mteb.get_task("SciFact")))(); then mteb.evaluate(model, [task]) as ever. irl.compare(values=table, by="LR@100") takes the table task x model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mteb

import ir_lexirecall as irl


class WithMeasures:
    measures: Sequence[str] = ("LR@100", "TSE@100")

    def task_specific_scores(
        self, scores: Any, qrels: Any, results: Any, **where: Any
    ) -> dict[str, float]:
        exclude = "self" if self.ignore_identical_ids else None
        table = irl.evaluate(
            list(self.measures), irl.load(qrels, exclude=exclude), results
        )
        return (
            super().task_specific_scores(scores, qrels, results, **where)
            | table.mean().to_dict()
        )


def with_measures(
    task: type[mteb.AbsTask], measures: Sequence[str] = WithMeasures.measures
) -> type[mteb.AbsTask]:
    return type(task.__name__, (WithMeasures, task), {"measures": measures})
