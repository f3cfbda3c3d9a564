"""
It matters which labels are missing: lexicographic recall, and pools
====================================================================

Diaz, Ekstrand and Mitra (TORS 2026, doi 10.1145/3728373) find lexicographic recall stable when labels
are removed at random. Pools do not remove labels at random: they lack what every run ranks low. That
this matters is known from Zobel 1998 (doi 10.1145/290941.291014), Buckley and Voorhees 2004 (doi
10.1145/1008992.1009000), Yilmaz and Aslam 2006 (doi 10.1145/1183614.1183633), Buettcher et al. 2007
(doi 10.1145/1277741.1277755), Bompada et al. 2007 (SIGIR), Sakai and Kando 2008 (doi
10.1007/s10791-008-9059-7), Sakai 2009, and Lu, Moffat and Culpepper 2016 (doi
10.1007/s10791-016-9282-6).

An **exploratory** study of Robust 2003, CLEF eHealth 2016 and MovieLens (five sets of labels, 12 to 17
runs each) suggested that lexicographic recall loses more of its decisions than AP in a shallow pool.
Eight contrasts were then declared, before any other collection was looked at. **The confirmation mostly
failed**: of 23 tests on TREC-8, TREC-COVID (round 5) and CLEF eHealth 2015, 4 hold, 16 fail and 3
cannot be decided. What holds on two collections is that lexicographic recall keeps more decisions than AP
where labels are missing at random. What it loses in a shallow pool depends on the number of runs that
formed the pool, not on the depth alone. So report the depth of the pool and how many runs formed it, and
give bounds for unjudged documents.

Outcomes are conclusions (pairs of runs with p < 0.01: kept, lost, or turned round) and decisions on
single queries. Factors are depth, policy and measure. Queries and groups of runs are resampled together.
nDCG@10 and a reverse pool are controls. Relevance is grade 1 or more. ::

    python examples/papers/missing_labels.py
    python examples/papers/missing_labels.py DATA --full --plots out
    python examples/papers/missing_labels.py --confirm FOLDER FOLDER FOLDER

DATA is a folder with some of robust2003, clef-ehealth-2016 and movielens-small; without it, recorded
numbers are shown. ``--confirm`` tests the second declaration (``second_round.py``): five contrasts on the number of runs
that formed the pool, the number of relevant documents, and labels missing at random. It takes folders
of your own, each with ``qrels.txt.gz`` and ``runs/NAME.gz`` for each run, or ``runs.gz`` with all runs,
told apart by their tag, and ``groups.csv`` with the columns ``run`` and ``group``. Without groups,
every run is a team of its own.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import second_round
from label_loss import (
    MEASURES,
    OUTCOMES,
    POLICIES,
    Estimate,
    Systems,
    simultaneous,
    study_of,
)
from printed import drawn, new_figure, save
from recommenders import plain
from scipy import stats
from second_round import LEAST_MISSING, QUERY_DRAWS

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta import Study
from ir_lexirecall.meta.missing_labels import without_labels

RECORDED = Path(__file__).with_name("missing_labels_recorded.json")
LENSKIT = Path(__file__).with_name("movielens_recorded.json")  # of diaz_2026.py
RIVALS = ["AP", "nDCG", "nDCG@10"]  # that lexirecall is compared with
SHARES = [0.5, 0.8]  # of every query's labels


# -- declared before any further collection was looked at ------------------------------------------


@dataclass(frozen=True)
class Declared:
    """A contrast of lexirecall and another measure, with its direction and the smallest effect that would matter.

    Attributes:
        direction: 1 for more, -1 for less.
        minus: the other measure; empty where lexirecall is compared with itself.
        than: policy and depth whose contrast is subtracted; none for a comparison with 0.
        teams: whether the contrast needs to know which runs are of one team.
    """

    outcome: str
    policy: str
    depth: int
    direction: int
    least: float
    minus: str = "AP"
    than: tuple[str, int] | None = None
    teams: bool = False

    def __str__(self) -> str:
        what = f"lexirecall - {self.minus}" if self.minus else "lexirecall"
        than = f"with {self.than[0]} of depth {self.than[1]}" if self.than else "0"
        less = "less" if self.direction < 0 else "more"
        return f"{OUTCOMES[self.outcome]}, {self.policy} of depth {self.depth}: {what} is {less} than {than}, by {self.least:g} at least"

    def verdict(self, found: Estimate) -> str:
        """Return the declared verdict: holds, fails, or cannot tell.

        It holds if the whole interval is beyond 0 and the estimate reaches the least effect. It fails if
        the whole interval is short of the least effect. `is_shown` asks for more.
        """
        low, high = sorted((self.direction * found.low, self.direction * found.high))
        if not np.isfinite([low, high]).all():
            return "cannot tell"
        if low > 0 and self.direction * found.value >= self.least:
            return "holds"
        return "fails" if high < self.least else "cannot tell"

    def is_shown(self, found: Estimate) -> bool:
        """Return whether the whole interval is beyond the least effect: the mirror image of "fails"."""
        return (
            min(self.direction * found.low, self.direction * found.high) >= self.least
        )


CONFIRMED = [
    Declared("decided", "pool", 10, -1, 0.03),
    Declared("decided", "pool", 30, -1, 0.03),
    Declared("decided", "pool", 100, -1, 0.02),
    Declared("decided", "pool", 10, -1, 0.05, minus="", than=("pool", 30)),
    Declared("decided", "random", 10, 1, 0.02),
    Declared("decided", "left out", 10, 1, 0.01, teams=True),
    Declared("lost", "random", 10, -1, 0.05),
    Declared("lost", "pool", 10, 1, 0.1, than=("random", 10)),
]
SEVERE = LEAST_MISSING  # share of missing labels from which "fails" says something about a measure


# -- collections -----------------------------------------------------------------------------------


def robust_2003(folder: Path) -> list[Systems]:
    """Old topics, which earlier tracks pooled, and new ones; runs of 1,000 documents."""
    columns = ["query_id", "iteration", "doc_id", "relevance"]
    qrels = pd.read_csv(
        folder / "qrels.txt.gz",
        sep=r"\s+",
        names=columns,
        dtype={"query_id": str, "doc_id": str},
    )
    new = qrels["query_id"].astype(int) > 600
    several = []
    for name, kind, some in (
        ("Robust 2003, old topics", "pooled for other runs", qrels[~new]),
        ("Robust 2003, new topics", "pooled for these runs and others", qrels[new]),
    ):
        judgments = Judgments.from_qrels(some.drop(columns="iteration"))
        several.append(
            of_equal_depth(
                name,
                kind,
                judgments,
                sorted((folder / "runs").iterdir()),
                lambda run: run,
            )
        )
    return several


def clef_2016(folder: Path) -> list[Systems]:
    """CLEF eHealth: shallow pools; the runs of a group begin with its name."""
    judgments = Judgments.from_qrels(str(folder / "relevance.qrels.gz"))
    files = sorted((folder / "runs").iterdir())
    return [
        of_equal_depth(
            "CLEF eHealth 2016",
            "shallow pools",
            judgments,
            files,
            lambda name: name.partition("_")[0],
        )
    ]


def of_equal_depth(
    name: str,
    kind: str,
    judgments: Judgments,
    files: list[Path],
    group: Callable[[str], str],
) -> Systems:
    """The runs of 1,000 documents."""
    runs = {
        file.name.removesuffix(".gz"): align(judgments, str(file)) for file in files
    }
    deep = {
        run: aligned for run, aligned in runs.items() if aligned.depth.max() == 1000
    }
    return Systems(name, kind, judgments, deep, {run: group(run) for run in deep})


def movielens(folder: Path) -> list[Systems]:
    """Held-out ratings as they are, and as a pool of depth 100 would have found them."""
    judgments, runs, groups = plain(folder)
    deep = Systems(
        "MovieLens, deep", "ratings, chosen by no pool", judgments, runs, groups
    )
    ranks = np.full(len(judgments.grade), np.iinfo(np.int64).max)
    for run in runs.values():
        np.minimum.at(ranks, run.doc, run.rank)
    pooled = without_labels(judgments, ranks > 100)
    again = {name: replace(run, judgments=pooled) for name, run in runs.items()}
    return [
        deep,
        Systems(
            "MovieLens, pooled",
            "the same, as far as a pool of depth 100 has them",
            pooled,
            again,
            groups,
        ),
    ]


COLLECTIONS: dict[str, Callable[[Path], list[Systems]]] = {
    "robust2003": robust_2003,
    "clef-ehealth-2016": clef_2016,
    "movielens-small": movielens,
}


def own(folder: Path, teams: Path | None = None) -> Systems:
    """Read ``qrels.txt.gz``, and ``runs/NAME.gz`` or one ``runs.gz`` of several tags, and the teams."""
    if not folder.is_dir():
        raise ValueError(f"{folder}: no such folder")
    if not (folder / "qrels.txt.gz").is_file():
        raise ValueError(f"{folder}: no qrels.txt.gz")
    judgments = Judgments.from_qrels(str(folder / "qrels.txt.gz"))
    if files := sorted((folder / "runs").glob("*.gz")):
        runs = {
            path.name.removesuffix(".gz"): align(judgments, str(path)) for path in files
        }
    elif (folder / "runs.gz").is_file():
        runs = {
            tag: align(judgments, run)
            for tag, run in sorted(by_tag(folder / "runs.gz").items())
        }
    else:
        raise ValueError(f"{folder}: neither runs/NAME.gz nor runs.gz")
    if len(runs) < 3:
        raise ValueError(f"{folder}: at least 3 runs are needed, not {len(runs)}")
    if teams is None:
        kind, groups = "every run a group", {name: name for name in runs}
    else:
        kind, groups = "groups are teams", team_of_each(teams, list(runs))
    return Systems(folder.resolve().name, kind, judgments, runs, groups)


def team_of_each(path: Path, runs: list[str]) -> dict[str, str]:
    """Return the team of each run, from a CSV file with the columns ``run`` and ``group``."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    missing_columns = [column for column in ("run", "group") if column not in table]
    if missing_columns:
        raise ValueError(
            f"{path}: no column '{missing_columns[0]}'; name columns run and group"
        )
    twice = table["run"][table["run"].duplicated()]
    if len(twice):
        raise ValueError(f"{path}: run '{twice.iloc[0]}' is named twice; keep one line")
    team = dict(zip(table["run"], table["group"], strict=True))
    without_team = [run for run in runs if not team.get(run)]
    if without_team:
        raise ValueError(
            f"{path}: run '{without_team[0]}' has no group; add a line for it"
        )
    return {run: team[run] for run in runs}


