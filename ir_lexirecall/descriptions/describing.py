"""``describe``: a page on a measure, from what its class says, and on a preference or a test."""

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
from ir_lexirecall.measures.about import About, Example
from ir_lexirecall.measures.declaration import UNIT, Measure, UnknownParameter
from ir_lexirecall.measures.parameters import Param
from ir_lexirecall.measures.parsing import MeasureLike, check_parameters, parse_one
from ir_lexirecall.preferences.naming import parse_preference
from ir_lexirecall.present.text import escape_html
from ir_lexirecall.significance import TESTS

_WIDTH = 88


@dataclass(frozen=True)
class Parameter:
    """A parameter of a measure, as its description has it.

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
        """The name, with the value where this measure has another one than the default."""
        plain = self.default in ("required", "none")
        differs = self.value is not None if plain else repr(self.value) != self.default
        return f"{self.name} = {self.value!r}" if differs else self.name

    def __str__(self) -> str:
        default = self.default if self.default == "required" else f"default {self.default}"
        return f"{self.shown} ({default}; {self.allowed}): {self.meaning}"


@dataclass(frozen=True)
class Source:
    """Where a measure comes from: the key and the text of a BibTeX entry, and a line for readers."""

    key: str = ""
    bibtex: str = ""
    line: str = ""

    def __str__(self) -> str:
        return self.line


@dataclass(frozen=True)
class Description(About):
    """What a measure, a preference or a test is; ``print`` shows it as a page.

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
        """Headings and texts, without the parameters and what is empty."""
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
        """The measure with its other names, and its full name."""
        also = f" (also {', '.join(self.aliases)})" if self.aliases else ""
        return f"{self.measure}{also}" + (f": {self.title}" if self.title != self.measure else "")

    def page(self, width: int = _WIDTH) -> str:
        """The page as text.

        Args:
            width: columns of the terminal.
        """
        shown = self.sections()
        room = max((len(heading) for heading, _ in shown), default=0) + 2
        lines = {
            heading: _filled(f"{heading:<{room}}{text}", width, room) for heading, text in shown
        }
        first = [lines.pop(heading) for heading in ("Formula", "Symbols") if heading in lines]
        blocks = [
            _filled(self.heading, width, 0),
            _filled(self.meaning, width, 0),
            "\n".join(first),
        ]
        if self.parameters:
            blocks.append(
                "\n".join(
                    ["Parameters:", *(_filled(f"  {item}", width, 6) for item in self.parameters)]
                )
            )
        blocks.append("\n".join(lines.values()))
        return "\n\n".join(block for block in blocks if block)

    def __str__(self) -> str:
        return self.page()

    def _repr_html_(self) -> str:
        formula = f"<p>$${escape_html(self.formula)}$$</p>" if self.formula else ""
        lines = "\n".join(map(escape_html, self.page(10**6).split("\n")))
        return f'{formula}<pre style="white-space: pre-wrap">{lines}</pre>'


