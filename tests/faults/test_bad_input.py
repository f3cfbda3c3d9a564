"""Bad input is refused with a ``ValueError`` that names the first offender and counts the rest."""

from __future__ import annotations

import gzip
import linecache
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from ir_measures import AP, Compat, Qrel, ScoredDoc, nDCG, parse_measure

import ir_lexirecall as irl
from ir_lexirecall import CAM, LR, MM, RBU, TOMA, TSE
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.measures import REGISTRY
from tests.support.odd_inputs import Rows, named_tuples, nested, refusal

QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d1": 1}}
RUN = {"q1": {"d3": 3.0, "d9": 2.0, "d1": 1.0}, "q2": {"d1": 1.0}}
NAN = float("nan")


def evaluate(measures: Any, qrels: Any = QRELS, run: Any = RUN) -> str:
    return refusal(lambda: irl.evaluate(measures, qrels, run))


def assert_names(message: str, *parts: str) -> None:
    missing = [part for part in parts if part not in message]
    assert not missing, f"{missing} not in: {message}"


def more(count: int) -> str:
    return f"and {count} other case"


# -- formats -------------------------------------------------------------------------------------------


def as_polars(rows: Rows, value: str, _: Path) -> pl.DataFrame:
    return pl.DataFrame(
        rows, schema=["query_id", "doc_id", value], orient="row", strict=False
    )


def as_file(rows: Rows, value: str, folder: Path) -> Path:
    path = folder / f"{value}.txt"
    pattern = "{} 0 {} {}\n" if value == "relevance" else "{} Q0 {} 1 {} tag\n"
    path.write_text("".join(pattern.format(*row) for row in rows))
    return path


FORMATS: dict[str, Callable[[Rows, str, Path], Any]] = {
    "pandas": lambda rows, value, _: pd.DataFrame(
        rows, columns=["query_id", "doc_id", value]
    ),
    "pandas objects": lambda rows, value, _: pd.DataFrame(
        rows, columns=["query_id", "doc_id", value], dtype=object
    ),
    "polars": as_polars,
    "arrow": lambda rows, value, _: as_polars(rows, value, _).to_arrow(),
    "named tuples": lambda rows, value, _: named_tuples(rows, value),
    "generator": lambda rows, value, _: iter(named_tuples(rows, value)),
    "dict": lambda rows, value, _: nested(rows),
    "file": as_file,
}
REPEATABLE = [
    name for name in FORMATS if name != "dict"
]  # formats that can say a thing twice
BY_IR_MEASURES = ("pandas", "pandas objects", "named tuples", "generator", "dict")


def refusals(
    form: str, rows: Rows, value: str, measure: Any, folder: Path
) -> list[str]:
    """The messages for bad rows of a run or of qrels in a format, by every way to have them evaluated."""

    def inputs() -> tuple[Any, Any]:
        data = FORMATS[form](rows, value, folder)
        return (data, RUN) if value == "relevance" else (QRELS, data)

    messages = [refusal(lambda: irl.evaluate([measure], *inputs()))]
    if form in BY_IR_MEASURES:
        messages.append(
            refusal(lambda: ir_measures.calc_aggregate([measure], *inputs()))
        )
        messages.append(
            refusal(lambda: list(ir_measures.iter_calc([measure], *inputs())))
        )
    return messages


# -- runs ----------------------------------------------------------------------------------------------


