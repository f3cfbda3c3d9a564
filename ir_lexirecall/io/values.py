"""Values per query that another program computed, as one table without gaps."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress, filterfalse
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Bools, Floats, Ints, position_in_segment
from ir_lexirecall._util.errors import (
    and_more,
    check_choice,
    did_you_mean,
    entry,
    naming,
    repeated,
    shown,
    shown_names,
    warn,
)
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.paths import PathLike, is_path
from ir_lexirecall._util.rounding import DIFFERENCE
from ir_lexirecall._util.selecting import among, without
from ir_lexirecall.io.files import is_about_files, matching
from ir_lexirecall.io.frames import Table, readable_again, table_of_frame
from ir_lexirecall.io.id_forms import form_hint
from ir_lexirecall.io.json_shapes import by_run
from ir_lexirecall.io.measure_names import equivalent, known, range_of
from ir_lexirecall.io.mteb_results import (
    CellScores,
    MissingCell,
    TaskResult,
    cells_of_results,
    further_parts,
    has_cells,
    holds_mteb_results,
    results_of_cells,
    results_of_folder,
    with_cells_as_tasks,
)
from ir_lexirecall.io.names import (
    RUN_NAMES,
    TASK_NAMES,
)
from ir_lexirecall.io.no_measures import EXTREMES, constants, note_on_constant
from ir_lexirecall.io.query_columns import (
    NamedColumns,
    notes_on_query_columns,
    notes_on_questions,
    notes_on_row_numbers,
    notes_on_settings,
    roles_of,
    table_label,
)
from ir_lexirecall.io.readers import without_ending
from ir_lexirecall.io.repeated_values import (
    CHOICES,
    RepeatLabels,
    Repeats,
    RepeatsLike,
    averages,
    folded,
    labelled,
    several_runs,
)
from ir_lexirecall.io.shared_values import SharedValues, keys_of_runs
from ir_lexirecall.io.summary_rows import (
    has_word_of_means,
    is_subtotal_name,
    is_summary_name,
    runs_of_means,
    summary_rows,
)
from ir_lexirecall.io.value_cells import SUMMARY, Cells, is_known_measure
from ir_lexirecall.io.value_dicts import are_metrics, cells_of_dicts, cells_of_metrics
from ir_lexirecall.io.value_files import content_of_file
from ir_lexirecall.io.value_formats import samples_in, task_of_samples
from ir_lexirecall.io.value_tables import cells_of_table, tables_of_collections

_ENDINGS = re.compile(
    r"(\.(eval|eval_q|txt|csv|tsv|jsonl?|parquet|out|trec_eval|ir_measures|tot|gz|bz2|xz|zst))+\Z"
)
_PERCENT = 100
_MANY_TIMES = 20
"""A mean that is so many times that of another run may be in percent, where that one is not."""


@dataclass(frozen=True)
class ValueTable:
    """Values of S runs on Q queries with each of some measures, computed elsewhere.

    Attributes:
        runs: names of runs, in the order of the source.
        query_ids: ids of queries, sorted.
        values: by measure, an array of shape ``(S, Q)`` without gaps.
        skipped: queries that were left out because a value was missing.
        per_task: whether the "queries" are tasks or collections, one value each: inference is
            over collections only.
        source: the label of the source in messages.
        costs: measures of which the smaller value is better, as the user said; ``is_cost`` also
            knows some by their names.
        summaries: rows that were left out because they hold the means of the others.
        doubtful: queries with a name such as ``all`` that count, since they hold no means.
        missing_cells: cells of MTEB (task, split, subset) that some run lacks, left out.
        cells: the scores of all cells of MTEB, where some run lacks some; else None.
        query_column: the column that names the queries, if the source is a table.
        missing_of_run: how many queries lack a value, by run, such as rows that failed.
        n_in_source: how many queries there were before any was left out, where that is not the
            number of those here and skipped.
        notes: sentences on how the source was read.
        cut: sentences on what the source lacks because it ended early.
        repeats: by measure, the values of each run before they were averaged over its repeats,
            shape ``(R, Q)``; empty without repeats.
        repeat_kind: ``'samples'`` or ``'seeds'``; None without repeats.
        repeat_labels: of each run, what tells its repeats apart; empty without repeats.
        shared: what each pair of runs has values for, if that differs; else None.
        grid: the values of a leaderboard whose missing ones are skipped, with these; else None.
    """

    runs: list[str]
    query_ids: list[str]
    values: dict[str, Floats]
    skipped: tuple[str, ...] = ()
    per_task: bool = False
    source: str = "values"
    costs: frozenset[str] = frozenset()
    summaries: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    missing_cells: tuple[MissingCell, ...] = ()
    query_column: str | None = None
    missing_of_run: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    repeats: Mapping[str, tuple[Floats, ...]] = field(default_factory=dict, repr=False)
    repeat_kind: str | None = None
    repeat_labels: tuple[tuple[str, ...], ...] = ()
    shared: SharedValues | None = field(default=None, repr=False)
    n_in_source: int | None = None
    grid: Grid | None = field(default=None, repr=False)
    cells: CellScores | None = field(default=None, repr=False)

    @classmethod
    def from_cells(
        cls,
        parts: Sequence[Cells],
        measures: Sequence[str] | None,
        missing: str,
        source: str,
        scores: CellScores | None = None,
    ) -> Self:
        """Return cells as arrays, with the scores that tasks have in cells of their own.

        Raises:
            ValueError: a value is missing, occurs twice, or is out of the range of its measure.
        """
        parts = [part for part in parts if len(part)]
        if not parts:
            raise ValueError(f"{source}: there are no values")
        cells = Cells.joined(parts)
        grid = Grid.from_cells(cells)
        summaries: list[str] = []
        means: list[str] = []
        if cells.may_have_summary:
            if grid.measures == ["value"]:  # no measure is named where it should be
                check_are_no_measures(grid.query_ids, "queries")
            grid, summaries, means = grid.without_means()
        constant: list[str] = []
        if measures is None and cells.query_column is None:
            grid, constant = grid.without_constants()
        names = grid.measures if measures is None else list(measures)
        wanted = _names_there(names, grid.measures, source)
        measures_of_cells = among(grid.measures, wanted)
        grid = grid.selected(wanted, names)
        scores = _checked_scores(scores, grid, wanted, source)
        check_ranges(cells, measures_of_cells, summaries)
        # A leaderboard compares each pair of runs on the tasks that both have.
        keeps_gaps = cells.per_task and missing == "skip"
        if not keeps_gaps:
            _check_gaps(grid, cells.cut, missing, source)
        complete = list(compress(grid.query_ids, grid.is_complete))
        return cls(
            grid.runs,
            complete,
            grid.complete_values,
            tuple(compress(grid.query_ids, ~grid.is_complete)),
            cells.per_task,
            source,
            summaries=tuple(summaries),
            doubtful=_doubtful(cells, complete),
            query_column=cells.query_column,
            missing_of_run=_n_missing_of_run(grid),
            notes=(
                *cells.notes,
                *constant,
                *_notes_on_means(means),
                *_note_on_ids(grid),
                *_notes_on_large_values(grid, per_task=cells.per_task),
            ),
            cut=cells.cut,
            grid=grid if keeps_gaps else None,
            cells=scores,
        )

    def averaged(self, labels: RepeatLabels, repeats: Repeats) -> ValueTable:
        """Return the same table averaged over repeats, which were runs of their own in it.

        Args:
            labels: those of the repeats of each run, after `Repeats.check_labels`.
            repeats: what the repeats are.
        """
        of_repeats = {
            name: folded(x, self.runs, labels) for name, x in self.values.items()
        }
        return replace(
            self,
            runs=list(labels),
            values={name: averages(x) for name, x in of_repeats.items()},
            repeats=of_repeats,
            repeat_kind=repeats.kind,
            repeat_labels=tuple(map(tuple, labels.values())),
            grid=None,
        )

    @property
    def measures(self) -> list[str]:
        """Names of measures, in the order of the source."""
        return list(self.values)

    @property
    def n_queries(self) -> int:
        """Number of queries before any was left out."""
        if self.n_in_source is not None:
            return self.n_in_source
        return len(self.query_ids) + len(self.skipped)

    def missing_share(self, run: str) -> float:
        """Return the share of the queries for which a run lacks a value."""
        return self.missing_of_run.get(run, 0) / max(1, self.n_queries)

    def is_cost(self, measure: str) -> bool | None:
        """Return whether the smaller value of a measure is better.

        None if nothing is known about the measure: then the larger value is taken to be better.

        >>> values = {"RMSE": np.zeros((0, 0)), "zeal": np.zeros((0, 0))}
        >>> table = ValueTable([], [], values)
        >>> table.is_cost("RMSE"), table.is_cost("zeal")
        (True, None)
        """
        if measure in self.costs:
            return True
        about = known(measure)
        return None if about is None else about.smaller_is_better

    def selected(self, measures: Sequence[str]) -> ValueTable:
        """Return the same table with some of the measures, by our names or trec_eval's."""
        theirs = _names_there(measures, self.measures, self.source)
        named = dict(zip(measures, theirs, strict=True))
        values = {name: self.values[their] for name, their in named.items()}
        costs = frozenset(name for name, their in named.items() if their in self.costs)
        repeats = {
            name: self.repeats[their] for name, their in named.items() if self.repeats
        }
        shared = self.shared and self.shared.renamed(named)
        grid = self.grid and self.grid.selected(list(named.values()), list(named))
        return replace(
            self,
            values=values,
            costs=costs,
            repeats=repeats,
            shared=shared,
            grid=grid,
            cells=self.cells and self.cells.renamed(named),
        )

    def with_costs(self, names: Names) -> ValueTable:
        """Return the same table, where the smaller value of some measures is better.

        Raises:
            ValueError: there is no such measure.
        """
        wanted = [str(name) for name in names_of(names, "smaller_is_better") or ()]
        unknown = without(wanted, self.values)
        if unknown:
            raise ValueError(
                f"smaller_is_better: {self.source} has no measure {unknown[0]!r}; there are "
                f"{shown_names(self.measures)}{did_you_mean(unknown[0], self.measures)}"
            )
        if wanted:
            return replace(self, costs=self.costs | set(wanted))
        return self

    def by_task(self) -> dict[str, ValueTable]:
        """Return a table of one value per run for each task, where the "queries" are tasks.

        A run that lacks a value for a task is not in the table of this task.

        Raises:
            ValueError: a run has no value.
        """
        if self.cells is not None:
            return {
                task: self._of_task(task, runs, values)
                for task, runs, values in self.cells.tasks()
            }
        if self.grid is not None:
            return self._tasks_of_grid(self.grid)
        return {
            task: self._of_task(
                task, self.runs, {n: x[:, [q]] for n, x in self.values.items()}
            )
            for q, task in enumerate(self.query_ids)
        }

    def _tasks_of_grid(self, grid: Grid) -> dict[str, ValueTable]:
        """Return a table for each task of a leaderboard that lacks values.

        Raises:
            ValueError: a run has no value.
        """
        has_value = grid.has_values
        for run, of_run in zip(self.runs, has_value, strict=True):
            if not of_run.any():
                raise ValueError(
                    f"{self.source}: run {run!r} has no value for any task; leave it out"
                )
        tables = {}
        for q, task in enumerate(grid.query_ids):
            rows = has_value[:, q]
            values = {
                name: x[rows][:, [q]]
                for name, x in zip(grid.measures, grid.values, strict=True)
            }
            if rows.any():
                tables[task] = self._of_task(
                    task, list(compress(self.runs, rows)), values
                )
        return tables

    def _of_task(
        self, task: str, runs: list[str], values: dict[str, Floats]
    ) -> ValueTable:
        """Return the table of one task.

        Args:
            task: its name.
            runs: the runs with a value for it.
            values: by measure, shape ``(S, 1)``.
        """
        repeats = {}
        if self.repeats:
            q = self.query_ids.index(task)
            repeats = {
                name: tuple(x[:, [q]] for x in runs)
                for name, runs in self.repeats.items()
            }
        return replace(
            self,
            runs=runs,
            query_ids=[task],
            values=values,
            repeats=repeats,
            doubtful=tuple({task} & set(self.doubtful)),
            missing_cells=tuple(
                cell for cell in self.missing_cells if cell.task == task
            ),
            skipped=(),
            shared=None,
            n_in_source=self.n_queries,
        )

    def table(self) -> pd.DataFrame:
        """Return the values as a frame: ``run``, ``query_id``, and a column per measure."""
        ids = pd.MultiIndex.from_product(
            [self.runs, self.query_ids], names=["run", "query_id"]
        )
        return pd.DataFrame(
            {name: values.ravel() for name, values in self.values.items()}, index=ids
        ).reset_index()


