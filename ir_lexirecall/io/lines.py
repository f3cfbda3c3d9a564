"""Lines of text files, value by value: the slow way, which knows every rule and names the line that breaks one.

``trec`` reads a block of lines this way if the fast way does not take it, and everything where Polars cannot compute.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from ir_lexirecall._util.errors import and_more, is_number, shown

LONGEST = 2**20
"""Bytes of a line (of a table: of a row, which may have line breaks in quotes): what is longer is refused."""
TEXTS = frozenset(("query_id", "doc_id", "iteration", "subtopic_id", "rank", "tag"))
"""Columns whose values are texts, whatever they look like."""

_LOOKS = {(6, 4): "; this looks like a run, not qrels", (4, 6): "; this looks like qrels, not a run"}

Place = Callable[[int], str]
"""From the number of a line in a block to what messages call it."""


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


# -- fields between blanks -------------------------------------------------------------------------------


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


def text_of(block: bytes, place: Place) -> str:
    """A block as text; a ``ValueError`` where it is not UTF-8."""
    try:
        return block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + block.count(b"\n", 0, error.start)
        raise ValueError(f"{place(line)}: not UTF-8 ({error.reason})") from None


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


# -- fields between commas or tabs -------------------------------------------------------------------------


def columns_of_table(
    block: bytes,
    names: Sequence[str],
    separator: str,
    quote: str | None,
    needed: Sequence[str],
    place: Place,
) -> dict[str, list[Any]]:
    """The columns of the rows of a CSV or TSV file, without its header.

    In columns that are ``needed`` no value may be missing; those of them that are not ``TEXTS`` become numbers.

    An empty field is a missing value, missing fields at the end are empty, and empty lines do not count. In CSV a field may
    stand in quotation marks, doubled within, and have separators and line breaks.
    """
    rows: list[list[str]] = []
    numbers: list[int] = []
    for line_number, fields in _records(text_of(block, place), separator, quote, place):
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


def _records(text: str, separator: str, quote: str | None, place: Place) -> Iterator[tuple[int, list[str]]]:
    """The fields of every row, and the number of its first line."""
    lines = enumerate(text.split("\n"), start=1)
    for start, line in lines:
        row = line.rstrip("\r")
        if not row.strip(" \t\v\f"):
            continue
        if quote is None or quote not in row:
            yield start, row.split(separator)
            continue
        while (fields := _quoted_fields(row, separator, quote)) is None:
            _, following = next(lines, (0, None))
            if following is None or len(row) > LONGEST:
                raise ValueError(f"{place(start)}: a quotation mark is not closed")
            line += "\n" + following
            row = line.rstrip("\r")  # what is quoted keeps its line breaks
        if len(fields) and fields[-1] is None:
            raise ValueError(f"{place(start)}: something follows a closing quotation mark")
        yield start, [field for field in fields if field is not None]


def _quoted_fields(row: str, separator: str, quote: str) -> list[str | None] | None:
    """The fields of a row; None if it ends within quotation marks, None as the last field if something follows them."""
    fields: list[str | None] = []
    at = 0
    while True:
        if row.startswith(quote, at):
            end = at + 1
            while True:
                end = row.find(quote, end)
                if end < 0:
                    return None
                if not row.startswith(quote, end + 1):
                    break
                end += 2
            fields.append(row[at + 1 : end].replace(quote + quote, quote))
            at = end + 1
            if at < len(row) and not row.startswith(separator, at):
                return [*fields, None]
        else:
            end = row.find(separator, at)
            end = len(row) if end < 0 else end
            fields.append(row[at:end])
            at = end
        if at >= len(row):
            return fields
        at += 1  # behind the separator


def header_of(line: str, separator: str, quote: str | None) -> list[str]:
    """The names of columns in a header line.

    >>> header_of('"query_id",doc_id', ",", '"')
    ['query_id', 'doc_id']
    """
    row = line.rstrip("\r\n")
    fields = _quoted_fields(row, separator, quote) if quote else row.split(separator)
    return row.split(separator) if fields is None or None in fields else [str(field) for field in fields]


def csv_rows(text: str, path: str, separator: str = ",", **options: Any) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV text that are not empty, their fields without blanks around, each with the number of its last line."""
    limit = csv.field_size_limit()  # of the whole program, which gets it back
    reader = csv.reader(io.StringIO(text), delimiter=separator, strict=True, **options)
    try:
        csv.field_size_limit(max(limit, len(text)))  # the text is in memory anyway
        for row in reader:
            fields = [field.strip() for field in row]
            if any(fields):
                yield reader.line_num, fields
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
    finally:
        csv.field_size_limit(limit)
