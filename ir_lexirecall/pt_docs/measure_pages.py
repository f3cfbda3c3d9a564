"""The pages of the measures, made from what ``irl.describe`` says of them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import ir_lexirecall as irl
from ir_lexirecall.descriptions import Description
from ir_lexirecall.descriptions.describing import entries
from ir_lexirecall.measures.declaration import REGISTRY
from ir_lexirecall.pt_docs import drawings
from ir_lexirecall.significance import TESTS

SHARED = ("@cutoff", "rel", "judged_only")
"""Parameters that the list of measures explains once."""
_GREEK = "alpha|beta|gamma|delta|phi|eps|pi"
_NAME = rf"(?:{_GREEK}|log2|max_rel|min_rel|recall|floor|ceil|round|sum(?= V)|[A-Za-z])(?:\*?_\w|\*|')?(?![\w'])"
_ATOM = rf"(?:{_NAME}(?:\([^()']*\))?|\d+(?:\.\d+)?(?!\w)|\([-+*/^ \w.]*(?:\([^()']*\)[-+*/^ \w.]*)*\)|\.\.\.)"
_FORMULA = re.compile(rf"\w{{2,}}\([^()]*=.*\)\S*|(?<![\w'`=@.-]){_ATOM}(?:(?: ?[-+/=<^x] ?| |(?<=\))){_ATOM})*(?!\w)")
"""A measure with parameters, which is code; or a formula in plain text, such as ``(1-p) p^(i-1)``."""


def families() -> dict[str, list[str]]:
    """The package's measures by the page that describes them."""
    pages: dict[str, list[str]] = {}
    for measure in dict.fromkeys(REGISTRY.values()):
        if measure.PAGE:
            pages.setdefault(measure.PAGE, []).append(measure.NAME)
    return pages


def sections() -> Iterator[tuple[str, str]]:
    """Each page's name and sections, a measure each; a page gives a source once."""
    for page, names in families().items():
        cited: set[str] = set()
        text = ""
        for name in names:
            about = irl.describe(name)
            title, source = f"{name}: {about.title}", about.source
            bibtex = block("bibtex", source.bibtex) if source.key not in cited else ""
            text += f".. _measure-{name}:\n\n{title}\n{'-' * len(title)}\n\n{body(name, bibtex)}\n"
            cited.add(source.key)
        yield page, text


def tests() -> str:
    """The significance tests, a row each. The first line is empty: a docstring's others lose the indentation that they share."""
    rows = "\n".join(
        f"   * - ``{test.name!r}``\n     - {test.estimate}\n     - {test.effect}\n     - {test.use}"
        for test in TESTS.values()
    )
    heads = "   * - ``test=``\n     - Estimate\n     - Effect size\n     - Use it"
    return f"\n.. list-table::\n   :header-rows: 1\n   :widths: 18 22 24 36\n\n{heads}\n{rows}\n"


