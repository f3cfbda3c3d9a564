"""The HTML report: what it says is what the API says, it is safe, and it stands alone. (In a browser: test_in_a_browser.py.)"""

from __future__ import annotations

import base64
import datetime
import hashlib
import os
import re
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.benchmark import Benchmark
from ir_lexirecall.report import Report
from ir_lexirecall.summary import grouped, listed

pytest.importorskip("jinja2")
pytest.importorskip("lxml.html")

from pages import HOSTILE, root, same_numbers, shuffled, table, text_of

DATE = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.timezone.utc)


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
    return Report(result, title="Three runs", date=DATE).html()


@pytest.fixture(scope="module")
def hostile() -> Benchmark:
    """Runs, queries and documents with names that would do harm."""
    qrels = {query: {f"{query}{i}": 1 for i in range(3)} for query in HOSTILE}
    runs = {name: shuffled(qrels, seed) for seed, name in enumerate(HOSTILE)}
    return irl.benchmark(qrels, runs, {HOSTILE[0]: "AP", "LR": "LR"}, preference=["lexirecall", "AP"])


def sections(page: str) -> list[str]:
    return [section.get("id") for section in root(page).iter("section")]


# -- the finding -------------------------------------------------------------------------------------


def test_it_begins_with_the_summary(page: str, result: Benchmark) -> None:
    assert sections(page)[0] == "summary"
    said = text_of(page, ".//div[@class='finding']")
    for sentence in result.finding.sentences:
        assert sentence.replace("p <= ", "p ≤ ") in said
    assert "Holm's correction for" in said


def test_diagnostics_stand_at_the_top_and_beside_the_run_that_they_concern(page: str, result: Benchmark) -> None:
    top = text_of(page, ".//section[@id='summary']")
    rows = {
        row.find("th").get("data-value"): row.text_content()
        for row in root(page).iterfind(".//table[@class='sortable ranking']/tbody/tr")
    }
    for note in result.notes:
        if len(note.runs) == 1:
            said = note.removeprefix(f"{note.runs[0]}: ").lower()
            assert said in rows[note.runs[0]].lower() or note.fact in rows[note.runs[0]]
    assert any(note.runs for note in result.notes)
    for sentence in grouped([note for note in result.notes if len(note.runs) < 2]):
        assert sentence in top
    pairs = [note for note in result.notes if len(note.runs) == 2]
    assert all(note in text_of(page, ".//section[@id='preferences']") for note in pairs)


def test_notes_of_one_kind_on_one_run_are_one_sentence(page: str, result: Benchmark) -> None:
    """Ties that move several measures of a run are told once, not a sentence for each measure."""
    notes = [note for note in result.notes if "equal score" in note and note.runs == ("overlap",)]
    assert len(notes) > 1
    row = next(
        row
        for row in root(page).iterfind(".//table[@class='sortable ranking']/tbody/tr")
        if row.find("th").get("data-value") == "overlap"
    )
    assert row.text_content().count("equal score") == 1
    assert all(note.fact in row.text_content() for note in notes)
    assert text_of(page, ".//div[@class='distrust']").count("equal score") == 1


def test_the_title_names_the_collection() -> None:
    runs = {name: demo.run(name) for name in ("bm25", "ql")}
    for qrels, title in (
        ("lexirecall/demo", "Retrieval evaluation: lexirecall/demo"),
        (demo.qrels(), "Retrieval evaluation"),
    ):
        for result in (irl.benchmark(qrels, runs, ["AP"]), irl.compare(qrels, runs)):
            shown = root(Report(result, details=0).html())
            assert [shown.findtext(".//h1"), shown.findtext(".//title")] == [title, title]
    parts = {f"part {i}": demo.qrels() for i in range(5)}
    suite = irl.benchmark(parts, dict.fromkeys(parts, runs), ["AP"], n_resamples=99, progress=False)
    assert root(Report(suite).html()).findtext(".//h1") == "Retrieval evaluation: part 0, part 1, part 2 and 2 more"
    assert root(Report(suite, title="Mine").html()).findtext(".//h1") == "Mine"


def test_long_names_of_measures_are_short_with_the_full_name_at_hand() -> None:
    name, short = "TOMA(aspects={'credibility':2,'relevance':3})@10", "TOMA(aspects=...)@10"
    runs = {run: demo.run(run) for run in ("overlap", "bm25", "ql")}
    page = root(Report(irl.benchmark("lexirecall/demo", runs, [name, "AP"], preference=["lexirecall", name])).html())
    heads = page.xpath("//*[self::th or self::h2 or self::h3]")
    named = [head for head in heads if short in head.text_content()]
    assert len(named) >= 6
    cards = page.xpath("//article[h3]")
    assert [card.findtext("p/code") for card in cards if card.findtext("h3") == short] == [name]
    assert all(head.get("title") == name for head in named if head.get("scope") == "col")
    assert not [head for head in heads if name in head.text_content()]
    assert {head.get("data-column") for head in page.xpath("//th[@data-column]")} >= {name}  # what CSV has
    assert name not in page.xpath("//section[@id='summary']")[0].text_content()


