"""The one renderer of tables for people: terminals, Markdown, LaTeX, HTML.

A ``Shown`` table is made of a plain frame: what each column is (name, number, interval, p) is seen
from its name and its
values. Marks stand beside numbers: ``*`` the best of its column (bold where there is bold type),
everything else (``+`` better, ``-`` worse, ``=`` may be the best, letters of beaten runs) raised.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import same
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.text import confidence_words, count, interval

BEST = "*"
DAGGER = "†"
PLACES = 4
_MOST_TEXTS = 2  # columns of texts that name the row of a table without numbers
_LATEX_WIDTH = 80  # of a caption's lines
_MOST_LATEX_COLUMNS = 6  # that fit the text of a page with the usual space between them
_PHANTOM = "\\phantom{0}"  # as wide as a digit
# Before a number, also the first of an interval, but not within 1.0e-05 or 2020-01.
_MINUS = re.compile(r"(?:(?<![\w.{}])|(?<=\{\[\}))-(?=\d)")
_SIGN = re.compile(r"^\+(?=\d)")
_LEVEL = re.compile(r"p \\textless\{\}= ?([\d.]+\d)")
_PREAMBLE = "% needs \\usepackage{booktabs}"


Table: TypeAlias = "pd.DataFrame | Mapping[str, Sequence[Any]]"
Marks: TypeAlias = Mapping[str, Sequence[str]]
Text: TypeAlias = Callable[[str], str]


def dagger_note(depth_of: Mapping[str, int | None]) -> str:
    """Return what a dagger means, with the depth of each criterion that has one.

    >>> dagger_note({"AP": 100})
    '†: unjudged documents of the top 100 might undo this difference.'
    >>> dagger_note({})  # nothing is bounded
    '†: unjudged documents might undo this difference.'
    """
    documents = "unjudged documents"
    if depth_of:
        documents += f" of {texts.top_words(depth_of)}"
    return f"{DAGGER}: {documents} might undo this difference."


@dataclass(frozen=True)
class Column:
    """A column as it is shown: texts of cells, not yet escaped."""

    head: str
    cells: list[str]
    numeric: bool = False
    marks: Sequence[str] = ()
    is_p: bool = False


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
    >>> print(shown.latex())
    \\begin{tabular}{@{}lr@{\\,}l@{}}
    \\toprule
    run  &              LR &       \\\\
    \\midrule
    bm25 &          0.2500 &       \\\\
    ql   & \\textbf{0.5000} & $^{+}$ \\\\
    \\bottomrule
    \\end{tabular}
    """

    columns: Sequence[Column]
    title: str = ""
    notes: Sequence[str] = field(default=())

    @classmethod
    def from_frame(
        cls, table: Table, marks: Marks | None = None, places: int = PLACES, confidence: str = ""
    ) -> Shown:
        """A plain frame, or columns by name, as a table; ``ci_low`` and ``ci_high`` become one interval.

        Its index is not shown. ``marks`` has, for some columns, a mark for every row;
        ``confidence`` is by default that of ``attrs``.
        """
        given, confidence = (
            columns_of(table),
            confidence or confidence_words(getattr(table, "attrs", {})),
        )
        columns = []
        for name, values in given.items():
            if name == "ci_low" and "ci_high" in given:
                ends = zip(values, given["ci_high"], strict=True)
                columns.append(
                    Column(f"{confidence} interval", [interval(*both, places) for both in ends])
                )
            elif name != "ci_high" or "ci_low" not in given:
                numeric, signs = is_numeric(values), (marks or {}).get(name, ())
                columns.append(
                    Column(
                        name, cells_of(name, values, places), numeric, signs, numeric and is_p(name)
                    )
                )
        return cls(columns)

    def text(self, width: int | None = None) -> tuple[str, str]:
        """The table for a terminal ``width`` columns wide, and a sentence on the columns that it has no room for (mostly empty).

        Columns are left out from the last on; those that name a row and one number stay, whatever
        room there is.
        """
        lines = list(zip(*self._drawn(texts.printable, 0), strict=True))
        kept = len(lines)
        if width is not None:
            ends = np.cumsum([texts.width(column[0]) + 2 for column in lines]) - 2
            names = next(
                (i for i, column in enumerate(self.columns) if column.numeric and column.head),
                _MOST_TEXTS,
            )
            kept = min(kept, max(names + 1, int(np.searchsorted(ends, width, side="right"))))
        missing = [column.head for column in self.columns[kept:]]
        said = f"({len(missing)} of {len(lines)} columns left out: {', '.join(missing)}; --wide shows all)"
        rows = zip(*lines[:kept], strict=True)
        return "\n".join("  ".join(row).rstrip() for row in rows), texts.printable(
            said
        ) if missing else ""

    def markdown(self) -> str:
        """The table in Markdown, with its notes below."""

        def signs(raised: str) -> str:
            letters = raised.replace(DAGGER, "").isalnum() or "," in raised
            return f"<sup>{raised}</sup>" if letters else raised.replace("+", "\\+")

        head, *rows = self._drawn(texts.escape_markdown, 3, "**{}**", signs)
        rules = ["-" * (texts.width(cell) + 1) for cell in head]
        marks = [
            f"{rule}:" if column.numeric else f":{rule}"
            for rule, column in zip(rules, self.columns, strict=True)
        ]
        lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
        lines.insert(1, f"|{'|'.join(marks)}|")
        return "\n\n".join(["\n".join(lines), *map(texts.escape_markdown, self.notes)])

    def latex(self, label: str | None = None) -> str:
        """Return the table in LaTeX (booktabs).

        It is a ``tabular``, or with a label a whole ``table`` with caption and notes. Marks stand
        in columns of their own, so that the digits of a column stay below each other.
        """
        drawn, ways = self._latex_columns()
        head, *rows = (" & ".join(row) + " \\\\" for row in zip(*drawn, strict=True))
        lines = ["\\toprule", head, "\\midrule", *rows, "\\bottomrule"]
        lines = [f"\\begin{{tabular}}{{@{{}}{''.join(ways)}@{{}}}}", *lines, "\\end{tabular}"]
        if label is None:
            return "\n".join(lines)
        sentences = filter(None, [self.title, *self.notes])
        caption = " ".join(_latex_sentence(sentence) for sentence in sentences)
        wrapper = textwrap.TextWrapper(_LATEX_WIDTH, break_long_words=False, break_on_hyphens=False)
        whole = wrapper.fill(f"\\caption{{{caption}}}")
        above = [_PREAMBLE, "\\begin{table}", "\\centering", whole, f"\\label{{{label}}}"]
        if len(ways) > _MOST_LATEX_COLUMNS:  # or they are wider than the text
            above.append("\\setlength{\\tabcolsep}{4pt}")
        return "\n".join([*above, *lines, "\\end{table}"])

    def _latex_columns(self) -> tuple[list[list[str]], list[str]]:
        """Return the cells of each column below its head, filled up, and how each is aligned."""
        columns: list[list[str]] = []
        ways: list[str] = []
        for column in self.columns:
            cells = [_latex_cell(cell) for cell in column.cells]
            if column.is_p:
                cells = align_points(cells, _PHANTOM)
            signs = list(column.marks) or [""] * len(cells)
            raised = [sign.replace(BEST, "") for sign in signs]
            for i, sign in enumerate(signs):
                if BEST in sign:
                    cells[i] = f"\\textbf{{{cells[i]}}}"
            columns.append(_filled([_latex_head(column.head), *cells], numeric=column.numeric))
            ways.append("r" if column.numeric else "l")
            if any(raised):
                columns.append(_filled(["", *map(_latex_marks, raised)], numeric=False))
                ways.append("@{\\,}l")
        return columns, ways

    def html(self, most: int | None = None) -> str:
        """The table as HTML; of many rows the first ``most``, and how many more there are.

        >>> Shown.from_frame({"run": ["a", "b", "c"]}).html(most=1).partition("<p>")[2]
        '<small>2 more rows</small></p>'
        """

        def row(cells: Sequence[str], tag: str) -> str:
            ways = ("right" if column.numeric else "left" for column in self.columns)
            pairs = zip(cells, ways, strict=True)
            return "".join(f'<{tag} style="text-align:{way}">{cell}</{tag}>' for cell, way in pairs)

        head, *body = self._drawn(texts.escape_html, -1, "<b>{}</b>", "<sup>{}</sup>".format, "")
        shown = body[:most]
        title = (
            f'<caption style="text-align:left">{texts.escape_html(self.title)}</caption>'
            if self.title
            else ""
        )
        lines = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in shown)
        more = (
            f"<p><small>{count(len(body) - len(shown), 'more row')}</small></p>"
            if len(shown) < len(body)
            else ""
        )
        return f"<table>{title}<thead><tr>{row(head, 'th')}</tr></thead><tbody>{lines}</tbody></table>{more}"

    def _drawn(
        self, escape: Text, least: int, bold: str = "", raised: Text = str, blank: str = " "
    ) -> list[list[str]]:
        """The head and the rows, escaped, with their marks; columns at least ``least`` wide (-1: cells are not filled up).

        Without ``bold`` (type for the best of a column) and ``raised`` (other marks), marks stand
        as they are.
        """
        columns = []
        for column in self.columns:
            cells = [escape(cell) for cell in column.cells]
            if column.is_p:
                cells = align_points(cells, blank)
            if any(column.marks):
                room = max(map(len, column.marks))
                for i, sign in enumerate(column.marks):
                    small = raised(others) if (others := sign.replace(BEST, "")) else ""
                    best = bold.format(cells[i]) if BEST in sign else cells[i]
                    cells[i] = best + small if bold else cells[i] + sign.ljust(room)
            cells.insert(0, escape(column.head))
            if least >= 0:
                wide = max(least, *map(texts.width, cells))
                for i, cell in enumerate(cells):
                    more = " " * (wide - texts.width(cell))
                    cells[i] = more + cell if column.numeric else cell + more
            columns.append(cells)
        return [list(row) for row in zip(*columns, strict=True)]


