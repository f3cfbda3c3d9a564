"""Blocks of text as columns: lines of fields between blanks, as TREC's formats have them, and tables (CSV, TSV) with a header.

A file is read a few million bytes at a time. Regular text (single blanks, no quotes within quotes) goes straight to a columnar
parser; what that does not take is normalised, then read value by value: the slow way, which knows every rule, names the line that
breaks one, and serves where Polars cannot compute.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain, islice
from typing import Any

import numpy as np

from ir_lexirecall._util import engine
from ir_lexirecall._util.errors import and_more, is_number, shown
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io.files import blocks_of_file, first_line, kind_of_file
from ir_lexirecall.io.objects import our_names, renaming

TEXTS = frozenset(("query_id", "doc_id", "iteration", "subtopic_id", "rank", "tag"))
"""Columns whose values are texts, whatever they look like."""


Place = Callable[[int], str]
"""From the number of a line in a block to what messages call it."""
_WHITE = bytes.maketrans(b"\t\r\v\f", b"    ")
_BLANKS = re.compile(rb"\s*")
_COMMENT = re.compile(rb"^[ \t\r\v\f]*#[^\n]*", re.MULTILINE)
_SEPARATORS: dict[str, tuple[str, str | None]] = {".csv": (",", '"'), ".tsv": ("\t", None)}
_REGULAR_QUOTES = re.compile(rb'(?<![^,\n])"[^"\n]*"(?![^,\r\n])')
_EMPTY_FIRST_LINE = re.compile(rb"[ \t\v\f]*\n")
_EMPTY_LINE = re.compile(rb"\n[ \t\v\f]*(?=\n)")
_LOOKS = {(6, 4): "; this looks like a run, not qrels", (4, 6): "; this looks like qrels, not a run"}
_FAULTS = {  # by how the messages of the standard library's ``csv`` begin
    "unexpected end": "a quotation mark is not closed",
    "'": "something follows a closing quotation mark",
    "new-line": "a carriage return within a line",
}


def number(text: str) -> float | None:
    """A number in decimal notation, ``inf`` and ``nan`` among them; None where a text is none.

    >>> number("1e-3"), number("1_000"), number("x")
    (0.001, None, None)
    """
    if not text.isascii() or "_" in text or text != text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def as_float(value: Any) -> float | None:
    """A number, or the text of one, as a float; None for anything else, and for integers that no float holds.

    >>> as_float(3), as_float("0.5"), as_float(True), as_float(10**400)
    (3.0, 0.5, None, None)
    """
    if isinstance(value, str):
        return number(value)
    try:
        return float(value) if is_number(value) or isinstance(value, Decimal) else None
    except OverflowError:
        return None


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


def text_of(block: bytes, place: Place) -> str:
    """A block as text; a ``ValueError`` where it is not UTF-8."""
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + block.count(b"\n", 0, error.start)
        raise ValueError(f"{place(line)}: not UTF-8 ({error.reason})") from None


def check_names(path: str, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a header that names a wanted column twice."""
    twice = [name for name, count in Counter(names).items() if count > 1 and name in wanted]
    if twice:
        raise ValueError(f"{path}: the header names {twice[0]!r} twice{and_more(len(twice) - 1)}")


def _header_end(block: bytes, header: bool) -> int:
    """Where the lines begin: after the comments on top (ir-metadata among them), and after a header line."""
    start = 0
    while True:
        text = _BLANKS.match(block, start).end()  # type: ignore[union-attr]  # it matches nothing, too
        if block[text : text + 1] != b"#":
            start = block.rfind(b"\n", start, text) + 1 or start
            break
        start = block.find(b"\n", text) + 1 or len(block)
    return block.find(b"\n", start) + 1 or len(block) if header else start


def _places(path: str, number: int, skipped: bytes) -> Callable[[int], str]:
    """What messages call a line of block ``number`` of the file, of which the first bytes were skipped."""

    def place(line: int) -> str:
        # Lines are counted only where one must be named.
        before = skipped.count(b"\n") + sum(earlier.count(b"\n") for earlier in islice(blocks_of_file(path), number))
        return f"{path}, line {before + line}"

    return place


def _numbers(
    name: str, texts: Sequence[str], columns: Mapping[str, Sequence[str]], lines: Sequence[int], place: Place
) -> list[float]:
    values = [number(text) for text in texts]
    bad = [i for i, value in enumerate(values) if value is None]
    if bad:
        i = bad[0]
        subject = "".join(
            f" {word} {shown(columns[key][i])}"
            for key, word in (("doc_id", "of document"), ("query_id", "for query"))
            if key in columns
        )
        raise ValueError(
            f"{place(lines[i])}: the {name}{subject} is {shown(texts[i])}, not a number{and_more(len(bad) - 1)}"
        )
    return [value for value in values if value is not None]


