"""Which column of a table names the queries. Rows are never told apart by their number."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Objects
from ir_lexirecall._util.errors import did_you_mean, shown, shown_names
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.selecting import part_and_row, without
from ir_lexirecall.io.frames import Kind, Table, kind_of
from ir_lexirecall.io.measure_names import equivalent, known
from ir_lexirecall.io.names import (
    ID_NAMES,
    ITEM_NAMES,
    MEASURE_NAMES,
    QUERY_NAMES,
    RUN_NAMES,
    TASK_NAMES,
    TEXT_NAMES,
    VALUE_NAMES,
)
from ir_lexirecall.io.repeated_values import REPEAT_COLUMNS, Repeats
from ir_lexirecall.io.same_documents import check_same_contents
from ir_lexirecall.io.value_cells import (
    RepeatAdvice,
    id_text,
    is_known_measure,
    is_measure,
)
from ir_lexirecall.io.whole_columns import (
    contradictions,
    first_positions,
    id_texts,
    rows_by_name,
    rows_with_values,
)

_DATA_NAMES = (
    *TASK_NAMES,
    *("split", "eval_split", "dataset_split", "benchmark", "test_set"),
    *("subset", "hf_subset", "subset_name"),
)
"""Names of columns that say of which data a row is."""
_PART_NAMES = (
    *("config", "language", "languages", "lang"),
    *("subject", "category", "domain", "year", "track"),
)
"""Names of columns that may say so, or label answers; they count only where ids number the rows."""
_QUESTION_NAMES = ("question", "user_input", "query", "query_text", "question_text")
"""Names of the text that a query asks."""
_SETTING_NAMES = ("filter", "k", "cutoff", "depth", "num_fewshot", "n_shot")
"""Names of settings in which runs that are compared hardly differ on purpose."""
_SYSTEM_NAMES = {
    "algorithm",
    "approach",
    "config",
    "configuration",
    "encoder",
    "engine",
    "llm",
    "method",
    "model",
    "model_id",
    "pipeline",
    "ranker",
    "reranker",
    "retriever",
    "run",
    "run_name",
    "submission",
    "system",
    "system_name",
    "team",
}
"""Names of columns of systems, as a rule: they hold queries only if the user says so."""
_LABEL_NAMES = frozenset(("experiment", "label", "name", "setup", "tag", "variant"))
"""Names of columns of systems as well as of queries, where no other column names the runs."""
_NO_QUERY_NAMES = frozenset(
    (
        # of a training log, with a row per evaluation
        *(
            "checkpoint",
            "epochs",
            "global_step",
            "iteration",
            "iterations",
            "step",
            "steps",
        ),
        # of what a run answered, and when
        *(
            "answer",
            "answer_model",
            "actual_output",
            "completion",
            "generation",
            "model_answer",
            "model_output",
            "output",
        ),
        *("pred", "predicted", "prediction", "response", "result"),
        *("created_at", "end_time"),
        *("start_time", "time", "timestamp", "tstamp", "updated_at"),
    )
)
"""Names of columns that may be unique, but hold queries only if the user says so."""
CONTENT_HASH = "doc_hash"
"""The column in which lm-eval says which document an id stands for."""
INDEX = "(index)"
"""The name here of the row labels of a pandas frame that have no name."""
_ROW_LABELS = re.compile(
    r"|\(index\)|unnamed: ?\d+(\.\d+)?|index|level_\d+|__index_level_\d+__",
    re.IGNORECASE,
)
"""Names under which the row labels of a pandas frame end up in a file or another frame."""
_NUMBER_WORDS = frozenset(
    [
        *("#", "n", "i", "no", "nr", "num", "number", "numbers", "count", "counter"),
        *("rank", "pos", "position", "order", "step", "row", "line", "index", "idx"),
        *("id", "seq", "seqno", "sequence", "serial", "rn", "rowid", "rownum"),
        *("rownumber", "rowno", "rownr", "lineno", "linenr", "linenumber"),
    ]
)
"""Words with which the name of a column ends that may just count the rows."""
_ROW_WORDS = _NUMBER_WORDS | {"s", "sl", "sr"}
"""Words that do not say what a column counts, as in `S. No.` or `row_id`."""
_ID_WORDS = frozenset(("id", "idx", "uid", "uuid", "guid"))
"""Words with which the name of a column of ids ends."""
REPEAT_NAMES = ("filter", *(name for name in REPEAT_COLUMNS if name != "sample"))
"""Names of what tells several rows of one query apart."""
_MOST_NAMED = 4
_MOST_MEASURES = 200
"""Ids that are looked at to tell measures from queries: no run has more measures."""
_FURTHER_IDS = frozenset((*QUERY_NAMES, *TEXT_NAMES, "q_id", "number"))
"""Names of further columns that hold ids of queries, not values, where they hold numbers."""
_NO_VALUES = frozenset((*RUN_NAMES, *ITEM_NAMES, *REPEAT_NAMES))


@dataclass(frozen=True)
class Roles:
    """What the columns of a table hold.

    Attributes:
        query: the column of queries.
        run: the column of runs, if there is one.
        measure: the column of measures, if there is a row per measure.
        value: the column of values, if there is a row per measure.
    """

    query: str
    run: str | None = None
    measure: str | None = None
    value: str | None = None

    @property
    def columns(self) -> list[str]:
        """Columns with a role."""
        columns = (self.query, self.run, self.measure, self.value)
        return [column for column in columns if column is not None]

    def others(self, table: Table) -> list[str]:
        """Return the columns that may hold values: neither ids nor labels or numbers of rows."""
        left_out = {*self.counts(table), *self.further_ids(table)}
        return without(self._without_ids(table), left_out)

    def further_ids(self, table: Table) -> list[str]:
        """Return the columns that look like values, but hold ids by their name and content."""
        names = self._without_ids(table)
        return [name for name in names if _holds_ids_of_queries(table, name)]

    def counts(self, table: Table) -> list[str]:
        """Return the columns that look like values, but count rows by their name and content."""
        names = self._without_ids(table)
        return [name for name in names if is_row_count(table, name, self.run)]

    def _without_ids(self, table: Table) -> list[str]:
        """Return the columns that hold neither ids nor row labels or settings."""
        columns = []
        for column in table.columns:
            has_role = column in (*self.columns, table.repeat, *table.levels)
            if has_role or column.lower() in _NO_VALUES:
                continue
            if is_row_label(table, column) or _holds_ids(table, column):
                continue
            if not _is_setting(table, column):
                columns.append(column)
        return columns


@dataclass(frozen=True)
class NamedColumns:
    """The columns and measures that a user names.

    Attributes:
        query: the column of queries.
        run: the column of runs.
        where: the value that a column must have, by column: other rows are left out.
        repeats: what tells the repeats of a stochastic system apart, if there are any.
        measures: the measures to take; None for all.
    """

    query: str | None
    run: str | None
    where: Mapping[str, Any]
    repeats: Repeats | None = None
    measures: list[str] | None = None

    def __post_init__(self) -> None:
        """Raise if the name of a column is not a text."""
        for argument, name in (("query", self.query), ("run", self.run)):
            if not isinstance(name, str | None):
                raise ValueError(
                    f"{argument} must be the name of a column, not {shown(name)}"
                )
        is_mapping = isinstance(self.where, Mapping)
        if not is_mapping or not all(isinstance(name, str) for name in self.where):
            raise ValueError(
                "where must be a mapping of columns to values, such as {'filter': 'strict'}, not "
                f"{shown(self.where)}"
            )

    def applied(self, table: Table) -> Table:
        """Return the rows that are wanted, with the column of runs called `run`.

        Raises:
            ValueError: there is no such column, or no such row.
        """
        table = with_index(table)
        for column, value in self.where.items():
            table = _rows_where(table, check_column(table, column), value)
        if self.repeats is not None:
            table = replace(
                table, repeat=self.repeats.column_in(table, other_than=self.query)
            )
        if self.run is None:
            return table
        check_column(table, self.run, "name runs")
        if self.run == "run":
            return table
        if "run" in table.columns:
            table = table.renamed("run", "run (other)")
        return table.renamed(self.run, "run")


def _rows_where(table: Table, column: str, value: Any) -> Table:
    """Return the rows where a column has a value.

    Raises:
        ValueError: there are none.
    """
    texts_of_rows = list(map(_text_of, table.columns[column]))
    wanted = _text_of(value)
    rows = [row for row, text in enumerate(texts_of_rows) if text == wanted]
    if not rows:
        raise ValueError(
            f"{table.name}: no row has {column} == {wanted!r}; "
            f"there are {shown_names(list(dict.fromkeys(texts_of_rows)), 5)}"
        )
    return table.rows(rows)


def with_index(table: Table) -> Table:
    """Return a table where the row labels of a pandas frame are a column, if it has any."""
    if table.index is None:
        return table
    return replace(table, columns={INDEX: table.index, **table.columns}, index=None)


def is_row_label(table: Table, column: str) -> bool:
    """Return whether a column holds pandas' row labels, or nothing under an empty name."""
    if _ROW_LABELS.fullmatch(column) is None:
        return False
    kind = table.kind(column)
    if kind is Kind.NUMBER and column == "":
        raise ValueError(
            f"{table.location(0)}: a column without a name holds "
            f"{shown(table.columns[column][0])}; give it a name"
        )
    return kind in (Kind.INTEGER, Kind.TEXT, Kind.EMPTY)


