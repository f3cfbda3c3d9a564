"""Values from elsewhere: every format gives the same table, and every fault is named with its place and cure."""

from __future__ import annotations

import gzip
import json
import re
import types
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ir_lexirecall as irl
from ir_lexirecall import cli, demo
from ir_lexirecall.io.run_columns import VERDICTS
from ir_lexirecall.io.values import ValueTable, read_collections, read_values
from ir_lexirecall.measures.declaration import REGISTRY

FILES = Path(__file__).parents[1] / "files" / "values"
RUNS, MEASURES = ("bm25", "ql"), ("AP", "P@5")


@pytest.fixture(scope="module")
def expected() -> ValueTable:
    """What our own evaluation of the two demo runs gives."""
    tables = {
        run: irl.evaluate(list(MEASURES), demo.qrels(), demo.run(run)) for run in RUNS
    }
    query_ids = list(tables["bm25"].index)
    return ValueTable(
        list(RUNS),
        query_ids,
        {name: np.array([tables[run][name] for run in RUNS]) for name in MEASURES},
    )


def long_frame(table: ValueTable) -> pd.DataFrame:
    return table.table().melt(
        ["run", "query_id"], var_name="measure", value_name="value"
    )


def assert_same(
    found: ValueTable,
    expected: ValueTable,
    digits: float = 0,
    names: dict[str, str] | None = None,
) -> None:
    assert found.runs == expected.runs
    assert found.query_ids == expected.query_ids
    names = names or {name: name for name in found.measures}
    for theirs, ours in names.items():
        np.testing.assert_allclose(
            found.values[theirs], expected.values[ours], rtol=0, atol=digits
        )


# -- formats -------------------------------------------------------------------------------------------


def test_what_trec_eval_prints_is_read(expected: ValueTable) -> None:
    found = read_values([FILES / f"{run}.trec_eval" for run in RUNS])
    assert found.measures == ["num_rel", "map", "P_5"]
    assert_same(found, expected, 5e-5, {"map": "AP", "P_5": "P@5"})


@pytest.mark.parametrize("ending", ["ir_measures", "jsonl"])
def test_what_ir_measures_prints_is_read(ending: str, expected: ValueTable) -> None:
    assert_same(read_values([FILES / f"{run}.{ending}" for run in RUNS]), expected)


LINES = {
    "tot": "{run}\t{measure}\t{query_id}\t{value!r}",
    "ir_measures": "{run}\t{query_id}\t{measure}\t{value!r}",
    "ranking": "{query_id}\tQ0\t{run}\t0\t{value!r}\t{measure}",
    "blanks": "{run}  {measure} {query_id}   {value!r}",
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_autojudge_formats_hold_several_runs(
    line: str, expected: ValueTable, tmp_path: Path
) -> None:
    mean = float(expected.values["AP"][RUNS.index("ql")].mean())
    rows = [
        *long_frame(expected).to_dict("records"),
        {"run": "ql", "measure": "AP", "query_id": "all", "value": mean},
    ]
    (tmp_path / "values").write_text("".join(line.format(**row) + "\n" for row in rows))
    assert_same(read_values(tmp_path / "values"), expected)


def test_tables_in_files_are_read(expected: ValueTable, tmp_path: Path) -> None:
    frames = {"long": long_frame(expected), "by measure": expected.table()}
    for name, frame in frames.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        frame.to_csv(tmp_path / f"{name}.tsv.gz", index=False, sep="\t")
        frame.to_parquet(tmp_path / f"{name}.parquet")
        frame.to_json(
            tmp_path / f"{name}.jsonl",
            orient="records",
            lines=True,
            double_precision=15,
        )
        frame.to_json(tmp_path / f"{name}.json", orient="records", double_precision=15)
        for ending in ("csv", "tsv.gz", "parquet", "jsonl", "json"):
            assert_same(read_values(tmp_path / f"{name}.{ending}"), expected, 1e-15)


def test_a_file_per_run_may_have_a_column_per_measure(
    expected: ValueTable, tmp_path: Path
) -> None:
    """As ``evaluate`` gives them, or with measures that nobody knows."""
    names = {"AP": "faithfulness", "P@5": "helpfulness"}
    for run in RUNS:
        table = irl.evaluate(list(MEASURES), demo.qrels(), demo.run(run))
        table.to_csv(tmp_path / f"{run}.csv")
        (tmp_path / "own").mkdir(exist_ok=True)
        table.rename(columns=names).to_csv(tmp_path / "own" / f"{run}.csv")
    assert_same(read_values([tmp_path / f"{run}.csv" for run in RUNS]), expected)
    assert_same(read_values({run: tmp_path / f"{run}.csv" for run in RUNS}), expected)
    assert read_values(tmp_path / "ql.csv").runs == ["ql"]
    for own in (
        tmp_path / "own",
        {run: tmp_path / "own" / f"{run}.csv" for run in RUNS},
    ):
        assert_same(
            read_values(own),
            expected,
            names={theirs: ours for ours, theirs in names.items()},
        )
    board = expected.table().pivot(index="query_id", columns="run", values="AP")
    board[["bm25"]].to_csv(tmp_path / "one.csv")
    board[["ql"]].to_csv(tmp_path / "two.csv")  # a column per run, in two files
    assert_same(
        read_values([tmp_path / "one.csv", tmp_path / "two.csv"], measures="AP"),
        expected,
    )


def test_columns_of_measures_of_no_run_are_refused(expected: ValueTable) -> None:
    with pytest.raises(
        ValueError,
        match=r"values has columns of measures .AP, P@5. and none of runs; give .run",
    ):
        read_values(expected.table().drop(columns="run"))


@pytest.mark.parametrize(
    "convert",
    [lambda f: f, pl.DataFrame, pa.Table.from_pandas, lambda f: pl.DataFrame(f).lazy()],
)
@pytest.mark.parametrize("shape", [long_frame, ValueTable.table])
def test_frames_of_any_kind_and_shape(
    convert: Any, shape: Any, expected: ValueTable
) -> None:
    assert_same(read_values(convert(shape(expected))), expected)


def test_views_of_strings_as_arrow_has_them(expected: ValueTable) -> None:
    views = pd.ArrowDtype(pa.string_view())
    assert_same(
        read_values(expected.table().astype({"run": views, "query_id": views})),
        expected,
    )


def test_a_column_per_run(expected: ValueTable) -> None:
    wide = expected.table().pivot(index="query_id", columns="run", values="AP")
    assert_same(read_values(wide, measures="AP"), expected)
    assert read_values(wide).measures == ["value"]


def test_names_of_columns_of_other_frameworks(expected: ValueTable) -> None:
    pyterrier = long_frame(expected).rename(columns={"run": "name", "query_id": "qid"})
    assert_same(read_values(pyterrier), expected)
    lenskit = (
        expected.table()
        .rename(columns={"run": "model", "query_id": "user_id"})
        .set_index(["model", "user_id"])
    )
    assert_same(read_values(lenskit), expected)


def test_a_mapping_of_runs(expected: ValueTable) -> None:
    frames = {
        run: irl.evaluate(list(MEASURES), demo.qrels(), demo.run(run)) for run in RUNS
    }
    assert_same(read_values(frames), expected)
    assert_same(
        read_values({run: frame["AP"] for run, frame in frames.items()}), expected
    )
    assert_same(
        read_values({run: frame.to_dict("index") for run, frame in frames.items()}),
        expected,
    )  # pytrec_eval's
    assert_same(
        read_values({run: FILES / f"{run}.ir_measures" for run in RUNS}), expected
    )
    renamed = {run: frame.rename_axis(None) for run, frame in frames.items()}
    assert_same(read_values(renamed), expected)


def test_recommenders_name_users_by_numbers() -> None:
    cornac = {
        "mf": {"NDCG@10": {0: 0.5, 1: 0.25}},
        "pop": {"NDCG@10": {0: 0.125, 1: 0.0}},
    }
    found = read_values(cornac)
    assert (found.query_ids, found.measures) == (["0", "1"], ["NDCG@10"])
    rectools = {
        run: pd.Series([0.5, 0.25], index=pd.Index([7, 12], name="user_id"))
        for run in ("mf", "pop")
    }
    assert read_values(rectools, measures="value").query_ids == ["12", "7"]


def test_answers_that_are_generated() -> None:
    ragas = {
        run: types.SimpleNamespace(
            to_pandas=lambda value=value: pd.DataFrame(
                {
                    "user_input": ["why?", "how?"],
                    "response": ["a", "b"],
                    "faithfulness": [value, 1.0],
                    "labels": [["x"], []],
                }
            )
        )
        for run, value in {"a": 0.5, "b": 0.25}.items()
    }
    found = read_values(ragas)
    assert (found.query_ids, found.measures) == (["how?", "why?"], ["faithfulness"])
    assert found.values["faithfulness"].tolist() == [[1.0, 0.5], [1.0, 0.25]]
    metric = types.SimpleNamespace(name="Answer Relevancy", score=0.75)
    test = types.SimpleNamespace(name="test_case_0", metrics_data=[metric])
    deepeval = types.SimpleNamespace(test_results=[test])
    assert read_values({"a": deepeval, "b": deepeval}).values[
        "Answer Relevancy"
    ].tolist() == [
        [0.75],
        [0.75],
    ]


def test_a_leaderboard_has_a_value_per_task(tmp_path: Path) -> None:
    board = pd.DataFrame(
        {"task_name": ["SciFact", "NFCorpus"], "e5": [0.7, 0.3], "bge": [0.8, 0.4]}
    )
    found = read_values(board, measures="nDCG@10")
    assert found.per_task
    assert found.query_ids == ["NFCorpus", "SciFact"]
    for model in ("e5", "bge"):
        for task, value in zip(board["task_name"], board[model], strict=True):
            file = tmp_path / model / "no_revision" / f"{task}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            scores = {
                "test": [
                    {"hf_subset": "default", "main_score": value, "ndcg_at_10": value}
                ]
            }
            file.write_text(json.dumps({"task_name": task, "scores": scores}))
    (tmp_path / "e5" / "no_revision" / "model_meta.json").write_text("{}")
    again = read_values(tmp_path)
    assert again.per_task
    assert again.runs == ["bge", "e5"]
    assert again.values["main_score"].tolist() == found.values["nDCG@10"][::-1].tolist()
    assert read_values(tmp_path, measures="ndcg_at_10").measures == ["ndcg_at_10"]
    (tmp_path / "cache").mkdir()
    for model in ("e5", "bge"):
        (tmp_path / model).rename(tmp_path / "cache" / model)
    assert (
        read_values(tmp_path).values["main_score"].tolist()
        == again.values["main_score"].tolist()
    )
    assert read_values(tmp_path).runs == ["bge", "e5"]