ABOVE = [("q1", "d1", 3), ("q1", "d7", 5), ("q2", "d2", 4), ("q2", "d3", 6)]
TWICE = [
    ("q2", "d5", 3.0),
    ("q1", "d9", 1.0),
    ("q2", "d9", 0.5),
    ("q2", "d5", 3.0),
    ("q2", "d9", 0.1),
    ("q2", "d5", 0.1),
]
GRADES = [
    ("q1", "d1", 1),
    ("q2", "d4", 6),
    ("q2", "d5", 0),
    ("q2", "d4", 8),
    ("q2", "d5", 9),
]
BAD_ROWS: dict[str, tuple[list[str], str, Any, Rows, list[str]]] = {
    "a document twice": (REPEATABLE, "score", TSE, TWICE, ["'q2'", "'d5'", more(2)]),
    "NaN as a score": (
        list(FORMATS),
        "score",
        LR,
        [("q1", "d1", 1.0), ("q1", "d7", NAN), ("q2", "d2", NAN), ("q2", "d3", NAN)],
        ["'q1'", "'d7'", "nan", more(2)],
    ),
    "two grades": (REPEATABLE, "relevance", TSE, GRADES, ["'q2'", "'d4'", more(1)]),
    **{
        f"{bad!r} as grades": (
            list(FORMATS),
            "relevance",
            TSE,
            [("q1", "d3", bad), ("q1", "d7", bad), ("q2", "d2", bad)],
            ["'q1'", "'d3'", str(bad), more(2)],
        )
        for bad in ("good", NAN)
    },
    **{
        f"a grade above max_rel of {text}": (
            list(FORMATS),
            "relevance",
            parse_measure(text),
            ABOVE,
            [text, "'q1'", "'d7'", "5", "max_rel=3", more(2)],
        )
        for text in (
            *(
                "CWL_ERR8(max_rel=3)@5",
                "CWL_ERR9(max_rel=3)@5",
                "CWL_ERR10(max_rel=3)",
                "CWL_ERR11(max_rel=3)",
            ),
            *("CWL_RBP(max_rel=3)", "RBU(max_rel=3)"),
        )
    },
}


@pytest.mark.filterwarnings("ignore:.*not contiguous")  # of rows in files
@pytest.mark.parametrize(
    ("name", "form"),
    [pytest.param(name, form) for name, case in BAD_ROWS.items() for form in case[0]],
)
def test_bad_rows(name: str, form: str, tmp_path: Path) -> None:
    _, value, measure, rows, parts = BAD_ROWS[name]
    for message in refusals(form, rows, value, measure, tmp_path):
        assert_names(message, *parts)


def test_scores_of_a_query_without_judgments_are_judged_alike_in_all_formats(
    tmp_path: Path,
) -> None:
    rows = [("q1", "d1", 1.0), ("unjudged", "d1", NAN)]
    outcomes = {}
    for form, build in FORMATS.items():
        try:
            outcomes[form] = irl.evaluate(TSE, QRELS, build(rows, "score", tmp_path))[
                "TSE"
            ].tolist()
        except ValueError:
            outcomes[form] = "refused"
    assert len(set(map(str, outcomes.values()))) == 1, outcomes


