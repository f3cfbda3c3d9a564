"""What a property of measures is: claims about the values of rankings, and where to look for a ranking that breaks one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ir_lexirecall.meta.made_up_rankings import Label, Ranking


class Claim(NamedTuple):
    """The sum of coefficient x value, plus a constant, is above 0 (or not below, where the property is not strict)."""

    terms: tuple[tuple[int, Ranking], ...]
    constant: float = 0.0
    group: int = 0
    number: int = 0  # of documents, where the claim is about "large enough" or "small enough"

    @property
    def size(self) -> tuple[int, int]:
        """What makes a counterexample small: documents, and relevant ones among them."""
        labels = [(*ranking.retrieved, *ranking.missing) for _, ranking in self.terms]
        return max(map(len, labels)), sum(int(np.count_nonzero(label)) for label in labels)

    @property
    def depth(self) -> int:
        """Documents of the longest ranking."""
        return max(len(ranking.retrieved) for _, ranking in self.terms)


def more(better: Ranking, worse: Ranking, number: int = 0) -> Claim:
    """The claim that one ranking has a larger value than another."""
    return Claim(((1, better), (-1, worse)), number=number)


def equal(one: Ranking, other: Ranking) -> Iterator[Claim]:
    """The claims that two rankings have the same value; the property is not strict."""
    yield more(one, other)
    yield more(other, one)


@dataclass(frozen=True)
class Space:
    """The rankings to search."""

    grades: tuple[int, ...]  # of documents, from 0 up
    least: float  # the smallest grade that is relevant
    longest: float  # ranking that the measure can be given
    cutoff: int  # the rank below which the measure does not look, 0 where there is none
    aspects: int  # how many the measure names

    @property
    def top(self) -> int:
        """The largest grade."""
        return self.grades[-1]

    @property
    def binary(self) -> tuple[int, int]:
        """Not relevant, and relevant."""
        return 0, self.top

    @property
    def three(self) -> tuple[int, ...]:
        """At least three grades."""
        return self.grades if len(self.grades) > 2 else (*self.grades, self.top + 1)

    def exclusive(self, aspect: int, grade: int | None = None) -> Label:
        """A document that is relevant to one of two subtopics only, by default of the top grade."""
        grade = self.top if grade is None else grade
        return (grade, 0) if aspect == 0 else (0, grade)


def all_grades(space: Space) -> Sequence[Label]:
    """Documents of every grade."""
    return space.grades


def relevant_or_not(space: Space) -> Sequence[Label]:
    """Documents that are relevant, or not."""
    return space.binary


def nothing_or_one_missing(space: Space) -> Sequence[tuple[Label, ...]]:
    """Topics whose documents are all retrieved, and topics of which a relevant one is missing."""
    return [(), (space.top,)]


def nothing_missing(space: Space) -> Sequence[tuple[Label, ...]]:
    """Topics whose documents are all retrieved."""
    return [()]


GAINS = {
    "own": "",
    "small": "gains near 0 where the measure has a scale",
    "low": "gains near 0 where the measure has a scale",
    "partial": "gains below 1 where the measure has a scale",
    "full": "gain 1 of the top grade where the measure has a scale",
}
"""How large gains are: as the measure has them; about 2^-20; about 2^-10 (where what is claimed is a product of gains);
between 0 and 1; 1 for the top grade."""


@dataclass(frozen=True)
class Property:
    """A property of measures, and how it is searched: around enumerated and random rankings, or by claims of its own."""

    name: str  # as the literature calls it
    meaning: str  # exactly what is claimed
    source: str
    strict: bool = False  # whether values must differ
    around: Callable[[Ranking, Space], Iterator[Claim]] | None = None  # the claims around a ranking; all must hold
    labels: Callable[[Space], Sequence[Label]] = all_grades  # of the documents of those rankings
    missing: Callable[[Space], Sequence[tuple[Label, ...]]] = nothing_or_one_missing  # of those that they lack
    claims: Callable[[Space], Iterator[Claim]] | None = None  # instead of ``around``, in groups
    # How many claims of a group must hold: 'all', 'one', 'last' (the largest number); with 'number', values must be finite.
    needs: str = "all"
    searched: str = ""  # how the search of ``claims`` is described; {last} is the largest number of any claim
    gains: str = "own"  # how large those of grades are, for measures with a scale (``max_rel``): a key of ``GAINS``
    subtopics: bool = False  # whether the labels are grades for two subtopics,
    weighted: bool = False  # which weigh 1.1 to 1
    counterexample: str = ""  # how a broken claim is told: {r0} and {v0} are the first ranking and its value

    def describe(self, claim: Claim, value: Mapping[Ranking, float], *, falling: bool = False) -> str:
        """A broken claim in words, with the values of its rankings; ``falling``: the smaller value is better."""
        numbers = [value[ranking] for _, ranking in claim.terms]
        digits = next(d for d in (6, 9, 12, 17) if d == 17 or len({f"{v:.{d}g}" for v in numbers}) == len(set(numbers)))
        words: dict[str, Any] = {}
        for i, (_, ranking) in enumerate(claim.terms):
            words |= {f"r{i}": ranking, f"v{i}": f"{value[ranking]:.{digits}g}"}
        less, more = ("more", "less") if falling else ("less", "more")
        than = f"not {more} than" if self.strict else f"{less} than"
        return (self.counterexample or f"{{r0}} scores {{v0}}, {than} {{r1}}, {{v1}}").format(**words)


def changed(labels: tuple[Label, ...], *changes: tuple[int, Label]) -> tuple[Label, ...]:
    """The labels with others at some places.

    >>> changed((0, 0, 1), (0, 2))
    (2, 0, 1)
    """
    copy = list(labels)
    for place, label in changes:
        copy[place] = label
    return tuple(copy)


def swapped(ranking: Ranking, i: int, j: int) -> Ranking:
    """The ranking with the documents at two places (from 0) exchanged.

    >>> str(swapped(Ranking((0, 0, 1)), 1, 2))
    '[0 1 0]'
    """
    labels = ranking.retrieved
    return Ranking(changed(labels, (i, labels[j]), (j, labels[i])), ranking.missing)


def replaced(ranking: Ranking, i: int, label: Label) -> tuple[Ranking, Ranking]:
    """The ranking with another document at a place (from 0), and the ranking itself, in a topic with both documents."""
    before = ranking.retrieved
    after = Ranking(changed(before, (i, label)), (before[i], *ranking.missing))
    return after, Ranking(before, (label, *ranking.missing))


def swaps(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """The claims that a ranking has a larger value where a document has changed places with a lower one of a higher grade."""
    labels: Any = ranking.retrieved
    for i, j in itertools.combinations(range(len(labels)), 2):
        if labels[i] < labels[j]:
            yield more(swapped(ranking, i, j), ranking)


def nonrelevant_appended(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """The claim that a ranking has a larger value without a nonrelevant document at its end."""
    longer, shorter = appended(ranking, 0)
    yield more(shorter, longer)


def appended(ranking: Ranking, label: Label) -> tuple[Ranking, Ranking]:
    """The ranking followed by one more document, and the ranking itself, in a topic with this document."""
    longer = Ranking((*ranking.retrieved, label), ranking.missing)
    return longer, Ranking(ranking.retrieved, (*ranking.missing, label))
