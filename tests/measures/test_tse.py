"""Total search efficiency against its definition."""

from __future__ import annotations

import math
from typing import Any

import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall import TSE
from tests.conftest import CUTOFFS, collections, reference_values, values


@st.composite
def parameters(draw: st.DrawFn, n: st.SearchStrategy[int | None]) -> dict[str, Any]:
    size = draw(n)
    exposures = ["AP", "RR", "nDCG", "RBP"] + ["linear"] * (size is not None)
    return {
        "exposure": draw(st.sampled_from(exposures)),
        "p": draw(st.sampled_from([0.01, 0.5, 0.8, 0.95])),
        "n": size,
        "rel": draw(st.sampled_from([0.5, 1, 2, 2.5, 4, 9])),
        "cutoff": draw(CUTOFFS),
        "impute": draw(st.sampled_from(["pessimistic", "optimistic"])),
        "normalize": draw(st.booleans()),
    }


@given(collections(), parameters(n=st.none() | st.integers(200, 10**6)))
def test_tse_is_the_exposure_of_the_last_relevant_document(collection, parameters):
    expected = reference_values(reference.tse, *collection, **parameters)
    assert values(TSE(**parameters), *collection) == pytest.approx(
        expected, rel=1e-12, abs=1e-15
    )


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, 0.0),
        ({"n": 100}, 1 / 100),
        ({"n": 100, "exposure": "linear"}, 0.0),
        ({"impute": "optimistic"}, 1 / 4),
        ({"impute": "optimistic", "cutoff": 1}, 1 / 3),
        ({"rel": 2}, 1 / 3),
        ({"rel": 2, "normalize": True}, 1 / 3),
        ({"rel": 2, "n": 3, "normalize": True}, 0.0),
        ({"rel": 3}, 0.0),
        ({"rel": 3, "normalize": True}, 0.0),
    ],
)
def test_tse_of_a_ranking_that_misses_one_of_two_relevant_documents(
    parameters, expected
):
    qrels = {"q": {"a": 2, "b": 1}}
    run = {"q": {"x": 3.0, "y": 2.0, "a": 1.0}}
    assert values(TSE(**parameters), qrels, run) == {
        "q": pytest.approx(expected, rel=1e-15)
    }


def test_normalized_tse_is_1_where_best_and_worst_meet():
    qrels = {"q": {"a": 1, "b": 1}}
    assert values(TSE(n=2, normalize=True), qrels, {}) == {"q": 1.0}


def test_n_has_room_for_a_missing_document_right_below_the_ranking():
    with pytest.raises(ValueError, match="n=2 is smaller than rank 3"):
        values(
            TSE(n=2, impute="optimistic"), {"q": {"c": 1}}, {"q": {"a": 2.0, "b": 1.0}}
        )


@pytest.mark.parametrize(
    ("exposure", "expected"),
    [("AP", 1 / 4), ("RR", 1 / 4), ("nDCG", 1 / math.log2(5)), ("RBP", 0.3 * 0.7**3)],
)
def test_exposures_of_the_last_relevant_document(
    exposure: str, expected: float
) -> None:
    qrels = {"q": {"a": 1, "b": 1}}
    run = {"q": {"a": 4.0, "x": 3.0, "y": 2.0, "b": 1.0}}
    value = TSE(exposure=exposure, p=0.7).calc_aggregate(qrels, run)
    assert value == pytest.approx(expected, rel=1e-15)
