"""
Maistro, Chaves Lima, Simonsen, Lioma, CIKM 2021: multi-aspect evaluation measures
==================================================================================

Of 159 printed numbers (the 9 orders of Table 1, the 150 cells of Table 3) 157 are reproduced. Of 24 claims 11 hold, 12 fail
and 1 cannot be decided.

- **Table 3**: 22 cells of MM are reproduced by half of the paper's Eq. 6; by Eq. 6 as printed, 6 of MM's 30 cells agree. Two
  cells differ: they are printed 0.25, and the rule that the other 28 follow gives 0.2.
- **Tables 4 to 6, Figure 2**: the paper's 425 runs of ten TREC tracks are not available here. The designs are repeated on
  DATA/clef-ehealth-2016 (16 runs, 50 topics, relevance 0 to 2, trustworthiness and understandability 0 to 100), with the
  labels as they are, and with the lowest labels for documents that are not relevant. Most claims are about these runs.
- **Figure 2** holds for nDCG, as its caption says, and not for AP, as the text says.
- **The paper's own tables**: 16 of 19 statements agree with them. The others are ranges of tau that Table 4 does not have
  (-0.24 to 0.33 for 0.01 to 0.32; 0.51 to 0.76 for 0.54 to 0.76), and five aspects for four.
- **Binary bases**: the example (Table 3) takes the top half of the classes as relevant, the experiments everything above the
  lowest class (``binarize='any'``).

"Principled Multi-Aspect Evaluation Measures of Rankings" (CIKM 2021, doi 10.1145/3459637.3482287)::

    python examples/papers/maistro_2021.py
    python examples/papers/maistro_2021.py DATA --full --plots out
"""

from __future__ import annotations

import argparse
import itertools
from fractions import Fraction
from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from aspects import best_run_labels, draw_labels
from printed import Printed, drawn, new_figure, save

from ir_lexirecall import SignificanceTest, evaluate
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.columns import qrel_table
from ir_lexirecall.measures.composed import label_weights
from ir_lexirecall.meta import Study, plot, reachable_maximum

DISTANCES = {"EUCL": "euclidean", "MANH": "manhattan", "CHEB": "chebyshev"}
MEASURES = ["CAM", "MM", "EUCL", "MANH", "CHEB"]
BASES = ["nDCG", "AP"]

TABLE_1 = {  # (relevance, correctness), best first; = joins the tuples of one class
    (
        "0 3/2 3",
        "EUCL",
    ): "(3,3) (2,3) (3,3/2) (2,3/2) (1,3) (1,3/2) (3,0) (2,0) (1,0) (0,0)",
    (
        "0 3/2 3",
        "MANH",
    ): "(3,3) (2,3) (3,3/2) (1,3) (2,3/2) (3,0) (1,3/2) (2,0) (1,0) (0,0)",
    (
        "0 3/2 3",
        "CHEB",
    ): "(3,3) (2,3) (3,3/2)=(2,3/2) (1,3)=(1,3/2) (3,0)=(2,0)=(1,0)=(0,0)",
    ("0 1 2", "EUCL"): "(3,2) (3,1)=(2,2) (2,1) (3,0)=(1,2) (2,0)=(1,1) (1,0) (0,0)",
    ("0 1 2", "MANH"): "(3,2) (3,1)=(2,2) (3,0)=(2,1)=(1,2) (2,0)=(1,1) (1,0) (0,0)",
    ("0 1 2", "CHEB"): "(3,2) (3,1)=(2,1)=(2,2) (3,0)=(2,0)=(1,0)=(1,1)=(1,2) (0,0)",
    ("0 2 6", "EUCL"): "(3,6) (2,6) (1,6) (3,2) (2,2) (1,2) (3,0) (2,0) (1,0) (0,0)",
    ("0 2 6", "MANH"): "(3,6) (2,6) (1,6) (3,2) (2,2) (1,2)=(3,0) (2,0) (1,0) (0,0)",
    ("0 2 6", "CHEB"): "(3,6) (2,6) (1,6) (3,2)=(2,2)=(1,2) (3,0)=(2,0)=(1,0)=(0,0)",
}

