"""``exclude``: as if the documents had been removed from qrels and runs by hand."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import ir_lexirecall as irl
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from tests.conftest import collections, rankings, subtopic_collections, subtopic_table

MEASURES = [
    "AP",
    "nDCG@3",
    "P@2",
    "Bpref",
    "NumRet",
    "LR",
    "TSE",
    "CWL_ERR10(max_rel=4)",
    "RBU@5",
    "Judged@3",
]
OF_SUBTOPICS = ["RBU@5", "IA(base='nDCG@3')", "D_nDCG@3", "alpha_nDCG@3", "AP", "LR"]

Table = Mapping[str, Mapping[str, Any]]
Gone = Mapping[str, list[str]]


def without(table: Table, gone: Gone) -> dict[str, dict[str, Any]]:
    """The same, less some documents; a query that loses all stays."""
    return {
        q: {doc: value for doc, value in docs.items() if doc not in gone.get(q, ())}
        for q, docs in table.items()
    }


def judged_without(qrels: Table, gone: Gone) -> Judgments:
    """The judgments of what is left, which may be nothing."""
    return Judgments.from_qrels(without(qrels, gone), allow_empty=True)


def rows_without(table: pd.DataFrame, gone: Gone) -> pd.DataFrame:
    keep = [
        doc not in gone.get(q, ())
        for q, doc in zip(table["query_id"], table["doc_id"], strict=True)
    ]
    return table[keep].reset_index(drop=True)


def some_documents(
    data: st.DataObject, qrels: Any, *runs: Table
) -> dict[str, list[str]]:
    """Documents to take out: judged or not, retrieved or not, of queries with and without judgments."""
    tables = [table for table in (qrels, *runs) if isinstance(table, dict)]
    docs = sorted(
        {doc for table in tables for listed in table.values() for doc in listed}
        | {"nowhere"}
    )
    queries = sorted({q for table in tables for q in table} | {"no query"})
    return {q: data.draw(st.lists(st.sampled_from(docs), max_size=6)) for q in queries}


def pairs(gone: Gone) -> list[tuple[str, str]]:
    return [(q, doc) for q, docs in gone.items() for doc in docs]


class Pair(NamedTuple):
    """A document of a query."""

    query_id: str
    doc_id: str


def table(gone: Gone, names: tuple[str, str] = ("query_id", "doc_id")) -> pd.DataFrame:
    return pd.DataFrame(pairs(gone), columns=list(names), dtype=object)


RULES: dict[str, Callable[[Gone], Any]] = {
    "lists": lambda gone: gone,
    "sets": lambda gone: {q: set(docs) for q, docs in gone.items()},
    "generators": lambda gone: {q: iter(docs) for q, docs in gone.items()},
    "dicts": lambda gone: {q: dict.fromkeys(docs, 1.0) for q, docs in gone.items()},
    "pandas": table,
    "pandas with PyTerrier's names": lambda gone: table(gone, ("qid", "docno")),
    "pandas with more columns": lambda gone: table(gone).assign(score=1.0, note=None),
    "polars": lambda gone: pl.DataFrame(
        {
            "query_id": [q for q, _ in pairs(gone)],
            "doc_id": [doc for _, doc in pairs(gone)],
        },
        schema={"query_id": pl.String, "doc_id": pl.String},
    ),
    "named tuples": lambda gone: [Pair(*pair) for pair in pairs(gone)],
}


@pytest.mark.slow
@given(collections(), st.data())
def test_every_form_of_the_rule(collection: Any, data: st.DataObject) -> None:
    qrels, run = collection
    gone = some_documents(data, qrels, run)
    wanted = irl.evaluate(MEASURES, judged_without(qrels, gone), without(run, gone))
    for rule in RULES.values():
        assert_frame_equal(
            irl.evaluate(MEASURES, irl.load(qrels, exclude=rule(gone)), run),
            wanted,
            check_exact=True,
        )


QRELS = {
    "1": {"1": 1, "10": 2, "30": 0, "31": 1},
    "2": {"10": 1, "2": 1},
    "3": {"3": 1},
}
RUN = {
    "1": {"1": 4.0, "10": 2.0, "31": 2.0, "40": 2.0, "30": 2.0, "41": 1.0},
    "2": {"2": 9.0, "50": 9.0, "10": 9.0},
    "3": {"3": 1.0, "4": 0.5},
}
GONE = {"1": ["31", "40"], "2": ["50", "nowhere"]}


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    qrels, run = tmp_path / "some.qrels", tmp_path / "some.run"
    qrels.write_text(
        "".join(
            f"{q} 0 {doc} {grade}\n"
            for q, docs in QRELS.items()
            for doc, grade in docs.items()
        )
    )
    run.write_text(
        "".join(
            f"{q} Q0 {doc} 1 {score} tag\n"
            for q, docs in RUN.items()
            for doc, score in docs.items()
        )
    )
    return str(qrels), str(run)


def test_a_file_is_a_rule(files: tuple[str, str], tmp_path: Path) -> None:
    rule = tmp_path / "gone.run"
    rule.write_text("".join(f"{q} Q0 {doc} 1 0.0 tag\n" for q, doc in pairs(GONE)))
    wanted = irl.evaluate(MEASURES, without(QRELS, GONE), without(RUN, GONE))
    assert_frame_equal(
        irl.evaluate(MEASURES, irl.load(files[0], exclude=str(rule)), files[1]),
        wanted,
        check_exact=True,
    )


def test_self(files: tuple[str, str]) -> None:
    gone = {q: [q] for q in QRELS}
    wanted = irl.evaluate(MEASURES, without(QRELS, gone), without(RUN, gone))
    assert_frame_equal(
        irl.evaluate(MEASURES, irl.load(QRELS, exclude="self"), RUN),
        wanted,
        check_exact=True,
    )
    assert_frame_equal(
        irl.evaluate(MEASURES, irl.load(files[0], exclude="self"), files[1]),
        wanted,
        check_exact=True,
    )
    integers = [
        {
            int(q): {int(doc): value for doc, value in docs.items()}
            for q, docs in t.items()
        }
        for t in (QRELS, RUN)
    ]
    assert_frame_equal(
        irl.evaluate(MEASURES, irl.load(integers[0], exclude="self"), integers[1]),
        wanted,
        check_exact=True,
    )


# -- subtopics and aspects ---------------------------------------------------------------------------


@pytest.mark.slow
@given(subtopic_collections(), st.sampled_from(["subtopic_id", "iteration"]), st.data())
def test_subtopics(collection: Any, column: str, data: st.DataObject) -> None:
    judgments, run = collection
    qrels = subtopic_table(judgments, column)
    flat = {
        q: {doc: 0 for grades in aspects.values() for doc in grades}
        for q, aspects in judgments.items()
    }
    gone = some_documents(data, flat, run)
    remaining = rows_without(qrels, gone)
    if remaining.empty:
        return
    wanted = irl.evaluate(OF_SUBTOPICS, remaining, without(run, gone))
    found = irl.evaluate(OF_SUBTOPICS, irl.load(qrels, exclude=gone), run)
    assert set(found.index) == set(judgments)
    assert_frame_equal(found.loc[wanted.index], wanted, check_exact=True)
    lost = found.drop(index=wanted.index)
    assert not lost.to_numpy().any()


ASPECTS = "{'relevance': 3, 'quality': 2}"
OF_ASPECTS = [
    *(f"TOMA(aspects={ASPECTS}, base='{base}')" for base in ("nDCG@3", "AP")),
    *(f"{kind}(aspects={ASPECTS}, base='AP')" for kind in ("CAM", "MM")),
    *("LR", "nDCG"),
]


def test_aspects_in_columns() -> None:
    grades = {"relevance": [1, 1, 1, 1, 3], "quality": [2, 0, 1, 2, 1]}
    qrels = pd.DataFrame({"query_id": list("qqqrr"), "doc_id": list("abcad"), **grades})
    run = {
        "q": {"x": 5.0, "b": 4.0, "a": 3.0, "y": 3.0, "c": 3.0},
        "r": {"d": 2.0, "a": 1.0, "z": 0.0},
    }
    gone = {"q": ["x", "b", "y"], "r": ["d"]}
    wanted = irl.evaluate(OF_ASPECTS, rows_without(qrels, gone), without(run, gone))
    for judged in (
        irl.load(qrels, exclude=gone),
        irl.load(pl.DataFrame(qrels), exclude=table(gone)),
    ):
        assert_frame_equal(
            irl.evaluate(OF_ASPECTS, judged, run), wanted, check_exact=True
        )


# -- comparisons, benchmarks, ties -------------------------------------------------------------------


@pytest.mark.slow
@given(collections(), st.data())
def test_compare_and_benchmark(collection: Any, data: st.DataObject) -> None:
    qrels, run = collection
    runs = {"a": run, "b": {q: data.draw(rankings()) for q in run}}
    gone = some_documents(data, qrels, *runs.values())
    by_hand = {name: without(ranking, gone) for name, ranking in runs.items()}
    preferences = ["lexirecall", "rpp", "AP"]
    assert_frame_equal(
        irl.compare(
            irl.load(qrels, exclude=table(gone)), runs, preferences, allow_empty=True
        ).table(),
        irl.compare(
            judged_without(qrels, gone), by_hand, preferences, allow_empty=True
        ).table(),
        check_exact=True,
    )
    options = {
        "allow_empty": True,
        "test": irl.SignificanceTest(n_resamples=99, progress=False),
    }
    found = irl.benchmark(
        irl.load(qrels, exclude=gone), runs, ["AP", "LR", "rpp"], **options
    )
    wanted = irl.benchmark(
        judged_without(qrels, gone), by_hand, ["AP", "LR", "rpp"], **options
    )
    assert_frame_equal(found.means(), wanted.means(), check_exact=True)
    assert_frame_equal(found.table(), wanted.table(), check_exact=True)


@pytest.mark.slow
@given(collections(), st.data())
def test_ties_are_those_of_the_remaining_documents(
    collection: Any, data: st.DataObject
) -> None:
    qrels, run = collection
    gone = some_documents(data, qrels, run)
    measures = ["AP", "P@2", "LR", "TSE"]
    found = irl.tie_audit(
        measures, irl.load(qrels, exclude=gone), {"run": run}, allow_empty=True
    )
    wanted = irl.tie_audit(
        measures,
        judged_without(qrels, gone),
        {"run": without(run, gone)},
        allow_empty=True,
    )
    assert_frame_equal(found, wanted, check_exact=True)


def test_documents_of_equal_score_may_still_change_places() -> None:
    """Of a, b and the excluded x, all of one score below y, the relevant a is at rank 2 or 3; in q2 it was x that tied."""
    qrels = {"q1": {"a": 1, "b": 0, "x": 1, "y": 0}, "q2": {"x": 1, "c": 1}}
    run = {"q1": {"y": 2.0, "a": 1.0, "x": 1.0, "b": 1.0}, "q2": {"x": 1.0, "c": 1.0}}
    audited = irl.tie_audit(
        "RR", irl.load(qrels, {"q1": ["x"], "q2": ["x"]}), {"run": run}, by_query=True
    )
    ranges = audited.set_index("query_id")[["lowest", "highest"]]
    assert ranges.loc["q1"].tolist() == [1 / 3, 1 / 2]
    assert ranges.index.tolist() == ["q1"]  # no tie is left in q2


def test_measures_of_other_providers() -> None:
    measure = ir_measures.Compat(p=0.8)
    wanted = irl.evaluate(measure, without(QRELS, GONE), without(RUN, GONE))
    assert_frame_equal(
        irl.evaluate(measure, irl.load(QRELS, exclude=GONE), RUN),
        wanted,
        check_exact=True,
    )


# -- bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("selfish", "exclude: unknown rule 'selfish'; give 'self', a mapping"),
        ({"1": "10"}, "exclude: query '1' maps to '10', not to a list of document ids"),
        ({"1": [1.5]}, "exclude: ids must be strings or integers, but one is 1.5"),
        ({"1": [None]}, "exclude: ids must be strings or integers, but one is None"),
        ({None: ["10"]}, "exclude: ids must be strings or integers, but one is None"),
        ({"1": 5}, "exclude: query '1' maps to 5, not to a list of document ids"),
        (pd.DataFrame({"query_id": ["1"]}), "exclude lacks the column 'doc_id'"),
        (
            pd.DataFrame({"query_id": ["1"], "doc_id": [None]}),
            "exclude: row 1 has no usable doc_id",
        ),
        (pl.DataFrame({"doc_id": ["1"]}), "exclude lacks the column 'query_id'"),
        (
            [("1", "10")],
            "exclude: .* is not a named tuple with the fields query_id, doc_id",
        ),
        (7, "exclude of type int cannot be read"),
    ],
    ids=str,
)
def test_bad_rules(rule: Any, message: str) -> None:
    for refuse in (
        lambda: irl.evaluate("AP", irl.load(QRELS, exclude=rule), RUN),
        lambda: irl.compare(irl.load(QRELS, exclude=rule), {"a": RUN, "b": RUN}),
        lambda: irl.benchmark(irl.load(QRELS, exclude=rule), {"a": RUN}, "AP"),
    ):
        with pytest.raises(ValueError, match=message):
            refuse()


def test_a_query_of_which_only_excluded_documents_were_retrieved_is_not_ranked() -> (
    None
):
    judgments = Judgments.from_qrels({"q": {"a": 1}, "r": {"a": 1}}).excluding(
        {"q": ["q"]}
    )
    rows = pd.DataFrame(
        {"query_id": ["q", "r"], "doc_id": ["q", "a"], "score": [1.0, 1.0]}
    )
    for run in (
        align(judgments, rows),
        align(judgments, rows.assign(tag="x")),
    ):  # as a dict is, and by Polars
        assert (run.ranked.tolist(), run.depth.tolist()) == ([1], [0, 1])


@pytest.mark.parametrize("exclude", [{"1": ["a"]}, {1: {"a": 1}}])
def test_exclusions_of_other_queries_are_told(exclude: Any) -> None:
    with pytest.warns(UserWarning, match="none of its queries.*without leading zeros"):
        irl.load({"001": {"a": 1}, "002": {"b": 1}}, exclude=exclude)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        irl.load({"1": {"a": 1}, "2": {"b": 1}}, exclude=exclude)
        irl.load({"1": {"a": 1}}, exclude={"1": ["b"], "9": ["a"]})
        irl.load({"1": {"a": 1}}, exclude={})
        irl.load({"1": {"a": 1}}, exclude="self")
