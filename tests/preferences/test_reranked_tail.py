"""Reranked runs: what comes after the top 100 is the same for all systems, so nearly all levels of recall tie.

Exact preferences find the level that decides; a float has no digits left for it.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import reference

import ir_lexirecall as irl
from ir_lexirecall.io import readers

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
    table = readers.read_qrels(data.path("robust2003/qrels.txt.gz"))
    qrels: dict[str, dict[str, float]] = {}
    for q, doc, grade in table.select("query_id", "doc_id", "relevance").iter_rows():
        qrels.setdefault(q, {})[doc] = grade
    table = readers.read_run(data.path("robust2003/runs/InexpC2.gz"))
    scores: dict[str, dict[str, float]] = {}
    for q, doc, score in table.select("query_id", "doc_id", "score").iter_rows():
        scores.setdefault(q, {})[doc] = score
    return qrels, {q: reference.order(run) for q, run in scores.items()}


@pytest.fixture(scope="module")
def synthetic():
    """Forty queries with a thousand documents each, every tenth of them relevant, and a few that are not retrieved."""
    rankings = {f"q{number}": [f"d{rank}" for rank in range(1_000)] for number in range(40)}
    qrels = {q: dict.fromkeys([*ranking[::10], "missing1", "missing2"], 1) for q, ranking in rankings.items()}
    return qrels, rankings


@pytest.mark.parametrize("collection", ["synthetic", "robust"])
def test_every_comparison_is_decided_as_brute_force_says_where_floats_tie(collection, request):
    qrels, rankings = request.getfixturevalue(collection)
    runs = {f"system {seed}": reranked(rankings, seed) for seed in range(SYSTEMS)}
    compared = irl.compare(irl.load(qrels, queries="relevant"), runs, ["lexirecall", "LR"])

    exact, by_float = [], []
    tensor = compared.criterion("lexirecall").preferences.tensor("lexirecall")
    values = compared.criterion("LR").standings.T
    float_tensor = np.sign(values[:, :, None] - values[:, None, :])
    for place, q in enumerate(compared.query_ids):
        found = [reference.positions(reference.order(run[q]), qrels[q]) for run in runs.values()]
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


def test_the_explanation_names_a_document_of_the_reranked_top(synthetic):
    """All 90 levels below the top tie; the relevant document in the top that stands deepest decides."""
    qrels, rankings = synthetic
    runs = {f"system {seed}": reranked(rankings, seed) for seed in range(2)}
    for row in irl.compare(qrels, runs).explain("system 0", "system 1").itertuples():
        ranking_a, ranking_b = (reference.order(run[row.query_id]) for run in runs.values())
        found_a, found_b = (reference.positions(ranking, qrels[row.query_id]) for ranking in (ranking_a, ranking_b))
        level = max(level for level in range(1, 11) if found_a[level - 1] != found_b[level - 1])
        assert (row.level, row.tied_levels) == (level, 102 - level)
        assert (row.rank_a, row.rank_b) == (found_a[level - 1], found_b[level - 1])
        winner, loser = (ranking_a, ranking_b) if row.winner == "system 0" else (ranking_b, ranking_a)
        ranks = sorted((row.rank_a, row.rank_b))
        assert (row.doc_id, row.other_doc_id) == (winner[ranks[0] - 1], loser[ranks[1] - 1])
