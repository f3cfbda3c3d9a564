"""What a comparison gives: tables, orders, notes, texts and pictures; and what it refuses."""

from __future__ import annotations

import copy
import io
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import ir_measures
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, Qrel, ScoredDoc, nDCG
from matplotlib.colors import to_rgba
from scipy import stats
from statsmodels.stats.multitest import multipletests

import ir_lexirecall as irl
from ir_lexirecall import significance
from ir_lexirecall.arrays import levelled
from ir_lexirecall.meta.decisions import Decisions
from ir_lexirecall.plots.axes import FIRST, SECOND
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.runs import ScoredRuns
from ir_lexirecall.significance import SignificanceTest

mpl.use("Agg")

# Thirty queries; documents r1 to r4 are relevant, r1 highly, and others are not.
QUERIES = [f"q{number:02}" for number in range(30)]
QRELS = {q: {"r1": 2, "r2": 1, "r3": 1, "r4": 1, "x1": 0} for q in QUERIES}


def ranked(*documents: str) -> dict[str, float]:
    return {doc: -float(rank) for rank, doc in enumerate(documents)}


def random_run(seed: int, noise: float) -> dict[str, dict[str, float]]:
    """Relevant documents score about 1, others about 0; the noisier, the worse."""
    rng = np.random.default_rng(seed)
    documents = ["r1", "r2", "r3", "r4", *(f"x{number}" for number in range(8))]
    return {
        q: {doc: float(doc.startswith("r") + noise * rng.normal()) for doc in documents if rng.random() > 0.1}
        for q in QUERIES
    }


RUNS = {"good": random_run(0, 0.4), "fair": random_run(1, 0.7), "weak": random_run(2, 2.0), "bad": random_run(3, 9.0)}
PAIRS = list(itertools.combinations(RUNS, 2))
COLUMNS = ["run_a", "run_b", "wins", "losses", "ties", "mean", "estimate", "ci_low", "ci_high"]
COLUMNS += ["p", "p_corrected", "reject", "effect_size"]


def pairs_of(table: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(table["run_a"], table["run_b"], strict=True))


def in_order(*systems: str) -> dict[str, dict[str, dict[str, float]]]:
    """Systems that are better the earlier they come, on every query."""
    documents = [f"x{number}" for number in range(len(systems))]
    return {
        system: {q: ranked("r1", "r2", "r3", *documents[:place], "r4") for q in QUERIES}
        for place, system in enumerate(systems)
    }


def preferring(orders: Sequence[str]) -> irl.Preferences:
    """A comparison of the systems A, B, ... in which each order is that of one query."""
    runs = {
        system: {str(q): ranked(*["x1", "x2", "x3"][: order.index(system)], "r") for q, order in enumerate(orders)}
        for system in sorted(orders[0])
    }
    return irl.compare({str(q): {"r": 1} for q in range(len(orders))}, runs)


# -- the table ---------------------------------------------------------------------------------------


def test_the_table_has_a_row_per_pair_in_the_order_given():
    for runs in (RUNS, dict(reversed(RUNS.items()))):
        table = irl.compare(QRELS, runs).table()
        assert list(table.columns) == COLUMNS
        assert pairs_of(table) == list(itertools.combinations(runs, 2))
        assert (table["wins"] + table["losses"] + table["ties"]).tolist() == [30] * 6


def test_with_a_baseline_the_table_has_a_row_per_other_run():
    every = irl.compare(QRELS, RUNS, "rpp", correction=None)
    table = irl.compare(QRELS, RUNS, "rpp", correction=None, baseline="fair").table()
    assert pairs_of(table) == [("good", "fair"), ("weak", "fair"), ("bad", "fair")]
    matrix = every.matrix()
    assert table["mean"].tolist() == [matrix.loc[name, "fair"] for name in ("good", "weak", "bad")]
    assert table.loc[0, COLUMNS[2:]].tolist() == every.table().loc[0, COLUMNS[2:]].tolist()


def test_several_preferences_are_stacked():
    table = irl.compare(QRELS, RUNS, ["rpp", "AP", nDCG @ 3]).table()
    assert list(table.columns) == ["preference", *COLUMNS]
    assert table["preference"].tolist() == ["rpp"] * 6 + ["AP"] * 6 + ["nDCG@3"] * 6
    assert pairs_of(table) == PAIRS * 3
    for name, part in table.groupby("preference"):
        alone = irl.compare(QRELS, RUNS, name).table()
        assert part[COLUMNS].reset_index(drop=True).equals(alone)


def test_dominance_counts_what_is_not_comparable():
    table = irl.compare(QRELS, RUNS, "dominance").table()
    assert list(table.columns) == [*COLUMNS[:5], "incomparable", *COLUMNS[5:]]
    assert (table[["wins", "losses", "ties", "incomparable"]].sum(axis=1) == 30).all()
    assert (table["incomparable"] > 0).any()
    assert irl.compare(QRELS, RUNS, ["rpp", "dominance"]).table()["incomparable"].tolist()[:6] == [0] * 6


