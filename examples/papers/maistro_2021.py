"""Maistro, Chaves Lima, Simonsen, Lioma, "Principled Multi-Aspect Evaluation Measures of Rankings" (CIKM 2021, doi
10.1145/3459637.3482287), on data at hand.

    python examples/papers/maistro_2021.py
    python examples/papers/maistro_2021.py DATA --resamples 10000 --plots out

The worked example (weights of label tuples, and Table 3) needs no data. The experiments use CLEF eHealth 2016, task 2:
relevance 0-2, trustworthiness and understandability 0-100, and the 16 submitted runs at hand. For these only our numbers
are printed: the paper says that TOMA is more discriminative than CAM and MM over ten tracks of TREC, not that it is on
any one of them. The zero-aspect and quality analyses follow the paper's questions, not its tables.
"""

from __future__ import annotations

import argparse
import itertools
from fractions import Fraction
from functools import reduce
from pathlib import Path

import ir_measures
import numpy as np
import pandas as pd
from ir_lexirecall.meta.relations import per_topic_kendall
from ir_lexirecall.meta.systems import score
from ir_lexirecall.scoring.toma import label_weights

from ir_lexirecall import evaluate, trec
from ir_lexirecall.alignment import JudgedRanks, align
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.meta.sensitivity import discriminative_power

DISTANCES = {"EUCL": "euclidean", "MANH": "manhattan", "CHEB": "chebyshev"}

# The worked example: three documents with labels (relevance, correctness), embedded as 0, 1, 2, 3 and 0, 1.5, 3.
EXAMPLE = {"relevance": {0: 0, 1: 1, 2: 2, 3: 3}, "correctness": {0: 0, 1: 1.5, 2: 3}}
LABELS = {"d1": (1, 2), "d2": (3, 1), "d3": (3, 0)}
PRINTED = {  # Table 3, by base: the rankings d1d2d3, d1d3d2, d2d1d3, d2d3d1, d3d1d2, d3d2d1
    "AP": {
        "CAM": [0.7917, 0.7917, 0.6667, 0.6667, 0.6667, 0.6667],
        "MM": [0.3684, 0.3684, 0.3125, 0.25, 0.3125, 0.25],
        "EUCL": [1, 0.8333, 1, 0.8333, 0.5833, 0.5833],
        "MANH": [1, 0.8333, 1, 0.8333, 0.5833, 0.5833],
        "CHEB": [0.5, 0.3333, 1, 1, 0.3333, 0.5],
    },
    "nDCG": {
        "CAM": [0.9073, 0.8824, 0.9056, 0.8801, 0.8106, 0.81],
        "MM": [0.4489, 0.4386, 0.4516, 0.4319, 0.393, 0.3827],
        "EUCL": [0.9367, 0.8917, 1, 0.9775, 0.8284, 0.8509],
        "MANH": [0.9711, 0.9404, 1, 0.9795, 0.8827, 0.8929],
        "CHEB": [0.8597, 0.7602, 1, 0.9502, 0.6199, 0.6697],
    },
}

CLEF = {"relevance": 2, "trustworthiness": 100, "understandability": 100}


def table_1() -> pd.DataFrame:
    """The weight of every label tuple of the worked example, by distance: larger is better, equal weights tie."""
    tuples = [(r, c) for r in EXAMPLE["relevance"] for c in EXAMPLE["correctness"]]
    positions = {name: np.array(column) for name, column in zip(EXAMPLE, zip(*tuples, strict=True), strict=True)}
    embedding = {name: [Fraction(str(value)) for value in scale.values()] for name, scale in EXAMPLE.items()}
    weights = {
        name: label_weights(embedding, positions, distance=distance, gate="relevance")[0]
        for name, distance in DISTANCES.items()
    }
    table = pd.DataFrame({"relevance": positions["relevance"], "correctness": positions["correctness"], **weights})
    possible = (table["relevance"] > 0) | (table["correctness"] == 0)  # what is not relevant cannot be correct
    return table[possible]


