"""
Which labels are missing: lexicographic recall, and pools
=========================================================

Diaz, Ekstrand and Mitra (TORS 2026, doi 10.1145/3728373) find lexicographic recall stable when labels are removed at random. Pools do
not leave out at random, and that this matters is known: Zobel 1998 (doi 10.1145/290941.291014), Buckley and Voorhees 2004
(doi 10.1145/1008992.1009000), Yilmaz and Aslam 2006 (doi 10.1145/1183614.1183633), Buettcher et al. 2007 (doi 10.1145/1277741.1277755), Bompada et al.
2007 (SIGIR), Sakai and Kando 2008 (doi 10.1007/s10791-008-9059-7), Sakai 2009, Lu, Moffat and Culpepper 2016
(doi 10.1007/s10791-016-9282-6). New is how deep a pool lexicographic recall needs, and what a conclusion from a shallower one is worth.

The study of Robust 2003, CLEF eHealth 2016 and MovieLens (five sets of labels) is **exploratory**: earlier numbers of the same data were known when it
was planned. Its outcome is conclusions (pairs of runs with p < .01: kept, lost, turned round), then decisions on single queries; its factors are depth,
policy and measure; queries and groups of runs are resampled together; nDCG@10 and a reverse pool are controls. From a pool of depth 10 lexicographic recall keeps
.57 to .78 of its decisions, AP .79 to .88; of 20 simultaneous intervals of the difference (five sets, four depths) 4 are below 0 and 16 cannot tell. Whether it loses
more conclusions than AP cannot be told. What the study suggests was then declared, contrast by contrast, before any other collection was looked at:
``--confirm`` tests these on a folder of one's own. ::

    python examples/papers/missing_labels.py
    python examples/papers/missing_labels.py DATA --full --plots out
    python examples/papers/missing_labels.py --confirm FOLDER

DATA is a folder with some of robust2003, clef-ehealth-2016 and movielens-small; without it, recorded numbers are shown. FOLDER has ``qrels.txt.gz``
and ``runs/NAME.gz`` for each run, or ``runs.gz`` with all runs, told apart by their tag.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from label_loss import MEASURES, OUTCOMES, POLICIES, Estimate, Lost, Systems, simultaneous, study_of
from printed import drawn, new_figure, save
from recommenders import plain

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta.missing_labels import without_labels

RECORDED = Path(__file__).with_name("missing_labels_recorded.json")
RIVALS = ["AP", "nDCG", "nDCG@10"]  # that lexirecall is compared with


# -- declared before any further collection was looked at ------------------------------------------


@dataclass(frozen=True)
class Declared:
    """A contrast of lexirecall and another measure, with its direction and the smallest effect that would matter.

    Attributes:
        direction: 1 for more, -1 for less.
        minus: the other measure; empty where lexirecall is compared with itself.
        than: policy and depth whose contrast is subtracted; none for a comparison with 0.
    """

    outcome: str
    policy: str
    depth: int
    direction: int
    least: float
    minus: str = "AP"
    than: tuple[str, int] | None = None

    @property
    def places(self) -> list[tuple[str, int]]:
        """Policies and depths that are needed."""
        return [(self.policy, self.depth), *([self.than] if self.than else [])]

    def __str__(self) -> str:
        what = f"lexirecall - {self.minus}" if self.minus else "lexirecall"
        than = f"with {self.than[0]} of depth {self.than[1]}" if self.than else "0"
        less = "less" if self.direction < 0 else "more"
        return f"{OUTCOMES[self.outcome]}, {self.policy} of depth {self.depth}: {what} is {less} than {than}, by {self.least:g} at least"

    def values(self, lost: Lost) -> Floats | None:
        """The contrast in all resamples; None where the runs are not deep enough."""
        if any(depth in lost.skipped for _, depth in self.places):
            return None
        value, *others = (lost.values(self.outcome, *place, "lexirecall", self.minus) for place in self.places)
        return value - others[0] if others else value

    def error(self, lost: Lost) -> float:
        """Standard error of the contrast that is due to the draws of labels."""
        measures = filter(None, ("lexirecall", self.minus))
        cells = [lost.cells[(*place, measure)].error for measure in measures for place in self.places]
        return float(np.hypot.reduce(cells))

    def verdict(self, found: Estimate) -> str:
        """Holds: beyond 0 with its whole interval, and large enough; fails: its whole interval is below the smallest effect that would matter."""
        low, high = sorted((self.direction * found.low, self.direction * found.high))
        if not np.isfinite([low, high]).all():
            return "cannot tell"
        if low > 0 and self.direction * found.value >= self.least:
            return "holds"
        return "fails" if high < self.least else "cannot tell"


CONFIRMED = [
    Declared("decided", "pool", 10, -1, 0.03),
    Declared("decided", "pool", 30, -1, 0.03),
    Declared("decided", "pool", 100, -1, 0.02),
    Declared("decided", "pool", 10, -1, 0.05, minus="", than=("pool", 30)),
    Declared("decided", "random", 10, 1, 0.02),
    Declared("decided", "left out", 10, 1, 0.01),
    Declared("lost", "random", 10, -1, 0.05),
    Declared("lost", "pool", 10, 1, 0.1, than=("random", 10)),
]


# -- collections -----------------------------------------------------------------------------------


def robust_2003(folder: Path) -> list[Systems]:
    """Old topics, which earlier tracks pooled, and new ones; runs of 1,000 documents."""
    columns = ["query_id", "iteration", "doc_id", "relevance"]
    qrels = pd.read_csv(folder / "qrels.txt.gz", sep=r"\s+", names=columns, dtype={"query_id": str, "doc_id": str})
    new = qrels["query_id"].astype(int) > 600
    several = []
    for name, kind, some in (
        ("Robust 2003, old topics", "pooled for other runs", qrels[~new]),
        ("Robust 2003, new topics", "pooled for these runs and others", qrels[new]),
    ):
        judgments = Judgments.from_qrels(some.drop(columns="iteration"))
        several.append(of_equal_depth(name, kind, judgments, sorted((folder / "runs").iterdir()), lambda run: run))
    return several


def clef_2016(folder: Path) -> list[Systems]:
    """CLEF eHealth: shallow pools; the runs of a group begin with its name."""
    judgments = Judgments.from_qrels(str(folder / "relevance.qrels.gz"))
    files = sorted((folder / "runs").iterdir())
    return [of_equal_depth("CLEF eHealth 2016", "shallow pools", judgments, files, lambda name: name.partition("_")[0])]


def of_equal_depth(
    name: str, kind: str, judgments: Judgments, files: list[Path], group: Callable[[str], str]
) -> Systems:
    """The runs of 1,000 documents."""
    runs = {file.name.removesuffix(".gz"): align(judgments, str(file)) for file in files}
    deep = {run: aligned for run, aligned in runs.items() if aligned.depth.max() == 1000}
    return Systems(name, kind, judgments, deep, {run: group(run) for run in deep})


def movielens(folder: Path) -> list[Systems]:
    """Held-out ratings as they are, and as a pool of depth 100 would have found them."""
    judgments, runs, groups = plain(folder)
    deep = Systems("MovieLens, deep", "ratings, chosen by no pool", judgments, runs, groups)
    ranks = np.full(len(judgments.grade), np.iinfo(np.int64).max)
    for run in runs.values():
        np.minimum.at(ranks, run.doc, run.rank)
    pooled = without_labels(judgments, ranks > 100)
    again = {name: replace(run, judgments=pooled) for name, run in runs.items()}
    return [
        deep,
        Systems("MovieLens, pooled", "the same, as far as a pool of depth 100 has them", pooled, again, groups),
    ]


COLLECTIONS: dict[str, Callable[[Path], list[Systems]]] = {
    "robust2003": robust_2003,
    "clef-ehealth-2016": clef_2016,
    "movielens-small": movielens,
}


def own(folder: Path) -> Systems:
    """A folder with ``qrels.txt.gz``, and ``runs/NAME.gz`` or one ``runs.gz`` of several tags; every run is a group."""
    judgments = Judgments.from_qrels(str(folder / "qrels.txt.gz"))
    if (folder / "runs").is_dir():
        runs = {
            path.name.removesuffix(".gz"): align(judgments, str(path)) for path in sorted((folder / "runs").iterdir())
        }
    elif (folder / "runs.gz").is_file():
        columns = ["query_id", "iteration", "doc_id", "rank", "score", "tag"]
        texts = {"query_id": str, "doc_id": str, "tag": str}
        rows = pd.read_csv(folder / "runs.gz", sep=r"\s+", names=columns, dtype=texts, quoting=3, keep_default_na=False)
        columns = ["query_id", "doc_id", "score"]
        runs = {str(tag): align(judgments, some[columns]) for tag, some in rows.groupby("tag", sort=True)}
    else:
        raise SystemExit(f"{folder}: neither runs/NAME.gz nor runs.gz")
    if len(runs) < 3:
        raise SystemExit(f"{folder}: at least 3 runs are needed, not {len(runs)}")
    return Systems(folder.resolve().name, "every run a group", judgments, runs, {name: name for name in runs})


# -- the exploratory study -------------------------------------------------------------------------


def explored(lost: Lost) -> dict[str, Any]:
    """All cells of a collection, contrasts with simultaneous intervals, and the model's effects, as plain values."""
    cells = [
        {
            "policy": policy,
            "depth": depth,
            "measure": measure,
            "removed": lost.removed[policy, depth],
            "significant": cell.significant,
            **{outcome: float(getattr(cell, outcome)[0]) for outcome in OUTCOMES},
            "error": cell.error,
        }
        for (policy, depth, measure), cell in lost.cells.items()
    ]
    contrasts: list[dict[str, Any]] = []
    effects: list[dict[str, Any]] = []
    for outcome in ("lost", "decided"):
        for minus in RIVALS:
            keys = [(policy, depth) for policy in POLICIES for depth in lost.depths]
            values = {key: lost.values(outcome, *key, "lexirecall", minus) for key in keys}
            for (policy, depth), found in zip(keys, simultaneous(list(values.values()), lost.units), strict=True):
                row = {"outcome": outcome, "policy": policy, "depth": depth, "minus": minus}
                contrasts.append(row | vars(found))
            doublings = np.log2(lost.depths) - np.mean(np.log2(lost.depths))
            terms: dict[tuple[str, str], Floats] = {}
            for policy in POLICIES:
                response = np.stack([values[policy, depth] for depth in lost.depths])
                terms[policy, "mean"] = response.mean(axis=0)
                terms[policy, "per doubling"] = doublings @ response / (doublings**2).sum()
            for (policy, term), found in zip(terms, simultaneous(list(terms.values()), lost.units), strict=True):
                row = {"outcome": outcome, "policy": policy, "term": term, "minus": minus}
                effects.append(row | vars(found))
    return {"told": lost.systems.told(), "cells": cells, "contrasts": contrasts, "effects": effects}


