"""Few small queries take a short way: the same values in every bit, the same errors, and no query engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest import mock

import pandas as pd
import pytest
from fresh import python
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import Qrel, ScoredDoc
from pandas.testing import assert_frame_equal

import ir_lexirecall as irl
from ir_lexirecall.data import alignment
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io import columns
from ir_lexirecall.measures import cwl, rbu
from tests.conftest import collections
from tests.support.odd_inputs import ODD_QRELS, ODD_RUNS, QRELS, frame, rows

MEASURES = [
    *(
        "AP",
        "nDCG@3",
        "P@2",
        "Bpref",
        "NumRet",
        "Judged@3",
        "LR",
        "TSE",
        "RBU@5",
        "RBU(p=1,max_rel=9,gain='linear')",
    ),
    *(
        "CWL_ERR8(max_rel=9)@3",
        "CWL_ERR9(max_rel=9)@2",
        "CWL_ERR10(max_rel=9)",
        "CWL_ERR10(max_rel=9,phi=0)",
    ),
    *(
        "CWL_ERR11(max_rel=9,gain='linear')",
        "CWL_RBP(max_rel=9)",
        "CWL_ERR10(max_rel=9,unjudged='best')",
    ),
]


@contextmanager
def the_general_way() -> Iterator[None]:
    names = [
        (alignment, "_FEW_QUERIES", -1),
        (columns, "_FEW_ROWS", 0),
        (cwl, "FEW", 0),
        (rbu, "FEW", 0),
    ]
    with ExitStack() as patches:
        for module, name, none in names:
            patches.enter_context(mock.patch.object(module, name, none))
        yield


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
    "named tuples": lambda qrels, run: (
        [Qrel(*row) for row in rows(qrels)],
        [ScoredDoc(*row) for row in rows(run)],
    ),
    "other names": lambda qrels, run: (
        frame(qrels, "relevance").rename(
            columns={"query_id": "qid", "doc_id": "docno", "relevance": "label"}
        ),
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


@pytest.mark.slow_except("dicts")
@pytest.mark.parametrize("form", FORMS)
@given(collections())
def test_both_ways_agree(form: str, collection: Any) -> None:
    qrels, run = FORMS[form](*collection)
    check_both_ways(qrels, run)


@st.composite
def judged_aspects(draw: st.DrawFn) -> pd.DataFrame:
    """Lines of qrels that name aspects, a few of them twice."""
    ids = st.tuples(
        st.sampled_from(["q1", "q2", "q10"]),
        st.sampled_from("abcdef"),
        st.sampled_from("0123"),
    )
    lines = draw(
        st.lists(
            st.tuples(ids, st.integers(-1, 4) | st.just(0.5)), min_size=1, max_size=20
        )
    )
    table = pd.DataFrame(
        [(*key, grade) for key, grade in lines],
        columns=["query_id", "doc_id", "subtopic_id", "relevance"],
    )
    if draw(st.booleans()):
        table = table.drop_duplicates(["query_id", "doc_id", "subtopic_id"])
    return table.rename(
        columns={"subtopic_id": draw(st.sampled_from(["subtopic_id", "iteration"]))}
    )


@pytest.mark.slow
@given(judged_aspects(), collections())
def test_both_ways_agree_on_aspects(qrels: pd.DataFrame, collection: Any) -> None:
    check_both_ways(
        qrels,
        collection[1],
        [*MEASURES, "alpha_nDCG@3", "D_nDCG@3", "IA(base='AP')", "StRecall@2"],
    )
    try:
        short = Judgments.from_qrels(qrels)
    except ValueError:
        return
    with the_general_way():
        general = Judgments.from_qrels(qrels)
    assert (short.query_ids, short.doc_ids) == (general.query_ids, general.doc_ids)
    assert short.aspect_rows.grade.tolist() == general.aspect_rows.grade.tolist()
    assert (short.table is None) == (general.table is None)
    if short.table is not None and general.table is not None:
        assert short.table.names == general.table.names
        for name in ("doc", "aspect", "grade", "line", "row"):
            assert (
                getattr(short.table, name).tolist()
                == getattr(general.table, name).tolist()
            )
        assert {n: c.to_list() for n, c in short.table.columns.items()} == {
            n: c.to_list() for n, c in general.table.columns.items()
        }


@pytest.mark.parametrize("name", ODD_QRELS)
def test_odd_qrels(name: str) -> None:
    check_both_ways(ODD_QRELS[name](), {"q1": {"x": 2.0, "a": 1.0}})


@pytest.mark.parametrize("name", ODD_RUNS)
def test_odd_runs(name: str) -> None:
    check_both_ways(QRELS, ODD_RUNS[name]())


def imported(program: str) -> set[str]:
    """Modules that a fresh process imports beyond those of ir_measures."""
    heavy = ("polars", "scipy", "pandas", "matplotlib", "pyarrow")
    printed = python(
        f"import ir_measures, sys; before = set(sys.modules); {program}; print(*(set(sys.modules) - before))"
    )
    return {module for module in printed.split() if module in heavy}


DICTS = "{'q': {'a': 1, 'b': 0}}, {'q': {'b': 2.0, 'a': 1.0}}"


@pytest.mark.sparse
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


def test_a_user_may_name_the_columns_of_a_table() -> None:
    qrels, run = {"q": {"d": 1}}, {"q": {"d": 1.0}}
    first = irl.evaluate(["AP", "RR"], qrels, run)
    first.columns.name = "measure"
    assert irl.evaluate(["AP", "RR"], qrels, run).columns.name is None


@pytest.mark.parametrize("name", [1, True, 1.0, "AP"])
def test_columns_have_the_names_of_the_mapping(name: Any) -> None:
    table = irl.evaluate({name: "AP"}, {"q": {"d": 1}}, {"q": {"d": 1.0}})
    (column,) = table.columns
    assert column == name
    assert isinstance(column, type(name))
