"""The best set and rank intervals against slow and obvious code, laws, and simulated runs whose order is known."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ir_lexirecall.significance import (
    Resampled,
    best_set,
    rank_intervals,
    studentised_deviations,
)
from ir_lexirecall.significance import draws as blocks

B = 39


def draws(
    sizes: Sequence[int], over: str, seed: int
) -> list[list[tuple[int, list[int]]]]:
    """Of each resample the collections and their queries."""
    generators = [np.random.default_rng([seed, d]) for d in range(len(sizes) + 1)]
    collections = [[*range(len(sizes))]] * B
    if over == "collections":
        collections = generators[-1].integers(len(sizes), size=(B, len(sizes))).tolist()
    return [
        [(d, generators[d].integers(sizes[d], size=sizes[d]).tolist()) for d in drawn]
        for drawn in collections
    ]


def obvious_error(
    differences: list[list[float]], over: str, means: list[float]
) -> float:
    """Standard error of the mean of ``means``, with the noise of some collections' differences."""
    noise = sum(statistics.variance(x) / len(x) for x in differences) / len(means) ** 2
    between = statistics.variance(means) / len(means) if over == "collections" else 0.0
    return math.sqrt(max(noise, between))


def obvious_t(
    differences: list[list[float]],
    over: str,
    means: list[float],
    least_error: float = 0.0,
) -> float:
    """t of the mean of ``means`` whose standard error is at least ``least_error``."""
    difference = statistics.mean(means)
    error = max(obvious_error(differences, over, means), least_error)
    if abs(difference) < 1e-9:
        return 0.0
    return math.copysign(math.inf, difference) if error < 1e-9 else difference / error


VALUES = st.tuples(
    st.integers(2, 4), st.lists(st.integers(2, 5), min_size=2, max_size=3)
).flatmap(
    lambda size: st.tuples(
        *[
            st.lists(
                st.lists(st.integers(0, 4), min_size=queries, max_size=queries),
                min_size=size[0],
                max_size=size[0],
            )
            for queries in size[1]
        ]
    )
)


