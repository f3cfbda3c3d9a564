"""The same judgments and rankings in any format give the same values, bit for bit, and are left as they were."""

from __future__ import annotations

import copy
import csv
import functools
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_datasets.datasets.clueweb12 import EhealthQrel, MisinfoQrel
from ir_datasets.formats import TrecQrel, TrecSubQrel
from ir_datasets.formats.touche import ToucheQualityCoherenceQrel
from ir_measures import AP, P, Qrel, ScoredDoc, nDCG
from pandas.testing import assert_frame_equal

import ir_lexirecall as irl
from ir_lexirecall import CAM, CWL_ERR10, LR, MM, RBU, TOMA, TSE
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io import files
from ir_lexirecall.measures.parsing import parse_measures

pytestmark = pytest.mark.sparse

# Ids are decimal numbers, so that columns of integers can hold them; scores tie, so that their order as strings counts.
QRELS = [
    ("1", "9", 1),
    ("1", "10", 2),
    ("1", "30", 0),
    ("1", "31", -1),
    ("2", "9", 1),
    ("2", "77", 1),
    ("5", "8", 0),  # nothing is relevant
    ("10", "4", 2),  # not in the run
]
RUN = [
    ("2", "50", 3.0),
    ("2", "77", 2.5),
    ("2", "51", 2.5),
    ("2", "9", -1.0),
    ("1", "100", 4.0),
    ("1", "9", 2.0),
    ("1", "10", 2.0),
    ("1", "31", 7.0),
    ("3", "9", 1.0),  # not in the qrels
    ("5", "8", 1.0),
]
OURS = [
    TSE,
    TSE(exposure="nDCG", n=1000, normalize=True) @ 4,
    LR,
    LR(form="weighted", n=60),
    irl.CWL_ERR8(max_rel=2) @ 3,
    irl.CWL_ERR9(max_rel=2, gain="linear") @ 10,
    CWL_ERR10(max_rel=2, unjudged="best"),
    irl.CWL_ERR11(max_rel=3),
    irl.CWL_RBP(max_rel=2),
    RBU(p=0.9) @ 3,
    TOMA(aspects={"relevance": 2}),
    CAM(aspects={"relevance": 2}, base="AP"),
    MM(aspects={"relevance": 2}, base="RBP(p=0.8)"),
]
STANDARD = [AP, nDCG @ 10, P @ 2]
ALL = [*OURS, *STANDARD]


PYTERRIER_NAMES = {"query_id": "qid", "doc_id": "docno", "relevance": "label"}


class ScoredDocWithTag(NamedTuple):
    """A named tuple with its fields in another order, and one more."""

    score: float
    tag: str
    doc_id: str
    query_id: str


def nested(
    rows: list[tuple[str, str, Any]], key: Callable[[str], Any] = str
) -> dict[Any, dict[Any, Any]]:
    result: dict[Any, dict[Any, Any]] = {}
    for query_id, doc_id, value in rows:
        result.setdefault(key(query_id), {})[key(doc_id)] = value
    return result


def columns(rows: list[tuple[str, str, Any]], value: str) -> dict[str, list[Any]]:
    query_id, doc_id, values = map(list, zip(*rows, strict=True))
    return {"query_id": query_id, "doc_id": doc_id, value: values}


def frame(
    rows: list[tuple[str, str, Any]], value: str, ids: Any = object
) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            name: pd.Series(data, dtype=object)
            for name, data in columns(rows, value).items()
        }
    )
    return table.astype({"query_id": ids, "doc_id": ids, value: type(rows[0][2])})


