"""What a comparison gives: tables, orders, notes, texts and pictures; and what it refuses."""

from __future__ import annotations

import copy
import dataclasses
import io
import itertools
import math
import pickle
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, nDCG
from scipy import stats
from statsmodels.stats.multitest import multipletests

import ir_lexirecall as irl
from ir_lexirecall import significance
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.compared import Design
from ir_lexirecall.comparison.comparing import comparison_of
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.meta import Study
from ir_lexirecall.significance import (
    SignificanceTest,
    corrected,
    margin_test,
    margin_test_of_all,
)
from tests.conftest import words

pytestmark = pytest.mark.sparse

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
        q: {
            doc: float(doc.startswith("r") + noise * rng.normal())
            for doc in documents
            if rng.random() > 0.1
        }
        for q in QUERIES
    }


RUNS = {
    "good": random_run(0, 0.4),
    "fair": random_run(1, 0.7),
    "weak": random_run(2, 2.0),
    "bad": random_run(3, 9.0),
}
PAIRS = list(itertools.combinations(RUNS, 2))
COLUMNS = words(
    "criterion run_a run_b wins losses ties net_wins mean_a mean_b difference estimate"
)
COLUMNS += [
    "ci_low",
    "ci_high",
    "p",
    "p_corrected",
    "effect_size",
    "effect_low",
    "effect_high",
    "verdict",
]


def pairs_of(table: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(table["run_a"], table["run_b"], strict=True))


def in_order(*systems: str) -> dict[str, dict[str, dict[str, float]]]:
    """Systems that are better the earlier they come, on every query."""
    documents = [f"x{number}" for number in range(len(systems))]
    return {
        system: {q: ranked("r1", "r2", "r3", *documents[:place], "r4") for q in QUERIES}
        for place, system in enumerate(systems)
    }


# -- the table ---------------------------------------------------------------------------------------


def test_the_table_has_a_row_per_pair_in_the_order_given():
    for runs in (RUNS, dict(reversed(RUNS.items()))):
        table = irl.compare(QRELS, runs).table()
        assert list(table.columns) == COLUMNS
        assert pairs_of(table) == list(itertools.combinations(runs, 2))
        assert (table["wins"] + table["losses"] + table["ties"]).tolist() == [30] * 6


def test_with_a_baseline_the_table_has_a_row_per_other_run():
    every = irl.compare(QRELS, RUNS, "rpp", test=SignificanceTest(correction=None))
    table = irl.compare(
        QRELS, RUNS, "rpp", test=SignificanceTest(correction=None), baseline="fair"
    ).table()
    assert pairs_of(table) == [("good", "fair"), ("weak", "fair"), ("bad", "fair")]
    matrix = every.matrix()
    assert table["difference"].tolist() == [
        matrix.loc[name, "fair"] for name in ("good", "weak", "bad")
    ]
    numbers = [
        name for name in COLUMNS[3:] if not name.startswith("mean_")
    ]  # a preference has none
    assert table.loc[0, numbers].tolist() == every.table().loc[0, numbers].tolist()


def test_several_preferences_are_stacked():
    table = irl.compare(QRELS, RUNS, ["rpp", "AP", nDCG @ 3]).table()
    assert list(table.columns) == [*COLUMNS[:-1], "p_corrected_all", COLUMNS[-1]]
    assert table["criterion"].tolist() == ["rpp"] * 6 + ["AP"] * 6 + ["nDCG@3"] * 6
    assert pairs_of(table) == PAIRS * 3
    for name, part in table.groupby("criterion"):
        alone = irl.compare(QRELS, RUNS, name).table()
        assert part[COLUMNS].reset_index(drop=True).equals(alone)


def test_dominance_counts_what_is_not_comparable():
    table = irl.compare(QRELS, RUNS, "dominance").table()
    assert list(table.columns) == [*COLUMNS[:6], "incomparable", *COLUMNS[6:]]
    assert (table[["wins", "losses", "ties", "incomparable"]].sum(axis=1) == 30).all()
    assert (table["incomparable"] > 0).any()
    assert (
        irl.compare(QRELS, RUNS, ["rpp", "dominance"])
        .table()["incomparable"]
        .tolist()[:6]
        == [0] * 6
    )


