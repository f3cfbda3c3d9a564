"""Agreement of measures, decision by decision; Kendall's tau per query against SciPy."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import ir_lexirecall as irl
from ir_lexirecall import demo, meta

DOCS = ["a", "b", "c", "d", "e", "f"]
JUDGED = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 1), min_size=1)
ROW = st.dictionaries(st.sampled_from(DOCS), st.integers(0, 9))
RUN = st.fixed_dictionaries({"q1": ROW, "q2": ROW})
MEASURES = ["AP", "R@2", "TSE"]


@pytest.mark.slow
@given(
    qrels=st.fixed_dictionaries({"q1": JUDGED, "q2": JUDGED}),
    runs=st.fixed_dictionaries({"r1": RUN, "r2": RUN, "r3": RUN}),
)
def test_agreement_is_counted_over_ordered_pairs_that_the_first_measure_decides(
    qrels: Any, runs: Any
) -> None:
    values = {name: irl.evaluate(MEASURES, qrels, run) for name, run in runs.items()}
    queries = sorted(q for q, grades in qrels.items() if max(grades.values()) > 0)
    if not queries:
        with pytest.raises(
            ValueError,
            match=r"^agreement: no query of the qrels has a relevant document",
        ):
            meta.Study(MEASURES, qrels, runs, allow_empty=True).agreement()
        return

    def prefers(measure: str, query: str, x: str, y: str) -> bool:
        return bool(values[x].loc[query, measure] > values[y].loc[query, measure])

    table = meta.Study(MEASURES, qrels, runs, allow_empty=True).agreement()
    assert list(zip(table["measure_a"], table["measure_b"], strict=True)) == list(
        itertools.permutations(MEASURES, 2)
    )
    ordered = [(q, x, y) for q in queries for x, y in itertools.permutations(runs, 2)]
    for row in table.itertuples():
        first, second = (
            [prefers(measure, *pair) for pair in ordered]
            for measure in (row.measure_a, row.measure_b)
        )
        back = [prefers(row.measure_b, q, y, x) for q, x, y in ordered]
        decided = sum(first)
        both = sum(a and b for a, b in zip(first, second, strict=True))
        assert row.decisions == len(ordered) / 2
        assert row.agree == both
        assert row.disagree == sum(a and b for a, b in zip(first, back, strict=True))
        assert row.tied_b == sum(
            a and not b and not c for a, b, c in zip(first, second, back, strict=True)
        )
        assert (
            row.agree + row.disagree + row.tied_a + row.tied_b + row.tied_both
            == row.decisions
        )
        assert (
            np.isnan(row.agreement) if decided == 0 else row.agreement == both / decided
        )


def test_a_tie_of_the_first_measure_is_no_decision_and_one_of_the_second_no_agreement() -> (
    None
):
    qrels = {"q": {"a": 1, "b": 1}}
    runs = {  # R@1 ties x and y, TSE ties x and z
        "x": {"q": {"a": 5, "c": 4, "b": 3}},
        "y": {"q": {"a": 5, "b": 4}},
        "z": {"q": {"c": 5, "a": 4, "b": 3}},
    }
    table = meta.Study(["R@1", "TSE"], qrels, runs).agreement().set_index("measure_a")
    assert table.loc[
        "R@1", ["agree", "disagree", "tied_a", "tied_b", "tied_both"]
    ].tolist() == [
        1,
        0,
        1,
        1,
        0,
    ]
    assert table["agreement"].tolist() == [0.5, 0.5]
    assert table["agreement_with_ties"].tolist() == [1 / 3, 1 / 3]


def test_pairs_that_a_partial_order_leaves_open_are_counted_apart() -> None:
    qrels = {"q": {"a": 1, "b": 1}}
    runs = {
        "x": {"q": {"a": 5, "c": 4, "d": 3, "b": 2}},
        "y": {"q": {"c": 5, "a": 4, "b": 3}},
        "z": {"q": {"c": 5, "a": 4, "b": 3}},
    }
    row = meta.Study(["dominance", "lexirecall"], qrels, runs).agreement().iloc[0]
    assert (row["incomparable"], row["tied_both"], row["agreement_with_ties"]) == (
        2,
        1,
        1.0,
    )
    assert np.isnan(row["agreement"])


# Over all 17 runs, agreement with lexirecall, which the paper (Diaz et al., TORS 2026, Figure 10) shows for other data.
ROBUST = {
    "R@1000": 1.000,
    "nDCG": 0.854,
    "AP": 0.797,
    "Rprec": 0.773,
    "nDCG@10": 0.661,
    "RR": 0.657,
}


@pytest.mark.slow
def test_agreement_with_lexirecall_on_robust_2003(robust: Any) -> None:
    table = meta.Study([*ROBUST, "lexirecall"], *robust).agreement()
    found = table[table["measure_b"] == "lexirecall"].set_index("measure_a")[
        "agreement"
    ]
    assert len(robust[1]) == 17
    assert {name: round(found[name], 3) for name in ROBUST} == ROBUST


# -- per query -------------------------------------------------------------------------------------


def test_kendall_per_query_is_the_mean_of_those_that_are_defined() -> None:
    qrels, runs = demo.qrels(), demo.runs()
    table = meta.Study(
        ["AP", "RR", "P@1", "lexirecall"], qrels, runs
    ).per_query_kendall()
    values = {
        label: np.stack(
            [
                irl.evaluate(label, qrels, run)[label].to_numpy()
                for run in runs.values()
            ],
            axis=1,
        )
        for label in ("AP", "RR", "P@1")
    }
    values["lexirecall"] = irl.compare(qrels, runs, "lexirecall").per_query().to_numpy()
    for row in table.to_dict("records"):
        pairs = zip(values[row["measure_a"]], values[row["measure_b"]], strict=True)
        taus = [
            stats.kendalltau(x.round(12), y.round(12))[0]
            for x, y in pairs
            if len(set(x)) > 1 and len(set(y)) > 1
        ]
        assert row["queries"] == len(taus)
        assert (row["kendall"], row["smallest"], row["largest"]) == pytest.approx(
            (np.mean(taus), min(taus), max(taus))
        )
    assert (
        table["queries"].min() < 16
    )  # P@1 gives all runs of some queries the same value
