"""Logs of inspect_ai in its archives (`.eval`), whole or cut off by a crash."""

from __future__ import annotations

import contextlib
import mmap
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from ir_lexirecall._util.errors import needs
from ir_lexirecall._util.lazy import installed
from ir_lexirecall.io.archives import check_unpacked_size
from ir_lexirecall.io.files import UNPACKERS, File, member_json

_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"""Signature, version, flags, method, time, date, checksum, two sizes, lengths of name and extra."""
_SIGNATURE = b"PK\x03\x04"
_LARGEST = 2**31  # bytes of all samples of a log
_ZSTD = 93
_ENCRYPTED = 1  # the bit among the flags of a file in an archive
_HEADERS = ("header.json", "_journal/start.json", "summaries.json")


def is_archive(file: File) -> bool:
    """Return whether a file begins as a zip archive does; its end may be missing."""
    return file.beginning.startswith(_SIGNATURE)


def log_of_archive(file: File) -> dict[str, Any]:
    """Return a log as inspect_ai writes it in JSON: what it is of, and its samples.

    A run that crashed leaves an archive without `header.json`; what it is of is in its journal.

    Raises:
        ValueError: it is not a log of inspect_ai, or is damaged.
    """
    path = file.path
    try:
        texts = _texts_of_archive(file)
    except NotImplementedError:
        # Like `zipfile`, the functions below raise it for a compression that they cannot read.
        raise ValueError(
            needs("reading this .eval file", "backports.zstd", "files")
        ) from None
    header = next((name for name in _HEADERS[:2] if name in texts), None)
    log = None if header is None else _json_in_archive(texts, header, path)
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
        raise ValueError(
            f"{path}: a zip archive that is not a log of inspect_ai; unpack it, or save a "
            "spreadsheet as CSV"
        )
    if header != "header.json":
        log["status"] = "started"
    if "summaries.json" in texts:
        log["samples"] = _json_in_archive(texts, "summaries.json", path)
    else:
        names = sorted(name for name in texts if name.startswith("samples/"))
        log["samples"] = [_json_in_archive(texts, name, path) for name in names]
    return log


def _json_in_archive(texts: Mapping[str, bytes], name: str, path: str) -> Any:
    """Return the content of a JSON file in an archive.

    Raises:
        ValueError: it is not JSON in UTF-8.
    """
    try:
        text = texts[name].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} ({name}): not UTF-8 ({error.reason}); write the log again"
        ) from None
    return member_json(text, f"{path} ({name})")


def _texts_of_archive(file: File) -> dict[str, bytes]:
    """Return the files in an archive that are whole.

    Raises:
        ValueError: one is damaged, or they are too large.
        NotImplementedError: their compression is not known.
    """
    path, content = file.path, file.content
    # From Python 3.14 on, `zipfile` itself reads Zstandard.
    module = installed("backports.zstd.zipfile", "zipfile")
    if not zipfile.is_zipfile(content):
        with (
            open(content, "rb") as stream,
            mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return _whole_members(data, path)
    try:
        with module.ZipFile(content) as archive:
            return _samples_or_summaries(archive, path)
    except (module.BadZipFile, OSError, *_faults()) as error:
        # An OSError, too: a damaged table of contents makes zipfile seek before the beginning.
        raise ValueError(f"{path}: the archive is damaged: {error}") from None


def _names_in_log(members: Iterable[str]) -> list[str]:
    """Return the files of an archive that say what a log is of, and its samples or summaries."""
    names = [name for name in members if name in _HEADERS]
    if "summaries.json" in names:
        return names
    return names + [name for name in members if name.startswith("samples/")]


def _samples_or_summaries(archive: Any, path: str) -> dict[str, bytes]:
    """Return the files of a whole archive that say what a log is of, and its samples.

    Raises:
        ValueError: they are too large, or encrypted.
    """
    members = {member.filename: member for member in archive.infolist()}
    names = _names_in_log(members)
    n_packed = sum(members[name].compress_size for name in names)
    n_bytes = sum(members[name].file_size for name in names)
    check_unpacked_size(f"{path}: its content", n_packed, n_bytes, _LARGEST)
    encrypted = [name for name in names if members[name].flag_bits & _ENCRYPTED]
    if encrypted:
        raise ValueError(f"{path}: {encrypted[0]} in the archive is encrypted")
    return {name: archive.read(name) for name in names}


def _whole_members(data: mmap.mmap, path: str) -> dict[str, bytes]:
    """Return the files of an archive without a table of contents, up to where it was cut off.

    Raises:
        ValueError: nothing is whole, a file is damaged, or they are too large.
    """
    members = {}
    start = n_bytes = 0
    while (
        data[start : start + 4] == _SIGNATURE
        and len(data) >= start + _LOCAL_HEADER.size
    ):
        fields = _LOCAL_HEADER.unpack_from(data, start)
        name_at = start + _LOCAL_HEADER.size
        begin = name_at + fields[9] + fields[10]
        packed_size, size = fields[7], fields[8]
        end = begin + packed_size
        if not packed_size or end > len(data):
            break
        n_bytes += size
        check_unpacked_size(f"{path}: its content", end, n_bytes, _LARGEST)
        name = data[name_at : name_at + fields[9]].decode("utf-8", "replace")
        try:
            members[name] = _unpacked(data[begin:end], method=fields[3], size=size)
        except _faults() as error:
            raise ValueError(
                f"{path}: {name} in the archive is damaged: {error}"
            ) from None
        start = end
    if not members:
        raise ValueError(f"{path}: the archive is cut off, and nothing in it is whole")
    return members


def _unpacked(data: bytes, method: int, size: int) -> bytes:
    """Return the content of a file in an archive, of which no more is unpacked than it says.

    Raises:
        NotImplementedError: its compression is not known.
    """
    if method == zipfile.ZIP_STORED:
        return data
    if method == zipfile.ZIP_DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, size)
    if method == _ZSTD:
        content: bytes = _zstd_module().ZstdDecompressor().decompress(data, size)
        return content
    raise NotImplementedError(f"compression method {method}")


def _faults() -> tuple[type[Exception], ...]:
    """Return the errors of damaged archives."""
    faults = [zipfile.BadZipFile, zlib.error, EOFError]
    with contextlib.suppress(NotImplementedError):
        faults.append(_zstd_module().ZstdError)
    return tuple(faults)


def _zstd_module() -> Any:
    """Return the module that reads Zstandard.

    Raises:
        NotImplementedError: it is not installed.
    """
    module = installed(*UNPACKERS[".zst"])
    if module is None:
        raise NotImplementedError("no module that reads Zstandard is installed")
    return module
