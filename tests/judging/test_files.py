"""Pools as files: CSV, and the page to judge in, in headless Chromium."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo, load
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.judging.files import (
    merged,
    merged_judges,
    write_pool_csv,
    write_pool_page,
)

pytest.importorskip("jinja2")

from chromium import Browser, wait_for
from pages import HOSTILE


def table_of(
    *rows: tuple[str, str], ranks: dict[str, list[int | None]] | None = None
) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id"])
    for name, places in (ranks or {}).items():
        frame[f"rank_{name}"] = pd.array(places, dtype="Int64")
    return frame


TABLE = table_of(
    ("q1", "a"),
    ("q1", "b"),
    ("q2", "a"),
    ranks={"bm25": [1, 5, None], "ql": [2, None, 3]},
)
TEXTS = {"a": "first text", "b": "second text"}
QUERIES = {"q1": "what is it?", "q2": "where is it?"}


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Path:
    path = write_pool_page(
        TABLE, tmp_path / "pool.html", texts=TEXTS, queries=QUERIES, max_rel=2
    )
    browser.open(path)
    assert text(browser, "progress") == "Document 1 of 3; 0 judged."
    return path


def reopen_until(browser: Browser, path: Path, condition: Callable[[], bool]) -> None:
    """Open a page until it sees what the page before has stored: after a moment, as they may be of two processes.

    The page before stays for a moment, as it does before a person closes it: Chromium may drop
    what a page has stored just before it is left.
    """
    time.sleep(0.3)
    end = time.monotonic() + 60
    browser.open(path)
    while not condition() and time.monotonic() < end:
        browser.open(path)


def text(browser: Browser, name: str) -> str:
    return browser.js(f"document.getElementById({name!r}).textContent")


def saved(browser: Browser, folder: Path, name: str) -> Path:
    browser.download_to(folder)
    browser.press("s")
    path = folder / name
    wait_for(lambda: path.exists() and not list(folder.glob("*.crdownload")))
    return path


@pytest.mark.slow
def test_judging_by_keyboard_alone_is_saved_as_qrels(
    browser: Browser, page: Path, tmp_path: Path
) -> None:
    assert text(browser, "query-id") == "q1"
    assert text(browser, "query-text") == "what is it?"
    assert text(browser, "doc-id") == "a"
    assert text(browser, "text") == "first text"
    assert text(browser, "runs") == "Retrieved by 2 of 2 runs"
    assert text(browser, "progress") == "Document 1 of 3; 0 judged."
    browser.press("2")
    assert text(browser, "doc-id") == "b"
    browser.press("ArrowRight", "0")
    assert text(browser, "doc-id") == "b"  # the one that was passed over
    browser.press("7")  # no such grade
    assert text(browser, "progress") == "Document 2 of 3; 2 judged."
    browser.press("1")
    assert text(browser, "progress").endswith("All are judged: save them.")
    file = saved(browser, tmp_path, "judged.qrels")
    assert file.read_text() == "q1 0 a 2\nq1 0 b 1\nq2 0 a 0\n"
    more = merged(Judgments.from_qrels({"q1": {"z": 1}, "q2": {"z": 0}}), file)
    assert more.grade.tolist() == [2, 1, 1, 0, 0]
    browser.nothing_went_wrong()


@pytest.mark.slow
def test_progress_survives_closing_and_can_be_taken_back_and_forgotten(
    browser: Browser, page: Path
) -> None:
    browser.press("1", "1")
    assert text(browser, "progress") == "Document 3 of 3; 2 judged."
    reopen_until(
        browser, page, lambda: text(browser, "progress") == "Document 3 of 3; 2 judged."
    )
    assert text(browser, "progress") == "Document 3 of 3; 2 judged."
    browser.press("ArrowLeft")
    assert browser.js(
        "document.querySelector('#grades [aria-pressed=true]').textContent"
    ) == ("1 relevant")
    browser.press("Backspace")
    assert text(browser, "progress") == "Document 2 of 3; 1 judged."
    browser.click("document.getElementById('forget')")
    assert text(browser, "progress") == "Document 2 of 3; 1 judged."
    browser.press("ArrowRight")
    browser.click("document.getElementById('forget')")  # asks again after anything else
    assert text(browser, "progress") == "Document 3 of 3; 1 judged."
    browser.click("document.getElementById('forget')")
    assert text(browser, "progress") == "Document 1 of 3; 0 judged."
    reopen_until(
        browser, page, lambda: text(browser, "progress") == "Document 1 of 3; 0 judged."
    )
    assert text(browser, "progress") == "Document 1 of 3; 0 judged."
    browser.nothing_went_wrong()


@pytest.mark.slow
def test_who_listens_hears_what_is_judged_next_and_keeps_the_place(
    browser: Browser, page: Path
) -> None:
    focus = "document.activeElement.id"
    browser.press("1")
    assert browser.js(focus) == "doc-id"
    said = text(browser, "now")
    assert said == "Query q1: what is it?; document b. Document 2 of 3; 1 judged."
    assert browser.js("document.querySelectorAll('[role=status]').length") == 1
    for name in (
        "previous",
        "previous",
        "clear",
        "clear",
        "next",
    ):  # the second time there is nothing to do
        browser.click(f"document.getElementById({name!r})")
        assert browser.js(focus) == name
    assert text(browser, "progress") == "Document 2 of 3; 0 judged."
    browser.click("document.querySelector('#grades button')")
    assert browser.js(focus) == "doc-id"
    browser.nothing_went_wrong()


@pytest.mark.parametrize("width", [390, 1200])
def test_grades_stay_in_sight_and_every_document_begins_at_its_top(
    browser: Browser, width: int, tmp_path: Path
) -> None:
    long = dict.fromkeys(("a", "b"), "a long text " * 1000)
    browser.open(
        write_pool_page(TABLE, tmp_path / "pool.html", texts=long, max_rel=3), width
    )
    browser.js("localStorage.clear()")
    in_sight = "(r => r.top >= 0 && r.bottom <= innerHeight)(document.getElementById('grades').getBoundingClientRect())"
    assert browser.js(in_sight)
    browser.js(
        "document.getElementById('text').scrollTop = 300; window.scrollTo(0, 300)"
    )
    if width == 390:
        assert browser.js("scrollY") == 300
        assert browser.js(in_sight)
    browser.press("2")
    assert browser.js("scrollY + document.getElementById('text').scrollTop") == 0
    assert browser.js(in_sight)


@pytest.mark.slow
def test_two_judges_save_files_of_their_own(
    browser: Browser, page: Path, tmp_path: Path
) -> None:
    browser.click("document.getElementById('name')")
    browser("Input.insertText", text="Ada L. 1")
    assert (
        text(browser, "progress") == "Document 1 of 3; 0 judged."
    )  # a digit in a name judges nothing
    browser.js("document.activeElement.blur()")
    browser.press("1", "0")
    first = saved(browser, tmp_path, "judged-Ada-L-1.qrels")
    reopen_until(
        browser,
        page,
        lambda: browser.js("document.getElementById('name').value") == "Ada L. 1",
    )
    agreed, differ = merged_judges(first, {"q1": {"a": 2, "b": 0}, "q2": {"a": 2}})
    assert agreed.to_numpy().tolist() == [["q1", "b", 0], ["q2", "a", 2]]
    assert differ.to_numpy().tolist() == [["q1", "a", 1, 2]]
    browser.open(
        write_pool_page(differ, tmp_path / "again.html", texts=TEXTS, max_rel=2)
    )
    assert text(browser, "progress") == "Document 1 of 1; 0 judged."
    assert text(browser, "doc-id") == "a"


def test_everything_can_be_reached_with_the_tab_key(
    browser: Browser, page: Path
) -> None:
    reached = set()
    for _ in range(20):
        browser.press("Tab")
        reached.add(
            browser.js(
                "document.activeElement.id || document.activeElement.textContent"
            )
        )
    assert {
        *(
            "next",
            "unjudged",
            "0 not relevant",
            "1 relevant",
            "2 highly relevant",
            "forget",
        ),
        *("runs", "text"),
    } <= reached


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_with_hostile_texts_and_does_nothing_they_say(
    browser: Browser, width: int, scheme: str, tmp_path: Path
) -> None:
    rows = [(query, doc) for query in HOSTILE for doc in HOSTILE]
    table = table_of(
        *rows, ranks={HOSTILE[0]: [1] * len(rows), "x" * 200: [2] * len(rows)}
    )
    texts = {doc: doc * 50 + "\n" + "y" * 500 for doc in HOSTILE}
    path = write_pool_page(
        table,
        tmp_path / "pool.html",
        texts=texts,
        queries=dict(zip(HOSTILE, HOSTILE[::-1], strict=True)),
        max_rel=9,
        labels=[HOSTILE[0], "w" * 100],
        title=HOSTILE[1],
    )
    browser.open(path, width, scheme)
    browser.js("localStorage.clear(); document.querySelector('details').open = true")
    assert browser.js(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    for query, doc in rows:
        assert text(browser, "query-id") == query
        assert text(browser, "doc-id") == doc
        assert text(browser, "text") == texts[doc]
        browser.press("ArrowRight")
    assert browser.js("document.querySelectorAll('img, #judge script').length") == 0
    browser.press("9")
    file = saved(
        browser,
        tmp_path,
        "judged.json" if any(map(str.isspace, "".join(rows[-1]))) else "judged.qrels",
    )
    assert Judgments.from_qrels(file).grade.tolist() == [9]
    browser.nothing_went_wrong()


def test_ids_with_blanks_are_saved_as_json(browser: Browser, tmp_path: Path) -> None:
    table = table_of(("a query", "__proto__"), ("__proto__", "a b"), ("__proto__", "c"))
    browser.open(write_pool_page(table, tmp_path / "pool.html"))
    assert text(browser, "text") == "No text: look the document up by its id."
    browser.press("1", "0", "1")
    judgments = Judgments.from_qrels(saved(browser, tmp_path, "judged.json"))
    assert judgments.query_ids == ["__proto__", "a query"]
    assert judgments.doc_ids == ["a b", "c", "__proto__"]
    assert judgments.grade.tolist() == [0, 1, 1]


def test_an_empty_pool_says_so(browser: Browser, tmp_path: Path) -> None:
    browser.open(write_pool_page(TABLE[:0], tmp_path / "pool.html"))
    assert text(browser, "progress") == "There is nothing to judge."
    for _ in range(2):
        browser.click("document.getElementById('forget')")
    browser.nothing_went_wrong()


def test_the_page_holds_its_pool_as_json_that_no_text_ends(tmp_path: Path) -> None:
    texts = {"a": "</script><!-- it's & more"}
    labels = ["no", "yes"]
    page = write_pool_page(
        TABLE, tmp_path / "pool.html", texts=texts, max_rel=2, labels=labels
    ).read_text()
    pool = json.loads(page.partition('id="pool">')[2].partition("</script>")[0])
    assert pool["documents"][0] == {
        "query": "q1",
        "doc": "a",
        "text": texts["a"],
        "ranks": [1, 2],
    }
    assert pool["grades"] == ["no", "yes", ""]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            ["no", "some", "much"],
            "there are 3, but the grades are 0 to 1: 'much' has none; give max_rel=2",
        ),
        (
            tuple("abcd"),
            "there are 4, but the grades are 0 to 1: 'c' has none; give max_rel=3",
        ),
        ("yes", "labels must be a list of texts, .* not 'yes'"),
        ([0, 1], "labels must be a list of texts"),
    ],
)
def test_labels_are_of_grades(labels: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^write_pool_page: (labels: )?{message}"):
        write_pool_page(TABLE, tmp_path / "page.html", labels=labels)
    assert not (tmp_path / "page.html").exists()


FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tx",
    "'=1",
    "''-1",
    "'d1'",
    "d=1",
    "-",
    '=HYPERLINK("x")',
    "1",
]


@pytest.mark.sparse
@pytest.mark.parametrize("doc_id", FORMULAS)
@pytest.mark.parametrize("query_id", ["q1", "=1", "'-2"])
def test_no_cell_is_a_formula_and_ids_come_back(
    query_id: str, doc_id: str, tmp_path: Path
) -> None:
    table = table_of((query_id, doc_id), ranks={"ql": [1]}).assign(
        note="=2", **{"=head": "@x"}
    )
    texts, queries = {doc_id: "=text"}, {query_id: "-query"}
    path = write_pool_csv(table, tmp_path / "pool.csv", texts=texts, queries=queries)
    with open(path, newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    starts = ("=", "+", "-", "@", "\t", "\r")
    assert not [cell for row in rows for cell in row if cell.startswith(starts)]
    filled = pd.read_csv(path, dtype=str, keep_default_na=False).assign(relevance="2")
    filled.to_csv(path, index=False)
    more = merged(Judgments.from_qrels({query_id: {"other": 1}}), str(path))
    assert sorted(more.doc_ids) == sorted([doc_id, "other"])
    judgments = Judgments.from_qrels(str(path))
    assert (judgments.query_ids, judgments.doc_ids) == ([query_id], [doc_id])
    agreed, _ = merged_judges(str(path), {query_id: {doc_id: 2}})
    assert agreed.values.tolist() == [[query_id, doc_id, 2]]


@pytest.mark.parametrize(
    "start", ["\r=1", "\n=1", "\uff1d1", "\uff0b1", "\uff20x", "a\r=1"]
)
def test_returns_and_wide_signs_make_no_formula_nor_rows(
    start: str, tmp_path: Path
) -> None:
    table = table_of(("q", "d"), ranks={"ql": [1]})
    path = write_pool_csv(
        table, tmp_path / "pool.csv", texts={"d": start}, queries={"q": start}
    )
    with open(path, newline="", encoding="utf-8") as stream:
        header, row = csv.reader(stream)
    cells = dict(zip(header, row, strict=True))
    assert (cells["query_id"], cells["doc_id"]) == ("q", "d")
    expected = start if start.startswith("a") else f"'{start}"
    assert (cells["query"], cells["text"]) == (expected, expected)
    rows = [header, [*row[:4], "1", *row[5:]]]
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows(rows)
    assert Judgments.from_qrels(str(path)).grade.tolist() == [1.0]


def test_qrels_keep_their_apostrophes(tmp_path: Path) -> None:
    path = tmp_path / "qrels.csv"
    path.write_text("query_id,doc_id,relevance\nq,'=1,1\n")
    assert Judgments.from_qrels(str(path)).doc_ids == ["'=1"]


EMPTY = {"none": None, "nan": float("nan"), "text": "", "blanks": " "}


@pytest.mark.parametrize("empty", EMPTY)
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_documents_without_a_grade_are_not_judged_yet(
    ending: str, empty: str, tmp_path: Path
) -> None:
    path = tmp_path / f"pool.{ending}"
    table = pd.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "c"]})
    table["relevance"] = pd.Series([2, EMPTY[empty], 0], dtype=object)
    if ending == "parquet":
        if isinstance(EMPTY[empty], str):
            pytest.skip("a column of Parquet has one type")
        table.astype({"relevance": float}).to_parquet(path)
    elif ending.startswith("json"):
        lines = ending == "jsonl"
        table.to_json(path, orient="records", lines=lines)
    else:
        table.to_csv(path, index=False, sep={"csv": ",", "tsv": "\t"}[ending])
    with pytest.warns(UserWarning, match="1 of 3 documents have no grade yet"):
        added = merged(Judgments.from_qrels({"q": {"z": 1}}), path)
    assert dict(zip(added.doc_ids, added.grade, strict=True)) == {
        "a": 2,
        "c": 0,
        "z": 1,
    }


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_pool_that_nobody_judged_says_what_to_do(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"pool.{ending}"
    table = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "relevance": [None]})
    if ending == "csv":
        table.to_csv(path, index=False)
    elif ending == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_parquet(path)
    with pytest.raises(ValueError, match="no document in it has a grade; fill in"):
        merged(Judgments.from_qrels({"q": {"z": 1}}), path)


def test_merged_judgments_say_how_their_queries_were_chosen() -> None:
    queries = [f"q{i}" for i in range(12)]
    chosen = load({query_id: {"a": 1} for query_id in queries}, queries="relevant")
    more = merged(chosen, {"q0": {"b": 0}})
    assert more.only_relevant
    runs = {name: {q: {name: 1.0} for q in queries} for name in ("a", "b")}
    predicted = {query_id: {"a": 1} for query_id in [*queries, "more"]}
    with pytest.raises(
        ValueError, match="predicted needs the whole random sample of queries"
    ):
        irl.compare(more, runs, predicted=predicted)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"q": {"a": "x"}}, "the relevance of document 'a' for query 'q' is 'x'"),
        (
            {"q": {"a": 0}},
            "added and the judgments before it: document 'a' of query 'q' is judged twice",
        ),
        ({"z": {"a": 1}}, "the qrels have no query 'z'"),
        ("nothing.txt", "there is no such file"),
        ({}, "there are no judgments"),
    ],
)
def test_errors_of_merged_name_it(more: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        merged(Judgments.from_qrels({"q": {"a": 1}}), more)
    assert str(caught.value).startswith("merged: ")
    assert "from_qrels" not in str(caught.value)


@pytest.mark.parametrize("rows", ["q2,d,1\nq1,z,t,0\n", "q1,z,t,0\nq2,d,1\n", "q1,z\n"])
def test_a_row_without_a_field_for_its_grade_is_refused(
    rows: str, tmp_path: Path
) -> None:
    """Its grade may stand in the column before."""
    path = tmp_path / "pool.csv"
    path.write_text(f"query_id,doc_id,text,relevance\n{rows}")
    judgments = Judgments.from_qrels({"q1": {"y": 1}, "q2": {"e": 1}})
    message = (
        r"line \d: [23] fields where 4 are expected .* leave the field empty where"
    )
    with pytest.raises(ValueError, match=message):
        merged(judgments, path)
    path.write_text("query_id,doc_id,relevance,text\nq1,z,1\nq2,d,,t\n")
    with pytest.warns(UserWarning, match="1 of 2 documents have no grade yet"):
        assert merged(judgments, path).grade.tolist() == [1, 1, 1]


def test_csv_has_texts_and_room_for_grades(tmp_path: Path) -> None:
    path = write_pool_csv(TABLE, tmp_path / "pool.csv", texts=TEXTS, queries=QUERIES)
    with open(path, newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == [
        "query_id",
        "query",
        "doc_id",
        "text",
        "relevance",
        "rank_bm25",
        "rank_ql",
    ]
    assert rows[1]["text"] == "second text"
    assert rows[1]["rank_ql"] == ""
    assert rows[2]["query"] == "where is it?"


def test_a_collection_gives_the_texts(tmp_path: Path) -> None:
    collection = load("lexirecall/demo")
    pool = Pool.from_runs(
        Judgments.from_qrels(collection), {"bm25": demo.run("bm25")}, 5
    )
    row = pool.only(~pool.is_judged).query[:1]
    table = table_of((pool.judgments.query_ids[int(row[0])], pool.doc_id[0]))
    path = write_pool_csv(table, tmp_path / "pool.csv", texts=collection)
    assert len(pd.read_csv(path)) == 1


def test_judges_of_different_queries_are_refused() -> None:
    with pytest.raises(
        ValueError, match="merged_judges: the two judges have no query in common"
    ):
        merged_judges({"q": {"a": 1}}, {"p": {"a": 1}})


@pytest.mark.parametrize("write", [write_pool_csv, write_pool_page])
def test_what_is_no_pool_is_refused(write: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=f"{write.__name__}: the table has no column 'doc_id'"
    ):
        write(pd.DataFrame({"query_id": ["q"]}), tmp_path / "pool")
    with pytest.raises(ValueError, match="there is no folder"):
        write(TABLE, tmp_path / "nowhere" / "pool")
    with pytest.raises(ValueError, match="path must name a file to write, not 3"):
        write(TABLE, 3)


def test_more_grades_than_keys_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="max_rel must be an integer from 1 to 9"):
        write_pool_page(TABLE, tmp_path / "pool.html", max_rel=10)
