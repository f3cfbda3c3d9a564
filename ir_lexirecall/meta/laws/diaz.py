"""Properties of recall-oriented measures (Diaz, Ekstrand, Mitra, TORS 2026, Appendix B, Table 8).

Relevance is binary.

Documents are added at the end of a ranking, never within it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ir_lexirecall.meta.laws.properties import (
    Claim,
    Property,
    Space,
    appended,
    changed,
    equal,
    more,
    nonrelevant_appended,
    replaced,
    swapped,
    swaps,
    weak_and_strict,
)
from ir_lexirecall.meta.made_up_rankings import Ranking

_property = partial(Property, source="Diaz 2026", labels=lambda space: space.binary)
_and_strictly = partial(weak_and_strict, _property, "strictly")
_MOST_RELEVANT = 20  # documents, where a cutoff does not ask for more


def _swaps_up(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim more after a relevant document changes places with a nonrelevant one above it."""
    yield from swaps(ranking, space)
    labels = ranking.retrieved
    if ranking.missing:
        first, *others = ranking.missing
        for i in range(len(labels)):
            if labels[i] == 0 != first:
                yield more(Ranking(changed(labels, (i, first)), (0, *others)), ranking)


def _two_steps_up(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim that the upper of two steps up is worth more to a relevant document than the lower."""
    labels = ranking.retrieved
    for i in range(len(labels) - 2):
        if labels[i] == labels[i + 1] == 0 != labels[i + 2]:
            once, twice = swapped(ranking, i + 1, i + 2), swapped(ranking, i, i + 2)
            yield Claim(((1, twice), (-2, once), (1, ranking)))


def _others_at(ranking: Ranking, space: Space, places: range) -> Iterator[Claim]:
    """Another document at one of the places."""
    for i in places:
        yield from equal(
            *replaced(ranking, i, space.top if ranking.retrieved[i] == 0 else 0)
        )


def _other_tails(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Another document below the cutoff; where there is none, anywhere but at the top."""
    return _others_at(
        ranking, space, range(max(1, space.cutoff), len(ranking.retrieved))
    )


def _others_missing(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Another tail, or one more relevant document that is missing."""
    yield from _other_tails(ranking, space)
    if len(ranking.retrieved) >= space.cutoff and any(
        (*ranking.retrieved, *ranking.missing)
    ):
        yield from equal(
            Ranking(ranking.retrieved, (*ranking.missing, space.top)), ranking
        )


def _without_relevant(space: Space) -> Iterator[Claim]:
    """Claim that rankings of topics without relevant documents are worth 0."""
    for size in range(1, 6):
        for retrieved in range(size + 1):
            yield Claim(((1, Ranking((0,) * retrieved, (0,) * (size - retrieved))),))


def _ideal_rankings(space: Space) -> Iterator[Claim]:
    """Claim that ideal rankings are worth 1."""
    most = max(_MOST_RELEVANT, space.cutoff + 1)
    for m in range(1, int(min(most, space.longest)) + 1):
        yield Claim(((1, Ranking((space.top,) * m)),), constant=-1.0, number=m)


_STEPS = (
    "a relevant document moves up: {r2} scores {v2}, {r1} {v1}, {r0} {v0}; the second "
    "step gains"
)

PROPERTIES = (
    *_and_strictly(
        "increasing in retrieval size",
        "one more document at the end, relevant or not,",
        "never lowers",
        "raises",
        around=lambda ranking, space: (
            more(*appended(ranking, grade)) for grade in space.binary
        ),
    ),
    *_and_strictly(
        "decreasing in nonrelevance",
        "one more nonrelevant document at the end",
        "never raises",
        "lowers",
        around=nonrelevant_appended,
    ),
    *_and_strictly(
        "increasing in relevance",
        "one more relevant document at the end",
        "never lowers",
        "raises",
        around=lambda ranking, space: [more(*appended(ranking, space.top))],
    ),
    *_and_strictly(
        "increasing in swapping up",
        "swapping a nonrelevant document with a lower, or missing, relevant one",
        "never lowers",
        "raises",
        around=_swaps_up,
    ),
    _property(
        "concavity",
        "a relevant document gains at least as much by moving up one rank as by the same move "
        "from the rank below",
        around=_two_steps_up,
        counterexample=f"{_STEPS} less",
    ),
    _property(
        "strict concavity",
        "a relevant document gains more by moving up one rank than by the same move from the "
        "rank below",
        strict=True,
        around=_two_steps_up,
        counterexample=f"{_STEPS} no more",
    ),
    _property(
        "suffix invariance",
        "rankings that agree down to the cutoff (without one: down to some rank) have the same "
        "value, whatever follows",
        around=_other_tails,
    ),
    _property(
        "prefix invariance",
        "rankings of equal length that agree from some rank on have the same value, whatever "
        "stands above",
        around=lambda ranking, space: _others_at(
            ranking, space, range(len(ranking.retrieved) - 1)
        ),
    ),
    _property(
        "boundedness",
        "every value lies between 0 and 1",
        around=lambda ranking, space: [
            Claim(((1, ranking),)),
            Claim(((-1, ranking),), constant=1.0),
        ],
        counterexample="{r0} scores {v0}",
    ),
    _property(
        "localization",
        "suffix invariance, and the value does not depend on how many relevant documents are "
        "missing",
        around=_others_missing,
    ),
    _property(
        "completeness",
        "the value is a number also for topics without relevant documents",
        claims=_without_relevant,
        searched="all rankings of topics of up to 5 nonrelevant documents",
        needs="number",
        counterexample="{r0} scores {v0}",
    ),
    _property(
        "realizability",
        "the ranking of all m relevant documents and nothing else scores 1, for every m",
        claims=_ideal_rankings,
        searched="m = 1 to {last}",
        counterexample="{r0} scores {v0}, not 1",
    ),
)
