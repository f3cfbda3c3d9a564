"""Files, however they are packed, read whole or in blocks of lines, or written whole."""

from __future__ import annotations

import codecs
import contextlib
import errno
import glob
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeAlias

from ir_lexirecall._util.errors import naming, needs, shown
from ir_lexirecall._util.lazy import cached_property, installed
from ir_lexirecall._util.paths import PathLike
from ir_lexirecall.io.archives import HARMLESS, check_unpacked_size
from ir_lexirecall.io.names import RUN_FIELDS

Location = Callable[[int], str]
"""From the number of a line to what messages call it."""
JSONObject: TypeAlias = Mapping[str, Any]
Records: TypeAlias = list[tuple[int, Any]]
"""JSON values in a file, each with the number of its line."""
STDIN = "-"  # how standard input is called where a path is expected
LONGEST = 2**20
"""Bytes of a line: what is longer is refused."""
_BLOCK = 8 * 2**20  # bytes
_BEGINNING = 2**16  # bytes in which the first line is looked for
_PARQUET = b"PAR1"  # how Parquet files begin and end
_METADATA = b"# ir_metadata.start"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MARK_OF_PART = b"\n" + _BYTE_ORDER_MARK
"""Byte order mark at the beginning of a line: another file was appended there."""
_LARGEST_COPY = 2**34  # bytes of a pipe: a run has 160 million lines in them
_LEAST_FREE = 2**30  # bytes of the disk to which a pipe is copied
_SEPARATOR_LINES = re.compile(
    rb'\A(?:[ \t\r\n]*+"?sep=[,;\t|]"?[ \t]*+(?:\r\n?|\n))++', re.I
)
"""The first lines of a file, if they only tell Excel its separator."""
BLANKS = " \t\n\v\f\r"
"""ASCII characters that separate words, but may stand in an id of JSON, Parquet or a dict."""
UNSEEN = "\0\x7f"
"""Further ASCII characters that programs leave in ids, where nobody sees them."""
_ZEROS = bytes(512)
_BEGINS_WITH_ZEROS = "cannot be read: it begins with zeros (NUL), not with a text"
"""Fault of devices, and of files without content."""
_NOTES_OF_SPARK = re.compile(
    r"_(SUCCESS|(common_)?metadata|committed_.*|started_.*|temporary|delta_log)(\..*)?"
)
"""Names of files in which Spark and its like write that a table is whole, and about it."""
_ABOUT_FILES = re.compile(r"(readme|licen[cs]e|copying|notice)(\.\w+)?", re.I)
_MOST_DIGITS = 300
_BEGUN_VALUE = re.compile(r"[\w.+-]*\s*")
"""The beginning of a number or word of JSON, or nothing, at the end of a text."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# Modules, of which the first one that is installed is taken: isal is several times faster.
UNPACKERS: dict[str, tuple[str, ...]] = {
    ".gz": ("isal.igzip", "gzip"),
    ".bz2": ("bz2",),
    ".xz": ("lzma",),
    ".zst": ("compression.zstd", "backports.zstd"),
}
# Beginnings that no text has.
_NO_TEXT = {
    b"\x1f\x8b": ".gz",
    **{b"BZh%d1AY&SY" % n: ".bz2" for n in range(1, 10)},
    b"\xfd7zXZ\0": ".xz",
    b"\x28\xb5\x2f\xfd": ".zst",
}
_FOREIGN = {
    b"ARROW1": "a Feather (Arrow IPC) file; give the table that polars.read_ipc or "
    "pandas.read_feather makes of it",
    b"FEA1": "a Feather file; give the table that pandas.read_feather makes of it",
    b"\xff\xff\xff\xff": "a stream of Arrow IPC; give the table that polars.read_ipc_stream or "
    "pyarrow.ipc.open_stream makes of it",
    b"\x93NUMPY": "an array of NumPy; give a frame made of it",
    b"\x80\x04\x95": "a pickle; give the object that it holds",
    b"\x80\x05\x95": "a pickle; give the object that it holds",
    b"\x89HDF": "an HDF5 file; give the table that pandas.read_hdf makes of it",
    b"SQLite format 3": "a database of SQLite; give a table of it",
    b"\xd0\xcf\x11\xe0": "a spreadsheet of Excel; save it as CSV",
    b"\x04\x22\x4d\x18": "compressed with LZ4; unpack it (lz4 -d)",
    **dict.fromkeys(
        (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
        "a text in UTF-16, as PowerShell writes it; save it as UTF-8",
    ),
    b"PK\x03\x04": "a zip archive; unpack it, or save a spreadsheet as CSV",
}


@dataclass
class Oddity:
    """Whether a run has odd ids: not plain ASCII, or with blanks around them.

    Attributes:
        is_possible: whether the bytes that were read may hold such ids.
        is_sure: whether such an id was read.
    """

    is_possible: bool = False
    is_sure: bool = False

    def watched(
        self, blocks: Iterator[bytes], blanks: Iterable[str]
    ) -> Iterator[bytes]:
        """Yield blocks of a text unchanged, and note whether they may hold odd ids."""
        for block in blocks:
            self.look_at(block, blanks)
            yield block

    def look_at(self, letters: bytes, blanks: Iterable[str]) -> None:
        """Note whether ids in these bytes may be odd: not ASCII, or with one of these blanks."""
        signs = [sign.encode() for sign in (*blanks, *UNSEEN)]
        if not letters.isascii() or any(_contains(letters, sign) for sign in signs):
            self.is_possible = True


@dataclass(frozen=True, eq=False)
class File:
    """A file, opened once to see how it is packed and how it begins.

    It can be read several times, also by several threads: each reading opens it anew.

    Attributes:
        path: the path, as messages name it.
        content: where the content is read: the path, or the copy of a pipe or of standard input.
        packing: the ending of the compression, such as ``.gz``; empty without one.
        is_parquet: whether the file is read as Parquet, by its name or its content.
        beginning: the first bytes, unpacked; empty of Parquet.
        oddity: whether a run that was read from it has odd ids.
    """

    path: str
    content: str
    packing: str
    is_parquet: bool
    beginning: bytes = field(repr=False)
    oddity: Oddity = field(default_factory=Oddity, repr=False)

    @classmethod
    def opened(cls, path: PathLike) -> Self:
        """Return a file; a pipe and standard input (``-``) are copied to a private temporary file.

        Raises:
            ValueError: there is no such file, or it cannot be read.
        """
        name = os.fspath(path)
        is_there = os.path.exists(name) or name == STDIN
        if not is_there or os.path.isfile(name) or os.path.isdir(name):
            return cls._seen(name, name)
        folder = _folder_with_copy(name)
        file = cls._seen(name, os.path.join(folder, "content"))
        weakref.finalize(file, _remove, folder, os.getpid())
        return file

    @classmethod
    def _seen(cls, path: str, content: str) -> Self:
        """Open a file and look at its first bytes."""
        if os.path.isdir(content):
            raise ValueError(f"{path} is a directory, not a file; {_way_out(path)}")
        if not os.path.exists(content):
            raise ValueError(f"{path}: {_why_missing(content)}")
        name = os.path.basename(path)
        is_parquet = kind_of_file(name) == ".parquet"
        with open(content, "rb") as stream:
            beginning = stream.read(_BEGINNING)
            if (
                not is_parquet
                and beginning[:4] == _PARQUET
                and os.path.getsize(content) >= 12
            ):
                stream.seek(-4, os.SEEK_END)
                is_parquet = stream.read() == _PARQUET
        if is_parquet:
            return cls(path, content, "", is_parquet=True, beginning=b"")
        packing = _packing_of(name, beginning)
        file = cls(path, content, packing, is_parquet=False, beginning=beginning)
        if not packing:
            return file
        with file._stream() as stream:
            return replace(file, beginning=file._read(stream, _BEGINNING))

    @property
    def ending(self) -> str:
        """The ending that tells the format, without that of the compression."""
        return kind_of_file(os.path.basename(self.path))

    @cached_property
    def first_line(self) -> str:
        """Return the first line with content that is no comment, or else the first comment.

        Raises:
            ValueError: it is not a text, or its lines do not end with line feeds.
        """
        self._check_is_text()
        text = _without_marks_on_top(self.beginning).decode("utf-8", "replace")
        with naming(self.path):
            check_line_ends(text)
        first_comment = ""
        for line in text.split("\n"):
            if line.strip(" \t\v\f\r,;") and not line.lstrip().startswith("#"):
                return line
            first_comment = first_comment or (line.strip() and line)
        return first_comment

    @property
    def is_json(self) -> bool:
        """Whether the first line starts as JSON does.

        A line of six fields without quotation marks is TREC's, whatever it starts with.
        """
        line = self.first_line.lstrip("\ufeff \t\r\n")
        if not line.startswith(("{", "[")):
            return False
        return '"' in line or len(line.split()) != len(RUN_FIELDS)

    @property
    def metadata(self) -> str:
        """A run's ir-metadata: comments on top, or ``ir-metadata.yml`` beside it; empty without."""
        if self.beginning.removeprefix(_BYTE_ORDER_MARK).startswith(_METADATA):
            block = next(self.blocks())
            end = block.find(b"\n# ir_metadata.end")
            if end >= 0:
                comments = block[:end].decode("utf-8", "replace").splitlines()[1:]
                return "\n".join(
                    line.removeprefix("#").removeprefix(" ") for line in comments
                )
        path = Path(self.path)
        other = path.parent / "ir-metadata.yml"
        if is_of_tirex(path.name) and other.is_file():
            with open(other, "rb") as stream:
                return stream.read(LONGEST).decode("utf-8", "replace").rstrip("\n")
        return ""

    def line_name(self, line: int) -> str:
        """Return the label of a line in messages."""
        return f"{self.path}, line {line}"

    def line_of_block(self, number: int, skipped: bytes, line: int) -> str:
        """Return the label in messages of a line in a block whose first bytes were skipped."""
        # Lines are counted only where one must be named.
        earlier = islice(self.blocks(), number)
        return self.line_name(
            skipped.count(b"\n") + sum(block.count(b"\n") for block in earlier) + line
        )

    def start(self, size: int) -> str:
        """Return the first bytes of a text, unpacked."""
        with self._stream() as stream:
            return self._read(stream, size).decode("utf-8-sig", "replace")

    def text(self, most: int = sys.maxsize) -> str:
        """Return the whole text, without a byte order mark.

        Args:
            most: the limit, in bytes.

        Raises:
            ValueError: it is not UTF-8, larger than the limit, or cannot be read.
        """
        blocks: list[bytes] = []
        length = 0
        with self._stream() as stream:
            while block := self._read(stream, _BLOCK):
                if not blocks and block.startswith(_ZEROS):
                    raise ValueError(f"{self.path} {_BEGINS_WITH_ZEROS}")
                blocks.append(block)
                length += len(block)
                self._check_size(length, most)
        content = b"".join(blocks)
        if b"\0" in content:
            self._refuse_zeros(0, content)
        with naming_lines(self.line_name):
            content = _without_marks_on_top(content)
            return _without_marks_of_parts(content).decode("utf-8")

    def json(self) -> Any:
        """Return the content of a JSON file.

        Raises:
            ValueError: it is not JSON, or cannot be read.
        """
        return self.parsed_json(self.text())

    def parsed_json(self, text: str, first_line: int = 1) -> Any:
        """Return the content of a JSON text of the file; see ``parsed_json``."""
        with naming(self.path):
            return parsed_json(text, self.line_name, first_line)

    def json_values(self) -> Records:
        """Return the JSON values in the file, with their lines; see ``json_values``."""
        with naming(self.path):
            return json_values(self.text(), self.line_name)

    def blocks(self) -> Iterator[bytes]:
        """Yield the content in blocks of whole lines, without a byte order mark.

        Raises:
            ValueError: a line is longer than ``LONGEST``, or the file cannot be read, or is packed
                too well to be data.
        """
        with self._stream() as stream:
            block = _without_marks_on_top(self._read(stream, _BLOCK))
            block = block or self._read(stream, _BLOCK)
            length = 0
            for number in count():
                if not block:
                    return
                length += len(block)
                self._check_size(length)
                if not block.endswith(b"\n"):
                    block += self._read(stream, LONGEST + 1, line=True)
                self._check_lengths(number, block)
                if b"\0" in block:
                    self._refuse_zeros(number, block)
                yield _without_marks_of_parts(block)
                block = self._read(stream, _BLOCK)

    def _check_size(self, length: int, most: int = sys.maxsize) -> None:
        """Raise if so many unpacked bytes are too many, or packed too well to be data."""
        n_packed = os.path.getsize(self.content)
        with naming(self.path):
            check_unpacked_size("its content", n_packed, length, most)

    def _refuse_zeros(self, number: int, block: bytes) -> None:
        """Raise with the line of the first zero in the block `number`."""
        before = block[: block.index(b"\0")]
        name = self.line_of_block(number, before, 1)
        raise ValueError(
            f"{name}: a zero (NUL) within a text; the file is damaged, or not a text in UTF-8"
        )

    def _check_lengths(self, number: int, block: bytes) -> None:
        """Raise if a line of the block ``number`` is too long for a text."""
        whole = block if block.endswith(b"\n") else block + b"\n"
        end = 0
        while end < len(whole):
            start, end = end, whole.rfind(b"\n", end, end + LONGEST + 1) + 1
            if not end:
                name = self.line_of_block(number, whole[:start], 1)
                raise ValueError(
                    f"{name}: longer than {LONGEST:,} bytes; is this a text file?"
                )

    def _stream(self) -> BinaryIO:
        """Open the file, unpacked."""
        self._check_is_text()
        if not self.packing:
            return open(self.content, "rb")
        unpacker = installed(*UNPACKERS[self.packing])
        if unpacker is None:
            raise ValueError(needs("reading .zst", "backports.zstd", "files"))
        stream: BinaryIO = unpacker.open(self.content, "rb")
        return stream

    def _check_is_text(self) -> None:
        """Raise if the file begins like one of another kind."""
        for start, kind in _FOREIGN.items():
            if self.beginning.startswith(start):
                raise ValueError(f"{self.path} cannot be read: it is {kind}")

    def _read(self, stream: BinaryIO, size: int, *, line: bool = False) -> bytes:
        """Read ``size`` bytes, at most; with ``line``, to the end of the line."""
        try:
            if line:
                return stream.readline(size)
            return stream.read(size)
        except MemoryError:
            raise
        except Exception as error:  # each compression has errors of its own
            reason = str(error) or type(error).__name__
            raise ValueError(f"{self.path} cannot be read: {reason}") from None


