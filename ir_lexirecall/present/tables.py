"""The one renderer of tables for people: terminals, Markdown, LaTeX, HTML.

A ``Shown`` table is made of a plain frame: what each column is (name, number, interval, p) is seen from its name and its
values. Marks stand beside numbers: ``*`` the best of its column (bold where there is bold type), everything else (``+`` better,
``-`` worse, ``=`` may be the best, letters of beaten runs) raised.
"""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.words import confidence_words, count, interval

BEST = "*"
PLACES = 4
_NARROW = 12  # columns of a terminal that a shortened name keeps
_NARROWEST = 6
_SENTENCE = 24  # of a table of texts only, before columns are left out
_MOST_TEXTS = 2  # columns of texts that name the row of a table without numbers
_MOST_DISTINCT = 200  # names that are shortened so that they differ still
_LATEX_WIDTH = 80  # of a caption's lines
_PREAMBLE = "% needs \\usepackage{booktabs}"


@dataclass(frozen=True)
class Column:
    """A column as it is shown: texts of cells, not yet escaped."""

    head: str
    cells: list[str]
    numeric: bool = False
    marks: Sequence[str] = ()
    is_p: bool = False

    @classmethod
    def from_values(cls, name: str, values: Sequence[Any], places: int, marks: Sequence[str] = ()) -> Column:
        numeric = is_numeric(values)
        cells = cells_of(name, values, places)
        return cls(name, cells, numeric, [*marks] if any(marks) else (), numeric and is_p(name))

    def drawn(
        self, escape: Callable[[str], str], mark: Callable[[str, str, int], str], blank: Callable[[int], str]
    ) -> Column:
        """The column with its texts escaped and its marks beside them."""
        cells = [escape(cell) for cell in self.cells]
        if self.is_p:
            cells = texts.align_points(cells, blank)
        if self.marks:
            room = max(map(len, self.marks))
            cells = [mark(cell, sign, room) for cell, sign in zip(cells, self.marks, strict=True)]
        return replace(self, head=escape(self.head), cells=cells)

    @property
    def align(self) -> str:
        return "right" if self.numeric else "left"

    @cached_property
    def widest(self) -> int:
        """Columns of the terminal that its cells take."""
        return max(map(texts.width, self.cells), default=0)

    @cached_property
    def width(self) -> int:
        """Columns of the terminal that it takes."""
        return max(texts.width(self.head), self.widest)

    def least(self, columns: int) -> int:
        """Columns of the terminal that it takes at least, if names are shortened to ``columns``."""
        return min(self.width, max(columns, self.widest) if self.numeric else columns)

    def within(self, columns: int, head: str) -> Column:
        """The column with a shortened head, its cells shortened to ``columns`` columns of the terminal if they are texts."""
        if self.numeric or self.widest <= columns:
            return replace(self, head=head)
        different = list(dict.fromkeys(self.cells))
        if len(different) <= _MOST_DISTINCT:
            shortened = texts.shorten_all(different, columns, ellipsis())
        else:
            shortened = [texts.shorten(cell, columns, ellipsis()) for cell in different]
        known = dict(zip(different, shortened, strict=True))
        return replace(self, head=head, cells=[known[cell] for cell in self.cells])


