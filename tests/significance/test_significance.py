"""Tests and intervals against SciPy, statsmodels, enumeration by slow and obvious code, and laws."""

from __future__ import annotations

import itertools
import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats import multitest

from ir_lexirecall import significance
from ir_lexirecall._util.errors import called
from ir_lexirecall.significance import (
    TESTS,
    SignificanceTest,
    TestResult,
    margin_test,
    outcomes,
    preference_interval,
    resampling,
    smallest_p,
)

pytestmark = pytest.mark.sparse

PAIRED = [name for name in TESTS if name != "tukey"]
SIGNS = st.lists(st.integers(-1, 1), min_size=2, max_size=60)
SIXTHS = st.lists(
    st.integers(-6, 6).map(lambda number: number / 6), min_size=2, max_size=25
)
ALPHAS = st.sampled_from([0.001, 0.01, 0.05, 0.1, 0.3])
NUMBERS = st.one_of(
    st.integers(-3, 3).map(float),
    st.integers(-6, 6).map(lambda n: n / 6),
    st.floats(-1, 1),
)
# Pairs of a small number of queries, of numbers that are often tied.
PAIRS = st.integers(1, 14).flatmap(
    lambda queries: st.lists(
        st.lists(NUMBERS, min_size=queries, max_size=queries), min_size=1, max_size=4
    )
)
VALUES = st.tuples(st.integers(2, 4), st.integers(1, 6)).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(-3, 3), min_size=size[0], max_size=size[0]),
        min_size=size[1],
        max_size=size[1],
    )
)


def one_row(x):
    return np.array([x], dtype=float)


def of_one(name, x, **options) -> TestResult:
    """The result for one pair."""
    bounds = options.pop("bounds", None)
    return SignificanceTest(name, progress=False, **options).of_pairs(
        one_row(x), bounds=bounds
    )[0]


# -- sign test ---------------------------------------------------------------------------------------


@given(SIGNS, ALPHAS)
@settings(max_examples=60)
def test_sign_test_is_the_exact_binomial_test_without_ties(x, alpha):
    wins, losses = x.count(1), x.count(-1)
    result = of_one("sign", x, alpha=alpha)
    if wins + losses == 0:
        assert [float(number) for number in result.arrays] == [0, -1, 1, 1, 0]
    else:
        peer = stats.binomtest(wins, wins + losses)
        assert result.p == pytest.approx(peer.pvalue, rel=1e-9)
        assert (
            result.estimate
            == result.effect_size
            == pytest.approx((wins - losses) / (wins + losses))
        )
        share = peer.proportion_ci(1 - alpha, "exact")
        assert (result.low, result.high) == pytest.approx(
            (2 * share.low - 1, 2 * share.high - 1), abs=1e-12
        )


@pytest.mark.parametrize("decided", range(1, 41))
@pytest.mark.parametrize("alpha", [0.05, 0.01, 2.0**-4, 2.0**-9])
def test_the_interval_of_the_sign_test_leaves_out_0_where_the_tail_is_at_most_half_of_alpha(
    decided, alpha
):
    """2^-4 and 2^-9 are p of 5 and 10 wins in a row: where p is alpha, the test rejects."""
    for wins in range(decided + 1):
        result = of_one("sign", [1] * wins + [-1] * (decided - wins), alpha=alpha)
        tail = Fraction(
            sum(math.comb(decided, i) for i in range(min(wins, decided - wins) + 1)),
            2**decided,
        )
        assert (not result.low <= 0 <= result.high) == (2 * tail <= Fraction(alpha))


# -- t-test ------------------------------------------------------------------------------------------


@given(SIXTHS, ALPHAS)
@settings(max_examples=60)
def test_t_test_is_that_of_scipy(x, alpha):
    result = of_one("t", x, alpha=alpha)
    assert result.estimate == pytest.approx(statistics.mean(x), abs=1e-15)
    if len({abs(value) for value in x} - {0}) > 1:
        peer = stats.ttest_1samp(x, 0)
        least = 2.0 ** (1 - sum(value != 0 for value in x))  # of exchanges of signs
        assert result.p == pytest.approx(max(peer.pvalue, least), rel=1e-9, abs=1e-300)
        low, high = peer.confidence_interval(1 - alpha)
        if least > alpha:  # nothing is rejected, so that the interval holds 0
            low, high = min(low, 0), max(high, 0)
        assert (result.low, result.high) == pytest.approx(
            (low, high), rel=1e-9, abs=1e-12
        )
        assert result.effect_size == pytest.approx(
            statistics.mean(x) / statistics.stdev(x), rel=1e-9, abs=1e-12
        )


