"""Benchmarks of systems with seeds, each of which moves all collections at once."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall.significance.repeats import SeedVariance, difference_variance

SIZES = {"a": 20, "b": 30, "c": 25}


def table_of(repeats=(("new", 3), ("old", 3)), seed=0.03, gain=0.05):
    """Return values of systems with seeds on three collections."""
    rng = np.random.default_rng(5)
    rows = []
    for run, number in repeats:
        for repeat in range(number):
            moved = rng.normal(0, seed) * (number > 1) + gain * (run == "new")
            for collection, size in SIZES.items():
                for query in range(size):
                    value = 0.4 + 0.01 * (query % 7) + moved + rng.normal(0, 0.05)
                    rows.append(
                        (collection, run, f"s{repeat}", f"{collection}{query}", value)
                    )
    return pd.DataFrame(rows, columns=["collection", "run", "seed", "query_id", "acc"])


def means_of(table, run):
    """Return the mean of each seed of a run on each collection, shape `(R, D)`."""
    return (
        table[table["run"] == run]
        .pivot_table(index="seed", columns="collection", values="acc")
        .to_numpy()
    )


def test_over_queries_the_variance_is_that_of_macro_means_per_seed():
    table = table_of()
    result = irl.benchmark(values=table, repeats="seeds", baseline="old")
    row = result.overall("queries").iloc[0]
    new, old = means_of(table, "new"), means_of(table, "old")
    of_queries, noise, squares = 0.0, np.zeros(2), 0.0
    for name, size in SIZES.items():
        arrays = [
            table[(table["run"] == run) & (table["collection"] == name)]
            .pivot(index="seed", columns="query_id", values="acc")
            .to_numpy()
            for run in ("new", "old")
        ]
        part = (
            np.var(arrays[0].mean(axis=0) - arrays[1].mean(axis=0), ddof=1) / size / 9
        )
        of_queries, squares = of_queries + part, squares + part**2 / (size - 1)
        for k, x in enumerate(arrays):
            rest = x - x.mean(axis=1, keepdims=True) - x.mean(axis=0) + x.mean()
            noise[k] += (rest**2).sum() / (2 * (size - 1)) / size / 9
    of_seeds = np.array([x.mean(axis=1).var(ddof=1) / 3 for x in (new, old)])
    added = of_seeds.sum() - noise.sum() / 3
    assert added > 0
    variance = of_queries + added
    own = of_seeds.sum() ** 2 / (of_seeds**2 / 2).sum()
    degrees_of_queries = of_queries**2 / squares
    parts = squares + of_seeds.sum() ** 2 / min(own, 4)
    parts += ((noise / 3) ** 2 / (2 * degrees_of_queries)).sum()
    degrees = min(variance**2 / parts, degrees_of_queries)
    difference = new.mean() - old.mean()
    assert row["difference"] == pytest.approx(difference)
    p = 2 * stats.t.sf(difference / np.sqrt(variance), degrees)
    assert row["p"] == pytest.approx(p, rel=1e-9)
    half = stats.t.ppf(0.975, degrees) * np.sqrt(variance)
    assert row["difference_low"] == pytest.approx(difference - half)
    averaged = irl.benchmark(values=table, repeats="samples", baseline="old")
    assert row["p"] > averaged.overall("queries")["p"].iloc[0]


def test_over_collections_the_collections_are_what_compare_takes_as_queries():
    table = table_of()
    row = (
        irl.benchmark(values=table, repeats="seeds", baseline="old")
        .overall("collections")
        .iloc[0]
    )
    new, old = means_of(table, "new"), means_of(table, "old")
    x = (new.mean(axis=0) - old.mean(axis=0))[None]
    expected = difference_variance(
        x, SeedVariance.of([new, old]), [np.array([0]), np.array([1])]
    ).two_sided_p()
    assert row["p"] == pytest.approx(expected[0])
    assert row[["next_low", "tau2", "i2", "p_heterogeneity"]].isna().all()


def test_one_collection_is_what_compare_says_of_it():
    table = table_of()
    table = table[table["collection"] == "a"]
    row = irl.benchmark(values=table, repeats="seeds", baseline="old").overall().iloc[0]
    single = irl.compare(values=table, repeats="seeds", baseline="old").table().iloc[0]
    assert row["p"] == single["p"]


def test_order_of_collections_and_seeds_changes_nothing():
    table = table_of()
    expected = irl.benchmark(values=table, repeats="seeds", baseline="old")
    turned = irl.benchmark(values=table[::-1], repeats="seeds", baseline="old")
    for over in ("queries", "collections"):
        one = expected.overall(over).set_index("run")
        other = turned.overall(over).set_index("run").loc[one.index, one.columns]
        pd.testing.assert_frame_equal(one, other, check_names=False)


def test_seeds_reach_best_sets_ranks_and_what_is_replicated():
    table = table_of(seed=0.03, gain=0.04)
    seeds = irl.benchmark(values=table, repeats="seeds", baseline="old")
    samples = irl.benchmark(values=table, repeats="samples", baseline="old")
    assert samples.best_set()["may_be_best"].tolist() == [True, False]
    assert seeds.best_set()["may_be_best"].tolist() == [True, True]
    assert samples.overall()["rank_high"].tolist() == [1, 2]
    assert seeds.overall()["rank_high"].tolist() == [2, 2]
    assert seeds.replicated().attrs["combination"] == "Simes"
    assert "Simes" in str(seeds)
    assert "t over queries and seeds" in str(seeds)
    with pytest.raises(ValueError, match="friedman: it does not allow for seeds"):
        seeds.friedman()


def test_smaller_values_that_are_better_turn_ranks_and_best_sets():
    table = table_of(seed=0.0, gain=0.2)
    result = irl.benchmark(values=table, repeats="seeds", smaller_is_better="acc")
    overall = result.overall().set_index("run")
    assert overall["rank_low"].to_dict() == {"new": 2, "old": 1}
    assert result.best_set()["run"].tolist() == ["old", "new"]
    assert result.best_set()["may_be_best"].tolist() == [True, False]


def test_a_deterministic_system_and_unequal_seeds():
    table = table_of((("new", 5), ("old", 1)))
    result = irl.benchmark(
        values=table, repeats="seeds", deterministic="old", baseline="old"
    )
    assert result["a"].table()["repeats"].tolist() == ["5/1"]
    assert 0 < result.overall()["p"].iloc[0] <= 1
    with pytest.raises(ValueError, match="has one seed"):
        irl.benchmark(values=table, repeats="seeds")


def test_without_any_variation_nothing_is_divided_by_zero():
    table = table_of().assign(acc=0.5)
    result = irl.benchmark(values=table, repeats="seeds", baseline="old")
    for over in ("queries", "collections"):
        assert result.overall(over)["p"].iloc[0] == 1
        assert result.best_set(over=over)["may_be_best"].all()


def test_seeds_must_be_the_same_on_all_collections():
    table = table_of()
    is_other = (table["collection"] == "b") & (table["seed"] == "s2")
    for changed in (
        table[~is_other],
        table.assign(seed=table["seed"].mask(is_other, "s9")),
    ):
        with pytest.raises(
            ValueError, match="run 'new' has other seeds on collection 'b' than"
        ):
            irl.benchmark(values=changed, repeats="seeds")


def test_a_collection_of_a_single_query_is_refused():
    table = table_of()
    single = table[(table["collection"] != "b") | (table["query_id"] == "b0")]
    with pytest.raises(ValueError, match="collection 'b' has a single query"):
        irl.benchmark(values=single, repeats="seeds")


def test_the_command_takes_repeats(tmp_path, capsys):
    table_of().to_csv(tmp_path / "values.csv", index=False)
    words = ["benchmark", str(tmp_path / "values.csv"), "--values", "--baseline", "old"]
    words += ["--repeats", "seed", "--repeats-are", "seeds"]
    assert cli.main(words) == 0
    assert "t over queries and seeds" in capsys.readouterr().out
