"""Discriminative power counts what the tests of ``compare`` and of SciPy find significant."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ir_lexirecall import SignificanceTest, compare, evaluate
from ir_lexirecall.meta import Study
from ir_lexirecall.meta.made_up_rankings import simulate_rankings
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.significance import TESTS


def by_pair(table, label):
    rows = table[table["measure"] == label]
    return {
        (a, b): row
        for a, b, *row in rows[["run_a", "run_b", "p", "difference"]].itertuples(
            index=False
        )
    }


def paired_t_p(differences):
    """The p-value of SciPy, or the least that k differences of one sign have."""
    least = 2.0 ** (1 - np.count_nonzero(differences))
    return max(stats.ttest_1samp(differences, 0).pvalue, least)


def signed_rank_p(differences):
    """The exact two-sided p-value, over all signs of the ranks."""
    ranks = stats.rankdata(np.abs(differences))
    signs = 1 - 2 * ((np.arange(2 ** len(ranks))[:, None] >> np.arange(len(ranks))) & 1)
    return (
        np.abs(signs @ ranks) >= abs((np.sign(differences) * ranks).sum()) - 1e-9
    ).mean()


@pytest.mark.parametrize(
    ("test", "p_of"),
    [
        ("t", lambda x, y: paired_t_p(np.round(x - y, 12))),
        (
            "wilcoxon",
            lambda x, y: signed_rank_p(np.round((x - y)[np.abs(x - y) > 1e-12], 12)),
        ),
        (
            "sign",
            lambda x, y: (
                stats.binomtest(int((x > y).sum()), int((x != y).sum())).pvalue
            ),
        ),
    ],
)
def test_measures_are_tested_by_their_values(collection, test, p_of):
    qrels, runs = collection
    table = Study(["AP", "LR"], qrels, runs).achieved_significance(test=test)
    for label in ("AP", "LR"):
        values = {
            name: evaluate(label, qrels, run)[label].to_numpy()
            for name, run in runs.items()
        }
        found = by_pair(table, label)
        assert len(found) == 10
        for (a, b), (p, difference) in found.items():
            assert p == pytest.approx(p_of(values[a], values[b]), rel=1e-9)
            assert difference == pytest.approx(
                (values[a] - values[b]).mean(), abs=1e-12
            )


def test_tukey_sees_the_values_of_all_runs(collection):
    qrels, runs = collection
    values = np.stack(
        [evaluate("AP", qrels, run)["AP"].to_numpy() for run in runs.values()], axis=1
    )
    p = SignificanceTest("tukey", n_resamples=500, seed=3).of_all(values).p
    names = list(runs)
    found = by_pair(
        Study("AP", qrels, runs).achieved_significance(
            test=SignificanceTest("tukey", correction=None, n_resamples=500, seed=3)
        ),
        "AP",
    )
    assert {pair: row[0] for pair, row in found.items()} == {
        (a, b): p[names.index(a), names.index(b)] for a, b in found
    }


@pytest.mark.sparse
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("preference", [*NAMES])
def test_preferences_are_tested_as_compare_tests_them(collection, test, preference):
    qrels, runs = collection
    runs = dict(
        list(runs.items())[1:4]
    )  # the exact Wilcoxon test takes its time over ties
    tested = SignificanceTest(test, correction=None, n_resamples=200, seed=5)
    expected = compare(qrels, runs, preference, test=tested).table()
    found = by_pair(
        Study(preference, qrels, runs).achieved_significance(test=tested), preference
    )
    assert {pair: tuple(row) for pair, row in found.items()} == {
        (a, b): (p, mean)
        for a, b, p, mean in expected[["run_a", "run_b", "p", "difference"]].itertuples(
            index=False, name=None
        )
    }


@pytest.mark.parametrize("test", TESTS)
def test_the_summary_counts_the_curve(collection, test):
    qrels, runs = collection
    options = {
        "test": SignificanceTest(
            test, correction=None, alpha=0.1, n_resamples=300, seed=2
        )
    }
    table = Study(["AP", "TSE", "lexiprecision"], qrels, runs).discriminative_power(
        **options
    )
    curve = Study(["AP", "TSE", "lexiprecision"], qrels, runs).achieved_significance(
        **options
    )
    assert table["measure"].tolist() == ["AP", "TSE", "lexiprecision"]
    assert table["pairs"].tolist() == [10, 10, 10]
    below = [
        (curve[curve["measure"] == label]["p"] <= 0.1).sum()
        for label in table["measure"]
    ]
    assert table["significant"].tolist() == below
    assert table["share"].tolist() == [count / 10 for count in below]


def test_queries_without_relevant_documents_take_no_part():
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}}
    runs = {
        "x": {q: {"a": 1.0} for q in qrels},
        "y": {q: {"b": 2.0, "a": 1.0} for q in qrels},
    }
    table = Study("RR", qrels, runs).achieved_significance(test="sign")
    assert table["difference"].tolist() == [0.5]
    assert table.attrs["queries"] == 2
    assert table.attrs["excluded_queries"] == 1


def test_ranks_of_other_judgments_are_refused():
    one, other = (simulate_rankings(100, 3, 50, 5, seed=seed) for seed in (1, 2))
    with pytest.raises(ValueError, match="other judgments"):
        Study("AP", one.judgments, other.aligned).discriminative_power()


# All 17 runs, 136 pairs, t-tests for measures and a binomial test for lexirecall, Holm: which Diaz et al., TORS 2026,
# Figure 12, show for other data.
ROBUST = {"R@1000": 97, "nDCG": 94, "AP": 88, "Rprec": 71, "nDCG@10": 47, "RR": 23}


@pytest.mark.slow
def test_discriminative_power_on_robust_2003(robust):
    by_t = (
        Study([*ROBUST], *robust)
        .discriminative_power(test=SignificanceTest("t"))
        .set_index("measure")
    )
    assert by_t["significant"].to_dict() == ROBUST
    assert (by_t["pairs"] == 136).all()
    by_sign = Study("lexirecall", *robust).discriminative_power(
        test=SignificanceTest("sign")
    )
    assert by_sign["significant"].tolist() == [102]
