"""Tied documents: which ranks they can have, and how many others stand above them.

A group of n documents of equal score takes n consecutive ranks, in every order with the same
probability. Only three facts are needed:

- Every document of the group has each of the n ranks with probability 1 / n.
- Of K other documents of the group, s stand among the j ranks above with the probability of the
  hypergeometric distribution, C(K, s) C(n - 1 - K, j - s) / C(n - 1, j).
- Different groups are independent, and what stands above a group is known as a set.

A document whose score no other one has is a group of one. Example: the scores 3, 2, 2, 1 of the
documents a, b, c, d make the groups {a}, {b, c}, {d} with the first ranks 1, 2, 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Ints,
    per_query_sum,
    position_in_segment,
    ranges,
    starts_segment,
    stretches,
)
from ir_lexirecall._util.lazy import cached_property

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun

NO_CUTOFF = 2**62
"""A cutoff below every ranking, of measures without one."""
NEGLIGIBLE = 1e-30  # probabilities below are left out of sums

LevelWorth: TypeAlias = Callable[[Ints, Ints, Ints], Floats]
"""What a document adds to a value, from its segment, its rank and its level (1, 2, ...)."""


def whole_cutoff(measure: Any) -> int:
    """Return the cutoff of a measure of this library; `NO_CUTOFF` without one."""
    if measure["cutoff"] is None:
        return NO_CUTOFF
    return int(measure["cutoff"])


class Spread(NamedTuple):
    """The ranks of all groups, a row for each rank, with the mean gain that stands there."""

    segment: Ints
    rank: Ints
    gain: Floats


class Group(NamedTuple):
    """Documents of one segment that are tied."""

    first: int  # rank
    size: int  # documents of the ranking, which is the number of ranks
    rows: slice  # those of them that count


@dataclass(frozen=True)
class Groups:
    """Documents by segment and first rank: those of a segment and a first rank are a group.

    Attributes:
        segment: the query of each document, or its pair of query and subtopic; rising.
        first: the rank at which the documents of its score begin; rising within a segment.
        size: how many documents of the ranking have this score.
        n_segments: number of segments.
    """

    segment: Ints
    first: Ints
    size: Ints
    n_segments: int

    @cached_property
    def start(self) -> Ints:
        """Return the row at which each group begins."""
        return (starts_segment(self.segment) | starts_segment(self.first)).nonzero()[0]

    @cached_property
    def count(self) -> Ints:
        """Return the number of rows of each group."""
        return np.diff(self.start, append=len(self.segment))

    @cached_property
    def segment_of_group(self) -> Ints:
        """Return the segment of each group."""
        return self.segment[self.start]

    @cached_property
    def first_of_group(self) -> Ints:
        """Return the first rank of each group."""
        return self.first[self.start]

    @cached_property
    def size_of_group(self) -> Ints:
        """Return how many documents of the ranking each group has, which is its number of ranks."""
        return self.size[self.start]

    @cached_property
    def level_before(self) -> Ints:
        """Return the number of rows of its segment above each group."""
        return position_in_segment(self.segment)[self.start]

    @cached_property
    def group_of_rank(self) -> Ints:
        """Return the group of each rank that groups take, from the first group down."""
        return np.repeat(np.arange(len(self.start)), self.size_of_group)

    @cached_property
    def rank(self) -> Ints:
        """Return each rank that groups take; `group_of_rank` has its group."""
        return ranges(self.first_of_group, self.first_of_group + self.size_of_group)

    def of_segment(self, segment: int) -> Iterator[Group]:
        """Yield the groups of one segment, from the top down."""
        for g in np.flatnonzero(self.segment_of_group == segment).tolist():
            start = int(self.start[g])
            rows = slice(start, start + int(self.count[g]))
            yield Group(int(self.first_of_group[g]), int(self.size_of_group[g]), rows)

    def sums(self, values: NDArray[Any]) -> Floats:
        """Return the sum of the values of each group."""
        if not len(self.start):
            return np.zeros(0)
        return np.add.reduceat(np.asarray(values, dtype=np.float64), self.start)

    def counts(self, is_counted: Bools) -> Ints:
        """Return the number of some documents in each group."""
        return self.sums(is_counted).astype(np.int64)

    def before(self, number: Ints) -> Ints:
        """Return the total of a number of each group over the groups of its segment above."""
        total = np.cumsum(number) - number
        first_group = np.searchsorted(self.segment_of_group, self.segment_of_group)
        return total - total[first_group]

    def only(self, keep: Bools) -> Groups:
        """Return some of the documents, in the same groups of the ranking."""
        return Groups(
            self.segment[keep], self.first[keep], self.size[keep], self.n_segments
        )

    def spread(self, gain: Floats) -> Spread:
        """Return the mean gain at every rank of the groups."""
        mean = self.sums(gain) / self.size_of_group
        group = self.group_of_rank
        return Spread(self.segment_of_group[group], self.rank, mean[group])

    def level_sum(
        self, worth: LevelWorth, cutoff: int = NO_CUTOFF, gain: Floats | None = None
    ) -> Floats:
        """Return the expected sum of what documents are worth, by segment.

        The i-th document of a segment from the top has level i. At each rank of a group, a
        document with s others of the group above it stands with the probability 1 / n times that
        of s, and has level s + 1 below the documents of the groups above.

        Args:
            worth: of a document with a segment, rank and level.
            cutoff: the last rank that counts.
            gain: a factor of each document; 1 by default.
        """
        total = np.zeros(self.n_segments)
        if gain is None:
            gain = np.ones(len(self.segment))
        gain_per_rank = self.sums(gain) / self.size_of_group
        for step in self.steps(cutoff):
            row, above = np.nonzero(step.probability > NEGLIGIBLE)
            group = step.group[row]
            segment = self.segment_of_group[group]
            rank = self.first_of_group[group] + step.position
            level = self.level_before[group] + above + 1
            expected_gain = gain_per_rank[group] * step.probability[row, above]
            part = expected_gain * worth(segment, rank, level)
            total += per_query_sum(segment, part, self.n_segments)
        return total

    def steps(self, cutoff: int) -> Iterator[Step]:
        """Yield, for each position, how many other documents of its group stand above one there."""
        return steps(self.first_of_group, self.size_of_group, self.count - 1, cutoff)


class Step(NamedTuple):
    """The same position within several groups."""

    position: int
    group: Ints
    # Probability that s = 0, 1, ... of the others stand above: a row for each group.
    probability: Floats


def steps(
    first: Ints, size: Ints, others: Ints, cutoff: int = NO_CUTOFF
) -> Iterator[Step]:
    """Yield the distribution of the others above each position of each group.

    Args:
        first: the first rank of each group.
        size: its number of documents.
        others: how many documents besides the one at the position are counted.
        cutoff: the last rank that counts.

    >>> [step.probability.round(2).tolist() for step in steps(*np.array([[1], [3], [1]]))]
    [[[1.0, 0.0]], [[0.5, 0.5]], [[0.0, 1.0]]]
    """
    length = np.clip(np.minimum(size, cutoff - first + 1), 0, None)
    magnitude = np.frexp(others)[1]  # groups of similar numbers share an array
    for exponent in np.unique(magnitude):
        group = np.flatnonzero((magnitude == exponent) & (length > 0))
        longest_first = np.argsort(-length[group], kind="stable")
        group = group[longest_first]
        if len(group):
            yield from _steps_of(group, length[group], size[group] - 1, others[group])


def _steps_of(
    group: Ints, length: Ints, remaining: Ints, others: Ints
) -> Iterator[Step]:
    """Yield the steps of groups that are sorted by length, longest first.

    The documents above a position are drawn from the ``remaining`` ones of the group, all but the
    one at the position; ``others`` of them are counted. If s counted ones are among those drawn so
    far, the next one is counted with the probability (others - s) / (remaining - position).
    """
    columns = np.arange(int(others.max()) + 1)
    left = np.maximum(others[:, None] - columns, 0).astype(np.float64)
    probability = np.zeros(left.shape)
    probability[:, 0] = 1.0
    for position in range(int(length[0])):
        n_active = int(np.searchsorted(-length, -position, side="left"))
        probability = probability[:n_active]
        left = left[:n_active]
        yield Step(position, group[:n_active], probability)
        open_ranks = np.maximum(remaining[:n_active] - position, 1)[:, None]
        drawn = probability * left / open_ranks
        probability = np.maximum(probability - drawn, 0.0)
        probability[:, 1:] += drawn[:, :-1]


def groups_of(run: AlignedRun, keep: Bools | None = None) -> Groups:
    """Return the retrieved judged documents of each query, or some of them, in their groups."""
    first, size = run.tied()
    groups = Groups(run.query, first, size, len(run.judgments))
    if keep is None:
        return groups
    return groups.only(keep)


def groups_by_aspect(
    run: AlignedRun, least: float, cutoff: float | None = None
) -> tuple[Groups, Floats]:
    """Return the documents of at least a grade for each subtopic, in their groups, and the grades.

    Segments are the pairs of `judgments.aspects`. With a cutoff, groups below it are left out.
    """
    aspects = run.judgments.aspects
    begin, end = stretches(aspects.doc, run.doc)
    row = ranges(begin, end)
    document = np.repeat(np.arange(len(run.doc)), end - begin)

    first, size = run.tied()
    keep = aspects.grade[row] >= least
    if cutoff is not None:
        keep &= first[document] <= cutoff
    row, document = row[keep], document[keep]

    # Within an aspect, ranks rise already.
    by_aspect = np.argsort(aspects.aspect[row], kind="stable")
    row, document = row[by_aspect], document[by_aspect]
    groups = Groups(
        aspects.aspect[row], first[document], size[document], len(aspects.query)
    )
    return groups, aspects.grade[row]