# Table 3: three documents with labels (relevance, correctness), embedded as 0, 1, 2, 3 and 0, 1.5, 3.
EXAMPLE = {"relevance": {0: 0, 1: 1, 2: 2, 3: 3}, "correctness": {0: 0, 1: 1.5, 2: 3}}
LABELS = {"d1": (1, 2), "d2": (3, 1), "d3": (3, 0)}
TABLE_3 = {  # columns: CAM, MM, EUCL, MANH, CHEB
    "AP": {
        "d1d2d3": "0.7917 0.3684 1.0000 1.0000 0.5000",
        "d1d3d2": "0.7917 0.3684 0.8333 0.8333 0.3333",
        "d2d1d3": "0.6667 0.3125 1.0000 1.0000 1.0000",
        "d2d3d1": "0.6667 0.2500 0.8333 0.8333 1.0000",
        "d3d1d2": "0.6667 0.3125 0.5833 0.5833 0.3333",
        "d3d2d1": "0.6667 0.2500 0.5833 0.5833 0.5000",
        "d1d2": "0.6250 0.2500 1.0000 1.0000 0.5000",
        "d1d3": "0.6250 0.2500 0.5000 0.5000 0.0000",
        "d2d1": "0.5000 0.2500 1.0000 1.0000 1.0000",
        "d2d3": "0.5000 0.0000 0.5000 0.5000 1.0000",
        "d3d1": "0.5000 0.2500 0.2500 0.2500 0.0000",
        "d3d2": "0.5000 0.0000 0.2500 0.2500 0.5000",
        "d1": "0.5000 0.0000 0.5000 0.5000 0.0000",
        "d2": "0.2500 0.0000 0.5000 0.5000 1.0000",
        "d3": "0.2500 0.0000 0.0000 0.0000 0.0000",
    },
    "nDCG": {
        "d1d2d3": "0.9073 0.4489 0.9367 0.9711 0.8597",
        "d1d3d2": "0.8824 0.4386 0.8917 0.9404 0.7602",
        "d2d1d3": "0.9056 0.4516 1.0000 1.0000 1.0000",
        "d2d3d1": "0.8801 0.4319 0.9775 0.9795 0.9502",
        "d3d1d2": "0.8106 0.3930 0.8284 0.8827 0.6199",
        "d3d2d1": "0.8100 0.3827 0.8509 0.8929 0.6697",
        "d1d2": "0.7682 0.3491 0.8080 0.8147 0.8597",
        "d1d3": "0.6483 0.3145 0.5914 0.6667 0.3801",
        "d2d1": "0.7665 0.3776 0.8713 0.8436 1.0000",
        "d2d3": "0.6437 0.2679 0.7630 0.7449 0.7602",
        "d3d1": "0.5765 0.2801 0.5281 0.6089 0.2398",
        "d3d2": "0.5735 0.1897 0.6364 0.6583 0.4796",
        "d1": "0.4728 0.1491 0.4290 0.4693 0.3801",
        "d2": "0.4682 0.2258 0.6006 0.5475 0.7602",
        "d3": "0.2781 0.0000 0.2574 0.3129 0.0000",
    },
}
MISPRINT = "the table's own rule, 1 / (1/mu_1 + 1/mu_2), gives .2"

ASPECTS_OF_TRACKS = (3, 3, 3, 3, 3, 3, 4, 4, 3, 3)  # Table 2

# Table 4: ten tracks, for each of them NDCG and AP.
KENDALL = {
    "EUCL-CAM": ".25 .16 .18 .12 .21 .11 .31 .26 .22 .12 .30 .23 .68 .54 .63 .55 .76 .60 .72 .51",
    "EUCL-MM": ".07 .04 .05 0 .06 .03 .16 .13 .12 .04 .17 .04 .36 .17 .02 -.10 .46 .31 .45 .27",
    "MANH-CAM": ".22 .16 .21 .12 .16 .11 .34 .26 .31 .12 .41 .23 .62 .54 .60 .55 .69 .60 .72 .51",
    "MANH-MM": ".06 .04 .01 .01 .06 .03 .16 .13 .11 .04 .15 .04 .28 .17 -.06 -.10 .41 .31 .45 .27",
    "CHEB-CAM": ".01 .02 .06 .05 .02 .02 .19 .15 .11 0 .19 .07 .26 .16 -.13 -.18 .27 .27 .29 .24",
    "CHEB-MM": ".06 .09 0 .03 .09 .01 .19 .16 .12 .08 .14 .05 .88 .86 .52 .53 .58 .60 .54 .52",
    "EUCL-MANH": ".36 1 .19 1 .21 1 .34 1 .20 1 .34 1 .87 1 .71 1 .72 1 1 1",
    "EUCL-CHEB": ".01 .02 .10 .03 .01 .03 .32 .11 .22 .04 .30 .12 .33 .19 -.21 -.21 .28 .21 .26 .20",
    "MANH-CHEB": ".01 .02 .03 .03 .02 .03 .21 .11 .10 .04 .18 .12 .32 .19 -.24 -.21 .25 .21 .26 .20",
    "CAM-MM": ".10 .05 .05 .01 .11 -.01 .23 .13 .16 .03 .26 .04 .30 .18 .09 0 .51 .41 .51 .42",
}
SINGLE = {  # tau of single aspects: of Task, and of Decision and Misinformation
    "relevance and usefulness": (0.75, 0.75, 0.75, 0.74),
    "credibility and correctness": (0.26, 0.26, 0.28, 0.24),
    "relevance and credibility": (0.33, 0.33, 0.29, 0.25),
    "relevance and correctness": (0.42, 0.49, 0.49, 0.47),
}
POWER = {  # percent
    "CAM": "75.98 64.43 66.32 61.23 75.14 61.64 68.71 56.74 76.89 57.05 85.06 78.85 53.33 33.33 72.22 55.56 72.58 70.56 71.53 70.90",
    "MM": "75.61 50.58 72.89 67.79 67.32 67.81 62.68 56.12 80.71 46.99 74.25 53.56 0 0 0 0 60.08 53.23 68.31 62.20",
    "EUCL": "75.29 72.64 62.96 66.75 75.14 70.33 66.13 64.10 75.14 59.45 80.92 78.85 66.67 66.67 69.44 75 73.59 73.99 72.86 75.14",
    "MANH": "76.66 72.68 63.59 67.14 77.32 70.38 66.05 64.18 76.67 59.34 86.44 79.08 66.67 53.33 75 75 73.79 73.79 73.02 74.98",
    "CHEB": "50.18 6.32 59.82 51.49 73.06 50.11 61.08 39.36 77.10 49.34 75.17 66.21 0 0 0 0 42.54 29.84 65.41 53.33",
}
TABLE_5 = {  # documents without any label above 0 at ranks 1 to 5, of about 4,330
    "1": "51 131 39 33 154",
    "2": "65 159 50 48 179",
    "3": "103 202 88 78 185",
    "4": "102 173 86 74 183",
    "5": "107 196 95 81 205",
    "1-5": "428 861 358 314 906",
}
TABLE_5_PERCENT = {
    "1": "1.18 3.02 0.90 0.76 3.55",
    "2": "1.50 3.67 1.15 1.11 4.13",
    "3": "2.38 4.66 2.03 1.80 4.17",
    "4": "2.35 3.99 1.99 1.71 4.23",
    "5": "2.47 4.53 2.19 1.87 4.73",
    "1-5": "9.88 19.88 8.27 7.25 20.92",
}
TABLE_6 = {  # mean sum of labels
    "1-25": "1.70 1.49 1.67 1.69 1.39",
    "26-50": "0.85 0.78 0.91 0.94 0.70",
    "51-75": "0.57 0.53 0.63 0.64 0.48",
    "76-100": "0.40 0.39 0.43 0.44 0.36",
}
CLEF = {"relevance": 2, "trustworthiness": 100, "understandability": 100}