def test_without_any_relevant_document_nothing_is_compared():
    compared = irl.compare(
        QRELS, RUNS, ["lexirecall(rel=3)", "rpp(rel=3)", "dominance(rel=3)"]
    )
    assert compared.compared.criterion().query_ids == []
    table = compared.table()
    assert (table[["wins", "losses", "ties", "difference"]] == 0).all(axis=None)
    assert (table["p"] == 1).all()
    assert (table["verdict"] == "undecided").all()
    assert len(compared.per_query()) == len(compared.explain("good", "bad")) == 0
    assert compared.means()["mean"].isna().all()
    assert "nothing can be compared" in compared.summary(full=True)


# -- significance ------------------------------------------------------------------------------------


OPTIONS = {"correction": "holm", "alpha": 0.01, "n_resamples": 200, "seed": 4}
INDEPENDENT = {
    "sign": lambda row: stats.binomtest((row > 0).sum(), (row != 0).sum()).pvalue,
    "t": lambda row: max(
        stats.ttest_1samp(row, 0).pvalue, 2.0 ** (1 - np.count_nonzero(row))
    ),
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
        np.testing.assert_allclose(
            table[column].to_numpy(), expected, rtol=1e-9, atol=1e-12, err_msg=column
        )


def assert_intervals_agree(table: pd.DataFrame, bound: float) -> None:
    """An interval leaves out 0 exactly where the test rejects, and stays where the mean can be."""
    assert ((table["ci_low"] > 0) | (table["ci_high"] < 0)).tolist() == (
        table["p"] <= 0.01
    ).tolist()
    assert (table[["ci_low", "ci_high"]].abs() <= bound).all(axis=None)


def assert_corrected(table: pd.DataFrame, test: str) -> None:
    """The p-values of the table are adjusted for the family of its comparisons."""
    expected = table["p"].tolist()
    if test != "tukey":  # Tukey's test accounts for the family itself
        expected = multipletests(expected, alpha=0.01, method="holm")[1].tolist()
    assert table["p_corrected"].tolist() == pytest.approx(expected, rel=1e-9)
    assert (table["verdict"] != "undecided").tolist() == [
        value <= 0.01 for value in expected
    ]


@pytest.mark.parametrize("test", significance.TESTS)
def test_a_preference_is_tested_on_its_values_per_query(test):
    compared = irl.compare(QRELS, RUNS, "rpp", test=SignificanceTest(test, **OPTIONS))
    table = compared.table()
    x = np.array([compared.explain(a, b)["preference"] for a, b in PAIRS])
    significance_test = SignificanceTest(test, **OPTIONS)
    if test == "tukey":
        assert_tested_as(
            table,
            significance_test.of_all(compared.per_query().to_numpy(), bounds=(-2, 2))[
                np.triu_indices(4, 1)
            ],
        )
    else:
        assert_tested_as(table, significance_test.of_pairs(x, bounds=(-1, 1)))
    if test in INDEPENDENT:
        assert table["p"].tolist() == pytest.approx(
            [INDEPENDENT[test](row) for row in x], rel=1e-9
        )
    if test == "t":
        for row, ends in zip(x, table[["ci_low", "ci_high"]].to_numpy(), strict=True):
            assert ends == pytest.approx(
                np.clip(stats.ttest_1samp(row, 0).confidence_interval(0.99), -1, 1)
            )
    assert_intervals_agree(table, bound=2 if test == "tukey" else 1)
    assert_corrected(table, test)


@pytest.mark.parametrize("test", significance.TESTS)
def test_a_measure_is_tested_on_its_differences_not_on_their_signs(test):
    compared = irl.compare(
        QRELS, RUNS, "nDCG@5", test=SignificanceTest(test, **OPTIONS)
    )
    table = compared.table()
    values = np.array(
        [irl.evaluate("nDCG@5", QRELS, run)["nDCG@5"] for run in RUNS.values()]
    )
    a, b = np.triu_indices(4, 1)
    x = values[a] - values[b]
    significance_test = SignificanceTest(test, **OPTIONS)
    assert_tested_as(
        table,
        significance_test.of_all(values.T)[a, b]
        if test == "tukey"
        else significance_test.of_pairs(x),
    )
    if test in INDEPENDENT:
        assert table["p"].tolist() == pytest.approx(
            [INDEPENDENT[test](row) for row in x], rel=1e-9
        )
    assert_intervals_agree(table, bound=1)
    assert_corrected(table, test)
    assert table["wins"].tolist() == (x > 0).sum(axis=1).tolist()
    assert table["net_wins"].tolist() == pytest.approx(np.sign(x).mean(axis=1))
    assert table["difference"].tolist() == pytest.approx(x.mean(axis=1), abs=1e-12)


def test_with_test_tests_the_same_differences_otherwise():
    compared = irl.compare(
        QRELS,
        RUNS,
        "rpp",
        test=SignificanceTest(correction="bonferroni", n_resamples=100, seed=7),
    )
    before = compared.table()
    otherwise = compared.with_test("bootstrap").table()
    options = {"correction": "bonferroni", "n_resamples": 100, "seed": 7}
    expected = irl.compare(
        QRELS, RUNS, "rpp", test=SignificanceTest("bootstrap", **options)
    ).table()
    assert otherwise.equals(expected)
    assert otherwise.attrs == expected.attrs
    assert not otherwise["p"].equals(before["p"])
    assert otherwise[COLUMNS[:7]].equals(before[COLUMNS[:7]])  # what was counted
    assert compared.table().equals(before)
    t_test = compared.with_test(SignificanceTest("t", alpha=0.5))
    assert t_test.table().equals(
        irl.compare(QRELS, RUNS, "rpp", test=SignificanceTest("t", alpha=0.5)).table()
    )


# -- orders of runs ----------------------------------------------------------------------------------


def test_an_interval_of_mean_preferences_is_never_a_point():
    always = irl.compare(QRELS, in_order("one", "two"))
    means = always.means()
    assert means["mean"].tolist() == [1, -1]
    assert (means["ci_high"] - means["ci_low"] > 0.01).all()
    assert means["ci_low"].iloc[0] > 0.7


# -- provenance --------------------------------------------------------------------------------------


def test_every_table_says_where_it_comes_from():
    options = {"test": SignificanceTest("bootstrap", alpha=0.1, n_resamples=50)}
    compared = irl.compare(
        QRELS, RUNS, {"rpp": "rpp(rel=2)@7", "AP": "AP"}, baseline="fair", **options
    )
    tables = [
        compared.table(),
        compared.means(),
        compared.verdicts(),
        compared.matrix(),
        compared.per_query(),
        compared.ranking("AP"),
        compared.best_set("AP"),
        compared.explain("good", "bad"),
    ]
    expected = {
        "criteria": ["rpp", "AP"],
        "baseline": "fair",
        "rel": {"rpp": 2},
        "queries": {"rpp": 30, "AP": 30},
        "test": {"rpp": "bootstrap", "AP": "bootstrap"},
        "correction": "holm",
        "alpha": 0.1,
        "n_resamples": 50,
        "seed": 0,
    }
    for table in tables:
        assert table.attrs.items() >= expected.items()
        assert table.attrs["versions"]["ir_lexirecall"] == irl.__version__
        assert set(table.attrs["versions"]) == {
            "ir_lexirecall",
            "numpy",
            "scipy",
            "python",
        }


def test_every_text_and_picture_says_where_it_comes_from():
    compared = irl.compare(QRELS, RUNS, ["rpp@7", "AP"])
    said = "queries 30; rel 1; test sign (rpp@7), t (AP)"
    pictures = {
        "heatmap": compared.plot("heatmap"),
        "pair": compared.plot("pair", *compared.runs[:2]),
    }
    texts = {
        name: axes.figure.get_supxlabel().replace("\n", " ")
        for name, axes in pictures.items()
    }
    for form, text in (texts | {"html": compared._repr_html_()}).items():
        assert said in text, form
        assert f"ir_lexirecall {irl.__version__}" in text, form
    for text in (compared.to_markdown(), compared.to_latex()):
        assert (
            "sign test for rpp@7, paired t-test for AP; Holm's correction for 6 comparisons"
            in " ".join(text.split())
        )


# -- when not to trust it ----------------------------------------------------------------------------


def notes(compared: Comparison, words: str) -> list[str]:
    return [note for note in compared.diagnostics if re.search(words, note)]


def all_judged() -> dict[str, dict[str, int]]:
    """QRELS, and every other document that is retrieved is not relevant."""
    return {
        q: {**{doc: 0 for run in RUNS.values() for doc in run[q]}, **grades}
        for q, grades in QRELS.items()
    }


def test_no_diagnostics_with_enough_queries_and_relevant_documents_if_all_is_judged():
    assert irl.compare(all_judged(), RUNS).diagnostics == []


NOTED: dict[str, Any] = {
    "^Only 24 queries: tests": ({q: QRELS[q] for q in QUERIES[:24]}, RUNS),
    "^2 queries have no relevant document": (
        QRELS | {"none": {"x1": 0}, "neither": {"x1": -1}},
        RUNS,
    ),
    "at most 1 relevant document:": (QRELS, RUNS, "lexirecall(rel=2)"),
    r"^missing returns nothing for 2 of 30 queries\.$": (
        QRELS,
        {"good": RUNS["good"], "missing": {q: RUNS["fair"][q] for q in QUERIES[:28]}},
    ),
}


@pytest.mark.parametrize("said", NOTED)
def test_queries_and_documents_that_are_few_or_missing_are_noted(said):
    assert notes(irl.compare(*NOTED[said]), said)
    assert not notes(
        irl.compare(QRELS, RUNS),
        "^Only|no relevant document|at most|returns nothing for",
    )


def test_ties_on_most_queries_are_noted():
    half = RUNS["good"] | {q: RUNS["bad"][q] for q in QUERIES[:14]}
    compared = irl.compare(
        QRELS, {"good": RUNS["good"], "half": half, "bad": RUNS["bad"]}
    )
    table = compared.table().set_index(["run_a", "run_b"])
    (note,) = notes(compared, "ties")
    assert (
        note
        == f"lexirecall, good and half: {table.loc[('good', 'half'), 'ties']} of 30 queries are ties."
    )


# -- texts -------------------------------------------------------------------------------------------


def cells(markdown: str) -> list[list[str]]:
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_markdown_has_a_row_per_run_best_first_with_the_best_bold_and_letters_of_beaten_runs():
    compared = irl.compare(QRELS, dict(reversed(RUNS.items())), ["AP", "lexirecall"])
    header, _, *rows = cells(compared.to_markdown(places=2))
    assert header == ["", "run", "AP", "lexirecall"]
    assert [row[1] for row in rows] == list(RUNS)
    means = compared.means("AP").set_index("run")["mean"]
    assert rows[0][2].startswith(f"**{means['good']:.2f}**")
    letters = dict(zip([row[1] for row in rows], [row[0] for row in rows], strict=True))
    for row in rows:
        beaten = "".join(
            letters[run]
            for run in RUNS
            if compared.tests.verdicts_by("AP").on(row[1], run) == "better"
        )
        assert re.findall("<sup>(.*?)</sup>", row[2]) == ([beaten] if beaten else [])


def test_latex_is_a_whole_table_that_compiles():
    latex = irl.compare(
        QRELS, {"bm25_10%": RUNS["good"], "a&b": RUNS["fair"]}, "CWL_ERR10(max_rel=2)"
    ).to_latex(places=3)
    comment, *lines = latex.splitlines()
    assert comment.startswith("% needs")
    assert lines[0] == r"\begin{table}"
    assert lines[-1] == r"\end{table}"
    assert {r"\toprule", r"\midrule", r"\bottomrule", r"\label{tab:comparison}"} <= set(
        lines
    )
    assert r"CWL\_ERR10(max\_rel=2)" in latex
    assert r"bm25\_10\%" in latex
    assert r"a\&b" in latex


def test_html_shows_table_notes_and_names_as_they_are():
    runs = {"<i>a</i>": RUNS["good"], "b & c": RUNS["good"]}
    compared = irl.compare(QRELS, runs)
    shown = compared._repr_html_()
    assert "&lt;i&gt;a&lt;/i&gt;" in shown
    assert "<i>" not in shown
    assert "b &amp; c" in shown
    assert compared.diagnostics == [
        "lexirecall, <i>a</i> and b & c: 30 of 30 queries are ties."
    ]
    assert (
        "<li>lexirecall, &lt;i&gt;a&lt;/i&gt; and b &amp; c: 30 of 30 queries are ties.</li>"
        in shown
    )
    assert re.findall("<th [^>]*>(.*?)</th>", shown) == ["lexirecall"]
    assert "<ul>" not in irl.compare(all_judged(), RUNS)._repr_html_()


# -- pictures ----------------------------------------------------------------------------------------


def labels(ticks: Iterable[Any]) -> list[str]:
    return [tick.get_text() for tick in ticks]


def drawn(axes: Any) -> int:
    """Size of the picture; fails where it cannot be drawn."""
    picture = io.BytesIO()
    axes.figure.savefig(picture, format="svg")
    return picture.tell()


def test_the_heatmap_shows_the_best_system_first_and_marks_what_is_significant():
    compared = irl.compare(
        QRELS, dict(reversed(RUNS.items())), "AP", test=SignificanceTest(alpha=0.02)
    )
    axes = compared.plot("heatmap")
    order = list(compared.ranking()["run"])
    assert order == ["good", "fair", "weak", "bad"]
    assert labels(axes.get_xticklabels()) == labels(axes.get_yticklabels()) == order
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("over this run", "this run")
    title = axes.get_title(loc="left").replace("\n", " ")
    how = "paired t-test, Holm's correction for 6 comparisons, p <= 0.02"
    assert title == f"* and colour: significantly better (blue), worse (orange); {how}"
    table = compared.verdicts()
    matrix = compared.matrix()
    decided = table["verdict"] != "undecided"
    rejected = {
        frozenset(pair)
        for pair, differs in zip(pairs_of(table), decided, strict=True)
        if differs
    }
    assert 0 < len(rejected) < 6
    texts = {text.get_position(): text.get_text() for text in axes.texts}
    for i, j in itertools.permutations(range(4), 2):
        star = "*" if {order[i], order[j]} in rejected else ""
        assert texts[j, i] == f"{matrix.loc[order[i], order[j]]:.2f}{star}"
    assert drawn(axes)


@pytest.mark.parametrize(
    "preference", ["lexirecall", "lexiprecision", "rrlexiprecision"]
)
def test_the_picture_of_a_pair_shows_the_deciding_ranks(preference):
    runs = {
        "good": RUNS["good"],
        "half": RUNS["weak"] | {q: RUNS["good"][q] for q in QUERIES[:9]},
    }
    compared = irl.compare(QRELS, runs, preference)
    axes = compared.plot("pair", "good", "half")
    assert axes.get_ylabel() == "rank at the deciding level"
    assert axes.get_xlabel() == "30 queries"
    explained = compared.explain("good", "half").set_index("query_id")
    good, half = ((explained["winner"] == name).sum() for name in ("good", "half"))
    assert (
        axes.get_title(loc="left")
        == f"● good (blue) wins {good}, ◆ half (orange) wins {half}, 9 neither"
    )
    shown = explained.loc[labels(axes.get_xticklabels())]
    assert sorted(shown.index) == QUERIES
    assert np.sign(shown["preference"]).is_monotonic_decreasing
    decided = shown[shown["preference"] != 0]
    assert 0 < len(decided) < len(shown)
    for column, points in zip(("rank_a", "rank_b"), axes.collections[1:], strict=True):
        y = points.get_offsets()[:, 1]
        missing = decided[column].isna().to_numpy()
        assert y[~missing].tolist() == decided[column].dropna().tolist()
        assert (
            y[missing] > decided[["rank_a", "rank_b"]].max().max()
        ).all()  # below the deepest
    assert drawn(axes)


# -- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {
            "groups": {f"q{q}": f"g{q // 2}" for q in range(10)},
            "test": irl.SignificanceTest(cluster=True),
        },
    ],
)
def test_no_interval_of_a_mean_leaves_the_range_of_its_measure(
    options: dict[str, Any],
) -> None:
    """Ten queries, most with the relevant document first: uncut, the interval of AP ends at 1.09."""
    qrels = {f"q{q}": {"a": 1} for q in range(10)}
    first = {
        "good": [1, 1, 1, 1, 1, 1, 1, 2, 3, 4],
        "fair": [1, 2, 3, 1, 1, 5, 1, 1, 2, 2],
    }
    runs = {
        name: {
            f"q{q}": {"a": 0.5 - rank, **{f"d{d}": -float(d) for d in range(1, 9)}}
            for q, rank in enumerate(ranks)
        }
        for name, ranks in first.items()
    }
    for result in (
        compared := irl.compare(
            qrels, runs, ["RR", "AP", "RBP(rel=1)", "lexirecall", "SL3(n=9)"], **options
        ),
        irl.compare(
            values={
                run: compared.per_query("RR")[[run]].rename(columns={run: "RR"})
                for run in runs
            },
            **options,
        ),
    ):
        for name, criterion in result.compared.by.items():
            means = result.means(name).dropna()
            assert (criterion.range[0] <= means["ci_low"]).all()
            assert (means["ci_high"] <= criterion.range[1]).all()
            assert (means["ci_low"] <= means["mean"]).all()
            assert (means["mean"] <= means["ci_high"]).all()
    assert compared.compared.by["RR"].range == (0, 1)
    assert compared.means("AP")["ci_high"].max() == 1
    overall = irl.benchmark(
        {"a": qrels, "b": qrels}, {"a": runs, "b": runs}, ["RR"]
    ).means()
    assert overall["ci_high"].max() <= 1


