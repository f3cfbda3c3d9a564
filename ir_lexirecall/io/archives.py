"""Zip archives and SQLite databases of other people, read within bounds.

What they hold may have been made to fill the memory or the disk, or never to end.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HARMLESS = 2**28
"""Bytes that fill no memory, however well they were packed."""
_LARGEST = 2**32  # bytes
_MOST_PACKED = 200  # times the size of what is packed
_LARGEST_TEXT = 2**20  # bytes; JSON that was read takes about 50 times as many
_LARGEST_VALUE = 2**24  # bytes of a row of a database
_STEP = 10_000  # instructions of SQLite between two looks at the budget
# Of a database: a row takes some ten bytes, and less than a hundred instructions
_BYTES_PER_STEP = 1000
_ORDINARY = 0  # what SQLite says of columns that are neither hidden nor computed


def text_of_member(archive: zipfile.ZipFile, name: str) -> str:
    """Return a text in an archive.

    Raises:
        ValueError: it is too large.
    """
    _check_size(archive, name, _LARGEST_TEXT)
    return archive.read(name).decode("utf-8")


def unpack_member(archive: zipfile.ZipFile, name: str, target: Path) -> None:
    """Write a file of an archive to `target`.

    Raises:
        ValueError: it is too large, or packed too well to be data.
    """
    _check_size(archive, name, _LARGEST)
    with archive.open(name) as packed, target.open("wb") as unpacked:
        shutil.copyfileobj(packed, unpacked)


def _check_size(archive: zipfile.ZipFile, name: str, most: int) -> None:
    """Raise if a file in an archive, of which no more is read than it says, is too large."""
    member = archive.getinfo(name)
    check_unpacked_size(name, member.compress_size, member.file_size, most)


def check_unpacked_size(name: str, packed: int, unpacked: int, most: int) -> None:
    """Raise if the content of a file is too large, or packed too well to be data.

    Args:
        name: what messages call it.
        packed: its size in the file, in bytes.
        unpacked: its size, in bytes.
        most: the limit, in bytes.
    """
    if unpacked > most:
        raise ValueError(
            f"{name} is too large ({unpacked:,} bytes, where {most:,} are read at most)"
        )
    if unpacked > max(HARMLESS, _MOST_PACKED * packed):
        raise ValueError(
            f"{name}: {packed:,} bytes hold {unpacked:,}; this looks like an attack, not data"
        )


def rows_of_table(
    database: Path, table: str, columns: Sequence[str], order: str
) -> list[tuple[Any, ...]]:
    """Return some columns of a table in a SQLite database, ordered by one.

    Raises:
        ValueError: the table is a view or computes its columns, reading it does not end, or the
            file is cut.
        sqlite3.Error: the database is damaged, or has no such table or column.
    """
    _check_not_cut(database)
    budget = _Budget(1000 + database.stat().st_size // _BYTES_PER_STEP)
    with contextlib.closing(
        sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)
    ) as connection:
        connection.set_progress_handler(budget, _STEP)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
        try:
            _check_is_stored(connection, table, columns)
            return connection.execute(
                f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"
            ).fetchall()
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            if not budget.is_spent:  # SQLite drops what is raised while it works
                raise KeyboardInterrupt from None
            raise ValueError(
                f"the table {table} takes more steps to read than its size explains"
            ) from None


def _check_not_cut(database: Path) -> None:
    """Raise if a database lacks bytes of its last page, or pages that its header counts.

    SQLite itself may read what is missing as zeros. Of other faults it says what is wrong.
    """
    with database.open("rb") as file:
        header = file.read(100)
    page_size = int.from_bytes(header[16:18], "big")
    if page_size == 1:  # stands for 65,536, which does not fit
        page_size = 2**16
    if not header.startswith(b"SQLite format 3\0") or page_size < 512:
        return
    n_pages = 0
    if header[24:28] == header[92:96]:  # else the number is out of date
        n_pages = int.from_bytes(header[28:32], "big")
    size = database.stat().st_size
    if size % page_size or size < n_pages * page_size:
        raise ValueError("its database is cut; save or simulate it again")


class _Budget:
    """Instructions that SQLite may execute, in steps; SQLite stops where a call returns True."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    @property
    def is_spent(self) -> bool:
        return self._left < 0

    def __call__(self) -> bool:
        self._left -= 1
        return self.is_spent


def _check_is_stored(
    connection: sqlite3.Connection, table: str, columns: Sequence[str]
) -> None:
    """Raise if a table, or one of its columns, is computed when it is read."""
    kinds = connection.execute(
        "SELECT type, rootpage FROM sqlite_master WHERE lower(name) = ?", (table,)
    ).fetchall()
    if any(kind != "table" or not rootpage for kind, rootpage in kinds):
        raise ValueError(f"{table} is not a table that is stored")
    hidden = {
        row[1]: row[6] for row in connection.execute(f"PRAGMA table_xinfo({table})")
    }
    if computed := [
        name for name in columns if hidden.get(name, _ORDINARY) != _ORDINARY
    ]:
        raise ValueError(f"the column {computed[0]} of {table} is computed, not stored")
