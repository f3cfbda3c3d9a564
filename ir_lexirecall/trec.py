"""Runs and qrels from files: TREC's formats in blocks, tables (Parquet, CSV, TSV) by their columns.

A file is read a few million bytes at a time. Regular text (single blanks) goes straight to a columnar parser; a block that
is not regular is normalised first, and a line that cannot be read is named.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ir_lexirecall.files import content_path, rereadable
from ir_lexirecall.lazy import LazyModule

if TYPE_CHECKING:
    import polars as pl
else:
    pl = LazyModule("polars")

RUN_FIELDS = ("query_id", "iteration", "doc_id", "rank", "score", "tag")
QREL_FIELDS = ("query_id", "iteration", "doc_id", "relevance")
_TEXT = frozenset(("query_id", "doc_id", "iteration", "subtopic_id", "rank", "tag"))
_BLOCK = 16 * 2**20  # bytes
_ROWS = 2**21  # of a Parquet file at a time
_METADATA_START, _METADATA_END = b"# ir_metadata.start", b"\n# ir_metadata.end"
_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")


def run_batches(path: str, *, at_once: bool = False) -> Iterator[pl.DataFrame]:
    """A run's ``query_id``, ``doc_id`` and ``score``, some million rows at a time, in the file's order.

    Args:
        path: a TREC run (``query Q0 document rank score tag``, any white space), or a table with those columns by name
            (``.parquet``, ``.csv``, ``.tsv``). Text files may be compressed (``.gz``, ``.bz2``, ``.xz``, ``.zst``). A pipe
            and ``-``, standard input, are copied to a temporary file first.
        at_once: whether to guess the types of a table's columns from all of its rows.

    Raises:
        ValueError: no such file, a line without six fields, or a score that is not a number; with the line.
    """
    columns = ["query_id", "doc_id", "score"]
    kind = _kind(path)
    with rereadable(path) as file:
        if kind == ".parquet":
            yield from _parquet(file, columns)
        elif _has_header(file, kind, columns):
            yield from _delimited(file, kind, columns, at_once=at_once)
        else:
            for table in _text_batches(file, RUN_FIELDS, header=False):
                yield table.select(columns)


def read_run(path: str) -> pl.DataFrame:
    """A whole run, see ``run_batches``."""
    batches = [*run_batches(path, at_once=True)]
    if not batches:
        return pl.DataFrame(schema={"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64})
    return pl.concat(batches, how="vertical_relaxed")


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
    if kind == ".parquet":
        return pl.concat([*_parquet(path)])
    if columns is None and _has_header(path, kind, ("query_id", "doc_id", "relevance")):
        return pl.concat(_delimited(path, kind, at_once=True))
    fields = tuple(columns) if columns else QREL_FIELDS
    if wrong := [name for name in ("query_id", "doc_id", "relevance") if fields.count(name) != 1]:
        raise ValueError(f"columns: {wrong[0]} must be named once, not as in {', '.join(fields)}")
    if len(set(fields)) < len(fields):
        raise ValueError(f"columns: a name occurs twice in {', '.join(fields)}")
    header = columns is None and {"query_id", "doc_id", "relevance"} <= set(_first_line(path).split())
    if header:
        fields = tuple(_first_line(path).split())
    types = {name: pl.String if name in _TEXT else pl.Float64 for name in fields}
    return pl.concat([pl.DataFrame(schema=types), *_text_batches(path, fields, header)])


def read_lines(path: str, fields: Sequence[str], *, header: bool) -> pl.DataFrame:
    """Lines of so many fields, without the first one where that is a header; ids are text, the others numbers."""
    types = {name: pl.String if name in _TEXT else pl.Float64 for name in fields}
    return pl.concat([pl.DataFrame(schema=types), *_text_batches(path, fields, header)])


def is_parquet(path: str) -> bool:
    """Whether a file is read as Parquet."""
    return _kind(path) == ".parquet"


def first_line(path: str) -> str:
    """The first line of a text file, however it is compressed."""
    return _first_line(path)


def first_text(path: str, size: int = 4096) -> str:
    """The beginning of a text file, however it is compressed."""
    with _open(path) as stream:
        try:
            return stream.read(size).decode("utf-8-sig", "replace")
        except Exception as error:  # each compression has errors of its own
            raise ValueError(f"{path} cannot be read: {error}") from None


def whole_content(path: str) -> bytes:
    """All bytes of a text file, however it is compressed."""
    return b"".join(_blocks(path))


def metadata_header(path: str) -> str:
    """The comment lines of ir-metadata on top of a run, from ``# ir_metadata.start`` to ``# ir_metadata.end``; mostly empty."""
    if not _first_line(path).startswith(_METADATA_START.decode()):
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
    raise ValueError("reading .zst needs a package: pip install 'ir-lexirecall[files]'")


