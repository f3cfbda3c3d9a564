"""Searching for counterexamples: the claims of a property about all small rankings, and about random larger ones."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.meta.laws import Claim, Property, Space
from ir_lexirecall.meta.rankings import Label, Ranking

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
    if law.claims is not None:
        claims = list(law.claims(space))
        last = max((claim.number for claim in claims), default=0)
        return Search(claims, law.searched.format(last=last) if claims else "no number", space)
    labels, missing = list(law.labels(space)), list(law.missing(space))
    most = _RANKINGS if size is None else _MOST_RANKINGS
    wanted = next(s for s in itertools.count(1) if len(labels) ** (s + 1) > most or s == min(size or 8, _LONGEST))
    longest = space.longest - max(
        2, 1 + max(map(len, missing), default=0)
    )  # one more document, and those that are missing
    small = int(min(wanted, longest))
    claims = _all_claims(law, space, labels, missing, small)
    words = f"exhaustive to size {small} ({len(claims)} cases)"
    largest = int(min(max(_LARGEST, small + 5), longest))
    drawn = _random_claims(law, space, labels, missing, (small + 1, largest), cases, rng)
    if drawn:
        words += f", {len(drawn)} random cases of size {small + 1} to {largest}"
    across = _claims_across_the_cutoff(law, space, labels, small)
    if across:
        words += f", {_documents_across(labels)} documents across rank {space.cutoff} ({len(across)} cases)"
    return Search(claims + drawn + across, words, space)


def _claims(law: Property, ranking: Ranking, space: Space) -> list[Claim]:
    """The claims around a ranking, in topics with relevant documents: without one, every ranking scores 0."""
    assert law.around is not None
    return [claim for claim in law.around(ranking, space) if _has_relevant(claim, space)]


def _all_claims(
    law: Property, space: Space, labels: list[Label], missing: list[tuple[Label, ...]], size: int
) -> list[Claim]:
    """The claims around all rankings of up to a number of documents."""
    return [
        claim
        for length in range(1, size + 1)
        for retrieved in itertools.product(labels, repeat=length)
        for others in missing
        for claim in _claims(law, Ranking(retrieved, others), space)
    ]


def _claims_across_the_cutoff(law: Property, space: Space, labels: list[Label], size: int) -> list[Claim]:
    """Where the cutoff lies deeper than ``size``: the claims around all rankings whose last documents lie across it, and
    whose others have the first label."""
    if not size < space.cutoff + 2 <= space.longest:
        return []
    placed = _documents_across(labels)
    return [
        claim._replace(terms=tuple((c, Ranking((labels[0],) * above + r.retrieved, r.missing)) for c, r in claim.terms))
        for above in range(max(1, space.cutoff - placed + 1), space.cutoff)
        for last in itertools.product(labels, repeat=placed)
        for claim in _claims(law, Ranking(last), replace(space, cutoff=space.cutoff - above))
    ]


def _documents_across(labels: list[Label]) -> int:
    """How many documents are placed across the cutoff: at least two, and as many as keep the rankings few.

    >>> _documents_across([0, 1]), _documents_across([(a, b) for a in range(3) for b in range(3)])
    (4, 2)
    """
    return max(size for size in range(2, _ACROSS + 1) if size == 2 or len(labels) ** size <= _RANKINGS)


def _random_claims(
    law: Property,
    space: Space,
    labels: list[Label],
    missing: list[tuple[Label, ...]],
    sizes: tuple[int, int],
    cases: int,
    rng: np.random.Generator,
) -> list[Claim]:
    """Claims around random rankings, one per ranking; a tenth to nine tenths of the documents have the first label."""
    drawn: list[Claim] = []
    if sizes[0] > sizes[1]:
        return drawn
    for _ in range(20 * cases):  # some rankings have nothing to claim
        if len(drawn) == cases:
            break
        length, share = int(rng.integers(sizes[0], sizes[1] + 1)), rng.uniform(0.1, 0.9)
        place = np.where(rng.random(length) < share, 0, rng.integers(0, len(labels), length))
        ranking = Ranking(tuple(labels[i] for i in place), missing[rng.integers(len(missing))])
        around = _claims(law, ranking, space)
        if around:
            drawn.append(around[rng.integers(len(around))])
    return drawn


def _has_relevant(claim: Claim, space: Space) -> bool:
    """Whether every ranking of a claim is of a topic with a relevant document; those of one topic are of one size."""
    seen: set[int] = set()
    for _, ranking in claim.terms:
        if ranking.size not in seen:
            seen.add(ranking.size)
            largest = max((*ranking.retrieved, *ranking.missing))
            if isinstance(largest, tuple):
                largest = max(map(max, (*ranking.retrieved, *ranking.missing)))  # type: ignore[arg-type]
            if largest < space.least:  # type: ignore[operator]
                return False
    return True
