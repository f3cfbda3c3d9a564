"""The one renderer of tables for people: terminals, Markdown, LaTeX.

A ``Shown`` table is made of a plain frame: what each column is (name, number, interval, p) is seen
from its name and its values. Marks stand beside numbers: ``*`` the best of its column (bold where
there is bold type), everything else (``+`` better, ``-`` worse, ``=`` may be the best, letters of
beaten runs) raised.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import same
from ir_lexirecall._util.selecting import without
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.text import confidence_words, interval

BEST = "*"
DAGGER = "†"
PLACES = 4
ALPHA = 0.05  # level of a table that names none
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
WithMarks: TypeAlias = Callable[[Sequence[str], Sequence[str]], list[str]]
Spare: TypeAlias = Sequence[Collection[str]]


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
    """A column as it is shown: texts of cells, not yet escaped.

    Attributes:
        head: its head.
        cells: its cells.
        numeric: whether cells align on the right.
        marks: what follows each cell.
        is_p: whether cells are p.
        names_blocks: whether cells that are the same in successive rows name a block of rows. LaTeX
            writes the name above the block, where it takes no width.
    """

    head: str
    cells: list[str]
    numeric: bool = False
    marks: Sequence[str] = ()
    is_p: bool = False
    names_blocks: bool = False


@dataclass(frozen=True)
class Shown:
    r"""A table for people.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"run": ["bm25", "ql"], "LR": [0.25, 0.5]})
    >>> shown = Shown.from_frame(frame, {"LR": ["", "*+"]})
    >>> print(shown.text()[0])
    run   LR
    bm25  0.2500
    ql    0.5000*+
    >>> print(shown.markdown())
    | run  |           LR |
    |:-----|-------------:|
    | bm25 |       0.2500 |
    | ql   | **0.5000**\+ |
    >>> print(shown.latex())
    \begin{tabular}{@{}lr@{\,}l@{}}
    \toprule
    run  &              LR &       \\
    \midrule
    bm25 &          0.2500 &       \\
    ql   & \textbf{0.5000} & $^{+}$ \\
    \bottomrule
    \end{tabular}
    """

    columns: Sequence[Column]
    title: str = ""
    notes: Sequence[str] = field(default=())

    @classmethod
    def from_frame(
        cls,
        table: Table,
        marks: Marks | None = None,
        places: int = PLACES,
        attrs: Mapping[str, Any] | None = None,
    ) -> Shown:
        """Return a plain frame, or columns by name, as a table.

        ``ci_low`` and ``ci_high`` become one interval. The index is not shown.

        Args:
            table: the frame, or its columns by name.
            marks: for some columns, a mark for every row.
            places: decimal places.
            attrs: facts with the level ``alpha`` of intervals and tests; by default those of the
                frame.
        """
        values_of = columns_of(table)
        if attrs is None:
            attrs = getattr(table, "attrs", {})
        has_interval = {"ci_low", "ci_high"} <= values_of.keys()
        columns = []
        for name, values in values_of.items():
            if has_interval and name == "ci_high":
                continue
            if has_interval and name == "ci_low":
                level = confidence_words(attrs)
                ends = zip(values, values_of["ci_high"], strict=True)
                cells = [interval(low, high, places) for low, high in ends]
                columns.append(Column(f"{level} interval", cells))
                continue
            numeric, signs = is_numeric(values), (marks or {}).get(name, ())
            cells = cells_of(name, values, places, attrs.get("alpha", ALPHA))
            columns.append(Column(name, cells, numeric, signs, numeric and is_p(name)))
        return cls(columns)

    def text(
        self,
        width: int | None = None,
        *,
        spare: Spare = (),
        short_heads: Mapping[str, str] | None = None,
    ) -> tuple[str, list[str]]:
        """Return the table for a terminal, and the heads of columns that were left out.

        Columns are left out from the last on. Those that name a row and one number stay, whatever
        room there is. Where spare columns are named, what heads have in common stands once, above
        their columns, before spare columns go.

        Args:
            width: columns of the terminal; None for as many as it takes.
            spare: heads of columns that are left out first, in this order; some go together.
            short_heads: shorter heads, by head, for a table that is too wide, with ``spare``.

        >>> frame = {"run": ["bm25"], "AP wins": [2], "AP losses": [1], "depth": [10]}
        >>> table = Shown.from_frame(frame)
        >>> rows, left_out = table.text(20, spare=[["depth"]])
        >>> print(rows)
              AP
        run   wins  losses
        bm25     2       1
        >>> table.left_out_words(left_out)
        '(1 of 4 columns left out: depth; --wide shows all)'
        """
        drawn = self._drawn(texts.printable, _marked_in_text)
        shown = _side_by_side(drawn, [""] * len(drawn))
        if width is None or texts.width(shown.partition("\n")[0]) <= width:
            return shown, []
        above = [""] * len(drawn)
        if spare:
            above, narrow = self._with_common_heads(short_heads or {})
            drawn = narrow._drawn(texts.printable, _marked_in_text)
        kept = list(range(len(drawn)))
        for dispensable in [[], *self._dispensable(spare)]:
            kept = without(kept, dispensable)
            shown = _side_by_side([drawn[i] for i in kept], [above[i] for i in kept])
            if max(map(texts.width, shown.split("\n"))) <= width:
                break
        return shown, [x.head for i, x in enumerate(self.columns) if i not in kept]

    def left_out_words(self, left_out: Sequence[str]) -> str:
        """Return a sentence on columns that were left out; empty if every column fits."""
        if not left_out:
            return ""
        how_many = f"{len(left_out)} of {len(self.columns)} columns left out"
        return texts.printable(f"({how_many}: {', '.join(left_out)}; --wide shows all)")

    def _with_common_heads(
        self, short_heads: Mapping[str, str]
    ) -> tuple[list[str], Shown]:
        """Return what heads of several columns begin with, and the table with the rest as heads.

        Other columns keep their heads, with nothing above them.
        """
        heads = [
            short_heads.get(column.head, column.head).rpartition(" ")
            for column in self.columns
        ]
        n_with = Counter(beginning for beginning, _, _ in heads)
        above, columns = [], []
        for column, (beginning, blank, end) in zip(self.columns, heads, strict=True):
            if n_with[beginning] > 1:
                above.append(texts.printable(beginning))
                columns.append(replace(column, head=end))
            else:
                above.append("")
                columns.append(replace(column, head=beginning + blank + end))
        return above, replace(self, columns=columns)

    def _dispensable(self, spare: Spare) -> list[list[int]]:
        """Return the indices of columns that may be left out, in the order in which they go."""
        first = []
        for heads in spare:
            first.append([i for i, x in enumerate(self.columns) if x.head in heads])
        others = range(len(self.columns) - 1, self._n_naming, -1)
        return [*first, *([i] for i in others)]

    @property
    def _n_naming(self) -> int:
        """Number of the first columns that name a row, before its numbers."""
        for i, column in enumerate(self.columns):
            if column.numeric and column.head:
                return i
        return _MOST_TEXTS

    def markdown(self) -> str:
        """Return the table in Markdown, with its notes below."""
        drawn = self._drawn(texts.escape_markdown, _marked_in_markdown, 3)
        lines = markdown_lines(drawn, [column.numeric for column in self.columns])
        return "\n\n".join(["\n".join(lines), *map(texts.escape_markdown, self.notes)])

    def latex(self, label: str | None = None) -> str:
        """Return the table in LaTeX (booktabs).

        It is a ``tabular``, or with a label a whole ``table`` with caption and notes. Marks stand
        in columns of their own, so that the digits of a column stay below each other.
        """
        drawn, alignments = self._latex_columns()
        head, *rows = (" & ".join(row) + " \\\\" for row in zip(*drawn, strict=True))
        rows = self._in_latex_blocks(rows, len(alignments))
        lines = ["\\toprule", head, "\\midrule", *rows, "\\bottomrule"]
        begin = f"\\begin{{tabular}}{{@{{}}{''.join(alignments)}@{{}}}}"
        lines = [begin, *lines, "\\end{tabular}"]
        if label is None:
            return "\n".join(lines)
        sentences = filter(None, [self.title, *self.notes])
        caption = " ".join(_latex_sentence(sentence) for sentence in sentences)
        wrapper = textwrap.TextWrapper(
            _LATEX_WIDTH, break_long_words=False, break_on_hyphens=False
        )
        whole = wrapper.fill(f"\\caption{{{caption}}}")
        above = [
            _PREAMBLE,
            "\\begin{table}",
            "\\centering",
            whole,
            f"\\label{{{label}}}",
        ]
        if len(alignments) > _MOST_LATEX_COLUMNS:  # or they are wider than the text
            above.append("\\setlength{\\tabcolsep}{4pt}")
        return "\n".join([*above, *lines, "\\end{table}"])

    def _in_latex_blocks(self, rows: Sequence[str], width: int) -> list[str]:
        """Return rows with the name of each block above it, if a column names blocks."""
        names = next(
            (column.cells for column in self.columns if column.names_blocks), None
        )
        if names is None:
            return list(rows)
        lines: list[str] = []
        for name, block in itertools.groupby(range(len(rows)), names.__getitem__):
            if lines:
                lines.append("\\addlinespace")
            title = f"\\emph{{{texts.escape_latex(name)}}}"
            lines.append(f"\\multicolumn{{{width}}}{{@{{}}l}}{{{title}}} \\\\")
            lines += [rows[i] for i in block]
        return lines

    def _latex_columns(self) -> tuple[list[list[str]], list[str]]:
        """Return the cells of each column below its head, padded, and how each is aligned."""
        columns: list[list[str]] = []
        alignments: list[str] = []
        for column in self.columns:
            if column.names_blocks:
                continue
            cells = [_latex_cell(cell) for cell in column.cells]
            if column.is_p:
                cells = align_points(cells, _PHANTOM)
            signs = list(column.marks) or [""] * len(cells)
            raised = [sign.replace(BEST, "") for sign in signs]
            for i, sign in enumerate(signs):
                if BEST in sign:
                    cells[i] = f"\\textbf{{{cells[i]}}}"
            head = _latex_head(column.head)
            columns.append(texts.padded([head, *cells], numeric=column.numeric))
            if column.numeric:
                alignments.append("r")
            else:
                alignments.append("l")
            if any(raised):
                columns.append(
                    texts.padded(["", *map(_latex_marks, raised)], numeric=False)
                )
                alignments.append("@{\\,}l")
        return columns, alignments

    def _drawn(
        self, escape: Callable[[str], str], marked: WithMarks, least: int = 0
    ) -> list[list[str]]:
        """Return the columns, heads first, escaped and padded, with their marks.

        Args:
            escape: makes a text harmless.
            marked: adds the marks of a column to its cells.
            least: width of columns, at least.
        """
        columns = []
        for column in self.columns:
            cells = [escape(cell) for cell in column.cells]
            if column.is_p:
                cells = align_points(cells)
            if any(column.marks):
                cells = marked(cells, column.marks)
            cells.insert(0, escape(column.head))
            columns.append(texts.padded(cells, numeric=column.numeric, least=least))
        return columns


def _side_by_side(columns: Sequence[Sequence[str]], above: Sequence[str]) -> str:
    """Return columns of equally many lines as a text, below the names of groups of columns.

    Args:
        columns: the lines of each column, its head first.
        above: the name above each column; once above columns that follow each other.
    """
    blocks = []
    for name, indices in itertools.groupby(range(len(columns)), above.__getitem__):
        rows = zip(*(columns[i] for i in indices), strict=True)
        lines = ["  ".join(row) for row in rows]
        if any(above):
            lines = texts.padded([name, *lines], numeric=False)
        blocks.append(lines)
    return "\n".join("  ".join(row).rstrip() for row in zip(*blocks, strict=True))


def markdown_lines(
    columns: Sequence[Sequence[str]], numeric: Iterable[bool]
) -> list[str]:
    r"""Return padded columns, heads first, as the lines of a table in Markdown.

    >>> print(*markdown_lines([["run ", "bm25"], [" AP", "0.5"]], [False, True]), sep="\n")
    | run  |  AP |
    |:-----|----:|
    | bm25 | 0.5 |
    """
    rules = []
    for cells, is_numeric in zip(columns, numeric, strict=True):
        rule = "-" * (texts.width(cells[0]) + 1)
        if is_numeric:
            rules.append(f"{rule}:")
        else:
            rules.append(f":{rule}")
    lines = [f"| {' | '.join(row)} |" for row in zip(*columns, strict=True)]
    lines.insert(1, f"|{'|'.join(rules)}|")
    return lines


def _marked_in_text(cells: Sequence[str], marks: Sequence[str]) -> list[str]:
    """Return cells followed by their marks, so that numbers stay below each other."""
    room = max(map(len, marks))
    return [cell + mark.ljust(room) for cell, mark in zip(cells, marks, strict=True)]


def _marked_in_markdown(cells: Sequence[str], marks: Sequence[str]) -> list[str]:
    """Return cells with their marks: the best in bold, letters raised, signs beside the number."""
    marked = []
    for cell, mark in zip(cells, marks, strict=True):
        shown = f"**{cell}**" if BEST in mark else cell
        signs = mark.replace(BEST, "")
        # Letters of runs, as in a,c or b and a dagger, are raised; a sign alone, as +, is not.
        if "," in signs or signs.replace(DAGGER, "").isalnum():
            marked.append(f"{shown}<sup>{signs}</sup>")
        else:
            marked.append(shown + signs.replace("+", "\\+"))
    return marked


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
    if head == "p":
        return "$p$"
    return texts.escape_latex(head)


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


def best_marks(
    values: Iterable[float], *, smaller_is_better: bool = False
) -> list[str]:
    """Mark the best of several values with ``*``; none if they differ by rounding only.

    >>> best_marks([0.1, 0.1 + 0.2, 0.3]), best_marks([0.1, 0.1])
    (['', '*', '*'], ['', ''])
    """
    numbers = np.asarray(list(values), dtype=np.float64)
    if smaller_is_better:
        numbers = -numbers
    if not len(numbers) or np.isnan(numbers).all():
        return [""] * len(numbers)
    is_best = same(numbers, np.nanmax(numbers))
    if is_best.all():
        return [""] * len(numbers)
    return [BEST if is_one else "" for is_one in is_best]


# -- cells -----------------------------------------------------------------------------------------


def is_p(name: str) -> bool:
    """Return whether a column holds p-values, by its name."""
    if name == "p" or name.startswith("p_"):
        return True
    return name.endswith((" p", "_p", " p_corrected"))


def columns_of(table: Table) -> dict[str, list[Any]]:
    """Return the columns of a frame or of a mapping, by name."""
    if isinstance(table, Mapping):
        return {str(name): list(values) for name, values in table.items()}
    return {
        str(name): table.iloc[:, i].tolist() for i, name in enumerate(table.columns)
    }


def is_numeric(values: Sequence[Any]) -> bool:
    """Return whether a column holds numbers and missing values only; bools are not numbers."""
    types = {type(value) for value in map(plain, values) if value is not None}
    if not types:
        return any(isinstance(value, float) for value in values)  # a column of NaN
    if bool in types:
        return False
    return all(issubclass(one, (int, float)) for one in types)


def cells_of(
    name: str, values: Sequence[Any], places: int, alpha: float = ALPHA
) -> list[str]:
    """Return the cells of a column as people read them, unescaped; p beside the level ``alpha``."""
    level = alpha if is_p(name) else None
    return [_cell(value, places, level) for value in map(plain, values)]


def _cell(value: Any, places: int, alpha: float | None) -> str:
    """Return a plain value as people read it; with a level, the value is a p."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if alpha is not None:
            return texts.format_p(value, alpha)
        return texts.format_number(value, places)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "-" if value is None else str(value)