# -- qrels ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "NERR8(max_rel=3)@5",
        "NERR9(max_rel=3)@5",
        "NERR10(max_rel=3)",
        "NERR11(max_rel=3)",
        "ERR@5",
    ],
)
def test_a_grade_above_the_top_of_measures_served_instead_of_other_programs(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for program in (ir_measures.cwl_eval, ir_measures.gdeval):
        monkeypatch.setattr(program, "is_available", lambda: False)
    message = evaluate(
        [parse_measure(text)], qrels={"q1": {"d1": 3, "d7": 5}, "q2": {"d2": 6}}
    )
    assert_names(
        message,
        text,
        "'q1'",
        "'d7'",
        "5",
        "max_rel=3" if "max_rel" in text else "",
        more(1),
    )


def test_measures_of_other_providers_want_whole_grades() -> None:
    message = evaluate(
        [Compat(p=0.9)], qrels={"q1": {"d1": 1, "d2": 0.5}, "q2": {"d2": 0.25}}
    )
    assert_names(message, "Compat", "'q1'", "'d2'", "0.5", more(1))


def test_standard_measures_take_fractional_grades() -> None:
    values = irl.evaluate(
        [AP, nDCG], {"q1": {"d1": 1, "d2": 0.5}}, {"q1": {"d2": 2.0, "d1": 1.0}}
    )
    gain = (0.5 + 1 / np.log2(3)) / (1 + 0.5 / np.log2(3))
    assert values.loc["q1"].tolist() == [0.5, pytest.approx(gain)]


# -- columns, ids, formats -----------------------------------------------------------------------------


RUN_COLUMNS = {"query_id": ["q1"], "doc_id": ["d1"], "score": [1.0], "tag": ["t"]}
QRELS_COLUMNS = {
    "query_id": ["q1"],
    "doc_id": ["d1"],
    "relevance": [1],
    "iteration": ["0"],
}
PYTERRIERS = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow", "named tuples"])
@pytest.mark.parametrize(
    ("columns", "lost", "what"),
    [
        *((RUN_COLUMNS, lost, "run") for lost in ("query_id", "doc_id", "score")),
        *(
            (QRELS_COLUMNS, lost, "qrels")
            for lost in ("query_id", "doc_id", "relevance")
        ),
        *(
            (
                {name: QRELS_COLUMNS[ours] for name, ours in PYTERRIERS.items()},
                lost,
                "qrels",
            )
            for lost in PYTERRIERS
        ),
    ],
)
def test_a_missing_column(
    columns: dict[str, list[Any]], lost: str, what: str, form: str
) -> None:
    data = table(
        {name: column for name, column in columns.items() if name != lost}, form
    )
    message = evaluate(TSE, run=data) if what == "run" else evaluate(TSE, qrels=data)
    assert_names(
        message,
        what,
        f"lacks the column {PYTERRIERS.get(lost, lost)!r}",
        *(set(columns) - {lost}),
    )


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
def test_an_id_that_is_neither_string_nor_integer(
    column: str, bad: Any, value: str, form: str, tmp_path: Path
) -> None:
    rows = [("q1", "d1", 1), (bad, "d1", 1) if column == "query_id" else ("q1", bad, 1)]
    for message in refusals(form, rows, value, TSE, tmp_path):
        assert_names(message, repr(bad))
        if form != "dict":
            assert_names(
                message, "run" if value == "score" else "qrels", "row 2", column
            )


@pytest.mark.parametrize(
    ("what", "data", "parts"),
    [
        ("qrels", {"q1": {1.5: 1}}, ["1.5"]),
        ("run", {None: {"d1": 1.0}}, ["None"]),
        ("run", {"q1": {1: 1.0, "1": 2.0}}, ["string", "integer"]),
        ("qrels", {1: {"a": 1}, "1": {"a": 2}}, ["string", "integer"]),
        (
            "run",
            pd.DataFrame({"query_id": "q1", "doc_id": ["1", 1], "score": [2.0, 1.0]}),
            ["'1'"],
        ),
        *(
            (what, bad, [type(bad).__name__, value])
            for bad in (None, 5, object(), TSE)
            for what, value in (("qrels", "relevance"), ("run", "score"))
        ),
        (
            "qrels",
            [("q1", "d1", 1)],
            ["('q1', 'd1', 1)", "query_id, doc_id, relevance"],
        ),
        ("run", [["q1", "d1", 1]], ["['q1', 'd1', 1]", "query_id, doc_id, score"]),
        ("run", [ScoredDoc("q1", "d1", 1), Qrel("q1", "d2", 1)], ["Qrel", "'d2'"]),
        ("qrels", {"q1": [("d1", 1)]}, ["'q1'", "('d1', 1)"]),
        ("run", {"q1": {"d1": 1.0}, "q2": 3}, ["'q2'", "3"]),
        ("qrels", [Qrel("q1", "d1", 6), Qrel("q1", "d1", 8)], ["6", "8"]),
        (
            "qrels",
            [
                Qrel("q1", "d1", 1, "s1"),
                Qrel("q1", "d1", 2, "s2"),
                Qrel("q1", "d1", 3, "s2"),
            ],
            ["'q1'", "'d1'", "'s2'"],
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_run_and_no_qrels(what: str, data: Any, parts: list[str]) -> None:
    message = evaluate(TSE, qrels=data) if what == "qrels" else evaluate(TSE, run=data)
    assert_names(message, what if "'1'" not in parts else "", *parts)


# -- parameters ----------------------------------------------------------------------------------------

NO_CUTOFF = [0, -1, 2.5, "10", True, NAN]
NO_SHARE = [0, 1, -0.5, 1.5, "0.5", True, NAN]  # neither 0 nor 1 itself
NO_PART = [-0.1, 1.1, "0.5", True, NAN]  # 0 and 1 included
NO_PERSISTENCE = [1, -0.5, 1.5, "0.5", True, NAN]  # 0 itself is one
NO_WHOLE_SHARE = [0, -0.1, 1.1, "0.5", True, NAN]  # 1 itself is one
NEGATIVE = [-1, -1e-9, "2", True, NAN, float("inf")]
NOT_ABOVE_0 = [0, -1, "2", True, NAN, float("inf")]
NO_NAME = ["", "EXP", 1, True]
NO_SCALE = [
    0,
    -2,
    1.5,
    True,
    "high",
    None,
    {},
    {0: 1, 1: 0},
    {0: 0, 1: NAN},
    {0: 0, 1: "1"},
    {"high": 1, "low": 0},
]
NO_ASPECTS = [
    {},
    ["relevance"],
    "relevance",
    {3: 1},
    *({"relevance": scale} for scale in NO_SCALE),
]
NO_BASE = ["", "nope", "AP(", "AP(foo=1)", 3, "TOMA", "AP LR"]
NO_SIZES = [0, -1, 2.5, "10", True, NAN, {}, {"q": 0}, {"q": "10"}]
NO_THRESHOLD = [0, -1, "third", 1.5, True]
OUT_OF_RANGE: dict[
    str, list[Any]
] = {  # by parameter, and where measures differ by measure and parameter
    **dict.fromkeys(("cutoff", "n"), NO_CUTOFF),
    **dict.fromkeys(("rel", "max_rel", "saturation"), NOT_ABOVE_0),
    **dict.fromkeys(("gain", "unjudged"), NO_NAME),
    **dict.fromkeys(("alpha", "gamma", "recall"), NO_PART),
    **dict.fromkeys(("p", "eps"), NO_SHARE),
    **dict.fromkeys(("r", "x"), NO_WHOLE_SHARE),
    **{
        f"{name} n": NO_SIZES for name in ("WSS", "ATD", "RecallLoss", "LastRel", "ERF")
    },
    **{
        "judged_only": [1, "yes"],
        "normalize": [1, "True"],
        "e": [-0.01, *NEGATIVE],
        "T": NEGATIVE,
        "phi": NO_PERSISTENCE,
    },
    **{
        "RBU p": [0, -0.5, 1.001, 2, "0.5", True, NAN],
        "NRBP_G p": NO_PART,
        "a": [1, 0.5, 0, -2, "2", True, NAN, float("inf")],
    },
    **{
        "exposure": ["", "ap", "MAP", 1],
        "impute": ["", "Optimistic", 0, False],
        "form": ["", "Nested", 1],
    },
    **{
        "aspects": NO_ASPECTS,
        "base": NO_BASE,
        "binarize": NO_THRESHOLD,
        "distance": ["", "Euclid", 2],
    },
    **{"gate": ["", "credibility", 1], "version": [8, 11, "10", 9.5, True]},
    "weights": [
        {},
        *({"relevance": weight} for weight in (0, -1, NAN, "1", True)),
        [1],
        1,
    ],
}
OUT_OF_RANGE_CASES = [
    pytest.param(
        parse_measure(irl.describe(name).example.measure),
        parameter,
        value,
        id=f"{name}-{parameter}-{value!r}",
    )
    for name, measure in REGISTRY.items()
    if type(measure).__module__.startswith("ir_lexirecall.")
    and name == measure.NAME  # other tests define measures, too
    for parameter in measure.SUPPORTED_PARAMS
    for value in OUT_OF_RANGE.get(
        f"{name} {parameter}", OUT_OF_RANGE.get(parameter, [[1]])
    )
]


@pytest.mark.parametrize(("measure", "name", "value"), OUT_OF_RANGE_CASES)
def test_a_parameter_out_of_range(measure: Any, name: str, value: Any) -> None:
    bad = measure(**{name: value})  # of the measure in the example of its page
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
        *((text, ["cutoff must be at least 1"]) for text in ("AP@0", "nDCG@0", "RR@0")),
        ("CAM(aspects={'relevance':1},base='P@0')", ["cutoff must be at least 1"]),
        ("P", ["cutoff", "required"]),
        *(
            (f"{name}(max_rel=2)", ["cutoff", "required"])
            for name in ("CWL_ERR8", "CWL_ERR9")
        ),
        *(
            (name, ["max_rel", "required"])
            for name in (
                "CWL_ERR8@5",
                "CWL_ERR9@5",
                "CWL_ERR10",
                "CWL_ERR11",
                "CWL_RBP",
            )
        ),
        *((name, ["aspects", "required"]) for name in ("TOMA", "CAM", "MM")),
        ("TSE(exposure='linear')", ["exposure='linear'", "needs n"]),
        ("LR(form='weighted')", ["form='weighted'", "needs n"]),
        ("RBU(normalize=True,p=1)", ["normalize=True", "p"]),
        (
            "TOMA(aspects={'relevance':2,'quality':1},gate='quantity')",
            ["gate='quantity'", "relevance", "quality"],
        ),
        (
            "CAM(aspects={'relevance':2,'quality':1},weights={'relevance':1})",
            ["weights", "relevance", "quality"],
        ),
        (
            "MM(aspects={'relevance':2},weights={'relevance':1,'quality':1})",
            ["weights", "relevance", "quality"],
        ),
        *(
            (f"CAM(aspects={{'relevance':2}},base={base!r})", ["base", repr(base)])
            for base in (
                "TOMA(aspects={'relevance':2})",
                "CAM(aspects={'relevance':2})",
                "MM",
            )
        ),
        *(
            (f"TOMA(aspects={{'relevance':2}},base='{base}')@5", ["base", base, "5"])
            for base in ("Bpref", "AP@10", "TSE@3", "CWL_ERR10(max_rel=2)")
        ),
    ],
)
def test_parameters_that_are_missing_or_do_not_go_together(
    text: str, parts: list[str]
) -> None:
    measure = parse_measure(text)
    for message in (evaluate(text), evaluate([measure])):
        assert_names(message, measure.NAME, *parts)
        assert " object at 0x" not in message
    if type(measure).__module__.startswith("ir_lexirecall."):
        assert_names(
            refusal(lambda: measure.calc_aggregate(QRELS, RUN)), measure.NAME, *parts
        )


@pytest.mark.parametrize("measure", dict.fromkeys(REGISTRY.values()), ids=str)
def test_an_unknown_parameter(measure: Any) -> None:
    message = refusal(lambda: measure(depth=3))
    assert_names(message, measure.NAME, "'depth'", *measure.SUPPORTED_PARAMS)
    assert evaluate(f"{measure.NAME}(depth=3)") == f"evaluate: {message}"


def test_a_column_under_both_of_its_names_is_read_under_ours() -> None:
    """PyTerrier's name is a further column then."""
    qrels = pd.DataFrame(
        {"query_id": ["q1"], "qid": ["q9"], "doc_id": ["d1"], "relevance": [1]}
    )
    assert irl.evaluate(TSE, qrels, RUN).index.tolist() == ["q1"]


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
    for message in (
        evaluate([measure], qrels, run),
        refusal(lambda: measure.calc_aggregate(qrels, run)),
    ):
        assert_names(message, str(measure), "n=3", f"rank {wanted}", "'q2'", more(1))


def test_n_as_large_as_the_last_rank_is_enough() -> None:
    run = {"q1": {"x": 2.0, "a": 1.0}}
    for measure in (TSE(n=2), TSE(n=2, exposure="linear"), LR(form="weighted", n=2)):
        assert irl.evaluate([measure], {"q1": {"a": 1}}, run).shape == (1, 1)


# -- measures ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Nope",
        "nope@10",
        "mapp",
        "TSE(",
        "TSE)",
        "TSE(0.5)",
        "TSE@ten",
        "TSE LR",
        "TSE(p=-1)",
        "1",
        "",
    ],
)
def test_a_string_that_is_not_a_measure_is_named(text: str) -> None:
    for measures in (text, [TSE, text], {"column": text}):
        assert_names(evaluate(measures), repr(text))


