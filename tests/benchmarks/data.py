"""What the benchmarks run on: synthetic collections of any size."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ir_lexirecall._util.arrays import Ints
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.preferences.functions import Positions

_SEED = 0
_COLLECTION = 1_000_000
_MAX_GRADE = 4
_GRADE_SHARES = (0.5, 0.25, 0.15, 0.07, 0.03)
_FOUND = 0.7  # share of the judged documents that a run retrieves
_SUBTOPICS = 5


@dataclass(frozen=True)
class Size:
    """Size of a collection: ``depth`` documents retrieved and ``judged`` ones for each query, by every system."""

    queries: int
    depth: int
    judged: int
    systems: int = 1


TINY = Size(queries=3, depth=20, judged=8, systems=3)
ROBUST_2004 = Size(queries=249, depth=1000, judged=60, systems=110)


@dataclass(frozen=True)
class Collection:
    """A run and its qrels, as DataFrames in ir_measures' columns."""

    qrels: pd.DataFrame
    run: pd.DataFrame


@dataclass(frozen=True)
class Dicts:
    """A run and its qrels, as dicts of dicts."""

    qrels: dict[str, dict[str, int]]
    run: dict[str, dict[str, float]]


@dataclass(frozen=True)
class Files:
    """Paths of qrels and of runs by the systems' names."""

    qrels: str
    runs: dict[str, str]


@dataclass(frozen=True)
class Experiment:
    """What PyTerrier's experiments take, in its columns."""

    runs: list[pd.DataFrame]
    topics: pd.DataFrame
    qrels: pd.DataFrame


@dataclass(frozen=True)
class Systems:
    """Several systems' rankings of the same queries.

    Attributes:
        ranks: aligned, by the systems' names.
        positions: ranks of the retrieved relevant documents, by system and query with a relevant document, in arrays;
        relevant: the same as plain lists.
    """

    ranks: dict[str, AlignedRun]
    positions: Positions
    relevant: list[list[list[int]]]


def collection(size: Size) -> Collection:
    """One run; every judged document belongs to one of several subtopics of its query."""
    rng, pool, qrels = _made(size)
    return Collection(qrels, _run(size, pool, rng))


def _made(size: Size) -> tuple[np.random.Generator, Ints, pd.DataFrame]:
    """Random numbers, documents of every query, and judgments, each of one of several subtopics."""
    rng = np.random.default_rng(_SEED)
    pool = _pool(size, rng)
    judged = pool[:, : size.judged]
    subtopic = rng.integers(1, _SUBTOPICS + 1, size=judged.size)
    return rng, pool, _qrels(judged, _grades(judged.size, rng), subtopic)


