"""Variances of differences between systems with seeds, beside a slow version and a mixed model."""

import warnings

import numpy as np
import pytest
from scipy import stats

from ir_lexirecall.significance import SignificanceTest
from ir_lexirecall.significance.planning import t_power
from ir_lexirecall.significance.repeats import (
    Components,
    RepeatedValues,
    SeedVariance,
    components_of,
    difference_variance,
    planned_power,
    queries_with_repeats,
    repeats_with_queries,
)

PAIR = [np.array([0]), np.array([1])]


def made_up(rng, repeats, queries, *, seed=0.01, noise=0.05, sd=0.1, effect=0.0):
    """Return the values of two systems: a query, a seed, and noise of both in each."""
    level, difference = rng.normal(0.4, 0.2, queries), rng.normal(effect, sd, queries)
    systems = []
    for number, sign in zip(repeats, (0.5, -0.5), strict=True):
        seeds = rng.normal(0, seed, (number, 1)) if number > 1 else np.zeros((1, 1))
        systems.append(
            level + sign * difference + seeds + rng.normal(0, noise, (number, queries))
        )
    return systems


def slow(a, b):
    """Return the difference, its variance and degrees of freedom, by loops as the formula reads."""
    queries = len(a[0])
    differences = [
        sum(run[q] for run in a) / len(a) - sum(run[q] for run in b) / len(b)
        for q in range(queries)
    ]
    mean = sum(differences) / queries
    of_queries = sum((d - mean) ** 2 for d in differences) / (queries - 1) / queries
    seed_terms, noise_terms, sizes = [], [], []
    for runs in (a, b):
        size = len(runs)
        if size == 1:
            continue
        of_seed = [sum(run) / queries for run in runs]
        of_query = [sum(run[q] for run in runs) / size for q in range(queries)]
        grand = sum(of_seed) / size
        s2 = sum((x - grand) ** 2 for x in of_seed) / (size - 1)
        rest = sum(
            (runs[r][q] - of_seed[r] - of_query[q] + grand) ** 2
            for r in range(size)
            for q in range(queries)
        )
        seed_terms.append(s2 / size)
        noise_terms.append(rest / (size - 1) / (queries - 1) / size / queries)
        sizes.append(size)
    added = max(0.0, sum(seed_terms) - sum(noise_terms))
    if not added:
        return mean, of_queries, queries - 1
    own = sum(seed_terms) ** 2 / sum(
        x**2 / (n - 1) for x, n in zip(seed_terms, sizes, strict=True)
    )
    equal = sum(1 / n for n in sizes) ** 2 / sum(1 / n**2 / (n - 1) for n in sizes)
    squares = of_queries**2 / (queries - 1) + sum(seed_terms) ** 2 / min(own, equal)
    for x, n in zip(noise_terms, sizes, strict=True):
        squares += x**2 / ((n - 1) * (queries - 1))
    return (
        mean,
        of_queries + added,
        min(queries - 1, (of_queries + added) ** 2 / squares),
    )


@pytest.mark.parametrize("repeats", [(2, 2), (3, 3), (2, 10), (1, 4), (5, 3)])
def test_variance_and_degrees_are_those_of_the_formula(repeats):
    rng = np.random.default_rng(sum(repeats))
    for seed in (0.0, 0.01, 0.05):
        a, b = made_up(rng, repeats, 12, seed=seed)
        x = (a.mean(axis=0) - b.mean(axis=0))[None]
        found = difference_variance(x, SeedVariance.of([a, b]), PAIR)
        mean, variance, degrees = slow(a.tolist(), b.tolist())
        assert found.mean[0] == pytest.approx(mean, rel=1e-9)
        assert found.variance[0] == pytest.approx(variance, rel=1e-9)
        assert found.degrees[0] == pytest.approx(degrees, rel=1e-9)
        t = mean / variance**0.5
        assert found.two_sided_p()[0] == pytest.approx(
            2 * stats.t.sf(abs(t), degrees), rel=1e-9
        )
        low, high = found.interval(0.05)
        ends = stats.t.interval(0.95, degrees, mean, variance**0.5)
        assert (low[0], high[0]) == pytest.approx(ends, rel=1e-9)


