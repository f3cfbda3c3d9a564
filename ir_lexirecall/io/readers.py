"""Runs and qrels from files, recognised by their content, not by their names.

TREC's formats and tables with a header (``lines``), Parquet, predictions of MTEB (JSON) and
sentence-transformers (JSON lines), dicts of dicts as JSON, BEIR's qrels (TSV), folders of runs as
SuiteEval and TIREx write them, and metadata on top of a run.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from ir_lexirecall._util import engine
from ir_lexirecall._util.errors import and_more, entry, is_integer, is_number, naming, needs, shown
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io import files, lines, search_engines
from ir_lexirecall.io.cells import grade_of, id_of, number_of
from ir_lexirecall.io.checks import check_names
from ir_lexirecall.io.names import (
    ASPECT_COLUMNS,
    QREL_COLUMNS,
    RECORD_ALIASES,
    RUN_COLUMNS,
    TEXTS,
    our_names,
)
from ir_lexirecall.io.relevant_documents import with_grades
from ir_lexirecall.io.schemas import POOL, QRELS, RANKED_RUN, RANKS_AND_SCORES, RUN
from ir_lexirecall.io.spreadsheets import with_original_ids

_RUN_FIELDS = ("query_id", "iteration", "doc_id", "rank", "score", "tag")
_QREL_FIELDS = ("query_id", "iteration", "doc_id", "relevance")
_RANKED = ("query_id", "doc_id", "rank")
RANKED_SCORES = ("query_id", "rank", "score")
_BEIR = ("query-id", "corpus-id", "score")
_ROWS = 2**21  # of a Parquet file at a time
LOOKED_AT = 2000  # rows of a table in which ranks are looked at
_MTEB = "mteb_model_meta"
_GRADES = {"support": 2, "partial_support": 1, "not_support": 0}

# -- runs and qrels --------------------------------------------------------------------------------


def run_batches(path: str) -> Iterator[pl.DataFrame]:
    """Yield a run's ``query_id``, ``doc_id`` and ``score``, some million rows at a time, in the file's order.

    Args:
        path: a TREC run (``query Q0 document rank score tag``, any white space; what follows the
            tag is part of it), or a table with those columns by name (Parquet, CSV, TSV; separated
            by semicolons, too), where ranks may stand for scores; JSON: predictions of MTEB with a
            single subset and split, lines of predictions as sentence-transformers writes them,
            records with a query, a document and a score, or a dict of dicts; lines ``query document
            rank`` (MS MARCO, Pyserini); or a folder of Parquet files, or a pattern
            (``runs/bm25-*.parquet``) whose files are parts of one run. Text files may be compressed
            (``.gz``, ``.bz2``, ``.xz``, ``.zst``). A pipe and ``-``, standard input, are copied to
            a temporary file first.

    Raises:
        ValueError: no such file, a line without six fields, or a score that is not a number; with
            the line.
    """
    for part in files.parts_of(path) or [path]:
        with files.rereadable(part) as file:
            if files.is_parquet(file):
                yield from parquet_batches(file, RUN_COLUMNS)
            elif is_json(files.first_line(file)):
                yield _json_run(file)
            else:
                yield from map(_scored, _text_batches(file))


def _text_batches(file: str) -> Iterator[pl.DataFrame]:
    """Yield the needed columns of a text file that holds a run, with scores or ranks."""
    fields = files.first_line(file).split()
    if len(fields) == len(_RANKED) and fields[2].isdecimal():  # as in runs of MS MARCO
        return iter([_ranked_lines(file)])
    if {*RANKED_RUN.needed} <= {*lines.header_of(file).columns(RANKED_RUN)} and not _has_scores(
        file
    ):
        return lines.table_batches(file, RANKED_RUN)
    if lines.has_header(file, RUN):
        return lines.table_batches(file, RUN)
    for schema in (RUN, RANKED_RUN):
        if {*schema.needed} <= {*our_names(fields)}:  # a header between blanks
            return lines.line_batches(file, our_names(fields), schema, header=True)
    return lines.line_batches(file, _RUN_FIELDS, RUN)


def _has_scores(file: str) -> bool:
    return "score" in lines.header_of(file).names


def _ranked_lines(file: str) -> pl.DataFrame:
    """Return lines of query, document and rank.

    Raises:
        ValueError: the ranks of a query are not 1, 2, 3, ...
    """
    table = lines.read_lines(file, _RANKED, RANKED_RUN)
    ranks: dict[str, list[float]] = {}
    for query_id, rank in zip(table["query_id"].to_list(), table["rank"].to_list(), strict=True):
        ranks.setdefault(query_id, []).append(rank)
    for query_id, of_query in ranks.items():
        if sorted(of_query) != [*range(1, len(of_query) + 1)]:
            raise ValueError(
                f"{file}: taken for lines of query, document and rank, but the ranks of query "
                f"{query_id!r} are not 1, 2, 3, ...; a TREC run has six fields: query Q0 document "
                "rank score tag"
            )
    return table


def _scored(table: pl.DataFrame) -> pl.DataFrame:
    """Return a run's columns, with negative ranks as scores where there are ranks only."""
    if "score" in table.columns or "rank" not in table.columns:
        return table
    ranks = table["rank"].to_numpy()
    return pl.DataFrame({"query_id": table["query_id"], "doc_id": table["doc_id"], "score": -ranks})