def is_row_count(table: Table, column: str, run: str | None = None) -> bool:
    """Return whether a column counts the rows of a table, or those of each of its runs.

    Args:
        table: the table.
        column: the column.
        run: the column that names runs, if there is one.
    """
    if _NUMBER_WORDS.isdisjoint(words_of(column)[-1:]):
        return False
    if len(table) < 2 or table.kind(column) is not Kind.INTEGER:
        return False
    numbers = table.columns[column]
    if run is None or _counts_rows(numbers, in_order=True):
        return _counts_rows(numbers, in_order=True)
    return all(
        len(rows) > 1 and _counts_rows(numbers[rows], in_order=True)
        for rows in rows_by_name([table.columns[run]])
    )


def is_system_name(name: str) -> bool:
    """Return whether a column most likely holds systems by its name, such as `Method`."""
    return "_".join(words_of(name)).removesuffix("s") in _SYSTEM_NAMES


def names_runs(table: Table, name: str) -> bool:
    """Return whether a column names systems, as `config` may: it has one value in each run."""
    column = table.named([name])
    if column is None or not is_system_name(column):
        return False
    return all(len(run.ids(column)) == 1 for run in tables_of_runs(table))


def _may_hold_systems(name: str) -> bool:
    """Return whether a column by its name holds systems, or may, such as `name`."""
    return is_system_name(name) or name.strip().lower() in _LABEL_NAMES


def _names_no_queries(name: str) -> bool:
    """Return whether a column by its name holds what a run answered, or when; see `roles_of`."""
    words = words_of(name.rstrip("0123456789"))
    plain = "_".join(words)
    if words[:1] == ["generated"]:
        return "_".join(words[1:]) not in _QUESTION_NAMES
    if name.lower() in _NO_QUERY_NAMES:
        return True
    return plain in _NO_QUERY_NAMES or plain.removesuffix("s") in _NO_QUERY_NAMES


def words_of(name: str) -> list[str]:
    """Return the words in the name of a column, in lower case.

    >>> words_of("rowNumber"), words_of("S. No."), words_of("#"), words_of("topic_id")
    (['row', 'number'], ['s', 'no'], ['#'], ['topic', 'id'])
    """
    spaced = re.sub(r"(?<=[a-z\d])(?=[A-Z])|[^\w#]+|_+", " ", name)
    return spaced.replace("#", " # ").lower().split()