def _filled(cells: Sequence[str], *, numeric: bool) -> list[str]:
    """Return cells filled up to one width, numbers on the left."""
    widest = max(map(texts.width, cells))
    fill = [" " * (widest - texts.width(cell)) for cell in cells]
    pairs = zip(cells, fill, strict=True)
    return [more + cell if numeric else cell + more for cell, more in pairs]


def _latex_cell(cell: str) -> str:
    r"""Return a cell in LaTeX, with real minus signs and relations.

    >>> print(_latex_cell("-0.02"), _latex_cell("-0.1 to 1.0e-05"), _latex_cell("< 0.0001"))
    $-$0.02 $-$0.1 to 1.0e-05 $<$ 0.0001
    """
    if cell.startswith("< "):
        return f"$<${cell[1:]}"
    return _MINUS.sub("$-$", _SIGN.sub("$+$", texts.escape_latex(cell)))


def _latex_head(head: str) -> str:
    """Return the head of a column in LaTeX."""
    return "$p$" if head == "p" else texts.escape_latex(head)


def _latex_sentence(sentence: str) -> str:
    r"""Return a sentence of a caption in LaTeX.

    >>> print(_latex_sentence("+, -: better, worse than ql_2 (p <= 0.05)."))
    $+$, $-$: better, worse than ql\_2 ($p \le 0.05$).
    """
    escaped = texts.escape_latex(sentence)
    escaped = _LEVEL.sub(r"$p \\le \1$", escaped)
    return re.sub(r"^\+, -:", "$+$, $-$:", escaped)