def test_seeds_that_do_nothing_leave_the_t_test_over_queries():
    run = np.random.default_rng(1).random(20)
    a, b = np.stack([run, run]), np.stack([run**2, run**2])
    x = (a.mean(axis=0) - b.mean(axis=0))[None]
    found = difference_variance(x, SeedVariance.of([a, b]), PAIR)
    assert found.two_sided_p()[0] == pytest.approx(
        stats.ttest_1samp(x[0], 0).pvalue, rel=1e-9
    )


def test_several_pairs_at_once_are_those_of_each_pair():
    rng = np.random.default_rng(2)
    systems = [rng.normal(m, 0.1, (r, 15)) for m, r in ((0.1, 3), (0.2, 5), (0.2, 2))]
    a, b = np.array([0, 0, 1]), np.array([1, 2, 2])
    means = np.stack([system.mean(axis=0) for system in systems])
    all_pairs = difference_variance(
        means[a] - means[b], SeedVariance.of(systems), [a, b]
    )
    for row, (i, j) in enumerate(zip(a, b, strict=True)):
        _, variance, degrees = slow(systems[i].tolist(), systems[j].tolist())
        assert all_pairs.variance[row] == pytest.approx(variance, rel=1e-9)
        assert all_pairs.degrees[row] == pytest.approx(degrees, rel=1e-9)


def mixed_model_error(a, b):
    """Return the standard error of the difference by statsmodels' crossed mixed model (REML)."""
    import pandas as pd
    import statsmodels.formula.api as smf

    rows = [
        (value, system, f"q{q}", f"{system}{r}", f"{system}q{q}")
        for system, runs in (("a", a), ("b", b))
        for r, run in enumerate(runs)
        for q, value in enumerate(run)
    ]
    table = pd.DataFrame(rows, columns=["y", "system", "query", "seed", "cell"]).assign(
        all=1
    )
    parts = {name: f"0 + C({name})" for name in ("query", "seed", "cell")}
    model = smf.mixedlm("y ~ system", table, groups="all", vc_formula=parts)
    fitted = model.fit(reml=True, method=["lbfgs", "powell"])
    return fitted.bse["system[T.b]"]


def balanced_case(number):
    """Return two systems with as many seeds, of whose components of variance none is negative.

    At a negative component the mixed model stops at 0, and its error is a different one.
    """
    repeats, queries = 2 + number % 4, (8, 12, 16)[number % 3]
    for attempt in range(100):
        rng = np.random.default_rng([number, attempt])
        a, b = made_up(rng, (repeats, repeats), queries, seed=0.1, noise=0.05, sd=0.2)
        x = (a.mean(axis=0) - b.mean(axis=0))[None]
        parts = components_of(x, SeedVariance.of([a, b]), PAIR)
        shared = np.cov(a.mean(axis=0), b.mean(axis=0))[0, 1]
        if min(parts.queries[0], parts.seeds[0], shared) > 1e-4:
            return a, b, x
    raise AssertionError(f"case {number}: every attempt has a negative component")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(50))