def table_formats(
    rows: list[tuple[str, str, Any]], value: str
) -> dict[str, Callable[[], Any]]:
    """Every format but files and named tuples, built anew at each call."""

    def pandas(ids: Any) -> Callable[[], pd.DataFrame]:
        return lambda: frame(rows, value, ids)

    return {
        "pandas object": pandas(object),
        "pandas str": pandas("str"),
        "pandas string": pandas("string"),
        "pandas Arrow strings": pandas(pd.ArrowDtype(pa.string())),
        "pandas Arrow large strings": pandas(pd.ArrowDtype(pa.large_string())),
        "pandas Arrow dictionary": pandas(
            pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
        ),
        "pandas categorical": pandas("category"),
        "pandas categorical integers": lambda: frame(rows, value, "int64").astype(
            {"query_id": "category", "doc_id": "category"}
        ),
        "pandas int64": pandas("int64"),
        "pandas uint8": pandas("uint8"),
        "pandas Int64": pandas("Int64"),
        "pandas strings and integers": lambda: frame(rows, value).assign(
            query_id=[int(q) for q, _, _ in rows]
        ),
        "pandas more columns": lambda: frame(rows, value).assign(
            rank=1, note=[{}] * len(rows), empty=None
        ),
        "pandas other order and index": lambda: frame(rows, value)[
            [value, "doc_id", "query_id"]
        ].set_index(pd.Index(range(len(rows), 0, -1))),
        "pandas nullable values": lambda: frame(rows, value).convert_dtypes(),
        "pandas values as objects": lambda: frame(rows, value).astype(object),
        "pandas with PyTerrier's names": lambda: frame(rows, value).rename(
            columns=PYTERRIER_NAMES
        ),
        "pandas with PyTerrier's names and more": lambda: (
            frame(rows, value)
            .rename(columns=PYTERRIER_NAMES)
            .assign(query="the text", rank=0)
        ),
        "polars": lambda: pl.DataFrame(columns(rows, value)),
        "polars with PyTerrier's names": lambda: pl.DataFrame(
            columns(rows, value)
        ).rename(PYTERRIER_NAMES, strict=False),
        "polars categorical": lambda: pl.DataFrame(columns(rows, value)).cast(
            {"query_id": pl.Categorical}
        ),
        "polars integers": lambda: pl.DataFrame(columns(rows, value)).cast(
            {"query_id": pl.Int64, "doc_id": pl.UInt8}
        ),
        "polars lazy": lambda: pl.LazyFrame(columns(rows, value)),
        "arrow": lambda: pa.table(columns(rows, value)),
        "arrow dictionary": lambda: pa.table(
            {
                name: pa.array(data).dictionary_encode() if name != value else data
                for name, data in columns(rows, value).items()
            }
        ),
        "dict": lambda: nested(rows),
        "dict integers": lambda: nested(rows, int),
        "dict numpy integers": lambda: nested(rows, np.int64),
        "dict numpy values": lambda: nested(
            [(q, d, np.array(v)[()]) for q, d, v in rows]
        ),
    }


QREL_FORMATS: dict[str, Callable[[], Any]] = {
    **table_formats(QRELS, "relevance"),
    "Qrel list": lambda: [Qrel(*row) for row in QRELS],
    "Qrel generator": lambda: (Qrel(*row) for row in QRELS),
    "TrecQrel": lambda: [TrecQrel(*row, "0") for row in QRELS],
    "TrecQrel Q0": lambda: (TrecQrel(*row, "Q0") for row in QRELS),
    "TrecSubQrel": lambda: [TrecSubQrel(*row, "1") for row in QRELS],
    "EhealthQrel": lambda: [EhealthQrel(*row, 10, 20, "0") for row in QRELS],
    "MisinfoQrel": lambda: [MisinfoQrel(*row, 2, -1) for row in QRELS],
    "ToucheQualityCoherenceQrel": lambda: [
        ToucheQualityCoherenceQrel(*row, 2, 1, "0") for row in QRELS
    ],
    "integers in Qrel": lambda: [Qrel(int(q), int(d), g) for q, d, g in QRELS],
    "twice the same": lambda: [Qrel(*row) for row in [*QRELS, *QRELS]],
    "whole numbers as floats": lambda: [Qrel(q, d, float(g)) for q, d, g in QRELS],
}
RUN_FORMATS: dict[str, Callable[[], Any]] = {
    **table_formats(RUN, "score"),
    "ScoredDoc list": lambda: [ScoredDoc(*row) for row in RUN],
    "ScoredDoc generator": lambda: (ScoredDoc(*row) for row in RUN),
    "integers in ScoredDoc": lambda: [ScoredDoc(int(q), int(d), s) for q, d, s in RUN],
    "another named tuple": lambda: iter(
        [ScoredDocWithTag(s, "t", d, q) for q, d, s in RUN]
    ),
    "queries interleaved": lambda: [
        ScoredDoc(*row) for row in sorted(RUN, key=lambda row: row[1])
    ],
    "upside down": lambda: [ScoredDoc(*row) for row in reversed(RUN)],
    "float32 scores": lambda: frame(RUN, "score").astype({"score": "float32"}),
    "dict of float32 scores": lambda: nested(
        [(q, d, np.float32(s)) for q, d, s in RUN]
    ),
}


@functools.cache
def expected() -> pd.DataFrame:
    return irl.evaluate(ALL, nested(QRELS), nested(RUN))


def assert_same(values: pd.DataFrame, wanted: pd.DataFrame) -> None:
    """Equal to the last bit, and in the order of rows and columns."""
    assert_frame_equal(values, wanted, check_exact=True)


