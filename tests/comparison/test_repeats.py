"""Comparisons of systems with several runs."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ir_lexirecall as irl
from ir_lexirecall import cli, demo
from ir_lexirecall.significance.repeats import SeedVariance, difference_variance


def table_of(repeats=(3, 3), queries=40, seed=0.02, gain=0.03):
    """Return values of two systems, each seed of which moves all queries."""
    rng = np.random.default_rng(3)
    level, differences = rng.uniform(0.3, 0.7, queries), rng.normal(gain, 0.05, queries)
    rows = []
    for run, number, sign in zip(("new", "old"), repeats, (1, 0), strict=True):
        for repeat in range(number):
            moved = level + sign * differences + rng.normal(0, seed) * (number > 1)
            values = moved + rng.normal(0, 0.02, queries)
            rows += [(run, repeat, f"q{q}", value) for q, value in enumerate(values)]
    return pd.DataFrame(rows, columns=["run", "seed", "query_id", "acc"])


def arrays_of(table):
    return [
        rows.pivot(index="seed", columns="query_id", values="acc").to_numpy()
        for _, rows in table.groupby("run")
    ]


def test_samples_are_averaged_and_tested_over_queries():
    table = table_of()
    row = irl.compare(values=table, repeats="samples").table().iloc[0]
    new, old = arrays_of(table)
    tested = stats.ttest_rel(new.mean(axis=0), old.mean(axis=0))
    assert row["p"] == pytest.approx(tested.pvalue)
    assert (row["repeats"], row["sd_seeds"]) == ("3", 0.0)


def test_seeds_widen_the_interval_and_the_p():
    table = table_of()
    result = irl.compare(values=table, repeats="seeds")
    row = result.table().iloc[0]
    new, old = arrays_of(table)
    x = (new.mean(axis=0) - old.mean(axis=0))[None]
    pair = [np.array([0]), np.array([1])]
    found = difference_variance(x, SeedVariance.of([new, old]), pair)
    assert row["p"] == pytest.approx(found.two_sided_p()[0])
    low, high = found.interval(0.05)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((low[0], high[0]))
    over_queries = irl.compare(values=table, repeats="samples").table().iloc[0]
    assert row["p"] > over_queries["p"]
    assert (row["ci_low"] > 0) == (row["p"] <= 0.05)
    means = result.means()
    narrow = irl.compare(values=table, repeats="samples").means()
    assert (
        means["ci_high"] - means["ci_low"] >= narrow["ci_high"] - narrow["ci_low"]
    ).all()


def test_a_margin_and_the_best_set_allow_for_seeds():
    table = table_of()  # the seeds that were drawn undo the gain
    options = {"values": table, "baseline": "old", "margin": 0.02}
    seeds = irl.compare(**options, repeats="seeds").table().iloc[0]
    samples = irl.compare(**options, repeats="samples").table().iloc[0]
    for column in ("worse_p", "better_p", "within_p", "not_worse_p"):
        assert seeds[column] >= samples[column]
    assert (
        seeds["bound_low"]
        < samples["bound_low"]
        < samples["bound_high"]
        < seeds["bound_high"]
    )
    assert seeds["verdict"] == "undecided"
    best = irl.compare(values=table_of(gain=0.2), repeats="seeds").best_set()
    assert best["may_be_best"].tolist() == [True, False]
    assert irl.compare(values=table, repeats="seeds").best_set()["may_be_best"].all()


@pytest.mark.parametrize("criterion", ["lexirecall", "AP"])
def test_intervals_end_at_the_range_of_differences(criterion):
    qrels = {"1": {"a": 1, "b": 0, "c": 1}, "2": {"a": 1, "b": 1}}
    runs = {}
    for name, rankings in {
        "one": ["abxc xyba", "xbca abxy"],
        "other": ["xbac xyab", "abcx abxy"],
    }.items():
        runs[name] = [
            {
                query: {doc: -rank for rank, doc in enumerate(docs)}
                for query, docs in zip(qrels, ranking.split(), strict=True)
            }
            for ranking in rankings
        ]
    options = {"baseline": "other", "margin": 0.1, "repeats": "seeds"}
    row = irl.compare(qrels, runs, criterion, **options).table().iloc[0]
    assert (row["ci_low"], row["ci_high"]) == (-1.0, 1.0)
    assert -1.0 <= row["bound_low"] <= row["estimate"] <= row["bound_high"] <= 1.0
    assert row["p"] > 0.05


def test_planning_knows_repeats():
    result = irl.compare(values=table_of(), repeats="seeds")
    few, many = (result.queries_needed(0.04, repeats=n)["queries"][0] for n in (3, 20))
    assert few > many
    assert result.queries_needed(0.04)["queries"][0] == few
    assert result.repeats_needed(0.04, queries=1000)["repeats"][0] > 2
    with pytest.raises(ValueError, match="does not allow for seeds"):
        result.sequential()
    shown = result.detectable()["difference"][0]
    found = result.compared.by["acc"].variance_with_seeds(result.compared.pair_indices)
    noncentrality, degrees = shown / found.variance[0] ** 0.5, found.degrees[0]
    critical = stats.t.isf(0.025, degrees)
    power = stats.nct.sf(critical, degrees, noncentrality)
    power += stats.nct.cdf(-critical, degrees, noncentrality)
    assert power == pytest.approx(0.8, abs=1e-6)
    plain = irl.compare(values=table_of((1, 1)).drop(columns="seed"))
    with pytest.raises(ValueError, match="queries_needed: acc: there are no repeats"):
        plain.queries_needed(0.04, repeats=3)


def test_plans_with_repeats_know_how_many_queries_differ():
    """Of 93 queries 4 differ, so that no p is below 0.125 with any number of repeats."""
    rows = []
    for run, gain in (("new", 0.1), ("old", 0.0)):
        for seed in range(3):
            for q in range(93):
                change = (gain + 0.01 * seed * q) if q < 4 else 0.0
                rows.append((run, f"q{q}", seed, 0.5 + change))
    frame = pd.DataFrame(rows, columns=["run", "query_id", "seed", "acc"])
    for kind in ("seeds", "samples"):
        result = irl.compare(values=frame, repeats=kind)
        assert result.table()["p"][0] >= 0.125
        assert np.isinf(result.detectable()["difference"][0])
        assert result.queries_needed(0.05)["queries"][0] > 93
        assert np.isinf(result.repeats_needed(0.05)["repeats"][0])
        assert "can show a difference" not in result.summary(full=True)


def test_the_summary_says_what_a_new_seed_changes():
    text = " ".join(irl.compare(values=table_of(), repeats="seeds").summary().split())
    row = irl.compare(values=table_of(), repeats="seeds").table().iloc[0]
    assert f"new seeds by {row['sd_seeds']:.2g} if there is one of each" in text
    assert f"new and old by {row['sd_queries'] / 40**0.5:.2g}" in text


def test_groups_have_the_seeds_of_their_queries():
    table = table_of()
    groups = {f"q{q}": "even" if q % 2 == 0 else "odd" for q in range(40)}
    in_groups = irl.compare(values=table, repeats="seeds", groups=groups).group_table()
    even = table[table["query_id"].map(groups) == "even"]
    alone = irl.compare(values=even, repeats="seeds").table()
    assert in_groups["p"][0] == pytest.approx(alone["p"][0])


def test_several_rankings_are_one_system():
    runs = {
        "bm25": demo.run("bm25"),
        "model": [demo.run("ql"), demo.run("tfidf"), demo.run("ql")],
    }
    result = irl.compare(
        demo.qrels(),
        runs,
        ["AP", "LR"],
        repeats="seeds",
        deterministic="bm25",
        baseline="bm25",
    )
    values = [irl.evaluate("AP", demo.qrels(), run)["AP"] for run in runs["model"]]
    expected = np.mean([one.to_numpy() for one in values], axis=0)
    assert result.per_query("AP")["model"].to_numpy() == pytest.approx(expected)
    assert result.table()["repeats"].tolist() == ["3/1", "3/1"]


def test_rankings_in_files(tmp_path):
    paths = []
    for name in ("ql", "tfidf"):
        run = demo.run(name)
        path = tmp_path / f"{name}.run"
        rows = zip(run["query_id"], run["doc_id"], run["score"], strict=True)
        path.write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, d, s in rows))
        paths.append(path)
    frames = [demo.run("ql"), demo.run("tfidf")]
    other = [demo.run("bm25"), demo.run("bm25_rerank")]
    tables = [
        irl.compare(demo.qrels(), {"a": one, "b": other}, "AP", repeats="seeds").table()
        for one in (paths, frames)
    ]
    pd.testing.assert_frame_equal(*tables)


def test_a_gate_on_seeds():
    same = irl.gate(values=table_of(gain=0.0, seed=0.0), repeats="seeds", margin=0.05)
    assert same.outcome == "passed"
    assert irl.gate(values=table_of(gain=0.3), repeats="seeds").outcome == "worse"
    worse = table_of(gain=0.055)
    assert irl.gate(values=worse, repeats="samples").outcome == "worse"
    assert irl.gate(values=worse, repeats="seeds").undecided == ["acc"]
    runs = [demo.run("bm25"), demo.run("ql")]
    of_rankings = irl.gate(demo.qrels(), runs, runs[::-1], "AP", repeats="seeds")
    assert of_rankings.outcome == "passed"


def test_a_benchmark_averages_samples():
    table = pd.concat([table_of().assign(collection=name) for name in ("a", "b")])
    result = irl.benchmark(values=table, repeats="samples")
    assert result["a"].table()["repeats"].tolist() == ["3"]


def test_the_command_takes_repeats(tmp_path, capsys):
    path = tmp_path / "values.csv"
    table_of(gain=0.06).rename(columns={"seed": "number"}).to_csv(path, index=False)
    command = ["compare", "--values", str(path), "--format", "csv"]
    assert cli.main([*command, "--repeats", "number", "--repeats-are", "seeds"]) == 0
    assert "sd_seeds" in capsys.readouterr().out
    assert cli.main([*command, "--repeats", "number"]) == 1
    assert "--repeats needs --repeats-are" in capsys.readouterr().err
    assert cli.main([*command]) == 1
    gate = [
        "gate",
        "--values",
        str(path),
        "--repeats",
        "number",
        "--repeats-are",
        "samples",
    ]
    assert cli.main(gate) == 3


def repeated_rows(n_repeats, *, same=()):
    """Rows of runs with repeats; those of the same value on every query for some runs."""
    rng = np.random.default_rng(3)
    rows = []
    for run, number in n_repeats.items():
        x = rng.normal(0.5, 0.1, (number, 20))
        if run in same:
            x[:] = x[0]
        for seed, of_seed in enumerate(x.tolist()):
            rows += [(run, seed, f"q{q}", value) for q, value in enumerate(of_seed)]
    return pd.DataFrame(rows, columns=["run", "seed", "query_id", "acc"])


@pytest.mark.parametrize("kind", ["seeds", "samples"])
def test_repeats_of_the_same_values_and_other_numbers_of_them_are_named(kind):
    rows = repeated_rows({"new": 3, "old": 5}, same=["new"])
    notes = " ".join(irl.compare(values=rows, repeats=kind).diagnostics)
    assert "The repeats of new have the same acc on every query" in notes
    assert "Runs have different numbers of repeats: new 3 and old 5." in notes
    rows = repeated_rows({"new": 3, "old": 3})
    notes = " ".join(irl.compare(values=rows, repeats=kind).diagnostics)
    assert "same acc" not in notes
    assert "different numbers" not in notes


def test_a_missing_cell_of_a_repeat_is_named_or_left_out_in_words():
    rows = repeated_rows({"new": 3, "old": 3})
    rows.loc[25, "acc"] = np.nan  # seed 1 of new, query q5
    with pytest.raises(
        ValueError, match="run 'new, repeat 1' for query 'q5' is missing"
    ):
        irl.compare(values=rows, repeats="seeds")
    result = irl.compare(values=rows, repeats="seeds", missing="skip")
    assert len(result.query_ids) == 19
    assert any("q5" in note for note in result.diagnostics)


def test_a_run_called_as_a_repeat_of_another_is_refused():
    runs = {
        "a": [demo.run(name) for name in ("bm25", "ql", "tfidf")],
        "a, repeat 1": demo.run("bm25_rerank"),
    }
    for names in (list(runs), list(runs)[::-1]):
        with pytest.raises(
            ValueError,
            match=r"'a, repeat 1': .* label of a repeat of 'a'; rename the run",
        ):
            irl.compare(
                demo.qrels(),
                {name: runs[name] for name in names},
                "AP",
                repeats="seeds",
                deterministic="a, repeat 1",
            )


@pytest.mark.parametrize("repeats", ["seeds", "samples"])
def test_plans_for_identical_runs_are_not_known(repeats: str) -> None:
    """They were infinite for seeds and NaN without; ``detectable`` warned of a product with 0."""
    rng = np.random.default_rng(0)
    values = rng.uniform(0.3, 0.6, 12)
    rows = [
        (run, f"q{q}", seed, float(value))
        for run in "ab"
        for seed in range(3)
        for q, value in enumerate(values)
    ]
    frame = pd.DataFrame(rows, columns=["run", "query_id", "seed", "AP"])
    repeated = irl.compare(values=frame, repeats=repeats)
    plain = irl.compare(values=frame[frame["seed"] == 0].drop(columns="seed"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(repeated.repeats_needed(0.1)["repeats"][0])
        for result in (repeated, plain):
            assert np.isnan(result.queries_needed(0.1)["queries"][0])
            assert np.isnan(result.detectable()["difference"][0])


@pytest.mark.parametrize("repeats", ["samples", "seeds"])
def test_values_of_0_and_1_have_one_interval_whatever_their_name(repeats):
    def of_run(share, name):
        rng = np.random.default_rng(4)
        hits = rng.uniform(size=(3, 20)) < share
        return [{f"q{q}": {name: float(x)} for q, x in enumerate(run)} for run in hits]

    columns = ["mean", "ci_low", "ci_high"]
    found = {}
    for name in ("acc", "Success@1"):
        values = {run: of_run(share, name) for run, share in (("a", 0.97), ("b", 0.7))}
        of_two = {"x": values, "y": values}
        compared = irl.compare(values=values, repeats=repeats)
        over = irl.benchmark(values=of_two, repeats=repeats, baseline="b").overall()
        tested = compared.table()[["ci_low", "ci_high"]]
        found[name] = [compared.means()[columns], over[columns], tested]
    for own, known in zip(*found.values(), strict=True):
        pd.testing.assert_frame_equal(own, known)
    assert all(own.iloc[:, -1].max() <= 1 for own in found["acc"])
    assert found["acc"][0].notna().all(axis=None)


def test_rounding_of_averages_is_no_difference_and_no_variance():
    def runs_of(rows):
        return [{f"q{q}": {"acc": float(x)} for q, x in enumerate(row)} for row in rows]

    old = runs_of([[1, 1, 1, 0, 0, 0], [0, 1, 0, 0, 1, 0], [1, 0, 1, 0, 1, 1]])
    new = runs_of([[1, 1, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0], [1, 1, 0, 1, 1, 1]])
    values = {name: {"old": old, "new": new} for name in "cd"}
    result = irl.benchmark(values=values, baseline="old", repeats="seeds")
    assert result.overall()["difference"].dropna().tolist() == [0.0]
    assert "e-" not in str(result) + result.to_latex() + result.to_markdown()


def test_seeds_that_shift_all_queries_leave_no_spread_of_queries():
    level = np.array([0.1, 0.3, 0.7, 0.2])
    values = {
        run: [
            {f"q{q}": {"AP": x + shift} for q, x in enumerate(level)}
            for shift in shifts
        ]
        for run, shifts in (("old", (0, 0.1)), ("new", (0.05, 0.2)))
    }
    result = irl.compare(values=values, repeats="seeds")
    row = result.table().iloc[0]
    assert np.isinf(row["effect_size"])
    assert (row["sd_queries"], row["sd_noise"]) == (0, 0)
    words = " ".join(result.summary(full=True).split())
    assert "moves the difference of old and new by too little to be seen" in words


def test_components_that_cancel_are_0():
    values = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]) * 0.1 + 0.2
    systems = SeedVariance.of([values, values + 0.3])
    assert systems.component.tolist() == [0, 0]
    noise = systems.noise[0]
    alike = SeedVariance(systems.repeats, noise / 3 * (1 + 1e-15), systems.noise, 3)
    assert alike.component.tolist() == [0, 0]
