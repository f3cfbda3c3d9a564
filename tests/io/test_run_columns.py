"""Tables with a column per run: no run vanishes without a word, and what is no run counts as none."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall.io.run_columns import measures_of_runs_in
from ir_lexirecall.io.values import read_values

N = 14
RNG = np.random.default_rng(3)
A, B, C = (RNG.random(N).round(4) for _ in range(3))
IDS = [f"t{i}" for i in range(N)]


def wide(**more: Any) -> pd.DataFrame:
    return pd.DataFrame({"query_id": IDS, "a": A, "b": B, **more})


def by_measure(**more: Any) -> pd.DataFrame:
    """A column per measure, of two runs."""
    rows = {name: [*column, *map(str, C)] for name, column in more.items()}
    runs = ["x"] * N + ["y"] * N
    return pd.DataFrame({"run": runs, "query_id": IDS * 2, "AP": [*A, *B], **rows})


def as_json_lines(table: pd.DataFrame, path: Path) -> Path:
    table.to_json(path / "v.jsonl", orient="records", lines=True)
    return path / "v.jsonl"


def as_csv(table: pd.DataFrame, path: Path) -> Path:
    table.to_csv(path / "v.csv", index=False)
    return path / "v.csv"


def as_parquet(table: pd.DataFrame, path: Path) -> Path:
    table.to_parquet(path / "v.parquet")
    return path / "v.parquet"


FORMS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "pandas": lambda table, path: table,
    "Polars": lambda table, path: pl.DataFrame(table),
    "JSON lines": as_json_lines,
    "CSV": as_csv,
    "Parquet": as_parquet,
}
IN_ANY_FORM = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@IN_ANY_FORM
@pytest.mark.parametrize("stray", ["-", "error", "timeout", "?"])
def test_a_run_does_not_vanish_with_one_text_among_its_numbers(
    stray: str, form: Callable[..., Any], tmp_path: Path
) -> None:
    table = wide(c=[stray, *map(str, C[1:])])
    with pytest.raises(ValueError, match=r"c is '.*', not a number"):
        read_values(form(table, tmp_path))
    with pytest.raises(ValueError, match=r"c is '.*', not a number"):
        read_values(form(table, tmp_path), missing="skip")


@IN_ANY_FORM
@pytest.mark.parametrize("stray", ["-", "--"])
def test_a_measure_does_not_vanish_with_a_missing_value(
    stray: str, form: Callable[..., Any], tmp_path: Path
) -> None:
    table = by_measure(nDCG=[stray, *map(str, C[1:])])
    with pytest.raises(ValueError, match=r"nDCG is '.*', not a number"):
        read_values(form(table, tmp_path))


MARKS = ["NA", "n/a ", "N/A", "#N/A", "<NA>", "null", "NULL", "None", "#DIV/0!", "NaN"]


@IN_ANY_FORM
@pytest.mark.parametrize("mark", MARKS)
def test_what_other_programs_write_for_a_missing_value_is_missing(
    mark: str, form: Callable[..., Any], tmp_path: Path
) -> None:
    stray = [mark, *map(str, C[1:])]
    for frame, measures in (
        (wide(c=stray), ["value"]),
        (by_measure(nDCG=stray), ["AP", "nDCG"]),
    ):
        values = form(frame, tmp_path)
        with pytest.raises(ValueError, match=r"is missing.*; add it, or give missing="):
            read_values(values)
        table = read_values(values, missing="skip")
        assert (table.skipped, table.measures) == (("t0",), measures)


@pytest.mark.parametrize("mark", ["NA", "#N/A", "null"])
def test_missing_values_in_rows_lines_and_dicts(mark: str, tmp_path: Path) -> None:
    rows = pd.DataFrame({"run": ["x"] * 4 + ["y"] * 4, "query_id": list("abcd") * 2})
    rows = rows.assign(measure="AP", value=["0.5", mark, *["0.25"] * 6])
    by_query = {"a": {"AP": 0.5}, "b": {"AP": mark}, "c": {"AP": 0.25}}
    for run in "xy":
        lines = [f"map\t{q}\t{row['AP']}\n" for q, row in by_query.items()]
        (tmp_path / f"{run}.eval").write_text("".join(lines))
    for values in (rows, {"x": by_query, "y": by_query}, tmp_path):
        with pytest.raises(ValueError, match=r"is missing.*; add it, or give missing="):
            read_values(values)
        assert read_values(values, missing="skip").skipped == ("b",)


@IN_ANY_FORM
def test_answers_that_may_be_numbers_are_no_measure(
    form: Callable[..., Any], tmp_path: Path
) -> None:
    answers = ["18", "[invalid]", "five", *(f"answer {i}" for i in range(N - 3))]
    table = by_measure().assign(answer=answers * 2)
    if form is as_csv:
        pytest.skip("CSV does not tell numbers from texts")
    assert read_values(form(table, tmp_path)).measures == ["AP"]


@IN_ANY_FORM
@pytest.mark.parametrize(
    "words", [("yes", "no"), ("PASS", "FAIL"), ("correct", "incorrect"), ("C", "I")]
)
def test_a_run_of_words_does_not_vanish(
    words: tuple[str, str], form: Callable[..., Any], tmp_path: Path
) -> None:
    table = wide(c=[words[i % 2] for i in range(N)])
    with pytest.raises(ValueError, match=rf"c is '{words[0]}', not a number"):
        read_values(form(table, tmp_path))


def test_texts_beside_runs_are_no_runs() -> None:
    table = wide(question=[f"why {i}?" for i in range(N)], kind=["easy", "hard"] * 7)
    assert read_values(table).runs == ["a", "b"]


@pytest.mark.parametrize(
    "cells", [[[x] for x in C], list(C.astype(complex)), list(pd.to_timedelta(C, "s"))]
)
def test_a_column_of_other_objects_is_said_to_be_left_out(cells: list[Any]) -> None:
    table = read_values(wide(c=cells))
    assert table.runs == ["a", "b"]
    assert table.notes == ("The column 'c' holds no numbers: left out.",)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("delta", B - A), ("diff", (B - A).round(4)), ("Δ", (A - B).round(3)),
        ("improvement", (B - A) / A), ("% change", (100 * (B - A) / A).round(1)),
        ("gap", np.abs(A - B)), ("b - a", (B - A).round(4)), ("a_vs_b", A - B),
        ("by how much", (B - A).round(4)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", [FORMS["pandas"], FORMS["CSV"], FORMS["JSON lines"]])
@pytest.mark.parametrize("first", [True, False])
def test_a_column_of_differences_is_no_run(
    name: str, values: Any, form: Callable[..., Any], first: bool, tmp_path: Path
) -> None:
    table = wide(**{name: values})
    if first:
        table = table[["query_id", name, "a", "b"]]
    result = read_values(form(table, tmp_path))
    assert result.runs == ["a", "b"]
    assert f"The column {name!r} holds the differences of" in result.notes[0]


def test_runs_that_are_differences_by_chance_stay() -> None:
    ones = np.array([1.0, 0, 1, 0, 1, 1, 0])
    zeros, none = 1 - ones, np.zeros(7)
    table = pd.DataFrame(
        {"query_id": IDS[:7], "a": ones, "b": zeros, "c": none, "d": ones, "e": 1.0}
    )
    assert read_values(table).runs == list("abcde")
    logs = pd.DataFrame(np.log(RNG.random((N, 4))), columns=list("abcd")).round(4)
    assert read_values(logs.assign(query_id=IDS)).runs == list("abcd")
    assert read_values(wide(gain=C)).runs == ["a", "b", "gain"]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("num_rel", RNG.integers(2, 90, N)), ("query_length", RNG.integers(2, 9, N)),
        ("born", [2020] * N), ("sign", np.sign(B - A).astype(int)), ("percent", (C * 100).round()),
        ("b_better", B > A),
    ],
)  # fmt: skip
@IN_ANY_FORM
def test_a_column_unlike_those_of_runs_is_no_run(
    name: str, values: Any, form: Callable[..., Any], tmp_path: Path
) -> None:
    table = form(wide(**{name: values}), tmp_path)
    with pytest.raises(ValueError, match=rf"{name} .*leave it out if it is not a run"):
        read_values(table)
    rows = wide(**{name: values}).melt("query_id", var_name="run")
    assert read_values(form(rows, tmp_path)).runs == ["a", "b", name]


def test_runs_of_zeros_and_ones_counts_and_small_tables_stay() -> None:
    assert read_values(wide(broken=0)).runs == ["a", "b", "broken"]
    assert read_values(wide(c=RNG.integers(0, 2, N))).runs == ["a", "b", "c"]
    counts = pd.DataFrame(RNG.integers(0, 90, (N, 3)), columns=list("abc"))
    assert read_values(counts.assign(query_id=IDS)).runs == list("abc")
    few = pd.DataFrame({"query_id": ["q1", "q2"], "a": [0.5, 2.5], "b": [1, 2]})
    assert read_values(few).runs == ["a", "b"]
    times = pd.DataFrame({"query_id": IDS, "a": RNG.integers(50, 900, N), "b": A * 900})
    assert read_values(times).runs == ["a", "b"]
    assert read_values(wide(P=C, R=C)).runs == ["a", "b", "P", "R"]
    halves = pd.DataFrame({"query_id": IDS, "a": (A * 6).round() / 2, "b": 3})
    assert read_values(halves).runs == ["a", "b"]


def test_a_fraction_is_a_number() -> None:
    exact = [Fraction(str(x)) for x in C]
    table = read_values(wide(c=exact))
    assert sorted(table.values["value"][2]) == pytest.approx(sorted(C))


@IN_ANY_FORM
@pytest.mark.parametrize("name", ["measure", "metric", "Metric"])
def test_rows_of_measures_beside_a_column_per_run(
    name: str, form: Callable[..., Any], tmp_path: Path
) -> None:
    costs = wide(**{name: "RMSE"})
    table = read_values(form(costs, tmp_path))
    assert (table.runs, table.measures) == (["a", "b"], ["RMSE"])
    assert table.is_cost("RMSE")
    both = pd.concat([costs, wide(**{name: "AP"}).assign(a=C)], ignore_index=True)
    table = read_values(form(both, tmp_path))
    assert table.measures == ["RMSE", "AP"]
    assert dict(zip(table.query_ids, table.values["AP"][0], strict=True)) == (
        dict(zip(IDS, C, strict=True))
    )
    assert read_values(form(both, tmp_path), measures="AP").measures == ["AP"]


@pytest.mark.parametrize("shape", ["a row per value", "a column per run"])
def test_a_row_without_a_measure_is_named(shape: str) -> None:
    table = wide(measure=["AP"] * (N - 1) + [None])
    if shape == "a row per value":
        table = table.melt(["query_id", "measure"], var_name="run")
    with pytest.raises(ValueError, match="row 14: there is no measure"):
        read_values(table)


def test_the_command_says_what_was_left_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wide(delta=B - A).to_csv(tmp_path / "v.csv", index=False)
    assert not cli.main(["compare", "--values", str(tmp_path / "v.csv")])
    output = " ".join(capsys.readouterr().out.split())
    assert "The column 'delta' holds the differences of b and a: left out." in output


def test_a_column_of_which_values_are_taken_is_not_called_left_out():
    codes = ["01", 0.5, *([0.25] * (N - 2))]  # "01" may be an id
    table = read_values(wide(c=codes))
    assert table.runs == ["a", "b", "c"]
    assert not table.notes


@pytest.mark.parametrize(
    "names",
    [
        ["AP_a", "nDCG@10_a", "AP_b", "nDCG@10_b"],
        ["a_AP", "a_RR", "b_AP", "b_RR"],
        ["score_a", "latency_a", "score_b", "latency_b"],
        ["bm25.map", "bm25.ndcg", "dense.map", "dense.ndcg"],
        ["AP_bm25_k1", "RR_bm25_k1", "AP_bm25_k2", "RR_bm25_k2"],
        ["('AP', 'a')", "('RR', 'a')", "('AP', 'b')", "('RR', 'b')"],
        ["a AP", "a nDCG@10", "b AP", "b nDCG@10"],
    ],
)
def test_columns_of_several_measures_are_not_runs_of_one(names: list[str]) -> None:
    """As merge with suffixes, and Polars' pivot of two columns, name them."""
    frame = pd.DataFrame({"query_id": ["q1", "q2", "q3"]})
    for n, name in enumerate(names):
        frame[name] = [0.1 * n, 0.25, 0.5]
    with pytest.raises(ValueError, match="are of several measures"):
        read_values(frame)


