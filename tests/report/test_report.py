"""The HTML report: what it says is what the API says, it is safe, it stands alone, and a browser shows it."""

from __future__ import annotations

import base64
import datetime
import fcntl
import hashlib
import json
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.benchmark import Benchmark
from ir_lexirecall.report import Report

pytest.importorskip("jinja2")
matplotlib = pytest.importorskip("matplotlib")
lxml_html = pytest.importorskip("lxml.html")

DATE = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc)
HOSTILE = [
    "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    "\"onmouseover='alert(1)'",
    "]]>&amp;$\\frac{{b}$",
    "_{a}%s\x0b",
]


@pytest.fixture(scope="module")
def result() -> Benchmark:
    """Three runs on the embedded collection, three kinds of preference."""
    runs = {name: demo.run(name) for name in ("bm25", "ql", "overlap")}
    return irl.benchmark("lexirecall/demo", runs, ["nDCG@10", "LR"], preference=["lexirecall", "rpp", "AP"])


@pytest.fixture(scope="module")
def small() -> Benchmark:
    """Two runs, one preference."""
    return irl.benchmark("lexirecall/demo", {name: demo.run(name) for name in ("bm25", "ql")}, ["nDCG@10", "LR"])


@pytest.fixture(scope="module")
def page(result: Benchmark) -> str:
    return Report.from_result(result, title="Three runs", date=DATE).html()


@pytest.fixture(scope="module")
def hostile() -> Benchmark:
    """Runs, queries and documents with names that would do harm in HTML, SVG, TeX or a format string."""
    qrels = {query: {f"{query}{i}": 1 for i in range(3)} for query in HOSTILE}
    runs = {name: shuffled(qrels, seed) for seed, name in enumerate(HOSTILE)}
    return irl.benchmark(qrels, runs, {HOSTILE[0]: "AP", "LR": "LR"}, preference=["lexirecall", "AP"])


@pytest.fixture(scope="module")
def many() -> Report:
    """17 runs, 136 pairs, 100 queries."""
    qrels = {f"q{i}": {f"d{i}-{j}": 1 for j in range(10)} for i in range(100)}
    runs = {f"run{seed}": shuffled(qrels, seed) for seed in range(17)}
    return Report.from_result(irl.benchmark(qrels, runs, ["LR", "AP", "nDCG@10"]), progress=False)


def shuffled(qrels: dict[str, dict[str, int]], seed: int) -> dict[str, dict[str, float]]:
    """A run that finds most of what is relevant, in random order."""
    dice = random.Random(seed)
    return {q: {d: dice.random() for d in [*docs, *"xyz"] if dice.random() < 0.8} for q, docs in qrels.items()}


def root(page: str) -> Any:
    return lxml_html.document_fromstring(page)


def table(page: str, caption: str) -> pd.DataFrame:
    """A table of the page by its caption, with all digits of its numbers; columns as the API calls them."""
    (found,) = (element for element in root(page).iter("table") if element.find("caption").text == caption)
    columns = [head.get("data-column") for head in found.iterfind("thead/tr/th")]
    numeric = [head.get("class") == "number" for head in found.iterfind("thead/tr/th")]
    rows = [
        [
            float(cell.get("data-value", "nan")) if n else cell.text_content()
            for cell, n in zip(row, numeric, strict=True)
        ]
        for row in found.iterfind("tbody/tr")
    ]
    return pd.DataFrame(rows, columns=columns)


def text_of(page: str, path: str) -> str:
    return re.sub(r"\s+", " ", " ".join(element.text_content() for element in root(page).iterfind(path)))


