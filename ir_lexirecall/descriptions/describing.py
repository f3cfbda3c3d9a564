"""``describe``: a page on a measure, from what its class says, and on a preference or a test."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from typing import Any

import ir_measures
from ir_measures.measures.base import Measure as IRMeasure
from ir_measures.providers.base import NOT_PROVIDED

from ir_lexirecall._util.errors import entry
from ir_lexirecall.descriptions.description import Description, Parameter
from ir_lexirecall.descriptions.entries import entries, source
from ir_lexirecall.measures.about import About
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parameters import Param
from ir_lexirecall.measures.parsing import MeasureLike, check_parameters, parse_measures, parse_one

_KINDS = {int: "integer", float: "number", bool: "True or False", str: "text", dict: "dict"}
_ALLOWED = {
    "cutoff": "integer of at least 1",
    "rel": "integer",
    "p": "number from 0 to 1",
    "alpha": "number from 0 to 1",
    "beta": "number from 0 to 1",
    "recall": "number from 0 to 1",
}
_MEANINGS = {
    "cutoff": "what is ranked below counts as not retrieved",
    "rel": "smallest grade that counts as relevant",
    "judged_only": "ignore retrieved documents without a judgment",
    "min_rel": "grade that has no gain",
    "max_rel": "grade of full gain",
    "T": "gain that the user hopes for",
    "alpha": "what a further document on the same subtopic loses",
}


@entry
def describe(measure: MeasureLike) -> Description:
    """Describe a measure: formula, parameters, what a value means, when it ties, when to use it, an example, the source.

    Args:
        measure: any measure that ir_measures knows, or its string; required parameters may be missing. Or the name of a
            preference (``'lexirecall'``) or of a significance test (``'wilcoxon'``).

    Returns:
        A ``Description``: ``print`` shows it as a page, a notebook as HTML; its fields are texts.

    Raises:
        ValueError: an unknown name, with the one that is probably meant; or a parameter out of range.

    >>> page = describe("RBU(p=0.9)@20")
    >>> page.title, page.measure
    ('Rank-Biased Utility', 'RBU(p=0.9)@20')
    >>> print(page.plain)
    sum over ranks i <= k of p^i (sum_t w_t r(d_i, t) prod_{j<i} (1 - r(d_j, t)) - e)
    >>> describe("lexirecall").title, describe("wilcoxon").title
    ('Lexicographic recall', "Wilcoxon's signed-rank test")
    >>> describe("RBUU")
    Traceback (most recent call last):
    ...
    ValueError: describe: unknown measure 'RBUU'; did you mean RBU?
    """
    if isinstance(measure, str):
        for kind in ("preference", "test"):
            if measure in entries(kind):
                return _description(measure, measure, entries(kind)[measure])
    parsed = _parsed(measure)
    about = _about(parsed)
    return _description(
        parsed.NAME,
        str(parsed),
        about,
        title=about.title or _title(parsed),
        meaning=_meaning(parsed),
        parameters=_parameters(parsed, about),
        aliases=_aliases(parsed),
    )


def _description(name: str, measure: str, about: About, **more: Any) -> Description:
    said = {field: getattr(about, field) for field in ("formula", "plain", "symbols", "values", "zero", "ties", "use")}
    return Description(
        name=name,
        measure=measure,
        **said | {"title": about.title, "meaning": about.meaning, "example": about.example} | more,
        source=source(about.source),
        see_also=tuple(about.see_also),
    )


def _about(measure: IRMeasure) -> About:
    """What a measure's class says of itself, or ``entries.ini`` of one of ir_measures."""
    if isinstance(measure, Measure):
        smaller = "smaller values are better" if measure.SMALLER_IS_BETTER else ""
        return measure.ABOUT if measure.ABOUT.use or not smaller else replace(measure.ABOUT, use=smaller)
    if type(measure).__module__.startswith("ir_measures.") and measure.NAME in entries("measure"):
        return entries("measure")[measure.NAME]
    cited = re.findall(r"\.\. cite\.dblp:: *(\S+)", inspect.getdoc(type(measure)) or "")
    return About(source=", ".join(cited))


def _parsed(measure: MeasureLike) -> IRMeasure:
    """The measure, also without what it requires."""
    try:
        return next(iter(parse_measures(measure).values()))
    except ValueError as error:
        try:
            parsed = parse_one(measure)
        except ValueError:
            raise ValueError(str(error)) from None
        lacking = [
            name for name, param in parsed.SUPPORTED_PARAMS.items() if param.required and name not in parsed.params
        ]
        if not lacking:
            raise ValueError(str(error)) from None
        _check_given(parsed)
        return parsed


def _check_given(measure: IRMeasure) -> None:
    """Refuse unknown parameters, and those out of range, of a measure that lacks others."""
    for name, value in measure.params.items():
        param = measure.SUPPORTED_PARAMS.get(name)
        if param is None:
            check_parameters(measure)  # raises
        elif not param.validate(value):
            expected = param.expects if isinstance(param, Param) else _allowed(name, param)
            raise ValueError(f"{measure.NAME}: {name} must be {expected}, not {value!r}")


def _aliases(measure: IRMeasure) -> tuple[str, ...]:
    registry = ir_measures.measures.registry
    same = (name for name, other in registry.items() if type(other) is type(measure) and other.params == {})
    return tuple(name for name in same if name != measure.NAME)


def _title(measure: IRMeasure) -> str:
    return str(getattr(measure, "PRETTY_NAME", None) or measure.NAME)


def _meaning(measure: IRMeasure) -> str:
    """The short description; of a class without one, the first paragraph of the docstring."""
    said = str(getattr(measure, "SHORT_DESC", None) or _first_paragraph(measure) or _title(measure))
    return said if said.endswith(".") else f"{said}."


def _first_paragraph(measure: IRMeasure) -> str:
    about = (inspect.getdoc(type(measure)) or "").partition("\n\n")[0]
    about = re.sub(r"(?ms)^\s*\.\. .*", "", about).replace("::", ":").replace("``", "")  # without directives
    return " ".join(about.split())


def _parameters(measure: IRMeasure, about: About) -> tuple[Parameter, ...]:
    parameters = []
    for name, param in measure.SUPPORTED_PARAMS.items():
        default = (
            "required" if param.required else "none" if param.default in (None, NOT_PROVIDED) else repr(param.default)
        )
        said = "" if isinstance(measure, Measure) else _MEANINGS.get(name, "")
        parameters.append(
            Parameter(
                name=f"@{name}" if name == measure.AT_PARAM else name,
                default=default,
                meaning=about.meanings.get(name) or said or str(param.desc),
                allowed=_allowed(name, param),
                value=measure.params.get(name, None if default in ("required", "none") else param.default),
            )
        )
    return tuple(parameters)


def _allowed(name: str, param: Any) -> str:
    """The values of a parameter in words."""
    if isinstance(param.choices, (list, tuple)):
        return ", ".join(map(repr, param.choices))
    if isinstance(param, Param):
        if param.dtype is bool:
            return _KINDS[bool]
        return param.expects.removeprefix("an ").removeprefix("a ")
    return _ALLOWED.get(name) or _KINDS.get(param.dtype, getattr(param.dtype, "__name__", str(param.dtype)))
