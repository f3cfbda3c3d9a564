"""Expected values of measures that ask when every subtopic has been covered: SRR, P_at_Recall.

Going down a group, the covered subtopics are a chain: every document that would cover a new one is
still to come, because those above are about covered subtopics only. So the next rank has each of
them with probability 1 / (documents of the group that are left).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, position_in_segment
from ir_lexirecall.measures.declaration import looked_at
from ir_lexirecall.measures.expected.groups import groups_of

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun

_MOST_STEPS = 2_000_000  # of the chain of one query
_ROUNDING = 1e-15  # smaller probabilities are 0 but for rounding


@dataclass
class _Chain:
    """The sets of covered subtopics after some ranks, as bits.

    Attributes:
        everything: all subtopics with a relevant document.
        by_subtopic: whether a document counts by the share of its subtopics that are new, not by 1.
        state: for each set its probability, and that times the mean worth of the documents so far.
        covered_at: the mean of 1 / the rank that covers the last subtopic, 0 where none does.
        worth: the mean worth per document where everything has been covered.
        n_steps: work done.
    """

    everything: int
    by_subtopic: bool
    state: dict[int, tuple[float, float]] = field(
        default_factory=lambda: {0: (1.0, 0.0)}
    )
    covered_at: float = 0.0
    worth: float = 0.0
    n_steps: int = 0

    def go_down(
        self, number_of: Counter[int], first: int, size: int, last: int
    ) -> None:
        """Go down the ranks of a group to a last rank.

        Args:
            number_of: how many documents of the group are about each set of subtopics.
            first: the first rank of the group.
            size: its number of documents.
            last: the last rank that counts.
        """
        for rank in range(first, min(first + size - 1, last) + 1):
            self._go_to(rank, number_of, n_left=first + size - rank)
            if self.n_steps > _MOST_STEPS:
                return

    def _go_to(self, rank: int, number_of: Counter[int], n_left: int) -> None:
        """Go one rank down, where one of the documents of the group that are left stands."""
        previous, self.state = self.state, {}
        for covered, (probability, worth) in previous.items():
            nothing_new = 1.0
            for subtopics, number in number_of.items():
                if subtopics & ~covered:
                    share = number / n_left
                    nothing_new -= share
                    gained = self._worth_of(subtopics, covered) * probability
                    self._add(
                        covered | subtopics,
                        share * probability,
                        share * (worth + gained),
                        rank,
                    )
            if nothing_new > _ROUNDING:
                self._add(covered, nothing_new * probability, nothing_new * worth, rank)
            self.n_steps += len(number_of)

    def _worth_of(self, subtopics: int, covered: int) -> float:
        """Return what a document counts for."""
        if self.by_subtopic:
            return (subtopics & ~covered).bit_count() / subtopics.bit_count()
        return 1.0

    def _add(self, covered: int, probability: float, worth: float, rank: int) -> None:
        """Add the probability and the worth of a set, or end with it."""
        if covered == self.everything:
            self.covered_at += probability / rank
            self.worth += worth / rank
            return
        probability_so_far, worth_so_far = self.state.get(covered, (0.0, 0.0))
        self.state[covered] = probability_so_far + probability, worth_so_far + worth


def coverage_of(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected SRR or P_at_Recall; NaN where the chain has too many states.

    SRR is the mean of 1 / the rank that covers the last subtopic, P_at_Recall the mean worth per
    document down to that rank.
    """
    groups, last = groups_of(run), looked_at(measure, run)
    subtopics_of, everything = _subtopics(run, measure["rel"])
    by_subtopic = measure.NAME == "P_at_Recall" and measure["form"] == "subtopics"
    value = np.zeros(len(run.judgments))
    for q in np.unique(groups.segment_of_group).tolist():
        if not everything[q]:
            continue
        chain = _Chain(everything[q], by_subtopic)
        for first, size, rows in groups.of_segment(q):
            docs = run.doc[rows].tolist()
            number_of = Counter(
                subtopics_of[doc] for doc in docs if doc in subtopics_of
            )
            chain.go_down(number_of, first, size, int(last[q]))
        value[q] = _result(measure.NAME, chain, int(last[q]))
    return value


def _result(name: str, chain: _Chain, last: int) -> float:
    """Return the expected value of one query."""
    if chain.n_steps > _MOST_STEPS:
        return nan
    if name == "SRR":
        return chain.covered_at
    if not last:
        return chain.worth
    unfinished = sum(worth for _, worth in chain.state.values())
    return chain.worth + unfinished / last


def _subtopics(run: AlignedRun, rel: float) -> tuple[dict[int, int], list[int]]:
    """Return the subtopics of each relevant document, and all that have one of each query.

    Sets of subtopics are bits; each subtopic has a bit of its own within its query.
    """
    aspects = run.judgments.aspects
    relevant = np.flatnonzero(aspects.grade >= rel)
    docs, pairs = aspects.doc[relevant], aspects.aspect[relevant]
    with_relevant = np.unique(pairs)
    query = aspects.query[with_relevant]
    bits = (1 << index for index in position_in_segment(query).tolist())
    bit_of = dict(zip(with_relevant.tolist(), bits, strict=True))

    subtopics_of: dict[int, int] = {}
    for doc, pair in zip(docs.tolist(), pairs.tolist(), strict=True):
        subtopics_of[doc] = subtopics_of.get(doc, 0) | bit_of[pair]
    everything = [0] * len(run.judgments)
    for pair, bit in bit_of.items():
        everything[int(aspects.query[pair])] |= bit
    return subtopics_of, everything
