"""Verdicts with a margin: two-sided better, bounds that decided, families, and their sentences."""

import re

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall.present.text import format_p, p_words
from ir_lexirecall.significance import SignificanceTest, margin_test

TESTS = ["t", "sign", "wilcoxon", "bootstrap", "randomisation", "tukey"]


def values(*differences, name="AP", base=0.5):
    """Values of a baseline and of runs that differ from it."""
    queries = [f"q{i:03}" for i in range(len(differences[0]))]
    runs = {"old": {q: {name: base} for q in queries}}
    for k, x in enumerate(differences):
        label = "new" if k == 0 else f"new{k}"
        runs[label] = {
            q: {name: base + float(d)} for q, d in zip(queries, x, strict=True)
        }
    return runs


def compared(*differences, margin=0.01, test=None, **how):
    return irl.compare(
        values=values(*differences, **how), baseline="old", margin=margin, test=test
    )


def test_ten_identical_queries_show_no_equivalence():
    result = compared(np.zeros(10))
    row = result.table().iloc[0]
    assert row["verdict"] == "undecided"
    assert row["not_worse_p"] == pytest.approx(0.99**10)
    assert row["within_p"] == pytest.approx(0.99**10)
    assert row["bound_low"] == pytest.approx(-(1 - 0.05**0.1))
    words = "the two are identical on all 10 queries, which does not show equivalence: up to 26% of"
    assert words in result.summary(full=True)
    assert "equivalent" not in result.summary(full=True)
    assert "is not worse than" not in result.summary(full=True)
    assert compared(np.zeros(299)).table()["verdict"].tolist() == ["within margin"]
    assert "equivalent" in str(compared(np.zeros(299)))


def test_identical_rankings_and_preferences_show_none_either():
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(10)}
    run = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    for test in (None, "t"):
        result = irl.compare(
            qrels,
            {"old": run, "new": run},
            ["AP", "lexirecall", "rpp"],
            baseline="old",
            margin=0.05,
            test=test,
        )
        table = result.table()
        assert set(table["verdict"]) == {"undecided"}
        widths = {"AP": 1, "lexirecall": 2, "rpp": 2}
        for _, row in table.iterrows():
            assert (
                row["not_worse_p"]
                >= (1 - 0.05 / widths[row["criterion"]]) ** 10 - 1e-12
            )
    gated = irl.gate(qrels, run, run, "AP")
    assert (gated.outcome, gated.undecided) == (
        "passed",
        [],
    )  # the same ranking is no sample of losses
    other = {
        q: {"a": 2.0, "c": 1.0} for q in qrels
    }  # another ranking, of the same values
    gated = irl.gate(qrels, run, other, "AP")
    assert (gated.outcome, gated.undecided) == ("passed", ["AP"])


@pytest.mark.parametrize("name", ["faithfulness", "llm_score"])
def test_small_values_of_an_unknown_range_from_0_to_1_do_not_make_ties_evidence(
    name: str,
) -> None:
    rows = compared(np.zeros(30), name=name, base=0.1, margin=0.01).table().iloc[0]
    assert rows["not_worse_p"] == pytest.approx(0.99**30)
    assert rows["verdict"] == "undecided"
    percent = compared(np.zeros(30), name=name, base=50.0, margin=10.0).table()
    assert percent.iloc[0]["not_worse_p"] == pytest.approx((1 - 10 / 50) ** 30)


def test_unbounded_measures_take_the_range_that_was_seen():
    x = np.linspace(-0.1, 0.1, 12)
    slow = compared(np.zeros(12), name="latency", base=20.0, margin=1.0).table().iloc[0]
    assert slow["not_worse_p"] == pytest.approx((1 - 1 / 20) ** 12)
    wide = compared(np.zeros(12), name="latency", base=0.5, margin=1.0).table().iloc[0]
    assert wide["not_worse_p"] == pytest.approx(0.5**12)  # at least twice the margin
    nothing = (
        compared(np.zeros(12), name="latency", base=0.0, margin=1.0).table().iloc[0]
    )
    assert nothing["not_worse_p"] == 1.0  # values of 0 tell of no range
    assert (
        compared(x, name="latency", base=0.5, margin=1.0).table().iloc[0]["not_worse_p"]
        < 1
    )


@pytest.mark.slow
def test_a_margin_never_turns_no_difference_into_better():
    rng = np.random.default_rng(0)
    turned = 0
    for seed in range(60):
        x = np.random.default_rng(seed).normal(0.03, 0.1, 40)
        for test in TESTS:
            tested = SignificanceTest(test, n_resamples=499, progress=False)
            plain = (
                irl.compare(values=values(x), baseline="old", test=tested)
                .table()
                .iloc[0]
            )
            with_margin = compared(x, margin=1e-6, test=tested).table().iloc[0]
            assert (with_margin["verdict"] == "better") == (
                plain["verdict"] == "better"
            )
            if plain["verdict"] == "better":
                assert with_margin["better_p"] == pytest.approx(plain["p_corrected"])
            turned += plain["p"] > 0.05 >= plain["p"] / 2
        if turned > 20:
            break
    assert turned > 5
    assert rng is not None


@pytest.mark.sparse
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("queries", [10, 25, 60])
def test_the_printed_bound_is_the_one_that_decided(test, queries):
    rng = np.random.default_rng(queries)
    shifts = (-0.03, -0.012, -0.004, 0.0, 0.004, 0.02)
    tested = SignificanceTest(test, correction=None, n_resamples=999, progress=False)
    seen = set()
    for shift in shifts:
        for spread in (0.01, 0.03):
            margin = 0.4 if test == "sign" else 0.01
            result = compared(
                rng.normal(shift, spread, queries), margin=margin, test=tested
            )
            row = result.table().iloc[0]
            low, high, verdict = row["bound_low"], row["bound_high"], row["verdict"]
            assert low <= row["estimate"] + 1e-12
            assert row["estimate"] <= high + 1e-12
            assert (verdict == "worse") == (high < 0)
            assert (low > -margin) == (row["not_worse_p"] <= 0.05)
            if verdict == "better":
                assert row["ci_low"] > 0
            if verdict == "not worse":
                assert low > -margin
                summary = result.summary(full=True)
                assert "is not worse than old" in summary
                assert re.search(r"loses at most [0-9.e-]+ \(one-sided 95%", summary)
            if verdict == "within margin":
                assert -margin < low <= high < margin
            seen.add(verdict)
    assert "worse" in seen


