"""Split-half stability against all splits, one by one, with SciPy's Kendall."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from ir_lexirecall import compare, evaluate
from ir_lexirecall.meta import Study
from ir_lexirecall.meta.sensitivity import _splits

QUERIES = 5
MEASURES = ["AP", "R@3", "lexirecall"]


@pytest.fixture(scope="module")
def small():
    """Five queries with relevant documents and one without, four runs."""
    rng = np.random.default_rng(7)
    docs = [f"d{i}" for i in range(8)]
    qrels = {
        f"q{q}": {doc: int(rng.random() < 0.4) for doc in docs} | {"d0": 1}
        for q in range(QUERIES)
    }
    qrels["none"] = {"d0": 0}
    runs = {
        f"r{i}": {
            q: dict(zip(docs, rng.permutation(8).tolist(), strict=True)) for q in qrels
        }
        for i in range(4)
    }
    return qrels, runs


def values_of(label, qrels, runs):
    """Values by query with relevant documents (rows) and run (columns)."""
    if label == "lexirecall":
        return compare(qrels, runs, label).per_query().to_numpy()
    queries = [q for q, grades in qrels.items() if any(grades.values())]
    return np.stack(
        [
            evaluate(label, qrels, run).loc[queries, label].to_numpy()
            for run in runs.values()
        ],
        axis=1,
    )


def by_brute_force(a, b, size):
    """Mean and deviation of tau-b, and share of swaps, over all pairs of disjoint sets of queries."""
    taus, swaps = [], []
    for first in itertools.combinations(range(len(a)), size):
        for second in itertools.combinations(
            sorted(set(range(len(a))) - set(first)), size
        ):
            x, y = (
                a[list(first)].mean(axis=0).round(12),
                b[list(second)].mean(axis=0).round(12),
            )
            taus.append(stats.kendalltau(x, y).statistic)
            pairs = itertools.combinations(range(a.shape[1]), 2)
            swaps.append(np.mean([(x[i] - x[j]) * (y[i] - y[j]) < 0 for i, j in pairs]))
    defined = [tau for tau in taus if not np.isnan(tau)]
    return np.mean(defined), np.std(defined), np.mean(swaps), len(taus)


@pytest.mark.parametrize("size", [1, 2, None])
def test_few_queries_are_split_in_every_way(small, size):
    table = (
        Study(MEASURES, *small)
        .split_half(n_queries=size)
        .set_index(["measure", "target"])
    )
    values = {label: values_of(label, *small) for label in MEASURES}
    assert list(table.index) == list(itertools.product(MEASURES, MEASURES))
    for (a, b), row in table.iterrows():
        expected = by_brute_force(values[a], values[b], size or QUERIES // 2)
        assert tuple(
            row[["kendall", "kendall_sd", "swaps", "splits"]]
        ) == pytest.approx(expected, abs=1e-12)
        assert row["queries"] == (size or 2)


@pytest.mark.parametrize(
    ("queries", "size", "most"), [(5, 2, 10), (40, 20, 50), (7, 1, 20), (4, 2, 6)]
)
def test_the_sets_of_a_split_have_no_query_in_common(queries, size, most):
    splits = [
        pair
        for block in _splits(queries, size, most, np.random.default_rng(1))
        for pair in zip(*block, strict=True)
    ]
    assert len(splits) == most
    for first, second in splits:
        assert len({*first.tolist(), *second.tolist()}) == 2 * size
        assert len(first) == len(second) == size