def by_tag(path: Path) -> dict[str, dict[str, dict[str, float]]]:
    """The runs of one file, told apart by their tag."""
    runs: dict[str, dict[str, dict[str, float]]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            try:
                query, _, document, _, text, tag = line.split()
                score = float(text)
            except ValueError:
                score = np.nan
            if not np.isfinite(score):
                raise ValueError(
                    f"{path}, line {number}: expected 'query Q0 document rank score tag', got {line.strip()!r}"
                )
            scores = runs.setdefault(tag, {}).setdefault(query, {})
            if document in scores:
                raise ValueError(
                    f"{path}, line {number}: run {tag}, query {query}: document {document} a second time"
                )
            scores[document] = score
    return runs


# -- the exploratory study -------------------------------------------------------------------------


def explored(systems: Systems, samples: int, n_resamples: int) -> dict[str, Any]:
    """All cells of a collection, contrasts with simultaneous intervals, the model's effects, and equal shares of labels, as plain values."""
    lost = study_of(systems, samples=samples, n_resamples=n_resamples)
    cells = [
        {
            "policy": policy,
            "depth": depth,
            "measure": measure,
            "removed": lost.removed[policy, depth],
            "significant": cell.significant,
            **{outcome: float(getattr(cell, outcome)[0]) for outcome in OUTCOMES},
        }
        for (policy, depth, measure), cell in lost.cells.items()
    ]
    places = list(dict.fromkeys((policy, depth) for policy, depth, _ in lost.cells))
    contrasts: list[dict[str, Any]] = []
    effects: list[dict[str, Any]] = []
    for outcome in ("lost", "decided"):
        for minus in RIVALS:
            values = {
                place: lost.values(outcome, *place, "lexirecall", minus)
                for place in places
            }
            errors = {
                place: lost.error(outcome, *place, "lexirecall", minus)
                for place in places
            }
            for (policy, depth), row in with_intervals(
                values, errors, lost.units
            ).items():
                contrasts.append(
                    {
                        "outcome": outcome,
                        "policy": policy,
                        "depth": depth,
                        "minus": minus,
                    }
                    | row
                )
            terms: dict[tuple[str, Any], Floats] = {}
            term_errors: dict[tuple[str, Any], float] = {}
            for policy in POLICIES:
                of_policy = [place for place in places if place[0] == policy]
                if len(of_policy) < 2:
                    continue
                doublings = np.log2([depth for _, depth in of_policy])
                doublings -= doublings.mean()
                for term, weights in {
                    "mean": np.full(len(of_policy), 1 / len(of_policy)),
                    "per doubling": doublings / (doublings**2).sum(),
                }.items():
                    terms[policy, term] = weights @ np.stack(
                        [values[place] for place in of_policy]
                    )
                    drawn_errors = weights * [errors[place] for place in of_policy]
                    term_errors[policy, term] = float(np.hypot.reduce(drawn_errors))
            for (policy, term), row in with_intervals(
                terms, term_errors, lost.units
            ).items():
                effects.append(
                    {"outcome": outcome, "policy": policy, "term": term, "minus": minus}
                    | row
                )
    of_shares = Study(
        ["lexirecall", "AP"], systems.judgments, systems.runs, progress=False
    ).stability(
        SHARES,
        policies=["random", "pool"],
        groups=systems.groups,
        contrasts=[("lexirecall", "AP")],
        n_samples=samples,
        n_resamples=n_resamples,
    )
    of_shares = of_shares[
        [
            "policy",
            "fraction",
            "measure",
            "minus",
            "decided",
            "decided_low",
            "decided_high",
        ]
    ]
    told = {
        "told": systems.told(),
        "runs": len(systems.runs),
        "nothing": [list(place) for place in lost.nothing],
    }
    tables = {
        "cells": cells,
        "contrasts": contrasts,
        "effects": effects,
        "shares": of_shares.to_dict("records"),
    }
    return told | tables


def with_intervals(
    values: dict[tuple[str, Any], Floats],
    errors: dict[tuple[str, Any], float],
    units: int,
) -> dict[tuple[str, Any], dict[str, Any]]:
    """Simultaneous intervals, the error that is due to draws, and whether it could change on which side of 0 an interval is."""
    return {
        place: vars(found)
        | {
            "error": errors[place],
            "draws": found.depends_on_draws(lambda moved: moved.side, errors[place]),
        }
        for place, found in zip(
            values, simultaneous(list(values.values()), units), strict=True
        )
    }


def rounded(plain_values: Any) -> Any:
    """Numbers of six digits, for a file."""
    if isinstance(plain_values, dict):
        return {key: rounded(value) for key, value in plain_values.items()}
    if isinstance(plain_values, list):
        return [rounded(value) for value in plain_values]
    return round(plain_values, 6) if isinstance(plain_values, float) else plain_values


DRAWS = "* two standard errors of the draws of labels could change on which side of 0"


def tell(found: dict[str, Any]) -> None:
    """Print one collection: conclusions first, decisions second, contrasts, and the model's effects."""
    cells = pd.DataFrame(found["cells"])
    print(f"\n{found['told']}")
    if found["nothing"]:
        print(
            f"  No cells where nothing is missing: {', '.join(f'{policy} {depth}' for policy, depth in found['nothing'])}"
        )
    by = {"index": ["policy", "depth"], "columns": "measure"}
    order = list(
        dict.fromkeys(cells[["policy", "depth"]].itertuples(index=False, name=None))
    )
    cells["text"] = [
        f"{row.significant}: {row.lost:.3f}, {row.turned:.3f}"
        for row in cells.itertuples(index=False)
    ]
    print(
        "\n  Conclusions with all labels, and the shares of them that are lost and turned round; share of labels missing\n"
    )
    removed = (
        cells.drop_duplicates(["policy", "depth"])
        .set_index(["policy", "depth"])["removed"]
        .round(3)
    )
    table = cells.pivot(**by, values="text").loc[order, MEASURES]
    table.insert(0, "missing", removed.loc[order])
    print(table.to_string())
    print("\n  Decisions kept, of those that are no ties\n")
    print(cells.pivot(**by, values="decided").loc[order, MEASURES].round(3).to_string())
    contrasts = pd.DataFrame(found["contrasts"])
    effects = pd.DataFrame(found["effects"])
    for table in (contrasts, effects):
        estimates = [
            f"{Estimate(row.value, row.low, row.high)}{'*' if row.draws else ' '}"
            for row in table.itertuples(index=False)
        ]
        table["text"] = estimates
    for outcome in ("lost", "decided"):
        some = contrasts[contrasts["outcome"] == outcome]
        print(
            f"\n  {OUTCOMES[outcome]}: lexirecall minus another measure, simultaneous 95% intervals; {DRAWS}\n"
        )
        columns = {"index": ["policy", "depth"], "columns": "minus", "values": "text"}
        print(some.pivot(**columns).loc[order, RIVALS].to_string())
        some = effects[(effects["outcome"] == outcome) & (effects["minus"] == "AP")]
        print(
            f"\n  {OUTCOMES[outcome]}, lexirecall minus AP: the model's mean over depths, and slope per doubling of the depth\n"
        )
        print(
            some.pivot(index="policy", columns="term", values="text")
            .reindex(list(POLICIES))
            .to_string()
        )
    shares = pd.DataFrame(found["shares"])
    shares["measure"] = np.where(shares["minus"] == "", shares["measure"], "difference")
    shares["text"] = [
        str(Estimate(row.decided, row.decided_low, row.decided_high))
        if row.minus
        else f"{row.decided:.3f} [{row.decided_low:.3f}, {row.decided_high:.3f}]"
        for row in shares.itertuples(index=False)
    ]
    print(
        "\n  Decisions kept where equal shares of every query's labels are missing; 95% intervals, each alone\n"
    )
    print(
        shares.pivot(
            index=["policy", "fraction"], columns="measure", values="text"
        ).to_string()
    )


def depth_for(cells: pd.DataFrame, measure: str, outcome: str, enough: float) -> str:
    """The smallest depth of a pool at which a measure keeps enough."""
    some = cells[
        (cells["policy"] == "pool") & (cells["measure"] == measure)
    ].sort_values("depth")
    kept = some["decided"] if outcome == "decided" else 1 - some["lost"]
    reached = some["depth"][(kept >= enough).to_numpy()]
    return str(int(reached.iloc[0])) if len(reached) else f"over {some['depth'].max()}"


def sentences(several: dict[str, dict[str, Any]]) -> list[str]:
    """What the study says, collection by collection counted."""
    said = []
    contrasts = pd.concat(
        [
            pd.DataFrame(found["contrasts"]).assign(collection=name)
            for name, found in several.items()
        ]
    )
    of_ap = contrasts[contrasts["minus"] == "AP"]
    for outcome in ("lost", "decided"):
        for policy in POLICIES:
            some = of_ap[(of_ap["outcome"] == outcome) & (of_ap["policy"] == policy)]
            above, below = int((some["low"] > 0).sum()), int((some["high"] < 0).sum())
            said.append(
                f"{OUTCOMES[outcome]}, {policy}: lexirecall - AP {some['value'].min():+.3f} to {some['value'].max():+.3f}; of {len(some)} intervals "
                f"{above} are above 0, {below} below, {len(some) - above - below} cannot tell; {int(some['draws'].sum())} depend on the draws"
            )
    for name, found in several.items():
        cells = pd.DataFrame(found["cells"])
        depths = {
            outcome: ", ".join(
                f"{measure} {depth_for(cells, measure, outcome, 0.9)}"
                for measure in MEASURES[:3]
            )
            for outcome in ("decided", "lost")
        }
        said.append(
            f"{name}: 90% of decisions are kept from pool depth {depths['decided']}; of conclusions from {depths['lost']}"
        )
    shares = pd.concat([pd.DataFrame(found["shares"]) for found in several.values()])
    for (policy, fraction), some in shares[shares["minus"] == "AP"].groupby(
        ["policy", "fraction"]
    ):
        above, below = (
            int((some["decided_low"] > 0).sum()),
            int((some["decided_high"] < 0).sum()),
        )
        said.append(
            f"decisions kept, {fraction:.0%} of every query's labels missing, {policy}: lexirecall - AP {some['decided'].min():+.3f} to "
            f"{some['decided'].max():+.3f}; of {len(some)} intervals {above} are above 0, {below} below (each alone)"
        )
    said.append(of_lenskit())
    cells = pd.concat([pd.DataFrame(found["cells"]) for found in several.values()])
    cells = cells[cells["policy"] != "left out"]
    turned = (cells["turned"] * cells["significant"]).sum() / cells["significant"].sum()
    said.append(
        f"Conclusions turned into their significant opposite: {turned:.3%} of all, over policies, depths and measures"
    )
    return said


def of_lenskit() -> str:
    """What other recommenders keep, as ``diaz_2026.py`` recorded it: ties count as decisions, and there are no intervals."""
    degraded = json.loads(LENSKIT.read_text(encoding="utf-8"))["kinds"][
        "MovieLens, deep"
    ]["degraded"]["random"]
    kept = pd.DataFrame(degraded).pivot(
        index="fraction", columns="measure", values="agreement"
    )
    told = [
        f"{fraction:.0%} missing: "
        + ", ".join(
            f"{measure} {kept.loc[fraction, measure]:.3f}" for measure in MEASURES[:3]
        )
        for fraction in (0.5, 0.9)
    ]
    return f"MovieLens, seven recommenders of LensKit (recorded, ties included, no intervals), random, {'; '.join(told)}"


LIMITS = """  exploratory: these collections had been looked at; five sets of labels from three sources; groups are 5 or 6 but for
  Robust 2003, so that intervals over groups are rough; labels are taken from those that pools had chosen before (but for MovieLens, deep)"""


# -- the confirmation ------------------------------------------------------------------------------


NOTES = """  TREC DL 2021 passage was looked at while the script was tested: it cannot confirm"""
WITHDRAWN = "withdrawn: its groups were runs, those of the exploration were teams"


def contrast_of(row: dict[str, Any]) -> Declared:
    """Return the declared contrast that a recorded row belongs to."""
    return next(contrast for contrast in CONFIRMED if str(contrast) == row["contrast"])


def is_withdrawn(row: dict[str, Any], found: dict[str, Any]) -> bool:
    """Return whether a row tests something else than what was declared: runs in place of teams."""
    return contrast_of(row).teams and "every run a group" in found["told"]


def share_missing(row: dict[str, Any], found: dict[str, Any]) -> float | None:
    """Return the share of labels that are missing for a contrast; None if it was not recorded."""
    contrast = contrast_of(row)
    if contrast.policy == "left out":
        return None
    return found.get("missing", {}).get(str(contrast.depth))


def counted(tables: Iterable[list[dict[str, Any]]]) -> dict[str, int]:
    """Return how many contrasts hold, fail, cannot be decided, and were skipped."""
    counts = Counter(row["verdict"] for rows in tables for row in rows)
    return {
        verdict: counts[verdict]
        for verdict in ("holds", "fails", "cannot tell", "skipped")
    }


def count_sentence(counts: dict[str, int]) -> str:
    """Return the counts as a clause: "4 hold, 16 fail, 3 cannot be decided"."""
    holding = "holds" if counts["holds"] == 1 else "hold"
    failing = "fails" if counts["fails"] == 1 else "fail"
    return (
        f"{counts['holds']} {holding}, {counts['fails']} {failing}, "
        f"{counts['cannot tell']} cannot be decided"
    )


def over_collections(values: list[float]) -> Estimate:
    """Return the mean of one contrast over collections, with its t interval."""
    x = np.array(values)
    half = stats.t.ppf(0.975, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x))
    return Estimate(float(x.mean()), float(x.mean() - half), float(x.mean() + half))