# -- from cells to arrays --------------------------------------------------------------------------


@dataclass(frozen=True)
class Grid:
    """Values of K measures of S runs on Q queries, with NaN where there is none.

    Attributes:
        measures, runs: names, in the order of the source.
        query_ids: ids of queries, sorted.
        values: shape ``(K, S, Q)``.
        n_beside: how many queries of a run stand before each query, and behind it, at most, in
            the source; shape ``(2, Q)``.
    """

    measures: list[str]
    runs: list[str]
    query_ids: list[str]
    values: Floats
    n_beside: Ints

    @property
    def has_values(self) -> Bools:
        """Whether a run has the values of all measures for a query, shape ``(S, Q)``."""
        return np.asarray(~np.isnan(self.values).any(axis=0))

    @property
    def is_complete(self) -> Bools:
        """Whether all runs have the values of all measures for a query, shape ``(Q,)``."""
        return np.asarray(self.has_values.all(axis=0))

    @property
    def complete_values(self) -> dict[str, Floats]:
        """The values by measure, of queries that are complete."""
        kept = self.is_complete
        return {
            name: of_measure[:, kept]
            for name, of_measure in zip(self.measures, self.values, strict=True)
        }

    def selected(self, measures: Sequence[str], names: Sequence[str]) -> Self:
        """Return some measures, under other names."""
        rows = [self.measures.index(measure) for measure in measures]
        return replace(self, measures=list(names), values=self.values[rows])

    @classmethod
    def from_cells(cls, cells: Cells) -> Self:
        """Return the values of cells.

        Raises:
            ValueError: a cell has no run, or two cells have the same run, query and measure.
        """
        run, runs = pd.factorize(cells.run)
        if (run < 0).any():
            raise ValueError(
                f"{cells.location(int(run.argmin()))}: there is no run; add a column run, or give "
                "{run: values}"
            )
        query, query_ids = pd.factorize(cells.query_id, sort=True)
        measure, measures = pd.factorize(cells.measure)
        shape = len(measures), len(runs), len(query_ids)
        index = np.ravel_multi_index((measure, run, query), shape)
        check_once(cells, index)
        values = np.full(shape, np.nan)
        values.ravel()[index] = cells.value
        n_beside = _n_beside(np.ravel_multi_index((measure, run), shape[:2]), query)
        return cls(
            list(measures), list(runs), list(map(str, query_ids)), values, n_beside
        )

    def without_constants(self) -> tuple[Grid, list[str]]:
        """Return the measures whose values differ, and a sentence on each of the others.

        Measures with known names stay, and so do those whose values are all 0 or all 1.
        """
        kept, notes = [], []
        for name, values in zip(self.measures, self.values, strict=True):
            first = values.flat[0]
            is_constant = values.size > 1 and bool((values == first).all())
            if is_constant and first not in EXTREMES and not is_known_measure(name):
                notes.append(note_on_constant(name, float(first)))
            else:
                kept.append(name)
        if not notes or not kept:
            return self, []
        return self.selected(kept, kept), notes

    def without_means(self) -> tuple[Grid, list[str], list[str]]:
        """Return other values than means, and the queries and the runs whose values are means."""
        rows = summary_rows(self.values, self.query_ids, self.n_beside)
        summaries = [self.query_ids[q] for q in rows]
        is_query = np.array([query not in summaries for query in self.query_ids])
        values = self.values[:, :, is_query]
        means = runs_of_means(values, self.runs)
        is_run = np.array([run not in means for run in self.runs])
        grid = Grid(
            self.measures,
            list(compress(self.runs, is_run)),
            list(compress(self.query_ids, is_query)),
            values[:, is_run],
            self.n_beside[:, is_query],
        )
        return grid, summaries, means