def table_3(base: str) -> pd.DataFrame:
    """All rankings of the worked example, ours beside the printed values."""
    rankings = ["".join(order) for order in itertools.permutations(LABELS)]
    qrels = pd.DataFrame(
        [(ranking, doc, *label) for ranking in rankings for doc, label in LABELS.items()],
        columns=["query_id", "doc_id", *EXAMPLE],
    )
    run = {"".join(order): {doc: -float(i) for i, doc in enumerate(order)} for order in itertools.permutations(LABELS)}
    half = ",binarize='half'" if base == "AP" else ""
    measures = {
        "CAM": f"CAM(aspects={EXAMPLE},base='{base}'{half})",
        "MM": f"MM(aspects={EXAMPLE},base='{base}'{half})",
        **{
            name: f"TOMA(aspects={EXAMPLE},distance='{distance}',base='{base}',gate='relevance')"
            for name, distance in DISTANCES.items()
        },
    }
    values = evaluate({name: text.replace(" ", "") for name, text in measures.items()}, qrels, run).loc[rankings]
    values["MM"] /= 2  # the table prints 1 / sum(1 / base_a), half of MM as it is defined for two aspects
    rows = {}
    for name in measures:
        rows[name, "paper"] = [f"{value:.4f}" for value in PRINTED[base][name]]
        rows[name, "ours"] = [f"{value:.4f}" for value in values[name]]
    table = pd.DataFrame(rows, index=rankings).T
    agree = [rows[name, "paper"] == rows[name, "ours"] for name in measures]
    print(f"\nTable 3, {base}: {sum(agree)} of {len(agree)} rows agree to the printed digit.\n")
    return table


def read(folder: Path) -> tuple[Judgments, dict[str, JudgedRanks]]:
    """CLEF eHealth 2016: a row per judged document with a column per aspect, and every run aligned once."""
    labels = [
        trec.read_qrels(str(folder / f"{name}.qrels.gz")).drop("iteration").rename({"relevance": name}) for name in CLEF
    ]
    judgments = Judgments.of(
        reduce(lambda left, right: left.join(right, on=["query_id", "doc_id"], how="left"), labels)
    )
    runs = sorted((folder / "runs").glob("*.gz"))
    return judgments, {path.name.removesuffix(".gz"): align(judgments, str(path)) for path in runs}


def measures_of(base: str) -> dict[str, str]:
    """TOMA with three distances, CAM and MM over the three aspects of CLEF eHealth."""
    aspects = str(CLEF).replace(" ", "")
    half = ",binarize='half'" if base == "AP" else ""
    toma = {
        f"TOMA {name}": f"TOMA(aspects={aspects},distance='{distance}',base='{base}')"
        for name, distance in DISTANCES.items()
    }
    return toma | {name: f"{name}(aspects={aspects},base='{base}'{half})" for name in ("CAM", "MM")}


def single(aspect: str, base: str) -> str:
    """The base measure on one aspect alone."""
    half = ",binarize='half'" if base == "AP" else ""
    return f"CAM(aspects={{'{aspect}':{CLEF[aspect]}}},base='{base}'{half})"


def zero_aspects(ranks: dict[str, JudgedRanks], base: str) -> pd.DataFrame:
    """How often a measure is 0 for a run on a topic, of those cases where some, but not every, aspect scores 0."""
    aspects = {aspect: _scores(single(aspect, base), ranks) for aspect in CLEF}
    zero = np.stack([values == 0 for values in aspects.values()])
    some = zero.any(axis=0) & ~zero.all(axis=0)
    rows = []
    for name, text in measures_of(base).items():
        value = _scores(text, ranks)
        of_those = value[some]
        rows.append(
            {
                "measure": name,
                "cases": int(some.sum()),
                "scored 0": int((of_those == 0).sum()),
                "mean there": float(of_those.mean()) if len(of_those) else float("nan"),
                "mean overall": float(value.mean()),
            }
        )
    return pd.DataFrame(rows)


def _scores(text: str, ranks: dict[str, JudgedRanks]) -> np.ndarray:
    """Values of a measure, shape (runs, topics)."""
    measure = ir_measures.parse_measure(text)
    return np.stack([score(measure, each) for each in ranks.values()])


