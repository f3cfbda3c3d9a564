"""Leaderboards of which some runs lack tasks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall.io.values import read_values
from ir_lexirecall.significance.leaderboards import interval_over_tasks

TASKS = [f"t{d}" for d in range(9)]


def rows(**values: object) -> pd.DataFrame:
    """A row per run and task, of values in the order of tasks; None is missing."""
    table = pd.DataFrame({"task": TASKS, **values})
    long = table.melt("task", var_name="run", value_name="score")
    return long.dropna().reset_index(drop=True).astype({"score": float})


def column(mean: float, seed: int, missing: int = 0) -> list[float | None]:
    values: list[float | None] = (
        np.random.default_rng(seed).normal(mean, 0.05, 9).tolist()
    )
    return [None] * missing + values[missing:]


def overall(baseline: str | None = None, **values: object) -> pd.DataFrame:
    result = irl.benchmark(values=rows(**values), missing="skip", baseline=baseline)
    return result.overall().set_index("run")


def test_a_pair_is_compared_on_the_tasks_both_have() -> None:
    full, gaps = column(0.5, 0), column(0.6, 1, missing=2)
    table = overall("full", full=full, gaps=gaps, other=column(0.3, 2, missing=1))
    assert table["tasks"].tolist() == [9, 7, 8]
    assert table.loc["gaps", "mean"] == pytest.approx(np.mean(gaps[2:]))
    assert table.loc["gaps", "shared_tasks"] == 7
    difference = np.mean(gaps[2:]) - np.mean(full[2:])
    assert table.loc["gaps", "difference"] == pytest.approx(difference)
    assert table.loc["gaps", "verdict"] == "better"


def test_the_baseline_may_lack_tasks() -> None:
    table = overall("gaps", full=column(0.5, 0), gaps=column(0.6, 1, missing=2))
    assert table.loc["full", "shared_tasks"] == 7
    assert table.loc["full", "difference"] < 0


def test_a_run_with_one_task_may_have_any_rank_and_does_not_lead() -> None:
    values = rows(good=column(0.7, 0), bad=column(0.3, 1), one=[None] * 8 + [0.99])
    result = irl.benchmark(values=values, missing="skip", baseline="bad")
    one = result.overall().set_index("run").loc["one"]
    assert (one["tasks"], one["rank_low"], one["rank_high"]) == (1, 1, 3)
    assert (one["borda_low"], one["borda_high"]) == (1, 3)
    assert np.isnan([one["ci_low"], one["mean_corrected"]]).all()
    assert one["verdict"] == "undecided"
    text = result.summary(full=True)
    assert text.index("good") < text.index("one")
    assert "1 run lacks tasks (one has 1 of 9)" in text


def test_two_runs_that_share_no_task_are_undecided() -> None:
    first = [*column(0.5, 0)[:4], *[None] * 5]
    table = overall("first", first=first, second=column(0.9, 1, missing=4))
    assert table.loc["second", "shared_tasks"] == 0
    assert np.isnan(table.loc["second", "difference"])
    assert table.loc["second", "verdict"] == "undecided"
    assert table.loc["second", "p"] == 1


def test_a_board_of_which_no_task_has_all_runs() -> None:
    halves = {f"run{s}": column(0.2 * s, s) for s in range(4)}
    for s, values in enumerate(halves.values()):
        for d in range(s, 9, 4):
            values[d] = None
    assert len(overall(**halves)) == 4
    table = read_values(rows(**halves), missing="skip")
    with pytest.raises(
        ValueError, match=r"no task has a value of every run; .*give them to bench"
    ):
        irl.compare(values=table)
    with pytest.raises(
        ValueError, match="friedman: no run is common to all collections"
    ):
        irl.benchmark(values=rows(**halves), missing="skip").friedman()


def test_a_run_without_any_value_is_refused() -> None:
    values = rows(a=column(0.5, 0), b=column(0.6, 1))
    empty = pd.DataFrame({"task": TASKS[:1], "run": ["none"], "score": [np.nan]})
    with pytest.raises(
        ValueError, match=r"benchmark: .*run 'none' has no values of score"
    ):
        irl.benchmark(values=pd.concat([values, empty]), missing="skip")
    values["other"] = values["score"]
    split = {
        "task": TASKS[:2],
        "run": ["none"] * 2,
        "score": [0.5, None],
        "other": [None, 0.5],
    }
    with pytest.raises(
        ValueError, match=r"benchmark: .*run 'none' has no value for any task"
    ):
        irl.benchmark(values=pd.concat([values, pd.DataFrame(split)]), missing="skip")


def test_gaps_are_an_error_unless_they_are_skipped() -> None:
    with pytest.raises(ValueError, match="of run 'b' for query 't0' is missing"):
        irl.benchmark(values=rows(a=column(0.5, 0), b=column(0.6, 1, missing=1)))


def test_one_run_has_rank_one_and_nothing_to_correct() -> None:
    table = overall(alone=column(0.5, 0, missing=2))
    alone = table.loc["alone"]
    assert (alone["rank_low"], alone["rank_high"], alone["borda_high"]) == (1, 1, 1)
    assert alone["mean_corrected"] == pytest.approx(alone["mean"], abs=0.01)


def test_smaller_values_may_be_better() -> None:
    result = irl.benchmark(
        values=rows(
            low=column(0.3, 0), high=column(0.6, 1), gaps=column(0.45, 2, missing=2)
        ),
        missing="skip",
        smaller_is_better="score",
    )
    table = result.overall().set_index("run")
    assert table["borda_low"].tolist() == [1, 3, 2]
    assert table.loc["low", "mean_corrected"] == pytest.approx(
        table.loc["low", "mean"], abs=0.002
    )
    near = {f"run{s}": column(0.5, s) for s in range(12)}
    result = irl.benchmark(values=rows(**near), smaller_is_better="score")
    best = result.overall().nsmallest(1, "mean").iloc[0]
    assert best["mean_corrected"] > best["mean"]


def test_every_door_shows_a_board_with_gaps() -> None:
    values = rows(a=column(0.5, 0), b=column(0.6, 1, missing=3), c=column(0.4, 2))
    result = irl.benchmark(values=values, missing="skip", baseline="a")
    assert result.best_set()["run"].tolist() == ["b", "a", "c"]
    assert "33.3%" in result.to_markdown()
    assert len(result.friedman()["mean_rank"]) == 2
    assert len(result.by_collection()) == 6 + 9
    assert [x.shape for x in result.differences_of()] == [(2, 1)] * 9
    summary = result.summary(full=True)
    words_of_board = " ".join(summary.split())
    said = "The best mean among the runs with the most tasks, corrected for having been selected: a"
    assert said in words_of_board
    whole = irl.benchmark(values=rows(a=column(0.5, 0), b=column(0.6, 1)))
    words = " ".join(whole.summary(full=True).split())
    assert "The best mean, corrected for having been selected: b" in words
    how = "t over tasks (random effects, allowing for skewness)"
    assert f"({how}, ranks by a bootstrap over tasks)" in words_of_board


def test_a_forest_has_no_mark_for_a_task_that_a_run_lacks() -> None:
    values = rows(
        a=column(0.5, 0), b=column(0.6, 1, missing=3), c=column(0.4, 2, missing=1)
    )
    ax = irl.benchmark(values=values, missing="skip", baseline="a").plot("forest")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert len(labels) == 6 + 8 + 2
    assert "t0: b" not in labels
    assert "t3: b" in labels


def scores_in_cells(seed: int = 0, n_tasks: int = 8) -> pd.DataFrame:
    """A row per run, task, split and subset; some are missing."""
    rng = np.random.default_rng(seed)
    rows = [
        (run, f"T{task}", split, subset, float(rng.random()))
        for run in "abc"
        for task in range(n_tasks)
        for split in ("dev", "test")
        for subset in "xyz"
        if (split, subset) == ("test", "z") or rng.random() < 0.6
    ]
    return pd.DataFrame(
        rows, columns=["model_name", "task_name", "split", "subset", "score"]
    )


def mteb_folder(scores: pd.DataFrame, folder: Path) -> Path:
    for (run, task), of_task in scores.groupby(["model_name", "task_name"]):
        path = folder / str(run) / "no_revision_available" / f"{task}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        by_split = {
            split: [
                {"hf_subset": subset, "main_score": score}
                for subset, score in zip(rows["subset"], rows["score"], strict=True)
            ]
            for split, rows in of_task.groupby("split")
        }
        path.write_text(json.dumps({"task_name": task, "scores": by_split}))
    return folder


def test_a_pair_is_compared_on_the_splits_and_subsets_that_both_have() -> None:
    scores = scores_in_cells()
    result = irl.benchmark(values=scores, baseline="a")
    table = result.overall().set_index("run")
    by_run = {
        run: rows.set_index(["task_name", "split", "subset"])["score"]
        for run, rows in scores.groupby("model_name")
    }
    for run, of_run in by_run.items():
        assert table.loc[run, "cells"] == len(of_run)
        by_task = of_run.groupby("task_name").mean()
        assert table.loc[run, "mean"] == pytest.approx(by_task.mean())
    for run in "bc":
        d = (by_run[run] - by_run["a"]).dropna()
        assert (
            table.loc[run, "shared_cells"]
            == len(d)
            == result.shared_cells().loc["a", run]
        )
        by_task = d.groupby("task_name").mean()
        assert table.loc[run, "shared_tasks"] == len(by_task)
        assert table.loc[run, "difference"] == pytest.approx(by_task.mean())
        *_, (p,) = interval_over_tasks(by_task.to_numpy()[None], 0.05)
        assert table.loc[run, "p"] == pytest.approx(max(p, 2.0 ** (1 - len(by_task))))


def test_a_folder_and_tables_of_the_same_scores_give_the_same_board(
    tmp_path: Path,
) -> None:
    scores = scores_in_cells()
    of_folder = irl.benchmark(values=mteb_folder(scores, tmp_path / "mteb")).overall()
    long = irl.benchmark(values=scores).overall()
    columns = scores.pivot(
        index=["task_name", "split", "subset"], columns="model_name", values="score"
    )
    wide = irl.benchmark(values=columns.reset_index(), missing="skip").overall()
    scores.to_csv(tmp_path / "scores.csv", index=False)
    of_file = irl.benchmark(values=tmp_path / "scores.csv").overall()
    named = irl.benchmark(values=scores, query="task_name").overall()
    for table in (of_folder, wide, of_file, named):
        pd.testing.assert_frame_equal(
            table.drop(columns="criterion"),
            long.drop(columns="criterion"),
            check_exact=True,
        )


def test_measures_may_have_names_of_their_own() -> None:
    scores = scores_in_cells().assign(cost=lambda table: 1 - table["score"])
    result = irl.benchmark(
        values=scores,
        by={"gain": "score", "effort": "cost"},
        smaller_is_better="effort",
    )
    table = result.overall().set_index(["criterion", "run"])
    gain, effort = table.loc["gain"], table.loc["effort"]
    ranks = ["rank_low", "rank_high", "borda_low", "borda_high", "cells"]
    pd.testing.assert_frame_equal(gain[ranks], effort[ranks])
    assert effort["mean"].to_numpy() == pytest.approx(1 - gain["mean"].to_numpy())
    assert result.shared_cells("effort").equals(result.shared_cells("gain"))


def test_a_cell_that_is_given_twice_or_null_is_named() -> None:
    scores = scores_in_cells()
    twice = pd.concat([scores, scores.tail(1)])
    with pytest.raises(
        ValueError, match=r"of run 'c' for 'T7' \(test, z\) is given twice"
    ):
        irl.benchmark(values=twice)
    scores.loc[3, "score"] = np.nan
    with pytest.raises(
        ValueError, match=r"of run 'a' for 'T\d' .* is null; add it, or give"
    ):
        irl.benchmark(values=scores)
    assert (
        irl.benchmark(values=scores, missing="skip").overall()["cells"].sum()
        == len(scores) - 1
    )


def test_a_task_without_a_cell_of_all_runs_still_counts_over_tasks() -> None:
    scores = scores_in_cells()
    is_removed = (scores["task_name"] == "T0") & (scores["subset"] != "z")
    extra = [("a", "x"), ("a", "y"), ("b", "y"), ("b", "w"), ("c", "w"), ("c", "x")]
    rows = [(run, "T0", "test", subset, 0.5) for run, subset in extra]
    scores = scores[
        ~is_removed & ~((scores["task_name"] == "T0") & (scores["subset"] == "z"))
    ]
    scores = pd.concat([scores, pd.DataFrame(rows, columns=scores.columns)])
    result = irl.benchmark(values=scores)
    alone = scores[scores["task_name"] == "T0"].groupby("model_name")["score"].mean()
    assert result["T0"].means()["mean"].tolist() == alone.tolist()
    assert result.overall()["tasks"].tolist() == [8, 8, 8]
    assert "cells (task, split, subset) are missing for some run" in result.summary(
        full=True
    )


def test_a_board_of_which_no_cell_has_all_runs() -> None:
    scores = scores_in_cells()
    lacks = {"a": "x", "b": "y", "c": "z"}
    scores = scores[scores["subset"] != scores["model_name"].map(lacks)]
    result = irl.benchmark(values=scores, missing="skip")
    assert result.overall()["tasks"].tolist() == [8, 8, 8]
    with pytest.raises(
        ValueError, match=r"compare: .* runs 'a' and 'b' cannot|no task has a value"
    ):
        irl.compare(values=read_values(scores, missing="skip"))


def cells_of(**subsets: list[str]) -> pd.DataFrame:
    """A row per run, task and subset; runs differ only in the subsets that they have."""
    value = {"en": 0.9, "de": 0.5, "fr": 0.4}
    rows = []
    for run, names in subsets.items():
        for d, task in enumerate(TASKS):
            for name in names:
                rows.append((run, task, "test", name, value[name] - d / 50))
    columns = ["model_name", "task_name", "split", "subset", "score"]
    return pd.DataFrame(rows, columns=columns)


@pytest.mark.parametrize("baseline", [None, "a"])
def test_a_star_over_different_cells_says_so(baseline: str | None) -> None:
    values = cells_of(a=["en", "de"], b=["en"])
    values.loc[values["model_name"] == "b", "score"] += 0.05
    result = irl.benchmark(values=values, baseline=baseline)
    text = " ".join(result.summary(full=True).split())
    also = "also on the cells that it shares with each other run"
    assert f"* best mean, {also}" in text
    assert "missing: share of the cells (task, split, subset)" in text
    assert "its mean is over the others" in text
    for shown in (result.to_markdown(), result.to_latex()):
        assert "share of the cells (task, split, subset)" in " ".join(shown.split())
    head, _, *lines = result.to_markdown().partition("\n\n")[0].splitlines()
    at = [cell.strip() for cell in head.split("|")].index("missing")
    shares = [line.split("|")[at].strip() for line in lines]
    assert sorted(shares) == ["0.0%", "50.0%"]


def test_a_best_mean_over_other_cells_is_not_marked() -> None:
    """Run a has the better mean over its own cells, and the lower one over those it shares with b."""
    values = cells_of(a=["en", "de"], b=["de", "fr"])
    values.loc[values["model_name"] == "b", "score"] += 0.05
    result = irl.benchmark(values=values, baseline="a")
    table = result.overall().set_index("run")
    assert table["mean"]["a"] > table["mean"]["b"]
    assert table["verdict"]["b"] == "better"
    assert table["mean_corrected"].isna().all()
    text = str(result)
    assert not [line for line in text.splitlines() if line.endswith("*")]
    said = " ".join(text.split())
    why = "means are over different cells, and on those that both have, if any, a is not ahead of b"
    assert why in said
    assert "corrected for having been selected" not in said
    for shown in (result.to_markdown(), result.to_latex()):
        assert why in " ".join(shown.split())
    assert "**" not in result.to_markdown()


def test_a_best_mean_over_other_tasks_is_not_marked() -> None:
    values = cells_of(a=["en"], b=["en"])
    is_b = values["model_name"] == "b"
    values.loc[is_b, "score"] += 0.01
    first, last = (values["task_name"] == task for task in (TASKS[0], TASKS[-1]))
    values = values[~(is_b & first) & ~(~is_b & last)]
    result = irl.benchmark(values=values, missing="skip")
    assert result.overall()["tasks"].nunique() == 1
    why = "means are over different tasks, and on those that both have, if any, a is not ahead of b"
    assert why in " ".join(str(result).split())


def test_cells_and_tasks_may_be_missing_together() -> None:
    values = cells_of(a=["en", "de"], b=["en"], c=["en", "de"])
    is_removed = (values["model_name"] == "c") & (values["task_name"] == TASKS[0])
    result = irl.benchmark(values=values[~is_removed], missing="skip")
    text = " ".join(result.summary(full=True).split())
    assert (
        "means are over different cells, and on those that both have, if any, b is not"
        in text
    )
    assert "50.0%" in text  # b has 9 of 18
    assert "11.1%" in text  # c has 16 of 18


def test_tables_mark_the_best_of_the_runs_with_the_most_tasks() -> None:
    values = cells_of(a=["en"], b=["en"], c=["en"])
    values["score"] += values["model_name"].map({"a": 0.0, "b": 0.1, "c": 0.2})
    is_lacked = values["task_name"].isin(TASKS[:2]) & (values["model_name"] == "c")
    result = irl.benchmark(values=values[~is_lacked], missing="skip")
    (marked,) = (line for line in str(result).splitlines() if line.endswith("*"))
    assert marked.startswith("b ")
    (bold,) = (line for line in result.to_markdown().splitlines() if "**" in line)
    assert "| b " in bold
    note = "Bold: the best mean of the runs with the most tasks."
    assert note in result.to_markdown()
    assert note in " ".join(result.to_latex().split())
    every = irl.benchmark(values=values)
    assert "runs with the most tasks" not in every.to_markdown()


@pytest.mark.parametrize("n_tasks_lacked", [0, 2])
def test_means_over_the_same_cells_of_tasks_need_no_word(n_tasks_lacked: int) -> None:
    values = cells_of(a=["en", "de"], b=["en", "de"])
    values.loc[values["model_name"] == "b", "score"] += 0.1
    is_lacked = values["task_name"].isin(TASKS[:n_tasks_lacked])
    values = values[(values["model_name"] == "a") | ~is_lacked]
    text = irl.benchmark(values=values, missing="skip").summary(full=True)
    assert "different cells" not in " ".join(text.split())
    assert ("share of the tasks" in " ".join(text.split())) == bool(n_tasks_lacked)


def test_cells_are_counted_only_on_a_leaderboard() -> None:
    rows = [("c", run, f"q{q}", q / 10) for run in "ab" for q in range(5)]
    values = pd.DataFrame(rows, columns=["collection", "run", "query_id", "AP"])
    with pytest.raises(
        ValueError, match="shared_cells: cells are splits and subsets of a leaderboard"
    ):
        irl.benchmark(values=values).shared_cells()


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [6, 8])
def test_ranks_tell_no_runs_apart_that_their_interval_does_not(tasks: int) -> None:
    rng = np.random.default_rng(0)
    test = irl.SignificanceTest(n_resamples=2000, progress=False)
    n_apart = 0
    for _ in range(60):
        x = 0.5 + rng.normal(0, 0.1, (1, tasks)) + rng.normal(0, 0.03, (2, 1))
        x = x + rng.normal(0, 0.05, x.shape) * rng.exponential(1, x.shape)
        board = pd.DataFrame(
            [
                (run, f"t{d}", x[s, d])
                for s, run in enumerate(("old", "new"))
                for d in range(tasks)
            ],
            columns=["run", "task", "score"],
        )
        table = irl.benchmark(values=board, baseline="old", test=test).overall()
        old, new = (table.set_index("run").loc[run] for run in ("old", "new"))
        if new["rank_high"] < old["rank_low"] or new["rank_low"] > old["rank_high"]:
            n_apart += 1
            assert new["p"] <= 0.05
            assert not new["difference_low"] <= 0 <= new["difference_high"]
    assert n_apart > 0


def test_systems_are_no_subsets_and_a_missing_language_is_no_other_one() -> None:
    cells = [(run, task, 0.5) for run in "ab" for task in ("t1", "t2", "t3")]
    systems = pd.DataFrame(cells, columns=["config", "task", "main_score"])
    with pytest.raises(ValueError, match="if it has a row per config"):
        irl.benchmark(values=systems)
    languages = systems.rename(columns={"config": "model"})
    languages["language"] = ["en", "en", "en", None, None, None]
    assert irl.benchmark(values=languages).runs == ["a", "b"]
