"""Tests for ``pt.Experiment(test=...)``, and what ``pt.lexirecall.Experiment`` makes of that option."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ir_lexirecall import significance
from ir_lexirecall._util.arrays import Floats

PairedTest = Callable[[Floats, Floats], Any]
"""A test as ``pt.Experiment`` calls it: with the values of a system and of the baseline; ``[1]`` is the p-value."""


class SignTest(NamedTuple):
    """Effect (wins - losses) / (wins + losses), and the p-value where ``pt.Experiment`` looks for it."""

    statistic: float
    pvalue: float


def sign_test(system: Any, baseline: Any) -> SignTest:
    """Exact two-sided sign test of paired values, ties left out; p is 1 where nothing differs.

    Args:
        system, baseline: values per query, in the same order.

    >>> sign_test([0.5, 0.7, 0.9, 0.2], [0.4, 0.6, 0.8, 0.2])
    SignTest(statistic=1.0, pvalue=0.25)
    """
    difference = np.asarray(system, dtype=np.float64) - np.asarray(baseline, dtype=np.float64)
    result = significance.sign_test(np.nan_to_num(difference, nan=0.0)[None])
    return SignTest(float(result.estimate[0]), float(result.p[0]))


def paired_test(test: significance.SignificanceTest | PairedTest) -> PairedTest:
    """What ``pt.Experiment`` calls for a test: for those that it has, its own.

    >>> a, b = np.array([0.5, 0.7, 0.9]), np.array([0.4, 0.6, 0.8])
    >>> float(paired_test(significance.SignificanceTest("randomisation"))(a, b)[1])
    0.25
    """
    if not isinstance(test, significance.SignificanceTest):
        return test
    from scipy import stats  # takes longer to import than all of this library

    named: dict[str, PairedTest] = {"t": stats.ttest_rel, "wilcoxon": stats.wilcoxon, "sign": sign_test}
    return named.get(test.named(measure=True).name or "", lambda system, baseline: (0.0, _p(test, system - baseline)))


def _p(test: significance.SignificanceTest, x: Floats) -> float:
    """The p-value of differences; NaN where they are not all numbers, or the test is one of all systems at once."""
    tested = np.isfinite(x).all() and test.name != "tukey"
    return float(test.of_pairs(x[None]).p[0]) if tested else np.nan


class RecordingTest:
    """A test that keeps the values that ``pt.Experiment`` gives it, for further baselines; it never sees those that ``is_hidden``."""

    def __init__(self, test: PairedTest, is_hidden: Callable[[Floats], bool]) -> None:
        self.test = test
        self.pairs: list[tuple[Floats, Floats]] = []
        self._is_hidden = is_hidden

    def __call__(self, system: Floats, baseline: Floats) -> Any:
        self.pairs.append((system, baseline))
        return (0.0, 1.0) if self._is_hidden(baseline) else self.test(system, baseline)

    def values(self, systems: int, baseline: int, measures: list[str]) -> dict[str, list[Floats]]:
        """Values per query by measure and system, after ``pt.Experiment`` compared that many systems with the baseline."""
        calls = iter(self.pairs)
        values: dict[str, list[Floats]] = {measure: [np.zeros(0)] * systems for measure in measures}
        for system in range(systems):
            if system != baseline:
                for measure in measures:
                    values[measure][system], values[measure][baseline] = next(calls)
        return values
