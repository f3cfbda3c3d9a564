"""The sign test, in closed form."""

from __future__ import annotations

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import special
from ir_lexirecall.significance.intervals import TestResult


def sign_test(x: Floats, alpha: float = 0.05) -> TestResult:
    """Exact two-sided binomial test of wins (x > 0) against losses, ties left out, with the interval of Clopper and Pearson.

    The estimate is the effect (wins - losses) / (wins + losses), in [-1, 1]. Both tails of the test and of the interval
    hold at most alpha / 2, so they agree. Without a win or a loss, p is 1, the estimate 0 and the interval [-1, 1].

    Source: Clopper, Pearson, The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial,
    Biometrika 1934, doi 10.1093/biomet/26.4.404.

    >>> result = sign_test(np.array([[1.0, 1.0, 1.0, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0, 0.0]]))
    >>> result.p, result.estimate
    (array([0.625, 1.   ]), array([0.5, 0. ]))
    >>> result.low.round(4), result.high.round(4)
    (array([-0.6118, -1.    ]), array([0.9874, 1.    ]))
    """
    wins, losses = np.count_nonzero(x > 0, axis=1), np.count_nonzero(x < 0, axis=1)
    decided = wins + losses
    effect = np.divide(wins - losses, decided, out=np.zeros(len(x)), where=decided > 0)
    # Lower limits of the shares of wins and of losses; the beta distribution degenerates where there are none.
    least_wins = np.where(wins > 0, special.betaincinv(np.maximum(wins, 1), losses + 1, alpha / 2), 0.0)
    least_losses = np.where(losses > 0, special.betaincinv(np.maximum(losses, 1), wins + 1, alpha / 2), 0.0)
    p = sign_test_p(np.minimum(wins, losses), decided)
    return TestResult(effect, 2 * least_wins - 1, 1 - 2 * least_losses, p, effect)


def sign_test_p(fewer: Ints, decided: Ints) -> Floats:
    """p of the sign test from the smaller of wins and losses and their sum: twice the smaller binomial tail.

    >>> sign_test_p(np.array([0, 1, 4]), np.array([6, 8, 8]))
    array([0.03125  , 0.0703125, 1.       ])
    """
    return np.where(decided > 0, np.minimum(1, 2 * special.bdtr(fewer, np.maximum(decided, 1), 0.5)), 1.0)


def one_sided_sign_p(x: Floats, shifts: Floats) -> Floats:
    """p of the sign test of effects (wins - losses) / (wins + losses) of at most -shift, shape ``(K, P)``.

    That many wins or more when each decided query is won with a probability of (1 - shift) / 2. An effect is never below -1.

    >>> one_sided_sign_p(np.array([[1.0, 1.0, 1.0, 0.0, -1.0]]), np.array([[0.0], [0.5]])).round(4)
    array([[0.3125],
           [0.0508]])
    """
    wins, losses = np.count_nonzero(x > 0, axis=1), np.count_nonzero(x < 0, axis=1)
    p = special.bdtr(losses, np.maximum(wins + losses, 1), (1 + np.minimum(shifts, 1)) / 2)
    return np.where(shifts > 1, 0.0, np.where(wins == 0, 1.0, p))
