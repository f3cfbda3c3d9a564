"""What holds on single collections of a benchmark: on how many a run is better, and which differences are coloured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import ir_lexirecall as irl
from ir_lexirecall.significance import corrected, margin_test
from ir_lexirecall.significance.over_collections import (
    corrected_over_runs,
    partial_conjunction,
)

EFFECTS = {
    "base": [0.3] * 4,
    "mostly": [0.6, 0.6, 0.6, 0.3],
    "same": [0.3] * 4,
    "good": [0.9] * 4,
}


def simes(p: list[float]) -> float:
    """Simes' p of several, in rising order."""
    return min(len(p) * one / i for i, one in enumerate(p, 1))


def least_levels(p: np.ndarray) -> np.ndarray:
    """The least level at which "better on at least u" is said of each run, step by step."""

    def said(level: float) -> np.ndarray:
        left = np.arange(len(p))  # runs that are not yet better on all collections
        while len(left):
            on_all = p[left, -1] * len(left) <= level
            if not on_all.any():
                break
            left = left[~on_all]
        is_said = p * max(1, len(left)) <= level
        is_said[np.setdiff1d(np.arange(len(p)), left)] = True
        return is_said

    levels = np.ones(p.shape)
    for level in sorted({*np.outer(p, range(1, len(p) + 1)).ravel()}, reverse=True):
        levels[said(level + 1e-15)] = min(level, 1.0)
    return levels


def test_runs_that_are_better_on_different_numbers_of_collections_share_one_level():
    rng = np.random.default_rng(0)
    effects = 9.0 * (np.arange(4) < np.arange(4)[:, None])  # on 0, 1, 2, 3 of 4
    too_many = np.zeros(2_000, dtype=bool)
    for sample in range(len(too_many)):
        p = partial_conjunction(stats.norm.sf(effects + rng.normal(size=(4, 4))))
        adjusted = corrected_over_runs(p, "holm", 0.05)
        if sample < 20:
            assert adjusted == pytest.approx(least_levels(p), rel=1e-9, abs=1e-14)
        too_many[sample] = ((adjusted <= 0.05).sum(axis=1) > np.arange(4)).any()
    assert too_many.mean() < 0.06  # 0.10 by Holm's correction of each u by itself
    each = corrected_over_runs(p, "bonferroni", 0.05)
    assert each == pytest.approx(np.minimum(4 * p, 1))
    assert corrected_over_runs(p, None, 0.05) == pytest.approx(p)


def ranking(rank: int) -> dict[str, float]:
    return {
        ("a" if place == rank else f"x{place}"): 30.0 - place for place in range(1, 21)
    }


def benchmark(
    effects: dict[str, list[float]],
    by: Any = "RR",
    queries: int = 40,
    seed: int = 1,
    **options: Any,
) -> Any:
    """A relevant document per query, at a geometric rank."""
    rng = np.random.default_rng(seed)
    collections, runs = {}, {}
    for d in range(len(next(iter(effects.values())))):
        ids = [f"q{i}" for i in range(queries)]
        collections[f"c{d}"] = {q: {"a": 1} for q in ids}
        runs[f"c{d}"] = {
            run: {q: ranking(min(20, int(rng.geometric(effect[d])))) for q in ids}
            for run, effect in effects.items()
        }
    return irl.benchmark(
        collections,
        runs,
        by,
        **{
            "baseline": "base",
            "test": irl.SignificanceTest(n_resamples=199),
            **options,
        },
    )


@pytest.mark.parametrize("by", ["RR", "lexirecall"])
def test_on_how_many_collections_a_run_is_better(by: str) -> None:
    result = benchmark(EFFECTS, by)
    table = result.replicated().set_index("run")
    one_sided = {run: [] for run in ("mostly", "same", "good")}
    for collection in result.values():
        for run, ps in one_sided.items():
            if by == "RR":
                values = collection.per_query("RR")
                differences = (values[run] - values["base"]).to_numpy()[None]
                ps.append(
                    margin_test(irl.SignificanceTest("t"), differences, 0.0).better[0]
                )
            else:
                row = collection.table().set_index("run_a").loc[run]
                ps.append(
                    stats.binomtest(
                        row["wins"], row["wins"] + row["losses"], alternative="greater"
                    ).pvalue
                )
    p_u = np.array(
        [
            [max(simes(sorted(ps)[v:]) for v in range(u)) for u in range(1, 5)]
            for ps in one_sided.values()
        ]
    )
    shown = table.loc[list(one_sided), [f"p_{u}" for u in range(1, 5)]]
    assert shown.to_numpy() == pytest.approx(least_levels(np.minimum(p_u, 1)))
    counted = (table.filter(like="p_") <= 0.05).sum(axis=1)
    assert table["better_on_at_least"].tolist() == counted.tolist()
    assert table["better_on_at_least"]["good"] == 4
    assert table["better_on_at_least"]["same"] == 0


