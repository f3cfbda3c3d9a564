"""Ferrante, Ferro, Maistro, "Towards a Formal Framework for Utility-oriented Measurements of Retrieval Effectiveness"
(ICTIR 2015, doi 10.1145/2808194.2809452): the partial order, swap and replacement, and the balancing index.

    python examples/papers/ferrante_2015.py
    python examples/papers/ferrante_2015.py --plots out --topics 5000

It needs no data. The last part is a simulation of our own, not the paper's Figure 1 (b): on random rankings, no measure
contradicts the partial order, and where that leaves a pair open, measures may disagree.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from ir_lexirecall.meta import agreement, axioms, balancing_index, partial_order, plot

MEASURES = ["ERR", "RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)", "nDCG", "AP"]  # from top-heavy to not
COMPARED = ["CWL_RBP(phi=0.5,max_rel=1)", "CWL_RBP(phi=0.8,max_rel=1)", "CWL_RBP(phi=0.95,max_rel=1)", "nDCG", "AP"]


def examples() -> pd.DataFrame:
    """What the partial order says of a replacement, a swap, and of rankings that it leaves open."""
    return partial_order(
        {
            "a": [0, 1, 0, 1],
            "a with one replaced": [0, 2, 0, 1],
            "a with two swapped": [1, 0, 0, 1],
            "one at the top": [2, 0, 0, 0],
            "a full tail": [0, 1, 1, 1],
        }
    )


def random_runs(
    topics: int, length: int, relevant: int, seed: int
) -> tuple[dict[str, dict[str, int]], dict[str, dict]]:
    """Judgments, and two runs that rank the same documents in random orders."""
    rng = np.random.default_rng(seed)
    qrels = {f"q{q}": {f"d{i}": int(i < relevant) for i in range(length)} for q in range(topics)}
    runs: dict[str, dict] = {}
    for name in ("one", "other"):
        orders = rng.permuted(np.tile(np.arange(length), (topics, 1)), axis=1)
        runs[name] = {f"q{q}": {f"d{i}": -float(rank) for rank, i in enumerate(orders[q])} for q in range(topics)}
    return qrels, runs


def main(topics: int = 1000, plots: Path | None = None) -> None:
    print("The partial order (b is better: <, a is better: >)")
    print(examples().to_string(index=False))

    print("\nSwap and replacement: what no measurement may violate, and what sensitive ones also have strictly")
    laws = axioms(["AP", "RBP(p=0.8)", "ERR@20", "nDCG", "R@5", "P@5"], cases=100, progress=False)
    laws = laws[laws["source"].str.startswith("Ferrante")]
    print(laws.pivot(index="measure", columns="property", values="result").to_string())
    for row in laws[laws["result"] == "fails"].itertuples():
        print(f"  {row.measure}, {row.property}: {row.counterexample}")

    print("\nBalancing index B(n), by the algorithm and by the closed forms")
    n = [5, 10, 20, 21, 50, 100, 200]
    found = balancing_index(MEASURES, n)
    closed = balancing_index(MEASURES, n, method="closed form")
    print(found.pivot(index="measure", columns="n", values="B").loc[MEASURES].to_string())
    print("  where the closed forms say otherwise (they are exact, the algorithm scores in floats):")
    other = found.assign(exact=closed["B"])[found["B"] != closed["B"]]
    print("    " + (other[["measure", "n", "B", "exact"]].to_string(index=False).replace("\n", "\n    ") or "nowhere"))
    index = closed.set_index(["measure", "n"])["B"]
    print("\n                                        paper  ours")
    print(
        f"  RBP(p=0.8), n > 20                        8  {sorted({int(index['RBP(p=0.8)', k]) for k in n if k > 20})}"
    )
    print(f"  RBP(p=0.95), large n                near 60  {index['RBP(p=0.95)', 200]}")
    print(f"  ERR                                       1  {sorted({int(index['ERR', k]) for k in n})}")

    figure = balancing_index(MEASURES, range(1, 101), method="closed form")
    print("\nFigure 1 (a), every tenth n")
    print(figure[figure["n"] % 10 == 0].pivot(index="measure", columns="n", values="B").loc[MEASURES].to_string())

    print(f"\nOur simulation: {topics} pairs of random rankings of 50 documents, 5 of them relevant")
    decided = agreement(["dominance", *COMPARED], *random_runs(topics, 50, 5, seed=1), progress=False)
    columns = ["measure_a", "measure_b", "incomparable", "agree", "disagree", "tied_a", "tied_b", "agreement"]
    print(decided[columns].to_string(index=False))
    against = decided[decided["measure_a"] == "dominance"]
    print(f"  no measure contradicts the partial order: {bool((against['disagree'] == 0).all())}")
    if plots is not None:
        plots.mkdir(parents=True, exist_ok=True)
        for name, study in {"figure1a": figure, "simulation": decided, "partial_order": examples()}.items():
            plot(study).figure.savefig(plots / f"ferrante_2015_{name}.svg")
            print(f"  drawn: {plots / f'ferrante_2015_{name}.svg'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topics", type=int, default=1000, help="pairs of random rankings (default 1000)")
    parser.add_argument("--plots", type=Path, help="draw the figures into this folder")
    arguments = parser.parse_args()
    main(arguments.topics, arguments.plots)
