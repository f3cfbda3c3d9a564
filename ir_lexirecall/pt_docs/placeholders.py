"""Sphinx extension: put in the pages what is made when they are built, in place of comments ``.. made: NAME``.

``contents``, ``link``: a table of contents of what sphinx-gallery makes of the examples, and a link to one of its pages. ``names``: links
to what a page of the reference describes. ``file``: a file of the checkout. ``picture``, ``output``: a drawing, or what a command prints.
``standard``: what ``irl.describe`` says of the standard measures. ``scripts``: the examples that are no pages. ``papers``: pictures and verdicts of
the scripts of papers. ``coverage``: the table of error rates in short. ``studies``: the studies of measures.
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
from pathlib import Path
from typing import Any

from ir_lexirecall import meta
from ir_lexirecall.meta.records import RECORDS
from ir_lexirecall.pt_docs import commands, drawings, measure_pages

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
PLACE = re.compile(r"^(?P<indent> *)\.\. made: (?P<name>\w+)(?: (?P<argument>.+))?$", re.MULTILINE)
THUMBNAIL = re.compile(r'tooltip="(?P<tooltip>[^"]*)">.*?:alt:\n\n *:doc:`/(?P<page>[^`]+)`', re.DOTALL)


def setup(app: Any) -> dict[str, Any]:
    """Fill the places when a page is read."""
    app.connect("source-read", fill)
    app.connect("autodoc-process-signature", write_defaults)
    app.connect("autodoc-process-docstring", hide_colons, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", show_colons, priority=600)
    app.connect("doctree-read", write_to_nobody)
    app.connect("doctree-read", link_dois)
    app.connect("doctree-read", let_lines_break)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def link_dois(app: Any, doctree: Any) -> None:
    """Make a link of every DOI in a text."""
    from docutils import nodes

    for text in list(doctree.findall(nodes.Text)):
        if isinstance(text.parent, (nodes.reference, nodes.literal, nodes.literal_block, nodes.title)):
            continue
        parts = _DOI.split(str(text))  # every second part is a DOI
        if len(parts) > 1:
            linked = [nodes.reference("", part, refuri=f"https://doi.org/{part}") for part in parts[1::2]]
            texts = [nodes.Text(part) for part in parts[::2]]
            text.parent.replace(
                text, [texts[0], *(node for pair in zip(linked, texts[1:], strict=True) for node in pair)]
            )


def let_lines_break(app: Any, doctree: Any) -> None:
    """Mark outputs whose long lines are LaTeX or sentences, not rows of a table: they may break, so that they are seen whole."""
    from docutils import nodes

    for block in doctree.findall(nodes.literal_block):
        text = block.astext()
        rows = [line for line in text.splitlines() if len(line) > 80 and re.search(r"\S {2,}\S", line)]
        if "\\begin{table}" in text or (block.get("language") == "none" and not rows):
            block["classes"].append("prose")


_DOI = re.compile(r"(?<=\bdoi )(10\.\d{4,}/[^\s,;()]*[^\s,;().])")


def reading_order(file_name: str) -> tuple[int, str]:
    """Where a page stands among the examples: as they are read, further ones by name."""
    name = Path(file_name).stem
    return READ_FIRST.index(name) if name in READ_FIRST else len(READ_FIRST), name


def fill(app: Any, docname: str, source: list[str]) -> None:
    """Replace the comments of a page by what they stand for."""
    if docname == "gallery/index":
        source[0] = THUMBNAIL.sub(thumbnail, source[0]) + SCRIPTS
    if docname == "papers":
        source[0] = source[0].replace(".. made: papers", papers(run=app.config.plot_gallery in (True, "1", "True")))
    source[0] = PLACE.sub(made, source[0])


def papers(*, run: bool) -> str:
    """A section for each script of a paper: what its text says and, where the scripts run, its pictures and verdicts."""
    return "\n".join(paper(script, run=run) for script in sorted((EXAMPLES / "papers").glob("*.py")) if told(script)[0])


def told(script: Path) -> tuple[str, str]:
    """The title and the text of an example that begins with them."""
    title, line, text = (
        *(ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").split("\n", 2),
        "",
        "",
    )[:3]
    return (title, text.strip()) if line and line == "=" * len(title) else ("", "")


def paper(script: Path, *, run: bool) -> str:
    """What a script of a paper tells, draws and concludes; its whole output is a file beside the page."""
    title, text = told(script)
    parts = [title, "-" * len(title), "", text, ""]
    if run:
        folder = HERE / "gallery" / script.stem
        output = folder / f"{script.stem}.txt"
        if not output.exists() or output.stat().st_mtime < script.stat().st_mtime:
            folder.mkdir(parents=True, exist_ok=True)
            output.write_text(printed_by(script, folder), encoding="utf-8")
        for picture in sorted(folder.glob("*.svg")):
            parts += [
                f".. image:: gallery/{script.stem}/{picture.name}",
                f"   :alt: {picture.stem.replace('_', ' ')}",
                "",
            ]
        parts += [
            ".. code-block:: none",
            "   :class: prose",
            "",
            textwrap.indent(differences(output.read_text(encoding="utf-8")), "    "),
            "",
        ]
        parts += [f":download:`The whole output <gallery/{script.stem}/{script.stem}.txt>`,"]
    parts += [f":download:`the script <../../examples/papers/{script.name}>`", ""]
    return "\n".join(parts)


def printed_by(script: Path, folder: Path) -> str:
    """What a script prints; its pictures go into a folder."""
    command = [sys.executable, "-W", "ignore", str(script), "--plots", str(folder)]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "integrations"), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}, cwd=folder)
    if ran.returncode:
        raise ValueError(f"{script}: {ran.stderr}")
    return re.sub(r"^ *drawn: .*\n", "", ran.stdout, flags=re.MULTILINE)


def verdicts(printed: str) -> str:
    """The end of what a paper's script prints: what holds, what differs, and the counts."""
    found = re.search(r"^What (the paper says|holds)", printed, re.MULTILINE)
    return printed[found.start() if found else 0 :].rstrip()


