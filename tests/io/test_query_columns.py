"""Which column names the queries: rows are never paired by their number, in any form of values."""

from __future__ import annotations

import json
import re
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
from ir_lexirecall.io.values import read_collections, read_values

N = 12
ACC = [0.0, 1.0, 0.5] * 4
WORDS = [f"item {i * 7 % N}" for i in range(N)]


def frame(
    column: str = "doc_id", ids: list[Any] | None = None, **more: Any
) -> pd.DataFrame:
    return pd.DataFrame(
        {column: list(range(N)) if ids is None else ids, "acc": ACC, **more}
    )


def turned(table: pd.DataFrame) -> pd.DataFrame:
    """The same rows in another order."""
    return table.sample(frac=1, random_state=1).reset_index(drop=True)


def json_lines(table: pd.DataFrame, path: Path) -> Any:
    table.to_json(path.with_suffix(".jsonl"), orient="records", lines=True)
    return path.with_suffix(".jsonl")


def json_list(table: pd.DataFrame, path: Path) -> Any:
    table.to_json(path.with_suffix(".json"), orient="records")
    return path.with_suffix(".json")


def csv(table: pd.DataFrame, path: Path) -> Any:
    table.to_csv(path.with_suffix(".csv"), index=False)
    return path.with_suffix(".csv")


def tsv(table: pd.DataFrame, path: Path) -> Any:
    table.to_csv(path.with_suffix(".tsv"), index=False, sep="\t")
    return path.with_suffix(".tsv")


def parquet(table: pd.DataFrame, path: Path) -> Any:
    table.to_parquet(path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


FORMS: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "JSON lines": json_lines,
    "JSON": json_list,
    "CSV": csv,
    "TSV": tsv,
    "Parquet": parquet,
    "pandas": lambda table, path: table,
    "records": lambda table, path: table.to_dict("records"),
    "named index": lambda table, path: table.set_index(table.columns[0]),
    "Polars": lambda table, path: pl.DataFrame(table),
    "Arrow": lambda table, path: pa.Table.from_pandas(table, preserve_index=False),
}
FORM = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def equal_item_by_item(values: Any, **options: Any) -> None:
    table = read_values(values, **options)
    assert len(table.query_ids) == N
    for x in table.values.values():
        np.testing.assert_array_equal(x[0], x[1])


@FORM
@pytest.mark.parametrize(
    "column",
    [
        "doc_id",
        "instance_id",
        "sample_id",
        "question_id",
        "id",
        "idx",
        "uid",
        "qid",
        "Query_ID",
    ],
)
def test_a_known_name_pairs_rows_in_any_order(
    form: Callable[..., Any], column: str, tmp_path: Path
) -> None:
    a = frame(column)
    equal_item_by_item(
        {"a": form(a, tmp_path / "a"), "b": form(turned(a), tmp_path / "b")}
    )


@FORM
@pytest.mark.parametrize(
    "ids", [WORDS, [400 + i for i in range(N)], [f"{i:03}" for i in range(N)]]
)
def test_the_only_column_of_ids_pairs_rows(
    form: Callable[..., Any], ids: list[Any], tmp_path: Path
) -> None:
    a = frame("problem", ids, latency=[0.25 * i for i in range(N)], split=["test"] * N)
    equal_item_by_item(
        {"a": form(a, tmp_path / "a"), "b": form(turned(a), tmp_path / "b")}
    )


@FORM
def test_the_user_names_the_column(form: Callable[..., Any], tmp_path: Path) -> None:
    a = frame("n", other=WORDS)
    b = turned(a).assign(other=WORDS)
    parts = {"a": form(a, tmp_path / "a"), "b": form(b, tmp_path / "b")}
    equal_item_by_item(parts, query="n")
    with pytest.raises(
        ValueError, match=r"read_values: .*has no column 'm'.*: it has n, acc, other"
    ):
        read_values(parts, query="m")


@FORM
def test_two_columns_that_could_be_ids_are_refused(
    form: Callable[..., Any], tmp_path: Path
) -> None:
    a = frame("problem", WORDS, answer=[f"answer {i}" for i in range(N)])
    parts = {"a": form(a, tmp_path / "a"), "b": form(turned(a), tmp_path / "b")}
    with pytest.raises(
        ValueError,
        match=r"no column that names queries, such as query_id: it has problem, acc, answer "
        r"\(could be values: acc\); if one of problem, answer does, say so: query='problem'",
    ):
        read_values(parts)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"acc": ACC}),
        pd.DataFrame(
            {"acc": np.linspace(0, 1, N)}
        ),  # a score is no id, although it is unique
        pd.DataFrame({"index": range(N), "acc": ACC}),
        pd.DataFrame({"Unnamed: 0": range(1, N + 1), "acc": ACC}),
        pd.DataFrame({"rank": range(1, N + 1), "acc": ACC}),
        pd.DataFrame({"tokens": range(10, 10 + N), "acc": ACC}),  # in b, other numbers
        pd.DataFrame({"acc": ACC}, index=range(N)[::-1]),
        pd.DataFrame({"acc": ACC}, index=range(10, 10 + N)).iloc[
            ::-1
        ],  # as after df.iloc[10:]
        pd.DataFrame({"index": range(10, 10 + N), "acc": ACC}),
        pd.DataFrame({"answer": [f"{i}" * 3 + "x" for i in range(N)], "acc": ACC}),
    ],
)
@pytest.mark.parametrize("form", [FORMS["pandas"], FORMS["CSV"], FORMS["JSON lines"]])
def test_rows_are_not_paired_by_their_number(
    form: Callable[..., Any], table: pd.DataFrame, tmp_path: Path
) -> None:
    other = table.copy()
    if "tokens" in other:
        other["tokens"] += 1
    if "answer" in other:
        other["answer"] = [f"{text}?" for text in other["answer"]]
    if form is not FORMS["pandas"]:
        table, other = table.reset_index(drop=True), other.reset_index(drop=True)
    parts = {"a": form(table, tmp_path / "a"), "b": form(other, tmp_path / "b")}
    with pytest.raises(
        ValueError, match=r"(no column that names queries|expected a header)"
    ):
        read_values(parts)