@pytest.mark.parametrize(
    "names",
    [
        ["AP_a", "AP_b"],
        ["a_x", "a_y", "b_x", "b_y"],
        ["bm25", "bm25_rm3", "ql", "ql_rm3"],
    ],
)
def test_columns_of_one_measure_are_runs(names: list[str]) -> None:
    frame = pd.DataFrame({"query_id": ["q1", "q2", "q3"]})
    for n, name in enumerate(names):
        frame[name] = [0.1 * n, 0.25, 0.5]
    assert read_values(frame).runs == names


@pytest.mark.parametrize(
    "names", [["rank_a", "rank_b"], ["n_docs", "n_rel"], ["len", "words", "x"]]
)
def test_several_columns_of_whole_numbers_are_no_runs_either(names: list[str]) -> None:
    n = 20
    frame = pd.DataFrame({"query_id": [f"q{i}" for i in range(n)]})
    frame = frame.assign(
        a=[(i * 7 % 13) / 16 for i in range(n)], b=[(i * 5 % 11) / 16 for i in range(n)]
    )
    for k, name in enumerate(names):
        frame[name] = [i % 3 + k for i in range(n)]
    with pytest.raises(
        ValueError, match="holds whole numbers, while other columns have fractions"
    ):
        read_values(frame)


@pytest.mark.parametrize("name", ["latency", "time", "hit_rate", "accuracy"])
def test_a_measure_of_any_program_beside_runs_is_no_run(name: str) -> None:
    frame = pd.DataFrame({"query_id": ["q1", "q2"], "a": [0.5, 0.25], "b": [0.75, 0.5]})
    with pytest.raises(ValueError, match=f"{name} has the name of a measure"):
        read_values(frame.assign(**{name: [0.1, 0.7]}))


