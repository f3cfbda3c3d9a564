"""Values per query that something else computed, from anywhere, as one table: every cell once, none missing, all in range."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeGuard

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import (
    and_more,
    check_choice,
    did_you_mean,
    entry,
    naming,
    repeated,
    shown_names,
)
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import DIFFERENCE
from ir_lexirecall.io.files import matching
from ir_lexirecall.io.measure_names import equivalent, known
from ir_lexirecall.io.value_cells import (
    RUN_NAMES,
    Cells,
    Table,
    cells_of_dicts,
    content_of_file,
    mteb_cells,
    table_of_frame,
)

_ENDINGS = re.compile(
    r"(\.(eval|eval_q|txt|csv|tsv|jsonl?|parquet|out|trec_eval|ir_measures|tot|gz|bz2|xz|zst))+\Z"
)


@dataclass(frozen=True)
class ValueTable:
    """Values of S runs on Q queries with each of some measures, computed elsewhere.

    Attributes:
        runs: names of runs, in the order of the source.
        query_ids: ids of queries, sorted.
        values: by measure, an array of shape ``(S, Q)`` without gaps.
        skipped: queries that were left out because a value was missing.
        per_task: whether the "queries" are tasks or collections, one value each: inference is over collections only.
        source: what messages call it.
        costs: measures of which the smaller value is better, as the user said; ``is_cost`` also knows some by their names.
    """

    runs: list[str]
    query_ids: list[str]
    values: dict[str, Floats]
    skipped: tuple[str, ...] = ()
    per_task: bool = False
    source: str = "values"
    costs: frozenset[str] = frozenset()

    @classmethod
    def from_cells(
        cls, parts: Sequence[Cells], measures: Sequence[str] | None, missing: str, source: str
    ) -> Self:
        """Cells as arrays; every fault is named, as ``read_values`` says."""
        if not (parts := [part for part in parts if len(part)]):
            raise ValueError(f"{source}: there are no values")
        ends = np.cumsum([len(part) for part in parts])

        def place(n: int) -> str:
            part = int(np.searchsorted(ends, n, side="right"))
            return parts[part].place(n - int(ends[part]) + len(parts[part]))

        run, query, measure, value = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("run", "query_id", "measure", "value")
        )
        s, runs = pd.factorize(run)
        if (s < 0).any():
            raise ValueError(
                f"{place(int(s.argmin()))}: there is no run; add a column run, or give {{run: values}}"
            )
        q, query_ids = pd.factorize(query, sort=True)
        k, there = pd.factorize(measure)
        names = list(there) if measures is None else measures
        theirs = _names_there(names, list(there), source)
        shape = (len(there), len(runs), len(query_ids))
        cell = np.ravel_multi_index((k, s, q), shape)
        again = np.flatnonzero(pd.Series(cell).duplicated())
        if len(again):
            second = int(again[0])
            first = int((cell == cell[second]).argmax())
            raise ValueError(
                f"{place(second)}: the {measure[second]} of run {run[second]!r} for query {query[second]!r} is given twice "
                f"(first: {place(first)}){and_more(len(again) - 1)}; keep one"
            )
        grid = np.full(shape, np.nan)
        grid.ravel()[cell] = value
        grid = grid[[list(there).index(name) for name in theirs]]
        lacking = np.isnan(grid).all(axis=2)  # runs that have no value, by measure
        if lacking.any():
            common = [
                name for name, some in zip(names, lacking.any(axis=1), strict=True) if not some
            ]
            cure = f"all have {shown_names(common)}: name what to take"
            a, b = (int(axis[0]) for axis in np.nonzero(lacking))
            raise ValueError(
                f"{source}: run {runs[b]!r} has no values of {names[a]}{and_more(int(lacking[a].sum()) - 1)}; "
                f"{cure if common else 'there is no measure that all have'}"
            )
        for name in [name for name in there if name in theirs]:
            low, high = (known(name) or (-np.inf, np.inf))[:2]
            slack = DIFFERENCE * max(
                (abs(end) for end in (low, high) if np.isfinite(end)), default=0.0
            )
            outside = np.isinf(value) | (value < low - slack) | (value > high + slack)
            bad = np.flatnonzero((measure == name) & outside)
            if not len(bad):
                continue
            first = int(bad[0])
            if np.isinf(value[first]):
                cure = "leave it out"
            elif (low, high) == (0.0, 1.0):
                cure = "its values lie between 0 and 1: divide percentages by 100"
            else:
                limits = [
                    f"{word} {end:.6g}"
                    for word, end in (("least", low), ("most", high))
                    if np.isfinite(end)
                ]
                cure = f"its values are at {' and at '.join(limits)}; is it another measure? Call it otherwise"
            raise ValueError(
                f"{place(first)}: the {name} of run {run[first]!r} for query {query[first]!r} is {value[first]:.12g}; {cure}"
                f"{and_more(len(bad) - 1)}"
            )
        gaps = np.isnan(grid)
        incomplete = gaps.any(axis=(0, 1))
        if gaps.any() and missing == "error":
            a, b, c = (int(axis[0]) for axis in np.nonzero(gaps))
            raise ValueError(
                f"{source}: the {names[a]} of run {runs[b]!r} for query {query_ids[c]!r} is missing"
                f"{and_more(int(gaps.sum()) - 1)}; add it, or give missing='skip' to leave out {int(incomplete.sum())} of "
                f"{len(query_ids)} queries"
            )
        if incomplete.all():
            raise ValueError(
                f"{source}: no query has all values; do all runs name the same queries?"
            )
        return cls(
            list(runs),
            list(map(str, query_ids[~incomplete])),
            {name: values[:, ~incomplete] for name, values in zip(names, grid, strict=True)},
            tuple(map(str, query_ids[incomplete])),
            all(part.per_task for part in parts),
            source,
        )

    @property
    def measures(self) -> list[str]:
        """Names of measures, in the order of the source."""
        return list(self.values)

    def is_cost(self, measure: str) -> bool | None:
        """Whether the smaller value of a measure is better; None where nothing is known of it: then the larger one is taken to be.

        >>> ValueTable([], [], {"RMSE": np.zeros((0, 0)), "zeal": np.zeros((0, 0))}).is_cost("RMSE")
        True
        """
        if measure in self.costs:
            return True
        return None if (of_measure := known(measure)) is None else of_measure.smaller_is_better

    def with_costs(self, names: Names) -> ValueTable:
        """The same table, where the smaller value of some measures is better.

        Raises:
            ValueError: there is no such measure.
        """
        wanted = [names] if isinstance(names, str) else list(names or ())
        if unknown := [name for name in map(str, wanted) if name not in self.values]:
            raise ValueError(
                f"smaller_is_better: {self.source} has no measure {unknown[0]!r}; there are {shown_names(self.measures)}"
                f"{did_you_mean(unknown[0], self.measures)}"
            )
        return replace(self, costs=self.costs | set(map(str, wanted))) if wanted else self

    def by_task(self) -> dict[str, ValueTable]:
        """Where the "queries" are tasks: a table of one value per run for each of them."""
        return {
            task: replace(
                self,
                query_ids=[task],
                values={name: x[:, [q]] for name, x in self.values.items()},
                skipped=(),
            )
            for q, task in enumerate(self.query_ids)
        }

    def table(self) -> pd.DataFrame:
        """The values as a frame: ``run``, ``query_id``, and a column per measure."""
        ids = pd.MultiIndex.from_product([self.runs, self.query_ids], names=["run", "query_id"])
        return pd.DataFrame(
            {name: values.ravel() for name, values in self.values.items()}, index=ids
        ).reset_index()


Names: TypeAlias = "str | Iterable[str] | None"
"""A name of a measure, several, or none."""
ValuesLike: TypeAlias = (
    "ValueTable | str | os.PathLike[str] | Mapping[Any, Any] | Sequence[Any] | Any"
)
"""Values per query: a table, a file or folder, several files, or a mapping of run names to any of these."""


@entry
def read_values(
    values: ValuesLike,
    *,
    measures: Names = None,
    missing: str = "error",
    smaller_is_better: Names = None,
) -> ValueTable:
    """Read values per query that another program computed.

    Args:
        values: one of

            - a frame (pandas, Polars, Arrow): long (``run``, ``query_id``, ``measure``, ``value``), with a column per measure
              (``run``, ``query_id``, ...), or with a column per run (``query_id``, ...); a leaderboard with a row per task
              and a column per model is the latter;
            - a mapping of run names to frames, columns (indexed by query), files, ``{query_id: {measure: value}}``, or results
              of ragas and DeepEval;
            - files: ``trec_eval -q``, ``ir_measures -q``, autojudge-evaluate's formats, JSON (lines), CSV, Parquet; where a
              file does not say which run it is of, that is its name without the ending;
            - a folder of such files, or of MTEB's results.
        measures: which measures to take, by default all; of a frame with a column per run, what its values are called.
        missing: ``'error'`` where a value is missing, or ``'skip'`` the queries that lack one.
        smaller_is_better: measures of which the smaller value is the better one. Those of this library, of ir_measures and of
            trec_eval are known, and so are well-known costs by their names (RMSE, MAE, loss, latency, cost, perplexity, WER,
            error rate, ...); of any other one the larger value is taken to be the better one (``ValueTable.is_cost``).

    Raises:
        ValueError: a value is missing, occurs twice, is not a finite number or out of the measure's range, or the source
            cannot be read; the message names the file and line, or the cell. ``smaller_is_better`` names no measure of these.

    >>> table = read_values({"bm25": {"q1": {"AP": 0.5}, "q2": {"AP": 0.25}}, "ql": {"q1": {"AP": 0.5}, "q2": {"AP": 0.5}}})
    >>> table.runs, table.query_ids, table.values["AP"].tolist()
    (['bm25', 'ql'], ['q1', 'q2'], [[0.5, 0.25], [0.5, 0.5]])
    """
    check_choice("missing", missing, ["error", "skip"])
    wanted = (
        [measures] if isinstance(measures, str) else None if measures is None else list(measures)
    )
    if isinstance(values, ValueTable):
        if wanted is not None:
            theirs = dict(
                zip(wanted, _names_there(wanted, values.measures, values.source), strict=True)
            )
            selected = {name: values.values[their] for name, their in theirs.items()}
            costs = frozenset(name for name, their in theirs.items() if their in values.costs)
            values = replace(values, values=selected, costs=costs)
        return values.with_costs(smaller_is_better)
    parts: list[Cells] = []
    if isinstance(values, (str, os.PathLike)):
        parts = _path_cells(values, wanted)
    elif isinstance(values, Mapping):
        for run, part in values.items():
            what = f"values of run {str(run)!r}"
            if isinstance(part, (str, os.PathLike)):
                content = content_of_file(part)
                cells = (
                    content.cells(one_run=_is_of_one_run(content))
                    if isinstance(content, Table)
                    else content
                )
            elif isinstance(part, Mapping):
                cells = cells_of_dicts(part, what, wanted)
            elif hasattr(part, "test_results"):  # DeepEval's
                tests = {str(test.name): test.metrics_data or () for test in part.test_results}
                scores = {
                    name: {str(m.name): m.score for m in metrics} for name, metrics in tests.items()
                }
                cells = cells_of_dicts(scores, what)
            elif (table := table_of_frame(part, what)) is not None:
                cells = table.cells(one_run=True, measures=wanted)
            else:
                raise ValueError(
                    f"{what}: a {type(part).__name__} cannot be read; give a frame, a column indexed by query, "
                    "{query_id: {measure: value}}, or a file"
                )
            parts.append(_named(cells, str(run)))
        if empty := [str(run) for run, cells in zip(values, parts, strict=True) if not len(cells)]:
            raise ValueError(
                f"values of run {empty[0]!r}: there are none{and_more(len(empty) - 1)}; leave it out"
            )
    elif (table := values if isinstance(values, Table) else table_of_frame(values)) is not None:
        parts = [table.cells(measures=wanted)]
    elif (
        isinstance(values, Sequence)
        and values
        and all(isinstance(item, (str, os.PathLike)) for item in values)
    ):
        if any(os.path.isdir(item) for item in values):
            parts = [cells for item in values for cells in _path_cells(item, wanted)]
        else:
            parts = _file_cells(values, wanted)
    else:
        raise ValueError(
            f"values of type {type(values).__name__} cannot be read: give a frame with run, query_id and a column per measure, a "
            "mapping of runs to frames, or files"
        )
    return ValueTable.from_cells(parts, wanted, missing, _what(values)).with_costs(
        smaller_is_better
    )


@entry
def read_collections(
    values: ValuesLike,
    *,
    measures: Names = None,
    missing: str = "error",
    smaller_is_better: Names = None,
) -> dict[str, ValueTable]:
    """Read values per query on several collections.

    Args:
        values: a mapping of collections to what ``read_values`` takes; a frame or file of a table (CSV, TSV, JSON,
            Parquet) with a further column ``collection`` (or ``dataset``, ``task``); a folder with a folder of files for each
            collection; or a leaderboard, a value per task and run: then every task is a collection with a single value per run.
        measures, missing, smaller_is_better: as in ``read_values``.

    Raises:
        ValueError: as ``read_values``; the message names the collection.

    >>> rows = {"collection": ["c", "c"], "query_id": ["q", "q"], "run": ["a", "b"], "AP": [0.1, 0.2]}
    >>> import pandas as pd
    >>> read_collections(pd.DataFrame(rows))["c"].values["AP"].tolist()
    [[0.1], [0.2]]
    """
    parts: Any = values
    if isinstance(values, (str, os.PathLike)) and os.path.isdir(values):
        folders = [
            item
            for item in sorted(Path(values).iterdir())
            if item.is_dir() and not item.name.startswith(".")
        ]
        by_model = any(True for folder in folders for _ in folder.rglob("*/*.json"))  # MTEB's
        parts = values if by_model or not folders else {folder.name: folder for folder in folders}
    elif not isinstance(values, Mapping):
        file = values if isinstance(values, (str, os.PathLike)) else None
        parts = (table_of_frame(values) or values) if file is None else content_of_file(file)
        parts = (parts.by_collection() if isinstance(parts, Table) else None) or parts
    if not isinstance(parts, Mapping):
        whole = (
            None
            if isinstance(parts, Cells)
            else read_values(parts, measures=measures, missing=missing)
        )
        if whole is None or not whole.per_task:
            raise ValueError(
                f"{_what(values)} has no column that names collections; add a column collection, or give {{collection: values}}"
            )
        return whole.with_costs(smaller_is_better).by_task()
    if not parts:
        raise ValueError("there are no collections")
    tables = {}
    for name, part in parts.items():
        with naming(f"collection {str(name)!r}"):
            tables[str(name)] = read_values(
                part, measures=measures, missing=missing, smaller_is_better=smaller_is_better
            )
    return tables


# -- sources -----------------------------------------------------------------------------------------------


def _what(values: Any) -> str:
    if isinstance(values, (str, os.PathLike)):
        return os.fspath(values)
    return values.what if isinstance(values, Table) else "values"


def _path_cells(path: str | os.PathLike[str], measures: Sequence[str] | None) -> list[Cells]:
    if not os.path.isdir(path):
        return _file_cells(matching(path) or [path], measures)
    several = sorted(
        file for file in Path(path).iterdir() if file.is_file() and not file.name.startswith(".")
    )
    if not several or any(file.is_dir() for file in Path(path).iterdir()):
        return [
            mteb_cells(
                path, measures[0] if measures is not None and len(measures) == 1 else "main_score"
            )
        ]
    return _file_cells(several, measures)


def _file_cells(
    paths: Sequence[str | os.PathLike[str]], measures: Sequence[str] | None
) -> list[Cells]:
    """The cells of files, each called by its name where it does not say which run it is of.

    Where no column of a table names runs, its columns are measures if their names say so, or if another file has them, too.
    """
    contents = [content_of_file(path) for path in paths]
    columns = Counter(name for table in contents if _is_of_one_run(table) for name in table.columns)
    several, by_name = [], []
    for path, content in zip(paths, contents, strict=True):
        # One column that files share is the query's.
        shared = _is_of_one_run(content) and sum(columns[name] > 1 for name in content.columns) > 1
        cells = (
            content.cells(one_run=shared or None, measures=measures)
            if isinstance(content, Table)
            else content
        )
        if all(run is None for run in cells.run):
            by_name.append(run_name(path))
            cells = _named(cells, by_name[-1])
        several.append(cells)
    if twice := repeated(by_name):
        raise ValueError(
            f"two files are called {twice!r}; rename one, or give them names: {{name: file}}"
        )
    return several


def _is_of_one_run(content: Cells | Table) -> TypeGuard[Table]:
    """Whether a file is a table without a column that names runs."""
    return isinstance(content, Table) and content.named(RUN_NAMES) is None


def run_name(path: str | os.PathLike[str]) -> str:
    """What the run is called whose values a file holds.

    >>> run_name("values/bm25.eval.txt.gz"), run_name("ql.csv")
    ('bm25', 'ql')
    """
    name = Path(path).name
    return _ENDINGS.sub("", name) or name


def _named(cells: Cells, run: str) -> Cells:
    return replace(cells, run=np.full(len(cells), run, dtype=object))


def _names_there(wanted: Sequence[str], names: Sequence[str], source: str) -> list[str]:
    """What a source calls some measures: the same, or as trec_eval does.

    >>> _names_there(["AP", "P@5"], ["map", "P_5", "P@5"], "values")
    ['map', 'P@5']
    """
    ours = {theirs.measure: name for name in names if (theirs := equivalent(name)) is not None}
    for name in wanted:
        if name not in names and name not in ours:
            raise ValueError(
                f"{source}: no values of {name!r}; there are {shown_names(list(names))}{did_you_mean(name, names)}"
            )
    return [name if name in names else ours[name] for name in wanted]
