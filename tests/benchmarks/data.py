"""What the benchmarks run on: synthetic collections of any size, and the TREC 2003 Robust runs where they are there."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.preferences.functions import Positions

_ROBUST = Path(__file__).parents[3] / "shared" / "data" / "robust2003"  # no part of the project
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
ROBUST_2003 = Size(queries=100, depth=1000, judged=60, systems=17)
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
        positions: ranks of the retrieved relevant documents, by system and query with m > 0, in arrays;
        relevant: the same as plain lists.
        m: number of relevant documents of those queries.
    """

    ranks: dict[str, AlignedRun]
    positions: Positions
    relevant: list[list[list[int]]]
    m: list[int]


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
    return Collection(_qrels(judged, _grades(judged.size, rng), subtopic), _run(size, pool, rng))


def experiment(size: Size, runs: int = 5) -> Experiment:
    """Several runs of the same queries."""
    rng, pool, qrels = _made(size)
    qrels = qrels.assign(iteration="0")
    names = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}
    rank = np.tile(np.arange(size.depth), size.queries)
    tables = [_run(size, pool, rng).rename(columns=names).assign(rank=rank) for _ in range(runs)]
    topics = pd.DataFrame({"qid": qrels["query_id"].unique()}).assign(query="text")
    return Experiment(tables, topics, qrels.rename(columns=names))


def dicts(size: Size) -> Dicts:
    """``collection`` as dicts of dicts."""
    made = collection(size)
    return Dicts(_nested(made.qrels, "relevance"), _nested(made.run, "score"))


def converted(size: Size, _: Path, *, convert: Callable[[pd.DataFrame], Any]) -> Collection:
    """``collection`` in another form."""
    made = collection(size)
    return Collection(convert(made.qrels), convert(made.run))


