"""Runs and qrels from files: TREC's formats in blocks, tables (Parquet, CSV, TSV) by their columns.

A file is read a few million bytes at a time. Regular text (single blanks, no quotes within quotes) goes straight to a columnar
parser; what that does not take is normalised, then read value by value (``lines``), which names a line that cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from ir_lexirecall._util import engine
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io.content import (
    blocks_of_file,
    check_names,
    first_line,
    header_end,
    is_parquet,
    kind_of_file,
    without_comments,
)
from ir_lexirecall.io.files import rereadable
from ir_lexirecall.io.lines import TEXTS, columns_of_lines, columns_of_table, header_of
from ir_lexirecall.io.objects import our_names, renaming
from ir_lexirecall.io.parquet import parquet_batches

RUN_FIELDS = ("query_id", "iteration", "doc_id", "rank", "score", "tag")
QREL_FIELDS = ("query_id", "iteration", "doc_id", "relevance")
_RUN_COLUMNS = ("query_id", "doc_id", "score")
_QREL_COLUMNS = ("query_id", "doc_id", "relevance")
_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")


def run_batches(path: str) -> Iterator[pl.DataFrame]:
    """A run's ``query_id``, ``doc_id`` and ``score``, some million rows at a time, in the file's order.

    Args:
        path: a TREC run (``query Q0 document rank score tag``, any white space), or a table with those columns by name
            (``.parquet``, ``.csv``, ``.tsv``). Text files may be compressed (``.gz``, ``.bz2``, ``.xz``, ``.zst``). A pipe
            and ``-``, standard input, are copied to a temporary file first.

    Raises:
        ValueError: no such file, a line without six fields, or a score that is not a number; with the line.
    """
    with rereadable(path) as file:
        kind = kind_of_file(file)
        if is_parquet(file):
            yield from parquet_batches(file, _RUN_COLUMNS)
        elif _has_header(file, kind, _RUN_COLUMNS):
            yield from _delimited(file, kind, _RUN_COLUMNS, everything=False)
        else:
            for table in _text_batches(file, RUN_FIELDS, header=False, wanted=_RUN_COLUMNS):
                yield pl.DataFrame([table[name] for name in _RUN_COLUMNS])


def read_run(path: str) -> pl.DataFrame:
    """A whole run, see ``run_batches``."""
    empty = pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64})
    return stacked([*run_batches(path)], empty)


def read_qrels(path: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Qrels: TREC's or ndeval's 4 columns (``query iteration document grade``), or a table with a header.

    Args:
        path: a text file, possibly compressed, or ``.parquet``, ``.csv``, ``.tsv``. A text file whose first line names
            ``query_id``, ``doc_id`` and ``relevance`` has a header; further columns are subtopics, weights or aspects.
        columns: names of the columns of a text file without a header.

    Raises:
        ValueError: no such file, a line with a wrong number of fields, or a grade that is not a number; with the line.
    """
    with rereadable(path) as file:
        return _qrels(file, columns)


def _qrels(path: str, columns: Sequence[str] | None) -> pl.DataFrame:
    kind = kind_of_file(path)
    if is_parquet(path):
        return stacked([*parquet_batches(path)])
    if columns is None and _has_header(path, kind, _QREL_COLUMNS):
        return _with_numbers(stacked([*_delimited(path, kind, _QREL_COLUMNS, everything=True)]))
    fields = tuple(columns) if columns else QREL_FIELDS
    if wrong := [name for name in _QREL_COLUMNS if fields.count(name) != 1]:
        raise ValueError(f"columns: {wrong[0]} must be named once, not as in {', '.join(fields)}")
    if len(set(fields)) < len(fields):
        raise ValueError(f"columns: a name occurs twice in {', '.join(fields)}")
    header = columns is None and set(_QREL_COLUMNS) <= set(first_line(path).split())
    if header:
        fields = tuple(first_line(path).split())
        check_names(path, fields, fields)
    return read_lines(path, fields, header=header)


def read_lines(path: str, fields: Sequence[str], *, header: bool) -> pl.DataFrame:
    """Lines of fields, without a header line; ids are text, the others numbers."""
    return stacked([*_text_batches(path, fields, header)], pl.DataFrame(schema=_types(fields)))


