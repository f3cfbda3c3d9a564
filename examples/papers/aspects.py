"""What the best ranking of several aspects can reach, and what the best run shows, for ``maistro_2021.py``: its Figure 2, Tables 5 and 6."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import position_in_segment
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.measures.parsing import MeasuresLike, parse_measures
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.meta import Study
from ir_lexirecall.plots.studies import Lines, draw


def reachable_maximum(measures: MeasuresLike, judgments: Judgments) -> pd.DataFrame:
    """The largest value that any of some rankings of the judged documents reaches, for measures of several aspects such as CAM and MM.

    They are ranked by the labels of the aspects one after the other, in every order of the aspects, by the sum of the labels, by the
    sum of their squares, and by the largest label. A row per measure and query that has a label above the lowest: ``measure``,
    ``query_id``, ``value`` and ``order`` (of the first ranking that reaches it, such as ``'relevance > quality'``).
    """
    parts = []
    for name, measure in parse_measures(measures).items():
        labels = _labels(measure, judgments)
        best, order = np.full(len(judgments), -np.inf), np.full(len(judgments), "", dtype=object)
        every = np.stack(list(labels.values()))
        # The most important aspect first.
        orders = [
            (" > ".join(names), [labels[aspect] for aspect in names])
            for names in permutations(labels)
        ]
        orders += [("sum", [every.sum(axis=0)]), ("sum of squares", [(every**2).sum(axis=0)])]
        orders.append(("largest label", [every.max(axis=0)]))
        for words, keys in orders:
            order_of = np.lexsort((*(-key for key in reversed(keys)), judgments.query))
            query = judgments.query[order_of]
            depth = np.bincount(judgments.query, minlength=len(judgments))
            ranked = AlignedRun(
                judgments,
                query=query,
                doc=order_of,
                rank=position_in_segment(query) + 1,
                depth=depth,
            )
            found = values(measure, ranked)
            better = found > best
            best[better], order[better] = found[better], words
        some = _labelled(judgments, labels)
        columns = {
            "query_id": [judgments.query_ids[q] for q in some],
            "value": best[some],
            "order": order[some],
        }
        parts.append(pd.DataFrame({"measure": name, **columns}))
    return pd.concat(parts, ignore_index=True)


def draw_maximum(table: pd.DataFrame) -> Any:
    """The queries of each measure by what can be reached."""
    rising = table.sort_values(["measure", "value"], kind="stable")
    rising = rising.assign(place=rising.groupby("measure").cumcount() + 1)
    across, up = "queries, by what can be reached", "largest value of any ranking"
    return draw(
        Lines(
            "The best value that any ranking of these documents has",
            "place",
            across,
            value="value",
            meaning=up,
        ),
        rising,
    )


def best_run_labels(study: Study, k: int = 100) -> pd.DataFrame:
    """The labels of the first k documents of the run that a measure likes best, query by query; S is their sum over the aspects.

    A row per measure and rank: ``measure``, ``rank``, ``documents`` (how many of the best runs, the first of equals, have one there),
    ``zero`` (of these, with S = 0) and ``mean`` (of S). Queries without a label above the lowest are left out; all measures name
    the same aspects.
    """
    judgments, scored = study.judgments, study.scored
    labels = _labels(next(iter(study.measures.values())), judgments)
    total = np.sum(list(labels.values()), axis=0)
    some = _labelled(judgments, labels)
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
            sums += np.bincount(run.rank[top] - 1, weights=total[run.doc[top]], minlength=k)
        mean = np.divide(sums, documents, out=np.full(k, np.nan), where=documents > 0)
        columns = {"rank": np.arange(1, k + 1), "documents": documents, "zero": zero, "mean": mean}
        parts.append(pd.DataFrame({"measure": name, **columns}))
    return pd.concat(parts, ignore_index=True)


def draw_labels(table: pd.DataFrame) -> Any:
    """The mean S of the best run of each measure by rank."""
    across, up = "rank in the best run", "mean sum of labels"
    title = "What the best run by each measure shows at each rank"
    return draw(Lines(title, "rank", across, value="mean", meaning=up, x_scale="whole"), table)


def _labels(measure: Measure, judgments: Judgments) -> dict[str, np.ndarray]:
    """Labels of every judged document for the measure's aspects; a missing or negative one is 0."""
    return {
        name: np.maximum(np.nan_to_num(label, nan=0.0), 0.0)
        for name, label in judgments.labels(list(measure["aspects"])).items()
    }


def _labelled(judgments: Judgments, labels: Mapping[str, np.ndarray]) -> np.ndarray:
    """The queries with a label above 0."""
    largest = np.max(list(labels.values()), axis=0)
    return np.flatnonzero(np.bincount(judgments.query[largest > 0], minlength=len(judgments)))
