"""Criteria: what ranks runs.

A measure does by its values, a preference by comparing two rankings; results ask both the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from ir_lexirecall._util.arrays import (
    Bounds,
    Floats,
    Indices,
    Ints,
    PairIndices,
    row_blocks,
)
from ir_lexirecall._util.blocks import BLOCK
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.rounding import VALUE, levelled, same, settled
from ir_lexirecall._util.selecting import index_of
from ir_lexirecall.comparison.repeated_preferences import RepeatedPreferences
from ir_lexirecall.preferences.counts import Counts, PreferenceCounts, explain
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance import RepeatedValues, difference_variance
from ir_lexirecall.significance.closed_form import wins_and_losses
from ir_lexirecall.significance.repeats import Components, DifferenceVariance


@dataclass(frozen=True, eq=False)
class ExactOrder:
    """Order of the runs by lexicographic recall, which values of LexiRecall round to floats.

    Two rankings with the same relevant ranks at the end can have the same float, although one is
    better. Values never contradict this order.
    """

    preferences: PreferenceCounts = field(repr=False)
    query_ids: list[str] = field(repr=False)

    @cached_property
    def standing(self) -> Ints:
        """Return the number of better runs, shape ``(S, Q)``; 0 without relevant documents."""
        counted = index_of(self.preferences.query_ids)
        standing = np.zeros(
            (len(self.preferences.runs), len(self.query_ids)), dtype=np.int64
        )
        of_counted = self.preferences.standing("lexirecall")
        for column, query_id in enumerate(self.query_ids):
            if query_id in counted:
                standing[:, column] = of_counted[:, counted[query_id]]
        return standing

    def signs(self, a: Ints, b: Ints) -> Floats:
        """Return 1 where the first run of a pair is better, -1 where it is worse, else 0."""
        return np.sign(self.standing[b] - self.standing[a]).astype(np.float64)

    def on_queries(self, query_ids: list[str]) -> ExactOrder:
        """Return the order on some of the queries."""
        return ExactOrder(self.preferences, query_ids)


R = TypeVar("R", RepeatedValues, RepeatedPreferences)


def has_seeds(criterion: Criterion) -> bool:
    """Return whether the repeats of a criterion are seeds: each moves all queries at once."""
    return criterion.repeated is not None and criterion.repeated.is_of_seeds


def _seeds(repeated: R | None, query_ids: Sequence[str]) -> R | None:
    """Return the repeats of runs if they are seeds with a variance: on two queries or more."""
    if repeated is None or not repeated.is_of_seeds or len(query_ids) < 2:
        return None
    return repeated


@dataclass(frozen=True, eq=False)
class MeasureCriterion:
    """A measure: runs differ by its values.

    Attributes:
        values: of S runs on the Q queries that count, shape ``(S, Q)``.
        means: of each run over these queries, shape ``(S,)``; also of counts, which ``evaluate``
            adds up.
        assumed: whether nothing is known of the measure, so that the larger value is taken to be
            the better one.
        range: the smallest and the largest value that the measure can have; infinite where there is
            none, or it is not known.
        repeated: the values of each repeat, of which ``values`` are averages; None without repeats.
        order: of LexiRecall the exact order, which decides wins and losses; None for other measures
            and without rankings.
        is_binary_in_call: whether all values of the measure in the call are 0 or 1, if these are
            those of a group of queries or of one of several collections; else None.
    """

    name: str
    values: Floats = field(repr=False)
    query_ids: list[str] = field(repr=False)
    means: Floats = field(repr=False)
    smaller_is_better: bool = False
    assumed: bool = False
    range: Bounds = (-np.inf, np.inf)
    repeated: RepeatedValues | None = field(default=None, repr=False)
    order: ExactOrder | None = field(default=None, repr=False)
    is_binary_in_call: bool | None = None

    is_measure = True
    is_partial = False
    bounds = None

    @property
    def quantity(self) -> str:
        """Quantity in its table of means."""
        return f"mean {self.name}"

    @property
    def direction(self) -> str:
        """Which value is better, where that needs to be said."""
        if self.smaller_is_better:
            return "smaller is better"
        if self.assumed:
            return "larger is better (assumed)"
        return ""

    @property
    def sign(self) -> int:
        """-1 where the smaller value is better, else 1."""
        return -1 if self.smaller_is_better else 1

    @property
    def is_binary(self) -> bool:
        """Whether all values of the measure in the call are 0 or 1, those of each repeat."""
        if self.is_binary_in_call is not None:
            return self.is_binary_in_call
        given = [self.values] if self.repeated is None else self.repeated.values
        return all(bool(np.isin(values, (0.0, 1.0)).all()) for values in given)

    @property
    def limits(self) -> Bounds:
        """The range of the values: that of the measure, or 0 to 1 if all values are 0 or 1."""
        if self.is_binary and not np.isfinite(self.range).all():
            return 0.0, 1.0
        return self.range

    @cached_property
    def levelled(self) -> Floats:
        """Return the values without the differences within a query that rounding makes."""
        return levelled(self.values)

    def largest_loss(self, margin: float) -> float:
        """Return the largest loss on a query: the width of the measure's range.

        If the range has no end or is not known, that of the values and 0 counts instead, but at
        least twice the margin. Values from 0 to 1 of an unknown range may be shares: the width is
        1, however small they are. It is infinite if all are 0, which say nothing about it.
        """
        low, high = self.range
        if np.isfinite([low, high]).all():
            return high - low
        is_unknown = not np.isfinite([low, high]).any()
        if not np.isfinite(low):
            low = float(self.values.min(initial=0.0))
        if not np.isfinite(high):
            high = float(self.values.max(initial=0.0))
        if high <= low:
            return np.inf
        if is_unknown and low >= 0 and high <= 1:
            return 1.0
        return max(high - low, 2 * margin)

    @property
    def range_of_differences(self) -> Bounds:
        """The smallest and the largest possible difference of two values."""
        low, high = self.limits
        return low - high, high - low

    def variance_with_seeds(self, pairs: PairIndices) -> DifferenceVariance | None:
        """Return the variance of mean differences of pairs of runs that have seeds, else None."""
        seeds = _seeds(self.repeated, self.query_ids)
        if seeds is None:
            return None
        x = all_differences(self, pairs)
        return difference_variance(x, seeds.variance, pairs)

    def variance_of_means(self) -> DifferenceVariance | None:
        """Return the variance of the means of runs that have seeds, else None."""
        seeds = _seeds(self.repeated, self.query_ids)
        if seeds is None:
            return None
        runs = np.arange(len(self.values))
        return difference_variance(self.values, seeds.variance, [runs])

    def components(self, pairs: PairIndices) -> Components:
        """Return the components of variance of pairs of runs that have repeats."""
        assert self.repeated is not None
        return self.repeated.components(all_differences(self, pairs), pairs)

    @property
    def per_query(self) -> Floats:
        """Numbers whose means are reported, shape ``(S, Q)``: the values."""
        return self.values

    @property
    def standings(self) -> Floats:
        """Values in which the larger is better, shape ``(S, Q)``."""
        return self.sign * self.levelled

    def differences(self, a: Indices, b: Indices) -> Iterator[Floats]:
        """Yield value_a - value_b of pairs of runs by their indices, a block of pairs at a time."""
        for block in row_blocks(len(a), len(self.query_ids), BLOCK):
            yield self.levelled[a[block]] - self.levelled[b[block]]

    def signs(self, a: Indices, b: Indices) -> Iterator[Floats]:
        """Yield 1 where value_a is larger, -1 where it is smaller, else 0, in blocks of pairs."""
        if self.order is None:
            yield from map(np.sign, self.differences(a, b))
            return
        for block in row_blocks(len(a), len(self.query_ids), BLOCK):
            yield self.order.signs(np.asarray(a)[block], np.asarray(b)[block])

    def counts(self, a: Indices, b: Indices) -> tuple[Ints, Ints, Ints]:
        """Count the queries on which the first run is better, worse, and not comparable."""
        none = np.zeros(0, dtype=np.int64)  # without pairs, there is no block
        counts = [(none, none)]
        for signs in self.signs(a, b):
            counts.append(wins_and_losses(self.sign * signs))
        wins, losses = map(np.concatenate, zip(*counts, strict=True))
        return wins, losses, np.zeros_like(wins)

    def mean_differences(self, a: Indices, b: Indices) -> Floats:
        """Return mean_a - mean_b of each pair; 0 where rounding explains it.

        Whether it does is asked of the queries, so that the mean is 0 where all of them are ties,
        and not 0 where a test finds that one run wins. Close means are those of the differences.
        """
        a, b = np.asarray(a), np.asarray(b)
        first, second = self.means[a], self.means[b]
        means = np.asarray(first - second)
        if not self.query_ids:
            return means
        size = np.abs(self.levelled).mean(axis=1)
        alike = self.levelled.mean(axis=1)
        is_close = same(first, second) | same(alike[a], alike[b], size[a] + size[b])
        close = np.flatnonzero(is_close)
        for block in row_blocks(len(close), len(self.query_ids), BLOCK):
            rows = close[block]
            means[rows] = self._close_differences(a[rows], b[rows])
        return means

    def _close_differences(self, a: Ints, b: Ints) -> Floats:
        """Return the means of the differences of pairs, 0 where those cancel but for rounding."""
        first, second = self.levelled[a], self.levelled[b]
        x = first - second
        largest = np.where(x == 0, 0.0, np.maximum(np.abs(first), np.abs(second)))
        mean = settled(x.mean(axis=1), np.abs(x).max(axis=1))
        return settled(mean, largest.mean(axis=1), VALUE)

    def explained(self, a: int, b: int) -> tuple[Floats, dict[str, Any]]:
        """Return which of two runs is better per query (1: the first), and their values."""
        (signs,) = next(self.signs(np.array([a]), np.array([b])))
        return self.sign * signs, {
            "value_a": self.values[a],
            "value_b": self.values[b],
        }


@dataclass(frozen=True, eq=False)
class PreferenceCriterion:
    """A preference: runs differ by which of two rankings is better, query by query.

    Attributes:
        preferences: between all rankings; with repeats, each of which is a ranking of its own.
        repeated: the rankings of each run, over which preferences are averaged; None without
            repeats.
    """

    name: str
    preference: Preference
    preferences: PreferenceCounts = field(repr=False)
    repeated: RepeatedPreferences | None = field(default=None, repr=False)

    is_measure = False
    bounds: ClassVar[Bounds] = (-1.0, 1.0)
    range: ClassVar[Bounds] = bounds
    limits: ClassVar[Bounds] = bounds
    range_of_differences: ClassVar[Bounds] = bounds
    smaller_is_better = False
    direction = ""
    sign = 1

    def largest_loss(self, margin: float) -> float:
        """Return the largest loss on a query: preferences lie between -1 and 1."""
        return 2.0

    @property
    def is_partial(self) -> bool:
        """Whether some pairs of rankings cannot be compared."""
        return self.preference.NAME == "dominance"

    @property
    def quantity(self) -> str:
        """Quantity in its table of means."""
        return f"mean preference over all other runs by {self.name}"

    @cached_property
    def query_ids(self) -> list[str]:
        """Return the queries with a relevant document, which are those that count."""
        return self.preferences.query_ids

    @property
    def _counted(self) -> Counts:
        """The counts of all pairs of runs."""
        if self.repeated is not None:
            return self.repeated.counts
        return self.preferences.count(self.preference.NAME)

    @property
    def per_query(self) -> Floats:
        """Numbers whose means are reported, shape ``(S, Q)``: the standings."""
        return self.standings

    @property
    def standings(self) -> Floats:
        """Mean preference of each run over all others, per query, shape ``(S, Q)``.

        It is NaN for a single run, which has no other to be preferred over.
        """
        standings = self._counted.against_others.T
        if len(standings) == 1:
            return np.full_like(standings, np.nan)
        return standings

    @cached_property
    def means(self) -> Floats:
        """Mean preference of each run over all others, shape ``(S,)``.

        It is NaN without queries, and for a single run.
        """
        if self.query_ids:
            return self.standings.mean(axis=1)
        return np.full(len(self.standings), np.nan)

    def variance_with_seeds(self, pairs: PairIndices) -> DifferenceVariance | None:
        """Return the variance of mean preferences of pairs of runs that have seeds, else None."""
        seeds = _seeds(self.repeated, self.query_ids)
        if seeds is None:
            return None
        return seeds.variance(pairs)

    def variance_of_means(self) -> DifferenceVariance | None:
        """Return the variance of the mean preferences of runs that have seeds, else None."""
        seeds = _seeds(self.repeated, self.query_ids)
        if seeds is None:
            return None
        return seeds.variance_of_means()

    def components(self, pairs: PairIndices) -> Components:
        """Return the components of variance of pairs of runs that have repeats."""
        assert self.repeated is not None
        return self.repeated.components(pairs)

    def differences(self, a: Indices, b: Indices) -> Iterator[Floats]:
        """Yield preferences of the first over the second run, a block of pairs at a time.

        They are 0 on queries on which the runs cannot be compared.
        """
        if self.repeated is None:
            yield from self.preferences.of_pairs(self.preference.NAME, a, b)
            return
        for first, second in zip(a, b, strict=True):
            yield self.repeated.average(int(first), int(second))[None]

    def signs(self, a: Indices, b: Indices) -> Iterator[Floats]:
        """Yield 1 where the first run is preferred, -1 where the second is, else 0, in blocks."""
        yield from map(np.sign, self.differences(a, b))

    def counts(self, a: Indices, b: Indices) -> tuple[Ints, Ints, Ints]:
        """Count the queries on which the first run is better, worse, and not comparable."""
        return (
            self._counted.wins[a, b],
            self._counted.losses[a, b],
            self._counted.incomparable[a, b],
        )

    def mean_differences(self, a: Indices, b: Indices) -> Floats:
        """Return the mean preference of each pair; 0 where rounding explains it."""
        return settled(self._counted.mean[a, b], 1.0)

    def explained(self, a: int, b: int) -> tuple[Floats, dict[str, Any]]:
        """Return the preference per query, and what decided it; see ``Comparison.explain``."""
        # Repeated runs are many pairs of rankings, which differ in what decided.
        if self.repeated is not None:
            return self.repeated.average(a, b), {}
        ways = self.preferences.of_pair(self.preference.NAME, a, b)
        return ways, explain(self.preference.NAME, self.preferences, (a, b), ways)


Criterion: TypeAlias = MeasureCriterion | PreferenceCriterion


def all_differences(criterion: Criterion, pairs: PairIndices) -> Floats:
    """Return the differences of pairs of runs on the queries that count, shape ``(P, Q)``."""
    # Without pairs, there is no block.
    nothing = np.zeros((0, len(criterion.query_ids)))
    return np.concatenate([nothing, *criterion.differences(*pairs)])