def test_costs_have_bounds_on_the_other_side():
    x = np.random.default_rng(1).normal(0.0, 0.02, 60)
    gain = compared(x, margin=0.01).table().iloc[0]
    cost = irl.compare(
        values=values(-x, name="loss"),
        baseline="old",
        margin=0.01,
        smaller_is_better="loss",
    )
    row = cost.table().iloc[0]
    assert row["verdict"] == gain["verdict"]
    assert (row["bound_low"], row["bound_high"]) == pytest.approx(
        (-gain["bound_high"], -gain["bound_low"])
    )


def test_families_are_named_once():
    rng = np.random.default_rng(2)
    runs = {
        f"r{i}": {f"q{q}": {"AP": rng.random(), "RR": rng.random()} for q in range(30)}
        for i in range(5)
    }
    result = irl.compare(values=runs, baseline="r0", margin=0.01)
    families = "Holm over 8 for worse and better; over the 4 of each criterion for not worse and within margin"
    assert families in result.summary(full=True)
    assert families in result.to_markdown()
    assert "not significantly different" not in result.summary(full=True)
    assert "undecided" in result.summary(full=True)
    assert "each criterion tested by itself" not in result.summary(full=True)
    gated = irl.gate(irl.demo.qrels(), irl.demo.run("bm25"), irl.demo.run("ql"), "AP")
    assert "1 criterion" not in str(gated)


def test_p_and_levels_have_two_digits_and_intervals_are_at_95(tmp_path):
    demo = irl.demo
    gated = irl.gate(
        demo.qrels(),
        demo.run("bm25"),
        demo.run("ql"),
        ["AP", "RR"],
        release=demo.run("tfidf"),
        ledger=tmp_path / "ledger.jsonl",
    )
    text = str(gated)
    assert text.count("95% interval") == 2
    assert "p \\<= 0.015;" in text
    assert not re.search(r"\d\.\d{3,}% ", text)


def test_a_difference_that_equals_the_margin_is_shown_as_the_margin():
    x = np.full((2, 9), -0.005)
    x[1] = np.linspace(-0.1, 0.2, 9)
    text = compared(*x, margin=0.005).summary()
    assert " -0.005 " in text
    assert "0.0050000" not in text


def test_no_interval_is_promised_on_one_query():
    result = irl.compare(values={"a": {"1": {"AP": 0.3}}, "b": {"1": {"AP": 0.4}}})
    assert "interval" not in result.summary(full=True)


def test_a_level_has_as_many_digits_as_the_p_beside_it_needs():
    x = np.random.default_rng(0).normal(0.05, 0.1, 30)
    free = irl.compare(values=values(x), baseline="old")
    p = free.table()["p"].iloc[0]
    alpha = p * 0.999
    result = free.with_test(irl.SignificanceTest(alpha=alpha))
    said = " ".join(result.summary(full=True).split())
    shown, level = re.search(r"p = ([\d.]+)\).* p <= ([\d.]+)\)", said).groups()
    assert float(level) < float(shown)


def test_a_level_has_as_many_digits_as_the_smallest_p_beside_it_needs():
    """Of 8 queries, no sign test gives less than 2^-7, which is 0.0078 as the level is."""
    test = irl.SignificanceTest("sign", alpha=0.00778)
    result = irl.compare(values=values(np.full(8, 0.1)), baseline="old", test=test)
    (note,) = [note for note in result.diagnostics if "smallest p" in note]
    assert note.endswith("is 0.0078: it cannot reject at alpha 0.00778.")


def test_verdicts_have_the_p_that_they_rest_on():
    x = np.random.default_rng(4).normal(0, 0.02, 60)
    result = compared(x - x.mean(), 0.2 + x, x - 0.1, 8 * x)
    table, verdicts = result.table(), result.verdicts()
    assert verdicts["verdict"].tolist() == [
        "within margin",
        "better",
        "worse",
        "undecided",
    ]
    columns = ["within_p", "better_p", "worse_p"]
    for row, column in enumerate(columns):
        assert verdicts["p_of_verdict"][row] == table[column][row] <= 0.05
    assert np.isnan(verdicts["p_of_verdict"][3])
    without = irl.compare(values=values(x), baseline="old")
    assert "p_of_verdict" not in without.verdicts()


def test_tables_of_groups_say_what_few_queries_miss():
    x = np.random.default_rng(4).normal(0, 0.02, 90)
    x[40:] *= 8
    groups = {f"q{q:03}": "few" if q < 40 else "many" for q in range(90)}
    result = irl.compare(values=values(x), baseline="old", margin=0.01, groups=groups)
    (note,) = result.group_table().attrs["diagnostics"]
    assert note.startswith("AP in few: 40 queries may miss losses on fewer than 7.2%")
    assert note in result.diagnostics
    assert "diagnostics" not in result.table().attrs


def test_few_queries_are_said_to_miss_rare_losses():
    x = np.random.default_rng(4).normal(0, 0.02, 50)
    said = "AP: 50 queries may miss losses on fewer than 5.8% of queries; a loss of 0.17 there"
    result = compared(x)
    assert result.table()["verdict"].iloc[0] in ("within margin", "not worse")
    assert any(note.startswith(said) for note in result.diagnostics)
    for table in (result.table(), result.verdicts(), result.verdicts(holds=True)):
        (note,) = table.attrs["diagnostics"]
        assert type(note) is str
        assert note.startswith(said)
    undecided = compared(np.random.default_rng(4).normal(0, 0.1, 50))
    assert "diagnostics" not in undecided.table().attrs
    assert not any("may miss" in note for note in undecided.diagnostics)
    many = compared(np.random.default_rng(4).normal(0, 0.02, 300))
    assert not any("may miss" in note for note in many.diagnostics)


