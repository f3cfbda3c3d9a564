"""Simulated rankings are distributed as stated, and evaluate like any others."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ir_lexirecall import compare, evaluate
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.measures.parsing import parse_measures
from ir_lexirecall.meta.made_up_rankings import positions, simulate_rankings
from ir_lexirecall.significance import SignificanceTest


def drawn(n, m, queries, quality=1.0, seed=0):
    return positions(np.random.default_rng(seed), n, np.full(queries, m), quality)


def found_within(rank, k, m):
    """How many queries have 0, 1, ..., m relevant documents among their first k."""
    return np.bincount((rank <= k).sum(axis=1), minlength=m + 1)


def fits(observed, probability):
    """A chi-square test at the level 0.001, cells of less than five expected cases together."""
    expected = probability / probability.sum() * observed.sum()
    large = expected >= 5
    cells = [
        np.append(each[large], each[~large].sum()) for each in (observed, expected)
    ]
    if cells[1][-1] < 1:
        cells = [each[:-1] for each in cells]
        cells[1] *= cells[0].sum() / cells[1].sum()
    return stats.chisquare(*cells).pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "m", "k"),
    [(20, 5, 8), (1000, 10, 300), (10**6, 10, 10**5), (10**9, 4, 5 * 10**8)],
)
def test_a_random_ranking_finds_hypergeometrically_many(n, m, k):
    _, rank = drawn(n, m, 20_000)
    assert fits(
        found_within(rank, k, m), stats.hypergeom(n, m, k).pmf(np.arange(m + 1))
    )


@pytest.mark.parametrize(("n", "m"), [(5, 2), (6, 3), (6, 5), (4, 4), (1, 1)])
def test_every_placement_of_a_random_ranking_is_as_likely(n, m):
    _, rank = drawn(n, m, 30_000)
    placements = list(itertools.combinations(range(1, n + 1), m))
    counts = pd.Series(list(map(tuple, rank.tolist()))).value_counts()
    assert set(counts.index) == set(placements)
    assert (
        fits(counts[placements].to_numpy(), np.ones(len(placements)))
        or len(placements) == 1
    )


@pytest.mark.parametrize("quality", [0.2, 3.0, 25.0])
def test_of_a_better_ranking_as_wallenius_says(quality):
    n, m, k = 60, 6, 15
    _, rank = drawn(n, m, 20_000, quality)
    expected = stats.nchypergeom_wallenius(n, m, k, quality).pmf(np.arange(m + 1))
    assert fits(found_within(rank, k, m), expected)


def test_tables_and_aligned_ranks_say_the_same():
    rankings = simulate_rankings(
        300, 6, depth=120, queries=25, systems={"a": 1, "b": 5, "c": 30}, seed=4
    )
    own = compare(
        rankings.judgments,
        rankings.aligned,
        ["lexirecall", "rpp"],
        test=SignificanceTest(correction=None),
    ).table()
    by_tables = compare(
        rankings.qrels,
        rankings.runs,
        ["lexirecall", "rpp"],
        test=SignificanceTest(correction=None),
    ).table()
    pd.testing.assert_frame_equal(own, by_tables)


def test_every_query_may_have_its_own_number_of_relevant_documents():
    systems = {"s1": 1, "s2": 4, "s3": 0.2}
    rankings = simulate_rankings(
        50, range(1, 8), depth=50, queries=5, systems=systems, seed=6
    )
    m = rankings.judgments.m().tolist()
    assert len(set(m)) > 2
    for run in rankings.aligned.values():
        assert np.bincount(run.query).tolist() == m
        for query in range(5):
            ranks = run.rank[run.query == query]
            assert (np.diff(ranks) > 0).all()
            assert 1 <= ranks.min() <= ranks.max() <= 50
            assert (
                sorted(run.doc[run.query == query])
                == np.flatnonzero(rankings.judgments.query == query).tolist()
            )
    expected = evaluate(["R@10", "TSE", "AP"], rankings.qrels, rankings.runs["s2"])
    assert scored_values(rankings, "s2") == pytest.approx(expected.to_numpy())


def scored_values(rankings, name):
    measures = parse_measures(["R@10", "TSE", "AP"])
    scored = ScoredRuns.from_runs(measures, rankings.judgments, rankings.aligned)
    row = scored.names.index(name)
    return np.stack([scored.values[label][row] for label in measures], axis=1)


@pytest.mark.parametrize("quality", [1.0, 3.0])
def test_queries_with_different_numbers_are_each_distributed_as_alone(quality):
    n, k = 60, 15
    m = np.tile([2, 6, 9], 15_000)
    _, rank = positions(np.random.default_rng(3), n, m, quality)
    for number in (2, 6, 9):
        expected = stats.nchypergeom_wallenius(n, number, k, quality).pmf(
            np.arange(number + 1)
        )
        assert fits(found_within(rank[m == number], k, number), expected)


def test_numbers_of_relevant_documents_are_drawn_from_a_range():
    rankings = simulate_rankings(
        100, range(5, 51), depth=10, queries=46 * 400, systems=1, seed=4
    )
    counts = np.bincount(rankings.judgments.m(), minlength=51)
    assert (counts[:5] == 0).all()
    assert stats.chisquare(counts[5:]).pvalue > 0.001
    again = simulate_rankings(
        100, range(5, 51), depth=10, queries=46 * 400, systems=1, seed=4
    )
    assert (again.judgments.m() == rankings.judgments.m()).all()


def test_rankings_too_deep_for_scores_are_refused_as_tables_only():
    rankings = simulate_rankings(10**9, 2, depth=10**9, queries=1, systems=1)
    assert len(rankings.aligned["s1"].rank) == 2
    with pytest.raises(ValueError, match="deeper than 32-bit scores"):
        _ = rankings.runs