def numbers(text: str) -> list[float]:
    return [float(number) for number in text.split()]


# -- the worked examples ---------------------------------------------------------------------------


def order(correctness: str, distance: str) -> str:
    """All label tuples, best first, as Table 1 prints them; what is not relevant cannot be correct."""
    scales = {"relevance": ["0", "1", "2", "3"], "correctness": correctness.split()}
    tuples = [(r, c) for r in range(4) for c in range(3) if r > 0 or c == 0]
    positions = {
        name: np.array(column)
        for name, column in zip(scales, zip(*tuples, strict=True), strict=True)
    }
    embedding = {
        name: [Fraction(value) for value in scale] for name, scale in scales.items()
    }
    weight, _ = label_weights(
        embedding, positions, distance=DISTANCES[distance], gate="relevance"
    )
    classes: dict[int, list[str]] = {}
    for i in np.argsort(-weight, kind="stable"):
        r, c = tuples[i]
        classes.setdefault(int(weight[i]), []).append(
            f"({scales['relevance'][r]},{scales['correctness'][c]})"
        )
    return " ".join("=".join(sorted(names)) for names in classes.values())


def table_1(count: Printed) -> None:
    print(
        "Table 1: order of the label tuples (relevance, correctness); = joins tuples of one class.\n"
    )
    for (correctness, distance), printed in TABLE_1.items():
        ours = order(correctness, distance)
        paper = " ".join(
            "=".join(sorted(group.split("="))) for group in printed.split()
        )
        same = count.compare(
            f"Table 1, correctness {correctness}, {distance}", paper, ours
        )
        print(
            f"  {correctness:8} {distance}  {'as printed' if same else 'NOT as printed'}  {ours}"
        )


