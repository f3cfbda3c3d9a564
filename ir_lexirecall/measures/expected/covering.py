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

from ir_lexirecall._util.arrays import Floats, starts_segment
from ir_lexirecall.measures.expected.groups import groups_of
from ir_lexirecall.measures.toolkits import looked_at

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun

_MOST_STEPS = 2_000_000  # of the chain of one query


@dataclass
class _Chain:
    """The sets of covered subtopics after some ranks, as bits.

    Attributes:
        everything: all subtopics with a relevant document.
        by_subtopic: whether a document counts by the share of its subtopics that are new, not by 1.
        state: for each set its probability, and that times the mean worth of the documents so far.
        covered_at: the probability that a rank covers the last subtopic, over the rank.
        worth: the mean worth per document where everything has been covered.
        n_steps: work done.
    """

    everything: int
    by_subtopic: bool
    state: dict[int, tuple[float, float]] = field(default_factory=lambda: {0: (1.0, 0.0)})
    covered_at: float = 0.0
    worth: float = 0.0
    n_steps: int = 0

    def go_down(self, masks: Counter[int], first: int, size: int, last: int) -> None:
        """Go down the ranks of a group whose documents are about some subtopics, to a last rank."""
        for rank in range(first, min(first + size - 1, last) + 1):
            following: dict[int, tuple[float, float]] = {}
            for covered, (probability, worth) in self.state.items():
                stay = 1.0
                for mask, number in masks.items():
                    if mask & ~covered:
                        share = number / (first + size - rank)
                        stay -= share
                        gained = self._worth_of(mask, covered) * probability
                        self._add(
                            following,
                            covered | mask,
                            share * probability,
                            share * (worth + gained),
                            rank,
                        )
                if stay > 1e-15:
                    self._add(following, covered, stay * probability, stay * worth, rank)
                self.n_steps += len(masks)
            self.state = following
            if self.n_steps > _MOST_STEPS:
                return

    def _worth_of(self, mask: int, covered: int) -> float:
        """Return what a document counts for."""
        return (mask & ~covered).bit_count() / mask.bit_count() if self.by_subtopic else 1.0

    def _add(
        self,
        state: dict[int, tuple[float, float]],
        covered: int,
        share: float,
        worth: float,
        rank: int,
    ) -> None:
        """Add the probability and the worth of a set, or end with it."""
        if covered == self.everything:
            self.covered_at += share / rank
            self.worth += worth / rank
            return
        probability, total = state.get(covered, (0.0, 0.0))
        state[covered] = probability + share, total + worth


def coverage_of(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected SRR or P_at_Recall; NaN where the chain has too many states."""
    aspects, rel = run.judgments.aspects, measure["rel"]
    bit = _bits(run, rel)
    row = np.flatnonzero(aspects.grade >= rel)
    mask_of_doc: dict[int, int] = {}
    for doc, aspect in zip(aspects.doc[row].tolist(), aspects.aspect[row].tolist(), strict=True):
        mask_of_doc[doc] = mask_of_doc.get(doc, 0) | bit[aspect]
    everything = [0] * len(run.judgments)
    for aspect, one in bit.items():
        everything[int(aspects.query[aspect])] |= one
    last, groups = looked_at(measure, run), groups_of(run)
    bounds = [*groups.start.tolist(), len(run.doc)]
    value = np.zeros(len(run.judgments))
    of_query = groups.segment[groups.start]
    by_subtopic = measure.NAME == "P_at_Recall" and measure["form"] == "subtopics"
    for q in np.unique(of_query).tolist():
        if not everything[q]:
            continue
        chain = _Chain(everything[q], by_subtopic)
        for g in np.flatnonzero(of_query == q).tolist():
            docs = run.doc[bounds[g] : bounds[g + 1]].tolist()
            masks = Counter(mask_of_doc[doc] for doc in docs if doc in mask_of_doc)
            start = bounds[g]
            chain.go_down(masks, int(groups.first[start]), int(groups.size[start]), int(last[q]))
        value[q] = _result(measure.NAME, chain, int(last[q]))
    return value


def _result(name: str, chain: _Chain, last: int) -> float:
    """Return the expected value of one query."""
    if chain.n_steps > _MOST_STEPS:
        return nan
    if name == "SRR":
        return chain.covered_at
    unfinished = sum(worth for _, worth in chain.state.values())
    return chain.worth + (unfinished / last if last else 0.0)


def _bits(run: AlignedRun, rel: float) -> dict[int, int]:
    """Return a bit for each subtopic with a relevant document, its own within the query."""
    aspects = run.judgments.aspects
    aspect = np.unique(aspects.aspect[aspects.grade >= rel])
    query = aspects.query[aspect]
    start = np.maximum.accumulate(np.where(starts_segment(query), np.arange(len(query)), 0))
    index = np.arange(len(query)) - start
    return dict(zip(aspect.tolist(), (1 << i for i in index.tolist()), strict=True))