def test_a_preference_named_twice_counts_once():
    table = irl.compare(QRELS, RUNS, ["AP", "lexirecall", AP, "lexirecall"]).table()
    assert table["preference"].tolist() == ["AP"] * 6 + ["lexirecall"] * 6


def test_a_preference_may_be_a_measure_object():
    compared = irl.compare(QRELS, RUNS, AP(rel=2))
    assert compared.matrix(AP(rel=2)).equals(irl.compare(QRELS, RUNS, "AP(rel=2)").matrix("AP(rel=2)"))


def test_the_first_preference_is_the_default():
    compared = irl.compare(QRELS, RUNS, ["rpp", "AP"])
    for method in ("matrix", "per_query", "scores", "ranking"):
        assert getattr(compared, method)().equals(getattr(compared, method)(preference="rpp"))
        assert not getattr(compared, method)().equals(getattr(compared, method)(preference="AP"))
    assert compared.explain("good", "bad").equals(compared.explain("good", "bad", "rpp"))
    assert (compared.tensor() == compared.tensor("rpp")).all()


def test_numbers_from_numpy_are_numbers():
    expected = irl.compare(QRELS, RUNS, rel=2, cutoff=3).table()
    assert irl.compare(QRELS, RUNS, rel=np.int64(2), cutoff=np.int64(3)).table().equals(expected)


def test_runs_that_are_aligned_already_are_compared_alike():
    judgments = irl.Judgments.from_qrels(QRELS)
    ranks = {name: irl.align(judgments, run) for name, run in RUNS.items()}
    table = irl.Preferences.from_runs(ranks, ["lexirecall", "dominance"], cutoff=5, baseline="bad").table()
    assert table.equals(irl.compare(QRELS, RUNS, ["lexirecall", "dominance"], cutoff=5, baseline="bad").table())


def test_without_any_relevant_document_nothing_is_compared():
    compared = irl.compare(QRELS, RUNS, ["lexirecall", "rpp", "dominance", "AP"], rel=3)
    assert compared.query_ids == []
    assert compared.excluded == 30
    table = compared.table()
    assert (table[["wins", "losses", "ties", "mean"]] == 0).all(axis=None)
    assert (table["p"] == 1).all()
    assert not table["reject"].any()
    assert len(compared.per_query()) == len(compared.explain("good", "bad")) == 0
    assert compared.ranking().tolist() == [0, 0, 0, 0]


# -- significance ------------------------------------------------------------------------------------


OPTIONS = {"correction": "holm", "alpha": 0.01, "n_resamples": 200, "seed": 4}
INDEPENDENT = {
    "sign": lambda row: stats.binomtest((row > 0).sum(), (row != 0).sum()).pvalue,
    "t": lambda row: stats.ttest_1samp(row, 0).pvalue,
}


def assert_tested_as(table: pd.DataFrame, tested: significance.TestResult) -> None:
    """The table holds what the test gave for its pairs."""
    for column, expected in {
        "estimate": tested.estimate,
        "ci_low": tested.low,
        "ci_high": tested.high,
        "p": tested.p,
        "effect_size": tested.effect_size,
    }.items():
        np.testing.assert_allclose(table[column].to_numpy(), expected, rtol=1e-9, atol=1e-12, err_msg=column)


def assert_intervals_agree(table: pd.DataFrame, bound: float) -> None:
    """An interval leaves out 0 exactly where the test rejects, and stays where the mean can be."""
    assert ((table["ci_low"] > 0) | (table["ci_high"] < 0)).tolist() == (table["p"] <= 0.01).tolist()
    assert (table[["ci_low", "ci_high"]].abs() <= bound).all(axis=None)


def assert_corrected(table: pd.DataFrame, test: str) -> None:
    """The p-values of the table are adjusted for the family of its comparisons."""
    expected = table["p"].tolist()
    if test != "tukey":  # Tukey's test accounts for the family itself
        expected = multipletests(expected, alpha=0.01, method="holm")[1].tolist()
    assert table["p_corrected"].tolist() == pytest.approx(expected, rel=1e-9)
    assert table["reject"].tolist() == [value <= 0.01 for value in expected]


@pytest.mark.parametrize("test", significance.TESTS)
def test_a_preference_is_tested_on_its_values_per_query(test):
    compared = irl.compare(QRELS, RUNS, "rpp", test=test, **OPTIONS)
    table = compared.table()
    x = compared.per_query()["preference"].to_numpy().reshape(len(QUERIES), len(PAIRS)).T
    significance_test = SignificanceTest(test, **OPTIONS)
    if test == "tukey":
        assert_tested_as(
            table, significance_test.of_all(compared.scores().to_numpy(), bounds=(-2, 2))[np.triu_indices(4, 1)]
        )
    else:
        assert_tested_as(table, significance_test.of_pairs(x, bounds=(-1, 1)))
    if test in INDEPENDENT:
        assert table["p"].tolist() == pytest.approx([INDEPENDENT[test](row) for row in x], rel=1e-9)
    if test == "t":
        for row, ends in zip(x, table[["ci_low", "ci_high"]].to_numpy(), strict=True):
            assert ends == pytest.approx(np.clip(stats.ttest_1samp(row, 0).confidence_interval(0.99), -1, 1))
    assert_intervals_agree(table, bound=2 if test == "tukey" else 1)
    assert_corrected(table, test)