@pytest.mark.parametrize(
    "bad",
    [5, None, 1.5, [TSE], irl, int, Judgments],
    ids=["5", "None", "1.5", "list", "module", "int", "class"],
)
def test_an_object_that_is_not_a_measure_is_named(bad: Any) -> None:
    assert_names(evaluate([bad]), repr(bad), "measure")


@pytest.mark.parametrize("nothing", [[], ()])
def test_no_measure_at_all(nothing: Any) -> None:
    assert_names(evaluate(nothing), "measure")


# -- aspects -------------------------------------------------------------------------------------------


def aspects_frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "query_id": ["q1", "q1", "q2"],
            "doc_id": ["d1", "d2", "d1"],
            "relevance": [1, 0, 2],
            **columns,
        }
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
def test_a_label_off_the_scale(
    scale: Any, labels: list[float], bad: str, kind: Any
) -> None:
    measure = kind(aspects={"relevance": 2, "quality": scale})
    message = evaluate([measure], aspects_frame(quality=labels))
    assert_names(message, str(measure), "'q1'", "'d2'", bad, "'quality'", more(1))


def test_a_label_that_is_not_a_number() -> None:
    message = evaluate(
        TOMA(aspects={"relevance": 2, "quality": 2}),
        aspects_frame(quality=["1", "good", "x"]),
    )
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
    assert_names(
        evaluate([measure], conflicting(6, 8)), "'q1'", "'d1'", "'quality'", "6", "8"
    )
    assert irl.evaluate([measure], conflicting(6, 6), RUN).shape == (2, 1)


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
    assert_names(
        refusal(lambda: RBU.calc_aggregate(subtopics(weight), RUN)), "weight", *parts
    )


