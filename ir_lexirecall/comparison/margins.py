"""Test pairs against a margin: corrected p, verdicts, and bounds that agree with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Interval
from ir_lexirecall.significance import (
    MarginTest,
    SignificanceTest,
    corrected,
    margin_verdicts,
)

Corrected: TypeAlias = tuple[list[Floats], list[Bools]]
"""Corrected p of several sets of pairs, and which are rejected."""


def corrected_together(p: Sequence[Floats], test: SignificanceTest) -> Corrected:
    """Return p of several sets of pairs, corrected as one family, and which are rejected.

    Tukey's HSD accounts for the pairs of one set only, so p of several sets are corrected, too.
    """
    if len(p) == 1:
        method = test.counted_correction
    else:
        method = test.correction
    adjusted, reject = corrected(np.concatenate(p), method, test.alpha)
    ends = np.cumsum([len(one) for one in p])[:-1]
    return np.split(adjusted, ends), np.split(reject, ends)


def margin_columns(
    tested: Mapping[str, Sequence[MarginTest]], test: SignificanceTest
) -> dict[str, list[dict[str, Any]]]:
    """Return what a margin adds to the table, by criterion, for each set of pairs that was tested.

    `worse_p` and `better_p` are corrected over all criteria and pairs, `within_p` and
    `not_worse_p` over the pairs of their criterion: all criteria must pass.

    Args:
        tested: the p of each criterion, of one set of pairs, or of one for each group.
        test: its correction and level.
    """
    of_all = [part for parts in tested.values() for part in parts]
    worse = iter(corrected_together([part.worse for part in of_all], test)[0])
    better = iter(corrected_together([part.better for part in of_all], test)[0])
    columns: dict[str, list[dict[str, Any]]] = {}
    for name, parts in tested.items():
        within, _ = corrected_together([part.within for part in parts], test)
        not_worse, _ = corrected_together([part.not_worse for part in parts], test)
        columns[name] = []
        for of_margin, of_loss in zip(within, not_worse, strict=True):
            adjusted = MarginTest(next(better), next(worse), of_loss, of_margin)
            columns[name].append(
                {
                    "worse_p": adjusted.worse,
                    "better_p": adjusted.better,
                    "within_p": adjusted.within,
                    "not_worse_p": adjusted.not_worse,
                    "verdict": margin_verdicts(adjusted, test.alpha).tolist(),
                }
            )
    return columns


def agreeing_bounds(
    bounds: Interval,
    tested: MarginTest,
    is_better: Bools,
    margin: float,
    least: Floats,
    alpha: float,
) -> Interval:
    """Return one-sided bounds of gains that lie on the side of 0 and of the margin where p says so.

    A one-sided p of a gain is not enough for a lower bound above 0: on few differing queries it
    can be small where neither *better* nor *not worse* can be said.

    Args:
        bounds: lower and upper ones, shape ``(P,)`` each.
        tested: one-sided p, before any correction.
        is_better: whether the verdict is *better*.
        margin: D.
        least: the smallest loss that ties do not forbid to rule out, shape ``(P,)``.
        alpha: level of each bound.

    >>> tested = MarginTest(*np.array([[0.9], [0.9], [0.9], [0.9]]))
    >>> ends, is_better = (np.zeros(1), np.zeros(1)), np.array([False])
    >>> agreeing_bounds(ends, tested, is_better, 0.01, np.array([0.26]), 0.05)
    (array([-0.26]), array([0.26]))
    """
    low, high = bounds
    tiny = np.nextafter(0.0, 1.0)
    inside = np.nextafter(margin, 0.0)
    rules_out_loss = tested.not_worse <= alpha
    gains = is_better | ((tested.better <= alpha) & rules_out_loss)
    loses = tested.worse <= alpha
    low = np.where(gains, low, np.minimum(low, -least))
    high = np.where(loses, high, np.maximum(high, least))
    low = np.where(rules_out_loss, np.maximum(low, -inside), low)
    low = np.where(rules_out_loss | gains, low, np.minimum(low, -margin))
    low = np.where(gains, np.maximum(low, tiny), np.minimum(low, 0.0))
    high = np.where(tested.within <= alpha, np.minimum(high, inside), high)
    rules_out_loss_only = rules_out_loss & (tested.within > alpha) & ~loses
    high = np.where(rules_out_loss_only, np.maximum(high, margin), high)
    high = np.where(loses, np.minimum(high, -tiny), np.maximum(high, 0.0))
    return low, high
