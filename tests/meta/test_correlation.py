"""Correlation of measures, against SciPy and pair by pair."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from studying import values_of

from ir_lexirecall import compare, evaluate
from ir_lexirecall.meta import Study
from ir_lexirecall.meta.agreements import COEFFICIENTS, coefficient_of


def top_weighted_kendall(x, y):
    """Vigna's weighted tau (additive hyperbolic) pair by pair, averaged over both orders."""

    def places(first, second):
        order = sorted(range(len(x)), key=lambda i: (first[i], second[i]), reverse=True)
        return {i: place for place, i in enumerate(order)}

    def tau(place):
        def product(u, v):
            return sum(
                np.sign(u[i] - u[j])
                * np.sign(v[i] - v[j])
                * (1 / (place[i] + 1) + 1 / (place[j] + 1))
                for i, j in itertools.combinations(range(len(x)), 2)
            )

        return product(x, y) / math.sqrt(product(x, x) * product(y, y))

    return (tau(places(x, y)) + tau(places(y, x))) / 2


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12)
)
def test_top_weighted_kendall_pair_by_pair(points):
    x, y = (np.array(each, dtype=float) for each in zip(*points, strict=True))
    found = coefficient_of("top_weighted_kendall", x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(top_weighted_kendall(x, y), abs=1e-9)


@pytest.mark.parametrize("by", ["values", "runs"])
def test_coefficients_of_scores_and_of_means(collection, by):
    table = Study(["AP", "nDCG@5", "LR"], *collection).correlation(by=by)
    assert table[["measure_a", "measure_b"]].apply(tuple, axis=1).tolist() == [
        ("AP", "nDCG@5"),
        ("AP", "LR"),
        ("nDCG@5", "LR"),
    ]
    for row in table.to_dict("records"):
        x, y = (
            values_of(row[name], *collection) for name in ("measure_a", "measure_b")
        )
        x, y = (
            each.T.ravel() if by == "values" else each.mean(axis=0) for each in (x, y)
        )
        assert row["points"] == len(x)
        assert row["pearson"] == pytest.approx(np.corrcoef(x, y)[0, 1])
        assert row["spearman"] == pytest.approx(stats.spearmanr(x, y)[0])
        assert row["kendall"] == pytest.approx(stats.kendalltau(x, y)[0])
        assert row["top_weighted_kendall"] == pytest.approx(top_weighted_kendall(x, y))


def test_a_preference_counts_as_its_mean_against_all_others(collection):
    qrels, runs = collection
    [row] = (
        Study(["LR", "lexirecall"], qrels, runs)
        .correlation(by="runs")
        .to_dict("records")
    )
    means = compare(qrels, runs, "lexirecall").per_query().mean()
    own = pd.Series(
        {
            name: evaluate("LR", qrels, run, aggregate=True)["LR"]
            for name, run in runs.items()
        }
    )
    assert row["pearson"] == pytest.approx(np.corrcoef(means, own)[0, 1])


def test_equal_means_of_runs_tie_whatever_the_order_of_their_sums():
    hits = {"a": (2, 4, 1), "b": (1, 4, 2)}
    qrels = {f"q{q}": {f"d{i}": 1 for i in range(5)} for q in range(3)}
    runs = {
        name: {
            f"q{q}": {(f"d{i}" if i < found else f"x{i}"): 5.0 - i for i in range(5)}
            for q, found in enumerate(of)
        }
        for name, of in hits.items()
    }
    row = Study(["P@5", "R@5"], qrels, runs).correlation(by="runs").iloc[0]
    assert row[list(COEFFICIENTS)].isna().all()  # both measures are constant
