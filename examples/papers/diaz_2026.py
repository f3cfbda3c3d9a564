"""
Diaz, Ekstrand, Mitra, TORS 2026: recall, robustness, and lexicographic evaluation
==================================================================================

Of 127 printed numbers (Table 2, a simulation, within sampling error; Tables 3 and 4, tie probabilities; the marks of Table 8)
123 are reproduced. Of 120 claims 77 hold, 29 fail and 14 cannot be decided.

- **Numbers that differ**: two differ by one digit from the exact value. Two empty cells of Table 8 are marks here, one by the
  paper's own proof, the other because TSE is bounded: it is at most e(1).
- **By enumeration**: Definition 2.2, Equations 9 to 12 and Theorem D.1 hold. So do the claims of Sections 4.3, 5.1 and 5.3
  and of Figures 4, 5 and 8.
- **Section 6**: the paper's 36 sets of runs are not available here. All 31 claims, and those of Section 7 that follow from
  them, are checked on 17 runs of retrieval (DATA/robust2003, 100 topics) and on two sets of recommenders on MovieLens (seven
  of LensKit, recorded; twelve in plain NumPy). Shallow rankings are these systems cut off, where the paper compares other
  collections.
- **Fails in this design**: nDCG's agreement with lexirecall does not rise with depth (retrieval 0.886, 0.854), nor does the
  lead by Tukey's HSD; shallow rankings do not hurt recall measures more; RP and R@1000 do not keep as many decisions of
  recommenders as lexirecall, and what they keep is an artefact of their ties, as the paper says.
- **With the same test on both sides**, lexirecall and R@1000 tell 102 and 102 of 136 pairs apart (sign test), 108 and 97 (t),
  83 and 68 (Tukey).
- **Cannot be told**: claims about deep retrieval, and claims that one of 21 pairs of recommenders decides.

"Recall, Robustness, and Lexicographic Evaluation" (TORS 2026, doi 10.1145/3728373)::

    python examples/papers/diaz_2026.py
    python examples/papers/diaz_2026.py DATA --full --plots out
"""

from __future__ import annotations

import argparse
from pathlib import Path

import enumerations
import numpy as np
import pandas as pd
import section_6
import systems
from printed import Printed, drawn, new_figure, save
from recommenders import MISSING, has_lenskit

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parameters import rel
from ir_lexirecall.meta import (
    Study,
    axioms,
    orientation,
    plot,
    simulate_rankings,
    tie_probabilities,
)

TABLE_2 = pd.DataFrame(
    [
        (10**3, 0.012, 1.0, 0.0, 0.285, 0.541, 0.535, 0.492),
        (10**4, 0.001, 1.0, 0.42, 0.077, 0.552, 0.549, 0.497),
        (10**5, 0.0, 1.0, 0.179, 0.008, 0.554, 0.555, 0.498),
        (10**6, 0.0, 1.0, 0.026, 0.001, 0.547, 0.554, 0.499),
    ],
    columns=["n", "tied", "TSE", "R@1000", "Rprec", "AP", "nDCG", "random"],
)
TABLE_3 = [  # m = 10: n, TSE, R@1000, RP; AP and LR are .000 everywhere
    (10**3, 10, 0.005, 1.0, 0.825),
    (10**4, 10, 0.001, 0.313, 0.98),
    (10**5, 10, 0.0, 0.826, 0.998),
    (10**6, 10, 0.0, 0.98, 1.0),
]
TABLE_4 = [  # n = 10^6
    (10**6, 1, 0.0, 0.998, 1.0),
    (10**6, 5, 0.0, 0.99, 1.0),
    (10**6, 10, 0.0, 0.981, 1.0),
    (10**6, 25, 0.0, 0.952, 0.999),
    (10**6, 50, 0.0, 0.907, 0.995),
]
FIGURE_1 = {  # full papers of RecSys, and those that measure recall
    2007: (16, 3), 2008: (20, 3), 2009: (25, 4), 2010: (25, 8), 2011: (22, 5), 2012: (24, 11), 2013: (32, 11), 2014: (35, 8),
    2015: (28, 7), 2016: (29, 12), 2017: (26, 6), 2018: (32, 11), 2019: (36, 11), 2020: (39, 12), 2021: (49, 19),
    2022: (39, 13), 2023: (47, 21), 2024: (58, 24),
}  # fmt: skip
TABLE_8 = {  # THRL, THRL with z > 0, TSE, LR: + guaranteed, a space: not for the whole class, n: not applicable
    "increasing in retrieval size": "++++",
    "decreasing in nonrelevance": "++++",
    "strictly decreasing in nonrelevance": "    ",
    "increasing in relevance": "++++",
    "strictly increasing in relevance": " + +",
    "increasing in swapping up": "++++",
    "strictly increasing in swapping up": " +  ",
    "concavity": "+++n",
    "strict concavity": " + n",
    "suffix invariance": "    ",
    "prefix invariance": "    ",
    "boundedness": "   n",
    "localization": "   n",
    "completeness": "+++n",
    "realizability": "   n",
}
NO_COUNTEREXAMPLE = "the paper's own proof shows it, and no counterexample was found"
PROVED = {("boundedness", "TSE"): "an exposure falls with rank: TSE is at most e(1)"}
DEPTHS = [
    250_000,
    225_000,
    200_000,
    100_000,
    50_000,
    20_000,
    10_000,
    5_000,
    2_000,
    1_000,
    100,
]


