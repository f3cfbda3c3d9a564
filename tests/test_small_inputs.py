"""Few small queries take a short way: the same values in every bit, the same errors, and no query engine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest import mock

import ir_measures
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import Qrel, ScoredDoc
from pandas.testing import assert_frame_equal

import ir_lexirecall as irl
from ir_lexirecall.data import alignment
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io import objects
from ir_lexirecall.measures import cwl, rbu
from tests.conftest import collections

pytestmark = pytest.mark.filterwarnings(
    "ignore:.* retrieves nothing:UserWarning", "ignore:RBU. the qrels name one aspect:UserWarning"
)

MEASURES = [
    *("AP", "nDCG@3", "P@2", "Bpref", "NumRet", "Judged@3", "LR", "TSE", "RBU@5", "RBU(p=1,max_rel=9,gain='linear')"),
    *("CWL_ERR8(max_rel=9)@3", "CWL_ERR9(max_rel=9)@2", "CWL_ERR10(max_rel=9)", "CWL_ERR10(max_rel=9,phi=0)"),
    *("CWL_ERR11(max_rel=9,gain='linear')", "CWL_RBP(max_rel=9)", "CWL_ERR10(max_rel=9,unjudged='best')"),
]


@contextmanager
def the_general_way() -> Iterator[None]:
    names = [(alignment, "_FEW_QUERIES", -1), (objects, "_FEW_ROWS", 0), (cwl, "FEW", 0), (rbu, "FEW", 0)]
    with ExitStack() as patches:
        for module, name, none in names:
            patches.enter_context(mock.patch.object(module, name, none))
        yield


def rows(nested: Any) -> list[tuple[Any, Any, Any]]:
    return [(q, doc, value) for q, docs in nested.items() for doc, value in docs.items()]


def frame(nested: Any, value: str) -> pd.DataFrame:
    return pd.DataFrame(rows(nested), columns=["query_id", "doc_id", value])


class Scored(NamedTuple):
    """A result with its fields in another order."""

    score: float
    docno: str
    qid: str


FORMS: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "dicts": lambda qrels, run: (qrels, run),
    "frames": lambda qrels, run: (frame(qrels, "relevance"), frame(run, "score")),
    "frames of objects": lambda qrels, run: (
        frame(qrels, "relevance").astype({"query_id": object, "doc_id": object}),
        frame(run, "score").astype(object),
    ),
    "named tuples": lambda qrels, run: ([Qrel(*row) for row in rows(qrels)], [ScoredDoc(*row) for row in rows(run)]),
    "other names": lambda qrels, run: (
        frame(qrels, "relevance").rename(columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"}),
        [Scored(score, doc, q) for q, doc, score in rows(run)],
    ),
}


def outcome(qrels: Any, run: Any, measures: list[str]) -> Any:
    try:
        return irl.evaluate(measures, qrels, run)
    except ValueError as error:
        return str(error)


def check_both_ways(qrels: Any, run: Any, measures: list[str] = MEASURES) -> None:
    short = outcome(qrels, run, measures)
    with the_general_way():
        general = outcome(qrels, run, measures)
    if isinstance(general, str):
        assert short == general
    else:
        assert_frame_equal(short, general, check_exact=True)


@pytest.mark.parametrize("form", FORMS)
@given(collections())
def test_both_ways_agree(form: str, collection: Any) -> None:
    qrels, run = FORMS[form](*collection)
    check_both_ways(qrels, run)


@given(collections())
def test_aligned_runs_agree(collection: Any) -> None:
    qrels, run = collection
    judgments = Judgments.from_qrels(qrels)
    short = align(judgments, run)
    with the_general_way():
        general = align(judgments, run)
    for name in ("query", "doc", "rank", "depth"):
        assert getattr(short, name).tolist() == getattr(general, name).tolist()
    assert [array.tolist() for array in short.tied()] == [array.tolist() for array in general.tied()]
    # Empty rankings aside, queries come in the order of the run.
    assert [q for q in short.ranked if short.depth[q]] == [q for q in general.ranked if general.depth[q]]


@st.composite
def judged_aspects(draw: st.DrawFn) -> pd.DataFrame:
    """Lines of qrels that name aspects, a few of them twice."""
    ids = st.tuples(st.sampled_from(["q1", "q2", "q10"]), st.sampled_from("abcdef"), st.sampled_from("0123"))
    lines = draw(st.lists(st.tuples(ids, st.integers(-1, 4) | st.just(0.5)), min_size=1, max_size=20))
    table = pd.DataFrame(
        [(*key, grade) for key, grade in lines], columns=["query_id", "doc_id", "subtopic_id", "relevance"]
    )
    if draw(st.booleans()):
        table = table.drop_duplicates(["query_id", "doc_id", "subtopic_id"])
    return table.rename(columns={"subtopic_id": draw(st.sampled_from(["subtopic_id", "iteration"]))})


@given(judged_aspects(), collections())
def test_both_ways_agree_on_aspects(qrels: pd.DataFrame, collection: Any) -> None:
    check_both_ways(qrels, collection[1], [*MEASURES, "alpha_nDCG@3", "D_nDCG@3", "IA(base='AP')", "StRecall@2"])
    try:
        short = Judgments.from_qrels(qrels)
    except ValueError:
        return
    with the_general_way():
        general = Judgments.from_qrels(qrels)
    assert short.rows.equals(general.rows)
    assert (short.table is None) == (general.table is None)
    if short.table is not None and general.table is not None:
        assert short.table.names == general.table.names
        for name in ("doc", "aspect", "grade", "line", "row"):
            assert getattr(short.table, name).tolist() == getattr(general.table, name).tolist()
        assert {n: c.to_list() for n, c in short.table.columns.items()} == {
            n: c.to_list() for n, c in general.table.columns.items()
        }


QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"a": 0}}
NAN = float("nan")
ODD_RUNS = {
    "no query": {},
    "an empty ranking": {"q1": {}, "q2": {"a": 1.0}},
    "NaN": {"q1": {"a": 1.0, "b": NAN}},
    "NaN for a query without judgments": {"q1": {"a": 1.0}, "q9": {"b": NAN}},
    "a text": {"q1": {"a": 1.0, "b": "2"}},
    "a text for a query without judgments": {"q1": {"a": 1.0}, "q9": {"b": "2"}},
    "None": {"q1": {"a": 1.0, "b": None}},
    "a truth value": {"q1": {"a": True, "b": 0.5}},
    "integers": {"q1": {"a": 1, "b": 2}},
    "large integers": {"q1": {"a": 10**400, "b": 2}},
    "infinite": {"q1": {"a": float("inf"), "b": -float("inf"), "c": 1e308}},
    "integer ids": {1: {2: 1.0}, "q1": {"a": 1.0}},
    "ids that are neither": {"q1": {"a": 1.0, 2.5: 2.0}},
    "a negative zero": {"q1": {"a": 0.0, "b": -0.0}},
    "equal as 32-bit floats": {"q1": {"a": 1.0, "b": 1 + 1e-12, "c": 0.5}},
}


@pytest.mark.parametrize("name", ODD_RUNS)
def test_odd_runs(name: str) -> None:
    check_both_ways(QRELS, ODD_RUNS[name])


@pytest.mark.parametrize(
    "run",
    [
        [ScoredDoc("q1", "a", 1.0), ScoredDoc("q1", "a", 2.0)],
        [ScoredDoc("q1", "a", 1.0), ScoredDoc("q2", "a", 2.0), ScoredDoc("q1", "b", 3.0)],
        [ScoredDoc("q1", "a", NAN)],
        [ScoredDoc("q1", None, 1.0)],
        [ScoredDoc("q1", "a", 1.0), Qrel("q1", "b", 1)],
        [("q1", "a", 1.0)],
        pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", "a"], "score": [1.0, 1.0]}),
        pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", None], "score": [1.0, 1.0]}),
        pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", 7], "score": [1.0, 1.0]}),
        pd.DataFrame({"query_id": [1, 2], "doc_id": [7, 8], "score": [1.0, 1.0]}),
        pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": ["1"]}),
        pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "rank": [1]}),
        pd.DataFrame([["q1", "a", "b", 1.0]], columns=["query_id", "doc_id", "doc_id", "score"]),
        pd.DataFrame({"query_id": [], "doc_id": [], "score": []}),
        pd.DataFrame({"query_id": ["q1"], "qid": ["q2"], "doc_id": ["a"], "score": [1.0]}),
    ],
)
def test_odd_tables(run: Any) -> None:
    check_both_ways(QRELS, run)


@pytest.mark.parametrize(
    "qrels",
    [
        {"q1": {"a": 1.5}},
        {"q1": {"a": NAN}},
        {"q1": {"a": "1"}},
        {"q1": {"a": float("inf")}},
        {"q1": {}},
        {"q1": {"a": True}},
        [Qrel("q1", "a", 1), Qrel("q1", "a", 1)],
        [Qrel("q1", "a", 1), Qrel("q1", "a", 2)],
        [Qrel("q1", "a", 1, "1"), Qrel("q1", "a", 2, "2")],
        [Qrel("q1", "a", 1), Qrel("q1", 7, 2)],
        pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", "a"], "relevance": [1, 2]}),
        pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "relevance": [1], "iteration": ["relevance"]}),
        pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "relevance": [1], "iteration": [0]}),
        pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "relevance": [1], "iteration": [None]}),
        pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "relevance": [NAN], "iteration": ["1"]}),
        pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", "a"], "relevance": [1, 2], "iteration": ["1", "1"]}),
        pd.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["ä", "a"], "relevance": [1, 2], "subtopic_id": ["ö", "1"]}),
        pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "relevance": [1], "iteration": ["1"], "subtopic_id": ["2"]}),
        pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "relevance": [1], "weight": ["1"]}),
        [Qrel("q1", "a", 1, "1"), Qrel("q1", "a", 0, "relevance"), Qrel("q2", "a", 2, "1")],
    ],
)
def test_odd_qrels(qrels: Any) -> None:
    check_both_ways(qrels, {"q1": {"x": 2.0, "a": 1.0}})


@pytest.mark.parametrize("queries", [alignment._FEW_QUERIES, alignment._FEW_QUERIES + 1])
@pytest.mark.parametrize("depth", [alignment._SHORT, alignment._SHORT + 1])
def test_where_the_ways_part(queries: int, depth: int) -> None:
    qrels = {f"q{q}": {f"d{place}": place % 3 for place in range(0, depth, 7)} for q in range(queries)}
    run = {q: {f"d{place}": float((place * 37) % depth) for place in range(depth)} for q in qrels}
    for build in FORMS.values():
        check_both_ways(*build(qrels, run))


def imported(program: str) -> set[str]:
    """Modules that a fresh process imports beyond those of ir_measures."""
    heavy = ("polars", "scipy", "pandas", "matplotlib", "pyarrow")
    program = f"import ir_measures, sys; before = set(sys.modules); {program}; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return {module for module in done.stdout.split() if module in heavy}


DICTS = "{'q': {'a': 1, 'b': 0}}, {'q': {'b': 2.0, 'a': 1.0}}"


@pytest.mark.parametrize(
    "program",
    [
        "import ir_lexirecall",
        f"from ir_lexirecall import *; ir_measures.calc_aggregate([TSE, LR, CWL_ERR10(max_rel=4), RBU @ 20], {DICTS})",
        f"from ir_lexirecall import *; accelerate(); ir_measures.calc_aggregate([ir_measures.AP, TSE], {DICTS})",
        "from ir_lexirecall.data.alignment import *; align(Judgments.from_qrels({'q': {'a': 1, 'b': 0}}), {'q': {'b': 2.0, 'a': 1.0}})",
    ],
    ids=["import", "ours", "accelerated", "align"],
)
def test_small_dicts_start_no_query_engine(program: str) -> None:
    assert imported(program) == set()


def test_a_kept_evaluator_reads_the_qrels_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    from_qrels = Judgments.from_qrels
    monkeypatch.setattr(Judgments, "from_qrels", lambda *arguments: read.append(1) or from_qrels(*arguments))
    evaluator = ir_measures.evaluator([irl.TSE, irl.LR], QRELS)
    for _ in range(3):
        evaluator.calc_aggregate({"q1": {"a": 1.0}})
    assert len(read) == 1