def _holds_ids(table: Table, column: str) -> bool:
    """Return whether a column holds integers that are ids by its name, as in `task_id`."""
    if _ID_WORDS.isdisjoint(words_of(column)[-1:]) or is_measure(column):
        return False
    return table.kind(column) is Kind.INTEGER


def _holds_ids_of_queries(table: Table, column: str) -> bool:
    """Return whether a column holds whole numbers that are ids of queries, as in `topic`."""
    if "_".join(words_of(column)) not in _FURTHER_IDS:
        return False
    ids = {str(one).removesuffix(".0") for one in table.ids(column) - {None}}
    return not ids <= {"0", "1"} and all(map(str.isdecimal, ids))


def _is_setting(table: Table, column: str) -> bool:
    """Return whether a column holds a setting of each run, such as the cutoff `k`."""
    if column.lower() not in _SETTING_NAMES:
        return False
    return all(len(run.ids(column)) == 1 for run in tables_of_runs(table))


# -- roles -----------------------------------------------------------------------------------------


def roles_of(tables: Sequence[Table], query: str | None) -> list[Roles]:
    """Return the roles of the columns of tables that are compared with each other.

    Args:
        tables: the tables, with their row labels as a column (`with_index`).
        query: the column that names the queries, if the user said it.

    Raises:
        ValueError: the column that names the queries is not there, or is unclear.
    """
    if query is not None:
        columns = [check_column(table, query, "name queries") for table in tables]
        return list(map(roles_with_query, tables, columns))
    columns = _query_columns(tables)
    check_no_contradiction(tables, columns)
    all_roles = list(map(roles_with_query, tables, columns))
    for table, roles in zip(tables, all_roles, strict=True):
        check_rows_are_no_measures(table, roles)
    return all_roles


def check_rows_are_no_measures(table: Table, roles: Roles) -> None:
    """Raise if a table of runs has a row per measure and a column per query, as pytrec_eval's.

    The ids of queries are names of measures: all of them, or half of the labels of a frame's rows.

    Raises:
        ValueError: it does, and no column has the name of a measure.
    """
    names_runs = table.one_run or roles.run is not None
    if not names_runs or roles.value is not None:
        return
    if table.kind(roles.query) is not Kind.TEXT:
        return
    ids = list(map(str, itertools.islice(table.ids(roles.query), _MOST_MEASURES)))
    names = list(filter(_names_measure, ids))
    is_label = _ROW_LABELS.fullmatch(roles.query) is not None
    least = len(ids) / 2 if is_label else max(2, len(ids))
    if len(names) < least or any(map(_names_measure, roles.others(table))):
        return
    raise ValueError(
        f"{table_label(table.name)} has a row per measure ({shown_names(sorted(names), 3)}), "
        "where queries should be; turn it: frame.T"
    )


def _names_measure(name: str) -> bool:
    """Return whether a name of several letters is that of a measure, whatever its parameters."""
    return len(name) > 1 and (known(name) or equivalent(name)) is not None


def _query_columns(tables: Sequence[Table]) -> list[str]:
    """Return the column of queries of each table: one with a known name, else the one of ids.

    Raises:
        ValueError: no column of a table without a known name has ids, or several have.
    """
    columns = dict(enumerate(map(known_query_column, tables)))
    unknown = [i for i, column in columns.items() if column is None]
    if unknown:
        columns |= dict.fromkeys(unknown, id_column([tables[i] for i in unknown]))
    return [column for column in columns.values() if column is not None]


def check_no_contradiction(tables: Sequence[Table], columns: Sequence[str]) -> None:
    """Raise if another column of ids pairs the rows of runs in another way.

    It is one with a known name, such as one of questions, or, where the column of queries only
    counts the rows of each run, one with texts that most runs share.

    Args:
        tables: the tables.
        columns: the column of queries of each table.

    Raises:
        ValueError: there is such a column, and it does not just count rows; or a query of two
            runs is of different data, such as of another split.
    """
    runs = _runs_with_queries(tables, columns)
    if len(runs) < 2:
        return
    _check_same_documents(runs)
    check_same_contents(runs)
    _check_same_data(runs)
    names = [*ID_NAMES, *_texts_beside_counts(runs)]
    for name in names:
        pairings = _pairings(runs, name)
        if len(pairings) < len(runs) or not all(map(_may_pair, pairings)):
            continue
        if not _pair_alike(pairings):
            one = pairings[0]
            is_shared = _is_common(one.query, [run for run, _ in runs])
            likely = one.query if name in ITEM_NAMES and is_shared else one.other
            raise ValueError(
                f"{one.run.location(0)}: {one.query} and {one.other} pair the rows of runs in "
                f"different ways; say which names the queries: query={likely!r}"
            )


def _runs_with_queries(
    tables: Sequence[Table], columns: Sequence[str]
) -> list[tuple[Table, str]]:
    """Return the rows of each run in some tables, with its column of queries."""
    runs = []
    for table, column in zip(tables, columns, strict=True):
        runs += [(run, column) for run in tables_of_runs(table)]
    return runs


@dataclass(frozen=True)
class _Pairing:
    """Two columns in the rows of a run.

    Attributes:
        run: the rows.
        query: the column of queries.
        other: another column.
    """

    run: Table
    query: str
    other: str

    @property
    def queries(self) -> Objects:
        """The id of the query of each row."""
        return id_texts(self.run.columns[self.query])

    @property
    def others(self) -> Objects:
        """What the other column has in each row, as texts."""
        return id_texts(self.run.columns[self.other])


def _pairings(runs: Sequence[tuple[Table, str]], name: str) -> list[_Pairing]:
    """Return the columns of queries beside those of a name, of the runs that have both."""
    pairings = []
    for run, query in runs:
        other = run.named([name])
        if other not in (None, query):
            pairings.append(_Pairing(run, query, str(other)))
    return pairings


@dataclass(frozen=True)
class _Contradiction:
    """A row in which another column says something else than in an earlier row of the query.

    Attributes:
        pairing: the run of the row, and the columns.
        row: the row in this run.
        query: the id of the query.
        value: what the other column has in this row.
        first_value: what it has in the first row of the query.
    """

    pairing: _Pairing
    row: int
    query: str
    value: str
    first_value: str