def test_verdicts_of_single_collections_are_said_to_miss_rare_losses():
    """Of several collections each risk is said once; a benchmark without a margin says none."""
    values = {}
    for name, n in (("a", 50), ("b", 50), ("c", 30)):
        rng = np.random.default_rng(n)
        x = {"base": rng.uniform(0.3, 0.6, n), "new": rng.normal(0, 0.02, n)}
        x["new"] += x["base"]
        values[name] = {
            run: {f"{name}{q}": {"AP": value} for q, value in enumerate(of_run)}
            for run, of_run in x.items()
        }
    result = irl.benchmark(values=values, baseline="base", margin=0.02)
    assert set(result.verdicts()["verdict"]) == {"within margin"}
    notes = [note for note in result.diagnostics if "may miss" in note]
    assert [note.partition(";")[0] for note in notes] == [
        "a and b: AP: 50 queries may miss losses on fewer than 5.8% of queries",
        "c: AP: 30 queries may miss losses on fewer than 9.5% of queries",
    ]
    for table in (result.table(), result.verdicts()):
        in_attrs = [
            note.partition(" queries")[0] for note in table.attrs["diagnostics"]
        ]
        assert in_attrs == ["a: AP: 50", "b: AP: 50", "c: AP: 30"]
    text = " ".join(result.summary(full=True).split())
    assert "may miss losses on fewer than 5.8% of queries" in text
    without = irl.benchmark(values=values, baseline="base")
    assert not any("may miss" in note for note in without.diagnostics)


@pytest.mark.parametrize("margin", [None, 0.01])
@pytest.mark.parametrize(
    "test", ["t", "bootstrap", "randomisation", "wilcoxon", "sign"]
)
def test_few_differing_queries_are_unresolvable(test, margin):
    x = np.zeros(93)
    x[:4] = [0.1, 0.2, 0.15, 0.3]
    tested = SignificanceTest(test, n_resamples=999, progress=False)
    if margin is None:
        result = irl.compare(values=values(x), test=tested)
    else:
        result = compared(x, test=tested)
    assert result.table()["p"].iloc[0] >= 0.125
    assert (
        "unresolvable: only 4 queries differ"
        in result.summary(full=True).split("Careful")[0]
    )
    assert any(
        "unresolvable: only 4 queries differ" in note for note in result.diagnostics
    )
    x[4:7] = 0.1
    enough = irl.compare(values=values(x), test=tested)
    assert "unresolvable" not in str(enough)


@pytest.mark.parametrize(
    "test", ["t", "bootstrap", "randomisation", "wilcoxon", "sign"]
)
@pytest.mark.parametrize(
    ("n_queries", "differing", "verdict", "told"),
    [
        (5, 5, "worse", "0.062 for better than the baseline and 0.031 for worse than it: it cannot show better"),
        (3, 3, "undecided", "and 0.12 for worse than it: it can show neither better nor worse"),
        (40, 5, "worse", "unresolvable: only 5 queries differ, and so p is at least 0.062 for better."),
        (40, 4, "undecided", "p is at least 0.12 for better and 0.062 for worse."),
    ],
)  # fmt: skip
def test_limits_of_p_with_a_margin_tell_better_from_worse(
    test: str, n_queries: int, differing: int, verdict: str, told: str
) -> None:
    """Worse is one-sided: 5 losses show it, 5 gains do not show better."""
    x = np.zeros(n_queries)
    x[:differing] = -0.2 - 0.01 * np.arange(differing)
    tested = SignificanceTest(test, n_resamples=999, progress=False)
    result = compared(x, margin=0.005, test=tested)
    row = result.table().iloc[0]
    assert row["verdict"] == verdict
    assert row["worse_p"] == pytest.approx(2.0**-differing, rel=0.1)
    notes = " ".join(result.diagnostics)
    assert told in notes
    assert "it cannot reject" not in notes
    assert "and so no p is below" not in notes
    words = " ".join(str(result).split("Careful")[0].split())
    assert ("unresolvable" in words) == (verdict == "undecided")


def test_the_smallest_corrected_p_with_a_margin_is_that_of_all_criteria() -> None:
    base = np.full(6, 0.5)
    losses = [0.1, 0.12, 0.13, 0.14, 0.15, 0.11]
    runs = {"old": base, "new": base - losses, "other": base - losses - 0.01}
    of_runs = {
        name: {f"q{q}": {"AP": v, "RR": v} for q, v in enumerate(x.tolist())}
        for name, x in runs.items()
    }
    result = irl.compare(values=of_runs, baseline="old", margin=0.01, test="t")
    notes = " ".join(result.diagnostics)
    assert "(0.12 and 0.062 after Holm's correction for 4 comparisons)" in notes
    assert result.table("AP")["worse_p"].tolist() == pytest.approx([4 / 2**6] * 2)


def test_equal_runs_are_seldom_better_or_worse_with_a_margin():
    """At most alpha + alpha / 2: worse is one-sided, better two-sided; before, 0.10."""
    rng = np.random.default_rng(7)
    x = rng.normal(0, 0.1, (4000, 40))
    one_sided = margin_test(SignificanceTest("t"), x, 0.01)
    both = SignificanceTest("t").of_pairs(x)
    better = (both.p <= 0.05) & (both.estimate > 0)
    assert 0.06 <= np.mean(better | (one_sided.worse <= 0.05)) <= 0.09


# -- the range -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_queries", [2, 3, 5])
@pytest.mark.parametrize("by", ["lexirecall", "rpp", "RR", "ATD(n=10)"])
@pytest.mark.parametrize(
    "test", [None, "sign", "t", "wilcoxon", "bootstrap", "randomisation", "tukey"]
)
@pytest.mark.filterwarnings("ignore")
def test_intervals_and_bounds_stay_within_what_is_possible(
    test: str | None, by: str, n_queries: int
) -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(n_queries)}
    first, last = {"a": 2.0, "x": 1.0}, {"x": 2.0, "y": 1.0}
    main = {q: last if i == 1 else first for i, q in enumerate(qrels)}
    other = {q: first if i == 1 else last for i, q in enumerate(qrels)}
    chosen = irl.SignificanceTest(test, n_resamples=199, progress=False)
    result = irl.compare(
        qrels,
        {"main": main, "other": other},
        by,
        baseline="main",
        margin=0.1,
        test=chosen,
    )
    criterion = result.compared.criterion()
    least, most = criterion.range_of_differences
    if test == "sign":
        least, most = -1.0, 1.0
    if test == "tukey" and not criterion.is_measure:
        least, most = -2.0, 2.0
    table = result.table()
    for low, high in (("ci_low", "ci_high"), ("bound_low", "bound_high")):
        for end in (table[low], table[high]):
            is_known = np.isfinite(end)
            assert ((least <= end) & (end <= most))[is_known].all()
    assert ((table["ci_low"] > 0) | (table["ci_high"] < 0)).tolist() == (
        table["p"] <= chosen.alpha
    ).tolist()


