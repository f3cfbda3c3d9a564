"""Input that other programs crash on, sizes that claim the machine, tables of odd columns: the same answer in every form."""

from __future__ import annotations

import bz2
import decimal
import fractions
import gzip
import lzma
import subprocess
import sys
from collections import UserDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest
from fresh import python
from ir_measures import AP

import ir_lexirecall as irl
from ir_lexirecall import LR, RBU, TOMA, TSE, meta
from ir_lexirecall._util.errors import NotText
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io import readers
from tests.support import odd_inputs
from tests.support.odd_inputs import Rows, named_tuples, nested

pytestmark = pytest.mark.sparse

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 1}}
RUN = {"q1": {"a": 2.0, "x": 1.0, "c": 0.5}, "q2": {"a": 1.0}}
LONE = "d\udc80"
MANY = 5000  # rows that Polars reads


def refusal(call: Callable[[], Any]) -> str:
    return odd_inputs.refusal(call).removeprefix("evaluate: ")


def frame(rows: Rows, value: str) -> pd.DataFrame:
    columns = dict(
        zip(("query_id", "doc_id", value), zip(*rows, strict=True), strict=True)
    )
    return pd.DataFrame(
        {
            name: pd.Series(list(column), dtype=object)
            for name, column in columns.items()
        }
    )


FORMS: dict[str, Callable[[Rows, str], Any]] = {
    "frame": frame,
    "dict": nested,
    "UserDict": lambda rows, _: UserDict(
        {q: UserDict(docs) for q, docs in nested(rows).items()}
    ),
    "tuples": named_tuples,
    "generator": lambda rows, value: iter(named_tuples(rows, value)),
}


# -- ids that are no text ------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, MANY])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("measures", [[TSE], [TSE, AP]], ids=str)
@pytest.mark.parametrize("column", ["query_id", "doc_id"])
@pytest.mark.parametrize("value", ["score", "relevance"])
def test_half_a_character_in_an_id(
    rows: int, form: str, measures: Any, column: str, value: str
) -> None:
    """pytrec_eval ends the process."""
    table: Rows = [("q1", f"d{i}é", 1) for i in range(rows)]
    table.append(("q1", LONE, 1) if column == "doc_id" else (LONE, "a", 1))
    data = FORMS[form](table, value)
    message = refusal(
        lambda: irl.evaluate(
            measures, *((QRELS, data) if value == "score" else (data, RUN))
        )
    )
    assert "'d\\udc80'" in message
    assert ("run" if value == "score" else "qrels") in message
    assert "half a character" in message


def test_half_a_character_does_not_reach_pytrec_eval_by_another_door() -> None:
    with irl.accelerate():
        for qrels, run in (
            (QRELS, {"q1": {LONE: 1.0}}),
            ({LONE: {"a": 1}}, RUN),
            (QRELS, {LONE: {"a": 1.0}}),
        ):
            with pytest.raises(NotText):
                ir_measures.calc_aggregate([AP], qrels, run)


def test_half_a_character_elsewhere() -> None:
    table = pd.DataFrame(
        {
            "query_id": "q1",
            "doc_id": ["a", "c"],
            "relevance": [1, 2],
            "note": pd.Series([LONE, "x"], dtype=object),
        }
    )
    assert irl.evaluate(TSE, table, RUN)["TSE"].tolist() == [1 / 3]
    table = table.rename(columns={"note": "subtopic_id"})
    assert "names of aspects" in refusal(lambda: irl.evaluate(TSE, table, RUN))
    table.columns = pd.Index(
        ["query_id", "doc_id", "relevance", "\udc80"], dtype=object
    )
    assert "names of columns" in refusal(lambda: irl.evaluate(TSE, table, RUN))


