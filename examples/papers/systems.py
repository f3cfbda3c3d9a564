"""What Figures 10 to 15 of Diaz et al. show of real systems, for `diaz_2026.py`.

The systems are the runs of Robust 2003, and recommenders of MovieLens: seven of LensKit, whose
numbers were recorded with how they were made so that they can be read where LensKit is not
installed, and twelve in plain NumPy. `section_6.py` has the claims.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import section_6
from printed import Printed, drawn, save
from recommenders import cut, movielens, plain
from scipy import stats
from section_6 import Domain
from worst_cases import worst_cases

from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta import Study, plot
from ir_lexirecall.significance import SignificanceTest, corrected

MEASURES = ["lexirecall", "R@1000", "Rprec", "AP", "nDCG", "nDCG@10", "RR"]
POLICIES = {
    "random": "drawn at random",
    "frequency": "retrieved by the fewest systems first",
}
SHARES = [0.1, 0.3, 0.5, 0.7, 0.9]
FIGURES = {
    "ties": ("Figure 14", "ties"),
    "agreement": ("Figure 15", "decisions as with all labels"),
}
TESTS = {"sign": "sign", "t": "t", "Tukey HSD": "tukey"}
RECORDED = Path(__file__).with_name("movielens_recorded.json")


@dataclass(frozen=True)
class Measured:
    """What Figures 10 to 15 show of some systems.

    Attributes:
        kind: of the lists, in words.
        systems: how many.
        compared: a row per measure: ``agreement`` with lexirecall, ``ties``, and by test the significant pairs.
        degraded: by policy, a row per measure and share of labels removed: ``measure``, ``fraction``, ``ties``, ``agreement``.
        spread: standard deviation over requests of the share of ties, by measure; None if it was not recorded.
        decided: share of the decisions that are no ties which stay where half of the labels are removed; None likewise.
    """

    kind: str
    systems: int
    compared: pd.DataFrame
    degraded: dict[str, pd.DataFrame]
    spread: pd.Series | None = None
    decided: pd.Series | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        degraded = {
            policy: table.round(6).to_dict("list")
            for policy, table in self.degraded.items()
        }
        return {
            "systems": self.systems,
            "compared": json.loads(self.compared.round(6).to_json()),
            "degraded": degraded,
        }

    @classmethod
    def from_json(cls, kind: str, plain: dict[str, Any]) -> Measured:
        """Return what `as_json` made."""
        degraded = {
            policy: pd.DataFrame(table) for policy, table in plain["degraded"].items()
        }
        return cls(
            kind,
            plain["systems"],
            pd.DataFrame(plain["compared"]).astype(float),
            degraded,
        )


def significant(
    judgments: Judgments, runs: dict[str, AlignedRun], resamples: int
) -> pd.DataFrame:
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
    signs = (
        Study(["lexirecall"], judgments, runs).signs("lexirecall").astype(np.float64)
    )
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # of pairs that one run wins everywhere, p is 0
        p = stats.ttest_1samp(signs, 0, axis=1).pvalue
    return int(corrected(np.where(np.isnan(p), 1, p), "holm", 0.05)[1].sum())


def measure(
    kind: str, judgments: Judgments, runs: dict[str, AlignedRun], options: Any
) -> Measured:
    """Compute what Figures 10 to 15 show."""
    study = Study(MEASURES, judgments, runs, progress=False)
    ties = Study([*MEASURES, "TSE"], judgments, runs, progress=False).ties()
    compared = compared_with_lexirecall(study, ties, options.resamples)
    degraded = {
        policy: study.degrade(
            SHARES, policy=policy, n_samples=options.samples, aggregate=True
        )
        for policy in POLICIES
    }
    if drawn(options.plots):
        name = f"diaz_2026_{kind.replace(', ', '_')}"
        save(plot(ties), options.plots, f"{name}_figure_11")
        save(plot(degraded["random"]), options.plots, f"{name}_figures_14_and_15")
    spread = (ties["ties"] / ties["pairs"]).groupby(ties["measure"], sort=False).std()
    return Measured(
        kind, len(runs), compared, degraded, spread, decisions_kept(study, options)
    )


def compared_with_lexirecall(
    study: Study, ties: pd.DataFrame, resamples: int
) -> pd.DataFrame:
    """Return agreement with lexirecall, the share of ties, and significant pairs by test."""
    alike = study.agreement()
    alike = alike[alike["measure_b"] == "lexirecall"].set_index("measure_a")[
        "agreement"
    ]
    tied = ties.groupby("measure", sort=False)[["pairs", "ties"]].sum()
    judgments, runs = study.judgments, study.aligned.runs
    table = pd.DataFrame({"agreement": alike, "ties": tied["ties"] / tied["pairs"]})
    table = table.join(significant(judgments, runs, resamples)).loc[[*MEASURES, "TSE"]]
    by_hsd = Study(["rpp"], judgments, runs, progress=False).discriminative_power(
        test=SignificanceTest("tukey", n_resamples=resamples, progress=False)
    )
    table.loc["rpp", "Tukey HSD"] = by_hsd["significant"].iloc[0]
    return table


def decisions_kept(study: Study, options: Any) -> pd.Series:
    """Return the share of each measure's decisions, ties left out, that half of the labels keep."""
    table = study.stability(
        [0.5], policies=["random"], n_samples=options.samples, n_resamples=1
    )
    return table.set_index("measure")["decided"]


def tell(found: Measured) -> None:
    """Print the figures' numbers."""
    figures_10_to_13(found)
    figures_14_and_15(found)


def figures_10_to_13(found: Measured) -> None:
    """Print agreement with lexirecall, ties, and significant pairs."""
    kind, table = found.kind, found.compared.drop("rpp", errors="ignore")
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
    print(
        f"  lexirecall and the better one of R@1000 and RP: {'; '.join(leads(table))}"
    )


