"""What measures of several aspects can reach, and what they like best, by a paper's script, against enumeration and known answers."""

from __future__ import annotations

import itertools
from functools import reduce
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ir_lexirecall import evaluate
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.columns import qrel_table
from ir_lexirecall.meta import Study, reachable_maximum

SCRIPT = Path(__file__).parents[2] / "examples" / "papers" / "aspects.py"
_spec: Any = spec_from_file_location("aspects_of_papers", SCRIPT)
aspects: Any = module_from_spec(_spec)
_spec.loader.exec_module(aspects)

ASPECTS = "aspects={'relevance':2,'quality':1,'trust':2}"
NAMES = ["relevance", "quality", "trust"]
MEASURES = {
    "CAM": f"CAM({ASPECTS})",
    "MM": f"MM({ASPECTS},base='AP')",
    "TOMA": f"TOMA({ASPECTS})",
    "CAM@2": f"CAM({ASPECTS})@2",
}
LABELS = st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2))
TOPIC = st.lists(LABELS, min_size=1, max_size=4)


def table_of(topics: list[list[tuple[int, int, int]]]) -> pd.DataFrame:
    rows = [
        (f"q{q}", f"d{i}", *labels)
        for q, topic in enumerate(topics)
        for i, labels in enumerate(topic)
    ]
    return pd.DataFrame(rows, columns=["query_id", "doc_id", *NAMES])


def value(measure: str, qrels: pd.DataFrame, query: str, order: list[str]) -> float:
    run = {query: {doc: -float(rank) for rank, doc in enumerate(order)}}
    return float(
        evaluate({"value": measure}, qrels[qrels["query_id"] == query], run).iloc[0, 0]
    )


@pytest.mark.slow
@settings(max_examples=15)
@given(
    topics=st.lists(TOPIC, min_size=1, max_size=2).filter(
        lambda ts: any(any(map(any, t)) for t in ts)
    )
)
def test_the_maximum_is_the_best_of_the_orders_and_below_that_of_all_rankings(
    topics: Any,
) -> None:
    qrels = table_of(topics)
    table = reachable_maximum(MEASURES, Judgments.from_qrels(qrels))
    labelled = [f"q{q}" for q, topic in enumerate(topics) if any(map(any, topic))]
    assert list(zip(table["measure"], table["query_id"], strict=True)) == list(
        itertools.product(MEASURES, labelled)
    )
    for row in table.itertuples():
        docs = qrels[qrels["query_id"] == row.query_id].set_index("doc_id")[NAMES]
        keys = [
            lambda d, names=names: [-d[n] for n in names]
            for names in itertools.permutations(NAMES)
        ]
        keys += [lambda d: -d.sum(), lambda d: -(d**2).sum(), lambda d: -d.max()]
        orders = [
            sorted(
                docs.index,
                key=lambda doc, key=key, docs=docs: (key(docs.loc[doc]), doc),
            )
            for key in keys
        ]
        best = max(
            value(MEASURES[row.measure], qrels, row.query_id, order) for order in orders
        )
        assert row.value == pytest.approx(best)
        every = (
            value(MEASURES[row.measure], qrels, row.query_id, list(p))
            for p in itertools.permutations(docs.index)
        )
        assert row.value <= max(every) + 1e-12


def test_the_order_that_reaches_it_is_named() -> None:
    judgments = Judgments.from_qrels(
        table_of([[(2, 0, 0), (0, 1, 2)], [(1, 1, 1), (2, 1, 2)]])
    )
    table = reachable_maximum(
        ["CAM(aspects={'relevance':2,'quality':1},base='RR')"], judgments
    ).set_index("query_id")
    assert table["value"].tolist() == [0.75, 1]
    assert table.loc["q1", "order"] == "quality > relevance"
    assert reachable_maximum([f"TOMA({ASPECTS})"], judgments)["value"].tolist() == [
        1,
        1,
    ]


@pytest.mark.slow
@settings(max_examples=25)
@given(
    topics=st.lists(TOPIC, min_size=1, max_size=3).filter(
        lambda ts: any(any(map(any, t)) for t in ts)
    ),
    data=st.data(),
)
def test_labels_of_the_best_run_document_by_document(topics: Any, data: Any) -> None:
    qrels, k = table_of(topics), 5
    docs = [f"d{i}" for i in range(7)]
    ranking = st.lists(st.sampled_from(docs), unique=True, max_size=7)
    runs = {
        name: {
            f"q{q}": {doc: -float(r) for r, doc in enumerate(data.draw(ranking))}
            for q in range(len(topics))
        }
        for name in ("one", "two", "three")
    }
    table = aspects.best_run_labels(
        Study(MEASURES, qrels, runs, allow_empty=True), k
    ).set_index(["measure", "rank"])
    total = qrels.set_index(["query_id", "doc_id"])[NAMES].sum(axis=1).to_dict()
    values = {name: evaluate(MEASURES, qrels, run) for name, run in runs.items()}
    for measure in MEASURES:
        expected: dict[int, list[float]] = {rank: [] for rank in range(1, k + 1)}
        for q, topic in enumerate(topics):
            if any(map(any, topic)):
                best = max(
                    runs, key=lambda name, q=q, m=measure: values[name].loc[f"q{q}", m]
                )  # the first of equals
                for rank, doc in enumerate(list(runs[best][f"q{q}"])[:k], start=1):
                    expected[rank].append(total.get((f"q{q}", doc), 0))
        for rank, sums in expected.items():
            row = table.loc[(measure, rank)]
            assert row["documents"] == len(sums)
            assert row["zero"] == sum(s == 0 for s in sums)
            assert (
                np.isnan(row["mean"])
                if not sums
                else row["mean"] == pytest.approx(np.mean(sums))
            )


