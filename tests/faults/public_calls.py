"""One small call of every public function, and of every reader, whose results can be compared as texts."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ir_lexirecall as irl
from ir_lexirecall import demo, meta
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.evaluation import arrow
from ir_lexirecall.evaluation.evaluating import recall_curves
from ir_lexirecall.io.columns import top_k
from ir_lexirecall.io.groups import read_groups
from ir_lexirecall.io.measure_names import from_trec_eval, trec_eval_lines
from ir_lexirecall.io.readers import nugget_qrels
from ir_lexirecall.io.reviews import read_asreview, read_reviews
from ir_lexirecall.io.search_engines import read_judgments, read_rank_eval
from ir_lexirecall.io.texts import texts_of
from ir_lexirecall.io.values import read_collections, read_values
from ir_lexirecall.judging.files import (
    merged,
    merged_judges,
    write_pool_csv,
    write_pool_page,
)
from ir_lexirecall.measures.parameters import cutoff, rel

FILES = Path(__file__).parents[1] / "files"
MEASURES = ["AP", "nDCG@5", "LR"]
QUICK = irl.SignificanceTest(n_resamples=99, progress=False)

QRELS = [(f"q{q}", f"d{d}", (q + d) % 3) for q in range(6) for d in range(9)]
RUN = [(f"q{q}", f"d{d}", 0.5 + (q * d) % 7) for q in range(6) for d in range(12)]
OTHER = [
    (f"q{q}", f"d{d}", 0.5 + (q + d * d) % 11) for q in range(6) for d in range(12)
]


def lines(rows: list[tuple[Any, ...]], form: str, separator: str = " ") -> str:
    """Return a line for each row."""
    return "".join(form.format(*row).replace(" ", separator) + "\n" for row in rows)


def nested(rows: list[tuple[str, str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the rows as ``{query: {document: number}}``."""
    by_query: dict[str, dict[str, Any]] = {}
    for query_id, doc_id, number in rows:
        by_query.setdefault(query_id, {})[doc_id] = number
    return by_query


def json_lines(rows: list[tuple[str, str, Any]], number: str) -> str:
    """Return a JSON object a line for each row."""
    names = ("query_id", "doc_id", number)
    return "".join(
        json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows
    )


VALUES = [
    (q, m, (i + j) / 7)
    for i, q in enumerate("abcdef")
    for j, m in enumerate(["AP", "RR"])
]
TEXTS = {
    "qrels.txt": lines(QRELS, "{0} 0 {1} {2}"),
    "qrels.csv": "query_id,doc_id,relevance\n" + lines(QRELS, "{0} {1} {2}", ","),
    "qrels.tsv": "query-id\tcorpus-id\tscore\n" + lines(QRELS, "{0} {1} {2}", "\t"),
    "qrels.json": json.dumps(nested(QRELS)),
    "qrels.jsonl": json_lines(QRELS, "relevance"),
    "aspects.txt": "query_id doc_id relevance weight\n"
    + lines(QRELS, "{0} {1} {2} 0.5"),
    "run.txt": lines(RUN, "{0} Q0 {1} 1 {2} tag"),
    "run.csv": "query_id,doc_id,score\n" + lines(RUN, "{0} {1} {2}", ","),
    "run.tsv": "score\tdoc_id\tquery_id\n" + lines(RUN, "{2} {1} {0}", "\t"),
    "run.json": json.dumps(nested(RUN)),
    "run.jsonl": json_lines(RUN, "score"),
    "other.txt": lines(OTHER, "{0} Q0 {1} 1 {2} tag"),
    "values.csv": "query_id,AP\n" + "".join(f"q{q},{q / 7}\n" for q in range(6)),
    "values.tsv": "query_id\tAP\n" + "".join(f"q{q}\t{q * q / 49}\n" for q in range(6)),
    "values.trec_eval": "".join(f"map\tq{q}\t{q / 8:.4f}\n" for q in range(6)),
    "groups.csv": "query_id,group\n"
    + "".join(f"q{q},{['even', 'odd'][q % 2]}\n" for q in range(6)),
    "texts.tsv": "".join(f"d{d}\ttext of {d}\n" for d in range(12)),
}


def write_files(folder: Path) -> None:
    """Write the files that the cases read."""
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    for name in ("qrels.txt", "run.txt"):
        (folder / f"{name}.gz").write_bytes(gzip.compress(TEXTS[name].encode()))
    pd.DataFrame(QRELS, columns=["query_id", "doc_id", "relevance"]).to_parquet(
        folder / "qrels.parquet"
    )
    pd.DataFrame(RUN, columns=["query_id", "doc_id", "score"]).to_parquet(
        folder / "run.parquet"
    )