def leads(table: pd.DataFrame) -> list[str]:
    """Return by test how many pairs lexirecall and the better one of R@1000 and RP tell apart."""
    ours = table.loc["lexirecall", list(TESTS)].astype(int)
    others = table.loc[["R@1000", "Rprec"], list(TESTS)].max().astype(int)
    words = {1: "ahead", 0: "level", -1: "behind"}
    return [
        f"{test} {ours[test]} : {others[test]}, {words[int(np.sign(ours[test] - others[test]))]}"
        for test in TESTS
    ]


def figures_14_and_15(found: Measured) -> None:
    """Print what remains of the decisions where relevant documents lose their labels."""
    for policy, text in POLICIES.items():
        for column, (figure, meaning) in FIGURES.items():
            table = section_6.degraded(found, column, policy).loc[MEASURES]
            title = figure if policy == "random" else "No figure"
            print(
                f"\n{title}, {meaning}, {found.kind}, by the share of relevant labels removed, {text}"
            )
            print(table.round(3).to_string())


def robust_2003(options: Any, count: Printed) -> Domain:
    """Measure the runs of Robust 2003, as they are and cut at 100."""
    folder = options.data / "robust2003"
    judgments = Judgments.from_qrels(str(folder / "qrels.txt.gz"))
    runs = {
        file.name.removesuffix(".gz"): align(judgments, str(file))
        for file in sorted((folder / "runs").iterdir())
    }
    print(f"\nTREC 2003 Robust: {len(runs)} runs, {len(judgments)} topics.")
    standard = measure("standard", judgments, runs, options)
    tell(standard)
    without_shallow_runs(judgments, runs, options)
    cut_runs = {name: cut(run, 100) for name, run in runs.items()}
    shallow = measure("shallow", judgments, cut_runs, options)
    tell(shallow)
    equations_4_and_6(runs, count)
    return Domain("retrieval", True, {"shallow": shallow, "standard": standard})


def without_shallow_runs(
    judgments: Judgments, runs: dict[str, AlignedRun], options: Any
) -> None:
    """Print significant pairs without the runs that rank fewer than 1,000 documents."""
    deep = {name: run for name, run in runs.items() if run.depth.max() == 1000}
    counted = significant(judgments, deep, options.resamples)
    pairs = len(deep) * (len(deep) - 1) // 2
    print(
        f"\n  Without the {len(runs) - len(deep)} runs of fewer than 1,000 documents, of {pairs} pairs, lexirecall : R@1000"
    )
    texts = (
        f"{test} {counted.loc['lexirecall', test]} : {counted.loc['R@1000', test]}"
        for test in TESTS
    )
    print(f"    {', '.join(texts)}")


def equations_4_and_6(runs: dict[str, AlignedRun], count: Printed) -> None:
    """Show by enumeration what the worst-off user and provider of two runs get."""
    both = worst_cases(["AP", "nDCG", "RBP(p=0.8)"], dict(list(runs.items())[:2]))
    gap = (
        both[["user", "provider"]]
        .sub(both["closed_form"], axis=0)
        .abs()
        .to_numpy()
        .max()
    )
    print(
        f"\nEquations 4 and 6: worst-off users and providers by enumeration, {len(both)} cases of at most 8 relevant documents:"
    )
    print(f"  largest difference to e(p_m): {gap:.1e}")
    count.claim(
        "Equations 4 and 6: the worst-off user and the worst-off provider get e(p_m)",
        gap < 1e-12,
    )


# -- recommenders ----------------------------------------------------------------------------------


DEPTHS = {"shallow": 100, "standard": 1000, "deep": None}


def at_depths(
    name: str, judgments: Judgments, runs: dict[str, AlignedRun], options: Any
) -> Domain:
    """Measure recommenders at all depths, and print it."""
    by_depth = {}
    for kind, depth in DEPTHS.items():
        lists = (
            runs
            if depth is None
            else {key: cut(run, depth) for key, run in runs.items()}
        )
        by_depth[kind] = measure(f"{name}, {kind}", judgments, lists, options)
        tell(by_depth[kind])
    return Domain(name, False, by_depth)


def twelve(options: Any) -> Domain:
    """Measure the twelve recommenders in plain NumPy."""
    judgments, runs, _ = plain(options.data / "movielens-small")
    print(
        f"\nMovieLens: {len(judgments)} users, {len(runs)} recommenders in plain NumPy."
    )
    return at_depths("MovieLens, twelve", judgments, runs, options)


def recommendation(options: Any) -> Domain:
    """Train LensKit's recommenders, and measure their lists."""
    judgments, runs = movielens(options.data / "movielens-small", users=options.users)
    films = ", ".join(
        f"{name} {int(np.median(run.depth))}" for name, run in runs.items()
    )
    print(
        f"\nMovieLens: {len(judgments)} users, {int(judgments.m().sum())} relevant films; {len(runs)} recommenders of LensKit,"
    )
    print(f"  which list, in the median, this many films: {films}.")
    domain = at_depths("MovieLens", judgments, runs, options)
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
        kinds = {found.kind: found.as_json() for found in domain.by_depth.values()}
        RECORDED.write_text(
            json.dumps({"how": how, "kinds": kinds}, indent=1) + "\n", encoding="utf-8"
        )
    return domain


def recorded() -> Domain:
    """Return what the lists of LensKit's recommenders gave where it was recorded."""
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
    several = [
        Measured.from_json(kind, values) for kind, values in record["kinds"].items()
    ]
    by_kind = {found.kind.removeprefix("MovieLens, "): found for found in several}
    for found in several:
        tell(found)
    return Domain("MovieLens", False, {kind: by_kind[kind] for kind in DEPTHS})