@dataclass(frozen=True)
class Shown:
    """A table for people.

    >>> import pandas as pd
    >>> shown = Shown.from_frame(pd.DataFrame({"run": ["bm25", "ql"], "LR": [0.25, 0.5]}), {"LR": ["", "*+"]})
    >>> print(shown.text()[0])
    run   LR
    bm25  0.2500
    ql    0.5000*+
    >>> print(shown.markdown())
    | run  |           LR |
    |:-----|-------------:|
    | bm25 |       0.2500 |
    | ql   | **0.5000**\\+ |
    """

    columns: Sequence[Column]
    title: str = ""
    notes: Sequence[str] = field(default=())

    @classmethod
    def from_frame(
        cls,
        table: pd.DataFrame | Mapping[str, Sequence[Any]],
        marks: Mapping[str, Sequence[str]] | None = None,
        places: int = PLACES,
        *,
        title: str = "",
        notes: Sequence[str] = (),
        confidence: str | None = None,
    ) -> Shown:
        """A plain frame, or columns by name, as a table; ``ci_low`` and ``ci_high`` become one interval.

        Its index is not shown. ``marks`` has, for some columns, a mark for every row; ``confidence`` is by default that of ``attrs``.
        """
        given = columns_of(table)
        confidence = confidence_words(getattr(table, "attrs", {})) if confidence is None else confidence
        columns = []
        for name, values in given.items():
            if name == "ci_low" and "ci_high" in given:
                ends = zip(values, given["ci_high"], strict=True)
                columns.append(Column(f"{confidence} interval", [interval(*both, places) for both in ends]))
            elif name != "ci_high" or "ci_low" not in given:
                columns.append(Column.from_values(name, values, places, (marks or {}).get(name, ())))
        return cls(columns, title, notes)

    def text(self, width: int | None = None) -> tuple[str, str]:
        """The table for a terminal ``width`` columns wide, and a sentence on what of it is not shown (mostly empty).

        Names are shortened in the middle, then columns left out from the last on.
        """
        drawn = (texts.printable, lambda cell, sign, room: cell + sign.ljust(room), " ".__mul__)
        columns = [column.drawn(*drawn) for column in self.columns]
        shown, left_out = (columns, "") if width is None else _fitted(columns, width)
        return texts.text_table(*_rows(shown)), left_out

    def markdown(self) -> str:
        """The table in Markdown, with its notes below."""
        columns = [column.drawn(texts.escape_markdown, _markdown_mark, " ".__mul__) for column in self.columns]
        return "\n\n".join([texts.markdown_table(*_rows(columns)), *map(texts.escape_markdown, self.notes)])

    def latex(self, label: str | None = None) -> str:
        """The table in LaTeX (booktabs): a ``tabular``, or with a label a whole ``table`` with caption and notes."""
        columns = [column.drawn(_escape_number, _latex_mark, _phantom) for column in self.columns]
        tabular = texts.latex_table(*_rows(columns))
        if label is None:
            return tabular
        caption = " ".join(map(texts.escape_latex, filter(None, [self.title, *self.notes])))
        whole = textwrap.fill(f"\\caption{{{caption}}}", _LATEX_WIDTH, break_long_words=False, break_on_hyphens=False)
        lines = [_PREAMBLE, "\\begin{table}", "\\centering", whole, f"\\label{{{label}}}", tabular]
        return "\n".join([*lines, "\\end{table}"])

    def html(self, most: int | None = None) -> str:
        """The table as HTML; of many rows the first ``most``, and how many more there are."""
        columns = [column.drawn(texts.escape_html, _html_mark, lambda _: "") for column in self.columns]
        return html_table(*_rows(columns), self.title, most)


def html_table(rows: Sequence[Sequence[str]], align: Sequence[str], title: str = "", most: int | None = None) -> str:
    """A table of escaped texts as HTML, its head first; of many rows the first ones, and how many more there are.

    >>> html_table([["run"], ["a"], ["b"], ["c"]], ["left"], most=1).partition("<p>")[2]
    '<small>2 more rows</small></p>'
    """

    def row(cells: Sequence[str], tag: str) -> str:
        pairs = zip(cells, align, strict=True)
        return "".join(f'<{tag} style="text-align:{way}">{cell}</{tag}>' for cell, way in pairs)

    head, *body = rows
    shown = body if most is None else body[:most]
    caption = f'<caption style="text-align:left">{texts.escape_html(title)}</caption>' if title else ""
    lines = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in shown)
    more = f"<p><small>{count(len(body) - len(shown), 'more row')}</small></p>" if len(shown) < len(body) else ""
    return f"<table>{caption}<thead><tr>{row(head, 'th')}</tr></thead><tbody>{lines}</tbody></table>{more}"


def best_marks(values: Iterable[float], *, smaller_is_better: bool = False) -> list[str]:
    """``*`` beside the best of several values that differ by more than rounding, nothing beside the others.

    >>> best_marks([0.1, 0.1 + 0.2, 0.3]), best_marks([0.1, 0.1])
    (['', '*', '*'], ['', ''])
    """
    numbers = np.asarray(list(values), dtype=np.float64) * (-1 if smaller_is_better else 1)
    if not len(numbers) or np.isnan(numbers).all():
        return [""] * len(numbers)
    best = numbers == np.nanmax(numbers)
    with np.errstate(invalid="ignore"):
        best |= np.isclose(numbers, np.nanmax(numbers), rtol=1e-12, atol=0)
    return [BEST if top and not best.all() else "" for top in best]


# -- cells -----------------------------------------------------------------------------------------


def is_p(name: str) -> bool:
    return name == "p" or name.startswith("p_") or name.endswith((" p", "_p", " p_corrected"))