# -- columns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "aspect",
        "doc",
        "query",
        "line",
        "grade",
        "row",
        "relevance_",
        "doc_row",
        "index",
        "",
    ],
)
@pytest.mark.parametrize("subtopics", [False, True])
def test_further_columns_may_be_called_anything(name: str, subtopics: bool) -> None:
    qrels = pd.DataFrame(
        {
            "query_id": "q1",
            "doc_id": ["a", "b", "c"],
            "relevance": [1, 0, 2],
            name: [1, 2, 0],
        }
    )
    if subtopics:
        qrels["subtopic_id"] = "relevance"
    wanted = qrels.rename(columns={name: "quality"})
    for form in (
        lambda table: table,
        pl.DataFrame,
        lambda table: table.assign(**{name: ["x", "y", None]}),
    ):
        assert irl.evaluate([TSE, RBU, AP], form(qrels), RUN).equals(
            irl.evaluate([TSE, RBU, AP], wanted, RUN)
        )
    values = irl.evaluate(TOMA(aspects={"relevance": 2, name: 2}), qrels, RUN)
    assert (
        values.to_numpy().tolist()
        == irl.evaluate(TOMA(aspects={"relevance": 2, "quality": 2}), wanted, RUN)
        .to_numpy()
        .tolist()
    )
    assert Judgments.from_qrels(qrels).aspect_rows.grade.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    "other", [["x", "y"], [1, 2], [None, 1.5], [[1], [2]]], ids=repr
)
def test_a_judgment_may_repeat_with_another_assessor(other: list[Any]) -> None:
    one = pd.DataFrame(
        {"query_id": ["q1", "q1"], "doc_id": ["a", "c"], "relevance": [1, 2]}
    )
    twice = pd.DataFrame(
        {
            "query_id": ["q1"] * 3,
            "doc_id": ["a", "a", "c"],
            "relevance": [1, 1, 2],
            "assessor": [*other, other[0]],
        }
    )
    measures = [TSE, LR, RBU, AP]
    assert irl.evaluate(measures, twice, RUN).equals(irl.evaluate(measures, one, RUN))
    assert irl.evaluate(measures, pl.DataFrame(twice), RUN).equals(
        irl.evaluate(measures, one, RUN)
    )


def test_a_judgment_that_repeats_with_another_label_is_refused_where_the_label_counts() -> (
    None
):
    twice = pd.DataFrame(
        {
            "query_id": "q1",
            "doc_id": ["a", "a"],
            "relevance": [1, 1],
            "quality": [1, 2],
            "weight": [1, 3],
        }
    )
    assert irl.evaluate(TSE, twice, RUN)["TSE"].tolist() == [1.0]
    message = refusal(
        lambda: irl.evaluate(TOMA(aspects={"relevance": 1, "quality": 2}), twice, RUN)
    )
    assert "has the labels 1 and 2 for the aspect 'quality'" in message
    assert "one weight per query" in refusal(lambda: irl.evaluate(RBU, twice, RUN))
    assert "grades 1 and 2" in refusal(
        lambda: irl.evaluate(TSE, twice.assign(relevance=[1, 2]), RUN)
    )


@pytest.mark.parametrize("name", ["query_id", "doc_id", "score"])
def test_a_column_that_occurs_twice(name: str) -> None:
    table = pd.DataFrame(
        [["q1", "a", 1.0, "q1"]], columns=["query_id", "doc_id", "score", name]
    )
    assert f"run: the column {name!r} occurs twice" in refusal(
        lambda: irl.evaluate(TSE, QRELS, table)
    )
    table.columns = pd.Index(["query_id", "doc_id", "score", "rank"])
    assert irl.evaluate(TSE, QRELS, pd.concat([table, table[["rank"]]], axis=1))[
        "TSE"
    ].tolist() == [0.0, 0.0]


# -- numbers -------------------------------------------------------------------------------------------

NUMBERS = (
    np.float32,
    np.int8,
    np.uint64,
    np.float16,
    np.longdouble,
    fractions.Fraction,
    decimal.Decimal,
)
TAKEN = [1, 1.0, *(kind(1) for kind in NUMBERS)]
TRUTHS = [True, np.True_]  # grades, as judges write them; no scores
NO_NUMBERS = [
    1 + 2j,
    "1",
    "good",
    b"1",
    None,
    pd.NA,
    [1],
    np.datetime64("2020-01-01"),
    {},
]
REFUSED = [*NO_NUMBERS, float("nan"), float("inf")]


@pytest.mark.sparse
@pytest.mark.parametrize("rows", [1, MANY])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("measures", [[TSE], [TSE, AP]], ids=str)
@pytest.mark.parametrize("value", ["score", "relevance"])
def test_what_is_a_number_is_one_in_all_forms(
    rows: int, form: str, measures: Any, value: str
) -> None:
    table: Rows = [("q1", f"d{i}", 1) for i in range(rows)]

    def evaluate(number: Any) -> Any:
        data = FORMS[form]([*table, ("q1", "a", number)], value)
        return irl.evaluate(
            measures, *((QRELS, data) if value == "score" else (data, RUN))
        )

    expected = evaluate(1)
    is_grade = value == "relevance"
    for number in [*TAKEN, *(TRUTHS if is_grade else [])]:
        assert evaluate(number).equals(expected), type(number)
    for number in [*REFUSED, *([] if is_grade else TRUTHS)]:
        message = refusal(lambda number=number: evaluate(number))
        assert "'a'" in message, number
        assert "not a finite number" in message, number


