"""Recall over how much of a collection is read, as a table that a picture draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.evaluation.scored_runs import read_run


@entry
def recall_curves(
    qrels: QrelsLike, runs: Mapping[str, RunLike], *, rel: float = 1, n: int | Mapping[str, int] | None = None
) -> pd.DataFrame:
    """Where recall rises: a row per run, query and relevant document, and one for the beginning and the end of each curve.

    Args:
        qrels: judgments in any form.
        runs: rankings by name, in any form.
        rel: smallest grade that counts as relevant.
        n: size of the collection, one number or one per query; by default, the documents ranked.

    Returns:
        ``run``, ``query_id``, ``rank`` (0 first), ``share`` of the collection down to it, and ``recall`` there. Relevant documents
        that are not ranked end the collection. ``plots.recall_curves`` draws it.

    Raises:
        ValueError: n is smaller than a ranking, or missing for a query.

    >>> table = recall_curves({"q": {"a": 1, "b": 1}}, {"r": {"q": {"a": 4.0, "x": 3.0, "b": 2.0, "y": 1.0}}})
    >>> table[["rank", "share", "recall"]].to_numpy().tolist()
    [[0.0, 0.0, 0.0], [1.0, 0.25, 0.5], [3.0, 0.75, 1.0], [4.0, 1.0, 1.0]]
    """
    judgments = Judgments.from_qrels(qrels)
    frames = []
    for name, run in runs.items():
        aligned = read_run(judgments, run, str(name))
        found = aligned.relevant(rel)
        for q in np.flatnonzero(found.m > 0).tolist():
            query_id, m = judgments.query_ids[q], int(found.m[q])
            ranks = found.rank[found.query == q]
            least = int(aligned.depth[q]) + m - len(ranks)
            size = least if n is None else _size(n, query_id)
            if size < least:
                raise ValueError(
                    f"n={size} is smaller than the {least} documents of run {name!r} for query {query_id!r}"
                )
            missing = np.arange(size - (m - len(ranks)) + 1, size + 1)
            rank = np.r_[0, ranks, missing, size]
            recall = np.r_[np.arange(m + 1), m] / m
            frames.append(
                pd.DataFrame({"run": name, "query_id": query_id, "rank": rank, "share": rank / size, "recall": recall})
            )
    if not frames:
        raise ValueError("there is nothing to draw: no run, or no query with relevant documents")
    return pd.concat(frames, ignore_index=True)


def _size(n: int | Mapping[str, int], query_id: str) -> int:
    if not isinstance(n, Mapping):
        return int(n)
    sizes: dict[str, Any] = {str(name): size for name, size in n.items()}
    if query_id not in sizes:
        raise ValueError(f"n has no size for query {query_id!r}; add it")
    return int(sizes[query_id])
