"""Tests for ``pt.Experiment(test=...)``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ir_lexirecall import significance


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
    return SignTest(float(result.effect_size[0]), float(result.p[0]))
