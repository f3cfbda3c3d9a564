"""
Azzopardi, Mackenzie, Moffat, ICTIR 2021: ERR is not C/W/L
==========================================================

"ERR is not C/W/L: Exploring the Relationship Between Expected Reciprocal Rank and Other Metrics" (ICTIR 2021,
doi 10.1145/3471158.3472239)::

    python examples/papers/azzopardi_2021.py
    python examples/papers/azzopardi_2021.py DATA --fine --plots out

What can be compared: the counterexample (where every document has the gain a, a C/W/L measure is a, ERR is not) and its
bounds, the largest values of ERR and of C/W/L measures with four classes of relevance. It needs no data.
What cannot: Tables 1 and 2 are about the Web Track's ad hoc runs of 2010 and 2011. Their designs are repeated on another
collection, DATA/robust2003 (17 runs, 100 topics, grades 0, 1 and 2 of the paper's scale 0 to 3); the paper's numbers stand
beside ours as another collection's, and what it says of them is checked.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from printed import Printed, drawn, new_figure, save

from ir_lexirecall import evaluate
from ir_lexirecall.alignment import AlignedRun, align
from ir_lexirecall.evaluation import parse_measures
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.measures import scoring
from ir_lexirecall.meta.correlations import coefficient

TOP = 3  # G = 4 classes: gains 0, 1/8, 3/8, 7/8
K = 20
ERR = f"GERR(max_rel={TOP})@{K}"
TABLE_1 = {  # parameter; its best value and the coefficient, for Pearson's r and for Spearman's rho
    "RBP": ("phi", 0.5, 0.966, 0.6, 0.99),
    "E8": ("k", 3, 0.936, 5, 0.944),
    "E9": ("k", 7, 0.955, 20, 0.999),
    "E10": ("phi", 0.62, 0.955, 0.7, 0.993),
    "E11": ("T", 1.25, 0.953, 1.35, 0.995),
}
MEASURES = {
    "RBP": f"CWL_RBP(phi={{}},max_rel={TOP})",
    "E8": f"CWL_ERR8(max_rel={TOP})@{{}}",
    "E9": f"CWL_ERR9(max_rel={TOP})@{{}}",
    "E10": f"CWL_ERR10(phi={{}},max_rel={TOP})",
    "E11": f"CWL_ERR11(T={{}},max_rel={TOP})",
}
NAMES = [f"ERR@{K}", *MEASURES]
TABLE_2 = [  # above the diagonal Kendall's tau, below it top-weighted
    [1, 0.932, 0.909, 0.903, 0.909, 0.906],
    [0.946, 1, 0.898, 0.875, 0.881, 0.878],
    [0.940, 0.949, 1, 0.909, 0.926, 0.906],
    [0.960, 0.921, 0.941, 1, 0.977, 0.986],
    [0.944, 0.941, 0.967, 0.972, 1, 0.980],
    [0.960, 0.921, 0.941, 0.995, 0.974, 1],
]
RESIDUAL = 0.05


def counterexample(count: Printed, depth: int = 1000) -> pd.DataFrame:
    """Values of rankings whose documents all have one grade: a row per measure, a column per gain."""
    measures = {"ERR": f"GERR(max_rel={TOP})@{depth}"}
    measures |= {name: text.format(TABLE_1[name][3] if "@" not in text else depth) for name, text in MEASURES.items()}
    columns = {}
    for grade in range(1, TOP + 1):
        a = (2**grade - 1) / 2**TOP
        run = {"q": {f"d{i}": float(depth - i) for i in range(depth)}}
        values = evaluate(measures, {"q": dict.fromkeys(run["q"], grade)}, run).loc["q"]
        columns[f"a = {2**grade - 1}/{2**TOP}"] = {
            "C/W/L: a": a,
            "ERR: -a ln(a) / (1 - a)": -a * np.log(a) / (1 - a),
            **values,
        }
    table = pd.DataFrame(columns)
    top = table.iloc[:, -1]
    count.compare("largest value of ERR, four classes", 0.9347, float(top["ERR"]))
    for name in MEASURES:
        count.compare(f"largest value of {name}, four classes", 0.875, float(top[name]), digits=3)
    count.claim(
        "the counterexample: ERR is above the gain wherever all gains are equal",
        (table.loc["ERR"] > table.loc["C/W/L: a"]).all(),
    )
    return table


def counterexample_curve(plots: Path | None) -> None:
    """What measures give endless rankings whose documents all have the gain a."""
    a = np.linspace(0.001, 0.999, 200)
    axes = new_figure(5, 3.5).add_subplot()
    axes.plot(a, a, label="any C/W/L measure: a")
    axes.plot(a, -a * np.log(a) / (1 - a), label="ERR: -a ln(a) / (1 - a)")
    axes.set(xlabel="gain a of all documents", ylabel="value")
    axes.legend()
    save(axes, plots, "azzopardi_2021_counterexample")


def printed_correlations(plots: Path | None) -> None:
    """Table 2 as the paper prints it: what needs the runs to be computed."""
    axes = new_figure(5.5, 4.2).add_subplot()
    axes.imshow(TABLE_2, cmap="Blues", vmin=0.8, vmax=1)
    for i, row in enumerate(TABLE_2):
        for j, value in enumerate(row):
            if i != j:
                axes.text(j, i, f"{value:.3f}", ha="center", va="center", color="white" if value > 0.92 else "black")
    axes.set_xticks(range(len(NAMES)), NAMES)
    axes.set_yticks(range(len(NAMES)), NAMES)
    axes.set_title("As printed: Kendall's tau, below the diagonal top-weighted", fontsize=10)
    save(axes, plots, "azzopardi_2021_printed_table_2")


def read(folder: Path) -> tuple[Judgments, dict[str, AlignedRun]]:
    """The Robust 2003 collection, every run aligned once."""
    judgments = Judgments.from_qrels(str(folder / "qrels.txt.gz"))
    runs = sorted((folder / "runs").glob("*.gz"))
    return judgments, {path.name.removesuffix(".gz"): align(judgments, str(path)) for path in runs}


def values_of(text: str, runs: dict[str, AlignedRun]) -> np.ndarray:
    """Values of a measure, shape (runs, topics)."""
    measure = parse_measures([text])[text]
    return np.stack([scoring.values(measure, run) for run in runs.values()])


def candidates(fine: bool) -> dict[str, list[float]]:
    """Values of the parameters that are tried."""
    phi = np.arange(0.02, 1, 0.01 if fine else 0.04).round(2).tolist()
    k = [*range(1, 31), 40, 50, 100] if fine else [1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 50]
    return {"phi": phi, "k": k, "T": np.arange(0.05, 6 if fine else 4, 0.05 if fine else 0.25).round(2).tolist()}


def table_1(
    runs: dict[str, AlignedRun], fine: bool, count: Printed
) -> tuple[dict[str, tuple[float, float]], dict[str, dict[float, tuple[float, float]]]]:
    """The parameters with which the measures correlate best with ERR, over the pairs of a small residual."""
    err = values_of(ERR, runs)
    residual = values_of(f"GERR(max_rel={TOP},unjudged='best')", runs) - err
    kept = residual <= RESIDUAL
    print(
        f"\nPairs of run and topic: {err.size}; residual of at most {RESIDUAL}: {kept.sum()} (the paper, 2010: 1,760 of 2,688)."
    )
    if not kept.any():
        kept = np.ones_like(kept)
    grids, rows, best = candidates(fine), [], {}
    curves: dict[str, dict[float, tuple[float, float]]] = {}
    for name, (parameter, *printed) in TABLE_1.items():
        curves[name] = {}
        for value in grids[parameter]:
            x = values_of(MEASURES[name].format(value), runs)[kept]
            curves[name][value] = (coefficient("pearson", x, err[kept]), coefficient("spearman", x, err[kept]))
        r, rho = (max(curves[name], key=lambda value, which=which: curves[name][value][which]) for which in (0, 1))
        best[name] = r, rho
        row = {"measure": name, "parameter": parameter}
        row |= {"best for r": r, "r": curves[name][r][0], "paper": f"{printed[0]}: {printed[1]:.3f}"}
        row |= {"best for rho": rho, "rho": curves[name][rho][1], "paper ": f"{printed[2]}: {printed[3]:.3f}"}
        rows.append(row)
    table = pd.DataFrame(rows)
    print(
        f"\nTable 1: the parameter that correlates best with ERR@{K} ({int(kept.sum())} pairs; the paper: another collection).\n"
    )
    print(table.to_string(index=False, float_format=lambda x: f"{x:.3f}"))
    cutoffs = table[table["parameter"] == "k"]
    same = sum(cutoffs["best for r"].to_numpy() == [TABLE_1[name][1] for name in cutoffs["measure"]])
    same += sum(cutoffs["best for rho"].to_numpy() == [TABLE_1[name][3] for name in cutoffs["measure"]])
    print(f"\n  Of the paper's four best cutoffs k, {same} are also the best ones here.")
    rho_of = table.set_index("measure")["rho"]
    count.claim("Table 1: every measure comes close to ERR, rho above .94", rho_of.min() > 0.94)
    count.claim(
        "Table 1: E8 is the farthest from ERR in ranks, E9 the closest",
        rho_of.idxmin() == "E8" and rho_of.idxmax() == "E9",
    )
    count.claim(
        "Table 1: RBP's best phi is smaller for r than for rho", table["best for r"][0] < table["best for rho"][0]
    )
    return best, curves


def table_2(runs: dict[str, AlignedRun], best: dict[str, tuple[float, float]]) -> None:
    """Correlations of the orders of runs by mean, with the parameters that are best for Spearman's rho."""
    texts = {NAMES[0]: ERR} | {name: MEASURES[name].format(best[name][1]) for name in MEASURES}
    mean = {name: values_of(text, runs).mean(axis=1).round(12) for name, text in texts.items()}
    cells, lowest = [], 1.0
    for i, a in enumerate(NAMES):
        row = []
        for j, b in enumerate(NAMES):
            kind = "kendall" if i < j else "top_weighted_kendall"
            value = coefficient(kind, mean[a], mean[b])
            lowest = min(lowest, value)
            row.append("" if i == j else f"{value:.3f} ({TABLE_2[i][j]:.3f})")
        cells.append(row)
    print(f"\nTable 2: orders of {len(runs)} runs by mean; above the diagonal Kendall's tau, below it top-weighted")
    print("  (in brackets the paper's: 38 runs of another collection).\n")
    print(pd.DataFrame(cells, index=NAMES, columns=NAMES).to_string())
    print(f"\n  The lowest coefficient is {lowest:.3f}, the paper's .875.")


