"""Write every number, table and figure of ``paper.tex``, from what ``missing_labels.py --record`` kept.

    python examples/papers/manuscript/write.py
    latexmk -pdf -cd examples/papers/manuscript/paper.tex

``paper.tex`` has no number of its own: ``numbers.tex`` defines a macro for each, ``tables.tex`` has the tables.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from label_loss import CONCLUSION, DEPTHS, MEASURES, POLICIES, Estimate  # noqa: E402
from missing_labels import (  # noqa: E402
    COLLECTIONS,
    CONFIRMED,
    RECORDED,
    SEVERE,
    Declared,
    count_sentence,
    counted,
    depth_for,
    figure,
    is_withdrawn,
    over_collections,
    share_missing,
    verdict_of,
)
from second_round import FEW, LEAST_COLLECTIONS, SECOND, combined  # noqa: E402

from ir_lexirecall.present.tables import Column, Shown  # noqa: E402

SETS = {
    "Robust 2003, old topics": "RobustOld",
    "Robust 2003, new topics": "RobustNew",
    "CLEF eHealth 2016": "Clef",
    "MovieLens, deep": "MovieDeep",
    "MovieLens, pooled": "MoviePooled",
}
NAMES = {
    "trec8-adhoc": "TREC-8",
    "trec-covid-round5": "TREC-COVID",
    "clef-ehealth-2015": "CLEF 2015",
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
    macros |= confirmation_numbers(record)
    macros |= {f"Depth{WORDS[depth]}": str(depth) for depth in DEPTHS}
    for (policy, depth, measure), some in cells.groupby(["policy", "depth", "measure"]):
        for outcome in ("decided", "lost"):
            macros[
                f"Span{WORDS[policy]}{WORDS[depth]}{WORDS[outcome]}{WORDS[measure]}"
            ] = span(some[outcome])
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
    turned = (pooled["turned"] * pooled["significant"]).sum() / pooled[
        "significant"
    ].sum()
    macros["TurnedShare"] = f"{100 * turned:.2f}\\%"
    return macros


def percent(share: float) -> str:
    """Return a share in per cent, for LaTeX."""
    return f"{share:.0%}".replace("%", r"\%")


def signed(estimate: Estimate) -> str:
    """Return an estimate with its interval, in math mode."""
    return f"${estimate.value:+.3f}$ $[{estimate.low:+.3f}, {estimate.high:+.3f}]$"


def outcome_of(counts: dict[str, int]) -> str:
    """Return how the confirmation came out, for the title."""
    tested = counts["holds"] + counts["fails"] + counts["cannot tell"]
    if not tested:
        return "an exploratory study"
    if 2 * counts["fails"] > tested:
        return "exploratory findings and a confirmation that mostly failed"
    if 2 * counts["holds"] > tested:
        return "exploratory findings and a confirmation that mostly held"
    return "exploratory findings and a confirmation that decided little"


def confirmation_numbers(record: dict[str, Any]) -> dict[str, str]:
    """Return the macros of the confirmation: what depends on its outcome is a sentence of its own."""
    counts = counted(found["rows"] for found in record["confirmed"].values())
    macros = {"ConfirmedOutcome": outcome_of(counts), "SevereShare": percent(SEVERE)}
    macros |= second_numbers(record)
    if not record["confirmed"]:
        untested = "The declared contrasts have not been tested yet."
        return macros | dict.fromkeys(
            [
                "ConfirmedAbstract",
                "ConfirmedResults",
                "ConfirmedThreats",
                "ConfirmedConclusion",
            ],
            untested,
        )
    return macros | {
        "ConfirmedAbstract": " ".join(abstract_sentences(record, counts)),
        "ConfirmedResults": " ".join(result_sentences(record, counts)),
        "ConfirmedThreats": " ".join(threat_sentences(record)),
        "ConfirmedConclusion": replicated_sentence(record),
    }


def abstract_sentences(record: dict[str, Any], counts: dict[str, int]) -> list[str]:
    """Return how many tests hold, and the two contrasts that matter most."""
    confirmed = record["confirmed"]
    runs = sum(len_of(found, "runs") for found in confirmed.values())
    tested = sum(counts.values()) - counts["skipped"]
    shallow, random = CONFIRMED[0], CONFIRMED[4]
    sentences = [
        f"Of {tested} declared tests on {len(confirmed)} held-back collections ({runs} runs), "
        f"{count_sentence(counts)}."
    ]
    if advantages := estimates_of(record, shallow, sign=-1):
        sentences.append(
            f"From a pool of depth {shallow.depth}, the advantage of AP over LR is {advantages} "
            f"(declared: at least {shallow.least:g})."
        )
    if advantages := estimates_of(record, random):
        sentences.append(
            f"Where as many labels are missing at random, the advantage of LR over AP is {advantages} "
            f"(declared: at least {random.least:g})."
        )
    return sentences


def result_sentences(record: dict[str, Any], counts: dict[str, int]) -> list[str]:
    """Return the verdicts by collection, with teams as groups, over collections, and by pools."""
    confirmed = record["confirmed"]
    sentences = [
        f"Table~\\ref{{tab:confirmed}} has the verdicts on {len(confirmed)} collections: "
        f"{count_sentence(counts)}."
    ]
    teams = counted(
        found["teams"]["rows"] for found in confirmed.values() if "teams" in found
    )
    if any(teams.values()):
        sentences.append(
            f"With teams in place of runs as groups, {count_sentence(teams)}."
        )
    kept = [
        found["cells"][f"pool {DEPTHS[0]} lexirecall"]["decided"]
        for found in confirmed.values()
        if "cells" in found
    ]
    if kept:
        sentences.append(
            f"From a pool of depth {DEPTHS[0]}, LR keeps ${min(kept):.2f}$ to ${max(kept):.2f}$ of "
            "its decisions."
        )
    for contrast, words in (
        (CONFIRMED[0], "a pool of depth"),
        (CONFIRMED[4], "random, depth"),
    ):
        values = [
            estimate.value for _, estimate in row_estimates(record, contrast).values()
        ]
        if len(values) > 2:
            sentences.append(
                f"Over collections, LR minus AP ({words} {contrast.depth}) is "
                f"{signed(over_collections(values))}, by Student's $t$ on the collections' estimates."
            )
    by_runs = pd.DataFrame(
        record.get("by_runs", []), columns=["collection", "runs", "difference"]
    )
    for name, some in by_runs.groupby("collection"):
        few, many = some.loc[some["runs"].idxmin()], some.loc[some["runs"].idxmax()]
        sentences.append(
            f"On {name_of(name)}, LR minus AP from a pool of the same depth is "
            f"${few['difference']:+.3f}$ if {few['runs']} runs formed it and "
            f"${many['difference']:+.3f}$ if {many['runs']} did (Table~\\ref{{tab:runs}})."
        )
    return sentences


def threat_sentences(record: dict[str, Any]) -> list[str]:
    """Return what weakens the confirmation: withdrawn contrasts, and few missing labels."""
    confirmed = record["confirmed"]
    withdrawn = sum(
        is_withdrawn(row, found)
        for found in confirmed.values()
        for row in found["rows"]
    )
    mild = [
        name_of(name)
        for name, found in confirmed.items()
        if max(found.get("missing", {}).values(), default=1.0) < SEVERE
    ]
    sentences = []
    if withdrawn:
        sentences.append(
            f"{withdrawn} of the tests are withdrawn: they took runs for groups, where the exploration "
            "had taken teams."
        )
    if mild:
        sentences.append(
            f"On {' and '.join(mild)}, less than {percent(SEVERE)} of the labels are missing at any "
            "depth: a contrast that fails there shows that little was taken away."
        )
    return sentences


def second_numbers(record: dict[str, Any]) -> dict[str, str]:
    """Return the macros of the second declaration, its rules and its outcome."""
    second = record.get("second", {})
    if not second:
        outcome = "They have not been tested yet."
    else:
        verdicts = Counter(row["verdict"] for row in combined(second))
        parts = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
        outcome = f"Over {len(second)} collections: {parts}."
    return {
        "NumSecond": str(len(SECOND)),
        "FewRuns": str(FEW),
        "LeastCollections": str(LEAST_COLLECTIONS),
        "SecondOutcome": outcome,
    }


def replicated_sentence(record: dict[str, Any]) -> str:
    """Return which declared contrasts hold on more than one collection."""
    replicated = []
    for number, contrast in enumerate(CONFIRMED, start=1):
        verdicts = [verdict for verdict, _ in row_estimates(record, contrast).values()]
        if verdicts.count("holds") > 1:
            replicated.append(f"{number} ({contrast})")
    if not replicated:
        return "No declared contrast holds on more than one collection."
    if len(replicated) == 1:
        return f"Only contrast {replicated[0]} holds on more than one collection."
    return (
        f"Only the contrasts {', '.join(replicated)} hold on more than one collection."
    )


def len_of(found: dict[str, Any], noun: str) -> int:
    """Return a number that the line about a collection has before a noun; 0 if it has none."""
    match = re.search(rf"(\d+) {noun}", found["told"])
    return int(match[1]) if match else 0


def name_of(collection: str) -> str:
    """Return how the paper calls a collection."""
    return NAMES.get(collection, collection)


def estimates_of(record: dict[str, Any], contrast: Declared, sign: int = 1) -> str:
    """Return the estimates of a contrast, collection by collection."""
    return ", ".join(
        f"${sign * estimate.value:+.3f}$ on {name_of(name)}"
        for name, (_, estimate) in row_estimates(record, contrast).items()
    )


def row_estimates(
    record: dict[str, Any], contrast: Declared
) -> dict[str, tuple[str, Estimate]]:
    """Return the verdict and the estimate of a contrast on each collection that tested it."""
    number = CONFIRMED.index(contrast)
    rows = {name: found["rows"][number] for name, found in record["confirmed"].items()}
    return {
        name: (row["verdict"], Estimate(row["value"], row["low"], row["high"]))
        for name, row in rows.items()
        if "value" in row
    }


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
                Column(
                    f"{'LR' if measure == 'lexirecall' else measure} {text}",
                    values,
                    True,
                )
            )
    title = "Labels missing as a pool of this depth of all runs lacks them: shares of conclusions lost, and of decisions kept."
    parts = [
        Shown(columns, title)
        .latex("tab:pool")
        .replace(
            "\\begin{tabular}",
            "\\scriptsize\\setlength{\\tabcolsep}{2.5pt}\n\\begin{tabular}",
        )
    ]
    decided = contrasts[contrasts["outcome"] == "decided"]
    decided = decided.assign(
        text=[
            f"{row.value:+.2f} [{row.low:+.2f}, {row.high:+.2f}]"
            for row in decided.itertuples(index=False)
        ]
    )
    wide = decided.pivot(
        index=["set", "policy"], columns="depth", values="text"
    ).fillna("")
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
        .replace(
            "\\begin{tabular}",
            "\\scriptsize\\setlength{\\tabcolsep}{4pt}\n\\begin{tabular}",
        )
    )
    parts += confirmation_tables(record)
    return "\n\n".join(parts) + "\n"


def confirmation_tables(record: dict[str, Any]) -> list[str]:
    """Return the declared contrasts, their verdicts, and pools by the number of runs."""
    confirmed = record["confirmed"]
    order = [str(number) for number in range(1, len(CONFIRMED) + 1)]
    columns = [
        Column("", order, True),
        Column(
            "contrast, direction, and smallest effect that would matter",
            list(map(str, CONFIRMED)),
        ),
    ]
    notes = ["Relevance is grade 1 or more."]
    parts = [
        small_table(Shown(columns, "The declared contrasts.", notes), "tab:declared")
    ]
    if confirmed:
        parts.append(wide_table(verdict_table(confirmed, order), "tab:confirmed"))
    if record.get("by_runs"):
        parts.append(small_table(runs_table(record["by_runs"]), "tab:runs"))
    second = record.get("second", {})
    width_of_contrasts = 0.6 if second else 0.92
    parts.append(wrapped_table(second_table(second), "tab:second", width_of_contrasts))
    return parts


def second_table(second: dict[str, Any]) -> Shown:
    """Return the contrasts of the second declaration, and what they come to over collections."""
    order = [str(number) for number in range(1, len(SECOND) + 1)]
    columns = [Column("", order, True), Column("contrast", list(map(str, SECOND)))]
    if second:
        rows = combined(second)
        estimates = ["" if "value" not in row else estimate_of(row) for row in rows]
        columns += [
            Column("verdict", [row["verdict"] for row in rows]),
            Column("", estimates, True),
        ]
    return Shown(
        columns, "The second declaration, for collections that are still held back."
    )


def verdict_table(confirmed: dict[str, Any], order: list[str]) -> Shown:
    """Return the verdicts on each collection, how many labels are missing, and those with teams."""
    columns = [Column("", order, True)]
    for name, found in confirmed.items():
        columns += [
            Column(name_of(name), [verdict_of(row) for row in found["rows"]]),
            Column("", [estimate_of(row) for row in found["rows"]], True),
            Column("missing", [missing_of(row, found) for row in found["rows"]], True),
        ]
        if "teams" in found:
            columns.append(
                Column("teams", [verdict_of(row) for row in found["teams"]["rows"]])
            )
    title = (
        "Verdicts on the declared contrasts, with simultaneous intervals for a collection, the share "
        "of labels missing, and the verdicts with teams as groups."
    )
    notes = [
        "Small: beyond 0, and surely below the smallest effect that would matter. °: beyond 0, but the "
        "interval reaches below that effect. *: two standard errors of the draws of labels could "
        "change the verdict. Contrast 6 is withdrawn where every "
        "run is a group: in the exploration, groups were teams."
    ]
    return Shown(columns, title, notes)


def runs_table(by_runs: list[dict[str, Any]]) -> Shown:
    """Return decisions kept by the number of runs that formed the pool."""
    table = pd.DataFrame(by_runs)
    columns = [
        Column("collection", [name_of(name) for name in table["collection"]]),
        Column("runs", table["runs"].astype(str).tolist(), True),
    ]
    for label, column in (("missing", "missing"), ("LR", "lexirecall"), ("AP", "AP")):
        columns.append(Column(label, [f"{value:.2f}" for value in table[column]], True))
    spans = [
        f"{row.difference:+.3f} ({row.least:+.3f}, {row.largest:+.3f})"
        for row in table.itertuples(index=False)
    ]
    columns.append(Column("LR - AP (least, largest)", spans, True))
    title = (
        "Decisions kept from a pool of depth 10 that one run of each of several teams formed: means "
        "over 8 draws of runs."
    )
    return Shown(columns, title)


def small_table(table: Shown, label: str) -> str:
    """Return a table in small print."""
    style = "\\scriptsize\\setlength{\\tabcolsep}{2.5pt}\n\\begin{tabular}"
    return table.latex(label).replace("\\begin{tabular}", style)


def wrapped_table(table: Shown, label: str, width: float) -> str:
    """Return a table in small print whose second column breaks its lines at a share of the page."""
    head = f"\\begin{{tabular}}{{@{{}}rp{{{width}\\linewidth}}"
    return small_table(table, label).replace("\\begin{tabular}{@{}rl", head)


def wide_table(table: Shown, label: str) -> str:
    """Return a table that is made as wide as the page."""
    resized = small_table(table, label).replace(
        "\\begin{tabular}", "\\resizebox{\\linewidth}{!}{%\n\\begin{tabular}"
    )
    return resized.replace("\\end{tabular}", "\\end{tabular}}")


def estimate_of(row: dict[str, Any]) -> str:
    """Return an estimate and half the width of its interval; empty if the contrast was skipped."""
    if "value" not in row:
        return ""
    return f"{row['value']:+.3f} ± {row['high'] - row['value']:.3f}"


def missing_of(row: dict[str, Any], found: dict[str, Any]) -> str:
    """Return the share of labels that are missing for a contrast; empty if it was not recorded."""
    share = share_missing(row, found)
    return "" if share is None else f"{share:.2f}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=HERE,
        help="folder to write to (default: beside the script)",
    )
    parser.add_argument(
        "--no-figure", action="store_true", help="write numbers and tables alone"
    )
    options = parser.parse_args(arguments)
    record = json.loads(RECORDED.read_text(encoding="utf-8"))
    options.out.mkdir(parents=True, exist_ok=True)
    lines = [
        f"\\newcommand{{\\{name}}}{{{value}}}"
        for name, value in sorted(numbers(record).items())
    ]
    (options.out / "numbers.tex").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (options.out / "tables.tex").write_text(tables(record), encoding="utf-8")
    if not options.no_figure:
        figure(record["explored"], options.out, "pdf")


if __name__ == "__main__":
    main()
