"""Tables as people have them: shifted or cut, with semicolons, without a header, with ranks, truth values or records."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall._util import engine
from ir_lexirecall.io.texts import texts_of
from ir_lexirecall.io.values import read_values
from ir_lexirecall.judging.files import merged, merged_judges

QRELS = {"q1": {"a": 1, "b": 0}}
RUN = {"q1": {"b": 2.0, "a": 1.0}}


@pytest.fixture(params=["Polars", "without"])
def with_or_without_polars(request: pytest.FixtureRequest, monkeypatch: Any) -> None:
    if request.param == "without":
        monkeypatch.setattr(engine, "_computes", False)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


Write = Callable[[str, str], Path]


def rr(qrels: Any, run: Any) -> float:
    return float(irl.evaluate("RR", qrels, run)["RR"].iloc[0])


# -- shifted rows ----------------------------------------------------------------------------------

READERS: dict[str, Callable[[Path], Any]] = {
    "qrels": lambda path: irl.load(path),
    "merged": lambda path: merged(irl.load(QRELS), path),
    "merged_judges, first": lambda path: merged_judges(path, QRELS),
    "merged_judges, second": lambda path: merged_judges(QRELS, path),
}


@pytest.mark.usefixtures("with_or_without_polars")
@pytest.mark.parametrize(
    "header", ["query_id,doc_id,text,relevance", "query_id,doc_id,relevance"]
)
@pytest.mark.parametrize("reader", READERS)
def test_a_row_with_too_many_fields_is_refused(
    reader: str, header: str, write: Write
) -> None:
    text = "one, two" if "text" in header else ""
    row = f"q1,a,{text},1" if text else "q1,a,1,2"
    width = header.count(",") + 1
    path = write(
        "pool.csv", f"{header}\n{row.replace(text, 'x') if text else 'q1,b,0'}\n{row}\n"
    )
    with pytest.raises(
        ValueError, match=rf"pool\.csv, line 3: {width + 1} fields where {width}"
    ):
        READERS[reader](path)


@pytest.mark.parametrize("command", ["judged", "merge-judged"])
def test_the_command_line_refuses_shifted_rows(
    command: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = write("q", "q1 0 b 0\n"), write("r", "q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n")
    pool = write("pool.csv", "query_id,doc_id,text,relevance\nq1,a,one, 1,\n")
    words = {
        "judged": ["eval", str(qrels), str(run), "-m", "AP", "--judged", str(pool)],
        "merge-judged": ["merge-judged", str(pool), str(qrels), "-o", str(run)],
    }[command]
    assert cli.main(words) == 1
    assert "pool.csv, line 2: 5 fields where 4 are expected" in capsys.readouterr().err


# -- cut files -------------------------------------------------------------------------------------

CUT_QRELS = {
    "trec": "q1 0 a 10\nq1 0 b 1",
    "csv": "query_id,doc_id,relevance\nq1,a,10\nq1,b,1",
    "semicolons": "query_id;doc_id;relevance\nq1;a;10\nq1;b;1",
    "tsv": "query-id\tcorpus-id\tscore\nq1\ta\t10\nq1\tb\t1",
    "blanks": "query_id doc_id relevance\nq1 a 10\nq1 b 1",
}


@pytest.mark.usefixtures("with_or_without_polars")
@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("form", CUT_QRELS)
def test_qrels_cut_within_the_last_grade(
    form: str, ending: str, tmp_path: Path
) -> None:
    import gzip

    name = {"csv": "a.csv", "semicolons": "a.csv", "tsv": "a.tsv"}.get(form, "a.txt")
    path = tmp_path / f"{name}{ending}"
    for text, cut in [
        (CUT_QRELS[form], True),
        (CUT_QRELS[form] + "\n", False),
        (CUT_QRELS[form].replace("10", "2"), False),
        (CUT_QRELS[form] + "0", False),
    ]:
        path.write_bytes(gzip.compress(text.encode()) if ending else text.encode())
        if cut:
            with pytest.raises(
                ValueError, match=r"grade 1, without an end of line: was it cut\?"
            ):
                irl.load(path)
        else:
            assert len(irl.load(path).doc_ids) == 2


def test_a_pool_cut_within_the_last_grade(write: Write) -> None:
    pool = write("pool.csv", "query_id,doc_id,relevance\nq1,c,10\nq1,d,1")
    with pytest.raises(ValueError, match="was it cut"):
        merged(irl.load(QRELS), pool)
    with pytest.raises(ValueError, match="was it cut"):
        merged_judges(pool, QRELS)


@pytest.mark.usefixtures("with_or_without_polars")
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(
    ("scores", "cut"),
    [
        (["12.5", "11.25", "10."], True),
        (["12.5", "11.25", "10"], True),
        (["0.9134", "0.8721", "0.85"], True),
        (["12", "11", "1"], True),  # 10
        (["-1.5", "-12", "-1"], True),
        (["1.5", "3.2e-05", "1.2"], True),
        (["3", "2", "1"], False),
        (["10", "9", "1"], False),
        (["0.9", "0.85", "0.8"], False),
        (["0.5", "0.25", "0.125"], False),
        (["1"], False),
    ],
)
def test_runs_cut_within_the_last_score(
    scores: list[str], cut: bool, separator: str, write: Write
) -> None:
    header = separator.join(["query_id", "doc_id", "score"])
    rows = [separator.join(["q1", f"d{i}", score]) for i, score in enumerate(scores)]
    text = "\n".join([header, *rows])
    name = "run.tsv" if separator == "\t" else "run.csv"
    if cut:
        with pytest.raises(
            ValueError, match=r"run\.[ct]sv, line 4: the file ends with the score"
        ):
            irl.evaluate("RR", {"q1": {"d0": 1}}, write(name, text))
    else:
        assert rr({"q1": {"d0": 1}}, write(name, text)) == 1
    assert rr({"q1": {"d0": 1}}, write(name, text + "\n")) > 0


@pytest.mark.usefixtures("with_or_without_polars")
@pytest.mark.parametrize("header", ["query_id\tdoc_id\trank\n", ""])  # MS MARCO's
@pytest.mark.parametrize("depth", [2, 10, 11, 100])
def test_runs_cut_within_the_last_rank(header: str, depth: int, write: Write) -> None:
    ranks = range(1, depth + 1)
    text = header + "".join(f"q{q}\td{k}\t{k}\n" for q in (1, 2) for k in ranks)
    whole = write("whole.tsv", text.removesuffix("\n"))
    assert rr({"q2": {"d2": 1}}, whole) == 0.5
    lone = write("lone.tsv", text + "q3\td1\t1")
    assert rr({"q3": {"d1": 1}}, lone) == 1
    if depth >= 10:
        cut = write("cut.tsv", text[:-2])
        with pytest.raises(ValueError, match="the file ends with the rank 1"):
            rr({"q2": {"d2": 1}}, cut)


# -- separators and headers ------------------------------------------------------------------------


@pytest.mark.usefixtures("with_or_without_polars")
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.run", "a.CSV"])
def test_semicolons_are_read(name: str, write: Write) -> None:
    run = write(name, '\ufeffquery_id;doc_id;score\nq1;b;2.5\nq1;"a";1.5\n')
    assert rr(QRELS, run) == 0.5
    qrels = write(f"qrels-{name}", "qid;docno;label\nq1;b;0\nq1;a;1\n")
    assert rr(qrels, RUN) == 0.5
    assert merged(
        irl.load(QRELS), write(name, "query_id;doc_id;relevance\nq1;c;\nq1;d;2\n")
    )


@pytest.mark.usefixtures("with_or_without_polars")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_bars_are_read(end: str, write: Write) -> None:
    run = write("a.csv", f'qid|docno|score{end}q1|b|2.5{end}||{end}q1|"a"|1.5{end}')
    assert rr(QRELS, run) == 0.5
    qrels = write("q.csv", f"sep=|{end}query_id|doc_id|relevance{end}q1|a|1{end}")
    assert rr(qrels, RUN) == 0.5
    values = write("v.csv", f"query_id|m|n{end}q1|0.5|0.25{end}q2|1|0.75{end}")
    table = read_values(values)
    assert table.runs == ["m", "n"]
    assert table.values["value"].tolist() == [[0.5, 1], [0.25, 0.75]]


@pytest.mark.parametrize(
    "line",
    [
        *("SEP=,", '"sep=,"', "sep=, ", "sep=;"),
        *("\nsep=,", " \r\n\nsep=,", "sep=,\nsep=,", "sep=,\n\nsep=,", "sep=,\r"),
    ],
)
def test_any_form_of_excels_first_line_is_no_data(line: str, write: Write) -> None:
    run = write("run.csv", f"{line}\nqid,docno,score\nq1,b,2.5\nq1,a,1.5\n")
    assert rr(QRELS, run) == 0.5
    faulty = write("run.csv", f"{line}\nqid,docno,score\nq1,b,2.5\nq1,a,high\n")
    last = 4 + line.count("\n")
    with pytest.raises(ValueError, match=f"line {last}: the score .* is 'high'"):
        rr(QRELS, faulty)


@pytest.mark.usefixtures("with_or_without_polars")
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("quote", ["", '"'])
def test_what_excel_adds_is_no_data(
    separator: str, end: str, quote: str, write: Write
) -> None:
    def saved(name: str, *rows: str) -> str:
        cells = [[f"{quote}{cell}{quote}" for cell in row.split()] for row in rows]
        written = [separator.join(row) for row in cells]
        empty = separator * 2
        top = [] if separator == "\t" else [empty]
        written = [f"{row}{empty}" for row in written]  # columns without a name
        lines = [f"sep={separator}", *top, *written[:2], empty, *written[2:], empty]
        return write(name, "\ufeff" + end.join(lines))

    run = saved("run.csv", "qid docno score", "q1 b 2.5", "q1 a 1.5")
    qrels = saved("qrels.csv", "qid docno label", "q1 a 1", "q1 b 0")
    assert rr(qrels, run) == 0.5
    pool = saved("pool.csv", "query_id doc_id relevance", "q1 c 1", "q1 d 2")
    added = merged(irl.load(QRELS), pool)
    assert {*added.doc_ids} >= {"c", "d"}


def test_rows_without_ids_are_refused_that_say_something(write: Write) -> None:
    run = write("run.csv", "qid,docno,score\nq1,b,2.5\n,,1\n")
    with pytest.raises(ValueError, match=r"run\.csv, line 3: there is no query_id"):
        rr(QRELS, run)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.csv",
            "q1;b;0.5\n",
            "a CSV file needs a header line with query_id, doc_id, score",
        ),
        (
            "a.txt",
            "q1;b;0.5\n",
            "a CSV file needs a header line with query_id, doc_id, score",
        ),
        (
            "a.tsv",
            "q1\tb\t0.5\n",
            "put the header line 'query_id doc_id score' .or rank. above three columns",
        ),
        (
            "a.run",
            "q1 b 0.5\n",
            "3 fields where 6 are expected: query, Q0, document, rank, score and name",
        ),
        ("a.csv", "query_id;doc_id;score\nq1;b;0,5\n", "write decimals with a point"),
        (
            "a.csv",
            "query_id,doc_id,score\nq1,x, y,2\n",
            "4 fields where 3 are expected",
        ),
    ],
)
def test_the_cause_is_named(name: str, text: str, message: str, write: Write) -> None:
    with pytest.raises(ValueError, match=message):
        irl.evaluate("RR", QRELS, write(name, text))


@pytest.mark.parametrize(
    "header",
    [
        "qid docno label",
        "query-id corpus-id score",
        "q_id doc_id score",
        "qid docno relevance",
    ],
)
@pytest.mark.parametrize("separator", [" ", "   ", "\t"])
def test_names_of_other_programs_are_taken_in_qrels_between_blanks(
    header: str, separator: str, write: Write
) -> None:
    text = f"{header}\nq1 b 0\nq1 a 2\n".replace(" ", separator)
    assert rr(write("qrels.txt", text), RUN) == 0.5


@pytest.mark.parametrize("separator", [",", "\t"])
def test_names_of_beir_are_taken_in_runs(separator: str, write: Write) -> None:
    text = "query-id,corpus-id,score\nq1,b,0.9\nq1,a,0.5\n".replace(",", separator)
    assert rr(QRELS, write("run.csv" if separator == "," else "run.tsv", text)) == 0.5
    qrels = write("qrels.csv", "query-id,corpus-id,score\nq1,a,1\nq1,b,0\n")
    assert rr(qrels, RUN) == 0.5


# -- tags with blanks ------------------------------------------------------------------------------


@pytest.mark.usefixtures("with_or_without_polars")
def test_what_follows_the_tag_is_part_of_it(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write(
        "r",
        "q1 Q0 b 1 2.0 My System\nq1\tQ0 a 2 1.0 My System (v 2)\n\nq1 Q0 c 3 0.5 My\n",
    )
    assert rr(QRELS, run) == 0.5
    qrels = write("q", "q1 0 a 1\n")
    assert cli.main(["eval", str(qrels), str(run), "-m", "RR", "--format", "trec"]) == 0
    assert "\tMy\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "q1 Q0 my doc 1 2.0 tag",
            "field 4, the rank, is 'doc': is there a blank in an id",
        ),
        ("new york Q0 a 1 2.0 tag", "field 4, the rank, is 'a'"),
        ("q1 Q0 doc 7 1 2.0 tag", "field 6, the tag, is the number 2.0"),
        ("q1 Q0 a 1 high tag more", "field 5, the score, is 'high'"),
    ],
)
def test_blanks_in_ids_are_refused(line: str, message: str, write: Write) -> None:
    with pytest.raises(
        ValueError, match=f"line 2: 7 fields where 6 are expected; {message}"
    ):
        irl.evaluate("RR", QRELS, write("r", f"q1 Q0 a 1 3.0 tag\n{line}\n"))


@pytest.mark.usefixtures("with_or_without_polars")
@pytest.mark.parametrize(
    "tag", ["2bm25", "1 st try", "2 bm25", "2024 05 run", "7", "1e3 x"]
)
def test_a_tag_may_begin_with_a_number(tag: str, write: Write) -> None:
    rows = f"q1 Q0 b 1 2.0 {tag}\nq1 Q0 a 2 1.0 {tag}\n"
    assert rr(QRELS, write("r", rows)) == 0.5
    assert rr(QRELS, write("r", rows.replace(" ", "\t"))) == 0.5
    for shifted in (
        f"{rows}q1 Q0 my 3 4 0.5 {tag}\n",
        f"q1 Q0 a 7 1 1.0 {tag}\nq2 Q0 b 8 1 1.0 {tag}\n",
    ):
        with pytest.raises(ValueError, match=r"line \d: .* the tag, is the number"):
            rr(QRELS, write("r", shifted))


# -- records ---------------------------------------------------------------------------------------

RECORDS = [
    ("query_id", "doc_id", "relevance"),
    ("qid", "docno", "label"),
    ("query-id", "corpus-id", "score"),
    ("topic_id", "docid", "rel"),
    ("query", "document_id", "grade"),
]


@pytest.mark.parametrize("names", RECORDS)
@pytest.mark.parametrize("form", ["lines", "array"])
def test_qrels_as_records(names: tuple[str, str, str], form: str, write: Write) -> None:
    rows = [
        dict(zip(names, row, strict=True))
        for row in [(1, "a", 1), (1, "b", 0), (1, "a", 1)]
    ]
    text = (
        "\n".join(map(json.dumps, rows))
        if form == "lines"
        else json.dumps(rows, indent=1)
    )
    judgments = irl.load(write("qrels.jsonl", text))
    assert judgments.query_ids == ["1"]
    assert dict(zip(judgments.doc_ids, judgments.grade.tolist(), strict=True)) == {
        "a": 1,
        "b": 0,
    }


def test_runs_as_records(write: Write) -> None:
    rows = [("q1", "b", 2.5), ("q1", "a", 1)]
    names = ["qid", "docno", "score"]
    text = "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows)
    assert rr(QRELS, write("run.jsonl", text)) == 0.5


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"query_id": "q1", "doc_id": "b"},
            "line 2: there is no relevance; it has query_id",
        ),
        ({"query_id": 1.5, "doc_id": "b", "relevance": 1}, "line 2: query_id is 1.5"),
        ({"query_id": "q1", "doc_id": "b", "relevance": None}, "is None, not a number"),
        (
            {"query_id": "q1", "doc_id": "a", "relevance": 2},
            "judged twice, with the grades 1 and 2",
        ),
        ([1], "line 2: expected an object"),
    ],
)
def test_faulty_records(row: Any, message: str, write: Write) -> None:
    first = {"query_id": "q1", "doc_id": "a", "relevance": 1}
    with pytest.raises(ValueError, match=message) as caught:
        irl.load(write("qrels.jsonl", "\n".join(map(json.dumps, [first, row]))))
    assert "qrels.jsonl" in str(caught.value)


# -- truth values ----------------------------------------------------------------------------------

TRUE = {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "relevance": [True, False]}
TRUTH_VALUES: dict[str, Any] = {
    "dict": {"q1": {"a": True, "b": False}},
    "NumPy": {"q1": {"a": np.True_, "b": np.False_}},
    "pandas": pd.DataFrame(TRUE),
    "objects": pd.DataFrame(TRUE).astype({"relevance": object}),
    "nullable": pd.DataFrame(TRUE).astype({"relevance": "boolean"}),
    "Polars": pl.DataFrame(TRUE),
    "Arrow": pa.table(TRUE),
    "rows": pd.DataFrame(TRUE).to_dict("records"),
    "mixed": {"q1": {"a": True, "b": 0}},
}


@pytest.mark.parametrize("form", TRUTH_VALUES)
def test_truth_values_are_grades(form: str) -> None:
    assert rr(TRUTH_VALUES[form], RUN) == 0.5
    judgments = merged(irl.load({"q1": {"c": 2}}), TRUTH_VALUES[form])
    assert sorted(judgments.grade.tolist()) == [0, 1, 2]


@pytest.mark.usefixtures("with_or_without_polars")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("q.csv", "query_id,doc_id,relevance\nq1,a,True\nq1,b,False\n"),
        ("q.csv", "query_id;doc_id;relevance\nq1;a;TRUE\nq1;b;0\n"),
        ("q.tsv", "query-id\tcorpus-id\tscore\nq1\ta\ttrue\nq1\tb\tfalse\n"),
        ("q.txt", "q1 0 a True\nq1 0 b False\n"),
        ("q.json", '{"q1": {"a": true, "b": false}}'),
        (
            "q.jsonl",
            '{"qid": "q1", "docno": "a", "label": true}\n{"qid": "q1", "docno": "b", "label": 0}',
        ),
    ],
)
def test_truth_values_in_files_are_grades(name: str, text: str, write: Write) -> None:
    assert rr(write(name, text), RUN) == 0.5
    assert len(merged(irl.load({"q1": {"c": 2}}), write(name, text)).doc_ids) == 3


def test_truth_values_are_not_scores(write: Write) -> None:
    for run in (
        {"q1": {"a": True}},
        write("r.csv", "query_id,doc_id,score\nq1,a,True\n"),
    ):
        with pytest.raises(ValueError, match="not a"):
            irl.evaluate("RR", QRELS, run)


# -- ranks -----------------------------------------------------------------------------------------

RANKS = {"query_id": ["q1", "q1"], "doc_id": ["a", "b"], "rank": [2, 1]}


@pytest.mark.parametrize(
    "form", ["pandas", "polars", "arrow", "rows", "ordered by name"]
)
def test_tables_with_ranks_and_no_scores(form: str) -> None:
    frame = pd.DataFrame(RANKS)
    run = {
        "pandas": frame,
        "polars": pl.DataFrame(RANKS),
        "arrow": pa.table(RANKS),
        "rows": frame.to_dict("records"),
        "ordered by name": frame.rename(columns={"query_id": "qid", "doc_id": "docno"})[
            ["rank", "docno", "qid"]
        ],
    }[form]
    assert rr(QRELS, run) == 0.5


@pytest.mark.usefixtures("with_or_without_polars")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", "query_id,doc_id,rank\nq1,b,1\nq1,a,2\n"),
        ("r.csv", "rank;docno;qid\n2;a;q1\n1;b;q1\n"),
        ("r.tsv", "qid\tdocno\trank\nq1\tb\t1\nq1\ta\t2"),
        ("r.txt", "query_id doc_id rank\nq1 b 1\nq1 a 2\n"),
        (
            "r.jsonl",
            '{"qid": "q1", "docno": "b", "rank": 1}\n{"qid": "q1", "docno": "a", "rank": 2}',
        ),
    ],
)
def test_files_with_ranks_and_no_scores(name: str, text: str, write: Write) -> None:
    assert rr(QRELS, write(name, text)) == 0.5


def test_parquet_with_ranks_and_no_scores(tmp_path: Path) -> None:
    pd.DataFrame(RANKS).to_parquet(tmp_path / "r.parquet")
    assert rr(QRELS, tmp_path / "r.parquet") == 0.5


@pytest.mark.parametrize("name", ["position", "Rank", "RANK", "Position", "Score"])
@pytest.mark.parametrize("form", ["pandas", "polars", "csv"])
def test_a_name_in_another_case_is_advised(
    name: str, form: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"qid": ["q1"], "DocNo": ["a"], name: [1]})
    run: Any = frame
    if form == "polars":
        run = pl.DataFrame(frame)
    if form == "csv":
        run = tmp_path / "run.csv"
        frame.to_csv(run, index=False)
    ours = "score" if name == "Score" else "rank"
    with pytest.raises(ValueError, match=f"rename DocNo to docno, {name} to {ours}"):
        rr(QRELS, run)


def test_scores_beat_ranks() -> None:
    assert rr(QRELS, pd.DataFrame(RANKS).assign(score=[2.0, 1.0])) == 1


def test_a_rank_that_is_not_a_number_is_named(write: Write) -> None:
    with pytest.raises(
        ValueError, match=r"line 2: the rank of document 'b' .* is 'first'"
    ):
        irl.evaluate("RR", QRELS, write("r.csv", "query_id,doc_id,rank\nq1,b,first\n"))
    with pytest.raises(
        ValueError, match="the rank of document 'a' for query 'q1' is nan"
    ):
        irl.evaluate("RR", QRELS, pd.DataFrame(RANKS).assign(rank=[np.nan, 1.0]))


def test_comments_and_blanks_do_not_make_a_file_cut(write: Write) -> None:
    for text in (
        "# grades to 10\nq1 0 a 1",
        "q1 0 b 10\nq1 0 a 1 ",
        "q1 0 b 10\nq1 0 a 1\n# 0 b 1",
    ):
        assert len(irl.load(write("q.txt", text)).doc_ids) > 0
    assert rr(QRELS, write("r.csv", 'query_id,doc_id,score\nq1,a,2.5\nq1,b,"1"')) == 1


@pytest.mark.parametrize("ending", ["tsv", "txt", "csv"])
@pytest.mark.parametrize("quoted", [r'"\1"', r"\1"])
def test_a_quoted_header_between_tabs_says_that_quotes_count(
    ending: str, quoted: str, tmp_path: Path
) -> None:
    run, qrels = tmp_path / f"run.{ending}", tmp_path / f"qrels.{ending}"
    rows = re.sub(r"([qd]\d)", quoted, "q1\td1\t2.5\nq1\td2\t1.5\n")
    run.write_text(f'"query_id"\t"doc_id"\t"score"\n{rows}')
    grades = rows.replace("2.5", "0").replace("1.5", "1")
    qrels.write_text(f'"query_id"\t"doc_id"\t"relevance"\n{grades}')
    assert irl.load(qrels).doc_ids == ["d1", "d2"]
    assert irl.evaluate("AP", qrels, run)["AP"].to_dict() == {"q1": 0.5}


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_row_names_without_a_header_are_recognised(
    separator: str, tmp_path: Path
) -> None:
    path = tmp_path / "values.csv"
    text = '"query_id","bm25","ql"\n"1","q1",0.5,0.25\n"2","q2",0.25,0.5\n'
    path.write_text(text.replace(",", separator))
    with pytest.raises(ValueError, match=r"4 fields where 3 .* without row names"):
        irl.compare(values=path)


# -- objects that only have the interface of Arrow, as relations of DuckDB do ----------------------


class OfArrow:
    """A table of another program."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


