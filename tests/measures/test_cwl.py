"""C/W/L variants of ERR, and ir_measures' NERR* and ERR, against their definitions, summed term by term."""

from __future__ import annotations

import math
from functools import partial

import ir_measures
import numpy as np
import pytest
import reference
from hypothesis import example, given
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import CWL_ERR8, CWL_ERR9, CWL_ERR10, CWL_ERR11, CWL_RBP
from tests.conftest import (
    by_field,
    collections,
    cwl_values,
    judged,
    reference_values,
    retrieved,
    values,
)

MAX_RELS = st.sampled_from([4, 4.5, 6])
GAINS = st.sampled_from(["exp", "linear"])
UNJUDGED = st.sampled_from(["worst", "best"])
PHIS = st.sampled_from([0, 0.05, 0.5, 0.6, 0.7, 0.9, 0.99])
TS = st.sampled_from([0, 0.01, 0.5, 1, 1.35, 3, 40])
DEEP_CUTOFFS = st.integers(1, 60) | st.sampled_from([999, 1000, 1001, 1500])


def assert_equals_reference(measure, score, collection):
    expected = by_field(reference_values(score, *collection))
    assert cwl_values(measure, *collection) == pytest.approx(
        expected, rel=1e-12, abs=1e-15
    )


SUMS = {
    CWL_ERR8: ("ERR8", "cutoff", DEEP_CUTOFFS),
    CWL_ERR9: ("ERR9", "cutoff", DEEP_CUTOFFS),
    CWL_ERR10: ("ERR10", "phi", PHIS),
    CWL_ERR11: ("ERR11", "T", TS),
    CWL_RBP: ("RBP", "phi", PHIS),
}


@pytest.mark.parametrize("measure", SUMS, ids=str)
@given(collections(), MAX_RELS, GAINS, UNJUDGED, st.data())
def test_cwl_measures_are_their_sums_over_ranks(
    measure, collection, max_rel, gain, unjudged, data
):
    name, further, values = SUMS[measure]
    parameters = {
        "max_rel": max_rel,
        "gain": gain,
        "unjudged": unjudged,
        further: data.draw(values),
    }
    assert_equals_reference(
        measure(**parameters), partial(reference.cwl, name, **parameters), collection
    )


@given(collections(st.sampled_from([0, 0, 0.25, 0.5, 1])), UNJUDGED)
@example(({"q": {"d": 0.5}}, {"q": {"d": 1.0}}), "worst")
def test_of_a_query_whose_grades_are_all_below_1_only_unjudged_documents_count(
    collection, unjudged
):
    parameters = {"max_rel": 1, "unjudged": unjudged}
    assert_equals_reference(
        CWL_RBP(**parameters), partial(reference.cwl, "RBP", **parameters), collection
    )


@pytest.mark.parametrize(
    "name",
    [
        "GERR(max_rel=2)",
        "GERR(max_rel=4,gain='linear')@3",
        "CWL_ERR8(max_rel=2)@4",
        "CWL_ERR9(max_rel=2)@3",
        "CWL_ERR10(max_rel=2)",
        "CWL_ERR11(max_rel=2)",
        "CWL_RBP(max_rel=2)",
    ],
)
def test_at_best_no_judging_gives_more(name):
    """Also where no judged document is relevant, and where none is judged that was retrieved."""
    rng = np.random.default_rng(3)
    qrels, run = {}, {}
    for q in map(str, range(400)):
        docs = rng.permutation(8)
        qrels[q] = {
            f"d{d}": int(rng.choice([0, 0, 0, 1, 2]))
            for d in docs[: rng.integers(1, 5)]
        }
        run[q] = {
            f"d{d}": float(-i)
            for i, d in enumerate(rng.permutation(8)[: rng.integers(0, 7)])
        }
    found = irl.evaluate([name.replace(")", ",unjudged='best')")], qrels, run).iloc[
        :, 0
    ]
    bounds = irl.judgment_bounds(name, qrels, run, max_rel=2)
    high = bounds.xs("high", axis=1, level="bound").iloc[:, 0]
    assert sum(max(grades.values()) == 0 for grades in qrels.values()) > 50
    assert (found.reindex(high.index) >= high - 1e-12).all()


# -- infinite sums ---------------------------------------------------------------------------------

SPARSE = [None, 3, None, 0, 1] + [None] * 40 + [4, 2] + [None] * 2_000 + [3, -1, 4]
LONG = 200_000


def partial_sums(measure, unjudged, phi_or_t):
    """Sum of V and of V r over the first ranks of ``SPARSE``, and V after them: with NumPy, rank by rank."""
    gains = np.full(LONG, 1 - 2.0**-4 if unjudged == "best" else 0.0)
    for place, grade in enumerate(SPARSE):
        if grade is not None and grade >= 0:  # a negative grade: pooled, not judged
            gains[place] = (2**grade - 1) / 2**4
    rank = np.arange(1, LONG + 1)
    go_on = {
        "CWL_ERR10": phi_or_t * (1 - gains),
        "CWL_ERR11": ((rank + 2 * phi_or_t - 1) / (rank + 2 * phi_or_t)) ** 2
        * (1 - gains),
        "CWL_RBP": np.full(LONG, phi_or_t),
    }[measure.NAME]
    after = np.cumprod(go_on)
    v = np.r_[1, after[:-1]]
    return math.fsum(v), math.fsum(v * gains), float(after[-1])


