"""Results of MTEB: a file ``MODEL/REVISION/TASK.json`` with a score for each split and subset.

A cell is a task, a split and a subset. Models may have been run on different splits and subsets,
so that means of whatever each has would compare different things. The value of a task is the mean
over the cells that all models with this task have; `MissingCell` says which were left out. For each
pair of models the same is done with the results of these two (`shared_values`); leaderboards
compare them on all their cells (`CellScores`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, compress
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, Objects
from ir_lexirecall._util.errors import and_more, is_number, shown, shown_names, warn
from ir_lexirecall._util.paths import PathLike
from ir_lexirecall.io.cells import number_or_text
from ir_lexirecall.io.files import File, JSONObject
from ir_lexirecall.io.frames import Table
from ir_lexirecall.io.names import RUN_NAMES, TASK_NAMES
from ir_lexirecall.io.query_columns import (
    is_system_name,
    is_unique_in_runs,
    known_item_column,
    names_runs,
)
from ir_lexirecall.io.value_cells import Cells, texts
from ir_lexirecall.io.whole_columns import contradictions, id_texts, rows_with_values

MAIN_SCORE = "main_score"
_PARTS, _DEFAULTS = (("split",), ("subset", "hf_subset")), ("all", "default")
"""Names of the columns that tell the cells of a task apart, and what stands where there is none."""
_FURTHER_PARTS = (
    ("eval_split", "dataset_split"),
    ("language", "lang", "languages", "config", "subset_name"),
)
"""More columns of splits and subsets; they tell cells apart only if a task has several values."""
_SEPARATOR = "\x1f"
_KEYS_OF_OLDER = {"mteb_dataset_name", "mteb_version"}
"""Keys of a result written by MTEB before version 1.11."""
_REVISION = re.compile(r"[0-9a-f]{7,40}|no_revision_available|external")


Cell: TypeAlias = tuple[str, str]
"""A split and a subset."""
TaskCell: TypeAlias = tuple[str, str, str]
"""A task, a split and a subset."""


class MissingCell(NamedTuple):
    """A cell that some model lacks: comparisons with this model are made without it."""

    task: str
    split: str
    subset: str
    runs: tuple[str, ...]


@dataclass(frozen=True)
class TaskResult:
    """The scores of a model on a task.

    Attributes:
        run: the name of the model.
        task: the name of the task.
        measure: the name of the measure.
        scores: the score of each split and subset; NaN where MTEB wrote null.
        path: the file.
        revision: the revision of the data set, if the file names it.
    """

    run: str
    task: str
    measure: str
    scores: Mapping[Cell, float]
    path: str
    revision: str | None = None

    def only(self, where: Mapping[str, Any]) -> TaskResult:
        """Return the scores of one split or subset.

        Raises:
            ValueError: `where` names something else.
        """
        for name in where:
            if name not in ("split", "subset"):
                raise ValueError(
                    f"where: results of MTEB have split and subset, not {name!r}"
                )
        scores = {}
        for (split, subset), score in self.scores.items():
            is_wanted = where.get("split") in (None, split)
            if is_wanted and where.get("subset") in (None, subset):
                scores[split, subset] = score
        return replace(self, scores=scores)

    @property
    def present(self) -> set[Cell]:
        """Splits and subsets with a score."""
        return {cell for cell, score in self.scores.items() if not np.isnan(score)}


@dataclass(frozen=True)
class CellScores:
    """Scores of S models in C cells (task, split, subset), of which some model lacks some.

    Attributes:
        runs: names of models.
        cells: sorted, so that those of a task stand together.
        scores: by measure, NaN where missing, shape ``(S, C)``.
    """

    runs: tuple[str, ...]
    cells: tuple[TaskCell, ...]
    scores: Mapping[str, Floats]

    @classmethod
    def from_results(cls, results: Sequence[TaskResult]) -> Self:
        """Return the scores of models; a cell that no model has is left out."""
        runs = tuple(dict.fromkeys(result.run for result in results))
        present = set()
        for result in results:
            present |= {(result.task, *cell) for cell in result.present}
        index_of_cell = {cell: c for c, cell in enumerate(sorted(present))}
        scores: dict[str, Floats] = {}
        for result in results:
            shape = len(runs), len(index_of_cell)
            of_measure = scores.setdefault(result.measure, np.full(shape, np.nan))
            for cell in result.present:
                column = index_of_cell[(result.task, *cell)]
                of_measure[runs.index(result.run), column] = result.scores[cell]
        return cls(runs, tuple(index_of_cell), scores)

    def stacked(self, measures: Sequence[str]) -> Floats:
        """Return the scores by some measures, shape ``(K, S, C)``."""
        return np.stack([self.scores[measure] for measure in measures])

    def tasks(self) -> Iterator[tuple[str, list[str], dict[str, Floats]]]:
        """Yield each task with the models that have it, and their values by measure, ``(S, 1)``.

        They are means over the cells that all of these models have; without any, over those that
        each has.
        """
        stacked = self.stacked(list(self.scores))
        names = np.array([task for task, *_ in self.cells], dtype=object)
        for task in dict.fromkeys(names.tolist()):
            scores = stacked[:, :, names == task]
            has_task = np.asarray((~np.isnan(scores)).any(axis=2).all(axis=0))
            if not has_task.any():
                continue
            runs = list(compress(self.runs, has_task))
            values = {
                measure: _means_over_cells(of_measure)[:, None]
                for measure, of_measure in zip(
                    self.scores, scores[:, has_task], strict=True
                )
            }
            yield task, runs, values

    def runs_that_lack(self, measure: str) -> dict[TaskCell, list[str]]:
        """Return the cells that models lack which have others of the task, with these models."""
        has_score = ~np.isnan(self.scores[measure])
        has_task: dict[str, Bools] = {}
        for (task, *_), column in zip(self.cells, has_score.T, strict=True):
            has_task[task] = has_task.get(task, np.zeros_like(column)) | column
        missing_of_run = {}
        for cell, column in zip(self.cells, has_score.T, strict=True):
            lacks = has_task[cell[0]] & ~column
            if lacks.any():
                missing_of_run[cell] = list(compress(self.runs, lacks))
        return missing_of_run

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return the scores under other names of measures; ``names``: the present ones by these."""
        return replace(
            self, scores={new: self.scores[old] for new, old in names.items()}
        )

    def of_measure(self, measure: str, runs: Sequence[str]) -> tuple[Floats, Ints]:
        """Return the scores of some models, and where tasks begin; without empty cells."""
        scores = self.scores[measure][[self.runs.index(run) for run in runs]]
        has_score = np.asarray(~np.isnan(scores).all(axis=0))
        tasks = [task for task, *_ in compress(self.cells, has_score)]
        first_cell: dict[str, int] = {}
        for c, task in enumerate(tasks):
            first_cell.setdefault(task, c)  # the cells of a task stand together
        starts = list(first_cell.values())
        return scores[:, has_score], np.array(starts, dtype=np.int64)


