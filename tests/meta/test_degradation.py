"""Degraded labels: what is removed, and what remains of ties and decisions, against a plain recomputation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ir_lexirecall import compare, evaluate
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.measures import scoring
from ir_lexirecall.meta import Study
from ir_lexirecall.meta.missing_labels import removals as samples_of
from ir_lexirecall.meta.missing_labels import without_labels

QRELS = {
    "q1": {"a": 1, "b": 2, "c": 1, "d": 0, "e": 1},
    "q2": {"a": 1, "f": 1},
    "q3": {"g": 1},
    "q4": {"h": 0},
}


def run_of(*rankings):
    return {
        f"q{i}": {doc: -float(rank) for rank, doc in enumerate(docs)}
        for i, docs in enumerate(rankings, 1)
    }


RUNS = {
    "x": run_of("axbc", "fa", "xg", "h"),
    "y": run_of("xyab", "xyzaf", "g", "x"),
    "z": run_of("cxdae", "", "xyg", "h"),
}


def removals(fractions, policy="random", n_samples=1, seed=0, runs=RUNS, qrels=QRELS):
    """The labels that go, by fraction and sample, as pairs of query and document."""
    decisions = Study("LR", qrels, runs)
    judgments = decisions.judgments
    return {
        (fraction, sample): {
            (judgments.query_ids[judgments.query[doc]], judgments.doc_ids[doc])
            for doc in np.flatnonzero(removed)
        }
        for fraction, sample, removed in samples_of(
            decisions, fractions, policy, n_samples, seed
        )
    }


def per_query(removed):
    return {q: sum(query == q for query, _ in removed) for q in QRELS}


@given(
    st.floats(0, 1),
    st.sampled_from(["random", "pool", "frequency"]),
    st.integers(0, 50),
)
def test_the_fraction_of_each_query_goes_and_at_least_one_label_stays(
    fraction, policy, seed
):
    [removed] = removals([fraction], policy, seed=seed).values()
    relevant = {
        (q, doc)
        for q, docs in QRELS.items()
        for doc, grade in docs.items()
        if grade >= 1
    }
    assert removed <= relevant
    for q, count in per_query(removed).items():
        m = sum(query == q for query, _ in relevant)
        assert count == min(m - math.ceil(round((1 - fraction) * m, 9)), max(m - 1, 0))


def test_every_label_is_as_likely_to_go():
    removed = removals([0.25], n_samples=2000, seed=1)
    counts = pd.Series(
        [doc for labels in removed.values() for query, doc in labels if query == "q1"]
    ).value_counts()
    assert set(counts.index) == {"a", "b", "c", "e"}
    assert stats.chisquare(counts).pvalue > 0.001


def test_the_pool_loses_its_deepest_documents_first_and_what_nobody_retrieved_before_them():
    """Of q1, the best ranks are a 1, b 3, c 1, e 5 (d is not relevant); of q2, a 2 and f 1."""
    removed = removals([0.25, 0.5, 0.75], "pool", n_samples=20)
    for sample in range(20):
        assert {doc for q, doc in removed[0.25, sample] if q == "q1"} == {"e"}
        assert {doc for q, doc in removed[0.5, sample]} == {"e", "b", "a"}
        assert ("q2", "a") in removed[0.5, sample]
    last = {
        frozenset(doc for q, doc in removed[0.75, sample] if q == "q1")
        for sample in range(20)
    }
    assert last == {frozenset("eba"), frozenset("ebc")}  # equals at random
    unfound = {"x": run_of("ab"), "y": run_of("ba")}
    assert removals([0.5], "pool", runs=unfound)[0.5, 0] >= {("q1", "c"), ("q1", "e")}


def test_what_the_fewest_runs_retrieve_loses_its_label_first():
    """Of q1, three runs retrieve a, two b and c each, one e."""
    removed = removals([0.25, 0.5, 0.75], "frequency", n_samples=20)
    of_q1 = {
        share: [{d for q, d in removed[share, i] if q == "q1"} for i in range(20)]
        for share in (0.25, 0.5, 0.75)
    }
    assert all(gone == {"e"} for gone in of_q1[0.25])
    assert {frozenset(gone) for gone in of_q1[0.5]} == {
        frozenset("eb"),
        frozenset("ec"),
    }  # equals at random
    assert all(gone == set("ebc") for gone in of_q1[0.75])


def expected_rows(label, qrels, runs, fraction, removed):
    """Shares of decisions by evaluating qrels without the labels from the start."""
    degraded = {
        q: {d: 0 if (q, d) in removed else g for d, g in docs.items()}
        for q, docs in qrels.items()
    }
    with_relevant = [
        q for q, docs in qrels.items() if any(g >= 1 for g in docs.values())
    ]

    def values(labels):
        if label in ("lexirecall", "rpp"):
            return compare(labels, runs, label).per_query().loc[with_relevant]
        return pd.DataFrame(
            {n: evaluate(label, labels, run)[label] for n, run in runs.items()}
        ).loc[with_relevant]

    def decisions(labels):
        if label in ("lexirecall", "rpp"):
            result = compare(labels, runs, label)
            of_pairs = {
                pair: result.explain(*pair)["preference"]
                for pair in itertools.combinations(runs, 2)
            }
            return np.sign(pd.DataFrame(of_pairs)).to_numpy().ravel()
        each = values(labels)
        pairs = itertools.combinations(runs, 2)
        table = pd.DataFrame(
            {(a, b): np.sign((each[a] - each[b]).round(12)) for a, b in pairs}
        )
        return table.to_numpy().ravel()

    before, after = decisions(qrels), decisions(degraded)
    return {
        "ties": (after == 0).mean(),
        "agreement": (after == before).mean(),
        "reversals": (after * before < 0).mean(),
        "kendall": stats.kendalltau(
            values(qrels).mean().round(12), values(degraded).mean().round(12)
        ).statistic,
    }


@pytest.mark.sparse
@pytest.mark.parametrize("policy", ["random", "pool", "frequency"])
@pytest.mark.parametrize(
    "label", ["LR", "TSE", "AP", "nDCG@3", "Bpref", "R@2", "lexirecall", "rpp"]
)
def test_ties_and_agreement_are_those_of_qrels_without_the_labels(label, policy):
    table = Study(label, QRELS, RUNS).degrade(
        [0, 0.5, 0.75], policy=policy, n_samples=2, seed=7
    )
    removed = removals([0, 0.5, 0.75], policy, 2, 7)
    assert len(table) == 6
    for row in table.to_dict("records"):
        gone = removed[row["fraction"], row["sample"]]
        assert row["removed"] == len(gone)
        expected = expected_rows(label, QRELS, RUNS, row["fraction"], gone)
        assert {name: row[name] for name in expected} == pytest.approx(
            expected, nan_ok=True
        )


def test_labels_of_all_aspects_go():
    qrels = pd.DataFrame(
        {
            "query_id": "q",
            "doc_id": ["a", "b", "c"],
            "relevance": [1, 2, 1],
            "quality": [1, 1, 0],
        }
    )
    judgments = without_labels(
        Judgments.from_qrels(qrels), np.array([True, False, False])
    )
    assert judgments.grade.tolist() == [0, 2, 1]
    assert np.nan_to_num(judgments.labels(["quality"])["quality"], nan=0).tolist() == [
        0,
        1,
        0,
    ]
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    by_hand = qrels.assign(relevance=[0, 2, 1], quality=[0, 1, 0])
    for measure in (
        "TOMA(aspects={'relevance':2,'quality':1})",
        "CAM(aspects={'relevance':2,'quality':1})",
    ):
        expected = evaluate(measure, by_hand, run)[measure].tolist()
        assert scoring.values(
            parse_measure(measure), align(judgments, run)
        ) == pytest.approx(expected)


@pytest.mark.parametrize("policy", ["random", "pool"])
def test_aggregates_are_the_means_over_samples(policy):
    options = {"policy": policy, "n_samples": 3, "seed": 2}
    table = Study(["LR", "lexirecall"], QRELS, RUNS).degrade([0.2, 0.7], **options)
    means = Study(["LR", "lexirecall"], QRELS, RUNS).degrade(
        [0.2, 0.7], aggregate=True, **options
    )
    assert means[["measure", "fraction"]].apply(tuple, axis=1).tolist() == [
        ("LR", 0.2),
        ("LR", 0.7),
        ("lexirecall", 0.2),
        ("lexirecall", 0.7),
    ]
    for row in means.itertuples():
        rows = table[
            (table["measure"] == row.measure) & (table["fraction"] == row.fraction)
        ]
        for column in ("removed", "ties", "agreement", "reversals", "kendall"):
            assert getattr(row, column) == pytest.approx(
                rows[column].mean(), nan_ok=True
            )
    assert means.attrs == table.attrs