def columns_of(table: pd.DataFrame | Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """The columns of a frame, or given as they are, by name."""
    if isinstance(table, Mapping):
        return {str(name): list(values) for name, values in table.items()}
    return {str(name): table.iloc[:, i].tolist() for i, name in enumerate(table.columns)}


def is_numeric(values: Sequence[Any]) -> bool:
    """Whether there are numbers among some values, and nothing else but missing ones (truth values are no numbers)."""
    known = [value for value in map(plain, values) if value is not None]
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known)
    return numbers and (bool(known) or any(isinstance(value, float) for value in values))


def cells_of(name: str, values: Sequence[Any], places: int) -> list[str]:
    """The cells of a column for people, not yet escaped."""
    shown = []
    for value in map(plain, values):
        if isinstance(value, float):
            shown.append(texts.format_p(value) if is_p(name) else texts.format_number(value, places))
        else:
            shown.append("-" if value is None else _word(value))
    return shown


def plain(value: Any) -> Any:
    """A cell as plain Python: None where it is missing, lists for tuples, texts for exact fractions."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    missing = value is None or type(value).__name__ in ("NAType", "NaTType")
    if missing or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(value) if isinstance(value, Fraction) else value


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _markdown_mark(cell: str, mark: str, room: int) -> str:
    raised = mark.replace(BEST, "")
    signs = f"<sup>{raised}</sup>" if raised.isalnum() or "," in raised else raised.replace("+", "\\+")
    return (f"**{cell}**" if BEST in mark else cell) + signs


def _latex_mark(cell: str, mark: str, room: int) -> str:
    """Marks take no room beyond the number, so that the digits of a column stay below each other."""
    raised = mark.replace(BEST, "")
    signs = f"$^{{{raised}}}$" if set(raised) <= set("+-=") else f"\\textsuperscript{{{raised}}}"
    return (f"\\textbf{{{cell}}}" if BEST in mark else cell) + (f"\\rlap{{{signs}}}" if raised else "")


def _html_mark(cell: str, mark: str, room: int) -> str:
    raised = mark.replace(BEST, "")
    return (f"<b>{cell}</b>" if BEST in mark else cell) + (f"<sup>{raised}</sup>" if raised else "")


def _escape_number(cell: str) -> str:
    return f"${cell[0]}${cell[1:]}" if cell.startswith("< ") else texts.escape_latex(cell)


def _phantom(digits: int) -> str:
    return f"\\phantom{{{'0' * digits}}}"


# -- terminals -------------------------------------------------------------------------------------


def _rows(columns: Sequence[Column]) -> tuple[list[list[str]], list[str]]:
    """The head and the rows, and how columns are aligned."""
    rows = [list(row) for row in zip(*([column.head, *column.cells] for column in columns), strict=True)]
    return rows, [column.align for column in columns]


def _fitted(columns: Sequence[Column], width: int) -> tuple[list[Column], str]:
    """The columns that fit a terminal, names shortened where that helps, and a sentence on what is not shown."""
    keys = next((i for i, column in enumerate(columns) if column.numeric), _MOST_TEXTS)
    least = min(keys + 1, len(columns))  # the names of a row and one number stay, whatever room there is
    readable = _NARROW if any(column.numeric for column in columns) else _SENTENCE
    for kept in range(len(columns), least - 1, -1):
        narrowest = readable if kept > least else _NARROWEST
        some = columns[:kept]
        for allowed in range(max(narrowest, *(column.width for column in some)), narrowest - 1, -1):
            if _total(column.least(allowed) for column in some) <= width:
                shown = _shortened(some, allowed)  # wider than that where names would look the same
                if _total(column.width for column in shown) <= width:
                    return shown, _left_out(columns, shown)
    shown = _shortened(columns[:least], _NARROWEST)
    return shown, _left_out(columns, shown)


def _shortened(columns: Sequence[Column], allowed: int) -> list[Column]:
    heads = texts.shorten_all([column.head for column in columns], allowed, ellipsis())
    return [column.within(allowed, head) for column, head in zip(columns, heads, strict=True)]


def _total(widths: Iterable[int]) -> int:
    return sum(width + 2 for width in widths) - 2


def _left_out(columns: Sequence[Column], shown: Sequence[Column]) -> str:
    missing = [column.head for column in columns[len(shown) :]]
    facts = [f"{len(missing)} of {len(columns)} columns left out: {', '.join(missing)}"] if missing else []
    if any(column != whole for column, whole in zip(shown, columns, strict=False)):
        facts.append("names are shortened")
    return f"({'; '.join(facts)}; --wide shows all)" if facts else ""


def ellipsis() -> str:
    """What stands for the middle of a name, as the terminal can show it."""
    try:
        "…".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return ".."
    return "…"