def _first_contradiction(pairings: Sequence[_Pairing]) -> _Contradiction | None:
    """Return the first contradiction in the rows of some runs; None without any.

    Rows where the other column has nothing do not count.
    """
    if not pairings:
        return None
    queries = np.concatenate([pairing.queries for pairing in pairings])
    values = np.concatenate([pairing.others for pairing in pairings])
    kept = rows_with_values(values)
    positions, first = contradictions(queries[kept], values[kept])
    if not len(positions):
        return None
    position = int(kept[positions[0]])
    index, row = part_and_row([pairing.run for pairing in pairings], position)
    return _Contradiction(
        pairings[index],
        row=row,
        query=queries[position],
        value=values[position],
        first_value=values[kept[first[0]]],
    )


def _varying_data_names(runs: Sequence[tuple[Table, str]]) -> list[str]:
    """Return the names of columns by which runs have different data, not those of systems."""
    names = list(_DATA_NAMES)
    if all(_only_counts(run, query) for run, query in runs):
        names += _PART_NAMES
    varying = []
    for name in names:
        if _varies(name, runs) and not all(names_runs(run, name) for run, _ in runs):
            varying.append(name)
    return varying


def _check_same_data(runs: Sequence[tuple[Table, str]]) -> None:
    """Raise if two runs have a query from different data sets, tasks or splits.

    Ids such as 0, 1, 2 mean another query in each.

    Raises:
        ValueError: it is; the message names the column and both values.
    """
    varying = _varying_data_names(runs)
    if not varying:
        return
    # A query that occurs twice is refused where values are read.
    runs = [(run, query) for run, query in runs if _is_unique(query, [run])]
    contradicting = []
    for name in varying:
        contradiction = _first_contradiction(_pairings(runs, name))
        if contradiction is not None:
            contradicting.append(contradiction)
    if not contradicting:
        return
    # The message is about the first run that contradicts an earlier one.
    number_of_run = {id(run): number for number, (run, _) in enumerate(runs)}
    one = min(contradicting, key=lambda other: number_of_run[id(other.pairing.run)])
    query, name = one.pairing.query, one.pairing.other
    raise ValueError(
        f"{one.pairing.run.location(one.row)}: {query} {one.query!r} has the {name} "
        f"{one.value!r} here, and {one.first_value!r} in another run; compare runs on the same "
        f"data, or if the data are the same, say so: query={query!r}"
    )


def _varies(name: str, runs: Sequence[tuple[Table, str]]) -> bool:
    """Return whether a column has several values in the rows of all runs."""
    values: set[Any] = set()
    for run, _ in runs:
        column = run.named([name])
        if column is None:
            continue
        try:
            values.update(run.columns[column].tolist())
        except TypeError:
            return True  # lists, for example
    return len(values) > 1


def _check_same_documents(runs: Sequence[tuple[Table, str]]) -> None:
    """Raise if an id stands for different documents in two runs: if their hashes differ.

    Raises:
        ValueError: it does, for example because the files are of two versions of a task.
    """
    pairings = [
        _Pairing(run, query, CONTENT_HASH)
        for run, query in runs
        if CONTENT_HASH in run.columns
    ]
    contradiction = _first_contradiction(pairings)
    if contradiction is None:
        return
    pairing = contradiction.pairing
    raise ValueError(
        f"{pairing.run.location(contradiction.row)}: {pairing.query} {contradiction.query!r} "
        f"stands for another document than in the other runs, by {CONTENT_HASH}; give samples of "
        "one version of the task, or if the documents are the same, say so: "
        f"query={pairing.query!r}"
    )


def _texts_beside_counts(runs: Sequence[tuple[Table, str]]) -> list[str]:
    """Return the columns of texts that contradict query columns which only count the rows.

    Runs share these texts, but have them in other rows.
    """
    if not all(_only_counts(run, query) for run, query in runs):
        return []
    tables = [run for run, _ in runs]
    names = []
    for name in _unique_texts(tables[0]):
        if len(_first_ids(runs)) == 1 and _has_same_rows(name, tables):
            continue
        if _is_unique(name, tables) and _is_common(name, tables):
            names.append(name)
    return names


def _first_ids(runs: Sequence[tuple[Table, str]]) -> set[str | None]:
    """Return the ids in the first rows of runs."""
    return {id_text(run.columns[query][0]) for run, query in runs}


def _only_counts(run: Table, query: str) -> bool:
    """Return whether a column only counts the rows of a run."""
    return len(run) > 0 and _counts_rows(run.columns[query], in_order=True)


def _unique_texts(table: Table) -> list[str]:
    """Return the columns of texts that have each text once."""
    names = [name for name in table.columns if table.kind(name) is Kind.TEXT]
    return [name for name in names if _is_unique(name, [table])]


def _has_same_rows(name: str, tables: Sequence[Table]) -> bool:
    """Return whether a column has the same values in the same rows of all tables."""
    first = tables[0].columns[name]
    return all(
        name in table.columns and np.array_equal(first, table.columns[name])
        for table in tables[1:]
    )


def _may_pair(pairing: _Pairing) -> bool:
    """Return whether the other column has ids, and does not just count rows."""
    if not _is_unique(pairing.other, [pairing.run]):
        return False
    return not _counts_rows(pairing.run.columns[pairing.other], in_order=True)


def _pair_alike(pairings: Sequence[_Pairing]) -> bool:
    """Return whether two columns of each run pair the rows of the runs in the same way."""
    others = np.concatenate([pairing.others for pairing in pairings])
    queries = np.concatenate([pairing.queries for pairing in pairings])
    positions, _ = contradictions(others, queries)
    return not len(positions)


def roles_with_query(table: Table, query: str) -> Roles:
    """Return the roles of the columns of a table, given the column of queries."""
    run = None if table.one_run else run_column(table, query)
    measure, value = table.named(MEASURE_NAMES), table.named(VALUE_NAMES)
    if None in (measure, value) or query in (measure, value):
        return Roles(query, run)
    return Roles(query, run, measure, value)


