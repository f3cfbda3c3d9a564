"""Measures from objects, classes and strings, with suggestions for unknown ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import ir_measures
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import is_number, shown
from ir_lexirecall._util.measure_strings import UnknownMeasure, parse_measure
from ir_lexirecall.io.measure_names import equivalent
from ir_lexirecall.measures.declaration import (
    REGISTRY,
    Measure,
    UnknownParameter,
    check_names,
)
from ir_lexirecall.measures.other_names import (
    hint_of_trec_eval,
    measure_meant,
    name_here,
)

MeasureLike: TypeAlias = str | IRMeasure | type[Measure]
"""A measure: an object such as ``TSE @ 10``, or its string."""

MeasuresLike: TypeAlias = (
    MeasureLike | Iterable[MeasureLike] | Mapping[str, MeasureLike]
)
"""A measure, several, or several by the name of their column."""


def parse_measures(measures: MeasuresLike) -> dict[str, IRMeasure]:
    """Return measures by the name of their column: a string as given, an object as it prints.

    A name of another program prints as what it means.

    >>> parse_measures(["LR", "nDCG@10", "map", "hit_rate@10"])
    {'LR': LexiRecall, 'nDCG@10': nDCG@10, 'AP': AP, 'Success@10': Success@10}
    >>> parse_measures("nDCG10")
    Traceback (most recent call last):
    ValueError: unknown measure 'nDCG10'; did you mean nDCG@10?
    """
    parsed = {
        name: parse_one(measure) for name, measure in by_own_label(measures).items()
    }
    for measure in parsed.values():
        check_parameters(measure)
    if not parsed and not isinstance(measures, Mapping):
        raise ValueError(
            "no measure is named; give at least one, such as TSE or 'nDCG@10'"
        )
    return parsed


def by_label(measures: MeasuresLike) -> dict[str, MeasureLike]:
    """Return measures by the name of their column, unparsed."""
    if isinstance(measures, Mapping):
        return dict(measures)
    several = [measures] if isinstance(measures, (str, IRMeasure, type)) else measures
    if not isinstance(several, Iterable):
        expected = "expected a measure such as TSE or 'nDCG@10', or several in a list"
        raise ValueError(f"{expected}, got {shown(measures)}")
    labelled: dict[str, MeasureLike] = {}
    for measure in several:
        add_by_label(labelled, measure)
    return labelled


def add_by_label(labelled: dict[str, MeasureLike], measure: MeasureLike) -> None:
    """Add a measure under the name of its column.

    Raises:
        ValueError: another measure has this name, such as a class of the user and one of ours.
    """
    label = str(measure)
    first = labelled.setdefault(label, measure)
    if type(first) is type(measure):
        return
    if not isinstance(first, IRMeasure) and not isinstance(measure, IRMeasure):
        return
    if type(parse_one(first)) is not type(parse_one(measure)):
        raise ValueError(
            f"two measures are called {label!r}; name one otherwise, as in {{'mine': measure}}"
        )


def by_own_label(measures: MeasuresLike) -> dict[str, MeasureLike]:
    """Return measures by label, names of other programs replaced by the measures they mean.

    >>> by_own_label(["map", "LR"]), by_own_label({"map": "map"})
    ({'AP': 'AP', 'LR': 'LR'}, {'map': 'map'})
    """
    named = by_label(measures)
    if isinstance(measures, Mapping):
        return named
    labelled: dict[str, MeasureLike] = {}
    for label, measure in named.items():
        meant = ""
        if isinstance(measure, str):
            meant = _meant_by_unknown(measure)
        labelled[meant or label] = meant or measure
    return labelled


def _meant_by_unknown(text: str) -> str:
    """Return the measure that another program's name means, as it prints; empty for our names."""
    try:
        parse_measure(text)
    except ValueError:
        meant = measure_meant(text)
        if meant:
            return str(parse_measure(meant))
        return ""
    return ""


def is_measures(thing: Any) -> bool:
    """Return whether something was probably meant as measures: objects, strings, or a sequence.

    >>> is_measures(["TSE", ir_measures.AP]), is_measures({"q": {"d": 1}}), is_measures("qrels.txt")
    (True, False, False)
    """
    if isinstance(thing, (list, tuple)):
        several = thing
    else:
        several = [thing]
    try:
        return bool(several) and all(
            isinstance(parse_one(one), IRMeasure) for one in several
        )
    except ValueError:
        return False


