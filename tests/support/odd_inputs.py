"""Qrels and runs as nobody should give them, and some that look odd and are right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from ir_measures import Qrel, ScoredDoc

VALUES = ("relevance", "score")
Rows = list[tuple[Any, Any, Any]]
QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}, "q0": {"x": 0}}
RUN = {
    "q2": {"a": 1.0, "b": 1.0},
    "q1": {"b": 3.0, "a": 1.0, "z": 1.0},
    "unjudged": {"a": 1.0},
}
NAN = float("nan")


def refusal(call: Callable[[], Any]) -> str:
    """The message of the ``ValueError`` that ``call`` raises, a line."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 the message is what the tests look at
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def nested(rows: Rows, value: str = "") -> dict[Any, dict[Any, Any]]:
    table: dict[Any, dict[Any, Any]] = {}
    for query_id, doc_id, number in rows:
        table.setdefault(query_id, {})[doc_id] = number
    return table


def named_tuples(rows: Rows, value: str) -> list[Any]:
    return [(Qrel if value == "relevance" else ScoredDoc)(*row) for row in rows]


def rows(table: dict[Any, dict[Any, Any]]) -> Rows:
    return [(q, doc, value) for q, docs in table.items() for doc, value in docs.items()]


def frame(table: dict[Any, dict[Any, Any]], value: str, **dtypes: Any) -> pd.DataFrame:
    return pd.DataFrame(rows(table), columns=["query_id", "doc_id", value]).astype(
        dtypes
    )


def tuples(table: dict[Any, dict[Any, Any]], value: str) -> list[Any]:
    return named_tuples(rows(table), value)


def strings(table: dict[Any, dict[Any, Any]], value: str, dtype: Any) -> pd.DataFrame:
    return frame(table, value, query_id=dtype, doc_id=dtype)


ODD_QRELS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "a number": lambda: 7,
    "a missing path": lambda: "no/such/file",
    "no query": lambda: {},
    "no row": lambda: [],
    "an empty table": lambda: frame({}, "relevance"),
    "a query without documents": lambda: {**QRELS, "empty": {}},
    "integer ids": lambda: {1: {2: 1}},
    "an integer document id": lambda: {"q1": {2: 1}},
    "ids of several types": lambda: {"q1": {"a": 1, 2: 1}},
    "no id": lambda: {None: {"a": 1}},
    "integer columns": lambda: pd.DataFrame(
        {"query_id": [1], "doc_id": [2], "relevance": [1]}
    ),
    "a column of several types": lambda: pd.DataFrame(
        {"query_id": "q1", "doc_id": ["a", 2], "relevance": [1, 1]}
    ),
    "a missing id": lambda: pd.DataFrame(
        {"query_id": ["q1"], "doc_id": [NAN], "relevance": [1]}
    ),
    "a missing string": lambda: pd.DataFrame(
        {"query_id": ["q1"], "doc_id": [None], "relevance": [1]}, dtype="str"
    ),
    "whole floats": lambda: {"q1": {"a": 1.0, "b": 0.0}},
    "half a grade": lambda: {"q1": {"a": 1.5}},
    "truth values": lambda: {"q1": {"a": True}},
    "NumPy's integers": lambda: {"q1": {"a": np.int64(1), "b": np.int32(0)}},
    "NumPy's floats": lambda: {"q1": {"a": np.float64(1)}},
    "a string": lambda: {"q1": {"a": "1"}},
    "no grade": lambda: {"q1": {"a": None}},
    "a grade of NaN": lambda: {"q1": {"a": NAN}},
    "a negative grade": lambda: {"q1": {"a": -1, "b": 1}},
    "a float column": lambda: frame(QRELS, "relevance", relevance=float),
    "a column of int8": lambda: frame(QRELS, "relevance", relevance="int8"),
    "a nullable column": lambda: frame(QRELS, "relevance", relevance="Int64"),
    "a column of truth values": lambda: frame(
        {"q1": {"a": 1, "b": 0}}, "relevance", relevance=bool
    ),
    "a document judged twice": lambda: pd.concat(
        [frame(QRELS, "relevance"), frame({"q1": {"a": 0}}, "relevance")]
    ),
    "a tuple judged twice": lambda: [*tuples(QRELS, "relevance"), Qrel("q1", "a", 0)],
    "two iterations": lambda: pd.concat(
        [
            frame(QRELS, "relevance").assign(iteration="1"),
            frame({"q1": {"a": 0}}, "relevance").assign(iteration="2"),
        ]
    ),
    "iterations that are named": lambda: frame(QRELS, "relevance").assign(
        iteration=["relevance", "quality", "quality", "relevance", "quality"]
    ),
    "subtopics": lambda: frame(QRELS, "relevance").assign(subtopic_id="5"),
    "letters beyond ASCII": lambda: frame({"q1": {"ä": 1, "a": 2}}, "relevance").assign(
        subtopic_id=["ö", "1"]
    ),
    "iterations beside subtopics": lambda: frame(QRELS, "relevance").assign(
        iteration="1", subtopic_id="2"
    ),
    "a missing iteration": lambda: frame({"q1": {"a": 1}}, "relevance").assign(
        iteration=None
    ),
    "a weight that is a string": lambda: frame({"q1": {"a": 1}}, "relevance").assign(
        weight="1"
    ),
    "a data set's id": lambda: "lexirecall/demo",
}

