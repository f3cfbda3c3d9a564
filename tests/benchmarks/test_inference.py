"""Inference over collections: against plain loops, against SciPy, statsmodels and scikit-posthocs, and by simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ir_lexirecall import benchmark
from ir_lexirecall.significance import Resampled, deviations, draws, heterogeneity
from ir_lexirecall.significance import over_collections as inference
from tests.simulations.benchmark import World

pytestmark = pytest.mark.sparse

B = 200


@st.composite
def benchmarks(draw: st.DrawFn) -> list[np.ndarray]:
    """Values of a few runs on a few collections, some of them equal."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    runs = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(1, 8), min_size=1, max_size=4))
    values = [rng.random((runs, size)) for size in sizes]
    if draw(st.booleans()):
        values = [np.round(x) for x in values]
    return values


# -- plain loops -------------------------------------------------------------------------------------


def plain_stratified(
    values: list[np.ndarray], seed: int, B: int = B
) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard errors of resamples, number by number, with the same draws."""
    draws = [
        np.random.default_rng([seed, d]).integers(x.shape[1], size=(B, x.shape[1]))
        for d, x in enumerate(values)
    ]
    means, errors = np.zeros((len(values[0]), B)), np.zeros((len(values[0]), B))
    for run in range(len(values[0])):
        for b in range(B):
            samples = [x[run][draw[b]] for x, draw in zip(values, draws, strict=True)]
            means[run, b] = sum(sample.mean() for sample in samples) / len(values)
            variances = [
                sample.var(ddof=1) / len(sample) if len(sample) > 1 else 0.0
                for sample in samples
            ]
            errors[run, b] = np.sqrt(sum(variances)) / len(values)
    return means, errors


def plain_two_level(
    values: list[np.ndarray], seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """The same for collections that are resampled, too."""
    drawn = np.random.default_rng([seed, len(values)]).integers(
        len(values), size=(B, len(values))
    )
    means: dict[tuple[int, int], np.ndarray] = {}
    for d, x in enumerate(values):
        places = [
            (b, place)
            for b in range(B)
            for place in range(len(values))
            if drawn[b, place] == d
        ]
        rows = np.random.default_rng([seed, d]).integers(
            x.shape[1], size=(len(places), x.shape[1])
        )
        means |= {
            place: x[:, row].mean(axis=1)
            for place, row in zip(places, rows, strict=True)
        }
    by_resample = [
        np.stack([means[b, place] for place in range(len(values))]) for b in range(B)
    ]
    mean = np.stack([several.mean(axis=0) for several in by_resample], axis=1)
    if len(values) == 1:
        return mean, np.zeros_like(mean)
    error = np.stack(
        [several.std(axis=0, ddof=1) / np.sqrt(len(values)) for several in by_resample],
        axis=1,
    )
    return mean, error


@pytest.mark.slow
@settings(max_examples=40)
@given(benchmarks(), st.integers(0, 100))
def test_resamples_are_those_of_a_plain_loop(
    values: list[np.ndarray], seed: int
) -> None:
    for over, plain in (
        ("queries", plain_stratified),
        ("collections", plain_two_level),
    ):
        found, (mean, error) = (
            inference.macro_bootstrap(values, over, draws=Resampled(B, seed)),
            plain(values, seed),
        )
        np.testing.assert_allclose(found.mean, mean, atol=1e-12)
        np.testing.assert_allclose(found.error, error, atol=1e-6)


def test_resamples_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [np.random.default_rng(0).random((3, size)) for size in (5, 9)]
    for over in draws.OVER:
        whole = inference.macro_bootstrap(values, over, draws=Resampled(B, 1))
        monkeypatch.setattr(draws, "BLOCK", 64)
        parts = inference.macro_bootstrap(values, over, draws=Resampled(B, 1))
        np.testing.assert_allclose(parts.mean, whole.mean, atol=1e-15)
        monkeypatch.undo()


@pytest.mark.parametrize("seed", [0, 7, 2**100])
def test_a_single_collection_is_resampled_with_the_seed_itself(seed: int) -> None:
    x = np.random.default_rng(0).random((3, 6))
    found = inference.macro_bootstrap([x], "queries", draws=Resampled(B, seed))
    drawn = np.random.default_rng(seed).integers(6, size=(B, 6))
    assert found.mean == pytest.approx(x[:, drawn].mean(axis=2))


def test_means_that_agree_in_a_resample_have_no_spread() -> None:
    """Whatever the collections' size and scale."""
    x = [np.full((1, 3), 1e5 / 3), np.full((1, 7), 1e5 / 3), np.full((1, 5), 0.1)]
    found = inference.macro_bootstrap(x, "collections", draws=Resampled(B, 0))
    drawn = np.random.default_rng([0, 3]).integers(3, size=(B, 3))
    assert (
        (found.error[0] == 0) == ((drawn < 2).all(axis=1) | (drawn == 2).all(axis=1))
    ).all()


