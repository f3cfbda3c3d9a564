"""How many functions an argument passes on its way: what is read is looked at once, at the door.

A function is a stay of an argument if one of its parameters is the argument, its path, a `File` or a
`Source` of it, or a list, mapping or options that hold one of these. Not counted are functions
of `_util`, which only call things by their names, and what a method gets as `self`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pandas as pd
import polars as pl
import pytest

import ir_lexirecall as irl
from ir_lexirecall.cli import main
from ir_lexirecall.cli.arguments import Inputs

PACKAGE = os.path.dirname(irl.__file__)
ROWS = [("q1", "a", 1), ("q1", "b", 0), ("q2", "a", 2)]
SCORED = [("q1", "a", 1.5), ("q1", "b", 0.5), ("q2", "a", 2.5)]


class Tracer:
    """Functions of the package that receive one of some arguments, by name."""

    def __init__(self, *arguments: Any) -> None:
        self.objects = [item for item in arguments if not isinstance(item, (str, Path))]
        self.paths = {
            os.fspath(item) for item in arguments if isinstance(item, (str, Path))
        }
        self.stays: set[str] = set()
        self._looked_at: dict[CodeType, bool] = {}

    def is_argument(self, value: Any) -> bool:
        """Return whether a value is an argument, its path, or a source of it."""
        if isinstance(value, (str, Path)):
            return os.fspath(value) in self.paths
        if any(value is item for item in self.objects):
            return True
        kind = type(value).__name__
        if kind == "File":
            return value.path in self.paths
        return kind == "Source" and (value.name in self.paths or self.holds(value.data))

    def holds(self, value: Any) -> bool:
        """Return whether a value is an argument, or holds one."""
        if self.is_argument(value):
            return True
        if isinstance(value, argparse.Namespace):
            return any(map(self.holds, vars(value).values()))
        if isinstance(value, Inputs):
            return True
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return any(map(self.is_argument, value[:10]))
        if isinstance(value, Mapping):
            return any(map(self.is_argument, list(value.values())[:10]))
        return False

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or not self._counts(frame.f_code):
            return
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 2]
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
        values = [frame.f_locals.get(name) for name in names[:count]]
        if values and names[0] == "self":
            values = values[1:]  # an object's own methods do not receive it
        if any(map(self.holds, values)):
            file = os.path.relpath(code.co_filename, PACKAGE)
            self.stays.add(f"{file}: {code.co_qualname}")

    def _counts(self, code: CodeType) -> bool:
        """Return whether a function is one that may count."""
        if code not in self._looked_at:
            within = code.co_filename.startswith(PACKAGE + os.sep)
            helper = code.co_filename.startswith(os.path.join(PACKAGE, "_util"))
            own = code.co_qualname.startswith("File.") or code.co_name.startswith("<")
            self._looked_at[code] = within and not helper and not own
        return self._looked_at[code]


def stays(*arguments: Any, call: Callable[..., Any], **options: Any) -> set[str]:
    """Return the functions that receive one of the arguments during a call, in any thread."""
    tracer = Tracer(*arguments)
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        call(**options)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return tracer.stays


def files(folder: Path, rows: list[Any], value: str) -> Iterator[Path]:
    """Yield files of many formats that hold the same rows."""
    names = ["query_id", "doc_id", value]
    frame = pd.DataFrame(rows, columns=names)
    nested: dict[str, dict[str, float]] = {}
    for query_id, doc_id, number in rows:
        nested.setdefault(query_id, {})[doc_id] = number
    trec = "".join(
        f"{q} Q0 {d} {n} {x} tag\n" if value == "score" else f"{q} 0 {d} {x}\n"
        for n, (q, d, x) in enumerate(rows, start=1)
    )
    (folder / f"{value}.txt").write_text(trec)
    (folder / f"{value}.txt.gz").write_bytes(gzip.compress(trec.encode()))
    frame.to_csv(folder / f"{value}.csv", index=False)
    frame.to_csv(folder / f"{value}.tsv", index=False, sep="\t")
    pl.DataFrame(frame).write_parquet(folder / f"{value}.parquet")
    (folder / f"{value}.json").write_text(json.dumps(nested))
    (folder / f"{value}.jsonl").write_text(frame.to_json(orient="records", lines=True))
    for ending in ("txt", "txt.gz", "csv", "tsv", "parquet", "json", "jsonl"):
        yield folder / f"{value}.{ending}"


def objects(rows: list[Any], value: str) -> Iterator[Any]:
    """Yield objects of many types that hold the same rows."""
    names = ["query_id", "doc_id", value]
    frame = pd.DataFrame(rows, columns=names)
    yield frame
    yield pl.DataFrame(frame)
    yield pl.DataFrame(frame).to_arrow()
    yield list(frame.itertuples(index=False))
    yield frame.itertuples(index=False)
    yield frame.to_dict("records")
    nested: dict[str, dict[str, float]] = {}
    for query_id, doc_id, number in rows:
        nested.setdefault(query_id, {})[doc_id] = number
    yield nested


QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}
RUN = {"q1": {"a": 1.5, "b": 0.5}, "q2": {"a": 2.5}}


def report(name: str, found: set[str], most: int) -> None:
    """Fail, with the list, if there are more stays than allowed."""
    listed = "\n  ".join(sorted(found))
    assert len(found) <= most, (
        f"{name}: {len(found)} stays, at most {most}:\n  {listed}"
    )


def test_stays_of_qrels(tmp_path: Path) -> None:
    found: set[str] = set()
    for qrels in [*files(tmp_path, ROWS, "relevance"), *objects(ROWS, "relevance")]:
        found |= stays(qrels, call=irl.evaluate, measures="AP", qrels=qrels, run=RUN)
    demo = {"1": {"d1": 1.0}}
    for qrels in ("lexirecall/demo", irl.load("lexirecall/demo")):
        found |= stays(qrels, call=irl.evaluate, measures="AP", qrels=qrels, run=demo)
    report("evaluate(qrels)", found, 19)


def test_stays_of_a_run(tmp_path: Path) -> None:
    found: set[str] = set()
    for run in [*files(tmp_path, SCORED, "score"), *objects(SCORED, "score")]:
        found |= stays(run, call=irl.evaluate, measures="AP", qrels=QRELS, run=run)
    report("evaluate(run)", found, 15)


def test_stays_of_collections(tmp_path: Path) -> None:
    qrels = list(files(tmp_path, ROWS, "relevance"))
    runs = {"a": RUN, "b": {"q1": {"b": 1.0, "a": 0.5}, "q2": {"b": 1.0}}}
    found: set[str] = set()
    for one in qrels:
        found |= stays(one, call=irl.benchmark, collections=one, runs=runs, by="AP")
        several = {"x": one, "y": QRELS}
        by_name = {"x": runs, "y": runs}
        found |= stays(
            several, one, call=irl.benchmark, collections=several, runs=by_name, by="AP"
        )
    folder = tmp_path / "folder"
    for name in ("x", "y"):
        (folder / name).mkdir(parents=True)
        (folder / name / "qrels.txt").write_text("q1 0 a 1\nq2 0 a 1\n")
        for run in ("a", "b"):
            (folder / name / f"{run}.run").write_text(
                "q1 Q0 a 1 2.5 t\nq2 Q0 a 1 2.5 t\n"
            )
    toml = tmp_path / "all.toml"
    toml.write_text(
        '[collections]\nx = "folder/x/qrels.txt"\n[runs]\nx = {a = "folder/x/a.run"}\n'
    )
    for source in (folder, toml):
        found |= stays(source, call=irl.benchmark, collections=source, by="AP")
    report("benchmark(collections)", found, 27)


@pytest.mark.parametrize(("command", "most"), [("eval", 32), ("compare", 40)])
def test_stays_of_a_command(
    command: str, most: int, tmp_path: Path, capsys: Any
) -> None:
    found: set[str] = set()
    qrels = list(files(tmp_path, ROWS, "relevance"))
    runs = list(files(tmp_path, SCORED, "score"))
    (tmp_path / "other.run").write_text("q1 Q0 b 1 2.5 t\nq2 Q0 b 1 2.5 t\n")
    for one, run in zip(qrels, runs, strict=True):
        words = [command, str(one), str(run), str(tmp_path / "other.run"), "-m", "AP"]
        found |= stays(words, one, run, call=main, arguments=words)
    report(command, found, most)
