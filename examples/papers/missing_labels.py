"""
Which labels are missing decides: lexicographic recall, and pools
=================================================================

Diaz, Ekstrand and Mitra (TORS 2026, doi 10.1145/3728373) find lexicographic recall stable when labels are removed at random. Is it
where labels are missing as pools leave them out? There is nothing printed to compare. With ``--full`` (20 draws of labels, 10,000
resamples of queries and groups of runs together, Holm over 30 tests declared beforehand) on five sets of labels: with half of the
labels missing at random, lexirecall keeps .003 to .049 more of its decisions than AP does, significantly on the old and the new topics
of Robust 2003, not on CLEF eHealth 2016 and MovieLens; missing as pools leave them out, it keeps .050 to .259 fewer, significantly on
all but CLEF eHealth. Yet a group of runs left out of a pool of depth 10 loses .020 to .074 of mean preference by lexirecall, .041 to .167 by
AP and .051 to .201 by nDCG@10. Half of the labels cost 11.5% of the significant differences, and reverse .01%. Limits, and what would
refute this, are printed. ::

    python examples/papers/missing_labels.py
    python examples/papers/missing_labels.py DATA --full --plots out

DATA is a folder with some of robust2003, clef-ehealth-2016 and movielens-small; without it, the tables are those of the embedded
collection alone, which is too small for conclusions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from printed import drawn, new_figure, save
from recommenders import plain

from ir_lexirecall import demo
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta import Study
from ir_lexirecall.meta.missing_labels import without_labels
from ir_lexirecall.significance import corrected

# -- declared before any number --------------------------------------------------------------------

QUESTION = "Do the decisions of lexicographic recall survive missing labels as well as those of AP and nDCG, whichever labels are missing?"
MEASURES = ["lexirecall", "TSE", "rpp", "AP", "nDCG", "nDCG@10", "R@1000", "P@10", "RBP(p=0.8)"]
POLICIES = {
    "random": "drawn at random",
    "pool": "those that the shallowest pool lacks: the deepest by the best rank of any run",
    "frequency": "those that the fewest runs retrieve",
}
LEFT_OUT = "those that only the runs of one group rank within {depth}, each group in turn; the control: as many of every query at random"
CONTRASTS = [("lexirecall", "AP"), ("lexirecall", "nDCG"), ("rpp", "lexirecall")]
OUTCOME = "agreement with the full labels on decided pairs: of the pairs of runs that a measure decides on a query, the share that it still decides alike"
SHARES = [0.2, 0.5, 0.8]  # of every query's relevant labels, the same for all policies
SHOWN = [
    "lexirecall",
    "rpp",
    "AP",
    "nDCG",
    "nDCG@10",
]  # of measures, where the intervals of all of them are too wide for a table
TESTED = {
    "policies": ["random", "pool"],
    "share": 0.5,
}  # every contrast, on every collection but the demo: one family, Holm
POOL = 10  # depth of the pool from which a group is left out
LEVEL = 0.05
LIMITS = """
Limits: sets of labels from three sources, some of one source; the runs at hand, of five or six groups but for Robust 2003, so that
  intervals over groups are rough; labels are taken from those that pools had chosen before (but for MovieLens, deep); where every
  run ranks every document, as on MovieLens, ranking frequency is the same as random."""
REFUTATION = [
    "a collection of runs of equal depth and at least five groups where, with half of the labels missing as a pool leaves them out, lexirecall keeps more decisions than AP, interval above 0;",
    "one with labels that no pool chose (all documents judged) where lexirecall keeps fewer decisions than AP with half of the labels missing at random;",
    "a test collection where a group left out of the pool loses more by lexirecall than by AP, interval above 0 in size, with new groups drawn.",
]


# -- collections -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Systems:
    """Judgments, and aligned runs with the group that made each.

    Attributes:
        kind: how the labels came about.
        apart: whether the runs are of unequal depth, and so stand apart from the tests.
    """

    name: str
    kind: str
    judgments: Judgments
    runs: dict[str, AlignedRun]
    groups: dict[str, str]
    apart: bool = False

    def told(self) -> str:
        """What this is, in one line."""
        depth = [int(np.median(run.depth)) for run in self.runs.values()]
        of = f"{min(depth)} to {max(depth)}" if min(depth) < max(depth) else str(depth[0])
        m = int(self.judgments.m().sum())
        return f"{self.name}: {len(self.judgments)} queries, {m} relevant documents, {len(self.runs)} runs of {len(set(self.groups.values()))} groups, depth {of}; {self.kind}"


def embedded() -> Systems:
    """The demo: too small for conclusions."""
    runs, judgments = demo.runs(), Judgments.from_qrels(demo.qrels())
    aligned = {name: align(judgments, run) for name, run in runs.items()}
    return Systems(
        "demo", "too small for conclusions", judgments, aligned, {name: name.partition("_")[0] for name in runs}, True
    )


def robust_2003(folder: Path) -> list[Systems]:
    """Old topics, which earlier tracks pooled, and new ones; all runs, of unequal depth, apart."""
    columns = ["query_id", "iteration", "doc_id", "relevance"]
    qrels = pd.read_csv(folder / "qrels.txt.gz", sep=r"\s+", names=columns, dtype={"query_id": str, "doc_id": str})
    files = {file.name.removesuffix(".gz"): str(file) for file in sorted((folder / "runs").iterdir())}
    new = qrels["query_id"].astype(int) > 600
    several = []
    for name, kind, some in (
        ("Robust 2003, old topics", "pooled for other runs", qrels[~new]),
        ("Robust 2003, new topics", "pooled for these runs and others", qrels[new]),
    ):
        judgments = Judgments.from_qrels(some.drop(columns="iteration"))
        runs = {run: align(judgments, file) for run, file in files.items()}
        several += both_depths(name, kind, judgments, runs, {run: run for run in runs})
    return several


def clef_2016(folder: Path) -> list[Systems]:
    """CLEF eHealth: shallow pools; the two runs of one group list 100 documents."""
    judgments = Judgments.from_qrels(str(folder / "relevance.qrels.gz"))
    runs = {file.name.removesuffix(".gz"): align(judgments, str(file)) for file in sorted((folder / "runs").iterdir())}
    return both_depths(
        "CLEF eHealth 2016", "shallow pools", judgments, runs, {name: name.partition("_")[0] for name in runs}
    )


def both_depths(
    name: str, kind: str, judgments: Judgments, runs: dict[str, AlignedRun], groups: dict[str, str]
) -> list[Systems]:
    """The runs of 1,000 documents, and all of them apart."""
    deep = {run: aligned for run, aligned in runs.items() if aligned.depth.max() == 1000}
    return [
        Systems(name, kind, judgments, deep, {run: groups[run] for run in deep}),
        Systems(f"{name}, unequal depth", kind, judgments, runs, groups, apart=True),
    ]


def movielens(folder: Path) -> list[Systems]:
    """Held-out ratings as they are, and as a pool of depth 100 would have found them."""
    judgments, runs, groups = plain(folder)
    deepest = np.iinfo(np.int64).max
    depth = np.full(len(judgments.grade), deepest)
    for run in runs.values():
        np.minimum.at(depth, run.doc, run.rank)
    pooled = without_labels(judgments, depth > 100)
    again = {name: replace(run, judgments=pooled) for name, run in runs.items()}
    return [
        Systems("MovieLens, deep", "ratings, chosen by no pool", judgments, runs, groups),
        Systems("MovieLens, pooled", POOLED, pooled, again, groups),
    ]


POOLED = "the same, as far as a pool of depth 100 has them"  # a pool of depth 10 is that of all labels
COLLECTIONS: dict[str, Callable[[Path], list[Systems]]] = {
    "robust2003": robust_2003,
    "clef-ehealth-2016": clef_2016,
    "movielens-small": movielens,
}


# -- tables ----------------------------------------------------------------------------------------


def studied(systems: list[Systems], options: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``stability`` and ``left_out`` of all collections."""
    kept, bias = [], []
    for some in systems:
        shared = {"contrasts": CONTRASTS, "n_resamples": options.resamples, "alpha": LEVEL}
        study = Study(MEASURES, some.judgments, some.runs, progress=False)
        table = study.stability(
            SHARES, policies=list(POLICIES), groups=some.groups, n_samples=options.samples, **shared
        )
        kept.append(table.assign(collection=some.name, apart=some.apart))
        if some.kind != POOLED:
            table = study.left_out(some.groups, depth=POOL, **shared)
            bias.append(table.assign(collection=some.name, apart=some.apart))
    return pd.concat(kept, ignore_index=True), pd.concat(bias, ignore_index=True)


