"""The pages inside PyTerrier's documentation: copied from the package, with its settings and none of this project's extensions."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

import ir_lexirecall as irl
from ir_lexirecall.pt_docs import pages

pytestmark = pytest.mark.slow

PAGES = Path(__file__).parents[2] / "ir_lexirecall" / "pt_docs"
MEASURES = [(page, name) for page, names in pages.families().items() for name in names]
CONF = """
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_design", "myst_parser"]
source_suffix = [".rst", ".md"]
autodoc_typehints = "description"
autoclass_content = "both"
autodoc_inherit_docstrings = False
autodoc_default_options = {"member-order": "bysource"}
autodoc_mock_imports = ["lenskit", "pyspark", "sentence_transformers", "torch"]
exclude_patterns = ["**/gallery"]
html_theme = "basic"
project = "a host"
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The built site, and what Sphinx said."""
    for name in ("sphinx", "sphinx_design", "myst_parser", "matplotlib", "pyterrier"):
        pytest.importorskip(name)
    docs, site = tmp_path_factory.mktemp("docs"), tmp_path_factory.mktemp("site")
    (docs / "conf.py").write_text(CONF, encoding="utf-8")
    (docs / "index.rst").write_text(
        "A host\n======\n\n.. toctree::\n\n   ext/ir-lexirecall/index\n",
        encoding="utf-8",
    )
    shutil.copytree(
        PAGES,
        docs / "ext" / "ir-lexirecall",
        ignore=shutil.ignore_patterns("gallery", "__pycache__"),
    )
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(docs), str(site)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, ran.stderr
    return site / "ext" / "ir-lexirecall", ran.stderr


def test_the_pages_build_without_a_warning(built: tuple[Path, str]) -> None:
    _, said = built
    types = "more than one target found for cross-reference 'measures'"  # words before the first colon of Returns
    assert [
        line
        for line in said.splitlines()
        if re.search("WARNING|ERROR", line) and types not in line
    ] == []


@pytest.mark.parametrize(("page", "name"), MEASURES, ids=[name for _, name in MEASURES])
def test_a_measure_has_its_whole_section(
    built: tuple[Path, str], page: str, name: str
) -> None:
    html = (built[0] / "measures" / f"{page}.html").read_text(encoding="utf-8")
    section = html[
        html.index(f'id="measure-{name.lower().replace("_", "-")}"') :
    ].split("</section>")[0]
    text = " ".join(unescape(re.sub(r"<[^>]+>", "", section)).split())
    about = irl.describe(name)
    assert text.count("By hand") == 1
    assert '<svg class="drawn"' in section
    assert "Grades" in text
    assert f"Source: {about.source.line[:20]}" in text
    assert f"{{{about.source.key}," in unescape(re.sub(r"<[^>]+>", "", html))
    for parameter in about.parameters:
        assert parameter.name.removeprefix("@") in text
    assert "math" in section or not about.formula


def test_the_start_page_shows_the_overview(built: tuple[Path, str]) -> None:
    assert "overview-one-light.svg" in (built[0] / "index.html").read_text(
        encoding="utf-8"
    )
