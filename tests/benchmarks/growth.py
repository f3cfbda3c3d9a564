"""What grows with the number of runs or documents: beside half of it, or beside a peer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ir_lexirecall as irl
from tests.benchmarks import data
from tests.benchmarks.data import Collection, Size

MANY_RUNS = Size(queries=50, depth=0, judged=0, systems=2000)
REPORTED_RUNS = Size(queries=50, depth=0, judged=0, systems=300)
LEADERBOARD = Size(queries=41, depth=0, judged=0, systems=332)  # tasks and models
ONE_QUERY = Size(queries=1, depth=5_000_000, judged=10_000)
_MEASURE = "AP"


@dataclass(frozen=True)
class Values:
    """Values by query: of all runs, and of the first half of them."""

    whole: dict[str, pd.DataFrame]
    half: dict[str, pd.DataFrame]
    folder: Path


@dataclass(frozen=True)
class Board:
    """Scores of models on tasks: of all models, and of the first half of them."""

    whole: pd.DataFrame
    half: pd.DataFrame


def values(size: Size, folder: Path) -> Values:
    """Return values of so many systems, whose means differ a little."""
    rng = np.random.default_rng(0)
    query_ids = [f"q{q}" for q in range(size.queries)]
    strength = rng.normal(0, 0.05, size.systems)
    whole = {
        f"run{s}": pd.DataFrame(
            {
                "query_id": query_ids,
                _MEASURE: np.clip(
                    rng.normal(0.3 + strength[s], 0.2, size.queries), 0, 1
                ),
            }
        )
        for s in range(size.systems)
    }
    half = dict(list(whole.items())[: max(2, size.systems // 2)])
    return Values(whole, half, folder)


def leaderboard(size: Size, share_missing: float) -> Board:
    """Return a score of each model on each task, but for a share that are missing."""
    rng = np.random.default_rng(0)
    score = rng.normal(0.5, 0.1, (1, size.queries)) + rng.normal(
        0, 0.05, (size.systems, 1)
    )
    score += rng.normal(0, 0.03, score.shape)
    table = pd.DataFrame(
        {
            "task": np.tile([f"task{t}" for t in range(size.queries)], size.systems),
            "run": np.repeat([f"model{s}" for s in range(size.systems)], size.queries),
            "score": score.ravel(),
        }
    )
    table = table[rng.random(len(table)) >= share_missing]
    first = {f"model{s}" for s in range(size.systems // 2)}
    return Board(table, table[table["run"].isin(first)])


def one_query(size: Size, _: Path) -> Collection:
    """Return a run of one query with millions of documents, and its qrels."""
    return data.collection(size)


def table_of(runs: dict[str, pd.DataFrame]) -> Any:
    """Return the table of all pairs."""
    return irl.compare(values=runs).table()


def summary_of(runs: dict[str, pd.DataFrame]) -> str:
    """Return what the comparison says, without its table."""
    return irl.compare(values=runs).summary()


def report_of(runs: dict[str, pd.DataFrame], folder: Path) -> Path:
    """Write the report."""
    return irl.report(irl.compare(values=runs), folder / "report.html", progress=False)


def overall_of(scores: pd.DataFrame) -> pd.DataFrame:
    """Return means, ranks and their intervals over all tasks."""
    return irl.benchmark(values=scores, missing="skip").overall()