def _n_beside(group: Ints, query: Ints) -> Ints:
    """Return how many values stand before those of each query in their group, and behind them.

    Args:
        group: a number for the run and measure of each value, in the order of the source.
        query: the number of the query of each value.

    >>> _n_beside(np.array([0, 0, 1]), np.array([1, 0, 1])).tolist()
    [[1, 0], [0, 1]]
    """
    order = np.argsort(group, kind="stable")
    n_before = position_in_segment(group[order])
    n_behind = np.bincount(group)[group[order]] - 1 - n_before
    n_beside = np.zeros((2, int(query.max()) + 1), dtype=np.int64)
    np.maximum.at(n_beside[0], query[order], n_before)
    np.maximum.at(n_beside[1], query[order], n_behind)
    return n_beside


def _checked_scores(
    scores: CellScores | None, grid: Grid, wanted: Sequence[str], source: str
) -> CellScores | None:
    """Return the scores of cells of tasks by the names of the measures in a grid.

    Args:
        scores: the scores by the names in the source, if there are any.
        grid: the values.
        wanted: the name in the source of each measure of the grid.
        source: the label of the source in messages.

    Raises:
        ValueError: a run has no value of a measure at all.
    """
    if scores is None:
        check_measures_of_runs(grid.values, grid.measures, grid.runs, source)
        return None
    check_measures_of_runs(scores.stacked(wanted), grid.measures, scores.runs, source)
    return scores.renamed(dict(zip(grid.measures, wanted, strict=True)))


def _check_gaps(grid: Grid, cut: Sequence[str], missing: str, source: str) -> None:
    """Raise if a value is missing and must not, or no query has all values; see `read_values`."""
    if not grid.is_complete.any():
        raise ValueError(_no_complete_query(grid, source))
    if missing == "error":
        check_complete(grid, source, cut)


def _note_on_ids(grid: Grid) -> list[str]:
    """Return a sentence if ids of queries that are left out would meet in another form."""
    form = "" if grid.is_complete.all() else _form_of_ids(grid)
    return [f"{form}."] if form else []


def _notes_on_means(runs: Iterable[str]) -> list[str]:
    """Return a sentence on each run that holds the means of the others."""
    return [f"The run {run!r} holds the means of the others: left out." for run in runs]


def _doubtful(cells: Cells, query_ids: Iterable[str]) -> tuple[str, ...]:
    """Return queries whose names are those of means."""
    if not cells.may_have_summary:  # programs' rows over all queries are known
        return tuple(among(query_ids, SUMMARY))
    if cells.per_task:
        return tuple(filter(has_word_of_means, query_ids))
    names = list(query_ids)
    are_texts = 2 * sum(" " in name for name in names) > len(names)
    return tuple(
        name
        for name in names
        if is_summary_name(name) or (is_subtotal_name(name) and not are_texts)
    )


def check_once(cells: Cells, index: NDArray[Any]) -> None:
    """Raise if two cells have the same index: the same run, query and measure."""
    repeats = np.flatnonzero(pd.Series(index).duplicated())
    if not len(repeats):
        return
    second = int(repeats[0])
    first = int((index == index[second]).argmax())
    raise ValueError(
        f"{cells.location(second)}: the {cells.measure[second]} of run "
        f"{shown(cells.run[second])} for query {shown(cells.query_id[second])} is "
        f"given twice (first: {cells.location(first)})"
        f"{and_more(len(repeats) - 1)}; {cells.advice(first, second)}"
    )


def check_measures_of_runs(
    values: Floats, measures: Sequence[str], runs: Sequence[str], source: str
) -> None:
    """Raise if a run has no value of a measure at all."""
    absent = np.asarray(np.isnan(values).all(axis=2))
    if not absent.any():
        return
    common = [name for name, row in zip(measures, absent, strict=True) if not row.any()]
    way_out = "there is no measure that all have"
    if common:
        way_out = f"all have {shown_names(common)}: name what to take"
    measure, run = (int(axis[0]) for axis in np.nonzero(absent))
    alike = [name for name in measures if _are_alike(name, measures[measure])]
    if alike:
        way_out = (
            f"{alike[0]!r} looks like the same measure: call it {measures[measure]!r}"
        )
    raise ValueError(
        f"{source}: run {runs[run]!r} has no values of {measures[measure]}"
        f"{and_more(int(absent[measure].sum()) - 1)}; {way_out}"
    )


def _are_alike(name: str, other: str) -> bool:
    """Return whether two names differ, but stand for one measure, such as `map` and `AP`."""
    if name == other:
        return False
    names = []
    for one in (name, other):
        measure = equivalent(one)
        names.append(one if measure is None else measure.measure)
    return names[0].strip().casefold() == names[1].strip().casefold()


