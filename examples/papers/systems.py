"""Section 6 of Diaz et al. on real systems, for ``diaz_2026.py``: Figures 10 to 15 on Robust 2003, and on recommenders of MovieLens.

What the recommenders give was recorded, with how it was made, so that it can be read where LensKit is not installed.

The section's claims, as far as they are known here, for recommendation and retrieval apart (deep: more than 1,000 documents, standard: more than 100):

- Figure 10: with lexirecall, R@1000 agrees most (1) at every depth, and perfectly (2) where rankings are standard or shallow; nDCG's agreement
  increases with depth, towards R@1000's (3); RP and AP lie between (4); RR and nDCG@10 agree least (5).
- Figure 11: R@1000 and RP tie much more than lexirecall (6); AP and nDCG about as often (7).
- Figure 12, Section 6.2.3: of deep rankings lexirecall tells more pairs apart than R@1000 and RP (8), "losing this power as retrieval depth decreases" (9).
- Figure 13, Section 6.2.3: by Tukey's HSD it is clearly ahead of them for deep rankings (10), less so for shallow ones (11).
- Figure 14: it ties less than they at every share of labels removed (12).
- Figure 15: retrieval: it keeps as many decisions as they, or more (13); recommendation: they keep as many as it, or more (14).
- Without a figure: R@1000 keeps fewer decisions where the labels go that the fewest systems retrieve (15).

Of the others of its claims, and of the subsections of (1) to (7) and (12) to (15), nothing is known here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from printed import Printed, drawn, save
from recommenders import cut, movielens
from scipy import stats
from worst_cases import worst_cases

from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta import Study, plot
from ir_lexirecall.significance import SignificanceTest, corrected

MEASURES = ["lexirecall", "R@1000", "Rprec", "AP", "nDCG", "nDCG@10", "RR"]
POLICIES = {"random": "drawn at random", "frequency": "retrieved by the fewest systems first"}
SHARES = [0.1, 0.3, 0.5, 0.7, 0.9]
FIGURES = {
    "ties": ("Figure 14", "ties"),
    "agreement": ("Figure 15", "decisions as with all labels"),
}
TESTS = {"sign": "sign", "t": "t", "Tukey HSD": "tukey"}
RECORDED = Path(__file__).with_name("movielens_recorded.json")
_COMPARABLE = 0.02  # shares of decisions that differ by no more


@dataclass(frozen=True)
class Measured:
    """What Figures 10 to 15 show of some systems.

    Attributes:
        kind: of the lists, in words.
        systems: how many.
        compared: a row per measure: ``agreement`` with lexirecall, ``ties``, and by test the significant pairs.
        degraded: by policy, a row per measure and share of labels removed: ``measure``, ``fraction``, ``ties``, ``agreement``.
    """

    kind: str
    systems: int
    compared: pd.DataFrame
    degraded: dict[str, pd.DataFrame]

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        degraded = {
            policy: table.round(6).to_dict("list") for policy, table in self.degraded.items()
        }
        return {
            "systems": self.systems,
            "compared": json.loads(self.compared.round(6).to_json()),
            "degraded": degraded,
        }

    @classmethod
    def from_json(cls, kind: str, plain: dict[str, Any]) -> Measured:
        """What ``as_json`` made."""
        degraded = {policy: pd.DataFrame(table) for policy, table in plain["degraded"].items()}
        return cls(kind, plain["systems"], pd.DataFrame(plain["compared"]).astype(float), degraded)


def significant(judgments: Judgments, runs: dict[str, AlignedRun], resamples: int) -> pd.DataFrame:
    """Significant pairs by test, of every measure; Holm over all pairs, which Tukey's HSD does not need."""
    columns = {}
    study = Study(MEASURES, judgments, runs, progress=False)
    for name, test in TESTS.items():
        table = study.discriminative_power(
            test=SignificanceTest(test, n_resamples=resamples, progress=False)
        )
        columns[name] = table.set_index("measure")["significant"]
    columns["t"]["lexirecall"] = students_t(judgments, runs)
    return pd.DataFrame(columns)


def students_t(judgments: Judgments, runs: dict[str, AlignedRun]) -> int:
    """Pairs that Student's t with Holm tells apart by wins and losses of lexirecall; the library's t takes the exact sign test there."""
    signs = Study(["lexirecall"], judgments, runs).signs("lexirecall").astype(np.float64)
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # of pairs that one run wins everywhere, p is 0
        p = stats.ttest_1samp(signs, 0, axis=1).pvalue
    return int(corrected(np.where(np.isnan(p), 1, p), "holm", 0.05)[1].sum())