class PlainDCG(Measure):
    """DCG that is not normalised: e(i) = 1/log2(i+1), z = 1. A top-heavy recall-level measure without bound."""

    params = {"rel": rel()}

    def score(self, run: AlignedRun) -> Floats:
        found = run.relevant(self["rel"])
        return np.bincount(
            found.query, weights=1 / np.log2(found.rank + 1), minlength=len(found.m)
        )


MEMBERS = {  # of the classes of Table 8
    "THRL": ["AP", "RR", "nDCG", "RBP(p=0.8)", "PlainDCG"],
    "THRL, z>0": ["AP", "nDCG", "RBP(p=0.8)", "PlainDCG"],
    "TSE": ["TSE", "TSE(exposure='linear',n=1000)"],
    "LR": ["LR"],
}


# -- without data ----------------------------------------------------------------------------------


def figure_1(count: Printed) -> None:
    papers, recall = (sum(column) for column in zip(*FIGURE_1.values(), strict=True))
    share = np.mean([some / all_ for all_, some in FIGURE_1.values()])
    print(
        f"Figure 1: {recall} of {papers} full papers of RecSys measure recall; mean of the years {share:.3f}"
    )
    count.claim(
        "Figure 1: about one third of the papers measure recall", 0.28 < share < 0.38
    )


def table_2(queries: int, count: Printed) -> None:
    """How often measures order two random rankings as the worst-off user does, who gets e(p_m)."""
    rng = np.random.default_rng(2)
    measures = {
        "TSE": "TSE(exposure='nDCG')",  # its own line of the table; e(p_m) of another exposure
        "R@1000": "R@1000",
        "Rprec": "Rprec",
        "AP": "AP",
        "nDCG": "nDCG",
        "SL3": "SL3",
        "RE": "RE",
    }
    rows = []
    for printed in TABLE_2.to_dict("records"):
        n = int(printed["n"])
        pair = simulate_rankings(n, range(5, 51), n, queries, seed=n)
        table = Study(
            {"worst-off": "TSE", **measures},
            pair.judgments,
            pair.aligned,
            progress=False,
        ).agreement()
        table = table[table["measure_a"] == "worst-off"].set_index("measure_b")
        decided = int(table.loc["AP", ["agree", "disagree", "tied_b"]].sum())
        ours = (
            {"tied": 1 - decided / queries}
            | table["agreement"].to_dict()
            | {"random": rng.binomial(decided, 0.5) / decided}
        )
        for name in TABLE_2.columns[1:]:
            paper, value = float(printed[name]), float(ours[name])
            variance = value * (1 - value) * (1 / queries + 1 / 10_000)
            within = 3 * np.sqrt(max(variance, 1 / queries**2)) + 0.0005
            count.compare(
                f"Table 2, n={n}, {name}",
                paper,
                value,
                digits=3,
                within=within,
                why="sampling",
            )
        rows.append(
            {
                "n": n,
                **{f"{name} paper": printed[name] for name in TABLE_2.columns[1:]},
                **ours,
            }
        )
    error = np.sqrt(0.25 / queries)
    print(
        f"\nTable 2: agreement with the worst-off user, {queries} queries, m uniform in 5..50; standard error up to {error:.4f},"
    )
    print(
        "  of the paper's up to .005. A tie of the measure counts as disagreement; a pair that the worst-off user ties does not count."
    )
    print("  Ours agree where they are within three standard errors of the difference.")
    table = pd.DataFrame(rows)
    for columns in (["tied", "TSE", "R@1000", "Rprec"], ["AP", "nDCG", "random"]):
        shown = table[["n", *(c for name in columns for c in (f"{name} paper", name))]]
        print(shown.to_string(index=False, float_format=lambda x: f"{x:.3f}"))
    real = table.set_index("n")
    count.claim(
        "Section 4.3: recall measures agree with the worst-off user less than random does",
        bool(real[["R@1000", "Rprec"]].max(axis=1).lt(0.5).all()),
    )
    better = real[["AP", "nDCG"]]
    count.claim(
        "Section 4.3: AP and nDCG agree slightly more than random",
        bool(((better > 0.5) & (better < 0.6)).all(axis=None)),
    )
    print(
        "  not in the paper's table: "
        + ", ".join(f"{name} {table[name].round(3).tolist()}" for name in ("SL3", "RE"))
    )