def table_3(base: str, count: Printed) -> tuple[pd.DataFrame, int, int]:
    """All rankings of one, two and three documents, ours beside the printed values; MM's cells that agree by Eq. 6, and by half of it."""
    rankings = {
        "".join(docs): docs
        for size in (3, 2, 1)
        for docs in itertools.permutations(LABELS, size)
    }
    qrels = pd.DataFrame(
        [
            (ranking, doc, *label)
            for ranking in rankings
            for doc, label in LABELS.items()
        ],
        columns=["query_id", "doc_id", *EXAMPLE],
    )
    run = {
        ranking: {doc: -float(i) for i, doc in enumerate(docs)}
        for ranking, docs in rankings.items()
    }
    half = ",binarize='half'" if base == "AP" else ""
    aspects = str(EXAMPLE).replace(" ", "")
    measures = {
        name: f"{name}(aspects={aspects},base='{base}'{half})" for name in ("CAM", "MM")
    }
    for name, distance in DISTANCES.items():
        measures[name] = (
            f"TOMA(aspects={aspects},distance='{distance}',base='{base}',gate='relevance')"
        )
    values = evaluate(measures, qrels, run).loc[list(rankings)]
    of_equation_6 = values["MM"].copy()
    values["MM"] /= (
        2  # the table prints 1 / sum(1 / base_a), half of MM as it is defined for two aspects
    )
    rows, before = [], count.agree
    as_printed, halved = (
        sum(
            f"{column[ranking]:.4f}" == f"{numbers(printed)[MEASURES.index('MM')]:.4f}"
            for ranking, printed in TABLE_3[base].items()
        )
        for column in (of_equation_6, values["MM"])
    )
    for ranking, printed in TABLE_3[base].items():
        row: dict[str, str] = {"ranking": ranking}
        for name, paper in zip(MEASURES, numbers(printed), strict=True):
            ours = float(values.loc[ranking, name])
            count.compare(
                f"Table 3, {base}, {ranking}, {name}",
                paper,
                ours,
                why=MISPRINT if name == "MM" else "",
            )
            row[name], row[f"{name} paper"] = f"{ours:.4f}", f"{paper:.4f}"
        rows.append(row)
    print(
        f"\nTable 3, {base}: {count.agree - before} of {5 * len(rows)} values agree to the printed digit.\n"
    )
    print(pd.DataFrame(rows).to_string(index=False))
    print(
        f"\n  MM here is half of Eq. 6: {halved} of {len(rows)} cells agree. By Eq. 6 as printed, {as_printed} do, those of value 0."
    )
    return values[MEASURES], as_printed, halved


def figure_of_table_3(tables: dict[str, pd.DataFrame], plots: Path | None) -> None:
    """Our values of Table 3, a point per ranking and measure."""
    figure = new_figure(9, 4)
    panels = figure.subplots(1, len(tables), sharey=True)
    for axes, (base, values) in zip(panels, tables.items(), strict=True):
        for name in MEASURES:
            axes.plot(values[name], range(len(values)), "o", alpha=0.7, label=name)
        axes.set_yticks(range(len(values)), list(values.index))
        axes.set(xlabel="value", title=f"Table 3, {base}")
    panels[0].invert_yaxis()
    panels[0].legend(fontsize="small")
    save(panels[0], plots, "maistro_2021_table_3")


def figure_of_printed_power(plots: Path | None) -> None:
    """Discriminative power as the paper prints it, over its ten tracks: what needs the runs to be computed."""
    figure = new_figure(9, 3)
    panels = figure.subplots(1, len(BASES), sharey=True)
    for axes, base in zip(panels, reversed(BASES), strict=True):
        which = 0 if base == "nDCG" else 1
        for name in MEASURES:
            axes.plot(
                range(1, 11),
                numbers(POWER[name])[which::2],
                "o-",
                markersize=4,
                alpha=0.7,
                label=name,
            )
        axes.set(
            title=f"As printed: discriminative power, {base}",
            xlabel="track of the paper",
            xticks=range(1, 11),
        )
    panels[0].set_ylabel("pairs of runs, %")
    panels[0].legend(ncols=2, fontsize=8)
    save(panels[0], plots, "maistro_2021_printed_power")


def printed_tables(count: Printed) -> None:
    """What the printed numbers of Tables 4 and 5 say themselves."""
    power = pd.DataFrame({name: numbers(row) for name, row in POWER.items()})
    best = power.eq(power.max(axis=1), axis=0)
    count.of_itself(
        "Table 4 as printed: EUCL and MANH agree for AP on all tracks",
        set(numbers(KENDALL["EUCL-MANH"])[1::2]) == {1},
    )
    columns = int((best["EUCL"] | best["MANH"]).sum())
    count.of_itself(
        f"Table 4 as printed: EUCL or MANH has the best power in 16 of 20 columns (counted: {columns})",
        columns == 16,
    )
    count.of_itself(
        "Table 4 as printed: CHEB never has the best power", not best["CHEB"].any()
    )
    none = [power.index[power[name] == 0].tolist() for name in ("CHEB", "MM")]
    count.of_itself(
        "Table 4 as printed: CHEB and MM have no power on two tracks, for nDCG and AP",
        none == [[12, 13, 14, 15]] * 2,
    )
    weak = max(max(numbers(KENDALL[pair])) for pair in ("EUCL-CHEB", "MANH-CHEB"))
    count.of_itself(
        f"Table 4 as printed: EUCL and MANH correlate weakly with CHEB (at most {weak:.2f})",
        weak < 0.5,
    )
    close = max(numbers(KENDALL["CHEB-MM"]))
    count.of_itself(
        f"Table 4 as printed: CHEB comes close to MM on one track ({close:.2f})",
        close == 0.88,
    )
    weak_pairs = [
        value for pair in ("EUCL-CHEB", "MANH-CHEB") for value in numbers(KENDALL[pair])
    ]
    count.of_itself(
        "Section 4.3.1: EUCL and MANH correlate with CHEB by tau .01 to .32 "
        f"(Table 4: {min(weak_pairs):.2f} to {max(weak_pairs):.2f})",
        (min(weak_pairs), max(weak_pairs)) == (0.01, 0.32),
    )
    count.of_itself(
        f"Section 4.3.1: tracks have up to five aspects (Table 2: {max(ASPECTS_OF_TRACKS)})",
        max(ASPECTS_OF_TRACKS) == 5,
    )
    ranges_of_table_4(count)
    single_aspects(count)
    power_by_columns(power, count)
    tables_5_and_6_as_printed(count)
    off = [
        f"rank {rank}, {name}: {percent:.2f} for {100 * documents / 4330:.2f}"
        for rank, row in TABLE_5.items()
        for name, documents, percent in zip(
            MEASURES, numbers(row), numbers(TABLE_5_PERCENT[rank]), strict=True
        )
        if abs(percent - 100 * documents / 4330) > 0.0101
    ]
    print(
        "\nTable 5's percentages, of 4,330 documents (433 topics, 5 ranks, 2 bases), are its counts but for "
        + "; ".join(off)
    )