def _types(fields: Iterable[str]) -> dict[str, Any]:
    return {name: pl.String if name in TEXTS else pl.Float64 for name in fields}


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


# -- lines of fields ---------------------------------------------------------------------------------------


def read_lines(path: str, fields: Sequence[str], *, header: bool = False) -> pl.DataFrame:
    """Lines of fields, after a header line or without; ids are text, the others numbers."""
    return stacked([*line_batches(path, fields, header=header)], pl.DataFrame(schema=_types(fields)))


def line_batches(
    path: str, fields: Sequence[str], wanted: Sequence[str] = (), *, header: bool = False
) -> Iterator[pl.DataFrame]:
    """The columns of a file's lines, some million rows at a time; if some are ``wanted``, others may be missing."""
    for number, block in enumerate(blocks_of_file(path)):
        skipped = _header_end(block, header) if number == 0 else 0
        if skipped < len(block):
            place = _places(path, number, block[:skipped])
            yield _parsed_lines(_without_comments(block[skipped:]), fields, wanted or fields, place)


def _parsed_lines(block: bytes, fields: Sequence[str], wanted: Sequence[str], place: Place) -> pl.DataFrame:
    """The columns of lines, the wanted ones at least."""
    types = _types(fields)
    if engine.computes() and _is_text(block):
        places = [i for i, name in enumerate(fields) if name in wanted or i == len(fields) - 1]
        for lines in _as_single_blanks(block):
            table = _columns(lines, types, " ", columns=places)
            # A missing field reads as null. Where no line lacks the last one, the number of blanks says that none has a further one.
            if table is None or any(column.null_count() for column in table):
                continue
            blank = np.frombuffer(lines, dtype=np.uint8) == ord(" ")
            if np.count_nonzero(blank) == len(table) * (len(fields) - 1) and not np.any(blank[1:] & blank[:-1]):
                return table
    return _table(columns_of_lines(block, fields, place), types)


def _as_single_blanks(block: bytes) -> Iterator[bytes]:
    """The block as it is, if it may be regular; with blanks for other white space; with single blanks and no empty lines."""
    if not any(blank in block for blank in (b"\t", b"\r", b"\v", b"\f")):
        yield block
    block = block.translate(_WHITE)
    yield block
    block = re.sub(rb" {2,}", b" ", block).replace(b" \n", b"\n").replace(b"\n ", b"\n")
    yield re.sub(rb"\n{2,}", b"\n", block).lstrip(b" \n")


def _without_comments(block: bytes) -> bytes:
    """The block, with empty lines for comments (trec_eval 10's: the first character of a line that is no blank is ``#``)."""
    if b"#" not in block:
        return block
    letters = np.frombuffer(block, dtype=np.uint8)
    before = letters[np.flatnonzero(letters == ord("#")) - 1]
    if not block.startswith(b"#") and np.all(before > ord(" ")):  # in names only
        return block
    return _COMMENT.sub(b"", block)


