"""The pages of the measures, and the table of tests, made from what ``irl.describe`` says of them.

They are docstrings of modules, one for each page (``ir_lexirecall.pt_docs.pages.recall``), which
pages show by autodoc, here and inside PyTerrier's documentation.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from types import ModuleType

import ir_lexirecall as irl
from ir_lexirecall.descriptions import Description
from ir_lexirecall.descriptions.describing import entries
from ir_lexirecall.measures.declaration import REGISTRY
from ir_lexirecall.present.text import gathered
from ir_lexirecall.pt_docs import drawings
from ir_lexirecall.significance import TESTS

SHARED = ("@cutoff", "rel", "judged_only")
"""Parameters that the list of measures explains once."""
_GREEK = "alpha|beta|gamma|delta|phi|eps|pi"
_NAME = (
    rf"(?:{_GREEK}|log2|max_rel|min_rel|recall|floor|ceil|round|sum(?= V)|[A-Za-z])"
    r"(?:\*?_\w|\*|')?(?![\w'])"
)
_ATOM = (
    rf"(?:{_NAME}(?:\([^()']*\))?|\d+(?:\.\d+)?(?!\w)|"
    r"\([-+*/^ \w.]*(?:\([^()']*\)[-+*/^ \w.]*)*\)|\.\.\.)"
)
_FORMULA = re.compile(
    rf"\w{{2,}}\([^()]*=.*\)\S*|(?<![\w'`=@.-]){_ATOM}(?:(?: ?[-+/=<^x] ?| |(?<=\))){_ATOM})*(?!\w)"
)
"""A measure with parameters, which is code, or a formula in plain text like ``(1-p) p^(i-1)``."""


def families() -> dict[str, list[str]]:
    """Return the package's measures by the page that describes them."""
    measures = dict.fromkeys(REGISTRY.values())
    return gathered(
        (measure.PAGE, measure.NAME) for measure in measures if measure.PAGE
    )


def sections(names: list[str]) -> str:
    """Return the sections of a page, a measure each; each source is given once."""
    cited: set[str] = set()
    text = ""
    for name in names:
        about = irl.describe(name)
        title = f"{name}: {about.title}"
        if about.aliases:
            aliases = f" Also called ``{'``, ``'.join(about.aliases)}``."
        else:
            aliases = ""
        if REGISTRY[name].SMALLER_IS_BETTER:
            direction = " **Smaller is better.**"
        else:
            direction = ""
        formula = about.formula  # with the measure on its left side
        if formula and not re.match(r"\\mathrm\{\w+\}\S* = ", formula):
            formula = rf"\mathrm{{{name}}} = ".replace("_", r"\_") + formula
        parts = [
            f".. _measure-{name}:\n\n{title}\n{'-' * len(title)}",
            f"{about.meaning}{direction}{aliases}",
            displayed(formula, about.symbols),
            drawing(name),
            at_a_glance(about),
            ".. rubric:: By hand",
            typeset(f"{about.example or ''}"),
            parameters(name, about),
            f"Source: {about.source.line}",
            block("bibtex", about.source.bibtex)
            if about.source.key not in cited
            else "",
        ]
        text += "\n\n".join(part for part in parts if part) + "\n\n"
        cited.add(about.source.key)
    return text


def standard() -> str:
    """Return the measures of ir_measures, a section each."""
    parts = []
    for name in sorted(entries("measure"), key=str.lower):
        about = irl.describe(name)
        if about.title != name:
            title = f"{name}: {about.title}"
        else:
            title = name
        meaning = re.sub(r"([*_`|\\])", r"\\\1", about.meaning)
        source = ""
        if about.source.line:
            source = f"Source: {about.source.line}"
        parts += [
            f"{title}\n{'-' * len(title)}",
            "",
            meaning,
            displayed(about.formula, about.symbols),
            source,
        ]
    return "\n\n".join(parts)


def table_of_tests() -> str:
    """Return the significance tests, a row each.

    The first line is empty: a docstring's others lose the indentation that they share.
    """
    rows = [
        [f"``{test.name!r}``", test.estimate, test.effect, test.use]
        for test in TESTS.values()
    ]
    heads = ["``test=``", "Estimate", "Effect size", "Use it"]
    return f"\n{list_table([heads, *rows], 'header-rows', '18 22 24 36')}\n"


def displayed(formula: str, symbols: str) -> str:
    """Return a formula and its definitions, a line each, then its symbols, one by one.

    On one line, the definitions would be wider than a page.
    """
    if formula:
        lines = re.split(r",\s*\\quad\s*", " ".join(formula.split()))
    else:
        lines = []
    shown = [
        f".. math::\n\n   {line}{',' * (place < len(lines))}"
        for place, line in enumerate(lines, 1)
    ]
    listed = [part.strip() for part in re.split(r";(?![^()]*\))", symbols)]
    return "\n\n".join(
        [*shown, "\n".join(f"- {typeset(symbol)}" for symbol in listed if symbol)]
    )


def typeset(text: str) -> str:
    """Return plain text with its formulas, and the symbol that it explains, as mathematics."""
    symbol, colon, meaning = text.partition(": ")
    if colon and re.fullmatch(rf"{_ATOM}(?:(?:, | < ){_ATOM})*", symbol):
        return f":math:`{latex(symbol)}`: {typeset(meaning)}"

    def mathematics(found: re.Match[str]) -> str:
        """Return a formula as mathematics, or the text as it is if no letter stands for a quantity.

        A formula of numbers can be read as it is, and a word is not a formula.
        """
        names = rf"\b({_GREEK}|log2|max_rel|min_rel|recall|floor|ceil|round|sum)\b"
        words = re.search(r"[A-Za-z]{2,}", re.sub(names, "x", found[0]))
        is_formula = (
            re.search(r"[A-Za-z]", found[0])
            and re.search(r"[-+/=<^_(*']", found[0])
            and not words
        )
        if is_formula:
            return f":math:`{latex(found[0])}`"
        return found[0]

    return _FORMULA.sub(mathematics, text)