def run_column(table: Table, query: str | None) -> str | None:
    """Return the column that names runs; None without one."""
    column = table.named(RUN_NAMES)
    if column is None and query is not None:
        column = table.named(["name"])  # PyTerrier's name for it
    if column == query:
        return None
    return column


def check_column(table: Table, column: str, purpose: str = "") -> str:
    """Return the name of a column that the user names.

    Raises:
        ValueError: the table has no such column.
    """
    if column in table.columns:
        return column
    names = [name for name in table.columns if name != INDEX]
    wanted = f"column {column!r}"
    if purpose:
        wanted += f" to {purpose}"
    raise ValueError(
        f"{table_label(table.name)} has no {wanted}: "
        f"it has {shown_names(names)}{did_you_mean(column, names)}"
    )


def notes_on_query_columns(
    tables: Iterable[Table], columns: Iterable[str]
) -> list[str]:
    """Return a sentence on each column of queries that no table names by a known name.

    Args:
        tables: the tables.
        columns: the column of queries of each table.
    """
    notes: dict[str, None] = {}
    for table, column in zip(tables, columns, strict=True):
        if known_query_column(table) is not None:
            continue
        name = "The row labels are" if column == INDEX else f"The column {column!r} is"
        reason = "no other column has a different value in each row"
        notes[f"{name} taken to name the queries: {reason}."] = None
    return list(notes)


def notes_on_settings(tables: Sequence[Table]) -> list[str]:
    """Return a sentence on each setting, such as lm-eval's filter, that differs between runs."""
    notes = []
    for setting in _SETTING_NAMES:
        of_runs = {}
        for table in tables:
            column = table.named([setting])
            if column is None:
                continue
            for label, run in _labelled_runs(table):
                of_runs[label] = sorted(map(str, run.ids(column) - {None}))
        if len({*map(tuple, of_runs.values())}) < 2:
            continue
        parts = [f"{', '.join(values)} in {label}" for label, values in of_runs.items()]
        notes.append(
            f"The runs differ in their {setting}: {'; '.join(parts[:_MOST_NAMED])}."
        )
    return notes


def _labelled_runs(table: Table) -> list[tuple[str, Table]]:
    """Return the rows of each run of a table with what messages call it."""
    column = None if table.one_run else run_column(table, None)
    if column is None:
        return [(table.name, table)]
    names = table.columns[column]
    return [(str(names[rows[0]]), table.rows(rows)) for rows in rows_by_name([names])]


def notes_on_questions(tables: Sequence[Table], columns: Sequence[str]) -> list[str]:
    """Return a sentence if most queries of two runs ask different questions; else nothing.

    Args:
        tables: the tables.
        columns: the column of queries of each table.
    """
    if all(table.named(_QUESTION_NAMES) is None for table in tables):
        return []
    ids_of_runs = []
    questions_of_runs = []
    for ids, questions in _questions_of_runs(tables, columns):
        questions = id_texts(questions)
        kept = rows_with_values(questions)
        ids_of_runs.append(id_texts(ids)[kept])
        questions_of_runs.append(questions[kept])
    if not ids_of_runs:
        return []
    queries, questions = np.concatenate(ids_of_runs), np.concatenate(questions_of_runs)
    different: dict[str | None, tuple[str, str]] = {}
    for position, first in zip(*contradictions(queries, questions), strict=True):
        pair = questions[first], questions[position]
        if pair[0].split() != pair[1].split():
            different.setdefault(queries[position], pair)
    n_compared = _n_repeated(queries)
    if 2 * len(different) <= n_compared:
        return []
    query, (one, other) = next(iter(different.items()))
    return [
        f"{len(different)} of {n_compared} queries ask something else in another run, such as "
        f"{query!r}: {shown(one)}, {shown(other)}."
    ]


def notes_on_row_numbers(tables: Sequence[Table], columns: Sequence[str]) -> list[str]:
    """Return a sentence if ids of queries are row numbers, and runs have more rows or fewer.

    Args:
        tables: the tables.
        columns: the column of queries of each table.
    """
    for table, column in zip(tables, columns, strict=True):
        if table.kind(column) is not Kind.INTEGER:
            return []
    runs = _runs_with_queries(tables, columns)
    n_rows = [len(run) for run, _ in runs]
    if len(set(n_rows)) < 2 or not all(_only_counts(*run) for run in runs):
        return []
    if len(_first_ids(runs)) > 1:
        return []
    for name in (CONTENT_HASH, *_QUESTION_NAMES):
        pairings = _pairings(runs, name)
        if len(pairings) == len(runs) and _first_contradiction(pairings) is None:
            return []  # ids have the same contents in all runs
    return [
        f"Ids of queries ({columns[0]}) may only number the rows, and runs have {min(n_rows):,} to "
        f"{max(n_rows):,} of them: if a row was dropped before numbering, later rows are paired "
        "wrongly."
    ]


def _n_repeated(ids: Objects) -> int:
    """Return how many ids occur more than once."""
    n_times = np.bincount(first_positions(ids))
    return int((n_times > 1).sum())


def _questions_of_runs(
    tables: Sequence[Table], columns: Sequence[str]
) -> list[tuple[Objects, Objects]]:
    """Return the ids and the questions of each run that has questions of its own."""
    several: list[tuple[Objects, Objects]] = []
    for run, column in _runs_with_queries(tables, columns):
        name = run.named(_QUESTION_NAMES)
        if name is None or name == column or run.kind(name) is not Kind.TEXT:
            continue
        both = run.columns[column], run.columns[name]
        if len(several) > 1 and all(map(np.array_equal, both, several[0])):
            continue  # as in the first run
        several.append(both)
    return several


def table_label(name: str) -> str:
    """Return the label of a table in a sentence about its columns.

    >>> table_label("values"), table_label("run 'a'")
    ('the table of values', "run 'a'")
    """
    if name in ("values", "groups"):
        return f"the table of {name}"
    return name


