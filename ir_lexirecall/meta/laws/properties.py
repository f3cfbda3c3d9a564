"""Properties of measures: claims about values of rankings, and the search for counterexamples."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.rounding import VALUE
from ir_lexirecall._util.selecting import index_of
from ir_lexirecall.meta.made_up_rankings import Label, Ranking

_RANKINGS = 256  # enumerate up to sizes with at most this many rankings,
_MOST_RANKINGS = 2048  # or, where a size is asked for, with at most this many
_LONGEST = 64  # size of enumerated rankings, where there is one label only
_LARGEST = 15  # size of random rankings
_LARGEST_VALUE = 1e300  # infinite values are equal
_ACROSS = 4  # documents placed across the cutoff, in every way; fewer if they have many labels


Kind = tuple[bool, bool, str]


class Claim(NamedTuple):
    """The claim that the sum of coefficient x value, plus a constant, is above 0.

    Of properties that are not strict, that it is not below 0.
    """

    terms: tuple[tuple[int, Ranking], ...]
    constant: float = 0.0
    group: int = 0
    # Number of documents, where the claim is about "large enough" or "small enough".
    number: int = 0

    @property
    def size(self) -> tuple[int, int]:
        """What makes a counterexample small: documents, and relevant ones among them."""
        labels = [(*ranking.retrieved, *ranking.missing) for _, ranking in self.terms]
        return max(map(len, labels)), sum(
            int(np.count_nonzero(label)) for label in labels
        )

    @property
    def depth(self) -> int:
        """Documents of the longest ranking."""
        return max(len(ranking.retrieved) for _, ranking in self.terms)


def more(better: Ranking, worse: Ranking, number: int = 0) -> Claim:
    """Claim that one ranking has a larger value than another."""
    return Claim(((1, better), (-1, worse)), number=number)


def equal(one: Ranking, other: Ranking) -> Iterator[Claim]:
    """Claim that two rankings have the same value; for properties that are not strict."""
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
        if len(self.grades) > 2:
            return self.grades
        return (*self.grades, self.top + 1)

    def exclusive(self, aspect: int, grade: int | None = None) -> Label:
        """Return the label of a document about one of two subtopics; by default the top grade."""
        grade = self.top if grade is None else grade
        if aspect == 0:
            return grade, 0
        return 0, grade


GAINS = {
    "own": "",
    "small": "gains near 0 where the measure has a scale",
    "low": "gains near 0 where the measure has a scale",
    "partial": "gains below 1 where the measure has a scale",
    "full": "gain 1 of the top grade where the measure has a scale",
}
"""How large gains are, in this order.