@pytest.mark.parametrize("form", FORMS)
def test_integers_beyond_floats(form: str) -> None:
    """Refused as infinity is, as a score and as a grade; what a float holds is read."""
    for huge in (10**400, -(10**400)):
        assert "not a finite number" in refusal(
            lambda huge=huge: irl.evaluate(
                TSE, {"q1": {"a": 1}}, FORMS[form]([("q1", "a", huge)], "score")
            )
        )
    for huge in (2**64, 2**200, -(2**200)):
        scores = irl.evaluate(
            TSE,
            {"q1": {"a": 1}},
            FORMS[form]([("q1", "a", huge), ("q1", "b", 5.0)], "score"),
        )
        assert scores["TSE"].tolist() == [1.0 if huge > 0 else 0.5]
    message = refusal(
        lambda: irl.evaluate(TSE, FORMS[form]([("q1", "a", 10**400)], "relevance"), RUN)
    )
    assert len(message) < 300
    grades = FORMS[form]([("q1", "a", 2**53 + 1), ("q1", "b", 2**70)], "relevance")
    assert irl.evaluate(TSE, grades, RUN)["TSE"].tolist() == [0.0]


@pytest.mark.parametrize("kind", [">f8", ">f4", "<f4", ">i4", "f2", "u1", "g"])
def test_columns_of_every_kind_of_number(kind: str) -> None:
    scores = np.array([3, 2, 1], dtype=kind)
    run = pd.DataFrame(
        {"query_id": "q1", "doc_id": ["b", "a", "c"], "score": pd.Series(scores)}
    )
    qrels = pd.DataFrame(
        {"query_id": "q1", "doc_id": ["a", "b"], "relevance": pd.Series(scores[1:])}
    )
    for _ in range(2):
        assert irl.evaluate(["TSE", "AP"], qrels, run).to_numpy().tolist() == [
            [0.5, 1.0]
        ]
        run = pd.concat([run, run.assign(query_id="other")] * 1).assign(
            rank=1
        )  # further columns: Polars reads it


def test_grades_that_no_program_counts_to_are_scored_at_once() -> None:
    qrels = {"q1": {"a": 10**7, "b": 2**31 - 1, "c": 1}}
    values = irl.evaluate(
        ["AP", "nDCG", "nDCG@10", "Bpref", "Rprec", "TSE", "RBU"], qrels, RUN
    )
    assert np.isfinite(values.to_numpy()).all()


# -- what a table is not -------------------------------------------------------------------------------


def test_messages_are_one_short_line() -> None:
    table = pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]})
    message = refusal(lambda: irl.evaluate([TSE], QRELS, {"bm25": table}))
    assert (
        message
        == "run: query 'bm25' maps to a DataFrame, not to a dict of documents (several runs by name are for compare)"
    )
    for call in (
        lambda: irl.evaluate(TSE, QRELS, {"q1": list(range(10**5))}),
        lambda: irl.evaluate(TSE, QRELS, [list(range(10**5))]),
        lambda: irl.evaluate(TSE, QRELS, {"q1": {"a": "x" * 10**6}}),
        lambda: irl.evaluate(TSE, {"q1": {("x" * 10**6,): 1}}, RUN),
        lambda: irl.evaluate(
            TSE, QRELS, pd.DataFrame({f"c{i}": [1] for i in range(1000)})
        ),
        lambda: irl.evaluate(TSE, QRELS, {"q1": {"a": "1\n2"}}),
        lambda: irl.evaluate(TSE, {"q1": {"a": 10**4000}}, RUN),
    ):
        assert len(refusal(call)) < 400


def test_runs_of_other_collections_are_refused() -> None:
    other = {"q9": {"a": 1.0}}
    elsewhere = "retrieves nothing for any query of the qrels"
    for run, reason in (
        (other, elsewhere),
        ({}, "is empty: it has no rows"),
        (frame([("q9", "a", 1)], "score"), elsewhere),
    ):
        runs = {"good": RUN, "other": run}
        message = refusal(lambda runs=runs: irl.compare(QRELS, runs))
        assert message.startswith(f"compare: run 'other' {reason}")
        assert "allow_empty" in message
        with pytest.warns(UserWarning, match=reason):
            assert irl.compare(QRELS, runs, allow_empty=True).table()[
                "wins"
            ].tolist() == [2]
        assert refusal(lambda runs=runs: irl.benchmark(QRELS, runs, ["AP"])).startswith(
            "benchmark: run 'other'"
        )
    with pytest.warns(UserWarning, match="retrieves nothing"):
        assert irl.evaluate(TSE, QRELS, other)["TSE"].tolist() == [0.0, 0.0]
    nothing = {"q1": {}}  # names a query, and answers none
    assert refusal(
        lambda: irl.compare(QRELS, {"good": RUN, "other": nothing})
    ).startswith("compare: run 'other'")


