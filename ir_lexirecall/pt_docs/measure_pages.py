"""The pages of the measures, made from what ``irl.describe`` says of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import ir_lexirecall as irl
from ir_lexirecall.descriptions import Description
from ir_lexirecall.descriptions.describing import entries
from ir_lexirecall.measures.declaration import REGISTRY
from ir_lexirecall.pt_docs import drawings

HERE = Path(__file__).parent


def write_missing() -> None:
    """Write the files of measures that have none yet: they name the module that ``pages.py`` makes, for PyTerrier's documentation."""
    for name in dict.fromkeys(measure.NAME for measure in REGISTRY.values()):
        path = HERE / "measures" / f"{name}.rst"
        if not path.exists():
            path.write_text(
                f"{name}\n{'=' * len(name)}\n\n.. automodule:: ir_lexirecall.pt_docs.pages.{name}\n   :no-index:\n",
                "utf-8",
            )


def page(name: str) -> str:
    title = f"{name}: {irl.describe(name).title}"
    return f"{title}\n{'=' * len(title)}\n\n{body(name, section)}"


def section(title: str) -> str:
    """A heading below that of the page."""
    return f"{title}\n{'-' * len(title)}"


def rubric(title: str) -> str:
    """A heading where docstrings may not have sections."""
    return f".. rubric:: {title}"


def body(name: str, heading: Callable[[str], str]) -> str:
    """What stands below the title of a measure's page."""
    about = irl.describe(name)
    aliases = f" Also called ``{'``, ``'.join(about.aliases)}``." if about.aliases else ""
    direction = " **Smaller is better.**" if REGISTRY[name].SMALLER_IS_BETTER else ""
    parts = [
        f"{about.meaning}{direction}{aliases}",
        displayed(formula(name, about)) if about.formula else "",
        "\n".join(f"- {typeset(symbol)}" for symbol in split(about.symbols)),
        drawing(name),
        at_a_glance(about),
        heading("By hand"),
        f"{about.example or ''}",
        in_python(about),
        heading("Parameters"),
        parameters(name, about),
        heading("Source"),
        about.source.line,
        block("bibtex", about.source.bibtex),
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


def typeset(symbol: str) -> str:
    """A symbol in bold before what it means."""
    letter, colon, meaning = symbol.partition(": ")
    return f"**{letter}**: {meaning}" if colon and len(letter) < 40 else symbol


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
    rows = {"Values": about.values, "0 means": about.zero, "Ties": about.ties, "Use it": about.use, "See also": others}
    cells = "\n".join(f"   * - {name}\n     - {text}" for name, text in rows.items() if text)
    return f".. list-table::\n   :stub-columns: 1\n   :widths: 18 82\n\n{cells}"


def link(name: str) -> str:
    """A link to the page of a measure, or to the list of standard ones."""
    if (HERE / "measures" / f"{name}.rst").exists():
        return f":doc:`{name}`"
    return f":doc:`{name} <standard>`"


def in_python(about: Description) -> str:
    """The worked example as code."""
    if about.example is None:
        return ""
    rows = about.example.qrels
    if {row.iteration for row in rows} == {"0"}:
        qrels = '{"q": {' + ", ".join(f'"{row.doc_id}": {row.relevance}' for row in rows) + "}}"
        imports = "import ir_lexirecall as irl"
    else:
        lines = [
            ", ".join(f'("q", "{r.doc_id}", {r.relevance}, "{r.iteration}")' for r in rows[i : i + 2])
            for i in range(0, len(rows), 2)
        ]
        listed = "".join(f"    {line},\n" for line in lines)
        qrels = f'pd.DataFrame([\n{listed}], columns=["query_id", "doc_id", "relevance", "iteration"])'
        imports = "import pandas as pd\nimport ir_lexirecall as irl"
    run = ", ".join(f'"{doc}": {score:g}' for doc, score in about.example.run["q"].items())
    code = (
        f'{imports}\n\nmeasure = "{about.example.measure}"\nqrels = {qrels}\nrun = {{"q": {{{run}}}}}  # scores\n'
        f"irl.evaluate(measure, qrels, run)  # {about.example.value:.4g}"
    )
    return block("python", code)


def parameters(name: str, about: Description) -> str:
    """The measure's signature and a row for each parameter."""
    declared = REGISTRY[name].SUPPORTED_PARAMS
    signature = ", ".join(p if d.required else f"{p}={d.default!r}" for p, d in declared.items())
    rows = "\n".join(
        f"   * - ``{parameter.name}``\n     - {literal(parameter.default)}\n     - {escape(parameter.meaning)} ({escape(parameter.allowed)})"
        for parameter in about.parameters
    )
    table = f".. list-table::\n   :header-rows: 1\n   :widths: 16 16 68\n\n   * - Parameter\n     - Default\n     - Meaning\n{rows}"
    return f".. py:class:: {name}(*, {signature})\n   :module: ir_lexirecall\n\n{table}"


def literal(text: str) -> str:
    """A default as code, words as words."""
    return text if text in ("required", "none") else f"``{text}``"


def escape(text: str) -> str:
    """Text that reStructuredText takes as it is."""
    return re.sub(r"([*_`|\\])", r"\\\1", text)


def block(language: str, text: str) -> str:
    indented = "\n".join(f"   {line}".rstrip() for line in text.strip().splitlines())
    return f".. code-block:: {language}\n\n{indented}" if text else ""


def table_of_ours() -> str:
    """All measures of this library, a row each."""
    rows = []
    for path in sorted((HERE / "measures").glob("*.rst"), key=lambda path: path.stem.lower()):
        if path.stem not in ("index", "standard"):
            about = irl.describe(path.stem)
            rows.append(f"   * - :doc:`{path.stem}`\n     - {escape(about.use)}")
    return (
        ".. list-table::\n   :header-rows: 1\n   :class: stacked\n   :widths: 40 60\n\n   * - Measure\n     - Use it\n"
        + "\n".join(rows)
    )


def standard() -> str:
    """The measures of ir_measures, a section each."""
    parts = []
    for name in sorted(standard_names(), key=str.lower):
        about = irl.describe(name)
        formula = displayed(about.formula) if about.formula else ""
        rows = at_a_glance(about) if about.values else ""
        symbols = "\n".join(f"- {typeset(symbol)}" for symbol in split(about.symbols))
        source = f"Source: {about.source.line}" if about.source.line else ""
        title = f"{name}: {about.title}" if about.title != name else name
        parts += [title, "-" * len(title), "", escape(about.meaning), formula, symbols, rows, source]
    return "\n\n".join(parts).replace("\n\n---", "\n---")


def standard_names() -> set[str]:
    """Names of the measures of ir_measures that are described."""
    return set(entries("measure"))
