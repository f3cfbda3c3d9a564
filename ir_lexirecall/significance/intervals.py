"""What every test gives, and how a test and its interval are kept from contradicting each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints

Bounds = tuple[float, float]

LEVEL = 1e-12  # of the scale of what is added: smaller sums are rounding
RELATIVE = 1e-9  # numbers that differ by less, relative to what they are made of, are equal but for rounding


@dataclass(frozen=True)
class TestResult:
    """Estimates with their intervals, p-values and effect sizes: arrays of one shape, a number per pair.

    Attributes:
        estimate: of the difference; its kind depends on the test (see ``SignificanceTest``).
        low, high: ends of its interval at confidence 1 - alpha. It leaves out 0 exactly where p <= alpha.
        p: p-value, before any correction.
        effect_size: of no unit: (wins - losses) / (wins + losses) for the sign test, the matched-pairs rank-biserial
            correlation for Wilcoxon's, else mean / standard deviation of the differences (Cohen's d_z).

    An index selects the same pairs of all arrays.

    >>> result = TestResult(*np.arange(15).reshape(5, 3))
    >>> result[1:].p
    array([10, 11])
    """

    estimate: Floats
    low: Floats
    high: Floats
    p: Floats
    effect_size: Floats

    __test__ = False  # not one of pytest's

    def __getitem__(self, index: Any) -> TestResult:
        return TestResult(*(array[index] for array in self.arrays))

    @property
    def arrays(self) -> list[Floats]:
        """The five arrays in the order of the attributes."""
        return [getattr(self, field.name) for field in fields(self)]

    @staticmethod
    def concatenate(results: Sequence[TestResult]) -> TestResult:
        """One result of the pairs of several, in order."""
        return TestResult(*(np.concatenate(arrays) for arrays in zip(*(r.arrays for r in results), strict=True)))


def scaled(x: Floats) -> tuple[Floats, Ints]:
    """Each row of ``x`` times the power of two that brings its largest magnitude into [1/2, 1), and its exponent.

    Multiplying by a power of two rounds nothing: what follows neither over- nor underflows, and every threshold below it
    is relative to the row.

    >>> scaled(np.array([[3.0, -4.0], [0.0, 0.0]]))
    (array([[ 0.375, -0.5  ],
           [ 0.   ,  0.   ]]), array([[3],
           [0]]...))
    """
    exponent = np.frexp(np.abs(x).max(axis=1, initial=0, keepdims=True))[1]
    return np.ldexp(x, -exponent), exponent


def unscaled(result: TestResult, exponent: Ints) -> TestResult:
    """The result for the rows that ``scaled`` was given."""
    exponent = exponent.reshape(result.p.shape)
    estimate, low, high = (np.ldexp(array, exponent) for array in (result.estimate, result.low, result.high))
    return TestResult(estimate, low, high, result.p, result.effect_size)


def moved(x: Floats, shift: Floats) -> Floats:
    """``x`` plus a shift of each row, and 0 where only rounding, 1e-12 of the terms, is left.

    >>> moved(np.array([[0.79 - 0.8, 0.02]]), np.array([0.01]))
    array([[0.  , 0.03]])
    """
    total = x + shift[:, None]
    total[np.abs(total) <= LEVEL * np.maximum(np.abs(x), np.abs(shift[:, None]))] = 0
    return total


def effect_of_mean(x: Floats) -> Floats:
    """Cohen's d_z of each row of differences, shape ``(P, Q)``: mean / standard deviation; 0 for fewer than 2 queries.

    >>> effect_of_mean(np.array([[1.0, 3.0, 2.0], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]]))
    array([ 2., inf,  0.])
    """
    mean, deviation = mean_and_deviation(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((mean == 0) | np.isnan(deviation), 0.0, mean / deviation)


def mean_and_deviation(x: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation (ddof 1) of each row; rows of one number have exactly that and 0; NaN for one query."""
    constant = np.all(x == x[:, :1], axis=1)
    mean = np.where(constant, x[:, 0], x.mean(axis=1))
    if x.shape[1] < 2:
        return mean, np.full(len(x), np.nan)
    return mean, np.where(constant, 0.0, x.std(axis=1, ddof=1))


def most_extreme(n_resamples: int, alpha: float) -> int:
    """How many of the resamples, the observed sample counted with them, may be as extreme where p <= alpha.

    With p = (1 + count) / (1 + n_resamples), a test rejects where count is below this number k, and so the k-th most
    extreme resample is where its interval ends; 0: no p is that small, and the interval has no ends.

    >>> most_extreme(9999, 0.05), most_extreme(19, 0.05), most_extreme(18, 0.05)
    (500, 1, 0)
    """
    k = int(alpha * (n_resamples + 1))
    while (k + 1) / (n_resamples + 1) <= alpha:  # the very division that gives p
        k += 1
    while k and k / (n_resamples + 1) > alpha:
        k -= 1
    return k


def agreeing(result: TestResult, alpha: float, bounds: Bounds | None) -> TestResult:
    """The result with intervals cut at ``bounds``, and with ends that leave out 0 exactly where p <= alpha.

    Test and interval agree by construction. What is mended here is rounding, and the case p = alpha, which rejects, while
    the end of a closed interval is 0: it becomes the next number.
    """
    low, high = result.low, result.high
    if bounds is not None:
        low, high = np.clip(low, *bounds), np.clip(high, *bounds)
    reject, above = result.p <= alpha, result.estimate > 0
    smallest = np.nextafter(0.0, 1.0)
    low = np.where(reject & above, np.maximum(low, smallest), low)
    high = np.where(reject & ~above, np.minimum(high, -smallest), high)
    low, high = np.where(reject, low, np.minimum(low, 0.0)), np.where(reject, high, np.maximum(high, 0.0))
    return TestResult(result.estimate, low, high, result.p, result.effect_size)
