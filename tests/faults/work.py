"""Evaluations from every kind of input, as texts: what workers of all kinds must give to the last bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import polars
import pyarrow
from ir_measures import ScoredDoc

import ir_lexirecall as irl
from ir_lexirecall import meta
from ir_lexirecall.data.judgments import Judgments

OURS = ["TSE", "LR", "AP", "nDCG@10", "RBU", "CWL_ERR10(max_rel=2)", "alpha_nDCG@10"]
ASPECTS = [
    "TOMA(aspects={'relevance':2,'quality':2})",
    "CAM(aspects={'relevance':2,'quality':2})",
]


class Inputs:
    """A made-up collection, large enough that its tables are read by Polars, in every form; files stand in a folder."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(0)
        documents = [f"d{i}" for i in range(2000)]
        self.folder = folder
        self.run = {
            f"q{q}": {
                documents[d]: float(rng.integers(0, 40))
                for d in rng.choice(2000, 120, replace=False)
            }
            for q in range(60)
        }
        self.qrels = {
            f"q{q}": {
                documents[d]: int(rng.integers(0, 3))
                for d in rng.choice(2000, 40, replace=False)
            }
            for q in range(60)
        }
        self.rows = [
            (q, d, score)
            for q, ranking in self.run.items()
            for d, score in ranking.items()
        ]
        self.judged = [
            (q, d, grade) for q, docs in self.qrels.items() for d, grade in docs.items()
        ]
        self.run_frame = pd.DataFrame(
            self.rows, columns=["query_id", "doc_id", "score"]
        ).assign(rank=1)
        self.run_polars = polars.DataFrame(self.run_frame)
        self.run_arrow = pyarrow.Table.from_pandas(self.run_frame)
        self.qrels_frame = pd.DataFrame(
            self.judged, columns=["query_id", "doc_id", "relevance"]
        )
        self.aspects = self.qrels_frame.assign(
            quality=rng.integers(0, 3, len(self.judged))
        )
        self.judgments = Judgments.from_qrels(self.aspects)
        self.few = Judgments.from_qrels(self.qrels)
        self.shuffled = rng.permutation(len(self.rows)).tolist()

    def write(self) -> None:
        """Write the files."""
        lines = [f"{q} Q0 {d} 1 {score} t\n" for q, d, score in self.rows]
        self.path("run.txt").write_text("".join(lines))
        self.path("shuffled.txt").write_text("".join(lines[i] for i in self.shuffled))
        self.path("odd.txt").write_text(
            "".join(lines).replace(" Q0 ", "\t\f Q0  ") + "\n \v\n"
        )
        self.path("qrels.txt").write_text(
            "".join(f"{q} 0 {d} {grade}\n" for q, d, grade in self.judged)
        )
        self.path("run.json").write_text(json.dumps(self.run))
        self.run_frame.to_csv(self.path("run.csv"), index=False)
        self.aspects.to_csv(self.path("qrels.csv"), index=False)
        self.run_frame.to_parquet(self.path("run.parquet"))
        self.aspects.to_parquet(self.path("qrels.parquet"))

    def path(self, name: str) -> Path:
        """The path of a file."""
        return self.folder / name


def _values(measures: Any, qrels: Any, run: Any, **options: Any) -> str:
    return irl.evaluate(measures, qrels, run, **options).to_numpy().tobytes().hex()


def _refusal(call: Callable[[], Any]) -> str:
    try:
        call()
    except ValueError as error:
        return str(error)
    raise AssertionError("nothing was refused")


def _accelerated(inputs: Inputs) -> str:
    with irl.accelerate():
        found = ir_measures.calc_aggregate(
            [ir_measures.AP, irl.LR], inputs.qrels_frame, inputs.run_frame
        )
    return repr(found)


def _runs(inputs: Inputs) -> dict[str, Any]:
    return {
        "frame": inputs.run_frame,
        "file": inputs.path("shuffled.txt"),
        "dict": inputs.run,
    }


CASES: dict[str, Callable[[Inputs], str]] = {
    "dicts": lambda i: _values(OURS, i.qrels, i.run),
    "frames": lambda i: _values(OURS, i.qrels_frame, i.run_frame),
    "frames with aspects": lambda i: _values(ASPECTS, i.aspects, i.run_frame),
    "Polars": lambda i: _values(ASPECTS, i.judgments, i.run_polars),
    "Arrow": lambda i: _values(OURS, i.few, i.run_arrow),
    "a generator": lambda i: _values(OURS, i.few, (ScoredDoc(*row) for row in i.rows)),
    "files": lambda i: _values(OURS, i.path("qrels.txt"), i.path("run.txt")),
    "an odd file": lambda i: _values(OURS, i.few, i.path("odd.txt")),
    "CSV": lambda i: _values(ASPECTS, i.path("qrels.csv"), i.path("run.csv")),
    "Parquet": lambda i: _values(
        ASPECTS, i.path("qrels.parquet"), i.path("run.parquet")
    ),
    "JSON": lambda i: _values(OURS, i.few, i.path("run.json")),
    "excluded documents": lambda i: _values(
        OURS, irl.load(i.aspects, exclude={"q1": ["d1"]}), i.run_frame
    ),
    "ir_measures": lambda i: repr(
        ir_measures.calc_aggregate([irl.LR, irl.TSE], i.qrels_frame, i.run_frame)
    ),
    "accelerated": _accelerated,
    "compare": lambda i: (
        irl.compare(i.few, _runs(i), ["lexirecall", "rpp", "AP"]).table().to_csv()
    ),
    "explain": lambda i: (
        irl.compare(i.judgments, _runs(i)).explain("frame", "file").to_csv()
    ),
    "benchmark": lambda i: (
        irl.benchmark(i.few, _runs(i), ["AP", "LR"]).table().to_csv()
    ),
    "a study": lambda i: (
        meta.Study(["AP", *ASPECTS], i.judgments, _runs(i))
        .degrade(fractions=[0.5], n_samples=2)
        .to_csv()
    ),
    "simulated runs": lambda i: repr(
        meta.simulate_rankings(1000, 5, 50, queries=4, systems=3).runs
    ),
    "a document twice": lambda i: _refusal(
        lambda: irl.evaluate(
            "LR", i.judgments, pd.concat([i.run_frame, i.run_frame.tail(3)])
        )
    ),
    "no number": lambda i: _refusal(
        lambda: irl.evaluate("LR", i.few, i.run_frame.assign(score=np.nan))
    ),
}


@cache
def inputs(folder: str) -> Inputs:
    """The inputs, made once in a process."""
    return Inputs(Path(folder))


def outcome(name: str, folder: str) -> str:
    """What a case gives."""
    return CASES[name](inputs(folder))


def outcomes(folder: str) -> dict[str, str]:
    """What all cases give."""
    return {name: outcome(name, folder) for name in CASES}