def differences(printed: str) -> str:
    """What a paper's script concludes, without the claims that hold: they are counted."""
    return re.sub(r"^  holds .*\n", "", verdicts(printed), flags=re.MULTILINE)


def coverage(_: str) -> str:
    """The table of error rates, a row for each statement: in how many settings it was measured, from what to what, and where it is off."""
    statements: dict[str, list[list[str]]] = {}
    for row in csv.reader(
        (HERE / "coverage_table.txt").read_text(encoding="utf-8").replace("\n   ", "\n").splitlines()[4:]
    ):
        statements.setdefault(row[0], []).append(row)
    rows = [["Statement", "Settings", "Nominal", "Measured", "Off"]]
    for statement, measured in statements.items():
        shares = sorted(row[3] for row in measured)
        off = [f"{row[1]}: {row[3]}" for row in measured if row[5].startswith("off")]
        between = shares[0] if shares[0] == shares[-1] else f"{shares[0]} to {shares[-1]}"
        rows.append([statement, str(len(measured)), measured[0][2], between, "; ".join(off)])
    cells = "\n".join("   * - " + "\n     - ".join(row) for row in rows)
    return f".. list-table::\n   :header-rows: 1\n   :widths: 30 9 9 16 36\n\n{cells}"


def scripts(_: str) -> str:
    """The examples that are no pages of their own, to download, each with its title or first line."""
    listed = []
    for folder in (".", "recipes"):
        for script in sorted((EXAMPLES / folder).glob("*.py")):
            text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
            first = " ".join((told(script)[0] or text.split("\n\n")[0]).split())
            path = os.path.relpath(script, HERE / "gallery")
            listed.append(f"- :download:`{script.name} <{path}>`: {first}")
    return "\n".join(listed)


def thumbnail(place: re.Match[str]) -> str:
    """A small picture with the text of the large one; its tooltip without the words that lead to a list or code."""
    page = (HERE / f"{place['page']}.rst").read_text(encoding="utf-8")
    told = re.search(r":alt: (.+)", page)
    lead = re.sub(r", doi [^)\s]+|\s*::$|[^.?]*\bYou will \w+(?: that)?$", "", place["tooltip"])
    short = re.match(r".{,240}[.?)](?= |$)", lead)
    return (
        place[0]
        .replace(place["tooltip"], short[0] if short else lead)
        .replace(":alt:", f":alt: {told[1] if told else ''}")
    )