def test_collections_without_a_query_in_common_are_combined_by_fisher() -> None:
    rng = np.random.default_rng(0)
    gains = {f"c{d}": rng.normal(0.03, 0.1, 30) for d in range(6)}

    def suite(prefix: str) -> Any:
        values = {
            name: {
                run: {
                    f"{prefix * d}q{i}": {"score": 0.5 + gain * (run == "new")}
                    for i, gain in enumerate(x.tolist())
                }
                for run in ("base", "new")
            }
            for d, (name, x) in enumerate(gains.items())
        }
        return irl.benchmark(values=values, baseline="base")

    apart, shared = suite("x"), suite("")
    p = np.sort(
        [
            margin_test(irl.SignificanceTest("t"), x[None], 0).better[0]
            for x in gains.values()
        ]
    )
    fisher = [stats.combine_pvalues(p[u:], "fisher").pvalue for u in range(6)]
    tables = {
        "Fisher": [apart.replicated()],
        "Simes": [
            apart.replicated(dependent=True),
            shared.replicated(),
            shared.replicated(dependent=True),
        ],
    }
    for combination, of_this in tables.items():
        expected = (
            fisher
            if combination == "Fisher"
            else [simes(p[u:].tolist()) for u in range(6)]
        )
        for table in of_this:
            assert table.attrs["combination"] == combination
            found = table.filter(like="p_").to_numpy()[0]
            np.testing.assert_allclose(
                found, np.minimum(np.maximum.accumulate(expected), 1)
            )
    assert "p combined by Fisher" in " ".join(apart.summary().split())
    assert "p combined by Simes" in " ".join(shared.summary().split())
    counted = [
        tables[name][0]["better_on_at_least"].item() for name in ("Fisher", "Simes")
    ]
    assert counted[0] > counted[1]


def test_the_summary_says_so() -> None:
    text = " ".join(benchmark(EFFECTS).summary().split())
    assert (
        "Better than base on single collections (95% confidence for each criterion; p combined by Simes): by RR, good on at least 4 of 4 "
        "collections and mostly on at least 3."
    ) in text
    assert (
        "RR: better on some of 4 collections rests on one-sided p; with skewed differences on fewer than 200 queries"
        in text
    )
    assert "rests on one-sided p" not in benchmark(EFFECTS, queries=200).summary()
    same = benchmark({"base": [0.3] * 4, "same": [0.3] * 4})
    alike = " ".join(same.summary().split())
    assert "rests on one-sided p" not in alike
    assert "No run is shown to beat base on any single collection" in alike
    assert "single collection" not in benchmark(EFFECTS, baseline=None).summary()
    one = benchmark({run: effect[:1] for run, effect in EFFECTS.items()})
    assert "single collection" not in one.summary()


@pytest.mark.parametrize("correction", ["holm", None])
def test_verdicts_on_single_collections_hold_for_all_of_them(
    correction: str | None,
) -> None:
    result = benchmark(
        EFFECTS, test=irl.SignificanceTest(correction=correction, n_resamples=199)
    )
    table = result.by_collection()
    assert len(table) == 3 * 4
    adjusted, reject = corrected(table["p"].to_numpy(), correction, 0.05)
    assert table["p_corrected"].tolist() == adjusted.tolist()
    assert (table["verdict"] != "undecided").tolist() == reject.tolist()
    assert set(table.loc[reject, "verdict"]) == {"better"}


@pytest.mark.slow
def test_equal_runs_are_hardly_ever_coloured() -> None:
    equal = {run: [0.3] * 8 for run in ("base", "a", "b", "c", "d")}
    coloured = [
        (
            benchmark(equal, queries=20, seed=seed).by_collection()["verdict"]
            != "undecided"
        ).any()
        for seed in range(30)
    ]
    assert sum(coloured) <= 4