Gains are as the measure has them; about 2^-20; about 2^-10 (where what is claimed is a product of
gains); between 0 and 1; 1 for the top grade.
"""


@dataclass(frozen=True)
class Property:
    """A property of measures, and how counterexamples to it are searched.

    Either around enumerated and random rankings, or by claims of its own.
    """

    name: str  # as the literature calls it
    meaning: str  # exactly what is claimed
    source: str
    strict: bool = False  # whether values must differ
    # The claims around a ranking; all must hold.
    around: Callable[[Ranking, Space], Iterable[Claim]] | None = None
    # Labels of the documents of those rankings.
    labels: Callable[[Space], Sequence[Label]] = lambda space: space.grades
    # For each topic to try: labels of the documents that those rankings do not retrieve.
    missing: Callable[[Space], Sequence[tuple[Label, ...]]] = lambda space: [
        (),
        (space.top,),
    ]
    # In place of ``around``, claims in groups.
    claims: Callable[[Space], Iterator[Claim]] | None = None
    # How many claims of a group must hold: 'all', 'one', 'last' (the largest number); with
    # 'number', values must be finite.
    needs: str = "all"
    # How the search of ``claims`` is described; {last} is the largest number of any claim
    searched: str = ""
    gains: str = "own"  # a key of ``GAINS``, for measures with a scale (``max_rel``)
    subtopics: bool = False  # whether the labels are grades for two subtopics,
    weighted: bool = False  # which weigh 1.1 to 1
    # Names of the measures that have it, if it is not searched.
    declared: frozenset[str] | None = None
    # How a broken claim is told: {r0} and {v0} are the first ranking and its value
    counterexample: str = ""

    @property
    def kind(self) -> Kind:
        """Properties of one kind score the same rankings alike."""
        return self.subtopics, self.weighted, self.gains

    def describe(
        self, claim: Claim, value: Mapping[Ranking, float], *, falling: bool = False
    ) -> str:
        """Describe a broken claim with the values of its rankings.

        With ``falling``, the smaller value is better.
        """
        numbers = {value[ranking] for _, ranking in claim.terms}
        for digits in (6, 9, 12, 17):  # 17 tell all numbers apart
            if len({f"{number:.{digits}g}" for number in numbers}) == len(numbers):
                break
        words: dict[str, Any] = {}
        for i, (_, ranking) in enumerate(claim.terms):
            words |= {f"r{i}": ranking, f"v{i}": f"{value[ranking]:.{digits}g}"}
        less, more = ("more", "less") if falling else ("less", "more")
        if self.strict:
            than = f"not {more} than"
        else:
            than = f"{less} than"
        return (
            self.counterexample or f"{{r0}} scores {{v0}}, {than} {{r1}}, {{v1}}"
        ).format(**words)


def weak_and_strict(
    declare: Callable[..., Property],
    word: str,
    name: str,
    meaning: str,
    weak: str,
    strict: str,
    **search: Any,
) -> tuple[Property, Property]:
    """Declare a property, and its variant ``word name`` in which values must differ."""
    varied = declare(
        f"{word} {name}", f"{meaning} {strict} the value", strict=True, **search
    )
    return declare(name, f"{meaning} {weak} the value", **search), varied


def changed(
    labels: tuple[Label, ...], *changes: tuple[int, Label]
) -> tuple[Label, ...]:
    """Return the labels with some of them replaced, by index.

    >>> changed((0, 0, 1), (0, 2))
    (2, 0, 1)
    """
    copy = list(labels)
    for index, label in changes:
        copy[index] = label
    return tuple(copy)


def swapped(ranking: Ranking, i: int, j: int) -> Ranking:
    """Return the ranking with two documents exchanged, by index.

    >>> str(swapped(Ranking((0, 0, 1)), 1, 2))
    '[0 1 0]'
    """
    labels = ranking.retrieved
    return Ranking(changed(labels, (i, labels[j]), (j, labels[i])), ranking.missing)


def replaced(ranking: Ranking, i: int, label: Label) -> tuple[Ranking, Ranking]:
    """Return a ranking with document ``i`` replaced, and the ranking, in a topic that has both."""
    before = ranking.retrieved
    after = Ranking(changed(before, (i, label)), (before[i], *ranking.missing))
    return after, Ranking(before, (label, *ranking.missing))


def swaps(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim more after a document changes places with a lower one of a higher grade."""
    labels: Any = ranking.retrieved
    for i, j in itertools.combinations(range(len(labels)), 2):
        if labels[i] < labels[j]:
            yield more(swapped(ranking, i, j), ranking)


