"""Runs and qrels from files, recognised by their content, not by their names.

TREC's formats, runs of three fields (query, document, rank) and tables with a header (``lines``);
Parquet; JSON: predictions of MTEB and sentence-transformers, records, dicts of dicts; judgment
lists of search engines. Text may be compressed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Self

from ir_lexirecall._util import engine
from ir_lexirecall._util.errors import (
    and_more,
    check_number,
    entry,
    is_integer,
    naming,
    needs,
    shown,
)
from ir_lexirecall._util.lazy import installed
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall._util.paths import PathLike
from ir_lexirecall.io import lines, search_engines
from ir_lexirecall.io.cells import (
    NumbersByQuery,
    grade_of,
    id_of,
    number_of,
    text_hint,
)
from ir_lexirecall.io.checks import check_names
from ir_lexirecall.io.files import (
    BLANKS,
    File,
    JSONObject,
    Location,
    Oddity,
    Records,
)
from ir_lexirecall.io.names import (
    ASPECT_COLUMNS,
    NUGGET_DOCUMENTS,
    NUGGET_QUERIES,
    QREL_COLUMNS,
    RECORD_ALIASES,
    TEXTS,
    our_names,
)
from ir_lexirecall.io.relevant_documents import with_grades
from ir_lexirecall.io.schemas import POOL, Schema
from ir_lexirecall.io.spreadsheets import with_original_ids

_ROWS = 2**21  # of a Parquet file at a time
_MTEB = "mteb_model_meta"
_GRADES = {"support": 2, "partial_support": 1, "not_support": 0}

# -- formats ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FileFormat:
    """A format of files.

    Attributes:
        recognises: whether a file is of the format; see ``File`` for what can be asked.
        read: gives the file's columns by name, some million rows at a time. The schema says which
            ones are needed.
        always_has_columns: whether values and groups have named columns in it, too. JSON and text
            hold them in shapes of their own.
        ending: ending of the file's name, which the name of the run leaves out.
    """

    recognises: Callable[[File], bool]
    read: Callable[[File, Schema], Iterable[pl.DataFrame]]
    always_has_columns: bool = True
    ending: str = ""

    @classmethod
    def by_ending(
        cls, ending: str, read: Callable[[File, Schema], Iterable[pl.DataFrame]]
    ) -> Self:
        """Return the format of all files with this ending; ``read`` yields scores as numbers."""
        return cls(lambda file: file.ending == ending, read, ending=ending)


def without_ending(name: str) -> str:
    """Return a file's name without the ending by which a format is recognised."""
    for one in FORMATS:
        name = name.removesuffix(one.ending) or name
    return name


def format_of(file: File) -> FileFormat:
    """Return the first format that recognises a file."""
    return next(one for one in FORMATS if one.recognises(file))


def columns_of_text(file: File, schema: Schema) -> Iterator[pl.DataFrame]:
    """Yield the columns of lines of fields, of a table with a header, or of a judgment list.

    The columns are those that the schema needs, or all of them if it keeps further ones or the
    file lacks one that it needs. Further columns are None where they are empty.

    Raises:
        ValueError: a line has a wrong number of fields, or a number is not one; with the line.
    """
    if schema.of_qrels and search_engines.is_judgment_list(file.first_line):
        yield _table_of_dicts(search_engines.ratings_in(file), schema)
        return
    with naming(file.path):
        layout = lines.layout_of(
            file.first_line, file.ending, schema, file.line_name(1)
        )

    def blocks() -> Iterator[bytes]:
        return file.oddity.watched(file.blocks(), layout.blanks_in_ids)

    tables = layout.batches(blocks, file.line_of_block)
    if schema.of_qrels:
        yield _with_numbers(with_original_ids(lines.stacked([*tables])))
    elif layout.has_ranks_only:
        table = lines.stacked([*tables])
        with naming(file.path):
            lines.check_ranks(table)
        yield table
    else:
        yield from tables


