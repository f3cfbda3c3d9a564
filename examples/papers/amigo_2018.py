"""Amigó, Spina, Carrillo-de-Albornoz, "An Axiomatic Analysis of Diversity Evaluation Metrics" (SIGIR 2018,
doi 10.1145/3209978.3210024): the ten constraints for every measure at hand, and the example of metric unanimity.

    python examples/papers/amigo_2018.py
    python examples/papers/amigo_2018.py --cases 1000 --plots out

It needs no data. The measures of subtopics that ir_measures knows (alpha_nDCG, ERR_IA, ...) take part where pyndeval is
installed. A constraint fails for the reason that its counterexample shows, with the constraints formulated as the
first table says: where the paper's table says otherwise, compare the two.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
from pathlib import Path

import pandas as pd

from ir_lexirecall.meta import agreement, axioms, plot, properties

PLAIN = ["P@20", "R@20", "Rprec", "RR", "AP", "nDCG", "nDCG@20", "ERR@20", "RBP(p=0.8)", "RBP(p=0.99)", "TSE", "LR"]
DIVERSITY = ["StRecall@20", "P_IA@20", "AP_IA", "ERR_IA@20", "nERR_IA@20", "alpha_nDCG@20", "NRBP", "nNRBP"]
OURS = ["RBU", "RBU(e=0)"]
SIGN = {"holds": "yes", "fails": "-", "not applicable": "n/a"}


def constraints(measures: list[str], cases: int, size: int | None) -> pd.DataFrame:
    found = axioms(measures, size=size, cases=cases)
    return found[found["source"].str.startswith("Amigó")]


def unanimity_example() -> float:
    """MU(m) = log2( P(dm, dM) / (P(dm) P(dM)) ), ties of m counted one half, P(dm) = 1/2.

    Three systems, which the measures M all order alike, make six ordered pairs. Three of them rise in M, and m rises
    in two of these three: log2( (2/6) / (1/2 x 3/6) ).
    """
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    runs = {
        "s1": {"q": {"a": 9, "b": 8}},
        "s2": {"q": {"x": 9, "a": 8, "b": 7, "c": 6}},
        "s3": {"q": {"x": 9, "y": 8, "a": 7}},
    }
    row = agreement(["RR", "R@4"], qrels, runs, progress=False).iloc[0]  # dM: RR rises; m: R@4
    ordered = 2 * row["decisions"]
    unanimous = (row["agree"] + row["disagree"] + row["tied_b"]) / ordered
    joint = (row["agree"] + row["tied_b"] / 2) / ordered
    return math.log2(joint / (unanimous / 2))


def main(cases: int = 200, size: int | None = None, plots: Path | None = None) -> None:
    there = importlib.util.find_spec("pyndeval") is not None
    measures = [*PLAIN, *(DIVERSITY if there else []), *OURS]
    if not there:
        print(f"Not installed: pyndeval, for {', '.join(DIVERSITY)}; the other measures follow.\n")
    known = properties()
    print("The ten constraints, as they are checked")
    for row in known[known["source"].str.startswith("Amigó")].itertuples():
        print(f"  {row.property}: {row.meaning}")

    found = constraints(measures, cases, size)
    names = list(found["property"].unique())
    print("\nTable 1, ours: does the measure meet the constraint? (cutoff: but for what lies below its cutoff)")
    at_cutoff = found["counterexample"].str.endswith("(reaches below the cutoff)")
    signs = found.assign(sign=found["result"].map(SIGN).where(~at_cutoff, "cutoff"))
    table = signs.pivot(index="measure", columns="property", values="sign").loc[measures, names]
    print(table.T.to_string())

    print("\nWhy not: the smallest counterexamples (labels from rank 1 on; behind the bar what is not retrieved)")
    for measure, rows in found[found["result"] == "fails"].groupby("measure", sort=False):
        print(f"  {measure}")
        for row in rows.itertuples():
            print(f"    {row.property}: {row.counterexample}  ({row.search})")

    print("\n                                                      paper  ours")
    threshold = found.set_index(["measure", "property"])["result"]["AP", "deepness threshold"]
    print(f"  AP and the deepness threshold                       fails  {threshold}")
    print(f"  metric unanimity, the example                       0.415  {unanimity_example():.3f}")
    if plots is not None:
        plots.mkdir(parents=True, exist_ok=True)
        plot(axioms(measures, size=size, cases=0)).figure.savefig(plots / "amigo_2018_axioms.svg")
        print(f"  drawn: {plots / 'amigo_2018_axioms.svg'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200, help="random cases per constraint (default 200)")
    parser.add_argument(
        "--size", type=int, help="enumerate rankings up to so many documents (default 5 to 8, by labels)"
    )
    parser.add_argument("--plots", type=Path, help="draw the table into this folder")
    arguments = parser.parse_args()
    main(arguments.cases, arguments.size, arguments.plots)