def test_several_collections(expected: ValueTable) -> None:
    both = pd.concat([expected.table().assign(dataset=name) for name in ("one", "two")])
    for parts in (both, {"one": expected.table(), "two": expected}):
        tables = read_collections(parts)
        assert list(tables) == ["one", "two"]
        assert_same(tables["two"], expected)
    with pytest.raises(
        ValueError, match=r"collection 'two': .*AP of run 'b' for query 'q' is missing"
    ):
        read_collections(
            {
                "one": expected,
                "two": {"a": {"q": {"AP": 1}, "r": {"AP": 1}}, "b": {"r": {"AP": 1}}},
            }
        )


# -- bad input -----------------------------------------------------------------------------------------


def records(**change: Any) -> list[dict[str, Any]]:
    rows = [
        {"run": r, "query_id": q, "measure": m, "value": 0.5}
        for r in "ab"
        for q in ("q1", "q2")
        for m in ("AP", "RR")
    ]
    rows[3].update(change)  # a, q2, RR
    return [row for row in rows if row["value"] != "gone"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"value": "gone"},
            "the RR of run 'a' for query 'q2' is missing; add it, or .*missing='skip' to leave out 1 of 2",
        ),
        ({"value": float("nan")}, "the RR of run 'a' for query 'q2' is missing"),
        (
            {"query_id": "q1"},
            "line 4: the RR of run 'a' for query 'q1' is given twice .*line 2.*; keep one",
        ),
        ({"value": "high"}, "line 4: value is 'high', not a number"),
        (
            {"value": 1.5},
            "line 4: the RR of run 'a' for query 'q2' is 1.5; its values lie between 0 and 1",
        ),
        (
            {"value": float("inf")},
            "line 4: the RR of run 'a' for query 'q2' is inf; leave it out",
        ),
        ({"run": None}, "line 4: there is no run; add a column run"),
        ({"query_id": None}, "line 4: there is no query_id"),
    ],
)
def test_a_bad_cell_is_named(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "values.jsonl"
    path.write_text("\n".join(map(json.dumps, records(**change))))
    with pytest.raises(
        ValueError, match=f"read_values: {path}.*{message}|read_values: {message}"
    ):
        read_values(path)
    with pytest.raises(ValueError, match=message.replace("line", "row")):
        read_values(pd.DataFrame(records(**change)))


def test_of_values_given_twice_the_first_one_is_named() -> None:
    rows = pd.DataFrame(
        [{"run": "a", "query_id": q, "AP": 0.5} for q in ("q1", "q2", "q2", "q1", "q1")]
    )
    with pytest.raises(
        ValueError,
        match=r"row 3.*'q2' is given twice .first: row 2.* .and 2 other cases.",
    ):
        read_values(rows)


def test_what_this_library_wrote_is_read(tmp_path: Path) -> None:
    measures = [
        str(measure)
        for measure in dict.fromkeys(REGISTRY.values())
        if not measure.params and measure.NAME != "TOMA"
    ]
    measures = [
        name
        for name in measures
        if not any(p.required for p in REGISTRY[name].SUPPORTED_PARAMS.values())
    ]
    qrels = {
        q: {d: 3 * grade for d, grade in docs.items()}
        for q, docs in demo.qrels()
        .groupby("query_id")
        .apply(lambda rows: dict(zip(rows["doc_id"], rows["relevance"], strict=True)))
        .items()
    }
    wanted = [
        "RBP",
        "RBP(rel=1)",
        *(
            name
            for name in measures
            if name not in ("SL3", "RE", "WSS", "ATD", "RecallLoss", "LastRel", "ERF")
        ),
    ]
    tables = {run: irl.evaluate(wanted, qrels, demo.run(run)) for run in RUNS}
    assert read_values(tables).measures == wanted
    assert max(tables["bm25"]["RBP"]) > 1
    assert min(tables["bm25"]["RBU"]) < 0


@pytest.mark.parametrize(
    ("measure", "value", "message"),
    [
        ("GERR(max_rel=2)@10", 57.0, "between 0 and 1: divide percentages"),
        (
            "RBU@10",
            1.5,
            "its values are at least -0.473.* and at most 0.99; is it another measure",
        ),
        ("nDCG_JK", 1.1, "between 0 and 1"),
        ("SL3", -1.0, "its values are at least 0; is it"),
        ("f1", -3.0, "its values are at least 0; is it"),
        ("exact match", -1.0, "its values are at least 0; is it"),
        ("precision", 57.0, "between 0 and 1: divide"),
        ("precision", 100.0, "between 0 and 1: divide"),
        ("precision", 100.5, "between 0 and 1: is it another measure"),
        (
            "accuracy",
            -0.043,
            "between 0 and 1: is it another measure. Call it otherwise$",
        ),
        ("nDCG@10", -5.0, "between 0 and 1: is it another measure"),
        ("AP", 157.0, "between 0 and 1: is it another measure"),
    ],
)
def test_a_value_out_of_the_range_of_its_measure_is_refused(
    measure: str, value: float, message: str
) -> None:
    with pytest.raises(
        ValueError,
        match=f"the {re.escape(measure)} of run 'a' for query 'q' is .*{message}",
    ):
        read_values({"a": {"q": {measure: value}}})


def test_queries_that_lack_a_value_can_be_skipped() -> None:
    table = read_values(pd.DataFrame(records(value="gone")), missing="skip")
    assert (table.query_ids, table.skipped) == (["q1"], ("q2",))
    with pytest.raises(ValueError, match="no query has all values"):
        read_values({"a": {"q": {"AP": 1.0}}, "b": {"r": {"AP": 1.0}}}, missing="skip")
    with pytest.raises(
        ValueError, match="unknown missing 'drop'; choose from error, skip"
    ):
        read_values({}, missing="drop")


def test_a_file_of_trec_eval_may_begin_with_the_name_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "bm25.eval"
    path.write_text("runid\tall\tbm25\nmap\tq1\t0.5\nmap\tq2\t0.25\nmap\tall\t0.375\n")
    assert read_values(path).values["map"].tolist() == [[0.5, 0.25]]


PRINTED_OF_QUERIES = "map\tall\t0.9000\nmap\tq1\t0.5000\nmap\tq2\t0.1000\n"
PRINTED_OVER_QUERIES = {
    "trec_eval": "runid\tall\tbm25\nnum_q\tall\t3\nmap\tall\t0.5000\ngm_map\tall\t0.3557\n",
    "trec_eval -m map": "map\tall\t0.5000\n",
    "trec_eval -c": "map\tall\t0.3750\n",
    "no summary": "",
}


@pytest.mark.parametrize("program", PRINTED_OVER_QUERIES)
@pytest.mark.parametrize("form", ["lines", "fields", "records"])
def test_a_query_called_all_is_no_row_over_all_queries(
    program: str, form: str, tmp_path: Path
) -> None:
    text = PRINTED_OF_QUERIES + PRINTED_OVER_QUERIES[program]
    fields = [line.split("\t") for line in text.splitlines()]
    if form == "fields":  # of ir_measures
        text = "".join(f"{query}\t{name}\t{value}\n" for name, query, value in fields)
    if form == "records":
        values = [
            {"query_id": query, "measure": name, "value": float(value)}
            for name, query, value in fields
            if name != "runid"
        ]
        text = "".join(f"{json.dumps(value)}\n" for value in values)
    path = tmp_path / "bm25.irm"
    path.write_text(text)
    table = read_values(path)
    assert dict(zip(table.query_ids, table.values["map"][0], strict=True)) == {
        "all": 0.9,
        "q1": 0.5,
        "q2": 0.1,
    }


@pytest.mark.parametrize(
    "over_queries",
    [
        "map\tall\t0.3000\n",
        "map\tall\t0.2000\n",  # trec_eval -c, with a query that the run lacks
        "map\tall\t0.3\n",
        "num_rel\tall\t9\n",
        "num_q\tall\t2\nmap\tall\t0.7777\n",
        "gm_map\tall\t0.2236\n",
        "map\tall\tnan\n",
        "",
    ],
)
def test_rows_over_all_queries_are_no_query(over_queries: str, tmp_path: Path) -> None:
    path = tmp_path / "bm25.eval"
    path.write_text(
        "map\tq1\t0.5000\nnum_rel\tq1\t4\nmap\tq2\t0.1000\nnum_rel\tq2\t5\n"
        f"{over_queries}"
    )
    assert read_values(path).query_ids == ["q1", "q2"]


def test_skipping_everything_is_not_offered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = ({f"{name}{i}": {"AP": 0.5} for i in range(80)} for name in ("a", "b"))
    for options in ({}, {"missing": "skip"}):
        with pytest.raises(
            ValueError,
            match=r"no query has all values; do all runs name the same queries\? "
            r"One has 'a0', another 'b0'\. The query of x 'a0' and .* y 'b0' are the same without",
        ):
            read_values({"x": a, "y": b}, **options)
    paths = []
    for run, values in {"x": a, "y": b}.items():
        paths.append(str(tmp_path / f"{run}.json"))
        Path(paths[-1]).write_text(json.dumps(values))
    assert cli.main(["compare", "--values", *paths]) == 1
    assert "80 of" not in capsys.readouterr().err


FLAGS = [True, False, True, None]


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "jsonl", "parquet"])
@pytest.mark.parametrize("names", ["by measure", "by run", "long"])
def test_true_and_false_are_values(ending: str, names: str, tmp_path: Path) -> None:
    wide = pd.DataFrame(
        {"query_id": list("wxyz"), "a": FLAGS, "b": [False, False, True, None]}
    )
    wide = wide.iloc[:3].astype({"a": bool, "b": bool})
    long = wide.melt("query_id", var_name="run", value_name="value")
    tables = {
        "by run": wide,
        "by measure": long.rename(columns={"value": "correct"}),
        "long": long.assign(measure="correct"),
    }
    path = write_table(tables[names], tmp_path / f"values.{ending}")
    for source in (path, tables[names], pl.DataFrame(tables[names])):
        table = read_values(source)
        assert table.values[table.measures[0]].tolist() == [[1, 0, 1], [0, 0, 1]]


