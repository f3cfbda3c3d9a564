"""Bradley-Terry strengths where systems tie or are perfectly ordered; the other laws of orders stand in ``test_result``."""

from __future__ import annotations

import math

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


@pytest.mark.parametrize(("wins", "losses", "ties"), [(20, 0, 20), (30, 10, 0), (25, 5, 10), (0, 0, 40)])
def test_ties_are_half_a_win_for_both(wins, losses, ties):
    """Of two systems, the strengths that are most likely differ by the log odds of a win."""
    first, second = bradley_terry(np.array([[0, wins], [losses, 0]]), np.array([[0, ties], [ties, 0]]))
    assert first - second == pytest.approx(math.log((wins + ties / 2) / (losses + ties / 2)), rel=0.01, abs=1e-9)


def test_strengths_that_are_no_numbers_are_regularised_more(monkeypatch):
    choix = pytest.importorskip("choix")
    compute = choix.ilsr_pairwise_dense

    def overflowing(won, alpha):
        return compute(won, alpha=alpha) if alpha > 0.05 else np.full(len(won), np.nan)

    monkeypatch.setattr(choix, "ilsr_pairwise_dense", overflowing)
    assert np.isfinite(bradley_terry(np.array([[0, 3], [1, 0]]), np.zeros((2, 2), dtype=int))).all()
