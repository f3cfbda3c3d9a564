"""Axioms: which properties of the literature a measure has, with the smallest counterexample where it lacks one.

A property is a set of claims about the values of rankings, such as "this ranking scores more than that one". The rankings
of all claims are scored together, one ranking as one query.
"""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall.evaluation import parse_measures
from ir_lexirecall.meta.rankings import Label, Ranking, has_aspects, values
from ir_lexirecall.meta.study import Study
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.provider import by_others

if TYPE_CHECKING:
    import pandas as pd

HOLDS, FAILS, NOT_APPLICABLE = "holds", "fails", "not applicable"
_FERRANTE, _DIAZ, _AMIGO, _MAISTRO = "Ferrante 2015", "Diaz 2026", "Amigó 2018", "Maistro 2021"
_ROUNDING = 1e-14  # relative to the largest value: sums of floats that are equal in exact arithmetic
_RANKINGS = 256  # enumerate up to sizes with at most so many rankings,
_MOST_RANKINGS = 2048  # or, where a size is asked for, with at most so many
_LONGEST = 64  # size of enumerated rankings, where there is one label only
_LARGEST = 15  # size of random rankings
_BELOW = " (reaches below the cutoff)"
_ACROSS = 4  # documents that are placed across the cutoff, in every way
_MANY = 20  # documents within which a small number must be found
_THRESHOLDS = [2**i for i in range(16)]  # numbers of documents that may be "large enough"
_LONGEST_OF_OTHERS = 2**9  # documents of a ranking that another program scores: some take the square of it
_WEIGHTS = (2.0, 1.0)  # of two subtopics, the first one mattering more


# -- what is searched ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Claim:
    """Sum of coefficient x value + constant is above 0 (or not below, where the property is not strict)."""

    terms: tuple[tuple[int, Ranking], ...]
    constant: float = 0.0
    group: int = 0

    @property
    def size(self) -> tuple[int, int]:
        """What makes a counterexample small: documents, and relevant ones among them."""
        labels = [(*each.retrieved, *each.missing) for _, each in self.terms]
        return max(map(len, labels)), sum(int(np.count_nonzero(each)) for each in labels)

    @property
    def depth(self) -> int:
        """Documents of the longest ranking."""
        return max(len(ranking.retrieved) for _, ranking in self.terms)


def _more(better: Ranking, worse: Ranking, group: int = 0) -> _Claim:
    return _Claim(((1, better), (-1, worse)), group=group)


@dataclass(frozen=True)
class _Space:
    """The rankings to search.

    Attributes:
        grades: from 0 up.
        least: the smallest grade that is relevant.
        longest: the longest ranking that may be asked for.
        cutoff: the rank below which the measure does not look, 0 where there is none.
        aspects: that the measure names.
    """

    grades: tuple[int, ...]
    least: float
    longest: float
    cutoff: int
    aspects: int

    @property
    def top(self) -> int:
        return self.grades[-1]

    @property
    def binary(self) -> tuple[int, int]:
        """Not relevant, and relevant."""
        return 0, self.top

    def exclusive(self, aspect: int) -> Label:
        """A document of the top grade for one of two subtopics only."""
        return (self.top, 0) if aspect == 0 else (0, self.top)


@dataclass(frozen=True)
class Property:
    """A property of measures, and how it is searched.

    Attributes:
        name, source: as the literature calls it, and where.
        meaning: exactly what is claimed.
        strict: whether values must differ.
        around: the claims around a ranking; all must hold. The rankings are enumerated, and drawn at random.
        labels: of the documents of those rankings.
        claims: instead of ``around``, the claims themselves, in groups.
        needs: how many claims of a group must hold: ``'one'``, or ``'last'``.
        subtopics: whether the labels are grades for two subtopics; ``weighted``: which weigh 2 to 1.
        counterexample: how claims are told: ``{r0}`` and ``{v0}`` are the first ranking and its value.
    """

    name: str
    source: str
    meaning: str
    strict: bool = False
    around: Callable[[Ranking, _Space], Iterator[_Claim]] | None = None
    labels: Callable[[_Space], Sequence[Label]] = lambda space: space.grades
    missing: Callable[[_Space], Sequence[tuple[Label, ...]]] = lambda space: [(), (space.top,)]
    claims: Callable[[_Space], Iterator[_Claim]] | None = None
    needs: str = "all"
    searched: str = ""
    subtopics: bool = False
    weighted: bool = False
    counterexample: str = ""

    def told(self, claim: _Claim, value: Mapping[Ranking, float]) -> str:
        """The claim in words, with the values found."""
        words: dict[str, Any] = {}
        for i, (_, ranking) in enumerate(claim.terms):
            words |= {f"r{i}": ranking, f"v{i}": f"{value[ranking]:.6g}"}
        default = (
            "{r0} scores {v0}, not more than {r1}, {v1}" if self.strict else "{r0} scores {v0}, less than {r1}, {v1}"
        )
        return (self.counterexample or default).format(**words)