@pytest.mark.parametrize("test", ["t", "tukey"])
def test_with_a_margin_all_verdicts_are_corrected_for_their_family(test: str) -> None:
    """Worse and better over all criteria and pairs, the others over the pairs of a criterion."""
    rng = np.random.default_rng(3)
    values = {
        f"r{i}": {
            f"q{q}": {"AP": 0.5 + x, "RR": 0.5 + y}
            for q, (x, y) in enumerate(rng.normal(0, 0.1, (30, 2)))
        }
        for i in range(9)
    }
    result = irl.compare(
        values=values,
        baseline="r0",
        margin=0.05,
        test=SignificanceTest(test, n_resamples=199),
    )
    table = result.table()
    tested_by, of_measures = SignificanceTest(test, n_resamples=199), []
    for by in ("AP", "RR"):
        x = result.per_query(by).to_numpy()
        pairs = (
            margin_test(tested_by, (x[:, 1:] - x[:, :1]).T, 0.05)
            if test == "t"
            else None
        )
        of_measures.append(pairs or margin_test_of_all(tested_by, x, 0.05)[1:, 0])
    for side, families in {
        "worse": 1,
        "better": 1,
        "within": 2,
        "not_worse": 2,
    }.items():
        p = [getattr(tested, side) for tested in of_measures]
        alone = (
            test == "tukey" and families == 2
        )  # it accounts for the pairs of a criterion
        expected = [
            corrected(x, None if alone else "holm", 0.05)[0]
            for x in np.split(np.concatenate(p), families)
        ]
        assert table[f"{side}_p"].tolist() == pytest.approx(
            np.concatenate(expected).tolist()
        )
    p = table[["worse_p", "better_p", "within_p", "not_worse_p"]].to_numpy()
    words = np.array(["worse", "better", "within margin", "not worse", "undecided"])
    assert (
        table["verdict"].tolist()
        == words[np.c_[p <= 0.05, np.ones(len(p), dtype=bool)].argmax(axis=1)].tolist()
    )
    assert "one-sided" in result.summary(full=True)