def read_run(path: str) -> pl.DataFrame:
    """Return a whole run, see ``run_batches``."""
    return lines.stacked([*run_batches(path)])


def first_ranks(path: str) -> list[tuple[Any, Any, Any]]:
    """Return query, rank and score of a run's first rows; none of Parquet, or if it has no ranks."""
    is_text = os.path.isfile(files.content_path(path)) and not files.is_parquet(path)
    if not is_text or is_json(files.first_line(path)):
        return []
    if not lines.has_header(path, RUN):
        whole_lines = files.first_text(path, 2**16).split("\n")[:-1]  # the last one may be cut
        rows = map(str.split, whole_lines)
        return [(row[0], row[3], row[4]) for row in rows if len(row) >= len(_RUN_FIELDS)]
    if not set(RANKED_SCORES) <= set(lines.header_of(path).columns(RANKS_AND_SCORES)):
        return []
    table = next(lines.table_batches(path, RANKS_AND_SCORES))
    return [*zip(*(table[name][:LOOKED_AT].to_list() for name in RANKED_SCORES), strict=True)]


def read_qrels(path: str) -> pl.DataFrame:
    """Return qrels: TREC's or ndeval's 4 columns (``query iteration document grade``), a table with a header, BEIR's TSV, or JSON.

    Args:
        path: a text file, possibly compressed, or ``.parquet``, ``.csv``, ``.tsv``, ``.json``,
            ``.jsonl``, a folder of Parquet files, or a pattern whose files are parts of one. A text
            file whose first line names ``query_id``, ``doc_id`` and ``relevance`` has a header;
            further columns are subtopics, weights or aspects.

    Raises:
        ValueError: no such file, a line with a wrong number of fields, or a grade that is not a
            number; with the line.
    """
    if parts := files.parts_of(path):
        return lines.stacked([read_qrels(part) for part in parts])
    with files.rereadable(path) as file:
        if files.is_parquet(file):
            return _with_our_grades(lines.stacked([*parquet_batches(file)]))
        line = files.first_line(file)
        if is_json(line):
            return _json_qrels(file)
        if search_engines.is_judgment_list(line):
            return _table_of_dicts(search_engines.read_judgments(file), file, "qrels")
        return _text_qrels(file, tuple(line.split()))


def _text_qrels(file: str, fields: tuple[str, ...]) -> pl.DataFrame:
    """Return the qrels of a text file, whose first line has these fields between blanks."""
    if fields == _BEIR:
        return lines.read_lines(file, QREL_COLUMNS, QRELS, header=True)
    if lines.has_header(file, QRELS):
        table = lines.stacked([*lines.table_batches(file, QRELS)])
        return _with_numbers(with_original_ids(table))
    if set(QREL_COLUMNS) <= set(fields):
        check_names(file, fields, fields)
        numbers = frozenset(fields) - TEXTS
        schema = replace(QRELS, needed=fields, numbers=numbers)
        return lines.read_lines(file, fields, schema, header=True)
    return lines.read_lines(file, _QREL_FIELDS, QRELS)


