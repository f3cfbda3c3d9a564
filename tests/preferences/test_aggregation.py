"""Bradley-Terry strengths where systems are perfectly ordered; the other laws of orders stand in ``test_result``."""

from __future__ import annotations

import numpy as np
import pytest

from ir_lexirecall.preferences.aggregation import bradley_terry


@pytest.mark.parametrize(("systems", "queries"), [(2, 10**6), (20, 100), (100, 250), (150, 1000)])
def test_perfectly_ordered_systems_have_finite_strengths_in_their_order(systems, queries):
    """The likelihood has no maximum, and choix finds none with 100 systems and 250 queries."""
    order = np.random.default_rng(0).permutation(systems)
    wins = np.zeros((systems, systems), dtype=np.int64)
    wins[np.ix_(order, order)] = np.triu(np.full((systems, systems), queries), 1)
    strengths = bradley_terry(wins, np.zeros_like(wins))
    assert np.isfinite(strengths).all()
    assert np.argsort(-strengths).tolist() == order.tolist()