def _means_over_cells(scores: Floats) -> Floats:
    """Return the means over the cells that all models have, or else over those that each has."""
    is_common = ~np.isnan(scores).any(axis=0)
    if is_common.any():
        return np.array([np.mean(row) for row in scores[:, is_common]])
    return np.nanmean(scores, axis=1)


def is_mteb(content: Any) -> bool:
    """Return whether a JSON object is a result of MTEB."""
    return isinstance(content, dict) and {"task_name", "scores"} <= content.keys()


def _is_older(content: Any) -> bool:
    """Return whether a JSON object is a result that MTEB wrote before version 1.11."""
    if not isinstance(content, dict) or is_mteb(content):
        return False
    return not _KEYS_OF_OLDER.isdisjoint(content)


def _older_result(path: PathLike, further: int = 0) -> ValueError:
    """Return the error of a result that MTEB wrote before version 1.11, and of further ones."""
    return ValueError(
        f"{path}: written by MTEB before version 1.11{and_more(further)}; load it "
        "with mteb.TaskResult.from_disk and write it again with to_disk, or leave it out"
    )


def check_is_no_result(content: Any, path: str) -> None:
    """Raise if a file holds a result of MTEB: only its folder says which model it is of."""
    if is_mteb(content):
        raise ValueError(
            f"{path}: a result of MTEB, which does not name its model; give the folder that holds "
            f"the folders of all models instead: {shown(_folder_of_models(path))}"
        )
    if _is_older(content):
        raise _older_result(path)


def _folder_of_models(path: str) -> str:
    """Return the folder above that of the model (and revision) whose result a file is."""
    folder = os.path.dirname(path)
    levels = 2 if _is_revision(Path(folder).resolve()) else 1
    return os.path.normpath(os.path.join(folder, *[os.pardir] * levels))


def _is_revision(folder: Path) -> bool:
    """Return whether a folder is that of a revision, into which MTEB writes `model_meta.json`."""
    has_meta = (folder / "model_meta.json").exists()
    return has_meta or _REVISION.fullmatch(folder.name) is not None