def read_pool(path: str) -> tuple[pl.DataFrame, int] | None:
    """Return the graded rows of a table for judging, and the number of rows without a grade.

    Args:
        path: a file such as ``write_pool_csv`` writes and people fill in.

    Returns:
        Its ``query_id``, ``doc_id`` and ``relevance``, and its aspects if it has some; None if the
        file is not a table of judgments whose columns have names.

    Raises:
        ValueError: a row has too many fields, lacks an id, or has a grade that is not a number.
    """
    if not os.path.isfile(path):
        return None
    file = File.opened(path)
    if not _has_named_columns(file):
        return None
    table = lines.stacked([*format_of(file).read(file, POOL)])
    names = our_names(table.columns)
    if len(set(names)) < len(names) or not set(QREL_COLUMNS) <= set(names):
        return None
    column_of = dict(zip(names, table, strict=True))
    has_grade = [not _is_empty(grade) for grade in column_of["relevance"].to_list()]
    graded = [
        _column(name, [*compress(column_of[name].to_list(), has_grade)])
        for name in (*QREL_COLUMNS, *ASPECT_COLUMNS)
        if name in names
    ]
    return pl.DataFrame(graded), has_grade.count(False)


def _has_named_columns(file: File) -> bool:
    """Return whether a file may be a table for judging: Parquet, JSON lines, or CSV."""
    if file.is_parquet:
        return True
    if file.is_json:
        return _is_flat(file.json_values()[0][1])
    if search_engines.is_judgment_list(file.first_line):
        return False
    header = lines.header_of(file.first_line, file.ending)
    if not header.is_one(POOL, file.line_name(1)):
        return False
    return set(QREL_COLUMNS) <= set(header.columns(POOL))


def _is_empty(grade: Any) -> bool:
    """Return whether a cell for a grade is still empty: None, NaN, or a text of blanks."""
    return (
        grade is None
        or grade != grade
        or (isinstance(grade, str) and not grade.strip())
    )


