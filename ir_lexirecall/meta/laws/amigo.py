"""Ten constraints on relevance and diversity, the last one in two readings.

Source: Amigó, Spina, Carrillo-de-Albornoz, SIGIR 2018.

The first five are about one aspect, with gains near 0 (nobody is ever nearly satisfied); the first
four compare rankings of equal length. The others are about two subtopics, of equal weight but in
the last one. Where documents are added for two subtopics in turn, the topic mirrors every document,
so that measures that know all relevant documents normalise alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from ir_lexirecall.meta.laws.properties import (
    Claim,
    Property,
    Space,
    appended,
    more,
    nonrelevant_appended,
    replaced,
    swapped,
    swaps,
)
from ir_lexirecall.meta.made_up_rankings import Label, Ranking

_near_0 = partial(Property, source="Amigó 2018", strict=True, gains="small")
_of_subtopics = partial(_near_0, subtopics=True, missing=lambda space: [()])


# -- one aspect ------------------------------------------------------------------------------------


def _deeper_swaps(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim that a swap is worth less further down."""
    labels: Any = ranking.retrieved
    for i, j in itertools.combinations(range(len(labels) - 1), 2):
        if labels[i] < labels[i + 1] and labels[i : i + 2] == labels[j : j + 2]:
            yield more(swapped(ranking, i, i + 1), swapped(ranking, j, j + 1))


def _top_and_tail(
    space: Space, numbers: Iterable[int], *, deep: bool
) -> Iterator[Claim]:
    """Compare one relevant document above 2n-1 others with n relevant ones below n others."""
    grade = space.top
    for n in numbers:
        if 2 * n <= space.longest:
            top = Ranking((grade,) + (0,) * (2 * n - 1), (grade,) * (n - 1))
            tail = Ranking((0,) * n + (grade,) * n, (0,) * (n - 1))
            yield more(tail, top, number=n) if deep else more(top, tail, number=n)


# -- two subtopics ---------------------------------------------------------------------------------


def _no_overlap(space: Space) -> list[Label]:
    """Documents that are relevant to one subtopic at most."""
    return [pair for pair in itertools.product(space.grades, repeat=2) if 0 in pair]