# -- Wilcoxon ----------------------------------------------------------------------------------------


@given(
    st.one_of(
        SIXTHS, st.lists(st.floats(-1, 1), min_size=2, max_size=25, unique_by=abs)
    )
)
@settings(max_examples=60)
def test_wilcoxon_is_that_of_scipy_without_zeros(x):
    differs = [value for value in x if value]
    magnitudes = sorted(set(map(abs, differs)))
    # Magnitudes that are equal but for rounding tie here, and are told apart by SciPy.
    assume(
        all(
            larger - smaller > 1e-8 * larger
            for smaller, larger in itertools.pairwise(magnitudes)
        )
    )
    result = of_one("wilcoxon", x)
    if not differs:
        assert (result.p, result.effect_size) == (1, 0)
        return
    ranks = [
        statistics.mean(
            i for i, v in enumerate(sorted(map(abs, differs)), 1) if v == abs(d)
        )
        for d in differs
    ]
    above = sum(rank for rank, value in zip(ranks, differs, strict=True) if value > 0)
    below = sum(rank for rank, value in zip(ranks, differs, strict=True) if value < 0)
    assert result.effect_size == pytest.approx(
        (above - below) / (above + below), abs=1e-12
    )
    if len(set(map(abs, differs))) == len(
        differs
    ):  # what SciPy does with ties depends on its version
        assert result.p == pytest.approx(stats.wilcoxon(differs).pvalue, rel=1e-12)


def signed_rank_sums(magnitudes: list[Fraction]) -> list[Fraction]:
    """W for every assignment of signs, by enumeration."""
    ranks = [
        Fraction(sum(2 * (b < a) + (b == a) for b in magnitudes) + 1, 2)
        for a in magnitudes
    ]
    return [
        sum(itertools.compress(ranks, signs))
        for signs in itertools.product([0, 1], repeat=len(ranks))
    ]


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
@settings(max_examples=150)
def test_wilcoxon_with_ties_counts_all_assignments_of_signs(x):
    differs = [Fraction(value) for value in x if value]
    sums = signed_rank_sums([abs(value) for value in differs])
    observed = sums[
        [*itertools.product([0, 1], repeat=len(differs))].index(
            tuple(int(d > 0) for d in differs)
        )
    ]
    tail = min(sum(s <= observed for s in sums), sum(s >= observed for s in sums))
    assert of_one("wilcoxon", x).p == min(1, 2 * tail / len(sums))


@pytest.mark.slow
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9), ALPHAS)
@settings(max_examples=200)
def test_the_interval_of_wilcoxon_is_where_interpolated_w_passes_what_the_test_rejects(
    x, alpha
):
    """The definition, in fractions: every count and every distribution by enumeration."""
    result = of_one("wilcoxon", x, alpha=alpha)
    x = [Fraction(value) for value in x if value]
    if not x:
        assert (result.estimate, result.low, result.high) == (0, -math.inf, math.inf)
        return
    walsh = sorted((a + b) / 2 for i, a in enumerate(x) for b in x[i:])
    median = statistics.median(walsh)

    def threshold(sums):
        """Half-way between the largest W that is rejected and the next one."""
        values = sorted(set(sums))
        rejected = [
            v
            for v in values
            if 2 * sum(s <= v for s in sums) <= Fraction(alpha) * len(sums)
        ]
        return (rejected[-1] + values[len(rejected)]) / 2 if rejected else None

    def on_one_scale(w, threshold, n):
        middle = Fraction(n * (n + 1), 4)
        return (
            (w - middle) / (middle - threshold)
            if threshold is not None
            else Fraction(0)
        )

    of_all = threshold(signed_rank_sums([abs(value) for value in x]))
    if of_all is None:
        assert (result.low, result.high) == (-math.inf, math.inf)
        assert result.estimate == pytest.approx(float(median))
        return
    at_zero = sum(
        2 * (a + b > 0) + (a + b == 0) for i, a in enumerate(x) for b in x[i:]
    )
    zero = on_one_scale(Fraction(at_zero, 2), of_all, len(x))
    curve = {Fraction(0): zero}
    for theta in {*walsh} - {0}:
        w = Fraction(sum(2 * (a > theta) + (a == theta) for a in walsh), 2)
        w = on_one_scale(w, of_all, len(x))
        curve[theta] = max(w, zero) if theta < 0 else min(w, zero)
    knots = sorted(curve)

    def crossing(level):
        if curve[knots[0]] <= level:
            return knots[0]
        for a, b in itertools.pairwise(knots):
            if curve[a] >= level > curve[b] or (curve[a] > level >= curve[b]):
                return a + (b - a) * (curve[a] - level) / (curve[a] - curve[b])
        return knots[-1]

    low, high = crossing(1), crossing(-1)
    assert (result.low, result.high) == pytest.approx(
        (float(low), float(high)), abs=1e-12
    )
    assert result.estimate == pytest.approx(
        float(min(max(median, low), high)), abs=1e-12
    )