def check_ranges(
    cells: Cells, measures: Iterable[str], summaries: Sequence[str]
) -> None:
    """Raise if a value is infinite, or out of the range of its measure."""
    counts = ~np.isin(cells.query_id, np.array(summaries, dtype=object))
    for name in measures:
        low, high = range_of(name)
        ends = [abs(end) for end in (low, high) if np.isfinite(end)]
        slack = DIFFERENCE * max(ends, default=0.0)
        value = cells.value
        is_outside = np.isinf(value) | (value < low - slack) | (value > high + slack)
        faults = np.flatnonzero((cells.measure == name) & is_outside & counts)
        if len(faults):
            first = int(faults[0])
            raise ValueError(
                f"{cells.location(first)}: the {name} of run {shown(cells.run[first])} "
                f"for query {shown(cells.query_id[first])} is {value[first]:.12g}; "
                f"{_advice_on_range(value[first], low, high)}{and_more(len(faults) - 1)}"
            )


def _advice_on_range(value: float, low: float, high: float) -> str:
    """Return advice on a value out of the range of its measure."""
    if np.isinf(value):
        return "leave it out"
    if (low, high) == (0.0, 1.0):
        way_out = "is it another measure? Call it otherwise"
        if 0 <= value <= _PERCENT:
            way_out = "divide percentages by 100"
        return f"its values lie between 0 and 1: {way_out}"
    ends = (("least", low), ("most", high))
    limits = [f"{word} {end:.6g}" for word, end in ends if np.isfinite(end)]
    return f"its values are at {' and at '.join(limits)}; is it another measure? Call it otherwise"


def check_complete(grid: Grid, source: str, cut: Sequence[str]) -> None:
    """Raise if a value is missing, or a file ended early."""
    gaps = np.isnan(grid.values)
    if cut:
        raise ValueError(f"{cut[0]} Give missing='skip' to take what is there")
    if not gaps.any():
        return
    measure, run, query = (int(axis[0]) for axis in np.nonzero(gaps))
    n_incomplete = int(gaps.any(axis=(0, 1)).sum())
    raise ValueError(
        f"{source}: the {grid.measures[measure]} of run {shown(grid.runs[run])} for "
        f"query {shown(grid.query_ids[query])} is missing"
        f"{and_more(int(gaps.sum()) - 1)}; add it, or give missing='skip' to "
        f"leave out {n_incomplete} of {len(grid.query_ids)} queries where they "
        f"lack values{_way_to_meet(grid)}"
    )


def _no_complete_query(grid: Grid, source: str) -> str:
    """Return the message on values of which no query has all, with two runs that do not meet."""
    has_value = grid.has_values
    first = [shown(grid.query_ids[int(row.argmax())]) for row in has_value if row.any()]
    message = f"{source}: no query has all values; do all runs name the same queries?"
    if len(has_value) > 2:
        message += " If so, leave out the runs that lack most."
    for other in first:
        if other != first[0]:
            message += f" One has {first[0]}, another {other}"
            break
    return message + _way_to_meet(grid)


def _way_to_meet(grid: Grid) -> str:
    """Return how names or ids of two runs would meet, as the end of a message; empty if unknown."""
    form = _form_of_names(grid) or _form_of_ids(grid)
    return f". {form}" if form else ""


def _form_of_names(grid: Grid) -> str:
    """Return a sentence on two runs or measures whose names differ in case or blanks only."""
    for label, names in (("run", grid.runs), ("measure", grid.measures)):
        first_of_form: dict[str, str] = {}
        for name in names:
            first = first_of_form.setdefault(name.strip().casefold(), name)
            if first != name:
                return (
                    f"The {label}s {first!r} and {name!r} differ in case or blanks only"
                )
    return ""


def _form_of_ids(grid: Grid) -> str:
    """Return a sentence on the form in which ids of two runs would meet; empty if there is none."""
    has_value = grid.has_values
    for run in range(1, len(grid.runs)):
        ids = list(compress(grid.query_ids, has_value[0] & ~has_value[run]))
        others = list(compress(grid.query_ids, has_value[run] & ~has_value[0]))
        sides = f"query of {grid.runs[0]}", f"query of {grid.runs[run]}"
        hint = form_hint(ids, others, sides)
        if hint:
            return hint
    return ""


def _notes_on_large_values(grid: Grid, *, per_task: bool) -> list[str]:
    """Return sentences on values too large for a measure: in percent, or of something else.

    Only some runs or tasks have them.
    """
    notes = []
    for measure, values in zip(grid.measures, grid.values, strict=True):
        of_tasks = []
        if per_task:
            of_tasks = _notes_on_tasks_in_percent(grid, values)
            notes += _notes_on_large_tasks(grid, values)
        notes += of_tasks or _notes_on_runs_in_percent(grid, measure, values)
    return notes


def _notes_on_runs_in_percent(grid: Grid, measure: str, values: Floats) -> list[str]:
    """Return a sentence if some runs have a measure in percent, and others as fractions."""
    ranges = _possible_percentages(grid.runs, values)
    shares = [one for one in ranges if 0 < one.most <= 1]
    if not shares:
        return []
    first = shares[0]
    least = max(1, _MANY_TIMES * first.mean)
    for one in ranges:
        if one.mean > least:
            return [
                f"{measure}: {one.run!r} has values up to {one.most:.4g}, {first.run!r} up to "
                f"{first.most:.4g}; is one of them in percent?"
            ]
    return []


def _notes_on_tasks_in_percent(grid: Grid, values: Floats) -> list[str]:
    """Return a sentence if some tasks seem to be in percent, in all runs or in one of them.

    Args:
        grid: the values of tasks.
        values: those of one measure, shape ``(S, Q)``.
    """
    ranges = _possible_percentages(grid.query_ids, values.T)
    fractions = [one for one in ranges if one.most <= 1]
    percentages = [one for one in ranges if one.least > 1]
    if percentages and len(fractions) >= len(percentages):
        first, other = percentages[0], fractions[0]
        return [
            f"{first.run}: its values are up to {first.most:.4g}, those of {other.run} up to "
            f"{other.most:.4g}; is it in percent?{and_more(len(percentages) - 1)}"
        ]
    for one in ranges:
        row = int(np.nanargmax(values[:, grid.query_ids.index(one.run)]))
        is_alone = np.nanmedian(values[row]) <= 1
        if is_alone and one.most > max(1, _MANY_TIMES * one.second):
            run = grid.runs[row]
            return [
                f"{one.run}: {run!r} has {one.most:.4g}, other runs up to {one.second:.4g}; is it "
                "in percent?"
            ]
    return []


def _notes_on_large_tasks(grid: Grid, values: Floats) -> list[str]:
    """Return a sentence on tasks that may be none: few have values above 100, such as parameters.

    Args:
        grid: the values of tasks.
        values: those of one measure, shape ``(S, Q)``.
    """
    most = np.nan_to_num(values, nan=-np.inf).max(axis=0)
    large = np.flatnonzero(most > _PERCENT)
    if not 0 < 2 * len(large) < len(most):
        return []
    names = shown_names([grid.query_ids[q] for q in large], 3)
    others = np.delete(most, large).max()
    return [
        f"{names}: values up to {most.max():.4g}, where all other tasks have at most "
        f"{others:.4g}; leave out what is no task"
    ]


class _Range(NamedTuple):
    """Smallest, largest and second largest value of a run or a task, and the mean."""

    run: str
    least: float
    most: float
    second: float
    mean: float


