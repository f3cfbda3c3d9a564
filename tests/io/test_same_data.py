"""Runs on other data, settings or scales: refused or told, where their queries have the same ids."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall.io.values import read_collections, read_values

N = 14
RNG = np.random.default_rng(3)
A, B = RNG.random(N).round(4), RNG.random(N).round(4)


def run(values: Any, **more: Any) -> pd.DataFrame:
    return pd.DataFrame({"query_id": range(N), "AP": values, **more})


def as_files(a: pd.DataFrame, b: pd.DataFrame, path: Path) -> list[Path]:
    for name, table in (("a", a), ("b", b)):
        table.to_csv(path / f"{name}.csv", index=False)
    return [path / "a.csv", path / "b.csv"]


def as_lines(a: pd.DataFrame, b: pd.DataFrame, path: Path) -> list[Path]:
    for name, table in (("a", a), ("b", b)):
        table.to_json(path / f"{name}.jsonl", orient="records", lines=True)
    return [path / "a.jsonl", path / "b.jsonl"]


def as_long(a: pd.DataFrame, b: pd.DataFrame, path: Path) -> pd.DataFrame:
    return pd.concat([a.assign(run="a"), b.assign(run="b")], ignore_index=True)


FORMS: dict[str, Callable[..., Any]] = {
    "frames": lambda a, b, path: {"a": a, "b": b},
    "Polars": lambda a, b, path: {"a": pl.DataFrame(a), "b": pl.DataFrame(b)},
    "CSV": as_files,
    "JSON lines": as_lines,
    "one table": as_long,
}
IN_ANY_FORM = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@IN_ANY_FORM
@pytest.mark.parametrize(
    "name",
    [
        *("dataset", "Task", "split", "subset", "collection", "eval_split", "language"),
        *("lang", "Subject", "category", "domain", "track", "languages", "subset_name"),
    ],
)
def test_queries_of_other_data_are_not_paired(
    name: str, form: Callable[..., Any], tmp_path: Path
) -> None:
    others = form(run(A, **{name: "nq"}), run(B, **{name: "msmarco"}), tmp_path)
    with pytest.raises(ValueError, match=rf"has the {name} 'msmarco' here, and 'nq'"):
        read_values(others, measures="AP")
    assert len(read_values(others, measures="AP", query="query_id").query_ids) == N
    same = form(run(A, **{name: "nq"}), run(B, **{name: "nq"}), tmp_path)
    assert len(read_values(same, measures="AP").query_ids) == N


@IN_ANY_FORM
def test_queries_of_another_year_or_configuration_are_not_paired(
    form: Callable[..., Any], tmp_path: Path
) -> None:
    for name, other in (("year", [2019, 2020]), ("config", ["law", "anatomy"])):
        a, b = run(A, **{name: other[:1] * N}), run(B, **{name: other * (N // 2)})
        with pytest.raises(ValueError, match=rf"the {name} '{other[1]}' here, and "):
            read_values(form(a, b, tmp_path), measures="AP")
    # One of each run is the configuration of the system.
    others = form(run(A, config="bm25"), run(B, config="bert"), tmp_path)
    assert len(read_values(others, measures="AP").query_ids) == N


def test_the_command_says_how_to_pair_them_all_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    paths = as_files(run(A, split="dev"), run(B, split="test"), tmp_path)
    words = ["compare", "--values", *map(str, paths)]
    assert cli.main(words) == 1
    assert (
        "if the data are the same, say so: --query-column 'query_id'"
        in capsys.readouterr().err
    )
    assert cli.main([*words, "--query-column", "query_id"]) == 0


@IN_ANY_FORM
def test_one_query_of_another_split_is_enough(
    form: Callable[..., Any], tmp_path: Path
) -> None:
    splits = ["dev"] * N
    parts = form(run(A, split=splits), run(B, split=[*splits[1:], "test"]), tmp_path)
    with pytest.raises(
        ValueError, match="query_id '13' has the split 'test' here, and"
    ):
        read_values(parts)
    parts = form(run(A, split=splits), run(B, split=[*splits[1:], None]), tmp_path)
    assert len(read_values(parts).query_ids) == N


@IN_ANY_FORM
@pytest.mark.parametrize("name", ["k", "cutoff", "filter", "num_fewshot"])
def test_other_settings_are_told(
    name: str, form: Callable[..., Any], tmp_path: Path
) -> None:
    table = read_values(form(run(A, **{name: 5}), run(B, **{name: 10}), tmp_path))
    assert table.measures == ["AP"]
    assert f"The runs differ in their {name}: 5 in " in table.notes[0]
    assert not read_values(form(run(A, k=5), run(B, k=5), tmp_path)).notes


@IN_ANY_FORM
@pytest.mark.parametrize("name", ["question", "user_input"])
def test_questions_contradict_ids_that_pair_them_otherwise(
    name: str, form: Callable[..., Any], tmp_path: Path
) -> None:
    ids = np.arange(N) * 3
    a = run(A, **{name: [f"what is {i}?" for i in range(N)]}).assign(query_id=ids)
    b = a.assign(AP=B, **{name: [f"what is {i + 1}?" for i in range(N)]})
    with pytest.raises(ValueError, match="pair the rows of runs in different ways"):
        read_values(form(a, b, tmp_path))
    b = a.assign(AP=B, **{name: [f"why is {i}?" for i in range(N)]})
    [note] = read_values(form(a, b, tmp_path)).notes
    assert note == (
        "14 of 14 queries ask something else in another run, such as '0': "
        "'what is 0?', 'why is 0?'."
    )
    spaced = a.assign(AP=B, **{name: [f"what  is {i}? " for i in range(N)]})
    assert not read_values(form(a, spaced, tmp_path)).notes


@IN_ANY_FORM
@pytest.mark.parametrize("first", [0, 1])
def test_row_numbers_as_ids_of_runs_with_other_numbers_of_rows_are_told(
    first: int, form: Callable[..., Any], tmp_path: Path
) -> None:
    """A row may have been dropped, and the later ones numbered anew."""
    a = run(A).assign(query_id=np.arange(N) + first)
    shorter = a.assign(AP=B)[:-1]
    table = read_values(form(a, shorter, tmp_path), missing="skip")
    told = (
        "Ids of queries (query_id) may only number the rows, and runs have 13 to 14 of them: if a "
        "row was dropped before numbering, later rows are paired wrongly."
    )
    assert told in table.notes
    assert not table.cut  # a gate may pass
    values = form(a, shorter, tmp_path)
    assert told in irl.compare(values=values, missing="skip").diagnostics
    assert told not in read_values(form(a, a.assign(AP=B), tmp_path)).notes
    other = a.assign(query_id=np.arange(N) * 3)
    with_gap, shuffled = a.assign(AP=B)[1:], shorter.sample(frac=1, random_state=1)
    for less in (with_gap, shuffled):
        table = read_values(form(a, less, tmp_path), missing="skip")
        assert not any("number the rows" in note for note in table.notes)
    less = other.assign(AP=B)[:-1]
    table = read_values(form(other, less, tmp_path), missing="skip")
    assert not any("number the rows" in note for note in table.notes)


@IN_ANY_FORM
@pytest.mark.parametrize("name", ["question", "doc_hash"])
def test_row_numbers_that_mean_the_same_in_all_runs_need_no_word(
    name: str, form: Callable[..., Any], tmp_path: Path
) -> None:
    a = run(A, **{name: [f"text {i}" for i in range(N)]})
    less = a.assign(AP=B)[:-1]
    table = read_values(form(a, less, tmp_path), missing="skip")
    assert not any("number the rows" in note for note in table.notes)
    if name == "question":
        renumbered = a.drop(index=3).assign(query_id=range(N - 1), AP=B[1:])
        with pytest.raises(ValueError, match="pair the rows of runs in different"):
            read_values(form(a, renumbered, tmp_path), missing="skip")


@IN_ANY_FORM
@pytest.mark.parametrize("factor", [100, 50])
def test_percentages_of_one_run_are_asked_about(
    factor: int, form: Callable[..., Any], tmp_path: Path
) -> None:
    renamed = form(
        run(A).rename(columns={"AP": "quality"}),
        run(B * factor).rename(columns={"AP": "quality"}),
        tmp_path,
    )
    [note] = read_values(renamed).notes
    assert note.startswith("quality: 'b' has values up to ")
    assert note.endswith("is one of them in percent?")
    same = form(run(A).assign(quality=A), run(B).assign(quality=B), tmp_path)
    assert not read_values(same).notes


def test_a_run_that_is_much_better_is_no_percentage() -> None:
    low, high = run(A / 100), run(B)
    assert not read_values({"a": low, "b": high}).notes
    costs = {"a": run(A).rename(columns={"AP": "cost"}), "b": run(B * 9, cost=B * 9)}
    assert not read_values(costs, measures="cost").notes


@IN_ANY_FORM
@pytest.mark.parametrize(
    ("change", "form_of_ids"),
    [
        (lambda i: f"t{i} ", "without blanks"), (lambda i: f" t{i}", "without blanks"),
        (lambda i: f"T{i}", "in lower case"), (lambda i: f"q-t{i}", "without the prefix"),
    ],
)  # fmt: skip
def test_ids_that_meet_in_another_form_are_told_where_queries_are_skipped(
    change: Callable[[int], str],
    form_of_ids: str,
    form: Callable[..., Any],
    tmp_path: Path,
) -> None:
    ids = [f"t{i}" for i in range(N)]
    a = run(A).assign(query_id=ids)
    b = run(B).assign(query_id=[*ids[:7], *map(change, range(7, N))])
    parts = form(a, b, tmp_path)
    if form is as_files and "blanks" in form_of_ids:
        assert len(read_values(parts).query_ids) == N  # CSV has no blanks around values
        return
    table = read_values(parts, missing="skip")
    assert len(table.query_ids) == 7
    assert table.notes[0].endswith(f"are the same {form_of_ids}.")


def test_blanks_are_no_id() -> None:
    ids = [f"t{i}" for i in range(N)]
    table = run(A).assign(query_id=[*ids[:-1], "  "])
    with pytest.raises(ValueError, match="row 14: there is no query_id"):
        read_values({"a": table, "b": table})


@pytest.mark.parametrize("name", ["a ", "A"])
def test_names_of_runs_that_differ_in_blanks_or_case_are_named(name: str) -> None:
    table = as_long(run(A), run(B), Path())
    table.loc[:3, "run"] = name
    with pytest.raises(
        ValueError, match=rf"The runs '{name}' and 'a' differ in case or blanks only"
    ):
        read_values(table)


def test_a_table_of_several_runs_is_not_one_run() -> None:
    table = as_long(run(A)[:7], run(B)[7:], Path())
    with pytest.raises(
        ValueError, match=r"run 'x': the column 'run' of its table names several runs"
    ):
        read_values({"x": table, "y": run(B)})
    assert read_values({"x": run(A, run="a"), "y": run(B)}).runs == ["x", "y"]
    prompts = run(A, system=["be brief", "be kind"] * 7)
    assert read_values({"x": prompts, "y": run(B)}).notes == (
        "Run 'x': the column 'system' of its table names several runs (be brief, be kind); all "
        "rows count for run 'x'.",
    )


# -- lm-eval, HELM, inspect_ai ---------------------------------------------------------------------


def lm_eval(folder: Path, model: str, tasks: list[str], time: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    summary = {"results": {task: {"acc,none": 0.5} for task in tasks}, "configs": {}}
    results = json.dumps({**summary, "model_name": model})
    (folder / f"results_{time}.json").write_text(results)
    rng = np.random.default_rng(len(model))
    for task in tasks:
        lines = [
            json.dumps({"doc_id": i, "metrics": ["acc"], "acc": int(rng.integers(2))})
            for i in range(N)
        ]
        path = folder / f"samples_{task}_{time}.jsonl"
        path.write_text("\n".join([*lines, ""]))


TIMES = ("2024-01-01T00-00-00.123", "2024-02-01T00-00-00.5")


def test_folders_of_lm_eval_are_read_as_it_writes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for model, time in zip(("small", "large"), TIMES, strict=True):
        lm_eval(tmp_path / "out" / model, model, ["arc_easy"], time)
    assert sorted(read_values(tmp_path / "out").runs) == ["large", "small"]
    folders = [tmp_path / "out" / model for model in ("small", "large")]
    assert read_values(folders).runs == ["small", "large"]
    assert not cli.main(["compare", "--values", *map(str, folders)])
    assert "14 queries" in capsys.readouterr().out


def test_tasks_of_lm_eval_are_no_runs(tmp_path: Path) -> None:
    for model, time in zip(("small", "large"), TIMES, strict=True):
        lm_eval(tmp_path / model, model, ["arc", "hellaswag"], time)
    with pytest.raises(ValueError, match=r"samples of 2 tasks \(arc, hellaswag\)"):
        read_values(tmp_path)
    with pytest.raises(ValueError, match=r"samples of 2 tasks \(arc, hellaswag\)"):
        read_values(tmp_path / "small")
    with pytest.raises(ValueError, match="has the task 'hellaswag' here, and 'arc'"):
        read_values(sorted((tmp_path / "small").glob("samples_*")))
    tables = read_collections(tmp_path)
    assert list(tables) == ["arc", "hellaswag"]
    assert all(sorted(table.runs) == ["large", "small"] for table in tables.values())
    assert irl.benchmark(values=tmp_path).runs


def test_results_of_lm_eval_over_all_documents_are_named(tmp_path: Path) -> None:
    lm_eval(tmp_path, "small", ["arc"], TIMES[0])
    [path] = tmp_path.glob("results_*")
    with pytest.raises(ValueError, match="results of lm-eval over all documents"):
        read_values(path)


def test_instances_of_another_scenario_of_helm_are_not_paired(tmp_path: Path) -> None:
    for name in ("mmlu:subject=law,model=x", "mmlu:subject=art,model=y"):
        folder = tmp_path / name
        folder.mkdir()
        lines = [
            {"instance_id": f"id{i}", "stats": [{"name": "exact_match", "mean": i % 2}]}
            for i in range(N)
        ]
        (folder / "per_instance_stats.json").write_text(json.dumps(lines))
    paths = sorted(tmp_path.rglob("*.json"))
    with pytest.raises(ValueError, match=r"has the task 'mmlu,subject=law' here, and"):
        read_values(paths)


def test_samples_of_another_data_set_of_inspect_are_not_paired(tmp_path: Path) -> None:
    for model, name in (("x", "arc"), ("y", "gsm8k")):
        log = {
            "eval": {"model": model, "dataset": {"name": name}},
            "status": "success",
            "samples": [
                {"id": i, "epoch": 1, "scores": {"match": {"value": i % 2}}}
                for i in range(N)
            ],
        }
        (tmp_path / f"{model}.json").write_text(json.dumps(log))
    with pytest.raises(ValueError, match="has the dataset 'gsm8k' here, and 'arc'"):
        read_values(tmp_path)


# -- folders -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["z.csv", "more.jsonl", "values.parquet"])
def test_a_file_beside_folders_of_collections_is_named(
    name: str, tmp_path: Path
) -> None:
    for collection in ("one", "two"):
        (tmp_path / collection).mkdir()
        as_files(run(A), run(B), tmp_path / collection)
    (tmp_path / "README.md").write_text("values")
    assert list(read_collections(tmp_path)) == ["one", "two"]
    (tmp_path / name).write_text("query_id,AP\nq1,0.5\n")
    with pytest.warns(UserWarning, match=f"{name}: left out, as it is not in the fold"):
        assert list(read_collections(tmp_path)) == ["one", "two"]


def test_folders_beside_files_of_values_are_named(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    as_files(run(A), run(B), tmp_path)
    with pytest.raises(
        ValueError, match=r"has folders beside files of values \(a.csv\)"
    ):
        read_values(tmp_path)
    assert read_values(tmp_path / "*.csv").runs == ["a", "b"]


@pytest.mark.parametrize("name", ["QA avg", "Retrieval (average)", "mean of IR"])
def test_means_of_groups_of_tasks_are_told(name: str) -> None:
    tasks = ["t1", "t2", name, "t3"]
    board = pd.DataFrame({"task": tasks, "a": [0.1, 0.2, 0.15, 0.31]})
    table = read_values(board.assign(b=[0.5, 0.7, 0.6, 0.9]))
    assert (len(table.query_ids), table.doubtful) == (4, (name,))


def test_the_first_run_on_other_data_is_named_whichever_column_says_so():
    first = run(A, dataset="x", split="dev")
    second = run(B, dataset="x", split="test")
    third = run(B, dataset="y", split="dev")
    with pytest.raises(ValueError, match=r"run 'b', row 1: query_id '0' has the split"):
        read_values({"a": first, "b": second, "c": third})
    with pytest.raises(
        ValueError, match=r"run 'b', row 1: query_id '0' has the dataset"
    ):
        read_values({"a": first, "b": third, "c": second})


@pytest.mark.parametrize("name", ["category", "domain", "language", "year"])
def test_labels_of_answers_contradict_only_where_ids_number_rows(name: str) -> None:
    """A run may label its answers in such a column; ids that are no numbers mean one query."""
    rows = [
        (label, f"q{i}", number, f"{label} {i % 2}")
        for label, values in (("a", A), ("b", B))
        for i, number in enumerate(values)
    ]
    frame = pd.DataFrame(rows, columns=["run", "query_id", "AP", name])
    assert read_values(frame).runs == ["a", "b"]
    numbered = frame.assign(query_id=[*range(N), *range(N)])
    with pytest.raises(ValueError, match=f"has the {name} 'b 0' here"):
        read_values(numbered)


def test_generated_questions_may_name_queries() -> None:
    rows = [(run, f"what {i}?", i / N) for run in "ab" for i in range(N)]
    frame = pd.DataFrame(rows, columns=["run", "generated_question", "AP"])
    assert read_values(frame).query_ids[0] == "what 0?"