@pytest.mark.filterwarnings("ignore")
def test_intervals_that_count_unjudged_documents_stay_within_the_range() -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(3)}
    main = {q: {"a": 2.0, "x": 1.0} if i else {"x": 2.0} for i, q in enumerate(qrels)}
    other = {q: {"y": 2.0} if i else {"a": 2.0, "y": 1.0} for i, q in enumerate(qrels)}
    result = irl.compare(qrels, {"main": main, "other": other}, "RR")
    bounds = result.bounds()
    assert (bounds["ci_low"] >= -1).all()
    assert (bounds["ci_high"] <= 1).all()


# -- the sign test of a measure --------------------------------------------------------------------


def test_the_sign_test_needs_no_words_on_what_a_sample_may_miss():
    """Its margin is one of decided queries, and its bound allows for those that are missing."""
    x = np.where(np.arange(50) < 19, -0.01, 0.01)
    by_signs = compared(x, margin=0.05, test="sign")
    by_means = compared(x, margin=0.02, test="t")
    for result, is_said in ((by_signs, False), (by_means, True)):
        assert result.table()["verdict"].iloc[0] in ("not worse", "within margin")
        notes = " ".join(result.diagnostics)
        assert ("50 queries may miss losses" in notes) == is_said


@pytest.mark.parametrize("queries", [10, 25])
def test_rare_losses_are_seldom_called_not_worse_by_signs(queries):
    """Losses of 0.3 on 8% of the queries, 2.4 margins of 0.01: by ties and by noise elsewhere."""
    rng = np.random.default_rng(queries)
    test, shape = SignificanceTest("sign"), (8000, queries)
    lost = rng.random(shape) < 0.08
    tied = np.where(lost, -0.3, 0.0)  # all decided queries are lost
    for margin in (0.01, 0.1, 0.9):
        assert not (margin_test(test, tied, margin).not_worse <= 0.05).any()
    noise = np.where(lost, -0.3, rng.normal(0, 0.0005, shape))  # 46% won, 54% lost
    for margin in (0.01, 0.08):
        tested = margin_test(test, noise, margin)
        assert np.mean(tested.not_worse <= 0.05) <= 0.06
        assert np.mean(tested.within <= 0.05) <= 0.06
    identical = margin_test(test, np.zeros((1, 10)), 0.01)
    assert (identical.not_worse[0], identical.within[0]) == (1.0, 1.0)


# -- bounds beside intervals -----------------------------------------------------------------------


@pytest.mark.parametrize("test", ["t", "sign"])
@pytest.mark.parametrize("shift", [-0.03, -0.008, 0.0, 0.004])
def test_a_pair_has_the_bound_beside_the_interval(test, shift):
    rng = np.random.default_rng(11)
    margin = 0.3 if test == "sign" else 0.01
    result = compared(rng.normal(shift, 0.02, 60), margin=margin, test=test)
    row = result.table().iloc[0]
    if row["verdict"] == "better":
        return
    words = " ".join(result.summary(full=True).split())
    assert re.search(r"(at most|at least|up to) [0-9.e-]+ \(one-sided 95%", words)
    if row["verdict"] == "worse":
        assert f"loses at least {-row['bound_high']:.2g} (one-sided 95%" in words
        assert "one-sided p" in words
    if row["verdict"] != "worse" or test != "sign":
        ends = [f"{abs(row[end]):.3f}" for end in ("ci_low", "ci_high")]
        assert all(end in words for end in ends)


@pytest.mark.parametrize("seed", range(12))
def test_verdicts_of_families_never_stand_beside_a_bound_that_denies_them(seed):
    rng = np.random.default_rng(seed)
    queries = [f"q{q}" for q in range(40)]
    runs = {"old": {q: {"AP": 0.5, "RR": 0.5} for q in queries}}
    for k in range(6):
        gains = rng.normal(rng.normal(0, 0.015), 0.04, (2, 40))
        runs[f"new{k}"] = {
            q: {"AP": 0.5 + a, "RR": 0.5 + b}
            for q, a, b in zip(queries, *gains.tolist(), strict=True)
        }
    result = irl.compare(values=runs, baseline="old", margin=0.015)
    words = " ".join(result.summary(full=True).split())
    assert "bounds: one-sided 95%, uncorrected: each run by itself" in words
    table = result.table()
    for row in table.itertuples():
        if row.verdict in ("not worse", "within margin"):
            assert row.bound_low > -0.015
        if row.verdict == "within margin":
            assert row.bound_high < 0.015
        if row.verdict == "worse":
            assert row.bound_high < 0
    denied = (table["verdict"] == "undecided") & (table["bound_low"] > -0.015)
    assert words.count("before correction") == denied.sum()


@pytest.mark.parametrize(
    ("scale", "shift", "verdict", "p"),
    [
        (1.0, -0.007, "worse", "worse_p"),
        (0.9, 0.0, "within margin", "within_p"),
        (1.0, -0.004, "undecided", None),
    ],
)
def test_a_table_of_differences_has_the_p_of_the_verdict(scale, shift, verdict, p):
    x = scale * np.tile([0.03, -0.03, 0.02, -0.02], 10) + shift
    result = compared(x, margin=0.01)
    row = result.table().iloc[0]
    assert row["verdict"] == verdict
    shown = "-" if p is None else f"{row[p]:#.2g}"
    words = " ".join(result.to_markdown(columns="differences").split())
    assert f"| {shown} | {verdict}: " in words
    if verdict == "worse":  # the p of two sides would deny the mark
        assert row["worse_p"] <= 0.05 < row["p_corrected"]