def _possible_percentages(runs: Iterable[str], values: Floats) -> list[_Range]:
    """Return the ranges of runs whose values all lie between 0 and 100.

    Args:
        runs: their names.
        values: shape ``(S, Q)``; NaN where a value is missing.
    """
    ranges = []
    for run, of_run in zip(runs, values, strict=True):
        present = of_run[np.isfinite(of_run)]
        if len(present) and present.min() >= 0 and present.max() <= _PERCENT:
            in_order = np.sort(present).tolist()
            second = in_order[-2] if len(in_order) > 1 else in_order[0]
            mean = float(present.mean())
            ranges.append(_Range(run, in_order[0], in_order[-1], second, mean))
    return ranges


# -- reading ---------------------------------------------------------------------------------------


Names: TypeAlias = "str | Iterable[str] | None"
"""A name of a measure, several, or none."""
ValuesLike: TypeAlias = (
    "ValueTable | str | os.PathLike[str] | Mapping[Any, Any] | Sequence[Any] | Any"
)
"""A table of values per query, a file, a folder, several files, or a mapping of runs to these."""


@dataclass(frozen=True)
class Part:
    """A part of the source of values.

    Attributes:
        content: values, a table of values, or results of MTEB.
        run: the run that the values are of, if the source says it once for all.
        file_run: the name of the file, which is that of the run if the content names none.
        repeat: which of several runs of one system it is.
        has_task_cells: whether the tasks of a table are splits and subsets of tasks.
    """

    content: Cells | Table | list[TaskResult]
    run: str | None = None
    file_run: str | None = None
    repeat: str | None = None
    has_task_cells: bool = False

    def name_of(self, cells: Cells) -> str | None:
        """Return the name of the run of these cells, or None if they name their runs."""
        if self.run is not None:
            return self.run
        if all(run is None for run in cells.run):
            return self.file_run
        return None