@pytest.mark.parametrize("unjudged", ["worst", "best"])
@pytest.mark.parametrize("phi", [0.01, 0.6, 0.99, 0.999])
@pytest.mark.parametrize("measure", [CWL_ERR10, CWL_RBP])
def test_a_geometric_sum_to_infinity_is_where_long_partial_sums_end(
    measure, phi, unjudged
):
    items, utility, _ = partial_sums(measure, unjudged, phi)
    found = cwl_values(
        measure(phi=phi, max_rel=4, unjudged=unjudged),
        {"q": judged(SPARSE)},
        {"q": retrieved(SPARSE)},
    )
    assert found["q", "expected_items"] == pytest.approx(items, rel=1e-12)
    assert found["q", "expected_total_utility"] == pytest.approx(utility, rel=1e-12)


@pytest.mark.parametrize("T", [0.01, 0.5, 1.35, 20])
def test_the_sum_of_inverse_squares_to_infinity_is_between_bounds_of_its_tail(T):
    items, utility, v = partial_sums(CWL_ERR11, "worst", T)
    found = cwl_values(
        CWL_ERR11(T=T, max_rel=4), {"q": judged(SPARSE)}, {"q": retrieved(SPARSE)}
    )
    # Beyond rank M the terms are v x^2 / (x + j)^2 with x = M + 2T; their sum is between v x and v (x + 1).
    tail = v * (LONG + 2 * T)
    assert (
        items + tail - 1e-10 < found["q", "expected_items"] < items + tail + v + 1e-10
    )
    assert found["q", "expected_total_utility"] == pytest.approx(utility, rel=1e-12)


@pytest.mark.parametrize("T", [0.01, 0.5, 1.35, 20])
def test_inverse_squares_end_early_where_unjudged_documents_have_gain(T):
    items, utility, _ = partial_sums(CWL_ERR11, "best", T)
    found = cwl_values(
        CWL_ERR11(T=T, max_rel=4, unjudged="best"),
        {"q": judged(SPARSE)},
        {"q": retrieved(SPARSE)},
    )
    assert found["q", "expected_items"] == pytest.approx(items, rel=1e-12)
    assert found["q", "expected_total_utility"] == pytest.approx(utility, rel=1e-12)


# -- ir_measures' own measures ---------------------------------------------------------------------

LEVELS = st.sampled_from([(0, 4), (0, 7), (1, 4), (-1, 5)])


NERR = {
    ir_measures.NERR8: ("cutoff", DEEP_CUTOFFS),
    ir_measures.NERR9: ("cutoff", DEEP_CUTOFFS),
    ir_measures.NERR10: ("p", PHIS.filter(bool) | st.just(0.999)),
    ir_measures.NERR11: ("T", TS.filter(bool).map(float)),
}


@pytest.mark.slow_except("NERR10")
@pytest.mark.parametrize("measure", NERR, ids=str)
@given(collections(), LEVELS, st.data())
def test_nerr_are_their_sums_over_at_most_1000_ranks(measure, collection, levels, data):
    further, values = NERR[measure]
    parameters = {
        "min_rel": levels[0],
        "max_rel": levels[1],
        further: data.draw(values),
    }
    assert_equals_reference(
        measure(**parameters),
        partial(reference.nerr, measure.NAME, **parameters),
        collection,
    )


@pytest.mark.parametrize(
    "measure",
    [ir_measures.NERR8 @ 2000, ir_measures.NERR9 @ 2000, ir_measures.NERR10(p=0.999)],
)
def test_nerr_ignores_what_is_ranked_below_1000(measure):
    above, below = [None, 0, 2] + [None] * 996 + [1], [1, None, 2]
    deep, cut = above + below, above
    grades = judged(deep)
    found = cwl_values(
        measure(max_rel=2),
        {"deep": grades, "cut": grades},
        {"deep": retrieved(deep), "cut": retrieved(cut)},
    )
    assert {field: value for (q, field), value in found.items() if q == "deep"} == {
        field: value for (q, field), value in found.items() if q == "cut"
    }


@pytest.mark.parametrize(
    "measure",
    [
        CWL_ERR10(max_rel=3),
        CWL_ERR8(max_rel=3) @ 5,
        ir_measures.NERR11(max_rel=3),
        ir_measures.NERR8(max_rel=3) @ 5,
    ],
)
def test_a_grade_above_max_rel_is_refused(measure):
    with pytest.raises(
        ValueError,
        match=r"'d2' of query 'q' has grade 4, above max_rel=3 \(and 1 other case\)",
    ):
        values(measure, {"q": {"d1": 3, "d2": 4, "d3": 5}}, {"q": {"d1": 1.0}})
