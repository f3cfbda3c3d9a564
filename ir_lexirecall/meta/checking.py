"""Axioms: properties of the literature that a measure has, and counterexamples to the others.

A property is a set of claims about the values of rankings, such as "this ranking scores more than
that one". The rankings of all claims are scored together, one ranking as one query.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import check_integer, is_integer
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.measure_strings import parse_measure
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.measures.scoring import is_native, smaller_is_better
from ir_lexirecall.measures.trec_eval import optional
from ir_lexirecall.meta.decisions import parse_measures_for
from ir_lexirecall.meta.laws import PROPERTIES, Property, Space
from ir_lexirecall.meta.laws.properties import GAINS, Kind, Search
from ir_lexirecall.meta.made_up_rankings import Ranking, aspect_ends, at_depth, values
from ir_lexirecall.meta.records import SEED, Option, introduction, recorded, study
from ir_lexirecall.plots.studies import Symbols
from ir_lexirecall.present.findings import Finding
from ir_lexirecall.present.text import listed

HOLDS, FAILS, NOT_APPLICABLE = "holds", "fails", "not applicable"
NAMES_ASPECTS = (
    NOT_APPLICABLE,
    "",
    "the measure names its aspects; the constraint is about subtopics",
)
"""The outcome of properties of subtopics for a measure of named aspects."""
# Documents of a ranking that another program scores in quadratic time.
_LONGEST_OF_OTHERS = 2**9
_WEIGHTS = (1.1, 1.0)  # of two subtopics, the first one mattering more
_BITS = {"small": 20, "low": 10}  # by which gains near 0 are smaller than the top gain


@study(
    "The properties of measures that the literature names",
    lambda table: Finding([introduction(table)], ranking=table),
)
def properties() -> pd.DataFrame:
    """List the properties that ``axioms`` knows, and exactly what each of them claims.

    Returns:
        A row per property: ``source``, ``property`` and ``meaning``.

    >>> properties().set_index("property").loc["swap", "meaning"]
    'swapping a document with a lower one of a higher grade never lowers the value'
    """
    rows = [(law.source, law.name, law.meaning) for law in PROPERTIES]
    return recorded(
        pd.DataFrame(rows, columns=["source", "property", "meaning"]), "properties"
    )


def _check_top_grade(measures: Mapping[str, IRMeasure], top: int) -> None:
    """Raise if a measure has no value for a document of the top grade, before all are searched."""
    for name, measure in measures.items():
        if aspect_ends(measure):
            continue
        try:
            values(measure, [Ranking((top,))])
        except ValueError as error:
            reason = str(error).rpartition(f"has grade {top}, ")[2]
            raise ValueError(f"{name} does not take grade {top}: {reason}") from None


def _finding(table: pd.DataFrame) -> Finding:
    """Return the finding: how many properties hold, and which fail."""
    sentences = [introduction(table)]
    counts = (
        table.groupby(["measure", "result"], sort=False).size().unstack(fill_value=0)
    )
    for measure, row in counts.iterrows():
        has_failed = (table["measure"] == measure) & (table["result"] == FAILS)
        failed = table.loc[has_failed, "property"].tolist()
        if failed:
            fails = f"{len(failed)} fail ({listed(failed, most=len(failed))})"
        else:
            fails = "none fails"
        sentences.append(
            f"{measure}: {row.get(HOLDS, 0)} of {row.sum()} properties hold, {fails}."
        )
    return Finding(sentences)


@study(
    "Axioms from the literature: which a measure meets, with counterexamples",
    _finding,
    Symbols(
        "What measures guarantee: + holds, − fails, n/a does not apply",
        {HOLDS: ("+", 1.0), FAILS: ("−", -1.0), NOT_APPLICABLE: ("n/a", 0.0)},
        value="result",
        row="property",
        column="measure",
    ),
    example="-m TSE LR nDCG@10",
    options={
        "grades": Option(
            "grades of documents, from 0 up (default: 0 and rel for binary measures, else 0, 1 "
            "and 2, up to max_rel)",
            int,
            several=True,
            shown="G",
        ),
        "size": Option(
            "try all rankings of up to N documents (default: 8 of two grades, 5 of three)",
            int,
        ),
        "cases": Option("number of larger random cases per axiom (default: 200)", int),
    }
    | SEED,
)
def axioms(
    measures: MeasuresLike,
    *,
    grades: Sequence[int] | None = None,
    size: int | None = None,
    cases: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """Find which properties measures have, and the smallest counterexample to each of the others.

    The properties are those of ``properties()``: Ferrante et al.'s swap and replacement (also
    strict, and without ranks), Diaz et al.'s properties (also strict), Moffat's seven numeric
    properties at depths 1 to 4 (as quoted by Diaz et al. and Ferrante et al.), Amigó et al.'s ten
    constraints on relevance and diversity, and whether the best ranking scores 1 (Maistro et al.).
    Rankings are compared within one topic, with the same documents judged; topics without relevant
    documents are left out, but for completeness. Claims about all rankings are checked on all
    rankings of a small size, on random larger ones and, where the measure has a cutoff below that,
    on all short rankings that lie across it; "large enough" and "small enough" on a range of
    numbers. ``holds`` thus means that no counterexample was found.

    Where a constraint is about small, partial or full gains, a measure with a scale (``max_rel``)
    gets another scale; measures without one are checked with the gains that they have. Where a
    measure's smaller value is better (``SL3``, ``RE``), a value that a property asks to be higher
    must be lower, and the other way round.

    Measures that know no subtopics see a document's highest grade, and so fail what needs
    subtopics. Measures with named aspects (``TOMA``, ``CAM``, ``MM``) get documents whose labels
    are all lowest (0) or all highest (1), and for the reachable maximum also documents that are
    highest in one aspect only; the constraints on subtopics do not apply to them.

    Args:
        measures: measures or strings, as for ``evaluate``.
        grades: the grades of documents, from 0 up; by default 0 and ``rel`` for binary measures,
            else 0, 1 and 2, as far as ``max_rel`` allows.
        size: enumerate all rankings up to this many documents, as long as there are at most 2,048
            rankings of that size (11 documents of two grades, 6 of three); by default at most 256
            (8 of two, 5 of three).
        cases: random cases of larger size per property.
        seed: of the random cases.

    Returns:
        A row per property: ``measure``, ``source``, ``property``, ``result`` (``'holds'``,
        ``'fails'``, ``'not applicable'``), ``counterexample`` (labels from rank 1 on, behind the
        bar the topic's documents that are not retrieved; ``0x4`` means four times 0; ``1+0`` are
        grades for two subtopics; ``reaches below the cutoff``: no ranking within it breaks the
        property) and ``search``.

    Raises:
        ValueError: an unknown measure, one that nothing installed computes, or grades that it does
            not take.

    Sources: Ferrante, Ferro, Maistro, ICTIR 2015, doi 10.1145/2808194.2809452; Diaz, Ekstrand,
    Mitra, TORS 2026, doi 10.1145/3728373; Amigó, Spina, Carrillo-de-Albornoz, SIGIR 2018,
    doi 10.1145/3209978.3210024; Maistro, Chaves Lima, Simonsen, Lioma, CIKM 2021,
    doi 10.1145/3459637.3482287.

    >>> table = axioms("RR", size=5, cases=0).set_index("property")
    >>> table.loc["strict swap", ["result", "counterexample", "search"]].to_list()
    ['fails', '[1 1 0] scores 1, not more than [1 0 1], 1', 'exhaustive to size 5 (222 cases)']
    >>> table = axioms(["AP", "RBP(p=0.8)"], size=4, cases=0)
    >>> table = table.pivot(index="property", columns="measure", values="result")
    >>> table.loc[["deepness threshold", "priority", "strict swap"]]
    measure                AP RBP(p=0.8)
    property
    deepness threshold  fails      holds
    priority            holds      holds
    strict swap         holds      holds
    """
    parsed = parse_measures_for(measures)
    check_integer("cases", cases, least=0)
    check_integer("seed", seed, least=0)
    if size is not None:
        check_integer("size", size)
    if grades is not None:
        _check_top_grade(parsed, _checked_grades(grades)[-1])
    rows = []
    search_of: dict[
        tuple[str, Space], Search
    ] = {}  # shared by measures of the same grades
    for name, measure in progress_bar(None, parsed.items(), desc="measures"):
        searches: dict[Property, Search] = {}
        for index, law in enumerate(PROPERTIES):
            space = _space(name, measure, grades, law.gains)
            needs_subtopics = law.subtopics and space.aspects
            if law.declared is not None or needs_subtopics:
                continue
            if (law.name, space) not in search_of:
                rng = np.random.default_rng([seed, index])
                search_of[law.name, space] = Search.of(law, space, size, cases, rng)
            searches[law] = search_of[law.name, space]
        for law, outcome in _outcomes(name, measure, searches):
            rows.append((name, law.source, law.name, *outcome))
    table = pd.DataFrame(
        rows,
        columns=["measure", "source", "property", "result", "counterexample", "search"],
    )
    listed_grades = None if grades is None else list(grades)
    return recorded(
        table,
        "axioms",
        measures=list(parsed),
        grades=listed_grades,
        size=size,
        cases=cases,
        seed=seed,
    )


def _outcomes(
    name: str, measure: IRMeasure, searches: Mapping[Property, Search]
) -> Iterator[tuple[Property, tuple[str, str, str]]]:
    """Yield each property with its result, the counterexample and what was searched."""
    scored, falling = _values(name, measure, searches), smaller_is_better(measure)
    for law in PROPERTIES:
        if law.declared is not None:
            yield law, _declared(law.declared, measure)
        elif law in searches:
            yield law, _outcome(searches[law], scored, falling)
        else:
            yield law, NAMES_ASPECTS


def _declared(names: frozenset[str], measure: IRMeasure) -> tuple[str, str, str]:
    """Return whether a measure is declared to have a property; nothing is known of a user's."""
    is_known = type(measure).__module__.partition(".")[0] in (
        "ir_measures",
        "ir_lexirecall",
    )
    if not is_known:
        return NOT_APPLICABLE, "", "not declared"
    return HOLDS if measure.NAME in names else FAILS, "", "declared"


