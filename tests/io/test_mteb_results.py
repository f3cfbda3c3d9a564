"""MTEB's results: a task is compared on the splits and subsets that all models have."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall.io.values import read_values

Scores = dict[str, dict[str, "float | None"]]


def write(folder: Path, model: str, task: str, scores: Scores) -> None:
    path = folder / model / "revision" / f"{task}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        split: [
            {"hf_subset": subset, "main_score": value}
            for subset, value in subsets.items()
        ]
        for split, subsets in scores.items()
    }
    path.write_text(json.dumps({"task_name": task, "scores": content}))


def tasks(folder: Path, a: Scores, b: Scores) -> Path:
    """Two models with one task of these scores, and with others."""
    for model, scores in (("a", a), ("b", b)):
        write(folder, model, "T", scores)
        for i in range(3):
            write(folder, model, f"U{i}", {"test": {"default": 0.25 + i / 8}})
    return folder


def values_of(folder: Path, **options: Any) -> dict[str, list[float]]:
    table = read_values(folder, **options)
    by_task = table.values["main_score"].T.tolist()
    return dict(zip(table.query_ids, by_task, strict=True))


@pytest.mark.parametrize(
    ("a", "b", "expected", "missing"),
    [
        (
            {"test": {"x": 0.9, "y": 0.5}},
            {"test": {"x": 0.9}},
            [0.9, 0.9],
            [("test", "y", ("b",))],
        ),
        (
            {"test": {"x": 0.9}},
            {"test": {"x": 0.5, "y": 0.1}},
            [0.9, 0.5],
            [("test", "y", ("a",))],
        ),
        (
            {"dev": {"x": 0.2}, "test": {"x": 0.9}},
            {"dev": {"x": 0.3}},
            [0.2, 0.3],
            [("test", "x", ("b",))],
        ),
        (
            {"test": {"x": 0.5, "y": 0.75}},
            {"test": {"y": 0.5, "x": 0.25}},
            [0.625, 0.375],
            [],
        ),
    ],
)
def test_a_task_is_the_mean_over_what_both_have(
    a: Scores, b: Scores, expected: list[float], missing: list[Any], tmp_path: Path
) -> None:
    folder = tasks(tmp_path, a, b)
    assert values_of(folder)["T"] == expected
    found = read_values(folder).missing_cells
    assert [(cell.split, cell.subset, cell.runs) for cell in found] == missing
    assert {cell.task for cell in found} <= {"T"}


def test_what_is_missing_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tasks(tmp_path, {"test": {"x": 0.9, "y": 0.5}}, {"test": {"x": 0.9}})
    said = "1 cell (task, split, subset) that some run lacks is left out: T test y, not of b."
    assert said in irl.compare(values=folder).summary(full=True)
    over_tasks = irl.benchmark(values=folder).summary(full=True)
    assert (
        "1 cell (task, split, subset) is missing for some run: T test y, not of b."
        in over_tasks
    )
    assert "compared on the cells that both have (fewest: 4, a and b)" in over_tasks
    assert (
        said in irl.report(irl.compare(values=folder), tmp_path / "p.html").read_text()
    )
    assert cli.main(["compare", "--values", str(folder), "--caveats"]) == 0
    assert said in " ".join(capsys.readouterr().out.split())


def test_models_in_folders_of_their_own_are_compared_on_common_cells(
    tmp_path: Path,
) -> None:
    write(tmp_path / "one", "a", "T", {"test": {"x": 0.9, "y": 0.5}})
    write(tmp_path / "two", "b", "T", {"test": {"x": 0.9}})
    table = read_values([tmp_path / "one", tmp_path / "two"])
    assert table.values["main_score"].tolist() == [[0.9], [0.9]]


def test_nothing_in_common_is_an_error_or_skipped(tmp_path: Path) -> None:
    folder = tasks(tmp_path, {"dev": {"x": 0.9}}, {"test": {"x": 0.8}})
    with pytest.raises(
        ValueError,
        match=r"^read_values: .*T.json: not all runs have a split and subset of 'T' in common: "
        r"a has dev x, b has test x; leave a run out, or give missing='skip'",
    ):
        read_values(folder)
    table = read_values(folder, missing="skip")
    assert (table.skipped, len(table.query_ids)) == (("T",), 3)


def test_null_follows_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = tasks(tmp_path / "alone", {"test": {"x": None}}, {"test": {"x": 0.8}})
    some = tasks(
        tmp_path / "some",
        {"test": {"x": None, "y": 0.5}},
        {"test": {"x": 0.8, "y": 0.5}},
    )
    for folder in (alone, some):
        with pytest.raises(
            ValueError,
            match=r"the main_score of run 'a' for 'T' .test, x. is null; add it, or give",
        ):
            read_values(folder)
    assert read_values(alone, missing="skip").skipped == ("T",)
    assert values_of(some, missing="skip")["T"] == [0.5, 0.5]
    assert cli.main(["compare", "--values", str(alone)]) == 1
    assert "is null; add it, or give --missing skip" in capsys.readouterr().err
    assert cli.main(["compare", "--values", str(alone), "--missing", "skip"]) == 0
    assert "1 task (T) lacks a value of some run: left out (" in capsys.readouterr().out
    assert cli.main(["benchmark", str(alone), "--values", "--missing", "skip"]) == 0
    assert "1 run lacks tasks (a has 3 of 4)" in capsys.readouterr().out


def test_a_task_that_a_model_lacks_follows_missing(tmp_path: Path) -> None:
    folder = tasks(tmp_path, {"test": {"x": 0.9}}, {"test": {"x": 0.8}})
    (folder / "b" / "revision" / "T.json").unlink()
    with pytest.raises(
        ValueError, match="the main_score of run 'b' for query 'T' is missing"
    ):
        read_values(folder)
    assert read_values(folder, missing="skip").skipped == ("T",)


def test_files_of_before_version_1_11_are_named(tmp_path: Path) -> None:
    folder = tasks(tmp_path, {"test": {"x": 0.9}}, {"test": {"x": 0.8}})
    old = {
        "mteb_dataset_name": "Old",
        "mteb_version": "1.1.1",
        "test": {"ndcg_at_10": 0.5},
    }
    for model in "ab":
        (folder / model / "revision" / "Old.json").write_text(json.dumps(old))
    with pytest.raises(
        ValueError,
        match=r"a/revision/Old.json: written by MTEB before version 1.11 .and 1 other",
    ):
        read_values(folder)


def test_a_task_in_two_revisions_is_refused(tmp_path: Path) -> None:
    folder = tasks(tmp_path, {"test": {"x": 0.9}}, {"test": {"x": 0.8}})
    other = folder / "a" / "older" / "T.json"
    other.parent.mkdir()
    other.write_bytes((folder / "a" / "revision" / "T.json").read_bytes())
    with pytest.raises(
        ValueError, match=r"the task 'T' of run 'a' is also in .*T.json; keep one"
    ):
        read_values(folder)


def test_one_file_of_a_result_is_answered_with_what_to_give(tmp_path: Path) -> None:
    folder = tasks(tmp_path, {"test": {"x": 0.9}}, {"test": {"x": 0.8}})
    with pytest.raises(
        ValueError, match=r"T.json: a result of MTEB, which does not name"
    ):
        read_values(folder / "a" / "revision" / "T.json")


@pytest.mark.parametrize("revision", ["", "0a1b2c3d", "no_revision_available"])
@pytest.mark.parametrize("given", ["file", "name", "folder of the model", "both"])
def test_a_result_that_is_given_alone_names_the_folder_of_the_models(
    given: str, revision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for model in "ab":
        results_of(tmp_path / "all", model, {"test": {"x": 0.9}}, revision)
    folder, wanted = tmp_path / "all" / "a" / revision, str(tmp_path / "all")
    source: Any = folder / "T.json"
    if given == "name":
        monkeypatch.chdir(folder)
        source, wanted = "T.json", "../.." if revision else ".."
    elif given == "folder of the model":
        source = [folder]
    elif given == "both":
        source = [folder, tmp_path / "all" / "b" / revision]
    with pytest.raises(
        ValueError, match="that holds the folders of all models"
    ) as caught:
        read_values(source)
    assert str(caught.value).endswith(f"instead: {wanted!r}")


def results_of(
    folder: Path, model: str, scores: dict[str, Any], revision: str = "0a1b2c3d"
) -> Path:
    path = folder / model / revision
    path.mkdir(parents=True, exist_ok=True)
    content = {"task_name": "T", "mteb_version": "2", "scores": scores}
    (path / "T.json").write_text(json.dumps(content))
    return folder / model


SPLITS = {
    "dev": [{"hf_subset": "de", "main_score": 0.1}],
    "test": [
        {"hf_subset": "de", "main_score": 0.5},
        {"hf_subset": "en", "main_score": 0.9},
    ],
}


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ({"split": "test"}, 0.7),
        ({"subset": "en"}, 0.9),
        ({"split": "dev", "subset": "de"}, 0.1),
    ],
)
def test_a_split_or_subset_is_chosen_by_where(
    where: dict[str, str], value: float, tmp_path: Path
) -> None:
    for model in ("a", "b"):
        results_of(tmp_path, model, SPLITS)
    table = read_values(tmp_path, where=where)
    assert table.values["main_score"].round(6).tolist() == [[value], [value]]
    with pytest.raises(
        ValueError, match="results of MTEB have split and subset, not 'lang'"
    ):
        read_values(tmp_path, where={"lang": "en"})


def test_folders_of_models_are_called_by_the_model_or_as_the_user_says(
    tmp_path: Path,
) -> None:
    folders = [results_of(tmp_path / "r", model, SPLITS) for model in ("a", "b")]
    assert read_values(folders[0]).runs == ["a"]
    assert read_values(folders).runs == ["a", "b"]
    assert read_values({"x": folders[0], "y": folders[1]}).runs == ["x", "y"]
    other = results_of(tmp_path / "s", "c", SPLITS, revision="first")
    (other / "first" / "model_meta.json").write_text("{}")
    assert read_values(other).runs == ["c"]


def test_what_mteb_itself_writes(tmp_path: Path) -> None:
    mteb = pytest.importorskip("mteb")
    from mteb.cache import ResultCache
    from mteb.mocks.mock_tasks import retrieval

    tasks = [retrieval.MockRetrievalTask(), retrieval.MockMultilingualRetrievalTask()]
    model = mteb.get_model("mteb/baseline-random-encoder")
    results = mteb.evaluate(
        model, tasks, cache=ResultCache(tmp_path), show_progress_bar=False
    )
    table = read_values(tmp_path)
    assert table.runs == ["mteb__baseline-random-encoder"]
    scores = {result.task_name: result.get_score() for result in results.task_results}
    assert dict(
        zip(table.query_ids, table.values["main_score"][0], strict=True)
    ) == pytest.approx(scores)


@pytest.mark.parametrize("key", ["mteb_dataset_name", "mteb_version"])
def test_an_older_result_is_an_error_by_either_of_its_keys(
    key: str, tmp_path: Path
) -> None:
    folder = tasks(tmp_path, {"test": {"x": 0.5}}, {"test": {"x": 0.5}})
    path = folder / "old" / "revision" / "T.json"
    path.parent.mkdir(parents=True)
    old = {"dataset_revision": "x", key: "1.1", "test": {"en": {"main_score": 0.9}}}
    path.write_text(json.dumps(old))
    for source in (folder, path, [path, folder / "a" / "revision" / "T.json"]):
        with pytest.raises(
            ValueError,
            match=r"old.*T\.json: written by MTEB before version 1\.11; load",
        ):
            read_values(source)


@pytest.mark.parametrize(
    "content",
    [
        {"task_name": "T", "test": {"main_score": 0.9}},
        {"scores": {"test": [{"main_score": 0.9}]}},
        [{"main_score": 0.9}],
        {},
    ],
)
def test_other_files_among_results_are_named(content: Any, tmp_path: Path) -> None:
    folder = tasks(tmp_path, {"test": {"x": 0.5}}, {"test": {"x": 0.5}})
    path = folder / "other" / "revision" / "T.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(content))
    with pytest.warns(
        UserWarning, match=r"T\.json: left out, as it is not a result of MTEB .*"
    ):
        table = read_values(folder)
    assert "other" not in table.runs


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "there are no scores in it; run the task again, or leave the file out"),
        ({"test": []}, "there are no scores in it"),
        ({"test": [], "dev": []}, "there are no scores in it"),
        (5, "there are no scores in it"),
        ({"test": [5]}, "no number 'main_score' for the split 'test'; .* are none"),
        ({"dev": [{"ndcg_at_10": 0.5, "map": 1}]}, "split 'dev'; .* ndcg_at_10, map$"),
        (
            {"test": [{"main_score": "0.5"}]},
            "no number 'main_score' for the split 'test'",
        ),
    ],
)
def test_a_result_without_scores_is_told_from_one_without_the_measure(
    scores: Any, message: str, tmp_path: Path
) -> None:
    tasks(tmp_path, {"test": {"x": 0.9}}, {"test": {"x": 0.5}})
    path = tmp_path / "a" / "revision" / "T.json"
    path.write_text(json.dumps({"task_name": "T", "scores": scores}))
    with pytest.raises(ValueError, match=rf"^read_values: {path}: .*{message}"):
        read_values(tmp_path)


def test_other_revisions_of_the_data_are_warned_of(tmp_path: Path) -> None:
    folder = tasks(tmp_path, {"test": {"x": 0.5}}, {"test": {"x": 0.5}})

    def revise(model: str, task: str, revision: str | None) -> None:
        path = folder / model / "revision" / f"{task}.json"
        content = json.loads(path.read_text())
        path.write_text(json.dumps({**content, "dataset_revision": revision}))

    for task in ("T", "U0", "U1", "U2"):
        revise("a", task, "r1")
        revise("b", task, "r1" if task in ("U1", "U2") else "r2")
    with pytest.warns(
        UserWarning,
        match=r"b.revision.T.json: b did T on another revision of its data \('r2'\) than a "
        r"\('r1'\) \(and 1 other case\)$",
    ):
        read_values(folder)
    for task in ("T", "U0"):
        revise("b", task, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_values(folder)


PARTS = ["eval_split", "Dataset Split", "language", "lang", "languages", "config"]


def leaderboard(name: str, of_model: dict[str, Any], **more: Any) -> pd.DataFrame:
    """Return a table in which each model has six tasks, and the task X in some parts."""
    rows = []
    for model, scores in of_model.items():
        rows += [(model, f"t{i}", "c", i / 10) for i in range(6)]
        rows += [(model, "X", part, score) for part, score in scores.items()]
    return pd.DataFrame(rows, columns=["model", "task", name, "score"]).assign(**more)


@pytest.mark.parametrize("name", [*PARTS, "subset_name"])
@pytest.mark.parametrize("one_table", [True, False])
def test_a_task_in_another_language_or_split_is_another_cell(
    name: str, one_table: bool
) -> None:
    def read(table: pd.DataFrame) -> Any:
        if one_table:
            return read_values(table)
        return read_values({str(model): rows for model, rows in table.groupby("model")})

    table = read(leaderboard(name, {"a": {"x": 0.3, "y": 0.5}, "b": {"y": 0.9}}))
    assert table.values["score"][:, table.query_ids.index("X")].tolist() == [0.5, 0.9]
    with pytest.raises(ValueError, match=r"'X'.* (in common|has the|here, and)"):
        read(leaderboard(name, {"a": {"x": 0.3}, "b": {"y": 0.9}}))


def test_subsets_and_languages_tell_cells_apart_together() -> None:
    table = leaderboard("language", {"a": {"en": 0.3, "de": 0.5}, "b": {"de": 0.9}})
    values = read_values(table.assign(split="test", subset="s"))
    assert values.values["score"][:, 0].tolist() == [0.5, 0.9]


def test_a_language_of_each_task_changes_nothing() -> None:
    table = leaderboard("language", {"a": {"en": 0.3}, "b": {"en": 0.9}})
    mean = pd.DataFrame({"model": ["a", "b"], "task": "Average", "score": [0.3, 0.4]})
    for model in ("a", "b"):
        of_model = table["model"] == model
        mean.loc[mean["model"] == model, "score"] = table.loc[of_model, "score"].mean()
    values = read_values(pd.concat([table, mean]))
    assert values.summaries == ("Average",)


def test_rows_of_one_cell_are_told_apart_by_a_column() -> None:
    scores = {"a": {"x": 0.3}, "b": {"x": 0.9}}
    table = leaderboard("split", scores, prompt="old")
    twice = pd.concat([table, table.assign(prompt="new")])
    with pytest.raises(ValueError, match=r"given twice .* differ in prompt \(old, new"):
        read_values(twice)


def test_queries_in_two_languages_are_no_cells() -> None:
    rows = [
        (model, "X", lang, f"what {i}", i / 10)
        for model in ("a", "b")
        for i, lang in enumerate(["en", "de", "de", "en"])
    ]
    names = ["model", "task", "lang", "text", "score"]
    assert len(read_values(pd.DataFrame(rows, columns=names)).query_ids) == 4