def _without_marks_on_top(beginning: bytes) -> bytes:
    r"""Return the beginning of a text without its byte order mark and Excel's separator.

    First lines that only tell Excel the separator become empty.

    >>> _without_marks_on_top(b"\xef\xbb\xbfsep=;\nqid;docno;score\n")
    b'\nqid;docno;score\n'
    """
    text = beginning.removeprefix(_BYTE_ORDER_MARK)
    return _SEPARATOR_LINES.sub(lambda lines: b"\n" * lines[0].count(b"\n"), text)


def _without_marks_of_parts(block: bytes) -> bytes:
    r"""Return lines without the byte order marks of files that were appended to each other.

    >>> _without_marks_of_parts(b"a\n\xef\xbb\xbfb\n")
    b'a\nb\n'
    """
    if not _contains(block, _BYTE_ORDER_MARK):
        return block
    return block.removeprefix(_BYTE_ORDER_MARK).replace(_MARK_OF_PART, b"\n")


def _contains(block: bytes, sign: bytes) -> bool:
    """Return whether some bytes, which most files lack, occur in a block.

    Searching a block for one byte is tens of times faster than searching it for two or three,
    so the first byte is searched for first.
    """
    return sign[:1] in block and sign in block


@contextlib.contextmanager
def naming_lines(location: Location) -> Iterator[None]:
    """Let an error of a text that is not UTF-8 begin with its line."""
    try:
        yield
    except UnicodeDecodeError as error:
        line = 1 + error.object.count(b"\n", 0, error.start)
        raise ValueError(f"{location(line)}: not UTF-8 ({error.reason})") from None