def test_columns_that_no_measure_needs_are_not_checked() -> None:
    assert irl.evaluate(TSE, subtopics([-1, "x", None, 2]), RUN).shape == (2, 1)
    assert irl.evaluate(TSE, conflicting(6, 8), RUN).shape == (2, 1)


# -- files ---------------------------------------------------------------------------------------------

RUN_LINE, QRELS_LINE = "q1 Q0 d1 1 2.5 tag\n", "q1 0 d1 1\n"
RUN_FIELDS = {
    "q1 Q0 d2 2 1.5": 5,
    "q1 Q0 my d2 2 1.5 tag": 7,
    "q1 Q0 d 2 2 1.5 tag": 7,
    "q 1 Q0 d2 2 1.5 tag": 7,
    "q1": 1,
    "q1\tQ0\td2\t2\t\ttag": 5,
    "q1  d2 2 1.5 tag": 5,
    "q1 Q0 d2  1.5 tag": 5,
}
BAD_ROWS_OF_TABLES = {
    "q1,,1": "there is no doc_id",
    ",a,1": "there is no query_id",
    "q1,a,": "there is no score",
    "q1,a": "there is no score",
    '"",a,1': "there is no query_id",
    "q1,a,x": "the score of document 'a' for query 'q1' is 'x', not a number",
    "q1,a,1_0": "the score of document 'a' for query 'q1' is '1_0', not a number",
    "q1,a,1,2,3": "5 fields where 4 are expected",
    'q1,"a"b,1': "something follows a closing quotation mark",
    'q1,"a,1': "a quotation mark is not closed",
    "q1,\udcff,1": "not UTF-8",
}
BAD_FILES: list[tuple[str, str, str | bytes, list[str]]] = [
    *(
        (
            "run",
            "a.run",
            f"{RUN_LINE}\n{line}\n{RUN_LINE}",
            ["line 3", f"{n} field", "6"],
        )
        for line, n in RUN_FIELDS.items()
    ),
    *(
        (
            "qrels",
            "a.qrels",
            f"{QRELS_LINE * before}{line}\r\n{QRELS_LINE}",
            [f"line {before + 1}", f"{n} field", "4"],
        )
        for line, n in {"q1 0 d2": 3, "q1 0 d2 1 0": 5, "q1 0 my doc 1": 5}.items()
        for before in (0, 1, 4)
    ),
    (
        "run",
        "a.run",
        "q1 Q0 d1 1 2.5\ntag q1 Q0 d2 2 1.5 tag\n",
        ["line 1", "5 fields"],
    ),
    (
        "qrels",
        "wide.txt",
        "query_id doc_id relevance quality\nq1 d1 1 0\nq1 d2 1\n",
        ["line 3", "3 fields", "4"],
    ),
    *(
        (what, "latin.run", content, ["line 2", "UTF-8"])
        for what in ("run", "qrels")
        for content in (
            b"q1 Q0 d1 1 2 t\nq1 Q0 d\xe9 2 1 t\n",
            b"q1 Q0 d1 1 2 t\n\xff\xfe\n",
        )
    ),
    *(
        (
            "run",
            "a.run",
            f"{RUN_LINE}q2 Q0 d7 1 {bad} t\n" + f"q2 Q0 d8 1 {bad} t\n" * 2,
            ["score", "'q2'", "'d7'", repr(bad)],
        )
        for bad in ("high", "1,5", "0x10", "1_000", "--1", "1e", "none")
    ),
    ("run", "bm25.run", "q1 Q0 d1 1 nan t\n", ["nan"]),
    ("run", "bm25.run", "q1 Q0 d1 1 2 t\nq1 Q0 d1 2 1 t\n", ["'d1'"]),
    (
        "run",
        "a.csv",
        "topic,docno,score\n1,2,3\n",
        ["header line with query_id, doc_id, score"],
    ),
    ("run", "a.qrels", "1 0 d 1\n", ["looks like qrels"]),
    ("qrels", "run", "1 Q0 d 1 2.5 t\n", ["looks like a run"]),
    (
        "qrels",
        "judged.qrels",
        "q1 0 d1 1\nq1 0 d1 2\n",
        [": document 'd1' of query 'q1' is judged twice"],
    ),
    (
        "run",
        "twice.csv",
        "query_id,doc_id,score,score\nq1,a,1,2\n",
        [": the header names 'score' twice"],
    ),
    *(
        ("qrels", name, content, [": there are no judgments in it"])
        for name, content in (
            ("q", ""),
            ("q", "\n \n"),
            ("q.csv", "query_id,doc_id,relevance\n"),
            ("q.tsv", ""),
        )
    ),
    *(
        (
            "run",
            "a.csv",
            f"query_id,doc_id,score,note\nq1,b,1\n{before}{row}\nq1,z,3\n".encode(
                "utf-8", "surrogateescape"
            ),
            [f", line {3 + before.count(chr(10))}: {problem}"],
        )
        for row, problem in BAD_ROWS_OF_TABLES.items()
        for before in ("", "\n", '"q1","c",1\n')
    ),
    *(
        (what, name, content, [])
        for what in ("run", "qrels")
        for name, content in {
            **{f"plain.{ending}": RUN_LINE.encode() for ending in ("gz", "bz2", "xz")},
            "cut.gz": gzip.compress(RUN_LINE.encode() * 1000, mtime=0)[:-20],
            "damaged.parquet": b"PAR1 and then nothing",
            "damaged.gz": gzip.compress(np.arange(9999).tobytes(), mtime=0)[:500]
            + b"\x00" * 500,
        }.items()
    ),
]