_OPENERS = {".gz": _open_gzip, ".bz2": bz2.open, ".xz": lzma.open, ".zst": _open_zstd}
_BEGINNINGS = {
    ".gz": (b"\x1f\x8b",),
    ".bz2": (b"BZh",),
    ".xz": (b"\xfd7zXZ\0", b"]\0\0"),
    ".zst": (b"\x28\xb5\x2f\xfd", *(bytes([n, 0x2A, 0x4D, 0x18]) for n in range(0x50, 0x60))),
}


def _open(path: str) -> BinaryIO:
    content = _existing(path)
    ending = Path(path).suffix.lower()
    opener: Any = _OPENERS.get(ending)
    if opener:
        with open(content, "rb") as stream:
            beginning = stream.read(8)
        if beginning and not beginning.startswith(_BEGINNINGS[ending]):
            raise ValueError(f"{path} cannot be read: it is not compressed, in spite of its ending {ending}")
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


def _first_line(path: str) -> str:
    with _open(path) as stream:
        try:
            return stream.readline().decode("utf-8-sig", "replace")
        except MemoryError:
            raise
        except Exception as error:  # each compression has errors of its own
            raise ValueError(f"{path} cannot be read: {error}") from None


def _has_header(path: str, kind: str, needed: Sequence[str]) -> bool:
    """Whether a file is a table with a header line; a .csv file must have one."""
    if kind not in (".csv", ".tsv"):
        return False
    line = _first_line(path).strip()
    if kind == ".csv" and "," in line and "query_id" not in line:
        raise ValueError(
            f"{path}, line 1: a .csv file needs a header line with {', '.join(needed)}; this one is {line!r}"
        )
    return "query_id" in line


def _text_batches(path: str, fields: Sequence[str], header: bool) -> Iterator[pl.DataFrame]:
    for number, block in enumerate(_blocks(path)):
        skipped = _header_end(block, header) if number == 0 else 0
        if skipped < len(block):
            yield _parsed(block[skipped:], fields, path, number, block.count(b"\n", 0, skipped))


def _header_end(block: bytes, header: bool) -> int:
    """Where the lines begin: after comments with ir-metadata, and after a header line."""
    start = 0
    if block.startswith(_METADATA_START):
        end = block.find(_METADATA_END)
        start = block.find(b"\n", end + 1) + 1 if end >= 0 else 0
    return block.find(b"\n", start) + 1 if header else start


def _blocks(path: str) -> Iterator[bytes]:
    """The file's content in blocks of whole lines."""
    with _open(path) as stream:
        while True:
            try:
                block = stream.read(_BLOCK)
                block += stream.readline()
            except MemoryError:
                raise
            except Exception as error:  # each compression has errors of its own
                raise ValueError(f"{path} cannot be read: {error}") from None
            if not block:
                return
            yield block if block.endswith(b"\n") else block + b"\n"


def _parsed(block: bytes, fields: Sequence[str], path: str, number: int, skipped: int) -> pl.DataFrame:
    """The columns of block ``number`` of the file, without its first ``skipped`` lines."""
    for lines in _as_single_blanks(block):
        table = _columns(lines, fields)
        if table is not None:
            return table

    def place(line: int) -> str:
        # Lines are counted only where one must be named.
        before = sum(earlier.count(b"\n") for earlier in islice(_blocks(path), number))
        return f"{path}, line {before + skipped + line}"

    _refuse_irregular(block, len(fields), place)
    raise _no_number(block, fields, place)


def _columns(block: bytes, fields: Sequence[str]) -> pl.DataFrame | None:
    """The columns of a block of regular lines; None if a line is not regular, or a number none."""
    types = {name: pl.String if name in _TEXT else pl.Float64 for name in fields}
    if not block:
        return pl.DataFrame(schema=types)
    try:
        table = pl.read_csv(block, has_header=False, separator=" ", quote_char=None, schema=types)
    except pl.exceptions.PolarsError:
        return None
    # An empty field (two blanks) or a missing one reads as null.
    return None if any(column.null_count() for column in table) else table


def _as_single_blanks(block: bytes) -> Iterator[bytes]:
    """The block as it is, if it may be regular; with blanks for other white space; with single blanks and no empty lines."""
    if b"\t" not in block and b"\r" not in block:
        yield block
    block = block.translate(_BLANKS)
    yield block
    block = re.sub(rb" {2,}", b" ", block).replace(b" \n", b"\n").replace(b"\n ", b"\n")
    yield re.sub(rb"\n{2,}", b"\n", block).lstrip(b" \n")