@pytest.mark.parametrize("queries", [6, 11, 30, 60, 150, 400])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_interval_of_wilcoxon_without_ties_ends_at_order_statistics_of_the_walsh_averages(
    queries, alpha
):
    """Those with the largest k such that P(W < k) <= alpha / 2: Hollander, Wolfe, Nonparametric Statistical Methods."""
    for x in np.random.default_rng(queries).normal(0.3, 1, size=(3, queries)):
        i, j = np.triu_indices(queries)
        walsh = np.sort((x[i] + x[j]) / 2)
        if queries <= 50:
            k = 1
            while (
                stats.wilcoxon(x - (walsh[k - 1] + walsh[k]) / 2).pvalue <= alpha
            ):  # centres that are rejected
                k += 1
        else:
            deviation = math.sqrt(queries * (queries + 1) * (2 * queries + 1) / 24)
            k = math.floor(len(walsh) / 2 + stats.norm.ppf(alpha / 2) * deviation) + 1
        result = of_one("wilcoxon", x, alpha=alpha)
        assert (result.low, result.high) == pytest.approx(
            (walsh[k - 1], walsh[-k]), rel=1e-12
        )
        assert result.estimate == pytest.approx(np.median(walsh), rel=1e-12)


@pytest.mark.parametrize("zeros", [1, 30, 300])
def test_zeros_change_nothing_of_what_wilcoxon_gives(zeros):
    """So the interval is about the differences that are not 0, as the test is."""
    for queries in (6, 20, 60):
        x = (
            np.random.default_rng(queries)
            .normal(0.3, 1, queries)
            .round(1 + queries % 2)
        )
        x = x[x != 0]
        without, result = (
            of_one("wilcoxon", x),
            of_one("wilcoxon", [*x, *[0.0] * zeros]),
        )
        assert vars(result) == vars(without)


def test_fewer_than_6_differences_have_no_interval_by_wilcoxon():
    for differing, has_ends in ((5, False), (6, True)):
        result = of_one("wilcoxon", [*np.linspace(0.1, 0.9, differing), *[0.0] * 40])
        assert np.isfinite([result.low, result.high]).all() == has_ends
        assert result.estimate == pytest.approx(0.5)


def test_the_normal_approximation_comes_close_to_the_exact_distribution(monkeypatch):
    x = np.random.default_rng(2).normal(0.2, 1, size=(30, 50)).round(1)
    exact = SignificanceTest("wilcoxon").of_pairs(x)
    significance.signed_rank._null.cache_clear()
    monkeypatch.setattr(significance.signed_rank, "MOST_EXACT", 10)
    normal = SignificanceTest("wilcoxon").of_pairs(x)
    significance.signed_rank._null.cache_clear()
    assert (exact.p != normal.p).all()
    assert exact.p == pytest.approx(normal.p, abs=0.01)
    assert exact.low == pytest.approx(normal.low, abs=0.02)


def test_few_levels_of_many_queries_are_exact():
    for row in np.random.default_rng(7).integers(-3, 4, size=(4, 150)):
        differs = row[row != 0]
        ranks = stats.rankdata(np.abs(differs))
        distribution = np.ones(1)  # of twice W
        for rank, ties in zip(*np.unique(ranks, return_counts=True), strict=True):
            of_group = np.zeros(int(2 * rank) * ties + 1)
            of_group[:: int(2 * rank)] = stats.binom.pmf(np.arange(ties + 1), ties, 0.5)
            distribution = np.convolve(distribution, of_group)
        w = int(2 * ranks[differs > 0].sum())
        tail = min(distribution[: w + 1].sum(), distribution[w:].sum())
        assert of_one("wilcoxon", row).p == pytest.approx(2 * tail, rel=1e-9)