def read_pool(path: str) -> tuple[pl.DataFrame, int] | None:
    """Return the graded rows of a table to judge in, and the number of rows without a grade.

    Args:
        path: a file such as ``write_pool_csv`` writes and people fill in.

    Returns:
        Its ``query_id``, ``doc_id`` and ``relevance``, and its aspects if it has some; None if the
        file is not a table of judgments with a header line.

    Raises:
        ValueError: a row has too many fields, lacks an id, or has a grade that is not a number.
    """
    if not os.path.isfile(path) or files.is_parquet(path):
        return None
    line = files.first_line(path)
    if is_json(line) or search_engines.is_judgment_list(line) or not lines.has_header(path, POOL):
        return None
    header = lines.header_of(path).columns(POOL)
    if not set(QREL_COLUMNS) <= set(header):
        return None
    table = with_original_ids(
        lines.stacked([*lines.table_batches(path, replace(POOL, further=True))])
    )
    has_grade = ~np.isnan(table["relevance"].to_numpy())
    graded = [
        pl.Series(name, [*compress(table[name].to_list(), has_grade)], dtype=table.schema[name])
        for name in (*QREL_COLUMNS, *ASPECT_COLUMNS)
        if name in header
    ]
    return pl.DataFrame(graded), int((~has_grade).sum())


