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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall import text as texts
from ir_lexirecall.files import written_whole
from ir_lexirecall.summary import Finding

if TYPE_CHECKING:
    import pandas as pd

FORMATS = ("table", "tsv", "csv", "json", "latex", "markdown")
EXACT = ("tsv", "csv", "json")  # for programs: all digits unless --places asks for fewer, and no marks
BEST, BETTER, WORSE = "*", "+", "-"
_PLACES = 4
_NARROW = 12  # columns of a terminal that a shortened name keeps
_NARROWEST = 6
_MOST_TOLD_APART = 200  # names that are shortened so that they differ still
_OF_MEASURES = ("measure", "preference", "measure_a", "measure_b", "target")  # columns of names
_LATEX_MARKS = {BETTER: "$^{+}$", WORSE: "$^{-}$"}


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how a table is shown, and where."""
    parser.add_argument("--format", choices=FORMATS, default="table", help="of the output (default: table)")
    parser.add_argument("--places", type=_places, help="decimal places (default: 4; all in tsv, csv and json)")
    add_page(parser)


def add_page(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how wide the output is, and where it goes."""
    parser.add_argument(
        "--wide", action="store_true", help="show all columns and names in full, also where the terminal is too narrow"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write into a file instead: all of it, or nothing after an error"
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


@dataclass
class Page:
    """The parts of an output, tables and sentences, in their order; ``finish`` prints or writes them."""

    options: argparse.Namespace
    parts: list[str] = field(default_factory=list)
    _short: dict[str, str] = field(default_factory=dict)  # names of measures shown in short so far

    @property
    def for_people(self) -> bool:
        """Whether sentences may stand beside tables."""
        return bool(self.options.format == "table")

    @property
    def _shortens(self) -> bool:
        """Whether measures with long lists of values are shown in short."""
        return self.for_people and not self.options.wide

    def add_table(self, table: pd.DataFrame, marks: Mapping[str, Sequence[str]] | None = None) -> None:
        """Add a table, with marks beside the numbers of some columns, see ``render``."""
        width = terminal_width(self.options) if self.for_people else None
        if self._shortens:
            table, names = _in_short(table)
            marks = {names.get(name, name): column for name, column in (marks or {}).items()}
            self._short |= names
        shown, left_out = render(table, self.options.format, self.options.places, marks=marks, width=width)
        self.parts.append(shown)
        if left_out:
            self.add_sentence(left_out)

    def add_sentence(self, sentence: str) -> None:
        """Add a sentence, to tables for people only."""
        if self.for_people:
            width = terminal_width(self.options)
            sentence = texts.in_short(sentence, self._short)
            shown = texts.printable(sentence)
            self.parts.append(shown if width is None else textwrap.fill(shown, width, break_on_hyphens=False))

    def add_line(self, line: str) -> None:
        """Add a line to copy, which is not wrapped, to tables for people only."""
        if self.for_people:
            self.parts.append(texts.printable(line))

    def add_finding(self, finding: Finding, *, ranking: bool = True) -> None:
        """Add what a result says, to tables for people only: sentences, what to distrust, and the ranking unless left out."""
        if not self.for_people:
            return
        if self._shortens:
            self._short |= texts.short_names(finding.measures)
            finding = finding.in_short()
        self.add_sentence(" ".join(finding.sentences))
        if finding.notes:
            self.parts += ["", "Distrust:"]
            notes = list(finding.notes) if self.options.wide else finding.shown_notes("--wide shows all")
            for note in notes:
                self._add_item(note)
        self.parts.append("")
        if ranking and finding.ranking is not None:
            self.add_sentence(finding.title)
            first = str(finding.ranking.columns[1])
            self.add_table(finding.ranking, {first: finding.marks} if any(finding.marks) else None)
            self.parts.append("")

    def _add_item(self, text: str) -> None:
        width = terminal_width(self.options) or 10_000
        shown = f"- {texts.printable(text)}"
        self.parts.append(textwrap.fill(shown, width, subsequent_indent="  ", break_on_hyphens=False))

    def add_definitions(self, definitions: Mapping[str, str]) -> None:
        """Add what terms mean, a line each, to tables for people only."""
        if not self.for_people:
            return
        width = terminal_width(self.options) or 10_000
        room = max(map(len, definitions)) + 2
        for term, meaning in definitions.items():
            line = term.ljust(room) + meaning
            self.parts.append(textwrap.fill(line, width, subsequent_indent=" " * room, break_on_hyphens=False))

    def shown_name(self, measure: str) -> str:
        """The name of a measure as the tables so far have it."""
        return self._short.get(measure, measure)

    def add_short_names(self) -> None:
        """Add what short names of measures stand for, a line each; ``finish`` does where it has not been said yet."""
        names, self._short = self._short, {}
        for name, short in names.items():
            self.add_sentence(f"({texts.explained_names({name: short})})")

    def finish(self) -> None:
        """Print everything, or write it into the file that was asked for."""
        self.add_short_names()
        emit("\n".join(self.parts) + "\n", self.options.output)


def emit(text: str, path: str | None = None) -> None:
    """Print a text as it is, or write it into a file.

    Raises:
        OSError: it cannot be written.
        ValueError: standard output is closed.
    """
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
    """Draw matplotlib axes into a file, whose ending says the format.

    Raises:
        ValueError: the ending is not that of a picture.
        OSError: the file cannot be written.
    """
    ending = Path(path).suffix[1:].lower() or "png"
    with written_whole(path) as temporary, open(temporary, "wb") as stream:
        try:
            axes.figure.savefig(stream, format=ending)
        except ValueError as error:
            raise ValueError(f"--plot {path}: {error}") from None


def _in_short(table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """A table with short names of measures in its head and in columns of them, and those names."""
    columns = [name for name in _OF_MEASURES if name in table]
    names = texts.short_names(dict.fromkeys([*map(str, table), *(str(x) for name in columns for x in table[name])]))
    if not names:
        return table, names
    shown = table.rename(columns=names)
    for name in columns:
        shown[name] = [names.get(str(value), value) for value in table[name]]
    return shown, names


# -- tables ----------------------------------------------------------------------------------------


def render(
    table: pd.DataFrame,
    form: str,
    places: int | None = None,
    *,
    marks: Mapping[str, Sequence[str]] | None = None,
    width: int | None = None,
) -> tuple[str, str]:
    """A table as text, and a sentence on what of it is not shown (mostly empty).

    Args:
        table: its columns are shown, its index is not.
        form: one of ``FORMATS``.
        places: decimal places; by default 4, and all digits in the formats for programs.
        marks: for some columns, a mark for every row: ``*`` the best of the column, ``+`` better and ``-`` worse than the
            baseline, or several of these. In LaTeX and Markdown the best is bold; formats for programs have no marks.
        width: columns of the terminal that the table must fit: names are shortened in the middle, then columns left out
            from the last on.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"run": ["bm25", "ql"], "LR": [0.25, 0.5]})
    >>> print(render(table, "table", marks={"LR": ["", "*+"]})[0])
    run   LR
    bm25  0.2500
    ql    0.5000*+
    """
    if form == "json":
        return _json(table, places), ""
    if form in ("tsv", "csv"):
        return _separated(table, form, places), ""
    escape = {"table": texts.printable, "latex": texts.escape_latex, "markdown": texts.escape_markdown}[form]
    columns = [
        _Column.from_values(str(name), table.iloc[:, i], form, places, escape, (marks or {}).get(str(name)))
        for i, name in enumerate(table.columns)
    ]
    if form == "latex":
        return texts.latex_table(*_rows(columns)), ""
    if form == "markdown":
        return texts.markdown_table(*_rows(columns)), ""
    shown, sentence = (columns, "") if width is None else _fitted(columns, width)
    return texts.text_table(*_rows(shown)), sentence


@dataclass(frozen=True)
class _Column:
    """A column as it is shown."""

    head: str
    cells: list[str]
    numeric: bool

    @classmethod
    def from_values(
        cls,
        name: str,
        values: pd.Series,
        form: str,
        places: int | None,
        escape: Callable[[str], str],
        marks: Sequence[str] | None,
    ) -> _Column:
        numeric = is_number_column(values)
        cells = _cells(name, values, _PLACES if places is None else places)
        if not numeric:
            return cls(escape(name), [escape(cell) for cell in cells], numeric)
        if _is_p(name):
            cells = texts.align_points(cells, _phantom if form == "latex" else " ".__mul__)
        if form == "latex":
            cells = [cell.replace("<", "$<$") for cell in cells]
        if marks is not None:
            cells = _MARKED[form](cells, marks)
        return cls(escape(name), cells, numeric)

    @cached_property
    def widest(self) -> int:
        """Columns of the terminal that its cells take."""
        return max(map(texts.width, self.cells), default=0)

    @cached_property
    def width(self) -> int:
        """Columns of the terminal that it takes."""
        return max(texts.width(self.head), self.widest)

    def least(self, columns: int) -> int:
        """Columns of the terminal that it takes at least, if names are shortened to so many."""
        return min(self.width, max(columns, self.widest) if self.numeric else columns)

    def within(self, columns: int, head: str) -> _Column:
        """The column with a shortened head, its cells shortened to so many columns of the terminal if they are texts."""
        if self.numeric or self.widest <= columns:
            return replace(self, head=head)
        different = list(dict.fromkeys(self.cells))
        if len(different) <= _MOST_TOLD_APART:
            shortened = texts.shorten_all(different, columns, _ellipsis())
        else:
            shortened = [texts.shorten(cell, columns, _ellipsis()) for cell in different]
        known = dict(zip(different, shortened, strict=True))
        return replace(self, head=head, cells=[known[cell] for cell in self.cells])


def _rows(columns: Sequence[_Column]) -> tuple[list[list[str]], list[str]]:
    """The head and the rows, and how columns are aligned."""
    rows = [list(row) for row in zip(*([column.head, *column.cells] for column in columns), strict=True)]
    return rows, ["right" if column.numeric else "left" for column in columns]


def _fitted(columns: Sequence[_Column], width: int) -> tuple[list[_Column], str]:
    """The columns that fit a terminal, names shortened where that helps, and a sentence on what is not shown."""
    keys = next((i for i, column in enumerate(columns) if column.numeric), len(columns))
    least = min(keys + 1, len(columns))  # the names of a row and one number stay, whatever room there is
    for count in range(len(columns), least - 1, -1):
        kept = columns[:count]
        narrowest = _NARROW if count > least else _NARROWEST
        for allowed in range(max(narrowest, *(column.width for column in kept)), narrowest - 1, -1):
            if _total(column.least(allowed) for column in kept) <= width:
                shown = _shortened(kept, allowed)  # wider than that where names would look the same
                if _total(column.width for column in shown) <= width:
                    return shown, _left_out(columns, shown)
    shown = _shortened(columns[:least], _NARROWEST)
    return shown, _left_out(columns, shown)


def _shortened(columns: Sequence[_Column], allowed: int) -> list[_Column]:
    heads = texts.shorten_all([column.head for column in columns], allowed, _ellipsis())
    return [column.within(allowed, head) for column, head in zip(columns, heads, strict=True)]


def _total(widths: Iterable[int]) -> int:
    return sum(width + 2 for width in widths) - 2


def _left_out(columns: Sequence[_Column], shown: Sequence[_Column]) -> str:
    missing = [column.head for column in columns[len(shown) :]]
    facts = [f"{len(missing)} of {len(columns)} columns left out: {', '.join(missing)}"] if missing else []
    if any(column != whole for column, whole in zip(shown, columns, strict=False)):
        facts.append("names are shortened")
    return f"({'; '.join(facts)}; --wide shows all)" if facts else ""


def _ellipsis() -> str:
    """What stands for the middle of a name, as the terminal can show it."""
    try:
        "…".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return ".."
    return "…"


# -- cells -----------------------------------------------------------------------------------------


def is_number_column(values: pd.Series) -> bool:
    """Whether a column of a table holds numbers (truth values are none)."""
    return getattr(values.dtype, "kind", "O") in "iuf"


def _is_p(name: str) -> bool:
    return name == "p" or name.startswith("p_") or name.endswith(" p")


def _cells(name: str, values: pd.Series, places: int) -> list[str]:
    """The cells of a column for people, not yet escaped."""
    if getattr(values.dtype, "kind", "O") == "f":
        number = texts.format_p if _is_p(name) else lambda value: texts.format_number(value, places)
        return [number(value) for value in values.tolist()]
    return ["-" if value is None else _word(value) for value in map(_plain, values.tolist())]


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _plain(value: Any) -> Any:
    """A cell as JSON has it: None where it is missing, lists for tuples, texts for exact fractions."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and math.isnan(value))
    ):
        return None
    return str(value) if isinstance(value, Fraction) else value


def _phantom(digits: int) -> str:
    return f"\\phantom{{{'0' * digits}}}"


def _marked_text(cells: Sequence[str], marks: Sequence[str]) -> list[str]:
    room = max(map(len, marks), default=0)
    return [cell + mark.ljust(room) for cell, mark in zip(cells, marks, strict=True)]


def _marked_markdown(cells: Sequence[str], marks: Sequence[str]) -> list[str]:
    bold = [f"**{cell}**" if BEST in mark else cell for cell, mark in zip(cells, marks, strict=True)]
    return [cell + mark.replace(BEST, "").replace(BETTER, "\\+") for cell, mark in zip(bold, marks, strict=True)]


def _marked_latex(cells: Sequence[str], marks: Sequence[str]) -> list[str]:
    """Marks take no room beyond the number, so that the digits of a column stay below each other."""
    marked = []
    for cell, mark in zip(cells, marks, strict=True):
        signs = "".join(_LATEX_MARKS.get(sign, "") for sign in mark)
        marked.append((f"\\textbf{{{cell}}}" if BEST in mark else cell) + (f"\\rlap{{{signs}}}" if signs else ""))
    return marked


_MARKED = {"table": _marked_text, "markdown": _marked_markdown, "latex": _marked_latex}


# -- formats for programs --------------------------------------------------------------------------


def _json(table: pd.DataFrame, places: int | None) -> str:
    """A list of objects, in strict JSON: what is not a number is ``null``, infinities are texts."""
    rows = (table if places is None else table.round(places)).to_dict(orient="records")
    return json.dumps([{str(name): _strict(value) for name, value in row.items()} for row in rows], indent=1)


def _strict(value: Any) -> Any:
    plain = _plain(value)
    if isinstance(plain, list):
        return [_strict(part) for part in plain]
    if isinstance(plain, float) and math.isinf(plain):
        return "Infinity" if plain > 0 else "-Infinity"
    return plain if plain is None or isinstance(plain, (bool, int, float, str)) else str(plain)


def _separated(table: pd.DataFrame, form: str, places: int | None) -> str:
    """Lines of values, parted by tabs or commas."""
    escape = texts.escape_csv if form == "csv" else texts.printable
    columns = []
    for i, name in enumerate(table.columns):
        values = map(_plain, table.iloc[:, i].tolist())
        columns.append([escape(str(name)), *(_exact(value, places, escape) for value in values)])
    rows = zip(*columns, strict=True)
    if form == "tsv":
        return "\n".join("\t".join(row) for row in rows)
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows)
    return stream.getvalue().rstrip("\n")


def _exact(value: Any, places: int | None, escape: Callable[[str], str]) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value) if places is None else texts.format_number(value, places)
    if isinstance(value, (bool, int)):
        return str(value)
    return escape(", ".join(map(str, value)) if isinstance(value, list) else str(value))