def test_true_and_false_in_dicts_and_lower_case(tmp_path: Path) -> None:
    table = read_values({"a": {"q": {"pass": True}}, "b": {"q": {"pass": False}}})
    assert table.values["pass"].tolist() == [[1.0], [0.0]]
    path = tmp_path / "v.csv"
    path.write_text("query_id,run,correct\nx,a,true\ny,a,FALSE\n")
    assert read_values(path).values["correct"].tolist() == [[1.0, 0.0]]
    path.write_text("query_id,run,correct\nx,a,yes\ny,a,no\n")
    with pytest.raises(
        ValueError,
        match=r"no column holds numbers: 'correct' has 'yes' .*; write 0 and 1$",
    ):
        read_values(path)


@pytest.mark.parametrize(
    ("labels", "way_out"),
    [
        (("C", "I"), "write 0 and 1"),  # as inspect_ai writes them
        (("correct", "incorrect"), "write 0 and 1"),
        (("C", "I", "P"), "write numbers as 0.5"),
        (("high", "low"), "write 0 and 1"),  # no verdicts that are known
        (tuple(sorted(VERDICTS)), "write numbers as 0.5"),
    ],
)
@pytest.mark.parametrize("is_long", [True, False])
def test_the_column_that_stands_for_values_is_named_of_several_texts(
    labels: tuple[str, ...], way_out: str, is_long: bool
) -> None:
    rows = []
    for model in ("gpt", "claude"):
        for i in range(36):
            label = labels[i % len(labels)]
            rows.append(("e" + model, f"s{i}", model, i, 1, "note", label))
    columns = ["eval_id", "sample_id", "model", "id", "epoch", "kind", "score_match"]
    long = pd.DataFrame(rows, columns=columns)
    values: Any = long
    if not is_long:
        values = dict(list(long.groupby("model", sort=False)))
    with pytest.raises(
        ValueError,
        match=rf"no column holds numbers: 'score_match' has '{labels[0]}' .*; {way_out}$",
    ):
        irl.compare(values=values)


