"""What the best run by measures of several aspects shows, for ``maistro_2021.py``: its Tables 5 and 6."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ir_lexirecall.meta import Study
from ir_lexirecall.meta.reach import aspect_labels, labelled_queries
from ir_lexirecall.plots.studies import Lines, draw


def best_run_labels(study: Study, k: int = 100) -> pd.DataFrame:
    """The labels of the first k documents of the run that a measure likes best, query by query; S is their sum over the aspects.

    A row per measure and rank: ``measure``, ``rank``, ``documents`` (how many of the best runs, the first of equals, have one there),
    ``zero`` (of these, with S = 0) and ``mean`` (of S). Queries without a label above the lowest are left out; all measures name
    the same aspects.
    """
    judgments, scored = study.judgments, study.scored
    labels = aspect_labels(next(iter(study.measures.values())), judgments)
    total = np.sum(list(labels.values()), axis=0)
    some = labelled_queries(judgments, labels)
    aligned = list(scored.runs.values())
    parts = []
    for name in study.measures:
        best = scored.values[name].argmax(axis=0)
        documents, zero, sums = (
            np.zeros(k, dtype=np.int64),
            np.zeros(k, dtype=np.int64),
            np.zeros(k),
        )
        for number in np.unique(best[some]).tolist():
            chosen = np.zeros(len(judgments), dtype=bool)
            chosen[some[best[some] == number]] = True
            run = aligned[number]
            depth = np.minimum(run.depth[chosen], k)
            at_least = np.bincount(depth, minlength=k + 1)[::-1].cumsum()[
                ::-1
            ]  # rankings that are deep enough
            documents += at_least[1:]
            top = chosen[run.query] & (run.rank <= k) & (total[run.doc] > 0)
            zero += at_least[1:] - np.bincount(run.rank[top] - 1, minlength=k)
            sums += np.bincount(
                run.rank[top] - 1, weights=total[run.doc[top]], minlength=k
            )
        mean = np.divide(sums, documents, out=np.full(k, np.nan), where=documents > 0)
        columns = {
            "rank": np.arange(1, k + 1),
            "documents": documents,
            "zero": zero,
            "mean": mean,
        }
        parts.append(pd.DataFrame({"measure": name, **columns}))
    return pd.concat(parts, ignore_index=True)


def draw_labels(table: pd.DataFrame) -> Any:
    """The mean S of the best run of each measure by rank."""
    across, up = "rank in the best run", "mean sum of labels"
    title = "What the best run by each measure shows at each rank"
    return draw(
        Lines(title, "rank", across, value="mean", meaning=up, x_scale="whole"), table
    )
