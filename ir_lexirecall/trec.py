"""Runs and qrels from files: TREC's formats in blocks, tables (Parquet, CSV, TSV) by their columns.

A file is read a few million bytes at a time. Regular text (single blanks, no quotes within quotes) goes straight to a columnar
parser; what that does not take is normalised, then read value by value (``plain``), which names a line that cannot be read.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ir_lexirecall import engine, plain
from ir_lexirecall.errors import and_more, needs
from ir_lexirecall.files import content_path, rereadable
from ir_lexirecall.lazy import LazyModule
from ir_lexirecall.plain import LONGEST, TEXTS

if TYPE_CHECKING:
    import polars as pl
else:
    pl = LazyModule("polars")

RUN_FIELDS = ("query_id", "iteration", "doc_id", "rank", "score", "tag")
QREL_FIELDS = ("query_id", "iteration", "doc_id", "relevance")
_RUN_COLUMNS = ("query_id", "doc_id", "score")
_QREL_COLUMNS = ("query_id", "doc_id", "relevance")
_BLOCK = 8 * 2**20  # bytes
_ROWS = 2**21  # of a Parquet file at a time
_METADATA_START, _METADATA_END = b"# ir_metadata.start", b"\n# ir_metadata.end"
_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


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
        kind = _kind(file)
        if is_parquet(file):
            yield from _parquet(file, _RUN_COLUMNS)
        elif _has_header(file, kind, _RUN_COLUMNS):
            yield from _delimited(file, kind, _RUN_COLUMNS, everything=False)
        else:
            for table in _text_batches(file, RUN_FIELDS, header=False, wanted=_RUN_COLUMNS):
                yield pl.DataFrame([table[name] for name in _RUN_COLUMNS])


def read_run(path: str) -> pl.DataFrame:
    """A whole run, see ``run_batches``."""
    empty = pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64})
    return _stacked([*run_batches(path)], empty)


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
    kind = _kind(path)
    if is_parquet(path):
        return _stacked([*_parquet(path)])
    if columns is None and _has_header(path, kind, _QREL_COLUMNS):
        return _with_numbers(_stacked([*_delimited(path, kind, _QREL_COLUMNS, everything=True)]))
    fields = tuple(columns) if columns else QREL_FIELDS
    if wrong := [name for name in _QREL_COLUMNS if fields.count(name) != 1]:
        raise ValueError(f"columns: {wrong[0]} must be named once, not as in {', '.join(fields)}")
    if len(set(fields)) < len(fields):
        raise ValueError(f"columns: a name occurs twice in {', '.join(fields)}")
    header = columns is None and set(_QREL_COLUMNS) <= set(first_line(path).split())
    if header:
        fields = tuple(first_line(path).split())
        _check_names(path, fields, fields)
    return read_lines(path, fields, header=header)


def read_lines(path: str, fields: Sequence[str], *, header: bool) -> pl.DataFrame:
    """Lines of so many fields, without the first one where that is a header; ids are text, the others numbers."""
    return _stacked([*_text_batches(path, fields, header)], pl.DataFrame(schema=_types(fields)))


def _types(fields: Iterable[str]) -> dict[str, Any]:
    return {name: pl.String if name in TEXTS else pl.Float64 for name in fields}


def _stacked(tables: Sequence[pl.DataFrame], empty: pl.DataFrame | None = None) -> pl.DataFrame:
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


# -- files -------------------------------------------------------------------------------------------------


def is_parquet(path: str) -> bool:
    """Whether a file is read as Parquet: by its name, or by its content."""
    if _kind(path) == ".parquet":
        return True
    content = content_path(path)
    if not os.path.isfile(content) or os.path.getsize(content) < 12:
        return False
    with open(content, "rb") as stream:
        if stream.read(4) != b"PAR1":
            return False
        stream.seek(-4, os.SEEK_END)
        return stream.read() == b"PAR1"


def first_line(path: str) -> str:
    """The first line of a text file that is not empty, however it is compressed, as far as it is not very long."""
    return next((line for line in first_text(path, 2**16).split("\n") if line.strip()), "")


def first_text(path: str, size: int = 4096) -> str:
    """The beginning of a text file, however it is compressed."""
    with _open(path) as stream:
        return _read(stream, path, size).decode("utf-8-sig", "replace")


def whole_content(path: str) -> bytes:
    """All bytes of a text file, however it is compressed.

    Raises:
        ValueError: it cannot be read, or a small compressed file holds an enormous text.
    """
    size = os.path.getsize(_existing(path))
    blocks, read = [], 0
    with _open(path) as stream:
        while block := _read(stream, path, _BLOCK):
            blocks.append(block)
            read += len(block)
            if read > _HARMLESS and read > _MOST_PACKED * size:
                raise ValueError(f"{path}: {size:,} bytes hold more than {read:,}; this looks like an attack, not data")
    return b"".join(blocks)


_HARMLESS = 2**28  # bytes
_MOST_PACKED = 200  # times the size of a compressed file


def metadata_header(path: str) -> str:
    """The comment lines of ir-metadata on top of a run, from ``# ir_metadata.start`` to ``# ir_metadata.end``; mostly empty."""
    if not first_text(path, len(_BYTE_ORDER_MARK) + len(_METADATA_START)).startswith(_METADATA_START.decode()):
        return ""
    block = next(_blocks(path))
    return block[: _header_end(block, False)].decode("utf-8", "replace")


