"""The built pages in a browser: both themes, telephone and desktop. ``.ci/run`` builds them; without them, the tests skip."""

from __future__ import annotations

import ast
import os
import re
import time
from pathlib import Path
from typing import Any

import lxml.html as lxml_html
import pytest
from chromium import Browser

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("IR_LEXIRECALL_SITE", ROOT / "site"))
PAGES = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.rglob("*.html")
    if "_static" not in path.parts
)
REFERENCE = [page for page in PAGES if page.startswith("api/")]
pytestmark = pytest.mark.skipif(
    not PAGES,
    reason="there is no built site: python -m sphinx -b html ir_lexirecall/pt_docs site",
)

WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
MISSING = "[...document.images].filter(i => i.loading != 'lazy' && !(i.complete && i.naturalWidth)).map(i => i.src)"
UNTOLD = """[...document.querySelectorAll('main img, main svg')]
    .filter(i => !(i.alt || i.getAttribute('aria-label') || i.closest('[aria-hidden=true]'))).map(i => i.src || i.outerHTML.slice(0, 80))"""


CLIPPED = """[...document.querySelectorAll('.bd-article pre')].filter(e => e.scrollWidth > e.clientWidth + 1)
    .map(e => e.innerText).filter(text => %s)"""
LATEX = "text.includes('\\\\begin{table}')"
BLACK = """[...document.querySelectorAll('main svg.drawn text, main svg.drawn [id*=text] path, main svg.drawn [id*=text] g')]
    .filter(e => getComputedStyle(e).fill == 'rgb(0, 0, 0)').length"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_opens_without_errors_and_fits(
    browser: Browser, width: int, scheme: str
) -> None:
    wrong: dict[str, Any] = {}
    for page in PAGES:
        browser.open(SITE / page, width, scheme)
        assert browser.js("document.documentElement.dataset.theme") == scheme
        said = browser.seen("Runtime.consoleAPICalled")
        said = [one for one in said if one["type"] in ("error", "warning", "assert")]
        faults = {
            "errors": [
                *browser.seen("Runtime.exceptionThrown", "Log.entryAdded"),
                *said,
            ],
            "wider by": browser.js(WIDER),
            "missing pictures": browser.js(MISSING),
            "pictures without a text": browser.js(UNTOLD),
            "from elsewhere": [
                event["request"]["url"]
                for event in browser.seen("Network.requestWillBeSent")
                if not event["request"]["url"].startswith(("file:", "data:"))
            ],
        }
        if any(faults.values()):
            wrong[page] = {name: fault for name, fault in faults.items() if fault}
    assert wrong == {}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if not page.startswith("api/")]
)
def test_code_and_latex_are_shown_whole_on_a_desktop(
    browser: Browser, page: str
) -> None:
    browser.open(SITE / page)
    assert (
        browser.js(CLIPPED % (LATEX if page.startswith("gallery/") else "true")) == []
    )


@pytest.mark.parametrize("width", [1280, 390])
def test_formulas_are_shown_whole(browser: Browser, width: int) -> None:
    formulas = "[...document.querySelectorAll('.math-block')]"
    cut = {}
    for page in PAGES:
        if page.startswith("measures/"):
            browser.open(SITE / page, width)
            assert page == "measures/index.html" or browser.js(f"{formulas}.length"), (
                page
            )
            cut[page] = browser.js(
                f"{formulas}.filter(e => e.scrollWidth > e.clientWidth + 1).length"
            )
    assert {page: count for page, count in cut.items() if count} == {}


def test_letters_of_drawn_pictures_are_not_black_on_dark_pages(
    browser: Browser,
) -> None:
    browser.open(SITE / "start.html", scheme="dark")
    assert browser.js("document.querySelectorAll('svg.drawn').length") == 2
    assert browser.js(BLACK) == 0


@pytest.mark.parametrize(
    "page", [*REFERENCE, *(page for page in PAGES if page.startswith("measures/"))]
)
def test_signatures_are_python(page: str) -> None:
    for signature in (
        lxml_html.parse(str(SITE / page)).getroot().find_class("sig-object")
    ):
        text = " ".join(
            signature.text_content().removesuffix("#").replace("→", "->").split()
        )
        head, bracket, arguments = re.sub(
            r"^((class|classmethod|static|property) )+", "", text
        ).partition("(")
        ast.parse(f"def f({arguments}: pass" if bracket else head.partition(":")[0])


@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("with_test", "testing.html"),
        ("effort", "measures/diversity.html"),
        ("vaswani", "start.html"),
        ("sign test", "testing.html"),
        ("p-value", "compare.html"),
        ("add a measure", "contributing.html"),
        ("recip_rank", "migrate.html"),
        ("effect size", "compare.html"),
        ("IR_DATASETS_HOME", "start.html"),
        ("max_rel", "api/measures.html"),
    ],
)
def test_the_search_finds_without_a_server(
    browser: Browser, words: str, page: str
) -> None:
    browser.open(SITE / "search.html")
    browser(
        "Page.navigate",
        url=f"{(SITE / 'search.html').as_uri()}?q={words.replace(' ', '+')}",
    )
    deadline = time.monotonic() + 60
    while "finished" not in browser.js(
        "document.querySelector('#search-results')?.innerText ?? ''"
    ):
        assert time.monotonic() < deadline, "the search does not end"
        time.sleep(0.05)
    links = browser.js(
        "[...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    )
    found = [bool(re.search(rf"/{re.escape(page)}(\?|#|$)", link)) for link in links]
    assert any(found), links
    assert found[0] or words != "p-value", (
        links
    )  # not attributes whose names end in value


GALLERY = [
    page
    for page in PAGES
    if page.startswith("gallery/") and not page.endswith("index.html")
]


def test_the_site_is_short() -> None:
    assert len(PAGES) <= 45
    words = {page: words_of(page) for page in PAGES}
    # A third is the reference of functions, a sixth what tutorials and the papers' scripts print.
    assert sum(words.values()) <= 90_000, sorted(
        words.items(), key=lambda item: -item[1]
    )[:10]


def words_of(page: str) -> int:
    """Words of the article of a page, its drawings left out."""
    article = lxml_html.parse(str(SITE / page)).getroot().find_class("bd-article")
    for drawing in (drawing for part in article for drawing in part.iter("svg")):
        drawing.clear()
    return sum(len(part.text_content().split()) for part in article)


def test_there_are_the_tutorials_and_the_papers() -> None:
    assert {Path(page).stem for page in GALLERY} == {
        path.stem for path in ROOT.glob("examples/tutorials/*.py")
    }
    html = (SITE / "papers.html").read_text(encoding="utf-8")
    shared = {
        "aspects",
        "enumerations",
        "further",
        "label_loss",
        "printed",
        "recommenders",
        "systems",
    }
    shared |= {"second_round", "section_6", "unanimity", "worst_cases"}
    for paper in {path.stem for path in ROOT.glob("examples/papers/*.py")} - shared:
        assert re.search(rf'<img alt="[^"]+" src="_images/{paper}', html)
        assert f"/{paper}.txt" in html
        assert f"/{paper}.py" in html


@pytest.mark.parametrize("page", GALLERY)
def test_an_example_has_a_picture_with_a_text_and_a_notebook(page: str) -> None:
    html = (SITE / page).read_text(encoding="utf-8")
    pictures = re.findall(r'<img [^>]*src="[^"]*sphx_glr_[^"]*_\d+\.\w+"(.*?)/>', html)
    assert pictures
    assert all(re.search(r'alt="[^"]+"', attributes) for attributes in pictures)
    for ending in ("py", "ipynb"):
        (link,) = re.findall(rf'href="([^"]*/{Path(page).stem}\.{ending})"', html)
        assert (SITE / page).parent.joinpath(link).is_file()


def test_the_gallery_says_what_its_pages_show() -> None:
    for page in (
        page
        for page in PAGES
        if page.startswith("gallery/") and page.endswith("index.html")
    ):
        html = (SITE / page).read_text(encoding="utf-8")
        told = re.findall(r'tooltip="([^"]*)"', html)
        assert told
        assert [
            text
            for text in told
            if re.search(r"doi |::|You will \w+$", text) or text[-1] not in ".?)"
        ] == []
        pictures = re.findall(r'<img alt="([^"]*)"[^>]*_thumb', html)
        assert len(pictures) == len(told)
        assert [text for text in pictures if not text or "(red)" in text] == []


def test_no_measure_is_taken_for_an_address() -> None:
    assert not [
        page
        for page in PAGES
        if 'href="mailto:' in (SITE / page).read_text(encoding="utf-8")
    ]


def test_dois_are_links() -> None:
    for page in ("measures/diversity.html", "measures/standard.html", *REFERENCE):
        text = re.sub(
            r"<a [^>]*>.*?</a>",
            "",
            (SITE / page).read_text(encoding="utf-8"),
            flags=re.DOTALL,
        )
        assert not re.search(r"doi 10\.", text), page


def test_links_within_the_site_lead_somewhere() -> None:
    broken = []
    anchors = {
        page: set(
            re.findall(r' id="([^"]+)"', (SITE / page).read_text(encoding="utf-8"))
        )
        for page in PAGES
    }
    for page in PAGES:
        for target in re.findall(
            r' href="([^"]+)"', (SITE / page).read_text(encoding="utf-8")
        ):
            path, _, anchor = target.partition("#")
            if re.match(r"\w+:", target) or "?" in path:
                continue
            there = (SITE / page).parent / path if path else SITE / page
            name = os.path.relpath(there, SITE)
            if not there.exists() or (
                anchor and name in anchors and anchor not in anchors[name]
            ):
                broken.append((page, target))
    assert broken == []