def known_query_column(table: Table) -> str | None:
    """Return the column that names queries by a known name; None without one."""
    run = table.named(RUN_NAMES)
    for find in (known_item_column, task_column, _name_column):
        column = find(table)
        if column is not None and column != run:
            return column
    labels = [name for name in table.columns if _ROW_LABELS.fullmatch(name)]
    named = [name for name in labels if table.kind(name) is Kind.TEXT]
    if len(named) == 1:
        return named[0]
    return None


def known_item_column(table: Table) -> str | None:
    """Return the column with a known name of queries or items, not of tasks.

    Ids of items that are all the same, such as 0, give way to a column that tells rows apart.
    """
    column = table.named((*QUERY_NAMES, *ID_NAMES))
    if column is None or table.named(QUERY_NAMES) is not None:
        return column
    ids = table.columns[column]
    if any(id_text(one) != id_text(ids[0]) for one in ids):
        return column
    others = (table.named([name]) for name in ID_NAMES)
    telling = (one for one in others if one and is_unique_in_runs(table, one))
    return next(telling, column)


def _name_column(table: Table) -> str | None:
    """Return the column `name` beside measures; None without one.

    Beside other columns, it may hold runs, as PyTerrier has them.
    """
    column = table.named(["name"])
    if column is None or not _may_have_column_per_run(table):
        return column
    others = [name for name in table.columns if name != column]
    has_measures = all(map(is_known_measure, filter(table.has_values, others)))
    if has_measures or all(map(_names_measure, map(str, table.ids(column)))):
        return column
    return None


def task_column(table: Table) -> str | None:
    """Return the column of tasks if it tells the rows of a run apart, or if no column does."""
    column = table.named(TASK_NAMES)
    if column is None or is_unique_in_runs(table, column):
        return column
    others = [name for name in table.columns if name != column]
    if any(is_unique_in_runs(table, name) for name in others):
        return None
    return column


def is_unique_in_runs(table: Table, column: str) -> bool:
    """Return whether a column has each of its ids once within every run and measure."""
    return _is_unique(column, tables_of_runs(table))


# -- tables without a known name -------------------------------------------------------------------


def id_column(tables: Sequence[Table]) -> str:
    """Return the only column that is unique within each run and common to all runs.

    Raises:
        ValueError: there is no such column, or there are several; the message lists them.
    """
    runs = list(itertools.chain.from_iterable(map(tables_of_runs, tables)))
    if not runs:
        columns = shown_names(list(tables[0].columns))
        raise ValueError(
            f"{tables[0].name}: there are no values in it: it has {columns}; add some"
        )
    unique = _unique_columns(tables[0], runs)
    ids = [name for name in unique if _may_name_queries(name, runs)]
    if any(map(_may_have_column_per_run, tables)):
        candidates = _ids_beside_runs(ids, runs)
    else:
        candidates = _without_labels(ids)
    if len(candidates) != 1 or _names_no_queries(candidates[0]):
        possible = candidates or unique
        if not possible:
            _check_same_id_column(tables)
        raise ValueError(_unclear_query_column(tables[0], runs, possible))
    return candidates[0]


def _unique_columns(table: Table, runs: Sequence[Table]) -> list[str]:
    """Return the columns of a table in which no value occurs twice within a run."""
    if len(runs) > 1 and all(len(run) <= 1 for run in runs):
        return []  # any column has
    return [name for name in table.columns if _is_unique(name, runs)]


def _check_same_id_column(tables: Sequence[Table]) -> None:
    """Raise if a column that seems to hold the ids of one table is missing in another."""
    for table in tables:
        for name in _without_labels(_unique_texts(table)):
            others = [other for other in tables if name not in other.columns]
            if others and not _names_no_queries(name):
                raise ValueError(
                    f"{table_label(others[0].name)} has no column {name!r}, which may name the "
                    f"queries of {table_label(table.name)}: it has "
                    f"{shown_names(list(others[0].columns))}; give both the same column"
                )


def _may_name_queries(name: str, runs: Sequence[Table]) -> bool:
    """Return whether a column of ids is common to all runs, and holds no values and no systems."""
    if not _is_common(name, runs):
        return False
    return not _is_value(name, runs) and not is_system_name(name)


def _may_have_column_per_run(table: Table) -> bool:
    """Return whether a table holds values of several runs, and no column names them."""
    return not table.one_run and run_column(table, None) is None


def _without_labels(names: Iterable[str]) -> list[str]:
    """Return columns of ids without labels of rows, which mean nothing in another table."""
    return [name for name in names if _ROW_LABELS.fullmatch(name) is None]


def _ids_beside_runs(names: Sequence[str], tables: Sequence[Table]) -> list[str]:
    """Return columns of ids that cannot be runs, of tables with a column per run.

    Labels of rows come first: they tell the rows of one table apart.
    """
    columns = _without_labels(names)
    labels = without(names, columns)
    if labels:
        return labels
    columns = [name for name in columns if not _may_hold_systems(name)]
    return [name for name in columns if _is_no_run(name, tables)]


def tables_of_runs(table: Table) -> list[Table]:
    """Return the rows of each run, and of each of its measures where rows have measures."""
    run = None if table.one_run else run_column(table, None)
    columns = (run, table.named(MEASURE_NAMES), table.repeat)
    names = [name for name in columns if name is not None]
    if not names:
        return [table]
    groups = rows_by_name([table.columns[name] for name in names])
    if len(groups) == 1:
        return [table]
    return [table.rows(rows) for rows in groups]


def _is_unique(name: str, runs: Iterable[Table]) -> bool:
    """Return whether a column holds ids (integers or texts), each once within a run."""
    if name.lower() in (*RUN_NAMES, *MEASURE_NAMES, *VALUE_NAMES, *REPEAT_NAMES):
        return False
    for run in runs:
        if name not in run.columns or run.kind(name) not in (Kind.INTEGER, Kind.TEXT):
            return False
        ids = run.ids(name)
        if len(ids) < len(run) or None in ids:
            return False
    return True