def holds_mteb_results(folder: Path) -> bool:
    """Return whether the folder of a model, with or without revisions, holds results of MTEB."""
    if next(folder.rglob("*/*.json"), None) is not None:
        return True
    for path in sorted(folder.glob("*.json")):
        if path.name == "model_meta.json":
            continue
        try:
            return is_mteb(File.opened(path).json())
        except ValueError:
            return False
    return False


def results_of_folder(
    folder: PathLike,
    measures: Sequence[str] | None,
    where: Mapping[str, Any],
) -> list[TaskResult]:
    """Return the results in a folder of MTEB.

    Args:
        folder: the folder, with a folder for each model (and revision).
        measures: the measures to read, by default the main score.
        where: the split or the subset to take; empty for all.

    Warns about other JSON files that lie among the results: a model may vanish with them.

    Raises:
        ValueError: there are none, a file lacks a measure, or a file is older than MTEB 1.11.
    """
    results = []
    older = []
    unread = []
    for path in sorted(Path(folder).rglob("*.json")):
        if path.name == "model_meta.json":
            continue
        content = File.opened(path).json()
        if is_mteb(content):
            run = _model_of(path, Path(folder))
            results += results_of_content(content, run, str(path), measures)
        elif _is_older(content):
            older.append(path)
        else:
            unread.append(path)
    if older:
        raise _older_result(older[0], len(older) - 1)
    if not results:
        raise ValueError(
            f"{folder}: it has neither files of values nor results of MTEB (JSON files with "
            "task_name and scores)"
        )
    if unread:
        warn(
            f"{unread[0]}: left out, as it is not a result of MTEB (lacks task_name and scores)"
            f"{and_more(len(unread) - 1)}"
        )
    if where:
        return [result.only(where) for result in results]
    return results


def _model_of(path: Path, folder: Path) -> str:
    """Return the model of ``results/MODEL/REVISION/TASK.json``.

    The folder may be that of one model. MTEB writes ``model_meta.json`` into that of the revision.
    """
    parts = path.resolve().relative_to(folder.resolve().parent).parts
    if len(parts) > 3 or _is_revision(path.resolve().parent):
        return parts[max(-3, -len(parts))]
    return parts[-2]


def results_of_content(
    content: JSONObject, run: str, path: str, measures: Sequence[str] | None
) -> list[TaskResult]:
    """Return the scores of a model on a task, by each of some measures.

    Raises:
        ValueError: a measure is not in the file, or a score is not a number.
    """
    task, revision = str(content["task_name"]), content.get("dataset_revision")
    results = []
    for name in measures or [MAIN_SCORE]:
        scores = _scores(content, name, path)
        result = TaskResult(run, task, name, scores, path)
        if isinstance(revision, str):
            result = replace(result, revision=revision)
        results.append(result)
    return results


def _scores(content: JSONObject, measure: str, path: str) -> dict[Cell, float]:
    """Return the score of each split and subset by a measure; NaN where it is null."""
    scores = {}
    for split, entries in _entries(content):
        for entry in entries:
            score = _score(entry, measure)
            if score is None:
                raise ValueError(_no_number(path, split, entry, measure))
            cell = split, str(entry.get("hf_subset", "default"))
            if cell in scores:
                raise ValueError(
                    f"{path}: the subset {cell[1]!r} of {split!r} is there twice"
                )
            scores[cell] = score
    if not scores:
        raise ValueError(
            f"{path}: there are no scores in it; run the task again, or leave the file out"
        )
    return scores


def _entries(content: JSONObject) -> Iterable[tuple[str, list[Any]]]:
    """Yield each split with its entries, one per subset."""
    by_split = content["scores"]
    if not isinstance(by_split, Mapping):
        return
    for split, entries in by_split.items():
        if not isinstance(entries, list):
            entries = [entries]
        yield str(split), entries


def _score(entry: Any, measure: str) -> float | None:
    """Return a score, NaN if it is null; None if the entry has no number."""
    if not isinstance(entry, Mapping) or measure not in entry:
        return None
    score = entry[measure]
    if score is None:
        return np.nan
    if isinstance(score, str):
        return None
    return number_or_text(score)


def _no_number(path: str, split: str, entry: Any, measure: str) -> str:
    """Return the message on an entry without a score by a measure."""
    scores = entry if isinstance(entry, Mapping) else {}
    names = [name for name, score in scores.items() if is_number(score)]
    return (
        f"{path}: no number {measure!r} for the split {split!r}; its numbers are "
        f"{shown_names(names)}"
    )


# -- tables ----------------------------------------------------------------------------------------


def has_cells(table: Table, further: Sequence[str] = ()) -> bool:
    """Return whether a table has scores of tasks by split or subset, not values of queries.

    Args:
        table: the table.
        further: see `further_parts`.
    """
    if not _has_tasks(table):
        return False
    return any(table.named((*names, *further)) for names in _PARTS)


