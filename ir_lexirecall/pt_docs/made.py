"""Sphinx extension: put in the pages what is made when they are built, in place of comments ``.. made: NAME``.

``gallery``, ``tutorials``: tables of contents of what sphinx-gallery makes of the examples. ``changelog``, ``contributing``:
the files of the checkout.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "examples"
NOT_IN_GALLERY = r"__init__\.py|conftest\.py|printed\.py|make_demo_runs\.py|lenskit_recommenders\.py"
SUBSECTIONS = [f"../../examples/{name}" for name in ("tutorials", "papers")]
HIDDEN_COLON = "\ue000"
PLACE = re.compile(r"^\.\. made: (?P<name>\w+)(?: (?P<argument>.+))?$", re.MULTILINE)


def setup(app: Any) -> dict[str, Any]:
    """Fill the places when a page is read."""
    app.connect("source-read", fill)
    app.connect("autodoc-process-docstring", hide_colons, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", show_colons, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def fill(app: Any, docname: str, source: list[str]) -> None:
    """Replace the comments of a page by what they stand for."""
    source[0] = PLACE.sub(lambda place: MAKERS[place["name"]](place["argument"]), source[0])


def hide_colons(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep napoleon from taking what stands before a colon for the type of a property or constant."""
    if what in ("attribute", "data", "property"):
        lines[:] = [line.replace(":", HIDDEN_COLON) for line in lines]


def show_colons(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Undo ``hide_colons``."""
    lines[:] = [line.replace(HIDDEN_COLON, ":") for line in lines]


def contents(argument: str) -> str:
    """A table of contents that is not shown on the page, but in the navigation."""
    return "\n".join([".. toctree::", "   :hidden:", "", *(f"   {page}" for page in argument.split())])


def changelog(_: str) -> str:
    """The file of the checkout, without its title."""
    return ".. include:: ../../CHANGELOG.md\n   :parser: myst_parser.sphinx_\n   :start-line: 1\n"


def picture(name: str) -> str:
    """A picture that is drawn now."""
    return ""


MAKERS = {"frameworks": lambda _: "", "contents": contents, "changelog": changelog, "picture": picture}