def confirmation_sentences(record: dict[str, Any]) -> list[str]:
    """Return what the recorded confirmation says, counted and computed from its rows."""
    confirmed = record["confirmed"]
    counts = counted(found["rows"] for found in confirmed.values())
    tested = sum(counts.values()) - counts["skipped"]
    sentences = [
        f"Of {tested} tests on {len(confirmed)} collections, {count_sentence(counts)}."
    ]
    withdrawn = sum(
        is_withdrawn(row, found)
        for found in confirmed.values()
        for row in found["rows"]
    )
    if withdrawn:
        sentences.append(
            f"{withdrawn} of these tests are withdrawn: their groups were runs, those of the "
            "exploration were teams."
        )
    teams = counted(
        found["teams"]["rows"] for found in confirmed.values() if "teams" in found
    )
    if any(teams.values()):
        sentences.append(f"With teams as groups, {count_sentence(teams)}.")
    mild = [
        name
        for name, found in confirmed.items()
        if max(found.get("missing", {}).values(), default=1.0) < SEVERE
    ]
    if mild:
        sentences.append(
            f"Fewer than {SEVERE:.0%} of the labels are missing on {', '.join(mild)}: failing there "
            "says that little was taken away."
        )
    for contrast in CONFIRMED:
        rows = [row for found in confirmed.values() for row in found["rows"]]
        values = [
            row["value"]
            for row in rows
            if row["contrast"] == str(contrast) and "value" in row
        ]
        if len(values) > 2 and not contrast.teams:
            estimate = over_collections(values)
            sentences.append(f"Over {len(values)} collections, {contrast}: {estimate}.")
    return sentences