def test_an_index_that_was_filtered_is_no_id_where_a_column_is() -> None:
    a = frame("problem", WORDS)
    b = turned(a)
    parts = {
        "a": a.iloc[[0, 2, 5, 7]],
        "b": b[b["problem"].isin(a["problem"][[0, 2, 5, 7]])],
    }
    parts["b"].index = parts["a"].index[::-1]
    table = read_values(parts)
    assert sorted(table.query_ids) == sorted(a["problem"][[0, 2, 5, 7]])
    np.testing.assert_array_equal(*table.values["acc"])


def test_one_missing_row_shifts_nothing(tmp_path: Path) -> None:
    a = frame("problem", WORDS)
    parts = {"a": a, "b": turned(a.drop(index=3))}
    with pytest.raises(
        ValueError, match="of run 'b' for query 'item 9' is missing; add it"
    ):
        read_values(parts)
    table = read_values(parts, missing="skip")
    assert table.skipped == ("item 9",)
    np.testing.assert_array_equal(*table.values["acc"])


@pytest.mark.parametrize(
    "columns", [["sample_id", "model", "accuracy"], ["problem", "run", "acc"]]
)
@pytest.mark.parametrize(
    "form", [form for name, form in FORMS.items() if name != "named index"]
)
def test_one_long_table_of_all_runs(
    form: Callable[..., Any], columns: list[str], tmp_path: Path
) -> None:
    item, run, measure = columns
    a = frame(item, WORDS).rename(columns={"acc": measure})
    table = pd.concat([a.assign(**{run: "a"}), turned(a).assign(**{run: "b"})])
    equal_item_by_item(form(table.reset_index(drop=True), tmp_path / "all"))


def test_texts_that_repeat_are_no_rows() -> None:
    a = pd.DataFrame(
        {"question": ["why?", "why?", "how?"], "faithfulness": [0.1, 0.2, 0.3]}
    )
    with pytest.raises(
        ValueError,
        match=r"row 2, .*of run 'a' for query 'why.' is given twice .first: .*row 1.*keep",
    ):
        read_values({"a": a, "b": a})
    with pytest.raises(
        ValueError, match="if item names the queries, say so: query='item'"
    ):
        read_values(
            {"a": a.assign(item=["x", "y", "z"]), "b": a.assign(item=["x", "y", "z"])}
        )


REPEATS = {
    "filter": (
        ["strict", "flexible"],
        r"keep those of one, such as where={'filter': 'strict'}$",
    ),
    "epoch": (
        [1, 2],
        "say what they are: repeats=.*; to keep one, as where={'epoch': '1'} does",
    ),
    "seed": ([13, 14], "say what they are: repeats=.* hides how much they vary"),
    "prompt_style": (["plain", "chain"], "such as where={'prompt_style': 'plain'}"),
    "dataset": (["x", "y"], "or give them to benchmark as several collections"),
}
NUMBERED = "turn attempt round template k try variant chunk wording pass_no"
REPEATS |= {
    name: ([3, 7], f"such as where={{'{name}': '3'}}$") for name in NUMBERED.split()
}


@FORM
@pytest.mark.parametrize("name", REPEATS)
def test_a_query_that_occurs_twice_is_refused_with_what_tells_its_rows_apart(
    form: Callable[..., Any], name: str, tmp_path: Path
) -> None:
    values, cure = REPEATS[name]
    a = pd.concat([frame(resps=WORDS).assign(**{name: value}) for value in values])
    a = a.reset_index(drop=True)
    with pytest.raises(
        ValueError,
        match=rf"the acc of run 'a' for query '0' is given twice .*rows differ in {name} .*{cure}",
    ):
        read_values({"a": form(a, tmp_path / "a"), "b": form(a, tmp_path / "b")})


