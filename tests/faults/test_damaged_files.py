"""Damaged files of every kind: each is refused by its name, or means what it says to a slow, obvious reader."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import ir_lexirecall as irl
from ir_lexirecall import cli
from ir_lexirecall.io import files
from ir_lexirecall.io.columns import qrel_table, run_table
from tests.faults import plain_reader

pytestmark = pytest.mark.sparse

pytest.importorskip("pyarrow")

IDS = [
    *("q1", "q2", "d1", "é", "文", "a,b", '"', '"x"', "'", "1", "#"),
    *("\ufeff", "\x00", "\u2028", "Q0", "query_id", "\x1c", "\xa0"),
]
FINITE = ["1", "0", "2.5", "-2e3", ".5", "5.", "+1"]
NUMBERS = [
    *FINITE,
    "1e400",
    "-inf",
    "Infinity",
    "nan",
    "1e-400",
    "123456789012345678901234567890",
]
NO_NUMBERS = [
    "1_0",
    "0x1",
    "x",
    "1e",
    "٣",
    "1d",
    "--1",
    "1,5",
    "",
    "e5",
    "NA",
    "None",
    "true",
]
BLANKS = [b" ", b" ", b" ", b"\t", b"  ", b" \t ", b"\f", b"\v", b"\r", b"\x1c"]
ENDS = [b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b" \n", b"\n\f\n", b"\n \t\r\n", b"\r"]
STARTS = [b"", b"", b"", b"\xef\xbb\xbf", b"\n", b"\xef\xbb\xbf\n\n", b" "]
BYTES = st.sampled_from(b'\x00\t\n\v\f\r "#,.01eE-_\x80\xc3\xff') | st.integers(0, 255)
few = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
of_either = pytest.mark.parametrize("value", ["score", "relevance"])


@st.composite
def damaged(draw: st.DrawFn, content: bytes, most: int = 4) -> bytes:
    """Bytes with some of them changed, taken out, or put in, or the end missing."""
    found = bytearray(content)
    for _ in range(draw(st.integers(0, most))):
        place = draw(st.integers(0, max(len(found) - 1, 0)))
        match draw(
            st.sampled_from(["change", "take", "put", "cut"] if found else ["put"])
        ):
            case "change":
                found[place] = draw(BYTES)
            case "take":
                del found[place]
            case "put":
                found.insert(place, draw(BYTES))
            case "cut" if draw(st.integers(0, 9)) == 0:
                del found[place:]
    return bytes(found)


@st.composite
def texts(draw: st.DrawFn, value: str, kind: str) -> bytes:
    """A run or qrels as TREC's lines, or as CSV or TSV with a header; a quarter of them odd and damaged."""
    odd = draw(st.integers(0, 3)) == 0
    names = [
        "query_id",
        "iteration",
        "doc_id",
        *(["rank", "score", "tag"] if value == "score" else ["relevance"]),
    ]
    separator = {"csv": b",", "tsv": b"\t"}.get(kind) or draw(st.sampled_from(BLANKS))
    end = draw(st.sampled_from(ENDS if kind == "lines" else ENDS[2:4]))
    quotes = kind == "csv" and draw(st.booleans())

    def cell(text: str) -> bytes:
        if kind == "csv" and (quotes or draw(st.integers(0, 9)) == 0):
            text = '"' + text.replace('"', '""') + '"'
        return text.encode()

    start = draw(st.sampled_from(STARTS))
    if kind != "lines":
        names = draw(st.permutations(["query_id", "doc_id", value, "note"]))
        start += separator.join(map(cell, names)) + end
    rows = b""
    for row in range(draw(st.integers(0, 7))):
        cells = {
            "query_id": f"q{row // 3}",
            "doc_id": f"d{row}",
            value: draw(st.sampled_from(FINITE)),
        }
        if odd:
            cells = {
                "query_id": draw(st.sampled_from(IDS)),
                "doc_id": draw(st.sampled_from(IDS)),
            }
            cells[value] = draw(st.sampled_from(NUMBERS * 4 + NO_NUMBERS))
        cells["note"] = draw(
            st.sampled_from(["", "x", "2", "a\nb" if kind == "csv" else "y", " "])
        )
        shown = [
            cell(cells.get(name, "1") or ("x" if kind == "lines" else ""))
            for name in names
        ]
        shown = shown[: draw(st.integers(len(shown) - 1, len(shown)))] if odd else shown
        rows += (
            draw(st.sampled_from(BLANKS)) if odd and kind == "lines" else separator
        ).join(shown)
        rows += draw(st.sampled_from(ENDS)) if odd else end
    return start + (draw(damaged(rows)) if odd else rows)


def read(path: Path, value: str) -> list[tuple[Any, ...]] | None:
    """Query, document and number of all rows; None where the file is refused, which its name must begin."""
    try:
        table = (run_table if value == "score" else qrel_table)(path)
    except ValueError as error:
        if not str(error).startswith((str(path), "run", "qrels")):
            raise
        return None
    return list(
        zip(
            *(table[name].to_list() for name in ("query_id", "doc_id", value)),
            strict=True,
        )
    )


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