def _changed(labels: tuple[Label, ...], *changes: tuple[int, Label]) -> tuple[Label, ...]:
    """The labels with others at some places."""
    own = list(labels)
    for place, label in changes:
        own[place] = label
    return tuple(own)


def _swapped(ranking: Ranking, i: int, j: int) -> Ranking:
    own = ranking.retrieved
    return Ranking(_changed(own, (i, own[j]), (j, own[i])), ranking.missing)


# -- Ferrante, Ferro, Maistro ----------------------------------------------------------------------


def _swaps(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    own: Any = ranking.retrieved
    for i, j in itertools.combinations(range(len(own)), 2):
        if own[i] < own[j]:
            yield _more(_swapped(ranking, i, j), ranking)


def _replacements(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    own: Any = ranking.retrieved
    for i, grade in itertools.product(range(len(own)), space.grades):
        if own[i] < grade:
            replaced = Ranking(_changed(own, (i, grade)), (own[i], *ranking.missing))
            yield _more(replaced, Ranking(own, (grade, *ranking.missing)))


# -- Diaz, Ekstrand, Mitra -------------------------------------------------------------------------


def _appended(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    for grade in space.binary:
        longer = Ranking((*ranking.retrieved, grade), ranking.missing)
        yield _more(longer, Ranking(ranking.retrieved, (*ranking.missing, grade)))


def _inserted(ranking: Ranking, grade: int) -> Iterator[tuple[Ranking, Ranking]]:
    """The ranking with one more document at any rank, and the ranking without it."""
    own = ranking.retrieved
    for i in range(len(own) + 1):
        yield Ranking((*own[:i], grade, *own[i:]), ranking.missing), Ranking(own, (*ranking.missing, grade))


def _nonrelevant_inserted(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    for longer, without in _inserted(ranking, 0):
        yield _more(without, longer)


def _relevant_inserted(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    for longer, without in _inserted(ranking, space.top):
        yield _more(longer, without)


def _swaps_up(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    own = ranking.retrieved
    for i, j in itertools.combinations(range(len(own)), 2):
        if own[i] == 0 and own[j] != 0:
            yield _more(_swapped(ranking, i, j), ranking)


def _two_steps_up(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    own = ranking.retrieved
    for i in range(len(own) - 2):
        if own[i] == own[i + 1] == 0 != own[i + 2]:
            once, twice = _swapped(ranking, i + 1, i + 2), _swapped(ranking, i, i + 2)
            yield _Claim(((1, twice), (-2, once), (1, ranking)))


def _bounds(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    yield _Claim(((1, ranking),))
    yield _Claim(((-1, ranking),), constant=1.0)


# -- Amigó, Spina, Carrillo-de-Albornoz ------------------------------------------------------------


def _neighbours_swapped(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    own: Any = ranking.retrieved
    for i in range(len(own) - 1):
        if own[i] < own[i + 1]:
            yield _more(_swapped(ranking, i, i + 1), ranking)


def _deeper_swaps(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    own: Any = ranking.retrieved
    for i, j in itertools.combinations(range(len(own) - 1), 2):
        if own[i] < own[i + 1] and own[i : i + 2] == own[j : j + 2]:
            yield _more(_swapped(ranking, i, i + 1), _swapped(ranking, j, j + 1))


def _top_and_tail(n: int, top: int) -> tuple[Ranking, Ranking]:
    """One relevant document at the top, and n relevant ones below n others, in a topic with these 2n documents."""
    return Ranking((top,), (top,) * (n - 1) + (0,) * n), Ranking((0,) * n + (top,) * n)


def _deep_tails(space: _Space) -> Iterator[_Claim]:
    for n in _THRESHOLDS:
        if 2 * n <= space.longest:
            one, tail = _top_and_tail(n, space.top)
            yield _more(one, tail)


def _close_tails(space: _Space) -> Iterator[_Claim]:
    for n in range(1, _MANY + 1):
        if 2 * n <= space.longest:
            one, tail = _top_and_tail(n, space.top)
            yield _more(tail, one)


def _nonrelevant_appended(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    longer = Ranking((*ranking.retrieved, 0), ranking.missing)
    yield _more(Ranking(ranking.retrieved, (*ranking.missing, 0)), longer)


def _pairs_of(labels: Sequence[int]) -> list[Label]:
    return [(a, b) for a in labels for b in labels]


def _more_aspects(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    own: Any = ranking.retrieved
    for i, label in itertools.product(range(len(own)), _pairs_of((0, space.top))):
        if own[i] != label and all(a <= b for a, b in zip(own[i], label, strict=True)):  # type: ignore[arg-type]
            better = Ranking(_changed(own, (i, label)), (own[i], *ranking.missing))
            yield _more(better, Ranking(own, (label, *ranking.missing)))


def _novel_and_redundant(ranking: Ranking, space: _Space) -> _Claim:
    """A document of the second subtopic follows, or else one of the first."""
    first, second = space.exclusive(0), space.exclusive(1)
    novel = Ranking((*ranking.retrieved, second), (*ranking.missing, first))
    return _more(novel, Ranking((*ranking.retrieved, first), (*ranking.missing, second)))


def _redundant_by_number(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    covered: Any = ranking.retrieved
    if sum(label[0] > 0 for label in covered) > sum(label[1] > 0 for label in covered):
        yield _novel_and_redundant(ranking, space)


def _redundant_throughout(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    yield _novel_and_redundant(ranking, space)


def _saturating(space: _Space) -> Iterator[_Claim]:
    first, second = space.exclusive(0), space.exclusive(1)
    for n in range(1, _MANY + 1):
        if space.longest >= _MANY + 2:
            enough = Ranking((first,) * n, (first,) * (_MANY + 1 - n) + (second,))
            yield _more(enough, Ranking((first,) * (n + 1), (first,) * (_MANY - n) + (second,)))


def _weightier(ranking: Ranking, space: _Space) -> Iterator[_Claim]:
    first, second = space.exclusive(0), space.exclusive(1)
    heavy = Ranking((*ranking.retrieved, first), (*ranking.missing, second))
    yield _more(heavy, Ranking((*ranking.retrieved, second), (*ranking.missing, first)))


# -- Maistro, Chaves Lima, Simonsen, Lioma ---------------------------------------------------------


def _best_rankings(space: _Space) -> Iterator[_Claim]:
    """All orders of all topics of up to three documents; a group is a topic."""
    labels: list[Any] = list(space.grades)
    if space.aspects:
        units = [tuple(int(a == b) for a in range(space.aspects)) for b in range(space.aspects)]
        labels = list(dict.fromkeys([(0,) * space.aspects, *units, (1,) * space.aspects]))
    topics = itertools.chain(*(itertools.combinations_with_replacement(labels, size) for size in (1, 2, 3)))
    for group, topic in enumerate(topics):
        if np.all(np.any(np.array(topic).reshape(len(topic), -1) >= space.least, axis=0)):  # relevant in every aspect
            for order in dict.fromkeys(itertools.permutations(topic)):
                yield _Claim(((1, Ranking(order)),), constant=-1.0, group=group)


PROPERTIES: tuple[Property, ...] = (
    Property(
        "replacement",
        _FERRANTE,
        "replacing a document by one of a higher grade never lowers the value",
        around=_replacements,
    ),
    Property(
        "strict replacement",
        _FERRANTE,
        "replacing a document by one of a higher grade raises the value",
        strict=True,
        around=_replacements,
    ),
    Property(
        "swap",
        _FERRANTE,
        "swapping a document with a lower one of a higher grade never lowers the value",
        around=_swaps,
    ),
    Property(
        "strict swap",
        _FERRANTE,
        "swapping a document with a lower one of a higher grade raises the value",
        strict=True,
        around=_swaps,
    ),
    Property(
        "monotonicity in retrieval size",
        _DIAZ,
        "retrieving one more document, relevant or not, at the end never lowers the value",
        around=_appended,
        labels=lambda space: space.binary,
    ),
    Property(
        "monotonicity in nonrelevance",
        _DIAZ,
        "inserting a nonrelevant document at any rank never raises the value",
        around=_nonrelevant_inserted,
        labels=lambda space: space.binary,
    ),
    Property(
        "monotonicity in relevance",
        _DIAZ,
        "inserting a relevant document at any rank, which moves the rest down, never lowers the value",
        around=_relevant_inserted,
        labels=lambda space: space.binary,
    ),
    Property(
        "swapping up",
        _DIAZ,
        "swapping a nonrelevant document with a lower relevant one never lowers the value",
        around=_swaps_up,
        labels=lambda space: space.binary,
    ),
    Property(
        "concavity",
        _DIAZ,
        "a relevant document that moves up past two nonrelevant ones gains at least as much by the second step as by the first",
        around=_two_steps_up,
        labels=lambda space: space.binary,
        counterexample="a relevant document moves up: {r2} scores {v2}, {r1} {v1}, {r0} {v0}; the second step gains less",
    ),
    Property(
        "boundedness",
        _DIAZ,
        "every value lies between 0 and 1",
        around=_bounds,
        labels=lambda space: space.binary,
        counterexample="{r0} scores {v0}",
    ),
    Property(
        "priority",
        _AMIGO,
        "swapping two neighbours, of which the lower one has the higher grade, raises the value",
        strict=True,
        around=_neighbours_swapped,
    ),
    Property(
        "deepness",
        _AMIGO,
        "of two such swaps of the same two grades in one ranking, the higher one leads to the higher value",
        strict=True,
        around=_deeper_swaps,
    ),
    Property(
        "deepness threshold",
        _AMIGO,
        "for large n, one relevant document at the top scores more than n relevant ones below n nonrelevant ones",
        strict=True,
        claims=_deep_tails,
        needs="last",
        searched="n = 1, 2, 4, ..., {last}",
    ),
    Property(
        "closeness threshold",
        _AMIGO,
        "for some small n, n relevant documents below n nonrelevant ones score more than one relevant document at the top",
        strict=True,
        claims=_close_tails,
        needs="one",
        searched="n = 1 to {last}",
    ),
    Property(
        "confidence",
        _AMIGO,
        "retrieving one more nonrelevant document at the end lowers the value",
        strict=True,
        around=_nonrelevant_appended,
    ),
    Property(
        "query aspect diversity",
        _AMIGO,
        "replacing a document by one that is relevant to more subtopics, and to none less, raises the value",
        strict=True,
        around=_more_aspects,
        labels=lambda space: _pairs_of((0, space.top)),
        missing=lambda space: [()],
        subtopics=True,
    ),
    Property(
        "redundancy",
        _AMIGO,
        "where more documents above are about subtopic t than about t' (each about one of them, with the same grade), a "
        "further document about t' only scores more than one about t only",
        strict=True,
        around=_redundant_by_number,
        labels=lambda space: [(0, 0), space.exclusive(0), space.exclusive(1)],
        missing=lambda space: [()],
        subtopics=True,
    ),
    Property(
        "monotonic redundancy",
        _AMIGO,
        "where every document above is more relevant to subtopic t than to t', a further document about t' only scores more "
        "than one about t only",
        strict=True,
        around=_redundant_throughout,
        labels=lambda space: [(a, b) for a in space.grades for b in space.grades if a > b],
        missing=lambda space: [()],
        subtopics=True,
    ),
    Property(
        "aspect relevance saturation",
        _AMIGO,
        "after some number n of fully relevant documents about one subtopic, one more of the same kind lowers the value",
        strict=True,
        claims=_saturating,
        needs="one",
        searched="n = 1 to {last}",
        subtopics=True,
    ),
    Property(
        "aspect relevance",
        _AMIGO,
        "where the documents above are as relevant to subtopic t as to t', and t weighs twice as much as t', a further "
        "document about t only scores more than one about t' only",
        strict=True,
        around=_weightier,
        labels=lambda space: [(0, 0), (space.top, space.top)],
        missing=lambda space: [()],
        subtopics=True,
        weighted=True,
    ),
    Property(
        "realizability",
        _MAISTRO,
        "the best order of all documents of a topic scores 1, for every topic with relevant documents in every aspect",
        claims=_best_rankings,
        needs="one",
        searched="all orders of all topics of up to 3 documents",
        counterexample="no order of the topic scores 1; the best is {r0} with {v0}",
    ),
)
"""The properties, in the order in which they are reported."""


# -- the search ------------------------------------------------------------------------------------


def properties() -> Study:
    """The properties that ``check`` knows, and exactly what each one claims.

    Returns:
        A ``Study`` with a row per property: ``source``, ``property`` and ``meaning``.

    >>> properties().set_index("property").loc["swap", "meaning"]
    'swapping a document with a lower one of a higher grade never lowers the value'
    """
    import pandas as pd

    table = pd.DataFrame(
        {
            "source": [each.source for each in PROPERTIES],
            "property": [each.name for each in PROPERTIES],
            "meaning": [each.meaning for each in PROPERTIES],
        }
    )
    return Study.of(table, _draw_counts, function="properties")


def check(
    measure: Any,
    *,
    grades: Sequence[int] | None = None,
    size: int | None = None,
    cases: int = 200,
    seed: int = 0,
    progress: bool | None = None,
) -> Study:
    """Which properties of the literature a measure has, and the smallest counterexample for each that it lacks.

    The properties are those of ``properties()``: Ferrante et al.'s swap and replacement (also strict), Diaz et al.'s
    properties, Amigó et al.'s ten constraints on relevance and diversity, and whether the best ranking scores 1 (Maistro et
    al.). Each is formulated here as ``properties()`` tells it. Rankings are compared within one topic, with the same
    documents judged; topics without relevant documents are left out. Claims about all rankings are checked on all rankings
    of a small size, on random larger ones and, where the measure has a cutoff below that, on all short rankings that lie
    across it; "large enough" and "small enough" on a range of numbers. ``holds`` thus means that no counterexample was
    found.

    Measures that know no subtopics see a document's highest grade, and so fail what needs subtopics. Measures with
    named aspects (``TOMA``, ``CAM``, ``MM``) get documents whose labels are all lowest (0) or all highest (1), and
    realizability also documents that are highest in one aspect only; the constraints on subtopics do not apply to them.

    Args:
        measure: a measure or a string.
        grades: the grades of documents, from 0 up; by default 0 and ``rel`` for binary measures, else 0, 1 and 2, as
            far as ``max_rel`` allows.
        size: enumerate all rankings up to so many documents, as long as there are at most 2,048 rankings of that size (11
            documents of two grades, 6 of three); by default at most 256 (8 of two, 5 of three).
        cases: random cases of larger size per property.
        seed: of the random cases.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A ``Study`` with a row per property: ``measure``, ``source``, ``property``, ``result`` (``'holds'``, ``'fails'``, ``'not
        applicable'``), ``counterexample`` (labels from rank 1 on, behind the bar the topic's documents that are not
        retrieved; ``0x4`` means four times 0; ``1+0`` are grades for two subtopics; ``reaches below the cutoff``: no ranking
        within it breaks the property) and ``search``.

    Raises:
        ValueError: an unknown measure, one that nothing installed computes, or grades that it does not take.

    Sources: Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452; Diaz, Ekstrand, Mitra, TORS 2026,
    doi 10.1145/3728373; Amigó, Spina, Carrillo-de-Albornoz, SIGIR 2018, doi 10.1145/3209978.3210024; Maistro, Chaves
    Lima, Simonsen, Lioma, CIKM 2021, doi 10.1145/3459637.3482287.

    >>> found = check("RR", cases=0).set_index("property")
    >>> found.loc["strict swap", ["result", "counterexample", "search"]].to_list()
    ['fails', '[1 1 0] scores 1, not more than [1 0 1], 1', 'exhaustive to size 8 (5630 cases)']
    """
    found = axioms([measure], grades=grades, size=size, cases=cases, seed=seed, progress=progress)
    found.attrs["function"] = "check"
    return found


def axioms(
    measures: Any,
    *,
    grades: Sequence[int] | None = None,
    size: int | None = None,
    cases: int = 200,
    seed: int = 0,
    progress: bool | None = None,
) -> Study:
    """``check`` for several measures, in one table.

    Args:
        measures: measures or strings, as for ``evaluate``.
        grades, size, cases, seed: as for ``check``.
        progress: show a progress bar; by default on a terminal only.

    Returns:
        A ``Study`` with the rows of ``check`` for every measure; its plot is a matrix of measures and properties.

    Raises:
        ValueError: as ``check``.

    >>> found = axioms(["AP", "RBP(p=0.8)"], size=4, cases=0).pivot(index="property", columns="measure", values="result")
    >>> found.loc[["deepness threshold", "priority", "strict swap"]]
    measure                AP RBP(p=0.8)
    property
    deepness threshold  fails      holds
    priority            holds      holds
    strict swap         holds      holds
    """
    import pandas as pd

    named = parse_measures(measures)
    if not named:
        raise ValueError("axioms: no measure was asked for; name at least one, such as TSE or 'nDCG@10'")
    for name, number, least in (("cases", cases, 0), ("seed", seed, 0), ("size", 1 if size is None else size, 1)):
        if isinstance(number, bool) or not isinstance(number, numbers.Integral) or number < least:
            raise ValueError(f"axioms: {name} must be an integer of at least {least}, not {number!r}")
    rows = []
    searches: dict[_Space, _Searches] = {}  # measures of the same grades answer to the same claims
    shown = progress_bar(progress, named.items(), desc="measures")
    for name, measure in shown:
        space = _space(name, measure, grades)
        if space not in searches:
            searches[space] = {
                each: _search(each, space, size, cases, np.random.default_rng([seed, place]))
                for place, each in enumerate(PROPERTIES)
                if not (each.subtopics and space.aspects)
            }
        rows += _rows(name, measure, searches[space])
    return Study.of(
        pd.DataFrame(rows, columns=["measure", "source", "property", "result", "counterexample", "search"]),
        _draw_axioms,
        function="axioms",
        measures=list(named),
        grades=None if grades is None else list(grades),
        size=size,
        cases=cases,
        seed=seed,
    )


def _space(name: str, measure: Measure, grades: Sequence[int] | None) -> _Space:
    aspects = len(measure["aspects"]) if has_aspects(measure) else 0
    if grades is not None and not isinstance(grades, Iterable):
        raise ValueError(f"axioms: grades must be 0 and some larger integers in order, not {grades!r}")
    chosen = tuple(_default_grades(measure) if grades is None else grades)
    whole = all(isinstance(each, numbers.Integral) and not isinstance(each, bool) for each in chosen)
    if not whole or len(chosen) < 2 or chosen[0] != 0 or list(chosen) != sorted(set(chosen)):
        raise ValueError(f"axioms: grades must be 0 and some larger integers in order, not {list(chosen)!r}")
    if aspects and chosen != (0, 1):
        raise ValueError(f"axioms: {name} names its aspects and their grades; leave out grades")
    rel = _known(measure, "rel")
    base = measure.base_measure() if aspects else measure
    return _Space(
        grades=chosen,
        least=1 if aspects or rel is None else float(rel),
        longest=min(float(measure.params.get("n") or np.inf), _LONGEST_OF_OTHERS if by_others(base) else np.inf),
        cutoff=int(_known(base, "cutoff") or 0),
        aspects=aspects,
    )


def _known(measure: Measure, name: str) -> Any:
    """The value of a parameter that the measure has, given or by default; None otherwise."""
    value = measure[name] if name in measure.SUPPORTED_PARAMS else None
    return value if isinstance(value, numbers.Real) else None


def _default_grades(measure: Measure) -> list[int]:
    """0 and the grades that the measure can tell apart, at most two."""
    if has_aspects(measure):
        return [0, 1]
    if "rel" in measure.SUPPORTED_PARAMS:
        rel = measure.params.get("rel", measure.SUPPORTED_PARAMS["rel"].default)
        return [0, int(np.ceil(rel)) if isinstance(rel, (int, float)) else 1]
    top = measure.params.get("max_rel", 2)
    return [0, *range(1, max(1, min(2, int(top))) + 1)]


@dataclass(frozen=True)
class _Search:
    """The claims of a property, and how they were found."""

    claims: list[_Claim]
    words: str
    cutoff: int = 0


_Searches = dict[Property, _Search]


def _rows(name: str, measure: Measure, searches: _Searches) -> list[tuple[str, str, str, str, str, str]]:
    value: dict[tuple[bool, bool], dict[Ranking, float]] = {}
    for kind in {(each.subtopics, each.weighted) for each in searches}:
        asked = dict.fromkeys(
            ranking
            for each, search in searches.items()
            if (each.subtopics, each.weighted) == kind
            for claim in search.claims
            for _, ranking in claim.terms
        )
        for labels_of in _kinds_of_labels(list(asked)):
            scored = values(measure, labels_of, weights=_WEIGHTS if kind[1] else ())
            if np.isnan(scored).any():
                undefined = labels_of[int(np.isnan(scored).argmax())]
                raise ValueError(f"axioms: {name} is not a number for {undefined}; there is nothing to check")
            value.setdefault(kind, {}).update(zip(labels_of, scored.tolist(), strict=True))
    rows = []
    for each in PROPERTIES:
        if each not in searches:
            reason = "the measure names its aspects; the constraint is about subtopics"
            rows.append((name, each.source, each.name, NOT_APPLICABLE, "", reason))
            continue
        search = searches[each]
        if not search.claims:
            rows.append((name, each.source, each.name, NOT_APPLICABLE, "", f"no case is that small: {search.words}"))
            continue
        known = value[each.subtopics, each.weighted]
        broken = _broken(each, search.claims, known)
        told = "" if broken is None else each.told(broken, known)
        if broken is not None and each.around is not None and 0 < search.cutoff < broken.depth:
            told += _BELOW
        rows.append((name, each.source, each.name, HOLDS if broken is None else FAILS, told, search.words))
    return rows


def _kinds_of_labels(rankings: list[Ranking]) -> list[list[Ranking]]:
    """Rankings with a grade per document, and rankings with several: each kind is scored together."""
    kinds: dict[int, list[Ranking]] = {}
    for ranking in rankings:
        first = (*ranking.retrieved, *ranking.missing)[0]
        kinds.setdefault(1 if isinstance(first, int) else len(first), []).append(ranking)
    return list(kinds.values())


def _search(each: Property, space: _Space, size: int | None, cases: int, rng: np.random.Generator) -> _Search:
    if each.claims is not None:
        claims = list(each.claims(space))
        largest = max((len(ranking.retrieved) for claim in claims for _, ranking in claim.terms), default=0)
        last = largest - 1 if each.subtopics else largest // 2
        return _Search(claims, each.searched.format(last=last) if claims else "no number")
    assert each.around is not None
    labels, missing = list(each.labels(space)), list(each.missing(space))
    most = _RANKINGS if size is None else _MOST_RANKINGS
    asked = next(s for s in itertools.count(1) if len(labels) ** (s + 1) > most or s == min(size or 8, _LONGEST))
    small = int(min(asked, space.longest - 2))
    claims = _all_claims(each, space, labels, missing, small)
    words = f"exhaustive to size {small} ({len(claims)} cases)"
    largest = int(min(max(_LARGEST, small + 5), space.longest - 2))
    drawn = _random_claims(each, space, labels, missing, (small + 1, largest), cases, rng)
    if drawn:
        words += f", {len(drawn)} random cases of size {small + 1} to {largest}"
    across = _claims_across_the_cutoff(each, space, labels, small)
    if across:
        words += f", {_ACROSS} documents across rank {space.cutoff} ({len(across)} cases)"
    return _Search(claims + drawn + across, words, space.cutoff)


def _all_claims(
    each: Property, space: _Space, labels: list[Label], missing: list[tuple[Label, ...]], size: int
) -> list[_Claim]:
    """The claims around all rankings of up to so many documents."""
    assert each.around is not None
    return [
        claim
        for length in range(1, size + 1)
        for retrieved in itertools.product(labels, repeat=length)
        for others in missing
        for claim in each.around(Ranking(retrieved, others), space)
        if _has_relevant(claim, space)
    ]


def _claims_across_the_cutoff(each: Property, space: _Space, labels: list[Label], size: int) -> list[_Claim]:
    """Where the cutoff lies deeper than ``size``: the claims around all rankings whose last documents lie across it, and
    whose others have the first label."""
    if not size < space.cutoff + 2 <= space.longest:
        return []
    assert each.around is not None
    return [
        replace(claim, terms=tuple((c, Ranking((labels[0],) * above + r.retrieved, r.missing)) for c, r in claim.terms))
        for above in range(max(1, space.cutoff - _ACROSS + 1), space.cutoff)
        for last in itertools.product(labels, repeat=_ACROSS)
        for claim in each.around(Ranking(last), space)
        if _has_relevant(claim, space)
    ]


def _random_claims(
    each: Property,
    space: _Space,
    labels: list[Label],
    missing: list[tuple[Label, ...]],
    sizes: tuple[int, int],
    cases: int,
    rng: np.random.Generator,
) -> list[_Claim]:
    """Claims around random rankings, one per ranking; a tenth to nine tenths of the documents have the first label."""
    drawn: list[_Claim] = []
    if sizes[0] > sizes[1]:
        return drawn
    for _ in range(20 * cases):  # some rankings have nothing to claim
        if len(drawn) == cases:
            break
        length, share = int(rng.integers(sizes[0], sizes[1] + 1)), rng.uniform(0.1, 0.9)
        place = np.where(rng.random(length) < share, 0, rng.integers(0, len(labels), length))
        ranking = Ranking(tuple(labels[i] for i in place), missing[rng.integers(len(missing))])
        assert each.around is not None
        around = [claim for claim in each.around(ranking, space) if _has_relevant(claim, space)]
        if around:
            drawn.append(around[rng.integers(len(around))])
    return drawn


def _has_relevant(claim: _Claim, space: _Space) -> bool:
    """Whether the topic has a relevant document; without one, every ranking scores 0."""
    ranking = claim.terms[0][1]
    return any(
        label >= space.least if isinstance(label, int) else max(label) >= space.least
        for label in (*ranking.retrieved, *ranking.missing)
    )


def _broken(each: Property, claims: list[_Claim], value: Mapping[Ranking, float]) -> _Claim | None:
    """The smallest claim that breaks the property, None where it holds."""
    surplus = np.array([claim.constant + sum(c * value[r] for c, r in claim.terms) for claim in claims])
    scale = np.array([max(abs(claim.constant), *(abs(value[r]) for _, r in claim.terms)) for claim in claims])
    met = surplus > _ROUNDING * scale if each.strict else surplus >= -_ROUNDING * scale
    if each.needs == "all":
        wrong = [claim for claim, good in zip(claims, met, strict=True) if not good]
        return min(wrong, key=lambda claim: claim.size, default=None)
    if each.needs == "last":  # the claims rise in size: where the last run of broken ones begins
        return None if met[-1] else claims[int(np.flatnonzero(met)[-1]) + 1 if met.any() else 0]
    groups: dict[int, list[int]] = {}
    for i, claim in enumerate(claims):
        groups.setdefault(claim.group, []).append(i)
    hopeless = [members for members in groups.values() if not met[members].any()]
    if not hopeless:
        return None
    smallest = min(hopeless, key=lambda members: claims[members[0]].size)
    return claims[max(smallest, key=lambda i: surplus[i])]


def _draw_axioms(table: pd.DataFrame, ax: Any) -> Any:
    """Measures in columns, properties in rows: what holds is blue, what fails red, the rest grey."""
    colour = {HOLDS: 1.0, FAILS: -1.0, NOT_APPLICABLE: 0.0}
    matrix = table.assign(colour=table["result"].map(colour)).pivot(
        index="property", columns="measure", values="colour"
    )
    matrix = matrix.loc[table["property"].drop_duplicates(), table["measure"].drop_duplicates()]
    ax.imshow(matrix.to_numpy(), cmap="coolwarm_r", vmin=-1.6, vmax=1.6, aspect="auto")
    ax.set_xticks(range(matrix.shape[1]), list(matrix.columns), rotation=45, ha="right")
    ax.set_yticks(range(matrix.shape[0]), list(matrix.index), fontsize="small")
    for (i, j), result in np.ndenumerate(matrix.to_numpy()):
        ax.text(j, i, {1.0: "+", -1.0: "-", 0.0: "n/a"}[result], ha="center", va="center", fontsize="x-small")
    return ax


def _draw_counts(table: pd.DataFrame, ax: Any) -> Any:
    """Number of properties of each source."""
    counts = table["source"].value_counts(sort=False)
    ax.barh(counts.index.tolist(), counts.to_numpy())
    ax.invert_yaxis()
    ax.set_xlabel("properties")
    return ax
