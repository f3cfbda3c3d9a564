"""Files of every kind, damaged byte by byte, and what must hold of each: ``test_fuzz`` tries some, ``fuzz`` many."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from hypothesis import assume
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall.io.columns import qrel_table, run_table
from tests.faults import plain_reader
from tests.faults.plain_reader import Refused

IDS = [
    "q1",
    "q2",
    "d1",
    "é",
    "文",
    "a,b",
    '"',
    '"x"',
    "'",
    "1",
    "#",
    "\ufeff",
    "\x00",
    "\x1c",
    "\u2028",
    "\u00a0",
    "Q0",
    "query_id",
]
NUMBERS = [
    "1",
    "0",
    "2.5",
    "-2e3",
    ".5",
    "5.",
    "+1",
    "1e400",
    "-inf",
    "Infinity",
    "nan",
    "1e-400",
    "123456789012345678901234567890",
]
NO_NUMBERS = ["1_0", "0x1", "x", "1e", "٣", "1d", "--1", "1,5", "", "e5", "NA", "None", "true"]
BLANKS = [b" ", b" ", b" ", b"\t", b"  ", b" \t ", b"\f", b"\v", b"\r", b"\x1c"]
ENDS = [b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b" \n", b"\n\f\n", b"\n \t\r\n", b"\r"]
STARTS = [b"", b"", b"", b"\xef\xbb\xbf", b"\n", b"\xef\xbb\xbf\n\n", b" "]
BYTES = st.sampled_from(b'\x00\t\n\v\f\r "#,.01eE-_\x80\xc3\xff') | st.integers(0, 255)

ids = st.sampled_from(IDS)
numbers = st.sampled_from(NUMBERS * 4 + NO_NUMBERS)


@st.composite
def damaged(draw: st.DrawFn, content: bytes, most: int = 3) -> bytes:
    """Bytes with some of them changed, taken out, or put in, or the end missing."""
    found = bytearray(content)
    for _ in range(draw(st.integers(0, most))):
        place = draw(st.integers(0, max(len(found) - 1, 0)))
        kind = draw(st.sampled_from(["change", "take", "put", "cut"] if found else ["put"]))
        if kind == "change":
            found[place] = draw(BYTES)
        elif kind == "take":
            del found[place]
        elif kind == "put":
            found.insert(place, draw(BYTES))
        elif draw(st.integers(0, 9)) == 0:
            del found[place:]
    return bytes(found)


@st.composite
def lines(draw: st.DrawFn, value: str) -> bytes:
    """A TREC run, or qrels."""
    content = draw(st.sampled_from(STARTS))
    blank, end = draw(st.sampled_from(BLANKS)), draw(st.sampled_from(ENDS))
    odd = draw(st.integers(0, 3)) == 0
    for row in range(draw(st.integers(0, 8))):
        number = draw(numbers) or "x" if odd else draw(st.sampled_from(NUMBERS[:6]))
        query_id, doc_id = (draw(ids) if odd else f"{name}{row // 3 if name == 'q' else row}" for name in "qd")
        fields = [query_id, "Q0", doc_id, "1", number, "t"] if value == "score" else [query_id, "0", doc_id, number]
        if odd and draw(st.integers(0, 9)) == 0:
            fields.append("more")
        for place, field in enumerate(fields):
            content += (draw(st.sampled_from(BLANKS)) if odd else blank) if place else b""
            content += field.encode()
        content += draw(st.sampled_from(ENDS)) if odd else end
    return draw(damaged(content)) if odd else content


@st.composite
def tables(draw: st.DrawFn, value: str, kind: str) -> bytes:
    """A CSV or TSV file with a header."""
    separator = {"csv": ",", "tsv": "\t"}[kind]
    names = draw(st.permutations(["query_id", "doc_id", value, "note"]))
    quotes = kind == "csv" and draw(st.booleans())

    def cell(text: str) -> str:
        if kind == "csv" and (quotes or draw(st.integers(0, 9)) == 0):
            return '"' + text.replace('"', '""') + '"'
        return text

    content = separator.join(map(cell, names)).encode() + draw(st.sampled_from([b"\n", b"\r\n"]))
    rows = b""
    odd = draw(st.integers(0, 3)) == 0
    for row in range(draw(st.integers(0, 6))):
        cells = {"query_id": draw(ids) if odd else f"q{row // 3}", "doc_id": draw(ids) if odd else f"d{row}"}
        cells[value] = draw(numbers) if odd else draw(st.sampled_from(NUMBERS[:6]))
        cells["note"] = draw(st.sampled_from(["", "x", "2", "a\nb" if kind == "csv" else "y", " "]))
        shown = [cell(cells[name]) for name in names][: None if not odd else draw(st.integers(3, 4))]
        rows += separator.join(shown).encode() + (draw(st.sampled_from(ENDS)) if odd else b"\n")
    return draw(st.sampled_from(STARTS)) + content + (draw(damaged(rows)) if odd else rows)


# -- what must hold ----------------------------------------------------------------------------------------


def check_refusal(error: ValueError, path: Path) -> None:
    """An error begins with the file's name, or says what of the run or the qrels is wrong."""
    assert str(error).removeprefix("evaluate: ").startswith((str(path), "run", "qrels")), error