def diversity_collection(size: Size) -> Collection:
    """One run; every judged document has a grade for each subtopic of its query."""
    rng = np.random.default_rng(_SEED)
    pool = _pool(size, rng)
    judged = np.repeat(pool[:, : size.judged], _SUBTOPICS, axis=1)
    subtopic = np.tile(np.arange(1, _SUBTOPICS + 1), judged.size // _SUBTOPICS)
    return Collection(
        _qrels(judged, _grades(judged.size, rng), subtopic), _run(size, pool, rng)
    )


def experiment(size: Size, runs: int = 5) -> Experiment:
    """Several runs of the same queries."""
    rng, pool, qrels = _made(size)
    qrels = qrels.assign(iteration="0")
    names = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    rank = np.tile(np.arange(size.depth), size.queries)
    tables = [
        _run(size, pool, rng).rename(columns=names).assign(rank=rank)
        for _ in range(runs)
    ]
    topics = pd.DataFrame({"qid": qrels["query_id"].unique()}).assign(query="text")
    return Experiment(tables, topics, qrels.rename(columns=names))


def dicts(size: Size) -> Dicts:
    """``collection`` as dicts of dicts."""
    made = collection(size)
    return Dicts(_nested(made.qrels, "relevance"), _nested(made.run, "score"))


def files(size: Size, folder: Path) -> Files:
    """Qrels and a run for every system as TREC files."""
    rng, pool, qrels = _made(size)
    paths = Files(
        str(folder / "qrels.txt"),
        {name: str(folder / f"{name}.txt") for name in _names(size.systems)},
    )
    tables = {paths.qrels: qrels[["query_id", "iteration", "doc_id", "relevance"]]}
    for name, path in paths.runs.items():
        run = _run(size, pool, rng).assign(
            q0="Q0", rank=np.tile(np.arange(size.depth), size.queries), tag=name
        )
        tables[path] = run[["query_id", "q0", "doc_id", "rank", "score", "tag"]]
    for path, table in tables.items():
        table.to_csv(path, sep=" ", header=False, index=False, lineterminator="\n")
    return paths


def systems(size: Size) -> Systems:
    """Rankings of the same queries by several systems."""
    rng = np.random.default_rng(_SEED)
    judged = _pool(size, rng)[:, : size.judged]
    grades = _grades(judged.size, rng)
    judgments = Judgments.from_qrels(
        _qrels(judged, grades, np.zeros(judged.size, dtype=np.int64))
    )
    ranks = {
        name: _synthetic_ranks(judgments, size, rng) for name in _names(size.systems)
    }
    some = np.flatnonzero(judgments.m())
    lists = []
    for system in ranks.values():
        found = system.relevant()
        ends, in_order = np.cumsum(found.r), found.rank.tolist()
        lists.append([in_order[ends[q] - found.r[q] : ends[q]] for q in some])
    return Systems(
        ranks, Positions.from_runs(list(ranks.values()), 1, None, some), lists
    )


def _synthetic_ranks(
    judgments: Judgments, size: Size, rng: np.random.Generator
) -> AlignedRun:
    """A system that retrieves some of the judged documents, at random ranks."""
    ranks = rng.permuted(
        np.tile(np.arange(1, size.depth + 1), (size.queries, 1)), axis=1
    )[:, : size.judged].ravel()
    doc = np.flatnonzero(rng.random(len(ranks)) < _FOUND)
    query, rank = judgments.query[doc], ranks[doc]
    order = np.lexsort((rank, query))
    depth = np.full(size.queries, size.depth)
    return AlignedRun(
        judgments, query=query[order], doc=doc[order], rank=rank[order], depth=depth
    )


def _names(count: int) -> list[str]:
    return [f"system{i:03d}" for i in range(count)]


def _pool(size: Size, rng: np.random.Generator) -> Ints:
    """Distinct documents for every query, shape ``(Q, judged + depth)``: the judged ones, then others."""
    n = size.judged + size.depth
    n_documents = max(_COLLECTION, 2 * n)
    rows = [rng.choice(n_documents, n, replace=False) for _ in range(size.queries)]
    return np.stack(rows)


def _grades(count: int, rng: np.random.Generator) -> Ints:
    return rng.choice(_MAX_GRADE + 1, count, p=_GRADE_SHARES)


def _qrels(judged: Ints, grades: Ints, subtopic: Ints) -> pd.DataFrame:
    ids = {"query_id": _query_ids(judged), "doc_id": _doc_ids(judged)}
    return pd.DataFrame(
        {**ids, "relevance": grades, "iteration": subtopic.astype(str).tolist()}
    )


def _run(size: Size, pool: Ints, rng: np.random.Generator) -> pd.DataFrame:
    """Rows by query and falling score; the judged documents that are found stand rather at the top."""
    retrieved = pool[:, size.judged :].copy()
    places = min(size.judged, size.depth)
    weight = 1 / np.arange(10, size.depth + 10)
    for ranking, judged in zip(retrieved, pool[:, :places], strict=True):
        found = judged[rng.random(places) < _FOUND]
        ranking[
            rng.choice(size.depth, len(found), replace=False, p=weight / weight.sum())
        ] = found
    score = np.sort(rng.uniform(0, 30, size=retrieved.shape), axis=1)[:, ::-1].round(
        4
    )  # some ties, as in real runs
    return pd.DataFrame(
        {
            "query_id": _query_ids(retrieved),
            "doc_id": _doc_ids(retrieved),
            "score": score.ravel(),
        }
    )


def _query_ids(docs: Ints) -> list[str]:
    return [
        str(query) for query in range(1, len(docs) + 1) for _ in range(docs.shape[1])
    ]


def _doc_ids(docs: Ints) -> list[str]:
    return [f"DOC-{doc:07d}" for doc in docs.ravel().tolist()]


def _nested(table: pd.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    nested: dict[str, dict[str, Any]] = {}
    for query_id, doc_id, number in zip(
        table["query_id"], table["doc_id"], table[value].tolist(), strict=True
    ):
        nested.setdefault(query_id, {})[doc_id] = number
    return nested