def rounded(plain_values: Any) -> Any:
    """Numbers of six digits, for a file."""
    if isinstance(plain_values, dict):
        return {key: rounded(value) for key, value in plain_values.items()}
    if isinstance(plain_values, list):
        return [rounded(value) for value in plain_values]
    return round(plain_values, 6) if isinstance(plain_values, float) else plain_values


def tell(name: str, found: dict[str, Any]) -> None:
    """Print one collection: conclusions first, decisions second, contrasts, and the model's effects."""
    cells = pd.DataFrame(found["cells"])
    print(f"\n{found['told']}")
    by = {"index": ["policy", "depth"], "columns": "measure"}
    order = list(dict.fromkeys(cells[["policy", "depth"]].itertuples(index=False, name=None)))
    cells["text"] = [f"{row.significant}: {row.lost:.3f}, {row.turned:.3f}" for row in cells.itertuples(index=False)]
    print(
        "\n  Conclusions with all labels, and the shares of them that are lost and turned round; share of labels missing\n"
    )
    removed = cells.drop_duplicates(["policy", "depth"]).set_index(["policy", "depth"])["removed"].round(3)
    table = cells.pivot(**by, values="text").loc[order, MEASURES]
    table.insert(0, "missing", removed.loc[order])
    print(table.to_string())
    print("\n  Decisions kept, of those that are no ties\n")
    print(cells.pivot(**by, values="decided").loc[order, MEASURES].round(3).to_string())
    contrasts = pd.DataFrame(found["contrasts"])
    contrasts["text"] = [str(Estimate(row.value, row.low, row.high)) for row in contrasts.itertuples(index=False)]
    effects = pd.DataFrame(found["effects"])
    effects["text"] = [str(Estimate(row.value, row.low, row.high)) for row in effects.itertuples(index=False)]
    for outcome in ("lost", "decided"):
        some = contrasts[contrasts["outcome"] == outcome]
        print(f"\n  {OUTCOMES[outcome]}: lexirecall minus another measure, simultaneous 95% intervals\n")
        columns = {"index": ["policy", "depth"], "columns": "minus", "values": "text"}
        print(some.pivot(**columns).loc[order, RIVALS].to_string())
        some = effects[(effects["outcome"] == outcome) & (effects["minus"] == "AP")]
        print(
            f"\n  {OUTCOMES[outcome]}, lexirecall minus AP: the model's mean over depths, and slope per doubling of the depth\n"
        )
        print(some.pivot(index="policy", columns="term", values="text").loc[list(POLICIES)].to_string())
    print(f"\n  Largest standard error that is due to the draws of labels: {cells['error'].max():.4f}")


