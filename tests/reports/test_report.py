"""The HTML report: what it says is what the API says, it is safe, and it stands alone. (In a browser: test_in_a_browser.py.)"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import re
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.present.caveats import comparison_caveats
from ir_lexirecall.present.comparisons import comparison_glance
from ir_lexirecall.present.findings import grouped
from ir_lexirecall.present.glance import without_marks
from ir_lexirecall.present.standings import NO_DIFFERENCE
from ir_lexirecall.present.text import printable

pytest.importorskip("jinja2")
pytest.importorskip("lxml.html")

from pages import (
    HOSTILE,
    QUICK,
    browsed,
    hostile_comparison,
    page_of,
    root,
    same_numbers,
    shuffled,
    table,
    text_of,
)

DATE = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)


CRITERIA = ["nDCG@10", "LR", "lexirecall", "rpp", "dominance", "AP"]
RANKING = ".//section[@id='ranking']//table/tbody/tr"


@pytest.fixture(scope="module")
def result() -> Comparison:
    """Three runs on the embedded collection, by measures and preferences."""
    runs = {name: demo.run(name) for name in ("bm25", "ql", "overlap")}
    return irl.compare("lexirecall/demo", runs, CRITERIA)


@pytest.fixture(scope="module")
def small() -> Comparison:
    """Two runs."""
    return irl.compare(
        "lexirecall/demo",
        {name: demo.run(name) for name in ("bm25", "ql")},
        ["nDCG@10", "LR"],
    )


@pytest.fixture(scope="module")
def page(result: Comparison) -> str:
    return page_of(result, title="Three runs", date=DATE)


def sections(page: str) -> list[str]:
    return [section.get("id") for section in root(page).iter("section")]


# -- the finding -------------------------------------------------------------------------------------


def test_it_begins_with_the_summary(page: str, result: Comparison) -> None:
    assert sections(page)[0] == "summary"
    said = text_of(page, ".//div[@class='irl-glance']")
    glance = comparison_glance(result)
    legend = map(without_marks, [*glance.legend, *glance.unjudged])
    for sentence in [glance.title, *legend, *glance.remarks]:
        assert " ".join(sentence.split()).replace("p <= ", "p ≤ ") in said
    assert "Holm's correction for" in said
    table = root(page).xpath("//div[@class='irl-glance']//table")[0]
    assert [row.findtext("th") for row in table.iterfind("tbody/tr")] == list(
        glance.rows
    )


def test_caveats_stand_at_the_top_and_beside_the_run_that_they_concern(
    page: str, result: Comparison
) -> None:
    top = text_of(page, ".//section[@id='summary']")
    rows = {
        row.find("th").get("data-value"): row.text_content()
        for row in root(page).iterfind(RANKING)
    }
    notes = comparison_caveats(result)
    for note in notes:
        if len(note.runs) == 1:
            said = note.removeprefix(f"{note.runs[0]}: ").lower()
            assert said in rows[note.runs[0]].lower() or note.fact in rows[note.runs[0]]
    assert any(note.runs for note in notes)
    assert root(page).find_class("caveats")[0].findtext("h3") == "Caveats"
    for sentence in grouped([note for note in notes if len(note.runs) < 2]):
        assert sentence in top
    pairs = [note for note in notes if len(note.runs) == 2]
    assert all(note in text_of(page, ".//section[@id='pairs']") for note in pairs)


@pytest.mark.slow
def test_the_title_names_the_collection() -> None:
    runs = {name: demo.run(name) for name in ("bm25", "ql")}
    for qrels, title in (
        ("lexirecall/demo", "Retrieval evaluation: lexirecall/demo"),
        (demo.qrels(), "Retrieval evaluation"),
    ):
        for result in (irl.benchmark(qrels, runs, ["AP"]), irl.compare(qrels, runs)):
            shown = root(page_of(result, details=0))
            assert [shown.findtext(".//h1"), shown.findtext(".//title")] == [
                title,
                title,
            ]
    parts = {f"part {i}": demo.qrels() for i in range(5)}
    suite = irl.benchmark(parts, dict.fromkeys(parts, runs), ["AP"], test=QUICK)
    assert (
        root(page_of(suite)).findtext(".//h1")
        == "Retrieval evaluation: part 0, part 1, part 2 and 2 more"
    )
    assert root(page_of(suite, title="Mine")).findtext(".//h1") == "Mine"


@pytest.mark.slow
def test_all_minus_signs_are_one_character() -> None:
    """In cells and on axes; what programs read (the attributes, and CSV by them) has the hyphen that parses."""
    runs = {name: demo.run(name) for name in ("overlap", "bm25", "ql")}
    names = ["RBU(e=0.2)@20", "AP"]
    parts = {f"part {i}": demo.qrels() for i in range(2)}
    results = [
        irl.compare("lexirecall/demo", runs, names, baseline="bm25"),
        irl.benchmark(
            parts, dict.fromkeys(parts, runs), names, baseline="bm25", test=QUICK
        ),
    ]
    for result in results:
        page = root(page_of(result))
        cells = [
            cell
            for cell in page.xpath("//table//*[self::td or self::th]")
            if "number" in cell.get("class", "")
        ]
        texts = [
            cell.text_content()
            for cell in page.xpath("//tbody//td[contains(@class, 'number')]")
        ]
        assert any(text.startswith("−") for text in texts)
        assert not [text for text in texts if "-" in text]
        axes = [
            text.text
            for text in page.xpath(
                "//table//*[local-name()='svg']//*[local-name()='text']"
            )
        ]
        assert any(text.startswith("−") for text in axes)
        assert not [text for text in axes if "-" in text]
        values = [cell.get("data-value") for cell in cells if cell.get("data-value")]
        assert any(value.startswith("-") for value in values)
        assert [float(value) for value in values]
        for cell in page.xpath("//tbody//td[contains(@class, 'number')]"):
            shown = cell.text_content().replace("−", "-").removeprefix("< ")
            if shown not in ("", "–"):
                assert float(cell.get("data-value")) == pytest.approx(
                    float(shown), abs=1e-2
                )


# -- numbers -----------------------------------------------------------------------------------------


def test_a_baseline_is_what_runs_are_compared_with() -> None:
    """By a measure of which the smaller value is better, too: differences are raw, verdicts say who is better."""
    by = ["RE(n=90)", "AP"]
    result = irl.compare("lexirecall/demo", demo.runs(), by, baseline="ql")
    page = page_of(result, details=0)
    shown = table(page, "Mean RE(n=90)").set_axis(shown_runs(page, result), axis=0)
    expected = result.table("RE(n=90)").set_index("run_a")
    for run, row in expected.iterrows():
        assert shown.loc[run, "difference"] == row["estimate"]
        assert shown.loc[run, "verdict"] == (
            NO_DIFFERENCE if row["verdict"] == "undecided" else row["verdict"]
        )
    assert shown.loc["ql", "verdict"] == "baseline"
    assert "smaller is better" in text_of(page, ".//section[@id='ranking']")
    assert shown["mean"].is_monotonic_increasing


def shown_runs(page: str, result: Comparison) -> list[str]:
    runs = [row.find("th").get("data-value") for row in root(page).iterfind(RANKING)]
    assert runs == list(result.ranking()["run"])
    return runs


def test_tables_are_those_of_the_api(page: str, result: Comparison) -> None:
    same_numbers(table(page, "Means, a row per criterion and run"), result.means())
    best = pd.concat(
        [result.best_set(name).assign(criterion=name) for name in CRITERIA]
    )
    same_numbers(
        table(page, "Best sets"),
        best[["criterion", "run", "p_not_beaten", "may_be_best"]],
    )
    for name in CRITERIA:
        empty = [] if name in result.compared.measures else ["mean_a", "mean_b"]
        expected = differences(result, name).drop(columns=["criterion", *empty])
        assert ("holds" in expected) == (name != "dominance")
        same_numbers(
            table(page, f"Differences by {name}, a row per pair of runs"), expected
        )
    assert all(card.find_class("title") for card in root(page).find_class("card"))


def differences(result: Comparison, name: str) -> pd.DataFrame:
    """The rows of a criterion, and how they hold where that is known."""
    known = result.missing.undecided(name) is not None
    return result.table(name).assign(
        **({"holds": result.verdicts(name, holds=True)["holds"]} if known else {})
    )


def test_values_by_query_are_those_of_the_api(page: str, result: Comparison) -> None:
    for name in CRITERIA:
        shown = table(page, f"{name} by query, a column per run").set_index("query_id")
        pd.testing.assert_frame_equal(
            shown, result.per_query(name), check_names=False, check_exact=True
        )


def test_heatmaps_show_the_differences_and_their_colours_are_the_verdicts(
    page: str, result: Comparison
) -> None:
    heatmaps = root(page).xpath("//table[contains(@class, 'heatmap')]")
    assert len(heatmaps) == len(CRITERIA)
    colours = set()
    for name, heatmap in zip(CRITERIA, heatmaps, strict=True):
        verdicts, matrix = result.tests.verdicts_by(name), result.matrix(name)
        cells = heatmap.xpath(".//td[@data-a]")
        assert len(cells) == 6
        for cell in cells:
            a, b = cell.get("data-a"), cell.get("data-b")
            assert float(cell.get("data-value")) == matrix.loc[a, b]
            assert float(cell.text.rstrip("*†").replace("−", "-")) == pytest.approx(
                matrix.loc[a, b], abs=0.0051
            )
            decided = (
                verdicts.on(a, b) if verdicts.on(a, b) in ("better", "worse") else ""
            )
            holds = dict(zip(result.pairs, result.missing.holds(name)[1], strict=True))
            holding = holds.get((a, b), holds.get((b, a))) == "under any judging"
            assert ("†" in cell.text) == (
                bool(decided)
                and not holding
                and result.missing.undecided(name) is not None
            )
            assert (cell.get("class") or "").partition(" ")[0] == decided
            assert cell.text.rstrip("†").endswith("*") == bool(decided)
            assert (decided or NO_DIFFERENCE) in cell.get("title")
            colours.add(decided)
    assert colours == {"", "better", "worse"}


def test_colours_follow_the_verdict_where_the_mean_points_the_other_way() -> None:
    """One large loss outweighs many small wins in the mean, not in the sign test."""
    qrels = {f"q{i:02}": {"a": 1} for i in range(20)}

    def run(rank: int) -> dict[str, float]:
        return {**{f"x{i}": float(-i) for i in range(1, rank)}, "a": float(-rank)}

    runs = {
        "often": {q: run(20 if i == 0 else 19) for i, q in enumerate(qrels)},
        "once": {q: run(1 if i == 0 else 20) for i, q in enumerate(qrels)},
    }
    result = irl.compare(qrels, runs, "RR", test="sign")
    assert result.matrix().loc["often", "once"] < 0
    assert result.verdicts()["verdict"].tolist() == ["better"]
    page = root(page_of(result, details=0))
    (cell,) = page.xpath("//td[@data-a='often'][@data-b='once']")
    assert cell.get("class").startswith("better")
    assert cell.text.startswith("−")
    row = table(page_of(result, details=0), "Mean RR")
    assert row["verdict"].tolist() == ["leads", "better"]


def test_numbers_are_shown_with_four_places_and_never_as_a_false_zero(
    page: str,
) -> None:
    cells = root(page).xpath(
        "//section[@id='tables']//td[contains(@data-value, '.') or contains(@data-value, 'e')]"
    )
    assert len(cells) > 100
    for cell in cells:
        value, shown = float(cell.get("data-value")), cell.text.replace("−", "-")
        if np.isnan(value):
            assert shown == "–"
        elif shown == "< 0.0001":
            assert value < 1e-4
        elif "e" in shown:
            assert abs(value) < 0.00005
            assert float(shown) == pytest.approx(value, rel=0.05)
        else:
            has_places = len(shown.partition(".")[2]) >= 4  # else p, with two digits
            wrong = 0.005 if has_places else 0.05
            assert float(shown) == pytest.approx(
                value, abs=0.00005 + wrong * abs(value)
            )
            assert value == 0 or float(shown) != 0


# -- what goes in ------------------------------------------------------------------------------------


def test_queries_without_relevant_documents_count_for_measures_and_not_for_preferences() -> (
    None
):
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 0}}
    runs = {
        "one": {q: {"a": 2.0, "b": 1.0} for q in qrels},
        "two": {q: {"b": 2.0, "a": 1.0} for q in qrels},
    }
    result = irl.compare(qrels, runs, ["RR", "lexirecall"])
    page = page_of(result)
    assert table(page, "RR by query")["query_id"].tolist() == ["q1", "q2", "q3"]
    assert table(page, "lexirecall by query")["query_id"].tolist() == ["q1", "q2"]
    assert "queries 3 (RR), 2 (lexirecall)" in text_of(
        page, ".//section[@id='provenance']"
    )
    assert [query["id"] for query in browsed(page)["queries"]] == ["q1", "q2", "q3"]


@pytest.mark.slow
def test_what_does_not_fit_on_a_page_is_left_out_and_said() -> None:
    qrels = {f"q{i:04}": {"a": 1, "b": 1} for i in range(7000)}
    runs = {name: {q: {"a": 2.0, name: 1.0} for q in qrels} for name in "bcd"}
    page = page_of(irl.compare(qrels, runs, ["AP"], test=QUICK), progress=False)
    assert len(page) < 1_000_000
    left_out = "Left out, as too large for one page: AP by query, a column per run (28,000 cells)."
    assert left_out in text_of(page, ".//section[@id='tables']")
    assert "The 500 of 7,000 queries on which the runs differ most" in text_of(
        page, ".//section[@id='queries']"
    )


def test_provenance_names_inputs_settings_and_versions(
    small: Comparison, tmp_path: Path
) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_bytes(b"q1 0 d1 1\n")
    command = "ir-lexirecall report qrels.txt -m 'AP LR'"
    inputs = {"qrels": qrels, "topics": "lexirecall/demo"}
    page = page_of(small, inputs=inputs, command=command, date=DATE, details=0)
    found = text_of(page, ".//section[@id='provenance']")
    for said in (
        hashlib.sha256(qrels.read_bytes()).hexdigest(),
        "qrels.txt",
        "lexirecall/demo",
        command,
        "2026-01-31 12:00:00+00:00",
        "criteria nDCG@10, LR",
        "queries 16",
        "test t",
        "correction holm",
        "seed 0",
        f"ir-lexirecall {irl.__version__}",
        f"numpy {np.__version__}",
    ):
        assert said in found
    assert str(tmp_path) not in page
    assert "baseline none" not in found


# -- the page ----------------------------------------------------------------------------------------


def test_hostile_names_are_text() -> None:
    hostile = hostile_comparison()
    page = page_of(
        hostile, title=HOSTILE[1], command=HOSTILE[0], inputs={HOSTILE[0]: HOSTILE[1]}
    )
    tree = root(page)
    assert [script.get("type") for script in tree.iter("script")] == [
        "text/plain",
        None,
    ]
    assert not tree.findall(".//img")
    assert not tree.xpath("//@onerror | //@onmouseover | //@onload | //@style")
    assert tree.findtext(".//title") == tree.findtext(".//h1") == HOSTILE[1]
    runs = table(page, "Means, a row per criterion and run")["run"].tolist()
    assert runs[:5] == list(map(printable, HOSTILE))
    numbers = differences(hostile, "LR").drop(columns=["criterion", "run_a", "run_b"])
    same_numbers(
        table(page, "Differences by LR, a row per pair of runs").drop(
            columns=["run_a", "run_b"]
        ),
        numbers,
    )


def test_characters_that_a_screen_obeys_are_shown_as_escapes() -> None:
    names = ["\u202eevil", "\x1b[31mred", "nul\x00", "constructor", "__proto__"]
    qrels = {name: {f"{name}d": 1} for name in names}
    runs = {name: shuffled(qrels, seed) for seed, name in enumerate(names)}
    texts = {f"{name}d": f"\u202etext of {name}" for name in names}
    result = irl.compare(qrels, runs, ["AP", "lexirecall"])
    page = page_of(
        result,
        runs=runs,
        texts=texts,
        queries={name: name for name in names},
        title=names[0],
    )
    assert root(page).findtext(".//h1") == "\\u202eevil"
    data = browsed(page)
    for text in (page, json.dumps(data, ensure_ascii=False)):
        assert not [character for character in "\u202e\x1b\x00" if character in text]
    assert set(data["runs"]) == set(map(printable, names))
    assert dict(data["texts"])["constructord"] == "text of constructor"
    assert [query["text"] for query in data["queries"]].count("__proto__") == 1


def test_the_page_stands_alone_under_a_strict_policy(page: str) -> None:
    tree = root(page)
    targets = {
        value
        for value in tree.xpath("//@href | //@src")
        if not value.startswith(("#", "data:"))
    }
    assert targets == set()
    assert not re.search(r"url\(|@import", page)
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for kind, text in (
        ("script", tree.xpath("//script[not(@type)]")[0].text),
        ("style", tree.findtext(".//style")),
    ):
        assert (
            f"{kind}-src 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
            in policy
        )


def test_the_page_is_accessible(page: str) -> None:
    tree = root(page)
    assert tree.get("lang") == "en"
    assert tree.xpath("//meta[@name='viewport']/@content") == [
        "width=device-width, initial-scale=1"
    ]
    levels = [
        int(heading.tag[1])
        for heading in tree.xpath("//h1 | //h2 | //h3 | //h4 | //h5 | //h6")
    ]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(element.find("caption").text_content() for element in tree.iter("table"))
    ids = tree.xpath("//@id")
    assert len(set(ids)) == len(ids)
    referred = {
        target[1:] for target in tree.xpath("//@href") if target.startswith("#")
    }
    assert referred | set(tree.xpath("//@aria-labelledby")) <= set(ids)
    for picture in tree.iter("svg"):
        assert (
            picture.get("aria-hidden") == "true"
            or picture.get("aria-label")
            or picture.get("role") == "img"
        )
    for region in tree.find_class("scroll"):
        assert region.get("tabindex") == "0"
        assert region.get("aria-label")


@pytest.mark.slow
def test_with_a_margin_verdicts_and_their_p_are_those_of_the_table(
    tmp_path: Path,
) -> None:
    runs = {
        name: demo.run(name)
        for name in ("bm25", "ql", "tfidf", "bm25_rerank", "overlap")
    }
    result = irl.compare(
        "lexirecall/demo", runs, "nDCG@10", baseline="bm25", margin=0.05
    )
    page = irl.report(result, tmp_path / "report.html", details=0).read_text(
        encoding="utf-8"
    )
    columns = {
        "worse": "worse_p",
        "better": "better_p",
        "within margin": "within_p",
        "not worse": "not_worse_p",
    }
    rows = {row["run_a"]: row for row in result.table().to_dict(orient="records")}
    shown = table(page, "Mean nDCG@10").set_index("run")
    assert {rows[run]["verdict"] for run in rows} == {
        "worse",
        "within margin",
        "undecided",
    }
    for run, row in rows.items():
        expected = row[columns[row["verdict"]]] if row["verdict"] in columns else np.nan
        np.testing.assert_equal(shown.loc[run, "p_of_verdict"], expected)
        assert shown.loc[run, "verdict"] == row["verdict"]
    legend = result.plot("differences").get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [
        "significantly worse",
        "within the margin or undecided",
    ]


@pytest.mark.parametrize("baseline", ["old", None])
def test_no_p_is_printed_on_the_other_side_of_its_level(baseline: str | None) -> None:
    """A p of 0.0501 would read as 0.050, which is not above 0.05."""
    rng = np.random.default_rng(0)
    old, x = rng.uniform(0.2, 0.8, 200), rng.normal(0, 0.05, 200)
    error = x.std(ddof=1) / np.sqrt(200)
    new = old + x - x.mean() - 1.971 * error
    runs = {
        name: {f"q{i:03}": {"AP": float(value)} for i, value in enumerate(values)}
        for name, values in {"old": old, "new": new, "newer": new + 1e-12}.items()
    }
    test = irl.SignificanceTest("t", correction=None)
    result = irl.compare(values=runs, test=test, baseline=baseline)
    assert 0.05 < result.table()["p"].iloc[0] < 0.0505
    page = page_of(result, title="", date=DATE)
    assert re.search(r"\b0\.050\d", page)
    assert not re.search(r"\b0\.050\b", page)


def test_long_names_of_measures_are_short_with_the_full_name_at_hand() -> None:
    name, short = (
        "TOMA(aspects={'credibility':2,'relevance':3})@10",
        "TOMA(aspects=...)@10",
    )
    runs = {run: demo.run(run) for run in ("overlap", "bm25", "ql")}
    page = root(
        page_of(irl.compare("lexirecall/demo", runs, ["AP", name, "lexirecall"]))
    )
    heads = page.xpath("//*[self::th or self::h2 or self::h3]")
    named = [head for head in heads if short in head.text_content()]
    assert len(named) >= 6
    cards = page.xpath("//article[h3]")
    assert [
        card.findtext("p/code") for card in cards if card.findtext("h3") == short
    ] == [name]
    assert all(
        head.get("title") == name
        for head in named
        if head.get("scope") in ("col", "colgroup")
    )
    assert {head.get("scope") for head in named} >= {"col", "colgroup"}
    assert not [head for head in heads if name in head.text_content()]
    assert {head.get("data-column") for head in page.xpath("//th[@data-column]")} >= {
        name
    }  # what CSV has
    assert name not in page.xpath("//section[@id='summary']")[0].text_content()


def test_only_results_can_be_reported_and_only_into_folders(
    small: Comparison, tmp_path: Path
) -> None:
    with pytest.raises(
        ValueError, match="expected a result of compare or benchmark, got 'DataFrame'"
    ):
        page_of(pd.DataFrame({"AP": [1.0]}))
    with pytest.raises(ValueError, match="details must be at least 0"):
        page_of(small, details=-1)
    with pytest.raises(
        ValueError, match=r"report\.html: there is no folder '.*none' to write into"
    ):
        irl.report(small, tmp_path / "none" / "report.html")


def test_a_missing_package_is_named(
    small: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(
        ModuleNotFoundError,
        match=r"(?i)a report needs jinja2: .*\(pip install '\.\[report\]'\)",
    ):
        page_of(small)