def test_mixed_measures_are_refused() -> None:
    mixed = {"a": {"q": {"AP": 0.5, "RR": 1.0}}, "b": {"q": {"AP": 0.25}}}
    with pytest.raises(
        ValueError,
        match=r"^read_values: values: run 'b' has no values of RR; all have AP: name what to take",
    ):
        read_values(mixed)
    assert read_values(mixed, measures=["AP"]).values["AP"].tolist() == [[0.5], [0.25]]
    with pytest.raises(ValueError, match="no values of 'nDCG'; there are AP, RR"):
        read_values(mixed, measures="nDCG")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there are no values in it"),
        ("map all 0.5\n", "values over all queries only; ask for values per query"),
        (
            "map q1 0.5\nmap q2\n",
            "line 2: 2 fields where a line has measure, query, value",
        ),
        (
            "map q1 0.5\nmap q2 0.x\n",
            "line 2: the map of query 'q2' is '0.x', not a number",
        ),
        ("run,query_id,AP\na,q,0.5\na\n", "line 3: 1 field where 3 are expected"),
        ("run,query_id,AP,AP\na,q,0.5,1\n", "the header names 'AP' twice"),
        ('run,query_id,AP\na,"q,0.5\n', "line 2: a quotation mark is not closed"),
        (
            "run,query_id,text\na,q,good\n",
            r"no column holds numbers: 'text' has 'good' .*line 2.; write 0 and 1$",
        ),
        ("a,b,c\n1,2,3\n", "line 1: expected a header with query_id"),
        ("x y 1\ny x 2\n", "which field is the measure, 'x' or 'y', is unclear"),
        (
            '{"run": "a"}\n{"run": \n',
            "line 2: taken for JSON, but it ends within a value",
        ),
        ("run,query_id,AP\n", "there are no values in it: it has run, query_id, AP"),
        (
            "run;query_id;AP\na;q;0,5\n",
            "'AP' has '0,5' .*line 2.; write numbers as 0.5",
        ),
        ("{}", "there are no values in it"),
        (
            '{"q": {"AP": 1' + "0" * 400 + "}}",
            "the AP of run 'values' for query 'q' is inf; leave it out",
        ),
        (
            '[{"run": "a", "query_id": "q", "AP": 0.1}, {"run": "b", "query_id": "q", "AP": 1'
            + "0" * 400
            + "}]",
            "record 2, column 'AP': the AP of run 'b' for query 'q' is inf; leave it out",
        ),
        (
            '[{"run": "a",\n"query_id": "q",\n"AP": 0.1},\n{"run"',
            "line 4: taken for JSON, but",
        ),
        ('{"q": {"AP": 0.1}, "q": {"AP": 0.9}}', "'q' occurs twice in one JSON object"),
        (
            '{"run": "a", "query_id": "q", "AP": 0.1, "AP": 0.2}\n{"run": "b", "query_id": "q", "AP": 0.1}',
            "'AP' occurs twice",
        ),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        (
            "map q1 0.25\nmap q2 0.3",
            "line 2: the file ends with the number .*, without an end of line",
        ),
        (
            "run,query_id,AP\na,q1,0.5\na,q2,0.2",
            "line 3: the file ends with the number 0.2, without an end",
        ),
        ("[1, 2]", "expected objects with run, query_id, measure and value"),
    ],
)
def test_a_damaged_file_is_named(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "values.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"read_values: {path}.*{message}"):
        read_values(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"task_name": "T", "scores": [1]},
            "there are no scores in it; run the task again",
        ),
        (
            {"task_name": "T", "scores": {"test": [{"ndcg": 1}]}},
            "no number 'main_score' for the split 'test'; its numbers are ndcg",
        ),
        (
            {"mteb_dataset_name": "T", "test": {"ndcg": 1}},
            "model/revision/T.json: written by MTEB before version 1.11; load it",
        ),
        (None, "it has neither files of values nor results of MTEB"),
    ],
)
def test_other_results_of_mteb_are_refused(
    content: Any, message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "model" / "revision").mkdir(parents=True)
        (tmp_path / "model" / "revision" / "T.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=f"^read_values: {tmp_path}.*{message}"):
        read_values(tmp_path)


@pytest.mark.parametrize("empty", [{}, pd.DataFrame({"query_id": [], "AP": []})])
def test_a_run_without_values_is_not_lost(empty: Any) -> None:
    with pytest.raises(ValueError, match="run 'b' has no values; leave it out"):
        read_values({"a": {"q": {"AP": 0.5}}, "b": empty})


@pytest.mark.parametrize("values", [3, [], {}, ["a.txt", 3], {"a": 3}])
def test_what_is_no_table_of_values_is_refused(values: Any) -> None:
    with pytest.raises(
        ValueError,
        match=r"read_values: (values|run).*(cannot be read|no values|not a number)",
    ):
        read_values(values)


def write_table(frame: pd.DataFrame, path: Path) -> Path:
    """A table as a file, in the format of its ending."""
    match path.suffixes[0]:
        case ".parquet":
            frame.to_parquet(path)
        case ".jsonl":
            frame.to_json(path, orient="records", lines=True)
        case ending:
            frame.to_csv(path, sep="\t" if ending == ".tsv" else ",", index=False)
    return path


COLUMNS = ["collection", "query_id", "run", "AP"]
TABLES = pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "jsonl", "parquet"])


@TABLES
def test_collections_are_a_column_of_a_file_too(ending: str, tmp_path: Path) -> None:
    """Also where their ids are what tables of numbers take for gaps."""
    ids = ("NA", "null", "None", "nan", "2011")
    rows = [
        (c, q, run, 0.1 * i)
        for c in ids
        for q in ("01", "02")
        for i, run in enumerate(("a", "b"))
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    found = read_collections(write_table(frame, tmp_path / f"values.{ending}"))
    assert list(found) == list(ids)
    assert all(table.query_ids == ["01", "02"] for table in found.values())
    assert (
        found["null"].values["AP"].tolist()
        == read_collections(frame)["null"].values["AP"].tolist()
    )


@TABLES
def test_rows_without_a_collection_are_refused(ending: str, tmp_path: Path) -> None:
    rows = [
        ("c", "01", "a", 0.1),
        (None, "01", "b", 0.2),
        ("c", "02", "a", 0.1),
        (None, "02", "b", 0.2),
    ]
    path = write_table(
        pd.DataFrame(rows, columns=COLUMNS), tmp_path / f"values.{ending}"
    )
    place = {"jsonl": "line 2", "parquet": "row 2"}.get(ending, "line 3")
    with pytest.raises(
        ValueError,
        match=rf"^read_collections: {path}, {place}: there is no collection .and 1 other case.; add it",
    ):
        read_collections(path)


@TABLES
def test_a_bad_cell_of_a_collection_is_named_by_its_place_in_the_file(
    ending: str, tmp_path: Path
) -> None:
    rows = [(c, "01", run, 0.1) for c in ("c", "d") for run in ("a", "b")]
    rows[3] = ("d", "01", "b", 7.0)
    frame = pd.DataFrame(rows, columns=COLUMNS)
    path = write_table(frame, tmp_path / f"values.{ending}")
    place = {"jsonl": "line 4", "parquet": "row 4"}.get(ending, "line 5")
    with pytest.raises(
        ValueError,
        match=rf"collection 'd': {path}, {place}, column 'AP': .* is 7; its values lie",
    ):
        read_collections(path)
    with pytest.raises(ValueError, match=r"collection 'd': row 4, column 'AP'"):
        read_collections(frame)


@pytest.mark.parametrize(
    "content", [b"", b"collection,query_id,run,AP\nc,q,a\n", b"\xff\xfe\x00", b"PAR1"]
)
def test_a_damaged_file_of_collections_is_refused_by_its_name(
    content: bytes, tmp_path: Path
) -> None:
    for ending in ("csv", "parquet"):
        path = tmp_path / f"values.{ending}"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=f"^read_collections: {path}"):
            read_collections(path)


