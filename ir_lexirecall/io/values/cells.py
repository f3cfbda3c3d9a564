"""Values, each with its run, query and measure, out of columns and dicts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.errors import and_more, is_integer, shown, shown_names
from ir_lexirecall.io.lines import as_float
from ir_lexirecall.io.trec_eval_names import equivalent

RUN_NAMES = ("run", "run_id", "runid", "system", "model", "model_name", "recommender", "algo")
QUERY_NAMES = ("query_id", "qid", "query", "topic", "topic_id", "user", "user_id", "review")
TASK_NAMES = ("task", "task_name", "dataset", "collection", "corpus")
SAMPLE_NAMES = ("sample_id", "user_input", "question", "input", "name")
"""Columns that name queries where no other one does: those of frameworks for answers that are generated."""
MEASURE_NAMES, VALUE_NAMES = ("measure", "metric"), ("value", "score")

SUMMARY = ("all", "amean", "overall")
"""What programs call the row over all queries; trec_eval, ir_measures and ndeval."""
TEXT = re.compile(r"(runid|relstring(_\d+)?)\Z")  # trec_eval's measures that are no numbers


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
        cls, rows: Iterable[tuple[str | None, str, str, float]], place: Callable[[int], str], per_task: bool = False
    ) -> Cells:
        """Values with their run, query and measure."""
        run, query_id, measure, value = zip(*rows, strict=True)
        return cls(texts(run), texts(query_id), texts(measure), np.array(value, dtype=np.float64), place, per_task)

    def __len__(self) -> int:
        return len(self.value)


def texts(values: Iterable[Any]) -> NDArray[Any]:
    several = list(values)
    array = np.empty(len(several), dtype=object)
    array[:] = several
    return array


def is_measure(name: str) -> bool:
    if TEXT.match(name) or equivalent(name) is not None:
        return True
    import ir_measures

    base = re.match(r"[A-Za-z]\w*", name)
    return base is not None and base[0] in ir_measures.measures.registry


def cells_of_dicts(content: Mapping[Any, Any], what: str, column: str | None = None) -> Cells:
    """``{query: {measure: value}}``, ``{query: value}``, or Cornac's ``{measure: {user: value}}``, whose users are integers."""
    rows: list[tuple[str, str, Any]] = []
    for outer, inner in content.items():
        if not isinstance(inner, Mapping):
            rows.append((str(outer), column or "value", inner))
        elif inner and all(not isinstance(key, str) for key in inner) and isinstance(outer, str):
            rows += [(str(user), outer, value) for user, value in inner.items()]
        else:
            rows += [(str(outer), str(name), value) for name, value in inner.items()]
    rows = [row for row in rows if row[0] not in SUMMARY and not TEXT.match(row[1])]
    odd = [row for row in rows if row[2] is not None and (isinstance(row[2], str) or as_float(row[2]) is None)]
    if odd:
        query, name, value = odd[0]
        raise ValueError(
            f"{what}: the {name} of query {query!r} is {shown(value)}, not a number{and_more(len(odd) - 1)}; give "
            "{query_id: {measure: value}}"
        )
    return Cells(
        texts([None] * len(rows)),
        texts(row[0] for row in rows),
        texts(row[1] for row in rows),
        np.array([np.nan if row[2] is None else float(row[2]) for row in rows]),
        lambda n: f"{what}, query {rows[n][0]!r}",
    )


