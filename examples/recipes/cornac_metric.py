"""Cornac: a ranking metric of any measure, for ``cornac.Experiment(metrics=[...])``.

Cornac's own table of users is read by ``ir_lexirecall.io.values.read_values``:
{result.model_name: result.metric_user_results for result in experiment.result}
"""

from __future__ import annotations

from typing import Any

import numpy as np
from cornac.metrics.ranking import RankingMetric

import ir_lexirecall as irl


class Ranked(RankingMetric):
    def __init__(self, measure: str = "LR@100") -> None:
        self._score = irl.scorer(measure)
        super().__init__(name=measure, higher_better=not self._score.smaller_is_better)

    def compute(self, gt_pos: np.ndarray, pd_rank: np.ndarray, **kwargs: Any) -> float:
        return self._score(pd_rank.tolist(), gt_pos.tolist())