@entry
def read_values(
    values: ValuesLike,
    *,
    measures: Names = None,
    missing: str = "error",
    smaller_is_better: Names = None,
    query: str | None = None,
    run: str | None = None,
    where: Mapping[str, Any] | None = None,
    runs: Sequence[str] | None = None,
    repeats: RepeatsLike | Repeats | None = None,
    deterministic: str | Iterable[str] | None = None,
) -> ValueTable:
    """Read values per query that another program computed.

    Rows of different runs are matched by their query; their order does not matter. The
    column of queries is the one that ``query`` names; else one with a known name (``query_id``,
    ``doc_id``, ``sample_id``, ``instance_id``, ``question_id``, ``id``, ...); else the only column
    that has each of its ids once within a run, and the same ids in all runs.

    A row such as ``Average`` that holds the means of the others is left out, and so is a column
    without a name in which pandas wrote row labels.

    Args:
        values: one of

            - a frame (pandas, Polars, Arrow): long (``run``, ``query_id``, ``measure``,
              ``value``), with a column per measure (``run``, ``query_id``, ...), or with a column
              per run (``query_id``, ...); a leaderboard with a row per task and a column per model
              is the latter; with columns ``split``, ``subset`` or ``language`` it is read as MTEB's
              results;
            - a mapping of run names to frames, columns (indexed by query), files,
              ``{query_id: {measure: value}}``, or results of ragas and DeepEval; the outer names of
              a run's dict are measures only if at least half of them are known ones, and no inner
              name is. In a JSON file of two levels without names of measures, they are runs if
              there are fewer of them than of inner names, else queries;
            - files: ``trec_eval -q``, ``ir_measures -q``, autojudge-evaluate's formats, JSON
              (lines), CSV, Parquet; if a file does not name its run, the run gets the file's name
              without the ending;
            - a folder of such files, or of MTEB's results: the value of a task is the mean over
              the splits and subsets that all models have (``compare``: both models of a pair).
        measures: the measures to take, by default all; columns of times, processes,
            settings, labels and p-values, and constants, count only if named here. For a frame with
            a column per run, the name of its values.
        missing: ``'error'`` if a value is missing, or ``'skip'`` to leave out queries that lack
            one; ``compare`` then takes for each pair of runs the queries that both have.
        smaller_is_better: measures whose smaller value is better. The direction of measures of this
            library, of ir_measures and of trec_eval is known, and so are well-known costs by
            their names (RMSE, MAE, loss, latency, cost, perplexity, WER, error rate, ...); for any
            other measure, larger is assumed to be better (``ValueTable.is_cost``).
        query: the column of a table that names the queries.
        run: the column of a table that names the runs.
        where: the rows of a table to take, by the value that a column must have, such as
            ``{"filter": "strict-match"}``.
        runs: which runs to take, by default all.
        repeats: the kind of repeats, if a run has several values for one query: ``'samples'``
            (noise within each query, as with a temperature above 0) or ``'seeds'`` (each shifts
            all queries together, as a training run does). A column ``seed``, ``epoch``,
            ``repeat``, ``trial``, ``sample`` or ``fold`` tells them apart, or one that you name:
            ``("COLUMN", "seeds")``; or a run of a mapping is a list of tables or files. The values
            of the table are averages over repeats.
        deterministic: runs that have no seeds.

    Raises:
        ValueError: a value is missing, occurs twice, is not a finite number or out of the
            measure's range, no column is known to name queries, or the source cannot be read; the
            message names the file and line, or the cell. ``smaller_is_better`` names no measure
            of these, or ``query``, ``run`` or ``where`` no column.

    >>> bm25 = {"q1": {"AP": 0.5}, "q2": {"AP": 0.25}}
    >>> table = read_values({"bm25": bm25, "ql": {"q1": {"AP": 0.5}, "q2": {"AP": 0.5}}})
    >>> table.runs, table.query_ids, table.values["AP"].tolist()
    (['bm25', 'ql'], ['q1', 'q2'], [[0.5, 0.25], [0.5, 0.5]])
    >>> rows = {"item": ["a", "b"], "acc": [True, False]}
    >>> turned = {"item": ["b", "a"], "acc": [False, True]}
    >>> import pandas as pd
    >>> frames = {"old": pd.DataFrame(rows), "new": pd.DataFrame(turned)}
    >>> read_values(frames, query="item").values["acc"].tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    check_choice("missing", missing, ["error", "skip"])
    wanted = names_of(measures)
    runs = names_of(runs, "runs")
    if isinstance(values, ValueTable):
        table = values if wanted is None else values.selected(wanted)
        return table.with_costs(smaller_is_better)
    repeated_runs = Repeats.from_argument(repeats, deterministic)
    columns = NamedColumns(query, run, where or {}, repeated_runs, wanted)
    cells, results = cells_of_parts(parts_of(values, columns), columns)
    source = ValueSource(cells, results, columns, missing, source_name(values))
    return source.table(runs).with_costs(smaller_is_better)


@dataclass(frozen=True)
class ValueSource:
    """Values as they were read, before the runs stand side by side.

    Attributes:
        cells: values of runs.
        results: results of MTEB.
        columns: the measures that are wanted, and what several values of a run for one query are.
        missing: what to do about a missing value.
        name: the label of the source in messages.
    """

    cells: list[Cells]
    results: list[TaskResult]
    columns: NamedColumns
    missing: str
    name: str

    def table(self, runs: Sequence[str] | None = None) -> ValueTable:
        """Return the values of all runs, or of some, on what these have.

        Raises:
            ValueError: there is no such run, or a value is missing, given twice or out of range.
        """
        source = self if runs is None else self.only_runs(runs)
        cells = source.cells
        missing_cells: list[MissingCell] = []
        scores = None
        if source.results:
            of_results, missing_cells = cells_of_results(source.results, self.missing)
            if missing_cells and not cells:
                scores = CellScores.from_results(source.results)
            cells = [*cells, of_results]
        options = self.columns.measures, self.missing, self.name
        repeats = self.columns.repeats
        if repeats is not None:
            cells, labels = labelled(cells, repeats)
            of_repeats = ValueTable.from_cells(cells, *options)
            averaged = of_repeats.averaged(labels, repeats)
            return replace(averaged, missing_cells=tuple(missing_cells))
        table = ValueTable.from_cells(cells, *options, scores)
        if runs is not None and not table.query_ids:
            raise ValueError(f"{self.name}: no task has a value of every run")
        table = replace(table, missing_cells=tuple(missing_cells))
        return replace(table, shared=source.shared_in(table))

    def only_runs(self, runs: Sequence[str]) -> ValueSource:
        """Return the values of some runs.

        Raises:
            ValueError: there is no such run.
        """
        names = dict.fromkeys(chain.from_iterable(part.run for part in self.cells))
        names |= dict.fromkeys(result.run for result in self.results)
        check_runs_there(runs, list(names), self.name)
        results = [result for result in self.results if result.run in runs]
        return replace(
            self, cells=[part.only_runs(runs) for part in self.cells], results=results
        )

    def shared_in(self, table: ValueTable) -> SharedValues | None:
        """Return what each pair of runs has values for; None if all pairs have the same."""
        if len(table.runs) < 3:
            return None
        if not table.skipped and not table.missing_cells:
            return None
        keys = keys_of_runs(self.cells, self.results)
        if len(set(keys.values())) == 1:
            return None
        of_run = {run: keys.get(run, frozenset()) for run in table.runs}
        return SharedValues(of_run, self.table, {name: name for name in table.values})


def _n_missing_of_run(grid: Grid) -> dict[str, int]:
    """Return the number of queries without a value of each run that lacks any."""
    n_missing = (~grid.has_values).sum(axis=1).tolist()
    return {run: n for run, n in zip(grid.runs, n_missing, strict=True) if n}


def check_runs_there(runs: Sequence[str], names: Sequence[str], source: str) -> None:
    """Raise if a run that is wanted has no values."""
    for run in runs:
        if run not in names:
            raise ValueError(
                f"{source}: no values of run {run!r}; there are {shown_names(names)}"
                f"{did_you_mean(run, names)}"
            )


def names_of(names: Names, argument: str = "measures") -> list[str] | None:
    """Return one or several names as a list; None stands for all.

    Raises:
        ValueError: they are no names.
    """
    if names is None:
        return None
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Iterable) or isinstance(names, (bytes, Mapping)):
        raise ValueError(f"{argument} must be names, not {shown(names)}")
    return list(names)


def source_name(values: Any) -> str:
    """Return the label of values in messages."""
    if is_path(values):
        return os.fspath(values)
    if isinstance(values, Table):
        return values.name
    return "values"


def parts_of(values: ValuesLike, columns: NamedColumns) -> list[Part]:
    """Return the parts of a source of values: files, runs, or a table.

    Raises:
        ValueError: it cannot be read, or a run has no values.
    """
    if is_path(values):
        return parts_of_path(values, columns)
    if isinstance(values, Mapping):
        check_are_no_measures(list(values), "runs")
        parts = []
        for run, source in values.items():
            parts += parts_of_run(str(run), source, columns)
        return parts
    table = table_of_frame(values)
    if table is not None:
        return [Part(columns.applied(table))]
    return parts_of_paths(values, columns)


def check_are_no_measures(names: Sequence[Any], kind: str) -> None:
    """Raise if runs or queries have the names of measures, as in {measure: {query: value}}."""
    texts = list(map(str, names))
    if len(texts) > 1 and all(
        len(name) > 1 and is_known_measure(name) for name in texts
    ):
        raise ValueError(
            f"{shown_names(texts, 3)} are names of measures, not of {kind}; "
            "give {run: {query_id: {measure: value}}}, or a row per query and run"
        )


def parts_of_paths(values: Any, columns: NamedColumns) -> list[Part]:
    """Return the values in several files or folders.

    Raises:
        ValueError: ``values`` are no paths, or cannot be read.
    """
    paths = list(values) if isinstance(values, Sequence) else []
    if not paths or not all(is_path(path) for path in paths):
        raise ValueError(
            f"values of type {type(values).__name__} cannot be read: give a frame with run, "
            "query_id and a column per measure, a mapping of runs to frames, or files"
        )
    twice = repeated(map(os.path.realpath, paths))
    if twice is not None:
        raise ValueError(f"{twice} is given twice; give it once")
    if not any(map(os.path.isdir, paths)):
        return parts_of_files(paths, columns)
    parts = []
    for path in paths:
        parts += parts_of_path(path, columns)
    return parts


def parts_of_run(run: str, source: Any, columns: NamedColumns) -> list[Part]:
    """Return the values of one run, or of several runs of one system.

    Raises:
        ValueError: they cannot be read, or several are given and it is not said what they are.
    """
    several = several_runs(source)
    if several is None:
        return [part_of_run(run, source, columns)]
    if columns.repeats is None:
        raise ValueError(
            f"run {run!r}: a list of {len(several)}; say what they are: {CHOICES}"
        )
    return [
        replace(part_of_run(run, one, columns), repeat=str(number))
        for number, one in enumerate(several, start=1)
    ]


def part_of_run(run: str, source: Any, columns: NamedColumns) -> Part:
    """Return the values of one run.

    Raises:
        ValueError: they cannot be read.
    """
    name = f"run {run!r}"
    is_iterator = isinstance(source, Iterator)
    source = readable_again(source)
    if is_iterator and not len(source):
        raise ValueError(
            f"{name}: an iterator without values; if it was read before, give a list"
        )
    if is_path(source) and os.path.isdir(source):
        results = results_of_folder(source, columns.measures, columns.where)
        return Part([replace(result, run=run) for result in results])
    if is_path(source):
        content = read_content(source, columns)
        if is_of_one_run(content):
            content = with_values_of_run(replace(content, one_run=True), run)
        return Part(content, run)
    if isinstance(source, Mapping):
        return Part(cells_of_dicts(source, name, columns.measures), run)
    if are_metrics(source):
        return Part(cells_of_metrics(source, name), run)
    if hasattr(source, "test_results"):
        return Part(cells_of_dicts(scores_of_deepeval(source), name), run)
    table = table_of_frame(source, name)
    if table is not None:
        table = with_values_of_run(columns.applied(table), run)
        return Part(as_one_run(table, name), run)
    reason = ""
    if isinstance(source, (Sequence, np.ndarray)):
        reason = ", as values are not paired by their position"
    raise ValueError(
        f"{name}: a {type(source).__name__} cannot be read{reason}; give a frame, a list of "
        "records, a column indexed by query, {query_id: {measure: value}}, or a file"
    )


def with_values_of_run(table: Table, run: str) -> Table:
    """Return the table of a run; its column with the name of the run, if any, becomes `value`.

    A table with a column per run has such a column.
    """
    if run not in table.columns or "value" in table.columns or is_known_measure(run):
        return table
    return table.renamed(run, "value")


def as_one_run(table: Table, name: str) -> Table:
    """Return the table of a run; a note says if a column such as `model` names several runs.

    Raises:
        ValueError: a column `run` names several, whose rows would count as one.
    """
    table = replace(table, one_run=True)
    column = table.named(RUN_NAMES)
    if column is None or column == table.repeat:
        return table
    runs = sorted(map(str, table.ids(column) - {None}))
    if len(runs) < 2:
        return table
    message = (
        f"{name}: the column {column!r} of its table names several runs "
        f"({shown_names(runs, 3)})"
    )
    if column.lower().startswith("run"):
        raise ValueError(
            f"{message}; give the table itself, without a name, or the rows of one run, such as "
            f"where={{{column!r}: {runs[0]!r}}}"
        )
    note = f"{message}; all rows count for {name}."
    return replace(table, notes=(*table.notes, f"{note[0].upper()}{note[1:]}"))


def scores_of_deepeval(results: Any) -> dict[str, dict[str, float]]:
    """Return the scores of DeepEval's results, by the name of the test and the metric."""
    scores_of_test = {}
    for test in results.test_results:
        metrics = test.metrics_data or ()
        scores_of_test[str(test.name)] = {
            str(metric.name): metric.score for metric in metrics
        }
    return scores_of_test