def write_to_nobody(app: Any, doctree: Any) -> None:
    """Make text again of what docutils takes for addresses of mail: measures with cutoffs."""
    from docutils import nodes

    for link in list(doctree.findall(nodes.reference)):
        if link.get("refuri", "").startswith("mailto:"):
            link.replace_self(nodes.Text(link.astext()))


def made(place: re.Match[str]) -> str:
    """What a comment stands for, as far to the right as the comment."""
    return textwrap.indent(MAKERS[place["name"]](place["argument"] or ""), place["indent"])


def write_defaults(
    app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """Write defaults that no source code can name, made anew for each object, as ``...``: signatures are Python then."""
    return signature and re.sub(r"<factory>|<object object>|<function [\w.]+(<lambda>)?>", "...", signature), returned


def hide_colons(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep napoleon from taking what stands before a colon for the type of a property or constant."""
    if what in ("attribute", "data", "property"):
        lines[:] = [line.replace(":", HIDDEN_COLON) for line in lines]


def show_colons(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Undo ``hide_colons``."""
    lines[:] = [line.replace(HIDDEN_COLON, ":") for line in lines]


def contents(argument: str) -> str:
    """A table of contents, ``Title:page`` by ``Title:page``, that shows in the navigation only."""
    entries = (entry.partition(":") for entry in argument.split())
    return "\n".join([".. toctree::", "   :hidden:", "", *(f"   {title} <{page}>" for title, _, page in entries)])


def link(argument: str) -> str:
    """A link to a page that only this build has, ``page Title of several words``."""
    page, _, title = argument.partition(" ")
    return f":doc:`{title} <{page}>`"


def file(argument: str) -> str:
    """A file of the checkout, ``NAME from SECTION to SECTION``: up to that one, or to ``END``."""
    name, *sections = re.split(" (?:from|to) ", argument)
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    first, last = ([*lines, "## END"].index(f"## {section}") for section in sections)
    return (
        f".. include:: ../../{name}\n   :parser: myst_parser.sphinx_\n   :start-line: {first}\n   :end-line: {last}\n"
    )


def picture(name: str) -> str:
    """A picture that is drawn now, from the embedded collection."""
    drawing = drawings.DRAWINGS[name]()
    return measure_pages.figure(drawing.inline(name), drawing.text + ".")


def output(command: str) -> str:
    """What a command prints, run on the files of the embedded collection."""
    return measure_pages.block("text", commands.output(command))


def names(page: str) -> str:
    """Links to everything that a page of the reference describes."""
    text = PLACE.sub(made, (HERE / "api" / f"{page}.rst").read_text(encoding="utf-8"))
    described = re.findall(r"^\.\. auto\w+:: (\S+)", text, re.MULTILINE)
    return " · ".join(f":py:obj:`{'~' * name.startswith('ir_lexirecall.')}{name}`" for name in described)


def studies(_: str) -> str:
    """What each study of measures finds, and a link to it, from their records."""
    rows = [".. list-table::", "   :widths: 65 35", ""]
    for name, record in RECORDS.items():
        if hasattr(meta, name):
            rows += [f"   * - {record.title}", f"     - :func:`~ir_lexirecall.meta.{name}`"]
        elif hasattr(meta.Study, name):
            rows += [f"   * - {record.title}", f"     - :meth:`Study.{name}() <ir_lexirecall.meta.Study.{name}>`"]
    return "\n".join(rows) + "\n"


MAKERS: dict[str, Callable[[str], str]] = {
    "contents": contents,
    "coverage": coverage,
    "file": file,
    # Of integrations whose frameworks need not be there.
    "frameworks": lambda _: (HERE / "api" / "integrations.txt").read_text(encoding="utf-8"),
    "link": link,
    "names": names,
    "output": output,
    "picture": picture,
    "scripts": scripts,
    "standard": lambda _: measure_pages.standard(),
    "studies": studies,
}
