"""Text for readers: numbers, names and words for terminals, LaTeX, Markdown, HTML and spreadsheets.

Names of runs, queries and measures are data. A terminal, a browser or a spreadsheet would obey some
of their characters; here these are made visible or harmless instead.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ir_lexirecall._util.errors import counted
from ir_lexirecall.io.spreadsheets import escaped

if TYPE_CHECKING:
    from ir_lexirecall.significance import SignificanceTest

K = TypeVar("K")
V = TypeVar("V")

_LATEX = {special: f"\\{special}" for special in "{}$&%#_"} | {
    c: f"{{{c}}}" for c in "[]*"
}
"""After a line break, LaTeX reads [...] and * as its arguments."""
_LATEX |= {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
}
_LATEX |= {
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    "†": "\\textdagger{}",
}
# `_` within a word is only itself.
_MARKDOWN_SPECIAL = re.compile(r"[\\`*\[\]<>|~$]|(?<![^\W_])_|_(?![^\W_])")
_PARAMETERS = re.compile(r"\b\w+\([^()]*\)")  # of a measure, after its name
_VALUES = re.compile(r"=\{[^{}]{8,}\}")  # those too long to read in a table's head
_OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # Unicode's categories of characters
_JOINERS = "\u200c\u200d"  # parts of words in some scripts

_MOST_DIGITS = 1e16  # from here on, digits before the point are not all known

count = counted


def count_all(number: int, noun: str) -> str:
    """Return a number of things that are all there are, with their noun.

    >>> count_all(1, "query"), count_all(10, "query")
    ('1 query', 'all 10 queries')
    """
    if number == 1:
        return count(number, noun)
    return f"all {count(number, noun)}"


"""Returns a number and its noun, as messages of errors have them."""
MOST_NAMES = 10  # in a sentence
FEW_NAMES = 4  # in a sentence that lists runs for several criteria

_CORRECTIONS = {
    "holm": "Holm's",
    "bonferroni": "Bonferroni's",
    "sidak": "Šidák's",
    "holm-sidak": "Holm and Šidák's",
    "simes-hochberg": "Hochberg's",
    "hommel": "Hommel's",
    "fdr_bh": "Benjamini and Hochberg's",
    "fdr_by": "Benjamini and Yekutieli's",
}


# -- numbers ---------------------------------------------------------------------------------------


def format_p(p: float, alpha: float = 0.05) -> str:
    """Return a p-value with two significant digits; ``-`` if it is not a number.

    It has more digits where two would move it to the other side of the level ``alpha``.

    >>> format_p(0.0502), format_p(0.0502, 0.01), format_p(0.0496)
    ('0.0502', '0.050', '0.050')
    >>> [format_p(p) for p in (0.0703125, 0.5, 1.0, 0.00012345, 3e-9, float("nan"))]
    ['0.070', '0.50', '1.0', '0.00012', '< 0.0001', '-']
    """
    if math.isnan(p):
        return "-"
    if p < 1e-4 <= alpha:
        return "< 0.0001"
    for digits in range(2, 18):
        shown = f"{p:#.{digits}g}"
        if (float(shown) <= alpha) == (p <= alpha):
            return shown
    return repr(p)


def format_level(alpha: float, p_values: Iterable[float] = ()) -> str:
    """Return a level of significance, one that is not round with two significant digits.

    It has more digits where two would put it on the other side of p-values that stand beside it.

    >>> format_level(0.05), format_level(0.0303964), format_level(0.025)
    ('0.05', '0.030', '0.025')
    >>> format_level(0.05 / 30, [0.3, 0.00168]), format_level(0.05 / 30, [0.00166])
    ('0.00167', '0.0017')
    """
    if float(f"{alpha:.2g}") == alpha:
        return f"{alpha:g}"
    above = min((p for p in p_values if p > alpha), default=math.inf)
    shown_above = float(format_p(above, alpha))
    for digits in range(2, 18):
        shown = f"{alpha:#.{digits}g}"
        if float(shown) < shown_above:
            return shown
    return repr(alpha)


def format_number(value: float, places: int) -> str:
    """Return a number with ``places`` decimal places.

    A number that would read as 0, but is not 0, keeps its magnitude, and so does one whose digits
    before the point are not all known. The 0 of a turned difference has no sign.

    >>> [format_number(value, 4) for value in (1 / 3, 0.00001, -0.0, float("nan"), 2e200)]
    ['0.3333', '1.0e-05', '0.0000', '-', '2.0000e+200']
    """
    if math.isnan(value):
        return "-"
    value += 0.0  # -0.0 becomes 0.0
    if abs(value) >= _MOST_DIGITS:
        return f"{value:.{places}e}"
    text = f"{value:.{places}f}"
    if places and value and not float(text):
        return f"{value:.1e}"
    return text


def format_bound(value: float) -> str:
    """Return a bound with two significant digits.

    >>> format_bound(0.01834), format_bound(0.2589), format_bound(-0.0), format_bound(12.34)
    ('0.018', '0.26', '0', '12')
    """
    value += 0.0  # -0.0 becomes 0.0
    if not 100 <= abs(value) < _MOST_DIGITS:
        return f"{value:.2g}"
    return f"{value:.0f}"


def format_beside(bound: float, margin: float) -> str:
    """Return a bound of 0 or more with as many digits as tell on which side of a margin it lies.

    That is two, or up to seven where rounding would move it to the other side. A bound that is
    still nearer to the margin is shown as the margin.

    >>> format_beside(0.0119, 0.012), format_beside(0.0104, 0.0102), format_beside(0.0119, 0.02)
    ('0.0119', '0.0104', '0.012')
    >>> format_beside(0.1 - 1e-17, 0.1), format_beside(1234.6, 1235.0), format_beside(0.0, 0.01)
    ('0.1', '1234.6', '0')
    """
    shown = format_bound(bound)
    n_digits = max(2, len(f"{bound:.0f}"))
    for digits in range(n_digits + 1, n_digits + 6):
        if (float(shown) < margin) == (bound < margin):
            return shown
        shown = f"{bound:.{digits}g}"
    return f"{margin:g}"


# -- names -----------------------------------------------------------------------------------------


def printable(text: str) -> str:
    r"""Return a text that a terminal shows and does not obey.

    Escape sequences, line breaks and marks of direction are written out.

    >>> print(printable("\x1b[31mred\x1b[0m\n"))
    \x1b[31mred\x1b[0m\n
    >>> printable("文書 é")
    '文書 é'
    """
    if text.isprintable():
        return text
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    """Return a character, written as an escape if a terminal would obey it."""
    if unicodedata.category(character) not in _OBEYED or character in _JOINERS:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return the short form of names of measures that have a long list of values.

    A short form that two of them would share is not used.

    >>> short_names(["TOMA(aspects={'relevance':3,'trust':2})@10", "AP"])
    {"TOMA(aspects={'relevance':3,'trust':2})@10": 'TOMA(aspects=...)@10'}
    """
    shortened = {
        name: _PARAMETERS.sub(
            lambda parameters: _VALUES.sub("=...", parameters.group()), name
        )
        for name in names
    }
    uses = Counter(shortened.values())
    short_of_name = {}
    for name, short in shortened.items():
        if short != name and uses[short] == 1:
            short_of_name[name] = short
    return short_of_name


def in_short(sentence: str, names: Mapping[str, str]) -> str:
    """Replace names of measures in a sentence by short ones, as from ``short_names``.

    >>> short = {"IA(weights={'a':1,'b':2})": "IA(weights=...)"}
    >>> in_short("bm25 leads by IA(weights={'a':1,'b':2}).", short)
    'bm25 leads by IA(weights=...).'
    """
    for name in sorted(names, key=len, reverse=True):  # one may begin with another
        sentence = sentence.replace(name, names[name])
    return sentence


def explained_names(names: Mapping[str, str]) -> str:
    """Say what short names stand for; empty if there are none.

    >>> explained_names({"TOMA(aspects={'relevance':3})": "TOMA(aspects=...)"})
    "TOMA(aspects=...) is TOMA(aspects={'relevance':3})"
    """
    return "; ".join(f"{short} is {name}" for name, short in names.items())


def escape_html(text: str) -> str:
    """Escape a text for elements and quoted attributes of HTML.

    >>> escape_html("<a & 'b'>")
    '&lt;a &amp; &#x27;b&#x27;&gt;'
    """
    return html.escape(printable(text))


def escape_latex(text: str) -> str:
    r"""Escape a text for LaTeX, also for a cell of a table.

    >>> print(escape_latex("CWL_ERR10 {50%} [a]"))
    CWL\_ERR10 \{50\%\} {[}a{]}
    """
    return "".join(_LATEX.get(character, character) for character in printable(text))


def escape_markdown(text: str) -> str:
    r"""Escape a text for Markdown, also for a cell of a table.

    Underscores within words stay as they are.

    >>> print(escape_markdown("CWL_ERR10 _x_ a|b"))
    CWL_ERR10 \_x\_ a\|b
    """
    escaped = _MARKDOWN_SPECIAL.sub(
        lambda special: "\\" + special.group(), printable(text)
    )
    return escaped.replace("&", "&amp;")


def escape_csv(text: str) -> str:
    """Return a text for a cell of CSV, which no spreadsheet takes for a formula: see ``escaped``.

    >>> escape_csv("=cmd()"), escape_csv("'=cmd()"), escape_csv("bm25")
    ("'=cmd()", "''=cmd()", 'bm25')
    """
    shown = printable(text)
    # What is shown in place of a control character is no formula, but the character itself was one.
    if escaped(text) != text:
        return f"'{shown}"
    return str(escaped(shown))


# -- width -----------------------------------------------------------------------------------------


def width(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> width("bm25"), width("文書"), width("e\u0301")
    (4, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    """Return how many columns of a terminal a character takes: 0, 1 or 2."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 1


def shorten(text: str, columns: int) -> str:
    """Shorten a text to a number of columns of a terminal, leaving out the middle.

    >>> shorten("robust2003-bm25-rm3-run", 12), shorten("bm25", 12)
    ('robust…3-run', 'bm25')
    """
    if width(text) <= columns:
        return text
    start = _prefix(text, columns // 2)
    return f"{start}…{_prefix(text[::-1], columns - 1 - width(start))[::-1]}"


def padded(cells: Sequence[str], *, numeric: bool, least: int = 0) -> list[str]:
    """Pad the cells of a column to one width; numbers align on the right.

    >>> padded(["AP", "0.5000"], numeric=True), padded(["run", "ql"], numeric=False, least=4)
    (['    AP', '0.5000'], ['run ', 'ql  '])
    """
    widths = [width(cell) for cell in cells]
    widest = max(least, *widths)
    blanks = [" " * (widest - used) for used in widths]
    if numeric:
        return [blank + cell for cell, blank in zip(cells, blanks, strict=True)]
    return [cell + blank for cell, blank in zip(cells, blanks, strict=True)]


def _prefix(text: str, columns: int) -> str:
    """Return the longest beginning that fits a number of columns."""
    used = 0
    for length, character in enumerate(text):
        used += _columns(character)
        if used > columns:
            return text[:length]
    return text


# -- words -----------------------------------------------------------------------------------------


def listed(names: Iterable[str], most: int = MOST_NAMES) -> str:
    """Join names for a sentence; of many the first ones, and how many more there are.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed("abcde", most=3)
    ('a', 'a, b and c', 'a, b, c and 2 more')
    """
    names = list(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def enumerated(facts: Sequence[str], most: int = MOST_NAMES) -> str:
    """Join facts for a sentence, by semicolons if they have commas of their own.

    >>> enumerated(["a", "b"]), enumerated(["a, 1", "b, 2", "c, 3"], most=2)
    ('a and b', 'a, 1; b, 2; and 1 more')
    """
    if not any(", " in fact for fact in facts):
        return listed(facts, most)
    shown = list(facts[:most])
    if len(facts) > most:
        shown.append(f"and {len(facts) - most} more")
    return "; ".join(shown)


def capitalised(phrase: str) -> str:
    """Return a phrase with a capital at its beginning; the rest stays as it is.

    >>> capitalised("queries by nDCG")
    'Queries by nDCG'
    """
    return phrase[:1].upper() + phrase[1:]


def sentences(*phrases: str) -> list[str]:
    """Return phrases as sentences, without those that are empty.

    >>> sentences("ties are many", "")
    ['Ties are many.']
    """
    return [f"{capitalised(phrase)}." for phrase in phrases if phrase]


def interval(low: float, high: float, places: int = 4) -> str:
    """Return an interval in words, ``-`` if an end is not finite.

    >>> interval(0.25, 0.5, 2), interval(float("-inf"), float("inf"))
    ('0.25 to 0.50', '-')
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return "-"
    return f"{format_number(low, places)} to {format_number(high, places)}"


def confidence_words(provenance: Mapping[str, Any]) -> str:
    """Return the confidence of intervals.

    It is a percentage; for a level that is not round, such as that of a look, it is 1 - level.

    >>> [confidence_words({"alpha": alpha}) for alpha in (0.01, 0.0075991)], confidence_words({})
    (['99%', '1 - 0.0076'], '95%')
    """
    alpha = provenance.get("alpha", 0.05)
    if float(f"{alpha:.2g}") != alpha:
        return f"1 - {format_level(alpha)}"
    return f"{100 - float(f'{100 * alpha:.2g}'):g}%"


def p_words(p: float, alpha: float = 0.05) -> str:
    """Return a p-value as sentences have it, with digits as in `format_p`.

    >>> p_words(0.0113), p_words(1e-9)
    ('p = 0.011', 'p < 0.0001')
    """
    shown = format_p(p, alpha)
    if shown.startswith("<"):
        return f"p {shown}"
    return f"p = {shown}"


def gathered(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Gather values by their keys, in order, so that a sentence says a fact once of several names.

    >>> gathered([("t", "AP"), ("sign", "rpp"), ("t", "LR")])
    {'t': ['AP', 'LR'], 'sign': ['rpp']}
    """
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def once(pairs: Iterable[tuple[str, str]], word: str = "by") -> str:
    """Return facts with the names of which they hold, for a sentence that says each fact once.

    >>> once([("bm25", "AP"), ("ql", "RR"), ("bm25", "LR")])
    'by AP and LR, bm25; by RR, ql'
    """
    return "; ".join(
        f"{word} {listed(names)}, {fact}" for fact, names in gathered(pairs).items()
    )


def top_words(depth_of: Mapping[str, int | None]) -> str:
    """Say which documents a statement on unjudged documents is about, by depth.

    >>> top_words({"AP": 100, "LR": 100}), top_words({"AP": None})
    ('the top 100', 'whole rankings')
    >>> top_words({"nDCG@10": 10, "AP": 100, "LR": 100})
    'the top 10 (nDCG@10) and the top 100 (AP and LR)'
    """
    names_of = gathered((depth, name) for name, depth in depth_of.items())
    words = []
    for depth, names in names_of.items():
        words.append(
            ("whole rankings" if depth is None else f"the top {depth:,}", names)
        )
    if len(words) == 1:
        return words[0][0]
    return listed([f"{top} ({listed(names)})" for top, names in words])


# -- tests -----------------------------------------------------------------------------------------


def how_tested(
    tests: Mapping[str, SignificanceTest],
    comparisons: int,
    *,
    margin_comparisons: int = 0,
    criteria: int = 1,
    is_predicted: bool = False,
    p_values: Iterable[float] = (),
) -> str:
    """Return how differences were tested, in a few words.

    Args:
        tests: the test of each criterion.
        comparisons: number of comparisons that are corrected together.
        margin_comparisons: with a margin, those of *not worse* and *within margin*; else 0.
        criteria: how many there are in all.
        is_predicted: whether predicted judgments sharpen the tests.
        p_values: those that are shown beside the level.

    >>> from ir_lexirecall.significance import SignificanceTest
    >>> tests = {"AP": SignificanceTest("t"), "LR": SignificanceTest("sign")}
    >>> how_tested(tests, 10)
    "paired t-test for AP, sign test for LR; Holm's correction for 10 comparisons, p <= 0.05"
    >>> how_tested({"AP": SignificanceTest("t")}, 32, margin_comparisons=16, criteria=2)
    ... # doctest: +NORMALIZE_WHITESPACE
    'paired t-test, one-sided except for better; Holm over 32 for worse and better; over the 16 of
    each criterion for not worse and within margin; p <= 0.05'
    """
    first = next(iter(tests.values()))
    titles, is_mixed = _titles_of_tests(tests, is_predicted=is_predicted)
    level = f"p <= {format_level(first.alpha, p_values)}"
    is_over_all = first.family == "all" and criteria > 1
    if is_over_all:
        correction = first.correction
    else:
        correction = first.counted_correction
    if comparisons < 2:
        correction = None
    if margin_comparisons:
        families = _families(correction, comparisons, margin_comparisons, criteria)
        return "; ".join([f"{titles}, one-sided except for better", *families, level])
    how = []
    if correction:
        over = ""
        if is_over_all:
            over = f" over all {criteria} criteria"
        how.append(
            f"{correction_words(correction)} for {comparisons:,} comparisons{over}"
        )
    mark = ", "
    if is_mixed:
        mark = "; "
    return mark.join([titles, ", ".join([*how, level])])


def _titles_of_tests(
    tests: Mapping[str, SignificanceTest], *, is_predicted: bool
) -> tuple[str, bool]:
    """Return the titles of tests, and whether several tests are named with their criteria."""
    titles = []
    for name, test in tests.items():
        title = test.procedure.title
        if is_predicted:
            title = title.replace("paired", "prediction-powered")
        if test.groups is not None:
            title += " with groups of queries as units"
        titles.append((title, name))
    by_title = gathered(titles)
    if len(by_title) == 1:
        return next(iter(by_title)), False
    return ", ".join(
        f"{title} for {listed(names)}" for title, names in by_title.items()
    ), True


def _families(
    correction: str | None, comparisons: int, margin_comparisons: int, criteria: int
) -> list[str]:
    """Return which comparisons are corrected together where there is a margin."""
    if not correction:
        return []
    if criteria == 1:
        return [f"{correction_words(correction)} for {comparisons:,} comparisons"]
    name = _CORRECTIONS.get(correction, correction).removesuffix("'s")
    families = [f"{name} over {comparisons:,} for worse and better"]
    if margin_comparisons > 1:
        over = f"over the {margin_comparisons:,} of each criterion"
        families.append(f"{over} for not worse and within margin")
    else:
        families.append(
            "uncorrected for not worse and within margin, as all criteria must hold"
        )
    return families


def correction_words(method: str) -> str:
    """Return the name of a correction for several comparisons, by its inventors.

    >>> correction_words("holm"), correction_words("fdr_tsbh")
    ("Holm's correction", 'fdr_tsbh correction')
    """
    return f"{_CORRECTIONS.get(method, method)} correction"


def provenance_line(provenance: Mapping[str, Any]) -> str:
    """Return the provenance of a result in one line of small print."""
    facts = []
    for name, value in provenance.items():
        if name not in ("versions", "metadata", "criteria") and value is not None:
            facts.append(f"{name} {fact_words(value)}")
    versions = ", ".join(
        f"{name} {number}" for name, number in provenance["versions"].items()
    )
    return "; ".join([*facts, versions])


def fact_words(value: Any) -> str:
    """Return a fact of a provenance in words; what several criteria or runs share is said once.

    >>> fact_words(["AP", "LR"]), fact_words({"AP": "t", "LR": "t", "rpp": "sign"})
    ('AP, LR', 't (AP, LR), sign (rpp)')
    """
    if isinstance(value, Mapping):
        names = gathered((fact_words(fact), str(name)) for name, fact in value.items())
        if len(names) == 1:
            return next(iter(names))
        return ", ".join(
            f"{fact} ({', '.join(sharing)})" for fact, sharing in names.items()
        )
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