def check_line_ends(text: str) -> None:
    """Raise if lines end with carriage returns only, as some old programs write them.

    JSON may have them.
    """
    is_one_line = "\n" not in text and not text.lstrip().startswith(("{", "["))
    if is_one_line and "\r" in text.rstrip():
        raise ValueError(
            "its lines end with carriage returns (CR) only; save it with line feeds (LF)"
        )


def named_files(path: PathLike) -> list[str]:
    """Return the files that are read as one: none if the path names nothing to read.

    Args:
        path: a file, a pipe, ``-``; a pattern such as ``runs/*.parquet``, which stands for the
            files that match it, sorted; or a folder of Parquet files, as Spark writes it. A folder
            that holds something else that is not hidden is nothing to read.

    >>> named_files("-"), named_files("lexirecall/demo")
    (['-'], [])
    """
    name = os.fspath(path)
    matches = matching(name) if glob.has_magic(name) else []
    if matches:
        return list(
            chain.from_iterable(named_files(file) or [file] for file in matches)
        )
    if os.path.isdir(name):
        return _parquet_files(Path(name))
    return [name] if name == STDIN or os.path.exists(name) else []


def _parquet_files(folder: Path) -> list[str]:
    """Return the files of a folder that holds Parquet files only, apart from hidden files."""
    parts = sorted(
        part for part in folder.iterdir() if not part.name.startswith((".", "_"))
    )
    if any(part.suffix != ".parquet" for part in parts):
        return []
    return list(map(str, parts))


