"""What the query browser of a report holds: rankings as sorted by hand, decisions as explained by the API."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import demo
from ir_lexirecall.cli import main
from ir_lexirecall.comparison import Comparison

pytest.importorskip("jinja2")
pytest.importorskip("lxml.html")

from command_line import FILES
from pages import browsed, page_of, ranking_in, shuffled, text_of

RUNS = {name: demo.run(name) for name in ("bm25", "ql", "overlap")}
PREFERENCES = ["lexirecall", "lexiprecision", "rpp", "dominance"]
MEASURES = ["AP", "nDCG@10", "LR"]


@pytest.fixture(scope="module")
def result() -> Comparison:
    return irl.compare("lexirecall/demo", RUNS, [*PREFERENCES, *MEASURES])


@pytest.fixture(scope="module")
def data(result: Comparison) -> dict[str, Any]:
    return browsed(page_of(result, runs=RUNS))


def in_order(run: dict[str, float]) -> list[str]:
    """Documents as trec_eval orders them: by score, then by id, both falling."""
    return sorted(
        run, key=lambda doc_id: (np.float32(run[doc_id]), doc_id), reverse=True
    )


ids = st.text("abc", min_size=1, max_size=2)
rankings = st.dictionaries(ids, st.integers(0, 3).map(float), max_size=9)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.dictionaries(ids, st.integers(0, 2), min_size=1, max_size=5),
    rankings,
    rankings,
    st.booleans(),
)
def test_rankings_are_those_of_the_runs(
    judged: dict[str, int],
    first: dict[str, float],
    second: dict[str, float],
    named: bool,
) -> None:
    judged = {"a": 1, **judged, "zz": 1}
    first, second = {"a": 1.0, **first}, {"zz": 1.0, **second}
    runs = {"one": {"q": first}, "two": {"q": second}}
    data = browsed(
        page_of(
            irl.compare({"q": judged}, runs), runs=runs if named else {}, progress=False
        )
    )
    for name, run in (("one", first), ("two", second)):
        expected = [
            (rank, doc_id, judged.get(doc_id))
            for rank, doc_id in enumerate(in_order(run), start=1)
        ]
        if not named:
            expected = [row for row in expected if row[2] is not None]
        assert ranking_in(data, name, "q") == expected
        assert data["rankings"][data["runs"].index(name)]["depth"] == [len(run)]


def test_relevant_documents_are_shown_however_deep() -> None:
    qrels = {"q": {"d700": 1, "d3": 1, "d500": 0}}
    run = {"q": {f"d{i}": float(-i) for i in range(1, 1001)}}
    page = page_of(irl.compare(qrels, {"one": run, "two": run}), runs={"one": run})
    shown = ranking_in(browsed(page), "one", "q")
    assert [rank for rank, *_ in shown] == [*range(1, 101), 700]
    assert shown[-1] == (700, "d700", 1)
    assert ranking_in(browsed(page), "two", "q") == [(3, "d3", 1), (700, "d700", 1)]


def test_judged_documents_that_no_ranking_shows_are_left_out_unless_relevant() -> None:
    qrels = {"q": {"missed": 1, "d1": 1, "d2": 0, "elsewhere": 0, "d500": 0}}
    run = {"q": {f"d{i}": float(-i) for i in range(1, 1001)}}
    data = browsed(page_of(irl.compare(qrels, {"one": run, "two": run}), runs={}))
    assert data["docs"] == [["d1", "d2", "missed"]]
    assert ranking_in(data, "one", "q") == [(1, "d1", 1), (2, "d2", 0)]


def test_decisions_are_those_of_the_api(
    result: Comparison, data: dict[str, Any]
) -> None:
    names = data["runs"]
    assert [criterion["name"] for criterion in data["criteria"]] == [
        *PREFERENCES,
        *MEASURES,
    ]
    assert len(data["pairs"]) == 3
    columns = {
        "level": "level",
        "tied_levels": "tied",
        "rank_a": "a",
        "rank_b": "b",
        "levels_a": "a",
        "levels_b": "b",
    }
    checked = 0
    for (a, b), decided in zip(data["pairs"], data["decided"], strict=True):
        for name, packed in zip([*PREFERENCES, *MEASURES], decided, strict=True):
            if name in MEASURES:
                assert packed == {}
                continue
            table = result.explain(names[a], names[b], name)
            expected = {"preference": "v"} | {
                long: short for long, short in columns.items() if long in table
            }
            for long, short in expected.items():
                numbers = np.array(packed[short], dtype=float)
                np.testing.assert_array_equal(
                    numbers, table[long].to_numpy(dtype=float, na_value=np.nan)
                )
                checked += 1
    assert checked == 3 * (5 + 5 + 3 + 1)
    for criterion in data["criteria"]:
        if criterion["name"] in MEASURES:
            assert (
                criterion["values"]
                == result.per_query(criterion["name"])[names].T.to_numpy().tolist()
            )
        else:
            assert criterion["values"] is None


def test_ties_are_those_of_the_comparison() -> None:
    """Values that differ by rounding only are level; those that differ in the seventh place are not."""
    qrels = {f"q{i}": {f"d{j}": 1 for j in range(6)} for i in range(40)}
    runs = {
        name: shuffled(qrels, seed) for seed, name in enumerate(("one", "two", "three"))
    }
    result = irl.compare(qrels, runs, ["AP", "RBP(p=0.99999)", "RE(n=1000000)"])
    data = browsed(page_of(result, progress=False))
    for criterion in data["criteria"]:
        sign = -1 if criterion["smaller"] else 1
        for row in result.table(criterion["name"]).itertuples():
            a, b = (
                criterion["values"][data["runs"].index(run)]
                for run in (row.run_a, row.run_b)
            )
            gains = [sign * (x - y) for x, y in zip(a, b, strict=True)]
            assert (
                sum(gain > 0 for gain in gains),
                sum(gain < 0 for gain in gains),
            ) == (
                row.wins,
                row.losses,
            )


def test_texts_come_from_the_collection_of_the_qrels(data: dict[str, Any]) -> None:
    docs = demo.docs().set_index("doc_id")
    queries = demo.queries().set_index("query_id")["text"]
    ranked = {
        doc_id
        for run in data["runs"]
        for q in data["queries"]
        for _, doc_id, _ in ranking_in(data, run, q["id"])
    }
    relevant = set(demo.qrels().query("relevance > 0")["doc_id"])
    assert set(dict(data["texts"])) == ranked | relevant
    for doc_id, text in data["texts"]:
        assert text.startswith(docs.loc[doc_id, "title"])
        assert len(text) <= 241
    assert {
        query["id"]: query["text"] for query in data["queries"]
    } == queries.to_dict()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="without bash")
def test_the_command_line_names_documents_of_files_and_reads_pipes_once(
    tmp_path: Path,
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    script = f"{sys.executable} -m ir_lexirecall report qrels.txt bm25.run <(cat dph.txt) -m AP -o report.html >/dev/null"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    data = browsed((tmp_path / "report.html").read_text(encoding="utf-8"))
    (piped,) = set(data["runs"]) - {"bm25"}
    assert ranking_in(data, "bm25", "q1") == [(1, "a", 1), (2, "x", None), (3, "c", 2)]
    assert ranking_in(data, piped, "q2") == [(2, "a", 2)]


def test_the_command_of_many_collections_names_documents_of_files(
    tmp_path: Path,
) -> None:
    (tmp_path / "suite" / "letters").mkdir(parents=True)
    for name in ("qrels.txt", "bm25.run", "dph.txt"):
        (tmp_path / "suite" / "letters" / name).write_text(
            FILES[name], encoding="utf-8"
        )
    page = tmp_path / "report.html"
    words = [
        "benchmark",
        str(tmp_path / "suite"),
        "-m",
        "AP",
        "--n-resamples",
        "99",
        "--report",
        str(page),
    ]
    assert main(words) == 0
    data = browsed(page.read_text(encoding="utf-8"))
    assert ranking_in(data, "bm25", "q1") == [(1, "a", 1), (2, "x", None), (3, "c", 2)]


def test_pairs_of_the_best_runs_come_first_and_the_text_says_how_many() -> None:
    result = irl.compare(demo.qrels(), demo.runs())
    page = page_of(result, details=3)
    data = browsed(page)
    best = list(result.ranking()["run"])
    assert data["runs"] == best[:3]
    pairs = [{data["runs"][i] for i in pair} for pair in data["pairs"]]
    assert pairs == [set(pair) for pair in itertools.combinations(best[:3], 2)]
    assert "3 of 10 pairs" in text_of(page, ".//section[@id='queries']")
    assert 'class="browser-data"' not in page_of(result, details=0)


@pytest.mark.slow
@pytest.mark.parametrize(("n_runs", "most"), [(2, 400_000), (17, 1_050_000)])
def test_reports_of_a_hundred_queries_to_depth_100_are_small(
    n_runs: int, most: int
) -> None:
    dice, ids = np.random.default_rng(0), [f"DOC-{n:06}" for n in range(35_000)]
    qrels = {
        f"q{i}": {ids[350 * i + j]: int(j % 3 == 0) for j in range(50)}
        for i in range(100)
    }
    runs = {
        f"run{seed}": {
            f"q{i}": {
                ids[350 * i + n]: float(-r)
                for r, n in enumerate(dice.permutation(350)[:200].tolist())
            }
            for i in range(100)
        }
        for seed in range(n_runs)
    }
    result = irl.compare(qrels, runs, ["LR", "AP", "nDCG@10", "lexirecall"])
    page = page_of(result, runs=runs, progress=False)
    assert len(page.encode()) < most
    data = browsed(page)
    assert data["depth"] == 100
    assert len(data["pairs"]) == n_runs * (n_runs - 1) // 2
    assert len(ranking_in(data, "run0", "q7")) >= 100