@pytest.mark.parametrize("test", significance.TESTS)
def test_a_measure_is_tested_on_its_differences_not_on_their_signs(test):
    compared = irl.compare(QRELS, RUNS, "nDCG@5", test=test, **OPTIONS)
    table = compared.table()
    values = np.array([irl.evaluate("nDCG@5", QRELS, run)["nDCG@5"] for run in RUNS.values()])
    a, b = np.triu_indices(4, 1)
    x = values[a] - values[b]
    significance_test = SignificanceTest(test, **OPTIONS)
    assert_tested_as(
        table, significance_test.of_all(values.T)[a, b] if test == "tukey" else significance_test.of_pairs(x)
    )
    if test in INDEPENDENT:
        assert table["p"].tolist() == pytest.approx([INDEPENDENT[test](row) for row in x], rel=1e-9)
    assert_intervals_agree(table, bound=1)
    assert_corrected(table, test)
    # Wins, losses, ties and the mean are still those of the signs.
    assert table["wins"].tolist() == (x > 0).sum(axis=1).tolist()
    assert table["mean"].tolist() == pytest.approx(np.sign(x).mean(axis=1))


def test_a_test_may_be_an_object():
    by_name = irl.compare(QRELS, RUNS, test="bootstrap", **OPTIONS).table()
    by_object = irl.compare(QRELS, RUNS, test=SignificanceTest("bootstrap", **OPTIONS)).table()
    assert by_object.equals(by_name)
    assert by_object.attrs == by_name.attrs


def test_with_test_tests_the_same_preferences_otherwise():
    compared = irl.compare(QRELS, RUNS)
    before = compared.table()
    options = {"correction": None, "alpha": 0.2, "n_resamples": 100, "seed": 7}
    otherwise = compared.with_test("bootstrap", **options).table()
    expected = irl.compare(QRELS, RUNS, test="bootstrap", **options).table()
    assert otherwise.equals(expected)
    assert otherwise.attrs == expected.attrs
    assert not otherwise["p"].equals(before["p"])
    assert otherwise[COLUMNS[:6]].equals(before[COLUMNS[:6]])  # what was counted
    assert compared.table().equals(before)


def test_with_test_changes_only_what_it_is_told():
    t_test = irl.compare(QRELS, RUNS, test="t", correction="bonferroni").with_test(alpha=0.5)
    assert t_test.table().equals(irl.compare(QRELS, RUNS, test="t", correction="bonferroni", alpha=0.5).table())


# -- orders of systems -------------------------------------------------------------------------------