def _is_common(name: str, runs: Sequence[Table]) -> bool:
    """Return whether the runs share the ids of a column: integers all of them, texts most."""
    ids = [run.ids(name) for run in runs]
    common, union = set.intersection(*ids), set.union(*ids)
    if all(run.kind(name) is Kind.INTEGER for run in runs):
        return len(common) == len(union)
    return 2 * len(common) >= len(union)


def _is_value(name: str, runs: Sequence[Table]) -> bool:
    """Return whether a column of ids may hold values of a measure, or numbers of rows."""
    if is_measure(name) or known(name) is not None:
        return True
    if all(run.kind(name) is Kind.TEXT for run in runs):
        return False
    words = words_of(name)
    may_count = bool(words) and _ROW_WORDS.issuperset(words)
    if _ROW_LABELS.fullmatch(name) is None and not may_count:
        return False
    return any(_counts_rows(run.columns[name], in_order=False) for run in runs)


def _is_no_run(name: str, tables: Sequence[Table]) -> bool:
    """Return whether a column of ids is unlike those of runs in a table with a column per run.

    Texts are, and integers where the values of runs are fractions, or 0 and 1.
    """
    for table in tables:
        if table.kind(name) is Kind.TEXT:
            continue
        if any(_has_counts(table, other) for other in table.columns if other != name):
            return False
    return True


def _has_counts(table: Table, column: str) -> bool:
    """Return whether a column holds integers other than 0 and 1 that may be values."""
    if is_row_label(table, column) or table.kind(column) is not Kind.INTEGER:
        return False
    return not table.ids(column) <= {"0", "1", None}


def _counts_rows(values: Objects, *, in_order: bool) -> bool:
    """Return whether values are 0 to n - 1, or 1 to n, perhaps in another order."""
    if values.dtype.kind in "iu":
        integers = values if in_order else np.sort(values)
        counts = np.arange(len(integers))
        return any(np.array_equal(integers, counts + start) for start in (0, 1))
    if kind_of(values) is not Kind.INTEGER:
        return False
    numbers = [int(value) for value in values if value is not None]
    counted = numbers if in_order else sorted(numbers)
    n = len(numbers)
    return counted in ([*range(n)], [*range(1, n + 1)])


def _unclear_query_column(
    table: Table, runs: Sequence[Table], candidates: Sequence[str]
) -> str:
    """Return the message for a table in which none or several of the columns may name queries."""
    names = [name for name in table.columns if name != INDEX]
    message = (
        f"{table_label(table.name)} has no column that names queries, such as query_id: "
        f"it has {shown_names(names)}{_further_roles(table, candidates)}"
    )
    choices = [name for name in candidates if not _labels_rows(name, runs)]
    turning = _advice_on_turned_table(table, runs)
    if turning and all(map(_may_hold_systems, choices)):
        return f"{message}; {turning}"
    hint = _repeated_ids(runs)
    if choices and not (hint and all(map(_names_no_queries, choices))):
        which = shown_names(choices)
        if len(choices) > 1:
            which = f"one of {which}"
        return f"{message}; if {which} does, say so: query={choices[0]!r}"
    if hint:
        return f"{message}; {hint}"
    return f"{message}; {_advice_on_labels(table, candidates)}"


def _advice_on_labels(table: Table, candidates: Sequence[str]) -> str:
    """Return advice on a table in which only labels of rows might name queries."""
    if INDEX in table.columns:
        return "name the index of the frame query_id, or add a column"
    if "" in table.columns:
        return "call the column without a name query_id if it does, or add one"
    if candidates:
        return f"{candidates[0]!r} only counts rows; add one"
    return "add one, or say which it is: query='NAME'"


def _labels_rows(name: str, runs: Sequence[Table]) -> bool:
    """Return whether a column has no name, or counts rows under a name that pandas gives."""
    if name in (INDEX, ""):
        return True
    if _ROW_LABELS.fullmatch(name) is None:
        return False
    return all(_counts_rows(run.columns[name], in_order=False) for run in runs)


def _advice_on_turned_table(table: Table, runs: Sequence[Table]) -> str:
    """Return advice on a leaderboard with a row per model; empty for other tables."""
    column = run_column(table, None)
    query = ""
    systems = list(filter(is_system_name, table.columns))
    systems = systems or list(filter(_may_hold_systems, table.columns))
    if column is None and len(systems) == 1:
        [column] = systems
        query = f"; if {column} names the queries, say so: query={column!r}"
        runs = [table.rows(rows) for rows in rows_by_name([table.columns[column]])]
    if column is None or len(runs) < 2 or any(len(run) > 1 for run in runs):
        return ""
    return (
        f"if it has a row per {column} and a column per task or query, turn it, as in "
        f"frame.set_index({column!r}).T.rename_axis('task').reset_index(){query}"
    )


def _repeated_ids(runs: Sequence[Table]) -> str:
    """Return advice on a column of ids that a run has several times; empty without one."""
    columns = [name for name in runs[0].columns if _may_repeat_ids(name, runs)]
    advice = _advice_on_split_ids(columns, runs)
    return advice or _advice_on_ids_given_twice(columns, runs)


def _advice_on_split_ids(columns: Sequence[str], runs: Sequence[Table]) -> str:
    """Return advice on ids whose rows another column tells apart; empty without such a column."""
    repeats = [name for name in runs[0].columns if _may_be_repeat(runs[0], name)]
    for name, repeat in itertools.product(columns, repeats):
        if repeat != name and _tells_rows_apart(name, repeat, runs):
            first = _text_of(runs[0].columns[repeat][0])
            return (
                f"each {name} has several rows, which {repeat} tells apart; if {name} names "
                f"the queries, say so: query={name!r}, and keep the rows of one {repeat}, "
                f"such as where={{{repeat!r}: {first!r}}}"
            )
    return ""


