"""Bad input is refused with a ``ValueError`` that names the first offender and counts the rest."""

from __future__ import annotations

import gzip
import linecache
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from ir_measures import AP, ERR, NERR8, NERR9, NERR10, NERR11, Compat, Qrel, ScoredDoc, nDCG

import ir_lexirecall as irl
from ir_lexirecall import (
    ATD,
    CAM,
    CT,
    CWL_ERR8,
    CWL_ERR9,
    CWL_ERR10,
    CWL_ERR11,
    CWL_RBP,
    ERF,
    EU,
    GERR,
    IA,
    LR,
    MM,
    RBP_TE,
    RBU,
    RE,
    SL3,
    SRR,
    TOMA,
    TSE,
    WSS,
    D_nDCG,
    DSharp,
    ElevenPt,
    IPrec_TE,
    LastRel,
    RecallLoss,
    RelP,
    Rndcg,
    Unjudged,
    nDCG_JK,
)
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io import content
from ir_lexirecall.measures import REGISTRY

QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1}}
RUN = {"q1": {"d3": 3.0, "d9": 2.0, "d1": 1.0}, "q2": {"d1": 1.0}}
NAN = float("nan")

Rows = list[tuple[str, str, Any]]


@pytest.fixture(autouse=True)
def _no_advice_about_subtopics() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="RBU: the qrels name one aspect")
        yield