def test_a_value_that_is_not_a_number_is_refused():
    judgments = Judgments.from_qrels(QRELS)
    ranks = {name: align(judgments, run) for name, run in RUNS.items()}
    values = np.zeros((4, 30))
    values[2, 7] = math.nan
    scored = ScoredRuns(judgments, ranks, {"odd": AP}, {"odd": values})
    with pytest.raises(ValueError, match=r"odd.*'weak'.*'q07'"):
        comparison_of(scored, {"odd": AP}).table()


# -- how inputs are read -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "bars"),
    [
        ("sign", ["runs"]),
        ("bootstrap", ["runs", "bootstrap"]),
        ("tukey", ["runs", "Tukey HSD"]),
    ],
)
def test_progress_is_shown_on_request(capfd, test, bars):
    irl.compare(
        QRELS, RUNS, "rpp", test=SignificanceTest(test, n_resamples=20, progress=True)
    ).table()
    out, err = capfd.readouterr()
    assert out == ""
    for bar in bars:
        assert f"{bar}:" in err


@pytest.mark.parametrize("test", significance.TESTS)
def test_values_that_differ_by_rounding_only_are_ties(test: str) -> None:
    """Bpref's do in 19 of 13,600 comparisons on Robust 2003: the same sum, added up in another order."""
    scored = ScoredRuns.from_runs(
        {"AP": AP}, QRELS, {"a": RUNS["good"], "b": RUNS["good"]}
    )
    values = np.full((2, len(QRELS)), 0.1 + 0.2 + 0.3)
    values[1] = 0.3 + 0.2 + 0.1
    assert (values[0] > values[1]).all()
    scored = replace(scored, values={"AP": values})
    result = comparison_of(
        scored, {"AP": AP}, Design(test=SignificanceTest(test, n_resamples=200))
    )
    row = result.table().loc[0]
    assert (row["wins"], row["losses"], row["ties"]) == (0, 0, len(QRELS))
    assert (row["p"], row["estimate"]) == (1, 0)
    assert result.explain("a", "b")["winner"].isna().all()
    study = Study("AP", QRELS, {"a": RUNS["good"], "b": RUNS["good"]})
    study.scored = scored
    assert (study.signs("AP") == 0).all()


