"""Azzopardi, Mackenzie, Moffat, "ERR is not C/W/L" (ICTIR 2021, doi 10.1145/3471158.3472239), on data at hand.

    python examples/papers/azzopardi_2021.py
    python examples/papers/azzopardi_2021.py DATA --plots out

First the counterexample: a C/W/L measure is a weighted mean of the gains, so where every document has the gain r its
value is r; ERR's is not. It needs no data. Then the paper's kind of experiment, on ANOTHER COLLECTION than the paper's:
17 runs of the TREC 2003 Robust track, whose grades 0, 1, 2 are read as 0, 2, 4 of ERR's five grades (gains 0, 3/16,
15/16). Its numbers are therefore not to be compared with the paper's tables; what the paper says of its own data is
that there are C/W/L variants with a very high correlation with ERR.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable
from pathlib import Path

import ir_measures
import pandas as pd

from ir_lexirecall.alignment import AlignedRun, align
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.meta import correlation, discriminative_power, fit, plot
from ir_lexirecall.provider import LexiRecallProvider

K = 20
ERR = f"ERR@{K}"
VARIANTS = {
    f"CWL_ERR8@{K}": f"CWL_ERR8(max_rel=4)@{K}",
    f"CWL_ERR9@{K}": f"CWL_ERR9(max_rel=4)@{K}",
    "CWL_ERR10(0.7)": "CWL_ERR10(phi=0.7,max_rel=4)",
    "CWL_ERR11(1.35)": "CWL_ERR11(T=1.35,max_rel=4)",
    "CWL_RBP(0.6)": "CWL_RBP(phi=0.6,max_rel=4)",
}
FITS = {  # measure -> its parameter, and where to look for it
    "CWL_ERR10(max_rel=4)": ("phi", (0.0, 1.0)),
    "CWL_ERR11(max_rel=4)": ("T", (0.1, 10.0)),
    "CWL_RBP(max_rel=4)": ("phi", (0.0, 1.0)),
}


_QUICK = ("pearson", "kendall")


def counterexample(depth: int = 1000) -> pd.DataFrame:
    """Values of rankings whose documents all have one grade: a row per measure, a column per gain."""
    measures = [f"ERR@{depth}", *(m.replace(f"@{K}", f"@{depth}") for m in VARIANTS.values())]
    rows: dict[str, dict[str, float]] = {}
    for grade in (1, 2, 3, 4):
        r = (2**grade - 1) / 2**4
        run = {"1": {f"d{i}": float(depth - i) for i in range(depth)}}
        qrels = {"1": dict.fromkeys(run["1"], grade)}
        parsed = [ir_measures.parse_measure(measure) for measure in measures]
        values = LexiRecallProvider().calc_aggregate(parsed, qrels, run)
        column = f"r = {2**grade - 1}/16"
        rows.setdefault("any C/W/L measure: r", {})[column] = r
        rows.setdefault("ERR: -r ln(r) / (1 - r)", {})[column] = -r * math.log(r) / (1 - r)
        for measure, name in zip(parsed, measures, strict=True):
            rows.setdefault(name, {})[column] = values[measure]
    return pd.DataFrame(rows).T


def read(folder: Path) -> tuple[Judgments, dict[str, AlignedRun]]:
    """The Robust 2003 collection with grades doubled, every run aligned once."""
    judgments = Judgments.from_qrels(str(folder / "qrels.txt.gz"))
    judgments = judgments.with_grades(2 * judgments.grade)
    runs = sorted((folder / "runs").glob("*.gz"))
    return judgments, {path.name.removesuffix(".gz"): align(judgments, str(path)) for path in runs}


def fits(judgments: Judgments, ranks: dict[str, AlignedRun], by: str, coefficients: Iterable[str]) -> pd.DataFrame:
    """For each measure and coefficient, the parameter that correlates best with ERR."""
    rows = []
    for measure, (parameter, bounds) in FITS.items():
        row: dict[str, object] = {"measure": measure.split("(")[0], "parameter": parameter}
        for coefficient in coefficients:
            found = fit(measure, ERR, judgments, ranks, parameter, bounds=bounds, by=by, coefficient=coefficient)
            row[coefficient] = f"{found.attrs['best']:.2f} ({found.attrs['correlation']:.4f})"
        rows.append(row)
    return pd.DataFrame(rows)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, help="folder with robust2003")
    parser.add_argument("--all", action="store_true", help="fit by all coefficients, not by Pearson and Kendall only")
    parser.add_argument("--plots", metavar="FOLDER", type=Path, help="write the pictures there")
    options = parser.parse_args(arguments)

    print("Rankings of 1,000 documents of one grade. The paper: a C/W/L measure gives the gain itself, ERR cannot.\n")
    print(counterexample().round(4).to_string())

    if options.data is None:
        print("\nNo folder with data was given: the experiments on runs are left out.")
        return
    judgments, ranks = read(options.data / "robust2003")
    print(f"\nTREC 2003 Robust (not the paper's collection): {len(ranks)} runs, {len(judgments)} topics.\n")

    measures = {"ERR": ERR, **VARIANTS}
    power = discriminative_power(measures, judgments, ranks, test="t", alpha=0.05)
    print("Sensitivity: pairs of runs with p <= 0.05, paired t-test.\n")
    print(power.to_string(index=False, float_format="{:.4f}".format))

    for by, what in (("values", "values of runs on topics"), ("runs", "means of runs")):
        table = correlation(measures, judgments, ranks, by=by)
        with_err = table[table["measure_a"] == "ERR"].drop(columns="measure_a")
        print(f"\nCorrelation with {ERR}, {what}.\n")
        print(with_err.to_string(index=False, float_format="{:.4f}".format))
        print(f"\nThe parameter that correlates best with {ERR}, and how well, {what}.\n")
        print(
            fits(
                judgments, ranks, by, (*_QUICK, "spearman", "top_weighted_kendall") if options.all else _QUICK
            ).to_string(index=False)
        )

    if options.plots:
        options.plots.mkdir(parents=True, exist_ok=True)
        plot(power).figure.savefig(options.plots / "azzopardi_sensitivity.svg")
        plot(correlation(measures, judgments, ranks)).figure.savefig(options.plots / "azzopardi_correlation.svg")
        found = fit("CWL_ERR10(max_rel=4)", ERR, judgments, ranks, "phi", bounds=(0, 1))
        plot(found).figure.savefig(options.plots / "azzopardi_fit.svg")
        print(f"\nPictures: {options.plots}")


if __name__ == "__main__":
    main()