def text_of(result: Any) -> str:
    """Return a result as a text that has all digits."""
    if isinstance(result, pd.DataFrame):
        return str(result.to_csv())
    if isinstance(result, np.ndarray):
        return result.tobytes().hex()
    if isinstance(result, Mapping):
        return "; ".join(f"{name}: {text_of(value)}" for name, value in result.items())
    if isinstance(result, (tuple, list)):
        return "; ".join(map(text_of, result))
    return repr(result)


def values(qrels: str, run: str) -> Callable[[Path], Any]:
    """Return a call that evaluates a file with a file."""
    return lambda folder: irl.evaluate(
        MEASURES, folder / qrels, folder / run
    ).to_numpy()


def compared(folder: Path) -> Any:
    """Return a comparison of two runs from files."""
    runs = {"a": folder / "run.csv", "b": folder / "other.txt"}
    return irl.compare(folder / "qrels.csv", runs, ["AP", "lexirecall"], test=QUICK)


def benchmarked(folder: Path) -> Any:
    """Return a comparison of two runs on two collections."""
    qrels = {name: folder / f"qrels.{name}" for name in ("txt", "csv")}
    runs = {"a": folder / "run.csv", "b": folder / "other.txt"}
    return irl.benchmark(
        qrels, dict.fromkeys(qrels, runs), ["AP", "LR"], test=QUICK, baseline="a"
    )


def studied(folder: Path) -> Any:
    """Return a study of two measures."""
    runs = {"a": folder / "run.csv", "b": folder / "other.txt"}
    return meta.Study(["AP", "LR"], folder / "qrels.txt", runs)


def written(folder: Path, name: str, write: Callable[[Path], Any]) -> str:
    """Return the content of a file that a function writes; its name stands for no other process's."""
    path = folder / name
    write(path)
    content = path.read_text()
    path.unlink()
    return content


def demo_files(folder: Path) -> list[str]:
    """Return the names of the files of the embedded collection, written anew."""
    with tempfile.TemporaryDirectory(dir=folder) as new:
        return sorted(Path(path).name for path in demo.write(Path(new) / "demo"))


def judgments(folder: Path) -> Judgments:
    """Return the judgments of a file."""
    loaded = irl.load(str(folder / "qrels.txt"))
    assert isinstance(loaded, Judgments)
    return loaded


def accelerated(folder: Path) -> Any:
    """Return ir_measures' values with this library's engine."""
    import ir_measures

    frames = (
        pd.DataFrame(QRELS, columns=["query_id", "doc_id", "relevance"]),
        pd.DataFrame(RUN, columns=["query_id", "doc_id", "score"]),
    )
    with irl.accelerate():
        return ir_measures.calc_aggregate([ir_measures.AP, irl.LR], *frames)


def arrow_tables(folder: Path) -> tuple[Any, Any]:
    """Return qrels and run as Arrow tables."""
    import pyarrow as pa

    return (
        pa.table(
            dict(
                zip(
                    ("query_id", "doc_id", "relevance"),
                    zip(*QRELS, strict=True),
                    strict=True,
                )
            )
        ),
        pa.table(
            dict(
                zip(
                    ("query_id", "doc_id", "score"), zip(*RUN, strict=True), strict=True
                )
            )
        ),
    )


NUGGET = {"text": "Rome", "importance": "vital", "assignment": "support"}
HIT = {"hit": {"_index": "films", "_id": "42", "_score": 3.1}, "rating": 1}
DETAILS = {"amsterdam": {"metric_score": 1.0, "unrated_docs": [], "hits": [HIT]}}
RATINGS = {"query": "red", "ratings": [{"docId": "B07", "rating": "0.66"}]}
TO_JUDGE = pd.DataFrame(
    {"query_id": ["q1"], "doc_id": ["d1"], "criterion": ["AP"], "pairs": [1]}
)