def with_interval(table: pd.DataFrame, value: str, low: str, high: str, sign: str = "+") -> pd.Series:
    """Numbers with their intervals, as text."""
    rows = table[[value, low, high]].itertuples(index=False)
    return pd.Series([f"{a:{sign}.3f} [{b:{sign}.3f}, {c:{sign}.3f}]" for a, b, c in rows], index=table.index)


def contrast_name(table: pd.DataFrame) -> pd.Series:
    return table["measure"] + " - " + table["minus"]


def print_agreement(kept: pd.DataFrame) -> None:
    """The share of decisions that stay, half of the labels missing, on decided and on all pairs; conclusions."""
    half = kept[(kept["minus"] == "") & (kept["fraction"] == TESTED["share"])].copy()
    by = {"index": ["collection", "policy"], "columns": "measure"}
    print(
        "\nDecisions that stay with half of the labels missing, decided pairs, with 95% intervals over queries and groups together\n"
    )
    half["text"] = with_interval(half, "decided", "decided_low", "decided_high", "")
    print(half.pivot(**by, values="text").loc[order_of(half), SHOWN].to_string())
    for column, text in {"decided": "decided pairs", "agreement": "all pairs (a tie counts as a decision)"}.items():
        print(f"\nThe same for all measures, {text}\n")
        print(half.pivot(**by, values=column).loc[order_of(half), MEASURES].round(3).to_string())
    print(
        "\nSignificant pairs of runs with all labels (paired t, of wins and losses the exact sign test, Holm), and of these: lost, and reversed, half of the labels missing\n"
    )
    columns = half[["significant", "lost", "reversed"]].itertuples(index=False)
    half["text"] = [f"{a:.0f}: {b:.3g}, {c:.3g}" for a, b, c in columns]
    print(half.pivot(**by, values="text").loc[order_of(half), MEASURES].to_string())