def _kind(path: str) -> str:
    """The ending that tells a file's format, without that of the compression."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _OPENERS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _open_gzip(path: str) -> Any:
    try:
        return importlib.import_module("isal.igzip").open(path, "rb")  # several times faster, where it is installed
    except ModuleNotFoundError:
        return gzip.open(path, "rb")


def _open_zstd(path: str) -> Any:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name).open(path, "rb")
        except ModuleNotFoundError:
            continue
    raise ValueError(needs("reading .zst", "backports.zstd", "files"))


_OPENERS = {".gz": _open_gzip, ".bz2": bz2.open, ".xz": lzma.open, ".zst": _open_zstd}
_BEGINNINGS = {
    ".gz": (b"\x1f\x8b",),
    ".bz2": (b"BZh",),
    ".xz": (b"\xfd7zXZ\0", b"]\0\0"),
    ".zst": (b"\x28\xb5\x2f\xfd", *(bytes([n, 0x2A, 0x4D, 0x18]) for n in range(0x50, 0x60))),
}
_NO_TEXT = {  # beginnings that no text has
    b"\x1f\x8b": ".gz",
    **{b"BZh%d1AY&SY" % n: ".bz2" for n in range(1, 10)},
    b"\xfd7zXZ\0": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
}


def _open(path: str) -> BinaryIO:
    """Open a text file; a compressed one is known by its ending, or by its content."""
    content = _existing(path)
    with open(content, "rb") as stream:
        beginning = stream.read(16)
    ending = Path(path).suffix.lower()
    if ending not in _OPENERS:
        ending = next((packed for start, packed in _NO_TEXT.items() if beginning.startswith(start)), "")
    elif beginning and not beginning.startswith(_BEGINNINGS[ending]):
        raise ValueError(f"{path} cannot be read: it is not compressed, in spite of its ending {ending}")
    opener: Any = _OPENERS.get(ending)
    opened: BinaryIO = opener(content) if opener else open(content, "rb")  # noqa: SIM115
    return opened


def _existing(path: str) -> str:
    """Where to read a file."""
    content = content_path(path)
    if Path(content).is_dir():
        raise ValueError(f"{path} is a directory, not a file")
    if not Path(content).exists():
        raise ValueError(f"{path}: there is no such file")
    return content


def _read(stream: BinaryIO, path: str, size: int, *, line: bool = False) -> bytes:
    """So many bytes, or up to so many of a line."""
    try:
        return stream.readline(size) if line else stream.read(size)
    except MemoryError:
        raise
    except Exception as error:  # each compression has errors of its own
        raise ValueError(f"{path} cannot be read: {str(error) or type(error).__name__}") from None


def _blocks(path: str) -> Iterator[bytes]:
    """A text file's content in blocks of whole lines, without a byte order mark.

    Raises:
        ValueError: it cannot be read, or a line is longer than ``LONGEST``.
    """
    position = 0
    with _open(path) as stream:
        block = _read(stream, path, _size_of_block(stream))
        if block.startswith(_BYTE_ORDER_MARK):
            block = block.removeprefix(_BYTE_ORDER_MARK) or _read(stream, path, _BLOCK)
        while block:
            if not block.endswith(b"\n"):
                block += _read(stream, path, LONGEST + 1, line=True)
            if not block.endswith(b"\n"):
                block += b"\n"
            end = 0
            while end < len(block):
                start, end = end, block.rfind(b"\n", end, end + LONGEST + 1) + 1
                if not end:
                    line = _lines_before(path, position + start) + 1
                    raise ValueError(f"{path}, line {line}: longer than {LONGEST:,} bytes; is this a text file?")
            yield block
            position += len(block)
            block = _read(stream, path, _size_of_block(stream))


def _size_of_block(stream: BinaryIO) -> int:
    """How many bytes to read, so that the last line is whole; where that is cheap to know, it saves a copy of the block."""
    if not isinstance(stream, BufferedReader):
        return _BLOCK
    start = stream.tell()
    stream.seek(start + _BLOCK)
    rest = len(stream.readline(LONGEST + 1))
    stream.seek(start)
    return _BLOCK + rest


def _lines_before(path: str, position: int) -> int:
    """How many lines end before a position in a text file."""
    lines = 0
    with _open(path) as stream:
        if not stream.read(len(_BYTE_ORDER_MARK)).startswith(_BYTE_ORDER_MARK):
            stream.seek(0)
        while position > 0 and (block := stream.read(min(position, _BLOCK))):
            lines += block.count(b"\n")
            position -= len(block)
    return lines


# -- lines of fields ---------------------------------------------------------------------------------------


def _has_header(path: str, kind: str, needed: Sequence[str]) -> bool:
    """Whether a file is a table with a header line; a .csv file must have one."""
    if kind not in (".csv", ".tsv"):
        return False
    line = first_line(path).strip()
    if "query_id" in plain.header_of(line, *_SEPARATORS[kind]):
        return True
    if kind == ".csv" and "," in line:
        raise ValueError(
            f"{path}, line 1: a .csv file needs a header line with {', '.join(needed)}; this one is {line[:200]!r}"
        )
    return False


_SEPARATORS: dict[str, tuple[str, str | None]] = {".csv": (",", '"'), ".tsv": ("\t", None)}


def _text_batches(path: str, fields: Sequence[str], header: bool, wanted: Sequence[str] = ()) -> Iterator[pl.DataFrame]:
    """The columns of a file's lines; if some are ``wanted``, others may be missing."""
    for number, block in enumerate(_blocks(path)):
        skipped = _header_end(block, header) if number == 0 else 0
        if skipped < len(block):
            yield _parsed(block[skipped:], fields, wanted or fields, _places(path, number, block[:skipped]))