@pytest.mark.parametrize("pack", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize(("what", "name", "content", "parts"), BAD_FILES)
def test_a_bad_file(
    what: str,
    name: str,
    content: str | bytes,
    parts: list[str],
    pack: bool,
    tmp_path: Path,
) -> None:
    data = content.encode() if isinstance(content, str) else content
    if pack and parts:
        name, data = f"{name}.gz", gzip.compress(data)
    path = tmp_path / name
    path.write_bytes(data)
    for given in (path, str(path)):
        message = (
            evaluate(TSE, run=given) if what == "run" else evaluate(TSE, qrels=given)
        )
        assert_names(message, str(path), *parts)
        assert message.startswith(f"evaluate: {path}")


def test_a_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.txt"
    assert_names(
        evaluate(TSE, qrels=str(path)), str(path), "no such file", "ir_datasets"
    )
    assert_names(
        evaluate(TSE, qrels=path), str(path), "no such file"
    )  # a path is not an id
    for missing in (path, str(path)):
        assert_names(evaluate(TSE, run=missing), str(path), "no such file")


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    assert_names(evaluate(TSE, qrels=tmp_path), str(tmp_path))
    assert_names(evaluate(TSE, run=tmp_path), str(tmp_path))


# -- options that were taken whatever they said --------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: irl.load(QRELS, rules="no"),
            "load: rules must be True or False, not 'no'",
        ),
        (
            lambda: irl.load(QRELS, judged_only="x"),
            "load: judged_only must be True or False, not 'x'",
        ),
        (
            lambda: irl.load("lexirecall/demo", judged_only=1),
            "load: judged_only must be True or False, not 1",
        ),
        (
            lambda: irl.SignificanceTest(groups=5),
            "SignificanceTest: groups must be a label per query, not 5",
        ),
        (
            lambda: irl.SignificanceTest(progress="x"),
            "SignificanceTest: progress must be True or False, not 'x'",
        ),
        *(
            (
                call,
                f"{door}: nope.txt: there is no such file; ir_datasets has no data set 'nope.txt'",
            )
            for door, call in {
                "evaluate": lambda: irl.evaluate("AP", "nope.txt", RUN),
                "benchmark": lambda: irl.benchmark("nope.txt", {"a": RUN}, ["AP"]),
            }.items()
        ),
        (
            lambda: irl.benchmark("suite.toml"),
            "benchmark: suite.toml: there is no such file",
        ),
        (
            lambda: irl.benchmark("./nope"),
            "benchmark: ./nope: there is no such folder or file",
        ),
        (
            lambda: irl.benchmark(Path("nope")),
            "benchmark: nope: there is no such folder or file",
        ),
        (
            lambda: irl.evaluate("AP(rel=2,rel=1)", QRELS, RUN),
            "evaluate: 'AP(rel=2,rel=1)': the parameter rel is given twice; keep one",
        ),
        (
            lambda: irl.compare(QRELS, {"a": RUN, "b": RUN}, "lexirecall(rel=2,rel=1)"),
            "compare: 'lexirecall(rel=2,rel=1)': the parameter rel is given twice; keep one",
        ),
    ],
)
def test_an_option_that_says_nothing_is_refused(
    call: Callable[[], Any], message: str
) -> None:
    assert refusal(call) == message


