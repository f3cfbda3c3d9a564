"""What users call measures, as measures: objects, classes, strings, with what was probably meant where one is unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import ir_measures
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import shown
from ir_lexirecall._util.measure_strings import UnknownMeasure, parse_measure
from ir_lexirecall.io.measure_names import EQUIVALENTS, equivalent
from ir_lexirecall.measures.declaration import REGISTRY, Measure, UnknownParameter

MeasureLike: TypeAlias = str | IRMeasure | type[Measure]
"""A measure: an object such as ``TSE @ 10``, or its string."""

MeasuresLike: TypeAlias = MeasureLike | Iterable[MeasureLike] | Mapping[str, MeasureLike]
"""A measure, several, or several by the name of their column."""


def parse_measures(measures: MeasuresLike) -> dict[str, IRMeasure]:
    """Measures by the name of their column: a string as it was given, an object as it prints.

    >>> list(parse_measures(["LR", "nDCG@10"]).values())
    [LexiRecall, nDCG@10]
    >>> parse_measures("nDCG10")
    Traceback (most recent call last):
    ValueError: unknown measure 'nDCG10'; did you mean nDCG@10?
    """
    parsed = {name: parse_one(measure) for name, measure in by_label(measures).items()}
    for measure in parsed.values():
        check_parameters(measure)
    if not parsed and not isinstance(measures, Mapping):
        raise ValueError("no measure is named; give at least one, such as TSE or 'nDCG@10'")
    return parsed


def by_label(measures: MeasuresLike) -> dict[str, MeasureLike]:
    """Measures by the name of their column, unparsed."""
    if isinstance(measures, Mapping):
        return dict(measures)
    several = [measures] if isinstance(measures, (str, IRMeasure, type)) else measures
    if not isinstance(several, Iterable):
        raise ValueError(
            f"expected a measure such as TSE or 'nDCG@10', or several in a list, got {shown(measures)}"
        )
    return {str(measure): measure for measure in several}


def is_measures(thing: Any) -> bool:
    """Whether something is a measure, its string, or a sequence of these: what was probably meant as measures.

    >>> is_measures(["TSE", ir_measures.AP]), is_measures({"q": {"d": 1}}), is_measures("qrels.txt")
    (True, False, False)
    """
    several = thing if isinstance(thing, (list, tuple)) else [thing]
    try:
        return bool(several) and all(isinstance(parse_one(one), IRMeasure) for one in several)
    except ValueError:
        return False


def parse_one(measure: MeasureLike) -> IRMeasure:
    """One measure, its parameters not yet checked."""
    if isinstance(measure, IRMeasure):
        return measure
    if isinstance(measure, type) and issubclass(measure, Measure):
        return measure()
    if not isinstance(measure, str):
        raise ValueError(f"expected a measure such as TSE or 'nDCG@10', got {shown(measure)}")
    try:
        return parse_measure(measure)
    except UnknownParameter:
        raise
    except ValueError as error:
        if hint := _from_trec_eval(measure):
            raise ValueError(
                f"unknown measure {shown(measure)}; trec_eval's {measure} {hint}"
            ) from None
        if isinstance(error, UnknownMeasure):
            raise ValueError(f"{error}{_hint(measure)}") from None
        several = _SEVERAL.search(_without_parameters(measure))
        raise ValueError(
            f"{error}; give several measures as a list" if several else str(error)
        ) from None


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
    return str(measure(rel=rel)) if isinstance(criterion, str) else measure(rel=rel)


def known_measure(name: str) -> IRMeasure | None:
    """The measure that a name of ours or trec_eval's means, as far as one is known.

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


def _from_trec_eval(text: str) -> str:
    """What one of trec_eval's names, such as ``ndcg_cut_10`` or ``ndcg_cut``, is called here; empty for other texts."""
    known = equivalent(text) or next(
        (one for one in EQUIVALENTS if one.name in (f"{text}_K", f"{text}_X")), None
    )
    if known is None:
        return ""
    if not known.measure:
        return f"is not here; use {known.note}"
    return f"is called {known.measure.replace('@K', '@k')} here{f' ({known.note})' if known.note else ''}"


