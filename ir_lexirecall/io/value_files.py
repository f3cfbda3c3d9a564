"""Values per query in files of trec_eval, ir_measures, autojudge-evaluate, JSON, CSV, Parquet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from math import nan
from typing import Any, NamedTuple

from ir_lexirecall._util.errors import counted, naming, shown, shown_names
from ir_lexirecall._util.paths import PathLike
from ir_lexirecall._util.selecting import without, without_keys
from ir_lexirecall.io.cells import number_of_text
from ir_lexirecall.io.checks import check_not_cut
from ir_lexirecall.io.files import (
    File,
    Location,
    Records,
    check_line_ends,
    json_values,
    kind_of_file,
)
from ir_lexirecall.io.frames import Table
from ir_lexirecall.io.json_shapes import cells_of_object
from ir_lexirecall.io.lines import csv_rows, numbered_lines
from ir_lexirecall.io.mteb_results import check_is_no_result
from ir_lexirecall.io.names import (
    ID_NAMES,
    METRIC_NAMES,
    QUERY_NAMES,
    RUN_COLUMNS,
    RUN_NAMES,
    TASK_NAMES,
    our_names,
)
from ir_lexirecall.io.query_columns import NamedColumns
from ir_lexirecall.io.same_documents import DOCUMENT_NAMES
from ir_lexirecall.io.schemas import VALUES
from ir_lexirecall.io.spreadsheets import unescaped
from ir_lexirecall.io.summary_rows import PrintedRow, rows_over_queries
from ir_lexirecall.io.value_archives import is_archive, log_of_archive
from ir_lexirecall.io.value_cells import (
    SUMMARY,
    Cells,
    is_known_measure,
    is_measure,
    is_missing_mark,
    is_text_measure,
    texts,
    value_of,
)
from ir_lexirecall.io.value_formats import check_is_no_summary, table_of_format

_LINES = {
    3: "measure, query, value (trec_eval) or query, measure, value (ir_measures)",
    4: "run, measure, query, value or run, query, measure, value (autojudge-evaluate)",
    6: "query, Q0, run, rank, value, measure (autojudge-evaluate's ranking)",
}
"""The fields of a line, by their number."""
_IS_A_RUN = "this looks like a run; leave out values= and give qrels and runs"
_IS_QRELS = "this looks like qrels; leave out values= and give qrels and runs"
_HEADER_NAMES = frozenset(
    (*QUERY_NAMES, *ID_NAMES, *TASK_NAMES, *RUN_NAMES, "name", "index")
)


class Line(NamedTuple):
    """The fields of a line, with its number."""

    number: int
    fields: list[str]


@dataclass(frozen=True)
class FieldOrder:
    """The indices of the fields of a line; `run` is None if lines do not name the run."""

    measure: int
    query: int
    value: int
    run: int | None


def content_of_file(path: PathLike, columns: NamedColumns) -> Cells | Table:
    """Return the values in a file, as a table if its columns have names.

    Values over all queries are left out of formats whose rule it is to write them.

    Args:
        path: the file.
        columns: the columns that the user names.

    Raises:
        ValueError: the file cannot be read as values; the message names the line.
    """
    file = File.opened(path)
    if is_archive(file):
        table = table_of_format(log_of_archive(file), file.path)
    else:
        table = Table.from_file(file)
    if table is None:
        return content_of_text(file, columns)
    return table


def content_of_text(file: File, columns: NamedColumns) -> Cells | Table:
    """Return the values in a text file; see `content_of_file`."""
    text, path = file.text(), file.path
    first = _first_line(text, path)
    if first.lstrip().startswith(("{", "[")):
        return content_of_json(text, file, columns.measures)
    separator = separator_of_header(first, path, columns)
    if separator is not None:
        rows = list(csv_rows(text, file.line_name, separator))
        if "'" in text:  # as `eval --by-query` writes ids and names
            rows = [(line, [*map(unescaped, row)]) for line, row in rows]
        check_end(text, rows[-1][1], path)
        return Table.from_rows(rows, path)
    is_table = file.ending in (".csv", ".tsv") or ("," in first and not _is_line(first))
    if is_table and not _is_line_between_tabs(first):
        raise ValueError(
            f"{path}, line 1: expected a header with query_id, and run or a column per run, "
            f"got {shown(first)}"
        )
    return cells_of_lines(text, path)


def _first_line(text: str, path: str) -> str:
    """Return the first line of a text that is not empty; raise if there is none."""
    with naming(path):
        check_line_ends(text)
    for line in text.splitlines():
        if line.strip():
            return line
    raise ValueError(f"{path}: there are no values in it; add some")


def check_end(text: str, last_fields: Sequence[str], path: str) -> None:
    """Raise if a file ends within its last number, by the rule of values."""
    if not text.endswith("\n"):
        n_lines = text.count("\n") + 1
        check_not_cut(last_fields[-1:], VALUES.cut, lambda: f"{path}, line {n_lines}")


def _is_line(first: str) -> bool:
    """Return whether a line has as many fields between blanks as a format without a header."""
    return len(first.split()) in _LINES


def _is_line_between_tabs(first: str) -> bool:
    """Return whether a first line is that of a program, with a measure before the value."""
    fields = [field.strip() for field in first.split("\t")]
    return len(fields) in _LINES and any(map(is_measure, fields[:-1]))


def separator_of_header(first: str, path: str, columns: NamedColumns) -> str | None:
    """Return the separator of a header; None if the first line is not a header.

    Raises:
        ValueError: the columns are those of a run.
    """
    named = [name for name in (columns.query, columns.run) if name is not None]
    header_names = _HEADER_NAMES | {name.lower() for name in named}
    for separator in (",", "\t", ";", "|"):
        names = [name.strip().strip('"') for name in first.split(separator)]
        if not _are_names(names, header_names, separator, path):
            continue
        if set(RUN_COLUMNS) <= {*our_names([name.lower() for name in names])}:
            raise ValueError(f"{path}: {_IS_A_RUN}")
        return separator
    return None


def _are_names(
    names: Sequence[str], known: Set[str], separator: str, path: str
) -> bool:
    """Return whether the fields of a first line are names of columns.

    One of them is known, or the line is one of a table and has texts only.
    """
    if len(names) < 2:
        return False
    lower = [name.lower() for name in names]
    if separator == "\t" and is_text_measure(names[0]):
        # A line of trec_eval has no name after it: runid, all, NAME.
        return not known.isdisjoint(lower[1:])
    if not known.isdisjoint(lower):
        return True
    return _are_unknown_names(names, separator, path)


def _are_unknown_names(names: Sequence[str], separator: str, path: str) -> bool:
    """Return whether unknown fields are names of columns, which are no numbers."""
    ending_of_table = ".tsv" if separator == "\t" else ".csv"
    may_be_line = separator == "\t" or _is_line(" ".join(names))
    if may_be_line and kind_of_file(path) != ending_of_table:
        return False
    if not all(names[1:]) or any(map(is_text_measure, names)):
        return False
    return all(number_of_text(name) is None for name in names)


# -- lines -----------------------------------------------------------------------------------------


def cells_of_lines(text: str, path: str) -> Cells:
    """Return the values in lines of trec_eval, ir_measures or autojudge-evaluate."""
    lines = lines_of_text(text, path)
    check_end(text, lines[-1].fields, path)
    order = field_order(lines, path)
    printed = [_printed_row(line, order) for line in lines]
    over_queries = rows_over_queries(printed)
    rows = []
    numbers = []
    for n, (line, (run, query, measure, value)) in enumerate(
        zip(lines, printed, strict=True)
    ):
        if n in over_queries or is_text_measure(measure):
            continue
        if value is None:
            raise ValueError(
                f"{path}, line {line.number}: the {measure} of query {shown(query)} is "
                f"{shown(line.fields[order.value])}, not a number"
            )
        rows.append((run, query, measure, value))
        numbers.append(line.number)
    if not rows:
        raise ValueError(
            f"{path}: it has values over all queries only; ask for values per query (trec_eval -q)"
        )
    return Cells.from_rows(
        rows,
        lambda n: f"{path}, line {numbers[n]}",
        advice=lambda first, second: (
            "keep one, or if it holds the output of several runs, give a file for each"
        ),
    )


def _printed_row(line: Line, order: FieldOrder) -> PrintedRow:
    """Return the run, query, measure and value of a line."""
    run = None if order.run is None else line.fields[order.run]
    field = line.fields[order.value]
    value = nan if is_missing_mark(field) else number_of_text(field)
    return run, line.fields[order.query], line.fields[order.measure], value


def _fields_of(line: str) -> list[str]:
    """Return the fields of a line between tabs, or between blanks if tabs make no format."""
    fields = [field.strip() for field in line.split("\t")]
    return fields if len(fields) in _LINES else line.split()


def lines_of_text(text: str, path: str) -> list[Line]:
    """Return the lines of a file as fields, without comments and texts of trec_eval.

    Raises:
        ValueError: a line has another number of fields than the first one, or than any format.
    """
    width, lines = 0, []
    for n, line in numbered_lines(text):
        fields = _fields_of(line)
        if not width:
            _check_is_no_header(fields, path, n)
        width = width or len(fields)
        if len(fields) != width and fields[0].startswith("relstring"):
            continue  # a text with blanks
        if len(fields) not in _LINES or len(fields) != width:
            wanted = _LINES.get(width) or "; ".join(_LINES.values())
            raise ValueError(
                f"{path}, line {n}: {counted(len(fields), 'field')} where a line has {wanted}"
            )
        lines.append(Line(n, fields))
    if not lines:
        raise ValueError(f"{path}: there are no values in it; add some")
    return lines


def _check_is_no_header(fields: Sequence[str], path: str, number: int) -> None:
    """Raise if a first line is a header with blanks between names, as of R's `write.table`."""
    names = {field.strip('"').lower() for field in fields}
    is_row = is_text_measure(fields[0]) or value_of(fields[-1]) is not None
    if not is_row and not names.isdisjoint(_HEADER_NAMES - set(SUMMARY)):
        raise ValueError(
            f"{path}, line {number}: a header with blanks between names "
            f"({shown_names(sorted(names), 3)}); write the table with commas or tabs between "
            "fields, in R by write.csv(..., row.names = FALSE)"
        )


