"""The paired t-test."""

from __future__ import annotations

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.lazy import special
from ir_lexirecall.significance.intervals import TestResult, effect_of_mean, mean_and_deviation, moved
from ir_lexirecall.significance.one_magnitude import exact_where_of_one_magnitude


def t_test(x: Floats, alpha: float = 0.05) -> TestResult:
    """Paired t-test of the mean difference, with its t interval.

    Where the differences other than 0 have one magnitude (wins, losses and ties; one query that differs; all equal), p is
    that of the exact randomisation test, 2^(1-Q) for Q equal ones, with the interval of ``exact_test``. Where all are 0, p
    is 1 and the interval [0, 0]. One query says nothing of the spread: p is 1, and the interval has no ends.

    Source: Student, The Probable Error of a Mean, Biometrika 1908, doi 10.1093/biomet/6.1.1.

    >>> result = t_test(np.array([[0.1, 0.3, 0.2, 0.0], [0.5, 0.5, 0.5, 0.5]]))
    >>> result.p.round(4), result.low.round(4), result.high.round(4)
    (array([0.1027, 0.125 ]), array([-0.0554, -0.0951]), array([0.3554, 0.5   ]))
    """
    return exact_where_of_one_magnitude(x, alpha, lambda rows: t_of_mean(rows, alpha, x.shape[1] - 1))


def t_of_mean(x: Floats, alpha: float, degrees: float) -> TestResult:
    """The t-test with given degrees of freedom, of rows of at least two queries that are not of one magnitude."""
    mean, deviation = mean_and_deviation(x)
    error = deviation / np.sqrt(x.shape[1])
    half = -special.stdtrit(degrees, alpha / 2) * error
    p = 2 * special.stdtr(degrees, -np.abs(mean / error))
    return TestResult(mean, mean - half, mean + half, p, effect_of_mean(x))


def one_sided_t_p(x: Floats, shifts: Floats, degrees: float) -> Floats:
    """p of means of at most -shift, shape ``(K, P)``, of rows of at least two queries that are not of one magnitude.

    >>> one_sided_t_p(np.array([[0.1, 0.3, 0.2, 0.0]]), np.array([[0.0], [0.1]]), 3).round(4)
    array([[0.0514],
           [0.0152]])
    """
    error = mean_and_deviation(x)[1] / np.sqrt(x.shape[1])
    means = np.stack([mean_and_deviation(moved(x, shift))[0] for shift in shifts])
    return special.stdtr(degrees, -means / error)
