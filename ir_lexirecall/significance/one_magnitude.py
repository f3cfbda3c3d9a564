"""Differences that are 0 or of one magnitude c: wins, losses and ties, as preferences and binary measures have.

Their sum is c times a count, so the exact randomisation test of their mean is the binomial test of wins against losses. The
t-test and the bootstrap have nothing to judge the spread by where all differences are equal, and reject too often where they
are few (with 8 of +-c in 8.5% of samples at level 5%, with 2 in half of them).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats
from ir_lexirecall._util.lazy import special
from ir_lexirecall.significance.binomial import one_sided_sign_p, sign_test_p
from ir_lexirecall.significance.intervals import RELATIVE, TestResult, effect_of_mean, mean_and_deviation, moved


def preference_interval(x: Floats, alpha: float = 0.05) -> tuple[Floats, Floats]:
    """Interval of mean preferences in [-1, 1]: low and high ends, shape ``(S,)`` each; never a point.

    The t interval of the Q preferences and two more, a win and a loss, cut at -1 and 1. In simulations 95% intervals
    hold the true mean in 93 to 100% for 5 to 250 queries, whether it is 0 or .98; the plain t interval in 5 to 99%.

    Args:
        x: preferences of S runs on Q queries (against one run, or averaged over several), shape ``(S, Q)``.
        alpha: 1 - confidence.

    Source: Bonett, Price, Adjusted Wald Confidence Interval for a Difference of Binomial Proportions Based on Paired Data,
    Journal of Educational and Behavioral Statistics 2012, doi 10.3102/1076998611411915, of preferences -1, 0 and 1.

    >>> low, high = preference_interval(np.array([[1.0] * 10, [1.0] * 5 + [-0.5] * 5]))
    >>> low.round(3), high.round(3)
    (array([ 0.467, -0.324]), array([1.   , 0.741]))
    """
    middle, error = _with_a_win_and_a_loss(x)
    half = -special.stdtrit(x.shape[1] + 1, alpha / 2) * error
    return np.clip(middle - half, -1, 1), np.clip(middle + half, -1, 1)


def _with_a_win_and_a_loss(x: Floats) -> tuple[Floats, Floats]:
    """Mean and its standard error with 1 and -1 added to each row; they have Q + 1 degrees of freedom."""
    n = x.shape[1] + 2
    middle = x.sum(axis=1) / n
    return middle, np.sqrt(((x**2).sum(axis=1) + 2 - n * middle**2) / (n - 1) / n)


def of_one_magnitude(x: Floats) -> Bools:
    """Which rows hold only 0, c and -c, but for rounding: shape ``(P,)``.

    >>> of_one_magnitude(np.array([[0.1, 0.0, -0.1], [0.1, 0.2, 0.0], [0.0, 0.0, 0.0]]))
    array([ True, False,  True])
    """
    magnitude = np.abs(x)
    largest = magnitude.max(axis=1, initial=0, keepdims=True)
    return np.all((magnitude >= largest * (1 - RELATIVE)) | (magnitude == 0), axis=1)


def exact_test(x: Floats, alpha: float) -> TestResult:
    """Exact randomisation test of the mean of differences that are 0, c and -c, and ``c preference_interval(x / c)``.

    The interval is widened to hold 0 where the test does not reject, and cut at 0 where it does. One query says nothing of
    the spread: the interval has no ends.

    >>> result = exact_test(np.array([[0.2, 0.2], [0.2, -0.2], [0.0, 0.0]]), 0.05)
    >>> result.p, result.estimate, result.low.round(3), result.high.round(3)
    (array([0.5, 1. , 1. ]), array([0.2, 0. , 0. ]), array([-0.2, -0.2,  0. ]), array([0.2, 0.2, 0. ]))
    """
    wins, losses = np.count_nonzero(x > 0, axis=1), np.count_nonzero(x < 0, axis=1)
    p = sign_test_p(np.minimum(wins, losses), wins + losses)
    mean = np.where(wins == losses, 0.0, mean_and_deviation(x)[0])
    if x.shape[1] < 2:
        nothing = np.full(len(x), np.inf)
        return TestResult(mean, -nothing, nothing, p, effect_of_mean(x))
    c = np.abs(x).max(axis=1, initial=0)
    low, high = preference_interval(np.sign(x), alpha)
    low, high = np.minimum(c * low, mean), np.maximum(c * high, mean)
    reject = p <= alpha
    low = np.where(reject & (mean > 0), np.maximum(low, 0), np.where(reject, low, np.minimum(low, 0)))
    high = np.where(reject & (mean < 0), np.minimum(high, 0), np.where(reject, high, np.maximum(high, 0)))
    return TestResult(mean, low, high, p, np.where(wins == losses, 0.0, effect_of_mean(x)))


def exact_where_of_one_magnitude(x: Floats, alpha: float, test: Callable[[Floats], TestResult]) -> TestResult:
    """``exact_test`` of the rows of one magnitude, ``test`` of the others."""
    exact = of_one_magnitude(x)
    if not exact.any():
        return test(x)
    result = TestResult(*np.empty((5, len(x))))
    for rows, tested in ((exact, exact_test(x[exact], alpha)), (~exact, test(x[~exact]))):
        for array, part in zip(result.arrays, tested.arrays, strict=True):
            array[rows] = part
    return result


def one_sided_exact_p(x: Floats, shifts: Floats) -> Floats:
    """p of means of at most -shift, of differences of one magnitude c, shape ``(K, P)``.

    For a shift of 0 the exact randomisation test, one-sided. For a larger one the t of ``preference_interval(x / c)``, but
    never above that exact p, nor below 2^-Q, the exact p of Q wins: little is known from few queries that are all alike; and
    not below 1/2 where the mean itself is at most -shift.

    >>> one_sided_exact_p(np.array([[0.01, 0.0, -0.01] * 5]), np.array([[0.0], [0.005], [0.5]])).round(4)
    array([[0.623],
           [0.015],
           [0.   ]])
    """
    queries = x.shape[1]
    exact = one_sided_sign_p(x, np.zeros_like(shifts))
    c = np.abs(x).max(axis=1, initial=0)
    middle, error = _with_a_win_and_a_loss(np.sign(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        p = special.stdtr(queries + 1, -(middle + shifts / c) / error)
    within = np.stack([moved(mean_and_deviation(x)[0][:, None], shift)[:, 0] > 0 for shift in shifts])
    p = np.clip(np.where(c == 0, 0.0, p), np.where(within, 2.0**-queries, 0.5), exact)
    return np.where(shifts > 0, p, exact)