def tables_3_and_4(queries: int, count: Printed) -> None:
    """Tie probabilities, exact; AP has no closed form and is sampled."""
    for number, rows in ((3, TABLE_3), (4, TABLE_4)):
        print(
            f"\nTable {number}: probability that two random rankings tie (AP: share of {queries} pairs)"
        )
        shown = []
        for n, m, *printed in rows:
            exact = tie_probabilities(n, m).set_index("measure")["probability"]
            pair = simulate_rankings(n, m, n, queries, seed=m)
            sampled = float(
                Study("AP", pair.judgments, pair.aligned, progress=False)
                .ties(aggregate=True)["share"]
                .iloc[0]
            )
            ours = {
                "TSE": exact["TSE"],
                "R@1000": exact["R@1000"],
                "Rprec": exact["Rprec"],
            }
            ours |= {"AP": sampled, "LexiRecall": exact["LexiRecall"]}
            for name, paper in zip(ours, (*printed, 0.0, 0.0), strict=True):
                why = f"exact {ours[name]:.4f}; a misprint"
                count.compare(
                    f"Table {number}, n={n}, m={m}, {name}",
                    paper,
                    ours[name],
                    digits=3,
                    why=why,
                )
            shown.append(
                {"n": n, "m": m}
                | {f"{k} paper": v for k, v in zip(ours, printed, strict=False)}
                | ours
            )
        columns = [
            "n",
            "m",
            *(
                c
                for name in ("TSE", "R@1000", "Rprec")
                for c in (f"{name} paper", name)
            ),
            "AP",
            "LexiRecall",
        ]
        print(
            pd.DataFrame(shown)[columns].to_string(
                index=False, float_format=lambda p: f"{p:.4g}"
            )
        )


def section_5_3(count: Printed) -> None:
    """Check what is said of Tables 3 and 4, on exact probabilities."""
    by_size = tie_probabilities([10**3, 10**4, 10**5, 10**6], 10)
    by_size = by_size.pivot(index="n", columns="measure", values="probability")
    by_relevant = tie_probabilities(10**6, [1, 5, 10, 25, 50])
    by_relevant = by_relevant.pivot(index="m", columns="measure", values="probability")
    recall = ["R@1000", "Rprec"]
    # At n = 1,000, R@1000 looks at everything and always ties.
    grows = (by_size[recall].diff().iloc[2:] > 0).all(axis=None)
    count.claim(
        "Section 5.3: recall measures tie more in larger collections", bool(grows)
    )
    falls = by_relevant[recall].diff().iloc[1:]
    count.claim(
        "Section 5.3: they tie slightly less with more relevant documents",
        bool(((falls < 0) & (falls > -0.1)).all(axis=None)),
    )
    count.claim(
        "Section 5.3: ties of TSE and lexirecall are negligible",
        bool((by_size[["TSE", "LexiRecall"]] < 0.01).all(axis=None)),
    )


