"""Sphinx extension: put in the pages what is made when they are built.

It replaces comments ``.. made: NAME``. ``contents``, ``link``: a table of contents of what
sphinx-gallery makes of the examples, and a link to one of its pages. ``names``: links to what a
page of the reference describes. ``file``: a file of the checkout. ``picture``, ``output``: a
drawing, or what a command prints. ``standard``: what ``irl.describe`` says of the standard
measures. ``scripts``: the examples that are no pages. ``papers``: pictures and verdicts of the
scripts of papers. ``coverage``: the table of error rates in short. ``studies``: the studies of
measures.

It also writes formulas as MathML, which browsers draw themselves, without scripts or fonts from
elsewhere.
"""

from __future__ import annotations

import ast
import csv
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ir_lexirecall import meta
from ir_lexirecall.meta.records import RECORDS
from ir_lexirecall.present.text import gathered
from ir_lexirecall.pt_docs import commands, drawings, pages

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "examples"
READ_FIRST = (
    "pyterrier_pipelines",
    "mteb_predictions",
    "lenskit_movielens",
    "systematic_reviews",
    "several_collections",
    "missing_judgments",
    "proposing_a_measure",
)
SCRIPTS = """

Scripts and recipes
-------------------

Scripts to run and to change, and metrics for other frameworks to copy:

.. made: scripts
"""
HIDDEN_COLON = "\ue000"
PLACE = re.compile(
    r"^(?P<indent> *)\.\. made: (?P<name>\w+)(?: (?P<argument>.+))?$", re.MULTILINE
)
THUMBNAIL = re.compile(
    r'tooltip="(?P<tooltip>[^"]*)">.*?:alt:\n\n *:doc:`/(?P<page>[^`]+)`', re.DOTALL
)
DOI = re.compile(r"(?<=\bdoi )(10\.\d{4,}/[^\s,;()]*[^\s,;().])")