def measure(
    kind: str,
    judgments: Judgments,
    runs: dict[str, AlignedRun],
    options: Any,
    *,
    labels: bool = True,
) -> Measured:
    """Compute Figures 10 to 13 and, with ``labels``, 14 and 15."""
    study = Study(MEASURES, judgments, runs, progress=False)
    alike = study.agreement()
    alike = alike[alike["measure_b"] == "lexirecall"].set_index("measure_a")["agreement"]
    tied_table = Study([*MEASURES, "TSE"], judgments, runs, progress=False).ties()
    tied = tied_table.groupby("measure", sort=False)[["pairs", "ties"]].sum()
    counted = significant(judgments, runs, options.resamples)
    compared = pd.DataFrame({"agreement": alike, "ties": tied["ties"] / tied["pairs"]}).join(
        counted
    )
    degraded = {}
    for policy in POLICIES if labels else ():
        degraded[policy] = study.degrade(
            SHARES, policy=policy, n_samples=options.samples, aggregate=True
        )
    if drawn(options.plots):
        name = f"diaz_2026_{kind.replace(', ', '_')}"
        save(plot(tied_table), options.plots, f"{name}_figure_11")
        if labels:
            save(plot(degraded["random"]), options.plots, f"{name}_figures_14_and_15")
    return Measured(kind, len(runs), compared.loc[[*MEASURES, "TSE"]], degraded)


def tell(found: Measured, count: Printed) -> None:
    """Print the figures' numbers, and check what the text says of them."""
    figures_10_to_13(found, count)
    if found.degraded:
        figures_14_and_15(found, count)


def figures_10_to_13(found: Measured, count: Printed) -> None:
    kind, table = found.kind, found.compared
    pairs = found.systems * (found.systems - 1) // 2
    holm = table["t"].copy()
    holm["lexirecall"] = table.loc["lexirecall", "sign"]
    shown = pd.DataFrame(
        {
            "agreement (Fig. 10)": table["agreement"],
            "ties (Fig. 11)": table["ties"],
            "Holm (Fig. 12)": holm.astype("Int64"),
            "Tukey HSD (Fig. 13)": table["Tukey HSD"].astype("Int64"),
        }
    )
    print(
        f"\nFigures 10 to 13, {kind}: agreement with lexirecall (its ties stay in the denominator), share of ties, and of"
    )
    print(
        f"  {pairs} pairs of runs those with p < .05 (t, lexirecall: binomial, with Holm; randomised Tukey HSD)"
    )
    print(shown.to_string(float_format=lambda share: f"{share:.4f}", na_rep=""))
    print(
        f"\n  {kind}: significant pairs by the same test for lexirecall and for measures (of lexirecall, t: Student's of its wins and"
    )
    print("  losses; Tukey HSD: of its mean preference over all other runs)")
    print(table.loc[MEASURES, list(TESTS)].astype(int).to_string())
    alike, tied = table["agreement"], table["ties"]
    count.claim(
        f"Figure 10, {kind}: R@1000 agrees most with lexirecall", alike["R@1000"] == alike.max()
    )
    if "deep" not in kind:
        count.claim(f"Figure 10, {kind}: R@1000 agrees perfectly", alike["R@1000"] == 1)
    least = alike[["RR", "nDCG@10"]]
    count.claim(
        f"Figure 10, {kind}: RP and AP lie between nDCG, and RR and nDCG@10 "
        f"({alike['nDCG']:.3f}; {alike['AP']:.3f}, {alike['Rprec']:.3f}; {least.max():.3f})",
        least.max() < alike[["Rprec", "AP"]].min() and alike[["Rprec", "AP"]].max() < alike["nDCG"],
    )
    count.claim(
        f"Figure 10, {kind}: RR and nDCG@10 agree least",
        least.max() < alike.drop(list(least.index)).min(),
    )
    count.claim(
        f"Figure 11, {kind}: R@1000 and RP tie much more than lexirecall",
        tied[["R@1000", "Rprec"]].min() > 3 * tied["lexirecall"],
    )
    count.claim(
        f"Figure 11, {kind}: AP and nDCG tie about as often as lexirecall",
        np.allclose(tied[["AP", "nDCG"]], tied["lexirecall"], atol=0.005),
    )
    ours = table.loc["lexirecall", list(TESTS)].astype(int)
    others = table.loc[["R@1000", "Rprec"], list(TESTS)].max().astype(int)
    words = {1: "ahead", 0: "level", -1: "behind"}
    verdicts = (
        f"{test} {ours[test]} : {others[test]}, {words[int(np.sign(ours[test] - others[test]))]}"
        for test in TESTS
    )
    print(f"  lexirecall and the better one of R@1000 and RP: {'; '.join(verdicts)}")
    if "deep" in kind:  # the paper claims a lead for no others
        count.claim(
            f"Figure 12, Section 6.2.3, {kind}: lexirecall (sign test) tells more pairs apart than R@1000 and RP (t)",
            ours["sign"] > others["t"],
        )
        count.claim(
            f"Figure 13, Section 6.2.3, {kind}: so it does by Tukey's HSD",
            ours["Tukey HSD"] > others["Tukey HSD"],
        )


