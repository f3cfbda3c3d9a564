"""``describe``: a measure's page, from what is declared here and what its class says."""

from __future__ import annotations

import inspect
import re
from typing import Any

import ir_measures
from ir_measures.measures.base import Measure as IRMeasure
from ir_measures.providers.base import NOT_PROVIDED

from ir_lexirecall.descriptions import diversity, recall, standard, users
from ir_lexirecall.descriptions.base import Description, Entry, Parameter, Source
from ir_lexirecall.descriptions.sources import source
from ir_lexirecall.evaluation import MeasureLike, check_parameters, parse_measures
from ir_lexirecall.measures.base import Measure, Param

ENTRIES: dict[str, Entry] = {**recall.ENTRIES, **users.ENTRIES, **diversity.ENTRIES, **standard.ENTRIES}
"""What is declared, by the names of the measures."""

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


def describe(measure: MeasureLike) -> Description:
    """Describe a measure: formula, parameters, what a value means, when it ties, when to use it, an example, the source.

    Args:
        measure: any measure that ir_measures knows, or its string; required parameters may be missing.

    Returns:
        A ``Description``: ``print`` shows it as a page, a notebook as HTML; its fields are texts.

    Raises:
        ValueError: an unknown measure, with the one that is probably meant; or a parameter out of range.

    >>> page = describe("RBU(p=0.9)@20")
    >>> page.title, page.measure
    ('Rank-Biased Utility', 'RBU(p=0.9)@20')
    >>> print(page.plain)
    sum over ranks i <= k of p^i (sum_t w_t r(d_i, t) prod_{j<i} (1 - r(d_j, t)) - e)
    >>> describe("RBUU")
    Traceback (most recent call last):
    ...
    ValueError: describe: 'RBUU' is not a measure that ir_measures knows: ... did you mean RBU?
    """
    parsed = _parsed(measure)
    entry = ENTRIES.get(parsed.NAME)
    if entry is None or _is_redefined(parsed):
        return _from_class(parsed)
    return Description(
        name=parsed.NAME,
        measure=str(parsed),
        title=entry.title or _title(parsed),
        meaning=_meaning(parsed),
        formula=entry.formula,
        plain=entry.plain,
        symbols=entry.symbols,
        parameters=_parameters(parsed, entry),
        values=entry.values,
        zero=entry.zero,
        ties=entry.ties,
        use=entry.use,
        example=entry.example,
        source=source(entry.source),
        see_also=entry.see_also,
        aliases=_aliases(parsed),
    )


def _parsed(measure: MeasureLike) -> IRMeasure:
    """The measure, also without what it requires."""
    try:
        return next(iter(parse_measures(measure).values()))
    except ValueError as error:
        try:
            parsed = ir_measures.parse_measure(measure() if isinstance(measure, type) else measure)
        except Exception:
            raise ValueError(f"describe: {error}") from None
        lacking = [
            name for name, param in parsed.SUPPORTED_PARAMS.items() if param.required and name not in parsed.params
        ]
        if not lacking:
            raise ValueError(f"describe: {error}") from None
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
            raise ValueError(f"describe: {measure.NAME}: {name} must be {expected}, not {value!r}")


def _is_redefined(measure: IRMeasure) -> bool:
    """Whether a user defined a measure of the same name as one that is described here."""
    module = type(measure).__module__.partition(".")[0]
    return module not in ("ir_lexirecall", "ir_measures")


def _from_class(measure: IRMeasure) -> Description:
    """What a measure's class says of itself."""
    about, _, rest = (inspect.getdoc(type(measure)) or "").partition("\n\n")
    known = getattr(measure, "FORMULA", "") or ""
    cited = getattr(measure, "SOURCE", "") or ", ".join(re.findall(r"\.\. cite\.dblp:: *(\S+)", f"{about}\n{rest}"))
    return Description(
        name=measure.NAME,
        measure=str(measure),
        title=_title(measure),
        meaning=" ".join(_plain(about).split()) or _meaning(measure),
        plain=known,
        parameters=_parameters(measure, None),
        use="smaller values are better" if getattr(measure, "SMALLER_IS_BETTER", False) else "",
        source=Source(line=cited),
        aliases=_aliases(measure),
    )


def _plain(text: str) -> str:
    """A docstring without its directives."""
    return re.sub(r"(?ms)^\s*\.\. .*", "", text).replace("::", ":").replace("``", "")


def _aliases(measure: IRMeasure) -> tuple[str, ...]:
    registry = ir_measures.measures.registry
    same = (name for name, other in registry.items() if type(other) is type(measure) and other.params == {})
    return tuple(name for name in same if name != measure.NAME)


def _title(measure: IRMeasure) -> str:
    return str(getattr(measure, "PRETTY_NAME", None) or measure.NAME)


def _meaning(measure: IRMeasure) -> str:
    said = str(getattr(measure, "SHORT_DESC", None) or _title(measure))
    return said if said.endswith(".") else f"{said}."


def _parameters(measure: IRMeasure, entry: Entry | None) -> tuple[Parameter, ...]:
    declared = {} if entry is None else entry.meanings
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
                meaning=declared.get(name) or said or str(param.desc),
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