def test_studies_refuse_runs_of_other_collections() -> None:
    runs = {"good": RUN, "other": {"q9": {"a": 1.0}}}
    for name, look in (
        ("Study", lambda **options: [meta.Study("AP", QRELS, runs, **options).ties()]),
        ("tie_audit", lambda **options: [irl.tie_audit("AP", QRELS, runs, **options)]),
    ):
        assert refusal(look).startswith(
            f"{name}: run 'other' retrieves nothing for any query"
        )
        with pytest.warns(UserWarning, match="retrieves nothing"):
            assert len(look(allow_empty=True)[0])


# -- files that are not what they are called -------------------------------------------------------------


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"]
)
def test_a_compressed_file_of_another_name(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    (tmp_path / "run.txt").write_bytes(pack(b"q1 Q0 a 1 2.5 t\nq1 Q0 c 2 1 t\n"))
    (tmp_path / "qrels").write_bytes(pack(b"q1 0 c 1\n"))
    assert irl.evaluate(TSE, tmp_path / "qrels", tmp_path / "run.txt")[
        "TSE"
    ].tolist() == [0.5]


def test_parquet_of_another_name(tmp_path: Path) -> None:
    pd.DataFrame(
        {"query_id": ["q1", "q1"], "doc_id": ["x", "a"], "score": [2.0, 1.0]}
    ).to_parquet(tmp_path / "run.txt")
    assert irl.evaluate(TSE, {"q1": {"a": 1}}, tmp_path / "run.txt")[
        "TSE"
    ].tolist() == [0.5]


def test_a_parquet_file_whose_notes_are_no_text(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Polars panics, and prints where."""
    path = tmp_path / "qrels.parquet"
    pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "relevance": [1]}).to_parquet(
        path
    )
    content = path.read_bytes()
    assert b'"pandas_version"' in content
    path.write_bytes(content.replace(b'"pandas_version"', b'"pandas_\xffersion"'))
    assert irl.evaluate(TSE, path, {"q1": {"a": 1.0}})["TSE"].tolist() == [1.0]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "content",
    [b"", b"PAR1", b"PAR1" + bytes(100) + b"PAR1", b"not parquet", bytes(5000)],
)
@pytest.mark.parametrize("by_polars", [False, True])
def test_what_is_no_parquet(
    content: bytes, by_polars: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if by_polars:
        without_pyarrow(monkeypatch)
    (tmp_path / "run.parquet").write_bytes(content)
    message = refusal(lambda: irl.evaluate(TSE, QRELS, tmp_path / "run.parquet"))
    assert message.startswith(f"{tmp_path / 'run.parquet'} cannot be read as Parquet: ")


def without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)


def test_without_pyarrow_another_process_tries_polars_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.parquet"
    pd.DataFrame(
        {
            "query_id": ["q1", "q1"],
            "doc_id": ["x", "a"],
            "score": [2.0, 1.0],
            "tag": "t",
        }
    ).to_parquet(path)
    without_pyarrow(monkeypatch)
    assert irl.evaluate(TSE, {"q1": {"a": 1}}, path)["TSE"].tolist() == [0.5]
    tried = []
    monkeypatch.setattr(
        readers.subprocess,
        "run",
        lambda words, **_: (
            tried.append(words) or subprocess.CompletedProcess(words, -6, b"", b"")
        ),
    )
    message = refusal(lambda: irl.evaluate(TSE, {"q1": {"a": 1}}, path))
    assert message == f"{path} cannot be read as Parquet: it is damaged"
    assert tried[0][0] == sys.executable


# -- bombs -----------------------------------------------------------------------------------------------


@pytest.mark.slow_except("bomb.run.gz-x")
@pytest.mark.parametrize("byte", [b" ", b"\n", b"x"], ids=["blank", "empty", "x"])
@pytest.mark.parametrize("name", ["bomb.run.gz", "bomb.csv.gz", "bomb.run.xz"])
def test_a_small_file_of_an_enormous_text(
    byte: bytes, name: str, tmp_path: Path
) -> None:
    size = 2**29
    path = tmp_path / name
    with (
        gzip.open(path, "wb", 1)
        if name.endswith("gz")
        else lzma.open(path, "wb", preset=0) as stream
    ):
        for _ in range(size // 2**20):
            stream.write(byte * 2**20)
    program = (
        "import resource, sys\nresource.setrlimit(resource.RLIMIT_DATA, (2**29 + 2**28, 2**29 + 2**28))\n"
        "import warnings\nwarnings.simplefilter('ignore')\nimport ir_lexirecall as irl\n"
        "try:\n    print(irl.evaluate('LR', {'q': {'a': 1}}, sys.argv[1])['LR'].tolist())\n"
        "except ValueError as error:\n    print(error)\n"
    )
    reason = "line 1: longer than 1,048,576 bytes; is this a text file?"
    if byte == b"\n":
        reason = "this looks like an attack, not data"
    printed = python(program, str(path))
    assert printed.startswith(f"evaluate: {path}")
    assert printed.endswith(reason)


@pytest.mark.parametrize("name", ["bomb.gz", "bomb.json.gz"])
def test_a_small_file_of_an_enormous_document(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ir_lexirecall.io.archives.HARMLESS", 2**22)
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"{" + b" " * 2**23))
    message = refusal(lambda: irl.evaluate(TSE, QRELS, path))
    assert message.startswith(f"{path}: ")
    assert "this looks like an attack" in message


@pytest.mark.parametrize("block", [100, 16 * 2**20])
def test_the_longest_line(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ir_lexirecall.io.files._BLOCK", block)
    monkeypatch.setattr("ir_lexirecall.io.files.LONGEST", 50)
    path = tmp_path / "run.txt"
    line = "q1 Q0 a 1 2.5 t"
    for lines, place in (
        ([line.ljust(50)], 0),
        ([line.ljust(51)], 1),
        ([line, "\ufeff"[:0] + "q1 Q0 c 2 1 t".ljust(51)], 2),
    ):
        path.write_text("\n".join(lines))
        if place:
            message = refusal(lambda: irl.evaluate(TSE, {"q1": {"a": 1}}, path))
            assert (
                message
                == f"{path}, line {place}: longer than 50 bytes; is this a text file?"
            )
        else:
            assert irl.evaluate(TSE, {"q1": {"a": 1}}, path)["TSE"].tolist() == [1.0]


LONG_ID = "z" * 20_000
LONG_IDS = {
    "text": lambda: irl.evaluate(TSE, QRELS, {LONG_ID: {LONG_ID: "x"}}),
    "twice": lambda: irl.evaluate(TSE, frame(TWICE, "relevance"), RUN),
    "run": lambda: irl.evaluate(TSE, {LONG_ID: {LONG_ID: 1}}, frame(TWICE, "score")),
    "values": lambda: irl.compare(
        values=frame(TWICE, "AP").rename(columns={"doc_id": "run"})
    ),
}
TWICE = [(LONG_ID, LONG_ID, 1), (LONG_ID, LONG_ID, 2)]


@pytest.mark.parametrize("form", LONG_IDS)
def test_long_ids_are_cut_in_messages(form: str) -> None:
    message = refusal(LONG_IDS[form])
    assert "zz…" in message
    assert len(message) < 1_000


# -- lines -----------------------------------------------------------------------------------------------

ODD = ["", " ", "\t", "\f", "\v", "\r", " \t\r"]


@pytest.mark.sparse
@pytest.mark.parametrize(
    "other",
    ["", "q2\tQ0 a 1 1 t", "q2  Q0 a 1 1 t", "q2 Q0 a 1 1 t\r", "q2 Q0 é 1 1 t"],
)
@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n", "\ufeff\n"], ids=repr)
def test_white_space_means_the_same_whatever_else_the_file_holds(
    odd: str, other: str, start: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.txt"
    lines = ["q1 Q0 a 1 3 t", odd, "q1\fQ0 c\v2 2 t", other]
    for text in ("\n".join(lines), "\n".join(lines) + "\n", "\r\n".join(lines)):
        path.write_text(start + text, newline="", encoding="utf-8")
        assert irl.evaluate(TSE, {"q1": {"c": 1}}, path)["TSE"].tolist() == [0.5]
        (tmp_path / "qrels.txt").write_text(
            start + f"q1 0 a\f0\n{odd}\nq1 0 c 1\n", newline="", encoding="utf-8"
        )
        assert irl.evaluate(TSE, tmp_path / "qrels.txt", path)["TSE"].tolist() == [0.5]


def test_a_header_may_name_a_further_column_twice(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("query_id,doc_id,score,x,x\nq1,a,1,2\n")
    assert irl.evaluate(TSE, {"q1": {"a": 1}}, path)["TSE"].tolist() == [1.0]