def by_ir_measures(measures: list[Any], qrels: Any, run: Any) -> pd.DataFrame:
    """ir_measures' values in the shape of ``evaluate``'s."""
    metrics = list(ir_measures.iter_calc(measures, qrels, run))
    table = pd.DataFrame(
        {
            "query_id": [metric.query_id for metric in metrics],
            "measure": [str(metric.measure) for metric in metrics],
            "value": [float(metric.value) for metric in metrics],
        }
    ).pivot(index="query_id", columns="measure", values="value")
    return table[[str(measure) for measure in measures]].rename_axis(columns=None)


def test_known_values() -> None:
    # Query 1: 31, 100, 9, 10 (tied: the greater string first); query 2: 50, 77, 51, 9.
    values = expected()
    assert values["TSE"].to_dict() == {"1": 1 / 4, "10": 0.0, "2": 1 / 4, "5": 0.0}
    assert values["AP"].to_dict() == pytest.approx(
        {"1": (1 / 3 + 2 / 4) / 2, "10": 0, "2": (1 / 2 + 2 / 4) / 2, "5": 0}
    )


def ir_measures_reads(name: str) -> bool:
    return not name.startswith(("polars", "arrow"))


def deep_copy(data: Any) -> Any:
    return (
        data.clone()
        if isinstance(data, (pl.DataFrame, pl.LazyFrame))
        else copy.deepcopy(data)
    )


def same_data(a: Any, b: Any) -> bool:
    if isinstance(a, pd.DataFrame):
        assert_frame_equal(a, b, check_exact=True)
        return True
    if isinstance(a, pl.LazyFrame):
        return bool(a.collect().equals(b.collect()))
    if isinstance(a, (pl.DataFrame, pa.Table)):
        return bool(a.equals(b))
    if isinstance(a, Mapping):  # dicts are equal in any order of their keys
        return bool(a == b) and [(k, list(v)) for k, v in a.items()] == [
            (k, list(v)) for k, v in b.items()
        ]
    return bool(a == b)


def check_format(
    build: Callable[[], Any],
    value: str,
    name: str,
    measures: list[Any],
    wanted: pd.DataFrame,
) -> None:
    """Values are ``wanted`` by every way to evaluate, and what they are made of stays as it was."""
    data = build()
    once = "generator" in name or name in (
        "TrecQrel Q0",
        "another named tuple",
    )  # read only once
    before = None if once else deep_copy(data)
    assert_same(irl.evaluate([*measures, AP], *beside(data, value)), wanted)
    if ir_measures_reads(name):
        ours = by_ir_measures(measures, *beside(build() if once else data, value))
        assert_same(ours, wanted[list(map(str, measures))])
    assert once or same_data(data, before)


def beside(data: Any, value: str) -> tuple[Any, Any]:
    """Qrels and a run, one of which is ``data``."""
    return (data, nested(RUN)) if value == "relevance" else (nested(QRELS), data)


@pytest.mark.parametrize("name", QREL_FORMATS)
def test_qrels_of_any_format(name: str) -> None:
    check_format(
        QREL_FORMATS[name],
        "relevance",
        name,
        OURS,
        expected()[list(map(str, [*OURS, AP]))],
    )


@pytest.mark.parametrize("name", RUN_FORMATS)
def test_runs_of_any_format(name: str) -> None:
    check_format(
        RUN_FORMATS[name], "score", name, OURS, expected()[list(map(str, [*OURS, AP]))]
    )


@given(st.permutations(QRELS), st.permutations(RUN))
@settings(max_examples=30, deadline=None)
def test_order_of_rows_does_not_matter(qrels: list[Any], run: list[Any]) -> None:
    assert_same(
        irl.evaluate(OURS, frame(qrels, "relevance"), frame(run, "score")),
        expected()[list(map(str, OURS))],
    )


# -- files ---------------------------------------------------------------------------------------------


def qrels_text() -> str:
    return "".join(f"{q} 0 {d} {g}\n" for q, d, g in QRELS)


def run_text() -> str:
    return "".join(f"{q} Q0 {d} {i} {s} tag\n" for i, (q, d, s) in enumerate(RUN))