def _header_end(block: bytes, header: bool) -> int:
    """Where the lines begin: after comments with ir-metadata, and after a header line."""
    start = 0
    if block.startswith(_METADATA_START):
        end = block.find(_METADATA_END)
        start = block.find(b"\n", end + 1) + 1 if end >= 0 else 0
    if not header:
        return start
    empty = _EMPTY_LINES.match(block, start)
    return block.find(b"\n", empty.end() if empty else start) + 1 or len(block)


_EMPTY_LINES = re.compile(rb"(?:[ \t\r\v\f]*\n)*")


def _places(path: str, number: int, skipped: bytes) -> Callable[[int], str]:
    """What messages call a line of block ``number`` of the file, of which the first bytes were skipped."""

    def place(line: int) -> str:
        # Lines are counted only where one must be named.
        before = skipped.count(b"\n") + sum(earlier.count(b"\n") for earlier in islice(_blocks(path), number))
        return f"{path}, line {before + line}"

    return place


def _parsed(block: bytes, fields: Sequence[str], wanted: Sequence[str], place: Callable[[int], str]) -> pl.DataFrame:
    """The columns of lines, the wanted ones at least."""
    if engine.computes() and _is_text(block):
        for lines in _as_single_blanks(block):
            table = _columns_of_lines(lines, _types(fields), wanted)
            if table is not None:
                return table
    return _table(plain.columns_of_lines(block, fields, place), _types(fields))


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
    """The columns of a block of regular lines, or some of them; None if a line is not regular, or a number none."""
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
    names = plain.header_of(first_line(path), separator, quote)
    wanted = names if everything or not set(needed) <= set(names) else needed
    _check_names(path, names, wanted)
    blocks = _blocks(path)
    for number, block in enumerate(blocks):
        skipped = _header_end(block, True) if number == 0 else 0
        if quote and not _has_regular_quotes(block):  # what is quoted may contain line breaks
            block = b"".join([block, *blocks])
        rows = block[skipped:]
        table = _regular_rows(rows, names, wanted, needed, separator, quote)
        if table is None:
            place = _places(path, number, block[:skipped])
            columns = plain.columns_of_table(rows, names, separator, quote, needed, place)
            kinds = _types(needed)
            table = _table(columns, {name: kinds.get(name, pl.String) for name in wanted})
        yield table


