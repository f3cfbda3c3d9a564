"""Every reader gives the same where Polars cannot compute: in a forked process, and under a limit of memory.

Files are read in one block and in several, which are put together in another way there.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ir_lexirecall as irl
from ir_lexirecall._util import engine
from ir_lexirecall.io import files
from ir_lexirecall.judging.files import merged

QRELS = [(f"q{q}", f"d{d}", (q + d) % 3) for q in range(6) for d in range(9)]
RUN = [(f"q{q}", f"d{d}", 0.5 + (q * d) % 7) for q in range(6) for d in range(9)]


def _lines(rows: list[Any], form: str, separator: str = " ") -> str:
    return "".join(form.format(*row).replace(" ", separator) + "\n" for row in rows)


TEXTS = {
    "qrels.txt": _lines(QRELS, "{0} 0 {1} {2}"),
    "qrels.csv": "query_id,doc_id,relevance\n" + _lines(QRELS, "{0} {1} {2}", ","),
    "qrels.tsv": "query-id\tcorpus-id\tscore\n" + _lines(QRELS, "{0} {1} {2}", "\t"),
    "aspects.txt": "query_id doc_id relevance weight\n" + _lines(QRELS, "{0} {1} {2} 0.5"),
    "run.txt": _lines(RUN, "{0} Q0 {1} 1 {2} tag"),
    "run.csv": "query_id,doc_id,score\n" + _lines(RUN, "{0} {1} {2}", ","),
    "run.tsv": "score\tdoc_id\tquery_id\n" + _lines(RUN, "{2} {1} {0}", "\t"),
}


def _value(qrels: Any, run: Any) -> str:
    return irl.evaluate(["AP", "nDCG@5", "LR"], qrels, run).to_numpy().tobytes().hex()


CASES: dict[str, Callable[[Path], str]] = {
    **{
        f"{qrels} with {run}": (lambda folder, q=qrels, r=run: _value(folder / q, folder / r))
        for qrels, run in [
            ("qrels.txt", "run.txt"),
            ("qrels.csv", "run.csv"),
            ("qrels.tsv", "run.tsv"),
            ("aspects.txt", "run.txt"),
        ]
    },
    "load": lambda folder: repr(irl.load(str(folder / "qrels.txt")).grade.tolist()),
    "compare": lambda folder: (
        irl.compare(
            folder / "qrels.csv", {"a": folder / "run.csv", "b": folder / "run.tsv"}, ["AP"]
        )
        .table()
        .to_csv()
    ),
    "merged": lambda folder: repr(
        merged(irl.load(str(folder / "qrels.txt")), folder / "qrels.csv").grade.tolist()
    ),
}


def _work(case: str, folder: Path, pipe: Any) -> None:
    try:
        assert not engine.computes()
        pipe.send(CASES[case](folder))
    except BaseException as error:
        pipe.send(f"{type(error).__name__}: {error}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "fork"), reason="without fork")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("block", [2**23, 100])
@pytest.mark.parametrize("case", CASES)
def test_readers_in_a_forked_process(
    case: str, block: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pl.DataFrame({"a": [2, 1]}).sort("a")
    expected = CASES[case](folder)
    monkeypatch.setattr(files, "_BLOCK", block)
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(case, folder, sending))
    process.start()
    assert receiving.poll(60), "it hung"
    assert receiving.recv() == expected
    process.join()


@pytest.mark.parametrize("block", [2**23, 100])
@pytest.mark.parametrize("case", CASES)
def test_readers_under_a_limit_of_memory(
    case: str, block: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = CASES[case](folder)
    monkeypatch.setattr(files, "_BLOCK", block)
    monkeypatch.setattr(engine, "_computes", False)
    assert CASES[case](folder) == expected
