"""Simulated rankings are distributed as stated, and evaluate like any others."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ir_lexirecall import compare, evaluate
from ir_lexirecall.meta.simulation import positions, simulate_rankings
from ir_lexirecall.preferences.comparison import compare_ranks
from ir_lexirecall.significance import SignificanceTest


def drawn(n, m, queries, quality=1.0, seed=0):
    return positions(np.random.default_rng(seed), n, m, queries, quality)


def found_within(rank, k, m):
    """How many queries have 0, 1, ..., m relevant documents among their first k."""
    return np.bincount((rank <= k).sum(axis=1), minlength=m + 1)


def fits(observed, probability):
    """A chi-square test at the level 0.001, cells of less than five expected cases together."""
    expected = probability / probability.sum() * observed.sum()
    large = expected >= 5
    cells = [np.append(each[large], each[~large].sum()) for each in (observed, expected)]
    if cells[1][-1] < 1:
        cells = [each[:-1] for each in cells]
        cells[1] *= cells[0].sum() / cells[1].sum()
    return stats.chisquare(*cells).pvalue > 0.001


@pytest.mark.parametrize(("n", "m", "k"), [(20, 5, 8), (1000, 10, 300), (10**6, 10, 10**5), (10**9, 4, 5 * 10**8)])
def test_a_random_ranking_finds_hypergeometrically_many(n, m, k):
    _, rank = drawn(n, m, 20_000)
    assert fits(found_within(rank, k, m), stats.hypergeom(n, m, k).pmf(np.arange(m + 1)))


@pytest.mark.parametrize(("n", "m"), [(5, 2), (6, 3), (6, 5), (4, 4), (1, 1)])
def test_every_placement_of_a_random_ranking_is_as_likely(n, m):
    _, rank = drawn(n, m, 30_000)
    placements = list(itertools.combinations(range(1, n + 1), m))
    counts = pd.Series(list(map(tuple, rank.tolist()))).value_counts()
    assert set(counts.index) == set(placements)
    assert fits(counts[placements].to_numpy(), np.ones(len(placements))) or len(placements) == 1


@pytest.mark.parametrize("quality", [0.2, 3.0, 25.0])
def test_of_a_better_ranking_as_wallenius_says(quality):
    n, m, k = 60, 6, 15
    _, rank = drawn(n, m, 20_000, quality)
    expected = stats.nchypergeom_wallenius(n, m, k, quality).pmf(np.arange(m + 1))
    assert fits(found_within(rank, k, m), expected)


def test_quality_is_the_odds_of_standing_above():
    """With one relevant document among n, it stands above each other one with probability quality / (quality + 1)."""
    for quality in (0.5, 1.0, 4.0):
        _, rank = drawn(101, 1, 40_000, quality)
        above = 1 - (rank - 1).mean() / 100
        assert above == pytest.approx(quality / (quality + 1), abs=0.01)


def test_small_rankings_by_plackett_and_luce():
    n, m, quality = 4, 2, 3.0
    _, rank = drawn(n, m, 40_000, quality)
    probability = {}
    for placement in itertools.combinations(range(1, n + 1), m):
        p, relevant, others = 1.0, m, n - m
        for place in range(1, n + 1):
            total = quality * relevant + others
            if place in placement:
                p, relevant = p * quality * relevant / total, relevant - 1
            else:
                p, others = p * others / total, others - 1
        probability[placement] = p
    assert math.fsum(probability.values()) == pytest.approx(1)
    counts = pd.Series(list(map(tuple, rank.tolist()))).value_counts()
    assert fits(counts[list(probability)].to_numpy(), np.array(list(probability.values())))


def test_ranks_are_distinct_and_within_the_collection_however_large():
    _, rank = drawn(10**9, 50, 2_000)
    assert (np.diff(rank, axis=1) > 0).all()
    assert rank.min() >= 1
    assert rank.max() <= 10**9
    assert rank.mean() == pytest.approx(5e8, rel=0.01)


def test_each_document_is_as_likely_to_come_first():
    doc, _ = drawn(1000, 4, 20_000)
    assert (np.sort(doc, axis=1) == np.arange(4)).all()
    assert fits(np.bincount(doc[:, 0]), np.ones(4))


def test_tables_and_aligned_ranks_say_the_same():
    rankings = simulate_rankings(300, 6, depth=120, queries=25, systems=3, seed=4, quality=[1, 5, 30])
    own = compare_ranks(rankings.ranks, ["lexirecall", "rpp"], test=SignificanceTest(correction=None)).table()
    by_tables = compare(rankings.qrels, rankings.runs, ["lexirecall", "rpp"], correction=None).table()
    pd.testing.assert_frame_equal(own, by_tables)


def test_the_table_lists_where_the_relevant_documents_stand():
    rankings = simulate_rankings(50, 4, depth=20, queries=7, systems=["a", "b"], seed=3)
    rows = set(
        rankings.astype({"rank": int})
        .astype(dict.fromkeys(("system", "query_id", "doc_id"), str))
        .itertuples(index=False, name=None)
    )
    expected = set()
    for name, run in rankings.runs.items():
        relevant = run.assign(rank=run.groupby("query_id")["score"].rank(ascending=False).astype(int))
        relevant = relevant.merge(rankings.qrels, on=["query_id", "doc_id"])
        expected |= {
            (name, *row) for row in relevant[["query_id", "doc_id", "rank"]].itertuples(index=False, name=None)
        }
    assert rows == expected


def test_what_is_ranked_below_the_depth_is_lost():
    rankings = simulate_rankings(1000, 5, depth=100, queries=200, systems=1, seed=2)
    assert rankings["rank"].max() <= 100
    recall = evaluate(["R@100", "R@1000"], rankings.qrels, rankings.runs["s1"], aggregate=True)
    assert recall["R@100"] == pytest.approx(recall["R@1000"])
    assert recall["R@100"] == pytest.approx(0.1, abs=0.03)


def test_a_depth_beyond_the_collection_ends_with_it():
    rankings = simulate_rankings(10, 3, depth=100, queries=4, systems=1)
    assert rankings.ranks["s1"].depth.tolist() == [10] * 4
    assert len(rankings) == 12


def test_the_seed_decides():
    one, same, other = (simulate_rankings(1000, 5, 1000, 10, 2, seed=seed) for seed in (1, 1, 2))
    assert one["rank"].tolist() == same["rank"].tolist()
    assert one["rank"].tolist() != other["rank"].tolist()


def test_systems_differ_and_better_ones_find_sooner():
    rankings = simulate_rankings(10**8, 10, 10**8, 300, ["weak", "good"], quality={"good": 50, "weak": 1})
    median = rankings.groupby("system", observed=True)["rank"].median()
    assert median["good"] < median["weak"] / 10


def test_it_says_what_it_ran_and_draws_it():
    pytest.importorskip("matplotlib")
    rankings = simulate_rankings(100, 3, 50, 5, 2, seed=9, quality=2)
    assert rankings.attrs | {"function": "simulate_rankings", "n": 100, "m": 3, "seed": 9} == rankings.attrs
    assert rankings.attrs["quality"] == {"s1": 2.0, "s2": 2.0}
    assert len(rankings.plot().lines) == 2


def test_rankings_too_deep_for_scores_are_refused_as_tables_only():
    rankings = simulate_rankings(10**9, 2, depth=10**9, queries=1, systems=1)
    assert len(rankings.ranks["s1"].rank) == 2
    with pytest.raises(ValueError, match="deeper than 32-bit scores"):
        _ = rankings.runs


def test_judgments_travel():
    rankings = simulate_rankings(100, 3, 50, 5, 1)
    assert pickle.loads(pickle.dumps(rankings.judgments)).query_ids == rankings.judgments.query_ids


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 0}, "n must be"),
        ({"m": 101}, "do not fit"),
        ({"m": 1.5}, "m must be"),
        ({"depth": 0}, "depth must be"),
        ({"queries": True}, "queries must be"),
        ({"systems": 0}, "systems must be"),
        ({"systems": ["a", "a"]}, "different names"),
        ({"systems": "a"}, "different names"),
        ({"systems": 2.5}, "different names, not 2.5"),
        ({"systems": None}, "different names, not None"),
        ({"n": 10**19}, r"n must be an integer from 1 to 2\^53"),
        ({"quality": 1e-320}, "within 1e-300 and 1e300"),
        ({"seed": -1}, "seed must be"),
        ({"quality": 0}, "quality must be"),
        ({"quality": float("nan")}, "quality must be"),
        ({"quality": [1, 2, 3]}, "3 qualities for 2 systems"),
        ({"quality": {"s1": 1}}, "'s2'"),
    ],
)
def test_bad_input_is_named(changes, message):
    arguments = {"n": 100, "m": 5, "depth": 10, "queries": 3, "systems": 2, "seed": 0} | changes
    with pytest.raises(ValueError, match=message):
        simulate_rankings(**arguments)