def test_two_files_of_one_name_need_names(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for path in (tmp_path / "bm25.txt", tmp_path / "a" / "bm25.txt"):
        path.write_text("map q1 0.5\n")
    with pytest.raises(
        ValueError,
        match="two files are called 'bm25'; rename one, or name them in Python",
    ):
        read_values([tmp_path / "bm25.txt", tmp_path / "a" / "bm25.txt"])


def test_a_file_or_folder_given_twice_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bm25.txt"
    path.write_text("map q1 0.5\n")
    for one, other in (
        (path, f"{tmp_path}/../{tmp_path.name}/bm25.txt"),
        (tmp_path,) * 2,
    ):
        with pytest.raises(ValueError, match=f"{one} is given twice; give it once"):
            read_values([one, other])
        assert cli.main(["compare", "--values", str(one), str(other)]) == 1
        assert f"{one} is given twice; give it once" in capsys.readouterr().err


def test_a_file_without_collections_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "values.txt"
    path.write_text("map q1 0.5\n")
    with pytest.raises(
        ValueError,
        match=f"^read_collections: {path} has no column that names collections; add a column",
    ):
        read_collections(path)


@pytest.mark.parametrize(
    ("name", "text", "looks"),
    [
        (
            "bm25.run",
            "q1 Q0 d1 1 2.0 bm25\nq1 Q0 d2 2 1.0 bm25\nq2 Q0 d3 1 1.0 bm25\nq2 Q0 d4 2 0.5 bm25\nq3 Q0 d5 1 0.1 bm25\nq3 Q0 d6 2 0.1 bm25\n",
            "a run",
        ),
        ("one.run", "q1 Q0 d1 1 2.0 bm25\nq1 Q0 d2 2 1.0 bm25\n", "a run"),
        ("bm25.csv", "query_id,doc_id,score\nq1,d1,2.0\n", "a run"),
        ("qrels.txt", "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n", "qrels"),
    ],
)
def test_runs_and_qrels_are_not_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, text: str, looks: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(
        ValueError,
        match=rf"{name}: this looks like {looks}; leave out values= and give qrels and runs",
    ):
        read_values(tmp_path / name)
    assert cli.main(["compare", "--values", str(tmp_path / name)]) == 1
    assert capsys.readouterr().err.endswith(
        f"{name}: this looks like {looks}; omit --values and give qrels and runs\n"
    )


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "frame"])
@pytest.mark.parametrize(
    "form", ["column per run", "row per value", "column per measure"]
)
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([True, 0.5, False, 1], [1.0, 0.5, 0.0, 1.0]),
        (["true", "0.5", "false", "0"], [1.0, 0.5, 0.0, 0.0]),
        (["TRUE", "FALSE", "0.25", "1e-1"], [1.0, 0.0, 0.25, 0.1]),
        (["True", "0", "1", "False"], [1.0, 0.0, 1.0, 0.0]),
    ],
)
def test_true_and_false_may_stand_among_numbers(
    flags: list[Any], expected: list[float], form: str, ending: str, tmp_path: Path
) -> None:
    if ending == "parquet":  # whose columns have a type
        flags = [str(flag) for flag in flags]
    items = list("wxyz")
    if form == "column per run":
        frame = pd.DataFrame({"item": items, "a": flags, "b": flags}, dtype=object)
    else:
        rows = {"item": items * 2, "run": ["a"] * 4 + ["b"] * 4, "acc": flags * 2}
        frame = pd.DataFrame(rows, dtype=object)
    if form == "row per value":
        frame = frame.rename(columns={"acc": "value"}).assign(measure="acc")
    source: Any = frame
    if ending != "frame":
        source = tmp_path / f"values.{ending}"
    if ending in ("csv", "tsv"):
        frame.to_csv(source, index=False, sep="," if ending == "csv" else "\t")
    elif ending == "jsonl":
        frame.to_json(source, orient="records", lines=True)
    elif ending == "parquet":
        frame.to_parquet(source)
    table = read_values(source)
    (values,) = table.values.values()
    assert values.tolist() == [expected, expected]
    assert (table.runs, table.query_ids) == (["a", "b"], items)


@pytest.mark.parametrize(
    ("first", "other", "form"),
    [
        ("caf\u00e9", "cafe\u0301", "one Unicode form"),
        ("001", "1", "zeros"),
        ("Q1", "q1", "case"),
    ],
)
@pytest.mark.parametrize("shared", [0, 3])
def test_ids_that_nearly_meet_are_shown(
    first: str, other: str, form: str, shared: int
) -> None:
    both = {f"x{i}": {"AP": 0.5} for i in range(shared)}
    runs = {"a": {**both, first: {"AP": 0.5}}, "b": {**both, other: {"AP": 0.5}}}
    with pytest.raises(
        ValueError, match=f"The query of a .* and the query of b .*{form}"
    ):
        read_values(runs)


# -- shapes of JSON, of columns of pandas, and of Excel --------------------------------------------

AB = {"a": {"q1": 0.5, "q2": 0.25, "q3": 1.0}, "b": {"q1": 0.75, "q2": 0.5, "q3": 0.0}}


def assert_ab(table: ValueTable, measure: str = "AP") -> None:
    assert (table.runs, table.query_ids) == (["a", "b"], ["q1", "q2", "q3"])
    assert table.values[measure].tolist() == [[*AB["a"].values()], [*AB["b"].values()]]


@pytest.mark.parametrize(
    "measures", [["AP"], ["AP", "nDCG@10"], ["map", "ndcg_cut_10"]]
)
def test_json_by_measure_is_not_read_as_if_by_query(
    measures: list[str], tmp_path: Path
) -> None:
    for run, values in AB.items():
        by_measure = dict.fromkeys(measures, values)
        (tmp_path / f"{run}.json").write_text(json.dumps(by_measure))
    table = read_values(tmp_path)
    assert table.measures == measures
    assert_ab(table, measures[0])
    mapping = {run: {"AP": values} for run, values in AB.items()}
    assert_ab(read_values(mapping))


RANX = (
    "mrr mrr@10 precision@5 recall@100 hit_rate@10 f1@5 r-precision hits@5 map@100 dcg@10 "
    "ndcg_burges rbp.95 score accuracy ndcg@10 ndcg@10-l2"
)


@pytest.mark.parametrize("measures", [*zip(RANX.split()), ("map", "ndcg@10")])
def test_scores_by_measure_as_ranx_has_them(
    measures: tuple[str, ...], tmp_path: Path
) -> None:
    runs = {run: dict.fromkeys(measures, values) for run, values in AB.items()}
    table = read_values(runs)
    assert table.measures == [*measures]
    assert_ab(table, measures[0])
    for run, values in runs.items():
        (tmp_path / f"{run}.json").write_text(json.dumps(values))
    assert_ab(read_values(tmp_path), measures[0])


def test_a_query_by_the_name_of_a_measure_is_one_of_ranx_too() -> None:
    values = {"ndcg@10": {"map": 0.5, "q1": 0.25}}
    assert read_values({"a": values, "b": values}).query_ids == ["map", "q1"]


