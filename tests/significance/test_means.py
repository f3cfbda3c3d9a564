"""Intervals of means: of few values, at the ends of a range, and of as few queries as there may be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import ir_lexirecall as irl
from ir_lexirecall.io.measure_names import holds_few_values
from ir_lexirecall.significance.closed_form import interval_with_ends
from ir_lexirecall.significance.over_collections import mean_interval

COUNTS = st.lists(st.integers(0, 4), min_size=2, max_size=30)


def by_scipy(
    x: list[float], limits: tuple[float, float], alpha: float
) -> tuple[float, float]:
    """The t interval of the values and the two ends, which holds the mean and is cut at the ends."""
    sample = [*x, *limits]
    low, high = stats.t.interval(
        1 - alpha, len(sample) - 1, loc=np.mean(sample), scale=stats.sem(sample)
    )
    return max(limits[0], min(low, np.mean(x))), min(limits[1], max(high, np.mean(x)))


@given(
    COUNTS,
    st.sampled_from([(0.0, 4.0), (-1.0, 5.0)]),
    st.sampled_from([0.05, 0.32, 0.9]),
)
def test_both_ends_of_the_range_are_added_to_the_values(
    x: list[int], limits: tuple[float, float], alpha: float
) -> None:
    low, high = interval_with_ends(np.array([x], dtype=float), limits, alpha)
    assert (low[0], high[0]) == pytest.approx(
        by_scipy(list(map(float, x)), limits, alpha)
    )


@pytest.mark.parametrize("queries", [2, 5, 12])
def test_values_of_0_and_1_have_an_interval_from_2_queries_on(queries: int) -> None:
    x = np.ones((2, queries))
    x[1, 0] = 0.0
    for limits in ((-np.inf, np.inf), (0.0, 1.0)):  # known, or not
        low, high = mean_interval(x, limits=limits)
        for run in range(2):
            expected = by_scipy(x[run].tolist(), (0.0, 1.0), 0.05)
            assert (low[run], high[run]) == pytest.approx(expected)
    assert queries > 2 or (low.tolist(), high.tolist()) == ([0, 0], [1, 1])


def test_one_query_has_no_interval_and_no_range_has_no_ends() -> None:
    for x, limits in (
        (np.ones((1, 1)), (0.0, 1.0)),
        (np.full((1, 9), 0.3), (-np.inf, np.inf)),
    ):
        assert np.isnan(mean_interval(x, limits=limits)).all()


def test_all_runs_of_a_measure_share_one_method() -> None:
    rng = np.random.default_rng(0)
    x = rng.random((2, 12))
    bootstrap = mean_interval(x, limits=(0.0, 1.0))
    np.testing.assert_array_equal(bootstrap, mean_interval(x))
    # The bootstrap has no end for a run that is 0 on every query: then none of them takes it.
    with_zeros = np.concatenate([x, np.zeros((1, 12))])
    low, high = mean_interval(with_zeros, limits=(0.0, 1.0))
    assert low.tolist() == pytest.approx(
        interval_with_ends(with_zeros, (0.0, 1.0))[0].tolist()
    )
    assert np.isfinite([low, high]).all()
    assert low[0] != bootstrap[0][0]


@pytest.mark.parametrize(
    "name", ["RR", "RR(rel=2)@10", "recip_rank", "mrr@10", "Success@5"]
)
def test_reciprocal_ranks_take_the_same_interval_whatever_their_name(name: str) -> None:
    rng = np.random.default_rng(0)
    x = 1 / rng.integers(1, 5, (2, 8))
    table = pd.DataFrame(
        {"query_id": [f"q{q}" for q in range(8)], "a": x[0], "b": x[1]}
    )
    rows = table.melt("query_id", var_name="run", value_name=name)
    means = irl.compare(values=rows).means()
    low, high = interval_with_ends(x, (0.0, 1.0))
    np.testing.assert_allclose(means["ci_low"], low)
    np.testing.assert_allclose(means["ci_high"], high)
    assert holds_few_values(name)


def test_12_of_12_has_an_interval() -> None:
    rows = [(run, f"q{q}", 1.0) for run in "ab" for q in range(12)]
    result = irl.compare(
        values=pd.DataFrame(rows, columns=["run", "query_id", "accuracy"])
    )
    assert result.means()["ci_low"].round(3).tolist() == [0.774, 0.774]
    assert result.means()["ci_high"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("queries", [2, 5, 25, 100])
def test_intervals_of_shares_hold_them(queries: int) -> None:
    rng = np.random.default_rng(queries)
    for share in (0.01, 0.1, 0.3, 0.5, 0.9, 0.99):
        x = (rng.random((3000, queries)) < share).astype(float)
        low, high = interval_with_ends(x, (0.0, 1.0))
        assert np.mean((low <= share) & (share <= high)) >= 0.925


def test_groups_and_collections_have_intervals_by_the_method_of_the_call() -> None:
    """Values of nDCG that happen to be 0 or 1 in one group, or on one collection."""
    rng = np.random.default_rng(0)
    x = {
        "first": (rng.random((2, 12)) < 0.6).astype(float),
        "second": rng.random((2, 12)),
    }
    parts = {
        name: {
            run: {f"{name}{q}": {"nDCG@10": value} for q, value in enumerate(of_run)}
            for run, of_run in zip("ab", of_part.tolist(), strict=True)
        }
        for name, of_part in x.items()
    }
    whole = {
        run: {q: v for part in parts.values() for q, v in part[run].items()}
        for run in "ab"
    }
    groups = {q: name for name, part in parts.items() for q in part["a"]}
    in_groups = irl.compare(values=whole, groups=groups).group_means()
    on_collections = irl.benchmark(values=parts).means()
    low, high = mean_interval(x["first"], limits=(0.0, 1.0), is_binary=False)
    by_ends, _ = mean_interval(x["first"], limits=(0.0, 1.0))
    assert (np.abs(low - by_ends) > 0.01).all()
    for table in (in_groups, on_collections):
        ends = table[["ci_low", "ci_high"]][:2].to_numpy().T
        np.testing.assert_allclose(ends, np.clip([low, high], 0, 1))