def field_order(lines: Sequence[Line], path: str) -> FieldOrder:
    """Return the order of the fields of lines.

    Raises:
        ValueError: the file looks like a run or qrels, or the order cannot be decided.
    """
    width = len(lines[0].fields)
    if width == 6:
        order = FieldOrder(measure=5, query=0, value=4, run=2)
        _check_is_no_run(lines, order, path)
        return order
    first, second = width - 3, width - 2
    if width == 4 and _names_in(lines, first) <= {"0", "Q0"}:
        raise ValueError(f"{path}: {_IS_QRELS}")
    # Only queries include one for all queries, measures have known names, or they are fewer.
    signs = [
        (
            not names.isdisjoint(SUMMARY),
            not all(map(is_known_measure, names)),
            len(names),
        )
        for names in (_names_in(lines, first), _names_in(lines, second))
    ]
    if signs[0] == signs[1]:
        fields = lines[0].fields
        raise ValueError(
            f"{path}: which field is the measure, {shown(fields[first])} or "
            f"{shown(fields[second])}, is unclear; give a table with a header: run, query_id, "
            "measure, value"
        )
    measure, query = first, second
    if signs[1] < signs[0]:
        measure, query = second, first
    for name in sorted(_names_in(lines, measure)):
        if number_of_text(name) is not None:
            raise ValueError(
                f"{path}: without a header, {name} would be the name of a measure; give a table "
                "with a header: query_id, and a column per run or measure"
            )
    run = 0 if width == 4 else None
    return FieldOrder(measure, query, value=width - 1, run=run)