def refusal(call: Callable[[], Any]) -> str:
    """The message of the ``ValueError`` that ``call`` raises."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 the message is what the tests look at
        call()
    return str(caught.value)


def evaluate(measures: Any, qrels: Any = QRELS, run: Any = RUN) -> str:
    return refusal(lambda: irl.evaluate(measures, qrels, run))


def assert_names(message: str, *parts: str) -> None:
    missing = [part for part in parts if part not in message]
    assert not missing, f"{missing} not in: {message}"


def more(count: int) -> str:
    return f"and {count} more"


# -- formats -------------------------------------------------------------------------------------------


def as_pandas(rows: Rows, value: str, folder: Path) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["query_id", "doc_id", value])


def as_pandas_objects(rows: Rows, value: str, folder: Path) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["query_id", "doc_id", value], dtype=object)


def as_polars(rows: Rows, value: str, folder: Path) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["query_id", "doc_id", value], orient="row", strict=False)


def as_arrow(rows: Rows, value: str, folder: Path) -> pa.Table:
    return as_polars(rows, value, folder).to_arrow()


def as_named_tuples(rows: Rows, value: str, folder: Path) -> list[Any]:
    return [Qrel(*row) if value == "relevance" else ScoredDoc(*row) for row in rows]


def as_generator(rows: Rows, value: str, folder: Path) -> Iterator[Any]:
    return iter(as_named_tuples(rows, value, folder))


def as_dict(rows: Rows, value: str, folder: Path) -> dict[str, dict[str, Any]]:
    nested: dict[str, dict[str, Any]] = {}
    for query_id, doc_id, number in rows:
        nested.setdefault(query_id, {})[doc_id] = number
    return nested


def as_file(rows: Rows, value: str, folder: Path) -> Path:
    path = folder / f"{value}.txt"
    pattern = "{} 0 {} {}\n" if value == "relevance" else "{} Q0 {} 1 {} tag\n"
    path.write_text("".join(pattern.format(*row) for row in rows))
    return path


FORMATS = {
    "pandas": as_pandas,
    "pandas objects": as_pandas_objects,
    "polars": as_polars,
    "arrow": as_arrow,
    "named tuples": as_named_tuples,
    "generator": as_generator,
    "dict": as_dict,
    "file": as_file,
}
REPEATABLE = [name for name in FORMATS if name != "dict"]  # formats that can say a thing twice
ANY_VALUE = ["pandas objects", "named tuples", "generator", "dict"]  # formats of Python's objects
BY_IR_MEASURES = ("pandas", "pandas objects", "named tuples", "generator", "dict")


def refusals(form: str, rows: Rows, value: str, measure: Any, folder: Path) -> list[str]:
    """The messages for bad rows of a run or of qrels in a format, by every way to have them evaluated."""

    def inputs() -> tuple[Any, Any]:
        data = FORMATS[form](rows, value, folder)
        return (data, RUN) if value == "relevance" else (QRELS, data)

    messages = [refusal(lambda: irl.evaluate([measure], *inputs()))]
    if form in BY_IR_MEASURES:
        messages.append(refusal(lambda: ir_measures.calc_aggregate([measure], *inputs())))
        messages.append(refusal(lambda: list(ir_measures.iter_calc([measure], *inputs()))))
    return messages


# -- runs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", REPEATABLE)
def test_a_document_twice_for_one_query(form: str, tmp_path: Path) -> None:
    rows = [
        ("q2", "d5", 3.0),
        ("q1", "d9", 1.0),
        ("q2", "d9", 0.5),
        ("q2", "d5", 3.0),
        ("q2", "d9", 0.1),
        ("q2", "d5", 0.1),
    ]
    for message in refusals(form, rows, "score", TSE, tmp_path):
        assert_names(message, "'q2'", "'d5'", more(2))


def test_a_document_twice_is_found_in_a_query_in_two_places() -> None:
    rows = [("q1", "d1", 3.0), ("q2", "d1", 2.0), ("q1", "d1", 1.0)]
    message = evaluate(TSE, run=[ScoredDoc(*row) for row in rows])
    assert_names(message, "'q1'", "'d1'")
    assert "more" not in message


@pytest.mark.parametrize("form", FORMATS)
def test_a_nan_score(form: str, tmp_path: Path) -> None:
    rows = [("q1", "d1", 1.0), ("q1", "d7", NAN), ("q2", "d2", NAN), ("q2", "d3", NAN)]
    for message in refusals(form, rows, "score", LR, tmp_path):
        assert_names(message, "'q1'", "'d7'", "nan", more(2))


@pytest.mark.parametrize("form", ANY_VALUE)
@pytest.mark.parametrize("bad", [None, pd.NA, "high", "1.5", [1.0]], ids=repr)
def test_a_score_that_is_not_a_number(bad: Any, form: str, tmp_path: Path) -> None:
    rows = [("q1", "d1", 1.0), ("q1", "d7", bad), ("q2", "d2", 3)]
    for message in refusals(form, rows, "score", LR, tmp_path):
        assert_names(message, "'q1'", "'d7'", repr(bad))
        assert "more" not in message


@pytest.mark.parametrize("form", FORMATS)
def test_scores_that_are_texts(form: str, tmp_path: Path) -> None:
    rows = [("q1", "d1", "high"), ("q1", "d7", "low"), ("q2", "d2", "high")]
    for message in refusals(form, rows, "score", TSE, tmp_path):
        assert_names(message, "'q1'", "'d1'", "'high'", more(2))


@pytest.mark.parametrize("form", [name for name in FORMATS if name != "file"])
@pytest.mark.parametrize("bad", ["1.5", True], ids=repr)
def test_scores_that_only_look_like_numbers(bad: Any, form: str, tmp_path: Path) -> None:
    rows = [("q1", "d1", bad), ("q1", "d7", bad), ("q2", "d2", bad)]
    for message in refusals(form, rows, "score", TSE, tmp_path):
        assert_names(message, "'q1'", "'d1'", repr(bad), more(2))


@pytest.mark.parametrize("form", ["pandas", "polars", "dict", "generator"])
def test_standard_measures_do_not_see_bad_scores_either(form: str, tmp_path: Path) -> None:
    """On its own, ir_measures takes a NaN score and a document twice without a word."""
    run = FORMATS[form]([("q1", "d1", NAN), ("q1", "d7", 1.0)], "score", tmp_path)
    assert_names(evaluate([AP], run=run), "'q1'", "'d1'", "nan")


def test_scores_of_a_query_without_judgments_are_judged_alike_in_all_formats(tmp_path: Path) -> None:
    rows = [("q1", "d1", 1.0), ("unjudged", "d1", NAN)]
    outcomes = {}
    for form, build in FORMATS.items():
        try:
            outcomes[form] = irl.evaluate(TSE, QRELS, build(rows, "score", tmp_path))["TSE"].tolist()
        except ValueError:
            outcomes[form] = "refused"
    assert len(set(map(str, outcomes.values()))) == 1, outcomes


# -- qrels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ANY_VALUE)
@pytest.mark.parametrize("bad", [None, NAN, float("inf"), pd.NA, "good", "1"], ids=repr)
def test_a_grade_that_is_not_a_number(bad: Any, form: str, tmp_path: Path) -> None:
    rows = [("q1", "d1", 1), ("q1", "d7", bad), ("q2", "d2", 0)]
    for message in refusals(form, rows, "relevance", TSE, tmp_path):
        assert_names(message, "'q1'", "'d7'", repr(bad))
        assert "more" not in message


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("bad", ["good", NAN])
def test_grades_that_are_not_numbers_are_counted(bad: Any, form: str, tmp_path: Path) -> None:
    rows = [("q1", "d3", bad), ("q1", "d7", bad), ("q2", "d2", bad)]
    for message in refusals(form, rows, "relevance", TSE, tmp_path):
        assert_names(message, "'q1'", "'d3'", str(bad), more(2))


@pytest.mark.parametrize("form", REPEATABLE)
def test_the_same_judgment_twice_with_different_grades(form: str, tmp_path: Path) -> None:
    rows = [("q1", "d1", 1), ("q2", "d4", 6), ("q2", "d5", 0), ("q2", "d4", 8), ("q2", "d5", 9)]
    for message in refusals(form, rows, "relevance", TSE, tmp_path):
        assert_names(message, "'q2'", "'d4'", more(1))


def test_both_grades_of_a_judgment_are_named() -> None:
    assert_names(evaluate(TSE, qrels=[Qrel("q1", "d1", 6), Qrel("q1", "d1", 8)]), "6", "8")


def test_qrels_in_a_file_are_called_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "judged.qrels"
    path.write_text("q1 0 d1 1\nq1 0 d1 2\n")
    assert evaluate(TSE, qrels=str(path)).startswith(f"evaluate: {path}: document 'd1' of query 'q1' is judged twice")


def test_the_same_subtopic_twice_with_different_grades() -> None:
    rows = [Qrel("q1", "d1", 1, "s1"), Qrel("q1", "d1", 2, "s2"), Qrel("q1", "d1", 3, "s2")]
    assert_names(evaluate(TSE, qrels=rows), "'q1'", "'d1'", "'s2'")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(
    "measure",
    [
        CWL_ERR8(max_rel=3) @ 5,
        CWL_ERR9(max_rel=3) @ 5,
        CWL_ERR10(max_rel=3),
        CWL_ERR11(max_rel=3),
        CWL_RBP(max_rel=3),
        RBU(max_rel=3),
    ],
    ids=str,
)
def test_a_grade_above_max_rel(measure: Any, form: str, tmp_path: Path) -> None:
    rows = [("q1", "d1", 3), ("q1", "d7", 5), ("q2", "d2", 4), ("q2", "d3", 6)]
    for message in refusals(form, rows, "relevance", measure, tmp_path):
        assert_names(message, str(measure), "'q1'", "'d7'", "5", "max_rel=3", more(2))


@pytest.mark.parametrize("measure", [NERR8(max_rel=3) @ 5, NERR9(max_rel=3) @ 5, NERR10(max_rel=3), NERR11(max_rel=3)])
def test_a_grade_above_max_rel_of_measures_served_instead_of_cwl_eval(
    measure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ir_measures.cwl_eval, "is_available", lambda: False)
    message = evaluate([measure], qrels={"q1": {"d1": 3, "d7": 5}, "q2": {"d2": 4}})
    assert_names(message, str(measure), "'q1'", "'d7'", "5", "max_rel=3", more(1))


def test_a_grade_above_the_top_grade_of_err(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ir_measures.gdeval, "is_available", lambda: False)
    message = evaluate([ERR @ 5], qrels={"q1": {"d1": 3, "d7": 5}, "q2": {"d2": 6}})
    assert_names(message, "ERR@5", "'q1'", "'d7'", "5", more(1))


def test_measures_of_other_providers_want_whole_grades() -> None:
    message = evaluate([Compat(p=0.9)], qrels={"q1": {"d1": 1, "d2": 0.5}, "q2": {"d2": 0.25}})
    assert_names(message, "Compat", "'q1'", "'d2'", "0.5", more(1))


def test_standard_measures_take_fractional_grades() -> None:
    values = irl.evaluate([AP, nDCG], {"q1": {"d1": 1, "d2": 0.5}}, {"q1": {"d2": 2.0, "d1": 1.0}})
    gain = (0.5 + 1 / np.log2(3)) / (1 + 0.5 / np.log2(3))
    assert values.loc["q1"].tolist() == [0.5, pytest.approx(gain)]


# -- columns, ids, formats -----------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "named tuples"])
@pytest.mark.parametrize("lost", ["query_id", "doc_id", "score"])
def test_a_missing_column_of_a_run(lost: str, form: str) -> None:
    columns = {"query_id": ["q1"], "doc_id": ["d1"], "score": [1.0], "rank": [1]}
    columns.pop(lost)
    assert_names(evaluate(TSE, run=table(columns, form)), "run", repr(lost), *columns)


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "named tuples"])
@pytest.mark.parametrize("lost", ["query_id", "doc_id", "relevance"])
def test_a_missing_column_of_qrels(lost: str, form: str) -> None:
    columns = {"query_id": ["q1"], "doc_id": ["d1"], "relevance": [1], "iteration": ["0"]}
    columns.pop(lost)
    assert_names(evaluate(TSE, qrels=table(columns, form)), "qrels", repr(lost), *columns)


def table(columns: dict[str, list[Any]], form: str) -> Any:
    if form == "pandas":
        return pd.DataFrame(columns)
    if form == "polars":
        return pl.DataFrame(columns)
    if form == "arrow":
        return pa.table(columns)
    kind = NamedTuple("Row", [(name, Any) for name in columns])  # type: ignore[misc]
    return [kind(*row) for row in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize("form", ["pandas objects", "named tuples", "dict"])
@pytest.mark.parametrize("value", ["score", "relevance"])
@pytest.mark.parametrize("bad", [None, NAN, 1.5, True, b"q1", ("q", 1)], ids=repr)
@pytest.mark.parametrize("column", ["query_id", "doc_id"])
def test_an_id_that_is_neither_string_nor_integer(column: str, bad: Any, value: str, form: str, tmp_path: Path) -> None:
    rows = [("q1", "d1", 1), (bad, "d1", 1) if column == "query_id" else ("q1", bad, 1)]
    for message in refusals(form, rows, value, TSE, tmp_path):
        assert_names(message, repr(bad))
        if form != "dict":
            assert_names(message, "run" if value == "score" else "qrels", "row 2", column)


def test_a_bad_id_in_a_dict_tells_which_input_to_mend() -> None:
    assert_names(evaluate(TSE, qrels={"q1": {1.5: 1}}), "qrels", "1.5")
    assert_names(evaluate(TSE, run={None: {"d1": 1.0}}), "run", "None")


def test_an_id_as_a_string_and_as_an_integer() -> None:
    assert_names(evaluate(TSE, run={"q1": {1: 1.0, "1": 2.0}}), "run", "string", "integer")
    assert_names(evaluate(TSE, qrels={1: {"a": 1}, "1": {"a": 2}}), "qrels", "string", "integer")
    assert_names(evaluate(TSE, run=pd.DataFrame({"query_id": "q1", "doc_id": ["1", 1], "score": [2.0, 1.0]})), "'1'")


@pytest.mark.parametrize("bad", [None, 5, object(), TSE], ids=["None", "5", "object", "measure"])
def test_what_is_neither_table_nor_dict_nor_file(bad: Any) -> None:
    assert_names(evaluate(TSE, qrels=bad), "qrels", type(bad).__name__, "relevance")
    assert_names(evaluate(TSE, run=bad), "run", type(bad).__name__, "score")


def test_tuples_without_names() -> None:
    assert_names(evaluate(TSE, qrels=[("q1", "d1", 1)]), "qrels", "('q1', 'd1', 1)", "query_id, doc_id, relevance")
    assert_names(evaluate(TSE, run=[["q1", "d1", 1]]), "run", "['q1', 'd1', 1]", "query_id, doc_id, score")
    assert_names(evaluate(TSE, run=[ScoredDoc("q1", "d1", 1), Qrel("q1", "d2", 1)]), "run", "Qrel", "'d2'")


def test_a_dict_of_something_else() -> None:
    assert_names(evaluate(TSE, qrels={"q1": ["d1"]}), "qrels", "'q1'", "['d1']")
    assert_names(evaluate(TSE, run={"q1": {"d1": 1.0}, "q2": 3}), "run", "'q2'", "3")


# -- parameters ----------------------------------------------------------------------------------------

NO_CUTOFF = [0, -1, 2.5, "10", True, NAN]
NO_SHARE = [0, 1, -0.5, 1.5, "0.5", True, NAN]  # neither 0 nor 1 itself
NO_PART = [-0.1, 1.1, "0.5", True, NAN]  # 0 and 1 included
NO_PERSISTENCE = [1, -0.5, 1.5, "0.5", True, NAN]  # 0 itself is one
NEGATIVE = [-1, -1e-9, "2", True, NAN, float("inf")]
NOT_ABOVE_0 = [0, -1, "2", True, NAN, float("inf")]
NO_NAME = ["", "EXP", 1, True]
NO_ASPECTS = [
    {},
    ["relevance"],
    "relevance",
    {"relevance": 0},
    {"relevance": -2},
    {"relevance": 1.5},
    {"relevance": True},
    {"relevance": "high"},
    {"relevance": None},
    {"relevance": {}},
    {"relevance": {0: 1, 1: 0}},
    {"relevance": {0: 0, 1: NAN}},
    {"relevance": {0: 0, 1: "1"}},
    {"relevance": {"high": 1, "low": 0}},
    {3: 1},
]
NO_TRUTH = [1, "yes"]
NO_WHOLE_SHARE = [0, -0.1, 1.1, "0.5", True, NAN]  # 1 itself is one
TOTAL_RECALL = {"rel": NOT_ABOVE_0, "n": [0, -1, 2.5, "10", True, NAN, {}, {"q": 0}, {"q": "10"}]}
CWL = {"max_rel": NOT_ABOVE_0, "gain": NO_NAME, "unjudged": NO_NAME}
GAIN = {"gain": NO_NAME, "max_rel": NOT_ABOVE_0}
ASPECT = {"cutoff": NO_CUTOFF, "aspects": NO_ASPECTS, "base": ["", "nope", "AP(", "AP(foo=1)", 3, "TOMA", "AP LR"]}
WEIGHTS = [{}, {"relevance": 0}, {"relevance": -1}, {"relevance": NAN}, {"relevance": "1"}, {"relevance": True}, [1], 1]
OUT_OF_RANGE: dict[Any, dict[str, list[Any]]] = {
    TSE: {
        "cutoff": NO_CUTOFF,
        "rel": [0, -1, "2", NAN, float("inf")],
        "exposure": ["", "ap", "MAP", 1],
        "p": NO_SHARE,
        "n": NO_CUTOFF,
        "impute": ["", "Optimistic", 0, False],
        "normalize": ["True", 1, "yes"],
    },
    LR: {
        "cutoff": NO_CUTOFF,
        "rel": [0, -1, "2", NAN, float("inf")],
        "form": ["", "Nested", 1],
        "n": NO_CUTOFF,
        "eps": NO_SHARE,
    },
    CWL_ERR8(max_rel=2) @ 5: {"cutoff": NO_CUTOFF, **CWL},
    CWL_ERR9(max_rel=2) @ 5: {"cutoff": NO_CUTOFF, **CWL},
    CWL_ERR10(max_rel=2): {"phi": NO_PERSISTENCE, **CWL},
    CWL_ERR11(max_rel=2): {"T": NEGATIVE, **CWL},
    CWL_RBP(max_rel=2): {"phi": NO_PERSISTENCE, **CWL},
    RBU: {
        "cutoff": NO_CUTOFF,
        "p": [0, -0.5, 1.001, 2, "0.5", True, NAN],
        "e": [-0.01, -1, "0", True, NAN, float("inf")],
        "gain": NO_NAME,
        "max_rel": NOT_ABOVE_0,
        "normalize": [1, "no"],
    },
    TOMA(aspects={"relevance": 2}): {
        **ASPECT,
        "distance": ["", "Euclid", 2],
        "gate": ["", "quality", 1],
        "binarize": [0, -1, "third", 1.5, True],
    },
    CAM(aspects={"relevance": 2}): {**ASPECT, "weights": WEIGHTS, "binarize": [0, -1, "third", 1.5, True]},
    MM(aspects={"relevance": 2}): {**ASPECT, "weights": WEIGHTS, "binarize": [0, -1, "third", 1.5, True]},
    IA: {"cutoff": NO_CUTOFF, "base": ASPECT["base"]},
    D_nDCG: {"cutoff": NO_CUTOFF},
    DSharp: {"cutoff": NO_CUTOFF, "gamma": NO_PART, "rel": NOT_ABOVE_0},
    EU: {"cutoff": NO_CUTOFF, "alpha": NO_PART, "e": [-0.01, -1, "0", True, NAN, float("inf")], **GAIN},
    CT: {"cutoff": NO_CUTOFF, "alpha": NO_PART, "saturation": NOT_ABOVE_0, **GAIN},
    SRR: {"cutoff": NO_CUTOFF, "rel": NOT_ABOVE_0},
    GERR(max_rel=2): {"cutoff": NO_CUTOFF, **CWL},
    SL3: {"cutoff": NO_CUTOFF, "rel": NOT_ABOVE_0, "n": NO_CUTOFF},
    RE: {"cutoff": NO_CUTOFF, "rel": NOT_ABOVE_0, "n": NO_CUTOFF},
    WSS: {"r": NO_WHOLE_SHARE, **TOTAL_RECALL},
    ATD: {**TOTAL_RECALL, "normalize": NO_TRUTH},
    RecallLoss: TOTAL_RECALL.copy(),
    LastRel: TOTAL_RECALL.copy(),
    ERF: {"x": NO_WHOLE_SHARE, **TOTAL_RECALL},
    IPrec_TE(recall=0.1): {"recall": NO_PART, "version": [8, 11, "10", 9.5, True], "rel": NOT_ABOVE_0},
    ElevenPt: {"version": [8, 11, "10", 9.5, True], "rel": NOT_ABOVE_0},
    RBP_TE: {"p": NO_SHARE},
    RelP: {"cutoff": NO_CUTOFF, "rel": NOT_ABOVE_0},
    Rndcg: {},
    Unjudged @ 5: {"cutoff": NO_CUTOFF},
    nDCG_JK: {"cutoff": NO_CUTOFF, "a": [1, 0.5, 0, -2, "2", True, NAN, float("inf")]},
}
for params in OUT_OF_RANGE.values():
    params["judged_only"] = NO_TRUTH
OUT_OF_RANGE_CASES = [
    pytest.param(measure, name, value, id=f"{measure.NAME}-{name}-{value!r}")
    for measure, params in OUT_OF_RANGE.items()
    for name, values in params.items()
    for value in values
]


def test_every_parameter_of_every_measure_is_tried() -> None:
    assert {(measure.NAME, name) for measure, params in OUT_OF_RANGE.items() for name in params} == {
        (measure.NAME, name)
        for measure in REGISTRY.values()
        if type(measure).__module__.startswith("ir_lexirecall.")  # other tests define measures, too
        for name in measure.SUPPORTED_PARAMS
    }


@pytest.mark.parametrize(("measure", "name", "value"), OUT_OF_RANGE_CASES)
def test_a_parameter_out_of_range(measure: Any, name: str, value: Any) -> None:
    bad = measure(**{name: value})
    messages = [
        refusal(bad.validate_params),
        evaluate([bad]),
        refusal(lambda: ir_measures.calc_aggregate([bad], QRELS, RUN)),
        refusal(lambda: ir_measures.evaluator([bad], QRELS)),
    ]
    for message in messages:
        assert_names(message, measure.NAME, name, repr(value))
        assert " object at 0x" not in message


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("TSE@0", ["TSE", "cutoff", "0"]),
        ("TSE@2.5", ["TSE", "cutoff", "2.5"]),
        ("TSE(p=2)", ["TSE", "p ", "2"]),
        ("TSE(exposure='ap')", ["TSE", "exposure", "'ap'", "'AP'"]),
        ("RBU(p=1.5)@10", ["RBU", "p ", "1.5"]),
        ("CWL_ERR10(max_rel=0)", ["CWL_ERR10", "max_rel", "0"]),
        ("CAM(aspects={'relevance':0})", ["CAM", "aspects", "0"]),
    ],
)
def test_a_parameter_out_of_range_in_a_string(text: str, parts: list[str]) -> None:
    assert_names(evaluate(text), *parts)


@pytest.mark.parametrize("measure", dict.fromkeys(REGISTRY.values()), ids=str)
def test_an_unknown_parameter(measure: Any) -> None:
    message = refusal(lambda: measure(depth=3))
    assert_names(message, measure.NAME, "'depth'", *measure.SUPPORTED_PARAMS)
    assert evaluate(f"{measure.NAME}(depth=3)") == f"evaluate: {message}"


def test_a_query_without_grades_above_minus_1_does_not_stop_the_program() -> None:
    """pytrec_eval writes beyond its memory for such a query; a crash would end all tests."""
    qrels = {"q1": {"x": 3, "z": -4}, **{f"q{i}": {"y": -2, "z": -3} for i in range(2, 40)}}
    found = irl.evaluate(["AP", "nDCG", "TSE"], qrels, {q: {"y": 2.0, "x": 1.0} for q in qrels})
    assert found.loc["q1"].tolist() == [0.5, pytest.approx(1 / np.log2(3)), 0.5]
    assert not found.drop(index="q1").to_numpy().any()


@pytest.mark.parametrize("measure", ["AP@0", "nDCG@0", "RR@0", "CAM(aspects={'relevance':1},base='P@0')"])
def test_cutoffs_below_1_of_standard_measures(measure: str) -> None:
    with pytest.raises(ValueError, match="cutoff must be at least 1"):
        irl.evaluate(measure, {"q": {"d": 1}}, {"q": {"d": 1.0}})


@pytest.mark.parametrize("block", [30, 10**6])
@pytest.mark.parametrize("measures", ["TSE", ["TSE", "AP"]])
def test_a_score_in_a_table_file_that_is_a_text(measures: Any, block: int, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(content, "_BLOCK", block)
    path = tmp_path / "run.csv"
    path.write_text(
        "query_id,doc_id,score\n" + "".join(f"q1,d{i},0.{i}\n" for i in range(1, 9)) + "q1,d9,abc\nq1,x,7\n"
    )
    with pytest.raises(
        ValueError, match=r"run\.csv, line 10: the score of document 'd9' for query 'q1' is 'abc'[^(]*$"
    ):
        irl.evaluate(measures, {"q1": {"d1": 1}}, path)


def test_files_that_are_something_else(tmp_path: Path) -> None:
    corrupt = bytearray(
        gzip.compress(b"".join(b"q%d Q0 d%d 1 %d t\n" % (i // 9, i * 7919 % 10007, i) for i in range(9999)))
    )
    corrupt[18] ^= 0xFF
    content: dict[str, tuple[bytes, str]] = {
        "a.gz": (bytes(corrupt), "cannot be read"),
        "a.csv": (b"topic,docno,score\n1,2,3\n", "header line with query_id, doc_id, score"),
        "a.qrels": (b"1 0 d 1\n", "looks like qrels"),
    }
    for name, (data, words) in content.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=f"{name}.*{words}"):
            irl.evaluate("TSE", {"q": {"d": 1}}, tmp_path / name)
    (tmp_path / "run").write_text("1 Q0 d 1 2.5 t\n")
    with pytest.raises(ValueError, match="looks like a run"):
        irl.evaluate("TSE", tmp_path / "run", {})


@pytest.mark.parametrize("grade", [10**400, True, np.True_])
@pytest.mark.parametrize("first", [True, False])
def test_grades_that_are_not_finite_numbers_in_any_row(grade: Any, first: bool) -> None:
    grades = {"odd": grade, "even": 1} if first else {"even": 1, "odd": grade}
    with pytest.raises(ValueError, match=r"'odd'.*not a finite number"):
        irl.evaluate("TSE", {"q": grades}, {})


def test_a_score_beyond_all_floats_is_infinite() -> None:
    assert irl.evaluate("TSE", {"q": {"a": 1}}, {"q": {"a": 10**400, "b": 1e30}})["TSE"].tolist() == [1.0]


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "named tuples"])
@pytest.mark.parametrize("lost", ["qid", "docno", "label"])
def test_a_missing_column_of_a_table_with_the_names_of_pyterrier(lost: str, form: str) -> None:
    columns = {"qid": ["q1"], "docno": ["d1"], "label": [1], "iteration": ["0"]}
    columns.pop(lost)
    ours = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}[lost]
    assert_names(evaluate(TSE, qrels=table(columns, form)), "qrels", f"lacks the column {ours!r}", *columns)


def test_a_column_under_both_of_its_names_is_read_under_ours() -> None:
    """PyTerrier's name is a further column then."""
    qrels = pd.DataFrame({"query_id": ["q1"], "qid": ["q9"], "doc_id": ["d1"], "relevance": [1]})
    assert irl.evaluate(TSE, qrels, RUN).index.tolist() == ["q1"]