def test_bounds_of_one_run_by_several_criteria_are_not_said_to_be_of_each_run():
    queries = {f"q{q}": {"AP": 0.5, "RR": 0.5} for q in range(10)}
    runs = {"old": queries, "new": {q: {"AP": 0.4, "RR": 0.4} for q in queries}}
    result = irl.compare(values=runs, baseline="old", margin=0.01)
    table = result.to_markdown(columns="differences")
    assert "Bounds: one-sided 95%, uncorrected." in table


# -- groups ----------------------------------------------------------------------------------------


def test_what_a_group_may_miss_goes_by_its_own_queries():
    rng = np.random.default_rng(4)
    x = np.tile([0.04, -0.04], 30) + rng.normal(0, 0.004, 60)
    groups = {f"q{i:03}": "few" if i < 12 else "many" for i in range(60)}
    result = irl.compare(values=values(x), baseline="old", margin=0.04, groups=groups)
    notes = " ".join(result.diagnostics)
    for where, n in (("AP", 60), ("AP in few", 12), ("AP in many", 48)):
        share = 100 * (1 - 0.05 ** (1 / n))
        assert (
            f"{where}: {n} queries may miss losses on fewer than {share:.2g}%" in notes
        )
    assert set(result.group_table()["verdict"]) <= {"not worse", "within margin"}


def test_groups_in_which_nothing_can_be_shown_are_named():
    x = np.zeros(40)
    x[:6] = [0.1, 0.2, 0.1, 0.2, 0.15, 0.12]
    x[6:9] = [0.1, 0.05, 0.2]
    groups = {f"q{i:03}": "tiny" if i < 3 else "rest" for i in range(40)}
    result = irl.compare(values=values(x), groups=groups)
    notes = " ".join(result.diagnostics)
    assert "tiny: The smallest p that the t test can give on 3 queries is 0.25" in notes
    x = np.zeros(40)
    x[[0, 1, 20, 21, 22, 23, 24, 25, 26]] = 0.1
    groups = {f"q{i:03}": "first" if i < 20 else "second" for i in range(40)}
    result = irl.compare(values=values(x), groups=groups)
    notes = " ".join(result.diagnostics)
    assert "first: AP, old and new: unresolvable: only 2 queries differ" in notes
    assert "second: AP" not in notes


def test_groups_under_a_margin_are_undecided_not_without_significant_differences():
    x = np.tile([0.1, -0.1, 0.05, -0.05], 10)
    groups = {f"q{i:03}": "first" if i < 20 else "second" for i in range(40)}
    runs = values(x)
    under_margin = irl.compare(values=runs, baseline="old", margin=0.001, groups=groups)
    words = " ".join(under_margin.summary(full=True).split())
    assert "in first (20 queries) and second (20 queries), all undecided" in words
    assert "significant difference" not in words
    plain = irl.compare(values=runs, baseline="old", groups=groups)
    words = " ".join(plain.summary(full=True).split())
    assert "no significant differences" in words


@pytest.mark.parametrize(("test", "is_planned"), [("t", True), ("sign", False)])
def test_plans_by_t_are_not_said_of_tests_with_margins_of_another_unit(
    test, is_planned
):
    """The sign test would need some 60,000 queries for a margin of 0.01, not 208."""
    x = np.random.default_rng(3).normal(-0.002, 0.05, 40)
    result = compared(x, margin=0.01, test=test)
    assert result.table()["verdict"].tolist() == ["undecided"]
    assert ("queries would decide" in str(result)) == is_planned
    gate = irl.gate(values=values(x), margin=0.01, test=test)
    assert gate.undecided == ["AP"]
    assert ("queries would rule out" in str(gate)) == is_planned


# -- bounds and verdicts agree in all cases --------------------------------------------------------


def check_bounds(row, margin, sign=1):
    """Check that the bounds of a row of ``table`` say what its p and its verdict say."""
    low, high = row.bound_low, row.bound_high
    if sign < 0:
        low, high = -high, -low
    about = row._asdict()
    if not np.isfinite([low, high]).all():
        return
    if row.verdict in ("not worse", "within margin"):
        assert sign * row.estimate >= -margin, about
    if row.verdict == "within margin":
        assert sign * row.estimate <= margin, about
    if row.verdict == "better":
        assert low > 0, about
    elif row.verdict in ("not worse", "within margin"):
        assert low > -margin, about
    if row.verdict == "within margin":
        assert high < margin, about
    if row.verdict == "worse":
        assert high < 0, about


def check_bounds_of_one(row, margin, sign=1):
    """Check the bounds of a single pair by one criterion, where nothing is corrected."""
    check_bounds(row, margin, sign)
    low, high = row.bound_low, row.bound_high
    if sign < 0:
        low, high = -high, -low
    assert (row.verdict == "worse") == (high < 0), row
    if row.verdict != "better":
        assert (low > -margin) == (row.not_worse_p <= 0.05), row
    assert (row.p <= 0.05) == (row.ci_low > 0 or row.ci_high < 0), row


def check_words(result, margin):
    """Check that the summary of a single pair by one criterion prints no other bound."""
    words = " ".join(result.summary(full=True).split())
    assert "before correction" not in words
    row = next(result.table().itertuples())
    bound = re.search(r"(loses at most|differs by at most|may lose up to) (\S+)", words)
    if bound is None:
        assert (
            "identical" in words
            or "no known bounds" in words
            or row.verdict in ("better", "worse")
        )
        return
    shown = float(bound[2])
    if row.verdict == "undecided":
        assert bound[1] == "may lose up to"
        assert shown >= margin
    else:
        assert shown < margin or bound[2] == f"{margin:g}"


def some_differences(rng, kind, n, margin):
    """Differences that are normal, mostly ties, coarse, skewed, or gains on few queries."""
    x = rng.normal(
        rng.choice([-margin, 0, margin, 2 * margin]), rng.choice([0.005, 0.03, 0.08]), n
    )
    if kind == "ties":
        x[rng.random(n) < 0.7] = 0
    elif kind == "coarse":
        x = rng.choice([-0.1, 0.0, 0.1], n)
    elif kind == "skewed":
        x = 0.03 - rng.exponential(0.03, n)
    elif kind == "few gains":
        x = np.zeros(n)
        x[: rng.integers(3, 8)] = rng.uniform(0.04, 0.07)
        x[:3] += 0.001 * np.arange(3)[:n]
    return x.clip(-0.3, 0.3)


