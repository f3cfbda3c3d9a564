"""Power and queries needed against enumeration, statsmodels and simulation."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from ir_lexirecall.significance import (
    TESTS,
    SignificanceTest,
    power,
    power_of_all,
    queries_needed,
    queries_needed_of_all,
    sign_test_power,
    sign_test_queries_needed,
    smallest_p,
    t_test_power,
    t_test_queries_needed,
)

COUNTS = st.tuples(*[st.integers(0, 9)] * 3).filter(any)
ALPHAS = st.sampled_from([0.01, 0.05, 0.2])


# -- sign test ---------------------------------------------------------------------------------------


def power_by_enumeration(win, loss, tie, queries, alpha):
    """Over all numbers of wins and losses, multinomial, in fractions."""
    total = win + loss + tie
    power = Fraction(0)
    for wins in range(queries + 1):
        for losses in range(queries + 1 - wins):
            decided = wins + losses
            tail = Fraction(sum(math.comb(decided, i) for i in range(min(wins, losses) + 1)), 2**decided)
            if decided and 2 * tail <= Fraction(alpha):
                ways = math.comb(queries, decided) * math.comb(decided, wins)
                power += ways * Fraction(win**wins * loss**losses * tie ** (queries - decided), total**queries)
    return float(power)


@given(COUNTS, st.integers(0, 14), ALPHAS)
@settings(max_examples=60, deadline=None)
def test_power_of_the_sign_test_is_that_of_all_numbers_of_wins_and_losses(counts, queries, alpha):
    expected = power_by_enumeration(*counts, queries, alpha)
    assert sign_test_power(*counts, queries, alpha) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("win", "loss", "tie"), [(0.6, 0.4, 0), (0.5, 0.2, 0.3), (0.1, 0.02, 0.88), (1, 0, 0)])
@pytest.mark.parametrize("target", [0.05, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("alpha", [0.05, 0.003])
def test_queries_needed_by_the_sign_test_are_the_first_number_that_reaches_the_power(win, loss, tie, target, alpha):
    needed = sign_test_queries_needed(win, loss, tie, alpha, target)
    queries = 1
    while sign_test_power(win, loss, tie, queries, alpha) < target:
        queries += 1
    assert needed == queries


def test_many_queries_are_needed_for_a_small_difference():
    needed = sign_test_queries_needed(0.501, 0.499, 0)
    assert needed == pytest.approx((stats.norm.ppf(0.8) + stats.norm.ppf(0.975)) ** 2 / 0.002**2, rel=0.01)
    assert sign_test_power(0.501, 0.499, 0, needed) >= 0.8
    assert sign_test_queries_needed(0.5001, 0.4999, 0) == math.inf  # more than ten million
    assert sign_test_queries_needed(0.0, 0.0, 1) == sign_test_queries_needed(0.3, 0.3, 0.4) == math.inf


@given(st.integers(0, 300), ALPHAS)
@settings(max_examples=40, deadline=None)
def test_without_a_difference_the_power_is_at_most_alpha(queries, alpha):
    assert sign_test_power(0.3, 0.3, 0.4, queries, alpha) <= alpha * (1 + 1e-9)


# -- t-test ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("effect", [0.0, 0.1, -0.5, 2.0])
@pytest.mark.parametrize("queries", [2, 10, 50, 1000])
def test_power_of_the_t_test_is_that_of_statsmodels(effect, queries):
    expected = TTestPower().power(abs(effect), queries, 0.05, alternative="two-sided")
    expected = 1 if math.isnan(expected) and effect == 2 else expected
    assert t_test_power(effect, queries) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("effect", [0.02, 0.1, -0.5, 2.0, 30.0])
@pytest.mark.parametrize("target", [0.3, 0.8, 0.99])
def test_queries_needed_by_the_t_test_are_the_first_number_that_reaches_the_power(effect, target):
    needed = t_test_queries_needed(effect, 0.05, target)
    assert t_test_power(effect, needed) >= target
    assert needed == 2 or t_test_power(effect, needed - 1) < target


def test_power_of_the_t_test_at_its_ends():
    assert t_test_power(0.5, 1) == 0
    assert t_test_power(math.inf, 2) == t_test_power(1e6, 10**6) == 1
    assert t_test_queries_needed(math.inf) == 2
    # Where statsmodels has no number.
    assert t_test_power(2.0, 100) == t_test_power(0.02, 10**6) == pytest.approx(1)
    assert t_test_power(20.97046401323235, 10, 0.001) == pytest.approx(1)
    assert t_test_power(1e4, 3, 1e-9) == pytest.approx(t_test_power(20.0, 3, 1e-9) * 250_000, rel=0.5)
    assert t_test_queries_needed(0.0) == t_test_queries_needed(1e-9) == math.inf


def test_the_power_of_the_t_test_is_its_share_of_rejections():
    x = np.random.default_rng(0).normal(0.4, 1, size=(4000, 30))
    rejections = (SignificanceTest("t").of_pairs(x).p <= 0.05).mean()
    assert t_test_power(0.4, 30) == pytest.approx(rejections, abs=0.025)


def test_the_power_of_the_t_test_needs_statsmodels(monkeypatch):
    monkeypatch.setitem(sys.modules, "statsmodels.stats.power", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs statsmodels: install it"):
        t_test_power(0.4, 30)


# -- any test ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("queries", [0, 1, 2, 5, 12, 13, 50, 51, 200])
@pytest.mark.parametrize("name", TESTS)
def test_no_p_is_below_the_smallest(name, queries):
    test = SignificanceTest(name, n_resamples=99)
    least = smallest_p(test, queries)
    rng = np.random.default_rng(queries)
    x = np.concatenate(
        [np.full((1, queries), 1.0), rng.uniform(0.9, 1, (50, queries)), rng.normal(0, 1, (50, queries))]
    )
    if name == "tukey":
        values = np.concatenate([x, 10 + x]).T
        p = test.of_all(values).p if queries else np.ones(1)
    else:
        p = test.of_pairs(x).p
    assert (p >= least).all()
    if queries > 2:  # of the bootstrap, few queries have many resamples without any spread
        assert p.min() == pytest.approx(least, rel=1e-12) or (name in ("randomisation", "tukey") and p.min() <= 0.03)


NORMAL = np.random.default_rng(1).normal(0.35, 1, size=(2, 60))


@pytest.mark.parametrize("name", [name for name in TESTS if name != "tukey"])
def test_power_is_the_share_of_samples_of_queries_in_which_the_test_rejects(name):
    test = SignificanceTest(name, alpha=0.1, n_resamples=499)
    found = power(test, NORMAL, 40)
    rng = np.random.default_rng(9)
    for row, share in zip(NORMAL, found, strict=True):
        sample = row[rng.integers(len(row), size=(1500, 40))]
        # The t-test's power supposes normal differences, which these are almost.
        assert share == pytest.approx((test.of_pairs(sample).p <= 0.1).mean(), abs=0.05)
    assert found == pytest.approx(power(test, NORMAL * 2.0**-600, 40))


@pytest.mark.parametrize("name", [name for name in TESTS if name != "tukey"])
def test_queries_needed_reach_the_power(name):
    test = SignificanceTest(name, n_resamples=199)
    needed = queries_needed(test, NORMAL, 0.7, simulations=400)
    assert needed.shape == (2,)
    for i, queries in enumerate(needed):
        reached = power(test, NORMAL[i : i + 1], int(queries), simulations=400)[0]
        assert reached >= 0.7
        assert power(test, NORMAL[i : i + 1], int(queries * 0.8), simulations=400)[0] < 0.7


@pytest.mark.parametrize("name", [name for name in TESTS if name != "tukey"])
def test_no_number_of_queries_is_enough_for_systems_that_do_not_differ(name):
    x = np.array([np.zeros(10), [1.0, -1.0] * 5])
    test = SignificanceTest(name, n_resamples=99)
    assert power(test, x, 40, simulations=100)[0] == 0
    assert power(test, x, 40, simulations=100)[1] <= 0.15
    needed = queries_needed(test, x[:1] if test.resampled or name == "wilcoxon" else x)
    assert np.isinf(needed).all()


@pytest.mark.parametrize("name", ["sign", "randomisation", "wilcoxon"])
def test_too_few_queries_have_no_power(name):
    assert power(name, np.ones((1, 10)), 5).tolist() == [0]
    assert power(name, np.ones((1, 10)), 6).tolist() == [1]
    assert queries_needed(name, np.ones((1, 10))).tolist() == [6]


def test_power_of_all_is_that_of_every_pair():
    values = np.random.default_rng(1).normal([0.5, 0.0, 0.1], 1, size=(30, 3))
    for name in ("sign", "t", "wilcoxon"):
        matrix, needed = power_of_all(name, values, 50), queries_needed_of_all(name, values, simulations=100)
        assert matrix.tolist() == matrix.T.tolist()
        assert np.diag(matrix).tolist() == [0, 0, 0]
        assert np.isinf(np.diag(needed)).all()
        pair = (values[:, 0] - values[:, 2])[None]
        assert matrix[0, 2] == pytest.approx(power(name, pair, 50)[0])
        assert needed[0, 2] == needed[2, 0] == queries_needed(name, pair, simulations=100)[0]


def test_power_of_tukey_hsd_is_about_its_share_of_rejections():
    values = np.random.default_rng(1).normal([0.5, 0.0, 0.1, 0.8], 1, size=(60, 4))
    found = power_of_all("tukey", values, 40)
    rng = np.random.default_rng(2)
    rejected = np.zeros((4, 4))
    for seed in range(300):
        sample = values[rng.integers(60, size=40)]
        rejected += SignificanceTest("tukey", n_resamples=199, seed=seed).of_all(sample).p <= 0.05
    assert found == pytest.approx(rejected / 300, abs=0.08)
    assert found.max() > 0.5
    assert found.tolist() == power_of_all("tukey", values * 2.0**-300, 40).tolist()


def test_queries_needed_by_tukey_hsd_are_the_first_number_that_reaches_the_power():
    values = np.random.default_rng(1).normal([0.5, 0.0, 0.1, 0.8], 1, size=(60, 4))
    needed = queries_needed_of_all("tukey", values, 0.9)
    for i in range(4):
        for j in set(range(4)) - {i}:
            queries = int(needed[i, j])
            assert power_of_all("tukey", values, queries)[i, j] >= 0.9
            assert power_of_all("tukey", values, queries - 1)[i, j] < 0.9
    assert np.isinf(np.diag(needed)).all()


def test_constant_differences_are_found_by_tukey_hsd_or_never():
    values = np.repeat([[0.0, 1.0, 1.0]], 20, axis=0)
    assert power_of_all("tukey", values, 20)[0].tolist() == [0, 1, 1]
    assert queries_needed_of_all("tukey", values)[1, 2] == math.inf


# -- bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sign_test_power(-1, 2, 0, 5), "shares of wins, losses and ties must be 0 or more, not -1, 2, 0"),
        (lambda: sign_test_power(0, 0, 0, 5), "shares of wins"),
        (lambda: sign_test_power(1, math.nan, 0, 5), "shares of wins"),
        (lambda: sign_test_power(1, 0, 0, -5), "sign_test_power: queries must be an integer of at least 0, not -5"),
        (lambda: sign_test_power(1, 0, 0, 5, 2), "sign_test_power: alpha must lie between 0 and 1, not 2"),
        (lambda: sign_test_queries_needed(1, 0, 0, 0.05, 1), "sign_test_queries_needed: power must lie between"),
        (lambda: t_test_power(1, 2.5), "t_test_power: queries must be an integer"),
        (lambda: t_test_queries_needed(1, power=0), "t_test_queries_needed: power must lie between"),
        (lambda: smallest_p("foo", 5), "smallest_p: unknown test 'foo'; choose from"),
        (lambda: smallest_p("t", True), "smallest_p: queries must be"),
        (lambda: power("foo", np.ones((1, 5)), 9), "power: unknown test 'foo'"),
        (lambda: power("t", np.ones(5), 9), "power: expected a matrix of finite numbers, of at least one query"),
        (lambda: power("t", np.ones((1, 0)), 9), "power: expected a matrix"),
        (lambda: power("tukey", np.ones((1, 5)), 9), "call power_of_all"),
        (lambda: queries_needed("tukey", np.ones((1, 5))), "call queries_needed_of_all"),
        (lambda: queries_needed("t", np.ones((1, 5)), 1.5), "queries_needed: power must lie"),
        (lambda: power_of_all("t", np.full((5, 2), np.nan), 5), "power_of_all: expected a matrix"),
    ],
)
def test_bad_input_is_named_under_the_function_that_the_user_called(call, message):
    with pytest.raises(ValueError, match=message):
        call()