@pytest.mark.parametrize(
    ("measure", "lacks"),
    [
        (CWL_ERR8(max_rel=2), "cutoff"),
        (CWL_ERR8 @ 5, "max_rel"),
        (CWL_ERR9(max_rel=2), "cutoff"),
        (CWL_ERR9 @ 5, "max_rel"),
        (CWL_ERR10, "max_rel"),
        (CWL_ERR11, "max_rel"),
        (CWL_RBP, "max_rel"),
        (TOMA, "aspects"),
        (CAM, "aspects"),
        (MM, "aspects"),
    ],
    ids=str,
)
def test_a_required_parameter_is_missing(measure: Any, lacks: str) -> None:
    for message in (evaluate([measure]), evaluate(str(measure)), refusal(lambda: measure.calc_aggregate(QRELS, RUN))):
        assert_names(message, measure.NAME, lacks, "required")


def test_a_required_parameter_of_a_standard_measure_is_missing() -> None:
    message = evaluate("P")
    assert_names(message, "P", "cutoff")
    assert " object at 0x" not in message


@pytest.mark.parametrize(
    ("measure", "parts"),
    [
        (TSE(exposure="linear"), ["exposure='linear'", "needs n"]),
        (LR(form="weighted"), ["form='weighted'", "needs n"]),
        (RBU(normalize=True, p=1), ["normalize=True", "p"]),
        (TOMA(aspects={"relevance": 2, "quality": 1}, gate="quantity"), ["gate='quantity'", "relevance", "quality"]),
        (CAM(aspects={"relevance": 2, "quality": 1}, weights={"relevance": 1}), ["weights", "relevance", "quality"]),
        (MM(aspects={"relevance": 2}, weights={"relevance": 1, "quality": 1}), ["weights", "relevance", "quality"]),
    ],
    ids=str,
)
def test_parameters_that_do_not_go_together(measure: Any, parts: list[str]) -> None:
    for message in (evaluate([measure]), evaluate(str(measure)), refusal(lambda: measure.calc_aggregate(QRELS, RUN))):
        assert_names(message, measure.NAME, *parts)