def _filled(text: str, width: int, indent: int) -> str:
    """Fill ``text`` to ``width`` columns; lines after the first are indented."""
    return textwrap.fill(
        text, width, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False
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
_WHERE = {"article": "journal", "inproceedings": "booktitle", "incollection": "booktitle"}
_WHERE |= {"book": "publisher", "phdthesis": "school"}
_KINDS = {int: "integer", float: "number", bool: "True or False", str: "text", dict: "dict"}


@entry
def describe(measure: MeasureLike) -> Description:
    """Describe a measure: formula, parameters, what a value means, when it ties, when to use it, an example, the source.

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
    if (preference := parse_preference(measure)) is not None:
        return _description(preference, entries("preference")[preference.NAME])
    parsed = parse_one(measure)
    try:
        check_parameters(parsed)
    except UnknownParameter:
        raise
    except ValueError as error:  # what is required may be missing, what is given must be in range
        for name, value in parsed.params.items():
            param = parsed.SUPPORTED_PARAMS[name]
            if not param.validate(value):
                expected = getattr(param, "expects", None) or _allowed(name, param)
                raise ValueError(
                    f"{parsed.NAME}: {name} must be {expected}, not {value!r}"
                ) from None
        required = {name for name, param in parsed.SUPPORTED_PARAMS.items() if param.required}
        if required <= parsed.params.keys() and not re.search(r" needs \w+, ", str(error)):
            raise
    docstring = inspect.getdoc(type(parsed)) or ""
    about = entries("measure").get(parsed.NAME, About())
    if isinstance(parsed, Measure):
        about = parsed.about()
        if not about.values and parsed.RANGE == UNIT:
            about = replace(
                about, values=f"0 to 1{'; smaller is better' * parsed.SMALLER_IS_BETTER}"
            )
        if parsed.SMALLER_IS_BETTER and not about.use:
            about = replace(about, use="smaller values are better")
    elif not type(parsed).__module__.startswith("ir_measures.") or parsed.NAME not in entries(
        "measure"
    ):
        about = About(source=", ".join(re.findall(r"\.\. cite\.dblp:: *(\S+)", docstring)))
    title = str(getattr(parsed, "PRETTY_NAME", None) or parsed.NAME)
    paragraph = re.sub(
        r"(?ms)^[ \t]*\.\. .*", "", docstring.partition("\n\n")[0]
    )  # without directives
    paragraph = " ".join(paragraph.replace("::", ":").replace("``", "").split())
    meaning = str(getattr(parsed, "SHORT_DESC", None) or paragraph or title)
    registry = ir_measures.measures.registry.items()
    same = [name for name, other in registry if type(other) is type(parsed) and other.params == {}]
    about = replace(
        about,
        title=about.title or title,
        meaning=meaning if meaning.endswith(".") else f"{meaning}.",
    )
    return _description(parsed, about, tuple(name for name in same if name != parsed.NAME))


def _description(described: Any, about: About, aliases: tuple[str, ...] = ()) -> Description:
    """The description of a measure, a preference, or a test, by its name."""
    parameters = () if isinstance(described, str) else _parameters(described, about)
    own = {
        "name": getattr(described, "NAME", described),
        "measure": str(described),
        "parameters": parameters,
    }
    said = {"source": source(about.source), "see_also": tuple(about.see_also), "aliases": aliases}
    return Description(**vars(about) | own | said)


def _parameters(measure: IRMeasure, about: About) -> tuple[Parameter, ...]:
    parameters = []
    for name, param in measure.SUPPORTED_PARAMS.items():
        plain = param.default in (None, NOT_PROVIDED)
        default = "required" if param.required else "none" if plain else repr(param.default)
        said = (
            ""
            if isinstance(measure, Measure)
            else _sections("parameter").get(name, {}).get("meaning", "")
        )
        parameters.append(
            Parameter(
                name=f"@{name}" if name == measure.AT_PARAM else name,
                default=default,
                meaning=about.meanings.get(name) or said or str(param.desc),
                allowed=_allowed(name, param),
                value=measure.params.get(
                    name, None if default in ("required", "none") else param.default
                ),
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
    said = _sections("parameter").get(name, {}).get("allowed")
    return said or _KINDS.get(param.dtype, getattr(param.dtype, "__name__", str(param.dtype)))


# -- what no class holds: the sections of entries.ini -----------------------------------------------------


def entries(kind: str) -> dict[str, About]:
    """What is said of all standard measures (``'measure'``), preferences (``'preference'``) or tests (``'test'``), by name.

    >>> list(entries("test"))
    ['sign', 't', 'wilcoxon', 'bootstrap', 'randomisation', 'tukey']
    """
    if kind == "test":
        said = ("meaning", "plain", "ties", "use", "see_also")
        return {
            name: About(
                title=test.title[0].upper() + test.title[1:],
                **{text: getattr(test, text) for text in said},
            )
            for name, test in TESTS.items()
        }
    described = {}
    for name, section in _sections(kind).items():
        more: dict[str, Any] = {text: section[text] for text in _TEXTS if text in section}
        if (
            "example" in section
        ):  # of grades such as ``1, 0, None``, or for several subtopics ``(1, 0), (0, None)``
            ranking, missing = (
                ast.literal_eval(f"[{section.get(grades, '')}]")
                for grades in ("ranking", "missing")
            )
            value = float(Fraction(section["value"]))
            more["example"] = Example(
                section["example"], ranking, value, section["working"], missing
            )
        meanings = {
            key.removeprefix("meaning."): text
            for key, text in section.items()
            if key.startswith("meaning.")
        }
        described[name] = About(
            see_also=tuple(section["see_also"].split(", ")), meanings=meanings, **more
        )
    return described


def source(key: str) -> Source:
    """A source by its key; a text of several words is a source itself.

    >>> print(source("moffat2008").bibtex.splitlines()[0], source("moffat2008"), sep="; ")
    @article{moffat2008,; Moffat, Zobel: Rank-Biased Precision for Measurement of ... Systems 2008, doi 10.1145/1416950.1416952
    """
    known = _sections("source").get(key)
    if known is None:
        if key and " " not in key:
            raise ValueError(
                f"unknown source {key!r}; descriptions/entries.ini has {', '.join(_sections('source'))}"
            )
        return Source(line=key)
    kind, authors, doi = known["kind"], known["authors"], known.get("doi", "")
    fields = {
        "author": authors,
        "title": f"{{{known['title']}}}",
        _WHERE[kind]: known["where"],
        "year": known["year"],
    }
    lines = [f"  {name} = {{{value}}}," for name, value in {**fields, "doi": doi}.items() if value]
    people = authors.split(" and ")
    surnames = (
        [person.split()[-1] for person in people]
        if len(people) <= 4
        else [people[0].split()[-1], "et al."]
    )
    line = f"{', '.join(surnames)}: {known['title']}, {known['where']} {known['year']}{f', doi {doi}' if doi else ''}"
    return Source(key, "\n".join([f"@{kind}{{{key},", *lines, "}"]), line)


@lru_cache
def _sections(kind: str) -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser(
        delimiters=("=",), interpolation=configparser.ExtendedInterpolation()
    )
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(_FILE, encoding="utf-8")
    named = ((section.partition(" "), parser[section]) for section in parser.sections())
    return {
        name: {key: " ".join(text.split("\n")) for key, text in section.items()}
        for (of_kind, _, name), section in named
        if of_kind == kind
    }
