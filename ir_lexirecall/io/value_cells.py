"""Values per query as other programs write them, in tables, dicts and files: each with its run, query and measure.

Files are those of trec_eval, ir_measures, autojudge-evaluate, MTEB, JSON, CSV and Parquet.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.errors import and_more, is_integer, repeated, shown, shown_names
from ir_lexirecall.io.files import is_parquet, json_values, parsed_json, rereadable, text_of_file
from ir_lexirecall.io.lines import RUN_COLUMNS, as_float, csv_rows, number, our_names, stacked
from ir_lexirecall.io.measure_names import equivalent
from ir_lexirecall.io.readers import parquet_batches

RUN_NAMES = ("run", "run_id", "runid", "system", "model", "model_name", "recommender", "algo")
QUERY_NAMES = ("query_id", "qid", "query", "topic", "topic_id", "user", "user_id", "review")
TASK_NAMES = ("task", "task_name", "dataset", "collection", "corpus")
SAMPLE_NAMES = ("sample_id", "user_input", "question", "input", "name")
"""Columns that name queries where no other one does: those of frameworks for answers that are generated."""
MEASURE_NAMES, VALUE_NAMES = ("measure", "metric"), ("value", "score")

SUMMARY = ("all", "amean", "overall")
"""What programs call the row over all queries; trec_eval, ir_measures and ndeval."""
TEXT = re.compile(r"(runid|relstring(_\d+)?)\Z")  # trec_eval's measures that are no numbers

_LINES = {
    3: "measure, query, value (trec_eval) or query, measure, value (ir_measures)",
    4: "run, measure, query, value or run, query, measure, value (autojudge-evaluate)",
    6: "query, Q0, run, rank, value, measure (autojudge-evaluate's ranking)",
}
_A_RUN = "this looks like a run; leave out values= and give qrels and runs"


@dataclass(frozen=True)
class Cells:
    """Values, each with its run (None where the source does not say), query and measure.

    Attributes:
        run, query_id, measure: arrays of texts, as long as ``value``.
        place: what messages call the n-th one.
        per_task: whether the queries are tasks or collections.
    """

    run: NDArray[Any]
    query_id: NDArray[Any]
    measure: NDArray[Any]
    value: NDArray[np.float64]
    place: Callable[[int], str]
    per_task: bool = False

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[tuple[str | None, str, str, float]],
        place: Callable[[int], str],
        per_task: bool = False,
    ) -> Cells:
        """Values with their run, query and measure."""
        run, query_id, measure, value = (
            zip(*rows, strict=True) if (rows := list(rows)) else ((), (), (), ())
        )
        return cls(
            texts(run),
            texts(query_id),
            texts(measure),
            np.array(value, dtype=np.float64),
            place,
            per_task,
        )

    def __len__(self) -> int:
        return len(self.value)


def texts(values: Iterable[Any]) -> NDArray[Any]:
    return np.fromiter(values, dtype=object)


def is_measure(name: str) -> bool:
    if TEXT.match(name) or equivalent(name) is not None:
        return True
    import ir_measures

    base = re.match(r"[A-Za-z]\w*", name)
    return base is not None and base[0] in ir_measures.measures.registry


def cells_of_dicts(
    content: Mapping[Any, Any], what: str, measures: Sequence[str] | None = None
) -> Cells:
    """``{query: {measure: value}}``, ``{query: value}``, or Cornac's ``{measure: {user: value}}``, whose users are integers."""
    rows: list[tuple[str, str, Any]] = []
    for outer, inner in content.items():
        if not isinstance(inner, Mapping):
            rows.append((str(outer), measures[0] if measures else "value", inner))
        elif inner and all(not isinstance(key, str) for key in inner) and isinstance(outer, str):
            rows += [(str(user), outer, value) for user, value in inner.items()]
        else:
            rows += [(str(outer), str(name), value) for name, value in inner.items()]
    rows = [row for row in rows if row[0] not in SUMMARY and not TEXT.match(row[1])]
    if odd := [
        row
        for row in rows
        if row[2] is not None and (isinstance(row[2], str) or as_float(row[2]) is None)
    ]:
        query, name, value = odd[0]
        raise ValueError(
            f"{what}: the {name} of query {query!r} is {shown(value)}, not a number{and_more(len(odd) - 1)}; give "
            "{query_id: {measure: value}}"
        )
    found = (
        (None, query, name, np.nan if value is None else float(value))
        for query, name, value in rows
    )
    return Cells.from_rows(found, lambda n: f"{what}, query {rows[n][0]!r}")