def test_a_crossed_mixed_model_gives_the_same_error_where_all_components_are_positive(
    number,
):
    pytest.importorskip("statsmodels")
    a, b, x = balanced_case(number)
    found = difference_variance(x, SeedVariance.of([a, b]), PAIR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        error = mixed_model_error(a, b)
    assert found.variance[0] ** 0.5 == pytest.approx(error, rel=0.001)


@pytest.mark.slow_except("0.02")
@pytest.mark.parametrize("seed", [0.0, 0.02])
def test_the_level_is_kept_where_averaging_does_not_keep_it(seed):
    rng = np.random.default_rng(7)
    rejected = averaged = 0
    for _ in range(1000):
        a, b = made_up(rng, (3, 3), 100, seed=seed)
        x = (a.mean(axis=0) - b.mean(axis=0))[None]
        found = difference_variance(x, SeedVariance.of([a, b]), PAIR)
        rejected += found.two_sided_p()[0] <= 0.05
        averaged += stats.ttest_1samp(x[0], 0).pvalue <= 0.05
    assert rejected <= 75
    assert (averaged > 150) == (seed > 0)


def test_components_are_recovered():
    rng = np.random.default_rng(8)
    found = []
    for _ in range(300):
        a, b = made_up(rng, (4, 4), 50, seed=0.02, noise=0.05, sd=0.1)
        x = (a.mean(axis=0) - b.mean(axis=0))[None]
        parts = components_of(x, SeedVariance.of([a, b]), PAIR)
        found.append([parts.queries[0], parts.seeds[0], parts.noise[0]])
    expected = [0.1**2, 2 * 0.02**2, 2 * 0.05**2]
    assert np.mean(found, axis=0) == pytest.approx(expected, rel=0.1)


def test_samples_have_no_component_of_seeds():
    rng = np.random.default_rng(9)
    values = tuple(made_up(rng, (3, 3), 30, seed=0.2))
    x = (values[0].mean(axis=0) - values[1].mean(axis=0))[None]
    assert RepeatedValues("samples", values).components(x, PAIR).seeds.tolist() == [0.0]
    assert RepeatedValues("seeds", values).components(x, PAIR).seeds[0] > 0


def test_plans_have_just_enough_queries_or_repeats():
    parts = Components(
        np.array([0.12**2]), np.array([2 * 0.005**2]), np.array([2 * 0.05**2])
    )
    needed = [queries_with_repeats(parts, 0.02, r, 0.8, 0.05)[0] for r in (3, 5, 10)]
    assert needed == [601, 387, 327]
    needed = [queries_with_repeats(parts, 0.01, r, 0.8, 0.05)[0] for r in (3, 5, 10)]
    assert needed == [np.inf, np.inf, 1994]
    assert repeats_with_queries(parts, 0.02, 387, 0.8, 0.05).tolist() == [5]
    for queries, repeats in ((601, 3), (387, 5), (327, 10)):
        for fewer, is_enough in ((0, True), (1, False)):
            power = planned_power(
                parts,
                0.02,
                np.array([queries - float(fewer)]),
                np.array([repeats]),
                0.05,
            )
            assert (power[0] >= 0.8) == is_enough


def test_a_plan_is_the_share_of_estimates_that_find_the_difference():
    """Beside draws of the two variances; the noncentral t of expected ones would say 0.80."""
    rng = np.random.default_rng(12)
    parts = Components(
        np.array([0.12**2]), np.array([2 * 0.005**2]), np.array([2 * 0.05**2])
    )
    n, r, size = 539.0, 3, 200_000
    of_queries = (parts.queries + parts.noise / r) / n
    of_seeds = (parts.seeds / 2 + parts.noise / (2 * n)) / r  # of each system
    noise = parts.noise / (r * n)
    drawn_queries = of_queries * rng.chisquare(n - 1, size) / (n - 1)
    drawn = of_seeds * rng.chisquare(r - 1, (2, size)) / (r - 1)
    added = np.maximum(0, drawn.sum(axis=0) - noise)
    squares = drawn_queries**2 / (n - 1) + (drawn**2).sum(axis=0) / (r - 1)
    squares += noise**2 / (2 * (r - 1) * (n - 1))
    variance = drawn_queries + added
    degrees = np.where(added > 0, np.minimum(n - 1, variance**2 / squares), n - 1)
    truth = np.sqrt(of_queries + 2 * of_seeds - noise)
    difference = rng.normal(0.02, truth, size)
    p = 2 * stats.t.sf(np.abs(difference) / np.sqrt(variance), degrees)
    found = planned_power(parts, 0.02, np.array([n]), np.array([r]), 0.05)
    assert found[0] == pytest.approx(np.mean(p <= 0.05), abs=0.005)
    assert found[0] < 0.785


def test_without_seeds_a_plan_is_that_of_the_t_test_over_queries():
    nothing = Components(np.array([0.12**2]), np.zeros(1), np.zeros(1))
    for n in (10.0, 25.0, 100.0):
        difference = 0.12 * 2.9 / np.sqrt(n)
        found = planned_power(nothing, difference, np.array([n]), np.array([3]), 0.05)
        expected = t_power(np.array([2.9]), np.array([n - 1]), 0.05)
        assert found == pytest.approx(expected, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("repeats", "queries"), [(3, 601), (5, 387)])
def test_planned_queries_have_the_power(repeats, queries):
    rng, found = np.random.default_rng(10), 0
    for _ in range(1000):
        a, b = made_up(
            rng,
            (repeats, repeats),
            queries,
            seed=0.005,
            noise=0.05,
            sd=0.12,
            effect=0.02,
        )
        x = (a.mean(axis=0) - b.mean(axis=0))[None]
        found += (
            difference_variance(x, SeedVariance.of([a, b]), PAIR).two_sided_p()[0]
            <= 0.05
        )
    assert 760 <= found <= 850


# -- plans among ties ------------------------------------------------------------------------------


def runs_with_ties(rng, n_seeds, gain, share=0.2, n_queries=40, n_differing=None):
    """Return two systems with seeds; on a share of the queries they differ by ``gain / share``."""
    differs = rng.random(n_queries) < share
    if n_differing is not None:
        differs = np.arange(n_queries) < n_differing
    gains = [0.0, gain / share + rng.normal(0, 0.03, n_queries)]
    systems = []
    for of_queries in gains:
        seeds = rng.normal(0, 0.004 / share, (n_seeds, 1))
        noise = rng.normal(0, 0.02, (n_seeds, n_queries))
        systems.append(0.5 + np.where(differs, of_queries + seeds + noise, 0.0))
    difference = np.where(differs, systems[1].mean(axis=0) - systems[0].mean(axis=0), 0)
    return systems[::-1], difference[None]


@pytest.mark.parametrize("gain_of_pilot", [0.0, 0.02])
def test_planned_seeds_among_many_ties_are_as_few_as_find_the_difference(gain_of_pilot):
    """40 queries, some 8 of which differ. The observed difference counted twice: no number did."""
    rng = np.random.default_rng(1)
    planned = []
    for _ in range(40):
        systems, x = runs_with_ties(rng, 5, gain_of_pilot, n_differing=8)
        parts = components_of(x, SeedVariance.of(systems), PAIR).among_ties(x)
        planned.extend(repeats_with_queries(parts, 0.02, 40, 0.8, 0.05))
    n_seeds = int(np.median(planned))
    assert n_seeds in (3, 4)
    found = []
    for _ in range(600):
        systems, x = runs_with_ties(rng, n_seeds, 0.02)
        of_queries = SignificanceTest("t").of_pairs(x)
        variance = difference_variance(x, SeedVariance.of(systems), PAIR)
        found.append(variance.widened(of_queries, 0.05).p[0] <= 0.05)
    assert 0.73 <= np.mean(found) <= 0.88


def test_without_ties_a_plan_takes_the_components_as_they_are():
    rng = np.random.default_rng(0)
    runs = [rng.normal(0.5, 0.1, (4, 30)) for _ in range(2)]
    x = (runs[0].mean(axis=0) - runs[1].mean(axis=0))[None]
    parts = components_of(x, SeedVariance.of(runs), PAIR)
    assert parts.among_ties(x).queries == pytest.approx(parts.queries)
    assert parts.among_ties(x).ties == 0


def test_variances_of_rounding_are_0():
    """Seeds that differ by rounding alone had a variance of 4.8e-17."""
    base = np.arange(20) / 10
    runs = [base + 0.1 * np.arange(3)[:, None] + shift for shift in (0.0, 0.1)]
    found = SeedVariance.of(runs)
    assert found.noise.tolist() == [0.0, 0.0]
    same = SeedVariance.of([np.tile(base / 3, (3, 1)) + 1e-17])
    assert same.seeds.tolist() == [0.0]
    x = (runs[0].mean(axis=0) - runs[1].mean(axis=0))[None]
    assert components_of(x, found, PAIR).queries.tolist() == [0.0]
