"""One-sided p-values, margins and the words for them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from ir_lexirecall.significance import (
    MarginTest,
    SignificanceTest,
    margin_test,
    margin_test_of_all,
    margin_verdicts,
    one_sided_bounds,
    preference_interval,
)

PAIRED = ["sign", "t", "wilcoxon", "bootstrap", "randomisation"]
SIXTHS = st.lists(st.integers(-6, 6), min_size=2, max_size=7)
MARGINS = st.integers(0, 6)


def several_magnitudes(x: list[Fraction]) -> bool:
    return len({abs(value) for value in x} - {0}) > 1


NO_FLOOR = (
    1e-12  # width of a range that is less than any margin: no query can lose more
)


def one_sided(
    name: str, x: object, margin: float = 0.0, width: float = NO_FLOOR, **options: int
) -> MarginTest:
    return margin_test(
        SignificanceTest(name, progress=False, **options),
        np.atleast_2d(np.array(x, dtype=float)),
        margin,
        width,
    )


def least_one_sided(x: list[float]) -> float:
    """What exchanging the signs of the differences that are not 0 gives at least."""
    return 2.0 ** -np.count_nonzero(x)


@given(SIXTHS, MARGINS)
def test_the_t_test_is_two_one_sided_tests_of_statsmodels(
    x: list[int], margin: int
) -> None:
    x = x[:4]  # of more queries, skewness counts, too
    if not several_magnitudes(x) or not all(
        several_magnitudes([v + s * margin for v in x]) for s in (1, -1)
    ):
        return
    found = one_sided("t", np.array(x) / 6, margin / 6)
    peer = DescrStatsW(np.array(x) / 6)
    for p, side in ((found.better, "larger"), (found.worse, "smaller")):
        expected = max(peer.ttest_mean(0, side)[1], least_one_sided(x))
        assert p[0] == pytest.approx(expected, rel=1e-6, abs=1e-12)
    within, lower, _ = peer.ttost_mean(-margin / 6, margin / 6)
    assert (found.not_worse[0], found.within[0]) == pytest.approx(
        (lower[1], within), rel=1e-6, abs=1e-12
    )


def test_from_5_queries_on_skewness_counts_against_a_one_sided_rejection() -> None:
    """Beside Johnson's formula, and Hall's increase where Johnson's falls, term by term, with SciPy's skewness."""
    rng = np.random.default_rng(0)
    for queries in (4, 5, 8, 25, 60):
        skewed = -rng.exponential(size=queries)
        for x in (-skewed - 0.9, skewed + 1.2, skewed + 5, rng.normal(size=queries)):
            g, n = stats.skew(x, bias=False), queries
            found = one_sided("t", x, 0.1)
            for p, sign, shift in (
                (found.better, 1, 0.0),
                (found.worse, -1, 0.0),
                (found.not_worse, 1, 0.1),
            ):
                t = (sign * x.mean() + shift) / stats.sem(x)
                a = sign * g / (3 * math.sqrt(n))
                top = -1 / (2 * a) if a < 0 else math.inf
                by_skewness = (
                    min(t, top) + a * min(t, top) ** 2 + sign * g / (6 * math.sqrt(n))
                )
                if t > top:  # the integral of (1 + a t)^2
                    by_skewness += ((1 + a * t) ** 3 - (1 + a * top) ** 3) / (3 * a)
                plain, corrected = stats.t.sf(t, n - 1), stats.t.sf(by_skewness, n - 1)
                expected = plain
                if n >= 5:
                    expected = min(max(plain, corrected), 100 * plain)
                floor = 0 if shift else 2.0**-n
                assert p[0] == pytest.approx(max(expected, floor))
        two_sided = max(stats.ttest_1samp(x, 0).pvalue, 2.0 ** (1 - queries))
        assert SignificanceTest("t").of_pairs(x[None]).p[0] == pytest.approx(two_sided)


def test_corrected_for_skewness_a_larger_margin_is_never_less_sure() -> None:
    x = -(np.random.default_rng(0).exponential(size=40) ** 2)
    p = [one_sided("t", x, margin).not_worse[0] for margin in np.linspace(0, 30, 40)]
    assert (np.diff(p) <= 0).all()
    assert p[-1] < 1e-6


@given(SIXTHS, MARGINS)
def test_randomisation_counts_all_assignments_of_signs_of_the_moved_differences(
    x: list[int], margin: int
) -> None:
    if not several_magnitudes(x):
        return
    found = one_sided("randomisation", np.array(x) / 6, margin / 6)
    for p, sign, shift in (
        (found.better, 1, 0),
        (found.worse, -1, 0),
        (found.not_worse, 1, margin),
    ):
        moved = np.array([sign * value + shift for value in x])
        sums = np.array([*itertools.product([-1, 1], repeat=len(x))]) @ moved
        assert p[0] == np.mean(sums >= moved.sum())


@given(SIXTHS, MARGINS)
def test_wilcoxon_counts_all_assignments_of_signs_of_the_moved_differences(
    x: list[int], margin: int
) -> None:
    found = one_sided("wilcoxon", np.array(x) / 6, margin / 6)
    for p, sign, shift in (
        (found.better, 1, 0),
        (found.worse, -1, 0),
        (found.not_worse, 1, margin),
    ):
        others = [value for value in x if value] or x  # ties are no evidence
        moved = [sign * value + shift for value in others if sign * value + shift]
        moved = np.array(moved)
        ranks = stats.rankdata(np.abs(moved))
        sums = [
            ranks[np.array(s, dtype=bool)].sum()
            for s in itertools.product([0, 1], repeat=len(moved))
        ]
        assert p[0] == pytest.approx(
            np.mean(np.array(sums) >= ranks[moved > 0].sum()), rel=1e-12
        )


def test_wilcoxon_of_many_queries_is_that_of_scipy() -> None:
    x = np.random.default_rng(0).normal(0.1, 1, 120)
    found = one_sided("wilcoxon", x, 0.2)
    for p, moved in ((found.better, x), (found.worse, -x), (found.not_worse, x + 0.2)):
        peer = stats.wilcoxon(
            moved, alternative="greater", correction=False, method="approx"
        )
        assert p[0] == pytest.approx(peer.pvalue, rel=1e-9)


@given(st.lists(st.integers(-1, 1), min_size=1, max_size=30), st.integers(0, 12))
def test_the_sign_test_tests_a_smaller_share_of_wins(x: list[int], tenths: int) -> None:
    found = one_sided("sign", x, tenths / 10)
    wins, losses = x.count(1), x.count(-1)

    def at_least(wins: int, share: float) -> float:
        return (
            stats.binomtest(
                wins, losses + x.count(1), share, alternative="greater"
            ).pvalue
            if wins
            else 1.0
        )

    share = max(0.0, (1 - tenths / 10) / 2)
    if wins + losses:
        assert found.better[0] == pytest.approx(at_least(wins, 0.5))
        if tenths <= 10:
            assert found.not_worse[0] == pytest.approx(at_least(wins, share), abs=1e-12)
            assert found.within[0] == pytest.approx(
                max(at_least(wins, share), at_least(losses, share)), abs=1e-12
            )
    if tenths > 10:  # no effect is that large
        assert found.within[0] == 0


@given(
    st.lists(st.integers(-2, 2), min_size=7, max_size=7), MARGINS, st.integers(0, 99)
)
def test_the_bootstrap_halves_the_share_of_centred_resamples(
    x: list[int], margin: int, seed: int
) -> None:
    sides = [[s * v + d for v in x] for s, d in ((1, 0), (-1, 0), (1, margin))]
    if not all(several_magnitudes(side) for side in [x, *sides]):
        return
    found = one_sided("bootstrap", x, margin, n_resamples=59, seed=seed)
    draws = np.random.default_rng(seed).integers(7, size=(59, 7)).tolist()
    mean = Fraction(sum(x), 7)

    def square(values: list[Fraction]) -> float:
        """Of t / sqrt(7)."""
        center = Fraction(sum(values)) / 7
        variance = sum((value - center) ** 2 for value in values) / 6
        return (center**2 / variance if variance else math.inf) if center else 0

    squares = [square([x[i] - mean for i in draw]) for draw in draws]
    for p, side in zip(
        (found.better, found.worse, found.not_worse), sides, strict=True
    ):
        observed = square([Fraction(value) for value in side])
        half = (1 + sum(one >= observed for one in squares)) / 120
        expected = half if sum(side) > 0 else 1 - half
        least = 0 if side is sides[2] else least_one_sided(x)
        assert p[0] == pytest.approx(max(expected, least))


def test_tukey_compares_with_the_largest_difference_of_permutations() -> None:
    values = np.random.default_rng(0).normal([0.0, 0.3, 0.9], 1, (25, 3))
    test = SignificanceTest("tukey", n_resamples=199, progress=False)
    whole = test.of_all(values)
    for margin in (0.0, 0.2, 1.5):
        found = margin_test_of_all(test, values, margin)
        assert np.minimum(found.better, found.worse) == pytest.approx(whole.p)
        off = ~np.eye(3, dtype=bool)
        assert (found.not_worse <= 0.05)[off].tolist() == (whole.low > -margin)[
            off
        ].tolist()
        assert (found.within == np.maximum(found.not_worse, found.not_worse.T)).all()


# -- laws --------------------------------------------------------------------------------------------

PAIRS = st.lists(st.integers(-6, 6).map(lambda n: n / 6), min_size=2, max_size=14)


@pytest.mark.parametrize("name", PAIRED)
@given(PAIRS, st.sampled_from([0.0, 0.1, 0.5, 1.0]))
@example([-0.5, 4 / 6], 0.5)
def test_a_larger_margin_is_easier_and_sides_mirror_each_other(
    name: str, x: list[float], margin: float
) -> None:
    found, further, mirrored = (
        one_sided(name, x, margin, n_resamples=99),
        one_sided(name, x, margin + 0.25, n_resamples=99),
        one_sided(name, np.negative(x), margin, n_resamples=99),
    )
    assert found.not_worse[0] <= found.better[0] + 1e-12
    assert found.worse[0] == pytest.approx(mirrored.better[0])
    assert found.within[0] == pytest.approx(mirrored.within[0])
    assert found.within[0] >= found.not_worse[0]
    one_magnitude = not several_magnitudes([round(6 * value) for value in x])
    if one_magnitude or not any(x):
        assert further.not_worse[0] <= found.not_worse[0] + 1e-12


@pytest.mark.parametrize(
    "name", ["sign", "t", "wilcoxon", "bootstrap", "randomisation"]
)
@given(PAIRS)
def test_two_sided_p_is_twice_the_smaller_one_sided(name: str, x: list[float]) -> None:
    if name == "randomisation" and len(x) > 12:
        return  # sampled: each side is counted for itself
    found = one_sided(name, x)
    both = SignificanceTest(name).of_pairs(np.array([x])).p[0]
    if name == "t" and len(x) >= 5:  # one-sided, it is corrected for skewness
        assert 2 * found.better[0] >= both * (1 - 1e-9) or 2 * found.worse[
            0
        ] >= both * (1 - 1e-9)
        return
    assert min(1.0, 2 * min(found.better[0], found.worse[0])) == pytest.approx(
        both, rel=1e-9
    )


@pytest.mark.parametrize("name", ["sign", "t"])
@given(PAIRS, st.floats(0.01, 0.9))
def test_not_worse_is_a_one_sided_lower_bound_above_the_margin(
    name: str, x: list[float], margin: float
) -> None:
    low = one_sided_bounds(SignificanceTest(name), np.array([x]), (-1, 1))[0][0]
    if abs(low + margin) > 1e-9 and (
        name == "sign" or several_magnitudes([round(6 * value) for value in x])
    ):
        assert (one_sided(name, x, margin).not_worse[0] <= 0.05) == (low > -margin)


@given(
    st.lists(st.integers(-1, 1), min_size=6, max_size=25).filter(any),
    st.sampled_from([0.05, 0.2, 0.6]),
)
def test_one_magnitude_goes_by_the_interval_with_one_more_win_and_loss(
    x: list[int], margin: float
) -> None:
    low, _ = preference_interval(np.array([x], dtype=float), 0.1)
    for name in ("t", "bootstrap", "randomisation"):
        found = one_sided(name, 0.1 * np.array(x), 0.1 * margin)
        if abs(low[0] + margin) > 1e-9 and low[0] <= 0:
            assert (found.not_worse[0] <= 0.05) == (
                low[0] > -margin or found.better[0] <= 0.05
            )
        assert found.not_worse[0] >= 2.0 ** -len(x)


@pytest.mark.parametrize("name", PAIRED)
def test_a_loss_of_exactly_the_margin_is_no_evidence_of_less(name: str) -> None:
    x = np.full((1, 30), 0.79 - 0.8)
    margin = 1.0 if name == "sign" else 0.01
    found = one_sided(name, x, margin)
    assert found.not_worse[0] >= 0.5
    assert found.worse[0] <= 0.05
    assert margin_verdicts(found, 0.05).tolist() == ["worse"]


# -- words -------------------------------------------------------------------------------------------


def test_the_first_verdict_that_holds_is_said() -> None:
    p = np.array([*itertools.product([0.01, 0.5], repeat=4)]).T
    found = margin_verdicts(
        MarginTest(better=p[0], worse=p[1], not_worse=p[2], within=p[3]), 0.05
    )
    for word, (better, worse, not_worse, within) in zip(found, p.T < 0.05, strict=True):
        first = [
            ("worse", worse),
            ("better", better),
            ("within margin", within),
            ("not worse", not_worse),
        ]
        assert word == next((name for name, holds in first if holds), "undecided")


# -- at the margin ----------------------------------------------------------


@pytest.mark.parametrize("name", ["sign", "t"])
@pytest.mark.parametrize("queries", [8, 16, 40])
def test_preferences_at_the_margin_are_called_not_worse_in_about_alpha(
    name: str, queries: int
) -> None:
    """Exactly, over all numbers of wins; a mean preference (or effect) of -0.2 that is the margin."""
    wins = np.arange(queries + 1)
    x = np.where(np.arange(queries) < wins[:, None], 1.0, -1.0)
    rejected = one_sided(name, x, 0.2).not_worse <= 0.05
    assert stats.binom.pmf(wins, queries, 0.4) @ rejected <= 0.065


@pytest.mark.parametrize(
    ("x", "margin", "message"),
    [
        (np.zeros(3), 0.1, "matrix of finite numbers"),
        (np.full((1, 3), np.nan), 0.1, "matrix of finite numbers"),
        (
            np.zeros((1, 3)),
            -0.1,
            "a margin must be a finite number of at least 0, not -0.1",
        ),
        (np.zeros((1, 3)), math.inf, "a margin must be a finite number"),
    ],
)
def test_bad_margins_are_refused(x: np.ndarray, margin: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        margin_test(SignificanceTest("t"), x, margin)


def test_tukey_has_no_pairs() -> None:
    with pytest.raises(ValueError, match="margin_test_of_all"):
        one_sided("tukey", np.zeros((1, 3)))
    with pytest.raises(ValueError, match="t tests pairs of systems; call margin_test"):
        margin_test_of_all(SignificanceTest("t"), np.zeros((3, 2)), 0.1)
