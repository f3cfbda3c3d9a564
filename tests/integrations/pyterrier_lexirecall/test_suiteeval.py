"""The real SuiteEval on a small suite of local data sets: its folders read, its suite run, the same values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from ir_measures import nDCG

import ir_lexirecall as irl
from ir_lexirecall import LR, demo

pt = pytest.importorskip("pyterrier")
base = pytest.importorskip("suiteeval.suite.base")

RUNS = ("bm25", "ql", "tfidf")
OPTIONS: dict[str, Any] = {
    "baseline": "bm25",
    "test": irl.SignificanceTest(n_resamples=100, progress=False),
}


class Part:
    """Every other query of the embedded collection, as a data set of PyTerrier's kind."""

    _irds_id = "lexirecall/demo"

    def __init__(self, start: int) -> None:
        self.query_ids = sorted(demo.qrels()["query_id"].unique())[start::2]

    def get_topics(self, variant: str | None = None) -> pd.DataFrame:
        topics = demo.queries()[["query_id", "text"]].set_axis(["qid", "query"], axis=1)
        return topics[topics["qid"].isin(self.query_ids)]

    def get_qrels(self, variant: str | None = None) -> pd.DataFrame:
        grades = (
            demo.qrels()
            .groupby(["query_id", "doc_id"], as_index=False)["relevance"]
            .max()
        )
        qrels = grades.set_axis(["qid", "docno", "label"], axis=1)
        return qrels[qrels["qid"].isin(self.query_ids)]


def pipelines(context: Any) -> Iterator[tuple[Any, str]]:
    for name in RUNS:
        run = demo.run(name).rename(columns={"query_id": "qid", "doc_id": "docno"})
        yield pt.Transformer.from_df(pt.model.add_ranks(run)), name


def test_its_folder_and_its_suite_give_its_values(tmp_path: Path) -> None:
    from pyterrier_lexirecall import Benchmark

    pytest.importorskip("ir_datasets_lexirecall")  # registers the embedded collection
    parts = {"Local/Part-0": Part(0), "Local/Part-1": Part(1)}
    suite = type(
        "Tiny", (base.Suite,), {"_datasets": parts, "_measures": [nDCG @ 10, LR]}
    )()
    theirs = suite(pipelines, save_dir=str(tmp_path)).set_index(["dataset", "name"])
    qrels = {name: part.get_qrels() for name, part in parts.items()}
    result = irl.benchmark(qrels, tmp_path, ["nDCG@10", "LR"], **OPTIONS)
    for _, row in result.means().iterrows():
        column = {"LR": "LexiRecall"}.get(row["criterion"], row["criterion"])
        assert row["mean"] == pytest.approx(
            theirs.loc[(row["collection"], row["run"]), column], abs=1e-12
        )
    # Its files are there already, so nothing runs again.
    again = Benchmark(pipelines, suite, ["nDCG@10", "LR"], save_dir=tmp_path, **OPTIONS)
    assert again.means().equals(result.means())
