"""What the command line prints: tables for people and for programs, on a terminal, in a pipe or in a file."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ir_lexirecall.io.files import written_whole
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.glance import WIDTH, Glance, glance_text
from ir_lexirecall.present.tables import PLACES, Marks, Shown, Table, columns_of, is_p, plain
from ir_lexirecall.present.text import confidence_words

FORMATS = ("table", "tsv", "csv", "json", "latex", "markdown")
EXACT = (
    "tsv",
    "csv",
    "json",
)  # for programs: all digits unless --places asks for fewer, and no marks
_OF_MEASURES = ("criterion", "measure", "measure_a", "measure_b", "target")  # columns of names


def add_output(parser: argparse.ArgumentParser, *more: str) -> None:
    """Add the arguments that say how a table is shown, and where; ``more`` formats are those of one command."""
    formats = [*FORMATS, *more]
    words = f"output format: {', '.join(formats)} (default: table)"
    parser.add_argument("--format", choices=formats, default="table", metavar="FORMAT", help=words)
    parser.add_argument(
        "--places", type=_places, help="decimal places (default: 4; all in tsv, csv and json)"
    )
    add_page(parser)


def add_page(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how wide the output is, and where it goes."""
    parser.add_argument(
        "--wide",
        action="store_true",
        help="show all columns and names in full, also where the terminal is too narrow",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write to FILE (nothing is written if the command fails)",
    )


