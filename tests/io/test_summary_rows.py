"""Rows that hold means of the others, and labels of rows, are no data; every other row is a query."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall.io.summary_rows import summary_rows
from ir_lexirecall.io.values import read_collections, read_values

VALUES = pd.DataFrame(
    {"query_id": ["q1", "q2", "q3"], "a": [0.5, 0.4, 0.1], "b": [0.6, 0.7, 0.3]}
)


def with_row(name: str, a: float, b: float, before: bool = False) -> pd.DataFrame:
    row = pd.DataFrame({"query_id": [name], "a": [a], "b": [b]})
    return pd.concat([row, VALUES] if before else [VALUES, row], ignore_index=True)


def as_measures(wide: pd.DataFrame) -> pd.DataFrame:
    """A row per run and query."""
    return wide.melt("query_id", var_name="run", value_name="AP")


def as_rows(wide: pd.DataFrame) -> pd.DataFrame:
    return as_measures(wide).rename(columns={"AP": "value"}).assign(measure="AP")


def by_run(wide: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {
        run: wide[["query_id", run]].rename(columns={run: "AP"}) for run in ("a", "b")
    }


SHAPES = pytest.mark.parametrize(
    "shape", [lambda wide: wide, as_measures, as_rows, by_run]
)
NAMES = [
    "Average", "average", "mean", "Mean", "avg", "AVG", "all", "ALL", "Overall", "overall", "total",
    "macro", "Mean (Task)", "amean", "macro-avg", "Average (3 queries)", "MEAN_OF_ALL",
    "Mean (TaskType)", "Avg (3 datasets)",
]  # fmt: skip


@SHAPES
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("digits", [1, 4, 16])
def test_means_below_a_table_are_no_query(
    name: str, digits: int, shape: Callable[[pd.DataFrame], Any]
) -> None:
    table = read_values(
        shape(with_row(name, round(1 / 3, digits), round(1.6 / 3, digits)))
    )
    assert table.query_ids == ["q1", "q2", "q3"]
    assert table.summaries == (name,)


@SHAPES
@pytest.mark.parametrize("name", ["all", "Average", "overall", "q4"])
@pytest.mark.parametrize("values", [(0.2, 0.9), (1.0, 1.0), (0.3333, 0.6), (0.0, 0.0)])
def test_a_query_by_the_name_of_a_summary_stays(
    name: str, values: tuple[float, float], shape: Callable[[pd.DataFrame], Any]
) -> None:
    table = read_values(shape(with_row(name, *values)))
    assert sorted(table.query_ids) == sorted([name, "q1", "q2", "q3"])
    assert table.summaries == ()
    assert table.doubtful == ((name,) if name != "q4" else ())


def test_a_query_that_is_the_mean_by_chance_stays() -> None:
    level = pd.DataFrame({"query_id": [f"q{i}" for i in range(5)], "a": 0.5, "b": 0.25})
    assert len(read_values(level).query_ids) == 5
    middle = pd.DataFrame(
        {"query_id": ["q1", "q2", "q3"], "a": [0.0, 1.0, 0.5], "b": [0, 1, 0.5]}
    )
    assert len(read_values(middle).query_ids) == 3
    two = pd.DataFrame({"query_id": ["q1", "q2"], "a": [0.5, 0.5], "b": [0.25, 0.25]})
    assert len(read_values(two).query_ids) == 2


def test_a_question_about_an_average_is_no_summary() -> None:
    table = pd.DataFrame(
        {
            "question": [
                "what is the average height?",
                "how high is it in all?",
                "why?",
            ],
            "acc": 1.0,
        }
    )
    found = read_values({"a": table, "b": table})
    assert (len(found.query_ids), found.summaries, found.doubtful) == (3, (), ())


@pytest.mark.parametrize(
    ("n_runs", "digits", "is_known"),
    [(3, 16, True), (2, 3, True), (3, 2, True), (2, 2, True), (2, 1, False)],
)
def test_a_last_row_of_means_is_known_by_its_values_where_these_are_precise(
    n_runs: int, digits: int, is_known: bool
) -> None:
    rng = np.random.default_rng(0)
    runs = list("abc")[:n_runs]
    table = pd.DataFrame(rng.random((20, n_runs)).round(digits), columns=runs)
    table.insert(0, "query_id", [f"q{i:02}" for i in range(20)])
    table.loc[20] = ["Mittel", *table[runs].mean().round(digits)]
    found = read_values(table)
    assert found.summaries == (("Mittel",) if is_known else ())
    first = table.iloc[[20, *range(20)]]
    assert read_values(first).summaries == ()  # not the last row


TWO = [0.5, 0.3, 0.35, 0.2, 0.4], [0.7, 0.4, 0.65, 0.3, 0.5]


@pytest.mark.parametrize(
    ("columns", "last", "is_mean"),
    [
        (TWO, [0.35, 0.51], True),
        (TWO, [0.35, 0.53], False),
        (TWO[:1], [0.35], False),  # one column of two digits
        (([0.5, 0.3, 0.35, 0.2],), [0.3375], True),  # more digits than any other
        (([0.5, 0.3, 0.35, 0.2, 0.42],), [0.354], True),
        (([0.5, 0.3, 0.35, 0.2],), [0.3391], False),
        (([0.5, 0.25],), [0.375], False),  # multiples of 1/8 are precise by chance
        (([0.5, 0.25, 1, 0.75],), [0.625], False),
        (([0.5, 0.1667, 0.3333],), [0.3333], False),  # reciprocal ranks
        (([0.3333, 0.2667, 0.3, 0.4],), [0.325], False),  # P@30, printed as 0.325
        (([0.4321, 0.1234, 0.8765, 0.0012],), [0.3583], True),
        (([0.5], [0.25]), [0.5, 0.25], False),  # two queries
    ],
)
def test_a_last_row_is_of_means_where_one_in_a_thousand_is_by_chance(
    columns: list[list[float]], last: list[float], is_mean: bool
) -> None:
    names = [*(f"q{i}" for i in range(len(columns[0]))), "Mittelwert"]
    runs = {}
    for run, column, mean in zip("ab", columns, last, strict=False):
        runs[run] = pd.DataFrame({"query_id": names, "AP": [*column, mean]})
    table = read_values(runs)
    assert table.summaries == (("Mittelwert",) if is_mean else ())
    assert len(table.query_ids) == len(names) - is_mean


def test_sums_of_counts_are_no_query_either() -> None:
    rows = {"q1": {"AP": 0.25, "num_ret": 10.0}, "q2": {"AP": 0.75, "num_ret": 7.0}}
    total = {**rows, "all": {"AP": 0.5, "num_ret": 17.0}}
    assert read_values({"a": total, "b": total}).query_ids == ["q1", "q2"]


def test_missing_values_do_not_hide_a_summary() -> None:
    table = with_row("Average", 1 / 3, 0.45)
    table.loc[1, "b"] = None
    found = read_values(table, missing="skip")
    assert (found.summaries, found.skipped) == (("Average",), ("q2",))


def test_the_output_says_what_was_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wide = with_row("Average", 0.3333, 0.5333)
    said = (
        "'Average' holds the means, or another statistic, of the other rows: left out."
    )
    result = irl.compare(values=wide)
    assert said in result.summary(full=True)
    assert said in html.unescape(irl.report(result, tmp_path / "page.html").read_text())
    wide.to_csv(tmp_path / "v.csv", index=False)
    assert cli.main(["compare", "--values", str(tmp_path / "v.csv")]) == 0
    assert said in capsys.readouterr().out
    board = wide.rename(columns={"query_id": "task"})
    assert said in irl.benchmark(values=board, by="nDCG@10").summary(full=True)
    both = pd.concat([wide.assign(collection=name) for name in "xy"])
    assert all(len(table.query_ids) == 3 for table in read_collections(both).values())
    stays = irl.compare(values=with_row("all", 0.2, 0.9)).summary(full=True)
    assert (
        "'all' counts as a query: its values are not the means of the others." in stays
    )


# -- labels of rows --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["", "Unnamed: 0", "index", "level_0", "rank", "Index"]
)
@pytest.mark.parametrize("start", [0, 1])
def test_numbers_of_rows_are_no_run(name: str, start: int, tmp_path: Path) -> None:
    table = VALUES.copy()
    table.insert(0, name, range(start, start + 3))
    table.to_csv(tmp_path / "v.csv", index=False)
    for source in (table, pl.DataFrame(table.to_dict("list")), tmp_path / "v.csv"):
        found = read_values(source)
        assert (found.runs, len(found.query_ids)) == (["a", "b"], 3)
        irl.compare(values=source).table()


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "index", "level_0"])
@pytest.mark.parametrize("labels", [[0, 2, 5, 0, 2, 5], [5, 4, 3, 2, 1, 0]])
def test_numbers_of_rows_are_no_measure(
    name: str, labels: list[int], tmp_path: Path
) -> None:
    table = as_measures(VALUES)
    table.insert(0, name, labels)
    table.to_csv(tmp_path / "v.csv", index=False)
    for source in (table, tmp_path / "v.csv"):
        found = read_values(source)
        assert (found.runs, found.measures) == (["a", "b"], ["AP"])


def test_names_of_rows_are_ids(tmp_path: Path) -> None:
    """What `to_csv` and `reset_index` make of an index of queries that has no name."""
    frame = VALUES.set_index("query_id").rename_axis(None)
    frame.to_csv(tmp_path / "v.csv")
    for source in (
        frame,
        frame.reset_index(),
        tmp_path / "v.csv",
        pd.read_csv(tmp_path / "v.csv"),
    ):
        assert read_values(source).query_ids == ["q1", "q2", "q3"]
    topics = frame.set_axis([301, 302, 303])
    topics.to_csv(tmp_path / "t.csv")
    for source in (topics, tmp_path / "t.csv"):
        assert read_values(source).query_ids == ["301", "302", "303"]


def test_an_index_with_a_name_is_a_column() -> None:
    frame = VALUES.set_index("query_id", drop=False)
    assert read_values(frame).query_ids == ["q1", "q2", "q3"]
    frame.index = frame.index[::-1]
    with pytest.raises(
        ValueError, match="'query_id' names an index and another column; rename one"
    ):
        read_values(frame)


BASE = [("q1", 0.5, 0.25), ("q2", 0.25, 0.75), ("q3", 0.75, 0.5)]
STATISTICS = {
    "std": (0.25, 0.25),
    "Std. Dev.": (0.2041, 0.2041),
    "stderr": (0.1443, 0.1443),
    "median": (0.5, 0.5),
    "min": (0.25, 0.25),
    "max": (0.75, 0.75),
    "count": (3, 3),
    "mean ± std": (0.5, 0.5),
    "TOTAL": (1.5, 1.5),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_rows_of_other_statistics_are_no_queries(name: str) -> None:
    rows = [*BASE, (name, *STATISTICS[name])]
    table = read_values(pd.DataFrame(rows, columns=["query_id", "a", "b"]))
    assert (table.query_ids, table.summaries) == (["q1", "q2", "q3"], (name,))
    other = [*BASE, (name, 0.31, 0.62)]
    table = read_values(pd.DataFrame(other, columns=["query_id", "a", "b"]))
    assert (len(table.query_ids), table.doubtful) == (4, (name,))


def test_all_rows_that_pandas_describes_a_table_with_are_left_out() -> None:
    frame = pd.DataFrame(BASE, columns=["query_id", "a", "b"]).set_index("query_id")
    described = frame.describe().drop(index=["25%", "50%", "75%"])
    table = read_values(
        pd.concat([frame, described]).rename_axis("query_id").reset_index()
    )
    assert table.query_ids == ["q1", "q2", "q3"]
    assert set(table.summaries) == {"count", "mean", "std", "min", "max"}


@pytest.mark.parametrize("name", ["mean", "Average", "AVG"])
def test_a_column_of_means_is_no_run(name: str) -> None:
    frame = pd.DataFrame(BASE, columns=["query_id", "a", "b"])
    table = read_values(frame.assign(**{name: frame[["a", "b"]].mean(axis=1)}))
    assert table.runs == ["a", "b"]
    assert table.notes == (
        f"The column {name!r} holds the means of the others: left out.",
    )
    assert read_values(frame.assign(**{name: [0.1, 0.9, 0.4]})).runs == ["a", "b", name]


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("std", {"a": 0.25, "b": 0.125}),
        ("stdev", {"a": 0.25, "b": 0.125}),
        ("median", {"a": 0.5, "b": 0.625}),
        ("sum", {"a": 1.5, "b": 1.875}),
        ("micro sum", {"a": 1.5, "b": 1.875}),
        ("var", {"a": 0.0625, "b": 0.015625}),
    ],
)
def test_a_row_of_another_statistic_is_not_said_to_hold_only_means(
    name: str, row: dict[str, float]
) -> None:
    values = {
        "q1": [0.25, 0.5],
        "q2": [0.5, 0.625],
        "q3": [0.75, 0.75],
        name: [*row.values()],
    }
    frame = pd.DataFrame.from_dict(values, orient="index", columns=["a", "b"])
    frame = frame.rename_axis("query_id").reset_index()
    summary = irl.compare(values=frame).summary(full=True)
    assert "3 queries" in summary
    assert (
        f"'{name}' holds the means, or another statistic, of the other rows" in summary
    )


@pytest.mark.parametrize(
    "name",
    ["row_number", "row_nr", "S. No.", "topic_no", "__index_level_0__", "Unnamed: 0.1"],
)
@pytest.mark.parametrize("shape", [lambda wide: wide, by_run])
def test_columns_that_count_rows_are_no_data(
    name: str, shape: Callable[[pd.DataFrame], Any]
) -> None:
    table = VALUES.copy()
    table.insert(0, name, range(3))
    values = shape(table)
    if isinstance(values, dict):
        values = {run: part.assign(**{name: range(3)}) for run, part in values.items()}
    found = read_values(values)
    assert (found.runs, len(found.query_ids)) == (["a", "b"], 3)
    assert found.measures in (["value"], ["AP"])


def test_a_column_that_counts_the_rows_of_each_run_is_no_measure() -> None:
    table = as_measures(VALUES)
    for numbers in ([1, 2, 3, 1, 2, 3], range(6)):
        assert read_values(table.assign(rank=numbers)).measures == ["AP"]
    ranks = table.assign(mean_rank=[1, 3, 2, 2, 1, 1])
    assert read_values(ranks).measures == ["AP", "mean_rank"]


@pytest.mark.parametrize("name", ["rank", "Position", "no", "#", "S. No."])
def test_a_column_that_counts_rows_is_named(name: str) -> None:
    numbers = [1, 2, 3]
    note = f"The column {name!r} counts the rows: left out."
    assert note in read_values(VALUES.assign(**{name: numbers})).notes
    parts = {
        run: part.assign(**{name: numbers}) for run, part in by_run(VALUES).items()
    }
    assert note in read_values(parts).notes
    alone = {run: part.drop(columns="AP") for run, part in parts.items()}
    with pytest.raises(
        ValueError, match=f"{name!r} counts the rows; if it is a measure, say measures="
    ):
        read_values(alone)
    assert read_values(alone, measures=name).values[name].tolist() == [numbers] * 2
    pair = pd.DataFrame({"query_id": ["q1", "q2"], "yes": [1, 0], name: [0, 1]})
    assert note.replace("3", "2") in read_values(pair).notes


@pytest.mark.parametrize("name", ["task_id", "exampleId", "user uid", "prompt_idx"])
def test_further_ids_are_neither_run_nor_measure(name: str) -> None:
    ids = [7, 3, 5]
    assert read_values(VALUES.assign(**{name: ids})).runs == ["a", "b"]
    parts = {run: part.assign(**{name: ids}) for run, part in by_run(VALUES).items()}
    assert read_values(parts).measures == ["AP"]


@pytest.mark.parametrize("name", ["Average", "mean"])
def test_a_run_of_means_is_no_run_in_any_shape(name: str) -> None:
    wide = VALUES.assign(**{name: VALUES[["a", "b"]].mean(axis=1)})
    dicts = {run: dict(zip(wide["query_id"], wide[run], strict=True)) for run in wide}
    for values in (as_measures(wide), as_rows(wide), {**dicts, "query_id": None}):
        if isinstance(values, dict):
            del values["query_id"]
        found = read_values(values)
        assert found.runs == ["a", "b"]
        assert found.notes == (
            f"The run {name!r} holds the means of the others: left out.",
        )
    two = as_measures(wide[["query_id", "a"]].assign(**{name: wide["a"]}))
    assert read_values(two).runs == ["a", name]
    best = VALUES.assign(max=VALUES[["a", "b"]].max(axis=1))
    assert read_values(as_measures(best)).runs == ["a", "b", "max"]


def test_quantiles_of_pandas_are_no_queries() -> None:
    frame = pd.DataFrame(BASE, columns=["query_id", "a", "b"]).set_index("query_id")
    table = pd.concat([frame, frame.describe()]).rename_axis("query_id").reset_index()
    assert read_values(table).query_ids == ["q1", "q2", "q3"]


PRINTED = ["0,95", "95%", "95.0 %", "0.95*", "**0.95**", "0.95 ± 0.02", "0.95 (0.02)", "3/5"]  # fmt: skip


@pytest.mark.parametrize("text", PRINTED)
@pytest.mark.parametrize("shape", [lambda wide: wide, as_measures, by_run])
def test_numbers_printed_for_readers_do_not_vanish(
    text: str, shape: Callable[[pd.DataFrame], Any], tmp_path: Path
) -> None:
    def spoilt(values: Any) -> Any:
        if isinstance(values, dict):
            return {run: spoilt(part) for run, part in values.items()}
        if "AP" in values:
            return values.assign(nDCG=text)
        return values.assign(c=text)

    values = spoilt(shape(VALUES))
    with pytest.raises(ValueError, match=r"is '.*', not a number"):
        read_values(values)
    if not isinstance(values, dict):
        values.to_csv(tmp_path / "v.csv", index=False)
        with pytest.raises(
            ValueError, match=r"v.csv, line 2: .* is '.*', not a number"
        ):
            read_values(tmp_path / "v.csv")


@pytest.mark.parametrize("text", ["12 monkeys", "2024-01-31", "q1", "a,b", "12:30"])
def test_texts_are_no_printed_numbers(text: str) -> None:
    assert read_values(VALUES.assign(note=text)).runs == ["a", "b"]


@pytest.mark.parametrize("text", ["", "NA", "-", "n/a", "None"])
def test_a_run_without_any_value_is_named(text: str, tmp_path: Path) -> None:
    VALUES.assign(c=text).to_csv(tmp_path / "v.csv", index=False)
    table = read_values(tmp_path / "v.csv")
    assert table.runs == ["a", "b"]
    assert table.notes == ("The column 'c' has no values: left out.",)
    result = irl.compare(values=tmp_path / "v.csv")
    assert "The column 'c' has no values: left out." in result.summary(full=True)


FURTHER = {
    "gmean": lambda x: float(np.exp(np.log(x).mean())),
    "geometric mean": lambda x: float(np.exp(np.log(x).mean())),
    "harmonic mean": lambda x: float(len(x) / (1 / x).sum()),
    "standard deviation": lambda x: float(np.std(x, ddof=1)),
    "N": len,
    "num_q": len,
    "n queries": len,
}


def twelve() -> pd.DataFrame:
    values = np.random.default_rng(0).uniform(0.1, 1, (12, 2)).round(4)
    table = pd.DataFrame(values, columns=["a", "b"])
    table.insert(0, "query_id", [f"n{i}" for i in range(12)])
    return table


@SHAPES
@pytest.mark.parametrize("name", FURTHER)
def test_rows_of_further_statistics_are_no_queries(
    name: str, shape: Callable[[pd.DataFrame], Any]
) -> None:
    table = twelve()
    row = [round(FURTHER[name](table[run]), 4) for run in ("a", "b")]
    for position in (-1, 12):
        with_it = table.copy()
        with_it.loc[position] = [name, *row]
        read = read_values(shape(with_it.sort_index()))
        assert (len(read.query_ids), read.summaries) == (12, (name,))


@pytest.mark.parametrize("name", ["delta", "p-value", "wins", "rank", "diff", "ci"])
def test_rows_of_outcomes_count_and_are_told(name: str) -> None:
    table = twelve()
    table.loc[12] = [name, 0.031, 0.012]
    read = read_values(table)
    assert (len(read.query_ids), read.doubtful) == (13, (name,))
    assert read_values(twelve()).doubtful == ()
    letters = twelve().assign(query_id=list("mnopqrstuvwx"))
    assert read_values(letters).doubtful == ()


@pytest.mark.parametrize("high", [1, 2, 5, 10])
@pytest.mark.parametrize("name", ["all", "mean", "Total"])
def test_a_query_with_a_grade_is_no_mean_of_grades(name: str, high: int) -> None:
    """Whole numbers are exact, so the mean of grades is no other grade."""
    grades = [n % (high + 1) for n in range(20 * (high + 1))][:-1]
    frame = pd.DataFrame({"query_id": [f"q{n}" for n in range(len(grades))]})
    frame = frame.assign(a=grades, b=grades[::-1])
    for value in range(high + 1):
        row = pd.DataFrame({"query_id": [name], "a": [value], "b": [value]})
        table = read_values(pd.concat([frame, row]))
        assert name in table.query_ids
        assert table.doubtful == (name,)
    means = [frame[run].mean() for run in "ab"]
    for digits in (2, 4, 16):
        row = pd.DataFrame({"query_id": [name], "a": means[:1], "b": means[1:]})
        table = read_values(pd.concat([frame, row.round(digits)]))
        assert table.summaries == (name,)


@SHAPES
@pytest.mark.parametrize(("a", "b"), [(0.5, 0.4), (0.5, 0.5), (0.45, 0.4)])
def test_a_query_called_all_beside_a_single_other_one(
    a: float, b: float, shape: Callable[[pd.DataFrame], Any]
) -> None:
    wide = pd.DataFrame({"query_id": ["all", "q1"], "a": [a, 0.4], "b": [b, 0.3]})
    table = read_values(shape(wide))
    assert (table.query_ids, table.doubtful) == (["all", "q1"], ("all",))


@SHAPES
@pytest.mark.parametrize("name", ["Average", "all", "MEAN"])
@pytest.mark.parametrize("lost", ["row", "value"])
def test_a_mean_is_one_where_a_run_has_lost_a_query(
    name: str, lost: str, shape: Callable[[pd.DataFrame], Any]
) -> None:
    """The mean of the run with the gap is that of more values than there are."""
    wide = with_row(name, round(1 / 3, 4), round(1.6 / 3, 4))
    wide.loc[1, "a"] = np.nan
    values = shape(wide)
    if lost == "row" and isinstance(values, dict):
        values = {run: frame.dropna() for run, frame in values.items()}
    elif lost == "row" and "run" in values:
        values = values.dropna()
    table = read_values(values, missing="skip")
    assert (table.query_ids, table.skipped) == (["q1", "q3"], ("q2",))
    assert table.summaries == (name,)
    assert not table.doubtful


@SHAPES
def test_a_query_stays_where_no_run_without_gaps_has_its_mean(
    shape: Callable[[pd.DataFrame], Any],
) -> None:
    wide = with_row("all", round(1 / 3, 4), 0.9)
    wide.loc[1, "a"] = np.nan
    table = read_values(shape(wide), missing="skip")
    assert table.query_ids == ["all", "q1", "q3"]


@SHAPES
@pytest.mark.parametrize("order", [1, -1])
def test_rows_between_queries_are_queries_but_exact_means(
    order: int, shape: Callable[[pd.DataFrame], Any]
) -> None:
    names = ["max", "min", "sum", "all", "any", "len", "abs", "round"]
    a, b = [1, 0, 1, 1, 0, 1, 0, 1], [1, 0, 0, 1, 1, 1, 1, 1]
    functions = pd.DataFrame({"query_id": names, "a": a, "b": b})[::order]
    if order == -1:
        functions = pd.concat([functions.iloc[:1], functions.iloc[:0:-1]])
    for query in (None, "query_id"):
        table = read_values(shape(functions), query=query)
        assert (sorted(table.query_ids), table.summaries) == (sorted(names), ())
    middle = with_row("Average", 1 / 3, 1.6 / 3).iloc[[0, 1, 3, 2]]
    table = read_values(shape(middle))
    assert (table.summaries, table.doubtful) == (("Average",), ())


@SHAPES
def test_a_row_of_means_before_the_queries_is_none(
    shape: Callable[[pd.DataFrame], Any],
) -> None:
    first = read_values(shape(with_row("Average", 1 / 3, 1.6 / 3, before=True)))
    assert (first.query_ids, first.summaries) == (["q1", "q2", "q3"], ("Average",))


def test_means_are_known_where_they_stand_elsewhere_in_another_run() -> None:
    frame = with_row("Average", 1 / 3, 1.6 / 3)
    runs = by_run(frame)
    assert read_values(runs).summaries == ("Average",)
    runs["b"] = runs["b"].iloc[[0, 1, 3, 2]]
    assert read_values(runs).summaries == ("Average",)


SPREADS = ["95% CI", "CI", "95%", "CI 95", "±", "+/-", "ci 95%", "95% CI lower"]


@SHAPES
@pytest.mark.parametrize("name", SPREADS)
@pytest.mark.parametrize("between", [True, False])
def test_an_interval_below_means_is_no_query(
    name: str, between: bool, shape: Callable[[pd.DataFrame], Any]
) -> None:
    table = twelve()
    of_runs = table[["a", "b"]]
    rows = [("Average", *of_runs.mean())]
    if between:
        rows.append(("std", *of_runs.std()))
    rows.append((name, *(1.96 * of_runs.sem())))
    summaries = pd.DataFrame(rows, columns=table.columns)
    read = read_values(shape(pd.concat([table, summaries])))
    assert len(read.query_ids) == 12
    assert read.summaries == tuple(sorted(summaries["query_id"]))
    alone = pd.concat([table, summaries.iloc[-1:]])  # below no means
    assert read_values(shape(alone)).doubtful == (name,)


@pytest.mark.parametrize("name", ["SE", "std err", "std. error", "Standard Error"])
def test_a_standard_error_is_no_query(name: str) -> None:
    table = twelve()
    of_runs = table[["a", "b"]]
    table.loc[12] = ["Average", *of_runs.mean()]
    table.loc[13] = [name, *of_runs.iloc[:12].sem()]
    assert read_values(table).summaries == tuple(sorted(["Average", name]))


@pytest.mark.parametrize("name", ["weighted avg", "Group A mean", "English average"])
def test_means_of_parts_count_and_are_told(name: str) -> None:
    table = twelve()
    means = table[["a", "b"]].mean()
    for at in (11.5, 5.5):
        parts = table.copy()
        parts.loc[at] = [name, 0.31, 0.42]
        parts.loc[20] = ["Average", *means]
        read = read_values(parts.sort_index())
        assert (len(read.query_ids), read.summaries) == (13, ("Average",))
        assert read.doubtful == (name,)
    texts = table.assign(query_id=[f"how to {n}" for n in range(12)])
    texts.loc[12] = ["dow jones average", 0.31, 0.42]
    assert read_values(texts).doubtful == ()


@pytest.mark.parametrize("name", ["std", "max", "best", "Minimum"])
def test_a_column_of_another_statistic_is_not_said_to_hold_means(name: str) -> None:
    frame = twelve()
    statistic = {"best": "max", "Minimum": "min"}.get(name, name)
    frame[name] = frame[["a", "b"]].agg(statistic, axis=1)
    assert read_values(frame).notes == (
        f"The column {name!r} holds what its name says of the others: left out.",
    )


def test_a_last_row_of_means_under_the_name_of_another_statistic_is_none() -> None:
    table = twelve()
    table.loc[12] = ["gmean", *table[["a", "b"]].mean()]
    assert read_values(table).summaries == ("gmean",)


def test_many_rows_with_names_of_summaries_are_queries() -> None:
    """Each was compared with all others, which took minutes for 40,000 rows."""
    names = [f"Mean (Task {n})" for n in range(1_000)]
    values = np.full((1, 2, len(names)), 0.5)  # each is the mean of the others
    order = np.arange(len(names))
    assert summary_rows(values, names, np.stack([order, order[::-1]])) == []
