"""Spark beside one process, on the same rows and cores: ``python -m tests.benchmarks.spark``.

Both sides start from the same Parquet files, each in a process of its own, and end with the same numbers, bit for bit. A small collection gives what a
call costs whatever its size, the larger ones what each row adds: to the clock, and to the processors and the memory of all processes of Spark.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tabulate import tabulate

import ir_lexirecall as irl
from ir_lexirecall import CWL_ERR10, RBU, TSE, LexiRecall
from ir_lexirecall.comparison import Comparison
from tests.benchmarks.data import Size
from tests.benchmarks.lines import draw
from tests.benchmarks.suite import documents, ranked, write_rows

_ROOT = Path(__file__).parents[2]
_MEASURES = [TSE, LexiRecall, CWL_ERR10(max_rel=4), RBU @ 20]
_CRITERIA = ["lexirecall", "AP", "nDCG@10"]
_FEW = 20_000  # rows of the small collection
_AT_ONCE = 1_000_000  # rows of a file
_RUNS = {"a": 1.0, "b": 1.1}  # names, and how well they rank
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cost:
    """Of one call, and what came of it."""

    seconds: float  # by the clock
    cpu: float  # of all processors
    digest: str


@dataclass(frozen=True)
class Costs:
    """Of all works on a collection, in one process or on Spark."""

    small: dict[str, Cost]  # on the small collection
    large: dict[str, Cost]
    memory: dict[str, int]  # the largest of each kind of process, in MB


def main(arguments: list[str] | None = None) -> None:
    """Measure and print; write the table and the picture where they are asked for.

    Raises:
        ValueError: the answers differ.
    """
    options = _parser().parse_args(arguments)
    if options.step:
        print(json.dumps(asdict(_measured(options))))
        return
    measured: dict[int, dict[str, Costs]] = {}
    judgments: dict[int, int] = {}
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        small = Path(folder, "small")
        write(small, _FEW, min(options.depth, 1000), options.judged, 0)
        for rows in options.rows:
            large = Path(folder, str(rows))
            judgments[rows] = write(
                large, rows, options.depth, options.judged, options.alone
            )
            print(
                f"{rows:,} rows of two runs, {judgments[rows]:,} judgments",
                file=sys.stderr,
                flush=True,
            )
            places = ["one process", "Spark"] if rows <= options.local else ["Spark"]
            measured[rows] = {
                place: _in_fresh_process(place, small, large, options)
                for place in places
            }
            print(
                json.dumps(
                    {place: asdict(costs) for place, costs in measured[rows].items()}
                ),
                file=sys.stderr,
            )
            for name in options.tasks:
                if (
                    len({costs.large[name].digest for costs in measured[rows].values()})
                    > 1
                ):
                    raise ValueError(
                        f"{rows:,} rows: {name} of Spark is not that of one process"
                    )
            for file in large.rglob("*.parquet"):
                file.unlink()
    print(
        tabulate(_rows(measured, options.tasks), headers=_HEAD, disable_numparse=True)
    )
    if options.page is not None:
        options.page.write_text(page(measured, judgments), encoding="utf-8")
    if options.picture is not None:
        picture(measured, options.picture)


# -- the rows --------------------------------------------------------------------------------------


def write(folder: Path, rows: int, depth: int, judged: int, alone: int) -> int:
    """Qrels and two runs as folders of Parquet files, some queries at a time; the number of judgments.

    ``alone`` judged queries, which no run has, follow on each query of the runs.
    """
    for name in ("qrels", *_RUNS):
        (folder / name).mkdir(parents=True)
    queries, judgments = max(1, rows // len(_RUNS) // depth), 0
    for first in range(0, queries, max(1, _AT_ONCE // depth)):
        size = Size(min(max(1, _AT_ONCE // depth), queries - first), depth, judged)
        rng = np.random.default_rng(first)
        pool = documents(size, rng)
        for name, merit in _RUNS.items():
            docs, score = ranked(pool, size, merit, rng)
            write_rows(
                folder / name / f"{first}.parquet",
                docs,
                {"score": score.round(4)},
                first,
            )  # with some ties
        docs = pool[:, :judged]
        for block in range(1 + alone):
            grades = rng.integers(0, 5, docs.shape)
            place = folder / "qrels" / f"{first}-{block}.parquet"
            write_rows(place, docs, {"relevance": grades}, first + block * queries)
            judgments += docs.size
    return judgments


# -- what is measured ------------------------------------------------------------------------------


def _measured(options: argparse.Namespace) -> Costs:
    """What all works cost on a small and a large collection, in this process or in those of Spark."""
    read: Callable[[str], Any] = lambda folder: f"{folder}/*.parquet"  # noqa: E731
    evaluate, compare = irl.evaluate, irl.compare
    if options.step == "Spark":
        session = _session(options)
        import spark_lexirecall  # found by now, here and in the workers

        read, evaluate, compare = (
            session.read.parquet,
            spark_lexirecall.evaluate,
            spark_lexirecall.compare,
        )
    works: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
        "means": lambda qrels, runs: evaluate(
            _MEASURES, qrels, runs["a"], aggregate=True
        ),
        "values": lambda qrels, runs: evaluate(_MEASURES, qrels, runs["a"]),
        "compare": lambda qrels, runs: compare(
            qrels, runs, _CRITERIA, test=irl.SignificanceTest(progress=False)
        ),
    }
    costs: list[dict[str, Cost]] = []
    with _watched() as memory:
        for folder in (
            options.small,
            options.small,
            options.large,
        ):  # the first one warms up
            qrels, runs = (
                read(f"{folder}/qrels"),
                {name: read(f"{folder}/{name}") for name in _RUNS},
            )
            costs.append(
                {name: _cost(works[name], qrels, runs) for name in options.tasks}
            )
    return Costs(costs[1], costs[2], memory)


def _cost(work: Callable[..., Any], qrels: Any, runs: Any) -> Cost:
    """What a work cost, in this process and in those of Spark."""
    gc.collect()
    before, start = sum(map(_times, _processes())), time.perf_counter()
    found = work(qrels, runs)
    if isinstance(found, Comparison):
        found.table()
    seconds, cpu = time.perf_counter() - start, sum(map(_times, _processes())) - before
    return Cost(seconds, cpu, _digest(found))


def _digest(found: Any) -> str:
    """Of every bit of values, or of a comparison's tables."""
    if isinstance(found, Comparison):
        tables = [found.table(), *(found.per_query(name) for name in found.criteria)]
    elif isinstance(found, pd.Series):
        tables = [found.rename(str).to_frame()]
    elif isinstance(found, pd.DataFrame):
        tables = [found]
    else:  # Spark's
        tables = [found.toPandas().set_index("query_id").sort_index()]
        found.unpersist()
    digest = hashlib.sha256()
    for table in tables:
        table = table.reset_index()
        for name in table:
            digest.update(
                pd.util.hash_array(table[name].to_numpy(), categorize=False).tobytes()
            )
    return digest.hexdigest()


