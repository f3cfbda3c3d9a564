"""The HTML report in headless Chromium: it fits, sorts, saves, browses, prints, obeys the keyboard and loads nothing."""

from __future__ import annotations

import base64
import csv
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.comparison import Comparison

pytest.importorskip("jinja2")
pytest.importorskip("lxml.html")

from chromium import Browser, wait_for
from pages import HOSTILE, QUICK, hostile_comparison, shuffled

pytestmark = pytest.mark.sparse

RUNS = {name: demo.run(name) for name in ("bm25", "ql", "overlap")}


@pytest.fixture(scope="module")
def result() -> Comparison:
    return irl.compare(
        "lexirecall/demo", RUNS, ["lexirecall", "nDCG@10", "LR", "rpp", "AP"]
    )


@pytest.fixture(scope="module")
def file(result: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    return irl.report(result, path, runs=RUNS, title="Three runs")


@pytest.fixture(scope="module")
def opposed() -> Comparison:
    """Three random runs, of which criteria often prefer different ones."""
    qrels = {f"q{i}": {f"d{j}": 1 + j % 2 for j in range(2 + i % 5)} for i in range(40)}
    runs = {f"run{seed}": shuffled(qrels, seed) for seed in range(3)}
    return irl.compare(qrels, runs, ["lexirecall", "nDCG@10", "LR", "rpp", "AP"])


@pytest.fixture(scope="module")
def opposed_file(opposed: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return irl.report(
        opposed, tmp_path_factory.mktemp("opposed") / "report.html", progress=False
    )


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """17 runs, 136 pairs, 100 queries."""
    qrels = {f"q{i}": {f"d{i}-{j}": 1 for j in range(10)} for i in range(100)}
    runs = {f"run{seed}": shuffled(qrels, seed) for seed in range(17)}
    result = irl.compare(
        qrels, runs, ["LR", "AP", "nDCG@10", "RR", "lexirecall", "rpp"]
    )
    return irl.report(
        result,
        tmp_path_factory.mktemp("many") / "report.html",
        runs=runs,
        progress=False,
    )


@pytest.fixture(scope="module")
def default(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All runs of the demonstration by the default measures: as many columns of leading groups as there are."""
    result = irl.benchmark("lexirecall/demo", demo.runs())
    return irl.report(
        result,
        tmp_path_factory.mktemp("default") / "report.html",
        runs=demo.runs(),
        progress=False,
    )


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ids = sorted(demo.qrels()["query_id"].unique())
    parts = {
        f"part {i}": demo.qrels()[demo.qrels()["query_id"].isin(ids[i::2])]
        for i in range(2)
    }
    result = irl.benchmark(
        parts, dict.fromkeys(parts, RUNS), ["LR"], baseline="bm25", test=QUICK
    )
    return irl.report(result, tmp_path_factory.mktemp("suite") / "report.html")


def open_page(
    browser: Browser, file: Path, width: int = 1280, scheme: str = "light"
) -> None:
    """Show a report, and wait until its query browser (if it has one) is there."""
    browser.open(file, width, scheme)
    wait_for(lambda: browser.js("!document.getElementById('browser')?.hidden"))


OPEN_ALL = (
    "document.querySelectorAll('details').forEach(details => details.open = true)"
)
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize(
    "page", ["file", pytest.param("many", marks=pytest.mark.slow), "suite", "default"]
)
def test_it_opens_without_errors_or_network_and_fits(
    browser: Browser, page: str, width: int, scheme: str, request: pytest.FixtureRequest
) -> None:
    open_page(browser, request.getfixturevalue(page), width, scheme)
    assert browser.js("innerWidth") == width
    assert browser.js(FITS)
    browser.js(OPEN_ALL)
    assert browser.js(FITS)
    browser.nothing_went_wrong()


@pytest.mark.parametrize("width", [390, 1000, 1280])
def test_the_result_at_a_glance_has_room(
    browser: Browser, default: Path, width: int
) -> None:
    open_page(browser, default, width)
    assert browser.js("document.querySelector('.irl-glance thead tr').cells.length") > 2
    assert (
        browser.js(
            "document.querySelector('.irl-glance').getBoundingClientRect().width"
        )
        >= 300
    )
    assert browser.js(FITS)


def test_collections_of_a_suite_are_browsed_in_turn(
    browser: Browser, suite: Path
) -> None:
    open_page(browser, suite)
    first = shown_query(browser)
    for collection in (1, 0, 1):
        browser.js(
            f"document.getElementById('collection').value = {collection};"
            "document.getElementById('collection').dispatchEvent(new Event('change'))"
        )
        wait_for(
            lambda changed=bool(collection): (shown_query(browser) != first) == changed
        )
        ids = set(browser.js(OPTIONS))
        assert ids == set(sorted(demo.qrels()["query_id"].unique())[collection::2])
    before = shown_query(browser)
    browser.click("document.getElementById('next')")
    assert shown_query(browser) != before
    browser.nothing_went_wrong()


def test_hostile_names_open_fit_and_do_nothing(
    browser: Browser, tmp_path: Path
) -> None:
    hostile = hostile_comparison()
    assert hostile.compared.scored is not None
    texts = dict.fromkeys(hostile.compared.scored.judgments.doc_ids, HOSTILE[0])
    path = irl.report(
        hostile,
        tmp_path / "report.html",
        title=HOSTILE[0],
        command="x" * 300,
        inputs={HOSTILE[0]: HOSTILE[1] * 9},
        runs=hostile.compared.scored.sources,
        texts=texts,
        queries=dict.fromkeys(HOSTILE, HOSTILE[1]),
    )
    open_page(browser, path, 360)
    browser.js(OPEN_ALL)
    assert browser.js(FITS)
    assert (
        browser.js("document.querySelector('#list-a .text').textContent") == HOSTILE[0]
    )
    assert HOSTILE[1] in browser.js("document.querySelector('#query-text').textContent")
    assert (
        browser.js("document.querySelectorAll('#browser img, #browser script').length")
        == 0
    )
    browser.nothing_went_wrong()


# -- accessibility -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, from npm."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm to get axe-core with")
    folder = tmp_path_factory.mktemp("axe")
    command = [
        npm,
        "install",
        "--prefix",
        str(folder),
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "axe-core@4",
    ]
    got = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if got.returncode:
        pytest.skip(f"axe-core cannot be got from npm: {got.stderr.strip()[-200:]}")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(
        encoding="utf-8"
    )


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("page", ["file", "suite"])
def test_axe_finds_nothing(
    browser: Browser,
    page: str,
    width: int,
    scheme: str,
    axe: str,
    request: pytest.FixtureRequest,
) -> None:
    open_page(browser, request.getfixturevalue(page), width, scheme)
    browser.js(OPEN_ALL)
    browser.js(axe + "; undefined")
    answer = browser(
        "Runtime.evaluate",
        expression="axe.run().then(found => JSON.stringify(found.violations.map(violation => "
        "[violation.id, violation.impact, violation.nodes.slice(0, 3).map(node => node.html.slice(0, 200))])))",
        awaitPromise=True,
        returnByValue=True,
    )
    assert answer["result"]["value"] == "[]"


COLOURS = """
[...document.querySelectorAll("h1, p, a, caption, dt, code, thead button, tbody th, td, svg text")].map(element => {
  const style = getComputedStyle(element);
  let ground = element;
  while (ground && getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") ground = ground.parentElement;
  return [element.localName === "text" ? style.fill : style.color, getComputedStyle(ground ?? document.body).backgroundColor];
})
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_heatmaps_and_pictures_too(
    browser: Browser, file: Path, scheme: str
) -> None:
    open_page(browser, file, scheme=scheme)
    colours = {tuple(pair) for pair in browser.js(COLOURS)}
    assert len(colours) >= 10
    for text, ground in colours:
        assert contrast(text, ground) >= 4.5, (text, ground)
    assert (
        luminance(browser.js("getComputedStyle(document.body).backgroundColor")) > 0.5
    ) == (scheme == "light")


def luminance(colour: str) -> float:
    """Relative luminance as the Web Content Accessibility Guidelines define it."""
    numbers = np.array(list(map(float, re.findall(r"[\d.]+", colour)))[:3])
    rgb = numbers if colour.startswith("color(srgb") else numbers / 255
    return float(
        np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        @ [0.2126, 0.7152, 0.0722]
    )


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


# -- tables ------------------------------------------------------------------------------------------

MEANS = (
    "document.querySelector('table[data-file=\"nDCG@10 by query, a column per run\"]')"
)
HEAD = MEANS + ".querySelectorAll('th[scope=col]')[{}]"
COLUMN = f"[...{MEANS}.tBodies[0].rows].map(row => row.cells[{{}}].textContent)"
SORTED = f"[...{MEANS}.querySelectorAll('th[scope=col]')].map(head => head.getAttribute('aria-sort'))"


def test_a_click_on_a_head_sorts(
    browser: Browser, file: Path, result: Comparison
) -> None:
    values = result.per_query("nDCG@10")["bm25"].sort_values(
        ascending=False, kind="stable"
    )
    open_page(browser, file)
    browser.js(OPEN_ALL)
    assert browser.js(SORTED) == [None] * 4
    browser.click(HEAD.format(1))
    assert browser.js(COLUMN.format(0)) == list(values.index)
    assert browser.js(SORTED) == [None, "descending", None, None]
    browser.click(HEAD.format(1))
    assert values[browser.js(COLUMN.format(0))].is_monotonic_increasing
    assert browser.js(SORTED) == [None, "ascending", None, None]
    browser.click(HEAD.format(0))
    assert browser.js(COLUMN.format(0)) == sorted(values.index)
    assert browser.js(SORTED) == ["ascending", None, None, None]
    browser.nothing_went_wrong()


def saved(browser: Browser, name: str, folder: Path) -> list[dict[str, str]]:
    """The rows of a table, saved as CSV."""
    browser.click(
        f"document.querySelector('table[data-file=\"{name}\"]').nextElementSibling"
    )
    path = folder / (re.sub(r"[^\w@.-]+", "-", name)[:80] + ".csv")
    wait_for(path.exists)
    text = wait_for(lambda: path.read_text(encoding="utf-8-sig"))
    assert "−" not in text
    return list(csv.DictReader(text.splitlines()))


def test_tables_are_saved_as_csv_with_all_digits(
    browser: Browser, file: Path, result: Comparison, tmp_path: Path
) -> None:
    open_page(browser, file)
    browser.download_to(tmp_path)
    browser.js(OPEN_ALL)
    means = result.means()
    rows = saved(browser, "Means, a row per criterion and run", tmp_path)
    assert [row["run"] for row in rows] == list(means["run"])
    for column in ("mean", "ci_low", "ci_high"):
        assert [float(row[column]) for row in rows] == list(means[column])
    ranking = result.ranking()
    rows = saved(browser, "ranking by lexirecall", tmp_path)
    assert [row["run"] for row in rows] == list(ranking["run"])
    assert [float(row["mean"]) for row in rows] == list(ranking["mean"])
    against = (
        result.with_baseline(rows[0]["run"]).table("lexirecall").set_index("run_a")
    )
    assert (against["estimate"] < 0).any()
    for row in rows[1:]:
        assert float(row["difference"]) == against.loc[row["run"], "estimate"]
        assert (
            float(row["p_corrected"])
            in result.table("lexirecall")["p_corrected"].tolist()
        )
    matrix = result.matrix("LR")
    for row in saved(browser, "differences by LR", tmp_path):
        assert {b: float(row[b]) for b in matrix if b != row["run"]} == matrix.loc[
            row["run"]
        ].drop(row["run"]).to_dict()
    browser.nothing_went_wrong()


# -- the query browser -------------------------------------------------------------------------------

CHOOSE = "(select => {{ select.value = [...select.options].find(option => option.textContent === {!r}).value; select.dispatchEvent(new Event({!r}, {{bubbles: true}})); }})(document.getElementById({!r}))"
BARS = "[...document.querySelectorAll('#bars [data-q]')].map(bar => bar.querySelector('title').textContent)"
OPTIONS = "[...document.getElementById('query').options].map(option => option.textContent.slice(2).split(':')[0])"


def choose(browser: Browser, element: str, text: str) -> None:
    browser.js(
        CHOOSE.format(text, "input" if element == "winner" else "change", element)
    )


def set_number(browser: Browser, element: str, number: float) -> None:
    browser.js(
        f"(input => {{ input.value = {number}; input.dispatchEvent(new Event('input')); }})(document.getElementById('{element}'))"
    )


def shown_query(browser: Browser) -> str:
    return str(
        browser.js("document.getElementById('query-text').textContent.split(':')[0]")
    )


def test_bars_are_the_queries_sorted_by_the_difference(
    browser: Browser, file: Path, result: Comparison
) -> None:
    open_page(browser, file)
    choose(browser, "run-a", "bm25")
    choose(browser, "run-b", "ql")
    choose(browser, "by", "nDCG@10")
    values = result.per_query("nDCG@10")
    difference = values["bm25"] - values["ql"]
    expected = difference.sort_values(ascending=False, kind="stable")
    shown = [title.split(":")[0] for title in browser.js(BARS)]
    np.testing.assert_array_equal(difference[shown], expected)
    assert browser.js(OPTIONS) == shown
    wins, losses, ties = (
        (difference > 0).sum(),
        (difference < 0).sum(),
        (difference == 0).sum(),
    )
    assert browser.js("document.getElementById('tally').textContent").startswith(
        f"bm25 wins {wins}, ql wins {losses}, {ties} {'tie' if ties == 1 else 'ties'}."
    )


@pytest.mark.parametrize("prefix", ["", "q"])
def test_queries_that_differ_as_much_are_listed_by_number(
    browser: Browser, tmp_path: Path, prefix: str
) -> None:
    queries = [f"{prefix}{number}" for number in range(1, 13)]
    qrels = {q: {"a": 1} for q in queries}
    runs = {
        "x": {q: {"a": 2.0, "b": 1.0} for q in queries},
        "y": {q: {"b": 2.0, "a": 1.0} for q in queries},
    }
    result = irl.compare(qrels, runs, "RR")
    open_page(browser, irl.report(result, tmp_path / "report.html"))
    assert browser.js(OPTIONS) == (sorted(queries) if prefix else queries)


def test_filters_by_size_and_by_relevant_documents(
    browser: Browser, file: Path, result: Comparison
) -> None:
    open_page(browser, file)
    choose(browser, "run-a", "bm25")
    choose(browser, "run-b", "overlap")
    choose(browser, "by", "nDCG@10")
    set_number(browser, "least", 0.3)
    values = result.per_query("nDCG@10")
    large = (values["bm25"] - values["overlap"]).abs() >= 0.3
    assert sorted(browser.js(OPTIONS)) == sorted(large[large].index)
    qrels = demo.qrels()
    relevant = qrels[qrels["relevance"] > 0].groupby("query_id")["doc_id"].nunique()
    set_number(browser, "relevant", 6)
    many = [query for query in large[large].index if relevant[query] >= 6]
    assert sorted(browser.js(OPTIONS)) == sorted(many)
    assert 0 < len(many) < large.sum()
    assert f"{len(many)} of 16 queries match the filter" in browser.js(
        "document.getElementById('tally').textContent"
    )
    set_number(browser, "relevant", 600)
    assert browser.js(OPTIONS) == []
    assert browser.js("document.getElementById('view').hidden")


@pytest.mark.parametrize(
    ("by", "against", "a", "b"),
    [
        ("nDCG@10", "lexirecall", "run0", "run1"),
        ("lexirecall", "AP", "run2", "run0"),
        ("LR", "rpp", "run1", "run2"),
        ("rpp", "nDCG@10", "run2", "run1"),
    ],
)
def test_a_second_criterion_lists_the_queries_on_which_it_prefers_the_other_run(
    browser: Browser,
    opposed_file: Path,
    opposed: Comparison,
    by: str,
    against: str,
    a: str,
    b: str,
) -> None:
    table = opposed.disagreements(by, against, a, b)
    counts = table.attrs["counts"]
    assert len(table) > 1
    open_page(browser, opposed_file)
    choose(browser, "run-a", a)
    choose(browser, "run-b", b)
    choose(browser, "by", by)
    choose(browser, "against", against)
    shown = browser.js(OPTIONS)
    strength = table.set_index("query_id")["strength"]
    assert sorted(shown) == sorted(table["query_id"])
    np.testing.assert_allclose(
        strength[shown], strength
    )  # ties may stand in another order
    assert browser.js("document.getElementById('tally').textContent").startswith(
        f"{by} and {against} prefer different runs on {counts['disagree']} of {counts['queries']} "
        f"queries: {by} prefers {a} on {counts[f'{by} prefers {a}, {against} {b}']} and {b} on "
        f"{counts[f'{by} prefers {b}, {against} {a}']}. They prefer the same run on "
        f"{counts['agree']}."
    )
    winners = table.set_index("query_id").loc[shown[0]]
    verdict = browser.js("document.getElementById('verdict').textContent")
    assert verdict.startswith(f"By {by}, {winners[f'{by} winner']} wins: ")
    assert f"By {against}, {winners[f'{against} winner']} wins: " in verdict
    browser.js("document.getElementById('against').value = '';")
    browser.js("document.getElementById('against').dispatchEvent(new Event('change'))")
    assert len(browser.js(OPTIONS)) == 40
    browser.nothing_went_wrong()


def test_disagreements_can_be_filtered_by_winner_and_end_with_another_first_criterion(
    browser: Browser, opposed_file: Path, opposed: Comparison
) -> None:
    table = opposed.disagreements("AP", "lexirecall", "run0", "run1")
    open_page(browser, opposed_file)
    choose(browser, "run-a", "run0")
    choose(browser, "run-b", "run1")
    choose(browser, "by", "AP")
    choose(browser, "against", "lexirecall")
    choose(browser, "winner", "run1")
    won = table[table["AP winner"] == "run1"]
    assert sorted(browser.js(OPTIONS)) == sorted(won["query_id"])
    choose(browser, "winner", "any")
    choose(browser, "by", "LR")
    assert browser.js("document.getElementById('against').value") == ""
    assert len(browser.js(OPTIONS)) == 40
    browser.nothing_went_wrong()


def ranked(run: Any) -> Any:
    """A run with ranks."""
    run = run.sort_values(
        ["query_id", "score", "doc_id"], ascending=[True, False, False]
    )
    return run.assign(rank=run.groupby("query_id").cumcount() + 1)


def test_a_query_shows_both_rankings_with_grades_and_the_deciding_document(
    browser: Browser, file: Path, result: Comparison
) -> None:
    open_page(browser, file)
    choose(browser, "run-a", "bm25")
    choose(browser, "run-b", "ql")
    qrels = demo.qrels().groupby(["query_id", "doc_id"])["relevance"].max()
    table = result.explain("bm25", "ql").dropna(subset=["winner"])
    table = table.astype(
        {"rank_a": float, "rank_b": float}
    )  # NaN: the run does not get there
    assert len(table) > 5
    left = result.missing.undecided("lexirecall")
    assert left is not None
    is_open = dict(
        zip(
            left.query_ids,
            left.is_open[result.pairs.index(("bm25", "ql"))],
            strict=True,
        )
    )
    assert {is_open[query_id] for query_id in table["query_id"]} == {True, False}
    ranks = {
        name: {
            (row.query_id, row.doc_id): row.rank
            for row in ranked(RUNS[name]).itertuples()
        }
        for name in ("bm25", "ql")
    }
    for row in table.itertuples():
        browser.js(
            f"(select => {{ select.value = [...select.options].find(o => o.textContent.slice(2).startsWith('{row.query_id}')).value; select.dispatchEvent(new Event('change')); }})(document.getElementById('query'))"
        )
        assert shown_query(browser) == row.query_id
        for name, side, rank in (("bm25", "a", row.rank_a), ("ql", "b", row.rank_b)):
            run = RUNS[name][RUNS[name]["query_id"] == row.query_id]
            expected = run.sort_values(["score", "doc_id"], ascending=False)[
                "doc_id"
            ].tolist()
            items = browser.js(
                f"[...document.querySelectorAll('#list-{side} li:not(.gap, .missed)')].map(item => [+item.querySelector('.rank')"
                ".textContent, item.querySelector('.doc').firstChild.textContent, item.querySelector('.grade').textContent, "
                "item.classList.contains('decides')])"
            )
            assert [i for i, *_ in items] == list(range(1, len(expected) + 1))
            for (place, text, grade, decides), doc_id in zip(
                items, expected, strict=True
            ):
                judged = qrels.get((row.query_id, doc_id))
                places = {ranks[run].get((row.query_id, doc_id)) for run in ranks}
                could = judged is None and is_open[row.query_id] and len(places) == 2
                assert decides == (place == rank)
                assert text == (
                    "◆ decides: "
                    if decides
                    else "◇ could decide: "
                    if could
                    else doc_id
                )
                assert grade == ("–" if judged is None else str(judged))
        verdict = browser.js("document.getElementById('verdict').textContent")
        assert verdict.startswith(f"{row.winner} wins: {row.winner} has its ")
        assert (
            "Unjudged documents of the top 100 could change the winner." in verdict
        ) == is_open[row.query_id]


def test_the_keyboard_moves_through_the_queries(browser: Browser, file: Path) -> None:
    open_page(browser, file)
    order = browser.js(OPTIONS)
    browser.js("document.getElementById('bars').focus()")
    assert shown_query(browser) == order[0]
    for key, code, place in (
        ("ArrowRight", 39, 1),
        ("ArrowRight", 39, 2),
        ("ArrowLeft", 37, 1),
        ("End", 35, -1),
        ("Home", 36, 0),
    ):
        for kind in ("rawKeyDown", "keyUp"):
            browser(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
            )
        assert shown_query(browser) == order[place]
        bars = "document.getElementById('bars')"
        assert (
            int(browser.js(f"{bars}.getAttribute('aria-valuenow')"))
            == (place % len(order)) + 1
        )
        assert f"query {order[place]}" in browser.js(
            f"{bars}.getAttribute('aria-valuetext')"
        )
    browser.js("document.getElementById('next').focus()")
    browser.press("Enter")
    assert shown_query(browser) == order[1]
    browser.nothing_went_wrong()


def test_a_click_on_a_bar_or_a_cell_of_the_heatmap_opens_it(
    browser: Browser, file: Path
) -> None:
    open_page(browser, file)
    order = browser.js(OPTIONS)
    browser.click(
        "document.querySelectorAll('#bars [data-q]')[4].querySelectorAll('rect')[1]"
    )
    assert shown_query(browser) == order[4]
    browser.click("document.querySelector('.heatmap td[data-a=overlap][data-b=bm25]')")
    names = "[document.getElementById('name-a').textContent, document.getElementById('name-b').textContent]"
    assert browser.js(names) == ["overlap", "bm25"]
    browser.click("document.querySelector('.heatmap td[data-a=bm25][data-b=overlap]')")
    assert browser.js(names) == ["bm25", "overlap"]
    browser.nothing_went_wrong()


# -- paper -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["file", pytest.param("many", marks=pytest.mark.slow)])
def test_it_prints_on_at_most_12_pages_and_what_is_folded_stays_folded(
    browser: Browser, page: str, request: pytest.FixtureRequest
) -> None:
    state = "document.querySelectorAll('details:not([open])').length"
    open_page(browser, request.getfixturevalue(page))
    before = browser.js(state)
    browser.js(f"addEventListener('beforeprint', () => {{ window.inPrint = {state} }})")
    paper = base64.b64decode(
        browser("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"]
    )
    assert paper.startswith(b"%PDF")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 12
    assert browser.js("window.inPrint") == before == browser.js(state)
    assert before > 0


@pytest.mark.slow
def test_on_paper_tables_keep_their_heads_and_matrices_and_further_notes_are_whole(
    browser: Browser, many: Path
) -> None:
    page = many.with_name("noted.html")
    note = '<details class="more"><summary>1 more note</summary><ul><li id="further">A note.</li></ul></details>'
    text = many.read_text(encoding="utf-8")
    assert 'class="caveats"' in text
    page.write_text(text.replace("</nav>", f"</nav>{note}", 1), encoding="utf-8")
    open_page(browser, page)
    assert (
        browser.js(
            "document.getElementById('further').checkVisibility({contentVisibilityAuto: true})"
        )
        is False
    )
    browser("Emulation.setEmulatedMedia", media="print")
    try:
        heads = browser.js(
            "[...document.querySelectorAll('.ranking thead button')].map(e => getComputedStyle(e).display)"
        )
        assert set(heads) == {
            "contents"
        }  # Chromium repeats texts of a head on the next page, not buttons
        matrix = "document.querySelector('details[open] .heatmap')"
        assert (
            browser.js(f"getComputedStyle({matrix}.closest('details')).breakInside")
            == "avoid"
        )
        assert (
            browser.js(
                "document.getElementById('further').getBoundingClientRect().height"
            )
            > 0
        )
        assert (
            browser.js("document.getElementById('further').checkVisibility()") is True
        )
    finally:
        browser("Emulation.setEmulatedMedia", media="")