def _with_numbers(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with numbers for further columns whose texts are all numbers."""
    for i, texts in enumerate(table):
        if texts.dtype == pl.String and texts.name not in TEXTS:
            numbers = texts.cast(pl.Float64, strict=False)
            if numbers.null_count() == texts.null_count():
                table.replace_column(i, numbers)
    return table


def _with_our_grades(table: pl.DataFrame) -> pl.DataFrame:
    """Return the table with our names where it has BEIR's, which call grades scores."""
    if set(_BEIR) <= set(table.columns):
        return table.rename(dict(zip(_BEIR, QREL_COLUMNS, strict=True)))
    return table


# -- JSON ------------------------------------------------------------------------------------------


def is_json(first_line: str) -> bool:
    """Whether a file whose first line this is starts as JSON does; a line of six fields is TREC's whatever it starts with."""
    line = first_line.lstrip("\ufeff \t\r\n")
    return line.startswith(("{", "[")) and (len(line.split()) != 6 or '"' in line)


def _json_run(path: str) -> pl.DataFrame:
    """Return the run that a JSON file holds: what programs write, records, or a dict of dicts."""
    records = files.json_values(files.text_of_file(path), path)
    content = records[0][1]
    readers = [read for recognises, read in RECORDS if recognises(content)]
    if readers:
        return _table_of_dicts(readers[0](records, path), path, "run")
    if _is_flat(content):
        return _scored(_table_of_records(records, path, "run"))
    if len(records) > 1:
        return _table_of_dicts(predictions(records, path), path, "run")
    if isinstance(content, dict) and {"details", "metric_score"} <= content.keys():
        with naming(path):  # a response of _rank_eval
            return _table_of_dicts(search_engines.read_rank_eval(content).run, path, "run")
    return _table_of_dicts(*_of_mteb(content, path), "run")


def _of_mteb(content: Any, path: str) -> tuple[Any, str]:
    """Return the run below the single subset and split of MTEB's predictions, and what messages call it.

    Content of another kind is returned as it is.
    """
    inside = content  # MTEB's predictions have queries below subsets and splits
    for _ in range(3):
        inside = next(iter(inside.values()), None) if isinstance(inside, dict) else None
    if not isinstance(content, dict) or (_MTEB not in content and not isinstance(inside, dict)):
        return content, path
    runs = {
        f"{name}/{split}": run
        for name, splits in content.items()
        if name != _MTEB and isinstance(splits, dict)
        for split, run in splits.items()
    }
    if len(runs) != 1:
        raise ValueError(
            f"{path}: expected predictions of MTEB for one subset and split, it has "
            f"{', '.join(runs) or 'nothing'}; give one of them: json.load(open(path))[subset][split]"
        )
    [(name, run)] = runs.items()
    return run, f"{path} ({name})"


def _json_qrels(path: str) -> pl.DataFrame:
    """Return the qrels that a JSON file holds: what search engines write, records, or a dict of dicts."""
    records = files.json_values(files.text_of_file(path), path)
    content = records[0][1]
    if _is_flat(content):
        return _table_of_records(records, path, "qrels")
    if len(records) > 1:
        line, content = records[1]
        raise ValueError(
            f"{path}, line {line}: a second JSON value; qrels as JSON lines are objects with "
            f"query_id, doc_id and relevance, not {shown(records[0][1])}"
        )
    with naming(path):
        ratings = search_engines.qrels_in(content)
        grades = with_grades(content) if ratings is None else ratings
    return _table_of_dicts(grades, path, "qrels")


# -- records: a JSON object for each row ------------------------------------------------------------


def _is_flat(content: Any) -> bool:
    """Return whether a JSON value is a row, or a list of rows: with a query and a document each."""
    row = content[0] if isinstance(content, list) and content else content
    if not isinstance(row, dict):
        return False
    names = our_names([*row], RECORD_ALIASES)
    of_row = dict(zip(names, row.values(), strict=True))
    ids = [of_row.get("query_id"), of_row.get("doc_id")]
    return all(isinstance(value, (str, int)) for value in ids)


def _table_of_records(records: list[tuple[int, Any]], path: str, what: str) -> pl.DataFrame:
    """Return rows of JSON lines, or of a list of objects, as a table.

    Raises:
        ValueError: a row is not an object, or lacks a query, a document or a number; with its line.
    """
    rows = [(f"{path}, line {line}", row) for line, row in records]
    if len(records) == 1 and isinstance(records[0][1], list):
        rows = [(f"{path}, record {n}", row) for n, row in enumerate(records[0][1], start=1)]
    names = _names_of_record(rows[0][1], what)
    values = [name for name in _VALUES[what] if name in names.values()]
    value = (values or _VALUES[what])[0]
    parse = grade_of if what == "qrels" else number_of
    columns: dict[str, list[Any]] = {name: [] for name in names.values()}
    for location, row in rows:
        if not isinstance(row, dict):
            raise ValueError(
                f"{location}: expected an object as in the first row, got {shown(row)}"
            )
        cells = {str(names.get(name, name)): cell for name, cell in row.items()}
        _check_record(cells, value, parse, location)
        for name, column in columns.items():
            column.append(cells.get(name))
    for name in ("query_id", "doc_id"):
        columns[name] = [id_of(cell) for cell in columns[name]]
    columns[value] = [parse(cell) for cell in columns[value]]
    return pl.DataFrame([_column(name, values) for name, values in columns.items()])


_VALUES = {"run": ("score", "rank"), "qrels": ("relevance",)}
"""Columns of numbers, the first one there counts."""


def _names_of_record(row: Mapping[str, Any], what: str) -> dict[str, str]:
    """Return our name of each column of a row; grades may be called scores."""
    names = dict(zip(row, our_names([*row], RECORD_ALIASES), strict=True))
    if what == "qrels" and "relevance" not in names.values() and "score" in names:
        names["score"] = "relevance"
    return names


def _check_record(
    cells: Mapping[str, Any], value: str, parse: Callable[[Any], float | None], location: str
) -> None:
    """Raise if a row lacks a column, or has no id or number in one."""
    lacking = [name for name in ("query_id", "doc_id", value) if name not in cells]
    if lacking:
        raise ValueError(
            f"{location}: there is no {lacking[0]}; it has {', '.join(map(str, cells)) or 'nothing'}"
        )
    for name in ("query_id", "doc_id"):
        _json_id(cells[name], name, location)
    if parse(cells[value]) is None:
        raise ValueError(
            f"{location}: the {value} of document {cells['doc_id']!r} for query "
            f"{cells['query_id']!r} is {shown(cells[value])}, not a number"
        )


def _column(name: str, values: list[Any]) -> pl.Series:
    """Return values as a column, of objects if they are of several types."""
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, OverflowError):
        return pl.Series(name, values, dtype=pl.Object)


