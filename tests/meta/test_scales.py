"""Interval scales: which measures have equally spaced values."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ir_lexirecall import meta


def brute_force(value: object, n: int) -> tuple[int, float, float]:
    """Different values of all rankings of n documents, and the smallest and the largest step; ``value`` of the relevance by rank."""
    steps = np.diff(sorted({round(value(ranking), 12) for ranking in product((0, 1), repeat=n)}))  # type: ignore[operator]
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
    assert found.index[found["equally_spaced"]].tolist() == [f"R@{n}", "RBP(p=0.5,rel=1)"]
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