def by_depth(domain: str, several: list[Measured], count: Printed) -> None:
    """Check what the text says of depth, on the same systems cut less and less; the shallowest come first."""
    kinds = ", ".join(found.kind.removeprefix(f"{domain}, ") for found in several)
    alike = [found.compared.loc["nDCG", "agreement"] for found in several]
    count.claim(
        f"Figure 10, {domain}: nDCG's agreement with lexirecall increases with depth "
        f"({kinds}: {', '.join(f'{share:.3f}' for share in alike)})",
        all(np.diff(alike) > 0),
    )
    for figure, (mine, theirs) in {
        "Figure 12": ("sign", "t"),
        "Figure 13": ("Tukey HSD", "Tukey HSD"),
    }.items():
        lead = [
            int(
                found.compared.loc["lexirecall", mine]
                - found.compared.loc[["R@1000", "Rprec"], theirs].max()
            )
            for found in several
        ]
        count.claim(
            f"{figure}, Section 6.2.3, {domain}: the lead over R@1000 and RP shrinks as depth decreases "
            f"({kinds}: {', '.join(f'{pairs:+d}' for pairs in lead)} pairs)",
            lead[0] < lead[-1],
        )


def figures_14_and_15(found: Measured, count: Printed) -> None:
    """What remains of the decisions where relevant documents lose their labels."""
    kind = found.kind
    pivots = {}
    for policy, text in POLICIES.items():
        for column, (figure, shows) in FIGURES.items():
            table = (
                found.degraded[policy]
                .pivot(index="measure", columns="fraction", values=column)
                .loc[MEASURES]
            )
            pivots[policy, column] = table
            which = figure if policy == "random" else "No figure"
            print(f"\n{which}, {shows}, {kind}, by the share of relevant labels removed, {text}")
            print(table.round(3).to_string())
    tied, kept = pivots["random", "ties"], pivots["random", "agreement"]
    count.claim(
        f"Figure 14, {kind}: lexirecall ties less than R@1000 and RP at every share of labels removed",
        (tied.loc["lexirecall"] < tied.loc[["R@1000", "Rprec"]].min()).all(),
    )
    half = ", ".join(
        f"{name} {kept.loc[name, 0.5]:.3f}" for name in ("Rprec", "R@1000", "lexirecall")
    )
    if "MovieLens" in kind:
        count.claim(
            f"Figure 15, {kind}: RP and R@1000 keep as many decisions as lexirecall, or more (half removed: {half})",
            (kept.loc[["Rprec", "R@1000"]] >= kept.loc["lexirecall"] - _COMPARABLE).all(axis=None),
        )
    else:
        count.claim(
            f"Figure 15, {kind}: lexirecall keeps as many decisions as R@1000 and RP, or more (half removed: {half})",
            (kept.loc["lexirecall"] >= kept.loc[["Rprec", "R@1000"]].max() - _COMPARABLE).all(),
        )
        by_frequency, at_random = (
            pivots[policy, "agreement"].loc["R@1000", 0.5] for policy in ("frequency", "random")
        )
        count.claim(
            f"No figure, {kind}: R@1000 keeps fewer decisions where the labels go that the fewest systems retrieve "
            f"(half removed: {by_frequency:.3f}; at random {at_random:.3f})",
            by_frequency < at_random,
        )


NO_DEEP_RUNS = "no runs of more than 1,000 documents are at hand"