def _better_for_all(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim that a document that is better for every subtopic is worth more."""
    labels: Any = ranking.retrieved
    for i, *label in itertools.product(range(len(labels)), space.grades, space.grades):
        if all(a > b for a, b in zip(label, labels[i], strict=True)):
            yield more(*replaced(ranking, i, tuple(label)))


def _other_subtopic(ranking: Ranking, space: Space, grade: int) -> Iterator[Claim]:
    """Claim more for a further document about the second subtopic than for one about the first."""
    first, second = (grade, 0), (0, grade)
    labels: Any = (*ranking.retrieved, *ranking.missing)
    # Every document is mirrored.
    others = (*ranking.missing, *((b, a) for a, b in labels))
    if len(ranking.retrieved) + len(others) + 2 <= space.longest:
        yield more(
            Ranking((*ranking.retrieved, second), (first, *others)),
            Ranking((*ranking.retrieved, first), (second, *others)),
        )


def _redundant_by_number(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim redundancy where more documents have the first subtopic."""
    labels: Any = ranking.retrieved
    if sum(a > 0 for a, _ in labels) > sum(b > 0 for _, b in labels):
        yield from _other_subtopic(ranking, space, space.top)


def _redundant_throughout(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim redundancy in rankings with documents of the same subtopic."""
    for grade in space.three[1:]:
        if grade >= space.least:
            yield from _other_subtopic(ranking, space, grade)


def _after_full_relevance(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Claim less for a second document about a subtopic that is already satisfied."""
    full = Ranking((*ranking.retrieved, space.exclusive(0)), ranking.missing)
    for grade in space.grades[1:]:
        longer, shorter = appended(full, space.exclusive(0, grade))
        yield more(shorter, longer)


def _weightier(ranking: Ranking, space: Space) -> Iterator[Claim]:
    """Any one place of a ranking above which nothing is relevant to either subtopic."""
    labels: Any = ranking.retrieved
    unseen = next((i + 1 for i, label in enumerate(labels) if any(label)), len(labels))
    for i, grade in itertools.product(range(unseen), space.grades[1:]):
        heavy, light = (
            (*labels[:i], space.exclusive(t, grade), *labels[i + 1 :]) for t in (0, 1)
        )
        yield more(
            Ranking(heavy, (space.exclusive(1, grade), *ranking.missing)),
            Ranking(light, (space.exclusive(0, grade), *ranking.missing)),
        )


PROPERTIES = (
    _near_0(
        "priority",
        "swapping two documents, of which the lower one has the higher grade, raises the value "
        "(gains near 0)",
        around=swaps,
    ),
    _near_0(
        "deepness",
        "of two swaps of neighbours with the same two grades in one ranking, the higher one "
        "leads to the higher value (gains "
        "near 0)",
        around=_deeper_swaps,
    ),
    _near_0(
        "deepness threshold",
        "from some n on, one relevant document above 2n-1 nonrelevant ones scores more than n "
        "relevant documents below n "
        "nonrelevant ones (gains near 0)",
        claims=lambda space: _top_and_tail(
            space, [2**i for i in range(16)], deep=False
        ),
        needs="last",
        searched="n = 1, 2, 4, ..., {last}",
    ),
    _near_0(
        "closeness threshold",
        "for some small n, n relevant documents below n nonrelevant ones score more than one "
        "relevant document above 2n-1 "
        "nonrelevant ones (gains near 0)",
        claims=lambda space: _top_and_tail(space, range(1, 21), deep=True),
        needs="one",
        searched="n = 1 to {last}",
    ),
    _near_0(
        "confidence",
        "one more nonrelevant document at the end lowers the value (gains near 0)",
        around=nonrelevant_appended,
    ),
    _of_subtopics(
        "query aspect diversity",
        "replacing a document by one that is more relevant to every subtopic raises the value "
        "(gains near 0)",
        around=_better_for_all,
        labels=lambda space: list(itertools.product(space.grades, repeat=2)),
    ),
    _of_subtopics(
        "redundancy",
        "where more documents above are about subtopic t than about t' (each about one of them "
        "at most, with the same gain "
        "below 1), a further document about t' only scores more than one about t only",
        around=_redundant_by_number,
        labels=lambda space: [(0, 0), space.exclusive(0), space.exclusive(1)],
        gains="partial",
    ),
    _of_subtopics(
        "monotonic redundancy",
        "where every document above is more relevant to subtopic t than to t', but may be "
        "relevant to both, a further document "
        "about t' only scores more than one about t only (gains near 0)",
        around=_redundant_throughout,
        labels=lambda space: [
            (a, b) for a in space.three for b in space.three if a > b
        ],
        gains="low",
    ),
    _of_subtopics(
        "aspect relevance saturation",
        "after a fully relevant document (gain 1, which with gain='exp' no grade has) about one "
        "subtopic, a further document about it "
        "never raises the value",
        strict=False,
        around=_after_full_relevance,
        labels=_no_overlap,
        gains="full",
    ),
    _of_subtopics(
        "aspect relevance",
        "where nothing above is relevant to subtopics t and t', whatever stands below, and t "
        "weighs a tenth more than t', a "
        "document about t scores more than an equally relevant one about t' at the same rank (as "
        "printed; gains below 1)",
        around=_weightier,
        labels=_no_overlap,
        missing=lambda space: [(), (space.exclusive(0),) * 2],
        weighted=True,
        gains="partial",
    ),
    _of_subtopics(
        "aspect relevance, unseen elsewhere",
        "where nothing else, above or below, is relevant to subtopics t and t', and t weighs a "
        "tenth more than t', a document "
        "about t scores more than an equally relevant one about t' at the same rank (a narrower "
        "reading; gains below 1)",
        around=_weightier,
        labels=lambda space: [(0, 0)],
        weighted=True,
        gains="partial",
    ),
)