@pytest.mark.parametrize("letter", "rfpm")
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("n", [2, 3, 12])
def test_a_letter_and_a_number_name_runs(
    letter: str, first: int, n: int, tmp_path: Path
) -> None:
    names = [f"{letter}{first + i}" for i in range(n)]
    table = pd.DataFrame({"query_id": IDS, **{name: RNG.random(N) for name in names}})
    for source in (table, as_csv(table, tmp_path)):
        assert read_values(source).runs == names


def test_two_files_with_such_columns_have_measures(tmp_path: Path) -> None:
    paths = []
    for run in "xy":
        path = tmp_path / f"{run}.csv"
        pd.DataFrame({"query_id": IDS, "F1": A, "F2": B}).to_csv(path, index=False)
        paths.append(path)
    assert (read_values(paths).runs, [*read_values(paths).values]) == (
        ["x", "y"],
        ["F1", "F2"],
    )


def test_columns_that_are_taken_as_measures_are_named(tmp_path: Path) -> None:
    path = as_csv(pd.DataFrame({"query_id": IDS, "map": A, "ndcg": B}), tmp_path)
    message = re.escape("2 runs are needed, not 1 (runs: v; measures: map, ndcg)")
    with pytest.raises(ValueError, match=message):
        irl.compare(values=path)


def test_a_run_without_values_is_named_where_runs_are_missing(tmp_path: Path) -> None:
    path = as_csv(wide().assign(b=np.nan), tmp_path)
    with pytest.raises(ValueError, match=r"not 1 .*The column 'b' has no values"):
        irl.compare(values=path)


@pytest.mark.parametrize("name", ["a_" * 8_000 + "a", "AP_" * 8_000 + "a"])
def test_long_names_are_read_in_time_linear_in_their_length(name: str) -> None:
    before = time.process_time()
    assert measures_of_runs_in([name, "b"]) == []
    assert time.process_time() - before < 5


@pytest.mark.parametrize("names", [("F1", "F2"), ("R1", "R2")])
def test_capitals_with_numbers_stay_measures(names: tuple[str, str]) -> None:
    """A file of one run with ROUGE-1 and ROUGE-2 holds no two runs."""
    frame = pd.DataFrame({"query_id": IDS, names[0]: A, names[1]: B})
    with pytest.raises(ValueError, match="measure"):
        irl.compare(values=frame)