def _check_is_no_run(lines: Sequence[Line], order: FieldOrder, path: str) -> None:
    """Raise if lines of six fields are those of a run, with documents instead of measures."""
    assert order.run is not None
    measures, queries, runs = (
        _names_in(lines, field) for field in (order.measure, order.query, order.run)
    )
    # Documents of a single query fill the grid of queries, runs and measures, too.
    may_be_full = len(queries) > 1 or any(map(is_measure, measures))
    if not may_be_full or 2 * len(lines) < len(queries) * len(runs) * len(measures):
        raise ValueError(f"{path}: {_IS_A_RUN}")


def _names_in(lines: Sequence[Line], field: int) -> set[str]:
    return {line.fields[field] for line in lines}


# -- JSON ------------------------------------------------------------------------------------------


def content_of_json(
    text: str, file: File, measures: Sequence[str] | None
) -> Cells | Table:
    """Return the values in JSON: a file of a known program, records, or a dict of dicts."""
    path = file.path
    with naming(path):
        numbered, cut = json_records(text, file.line_name)
    content = numbered[0][1]
    if not content:
        raise ValueError(f"{path}: there are no values in it; add some")
    if len(numbered) == 1:
        check_is_no_result(content, path)
    table = table_of_program([record for _, record in numbered], path)
    if table is not None:
        return replace(table, cut=(*table.cut, *cut))
    check_is_no_summary(content, path)
    if len(numbered) > 1:
        return replace(table_of_records(numbered, path, "line"), cut=cut)
    return replace(content_of_value(content, path, measures), cut=cut)