# Every function that the reference describes, by its name there; ``name, detail`` is a further case of it.
FUNCTIONS: dict[str, Callable[[Path], Any]] = {
    "accelerate": accelerated,
    "benchmark": lambda folder: benchmarked(folder).table(),
    "compare": lambda folder: compared(folder).table(),
    "data.alignment.align": lambda folder: (
        align(judgments(folder), str(folder / "run.txt")).rank
    ),
    "data.demo.docs": lambda folder: demo.docs(),
    "data.demo.qrels": lambda folder: demo.qrels(),
    "data.demo.queries": lambda folder: demo.queries(),
    "data.demo.run": lambda folder: demo.run("bm25"),
    "data.demo.runs": lambda folder: demo.runs(),
    "data.demo.subtopics": lambda folder: demo.subtopics(),
    "data.demo.write": demo_files,
    "describe": lambda folder: irl.describe("AP"),
    "evaluate": values("qrels.txt", "run.txt"),
    "evaluation.arrow.align_arrow": lambda folder: arrow.align_arrow(
        *arrow_tables(folder)
    ).to_pylist(),
    "evaluation.arrow.evaluate_arrow": lambda folder: arrow.evaluate_arrow(
        MEASURES, *arrow_tables(folder)
    ).to_pylist(),
    "evaluation.arrow.measures_by_column": lambda folder: [
        *arrow.measures_by_column(MEASURES)
    ],
    "evaluation.arrow.ranks_from_arrow": lambda folder: (
        arrow.ranks_from_arrow(
            judgments(folder),
            arrow.ranks_to_arrow(align(judgments(folder), str(folder / "run.txt"))),
        ).rank
    ),
    "evaluation.arrow.ranks_to_arrow": lambda folder: arrow.ranks_to_arrow(
        align(judgments(folder), str(folder / "run.txt"))
    ).to_pylist(),
    "evaluation.evaluating.recall_curves": lambda folder: recall_curves(
        folder / "qrels.txt", {"a": folder / "run.txt"}
    ),
    "gate": lambda folder: (
        irl.gate(
            folder / "qrels.txt",
            folder / "run.txt",
            folder / "other.txt",
            "AP",
            test=QUICK,
        ).outcome
    ),
    "io.columns.top_k": lambda folder: top_k(
        ["q"], [[2, 0]], [[0.9, 0.5]], names=["a", "b", "c"]
    ),
    "io.groups.read_groups": lambda folder: (
        read_groups(folder / "groups.csv", [f"q{q}" for q in range(6)]).code
    ),
    "io.measure_names.from_trec_eval": lambda folder: from_trec_eval(["map", "P.5,10"]),
    "io.measure_names.trec_eval_lines": lambda folder: trec_eval_lines(
        {"AP": 0.25}, run="bm25"
    ),
    "io.readers.nugget_qrels": lambda folder: nugget_qrels(
        [{"qid": "1", "docid": "d7", "nuggets": [NUGGET]}]
    ),
    "io.reviews.read_asreview": lambda folder: sorted(
        read_asreview(FILES / "asreview" / "bees-nb-v2.asreview").relevant
    ),
    "io.reviews.read_reviews": lambda folder: irl.evaluate(
        "AP", *vars_of(read_reviews([FILES / "asreview" / "bees-nb-v2.asreview"]))
    ),
    "io.search_engines.read_judgments": lambda folder: read_judgments(
        {"judgmentRatings": [RATINGS]}, levels=3
    ),
    "io.search_engines.read_rank_eval": lambda folder: (
        read_rank_eval({"metric_score": 1.0, "details": DETAILS, "failures": {}}).run
    ),
    "io.texts.texts_of": lambda folder: texts_of(folder / "texts.tsv", ["d3", "d7"]),
    "io.values.read_collections": lambda folder: read_collections(
        pd.DataFrame(
            {"collection": ["c", "c"], "query_id": ["q", "q"], "run": ["a", "b"]}
        ).assign(AP=[0.1, 0.2])
    )["c"].values["AP"],
    "io.values.read_values": lambda folder: read_values(
        {"a": folder / "values.csv", "b": folder / "values.tsv"}
    ).values["AP"],
    "io.values.read_values, trec_eval": lambda folder: (
        read_values({"a": folder / "values.trec_eval"}).values
    ),
    "judging.files.merged": lambda folder: (
        merged(judgments(folder), folder / "qrels.csv").grade
    ),
    "judging.files.merged_judges": lambda folder: merged_judges(
        folder / "qrels.txt", folder / "qrels.csv"
    ),
    "judging.files.write_pool_csv": lambda folder: written(
        folder,
        "pool.csv",
        lambda path: write_pool_csv(TO_JUDGE, path, texts=folder / "texts.tsv"),
    ),
    "judging.files.write_pool_page": lambda folder: written(
        folder,
        "pool.html",
        lambda path: write_pool_page(TO_JUDGE, path, texts=folder / "texts.tsv"),
    ),
    "judgment_bounds": lambda folder: irl.judgment_bounds(
        MEASURES, folder / "qrels.txt", folder / "run.txt"
    ),
    "load": lambda folder: judgments(folder).grade,
    "measures.parameters.cutoff": lambda folder: cutoff().default,
    "measures.parameters.rel": lambda folder: rel().default,
    "meta.axioms": lambda folder: meta.axioms("RR", size=4, cases=5),
    "meta.balancing_index": lambda folder: meta.balancing_index(["AP"], [20]),
    "meta.interval_scale": lambda folder: meta.interval_scale(["P@5"]),
    "meta.orientation": lambda folder: meta.orientation(["RR"], n=10, m=2),
    "meta.plot": lambda folder: meta.plot(
        meta.tie_probabilities(n=1000, m=[3, 10])
    ).get_xlabel(),
    "meta.provider_exposure": lambda folder: meta.provider_exposure(
        folder / "qrels.txt",
        {"a": folder / "run.csv"},
        {f"d{d}": "odd" if d % 2 else "even" for d in range(12)},
    ),
    "meta.reachable_maximum": lambda folder: meta.reachable_maximum(
        [irl.CAM(aspects={"relevance": 2, "quality": 2}, base="RR")],
        pd.DataFrame(QRELS, columns=["query_id", "doc_id", "relevance"]).assign(
            quality=1
        ),
    ),
    "meta.properties": lambda folder: meta.properties(),
    "meta.simulate_rankings": lambda folder: (
        meta.simulate_rankings(1000, m=3, depth=50, queries=2, systems=2, seed=1).runs
    ),
    "meta.summary": lambda folder: meta.summary(meta.tie_probabilities(n=1000, m=10)),
    "meta.tie_probabilities": lambda folder: meta.tie_probabilities(4, 2, k=2),
    "report, with the runs": lambda folder: written(
        folder,
        "runs.html",
        lambda path: irl.report(
            compared(folder),
            path,
            date=DATE,
            runs={"a": folder / "run.csv"},
            progress=False,
        ),
    ),
    "report": lambda folder: written(
        folder,
        "report.html",
        lambda path: irl.report(compared(folder), path, date=DATE),
    ),
    "scorer": lambda folder: irl.scorer("LR@100")(["a", "x", "b"], {"a", "b"}),
    "tie_audit": lambda folder: irl.tie_audit(
        MEASURES, folder / "qrels.txt", {"a": folder / "run.txt"}
    ),
}
DATE = pd.Timestamp("2026-01-31").date()