def _refuse_irregular(block: bytes, fields: int, place: Callable[[int], str]) -> None:
    """Name the first line that is not UTF-8 or has another number of fields."""
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + block.count(b"\n", 0, error.start)
        raise ValueError(f"{place(line)}: not UTF-8 ({error.reason})") from None
    looks = {(len(RUN_FIELDS), len(QREL_FIELDS)): "; this looks like a run, not qrels"}
    looks[len(QREL_FIELDS), len(RUN_FIELDS)] = "; this looks like qrels, not a run"
    for number, text in enumerate(block.translate(_BLANKS).split(b"\n"), start=1):
        parts = text.split()
        if parts and len(parts) != fields:
            hint = looks.get((len(parts), fields), "")
            raise ValueError(f"{place(number)}: {len(parts)} fields where {fields} are expected{hint}")


def _no_number(block: bytes, fields: Sequence[str], place: Callable[[int], str]) -> ValueError:
    """The error that names the first number that is none, and counts the others in the block."""
    lines = [(number, text.split()) for number, text in enumerate(block.translate(_BLANKS).split(b"\n"), start=1)]
    lines = [(number, parts) for number, parts in lines if parts]
    for i, name in enumerate(fields):
        values = pl.Series([parts[i].decode("utf-8") for _, parts in lines], dtype=pl.String)
        bad = values.cast(pl.Float64, strict=False).is_null() if name not in _TEXT else pl.Series([False])
        if bad.any():
            number, parts = lines[int(bad.arg_true()[0])]
            row = dict(zip(fields, (part.decode("utf-8") for part in parts), strict=True))
            rest = f" (and {bad.sum() - 1} more like it)" if bad.sum() > 1 else ""
            return ValueError(
                f"{place(number)}: the {name} of document {row['doc_id']!r} for query {row['query_id']!r} is "
                f"{row[name]!r}, not a number{rest}"
            )
    return ValueError(f"{place(1)} and those after it cannot be read")


def _delimited(
    path: str, kind: str, columns: Sequence[str] | None = None, *, at_once: bool = False
) -> Iterator[pl.DataFrame]:
    """A CSV or TSV file with a header line, some million rows at a time; ids stay text, whatever they look like.

    Args:
        columns: those that are wanted, if the file has them; what is not text among them are numbers.
        at_once: whether to read all rows together.
    """
    separator, quote = ("\t", None) if kind == ".tsv" else (",", '"')
    names = [name.strip('"') for name in _first_line(path).rstrip("\r\n").split(separator)]
    wanted = [name for name in columns or () if name in names]
    types = {name: pl.String if name in _TEXT else pl.Float64 for name in wanted}

    def parsed(text: bytes) -> pl.DataFrame:
        read = partial(pl.read_csv, text, separator=separator, quote_char=quote)
        if wanted:
            with suppress(pl.exceptions.PolarsError):  # a score that is no number: below, it stays to be named
                return read(columns=wanted, schema_overrides=types, infer_schema_length=0).select(wanted)
        texts = {name: pl.String for name in names if name in _TEXT}
        table = read(schema_overrides=texts, infer_schema_length=None)
        table = table.with_columns(_with_numbers(table[name]) for name in ("score", "relevance") if name in table)
        return table.select(wanted) if wanted else table

    blocks = _blocks(path)
    header = b""
    for block in blocks:
        if at_once or (quote and b'"' in block):  # what is quoted may contain line breaks
            block = b"".join([block, *blocks])
        try:
            yield parsed(header + block)
        except pl.exceptions.PolarsError as error:
            raise ValueError(f"{path}: {_first_sentence(error)}") from None
        header = header or block[: block.index(b"\n") + 1]


def _with_numbers(values: pl.Series) -> pl.Series:
    """A column that was read as text with the numbers in it as such, so that what is none stands out."""
    if values.dtype != pl.String:
        return values
    numbers = values.cast(pl.Float64, strict=False).to_list()
    mixed = [text if number is None else number for text, number in zip(values.to_list(), numbers, strict=True)]
    return pl.Series(values.name, mixed, dtype=pl.Object)


def _parquet(path: str, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
    """The file's columns (all, or those of the given ones that it has), some rows at a time."""
    content = _existing(path)
    try:
        rows = pl.scan_parquet(content)
        names = rows.collect_schema().names()
        rows = rows.select([name for name in columns or names if name in names])
        total = rows.select(pl.len()).collect().item()
        for start in range(0, max(total, 1), _ROWS):
            yield rows.slice(start, _ROWS).collect()
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{path}: {_first_sentence(error)}") from None


def _first_sentence(error: Exception) -> str:
    """Without the advice for programmers that follows."""
    return str(error).partition("\n")[0]