@dataclass(frozen=True)
class Table:
    """The columns of a file or frame.

    Attributes:
        what: what messages call the table.
        place: what they call its n-th row; by default by its number.
        index: ids of queries where no column has them; by default, numbers of rows.
    """

    columns: Mapping[str, Sequence[Any]]
    what: str
    place: Callable[[int], str] | None = None
    index: Sequence[Any] | None = None

    def where(self, row: int) -> str:
        return f"{self.what}, row {row + 1}" if self.place is None else self.place(row)

    def named(self, aliases: Iterable[str]) -> str | None:
        """The column that has the first of some names, whatever their case."""
        names = {name.lower(): name for name in map(str, self.columns)}
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
            raise ValueError(f"{self.where(nameless[0])}: there is no {column}{and_more(len(nameless) - 1)}; add it")
        return {str(collection): self._some(some, column) for collection, some in rows.items()}

    def _some(self, rows: list[int], without: str) -> Table:
        """Some rows, which keep their places, without a column."""
        columns = {
            name: values[rows] if isinstance(values, np.ndarray) else [values[row] for row in rows]
            for name, values in self.columns.items()
            if name != without
        }
        index = None if self.index is None else [self.index[row] for row in rows]
        return Table(columns, self.what, lambda n: self.where(rows[n]), index)

    def cells(
        self, *, one_run: bool | None = False, column: str | None = None, measures: Sequence[str] | None = None
    ) -> Cells:
        """The values in the columns.

        They may be long (``run``, ``query_id``, ``measure``, ``value``), have a column per measure (``run``, ``query_id``, ...), or
        a column per run (``query_id``, ...). Columns are known by several names; columns of texts are left out.

        Args:
            one_run: whether the table is that of a single run, so that columns are measures; None where their names say so.
            column: what values are called in a table with a column per run, or in the only column, where that is ``value``.
            measures: the columns to take; by default, all with numbers.
        """
        table, what, where, index = self.columns, self.what, self.where, self.index
        names = {name.lower(): name for name in map(str, table)}
        run_column, task, sample = (self.named(aliases) for aliases in (RUN_NAMES, TASK_NAMES, SAMPLE_NAMES))
        query = self.named(QUERY_NAMES)
        if run_column is None and query is not None:
            run_column = names.get("name")  # PyTerrier's
        if one_run:
            run_column = None
        of_samples = query is None and task is None
        query = query or task or (sample if sample != run_column else None)
        if query is None and index is None and not one_run:
            raise ValueError(
                f"{what} has no column that names queries, such as query_id: it has {shown_names(list(names.values()))}"
            )
        rows = len(next(iter(table.values()), []))
        ids = texts(map(id_text, table[query] if query is not None else range(rows) if index is None else index))
        if of_samples and len(set(ids)) < rows:
            ids = texts(map(str, range(rows)))  # texts of samples that occur again
        missing = next((row for row, query_id in enumerate(ids) if query_id is None), None)
        if missing is not None:
            raise ValueError(f"{where(missing)}: there is no {query}")
        per_task = query is not None and query == task
        others = [name for name in table if name not in (run_column, query)]
        measure = next((names[name] for name in MEASURE_NAMES if names.get(name) in others), None)
        value = next((names[name] for name in VALUE_NAMES if names.get(name) in others), None)
        run = None if run_column is None else texts(table[run_column])
        if measure is not None and value is not None:
            kept = np.flatnonzero(
                [q not in SUMMARY and not TEXT.match(str(m)) for q, m in zip(ids, table[measure], strict=True)]
            )
            column_of = np.asarray(self._floats(value, kept), dtype=np.float64)
            labels = texts(map(str, table[measure]))[kept]
            runs = texts([None] * rows) if run is None else run
            return Cells(_strings(runs[kept]), ids[kept], labels, column_of, lambda n: where(int(kept[n])), per_task)
        numeric = self._numeric(others, measures)
        if not numeric:
            raise ValueError(f"{what}: {self._without_values(others)}")
        kept = np.flatnonzero([q not in SUMMARY for q in ids])
        wide = run is None and not one_run
        if wide and all(is_measure(name) or (one_run is None and name.lower() in VALUE_NAMES) for name in numeric):
            if one_run is not None:
                raise ValueError(
                    f"{what} has columns of measures ({shown_names(list(numeric), 3)}) and none that names runs; give "
                    "{run: table}, or add a column run"
                )
            wide = False
        height = len(kept)
        only = next(iter(numeric)) if len(numeric) == 1 else ""
        if not wide and run is None and column is not None and only.lower() in VALUE_NAMES:
            numeric = {column: numeric[only]}
        names_of = np.repeat(texts(numeric), height)
        runs = names_of if wide else np.tile(texts([None] * height) if run is None else run[kept], len(numeric))
        return Cells(
            _strings(runs),
            np.tile(ids[kept], len(numeric)),
            np.full(height * len(numeric), column or "value", dtype=object) if wide else names_of,
            np.concatenate([values[kept] for values in numeric.values()]),
            lambda n: f"{where(int(kept[n % height]))}, column {list(numeric)[n // height]!r}",
            per_task,
        )

    def _without_values(self, names: Sequence[str]) -> str:
        """Why there are no values in some columns."""
        has = f"it has {shown_names(list(map(str, self.columns)))}"
        for name in names:
            for row, value in enumerate(self.columns[name]):
                if value is not None:
                    where = f"{self.where(row)}, column {name!r}"
                    return f"no column holds values: {has}, with {shown(value)} ({where}); write numbers as 0.5"
        return f"there are no values in it: {has}"

    def _numeric(self, names: Sequence[str], measures: Sequence[str] | None) -> dict[str, NDArray[np.float64]]:
        """The columns of numbers among some, or those that are asked for."""
        if measures is not None:
            if lacking := [name for name in measures if name not in self.columns]:
                has = shown_names(list(map(str, self.columns)))
                raise ValueError(f"{self.what} has no column {lacking[0]!r}: it has {has}")
            return {name: self._floats(name) for name in measures}
        columns = {}
        for name in names:
            values = self.columns[name]
            kind = _kind(values)
            if kind in "fiu" or (kind not in "bM" and any(as_float(value) is not None for value in values)):
                columns[str(name)] = self._floats(name)
        return columns

    def _floats(self, name: str, rows: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """A column as floats, NaN where there is nothing."""
        values = self.columns[name]
        if _kind(values) in "fiu":
            array = np.asarray(values, dtype=np.float64)
            return array if rows is None else array[rows]
        places = range(len(values)) if rows is None else rows.tolist()
        several = list(values)
        floats = [np.nan if several[i] is None or several[i] != several[i] else as_float(several[i]) for i in places]
        if bad := [row for row, value in zip(places, floats, strict=True) if value is None]:
            found = shown(several[bad[0]])
            raise ValueError(f"{self.where(bad[0])}: {name} is {found}, not a number{and_more(len(bad) - 1)}")
        return np.array(floats, dtype=np.float64)


def _kind(values: Any) -> str:
    """NumPy's kind of values, ``O`` of what is no array."""
    return str(getattr(getattr(values, "dtype", None), "kind", "O"))


def _strings(values: NDArray[Any]) -> NDArray[Any]:
    return texts(None if value is None or value != value else str(value) for value in values)


def id_text(value: Any) -> str | None:
    """An id as text, None where there is none; whole numbers as integers, as a table with gaps may have them as floats."""
    if value is None or value != value or value == "":
        return None
    whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    return str(int(value) if whole or is_integer(value) else value)