def parts_of_path(path: PathLike, columns: NamedColumns) -> list[Part]:
    """Return the values in a file, in the files of a pattern or folder, or in MTEB's results."""
    if not os.path.isdir(path):
        return parts_of_files(matching(path) or [path], columns)
    samples = samples_in(path)
    if samples:
        check_is_one_task(samples, path)
        return parts_of_files(samples, columns)
    items = [item for item in _items_in(path) if not is_about_files(item.name)]
    files = [item for item in items if item.is_file()]
    if not files or len(files) < len(items):
        check_is_no_mixture(path, files)
        return [Part(results_of_folder(path, columns.measures, columns.where))]
    return parts_of_files(files, columns)


def check_is_no_mixture(folder: PathLike, files: Sequence[Path]) -> None:
    """Raise if a folder has tables of values beside other folders, which are of no run then."""
    tables = [path for path in files if path.suffix.lower() in (".csv", ".tsv")]
    if tables:
        raise ValueError(
            f"{os.fspath(folder)}: it has folders beside files of values ({tables[0].name}); give "
            f"the files themselves, as in {os.path.join(folder, '*' + tables[0].suffix)}"
        )


def check_is_one_task(samples: Iterable[PathLike], folder: PathLike) -> None:
    """Raise if files of lm-eval are of several tasks, whose documents have the same ids."""
    tasks = list(dict.fromkeys(str(task_of_samples(path)) for path in samples))
    if len(tasks) > 1:
        raise ValueError(
            f"{os.fspath(folder)}: it has samples of {len(tasks)} tasks ({shown_names(tasks, 3)}); "
            "give the files of one, or the folder to benchmark, where each task is a collection"
        )


def parts_of_files(paths: Sequence[PathLike], columns: NamedColumns) -> list[Part]:
    """Return the values in files.

    Where no column of a table names runs, its columns are measures if their names say so, or if
    another file has two of them, too (one is the column of queries).
    """
    contents = [read_content(path, columns) for path in paths]
    if len(contents) == 1 and isinstance(contents[0], Cells):
        contents = [by_run(contents[0], columns.measures)]
    tables = [content for content in contents if is_of_one_run(content)]
    n_tables = Counter[str]()
    for table in tables:
        n_tables.update(name.lower() for name in table.columns)
    parts = []
    for name, content in zip(names_of_runs(paths, contents), contents, strict=True):
        if isinstance(content, Table):
            has_measures = is_of_one_run(content) and _has_measures(content, n_tables)
            content = replace(content, one_run=has_measures or None)
        parts.append(Part(content, file_run=name))
    return parts


def _has_measures(table: Table, n_tables: Mapping[str, int]) -> bool:
    """Return whether the columns of a file's table are measures.

    Args:
        table: the table.
        n_tables: the number of tables with a column of each name, in lower case.
    """
    n_shared = sum(n_tables[name.lower()] > 1 for name in table.columns)
    return bool(table.measures) or n_shared > 1


def read_content(path: PathLike, columns: NamedColumns) -> Cells | Table:
    """Return the values in a file, of a table those rows that are wanted.

    Raises:
        ValueError: the file cannot be read, or columns are named and it has none.
    """
    content = content_of_file(path, columns)
    if isinstance(content, Table):
        return columns.applied(content)
    named = next(iter(columns.where), columns.run)
    if named is not None:
        raise ValueError(
            f"{os.fspath(path)}: there is no table with a column {named!r}"
        )
    return content


def names_of_runs(
    paths: Sequence[PathLike], contents: Sequence[Cells | Table]
) -> list[str]:
    """Return the name of the run in each file.

    It is the model that the file names, unless other files name it, too; else the file name.
    """
    models = []
    for content in contents:
        models.append(content.run if isinstance(content, Table) else None)
    n_files = Counter(models)
    names = []
    for model, path in zip(models, paths, strict=True):
        if model is not None and n_files[model] == 1:
            names.append(model)
        else:
            names.append(run_name(path))
    return names


def is_of_one_run(content: Cells | Table) -> TypeGuard[Table]:
    """Return whether the content of a file is a table without a column that names runs."""
    return isinstance(content, Table) and content.named(RUN_NAMES) is None


def cells_of_parts(
    parts: Sequence[Part], columns: NamedColumns
) -> tuple[list[Cells], list[TaskResult]]:
    """Return the values of parts, each with its run, and the results of MTEB in them.

    Raises:
        ValueError: two files have the same name, a run has no values, or a table cannot be read.
    """
    parts = with_cells_of_tables(parts, columns)
    several = []
    results = []
    by_file = []
    for part in parts:
        if isinstance(part.content, list):
            results += part.content
            continue
        assert isinstance(part.content, Cells)
        name = part.name_of(part.content)
        if name is not None and part.run is None:
            by_file.append(name)
        content = _labelled(part.content, part, name)
        if part.has_task_cells:
            results += results_of_cells(content)
        else:
            several.append(content)
    if twice := repeated(by_file):
        raise ValueError(
            f"two files are called {twice!r}; rename one, or name them in Python: {{name: file}}"
        )
    return several, results


def _labelled(cells: Cells, part: Part, name: str | None) -> Cells:
    """Return the cells of a part with the name of its run and the label of its repeat, if any.

    Raises:
        ValueError: a run has no values.
    """
    if part.run is not None and not len(cells):
        raise ValueError(f"run {part.run!r} has no values; leave it out")
    if name is not None:
        cells = cells.of_run(name)
    if part.repeat is None:
        return cells
    return cells.of_repeat(part.repeat)


