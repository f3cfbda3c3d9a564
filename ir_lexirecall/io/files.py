"""Files that are written whole or not at all, and files that can be read only once."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

STDIN = "-"  # how standard input is called where a path is expected


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file whole or not at all: yield a temporary file's path, which replaces ``path`` when the block ends.

    The temporary file stands beside ``path`` and has its ending. Whatever ends the block early (an error, Ctrl-C, a full
    disk) leaves ``path`` as it was. What is not a regular file (``/dev/stdout``, a pipe) gets the content when all of it
    is there.

    Args:
        path: the file to write. A link stays, and the file that it points to is replaced; an existing file keeps its
            permissions.

    Raises:
        OSError: it cannot be written; the error names ``path``.

    >>> folder = tempfile.mkdtemp()
    >>> with written_whole(f"{folder}/table.txt") as temporary:
    ...     _ = temporary.write_text("run LR")
    >>> Path(folder, "table.txt").read_text()
    'run LR'
    """
    import secrets  # brings hash functions along

    target = Path(os.path.realpath(path))
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory", os.fspath(path))
    special = mode is not None and not stat.S_ISREG(mode)
    permissions = 0o600 if special else 0o666 if mode is None else stat.S_IMODE(mode)
    folder = Path(tempfile.gettempdir()) if special else target.parent
    temporary = folder / f".ir-lexirecall-{secrets.token_hex(8)}{target.suffix}"
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, permissions))
        yield temporary
        if special:
            with open(temporary, "rb") as content, open(target, "wb") as stream:
                shutil.copyfileobj(content, stream)
        else:
            if mode is not None:
                os.chmod(temporary, permissions)
            os.replace(temporary, target)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(temporary), str(target)):
            raise
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()  # unless it has replaced the target


class Spooled(str):
    """The name of something that can be read only once (a pipe, standard input), with a copy of its content."""

    copy: str


@contextlib.contextmanager
def rereadable(path: str) -> Iterator[str]:
    """Make a file readable more than once: pipes and standard input (``-``) are copied to a private temporary file."""
    if isinstance(path, Spooled) or not _reads_once(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="ir-lexirecall-") as folder:
        spooled = Spooled(path)
        spooled.copy = os.path.join(folder, "content")
        with open(spooled.copy, "wb") as copy:
            if path == STDIN:
                if sys.stdin is None:
                    raise ValueError(f"{path}: standard input is closed")
                shutil.copyfileobj(sys.stdin.buffer, copy)
            else:
                with open(path, "rb") as stream:
                    shutil.copyfileobj(stream, copy)
        yield spooled


def content_path(path: str) -> str:
    """Where the content of a file is read: its path, or that of the copy in the meantime."""
    return path.copy if isinstance(path, Spooled) else path


def parquet_parts(folder: str | os.PathLike[str]) -> list[str]:
    """The Parquet files in a folder as one table, as Spark writes it; none if there is something else that is not hidden."""
    if not os.path.isdir(folder):
        return []
    parts = sorted(file for file in Path(folder).iterdir() if not file.name.startswith((".", "_")))
    return [str(part) for part in parts] if all(part.suffix == ".parquet" for part in parts) else []


def _reads_once(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return path == STDIN
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
