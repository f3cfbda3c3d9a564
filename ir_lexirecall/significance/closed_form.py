"""Tests with a closed form: the sign test and the t-test."""

from __future__ import annotations

import numpy as np

from ir_lexirecall.arrays import Floats, Ints
from ir_lexirecall.significance.intervals import TestResult, effect_of_mean, mean_and_deviation


def sign_test(x: Floats, alpha: float = 0.05) -> TestResult:
    """Exact two-sided binomial test of wins against losses, ties left out, with the interval of Clopper and Pearson.

    The estimate is the effect (wins - losses) / (wins + losses), in [-1, 1]. Both tails of the test and of the interval
    hold at most alpha / 2, so they agree. Without a win or a loss, p is 1, the estimate 0 and the interval [-1, 1].

    Args:
        x: differences or preferences of P pairs on Q queries, shape ``(P, Q)``. Only their signs count.
        alpha: 1 - confidence of the interval.

    Source: Clopper, Pearson, The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial,
    Biometrika 1934, doi 10.1093/biomet/26.4.404.

    >>> result = sign_test(np.array([[1.0, 1.0, 1.0, 0.0, -1.0], [0.0, 0.0, 0.0, 0.0, 0.0]]))
    >>> result.p, result.estimate
    (array([0.625, 1.   ]), array([0.5, 0. ]))
    >>> result.low.round(4), result.high.round(4)
    (array([-0.6118, -1.    ]), array([0.9874, 1.    ]))
    """
    from scipy import special  # not needed to import this library

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
    from scipy import special  # not needed to import this library

    return np.where(decided > 0, np.minimum(1, 2 * special.bdtr(fewer, np.maximum(decided, 1), 0.5)), 1.0)


def t_test(x: Floats, alpha: float = 0.05) -> TestResult:
    """Paired t-test of the mean difference, with its t interval.

    The same difference other than 0 on every query has p 0 and an interval of one point; where all are 0, p is 1 and the
    interval [0, 0]. One query says nothing of the spread: p is 1, and the interval has no ends.

    Args:
        x: differences of P pairs on Q queries, shape ``(P, Q)``.
        alpha: 1 - confidence of the interval.

    Source: Student, The Probable Error of a Mean, Biometrika 1908, doi 10.1093/biomet/6.1.1.

    >>> result = t_test(np.array([[0.1, 0.3, 0.2, 0.0], [0.5, 0.5, 0.5, 0.5]]))
    >>> result.p.round(4), result.low.round(4), result.high.round(4)
    (array([0.1027, 0.    ]), array([-0.0554,  0.5   ]), array([0.3554, 0.5   ]))
    """
    from scipy import special  # not needed to import this library

    queries = x.shape[1]
    mean, deviation = mean_and_deviation(x)
    if queries < 2:
        nothing = np.full(len(x), np.inf)
        return TestResult(mean, -nothing, nothing, np.ones(len(x)), effect_of_mean(x))
    error = deviation / np.sqrt(queries)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, 0.0, mean / error)
    half = -special.stdtrit(queries - 1, alpha / 2) * error
    p = 2 * special.stdtr(queries - 1, -np.abs(t))
    return TestResult(mean, mean - half, mean + half, p, effect_of_mean(x))
