"""Relevant documents of each query, as sets or lists of ids, are qrels of grade 1."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ir_lexirecall as irl
from ir_lexirecall.data.judgments import Judgments

RUN = {"q": {"b": 2.0, "a": 1.0}, "p": {"c": 1.0}}
RUNS = {"one": RUN, "two": {"q": {"a": 1.0}, "p": {"x": 1.0}}}
GRADED = Judgments.from_qrels({"q": {"a": 1, "d": 1}, "p": {"c": 1}})

FORMS = {
    "sets": {"q": {"a", "d"}, "p": {"c"}},
    "lists": {"q": ["d", "a"], "p": ["c"]},
    "a document named twice": {"q": ["d", "a", "a"], "p": ["c"]},
    "tuples": {"q": ("d", "a"), "p": ("c",)},
    "frozen sets": {"q": frozenset({"a", "d"}), "p": frozenset("c")},
    "keys": {"q": {"a": 0, "d": 0}.keys(), "p": {"c": 0}.keys()},
    "arrays": {"q": np.array(["a", "d"]), "p": np.array(["c"], dtype=object)},
    "some with grades": {"q": {"a": 1, "d": 1}, "p": ["c"]},
    "series of ids": {"q": pd.Series(["a", "d"]), "p": pl.Series(["c"])},
    "series of rows": {"q": pd.Series(["a", "d"], [7, 5]), "p": {"c"}},
    "series of grades": {"q": pd.Series({"a": 1, "d": 1}), "p": pd.Series({"c": 1})},
}


@pytest.mark.parametrize("qrels", FORMS.values(), ids=FORMS)
def test_forms(qrels):
    before = repr(qrels)
    judgments = Judgments.from_qrels(qrels)
    assert judgments.doc_ids == GRADED.doc_ids
    assert judgments.grade.tolist() == GRADED.grade.tolist()
    assert judgments.query_ids == GRADED.query_ids
    assert repr(qrels) == before


def test_doors(tmp_path):
    qrels = FORMS["sets"]
    assert irl.evaluate("RR", qrels, RUN)["RR"].to_dict() == {"p": 1.0, "q": 0.5}
    expected = irl.compare(GRADED, RUNS).table()
    pd.testing.assert_frame_equal(irl.compare(qrels, RUNS).table(), expected)
    pd.testing.assert_frame_equal(
        irl.benchmark(qrels, RUNS, "AP").table(),
        irl.benchmark(GRADED, RUNS, "AP").table(),
    )
    by_name = irl.benchmark(
        {"x": qrels, "y": FORMS["lists"]}, {"x": RUNS, "y": RUNS}, "AP"
    )
    assert list(by_name) == ["x", "y"]
    assert irl.load(qrels, exclude={"q": ["d"]}).doc_ids == ["c", "a"]
    path = tmp_path / "relevant.json"
    path.write_text(json.dumps({name: sorted(docs) for name, docs in qrels.items()}))
    assert Judgments.from_qrels(str(path)).doc_ids == GRADED.doc_ids


def test_integers_are_ids():
    assert Judgments.from_qrels({1: {7, 5}}).doc_ids == ["5", "7"]
    assert Judgments.from_qrels({1: np.array([7, 5])}).doc_ids == ["5", "7"]


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        (
            {"q": [("a", 1)]},
            "query 'q' has \\('a', 1\\) among its relevant documents; give their",
        ),
        ({"q": [["a"]]}, "among its relevant documents"),
        ({"q": {("a", 2)}}, "among its relevant documents"),
        ({"q": [1.5]}, "ids must be strings or integers, but one is 1.5"),
        ({"q": ["1", 1]}, "an id occurs as a string and as an integer"),
        ({"q": [None]}, "ids must be strings or integers, but one is None"),
        ({"q": "abc"}, "query 'q' maps to 'abc', not to a dict of documents"),
        ({"q": 1}, "query 'q' maps to 1, not to a dict of documents"),
    ],
)
def test_what_is_not_an_id(qrels, message):
    with pytest.raises(ValueError, match=f"^evaluate: qrels: .*{message}"):
        irl.evaluate("RR", qrels, RUN)


@pytest.mark.parametrize("run", [{"q": {"a"}}, {"q": ["a", "b"]}])
def test_runs_need_scores(run):
    with pytest.raises(
        ValueError, match=r"query 'q' maps to .*, not to a dict of documents"
    ):
        irl.evaluate("RR", {"q": {"a"}}, run)


@pytest.mark.parametrize("ids", [[1, 2], ["1", 2], ["1", "2"]])
def test_lists_of_json_may_hold_integers(ids: list[object], tmp_path: Path) -> None:
    path = tmp_path / "qrels.json"
    path.write_text(json.dumps({"q": ids, "p": {"c": 2}}), encoding="utf-8")
    read = Judgments.from_qrels(path)
    expected = Judgments.from_qrels({"q": {"1": 1, "2": 1}, "p": {"c": 2}})
    assert read.doc_ids == expected.doc_ids
    assert read.grade.tolist() == expected.grade.tolist()


def test_lists_of_json_hold_ids_alone(tmp_path: Path) -> None:
    path = tmp_path / "qrels.json"
    path.write_text('{"q": ["a", 2.5]}', encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"query 'q': a document is 2\.5, not a string or an integer"
    ):
        Judgments.from_qrels(path)


@pytest.mark.parametrize(
    "relevant", [[1, 0, 1], (0, 0), np.array([0, 1, 1]), ("a", 2), ["a", 1, "b"]]
)
def test_labels_are_not_ids(relevant):
    with pytest.raises(ValueError, match=r"qrels: query 'q': expected ids of relevant"):
        irl.evaluate("AP", {"q": relevant}, {"q": {"a": 1.0}})


def test_series_by_query_are_runs_and_graded_qrels() -> None:
    rows = pd.DataFrame(
        {"qid": ["q", "q", "p"], "docno": [7, 8, 7], "score": [1.0, 2.0, 1.0]}
    )
    by_query = rows.set_index("docno").groupby("qid")["score"]
    run = dict(iter(by_query))
    expected = irl.evaluate("RR", {"q": {7: 1}, "p": {7: 2}}, rows)
    assert irl.evaluate("RR", {"q": {7: 1}, "p": {7: 2}}, run).equals(expected)
    ids = dict(iter(rows.groupby("qid")["docno"]))
    assert Judgments.from_qrels(ids).doc_ids == ["7", "7", "8"]
    graded = {"q": pd.Series([2, 0], pd.Index([7, 8], name="docno"))}
    assert Judgments.from_qrels(graded).grade.tolist() == [2, 0]
    with pytest.raises(ValueError, match="'a' occurs twice in a series; keep one"):
        irl.evaluate("RR", {"q": {"a": 1}}, {"q": pd.Series([2.0, 1.0], ["a", "a"])})
    with pytest.raises(ValueError, match=r"maps to .*, not to a dict of documents"):
        irl.evaluate("RR", {"q": {"a": 1}}, {"q": pd.Series(["a"])})
