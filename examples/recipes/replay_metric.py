"""RePlay: a metric of any measure, for pandas and Polars frames and dicts, in any ``mode`` of RePlay's.

LexicographicRecall([10, 100])(recommendations, ground_truth). With mode=PerUser(), what several models give is compared by
irl.compare(values={model: per_user, ...}).
"""

from __future__ import annotations

from typing import Any

from replay.metrics.base_metric import Metric

import ir_lexirecall as irl


class LexicographicRecall(Metric):
    score = irl.scorer("LR")  # of another measure in a subclass

    @classmethod
    def _get_metric_value_by_user(cls, ks: list[int], *args: Any) -> list[float]:
        relevant, ranking = (
            list(dict.fromkeys([] if items is None else items)) for items in args
        )
        return [cls.score(ranking[:k], relevant) if relevant else 0.0 for k in ks]