@pytest.mark.slow_except("collections")
@pytest.mark.parametrize("over", ["queries", "collections"])
@given(VALUES, st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_deviations_are_those_of_every_pair_in_every_resample(
    over: str, values: tuple, seed: int
) -> None:
    arrays = [np.array(x) / 4 for x in values]
    found = studentised_deviations(arrays, over, draws=Resampled(B, seed))
    runs, furthest = len(arrays[0]), [0.0] * B
    resamples = draws([x.shape[1] for x in arrays], over, seed)
    for j in range(runs):
        largest = [0.0] * B
        for k in range(runs):
            x = [((a[k] - a[j]) * 1).tolist() for a in arrays]
            of_sample = [statistics.mean(one) for one in x]
            assert found.t[j, k] == pytest.approx(
                obvious_t(x, over, of_sample), rel=1e-6, abs=1e-9
            )
            least_error = 0.35 * obvious_error(x, over, of_sample)
            overall = statistics.mean(of_sample)
            scale = math.sqrt(len(x) / (len(x) - 1)) if over == "collections" else 1.0
            for b, drawn in enumerate(resamples):
                sample = [[x[d][q] for q in queries] for d, queries in drawn]
                effects = [scale * (of_sample[d] - overall) for d, _ in drawn]
                noise = [
                    statistics.mean(one) - of_sample[d]
                    for one, (d, _) in zip(sample, drawn, strict=True)
                ]
                moved = [e + n for e, n in zip(effects, noise, strict=True)]
                t = obvious_t(sample, over, moved)
                largest[b] = max(largest[b], t)
                t = obvious_t(sample, over, moved, least_error)
                furthest[b] = max(furthest[b], abs(t))
        assert found.above[j] == pytest.approx(largest, rel=1e-6, abs=1e-9)
    assert found.furthest == pytest.approx(furthest, rel=1e-6, abs=1e-9)
    p = best_set(found)
    low, high = rank_intervals(found, 0.1)
    bound = sorted(furthest)[
        -4
    ]  # of 40 with the sample itself, a tenth lie as far away
    if found.least_p > 0.05:  # too few queries
        bound = math.inf
    for j in range(runs):
        largest_t = max(found.t[j])
        count = sum(
            one >= largest_t or math.isclose(one, largest_t) for one in found.above[j]
        )
        expected = (
            max((1 + count) / (1 + B), 2.0 ** -sum(x.shape[1] for x in arrays))
            if largest_t > 0
            else 1
        )
        if over == "collections" and largest_t > 0:
            expected = max(expected, alone_p(largest_t, len(arrays)) / 2)
        assert p[j] == pytest.approx(expected)
        others = [t for t in found.t[j] if t != 0]
        if not any(math.isclose(abs(t), bound) for t in others):
            if over == "collections":
                others = [t for t in others if alone_p(t, len(arrays)) <= 0.1]
            assert low[j] == 1 + sum(t > bound for t in others)
            assert high[j] == runs - sum(t < -bound for t in others)


def alone_p(t: float, collections: int) -> float:
    """Two-sided p of a pair by itself, by the usual t over at most 3 collections."""
    if math.isinf(t):  # without any spread, only signs tell
        return 2.0 ** (1 - collections)
    return float(2 * stats.t.sf(abs(t), collections - 1))


def test_results_do_not_depend_on_the_size_of_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    values = [rng.random((4, 30)), rng.random((4, 12))]
    for over in ("queries", "collections"):
        whole = studentised_deviations(values, over, draws=Resampled(300, 1))
        monkeypatch.setattr(blocks, "BLOCK", 2**7)
        parts = studentised_deviations(values, over, draws=Resampled(300, 1))
        monkeypatch.undo()
        assert parts.above == pytest.approx(whole.above, rel=1e-9)


@pytest.mark.parametrize(("runs", "share"), [(20, 0.35), (21, 0.25)])
def test_near_duplicates_alone_do_not_decide_where_ranks_end(
    runs: int, share: float
) -> None:
    """Two runs that differ on 2 of 30 queries, most of which a third of the resamples lack."""
    rng = np.random.default_rng(0)
    x = np.linspace(0.3, 0.6, runs)[:, None] + rng.normal(0, 0.05, (runs, 30))
    x[1] = x[0]
    x[1, :2] += 0.01
    found = studentised_deviations([x], draws=Resampled(499))
    k = 25
    without = np.sort(found.above.max(axis=0))[-k]
    assert np.sort(found.furthest)[-k] < without
    low, high = rank_intervals(found)
    assert (high - low).mean() < runs / 2
    # No error of a resample is below that share of the observed one: no t of the pair, either.
    pair = studentised_deviations(
        [np.concatenate([x[:2], x[2:] * 0 + x[0]])], draws=Resampled(499)
    )
    difference = np.abs(x[1] - x[0])
    error = difference.std(ddof=1) / np.sqrt(30)
    most = (0.01 - difference.mean()) / (share * error)
    assert pair.furthest.max() <= most


def test_the_run_of_the_largest_mean_may_always_be_the_best() -> None:
    rng = np.random.default_rng(0)
    for queries in (2, 5, 30):
        x = rng.random((5, queries))
        assert (
            best_set(studentised_deviations([x], draws=Resampled(99)))[
                x.mean(axis=1).argmax()
            ]
            == 1
        )


@pytest.mark.parametrize("queries", [1, 2, 3, 4])
def test_few_queries_rule_nobody_out(queries: int) -> None:
    """4 queries, all won by the same: the exact test's one-sided p is 1/16."""
    x = np.array([[0.9], [0.8], [0.1]]) + np.zeros((3, queries))
    found = studentised_deviations([x], draws=Resampled(999))
    assert (best_set(found) > 0.05).all()
    assert [end.tolist() for end in rank_intervals(found)] == [[1] * 3, [3] * 3]


def test_one_collection_is_no_sample_of_collections() -> None:
    x = np.random.default_rng(0).random((3, 30)) + np.array([[0.0], [1.0], [2.0]])
    found = studentised_deviations([x], "collections", draws=Resampled(99))
    assert best_set(found).tolist() == [1, 1, 1]
    assert [end.tolist() for end in rank_intervals(found)] == [[1] * 3, [3] * 3]


def test_a_single_run_is_the_best() -> None:
    found = studentised_deviations(
        [np.random.default_rng(0).random((1, 30))], draws=Resampled(99)
    )
    assert best_set(found).tolist() == [1]
    assert [end.tolist() for end in rank_intervals(found)] == [[1], [1]]


def test_an_unknown_population_is_refused() -> None:
    with pytest.raises(
        ValueError, match="unknown over 'runs'; choose from queries, collections"
    ):
        studentised_deviations([np.zeros((2, 3))], "runs")


@pytest.mark.parametrize("runs", [3, 90])  # in double and in single precision
def test_the_best_set_alone_is_that_of_deviations_for_ranks(runs: int) -> None:
    x = np.random.default_rng(2).normal(0.5, 0.2, (runs, 50)).clip(0, 1)
    alone = studentised_deviations([x], draws=Resampled(99), for_ranks=False)
    both = studentised_deviations([x], draws=Resampled(99))
    assert both.furthest.min() > 0
    assert not alone.furthest.any()
    np.testing.assert_array_equal(alone.above, both.above)
    np.testing.assert_array_equal(best_set(alone), best_set(both))


# -- few differing queries -------------------------------------------------------------------------


@pytest.mark.parametrize("differing", range(8))
@pytest.mark.parametrize("over", ["queries", "collections"])
def test_few_differing_queries_rule_out_no_run(over: str, differing: int) -> None:
    """Run b differs from the better a on k queries: exchanging signs gives p of 2^-k or more."""
    rng = np.random.default_rng(differing)
    b = rng.uniform(0.2, 0.7, 93)
    a = b.copy()
    a[:differing] += np.linspace(0.08, 0.13, differing)
    x = np.stack([a, b, b - rng.uniform(0.05, 0.15, 93)])
    parts = [x] if over == "queries" else [x[:, :30], x[:, 30:60], x[:, 60:]]
    found = studentised_deviations(parts, over, draws=Resampled(999))
    p = best_set(found)
    assert p[0] == 1
    assert p[1] >= 2.0**-differing
    if over == "queries":
        assert (p[1] > 0.05) == (differing < 5)
        assert p[2] <= 0.01


@given(st.integers(0, 999), st.integers(2, 6), st.integers(6, 40))
def test_a_run_is_ruled_out_by_a_pair_that_signs_can_tell_apart(
    seed: int, runs: int, queries: int
) -> None:
    rng = np.random.default_rng(seed)
    shared = rng.uniform(0.3, 0.6, queries)
    change = rng.uniform(-0.1, 0.15, (runs, queries))
    x = shared + change * (rng.random((runs, queries)) < rng.random((runs, 1)))
    found = studentised_deviations([x], draws=Resampled(199))
    p = best_set(found)
    for j in range(runs):
        of_pairs = [1.0]
        for k in range(runs):
            if found.t[j, k] > 0:
                t = found.t[j, k] * (1 - 1e-9)
                share = (1 + sum(found.above[j] >= t)) / 200
                differing = sum(x[j] != x[k])
                of_pairs.append(max(share, 2.0**-differing, found.least_p))
        assert p[j] == pytest.approx(min(of_pairs))


def test_another_run_may_rule_out_what_a_near_duplicate_cannot() -> None:
    rng = np.random.default_rng(1)
    b = rng.uniform(0.2, 0.6, 93)
    twin = b + np.where(np.arange(93) < 3, 0.3, 0.0)
    better = b + rng.normal(0.05, 0.1, 93)
    p = best_set(studentised_deviations([np.stack([b, twin])], draws=Resampled(999)))
    assert p[0] == 0.125
    x = np.stack([b, twin, better])
    p = best_set(studentised_deviations([x], draws=Resampled(999)))
    assert p[0] <= 0.01