def _types(fields: Iterable[str]) -> dict[str, Any]:
    return {name: pl.String if name in TEXTS else pl.Float64 for name in fields}


def stacked(tables: Sequence[pl.DataFrame], empty: pl.DataFrame | None = None) -> pl.DataFrame:
    """Tables of the same columns below each other; ``empty`` where there is none."""
    if not tables:
        return pl.DataFrame() if empty is None else empty
    if len(tables) == 1:
        return tables[0]
    if engine.computes():
        return pl.concat(tables, how="vertical_relaxed")
    types = tables[0].schema
    return pl.DataFrame(
        {
            name: pl.Series(list(chain.from_iterable(table[name].to_list() for table in tables)), dtype=kind)
            for name, kind in types.items()
        }
    )


# -- lines of fields ---------------------------------------------------------------------------------------


def _has_header(path: str, kind: str, needed: Sequence[str]) -> bool:
    """Whether a file is a table with a header line; a .csv file must have one."""
    if kind not in (".csv", ".tsv"):
        return False
    line = first_line(path).strip()
    names = header_of(line, *_SEPARATORS[kind])
    if "query_id" in our_names(names):
        return True
    if kind == ".csv" and "," in line:
        raise ValueError(
            f"{path}, line 1: a .csv file needs a header line with {', '.join(needed)}; this one is {line[:200]!r}"
            f"{renaming(names)}"
        )
    return False


_SEPARATORS: dict[str, tuple[str, str | None]] = {".csv": (",", '"'), ".tsv": ("\t", None)}


def _text_batches(path: str, fields: Sequence[str], header: bool, wanted: Sequence[str] = ()) -> Iterator[pl.DataFrame]:
    """The columns of a file's lines; if some are ``wanted``, others may be missing."""
    for number, block in enumerate(blocks_of_file(path)):
        skipped = header_end(block, header) if number == 0 else 0
        if skipped < len(block):
            yield _parsed(block[skipped:], fields, wanted or fields, _places(path, number, block[:skipped]))


def _places(path: str, number: int, skipped: bytes) -> Callable[[int], str]:
    """What messages call a line of block ``number`` of the file, of which the first bytes were skipped."""

    def place(line: int) -> str:
        # Lines are counted only where one must be named.
        before = skipped.count(b"\n") + sum(earlier.count(b"\n") for earlier in islice(blocks_of_file(path), number))
        return f"{path}, line {before + line}"

    return place


def _parsed(block: bytes, fields: Sequence[str], wanted: Sequence[str], place: Callable[[int], str]) -> pl.DataFrame:
    """The columns of lines, the wanted ones at least."""
    block = without_comments(block)
    if engine.computes() and _is_text(block):
        for lines in _as_single_blanks(block):
            table = _columns_of_lines(lines, _types(fields), wanted)
            if table is not None:
                return table
    return _table(columns_of_lines(block, fields, place), _types(fields))