@dataclass(frozen=True)
class Table:
    """The columns of a file or frame, as arrays of numbers or of objects.

    Attributes:
        what: what messages call the table.
        where: what they call its n-th row.
        index: ids of queries where no column has them; by default, numbers of rows.
    """

    columns: Mapping[str, NDArray[Any]]
    what: str
    where: Callable[[int], str]
    index: NDArray[Any] | None = None

    @classmethod
    def from_rows(cls, rows: Sequence[tuple[int, list[str]]], path: str) -> Table:
        """The rows of a file with their lines, of which the first one names the columns."""
        (_, names), *rows = rows
        for line, row in rows:
            if len(row) != len(names):
                raise ValueError(
                    f"{path}, line {line}: {len(row)} fields where {len(names)} are expected: {shown_names(names)}"
                )
        if (twice := repeated(names)) is not None:
            raise ValueError(f"{path}: the header names {twice!r} twice; keep one")
        columns = {name: texts(row[i] or None for _, row in rows) for i, name in enumerate(names)}
        return cls(columns, path, lambda row: f"{path}, line {rows[row][0]}")

    @classmethod
    def from_parquet(cls, path: str) -> Table:
        table = stacked([*parquet_batches(path)])
        columns = {column.name: texts(column.to_list()) for column in table}
        return cls(columns, path, lambda row: f"{path}, row {row + 1}")

    def rows(self, kept: Sequence[int] | NDArray[Any]) -> Table:
        """Some of the rows, which keep their places."""
        columns = {name: values[kept] for name, values in self.columns.items()}
        index = None if self.index is None else self.index[kept]
        return Table(columns, self.what, lambda n: self.where(kept[n]), index)

    def named(self, aliases: Iterable[str]) -> str | None:
        """The column that has the first of some names, whatever their case."""
        names = {name.lower(): name for name in self.columns}
        return next((names[name] for name in aliases if name in names), None)

    def by_collection(self) -> dict[str, Table] | None:
        """The rows of each collection; None where no column names collections beside one of queries."""
        column = self.named(TASK_NAMES)
        if column is None or self.named(QUERY_NAMES) is None:
            return None
        rows: dict[str | None, list[int]] = {}
        for row, collection in enumerate(map(id_text, self.columns[column])):
            rows.setdefault(collection, []).append(row)
        if nameless := rows.get(None):
            raise ValueError(
                f"{self.where(nameless[0])}: there is no {column}{and_more(len(nameless) - 1)}; add it"
            )
        others = replace(
            self, columns={name: values for name, values in self.columns.items() if name != column}
        )
        return {str(collection): others.rows(some) for collection, some in rows.items()}

    def cells(
        self, *, one_run: bool | None = False, measures: Sequence[str] | None = None
    ) -> Cells:
        """The values in the columns.

        They may be long (``run``, ``query_id``, ``measure``, ``value``), have a column per measure (``run``, ``query_id``, ...), or
        a column per run (``query_id``, ...). Columns are known by several names; columns of texts are left out.

        Args:
            one_run: whether the table is that of a single run, so that columns are measures; None where their names say so.
            measures: the columns to take if all of them are there, else all with numbers; a single one is also what values
                are called in a table with a column per run, or in the only column, where that is ``value``.
        """
        what, has = self.what, f"it has {shown_names(list(self.columns))}"
        label = measures[0] if measures is not None and len(measures) == 1 else None
        query, run_column, task = (
            self.named(aliases) for aliases in (QUERY_NAMES, RUN_NAMES, TASK_NAMES)
        )
        if run_column is None and query is not None:
            run_column = self.named(["name"])  # PyTerrier's
        if one_run:
            run_column = None
        sample = self.named(SAMPLE_NAMES) if query is None and task is None else None
        query = query or task or (sample if sample != run_column else None)
        if query is None and self.index is None and not one_run:
            raise ValueError(f"{what} has no column that names queries, such as query_id: {has}")
        height = len(next(iter(self.columns.values()), ()))
        ids: Any = (
            self.columns[query]
            if query is not None
            else range(height)
            if self.index is None
            else self.index
        )
        ids = texts(map(id_text, ids))
        if sample is not None and len(set(ids)) < height:
            ids = texts(map(str, range(height)))  # texts of samples that occur again
        if None in ids:
            raise ValueError(f"{self.where(ids.tolist().index(None))}: there is no {query}")
        others = [name for name in self.columns if name not in (run_column, query)]
        kept = [row for row, query_id in enumerate(ids) if query_id not in SUMMARY]
        measure, value = self.named(MEASURE_NAMES), self.named(VALUE_NAMES)
        if measure is not None and value is not None:
            kept = [row for row in kept if not TEXT.match(str(self.columns[measure][row]))]
        part, ids, per_task = self.rows(kept), ids[kept], query is not None and query == task
        runs = texts([None] * len(kept))
        if run_column is not None:
            runs = texts(
                None if run is None or run != run else str(run) for run in part.columns[run_column]
            )
        if measure is not None and value is not None:
            return Cells(
                runs,
                ids,
                texts(map(str, part.columns[measure])),
                part.floats(value),
                part.where,
                per_task,
            )
        if measures is None or not set(measures) <= self.columns.keys():
            measures = [name for name in others if part.has_numbers(name)]
        numeric = {name: part.floats(name) for name in measures}
        if not numeric:
            for name in others:
                for row, text in enumerate(part.columns[name]):
                    if text is not None:
                        example = f"{shown(text)} ({part.where(row)}, column {name!r})"
                        raise ValueError(
                            f"{what}: no column holds values: {has}, with {example}; write numbers as 0.5"
                        )
            raise ValueError(f"{what}: there are no values in it: {has}")
        wide = run_column is None and not one_run
        if wide and all(
            is_measure(name) or (one_run is None and name.lower() in VALUE_NAMES)
            for name in numeric
        ):
            if one_run is not None:
                raise ValueError(
                    f"{what} has columns of measures ({shown_names(list(numeric), 3)}) and none that names runs; give "
                    "{run: table}, or add a column run"
                )
            wide = False
        if not wide and run_column is None and label is not None and len(numeric) == 1:
            numeric = {
                label if name.lower() in VALUE_NAMES else name: values
                for name, values in numeric.items()
            }
        columns = np.repeat(texts(numeric), len(kept))
        return Cells(
            columns if wide else np.tile(runs, len(numeric)),
            np.tile(ids, len(numeric)),
            np.full(len(columns), label or "value", dtype=object) if wide else columns,
            np.concatenate([*numeric.values()]),
            lambda n: f"{part.where(n % len(kept))}, column {list(numeric)[n // len(kept)]!r}",
            per_task,
        )

    def has_numbers(self, name: str) -> bool:
        values = self.columns[name]
        return values.dtype.kind in "fiu" or any(as_float(value) is not None for value in values)

    def floats(self, name: str) -> NDArray[np.float64]:
        """A column as floats, NaN where there is nothing."""
        values = self.columns[name]
        if values.dtype.kind in "fiu":
            return np.asarray(values, dtype=np.float64)
        floats = [
            np.nan if value is None or value != value else as_float(value) for value in values
        ]
        if bad := [row for row, value in enumerate(floats) if value is None]:
            raise ValueError(
                f"{self.where(bad[0])}: {name} is {shown(values[bad[0]])}, not a number{and_more(len(bad) - 1)}"
            )
        return np.array(floats, dtype=np.float64)


