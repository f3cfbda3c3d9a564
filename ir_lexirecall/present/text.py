"""Text for readers: numbers, names and tables as terminals, LaTeX, Markdown, HTML and spreadsheets should show them.

Names of runs, queries and measures are data: each reader has characters that it would obey, and here they are made visible
or harmless instead.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

_LATEX = {
    "\\": "\\textbackslash{}",
    "{": "\\{",
    "}": "\\}",
    "$": "\\$",
    "&": "\\&",
    "%": "\\%",
    "#": "\\#",
    "_": "\\_",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    "[": "{[}",  # after a line break, LaTeX reads [...] and * as its arguments
    "]": "{]}",
    "*": "{*}",
}
_LATEX_SPECIAL = re.compile("[" + re.escape("".join(_LATEX)) + "]")
_MARKDOWN_SPECIAL = re.compile(r"[\\`*\[\]<>|~$]|(?<![^\W_])_|_(?![^\W_])")  # `_` within a word is only itself
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_PARAMETERS = re.compile(r"\b\w+\([^()]*\)")  # of a measure, after its name
_VALUES = re.compile(r"=\{[^{}]{8,}\}")  # those too long to read in a table's head
_JOINERS = "\u200c\u200d"  # parts of words in some scripts


# -- numbers ---------------------------------------------------------------------------------------


def format_p(p: float) -> str:
    """A p-value with three significant digits; ``-`` for one that is not a number.

    >>> [format_p(p) for p in (0.0703125, 0.5, 1.0, 0.00012345, 3e-9, float("nan"))]
    ['0.0703', '0.500', '1.00', '0.000123', '< 1e-4', '-']
    """
    if math.isnan(p):
        return "-"
    return "< 1e-4" if p < 1e-4 else f"{p:#.3g}"


def format_number(value: float, places: int) -> str:
    """A number with ``places`` decimal places; one that would read as 0 but is not keeps its magnitude.

    >>> format_number(1 / 3, 4), format_number(0.00001, 4), format_number(0, 4), format_number(float("nan"), 4)
    ('0.3333', '1.0e-05', '0.0000', '-')
    """
    if math.isnan(value):
        return "-"
    text = f"{value:.{places}f}"
    return f"{value:.1e}" if places and value and not float(text) else text


# -- names -----------------------------------------------------------------------------------------


def printable(text: str) -> str:
    r"""A text without characters that a terminal obeys (escape sequences, line breaks, marks of direction): as escapes.

    >>> print(printable("\x1b[31mred\x1b[0m\n"))
    \x1b[31mred\x1b[0m\n
    >>> printable("文書 é")
    '文書 é'
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    obeyed = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in _JOINERS
    return character.encode("unicode_escape", "surrogatepass").decode("ascii") if obeyed else character


def short_name(name: str) -> str:
    """A name of a measure in which a long list of values is left out; any other text as it is.

    >>> short_name("TOMA(aspects={'credibility':2,'relevance':3})@10"), short_name("RBU(p=0.9)@20")
    ('TOMA(aspects=...)@10', 'RBU(p=0.9)@20')
    """
    return _PARAMETERS.sub(lambda parameters: _VALUES.sub("=...", parameters.group()), name) if "{" in name else name


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Those names of measures that have a shorter form, with that form; none that two of the names would share.

    >>> short_names(["TOMA(aspects={'relevance':3,'trust':2})@10", "AP"])
    {"TOMA(aspects={'relevance':3,'trust':2})@10": 'TOMA(aspects=...)@10'}
    """
    shortened = {name: short_name(name) for name in names}
    uses = Counter(shortened.values())
    return {name: short for name, short in shortened.items() if short != name and uses[short] == 1}


def in_short(sentence: str, names: Mapping[str, str]) -> str:
    """A sentence with short names of measures; ``names`` as from ``short_names``.

    >>> in_short("bm25 leads by IA(weights={'a':1,'b':2}).", {"IA(weights={'a':1,'b':2})": "IA(weights=...)"})
    'bm25 leads by IA(weights=...).'
    """
    for name in sorted(names, key=len, reverse=True):  # one may begin with another
        sentence = sentence.replace(name, names[name])
    return sentence


def explained_names(names: Mapping[str, str]) -> str:
    """What short names stand for, in a sentence; empty where there are none.

    >>> explained_names({"TOMA(aspects={'relevance':3})": "TOMA(aspects=...)"})
    "TOMA(aspects=...) is TOMA(aspects={'relevance':3})"
    """
    return "; ".join(f"{short} is {name}" for name, short in names.items())


def escape_html(text: str) -> str:
    """A text as HTML shows it, in elements and in quoted attributes.

    >>> escape_html("<a & 'b'>")
    '&lt;a &amp; &#x27;b&#x27;&gt;'
    """
    return html.escape(printable(text))


def escape_latex(text: str) -> str:
    r"""A text as LaTeX shows it, in a cell of a table too.

    >>> print(escape_latex("CWL_ERR10 {50%} [a]"))
    CWL\_ERR10 \{50\%\} {[}a{]}
    """
    return _LATEX_SPECIAL.sub(lambda special: _LATEX[special.group()], printable(text))


def escape_markdown(text: str) -> str:
    r"""A text as Markdown shows it, in a cell of a table too; underscores within words stay as they are.

    >>> print(escape_markdown("CWL_ERR10 _x_ a|b"))
    CWL_ERR10 \_x\_ a\|b
    """
    escaped = _MARKDOWN_SPECIAL.sub(lambda special: "\\" + special.group(), printable(text))
    return escaped.replace("&", "&amp;")


def escape_csv(text: str) -> str:
    """A text that a spreadsheet does not take for a formula: it gets an apostrophe before it.

    >>> escape_csv("=cmd()"), escape_csv("bm25")
    ("'=cmd()", 'bm25')
    """
    return "'" + printable(text) if text.startswith(_FORMULA) else printable(text)


# -- width -----------------------------------------------------------------------------------------


def width(text: str) -> int:
    """Columns of a terminal that a text takes.

    >>> width("bm25"), width("文書"), width("e\u0301")
    (4, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def pad(text: str, columns: int, align: str = "left") -> str:
    """A text filled up with blanks to a number of columns of a terminal.

    >>> pad("文", 4) + "|", pad("7", 3, "right")
    ('文  |', '  7')
    """
    blanks = " " * (columns - width(text))
    return blanks + text if align == "right" else text + blanks


def shorten(text: str, columns: int, ellipsis: str = "…") -> str:
    """A text shortened to a number of columns of a terminal, the middle left out.

    >>> shorten("robust2003-bm25-rm3-run", 12), shorten("bm25", 12)
    ('robust…3-run', 'bm25')
    """
    return _split(text, (columns - width(ellipsis) + 1) // 2, columns, ellipsis)


def shorten_all(texts: Sequence[str], columns: int, ellipsis: str = "…") -> list[str]:
    """Texts shortened to a number of columns of a terminal, or a few more where different texts would look the same.

    >>> shorten_all(["experiment-k1-0.9-final.run", "experiment-k1-1.2-final.run"], 12)
    ['…9-final.run', '…2-final.run']
    >>> shorten_all(["experiment-k1-0.9-final.run", "experiment-k1-1.2-final.run"], 17)
    ['exper…9-final.run', 'exper…2-final.run']
    """
    distinct = len(set(texts))
    for allowed in range(columns, max(map(width, texts), default=0)):
        room = allowed - width(ellipsis)
        middle = (room + 1) // 2
        for head in sorted(range(room + 1), key=lambda head: abs(head - middle)):
            shortened = [_split(text, head, allowed, ellipsis) for text in texts]
            if len(set(shortened)) == distinct:
                return shortened
    return list(texts)


def _split(text: str, head: int, columns: int, ellipsis: str) -> str:
    """At most ``head`` columns of the beginning, and as much of the end as there is room for."""
    if width(text) <= columns:
        return text
    start = _prefix(text, head)
    end = _prefix(text[::-1], columns - width(start) - width(ellipsis))[::-1]
    return start + ellipsis + end


def _prefix(text: str, columns: int) -> str:
    """The longest beginning that fits a number of columns."""
    used = 0
    for length, character in enumerate(text):
        used += _columns(character)
        if used > columns:
            return text[:length]
    return text


# -- tables ----------------------------------------------------------------------------------------


def text_table(rows: Sequence[Sequence[str]], align: Sequence[str]) -> str:
    """A table for terminals: the head and the rows, columns two blanks apart.

    >>> print(text_table([["run", "LR"], ["bm25", "0.5"], ["ql", "10.5"]], ["left", "right"]))
    run     LR
    bm25   0.5
    ql    10.5
    """
    lines = (map(pad, row, _widths(rows), align) for row in rows)
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Columns of a terminal that each column of a table takes."""
    return [max(map(width, column)) for column in zip(*rows, strict=True)]


def markdown_table(rows: Sequence[Sequence[str]], align: Sequence[str]) -> str:
    """A Markdown table: the head and the rows, cells already escaped by ``escape_markdown``.

    >>> print(markdown_table([["run", "LR"], ["bm25", "0.5"]], ["left", "right"]))
    | run  |  LR |
    |:-----|----:|
    | bm25 | 0.5 |
    """
    widths = [max(3, columns) for columns in _widths(rows)]
    marks = [
        ":" + "-" * (n + 1) if way == "left" else "-" * (n + 1) + ":" for n, way in zip(widths, align, strict=True)
    ]
    head, *body = ("| " + " | ".join(map(pad, row, widths, align)) + " |" for row in rows)
    return "\n".join([head, "|" + "|".join(marks) + "|", *body])


def latex_table(rows: Sequence[Sequence[str]], align: Sequence[str]) -> str:
    r"""A LaTeX ``tabular`` with the rules of booktabs: the head and the rows, cells already escaped by ``escape_latex``.

    >>> print(latex_table([["run", "LR"], ["bm25", "0.5"]], ["left", "right"]))
    \begin{tabular}{lr}
    \toprule
    run  &  LR \\
    \midrule
    bm25 & 0.5 \\
    \bottomrule
    \end{tabular}
    """
    widths = _widths(rows)
    head, *body = (" & ".join(map(pad, row, widths, align)) + " \\\\" for row in rows)
    columns = "".join(way[0] for way in align)
    rules = ["\\toprule", head, "\\midrule", *body, "\\bottomrule"]
    return "\n".join([f"\\begin{{tabular}}{{{columns}}}", *rules, "\\end{tabular}"])


def align_points(cells: Sequence[str], blank: Callable[[int], str] = lambda digits: " " * digits) -> list[str]:
    """Texts of numbers, filled up on the right so that decimal points stand below each other where all align right.

    >>> align_points(["0.0703", "0.125", "-"])
    ['0.0703', '0.125 ', '-']
    """
    places = [len(cell.partition(".")[2]) if re.fullmatch(r"-?\d+\.\d+", cell) else None for cell in cells]
    most = max((n for n in places if n is not None), default=0)
    return [cell if n is None or n == most else cell + blank(most - n) for cell, n in zip(cells, places, strict=True)]