def columns_of_lines(block: bytes, fields: Sequence[str], place: Place) -> dict[str, list[Any]]:
    """Columns of lines whose fields are separated by blanks (space, tab, \\r, \\v, \\f); empty lines do not count.

    Raises:
        ValueError: a line has another number of fields, is not UTF-8, or holds a value that is not a number.
    """
    text_of(block, place)
    rows: list[list[str]] = []
    numbers: list[int] = []
    for line_number, line in enumerate(block.split(b"\n"), start=1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != len(fields):
            hint = _LOOKS.get((len(parts), len(fields)), "")
            raise ValueError(f"{place(line_number)}: {len(parts)} fields where {len(fields)} are expected{hint}")
        rows.append([part.decode("utf-8") for part in parts])
        numbers.append(line_number)
    columns: dict[str, list[Any]] = {name: [row[i] for row in rows] for i, name in enumerate(fields)}
    for name in fields:
        if name not in TEXTS:
            columns[name] = _numbers(name, columns[name], columns, numbers, place)
    return columns


# -- tables with a header ----------------------------------------------------------------------------------


def has_header(path: str, needed: Sequence[str]) -> bool:
    """Whether a file is a table with a header line; one with commas and no blanks must have one, and a .csv file."""
    kind, line = kind_of_file(path), first_line(path).strip()
    names = _header_of(line, *_separator(path, line))
    found = {*our_names(names)}
    if "query_id" in found and (kind in _SEPARATORS or found.issuperset(needed)):
        return True
    if "," in line and (kind == ".csv" or len(line.split()) == 1):
        raise ValueError(
            f"{path}, line 1: a CSV file needs a header line with {', '.join(needed)}; this one is {line[:200]!r}"
            f"{renaming(names)}"
        )
    return False


def header_names(path: str) -> list[str]:
    """Our names of the columns of a table with a header line."""
    line = first_line(path)
    return our_names(_header_of(line, *_separator(path, line)))


def _separator(path: str, line: str) -> tuple[str, str | None]:
    """What separates the columns of a table, and what may quote them: by the file's ending, else by its first line."""
    return _SEPARATORS.get(kind_of_file(path)) or _SEPARATORS[".csv" if "," in line else ".tsv"]


def _header_of(line: str, separator: str, quote: str | None) -> list[str]:
    """The names of columns in a header line."""
    row = line.rstrip("\r\n")
    if quote:
        try:
            return next(csv.reader([row], delimiter=separator, strict=True), [])
        except csv.Error:
            pass
    return row.split(separator)


def table_batches(path: str, needed: Sequence[str], *, everything: bool) -> Iterator[pl.DataFrame]:
    """A CSV or TSV file with a header line, some million rows at a time: the needed columns that it has, or all.

    Ids are text and what else is needed numbers; further columns are texts, None where they are empty.
    """
    line = first_line(path)
    separator, quote = _separator(path, line)
    names = our_names(_header_of(line, separator, quote))
    wanted = names if everything or not set(needed) <= set(names) else needed
    check_names(path, names, wanted)
    blocks = blocks_of_file(path)
    for number, block in enumerate(blocks):
        skipped = _header_end(block, True) if number == 0 else 0
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


def columns_of_table(
    block: bytes, names: Sequence[str], separator: str, quote: str | None, needed: Sequence[str], place: Place
) -> dict[str, list[Any]]:
    """The columns of the rows of a CSV or TSV file, without its header.

    In columns that are ``needed`` no value may be missing; those of them that are not ``TEXTS`` become numbers.

    An empty field is a missing value, missing fields at the end are empty, and empty lines do not count. In CSV a field may
    stand in quotation marks, doubled within, and have separators and line breaks.
    """
    rows: list[list[str]] = []
    numbers: list[int] = []
    text = text_of(block, place)
    if quote is None:
        lines = enumerate((line.rstrip("\r") for line in text.split("\n")), start=1)
        records: Iterator[tuple[int, list[str]]] = (
            (number, line.split(separator)) for number, line in lines if line.strip(" \t\v\f")
        )
    else:
        records = csv_rows(text, place, separator, strip=False)
    for line_number, fields in records:
        if len(fields) > len(names):
            raise ValueError(f"{place(line_number)}: {len(fields)} fields where {len(names)} are expected")
        rows.append(fields + [""] * (len(names) - len(fields)))
        numbers.append(line_number)
    columns: dict[str, list[Any]] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    for name in needed:
        if name in columns and "" in columns[name]:
            raise ValueError(f"{place(numbers[columns[name].index('')])}: there is no {name}")
    texts = {name: columns[name] for name in needed if name in columns and name in TEXTS}
    for name, values in columns.items():
        if name in needed and name not in TEXTS:
            columns[name] = _numbers(name, [value.strip(" \t") for value in values], texts, numbers, place)
        elif name not in needed:
            columns[name] = [value or None for value in values]
    return columns


def csv_rows(
    text: str, place: Place, separator: str = ",", *, strip: bool = True, **options: Any
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV text that are not empty, each with the number of its first line.

    Args:
        place: what messages call a line.
        strip: take blanks around fields away; rows without anything else are empty, too.
        options: of ``csv.reader``.
    """
    lines = text.split("\n")
    limit = csv.field_size_limit()  # of the whole program, which gets it back
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=separator, strict=True, **options)
    start = 0
    try:
        csv.field_size_limit(max(limit, len(text)))  # the text is in memory anyway
        for row in reader:
            fields = [field.strip() for field in row] if strip else row
            if any(fields) if strip else any(line.strip(" \t\v\f\r") for line in lines[start : reader.line_num]):
                yield start + 1, fields
            start = reader.line_num
    except csv.Error as error:
        fault = next((words for theirs, words in _FAULTS.items() if str(error).startswith(theirs)), str(error))
        raise ValueError(f"{place(start + 1)}: {fault}") from None
    finally:
        csv.field_size_limit(limit)