def _outcome(
    search: Search, scored: Mapping[Kind, Mapping[Ranking, float]], falling: bool
) -> tuple[str, str, str]:
    """Return the result, the counterexample and what was searched."""
    law = search.law
    gains = GAINS[law.gains]
    if gains:
        words = f"{search.words}; {gains}"
    else:
        words = search.words
    if not search.claims:
        return NOT_APPLICABLE, "", f"no case is that small: {words}"
    broken = search.broken(scored[law.kind], falling)
    if broken is None:
        return HOLDS, "", words
    counterexample = law.describe(broken, scored[law.kind], falling=falling)
    has_own_depth = any(ranking.depth for _, ranking in broken.terms)
    if (
        law.around is not None
        and not has_own_depth
        and 0 < search.space.cutoff < broken.depth
    ):
        counterexample += " (reaches below the cutoff)"
    return FAILS, counterexample, words


def _space(
    name: str, measure: IRMeasure, grades: Sequence[int] | None, gains: str
) -> Space:
    """Return the rankings that a measure is checked with."""
    aspects = len(aspect_ends(measure))
    if grades is None:
        chosen = _default_grades(measure, gains)
    else:
        chosen = _checked_grades(grades)
    base, rel = measure, _number(measure, "rel")
    if aspects:
        if chosen != (0, 1):
            raise ValueError(
                f"{name} names its aspects and their grades; leave out grades"
            )
        base, rel = measure.base_measure(), None
    longest = float(measure.params.get("n") or np.inf)
    if not is_native(base):
        longest = min(longest, _LONGEST_OF_OTHERS)
    return Space(
        grades=chosen,
        least=1 if rel is None else float(rel),
        longest=longest,
        cutoff=int(_number(base, "cutoff") or 0),
        aspects=aspects,
    )


