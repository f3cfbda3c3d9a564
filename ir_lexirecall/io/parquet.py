"""Tables in Parquet files, read by PyArrow or Polars."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ir_lexirecall._util import engine
from ir_lexirecall._util.errors import needs
from ir_lexirecall._util.lazy import polars as pl
from ir_lexirecall.io.content import check_names, existing_file

_ROWS = 2**21  # of a Parquet file at a time


def parquet_batches(path: str, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
    """The file's columns (all, or those of the given ones that it has), some rows at a time.

    Read by PyArrow, which takes damaged files for what they are. Without it, another process tries Polars first: that ends
    a process whose memory a damaged file claims.
    """
    content = existing_file(path)
    try:
        reader = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        yield from _parquet_by_polars(path, content, columns)
        return
    with _reading_parquet(path), reader.ParquetFile(content) as file:
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


@contextmanager
def _reading_parquet(path: str) -> Iterator[None]:
    try:
        yield
    except MemoryError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:
        if str(error).startswith(path):
            raise
        why = str(error).partition("\n")[0] or type(error).__name__  # without the advice for programmers that follows
        raise ValueError(f"{path} cannot be read as Parquet: {why}") from None


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
