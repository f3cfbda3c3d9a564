"""The report of a benchmark of many collections."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.report import Report
from ir_lexirecall.summary import grouped

pytest.importorskip("jinja2")
pytest.importorskip("lxml.html")

from pages import browsed, ranking_in, root, same_numbers, shuffled, table, text_of

RUNS = {name: demo.run(name) for name in ("bm25", "ql", "tfidf")}
IDS = sorted(demo.qrels()["query_id"].unique())
PARTS = {f"part <{i}>": demo.qrels()[demo.qrels()["query_id"].isin(IDS[i::2])] for i in range(2)}


@pytest.mark.parametrize("baseline", [None, "bm25"])
def test_it_shows_what_holds_over_collections(baseline: str | None, tmp_path: Path) -> None:
    suite = irl.benchmark(PARTS, dict.fromkeys(PARTS, RUNS), ["LR"], baseline=baseline, n_resamples=99, progress=False)
    page = irl.report(suite, tmp_path / "suite.html", progress=False).read_text(encoding="utf-8")
    assert "part &lt;0&gt;" in page
    assert "part <0>" not in page
    overall = suite.overall("queries")
    shown = table(page, "Macro means with intervals and ranks, queries resampled")
    same_numbers(
        shown.drop(columns=["measure", "run"]),
        overall.drop(columns=["measure", "run"]).astype({"reject": object} if baseline else {})
        if not baseline
        else overall.drop(columns=["measure", "run", "reject"]).assign(reject=shown["reject"])[list(shown.columns[2:])],
    )
    said = text_of(page, ".//section[@id='over']")
    assert "chi-squared" in said
    forests = root(page).xpath("//tr[@class='total']")
    assert len(forests) == (4 if baseline else 0)  # two other runs, by LR and by the preference
    assert ("Differences of LR to bm25" in said) == (baseline is not None)
    for sentence in suite.finding.sentences:
        assert sentence.replace("p <= ", "p ≤ ") in text_of(page, ".//div[@class='finding']")


def test_forests_show_the_differences_of_every_collection(tmp_path: Path) -> None:
    suite = irl.benchmark(PARTS, dict.fromkeys(PARTS, RUNS), ["LR"], baseline="bm25", n_resamples=99, progress=False)
    page = irl.report(suite, tmp_path / "suite.html", progress=False).read_text(encoding="utf-8")
    by_collection = suite.by_collection("LR")
    for run in ("ql", "tfidf"):
        cards = [card for card in root(page).xpath("//table[@class='compact']") if card.findtext("caption") == run]
        expected = by_collection[by_collection["run"] == run]["difference"].tolist()
        rows = cards[0].findall("tbody/tr")
        assert [row.findtext("th") for row in rows] == [*PARTS, "all"]
        shown = [float(row.findtext("td").replace("−", "-")) for row in rows[:-1]]
        assert shown == pytest.approx(expected, abs=5e-5)


def test_a_single_run_has_no_forest(tmp_path: Path) -> None:
    runs = {"bm25": RUNS["bm25"]}
    suite = irl.benchmark(PARTS, dict.fromkeys(PARTS, runs), ["LR"], n_resamples=99, progress=False)
    assert "<svg" not in irl.report(suite, tmp_path / "suite.html", progress=False).read_text(encoding="utf-8")


def test_it_shows_every_note_and_every_number_over_collections(tmp_path: Path) -> None:
    suite = irl.benchmark(PARTS, dict.fromkeys(PARTS, RUNS), ["LR"], baseline="bm25", n_resamples=99, progress=False)
    page = irl.report(suite, tmp_path / "suite.html", progress=False).read_text(encoding="utf-8")
    said = text_of(page, ".//body")
    assert suite.diagnostics
    assert not [note for note in grouped(suite.notes) if " ".join(note.split()) not in said]
    for over in ("queries", "collections"):
        for column, values in suite.overall(over).select_dtypes("number").items():
            hidden = [value for value in values.dropna().tolist() if f'data-value="{value!r}"' not in page]
            assert not hidden, (over, column)


def test_every_collection_has_its_queries_to_browse(tmp_path: Path) -> None:
    suite = irl.benchmark(PARTS, dict.fromkeys(PARTS, RUNS), ["LR"], n_resamples=99, progress=False)
    page = irl.report(suite, tmp_path / "suite.html", progress=False).read_text(encoding="utf-8")
    options = root(page).xpath("//select[@id='collection']/option")
    assert [option.text for option in options] == list(PARTS)
    for place, (name, result) in enumerate(suite.results.items()):
        data = browsed(page, place)
        assert [query["id"] for query in data["queries"]] == result.query_ids, name
        assert set(data["runs"]) == set(RUNS)
        np.testing.assert_allclose(
            data["values"]["LR"], result.values("LR")[[result.runs.index(run) for run in data["runs"]]], atol=1e-5
        )
    without = Report(suite, details=0).html()
    assert "browser-data" not in without.partition("<script>")[0]
    named = Report(suite, runs=dict.fromkeys(PARTS, RUNS), progress=False).html()
    data = browsed(named, 1)
    query = data["queries"][0]["id"]
    shown = ranking_in(data, "bm25", query)
    ranked = RUNS["bm25"][RUNS["bm25"]["query_id"] == query].sort_values("score", ascending=False)
    assert len(shown) == len(ranked)
    assert {doc_id for _, doc_id, _ in shown} == set(ranked["doc_id"])
    assert data["unjudged"]
    assert not browsed(page)["unjudged"]


def test_many_collections_share_the_room_of_one_page() -> None:
    """10 collections of 17 runs and 100 queries are no larger than one: fewer queries and pairs of each, and it is said."""
    collections, runs = {}, {}
    for number in range(10):
        qrels = {f"q{i}": {f"d{i}-{j}": 1 for j in range(5)} for i in range(100)}
        collections[f"part {number}"] = qrels
        runs[f"part {number}"] = {f"run{seed}": shuffled(qrels, 20 * number + seed) for seed in range(17)}
    suite = irl.benchmark(collections, runs, ["AP", "LR"], n_resamples=99, progress=False)
    page = Report(suite, progress=False).html()
    assert len(page.encode()) < 3_000_000
    assert "The 50 of 100 queries on which the runs differ most." in text_of(page, ".//section[@id='queries']")
    assert [len(browsed(page, place)["queries"]) for place in range(10)] == [50] * 10