def _table(columns: dict[str, list[Any]], types: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame({name: pl.Series(name, columns[name], dtype=kind) for name, kind in types.items()})


def _is_text(block: bytes) -> bool:
    if block.isascii():
        return True
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _columns_of_lines(block: bytes, types: dict[str, Any], wanted: Sequence[str]) -> pl.DataFrame | None:
    """The wanted columns, and the last one, of lines whose fields stand between single blanks; None if they do not."""
    places = [i for i, name in enumerate(types) if name in wanted or i == len(types) - 1]
    table = _columns(block, types, " ", columns=places)
    # A missing field reads as null. Where no line lacks the last one, the number of blanks says that none has a further one.
    if table is None or any(column.null_count() for column in table):
        return None
    blank = np.frombuffer(block, dtype=np.uint8) == ord(" ")
    if np.count_nonzero(blank) != len(table) * (len(types) - 1) or np.any(blank[1:] & blank[:-1]):
        return None
    return table


def _columns(
    block: bytes, types: dict[str, Any], separator: str, quote: str | None = None, columns: list[int] | None = None
) -> pl.DataFrame | None:
    """The columns of a block of regular lines, or some of them; None if a line is not regular, or a value is not a number."""
    if not block:
        return pl.DataFrame(schema=types)
    try:
        return pl.read_csv(
            block, has_header=False, separator=separator, quote_char=quote, schema=types, columns=columns
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None


def _as_single_blanks(block: bytes) -> Iterator[bytes]:
    """The block as it is, if it may be regular; with blanks for other white space; with single blanks and no empty lines."""
    if not any(blank in block for blank in (b"\t", b"\r", b"\v", b"\f")):
        yield block
    block = block.translate(_BLANKS)
    yield block
    block = re.sub(rb" {2,}", b" ", block).replace(b" \n", b"\n").replace(b"\n ", b"\n")
    yield re.sub(rb"\n{2,}", b"\n", block).lstrip(b" \n")


# -- tables with a header ----------------------------------------------------------------------------------


def _delimited(path: str, kind: str, needed: Sequence[str], *, everything: bool) -> Iterator[pl.DataFrame]:
    """A CSV or TSV file with a header line, some million rows at a time: the needed columns that it has, or all.

    Ids are text and what else is needed numbers; further columns are texts, None where they are empty.
    """
    separator, quote = _SEPARATORS[kind]
    names = our_names(header_of(first_line(path), separator, quote))
    wanted = names if everything or not set(needed) <= set(names) else needed
    check_names(path, names, wanted)
    blocks = blocks_of_file(path)
    for number, block in enumerate(blocks):
        skipped = header_end(block, True) if number == 0 else 0
        if quote and not _has_regular_quotes(block):  # what is quoted may contain line breaks
            block = b"".join([block, *blocks])
        rows = block[skipped:]
        table = _regular_rows(rows, names, wanted, needed, separator, quote)
        if table is None:
            place = _places(path, number, block[:skipped])
            columns = columns_of_table(rows, names, separator, quote, needed, place)
            kinds = _types(needed)
            table = _table(columns, {name: kinds.get(name, pl.String) for name in wanted})
        yield table


_REGULAR_QUOTES = re.compile(rb'(?<![^,\n])"[^"\n]*"(?![^,\r\n])')
_EMPTY_FIRST_LINE = re.compile(rb"[ \t\v\f]*\n")
_EMPTY_LINE = re.compile(rb"\n[ \t\v\f]*(?=\n)")


def _has_regular_quotes(block: bytes) -> bool:
    """Whether what is quoted are whole fields without quotation marks and line breaks."""
    return b'"' not in block or b'"' not in _REGULAR_QUOTES.sub(b"", block)


def _regular_rows(
    rows: bytes, names: Sequence[str], wanted: Sequence[str], needed: Sequence[str], separator: str, quote: str | None
) -> pl.DataFrame | None:
    """The wanted columns of rows; None if a row is not regular, lacks a needed value, or a value is not a number."""
    if not engine.computes() or not _is_text(rows):
        return None
    if b"\r" in rows:
        rows = rows.replace(b"\r\n", b"\n")
    if b"\r" in rows or (quote and not _has_regular_quotes(rows)):
        return None
    if _EMPTY_FIRST_LINE.match(rows):
        rows = b"\n" + rows
    if _EMPTY_LINE.search(rows):
        rows = _EMPTY_LINE.sub(b"", rows).removeprefix(b"\n")
    quoted = quote if quote and quote.encode() in rows else None
    kinds = _types(needed)
    table = _columns(rows, {str(i): kinds.get(name, pl.String) for i, name in enumerate(names)}, separator, quoted)
    if table is None:
        return None
    columns = {name: table[str(names.index(name))] for name in wanted}
    if any(columns[name].null_count() for name in needed if name in columns):
        return None
    if quoted:
        for _name, values in columns.items():
            if values.dtype == pl.String and (values == "").any():
                return None
    return pl.DataFrame(columns)


def _with_numbers(table: pl.DataFrame) -> pl.DataFrame:
    """The same table, the further columns whose texts are all numbers as such."""
    columns = {}
    for name, values in zip(table.columns, table, strict=True):
        columns[name] = values
        if values.dtype == pl.String and name not in TEXTS:
            numbers = values.cast(pl.Float64, strict=False)
            if numbers.null_count() == values.null_count():
                columns[name] = numbers
    return pl.DataFrame(columns)