KINDS = ["normal", "ties", "coarse", "skewed", "few gains"]


def test_a_gain_on_few_queries_rules_out_no_loss():
    """The one-sided p of the gain is 0.031, that of *not worse* 0.44, of two sides 0.062."""
    x = np.zeros(15)
    x[:5] = [0.05, 0.06, 0.055, 0.065, 0.045]
    result = compared(x, margin=0.02)
    row = next(result.table().itertuples())
    assert row.verdict == "undecided"
    assert row.bound_low == pytest.approx(-(1 - 0.05 ** (1 / 15)), abs=0.001)
    assert "it may lose up to 0.18 (one-sided" in " ".join(str(result).split())
    gate = irl.gate(values=values(x), baseline="old", candidate="new", margin=0.02)
    assert "\\<= 0.18" in str(gate)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("test", TESTS)
def test_the_bounds_of_random_pairs_agree_with_their_verdicts(test, kind):
    rng = np.random.default_rng([TESTS.index(test), KINDS.index(kind)])
    chosen = SignificanceTest(test, n_resamples=499, progress=False)
    for case in range(20):
        n = int(rng.integers(2, 70))
        margin = float(rng.choice([0.005, 0.02, 0.05, 0.1]))
        is_cost = case % 3 == 0
        x = some_differences(rng, kind, n, margin)
        result = irl.compare(
            values=values(x, name="lat"),
            baseline="old",
            margin=margin,
            test=chosen,
            smaller_is_better=["lat"] if is_cost else None,
        )
        (row,) = result.table().itertuples()
        check_bounds_of_one(row, margin, -1 if is_cost else 1)
        if test != "wilcoxon":  # whose interval interpolates between ties
            assert row.bound_low <= row.estimate + 1e-9 <= row.bound_high + 2e-9
        if test != "tukey":
            check_words(result, margin)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("repeats", ["seeds", "samples"])
def test_the_bounds_of_repeats_agree_with_their_verdicts(repeats, kind):
    rng = np.random.default_rng([len(repeats), KINDS.index(kind)])
    for case in range(20):
        n = int(rng.integers(6, 60))
        margin = float(rng.choice([0.01, 0.03, 0.08]))
        level = rng.uniform(0.35, 0.65, n)
        x = some_differences(rng, kind, n, margin)
        noise = np.where(x == 0, 0.0, 0.01)
        runs = {"old": level, "new": level + x}
        rows = []
        for run, means in runs.items():
            for seed in range(rng.integers(2, 6)):
                moved = means + noise * (rng.normal(size=n) + case % 2 * rng.normal())
                for q, value in enumerate(moved.tolist()):
                    rows.append((run, f"q{q}", seed, value))
        frame = pd.DataFrame(rows, columns=["run", "query_id", "seed", "AP"])
        result = irl.compare(
            values=frame, repeats=repeats, baseline="old", margin=margin
        )
        check_bounds_of_one(next(result.table().itertuples()), margin)
        check_words(result, margin)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("test", [None, "randomisation", "bootstrap"])