def figures(
    runs: dict[str, AlignedRun],
    best: dict[str, tuple[float, float]],
    curves: dict[str, dict[float, tuple[float, float]]],
    plots: Path | None,
) -> None:
    err = values_of(ERR, runs)
    axes = new_figure(5, 3.5).add_subplot()
    axes.hist(err.ravel(), bins=50)
    axes.set(xlabel=f"ERR@{K}", ylabel="pairs of run and topic")
    save(axes, plots, "azzopardi_2021_figure_3")
    figure = new_figure(12, 6)
    for row, which, label in zip(figure.subplots(2, 5, sharex=True, sharey=True), (0, 1), ("r", "rho"), strict=True):
        for axes, name in zip(row, MEASURES, strict=True):
            value = best[name][which]
            axes.plot(err.ravel(), values_of(MEASURES[name].format(value), runs).ravel(), ".", markersize=2)
            axes.set(title=f"{name}, {TABLE_1[name][0]}={value:g}, best for {label}")
            if which:
                axes.set_xlabel(f"ERR@{K}")
    save(axes, plots, "azzopardi_2021_figure_4")
    axes = new_figure(5, 3.5).add_subplot()
    for name in ("RBP", "E10"):
        for which, label in enumerate(("Pearson", "Spearman")):
            axes.plot(list(curves[name]), [both[which] for both in curves[name].values()], label=f"{name}, {label}")
    axes.set(xlabel="phi", ylabel=f"correlation with ERR@{K}")
    axes.legend()
    save(axes, plots, "azzopardi_2021_figure_5")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, help="folder with robust2003")
    parser.add_argument("--fine", action="store_true", help="try more values of the parameters")
    parser.add_argument("--plots", metavar="FOLDER", type=Path, help="write the pictures there")
    options = parser.parse_args(arguments)
    count = Printed()
    print("Rankings of 1,000 documents of one grade. The paper: a C/W/L measure gives the gain itself, ERR cannot.\n")
    print(counterexample(count).to_string(float_format=lambda x: f"{x:.4f}"))
    if drawn(options.plots):
        counterexample_curve(options.plots)
    if options.data is None:
        print("\nNo folder with data was given: the experiments on runs are left out, and Table 2 is drawn as printed.")
        if drawn(options.plots):
            printed_correlations(options.plots)
    else:
        judgments, runs = read(options.data / "robust2003")
        print(f"\nTREC 2003 Robust (not the paper's collection): {len(runs)} runs, {len(judgments)} topics.")
        best, curves = table_1(runs, options.fine, count)
        table_2(runs, best)
        if drawn(options.plots):
            figures(runs, best, curves, options.plots)
    count.report()


if __name__ == "__main__":
    main()
