"""Search length, recall error and the older nDCG against their formulas, document by document."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall import RE, SL3, compare, evaluate, meta, nDCG_JK
from tests.conftest import collections, reference_values, values

RELS = st.sampled_from([1, 2, 3])
CUTOFFS = st.none() | st.integers(1, 60)


def positions(ranking, grades, *, rel, cutoff, n):
    """Ranks of the relevant documents, the u missing ones at n-u+1, ..., n."""
    relevant = {doc for doc, grade in grades.items() if grade >= rel}
    ranks = [
        rank for rank, doc in enumerate(ranking[:cutoff], start=1) if doc in relevant
    ]
    u = len(relevant) - len(ranks)
    return ranks + ([math.inf] * u if n is None else list(range(n - u + 1, n + 1)))


def search_length(ranking, grades, **parameters):
    p = positions(ranking, grades, **parameters)
    return p[-1] - len(p) if p else 0


def recall_error(ranking, grades, **parameters):
    p = positions(ranking, grades, **parameters)
    if not p or math.inf in p:
        return math.inf if p else 0
    return float(Fraction(sum(p), len(p)) - Fraction(len(p) + 1, 2))


@pytest.mark.parametrize(
    ("measure", "score"), [(SL3, search_length), (RE, recall_error)]
)
@given(collections(), RELS, CUTOFFS, st.none() | st.integers(200, 10**6))
def test_it_is_the_formula(measure, score, collection, rel, cutoff, n):
    expected = reference_values(
        partial(score, rel=rel, cutoff=cutoff, n=n), *collection
    )
    found = values(measure(rel=rel, cutoff=cutoff, n=n), *collection)
    assert found == pytest.approx(expected, rel=1e-14)


# -- smaller is better -----------------------------------------------------------------------------

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1, "c": 1}}
RUNS = {
    "good": {"q1": {"a": 3.0, "b": 2.0}, "q2": {"a": 3.0, "x": 2.0, "c": 1.0}},
    "weak": {
        "q1": {"x": 3.0, "a": 2.0, "b": 1.0},
        "q2": {"x": 3.0, "y": 2.0, "a": 1.0, "c": 0.0},
    },
}


def test_a_missing_document_needs_the_size_of_the_collection():
    runs = {**RUNS, "short": {"q1": {"a": 1.0}}}
    assert evaluate(["SL3", "RE"], QRELS, runs["short"]).loc["q1"].tolist() == [
        np.inf,
        np.inf,
    ]
    for study in (
        lambda m: meta.Study(m, QRELS, runs).ties(),
        lambda m: compare(QRELS, runs, m),
    ):
        with pytest.raises(
            ValueError,
            match=r"SL3 is infinite for run 'short' on query 'q1'.*give n, the number of documents",
        ):
            study("SL3")
        study("SL3(n=100)")


# -- the older nDCG --------------------------------------------------------------------------------


def ndcg_jk(ranking, grades, *, a, cutoff):
    def dcg(gains):
        return math.fsum(
            max(g, 0) / max(1, math.log(i, a))
            for i, g in enumerate(gains[:cutoff], start=1)
        )

    ideal = dcg(sorted(grades.values(), reverse=True))
    return dcg([grades.get(doc, 0) for doc in ranking]) / ideal if ideal > 0 else 0.0


@given(collections(), st.sampled_from([2, 1.5, math.e, 10]), CUTOFFS)
def test_ndcg_of_base_a_is_the_formula(collection, a, cutoff):
    expected = reference_values(partial(ndcg_jk, a=a, cutoff=cutoff), *collection)
    assert values(nDCG_JK(a=a, cutoff=cutoff), *collection) == pytest.approx(
        expected, rel=1e-12
    )


def test_ranks_down_to_the_base_count_in_full():
    for order in itertools.permutations(range(4)):
        run = {"q": {f"d{i}": -float(rank) for rank, i in enumerate(order)}}
        assert values(nDCG_JK(a=4), {"q": {"d0": 2, "d1": 1, "d2": 0}}, run) == {"q": 1}
        assert reference.order(run["q"]) == [f"d{i}" for i in order]
