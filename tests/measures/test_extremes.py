"""Values at the ends of the scales: top grades whose powers of 2 no float holds, hoped-for gains, sizes, cutoffs."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import (
    CWL_ERR8,
    CWL_ERR9,
    CWL_ERR10,
    CWL_ERR11,
    CWL_RBP,
    LR,
    RBU,
    TOMA,
    TSE,
)
from ir_lexirecall.measures.cwl import GERR
from ir_lexirecall.measures.discounts import gain, inverse_square_sum
from ir_lexirecall.measures.diversity import CT, EU

RUN = {"q": {"a": 4.0, "x": 3.0, "b": 2.0, "y": 1.0}}
LARGE = [1000, 1022, 1023, 1023.5, 1024, 1025, 2000, 10**7, 1e300]


@pytest.fixture(autouse=True)
def _no_overflow() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def value(measure: Any, qrels: Any, run: Any = RUN) -> float:
    return float(irl.evaluate(measure, qrels, run).iloc[0, 0])


# -- gains -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("top", LARGE)
def test_gains_of_large_grades_are_those_of_their_distance_to_the_top(top):
    assert gain(
        np.array([top, top - 1.0, 0.0, 1.0]), top, "exp"
    ).tolist() == pytest.approx(
        [1.0, 2.0 ** -(top - (top - 1.0)), 0.0, 0.0], abs=1e-290
    )


@given(st.lists(st.tuples(st.integers(0, 1100), st.integers(0, 1100)), min_size=1))
def test_gains_do_not_depend_on_the_others_of_an_array(pairs):
    grade, top = (
        np.array(column, dtype=float)
        for column in zip(*map(sorted, pairs), strict=True)
    )
    together = gain(grade, np.maximum(top, 1), "exp")
    alone = [
        gain(np.array([g]), max(t, 1), "exp")[0]
        for g, t in zip(grade, top, strict=True)
    ]
    assert together.tolist() == alone
    exact = [
        float((Fraction(2) ** int(g) - 1) / Fraction(2) ** max(1, int(t)))
        for g, t in zip(grade, top, strict=True)
    ]
    assert together.tolist() == exact


MEASURES_OF_TOP = [
    lambda top: CWL_ERR8(max_rel=top) @ 10,
    lambda top: CWL_ERR9(max_rel=top) @ 10,
    lambda top: CWL_ERR10(max_rel=top),
    lambda top: CWL_ERR11(max_rel=top),
    lambda top: CWL_RBP(max_rel=top),
    lambda top: CWL_RBP(max_rel=top, unjudged="best"),
    lambda top: RBU(max_rel=top),
    lambda top: RBU(),
    lambda top: EU(),
    lambda top: CT(),
    lambda top: CT(saturation=1.5),
    lambda top: ir_measures.nDCG(dcg="exp-log2"),
]


@pytest.mark.parametrize("top", LARGE)
@pytest.mark.parametrize("measure", MEASURES_OF_TOP)
def test_values_of_large_grades_are_those_of_smaller_ones(measure, top):
    """From 60 on, a scale and the same scale 500 grades higher have gains that are equal as floats."""
    below = 0 if top > 1e15 else 1
    here = value(measure(top), {"q": {"a": top - below, "b": top, "c": 0}})
    there = value(measure(500), {"q": {"a": 500 - below, "b": 500, "c": 0}})
    assert here == pytest.approx(there, rel=1e-14)


@pytest.mark.parametrize(
    "base", ["RBU", "RBU(normalize=True)", "RBP", "nDCG(dcg='exp-log2')"]
)
def test_many_label_weights_have_finite_gains(base):
    """On the scale of CLEF eHealth, two aspects from 0 to 100, there are thousands of weights."""
    labels = {
        "relevance": [2, 1, 0],
        "trustworthiness": [90, 100, 0],
        "understandability": [70, 20, 0],
    }
    qrels = pd.DataFrame({"query_id": "q", "doc_id": ["a", "b", "c"], **labels})
    measure = TOMA(
        aspects={"relevance": 2, "trustworthiness": 100, "understandability": 100},
        base=base,
    )
    assert 0 < value(measure, qrels) < np.inf


# -- the hoped-for gain of Equation 11 ------------------------------------------------------------------


def exact_err11(t: float, r: dict[int, float], last: int) -> float:
    """CWL_ERR11 of a ranking in which the user stops at rank ``last``: sums of fractions."""
    v, items, utility = Fraction(1), Fraction(0), Fraction(0)
    for i in range(1, last + 1):
        here = Fraction(r.get(i, 0.0))
        items, utility = items + v, utility + v * here
        v *= ((i + 2 * Fraction(t) - 1) / (i + 2 * Fraction(t))) ** 2 * (1 - here)
    assert v == 0
    return float(utility / items)


@pytest.mark.parametrize(
    "t",
    [1e-300, 1e-16, 1e-8, 1e-5, 0.3, 1, 31.9, 32, 1e5, 1e8, 1e12, 1e16, 1e100, 1e300],
)
def test_err11_is_exact_for_every_gain_that_is_hoped_for(t):
    run = {"q": {str(i): -float(i) for i in range(1, 40)}}
    found = value(
        CWL_ERR11(T=t, max_rel=4, gain="linear"), {"q": {"3": 1, "20": 2, "30": 4}}, run
    )
    assert found == pytest.approx(
        exact_err11(t, {3: 0.25, 20: 0.5, 30: 1.0}, 30), rel=1e-13
    )


@given(st.floats(-12, 12), st.integers(1, 50))
def test_sums_of_inverse_squares_against_fractions(exponent, terms):
    start = 10.0**exponent
    exact = float(
        sum((Fraction(start) / (Fraction(start) + j)) ** 2 for j in range(terms))
    )
    assert inverse_square_sum(start, np.array([start]), np.array([float(terms)]))[
        0
    ] == pytest.approx(exact, rel=1e-14)


@given(st.floats(-3, 8))
def test_endless_sums_of_inverse_squares_lose_a_term_with_every_step(exponent):
    start = np.array([10.0**exponent])
    here, there = (
        inverse_square_sum(1, first, np.array([np.inf]))[0]
        for first in (start, start + 1)
    )
    assert here == pytest.approx(there + start[0] ** -2.0, rel=1e-14)


@pytest.mark.parametrize("t", [-0.5, 0, 1.01e300, 10**400, float("inf")])
def test_other_hoped_for_gains_are_refused(t):
    some = [ir_measures.INST(T=t, min_rel=0, max_rel=1)]
    for measure in (
        some if t == 0 else [*some, CWL_ERR11(T=t, max_rel=1)]
    ):  # T = 0 looks at rank 1 only
        with pytest.raises(ValueError, match=r"T must be a number|invalid param T="):
            irl.evaluate(measure, {"q": {"a": 1}}, RUN)


@pytest.mark.parametrize("cutoff", [None, 10**12])
def test_a_gain_of_unjudged_documents_that_takes_for_ever_to_sum_is_refused(cutoff):
    with pytest.raises(
        ValueError, match=r"unjudged documents, 6\.93e-10, is too small"
    ):
        irl.evaluate(
            GERR(max_rel=1e-9, unjudged="best", cutoff=cutoff),
            {"q": {"a": 0, "b": 1e-9}},
            RUN,
        )
    assert value(
        GERR(max_rel=1e-9, unjudged="best") @ 5, {"q": {"a": 0, "b": 1e-9}}
    ) == pytest.approx(6.93e-10 * (1 / 2 + 1 / 3 + 1 / 4 + 1 / 5), rel=0.01)


# -- sizes -------------------------------------------------------------------------------------------


def test_collections_are_at_most_as_large_as_floats_can_count():
    qrels = {"q": {"a": 1, "c": 1}}
    for n in (2**53, 2**52):
        assert value(LR(form="weighted", n=n), {"q": {"x": 1}}) == float(
            Fraction(n - 2, n)
        )
        assert value(TSE(n=n), qrels) == 1 / n
    for n in (2**53 + 1, 2**63, 2**64, 2**70):
        for measure in (
            LR(form="weighted", n=n),
            TSE(n=n),
            TSE(n=n, exposure="linear"),
        ):
            with pytest.raises(
                ValueError,
                match=r"n must be an integer of at least 1 and at most 2\^53",
            ):
                irl.evaluate(measure, qrels, RUN)


def test_cutoffs_of_diversity_measures_beyond_every_ranking():
    qrels = [ir_measures.Qrel("q", "a", 1, "1"), ir_measures.Qrel("q", "c", 1, "2")]
    for measure in (
        ir_measures.alpha_DCG(alpha=0.25),
        ir_measures.ERR_IA,
        ir_measures.alpha_nDCG,
    ):
        assert value(measure @ 10**15, qrels) == pytest.approx(
            value(measure @ 2000, qrels), rel=1e-14
        )
    with pytest.raises(ValueError, match="the cutoff must be at most 16,777,216"):
        irl.evaluate(ir_measures.alpha_DCG(alpha=1e-9) @ 10**15, qrels, RUN)


def test_scales_with_too_many_combinations_are_refused():
    qrels = pd.DataFrame(
        {"query_id": ["q"], "doc_id": ["a"], "relevance": [1], "b": [1], "c": [1]}
    )
    with pytest.raises(ValueError, match="integer from 1 to 1,000,000"):
        irl.evaluate(TOMA(aspects={"relevance": 10**12}), qrels, RUN)
    with pytest.raises(ValueError, match="combinations of labels"):
        irl.evaluate(
            TOMA(aspects={"relevance": 20_000, "b": 20_000, "c": 20_000}), qrels, RUN
        )


# -- what mutation testing found untested ----------------------------------------------------------


@pytest.mark.parametrize("relevant", [1, 3])
def test_where_every_document_is_relevant_normalised_tse_is_1(relevant: int) -> None:
    docs = [f"d{i}" for i in range(relevant)]
    run = {"q": {doc: -float(i) for i, doc in enumerate(docs)}}
    assert irl.evaluate(
        TSE(normalize=True, n=relevant), {"q": dict.fromkeys(docs, 1)}, run
    ).to_numpy() == [[1.0]]
