"""What is said of differences that are skewed, of groups of which one dominates, and of best sets beside verdicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl


def values(**runs: np.ndarray) -> pd.DataFrame:
    rows = [
        (run, f"q{q:03}", x)
        for run, xs in runs.items()
        for q, x in enumerate(xs.tolist())
    ]
    return pd.DataFrame(rows, columns=["run", "query_id", "AP"])


def test_a_verdict_that_skewness_could_undo_has_a_caveat() -> None:
    rng = np.random.default_rng(0)
    base = rng.uniform(0.3, 0.6, 60)
    loses_rarely = base + rng.uniform(-0.01, 0.02, 60)
    loses_rarely[7] -= 0.2
    result = irl.compare(
        values=values(base=base, new=loses_rarely), baseline="base", margin=0.05
    )
    assert result.verdicts()["verdict"].tolist() == ["within margin"]
    assert any(
        "a skewness of -" in note and "60 queries" in note
        for note in result.diagnostics
    )
    symmetric = irl.compare(
        values=values(base=base, new=base + rng.normal(0, 0.01, 60)),
        baseline="base",
        margin=0.05,
    )
    assert not any("skew" in note for note in symmetric.diagnostics)


def test_of_few_queries_a_verdict_with_a_margin_has_a_caveat_with_the_level() -> None:
    rng = np.random.default_rng(0)
    base = rng.uniform(0.3, 0.6, 9)
    new = values(base=base, new=base - 0.05 + rng.uniform(-0.02, 0.02, 9))
    result = irl.compare(values=new, baseline="base", margin=0.05)
    rests = (
        "AP: worse rests on 9 queries; where differences are skewed, one-sided tests"
    )
    twice = "reach error rates about twice the nominal"
    for test, enough, rates in (
        ("t", 10, "are wrong in 0.06 of cases for 0.05, on some collections in 0.11"),
        ("randomisation", 50, twice),
        ("bootstrap", 50, twice),
    ):
        (note,) = [
            note for note in result.with_test(test).diagnostics if "skewed" in note
        ]
        assert note.startswith(f"{rests} ({test}) of fewer than {enough} {rates}")
    base = rng.uniform(0.3, 0.6, 20)
    more = values(base=base, new=base + rng.normal(0, 0.05, 20))
    result = irl.compare(values=more, baseline="base", margin=0.05)
    assert not any("skewed" in note for note in result.diagnostics)
    for test in ("sign", "wilcoxon"):
        assert not any("skewed" in note for note in result.with_test(test).diagnostics)
    groups = {f"q{i:03}": f"g{i % 2}" for i in range(27)}
    x = np.tile(rng.uniform(-0.06, -0.04, 9), 3)
    many = values(base=np.full(27, 0.5), new=0.5 + x)
    result = irl.compare(
        values=many,
        baseline="base",
        margin=0.05,
        groups={q: g if q > "q008" else "few" for q, g in groups.items()},
    )
    assert "undecided" not in set(result.group_table()["verdict"])
    (note,) = [note for note in result.diagnostics if "verdicts rest on" in note]
    assert note.startswith(
        "AP: verdicts rest on few queries in few, g0 and g1; where differences are skewed"
    )


def test_better_of_few_queries_is_two_sided_and_has_no_caveat_on_one_sided_tests() -> (
    None
):
    rng = np.random.default_rng(0)
    base = rng.uniform(0.3, 0.6, 9)
    new = values(base=base, new=base + 0.05 + rng.uniform(-0.02, 0.02, 9))
    result = irl.compare(values=new, baseline="base", margin=0.01)
    for test in ("t", "randomisation", "bootstrap"):
        again = result.with_test(test)
        assert again.verdicts()["verdict"].tolist() == ["better"]
        assert not any("one-sided tests" in note for note in again.diagnostics)


def test_runs_that_are_better_on_collections_of_few_queries_have_a_caveat() -> None:
    rng = np.random.default_rng(0)
    parts = {
        f"c{n}": values(base=np.full(n, 0.3), new=0.34 + rng.uniform(0, 0.02, n))
        for n in (6, 8, 40)
    }
    result = irl.benchmark(values=parts, baseline="base")
    assert result.replicated()["better_on_at_least"].tolist() == [3]
    (note,) = [note for note in result.diagnostics if "verdicts rest on" in note]
    assert note.startswith(
        "AP: verdicts rest on few queries in c6 and c8; where differences are skewed"
    )
    assert not any(
        "skewed" in note
        for note in irl.benchmark(
            values=parts, baseline="base", test="sign"
        ).diagnostics
    )


def test_wilcoxons_verdict_on_skewed_differences_is_not_one_on_the_mean() -> None:
    rng = np.random.default_rng(0)
    loses_rarely = values(
        base=np.full(60, 0.5),
        new=0.51 - 0.01 * np.minimum(rng.exponential(size=60), 4) ** 2,
    )
    result = irl.compare(
        values=loses_rarely, baseline="base", margin=0.05, test="wilcoxon"
    )
    assert result.verdicts()["verdict"].tolist() == ["within margin"]
    assert any(
        "the test (Wilcoxon signed-rank test) is on the pseudomedian of the differences that are not 0, not on their mean"
        in note
        for note in result.diagnostics
    )


@pytest.mark.parametrize(
    ("queries", "tail", "has_note"),
    [(49, 1, True), (50, 1, False), (99, 4, True), (100, 4, False)],
)
def test_all_pairs_of_many_runs_on_few_queries_have_a_caveat(
    queries: int, tail: int, has_note: bool
) -> None:
    rng = np.random.default_rng(0)
    runs = {}
    for k in range(5):  # 10 pairs
        noise = rng.normal(0, 0.02, queries) * np.arange(1, 6)[k]
        runs[f"r{k}"] = 0.5 + np.sign(noise) * np.abs(noise) ** tail
    if tail > 1:  # runs rarely lose much
        for k, run in enumerate(runs):
            losses = k * 0.005 * rng.exponential(1, queries) ** 2
            runs[run] = 0.5 - np.minimum(losses, 0.5)
    result = irl.compare(values=values(**runs))
    notes = [note for note in result.diagnostics if "a baseline asks for fewer" in note]
    assert len(notes) == has_note
    if has_note:
        assert f"AP: all 10 pairs on {queries} queries" in notes[0]
    for other in (result.with_baseline("r0"), result.with_test("sign")):
        assert not any(
            "a baseline asks for fewer" in note for note in other.diagnostics
        )


MAY_BE = "some verdict may be false in more than"
RATE_OF_25 = "among 17 real runs, some verdict is false in 0.07 of samples on average, in 0.24 at worst"


@pytest.mark.parametrize(
    ("runs", "queries", "settings", "rates"),
    [
        (10, 13, {}, RATE_OF_25.replace("0.07", "0.09").replace("0.24", "0.40")),
        (10, 25, {}, RATE_OF_25),
        (17, 25, {}, RATE_OF_25),
        (18, 25, {}, f"{MAY_BE} 0.05 of samples"),
        (10, 25, {"correction": None}, f"{MAY_BE} 0.05 of samples"),
        (10, 25, {"name": "bootstrap"}, f"{MAY_BE} 0.05 of samples"),
        (10, 30, {"alpha": 0.01}, f"{MAY_BE} 0.01 of samples"),
        (10, 10, {}, None),
    ],
)
def test_a_rate_of_many_pairs_is_said_only_where_it_was_measured(
    runs: int, queries: int, settings: dict, rates: str | None
) -> None:
    """Of 45 pairs on 10 queries no verdict is possible: 2^-9 after Holm's correction is 0.088."""
    x = np.random.default_rng(0).normal(0.5, 0.05, (runs, queries))
    table = values(**{f"r{k}": of_run for k, of_run in enumerate(x)})
    result = irl.compare(values=table, test=irl.SignificanceTest(**settings))
    notes = [note for note in result.diagnostics if "a baseline asks for fewer" in note]
    if rates is None:
        assert not notes
        return
    if "real runs" in rates:
        rates += ", instead of 0.05"
    pairs = runs * (runs - 1) // 2
    assert notes == [
        f"AP: all {pairs} pairs on {queries} queries: {rates}; a baseline asks for fewer "
        "comparisons."
    ]