def test_a_preference_that_is_named_twice_counts_once() -> None:
    runs = {"a": RUN, "b": {"q1": {"d1": 1.0}}}
    by = [
        "lexirecall",
        "lexirecall(rel=1)",
        "rpp(rel=2)",
        "rpp(rel=2.0)",
        "rpp(rel=2)@3",
    ]
    assert irl.compare(QRELS, runs, by).criteria == [
        "lexirecall",
        "rpp(rel=2)",
        "rpp(rel=2)@3",
    ]
    labelled = {"one": "lexirecall", "two": "lexirecall(rel=1)"}
    assert irl.compare(QRELS, runs, labelled).criteria == ["one", "two"]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("q1 0 d1 10\nq1 0 d2 1", True),
        ("q1 0 d1 -100\nq1\t0\td2\t-1", True),
        ("q1 0 d1 10\nq1 0 d2 1\n", False),
        ("q1 0 d1 2\nq1 0 d2 1", False),
        ("q1 0 d1 1\nq1 0 d2 10", False),
    ],
)
def test_qrels_that_may_be_cut_within_the_last_grade(
    text: str, cut: bool, tmp_path: Path
) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text(text)
    if cut:
        assert "without an end of line: was it cut?" in refusal(lambda: irl.load(path))
    else:
        assert len(irl.load(path).doc_ids) == 2


# -- warnings ------------------------------------------------------------------------------------------

OTHER_QUERIES = {"q9": {"d1": 1.0}}
WARNED: dict[str, Callable[[], Any]] = {
    "evaluate": lambda: irl.evaluate(TSE, QRELS, OTHER_QUERIES),
    "compare": lambda: irl.compare(
        QRELS, {"a": RUN, "b": OTHER_QUERIES}, allow_empty=True
    ),
    "benchmark": lambda: irl.benchmark(
        QRELS, {"a": OTHER_QUERIES}, ["TSE"], allow_empty=True
    ),
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