@pytest.mark.parametrize("base", ["TOMA(aspects={'relevance':2})", "CAM(aspects={'relevance':2})", "MM"])
def test_a_base_that_judges_several_aspects_itself(base: str) -> None:
    assert_names(evaluate(CAM(aspects={"relevance": 2}, base=base)), "CAM", "base", repr(base))


@pytest.mark.parametrize("base", ["Bpref", "AP@10", "TSE@3", "CWL_ERR10(max_rel=2)"])
def test_a_base_that_cannot_be_cut(base: str) -> None:
    assert_names(evaluate(TOMA(aspects={"relevance": 2}, base=base) @ 5), "TOMA", "base", base, "5")


@pytest.mark.parametrize(
    ("measure", "wanted"),
    [
        (TSE(n=3), "4"),  # q2: the one in rank 4 is last
        (TSE(n=3, exposure="linear"), "4"),
        (TSE(n=3, impute="optimistic"), "4"),
        (LR(form="weighted", n=3), "4"),
    ],
    ids=str,
)
def test_n_smaller_than_a_rank_in_use(measure: Any, wanted: str) -> None:
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    ranking = {"x": 4.0, "y": 3.0, "z": 2.0, "a": 1.0}
    run = {"q1": {"a": 1.0}, "q2": ranking, "q3": ranking}
    for message in (evaluate([measure], qrels, run), refusal(lambda: measure.calc_aggregate(qrels, run))):
        assert_names(message, str(measure), "n=3", f"rank {wanted}", "'q2'", more(1))


