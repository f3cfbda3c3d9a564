"""What other papers lead one to expect: a tool, not a page; nothing of it is printed in them.

Without data: Moffat's seven numeric properties (AIRS 2013) by the library's checks, and which measures have equally spaced values, as an interval
scale must have (Ferrante, Ferro, Pontarollo, ICTIR 2017), by enumeration of all binary rankings. On Robust 2003 and CLEF eHealth 2016: recall-paired
preference (Diaz and Ferraro, SIGIR 2022), lexicographic precision (Diaz, 2023), measures on reduced labels (Yilmaz and Aslam, CIKM 2006; Sakai and
Kando, 2008), and pools of other depths and groups (Zobel, SIGIR 1998). ::

    python examples/papers/further.py
    python examples/papers/further.py DATA
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from ir_lexirecall import SignificanceTest
from ir_lexirecall._util.arrays import position_in_segment
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.meta import Study, axioms, interval_scale
from ir_lexirecall.meta.agreements import coefficient_of
from ir_lexirecall.meta.missing_labels import without_labels

PREFERENCES = {
    "rpp": "AP",
    "lexiprecision": "RR",
    "lexirecall": "R@1000",
}  # and the measure that each one refines
REDUCED = ["AP", "Bpref", "infAP", "nDCG", "RBP(p=0.8)", "lexirecall"]
SHARES = [0.1, 0.3, 0.5, 0.7, 0.9]
DEPTHS = [5, 10, 20, 50, 100]
COLLECTIONS = {"robust2003": "qrels.txt.gz", "clef-ehealth-2016": "relevance.qrels.gz"}

CHECKED = ["P@3", "R@3", "RR", "AP", "nDCG", "RBP(p=0.8)", "TSE", "LR"]
SCALES = [
    "P@5",
    "R@5",
    "RBP(p=0.5,rel=1)",
    "RBP(p=0.8,rel=1)",
    "RR",
    "AP",
    "nDCG",
    "TSE",
    "LR",
]


def numeric_properties(cases: int) -> None:
    """Which measures have Moffat's properties: no counterexample among all short rankings and some random ones."""
    table = axioms(CHECKED, size=4, cases=cases)
    table = table[table["source"] == "Moffat 2013"]
    marks = table.pivot(index="measure", columns="property", values="result")
    marks = marks.loc[CHECKED, table["property"].unique()]
    marks.columns = [name.removeprefix("Moffat's ") for name in marks.columns]
    print("Moffat's seven numeric properties, + where no counterexample was found")
    print(marks.replace({"holds": "+", "fails": "-"}).to_string())


def preferences(study: Study) -> None:
    """Agreement with the measure that a preference refines, ties, and significant pairs."""
    alike = study.agreement().set_index(["measure_a", "measure_b"])["agreement"]
    tied = study.ties(aggregate=True).set_index("measure")["share"]
    power = study.discriminative_power(
        test=SignificanceTest("t", progress=False)
    ).set_index("measure")["significant"]
    rows = [
        {
            "preference": name,
            "measure": measure,
            "agrees": alike[measure, name],
            "ties": tied[name],
            "ties of it": tied[measure],
            "significant": int(power[name]),
            "of it": int(power[measure]),
        }
        for name, measure in PREFERENCES.items()
    ]
    print(
        "Preferences and the measure that each refines: agreement with its decisions, ties, and pairs significant"
    )
    print(
        "  (of a measure by paired t, of wins and losses by the exact sign test; Holm)"
    )
    print(
        pd.DataFrame(rows).to_string(
            index=False, float_format=lambda share: f"{share:.4f}"
        )
    )