METHODS = ["mean", "borda", "mc4", "bradley-terry"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_ranks_systems_by_consistent_wins(method):
    systems = ["first", "second", "third", "fourth", "fifth"]
    for shuffled in (systems, systems[::-1], ["third", "fifth", "first", "fourth", "second"]):
        runs = in_order(*systems)
        ranking = irl.compare(QRELS, {name: runs[name] for name in shuffled}).ranking(method)
        assert list(ranking.index) == systems
        assert ranking.name == method
        assert ranking.is_monotonic_decreasing


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("orders", [["ABC"] * 3 + ["BAC", "ACB"], ["ABCD", "ADCB", "ACBD", "BADC", "DACB"]])
def test_every_method_ranks_the_condorcet_winner_first(method, orders):
    assert preferring(orders).ranking(method).index[0] == "A"


@pytest.mark.parametrize(("method", "first"), [("mean", "B"), ("borda", "B"), ("bradley-terry", "B"), ("mc4", "A")])
def test_only_mc4_prefers_a_bare_majority_to_more_points(method, first):
    """Three of five queries prefer A to B, but B is last on none."""
    assert preferring(["ABC"] * 3 + ["BCA"] * 2).ranking(method).index[0] == first


@pytest.mark.parametrize("method", METHODS)
def test_systems_in_a_cycle_get_equal_scores(method):
    ranking = preferring(["ABC", "BCA", "CAB"]).ranking(method)
    assert ranking.tolist() == pytest.approx([ranking.iloc[0]] * 3)


@pytest.mark.parametrize("method", METHODS)
def test_equal_systems_get_equal_scores(method):
    ranking = irl.compare(QRELS, dict.fromkeys(["one", "another"], RUNS["fair"])).ranking(method)
    assert ranking.iloc[0] == pytest.approx(ranking.iloc[1])


def test_scores_of_rankings():
    compared = preferring(["ABC"] * 3 + ["BCA"] * 2)
    assert compared.ranking("borda").to_dict() == pytest.approx({"A": 6 / 5, "B": 7 / 5, "C": 2 / 5})
    # Wins less losses against each of the others.
    assert compared.ranking("mean").to_dict() == pytest.approx({"A": 1 / 5, "B": 2 / 5, "C": -3 / 5})
    # Only A is worth staying at: from B one leaves for A, from C for A or B; a twentieth of all steps goes anywhere.
    step = 0.95 * np.array([[1, 0, 0], [1 / 3, 2 / 3, 0], [1 / 3, 1 / 3, 1 / 3]]) + 0.05 / 3
    often = np.linalg.matrix_power(step, 1_000)[0]
    assert compared.ranking("mc4").to_dict() == pytest.approx(dict(zip("ABC", often, strict=True)))


def test_bradley_terry_strengths_are_log_odds():
    ranking = preferring(["AB"] * 30 + ["BA"] * 10).ranking("bradley-terry")
    assert ranking["A"] - ranking["B"] == pytest.approx(math.log(3), rel=0.01)  # regularised


def test_ties_are_worth_half_a_win():
    compared = irl.compare(
        {"1": {"r": 1}, "2": {"r": 1}}, {"a": dict.fromkeys("12", ranked("r")), "b": {"2": ranked("r")}}
    )
    assert compared.ranking("borda").to_dict() == {"a": 0.75, "b": 0.25}


# -- provenance --------------------------------------------------------------------------------------


def test_every_table_says_where_it_comes_from():
    options = {"rel": 2, "cutoff": 7, "test": "bootstrap", "alpha": 0.1, "n_resamples": 50}
    compared = irl.compare(QRELS, RUNS, ["rpp", "AP"], baseline="fair", **options)
    tables = [
        compared.table(),
        compared.matrix(),
        compared.per_query(),
        compared.scores(),
        compared.ranking(),
        compared.ranking("mc4", "AP"),
        compared.explain("good", "bad"),
    ]
    expected = {
        "preference": "rpp, AP",
        "baseline": "fair",
        "rel": 2,
        "cutoff": 7,
        "queries": 30,
        "excluded_queries": 0,
        "test": "bootstrap",
        "correction": "holm",
        "alpha": 0.1,
        "n_resamples": 50,
        "seed": 0,
    }
    for table in tables:
        assert table.attrs.items() >= expected.items()
        assert table.attrs["versions"]["ir_lexirecall"] == irl.__version__
        assert set(table.attrs["versions"]) == {"ir_lexirecall", "numpy", "scipy", "python"}


def test_what_was_not_used_is_not_claimed():
    assert irl.compare(QRELS, RUNS).table().attrs["seed"] is None
    assert irl.compare(QRELS, RUNS).table().attrs["n_resamples"] is None
    assert irl.compare(QRELS, RUNS, test="tukey", n_resamples=9).table().attrs["correction"] is None


def shown(compared: irl.Preferences) -> dict[str, str]:
    """The result in every form that is not a table."""
    pictures = {"plot": compared.plot(), "plot_pair": compared.plot_pair(*compared.runs[:2])}
    texts = {name: axes.figure.get_supxlabel().replace("\n", " ") for name, axes in pictures.items()}
    return texts | {
        "markdown": compared.to_markdown(),
        "latex": compared.to_latex(),
        "html": compared._repr_html_(),
    }


def test_every_text_and_picture_says_where_it_comes_from():
    compared = irl.compare(QRELS, RUNS, ["rpp", "AP"], cutoff=7)
    assert "preference rpp, AP; rel 1; cutoff 7; queries 30" in compared.caption
    assert f"ir_lexirecall {irl.__version__}" in compared.caption
    for form, text in shown(compared).items():
        assert compared.caption in text, form


# -- when not to trust it ----------------------------------------------------------------------------


def notes(compared: irl.Preferences, words: str) -> list[str]:
    return [note for note in compared.diagnostics if re.search(words, note)]


def test_no_diagnostics_with_enough_queries_and_relevant_documents():
    assert irl.compare(QRELS, RUNS).diagnostics == []


def test_few_queries_are_noted():
    some = {q: QRELS[q] for q in QUERIES[:24]}
    assert notes(irl.compare(some, RUNS), "^Only 24 queries")
    assert not notes(irl.compare(QRELS, RUNS), "^Only")


def test_queries_without_relevant_documents_are_noted():
    compared = irl.compare(QRELS | {"none": {"x1": 0}, "neither": {"x1": -1}}, RUNS)
    assert notes(compared, "^2 queries have no relevant document")
    assert compared.excluded == 2
    assert not notes(irl.compare(QRELS, RUNS), "no relevant document")


def test_few_relevant_documents_are_noted():
    assert notes(irl.compare(QRELS, RUNS, rel=2), "at most 1 relevant document:")
    assert not notes(irl.compare(QRELS, RUNS), "at most")


def test_shallow_rankings_that_miss_relevant_documents_are_noted():
    shallow = {q: ranked("r1", "x1", "r2") for q in QUERIES}
    compared = irl.compare(QRELS, {"complete": in_order("one")["one"], "shallow": shallow})
    (note,) = notes(compared, "shallow")
    assert "shallow: 30 of 30 rankings are shallow (median depth 3)" in note
    deep = {q: ranked("r1", *(f"x{number}" for number in range(99)), "r2") for q in QUERIES}
    assert not notes(irl.compare(QRELS, {"complete": in_order("one")["one"], "deep": deep}), "shallow")


def test_missing_queries_are_noted():
    missing = {q: RUNS["fair"][q] for q in QUERIES[:28]}
    (note,) = notes(irl.compare(QRELS, {"good": RUNS["good"], "missing": missing}), "no documents at all")
    assert note == "missing: no documents at all for 2 of 30 queries."


def test_ties_on_most_queries_are_noted():
    half = RUNS["good"] | {q: RUNS["bad"][q] for q in QUERIES[:14]}
    compared = irl.compare(QRELS, {"good": RUNS["good"], "half": half, "bad": RUNS["bad"]})
    table = compared.table().set_index(["run_a", "run_b"])
    (note,) = notes(compared, "ties")
    assert note == f"lexirecall, good and half: {table.loc[('good', 'half'), 'ties']} of 30 queries are ties."


def test_rankings_that_are_mostly_not_comparable_are_noted():
    one, other = ({q: ranked(*docs) for q in QUERIES} for docs in (("r1", "x1", "x2", "r2"), ("x1", "r1", "r2")))
    (note,) = notes(irl.compare(QRELS, {"one": one, "other": other}, "dominance"), "not comparable")
    assert note == "dominance, one and other: 30 of 30 are not comparable."


# -- texts -------------------------------------------------------------------------------------------


def cells(markdown: str) -> list[list[str]]:
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_markdown_is_the_table_rounded_to_the_places_given():
    compared = irl.compare(QRELS, RUNS)
    header, _, *rows = cells(compared.to_markdown(places=2))
    assert header == COLUMNS
    for row, expected in zip(rows, compared.table().itertuples(index=False), strict=True):
        assert row[:5] == [*map(str, expected[:5])]
        assert row[5] == f"{expected.mean:.2f}"
        assert row[11] == str(expected.reject)


def test_names_that_look_like_numbers_stay_as_they_are():
    runs = {"1.10": RUNS["good"], "1.1": RUNS["fair"], "007": RUNS["weak"], "1e3": RUNS["bad"]}
    compared = irl.compare(QRELS, runs)
    _, _, *rows = cells(compared.to_markdown())
    assert [tuple(row[:2]) for row in rows] == pairs_of(compared.table())


def test_latex_is_a_table_that_compiles():
    latex = irl.compare(QRELS, {"bm25_10%": RUNS["good"], "a&b": RUNS["fair"]}).to_latex(places=3)
    comment, *lines = latex.splitlines()
    assert comment.startswith("% preference lexirecall")
    assert lines[0].startswith(r"\begin{tabular}")
    assert lines[-1] == r"\end{tabular}"
    assert {r"\toprule", r"\midrule", r"\bottomrule"} <= set(lines)
    assert r"run\_a" in latex
    assert r"bm25\_10\%" in latex
    assert r"a\&b" in latex


def test_html_shows_table_notes_and_names_as_they_are():
    runs = {"<i>a</i>": RUNS["good"], "b & c": RUNS["good"]}
    compared = irl.compare(QRELS, runs)
    shown = compared._repr_html_()
    assert "&lt;i&gt;a&lt;/i&gt;" in shown
    assert "<i>" not in shown
    assert "b &amp; c" in shown
    assert compared.diagnostics == ["lexirecall, <i>a</i> and b & c: 30 of 30 queries are ties."]
    assert "<li>lexirecall, &lt;i&gt;a&lt;/i&gt; and b &amp; c: 30 of 30 queries are ties.</li>" in shown
    assert re.findall("<th style[^>]*>(.*?)</th>", shown) == ["", "run", "lexirecall", "95 % interval", ""]
    assert "<ul>" not in irl.compare(QRELS, RUNS)._repr_html_()


# -- pictures ----------------------------------------------------------------------------------------


def labels(ticks: Iterable[Any]) -> list[str]:
    return [tick.get_text() for tick in ticks]


def drawn(axes: Any) -> int:
    """Size of the picture; fails where it cannot be drawn."""
    picture = io.BytesIO()
    axes.figure.savefig(picture, format="svg")
    return picture.tell()


def test_the_heatmap_shows_the_best_system_first_and_marks_what_is_significant():
    compared = irl.compare(QRELS, dict(reversed(RUNS.items())), "AP", alpha=0.02)
    axes = compared.plot()
    order = list(compared.ranking().index)
    assert order == ["good", "fair", "weak", "bad"]
    assert labels(axes.get_xticklabels()) == labels(axes.get_yticklabels()) == order
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("over this run", "preference of this run")
    assert axes.get_title(loc="left") == "* corrected (holm) p ≤ 0.02, sign test"
    table = compared.table()
    matrix = compared.matrix()
    rejected = {frozenset(pair) for pair, reject in zip(pairs_of(table), table["reject"], strict=True) if reject}
    assert 0 < len(rejected) < 6
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    for i, j in itertools.permutations(range(4), 2):
        star = "*" if {order[i], order[j]} in rejected else ""
        assert texts[j, i] == f"{matrix.loc[order[i], order[j]]:.2f}{star}"
    assert drawn(axes)


def test_the_heatmap_of_one_of_several_preferences():
    compared = irl.compare(QRELS, RUNS, ["rpp", "dominance"])
    axes = compared.plot("dominance")
    colourbar = axes.figure.axes[1]
    assert colourbar.get_ylabel() == "mean preference (dominance)"
    shown = axes.images[0].get_array()
    order = compared.ranking(preference="dominance").index
    expected = compared.matrix("dominance").loc[order, order].to_numpy()
    off_diagonal = ~np.eye(4, dtype=bool)
    assert shown[off_diagonal].tolist() == expected[off_diagonal].tolist()


@pytest.mark.parametrize("preference", ["lexirecall", "lexiprecision", "rrlexiprecision"])
def test_the_picture_of_a_pair_shows_the_deciding_ranks(preference):
    runs = {"good": RUNS["good"], "half": RUNS["weak"] | {q: RUNS["good"][q] for q in QUERIES[:9]}}
    compared = irl.compare(QRELS, runs, preference)
    axes = compared.plot_pair("good", "half")
    assert axes.get_ylabel() == "rank at the deciding level"
    assert axes.get_xlabel() == "30 queries"
    explained = compared.explain("good", "half").set_index("query_id")
    good, half = ((explained["winner"] == name).sum() for name in ("good", "half"))
    assert axes.get_title(loc="left") == f"● good (blue) wins {good}, ◆ half (orange) wins {half}, 9 neither"
    shown = explained.loc[labels(axes.get_xticklabels())]
    assert sorted(shown.index) == QUERIES
    assert np.sign(shown["preference"]).is_monotonic_decreasing
    decided = shown[shown["preference"] != 0]
    assert 0 < len(decided) < len(shown)
    for column, points in zip(("rank_a", "rank_b"), axes.collections[1:], strict=True):
        y = points.get_offsets()[:, 1]
        missing = decided[column].isna().to_numpy()
        assert y[~missing].tolist() == decided[column].dropna().tolist()
        assert (y[missing] > decided[["rank_a", "rank_b"]].max().max()).all()  # below the deepest
    assert drawn(axes)


@pytest.mark.parametrize("preference", ["rpp", "invrpp", "dcgrpp", "dominance"])
def test_the_picture_of_a_pair_shows_a_bar_per_preference(preference):
    compared = irl.compare(QRELS, RUNS, preference)
    axes = compared.plot_pair("good", "fair")
    assert axes.get_ylabel() == f"preference ({preference})"
    explained = compared.explain("good", "fair")
    wins, losses = ((explained["winner"] == name).sum() for name in ("good", "fair"))
    assert axes.get_title(loc="left").startswith(f"good (blue) wins {wins}, fair (orange) wins {losses}")
    expected = explained.set_index("query_id")["preference"].fillna(0)
    assert_bars(axes, expected)


def test_the_picture_of_a_pair_shows_the_difference_of_a_measure():
    compared = irl.compare(QRELS, RUNS, ["lexirecall", "nDCG@5"])
    axes = compared.plot_pair("good", "fair", "nDCG@5")
    assert axes.get_ylabel() == "difference of nDCG@5"
    values = [irl.evaluate("nDCG@5", QRELS, RUNS[name])["nDCG@5"] for name in ("good", "fair")]
    assert_bars(axes, values[0] - values[1])


def assert_bars(axes: Any, expected: pd.Series) -> None:
    shown = labels(axes.get_xticklabels())
    bars = axes.containers[0].patches
    heights = [bar.get_height() for bar in bars]
    assert heights == expected[shown].tolist()
    assert heights == sorted(heights, reverse=True)
    colours = [bar.get_facecolor() for bar in bars if bar.get_height()]
    assert colours == [to_rgba(FIRST if height > 0 else SECOND) for height in heights if height]
    assert drawn(axes)


@pytest.mark.parametrize("preference", ["lexirecall", "rpp", "dominance", "AP"])
def test_pictures_of_equal_systems(preference):
    compared = irl.compare(QRELS, dict.fromkeys(["one", "other"], RUNS["fair"]), preference)
    assert drawn(compared.plot())
    assert drawn(compared.plot_pair("one", "other"))


def test_the_picture_of_one_tied_query_has_room(recwarn):
    compared = irl.compare({"q": {"a": 1}}, {name: {"q": {"a": 1.0}} for name in ("one", "other")})
    assert drawn(compared.plot_pair("one", "other"))
    assert not recwarn.list


def test_pictures_are_drawn_on_the_axes_given():
    from matplotlib.figure import Figure

    left, right = Figure(figsize=(12, 5)).subplots(1, 2)
    compared = irl.compare(QRELS, RUNS)
    assert compared.plot(ax=left) is left
    assert compared.plot_pair("good", "bad", ax=right) is right
    assert left.images
    assert right.collections
    assert drawn(left)


# -- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "offender"),
    [
        ({"runs": {"good": RUNS["good"]}}, "compare: at least 2 runs are needed, not 1"),
        ({"runs": {}}, "compare: at least 2 runs are needed, not 0"),
        ({"runs": [RUNS["good"], RUNS["bad"]]}, "a mapping of names to runs"),
        ({"runs": {1: RUNS["good"], "1": RUNS["fair"], "bad": RUNS["bad"]}}, r"\b1\b"),
        ({"baseline": "best"}, "'best'.*good, fair, weak, bad"),
        ({"preference": "lexirecal"}, "'lexirecal'.*lexirecall, lexiprecision"),
        ({"preference": ["lexirecall", "nDCGG@10"]}, "'nDCGG@10'"),
        ({"preference": "nDCG(colour=3)"}, "colour"),
        ({"preference": "LR(form='round')"}, "round"),
        ({"preference": 5}, "5"),
        ({"preference": []}, "no preference"),
        ({"test": "chi"}, "'chi'.*sign, t, wilcoxon, bootstrap, randomisation, tukey"),
        ({"test": None}, "None"),
        ({"correction": "holmes"}, "'holmes'"),
        ({"correction": 7}, "7"),
        ({"test": "tukey", "correction": "holmes"}, "'holmes'"),
        ({"alpha": 0}, "alpha.*0"),
        ({"alpha": 1}, "alpha.*1"),
        ({"alpha": -0.5}, "alpha.*-0.5"),
        ({"alpha": math.nan}, "alpha.*nan"),
        ({"alpha": "few"}, "alpha.*'few'"),
        ({"rel": 0}, "rel.*0"),
        ({"rel": -1}, "rel.*-1"),
        ({"rel": math.nan}, "rel.*nan"),
        ({"rel": math.inf}, "rel.*inf"),
        ({"rel": True}, "rel.*True"),
        ({"rel": "1"}, "rel.*'1'"),
        ({"cutoff": 0}, "cutoff.*0"),
        ({"cutoff": 2.5}, "cutoff.*2.5"),
        ({"cutoff": True}, "cutoff.*True"),
        ({"cutoff": "10"}, "cutoff.*'10'"),
        ({"n_resamples": 0}, "n_resamples.*0"),
        ({"seed": -1}, "seed.*-1"),
        ({"seed": 0.5}, "seed.*0.5"),
    ],
    ids=lambda value: value if isinstance(value, str) else ", ".join(value),
)
def test_bad_arguments_are_named(arguments, offender):
    with pytest.raises(ValueError, match=offender):
        irl.compare(**({"qrels": QRELS, "runs": RUNS} | arguments))