def _checked_grades(grades: Any) -> tuple[int, ...]:
    """Return the grades that the user gave; raise unless they rise from 0."""
    message = "grades must be 0 and some larger integers in order, not"
    if not isinstance(grades, Iterable):
        raise ValueError(f"{message} {grades!r}")
    chosen = tuple(grades)
    integers = all(map(is_integer, chosen))
    if (
        not integers
        or len(chosen) < 2
        or chosen[0] != 0
        or list(chosen) != sorted(set(chosen))
    ):
        raise ValueError(f"{message} {list(chosen)!r}")
    return chosen


def _default_grades(measure: IRMeasure, gains: str) -> tuple[int, ...]:
    """Return the grades that a measure can tell apart, at most three."""
    if aspect_ends(measure):
        return 0, 1
    if "rel" in measure.SUPPORTED_PARAMS:
        rel = _number(measure, "rel")
        return _checked_grades(
            (0, int(np.ceil(rel)) if isinstance(rel, (int, float)) else 1)
        )
    if gains == "own":
        top = measure.params.get("max_rel", 2)
    else:
        top = 2
    return 0, *range(1, max(1, min(2, int(top))) + 1)


def _number(measure: IRMeasure, name: str) -> Any:
    """Return the value of a parameter of the measure, set or by default; None if not a number."""
    value = optional(measure, name)
    if isinstance(value, numbers.Real):
        return value
    return None