def id_text(value: Any) -> str | None:
    """An id as text, None where there is none; whole numbers as integers, as a table with gaps may have them as floats."""
    if value is None or value != value or value == "":
        return None
    whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    return str(int(value) if whole or is_integer(value) else value)


# -- frames ------------------------------------------------------------------------------------------------


def table_of_frame(data: Any, what: str = "") -> Table | None:
    """A frame's columns by name, and its index where that names something; None of what is no frame."""
    if hasattr(data, "collect") and not hasattr(data, "itertuples"):  # Polars' LazyFrame
        data = data.collect()
    if hasattr(data, "to_frame") and hasattr(data, "index"):  # pandas' Series
        data = data.to_frame(data.name if data.name is not None else "value")
    if (
        not hasattr(data, "itertuples")
        and hasattr(data, "to_pandas")
        and not hasattr(data, "__arrow_c_stream__")
    ):
        data = data.to_pandas()  # ragas' results
    index, columns = None, {}
    if hasattr(data, "itertuples"):
        if any(name is not None for name in data.index.names):
            data = data.reset_index()
        names = [str(name) for name in data.columns]
        if (twice := repeated(names)) is not None:
            raise ValueError(f"the column {twice!r} occurs twice; keep one")
        for i, name in enumerate(names):
            column = data.iloc[:, i]
            if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiu":
                columns[name] = column.to_numpy()
            else:  # by a list: pandas makes no objects of Arrow's views of strings
                there = zip(column.tolist(), column.notna(), strict=True)
                columns[name] = texts(value if is_there else None for value, is_there in there)
        index = None if type(data.index).__name__ == "RangeIndex" else texts(data.index)
    elif hasattr(data, "to_dicts"):  # Polars
        columns = {series.name: texts(series) for series in data}
    elif hasattr(data, "to_pydict"):  # Arrow
        columns = {name: texts(values) for name, values in data.to_pydict().items()}
    else:
        return None
    return Table(
        columns, what or "values", lambda row: f"{what + ', ' if what else ''}row {row + 1}", index
    )


