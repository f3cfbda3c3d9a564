"""Better, worse, level or undecided: the one place where a comparison of two runs is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.significance.verdict import Verdict

# Tables hold plain texts, which print as such.
BETTER = Verdict.BETTER.value
WORSE = Verdict.WORSE.value
WITHIN = Verdict.WITHIN.value
NOT_WORSE = Verdict.NOT_WORSE.value
UNDECIDED = Verdict.UNDECIDED.value
ANY_JUDGING, UNDONE, NOT_BOUNDED = "under any judging", "could be undone", "not bounded"
"""How a significant difference holds, whatever grades its unjudged documents get."""
_TURNED = {BETTER: WORSE, WORSE: BETTER, WITHIN: WITHIN}
_P_WITH_MARGIN = {
    BETTER: "better_p",
    WORSE: "worse_p",
    WITHIN: "within_p",
    NOT_WORSE: "not_worse_p",
}


def two_sided(reject: Bools, gain: Floats | Ints) -> list[str]:
    """Return verdicts without a margin: better or worse if the corrected test rejects, by sign.

    >>> two_sided(np.array([True, True, False]), np.array([0.1, -0.2, 0.3]))
    ['better', 'worse', 'undecided']
    """
    verdict_of_sign = {1: BETTER, -1: WORSE}
    signs = np.where(reject, np.sign(gain), 0)
    return [verdict_of_sign.get(sign, UNDECIDED) for sign in signs.tolist()]


def turned_verdict(verdict: str) -> str:
    """Return the verdict on the second run of a pair, from that on the first.

    >>> turned_verdict("better"), turned_verdict("not worse")
    ('worse', 'undecided')
    """
    return _TURNED.get(verdict, UNDECIDED)


def p_of_verdict(row: Any, *, has_margin: bool) -> float:
    """Return the p-value that the verdict of a row rests on; NaN if a margin leaves it undecided.

    >>> from types import SimpleNamespace
    >>> row = SimpleNamespace(verdict="worse", p_corrected=0.06, worse_p=0.03)
    >>> p_of_verdict(row, has_margin=True), p_of_verdict(row, has_margin=False)
    (0.03, 0.06)
    """
    column = "p_corrected"
    if has_margin:
        column = _P_WITH_MARGIN.get(row.verdict, "")
    return float(getattr(row, column, np.nan))


def p_of_verdicts(rows: pd.DataFrame) -> Floats:
    """Return `p_of_verdict` of each row of a table with a margin, shape ``(P,)``."""
    p = np.full(len(rows), np.nan)
    for verdict, column in _P_WITH_MARGIN.items():
        p = np.where(rows["verdict"] == verdict, rows[column], p)
    return p


def all_pairs(runs: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """Return the pairs to compare: all, in the order of the runs, or each run with the baseline.

    >>> all_pairs(["a", "b", "c"], None), all_pairs(["a", "b", "c"], "b")
    ([('a', 'b'), ('a', 'c'), ('b', 'c')], [('a', 'b'), ('c', 'b')])
    """
    if baseline is None:
        return list(combinations(runs, 2))
    return [(run, baseline) for run in runs if run != baseline]


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of one criterion, by pair of runs.

    >>> verdicts = Verdicts({("a", "b"): "better"})
    >>> verdicts.on("a", "b"), verdicts.on("b", "a"), verdicts.on("a", "c")
    ('better', 'worse', None)
    """

    pairs: Mapping[tuple[str, str], str] = field(repr=False)

    def on(self, run: str, beside: str) -> str | None:
        """Return the verdict on a run beside another; None if the two were not compared."""
        if (run, beside) in self.pairs:
            return self.pairs[run, beside]
        verdict = self.pairs.get((beside, run))
        if verdict is None:
            return None
        return turned_verdict(verdict)

    def beaten(self, run: str, others: Sequence[str]) -> list[str]:
        """Return which of the other runs a run is better than."""
        return [other for other in others if self.on(run, other) == BETTER]

    @cached_property
    def decided(self) -> int:
        """How many pairs differ significantly."""
        return sum(verdict in (BETTER, WORSE) for verdict in self.pairs.values())