def plain(value: Any) -> Any:
    """Return a cell as plain Python.

    Missing values become None, tuples become lists, and exact fractions become texts.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, Fraction):
        return str(value)
    return value


def align_points(cells: Sequence[str], blank: str = " ") -> list[str]:
    """Pad texts of numbers so that, aligned on the right, decimal points stand below each other.

    Args:
        cells: the texts; those without decimal places stay as they are.
        blank: fills a place; one with a 0 in it stands once, with as many zeros as there are
            places to fill.

    >>> align_points(["0.0703", "0.125", "-"]), align_points(["0.5", "0.125"], "<0>")
    (['0.0703', '0.125 ', '-'], ['0.5<00>', '0.125'])
    """
    n_places = [_decimal_places(cell) for cell in cells]
    most = max(n_places, default=0)
    aligned = []
    for cell, n in zip(cells, n_places, strict=True):
        n_blank = most - n if n else 0
        if n_blank and "0" in blank:
            aligned.append(cell + blank.replace("0", "0" * n_blank))
        else:
            aligned.append(cell + blank * n_blank)
    return aligned


def _decimal_places(cell: str) -> int:
    """Return the number of decimal places of a number, also after ``<``; 0 of other texts."""
    is_decimal = re.fullmatch(r"(< )?-?\d+\.\d+", cell)
    if is_decimal:
        return len(cell.partition(".")[2])
    return 0
