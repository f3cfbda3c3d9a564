"""Noncentralities by polynomials, beside those that are solved for one by one."""

from __future__ import annotations

import numpy as np
import pytest

from ir_lexirecall.significance import effect_interval
from ir_lexirecall.significance.effect_intervals import (
    noncentrality,
    solved_noncentrality,
)

RNG = np.random.default_rng(0)
T = np.concatenate(
    [[0.0, 1.0, 2.0, 64.0, 1e3], RNG.exponential(3.0, 40), RNG.uniform(0, 200, 15)]
)


@pytest.mark.parametrize("level", [0.025, 0.975, 0.0005, 0.9995, 0.1])
@pytest.mark.parametrize("df", [1.0, 2.0, 4.0, 9.0, 49.0, 249.0, 1e4, 1e7])
def test_the_polynomials_give_what_is_solved_for(df: float, level: float) -> None:
    interpolated, solved = (
        noncentrality(T, df, level),
        solved_noncentrality(T, df, level),
    )
    np.testing.assert_allclose(interpolated, solved, rtol=1e-10, atol=1e-10)


def test_an_interval_does_not_depend_on_the_pairs_beside_it() -> None:
    effect = RNG.normal(0, 0.5, 40_000)
    of_all = np.stack(effect_interval(effect, 50))
    some = RNG.choice(len(effect), 50, replace=False)
    of_each = np.stack([effect_interval(effect[[i]], 50) for i in some], axis=1)[..., 0]
    assert np.array_equal(of_all[:, some], of_each)
