"""Tests of significance against SciPy, statsmodels, slow direct implementations, and simulated data."""

from __future__ import annotations

import itertools
import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats import multitest

from ir_lexirecall import significance

SIGNS = st.lists(st.integers(-1, 1), min_size=2, max_size=60)
SIXTHS = st.lists(st.integers(-6, 6).map(lambda number: number / 6), min_size=2, max_size=25)


def one_row(x):
    return np.array([x], dtype=float)


# -- paired tests ------------------------------------------------------------------------------------


@given(SIGNS)
@settings(max_examples=40)
def test_sign_test_is_the_exact_binomial_test_without_ties(x):
    wins, losses = x.count(1), x.count(-1)
    p, effect = significance.sign_test(one_row(x))
    if wins + losses == 0:
        assert (p[0], effect[0]) == (1, 0)
    else:
        assert p[0] == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)
        assert effect[0] == pytest.approx((wins - losses) / (wins + losses))


@given(SIXTHS)
@settings(max_examples=40)
def test_t_test_is_that_of_scipy(x):
    p, effect = significance.t_test(one_row(x))
    if len(set(x)) == 1:
        assert p[0] == (0 if any(x) else 1)
        assert effect[0] == math.copysign(math.inf, x[0]) if any(x) else effect[0] == 0
    else:
        assert p[0] == pytest.approx(stats.ttest_rel(x, np.zeros(len(x))).pvalue, rel=1e-9, abs=1e-300)
        assert effect[0] == pytest.approx(statistics.mean(x) / statistics.stdev(x), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("method", [None, "holm"])
def test_one_query_gives_the_t_test_nothing_to_reject(method):
    p, _ = significance.t_test(one_row([1]))
    assert np.isnan(p[0])
    _, reject = significance.corrected(p, method, 0.05)
    assert reject.tolist() == [False]


@pytest.mark.parametrize(("difference", "queries"), [(1, 2), (1, 10), (1 / 3, 7), (0.1, 3), (-0.1, 3), (-0.7, 6)])
def test_the_same_difference_on_every_query_has_no_spread(difference, queries):
    p, effect = significance.t_test(one_row([difference] * queries))
    assert p[0] == 0
    assert effect[0] == math.copysign(math.inf, difference)


@given(SIXTHS.filter(lambda x: not 8 < len(x) - x.count(0) < 14))  # for so many, SciPy takes its time
@settings(max_examples=30)
def test_wilcoxon_is_that_of_scipy_without_zeros(x):
    p, effect = significance.wilcoxon(one_row(x))
    differs = [value for value in x if value]
    if not differs:
        assert (p[0], effect[0]) == (1, 0)
        return
    assert p[0] == pytest.approx(stats.wilcoxon(differs).pvalue, rel=1e-12)
    ranks = [statistics.mean(i for i, v in enumerate(sorted(map(abs, differs)), 1) if v == abs(d)) for d in differs]
    above = sum(rank for rank, value in zip(ranks, differs, strict=True) if value > 0)
    below = sum(rank for rank, value in zip(ranks, differs, strict=True) if value < 0)
    assert effect[0] == pytest.approx((above - below) / (above + below), abs=1e-12)


def test_wilcoxon_ranks_equal_differences_equally():
    """1/2 - 1/3 = 1/3 - 1/6 = 1/4 - 1/12 = 1/6, though floats tell the three apart."""
    exact = [Fraction(1, 6), Fraction(1, 6), Fraction(-1, 6), *(Fraction(n, 20) for n in (5, 2, 6, 16))]
    rounded = [1 / 2 - 1 / 3, 1 / 3 - 1 / 6, 1 / 12 - 1 / 4, 0.25, 0.1, 0.3, 0.8]
    p, effect = significance.wilcoxon(one_row(rounded))
    expected_p, expected_effect = significance.wilcoxon(one_row([float(value) for value in exact]))
    assert p[0] == expected_p[0]
    assert effect[0] == expected_effect[0]


@given(
    st.lists(st.lists(st.integers(-6, 6), min_size=8, max_size=8), min_size=1, max_size=5),
    st.sampled_from([0.01, 0.05, 0.5]),
)
@settings(max_examples=40)
def test_confidence_interval_is_that_of_scipy(rows, alpha):
    x = np.array(rows) / 6
    low, high = significance.confidence_interval(x, alpha)
    for row, *interval in zip(x, low, high, strict=True):
        deviation = row.std(ddof=1)
        expected = (
            stats.t.interval(1 - alpha, len(row) - 1, row.mean(), deviation / np.sqrt(len(row)))
            if deviation
            else 2 * [row.mean()]
        )
        assert interval == pytest.approx(expected, abs=1e-12)


# -- several comparisons -----------------------------------------------------------------------------

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning:statsmodels")
@pytest.mark.parametrize("method", ["bonferroni", "sidak", "holm", "holm-sidak", "simes-hochberg", "fdr_bh", "fdr_by"])
@given(P_VALUES, st.sampled_from([0.01, 0.05, 0.2]))
@settings(max_examples=5)
def test_corrections_are_those_of_statsmodels(method, p, alpha):
    adjusted, reject = significance.corrected(np.array(p), method, alpha)
    expected_reject, expected, *_ = multitest.multipletests(p, alpha=alpha, method=method)
    assert adjusted.tolist() == expected.tolist()
    assert reject.tolist() == expected_reject.tolist()


@given(P_VALUES)
@settings(max_examples=300)
def test_holm_multiplies_the_smallest_p_by_the_most_comparisons(p):
    adjusted, _ = significance.corrected(np.array(p), "holm", 0.05)
    in_order = sorted(p)
    for value, found in zip(p, adjusted, strict=True):
        smaller = [(len(p) - place) * each for place, each in enumerate(in_order) if each <= value]
        assert found == pytest.approx(min(1, max(smaller)))


def test_without_a_correction_p_values_stay():
    adjusted, reject = significance.corrected(np.array([0.04, 0.06]), None, 0.05)
    assert adjusted.tolist() == [0.04, 0.06]
    assert reject.tolist() == [True, False]


def test_an_unknown_correction_is_named():
    with pytest.raises(ValueError, match="'nope'"):
        significance.corrected(np.array([0.5, 0.1]), "nope", 0.05)


# -- resampling --------------------------------------------------------------------------------------


def squared_t(sample):
    """Square of mean over standard error, exactly; infinite where only the latter is 0."""
    mean = sum(sample) / len(sample)
    if mean == 0:
        return 0
    variance = sum((value - mean) ** 2 for value in sample) / (len(sample) - 1)
    return mean**2 * len(sample) / variance if variance else math.inf


@given(st.lists(st.lists(st.integers(-2, 2), min_size=7, max_size=7), min_size=1, max_size=4), st.integers(0, 99))
@settings(max_examples=15)
def test_bootstrap_is_the_share_of_shifted_resamples_with_a_larger_t(rows, seed):
    n_resamples = 60
    p, _ = significance.bootstrap(np.array(rows, dtype=float), n_resamples=n_resamples, seed=seed)
    draws = np.random.default_rng(seed).integers(7, size=(n_resamples, 7)).tolist()
    for row, found in zip(rows, p, strict=True):
        mean = Fraction(sum(row), 7)
        larger = [squared_t([row[i] - mean for i in draw]) >= squared_t([Fraction(v) for v in row]) for draw in draws]
        assert found == (sum(larger) / n_resamples if any(row) else 1)


@given(
    st.integers(2, 4).flatmap(
        lambda systems: st.lists(
            st.lists(st.integers(-3, 3), min_size=systems, max_size=systems), min_size=1, max_size=6
        )
    ),
    st.integers(0, 99),
)
@settings(max_examples=25)
def test_tukey_hsd_is_the_share_of_permutations_with_a_larger_range(values, seed):
    n_resamples, systems = 60, len(values[0])
    p = significance.tukey_hsd(np.array(values) / 3, n_resamples=n_resamples, seed=seed)
    rng = np.random.default_rng(seed)
    ranges = []
    for _ in range(n_resamples):
        total = [sum(column) for column in zip(*rng.permuted(values, axis=1).tolist(), strict=True)]
        ranges.append(max(total) - min(total))
    total = [sum(column) for column in zip(*values, strict=True)]
    for i, j in itertools.product(range(systems), repeat=2):
        larger = [spread >= abs(total[i] - total[j]) for spread in ranges]
        assert p[i, j] == (1 if i == j else sum(larger) / n_resamples)


PREFERENCES = np.random.default_rng(3).choice([-1.0, 0.0, 1.0], p=[0.3, 0.3, 0.4], size=(20, 60))


@pytest.mark.parametrize("block", [1, 100, 700, 12_345])
def test_results_do_not_depend_on_the_size_of_blocks(monkeypatch, block):
    at_once = significance.bootstrap(PREFERENCES, n_resamples=300, seed=1)[0]
    tukey_at_once = significance.tukey_hsd(PREFERENCES, n_resamples=300, seed=1)
    monkeypatch.setattr(significance, "_BLOCK", block)
    assert significance.bootstrap(PREFERENCES, n_resamples=300, seed=1)[0].tolist() == at_once.tolist()
    assert significance.tukey_hsd(PREFERENCES, n_resamples=300, seed=1).tolist() == tukey_at_once.tolist()


def test_another_seed_draws_other_resamples():
    one, other = (significance.bootstrap(PREFERENCES, n_resamples=300, seed=seed)[0] for seed in (1, 2))
    assert one.tolist() != other.tolist()
    assert one == pytest.approx(other, abs=0.15)


# -- all of them -------------------------------------------------------------------------------------


def bootstrap(x):
    return significance.bootstrap(x, n_resamples=500, seed=0)


TESTS = {**significance.PAIRED, "bootstrap": bootstrap}


def test_all_tests_are_tested():
    assert {*TESTS, "tukey"} == set(significance.TESTS)


@pytest.mark.parametrize("queries", [1, 2, 30])
@pytest.mark.parametrize("name", TESTS)
def test_where_nothing_differs_p_is_1_and_the_effect_0(name, queries):
    p, effect = TESTS[name](np.zeros((3, queries)))
    assert p.tolist() == [1, 1, 1]
    assert effect.tolist() == [0, 0, 0]


@pytest.mark.parametrize("queries", [1, 2, 30])
def test_systems_that_do_not_differ_are_not_told_apart_by_tukey_hsd(queries):
    alike = np.repeat(np.arange(queries, dtype=float)[:, None] / 7, 3, axis=1)
    assert significance.tukey_hsd(alike, n_resamples=50, seed=0).tolist() == np.ones((3, 3)).tolist()


@pytest.mark.parametrize("name", TESTS)
def test_exchanging_the_two_systems_turns_the_effect_around(name):
    p, effect = TESTS[name](PREFERENCES)
    p_exchanged, effect_exchanged = TESTS[name](-PREFERENCES)
    assert p_exchanged == pytest.approx(p)
    assert effect_exchanged == pytest.approx(-effect)
    assert (np.sign(effect) == np.sign(PREFERENCES.sum(axis=1))).all()


@pytest.mark.parametrize("name", TESTS)
def test_a_large_difference_is_found(name):
    x = np.random.default_rng(5).normal(1, 1, size=(4, 40))
    p, _ = TESTS[name](x)
    assert (p < 0.01).all()


@pytest.mark.parametrize("name", TESTS)
def test_p_values_are_uniform_where_there_is_no_difference(name):
    x = np.random.default_rng(11).normal(size=(600, 40))
    p, _ = TESTS[name](x)
    if name == "sign":  # has few values: at most as often below a level as it says
        for level in (0.01, 0.05, 0.1, 0.3):
            assert (p <= level).mean() <= level + 2 * math.sqrt(level * (1 - level) / len(p))
        assert (p <= 0.05).mean() > 0.01
    else:
        assert stats.kstest(p, "uniform").pvalue > 0.01


def test_the_smallest_p_value_of_tukey_hsd_is_uniform_where_there_is_no_difference():
    rng = np.random.default_rng(11)
    smallest = []
    for seed in range(200):
        values = rng.normal(size=(20, 4)) + rng.normal(size=(20, 1))
        smallest.append(significance.tukey_hsd(values, n_resamples=200, seed=seed).min())
    assert stats.kstest(smallest, "uniform").pvalue > 0.01


def test_tukey_hsd_finds_the_one_system_that_is_better():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(40, 4)) + rng.normal(size=(40, 1)) + np.array([1.5, 0, 0, 0])
    p = significance.tukey_hsd(values, n_resamples=500, seed=0)
    assert (p[0, 1:] < 0.01).all()
    assert (p[1:, 1:] > 0.05).all()
    assert p.tolist() == p.T.tolist()