def _way_out(folder: str) -> str:
    """Return advice on a folder that was given where a file is expected."""
    names = sorted(name for name in os.listdir(folder) if name[0] not in "._")
    if not names:
        return "there is nothing in it"
    first = os.path.join(folder, names[0])
    if os.path.isdir(first):
        return f"give the files in its folders, such as {first}, or this folder to benchmark"
    pattern = os.path.join(folder, "*")
    return f"give a file in it, such as {first}; the command takes all of them by {pattern}"


def matching(path: PathLike) -> list[str]:
    """Return the files that a pattern matches, sorted, without hidden ones and Spark's notes.

    There are none of a path that is not a pattern, or of a pattern that is also the name of a file.
    """
    pattern = os.fspath(path)
    if not glob.has_magic(pattern) or os.path.exists(pattern):
        return []
    matches = sorted(glob.glob(pattern, recursive=True))
    if os.path.basename(pattern).startswith("_"):
        return matches
    return [
        file
        for file in matches
        if _NOTES_OF_SPARK.fullmatch(os.path.basename(file)) is None
    ]


def _folder_with_copy(path: str) -> str:
    """Copy a pipe, or standard input, to a file ``content`` in a private folder; return the folder.

    Raises:
        ValueError: standard input is closed, or the content may never end.
    """
    if path == STDIN and sys.stdin is None:
        raise ValueError(f"{path}: standard input is closed")
    folder = tempfile.mkdtemp(prefix="ir-lexirecall-")
    try:
        with (
            _opened(path) as stream,
            open(os.path.join(folder, "content"), "wb") as copy,
        ):
            if _is_endless_device(stream):
                raise ValueError(f"{path} is a device, not a file")
            _copy_if_it_ends(stream, copy, path)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _opened(path: str) -> contextlib.AbstractContextManager[BinaryIO]:
    """Open a pipe; standard input, which ``-`` names, is not closed at the end."""
    if path == STDIN and not os.path.exists(path):
        return contextlib.nullcontext(sys.stdin.buffer)
    return open(path, "rb")


