"""Blocks of text as columns: lines of fields between blanks, as TREC's formats have them, and tables (CSV, TSV) with a header.

A file is read a few million bytes at a time. Regular text (single blanks, no quotes within quotes) goes straight to a columnar
parser; what that does not take is normalised, then read value by value: the slow way, which knows every rule, names the line that
breaks one, and serves where Polars cannot compute.
"""

from __future__ import annotations

import contextlib
import csv
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from ir_lexirecall._util import engine
from ir_lexirecall._util.errors import and_more, is_number, shown
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io.files import blocks_of_file, first_line, kind_of_file

RUN_COLUMNS = ("query_id", "doc_id", "score")
QREL_COLUMNS = ("query_id", "doc_id", "relevance")
PYTERRIER = {"qid": "query_id", "docno": "doc_id", "label": "relevance"}
"""PyTerrier's names of columns, and ours."""
_RECOMMENDERS = {
    "user": "query_id",
    "user_id": "query_id",
    "item": "doc_id",
    "item_id": "doc_id",
    "rating": "relevance",
}
TEXTS = frozenset(("query_id", "doc_id", "iteration", "subtopic_id", "rank", "tag"))
"""Columns whose values are texts, whatever they look like."""


Place = Callable[[int], str]
"""From the number of a line in a block to what messages call it."""
_WHITE = bytes.maketrans(b"\t\r\v\f", b"    ")
_ON_TOP = re.compile(
    rb"(?:[ \t\r\v\f]*(?:#[^\n]*)?\n)*+"
)  # empty lines and comments, ir-metadata among them
_COMMENT = re.compile(rb"^[ \t\r\v\f]*#[^\n]*", re.MULTILINE)
_SEPARATORS: dict[str, tuple[str, str | None]] = {".csv": (",", '"'), ".tsv": ("\t", None)}
_REGULAR_QUOTES = re.compile(rb'(?<![^,\n])"[^"\n]*"(?![^,\r\n])')
_EMPTY_LINE = re.compile(rb"\n[ \t\v\f]*(?=\n)")
_LOOKS = {
    (6, 4): "; this looks like a run, not qrels",
    (4, 6): "; this looks like qrels, not a run",
}
_FAULTS = {  # by how the messages of the standard library's ``csv`` begin
    "unexpected end": "a quotation mark is not closed",
    "'": "something follows a closing quotation mark",
    "new-line": "a carriage return within a line",
}


def our_names(names: Sequence[str]) -> list[str]:
    """The names of a table's columns, PyTerrier's as ours.

    >>> our_names(["qid", "docno", "score"]), our_names(["query_id", "qid"])
    (['query_id', 'doc_id', 'score'], ['query_id', 'qid'])
    """
    return [
        ours if (ours := PYTERRIER.get(name, name)) == name or ours not in names else name
        for name in names
    ]


def renaming(names: Sequence[str]) -> str:
    """A hint at what columns should be called here that recommender systems call otherwise; empty for others.

    >>> renaming(["user", "item", "rating"])
    '; rename user to query_id, item to doc_id, rating to relevance'
    """
    known = [f"{name} to {_RECOMMENDERS[name]}" for name in names if name in _RECOMMENDERS]
    return f"; rename {', '.join(known)}" if len(known) > 1 else ""


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