CLEF = {"relevance": 2, "trustworthiness": 100, "understandability": 100}
CLEF_ASPECTS = f"aspects={CLEF}".replace(" ", "")


@pytest.fixture(scope="module")
def clef(data: Any) -> tuple[Judgments, dict[str, Any]]:
    """CLEF eHealth 2016: judgments with a column per aspect, and the 16 runs."""
    labels = [
        qrel_table(data.path(f"clef-ehealth-2016/{name}.qrels.gz"))
        .drop("iteration")
        .rename({"relevance": name})
        for name in CLEF
    ]
    judgments = Judgments.from_qrels(
        reduce(lambda a, b: a.join(b, on=["query_id", "doc_id"], how="left"), labels)
    )
    paths = data.folder("clef-ehealth-2016/runs")
    return judgments, {
        path.rpartition("/")[2]: align(judgments, path) for path in paths
    }


@pytest.mark.slow
def test_the_bound_of_cam_and_mm_on_clef_ehealth(clef: Any) -> None:
    """Maistro et al., CIKM 2021, Figure 2, on another collection than the paper's."""
    table = reachable_maximum(
        {
            f"{m} {base}": f"{m}({CLEF_ASPECTS},base='{base}')"
            for m in ("CAM", "MM")
            for base in ("nDCG", "AP")
        },
        clef[0],
    )
    found = table.groupby("measure")["value"]
    assert found.mean().round(3)[["CAM nDCG", "MM nDCG"]].tolist() == [0.957, 0.955]
    assert found.min().round(3)[["CAM nDCG", "MM nDCG"]].tolist() == [0.908, 0.903]
    reached = (
        table.assign(reached=table["value"] > 1 - 1e-12)
        .groupby("measure")["reached"]
        .mean()
    )
    assert reached.to_dict() == {
        "CAM nDCG": 0,
        "MM nDCG": 0,
        "CAM AP": 0.58,
        "MM AP": 0.58,
    }


def five(base: str, k: int) -> dict[str, str]:
    binary = ",binarize=1" if base == "AP" else ""
    distances = {"EUCL": "euclidean", "MANH": "manhattan", "CHEB": "chebyshev"}
    means = {
        name: f"{name}({CLEF_ASPECTS},base='{base}')@{k}" for name in ("CAM", "MM")
    }
    return means | {
        name: f"TOMA({CLEF_ASPECTS},distance='{distance}',base='{base}'{binary})@{k}"
        for name, distance in distances.items()
    }


TABLE_6 = {  # mean S, and how often it is 0 in the first quarter; CAM, MM, EUCL, MANH, CHEB
    "1-25": [77.1, 75.9, 77.8, 78.2, 78.5],
    "26-50": [64.3, 62.8, 64.5, 64.6, 63.9],
    "51-75": [53.8, 50.8, 54.3, 54.2, 52.1],
    "76-100": [43.1, 41.0, 45.3, 46.1, 42.7],
}


@pytest.mark.slow
def test_labels_of_the_best_runs_on_clef_ehealth(clef: Any) -> None:
    """The designs of Maistro et al., CIKM 2021, Tables 5 and 6, on another collection than the paper's."""
    table = pd.concat(
        [
            aspects.best_run_labels(Study(five(base, 100), *clef), 100)
            for base in ("nDCG", "AP")
        ]
    )
    table["sum"] = table["mean"] * table["documents"]
    table["part"] = (table["rank"] - 1) // 25
    parts = table.groupby(["part", "measure"])[["sum", "documents", "zero"]].sum()
    parts["mean"] = parts["sum"] / parts["documents"]
    names = ["CAM", "MM", "EUCL", "MANH", "CHEB"]
    assert parts["mean"].unstack()[names].round(1).to_numpy().tolist() == list(
        TABLE_6.values()
    )
    assert parts.loc[0, "zero"][names].tolist() == [164, 197, 155, 132, 171]
    assert set(parts["documents"]) == {2500}
    top = pd.concat(
        [
            aspects.best_run_labels(Study(five(base, 5), *clef), 5)
            for base in ("nDCG", "AP")
        ]
    )
    assert top.groupby("measure")["zero"].sum()[names].tolist() == [1, 0, 0, 1, 0]


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("AP", "reachable_maximum: AP names no aspects; give CAM, MM or TOMA"),
        (
            f"CAM(aspects={ {f'a{i}': 1 for i in range(7)} })".replace(" ", ""),
            "reachable_maximum: .* has more than 6 aspects; leave some out",
        ),
    ],
)
def test_measures_whose_maximum_is_not_sought(measure: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        reachable_maximum(measure, table_of([[(1, 0, 1)]]))