# -- what mutation testing found untested ------------------------------------------------------------


def test_a_count_has_a_mean_within_its_interval() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(8)}
    run = {
        f"q{i}": {f"d{j}": 1.0 - j for j in range(i + 1)} | {"a": 9.0} for i in range(8)
    }
    result = irl.compare(
        qrels, {"x": run, "y": {q: {"a": 1.0} for q in qrels}}, "NumRet"
    )
    means = result.means().set_index("run")
    assert means["mean"].tolist() == [5.5, 1.0]
    assert means["ci_low"]["x"] < 5.5 < means["ci_high"]["x"]
    assert result.table()["difference"].tolist() == [4.5]


def test_preferences_carry_their_parameters_in_their_names():
    by = ["lexirecall", "lexirecall( rel=2 )@3", "dominance@5", "AP"]
    compared = irl.compare(QRELS, RUNS, by)
    assert compared.criteria == by
    assert (
        str(compared.compared.by["lexirecall( rel=2 )@3"].preference)
        == "lexirecall(rel=2)@3"
    )
    for name in by:  # each as if it were alone
        table = compared.table(name).drop(columns="p_corrected_all")
        assert table.equals(irl.compare(QRELS, RUNS, name).table(name))
    assert not compared.table("lexirecall")["wins"].equals(
        compared.table("lexirecall( rel=2 )@3")["wins"]
    )
    page = irl.describe("lexirecall(rel=2)@100")
    assert page.heading == "lexirecall(rel=2)@100: Lexicographic recall"
    assert [str(p).partition(" (")[0] for p in page.parameters] == [
        "@cutoff = 100",
        "rel = 2",
    ]
    with pytest.raises(
        TypeError,
        match=r"compare: unexpected argument 'rel'; write it into the name of a preference",
    ):
        irl.compare(QRELS, RUNS, "rpp", rel=2)


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"cutoff": 10}, "name of a preference"),
        ({"judged_only": True}, "ir_lexirecall.load"),
        ({"alpha": 0.01}, "test=SignificanceTest"),
    ],
)
def test_arguments_that_are_said_elsewhere_name_the_place(options, where):
    with pytest.raises(
        TypeError,
        match=f"compare: unexpected argument '{next(iter(options))}'; .*{where}",
    ):
        irl.compare(QRELS, RUNS, **options)