def _has_tasks(table: Table) -> bool:
    """Return whether a table has tasks, no column of queries, and no repeats."""
    has_items = table.repeat is not None or known_item_column(table) is not None
    return table.named(TASK_NAMES) is not None and not has_items


def further_parts(tables: Iterable[Table]) -> list[str]:
    """Return the names of columns, such as `language`, that have several values for a task.

    If a run still has a cell twice with them, its rows are queries, and the list is empty.
    """
    tables = list(filter(_has_tasks, tables))
    several = []
    for name in chain.from_iterable(_FURTHER_PARTS):
        with_name = [table for table in tables if table.named([name]) is not None]
        if not with_name or all(_names_systems(table, name) for table in with_name):
            continue
        keys = np.concatenate([_names_of_cells(table) for table in with_name])
        values = [
            id_texts(table.columns[str(table.named([name]))]) for table in with_name
        ]
        labels = np.concatenate(values)
        rows = rows_with_values(labels)
        if len(contradictions(keys[rows], labels[rows])[0]):
            several.append(name)
    for table in tables if several else ():
        cells = with_cells_as_tasks(table, several)
        if not is_unique_in_runs(cells, str(cells.named(TASK_NAMES))):
            return []
    return several


def _names_systems(table: Table, name: str) -> bool:
    """Return whether a column, such as `config`, names systems instead of subsets."""
    if names_runs(table, name):
        return True
    return is_system_name(name) and table.named(RUN_NAMES) is None


def _columns_of_parts(table: Table, further: Iterable[str]) -> list[list[str]]:
    """Return the columns of splits, and those of subsets."""
    several = []
    for names, further_names in zip(_PARTS, _FURTHER_PARTS, strict=True):
        columns = [table.named(names)]
        columns += [table.named([name]) for name in further_names if name in further]
        several.append([name for name in columns if name is not None])
    return several


def _names_of_cells(table: Table, further: Iterable[str] = ()) -> Objects:
    """Return the name of the cell of each row: the task, the split and the subset."""
    parts = [table.columns[str(table.named(TASK_NAMES))]]
    for columns, default in zip(
        _columns_of_parts(table, further), _DEFAULTS, strict=True
    ):
        values = [map(str, table.columns[name]) for name in columns]
        labels = map(", ".join, zip(*values, strict=True))
        parts.append(texts(labels) if columns else np.full(len(table), default))
    cells = zip(*parts, strict=True)
    return texts(_SEPARATOR.join(map(str, cell)) for cell in cells)


def with_cells_as_tasks(table: Table, further: Iterable[str] = ()) -> Table:
    """Return the table of a row per cell, in whose column of tasks each cell has a name."""
    task = str(table.named(TASK_NAMES))
    parts = set(chain.from_iterable(_columns_of_parts(table, further)))
    columns = {name: x for name, x in table.columns.items() if name not in parts}
    return replace(table, columns={**columns, task: _names_of_cells(table, further)})


def results_of_cells(cells: Cells) -> list[TaskResult]:
    """Return the results in the cells of such a table.

    Raises:
        ValueError: a model has two scores of a cell.
    """
    rows: dict[tuple[str, str, str], dict[Cell, int]] = {}
    for n, (run, measure, name) in enumerate(
        zip(cells.run, cells.measure, cells.query_id, strict=True)
    ):
        task, split, subset = name.split(_SEPARATOR)
        row_of_cell = rows.setdefault((run, task, measure), {})
        first = row_of_cell.setdefault((split, subset), n)
        if first != n:
            raise ValueError(
                f"{cells.location(n)}: the {measure} of run {run!r} for {task!r} ({split}, "
                f"{subset}) is given twice (first: {cells.location(first)}); "
                f"{cells.advice(first, n)}"
            )
    return [
        TaskResult(
            *key,
            {cell: float(cells.value[n]) for cell, n in row_of_cell.items()},
            cells.location(next(iter(row_of_cell.values()))),
        )
        for key, row_of_cell in rows.items()
    ]


# -- the cells that all models have ----------------------------------------------------------------


