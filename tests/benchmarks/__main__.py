"""``python -m tests.benchmarks``: one table of our times and memory beside the peers'."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tabulate import tabulate
from tqdm import tqdm

from tests.benchmarks.cases import CASES, Case
from tests.benchmarks.data import Size
from tests.benchmarks.measuring import Result, measure

_COLUMNS = ["case", "ours", "memory", "peer", "its time", "its memory", "ratio", "target"]
_ALIGNED = ("left", "right", "right", "left", "right", "right", "right", "right")


def main(arguments: list[str] | None = None) -> None:
    """Measure and print; nothing is asserted."""
    options = _parser().parse_args(arguments)
    size = Size(options.queries, options.depth, options.judged)
    chosen = [case for case in CASES if not options.only or case.name in options.only]
    rows, measured = [], []
    for case in (bar := tqdm(chosen, disable=None, file=sys.stderr, leave=False)):
        bar.set_description(case.name)
        measured.append((case, measure(case, size, options.repeat)))
        rows += _rows(*measured[-1])
    print(tabulate(rows, headers=_COLUMNS, disable_numparse=True, colalign=_ALIGNED))
    print(f"\n{size.queries:,} queries x {size.depth:,} documents, {size.judged} judged, unless said otherwise;")
    print(f"medians of {options.repeat} rounds; memory: peak beyond the inputs.\n")
    for case in chosen:
        print(f"{case.name}: {case.what}")
    for peer in sorted({peer.name for case in chosen for peer in case.peers if not peer.installed}):
        print(f"left out, not installed: {peer}")
    if options.page is not None:
        options.page.write_text(_page(measured), encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=1000, help="queries of a run")
    parser.add_argument("--depth", type=int, default=1000, help="documents retrieved for each query")
    parser.add_argument("--judged", type=int, default=30, help="judged documents of each query")
    parser.add_argument("--repeat", type=int, default=5, help="rounds in which all contenders take their turn")
    names = [case.name for case in CASES]
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the table for the documentation as well")
    return parser


def _page(measured: list[tuple[Case, list[Result]]]) -> str:
    """The table as reStructuredText: a row for every case and peer."""
    head = ["What is timed", "Beside", "Ratio", "Ours", "Its", "Memory: ours", "Its"]
    rows = [
        [
            re.sub(r"--\w+ \d+", r"``\g<0>``", case.what),
            other.contender,
            *map(_whole, (f"{ours.ratio_to(other):.2f}", _time(ours.median), _time(other.median))),
            *map(_whole, (_megabytes(ours.memory), _megabytes(other.memory))),
        ]
        for case, (ours, *others) in measured
        for other in others
    ]
    lines = (f"   * - {row[0]}\n" + "\n".join(f"     - {cell}" for cell in row[1:]) for row in [head, *rows])
    return ".. list-table::\n   :header-rows: 1\n   :widths: 34 22 8 9 9 9 9\n\n" + "\n".join(lines) + "\n"


def _whole(cell: str) -> str:
    """A number that stays beside its unit, or a dash that begins no list."""
    return "\N{EN DASH}" if cell == "-" else cell.replace(" ", "\N{NO-BREAK SPACE}")


def _rows(case: Case, results: list[Result]) -> list[list[str]]:
    """A row for every peer, or one if there is none; our own numbers stand in the first one."""
    ours, *others = results
    rows = [
        [other.contender, _time(other.median), _megabytes(other.memory), f"{ours.ratio_to(other):.3f}"]
        for other in others
    ] or [["-"] * 4]
    target = "-" if case.target is None else f"{case.target:.3f}"
    first = [case.name, _time(ours.median), _megabytes(ours.memory)]
    return [[*first, *rows[0], target], *(["", "", "", *row, ""] for row in rows[1:])]


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def _megabytes(memory: int | None) -> str:
    return "-" if memory is None else f"{memory / 1e6:.0f} MB"


if __name__ == "__main__":
    main()
