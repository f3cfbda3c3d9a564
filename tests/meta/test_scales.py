"""Interval scales: which measures have equally spaced values."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import ClassVar

import numpy as np
import pytest

from ir_lexirecall import meta
from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.measures.declaration import REGISTRY, Measure


def brute_force(value: object, n: int) -> tuple[int, float, float]:
    """Different values of all rankings of n documents, and the smallest and the largest step; ``value`` of the relevance by rank."""
    steps = np.diff(
        sorted({round(value(ranking), 12) for ranking in product((0, 1), repeat=n)})
    )  # type: ignore[operator]
    return len(steps) + 1, steps.min(), steps.max()


@pytest.mark.parametrize("n", [3, 4, 7])
def test_steps_are_those_between_the_values_of_all_rankings(n: int) -> None:
    formulas = {
        f"R@{n}": lambda y: sum(y) / n,
        "RR": lambda y: 1 / (y.index(1) + 1) if any(y) else 0.0,
        "AP": lambda y: sum(sum(y[: i + 1]) / (i + 1) for i in range(n) if y[i]) / n,
        "RBP(p=0.8,rel=1)": lambda y: 0.2 * sum(0.8**i for i in range(n) if y[i]),
        "RBP(p=0.5,rel=1)": lambda y: 0.5 * sum(0.5**i for i in range(n) if y[i]),
    }
    found = meta.interval_scale(list(formulas), n).set_index("measure")
    for measure, formula in formulas.items():
        assert found.loc[
            measure, ["values", "smallest_step", "largest_step"]
        ].tolist() == pytest.approx(brute_force(formula, n))
    assert found.index[found["equally_spaced"]].tolist() == [
        f"R@{n}",
        "RBP(p=0.5,rel=1)",
    ]
    assert found.loc[f"R@{n}", "ratio"] == pytest.approx(1)


def test_relevance_is_what_the_measure_takes_for_it() -> None:
    found = meta.interval_scale(
        ["P(rel=2)@3", "TOMA(aspects={'a': 1, 'b': 1})@3", "SL3"], 3
    ).set_index("measure")
    assert found["values"].tolist() == [4, 8, 2]
    assert found["equally_spaced"].tolist()[:2] == [True, False]


@pytest.mark.parametrize("measure", ["TSE", "Success@3", "SL3"])
def test_fewer_than_three_values_have_no_steps_to_compare(measure: str) -> None:
    (row,) = meta.interval_scale(measure, 3).to_dict("records")
    assert row["values"] == 2
    assert np.isnan(row["equally_spaced"])
    assert np.isnan(row["interval"])


def interval_by_definition(
    order: str, n: int, m: int, value: Callable[..., float]
) -> bool:
    """Whether the value is affine in the position along every maximal chain of the order."""
    rankings = [y for y in product((0, 1), repeat=n) if sum(y) <= m]

    def above(y: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The rankings that no other one stands between."""
        better = [z for z in rankings if is_better(z, y)]
        return [z for z in better if not any(is_better(z, x) for x in better)]

    def is_better(z: tuple[int, ...], y: tuple[int, ...]) -> bool:
        if order == "top":
            return z > y
        if order == "relevant":
            return sum(z) > sum(y)
        return z != y and all(sum(z[:i]) >= sum(y[:i]) for i in range(1, n + 1))

    def chains(y: tuple[int, ...]) -> list[list[tuple[int, ...]]]:
        return [[y, *rest] for z in above(y) for rest in chains(z)] or [[y]]

    for chain in chains((0,) * n):
        steps = np.diff([value(y) for y in chain])
        if steps.min() < 1e-9 or steps.max() - steps.min() > 1e-9:
            return False
    return True


FORMULAS: dict[str, Callable[..., float]] = {
    "P@4": lambda y: sum(y) / 4,
    "RBP(p=0.5,rel=1)": lambda y: sum(0.5 ** (i + 1) for i in range(4) if y[i]),
    "RBP(p=0.8,rel=1)": lambda y: 0.2 * sum(0.8**i for i in range(4) if y[i]),
    "RR": lambda y: 1 / (y.index(1) + 1) if any(y) else 0.0,
}


@pytest.mark.parametrize("order", ["top", "swaps", "relevant"])
@pytest.mark.parametrize("m", [2, 4, 6])
def test_interval_is_affine_along_every_maximal_chain(order: str, m: int) -> None:
    found = meta.interval_scale(list(FORMULAS), 4, m, order=order).set_index("measure")
    assert found["order"].unique().tolist() == [order]
    for measure, formula in FORMULAS.items():
        assert found.loc[measure, "interval"] == interval_by_definition(
            order, 4, m, formula
        )


def test_a_measure_may_be_an_interval_scale_on_one_order_only() -> None:
    found = {
        order: meta.interval_scale(["P@4", "RBP(p=0.5,rel=1)"], 4, order=order)[
            "interval"
        ].tolist()
        for order in ("top", "swaps", "relevant")
    }
    assert found == {
        "top": [False, True],
        "swaps": [False, False],
        "relevant": [True, False],
    }


class SumOfRanks(Measure):
    """How far up the relevant documents stand, by which every step of 'swaps' is alike."""

    params: ClassVar = {}

    def score(self, run: AlignedRun) -> Floats:
        relevant = run.relevant()
        return np.bincount(
            relevant.query, 5.0 - relevant.rank, minlength=len(relevant.m)
        )


del REGISTRY["SumOfRanks"]  # other tests look at all measures of the library


def test_an_interval_scale_on_swaps() -> None:
    for m in (2, 4):
        row = meta.interval_scale(SumOfRanks(), 4, m, order="swaps").iloc[0]
        assert row["interval"]
        assert row["equally_spaced"]


def test_fewer_relevant_documents() -> None:
    """With one relevant document of 4, TSE is the reciprocal of its rank, or 0."""
    row = meta.interval_scale("TSE", 4, 1).iloc[0]
    assert row["values"] == 5
    assert row["smallest_step"] == pytest.approx(1 / 3 - 1 / 4)
    assert row["interval"] is False or not row["interval"]


def test_bad_orders() -> None:
    with pytest.raises(
        ValueError, match="interval_scale: order must be one of 'top', 'swaps'"
    ):
        meta.interval_scale("AP", order="bottom")
    with pytest.raises(
        ValueError, match="interval_scale: m must be an integer of at least 1"
    ):
        meta.interval_scale("AP", m=0)