def depth_for(cells: pd.DataFrame, measure: str, outcome: str, enough: float) -> str:
    """The smallest depth of a pool at which a measure keeps enough."""
    some = cells[(cells["policy"] == "pool") & (cells["measure"] == measure)].sort_values("depth")
    kept = some["decided"] if outcome == "decided" else 1 - some["lost"]
    reached = some["depth"][(kept >= enough).to_numpy()]
    return str(int(reached.iloc[0])) if len(reached) else f"over {some['depth'].max()}"


def sentences(several: dict[str, dict[str, Any]]) -> list[str]:
    """What the study says, collection by collection counted."""
    said = []
    contrasts = pd.concat([pd.DataFrame(found["contrasts"]).assign(collection=name) for name, found in several.items()])
    of_ap = contrasts[contrasts["minus"] == "AP"]
    for outcome in ("lost", "decided"):
        for policy in POLICIES:
            some = of_ap[(of_ap["outcome"] == outcome) & (of_ap["policy"] == policy)]
            above, below = int((some["low"] > 0).sum()), int((some["high"] < 0).sum())
            said.append(
                f"{OUTCOMES[outcome]}, {policy}: lexirecall - AP {some['value'].min():+.3f} to {some['value'].max():+.3f}; of {len(some)} intervals "
                f"{above} are above 0, {below} below, {len(some) - above - below} cannot tell"
            )
    for name, found in several.items():
        cells = pd.DataFrame(found["cells"])
        depths = {
            outcome: ", ".join(f"{measure} {depth_for(cells, measure, outcome, 0.9)}" for measure in MEASURES[:3])
            for outcome in ("decided", "lost")
        }
        said.append(
            f"{name}: 90% of decisions are kept from pool depth {depths['decided']}; of conclusions from {depths['lost']}"
        )
    cells = pd.concat([pd.DataFrame(found["cells"]) for found in several.values()])
    cells = cells[cells["policy"] != "left out"]
    turned = (cells["turned"] * cells["significant"]).sum() / cells["significant"].sum()
    said.append(
        f"Conclusions turned into their significant opposite: {turned:.3%} of all, over policies, depths and measures"
    )
    return said


