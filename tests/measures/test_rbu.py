"""Rank-biased utility against its definition, summed term by term."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import Qrel

from ir_lexirecall import RBU, describe, evaluate
from tests.conftest import (
    CUTOFFS,
    collections,
    reference_values,
    subtopic_collections,
    subtopic_table,
    values,
)


@st.composite
def parameters(draw: st.DrawFn) -> dict[str, Any]:
    p = draw(st.sampled_from([0.01, 0.5, 0.9, 0.99, 0.99999, 1]))
    return {
        "p": p,
        "e": draw(st.sampled_from([0, 0.03, 0.05, 2])),
        "cutoff": draw(CUTOFFS),
        "gain": draw(st.sampled_from(["exp", "linear"])),
        "max_rel": draw(st.sampled_from([None, 4, 4.5, 6])),
        "normalize": p < 1 and draw(st.booleans()),
    }


@given(
    subtopic_collections(), parameters(), st.sampled_from(["iteration", "subtopic_id"])
)
def test_rbu_is_the_utility_over_all_aspects_less_the_effort(
    collection, parameters, column
):
    judgments, run = collection
    expected = reference_values(reference.rbu, judgments, run, **parameters)
    found = values(RBU(**parameters), subtopic_table(judgments, column), run)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-13)


@given(
    subtopic_collections(),
    parameters(),
    st.lists(st.sampled_from([0.25, 1, 1, 3, 100]), min_size=1, max_size=4),
)
def test_rbu_weighs_the_aspects_by_the_weight_column(
    collection, parameters, given_weights
):
    judgments, run = collection
    # Weights belong to an aspect of a query: neighbouring queries give the same aspect another one.
    weights = {
        (q, aspect): given_weights[(i + j) % len(given_weights)]
        for i, (q, aspects) in enumerate(judgments.items())
        for j, aspect in enumerate(aspects)
    }
    qrels = subtopic_table(judgments, "subtopic_id")
    qrels["weight"] = [
        weights[pair]
        for pair in zip(qrels["query_id"], qrels["subtopic_id"], strict=True)
    ]
    expected = {
        q: reference.rbu(
            reference.order(run.get(q, {})),
            aspects,
            {t: weights[q, t] for t in aspects},
            **parameters,
        )
        for q, aspects in judgments.items()
    }
    assert values(RBU(**parameters), qrels, run) == pytest.approx(
        expected, rel=1e-12, abs=1e-13
    )


@given(collections(), parameters())
def test_rbu_of_qrels_without_aspects_has_one_aspect(collection, parameters):
    qrels, run = collection
    expected = reference_values(
        reference.rbu,
        {q: {"0": grades} for q, grades in qrels.items()},
        run,
        **parameters,
    )
    assert values(RBU(**parameters), qrels, run) == pytest.approx(
        expected, rel=1e-12, abs=1e-13
    )


def test_subtopics_are_aspects_before_iterations_are():
    rows = [("q", "a", 1, "1", "x"), ("q", "b", 1, "2", "x")]
    qrels = pd.DataFrame(
        rows, columns=["query_id", "doc_id", "relevance", "subtopic_id", "iteration"]
    )
    run = {"q": {"a": 2.0, "b": 1.0}}
    assert values(RBU(p=1, e=0), qrels, run) == {
        "q": pytest.approx(0.5)
    }  # as one aspect: 1/2 + 1/4


def test_an_aspect_of_weight_0_does_not_count():
    rows = [("q", "a", 1, "1", 2.0), ("q", "b", 1, "2", 0.0)]
    qrels = pd.DataFrame(
        rows, columns=["query_id", "doc_id", "relevance", "subtopic_id", "weight"]
    )
    assert values(RBU(p=1, e=0), qrels, {"q": {"a": 1.0, "b": 2.0}}) == {"q": 0.5}


def test_reading_costs_effort_only_where_something_is_relevant():
    qrels = [
        Qrel("one", "a", 1, "1"),
        Qrel("one", "a", 0, "2"),
        Qrel("none", "a", 0, "1"),
        Qrel("none", "a", -1, "2"),
    ]
    run = {q: {"x": 2.0, "y": 1.0} for q in ("one", "none")}
    assert values(RBU(p=0.5, e=0.1), qrels, run) == {
        "one": pytest.approx(-0.1 * 0.75),
        "none": 0.0,
    }


def test_rbu_of_a_long_ranking():
    depth, p, e = 100_000, 0.9999, 0.05
    run = {"q": {f"x{i}": float(-i) for i in range(depth - 1)} | {"a": float(-depth)}}
    effort = e * sum(p**i for i in range(1, depth + 1))
    found = values(RBU(p=p, e=e, max_rel=1), {"q": {"a": 1}}, run)
    assert found == {"q": pytest.approx(0.5 * p**depth - effort, rel=1e-12)}


def test_what_is_said_of_perfect_documents_above_a_thousand_others():
    qrels = [Qrel("q", "a", 1, "t"), Qrel("q", "b", 1, "u")]
    run = {"q": {f"x{i}": float(-i) for i in range(1000)} | {"a": 2.0, "b": 1.0}}
    value = values(RBU, qrels, run)["q"]
    assert value == pytest.approx(
        0.99 / 4 + 0.99**2 / 4 - 0.05 * sum(0.99**i for i in range(1, 1003))
    )
    assert f"1,000 others give {value:.2f} by default" in " ".join(
        str(describe("RBU")).split()
    )


@pytest.mark.parametrize("p", [0.5, 0.9, 1.0])
@pytest.mark.parametrize("e", [0.0, 0.05])
@pytest.mark.parametrize("k", [1, 3, 20])
@pytest.mark.parametrize("normalize", [False, True])
def test_the_range_is_that_of_utility_and_of_effort(
    p: float, e: float, k: int, normalize: bool
) -> None:
    if normalize and p == 1:
        return  # not defined
    scale = (1 - p) / p if normalize else 1.0
    effort = sum(p**i for i in range(1, k + 1))
    measure = RBU(p=p, e=e, normalize=normalize) @ k
    low, high = measure.value_range()
    assert low == pytest.approx(-e * effort * scale)
    assert high == pytest.approx(p * scale)


def test_a_cutoff_counts_its_last_rank_in_many_queries_at_once() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1, "c": 1} for i in range(300)}
    run = {q: {"x": 4.0, "a": 3.0, "b": 2.0, "c": 1.0} for q in qrels}
    measure = RBU(p=0.9, e=0) @ 2
    [one] = evaluate([measure], {"q": qrels["q0"]}, {"q": run["q0"]}).iloc[:, -1]
    many = evaluate([measure], qrels, run).iloc[:, -1]
    assert one > 0
    assert set(many) == {one}
