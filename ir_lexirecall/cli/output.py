"""Output of the command line: tables for people and for programs, in a terminal, pipe or file."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import os
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ir_lexirecall._util.errors import warn
from ir_lexirecall._util.selecting import among
from ir_lexirecall.io.files import written_whole
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.glance import PLACES as GLANCE_PLACES
from ir_lexirecall.present.glance import WIDTH, Glance, glance_text
from ir_lexirecall.present.tables import (
    PLACES,
    Marks,
    Shown,
    Spare,
    Table,
    columns_of,
    is_p,
    plain,
)
from ir_lexirecall.present.text import confidence_words

if TYPE_CHECKING:
    from ir_lexirecall.benchmarks import Benchmark
    from ir_lexirecall.comparison import Comparison

FORMATS = ("table", "tsv", "csv", "json", "latex", "markdown")
# For programs: all digits unless --places asks for fewer, and no marks.
UNROUNDED = ("tsv", "csv", "json")
# Columns that hold names.
_OF_MEASURES = ("criterion", "measure", "measure_a", "measure_b", "target")


def add_output(parser: argparse.ArgumentParser, *more: str) -> None:
    """Add the arguments of tables: their format, decimal places and file.

    Args:
        parser: of the command.
        more: formats that only this command has.
    """
    formats = [*FORMATS, *more]
    words = f"output format: {', '.join(formats)} (default: table)"
    parser.add_argument(
        "--format", choices=formats, default="table", metavar="FORMAT", help=words
    )
    parser.add_argument(
        "--places",
        type=_places,
        help="decimal places (default: 3 or 4; all in tsv, csv, json)",
    )
    add_page(parser)


def add_page(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how wide the output is, and where it goes."""
    words = "show all columns and full names, also on a narrow terminal"
    if parser.get_default("caveats") is not None:  # see add_glance
        words += "; of a comparison, also all runs, caveats and settings"
    parser.add_argument("--wide", action="store_true", help=words)
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write to FILE (nothing is written if the command fails)",
    )


