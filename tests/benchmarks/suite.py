"""Many collections at once: what a benchmark of Parquet files costs beside a comparison of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import ir_lexirecall as irl
from ir_lexirecall.benchmarks import Benchmark
from tests.benchmarks.data import Size

MEASURES = ["nDCG@10", "AP", "R@1000", "TSE", "LR"]
_DOCUMENTS = 1_000_000

# By the collection's name its qrels and its runs by their names, as files.
Suite = dict[str, tuple[str, dict[str, str]]]


def write_suite(size: Size, collections: int, folder: Path) -> Suite:
    """Synthetic collections, all with runs of as many systems; files that are there already are kept.

    The better a system, the nearer to the top it ranks the judged documents.
    """
    suite: Suite = {}
    for c in range(collections):
        place = folder / f"collection{c:02d}"
        place.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(c)
        pool = documents(size, rng)
        judged = pool[:, : size.judged]
        write_rows(
            place / "qrels.parquet",
            judged,
            {"relevance": rng.integers(0, 4, judged.shape)},
        )
        runs = {}
        for s in range(size.systems):
            path = runs[f"system{s:03d}"] = place / f"system{s:03d}.parquet"
            if not path.exists():
                found, score = ranked(
                    pool, size, 1 + s / 20, np.random.default_rng([c, s])
                )
                write_rows(path, found, {"score": score})
        suite[place.name] = (
            str(place / "qrels.parquet"),
            {name: str(path) for name, path in runs.items()},
        )
    return suite


def documents(size: Size, rng: np.random.Generator) -> Any:
    """Distinct documents for every query in a random order, shape ``(Q, judged + depth)``: the judged ones, then others."""
    each = size.depth + size.judged
    apart = max(1, _DOCUMENTS // each)
    return rng.permuted(
        rng.integers(apart, size=(size.queries, 1)) + np.arange(each) * apart, axis=1
    )


def ranked(
    pool: Any, size: Size, merit: float, rng: np.random.Generator
) -> tuple[Any, Any]:
    """What a system retrieves of ``documents``, best first, and the scores; the larger ``merit``, the higher it ranks judged ones."""
    scores = rng.normal(size=pool.shape) + np.where(
        np.arange(pool.shape[1]) < size.judged, merit, 0
    )
    order = np.argsort(-scores, axis=1)[:, : size.depth]
    return np.take_along_axis(pool, order, axis=1), np.take_along_axis(
        scores, order, axis=1
    )


def write_rows(path: Path, docs: Any, values: dict[str, Any], first: int = 1) -> None:
    """A Parquet file of the documents of each query, the first of which has the number ``first``."""
    query = np.repeat(np.arange(first, first + len(docs)), docs.shape[1])
    table = pl.DataFrame(
        {
            "query": query,
            "doc": docs.ravel(),
            **{name: x.ravel() for name, x in values.items()},
        }
    )
    ids = {
        "query_id": pl.format("{}", "query"),
        "doc_id": pl.format("DOC-{}", pl.col("doc").cast(str).str.zfill(7)),
    }
    table.select(**ids, **{name: pl.col(name) for name in values}).write_parquet(path)


def compare_each(suite: Suite) -> None:
    """The tables of as many ``compare`` calls as there are collections, by lexirecall and all measures."""
    for qrels, runs in suite.values():
        irl.compare(
            qrels,
            runs,
            ["lexirecall", *MEASURES],
            baseline=next(iter(runs)),
            test=irl.SignificanceTest(progress=False),
        ).table()


def benchmark_all(suite: Suite) -> Benchmark:
    """One ``benchmark`` call, and all tables that it gives collection by collection."""
    baseline = next(iter(next(iter(suite.values()))[1]))
    result = irl.benchmark(
        {name: qrels for name, (qrels, _) in suite.items()},
        {name: runs for name, (_, runs) in suite.items()},
        ["lexirecall", *MEASURES],
        baseline=baseline,
        test=irl.SignificanceTest(progress=False),
    )
    result.table()
    return result
