"""``python -m tests.faults.memory_run 2000``: evaluate again and again, outside the tests, and print the memory that is held."""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path

from tests.faults.work import CASES, Inputs, outcome

_EVERY = 10  # of so many evaluations, one is a comparison or a study


def resident() -> int:
    """Bytes of memory that this process holds; 0 where the system does not say."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


def main() -> None:
    """Evaluate so often, every kind of input in turn."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.memory_run", description=__doc__)
    parser.add_argument("evaluations", type=int, nargs="?", default=2000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    inputs = ["dicts", "frames", "files", "a shuffled file", "CSV", "Parquet", "JSON", "named tuples", "Polars"]
    others = [name for name in CASES if name not in inputs]
    with tempfile.TemporaryDirectory() as folder:
        Inputs(Path(folder)).write()
        for number in range(options.evaluations + 1):
            if number % max(1, options.evaluations // 10) == 0:
                print(f"{number:7} {resident() / 2**20:8.1f} MB", flush=True)
            names = others if number % _EVERY == 0 else inputs
            outcome(names[number % len(names)], folder)


if __name__ == "__main__":
    main()