def setup(app: Any) -> dict[str, Any]:
    """Fill the places when a page is read; register the renderer ``mathml``."""
    app.connect("source-read", fill)
    app.connect("autodoc-process-signature", write_defaults)
    # Around napoleon, which would take what stands before a colon for the type of a property or
    # constant.
    app.connect(
        "autodoc-process-docstring",
        partial(change_colons, old=":", new=HIDDEN_COLON),
        priority=400,
    )
    app.connect(
        "autodoc-process-docstring",
        partial(change_colons, old=HIDDEN_COLON, new=":"),
        priority=600,
    )
    app.connect("doctree-read", finish)
    inline, block = (
        partial(mathml, tag=tag, name=name)
        for tag, name in (("span", "math"), ("div", "math-block"))
    )
    app.add_html_math_renderer(
        "mathml", inline_renderers=(inline, None), block_renderers=(block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def reading_order(file_name: str) -> tuple[int, str]:
    """Return where a page stands among the examples: as they are read, further ones by name."""
    name = Path(file_name).stem
    return READ_FIRST.index(name) if name in READ_FIRST else len(READ_FIRST), name


# -- what Sphinx calls -----------------------------------------------------------------------------


def fill(app: Any, docname: str, source: list[str]) -> None:
    """Replace the comments of a page by what they stand for."""
    if docname == "gallery/index":
        source[0] = THUMBNAIL.sub(thumbnail, source[0]) + SCRIPTS
    if docname == "papers":
        run = app.config.plot_gallery in (True, "1", "True")
        papers = []
        for script in sorted((EXAMPLES / "papers").glob("*.py")):
            if told(script)[0]:
                papers.append(paper(script, run=run))
        source[0] = source[0].replace(".. made: papers", "\n".join(papers))
    source[0] = PLACE.sub(made, source[0])


def write_defaults(
    app: Any,
    what: str,
    name: str,
    thing: Any,
    options: Any,
    signature: Any,
    returned: Any,
) -> Any:
    """Write ``...`` for defaults that source code cannot name, as they are made for each object.

    Signatures are valid Python then.
    """
    return signature and re.sub(
        r"<factory>|<object object>|<function [\w.]+(<lambda>)?>", "...", signature
    ), returned


def change_colons(
    app: Any,
    what: str,
    name: str,
    thing: Any,
    options: Any,
    lines: list[str],
    *,
    old: str,
    new: str,
) -> None:
    """Write the colons in the docstring of a property or constant in another way."""
    if what in ("attribute", "data", "property"):
        lines[:] = [line.replace(old, new) for line in lines]


def finish(app: Any, doctree: Any) -> None:
    """Make links of DOIs and let outputs break that are not tables.

    Text that docutils mistakes for addresses of mail becomes text again.
    """
    from docutils import nodes

    for link in list(doctree.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):  # a measure with its cutoff
            link.replace_self(nodes.Text(link.astext()))
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(
            text.parent,
            (nodes.reference, nodes.literal, nodes.literal_block, nodes.title),
        ):
            parts: list[Any] = DOI.split(str(text))  # every second part is a DOI
            parts[::2] = map(nodes.Text, parts[::2])
            parts[1::2] = [
                nodes.reference("", doi, refuri=f"https://doi.org/{doi}")
                for doi in parts[1::2]
            ]
            text.parent.replace(text, parts)
    # Long lines of LaTeX or sentences are seen whole.
    for block in doctree.findall(nodes.literal_block):
        text = block.astext()
        rows = []
        for line in text.splitlines():
            if len(line) > 80 and re.search(r"\S {2,}\S", line):
                rows.append(line)
        if "\\begin{table}" in text or (block.get("language") == "none" and not rows):
            block["classes"].append("prose")


def mathml(writer: Any, node: Any, tag: str, name: str) -> None:
    """Write a formula, within a line or alone."""
    from docutils.nodes import SkipNode
    from docutils.utils.math import MathError
    from docutils.utils.math.latex2mathml import tex2mathml

    try:
        written = str(tex2mathml(node.astext(), as_block=tag == "div"))
    except MathError as error:
        raise ValueError(
            f"formula {node.astext()!r} at {node.source}:{node.line}: {error}"
        ) from error
    # As in LaTeX without \left.
    written = re.sub(r"<mo>([{}|\[\]])</mo>", r'<mo stretchy="false">\1</mo>', written)
    writer.body.append(f'<{tag} class="{name}">{written}</{tag}>')
    raise SkipNode


# -- examples --------------------------------------------------------------------------------------


def told(script: Path) -> tuple[str, str]:
    """Return title and text of an example; without a title, its first paragraph is the text."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
    titled = re.match(r"(.+)\n(=+)\n(.*)", text, re.DOTALL)
    if titled:
        return (titled[1], titled[3].strip())
    return ("", text.split("\n\n")[0])


def paper(script: Path, *, run: bool) -> str:
    """Return a section for a script of a paper.

    It has the text of the script and, if the scripts run, pictures and verdicts.
    """
    title, text = told(script)
    parts = [title, "-" * len(title), "", text, ""]
    if run:
        folder = HERE / "gallery" / script.stem
        output = folder / f"{script.stem}.txt"
        if not output.exists() or output.stat().st_mtime < script.stat().st_mtime:
            folder.mkdir(parents=True, exist_ok=True)
            command = [
                sys.executable,
                "-W",
                "ignore",
                str(script),
                "--plots",
                str(folder),
            ]
            paths = os.pathsep.join(
                [
                    str(ROOT),
                    str(ROOT / "integrations"),
                    os.environ.get("PYTHONPATH", ""),
                ]
            )
            environment = os.environ | {"PYTHONPATH": paths}
            ran = subprocess.run(
                command, capture_output=True, text=True, env=environment, cwd=folder
            )
            if ran.returncode:
                raise ValueError(f"{script}: {ran.stderr}")
            output.write_text(
                re.sub(r"^ *drawn: .*\n", "", ran.stdout, flags=re.MULTILINE),
                encoding="utf-8",
            )
        for picture in sorted(folder.glob("*.svg")):
            shown = picture.stem.replace("_", " ")
            parts += [
                f".. image:: gallery/{script.stem}/{picture.name}",
                f"   :alt: {shown}",
                "",
            ]
        # Claims that hold or cannot be decided are only counted here; the whole output lists them.
        concluded = re.sub(
            r"^  (holds|cannot tell) .*\n",
            "",
            verdicts(output.read_text(encoding="utf-8")),
            flags=re.MULTILINE,
        )
        parts += [
            ".. code-block:: none",
            "   :class: prose",
            "",
            textwrap.indent(concluded, "    "),
            "",
        ]
        parts += [
            f":download:`The whole output <gallery/{script.stem}/{script.stem}.txt>`,"
        ]
    parts += [f":download:`the script <../../examples/papers/{script.name}>`", ""]
    return "\n".join(parts)


def verdicts(printed: str) -> str:
    """Return the end of what a paper's script prints: what holds, what differs, and the counts.

    Of a study with a confirmation, that is what was declared for it and what came out.
    """
    for beginning in ("Declared before", "What (the paper says|holds)"):
        if match := re.search(rf"^{beginning}", printed, re.MULTILINE):
            return printed[match.start() :].rstrip()
    return printed.rstrip()


def thumbnail(place: re.Match[str]) -> str:
    """Return a small picture with the text of the large one.

    Its tooltip is without the words that lead to a list or code.
    """
    alt = re.search(
        r":alt: (.+)", (HERE / f"{place['page']}.rst").read_text(encoding="utf-8")
    )
    lead = re.sub(
        r", doi [^)\s]+|\s*::$|[^.?]*\bYou will \w+(?: that)?$", "", place["tooltip"]
    )
    short = re.match(r".{,240}[.?)](?= |$)", lead)
    label = place[0].replace(place["tooltip"], short[0] if short else lead)
    return label.replace(":alt:", f":alt: {alt[1] if alt else ''}")


# -- what stands in for a comment ------------------------------------------------------------------


def made(place: re.Match[str]) -> str:
    """Return what a comment stands for, as far to the right as the comment."""
    return textwrap.indent(
        MAKERS[place["name"]](place["argument"] or ""), place["indent"]
    )


def coverage(_: str) -> str:
    """Return the table of error rates, a row for each statement.

    A row says in how many settings the rate was measured, its range, and where it is off.
    """
    table = (
        (HERE / "coverage_table.txt").read_text(encoding="utf-8").replace("\n   ", "\n")
    )
    statements = gathered((row[0], row) for row in csv.reader(table.splitlines()[4:]))
    rows = [["Statement", "Settings", "Nominal", "Measured", "Off"]]
    for statement, measured in statements.items():
        shares = sorted(row[3] for row in measured)
        off = [f"{row[1]}: {row[3]}" for row in measured if row[5].startswith("off")]
        if shares[0] == shares[-1]:
            between = shares[0]
        else:
            between = f"{shares[0]} to {shares[-1]}"
        rows.append(
            [statement, str(len(measured)), measured[0][2], between, "; ".join(off)]
        )
    return pages.list_table(rows, "header-rows", "30 9 9 16 36")


def file(argument: str) -> str:
    """Return a directive that includes a file of the checkout.

    The argument is ``NAME from SECTION to SECTION``: up to that one, or to ``END``.
    """
    name, *sections = re.split(" (?:from|to) ", argument)
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    first, last = ([*lines, "## END"].index(f"## {section}") for section in sections)
    lead = f".. include:: ../../{name}\n   :parser: myst_parser.sphinx_"
    return f"{lead}\n   :start-line: {first}\n   :end-line: {last}\n"


def names(page: str) -> str:
    """Return links to everything that a page of the reference describes."""
    text = PLACE.sub(made, (HERE / "api" / f"{page}.rst").read_text(encoding="utf-8"))
    described = re.findall(r"^\.\. auto\w+:: (\S+)", text, re.MULTILINE)
    return " · ".join(
        f":py:obj:`{'~' * name.startswith('ir_lexirecall.')}{name}`"
        for name in described
    )


def picture(name: str) -> str:
    """Return a picture that is drawn now, from the embedded collection."""
    drawing = drawings.DRAWINGS[name]()
    return pages.figure(drawing.inline(name), drawing.text + ".")


def scripts(_: str) -> str:
    """Return the examples that are not pages of their own, to download.

    Each has its title or first paragraph.
    """
    listed = []
    for script in (
        *sorted(EXAMPLES.glob("*.py")),
        *sorted((EXAMPLES / "recipes").glob("*.py")),
    ):
        title, text = told(script)
        path = os.path.relpath(script, HERE / "gallery")
        listed.append(
            f"- :download:`{script.name} <{path}>`: {' '.join((title or text).split())}"
        )
    return "\n".join(listed)


def studies(_: str) -> str:
    """Return what each study of measures finds, and a link to it, from their records."""
    rows = [".. list-table::", "   :widths: 65 35", ""]
    for name, record in RECORDS.items():
        if hasattr(meta, name):
            link = f":func:`~ir_lexirecall.meta.{name}`"
        elif hasattr(meta.Study, name):
            link = f":meth:`Study.{name}() <ir_lexirecall.meta.Study.{name}>`"
        else:
            continue
        rows += [f"   * - {record.title}", f"     - {link}"]
    return "\n".join(rows) + "\n"


MAKERS: dict[str, Callable[[str], str]] = {
    # In the navigation only.
    "contents": lambda text: re.sub(
        r"(\w+):(\S+)", r".. toctree::\n   :hidden:\n\n   \1 <\2>", text
    ),
    "coverage": coverage,
    "file": file,
    # Of integrations whose frameworks need not be there.
    "frameworks": lambda _: (HERE / "api" / "integrations.txt").read_text(
        encoding="utf-8"
    ),
    # To a page that only this build has.
    "link": lambda text: re.sub(r"(\S+) (.+)", r":doc:`\2 <\1>`", text),
    "names": names,
    "output": lambda command: pages.block("text", commands.output(command)),
    "picture": picture,
    "scripts": scripts,
    "standard": lambda _: pages.standard(),
    "studies": studies,
}
