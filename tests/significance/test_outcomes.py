"""Corrections by name, and moments of differences on no queries."""

import importlib.util

import numpy as np
import pytest

import ir_lexirecall as irl
from ir_lexirecall.significance import (
    SignificanceTest,
    corrected,
    preference_interval,
    skewness,
)
from ir_lexirecall.significance.outcomes import (
    STATSMODELS_CORRECTIONS,
    check_correction,
    mean_and_deviation,
)


@pytest.mark.parametrize("is_installed", [True, False])
@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("bonferoni", "bonferroni"),
        ("Holm", "holm"),
        ("HOLM ", "holm"),
        ("Bonferroni", "bonferroni"),
        ("fdr-bh", "fdr_bh"),
        ("hommmel", "hommel"),
        ("BH", "fdr_bh"),
        ("FDR", "fdr_bh"),
        ("Benjamini Hochberg", "fdr_bh"),
        ("BY", "fdr_by"),
        ("Holm-Bonferroni", "holm"),
    ],
)
def test_misspelt_corrections_are_refused_at_once(
    monkeypatch, misspelt, meant, is_installed
):
    find_spec = importlib.util.find_spec
    if not is_installed:
        monkeypatch.setattr(
            importlib.util,
            "find_spec",
            lambda name, *rest: (
                None if name == "statsmodels" else find_spec(name, *rest)
            ),
        )
    with pytest.raises(ValueError, match="unknown correction") as refused:
        SignificanceTest("t", correction=misspelt)
    message = str(refused.value)
    assert f"did you mean {meant!r}" in message
    assert "install" not in message
    assert ("needs statsmodels" in message) == (not is_installed and meant != "holm")
    with pytest.raises(ValueError, match="unknown correction"):
        corrected(np.array([0.01, 0.2]), misspelt, 0.05)


@pytest.mark.parametrize("word", ["none", "None", "no", ""])
def test_no_correction_is_none_and_not_a_word(word):
    with pytest.raises(ValueError, match="for no correction, pass None"):
        SignificanceTest(correction=word)


def test_all_names_of_statsmodels_are_known():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    for name in {*multitest.multitest_methods_names, *multitest.multitest_alias}:
        check_correction(name)
    for name in STATSMODELS_CORRECTIONS:
        assert name in {*multitest.multitest_methods_names, *multitest.multitest_alias}


def test_no_queries_have_no_moments():
    none = np.zeros((2, 0))
    assert skewness(none).tolist() == [0.0, 0.0]
    assert np.isnan(mean_and_deviation(none)).all()


@pytest.mark.sparse
@pytest.mark.parametrize("by", ["lexirecall", "rpp", ["AP", "lexirecall"]])
@pytest.mark.parametrize("test", [None, "t", "sign", "wilcoxon", "bootstrap"])
def test_a_group_without_relevant_documents_has_no_verdicts_and_no_crash(by, test):
    queries = [f"q{i:02}" for i in range(12)]
    qrels = {query: {"a": int(i < 8), "b": 0} for i, query in enumerate(queries)}
    good = {query: {"a": 2.0, "b": 1.0} for query in queries}
    weak = {query: {"b": 2.0, "a": 1.0} for query in queries}
    groups = {
        query: "no answer" if i >= 8 else "answer" for i, query in enumerate(queries)
    }
    result = irl.compare(
        qrels,
        {"good": good, "weak": weak},
        by,
        baseline="weak",
        groups=groups,
        margin=0.1,
        test=test,
    )
    (
        result.summary(full=True),
        result.diagnostics,
        result.group_differences(),
        result.group_means(),
    )
    table = result.group_table()
    empty = (table["group"] == "no answer") & (table["queries"] == 0)
    assert empty.any()
    assert set(table["verdict"][empty]) == {"undecided"}


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2, 0.33, 0.4, 0.5, 0.7, 0.9, 0.99])
def test_intervals_of_preferences_hold_their_own_mean(alpha):
    rng = np.random.default_rng(0)
    for queries in (2, 3, 5, 10, 40):
        x = rng.choice([-1.0, 0.0, 1.0], p=[0.05, 0.1, 0.85], size=(50, queries))
        x[0], x[1], x[2] = 1, -1, 0
        low, high = preference_interval(x, alpha)
        mean = x.mean(axis=1)
        assert ((low >= -1) & (low <= mean)).all()
        assert ((high <= 1) & (mean <= high)).all()


@pytest.mark.parametrize("alpha", [0.33, 0.5, 0.9])
def test_every_printed_interval_holds_its_own_estimate(alpha):
    runs = irl.demo.runs()
    by = ["AP", "RR", "lexirecall", "rpp"]
    for name in (None, "t", "sign", "wilcoxon", "bootstrap", "randomisation"):
        test = SignificanceTest(name, alpha=alpha, n_resamples=999)
        result = irl.compare("lexirecall/demo", runs, by, test=test)
        for table, of in ((result.means(), "mean"), (result.table(), "estimate")):
            low, mean, high = (
                table[column].to_numpy() for column in ("ci_low", of, "ci_high")
            )
            wrong = (low > mean + 1e-12) | (mean > high + 1e-12)
            assert not wrong.any(), table[wrong]