def table_of_program(records: Sequence[Any], path: str) -> Table | None:
    """Return the values in JSON of a known program: one value, or records; None for others."""
    table = table_of_format(records[0], path) if len(records) == 1 else None
    if table is None:
        return table_of_format(records, path)
    return table


def content_of_value(
    content: Any, path: str, measures: Sequence[str] | None
) -> Cells | Table:
    """Return the values in one JSON value: a dict of dicts, a list of records, or a record."""
    if not isinstance(content, dict):
        return table_of_records([*enumerate(content, start=1)], path, "record")
    cells = cells_of_object(content, path, measures)
    if cells is None:
        return table_of_records([(1, content)], path, "record")
    return cells


def json_records(text: str, location: Location) -> tuple[Records, tuple[str, ...]]:
    """Return the JSON values in a file, numbered, and a sentence if its last line is cut off.

    Raises:
        ValueError: another line is not JSON.
    """
    whole, _, last = text.rpartition("\n")
    if not last.strip() or not whole.strip().startswith("{"):
        return json_values(text, location), ()
    try:
        return json_values(text, location), ()
    except ValueError:
        numbered = json_values(whole, location)
        if len(numbered) == 1 and numbered[0][0] != whole.count("\n") + 1:
            raise  # an object over several lines
        n = text.count("\n") + 1
        return numbered, (
            f"{location(n)} is cut off, after {counted(len(numbered), 'whole line')}.",
        )


def table_of_records(numbered: Records, path: str, label: str) -> Table:
    """Return JSON objects as a table.

    Args:
        numbered: the objects, with the number of their line or record.
        path: the file.
        label: ``"line"`` or ``"record"``.

    Raises:
        ValueError: one of them is no object.
    """
    records = [record for _, record in numbered]
    numbers = [n for n, _ in numbered]
    _check_are_objects(records, path)
    nested = _columns_of_values(records)
    if nested:
        records = [_flattened(record, nested) for record in records]
    names = dict.fromkeys(chain.from_iterable(records))
    if names.keys() - {"run"} == METRIC_NAMES:
        # ir_measures writes values over all queries, too.
        kept = _rows_of_queries(records)
        records = [records[row] for row in kept]
        numbers = [numbers[row] for row in kept]
    columns = {name: texts(record.get(name) for record in records) for name in names}
    return Table(columns, path, lambda row: f"{path}, {label} {numbers[row]}")


def _check_are_objects(records: Sequence[Any], path: str) -> None:
    """Raise if a record is no object."""
    if not all(isinstance(record, dict) for record in records):
        raise ValueError(
            f"{path}: expected objects with run, query_id, measure and value, "
            f"got {shown(records[:1])}"
        )


def _rows_of_queries(records: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the indices of records of ir_measures whose values are not over all queries."""
    over_queries = rows_over_queries([_row_of_record(record) for record in records])
    return without(range(len(records)), over_queries)


def _columns_of_values(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names under which records hold their values in a dict of their own."""
    columns = []
    for name in records[0]:
        if name in DOCUMENT_NAMES:
            continue
        if all(_holds_values(record.get(name)) for record in records):
            columns.append(name)
    return columns


def _holds_values(inner: Any) -> bool:
    """Return whether an object is a dict of numbers, some of which may be missing."""
    if not isinstance(inner, Mapping) or not inner:
        return False
    values = [value for value in inner.values() if value is not None]
    return all(isinstance(value, (bool, int, float)) for value in values)


def _flattened(record: Mapping[str, Any], nested: Sequence[str]) -> dict[str, Any]:
    """Return a record where the values in dicts are its own.

    A value keeps its name, or is called `scores.f1` where the record has this name already.
    """
    flat = without_keys(record, nested)
    for name in nested:
        for measure, value in record[name].items():
            label = f"{name}.{measure}" if measure in flat else measure
            flat[label] = value
    return flat


def _row_of_record(record: Mapping[str, Any]) -> PrintedRow:
    """Return the run, query, measure and value of a record of ir_measures."""
    run, query, measure = map(record.get, ("run", "query_id", "measure"))
    return str(run), str(query), str(measure), value_of(record.get("value"))