def figure_4(plots: Path | None) -> None:
    """The four rankings whose differences are the two orientations."""
    n, m = 12, 4
    table = orientation(["RR", "AP", "Rprec", "TSE"], m=m, n=n)
    ranks = {
        "best": range(1, m + 1),
        "last_down": [*range(1, m), n],
        "first_up": [1, *range(n - m + 2, n + 1)],
        "worst": range(n - m + 1, n + 1),
    }
    print(
        f"\nFigure 4: ranks of {m} relevant documents of {n}, and values (TSE here unscaled)"
    )
    print(
        "precision orientation = first_up - worst, recall orientation = best - last_down"
    )
    for name, places in ranks.items():
        row = "".join("#" if i in places else "." for i in range(1, n + 1))
        values = ", ".join(
            f"{measure} {value:.4f}"
            for measure, value in zip(table["measure"], table[name], strict=True)
        )
        print(f"  {name:10} {row}  {values}")
    if drawn(plots):
        axes = new_figure(6, 2.4).add_subplot()
        for place, places in enumerate(ranks.values()):
            axes.scatter(
                range(1, n + 1), [place] * n, s=60, facecolors="white", edgecolors="0.7"
            )
            axes.scatter(places, [place] * m, s=60, color="tab:blue")
        axes.set_yticks(
            range(len(ranks)), ["best", "last one down", "first one up", "worst"]
        )
        axes.set_ylim(len(ranks) - 0.5, -0.5)
        axes.set_xticks(range(1, n + 1))
        axes.set(
            xlabel="rank",
            title="recall orientation: rows 1 and 2\nprecision orientation: rows 3 and 4",
        )
        save(axes, plots, "diaz_2026_figure_4")


def figure_5(plots: Path | None, count: Printed) -> None:
    """Precision and recall orientation, n = 10^5, m = 1..15."""
    table = orientation(
        ["RR", "nDCG", "AP", "R@1000", "Rprec", "RBP(p=0.5)", "RBP(p=0.8)", "TSE"],
        n=10**5,
    )
    value = {}
    for which in ("precision", "recall"):
        value[which] = table.pivot(index="measure", columns="m", values=which).loc[
            table["measure"].unique()
        ]
        print(f"\nFigure 5, {which} orientation, n = 100,000, m = 1..15")
        print(
            value[which][[1, 2, 3, 5, 6, 7, 10, 11, 15]].to_string(
                float_format=lambda v: f"{v:.4f}"
            )
        )
    first, last = value["precision"], value["recall"]
    recalls = ["AP", "R@1000", "Rprec"]
    count.claim(
        "Figure 5 (a): RR is 1 throughout", np.allclose(first.loc["RR"], 1, atol=1e-3)
    )
    count.claim(
        "Figure 5 (a): AP, R@1000 and RP are the same",
        np.allclose(first.loc[recalls], first.loc["AP"], atol=1e-3),
    )
    count.claim(
        "Figure 5 (a): nDCG is next below RR, above AP, for m > 1",
        (first.loc["nDCG"][1:] > first.loc["AP"][1:]).all(),
    )
    rbp = first.loc["RBP(p=0.8)"]
    passes = [int((rbp > first.loc[name] + 1e-4).idxmax()) for name in ("AP", "nDCG")]
    flat = float(np.ptp(rbp)) < 1e-6
    count.claim(
        f"Figure 5 (a): RBP is flat, passes AP (p=.8: at m={passes[0]}) and then nDCG (m={passes[1]})",
        flat and passes[0] < passes[1],
    )
    others = last.drop(index=[*recalls, "TSE"])
    count.claim(
        "Figure 5 (b): AP, R@1000 and RP are above nDCG, RBP and RR for all m > 1",
        (last.loc[recalls, 2:].min() > others.loc[:, 2:].max()).all(),
    )
    count.claim("Figure 5 (b): RR is 0 but for m=1", (last.loc["RR"][1:] == 0).all())
    count.claim(
        "Figure 5 (b): all fall with m but TSE, which is 1",
        (last.diff(axis=1).iloc[:-1, 1:] <= 0).all(axis=None)
        and (last.loc["TSE"] == 1).all(),
    )
    if drawn(plots):
        save(plot(table), plots, "diaz_2026_figure_5")


