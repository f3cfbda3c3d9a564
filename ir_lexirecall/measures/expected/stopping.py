"""Expected values of BPM, whose users stop when they have gained enough."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.measures.expected.groups import groups_of, steps
from ir_lexirecall.measures.expected.sums import shares_of_sums, without_each
from ir_lexirecall.measures.other_programs import PROGRAM_DEPTH, linear_gain
from ir_lexirecall.measures.trec_eval import cutoff_of, number

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


def bpm(measure: Measure, run: AlignedRun) -> Floats:
    """Return the expected BPM, the mean gain down to the rank where enough was gained."""
    wanted, k = number(measure, "T"), cutoff_of(measure)
    end = min(k, PROGRAM_DEPTH) if wanted > 0 else 1
    gain = linear_gain(measure, run)
    groups = groups_of(run)
    value = np.zeros(len(run.judgments))
    query = groups.segment[groups.start]
    for q in range(len(value)):
        user = _User(wanted if wanted > 0 else inf, end)
        for g in np.flatnonzero(query == q).tolist():
            start = int(groups.start[g])
            gains = gain[start : start + int(groups.count[g])]
            if user.goes_on:
                user.read(gains[gains > 0], int(groups.first[start]), int(groups.size[start]))
        value[q] = user.mean_gain + (user.gained / end if user.goes_on else 0.0)
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

    def read(self, gains: Floats, first: int, size: int) -> None:
        """Read a group of tied documents, of which some have a gain."""
        if first > self.end or not len(gains):
            return
        self._stop_within(gains, first, size)
        if first + size - 1 > self.end:
            self._stop_at_end(gains, first, size)
            self.goes_on = False
            return
        self.gained += float(gains.sum())
        self.goes_on = self.gained < self.wanted

    def _stop_within(self, gains: Floats, first: int, size: int) -> None:
        """Add the users who have gained enough at one of the ranks."""
        if self.gained + float(gains.sum()) < self.wanted:
            return
        shares = without_each(gains, self.wanted - self.gained, self.end - first)
        reached = np.zeros(len(gains))  # mean gain of users who stop, by documents above
        for gain, of_gain in shares.items():
            number = int((gains == gain).sum())
            for above, sums in enumerate(of_gain):
                reached[above] += number / size * self._reached_with(gain, sums)
        group = np.array([first]), np.array([size]), np.array([len(gains) - 1])
        for step in steps(*group, cutoff=self.end):
            probability = step.probability[0]
            mean = float((probability * reached[: len(probability)]).sum())
            self.mean_gain += mean / (first + step.position)

    def _reached_with(self, gain: float, sums: dict[float, float]) -> float:
        """Return the mean gain of those who stop at a document, 0 for the others."""
        totals = ((self.gained + above + gain, share) for above, share in sums.items())
        return sum(total * share for total, share in totals if total >= self.wanted)

    def _stop_at_end(self, gains: Floats, first: int, size: int) -> None:
        """Add the users who have not gained enough at the last rank, within the group."""
        read = self.end - first + 1
        shares = shares_of_sums(gains.tolist(), self.wanted - self.gained, read)
        group = np.array([first]), np.array([size + 1]), np.array([len(gains)])
        for step in steps(*group, cutoff=self.end + 1):
            if step.position == read:
                for found, sums in zip(step.probability[0].tolist(), shares, strict=False):
                    for total, share in sums.items():
                        self.mean_gain += found * share * (self.gained + total) / self.end
