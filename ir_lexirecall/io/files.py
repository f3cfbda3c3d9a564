"""Files: their bytes, compressed or not, read more than once, whole or in blocks of lines; and files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import glob
import importlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any, BinaryIO

from ir_lexirecall._util.errors import needs

STDIN = "-"  # how standard input is called where a path is expected
LONGEST = 2**20
"""Bytes of a line: what is longer is refused."""
_BLOCK = 8 * 2**20  # bytes
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HARMLESS = 2**28  # bytes
_MOST_PACKED = 200  # times the size of a compressed file
_MOST_DIGITS = 300
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_UNPACKERS = {  # modules, the first one that is installed: isal is several times faster
    ".gz": ("isal.igzip", "gzip"),
    ".bz2": ("bz2",),
    ".xz": ("lzma",),
    ".zst": ("compression.zstd", "backports.zstd"),
}
_NO_TEXT = {  # beginnings that no text has
    b"\x1f\x8b": ".gz",
    **{b"BZh%d1AY&SY" % n: ".bz2" for n in range(1, 10)},
    b"\xfd7zXZ\0": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
}
_FOREIGN = {
    b"ARROW1": "a Feather (Arrow IPC) file; give the table that polars.read_ipc or pandas.read_feather makes of it",
    b"\x04\x22\x4d\x18": "compressed with LZ4; unpack it (lz4 -d)",
    b"PK\x03\x04": "a zip archive; unpack it",
}


class Spooled(str):
    """The name of something that can be read only once (a pipe, standard input), with a copy of its content."""

    copy: str


@contextlib.contextmanager
def rereadable(path: str) -> Iterator[str]:
    """Make a file readable more than once: pipes and standard input (``-``) are copied to a private temporary file."""
    once = (
        not (os.path.isfile(path) or os.path.isdir(path)) if os.path.exists(path) else path == STDIN
    )
    if isinstance(path, Spooled) or not once:
        yield path
        return
    if path == STDIN and sys.stdin is None:
        raise ValueError(f"{path}: standard input is closed")
    with tempfile.TemporaryDirectory(prefix="ir-lexirecall-") as folder:
        spooled = Spooled(path)
        spooled.copy = os.path.join(folder, "content")
        with (
            contextlib.nullcontext(sys.stdin.buffer)
            if path == STDIN
            else open(path, "rb") as stream,
            open(spooled.copy, "wb") as copy,
        ):
            shutil.copyfileobj(stream, copy)
        yield spooled


def content_path(path: str) -> str:
    """Where the content of a file is read: its path, or that of the copy in the meantime."""
    return path.copy if isinstance(path, Spooled) else path


def matching(path: str | os.PathLike[str]) -> list[str]:
    """The files that a pattern such as ``runs/*.parquet`` matches, sorted, without hidden ones; none where a file is called so itself."""
    pattern = os.fspath(path)
    if not glob.has_magic(pattern) or os.path.exists(pattern):
        return []
    found = sorted(glob.glob(pattern, recursive=True))
    asked = os.path.basename(pattern).startswith(
        "_"
    )  # else Spark's _SUCCESS and the like are left out
    return [file for file in found if asked or not os.path.basename(file).startswith("_")]


def parts_of(path: str | os.PathLike[str]) -> list[str]:
    """The files that are read as one: those that match a pattern, and the Parquet files of a folder, as Spark writes it.

    None of any other path, nor of a folder in which there is something else that is not hidden.
    """
    if found := matching(path):
        return [part for file in found for part in parts_of(file) or [file]]
    if not os.path.isdir(path):
        return []
    parts = sorted(file for file in Path(path).iterdir() if not file.name.startswith((".", "_")))
    return [str(part) for part in parts] if all(part.suffix == ".parquet" for part in parts) else []


def is_parquet(path: str) -> bool:
    """Whether a file is read as Parquet: by its name, or by its content."""
    if kind_of_file(path) == ".parquet":
        return True
    content = content_path(path)
    if not os.path.isfile(content) or os.path.getsize(content) < 12:
        return False
    with open(content, "rb") as stream:
        start = stream.read(4)
        stream.seek(-4, os.SEEK_END)
        return start == stream.read() == b"PAR1"


def first_line(path: str) -> str:
    """The first line of a text file that is neither empty nor a comment, as far as it is not very long; or the first comment."""
    lines = [line for line in first_text(path, 2**16).split("\n") if line.strip()]
    return next(
        (line for line in lines if not line.lstrip().startswith("#")), lines[0] if lines else ""
    )


def first_text(path: str, size: int = 4096) -> str:
    """The beginning of a text file, however it is compressed."""
    with _open(path) as stream:
        return _read(stream, path, size).decode("utf-8-sig", "replace")


def text_of_file(path: str) -> str:
    """All of a text file, however it is compressed, without a byte order mark; a ``ValueError`` where it is not UTF-8."""
    size = os.path.getsize(existing_file(path))
    blocks, read = [], 0
    with _open(path) as stream:
        while block := _read(stream, path, _BLOCK):
            blocks.append(block)
            read += len(block)
            if read > _HARMLESS and read > _MOST_PACKED * size:
                raise ValueError(
                    f"{path}: {size:,} bytes hold more than {read:,}; this looks like an attack, not data"
                )
    try:
        return b"".join(blocks).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + error.object.count(b"\n", 0, error.start)
        raise ValueError(f"{path}, line {line}: not UTF-8 ({error.reason})") from None


def parsed_json(text: str, path: str, first_line: int = 1) -> Any:
    """What a JSON text that begins in a line of a file holds.

    Raises:
        ValueError: it is no JSON, nested too deeply, or an object names something twice with
            different values, of which one would be lost. The same number twice is one number.
    """

    def an_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) == len(pairs):
            return content
        first_value: dict[str, Any] = {}
        for name, value in pairs:
            first = first_value.setdefault(name, value)
            if first is not value and not (isinstance(value, (int, float)) and first == value):
                raise ValueError(f"{path}: {name!r} occurs twice in one JSON object")
        return content

    def integer(
        digits: str,
    ) -> int | float:  # one beyond the largest float as JSON's 1e999 is read: infinite
        return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)

    try:
        content = json.loads(text, object_pairs_hook=an_object, parse_int=integer)
        if _SURROGATE.search(text):
            json.dumps(content, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path}, line {first_line + error.lineno - 1}: taken for JSON, but {error.msg}"
        ) from None
    except RecursionError:
        raise ValueError(f"{path}: taken for JSON, but nested too deeply") from None
    except UnicodeEncodeError as error:
        half = error.object[error.start].encode("ascii", "backslashreplace").decode()
        raise ValueError(
            f"{path}: taken for JSON, but {half} is half a character (a lone surrogate)"
        ) from None
    return content


def json_values(text: str, path: str) -> list[tuple[int, Any]]:
    """The JSON value of each line, if the first of several lines is a whole object, else that of the text; with their lines."""
    first, _, rest = text.strip().partition("\n")
    try:
        by_line = bool(rest) and first.startswith("{") and bool(parsed_json(first, path))
    except ValueError:  # an object over several lines
        by_line = False
    numbered = enumerate(text.split("\n"), start=1) if by_line else [(1, text)]
    return [(n, parsed_json(line, path, n)) for n, line in numbered if line.strip()]


def kind_of_file(path: str) -> str:
    """The ending that tells a file's format, without that of the compression."""
    return Path(without_compression(path)).suffix.lower()


def without_compression(path: str) -> str:
    """A file's name without the ending of its compression."""
    name, ending = os.path.splitext(path)
    return name if ending.lower() in _UNPACKERS else path


def _open(path: str) -> BinaryIO:
    """Open a text file; a compressed one is known by its ending, or by its content."""
    content = existing_file(path)
    with open(content, "rb") as stream:
        beginning = stream.read(16)
    for start, kind in _FOREIGN.items():
        if beginning.startswith(start):
            raise ValueError(f"{path} cannot be read: it is {kind}")
    ending = Path(path).suffix.lower()
    if ending not in _UNPACKERS:
        ending = next(
            (packed for start, packed in _NO_TEXT.items() if beginning.startswith(start)), ""
        )
    if not ending:
        return open(content, "rb")
    for module in _UNPACKERS[ending]:
        with contextlib.suppress(ModuleNotFoundError):
            opened: BinaryIO = importlib.import_module(module).open(content, "rb")
            return opened
    raise ValueError(needs("reading .zst", "backports.zstd", "files"))


def existing_file(path: str) -> str:
    """Where to read a file."""
    content = content_path(path)
    if Path(content).is_dir():
        raise ValueError(f"{path} is a directory, not a file")
    if not Path(content).exists():
        said = (
            "no file matches this pattern" if glob.has_magic(content) else "there is no such file"
        )
        if found := matching(content):
            said = f"{len(found)} files match this pattern; name one"
        raise ValueError(f"{path}: {said}")
    return content


def _read(stream: BinaryIO, path: str, size: int, *, line: bool = False) -> bytes:
    """Read ``size`` bytes, at most; with ``line``, to the end of the line."""
    try:
        return stream.readline(size) if line else stream.read(size)
    except MemoryError:
        raise
    except Exception as error:  # each compression has errors of its own
        raise ValueError(f"{path} cannot be read: {str(error) or type(error).__name__}") from None


def blocks_of_file(path: str) -> Iterator[bytes]:
    """Yield a text file's content in blocks of whole lines, the last of which gets an end if it has none."""
    for block in raw_blocks(path):
        yield block if block.endswith(b"\n") else block + b"\n"


def raw_blocks(path: str) -> Iterator[bytes]:
    """Yield a text file's content in blocks of whole lines, without a byte order mark.

    Raises:
        ValueError: a line is longer than ``LONGEST``, or the file cannot be read.
    """
    with _open(path) as stream:
        block = _read(stream, path, _BLOCK)
        if block.startswith(_BYTE_ORDER_MARK):
            block = block.removeprefix(_BYTE_ORDER_MARK) or _read(stream, path, _BLOCK)
        for number in count():
            if not block:
                return
            if not block.endswith(b"\n"):
                block += _read(stream, path, LONGEST + 1, line=True)
            _check_lengths(path, number, block)
            yield block
            block = _read(stream, path, _BLOCK)


def _check_lengths(path: str, number: int, block: bytes) -> None:
    """Raise if a line of the file's block ``number`` is too long for a text."""
    whole = block if block.endswith(b"\n") else block + b"\n"
    end = 0
    while end < len(whole):
        start, end = end, whole.rfind(b"\n", end, end + LONGEST + 1) + 1
        if not end:
            earlier = islice(raw_blocks(path), number)
            line = 1 + whole.count(b"\n", 0, start) + sum(map(_count_lines, earlier))
            raise ValueError(
                f"{path}, line {line}: longer than {LONGEST:,} bytes; is this a text file?"
            )


def _count_lines(block: bytes) -> int:
    return block.count(b"\n")


@contextlib.contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file whole or not at all: yield a temporary file's path, which replaces ``path`` when the block ends.

    The temporary file stands beside ``path`` and has its ending. Whatever ends the block early (an
    error, Ctrl-C, a full disk) leaves ``path`` as it was. What is not a regular file
    (``/dev/stdout``, a pipe) gets the content when all of it is there.

    Args:
        path: the file to write. A link stays, and the file that it points to is replaced; an
            existing file keeps its permissions.

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
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a directory", os.fspath(path))
    there = target.exists()
    special = there and not target.is_file()
    permissions = stat.S_IMODE(target.stat().st_mode) if there else 0o666
    folder = Path(tempfile.gettempdir()) if special else target.parent
    temporary = folder / f".ir-lexirecall-{secrets.token_hex(8)}{target.suffix}"
    try:
        os.close(
            os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if special else permissions
            )
        )
        yield temporary
        if special:
            with open(temporary, "rb") as content, open(target, "wb") as stream:
                shutil.copyfileobj(content, stream)
        else:
            if there:
                os.chmod(temporary, permissions)
            os.replace(temporary, target)
    except OSError as error:
        if error.errno is None or error.filename not in (None, str(temporary), str(target)):
            raise
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()  # unless it has replaced the target