def test_n_smaller_than_the_number_of_relevant_documents() -> None:
    qrels = {"q1": {"a": 1, "b": 1, "c": 1}}
    for measure in (TSE(n=2), LR(form="weighted", n=2)):
        assert_names(evaluate([measure], qrels, {"q1": {"a": 1.0}}), str(measure), "n=2", "'q1'")


def test_n_as_large_as_the_last_rank_is_enough() -> None:
    run = {"q1": {"x": 2.0, "a": 1.0}}
    for measure in (TSE(n=2), TSE(n=2, exposure="linear"), LR(form="weighted", n=2)):
        assert irl.evaluate([measure], {"q1": {"a": 1}}, run).shape == (1, 1)


# -- measures ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["Nope", "nope@10", "map", "TSE(", "TSE)", "TSE(0.5)", "TSE@ten", "TSE LR", "TSE(p=-1)", "1", ""]
)
def test_a_string_that_is_not_a_measure_is_named(text: str) -> None:
    for measures in (text, [TSE, text], {"column": text}):
        assert_names(evaluate(measures), repr(text))


@pytest.mark.parametrize(
    "bad", [5, None, 1.5, [TSE], irl, int, Judgments], ids=["5", "None", "1.5", "list", "module", "int", "class"]
)
def test_an_object_that_is_not_a_measure_is_named(bad: Any) -> None:
    assert_names(evaluate([bad]), repr(bad), "measure")