def cells_of_results(
    results: Sequence[TaskResult], missing: str
) -> tuple[Cells, list[MissingCell]]:
    """Return a value per model and task, and the splits and subsets that some model lacks.

    Args:
        results: the scores of models.
        missing: what to do about a score that is null: ``'error'``, or ``'skip'`` its cell.

    Raises:
        ValueError: a task was run twice by a model, a score of a task is null, two models have no
            split and subset of a task in common, or all models have none of any task.
    """
    _check_once(results)
    _warn_of_revisions(results)
    if missing == "error":
        _check_no_null(results)
    rows = []
    missing_cells: dict[MissingCell, None] = {}
    paths = []
    for of_task in _by_task(results):
        common = _common_cells(of_task)
        if missing == "error":
            _check_pairs(of_task)
        missing_cells |= dict.fromkeys(_missing_cells(of_task, common))
        has_scores = any(result.present for result in of_task)
        if missing == "error" and has_scores and not common:
            continue  # each pair of models has cells in common, but not all have
        for result in of_task:
            value = _mean_score(result, common)
            rows.append((result.run, result.task, result.measure, value))
            paths.append(result.path)
    if not rows:
        raise ValueError(
            f"{results[0].path}: no task has a split and subset that all runs have; "
            "compare fewer runs at a time, or give missing='skip' to benchmark"
        )
    return Cells.from_rows(rows, paths.__getitem__, per_task=True), list(missing_cells)


def _mean_score(result: TaskResult, cells: set[Cell]) -> float:
    """Return the mean score over some cells; NaN without any."""
    if not cells or not result.present:
        return np.nan
    return float(np.mean([result.scores[cell] for cell in sorted(cells)]))


def _check_once(results: Iterable[TaskResult]) -> None:
    """Raise if a model has two files for one task, such as those of two revisions."""
    first: dict[tuple[str, str, str], str] = {}
    for result in results:
        path = first.setdefault((result.run, result.task, result.measure), result.path)
        if path != result.path:
            raise ValueError(
                f"{result.path}: the task {result.task!r} of run {result.run!r} is also in "
                f"{path}; keep one"
            )


def _warn_of_revisions(results: Sequence[TaskResult]) -> None:
    """Warn of tasks that two models did on different revisions of the data set."""
    first: dict[str, TaskResult] = {}
    others: dict[str, TaskResult] = {}
    for result in results:
        if result.revision is None:
            continue
        other = first.setdefault(result.task, result)
        if other.revision != result.revision:
            others.setdefault(result.task, result)
    if others:
        task, result = next(iter(others.items()))
        warn(
            f"{result.path}: {result.run} did {task} on another revision of its data "
            f"({shown(result.revision)}) than {first[task].run} "
            f"({shown(first[task].revision)}){and_more(len(others) - 1)}"
        )


def _check_no_null(results: Sequence[TaskResult]) -> None:
    """Raise if a score is null."""
    nulls = []
    for result in results:
        present = result.present
        nulls += [(result, cell) for cell in result.scores if cell not in present]
    if nulls:
        result, (split, subset) = nulls[0]
        raise ValueError(
            f"{result.path}: the {result.measure} of run {result.run!r} for {result.task!r} "
            f"({split}, {subset}) is null{and_more(len(nulls) - 1)}; add it, or give "
            "missing='skip' to leave it out"
        )


def _by_task(results: Iterable[TaskResult]) -> list[list[TaskResult]]:
    """Return the results of each task by each measure."""
    groups: dict[Cell, list[TaskResult]] = {}
    for result in results:
        groups.setdefault((result.measure, result.task), []).append(result)
    return list(groups.values())


def _common_cells(results: Sequence[TaskResult]) -> set[Cell]:
    """Return the splits and subsets of a task that all models with a score have."""
    scored = [result.present for result in results if result.present]
    if scored:
        return set.intersection(*scored)
    return set()


def _check_pairs(results: Sequence[TaskResult]) -> None:
    """Raise if two models have no split and subset of a task in common."""
    scored = {frozenset(result.present): result for result in results if result.present}
    for (cells, first), (other_cells, other) in combinations(scored.items(), 2):
        if not cells & other_cells:
            raise ValueError(
                f"{other.path}: not all runs have a split and subset of {other.task!r} in common: "
                f"{first.run} has {_shown(cells)}, {other.run} has {_shown(other_cells)}; "
                "leave a run out, or give missing='skip' to leave out the task"
            )


def _missing_cells(
    results: Sequence[TaskResult], common: set[Cell]
) -> Iterable[MissingCell]:
    """Yield the splits and subsets of a task that some model with this task lacks."""
    cells = set().union(*(result.scores for result in results))
    for cell in sorted(cells - common):
        runs = [result.run for result in results if cell not in result.present]
        yield MissingCell(results[0].task, *cell, tuple(runs))


def _shown(cells: Iterable[Cell]) -> str:
    """Return splits and subsets as messages show them, at most three."""
    names = [f"{split} {subset}" for split, subset in sorted(cells)]
    text = ", ".join(names[:3])
    if len(names) > 3:
        text += f" and {len(names) - 3} more"
    return text
