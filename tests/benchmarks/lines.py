"""``python -m tests.benchmarks.lines --trec-eval PROGRAM``: whole programs over the number of lines of a run.

``ir-lexirecall eval`` computes AP, nDCG@10, R@1000, TSE and LR, trec_eval the first three, from the same files; both must say the same. trec_eval is not
part of the project: build version 10 from its public sources, with ``make CFLAGS='-I. -O2 -DVERSIONID=\\"10\\"'``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tabulate import tabulate

DEPTH, JUDGED = 1000, 30
OURS = [str(Path(sys.executable).with_name("ir-lexirecall"))]
OURS += ["eval", "qrels.txt", "a.run", "-m", "AP", "nDCG@10", "R@1000", "TSE", "LR"]
THEIRS = ["-m", "map", "-m", "ndcg_cut.10", "-m", "recall.1000", "qrels.txt", "a.run"]
_BLOCK = 1000  # queries that are written at once


class Cost(NamedTuple):
    """What a program took: seconds on the clock and of processors, and its largest memory in MB."""

    wall: float
    cpu: float
    memory: float


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; write the table and the picture where they are asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.lines", description=__doc__
    )
    parser.add_argument(
        "--trec-eval", type=Path, required=True, metavar="PROGRAM", help="trec_eval 10"
    )
    about = "lengths of runs (100 million lines take 4 GB on disk, and 7.5 GB of memory in trec_eval)"
    parser.add_argument(
        "--lines", type=int, nargs="+", default=[10**n for n in range(3, 9)], help=about
    )
    parser.add_argument(
        "--repeat", type=int, default=5, help="rounds in which both take their turn"
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
    options = parser.parse_args(arguments)
    costs = {
        lines: measure(options.trec_eval.resolve(), lines, options.repeat)
        for lines in options.lines
    }
    rows = [
        [
            f"{lines:,}",
            *(f"{number:.2f}" for cost in both for number in cost[:2]),
            *(f"{cost.memory:.0f} MB" for cost in both),
        ]
        for lines, both in costs.items()
    ]
    head = [
        "Lines",
        "Ours: wall",
        "CPU",
        "trec_eval: wall",
        "CPU",
        "Memory: ours",
        "Its",
    ]
    print(tabulate(rows, headers=head, disable_numparse=True))
    if options.page is not None:
        table = tabulate(rows, headers=head, tablefmt="rst", disable_numparse=True)
        options.page.write_text(f"{table}\n", encoding="utf-8")
    if options.picture is not None:
        names = ("ir-lexirecall eval", "trec_eval 10")
        curves = {
            name: {lines: both[i][:2] for lines, both in costs.items()}
            for i, name in enumerate(names)
        }
        draw(
            options.picture,
            "lines of the run",
            curves,
            ("on the clock", "of processors"),
        )


def measure(trec_eval: Path, lines: int, repeat: int) -> tuple[Cost, Cost]:
    """Medians of both programs' costs for a run of so many lines.

    Raises:
        ValueError: their values differ.
    """
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), lines)
        rounds = []
        for _ in range(repeat):
            ours, said = run(OURS, folder)
            theirs, also = run([str(trec_eval), *THEIRS], folder)
            if [round(value, 4) for value in said[:3]] != also:
                raise ValueError(f"{lines:,} lines: ours {said[:3]}, trec_eval {also}")
            rounds.append((ours, theirs))
    medians = np.median(np.array(rounds), axis=0)
    return Cost(*medians[0].tolist()), Cost(*medians[1].tolist())


def run(command: Sequence[str], folder: str) -> tuple[Cost, list[float]]:
    """What a program takes, and the numbers that it prints last: in one row, or one in a line."""
    start = time.perf_counter()
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        printed = process.stdout.read().splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode:
        raise ValueError(f"{command[0]} ended with {process.returncode}")
    if len(printed[-1].split()) > 3:  # a row for the run
        values = [float(text) for text in printed[-1].split()[1:]]
    else:
        values = [float(line.split()[-1]) for line in printed]
    return Cost(
        wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
    ), _in_our_order(printed, values)


def _in_our_order(printed: Sequence[str], values: list[float]) -> list[float]:
    """trec_eval prints its measures in an order of its own."""
    names = [line.split()[0] for line in printed]
    order = ["map", "ndcg_cut_10", "recall_1000"]
    return (
        [values[names.index(name)] for name in order]
        if set(order) <= set(names)
        else values
    )


def write(folder: Path, lines: int) -> None:
    """A run of queries with 1,000 documents each, sorted, and qrels."""
    generator = np.random.default_rng(lines)
    queries, depth = max(1, lines // DEPTH), min(lines, DEPTH)
    with (
        open(folder / "a.run", "w", encoding="utf-8") as ranked,
        open(folder / "qrels.txt", "w", encoding="utf-8") as judged,
    ):
        for start in range(0, queries, _BLOCK):
            for query in range(start, min(start + _BLOCK, queries)):
                docs = generator.choice(
                    10 * DEPTH, depth + JUDGED // 2, replace=False
                ).tolist()
                ranked.writelines(
                    f"q{query:06} Q0 doc{doc:07} {rank} {2 * DEPTH - rank}.5 run\n"
                    for rank, doc in enumerate(docs[:depth], 1)
                )
                grades = generator.integers(0, 3, JUDGED).tolist()
                judged.writelines(
                    f"q{query:06} 0 doc{doc:07} {g}\n"
                    for doc, g in zip(docs[-JUDGED:], grades, strict=True)
                )


def draw(
    path: Path,
    what: str,
    curves: Mapping[str, Mapping[int, Sequence[float]]],
    kinds: Sequence[str],
) -> None:
    """Seconds of each kind over a number, ``what``: a curve of so many seconds by the number for each name."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    from ir_lexirecall.pt_docs.drawings import shorter

    with matplotlib.rc_context(
        {"svg.fonttype": "none", "svg.hashsalt": "lines", "font.size": 9}
    ):
        figure = Figure(figsize=(6 if len(kinds) > 1 else 4, 3), layout="constrained")
        for place, (axes, kind) in enumerate(
            zip(figure.subplots(1, len(kinds), squeeze=False)[0], kinds, strict=True)
        ):
            for (name, costs), colour in zip(
                curves.items(), ("#0072b2", "#888888"), strict=True
            ):
                seconds = [cost[place] for cost in costs.values()]
                axes.loglog(
                    list(costs),
                    seconds,
                    marker="o",
                    markersize=3,
                    color=colour,
                    label=name,
                )
            axes.minorticks_off()
            axes.xaxis.set_major_formatter(EngFormatter(sep=""))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.set(xlabel=what, ylabel=f"seconds {kind}")
            axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None})
    path.write_text(shorter(path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
