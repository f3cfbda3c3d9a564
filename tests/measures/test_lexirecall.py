"""Lexicographic recall against its definition, bit for bit: both sides round once, from exact numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall import LR
from ir_lexirecall.measures import recall
from tests.conftest import (
    CUTOFFS,
    at_ranks,
    collections,
    judged,
    placements,
    reference_values,
    retrieved,
    values,
    values_of_placements,
)

pytestmark = pytest.mark.sparse

RELS = st.sampled_from([0.5, 1, 2, 2.5, 4, 9])
EPS = st.sampled_from([0.5, 0.99, 1e-3, 0.1, 0.725])


@pytest.fixture(
    params=[(0, 96, 512), (10**9, 96, 512), (10**9, 0, 512), (10**9, 96, 0)],
    ids=["arrays", "integers", "each of the last", "bounds"],
    autouse=True,
    scope="module",
)
def ways(request):
    """Score the same cases in every way: one query or many at once, terms one from the other, bounds."""
    few, many, quadratic = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recall, "_FEW", few)
        patch.setattr(recall, "_MANY", many)
        patch.setattr(recall, "_QUADRATIC", quadratic)
        yield


@given(collections(), RELS, CUTOFFS)
def test_nested_lexirecall_is_the_exact_number_rounded_once(collection, rel, cutoff):
    expected = reference_values(
        reference.lexirecall, *collection, rel=rel, cutoff=cutoff
    )
    assert values(LR(rel=rel, cutoff=cutoff), *collection) == expected


@given(
    st.lists(placements(20), min_size=1, max_size=6),
    st.integers(20, 40) | st.sampled_from([300, 3_000]),
)
def test_nested_lexirecall_is_exact_in_integers_of_any_size(placed, relevant):
    rankings = [at_ranks(ranks) for ranks in placed]
    expected = [
        reference.lexirecall(
            list(retrieved(ranking)),
            judged(ranking, [1] * (relevant - ranking.count(1))),
        )
        for ranking in rankings
    ]
    assert values_of_placements(LR, relevant, *placed) == expected


@given(collections(), RELS, CUTOFFS, st.integers(200, 10**6), EPS)
def test_weighted_lexirecall_is_the_exact_number_rounded_once(
    collection, rel, cutoff, n, eps
):
    parameters = {"form": "weighted", "rel": rel, "cutoff": cutoff, "n": n, "eps": eps}
    expected = reference_values(reference.lexirecall, *collection, **parameters)
    assert values(LR(**parameters), *collection) == expected


@pytest.mark.sparse
@pytest.mark.parametrize(
    "form",
    [
        {},
        {"form": "weighted", "n": 150_000},
        {"form": "weighted", "n": 10**9, "eps": 0.25},
    ],
)
@pytest.mark.parametrize(
    ("relevant", "depth", "missing"),
    [
        (1, 100_000, 0),
        (2, 100_000, 1),
        (40, 1_000, 300),
        (300, 1_000, 0),
        (400, 5_000, 100),
        (600, 600, 0),
    ],
)
def test_lexirecall_of_deep_rankings_with_many_relevant_documents(
    form, relevant, depth, missing
):
    ranks = [
        *np.random.default_rng(relevant)
        .choice(depth - 1, relevant - 1, replace=False)
        .tolist(),
        depth - 1,
    ]
    ranking = [f"d{rank}" for rank in range(depth)]
    grades = {ranking[rank]: 1 for rank in ranks} | {
        f"missing{i}": 1 for i in range(missing)
    }
    run = {"q": {doc: float(-rank) for rank, doc in enumerate(ranking)}}
    assert values(LR(**form), {"q": grades}, run) == {
        "q": reference.lexirecall(ranking, grades, **form)
    }


def hard_rankings():
    """Return a strategy of ranks: ideal tops, long gaps, dense tails, and fractions close to 0 or 1."""
    near_ideal = st.builds(
        lambda top, gaps: [*range(1, top + 1), *np.cumsum([top, *gaps])[1:].tolist()],
        st.integers(0, 300),
        st.lists(
            st.integers(1, 3) | st.sampled_from([64, 65, 1000, 4096]),
            min_size=1,
            max_size=12,
        ),
    )
    dense_tail = st.builds(
        lambda start, count: list(range(start, start + count)),
        st.integers(2, 600),
        st.integers(1, 80),
    )
    return (
        near_ideal | dense_tail | st.sets(st.integers(2, 900), min_size=1).map(sorted)
    )


@given(hard_rankings(), st.sampled_from([1, 2, 8, 64, 128]))
def test_bounds_of_the_fraction_hold_it(ranks, bits):
    low, high = recall.fraction_bounds(ranks, bits)
    numerator, denominator = recall.exact_fraction(ranks)
    assert low * denominator <= numerator << bits <= high * denominator


@given(
    hard_rankings(),
    st.integers(0, 3) | st.sampled_from([2**9, 10**4]),
    st.sampled_from([1, 8, 128]),
)
def test_bounds_decide_the_last_bit(ranks, missing, bits):
    m = len(ranks) + missing
    better, placements = recall.exact_fraction(ranks)
    p_star = (ranks[-1] - 1) * placements + better
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recall, "_QUADRATIC", 0)
        patch.setattr(recall, "_PRECISION", bits)
        value = recall.nested_of_one(ranks, m)
    assert value == (len(ranks) * (p_star + placements)) / ((m + 1) * p_star)


def test_a_midpoint_between_floats_is_rounded_by_the_smallest_fraction():
    """Without the fraction, which is below 2^-1000 here, LR would lie halfway between two floats."""
    # LR = (r / (m + 1)) (1 + 1 / (2^53 + fraction)), and r / (m + 1) = 1 / 2.
    r, p_r = 1024, 2**53 + 1
    ranks = [*range(1, r), p_r]
    assert recall.fraction_bounds(ranks, 128) == (0, 1)
    assert recall.nested_of_one(ranks, 2 * r - 1) == 0.5


def test_twenty_thousand_relevant_documents_take_no_exact_binomials():
    ranks = sorted(
        np.random.default_rng(3).choice(10**6, 20_000, replace=False).tolist()
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recall, "exact_fraction", None)
        patch.setattr(recall, "_QUADRATIC", 512)
        assert 0.99 < recall.nested_of_one([rank + 1 for rank in ranks], 20_000) < 1


def test_terms_are_not_made_across_long_gaps():
    ranks = [
        *range(2, 200, 2),
        10**6,
        10**6 + 2,
        10**9,
    ]  # a product of a million factors would take minutes
    *earlier, last = ranks
    better = sum(math.comb(p - 1, i) for i, p in enumerate(earlier, start=1))
    placements = math.comb(last - 1, len(earlier))
    p_star = (last - 1) * placements + better + 1  # times `placements`
    m = len(ranks)
    assert recall.nested_of_one(ranks, m) == (m * (p_star + placements)) / (
        (m + 1) * p_star
    )