def _advice_on_ids_given_twice(columns: Sequence[str], runs: Sequence[Table]) -> str:
    """Return advice on ids most of which a run has once; empty without such ids."""
    for name in columns:
        if not _is_common(name, runs):
            continue
        if all(2 * len(run.ids(name)) > len(run) for run in runs):
            return (
                f"if {name} names the queries, say so: query={name!r}, and keep one row of each: "
                f"{_first_repeat(name, runs)}"
            )
    return ""


def _may_repeat_ids(name: str, runs: Sequence[Table]) -> bool:
    """Return whether a column holds integers or texts that may be ids, some of them repeated."""
    if name in (INDEX, ""):
        return False
    if name.lower() in (*RUN_NAMES, *MEASURE_NAMES, *REPEAT_NAMES):
        return False
    if any(name not in run.columns for run in runs):
        return False
    kinds = {run.kind(name) for run in runs}
    if not kinds <= {Kind.INTEGER, Kind.TEXT} or _is_value(name, runs):
        return False
    return any(len(run.ids(name)) < len(run) for run in runs)


def _may_be_repeat(run: Table, name: str) -> bool:
    """Return whether a column may number or name the repeats of a query."""
    if name in (INDEX, "") or name.lower() in RUN_NAMES:
        return False
    return _role_by_content(run, name) in (_REPEAT, _RUN)


def _tells_rows_apart(name: str, repeat: str, runs: Sequence[Table]) -> bool:
    """Return whether no run has two rows with the same id and the same repeat."""
    for run in runs:
        if repeat not in run.columns or len(run.ids(repeat)) > len(run.ids(name)):
            return False
        keys = zip(run.columns[name], run.columns[repeat], strict=True)
        if len(set(keys)) < len(run):
            return False
    return True


def _first_repeat(name: str, runs: Sequence[Table]) -> str:
    """Return where an id is given for the second time in a run."""
    for run in runs:
        seen = set()
        for row, text in enumerate(map(_text_of, run.columns[name])):
            if text in seen:
                return f"{run.location(row)} has {shown(text)} again"
            seen.add(text)
    return f"{name} has ids that repeat"


def _further_roles(table: Table, candidates: Sequence[str]) -> str:
    """Return guesses at the content of further columns, for messages; empty without any."""
    columns_of: dict[str, list[str]] = {_RUN: [], _REPEAT: [], _VALUES: []}
    for name in table.columns:
        if name in (INDEX, "", *candidates):
            continue
        role = _role_by_content(table, name)
        if role is not None:
            columns_of[role].append(name)
    roles = []
    for role, names in columns_of.items():
        if names:
            roles.append(f"{role}: {shown_names(names, 5)}")
    if not roles:
        return ""
    return f" (could be {'; '.join(roles)})"


_RUN, _REPEAT, _VALUES = "a run (run=)", "a repeat (where=)", "values"


def _role_by_content(table: Table, name: str) -> str | None:
    """Return a guess at the content of a column by its values; None if it is of no use."""
    kind, n_ids = table.kind(name), len(table.ids(name))
    has_repeated_ids = 2 * n_ids <= len(table)
    if name.lower() in REPEAT_NAMES:
        return _REPEAT
    match kind:
        case Kind.INTEGER if has_repeated_ids and n_ids > 2:
            return _REPEAT
        case Kind.NUMBER | Kind.FLAG | Kind.INTEGER:
            return _VALUES
        case Kind.TEXT if has_repeated_ids:
            return _RUN
    return None


# -- rows that repeat a query ----------------------------------------------------------------------


def advice_on_repeats(
    table: Table, roles: Roles, values: Sequence[str]
) -> RepeatAdvice:
    """Return a function that gives advice on two rows of the same query and run.

    Args:
        table: the table.
        roles: what its columns hold.
        values: its columns of values.
    """
    columns = {
        name: column
        for name, column in table.columns.items()
        if name not in (*roles.columns, *values, INDEX, "")
    }

    def advice(first: int, second: int) -> str:
        differing = {
            name: list(map(_text_of, column))
            for name, column in columns.items()
            if _text_of(column[first]) != _text_of(column[second])
        }
        keys = [
            table.columns[name]
            for name in (roles.query, roles.run, roles.measure)
            if name is not None
        ]
        sizes = pd.Series(list(zip(*(map(_text_of, key) for key in keys), strict=True)))
        return _advice(differing, most=int(sizes.value_counts().max()))

    return advice


def _advice(columns: Mapping[str, Sequence[str]], most: int) -> str:
    """Return advice on several rows of one query.

    Args:
        columns: the columns in which the rows differ.
        most: the largest number of rows of one query.
    """
    n_values = {name: len(set(column)) for name, column in columns.items()}
    by_name = [name for name in columns if name.lower() in REPEAT_NAMES]
    by_size = [
        name
        for name, column in columns.items()
        if n_values[name] <= min(2 * most, max(most, len(column) - 1))
    ]
    for name in (*by_name, *sorted(by_size, key=n_values.__getitem__)):
        values = list(dict.fromkeys(columns[name]))
        differ = f"the rows differ in {name} ({shown_names(values, 3)})"
        condition = f"where={{{name!r}: {values[0]!r}}}"
        if is_system_name(name):
            return f"{differ}: if it names the runs, say so: run={name!r}"
        if name.lower() in REPEAT_COLUMNS:
            return (
                f'{differ}: say what they are: repeats="samples" (noise of each query) or '
                f'repeats="seeds" (each moves all queries); to keep one, as {condition} does, '
                "hides how much they vary"
            )
        choice = f"{differ}: keep those of one, such as {condition}"
        if name.lower() in TASK_NAMES:
            return f"{choice}, or give them to benchmark as several collections"
        return choice
    for name, column in columns.items():
        if n_values[name] == len(column):
            return f"keep one, or if {name} names the queries, say so: query={name!r}"
    return (
        "keep one, or if they are repeats, number them in a column such as seed and say what they "
        'are: repeats="seeds" or repeats="samples"'
    )


def _text_of(value: Any) -> str:
    """Return the value of a cell as a text that can be compared."""
    return str(id_text(value))
