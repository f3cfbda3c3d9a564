"""Groups of queries as units."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ir_lexirecall.significance import SignificanceTest, TestResult, group_units


def t_test(x: np.ndarray, alpha: float = 0.05) -> TestResult:
    return SignificanceTest("t", alpha=alpha).of_pairs(x)


def clustered(name: str, x: np.ndarray, groups: Iterable[object], **options: int) -> TestResult:
    return SignificanceTest(name, groups=tuple(map(str, groups)), progress=False, **options).of_pairs(x)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-6, 6)), min_size=2, max_size=15))
@settings(max_examples=60)
def test_units_are_pseudo_values_of_leaving_out_a_group(queries: list[tuple[int, int]]) -> None:
    groups, x = [g for g, _ in queries], [v / 6 for _, v in queries]
    units = group_units(np.array([x]), groups)[0]
    labels = sorted(set(groups))
    mean = np.mean(x)
    assert units.mean() == pytest.approx(mean, abs=1e-12)
    if len(labels) > 1:
        left_out = [np.mean([v for g, v in zip(groups, x, strict=True) if g != label]) for label in labels]
        pseudo = [len(labels) * mean - (len(labels) - 1) * without for without in left_out]
        assert units - units.mean() == pytest.approx(np.array(pseudo) - np.mean(pseudo), abs=1e-12)


def test_groups_of_one_size_are_tested_by_their_means() -> None:
    x = np.random.default_rng(0).normal(0.1, 1, (3, 24))
    groups = np.repeat(["b", "a", "d", "c", "f", "e"], 4)
    means = x.reshape(3, 6, 4).mean(axis=2)
    result = clustered("t", x, groups)
    for row in range(3):
        peer = stats.ttest_1samp(means[row], 0)
        assert result.p[row] == pytest.approx(peer.pvalue)
        assert (result.low[row], result.high[row]) == pytest.approx(tuple(peer.confidence_interval()))
    assert result.effect_size == pytest.approx(x.mean(axis=1) / x.std(axis=1, ddof=1))


@pytest.mark.parametrize(("name", "options"), [("t", {}), ("bootstrap", {"n_resamples": 199, "seed": 3})])
def test_queries_on_their_own_are_tested_as_queries(name: str, options: dict[str, int]) -> None:
    x = np.random.default_rng(0).normal(0.1, 1, (3, 24))
    x[2] = np.sign(x[2]) * (np.abs(x[2]) > 0.3)
    found = clustered(name, x, (f"{i:02}" for i in range(23, -1, -1)), **options)
    alone = SignificanceTest(name, progress=False, **options).of_pairs(x[:, ::-1])
    for array, expected in zip(found.arrays, alone.arrays, strict=True):
        assert array == pytest.approx(expected, rel=1e-9)


def test_a_single_group_says_nothing() -> None:
    result = clustered("t", np.random.default_rng(0).normal(1, 0.1, (2, 9)), ["a"] * 9)
    assert result.p.tolist() == [1, 1]
    assert np.isinf(result.low).all()


def test_every_query_has_a_group() -> None:
    with pytest.raises(ValueError, match="expected a group for each of 9 queries, got 8 labels"):
        clustered("t", np.zeros((1, 9)), range(8))


@pytest.mark.parametrize("sizes", [[20] * 5, [1, 1, 2, 2, 3, 5, 8, 13, 25, 40], [1] * 20 + [5] * 5 + [20] * 5])
def test_intervals_cover_where_queries_of_a_group_are_alike(sizes: list[int]) -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    x = 0.5 * rng.normal(size=(2000, len(sizes)))[:, groups] + rng.normal(size=(2000, len(groups)))
    found, plain = clustered("t", x, groups), t_test(x)
    assert 0.93 <= np.mean((found.low <= 0) & (found.high >= 0)) <= 0.975
    assert np.mean((plain.low <= 0) & (plain.high >= 0)) < 0.8
    resampled = clustered("bootstrap", x[:600], groups, n_resamples=199, seed=0)
    assert np.mean((resampled.low <= 0) & (resampled.high >= 0)) >= 0.91