@pytest.mark.parametrize("nothing", [[], ()])
def test_no_measure_at_all(nothing: Any) -> None:
    assert_names(evaluate(nothing), "measure")


# -- aspects -------------------------------------------------------------------------------------------


def aspects_frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(
        {"query_id": ["q1", "q1", "q2"], "doc_id": ["d1", "d2", "d1"], "relevance": [1, 0, 2], **columns}
    )


@pytest.mark.parametrize("kind", [TOMA, CAM, MM], ids=str)
def test_an_aspect_that_does_not_exist(kind: Any) -> None:
    measure = kind(aspects={"relevance": 2, "quality": 1})
    message = evaluate([measure], aspects_frame(trust=[1, 0, 1]))
    assert_names(message, "'quality'", "relevance", "trust")
    rows = [Qrel("q1", "d1", 1, "relevance"), Qrel("q1", "d1", 1, "credibility")]
    assert_names(evaluate([measure], rows), "'quality'", "credibility", "relevance")


@pytest.mark.parametrize("kind", [TOMA, CAM, MM], ids=str)
@pytest.mark.parametrize(
    ("scale", "labels", "bad"),
    [
        (2, [1, 3, 4], "3"),
        (1, [1.0, 0.5, 0.25], "0.5"),
        ({0: 0, 1: 1, 3: 2}, [3, 2, 2], "2"),
        ({0: 0, 1: 1}, [1, float("inf"), 9], "inf"),
    ],
)
def test_a_label_off_the_scale(scale: Any, labels: list[float], bad: str, kind: Any) -> None:
    measure = kind(aspects={"relevance": 2, "quality": scale})
    message = evaluate([measure], aspects_frame(quality=labels))
    assert_names(message, str(measure), "'q1'", "'d2'", bad, "'quality'", more(1))


