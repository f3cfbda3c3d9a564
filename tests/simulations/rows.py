"""Rows of the table of coverage: shares of samples beside nominal ones, with remarks; and the data of simulations."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from ir_lexirecall import significance as sig
from ir_lexirecall.significance import SignificanceTest

Floats = np.ndarray
ALPHA = 0.05
TOLERANCE = 0.015
RESAMPLES = 999
BLOCKS = 10  # of samples, that are resampled with seeds of their own

DISCRETE = "exact test of counts"
FEW = "few queries"
FEW_COLLECTIONS = "few collections"
ENDS = "near the ends of the scale"
RANKS = "ranks are whole numbers"
JOINT = "all pairs together"
FAMILY = "for the worst case"
BOTH = "both sides must hold"
WHOLE = "whole numbers"
HULL = "holds people's queries alone, too"
STOPPING = "valid however long one looks"
NEXT = "holds what the next collection shows, too"
SKEW = "long tails on the other side"
WITHHELD = "no interval where sizes of groups differ and may go with effects"
MORE_QUERIES = "take more queries"
RARE_LOSS = "no test finds losses on few queries"
MORE_COLLECTIONS = "take more collections or queries"
INTERVALS = "take bootstrap, or more queries"
BASELINE_OR_MORE = "compare with a baseline, or take more queries"
BASELINE_BY_T = "compare with a baseline by t with Holm"
ROUGH = "read its interval as a rough one"
UNTRIED = "more queries were not measured"
NO_HELP = "more queries do not help"

WITHOUT_MORE = {
    MORE_QUERIES: "",
    INTERVALS: "take bootstrap",
    BASELINE_OR_MORE: "compare with a baseline",
}
"""Advice to take more queries, and what is left of it where they do not help."""
QUERIES = re.compile(r"\b(?:(\d+) groups of )?(\d+)(?: (?:of|to) \d+)? queries")


@dataclass(frozen=True)
class Row:
    """A share of samples beside the nominal one.

    Attributes:
        statement: what is said.
        setting: of which data.
        level: nominal share: of intervals that hold the truth, above 1/2, or of false verdicts.
        share: measured.
        samples: that it was measured in.
        reason: why the statement keeps more than its level, if it does.
        worst: of resampled pairs of real runs, whose mean the share is, the share of the worst pair.
        instead: what to do where it keeps less.
        reached: whether the level is a power to be reached, not an error or a confidence.
        for_some: what to say where only some pairs keep less; by default ``instead``.
    """

    statement: str
    setting: str
    level: float
    share: float
    samples: int
    reason: str = ""
    worst: float | None = None
    instead: str = ""
    reached: bool = False
    for_some: str = ""

    @property
    def excess(self) -> float:
        """By how much the statement is true more often than it says."""
        return self.share - self.level if self.level > 0.5 else self.level - self.share

    @property
    def remark(self) -> str:
        """*off* where it is true less often than it says, or by more than chance for the worst pair; the reason where more often."""
        if self.excess < -TOLERANCE:
            return f"off: {self.instead}" if self.instead else "off"
        if self.worst is not None:
            chance = 4 * np.sqrt(ALPHA * (1 - ALPHA) / self.samples)
            worst = (
                self.worst - self.level if self.level > 0.5 else self.level - self.worst
            )
            if worst < -TOLERANCE - chance:
                advice = self.for_some or self.instead
                return (
                    f"off for some pairs: {advice}" if advice else "off for some pairs"
                )
        if self.reached:
            return ""
        return (
            f"conservative: {self.reason or 'unexplained'}"
            if self.excess > TOLERANCE
            else ""
        )


def covers(statement: str, setting: str, holds: Floats, reason: str = "") -> Row:
    """A row of an interval; ``holds``: per sample (and run), whether it holds the truth."""
    return Row(statement, setting, 1 - ALPHA, float(np.mean(holds)), len(holds), reason)


def false(statement: str, setting: str, said: Floats, reason: str = "") -> Row:
    """A row of a verdict; ``said``: per sample, whether it was said though it is false."""
    return Row(statement, setting, ALPHA, float(np.mean(said)), len(said), reason)


@dataclass(frozen=True)
class PrintedRow:
    """A row as the table prints it."""

    statement: str
    setting: str
    level: str
    share: str
    worst: str
    remark: str

    @property
    def n_queries(self) -> int:
        """Number of queries that the setting names, 0 without one."""
        named = QUERIES.search(self.setting)
        return int(named[1] or 1) * int(named[2]) if named else 0

    def is_larger_or_smaller(self, other: PrintedRow) -> bool:
        """Return whether two rows differ in nothing but the number of queries."""
        first = self.statement, QUERIES.sub("queries", self.setting)
        second = other.statement, QUERIES.sub("queries", other.setting)
        return first == second and self.n_queries != other.n_queries

    def gap(self, of_worst: bool) -> float:
        """Return by how much more often than promised the row, or its worst pair, is wrong."""
        share = float((of_worst and self.worst) or self.share)
        excess = share - float(self.level)
        return -excess if float(self.level) > 0.5 else excess


def advised(rows: Sequence[PrintedRow]) -> list[PrintedRow]:
    """Return the rows, whose advice to take more queries follows their numbers.

    It stays where rows with more queries are all nearer to their level. If only the largest are,
    the advice names their number.
    """
    return [replace(row, remark=_remark_by_rows(row, rows)) for row in rows]


def _remark_by_rows(row: PrintedRow, rows: Sequence[PrintedRow]) -> str:
    """Return the remark of a row beside those that differ only in the number of queries."""
    off, _, advice = row.remark.partition(": ")
    if advice not in WITHOUT_MORE:
        return row.remark
    gaps = {
        other.n_queries: other.gap(of_worst=off != "off")
        for other in rows
        if other == row or row.is_larger_or_smaller(other)
    }
    if _gets_better(gaps, row.n_queries):
        return row.remark
    if without := WITHOUT_MORE[advice]:
        return f"{off}: {without}"
    n_smaller = max((n for n in gaps if n < row.n_queries), default=None)
    is_largest = row.n_queries == max(gaps)
    if is_largest and (n_smaller is None or gaps[n_smaller] > gaps[row.n_queries]):
        return f"{off}: {UNTRIED}"
    enough = _queries_from_which_all_are_better(gaps, row.n_queries)
    return f"{off}: " + (f"take {enough} queries or more" if enough else NO_HELP)


def _gets_better(gaps: Mapping[int, float], n: int) -> bool:
    """Return whether there are larger rows, all of which are better."""
    larger = [gap for other, gap in gaps.items() if other > n]
    return bool(larger) and max(larger) < gaps[n]


def _queries_from_which_all_are_better(gaps: Mapping[int, float], n: int) -> int | None:
    """Return the fewest queries from which all rows are better than that of n queries."""
    larger = sorted(other for other in gaps if other > n)
    no_better = max((other for other in larger if gaps[other] >= gaps[n]), default=n)
    return min((other for other in larger if other > no_better), default=None)


# -- data ------------------------------------------------------------------------------------------


def differences(rng: Generator, shape: tuple[int, ...]) -> Floats:
    """Of a measure of two similar systems: most of one sign as often as of the other, heavy tails, a third of them 0."""
    return 0.1 * rng.standard_t(4, size=shape) * (rng.random(shape) < 2 / 3)


def values(rng: Generator, shape: tuple[int, ...]) -> Floats:
    """Of a measure: skewed, mean .3."""
    return rng.beta(0.9, 2.1, size=shape)


def preferences(
    rng: Generator, shape: tuple[int, ...], mean: float, ties: float
) -> Floats:
    """-1, 0 and 1 with a mean."""
    return rng.choice(
        [-1.0, 0.0, 1.0],
        size=shape,
        p=[(1 - ties - mean) / 2, ties, (1 - ties + mean) / 2],
    )


KINDS: dict[str, Callable[[Generator, tuple[int, ...]], Floats]] = {
    "normal differences": lambda rng, shape: rng.normal(size=shape),
    "differences with heavy tails and ties": differences,
    "wins and losses": lambda rng, shape: preferences(rng, shape, 0.0, 0.0),
    "wins, losses, 30% ties": lambda rng, shape: preferences(rng, shape, 0.0, 0.3),
}


def tested(test: SignificanceTest, x: Floats) -> sig.TestResult:
    """Of many samples, in blocks."""
    parts = np.array_split(x, BLOCKS)
    return sig.TestResult.concatenate(
        [replace(test, seed=i, progress=False).of_pairs(p) for i, p in enumerate(parts)]
    )