def test_wilcoxon_ranks_equal_differences_equally():
    """1/2 - 1/3 = 1/3 - 1/6 = 1/4 - 1/12 = 1/6, though floats tell the three apart."""
    exact = [
        Fraction(1, 6),
        Fraction(1, 6),
        Fraction(-1, 6),
        *(Fraction(n, 20) for n in (5, 2, 6, 16)),
    ]
    rounded = [1 / 2 - 1 / 3, 1 / 3 - 1 / 6, 1 / 12 - 1 / 4, 0.25, 0.1, 0.3, 0.8]
    result, expected = (
        of_one("wilcoxon", rounded),
        of_one("wilcoxon", [float(value) for value in exact]),
    )
    assert result.p == expected.p
    assert result.effect_size == expected.effect_size
    assert (result.low, result.high) == pytest.approx((expected.low, expected.high))


# -- bootstrap ---------------------------------------------------------------------------------------


def squared_t(sample):
    """Square of mean over standard error, exactly; infinite where only the latter is 0."""
    mean = sum(sample) / len(sample)
    if mean == 0:
        return 0
    variance = sum((value - mean) ** 2 for value in sample) / (len(sample) - 1)
    return mean**2 * len(sample) / variance if variance else math.inf


@given(
    st.lists(
        st.lists(st.integers(-2, 2), min_size=7, max_size=7), min_size=1, max_size=4
    ),
    st.integers(0, 99),
)
@settings(max_examples=30)
def test_bootstrap_is_the_share_of_shifted_resamples_with_a_larger_t(rows, seed):
    test = SignificanceTest(
        "bootstrap", n_resamples=59, seed=seed, alpha=0.1, progress=False
    )
    result = test.of_pairs(np.array(rows, dtype=float))
    draws = np.random.default_rng(seed).integers(7, size=(59, 7)).tolist()
    for i, row in enumerate(rows):
        differing = np.count_nonzero(row)
        if differing < 5 or len({abs(value) for value in row} - {0}) < 2:
            # No exchange of signs is significant, or all are enumerated: test_small_samples.py.
            continue
        mean = Fraction(sum(row), 7)
        squares = [squared_t([row[i] - mean for i in draw]) for draw in draws]
        observed = squared_t([Fraction(v) for v in row])
        share = (1 + sum(square >= observed for square in squares)) / 60
        assert result.p[i] == max(share, 2.0 ** (1 - differing))
        variance = sum((value - mean) ** 2 for value in row) / 6
        furthest = sorted(squares, reverse=True)[
            5
        ]  # of 60 with the sample itself, a tenth lie as far away
        half = math.sqrt(furthest * variance / 7) if variance else 0
        assert (result.low[i], result.high[i]) == pytest.approx(
            (float(mean) - half, float(mean) + half), rel=1e-6, abs=1e-12
        )


# -- randomisation -----------------------------------------------------------------------------------


def randomised_p(x: list[Fraction], signs) -> Fraction:
    """Share of assignments of signs whose sum is at least as far from 0."""
    sums = [sum(s * v for s, v in zip(row, x, strict=True)) for row in signs]
    return Fraction(sum(abs(s) >= abs(sum(x)) for s in sums), len(sums))


@pytest.mark.slow
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=6), ALPHAS)
@settings(max_examples=60)
def test_randomisation_of_few_queries_enumerates_all_signs(x, alpha):
    x = [Fraction(value, 6) for value in x]
    signs = [*itertools.product([-1, 1], repeat=len(x))]
    result = of_one("randomisation", [float(value) for value in x], alpha=alpha)
    assert result.p == pytest.approx(float(randomised_p(x, signs)), rel=1e-14)
    if len({abs(value) for value in x} - {0}) < 2:
        return
    # The interval holds what is not rejected as the centre, and nothing else.
    ends = [
        Fraction(sum(part), len(part))
        for n in range(1, len(x) + 1)
        for part in itertools.combinations(x, n)
    ]
    ends = sorted({*ends, min(ends) - 1, max(ends) + 1})
    between = [(a + b) / 2 for a, b in itertools.pairwise(ends)]
    kept = [
        theta
        for theta in between
        if randomised_p([v - theta for v in x], signs) > Fraction(alpha)
    ]
    for theta in between:
        assert (result.low <= theta <= result.high) == (theta in kept)


