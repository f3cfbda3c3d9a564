"""A further format of files is a function and a line: for runs, qrels, groups and values alike."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import ir_lexirecall as irl
from ir_lexirecall.cli.arguments import run_names
from ir_lexirecall.io import readers
from ir_lexirecall.io.files import File, named_files
from ir_lexirecall.io.groups import read_groups
from ir_lexirecall.io.readers import FORMATS, FileFormat
from ir_lexirecall.io.run_folders import read_folder
from ir_lexirecall.io.schemas import QRELS, RUN, Schema
from ir_lexirecall.io.source import Kind, what_is
from ir_lexirecall.io.values import read_values

QRELS_TEXT = "query_id|doc_id|relevance\nq1|a|1\nq1|b|0\nq2|a|2\n"
RUN_TEXT = "qid|docno|score\nq1|b|1.5\nq1|a|0.5\nq2|a|2.5\n"
NESTED_QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}
NESTED_RUN = {"q1": {"b": 1.5, "a": 0.5}, "q2": {"a": 2.5}}

Write = Callable[[str, str], Path]


def columns_of_toy(file: File, schema: Schema) -> Iterator[pl.DataFrame]:
    names, *rows = [line.split("|") for line in file.text().splitlines()]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    numbers = {"relevance", "score", "AP"} & {*names}
    yield pl.DataFrame(columns).with_columns(
        pl.col(*numbers).cast(pl.Float64) if numbers else []
    )


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = FileFormat.by_ending(".toy", columns_of_toy)
    monkeypatch.setattr(readers, "FORMATS", [toy, *FORMATS])


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, text: str) -> Path:
        content = text.encode()
        (tmp_path / name).write_bytes(
            gzip.compress(content) if name.endswith("gz") else content
        )
        return tmp_path / name

    return written


@pytest.mark.parametrize("ending", ["toy", "toy.gz"])
def test_runs_and_qrels(ending: str, write: Write) -> None:
    qrels, run = write(f"qrels.{ending}", QRELS_TEXT), write(f"run.{ending}", RUN_TEXT)
    expected = irl.evaluate(["AP", "nDCG@5"], NESTED_QRELS, NESTED_RUN)
    assert irl.evaluate(["AP", "nDCG@5"], qrels, NESTED_RUN).equals(expected)
    assert irl.evaluate(["AP", "nDCG@5"], NESTED_QRELS, run).equals(expected)
    assert irl.evaluate(["AP", "nDCG@5"], str(qrels), str(run)).equals(expected)


def test_parts_of_a_run(write: Write, tmp_path: Path) -> None:
    write("part-0.toy", "qid|docno|score\nq1|b|1.5\nq1|a|0.5\n")
    write("part-1.toy", "qid|docno|score\nq2|a|2.5\n")
    values = irl.evaluate("AP", NESTED_QRELS, tmp_path / "part-*.toy")
    assert values.equals(irl.evaluate("AP", NESTED_QRELS, NESTED_RUN))


def test_values_and_groups(write: Write) -> None:
    text = "query_id|AP\nq1|0.5\nq2|1.0\nq3|0.25\n"
    values = {
        "a": write("a.toy", text),
        "b": write("b.toy", text.replace("0.25", "0.75")),
    }
    means = irl.compare(values=values, by="AP").table().set_index("run_a")["mean_a"]
    assert means.round(6).to_dict() == pytest.approx({"a": 1.75 / 3}, abs=1e-6)
    groups = read_groups(write("g.toy", "query_id|group\nq1|x\nq2|y\n"), ["q1", "q2"])
    assert groups.names == ["x", "y"]


def test_folders(write: Write, tmp_path: Path) -> None:
    for folder in ("runs", "values"):
        (tmp_path / folder).mkdir()
    write("runs/bm25.toy", RUN_TEXT)
    write("runs/notes", "what these runs are\n")
    for run in ("a", "b"):
        write(f"values/{run}.toy", "query_id|AP\nq1|0.5\nq2|1.0\n")
    content = read_folder(tmp_path / "runs")
    assert content.left_out == ["notes"]
    run = content.runs["bm25"]
    assert run_names([run, "ql.toy.gz"]) == ["bm25", "ql"]
    assert irl.evaluate("AP", NESTED_QRELS, run).equals(
        irl.evaluate("AP", NESTED_QRELS, NESTED_RUN)
    )
    assert read_values(tmp_path / "values", measures=["AP"]).runs == ["a", "b"]


def test_faults_name_the_file(write: Write) -> None:
    bad = write("run.toy", "qid|docno\nq1|a\n")
    with pytest.raises(
        ValueError, match=rf"^evaluate: {bad}: run lacks the column 'score'"
    ):
        irl.evaluate("AP", NESTED_QRELS, bad)
    infinite = write("qrels.toy", "query_id|doc_id|relevance\nq1|a|inf\n")
    with pytest.raises(
        ValueError, match=rf"^evaluate: {infinite}: the relevance of document 'a'"
    ):
        irl.evaluate("AP", infinite, NESTED_RUN)


def test_a_source_is_looked_at_once(write: Write) -> None:
    run = write("run.toy", RUN_TEXT)
    source = what_is(run, RUN)
    assert source.kind is Kind.FILES
    assert what_is(source, RUN) is source
    rows = (row for row in [("q", "a")])
    with pytest.raises(ValueError, match="not a named tuple"):
        what_is(rows, RUN)
    assert what_is("no/such", QRELS, ids=True).kind is Kind.ID
    with pytest.raises(ValueError, match="no/such: there is no such file"):
        what_is("no/such", RUN)


def test_an_iterator_can_be_read_twice() -> None:
    frame = pl.DataFrame(
        {"query_id": ["q1"], "doc_id": ["a"], "score": [1.0]}
    ).to_pandas()
    source = what_is(frame.itertuples(index=False), RUN)
    again = [irl.evaluate("RR", NESTED_QRELS, source)["RR"].tolist() for _ in range(2)]
    assert again == [[1.0, 0.0]] * 2


def test_a_file_that_looks_like_a_pattern(write: Write) -> None:
    odd = write("run[1].txt", "q1 Q0 a 1 2.5 t\n")
    assert named_files(odd) == [str(odd)]
    assert File.opened(odd).first_line == "q1 Q0 a 1 2.5 t"