# -- files -------------------------------------------------------------------------------------------------


def content_of_file(path: str | os.PathLike[str]) -> Cells | Table:
    """What is in a file: a table, if it has columns with names, or else the values; those over all queries are left out."""
    with rereadable(os.fspath(path)) as file:
        if is_parquet(file):
            return Table.from_parquet(file)
        text = text_of_file(file)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise ValueError(f"{file}: there are no values in it")
    if first.lstrip().startswith(("{", "[")):
        return _content_of_json(text, file)
    if not text.endswith("\n") and (text[-1].isdigit() or text[-1] == "."):
        raise ValueError(
            f"{file}, line {text.count(chr(10)) + 1}: the file ends within a number, without an end of line: was it cut? "
            "Write it again, or end its last line"
        )
    for separator in (",", "\t", ";"):
        names = [name.strip().strip('"').lower() for name in first.split(separator)]
        if len(names) > 1 and not {*QUERY_NAMES, *TASK_NAMES, *RUN_NAMES, *SAMPLE_NAMES}.isdisjoint(
            names
        ):
            if set(RUN_COLUMNS) <= {*our_names(names)}:
                raise ValueError(f"{file}: {_A_RUN}")
            return Table.from_rows(
                list(csv_rows(text, lambda line: f"{file}, line {line}", separator)), file
            )
    if file.lower().endswith((".csv", ".tsv")) or (
        "," in first and len(first.split()) not in _LINES
    ):
        raise ValueError(
            f"{file}, line 1: expected a header with query_id, and run or a column per run, got {shown(first)}"
        )
    width, lines, rows = 0, [], []
    for line_number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) not in _LINES:
            fields = line.split()
        width = width or len(fields)
        if len(fields) != width and fields[0].startswith("relstring"):
            continue  # a text with blanks
        if len(fields) not in _LINES or len(fields) != width:
            wanted = _LINES.get(width) or "; ".join(_LINES.values())
            raise ValueError(
                f"{file}, line {line_number}: {len(fields)} fields where a line has {wanted}"
            )
        lines.append(line_number)
        rows.append(fields)
    if not rows:
        raise ValueError(f"{file}: there are no values in it")
    measure, query, run = (5, 0, 2) if width == 6 else (width - 3, width - 2, 0)
    there = {place: {row[place] for row in rows} for place in (measure, query, run)}
    if width == 4 and there[measure] <= {"0", "Q0"}:
        raise ValueError(
            f"{file}: this looks like qrels; leave out values= and give qrels and runs"
        )
    if width == 6:
        # Documents of one query fill the grid, too.
        full = len(there[query]) > 1 or any(map(is_measure, there[measure]))
        if not full or 2 * len(rows) < len(there[query]) * len(there[run]) * len(there[measure]):
            raise ValueError(f"{file}: {_A_RUN}")
    else:
        # Measures are what has no word for all queries, else what names known ones, else what is fewer.
        signs = [
            (not names.isdisjoint(SUMMARY), not all(map(is_measure, names)), len(names))
            for names in (there[measure], there[query])
        ]
        if signs[0] == signs[1]:
            raise ValueError(
                f"{file}: which field is the measure, {shown(rows[0][measure])} or {shown(rows[0][query])}, cannot be told; "
                "give a table with a header: run, query_id, measure, value"
            )
        if signs[1] < signs[0]:
            measure, query = query, measure
    cells, places = [], []
    for line_number, row in zip(lines, rows, strict=True):
        if row[query] in SUMMARY or TEXT.match(row[measure]):
            continue
        written = row[4] if width == 6 else row[-1]
        if (value := number(written)) is None:
            what = f"the {row[measure]} of query {row[query]!r}"
            raise ValueError(
                f"{file}, line {line_number}: {what} is {shown(written)}, not a number"
            )
        cells.append((None if width == 3 else row[run], row[query], row[measure], value))
        places.append(line_number)
    if not cells:
        raise ValueError(
            f"{file}: it has values over all queries only; ask for values per query (trec_eval -q)"
        )
    return Cells.from_rows(cells, lambda n: f"{file}, line {places[n]}")