def test_markdown_marks_what_differs_from_a_baseline():
    compared = irl.compare(QRELS, RUNS, "AP", baseline="fair")
    _, _, *rows = cells(compared.to_markdown())
    verdicts = compared.tests.verdicts_by()
    for run, cell in rows:
        sign = {"better": "\\+", "worse": "-"}.get(verdicts.on(run, "fair") or "", "")
        assert cell.replace("*", "").lstrip("-0.123456789") == sign.lstrip(
            "-"
        ) or cell.endswith(sign)
    assert {"better", "worse"} & {verdicts.on(run, "fair") for run in RUNS}


def test_a_comparison_can_be_pickled_after_it_was_looked_at():
    compared = irl.compare(QRELS, RUNS, "AP", baseline="fair")
    table = compared.verdicts(holds=True)
    pd.testing.assert_frame_equal(
        pickle.loads(pickle.dumps(compared)).verdicts(holds=True), table
    )


def test_a_comparison_has_few_public_members() -> None:
    """What a user calls stays on one page of documentation; the machinery is in what it holds."""
    public = [name for name in dir(Comparison) if not name.startswith("_")]
    assert len(public) <= 35, public
    assert [field.name for field in dataclasses.fields(Comparison)] == ["compared"]
    assert {name for base in Comparison.__mro__[1:-1] for name in vars(base)} == set()


def test_a_copy_of_a_comparison_gives_the_same_tables() -> None:
    compared = irl.compare(QRELS, RUNS, ["AP", "lexirecall"], baseline=next(iter(RUNS)))
    table = compared.table()
    again = dataclasses.replace(compared)
    for one in (copy.copy(compared), again, pickle.loads(pickle.dumps(again))):
        pd.testing.assert_frame_equal(one.table(), table)
        assert one.table().attrs == table.attrs
    assert copy.deepcopy(compared) is compared  # tables hold it in their attrs
