"""Expected values of BPM, whose users stop when they have gained enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.measures.expected.groups import Step, groups_of, steps
from ir_lexirecall.measures.expected.sums import SumShares, shares_of_sums, without_each
from ir_lexirecall.measures.other_programs import PROGRAM_DEPTH, linear_gain
from ir_lexirecall.measures.trec_eval import cutoff_of, number

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


def bpm(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected BPM, the mean gain down to the rank where enough was gained."""
    wanted, k = number(measure, "T"), cutoff_of(measure)
    if wanted > 0:
        end = min(k, PROGRAM_DEPTH)
    else:
        wanted, end = inf, 1
    gain = linear_gain(measure, run)
    groups = groups_of(run)
    value = np.zeros(len(run.judgments))
    for q in range(len(value)):
        user = _User(wanted, end)
        for first, size, rows in groups.of_segment(q):
            gains = gain[rows]
            if user.goes_on:
                user.read(gains[gains > 0], first, size)
        value[q] = user.expected_value()
    return value


@dataclass
class _User:
    """A user who wants some gain, or reads down to a rank.

    Attributes:
        wanted: the gain from which on the user stops.
        end: the last rank that is read.
        gained: the gain of the groups that were read.
        mean_gain: the expected gain per document of the users who stopped.
        goes_on: whether anybody reads on.
    """

    wanted: float
    end: int
    gained: float = 0.0
    mean_gain: float = 0.0
    goes_on: bool = True

    def expected_value(self) -> float:
        """Return the expected gain per document of all users; some may have read to the end."""
        return self.mean_gain + (self.gained / self.end if self.goes_on else 0.0)

    def read(self, gains: Floats, first: int, size: int) -> None:
        """Read a group of tied documents, of which some have a gain."""
        if first > self.end or not len(gains):
            return
        gain_below = self.gained + float(gains.sum())
        if gain_below >= self.wanted:
            self._stop_within(gains, first, size)
        if first + size - 1 > self.end:
            self._stop_at_end(gains, first, size)
            self.goes_on = False
            return
        self.gained = gain_below
        self.goes_on = self.gained < self.wanted

    def _stop_within(self, gains: Floats, first: int, size: int) -> None:
        """Add the users who have gained enough at one of the ranks.

        A user stops at rank p with the gain G if a document of gain g stands there, those above
        have gained less than wanted, and those with it at least that. It counts as G / p.
        """
        shares_of_others = without_each(
            gains, self.wanted - self.gained, self.end - first
        )
        # Mean over users, by the number of documents of the group above.
        gain_at_stop = np.zeros(len(gains))
        for gain, shares in shares_of_others.items():
            share_of_docs = int((gains == gain).sum()) / size
            for n_above, sums in enumerate(shares):
                gain_if_enough = self._gain_if_enough(gain, sums)
                gain_at_stop[n_above] += share_of_docs * gain_if_enough
        for step in _steps_of_group(first, size, len(gains) - 1, self.end):
            probability = step.probability[0]
            mean = float((probability * gain_at_stop[: len(probability)]).sum())
            self.mean_gain += mean / (first + step.position)

    def _gain_if_enough(self, gain: float, sums: dict[float, float]) -> float:
        """Return the mean gain with a document of the users who have enough then, else 0."""
        mean = 0.0
        for sum_above, share in sums.items():
            total = self.gained + sum_above + gain
            if total >= self.wanted:
                mean += total * share
        return mean

    def _stop_at_end(self, gains: Floats, first: int, size: int) -> None:
        """Add the users who have not gained enough at the last rank, within the group."""
        n_read = self.end - first + 1
        shares = shares_of_sums(gains.tolist(), self.wanted - self.gained, n_read)
        # With one more rank, the step at position j says which documents are among the first j.
        for step in _steps_of_group(first, size + 1, len(gains), self.end + 1):
            if step.position == n_read:
                self._add_not_enough(step.probability[0].tolist(), shares)

    def _add_not_enough(self, probability: list[float], shares: SumShares) -> None:
        """Add the users at the last rank, by how many documents with a gain they have read."""
        for probability_of_number, sums in zip(probability, shares, strict=False):
            for total, share in sums.items():
                self.mean_gain += (
                    probability_of_number * share * (self.gained + total) / self.end
                )


def _steps_of_group(first: int, size: int, others: int, cutoff: int) -> Iterator[Step]:
    """Yield the `steps` of one group."""
    return steps(np.array([first]), np.array([size]), np.array([others]), cutoff)
