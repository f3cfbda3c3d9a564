"""What files of runs and qrels mean, in slow, obvious code: the readers must agree with it, or refuse by name."""

from __future__ import annotations

import math
import re
from typing import Any

from ir_lexirecall.io.checks import check_not_cut
from ir_lexirecall.io.schemas import Cut

_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)",
    re.ASCII | re.IGNORECASE,
)
_BLANK = re.compile(rb"[ \t\r\v\f]+")
_RUN = ("query_id", "iteration", "doc_id", "rank", "score", "tag")
_QRELS = ("query_id", "iteration", "doc_id", "relevance")


class Refused(Exception):
    """The file breaks a rule."""


def number(text: str, value: str = "score") -> float:
    """A number in decimal notation; of grades, truth values are some, too."""
    if value == "relevance" and text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    if not _NUMBER.fullmatch(text):
        raise Refused(f"no number: {text!r}")
    return float(text)


def rows_of_lines(content: bytes, value: str) -> list[tuple[str, str, float]]:
    """Query, document and number of every line of a run (``value='score'``) or of qrels (``'relevance'``)."""
    fields = _RUN if value == "score" else _QRELS
    rows = []
    for line in content.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        parts = [part for part in _BLANK.split(line) if part]
        if not parts or parts[0].startswith(b"#"):  # a comment
            continue
        if len(parts) > len(fields) and value == "score" and may_end_with_a_tag(parts):
            parts = parts[: len(fields)]
        if len(parts) != len(fields):
            raise Refused("fields")
        texts = dict(zip(fields, map(text_of, parts), strict=True))
        rows.append((texts["query_id"], texts["doc_id"], number(texts[value], value)))
    check_end(content, value, list(fields), None)
    return rows


def may_end_with_a_tag(parts: list[bytes]) -> bool:
    """Whether rank and score stand where they should in a run's line, and what follows is no number."""
    texts = [text_of(part) for part in parts]
    return bool(
        re.fullmatch(r"[+-]?\d+", texts[3])
        and _NUMBER.fullmatch(texts[4])
        and not _NUMBER.fullmatch(texts[5])
    )


def check_end(
    content: bytes, value: str, names: list[str], separator: str | None
) -> None:
    """Refuse what may be cut within its last number."""
    part = None if separator is None else separator.encode()
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if separator is None:
        lines = [b"" if line.strip().startswith(b"#") else line for line in lines]
    last = lines[-1]
    if (
        names[-1] != value
        or last != last.rstrip()
        or len(last.split(part)) != len(names)
    ):
        return
    texts = [
        line.rstrip().rsplit(part, 1)[-1].decode("utf-8", "replace").strip(" \t")
        for line in lines
        if line.rstrip()
    ]
    try:
        check_not_cut(
            texts, Cut.IF_SHORTER if value == "score" else Cut.IF_LONGER, lambda: "file"
        )
    except ValueError:
        raise Refused("cut") from None


def text_of(part: bytes) -> str:
    """UTF-8."""
    try:
        return part.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("UTF-8") from None


def rows_of_table(
    content: bytes, value: str, separator: str
) -> list[tuple[str, str, float]]:
    """Query, document and number of every row of a table with a header; quotation marks in CSV only."""
    text = text_of(content.removeprefix(b"\xef\xbb\xbf"))
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if separator == "\t":
        records = [line.split("\t") for line in lines if line.strip(" \t\v\f")]
    else:
        records = list(quoted_records(lines))
    if not records:
        return []
    header, *rows = records
    if not {"query_id", "doc_id", value} <= set(header):
        raise Refused("header")
    found = []
    for record in rows:
        if len(record) > len(header):
            raise Refused("fields")
        cells = dict(
            zip(header, record + [""] * (len(header) - len(record)), strict=True)
        )
        if "" in (cells["query_id"], cells["doc_id"], cells[value]):
            raise Refused("missing")
        found.append(
            (
                cells["query_id"],
                cells["doc_id"],
                number(cells[value].strip(" \t"), value),
            )
        )
    check_end(content, value, header, separator)
    return found


def quoted_records(lines: list[str]) -> Any:
    """The records of CSV, character by character."""
    record: list[str] = []
    field = ""
    state = "start"  # of a field; or within quotes, after a closing quote, in a field without quotes
    for place, line in enumerate(lines):
        if state == "quoted":
            if place == len(lines):
                raise Refused("quotes")
            field += "\n"
        elif not line.strip(" \t\v\f"):
            continue
        for character in line:
            if state == "quoted":
                state = "closed" if character == '"' else state
                field += "" if character == '"' else character
            elif state == "closed" and character == '"':
                field, state = field + '"', "quoted"
            elif character == ",":
                record.append(field)
                field, state = "", "start"
            elif state == "closed":
                raise Refused("after quotes")
            elif state == "start" and character == '"':
                state = "quoted"
            elif character == "\r":
                raise Refused("a carriage return without quotes")
            else:
                field, state = field + character, "plain"
        if state != "quoted":
            yield [*record, field]
            record, field, state = [], "", "start"
    if state == "quoted":
        raise Refused("quotes")


def rows(content: bytes, value: str, kind: str) -> list[tuple[str, str, float]]:
    """The rows of a run or of qrels; kinds are ``'lines'``, ``'csv'`` and ``'tsv'``."""
    found = (
        rows_of_lines(content, value)
        if kind == "lines"
        else rows_of_table(content, value, _SEPARATORS[kind])
    )
    if not all(math.isfinite(score) for *_, score in found):
        raise Refused("no finite number")
    return found


_SEPARATORS = {"csv": ",", "tsv": "\t"}
