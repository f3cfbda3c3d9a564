"""Made-up rankings, scored by any measure at once: one ranking is one query."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats, Ints, position_in_segment
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.measures import scoring

Label = int | tuple[int, ...]
"""Of a document: its grade, or its grade for each of several aspects."""

_DOCUMENTS = 2**18  # that are scored at once


class Ranking(NamedTuple):
    """A ranking of judged documents, and the judged documents of the same topic that it lacks."""

    retrieved: tuple[Label, ...]  # at each rank
    missing: tuple[Label, ...] = ()

    @property
    def size(self) -> int:
        """Judged documents of the topic."""
        return len(self.retrieved) + len(self.missing)

    def __str__(self) -> str:
        """Labels from rank 1 on; what is missing stands behind a bar; four or more equal ones in a row are counted."""
        missing = f" | {_spelt(self.missing)}" if self.missing else ""
        return f"[{(_spelt(self.retrieved) + missing).strip()}]"


def _spelt(labels: Sequence[Label]) -> str:
    words: list[str] = []
    for label, alike in groupby(labels):
        count = len(list(alike))
        word = str(label) if isinstance(label, int) else "+".join(map(str, label))
        words += [f"{word}x{count}"] if count > 3 else [word] * count
    return " ".join(words)


def made_up_run(
    query: Ints, rank: Ints, grade: Floats, depth: Ints, *, columns: Sequence[str] = (), weights: Sequence[float] = ()
) -> AlignedRun:
    """Rankings, given by where their judged documents stand.

    Args:
        query: ranking (0, 1, ...) of each judged document, ascending; every ranking has at least one.
        rank: its rank, ascending within a ranking; 0 for the documents that the ranking lacks, which come last.
        grade: its grade, shape ``(D,)``, or its grade for each of T aspects, shape ``(D, T)``.
        depth: documents retrieved by each ranking, shape ``(Q,)``.
        columns: names of the T aspects, to make them columns of the qrels; without, they are subtopics.
        weights: of the T subtopics; without, equal.
    """
    query_ids = _names(np.arange(len(depth)))
    first = np.searchsorted(query, query)
    doc_ids = _names(np.arange(len(query)) - first)
    grade = grade.astype(np.float64)
    ids = {"query_id": query_ids[query], "doc_id": doc_ids}
    if grade.ndim == 1:
        judgments = Judgments(query_ids.tolist(), query, doc_ids.tolist(), grade)
    elif columns:
        aspects = {name: grade[:, t] for t, name in enumerate(columns)}
        table = {name: column.tolist() for name, column in ids.items()}
        judgments = Judgments.from_qrels(pl.DataFrame({**table, "relevance": grade.max(axis=1), **aspects}))
    else:  # subtopics: T rows per document
        documents, subtopics = grade.shape
        table = {name: np.tile(column, subtopics).tolist() for name, column in ids.items()}
        of_subtopics = {
            "relevance": grade.T.ravel(),
            "subtopic_id": np.repeat([f"t{t}" for t in range(subtopics)], documents).tolist(),
            "weight": np.repeat(np.array(weights or [1.0] * subtopics, dtype=np.float64), documents),
        }
        judgments = Judgments.from_qrels(pl.DataFrame({**table, **of_subtopics}))
    there = np.flatnonzero(rank > 0)
    return AlignedRun(judgments, query=query[there], doc=there, rank=rank[there], depth=depth)


def _names(numbers: Ints) -> NDArray[Any]:
    """Numbers as texts of equal length, which sort as the numbers do."""
    most = int(numbers.max(initial=0))
    width = len(str(most))
    return np.array([f"{i:0{width}d}" for i in range(most + 1)], dtype=object)[numbers]


def values(measure: IRMeasure, rankings: Sequence[Ranking], *, weights: Sequence[float] = ()) -> Floats:
    """Values of a measure for rankings whose labels are all of one kind, shape ``(len(rankings),)``.

    For a measure with named aspects (``TOMA``, ``CAM``, ``MM``), label 0 is an aspect's lowest label and 1 its top one;
    a label that is one number means it for every aspect.
    """
    depth = np.array([len(ranking.retrieved) for ranking in rankings], dtype=np.int64)
    size = np.array([ranking.size for ranking in rankings], dtype=np.int64)
    columns = list(measure["aspects"]) if has_aspects(measure) else []
    parts, start = [np.zeros(0)], 0
    while start < len(rankings):  # in batches of few documents
        end = start + max(1, int(np.searchsorted(np.cumsum(size[start:]), _DOCUMENTS, side="right")))
        query = np.repeat(np.arange(end - start), size[start:end])
        rank = position_in_segment(query) + 1
        labels = np.array([x for r in rankings[start:end] for x in (*r.retrieved, *r.missing)], dtype=np.float64)
        if columns:
            top = np.broadcast_to(labels[:, None], (len(labels), len(columns))) if labels.ndim == 1 else labels
            ends = [(min(x), max(x)) if isinstance(x, dict) else (0, x) for x in measure["aspects"].values()]
            labels = np.where(top > 0, [float(highest) for _, highest in ends], [float(lowest) for lowest, _ in ends])
        rank = np.where(rank <= depth[start:end][query], rank, 0)
        run = made_up_run(query, rank, labels, depth[start:end], columns=columns, weights=weights)
        parts.append(scoring.values(measure, run))
        start = end
    return np.concatenate(parts)


def has_aspects(measure: IRMeasure) -> bool:
    """Whether the measure names the aspects it judges."""
    return "aspects" in measure.SUPPORTED_PARAMS