def test_statistics_take_the_same_resamples_however_many_they_want() -> None:
    values = [np.random.default_rng(0).random((3, size)) for size in (5, 9, 4)]
    for over in draws.OVER:
        many, few, other = (
            inference.MacroMeans(x, over, size)
            for x, size in ((values, B), (values, 1), (values[:1], B))
        )
        draws.resample([many, few, other], Resampled(B, 1))
        np.testing.assert_allclose(
            few.resamples.mean, many.resamples.mean[:, :1], atol=1e-15
        )
        np.testing.assert_allclose(
            few.resamples.error, many.resamples.error[:, :1], atol=1e-15
        )
        alone = inference.macro_bootstrap(values[:1], over, draws=Resampled(B, 1))
        np.testing.assert_allclose(other.resamples.mean, alone.mean, atol=1e-15)


@settings(max_examples=40)
@given(benchmarks())
def test_ranks_of_resamples_are_counted(values: list[np.ndarray]) -> None:
    resampled = inference.macro_bootstrap(values, "queries", draws=Resampled(B, 0)).mean
    low, high = inference.rank_interval(resampled, 0.1)
    for run, row in enumerate(resampled):
        best = sorted(
            1 + sum(other[b] > row[b] + 1e-9 for other in resampled) for b in range(B)
        )
        worst = sorted(
            sum(other[b] >= row[b] - 1e-9 for other in resampled) for b in range(B)
        )
        assert (low[run], high[run]) == (best[B // 20 - 1], worst[B - B // 20 - 1])


@settings(max_examples=40)
@given(
    benchmarks(),
    st.sampled_from(["queries", "collections"]),
    st.sampled_from([0.01, 0.05, 0.2]),
)
def test_an_interval_leaves_out_zero_exactly_where_p_is_small(
    values: list[np.ndarray], over: str, alpha: float
) -> None:
    differences = [x - 0.5 for x in values]
    resamples = inference.macro_bootstrap(differences, over, draws=Resampled(B, 3))
    mean = inference.macro_means(differences)
    low, high, p = inference.studentised_interval(
        mean, inference.macro_error(differences, over), resamples, alpha
    )
    clear = np.abs(np.minimum(np.abs(low), np.abs(high))) > 1e-9
    assert (((low > 0) | (high < 0)) == (p <= alpha))[clear].all()


def test_an_end_at_zero_is_zero_not_a_number_of_rounding() -> None:
    mean, error = np.array([0.25, -0.1 - 0.2]), np.array([0.1, 0.3])
    # In every resample, t is as far from 0 as in the sample.
    resamples = inference.Resamples(
        np.repeat(2 * mean[:, None], B, axis=1), np.repeat(error[:, None], B, axis=1)
    )
    low, high, p = inference.studentised_interval(mean, error, resamples, 0.05)
    assert (low[0], high[1]) == (0, 0)
    assert [high[0], low[1]] == pytest.approx([0.5, -0.6])
    assert p.tolist() == [1, 1]


def test_one_query_or_one_collection_says_nothing() -> None:
    one_query = [np.array([[0.4]]), np.array([[0.1, 0.2, 0.4]])]
    assert np.isinf(inference.macro_error(one_query, "queries")).all()
    assert np.isinf(inference.macro_error([one_query[1]], "collections")).all()
    resamples = inference.macro_bootstrap(one_query, "queries", draws=Resampled(B, 0))
    low, high, p = inference.studentised_interval(
        np.array([0.3]), np.array([np.inf]), resamples, 0.05
    )
    assert p[0] == 1
    assert np.isnan([low[0], high[0]]).all()


def test_collections_that_agree_leave_the_noise_of_their_queries() -> None:
    """No interval is a point, and what looks like perfect agreement is no evidence."""
    rng = np.random.default_rng(0)
    x = [rng.normal(0, 1, (2, 40)) for _ in range(3)]
    x = [0.3 + (y - y.mean(axis=1, keepdims=True)) for y in x]  # all means are 0.3
    assert inference.macro_error(x, "collections") == pytest.approx(
        inference.macro_error(x, "queries")
    )
    resamples = inference.macro_bootstrap(x, "collections", draws=Resampled(999, 0))
    mean = inference.macro_means(x)
    low, high, _ = inference.studentised_interval(
        mean, inference.macro_error(x, "collections"), resamples, 0.05
    )
    assert ((low < 0.3) & (high > 0.3)).all()
    combined = inference.random_effects(
        np.array([[0.3, 0.3]]), np.array([[0.016, 0.013]])
    )
    assert (
        combined.effect_low[0] < -0.5 < 1.1 < combined.effect_high[0]
    )  # t with one degree of freedom
    assert combined.i2[0] == combined.tau2[0] == 0


@pytest.mark.parametrize("collections", [2, 3, 5, 9])
def test_the_p_of_random_effects_goes_with_their_interval(collections: int) -> None:
    rng = np.random.default_rng(collections)
    y = rng.gamma(0.5, 0.1, (40, collections)) - 0.03
    variance = np.full(y.shape, 1e-5)
    found = inference.random_effects(y, variance)
    is_left_out = (found.effect_low > 0) | (found.effect_high < 0)
    np.testing.assert_array_equal(found.p <= 0.05, is_left_out)
    if collections <= 3:  # no correction for skewness: Student's t of the collections
        expected = stats.ttest_1samp(y, 0, axis=1).pvalue
        has_spread = y.var(axis=1, ddof=1) > 1e-5
        np.testing.assert_allclose(found.p[has_spread], expected[has_spread])


def test_what_cannot_be_estimated_is_not_a_number() -> None:
    """16 queries, one of which changed: a third of the resamples have no spread."""
    x = np.zeros((1, 16))
    x[0, 0] = 0.5
    low, high = inference.mean_interval(x, draws=Resampled(999))
    assert np.isnan([low[0], high[0]]).all()


# -- peers -------------------------------------------------------------------------------------------


def test_the_interval_of_a_mean_is_that_of_its_resamples() -> None:
    values = np.random.default_rng(2).random((3, 12))
    low, high = inference.mean_interval(values, 0.1, draws=Resampled(500, 4))
    mean, error = plain_stratified([values], 4, 500)
    for run in range(3):
        observed = values[run].std(ddof=1) / np.sqrt(12)
        t = sorted(abs(mean[run] - values[run].mean()) / error[run])
        half = t[-50] * observed
        assert low[run] == pytest.approx(values[run].mean() - half)
        assert high[run] == pytest.approx(values[run].mean() + half)
    for unknown in (np.array([[0.5]]), np.full((1, 9), 0.3)):
        assert all(
            np.isnan(end).all()
            for end in inference.mean_interval(unknown, draws=Resampled(50))
        )


def test_random_effects_are_a_t_interval_of_the_collections_that_keeps_the_noise_of_queries() -> (
    None
):
    """Beside SciPy's t interval of the differences, transformed, statsmodels' tau2 of equal weights, and the definition of what comes next."""
    from statsmodels.stats.meta_analysis import combine_effects

    rng = np.random.default_rng(0)
    effect, variance = rng.normal(0.03, 0.05, (3, 7)), np.full((3, 7), 4e-4)
    effect[2] = 0.03 + effect[2] / 100  # agree better than by chance
    found = inference.random_effects(effect, variance)
    for row in range(2):
        for end, c in (
            (found.effect_low[row], stats.t.ppf(0.975, 6)),
            (found.effect_high[row], stats.t.ppf(0.025, 6)),
        ):
            t = (found.effect[row] - end) / stats.sem(effect[row])
            a = stats.skew(effect[row]) / (3 * np.sqrt(7))
            assert t + a * (t**2 + 0.5) + a**2 * t**3 / 3 == pytest.approx(c)
        few = inference.random_effects(effect[:, :3], variance[:, :3] / 100)
        ends = stats.ttest_1samp(effect[row, :3], 0).confidence_interval()
        assert (few.effect_low[row], few.effect_high[row]) == pytest.approx(tuple(ends))
        peer = combine_effects(
            effect[row], variance[row], method_re="dl"
        )  # alike where variances are
        assert (found.tau2[row], found.i2[row]) == pytest.approx((peer.tau2, peer.i2))
        further = stats.t.ppf(0.975, 6) * effect[row].std(ddof=1) * np.sqrt(1 + 1 / 7)
        assert found.next_high[row] - found.effect[row] == pytest.approx(further)
    assert found.tau2[2] == found.i2[2] == 0
    alike = inference.random_effects(
        np.array([[0.02, 0.03, 0.04, 0.03, 0.02, 0.03, 0.04]]), variance[:1]
    )
    assert alike.effect_high - alike.effect == pytest.approx(
        stats.t.ppf(0.975, 6) * np.sqrt(4e-4 / 7)
    )
    assert np.isnan(
        inference.random_effects(
            effect, np.where(np.arange(7) == 2, np.inf, variance)
        ).effect
    ).all()
    assert np.isnan(
        inference.random_effects(np.full((1, 4), 0.3), np.zeros((1, 4))).effect_low
    ).all()


def test_heterogeneity_is_welchs_analysis_of_variance() -> None:
    from statsmodels.stats.oneway import anova_oneway

    rng = np.random.default_rng(1)
    sizes = np.array([5, 12, 40, 90])
    for between in (0.0, 0.3):
        differences = [
            rng.normal(rng.normal(0, between), rng.uniform(0.1, 0.5), size)
            for size in sizes
        ]
        peer = anova_oneway(differences, use_var="unequal", welch_correction=True)
        f, p = heterogeneity([x[None] for x in differences])
        assert f[0] == pytest.approx(peer.statistic)
        assert p[0] >= peer.pvalue * (1 - 1e-9)


def test_heterogeneity_counts_the_permutations_of_queries() -> None:
    """All assignments of 7 queries to parts of 3 and 4, one by one, with SciPy's Welch test."""
    from itertools import combinations

    x = np.array([0.0, 0.1, 0.1, 0.9, 0.2, 0.3, 1.5])
    f = []
    for chosen in combinations(range(7), 3):
        rest = [q for q in range(7) if q not in chosen]
        f.append(
            stats.ttest_ind(x[list(chosen)], x[rest], equal_var=False).statistic ** 2
        )
    observed, p = heterogeneity([x[None, :3], x[None, 3:]])
    assert observed[0] == pytest.approx(f[0])
    by_f = stats.ttest_ind(x[:3], x[3:], equal_var=False).pvalue
    share = np.mean(np.array(f) >= f[0] * (1 - 1e-9))
    assert p[0] == pytest.approx(max(by_f, share), abs=0.05)
    assert np.isnan(heterogeneity([x[None, :1], x[None, 1:]])[1]).all()


def test_friedman_is_scipys() -> None:
    means = np.random.default_rng(1).random((8, 5))
    peer = stats.friedmanchisquare(*means.T)
    assert inference.friedman(means) == (
        pytest.approx(peer.statistic),
        pytest.approx(peer.pvalue),
    )
    assert np.isnan(inference.friedman(means[:, :2])).all()
    assert np.isnan(inference.friedman(np.ones((4, 3)))).all()


def test_nemenyi_is_scikit_posthocs() -> None:
    posthocs = pytest.importorskip("scikit_posthocs")
    means = np.random.default_rng(2).random((10, 6))
    np.testing.assert_allclose(
        inference.nemenyi(means)[1],
        posthocs.posthoc_nemenyi_friedman(means).to_numpy(),
        atol=1e-6,
    )


@pytest.mark.parametrize(("runs", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_is_demsars(runs: int, q: float) -> None:
    means = np.random.default_rng(3).random((12, runs))
    assert inference.nemenyi(means)[0] == pytest.approx(
        q * np.sqrt(runs * (runs + 1) / (6 * 12)), abs=2e-3
    )


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_partial_conjunction_is_the_largest_combination_of_all_subsets(
    p: list[float],
) -> None:
    """For "better on at least u", every set of D - u + 1 collections must have a small p."""

    def simes(subset: tuple[float, ...]) -> float:
        return min(len(subset) * one / i for i, one in enumerate(sorted(subset), 1))

    def fisher(subset: tuple[float, ...]) -> float:
        if 0 in subset:
            return 0.0
        return float(stats.combine_pvalues(subset, "fisher").pvalue)

    for combination, combined in (("simes", simes), ("fisher", fisher)):
        least = 0.0
        found = inference.partial_conjunction(np.array([p]), combination)[0]
        for u in range(1, len(p) + 1):
            subsets = itertools.combinations(p, len(p) - u + 1)
            least = max(least, *[min(1.0, combined(subset)) for subset in subsets])
            assert found[u - 1] == pytest.approx(least, abs=1e-12)


def test_a_collection_without_p_is_no_evidence() -> None:
    p = np.array([[0.001, np.nan, 0.001], [0.001, 1.0, 0.001]])
    found = inference.partial_conjunction(p, "simes")
    assert found[0].tolist() == found[1].tolist()
    assert (found <= 0.05).tolist() == [[True, True, False]] * 2


def test_wilcoxon_of_pairs_is_scipys_with_holm_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    means = np.random.default_rng(0).random((9, 4))
    p = inference.wilcoxon_of_pairs(means)
    i, j = np.triu_indices(4, 1)
    peers = [
        stats.wilcoxon(means[:, a], means[:, b]).pvalue
        for a, b in zip(i, j, strict=True)
    ]
    assert p[i, j] == pytest.approx(multipletests(peers, method="holm")[1]) == p[j, i]
    assert np.diag(p).tolist() == [1] * 4
    alone = [
        inference.wilcoxon_of_pairs(means[:, pair])[0, 1]
        for pair in zip(i, j, strict=True)
    ]
    assert alone == pytest.approx(peers)


# -- simulation --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("over", ["queries", "collections"])
def test_p_is_uniform_where_nothing_differs(over: str) -> None:
    world = World([20] * 6, [0.4, 0.4], 0.0 if over == "queries" else 0.05)
    rng = np.random.default_rng(11)
    p = []
    for number in range(300):
        x = [values[1:] - values[:1] for values in world.collections(rng)]
        resamples = inference.macro_bootstrap(x, over, draws=Resampled(399, number))
        p.append(
            inference.studentised_interval(
                inference.macro_means(x),
                inference.macro_error(x, over),
                resamples,
                0.05,
            )[2][0]
        )
    assert stats.kstest(p, "uniform").pvalue > 0.001
    assert np.mean(np.array(p) <= 0.05) <= 0.09


def test_collections_that_agree_but_for_rounding_are_not_skewed() -> None:
    """An interval does not move by the last bits of what it is computed from."""
    rounded = np.array(
        [[0.1 + 0.2, 0.3, 0.3, 0.3, 0.3], [0.3] * 5, [0.3] * 4 + [0.3 + 1e-9]]
    )
    result = inference.random_effects(rounded, np.full((3, 5), 0.0004))
    for end in (result.effect_low, result.effect_high):
        assert end == pytest.approx(np.full(3, end[1]), abs=1e-8)


def test_intervals_over_collections_stay_in_the_range_of_differences() -> None:
    values = {
        f"c{d}": {
            "a": {f"q{i}": {"AP": 0.9 if d == 4 else 0.0} for i in range(9)},
            "b": {f"q{i}": {"AP": 0.0} for i in range(9)},
        }
        for d in range(5)
    }
    overall = (
        benchmark(values=values, baseline="b")
        .overall("collections")
        .set_index("run")
        .loc["a"]
    )
    for column in (
        "difference_low",
        "difference_high",
        "effect_low",
        "effect_high",
        "next_low",
        "next_high",
    ):
        assert np.isnan(overall[column]) or -1 <= overall[column] <= 1
    assert overall["effect_high"] == overall["next_high"] == 1


# -- ranks beside intervals ------------------------------------------------------------------------


@pytest.mark.parametrize("collections", [2, 3, 5, 8])
def test_runs_that_ranks_over_collections_tell_apart_differ_by_the_interval(
    collections: int,
) -> None:
    rng = np.random.default_rng(collections)
    n_apart = 0
    for seed in range(40):
        world = World([20] * collections, [0.2, 0.27, 0.34], 0.03)
        values = world.collections(rng, rng.normal(0, 0.03, (3, collections)))
        found = deviations.studentised_deviations(
            values, "collections", Resampled(499, seed)
        )
        low, high = deviations.rank_intervals(found)
        p_best = deviations.best_set(found)
        for a, b in itertools.permutations(range(3), 2):
            gain = [x[[b]] - x[[a]] for x in values]
            combined = inference.random_effects(*inference.collection_means(gain))
            if high[a] < low[b]:
                n_apart += 1
                assert combined.effect_high[0] < 0
                assert combined.p[0] <= 0.05
        ruled_out = np.flatnonzero(p_best <= 0.05)
        for a in ruled_out:
            gains = [x - x[[a]] for x in values]
            combined = inference.random_effects(*inference.collection_means(gains))
            others = np.arange(3) != a
            is_better = (combined.p <= 0.1) & (combined.effect > 0)
            assert is_better[others].any()
    assert n_apart > 0 or collections == 2


@pytest.mark.parametrize("collections", [4, 5])
@pytest.mark.parametrize("between", [0.1, 0.2])
def test_the_usual_t_holds_less_over_few_skewed_collections(
    collections: int, between: float
) -> None:
    """Why Hall's transformation is taken from 4 collections on, not the usual t."""
    rng = np.random.default_rng(collections)
    shape = (4000, collections, 10)
    share = np.clip(rng.normal(0.05, between, shape[:2]), 0.002, None) / 0.3
    x = (rng.random(shape) < share[:, :, None]) * rng.exponential(0.3, shape)
    truth = np.clip(rng.normal(0.05, between, 10**6), 0.002, None).mean()
    y, variance = x.mean(axis=2), x.var(axis=2, ddof=1) / 10
    found = inference.random_effects(y, variance)
    holds = (found.effect_low <= truth) & (truth <= found.effect_high)
    total = np.maximum(variance.mean(axis=1), y.var(axis=1, ddof=1))
    half = stats.t.isf(0.025, collections - 1) * np.sqrt(total / collections)
    usual = np.abs(y.mean(axis=1) - truth) <= half
    assert usual.mean() < 0.89
    assert holds.mean() > usual.mean() + 0.03
    assert holds.mean() > 0.89


@pytest.mark.parametrize("n_collections", [3, 4, 6])
def test_intervals_over_collections_stay_in_the_range_and_name_skewness(
    n_collections: int,
) -> None:
    """Of differences of 1 and -0.9, t alone would go beyond 1."""
    values = {}
    for d in range(n_collections):
        gain = -0.9 if d == 0 else 1.0
        values[f"c{d}"] = {
            "base": {f"{d}.{q}": {"AP": max(0.0, -gain)} for q in range(9)},
            "new": {f"{d}.{q}": {"AP": max(0.0, gain)} for q in range(9)},
        }
    result = benchmark(values=values, baseline="base")
    row = result.overall("collections").set_index("run").loc["new"]
    assert -1 <= row["difference_low"] < row["difference_high"] == 1
    said = "random effects, allowing for skewness" in " ".join(
        result.summary("collections", full=True).split()
    )
    assert said == (n_collections > 3)
