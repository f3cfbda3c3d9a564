"""Searching for counterexamples: the claims of a property about all small rankings, and about random larger ones."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.meta.laws import Claim, Property, Space
from ir_lexirecall.meta.made_up_rankings import Label, Ranking

_RANKINGS = 256  # enumerate up to sizes with at most this many rankings,
_MOST_RANKINGS = 2048  # or, where a size is asked for, with at most this many
_LONGEST = 64  # size of enumerated rankings, where there is one label only
_LARGEST = 15  # size of random rankings
_ACROSS = 4  # documents that are placed across the cutoff, in every way; fewer, where they may have many labels


@dataclass(frozen=True)
class Search:
    """The claims of a property, and how they were found."""

    claims: list[Claim]
    words: str
    space: Space

    @cached_property
    def rankings(self) -> list[Ranking]:
        """The different rankings of all claims."""
        return list(dict.fromkeys(ranking for claim in self.claims for _, ranking in claim.terms))

    @cached_property
    def terms(self) -> tuple[Ints, Floats]:
        """Place among ``rankings``, and coefficient, of every term of every claim; shape ``(claims, terms)``."""
        place = {ranking: i for i, ranking in enumerate(self.rankings)}
        most = max((len(claim.terms) for claim in self.claims), default=0)
        where = np.zeros((len(self.claims), most), dtype=np.int64)
        coefficient = np.zeros(where.shape)
        for row, claim in enumerate(self.claims):
            for column, (factor, ranking) in enumerate(claim.terms):
                where[row, column], coefficient[row, column] = place[ranking], factor
        return where, coefficient


def search_of(law: Property, space: Space, size: int | None, cases: int, rng: np.random.Generator) -> Search:
    """The claims of a property about all rankings up to a size, random larger ones, and those across the cutoff."""
    if law.claims is not None:
        claims = list(law.claims(space))
        last = max((claim.number for claim in claims), default=0)
        return Search(claims, law.searched.format(last=last) if claims else "no number", space)
    labels, missing = list(law.labels(space)), list(law.missing(space))
    most = _RANKINGS if size is None else _MOST_RANKINGS
    wanted = next(s for s in itertools.count(1) if len(labels) ** (s + 1) > most or s == min(size or 8, _LONGEST))
    # One more document, and those that are missing.
    longest = space.longest - max(2, 1 + max(map(len, missing), default=0))
    small = int(min(wanted, longest))
    claims = [
        claim
        for length in range(1, small + 1)
        for retrieved in itertools.product(labels, repeat=length)
        for others in missing
        for claim in _claims(law, Ranking(retrieved, others), space)
    ]
    words = f"exhaustive to size {small} ({len(claims)} cases)"
    largest = int(min(max(_LARGEST, small + 5), longest))
    drawn: list[Claim] = []  # one per ranking
    for _ in range(20 * cases if small < largest else 0):  # some rankings have nothing to claim
        if len(drawn) == cases:
            break
        # A tenth to nine tenths of the documents have the first label.
        length, share = int(rng.integers(small + 1, largest + 1)), rng.uniform(0.1, 0.9)
        place = np.where(rng.random(length) < share, 0, rng.integers(0, len(labels), length))
        ranking = Ranking(tuple(labels[i] for i in place), missing[rng.integers(len(missing))])
        if around := _claims(law, ranking, space):
            drawn.append(around[rng.integers(len(around))])
    if drawn:
        words += f", {len(drawn)} random cases of size {small + 1} to {largest}"
    across: list[
        Claim
    ] = []  # of rankings whose last documents lie across the cutoff, and whose others have the first label
    placed = documents_across(labels)
    if small < space.cutoff + 2 <= space.longest:
        across = [
            claim._replace(
                terms=tuple((c, Ranking((labels[0],) * above + r.retrieved, r.missing)) for c, r in claim.terms)
            )
            for above in range(max(1, space.cutoff - placed + 1), space.cutoff)
            for retrieved in itertools.product(labels, repeat=placed)
            for claim in _claims(law, Ranking(retrieved), replace(space, cutoff=space.cutoff - above))
        ]
    if across:
        words += f", {placed} documents across rank {space.cutoff} ({len(across)} cases)"
    return Search(claims + drawn + across, words, space)


def documents_across(labels: list[Label]) -> int:
    """How many documents are placed across the cutoff: at least two, and as many as keep the rankings few.

    >>> documents_across([0, 1]), documents_across([(a, b) for a in range(3) for b in range(3)])
    (4, 2)
    """
    return max(size for size in range(2, _ACROSS + 1) if size == 2 or len(labels) ** size <= _RANKINGS)


def _claims(law: Property, ranking: Ranking, space: Space) -> list[Claim]:
    """The claims around a ranking, in topics with relevant documents: without one, every ranking scores 0."""
    assert law.around is not None
    claims = []
    for claim in law.around(ranking, space):
        seen: set[int] = set()  # rankings of one topic are of one size
        for _, one in claim.terms:
            if one.size not in seen:
                seen.add(one.size)
                labels: Any = (*one.retrieved, *one.missing)
                largest = max(labels)
                if isinstance(largest, tuple):
                    largest = max(map(max, labels))
                if largest < space.least:
                    break
        else:
            claims.append(claim)
    return claims