def test_bad_runs_are_named():
    with pytest.raises(ValueError, match=r"run 'weak'.*'r1'.*'q00'.*nan"):
        irl.compare(QRELS, RUNS | {"weak": {"q00": {"r1": math.nan}}})
    twice = pd.DataFrame([("q00", "r1", 1.0), ("q00", "r1", 2.0)], columns=["query_id", "doc_id", "score"])
    with pytest.raises(ValueError, match=r"'r1'.*'q00'"):
        irl.compare(QRELS, RUNS | {"weak": twice})


@pytest.mark.parametrize(
    ("method", "arguments", "offender"),
    [
        ("matrix", ["rpp"], "'rpp'.*lexirecall"),
        ("tensor", ["rpp"], "'rpp'.*lexirecall"),
        ("per_query", ["rpp"], "'rpp'.*lexirecall"),
        ("scores", ["rpp"], "'rpp'.*lexirecall"),
        ("ranking", ["mean", "rpp"], "'rpp'.*lexirecall"),
        ("ranking", ["kemeny"], "'kemeny'.*mean, borda, mc4, bradley-terry"),
        ("explain", ["good", "best"], "'best'.*good, fair, weak, bad"),
        ("explain", ["best", "good"], "'best'.*good, fair, weak, bad"),
        ("explain", ["good", "bad", "rpp"], "'rpp'.*lexirecall"),
        ("plot", ["rpp"], "'rpp'.*lexirecall"),
        ("plot_pair", ["good", "best"], "'best'.*good, fair, weak, bad"),
        ("with_test", ["chi"], "'chi'.*sign, t, wilcoxon, bootstrap, randomisation, tukey"),
    ],
)
def test_bad_arguments_of_methods_are_named(method, arguments, offender):
    with pytest.raises(ValueError, match=offender):
        getattr(irl.compare(QRELS, RUNS), method)(*arguments)