def spread(pairs: tuple[str, ...], columns: slice) -> tuple[float, float]:
    """Return the least and the largest tau that Table 4 prints for pairs of measures in some columns."""
    values = [value for pair in pairs for value in numbers(KENDALL[pair])[columns]]
    return min(values), max(values)


WEB, LATER = (
    slice(0, 12),
    slice(12, 20),
)  # columns of Web tracks; of Task, Decision, Misinformation
RANGES = [  # of Section 4.3.1: what, pairs, columns, least and largest tau
    ("EUCL and MANH with CAM, Web", ("EUCL-CAM", "MANH-CAM"), WEB, (0.11, 0.41)),
    ("EUCL and MANH with CAM, Task, Decision, Misinformation", ("EUCL-CAM", "MANH-CAM"), LATER, (0.54, 0.76)),
    ("EUCL with MANH, nDCG", ("EUCL-MANH",), slice(0, 20, 2), (0.19, 1.0)),
    ("CHEB with MM, Task, Decision, Misinformation", ("CHEB-MM",), LATER, (0.52, 0.88)),
]  # fmt: skip


def ranges_of_table_4(count: Printed) -> None:
    """Compare the ranges that the text gives with the printed table."""
    for text, pairs, columns, (low, high) in RANGES:
        ours = spread(pairs, columns)
        count.of_itself(
            f"Section 4.3.1: {text}: tau {low:.2f} to {high:.2f} (Table 4: {ours[0]:.2f} to {ours[1]:.2f})",
            ours == (low, high),
        )


def single_aspects(count: Printed) -> None:
    """Compare the ranges that the text gives for single aspects with the printed table."""
    useful, *others = SINGLE.values()
    later = [value for row in others for value in row]
    count.of_itself(
        "Section 4.3.1: relevance and usefulness: tau .74 to .75",
        (min(useful), max(useful)) == (0.74, 0.75),
    )
    count.of_itself(
        f"Section 4.3.1: single aspects, Decision, Misinformation: tau .24 to .49 ({min(later):.2f} to {max(later):.2f})",
        (min(later), max(later)) == (0.24, 0.49),
    )


def power_by_columns(power: pd.DataFrame, count: Printed) -> None:
    """Compare what the text says of discriminative power with the printed table."""
    best = power.eq(power.max(axis=1), axis=0).sum()
    text = ", ".join(f"{name} {best[name]}" for name in ("MANH", "EUCL", "MM", "CAM"))
    count.of_itself(
        f"Section 4.3.2: MANH has the best power in 12 columns, EUCL in 6, MM in 3, CAM in 1 (counted: {text})",
        [best[name] for name in ("MANH", "EUCL", "MM", "CAM")] == [12, 6, 3, 1],
    )
    mean = power.mean()
    count.of_itself(
        f"Section 4.3.2: CHEB has the least power, then MM (means {mean['CHEB']:.1f}, {mean['MM']:.1f})",
        list(mean.sort_values().index[:2]) == ["CHEB", "MM"],
    )


def tables_5_and_6_as_printed(count: Printed) -> None:
    """Compare what the text says of Tables 5 and 6 with what they print."""
    zero = dict(zip(MEASURES, numbers(TABLE_5["1-5"]), strict=True))
    count.of_itself(
        "Section 4.3.3: MANH shows fewest documents without a label, EUCL is a close second",
        sorted(zero, key=zero.__getitem__)[:2] == ["MANH", "EUCL"],
    )
    rows = [numbers(row) for row in TABLE_6.values()]
    count.of_itself(
        "Section 4.3.4: the sums of labels fall with rank",
        all(
            a > b
            for upper, lower in itertools.pairwise(rows)
            for a, b in zip(upper, lower, strict=True)
        ),
    )
    first = dict(zip(MEASURES, rows[0], strict=True))
    count.of_itself(
        "Section 4.3.4: CAM is best in ranks 1 to 25",
        max(first, key=first.__getitem__) == "CAM",
    )


