"""What missing labels do to decisions."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ir_lexirecall import demo
from ir_lexirecall.meta import Study
from ir_lexirecall.meta.missing_labels import TwoWay

MEASURES = ["lexirecall", "AP", "nDCG@10", "R@10"]
QRELS, RUNS = demo.qrels(), demo.runs()
GROUPS = {name: name.partition("_")[0] for name in RUNS}  # bm25 and bm25_rerank are one
FEW = {"n_resamples": 50}


@pytest.fixture(scope="module")
def kept() -> pd.DataFrame:
    contrasts = [("lexirecall", "AP"), ("AP", "AP")]
    return Study(MEASURES, QRELS, RUNS).stability(
        [0, 0.5], groups=GROUPS, contrasts=contrasts, n_samples=2, seed=3, **FEW
    )


def test_agreement_on_all_pairs_is_that_of_degrade(kept: pd.DataFrame) -> None:
    for policy in ("random", "pool", "frequency"):
        table = Study(MEASURES, QRELS, RUNS, progress=False).degrade(
            [0, 0.5], policy=policy, n_samples=2, aggregate=True, seed=3
        )
        expected = table.set_index(["measure", "fraction"])["agreement"]
        ours = kept[(kept["policy"] == policy) & (kept["minus"] == "")].set_index(
            ["measure", "fraction"]
        )["agreement"]
        assert ours.sort_index().tolist() == pytest.approx(
            expected.sort_index().tolist()
        )


def test_decided_pairs_are_those_that_do_not_tie_with_all_labels() -> None:
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1, "d": 1}, "q3": {"e": 1, "f": 1}}
    runs = {
        "x": {"q1": {"a": 3, "b": 2}, "q2": {"c": 3}, "q3": {"e": 1}},
        "y": {"q1": {"a": 3, "z": 2, "b": 1}, "q2": {"c": 3}, "q3": {"e": 2, "f": 1}},
    }
    # Two of three pairs are decided; the pool has a at 1, b at 2, c and e at 1, f at 2, d nowhere: b, d and f go.
    row = (
        Study("R@2", qrels, runs)
        .stability([0.5], policies=["pool"], n_samples=1, **FEW)
        .iloc[0]
    )
    assert (row["agreement"], row["decided"]) == (pytest.approx(1 / 3), 0)
    row = (
        Study("RR", qrels, runs)
        .stability([0.5], policies=["pool"], n_samples=1, **FEW)
        .iloc[0]
    )
    assert row["agreement"] == 1
    assert np.isnan(row["decided"])


def test_a_contrast_is_the_difference_over_the_same_resamples(
    kept: pd.DataFrame,
) -> None:
    half = kept[(kept["policy"] == "pool") & (kept["fraction"] == 0.5)].set_index(
        ["measure", "minus"]
    )
    for column in ("agreement", "decided"):
        expected = half.loc[("lexirecall", ""), column] - half.loc[("AP", ""), column]
        assert half.loc[("lexirecall", "AP"), column] == pytest.approx(expected)
    assert 0 < half.loc[("lexirecall", "AP"), "p"] <= 1
    nothing = half.loc[("AP", "AP")]
    assert (
        nothing["decided"],
        nothing["decided_low"],
        nothing["decided_high"],
        nothing["p"],
    ) == (
        0,
        0,
        0,
        1,
    )


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_weights_are_those_of_runs_and_queries_written_out(seed: int) -> None:
    """A pair of two groups counts once for each pair of their copies, a pair of one group once for each copy."""
    decisions = Study(["AP"], QRELS, RUNS)
    resamples = TwoWay.draw(decisions, GROUPS, 3, seed)
    assert (resamples.group_weight.sum(axis=1) == 4).all()
    assert (resamples.query_weight.sum(axis=1) == len(decisions.queries)).all()
    x = np.random.default_rng(seed).random(
        (len(decisions.pairs[0]), len(decisions.queries))
    )
    found = resamples.ratio(x, np.ones(x.shape))
    for b, (of_group, of_query) in enumerate(
        zip(resamples.group_weight, resamples.query_weight, strict=True)
    ):
        values = []
        for place, pair in enumerate(itertools.combinations(RUNS, 2)):
            groups = [resamples.groups.index(GROUPS[name]) for name in pair]
            copies = [range(int(of_group[g])) for g in dict.fromkeys(groups)]
            for _ in itertools.product(*copies):
                values += [
                    x[place, q]
                    for q, times in enumerate(of_query)
                    for _ in range(int(times))
                ]
        assert found[b] == pytest.approx(np.mean(values), nan_ok=True)
    assert found[0] == pytest.approx(x.mean())
