"""Diaz, Ekstrand, Mitra, "Recall, Robustness, and Lexicographic Evaluation" (TORS 2026, doi 10.1145/3728373).

    python examples/papers/diaz_2026.py
    python examples/papers/diaz_2026.py DATA --full --plots out

Tie probabilities (Tables 3 and 4), orientation, and a simulation of how often measures agree with the worst case need no
data. What real systems say (ties, agreement, correlation, discriminative power, missing labels, the worst-off users) needs
the TREC 2003 Robust track: DATA is a folder with robust2003/qrels.txt.gz and robust2003/runs/*.gz. The paper has more
collections; its numbers are printed where they are known to us, and only ours elsewhere.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
from ir_lexirecall.meta.behaviour import agreement, orientation, tie_probabilities, ties, worst_case
from ir_lexirecall.meta.relations import correlation
from ir_lexirecall.meta.stability import degrade, mean_degradation
from ir_lexirecall.meta.study import Study

from ir_lexirecall.meta.rankings import judged_ranks, score
from ir_lexirecall.meta.sensitivity import discriminative_power

M = 10  # relevant documents
TABLE_3 = {  # printed in the paper
    1_000: {"TSE": 0.005, "R@1000": 1.0, "Rprec": 0.825},
    10_000: {"TSE": 0.001, "R@1000": 0.313, "Rprec": 0.98},
    100_000: {"TSE": 0.0, "R@1000": 0.826, "Rprec": 0.998},
}
MEASURES = ["LexiRecall", "AP", "nDCG", "RBP(p=0.8)", "R@1000", f"R@{M}", "RR"]  # R@m is R-precision
PREFERENCES = ["lexirecall", "TSE", "AP", "nDCG", "R@1000", "Rprec"]


def tables_3_and_4() -> Study:
    """Tie probabilities beside the printed ones."""
    found = tie_probabilities(list(TABLE_3), M)
    printed = [TABLE_3[n].get(measure) for n, measure in zip(found["n"], found["measure"], strict=True)]
    print(f"Probability that two random rankings tie, m = {M} (Tables 3 and 4)")
    shown = pd.DataFrame(found).assign(paper=printed).drop(columns=["m", "exact"])
    print(shown.to_string(index=False, float_format=lambda p: f"{p:.4g}", na_rep=""))
    return found


def orientations(plots: Path | None) -> None:
    """Precision and recall orientation for m = 1..15."""
    found = orientation(["RR", "RBP(p=0.8)", "nDCG", "AP", "R@100", "LR", "TSE"], n=1000)
    for which in ("precision", "recall"):
        print(f"\nOrientation to {which}, n = 1000, m = 1..15")
        table = found.pivot(index="measure", columns="m", values=which).loc[found["measure"].unique()]
        print(table.to_string(float_format=lambda value: f"{value:.2f}"))
    _draw(found, plots, "orientation")


def positions(n: int, queries: int, rng: np.random.Generator) -> np.ndarray:
    """The ranks of M relevant documents in random rankings of n documents, ascending, shape (queries, M)."""
    ranks = np.sort(rng.integers(1, n + 1, size=(queries, M)), axis=1)
    while len(again := np.flatnonzero((np.diff(ranks, axis=1) == 0).any(axis=1))):
        ranks[again] = np.sort(rng.integers(1, n + 1, size=(len(again), M)), axis=1)
    return ranks


def agreement_with_the_worst_case(queries: int, sizes: list[int], seed: int = 0) -> pd.DataFrame:
    """How often a measure orders two random rankings as the worst-off user would, who gets e(p_m)."""
    rng = np.random.default_rng(seed)
    rows = []
    for n in sizes:
        query = np.repeat(np.arange(queries), M)
        pair = [
            judged_ranks(query, positions(n, queries, rng).ravel(), np.ones(queries * M), np.full(queries, n))
            for _ in range(2)
        ]

        def sign(measure: str, pair: list = pair) -> np.ndarray:
            first, second = (score(ir_measures.parse_measure(measure), ranks) for ranks in pair)
            return np.sign(first - second)

        worst = sign("TSE")
        for measure in MEASURES:
            own = sign(measure)
            decided = (own != 0) & (worst != 0)
            same = float((own[decided] == worst[decided]).mean()) if decided.any() else np.nan
            low_high = 1.96 * np.sqrt(same * (1 - same) / max(1, decided.sum()))
            rows.append((n, measure, float((own == worst).mean()), same, low_high, float((own == 0).mean())))
    return pd.DataFrame(rows, columns=["n", "measure", "same decision", "where both decide", "+-", "ties"])


def robust_2003(data: Path | None, full: bool, plots: Path | None) -> None:
    """Ties, agreement, correlation, sensitivity, stability and worst cases of real systems."""
    if data is None:
        print("\nNo folder with data was given: no analysis of real systems.")
        return
    qrels, folder = data / "robust2003" / "qrels.txt.gz", data / "robust2003" / "runs"
    runs = {file.name.removesuffix(".gz"): str(file) for file in sorted(folder.iterdir())[: None if full else 6]}
    found = ties(PREFERENCES, str(qrels), runs)
    total = found.groupby("measure", sort=False)[["pairs", "ties"]].sum()
    print(f"\nTREC 2003 Robust, {len(runs)} runs: pairs of systems that tie on a query")
    print(total.assign(share=total["ties"] / total["pairs"]).to_string(float_format=lambda x: f"{x:.5f}"))
    few = total["ties"]
    print(
        f"  lexirecall ties less than R@1000 and R-precision: {bool(few['lexirecall'] < min(few['R@1000'], few['Rprec']))}"
    )
    alike = agreement(PREFERENCES, str(qrels), runs)
    print("\nAgreement of measures there")
    print(alike.drop(columns=["decisions", "incomparable"]).to_string(index=False, float_format=lambda x: f"{x:.3f}"))
    related = correlation(PREFERENCES, str(qrels), runs, by="systems")
    print("\nCorrelation of the systems' means there")
    print(related.drop(columns="points").to_string(index=False, float_format=lambda x: f"{x:.3f}"))
    resamples = 10_000 if full else 1_000
    power = discriminative_power(PREFERENCES, str(qrels), runs, test="tukey", n_resamples=resamples)
    print(f"\nDiscriminative power there: randomised Tukey HSD, {resamples} permutations, alpha 0.05")
    print(power.to_string(index=False, float_format=lambda x: f"{x:.3f}"))
    fewer = degrade(PREFERENCES, str(qrels), runs, [0.1, 0.3, 0.5, 0.7, 0.9], n_samples=10 if full else 2)
    means = mean_degradation(fewer)
    for column, text in {"ties": "ties", "agreement": "agreement with the full labels"}.items():
        print(f"\nMissing labels: {text}, by the share of relevant labels removed")
        table = means.pivot(index="measure", columns="fraction", values=column).loc[PREFERENCES]
        print(table.to_string(float_format=lambda x: f"{x:.3f}"))
    some = dict(list(runs.items())[:2])
    worst = worst_case(["AP", "nDCG", "RBP(p=0.8)"], str(qrels), some, enumerate_up_to=8)
    both = worst[worst["subsets"] > 0]
    gap = (both[["user", "provider"]].sub(both["closed_form"], axis=0)).abs().to_numpy().max()
    print(f"\nWorst-off users and providers by enumeration, {len(both)} cases of at most 8 relevant documents:")
    print(f"  largest difference to the closed form e(p_m): {gap:.1e}")
    studies = {
        "ties": found,
        "agreement": alike,
        "correlation": related,
        "power": power,
        "degrade": fewer,
        "worst_case": worst,
    }
    for name, study in studies.items():
        _draw(study, plots, name)


def _draw(study: Study, plots: Path | None, name: str) -> None:
    if plots is not None:
        plots.mkdir(parents=True, exist_ok=True)
        study.plot().figure.savefig(plots / f"diaz_2026_{name}.svg")
        print(f"  drawn: {plots / f'diaz_2026_{name}.svg'}")


def main(data: Path | None = None, full: bool = False, plots: Path | None = None) -> None:
    tables_3_and_4()
    _draw(tie_probabilities([10**k for k in range(2, 8)], M), plots, "tie_probabilities")
    orientations(plots)
    queries = 10_000
    print(f"\nAgreement of measures with the worst case on random rankings: {queries} queries, m = {M}")
    sizes = [1_000, 10_000, 100_000, 1_000_000]
    print(agreement_with_the_worst_case(queries, sizes).to_string(index=False, float_format=lambda x: f"{x:.3f}"))
    print("  (RBP's ties in large collections are floats too small to tell from 0)")
    robust_2003(data, full, plots)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="folder with robust2003")
    parser.add_argument(
        "--full", action="store_true", help="all runs instead of 6, and as many resamples as for a paper"
    )
    parser.add_argument("--plots", type=Path, help="draw the figures into this folder")
    arguments = parser.parse_args()
    main(arguments.data, arguments.full, arguments.plots)
