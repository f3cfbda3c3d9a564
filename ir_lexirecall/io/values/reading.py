"""Values per query that something else computed, from anywhere."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from ir_lexirecall._util.errors import and_more, check_choice, entry, naming
from ir_lexirecall.io.values import files
from ir_lexirecall.io.values.cells import RUN_NAMES, Cells, Table, cells_of_dicts
from ir_lexirecall.io.values.frames import columns_of_frame
from ir_lexirecall.io.values.table import ValueTable, arranged, joined, names_there

ValuesLike: TypeAlias = "ValueTable | str | os.PathLike[str] | Mapping[Any, Any] | Sequence[Any] | Any"
"""Values per query: a table, a file or folder, several files, or a mapping of run names to any of these."""


@entry
def read_values(
    values: ValuesLike,
    *,
    measures: str | Iterable[str] | None = None,
    missing: str = "error",
    smaller_is_better: str | Iterable[str] | None = None,
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
    if isinstance(values, ValueTable):
        return (values if measures is None else _selected(values, measures)).with_costs(smaller_is_better)
    wanted = [measures] if isinstance(measures, str) else None if measures is None else list(measures)
    cells = joined(_cells(values, wanted))
    if cells is None:
        raise ValueError(f"{_what(values)}: there are no values")
    return arranged(cells, wanted, missing, _what(values)).with_costs(smaller_is_better)


@entry
def read_collections(
    values: ValuesLike,
    *,
    measures: str | Iterable[str] | None = None,
    missing: str = "error",
    smaller_is_better: str | Iterable[str] | None = None,
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
    parts = values if isinstance(values, Mapping) else _by_collection(values)
    if not isinstance(parts, Mapping):
        whole = None if isinstance(parts, Cells) else read_values(parts, measures=measures, missing=missing)
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


def _by_collection(values: Any) -> Any:
    """The parts of a frame, file or folder by collection; where it does not name collections, all of it."""
    if not isinstance(values, (str, os.PathLike)):
        whole: Any = _table_of_frame(values) or values
    elif not os.path.isdir(values):
        whole = files.content_of_file(values)
    else:
        folders = [item for item in sorted(Path(values).iterdir()) if item.is_dir() and not item.name.startswith(".")]
        by_model = any(True for folder in folders for _ in folder.rglob("*/*.json"))  # MTEB's
        return values if by_model or not folders else {folder.name: folder for folder in folders}
    return (whole.by_collection() if isinstance(whole, Table) else None) or whole


# -- sources -----------------------------------------------------------------------------------------------


def _what(values: Any) -> str:
    if isinstance(values, (str, os.PathLike)):
        return os.fspath(values)
    return values.what if isinstance(values, Table) else "values"


def _table_of_frame(values: Any) -> Table | None:
    found = columns_of_frame(values)
    return None if found is None else Table(found[0], "values", lambda row: f"row {row + 1}", found[1])


def _cells(values: Any, measures: list[str] | None) -> list[Cells]:
    column = measures[0] if measures is not None and len(measures) == 1 else None
    if isinstance(values, (str, os.PathLike)):
        return _path_cells(values, column)
    if isinstance(values, Mapping):
        if not values:
            return []
        parts = {str(run): _run_cells(str(run), part, measures) for run, part in values.items()}
        if empty := [run for run, cells in parts.items() if not len(cells)]:
            raise ValueError(f"values of run {empty[0]!r}: there are none{and_more(len(empty) - 1)}; leave it out")
        return list(parts.values())
    table = values if isinstance(values, Table) else _table_of_frame(values)
    if table is not None:
        return [table.cells(column=column, measures=_columns_among(measures, table))]
    if isinstance(values, Sequence) and values and all(isinstance(item, (str, os.PathLike)) for item in values):
        if any(os.path.isdir(item) for item in values):
            return [cells for item in values for cells in _path_cells(item, column)]
        return _file_cells(values, column)
    raise ValueError(
        f"values of type {type(values).__name__} cannot be read: give a frame with run, query_id and a column per measure, a "
        "mapping of runs to frames, or files"
    )


def _path_cells(path: str | os.PathLike[str], column: str | None) -> list[Cells]:
    if not os.path.isdir(path):
        return _file_cells([path], column)
    several = sorted(file for file in Path(path).iterdir() if file.is_file() and not file.name.startswith("."))
    if not several or any(file.is_dir() for file in Path(path).iterdir()):
        return [files.mteb_cells(path, column or "main_score")]
    return _file_cells(several, column)


def _file_cells(paths: Sequence[str | os.PathLike[str]], column: str | None) -> list[Cells]:
    """The cells of files, each called by its name where it does not say which run it is of.

    Where no column of a table names runs, its columns are measures if their names say so, or if another file has them, too.
    """
    contents = [files.content_of_file(path) for path in paths]
    columns = Counter(name for table in contents if _is_of_one_run(table) for name in table.columns)
    several, by_name = [], []
    for path, content in zip(paths, contents, strict=True):
        # One column that files share is the query's.
        shared = _is_of_one_run(content) and sum(columns[name] > 1 for name in content.columns) > 1
        cells = content.cells(one_run=shared or None, column=column) if isinstance(content, Table) else content
        if all(run is None for run in cells.run):
            by_name.append(run_name(path))
            cells = _named(cells, by_name[-1])
        several.append(cells)
    if twice := next((name for name in by_name if by_name.count(name) > 1), None):
        raise ValueError(f"two files are called {twice!r}; rename one, or give them names: {{name: file}}")
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
    return (
        re.sub(r"(\.(eval|eval_q|txt|csv|tsv|jsonl?|parquet|out|trec_eval|ir_measures|tot|gz|bz2|xz|zst))+\Z", "", name)
        or name
    )


def _run_cells(run: str, part: Any, measures: list[str] | None) -> Cells:
    if isinstance(part, (str, os.PathLike)):
        content = files.content_of_file(part)
        return _named(content.cells(one_run=_is_of_one_run(content)) if isinstance(content, Table) else content, run)
    if isinstance(part, Mapping):
        return _named(cells_of_dicts(part, f"values of run {run!r}", measures[0] if measures else None), run)
    if hasattr(part, "test_results"):  # DeepEval's
        return _named(cells_of_dicts(_deepeval(part), f"values of run {run!r}"), run)
    frame = columns_of_frame(part)
    if frame is None:
        raise ValueError(
            f"values of run {run!r}: a {type(part).__name__} cannot be read; give a frame, a column indexed by query, "
            "{query_id: {measure: value}}, or a file"
        )
    table = Table(frame[0], f"values of run {run!r}", index=frame[1])
    column = measures[0] if measures is not None and len(measures) == 1 else None
    return _named(table.cells(one_run=True, measures=_columns_among(measures, table), column=column), run)


def _deepeval(result: Any) -> dict[str, dict[str, Any]]:
    return {
        str(test.name): {str(metric.name): metric.score for metric in test.metrics_data or ()}
        for test in result.test_results
    }


def _named(cells: Cells, run: str) -> Cells:
    return replace(cells, run=np.full(len(cells), run, dtype=object))


def _columns_among(measures: list[str] | None, table: Table) -> list[str] | None:
    """The measures, if they all are columns."""
    return measures if measures is not None and set(measures) <= set(table.columns) else None


def _selected(table: ValueTable, measures: str | Iterable[str]) -> ValueTable:
    wanted = [measures] if isinstance(measures, str) else list(measures)
    theirs = names_there(wanted, table.measures, table.source)
    values = {name: table.values[their] for name, their in zip(wanted, theirs, strict=True)}
    costs = frozenset(name for name, their in zip(wanted, theirs, strict=True) if their in table.costs)
    return replace(table, values=values, costs=costs)