def latex(text: str) -> str:
    """Return a formula in plain text as LaTeX."""
    text = re.sub(
        r"\^(?:\((\w*[^()]*)\)|(\w+\([^()]*\)|\w+))",
        lambda power: f"^{{{power[1] or power[2]}}}",
        text,
    )
    text = re.sub(r"\bC\(([^(),]+), ([^(),]+)\)", r"\\binom{\1}{\2}", text)
    text = re.sub(r"\b(max|min)_rel\b", r"\\mathrm{\1\\_rel}", text)
    text = (
        re.sub(r"(?<!\\)_(\w+)", r"_{\1}", text)
        .replace("*", "^*")
        .replace("...", r"\ldots")
    )
    text = re.sub(rf"\b({_GREEK}|sum)\b", r"\\\1", text).replace(r"\eps", r"\epsilon")
    text = text.replace("log2", r"\log_2 ").replace(" x ", r" \times ")
    text = re.sub(r"\) (?=[(A-Za-z])", r")\\, ", text)
    return re.sub(r"\b(floor|ceil|round|recall)\b", r"\\mathrm{\1}", text)


def drawing(name: str) -> str:
    """Return a picture of what the measure rewards, with words below."""
    picture, family = drawings.rewards(name), REGISTRY[name].FAMILY
    which = {
        "subtopics": "letters are subtopics",
        "aspects": "left: relevance, right: quality",
    }
    caption = which.get(
        family, "three relevant documents, in one ranking not all of them retrieved"
    )
    also = ""
    if family in drawings.OF_RANKS:
        also = "; right, one relevant document alone"
    words = f"What {drawings.with_required(name)} rewards: rankings, best first ({caption}){also}."
    return figure(picture.inline(name), words)


def figure(svg: str, words: str) -> str:
    """Return a picture with its caption as HTML within reStructuredText."""
    return (
        '.. raw:: html\n\n   <figure class="align-default">'
        f"{svg}<figcaption>{words}</figcaption></figure>"
    )


def at_a_glance(about: Description) -> str:
    """Return a table of what a value means, row by row."""
    links = []
    for n in about.see_also:
        if n in REGISTRY:
            links.append(f":ref:`{n} <measure-{n}>`")
        else:
            links.append(f":doc:`{n} <standard>`")
    facts = {"Values": about.values, "0 means": about.zero, "Ties": about.ties}
    rows = {name: prose(text) for name, text in facts.items()} | {
        "Use it": about.use,
        "See also": ", ".join(links),
    }
    return list_table(
        [[name, text] for name, text in rows.items() if text], "stub-columns", "18 82"
    )


def parameters(name: str, about: Description) -> str:
    """Return the measure's signature, and a row for each of its parameters.

    Parameters that the list of measures explains are left out.
    """
    declared = REGISTRY[name].SUPPORTED_PARAMS
    signature = ", ".join(
        p if d.required else f"{p}={d.default!r}" for p, d in declared.items()
    )
    text = (
        f".. py:class:: {name}(*, {signature})\n   :module: ir_lexirecall\n   "
        ":no-contents-entry:"
    )
    rows = [["Parameter", "Default", "Meaning"]]
    for parameter in about.parameters:
        if parameter.name not in SHARED:
            if parameter.default in ("required", "none"):
                default = parameter.default
            else:
                default = f"``{parameter.default}``"
            meaning = f"{prose(parameter.meaning)} ({prose(parameter.allowed)})"
            rows.append([f"``{parameter.name}``", default, meaning])
    if len(rows) == 1:
        return text
    return (
        f"{text}\n\n{list_table(rows, 'header-rows', '16 16 68', 'stacked parameters')}"
    )


def list_table(
    rows: list[list[str]], heads: str, widths: str, classes: str = ""
) -> str:
    """Return a table in reStructuredText, with a head row or a head column.

    ``heads`` says which of them: ``header-rows`` or ``stub-columns``.
    """
    cells = "\n".join("   * - " + "\n     - ".join(row) for row in rows)
    styled = f"\n   :class: {classes}" if classes else ""
    return f".. list-table::\n   :{heads}: 1\n   :widths: {widths}{styled}\n\n{cells}"


def prose(text: str) -> str:
    """Return text with its formulas typeset, the rest as it is."""
    return re.sub(
        r"(:math:`[^`]*`)|([*_`|\\])",
        lambda found: found[1] or "\\" + found[2],
        typeset(text),
    )


def block(language: str, text: str) -> str:
    """Return a block of code; an empty text if there is no code."""
    indented = "\n".join(f"   {line}".rstrip() for line in text.strip().splitlines())
    if text:
        return f".. code-block:: {language}\n\n{indented}"
    return ""


@cache
def text_of(page: str) -> str:
    """Return the text of a page. It draws a picture for each measure, which takes seconds."""
    if page == "tests":
        return table_of_tests()
    return sections(families()[page])


class Page(ModuleType):
    """A module whose docstring is the text of a page, made when it is first read."""

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """Return the text of the page."""
        return text_of(self.__name__.rpartition(".")[2])


for _page in (*families(), "tests"):
    _module = Page(f"{__name__}.{_page}")
    sys.modules[_module.__name__] = globals()[_page] = _module