LAYOUTS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "tabs": lambda text: text.replace(" ", "\t"),
    "several blanks": lambda text: text.replace(" ", " \t  "),
    "blanks around": lambda text: "".join(
        f"  {line} \t\n" for line in text.splitlines()
    ),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "blank lines": lambda text: "\n \n" + text.replace("\n", "\n\n\t\n"),
    "no final newline": lambda text: text.rstrip("\n"),
    "one odd line": lambda text: text.replace(" ", "  ", 1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("as_path", [str, Path])
def test_files_of_any_layout(
    layout: str, as_path: Callable[[Path], Any], tmp_path: Path
) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_bytes(LAYOUTS[layout](qrels_text()).encode())
    run.write_bytes(LAYOUTS[layout](run_text()).encode())
    assert_same(irl.evaluate(ALL, as_path(qrels), as_path(run)), expected())


WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    ".csv": lambda table, path: table.to_csv(path, index=False),
    ".tsv": lambda table, path: table.to_csv(path, index=False, sep="\t"),
    ".csv.gz": lambda table, path: table.to_csv(path, index=False),
    ".parquet": lambda table, path: table.to_parquet(path, index=False),
}


@pytest.mark.parametrize("ids", [str, "int64"])
@pytest.mark.parametrize("ending", WRITERS)
def test_tables_in_files(ending: str, ids: Any, tmp_path: Path) -> None:
    qrels, run = tmp_path / f"qrels{ending}", tmp_path / f"run{ending}"
    WRITERS[ending](
        frame(QRELS, "relevance", ids)[["relevance", "doc_id", "query_id"]].assign(
            note="x y"
        ),
        qrels,
    )
    WRITERS[ending](
        frame(RUN, "score", ids)[["score", "doc_id", "query_id"]].assign(tag="x y"), run
    )
    assert_same(irl.evaluate(ALL, qrels, run), expected())


SCATTERED = [
    RUN[i] for i in (4, 0, 8, 5, 9, 1, 6, 2, 3, 7)
]  # no query's lines stand together