def parse_one(measure: MeasureLike) -> IRMeasure:
    """Return one measure, its parameters not yet checked."""
    if isinstance(measure, IRMeasure):
        return measure
    if isinstance(measure, type) and issubclass(measure, Measure):
        return measure()
    if not isinstance(measure, str):
        raise ValueError(
            f"expected a measure such as TSE or 'nDCG@10', got {shown(measure)}"
        )
    try:
        return parse_measure(measure)
    except UnknownParameter:
        raise
    except ValueError as error:
        meant = measure_meant(measure)
        if not meant:
            raise ValueError(_message_about(measure, error)) from None
    return parse_measure(meant)


def _message_about(text: str, error: ValueError) -> str:
    """Return what is wrong with the string of a measure, from the error of the parser."""
    hint = hint_of_trec_eval(text)
    if hint:
        return f"unknown measure {shown(text)}; trec_eval's {text} {hint}"
    if isinstance(error, UnknownMeasure):
        return f"{error}{_hint(text)}"
    if _SEVERAL.search(_without_parameters(text)):
        return f"{error}; give several measures as a list"
    return str(error)


_SEVERAL = re.compile(r"(?<=[\w)])(?:\s++,?+|,)\s*+\w")
"""Two names with blanks or a comma between them."""


def _without_parameters(text: str) -> str:
    """Return a text without what stands in its parentheses.

    >>> _without_parameters("RBU(p=0.9, e=(1))@20 AP")
    'RBU()@20 AP'
    """
    kept, depth = [], 0
    for part in re.split("([()])", text):
        depth -= part == ")"
        if depth <= 0:
            kept.append(part)
        depth = max(depth, 0) + (part == "(")
    return "".join(kept)


def with_rel(criterion: Any, rel: float) -> Any:
    """Return a measure, or its string, with another `rel`; as it is if it names one, or has none.

    >>> [with_rel(name, 2) for name in ("AP", "P(rel=3)@5", "nDCG", "lexirecall")]
    ['AP(rel=2)', 'P(rel=3)@5', 'nDCG', 'lexirecall']
    """
    try:
        measure = parse_one(criterion)
    except ValueError:
        return criterion
    if "rel" not in measure.SUPPORTED_PARAMS or "rel" in measure.params:
        return criterion
    rel = int(rel) if float(rel).is_integer() else rel
    if isinstance(criterion, str):
        return str(measure(rel=rel))
    return measure(rel=rel)


def known_measure(name: str) -> IRMeasure | None:
    """Return the measure that a name of ours or of another program means, None if unknown.

    >>> known_measure("ndcg_cut_10"), known_measure("SL3(n=10)"), known_measure("faithfulness")
    (nDCG@10, SL3(n=10), None)
    """
    trec_eval = equivalent(name)
    try:
        measure = parse_one(trec_eval.measure if trec_eval is not None else name)
        check_parameters(measure)
    except ValueError:
        return None
    return measure


def _hint(text: str) -> str:
    """Return what an unknown measure was probably meant to be, as the end of a message.

    Its name is that of another program, its cutoff lacks the ``@``, or it is misspelt.
    """
    match = re.match(r"(\w*)(.*)", text, re.DOTALL)
    assert match is not None
    name, rest = match.groups()
    names = _RegisteredNames.of_registry()
    without_at = names.cutoff_without_at(name)
    if without_at and not rest:
        return f"; did you mean {without_at}?"
    in_other_case = names.in_other_case(name)
    if in_other_case:
        return f"; did you mean {in_other_case}{rest}?"
    own_name = name_here(text)
    if own_name:
        return f"; it is {own_name} here"
    similar = [names.with_alias(key, rest) for key in names.similar(name)]
    if similar:
        return f"; did you mean {' or '.join(dict.fromkeys(similar))}?"
    return "; the command ir-lexirecall measures lists all"