def nonrelevant_appended(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim more for a ranking without a nonrelevant document at its end."""
    longer, shorter = appended(ranking, 0)
    yield more(shorter, longer)


def appended(ranking: Ranking, label: Label) -> tuple[Ranking, Ranking]:
    """Return a ranking with one more document, and the ranking, in a topic that has it."""
    longer = Ranking((*ranking.retrieved, label), ranking.missing)
    return longer, Ranking(ranking.retrieved, (*ranking.missing, label))


# -- searching for a ranking that breaks it ------------------------------------------------------


@dataclass(frozen=True)
class Search:
    """The claims of a property, and how they were found."""

    law: Property
    claims: list[Claim]
    words: str
    space: Space

    @cached_property
    def rankings(self) -> list[Ranking]:
        """Distinct rankings of all claims."""
        return list(
            dict.fromkeys(
                ranking for claim in self.claims for _, ranking in claim.terms
            )
        )

    @cached_property
    def terms(self) -> tuple[Ints, Floats]:
        """Return the index in ``rankings`` and the coefficient of each term of each claim.

        Both have the shape ``(claims, terms)``.
        """
        index_of_ranking = index_of(self.rankings)
        most = max((len(claim.terms) for claim in self.claims), default=0)
        where = np.zeros((len(self.claims), most), dtype=np.int64)
        coefficient = np.zeros(where.shape)
        for row, claim in enumerate(self.claims):
            for column, (factor, ranking) in enumerate(claim.terms):
                where[row, column] = index_of_ranking[ranking]
                coefficient[row, column] = factor
        return where, coefficient

    def broken(self, value: Mapping[Ranking, float], falling: bool) -> Claim | None:
        """Return the smallest claim that breaks the property, None if it holds.

        With ``falling``, the smaller value is better.
        """
        met, surplus = self._met(value, falling)
        claims = self.claims
        if self.law.needs in ("all", "number"):
            wrong = [claim for claim, good in zip(claims, met, strict=True) if not good]
            return min(wrong, key=lambda claim: claim.size, default=None)
        if self.law.needs == "last":
            if met[-1]:
                return None
            # Claims rise in size: the claim is where the last broken ones begin.
            last_met = np.flatnonzero(met).max(initial=-1)
            return claims[int(last_met) + 1]
        return self._nearest_of_hopeless(met, surplus)

    def _nearest_of_hopeless(self, met: Bools, surplus: Floats) -> Claim | None:
        """Return the best claim of the smallest group in which none holds; None without one."""
        claims = self.claims
        groups: dict[int, list[int]] = {}
        for i, claim in enumerate(claims):
            groups.setdefault(claim.group, []).append(i)
        hopeless = [members for members in groups.values() if not met[members].any()]
        if not hopeless:
            return None
        smallest = min(hopeless, key=lambda members: claims[members[0]].size)
        return claims[max(smallest, key=lambda i: surplus[i])]

    def _met(
        self, value: Mapping[Ranking, float], falling: bool
    ) -> tuple[Bools, Floats]:
        """Return which claims hold, and by how much."""
        law, (where, coefficient) = self.law, self.terms
        of_terms = np.array([value[ranking] for ranking in self.rankings])[where]
        if law.needs != "number":
            of_terms = np.clip(of_terms, -_LARGEST_VALUE, _LARGEST_VALUE)
        of_terms[coefficient == 0] = 0  # claims of fewer terms
        if falling:  # claims that compare rankings; their coefficients add up to 0
            of_terms[coefficient.sum(axis=1) == 0] *= -1
        constants = np.array([claim.constant for claim in self.claims])
        surplus = constants + (coefficient * of_terms).sum(axis=1)
        if law.needs == "number":
            return np.isfinite(surplus), surplus
        largest = np.maximum(np.abs(constants), np.abs(of_terms).max(axis=1))
        noise = of_terms.shape[1] * VALUE * largest
        return (surplus > noise if law.strict else surplus >= -noise), surplus

    @staticmethod
    def of(
        law: Property,
        space: Space,
        size: int | None,
        cases: int,
        rng: np.random.Generator,
    ) -> Search:
        """Return the claims of a property, made by itself or around many rankings."""
        if law.claims is not None:
            return _search_of_own_claims(law, space)
        around = _Around(law, space)
        small, largest = around.sizes(size)
        enumerated = around.enumerated(small)
        words = f"exhaustive to size {small} ({len(enumerated)} cases)"
        drawn = around.drawn(small, largest, cases, rng)
        if drawn:
            words += f", {len(drawn)} random cases of size {small + 1} to {largest}"
        placed = around.documents_across()
        across: list[Claim] = []
        if small < space.cutoff + 2 <= space.longest:
            across = around.across_the_cutoff(placed)
        if across:
            words += (
                f", {placed} documents across rank {space.cutoff} ({len(across)} cases)"
            )
        return Search(law, enumerated + drawn + across, words, space)


def _search_of_own_claims(law: Property, space: Space) -> Search:
    """Return the claims that a property makes by itself, such as those about large numbers."""
    assert law.claims is not None
    claims = list(law.claims(space))
    last = max((claim.number for claim in claims), default=0)
    if claims:
        words = law.searched.format(last=last)
    else:
        words = "no number"
    return Search(law, claims, words, space)


@dataclass(frozen=True)
class _Around:
    """The claims of a property around rankings of a space."""

    law: Property
    space: Space

    @cached_property
    def labels(self) -> list[Label]:
        """Labels that documents may have."""
        return list(self.law.labels(self.space))

    @cached_property
    def missing(self) -> list[tuple[Label, ...]]:
        """Labels of the documents that a ranking does not have, in each kind of topic."""
        return list(self.law.missing(self.space))

    def sizes(self, size: int | None) -> tuple[int, int]:
        """Return the sizes up to which all rankings are tried, and random ones."""
        most = _RANKINGS if size is None else _MOST_RANKINGS
        last = min(size or 8, _LONGEST)
        small = 1
        while small != last and len(self.labels) ** (small + 1) <= most:
            small += 1
        # One more document, and those that are missing.
        reserve = max(2, 1 + max(map(len, self.missing), default=0))
        longest = self.space.longest - reserve
        small = int(min(small, longest))
        return small, int(min(max(_LARGEST, small + 5), longest))

    def enumerated(self, size: int) -> list[Claim]:
        """Return the claims around all rankings of at most ``size`` documents."""
        claims = []
        for length in range(1, size + 1):
            for retrieved in itertools.product(self.labels, repeat=length):
                for missing in self.missing:
                    claims.extend(
                        _claims(self.law, Ranking(retrieved, missing), self.space)
                    )
        return claims

    def drawn(
        self, small: int, largest: int, cases: int, rng: np.random.Generator
    ) -> list[Claim]:
        """Return a claim around each of ``cases`` random rankings larger than ``small``."""
        claims: list[Claim] = []
        if small >= largest:
            return claims
        for _ in range(20 * cases):  # some rankings have nothing to claim
            if len(claims) == cases:
                break
            around = _claims(
                self.law, self._random_ranking(small, largest, rng), self.space
            )
            if around:
                claims.append(around[rng.integers(len(around))])
        return claims

    def _random_ranking(
        self, small: int, largest: int, rng: np.random.Generator
    ) -> Ranking:
        """Return a ranking of which a tenth to nine tenths have the first label."""
        length, share = int(rng.integers(small + 1, largest + 1)), rng.uniform(0.1, 0.9)
        has_first = rng.random(length) < share
        index = np.where(has_first, 0, rng.integers(0, len(self.labels), length))
        retrieved = tuple(self.labels[i] for i in index)
        return Ranking(retrieved, self.missing[rng.integers(len(self.missing))])

    def documents_across(self) -> int:
        """Return how many documents are placed across the cutoff in every way."""
        n_labels = len(self.labels)
        return max(
            n for n in range(2, _ACROSS + 1) if n == 2 or n_labels**n <= _RANKINGS
        )

    def across_the_cutoff(self, placed: int) -> list[Claim]:
        """Return the claims around rankings whose last documents lie across the cutoff.

        The documents above them have the first label.
        """
        cutoff = self.space.cutoff
        claims = []
        for above in range(max(1, cutoff - placed + 1), cutoff):
            below = replace(self.space, cutoff=cutoff - above)
            for retrieved in itertools.product(self.labels, repeat=placed):
                for claim in _claims(self.law, Ranking(retrieved), below):
                    claims.append(_moved_down(claim, (self.labels[0],) * above))
        return claims


def _moved_down(claim: Claim, above: tuple[Label, ...]) -> Claim:
    """Return the claim about the same rankings with documents on top of them."""
    terms = tuple(
        (coefficient, ranking.below(above)) for coefficient, ranking in claim.terms
    )
    return claim._replace(terms=terms)


def _claims(law: Property, ranking: Ranking, space: Space) -> list[Claim]:
    """Return the claims around a ranking in topics that have relevant documents."""
    assert law.around is not None
    claims = []
    for claim in law.around(ranking, space):
        # Rankings of one topic have one size.
        topics = {one.size: one for _, one in claim.terms}
        if min([one.highest for one in topics.values()]) >= space.least:
            claims.append(claim)
    return claims