def with_gains(measure: IRMeasure, gains: str, top: int) -> IRMeasure:
    """Return the measure with a scale on which grades up to ``top`` have the ``gains``.

    ``gains`` is a key of ``GAINS``. A measure without a scale is returned as it is.

    >>> from ir_lexirecall import RBU
    >>> with_gains(RBU, "full", 2)
    RBU(gain='linear',max_rel=2)
    """
    if gains == "own" or aspect_ends(measure):
        return measure
    if "max_rel" not in measure.SUPPORTED_PARAMS:
        if "base" not in measure.SUPPORTED_PARAMS:
            return measure
        base = parse_measure(measure["base"])
        scaled = with_gains(base, gains, top)
        if scaled is base:
            return measure
        return measure(base=str(scaled))
    has_gain = "gain" in measure.SUPPORTED_PARAMS
    if gains == "full":
        if has_gain:
            return measure(max_rel=top, gain="linear")
        return measure(max_rel=top)
    if has_gain and measure["gain"] == "exp":
        return measure(max_rel=top + _BITS.get(gains, 0))
    return measure(max_rel=top * 2 ** _BITS.get(gains, 1))


def _values(
    name: str, measure: IRMeasure, searches: Mapping[Property, Search]
) -> dict[Kind, dict[Ranking, float]]:
    """Return the values of all rankings of all claims, by kind of property."""
    searches_of: dict[Kind, list[Search]] = {}
    for law, search in searches.items():
        searches_of.setdefault(law.kind, []).append(search)
    return {
        kind: _values_of_kind(name, measure, kind, searches_of_kind)
        for kind, searches_of_kind in searches_of.items()
    }


def _values_of_kind(
    name: str, measure: IRMeasure, kind: Kind, searches: Sequence[Search]
) -> dict[Ranking, float]:
    """Return the values of the rankings of properties of one kind; raise if one is not a number."""
    _, is_weighted, gains = kind
    scaled = with_gains(measure, gains, max(search.space.top for search in searches))
    must_be_numbers: set[Ranking] = set()
    for search in searches:
        if search.law.needs != "number":
            must_be_numbers.update(search.rankings)
    scored: dict[Ranking, float] = {}
    for rankings in _scored_together(searches):
        cut, seen = at_depth(scaled, rankings, rankings[0].depth)
        scores = values(cut, seen, weights=_WEIGHTS if is_weighted else ())
        for index in np.flatnonzero(np.isnan(scores)).tolist():
            if rankings[index] in must_be_numbers:
                raise ValueError(
                    f"{name} is not a number for {rankings[index]}; there is nothing to check"
                )
        scored.update(zip(rankings, scores.tolist(), strict=True))
    return scored


def _scored_together(searches: Iterable[Search]) -> Iterable[list[Ranking]]:
    """Return the rankings of searches in lists of one depth, with as many grades per document."""
    together: dict[tuple[int, int], list[Ranking]] = {}
    rankings = chain.from_iterable(search.rankings for search in searches)
    for ranking in dict.fromkeys(rankings):
        first = (*ranking.retrieved, *ranking.missing)[0]
        n_grades = 1 if isinstance(first, int) else len(first)
        together.setdefault((n_grades, ranking.depth), []).append(ranking)
    return together.values()
