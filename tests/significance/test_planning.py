"""Queries needed, detectable differences and intervals of effect sizes against SciPy and statsmodels."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from ir_lexirecall.significance import (
    SignificanceTest,
    TestResult,
    detectable_difference,
    effect_interval,
    margin_test,
    queries_for_difference,
    queries_for_margin,
)
from ir_lexirecall.significance.planning import (
    queries_beyond_ties,
    queries_that_differ,
)

X = np.random.default_rng(0).normal([[0.0], [0.3]], [[0.1], [0.4]], (2, 60))
S = X.std(axis=1, ddof=1)


def t_test(x: np.ndarray, alpha: float = 0.05) -> TestResult:
    return SignificanceTest("t", alpha=alpha).of_pairs(x)


def two_sided_power(effect: float, queries: float, alpha: float) -> float:
    critical = stats.t.isf(alpha / 2, queries - 1)
    t = stats.nct(queries - 1, effect * math.sqrt(queries))
    return float(
        t.sf(critical) + np.nan_to_num(t.cdf(-critical))
    )  # of far tails SciPy has no number


def test_the_power_is_that_of_statsmodels() -> None:
    assert two_sided_power(0.4, 30, 0.05) == pytest.approx(
        TTestPower().power(0.4, 30, 0.05)
    )


@pytest.mark.parametrize("difference", [0.02, 0.05, 0.3])
@pytest.mark.parametrize(("power", "alpha"), [(0.8, 0.05), (0.95, 0.01)])
def test_queries_for_a_difference_are_the_fewest_with_that_power(
    difference: float, power: float, alpha: float
) -> None:
    planned = queries_for_difference(X, difference, power, alpha)
    variances = [S**2, *zip(*[bonett(x.tolist(), alpha) for x in X], strict=True)]
    for found, variance in zip(
        (planned.estimate, planned.low, planned.high), variances, strict=True
    ):
        for number, effect in zip(
            found, difference / np.sqrt(np.array(variance)), strict=True
        ):
            assert two_sided_power(effect, number, alpha) >= power - 1e-9
            # All of these queries differ; so many have a p of at most alpha, and one less has not.
            least = 6 if alpha == 0.05 else 8
            assert number >= least
            is_fewest = two_sided_power(effect, number - 1, alpha) < power
            assert number == least or is_fewest


def bonett(x: list[float], alpha: float) -> tuple[float, float]:
    """Ends of the interval of a variance, as the paper has it, but for G2 and Student's quantile; SciPy's trimmed mean."""
    n, z, t = (
        len(x),
        stats.norm.ppf(1 - alpha / 2),
        stats.t.ppf(1 - alpha / 2, len(x) - 1),
    )
    mean, variance = sum(x) / n, np.var(x, ddof=1)
    centre = stats.trim_mean(x, 1 / (2 * math.sqrt(n - 4)))
    kurtosis = (
        n * sum((v - centre) ** 4 for v in x) / sum((v - mean) ** 2 for v in x) ** 2
    )
    without_bias = 3 + (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (kurtosis - 3) + 6)
    c = n / (n - z)
    error = c * math.sqrt((max(kurtosis, without_bias) - (n - 3) / n) / (n - 1))
    return math.exp(math.log(c * variance) - t * error), math.exp(
        math.log(c * variance) + t * error
    )


def test_queries_for_a_margin_find_equal_runs_not_worse() -> None:
    """Both conditions hold together with the power: one nearly surely, or both more often."""
    for x, number, s in zip(
        X, queries_for_margin(X, 0.1, 0.9).estimate, S, strict=True
    ):
        assert shows_not_worse(x, number, 0.1, s)
        assert not shows_not_worse(x, number - 1, 0.1, s)


def shows_not_worse(x: np.ndarray, number: float, margin: float, s: float) -> bool:
    """Whether the t-test and the ties of so many queries allow the verdict in 0.9 of samples."""
    of_t = TTestPower().power(margin / s, number, 0.05, alternative="larger") + 1e-9
    nearly = 1 - (1 - 0.9) / 200
    return any(
        of_t >= by_t and ties_allow_not_worse(x, number, margin, beyond_ties)
        for by_t, beyond_ties in ((0.9, nearly), (0.95, 0.95), (nearly, 0.9))
    )


@pytest.mark.parametrize(
    ("queries", "share", "sd", "margin"),
    [(50, 0.5, 0.05, 0.02), (100, 0.2, 0.1, 0.015), (50, 0.3, 0.05, 0.01)],
)
def test_ties_and_variance_together_leave_the_power(
    queries: int, share: float, sd: float, margin: float
) -> None:
    """Simulated: by the larger one of two plans, 0.61 to 0.73 of samples reached the verdict."""
    rng = np.random.default_rng(0)
    n_differing = round(queries * share)
    x = np.zeros((1, queries))
    x[0, :n_differing] = rng.normal(0, 1, n_differing)
    x *= sd / x.std(ddof=1)
    x -= x.mean() * (x != 0) / share
    planned = int(queries_for_margin(x, margin).estimate[0])
    sample = rng.choice(x[0], (2000, planned))
    tested = margin_test(SignificanceTest("t"), sample, margin)
    assert 0.72 < np.mean(tested.not_worse <= 0.05) < 0.96


def test_values_of_0_and_1_differ_on_more_queries_by_a_larger_difference() -> None:
    """Simulated: no difference of such a measure on one query is above 1."""
    rng = np.random.default_rng(0)
    wins, losses, queries = 6, 4, 50
    x = np.zeros((1, queries))
    x[0, :wins], x[0, wins : wins + losses] = 1, -1
    (difference,) = detectable_difference(x).estimate
    assert 0.15 < difference < 0.2
    assert queries_for_difference(x, difference).estimate[0] <= queries + 2
    differing = (wins + losses) / queries
    shares = [(differing - difference) / 2, 1 - differing, (differing + difference) / 2]
    drawn = rng.choice([-1.0, 0.0, 1.0], (4000, queries), p=shares)
    assert 0.75 < np.mean(t_test(drawn).p <= 0.05) < 0.95
    few = np.where(np.arange(queries) < 3, 1.0, 0.0)[None]
    assert 0.12 < detectable_difference(few).estimate[0] < 0.2
    assert np.isinf(detectable_difference(few[:, :5]).estimate[0])


def ties_allow_not_worse(
    x: np.ndarray, number: float, margin: float, power: float
) -> bool:
    """Whether so many queries like these take the floor of p to 0.05, query by query."""
    sizes = [min(abs(d) / margin, 1.0) for d in x.tolist()]
    spread = math.sqrt(number) * float(np.std(sizes))
    total = number * sum(sizes) / len(sizes) - stats.norm.ppf(power) * spread
    weight = min(max((8 - total) / 5, 0.0), 1.0)
    return weight * (1 - margin) ** number <= 0.05


@given(
    st.lists(st.sampled_from([-0.5, -0.05, 0.0, 0.0, 0.01, 0.3]), min_size=2),
    st.sampled_from([0.01, 0.05, 0.2]),
)
def test_planned_queries_are_the_fewest_whose_ties_allow_the_verdict(
    x: list[float], margin: float
) -> None:
    (planned,) = queries_beyond_ties(np.array([x]), margin, 1.0, 0.8, 0.05)
    fewest = next(
        n for n in range(2, 10_000) if ties_allow_not_worse(np.array(x), n, margin, 0.8)
    )
    assert planned == fewest


@given(st.integers(1, 20), st.integers(0, 20), st.sampled_from([0.05, 0.01]))
def test_planned_queries_are_the_fewest_of_which_enough_differ(
    differing: int, tied: int, alpha: float
) -> None:
    x = np.array([[0.1] * differing + [0.0] * tied])
    least = next(k for k in range(1, 99) if 2.0 ** (1 - k) <= alpha)
    share = differing / (differing + tied)
    fewest = next(
        n for n in range(least, 9999) if stats.binom.sf(least - 1, n, share) >= 0.8
    )
    assert queries_that_differ(x, 0.8, alpha).tolist() == [fewest]


def test_a_plan_for_a_margin_reaches_its_verdict_in_spite_of_ties() -> None:
    """Simulated: four queries were planned here, of which none can show that a run is not worse."""
    x = np.array([[0.02, -0.03, 0.0, 0.0, 0.01, -0.02, 0.03, 0.0, -0.01, 0.02]])
    queries = int(queries_for_margin(x, 0.1).estimate[0])
    sample = np.random.default_rng(0).choice((x - x.mean())[0], (1000, queries))
    tested = margin_test(SignificanceTest("t"), sample, 0.1)
    assert np.mean(tested.not_worse <= 0.05) > 0.75
    few = margin_test(SignificanceTest("t"), sample[:, :4], 0.1)
    assert not (few.not_worse <= 0.05).any()


def test_a_margin_is_planned_for_as_it_is_tested() -> None:
    """Simulated: of equal runs with as many queries, as many are not worse as the power says."""
    x = np.random.default_rng(1).normal(0, 0.1, (1, 40))
    x = x / x.std(ddof=1) * 0.1
    queries = int(queries_for_margin(x, 0.04).estimate[0])
    sample = np.random.default_rng(2).normal(0, 0.1, (4000, queries))
    assert np.mean(t_test(sample, 0.1).low > -0.04) == pytest.approx(0.81, abs=0.025)


def test_the_detectable_difference_needs_as_many_queries_as_there_are() -> None:
    planned = detectable_difference(X, 0.8, 0.05)
    for difference, s, i in zip(planned.estimate, S, (0, 1), strict=True):
        assert TTestPower().power(difference / s, 60, 0.05) == pytest.approx(
            0.8, abs=1e-9
        )
        assert (
            queries_for_difference(X[i : i + 1], difference * 1.0001).estimate[0] == 60
        )
    ends = np.sqrt([bonett(x.tolist(), 0.05) for x in X])
    assert planned.low / planned.estimate == pytest.approx(ends[:, 0] / S)
    assert planned.high / planned.estimate == pytest.approx(ends[:, 1] / S)


def test_of_fewer_than_five_queries_the_variance_is_not_known() -> None:
    planned = queries_for_difference(np.array([[0.1, 0.2, 0.0]]), 0.05)
    of_ties = queries_that_differ(np.array([[0.1, 0.2, 0.0]]), 0.8, 0.05)[0]
    assert (planned.low[0], planned.high[0]) == (of_ties, math.inf)


def test_without_a_variance_nothing_is_planned() -> None:
    for x in (np.full((1, 20), 0.1), np.zeros((1, 1)), np.zeros((1, 9))):
        plans = [queries_for_difference(x, 0.1), detectable_difference(x)]
        if x.shape[1] != 9:
            plans.append(queries_for_margin(x, 0.1))
        for planned in plans:
            assert np.isnan(
                [planned.estimate[0], planned.low[0], planned.high[0]]
            ).all()


def test_identical_runs_need_as_many_queries_for_a_margin_as_ties_do() -> None:
    planned = queries_for_margin(np.zeros((1, 10)), 0.01)
    assert [planned.estimate[0], planned.low[0], planned.high[0]] == [299.0] * 3
    sample = margin_test(SignificanceTest("t"), np.zeros((1, 299)), 0.01)
    assert sample.not_worse[0] <= 0.05


# -- ties --------------------------------------------------------------------------------------------


def with_ties(values: np.ndarray, queries: int) -> np.ndarray:
    """Differences of one pair on its first queries; on all others it ties."""
    x = np.zeros((1, queries))
    x[0, : len(values)] = values
    return x


@pytest.mark.parametrize(("differing", "queries"), [(4, 93), (6, 93), (4, 12), (5, 5)])
def test_too_few_differing_queries_can_show_no_difference(
    differing: int, queries: int
) -> None:
    x = with_ties(np.linspace(0.05, 0.1, differing), queries)
    planned = detectable_difference(x)
    assert [planned.estimate[0], planned.low[0], planned.high[0]] == [math.inf] * 3
    assert queries_that_differ(x, 0.8, 0.05)[0] > queries


@given(
    st.integers(2, 60),
    st.integers(0, 60),
    st.sampled_from([0.05, 0.01]),
    st.integers(0, 99),
)
def test_among_ties_the_detectable_difference_needs_as_many_queries_as_there_are(
    differing: int, tied: int, alpha: float, seed: int
) -> None:
    n = differing + tied
    x = with_ties(np.random.default_rng(seed).normal(0.01, 0.1, differing), n)
    (difference,) = detectable_difference(x, 0.8, alpha).estimate
    needed = partial(queries_for_difference, x, power=0.8, alpha=alpha)
    if np.isfinite(difference):
        assert needed(difference * 1.0001).estimate[0] == pytest.approx(n, abs=1)
    else:
        assert needed(1e6).estimate[0] >= n


@pytest.mark.parametrize(
    ("differing", "queries"), [(8, 25), (8, 93), (10, 93), (12, 50), (15, 93), (40, 50)]
)
@pytest.mark.parametrize("kind", ["normal", "of one sign"])
def test_a_difference_that_ties_let_a_test_find_is_found(
    kind: str, differing: int, queries: int
) -> None:
    """Simulated: without allowing for ties, it was found in 0.55 to 0.72 of samples, not 0.80."""
    rng = np.random.default_rng(differing)
    middles = (np.arange(differing) + 0.5) / differing
    if kind == "normal":
        values = stats.norm.ppf(middles)
        values /= values.std()
        drawn = rng.normal(0, 1, (2000, queries))
    else:
        values = 0.5 + middles
        drawn = rng.uniform(0.5, 1.5, (2000, queries))
    (difference,) = detectable_difference(with_ties(values, queries)).estimate
    of_differing = difference * queries / differing
    if kind == "normal":
        drawn += of_differing
    else:
        drawn *= of_differing
    is_differing = rng.random(drawn.shape) < differing / queries
    found = t_test(np.where(is_differing, drawn, 0.0)).p <= 0.05
    assert found.mean() > 0.75


@pytest.mark.parametrize("mean", [0.05, -0.3])
def test_a_difference_that_the_pilot_holds_does_not_count_as_noise(
    mean: float,
) -> None:
    """It lies on the queries that differ, as the planned one does, which the plan adds itself."""
    rng = np.random.default_rng(3)
    differs = rng.random((5, 50)) < 0.3
    noise = rng.normal(0, 0.1, differs.shape)
    level = np.where(differs, noise, 0.0)
    x = np.where(differs, noise + mean, 0.0)
    for plan in (
        partial(queries_for_difference, difference=0.02),
        partial(queries_for_margin, margin=0.02),
        detectable_difference,
    ):
        np.testing.assert_allclose(plan(x).arrays, plan(level).arrays, rtol=1e-9)


def test_plans_from_pilots_that_hold_the_difference_have_the_power() -> None:
    """Planned with its variance as noise, 0.02 and 0.04 were found in 0.94 and 0.98."""
    rng = np.random.default_rng(0)
    for difference in (0.02, 0.04):
        differs = rng.random((600, 450)) < 0.2
        x = np.where(differs, rng.normal(difference / 0.2, 0.1, differs.shape), 0.0)
        needed = queries_for_difference(x[:, :50], difference).estimate
        p = [
            t_test(row[None, 50 : 50 + int(n)]).p[0]
            for row, n in zip(x, needed, strict=True)
        ]
        assert 0.75 < np.mean(np.array(p) <= 0.05) < 0.87


def test_what_needs_more_than_ten_million_queries_needs_infinitely_many() -> None:
    assert queries_for_difference(X, 1e-6).estimate.tolist() == [math.inf, math.inf]


@pytest.mark.parametrize("bad", [0.0, -0.1, math.nan, math.inf])
def test_differences_are_above_0(bad: float) -> None:
    with pytest.raises(
        ValueError, match="a difference must be a finite number above 0, not"
    ):
        queries_for_difference(X, bad)


# -- effect sizes ------------------------------------------------------------------------------------


@given(st.floats(-3, 3), st.integers(2, 300), st.sampled_from([0.01, 0.05, 0.2]))
def test_the_interval_of_an_effect_inverts_the_noncentral_t(
    effect: float, queries: int, alpha: float
) -> None:
    low, high = effect_interval(np.array([effect]), queries, alpha)
    t, root = effect * math.sqrt(queries), math.sqrt(queries)
    for end, level in ((low[0], 1 - alpha / 2), (high[0], alpha / 2)):
        reached = stats.nct.cdf(t, queries - 1, end * root)
        assume(not np.isnan(reached))  # far out, SciPy's distribution has no value
        assert reached == pytest.approx(level, abs=1e-6)
    assert low[0] <= high[0]


@pytest.mark.slow
@given(
    st.one_of(st.floats(0, 5), st.floats(-3, 12).map(lambda power: 10**power)),
    st.one_of(st.integers(2, 5), st.integers(2, 3000)),
    st.sampled_from([0.01, 0.05, 0.2]),
)
@settings(max_examples=400, deadline=None)
def test_for_every_t_it_leaves_out_0_where_the_t_test_rejects_and_mirrors_and_rises(
    t: float, n: int, alpha: float
) -> None:
    effect = np.array([t, -t, t * 1.01]) / math.sqrt(n)
    low, high = effect_interval(effect, n, alpha)
    assert (low <= effect).all()
    assert (effect <= high).all()
    rejects = 2 * stats.t.sf(np.abs(effect) * math.sqrt(n), n - 1) <= alpha
    assert ((low > 0) | (high < 0)).tolist() == rejects.tolist()
    assert (low[1], high[1]) == pytest.approx((-high[0], -low[0]), rel=1e-12)
    assert low[0] <= low[2] + 1e-9 * t
    assert high[0] <= high[2] + 1e-9 * t


@given(st.integers(2, 12), st.data())
@settings(max_examples=100, deadline=None)
def test_beside_the_t_test_it_says_what_that_says(n: int, data: st.DataObject) -> None:
    x = np.array(
        [
            data.draw(
                st.lists(
                    st.sampled_from([-0.2, 0.0, 0.2, 0.2, 0.4, 0.40467]),
                    min_size=n,
                    max_size=n,
                )
            )
        ]
    )
    tested = t_test(x)
    low, high = effect_interval(tested.effect_size, n, p=tested.p)
    if np.isfinite(low[0]):
        assert bool(low[0] > 0 or high[0] < 0) == bool(tested.p[0] <= 0.05)


def test_two_queries_with_a_large_t() -> None:
    """P(T <= t) at both ends, summed over the numerator; the last t are beyond those that SciPy is exact for."""
    for t in (171.2, 1e3, 1e7):
        low, high = effect_interval(np.array([t]) / math.sqrt(2), 2)
        z = np.linspace(-9, 9, 200_001)
        for end, level in ((low[0], 0.975), (high[0], 0.025)):
            u = np.maximum(z + end * math.sqrt(2), 0) / t
            reached = (stats.norm.pdf(z) * 2 * stats.norm.sf(u)).sum() * (z[1] - z[0])
            assert reached == pytest.approx(level, abs=1e-6)


def test_without_spread_there_is_no_interval() -> None:
    low, high = effect_interval(np.array([math.inf, math.nan]), 10)
    assert np.isnan([*low, *high]).all()
    assert np.isnan(effect_interval(np.array([0.0]), 1)).all()


@pytest.mark.parametrize("queries", [2, 6, 40])
def test_plans_take_no_rounding_for_variance(queries):
    level = np.random.default_rng(2).uniform(0.02, 0.9, queries)
    level[:2] = 0.435, 0.652
    x = (level - (level - 0.1))[None]
    assert np.ptp(x) > 0
    for plan in (
        queries_for_difference(x, 0.1),
        queries_for_margin(x, 0.01),
        detectable_difference(x),
    ):
        assert np.isnan(plan.arrays).all()


@pytest.mark.parametrize("scale", [1e-80, 1e-20, 1e80])
def test_plans_do_not_depend_on_the_unit(scale):
    planned = queries_for_difference(X * scale, 0.05 * scale)
    np.testing.assert_array_equal(
        planned.arrays, queries_for_difference(X, 0.05).arrays
    )