@pytest.mark.slow
@given(st.lists(st.integers(-3, 3), min_size=13, max_size=16), st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_randomisation_of_more_queries_samples_signs(x, seed):
    """The observed signs are one of the assignments."""
    assume(len({abs(value) for value in x} - {0}) > 1)  # else no signs are sampled
    result = of_one(
        "randomisation", np.array(x) / 3, n_resamples=99, seed=seed, alpha=0.1
    )
    exchanged = np.random.default_rng(seed).random((99, len(x))) < 0.5
    signs = [[1] * len(x), *np.where(exchanged, -1, 1).tolist()]
    x = [Fraction(value, 3) for value in x]
    assert result.p == pytest.approx(float(randomised_p(x, signs)), rel=1e-14)
    for theta in [*np.linspace(-1, 1, 15), *x[:5]]:
        theta = Fraction(theta) + Fraction(
            1, 10**6
        )  # beside the values where sums are tied
        kept = randomised_p([value - theta for value in x], signs) > Fraction(1, 10)
        assert (result.low <= theta <= result.high) == kept


# -- Tukey's HSD -------------------------------------------------------------------------------------


@given(VALUES, st.integers(0, 99))
@example(
    [[0, -1], [0, 3], [2, 3], [0, 1], [1, -3]], 0
)  # thirds whose means differ in their last bits only
@settings(max_examples=40)
def test_tukey_hsd_is_the_share_of_permutations_with_a_larger_range(values, seed):
    systems, queries = len(values[0]), len(values)
    test = SignificanceTest(
        "tukey", n_resamples=59, seed=seed, alpha=0.1, progress=False
    )
    result = test.of_all(np.array(values) / 3)
    rng = np.random.default_rng(seed)
    ranges = []
    for _ in range(59):
        total = [
            sum(column)
            for column in zip(*rng.permuted(values, axis=1).tolist(), strict=True)
        ]
        ranges.append(max(total) - min(total))
    total = [sum(column) for column in zip(*values, strict=True)]
    critical = sorted(ranges, reverse=True)[5] / 3 / queries
    for i, j in itertools.product(range(systems), repeat=2):
        larger = [spread >= abs(total[i] - total[j]) for spread in ranges]
        differing = sum(row[i] != row[j] for row in values)
        p = max((1 + sum(larger)) / 60, min(1, 2.0 ** (1 - differing)))
        assert result.p[i, j] == (1 if i == j else p)
        difference, half = (total[i] - total[j]) / 3 / queries, critical * (i != j)
        assert result.estimate[i, j] == pytest.approx(difference, abs=1e-12)
        low, high = difference - half, difference + half
        if p > 0.1:
            low, high = min(low, 0), max(high, 0)
        assert result.low[i, j] == pytest.approx(low, abs=1e-12)
        assert result.high[i, j] == pytest.approx(high, abs=1e-12)


# -- resampling --------------------------------------------------------------------------------------

PREFERENCES = np.random.default_rng(3).choice(
    [-1.0, 0.0, 1.0], p=[0.3, 0.3, 0.4], size=(20, 60)
)


@pytest.mark.parametrize("block", [1, 100, 700, 12_345])
@pytest.mark.parametrize("name", ["bootstrap", "randomisation", "tukey"])
def test_results_do_not_depend_on_the_size_of_blocks(monkeypatch, name, block):
    test = SignificanceTest(name, n_resamples=300, seed=1)

    def result():
        return (
            test.of_all(PREFERENCES) if name == "tukey" else test.of_pairs(PREFERENCES)
        )

    at_once = result()
    for module in (resampling, outcomes):
        monkeypatch.setattr(module, "BLOCK", block)
    in_blocks = result()
    assert in_blocks.p.tolist() == at_once.p.tolist()
    for array, expected in zip(in_blocks.arrays, at_once.arrays, strict=True):
        assert array == pytest.approx(expected, rel=1e-12, abs=1e-15)


# -- several comparisons -----------------------------------------------------------------------------

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning:statsmodels")
@pytest.mark.parametrize(
    "method",
    ["bonferroni", "sidak", "holm", "holm-sidak", "simes-hochberg", "fdr_bh", "fdr_by"],
)
@given(P_VALUES, st.sampled_from([0.01, 0.05, 0.2]))
@settings(max_examples=5)
def test_corrections_are_those_of_statsmodels(method, p, alpha):
    adjusted, reject = significance.corrected(np.array(p), method, alpha)
    expected_reject, expected, *_ = multitest.multipletests(
        p, alpha=alpha, method=method
    )
    assert adjusted.tolist() == expected.tolist()
    assert reject.tolist() == expected_reject.tolist()


# -- test and interval agree: laws of all tests ------------------------------------------------------


def results(name, x, **options):
    """The result of any test; of Tukey's HSD, the matrix as a row."""
    bounds = options.pop("bounds", None)
    test = SignificanceTest(
        name, n_resamples=options.pop("n_resamples", 99), progress=False, **options
    )
    if name != "tukey":
        return test.of_pairs(x, bounds=bounds)
    off_diagonal = ~np.eye(len(x), dtype=bool)
    return test.of_all(x.T, bounds=bounds)[off_diagonal]


@pytest.mark.parametrize("name", TESTS)
@given(PAIRS, ALPHAS, st.sampled_from([None, (-1, 1), (-4, 4)]))
@settings(max_examples=80, deadline=None)
def test_an_interval_leaves_out_0_exactly_where_the_test_rejects(
    name, x, alpha, bounds
):
    result = results(name, np.array(x), alpha=alpha, bounds=bounds)
    leaves_out = (result.low > 0) | (result.high < 0)
    assert leaves_out.tolist() == (result.p <= alpha).tolist()
    assert ((result.p > 0) | (name == "t")).all()
    assert (result.p <= 1).all()


@pytest.mark.parametrize("name", TESTS)
@given(PAIRS, ALPHAS)
@settings(max_examples=60, deadline=None)
def test_an_interval_holds_its_estimate_and_never_leaves_the_range(name, x, alpha):
    result = results(
        name,
        np.clip(x, -1, 1),
        alpha=alpha,
        bounds=(-2, 2) if name == "tukey" else (-1, 1),
    )
    range_ = 2 if name == "tukey" else 1
    assert (-range_ <= result.low).all()
    assert (result.high <= range_).all()
    assert (result.low <= result.estimate + 1e-15).all()
    assert (result.estimate - 1e-15 <= result.high).all()


@pytest.mark.sparse
@pytest.mark.parametrize("name", TESTS)
@given(PAIRS, ALPHAS, st.integers(-200, 200))
@settings(max_examples=40, deadline=None)
def test_powers_of_two_change_no_bit_of_p(name, x, alpha, exponent):
    x = np.array(x)
    x[np.abs(x) < 1e-60] = 0  # what becomes subnormal loses bits
    result, expected = (
        results(name, np.ldexp(x, exponent), alpha=alpha),
        results(name, x, alpha=alpha),
    )
    assert result.p.tolist() == expected.p.tolist()
    assert result.effect_size.tolist() == expected.effect_size.tolist()
    if name == "sign":
        exponent = 0
    smallest = np.nextafter(0, 1)  # stands for what is just above 0, at any scale
    for end, unscaled in ((result.low, expected.low), (result.high, expected.high)):
        moved = np.abs(unscaled) > smallest
        assert end[moved].tolist() == np.ldexp(unscaled, exponent)[moved].tolist()
        assert end[~moved].tolist() == unscaled[~moved].tolist()
    assert result.estimate.tolist() == np.ldexp(expected.estimate, exponent).tolist()


@pytest.mark.parametrize("name", TESTS)
@given(PAIRS, ALPHAS)
@settings(max_examples=40, deadline=None)
def test_exchanging_the_two_systems_turns_everything_around(name, x, alpha):
    x = np.array(x)
    result, exchanged = results(name, x, alpha=alpha), results(name, -x, alpha=alpha)
    exact = name != "tukey"  # whose permutations then add other numbers
    tolerance = 0 if exact else 1e-9
    assert exchanged.p.tolist() == result.p.tolist()
    assert exchanged.effect_size == pytest.approx(-result.effect_size, abs=tolerance)
    assert exchanged.low == pytest.approx(-result.high, abs=tolerance)
    assert exchanged.high == pytest.approx(-result.low, abs=tolerance)
    assert exchanged.estimate == pytest.approx(-result.estimate, abs=tolerance)


@pytest.mark.parametrize("name", ["t", "wilcoxon", "bootstrap", "randomisation"])
@pytest.mark.parametrize("queries", [7, 12, 20, 60])
def test_an_interval_holds_every_difference_that_the_test_does_not_reject(
    name, queries
):
    rng = np.random.default_rng(queries)
    x = rng.normal(0.5, 1.4, queries)
    result = of_one(name, x, n_resamples=199, alpha=0.1)
    assert math.isfinite(result.low)
    for theta in [
        *rng.uniform(-1.5, 2.5, 30),
        result.low * 1.0001,
        result.high * 1.0001,
    ]:
        p = of_one(name, x - theta, n_resamples=199, alpha=0.1).p
        assert (result.low <= theta <= result.high) == (p > 0.1)


@pytest.mark.parametrize("queries", [1, 2, 30])
@pytest.mark.parametrize("name", PAIRED)
def test_where_nothing_differs_p_is_1_and_the_effect_0(name, queries):
    result = SignificanceTest(name).of_pairs(np.zeros((3, queries)), bounds=(-1, 1))
    assert result.p.tolist() == [1, 1, 1]
    assert result.effect_size.tolist() == [0, 0, 0]
    assert result.estimate.tolist() == [0, 0, 0]
    if queries == 1 or name in ("sign", "wilcoxon"):
        end = 1.0
    else:
        end = preference_interval(np.zeros((1, queries)))[1][0]
    assert result.low.tolist() == [-end] * 3
    assert result.high.tolist() == [end] * 3


@pytest.mark.parametrize("name", TESTS)
def test_without_queries_nothing_is_estimated_and_nothing_rejected(name):
    test = SignificanceTest(name)
    empty = (
        test.of_all(np.zeros((0, 2)))
        if name == "tukey"
        else test.of_pairs(np.zeros((3, 0)))
    )
    assert (empty.p == 1).all()
    assert np.isnan(empty.estimate).all()
    assert (
        empty.low == (-1 if name == "sign" and empty.low.ndim == 1 else -np.inf)
    ).all()


# -- bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"name": "foo"},
            "unknown test 'foo'; choose from sign, t, wilcoxon, bootstrap, randomisation, tukey",
        ),
        (
            {"name": "Wilcoxn"},
            "unknown test 'Wilcoxn'; choose from sign, t, .*; did you mean 'wilcoxon'\\?",
        ),
        (
            {"name": "permutation"},
            "unknown test 'permutation'; did you mean 'randomisation'\\? Choose",
        ),
        (
            {"name": "randomization"},
            "unknown test 'randomization'; .*; did you mean 'randomisation'\\?",
        ),
        ({"name": "t-test"}, "unknown test 't-test'; did you mean 't'\\?"),
        ({"name": "T"}, "unknown test 'T'; did you mean 't'\\?"),
        ({"name": 3}, "unknown test 3; choose from"),
        ({"name": ["t"]}, r"unknown test \['t'\]; choose from"),
        (
            {"correction": "nope"},
            "unknown correction 'nope'; choose from holm, bonferroni, fdr_bh, ",
        ),
        (
            {"correction": "bonferoni"},
            "unknown correction 'bonferoni'; .*; did you mean 'bonferroni'\\?",
        ),
        ({"correction": ["holm"]}, r"unknown correction \['holm'\]"),
        ({"alpha": 0}, "alpha must be a number above 0 and below 1, not 0"),
        ({"alpha": 1.0}, "alpha must be a number above 0 and below 1, not 1.0"),
        ({"alpha": True}, "alpha must be a number above 0 and below 1, not True"),
        ({"alpha": "0.05"}, "alpha must be a number above 0 and below 1, not '0.05'"),
        ({"alpha": math.nan}, "alpha must be a number above 0 and below 1, not nan"),
        ({"n_resamples": 0}, "n_resamples must be an integer of at least 1, not 0"),
        ({"n_resamples": 1.5}, "n_resamples must be an integer of at least 1, not 1.5"),
        ({"seed": -1}, "seed must be an integer of at least 0, not -1"),
        ({"seed": None}, "seed must be an integer of at least 0, not None"),
    ],
)
def test_bad_options_are_named_under_the_function_that_the_user_called(
    options, message
):
    with pytest.raises(ValueError, match=f"^SignificanceTest: {message}"):
        SignificanceTest(**options)
    with pytest.raises(ValueError, match=f"^compare: {message}"), called("compare"):
        SignificanceTest(**options)