def vars_of(reviews: Any) -> tuple[Any, Any]:
    """Return the qrels and the first run of reviews."""
    return reviews.qrels, next(iter(reviews.runs.values()))


READERS: dict[str, Callable[[Path], Any]] = {
    f"{qrels} with {run}": values(qrels, run)
    for qrels, run in [
        ("qrels.txt", "run.txt"),
        ("qrels.csv", "run.csv"),
        ("qrels.tsv", "run.tsv"),
        ("qrels.json", "run.json"),
        ("qrels.jsonl", "run.jsonl"),
        ("qrels.parquet", "run.parquet"),
        ("qrels.txt.gz", "run.txt.gz"),
        ("aspects.txt", "run.txt"),
    ]
}


def value_reader(name: str, **where: Any) -> Callable[[Path], Any]:
    """Return a call that reads values of another evaluator from a stored file or folder."""
    return lambda folder: (
        read_values(str(FILES / name), where=where or None, missing="skip").values
    )


# Values of other programs; the name says which file or folder of `tests/files` has them.
VALUES: dict[str, dict[str, Any]] = {
    "coming_from/main.eval": {"epoch": 1},
    "coming_from/samples_gsm8k_main.jsonl": {"filter": "strict-match"},
    "coming_from/helm/mmlu-subject=philosophy,model=openai_main/per_instance_stats.json": {},
    "coming_from/evaluation_results.json": {},
    "coming_from/eval_results_main.json": {},
    "coming_from/swe_main.json": {},
    "coming_from/test_run_main.json": {},
    "coming_from/promptfoo.json": {},
    "coming_from/assignments.jsonl": {},
    "coming_from/ragas_main.csv": {},
    "coming_from/mteb": {},
    "values/bm25.ir_measures": {},
    "values/bm25.jsonl": {},
    "values/bm25.trec_eval": {},
}
READERS |= {
    f"values of {name}": value_reader(name, **where) for name, where in VALUES.items()
}


def grouped(folder: Path) -> Any:
    """Return a comparison of two runs in groups of queries."""
    runs = {"a": folder / "run.csv", "b": folder / "other.txt"}
    groups = folder / "groups.csv"
    return irl.compare(folder / "qrels.csv", runs, ["AP"], groups=groups, test=QUICK)