def _table_of_dicts(content: Any, path: str, what: str) -> pl.DataFrame:
    """Return ``{query: {document: number}}`` as a table.

    Raises:
        ValueError: it is something else, or a value is not a number.
    """
    value, column = ("grade", "relevance") if what == "qrels" else ("score", "score")
    parse = grade_of if what == "qrels" else number_of
    expected = f"expected {{query_id: {{doc_id: {value}}}}}"
    if not isinstance(content, dict):
        raise ValueError(
            f"{path}: taken for JSON, but a {type(content).__name__} is not a {what}: {expected}"
        )
    columns: dict[str, list[Any]] = {"query_id": [], "doc_id": [], column: []}
    for query_id, docs in content.items():
        if not isinstance(docs, dict):
            raise ValueError(
                f"{path}: taken for JSON, but query {query_id!r} maps to {shown(docs)}: {expected}"
            )
        values = [parse(number) for number in docs.values()]
        if None in values:
            doc_id = [*docs][values.index(None)]
            raise ValueError(
                f"{path}: the {value} of document {doc_id!r} for query {query_id!r} is "
                f"{shown(docs[doc_id])}, not a number{and_more(values.count(None) - 1)}"
            )
        columns["query_id"] += [query_id] * len(docs)
        columns["doc_id"] += docs
        columns[column] += values
    return pl.DataFrame(
        columns, schema={"query_id": pl.String, "doc_id": pl.String, column: pl.Float64}
    )


def _is_prediction(content: Any) -> bool:
    return (
        isinstance(content, dict)
        and isinstance(content.get("results"), list)
        and "query_id" in content
    )


def predictions(records: Iterable[tuple[int, Any]], path: str) -> dict[str, dict[str, float]]:
    """Lines ``{"query_id": ..., "results": [{"corpus_id": ..., "score": ...}, ...]}``."""
    run: dict[str, dict[str, float]] = {}
    for number, content in records:
        place = f"{path}, line {number}"
        if not _is_prediction(content):
            raise ValueError(
                f"{place}: taken for predictions of sentence-transformers, but it is not "
                '{"query_id": ..., "results": [{"corpus_id": ..., "score": ...}, ...]}'
            )
        query_id = _json_id(content["query_id"], "query_id", place)
        if query_id in run:
            raise ValueError(f"{place}: query {query_id!r} occurs twice")
        ranking = run[query_id] = {}
        for result in content["results"]:
            if not isinstance(result, dict) or not {"corpus_id", "score"} <= result.keys():
                raise ValueError(
                    f"{place}: a result of query {query_id!r} is {shown(result)}, without corpus_id and score"
                )
            doc_id = _json_id(result["corpus_id"], "corpus_id", place)
            if doc_id in ranking:
                raise ValueError(
                    f"{place}: document {doc_id!r} appears twice for query {query_id!r}; keep one"
                )
            ranking[doc_id] = result["score"]
    return run


RECORDS = ((_is_prediction, predictions),)
"""Formats of runs with a JSON object per query, on a line each where there are several: what knows one of them, and reads all with their lines."""


def _json_id(value: Any, name: str, place: str) -> str:
    if isinstance(value, str) or is_integer(value):
        return str(value)
    raise ValueError(f"{place}: {name} is {shown(value)}, not a string or an integer")


# -- assignments of nuggets ---------------------------------------------------------------------------------