def test_a_query_by_the_name_of_a_measure_stays_one() -> None:
    values = {"P@5": {"AP": 0.5, "RR": 1.0}, "map": {"AP": 0.25, "RR": 0.5}}
    assert read_values({"a": values, "b": values}).query_ids == ["P@5", "map"]


@pytest.mark.parametrize("name", ["metrics", "scores", "my values"])
def test_values_in_an_object_of_each_record(name: str, tmp_path: Path) -> None:
    for run, values in AB.items():
        lines = [
            json.dumps(
                {"id": query, "ms": 7 + n, name: {"AP": value, "F1": None if n else 1}}
            )
            for n, (query, value) in enumerate(values.items())
        ]
        (tmp_path / f"{run}.jsonl").write_text("\n".join([*lines, ""]))
    assert_ab(read_values(tmp_path, measures="AP"))
    assert read_values(tmp_path, missing="skip").measures == ["ms", "AP", "F1"]


def test_a_value_that_two_objects_of_a_record_have(tmp_path: Path) -> None:
    record = {"id": "q1", "dev": {"f1": 1}, "test": {"f1": 0}}
    for run in "ab":
        text = "\n".join(json.dumps({**record, "id": f"q{i}"}) for i in range(3))
        (tmp_path / f"{run}.jsonl").write_text(text + "\n")
    assert read_values(tmp_path).measures == ["f1", "test.f1"]


@pytest.mark.parametrize("line", ["sep=;", "sep=,"])
def test_a_line_that_tells_excel_the_separator(line: str, tmp_path: Path) -> None:
    rows = [f"{q},{AB['a'][q]},{AB['b'][q]}" for q in AB["a"]]
    text = "\n".join([line, "query_id,a,b", *rows, ""])
    path = tmp_path / "v.csv"
    path.write_text(text.replace(",", ";") if ";" in line else text)
    assert_ab(read_values(path, measures="AP"))
    path.write_text(text.replace("0.75", "x"))
    if "," in line:
        with pytest.raises(ValueError, match="line 3: b is 'x', not a number"):
            read_values(path)


def pivoted(*measures: str) -> pd.DataFrame:
    rows = [
        {"run": run, "query_id": query, **dict.fromkeys(measures, value)}
        for run, values in AB.items()
        for query, value in values.items()
    ]
    frame = pd.DataFrame(rows)
    return frame.pivot(index="query_id", columns="run", values=list(measures))


@pytest.mark.parametrize("measures", [("AP",), ("AP", "RMSE"), ("RMSE", "AP", "x")])
@pytest.mark.parametrize(
    "shape",
    [
        lambda table: table, lambda table: table.reset_index(),
        lambda table: table.swaplevel(axis=1), lambda table: table.sort_index(axis=1),
        lambda table: table.rename_axis(columns=["measure", "System"]),
    ],
)  # fmt: skip
def test_columns_of_two_levels_are_measures_of_runs(
    measures: tuple[str, ...], shape: Any
) -> None:
    table = read_values(shape(pivoted(*measures)))
    assert sorted(table.measures) == sorted(measures)
    assert_ab(table)


def test_columns_of_two_levels_without_names_are_refused() -> None:
    table = pivoted("AP", "RMSE").rename_axis(columns=[None, None])
    with pytest.raises(
        ValueError,
        match=r"columns have 2 levels, as in \('AP', 'a'\), and none is called run",
    ):
        read_values(table)
    one = pivoted("AP").rename_axis(columns=[None, None])
    assert read_values(one).runs == ["a", "b"]


def test_output_of_several_runs_in_one_file(tmp_path: Path) -> None:
    lines = [f"map\t{q}\t{x}\n" for values in AB.values() for q, x in values.items()]
    (tmp_path / "both.txt").write_text("".join(lines))
    with pytest.raises(ValueError, match="of several runs, give a file for each"):
        read_values(tmp_path / "both.txt")


@pytest.mark.parametrize("key", [None, float("nan"), "", "  "])
def test_a_key_that_names_no_query_is_refused(key: Any) -> None:
    for values in ({key: 0.5, "q": 1}, {key: {"AP": 0.5}}, {"AP": {key: 0.5, "q": 1}}):
        with pytest.raises(ValueError, match=r"run 'a': .* is the key of a query"):
            read_values({"a": values, "b": values})


@pytest.mark.parametrize("key", [1, 1.0, np.float64(1), np.int64(1)])
def test_whole_numbers_are_one_id_in_any_form(key: Any) -> None:
    values = {"a": {key: 0.5, 2: 0.25}, "b": {"1": 1.0, "2": 0.0}}
    assert read_values(values).query_ids == ["1", "2"]
    frame = pd.DataFrame({"run": [key] * 2, "query_id": ["p", "q"], "AP": 0.5})
    assert read_values(frame).runs == ["1"]


@pytest.mark.parametrize("name", ["_new.csv", "_.csv", "_metadata of a.csv"])
def test_a_pattern_leaves_no_file_out(name: str, tmp_path: Path) -> None:
    for file in ("a.csv", name, "_SUCCESS", "_metadata", "_committed_7.csv"):
        (tmp_path / file).write_text("query_id,AP\nq1,0.5\nq2,1\n")
    runs = read_values(tmp_path / "*").runs
    assert sorted(runs) == sorted(["a", name.removesuffix(".csv")])


@pytest.mark.parametrize(
    "text",
    [
        '"query_id" "AP"\n"1" "q1" 0.5\n"2" "q2" 0.25\n',
        '"run" "query_id" "AP"\n"1" "a" "q1" 0.5\n"2" "a" "q2" 0.25\n',
        "run query_id AP\na q1 0.5\na q2 0.25\n",
        "qid AP nDCG RR\nq1 0.5 0.5 0.5\n",
    ],
)
def test_a_header_between_blanks_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(
        ValueError,
        match=r"line 1: a header with blanks between names .* commas or tabs",
    ):
        read_values(tmp_path / "a.txt")


def test_row_names_of_r_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"query_id","AP"\n"1","q1",0.5\n"2","q2",0.25\n')
    with pytest.raises(ValueError, match=r"in R by row\.names = FALSE"):
        read_values(tmp_path / "a.csv")


@pytest.mark.parametrize("percent", [(50.1, 49.0), (50.1, 3.0), (100.0, 1.5)])
def test_a_task_in_percent_is_named(percent: tuple[float, float]) -> None:
    tasks = pd.DataFrame(
        {
            "task": ["A", "B", "C"],
            "m1": [0.4, percent[0], 0.3],
            "m2": [0.3, percent[1], 0],
        }
    )
    [note] = read_values(tasks).notes
    assert note.startswith("B: its values are up to")
    assert "is it in percent?" in note
    fractions = tasks.assign(m1=[0.4, 1.0, 0.3], m2=[0.3, 0.9, 0.0])
    assert not read_values(fractions).notes
    percentages = fractions.assign(m1=[40, 50, 60.5], m2=[30, 0.9, 1.5])
    assert not read_values(percentages).notes