def tell_pools_by_runs(rows: list[dict[str, Any]]) -> None:
    """Print decisions kept from a pool of depth 10 that is formed by one run of each of N teams."""
    table = pd.DataFrame(rows).rename(
        columns={"lexirecall": "LR", "difference": "LR - AP"}
    )
    columns = [
        "collection",
        "runs",
        "missing",
        "LR",
        "AP",
        "LR - AP",
        "least",
        "largest",
    ]
    print(
        "\nPools of depth 10 by the number of runs (one run of each team, 8 draws of runs)"
    )
    print(table[columns].to_string(index=False))


def tell_recorded(confirmed: dict[str, Any]) -> None:
    """Print the verdicts on the declared contrasts, a row per contrast and a column per collection."""
    table = pd.DataFrame(index=pd.RangeIndex(1, len(CONFIRMED) + 1, name="contrast"))
    for name, found in confirmed.items():
        print(f"\n{found['told']}; {of_sizes(found['sizes'])}")
        table[name] = [told_briefly(row) for row in found["rows"]]
        shares = [share_missing(row, found) for row in found["rows"]]
        table[f"{name}: missing"] = ["" if x is None else f"{x:.2f}" for x in shares]
    print(
        "\nVerdicts on the declared contrasts, by number, and the share of labels missing\n"
    )
    print(table.to_string())
    print("  small: beyond 0, but surely below the least effect")
    print("  °: beyond 0, but the interval reaches below the least effect")
    print("  *: two standard errors of the draws could change it")
    print(f"  contrast 6 is {WITHDRAWN}")