def with_task_cells(part: Part, query: str | None, further: Sequence[str]) -> Part:
    """Return a part with a task for each split and subset, if its table has such columns.

    Args:
        part: the part.
        query: the column that names the queries, if the user said it.
        further: see `further_parts`.
    """
    table = part.content
    if not isinstance(table, Table) or part.repeat is not None:
        return part
    if not has_cells(table, further) or query not in (None, table.named(TASK_NAMES)):
        return part
    cells = with_cells_as_tasks(table, further)
    return replace(part, content=cells, has_task_cells=True)


def with_cells_of_tables(parts: Sequence[Part], columns: NamedColumns) -> list[Part]:
    """Return parts whose tables are cells; the columns of queries are found for all together.

    Raises:
        ValueError: a table cannot be read, or ``query`` is given and there is no table.
    """
    query = columns.query
    further = further_parts(
        part.content for part in parts if isinstance(part.content, Table)
    )
    parts = [with_task_cells(part, query, further) for part in parts]
    tables = [part.content for part in parts if isinstance(part.content, Table)]
    if query is not None and not tables:
        raise ValueError(f"there is no table with a column {query!r}; leave query= out")
    all_roles = roles_of(tables, query)
    queries = [roles.query for roles in all_roles]
    notes = [*notes_on_settings(tables), *notes_on_questions(tables, queries)]
    if query is None:
        notes += notes_on_query_columns(tables, queries)
    notes += notes_on_row_numbers(tables, queries)
    roles = iter(all_roles)
    constant = constants(tables)
    several = []
    for part in parts:
        if isinstance(part.content, Table):
            cells = cells_of_table(
                part.content, next(roles), columns.measures, constant
            )
            part = replace(part, content=replace(cells, notes=(*notes, *cells.notes)))
            notes = []  # said once
        several.append(part)
    return several


@entry
def read_collections(
    values: ValuesLike,
    *,
    measures: Names = None,
    missing: str = "error",
    smaller_is_better: Names = None,
    query: str | None = None,
    run: str | None = None,
    where: Mapping[str, Any] | None = None,
    repeats: RepeatsLike | Repeats | None = None,
    deterministic: str | Iterable[str] | None = None,
) -> dict[str, ValueTable]:
    """Read values per query on several collections.

    Args:
        values: a mapping of collections to what ``read_values`` takes; a frame or file of a table
            (CSV, TSV, JSON, Parquet) with a further column ``collection`` (or ``dataset``,
            ``task``); a folder with a folder of files for each collection; or a leaderboard, a
            value per task and run: then every task is a collection with a single value per run.
        measures: as in ``read_values``.
        missing: as in ``read_values``.
        smaller_is_better: as in ``read_values``.
        query: as in ``read_values``.
        run: as in ``read_values``.
        where: as in ``read_values``.
        repeats: as in ``read_values``.
        deterministic: as in ``read_values``.

    Raises:
        ValueError: as ``read_values``; the message names the collection.

    >>> rows = {"collection": ["c", "c"], "query_id": ["q", "q"], "run": ["a", "b"]}
    >>> import pandas as pd
    >>> read_collections(pd.DataFrame(rows).assign(AP=[0.1, 0.2]))["c"].values["AP"].tolist()
    [[0.1], [0.2]]
    """
    options: dict[str, Any] = {
        "measures": measures,
        "missing": missing,
        "query": query,
        "run": run,
        "where": where,
        "repeats": Repeats.from_argument(repeats, deterministic),
    }
    parts = collections_in(values, NamedColumns(query, run, where or {}))
    if not isinstance(parts, Mapping):
        return tasks_in(parts, values, options).with_costs(smaller_is_better).by_task()
    if not parts:
        raise ValueError("there are no collections; give at least one")
    tables = {}
    for name, part in parts.items():
        with naming(f"collection {str(name)!r}"):
            tables[str(name)] = read_values(
                part, smaller_is_better=smaller_is_better, **options
            )
    return tables


def collections_in(values: ValuesLike, columns: NamedColumns) -> Any:
    """Return the values of each collection as a mapping, or all of them where none is named."""
    if isinstance(values, Mapping):
        return values
    content = values
    if is_path(values):
        if os.path.isdir(values):
            return folders_of_collections(values) or values
        content = content_of_file(values, columns)
    elif (table := table_of_frame(values)) is not None:
        content = table
    if not isinstance(content, Table):
        return content
    by_collection = tables_of_collections(content, columns.query)
    if by_collection is None:
        return content
    return by_collection


def folders_of_collections(path: PathLike) -> dict[str, Any]:
    """Return the folders of collections by name; none if they hold results of MTEB.

    Of samples of lm-eval, which lie in a folder per model, return the files of each task.
    """
    tasks: dict[str, list[Path]] = {}
    for sample in samples_in(path):
        tasks.setdefault(str(task_of_samples(sample)), []).append(sample)
    if tasks:
        return tasks
    items = _items_in(path)
    folders = [item for item in items if item.is_dir()]
    if any(map(holds_mteb_results, folders)):
        return {}
    if folders:
        files = [item.name for item in items if item not in folders]
        warn_of_files(path, list(filterfalse(is_about_files, files)))
    return {folder.name: folder for folder in folders}


def _items_in(path: PathLike) -> list[Path]:
    """Return the files and folders in a folder, sorted, without hidden ones."""
    items = sorted(Path(path).iterdir())
    return [item for item in items if not item.name.startswith(".")]


def warn_of_files(path: PathLike, names: Sequence[str]) -> None:
    """Warn of files beside the folders of collections."""
    if names:
        warn(
            f"{Path(path) / names[0]}: left out, as it is not in the folder of a collection"
            f"{and_more(len(names) - 1)}"
        )


def tasks_in(values: Any, source: ValuesLike, options: Mapping[str, Any]) -> ValueTable:
    """Return values per task.

    Raises:
        ValueError: the values are per query, of no named collection.
    """
    table = None if isinstance(values, Cells) else read_values(values, **options)
    if table is None or not table.per_task:
        raise ValueError(
            f"{table_label(source_name(source))} has no column that names collections; "
            "add a column collection, or give {collection: values}"
        )
    return table


def run_name(path: PathLike) -> str:
    """Return the name of the run whose values a file holds.

    >>> run_name("values/bm25.eval.txt.gz"), run_name("ql.csv")
    ('bm25', 'ql')
    """
    name = Path(path).name
    return without_ending(_ENDINGS.sub("", name) or name)


def _names_there(wanted: Sequence[str], names: Sequence[str], source: str) -> list[str]:
    """Return the names that a source has for some measures: the same, or trec_eval's.

    >>> _names_there(["AP", "P@5"], ["map", "P_5", "P@5"], "values")
    ['map', 'P@5']
    """
    ours = {}
    for name in names:
        measure = equivalent(name)
        if measure is not None:
            ours[measure.measure] = name
    theirs = []
    for name in wanted:
        if name in names:
            theirs.append(name)
        elif name in ours:
            theirs.append(ours[name])
        else:
            raise ValueError(
                f"{source}: no values of {name!r}; there are {shown_names(list(names))}"
                f"{did_you_mean(name, names)}"
            )
    return theirs
