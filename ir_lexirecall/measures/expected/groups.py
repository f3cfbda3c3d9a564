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
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Ints,
    per_query_sum,
    position_in_segment,
    ranges,
    starts_segment,
)
from ir_lexirecall._util.lazy import cached_property

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun

NO_CUTOFF = 2**62
_NEGLIGIBLE = 1e-30  # probabilities below are left out of sums

OfLevel: TypeAlias = Callable[[Ints, Ints, Ints], Floats]
"""What a document adds to a value, from its segment, its rank and its level (1, 2, ...)."""


class Spread(NamedTuple):
    """The ranks of all groups, a row for each rank, with the mean gain that stands there."""

    segment: Ints
    rank: Ints
    gain: Floats


@dataclass(frozen=True)
class Groups:
    """Documents by segment and first rank: those of a segment and a first rank are a group.

    Attributes:
        segment: the query of each document, or its pair of query and subtopic; rising.
        first: the rank at which the documents of its score begin; rising within a segment.
        size: how many documents of the ranking have this score.
        segments: number of segments.
    """

    segment: Ints
    first: Ints
    size: Ints
    segments: int

    @cached_property
    def start(self) -> Ints:
        """Return the row at which each group begins."""
        return (starts_segment(self.segment) | starts_segment(self.first)).nonzero()[0]

    @cached_property
    def count(self) -> Ints:
        """Return the number of rows of each group."""
        return np.diff(self.start, append=len(self.segment))

    @cached_property
    def level_before(self) -> Ints:
        """Return the number of rows of its segment above each group."""
        return position_in_segment(self.segment)[self.start]

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the values of each group."""
        if not len(self.start):
            return np.zeros(0)
        return np.add.reduceat(np.asarray(values, dtype=np.float64), self.start)

    def only(self, keep: Bools) -> Groups:
        """Return some of the documents, in the same groups of the ranking."""
        return Groups(self.segment[keep], self.first[keep], self.size[keep], self.segments)

    def spread(self, gain: Floats) -> Spread:
        """Return the mean gain at every rank of the groups."""
        size, first = self.size[self.start], self.first[self.start]
        group = np.repeat(np.arange(len(size)), size)
        rank = ranges(first, first + size)
        return Spread(self.segment[self.start][group], rank, (self.sums(gain) / size)[group])

    def level_sum(
        self, worth: OfLevel, cutoff: int = NO_CUTOFF, gain: Floats | None = None
    ) -> Floats:
        """Return the expected sum of what documents are worth, by segment.

        The i-th document of a segment from the top has level i.

        Args:
            worth: of a document with a segment, rank and level.
            cutoff: the last rank that counts.
            gain: a factor of each document; 1 by default.
        """
        total = np.zeros(self.segments)
        segment, first, size = (a[self.start] for a in (self.segment, self.first, self.size))
        mean = self.sums(np.ones(len(self.segment)) if gain is None else gain) / size
        for step in steps(first, size, self.count - 1, cutoff):
            row, above = np.nonzero(step.probability > _NEGLIGIBLE)
            group = step.group[row]
            level = self.level_before[group] + above + 1
            share = mean[group] * step.probability[row, above]
            part = share * worth(segment[group], first[group] + step.position, level)
            total += per_query_sum(segment[group], part, self.segments)
        return total


class Step(NamedTuple):
    """The same position within several groups."""

    position: int
    group: Ints
    probability: Floats  # that s = 0, 1, ... of the others stand above: a row for each group


def steps(first: Ints, size: Ints, others: Ints, cutoff: int = NO_CUTOFF) -> Iterator[Step]:
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
    for each in np.unique(magnitude):
        group = np.flatnonzero((magnitude == each) & (length > 0))
        group = group[np.argsort(-length[group], kind="stable")]
        if len(group):
            yield from _steps_of(group, length[group], size[group] - 1, others[group])


def _steps_of(group: Ints, length: Ints, remaining: Ints, others: Ints) -> Iterator[Step]:
    """Yield the steps of groups that are sorted by length, longest first.

    One rank further down, one of the documents that are left was drawn: an s-th counted one with
    the probability (others - s) / (remaining - position).
    """
    columns = np.arange(int(others.max()) + 1)
    left = np.maximum(others[:, None] - columns, 0).astype(np.float64)
    probability = np.zeros(left.shape)
    probability[:, 0] = 1.0
    for position in range(int(length[0])):
        active = int(np.searchsorted(-length, -position, side="left"))
        probability, left = probability[:active], left[:active]
        yield Step(position, group[:active], probability)
        open_ranks = np.maximum(remaining[:active] - position, 1)[:, None]
        drawn = probability * left / open_ranks
        probability = np.maximum(probability - drawn, 0.0)
        probability[:, 1:] += drawn[:, :-1]


def groups_of(run: AlignedRun, keep: Bools | None = None) -> Groups:
    """Return the retrieved judged documents of each query, or some of them, in their groups."""
    first, size = run.tied()
    groups = Groups(run.query, first, size, len(run.judgments))
    return groups if keep is None else groups.only(keep)


def groups_by_aspect(
    run: AlignedRun, least: float, cutoff: float | None = None
) -> tuple[Groups, Floats]:
    """Return the documents of at least a grade for each subtopic, in their groups, and the grades.

    Segments are the pairs of `judgments.aspects`. With a cutoff, groups below it are left out.
    """
    aspects = run.judgments.aspects
    begin, end = (np.searchsorted(aspects.doc, run.doc, side=side) for side in ("left", "right"))
    row, document = ranges(begin, end), np.repeat(np.arange(len(run.doc)), end - begin)
    first, size = run.tied()
    keep = aspects.grade[row] >= least
    if cutoff is not None:
        keep &= first[document] <= cutoff
    row, document = row[keep], document[keep]
    order = np.argsort(aspects.aspect[row], kind="stable")  # within an aspect, ranks rise already
    row, document = row[order], document[order]
    groups = Groups(aspects.aspect[row], first[document], size[document], len(aspects.query))
    return groups, aspects.grade[row]
