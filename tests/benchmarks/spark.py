"""Spark beside one process, on the same rows and cores: ``python -m tests.benchmarks.spark``.

Both sides start from tables in memory (a cached Spark DataFrame, a pandas DataFrame) and end with the same means.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tabulate import tabulate

import ir_lexirecall as irl
from ir_lexirecall import CWL_ERR10, RBU, TSE, LexiRecall
from tests.benchmarks.data import Size, collection

_INTEGRATIONS = Path(__file__).parents[2] / "integrations"
_MEASURES = [TSE, LexiRecall, CWL_ERR10(max_rel=4), RBU @ 20]
_STANDARD = ["AP", "nDCG@10"]


def main(arguments: list[str] | None = None) -> None:
    """Measure and print; that the means agree is asserted."""
    options = _parser().parse_args(arguments)
    made = collection(Size(options.queries, options.depth, options.judged))
    spark = _session(options.threads)
    from spark_lexirecall import evaluate  # found by now, here and in the workers

    run = spark.createDataFrame(made.run).repartition(options.partitions).persist()
    qrels = spark.createDataFrame(made.qrels).persist()
    print(f"{run.count():,} rows of a run, {qrels.count():,} judgments; {options.threads} threads; warm session")
    rows = []
    for label, measures in {"ours": _MEASURES, "with AP, nDCG@10": [*_MEASURES, *_STANDARD]}.items():

        def local(measures: Any = measures) -> Any:
            return irl.evaluate(measures, made.qrels, made.run, aggregate=True)

        def cluster(buckets: int, measures: Any = measures) -> Any:
            return evaluate(measures, qrels, run, buckets=buckets, aggregate=True)

        expected, alone = local(), _median(local, options.repeat)
        rows.append([label, "one process", f"{alone:.2f}", ""])
        for buckets in options.buckets:
            assert (cluster(buckets) == expected).all()
            seconds = _median(lambda buckets=buckets: cluster(buckets), options.repeat)
            rows.append([label, f"Spark, {buckets} buckets", f"{seconds:.2f}", f"{seconds / alone:.1f}"])
    print(tabulate(rows, headers=["measures", "where", "seconds", "ratio"]))
    spark.stop()


def _session(threads: int) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    sys.path.append(str(_INTEGRATIONS))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(_INTEGRATIONS), os.environ.get("PYTHONPATH", "")])
    builder = SparkSession.builder.master(f"local[{threads}]").config("spark.driver.memory", "4g")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _median(work: Callable[[], Any], repeat: int) -> float:
    seconds = []
    for _ in range(repeat):
        gc.collect()
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.spark",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--queries", type=int, default=2000, help="queries of the run")
    parser.add_argument("--depth", type=int, default=1000, help="documents retrieved for each query")
    parser.add_argument("--judged", type=int, default=30, help="judged documents of each query")
    parser.add_argument("--threads", type=int, default=2, help="of Spark's local master")
    parser.add_argument("--partitions", type=int, default=8, help="of the run's DataFrame")
    parser.add_argument("--buckets", type=int, nargs="+", default=[2, 4, 8, 32, 200], help="numbers of buckets to try")
    parser.add_argument("--repeat", type=int, default=3, help="rounds, of which the median counts")
    return parser


if __name__ == "__main__":
    main()