def order_of(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Collections and policies in the order of the table."""
    return list(dict.fromkeys(table[["collection", "policy"]].itertuples(index=False, name=None)))


def tested(kept: pd.DataFrame) -> pd.DataFrame:
    """The declared family: every contrast, two policies, half of the labels, every collection of equal depth; Holm."""
    rows = kept["policy"].isin(TESTED["policies"]) & (kept["fraction"] == TESTED["share"]) & (kept["minus"] != "")
    family = kept[rows & ~kept["apart"]].copy()
    if len(family):
        family["p_corrected"], family["reject"] = corrected(family["p"].to_numpy(), "holm", LEVEL)
    return family


def print_contrasts(kept: pd.DataFrame, family: pd.DataFrame) -> None:
    """All contrasts of decided pairs with intervals; stars where the family rejects."""
    contrasts = kept[kept["minus"] != ""].copy()
    contrasts["text"] = with_interval(contrasts, "decided", "decided_low", "decided_high")
    if len(family):
        contrasts.loc[family.index[family["reject"]], "text"] += " *"
    contrasts["contrast"] = contrast_name(contrasts)
    print(
        f"\nContrasts on decided pairs, with 95% intervals over queries and groups together (* p < {LEVEL}, Holm over the {len(family)} declared tests)\n"
    )
    for name in dict.fromkeys(contrasts["contrast"]):
        some = contrasts[contrasts["contrast"] == name]
        table = some.pivot(index=["collection", "policy"], columns="fraction", values="text")
        print(f"{name}, by the share of labels removed\n{table.loc[order_of(some)].to_string()}\n")


def print_bias(bias: pd.DataFrame) -> None:
    """What a group loses that is left out of the pool, and what as many labels do that are missing at random."""
    print(
        f"A group left out of a pool of depth {POOL}: change of its mean preference over others, with 95% intervals; the control removes as many labels at random\n"
    )
    single = bias[bias["minus"] == ""].copy()
    single["text"] = with_interval(single, "bias", "ci_low", "ci_high")
    by = {"index": ["collection", "policy"], "columns": "measure"}
    print(single.pivot(**by, values="text").loc[order_of(single), SHOWN].to_string())
    out = single[single["policy"] == "left out"]
    names = list(dict.fromkeys(out["collection"]))
    table = out.pivot(index="collection", columns="measure", values="bias").loc[names, MEASURES].round(3)
    facts = out.drop_duplicates("collection").set_index("collection")[["groups", "lost"]].round(3)
    print(
        "\n  All measures, left out, after the number of groups and the share of the pool's relevant labels that is lost\n"
    )
    print(facts.join(table).to_string())
    print("\n  The group's decisions that stay, left out: decided pairs\n")
    print(out.pivot(index="collection", columns="measure", values="decided").loc[names, MEASURES].round(3).to_string())
    contrasts = bias[(bias["minus"] != "") & (bias["policy"] == "left out")].copy()
    contrasts["text"] = with_interval(contrasts, "bias", "ci_low", "ci_high")
    contrasts["contrast"] = contrast_name(contrasts)
    print("\n  Contrasts of the change (above 0: the first measure hurts the left-out group less)\n")
    print(contrasts.pivot(index="collection", columns="contrast", values="text").loc[names].to_string())


# -- sentences -------------------------------------------------------------------------------------


def sentences(kept: pd.DataFrame, bias: pd.DataFrame, family: pd.DataFrame) -> list[tuple[str, bool]]:
    """Three sentences with their numbers, and whether they hold on the collections of equal depth."""
    ap = family[(family["measure"] == "lexirecall") & (family["minus"] == "AP")].set_index(["policy", "collection"])
    random, pool = ap.loc["random"], ap.loc["pool"]
    more, fewer = random["reject"] & (random["decided"] > 0), pool["reject"] & (pool["decided"] < 0)
    first = (
        f"Which labels are missing decides. With half of them missing at random, lexirecall keeps {span(random['decided'])} of its decisions more than AP does (significantly "
        f"more on {more.sum()} of {len(random)} collections, significantly fewer on {(random['reject'] & ~more).sum()}); missing as pools leave them out, {span(pool['decided'])} "
        f"(significantly fewer on {fewer.sum()} of {len(pool)})."
    )
    first_holds = not (random["reject"] & ~more).any() and (pool["decided"] < 0).all() and fewer.sum() > len(pool) / 2
    out = bias[(bias["policy"] == "left out") & ~bias["apart"]]
    single = out[out["minus"] == ""].set_index("collection")
    change = {name: single.loc[single["measure"] == name, "bias"] for name in ("lexirecall", "AP", "nDCG@10")}
    contrast = out[(out["measure"] == "lexirecall") & (out["minus"] == "AP")]
    above = int((contrast["ci_low"] > 0).sum())
    second = (
        f"A group left out of a pool of depth {POOL} is hurt less by lexirecall ({span(change['lexirecall'])} of mean preference) than by AP ({span(change['AP'])}) or nDCG@10 "
        f"({span(change['nDCG@10'])}); the 95% interval of the difference to AP, not corrected, is above 0 on {above} of {len(contrast)} collections."
    )
    second_holds = (change["lexirecall"] > change["AP"]).all() and above > len(contrast) / 2
    conclusions = kept[(kept["minus"] == "") & ~kept["apart"] & (kept["fraction"] == TESTED["share"])]
    total, lost, turned = (conclusions[column].sum() for column in ("significant", "lost", "reversed"))
    third = (
        f"Missing labels cost conclusions, and hardly ever reverse one: of {total / len(POLICIES):,.0f} significant differences (all measures and collections), half of the labels missing by "
        f"one of {len(POLICIES)} policies cost {lost / total:.1%}, and turned {turned / total:.2%} into their significant opposite."
    )
    return [(first, bool(first_holds)), (second, bool(second_holds)), (third, bool(turned / total < 0.01))]


def span(values: pd.Series) -> str:
    """The smallest and the largest value."""
    return f"{values.min():+.3f} to {values.max():+.3f}"


# -- pictures --------------------------------------------------------------------------------------

COLOURS = {"random": "tab:blue", "pool": "tab:red", "frequency": "tab:orange"}


def figure_of_contrasts(kept: pd.DataFrame, plots: Path | None) -> None:
    """Contrasts with half of the labels missing: a panel each, a row per collection, a colour per policy."""
    rows = kept[(kept["minus"] != "") & (kept["fraction"] == TESTED["share"])].assign(contrast=contrast_name)
    names = list(dict.fromkeys(rows["collection"]))
    panels = new_figure(11, 1.8 + 0.42 * len(names)).subplots(1, len(CONTRASTS), sharey=True)
    for axes, name in zip(panels, dict.fromkeys(rows["contrast"]), strict=True):
        for place, policy in enumerate(POLICIES):
            some = rows[(rows["contrast"] == name) & (rows["policy"] == policy)].set_index("collection").loc[names]
            intervals(
                axes,
                some["decided"],
                some["decided_low"],
                some["decided_high"],
                (place - 1) * 0.22,
                COLOURS[policy],
                policy,
            )
        axes.axvline(0, color="0.6", linewidth=0.8, zorder=0)
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("difference in decisions kept")
    panels[0].set_yticks(range(len(names)), names)
    panels[0].invert_yaxis()
    below(panels[0], "half of the labels removed:")
    save(panels[0], plots, "missing_labels_contrasts")


def figure_of_bias(bias: pd.DataFrame, plots: Path | None) -> None:
    """What a group left out loses by each measure, and by as many labels at random: a panel per collection."""
    rows = bias[(bias["minus"] == "") & (~bias["apart"] | bias["apart"].all())]
    names = list(dict.fromkeys(rows["collection"]))
    panels = np.atleast_1d(new_figure(2.6 + 2.2 * len(names), 4).subplots(1, len(names), sharey=True))
    for axes, name in zip(panels, names, strict=True):
        for place, (policy, colour) in enumerate({"left out": "tab:red", "random, as many": "tab:blue"}.items()):
            some = rows[(rows["collection"] == name) & (rows["policy"] == policy)].set_index("measure").loc[MEASURES]
            intervals(axes, some["bias"], some["ci_low"], some["ci_high"], (place - 0.5) * 0.3, colour, policy)
        axes.axvline(0, color="0.6", linewidth=0.8, zorder=0)
        axes.set_title(name.replace(", ", ",\n"), fontsize=9)
        axes.set_xlabel("change of mean\npreference", fontsize=9)
        axes.locator_params("x", nbins=4)
    panels[0].set_yticks(range(len(MEASURES)), MEASURES)
    panels[0].invert_yaxis()
    below(panels[0], "")
    save(panels[0], plots, "missing_labels_left_out")


def below(axes: Any, title: str) -> None:
    """One legend for all panels, below them, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    axes.figure.legend(
        handles, [f"{title} {text}".strip() for text in labels], loc="outside lower center", ncols=3, fontsize=8
    )


def intervals(
    axes: Any, value: pd.Series, low: pd.Series, high: pd.Series, shift: float, colour: str, label: str
) -> None:
    """Points with intervals, one below the other."""
    y = np.arange(len(value)) + shift
    axes.hlines(y, low, high, color=colour, linewidth=1.2)
    axes.plot(value, y, "o", color=colour, markersize=4, label=label)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help=f"folder with some of {', '.join(COLLECTIONS)}")
    parser.add_argument("--samples", type=int, default=3, help="of missing labels (default: %(default)s)")
    parser.add_argument("--resamples", type=int, default=2000, help="of the bootstrap (default: %(default)s)")
    parser.add_argument("--full", action="store_true", help="20 samples and 10,000 resamples")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw the figures into this folder")
    options = parser.parse_args(arguments)
    if options.full:
        options.samples, options.resamples = 20, 10_000
    there: Mapping[str, Any] = {
        name: make for name, make in COLLECTIONS.items() if options.data and (options.data / name).is_dir()
    }
    systems = [some for name, make in there.items() for some in make(options.data / name)]
    systems.append(embedded())
    print(f"{QUESTION}\n\nDeclared before any number\n  outcome: {OUTCOME}")
    print(
        f"  contrasts: {', '.join(f'{a} - {b}' for a, b in CONTRASTS)}; tested with {TESTED['share']:.0%} of the labels removed, {' and '.join(TESTED['policies'])}, Holm over all of them"
    )
    for name, text in POLICIES.items():
        print(f"  {name}: {text}")
    print(f"  left out: {LEFT_OUT.format(depth=POOL)}")
    print("\nCollections")
    for some in systems:
        print(f"  {some.told()}{' (apart: not tested)' if some.apart else ''}")
    if any(some.kind == POOLED for some in systems):
        print(f"  MovieLens, pooled, has no group left out: its pool of depth {POOL} is that of MovieLens, deep.")
    kept, bias = studied(systems, options)
    family = tested(kept)
    print_agreement(kept)
    print_contrasts(kept, family)
    print_bias(bias)
    if len(family):
        print("\nThree sentences, for these collections only")
        for sentence, holds in sentences(kept, bias, family):
            print(f"  {'holds' if holds else 'does NOT hold'}: {sentence}")
        print(LIMITS)
        print("What would refute them")
        for text in REFUTATION:
            print(f"  - {text}")
    else:
        print(
            "\nOnly the demo is at hand, whose 16 queries and 5 runs allow no conclusion; with a folder of data there are tests and sentences."
        )
    if drawn(options.plots):
        figure_of_contrasts(kept, options.plots)
        figure_of_bias(bias, options.plots)


if __name__ == "__main__":
    main()
