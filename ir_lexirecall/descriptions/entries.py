"""What no class holds: the sections of ``entries.ini``, read when they are first needed."""

from __future__ import annotations

import configparser
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from ir_lexirecall.descriptions.description import Source
from ir_lexirecall.measures.about import About, Example, Label

_FILE = Path(__file__).with_name("entries.ini")
_TEXTS = ("formula", "plain", "symbols", "values", "zero", "ties", "use", "source", "title", "meaning")
_WHERE = {"article": "journal", "inproceedings": "booktitle", "incollection": "booktitle"}
_WHERE |= {"book": "publisher", "phdthesis": "school"}


def entries(kind: str) -> dict[str, About]:
    """What is said of all standard measures (``'measure'``), preferences (``'preference'``) or tests (``'test'``), by name.

    >>> list(entries("test"))
    ['sign', 't', 'wilcoxon', 'bootstrap', 'randomisation', 'tukey']
    """
    return {name: _about(section) for name, section in _sections(kind).items()}


def source(key: str) -> Source:
    """A source by its key; a text of several words is a source itself.

    >>> print(source("moffat2008").bibtex.splitlines()[0], source("moffat2008"), sep="; ")
    @article{moffat2008,; Moffat, Zobel: Rank-Biased Precision for Measurement of ... Systems 2008, doi 10.1145/1416950.1416952
    """
    known = _sections("source").get(key)
    if known is None:
        if key and " " not in key:
            raise ValueError(f"unknown source {key!r}; descriptions/entries.ini has {', '.join(_sections('source'))}")
        return Source(line=key)
    kind, authors, doi = known["kind"], known["authors"], known.get("doi", "")
    fields = {"author": authors, "title": f"{{{known['title']}}}", _WHERE[kind]: known["where"], "year": known["year"]}
    lines = [f"  {name} = {{{value}}}," for name, value in {**fields, "doi": doi}.items() if value]
    people = authors.split(" and ")
    surnames = [person.split()[-1] for person in people] if len(people) <= 4 else [people[0].split()[-1], "et al."]
    line = f"{', '.join(surnames)}: {known['title']}, {known['where']} {known['year']}{f', doi {doi}' if doi else ''}"
    return Source(key, "\n".join([f"@{kind}{{{key},", *lines, "}"]), line)


@lru_cache
def _sections(kind: str) -> dict[str, dict[str, str]]:
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=configparser.ExtendedInterpolation())
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(_FILE, encoding="utf-8")
    named = ((section.partition(" "), parser[section]) for section in parser.sections())
    return {
        name: {key: " ".join(text.split("\n")) for key, text in section.items()}
        for (of_kind, _, name), section in named
        if of_kind == kind
    }


def _about(section: Mapping[str, str]) -> About:
    return About(
        **{name: section[name] for name in _TEXTS if name in section},
        example=_example(section) if "example" in section else None,
        see_also=tuple(section["see_also"].split(", ")),
        meanings={key.removeprefix("meaning."): text for key, text in section.items() if key.startswith("meaning.")},
    )


def _example(section: Mapping[str, str]) -> Example:
    value = float(Fraction(section["value"]))
    missing = _labels(section["missing"]) if "missing" in section else ()
    return Example(section["example"], _labels(section["ranking"]), value, section["working"], missing)


def _labels(text: str) -> tuple[Label, ...]:
    """Grades, as ``1, 0, None``, or tuples of grades, as ``(1, 0), (0, None)``."""
    import ast

    labels: tuple[Label, ...] = ast.literal_eval(f"({text},)")
    return labels