def classes_and_maximum(count: Printed) -> None:
    """Check what the text says of numbers of classes, and of the maximum that can be reached."""
    numbers_of_classes = {
        correctness: [
            len(order(correctness, distance).split()) for distance in DISTANCES
        ]
        for correctness in dict.fromkeys(correctness for correctness, _ in TABLE_1)
    }
    by_distance = [
        dict(zip(DISTANCES, row, strict=True)) for row in numbers_of_classes.values()
    ]
    text = "; ".join("/".join(map(str, row)) for row in numbers_of_classes.values())
    count.claim(
        f"Section 3.4: the Chebyshev distance has fewest classes, the Euclidean most ({text})",
        all(row["CHEB"] <= row["MANH"] <= row["EUCL"] for row in by_distance),
    )
    rows = pd.DataFrame(
        {"query_id": "q", "doc_id": ["a", "b"], "relevance": [1, 0], "quality": [0, 1]}
    )
    aspects = "aspects={'relevance':1,'quality':1}"
    names = [
        f"CAM({aspects},base='RR')",
        f"MM({aspects},base='RR')",
        f"TOMA({aspects})",
    ]
    best = reachable_maximum(names, rows).set_index("measure")["value"]
    count.claim(
        "Section 4.2: where documents are not comparable, CAM and MM need not reach 1, and TOMA does "
        f"({', '.join(f'{value:.2f}' for value in best[names])})",
        best[names[0]] < 1 and best[names[1]] < 1 and best[names[2]] == 1,
    )


# -- CLEF eHealth 2016 -----------------------------------------------------------------------------


def read(
    folder: Path, *, gated: bool = False
) -> tuple[Judgments, dict[str, AlignedRun]]:
    """A row per judged document with a column per aspect, and every run aligned once.

    Args:
        folder: with the qrels of each aspect, and the runs.
        gated: a document that is not relevant has the lowest label of every aspect.
    """
    labels = [
        qrel_table(str(folder / f"{name}.qrels.gz"))
        .drop("iteration")
        .rename({"relevance": name})
        for name in CLEF
    ]
    joined = reduce(
        lambda left, right: left.join(right, on=["query_id", "doc_id"], how="left"),
        labels,
    )
    if gated:
        others = [name for name in CLEF if name != "relevance"]
        joined = joined.with_columns(
            pl.when(pl.col("relevance") > 0).then(pl.col(name)).otherwise(0).alias(name)
            for name in others
        )
    judgments = Judgments.from_qrels(joined)
    runs = sorted((folder / "runs").glob("*.gz"))
    return judgments, {
        path.name.removesuffix(".gz"): align(judgments, str(path)) for path in runs
    }


def measures_of(base: str, cutoff: str = "") -> dict[str, str]:
    """CAM, MM, and TOMA with three distances; binary bases take weights of at least 1, and grades above 0."""
    aspects = str(CLEF).replace(" ", "")
    toma = {
        name: f"TOMA(aspects={aspects},distance='{distance}',base='{base}',binarize='any'){cutoff}"
        for name, distance in DISTANCES.items()
    }
    return {
        name: f"{name}(aspects={aspects},base='{base}',binarize='any'){cutoff}"
        for name in ("CAM", "MM")
    } | toma


def single(aspect: str, base: str) -> str:
    """The base measure on one aspect alone."""
    return f"CAM(aspects={{'{aspect}':{CLEF[aspect]}}},base='{base}',binarize='any')"