@entry
def nugget_qrels(
    assignments: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
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
        vital, okay: weights of nuggets of this importance.

    Returns:
        ``query_id``, ``doc_id``, ``subtopic_id`` (the nugget's text), ``relevance`` (2 support, 1
        partial support, 0 none) and
        ``weight``: for RBU, ``D_nDCG``, ``IA`` and the other measures of diversity.

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
        if not is_number(weight) or not 0 <= weight < float("inf"):
            raise ValueError(f"{name} must be a number of at least 0, not {weight!r}")
    rows = []
    if isinstance(assignments, (str, os.PathLike)):
        path = os.fspath(assignments)
        values = files.json_values(files.text_of_file(path), path)
        records: Iterable[Any] = ((f"{path}, line {n}", record) for n, record in values)
    else:
        records = ((f"record {n}", record) for n, record in enumerate(assignments, start=1))
    for place, record in records:
        if not isinstance(record, Mapping):
            raise ValueError(f"{place}: expected an assignment of nuggets, got {shown(record)}")
        query_id = _field(record, ("qid", "query_id"), place)
        doc_id = _field(record, ("docid", "doc_id", "docno", "run_id"), place)
        nuggets = record.get("nuggets")
        if not isinstance(nuggets, list):
            raise ValueError(f"{place}: no list of nuggets for query {query_id!r}")
        for nugget in nuggets:
            if not isinstance(nugget, Mapping):
                raise ValueError(f"{place}: a nugget of query {query_id!r} is {shown(nugget)}")
            text = _field(nugget, ("text",), place)
            known: dict[str, Mapping[str, Any]] = {"importance": weights, "assignment": _GRADES}
            for name, choices in known.items():
                if nugget.get(name) not in [*choices]:
                    raise ValueError(
                        f"{place}: nugget {shown(text)} has the {name} {shown(nugget.get(name))}; expected one of "
                        f"{', '.join(choices)}"
                    )
            rows.append(
                (
                    query_id,
                    doc_id,
                    text,
                    _GRADES[nugget["assignment"]],
                    weights[nugget["importance"]],
                )
            )
    return pd.DataFrame(rows, columns=["query_id", "doc_id", "subtopic_id", "relevance", "weight"])


def _field(record: Mapping[str, Any], names: tuple[str, ...], place: str) -> str:
    name = next((name for name in names if name in record), None)
    if name is None:
        raise ValueError(
            f"{place}: there is no {' or '.join(names)}; it has {', '.join(map(str, record)) or 'nothing'}"
        )
    return _json_id(record[name], name, place)


# -- metadata ----------------------------------------------------------------------------


def run_metadata(path: str | os.PathLike[str]) -> str | None:
    """Return a run's ir-metadata: its comment lines on top, or ``ir-metadata.yml`` beside it; None if there is neither."""
    file = os.fspath(path)
    is_text = os.path.isfile(files.content_path(file)) and not files.is_parquet(file)
    if is_text and files.first_text(file).startswith("# ir_metadata.start"):
        block = next(files.blocks_of_file(file))
        if (end := block.find(b"\n# ir_metadata.end")) >= 0:
            comments = block[:end].decode("utf-8", "replace").splitlines()[1:]
            return "\n".join(line.removeprefix("#").removeprefix(" ") for line in comments)
    beside = Path(file).parent / "ir-metadata.yml"
    is_of_tirex = files.without_compression(Path(file).name) == "run.txt"
    if is_of_tirex and beside.is_file():
        return beside.read_text(encoding="utf-8", errors="replace").rstrip("\n")
    return None


# -- Parquet ---------------------------------------------------------------------------------------


def parquet_batches(path: str, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
    """The file's columns (all, or those of the given ones that it has), some rows at a time.

    Read by PyArrow, which takes damaged files for what they are. Without it, another process tries
    Polars first: that ends a process whose memory a damaged file claims.
    """
    content, reader = files.existing_file(path), None
    with contextlib.suppress(ModuleNotFoundError):
        reader = importlib.import_module("pyarrow.parquet")
    try:
        if reader is None:
            yield _parquet_by_polars(path, content, columns)
            return
        with reader.ParquetFile(content) as file:
            names = file.schema_arrow.names
            wanted = columns if columns and set(columns) <= set(names) else names
            check_names(path, names, wanted)
            rows = 0
            for batch in file.iter_batches(_ROWS, columns=wanted, use_threads=engine.computes()):
                batch.validate(full=True)
                rows += batch.num_rows
                yield _of_arrow(batch)
            if rows == 0:
                yield _of_arrow(file.schema_arrow.empty_table().select(wanted))
    except MemoryError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        if str(error).startswith(path):
            raise
        why = (
            str(error).partition("\n")[0] or type(error).__name__
        )  # without the advice for programmers that follows
        raise ValueError(f"{path} cannot be read as Parquet: {why}") from None


def _of_arrow(table: Any) -> pl.DataFrame:
    if (
        engine.computes()
    ):  # without what programs noted beside the columns: Polars panics where that is no text
        return pl.DataFrame(type(table).from_arrays(table.columns, names=table.schema.names))
    named = zip(table.schema.names, table.columns, strict=True)
    return pl.DataFrame([_column(name, column.to_pylist()) for name, column in named])


def _parquet_by_polars(path: str, content: str, columns: Sequence[str] | None) -> pl.DataFrame:
    if not engine.computes():
        raise ValueError(needs(f"{path}: reading Parquet {engine.where()}", "PyArrow", "all"))
    words = [sys.executable, "-c", "import polars, sys; polars.read_parquet(sys.argv[1])", content]
    trial = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if trial.returncode:
        last = trial.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise ValueError(f"{path} cannot be read as Parquet: {last or 'it is damaged'}")
    rows = pl.scan_parquet(content)
    names = rows.collect_schema().names()
    return rows.select(columns if columns and set(columns) <= set(names) else names).collect()