def stacked(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Tables of the same columns below each other."""
    if len(tables) == 1:
        return tables[0]
    if engine.computes():
        return pl.concat(tables, how="vertical_relaxed")
    columns = {}
    for name, dtype in tables[0].schema.items():
        values = [value for table in tables for value in table[name].to_list()]
        columns[name] = pl.Series(name, values, dtype=dtype)
    return pl.DataFrame(columns)


def check_names(path: str, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a header that names a wanted column twice."""
    if twice := [name for name, count in Counter(names).items() if count > 1 and name in wanted]:
        raise ValueError(f"{path}: the header names {twice[0]!r} twice{and_more(len(twice) - 1)}")


def _place(path: str, number: int, skipped: bytes, line: int) -> str:
    """What messages call a line of block ``number`` of the file, of which the first bytes were skipped."""
    # Lines are counted only where one must be named.
    before = skipped.count(b"\n") + sum(
        earlier.count(b"\n") for earlier in islice(blocks_of_file(path), number)
    )
    return f"{path}, line {before + line}"


@dataclass(frozen=True)
class _Layout:
    """How the lines of a file hold columns.

    Attributes:
        names: of all columns.
        needed: those with a value in every line: a text, or a number.
        wanted: those that are asked for.
        separator: what stands between them; a blank for any white space.
        quote: what may stand around a value.
    """

    names: Sequence[str]
    needed: Sequence[str]
    wanted: Sequence[str]
    separator: str = " "
    quote: str | None = None

    def kind(self, name: str) -> Any:
        """The type of a column."""
        return pl.Float64 if name in self.needed and name not in TEXTS else pl.String

    def batches(self, path: str, *, header: bool) -> Iterator[pl.DataFrame]:
        """The columns of a file, with a header line or without, some million rows at a time; of an empty file once."""
        blocks = blocks_of_file(path)
        for number, block in enumerate(chain([next(blocks, b"")], blocks)):
            skipped = 0
            if number == 0 and (on_top := _ON_TOP.match(block)):
                skipped = on_top.end()
                skipped = block.find(b"\n", skipped) + 1 or len(block) if header else skipped
            rows = block[skipped:]
            # What is regular in quotation marks are whole fields without these and without line breaks.
            is_regular = (
                not self.quote or b'"' not in rows or b'"' not in _REGULAR_QUOTES.sub(b"", rows)
            )
            if not is_regular:
                rows = b"".join([rows, *blocks])
            if self.separator == " ":
                rows = _without_comments(rows)
            table = None
            with contextlib.suppress(UnicodeDecodeError):
                if is_regular and engine.computes() and (rows.isascii() or rows.decode("utf-8")):
                    table = self.regular(rows)
            yield (
                self.checked(rows, partial(_place, path, number, block[:skipped]))
                if table is None
                else table
            )

    def regular(self, rows: bytes) -> pl.DataFrame | None:
        """The columns of regular lines; None if a line is not regular, lacks a needed value, or a value is not a number."""
        if self.separator == " ":
            last = len(self.names) - 1
            places = [i for i, name in enumerate(self.names) if name in self.wanted or i == last]
            for lines in _as_single_blanks(rows):
                table = self.parsed(lines, columns=places)
                # A missing field reads as null. Where no line lacks the last one, the number of blanks says that none has a further one.
                if table is None or any(column.null_count() for column in table):
                    continue
                blank = np.frombuffer(lines, dtype=np.uint8) == ord(" ")
                if np.count_nonzero(blank) == len(table) * last and not np.any(
                    blank[1:] & blank[:-1]
                ):
                    return self.named(table)
            return None
        if b"\r" in rows:
            rows = rows.replace(b"\r\n", b"\n")
        if b"\r" in rows:
            return None
        rows = _EMPTY_LINE.sub(b"", b"\n" + rows).removeprefix(b"\n")
        quote = self.quote if b'"' in rows else None
        if (table := self.parsed(rows, quote)) is None:
            return None
        table = self.named(table)
        if any(table[name].null_count() for name in self.needed if name in self.wanted):
            return None
        empty = quote and any((values == "").any() for values in table if values.dtype == pl.String)
        return None if empty else table

    def parsed(
        self, block: bytes, quote: str | None = None, columns: list[int] | None = None
    ) -> pl.DataFrame | None:
        """What Polars reads in a block, or in some columns of it, which are called by their places; None where it does not."""
        schema = {str(i): self.kind(name) for i, name in enumerate(self.names)}
        if not block:
            return pl.DataFrame(schema=schema)
        try:
            return pl.read_csv(
                block,
                has_header=False,
                separator=self.separator,
                quote_char=quote,
                schema=schema,
                columns=columns,
            )
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            return None

    def named(self, table: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame({name: table[str(self.names.index(name))] for name in self.wanted})

    def checked(self, block: bytes, place: Place) -> pl.DataFrame:
        """The columns of any lines, value by value.

        In a table, an empty field is a missing value, missing fields at the end are empty, and empty lines do not count. In CSV a
        field may stand in quotation marks, doubled within, and have separators and line breaks.

        Raises:
            ValueError: a line has a wrong number of fields or is not UTF-8, or a needed value is missing or not a number.
        """
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError as error:
            line = 1 + block.count(b"\n", 0, error.start)
            raise ValueError(f"{place(line)}: not UTF-8 ({error.reason})") from None
        width = len(self.names)
        records: Iterator[tuple[int, list[str]]]
        if self.separator == " ":  # only ASCII's blanks separate
            several = enumerate(block.split(b"\n"), start=1)
            records = (
                (n, [part.decode() for part in line.split()]) for n, line in several if line.strip()
            )
        elif self.quote is None:
            lines = enumerate((line.rstrip("\r") for line in text.split("\n")), start=1)
            records = (
                (n, line.split(self.separator)) for n, line in lines if line.strip(" \t\v\f")
            )
        else:
            records = csv_rows(text, place, self.separator, strip=False)
        rows: list[list[str]] = []
        numbers: list[int] = []
        for n, fields in records:
            if len(fields) > width or (len(fields) < width and self.separator == " "):
                hint = _LOOKS.get((len(fields), width), "") if self.separator == " " else ""
                raise ValueError(
                    f"{place(n)}: {len(fields)} fields where {width} are expected{hint}"
                )
            rows.append(fields + [""] * (width - len(fields)))
            numbers.append(n)
        columns: dict[str, list[Any]] = {
            name: [row[i] for row in rows] for i, name in enumerate(self.names)
        }
        needed = [name for name in self.needed if name in columns]
        for name in needed:
            if "" in columns[name]:
                raise ValueError(f"{place(numbers[columns[name].index('')])}: there is no {name}")
        for name, texts in columns.items():
            if name not in needed:
                columns[name] = [text or None for text in texts]
            elif name not in TEXTS:
                texts = [text.strip(" \t") for text in texts]
                values = columns[name] = [number(text) for text in texts]
                if None in values:
                    i, ids = values.index(None), {"doc_id": "of document", "query_id": "for query"}
                    subject = "".join(
                        f" {word} {shown(columns[key][i])}"
                        for key, word in ids.items()
                        if key in needed
                    )
                    raise ValueError(
                        f"{place(numbers[i])}: the {name}{subject} is {shown(texts[i])}, not a number"
                        f"{and_more(values.count(None) - 1)}"
                    )
        return pl.DataFrame(
            {name: pl.Series(name, columns[name], dtype=self.kind(name)) for name in self.wanted}
        )


# -- lines of fields ---------------------------------------------------------------------------------------


def read_lines(path: str, fields: Sequence[str], *, header: bool = False) -> pl.DataFrame:
    """Lines of fields, after a header line or without; ids are text, the others numbers."""
    return stacked([*_Layout(fields, fields, fields).batches(path, header=header)])


def line_batches(path: str, fields: Sequence[str], wanted: Sequence[str]) -> Iterator[pl.DataFrame]:
    """The wanted columns of a file's lines, some million rows at a time."""
    return _Layout(fields, fields, wanted).batches(path, header=False)


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


# -- tables with a header ----------------------------------------------------------------------------------


def has_header(path: str, needed: Sequence[str]) -> bool:
    """Whether a file is a table with a header line; one with commas and no blanks must have one, and a .csv file."""
    kind, line = kind_of_file(path), first_line(path).strip()
    names, *_ = header_of(path)
    found = {*our_names(names)}
    if "query_id" in found and (kind in _SEPARATORS or found.issuperset(needed)):
        return True
    if "," in line and (kind == ".csv" or len(line.split()) == 1):
        raise ValueError(
            f"{path}, line 1: a CSV file needs a header line with {', '.join(needed)}; this one is {line[:200]!r}"
            f"{renaming(names)}"
        )
    return False


def header_of(path: str) -> tuple[list[str], str, str | None]:
    """The first line's names of columns, what separates these, and what may quote them: by the file's ending, else by that line."""
    row = first_line(path).rstrip("\r\n")
    separator, quote = (
        _SEPARATORS.get(kind_of_file(path)) or _SEPARATORS[".csv" if "," in row else ".tsv"]
    )
    if quote:
        with contextlib.suppress(csv.Error):
            return next(csv.reader([row], delimiter=separator, strict=True), []), separator, quote
    return row.split(separator), separator, quote


def table_batches(path: str, needed: Sequence[str], *, everything: bool) -> Iterator[pl.DataFrame]:
    """A CSV or TSV file with a header line, some million rows at a time: the needed columns that it has, or all.

    Ids are text and what else is needed numbers; further columns are texts, None where they are empty.
    """
    header, separator, quote = header_of(path)
    names = our_names(header)
    wanted = names if everything or not set(needed) <= set(names) else needed
    check_names(path, names, wanted)
    yield from _Layout(names, needed, wanted, separator, quote).batches(path, header=True)


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
    reader = csv.reader(
        (f"{line}\n" for line in lines), delimiter=separator, strict=True, **options
    )
    start = 0
    try:
        csv.field_size_limit(max(limit, len(text)))  # the text is in memory anyway
        for row in reader:
            fields = [field.strip() for field in row] if strip else row
            if (
                any(fields)
                if strip
                else any(line.strip(" \t\v\f\r") for line in lines[start : reader.line_num])
            ):
                yield start + 1, fields
            start = reader.line_num
    except csv.Error as error:
        fault = next(
            (words for theirs, words in _FAULTS.items() if str(error).startswith(theirs)),
            str(error),
        )
        raise ValueError(f"{place(start + 1)}: {fault}") from None
    finally:
        csv.field_size_limit(limit)