def reduced(judgments: Judgments, runs: dict[str, AlignedRun], samples: int) -> None:
    """Kendall's tau of the order of runs with that by all judgments, where a share of the judgments, relevant or not, is gone (-1)."""
    study = Study(REDUCED, judgments, runs, progress=False)
    full = {label: array.mean(axis=1) for label, array in _values(study).items()}
    rng = np.random.default_rng(0)
    size = np.bincount(judgments.query)[judgments.query]
    taus: dict[tuple[str, float], list[float]] = {}
    for share in SHARES:
        for _ in range(samples):
            order = np.lexsort((rng.random(len(judgments.query)), judgments.query))
            gone = np.zeros(len(order), dtype=bool)
            gone[order] = position_in_segment(judgments.query) < np.minimum(
                np.round(share * size), size - 1
            )
            fewer = study.with_judgments(
                judgments.with_grades(np.where(gone, -1.0, judgments.grade))
            )
            for label, array in _values(fewer).items():
                tau = coefficient_of("kendall", full[label], array.mean(axis=1))
                taus.setdefault((label, share), []).append(tau)
    table = (
        pd.Series({key: np.mean(several) for key, several in taus.items()})
        .unstack()
        .loc[REDUCED]
    )
    print(
        "\nKendall's tau with the order by all judgments, a share of all judgments of every query drawn away: unjudged then"
    )
    print(table.round(3).to_string())


def _values(study: Study) -> dict[str, np.ndarray]:
    """Values of all measures, shape ``(runs, queries)``; of lexirecall net wins over all other runs."""
    found = {label: study.values(label) for label in REDUCED if label != "lexirecall"}
    wins = np.zeros((len(study.names), len(study.queries)))
    for a, b, signs in zip(*study.pairs, study.signs("lexirecall"), strict=True):
        wins[a] += signs
        wins[b] -= signs
    return found | {"lexirecall": wins}


def pools(study: Study, judgments: Judgments, runs: dict) -> None:
    """Zobel's curves: the share of relevant documents that a pool of a depth has, and what one run adds that no other has."""
    relevant = judgments.grade >= judgments.threshold
    ranks = np.full((len(runs), len(relevant)), np.iinfo(np.int64).max)
    for row, run in zip(ranks, runs.values(), strict=True):
        row[run.doc] = run.rank
    rows = []
    for depth in DEPTHS:
        within = (ranks <= depth) & relevant
        pooled = without_labels(judgments, relevant & ~within.any(axis=0))
        tau = []
        everything = study.with_judgments(pooled)
        for run in range(
            len(runs)
        ):  # each run's mean AP with its own contribution and without it
            alone = within[run] & (within.sum(axis=0) == 1)
            fewer = study.with_judgments(without_labels(pooled, alone))
            tau.append(
                fewer.values("AP")[run].mean() / everything.values("AP")[run].mean() - 1
            )
        unique = (within.sum(axis=0) == 1).sum() / len(runs)
        rows.append(
            (
                depth,
                within.any(axis=0).sum() / relevant.sum(),
                unique,
                np.mean(tau),
                np.min(tau),
            )
        )
    columns = [
        "depth",
        "relevant found",
        "only by one run",
        "change of its AP, mean",
        "least",
    ]
    print(
        "\nPools: share of the relevant documents found, documents that one run alone contributes, and what they are worth to it"
    )
    print(
        pd.DataFrame(rows, columns=columns).to_string(
            index=False, float_format=lambda value: f"{value:.4f}"
        )
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "data",
        type=Path,
        nargs="?",
        help=f"folder with some of {', '.join(COLLECTIONS)}",
    )
    parser.add_argument(
        "--cases",
        type=int,
        default=20,
        help="random cases per property (default: %(default)s)",
    )
    parser.add_argument(
        "--samples", type=int, default=2, help="draws of labels (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    numeric_properties(options.cases)
    print(
        "\nInterval scales (top-heavy order), of all binary rankings of 5 documents, 5 relevant"
    )
    print(interval_scale(SCALES, 5).round(4).to_string(index=False))
    if options.data is None:
        return
    for name, qrels in COLLECTIONS.items():
        if not (options.data / name).is_dir():
            continue
        judgments = Judgments.from_qrels(str(options.data / name / qrels))
        files = sorted((options.data / name / "runs").glob("*.gz"))
        runs = {
            file.name.removesuffix(".gz"): align(judgments, str(file)) for file in files
        }
        print(f"\n{name}: {len(runs)} runs, {len(judgments)} topics\n")
        preferences(
            Study(
                [*PREFERENCES, *PREFERENCES.values()], judgments, runs, progress=False
            )
        )
        reduced(judgments, runs, options.samples)
        pools(Study(["AP"], judgments, runs, progress=False), judgments, runs)


if __name__ == "__main__":
    main()