def check_text(content: bytes, value: str, kind: str, block: int) -> None:
    """A text file is refused by its name exactly where the plain reader refuses it, else it means the same."""
    assume(not content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"[", b"# ir_metadata")))
    assume(not (kind == "lines" and value == "relevance" and b"query_id" in content))  # a header
    try:
        expected: Any = plain_reader.rows(content, value, kind)
    except Refused:
        expected = None
    ending = {"lines": "txt"}.get(kind, kind)
    with tempfile.TemporaryDirectory() as folder, mock.patch("ir_lexirecall.io.content._BLOCK", block):
        path = Path(folder) / f"file.{ending}"
        path.write_bytes(content)
        try:
            table = (run_table if value == "score" else qrel_table)(path)
            found: Any = list(zip(*(table[name].to_list() for name in ("query_id", "doc_id", value)), strict=True))
        except ValueError as error:
            check_refusal(error, path)
            found = None
        assert found == expected, (content, found, expected)
        check_evaluation(path, value, expected)


def check_evaluation(path: Path, value: str, expected: Any) -> None:
    """Evaluated in a file and in dicts, the values are the same; in the command line, problems are one line."""
    table: dict[str, dict[str, float]] = {}
    twice = False
    for query_id, doc_id, number in expected or ():
        docs = table.setdefault(query_id, {})
        twice |= doc_id in docs and (value == "score" or docs[doc_id] != number)
        docs[doc_id] = number
    other = {q: dict.fromkeys(docs, 1) for q, docs in table.items()} or {"q": {"d": 1}}
    given = (other, path) if value == "score" else (path, other)
    meant = (other, table) if value == "score" else (table, other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = irl.evaluate(["TSE", "LR"], *given).to_numpy().tolist()
        except ValueError as error:
            check_refusal(error, path)
            found = None
        if expected is None or twice or (value == "relevance" and not table):
            assert found is None, found
        else:
            assert found == irl.evaluate(["TSE", "LR"], *meant).to_numpy().tolist()
    check_command_line(path, value)


def check_command_line(path: Path, value: str) -> None:
    """The command line ends with exit code 0 or 1, and says one line at most about each problem."""
    other = path.parent / "other.txt"
    other.write_text("q1 0 d1 1\n" if value == "score" else "q1 Q0 d1 1 1 t\n")
    words = [str(other), str(path)] if value == "score" else [str(path), str(other)]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main(["eval", *words, "-m", "LR"])
    said = err.getvalue()
    assert code in (0, 1), said
    assert "Traceback" not in said
    assert "please report" not in said, said
    assert (code == 1) == (out.getvalue() == ""), said
    assert all(line.startswith("ir-lexirecall: ") for line in said.splitlines()), said


PACKERS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "gz": (lambda content: gzip.compress(content, mtime=0), gzip.decompress),
    "bz2": (bz2.compress, bz2.decompress),
    "xz": (lzma.compress, lzma.decompress),
}
RUN = b"".join(b"q%d Q0 d%d 1 %d t\n" % (i // 9, i * 7919 % 10007, -i) for i in range(40))


def check_packed(content: bytes, ending: str) -> None:
    """A compressed run that is damaged is refused by its name, or means what its unpacked content means."""
    try:
        expected: Any = plain_reader.rows(PACKERS[ending][1](content), "score", "lines")
    except Exception:
        expected = None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"run.txt.{ending}"
        path.write_bytes(content)
        try:
            found: Any = run_table(path).rows()
        except ValueError as error:
            check_refusal(error, path)
            found = None
        # Unpackers differ in what they take for the end; whatever is read is the content.
        assert found is None or expected is None or found == expected, (found, expected)
        check_command_line(path, "score")


@st.composite
def packed(draw: st.DrawFn, ending: str) -> bytes:
    """A compressed run, damaged."""
    return draw(damaged(PACKERS[ending][0](RUN), 4))


def parquet(value: str) -> list[bytes]:
    """Parquet files as pandas and Polars write them."""
    import polars

    rng = np.random.default_rng(0)
    table = pd.DataFrame({"query_id": [f"q{i // 9}" for i in range(60)], "doc_id": [f"d{i}" for i in range(60)]})
    table[value] = rng.integers(0, 9, 60) / 2
    written = []
    for options in ({}, {"compression": "zstd"}, {"compression": None}):
        stream = io.BytesIO()
        table.to_parquet(stream, **options)
        written.append(stream.getvalue())
    for packing in ("zstd", "uncompressed"):
        stream = io.BytesIO()
        polars.DataFrame(table).write_parquet(stream, compression=packing)
        written.append(stream.getvalue())
    return written


PARQUET = {value: parquet(value) for value in ("score", "relevance")}


@st.composite
def parquet_files(draw: st.DrawFn, value: str) -> bytes:
    """A Parquet file, damaged."""
    return draw(damaged(draw(st.sampled_from(PARQUET[value])), 5))


def check_parquet(content: bytes, value: str) -> None:
    """A damaged Parquet file is refused by its name, or read: what a page holds is not known to be damaged."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.parquet"
        path.write_bytes(content)
        try:
            table = (run_table if value == "score" else qrel_table)(path)
            assert content not in PARQUET[value] or len(table) == 60
        except ValueError as error:
            check_refusal(error, path)
        check_command_line(path, value)


JSON = [
    json.dumps({"q1": {"d1": 1, "d2": 2.5}, "q2": {"é": -1e9}}),
    json.dumps({"q1": {}}),
    json.dumps({"default": {"test": {"q1": {"d1": 1.0}}}}),
    "\n".join(json.dumps({"query_id": f"q{i}", "results": [{"corpus_id": "d1", "score": i}]}) for i in range(3)),
    "[" * 5000,
]


def check_json(content: bytes, value: str) -> None:
    """JSON that is damaged is refused by the file's name, or means what Python's reader says."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.json"
        path.write_bytes(content)
        try:
            table = (run_table if value == "score" else qrel_table)(path)
        except ValueError as error:
            check_refusal(error, path)
        else:
            with contextlib.suppress(ValueError, AttributeError, KeyError, TypeError):
                plain = json.loads(content.decode("utf-8-sig"))
                rows = [(q, d, float(number)) for q, docs in plain.items() for d, number in docs.items()]
                assert table.rows() == rows
        check_command_line(path, value)


@st.composite
def json_files(draw: st.DrawFn) -> bytes:
    """JSON, damaged."""
    return draw(damaged(draw(st.sampled_from(JSON)).encode(), 4))


BLOCKS = st.sampled_from([7, 40, 200, 2**24])  # the first one holds the empty lines before a header
CASES: dict[str, tuple[tuple[Any, ...], Callable[..., None]]] = {
    **{
        f"{value} lines": ((lines(value), st.just(value), st.just("lines"), BLOCKS), check_text)
        for value in ("score", "relevance")
    },
    **{
        f"{value} {kind}": ((tables(value, kind), st.just(value), st.just(kind), BLOCKS), check_text)
        for value in ("score", "relevance")
        for kind in ("csv", "tsv")
    },
    **{f"packed {ending}": ((packed(ending), st.just(ending)), check_packed) for ending in PACKERS},
    **{f"{value} Parquet": ((parquet_files(value), st.just(value)), check_parquet) for value in ("score", "relevance")},
    **{f"{value} JSON": ((json_files(), st.just(value)), check_json) for value in ("score", "relevance")},
}
"""By name: strategies of the arguments, and what must hold of them."""