def add_glance(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that show more of a result at a glance."""
    parser.add_argument("--all", action="store_true", help="show every run, not only the best ten")
    parser.add_argument(
        "--caveats", action="store_true", help="show every caveat (default: the three most serious)"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="add a line with settings, seed and versions"
    )


def _places(text: str) -> int:
    if not (text.isdecimal() and text.isascii() and int(text) <= 100):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 100")
    return int(text)


def terminal_width(options: argparse.Namespace) -> int | None:
    """Columns of the terminal that the output goes to; None where it goes elsewhere, or ``--wide`` was asked for."""
    if options.wide or options.output is not None or sys.stdout is None or not sys.stdout.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):  # it does not know its size, or is not a real one
        return 80


def filled(text: str, options: argparse.Namespace, further: str = "") -> str:
    """A line as wide as the terminal, or whole; what goes on in the next one is indented by ``further``."""
    shown, width = texts.printable(text), terminal_width(options)
    return (
        textwrap.fill(shown, width, subsequent_indent=further, break_on_hyphens=False)
        if width
        else shown
    )


class Page:
    """The parts of an output, tables and sentences, in their order; ``finish`` prints or writes them.

    Attributes:
        for_people: whether sentences may stand beside tables.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options: argparse.Namespace = options
        self.for_people: bool = options.format == "table"
        self.places: int = PLACES if options.places is None else options.places
        self.parts: list[str] = []
        self._shortens = self.for_people and not options.wide
        self._short: dict[str, str] = {}  # names of measures shown in short so far

    def add_table(
        self, table: Table, marks: Marks | None = None, title: str = "", notes: Sequence[str] = ()
    ) -> None:
        """Add a frame, or columns by name, with marks beside the numbers of some columns.

        In LaTeX, a table with a title is a whole ``table`` environment with its notes; notes stand
        below in Markdown, too.
        """
        if self.options.format in EXACT:
            self.parts.append(for_programs(table, self.options.format, self.options.places))
            return
        confidence = confidence_words(getattr(table, "attrs", {}))
        if self._shortens:
            columns = columns_of(table)
            known = [name for name in _OF_MEASURES if name in columns]
            names = texts.short_names(
                dict.fromkeys([*columns, *(str(x) for name in known for x in columns[name])])
            )
            for name in known if names else ():
                columns[name] = [names.get(str(value), value) for value in columns[name]]
            table = {names.get(name, name): values for name, values in columns.items()}
            marks = {names.get(name, name): column for name, column in (marks or {}).items()}
            self._short |= names
        self.add_shown(
            replace(
                Shown.from_frame(table, marks, self.places, confidence), title=title, notes=notes
            )
        )

    def add_shown(self, shown: Shown) -> None:
        if self.options.format == "latex":
            self.parts.append(shown.latex(f"tab:{self.options.name}" if shown.title else None))
        elif self.options.format == "markdown":
            self.parts.append(shown.markdown())
        else:
            rows, left_out = shown.text(terminal_width(self.options))
            self.parts.append(rows)
            if left_out:
                self.add_sentences(left_out)

    def add_sentences(self, *sentences: str) -> None:
        """Add sentences, each on a line of its own, to tables for people only."""
        if self.for_people:
            self.parts += [
                filled(texts.in_short(sentence, self._short), self.options)
                for sentence in sentences
            ]

    def add_lines(self, *lines: str) -> None:
        """Add lines to copy, which are not wrapped, to tables for people only."""
        if self.for_people:
            self.parts += map(texts.printable, lines)

    def add_glance(self, glance: Glance, provenance: str = "") -> None:
        """Add a result at a glance; ``--all``, ``--caveats`` and ``--verbose`` show more of it."""
        options = self.options
        shown = glance_text(
            glance,
            None if options.wide else terminal_width(options) or WIDTH,
            all_rows=options.wide or options.all,
            all_notes=options.wide or options.caveats,
            options=True,
            provenance=provenance if options.wide or options.verbose else "",
        )
        self.parts.append(shown)

    def add_items(self, *items: str) -> None:
        """Add items of a list, to tables for people only."""
        if self.for_people:
            self.parts += [filled(f"- {item}", self.options, "  ") for item in items]

    def shown_name(self, measure: str) -> str:
        """The name of a measure as the tables so far have it."""
        return self._short.get(measure, measure)

    def add_short_names(self) -> None:
        """Add what short names of measures stand for, a line each; ``finish`` does where it has not been said yet."""
        names, self._short = self._short, {}
        self.add_sentences(
            *(f"({texts.explained_names({name: short})})" for name, short in names.items())
        )

    def finish(self) -> None:
        """Print everything, or write it into the file that was asked for."""
        self.add_short_names()
        emit("\n".join(self.parts) + "\n", self.options.output)


def emit(text: str, path: str | None = None) -> None:
    """Print a text as it is, or write it into a file."""
    if path is not None:
        with written_whole(path) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        return
    if sys.stdout is None:
        raise ValueError("standard output is closed; -o FILE writes into a file")
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from None


def save_picture(axes: Any, path: str) -> None:
    """Draw matplotlib axes into a file, whose ending says the format."""
    ending = Path(path).suffix[1:].lower() or "png"
    with written_whole(path) as temporary, open(temporary, "wb") as stream:
        try:
            axes.figure.savefig(stream, format=ending)
        except ValueError as error:
            raise ValueError(f"--plot {path}: {error}") from None


# -- formats for programs --------------------------------------------------------------------------


def for_programs(table: Table, form: str, places: int | None = None) -> str:
    """A table in JSON, or as lines of values parted by tabs or commas; p-values keep all their digits.

    >>> print(for_programs({"run": ["bm25"], "AP": [0.25], "p": [1e-7]}, "csv", 1))
    run,AP,p
    bm25,0.2,1e-07
    """
    columns = {name: list(map(plain, values)) for name, values in columns_of(table).items()}
    if places is not None:
        for name in [name for name in columns if not is_p(name)]:
            columns[name] = [round(x, places) if isinstance(x, float) else x for x in columns[name]]
    if form == "json":
        rows = zip(*columns.values(), strict=True)
        return json.dumps(
            [dict(zip(columns, map(_strict, row), strict=True)) for row in rows], indent=1
        )
    cells = [[texts.escape_csv(name), *map(_exact, values)] for name, values in columns.items()]
    lines = zip(*cells, strict=True)
    if form == "tsv":
        return "\n".join("\t".join(line) for line in lines)
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(lines)
    return stream.getvalue().rstrip("\n")


def _strict(value: Any) -> Any:
    """A value in strict JSON: what is not a number is ``null``, infinities are texts."""
    if isinstance(value, list):
        return [_strict(part) for part in value]
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _exact(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (bool, int, float)):
        return repr(value)
    return texts.escape_csv(", ".join(map(str, value)) if isinstance(value, list) else str(value))
