"""Names and files are data: no table breaks at them, and nothing in them is ever run."""

from __future__ import annotations

import ast
import csv
import io
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_line import Cli

import ir_lexirecall as irl
from ir_lexirecall import meta

ROOT = Path(__file__).parents[2]
SOURCES = [
    *(ROOT / "ir_lexirecall").rglob("*.py"),
    *(ROOT / "integrations").rglob("*.py"),
]
HARMFUL = [
    "a|b",
    "new\nline",
    "tab\there",
    "a & b \\\\ c",
    "=cmd()",
    "<b>",
    "\x1b[31m",
    "`_x_`",
    "../../up",
    "100% $x$",
]
PLAIN = [f"name{i}" for i in range(len(HARMFUL))]
JUDGED = 4  # documents of each query


def collection(
    names: list[str],
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Qrels and runs in which queries, documents and runs are called so."""
    qrels = {query: dict.fromkeys(names[:JUDGED], 1) for query in names}
    runs = {
        run: {
            query: {doc: float((i * j + q) % 7) for j, doc in enumerate(names)}
            for q, query in enumerate(names)
        }
        for i, run in enumerate(names[:5])
    }
    return qrels, runs


def shape(table: str, row_ends: str, cell_ends: str) -> list[int]:
    """The number of cells of every row of a text."""
    return [len(re.findall(cell_ends, row)) for row in re.split(row_ends, table)]


TABLES: dict[str, Callable[[Any, Any], Any]] = {
    "compare": lambda qrels, runs: irl.compare(qrels, runs, ["lexirecall", "AP"]),
    "benchmark": lambda qrels, runs: irl.benchmark(qrels, runs, ["AP", "LR"]),
    "suite": lambda qrels, runs: irl.benchmark(
        {"one": qrels, "two": qrels}, {"one": runs, "two": runs}, ["AP", "LR"]
    ),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    ("method", "row_ends", "cell_ends"),
    [("to_markdown", r"\n", r"(?<!\\)\|"), ("to_latex", r"\\\\|\n", r"(?<!\\)&")],
)
def test_names_add_no_rows_and_no_cells(
    name: str, method: str, row_ends: str, cell_ends: str
) -> None:
    plain, harmful = (
        getattr(TABLES[name](*collection(names)), method)()
        for names in (PLAIN, HARMFUL)
    )
    assert shape(harmful, row_ends, cell_ends) == shape(plain, row_ends, cell_ends)


def cells_of(text: str, form: str) -> list[int]:
    if form == "csv":
        return [len(row) for row in csv.reader(io.StringIO(text))]
    return shape(
        text,
        r"\n",
        {"tsv": r"\t", "markdown": r"(?<!\\)\|", "latex": r"(?<!\\)&|\\\\"}[form],
    )


@pytest.mark.parametrize("form", ["csv", "tsv", "markdown", "latex"])
@pytest.mark.parametrize("command", ["eval", "compare"])
def test_queries_and_documents_add_no_rows_and_no_cells(
    command: str, form: str, cli: Cli
) -> None:
    """Through Parquet, whose names may hold anything; ``explain`` shows the documents that decide."""
    pytest.importorskip("pyarrow")
    said = []
    for names in (PLAIN, HARMFUL):
        qrels, runs = collection(names)
        tables = {"qrels": qrels, "one": runs[names[1]], "two": runs[names[2]]}
        for file, table in tables.items():
            rows = [
                (query, doc, number)
                for query, docs in table.items()
                for doc, number in docs.items()
            ]
            columns = [
                "query_id",
                "doc_id",
                "relevance" if file == "qrels" else "score",
            ]
            pd.DataFrame(rows, columns=columns).to_parquet(f"{file}.parquet")
        words = (
            ["-m", "AP", "--by-query"]
            if command == "eval"
            else ["--explain", "one", "two"]
        )
        said.append(
            cli(
                command,
                *(f"{file}.parquet" for file in tables),
                *words,
                "--format",
                form,
            )
        )
        assert (said[-1].code, said[-1].err) == (0, "")
    plain, harmful = (text.out for text in said)
    assert cells_of(harmful, form) == cells_of(plain, form)
    assert "name3" in plain
    assert not set(harmful) & {"\x1b", "\r"}
    if form == "csv":
        assert not [
            cell
            for row in csv.reader(io.StringIO(harmful))
            for cell in row
            if cell.startswith("=")
        ]


@pytest.mark.slow
def test_nothing_in_the_library_runs_data() -> None:
    """No ``eval``, no pickle, no shell, no temporary file whose name another program may take."""
    modules = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml"}
    calls = {
        "eval",
        "exec",
        "compile",
        "__import__",
        "mktemp",
        "system",
        "popen",
        "read_pickle",
        "to_pickle",
    }
    assert len(SOURCES) > 100
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            place = f"{path}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Import):
                assert not modules & {
                    alias.name.partition(".")[0] for alias in node.names
                }, place
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").partition(".")[0] not in modules, place
            elif isinstance(node, ast.Call):
                called = (
                    node.func.id
                    if isinstance(node.func, ast.Name)
                    else getattr(node.func, "attr", "")
                )
                regular_expression = (
                    called == "compile" and ast.unparse(node.func) == "re.compile"
                )
                assert called not in calls or regular_expression, place
                assert not {"shell", "allow_pickle"} & {
                    keyword.arg for keyword in node.keywords
                }, place


CODE = "__import__('os').mkdir('made')"


@pytest.mark.parametrize(
    "measure",
    [
        CODE,
        f"LR(rel={CODE})",
        f"TOMA(aspects={CODE})",
        f"LR@{CODE}",
        f"TSE(exposure='{CODE}')",
    ],
)
def test_a_measure_is_no_program(measure: str, cli: Cli) -> None:
    with pytest.raises(ValueError, match=r"made|LR|TSE|TOMA"):
        irl.evaluate(measure, {"q": {"a": 1}}, {"q": {"a": 1.0}})
    assert cli("eval", "qrels.txt", "bm25.run", "-m", measure).code in (1, 2)
    assert cli("eval", CODE, CODE, "-m", "LR").code in (1, 2)
    assert cli("compare", "qrels.txt", "bm25.run", "dph.txt", "-p", measure).code in (
        1,
        2,
    )
    assert cli(
        "meta", "split-half", "qrels.txt", "bm25.run", "dph.txt", "-m", CODE
    ).code in (1, 2)
    assert not Path("made").exists()


class Harmful:
    def __reduce__(self) -> Any:
        return Path.touch, (Path("made"),)


@pytest.mark.parametrize(
    "name",
    [
        "run",
        "run.pkl",
        "run.pickle",
        "run.json",
        "run.parquet",
        "run.npz",
        "run.csv",
        "run.gz",
    ],
)
def test_a_pickle_is_never_loaded(name: str, cli: Cli) -> None:
    Path(name).write_bytes(pickle.dumps({"q1": Harmful()}))
    for call in (
        lambda: irl.evaluate("LR", {"q1": {"a": 1}}, name),
        lambda: irl.evaluate("LR", name, {"q1": {"a": 1.0}}),
        lambda: meta.Study("AP", name, {"one": name}).ties(),
    ):
        with pytest.raises(ValueError, match="run"):
            call()
    said = cli("eval", "qrels.txt", name, "-m", "LR")
    assert (said.code, said.out, len(said.err.splitlines())) == (1, "", 1)
    assert not Path("made").exists()