def test_a_label_that_is_not_a_number() -> None:
    message = evaluate(TOMA(aspects={"relevance": 2, "quality": 2}), aspects_frame(quality=["1", "good", "x"]))
    assert_names(message, "quality", "'q1'", "'d1'", "'1'", more(2))


def conflicting(first: int, second: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "query_id": ["q1", "q1", "q2"],
            "doc_id": ["d1", "d1", "d1"],
            "relevance": [1, 1, 1],
            "subtopic_id": ["s1", "s2", "s1"],
            "quality": [first, second, 5],
        }
    )


def test_two_labels_for_one_document() -> None:
    measure = CAM(aspects={"relevance": 1, "quality": 9})
    assert_names(evaluate([measure], conflicting(6, 8)), "'q1'", "'d1'", "'quality'")
    assert irl.evaluate([measure], conflicting(6, 6), RUN).shape == (2, 1)


def test_both_labels_of_a_document_are_named() -> None:
    assert_names(evaluate([CAM(aspects={"relevance": 1, "quality": 9})], conflicting(6, 8)), "6", "8")


def subtopics(weight: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "query_id": ["q1", "q1", "q1", "q2"],
            "doc_id": ["d1", "d2", "d2", "d1"],
            "relevance": [1, 1, 1, 1],
            "subtopic_id": ["s1", "s1", "s2", "s1"],
            "weight": weight,
        }
    )


@pytest.mark.parametrize(
    ("weight", "parts"),
    [
        ([1, 1, -3, 1], ["'q1'", "'s2'", "'d2'", "-3"]),
        ([1, 1, -3, -1], ["'q1'", "'s2'", "'d2'", "-3", more(1)]),
        ([1, 1, NAN, 1], ["'q1'", "'s2'", "'d2'", "nan"]),
        ([1, 1, float("inf"), 1], ["'q1'", "'s2'", "'d2'", "inf"]),
        ([1, 7, 2, 1], ["'q1'", "'s1'"]),
        ([1, 1, "heavy", 1], ["'q1'", "'d2'", "weight", "'heavy'"]),
        ([1, 1, None, 1], ["'q1'", "'s2'", "'d2'"]),
    ],
    ids=repr,
)
def test_a_weight_that_cannot_be_used(weight: list[Any], parts: list[str]) -> None:
    assert_names(evaluate(RBU, subtopics(weight)), "weight", *parts)
    assert_names(refusal(lambda: RBU.calc_aggregate(subtopics(weight), RUN)), "weight", *parts)


def test_weights_may_differ_between_queries_and_subtopics() -> None:
    values = irl.evaluate(RBU(e=0), subtopics([1, 1, 3, 2]), {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}})
    gain = 1 / 2  # of grade 1 where 1 is the top grade
    assert values.iloc[:, 0].tolist() == pytest.approx(
        [0.99 * gain / 4 + 0.99**2 * (gain * (1 - gain) / 4 + gain * 3 / 4), 0.99 * gain]
    )


def test_columns_that_no_measure_needs_are_not_checked() -> None:
    assert irl.evaluate(TSE, subtopics([-1, "x", None, 2]), RUN).shape == (2, 1)
    assert irl.evaluate(TSE, conflicting(6, 8), RUN).shape == (2, 1)


# -- files ---------------------------------------------------------------------------------------------

