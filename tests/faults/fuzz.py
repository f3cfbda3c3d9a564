"""``python -m tests.faults.fuzz --cases 10000``: damaged files of every kind, for every reader and the command line."""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.faults.fuzzing import CASES


def tried(name: str, cases: int) -> int:
    """Try so many files of a kind; returns how many it were."""
    strategies, check = CASES[name]
    count = 0

    def try_one(arguments: Any) -> None:
        nonlocal count
        count += 1
        check(*arguments)

    many = settings(max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    many(given(arguments=st.tuples(*strategies))(try_one))()
    return count


def main() -> None:
    """Try so many files, and count what came of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000, help="files altogether")
    parser.add_argument("--only", nargs="+", choices=list(CASES), metavar="KIND", help=f"of {', '.join(CASES)}")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    chosen = options.only or list(CASES)
    counts: Counter[str] = Counter()
    for name in chosen:
        start = time.monotonic()
        counts[name] = tried(name, options.cases // len(chosen))
        print(f"{counts[name]:7} {name} ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"{sum(counts.values()):7} in all")


if __name__ == "__main__":
    main()