def test_a_caveat_of_many_pairs_counts_the_units_of_the_test() -> None:
    x = np.random.default_rng(0).normal(0.5, 0.05, (5, 120))
    table = values(**{f"r{k}": of_run for k, of_run in enumerate(x)})
    groups = {
        query_id: i % 12 for i, query_id in enumerate(sorted(set(table["query_id"])))
    }
    test = irl.SignificanceTest(cluster=True)
    result = irl.compare(values=table, groups=groups, test=test)
    notes = [note for note in result.diagnostics if "a baseline asks for fewer" in note]
    assert notes == [
        f"AP: all 10 pairs on 12 groups: {MAY_BE} 0.05 of samples; a baseline asks for fewer "
        "comparisons."
    ]


@pytest.mark.parametrize(
    ("differing", "interval"), [(31, ""), (5, "no interval at alpha 0.05")]
)
def test_wilcoxon_says_which_differences_it_is_about(
    differing: int, interval: str
) -> None:
    gains = np.random.default_rng(0).normal(0.02, 0.05, 50)
    gains[differing:] = 0
    table = values(base=np.full(50, 0.5), new=0.5 + gains)
    result = irl.compare(values=table, baseline="base", test="wilcoxon")
    (note,) = [note for note in result.diagnostics if "not 0" in note]
    assert f"the pseudomedian of the {differing} differences that are not 0" in note
    assert interval in note
    row = result.table().iloc[0]
    assert np.isfinite(row["ci_low"]) == (not interval)
    assert not any("not 0" in note for note in result.with_test("t").diagnostics)