def robust_2003(options: Any, count: Printed) -> None:
    folder = options.data / "robust2003"
    judgments = Judgments.from_qrels(str(folder / "qrels.txt.gz"))
    runs = {
        file.name.removesuffix(".gz"): align(judgments, str(file))
        for file in sorted((folder / "runs").iterdir())
    }
    print(f"\nTREC 2003 Robust: {len(runs)} runs, {len(judgments)} topics.")
    standard = measure("standard", judgments, runs, options)
    tell(standard, count)
    deep = {name: run for name, run in runs.items() if run.depth.max() == 1000}
    without = significant(judgments, deep, options.resamples)
    pairs = len(deep) * (len(deep) - 1) // 2
    print(
        f"\n  Without the {len(runs) - len(deep)} runs of fewer than 1,000 documents, of {pairs} pairs, lexirecall : R@1000"
    )
    print(
        "    "
        + ", ".join(
            f"{test} {without.loc['lexirecall', test]} : {without.loc['R@1000', test]}"
            for test in TESTS
        )
    )
    shallow = measure(
        "shallow",
        judgments,
        {name: cut(run, 100) for name, run in runs.items()},
        options,
        labels=False,
    )
    tell(shallow, count)
    by_depth("retrieval", [shallow, standard], count)
    for text in (
        "Figure 10, deep: R@1000 agrees most with lexirecall",
        "Figure 12, Section 6.2.3, deep: lexirecall tells more pairs apart than R@1000 and RP",
        "Figure 13, Section 6.2.3, deep: so it does by Tukey's HSD",
    ):
        count.cannot_tell(text, NO_DEEP_RUNS)
    both = worst_cases(["AP", "nDCG", "RBP(p=0.8)"], dict(list(runs.items())[:2]))
    gap = both[["user", "provider"]].sub(both["closed_form"], axis=0).abs().to_numpy().max()
    print(
        f"\nEquations 4 and 6: worst-off users and providers by enumeration, {len(both)} cases of at most 8 relevant documents:"
    )
    print(f"  largest difference to e(p_m): {gap:.1e}")
    count.claim(
        "Equations 4 and 6: the worst-off user and the worst-off provider get e(p_m)", gap < 1e-12
    )


def no_runs(count: Printed) -> None:
    """Say which claims need runs."""
    for figure, text in {
        "Figure 10": "R@1000 agrees most with lexirecall, RR and nDCG@10 least; nDCG's agreement increases with depth",
        "Figure 11": "R@1000 and RP tie much more than lexirecall, AP and nDCG about as often",
        "Figure 12, Section 6.2.3": "lexirecall tells more pairs apart than R@1000 and RP on deep rankings, fewer as depth decreases",
        "Figure 13, Section 6.2.3": "so it does by Tukey's HSD",
        "Figure 14": "lexirecall ties less than R@1000 and RP at every share of labels removed",
        "Figure 15": "lexirecall keeps as many decisions as R@1000 and RP, or more",
        "No figure": "R@1000 keeps fewer decisions where the labels go that the fewest systems retrieve",
    }.items():
        count.cannot_tell(f"{figure}, retrieval: {text}", "no runs of retrieval systems were given")


# -- recommenders ----------------------------------------------------------------------------------


def recommendation(options: Any, count: Printed) -> None:
    """Train LensKit's recommenders, and tell what their lists give."""
    judgments, runs = movielens(options.data / "movielens-small", users=options.users)
    films = ", ".join(f"{name} {int(np.median(run.depth))}" for name, run in runs.items())
    print(
        f"\nMovieLens: {len(judgments)} users, {int(judgments.m().sum())} relevant films; {len(runs)} recommenders of LensKit,"
    )
    print(f"  which list, in the median, this many films: {films}.")
    several = []
    for kind, depth in {"deep": None, "standard": 1000, "shallow": 100}.items():
        lists = runs if depth is None else {name: cut(run, depth) for name, run in runs.items()}
        several.append(measure(f"MovieLens, {kind}", judgments, lists, options))
        tell(several[-1], count)
    by_depth("MovieLens", several[::-1], count)
    if options.record:
        how = {
            "command": "python examples/papers/diaz_2026.py DATA --full --record",
            "data": f"movielens-small: {len(judgments)} users, {int(judgments.m().sum())} relevant films (a held-out fifth of the ratings, at least 4 stars)",
            "lists": films,
            "seed": "1 (of the split and of the models), 0 (of removed labels and permutations)",
            "permutations": options.resamples,
            "samples of missing labels": options.samples,
            "versions": {
                name: version(name)
                for name in ("lenskit", "torch", "numpy", "scipy", "ir-measures")
            },
        }
        kinds = {found.kind: found.as_json() for found in several}
        RECORDED.write_text(
            json.dumps({"how": how, "kinds": kinds}, indent=1) + "\n", encoding="utf-8"
        )


def recorded(count: Printed) -> None:
    """Tell what the lists of LensKit's recommenders gave where it was recorded."""
    record = json.loads(RECORDED.read_text(encoding="utf-8"))
    how = record["how"]
    print(
        "\nMovieLens, seven recommenders of LensKit: recorded numbers, not computed now (--full computes them where LensKit is installed)"
    )
    for name, value in how.items():
        text = (
            ", ".join(f"{package} {number}" for package, number in value.items())
            if isinstance(value, dict)
            else value
        )
        print(f"  {name}: {text}")
    several = [Measured.from_json(kind, plain) for kind, plain in record["kinds"].items()]
    for found in several:
        tell(found, count)
    by_depth("MovieLens", several[::-1], count)
    held = [claim.holds for claim in count.claims if "MovieLens" in claim.text]
    print(f"\nWith these recommenders {held.count(False)} of {len(held)} claims fail.")
