"""Workers of every kind (threads, forked, spawned, asynchronous) give the same bits, and none of them hangs."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fresh import python

import ir_lexirecall as irl
from ir_lexirecall._util import engine
from ir_lexirecall._util.engine import one_ahead, started
from ir_lexirecall.data.judgments import Judgments
from tests.faults.work import CASES, Inputs, inputs, outcome, outcomes

pytest.importorskip("pyarrow")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.xdist_group("processes"),
    pytest.mark.slow_except("test_pools[fork]"),
]
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="without fork")
_PATIENCE = 120  # seconds


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder with the files of the cases."""
    path = tmp_path_factory.mktemp("inputs")
    Inputs(path).write()
    return str(path)


@pytest.fixture(scope="module")
def expected(folder: str) -> dict[str, str]:
    """What the cases give in this process, in which Polars is loaded and has computed then."""
    assert engine.computes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = outcomes(folder)
    assert "polars" in sys.modules
    return found


def in_fork(work: Callable[[], str]) -> str:
    """What a function gives in a forked process; one that hangs is killed."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            signal.alarm(_PATIENCE)
            try:
                said = work()
            except BaseException as error:
                said = f"{type(error).__name__}: {error}"
            with os.fdopen(
                writing, "w", encoding="utf-8", errors="backslashreplace"
            ) as stream:
                stream.write(said)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as stream:
        said = stream.read()
    _, status = os.waitpid(pid, 0)
    assert not os.WIFSIGNALED(status), "it hung"
    return said


@forks
@pytest.mark.parametrize("name", CASES)
def test_a_forked_process(name: str, folder: str, expected: dict[str, str]) -> None:
    assert in_fork(lambda: outcome(name, folder)) == expected[name]


@forks
def test_a_process_that_was_forked_before_polars_was_loaded_uses_it() -> None:
    program = (
        "import os, sys\nimport ir_lexirecall as irl\nfrom ir_lexirecall._util import engine\n"
        "assert 'polars' not in sys.modules\n"
        "pid = os.fork()\n"
        "if pid: sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        "import polars\npolars.DataFrame({'a': [2, 1]}).sort('a')\nassert engine.computes()"
    )
    python(program)


@forks
@pytest.mark.parametrize("computed", [True, False])
def test_a_process_in_which_this_library_is_imported_only_after_the_fork(
    computed: bool,
) -> None:
    """Whether Polars' threads were lost in the fork cannot be known there: it is tried."""
    before = "polars.DataFrame({'a': [2, 1]}).sort('a')" if computed else "pass"
    program = (
        f"import os, sys, signal, polars\n{before}\n"
        "pid = os.fork()\n"
        "if pid: sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        f"signal.alarm({_PATIENCE})\n"
        "import pandas, ir_lexirecall as irl\nfrom ir_lexirecall._util import engine\n"
        "run = pandas.DataFrame({'query_id': 'q', 'doc_id': [str(i) for i in range(9999)], 'score': 1.0})\n"
        "assert irl.evaluate('TSE', {'q': {'5': 1}}, run)['TSE'].tolist()[0] > 0\n"
        f"assert engine.computes() is {not computed}, engine.computes()"
    )
    python(program, options=("-W", "ignore"))