def test_all_minus_signs_are_one_character() -> None:
    """In cells and on axes; what programs read (the attributes, and CSV by them) has the hyphen that parses."""
    runs = {name: demo.run(name) for name in ("overlap", "bm25", "ql")}
    names = ["RBU(e=0.2)@20", "AP"]
    parts = {f"part {i}": demo.qrels() for i in range(2)}
    results = [
        irl.benchmark("lexirecall/demo", runs, names, baseline="bm25"),
        irl.benchmark(parts, dict.fromkeys(parts, runs), names, baseline="bm25", n_resamples=99, progress=False),
    ]
    for result in results:
        page = root(Report(result).html())
        cells = [cell for cell in page.xpath("//table//*[self::td or self::th]") if "number" in cell.get("class", "")]
        texts = [cell.text_content() for cell in page.xpath("//tbody//td[contains(@class, 'number')]")]
        assert any(text.startswith("−") for text in texts)
        assert not [text for text in texts if "-" in text]
        axes = [text.text for text in page.xpath("//table//*[local-name()='svg']//*[local-name()='text']")]
        assert any(text.startswith("−") for text in axes)
        assert not [text for text in axes if "-" in text]
        values = [cell.get("data-value") for cell in cells if cell.get("data-value")]
        assert any(value.startswith("-") for value in values)
        assert [float(value) for value in values]
        for cell in page.xpath("//tbody//td[contains(@class, 'number')]"):
            shown = cell.text_content().replace("−", "-").removeprefix("< ")
            if shown not in ("", "–"):
                assert float(cell.get("data-value")) == pytest.approx(float(shown), abs=1e-2)


def test_shares_are_of_decided_queries(page: str) -> None:
    heads = root(page).xpath("//th[@data-column='difference']")
    assert "net share of decided queries won" in [head.text_content() for head in heads]


def test_leading_groups_are_those_of_the_standings(page: str, result: Benchmark) -> None:
    assert result.preferences is not None
    shown = root(page).xpath("//table[@class='group']")[0]
    names = [head.text_content() for head in shown.iterfind("thead/tr/th")][1:]
    assert names == ["nDCG@10", "LR", "lexirecall", "rpp", "AP"]
    standings = [result.standing(name) for name in names[:2]] + [
        result.preferences.standing(name) for name in names[2:]
    ]
    rows = {
        row.findtext("th"): [cell.get("data-value") for cell in row.iterfind("td")]
        for row in shown.iterfind("tbody/tr")
    }
    for place, standing in enumerate(standings):
        assert {run for run, verdicts in rows.items() if verdicts[place] == "leads"} == {standing.leader}
        assert {run for run, verdicts in rows.items() if verdicts[place] == "level"} == set(standing.level)
    everywhere = [run for run, verdicts in rows.items() if all(verdicts)]
    assert everywhere
    headline = text_of(page, ".//p[@class='headline']")
    assert headline.startswith(listed(everywhere))
    assert headline.endswith("in the leading group by every measure.")


# -- numbers -----------------------------------------------------------------------------------------


def test_the_ranking_is_the_standing_of_the_first_measure(page: str, result: Benchmark) -> None:
    standing = result.standing()
    shown = table(page, "Mean nDCG@10")
    assert [
        row.find("th").get("data-value") for row in root(page).iterfind(".//table[@class='sortable ranking']/tbody/tr")
    ] == standing.runs
    np.testing.assert_array_equal(shown["mean"], standing.ranking["mean"])
    for verdict, p, run in zip(shown["verdict"], shown["p_corrected"], standing.runs, strict=True):
        row = standing.between(standing.leader, run)
        assert verdict == ("leads" if row is None else "worse" if row.reject else "not told apart")
        assert np.isnan(p) if row is None else p == row.p_corrected


def test_differences_to_the_leader_are_those_of_the_test_turned_round(page: str, result: Benchmark) -> None:
    standing = result.standing()
    shown = table(page, "Mean nDCG@10").iloc[1:]
    for difference, run in zip(shown["difference"], standing.runs[1:], strict=True):
        row = standing.between(standing.leader, run)
        expected = row.estimate if row.run_a == run else -row.estimate
        assert difference == pytest.approx(expected, abs=5e-5)


def test_measures_are_those_of_the_api(page: str, result: Benchmark) -> None:
    same_numbers(table(page, "Means over the queries, a row per run"), result.table.reset_index())
    same_numbers(table(page, "Differences of measures, a row per pair of runs"), result.tests())


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