def told_briefly(row: dict[str, Any]) -> str:
    """Return the verdict on a contrast and its estimate."""
    if row["verdict"] == "skipped":
        return verdict_of(row)
    return f"{verdict_of(row)} {Estimate(row['value'], row['low'], row['high'])}"


def verdict_of(row: dict[str, Any]) -> str:
    """Return the verdict on a contrast, marked if the effect is small or the draws could change it."""
    if row["verdict"] == "skipped":
        return "skipped"
    estimate = Estimate(row["value"], row["low"], row["high"])
    size = ", small" if row["too_small"] else ""
    if row["verdict"] == "holds" and not contrast_of(row).is_shown(estimate):
        size = "°"
    return f"{row['verdict']}{size}{'*' if row['depends_on_draws'] else ''}"


def of_sizes(sizes: dict[str, int]) -> str:
    """How much was drawn."""
    return f"draws of labels: {sizes['samples']}, resamples: {sizes['n_resamples']:,}"


# -- pictures --------------------------------------------------------------------------------------

COLOURS = {"pool": "tab:red", "random": "tab:blue", "reverse": "tab:green"}


def figure(
    several: dict[str, dict[str, Any]], plots: Path | None, ending: str = "svg"
) -> None:
    """Decisions kept by depth: a panel per collection; lexirecall solid, AP dashed; a colour per policy."""
    panels = np.atleast_1d(
        new_figure(1 + 2.2 * len(several), 3).subplots(1, len(several), sharey=True)
    )
    for axes, (name, found) in zip(panels, several.items(), strict=True):
        cells = pd.DataFrame(found["cells"])
        for policy, colour in COLOURS.items():
            for measure, style in {"lexirecall": "-", "AP": "--"}.items():
                some = cells[
                    (cells["policy"] == policy) & (cells["measure"] == measure)
                ]
                axes.plot(
                    some["depth"],
                    some["decided"],
                    style,
                    color=colour,
                    label=f"{policy}, {measure}",
                )
        axes.set_xscale("log", base=10)
        axes.set_xticks(some["depth"].tolist(), [str(depth) for depth in some["depth"]])
        axes.minorticks_off()
        axes.set_title(name.replace(", ", ",\n"), fontsize=9)
        axes.set_xlabel("depth of the pool", fontsize=9)
    panels[0].set_ylabel("decisions kept")
    handles, labels = panels[0].get_legend_handles_labels()
    panels[0].figure.legend(
        handles, labels, loc="outside lower center", ncols=3, fontsize=8
    )
    save(panels[0], plots, "missing_labels", ending)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line."""
    options = parsed_options(arguments)
    record = read_record()
    if options.confirm:
        confirm_folders(options, record)
    elif options.data:
        record |= explored_collections(options)
    if options.record:
        RECORDED.write_text(json.dumps(record) + "\n", encoding="utf-8")
    if not options.confirm:
        tell_everything(record, options)


def parsed_options(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        "data",
        type=Path,
        nargs="?",
        help=f"folder with some of {', '.join(COLLECTIONS)}",
    )
    add(
        "--confirm",
        type=Path,
        nargs="+",
        metavar="FOLDER",
        help="test the second declaration on these collections",
    )
    add(
        "--groups",
        type=Path,
        metavar="CSV",
        help="with one FOLDER: the team of each run",
    )
    add("--samples", type=int, help="draws of labels (default: 3; 20 with --confirm)")
    add(
        "--resamples",
        type=int,
        help=f"of the bootstrap (default: 300; 10,000 with --confirm, {QUERY_DRAWS} a draw of teams)",
    )
    add("--full", action="store_true", help="20 draws of labels, 2,000 resamples")
    add("--record", action="store_true", help="keep what comes out beside the script")
    add("--plots", type=Path, metavar="FOLDER", help="draw the figure into this folder")
    options = parser.parse_args(arguments)
    if options.groups and len(options.confirm or []) != 1:
        parser.error(
            "--groups needs --confirm with one folder; others read FOLDER/groups.csv"
        )
    return options


def read_record() -> dict[str, Any]:
    """Return what was recorded beside the script."""
    empty: dict[str, Any] = {"explored": {}, "confirmed": {}, "by_runs": []}
    if not RECORDED.exists():
        return empty
    recorded: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return recorded


def confirm_folders(options: argparse.Namespace, record: dict[str, Any]) -> None:
    """Test the second declaration on each folder, print verdicts, and put them into the record."""
    samples = options.samples or 20
    blocks = max(1, (options.resamples or 10_000) // QUERY_DRAWS)
    several = record.setdefault("second", {})
    for folder in options.confirm:
        teams = options.groups
        if teams is None and (folder / "groups.csv").is_file():
            teams = folder / "groups.csv"
        try:
            systems = own(folder, teams)
        except ValueError as error:
            raise SystemExit(str(error)) from None
        except (OSError, EOFError) as error:  # no gzip, or part of one
            raise SystemExit(f"{folder}: {error}") from None
        found = rounded(second_round.confirm(systems, samples=samples, blocks=blocks))
        second_round.tell(found)
        several[systems.name] = found
    second_round.tell_combined(several)


def explored_collections(options: argparse.Namespace) -> dict[str, Any]:
    """Return the exploratory study of the collections that the folder has."""
    sizes = {"samples": options.samples or 3, "n_resamples": options.resamples or 300}
    if options.full:
        sizes = {"samples": 20, "n_resamples": 2000}
    several = {}
    for name, make in COLLECTIONS.items():
        if (options.data / name).is_dir():
            for systems in make(options.data / name):
                several[systems.name] = explored(systems, **sizes)
    return {"explored": rounded(several), "sizes": sizes}


def tell_everything(record: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the exploratory study, the confirmation, and what is declared for further collections."""
    print("Policies: which labels are missing, at a depth")
    for name, text in POLICIES.items():
        print(f"  {name}: {text}")
    several = record["explored"]
    if not options.data:
        print(f"\nRecorded numbers, not computed now ({of_sizes(record['sizes'])})")
    for found in several.values():
        tell(found)
    print("\nWhat holds on these collections (exploratory)")
    for sentence in sentences(several):
        print(f"  {sentence}")
    print(f"Limits\n{LIMITS}")
    print("\nDeclared before the collections of the confirmation were looked at")
    for contrast in CONFIRMED:
        print(f"  {contrast}")
    print(NOTES)
    if record["confirmed"]:
        tell_recorded(record["confirmed"])
        print("\nWhat the confirmation says")
        for sentence in confirmation_sentences(record):
            print(f"  {sentence}")
    if record.get("by_runs"):
        tell_pools_by_runs(record["by_runs"])
    print("\nDeclared for --confirm, before any further collection is looked at")
    second_round.tell_declared()
    if record.get("second"):
        for found in record["second"].values():
            second_round.tell(found)
        second_round.tell_combined(record["second"])
    else:
        print("  Not tested yet on any collection.")
    if drawn(options.plots):
        figure(several, options.plots)


if __name__ == "__main__":
    main()