@forks
def test_what_cannot_be_done_in_a_forked_process_is_said_at_once(
    folder: str, expected: dict[str, str]
) -> None:
    import polars
    import pyarrow

    lazy = polars.DataFrame(inputs(folder).run_frame).lazy()
    table = pyarrow.table(
        {"query_id": ["q"], "doc_id": ["a"], "relevance": [1], "score": [1.0]}
    )
    where = "in a process that was forked after Polars had been loaded"
    assert where in in_fork(lambda: str(irl.evaluate("LR", {"q": {"a": 1}}, lazy)))
    from ir_lexirecall.evaluation.arrow import evaluate_arrow

    assert where in in_fork(lambda: str(evaluate_arrow("LR", table, table)))


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(),
    reason="this system does not say how much memory is in use",
)
def test_polars_is_asked_for_nothing_where_its_threads_may_not_start(
    folder: str, expected: dict[str, str]
) -> None:
    """Under ``ulimit -v``, it waits now and then for ever, as after a fork."""
    program = (
        "import resource, sys\nlimit = int(sys.argv[1]) * 2**20\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "from ir_lexirecall._util import engine\nfrom tests.faults.work import outcome\n"
        "print(engine.computes(), '' if engine.computes() else engine.where())\n"
        "for name in ('files', 'CSV', 'frames'):\n    print(outcome(name, sys.argv[2]))"
    )
    for limit, computed in (
        (2500, "False under so low a limit of memory"),
        (100_000, "True "),
    ):
        words = [sys.executable, "-W", "ignore", "-c", program, str(limit), folder]
        root = Path(__file__).parents[2]
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
            cwd=root,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split("\n")[:4] == [
            computed,
            *(expected[name] for name in ("files", "CSV", "frames")),
        ]


@forks
def test_a_fork_while_another_thread_computes_what_is_cached(
    expected: dict[str, str],
) -> None:
    computing, computed = threading.Event(), threading.Event()

    class Slow(list[str]):
        def to_list(self) -> list[str]:
            computing.set()
            computed.wait(_PATIENCE)
            return list(self)

    none = np.zeros(0)
    slow = Judgments([], none.astype(int), [], none)
    object.__setattr__(slow, "docs", type("Docs", (), {"to_list": Slow().to_list})())
    other = threading.Thread(target=lambda: slow.doc_ids)
    other.start()
    computing.wait(_PATIENCE)
    try:
        docs = in_fork(lambda: str(Judgments.from_qrels({"q": {"a": 1}}).doc_ids))
    finally:
        computed.set()
        other.join()
    assert docs == "['a']"


@forks
def test_a_fork_while_other_threads_evaluate(
    folder: str, expected: dict[str, str]
) -> None:
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            outcome("files", folder)
            outcome("compare", folder)

    others = [threading.Thread(target=work) for _ in range(3)]
    for other in others:
        other.start()
    try:
        for _ in range(5):
            for name in ("files", "frames", "compare"):
                assert (
                    in_fork(lambda name=name: outcome(name, folder)) == expected[name]
                )
    finally:
        stop.set()
        for other in others:
            other.join()


@pytest.mark.slow
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_pools(method: str, folder: str, expected: dict[str, str]) -> None:
    names = [name for name in CASES for _ in range(2)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        try:
            found = list(
                pool.map(outcome, names, [folder] * len(names), timeout=5 * _PATIENCE)
            )
        except BaseException:
            for process in (
                pool._processes.values()
            ):  # else the end of the block waits for one that hangs
                process.kill()
            raise
    assert found == [expected[name] for name in names]


def test_eight_threads(folder: str, expected: dict[str, str]) -> None:
    names = [
        name for _ in range(8) for name in CASES if name != "accelerated"
    ]  # that is a switch for the process
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda name: outcome(name, folder), names))
    assert found == [expected[name] for name in names]


# -- threads -----------------------------------------------------------------------------------------


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)


def test_where_no_thread_can_be_started_files_are_read_in_this_one(
    no_threads: None, folder: str, expected: dict[str, str]
) -> None:
    with ThreadPoolExecutor(1) as threads, pytest.raises(RuntimeError):
        threads.submit(print)
    assert outcome("files", folder) == expected["files"]
    assert outcome("compare", folder) == expected["compare"]
    assert list(one_ahead(iter([1, 2]))) == [1, 2]
    with ThreadPoolExecutor(1) as threads:
        assert started(threads, lambda: 5)() == 5


def test_a_thread_that_outlives_the_program(folder: str) -> None:
    program = (
        "import sys, threading, time\nimport ir_lexirecall as irl\n"
        "def work():\n"
        "    threading.main_thread().join()\n"
        "    time.sleep(0.5)\n"
        "    print(irl.evaluate('LR', sys.argv[1] + '/qrels.txt', sys.argv[1] + '/run.txt', aggregate=True)['LR'] > 0)\n"
        "threading.Thread(target=work).start()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE,
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