def add_glance(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that show more of a result at a glance."""
    parser.add_argument(
        "--all", action="store_true", help="show every run, not only the best ten"
    )
    parser.add_argument(
        "--caveats",
        action="store_true",
        help="show every caveat (default: the one to three most serious, as many as fit)",
    )
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="add a line with settings, seed and versions",
    )


def _places(text: str) -> int:
    """Return a number of decimal places; raise if it is not one."""
    if not (text.isdecimal() and text.isascii() and int(text) <= 100):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a whole number from 0 to 100"
        )
    return int(text)


def terminal_width(options: argparse.Namespace) -> int | None:
    """Return the columns of the terminal; None if the output goes elsewhere, or is ``--wide``."""
    if (
        options.wide
        or options.output is not None
        or sys.stdout is None
        or not sys.stdout.isatty()
    ):
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):  # it does not know its size, or is not a real one
        return 80


def filled(text: str, options: argparse.Namespace, further: str = "") -> str:
    """Return a text wrapped to the terminal, if any; later lines are indented by ``further``."""
    shown, width = texts.printable(text), terminal_width(options)
    if not width:
        return shown
    return textwrap.fill(
        shown, width, subsequent_indent=further, break_on_hyphens=False
    )


class Page:
    """Tables and sentences of an output, in their order; ``finish`` prints or writes them.

    Attributes:
        for_people: whether sentences may stand beside tables.
        places: decimal places of tables.
        decimals: decimal places of results at a glance, which need fewer.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options: argparse.Namespace = options
        self.for_people: bool = options.format == "table"
        self.places: int = PLACES
        self.decimals: int = GLANCE_PLACES
        if options.places is not None:
            self.places = self.decimals = options.places
        self.parts: list[str] = []
        self._shortens = self.for_people and not options.wide
        self._short: dict[str, str] = {}  # names of measures shown in short so far

    def add_table(
        self,
        table: Table,
        marks: Marks | None = None,
        title: str = "",
        notes: Sequence[str] = (),
        *,
        spare: Spare = (),
        short_heads: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Add a frame, or columns by name, with marks beside the numbers of some columns.

        In LaTeX, a table with a title is a whole ``table`` environment with its notes; notes stand
        below in Markdown, too. A terminal that is too narrow leaves out ``spare`` columns first
        (an interval is called ``ci_low``), and has ``short_heads`` where there are any.

        Returns:
            The heads of columns that the terminal has no room for.
        """
        if self.options.format in UNROUNDED:
            self.parts.append(
                for_programs(table, self.options.format, self.options.places)
            )
            return []
        attrs = getattr(table, "attrs", {})
        if self._shortens:
            table, marks = self._shortened(table, marks or {})
        shown = Shown.from_frame(table, marks, self.places, attrs)
        interval = f"{confidence_words(attrs)} interval"
        return self.add_shown(
            replace(shown, title=title, notes=notes),
            spare=[
                [interval if name == "ci_low" else name for name in names]
                for names in spare
            ],
            short_heads=short_heads,
        )

    def _shortened(self, table: Table, marks: Marks) -> tuple[Table, Marks]:
        """Return a table and its marks with short names of measures, which are explained later."""
        columns = columns_of(table)
        columns_of_names = among(_OF_MEASURES, columns)
        names = dict.fromkeys(columns)
        for column in columns_of_names:
            names |= dict.fromkeys(map(str, columns[column]))
        short = texts.short_names(names)
        if short:
            for column in columns_of_names:
                columns[column] = [
                    short.get(str(value), value) for value in columns[column]
                ]
        self._short |= short
        shortened = {short.get(name, name): values for name, values in columns.items()}
        return shortened, {
            short.get(name, name): column for name, column in marks.items()
        }

    def add_shown(
        self,
        shown: Shown,
        *,
        spare: Spare = (),
        short_heads: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Add a table in the format that was asked for; see ``add_table``."""
        left_out: list[str] = []
        if self.options.format == "latex":
            self.parts.append(
                shown.latex(f"tab:{self.options.name}" if shown.title else None)
            )
        elif self.options.format == "markdown":
            self.parts.append(shown.markdown())
        else:
            rows, left_out = shown.text(
                terminal_width(self.options), spare=spare, short_heads=short_heads
            )
            self.parts.append(rows)
            if left_out:
                self.add_sentences(shown.left_out_words(left_out))
        return left_out

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
        options, width = self.options, None
        if not options.wide:
            width = terminal_width(options) or WIDTH
            if not options.verbose:
                provenance = ""
        shown = glance_text(
            glance,
            width,
            all_rows=options.wide or options.all,
            all_notes=options.wide or options.caveats,
            options=True,
            provenance=provenance,
        )
        self.parts.append(shown)

    def say_caveats(self, result: Comparison | Benchmark) -> None:
        """Print what ``--caveats`` asks for to standard error, beside output for programs."""
        if self.options.caveats and not self.for_people:
            self.add_notes(result.diagnostics)

    def add_notes(self, notes: Iterable[str]) -> None:
        """Add sentences; beside output for programs, print them to standard error."""
        if self.for_people:
            self.add_sentences(*notes)
        else:
            for note in notes:
                warn(note)

    def add_items(self, *items: str) -> None:
        """Add items of a list, to tables for people only."""
        if self.for_people:
            self.parts += [filled(f"- {item}", self.options, "  ") for item in items]

    def shown_name(self, measure: str) -> str:
        """Return the name of a measure in the tables so far."""
        return self._short.get(measure, measure)

    def add_short_names(self) -> None:
        """Explain short names of measures, a line each; ``finish`` explains those that remain."""
        names, self._short = self._short, {}
        self.add_sentences(
            *(
                f"({texts.explained_names({name: short})})"
                for name, short in names.items()
            )
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
    """Return a table in JSON, or as lines of values between tabs or commas.

    P-values keep all their digits.

    >>> print(for_programs({"run": ["bm25"], "AP": [0.25], "p": [1e-7]}, "csv", 1))
    run,AP,p
    bm25,0.2,1e-07
    """
    columns = {
        name: list(map(plain, values)) for name, values in columns_of(table).items()
    }
    if places is not None:
        for name, values in columns.items():
            if not is_p(name):
                columns[name] = [_rounded(value, places) for value in values]
    if form == "json":
        rows = zip(*columns.values(), strict=True)
        entries = [dict(zip(columns, map(_strict, row), strict=True)) for row in rows]
        return json.dumps(entries, indent=1)
    cells = [
        [texts.escape_csv(name), *map(_exact, values)]
        for name, values in columns.items()
    ]
    lines = zip(*cells, strict=True)
    if form == "tsv":
        return "\n".join("\t".join(line) for line in lines)
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(lines)
    return stream.getvalue().rstrip("\n")


def _rounded(value: Any, places: int) -> Any:
    """Return a value with so many decimal places, if it is a float."""
    if isinstance(value, float):
        return round(value, places)
    return value


def _strict(value: Any) -> Any:
    """Return a value for strict JSON, which has no infinities."""
    if isinstance(value, list):
        return [_strict(part) for part in value]
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def _exact(value: Any) -> str:
    """Return a value as a cell of a file, with all its digits."""
    if value is None:
        return ""
    if isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return texts.escape_csv(str(value))
