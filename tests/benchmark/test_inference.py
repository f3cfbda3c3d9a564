"""Inference over collections: against plain loops, against SciPy, statsmodels and scikit-posthocs, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from simulations.benchmark import WORLDS, World, coverage, errors

from ir_lexirecall.benchmark import inference

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


def plain_stratified(values: list[np.ndarray], seed: int, B: int = B) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard errors of resamples, number by number, with the same draws."""
    rng = np.random.default_rng(seed)
    draws = [rng.integers(x.shape[1], size=(B, x.shape[1])) for x in values]
    means, errors = np.zeros((len(values[0]), B)), np.zeros((len(values[0]), B))
    for run in range(len(values[0])):
        for b in range(B):
            samples = [x[run][draw[b]] for x, draw in zip(values, draws, strict=True)]
            means[run, b] = sum(sample.mean() for sample in samples) / len(values)
            variances = [sample.var(ddof=1) / len(sample) if len(sample) > 1 else 0.0 for sample in samples]
            errors[run, b] = np.sqrt(sum(variances)) / len(values)
    return means, errors


def plain_two_level(values: list[np.ndarray], seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The same for collections that are resampled, too."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(values), size=(B, len(values)))
    means: dict[tuple[int, int], np.ndarray] = {}
    for d, x in enumerate(values):
        places = [(b, place) for b in range(B) for place in range(len(values)) if drawn[b, place] == d]
        rows = rng.integers(x.shape[1], size=(len(places), x.shape[1]))
        means |= {place: x[:, row].mean(axis=1) for place, row in zip(places, rows, strict=True)}
    by_resample = [np.stack([means[b, place] for place in range(len(values))]) for b in range(B)]
    mean = np.stack([several.mean(axis=0) for several in by_resample], axis=1)
    if len(values) == 1:
        return mean, np.zeros_like(mean)
    error = np.stack([several.std(axis=0, ddof=1) / np.sqrt(len(values)) for several in by_resample], axis=1)
    return mean, error


@settings(max_examples=40)
@given(benchmarks(), st.integers(0, 100))
def test_resamples_are_those_of_a_plain_loop(values: list[np.ndarray], seed: int) -> None:
    for resample, plain in (
        (inference.stratified_bootstrap, plain_stratified),
        (inference.two_level_bootstrap, plain_two_level),
    ):
        found, (mean, error) = resample(values, n_resamples=B, seed=seed), plain(values, seed)
        np.testing.assert_allclose(found.mean, mean, atol=1e-12)
        np.testing.assert_allclose(found.error, error, atol=1e-6)


def test_resamples_do_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [np.random.default_rng(0).random((3, size)) for size in (5, 9)]
    for resample in (inference.stratified_bootstrap, inference.two_level_bootstrap):
        whole = resample(values, n_resamples=B, seed=1)
        monkeypatch.setattr(inference, "_BLOCK", 64)
        np.testing.assert_allclose(resample(values, n_resamples=B, seed=1).mean, whole.mean, atol=1e-15)
        monkeypatch.undo()


@settings(max_examples=40)
@given(benchmarks())
def test_ranks_of_resamples_are_counted(values: list[np.ndarray]) -> None:
    resampled = inference.stratified_bootstrap(values, n_resamples=B, seed=0).mean
    low, high = inference.rank_interval(resampled, 0.1)
    for run, row in enumerate(resampled):
        best = sorted(1 + sum(other[b] > row[b] + 1e-9 for other in resampled) for b in range(B))
        worst = sorted(sum(other[b] >= row[b] - 1e-9 for other in resampled) for b in range(B))
        assert (low[run], high[run]) == (best[B // 20 - 1], worst[B - B // 20 - 1])


@settings(max_examples=40)
@given(benchmarks(), st.sampled_from(["queries", "collections"]), st.sampled_from([0.01, 0.05, 0.2]))
def test_an_interval_leaves_out_zero_exactly_where_p_is_small(
    values: list[np.ndarray], over: str, alpha: float
) -> None:
    differences = [x - 0.5 for x in values]
    resample = inference.stratified_bootstrap if over == "queries" else inference.two_level_bootstrap
    resamples = resample(differences, n_resamples=B, seed=3)
    mean = inference.macro_means(differences)
    low, high, p = inference.studentised_interval(mean, inference.macro_error(differences, over), resamples, alpha)
    clear = np.abs(np.minimum(np.abs(low), np.abs(high))) > 1e-9
    assert (((low > 0) | (high < 0)) == (p <= alpha))[clear].all()


def test_one_query_or_one_collection_says_nothing() -> None:
    one_query = [np.array([[0.4]]), np.array([[0.1, 0.2, 0.4]])]
    assert np.isinf(inference.macro_error(one_query, "queries")).all()
    assert np.isinf(inference.macro_error([one_query[1]], "collections")).all()
    resamples = inference.stratified_bootstrap(one_query, n_resamples=B, seed=0)
    low, high, p = inference.studentised_interval(np.array([0.3]), np.array([np.inf]), resamples, 0.05)
    assert p[0] == 1
    assert not np.isfinite([low[0], high[0]]).any()


# -- peers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_bca_is_scipys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.exponential(size=40)
    low, high = inference.bca_of_means(x[None], n_resamples=20_000, seed=seed)
    peer = stats.bootstrap((x,), np.mean, n_resamples=20_000, method="BCa", rng=rng).confidence_interval
    width = peer.high - peer.low
    assert low[0] == pytest.approx(peer.low, abs=0.03 * width)
    assert high[0] == pytest.approx(peer.high, abs=0.03 * width)


def test_bca_ends_are_scipys_from_the_same_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(5).exponential(size=30)
    resampled = inference.stratified_bootstrap([x[None]], n_resamples=5000, seed=1).mean
    low, high = inference.bca_ends([x[None]], resampled, 0.05)
    drawn = np.random.default_rng(1).integers(30, size=(5000, 30))
    peer = stats.bootstrap(
        (x,), lambda sample, axis=-1: sample.mean(axis=axis), n_resamples=0, method="BCa",
        bootstrap_result=type("Given", (), {"bootstrap_distribution": x[drawn].mean(axis=1)})(),
    ).confidence_interval  # fmt: skip
    np.testing.assert_allclose([low[0], high[0]], [peer.low, peer.high], rtol=1e-9)


def test_both_kinds_of_intervals_come_from_the_same_resamples() -> None:
    values = np.random.default_rng(2).random((3, 12))
    ends = inference.intervals_of_means(values, 0.1, n_resamples=500, seed=4)
    np.testing.assert_array_equal(
        (ends["ci_low"], ends["ci_high"]), inference.bca_of_means(values, 0.1, n_resamples=500, seed=4)
    )
    mean, error = plain_stratified([values], 4, 500)
    for run in range(3):
        observed = values[run].std(ddof=1) / np.sqrt(12)
        t = sorted(abs(mean[run] - values[run].mean()) / error[run])
        half = t[-50] * observed
        assert ends["t_low"][run] == pytest.approx(max(values.min(), values[run].mean() - half))
        assert ends["t_high"][run] == pytest.approx(min(values.max(), values[run].mean() + half))
    alone = inference.intervals_of_means(np.array([[0.5]]), n_resamples=50)
    assert all(np.isnan(end).all() for end in alone.values())


@pytest.mark.parametrize("queries", [10, 25])
def test_studentised_intervals_of_means_cover_with_few_queries(queries: int) -> None:
    shares = coverage(World([queries], [0.3, 0.35], 0.0), "queries", 400, 299, seed=3)
    assert shares["mean"] >= 0.93
    assert shares["mean, BCa"] < shares["mean"]


def test_bca_of_what_does_not_vary() -> None:
    low, high = inference.bca_of_means(np.array([[0.3, 0.3, 0.3], [0.0, 0.5, 1.0]]), n_resamples=200)
    assert (low[0], high[0]) == (0.3, 0.3)
    assert 0 <= low[1] < 0.5 < high[1] <= 1


def test_random_effects_are_statsmodels() -> None:
    from statsmodels.stats.meta_analysis import combine_effects

    rng = np.random.default_rng(0)
    effect, variance = rng.normal(0.03, 0.05, (3, 7)), rng.uniform(1e-4, 1e-3, (3, 7))
    queries = np.full(7, 40)
    found = inference.random_effects(effect, variance, queries)
    for row in range(3):
        frame = combine_effects(effect[row], variance[row], method_re="iterated", use_t=True).summary_frame()
        assert found.mean[row] == pytest.approx(frame.loc["random effect", "eff"])
        hksj = frame.loc["random effect wls"]
        assert (found.low[row], found.high[row]) == (pytest.approx(hksj["ci_low"]), pytest.approx(hksj["ci_upp"]))
    without_spread = inference.random_effects(effect, np.where(np.arange(7) == 2, 0.0, variance), queries)
    assert np.isnan(without_spread.mean).all()


def test_heterogeneity_is_welchs_analysis_of_variance() -> None:
    from statsmodels.stats.oneway import anova_oneway

    rng = np.random.default_rng(1)
    sizes = np.array([5, 12, 40, 90])
    for between in (0.0, 0.3):
        differences = [rng.normal(rng.normal(0, between), rng.uniform(0.1, 0.5), size) for size in sizes]
        means = np.array([[x.mean() for x in differences]])
        variance = np.array([[x.var(ddof=1) / len(x) for x in differences]])
        peer = anova_oneway(differences, use_var="unequal", welch_correction=True)
        assert inference.random_effects(means, variance, sizes).p_heterogeneity[0] == pytest.approx(peer.pvalue)


def test_friedman_is_scipys() -> None:
    means = np.random.default_rng(1).random((8, 5))
    peer = stats.friedmanchisquare(*means.T)
    assert inference.friedman(means) == (pytest.approx(peer.statistic), pytest.approx(peer.pvalue))
    assert np.isnan(inference.friedman(means[:, :2])).all()
    assert np.isnan(inference.friedman(np.ones((4, 3)))).all()


def test_nemenyi_is_scikit_posthocs() -> None:
    posthocs = pytest.importorskip("scikit_posthocs")
    means = np.random.default_rng(2).random((10, 6))
    np.testing.assert_allclose(
        inference.nemenyi(means)[1], posthocs.posthoc_nemenyi_friedman(means).to_numpy(), atol=1e-6
    )


@pytest.mark.parametrize(("runs", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_is_demsars(runs: int, q: float) -> None:
    means = np.random.default_rng(3).random((12, runs))
    assert inference.nemenyi(means)[0] == pytest.approx(q * np.sqrt(runs * (runs + 1) / (6 * 12)), abs=2e-3)


# -- simulation --------------------------------------------------------------------------------------


@pytest.mark.parametrize("over", ["queries", "collections"])
@pytest.mark.parametrize("world", ["5 collections, 50 queries", "10 collections, near ties"])
def test_intervals_hold_the_truth_about_as_often_as_they_say(world: str, over: str) -> None:
    shares = coverage(WORLDS[world], over, benchmarks=150, n_resamples=399, seed=7)
    for name in ("mean", "difference", *(["random effects"] if over == "collections" else [])):
        assert 0.91 <= shares[name] <= 0.99, (name, shares)
    assert shares["rank"] >= 0.93


def test_rank_intervals_hold_where_runs_are_nearly_equal() -> None:
    shares = coverage(World([40] * 4, list(0.3 + 1e-6 * np.arange(12)), 0.0), "queries", 60, 299, seed=2)
    assert shares["rank"] >= 0.93


@pytest.mark.parametrize("over", ["queries", "collections"])
def test_p_is_uniform_where_nothing_differs(over: str) -> None:
    world = World([20] * 6, [0.4, 0.4], 0.0 if over == "queries" else 0.05)
    rng = np.random.default_rng(11)
    resample = inference.stratified_bootstrap if over == "queries" else inference.two_level_bootstrap
    p = []
    for number in range(300):
        x = [values[1:] - values[:1] for values in world.collections(rng)]
        resamples = resample(x, n_resamples=399, seed=number)
        p.append(
            inference.studentised_interval(inference.macro_means(x), inference.macro_error(x, over), resamples, 0.05)[
                2
            ][0]
        )
    assert stats.kstest(p, "uniform").pvalue > 0.001
    assert np.mean(np.array(p) <= 0.05) <= 0.09


@pytest.mark.parametrize("over", ["queries", "collections"])
def test_families_of_tests_rarely_reject_where_nothing_differs(over: str) -> None:
    benchmarks = 300
    shares = errors(World([12] * 5, [0.35] * 6, 0.05), over, benchmarks, n_resamples=199, seed=5)
    most = 0.05 + 3 * np.sqrt(0.05 * 0.95 / benchmarks)
    assert shares.pop("any p") > most, "the bound could not fail"
    expected = {"queries": {"Tukey", "heterogeneity"}, "collections": {"Friedman", "Nemenyi"}}[over]
    assert set(shares) == {"p", "Holm"} | expected
    assert all(share <= most for share in shares.values()), shares
