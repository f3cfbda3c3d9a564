"""Reranked runs: what comes after the top 100 is the same for all systems, so nearly all levels of recall tie.

Exact preferences find the level that decides; a float has no digits left for it.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference

import ir_lexirecall as irl
from ir_lexirecall.io.columns import qrel_table, run_table

TOP = 100
SYSTEMS = 4


def reranked(rankings: dict[str, list[str]], seed: int) -> dict[str, dict[str, float]]:
    """The rankings with their first documents in random order."""
    rng = np.random.default_rng(seed)
    run = {}
    for q, ranking in rankings.items():
        order = [*rng.permutation(ranking[:TOP]).tolist(), *ranking[TOP:]]
        run[q] = {doc: -float(rank) for rank, doc in enumerate(order, start=1)}
    return run


@pytest.fixture(scope="module")
def robust(data):
    """Judgments and rankings of a run of TREC 2003 Robust."""
    table = qrel_table(data.path("robust2003/qrels.txt.gz"))
    qrels: dict[str, dict[str, float]] = {}
    for q, doc, grade in table.select("query_id", "doc_id", "relevance").iter_rows():
        qrels.setdefault(q, {})[doc] = grade
    table = run_table(data.path("robust2003/runs/InexpC2.gz"))
    scores: dict[str, dict[str, float]] = {}
    for q, doc, score in table.select("query_id", "doc_id", "score").iter_rows():
        scores.setdefault(q, {})[doc] = score
    return qrels, {q: reference.order(run) for q, run in scores.items()}


@pytest.fixture(scope="module")
def synthetic():
    """Forty queries with a thousand documents each, every tenth of them relevant, and a few that are not retrieved."""
    rankings = {
        f"q{number}": [f"d{rank}" for rank in range(1_000)] for number in range(40)
    }
    qrels = {
        q: dict.fromkeys([*ranking[::10], "missing1", "missing2"], 1)
        for q, ranking in rankings.items()
    }
    return qrels, rankings


@pytest.mark.slow
@pytest.mark.parametrize("collection", ["synthetic", "robust"])
def test_every_comparison_is_decided_as_brute_force_says_where_floats_tie(
    collection, request
):
    qrels, rankings = request.getfixturevalue(collection)
    runs = {f"system {seed}": reranked(rankings, seed) for seed in range(SYSTEMS)}
    compared = irl.compare(
        irl.load(qrels, queries="relevant"), runs, ["lexirecall", "LR"]
    )

    exact, by_float = [], []
    tensor = compared.compared.criterion("lexirecall").preferences.tensor("lexirecall")
    values = compared.compared.criterion("LR").standings.T
    float_tensor = np.sign(values[:, :, None] - values[:, None, :])
    for place, q in enumerate(compared.query_ids):
        found = [
            reference.positions(reference.order(run[q]), qrels[q])
            for run in runs.values()
        ]
        for a, b in itertools.combinations(range(SYSTEMS), 2):
            expected = reference.lexirecall_preference(found[a], found[b])
            assert tensor[place, a, b] == expected, q
            exact.append(expected)
            by_float.append(float_tensor[place, a, b])

    decided = np.array(exact) != 0
    tied = np.array(by_float)[decided] == 0
    assert decided.mean() > 0.9
    assert tied.mean() > 0.5
    assert (np.array(by_float)[decided][~tied] == np.array(exact)[decided][~tied]).all()