def figure_8(plots: Path | None, count: Printed) -> None:
    """Expected share of ties when rankings are cut, n = 250,000, mean over m = 5..50."""
    exact = tie_probabilities(250_000, range(5, 51), depth=DEPTHS)
    table = exact.pivot_table(
        index="depth", columns="measure", values="probability"
    ).loc[DEPTHS]
    print(
        "\nFigure 8: expected share of ties by depth, n = 250,000, mean over m = 5..50 (AP: as LexiRecall but for coincidences)"
    )
    print(
        table[["R@1000", "Rprec", "TSE", "LexiRecall"]].to_string(
            float_format=lambda p: f"{p:.4f}"
        )
    )
    count.claim(
        "Figure 8: lexirecall ties less than R@1000, RP and TSE at every depth above 1,000",
        (table["LexiRecall"] < table[["R@1000", "Rprec", "TSE"]].min(axis=1))
        .iloc[:-2]
        .all(),
    )
    count.claim(
        "Section 5.1: R@1000 and RP tie much at all depths",
        bool((table[["R@1000", "Rprec"]] > 0.8).all(axis=None)),
    )
    tse = table["TSE"].tolist()
    count.claim(
        "Section 5.1: TSE ties little in complete rankings, and soon much",
        tse[0] < 0.01 and min(tse[1:]) > 0.7,
    )
    count.claim(
        "Section 5.1: AP, as lexirecall, hardly ties at most cutoffs",
        bool((table["LexiRecall"] < 0.1).sum() > len(table) / 2),
    )
    if drawn(plots):
        save(plot(exact[exact["m"] == 10]), plots, "diaz_2026_figure_8")


def figures_7_and_16(plots: Path | None) -> None:
    """The worst-off user of deterministic and of stochastic ideal rankings; the plane of first and last ranks."""
    exposures = {
        "1/i": lambda i: 1 / i,
        "1/log2(i+1)": lambda i: 1 / np.log2(i + 1),
        ".2 x .8^(i-1)": lambda i: 0.2 * 0.8 ** (i - 1),
    }
    i = np.arange(1, 26)
    table = pd.DataFrame({"m": i})
    for name, e in exposures.items():
        table[f"{name}, deterministic"] = e(i)
        table[f"{name}, stochastic"] = np.cumsum(e(i)) / i
    print(
        "\nFigure 16: the worst-off user of ideal rankings, e(m), and expected over random ideal rankings, mean of e(1..m)"
    )
    print(
        table[table["m"].isin([1, 2, 3, 5, 10, 15, 20, 25])].to_string(
            index=False, float_format=lambda v: f"{v:.4f}"
        )
    )
    if drawn(plots):
        axes = new_figure(6, 4).add_subplot()
        for column in table.columns[1:]:
            axes.plot(
                table["m"],
                table[column],
                label=column,
                linestyle="-" if "deter" in column else "--",
            )
        axes.set(xlabel="relevant documents m", ylabel="value of the worst-off user")
        axes.legend(fontsize="small")
        save(axes, plots, "diaz_2026_figure_16")
        n, m = 100, 10
        axes = new_figure(5, 4).add_subplot()
        axes.fill([1, n - m + 1, 1], [m, n, n], color="0.8")  # p_1 + m - 1 <= p_m <= n
        axes.set(
            xlabel="first relevant document p_1",
            ylabel="last relevant document p_m",
            title=f"possible: n={n}, m={m}",
        )
        save(axes, plots, "diaz_2026_figure_7")


