"""What is read in memory is read in a JSON file, too, and tables by columns get a way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest

from ir_lexirecall.io.values import ValueTable, read_values

VALUES = {
    "a": {"q1": 0.5, "q2": 0.25, "q3": 1.0},
    "b": {"q1": 0.75, "q2": 0.5, "q3": 0.0},
}


def assert_read(table: ValueTable, measure: str) -> None:
    assert (table.runs, table.query_ids) == (["a", "b"], ["q1", "q2", "q3"])
    assert table.measures == [measure]
    assert table.values[measure].tolist() == [[*x.values()] for x in VALUES.values()]


def written(content: Any, path: Path) -> Path:
    path.write_text(json.dumps(content, indent=2))
    return path


@pytest.mark.parametrize("measures", [None, "AP"])
def test_one_file_of_runs(measures: str | None, tmp_path: Path) -> None:
    path = written(VALUES, tmp_path / "all.json")
    assert_read(read_values(path, measures=measures), measures or "value")


@pytest.mark.parametrize(
    "shape",
    [
        lambda values: {q: {"AP": x} for q, x in values.items()},
        lambda values: {"AP": values},
    ],
    ids=["by query", "by measure"],
)
def test_one_file_of_runs_and_measures(shape: Any, tmp_path: Path) -> None:
    content = {run: shape(values) for run, values in VALUES.items()}
    path = written(content, tmp_path / "all.json")
    assert_read(read_values(path), "AP")
    assert_read(read_values(content), "AP")


def test_a_file_of_queries_per_run(tmp_path: Path) -> None:
    paths = {
        run: written(values, tmp_path / f"{run}.json") for run, values in VALUES.items()
    }
    for values in (tmp_path, paths, [*paths.values()]):
        assert_read(read_values(values), "value")
        assert_read(read_values(values, measures="AP"), "AP")


def test_a_file_of_one_run_and_a_record_stay_what_they_are(tmp_path: Path) -> None:
    by_query = {f"q{i}": {"zeal": 0.5, "zest": 0.25} for i in range(4)}
    table = read_values(written(by_query, tmp_path / "one.json"))
    assert (table.runs, table.measures) == (["one"], ["zeal", "zest"])
    record = {"run": "a", "query_id": "q1", "AP": 0.5}
    table = read_values(written(record, tmp_path / "record.json"))
    assert (table.runs, table.query_ids) == (["a"], ["q1"])
    means = written({"AP": 0.5, "nDCG": 0.25}, tmp_path / "means.json")
    with pytest.raises(ValueError, match="no column that names queries"):
        read_values(means)


@pytest.mark.parametrize("ids", [["q1", "q2"], [7, 8]])
def test_a_table_by_columns_has_a_way_out(ids: list[Any], tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ids, "AP": [0.5, 0.25]})
    frame.to_json(tmp_path / "a.json")
    frame.to_json(tmp_path / "b.json")
    with pytest.raises(ValueError, match=r"to_json.*orient='records'"):
        read_values(tmp_path)


@pytest.mark.parametrize("form", [list, tuple])
def test_what_ir_measures_calculates(form: Any) -> None:
    from ir_measures.util import Metric

    AP = ir_measures.AP
    runs = {
        run: form([Metric(q, AP, x) for q, x in values.items()])
        for run, values in VALUES.items()
    }
    assert_read(read_values(runs), "AP")
    qrels = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d"], "relevance": [1]})
    docs = pd.DataFrame({"query_id": ["q1"], "doc_id": ["d"], "score": [1.0]})
    calc = {run: [*ir_measures.iter_calc([AP], qrels, docs)] for run in "ab"}
    assert read_values(calc).values["AP"].tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("orient", ["split", "table"])
@pytest.mark.parametrize("index", ["query_id", None])
def test_other_orients_of_pandas_are_named(
    orient: Any, index: str | None, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"query_id": ["q1", "q2"], "AP": [0.5, 0.25]})
    if index is not None:
        frame = frame.set_index(index)
    frame.to_json(tmp_path / "a.json", orient=orient)
    with pytest.raises(ValueError, match="orient='split' or 'table'; write it by rows"):
        read_values(tmp_path / "a.json")
