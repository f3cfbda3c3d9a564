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

RELS = st.sampled_from([0.5, 1, 2, 2.5, 4, 9])
EPS = st.sampled_from([0.5, 0.99, 1e-3, 0.1, 0.725])


@pytest.fixture(
    params=[(0, 96), (10**9, 96), (10**9, 0)],
    ids=["arrays", "integers", "each of the last"],
    autouse=True,
    scope="module",
)
def ways(request):
    """Few queries are scored one by one, many at once; many terms are made one from the other: all on the same cases."""
    few, many = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recall, "_FEW", few)
        patch.setattr(recall, "_MANY", many)
        yield


@given(collections(), RELS, CUTOFFS)
def test_nested_lexirecall_is_the_exact_number_rounded_once(collection, rel, cutoff):
    expected = reference_values(reference.lexirecall, *collection, rel=rel, cutoff=cutoff)
    assert values(LR(rel=rel, cutoff=cutoff), *collection) == expected


@given(
    st.lists(placements(20), min_size=1, max_size=6),
    st.integers(20, 40) | st.sampled_from([300, 3_000]),
)
def test_nested_lexirecall_is_exact_in_integers_of_any_size(placed, relevant):
    rankings = [at_ranks(ranks) for ranks in placed]
    expected = [
        reference.lexirecall(
            list(retrieved(ranking)), judged(ranking, [1] * (relevant - ranking.count(1)))
        )
        for ranking in rankings
    ]
    assert values_of_placements(LR, relevant, *placed) == expected


@given(collections(), RELS, CUTOFFS, st.integers(200, 10**6), EPS)
def test_weighted_lexirecall_is_the_exact_number_rounded_once(collection, rel, cutoff, n, eps):
    parameters = {"form": "weighted", "rel": rel, "cutoff": cutoff, "n": n, "eps": eps}
    expected = reference_values(reference.lexirecall, *collection, **parameters)
    assert values(LR(**parameters), *collection) == expected


@pytest.mark.parametrize(
    "form", [{}, {"form": "weighted", "n": 150_000}, {"form": "weighted", "n": 10**9, "eps": 0.25}]
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
def test_lexirecall_of_deep_rankings_with_many_relevant_documents(form, relevant, depth, missing):
    ranks = [
        *np.random.default_rng(relevant).choice(depth - 1, relevant - 1, replace=False).tolist(),
        depth - 1,
    ]
    ranking = [f"d{rank}" for rank in range(depth)]
    grades = {ranking[rank]: 1 for rank in ranks} | {f"missing{i}": 1 for i in range(missing)}
    run = {"q": {doc: float(-rank) for rank, doc in enumerate(ranking)}}
    assert values(LR(**form), {"q": grades}, run) == {
        "q": reference.lexirecall(ranking, grades, **form)
    }


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
    assert recall.nested_of_one(ranks, m) == (m * (p_star + placements)) / ((m + 1) * p_star)
