"""Many collections at once: what a benchmark of Parquet files costs beyond reading them.

    python -m tests.benchmarks.suite [--collections 15] [--runs 20] [--queries 500] [--depth 1000] [--folder DIR]

writes synthetic runs (150 million rows by default, 2 GB) into a folder, unless they are there from an earlier call, and prints how
long their rows take to align, to compare collection by collection (one ``compare`` call each), and to benchmark, all from files;
how long intervals of 10,000 resamples take after it; and the memory of one collection beside that of all.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import ir_lexirecall as irl
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from tests.benchmarks.data import Size

MEASURES = ["nDCG@10", "AP", "R@1000", "TSE", "LR"]
RESAMPLES = 10_000
_ROOT = Path(__file__).parents[2]
_DOCUMENTS = 1_000_000
_FOUND = 0.7

Suite = dict[
    str, tuple[str, dict[str, str]]
]  # by the collection's name its qrels and its runs by their names, as files


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
        write_rows(place / "qrels.parquet", judged, {"relevance": rng.integers(0, 4, judged.shape)})
        runs = {}
        for s in range(size.systems):
            path = runs[f"system{s:03d}"] = place / f"system{s:03d}.parquet"
            if not path.exists():
                found, score = ranked(pool, size, 1 + s / 20, np.random.default_rng([c, s]))
                write_rows(path, found, {"score": score})
        suite[place.name] = (str(place / "qrels.parquet"), {name: str(path) for name, path in runs.items()})
    return suite


def documents(size: Size, rng: np.random.Generator) -> Any:
    """Distinct documents for every query in a random order, shape ``(Q, judged + depth)``: the judged ones, then others."""
    each = size.depth + size.judged
    apart = max(1, _DOCUMENTS // each)
    return rng.permuted(rng.integers(apart, size=(size.queries, 1)) + np.arange(each) * apart, axis=1)


def ranked(pool: Any, size: Size, merit: float, rng: np.random.Generator) -> tuple[Any, Any]:
    """What a system retrieves of ``documents``, best first, and the scores; the larger ``merit``, the higher it ranks judged ones."""
    scores = rng.normal(size=pool.shape) + np.where(np.arange(pool.shape[1]) < size.judged, merit, 0)
    order = np.argsort(-scores, axis=1)[:, : size.depth]
    return np.take_along_axis(pool, order, axis=1), np.take_along_axis(scores, order, axis=1)


def write_rows(path: Path, docs: Any, values: dict[str, Any], first: int = 1) -> None:
    """A Parquet file of the documents of each query, the first of which has the number ``first``."""
    query = np.repeat(np.arange(first, first + len(docs)), docs.shape[1])
    table = pl.DataFrame({"query": query, "doc": docs.ravel(), **{name: x.ravel() for name, x in values.items()}})
    ids = {"query_id": pl.format("{}", "query"), "doc_id": pl.format("DOC-{}", pl.col("doc").cast(str).str.zfill(7))}
    table.select(**ids, **{name: pl.col(name) for name in values}).write_parquet(path)


def align_all(suite: Suite) -> None:
    """Read and align every run, and keep nothing: what no benchmark can do without."""
    for qrels, runs in suite.values():
        judgments = Judgments.from_qrels(qrels)
        for run in runs.values():
            align(judgments, run)


def compare_each(suite: Suite) -> None:
    """The tables of as many ``compare`` calls as there are collections, by lexirecall and all measures."""
    for qrels, runs in suite.values():
        irl.compare(
            qrels, runs, ["lexirecall", *MEASURES], baseline=next(iter(runs)), test=irl.SignificanceTest(progress=False)
        ).table()


def benchmark_all(suite: Suite) -> Benchmark:
    """One ``benchmark`` call, and all tables that it gives collection by collection."""
    baseline = next(iter(next(iter(suite.values()))[1]))
    result = irl.benchmark(
        {name: qrels for name, (qrels, _) in suite.items()},
        {name: runs for name, (_, runs) in suite.items()},
        ["lexirecall", *MEASURES],
        baseline=baseline,
        test=irl.SignificanceTest(n_resamples=RESAMPLES, progress=False),
    )
    result.table()
    return result


@dataclass
class Costs:
    """Seconds of the clock and of the processors, and the peak of the memory so far in MB."""

    seconds: float
    processors: float
    memory: float


def _costs(work: Callable[[], Any]) -> tuple[Costs, Any]:
    start, busy = time.perf_counter(), time.process_time()
    result = work()
    return Costs(time.perf_counter() - start, time.process_time() - busy, _peak()), result


def _measured(what: str, suite: Suite) -> dict[str, Costs]:
    """What a step costs, by its name."""
    for qrels, runs in [*suite.values()][:1]:
        align_all({"first": (qrels, dict([*runs.items()][:1]))})  # modules are loaded, threads started
    if what == "align":
        return {what: _costs(lambda: align_all(suite))[0]}
    if what == "compare":
        return {what: _costs(lambda: compare_each(suite))[0]}
    costs, result = _costs(lambda: benchmark_all(suite))
    importlib.import_module("statsmodels.stats.meta_analysis")  # and SciPy's statistics
    overall = {f"overall({over!r})": _costs(partial(result.overall, over))[0] for over in ("queries", "collections")}
    return {what: costs, **overall}


def _peak() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def _in_fresh_process(what: str, suite: Suite) -> dict[str, Costs]:
    command = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.suite", "--step", what]
    done = subprocess.run(command, cwd=_ROOT, input=json.dumps(suite), stdout=subprocess.PIPE, text=True, check=True)
    return {step: Costs(**costs) for step, costs in json.loads(done.stdout.splitlines()[-1]).items()}


def main() -> None:
    """Measure and print; nothing is asserted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collections", type=int, default=15)
    parser.add_argument("--runs", type=int, default=20, help="of each collection")
    parser.add_argument("--queries", type=int, default=500, help="of each collection")
    parser.add_argument("--depth", type=int, default=1000, help="documents retrieved for each query")
    parser.add_argument("--judged", type=int, default=30, help="judged documents of each query")
    parser.add_argument("--folder", type=Path, help="where the files are kept (default: a temporary folder)")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(
            json.dumps({step: asdict(costs) for step, costs in _measured(options.step, json.load(sys.stdin)).items()})
        )
        return
    size = Size(options.queries, options.depth, options.judged, options.runs)
    with tempfile.TemporaryDirectory() as temporary:
        suite = write_suite(size, options.collections, options.folder or Path(temporary))
        one = _in_fresh_process("benchmark", dict([*suite.items()][:1]))["benchmark"]
        steps: dict[str, Costs] = {}
        for what in ("align", "compare", "benchmark"):
            steps |= _in_fresh_process(what, suite)
    print(
        f"{size.queries * size.depth * size.systems * options.collections:,} rows in {options.collections} collections\n"
    )
    print(f"{'':24}{'clock':>10}{'processors':>12}{'peak memory':>14}")
    for what, costs in steps.items():
        print(f"{what:24}{costs.seconds:8.1f} s{costs.processors:10.1f} s{costs.memory:11.0f} MB")
    print(f"{'benchmark of the first':24}{one.seconds:8.1f} s{one.processors:10.1f} s{one.memory:11.0f} MB\n")
    for what, share, target in (
        ("benchmark / sum of compare calls", ("benchmark", "compare"), 1.1),
        (f"{RESAMPLES:,} resamples of queries / reading", ("overall('queries')", "align"), 0.1),
        (f"{RESAMPLES:,} resamples of collections / reading", ("overall('collections')", "align"), 0.1),
    ):
        first, second = (steps[name] for name in share)
        clock, processors = first.seconds / second.seconds, first.processors / second.processors
        print(f"{what}: {clock:.3f} by the clock, {processors:.3f} by the processors (target {target})")


if __name__ == "__main__":
    main()