def _is_endless_device(stream: BinaryIO) -> bool:
    """Return whether a stream is of a device such as `/dev/zero`: neither a terminal nor empty."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, ValueError):  # standard input that a program has replaced
        return False
    if stat.S_ISBLK(status.st_mode):
        return True
    if not stat.S_ISCHR(status.st_mode) or stream.isatty():
        return False
    return status.st_rdev != os.stat(os.devnull).st_rdev


def _copy_if_it_ends(stream: BinaryIO, copy: BinaryIO, path: str) -> None:
    """Copy a stream to a file.

    Raises:
        ValueError: it begins as no text does that ends, or is larger than the disk or the limit.
    """
    block = stream.read(LONGEST + 1)
    _check_beginning(block, path)
    n_bytes = 0
    while block:
        n_bytes += len(block)
        is_full = shutil.disk_usage(copy.name).free < _LEAST_FREE
        if n_bytes > _LARGEST_COPY or (is_full and n_bytes > HARMLESS):
            raise ValueError(
                f"{path}: {n_bytes:,} bytes are read, and more follow; does it end? Write it to "
                "a file, and give that"
            )
        copy.write(block)
        block = stream.read(_BLOCK)


def _check_beginning(block: bytes, path: str) -> None:
    """Raise if the first bytes of a stream show that it holds no text that ends.

    Args:
        block: more bytes than a line may have, unless the stream has less.
        path: what messages call the stream.
    """
    if block.startswith(_ZEROS):
        raise ValueError(f"{path} {_BEGINS_WITH_ZEROS}")
    if len(block) <= LONGEST:
        return
    lines = block.split(b"\n")
    if len(lines) > 2 and len({*lines[:-1]}) == 1:
        line = shown(lines[0].decode("utf-8", "replace"))
        raise ValueError(f"{path}: the line {line} is repeated again and again")
    if block.startswith((_PARQUET, *_NO_TEXT, *_FOREIGN)):
        return
    with naming_lines(lambda line: f"{path}, line {line}"):
        codecs.getincrementaldecoder("utf-8")().decode(block)  # it may end in a letter
    is_json = block.lstrip().startswith((b"{", b"["))
    if len(lines) == 1 and not is_json:
        raise ValueError(
            f"{path}, line 1: longer than {LONGEST:,} bytes; is this a text file?"
        )


def _remove(folder: str, process: int) -> None:
    """Remove a folder in the process that made it, not in one forked from it."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _why_missing(path: str) -> str:
    """Return the message on a path without a file."""
    matches = matching(path)
    if matches:
        return f"{len(matches)} files match this pattern; name one"
    if glob.has_magic(path):
        return "no file matches this pattern; correct it"
    return "there is no such file"


