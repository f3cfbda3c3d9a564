"""Metric unanimity, pair by pair and by the paper's example."""

from __future__ import annotations

import itertools
import math

import pytest
from studying import values_of

from ir_lexirecall.meta import Study

# -- unanimity ---------------------------------------------------------------------------------------


def counted_unanimity(values, judged, others):
    """MU over ordered pairs, one by one; ``values`` by measure, shape ``(Q, S)``."""
    pairs = unanimous = 0
    joint = 0.0
    queries, size = values[judged].shape
    for q in range(queries):
        for i, j in itertools.permutations(range(size), 2):
            pairs += 1
            if all(values[m][q, i] >= values[m][q, j] for m in others):
                unanimous += 1
                change = values[judged][q, i] - values[judged][q, j]
                joint += 1 if change > 0 else 0.5 if change == 0 else 0
    if not unanimous:
        return math.nan
    return (
        math.log2((joint / pairs) / (0.5 * unanimous / pairs)) if joint else -math.inf
    )


def test_unanimity_pair_by_pair(collection):
    measures = ["RR", "P@5", "R@10", "LR"]
    table = Study(measures, *collection).unanimity()
    values = {label: values_of(label, *collection) for label in measures}
    expected = {
        label: counted_unanimity(values, label, [m for m in measures if m != label])
        for label in measures
    }
    assert dict(
        zip(table["measure"], table["unanimity"], strict=True)
    ) == pytest.approx(expected)


SMALL = {"s1": (1, 2), "s2": (1, 3), "s3": (2, 3)}
"""Runs of three documents, two of them relevant, by the ranks of these."""


def small_runs(*, queries=1):
    """All rankings of three documents on every query, in turn."""
    qrels = {f"q{q}": {"a": 1, "b": 1} for q in range(queries)}
    names = list(SMALL)
    runs = {
        name: {
            query: {
                doc: -float(rank)
                for doc, rank in zip("ab", SMALL[names[(i + q) % 3]], strict=True)
            }
            | {"x": -float(({1, 2, 3} - set(SMALL[names[(i + q) % 3]])).pop())}
            for q, query in enumerate(qrels)
        }
        for i, name in enumerate(names)
    }
    return qrels, runs


def test_unanimity_of_all_small_rankings():
    """Every set of measures, over all rankings of three documents."""
    collection = small_runs(queries=3)
    measures = ["RR", "AP", "R@1", "R@2", "TSE"]
    values = {label: values_of(label, *collection) for label in measures}
    for size in (2, 3, 4, 5):
        for some in itertools.combinations(measures, size):
            table = (
                Study(some, *collection).unanimity().set_index("measure")["unanimity"]
            )
            for label in some:
                expected = counted_unanimity(
                    values, label, [m for m in some if m != label]
                )
                assert table[label] == pytest.approx(expected, nan_ok=True), (
                    label,
                    some,
                )


def test_the_example_of_the_paper():
    """m1 (1, .5, .2), m2 (.8, .3, .4), m3 (1, .2, .5): log2(4/3) for m1."""
    qrels = {"q": dict.fromkeys("abcde", 1)}
    runs = {  # RR orders s1 > s2 > s3; R@4 and P@5 order s1 > s3 > s2
        "s1": {"q": {"a": 9.0, "b": 8.0, "c": 7.0, "d": 6.0}},  # ranks 1, 2, 3, 4
        "s2": {"q": {"x": 9.0, "a": 8.0, "y": 7.0, "z": 6.0}},  # rank 2
        "s3": {"q": {"x": 9.0, "y": 8.0, "a": 7.0, "b": 6.0}},  # ranks 3, 4
    }
    table = Study(["RR", "R@4", "P@5"], qrels, runs).unanimity().set_index("measure")
    assert table.loc["RR", ["pairs", "unanimous", "joint"]].tolist() == [6, 3, 2]
    assert table.loc["RR", "unanimity"] == pytest.approx(math.log2(4 / 3), abs=1e-15)
    assert f"{table.loc['RR', 'unanimity']:.3f}" == "0.415"
    # R@4: RR and P@5 agree on two of the pairs, which R@4 orders alike.
    assert table.loc["R@4", ["unanimous", "joint", "unanimity"]].tolist() == [2, 2, 1]


def test_a_measure_is_judged_by_the_others_only():
    """RR orders three runs; R@4 puts two of the three pairs in the same order, the third the other way."""
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    runs = {
        "s1": {"q": {"a": 9.0, "x": 8.0, "b": 7.0, "y": 6.0}},  # ranks 1, 3
        "s2": {"q": {"x": 9.0, "a": 8.0, "b": 7.0, "c": 6.0}},  # ranks 2, 3, 4
        "s3": {"q": {"x": 9.0, "y": 8.0, "a": 7.0, "z": 6.0}},  # rank 3
    }
    table = Study(["R@4", "RR"], qrels, runs).unanimity().set_index("measure")
    # RR: s1 > s2 > s3, three unanimous pairs; R@4: s2 > s1 > s3, two of them in the same direction.
    for label in ("R@4", "RR"):
        assert table.loc[label, ["pairs", "unanimous", "joint"]].tolist() == [6, 3, 2]
        assert table.loc[label, "unanimity"] == pytest.approx(
            math.log2(4 / 3), abs=1e-15
        )


def test_a_measure_of_two_labels_is_not_judged_by_itself(collection):
    twice = (
        Study({"a": "RR", "b": "RR", "c": "P@5"}, *collection)
        .unanimity()["unanimity"]
        .tolist()
    )
    assert (
        twice[:2]
        == Study(["RR", "P@5"], *collection).unanimity()["unanimity"].tolist()[:1] * 2
    )


def test_measures_that_never_agree_have_no_unanimity():
    qrels = {"q": {"a": 1, "b": 1}}
    runs = {
        "x": {"q": {"a": 3.0}},
        "y": {"q": {"x": 3.0, "a": 2.0, "b": 1.0}},
    }  # RR prefers x, R@3 y
    table = Study(["RR", "R@3", "P@1"], qrels, runs).unanimity().set_index("measure")
    assert table.loc["P@1", "unanimous"] == 0
    assert math.isnan(table.loc["P@1", "unanimity"])
    assert (
        Study(["RR", "R@3"], qrels, runs).unanimity()["unanimity"].tolist()
        == [-math.inf] * 2
    )
