"""The report of a benchmark of many collections."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.present.findings import grouped
from ir_lexirecall.present.glance import without_marks
from ir_lexirecall.present.macro_means import benchmark_caveats, benchmark_glance
from ir_lexirecall.present.standings import MacroStanding, verdict_words

pytest.importorskip("jinja2")
pytest.importorskip("lxml.html")

from pages import (
    QUICK,
    browsed,
    page_of,
    ranking_in,
    root,
    same_numbers,
    shuffled,
    table,
    text_of,
    whole,
)

RUNS = {name: demo.run(name) for name in ("bm25", "ql", "tfidf")}
IDS = sorted(demo.qrels()["query_id"].unique())
PARTS = {
    f"part <{i}>": demo.qrels()[demo.qrels()["query_id"].isin(IDS[i::2])]
    for i in range(2)
}


BY = ["LR", "lexirecall"]


def suite_of(baseline: str | None = None, runs: Any = RUNS) -> Benchmark:
    return irl.benchmark(
        PARTS, dict.fromkeys(PARTS, runs), BY, baseline=baseline, test=QUICK
    )


@pytest.mark.parametrize("baseline", [None, "bm25"])
def test_it_shows_what_holds_over_collections(baseline: str | None) -> None:
    suite = suite_of(baseline)
    page = page_of(suite)
    assert "part &lt;0&gt;" in page
    assert "part <0>" not in page
    for over, what in (
        ("queries", "queries resampled"),
        ("collections", "collections resampled"),
    ):
        same_numbers(table(page, f"Over collections, {what}"), suite.overall(over))
    said = text_of(page, ".//section[@id='over']")
    forests = root(page).xpath("//tr[@class='total']")
    assert len(forests) == (
        4 if baseline else 0
    )  # two other runs, by LR and by the preference
    assert ("Against bm25, by LR" in said) == (baseline is not None)
    glance = benchmark_glance(suite)
    for sentence in [glance.title, *map(without_marks, glance.legend), *glance.remarks]:
        assert " ".join(sentence.split()).replace("p <= ", "p ≤ ") in text_of(
            page, ".//div[@class='irl-glance']"
        )


def test_the_ranking_is_that_of_the_macro_means_with_verdicts_and_ranks() -> None:
    suite = suite_of("bm25")
    page = page_of(suite)
    standing = MacroStanding(suite, "LR")
    expected = standing.ranking
    shown = table(page, "Macro mean LR")
    assert shown["mean"].tolist() == expected["mean"].tolist()
    assert shown["rank"].tolist() == [
        f"{row.rank_low} to {row.rank_high}" for row in expected.itertuples()
    ]
    for run, verdict, difference, row in zip(
        expected["run"],
        shown["verdict"],
        shown["difference"],
        expected.itertuples(),
        strict=True,
    ):
        assert verdict == ("baseline" if run == "bm25" else verdict_words(row.verdict))
        np.testing.assert_equal(difference, row.difference)
    glance = root(page).xpath("//div[@class='irl-glance']//table")[0]
    heads = [
        (head.text_content(), int(head.get("colspan")))
        for head in glance.iterfind("thead/tr[1]/th[@colspan]")
    ]
    assert heads[0][0] == "LR"
    marks = {
        row.findtext("th"): row.findall("td")[heads[0][1] - 1].text_content()
        for row in glance.iterfind("tbody/tr")
    }
    assert list(marks) == list(expected["run"])
    assert [run for run, mark in marks.items() if mark] == standing.may_be_best
    assert marks[standing.runs[0]] == "best mean"
    assert {mark for run, mark in marks.items() if run in standing.may_be_best[1:]} == {
        "may be the best"
    }


def test_forests_show_what_is_tested_on_every_collection_and_fill_by_the_verdicts() -> (
    None
):
    runs = {name: demo.run(name) for name in ("bm25", "ql", "overlap")}
    suite = suite_of("bm25", runs)
    page = page_of(suite)
    overall = suite.overall().set_index(["criterion", "run"])
    kinds = set()
    for by in BY:
        table = suite.by_collection(by)
        for run in ("ql", "overlap"):
            cards = [
                card
                for card in root(page).xpath("//table[@class='compact']")
                if card.findtext("caption") == run
            ]
            rows = cards[BY.index(by)].findall("tbody/tr")
            expected = table[table["run_a"] == run]
            assert [row.findtext("th") for row in rows] == [*PARTS, "all"]
            shown = [float(row.find("td").get("data-value")) for row in rows]
            assert shown == [
                *expected["estimate"],
                overall.loc[(by, run), "difference"],
            ]
            verdicts = [*expected["verdict"], overall.loc[(by, run), "verdict"]]
            drawn = [
                row.xpath(".//*[local-name()='svg']")[0].get("class").split()[-1]
                for row in rows
            ]
            assert drawn == verdicts
            kinds |= set(drawn)
    assert kinds == {"worse", "undecided"}


def test_it_shows_every_note_and_every_number() -> None:
    suite = suite_of("bm25")
    page = page_of(suite)
    said = text_of(page, ".//body")
    assert suite.diagnostics
    assert not [
        note
        for note in grouped(benchmark_caveats(suite))
        if " ".join(note.split()) not in said
    ]
    unpacked = whole(page)
    for numbers in (
        suite.overall("queries"),
        suite.overall("collections"),
        suite.means(),
        suite.table(),
    ):
        for column, values in numbers.select_dtypes("number").items():
            hidden = [
                value
                for value in values.dropna().tolist()
                if f'data-value="{value!r}"' not in unpacked
            ]
            assert not hidden, column


def test_where_nothing_can_be_said_over_collections_the_page_says_why() -> None:
    """A run that one collection lacks is left out; and no run is common to both."""
    runs = {
        "part <0>": {"bm25": RUNS["bm25"], "ql": RUNS["ql"]},
        "part <1>": {"tfidf": RUNS["tfidf"], "x": RUNS["ql"]},
    }
    suite = irl.benchmark(PARTS, runs, BY, missing="skip", test=QUICK)
    page = page_of(suite)
    assert "No run is common to all collections" in text_of(
        page, ".//section[@id='summary']"
    )
    same_numbers(table(page, "Differences on part <1>"), suite["part <1>"].table())


@pytest.mark.slow
def test_every_collection_has_its_queries_to_browse() -> None:
    suite = suite_of()
    page = page_of(suite)
    options = root(page).xpath("//select[@id='collection']/option")
    assert [option.text for option in options] == list(PARTS)
    for place, (name, result) in enumerate(suite.items()):
        data = browsed(page, place)
        assert [query["id"] for query in data["queries"]] == result.query_ids, name
        assert set(data["runs"]) == set(RUNS)
        assert (
            data["criteria"][0]["values"]
            == result.per_query("LR")[data["runs"]].T.to_numpy().tolist()
        )
    without = page_of(suite, details=0)
    assert "browser-data" not in without.partition("<script>")[0]
    named = page_of(suite, runs=dict.fromkeys(PARTS, RUNS), progress=False)
    data = browsed(named, 1)
    query = data["queries"][0]["id"]
    shown = ranking_in(data, "bm25", query)
    ranked = RUNS["bm25"][RUNS["bm25"]["query_id"] == query].sort_values(
        "score", ascending=False
    )
    assert len(shown) == len(ranked)
    assert {doc_id for _, doc_id, _ in shown} == set(ranked["doc_id"])
    assert data["unjudged"]
    assert not browsed(page)["unjudged"]


@pytest.mark.slow
def test_many_collections_share_the_room_of_one_page() -> None:
    """10 collections of 17 runs and 100 queries are no larger than one: fewer queries and pairs of each, and it is said."""
    collections, runs = {}, {}
    for number in range(10):
        qrels = {f"q{i}": {f"d{i}-{j}": 1 for j in range(5)} for i in range(100)}
        collections[f"part {number}"] = qrels
        runs[f"part {number}"] = {
            f"run{seed}": shuffled(qrels, 20 * number + seed) for seed in range(17)
        }
    suite = irl.benchmark(collections, runs, ["AP", "LR"], test=QUICK)
    page = page_of(suite, progress=False)
    assert len(page.encode()) < 3_050_000
    said = text_of(page, ".//section[@id='tables']")
    assert all(
        f"Differences on part {number}" in said for number in range(10)
    )  # shown, or named as left out
    assert "The 50 of 100 queries on which the runs differ most." in text_of(
        page, ".//section[@id='queries']"
    )
    assert [len(browsed(page, place)["queries"]) for place in range(10)] == [50] * 10
