"""Groups of queries as units."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall.significance import (
    SignificanceTest,
    TestResult,
    group_units,
    margin_test,
)


def clustered(
    name: str, x: np.ndarray, groups: Iterable[object], **options: int
) -> TestResult:
    return SignificanceTest(
        name, groups=tuple(map(str, groups)), progress=False, **options
    ).of_pairs(x)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-6, 6)), min_size=2, max_size=15)
)
def test_units_of_resampling_are_pseudo_values_of_leaving_out_a_group(
    queries: list[tuple[int, int]],
) -> None:
    groups, x = [g for g, _ in queries], [v / 6 for _, v in queries]
    units = group_units(np.array([x]), groups)[0]
    labels = sorted(set(groups))
    mean = np.mean(x)
    assert units.mean() == pytest.approx(mean, abs=1e-12)
    if len(labels) > 1:
        left_out = [
            np.mean([v for g, v in zip(groups, x, strict=True) if g != label])
            for label in labels
        ]
        pseudo = [
            len(labels) * mean - (len(labels) - 1) * without for without in left_out
        ]
        n = len(x) ** 2 / sum(groups.count(label) ** 2 for label in labels)
        wider = np.sqrt(n / (n - 1) * (1 - 1 / len(labels)))
        assert units - units.mean() == pytest.approx(
            wider * (np.array(pseudo) - np.mean(pseudo)), abs=1e-12
        )


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-6, 6)), min_size=2, max_size=12),
    st.integers(0, 6),
)
def test_signs_of_whole_groups_are_exchanged(
    queries: list[tuple[int, int]], margin: int
) -> None:
    """All assignments of a sign to each group, one by one, in integers."""
    groups, x = [g for g, _ in queries], [v for _, v in queries]
    labels = sorted(set(groups))
    assignments = [
        dict(zip(labels, signs, strict=True))
        for signs in itertools.product((1, -1), repeat=len(labels))
    ]
    means = [sum(signs[g] * v for g, v in queries) for signs in assignments]
    shifted = [
        sum(signs[g] * (v + margin) for g, v in queries) for signs in assignments
    ]
    test = SignificanceTest(
        "randomisation", groups=tuple(map(str, groups)), progress=False
    )
    found = test.of_pairs(np.array([x]) / 6)
    assert found.p[0] == pytest.approx(np.mean([abs(m) >= abs(sum(x)) for m in means]))
    assert found.estimate[0] == pytest.approx(np.mean(x) / 6)
    if len(labels) > 1:
        not_worse = margin_test(test, np.array([x]) / 6, margin / 6, 1e-12).not_worse[0]
        assert not_worse == pytest.approx(
            np.mean([m >= sum(x) + margin * len(x) for m in shifted])
        )


def test_the_interval_ends_where_the_test_of_groups_does() -> None:
    rng = np.random.default_rng(2)
    sizes = [3, 4, 5, 3, 6, 4, 5, 3]
    groups = np.repeat(np.arange(8), sizes)
    x = rng.normal(0.3, 1, (5, len(groups)))
    found = clustered("randomisation", x, groups)
    for end, inside in ((found.low, 1), (found.high, -1)):
        for theta, rejects in (
            (end + inside * 1e-6, False),
            (end - inside * 1e-6, True),
        ):
            assert (
                (clustered("randomisation", x - theta[:, None], groups).p <= 0.05)
                == rejects
            ).all()


@pytest.mark.parametrize("name", ["randomisation", "bootstrap"])
def test_queries_on_their_own_are_tested_as_queries(name: str) -> None:
    x = np.random.default_rng(0).normal(0.1, 1, (3, 24))
    options = {"n_resamples": 199, "seed": 3}
    found = clustered(name, x, (f"{i:02}" for i in range(23, -1, -1)), **options)
    alone = SignificanceTest(name, progress=False, **options).of_pairs(x[:, ::-1])
    for array, expected in zip(found.arrays, alone.arrays, strict=True):
        assert array == pytest.approx(expected, rel=1e-9)


def test_a_single_group_says_nothing() -> None:
    result = clustered(
        "randomisation", np.random.default_rng(0).normal(1, 0.1, (2, 9)), ["a"] * 9
    )
    assert result.p.tolist() == [1, 1]
    assert np.isinf(result.low).all()


def test_every_query_has_a_group() -> None:
    with pytest.raises(
        ValueError, match="expected a group for each of 9 queries, got 8 labels"
    ):
        clustered("randomisation", np.zeros((1, 9)), range(8))


@pytest.mark.parametrize("name", ["randomisation", "bootstrap"])
def test_an_interval_is_given_where_size_cannot_go_with_the_effect(name: str) -> None:
    """Groups of 1 to 40 queries: none of few, none where large groups gain more."""
    rng = np.random.default_rng(0)
    for count, slope, given_ in ((6, 0.0, False), (40, 0.0, True), (40, 0.1, False)):
        sizes = (
            np.linspace(1, 40, count).astype(int)
            if count > 6
            else np.array([1, 2, 5, 10, 20, 40])
        )
        groups = np.repeat(np.arange(count), sizes)
        x = (slope * sizes + rng.normal(size=(1, count)))[:, groups] + rng.normal(
            size=(1, len(groups))
        )
        found = clustered(name, x, (f"{g:02}" for g in groups), n_resamples=199)
        assert np.isfinite(found.low[0]) == given_
        assert np.isfinite(found.p[0])