def same_numbers(shown: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Every number of the API is on the page, digit by digit."""
    assert list(shown.columns) == list(map(str, expected.columns))
    for name in shown.columns:
        values = expected[name]
        if values.dtype.kind in "iuf":
            np.testing.assert_array_equal(shown[name].to_numpy(), values.to_numpy(dtype=float, na_value=np.nan))
        elif values.dtype.kind == "b":
            assert shown[name].tolist() == ["yes" if value else "no" for value in values]
        else:
            assert shown[name].tolist() == ["–" if pd.isna(value) else value for value in values]


# -- numbers -----------------------------------------------------------------------------------------


def test_measures_are_those_of_the_api(page: str, result: Benchmark) -> None:
    same_numbers(table(page, "Means over the queries, a row per run"), result.table.reset_index())


def test_values_by_query_are_those_of_the_api(page: str, result: Benchmark) -> None:
    for name in result.per_query.columns:
        shown = table(page, f"{name} by query, a column per run").set_index("query_id")
        for run in result.table.index:
            pd.testing.assert_series_equal(
                shown[run], result.per_query.loc[run][name], check_names=False, check_exact=True
            )


def test_preferences_are_those_of_the_api(page: str, result: Benchmark) -> None:
    assert result.preferences is not None
    whole = result.preferences.table()
    for name in result.preferences.preferences:
        expected = whole[whole["preference"] == name].drop(columns="preference")
        same_numbers(table(page, f"Preferences by {name}, a row per pair of runs"), expected)
        matrix = table(page, f"Mean preference ({name}) of the row's run over the column's").set_index("run")
        expected = result.preferences.matrix(name)
        np.testing.assert_array_equal(matrix.loc[expected.index, expected.columns], expected)
        assert list(matrix.index) == list(result.preferences.ranking("mean", name).index)


def test_explanations_are_those_of_the_api(page: str, result: Benchmark) -> None:
    assert result.preferences is not None
    for a, b in result.preferences.pairs:
        for name in result.preferences.preferences:
            shown = table(page, f"What decided between {a} and {b} ({name})")
            same_numbers(shown, result.preferences.explain(a, b, name))


def test_numbers_are_shown_with_four_places_and_never_as_a_false_zero(page: str) -> None:
    cells = root(page).xpath("//td[contains(@data-value, '.') or contains(@data-value, 'e')]")
    assert len(cells) > 100
    for cell in cells:
        value, shown = float(cell.get("data-value")), cell.text
        if np.isnan(value):
            assert shown == "–"
        elif "e" in shown:
            assert abs(value) < 0.00005
            assert float(shown) == pytest.approx(value, rel=0.05)
        else:
            assert shown == f"{value:.4f}"
            assert value == 0 or float(shown) != 0


def test_the_text_says_what_is_significant(page: str, result: Benchmark) -> None:
    assert result.preferences is not None
    whole = result.preferences.table()
    for name in result.preferences.preferences:
        of_name = whole[whole["preference"] == name]
        said = f"Of {len(of_name)} differences, {of_name['reject'].sum()} are significant: sign test, alpha 0.05"
        assert said in text_of(page, ".//section[@id='preferences']")
    for note in result.preferences.diagnostics:
        assert note in text_of(page, ".//section[@id='diagnostics']")


# -- what goes in ------------------------------------------------------------------------------------


def test_preferences_alone_make_a_report(result: Benchmark) -> None:
    assert result.preferences is not None
    page = Report.from_result(result.preferences, date=DATE, details=0).html()
    assert {section.get("id") for section in root(page).iter("section")} == {
        "preferences",
        "diagnostics",
        "pairs",
        "provenance",
    }


def test_a_single_run_makes_a_report() -> None:
    page = Report.from_result(irl.benchmark("lexirecall/demo", {"bm25": demo.run("bm25")}, ["AP"])).html()
    assert {section.get("id") for section in root(page).iter("section")} == {"measures", "provenance"}


def test_a_report_needs_a_table_or_a_comparison() -> None:
    with pytest.raises(ValueError, match="neither a table of measures nor a comparison"):
        Report()
    with pytest.raises(ValueError, match="details must be at least 0"):
        Report(pd.DataFrame({"AP": [1.0]}), details=-1)


def test_a_comparison_without_queries_makes_a_report() -> None:
    nothing = {"q": {"d": 0}}
    page = Report.from_result(irl.compare(nothing, {"a": {"q": {"d": 1.0}}, "b": {"q": {"d": 2.0}}}), date=DATE).html()
    assert not root(page).findall(".//svg")
    assert "excluded queries 1" in text_of(page, ".//section[@id='provenance']")


def test_every_preference_can_be_reported() -> None:
    runs = {name: demo.run(name) for name in ("bm25", "ql")}
    names = ["lexiprecision", "rrlexiprecision", "invrpp", "dcgrpp", "dominance"]
    preferences = irl.compare(demo.qrels(), runs, names, baseline="ql", test="t", correction=None)
    page = Report.from_result(preferences, date=DATE).html()
    for name in names:
        same_numbers(table(page, f"What decided between bm25 and ql ({name})"), preferences.explain("bm25", "ql", name))
    assert "compared with ql" in text_of(page, ".//section[@id='preferences']")


def test_pairs_of_the_best_runs_come_first_and_the_text_says_how_many() -> None:
    preferences = irl.compare(demo.qrels(), demo.runs())
    page = Report.from_result(preferences, details=3).html()
    best = list(preferences.ranking().index)
    heads = root(page).findall(".//section[@id='pairs']/details/summary/h3")
    assert [set(head.text_content().split(" and ")) for head in heads] == [
        {best[0], best[1]},
        {best[0], best[2]},
        {best[1], best[2]},
    ]
    assert "3 of 10 pairs are shown" in text_of(page, ".//section[@id='pairs']")


def test_what_does_not_fit_on_a_page_is_left_out_and_said() -> None:
    qrels = {f"q{i:04}": {"a": 1, "b": 1} for i in range(7000)}
    runs = {name: {q: {"a": 2.0, name: 1.0} for q in qrels} for name in "bcd"}
    page = Report.from_result(irl.benchmark(qrels, runs, ["AP"]), progress=False).html()
    assert len(page) < 1_000_000
    assert "21000 values are too many for one page" in text_of(page, ".//section[@id='measures']")
    assert "Of 7000 queries, the 250 with the strongest preferences" in text_of(page, ".//section[@id='pairs']")
    assert set(table(page, "What decided between b and c (lexirecall)")["winner"]) == {"b"}


def test_many_runs_stay_small(many: Report) -> None:
    page = many.html()
    assert len(page.encode()) < 3_000_000
    assert len(root(page).findall(".//svg")) == 1 + 20
    assert "20 of 136 pairs are shown" in text_of(page, ".//section[@id='pairs']")
    assert len(table(page, "Preferences by lexirecall, a row per pair of runs")) == 136


def test_a_folder_that_is_not_there_is_named(small: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"report\.html: there is no folder '.*none' to write into"):
        Report.from_result(small).write(tmp_path / "none" / "report.html")


def test_provenance_names_inputs_settings_and_versions(small: Benchmark, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_bytes(b"q1 0 d1 1\n")
    command = "ir-lexirecall report qrels.txt -m 'AP LR'"
    inputs = {"qrels": qrels, "topics": "lexirecall/demo"}
    report = Report.from_result(small, inputs=inputs, command=command, date=DATE, details=0)
    page = report.write(tmp_path / "report.html").read_text(encoding="utf-8")
    assert page == report.html()
    found = text_of(page, ".//section[@id='provenance']")
    for said in (
        hashlib.sha256(qrels.read_bytes()).hexdigest(),
        str(qrels),
        "lexirecall/demo",
        command,
        "2026-01-31 12:00:00+00:00",
        "measures nDCG@10, LR",
        "preference lexirecall",
        "test sign",
        "correction holm",
        "seed none",
        f"ir-lexirecall {irl.__version__}",
        f"numpy {np.__version__}",
        f"matplotlib {matplotlib.__version__}",
    ):
        assert said in found


def test_resampling_tests_state_their_seed() -> None:
    runs = {name: demo.run(name) for name in ("bm25", "ql")}
    preferences = irl.compare(demo.qrels(), runs, test="bootstrap", n_resamples=50, seed=7, progress=False)
    found = text_of(Report.from_result(preferences, details=0).html(), ".//section[@id='provenance']")
    assert "n resamples 50" in found
    assert "seed 7" in found


@pytest.mark.parametrize("package", ["jinja2", "matplotlib"])
def test_a_missing_package_is_named(package: str, small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=rf"(?i)a (report|picture) needs {package}: .*\(pip install '\.\[(report|plots)\]'\)"):
        Report.from_result(small).html()


# -- the page ----------------------------------------------------------------------------------------


def test_the_page_is_reproducible_whatever_the_style_of_pictures(page: str, result: Benchmark) -> None:
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        assert Report.from_result(result, title="Three runs", date=DATE).html() == page


def test_hostile_names_are_text(hostile: Benchmark) -> None:
    page = Report.from_result(hostile, title=HOSTILE[1], command=HOSTILE[0], inputs={HOSTILE[0]: HOSTILE[1]}).html()
    tree = root(page)
    assert len(tree.findall(".//script")) == 1
    assert not tree.findall(".//img")
    assert not tree.xpath("//@onerror | //@onmouseover | //@onload")
    assert tree.findtext(".//title") == tree.findtext(".//h1") == HOSTILE[1]
    runs = table(page, "Means over the queries, a row per run")["run"].tolist()
    assert runs[:4] == HOSTILE[:4]
    preferences = hostile.preferences
    assert preferences is not None
    a, b = HOSTILE[0], HOSTILE[3]
    same_numbers(table(page, f"What decided between {a} and {b} (lexirecall)"), preferences.explain(a, b))
    pictured = {text.text for text in tree.iter("text")}
    assert set(HOSTILE[:4]) <= pictured


def test_a_command_line_that_is_not_unicode_can_be_written(small: Benchmark, tmp_path: Path) -> None:
    report = Report.from_result(small, command=os.fsdecode(b"ir-lexirecall report caf\xe9.run"), details=0)
    assert b"caf&#56553;.run" in report.write(tmp_path / "report.html").read_bytes()


def test_the_page_stands_alone(page: str) -> None:
    tree = root(page)
    targets = {value for value in tree.xpath("//@href | //@src") if not value.startswith(("#", "data:"))}
    assert targets == set()
    assert not re.search(r"url\((?!#)|@import", page)
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'")
    script = tree.findtext(".//script")
    assert f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" in policy
    assert len(script.strip().splitlines()) <= 45


def test_the_page_is_accessible(page: str) -> None:
    tree = root(page)
    assert tree.get("lang") == "en"
    assert tree.xpath("//meta[@name='viewport']/@content") == ["width=device-width, initial-scale=1"]
    levels = [int(heading.tag[1]) for heading in tree.xpath("//h1 | //h2 | //h3 | //h4 | //h5 | //h6")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(element.findtext("caption") for element in tree.iter("table"))
    assert all(head.get("scope") in ("row", "col") for head in tree.iter("th"))
    ids = tree.xpath("//@id")
    assert len(set(ids)) == len(ids)
    assert {target[1:] for target in tree.xpath("//@href") if target.startswith("#")} <= set(ids)
    pictures = tree.findall(".//svg")
    assert len(pictures) == 3 + 3 * 3
    for picture in pictures:
        assert picture.get("role") == "img"
        assert tree.get_element_by_id(picture.get("aria-labelledby")).text
        assert tree.get_element_by_id(picture.get("aria-describedby")).text
    for region in tree.find_class("scroll"):
        assert region.get("tabindex") == "0"
        assert region.get("aria-label")


# -- in a browser ------------------------------------------------------------------------------------

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe"),
)
# Chromium listens on file descriptor 3 and answers on 4.
_START = "import os, sys; r, w, *c = sys.argv[1:]; os.dup2(int(r), 3); os.dup2(int(w), 4); os.execvp(c[0], c)"


class Browser:
    """A page in headless Chromium, told what to do by the DevTools protocol over a pipe."""

    def __init__(self, program: str, profile: Path) -> None:
        (its_in, out), (in_, its_out) = os.pipe(), os.pipe()
        handed = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (its_in, its_out)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, *map(str, handed), program, *_FLAGS, f"--user-data-dir={profile}"],
            pass_fds=handed,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for end in (its_in, its_out, *handed):
            os.close(end)
        self._in, self._out = in_, out
        self._rest = b""
        self._calls = 0
        self._session: dict[str, str] = {}
        self.events: list[dict[str, Any]] = []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = {"sessionId": self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(f"{domain}.enable")

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        self._calls += 1
        message = {"id": self._calls, "method": method, "params": params, **self._session}
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._calls:
            self.events.append(answer)
        assert "error" not in answer, (method, answer["error"])
        found: dict[str, Any] = answer["result"]
        return found

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._in], [], [], 60)[0], "the browser does not answer"
            block = os.read(self._in, 2**16)
            assert block, "the browser has gone"
            self._rest += block
        message, _, self._rest = self._rest.partition(b"\0")
        received: dict[str, Any] = json.loads(message)
        return received

    def open(self, path: Path, width: int = 1280, scheme: str = "light") -> None:
        """Show a file, and wait until it is there."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 500)
        self("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self("Page.navigate", url=path.as_uri())
        while not self.seen("Page.loadEventFired"):
            self.events.append(self._receive())

    def seen(self, *methods: str) -> list[Any]:
        """What the page reported since it was opened."""
        return [event["params"] for event in self.events if event["method"] in methods]

    def js(self, code: str) -> Any:
        """The value of an expression."""
        answer = self("Runtime.evaluate", expression=code, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str, text: str) -> None:
        self("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=text, windowsVirtualKeyCode=ord(text))
        self("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=ord(text))

    def click(self, element: str) -> None:
        """Click in the middle of an element, given as an expression."""
        self.js(f"{element}.scrollIntoView({{block: 'center', inline: 'center'}})")
        x, y = self.js(f"(r => [r.x + r.width / 2, r.y + r.height / 2])({element}.getBoundingClientRect())")
        for kind in ("mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def close(self) -> None:
        try:
            self._session = {}
            self("Browser.close")
            self._process.wait(30)
        finally:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait(30)
            os.close(self._in)
            os.close(self._out)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is neither chromium nor chromium-browser nor google-chrome")
    browser = Browser(CHROMIUM, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def file(page: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


def nothing_went_wrong(browser: Browser) -> None:
    """No error, no dialog, and nothing loaded but the file and what is inside it."""
    assert browser.seen("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded") == []
    assert browser.seen("Page.javascriptDialogOpening") == []
    urls = [event["request"]["url"] for event in browser.seen("Network.requestWillBeSent")]
    assert urls[0].startswith("file://")
    assert all(url.startswith("data:") for url in urls[1:])


OPEN_ALL = "document.querySelectorAll('details').forEach(each => each.open = true)"
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_opens_without_errors_or_network_and_fits(
    browser: Browser, file: Path, width: int, scheme: str
) -> None:
    browser.open(file, width, scheme)
    assert browser.js("innerWidth") == width
    assert browser.js(FITS)
    browser.js(OPEN_ALL)
    assert browser.js(FITS)
    nothing_went_wrong(browser)


def test_a_page_with_hostile_names_opens_and_fits(browser: Browser, hostile: Benchmark, tmp_path: Path) -> None:
    report = Report.from_result(hostile, title=HOSTILE[0], command="x" * 300, inputs={HOSTILE[0]: HOSTILE[1] * 9})
    browser.open(report.write(tmp_path / "report.html"), 360)
    browser.js(OPEN_ALL)
    assert browser.js(FITS)
    nothing_went_wrong(browser)


COLOURS = """
[...document.querySelectorAll("h1, p, a, caption, dt, code, thead button, tbody th, td, figcaption, svg text")]
.filter(each => !each.style.fill.startsWith("rgb(255") && (each.localName !== "text" || each.style.fill)).map(each => {
  const style = getComputedStyle(each);
  return [each.localName === "text" ? style.fill : style.color, getComputedStyle(document.body).backgroundColor];
})
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(browser: Browser, file: Path, scheme: str) -> None:
    browser.open(file, scheme=scheme)
    browser.js(OPEN_ALL)
    colours = {tuple(pair) for pair in browser.js(COLOURS)}
    assert len(colours) >= 3
    for text, ground in colours:
        assert contrast(text, ground) >= 4.5, (text, ground)
    assert (luminance(next(iter(colours))[1]) > 0.5) == (scheme == "light")


def luminance(colour: str) -> float:
    """Relative luminance as the Web Content Accessibility Guidelines define it."""
    rgb = np.array(list(map(float, re.findall(r"[\d.]+", colour)))[:3]) / 255
    return float(np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


HEAD = "document.querySelectorAll('#measures th[scope=col]')[{}]"
COLUMN = "[...document.querySelector('#measures tbody').rows].map(row => row.cells[{}].textContent)"
SORTED = "[...document.querySelectorAll('#measures table:first-of-type th[scope=col]')].slice(0, 3).map(each => each.getAttribute('aria-sort'))"


def test_a_click_on_a_head_sorts(browser: Browser, file: Path, result: Benchmark) -> None:
    by_ndcg = result.table["nDCG@10"].sort_values(ascending=False)
    browser.open(file)
    assert browser.js(SORTED) == [None, None, None]
    browser.click(HEAD.format(1))
    assert browser.js(COLUMN.format(0)) == list(by_ndcg.index)
    assert browser.js(SORTED) == [None, "descending", None]
    browser.click(HEAD.format(1))
    assert browser.js(COLUMN.format(0)) == list(by_ndcg.index)[::-1]
    assert browser.js(SORTED) == [None, "ascending", None]
    browser.click(HEAD.format(0))
    assert browser.js(COLUMN.format(0)) == sorted(by_ndcg.index)
    assert browser.js(SORTED) == ["ascending", None, None]
    nothing_went_wrong(browser)


@pytest.mark.parametrize(("key", "text"), [("Enter", "\r"), (" ", " ")], ids=["Enter", "Space"])
def test_the_keyboard_sorts(browser: Browser, file: Path, result: Benchmark, key: str, text: str) -> None:
    browser.open(file)
    browser.js(f"{HEAD.format(1)}.querySelector('button').focus()")
    browser.press("Tab", "\t")  # on to the next head
    browser.press(key, text)
    assert browser.js(SORTED) == [None, None, "descending"]
    assert browser.js(COLUMN.format(0)) == list(result.table["LR"].sort_values(ascending=False).index)


def test_missing_values_sort_last_in_both_directions(browser: Browser, file: Path) -> None:
    browser.open(file)
    browser.js(OPEN_ALL)
    head = "document.querySelector('#pairs th[data-column=rank_b]')"
    for ascending in (False, True):
        browser.click(head)
        shown = browser.js(
            f"[...{head}.closest('table').tBodies[0].rows].map(r => r.cells[{head}.cellIndex].textContent)"
        )
        ranks = [float(cell) for cell in shown if cell != "–"]
        assert ranks == sorted(ranks, reverse=not ascending)
        assert shown[len(ranks) :] == ["–"] * (len(shown) - len(ranks))
        assert 0 < len(ranks) < len(shown)


def test_printing_shows_everything_and_restores_the_page(browser: Browser, file: Path) -> None:
    state = (
        "[document.querySelectorAll('details:not([open])').length, document.querySelectorAll('thead button').length]"
    )
    browser.open(file)
    before = browser.js(state)
    browser.js(f"addEventListener('beforeprint', () => {{ window.inPrint = {state} }})")
    paper = base64.b64decode(browser("Page.printToPDF", preferCSSPageSize=True)["data"])
    assert paper.startswith(b"%PDF")
    assert browser.js("window.inPrint") == [0, 0]
    assert browser.js(state) == before
    assert all(count > 0 for count in before)