LIMITS = """  exploratory: these collections had been looked at; five sets of labels from three sources, some of one source; groups are 5 or 6 but for
  Robust 2003, so that intervals over groups are rough; labels are taken from those that pools had chosen before (but for MovieLens, deep)"""


# -- the confirmation ------------------------------------------------------------------------------


def confirm(lost: Lost) -> list[dict[str, Any]]:
    """Each declared contrast, with its simultaneous interval over those that the runs are deep enough for."""
    values = {contrast: contrast.values(lost) for contrast in CONFIRMED}
    there = {contrast: value for contrast, value in values.items() if value is not None}
    estimates = dict(zip(there, simultaneous(list(there.values()), lost.units) if there else [], strict=True))
    rows = []
    for contrast in CONFIRMED:
        if contrast not in there:
            rows.append({"contrast": str(contrast), "verdict": "skipped"})
            continue
        found, shift = estimates[contrast], 2 * contrast.error(lost)
        moved = {
            contrast.verdict(Estimate(found.value + by, found.low + by, found.high + by)) for by in (-shift, 0.0, shift)
        }
        row = {"contrast": str(contrast), "verdict": contrast.verdict(found), **vars(found)}
        rows.append(row | {"depends_on_draws": len(moved) > 1})
    return rows


def tell_confirmed(told: str, rows: list[dict[str, Any]], skipped: list[int]) -> None:
    """Print each contrast: holds, fails or cannot tell."""
    print(f"\n{told}")
    if skipped:
        print(f"  Skipped, for these runs are not deeper: pools of depth {', '.join(map(str, skipped))}")
    for row in rows:
        if row["verdict"] == "skipped":
            print(f"  skipped      {row['contrast']}")
            continue
        found = Estimate(row["value"], row["low"], row["high"])
        draws = "; two standard errors of the draws could change the verdict" if row["depends_on_draws"] else ""
        print(f"  {row['verdict']:11}  {row['contrast']}: {found}{draws}")
    counted = Counter(row["verdict"] for row in rows)
    print("  " + ", ".join(f"{counted[verdict]} {verdict}" for verdict in ("holds", "fails", "cannot tell", "skipped")))