def test_the_bounds_of_clusters_agree_with_their_verdicts(test, kind):
    rng = np.random.default_rng(KINDS.index(kind))
    chosen = SignificanceTest(test, cluster=True, n_resamples=499, progress=False)
    for _ in range(20):
        n, n_groups = int(rng.integers(12, 60)), int(rng.integers(4, 12))
        margin = float(rng.choice([0.01, 0.03, 0.08]))
        groups = {f"q{q:03}": f"g{q % n_groups}" for q in range(n)}
        of_groups = some_differences(rng, kind, n_groups, margin)
        x = of_groups[np.arange(n) % n_groups]
        result = irl.compare(
            values=values(x), groups=groups, test=chosen, baseline="old", margin=margin
        )
        check_bounds_of_one(next(result.table().itertuples()), margin)
        check_words(result, margin)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_bounds_of_families_groups_and_gates_agree_with_their_verdicts(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    n_undecided = 0
    for _ in range(15):
        n, margin = int(rng.integers(8, 50)), float(rng.choice([0.01, 0.03]))
        runs = {"old": {f"q{q}": {"AP": 0.5, "cost": 0.5} for q in range(n)}}
        for k in range(3):
            x = [some_differences(rng, kind, n, margin) for _ in range(2)]
            runs[f"new{k}"] = {
                f"q{q}": {"AP": 0.5 + a, "cost": 0.5 + b}
                for q, (a, b) in enumerate(zip(*np.array(x).tolist(), strict=True))
            }
        groups = {f"q{q}": "odd" if q % 2 else "even" for q in range(n)}
        options = {"margin": margin, "smaller_is_better": ["cost"]}
        result = irl.compare(values=runs, baseline="old", groups=groups, **options)
        for table in (result.table(), result.group_table()):
            for row in table.itertuples():
                check_bounds(row, margin, -1 if row.criterion == "cost" else 1)
        gate = irl.gate(values=runs, baseline="old", candidate="new0", **options)
        for row in gate.table.itertuples():
            sign = -1 if row.criterion == "cost" else 1
            check_bounds(row, margin, sign)
            low = row.bound_low if sign > 0 else -row.bound_high
            if row.verdict == "undecided":
                assert low <= -margin, row
                n_undecided += 1
    assert n_undecided


@pytest.mark.parametrize("shift", [-0.00105, -0.0005, 0.0])
def test_a_bound_that_is_rounded_stays_on_its_side_of_the_margin(shift):
    x = np.tile([0.04, -0.04], 40)
    bound = -compared(x + shift, margin=0.5).table()["bound_low"].iloc[0]
    for factor in (1.001, 0.999):
        result = compared(x + shift, margin=bound * factor)
        row = next(result.table().itertuples())
        assert (row.verdict != "undecided") == (factor > 1)
        words = " ".join(result.summary(full=True).split())
        shown = float(re.search(r"(at most|up to) ([0-9.]+) \(one-sided", words)[2])
        assert (shown < bound * factor) == (factor > 1)


def test_a_short_table_says_which_bounds_hold_before_correction_only():
    """A loss of the margin is excluded for a run by itself, but not for one of eight."""
    x = np.tile([0.04, -0.04], 40) + np.random.default_rng(0).normal(0, 0.001, 80)
    runs = values(*(x - x.mean() - 0.002 * k / 8 for k in range(8)))
    for run, of_query in runs.items():
        runs[run] = {q: {"AP": v["AP"], "RR": v["AP"]} for q, v in of_query.items()}
    bounds = -irl.compare(values=runs, baseline="old", margin=0.5).table()["bound_low"]
    said = "; its bound may be below the margin, before correction"
    for margin, is_said in ((float(bounds.max()) * 1.01, True), (1e-4, False)):
        result = irl.compare(values=runs, baseline="old", margin=margin)
        words = " ".join(str(result).split())
        assert "undecided <= " in words
        assert (said in words) == is_said


def test_a_loss_that_is_worse_by_p_alone_has_no_tiny_number():
    hundredths = [-6, -3, -7, 5, -5, -7, -3, -10, -3, -3, -7, 0, -5, -7, 16, 0, -1, -3]
    x = np.array([*hundredths, 4, -10, 6]) / 100
    tested = SignificanceTest("randomisation", n_resamples=499, seed=19)
    result = compared(x, margin=0.1, test=tested)
    (row,) = result.table().itertuples()
    assert row.verdict == "worse"
    assert -1e-300 < row.bound_high < 0
    bound = "loses more than 0, but less than 0.1 (one-sided"
    assert bound in " ".join(str(result).split())
    gate = irl.gate(
        values=values(x), baseline="old", candidate="new", margin=0.1, test=tested
    )
    assert "\\> 0, \\< 0.1 |" in str(gate)


# -- identical runs --------------------------------------------------------------------------------


def test_plans_and_notes_do_not_forget_identical_runs():
    """The noisy run needs some 25 queries, the identical one 299."""
    noise = np.random.default_rng(0).normal(0, 0.02, 10)
    result = compared(np.zeros(10), noise)
    needed = result.queries_for_margin(0.01)["queries"]
    assert needed[0] == 299
    assert needed[1] < 100
    words = " ".join(result.summary(full=True).split())
    assert "if there is no loss, about 299 queries would decide" in words
    said = (
        "AP, new and old: identical on all 10 queries, which does not show equivalence: "
        "up to 26% of such queries may differ (95%)."
    )
    assert said in words
    assert said in result.diagnostics
    gate = irl.gate(values=values(np.zeros(10)), baseline="old", candidate="new")
    assert said in str(gate)
    assert "about 299 queries would rule out a loss of 0.01" in str(gate)
    assert not any("identical" in note for note in compared(noise).diagnostics)


def test_identical_runs_are_named_once():
    two = compared(np.zeros(10))
    assert str(two).count("identical on all") == 1
    several = compared(np.zeros(10), np.zeros(10), np.full(10, 0.2))
    words = " ".join(several.summary(full=True).split())
    assert words.count("identical on all") == 1
    assert "AP: new and old and new1 and old: identical on all 10 queries" in words
    enough = compared(np.zeros(299), np.zeros(299), margin=0.02)
    assert not any("identical" in note for note in enough.diagnostics)


def test_the_same_ranking_is_not_said_to_show_too_little():
    demo = irl.demo
    same = irl.gate(demo.qrels(), demo.run("bm25"), demo.run("bm25"), "AP")
    assert "nothing changed" in str(same)
    assert "equivalence" not in str(same)


def test_identical_tasks_and_groups_are_called_so():
    groups = {f"q{i:03}": f"g{i % 4}" for i in range(20)}
    tested = SignificanceTest(cluster=True, n_resamples=99, progress=False)
    result = irl.compare(
        values=values(np.zeros(20)),
        baseline="old",
        margin=0.01,
        groups=groups,
        test=tested,
    )
    notes = " ".join(result.diagnostics)
    assert "identical on all 20 queries" in notes
    assert "up to 53% of such groups may differ" in notes


# -- bounds that are not known ---------------------------------------------------------------------


def test_a_sentence_without_bounds_is_a_sentence():
    """Wilcoxon on four differing queries has neither an interval nor bounds."""
    x = np.zeros(40)
    x[:4] = [0.05, -0.01, 0.04, 0.06]
    words = " ".join(str(compared(x, margin=0.02, test="wilcoxon")).split())
    assert "; it has no known bounds (one-sided 95%; pseudomedian of" in words
    words = " ".join(str(compared(x, -x, margin=0.02, test="wilcoxon")).split())
    assert "undecided: has no known bounds" in words or "undecided -" in words


# -- best sets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("differing", [1, 2, 3, 4])
def test_a_pair_without_a_p_at_all_rules_out_no_best_run(differing):
    rng = np.random.default_rng(differing)
    base = rng.uniform(0.3, 0.6, 93)
    twin = np.where(np.arange(93) < differing, 0.1, 0.0)
    runs = {"twin": base + twin, "run": base, "low": base - rng.uniform(0.05, 0.15, 93)}
    of_runs = {
        name: {f"q{q}": {"AP": float(v)} for q, v in enumerate(x)}
        for name, x in runs.items()
    }
    result = irl.compare(values=of_runs)
    assert "unresolvable" in " ".join(result.diagnostics)
    best = result.best_set().set_index("run")
    assert best["may_be_best"].to_dict() == {"twin": True, "run": True, "low": False}
    assert best["p_not_beaten"]["run"] >= 2.0**-differing


def test_a_single_query_is_counted_as_one():
    one = compared(np.zeros(1), margin=0.02)
    words = " ".join(one.summary(full=True).split())
    assert "identical on 1 query, which does not show equivalence" in words
    assert "all 1 " not in words


# -- estimates and the margin ---------------------------------------------------------------------


def test_a_gate_prints_the_p_of_better_not_of_not_worse():
    """It printed "not worse: p 0.30" beside *better*: ties forbid only *not worse*."""
    gain = np.zeros(15)
    gain[:6] = [0.05, 0.06, 0.055, 0.065, 0.045, 0.05]
    gate = irl.gate(values=values(gain), margin=0.01)
    (row,) = gate.table.itertuples()
    assert row.verdict == "better"
    assert row.better_p <= 0.05 < row.not_worse_p
    text = str(gate)
    assert format_p(row.not_worse_p) not in text
    assert f"better is two-sided: AP ({p_words(row.better_p)})" in text


def test_a_difference_within_the_margin_is_not_rounded_beyond_it():
    """0.00051 was +0.001 beside *within margin*, which was 0.00096."""
    x = np.tile([0.00281, -0.00179], 40)
    plain = SignificanceTest(correction=None)
    for rivals in ([x], [x, -x]):
        result = compared(*rivals, margin=0.00096, test=plain)
        assert result.table()["verdict"].iloc[0] == "within margin"
        assert "+0.0005" in str(result)
        assert "+0.001" not in str(result)
    gate = irl.gate(values=values(x), margin=0.00096)
    assert gate.table["verdict"].tolist() == ["within margin"]
    assert "+0.0005" in str(gate)


@pytest.mark.parametrize("seed", [35, 107, 148, 162, *range(8)])
def test_by_ranks_no_run_is_within_a_margin_that_its_estimate_exceeds(seed):
    """The margin counted ties, the estimate did not: +0.022 was called within 0.02."""
    rng = np.random.default_rng(seed)
    x = np.zeros(int(rng.integers(20, 200)))
    n = int(rng.integers(6, max(7, len(x) // 2)))
    x[:n] = rng.normal(rng.choice([-0.03, 0.03, 0.02]), 0.03, n)
    margin = float(rng.choice([0.01, 0.02, 0.05]))
    row = compared(x, margin=margin, test="wilcoxon").table().iloc[0]
    if row["verdict"] == "within margin":
        assert abs(row["estimate"]) < margin
    if row["verdict"] == "not worse":
        assert row["estimate"] > -margin


def test_ranks_say_not_worse_of_a_loss_of_the_margin_as_seldom_as_they_should():
    """Half of the queries tie, the others lose the margin: it was said in 0.87 of samples."""
    rng = np.random.default_rng(0)
    x = np.where(rng.random((1000, 40)) < 0.5, 0.0, rng.normal(-0.02, 0.03, (1000, 40)))
    tested = margin_test(SignificanceTest("wilcoxon", progress=False), x, 0.02)
    assert np.mean(tested.not_worse <= 0.05) <= 0.065
    assert np.mean(tested.within <= 0.05) <= 0.065


def test_units_of_the_smallest_p_are_those_of_the_test() -> None:
    rng = np.random.default_rng(0)
    runs = values(rng.normal(0, 0.1, 40))
    groups = {query: f"g{i % 4}" for i, query in enumerate(runs["old"])}
    clustered = irl.SignificanceTest(cluster=True)
    for margin in (None, 0.02):
        result = irl.compare(
            values=runs,
            baseline="old",
            margin=margin,
            groups=groups,
            test=clustered,
        )
        (note,) = [note for note in result.diagnostics if "smallest p" in note]
        assert "test can give on 4 groups is 0.12" in note


def test_a_one_sided_loss_is_said_of_the_run_that_is_worse():
    d = np.random.default_rng(0).normal(0, 0.05, 40)
    d -= d.mean() + 1.85 * d.std(ddof=1) / np.sqrt(40)
    result = compared(d)
    row = result.table().iloc[0]
    assert row["p"] > 0.05 > row["worse_p"]
    words = " ".join(result.summary().split())
    assert "new is worse: -0.0" in words
    assert "one-sided p = 0.036); it loses at least" in words
    assert "is better" not in words
    worse = irl.compare(
        values=values(100 * np.abs(d), name="latency"), baseline="old", margin=0.1
    )
    words = " ".join(worse.summary().split())
    assert "latency new is worse: +" in words
    wins = compared([*[-0.01] * 30, *[0.4] * 8], test="sign", margin=0.1)
    words = " ".join(wins.summary().split())
    assert "new is worse: wins 8, loses 30 (one-sided p = 0.0002" in words
    assert "although it has the higher mean; it loses at least" in words


def test_a_plan_of_fewer_queries_than_there_are_says_that_these_did_not_decide():
    d = np.random.default_rng(0).normal(0, 0.03, 60)
    d -= d.mean() + 0.005
    words = " ".join(compared(d, margin=0.0105).summary().split())
    assert "undecided: new is neither better nor worse" in words
    assert "if there is no loss, about 43 queries (these 60 did not) would" in words
    assert "did not" not in compared(d, margin=0.005).summary()


def test_a_bound_outside_the_interval_of_two_runs_says_why():
    few = np.zeros(40)
    few[:3] = -0.02, -0.01, -0.03
    words = " ".join(compared(few).summary().split())
    assert "it may lose up to 0.072 (one-sided 95%, allowing for skewness and" in words
    assert "difference -0.002 (95% interval -0.003 to 3.5e-04)" in words
    words = " ".join(compared(np.zeros(20), np.zeros(20)).summary().split())
    assert "0.000 to 0.000 undecided: may lose up to 0.14" in words
    assert "each run by itself, allowing for skewness and rare losses" in words
    many = np.random.default_rng(0).normal(-0.002, 0.02, 60)
    assert "allowing for" not in compared(many).summary()


def test_a_single_tie_is_said_as_one() -> None:
    notes = " ".join(irl.compare(values=values(np.zeros(1))).diagnostics)
    assert "the only query is a tie." in notes
    assert "1 of 1" not in notes


def test_planned_queries_allow_for_the_correction_over_all_runs():
    def words_on(queries, runs=("a", "b", "c")):
        level = np.linspace(0.2, 0.8, queries)
        values = {
            run: {f"q{q}": {"AP": value} for q, value in enumerate(level)}
            for run in ("old", *runs)
        }
        result = irl.compare(values=values, baseline="old", margin=0.01)
        return result, " ".join(str(result).split())

    _, words = words_on(320)
    assert "if there is no loss, about 408 queries would decide" in words
    decided, _ = words_on(408)
    assert set(decided.table()["verdict"]) == {"within margin"}
    almost, _ = words_on(407)
    assert set(almost.table()["verdict"]) == {"undecided"}