@pytest.mark.sparse
@pytest.mark.filterwarnings("ignore:.*not contiguous")
@pytest.mark.parametrize("block", [1, 10, 30, 100, 10**6])
@pytest.mark.parametrize(
    "rows",
    [RUN, RUN[::-1], SCATTERED, [*RUN[6:], *RUN[:6]]],
    ids=["plain", "back", "mixed", "split"],
)
@pytest.mark.parametrize("layout", ["plain", "tabs", "blank lines", "no final newline"])
def test_files_are_read_in_blocks(
    layout: str, rows: list[Any], block: int, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(files, "_BLOCK", block)
    text = "".join(f"{q} Q0 {d} 1 {s} tag\n" for q, d, s in rows)
    (tmp_path / "run.txt").write_text(LAYOUTS[layout](text))
    (tmp_path / "qrels.txt").write_text(LAYOUTS[layout](qrels_text()))
    ours = list(map(str, OURS))
    assert_same(
        irl.evaluate(OURS, tmp_path / "qrels.txt", tmp_path / "run.txt"),
        expected()[ours],
    )


@pytest.mark.parametrize("block", [1, 10, 40, 10**6])
@pytest.mark.parametrize(
    "quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC, csv.QUOTE_ALL]
)
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_tables_are_read_in_blocks(
    ending: str, quoting: Any, block: int, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(files, "_BLOCK", block)
    separator, quoting = ("\t", csv.QUOTE_NONE) if ending == ".tsv" else (",", quoting)
    # A first column in which a line break is quoted, from the third row on, and ids that look like numbers.
    table = frame(RUN, "score").assign(
        note=["a", "b"] + ["c" if ending == ".tsv" else 'c,"\n"'] * (len(RUN) - 2)
    )
    table = table[["note", "score", "doc_id", "query_id"]]
    table.to_csv(tmp_path / f"run{ending}", sep=separator, index=False, quoting=quoting)
    assert_same(irl.evaluate(ALL, nested(QRELS), tmp_path / f"run{ending}"), expected())


@pytest.mark.parametrize(
    "header", ['"query_id","doc_id","score"', "\ufeffquery_id,doc_id,score"]
)
def test_ids_with_leading_zeros_stay_text_whatever_the_header(
    header: str, tmp_path: Path
) -> None:
    (tmp_path / "run.csv").write_text(
        f'{header}\n"007","01",2.5\n"007",1,1.5\n', encoding="utf-8"
    )
    assert irl.evaluate(TSE, {"007": {"01": 1}}, tmp_path / "run.csv")[
        "TSE"
    ].tolist() == [1.0]


@pytest.mark.slow
@pytest.mark.parametrize("readers", [1, 2, 5])
@given(order=st.permutations(range(7)), seed=st.integers(0, 100))
@settings(max_examples=10)
def test_how_many_files_are_read_at_once_changes_nothing(
    order: Any, seed: int, readers: int
) -> None:
    rng = np.random.default_rng(seed)
    runs = {
        f"run{i}": [(q, d, float(rng.integers(0, 4))) for q, d, _ in RUN] for i in order
    }
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("ir_lexirecall.evaluation.scored_runs._READERS", readers)
        paths = {name: Path(folder) / name for name in runs}
        for name, rows in runs.items():
            paths[name].write_text(
                "".join(f"{q} Q0 {d} 1 {s} tag\n" for q, d, s in rows)
            )
        scored = ScoredRuns.from_runs(parse_measures(ALL), nested(QRELS), paths)
    assert scored.names == list(runs)
    for name in runs:
        assert_same(
            scored.per_query.loc[name],
            irl.evaluate(ALL, nested(QRELS), nested(runs[name])),
        )


def test_scattered_lines_of_a_query_lead_to_a_warning(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(files, "_BLOCK", 20)
    (tmp_path / "run.txt").write_text(
        "".join(f"{q} Q0 {d} 1 {s} tag\n" for q, d, s in SCATTERED)
    )
    with pytest.warns(UserWarning, match=r"run\.txt.*not contiguous"):
        irl.evaluate(TSE, nested(QRELS), tmp_path / "run.txt")


# -- aspects -------------------------------------------------------------------------------------------

SUBTOPICS = [
    ("1", "9", 1, "1"),
    ("1", "9", 2, "2"),
    ("1", "10", 1, "2"),
    ("1", "31", 1, "3"),
    ("2", "77", 1, "1"),
    ("2", "77", 0, "2"),
    ("2", "9", 1, "2"),
]


def subtopic_frame(column: str, kind: Any = str) -> pd.DataFrame:
    return pd.DataFrame(
        [(q, d, g, kind(t)) for q, d, g, t in SUBTOPICS],
        columns=["query_id", "doc_id", "relevance", column],
    )


SUBTOPIC_FORMATS: dict[str, Callable[[], Any]] = {
    "subtopic_id column": lambda: subtopic_frame("subtopic_id"),
    "integer subtopic_id column": lambda: subtopic_frame("subtopic_id", int),
    "categorical subtopic_id column": lambda: subtopic_frame("subtopic_id").astype(
        {"subtopic_id": "category"}
    ),
    "iteration column": lambda: subtopic_frame("iteration"),
    "subtopic_id before iteration": lambda: subtopic_frame("subtopic_id").assign(
        iteration="0"
    ),
    "polars": lambda: pl.DataFrame(subtopic_frame("subtopic_id").to_dict("list")),
    "arrow": lambda: pa.table(subtopic_frame("iteration").to_dict("list")),
    "Qrel": lambda: [Qrel(*row) for row in SUBTOPICS],
    "Qrel generator": lambda: (Qrel(*row) for row in SUBTOPICS),
    "TrecSubQrel": lambda: [TrecSubQrel(*row) for row in SUBTOPICS],
    "equal weights": lambda: subtopic_frame("subtopic_id").assign(weight=0.25),
    "upside down": lambda: subtopic_frame("subtopic_id").iloc[::-1],
}


@pytest.mark.parametrize("name", SUBTOPIC_FORMATS)
def test_subtopics_of_any_format(name: str) -> None:
    measures = [RBU, RBU(gain="linear", max_rel=2) @ 3, TSE, LR]
    wanted = irl.evaluate([*measures, AP], subtopic_frame("subtopic_id"), nested(RUN))
    check_format(SUBTOPIC_FORMATS[name], "relevance", name, measures, wanted)


def test_subtopics_in_a_file(tmp_path: Path) -> None:
    plain, wide = tmp_path / "ndeval.txt", tmp_path / "wide.tsv"
    plain.write_text("".join(f"{q} {t} {d} {g}\n" for q, d, g, t in SUBTOPICS))
    wide.write_text(
        "subtopic_id\tquery_id\trelevance\tdoc_id\n"
        + "".join(f"{t}\t{q}\t{g}\t{d}\n" for q, d, g, t in SUBTOPICS)
    )
    wanted = irl.evaluate([RBU, TSE, AP], subtopic_frame("subtopic_id"), nested(RUN))
    assert_same(irl.evaluate([RBU, TSE, AP], plain, nested(RUN)), wanted)
    assert_same(irl.evaluate([RBU, TSE, AP], wide, nested(RUN)), wanted)


def test_grade_of_a_document_with_several_subtopics_is_the_highest() -> None:
    # Document 9 has grades 1 and 2, in this order and the other way round.
    for qrels in (
        subtopic_frame("subtopic_id"),
        subtopic_frame("subtopic_id").iloc[::-1],
    ):
        values = irl.evaluate([TSE(rel=2), AP(rel=2)], qrels, nested(RUN))
        assert values.loc["1"].tolist() == [1 / 3, 1 / 3]


LABELS = [  # query, document, relevance, trustworthiness, understandability
    ("1", "9", 1, 100, 40),
    ("1", "10", 2, 30, 0),
    ("1", "31", 0, 60, 70),
    ("2", "77", 1, 5, 90),
    ("2", "9", 2, 80, 80),
]
ASPECTS = {"relevance": 2, "trustworthiness": 100, "understandability": 100}
MULTI = [
    TOMA(aspects=ASPECTS),
    TOMA(aspects=ASPECTS, gate="relevance", base="AP"),
    CAM(aspects=ASPECTS) @ 3,
    MM(aspects=ASPECTS),
]


def labels_in_columns() -> pd.DataFrame:
    return pd.DataFrame(LABELS, columns=["query_id", "doc_id", *ASPECTS])


def labels_in_rows() -> list[Qrel]:
    return [
        Qrel(row[0], row[1], row[2 + i], name)
        for i, name in enumerate(ASPECTS)
        for row in LABELS
    ]


LABEL_FORMATS: dict[str, Callable[[], Any]] = {
    "columns": labels_in_columns,
    "float columns": lambda: labels_in_columns().astype(
        {"trustworthiness": float, "understandability": "Float64"}
    ),
    "object columns": lambda: labels_in_columns().astype(object),
    "polars": lambda: pl.DataFrame(labels_in_columns().to_dict("list")),
    "arrow": lambda: pa.table(labels_in_columns().to_dict("list")),
    "columns with PyTerrier's name for relevance": lambda: labels_in_columns().rename(
        columns=PYTERRIER_NAMES
    ),
    "EhealthQrel": lambda: [EhealthQrel(*row, "0") for row in LABELS],
    "EhealthQrel generator": lambda: (EhealthQrel(*row, "0") for row in LABELS),
    "rows named in iteration": labels_in_rows,
    "generator of rows": lambda: iter(labels_in_rows()),
    "rows in a frame": lambda: pd.DataFrame(labels_in_rows()),
    "rows, the first aspect last": lambda: labels_in_rows()[::-1],
    "rows named in subtopic_id": lambda: [
        TrecSubQrel(*row) for row in labels_in_rows()
    ],
}


@pytest.mark.parametrize("name", LABEL_FORMATS)
def test_labels_of_any_format(name: str) -> None:
    wanted = irl.evaluate([*MULTI, TSE, AP], labels_in_columns(), nested(RUN))
    check_format(LABEL_FORMATS[name], "relevance", name, [*MULTI, TSE], wanted)


def test_text_in_a_further_column_of_a_wide_file_is_ignored(tmp_path: Path) -> None:
    table = labels_in_columns().assign(assessor=["A7", "B1", "A7", "C", "B1"])
    table.to_csv(tmp_path / "wide.tsv", sep="\t", index=False)
    wanted = irl.evaluate([*MULTI, TSE], table, nested(RUN))
    assert_same(irl.evaluate([*MULTI, TSE], tmp_path / "wide.tsv", nested(RUN)), wanted)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=repr)
def test_a_missing_label_is_the_lowest(missing: Any) -> None:
    lowest = labels_in_columns()
    lowest.loc[1, "trustworthiness"] = 0
    gap = labels_in_columns().astype({"trustworthiness": object})
    gap.loc[1, "trustworthiness"] = missing
    rows = [
        row
        for row in labels_in_rows()
        if row[:2] != ("1", "10") or row.iteration != "trustworthiness"
    ]
    wanted = irl.evaluate(MULTI, lowest, nested(RUN))
    assert_same(irl.evaluate(MULTI, gap, nested(RUN)), wanted)
    assert_same(irl.evaluate(MULTI, rows, nested(RUN)), wanted)


def test_base_scores_the_weights_whatever_the_base() -> None:
    qrels = pd.DataFrame(
        {"query_id": "1", "doc_id": ["a", "b"], "relevance": [1, 0], "quality": [0, 1]}
    )
    run = {"1": {"a": 2.0, "b": 1.0}}
    aspects = {"relevance": 1, "quality": 1}
    for base in ("nDCG", "AP", "TSE", "LR", "RBU", "CWL_ERR10(max_rel=1)"):
        of_aspects = [
            irl.evaluate(CAM(aspects={name: 1}, base=base), qrels, run).iloc[0, 0]
            for name in aspects
        ]
        alone = [
            irl.evaluate(base, {"1": {"a": 1 - i, "b": i}}, run).iloc[0, 0]
            for i in (0, 1)
        ]
        assert of_aspects == alone, base
        assert irl.evaluate(CAM(aspects=aspects, base=base), qrels, run).iloc[
            0, 0
        ] == pytest.approx(sum(alone) / 2), base


# -- queries here and there ----------------------------------------------------------------------------


def test_a_query_the_run_lacks_counts_as_an_empty_ranking() -> None:
    values = expected()
    assert values.loc["10", ["TSE", "LexiRecall", "AP"]].tolist() == [0, 0, 0]
    means = irl.evaluate([TSE, AP], nested(QRELS), nested(RUN), aggregate=True)
    assert means["TSE"] == (1 / 4 + 0 + 1 / 4 + 0) / 4


def test_a_query_without_relevant_documents_scores_0_and_counts() -> None:
    at_best = (
        "CWL_ERR10(max_rel=2,unjudged='best')"  # of a document that may be relevant
    )
    assert not expected().drop(columns=at_best).loc["5"].any()
    without = irl.evaluate(
        [TSE],
        nested([row for row in QRELS if row[0] != "5"]),
        nested(RUN),
        aggregate=True,
    )
    assert (
        irl.evaluate([TSE], nested(QRELS), nested(RUN), aggregate=True)["TSE"]
        == without["TSE"] * 3 / 4
    )


def test_a_query_without_judgments_in_a_dict_is_a_query() -> None:
    """ir_measures' standard measures give such a query 0; ours must average over the same queries."""
    qrels: dict[str, dict[str, int]] = {"1": {"a": 1}, "2": {}}
    run = {"1": {"a": 1.0}}
    assert ir_measures.calc_aggregate([AP], qrels, run) == {AP: 0.5}
    assert ir_measures.calc_aggregate([TSE], qrels, run) == {TSE: 0.5}
    assert irl.evaluate([TSE, AP], qrels, run, aggregate=True).to_dict() == {
        "TSE": 0.5,
        "AP": 0.5,
    }


def test_a_query_whose_rows_name_other_aspects_only_is_a_query() -> None:
    qrels = [*labels_in_rows(), Qrel("7", "9", 50, "trustworthiness")]
    values = irl.evaluate([TOMA(aspects=ASPECTS), TSE, AP], qrels, nested(RUN))
    assert values.index.tolist() == ["1", "2", "7"]
    assert values.loc["7"].tolist() == [0, 0, 0]


EMPTY: dict[str, Callable[[str], Any]] = {
    "dict": lambda value: {},
    "list": lambda value: [],
    "generator": lambda value: iter(()),
    "pandas": lambda value: pd.DataFrame({"query_id": [], "doc_id": [], value: []}),
    "pandas typed": lambda value: pd.DataFrame(
        {"query_id": [], "doc_id": [], value: []}
    ).astype({"query_id": "str", "doc_id": "str", value: float}),
    "pandas objects": lambda value: pd.DataFrame(columns=["query_id", "doc_id", value]),
    "polars": lambda value: pl.DataFrame({"query_id": [], "doc_id": [], value: []}),
    "arrow": lambda value: pa.table({"query_id": [], "doc_id": [], value: []}),
}


@pytest.mark.parametrize("name", EMPTY)
def test_an_empty_run_scores_0(name: str) -> None:
    values = irl.evaluate(ALL, nested(QRELS), EMPTY[name]("score"))
    assert values.index.tolist() == ["1", "10", "2", "5"]
    not_zero = values.columns[(values != 0).any()].tolist()
    # Where something is known of documents that were not retrieved: at rank n, or of the best gain.
    assert not_zero == [
        "LexiRecall(form='weighted',n=60)",
        "CWL_ERR10(max_rel=2,unjudged='best')",
    ]


@pytest.mark.parametrize("measures", [OURS, ALL], ids=["ours", "with standard ones"])
@pytest.mark.parametrize("name", EMPTY)
def test_empty_qrels_are_refused(name: str, measures: list[Any]) -> None:
    with pytest.raises(
        ValueError, match=r"^evaluate: qrels: there are no judgments in it"
    ):
        irl.evaluate(measures, EMPTY[name]("relevance"), nested(RUN))


# -- several measures, several runs --------------------------------------------------------------------


def runs() -> Iterator[dict[str, dict[str, float]]]:
    yield nested(RUN)
    yield {}
    yield nested([(q, d, -s) for q, d, s in RUN])
    yield nested(RUN[:5])
    yield nested(RUN)


def test_an_evaluator_scores_one_run_after_the_other() -> None:
    evaluator = ir_measures.evaluator(ALL, nested(QRELS))
    for run in runs():
        fresh = irl.evaluate(ALL, nested(QRELS), run)
        got = {
            (metric.query_id, str(metric.measure)): metric.value
            for metric in evaluator.iter_calc(run)
        }
        assert got == fresh.stack().to_dict()
        aggregated = evaluator.calc_aggregate(run)
        assert {str(m): v for m, v in aggregated.items()} == pytest.approx(
            fresh.mean().to_dict(), rel=1e-14
        )


def test_an_evaluator_reads_a_generator_of_qrels_once() -> None:
    evaluator = ir_measures.evaluator(OURS, (Qrel(*row) for row in QRELS))
    for run in runs():
        assert evaluator.calc_aggregate(run) == ir_measures.calc_aggregate(
            OURS, nested(QRELS), run
        )


def test_columns_keep_the_order_of_the_measures() -> None:
    for measures in (
        [AP, TSE, nDCG @ 10, LR],
        [LR, nDCG @ 10, TSE, AP],
        ["P@2", "TSE@3", "AP"],
    ):
        values = irl.evaluate(measures, nested(QRELS), nested(RUN))
        assert values.columns.tolist() == list(map(str, measures))
        for measure in measures:
            alone = irl.evaluate(measure, nested(QRELS), nested(RUN))
            assert alone[str(measure)].tolist() == values[str(measure)].tolist()


def test_strings_objects_and_names_mean_the_same() -> None:
    values = irl.evaluate(
        ["LR", LR, "nDCG@10", "TSE( p = 0.8 )@1000"], nested(QRELS), nested(RUN)
    )
    assert values.columns.tolist() == [
        "LR",
        "LexiRecall",
        "nDCG@10",
        "TSE( p = 0.8 )@1000",
    ]
    assert values["LR"].tolist() == values["LexiRecall"].tolist()
    named = irl.evaluate(
        {"recall, refined": LR, "AP": "AP"}, nested(QRELS), nested(RUN)
    )
    assert named.columns.tolist() == ["recall, refined", "AP"]
    assert named["recall, refined"].tolist() == values["LR"].tolist()


def test_means_are_those_of_ir_measures() -> None:
    for run in runs():
        means = irl.evaluate(ALL, nested(QRELS), run, aggregate=True)
        assert means.index.tolist() == list(map(str, ALL))
        wanted = {
            str(m): v
            for m, v in ir_measures.calc_aggregate(ALL, nested(QRELS), run).items()
        }
        ours = list(map(str, OURS))
        assert means[ours].to_dict() == {name: wanted[name] for name in ours}
        assert means.to_dict() == pytest.approx(
            wanted, rel=1e-14
        )  # other providers add up in another order


def test_counts_are_added_up_not_averaged() -> None:
    means = irl.evaluate(
        ["NumQ", "NumRet", "TSE"], nested(QRELS), nested(RUN), aggregate=True
    )
    wanted = ir_measures.calc_aggregate(
        [ir_measures.NumQ, ir_measures.NumRet], nested(QRELS), nested(RUN)
    )
    assert means["NumQ"] == wanted[ir_measures.NumQ]
    assert means["NumRet"] == wanted[ir_measures.NumRet]


def test_queries_of_negative_grades_only_reach_other_programs_with_grade_0() -> None:
    qrels = {"q0": {"a": -1, "b": -2}, "q1": {"a": 1, "b": -1}}
    table = Judgments.from_qrels(qrels).for_ir_measures()
    assert table.groupby("query_id")["relevance"].apply(sorted).to_dict() == {
        "q0": [0, 0],
        "q1": [-1, 1],
    }
    for _ in range(20):  # pytrec_eval did not always come to an end
        values = irl.evaluate(
            ["nDCG", "AP"], qrels, {"q0": {"a": 1.0}, "q1": {"a": 1.0}}
        )
    assert values.to_numpy().tolist() == [[0, 0], [1, 1]]


class WeightedQrel(NamedTuple):
    """A judgment of a subtopic with its weight."""

    query_id: str
    doc_id: str
    relevance: float
    subtopic_id: str
    weight: float


def test_whole_and_fractional_numbers_may_mix() -> None:
    run = {"1": {"a": 2.0, "b": 1.0}}
    mixed = [WeightedQrel("1", "a", 1, "s", 1), WeightedQrel("1", "b", 1.0, "t", 0.5)]
    floats = [
        WeightedQrel("1", "a", 1.0, "s", 1.0),
        WeightedQrel("1", "b", 1.0, "t", 0.5),
    ]
    wanted = irl.evaluate([RBU, TSE], pd.DataFrame(floats), run)
    assert_same(irl.evaluate([RBU, TSE], floats, run), wanted)
    assert_same(irl.evaluate([RBU, TSE], mixed, run), wanted)