def table_8(cases: int, count: Printed) -> None:
    """Marks of the classes: + where no member fails, empty where some member does."""
    members = dict.fromkeys(member for names in MEMBERS.values() for member in names)
    table = axioms(list(members), size=4, cases=cases).set_index(
        ["property", "measure"]
    )
    print(
        "\nTable 8: + guaranteed, - not (a member of the class fails), n not applicable; printed, then ours"
    )
    print(f"  {'':38}{''.join(f'{name:12}' for name in MEMBERS)}")
    examples = []
    for name, marks in TABLE_8.items():
        cells = []
        for mark, (group, measures) in zip(marks, MEMBERS.items(), strict=True):
            failing = [
                measure
                for measure in measures
                if table.loc[(name, measure), "result"] == "fails"
            ]
            paper, ours = mark.replace(" ", "-"), "-" if failing else "+"
            cells.append(f"{paper} {'' if mark == 'n' else ours:10}")
            if mark == "n":
                continue
            why = (
                str(failing)
                if failing
                else PROVED.get((name, group), NO_COUNTEREXAMPLE)
            )
            count.compare(f"Table 8, {name}, {group}", paper, ours, why=why)
            if paper == "-" and failing:
                examples.append(
                    f"{name}, {group}: {failing[0]} {table.loc[(name, failing[0]), 'counterexample']}"
                )
        print(f"  {name:38}{''.join(cells)}")
    print(
        "\n  Counterexamples for the empty cells (labels from rank 1 on; behind the bar what is not retrieved)"
    )
    for line in examples:
        print(f"    {line}")


def domains_of(options: argparse.Namespace, count: Printed) -> list[section_6.Domain]:
    """Measure the systems that are at hand, and return them by domain."""
    domains = []
    if options.data is None:
        print(
            "\nNo folder with data was given: no analysis of real systems but the recorded one."
        )
        section_6.no_runs(count)
    elif (options.data / "robust2003").is_dir():
        domains.append(systems.robust_2003(options, count))
    else:
        print("\nThe folder has no robust2003: its part is left out.")
        section_6.no_runs(count)
    has_movielens = (
        options.data is not None and (options.data / "movielens-small").is_dir()
    )
    is_trained = options.full or options.users is not None
    if is_trained and not has_lenskit():
        print(f"\n{MISSING}.")
    if is_trained and has_lenskit() and has_movielens:
        domains.append(systems.recommendation(options))
    else:
        domains.append(systems.recorded())
    if has_movielens:
        domains.append(systems.twelve(options))
    return domains


def slips(count: Printed) -> None:
    """Note slips of the text that change no result."""
    count.slip(
        "Lemma C.3 prints k = min{i : q_i != q'_i}; Equation 9 and the proof need the largest"
    )
    count.slip(
        "Section 7.3.1: lexirecall is proportional to -sum w_i p_i; it is affine, 1 - sum w_i p_i / n, "
        "which orders alike"
    )
    count.slip("Footnote 5's recall, over min(documents retrieved, m), is R_cap here")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "data", type=Path, nargs="?", help="folder with robust2003, movielens-small"
    )
    parser.add_argument(
        "--queries",
        type=int,
        default=10_000,
        help="of the simulations (default: %(default)s)",
    )
    parser.add_argument(
        "--cases",
        type=int,
        default=50,
        help="random cases per property (default: %(default)s)",
    )
    parser.add_argument(
        "--resamples",
        type=int,
        default=2000,
        help="permutations of Tukey's HSD (default: %(default)s)",
    )
    parser.add_argument(
        "--samples",
        type=int,
        default=1,
        help="of missing labels (default: %(default)s)",
    )
    parser.add_argument(
        "--users", type=int, help="number of MovieLens users to train recommenders for"
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="10,000 permutations, ten samples of missing labels, larger enumerations, and recommenders for all users",
    )
    parser.add_argument(
        "--record", action="store_true", help="keep what the recommenders give"
    )
    parser.add_argument(
        "--plots", type=Path, metavar="FOLDER", help="draw the figures into this folder"
    )
    options = parser.parse_args(arguments)
    if options.full:
        options.resamples, options.samples = 10_000, 10
    count = Printed()
    figure_1(count)
    table_2(options.queries, count)
    tables_3_and_4(options.queries, count)
    section_5_3(count)
    figure_4(options.plots)
    figure_5(options.plots, count)
    figures_7_and_16(options.plots)
    figure_8(options.plots, count)
    table_8(options.cases, count)
    enumerations.definition_22(10 if options.full else 8, count)
    enumerations.equation_12(10 if options.full else 8, count)
    enumerations.equations_9_to_11(10 if options.full else 8, count)
    enumerations.theorem_d1(6 if options.full else 5, count)
    section_6.check_all(domains_of(options, count), count)
    slips(count)
    count.report()


if __name__ == "__main__":
    main()