def test_a_group_that_dominates_is_named() -> None:
    rng = np.random.default_rng(0)
    table = values(base=rng.random(40), new=rng.random(40))
    sizes = {"large": 20, "b": 4, "c": 4, "d": 4, "e": 4, "f": 4}
    groups = dict(
        zip(
            sorted(set(table["query_id"])),
            np.repeat(list(sizes), list(sizes.values())),
            strict=True,
        )
    )
    result = irl.compare(
        values=table, groups=groups, test=irl.SignificanceTest(cluster=True)
    )
    assert any(
        note
        == "Group large holds 20 of 40 queries: overall results mostly reflect this group."
        for note in result.diagnostics
    )
    assert result.table()["ci_low"].isna().all()
    assert any("There is an interval only if" in note for note in result.diagnostics)


def test_a_run_that_is_left_out_of_the_best_set_though_it_does_not_differ_is_explained() -> (
    None
):
    rng = np.random.default_rng(3)
    base = rng.uniform(0.3, 0.6, 40)
    gains = {f"r{i}": base + rng.normal(0.008 * i, 0.04, 40) for i in range(8)}
    for seed in range(40):
        gains["leader"] = base + np.random.default_rng(seed).normal(0.08, 0.05, 40)
        result = irl.compare(values=values(**gains))
        best = result.best_set().set_index("run")["may_be_best"]
        leader, verdicts = result.best_set()["run"][0], result.tests.verdicts_by()
        explained = (
            "a run without a mark need not be significantly worse than the leader"
            in result.summary(full=True)
        )
        assert explained == any(
            not best[run] and verdicts.on(leader, run) == "undecided"
            for run in best.index
        )
        if explained:
            return
    raise AssertionError(
        "no best set left out a run that does not differ significantly"
    )


@pytest.mark.parametrize(("queries", "said"), [(3, False), (20, True), (25, False)])
def test_a_rare_winner_that_few_queries_may_rule_out_has_a_caveat(
    queries: int, said: bool
) -> None:
    rng = np.random.default_rng(0)
    ease = rng.uniform(0.1, 0.3, queries)
    runs = {f"r{i}": ease + 0.07 + rng.normal(0, 0.02, queries) for i in range(3)} | {
        "rare": ease
    }
    rare = f"Only {queries} queries: a run that wins rarely but by much may wrongly be ruled out as the best."
    result = irl.compare(values=values(**runs))
    assert (rare in result.diagnostics) == said
    # With a baseline no best runs are shown.
    assert rare not in irl.compare(values=values(**runs), baseline="r0").diagnostics
    parts = {
        f"c{i}": values(**{run: x[i::2] for run, x in runs.items()}) for i in range(2)
    }
    result = irl.benchmark(values=parts)
    assert any(
        "as the best, and its rank may be too low" in note
        for note in result.diagnostics
    ) == (queries > 3)
