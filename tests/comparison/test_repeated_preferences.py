"""Preferences between systems with several rankings, beside loops over all pairs of rankings."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

import ir_lexirecall as irl
from ir_lexirecall import demo

QRELS = demo.qrels()
RUNS = {
    "one": [demo.run("bm25"), demo.run("bm25_rerank")],
    "two": [demo.run("ql"), demo.run("tfidf"), demo.run("ql")],
    "three": [demo.run("tfidf"), demo.run("bm25")],
}


def preference_of(first, second, by):
    """Return the preference between two rankings on each query, by a comparison of the two."""
    compared = irl.compare(QRELS, {"a": first, "b": second}, by)
    return compared.explain("a", "b").set_index("query_id")["preference"]


def averaged(a, b, by):
    """Return the preferences of all pairs of rankings of two systems, averaged in a loop."""
    pairs = [preference_of(x, y, by) for x, y in product(RUNS[a], RUNS[b])]
    return sum(pairs) / len(pairs)


@pytest.mark.parametrize("by", ["lexirecall", "rpp", "rrlexiprecision@10"])
def test_a_preference_is_the_average_over_all_pairs_of_rankings(by):
    result = irl.compare(QRELS, RUNS, by, repeats="samples")
    for row in result.table().itertuples():
        expected = averaged(row.run_a, row.run_b, by)
        found = result.explain(row.run_a, row.run_b).set_index("query_id")["preference"]
        assert found.to_numpy() == pytest.approx(expected[found.index].to_numpy())
        assert row.difference == pytest.approx(expected.mean())
        counted = [int((sign * expected > 1e-9).sum()) for sign in (1, -1)]
        assert [row.wins, row.losses] == counted
        decided = sum(counted)
        if decided:
            p = stats.binomtest(counted[0], decided).pvalue
            assert row.p == pytest.approx(p)


def test_means_are_those_over_all_other_systems():
    means = (
        irl.compare(QRELS, RUNS, "rpp", repeats="samples")
        .means()
        .set_index("run")["mean"]
    )
    for run in RUNS:
        others = [averaged(run, other, "rpp") for other in RUNS if other != run]
        assert means[run] == pytest.approx(np.mean([x.mean() for x in others]))


def slow_variance(a, b, by):
    """Return the variance of the mean preference between two systems with seeds, by loops."""
    values = np.array([[preference_of(x, y, by) for y in RUNS[b]] for x in RUNS[a]])
    n_queries = values.shape[2]
    total = values.mean(axis=(0, 1)).var(ddof=1) / n_queries
    seeds = noise = 0.0
    for of_own in (values.mean(axis=1), values.mean(axis=0)):
        size = len(of_own)
        of_seed = of_own.mean(axis=1)
        seeds += of_seed.var(ddof=1) / size
        rest = of_own - of_seed[:, None] - of_own.mean(axis=0) + of_own.mean()
        noise += (rest**2).sum() / (size - 1) / (n_queries - 1) / size / n_queries
    return total + max(0.0, seeds - noise)


@pytest.mark.parametrize("by", ["lexirecall", "rpp"])
def test_seeds_enter_the_variance_of_a_mean_preference(by):
    result = irl.compare(QRELS, RUNS, by, repeats="seeds")
    found = result.compared.by[by].variance_with_seeds(result.compared.pair_indices)
    for row, (a, b) in enumerate(result.pairs):
        assert found.variance[row] == pytest.approx(slow_variance(a, b, by))
    table, plain = (
        result.table(),
        irl.compare(QRELS, RUNS, by, repeats="samples", test="t").table(),
    )
    assert (table["p"] >= plain["p"] - 1e-12).all()
    assert (table["sd_seeds"] >= 0).all()
    assert table["repeats"].tolist() == ["2/3", "2", "3/2"]
    assert result.provenance["test"] == {by: "t"}


def test_intervals_of_means_of_two_systems_are_those_of_their_difference():
    runs = {name: RUNS[name] for name in ("one", "two")}
    result = irl.compare(QRELS, runs, "lexirecall", repeats="seeds")
    found = result.compared.by["lexirecall"]
    of_means, of_pair = found.variance_of_means(), found.variance_with_seeds(([0], [1]))
    assert of_means.variance == pytest.approx(np.repeat(of_pair.variance, 2))
    means, row = result.means(), result.table().iloc[0]
    assert means["ci_low"][0] <= row["ci_low"] + 1e-9
    assert means["ci_high"][0] >= row["ci_high"] - 1e-9


@pytest.mark.parametrize("kind", ["samples", "seeds"])
def test_repeats_that_are_alike_give_what_one_ranking_gives(kind):
    one = {"a": demo.run("bm25"), "b": demo.run("ql"), "c": demo.run("tfidf")}
    twice = {name: [run, run] for name, run in one.items()}
    repeated = irl.compare(QRELS, twice, "rpp", repeats=kind, test="t").table()
    plain = irl.compare(QRELS, one, "rpp", test="t").table()
    shared = ["wins", "losses", "ties", "difference", "p", "p_corrected"]
    for column in shared:
        assert repeated[column].to_numpy() == pytest.approx(plain[column].to_numpy())


def test_groups_margins_and_best_sets_of_preferences_with_seeds():
    groups = {f"q{i:02}": "first" if i <= 8 else "second" for i in range(1, 17)}
    result = irl.compare(
        QRELS,
        RUNS,
        "lexirecall",
        repeats="seeds",
        groups=groups,
        baseline="one",
        margin=0.2,
    )
    assert len(result.group_table()) == 4
    assert {"worse_p", "not_worse_p"} <= set(result.table())
    assert (
        irl.compare(QRELS, RUNS, "rpp", repeats="seeds").best_set()["may_be_best"].any()
    )
    assert "sd_seeds" in result.table()
    assert result.repeats_needed(0.2)["repeats"].notna().all()


def test_a_gate_by_a_preference_on_seeds():
    runs = [demo.run("bm25"), demo.run("ql")]
    gate = irl.gate(QRELS, runs, runs[::-1], "lexirecall", repeats="seeds")
    assert gate.outcome == "passed"
