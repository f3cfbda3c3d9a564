"""What differs by rounding only: one rule, whatever the size of the numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_lexirecall._util.rounding import levelled, same, settled

numbers = st.lists(st.integers(-1000, 1000).map(lambda n: n / 7), min_size=1, max_size=50)


@given(numbers, st.randoms(use_true_random=False), st.integers(-900, 900))
def test_sums_in_another_order_are_the_same_at_any_scale(terms: list[float], random: object, exponent: int) -> None:
    shuffled = sorted(terms, key=lambda _: random.random())  # type: ignore[attr-defined]
    a, b = (np.ldexp(np.add.reduce(x) + 1e5, exponent) for x in (terms, shuffled))
    assert same(a, b)
    assert not same(a, np.ldexp(b, 1))
    assert settled(np.array([a - b]), abs(a)) == 0
    assert len(np.unique(levelled(np.array([[a], [a * (1 + 2.0**-50)]])))) == 1


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(np.inf, np.inf, True), (np.inf, -np.inf, False), (np.nan, np.nan, False)]
)
def test_ends_of_the_scale(a: float, b: float, expected: bool) -> None:
    assert bool(same(a, b)) is expected