# -- tables and JSON ---------------------------------------------------------------------------------------


def _content_of_json(text: str, path: str) -> Cells | Table:
    """An object per line, a list of objects, or a dict of dicts."""
    numbered, word = json_values(text, path), "line"
    content = numbered[0][1]
    if not content:
        raise ValueError(f"{path}: there are no values in it")
    if len(numbered) == 1:
        if isinstance(content, dict) and any(
            isinstance(value, (dict, list)) for value in content.values()
        ):
            return cells_of_dicts(content, path)
        numbered, word = (
            [*enumerate([content] if isinstance(content, dict) else content, start=1)],
            "record",
        )
    records = [record for _, record in numbered]
    if any(not isinstance(record, dict) for record in records):
        raise ValueError(
            f"{path}: expected objects with run, query_id, measure and value, got {shown(records[:1])}"
        )
    names = dict.fromkeys(name for record in records for name in record)
    columns = {name: texts(record.get(name) for record in records) for name in names}
    return Table(columns, path, lambda row: f"{path}, {word} {numbered[row][0]}")


# -- folders of results -------------------------------------------------------------------------------------


def mteb_cells(folder: str | os.PathLike[str], measure: str = "main_score") -> Cells:
    """Scores of MTEB's results, a file ``MODEL/REVISION/TASK.json`` each: the mean over its splits and subsets."""
    rows: list[tuple[str, str, str, float]] = []
    places: list[str] = []
    for file in sorted(Path(folder).rglob("*.json")):
        if file.name == "model_meta.json":
            continue
        content = parsed_json(text_of_file(str(file)), str(file))
        if not isinstance(content, dict) or not {"task_name", "scores"} <= content.keys():
            continue
        found: list[Any] = []
        with contextlib.suppress(AttributeError, TypeError):
            found = [
                scores.get(measure) for split in content["scores"].values() for scores in split
            ]
        numbers = [None if isinstance(value, str) else as_float(value) for value in found]
        if not numbers or None in numbers:
            raise ValueError(
                f"{file}: no number {measure!r} in it; name another one of MTEB's measures"
            )
        parts = file.relative_to(folder).parts
        model = (
            parts[max(-3, -len(parts))] if len(parts) > 1 else file.parent.name
        )  # results/MODEL/REVISION/TASK.json
        rows.append((model, str(content["task_name"]), measure, float(np.mean(found))))
        places.append(str(file))
    if not rows:
        raise ValueError(
            f"{folder}: no files of values in it, nor results of MTEB (JSON files with task_name and scores)"
        )
    return Cells.from_rows(rows, places.__getitem__, per_task=True)