def test_heatmaps_show_the_means_and_star_what_the_corrected_p_rejects(page: str, result: Benchmark) -> None:
    assert result.preferences is not None
    heatmaps = root(page).find_class("heatmap")
    assert len(heatmaps) == 3
    for name, heatmap in zip(result.preferences.preferences, heatmaps, strict=True):
        rejected = result.preferences.table_of(name).set_index(["run_a", "run_b"])["reject"]
        matrix = result.preferences.matrix(name)
        cells = heatmap.xpath(".//td[@data-a]")
        assert len(cells) == 6
        for cell in cells:
            a, b = cell.get("data-a"), cell.get("data-b")
            assert cell.text.endswith("*") == bool(rejected.get((a, b), rejected.get((b, a))))
            shown = float(cell.text.rstrip("*").replace("−", "-"))
            assert shown == pytest.approx(matrix.loc[a, b], abs=0.0051)
            assert (cell.get("class") or "0")[0] == (
                "p" if shown > 0.05 else "n" if shown < -0.05 else (cell.get("class") or "0")[0]
            )


def test_numbers_are_shown_with_four_places_and_never_as_a_false_zero(page: str) -> None:
    cells = root(page).xpath("//section[@id='tables']//td[contains(@data-value, '.') or contains(@data-value, 'e')]")
    assert len(cells) > 100
    for cell in cells:
        value, shown = float(cell.get("data-value")), cell.text.replace("−", "-")
        if np.isnan(value):
            assert shown == "–"
        elif shown == "< 1e-4":
            assert value < 1e-4
        elif "e" in shown:
            assert abs(value) < 0.00005
            assert float(shown) == pytest.approx(value, rel=0.05)
        else:
            assert float(shown) == pytest.approx(value, abs=0.00005 + 0.005 * abs(value))
            assert value == 0 or float(shown) != 0


def test_the_text_says_what_is_significant(page: str, result: Benchmark) -> None:
    assert result.preferences is not None
    whole = result.preferences.table()
    for name in result.preferences.preferences:
        of_name = whole[whole["preference"] == name]
        said = f"{of_name['reject'].sum()} of {len(of_name)} pairs differ significantly: sign test, p ≤ 0.05"
        assert said in text_of(page, ".//section[@id='preferences']")


# -- what goes in ------------------------------------------------------------------------------------


def test_preferences_alone_make_a_report(result: Benchmark) -> None:
    assert result.preferences is not None
    page = Report(result.preferences, date=DATE, details=0).html()
    assert sections(page) == ["summary", "ranking", "preferences", "measures", "tables", "provenance"]


def test_a_single_run_makes_a_report() -> None:
    page = Report(irl.benchmark("lexirecall/demo", {"bm25": demo.run("bm25")}, ["AP"])).html()
    assert sections(page) == ["summary", "ranking", "measures", "tables", "provenance"]


def test_only_results_can_be_reported(small: Benchmark) -> None:
    with pytest.raises(ValueError, match="expected what benchmark or compare gave, got 'DataFrame'"):
        Report(pd.DataFrame({"AP": [1.0]}))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="details must be at least 0"):
        Report(small, details=-1)


def test_a_comparison_without_queries_makes_a_report() -> None:
    nothing = {"q": {"d": 0}}
    page = Report(irl.compare(nothing, {"a": {"q": {"d": 1.0}}, "b": {"q": {"d": 2.0}}}), date=DATE).html()
    assert not root(page).find_class("heatmap")
    assert "queries" not in sections(page)
    assert "excluded queries 1" in text_of(page, ".//section[@id='provenance']")


def test_every_preference_can_be_reported() -> None:
    runs = {name: demo.run(name) for name in ("bm25", "ql")}
    names = ["lexiprecision", "rrlexiprecision", "invrpp", "dcgrpp", "dominance"]
    preferences = irl.compare(demo.qrels(), runs, names, baseline="ql", test="t", correction=None)
    page = Report(preferences, date=DATE).html()
    for name in names:
        same_numbers(
            table(page, f"Preferences by {name}, a row per pair of runs"),
            preferences.table_of(name).reset_index(drop=True),
        )
    assert "the baseline ql" in text_of(page, ".//section[@id='ranking']")


def test_what_does_not_fit_on_a_page_is_left_out_and_said() -> None:
    qrels = {f"q{i:04}": {"a": 1, "b": 1} for i in range(7000)}
    runs = {name: {q: {"a": 2.0, name: 1.0} for q in qrels} for name in "bcd"}
    page = Report(irl.benchmark(qrels, runs, ["AP"]), progress=False).html()
    assert len(page) < 1_000_000
    assert "21,000 values by query are too many for one page" in text_of(page, ".//section[@id='tables']")
    assert "The 500 of 7,000 queries on which the runs differ most" in text_of(page, ".//section[@id='queries']")