class _Judgment(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class _Scored(NamedTuple):
    query_id: str
    doc_id: str
    score: float


def _tuples(table: pd.DataFrame) -> list[Any]:
    kind: Any = _Judgment if "relevance" in table else _Scored
    return list(map(kind._make, zip(*(table[name].tolist() for name in kind._fields), strict=True)))


FORMS: dict[str, tuple[str, Callable[[pd.DataFrame], Any]]] = {
    "objects": (
        "DataFrames with strings as objects",
        lambda table: table.astype({"query_id": object, "doc_id": object}),
    ),
    "polars": ("Polars tables", pl.from_pandas),
    "arrow": ("Arrow tables", lambda table: pl.from_pandas(table).to_arrow()),
    "tuples": ("lists of named tuples", _tuples),
}
SUFFIXES = (".txt.gz", ".txt.bz2", ".txt.zst", ".csv", ".parquet")


def files(size: Size, folder: Path, suffix: str) -> Files:
    """Qrels as a TREC file, and a run for every system, as one of ``SUFFIXES`` or ``.txt``."""
    rng, pool, qrels = _made(size)
    paths = Files(str(folder / "qrels.txt"), {name: str(folder / f"{name}{suffix}") for name in _names(size.systems)})
    _write(qrels[["query_id", "iteration", "doc_id", "relevance"]], paths.qrels)
    for name, path in paths.runs.items():
        run = _run(size, pool, rng).assign(q0="Q0", rank=np.tile(np.arange(size.depth), size.queries), tag=name)
        _write(run[["query_id", "q0", "doc_id", "rank", "score", "tag"]], path)
    return paths


def comparison_files(size: Size, folder: Path) -> Files:
    """The files of the Robust runs where they are there, at their size; else synthetic ones."""
    if size == ROBUST_2003 and _ROBUST.is_dir():
        runs = sorted((_ROBUST / "runs").iterdir())
        return Files(str(_ROBUST / "qrels.txt.gz"), {path.stem: str(path) for path in runs})
    return files(size, folder, ".txt.gz")


def systems(size: Size, folder: Path) -> Systems:
    """The Robust runs where they are there, at their size; else synthetic rankings."""
    if size == ROBUST_2003 and _ROBUST.is_dir():
        paths = comparison_files(size, folder)
        judgments = Judgments.from_qrels(paths.qrels)
        return _systems(judgments, {name: align(judgments, path) for name, path in paths.runs.items()})
    return _synthetic_systems(size)


def system_scores(size: Size) -> Floats:
    """A score for every query and system, shape ``(Q, S)``: how good the system is, how hard the query, and noise."""
    rng = np.random.default_rng(_SEED)
    system, query = rng.normal(size=size.systems), rng.normal(size=(size.queries, 1))
    scores: Floats = 0.2 * system + query + rng.normal(size=(size.queries, size.systems))
    return scores


def _synthetic_systems(size: Size) -> Systems:
    rng = np.random.default_rng(_SEED)
    judged = _pool(size, rng)[:, : size.judged]
    grades = _grades(judged.size, rng)
    judgments = Judgments.from_qrels(_qrels(judged, grades, np.zeros(judged.size, dtype=np.int64)))
    return _systems(judgments, {name: _synthetic_ranks(judgments, size, rng) for name in _names(size.systems)})


def _synthetic_ranks(judgments: Judgments, size: Size, rng: np.random.Generator) -> AlignedRun:
    """A system that retrieves some of the judged documents, at random ranks."""
    ranks = rng.permuted(np.tile(np.arange(1, size.depth + 1), (size.queries, 1)), axis=1)[:, : size.judged].ravel()
    doc = np.flatnonzero(rng.random(len(ranks)) < _FOUND)
    query, rank = judgments.query[doc], ranks[doc]
    order = np.lexsort((rank, query))
    depth = np.full(size.queries, size.depth)
    return AlignedRun(judgments, query=query[order], doc=doc[order], rank=rank[order], depth=depth)


def _systems(judgments: Judgments, ranks: dict[str, AlignedRun]) -> Systems:
    m = judgments.m()
    some = np.flatnonzero(m)
    lists = []
    for system in ranks.values():
        found = system.relevant()
        ends = np.cumsum(found.r)
        in_order = found.rank.tolist()
        lists.append([in_order[ends[q] - found.r[q] : ends[q]] for q in some])
    positions = Positions.from_runs(list(ranks.values()), 1, None, some)
    return Systems(ranks, positions, lists, m[some].tolist())


def _names(count: int) -> list[str]:
    return [f"system{i:03d}" for i in range(count)]


def _pool(size: Size, rng: np.random.Generator) -> Ints:
    """Distinct documents for every query, shape ``(Q, judged + depth)``: the judged ones, then others."""
    rows = [rng.choice(_COLLECTION, size.judged + size.depth, replace=False) for _ in range(size.queries)]
    return np.stack(rows)


def _grades(count: int, rng: np.random.Generator) -> Ints:
    return rng.choice(_MAX_GRADE + 1, count, p=_GRADE_SHARES)


def _qrels(judged: Ints, grades: Ints, subtopic: Ints) -> pd.DataFrame:
    ids = {"query_id": _query_ids(judged), "doc_id": _doc_ids(judged)}
    return pd.DataFrame({**ids, "relevance": grades, "iteration": subtopic.astype(str).tolist()})


def _run(size: Size, pool: Ints, rng: np.random.Generator) -> pd.DataFrame:
    """Rows by query and falling score; the judged documents that are found stand rather at the top."""
    retrieved = pool[:, size.judged :].copy()
    places = min(size.judged, size.depth)
    weight = 1 / np.arange(10, size.depth + 10)
    for ranking, judged in zip(retrieved, pool[:, :places], strict=True):
        found = judged[rng.random(places) < _FOUND]
        ranking[rng.choice(size.depth, len(found), replace=False, p=weight / weight.sum())] = found
    score = np.sort(rng.uniform(0, 30, size=retrieved.shape), axis=1)[:, ::-1].round(4)  # some ties, as in real runs
    return pd.DataFrame({"query_id": _query_ids(retrieved), "doc_id": _doc_ids(retrieved), "score": score.ravel()})


def _query_ids(docs: Ints) -> list[str]:
    return [str(query) for query in range(1, len(docs) + 1) for _ in range(docs.shape[1])]


def _doc_ids(docs: Ints) -> list[str]:
    return [f"DOC-{doc:07d}" for doc in docs.ravel().tolist()]


def _nested(table: pd.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    nested: dict[str, dict[str, Any]] = {}
    for query_id, doc_id, number in zip(table["query_id"], table["doc_id"], table[value].tolist(), strict=True):
        nested.setdefault(query_id, {})[doc_id] = number
    return nested


def _write(table: pd.DataFrame, path: str) -> None:
    if path.endswith(".parquet"):
        table.to_parquet(path, index=False)
        return
    delimited = path.endswith(".csv")
    text = table.to_csv(sep="," if delimited else " ", header=delimited, index=False, lineterminator="\n").encode()
    pack = _PACKERS.get(Path(path).suffix)
    Path(path).write_bytes(pack(text) if pack else text)


def _zstd(text: bytes) -> bytes:
    for name in ("compression.zstd", "backports.zstd"):
        if find_spec(name.partition(".")[0]) and find_spec(name):
            packed: bytes = import_module(name).compress(text)
            return packed
    raise ModuleNotFoundError("this case needs a package for .zst: pip install '.[files]'")


_PACKERS: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": _zstd}