def test_options_are_checked_before_any_run_is_read():
    unread = iter([])
    for options in ({"baseline": "best"}, {"test": "chi"}, {"correction": "none"}, {"alpha": 2}):
        with pytest.raises(ValueError, match="|".join(map(str, options.values()))):
            irl.compare(QRELS, {"good": unread, "bad": pytest.fail}, **options)


def test_a_value_that_is_not_a_number_is_refused():
    judgments = irl.Judgments.from_qrels(QRELS)
    ranks = {name: irl.align(judgments, run) for name, run in RUNS.items()}
    values = np.zeros((4, 30))
    values[2, 7] = math.nan
    scored = ScoredRuns(judgments, ranks, {"odd": AP}, {"odd": values})
    with pytest.raises(ValueError, match=r"odd.*'weak'.*'q07'"):
        irl.Preferences.from_runs(scored, ["odd"])


# -- how inputs are read -----------------------------------------------------------------------------


def scored_docs(run: dict[str, dict[str, float]]) -> Iterator[ScoredDoc]:
    return (ScoredDoc(q, doc, score) for q, docs in run.items() for doc, score in docs.items())


@pytest.mark.parametrize("preference", ["lexirecall", "LR", "AP", ["rpp", "nDCG@5", "LR"]])
def test_runs_and_judgments_may_be_generators(preference):
    """Which can be read only once."""
    qrels = (Qrel(q, doc, grade) for q, docs in QRELS.items() for doc, grade in docs.items())
    found = irl.compare(qrels, {name: scored_docs(run) for name, run in RUNS.items()}, preference)
    expected = irl.compare(QRELS, RUNS, preference)
    assert found.table().equals(expected.table())
    assert found.explain("good", "bad").equals(expected.explain("good", "bad"))


