"""Values per query in nested dicts and in what ir_measures' `iter_calc` yields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pytest
from ir_measures import AP, nDCG

import ir_lexirecall as irl
from ir_lexirecall.io.values import read_values

N = 12
NO_MEASURES = [
    "tstamp",
    "created_at",
    "start_time",
    "pid",
    "port",
    "max_tokens",
    "prompt_version",
    "seed_x.temperature",
    "random_seed",
    "label",
]


def dicts(name: str, shift: float) -> dict[str, dict[str, Any]]:
    """Values of a run per query, with numbers under a name that rise with the run."""
    return {
        f"q{i}": {"score": (i % 4) / 4, name: 5.0 + shift + i * 1.5} for i in range(N)
    }


def in_form(runs: dict[str, Any], form: str, path: Path) -> Any:
    """Nested dicts in memory, in a file for each run, in one file, or as a row per value."""
    if form == "dicts":
        return runs
    if form == "one file":
        (path / "all.json").write_text(json.dumps(runs))
        return path / "all.json"
    if form == "rows":
        rows = []
        for run, queries in runs.items():
            for query, values in queries.items():
                rows += [(run, query, name, value) for name, value in values.items()]
        return pd.DataFrame(rows, columns=["run", "query_id", "measure", "value"])
    for run, queries in runs.items():
        (path / f"{run}.json").write_text(json.dumps(queries))
    return path


@pytest.mark.parametrize("form", ["dicts", "files", "one file", "rows"])
@pytest.mark.parametrize("n_queries", [1, 2, 3])
def test_few_queries_with_more_names_are_no_runs(
    n_queries: int, form: str, tmp_path: Path
) -> None:
    """They could be queries of runs, but for names that no query has."""
    queries = {
        f"q{i}": {
            "my_score": 0.25 * (i + 1),
            "tstamp": 5 + i,
            "pid": i,
            "seed": i,
            "step": i,
        }
        for i in range(n_queries)
    }
    table = read_values(in_form({"a": queries, "b": queries}, form, tmp_path))
    assert (table.runs, table.measures) == (["a", "b"], ["my_score"])
    assert table.query_ids == list(queries)


def test_a_single_record_with_nested_values_is_a_table(tmp_path: Path) -> None:
    for run in "ab":
        record = {"query_id": "q1", "metrics": {"AP": 0.5, "tstamp": 3}}
        (tmp_path / f"{run}.jsonl").write_text(json.dumps(record) + "\n")
    table = read_values(tmp_path)
    assert (table.query_ids, table.measures) == (["q1"], ["AP"])


@pytest.mark.parametrize("form", ["dicts", "files", "one file", "rows"])
@pytest.mark.parametrize("name", NO_MEASURES)
def test_what_is_no_measure_in_a_table_is_none_in_nested_dicts(
    name: str, form: str, tmp_path: Path
) -> None:
    runs = {"a": dicts(name, 0), "b": dicts(name, 100)}
    table = read_values(in_form(runs, form, tmp_path))
    assert (table.runs, table.measures) == (["a", "b"], ["score"])
    assert table.notes == (
        f"The column {name!r} is left out: its name is not that of a measure.",
    )
    named = read_values(in_form(runs, form, tmp_path), measures=["score", name])
    assert named.measures == ["score", name]


def test_texts_under_a_name_of_no_measure_are_left_out() -> None:
    runs = {
        run: {q: {"score": x, "created_at": "2026-01-01"} for q, x in queries.items()}
        for run, queries in {"a": {"1": 0.5}, "b": {"1": 0.25}}.items()
    }
    assert read_values(runs).values["score"].tolist() == [[0.5], [0.25]]


def test_a_query_with_a_time_only_lacks_its_value() -> None:
    failed = {"q1": {"score": 0.5, "tstamp": 1}, "q2": {"tstamp": 2}}
    with pytest.raises(ValueError, match="score of run 'a' for query 'q2' is missing"):
        read_values({"a": failed, "b": failed})


def test_times_alone_are_no_measures() -> None:
    times = {"q1": {"tstamp": 1, "pid": 3}, "q2": {"tstamp": 2, "pid": 3}}
    with pytest.raises(ValueError, match="run 'a': no name is that of a measure"):
        read_values({"a": times, "b": times})


def test_times_beside_measures_of_ranx() -> None:
    scores = {"ndcg@10": {"q1": 0.5, "q2": 1.0}, "tstamp": {"q1": 3.0, "q2": 5.0}}
    table = read_values({"a": scores, "b": scores})
    assert (table.measures, table.query_ids) == (["ndcg@10"], ["q1", "q2"])


def test_queries_by_names_of_times_stay(tmp_path: Path) -> None:
    runs = {
        "a": {"day": 0.5, "week": 0.25, "year": 1.0},
        "b": {"day": 0.5, "week": 0.0},
    }
    runs["b"]["year"] = 0.75
    (tmp_path / "runs.json").write_text(json.dumps(runs))
    table = read_values(tmp_path / "runs.json")
    assert (table.runs, table.query_ids) == (["a", "b"], ["day", "week", "year"])
    assert read_values(runs).query_ids == ["day", "week", "year"]


def test_the_same_number_everywhere_is_left_out_of_dicts_too() -> None:
    values = {"q1": {"score": 0.5, "n_docs": 100}, "q2": {"score": 1, "n_docs": 100}}
    table = read_values({"a": values, "b": values})
    assert table.measures == ["score"]
    assert table.notes == ("The column 'n_docs' is 100 in all rows: left out.",)
    assert read_values({"a": values, "b": values}, measures="n_docs").n_queries == 2
    flags = {"q1": {"score": 0.5, "passed": 1}, "q2": {"score": 1, "passed": 1}}
    assert read_values({"a": flags, "b": flags}).measures == ["score", "passed"]


# -- ir_measures -----------------------------------------------------------------------------------

QRELS = [ir_measures.Qrel(f"q{i}", f"d{i}", 1) for i in range(6)]


def metrics(offset: int, *measures: Any) -> Iterator[Any]:
    """Return what `iter_calc` yields for a run that misses every third query."""
    docs = [
        ir_measures.ScoredDoc(f"q{i}", f"d{i if (i + offset) % 3 else 'x'}", 1.0)
        for i in range(6)
    ]
    return ir_measures.iter_calc(measures, QRELS, docs)


@pytest.mark.parametrize("measures", [(AP,), (AP, nDCG @ 10)])
def test_generators_of_iter_calc_are_read(measures: tuple[Any, ...]) -> None:
    table = read_values({run: metrics(n, *measures) for n, run in enumerate("ab")})
    listed = {run: [*metrics(n, *measures)] for n, run in enumerate("ab")}
    assert table.measures == [*map(str, measures)]
    for name, values in read_values(listed).values.items():
        np.testing.assert_array_equal(table.values[name], values)


def test_generators_are_read_once_at_every_door() -> None:
    def runs() -> dict[str, Any]:
        return {"a": metrics(0, AP), "b": metrics(1, AP)}

    assert len(irl.compare(values=runs()).means()) == 2
    assert irl.gate(values=runs()).exit_code == 0
    assert len(irl.benchmark(values={"c": runs()}).table()) == 1


def test_an_exhausted_generator_is_refused() -> None:
    read = metrics(0, AP)
    list(read)
    with pytest.raises(ValueError, match="run 'a': an iterator without values"):
        read_values({"a": read, "b": metrics(1, AP)})


def test_values_over_all_queries_only_are_named_as_such() -> None:
    total = {"all": {"AP": 0.5}}
    with pytest.raises(
        ValueError, match="run 'b': it has values over all queries only"
    ):
        read_values({"a": {"q": {"AP": 0.5}}, "b": total})


@pytest.mark.parametrize("key", [("q1", "AP"), (1, "q1"), ("q1",)])
def test_a_pair_is_no_query(key: Any) -> None:
    """As `to_dict` of a column with two levels of labels gives them."""
    values = {key: 0.5, "q2": 0.25}
    with pytest.raises(ValueError, match=r"is the key of a value; give \{query_id"):
        read_values({"a": values, "b": values})


@pytest.mark.parametrize(
    "outer", [("acc", "zeal"), ("ndcg", "map", "my_score"), ("latency", "x")]
)
def test_measures_some_of_which_are_unknown_hold_queries(
    outer: tuple[str, ...],
) -> None:
    scores = {name: {"q1": 0.5, "q2": 1.0, "q3": 0.25} for name in outer}
    table = read_values({"a": scores, "b": scores})
    assert (table.measures, table.query_ids) == (list(outer), ["q1", "q2", "q3"])


def test_queries_some_of_which_have_names_of_measures_stay() -> None:
    names = ("acc", "bm25", "colbert")
    queries = {name: {"zeal": 0.5 * n, "x": 1.0} for n, name in enumerate(names)}
    assert read_values({"a": queries, "b": queries}).measures == ["zeal", "x"]
    known = {name: {"AP": 0.5, "x": 1.0} for name in ("acc", "zeal")}
    assert read_values({"a": known, "b": known}).measures == ["AP", "x"]


def test_json_of_another_shape_is_not_said_to_have_queries(tmp_path: Path) -> None:
    """OpenCompass writes dicts of dicts, in which no level is one of queries."""
    details = {str(i): {"prompt": f"p{i}", "is_correct": i > 1} for i in range(3)}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"accuracy": 50.0, "details": details}))
    with pytest.raises(
        ValueError, match="in this shape of JSON or dicts are not known"
    ):
        read_values(path)
    with pytest.raises(ValueError, match=r"^(?!.*query 'details').*are not known"):
        read_values({"a": {"details": details, "accuracy": 50.0}})
