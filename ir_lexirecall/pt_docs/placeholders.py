"""Sphinx extension: put in the pages what is made when they are built, in place of comments ``.. made: NAME``.

``contents``, ``link``: a table of contents of what sphinx-gallery makes of the examples, and a link to one of its pages. ``names``: links
to what a page of the reference describes. ``file``: a file of the checkout. ``picture``, ``output``: a drawing, or what a command prints.
``measures``, ``standard``, and every page of a measure: what ``irl.describe`` says. ``studies``: the studies of measures.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ir_lexirecall import meta
from ir_lexirecall.measures.declaration import REGISTRY
from ir_lexirecall.meta.records import RECORDS
from ir_lexirecall.pt_docs import commands, drawings, measure_pages

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "examples"
NOT_IN_GALLERY = r"(make_demo_runs|recommenders|printed|systems|enumerations|label_loss|further|unanimity)\.py"  # a maker of files; what papers share
SUBSECTIONS = [f"../../examples/{name}" for name in ("tutorials", "papers")]
READ_FIRST = (
    "pyterrier_pipelines",
    "mteb_predictions",
    "lenskit_movielens",
    "several_collections",
    "missing_judgments",
    "proposing_a_measure",
)
HIDDEN_COLON = "\ue000"
PLACE = re.compile(r"^(?P<indent> *)\.\. made: (?P<name>\w+)(?: (?P<argument>.+))?$", re.MULTILINE)
_CODE = re.compile(r"^\.\. code-block:: Python\n(?: +:.*\n)*\n(?:(?: .*)?\n)+", re.MULTILINE)
_OUTPUT = re.compile(
    r"^ *\.\. rst-class:: sphx-glr-script-out\n\n *\.\. code-block:: none\n\n((?:(?: .*)?\n)+)", re.MULTILINE
)
THUMBNAIL = re.compile(r'tooltip="(?P<tooltip>[^"]*)">.*?:alt:\n\n *:doc:`/(?P<page>[^`]+)`', re.DOTALL)


def setup(app: Any) -> dict[str, Any]:
    """Fill the places when a page is read."""
    measure_pages.write_missing()
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
    """Where a page stands in its part of the gallery: tutorials as they are read, other pages by name."""
    name = Path(file_name).stem
    return READ_FIRST.index(name) if name in READ_FIRST else len(READ_FIRST), name


def fill(app: Any, docname: str, source: list[str]) -> None:
    """Replace the comments of a page by what they stand for."""
    folder, _, name = docname.rpartition("/")
    if folder == "measures" and name in REGISTRY:
        source[0] = measure_pages.page(name)
    elif folder == "gallery/papers" and name != "index":
        source[0], output = in_short(source[0], name)
        (HERE / folder / f"{name}.txt").write_text(output, encoding="utf-8")
    elif folder.startswith("gallery") and name == "index":
        source[0] = THUMBNAIL.sub(thumbnail, source[0])
    else:
        source[0] = PLACE.sub(made, source[0])


def in_short(page: str, name: str) -> tuple[str, str]:
    """A page of a paper with its pictures and verdicts, without the code and the rest of the output; and the whole output."""
    printed = "\n".join(textwrap.dedent(text).strip("\n") for text in _OUTPUT.findall(page)) + "\n"
    links = f":download:`The whole output <{name}.txt>`; the script can be downloaded below.\n\n"
    told = f".. code-block:: none\n\n{textwrap.indent(verdicts(printed), '    ')}\n\n" if printed.strip() else ""
    page = _OUTPUT.sub("", _CODE.sub("", page))
    before, footer, after = page.partition(".. rst-class:: sphx-glr-timing")
    return f"{before}{links}{told}{footer}{after}", printed


def verdicts(printed: str) -> str:
    """The end of what a paper's script prints: what holds, what differs, and the counts."""
    found = re.search(r"^What (the paper says|holds)", printed, re.MULTILINE)
    return printed[found.start() if found else 0 :].rstrip()


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
    return signature and re.sub(r"<factory>|<function [\w.]+(<lambda>)?>", "...", signature), returned


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


def file(name: str) -> str:
    """A file of the checkout, without its title."""
    return f".. include:: ../../{name}\n   :parser: myst_parser.sphinx_\n   :start-line: 1\n"


def picture(name: str) -> str:
    """A picture that is drawn now, from the embedded collection."""
    drawing = drawings.DRAWINGS[name]("")
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
    "file": file,
    # Of integrations whose frameworks need not be there.
    "frameworks": lambda _: (HERE / "api" / "integrations.txt").read_text(encoding="utf-8"),
    "link": link,
    "measures": lambda _: measure_pages.table_of_ours(),
    "names": names,
    "output": output,
    "picture": picture,
    "standard": lambda _: measure_pages.standard(),
    "studies": studies,
}