@pytest.mark.parametrize(
    "names", [("AP", "nDCG@10"), ("map", "ndcg"), ("accuracy", "latency")]
)
def test_measures_are_not_runs_of_a_mapping(names: tuple[str, str]) -> None:
    by_query = {"q1": 0.5, "q2": 0.25}
    for inner in (by_query, {"bm25": by_query, "dense": by_query}):
        with pytest.raises(ValueError, match="are names of measures, not of runs"):
            read_values(dict.fromkeys(names, inner))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_empty_columns_at_the_end_are_left_out(separator: str, tmp_path: Path) -> None:
    text = "query_id,AP,,\nq1,0.5,,\nq2,0.25,,\n".replace(",", separator)
    (tmp_path / "a.csv").write_text(text)
    assert read_values(tmp_path / "a.csv").values["AP"].tolist() == [[0.5, 0.25]]
    (tmp_path / "a.csv").write_text(
        text.replace(f"0.25{separator}", f"0.25{separator}7")
    )
    with pytest.raises(ValueError, match="line 3: '7' stands in a column without"):
        read_values(tmp_path / "a.csv")


@pytest.mark.parametrize("name", ["README.md", "readme.txt", "LICENSE", "README"])
def test_a_readme_beside_values_is_none_of_them(name: str, tmp_path: Path) -> None:
    for run in "ab":
        (tmp_path / f"{run}.csv").write_text("query_id,AP\nq1,0.5\nq2,0.25\n")
    (tmp_path / name).write_text("Values of two runs, per query.\n")
    assert read_values(tmp_path).runs == ["a", "b"]


@pytest.mark.parametrize(
    ("one", "other"), [("AP", "map"), ("nDCG@10", "ndcg@10"), ("x", "X ")]
)
def test_two_names_of_a_measure_are_named(one: str, other: str) -> None:
    runs = {run: {"q1": {name: 0.5}} for run, name in {"a": one, "b": other}.items()}
    with pytest.raises(
        ValueError, match=f"{other!r} looks like the same measure: call it {one!r}"
    ):
        read_values(runs)


def test_a_run_in_percent_on_one_task_is_named() -> None:
    tasks = pd.DataFrame(
        {"task": [*"ABC"], "m1": [0.4, 0.5, 0.3], "m2": [0.3, 38.76, 0.2]}
    )
    [note] = read_values(tasks).notes
    assert note == "B: 'm2' has 38.76, other runs up to 0.5; is it in percent?"
    assert not read_values(tasks.assign(m2=[0.3, 1.5, 0.2])).notes


@pytest.mark.parametrize(
    "names",
    [
        ("Query ID", "Model Name"),
        ("queryId", "modelName"),
        ("question-id", "Run ID"),
        ("sampleId", "System"),
    ],
)
def test_names_of_columns_may_have_blanks_and_capitals(
    names: tuple[str, str], tmp_path: Path
) -> None:
    rows = [("a", "m1", 0.5), ("b", "m1", 0.25), ("b", "m2", 0.75), ("a", "m2", 1.0)]
    frame = pd.DataFrame(rows, columns=[*names, "AP"])
    for values in (frame, write_table(frame, tmp_path / "values.csv")):
        table = read_values(values)
        assert (table.runs, table.query_ids) == (["m1", "m2"], ["a", "b"])
        assert table.values["AP"].tolist() == [[0.5, 0.25], [1, 0.75]]


@pytest.mark.parametrize("name", ["Task Name", "taskName", "task-name", "Dataset"])
def test_tasks_are_no_queries_however_their_column_is_written(name: str) -> None:
    board = pd.DataFrame(
        {name: [*"ABC"], "m1": [0.4, 0.5, 0.3], "m2": [0.3, 0.25, 0.2]}
    )
    assert read_values(board).per_task
    assert [*read_collections(board)] == [*"ABC"]


@pytest.mark.parametrize("name", ["Rank (Borda)", "mean rank", "Average Rank", "Rank"])
@pytest.mark.parametrize("column", ["task", "query_id", "id"])
def test_a_row_of_ranks_is_left_out_or_named(name: str, column: str) -> None:
    board = pd.DataFrame({column: [name, "A", "B", "Mean"], "m1": [2, 0.4, 0.5, 0.45]})
    ranks = read_values(board.assign(m2=[1, 0.3, 0.35, 0.325]))
    assert (ranks.query_ids, ranks.summaries) == (
        ["A", "B"],
        tuple(sorted(["Mean", name])),
    )
    part = read_values(board.assign(m2=[7, 0.3, 0.35, 0.325]))  # of a larger board
    assert (part.summaries, part.doubtful) == (("Mean",), (name,))
    run = read_values(
        pd.DataFrame({"query_id": ["1", "2"], "rank-fusion": [2, 1], "b": [1, 2]})
    )
    assert run.runs == ["rank-fusion", "b"]
    alone = read_values(board.iloc[:3].assign(m1=[1, 0.4, 0.5]))  # the rank of one run
    assert name not in alone.summaries


def test_the_only_row_keeps_its_id() -> None:
    row = pd.DataFrame({"id": [7], "question": ["why"], "m1": [0.4], "m2": [0.5]})
    assert read_values(row).query_ids == ["7"]


@pytest.mark.parametrize("name", ["all", "amean", "overall"])
@pytest.mark.parametrize("at", [0, 3])
def test_a_line_of_trec_eval_over_other_queries_is_named(
    name: str, at: int, tmp_path: Path
) -> None:
    lines = ["map\tq1\t0.5\n", "map\tq2\t0.25\n", "map\tq3\t0.1\n"]
    lines.insert(at, f"map\t{name}\t0.9\n")
    (tmp_path / "a.txt").write_text("".join(lines))
    (tmp_path / "b.txt").write_text("".join(lines).replace("0.25", "0.35"))
    table = read_values([tmp_path / "a.txt", tmp_path / "b.txt"])
    assert (len(table.query_ids), table.doubtful) == (4, (name,))


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(
            (name, value)
            for name in ("query", "run")
            for value in (1, ["a"], {}, True, b"a")
        ),
        *(("where", value) for value in (1, "filter", b"x", {1: 2}, ["filter"], print)),
        *(
            (name, 1)
            for name in ("measures", "runs", "smaller_is_better", "deterministic")
        ),
        ("measures", b"AP"),
        ("measures", {"AP": 1}),
        ("runs", {"a": 1}),
    ],
)
@pytest.mark.parametrize("form", ["frame", "file"])
def test_arguments_of_another_type_are_named(
    argument: str, value: Any, form: str, tmp_path: Path
) -> None:
    values: Any = pd.DataFrame(
        {"run": [*"ab"], "query_id": ["q", "q"], "AP": [0.5, 0.25]}
    )
    if form == "file":
        values = write_table(values, tmp_path / "values.csv")
    with pytest.raises(ValueError, match=f"^read_values: {argument} must be"):
        read_values(values, **{argument: value})


@pytest.mark.parametrize("kind", ["columns", "frames", "Polars", "files"])
def test_columns_of_a_table_by_run_have_one_measure(kind: str, tmp_path: Path) -> None:
    """The name of each column is that of its run, not of a measure."""
    wide = pd.DataFrame({"bm25": [0.5, 0.25], "dense": [0.75, 1.0]}, index=["q1", "q2"])
    wide = wide.rename_axis("query_id")
    values: dict[str, Any] = {name: wide[name] for name in wide}
    if kind == "frames":
        values = {name: wide[[name]] for name in wide}
    elif kind == "files":
        values = {
            name: write_table(wide[[name]].reset_index(), tmp_path / f"{name}.csv")
            for name in wide
        }
    elif kind == "Polars":
        values = {name: pl.from_pandas(wide[[name]].reset_index()) for name in wide}
    table = read_values(values)
    assert table.measures == ["value"]
    assert table.values["value"].tolist() == [[0.5, 0.25], [0.75, 1]]
    assert read_values(values, measures="AP").measures == ["AP"]


