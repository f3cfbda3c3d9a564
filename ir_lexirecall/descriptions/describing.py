"""Descriptions of measures, from their classes, and of preferences and tests."""

from __future__ import annotations

import ast
import configparser
import inspect
import re
import textwrap
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import ir_measures
from ir_measures.measures.base import Measure as IRMeasure
from ir_measures.providers.base import NOT_PROVIDED

from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.selecting import with_keys
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.declaration import UNIT, Measure, UnknownParameter
from ir_lexirecall.measures.parameters import Param
from ir_lexirecall.measures.parsing import MeasureLike, check_parameters, parse_one
from ir_lexirecall.preferences.naming import parse_preference
from ir_lexirecall.present.text import capitalised, escape_html
from ir_lexirecall.significance import TESTS

_WIDTH = 88


@dataclass(frozen=True)
class Parameter:
    """A parameter of a measure.

    Attributes:
        name: as it is written; ``@cutoff`` is written behind the measure.
        default: as text; ``required``, or ``none`` where leaving it out means something.
        meaning: what it is.
        allowed: its values, in words.
        value: the one that this measure has.
    """

    name: str
    default: str
    meaning: str
    allowed: str
    value: Any = None

    @property
    def shown(self) -> str:
        """Name, with the value if this measure has another one than the default."""
        plain = self.default in ("required", "none")
        if plain:
            differs = self.value is not None
        else:
            differs = repr(self.value) != self.default
        if differs:
            return f"{self.name} = {self.value!r}"
        return self.name

    def __str__(self) -> str:
        """Return the parameter as a line of text."""
        if self.default == "required":
            default = self.default
        else:
            default = f"default {self.default}"
        return f"{self.shown} ({default}; {self.allowed}): {self.meaning}"


@dataclass(frozen=True)
class Source:
    """Source of a measure: the key and the text of a BibTeX entry, and a line for readers."""

    key: str = ""
    bibtex: str = ""
    line: str = ""

    def __str__(self) -> str:
        """Return the line for readers."""
        return self.line


@dataclass(frozen=True)
class Description(About):
    """Description of a measure, a preference or a test; ``print`` shows it as a page.

    Attributes:
        name: of what is described.
        measure: the name, of a measure with its parameters: a string that ``evaluate`` reads.
        title: its full name.
        meaning: what it says, in a sentence.
        formula: LaTeX source, without dollar signs.
        plain: the formula in plain text.
        symbols: what the letters of the formula mean.
        parameters: all of them, in order.
        values: the range.
        zero: what 0 means.
        ties: when two rankings get the same value.
        use: when to use it.
        example: worked out by hand, or None.
        source: where it comes from.
        see_also: names of related measures.
        aliases: other names of the same measure.
        caption: what a table of its values says below.
        meanings: of parameters that the class describes badly.
    """

    name: str = ""
    measure: str = ""
    parameters: tuple[Parameter, ...] = ()
    source: Source = Source()  # type: ignore[assignment]  # a class names it, a description has it
    aliases: tuple[str, ...] = ()

    def sections(self) -> list[tuple[str, str]]:
        """Return headings and texts that are not empty, without the parameters."""
        parts = [
            ("Formula", self.plain or self.formula),
            ("Symbols", self.symbols),
            ("Values", self.values),
            ("0 means", self.zero),
            ("Ties", self.ties),
            ("Use it", self.use),
            ("Example", "" if self.example is None else str(self.example)),
            ("Source", str(self.source)),
            ("See also", ", ".join(self.see_also)),
        ]
        return [(heading, text) for heading, text in parts if text]

    @property
    def heading(self) -> str:
        """Measure with its other names, and its full name."""
        also = ""
        if self.aliases:
            also = f" (also {', '.join(self.aliases)})"
        title = f": {self.title}" if self.title != self.measure else ""
        return f"{self.measure}{also}{title}"

    def page(self, width: int = _WIDTH) -> str:
        """Return the page as text.

        Args:
            width: columns of the terminal.
        """
        sections = self.sections()
        room = max((len(heading) for heading, _ in sections), default=0) + 2
        lines = {
            heading: _filled(f"{heading:<{room}}{text}", width, room)
            for heading, text in sections
        }
        first = []
        for heading in ("Formula", "Symbols"):
            if heading in lines:
                first.append(lines.pop(heading))
        blocks = [
            _filled(self.heading, width, 0),
            _filled(self.meaning, width, 0),
            "\n".join(first),
        ]
        if self.parameters:
            parameters = [_filled(f"  {item}", width, 6) for item in self.parameters]
            blocks.append("\n".join(["Parameters:", *parameters]))
        blocks.append("\n".join(lines.values()))
        return "\n\n".join(block for block in blocks if block)

    def __str__(self) -> str:
        """Return the page as text."""
        return self.page()

    def __repr__(self) -> str:
        return self.page()

    def _repr_html_(self) -> str:
        formula = ""
        if self.formula:
            formula = f"<p>$${escape_html(self.formula)}$$</p>"
        lines = "\n".join(map(escape_html, self.page(10**6).split("\n")))
        return f'{formula}<pre style="white-space: pre-wrap">{lines}</pre>'