_OTHER_NAMES = {
    **dict.fromkeys(("hr", "hit", "hits", "hitrate", "hitratio"), "Success"),
    **dict.fromkeys(("acc", "accuracy", "topk", "topkaccuracy"), "Success"),
    **dict.fromkeys(("mrr", "reciprocalrank", "meanreciprocalrank"), "RR"),
    **dict.fromkeys(("map", "averageprecision", "meanaverageprecision"), "AP"),
    **dict.fromkeys(("prec", "precision"), "P"),
    **dict.fromkeys(("rec", "recall"), "R"),
    "ndcg": "nDCG",
    "rprecision": "Rprec",
}
"""What measures are called in other programs (without underscores, in lower case), and here."""

_WITH_CUTOFF = re.compile(r"([A-Za-z][A-Za-z_-]*?)[_-]?(?:@|at|[_-])?[_-]?(\d*)")


def _name_here(text: str) -> str:
    """Return what a measure of another program is called here, empty if it is unknown.

    >>> [_name_here(name) for name in ("HR@10", "hit_rate_at_5", "accuracy@1", "mrr10", "FR@3")]
    ['Success@10', 'Success@5', 'Success@1', 'RR@10', '']
    """
    match = _WITH_CUTOFF.fullmatch(text.strip()) if len(text) < 50 else None
    ours = match and _OTHER_NAMES.get(re.sub("[_-]", "", match[1]).lower())
    if not ours or not match:
        return ""
    cutoff = match[2] or ("k" if ours in ("Success", "P", "R") else "")
    return f"{ours}@{cutoff}" if cutoff else ours


def _hint(text: str) -> str:
    """Return what an unknown measure was probably meant to be, as the end of a message.

    Its name is that of another program, its cutoff lacks the ``@``, or it is misspelt.
    """
    import difflib

    name, rest = re.match(r"(\w*)(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    registry = ir_measures.measures.registry
    names = {key: key if key in REGISTRY else measure.__name__ for key, measure in registry.items()}
    known = {
        key.lower(): key for key in sorted(names, key=lambda key: key not in REGISTRY)
    }  # ours first
    stem = name.lower().rstrip("0123456789")
    cutoff, stem = name[len(stem) :], stem.removesuffix("_")
    if cutoff and stem in known and not rest:
        return f"; did you mean {names[known[stem]]}@{cutoff}?"
    if (
        name.lower() in known and name.lower() != "accuracy"
    ):  # another case; Accuracy is not what hits are called
        return f"; did you mean {names[known[name.lower()]]}{rest}?"
    if ours := _name_here(text):
        return f"; it is {ours} here"
    close = difflib.get_close_matches(name.lower(), known, n=1)
    within = [key for key in known if len(name) > 3 and name.lower() in key]  # recal: LexiRecall
    keys = [known[key] for key in dict.fromkeys([*close, *within][:2])]
    also = {key: "" if names[key].lower() == key.lower() else f" ({key})" for key in keys}
    meant = dict.fromkeys(f"{names[key]}{rest}{also[key]}" for key in keys)
    return f"; did you mean {' or '.join(meant)}?" if meant else ""


def check_parameters(measure: IRMeasure) -> None:
    """Refuse a measure with missing or unusable parameters with a ``ValueError`` (ir_measures' own only assert)."""
    unknown = [name for name in measure.params if name not in measure.SUPPORTED_PARAMS]
    if unknown:  # such a measure cannot even be printed
        known = ", ".join(measure.SUPPORTED_PARAMS) or "none"
        raise UnknownParameter(
            f"{measure.__name__} has no parameter {unknown[0]!r}; it has {known}"
        )
    for name, param in measure.SUPPORTED_PARAMS.items():
        if param.required and name not in measure.params:
            raise ValueError(f"{measure}: the parameter {name!r} is required ({param.desc})")
    cutoff = measure.params.get("cutoff")
    if isinstance(cutoff, int) and cutoff < 1:
        raise ValueError(f"{measure}: the cutoff must be at least 1")
    try:
        measure.validate_params()
    except AssertionError as error:
        rel = measure.params.get("rel")
        if isinstance(rel, float) and not rel.is_integer():
            raise ValueError(
                f"{measure}: ir_measures takes whole numbers for rel; load the qrels with levels=[{rel:g}] "
                f"(--levels {rel:g}), by which grades from {rel:g} on count as 1, and leave rel out"
            ) from None
        raise ValueError(f"{measure}: {error}") from None