def test_a_correction_that_needs_statsmodels_says_so(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "statsmodels.stats.multitest", None)
    test = SignificanceTest(correction="fdr_bh")
    with pytest.raises(
        ModuleNotFoundError,
        match=r"'fdr_bh', unlike 'holm' and None, needs statsmodels: .*'\.\[compare\]'",
    ):
        significance.corrected(np.array([0.5, 0.1]), test.correction, 0.05)
    with pytest.raises(ValueError, match="unknown correction 3"):
        SignificanceTest(correction=3)


@pytest.mark.parametrize(
    "bad", [[1.0, 2.0], [[1.0, math.nan]], [[math.inf]], [[[1.0]]]]
)
def test_tests_take_matrices_of_finite_numbers(bad):
    with pytest.raises(
        ValueError, match=r"^of_pairs: x must be a matrix of finite numbers"
    ):
        SignificanceTest().of_pairs(np.array(bad))
    with pytest.raises(
        ValueError, match=r"^of_all: values must be a matrix of finite numbers"
    ):
        SignificanceTest("tukey").of_all(np.array(bad))


def test_tukey_hsd_has_no_pairs_and_the_others_only_pairs():
    with pytest.raises(ValueError, match="all systems at once; call of_all"):
        SignificanceTest("tukey").of_pairs(np.ones((1, 3)))
    with pytest.raises(
        ValueError,
        match="of_all: sign tests pairs of systems; call of_pairs with their differences",
    ):
        SignificanceTest("sign").of_all(np.ones((3, 2)))