def _with_numbers(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with numbers for further columns whose texts are all numbers."""
    for i, texts in enumerate(table):
        if texts.dtype == pl.String and texts.name not in TEXTS:
            numbers = texts.cast(pl.Float64, strict=False)
            if numbers.null_count() == texts.null_count():
                table.replace_column(i, numbers)
    return table


# -- JSON ------------------------------------------------------------------------------------------


def _columns_of_json(file: File, schema: Schema) -> Iterator[pl.DataFrame]:
    """Yield the columns of a JSON file: what programs write, records, or a dict of dicts."""
    records = file.json_values()
    file.oddity.is_possible = True
    with naming(file.path):
        if _is_flat(records[0][1]):
            yield _table_of_records(records, schema, file.line_name)
            return
        if schema.of_qrels:
            yield _table_of_dicts(_qrels_in(records, file.line_name), schema)
            return
        run, part = _run_in(records, file.line_name)
    label = file.path
    if part:
        label = f"{file.path} ({part})"
    with naming(label):
        yield _table_of_dicts(run, schema)


def _run_in(records: Records, location: Location) -> tuple[Any, str]:
    """Return the run that a JSON file holds, and the name of its part of the file.

    Args:
        records: the JSON values in the file, with their lines.
        location: what messages call a line.
    """
    content = records[0][1]
    if _is_prediction(content) or len(records) > 1:
        return _predictions(records, location), ""
    if isinstance(content, dict) and {"details", "metric_score"} <= content.keys():
        return search_engines.read_rank_eval(
            content
        ).run, ""  # a response of _rank_eval
    return _of_mteb(content)


def _of_mteb(content: Any) -> tuple[Any, str]:
    """Return the run below the single subset and split of MTEB's predictions, and their names.

    Content of another kind is returned as it is.
    """
    if not isinstance(content, dict):
        return content, ""
    if _MTEB not in content and not _is_nested(content):
        return content, ""
    runs: dict[
        str, Any
    ] = {}  # MTEB's predictions have queries below subsets and splits
    for name, splits in content.items():
        if name != _MTEB and isinstance(splits, dict):
            runs |= {f"{name}/{split}": run for split, run in splits.items()}
    if len(runs) != 1:
        raise ValueError(
            "expected predictions of MTEB for one subset and split, it has "
            f"{', '.join(runs) or 'nothing'}; "
            "give one of them: json.load(open(path))[subset][split]"
        )
    [(name, run)] = runs.items()
    return run, name


def _is_nested(content: Any) -> bool:
    """Return whether content is a dict of dicts, at least four levels deep by first values."""
    for _ in range(3):
        if not isinstance(content, dict):
            return False
        content = next(iter(content.values()), None)
    return isinstance(content, dict)


def _qrels_in(records: Records, location: Location) -> Any:
    """Return the qrels that a JSON file holds: what search engines write, or a dict of dicts."""
    content = records[0][1]
    if len(records) > 1:
        raise ValueError(
            f"{location(records[1][0])}: a second JSON value; qrels as JSON lines are objects with "
            f"query_id, doc_id and relevance, not {shown(content)}"
        )
    ratings = search_engines.qrels_in(content)
    if ratings is not None:
        return ratings
    graded = with_grades(content)
    if graded is content:
        return content
    return {
        query_id: _with_texts_as_ids(query_id, documents)
        for query_id, documents in graded.items()
    }


def _with_texts_as_ids(query_id: str, documents: Any) -> Any:
    """Return the grades of documents by ids that are texts: lists of JSON may hold integers."""
    if not isinstance(documents, dict):
        return documents
    location = f"query {shown(query_id)}"
    return {
        _json_id(doc_id, "a document", location): grade
        for doc_id, grade in documents.items()
    }


# -- records: a JSON object for each row -----------------------------------------------------------


def _is_flat(content: Any) -> bool:
    """Return whether a JSON value is a row, or a list of rows: with a query and a document each."""
    row = content
    if isinstance(content, list) and content:
        row = content[0]
    if not isinstance(row, dict):
        return False
    names = our_names([*row], RECORD_ALIASES)
    of_row = dict(zip(names, row.values(), strict=True))
    ids = [of_row.get("query_id"), of_row.get("doc_id")]
    return all(isinstance(value, (str, int)) for value in ids)


def _table_of_records(
    records: Records, schema: Schema, location: Location
) -> pl.DataFrame:
    """Return rows of JSON lines, or of a list of objects, as a table.

    Raises:
        ValueError: a row is not an object, or lacks a query, a document or a number; with its line.
    """
    rows = _located_rows(records, location)
    names = _names_of_record(rows[0][1], schema)
    value = _value_column(names.values(), schema)
    columns: dict[str, list[Any]] = {name: [] for name in names.values()}
    for row_location, row in rows:
        if not isinstance(row, dict):
            raise ValueError(
                f"{row_location}: expected an object as in the first row, got {shown(row)}"
            )
        cells = {str(names.get(name, name)): cell for name, cell in row.items()}
        _check_record(cells, value, schema, row_location)
        for name, column in columns.items():
            column.append(cells.get(name))

    for name in ("query_id", "doc_id"):
        columns[name] = [id_of(cell) for cell in columns[name]]
    parse = _parser(schema)
    columns[value] = [parse(cell) for cell in columns[value]]
    return pl.DataFrame([_column(name, values) for name, values in columns.items()])


def _located_rows(records: Records, location: Location) -> list[tuple[str, Any]]:
    """Return the rows of JSON lines, or of a single list, each with its location."""
    if len(records) == 1 and isinstance(records[0][1], list):
        label = location(0).removesuffix("line 0")
        return [
            (f"{label}record {n}", row) for n, row in enumerate(records[0][1], start=1)
        ]
    return [(location(line), row) for line, row in records]


def _value_column(names: Collection[str], schema: Schema) -> str:
    """Return the name of the column of grades, or of scores, which count more than ranks."""
    if schema.of_qrels:
        return "relevance"
    if "rank" in names and "score" not in names:
        return "rank"
    return "score"


def _names_of_record(row: JSONObject, schema: Schema) -> dict[str, str]:
    """Return our name of each column of a row; grades may be called scores."""
    names = dict(zip(row, our_names([*row], RECORD_ALIASES), strict=True))
    if schema.of_qrels and "relevance" not in names.values() and "score" in names:
        names["score"] = "relevance"
    return names


def _parser(schema: Schema) -> Callable[[Any], float | None]:
    """Return the function that reads grades of qrels, or scores of runs."""
    return grade_of if schema.of_qrels else number_of


def _check_record(
    cells: JSONObject,
    value: str,
    schema: Schema,
    location: str,
) -> None:
    """Raise if a row lacks a column, or has no id or number in one."""
    missing = [name for name in ("query_id", "doc_id", value) if name not in cells]
    if missing:
        raise ValueError(
            f"{location}: there is no {missing[0]}; "
            f"it has {', '.join(map(str, cells)) or 'nothing'}"
        )
    for name in ("query_id", "doc_id"):
        _json_id(cells[name], name, location)
    may_be_empty = schema.gaps and _is_empty(cells[value])
    if not may_be_empty and _parser(schema)(cells[value]) is None:
        raise ValueError(
            f"{location}: the {value} of document {shown(cells['doc_id'])} for query "
            f"{shown(cells['query_id'])} is {shown(cells[value])}, not a number"
            f"{text_hint(cells[value])}"
        )


def _column(name: str, values: list[Any]) -> pl.Series:
    """Return values as a column, of objects if they are of several types."""
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, OverflowError):
        return pl.Series(name, values, dtype=pl.Object)


def _table_of_dicts(content: Any, schema: Schema) -> pl.DataFrame:
    """Return ``{query: {document: number}}`` as a table.

    Raises:
        ValueError: it is something else, or a value is not a number.
    """
    what, value, column = "run", "score", "score"
    parse = number_of
    if schema.of_qrels:
        what, value, column, parse = "qrels", "grade", "relevance", grade_of
    expected = f"expected {{query_id: {{doc_id: {value}}}}}"
    if not isinstance(content, dict):
        kind = type(content).__name__
        raise ValueError(f"taken for JSON, but a {kind} is not a {what}: {expected}")
    columns: dict[str, list[Any]] = {"query_id": [], "doc_id": [], column: []}
    for query_id, docs in content.items():
        if not isinstance(docs, dict):
            raise ValueError(
                f"taken for JSON, but query {shown(query_id)} maps to {shown(docs)}: {expected}"
            )
        values = [parse(number) for number in docs.values()]
        if None in values:
            doc_id = [*docs][values.index(None)]
            raise ValueError(
                f"the {value} of document {shown(doc_id)} for query {shown(query_id)} is "
                f"{shown(docs[doc_id])}, not a number{and_more(values.count(None) - 1)}"
                f"{text_hint(docs[doc_id])}"
            )
        columns["query_id"] += [query_id] * len(docs)
        columns["doc_id"] += docs
        columns[column] += values
    return pl.DataFrame(
        columns, schema={"query_id": pl.String, "doc_id": pl.String, column: pl.Float64}
    )


def _is_prediction(content: Any) -> bool:
    """Return whether a JSON value is the ranking of a query by sentence-transformers."""
    if not isinstance(content, dict) or "query_id" not in content:
        return False
    return isinstance(content.get("results"), list)


def _predictions(
    records: Iterable[tuple[int, Any]], location: Location
) -> NumbersByQuery:
    """Return predictions of sentence-transformers, a JSON object per query, as a run."""
    run = {}
    for number, content in records:
        line = location(number)
        if not _is_prediction(content):
            raise ValueError(
                f"{line}: taken for predictions of sentence-transformers, but it is not "
                '{"query_id": ..., "results": [{"corpus_id": ..., "score": ...}, ...]}'
            )
        query_id = _json_id(content["query_id"], "query_id", line)
        if query_id in run:
            raise ValueError(f"{line}: query {shown(query_id)} occurs twice")
        run[query_id] = _predicted_ranking(query_id, content["results"], line)
    return run


def _predicted_ranking(
    query_id: str, results: list[Any], line: str
) -> dict[str, float]:
    """Return the scores of a query's results by document."""
    ranking = {}
    for result in results:
        if not isinstance(result, dict) or not {"corpus_id", "score"} <= result.keys():
            raise ValueError(
                f"{line}: a result of query {shown(query_id)} is {shown(result)}, "
                "without corpus_id and score"
            )
        doc_id = _json_id(result["corpus_id"], "corpus_id", line)
        if doc_id in ranking:
            raise ValueError(
                f"{line}: document {shown(doc_id)} appears twice for query "
                f"{shown(query_id)}; keep one"
            )
        ranking[doc_id] = result["score"]
    return ranking


def _json_id(value: Any, name: str, location: str) -> str:
    """Return an id in JSON as a text."""
    if isinstance(value, str) or is_integer(value):
        return str(value)
    raise ValueError(
        f"{location}: {name} is {shown(value)}, not a string or an integer"
    )


# -- assignments of nuggets ------------------------------------------------------------------------


@entry
def nugget_qrels(
    assignments: PathLike | Iterable[JSONObject],
    *,
    vital: float = 1.0,
    okay: float = 0.5,
) -> pd.DataFrame:
    """Qrels with weighted subtopics out of assignments of nuggets (TREC RAG, AutoNuggetizer).

    A record says which nuggets of a query a text supports: ``{"qid", "nuggets": [{"text",
    "importance", "assignment"}]}``. The text is called by ``docid`` (or ``doc_id``, ``docno``), and
    where the record is of a whole answer by ``run_id``.

    Args:
        assignments: records, or the path of a file with one per line (JSON lines).
        vital: the weight of nuggets of importance ``vital``.
        okay: the weight of nuggets of importance ``okay``.

    Returns:
        ``query_id``, ``doc_id``, ``subtopic_id`` (the nugget's text), ``relevance`` (2 support, 1
        partial support, 0 none) and ``weight``: for RBU, ``D_nDCG``, ``IA`` and the other measures
        of diversity.

    Raises:
        ValueError: a record or nugget lacks a field, or one has an unknown value; the message names
            it.

    >>> record = {"qid": "1", "docid": "d7", "nuggets": [
    ...     {"text": "Rome was founded", "importance": "vital", "assignment": "support"},
    ...     {"text": "by twins", "importance": "okay", "assignment": "partial_support"}]}
    >>> nugget_qrels([record])
      query_id doc_id       subtopic_id  relevance  weight
    0        1     d7  Rome was founded          2     1.0
    1        1     d7          by twins          1     0.5
    """
    weights = {"vital": vital, "okay": okay}
    for name, weight in weights.items():
        check_number(name, weight, least=0)
    rows = []
    for location, record in _assignments(assignments):
        for query_id, doc_id, text, nugget in _nuggets_of(record, weights, location):
            grade = _GRADES[nugget["assignment"]]
            weight = weights[nugget["importance"]]
            rows.append((query_id, doc_id, text, grade, weight))
    return pd.DataFrame(
        rows, columns=["query_id", "doc_id", "subtopic_id", "relevance", "weight"]
    )


def _assignments(
    assignments: PathLike | Iterable[JSONObject],
) -> Iterator[tuple[str, Any]]:
    """Yield the records of assignments, each with its label in messages."""
    if isinstance(assignments, (str, os.PathLike)):
        file = File.opened(assignments)
        for line, record in file.json_values():
            yield file.line_name(line), record
        return
    for number, record in enumerate(assignments, start=1):
        yield f"record {number}", record


def _nuggets_of(
    record: Any, weights: Mapping[str, float], location: str
) -> Iterator[tuple[str, str, str, JSONObject]]:
    """Yield query, document, text and all fields of each nugget of a record.

    Raises:
        ValueError: the record or a nugget lacks a field, or one has an unknown value.
    """
    if not isinstance(record, Mapping):
        raise ValueError(
            f"{location}: expected an assignment of nuggets, got {shown(record)}"
        )
    query_id = _field(record, NUGGET_QUERIES, location)
    doc_id = _field(record, NUGGET_DOCUMENTS, location)
    nuggets = record.get("nuggets")
    if not isinstance(nuggets, list):
        raise ValueError(f"{location}: no list of nuggets for query {shown(query_id)}")
    choices_of: dict[str, Mapping[str, Any]] = {
        "importance": weights,
        "assignment": _GRADES,
    }
    for nugget in nuggets:
        if not isinstance(nugget, Mapping):
            raise ValueError(
                f"{location}: a nugget of query {shown(query_id)} is {shown(nugget)}"
            )
        text = _field(nugget, ("text",), location)
        for name, choices in choices_of.items():
            if nugget.get(name) not in [*choices]:
                raise ValueError(
                    f"{location}: nugget {shown(text)} has the {name} {shown(nugget.get(name))}; "
                    f"expected one of {', '.join(choices)}"
                )
        yield query_id, doc_id, text, nugget


def _field(record: JSONObject, names: tuple[str, ...], location: str) -> str:
    """Return the first field of a record that has one of some names."""
    for name in names:
        if name in record:
            return _json_id(record[name], name, location)
    fields = ", ".join(map(str, record)) or "nothing"
    raise ValueError(f"{location}: there is no {' or '.join(names)}; it has {fields}")


# -- Parquet ---------------------------------------------------------------------------------------


def columns_of_parquet(file: File, schema: Schema) -> Iterator[pl.DataFrame]:
    """Yield the columns of a Parquet file, some rows at a time.

    All are read if the file lacks one that is needed, or further ones are kept.

    Read by PyArrow, which takes damaged files for what they are. Without it, another process tries
    Polars first: that ends a process whose memory a damaged file claims.
    """
    needed = () if schema.further else schema.needed
    reader = installed("pyarrow.parquet")
    try:
        if reader is None:
            file.oddity.is_possible = True
            yield _by_polars(file.content, needed)
            return
        with reader.ParquetFile(file.content) as parquet:
            yield from _by_arrow(parquet, needed, file.oddity)
    except MemoryError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        with naming(file.path):
            if isinstance(error, _Readable):
                raise ValueError(str(error)) from None
            # Without the advice for programmers that follows the first line.
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise ValueError(
                f"{file.path} cannot be read as Parquet: {reason}"
            ) from None


class _Readable(ValueError):
    """A fault of a table that Parquet itself has nothing to do with."""


def _by_arrow(
    file: Any, needed: Sequence[str], oddity: Oddity
) -> Iterator[pl.DataFrame]:
    """Yield the columns of a Parquet file that PyArrow has opened."""
    names = file.schema_arrow.names
    wanted = _columns_to_read(names, needed)
    try:
        check_names(names, wanted)
    except ValueError as error:
        raise _Readable(str(error)) from None
    rows = 0
    for batch in file.iter_batches(
        _ROWS, columns=wanted, use_threads=engine.computes()
    ):
        batch.validate(full=True)
        rows += batch.num_rows
        for column in batch.columns:
            _look_at_texts(column, oddity)
        yield _of_arrow(batch)
    if rows == 0:
        yield _of_arrow(file.schema_arrow.empty_table().select(wanted))


def _look_at_texts(column: Any, oddity: Oddity) -> None:
    """Note whether a column of Arrow may hold odd ids: texts, or values of an unusual type."""
    kind = str(column.type)
    if kind in ("string", "large_string"):
        texts = column.buffers()[2]
        oddity.look_at(b"" if texts is None else texts.to_pybytes(), BLANKS)
    elif not kind.startswith(("int", "uint", "float", "double")):
        oddity.is_possible = True


def _of_arrow(table: Any) -> pl.DataFrame:
    """Return a table of Arrow without the notes of programs beside its columns.

    Polars panics where a note is not a text.
    """
    if engine.computes():
        return pl.DataFrame(
            type(table).from_arrays(table.columns, names=table.schema.names)
        )
    named = zip(table.schema.names, table.columns, strict=True)
    return pl.DataFrame([_column(name, column.to_pylist()) for name, column in named])


def _by_polars(path: str, needed: Sequence[str]) -> pl.DataFrame:
    """Return the columns of a Parquet file, read by Polars."""
    if not engine.computes():
        raise _Readable(needs(f"reading Parquet {engine.where()}", "PyArrow", "all"))
    words = [
        sys.executable,
        "-c",
        "import polars, sys; polars.read_parquet(sys.argv[1])",
        path,
    ]
    trial = subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if trial.returncode:
        last = trial.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ValueError(last or "it is damaged")
    rows = pl.scan_parquet(path)
    names = rows.collect_schema().names()
    return rows.select(_columns_to_read(names, needed)).collect()


def _columns_to_read(names: Sequence[str], needed: Sequence[str]) -> Sequence[str]:
    """Return the needed columns of a file; all if it lacks one, or if none is said."""
    if needed and set(needed) <= set(names):
        return needed
    return names


FORMATS: list[FileFormat] = [
    FileFormat(lambda file: file.is_parquet, columns_of_parquet),
    FileFormat(
        lambda file: file.is_json,
        _columns_of_json,
        always_has_columns=False,
    ),
    FileFormat(lambda file: True, columns_of_text, always_has_columns=False),
]
"""Formats of files, in the order in which they are tried."""