def _latex_marks(raised: str) -> str:
    """Return raised marks in LaTeX."""
    if not raised:
        return ""
    is_math = set(raised) <= {*"+-=", DAGGER}
    if is_math:
        return f"$^{{{raised.replace(DAGGER, chr(92) + 'dagger')}}}$"
    return f"\\textsuperscript{{{raised.replace(DAGGER, chr(92) + 'textdagger{}')}}}"


def best_marks(values: Iterable[float], *, smaller_is_better: bool = False) -> list[str]:
    """``*`` beside the best of several values that differ by more than rounding, nothing beside the others.

    >>> best_marks([0.1, 0.1 + 0.2, 0.3]), best_marks([0.1, 0.1])
    (['', '*', '*'], ['', ''])
    """
    numbers = np.asarray(list(values), dtype=np.float64) * (-1 if smaller_is_better else 1)
    if not len(numbers) or np.isnan(numbers).all():
        return [""] * len(numbers)
    best = same(numbers, np.nanmax(numbers))
    return [BEST if top and not best.all() else "" for top in best]


# -- cells -----------------------------------------------------------------------------------------


def is_p(name: str) -> bool:
    return name == "p" or name.startswith("p_") or name.endswith((" p", "_p", " p_corrected"))


def columns_of(table: Table) -> dict[str, list[Any]]:
    """The columns of a frame, or given as they are, by name."""
    if isinstance(table, Mapping):
        return {str(name): list(values) for name, values in table.items()}
    return {str(name): table.iloc[:, i].tolist() for i, name in enumerate(table.columns)}


def is_numeric(values: Sequence[Any]) -> bool:
    """Whether there are numbers among some values, and nothing else but missing ones (truth values are no numbers)."""
    known = [value for value in map(plain, values) if value is not None]
    numbers = all(
        isinstance(value, (int, float)) and not isinstance(value, bool) for value in known
    )
    return numbers and (bool(known) or any(isinstance(value, float) for value in values))


def cells_of(name: str, values: Sequence[Any], places: int) -> list[str]:
    """The cells of a column for people, not yet escaped."""
    shown = []
    for value in map(plain, values):
        if isinstance(value, float):
            shown.append(
                texts.format_p(value) if is_p(name) else texts.format_number(value, places)
            )
        elif isinstance(value, bool):
            shown.append("yes" if value else "no")
        else:
            known = value if isinstance(value, list) else ["-" if value is None else value]
            shown.append(", ".join(map(str, known)))
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


def align_points(cells: Sequence[str], blank: str = " ") -> list[str]:
    """Texts of numbers, filled up on the right so that decimal points stand below each other where all align right.

    ``blank`` fills a place; one with a 0 in it stands once, with as many zeros as places are
    missing.

    >>> align_points(["0.0703", "0.125", "-"]), align_points(["0.5", "0.125"], "<0>")
    (['0.0703', '0.125 ', '-'], ['0.5<00>', '0.125'])
    """
    places = [
        len(cell.partition(".")[2]) if re.fullmatch(r"(< )?-?\d+\.\d+", cell) else None
        for cell in cells
    ]
    most = max((n for n in places if n is not None), default=0)
    filled = []
    for cell, n in zip(cells, places, strict=True):
        lacking = 0 if n is None else most - n
        filled.append(
            cell
            + (blank.replace("0", "0" * lacking) if "0" in blank and lacking else blank * lacking)
        )
    return filled
