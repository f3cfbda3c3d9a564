"""Write every number, table and figure of ``paper.tex``, from what ``missing_labels.py --record`` kept.

    python examples/papers/manuscript/write.py
    latexmk -pdf -cd examples/papers/manuscript/paper.tex

``paper.tex`` has no number of its own: ``numbers.tex`` defines a macro for each, ``tables.tex`` has the tables.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from label_loss import CONCLUSION, DEPTHS, MEASURES, POLICIES  # noqa: E402
from missing_labels import COLLECTIONS, CONFIRMED, RECORDED, depth_for, figure  # noqa: E402

from ir_lexirecall.present.tables import Column, Shown  # noqa: E402

SETS = {
    "Robust 2003, old topics": "RobustOld",
    "Robust 2003, new topics": "RobustNew",
    "CLEF eHealth 2016": "Clef",
    "MovieLens, deep": "MovieDeep",
    "MovieLens, pooled": "MoviePooled",
}
WORDS: dict[Any, str] = {10: "Ten", 30: "Thirty", 100: "Hundred", 200: "TwoHundred"}
WORDS |= {
    "pool": "Pool",
    "share": "Share",
    "random": "Random",
    "reverse": "Reverse",
    "left out": "LeftOut",
}
WORDS |= {"lexirecall": "LR", "AP": "AP", "nDCG": "NDCG", "nDCG@10": "NDCGTen"}
WORDS |= {"decided": "Decided", "lost": "Lost", "turned": "Turned"}


def cells_of(record: dict[str, Any]) -> pd.DataFrame:
    """All cells of all sets."""
    return pd.concat(
        [
            pd.DataFrame(found["cells"]).assign(set=name)
            for name, found in record["explored"].items()
        ],
        ignore_index=True,
    )


def contrasts_of(record: dict[str, Any]) -> pd.DataFrame:
    """All contrasts of all sets with AP."""
    several = [
        pd.DataFrame(found["contrasts"]).assign(set=name)
        for name, found in record["explored"].items()
    ]
    table = pd.concat(several, ignore_index=True)
    return table[table["minus"] == "AP"]


def span(values: pd.Series, sign: str = "") -> str:
    """The smallest and the largest value."""
    return f"${values.min():{sign}.3f}$ to ${values.max():{sign}.3f}$"


def numbers(record: dict[str, Any]) -> dict[str, str]:
    """The macros by name."""
    cells, contrasts = cells_of(record), contrasts_of(record)
    macros = {
        "Samples": str(record["sizes"]["samples"]),
        "Resamples": f"{record['sizes']['n_resamples']:,}",
        "NumSets": str(len(record["explored"])),
        "NumDepths": str(len(DEPTHS)),
        "NumPolicies": str(len(POLICIES)),
        "NumMeasures": str(len(MEASURES)),
        "NumDeclared": str(len(CONFIRMED)),
        "NumSources": str(len(COLLECTIONS)),
        "NumRecommenders": str(record["explored"]["MovieLens, deep"]["runs"]),
        "DrawsDepend": str(int(contrasts["draws"].sum())),
        "NumContrasts": str(len(contrasts)),
        "ConclusionLevel": f"{CONCLUSION:g}",
        "LargestDrawError": f"{contrasts['error'].max():.3f}",
        "NDCGTen": "nDCG@10",
        "RobustYear": "2003",
        "ClefYear": "2016",
        "Confidence": r"95\%",
        "Enough": r"90\%",
    }
    tested = len(record["confirmed"])
    macros["ConfirmedSentence"] = (
        f"Table~\\ref{{tab:confirmed}} has the verdicts on {tested} collections."
        if tested
        else "They are not tested yet."
    )
    macros |= {f"Depth{WORDS[depth]}": str(depth) for depth in DEPTHS}
    for (policy, depth, measure), some in cells.groupby(["policy", "depth", "measure"]):
        for outcome in ("decided", "lost"):
            macros[f"Span{WORDS[policy]}{WORDS[depth]}{WORDS[outcome]}{WORDS[measure]}"] = span(
                some[outcome]
            )
    for (policy, outcome), some in contrasts.groupby(["policy", "outcome"]):
        name = f"{WORDS[policy]}{WORDS[outcome]}"
        above, below = int((some["low"] > 0).sum()), int((some["high"] < 0).sum())
        macros[f"Contrast{name}"] = span(some["value"], "+")
        macros |= {
            f"Above{name}": str(above),
            f"Below{name}": str(below),
            f"Of{name}": str(len(some)),
        }
        macros[f"Open{name}"] = str(len(some) - above - below)
    for name, word in SETS.items():
        of_set = pd.DataFrame(record["explored"][name]["cells"])
        for outcome in ("decided", "lost"):
            for measure in MEASURES[:3]:
                macros[f"Needs{word}{WORDS[outcome]}{WORDS[measure]}"] = depth_for(
                    of_set, measure, outcome, 0.9
                )
    pooled = cells[cells["policy"] != "left out"]
    turned = (pooled["turned"] * pooled["significant"]).sum() / pooled["significant"].sum()
    macros["TurnedShare"] = f"{100 * turned:.2f}\\%"
    return macros


def tables(record: dict[str, Any]) -> str:
    """Conclusions and decisions by pool depth, contrasts by policy, and the declared contrasts, as the library prints tables."""
    cells, contrasts = cells_of(record), contrasts_of(record)
    pool = cells[cells["policy"] == "pool"].pivot(
        index=["set", "depth"], columns="measure", values=["lost", "decided"]
    )
    pool = pool.loc[list(SETS)]
    missing = (
        cells[cells["policy"] == "pool"]
        .drop_duplicates(["set", "depth"])
        .set_index(["set", "depth"])["removed"]
    )
    columns = [
        Column("labels", [name for name, _ in pool.index]),
        Column("depth", [str(depth) for _, depth in pool.index], True),
        Column("missing", [f"{missing[key]:.2f}" for key in pool.index], True),
    ]
    for outcome, text in {"lost": "lost", "decided": "kept"}.items():
        for measure in MEASURES:
            values = [f"{value:.2f}" for value in pool[outcome, measure]]
            columns.append(
                Column(f"{'LR' if measure == 'lexirecall' else measure} {text}", values, True)
            )
    title = "Labels missing as a pool of this depth of all runs lacks them: shares of conclusions lost, and of decisions kept."
    parts = [
        Shown(columns, title)
        .latex("tab:pool")
        .replace(
            "\\begin{tabular}", "\\scriptsize\\setlength{\\tabcolsep}{2.5pt}\n\\begin{tabular}"
        )
    ]
    decided = contrasts[contrasts["outcome"] == "decided"]
    decided = decided.assign(
        text=[
            f"{row.value:+.2f} [{row.low:+.2f}, {row.high:+.2f}]"
            for row in decided.itertuples(index=False)
        ]
    )
    wide = decided.pivot(index=["set", "policy"], columns="depth", values="text").fillna("")
    wide = wide.loc[[(name, policy) for name in SETS for policy in POLICIES]]
    columns = [
        Column("labels", [name for name, _ in wide.index]),
        Column("policy", [policy for _, policy in wide.index]),
    ]
    columns += [Column(f"depth {depth}", wide[depth].tolist(), True) for depth in wide]
    title = "Decisions kept, LR minus AP, with simultaneous intervals over all cells of a set of labels."
    parts.append(
        Shown(columns, title)
        .latex("tab:contrasts")
        .replace("\\begin{tabular}", "\\scriptsize\\setlength{\\tabcolsep}{4pt}\n\\begin{tabular}")
    )
    confirmed = record["confirmed"]
    places = [str(number) for number in range(1, len(CONFIRMED) + 1)]
    columns = [
        Column("", places, True),
        Column(
            "contrast, direction, and smallest effect that would matter", list(map(str, CONFIRMED))
        ),
    ]
    title = "The declared contrasts" + ("." if confirmed else "; they have not been tested yet.")
    notes = [
        "Relevance is grade 1 or more; every run is a group, so that the runs of one team are left out one by one."
    ]
    parts.append(
        Shown(columns, title, notes)
        .latex("tab:declared")
        .replace("\\begin{tabular}", "\\scriptsize\n\\begin{tabular}")
    )
    if confirmed:
        columns = [Column("", places, True)]
        for name, found in confirmed.items():
            estimates = [
                f"{row['value']:+.3f} ± {row['high'] - row['value']:.3f}" if "value" in row else ""
                for row in found["rows"]
            ]
            columns += [
                Column(name, [verdict_of(row) for row in found["rows"]]),
                Column("", estimates, True),
            ]
        title = "Verdicts on the declared contrasts by their numbers, with simultaneous intervals for a collection."
        notes = [
            "Small: beyond 0, and surely below the smallest effect that would matter. *: two standard errors of the draws of labels could "
            "change the verdict."
        ]
        parts.append(
            Shown(columns, title, notes)
            .latex("tab:confirmed")
            .replace(
                "\\begin{tabular}", "\\scriptsize\\setlength{\\tabcolsep}{2.5pt}\n\\begin{tabular}"
            )
        )
    return "\n\n".join(parts) + "\n"


def verdict_of(row: dict[str, Any]) -> str:
    """What came out for a contrast, in a word or two."""
    if row["verdict"] == "skipped":
        return "skipped"
    return (
        row["verdict"]
        + (", small" if row["too_small"] else "")
        + ("*" if row["depends_on_draws"] else "")
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, default=HERE, help="folder to write to (default: beside the script)"
    )
    parser.add_argument("--no-figure", action="store_true", help="write numbers and tables alone")
    options = parser.parse_args(arguments)
    record = json.loads(RECORDED.read_text(encoding="utf-8"))
    options.out.mkdir(parents=True, exist_ok=True)
    lines = [
        f"\\newcommand{{\\{name}}}{{{value}}}" for name, value in sorted(numbers(record).items())
    ]
    (options.out / "numbers.tex").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (options.out / "tables.tex").write_text(tables(record), encoding="utf-8")
    if not options.no_figure:
        figure(record["explored"], options.out, "pdf")


if __name__ == "__main__":
    main()