ODD_RUNS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "a missing path": lambda: "no/such/file",
    "no query": lambda: {},
    "no row": lambda: [],
    "an empty table": lambda: frame({}, "score"),
    "an empty ranking": lambda: {"q2": {"a": 1.0}, "q1": {}, "q0": {}},
    "an empty ranking of a query that is not judged": lambda: {
        "unjudged": {},
        "q2": {"a": 1.0},
    },
    "a document twice": lambda: pd.concat(
        [frame(RUN, "score"), frame({"q1": {"a": 9.0}}, "score")]
    ),
    "a tuple twice": lambda: [*tuples(RUN, "score"), ScoredDoc("q1", "a", 9.0)],
    "rows of a query in several places": lambda: [
        *(
            ScoredDoc("q1", "a", 1.0),
            ScoredDoc("q2", "a", 1.0),
            ScoredDoc("q1", "b", 2.0),
        )
    ],
    "a score of NaN": lambda: {"q1": {"a": NAN, "b": 1.0}},
    "a score of NaN in a table": lambda: frame({"q1": {"a": NAN, "b": 1.0}}, "score"),
    "a score of NaN for a query that is not judged": lambda: {
        "q1": {"a": 1.0},
        "unjudged": {"a": NAN},
    },
    "no score": lambda: {"q1": {"a": None, "b": 1.0}},
    "a string": lambda: {"q1": {"a": "1", "b": 1.0}},
    "a column of strings": lambda: frame({"q1": {"a": "1", "b": "2"}}, "score"),
    "infinity": lambda: {"q1": {"a": float("inf"), "b": 1.0}},
    "integers": lambda: {"q1": {"a": 1, "b": 2}},
    "large integers": lambda: {"q1": {"a": 2**80, "b": 2}},
    "a column of integers": lambda: frame({"q1": {"a": 1, "b": 2}}, "score"),
    "truth values": lambda: {"q1": {"a": True, "b": False}},
    "NumPy's doubles": lambda: {"q1": {"a": np.float64(1), "b": np.float64(2)}},
    "NumPy's floats": lambda: {"q1": {"a": np.float32(1), "b": np.float32(2)}},
    "NumPy's integers": lambda: {"q1": {"a": np.int64(1), "b": np.int64(2)}},
    "a column of float32": lambda: frame(RUN, "score", score="float32"),
    "a nullable column": lambda: frame(RUN, "score", score="Float64"),
    "integer ids": lambda: {1: {2: 1.0}},
    "an integer document id": lambda: {"q1": {2: 1.0}},
    "ids of several types": lambda: {"q1": {"a": 1.0, 2: 1.0}},
    "an integer id of a query that is not judged": lambda: {
        "q1": {"a": 1.0},
        7: {"a": 1.0},
    },
    "integer columns": lambda: pd.DataFrame(
        {"query_id": [1], "doc_id": [2], "score": [1.0]}
    ),
    "a column of several types": lambda: pd.DataFrame(
        {"query_id": "q1", "doc_id": ["a", 2], "score": [2.0, 1.0]}
    ),
    "a missing id": lambda: pd.DataFrame(
        {"query_id": ["q1"], "doc_id": [NAN], "score": [1.0]}
    ),
    "both names of a column": lambda: frame(RUN, "score").assign(qid="q2"),
    "no column of scores": lambda: frame(RUN, "score").rename(
        columns={"score": "rank"}
    ),
    "a negative zero": lambda: {"q1": {"a": 0.0, "b": -0.0}},
    "equal as 32-bit floats": lambda: {"q1": {"a": 1.0, "b": 1 + 1e-12, "c": 0.5}},
    "tuples of two kinds": lambda: [ScoredDoc("q1", "a", 1.0), Qrel("q1", "b", 1)],
}