def test_inputs_are_not_modified():
    dicts = copy.deepcopy((QRELS, RUNS))
    tables = {
        name: ir_measures.util.RunConverter(run).as_pd_dataframe().sample(frac=1, random_state=1)
        for name, run in RUNS.items()
    }
    before = copy.deepcopy(tables)
    preferences = ["lexirecall", "dominance", "nDCG@5"]
    compared = irl.compare(QRELS, RUNS, preferences, rel=2, cutoff=4)
    assert compared.table().equals(irl.compare(QRELS, tables, preferences, rel=2, cutoff=4).table())
    compared._repr_html_()
    compared.plot_pair("good", "bad")
    assert dicts == (QRELS, RUNS)
    for name, table in tables.items():
        pd.testing.assert_frame_equal(table, before[name])
    assert preferences == ["lexirecall", "dominance", "nDCG@5"]


@pytest.mark.parametrize("preference", ["lexirecall", "AP"])
@pytest.mark.parametrize("method", ["matrix", "scores"])
def test_changing_a_table_does_not_change_the_result(method, preference):
    compared = irl.compare(QRELS, RUNS, preference)
    before = getattr(compared, method)()
    table = getattr(compared, method)()
    table.iloc[:, :] = 7.0
    assert getattr(compared, method)().equals(before)