def grouped_benchmark(folder: Path) -> Any:
    """Return a comparison of two runs on two collections in groups of queries."""
    qrels = {name: folder / f"qrels.{name}" for name in ("txt", "csv")}
    runs = {"a": folder / "run.csv", "b": folder / "other.txt"}
    groups = dict.fromkeys(qrels, folder / "groups.csv")
    every = dict.fromkeys(qrels, runs)
    return irl.benchmark(qrels, every, ["AP"], groups=groups, test=QUICK)


def repeated(folder: Path) -> Any:
    """Return a comparison of two systems that ran twice each."""
    rows = [
        {
            "run": run,
            "query_id": q,
            "repeat": repeat,
            "AP": (i * 7 + j * 5 + repeat) % 11 / 11,
        }
        for j, run in enumerate("ab")
        for i, q in enumerate("qrstuv")
        for repeat in (1, 2)
    ]
    return irl.compare(values=pd.DataFrame(rows), repeats="samples", test=QUICK)


def leaderboard(folder: Path) -> Any:
    """Return a benchmark of two runs, of which one lacks a task."""
    board = pd.DataFrame(
        {"task": list("abc"), "old": [0.3, 0.4, 0.5], "new": [None, 0.6, 0.7]}
    )
    rows = board.melt("task", var_name="run", value_name="score")
    return irl.benchmark(values=rows, missing="skip", test=QUICK)


Make = Callable[[Path], Any]


def method(make: Make, name: str, *arguments: Any, **options: Any) -> Make:
    """Return a call of a method of what `make` gives."""
    return lambda folder: getattr(make(folder), name)(*arguments, **options)


# Every method that the reference describes, by its class and name; ``name, detail`` is a further case of it.
METHODS: dict[str, Callable[[Path], Any]] = {
    **{
        f"Comparison.{name}": method(compared, name)
        for name in (
            "best_set",
            "bounds",
            "detectable",
            "matrix",
            "means",
            "per_query",
            "ranking",
            "sequential",
            "summary",
            "table",
            "to_judge",
            "to_latex",
            "to_markdown",
            "verdicts",
        )
    },
    **{
        f"Comparison.{name}": method(grouped, name)
        for name in ("group_means", "group_table", "group_differences")
    },
    "Comparison.verdicts, whatever unjudged documents are worth": method(
        compared, "verdicts", holds=True
    ),
    "Comparison.explain": method(compared, "explain", "a", "b", "lexirecall"),
    "Comparison.disagreements": method(
        compared, "disagreements", "AP", "lexirecall", "a", "b"
    ),
    "Comparison.queries_needed": method(compared, "queries_needed", 0.1),
    "Comparison.queries_for_margin": method(compared, "queries_for_margin", 0.2),
    "Comparison.repeats_needed": method(repeated, "repeats_needed", 0.3),
    "Comparison.with_test": lambda folder: (
        compared(folder).with_test("wilcoxon").table()
    ),
    "Comparison.with_baseline": lambda folder: (
        compared(folder).with_baseline("b").table()
    ),
    "Comparison.plot": lambda folder: compared(folder).plot().get_title(loc="left"),
    "Gate.lost": lambda folder: irl.gate(
        folder / "qrels.txt", folder / "run.txt", folder / "other.txt", "AP", test=QUICK
    ).lost(),
    **{
        f"Benchmark.{name}": method(benchmarked, name)
        for name in (
            "best_set",
            "by_collection",
            "friedman",
            "means",
            "overall",
            "replicated",
            "summary",
            "table",
            "to_latex",
            "to_markdown",
            "verdicts",
        )
    },
    **{
        f"Benchmark.{name}": method(grouped_benchmark, name)
        for name in ("group_means", "group_table")
    },
    "Benchmark.shared_cells": method(leaderboard, "shared_cells"),
    "Benchmark.plot": lambda folder: benchmarked(folder).plot().get_title(loc="left"),
    **{
        f"Study.{name}": method(studied, name)
        for name in (
            "agreement",
            "correlation",
            "per_query_kendall",
            "ties",
            "unanimity",
        )
    },
    **{
        f"Study.{name}": method(studied, name, test=QUICK)
        for name in ("achieved_significance", "discriminative_power")
    },
    "Study.judges": lambda folder: studied(folder).judges(
        folder / "qrels.csv", test=QUICK
    ),
    "Study.degrade": method(studied, "degrade", fractions=[0.5], n_samples=2),
    "Study.split_half": method(studied, "split_half", n_splits=3),
    "Study.stability": method(studied, "stability", fractions=[0.5], n_samples=2),
}

CASES = READERS | FUNCTIONS | METHODS


def outcome(case: str, folder: Path) -> str:
    """Return the text of a case's result."""
    return text_of(CASES[case](folder))
