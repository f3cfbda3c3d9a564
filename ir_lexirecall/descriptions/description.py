"""``Description``: what ``describe`` gives, as text and as HTML."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

from ir_lexirecall.measures.about import Example
from ir_lexirecall.present.tables import Column, Shown
from ir_lexirecall.present.text import escape_html

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
class Description:
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
    """

    name: str
    measure: str
    title: str
    meaning: str
    formula: str = ""
    plain: str = ""
    symbols: str = ""
    parameters: tuple[Parameter, ...] = ()
    values: str = ""
    zero: str = ""
    ties: str = ""
    use: str = ""
    example: Example | None = None
    source: Source = Source()
    see_also: tuple[str, ...] = ()
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
        lines = {heading: _filled(f"{heading:<{room}}{text}", width, room) for heading, text in shown}
        first = [lines.pop(heading) for heading in ("Formula", "Symbols") if heading in lines]
        blocks = [_filled(self.heading, width, 0), _filled(self.meaning, width, 0), "\n".join(first)]
        if self.parameters:
            blocks.append("\n".join(["Parameters:", *(_filled(f"  {item}", width, 6) for item in self.parameters)]))
        blocks.append("\n".join(lines.values()))
        return "\n\n".join(block for block in blocks if block)

    def __str__(self) -> str:
        return self.page()

    def _repr_html_(self) -> str:
        parts = [f"<h4>{escape_html(self.heading)}</h4><p>{escape_html(self.meaning)}</p>"]
        if self.formula:
            parts.append(f"<p>$${escape_html(self.formula)}$$</p>")
        if self.parameters:
            rows = [(p.shown, p.default, p.allowed, p.meaning) for p in self.parameters]
            columns = zip(("parameter", "default", "allowed", "meaning"), zip(*rows, strict=True), strict=True)
            parts.append(Shown([Column(head, list(cells)) for head, cells in columns]).html())
        items = "".join(
            f"<dt><b>{heading}</b></dt><dd>{escape_html(text)}</dd>"
            for heading, text in self.sections()
            if heading != "Formula" or not self.formula
        )
        return f"<div>{''.join(parts)}<dl>{items}</dl></div>"


def _filled(text: str, width: int, indent: int) -> str:
    """Fill ``text`` to ``width`` columns; lines after the first are indented."""
    return textwrap.fill(text, width, subsequent_indent=" " * indent, break_on_hyphens=False, break_long_words=False)