GOOD_RUN_LINE = "q1 Q0 d1 1 2.5 tag\n"
GOOD_QRELS_LINE = "q1 0 d1 1\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("q1 Q0 d2 2 1.5", 5),
        ("q1 Q0 d2 2 1.5 my tag", 7),
        ("q1", 1),
        ("q1\tQ0\td2\t2\t\ttag", 5),
        ("q1  d2 2 1.5 tag", 5),
        ("q1 Q0 d2  1.5 tag", 5),
    ],
)
def test_a_malformed_line_of_a_run(line: str, fields: int, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / ("bad.run" if pack is bytes else "bad.run.gz")
    path.write_bytes(pack((GOOD_RUN_LINE + "\n" + line + "\n" + GOOD_RUN_LINE).encode()))
    assert_names(evaluate(TSE, run=path), str(path), "line 3", f"{fields} fields", "6")


@pytest.mark.parametrize(("line", "fields"), [("q1 0 d2", 3), ("q1 0 d2 1 0", 5), ("q1 0 my doc 1", 5)])
@pytest.mark.parametrize("before", [0, 1, 4])
def test_a_malformed_line_of_qrels(before: int, line: str, fields: int, tmp_path: Path) -> None:
    path = tmp_path / "bad.qrels"
    path.write_bytes((GOOD_QRELS_LINE * before + line + "\r\n" + GOOD_QRELS_LINE).encode())
    assert_names(evaluate(TSE, qrels=path), str(path), f"line {before + 1}", f"{fields} fields", "4")


def test_fields_lost_in_one_line_and_found_in_the_next(tmp_path: Path) -> None:
    path = tmp_path / "bad.run"
    path.write_text("q1 Q0 d1 1 2.5\ntag q1 Q0 d2 2 1.5 tag\n")
    assert_names(evaluate(TSE, run=path), str(path), "line 1", "5 fields")


def test_a_malformed_line_of_a_wide_file(tmp_path: Path) -> None:
    path = tmp_path / "wide.txt"
    path.write_text("query_id\tdoc_id\trelevance\tquality\nq1\td1\t1\t0\nq1\td2\t1\n")
    assert_names(evaluate(TSE, qrels=path), str(path), "line 3", "3 fields", "4")


@pytest.mark.parametrize("content", [b"q1 Q0 d1 1 2 t\nq1 Q0 d\xe9 2 1 t\n", b"q1 Q0 d1 1 2 t\n\xff\xfe\n"])
def test_bytes_that_are_not_utf_8(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "latin.run"
    path.write_bytes(content)
    assert_names(evaluate(TSE, run=path), str(path), "line 2", "UTF-8")
    assert_names(evaluate(TSE, qrels=path), str(path), "line 2", "UTF-8")


@pytest.mark.parametrize("bad", ["high", "1,5", "0x10", "1_000", "--1", "1e", "none"])
def test_a_score_in_a_file_that_is_not_a_number(bad: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.run"
    path.write_text(GOOD_RUN_LINE + f"q2 Q0 d7 1 {bad} t\n" + f"q2 Q0 d8 1 {bad} t\n" * 2)
    message = evaluate(TSE, run=path)
    assert_names(message, str(path), "score", "'q2'", "'d7'", repr(bad))


@pytest.mark.parametrize("value", ["score", "relevance"])
def test_numbers_of_all_spellings_are_read_from_files(value: str, tmp_path: Path) -> None:
    spellings = ["3", "+2.5", "2.", "1e0", ".5", "-1E-3", "-7"]
    path = as_file([("q1", f"d{i}", number) for i, number in enumerate(spellings)], value, tmp_path)
    if value == "score":
        ranks = [irl.evaluate(TSE, {"q1": {f"d{i}": 1}}, path).iloc[0, 0] for i in range(len(spellings))]
        assert ranks == [1 / (1 + i) for i in range(len(spellings))]
    else:
        found = [irl.evaluate(TSE(rel=grade), path, {"q1": {"d0": 1.0}}).iloc[0, 0] for grade in (3, 2.5)]
        assert found == [1, 0]


def bad_files() -> dict[str, str]:
    return {
        "nan": "q1 Q0 d1 1 nan t\n",
        "twice": "q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n",
        "fields": "q1 Q0 d1 1 2\n",
        "text": "q1 Q0 d1 1 x t\n",
    }


@pytest.mark.parametrize("kind", bad_files())
def test_the_file_of_a_bad_run_is_named(kind: str, tmp_path: Path) -> None:
    """With several runs on the command line, nothing else tells which one to mend."""
    (tmp_path / "bm25.run").write_text(bad_files()[kind])
    assert_names(evaluate(TSE, run=tmp_path / "bm25.run"), "bm25.run")


def test_a_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.txt"
    assert_names(evaluate(TSE, qrels=str(path)), str(path), "no such file", "ir_datasets")
    assert_names(evaluate(TSE, qrels=path), str(path), "no such file")  # a path is not an id
    for missing in (path, str(path)):
        assert_names(evaluate(TSE, run=missing), str(path), "no such file")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    assert_names(evaluate(TSE, qrels=tmp_path), str(tmp_path))
    assert_names(evaluate(TSE, run=tmp_path), str(tmp_path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.gz", GOOD_RUN_LINE.encode()),
        ("plain.bz2", GOOD_RUN_LINE.encode()),
        ("plain.xz", GOOD_RUN_LINE.encode()),
        ("cut.gz", gzip.compress(GOOD_RUN_LINE.encode() * 1000, mtime=0)[:-20]),
        ("damaged.parquet", b"PAR1 and then nothing"),
        ("damaged.gz", gzip.compress(np.arange(9999).tobytes(), mtime=0)[:500] + b"\x00" * 500),
    ],
)
def test_a_file_that_is_damaged(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert_names(evaluate(TSE, run=tmp_path / name), name)
    assert_names(evaluate(TSE, qrels=tmp_path / name), name)


# -- warnings ------------------------------------------------------------------------------------------

OTHER_QUERIES = {"q9": {"d1": 1.0}}
WARNED: dict[str, Callable[[], Any]] = {
    "evaluate": lambda: irl.evaluate(TSE, QRELS, OTHER_QUERIES),
    "compare": lambda: irl.compare(QRELS, {"a": RUN, "b": OTHER_QUERIES}, allow_empty=True),
    "benchmark": lambda: irl.benchmark(QRELS, {"a": OTHER_QUERIES}, ["TSE"], allow_empty=True),
    "RBU": lambda: irl.evaluate(RBU, QRELS, RUN),
    "RBU by ir_measures": lambda: ir_measures.calc_aggregate([RBU], QRELS, RUN),
    "RBU by its own method": lambda: RBU.calc_aggregate(QRELS, RUN),
}


@pytest.mark.parametrize("door", WARNED)
def test_a_warning_points_at_the_line_of_the_user(door: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        WARNED[door]()
    (warning,) = caught
    assert warning.category is UserWarning
    assert warning.filename == __file__
    assert f'"{door}": lambda' in linecache.getline(__file__, warning.lineno)
