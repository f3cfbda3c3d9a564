"""TREC runs and qrels from files."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

_OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
RUN_FIELDS = ("query_id", "iteration", "doc_id", "rank", "score", "tag")
QREL_FIELDS = ("query_id", "iteration", "doc_id", "relevance")
_NUMERIC = ("score", "relevance")


def read_run(path: str) -> pl.DataFrame:
    """A TREC run (``query Q0 document rank score tag``, any white space; ``.gz``, ``.bz2``, ``.xz``).

    Raises:
        ValueError: no such file, a line without six fields, or a score that is not a number; with the line.
    """
    return _read(path, RUN_FIELDS).select("query_id", "doc_id", "score")


def read_qrels(path: str, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """TREC or ndeval qrels (``query iteration document grade``), or a wide file with a header line.

    A file whose first line names ``query_id``, ``doc_id`` and ``relevance`` is wide: its further columns are
    subtopics, iterations, weights or aspects. ``columns`` names the columns of a wide file without a header.

    Raises:
        ValueError: no such file, a line with a wrong number of fields, or a grade that is not a number.
    """
    return _read(path, tuple(columns) if columns else QREL_FIELDS, header=columns is None)


def _read(path: str, fields: Sequence[str], header: bool = False) -> pl.DataFrame:
    content = _content(path).translate(_BLANKS)
    first = content[: content.find(b"\n")].decode("utf-8", "replace").split() if content else []
    skipped = 0
    if header and {"query_id", "doc_id", "relevance"} <= set(first):
        fields = first
        content, skipped = content[content.find(b"\n") + 1 :], 1
    content = _regular(content, len(fields), path, skipped)
    if not content:
        return pl.DataFrame({name: [] for name in fields}, schema=dict.fromkeys(fields, pl.String)).with_columns(
            pl.col(name).cast(pl.Float64) for name in fields if name in _NUMERIC
        )
    table = pl.read_csv(
        content,
        has_header=False,
        separator=" ",
        quote_char=None,
        new_columns=list(fields),
        schema=dict.fromkeys(fields, pl.String),
    )
    ids = ("query_id", "doc_id", "iteration", "subtopic_id", "tag", "rank")
    for name in fields:
        if name not in ids:
            numeric = table[name].cast(pl.Float64, strict=False)
            bad = numeric.is_null()
            if bad.any():
                row = int(bad.arg_true()[0])
                raise ValueError(
                    f"{path}: the {name} of document {table['doc_id'][row]!r} for query "
                    f"{table['query_id'][row]!r} is {table[name][row]!r}, not a number"
                )
            table = table.with_columns(numeric.alias(name))
    return table


_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")


def _content(path: str) -> bytes:
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"{path}: there is no such file")
    try:
        opener: Any = _OPENERS.get(file.suffix, open)
        with opener(file, "rb") as stream:
            content: bytes = stream.read()
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}, line {line}: not UTF-8 ({error.reason})") from None
    return content


def _regular(content: bytes, fields: int, path: str, skipped: int) -> bytes:
    """``content`` with single spaces, no blank lines, and ``fields`` fields in every line."""
    if content and not content.endswith(b"\n"):
        content += b"\n"
    if _is_regular(content, fields):
        return content
    lines = []
    for number, line in enumerate(content.split(b"\n"), start=1 + skipped):
        parts = line.split()
        if parts and len(parts) != fields:
            raise ValueError(f"{path}, line {number}: {len(parts)} fields where {fields} are expected")
        if parts:
            lines.append(b" ".join(parts))
    return b"\n".join(lines) + b"\n" if lines else b""


def _is_regular(content: bytes, fields: int) -> bool:
    """Whether every line has ``fields`` fields with single spaces between them."""
    text = np.frombuffer(content, dtype=np.uint8)
    marks = np.flatnonzero((text == 32) | (text == 10))  # every blank and line end
    if len(marks) % fields or not len(marks):
        return False
    per_line = text[marks].reshape(-1, fields)
    apart = np.diff(marks, prepend=-1) > 1
    return bool(apart.all() and (per_line[:, :-1] == 32).all() and (per_line[:, -1] == 10).all())