@dataclass(frozen=True, eq=False)
class _RegisteredNames:
    """Names that ir_measures knows, and how their measures print.

    Attributes:
        printed: how the measure of each name prints.
        by_lower_case: each name by itself in lower case; ours come first.
    """

    printed: dict[str, str]
    by_lower_case: dict[str, str]

    @classmethod
    def of_registry(cls) -> _RegisteredNames:
        """Return all names of ir_measures and of this library."""
        printed = {}
        for name, measure in ir_measures.measures.registry.items():
            if name in REGISTRY:
                printed[name] = name
            else:
                printed[name] = measure.__name__
        ours_first = sorted(printed, key=lambda name: name not in REGISTRY)
        return cls(printed, {name.lower(): name for name in ours_first})

    def cutoff_without_at(self, name: str) -> str:
        """Return the measure of a name such as nDCG10 or ndcg_10, empty if it is no such name."""
        stem = name.lower().rstrip("0123456789")
        cutoff = name[len(stem) :]
        stem = stem.removesuffix("_")
        if not cutoff or stem not in self.by_lower_case:
            return ""
        return f"{self.printed[self.by_lower_case[stem]]}@{cutoff}"

    def in_other_case(self, name: str) -> str:
        """Return the measure whose name differs in the case of letters, empty if there is none."""
        lower_case = name.lower()
        # Other programs call hits so, not the measure Accuracy.
        if lower_case == "accuracy":
            return ""
        registered = self.by_lower_case.get(lower_case)
        if registered is None:
            return ""
        return self.printed[registered]

    def similar(self, name: str) -> list[str]:
        """Return up to two names that are spelt like a name, or that have it within."""
        import difflib

        lower_case = name.lower()
        similar = difflib.get_close_matches(lower_case, self.by_lower_case, n=3)
        # Such as ndgc for ndcg.
        same_letters = [key for key in similar if sorted(key) == sorted(lower_case)]
        longer = []
        if len(name) > 3:
            # Such as recal for LexiRecall.
            longer = [key for key in self.by_lower_case if lower_case in key]
        closest = [*same_letters, *similar][:1]
        candidates = dict.fromkeys([*closest, *longer][:2])
        return [self.by_lower_case[key] for key in candidates]

    def with_alias(self, name: str, rest: str) -> str:
        """Return how the measure of a name prints with its parameters, and the name if it differs.

        >>> _RegisteredNames.of_registry().with_alias("MAP", "@5")
        'AP@5 (MAP)'
        """
        printed = self.printed[name]
        if printed.lower() == name.lower():
            return f"{printed}{rest}"
        return f"{printed}{rest} ({name})"


class FractionalRel(ValueError):
    """A measure of ir_measures has a `rel` that is not whole, which it cannot have.

    Attributes:
        measure: the measure.
        rel: its `rel`.
    """

    def __init__(self, measure: IRMeasure) -> None:
        """Say what to do where qrels are loaded."""
        self.measure = measure
        rel = float(measure.params["rel"])
        self.rel: float = rel
        super().__init__(
            f"{measure}: ir_measures takes whole numbers for rel; load the qrels with "
            f"levels=[{rel:g}] (--levels {rel:g}), by which grades from {rel:g} on count as 1, "
            "and leave rel out"
        )


def check_parameters(measure: IRMeasure) -> None:
    """Raise a `ValueError` if parameters of a measure are missing or unusable."""
    _check_names(measure)
    for name in ("cutoff", "rel"):
        if isinstance(measure.params.get(name), bool):
            raise ValueError(
                f"{measure}: {name} must be a number, not {measure.params[name]}"
            )
    recall = measure.params.get("recall")
    if is_number(recall) and not 0 <= recall <= 1:
        raise ValueError(f"{measure}: recall must be between 0 and 1, not {recall:g}")
    cutoff = measure.params.get("cutoff")
    if isinstance(cutoff, int) and cutoff < 1:
        raise ValueError(f"{measure}: the cutoff must be at least 1")
    try:
        measure.validate_params()
    except AssertionError as error:
        if _has_fractional_rel(measure):
            raise FractionalRel(measure) from None
        if isinstance(cutoff, float):
            raise ValueError(
                f"{measure}: the cutoff must be a whole number, not {cutoff:g}"
            ) from None
        raise ValueError(f"{measure}: {error}") from None


def _check_names(measure: IRMeasure) -> None:
    """Raise if a parameter is not one of the measure, or a required one is missing."""
    # A measure with an unknown one cannot even be printed.
    check_names(measure.__name__, measure.params, measure.SUPPORTED_PARAMS)
    for name, param in measure.SUPPORTED_PARAMS.items():
        if param.required and name not in measure.params:
            raise ValueError(
                f"{measure}: the parameter {name!r} is required ({param.desc})"
            )


def _has_fractional_rel(measure: IRMeasure) -> bool:
    """Return whether the `rel` of a measure is not whole."""
    rel = measure.params.get("rel")
    return isinstance(rel, float) and not rel.is_integer()
