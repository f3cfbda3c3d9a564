"""Spark beside one process, on the same rows and cores: ``python -m tests.benchmarks.spark``.

Both sides start from tables in memory (a cached Spark DataFrame, a pandas DataFrame) and end with the same numbers. A small collection gives what a
call costs whatever its size, the larger ones what each row adds: to the clock, and to the processors, of all processes of Spark.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pyspark.sql import SparkSession
from tabulate import tabulate

import ir_lexirecall as irl
from ir_lexirecall import CWL_ERR10, RBU, TSE, LexiRecall
from tests.benchmarks.data import Size, collection

_INTEGRATIONS = Path(__file__).parents[2] / "integrations"
_MEASURES = [TSE, LexiRecall, CWL_ERR10(max_rel=4), RBU @ 20]
_CRITERIA = ["lexirecall", "AP", "nDCG@10"]
_FEW = 20_000  # rows of the small collection
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """Of one call."""

    seconds: float  # by the clock
    cpu: float  # of all processors


def main(arguments: list[str] | None = None) -> None:
    """Measure and print; that the numbers agree is asserted."""
    options = _parser().parse_args(arguments)
    spark = _session(options)
    import spark_lexirecall  # found by now, here and in the workers

    works: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
        "means": (
            lambda qrels, runs: irl.evaluate(_MEASURES, qrels, runs["a"], aggregate=True),
            lambda qrels, runs: spark_lexirecall.evaluate(_MEASURES, qrels, runs["a"], aggregate=True),
        ),
        "values": (
            lambda qrels, runs: irl.evaluate(_MEASURES, qrels, runs["a"]),
            lambda qrels, runs: spark_lexirecall.evaluate(_MEASURES, qrels, runs["a"]),
        ),
        "compare": (
            lambda qrels, runs: irl.compare(qrels, runs, _CRITERIA).table(),
            lambda qrels, runs: spark_lexirecall.compare(qrels, runs, _CRITERIA).table(),
        ),
    }
    costs: dict[tuple[str, str, int], Cost] = {}
    for rows in [_FEW, *options.rows]:
        queries = max(1, rows // options.depth)
        made = collection(Size(queries, options.depth, options.judged))
        other = made.run.assign(score=made.run["score"].to_numpy()[::-1].copy())
        runs = {"a": made.run, "b": other}
        frames = {name: spark.createDataFrame(run).repartition(8).persist() for name, run in runs.items()}
        qrels = spark.createDataFrame(made.qrels).persist()
        print(f"{rows:,} rows of each run, {qrels.count():,} judgments", file=sys.stderr)
        for frame in frames.values():
            frame.count()
        for name in options.tasks:
            local, cluster = works[name]
            for _ in range(2 if rows == _FEW else 1):  # the first one warms up
                expected, costs[name, "one process", rows] = _measured(local, made.qrels, runs)
                found, costs[name, "Spark", rows] = _measured(cluster, qrels, frames)
                if name == "values":
                    of_queries = found.toPandas().set_index("query_id").sort_index()
                    found.unpersist()
                    found = of_queries.rename_axis(expected.index.name)
                check = pd.testing.assert_series_equal if name == "means" else pd.testing.assert_frame_equal
                check(found, expected, check_exact=True, check_index_type=False)
        for frame in (qrels, *frames.values()):
            frame.unpersist()
    table = []
    for (name, where, rows), cost in costs.items():
        fixed, alone = costs[name, where, _FEW], costs[name, "one process", rows]
        row = [name, where, f"{rows:,}", f"{cost.seconds:.1f}", f"{cost.cpu:.1f}"]
        if rows > _FEW:
            more, base = (cost.cpu - fixed.cpu), (alone.cpu - costs[name, "one process", _FEW].cpu)
            row += [f"{fixed.seconds:.1f}", f"{1e6 * (cost.seconds - fixed.seconds) / (rows - _FEW):.2f}"]
            row += [f"{(rows - _FEW) / more / 1e6:.2f}", f"{base / more:.2f}"]
        table.append(row)
    headers = ["work", "where", "rows", "seconds", "CPU s", "fixed s", "us per row", "M rows per CPU s", "of local"]
    print(tabulate(table, headers=headers, disable_numparse=True))
    spark.stop()


def _measured(work: Callable[..., Any], qrels: Any, runs: Any) -> tuple[Any, Cost]:
    """What ``work`` gives, and what it cost, in this process and in those of Spark."""
    gc.collect()
    before, start = sum(map(_times, _processes())), time.perf_counter()
    found = work(qrels, runs)
    seconds = time.perf_counter() - start
    return found, Cost(seconds, sum(map(_times, _processes())) - before)


def _times(process: int) -> float:
    """Processor seconds of a process and of its children that have ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICK


def _processes() -> Iterator[int]:
    """This process and all that descend from it."""
    parents = {}
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    known = [os.getpid()]
    for process in known:
        known += [child for child, parent in parents.items() if parent == process]
    yield from known


def _session(options: argparse.Namespace) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    sys.path.append(str(_INTEGRATIONS))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(_INTEGRATIONS), os.environ.get("PYTHONPATH", "")])
    builder = SparkSession.builder.master(f"local[{options.threads}]")
    builder = builder.config("spark.driver.memory", options.memory)
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.spark",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000], help="rows of each run")
    parser.add_argument("--depth", type=int, default=1000, help="documents retrieved for each query")
    parser.add_argument("--judged", type=int, default=30, help="judged documents of each query")
    parser.add_argument("--tasks", nargs="+", default=["means", "values", "compare"], help="what is measured")
    parser.add_argument("--threads", type=int, default=2, help="of Spark's local master")
    parser.add_argument("--memory", default="4g", help="of Spark's driver, which holds the cached rows here")
    return parser


if __name__ == "__main__":
    main()