def table_4(
    kind: str,
    judgments: Judgments,
    runs: dict[str, AlignedRun],
    resamples: int,
    count: Printed,
    plots: Path | None,
) -> None:
    """Kendall's tau per topic and discriminative power; the paper's ten tracks beside our one collection."""
    tau, power = {}, {}
    for base in BASES:
        aspects = {aspect: single(aspect, base) for aspect in CLEF}
        agreement = Study(
            {**measures_of(base), **aspects}, judgments, runs
        ).per_query_kendall()
        for a, b, value in agreement[["measure_a", "measure_b", "kendall"]].itertuples(
            index=False, name=None
        ):
            tau[base, a, b] = tau[base, b, a] = value
        test = SignificanceTest(
            "bootstrap",
            correction=None,
            alpha=0.01,
            n_resamples=resamples,
            progress=False,
        )
        table = Study(measures_of(base), judgments, runs).discriminative_power(
            test=test
        )
        power[base] = 100 * table.set_index("measure")["share"]
        if drawn(plots):
            save(plot(table), plots, f"maistro_2021_power_{base}")
            save(plot(agreement), plots, f"maistro_2021_kendall_{base}")
    rows = []
    for pair, printed in KENDALL.items():
        a, b = pair.split("-")
        row: dict[str, str] = {"tau per topic": pair}
        for start, base in enumerate(BASES):
            tracks = numbers(printed)[start::2]
            row[f"{base}, ten tracks"] = f"{min(tracks):.2f} to {max(tracks):.2f}"
            row[f"{base}, {kind}"] = f"{tau[base, a, b]:.3f}"
        rows.append(row)
    print(
        f"\nTable 4, {kind}, Kendall's tau per topic: lowest and highest of the paper's ten tracks, and ours.\n"
    )
    print(pd.DataFrame(rows).to_string(index=False))
    print(f"\nTable 4, {kind}, single aspects, ours.\n")
    for a, b in itertools.combinations(CLEF, 2):
        print(
            f"  {a} - {b}: "
            + ", ".join(f"{base} {tau[base, a, b]:.3f}" for base in BASES)
        )
    rows = []
    for name, printed in POWER.items():
        row = {"power, percent": name}
        for start, base in enumerate(BASES):
            tracks = numbers(printed)[start::2]
            row[f"{base}, ten tracks"] = f"{min(tracks):.2f} to {max(tracks):.2f}"
            row[f"{base}, {kind}"] = f"{power[base][name]:.2f}"
        rows.append(row)
    print(
        f"\nTable 4, {kind}, discriminative power: paired bootstrap, {resamples} resamples, alpha .01, no correction.\n"
    )
    print(pd.DataFrame(rows).to_string(index=False))
    count.claim(
        f"{kind}: EUCL and MANH put the runs in the same order for AP",
        round(tau["AP", "EUCL", "MANH"], 4) == 1,
    )
    strong = max(power["AP"]["EUCL"], power["AP"]["MANH"])
    count.claim(
        f"{kind}: EUCL or MANH has the best power for AP", strong == power["AP"].max()
    )
    weak = max(tau[base, name, "CHEB"] for base in BASES for name in ("EUCL", "MANH"))
    count.claim(
        f"{kind}: EUCL and MANH correlate weakly with CHEB (at most {weak:.2f})",
        weak < 0.5,
    )
    strong_ndcg = max(power["nDCG"]["EUCL"], power["nDCG"]["MANH"])
    count.claim(
        f"{kind}: EUCL or MANH has the best power for nDCG",
        strong_ndcg == power["nDCG"].max(),
    )
    best_of_two = all(power[base]["CHEB"] < power[base].max() for base in BASES)
    count.claim(f"{kind}: CHEB never has the best power", best_of_two)
    count.claim(
        f"{kind}: CHEB has less power than EUCL and MANH for AP",
        power["AP"]["CHEB"] < strong,
    )


SPANS = {"1-25": (1, 25), "26-50": (26, 50), "51-75": (51, 75), "76-100": (76, 100)}


def tables_5_and_6(
    kind: str,
    judgments: Judgments,
    runs: dict[str, AlignedRun],
    count: Printed,
    plots: Path | None,
) -> None:
    """Labels of the first documents of the run that a measure puts first on a topic (the first of equals)."""
    of_best = {k: labels_of_best_runs(k, judgments, runs, plots) for k in (5, 100)}
    documents = 2 * len(judgments)
    print(
        f"\nTable 5, {kind}: documents without a label above 0 at each rank, both bases; ours of {documents} per rank, the paper's of 4,330.\n"
    )
    rows = []
    for rank, printed in TABLE_5.items():
        ranks = slice(1, 5) if rank == "1-5" else slice(int(rank), int(rank))
        ours = [int(of_best[5]["zero"][name].loc[ranks].sum()) for name in MEASURES]
        rows.append([rank, *map(int, numbers(printed)), *ours])
    print(_beside(rows, "rank"))
    print(f"\n  The same in ranks of 25, of {25 * documents}.\n")
    parts = {
        span: pd.DataFrame(
            {name: of_best[100].loc[name].loc[low:high].sum() for name in MEASURES}
        )
        for span, (low, high) in SPANS.items()
    }
    without = {span: part.loc["zero"].astype(int) for span, part in parts.items()}
    shown = pd.DataFrame(without).T.rename_axis("ranks").reset_index()
    print(shown.to_string(index=False))
    print(
        f"\nTable 6, {kind}: mean sum of labels; the paper's three aspects have two to five grades, ours reach 2, 100 and 100.\n"
    )
    mean = {
        span: part.loc["sum"] / part.loc["documents"] for span, part in parts.items()
    }
    rows = [
        [span, *numbers(TABLE_6[span]), *(f"{value:.2f}" for value in mean[span])]
        for span in SPANS
    ]
    print(_beside(rows, "ranks"))
    count.claim(
        f"{kind}, Table 5: MANH's best runs have the fewest documents without a label, at all ranks",
        all(row.idxmin() == "MANH" for row in without.values()),
    )
    count.claim(
        f"{kind}, Table 6: MANH's best runs have most labels in ranks 26-50, 51-75 and 76-100",
        all(mean[span].idxmax() == "MANH" for span in list(SPANS)[1:]),
    )
    count.claim(
        f"{kind}, Table 6: CHEB's best runs have fewest labels at all ranks",
        all(row.idxmin() == "CHEB" for row in mean.values()),
    )