@pytest.mark.parametrize("p", [[0.05], [0.025, 0.05], [0.0125, 0.0125, 0.025, 0.05]])
def test_holm_rejects_where_p_is_exactly_at_its_threshold(p):
    adjusted, reject = significance.corrected(np.array(p), "holm", 0.05)
    assert reject.all()
    assert adjusted.tolist() == [0.05] * len(p)


# -- what mutation testing found untested ----------------------------------------------------------


@pytest.mark.parametrize(
    "alpha", [0.001, 0.01, 0.05, 0.07, 0.1, 0.29, 0.57, 0.58, 0.999]
)
def test_as_many_resamples_may_be_as_extreme_as_p_allows(alpha):
    """By trying all counts: 0.29 * 100 is below 29 in floats, yet p = 29 / 100 rejects."""
    for n_resamples in range(1, 300):
        allowed = [k for k in range(n_resamples + 2) if k / (n_resamples + 1) <= alpha]
        assert outcomes.most_extreme(n_resamples, alpha) == max(allowed)


@pytest.mark.parametrize("queries", [3, 5, 8, 12, 13, 50])
@pytest.mark.parametrize("name", PAIRED)
def test_the_smallest_one_sided_p_is_reached(name, queries):
    test = SignificanceTest(name, n_resamples=99)
    x = -np.random.default_rng(queries).uniform(0.299, 0.3, (1, queries))
    least = smallest_p(test, queries, one_sided=True)
    p = margin_test(test, x, 0.01).worse
    if (
        name == "t" and queries > 5
    ):  # its p falls with the spread, the floor with queries
        assert p[0] >= least
    else:
        np.testing.assert_allclose(p, least)