def quality(judgments: Judgments, ranks: dict[str, JudgedRanks], base: str) -> pd.DataFrame:
    """How far a measure orders the runs as each aspect alone does: mean of Kendall's tau over topics."""
    aspects = {f"{base} on {aspect}": single(aspect, base) for aspect in CLEF}
    table = per_topic_kendall({**measures_of(base), **aspects}, judgments, ranks)
    table = table[table["measure_a"].isin(measures_of(base)) & table["measure_b"].isin(aspects)]
    return table.pivot(index="measure_a", columns="measure_b", values="kendall").loc[
        list(measures_of(base)), list(aspects)
    ]


def preferred(judgments: Judgments, ranks: dict[str, JudgedRanks], base: str, k: int = 10) -> pd.DataFrame:
    """What stands in the first k places of the run that a measure puts first on a topic (of several, their mean):
    the mean label of each aspect as a share of its scale, and the share of documents that are at the bottom of some
    aspects but not of all. Unjudged documents are at the bottom of all.
    """
    labels = {name: np.nan_to_num(label) / CLEF[name] for name, label in judgments.labels(list(CLEF)).items()}
    bottom = np.stack([label == 0 for label in labels.values()])
    labels["some aspect 0"] = (bottom.any(axis=0) & ~bottom.all(axis=0)).astype(float)

    def per_topic(label: np.ndarray) -> np.ndarray:
        """Mean over the first k places, shape (runs, topics)."""
        sums = []
        for each in ranks.values():
            top = each.rank <= k
            sums.append(np.bincount(each.query[top], weights=label[each.doc[top]], minlength=len(judgments)))
        return np.stack(sums) / k

    contents = {name: per_topic(label) for name, label in labels.items()}
    rows = []
    for name, text in measures_of(base).items():
        values = _scores(text, ranks)
        best = (values == values.max(axis=0)) / (values == values.max(axis=0)).sum(axis=0)
        rows.append(
            {"measure": name} | {what: float((best * each).sum(axis=0).mean()) for what, each in contents.items()}
        )
    return pd.DataFrame(rows)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="?", type=Path, help="folder with clef-ehealth-2016")
    parser.add_argument("--resamples", type=int, default=2000, help="of the bootstrap (default: %(default)s)")
    parser.add_argument("--plots", metavar="FOLDER", type=Path, help="write the pictures there")
    options = parser.parse_args(arguments)

    print("Table 1: weights of the label tuples, what is not relevant cannot be correct (ours).\n")
    print(table_1().to_string(index=False))
    for base in PRINTED:
        print(table_3(base).to_string())

    if options.data is None:
        print("\nNo folder with data was given: the experiments on runs are left out.")
        return
    judgments, ranks = read(options.data / "clef-ehealth-2016")
    print(f"\nCLEF eHealth 2016: {len(ranks)} runs, {len(judgments)} topics.")
    for base in ("nDCG", "AP"):
        measures = measures_of(base)
        power = discriminative_power(
            measures, judgments, ranks, test="bootstrap", alpha=0.01, n_resamples=options.resamples
        )
        print(f"\nDiscriminative power, {base}: paired bootstrap, alpha 0.01, {options.resamples} resamples.\n")
        print(power.to_string(index=False, float_format="{:.4f}".format))
        agreement = per_topic_kendall(measures, judgments, ranks)
        print(f"\nKendall's tau per topic, {base}.\n")
        print(agreement.to_string(index=False, float_format="{:.4f}".format))
        print(f"\nZero aspects, {base}: runs on topics where some, but not every, aspect alone scores 0.\n")
        print(zero_aspects(ranks, base).to_string(index=False, float_format="{:.4f}".format))
        print(f"\nWhich aspects a measure follows, {base}: mean Kendall's tau per topic with each aspect alone.\n")
        print(quality(judgments, ranks, base).rename_axis(index=None, columns=None).round(4).to_string())
        print(
            f"\nThe first 10 places of the run that a measure puts first on a topic, {base}: mean labels, 1 the best.\n"
        )
        print(preferred(judgments, ranks, base).to_string(index=False, float_format="{:.4f}".format))
        if options.plots:
            options.plots.mkdir(parents=True, exist_ok=True)
            power.plot().figure.savefig(options.plots / f"maistro_power_{base}.svg")
            agreement.plot().figure.savefig(options.plots / f"maistro_kendall_{base}.svg")


if __name__ == "__main__":
    main()