@FORM
@pytest.mark.parametrize("name", ["filter", "epoch", "seed", "trial"])
def test_repeated_ids_under_an_unknown_name_are_recognised_at_once(
    form: Callable[..., Any], name: str, tmp_path: Path
) -> None:
    values = ["strict", "flexible"] if name == "filter" else [1, 2]
    a = pd.concat([frame("problem", WORDS).assign(**{name: value}) for value in values])
    parts = {run: form(a.reset_index(drop=True), tmp_path / run) for run in "ab"}
    message = (
        f"each problem has several rows, which {name} tells apart; if problem names the queries, "
        f"say so: query='problem', and keep the rows of one {name}, such as where={{{name!r}: "
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        read_values(parts)
    table = read_values(parts, query="problem", where={name: values[0]})
    assert len(table.query_ids) == N


def _of_two_runs(ids_of_a: list[Any], **columns: Any) -> dict[str, pd.DataFrame]:
    """Return values of two runs with ids under an unknown name; the first run repeats one."""
    a = pd.DataFrame({"thing": ids_of_a, "acc": [0.5, 0.25, 0.125, 0.75], **columns})
    return {
        "a": a,
        "b": pd.DataFrame({"thing": sorted(set(ids_of_a)), "acc": [0.5, 0.25, 0.75]}),
    }


@pytest.mark.parametrize(
    "convert", [lambda table: table, pl.DataFrame, pa.Table.from_pandas]
)
@pytest.mark.parametrize(
    "ids", [["x", "x", "y", "z"], ["x", "y", "z", "x"], [31, 35, 37, 35]]
)
def test_ids_given_twice_under_an_unknown_name_are_named(
    ids: list[Any], convert: Any
) -> None:
    values = {name: convert(table) for name, table in _of_two_runs(ids).items()}
    row = next(i for i, one in enumerate(ids) if one in ids[:i])
    again = f"run 'a', row {row + 1} has '{ids[row]}' again"
    way_out = (
        "if thing names the queries, say so: query='thing', and keep one row of each: "
    )
    with pytest.raises(ValueError, match=re.escape(way_out + again)):
        read_values(values)


def test_ids_given_twice_in_a_long_table_or_the_second_run_are_named(
    tmp_path: Path,
) -> None:
    tables = _of_two_runs(["x", "y", "y", "z"])
    parts = [table.assign(model=name) for name, table in tables.items()]
    long = pd.concat(parts, ignore_index=True)
    for values in (
        long,
        csv(long, tmp_path / "long"),
        json_lines(long, tmp_path / "lines"),
    ):
        with pytest.raises(
            ValueError, match=r"query='thing', and keep one row of each: .*'y' ag"
        ):
            read_values(values)
    with pytest.raises(
        ValueError, match="query='thing', and keep one row of each: run 'a', row 3"
    ):
        read_values({"b": tables["b"], "a": tables["a"]})


def test_repeats_of_a_long_table_under_unknown_names_are_named() -> None:
    rows = [
        (run, item, part)
        for run in "ab"
        for item in "wxyz"
        for part in ("left", "right")
    ]
    long = pd.DataFrame(rows, columns=["model", "thing", "half"]).assign(acc=0.5)
    way_out = "say so: query='thing', and keep the rows of one half, such as where={'half': 'left'}"
    with pytest.raises(ValueError, match=re.escape(way_out)):
        read_values(long)
    assert read_values(long, query="thing", where={"half": "left"}).query_ids == [
        *"wxyz"
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            ACC,
            "run 'a': a list cannot be read, as values are not paired by their position",
        ),
        (
            np.array(ACC),
            "run 'a': a ndarray cannot be read, as values are not paired by",
        ),
        (
            list(zip(WORDS, ACC, strict=True)),
            "run 'a': a list cannot be read, as values",
        ),
        (
            iter(ACC),
            "run 'a': a list cannot be read, as values are not paired by their position",
        ),
        (pd.DataFrame({"acc": ACC}), "run 'a' has no column that names queries"),
        (pd.Series(ACC), "run 'a' has no column that names queries"),
    ],
)
def test_values_without_ids_are_refused(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_values({"a": values, "b": values})


def test_columns_of_runs_need_ids_too(tmp_path: Path) -> None:
    """A column of integers could be a run, unless all others hold fractions, or 0 and 1."""
    wide = pd.DataFrame(
        {"topic no": [301, 302, 305], "a": [0.5, 0.25, 1], "b": [0, 0.5, 0.75]}
    )
    table = read_values(csv(wide, tmp_path / "wide"))
    assert (table.runs, table.query_ids) == (["a", "b"], ["301", "302", "305"])
    counts = pd.DataFrame({"x": [12, 9, 10], "a": [3, 3, 4], "b": [5, 1, 1]})
    with pytest.raises(ValueError, match="if x does, say so: query='x'"):
        read_values(counts)
    assert read_values(counts, query="x").runs == ["a", "b"]
    with pytest.raises(
        ValueError, match="the table of values has no column that names queries"
    ):
        read_values(pd.DataFrame({"sys1": [0.5, 0.25], "sys2": [0.75, 0.5]}))


def test_collections_have_query_columns_of_their_own() -> None:
    rows = frame("problem", WORDS).assign(run="a")
    table = pd.concat([rows, turned(rows).assign(run="b")])
    both = pd.concat([table.assign(collection="x"), table.assign(collection="y")])
    for found in (read_collections(both), read_collections(both, query="problem")):
        assert list(found) == ["x", "y"]
        np.testing.assert_array_equal(*found["y"].values["acc"])
    result = irl.benchmark(values=both.rename(columns={"problem": "n"}), query="n")
    assert len(result["x"].query_ids) == N


def test_groups_and_predicted_values_use_the_same_column() -> None:
    a = frame("n", other=WORDS)
    values = {"a": a, "b": turned(a).assign(other=WORDS)}
    groups = {str(i): "even" if i % 2 == 0 else "odd" for i in range(N)}
    result = irl.compare(values=values, by="acc", query="n", groups=groups)
    assert set(result.group_table()["ties"]) == {N // 2}
    sharpened = irl.compare(values=values, by="acc", query="n", predicted=values)
    assert sharpened.compared.predicted is not None
    assert len(sharpened.compared.predicted.query_ids) == N


@pytest.mark.parametrize("column", ["doc_id", "problem", "query_id"])
@pytest.mark.parametrize("convert", [lambda table: table, pl.DataFrame])
def test_groups_may_be_a_column_beside_any_column_of_queries(
    column: str, convert: Any
) -> None:
    rows = frame(column, WORDS, type=["x", "y"] * (N // 2))
    table = pd.concat(
        [rows.assign(run="a"), turned(rows).assign(run="b")], ignore_index=True
    )
    result = irl.compare(values=convert(table), groups="type")
    assert set(result.group_table()["ties"]) == {N // 2}
    many = irl.benchmark(values=convert(table.assign(collection="c")), groups="type")
    assert set(many.group_table()["ties"]) == {N // 2}


@pytest.mark.parametrize("function", [irl.compare, irl.benchmark])
def test_query_is_about_values(function: Callable[..., Any]) -> None:
    qrels, run = {"q": {"d": 1}}, {"q": {"d": 1.0}}
    with pytest.raises(ValueError, match=f"{function.__name__}: query needs values="):
        function(qrels, {"a": run, "b": run}, query="q")
    with pytest.raises(
        ValueError, match="there is no table with a column 'n'; leave query= out"
    ):
        read_values({"a": {"q": {"AP": 0.5}}}, query="n")


def run(*words: str) -> int:
    return cli.main(list(words))


def test_the_commands_take_the_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = frame("n", other=WORDS)
    files = [
        str(json_lines(a, tmp_path / "a")),
        str(json_lines(turned(a).assign(other=WORDS), tmp_path / "b")),
    ]
    words = ["compare", "--values", *files, "-m", "acc", "--format", "json"]
    assert run(*words, "--query-column", "n") == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["wins"], row["losses"], row["ties"]) == (0, 0, N)
    assert run(*words, "--query-column", "m") == 1
    assert "compare: " in (said := capsys.readouterr().err)
    assert "has no column 'm'" in said
    both = pd.concat([a.assign(run="a", task="x"), turned(a).assign(run="b", task="x")])
    path = str(csv(both.rename(columns={"other": "text"}), tmp_path / "both"))
    assert run("benchmark", path, "--values", "--query-column", "n", "-m", "acc") == 0
    assert run("compare", "q.txt", "a.run", "b.run", "--query-column", "n") == 1
    assert "--query-column needs --values" in capsys.readouterr().err


def test_the_commands_say_how_to_name_the_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = frame("problem", WORDS, answer=[f"answer {i}" for i in range(N)])
    files = [str(csv(a, tmp_path / name)) for name in "ab"]
    assert run("compare", "--values", *files) == 1
    assert "does, say so: --query-column 'problem'" in capsys.readouterr().err


def test_columns_of_ids_that_pair_rows_differently_need_a_choice() -> None:
    a = pd.DataFrame({"id": [7, 5], "question_id": ["p", "q"], "acc": [1, 0]})
    b = pd.DataFrame({"id": [7, 5], "question_id": ["q", "p"], "acc": [1, 0]})
    with pytest.raises(
        ValueError, match="question_id and id pair the rows of runs in different ways"
    ):
        read_values({"a": a, "b": b})
    assert read_values({"a": a, "b": b}, query="id").values["acc"].tolist() == [
        [0, 1],
        [0, 1],
    ]
    counted = [
        frame.assign(id=[1, 2]) for frame in (a, b)
    ]  # counts the rows: no choice
    table = read_values(dict(zip("ab", counted, strict=True)))
    assert table.values["acc"].tolist() == [[1, 0], [0, 1]]


def test_names_of_columns_are_shared_in_any_case(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("ID,acc\n1,1\n2,0\n")
    (tmp_path / "b.csv").write_text("id,acc\n1,0\n2,0\n")
    table = read_values([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert (table.runs, table.measures) == (["a", "b"], ["acc"])


def test_rows_that_nothing_tells_apart_may_be_repeats() -> None:
    rows = [("a", "q1", 0.5), ("a", "q1", 0.25), ("b", "q1", 0.5)]
    table = pd.DataFrame(rows, columns=["run", "query_id", "acc"])
    with pytest.raises(
        ValueError, match=r"given twice .*column such as seed .*repeats="
    ):
        irl.compare(values=table)


COUNTS = ["row_number", "row_nr", "rowid", "lineNo", "S. No.", "seqno", "#", "num"]


@pytest.mark.parametrize("name", [*COUNTS, "__index_level_0__", "Unnamed: 0.1"])
@pytest.mark.parametrize("form", [FORMS["JSON lines"], FORMS["Polars"], FORMS["CSV"]])
def test_numbers_of_rows_by_any_name_pair_nothing(
    form: Callable[..., Any], name: str, tmp_path: Path
) -> None:
    a = frame(name)
    b = turned(a).assign(**{name: range(N)})
    parts = {"a": form(a, tmp_path / "a"), "b": form(b, tmp_path / "b")}
    with pytest.raises(ValueError, match="has no column that names queries"):
        read_values(parts)
    numbered = {run: table.assign(task=WORDS) for run, table in (("a", a), ("b", a))}
    table = read_values(
        {run: form(part, tmp_path / run) for run, part in numbered.items()}
    )
    assert (table.query_column, table.measures) == ("task", ["acc"])


def test_an_index_of_numbers_in_a_parquet_file_pairs_nothing(tmp_path: Path) -> None:
    paths = []
    for name in ("a", "b"):
        table = pd.DataFrame({"acc": ACC}, index=list(range(N)))
        table.to_parquet(tmp_path / f"{name}.parquet")
        paths.append(tmp_path / f"{name}.parquet")
    with pytest.raises(ValueError, match="has no column that names queries"):
        read_values(paths)
    words = pd.DataFrame({"acc": ACC}, index=WORDS)
    words.to_parquet(tmp_path / "a.parquet")
    words.iloc[::-1].to_parquet(tmp_path / "b.parquet")
    equal_item_by_item(paths)


@FORM
@pytest.mark.parametrize("name", ["idx", "id", "query_id", "question_id"])
@pytest.mark.parametrize("text", ["question", "prompt", "title"])
def test_ids_that_count_rows_do_not_contradict_texts(
    form: Callable[..., Any], name: str, text: str, tmp_path: Path
) -> None:
    a = frame(name).assign(**{text: WORDS})
    parts = {"a": form(a, tmp_path / "a"), "b": form(turned(a), tmp_path / "b")}
    equal_item_by_item(parts)
    shifted = turned(a).assign(**{name: range(N)})
    parts["b"] = form(shifted, tmp_path / "c")
    with pytest.raises(
        ValueError,
        match=f"{name} and {text} pair the rows of runs in different ways; say which names the "
        f"queries: query='{text}'$",
    ):
        read_values(parts)
    equal_item_by_item(parts, query=text)


def test_texts_that_runs_do_not_share_contradict_no_ids() -> None:
    a = frame("idx", answer=[f"{i} by a" for i in range(N)])
    b = frame("idx", answer=[f"{i} by b" for i in range(N)])
    assert len(read_values({"a": a, "b": b}).query_ids) == N


@pytest.mark.parametrize("header", ["run,a,b", "run,item", "model,query_id,AP"])
def test_a_header_without_rows_has_no_values(header: str, tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text(f"{header}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"empty\.csv: there are no values in it"):
        read_values(path)


def test_rows_given_twice_under_a_query_column_without_a_name_are_told_apart(
    tmp_path: Path,
) -> None:
    path = tmp_path / "n.csv"
    rows = [f"{query},{name},.1,.2" for query in ("q1", "q2") for name in ("AP", "acc")]
    path.write_text("\n".join([",part,a,b", *rows, ""]))
    with pytest.raises(
        ValueError, match=r"is given twice .*such as where=\{'part': 'AP'\}"
    ):
        read_values(path)


@pytest.mark.parametrize("level", ["item", "part", "score"])
def test_a_level_of_an_index_is_no_run_but_tells_rows_apart(level: str) -> None:
    index = pd.MultiIndex.from_product(
        [["t0", "t1", "t2"], range(10)], names=["query_id", level]
    )
    values = np.random.default_rng(0).random((30, 2))
    frame = pd.DataFrame(values, index, ["a", "b"])
    with pytest.raises(
        ValueError,
        match=rf"value of run 'a' for query 't0' is given twice .*; the rows differ in {level} "
        r"\(0, 1, 2, and 7 more\)",
    ):
        irl.compare(values=frame)
    first = frame.xs(0, level=level, drop_level=False)
    assert list(irl.compare(values=first).runs) == ["a", "b"]
    chosen = irl.compare(values=frame, where={level: 0})
    assert chosen.means()["mean"].tolist() == first.mean().tolist()


@pytest.mark.parametrize("name", ["method", "Method", "retriever", "Approach", "LLM"])
def test_systems_are_not_taken_for_queries(name: str, tmp_path: Path) -> None:
    board = pd.DataFrame(
        {name: ["bm25", "dpr", "ours"], "t1": [0.1, 0.3, 0.4], "t2": [0.5, 0.6, 0.7]}
    )
    for table in (board, csv(board, tmp_path / "board"), pl.DataFrame(board)):
        with pytest.raises(ValueError, match="has no column that names queries"):
            read_values(table)
        assert read_values(table, query=name).runs == ["t1", "t2"]
    long = pd.concat([frame().assign(**{name: run}) for run in ("a", "b")])
    with pytest.raises(
        ValueError, match=rf"if {name} names the runs, say so: run='{name}'"
    ):
        read_values(long.rename(columns={"acc": "AP"}))
    with pytest.raises(ValueError, match=rf"names the runs, say so: run='{name}'"):
        read_values(csv(long, tmp_path / "long"))
    assert read_values(long, run=name).runs == ["a", "b"]


LEADERBOARD = pd.DataFrame(
    {"model": ["m1", "m2", "m3"], "ArguAna": [0.5, 0.4, 0.3], "FiQA": [0.2, 0.3, 0.4]}
)


LABELS = [*("name", "tag", "label", "variant", "experiment", "setup", "Name")]
SYSTEMS = [*("system_name", "run_name", "model_id", "encoder", "System Name")]


@pytest.mark.parametrize(
    "name", ["model", "System", "Method", "run", "retriever", *LABELS, *SYSTEMS]
)
@pytest.mark.parametrize("reader", [read_values, read_collections])
def test_a_leaderboard_with_a_row_per_model_is_to_be_turned(
    name: str, reader: Callable[..., Any], tmp_path: Path
) -> None:
    frame = LEADERBOARD.rename(columns={"model": name})
    for values in (frame, csv(frame, tmp_path / "board")):
        with pytest.raises(
            ValueError, match=rf"turn it, as in frame\.set_index\('{name}'\)"
        ):
            reader(values)
    turned = frame.set_index(name).T.rename_axis("task").reset_index()
    table = read_values(turned)
    assert (table.runs, table.query_ids) == (["m1", "m2", "m3"], ["ArguAna", "FiQA"])


@pytest.mark.parametrize("name", LABELS)
def test_labels_name_queries_of_runs_and_where_it_is_said(name: str) -> None:
    table = LEADERBOARD.rename(columns={"model": name})
    with pytest.raises(ValueError, match=f"if {name} names the queries, say so"):
        read_values(table)
    assert read_values(table, query=name).runs == ["ArguAna", "FiQA"]
    runs = {run: table[[name, run]] for run in ("ArguAna", "FiQA")}
    assert read_values(runs).query_ids == ["m1", "m2", "m3"]


@pytest.mark.parametrize("name", ["tag", "setup", "encoder", "run_name"])
def test_a_run_or_a_measure_may_have_the_name_of_a_label(name: str) -> None:
    table = pd.DataFrame({"query_id": [*"ab"], name: [0.5, 0.25], "dph": [0.5, 0.75]})
    assert read_values(table).runs == [name, "dph"]
    assert read_values(table.assign(run="x")).measures == [name, "dph"]


def test_name_is_that_of_queries_beside_measures(tmp_path: Path) -> None:
    rows = pd.DataFrame({"name": [*"ab"], "AP": [0.5, 0.25], "nDCG@10": [0.5, 0.75]})
    table = read_values(csv(rows, tmp_path / "mine"))
    assert (table.runs, table.query_ids) == (["mine"], ["a", "b"])


@pytest.mark.parametrize("name", ["example_id", "dataset_item_id"])
def test_the_id_of_an_answer_is_not_that_of_its_example(name: str) -> None:
    def run(prefix: str) -> pd.DataFrame:
        ids = [f"{prefix}{n}" for n in range(4)]
        return pd.DataFrame({"id": ids, name: [*"dbca"], "score": [1, 0, 1, 1]})

    table = read_values({"a": run("x"), "b": run("y").iloc[::-1]})
    assert table.query_ids == [*"abcd"]
    assert table.values["score"].tolist() == [[1, 0, 1, 1]] * 2


@pytest.mark.parametrize("name", ["steps", "global_step", "iteration"])
def test_the_log_of_a_training_has_no_queries(name: str, tmp_path: Path) -> None:
    for run in "ab":
        table = pd.DataFrame({"epoch": range(9), name: range(100, 1000, 100)})
        csv(
            table.assign(**{"cosine-MRR@10": [0.1 * n for n in range(9)]}),
            tmp_path / run,
        )
    with pytest.raises(ValueError, match="has no column that names queries"):
        read_values(tmp_path)


@pytest.mark.parametrize("name", ["retrievers", "Methods", "Configuration"])
def test_means_of_systems_are_no_values_of_queries(name: str) -> None:
    means = pd.DataFrame({name: ["x", "y"], "hit_rate": [0.7, 0.8], "mrr": [0.5, 0.6]})
    with pytest.raises(ValueError, match="no column that names queries"):
        read_values(means)


def test_measures_of_any_program_are_no_runs(tmp_path: Path) -> None:
    rows = pd.DataFrame(
        {"query_id": [*"abc"], "hit_rate": [1, 0, 1], "mrr": [1, 0, 0.5]}
    )
    with pytest.raises(
        ValueError, match=r"has columns of measures .* and none of runs"
    ):
        read_values(rows)
    table = read_values(csv(rows, tmp_path / "mine"))
    assert (table.runs, table.measures) == (["mine"], ["hit_rate", "mrr"])


def test_the_id_that_runs_share_is_offered() -> None:
    """As inspect_ai's frame of samples has them: `sample_id` is another one in each log."""
    runs = {
        run: pd.DataFrame(
            {"sample_id": [f"{run}{n}" for n in range(5)], "id": [*"edcba"], "acc": 1}
        )
        for run in "xy"
    }
    with pytest.raises(ValueError, match=r"say which names the queries: query='id'"):
        read_values(runs)


OUTPUTS = [
    "predicted",
    "predictions",
    "output_1",
    "answer_model",
    "generated_text",
    "Output",
]


@pytest.mark.parametrize(
    "name", ["answer", "response", "prediction", "created_at", *OUTPUTS]
)
def test_what_runs_answered_names_no_queries(name: str) -> None:
    """Answers of two runs may be the same ones, to other questions."""
    table = pd.DataFrame({name: [f"x{n}" for n in range(N)], "acc": ACC})
    runs = {"a": table, "b": turned(table)}
    with pytest.raises(ValueError, match="has no column that names queries"):
        read_values(runs)
    assert len(read_values(runs, query=name).query_ids) == N


def test_repeated_questions_are_named_before_what_runs_answered() -> None:
    rows = {"prompt": ["why", *(f"p{n}" for n in range(N - 1))], "acc": ACC}
    table = pd.DataFrame({**rows, "output_1": [f"x{n}" for n in range(N)]})
    table.loc[1, "prompt"] = "why"
    with pytest.raises(
        ValueError, match=r"query='prompt', and keep one .* 'why' again"
    ):
        read_values({"a": table, "b": turned(table)})


def test_a_column_of_queries_without_a_known_name_is_told() -> None:
    def notes(name: str, **options: Any) -> tuple[str, ...]:
        table = pd.DataFrame({name: [f"x{n}" for n in range(N)], "acc": ACC})
        return read_values({"a": table, "b": turned(table)}, **options).notes

    told = "The column 'problem' is taken to name the queries: no other column"
    assert notes("problem")[0].startswith(told)
    assert notes("problem", query="problem") == notes("question_id") == ()
    frame = pd.DataFrame({"a": ACC, "b": ACC}, index=[n * n + 7 for n in range(N)])
    assert read_values(frame).notes[0].startswith("The row labels are taken to name")


def test_any_column_is_unique_where_each_run_has_one_row() -> None:
    """Such as the number of queries in a table of means."""
    means = pd.DataFrame({"run": ["a", "b"], "count": [13, 13], "mean": [0.5, 0.6]})
    with pytest.raises(ValueError, match="no column that names queries"):
        read_values(means)
    assert read_values(means, query="count").query_ids == ["13"]


# -- which file or column is at fault --------------------------------------------------------------


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("other", ["time", "Key", "index", "answer"])
@pytest.mark.parametrize("form", [FORMS["pandas"], FORMS["CSV"], FORMS["JSON lines"]])
def test_the_table_without_the_ids_is_named(
    form: Callable[..., Any], other: str, order: int, tmp_path: Path
) -> None:
    a = frame("key", WORDS)
    ids = {"Key": WORDS, "answer": [f"so {i}" for i in range(N)]}.get(
        other, range(7, 7 + N)
    )
    b = a.drop(columns="key").assign(**{other: ids})
    parts = {"a": form(a, tmp_path / "a"), "b": form(b, tmp_path / "b")}
    lacking, column = "b", "key"
    if order < 0 and other == "Key":
        lacking, column = "a", "Key"
    with pytest.raises(
        ValueError,
        match=rf"{lacking}(\.\w+|') has no column '{column}', which may name the queries of",
    ):
        read_values(dict(list(parts.items())[::order]))


@FORM
@pytest.mark.parametrize("name", ["Question", "user_input", "question_id", "uid"])
@pytest.mark.parametrize(
    ("constant", "value"), [("id", 0), ("idx", "x"), ("sample_id", 7)]
)
def test_an_id_that_is_the_same_everywhere_names_no_queries(
    form: Callable[..., Any], constant: str, value: Any, name: str, tmp_path: Path
) -> None:
    a = frame(name, WORDS)
    a[constant] = value
    equal_item_by_item(
        {"a": form(a, tmp_path / "a"), "b": form(turned(a), tmp_path / "b")}
    )


def test_one_query_with_several_documents_stays_one_query() -> None:
    table = frame("doc_id", WORDS).assign(query_id="q1")
    with pytest.raises(ValueError, match="for query 'q1' is given twice"):
        read_values({"a": table, "b": table})


@pytest.mark.parametrize(
    "name", ["Unnamed: 0", "index", "level_0", "__index_level_0__"]
)
@pytest.mark.parametrize("start", [0, 1])
def test_numbers_of_rows_are_no_way_out(name: str, start: int) -> None:
    table = pd.DataFrame({name: range(start, start + N), "acc": ACC})
    with pytest.raises(ValueError, match="only counts rows; add one") as caught:
        read_values({"a": table, "b": table[::-1]})
    assert "query=" not in str(caught.value)
    ids = table.assign(**{name: [7 * i for i in range(N)]})
    with pytest.raises(ValueError, match=f"if {name} does, say so: query='{name}'"):
        read_values({"a": ids, "b": ids})


def rows_of_measures(names: str = "map ndcg P_5 a_new_one") -> pd.DataFrame:
    """As `pd.DataFrame(evaluator.evaluate(run))` of pytrec_eval has them."""
    index = names.split()
    values = np.random.default_rng(0).random((len(index), 3)).round(3)
    return pd.DataFrame(values, index, ["q1", "q2", "q3"])


@pytest.mark.parametrize("form", ["frames", "columns", "files", "concat", "collection"])
def test_a_row_per_measure_is_to_be_turned(form: str, tmp_path: Path) -> None:
    runs = {"a": rows_of_measures(), "b": rows_of_measures() / 2}
    reader: Callable[..., Any] = read_values
    values: Any = runs
    if form == "columns":
        values = {run: table.reset_index() for run, table in runs.items()}
    elif form == "files":
        values = [tmp_path / f"{run}.csv" for run in runs]
        for path, table in zip(values, runs.values(), strict=True):
            table.to_csv(path)
    elif form == "concat":
        values = pd.concat(runs, names=["run"])
    elif form == "collection":
        reader, values = read_collections, {"c": runs}
    with pytest.raises(
        ValueError, match=r"has a row per measure \(P_5, map, ndcg\), .*; turn it"
    ):
        reader(values)
    columns = {run: table.T for run, table in runs.items()}
    assert read_values(columns).query_ids == ["q1", "q2", "q3"]


@pytest.mark.parametrize("names", ["map q4 q5 q6", "q4 q5", "P-1 P-2 P-3"])
def test_few_queries_called_as_a_measure_is_are_queries(names: str) -> None:
    runs = {"a": rows_of_measures(names), "b": rows_of_measures(names) / 2}
    assert read_values(runs).query_ids == sorted(names.split())


def test_texts_of_queries_may_be_names_of_measures() -> None:
    table = pd.DataFrame({"query": ["time", "recall"], "AP": [0.5, 0.25]})
    assert read_values({"a": table, "b": table}).query_ids == ["recall", "time"]
    labels = table.set_index("query").rename_axis(None)
    assert read_values({"a": labels, "b": labels}).query_ids == ["recall", "time"]


TWICE = [
    *(("query", "topic"), ("query_id", "qid"), ("query_id", "Topic"), ("qid", "topic")),
    *(("question", "number"), ("query_id", "user")),
]


@pytest.mark.parametrize(("query", "further"), TWICE)
@pytest.mark.parametrize("gap", [False, True])
def test_a_second_column_of_ids_is_no_run_and_no_measure(
    query: str, further: str, gap: bool, tmp_path: Path
) -> None:
    rows = {query: ["shoes", "hat", "sea"], further: [351, None if gap else 352, 353]}
    wide = pd.DataFrame({**rows, "bm25": [0.5, 0.3, 0.2], "dph": [0.7, 0.4, 0.3]})
    long = pd.concat([wide.assign(run=run) for run in "ab"])
    for values in (wide, csv(wide, tmp_path / "wide")):
        table = read_values(values)
        assert (table.query_column, table.runs) == (query, ["bm25", "dph"])
        assert f"The column {further!r} holds ids beside {query!r}: left out." in (
            table.notes
        )
    table = read_values(long)
    assert (table.runs, table.measures) == (["a", "b"], ["bm25", "dph"])
    assert table.notes == read_values(wide).notes
    assert read_values(long, measures=["bm25"]).notes == ()


@pytest.mark.parametrize("name", ["topic", "question", "user"])
@pytest.mark.parametrize("values", [[0.5, 0.25, 1], [0, 1, 1]])
def test_fractions_and_flags_by_a_name_of_queries_are_values(
    name: str, values: list[float]
) -> None:
    table = pd.DataFrame({"query_id": [*"abc"], name: values, "dph": [0.7, 0.4, 0.3]})
    assert read_values(table).runs == [name, "dph"]


def test_ids_alone_are_no_values() -> None:
    table = pd.DataFrame({"query": [*"abc"], "topic": [351, 352, 353]})
    runs = {"a": table, "b": table}
    with pytest.raises(ValueError, match="'topic' holds ids; if it is a measure, say"):
        read_values(runs)
    assert read_values(runs, measures=["topic"]).measures == ["topic"]
