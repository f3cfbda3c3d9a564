"""Names and texts that would do harm stay texts: on every page, in a notebook, in every format of tables."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall.judging.files import write_pool_csv, write_pool_page

pytest.importorskip("jinja2")

from chromium import Browser, wait_for
from command_line import exit_code
from pages import HOSTILE, QUICK, shuffled

pytestmark = pytest.mark.slow

NAMES = [
    *HOSTILE,
    "\u202eevil\u2066 right to left",
    "=HYPERLINK(0)",
    "'=1+1",
    "+1\t-1\r\n@x",
    "</script><script>window.hit = 1</script>",
    "<svg onload='window.hit=1'>",
    "javascript:window.hit=1",
    "{{ 7 * 7 }}{% raw %}",
    "\x00\x1b[31m",
    "long" * 2500,
]
"""HOSTILE, and what changes directions, calculates in a spreadsheet, runs, or is 10,000 characters long."""

FORMULA = re.compile(r"[=+\-@\t\r]")


@pytest.fixture(scope="module")
def result() -> Any:
    """Return a comparison whose runs, queries, documents, measures and groups have such names."""
    qrels = {
        query: {f"{name}{i}": 1 for i, name in enumerate(NAMES)} for query in NAMES
    }
    runs = {name: shuffled(qrels, seed) for seed, name in enumerate(NAMES)}
    measures = dict.fromkeys(NAMES[:6], "AP") | {"lexirecall": "lexirecall"}
    groups = {query: NAMES[i % 2 + 5] for i, query in enumerate(NAMES)}
    return irl.compare(qrels, runs, measures, groups=groups, test=QUICK)


@pytest.fixture(scope="module")
def pages(result: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the pages that show these names: report, page to judge, cells of a notebook."""
    folder = tmp_path_factory.mktemp("pages")
    texts = dict.fromkeys(
        (f"{name}{i}" for i, name in enumerate(NAMES)), " ".join(NAMES)
    )
    queries = dict(zip(NAMES, NAMES[::-1], strict=True))
    irl.report(
        result,
        folder / "report.html",
        title=" ".join(NAMES),
        command=NAMES[0],
        texts=texts,
        queries=queries,
        inputs=dict(zip(NAMES, NAMES, strict=True)),
        progress=False,
    )
    write_pool_page(
        to_judge(),
        folder / "pool.html",
        texts=texts,
        queries=queries,
        labels=["no", NAMES[0]],
        title=NAMES[1],
    )
    notebook = "<hr>".join(part._repr_html_() for part in (result,))
    (folder / "notebook.html").write_text(
        f"<!DOCTYPE html><meta charset=utf-8><body>{notebook}",
        encoding="utf-8",
        errors="replace",
    )
    return {path.stem: path for path in folder.iterdir()}


def to_judge() -> pd.DataFrame:
    """Return a table of documents to judge with such names."""
    return pd.DataFrame(
        {
            "query_id": NAMES,
            "doc_id": NAMES[::-1],
            "decides": 1.0,
            "runs": 1,
            f"rank_{NAMES[4]}": 1,
        }
    )


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("page", ["report", "pool", "notebook"])
def test_nothing_runs_and_nothing_breaks_the_layout(
    page: str, width: int, pages: dict[str, Path], browser: Browser
) -> None:
    browser.open(pages[page], width=width)
    wait_for(lambda: browser.js("document.querySelector('.stored') === null"))
    assert browser.js("window.hit === undefined")
    assert (
        browser.js(
            "document.querySelectorAll('[onload], [onerror], [onmouseover]').length"
        )
        == 0
    )
    assert browser.js(
        "[...document.links].every((link) => link.protocol !== 'javascript:')"
    )
    browser.nothing_went_wrong()
    if page != "notebook":  # whose own page scrolls its cells
        assert browser.js("document.documentElement.scrollWidth <= innerWidth")
        text = browser.js("document.body.textContent")
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", text.replace("\u2068", ""))


def test_queries_can_be_browsed(pages: dict[str, Path], browser: Browser) -> None:
    browser.open(pages["report"])
    wait_for(lambda: browser.js("document.getElementById('browser').hidden === false"))
    browser.click("document.getElementById('next')")
    browser.js("document.querySelector('.heatmap td[data-a]').click()")
    assert browser.js("window.hit === undefined")
    assert browser.js("document.documentElement.scrollWidth <= innerWidth")
    browser.nothing_went_wrong()


def cells_of(text: str) -> list[str]:
    """Return all cells of CSV."""
    return [cell for row in csv.reader(io.StringIO(text)) for cell in row]


def is_number(text: str) -> bool:
    """Return whether a text is a number, which a spreadsheet may calculate with."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_no_cell_of_csv_is_a_formula(tmp_path: Path) -> None:
    path = write_pool_csv(
        to_judge(), tmp_path / "pool.csv", texts=dict.fromkeys(NAMES, "=1+1")
    )
    cells = cells_of(path.read_text(encoding="utf-8"))
    assert len(cells) > 5 * len(NAMES)
    assert [cell for cell in cells if FORMULA.match(cell) and not is_number(cell)] == []


def test_tables_of_text_keep_their_rows(result: Any) -> None:
    """A name with line ends, bars or TeX neither adds a row nor a cell."""
    markdown = [
        line for line in result.to_markdown().splitlines() if line.startswith("|")
    ]
    n_bars = {len(re.findall(r"(?<!\\)\|", line)) for line in markdown}
    assert len(n_bars) == 1
    latex = result.to_latex()
    assert "\\frac{{b}" not in latex
    assert "\x1b" not in latex + result.to_markdown() + result.summary()
    assert "\u202e" not in latex + result.to_markdown() + result.summary()


@pytest.mark.parametrize("form", ["table", "tsv", "csv", "json", "markdown", "latex"])
def test_every_format_of_the_command_line(
    form: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    qrels = {query: {f"d{i}": 1 for i in range(3)} for query in NAMES}
    words = ["compare", str(tmp_path / "qrels.json")]
    Path(words[1]).write_text(json.dumps(qrels), encoding="utf-8")
    for seed, name in enumerate(["<script>window.hit=1<", "=1+1", "_{a}%s$\x1b[31m"]):
        words.append(str(tmp_path / f"{name}.json"))
        Path(words[-1]).write_text(json.dumps(shuffled(qrels, seed)), encoding="utf-8")
    code = exit_code(*words, "-m", "AP", "--format", form)
    out, err = capfd.readouterr()
    assert code == 0, err
    assert "\x1b[31m" not in out + err
    assert form != "markdown" or "<script>" not in out
    assert form != "latex" or "_{a}" not in out
    if form in ("csv", "tsv"):
        assert [
            c
            for c in cells_of(out.replace("\t", ","))
            if FORMULA.match(c) and not is_number(c)
        ] == []