def _filled(text: str, width: int, indent: int) -> str:
    """Fill ``text`` to ``width`` columns; lines after the first are indented."""
    return textwrap.fill(
        text,
        width,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


_FILE = Path(__file__).with_name("entries.ini")
_TEXTS = (
    "formula",
    "plain",
    "symbols",
    "values",
    "zero",
    "ties",
    "use",
    "source",
    "title",
    "meaning",
)
_WHERE = {
    "article": "journal",
    "inproceedings": "booktitle",
    "incollection": "booktitle",
}
_WHERE |= {"book": "publisher", "phdthesis": "school"}
_KINDS = {
    int: "integer",
    float: "number",
    bool: "True or False",
    str: "text",
    dict: "dict",
}


@entry
def describe(measure: MeasureLike) -> Description:
    """Describe a measure: formula, parameters, meaning of values, ties, use, example and source.

    Args:
        measure: any measure that ir_measures knows, or its string; required parameters may be
            missing. Or the name of a preference (``'lexirecall(rel=2)@100'``) or of a significance
            test (``'wilcoxon'``).

    Returns:
        A ``Description``: ``print`` shows it as a page, a notebook as HTML; its fields are texts.

    Raises:
        ValueError: an unknown name, with the one that is probably meant; or a parameter out of
            range.

    >>> page = describe("RBU(p=0.9)@20")
    >>> page.title, page.measure
    ('Rank-Biased Utility', 'RBU(p=0.9)@20')
    >>> print(page.plain)
    sum over i <= k of p^i (sum over t of w_t r(d_i, t) product over j < i of (1 - r(d_j, t)) - e)
    >>> describe("lexirecall").title, describe("wilcoxon").title
    ('Lexicographic recall', 'Wilcoxon signed-rank test')
    >>> describe("RBUU")
    Traceback (most recent call last):
    ...
    ValueError: describe: unknown measure 'RBUU'; did you mean RBU?
    """
    if isinstance(measure, str) and measure in entries("test"):
        return _description(measure, entries("test")[measure])
    preference = parse_preference(measure)
    if preference is not None:
        return _description(preference, entries("preference")[preference.NAME])
    parsed = parse_one(measure)
    _check_given_parameters(parsed)
    about = _about(parsed)
    title = str(getattr(parsed, "PRETTY_NAME", None) or parsed.NAME)
    meaning = _meaning(parsed) or title
    if not meaning.endswith("."):
        meaning += "."
    about = replace(about, title=about.title or title, meaning=meaning)
    return _description(parsed, about, _aliases(parsed))


def _check_given_parameters(measure: IRMeasure) -> None:
    """Raise if a given parameter is unknown or out of range; required ones may be missing."""
    try:
        check_parameters(measure)
    except UnknownParameter:
        raise
    except ValueError as error:
        for name, value in measure.params.items():
            param = measure.SUPPORTED_PARAMS[name]
            if not param.validate(value):
                expected = getattr(param, "expects", None) or _allowed(name, param)
                raise ValueError(
                    f"{measure.NAME}: {name} must be {expected}, not {value!r}"
                ) from None
        required = {
            name for name, param in measure.SUPPORTED_PARAMS.items() if param.required
        }
        names_what_is_missing = re.search(r" needs \w+, ", str(error)) is not None
        if required <= measure.params.keys() and not names_what_is_missing:
            raise


def _about(measure: IRMeasure) -> About:
    """Return what is known of a measure: from its class, from `entries.ini`, or its citation."""
    if isinstance(measure, Measure):
        return _about_own(measure)
    is_standard = type(measure).__module__.startswith("ir_measures.")
    if is_standard and measure.NAME in entries("measure"):
        return entries("measure")[measure.NAME]
    citations = re.findall(
        r"\.\. cite\.dblp:: *(\S+)", inspect.getdoc(type(measure)) or ""
    )
    return About(source=", ".join(citations))


def _about_own(measure: Measure) -> About:
    """Return what a measure of this library says of itself, with its range and direction."""
    about = measure.about()
    direction = "; smaller is better" if measure.SMALLER_IS_BETTER else ""
    if not about.values and measure.RANGE == UNIT:
        about = replace(about, values=f"0 to 1{direction}")
    if direction and not about.use:
        about = replace(about, use="smaller values are better")
    return about


def _meaning(measure: IRMeasure) -> str:
    """Return a sentence on a measure: its short description, or how its docstring begins."""
    short = getattr(measure, "SHORT_DESC", None)
    if short:
        return str(short)
    paragraph = (inspect.getdoc(type(measure)) or "").partition("\n\n")[0]
    without_directives = re.sub(r"(?ms)^[ \t]*\.\. .*", "", paragraph)
    return " ".join(without_directives.replace("::", ":").replace("``", "").split())


def _aliases(measure: IRMeasure) -> tuple[str, ...]:
    """Return the other names under which ir_measures knows a measure without parameters."""
    names = []
    for name, other in ir_measures.measures.registry.items():
        is_same = type(other) is type(measure) and not other.params
        if is_same and name != measure.NAME:
            names.append(name)
    return tuple(names)


def _description(
    described: Any, about: About, aliases: tuple[str, ...] = ()
) -> Description:
    """Return the description of a measure, a preference, or a test, by its name."""
    fields = vars(about) | {
        "name": getattr(described, "NAME", described),
        "measure": str(described),
        "parameters": ()
        if isinstance(described, str)
        else _parameters(described, about),
        "source": source(about.source),
        "see_also": tuple(about.see_also),
        "aliases": aliases,
    }
    return Description(**fields)


def _parameters(measure: IRMeasure, about: About) -> tuple[Parameter, ...]:
    """Return the parameters of a measure, in order."""
    return tuple(
        _parameter(measure, name, param, about.meanings.get(name, ""))
        for name, param in measure.SUPPORTED_PARAMS.items()
    )


def _parameter(measure: IRMeasure, name: str, param: Any, meaning: str) -> Parameter:
    """Return a parameter; `meaning` is what the measure says of it, if anything."""
    has_default = param.default not in (None, NOT_PROVIDED)
    if has_default:
        default = repr(param.default)
    else:
        default = "none"
    if param.required:
        default, has_default = "required", False
    if not meaning and not isinstance(measure, Measure):
        meaning = _sections("parameter").get(name, {}).get("meaning", "")
    value = measure.params.get(name)
    if has_default and name not in measure.params:
        value = param.default
    mark = "@" if name == measure.AT_PARAM else ""
    return Parameter(
        name=f"{mark}{name}",
        default=default,
        meaning=meaning or str(param.desc),
        allowed=_allowed(name, param),
        value=value,
    )


def _allowed(name: str, param: Any) -> str:
    """Return the values of a parameter in words."""
    if isinstance(param.choices, (list, tuple)):
        return ", ".join(map(repr, param.choices))
    if isinstance(param, Param):
        if param.dtype is bool:
            return _KINDS[bool]
        return param.expects.removeprefix("an ").removeprefix("a ")
    allowed = _sections("parameter").get(name, {}).get("allowed")
    return allowed or _KINDS.get(
        param.dtype, getattr(param.dtype, "__name__", str(param.dtype))
    )


# -- descriptions that no class holds: the sections of entries.ini ---------------------------------


def entries(kind: str) -> dict[str, About]:
    """Return descriptions of standard measures, preferences or tests, by name.

    Args:
        kind: `'measure'`, `'preference'` or `'test'`.

    >>> list(entries("test"))
    ['sign', 't', 'wilcoxon', 'bootstrap', 'randomisation', 'tukey']
    """
    if kind == "test":
        return {name: _about_test(test) for name, test in TESTS.items()}
    return {name: _about_section(section) for name, section in _sections(kind).items()}


def _about_test(test: Any) -> About:
    """Return the description of a significance test, which the test itself has."""
    texts = {
        name: getattr(test, name)
        for name in ("meaning", "plain", "ties", "use", "see_also")
    }
    return About(title=capitalised(test.title), **texts)


def _about_section(section: dict[str, str]) -> About:
    """Return the description in a section of `entries.ini`."""
    texts = with_keys(section, _TEXTS)
    meanings = {}
    for key, text in section.items():
        if key.startswith("meaning."):
            meanings[key.removeprefix("meaning.")] = text
    return About(
        see_also=tuple(section["see_also"].split(", ")),
        meanings=meanings,
        example=_example(section),
        **texts,
    )


def _example(section: dict[str, str]) -> Example | None:
    """Return the example of a section, if it has one.

    Grades are written as `1, 0, None`, or for several subtopics as `(1, 0), (0, None)`.
    """
    if "example" not in section:
        return None
    ranking, missing = (
        ast.literal_eval(f"[{section.get(key, '')}]") for key in ("ranking", "missing")
    )
    value = float(Fraction(section["value"]))
    return Example(section["example"], ranking, value, section["working"], missing)


_MOST_AUTHORS = 4  # named in a line


def source(key: str) -> Source:
    """Return a source by its key; a text of several words is a source itself.

    >>> print(source("moffat2008").bibtex.splitlines()[0], source("moffat2008"), sep="; ")
    @article{moffat2008,; Moffat, Zobel: Rank-Biased Precision ... doi 10.1145/1416950.1416952
    """
    entry = _sections("source").get(key)
    if entry is not None:
        return Source(key, _bibtex(key, entry), _cited(entry))
    if key and " " not in key:
        keys = ", ".join(_sections("source"))
        raise ValueError(f"unknown source {key!r}; descriptions/entries.ini has {keys}")
    return Source(line=key)


def _bibtex(key: str, entry: dict[str, str]) -> str:
    """Return a BibTeX entry."""
    fields = {
        "author": entry["authors"],
        "title": f"{{{entry['title']}}}",
        _WHERE[entry["kind"]]: entry["where"],
        "year": entry["year"],
        "doi": entry.get("doi", ""),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{entry['kind']}{{{key},", *lines, "}"])


def _cited(entry: dict[str, str]) -> str:
    """Return a source in a line: authors, title, where, year and DOI."""
    surnames = [person.split()[-1] for person in entry["authors"].split(" and ")]
    if len(surnames) > _MOST_AUTHORS:
        surnames = [surnames[0], "et al."]
    doi = ""
    if "doi" in entry:
        doi = f", doi {entry['doi']}"
    return f"{', '.join(surnames)}: {entry['title']}, {entry['where']} {entry['year']}{doi}"


@lru_cache
def _sections(kind: str) -> dict[str, dict[str, str]]:
    """Return the sections of a kind in `entries.ini`, by name."""
    parser = configparser.ConfigParser(
        delimiters=("=",), interpolation=configparser.ExtendedInterpolation()
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(_FILE, encoding="utf-8")
    named = ((section.partition(" "), parser[section]) for section in parser.sections())
    sections = {}
    for (of_kind, _, name), section in named:
        if of_kind == kind:
            sections[name] = {
                key: " ".join(text.split("\n")) for key, text in section.items()
            }
    return sections