def test_structured_arrays_of_numpy_are_tables() -> None:
    rows = pd.DataFrame({"run": [*"ab"], "query_id": ["q", "q"], "AP": [0.5, 0.25]})
    expected = read_values(rows).values["AP"].tolist()
    assert read_values(rows.to_records(index=False)).values["AP"].tolist() == expected
    by_run = {run: rows[rows["run"] == run].to_records(index=False) for run in "ab"}
    assert read_values(by_run).values["AP"].tolist() == expected


def test_a_header_of_merged_cells_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("query_id,bm25,,dense,\n,AP,RR,AP,RR\nq,1,1,0,0\n")
    with pytest.raises(
        ValueError, match="names in one row, also where cells are merged"
    ):
        read_values(tmp_path / "a.csv")


def test_margins_of_a_pivot_are_no_measure() -> None:
    rows = [
        (q, r, m, 0.25 * n)
        for n, q in enumerate("abc")
        for r in "xy"
        for m in ("AP", "RR")
    ]
    long = pd.DataFrame(rows, columns=["query_id", "run", "measure", "value"])
    pivot = long.pivot_table(
        index="query_id", columns=["measure", "run"], values="value", margins=True
    )
    table = read_values(pivot)
    assert (table.runs, table.measures) == (["x", "y"], ["AP", "RR"])
    assert (table.query_ids, table.summaries) == ([*"abc"], ("All",))


# -- as pandas, ir_measures and leaderboards lay values out ----------------------------------------

TURNED = pd.DataFrame(
    [
        (r, q, v)
        for r, x in (("bm25", 0.5), ("ql", 0.25))
        for q, v in (("q2", x), ("q1", 0.75))
    ],
    columns=["system", "qid", "AP"],
)


@pytest.mark.parametrize("query", ["qid", "query_id", "Query ID", "topic", "sample_id"])
@pytest.mark.parametrize("system", ["run", "name", "system", "Method", None])
@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("flags", [False, True])
def test_columns_that_are_queries_by_their_axis_are_turned(
    query: str, system: str | None, reset: bool, flags: bool
) -> None:
    table = TURNED.rename(columns={"qid": query}).pivot(
        index="system", columns=query, values="AP"
    )
    table = table.rename_axis(system)
    if flags:
        table = table > 0.5
    read = read_values(table.reset_index() if reset else table)
    assert (read.runs, read.query_ids) == (["bm25", "ql"], ["q1", "q2"])
    expected = [[1, 0], [1, 0]] if flags else [[0.75, 0.5], [0.75, 0.25]]
    assert read.values["value"].tolist() == expected


@pytest.mark.parametrize("task", ["task", "Task Name", "dataset", "collection"])
@pytest.mark.parametrize("reset", [False, True])
def test_columns_that_are_tasks_by_their_axis_are_turned(
    task: str, reset: bool
) -> None:
    board = TURNED.rename(columns={"qid": task, "system": "model"}).pivot(
        index="model", columns=task, values="AP"
    )
    tables = read_collections(board.reset_index() if reset else board)
    assert [*tables] == ["q1", "q2"]
    assert tables["q2"].values["value"].tolist() == [[0.5], [0.25]]


def test_an_axis_named_after_queries_of_a_table_that_has_queries_is_left_alone() -> (
    None
):
    table = TURNED.rename_axis(columns="qid")
    for shape in (table, table.set_index(["system", "qid"]), table.set_index("qid")):
        read = read_values(shape)
        assert read.values["AP"].tolist() == [[0.75, 0.5], [0.75, 0.25]]
    measures = pd.concat([TURNED.assign(measure=m) for m in ("AP", "RR")])
    levels = ["system", "measure"]
    turned = measures.pivot(index=levels, columns="qid", values="AP")
    for shape in (turned, turned.reset_index()):
        read = read_values(shape)
        assert (read.runs, read.measures) == (["bm25", "ql"], ["AP", "RR"])
        assert read.values["RR"].tolist() == [[0.75, 0.5], [0.75, 0.25]]


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz", ".txt", ""])
@pytest.mark.parametrize(
    "form", ["{q}\t{m}\t{v}", "{m}\t{q}\t{v}", "{m:<22}\t{q}\t{v}"]
)
def test_lines_between_tabs_are_read_under_any_name(
    form: str, ending: str, tmp_path: Path
) -> None:
    paths = []
    for run, of_run in TURNED.groupby("system"):
        rows = [
            form.format(q=q, m=m, v=v)
            for q, v in of_run[["qid", "AP"]].values
            for m in ("AP", "RR")
        ]
        path = tmp_path / f"{run}{ending}"
        content = ("\n".join(rows) + "\n").encode()
        path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
        paths.append(path)
    read = read_values(paths)
    assert (read.runs, read.measures) == (["bm25", "ql"], ["AP", "RR"])
    assert read.values["AP"].tolist() == [[0.75, 0.5], [0.75, 0.25]]


@pytest.mark.parametrize(
    "text",
    [
        "q1\t0.5\t0.25\nq2\t0.5\t0.75\n",
        "q1 0.5 0.25\nq2 0.5 0.75\nq3 0.25 1\n",
        "q1\t1\t0\nq2\t1\t1\nq3\t0\t1\n",
        "a\tq1\t0.5\t0.25\na\tq2\t0.5\t0.75\n",
        "0.5 q1 0.25\n0.5 q2 0.75\n",
    ],
)
def test_a_number_is_no_measure(text: str, tmp_path: Path) -> None:
    path = tmp_path / "values.txt"
    path.write_text(text)
    with pytest.raises(
        ValueError, match=r"values.txt: without a header, \S+ would be the name of"
    ):
        read_values(path)


@pytest.mark.parametrize("numbers", [[110e6, 66e6], [768, 512], [418.5, None]])
def test_a_row_of_a_leaderboard_far_above_others_is_named(numbers: list[Any]) -> None:
    board = pd.DataFrame(
        {
            "task": ["A", "B", "Params"],
            "m": [0.5, 0.75, numbers[0]],
            "n": [0.5, 0.25, numbers[1]],
        }
    )
    read = read_values(board, missing="skip")
    assert any("Params: values up to" in note for note in read.notes)
    large = board.assign(m=[500.0, 750.0, 2.0], n=[300.0, 200.0, 1.0])
    assert read_values(large).notes == ()


@pytest.mark.parametrize(
    "names", [["map", "ndcg"], ["AP", "RR", "nDCG@10"], ["F1", "EM"]]
)
@pytest.mark.parametrize("form", ["frame", "CSV", "dicts", "task"])
def test_rows_that_are_measures_are_no_queries(
    names: list[str], form: str, tmp_path: Path
) -> None:
    means = pd.DataFrame({"a": 0.5, "b": 0.25}, index=names).rename_axis("name")
    values: Any = means.rename_axis(None)
    if form == "CSV":
        values = write_table(means.reset_index(), tmp_path / "means.csv")
    elif form == "dicts":
        values = {run: {name: {"value": 0.5} for name in names} for run in "ab"}
    elif form == "task":
        values = means.rename_axis("task").reset_index()
    with pytest.raises(ValueError, match="are names of measures, not of queries"):
        read_values(values)


def test_one_model_in_two_files_is_named_in_python(tmp_path: Path) -> None:
    paths = {name: tmp_path / f"{name}.csv" for name in ("main", "branch")}
    for path in paths.values():
        path.write_text("qid,model,AP\nq1,m,0.5\nq2,m,0.25\n")
    message = r"given twice .*; keep one, or .* Python: \{'main': file, 'branch': file"
    with pytest.raises(ValueError, match=message):
        read_values(list(paths.values()))
    assert read_values(paths).runs == ["main", "branch"]
