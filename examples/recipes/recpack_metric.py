"""RecPack: a metric of any measure, by its name in pipelines: builder.add_metric("LexicographicRecallK", [10, 100]).

``results`` has a row per user, which irl.compare(values={algorithm: metric.results, ...}, by="LR") compares.
"""

from __future__ import annotations

import numpy as np
from recpack.metrics.base import ListwiseMetricK
from recpack.pipelines import METRIC_REGISTRY
from scipy.sparse import csr_matrix

import ir_lexirecall as irl


class LexicographicRecallK(ListwiseMetricK):
    score = irl.scorer("LR")

    def _calculate(self, y_true: csr_matrix, y_pred_top_K: csr_matrix) -> None:
        ranked = [row.indices[np.argsort(row.data)].tolist() for row in y_pred_top_K]  # its numbers are ranks
        relevant = [row.indices.tolist() for row in y_true]
        self.scores_ = csr_matrix(self.score.batch(ranked, relevant)[:, None])


METRIC_REGISTRY.register("LexicographicRecallK", LexicographicRecallK)