def labels_of_best_runs(
    k: int, judgments: Judgments, runs: dict[str, AlignedRun], plots: Path | None
) -> pd.DataFrame:
    """Return documents, those without a label, and sums of labels by measure and rank, both bases."""
    tables = [
        best_run_labels(
            Study(measures_of(base, f"@{k}"), judgments, runs, progress=False), k
        )
        for base in BASES
    ]
    if drawn(plots) and k == 100:
        save(draw_labels(tables[0]), plots, "maistro_2021_table_6_nDCG")
    both = pd.concat(
        [table.assign(sum=table["mean"] * table["documents"]) for table in tables]
    )
    return both.groupby(["measure", "rank"])[["documents", "zero", "sum"]].sum()


def _beside(rows: list[list[object]], first: str) -> str:
    columns = [first, *(f"{name} paper" for name in MEASURES), *MEASURES]
    return pd.DataFrame(rows, columns=columns).to_string(index=False)


def figure_2(judgments: Judgments, count: Printed, plots: Path | None) -> None:
    """The best value of CAM and MM over nine orders of all judged documents."""
    rows = []
    for base in BASES:
        table = reachable_maximum(
            {name: measures_of(base)[name] for name in ("CAM", "MM")}, judgments
        )
        if drawn(plots):
            save(plot(table), plots, f"maistro_2021_figure_2_{base}")
        for name, best in table.groupby("measure", sort=False)["value"]:
            shares = [
                f"{100 * (best > 1 - 1e-9).mean():.0f} %",
                f"{100 * (best < 0.9).mean():.0f} %",
            ]
            rows.append(
                [base, name, f"{best.mean():.4f}", f"{best.min():.3f}", *shares]
            )
            if base == "nDCG":
                of = "by its caption"
            elif name == "CAM":
                of = "by the text"
            else:
                continue
            count.claim(
                f"Figure 2, {of}: {name} on {base} cannot reach 1 on most topics ({(best > 1 - 1e-9).mean():.0%} reach it)",
                (best < 1 - 1e-9).mean() > 0.5,
            )
    print(
        "\nFigure 2: best value over nine orders of the judged documents (six lexicographic, sum, squares, largest).\n"
    )
    columns = ["base", "measure", "mean", "least", "topics at 1", "below .9"]
    print(pd.DataFrame(rows, columns=columns).to_string(index=False))
    print("\n  The paper, Decision 2019: 1 on 2% of the topics, below .9 on 26%.")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "data", nargs="?", type=Path, help="folder with clef-ehealth-2016"
    )
    parser.add_argument(
        "--resamples",
        type=int,
        default=2000,
        help="of the bootstrap (default: %(default)s)",
    )
    parser.add_argument(
        "--full", action="store_true", help="10,000 resamples, as many as the paper"
    )
    parser.add_argument(
        "--plots", metavar="FOLDER", type=Path, help="write the pictures there"
    )
    options = parser.parse_args(arguments)
    if options.full:
        options.resamples = 10_000

    count = Printed()
    table_1(count)
    found = {base: table_3(base, count) for base in TABLE_3}
    tables = {base: values for base, (values, _, _) in found.items()}
    as_printed, halved = (
        sum(counted) for counted in list(zip(*found.values(), strict=True))[1:]
    )
    count.note(
        f"Of them, {halved - as_printed} cells (MM, Table 3) agree by half of Eq. 6; by Eq. 6 as printed, {as_printed} of MM's 30 cells agree."
    )
    if drawn(options.plots):
        figure_of_table_3(tables, options.plots)
    printed_tables(count)
    classes_and_maximum(count)
    count.cannot_tell(
        "Section 4.1: shares of the grades of popularity and of non-spam documents",
        "PageRank and spam scores of the Web Tracks are not at hand",
    )
    if options.data is None:
        print(
            "\nNo folder with data was given: the experiments on runs are left out, and the paper's power is drawn as printed."
        )
        for text in (
            "Table 4: EUCL or MANH has the best power, CHEB never; both correlate weakly with CHEB",
            "Tables 5 and 6: MANH's best runs have the fewest documents without a label, and most labels",
            "Figure 2: CAM and MM cannot reach 1 on most topics",
        ):
            count.cannot_tell(
                text, "no runs were given; the paper's 425 are not at hand"
            )
        if drawn(options.plots):
            figure_of_printed_power(options.plots)
    else:
        judgments, runs = read(options.data / "clef-ehealth-2016")
        print(f"\nCLEF eHealth 2016: {len(runs)} runs, {len(judgments)} topics.")
        gated = read(options.data / "clef-ehealth-2016", gated=True)
        nothing = judgments.grade <= 0
        credible = sum(
            int((label[nothing] > 0).sum())
            for label in judgments.labels(list(CLEF)[1:]).values()
        )
        print(
            f"Gated: the {credible} labels above 0 of the {nothing.sum()} documents that are not relevant are taken as 0."
        )
        for kind, (labelled, listed), plots in (
            ("CLEF", (judgments, runs), options.plots),
            ("CLEF, gated", gated, None),
        ):
            table_4(kind, labelled, listed, options.resamples, count, plots)
            tables_5_and_6(kind, labelled, listed, count, plots)
        figure_2(judgments, count, options.plots)
    count.report()


if __name__ == "__main__":
    main()