def test_many_runs_have_no_heatmap() -> None:
    runs = {f"run{i}": shuffled({"q": {f"d{j}": 1 for j in range(30)}}, i) for i in range(41)}
    page = Report(irl.compare({"q": {f"d{j}": 1 for j in range(30)}}, runs), progress=False).html()
    assert not root(page).find_class("heatmap")
    assert "too many for a picture" in text_of(page, ".//section[@id='preferences']")


def test_a_folder_that_is_not_there_is_named(small: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"report\.html: there is no folder '.*none' to write into"):
        Report(small).write(tmp_path / "none" / "report.html")


def test_provenance_names_inputs_settings_and_versions(small: Benchmark, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels.txt"
    qrels.write_bytes(b"q1 0 d1 1\n")
    command = "ir-lexirecall report qrels.txt -m 'AP LR'"
    inputs = {"qrels": qrels, "topics": "lexirecall/demo"}
    report = Report(small, inputs=inputs, command=command, date=DATE, details=0)
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
    ):
        assert said in found


def test_resampling_tests_state_their_seed() -> None:
    runs = {name: demo.run(name) for name in ("bm25", "ql")}
    preferences = irl.compare(demo.qrels(), runs, test="bootstrap", n_resamples=50, seed=7, progress=False)
    found = text_of(Report(preferences, details=0).html(), ".//section[@id='provenance']")
    assert "n resamples 50" in found
    assert "seed 7" in found


def test_a_missing_package_is_named(small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ModuleNotFoundError, match=r"(?i)a report needs jinja2: .*\(pip install '\.\[report\]'\)"):
        Report(small).html()


def test_it_needs_no_matplotlib(small: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "<h1>" in Report(small).html()


# -- the page ----------------------------------------------------------------------------------------


def test_the_page_is_reproducible(page: str, result: Benchmark) -> None:
    assert Report(result, title="Three runs", date=DATE).html() == page


def test_hostile_names_are_text(hostile: Benchmark) -> None:
    page = Report(hostile, title=HOSTILE[1], command=HOSTILE[0], inputs={HOSTILE[0]: HOSTILE[1]}).html()
    tree = root(page)
    assert [script.get("type") for script in tree.iter("script")] == ["text/plain", None]
    assert not tree.findall(".//img")
    assert not tree.xpath("//@onerror | //@onmouseover | //@onload | //@style")
    assert tree.findtext(".//title") == tree.findtext(".//h1") == HOSTILE[1]
    runs = table(page, "Means over the queries, a row per run")["run"].tolist()
    assert runs[:4] == HOSTILE[:4]
    preferences = hostile.preferences
    assert preferences is not None
    same_numbers(
        table(page, "Preferences by AP, a row per pair of runs").drop(columns=["run_a", "run_b"]),
        preferences.table_of("AP").drop(columns=["incomparable", "run_a", "run_b"]),
    )


def test_a_command_line_that_is_not_unicode_can_be_written(small: Benchmark, tmp_path: Path) -> None:
    report = Report(small, command=os.fsdecode(b"ir-lexirecall report caf\xe9.run"), details=0)
    assert b"caf&#56553;.run" in report.write(tmp_path / "report.html").read_bytes()


def test_the_page_stands_alone_under_a_strict_policy(page: str) -> None:
    tree = root(page)
    targets = {value for value in tree.xpath("//@href | //@src") if not value.startswith(("#", "data:"))}
    assert targets == set()
    assert not re.search(r"url\(|@import", page)
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for kind, text in (("script", tree.xpath("//script[not(@type)]")[0].text), ("style", tree.findtext(".//style"))):
        assert f"{kind}-src 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy


def test_the_page_is_accessible(page: str) -> None:
    tree = root(page)
    assert tree.get("lang") == "en"
    assert tree.xpath("//meta[@name='viewport']/@content") == ["width=device-width, initial-scale=1"]
    levels = [int(heading.tag[1]) for heading in tree.xpath("//h1 | //h2 | //h3 | //h4 | //h5 | //h6")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(element.find("caption").text_content() for element in tree.iter("table"))
    ids = tree.xpath("//@id")
    assert len(set(ids)) == len(ids)
    referred = {target[1:] for target in tree.xpath("//@href") if target.startswith("#")}
    assert referred | set(tree.xpath("//@aria-labelledby")) <= set(ids)
    for picture in tree.iter("svg"):
        assert picture.get("aria-hidden") == "true" or picture.get("aria-label") or picture.get("role") == "img"
    for region in tree.find_class("scroll"):
        assert region.get("tabindex") == "0"
        assert region.get("aria-label")