def body(name: str, bibtex: str) -> str:
    """What stands below the title of a measure."""
    about = irl.describe(name)
    aliases = f" Also called ``{'``, ``'.join(about.aliases)}``." if about.aliases else ""
    direction = " **Smaller is better.**" if REGISTRY[name].SMALLER_IS_BETTER else ""
    parts = [
        f"{about.meaning}{direction}{aliases}",
        displayed(formula(name, about)) if about.formula else "",
        "\n".join(f"- {typeset(symbol)}" for symbol in split(about.symbols)),
        drawing(name),
        at_a_glance(about),
        ".. rubric:: By hand",
        typeset(f"{about.example or ''}"),
        parameters(name, about),
        f"Source: {about.source.line}",
        bibtex,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def formula(name: str, about: Description) -> str:
    """The formula with the measure on its left side."""
    if re.match(r"\\mathrm\{\w+\}\S* = ", about.formula):
        return about.formula
    return rf"\mathrm{{{name}}} = ".replace("_", r"\_") + about.formula


def displayed(latex: str) -> str:
    """A formula and its definitions, a line each: beside each other they would be wider than a page."""
    lines = re.split(r",\s*\\quad\s*", " ".join(latex.split()))
    return "\n\n".join(f".. math::\n\n   {line}{',' * (place < len(lines))}" for place, line in enumerate(lines, 1))


def split(symbols: str) -> list[str]:
    """The symbols of a formula with their meanings, one by one."""
    return [part.strip() for part in re.split(r";(?![^()]*\))", symbols) if part.strip()]


def typeset(text: str) -> str:
    """Plain text with its formulas, and the symbol that it explains, as mathematics."""
    symbol, colon, meaning = text.partition(": ")
    if colon and re.fullmatch(rf"{_ATOM}(?:(?:, | < ){_ATOM})*", symbol):
        return f":math:`{latex(symbol)}`: {typeset(meaning)}"
    return _FORMULA.sub(lambda run: f":math:`{latex(run[0])}`" if is_formula(run[0]) else run[0], text)


def is_formula(text: str) -> bool:
    """Whether letters stand for quantities: a formula of numbers reads as it is, and a word is none."""
    words = re.findall(
        r"[A-Za-z]{2,}", re.sub(rf"\b({_GREEK}|log2|max_rel|min_rel|recall|floor|ceil|round|sum)\b", "x", text)
    )
    return bool(re.search(r"[A-Za-z]", text) and re.search(r"[-+/=<^_(*']", text)) and not words


def latex(text: str) -> str:
    """A formula in plain text as LaTeX."""
    text = re.sub(
        r"\^(\w+\([^()]*\)|\([^()]*\)|\w+)", lambda power: "^{" + re.sub(r"^\((.*)\)$", r"\1", power[1]) + "}", text
    )
    text = re.sub(r"\bC\(([^(),]+), ([^(),]+)\)", r"\\binom{\1}{\2}", text)
    text = re.sub(r"\b(max|min)_rel\b", r"\\mathrm{\1\\_rel}", text)
    text = re.sub(r"(?<!\\)_(\w+)", r"_{\1}", text).replace("*", "^*").replace("...", r"\ldots")
    text = (
        re.sub(rf"\b({_GREEK}|sum)\b", r"\\\1", text)
        .replace(r"\eps", r"\epsilon")
        .replace("log2", r"\log_2 ")
        .replace(" x ", r" \times ")
    )
    text = re.sub(r"\) (?=[(A-Za-z])", r")\\, ", text)
    return re.sub(r"\b(floor|ceil|round|recall)\b", r"\\mathrm{\1}", text)


def drawing(name: str) -> str:
    """What the measure rewards, as a picture with words below."""
    picture, family = drawings.rewards(name), REGISTRY[name].FAMILY
    which = {"subtopics": "letters are subtopics", "aspects": "left: relevance, right: quality"}
    told = which.get(family, "three relevant documents, in one ranking not all of them retrieved")
    also = "; right, one relevant document alone" if family in drawings.OF_RANKS else ""
    words = f"What {drawings.with_required(name)} rewards: rankings, best first ({told}){also}."
    return figure(picture.inline(name), words)


def figure(svg: str, words: str) -> str:
    return f'.. raw:: html\n\n   <figure class="align-default">{svg}<figcaption>{words}</figcaption></figure>'


def at_a_glance(about: Description) -> str:
    """What a value means, row by row."""
    others = ", ".join(link(name) for name in about.see_also)
    told = {"Values": about.values, "0 means": about.zero, "Ties": about.ties}
    rows = {name: prose(text) for name, text in told.items()} | {"Use it": about.use, "See also": others}
    cells = "\n".join(f"   * - {name}\n     - {text}" for name, text in rows.items() if text)
    return f".. list-table::\n   :stub-columns: 1\n   :widths: 18 82\n\n{cells}"


def link(name: str) -> str:
    """A link to a measure, or to the list of standard ones."""
    if name in REGISTRY:
        return f":ref:`{name} <measure-{name}>`"
    return f":doc:`{name} <standard>`"


def parameters(name: str, about: Description) -> str:
    """The measure's signature, and a row for each parameter but those that the list of measures explains."""
    declared = REGISTRY[name].SUPPORTED_PARAMS
    signature = ", ".join(p if d.required else f"{p}={d.default!r}" for p, d in declared.items())
    rows = "\n".join(
        f"   * - ``{parameter.name}``\n     - {literal(parameter.default)}\n     - {prose(parameter.meaning)} ({prose(parameter.allowed)})"
        for parameter in about.parameters
        if parameter.name not in SHARED
    )
    table = f"\n\n.. list-table::\n   :header-rows: 1\n   :widths: 16 16 68\n\n   * - Parameter\n     - Default\n     - Meaning\n{rows}"
    return f".. py:class:: {name}(*, {signature})\n   :module: ir_lexirecall\n   :no-contents-entry:{table if rows else ''}"


def literal(text: str) -> str:
    """A default as code, words as words."""
    return text if text in ("required", "none") else f"``{text}``"


def prose(text: str) -> str:
    """Text with its formulas typeset, the rest as it is."""
    return re.sub(r"(:math:`[^`]*`)|([*_`|\\])", lambda found: found[1] or "\\" + found[2], typeset(text))


def escape(text: str) -> str:
    """Text that reStructuredText takes as it is."""
    return re.sub(r"([*_`|\\])", r"\\\1", text)


def block(language: str, text: str) -> str:
    indented = "\n".join(f"   {line}".rstrip() for line in text.strip().splitlines())
    return f".. code-block:: {language}\n\n{indented}" if text else ""


def standard() -> str:
    """The measures of ir_measures, a section each."""
    parts = []
    for name in sorted(standard_names(), key=str.lower):
        about = irl.describe(name)
        formula = displayed(about.formula) if about.formula else ""
        symbols = "\n".join(f"- {typeset(symbol)}" for symbol in split(about.symbols))
        source = f"Source: {about.source.line}" if about.source.line else ""
        title = f"{name}: {about.title}" if about.title != name else name
        parts += [title, "-" * len(title), "", escape(about.meaning), formula, symbols, source]
    return "\n\n".join(parts).replace("\n\n---", "\n---")


def standard_names() -> set[str]:
    """Names of the measures of ir_measures that are described."""
    return set(entries("measure"))