def _packing_of(name: str, beginning: bytes) -> str:
    """Return the compression of a text file, by its ending or its content."""
    ending = Path(name).suffix.lower()
    if ending in UNPACKERS:
        return ending
    for start, packing in _NO_TEXT.items():
        if beginning.startswith(start):
            return packing
    return ""


def _parsed_integer(digits: str) -> int | float:
    """Return an integer of JSON; infinity beyond the largest float, as JSON's 1e999 is read."""
    if len(digits) <= _MOST_DIGITS:
        return int(digits)
    return float(digits)


def _fault_of_json(error: json.JSONDecodeError) -> str:
    """Return what is wrong with a JSON text: whether it is cut off, or what the parser says."""
    begins_value = _BEGUN_VALUE.fullmatch(error.doc, error.pos) is not None
    is_cut = begins_value and error.msg != "Extra data"
    if is_cut or error.msg.startswith("Unterminated"):
        return "it ends within a value; was it cut off?"
    return error.msg


def parsed_json(text: str, location: Location, first_line: int = 1) -> Any:
    """Return the content of a JSON text that begins in a line of a file.

    Errors name the line where one is at fault; what calls this names the file (``naming``).

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
            is_same_number = isinstance(value, (int, float)) and first == value
            if first is not value and not is_same_number:
                raise ValueError(f"{name!r} occurs twice in one JSON object")
        return content

    try:
        content = json.loads(
            text, object_pairs_hook=an_object, parse_int=_parsed_integer
        )
        if _SURROGATE.search(text):
            json.dumps(content, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        line = location(first_line + error.lineno - 1)
        raise ValueError(
            f"{line}: taken for JSON, but {_fault_of_json(error)}"
        ) from None
    except RecursionError:
        raise ValueError("taken for JSON, but nested too deeply") from None
    except UnicodeEncodeError as error:
        half = error.object[error.start].encode("ascii", "backslashreplace").decode()
        raise ValueError(
            f"taken for JSON, but {half} is half a character (a lone surrogate)"
        ) from None
    return content


def member_json(text: str, label: str) -> Any:
    """Return the content of a JSON text in an archive; errors call the text by its label."""
    with naming(label):
        return parsed_json(text, lambda line: f"{label}, line {line}")


def json_values(text: str, location: Location) -> Records:
    """Return the JSON values of a text, with their lines.

    There is one for each line if the first of several lines is a whole object, else a single one.
    """
    first, _, rest = text.strip().partition("\n")
    by_line = False
    if rest and first.startswith("{"):
        with contextlib.suppress(ValueError):  # of an object over several lines
            by_line = bool(parsed_json(first, location))
    lines = text.split("\n") if by_line else [text]
    return [
        (number, parsed_json(line, location, number))
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]


def kind_of_file(path: str) -> str:
    """Return the ending that tells a file's format, without that of the compression."""
    return Path(without_compression(path)).suffix.lower()


def without_compression(path: str) -> str:
    """Return a file's name without the ending of its compression."""
    name, ending = os.path.splitext(path)
    return name if ending.lower() in UNPACKERS else path


def is_of_tirex(name: str) -> bool:
    """Return whether a file, by its name, is the run in a folder that TIREx wrote."""
    return without_compression(name) == "run.txt"


def is_about_files(name: str) -> bool:
    """Return whether a file is a README, a licence or the like by its name.

    >>> is_about_files("README.md"), is_about_files("license"), is_about_files("bm25.md")
    (True, True, False)
    """
    return _ABOUT_FILES.fullmatch(name) is not None


@contextlib.contextmanager
def written_whole(path: PathLike) -> Iterator[Path]:
    """Write a file whole or not at all.

    Yields a temporary file's path, which replaces ``path`` when the block ends.

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
        temporary.touch(0o600 if special else permissions, exist_ok=False)
        yield temporary
        if special:
            with open(temporary, "rb") as content, open(target, "wb") as stream:
                shutil.copyfileobj(content, stream)
        else:
            if there:
                os.chmod(temporary, permissions)
            os.replace(temporary, target)
    except OSError as error:
        if error.errno is None or error.filename not in (
            None,
            str(temporary),
            str(target),
        ):
            raise
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()  # unless it has replaced the target
