"""Every reader and every public function gives the same where Polars cannot compute.

That is in a process that was forked after Polars had been used, and under a limit of memory. Files
are read in one block and in several, which are put together in another way there.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from ir_lexirecall._util import engine
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison, Gate
from ir_lexirecall.io import files
from ir_lexirecall.io.value_formats import FORMATS
from ir_lexirecall.meta import Study
from tests.faults.public_calls import (
    CASES,
    FILES,
    FUNCTIONS,
    METHODS,
    READERS,
    VALUES,
    outcome,
    write_files,
)

pytest.importorskip("pyarrow")
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pytest.importorskip("krippendorff")

ROOT = Path(__file__).parents[2]
_PATIENCE = 60  # seconds
_BLOCKS = (files._BLOCK, 100)  # one block, and several

# Arrow tables are joined by Polars alone; the message says how to start processes.
REFUSED = {name for name in FUNCTIONS if name.startswith("evaluation.arrow.")} - {
    "evaluation.arrow.measures_by_column"
}

pytestmark = pytest.mark.filterwarnings("ignore")
cases = pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=() if case in READERS else pytest.mark.slow)
        for case in CASES
    ],
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files")
    write_files(path)
    return path


@cache
def expected(case: str, folder: Path) -> str:
    """Return what a case gives here, where Polars has computed before."""
    assert engine.computes()
    pl.DataFrame({"a": [2, 1]}).sort("a")
    return outcome(case, folder)


def in_blocks(case: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what a case gives if files are read in one block and in several, or its refusal."""
    outcomes = []
    for block in _BLOCKS:
        monkeypatch.setattr(files, "_BLOCK", block)
        try:
            outcomes.append(outcome(case, folder))
        except ValueError as error:
            outcomes.append(str(error))
    return outcomes


def in_fork(work: Callable[[], list[str]]) -> list[str]:
    """Return what a function gives in a forked process; one that hangs is killed."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        signal.alarm(_PATIENCE)
        try:
            texts = work()
        except BaseException as error:
            texts = [f"{type(error).__name__}: {error}"]
        with os.fdopen(
            writing, "w", encoding="utf-8", errors="backslashreplace"
        ) as stream:
            stream.write("\0".join(texts))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as stream:
        text = stream.read()
    _, status = os.waitpid(pid, 0)
    assert not os.WIFSIGNALED(status), "it hung"
    return text.split("\0")


def check(case: str, outcomes: list[str], folder: Path, reason: str) -> None:
    """Require the outcome of a process with threads, or the refusal of what needs them."""
    if case in REFUSED:
        assert all(f"{reason}; start processes with spawn" in text for text in outcomes)
    else:
        assert outcomes == [expected(case, folder)] * len(_BLOCKS)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="without fork")
@cases
def test_in_a_forked_process(
    case: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected(case, folder)
    check(
        case,
        in_fork(lambda: in_blocks(case, folder, monkeypatch)),
        folder,
        "in a process that was forked after Polars had been loaded",
    )


@cases
def test_where_polars_is_asked_for_nothing(
    case: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected(case, folder)
    monkeypatch.setattr(engine, "_computes", False)
    check(case, in_blocks(case, folder, monkeypatch), folder, engine.where())


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(),
    reason="this system does not say how much memory is in use",
)
def test_under_a_limit_of_memory(folder: Path) -> None:
    program = (
        "import resource, sys, warnings\nfrom pathlib import Path\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))\n"
        "warnings.simplefilter('ignore')\n"
        "from ir_lexirecall._util import engine\n"
        "from tests.faults.public_calls import CASES, outcome\n"
        "assert not engine.computes()\n"
        f"for case in CASES.keys() - {REFUSED!r}:\n"
        "    print(repr([case, outcome(case, Path(sys.argv[1]))]))"
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=10 * _PATIENCE,
        env=environment,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    outcomes = dict(map(eval, done.stdout.splitlines()))
    assert outcomes.keys() == CASES.keys() - REFUSED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = {
            case for case, text in outcomes.items() if text != expected(case, folder)
        }
    assert not wrong


def test_every_public_function_has_a_case() -> None:
    pages = (ROOT / "ir_lexirecall" / "pt_docs" / "api").glob("*.rst")
    reference = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    functions = set(re.findall(r"autofunction:: ir_lexirecall\.([\w.]+)", reference))
    assert functions == {name.partition(",")[0] for name in FUNCTIONS}


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("compare", Comparison),
        ("compare", Gate),
        ("benchmark", Benchmark),
        ("meta", Study),
    ],
)
def test_every_public_method_has_a_case(page: str, kind: type) -> None:
    reference = (ROOT / "ir_lexirecall" / "pt_docs" / "api" / f"{page}.rst").read_text()
    described = reference.partition(f".{kind.__name__}\n   :members:\n")[2]
    excluded = re.match(r" *:exclude-members: (.+)\n", described)
    methods = {
        f"{kind.__name__}.{name}"
        for name, value in vars(kind).items()
        if inspect.isfunction(value) and value.__doc__ and not name.startswith("_")
    }
    if excluded is not None:
        methods -= {f"{kind.__name__}.{name}" for name in excluded[1].split(", ")}
    cases = {
        name.partition(",")[0]
        for name in METHODS
        if name.startswith(f"{kind.__name__}.")
    }
    assert methods == cases


def test_every_program_whose_values_are_read_has_a_case() -> None:
    paths = [FILES / name for name in VALUES]
    files = [
        file
        for path in paths
        for file in (path, *path.rglob("*.json*"))
        if file.is_file()
    ]
    contents: list[Any] = [
        json.loads(f.read_text()) for f in files if f.suffix == ".json"
    ]
    contents += [
        [json.loads(line) for line in file.read_text().splitlines()]
        for file in files
        if file.suffix == ".jsonl"
    ]
    programs = {one.program for one in FORMATS if any(map(one.matches, contents))}
    assert programs | {"inspect_ai"} == {
        one.program for one in FORMATS
    }  # its files are archives
    assert any(file.suffix == ".eval" for file in files)