@pytest.mark.parametrize("test", ["sign", "bootstrap", "tukey"])
@pytest.mark.parametrize("progress", [None, False])
def test_no_progress_bar_without_a_terminal(capfd, test, progress):
    irl.compare(QRELS, RUNS, test=test, n_resamples=20, progress=progress).table()
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


@pytest.mark.parametrize(
    ("test", "bars"), [("sign", ["runs"]), ("bootstrap", ["runs", "bootstrap"]), ("tukey", ["runs", "Tukey HSD"])]
)
def test_progress_is_shown_on_request(capfd, test, bars):
    irl.compare(QRELS, RUNS, test=test, n_resamples=20, progress=True).table()
    out, err = capfd.readouterr()
    assert out == ""
    for bar in bars:
        assert f"{bar}:" in err


def test_errors_name_the_method_that_was_called() -> None:
    result = irl.compare(QRELS, {"bm25": RUNS["good"], "ql": RUNS["fair"]})
    for name in ("matrix", "per_query", "scores", "tensor", "table_of", "plot"):
        with pytest.raises(ValueError, match=rf"^{name}: unknown preference 'rpp'; choose from lexirecall"):
            getattr(result, name)("rpp")
    for name in ("explain", "plot_pair"):
        with pytest.raises(
            ValueError, match=rf"^{name}: unknown run 'bm26'; choose from bm25, ql; did you mean 'bm25'"
        ):
            getattr(result, name)("ql", "bm26")


@pytest.mark.parametrize("test", significance.TESTS)
def test_values_that_differ_by_rounding_only_are_ties(test: str) -> None:
    """Bpref's do in 19 of 13,600 comparisons on Robust 2003: the same sum, added up in another order."""
    scored = ScoredRuns.from_runs({"AP": AP}, QRELS, {"a": RUNS["good"], "b": RUNS["good"]})
    values = np.full((2, len(QRELS)), 0.1 + 0.2 + 0.3)
    values[1] = 0.3 + 0.2 + 0.1
    assert (values[0] > values[1]).all()
    scored = replace(scored, values={"AP": values})
    result = Preferences.from_runs(scored, ["AP"], test=SignificanceTest(test, n_resamples=200))
    row = result.table().loc[0]
    assert (row["wins"], row["losses"], row["ties"]) == (0, 0, len(QRELS))
    assert (row["p"], row["estimate"]) == (1, 0)
    assert result.explain("a", "b")["winner"].isna().all()
    assert result.power()["power"].tolist() == [0]
    assert (Decisions(scored, {"AP": AP}).signs("AP") == 0).all()


def test_values_that_differ_by_more_are_no_ties() -> None:
    """LR tells rankings apart whose values differ in the 14th digit."""
    values = np.array([[0.5, 1e-300, 0.0], [0.5 * (1 + 1e-14), 2e-300, 5e-324], [0.5 * (1 + 2e-16), 1e-300, -1.0]])
    found = levelled(values)
    assert (np.sign(found[1] - found[0]) == [1, 1, 1]).all()
    assert (np.sign(found[2] - found[0]) == [0, 0, -1]).all()
    ends = np.array([[np.inf], [np.inf], [1.0], [-np.inf], [np.nan]])
    np.testing.assert_array_equal(levelled(ends), ends)