QUERIES = [f"q{i}" for i in range(4)]
AS_ARROW: dict[str, Callable[[pd.DataFrame], Any]] = {
    "object": lambda table: OfArrow(pa.Table.from_pandas(table, preserve_index=False)),
    "reader": lambda table: pa.Table.from_pandas(
        table, preserve_index=False
    ).to_reader(),
    "lazy": lambda table: pl.from_pandas(table).lazy(),
}
VALUES = pd.DataFrame(
    {"query_id": QUERIES * 2, "run": ["a"] * 4 + ["b"] * 4, "AP": np.arange(8) / 8}
)
GROUPS = pd.DataFrame({"query_id": QUERIES, "group": ["x", "y", "x", "y"]})
OF_ARROW: dict[str, tuple[pd.DataFrame, Callable[[Any], Any]]] = {
    "compare": (VALUES, lambda table: irl.compare(values=table).means()),
    "gate": (VALUES, lambda table: irl.gate(values=table).table),
    "benchmark": (
        VALUES.assign(collection="c"),
        lambda table: irl.benchmark(values=table).means(),
    ),
    "groups": (
        GROUPS,
        lambda table: irl.compare(values=VALUES, groups=table).group_means(),
    ),
    "groups of collections": (
        GROUPS,
        lambda table: irl.benchmark(
            values={"c": VALUES, "d": VALUES}, groups=table
        ).group_means(),
    ),
    "texts": (
        pd.DataFrame({"doc_id": ["a", "b"], "text": ["one", "two"]}),
        lambda table: pd.Series(texts_of(table, ["b", "a"])).sort_index().to_frame(),
    ),
    "qrels": (
        pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "relevance": [1]}),
        lambda table: irl.evaluate("RR", table, RUN),
    ),
    "run": (
        pd.DataFrame({"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]}),
        lambda table: irl.evaluate("RR", QRELS, table),
    ),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", AS_ARROW)
@pytest.mark.parametrize("door", OF_ARROW)
def test_tables_of_any_program_are_read_like_frames(door: str, form: str) -> None:
    table, ask = OF_ARROW[door]
    pd.testing.assert_frame_equal(ask(AS_ARROW[form](table)), ask(table))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("grade", ["1", "10", "-1"])
def test_a_table_cut_within_a_column_before_others_is_refused(
    grade: str, separator: str, tmp_path: Path
) -> None:
    rows = ["query_id,doc_id,relevance,title", "q,a,10,red", "q,b,0,blue"]
    text = "\n".join(rows).replace(",", separator)
    path = tmp_path / "table.csv"
    path.write_text(text + "\n" + separator.join(["q", "c", grade]), encoding="utf-8")
    cut = f"table.csv, line 4: the file ends with the grade {grade}, .* more fields"
    with pytest.raises(ValueError, match=cut):
        irl.evaluate("AP", path, {"q": {"a": 1.0}})
    with pytest.raises(ValueError, match=cut):
        merged(irl.load({"q": {"z": 1}}), path)
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert irl.evaluate("AP", path, {"q": {"a": 1.0}}).size == 1


def test_a_run_cut_within_its_score_before_a_rank_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("query_id,doc_id,score,rank\nq,a,10.5,1\nq,b,9.2", encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 3: the file ends with the score 9\.2"):
        irl.evaluate("AP", {"q": {"a": 1}}, path)


def test_a_column_that_no_row_has_hides_no_cut_grade(tmp_path: Path) -> None:
    path = tmp_path / "qrels.csv"
    for last, is_cut in (("1", True), ("10", False), ("2", False)):
        text = f"query_id,doc_id,relevance,title\nq,a,10\nq,b,{last}"
        path.write_text(text, encoding="utf-8")
        if is_cut:
            with pytest.raises(ValueError, match="was it cut"):
                irl.load(path)
        else:
            assert len(irl.load(path).doc_ids) == 2


@pytest.mark.parametrize("name", ["relevance", "score"])
def test_complex_numbers_are_named(name: str) -> None:
    frame = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], name: [1j]})
    qrels, run = (frame, RUN) if name == "relevance" else (QRELS, frame)
    with pytest.raises(ValueError, match=f"the {name} of document 'a' .* is 1j, not"):
        irl.evaluate("AP", qrels, run)


@pytest.mark.parametrize("form", ["frame", "csv", "jsonl"])
def test_ranks_that_occur_twice_are_told(form: str, tmp_path: Path) -> None:
    for ranks, is_told in (([1, 1, 2], True), ([1, 2, 1], False)):
        run: Any = pd.DataFrame(
            {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "rank": ranks}
        )
        if form == "csv":
            run.to_csv(tmp_path / "run.csv", index=False)
        elif form == "jsonl":
            run.to_json(tmp_path / "run.jsonl", orient="records", lines=True)
        run = run if form == "frame" else tmp_path / f"run.{form}"
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            irl.evaluate("AP", QRELS, run)
        messages = [str(one.message) for one in told]
        name = "run" if form == "frame" else run
        expected = (
            f"{name}: query 'q1' has the rank 1 twice; documents of one rank count"
        )
        assert [one[: len(expected)] for one in messages] == [expected] * is_told