def nested(rows: list[tuple[Any, ...]] | None) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    for query_id, doc_id, number in rows or ():
        table.setdefault(query_id, {})[doc_id] = number
    return table


@pytest.mark.slow
@of_either
@pytest.mark.parametrize("kind", ["lines", "csv", "tsv"])
@pytest.mark.parametrize(
    "block", [7, 40, 2**24]
)  # the first one holds the empty lines before a header
def test_a_text_is_refused_or_read_exactly_where_the_plain_reader_does(
    value: str, kind: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_BLOCK", block)
    path = tmp_path / f"file.{'txt' if kind == 'lines' else kind}"

    @few
    @given(texts(value, kind))
    def check(content: bytes) -> None:
        assume(
            not content.removeprefix(b"\xef\xbb\xbf")
            .lstrip()
            .startswith((b"{", b"[", b"# ir_metadata"))
        )
        assume(
            not (kind == "lines" and value == "relevance" and b"query_id" in content)
        )  # a header
        try:
            expected: Any = plain_reader.rows(content, value, kind)
        except plain_reader.Refused:
            expected = None
        path.write_bytes(content)
        assert read(path, value) == expected
        table = nested(expected)
        other = {q: dict.fromkeys(docs, 1) for q, docs in table.items()} or {
            "q": {"d": 1}
        }
        given_rows = (
            (expected if value == "score" else set(expected)) if expected else ()
        )
        twice = sum(map(len, table.values())) != len(given_rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if expected is None or twice or (value == "relevance" and not table):
                with pytest.raises(ValueError, match=r"run|qrels|file\."):
                    irl.evaluate(
                        "TSE", *((other, path) if value == "score" else (path, other))
                    )
            else:
                found = irl.evaluate(
                    ["TSE", "LR"],
                    *((other, path) if value == "score" else (path, other)),
                )
                meant = irl.evaluate(
                    ["TSE", "LR"],
                    *((other, table) if value == "score" else (table, other)),
                )
                assert found.to_numpy().tolist() == meant.to_numpy().tolist()
            check_command_line(path, value)

    check()


def parquet(value: str, **options: Any) -> bytes:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "query_id": [f"q{i // 9}" for i in range(60)],
            "doc_id": [f"d{i}" for i in range(60)],
        }
    )
    stream = io.BytesIO()
    table.assign(**{value: rng.integers(0, 9, 60) / 2}).to_parquet(stream, **options)
    return stream.getvalue()


RUN = b"".join(
    b"q%d Q0 d%d 1 %d t\n" % (i // 9, i * 7919 % 10007, -i) for i in range(40)
)
JSON = [
    {"q1": {"d1": 1, "d2": 2.5}, "q2": {"é": -1e9}},
    {"q1": {}},
    {"default": {"test": {"q1": {"d1": 1.0}}}},
]
FRAMEWORKS = sorted(
    (Path(__file__).parents[1] / "files" / "frameworks").glob("*_predictions*.json*")
)  # of MTEB, and by line
PACKED: dict[str, tuple[bytes, Callable[[bytes], bytes]]] = {
    "txt.gz": (gzip.compress(RUN, mtime=0), gzip.decompress),
    "txt.bz2": (bz2.compress(RUN), bz2.decompress),
    "txt.xz": (lzma.compress(RUN), lzma.decompress),
}
FILES: dict[str, list[bytes]] = {
    **{ending: [packed] for ending, (packed, _) in PACKED.items()},
    "json": [
        *(json.dumps(one).encode() for one in JSON),
        b"[" * 5000,
        *map(Path.read_bytes, FRAMEWORKS),
    ],
    "parquet": [parquet("score")],
}


@of_either
@pytest.mark.parametrize("ending", FILES)
def test_a_damaged_file_is_refused_by_its_name_or_read(
    value: str, ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"file.{ending}"
    contents = (
        FILES[ending]
        if ending != "parquet"
        else [parquet(value, compression=c) for c in ("zstd", None)]
    )

    @few
    @given(st.sampled_from(contents).flatmap(damaged))
    def check(content: bytes) -> None:
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = read(path, value)
            check_command_line(path, value)
        if (
            found is None or ending == "parquet"
        ):  # what a page holds is not known to be damaged
            assert found is None or content not in contents or len(found) == 60
        elif ending in PACKED and value == "score":
            expected = None
            with contextlib.suppress(
                Exception
            ):  # unpackers differ in what they take for the end
                expected = plain_reader.rows(
                    PACKED[ending][1](content), "score", "lines"
                )
            assert expected is None or found == expected
        elif ending == "json":
            with contextlib.suppress(ValueError, AttributeError, KeyError, TypeError):
                plain = json.loads(content.decode("utf-8-sig"))
                assert found == [
                    (q, d, float(number))
                    for q, docs in plain.items()
                    for d, number in docs.items()
                ]

    check()
