"""``python -m tests.benchmarks``: one table of our times and memory beside the peers'."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from tabulate import tabulate
from tqdm import tqdm

from tests.benchmarks.cases import CASES
from tests.benchmarks.data import Size
from tests.benchmarks.measuring import measure

_HEAD = ["What is timed", "Beside", "Ratio", "Ours", "Its", "Memory: ours", "Its"]


def main(arguments: list[str] | None = None) -> None:
    """Measure and print; nothing is asserted."""
    options = _parser().parse_args(arguments)
    size = Size(options.queries, options.depth, options.judged)
    chosen = [case for case in CASES if not options.only or case.name in options.only]
    rows = []
    for case in (bar := tqdm(chosen, disable=None, file=sys.stderr, leave=False)):
        bar.set_description(case.name)
        ours, *others = measure(case, size, options.repeat)
        for other in others or [ours]:
            both = [
                f"{ours.ratio_to(other):.3f}",
                _time(ours.median),
                _time(other.median),
            ]
            rows.append(
                [
                    case,
                    other.contender,
                    *both,
                    _megabytes(ours.memory),
                    _megabytes(other.memory),
                ]
            )
    shown = [[case.name, *cells] for case, *cells in rows]
    print(
        tabulate(
            shown,
            headers=_HEAD,
            disable_numparse=True,
            colalign=("left", "left", *["right"] * 5),
        )
    )
    print(
        f"\n{size.queries:,} queries x {size.depth:,} documents, {size.judged} judged, unless said otherwise;"
    )
    print(f"medians of {options.repeat} rounds; memory: peak beyond the inputs.\n")
    for case in chosen:
        print(f"{case.name}: {case.what}")
    for peer in sorted(
        {peer.name for case in chosen for peer in case.peers if not peer.installed}
    ):
        print(f"left out, not installed: {peer}")
    if options.page is not None:
        # A number stays beside its unit, and a dash begins no list.
        whole = {"-": "\N{EN DASH}"}
        cells = [
            [
                re.sub(r"--\w+ \d+", r"``\g<0>``", case.what),
                *(whole.get(x, x).replace(" ", "\N{NO-BREAK SPACE}") for x in row),
            ]
            for case, *row in rows
        ]
        lines = ["   * - " + "\n     - ".join(row) for row in [_HEAD, *cells]]
        head = ".. list-table::\n   :header-rows: 1\n   :widths: 34 22 8 9 9 9 9\n\n"
        options.page.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--queries", type=int, default=1000, help="queries of a run")
    parser.add_argument(
        "--depth", type=int, default=1000, help="documents retrieved for each query"
    )
    parser.add_argument(
        "--judged", type=int, default=30, help="judged documents of each query"
    )
    parser.add_argument(
        "--repeat",
        type=int,
        default=5,
        help="rounds in which all contenders take their turn",
    )
    names = [case.name for case in CASES]
    parser.add_argument(
        "--only",
        nargs="+",
        choices=names,
        metavar="NAME",
        help=f"of {', '.join(names)}",
    )
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE",
        help="write the table for the documentation as well",
    )
    return parser


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.1f} ms"


def _megabytes(memory: int | None) -> str:
    return "-" if memory is None else f"{memory / 1e6:.0f} MB"


if __name__ == "__main__":
    main()