class _watched:
    """The largest memory of every kind of process, in MB."""

    def __enter__(self) -> dict[str, int]:
        self.largest: dict[str, int] = {}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self.largest

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def watch(self) -> None:
        while True:
            last = self.ended.wait(0.5)
            for process in _processes():
                try:
                    status = dict(
                        line.split(":", 1)
                        for line in Path(f"/proc/{process}/status")
                        .read_text()
                        .splitlines()
                    )
                except (FileNotFoundError, ProcessLookupError):
                    continue
                kind = (
                    "python"
                    if process == os.getpid()
                    else "java"
                    if "java" in status["Name"]
                    else "worker"
                )
                peak = int(status.get("VmHWM", "0 kB").split()[0]) // 1024
                self.largest[kind] = max(self.largest.get(kind, 0), peak)
            if last:
                return


def _times(process: int) -> float:
    """Processor seconds of a process and of its children that have ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11:15])) / _TICK


def _processes() -> Iterator[int]:
    """This process and all that descend from it."""
    parents = {}
    for place in Path("/proc").iterdir():
        if place.name.isdecimal():
            try:
                parents[int(place.name)] = int(
                    (place / "stat").read_text().rpartition(")")[2].split()[1]
                )
            except (FileNotFoundError, ProcessLookupError):
                continue
    known = [os.getpid()]
    for process in known:
        known += [child for child, parent in parents.items() if parent == process]
    yield from known


def _session(options: argparse.Namespace) -> Any:
    from pyspark.sql import SparkSession

    integrations = str(_ROOT / "integrations")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    sys.path.append(integrations)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [integrations, os.environ.get("PYTHONPATH", "")]
    )
    builder = SparkSession.builder.master(f"local[{options.threads}]")
    for name, value in {
        "spark.driver.memory": options.memory,
        "spark.local.dir": options.large,  # a folder that goes
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
    }.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _in_fresh_process(
    place: str, small: Path, large: Path, options: argparse.Namespace
) -> Costs:
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.benchmarks.spark",
        "--step",
        place,
    ]
    command += ["--small", str(small), "--large", str(large), "--tasks", *options.tasks]
    command += ["--threads", str(options.threads), "--memory", options.memory]
    done = subprocess.run(
        command, cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    costs = json.loads(done.stdout.splitlines()[-1])
    small_costs, large_costs = (
        {n: Cost(**cost) for n, cost in costs[size].items()}
        for size in ("small", "large")
    )
    return Costs(small_costs, large_costs, costs["memory"])


# -- what is shown ---------------------------------------------------------------------------------

_HEAD = [
    "work",
    "where",
    "rows",
    "seconds",
    "CPU s",
    "fixed s",
    "fixed CPU s",
    "us per row",
    "M rows per CPU s",
]
_HEAD += ["of local", "memory in MB"]


def _rows(measured: dict[int, dict[str, Costs]], tasks: list[str]) -> list[list[str]]:
    """A row for every work, place and size."""
    table = []
    for name in tasks:
        for size, places in measured.items():
            rows, few = (
                n // (1 if name == "compare" else len(_RUNS)) for n in (size, _FEW)
            )
            more = {
                place: costs.large[name].cpu - costs.small[name].cpu
                for place, costs in places.items()
            }
            for place, costs in places.items():
                cost, fixed = costs.large[name], costs.small[name]
                row = [
                    name,
                    place,
                    f"{rows:,}",
                    f"{cost.seconds:.1f}",
                    f"{cost.cpu:.1f}",
                ]
                row += [f"{fixed.seconds:.2f}", f"{fixed.cpu:.2f}"]
                row += [f"{1e6 * (cost.seconds - fixed.seconds) / (rows - few):.2f}"]
                row += [f"{(rows - few) / more[place] / 1e6:.2f}"]
                row += [
                    f"{more['one process'] / more[place]:.2f}"
                    if "one process" in more
                    else "-"
                ]
                row += [
                    ", ".join(
                        f"{kind} {memory:,}" for kind, memory in costs.memory.items()
                    )
                ]
                table.append(row)
    return table


def page(measured: dict[int, dict[str, Costs]], judgments: dict[int, int]) -> str:
    """What ``compare`` costs, for the documentation."""
    head = [
        "Rows",
        "Judgments",
        "irl.compare: CPU",
        "Memory",
        "Spark: CPU",
        "Python",
        "Java",
        "A worker",
    ]
    table = []
    for rows, places in measured.items():
        row = [f"{rows:,}", f"{judgments[rows]:,}"]
        for place, kinds in (
            ("one process", ["python"]),
            ("Spark", ["python", "java", "worker"]),
        ):
            if place in places:
                cost, memory = places[place].large["compare"], places[place].memory
                row += [
                    f"{cost.cpu:.1f} s",
                    *(f"{memory[kind]:,} MB" for kind in kinds),
                ]
            else:
                row += ["not run"] * (1 + len(kinds))
        table.append(row)
    return tabulate(table, headers=head, tablefmt="rst", disable_numparse=True) + "\n"


def picture(measured: dict[int, dict[str, Costs]], path: Path) -> None:
    """Draw the processors' seconds of ``compare`` over the rows, in one process and on Spark."""
    curves = {
        name: {
            rows: [places[place].large["compare"].cpu]
            for rows, places in measured.items()
            if place in places
        }
        for place, name in (
            ("Spark", "spark_lexirecall.compare"),
            ("one process", "irl.compare"),
        )
    }
    draw(path, "rows of two runs", curves, ("of processors",))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.spark",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--rows",
        type=int,
        nargs="+",
        default=[1_000_000],
        help="rows of two runs together; means and values are of one",
    )
    parser.add_argument(
        "--depth", type=int, default=1000, help="documents retrieved for each query"
    )
    parser.add_argument(
        "--judged", type=int, default=30, help="judged documents of each query"
    )
    parser.add_argument(
        "--alone",
        type=int,
        default=0,
        help="judged queries that no run has, for each that they have",
    )
    parser.add_argument(
        "--local",
        type=int,
        default=10_000_000,
        help="rows up to which one process is measured, too",
    )
    parser.add_argument(
        "--tasks",
        nargs="+",
        default=["means", "values", "compare"],
        help="what is measured",
    )
    parser.add_argument(
        "--threads", type=int, default=2, help="of Spark's local master"
    )
    parser.add_argument(
        "--memory",
        default="2g",
        help="of Java's heap: in local mode the driver and all executors",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        help="where the files are written (default: that of temporary files)",
    )
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="write the table for the documentation as well",
    )
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="write the picture for the documentation as well",
    )
    for hidden in ("--step", "--small", "--large"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    main()