def _check_names(path: str, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a header that names a wanted column twice."""
    twice = [name for name, count in Counter(names).items() if count > 1 and name in wanted]
    if twice:
        raise ValueError(f"{path}: the header names {twice[0]!r} twice{and_more(len(twice) - 1)}")


_REGULAR_QUOTES = re.compile(rb'(?<![^,\n])"[^"\n]*"(?![^,\r\n])')
_EMPTY_FIRST_LINE = re.compile(rb"[ \t\v\f]*\n")
_EMPTY_LINE = re.compile(rb"\n[ \t\v\f]*(?=\n)")


def _has_regular_quotes(block: bytes) -> bool:
    """Whether what is quoted are whole fields without quotation marks and line breaks."""
    return b'"' not in block or b'"' not in _REGULAR_QUOTES.sub(b"", block)


def _regular_rows(
    rows: bytes, names: Sequence[str], wanted: Sequence[str], needed: Sequence[str], separator: str, quote: str | None
) -> pl.DataFrame | None:
    """The wanted columns of rows; None if a row is not regular, lacks a needed value, or a number is none."""
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


# -- Parquet -------------------------------------------------------------------------------------------------


def _parquet(path: str, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
    """The file's columns (all, or those of the given ones that it has), some rows at a time.

    Read by PyArrow, which takes damaged files for what they are. Without it, another process tries Polars first: that ends
    a process whose memory a damaged file claims.
    """
    content = _existing(path)
    try:
        reader = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        yield from _parquet_by_polars(path, content, columns)
        return
    with _reading_parquet(path), reader.ParquetFile(content) as file:
        names = file.schema_arrow.names
        wanted = columns if columns and set(columns) <= set(names) else names
        _check_names(path, names, wanted)
        rows = 0
        for batch in file.iter_batches(_ROWS, columns=wanted, use_threads=engine.computes()):
            batch.validate(full=True)
            rows += batch.num_rows
            yield _of_arrow(batch)
        if rows == 0:
            yield _of_arrow(file.schema_arrow.empty_table().select(wanted))


@contextmanager
def _reading_parquet(path: str) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        if str(error).startswith(path):
            raise
        raise ValueError(f"{path} cannot be read as Parquet: {_first_sentence(error)}") from None


def _of_arrow(table: Any) -> pl.DataFrame:
    if engine.computes():  # without what programs noted beside the columns: Polars panics where that is no text
        return pl.DataFrame(type(table).from_arrays(table.columns, names=table.schema.names))
    columns = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        values = column.to_pylist()
        try:
            columns[name] = pl.Series(name, values, strict=True)
        except (TypeError, OverflowError):
            columns[name] = pl.Series(name, values, dtype=pl.Object)
    return pl.DataFrame(columns)


def _parquet_by_polars(path: str, content: str, columns: Sequence[str] | None) -> Iterator[pl.DataFrame]:
    if not engine.computes():
        raise ValueError(needs(f"{path}: reading Parquet {engine.where()}", "PyArrow", "all"))
    with open(content, "rb") as stream:
        if stream.read(4) != b"PAR1":
            raise ValueError(f"{path} cannot be read as Parquet: it does not begin with PAR1")
    if sys.executable:
        words = [sys.executable, "-c", _TRIAL, content, str(_ROWS), *(columns or ())]
        trial = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if trial.returncode:
            last = trial.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise ValueError(f"{path} cannot be read as Parquet: {last or 'it is damaged'}")
    with _reading_parquet(path):
        rows = pl.scan_parquet(content)
        names = rows.collect_schema().names()
        rows = rows.select(columns if columns and set(columns) <= set(names) else names)
        total = rows.select(pl.len()).collect().item()
        for start in range(0, max(total, 1), _ROWS):
            yield rows.slice(start, _ROWS).collect()


_TRIAL = """
import sys, polars
path, step, *columns = sys.argv[1:]
rows = polars.scan_parquet(path)
names = rows.collect_schema().names()
rows = rows.select(columns if columns and set(columns) <= set(names) else names)
total = rows.select(polars.len()).collect().item()
for start in range(0, max(total, 1), int(step)):
    rows.slice(start, int(step)).collect()
"""


def _first_sentence(error: BaseException) -> str:
    """Without the advice for programmers that follows."""
    return str(error).partition("\n")[0] or type(error).__name__
