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

    def __len__(self) -> int:
        return len(self.value)


def texts(values: Iterable[Any]) -> NDArray[Any]:
    """Texts as an array of objects."""
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
    """``{query: {measure: value}}`` (as pytrec_eval gives), ``{query: value}``, or Cornac's ``{measure: {user: value}}``.

    The last is told by its users, which are integers.
    """
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
        return _cells_of_table(self, one_run, column, measures)


def _cells_of_table(source: Table, one_run: bool | None, column: str | None, measures: Sequence[str] | None) -> Cells:
    table, what, where, index = source.columns, source.what, source.where, source.index
    names = {name.lower(): name for name in map(str, table)}
    known = {
        role: source.named(aliases)
        for role, aliases in (
            ("run", RUN_NAMES),
            ("query", QUERY_NAMES),
            ("task", TASK_NAMES),
            ("sample", SAMPLE_NAMES),
        )
    }
    if known["run"] is None and known["query"] is not None and "name" in names:
        known["run"] = names["name"]  # PyTerrier's
    if one_run:
        known["run"] = None
    query = known["query"] or known["task"] or (known["sample"] if known["sample"] != known["run"] else None)
    if query is None and index is None and not one_run:
        raise ValueError(
            f"{what} has no column that names queries, such as query_id: it has {shown_names(list(names.values()))}"
        )
    rows = len(next(iter(table.values()), []))
    ids = (
        texts(map(id_text, table[query]))
        if query is not None
        else texts(map(id_text, range(rows) if index is None else index))
    )
    if known["query"] is None and known["task"] is None and len(set(ids)) < rows:
        ids = texts(map(str, range(rows)))  # texts of samples that occur again
    missing = next((row for row, query_id in enumerate(ids) if query_id is None), None)
    if missing is not None:
        raise ValueError(f"{where(missing)}: there is no {query}")
    per_task = query is not None and query == known["task"]
    roles = {known["run"], query}
    others = [name for name in table if name not in roles]
    measure = next((names[name] for name in MEASURE_NAMES if names.get(name) in others), None)
    value = next((names[name] for name in VALUE_NAMES if names.get(name) in others), None)
    run = None if known["run"] is None else texts(table[known["run"]])
    if measure is not None and value is not None:
        kept = np.flatnonzero(
            [q not in SUMMARY and not TEXT.match(str(m)) for q, m in zip(ids, table[measure], strict=True)]
        )
        column_of = np.asarray(_floats(table[value], value, where, rows=kept), dtype=np.float64)
        labels = texts(map(str, table[measure]))[kept]
        runs = texts([None] * rows) if run is None else run
        return Cells(_strings(runs[kept]), ids[kept], labels, column_of, lambda n: where(int(kept[n])), per_task)
    numeric = _numeric(table, others, measures, what, where)
    if not numeric:
        raise ValueError(f"{what}: {_without_values(table, others, where)}")
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
    if (
        not wide
        and run is None
        and column is not None
        and len(numeric) == 1
        and next(iter(numeric)).lower() in VALUE_NAMES
    ):
        numeric = {column: next(iter(numeric.values()))}
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


def _without_values(table: Mapping[str, Sequence[Any]], names: Sequence[str], where: Callable[[int], str]) -> str:
    """Why there are no values in some columns of a table."""
    has = f"it has {shown_names(list(map(str, table)))}"
    cells = ((row, name, value) for name in names for row, value in enumerate(table[name]) if value is not None)
    row, name, value = next(cells, (0, None, None))
    if name is None:
        return f"there are no values in it: {has}"
    return f"no column holds values: {has}, with {shown(value)} ({where(row)}, column {name!r}); write numbers as 0.5"


def _strings(values: NDArray[Any]) -> NDArray[Any]:
    return texts(None if value is None or value != value else str(value) for value in values)


def id_text(value: Any) -> str | None:
    """An id as text, None where there is none; whole numbers as integers, as a table with gaps may have them as floats."""
    if value is None or value != value or value == "":
        return None
    whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    return str(int(value) if whole or is_integer(value) else value)


def _numeric(
    table: Mapping[str, Sequence[Any]],
    names: Sequence[str],
    measures: Sequence[str] | None,
    what: str,
    where: Callable[[int], str],
) -> dict[str, NDArray[np.float64]]:
    """The columns of numbers among some, or those that are asked for."""
    if measures is not None:
        lacking = [name for name in measures if name not in table]
        if lacking:
            raise ValueError(f"{what} has no column {lacking[0]!r}: it has {shown_names(list(map(str, table)))}")
        return {name: _floats(table[name], name, where) for name in measures}
    columns = {}
    for name in names:
        values = table[name]
        kind = getattr(getattr(values, "dtype", None), "kind", "O")
        if kind in "fiu" or (kind not in "bM" and any(as_float(value) is not None for value in values)):
            columns[str(name)] = _floats(values, str(name), where)
    return columns


def _floats(
    values: Sequence[Any], name: str, where: Callable[[int], str], rows: NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """A column as floats, NaN where there is nothing."""
    if getattr(getattr(values, "dtype", None), "kind", "O") in "fiu":
        array = np.asarray(values, dtype=np.float64)
        return array if rows is None else array[rows]
    places = range(len(values)) if rows is None else rows.tolist()
    several = list(values)
    floats = [
        np.nan if several[row] is None or several[row] != several[row] else as_float(several[row]) for row in places
    ]
    bad = [row for row, value in zip(places, floats, strict=True) if value is None]
    if bad:
        raise ValueError(f"{where(bad[0])}: {name} is {shown(several[bad[0]])}, not a number{and_more(len(bad) - 1)}")
    return np.array(floats, dtype=np.float64)
