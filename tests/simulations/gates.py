"""How often a gate stops a change that does no harm: pairs of the eight best runs of TREC Robust 2003.

    python -m tests.simulations.gates FOLDER [--samples 1000] [--measures AP nDCG@10 P@10 LR]

For every ordered pair of the eight, queries are drawn in two ways such that nothing is lost: with replacement from differences whose
mean is taken away, or without, which of the two runs is the candidate being chosen by lot for every query. Of the first, the same
differences less the margin are a loss of exactly the margin. Printed: shares of samples, means over the pairs.
"""

from __future__ import annotations

import argparse
from itertools import permutations
from pathlib import Path

import numpy as np

import ir_lexirecall as irl
from ir_lexirecall import significance as sig
from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.comparison.ledger import spent_at
from ir_lexirecall.significance import SignificanceTest

ALPHA, MARGIN, BEST = 0.05, 0.01, 8
TITLES = "worse, no loss|worse, by lot|not worse, loss of the margin|fell by more than the margin, no loss|fell by more, by lot"


def shares(
    difference: Floats, samples: int, queries: int, rng: np.random.Generator
) -> list[float]:
    """In which share of samples the gate is wrong, by evidence and by the rule 'drop'."""
    drawn = (difference - difference.mean())[
        rng.integers(0, len(difference), (samples, queries))
    ]
    swapped = rng.permuted(np.tile(difference, (samples, 1)), axis=1)[:, :queries]
    swapped = swapped * rng.choice([-1.0, 1.0], swapped.shape)
    test = SignificanceTest("t")
    none, lot, loss = (
        sig.margin_test(test, x, MARGIN) for x in (drawn, swapped, drawn - MARGIN)
    )
    wrong = [none.worse <= ALPHA, lot.worse <= ALPHA, loss.not_worse <= ALPHA]
    wrong += [-x.mean(axis=1) > MARGIN for x in (drawn, swapped)]
    return [float(np.mean(share)) for share in wrong]


def stopped(
    looks: int,
    loss: float,
    projects: int,
    queries: int,
    rng: np.random.Generator,
    *,
    counted: bool,
    horizon: int | None = None,
) -> dict[str, float]:
    """In which share of projects a gate stops any of many commits: against the last commit, and against the release.

    Each commit changes half of the queries, by t with 4 degrees of freedom, and loses ``loss`` of a standard deviation of its
    differences on average; ``counted``: with a ledger (and its horizon) and both baselines, else every look at ALPHA against the last commit alone.
    """
    test, last, release = (
        SignificanceTest("t"),
        np.zeros(projects, dtype=bool),
        np.zeros(projects, dtype=bool),
    )
    sums = np.zeros((projects, queries))
    for n in range(1, looks + 1):
        x = (
            rng.standard_t(4, (projects, queries))
            * (rng.random((projects, queries)) < 0.5)
            - loss
        )
        sums += x
        alpha = spent_at(n, ALPHA, horizon) / 2 if counted else ALPHA
        last |= sig.margin_test(test, x, 0.0).worse <= alpha
        if counted:
            release |= sig.margin_test(test, sums, 0.0).worse <= alpha
    return {
        "last": float(last.mean()),
        "release": float(release.mean()),
        "any": float((last | release).mean()),
    }


def main() -> None:
    """Print a row per measure and number of queries."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "data", type=Path, help="folder with qrels.txt.gz and runs/*.gz"
    )
    parser.add_argument(
        "--samples",
        type=int,
        default=1000,
        help="per measure, pair and number of queries (default: 1000)",
    )
    parser.add_argument(
        "--measures", nargs="+", default=["AP", "nDCG@10", "P@10", "LR"]
    )
    options = parser.parse_args()
    runs = {path.stem: path for path in sorted((options.data / "runs").glob("*.gz"))}
    result = irl.compare(options.data / "qrels.txt.gz", runs, by=options.measures)
    rng = np.random.default_rng(0)
    print("measure  queries  " + TITLES.replace("|", "  "))
    for name in options.measures:
        values = result.compared.by[name].standings
        best = np.argsort(-values.mean(axis=1), kind="stable")[:BEST]
        for queries in (50, 100):
            pairs = [
                shares(values[b] - values[a], options.samples, queries, rng)
                for a, b in permutations(best, 2)
            ]
            print(
                f"{name:<8} {queries:>7}  "
                + "  ".join(f"{share:.3f}" for share in np.mean(pairs, axis=0)),
                flush=True,
            )


if __name__ == "__main__":
    main()
