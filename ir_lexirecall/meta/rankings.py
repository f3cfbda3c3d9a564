"""Made-up rankings, scored by any measure at once: one ranking is one query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Bools, Floats, Ints
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
    groups: list[tuple[Label, int]] = []
    for label in labels:
        if groups and groups[-1][0] == label:
            groups[-1] = (label, groups[-1][1] + 1)
        else:
            groups.append((label, 1))
    words = []
    for label, count in groups:
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
    if grade.ndim == 1:
        judgments = Judgments(query_ids.tolist(), query, doc_ids.tolist(), grade.astype(np.float64))
    else:
        judgments = Judgments.from_qrels(_table(query_ids[query], doc_ids, grade.astype(np.float64), columns, weights))
    there = np.flatnonzero(rank > 0)
    return AlignedRun(judgments, query=query[there], doc=there, rank=rank[there], depth=depth)


def _table(
    query_id: NDArray[Any], doc_id: NDArray[Any], grade: Floats, columns: Sequence[str], weights: Sequence[float]
) -> pl.DataFrame:
    """Qrels with a grade for each of T aspects: as T columns, or as subtopics in T rows per document."""
    if columns:
        aspects = {name: grade[:, t] for t, name in enumerate(columns)}
        ids = {"query_id": query_id.tolist(), "doc_id": doc_id.tolist()}
        return pl.DataFrame({**ids, "relevance": grade.max(axis=1), **aspects})
    documents, subtopics = grade.shape
    return pl.DataFrame(
        {
            "query_id": np.tile(query_id, subtopics).tolist(),
            "doc_id": np.tile(doc_id, subtopics).tolist(),
            "relevance": grade.T.ravel(),
            "subtopic_id": np.repeat([f"t{t}" for t in range(subtopics)], documents).tolist(),
            "weight": np.repeat(np.array(weights or [1.0] * subtopics, dtype=np.float64), documents),
        }
    )


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
    parts = [scoring.values(measure, _run_of(measure, some, weights)) for some in _blocks(rankings)]
    return np.concatenate([np.zeros(0), *parts])


def _blocks(rankings: Sequence[Ranking]) -> Iterator[Sequence[Ranking]]:
    """The rankings in batches of few documents."""
    start, documents = 0, 0
    for end, ranking in enumerate(rankings):
        if documents and documents + ranking.size > _DOCUMENTS:
            yield rankings[start:end]
            start, documents = end, 0
        documents += ranking.size
    yield rankings[start:]


def _run_of(measure: IRMeasure, rankings: Sequence[Ranking], weights: Sequence[float]) -> AlignedRun:
    depth = np.array([len(ranking.retrieved) for ranking in rankings], dtype=np.int64)
    size = np.array([ranking.size for ranking in rankings], dtype=np.int64)
    query = np.repeat(np.arange(len(rankings)), size)
    rank = np.arange(len(query)) - np.repeat(np.cumsum(size) - size, size) + 1
    labels = np.array([label for r in rankings for label in (*r.retrieved, *r.missing)], dtype=np.float64)
    columns = list(measure["aspects"]) if has_aspects(measure) else []
    if columns:
        top = np.broadcast_to(labels[:, None], (len(labels), len(columns))) if labels.ndim == 1 else labels
        labels = np.stack([_named_labels(measure, name, top[:, t] > 0) for t, name in enumerate(columns)], axis=1)
    return made_up_run(query, np.where(rank <= depth[query], rank, 0), labels, depth, columns=columns, weights=weights)


def has_aspects(measure: IRMeasure) -> bool:
    """Whether the measure names the aspects it judges."""
    return "aspects" in measure.SUPPORTED_PARAMS


def _named_labels(measure: IRMeasure, name: str, top: Bools) -> Floats:
    scale = measure["aspects"][name]
    lowest, highest = (min(scale), max(scale)) if isinstance(scale, dict) else (0, scale)
    return np.where(top, float(highest), float(lowest))