@pytest.mark.parametrize("queries", [0, 1, 2, 5, 12, 13, 50, 51, 200])
@pytest.mark.parametrize("name", TESTS)
def test_no_p_is_below_the_smallest(name, queries):
    test = SignificanceTest(name, n_resamples=99)
    least = smallest_p(test, queries)
    rng = np.random.default_rng(queries)
    x = np.concatenate(
        [
            np.full((1, queries), 1.0),
            rng.uniform(0.9, 1, (50, queries)),
            rng.normal(0, 1, (50, queries)),
        ]
    )
    if name == "tukey":
        values = np.concatenate([x, 10 + x]).T
        p = test.of_all(values).p if queries else np.ones(1)
    else:
        p = test.of_pairs(
            x[1:] if name in ("bootstrap", "randomisation") and queries > 8 else x
        ).p  # equal differences are not resampled
    assert (p >= least).all()
    if (
        queries > 2
    ):  # of the bootstrap, few queries have many resamples without any spread
        close = pytest.approx(least, rel=1e-12, abs=1e-3 if name == "t" else 0)
        assert p.min() == close or (
            name in ("randomisation", "tukey") and p.min() <= 0.03
        )


@pytest.mark.parametrize("name", TESTS)
def test_without_pairs_there_is_no_result(name):
    test = SignificanceTest(name, n_resamples=9)
    if name == "tukey":
        assert test.of_all(np.zeros((5, 1))).p.tolist() == [[1]]
    else:
        assert [array.shape for array in test.of_pairs(np.zeros((0, 5))).arrays] == [
            (0,)
        ] * 5


def test_bounds_hold_0():
    with pytest.raises(
        ValueError,
        match=r"bounds must be two numbers with 0 between them, not \(1, 2\)",
    ):
        SignificanceTest().of_pairs(np.ones((1, 3)), bounds=(1, 2))


def test_a_test_without_a_name_says_which_there_are() -> None:
    with pytest.raises(
        ValueError, match=r"of_pairs: name the test: choose from sign, t, "
    ):
        SignificanceTest().of_pairs(np.ones((1, 3)))