# -- pictures --------------------------------------------------------------------------------------

COLOURS = {"pool": "tab:red", "random": "tab:blue", "reverse": "tab:green"}


def figure(several: dict[str, dict[str, Any]], plots: Path | None, ending: str = "svg") -> None:
    """Decisions kept by depth: a panel per collection; lexirecall solid, AP dashed; a colour per policy."""
    panels = np.atleast_1d(new_figure(1 + 2.2 * len(several), 3).subplots(1, len(several), sharey=True))
    for axes, (name, found) in zip(panels, several.items(), strict=True):
        cells = pd.DataFrame(found["cells"])
        for policy, colour in COLOURS.items():
            for measure, style in {"lexirecall": "-", "AP": "--"}.items():
                some = cells[(cells["policy"] == policy) & (cells["measure"] == measure)]
                axes.plot(some["depth"], some["decided"], style, color=colour, label=f"{policy}, {measure}")
        axes.set_xscale("log", base=10)
        axes.set_xticks(some["depth"].tolist(), [str(depth) for depth in some["depth"]])
        axes.minorticks_off()
        axes.set_title(name.replace(", ", ",\n"), fontsize=9)
        axes.set_xlabel("depth of the pool", fontsize=9)
    panels[0].set_ylabel("decisions kept")
    handles, labels = panels[0].get_legend_handles_labels()
    panels[0].figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    save(panels[0], plots, "missing_labels", ending)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help=f"folder with some of {', '.join(COLLECTIONS)}")
    parser.add_argument("--confirm", type=Path, metavar="FOLDER", help="test the declared contrasts on these runs")
    parser.add_argument("--samples", type=int, default=3, help="draws of labels (default: %(default)s)")
    parser.add_argument("--resamples", type=int, default=300, help="of the bootstrap (default: %(default)s)")
    parser.add_argument("--full", action="store_true", help="20 draws of labels, 2,000 resamples")
    parser.add_argument("--record", action="store_true", help="keep what comes out beside the script")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw the figure into this folder")
    options = parser.parse_args(arguments)
    if options.full:
        options.samples, options.resamples = 20, 2000
    sizes = {"samples": options.samples, "n_resamples": options.resamples}
    record = (
        json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {"explored": {}, "confirmed": {}}
    )
    if options.confirm:
        systems = own(options.confirm)
        places = [place for contrast in CONFIRMED for place in contrast.places]
        policies, depths = (tuple(dict.fromkeys(column)) for column in zip(*places, strict=True))
        lost = study_of(systems, depths=depths, policies=policies, **sizes)
        rows = confirm(lost)
        tell_confirmed(systems.told(), rows, lost.skipped)
        if options.record:
            record["confirmed"][systems.name] = {"told": systems.told(), "rows": rounded(rows), "skipped": lost.skipped}
    elif options.data:
        there = {name: make for name, make in COLLECTIONS.items() if (options.data / name).is_dir()}
        several = {}
        for name, make in there.items():
            for systems in make(options.data / name):
                several[systems.name] = explored(study_of(systems, **sizes))
        record |= {"explored": rounded(several), "sizes": sizes}
    if options.record:
        RECORDED.write_text(json.dumps(record) + "\n", encoding="utf-8")
    if options.confirm:
        return
    print("Which labels are missing, at a depth")
    for name, text in POLICIES.items():
        print(f"  {name}: {text}")
    several = record["explored"]
    if not options.data:
        print(
            f"\nRecorded numbers, not computed now ({record['sizes']['samples']} draws, {record['sizes']['n_resamples']:,} resamples)"
        )
    for name, found in several.items():
        tell(name, found)
    print("\nWhat holds on these collections (exploratory)")
    for sentence in sentences(several):
        print(f"  {sentence}")
    print(f"Limits\n{LIMITS}")
    print("\nDeclared for --confirm, before any further collection was looked at")
    for contrast in CONFIRMED:
        print(f"  {contrast}")
    for found in record["confirmed"].values():
        tell_confirmed(found["told"], found["rows"], found["skipped"])
    if not record["confirmed"]:
        print("  Not run yet on any collection.")
    if drawn(options.plots):
        figure(several, options.plots)


if __name__ == "__main__":
    main()
