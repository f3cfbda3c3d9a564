"""Times and memory of the contenders of a case, measured in a process of their own."""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.cases import CASES, Case, Contender
from tests.benchmarks.data import TINY, Size
from tests.benchmarks.peers import Elapsed

_ROOT = Path(__file__).parents[2]
_SHORTEST = 0.05  # seconds; what is faster is repeated within one measurement


@dataclass(frozen=True)
class Result:
    """What one contender needed: a time for every round, in seconds, and its peak memory beyond the inputs, in bytes."""

    contender: str
    seconds: list[float]
    memory: int | None

    @property
    def median(self) -> float:
        """Median of the times."""
        return statistics.median(self.seconds)

    def ratio_to(self, other: Result) -> float:
        """Median over the rounds of this one's time over the other's."""
        return statistics.median(
            a / b for a, b in zip(self.seconds, other.seconds, strict=True)
        )


def measure(case: Case, size: Size, repeat: int) -> list[Result]:
    """Measure all contenders of a case: times in one process, in turns; memory in a fresh process for contender."""
    with tempfile.TemporaryDirectory() as folder:
        request = {
            "case": case.name,
            "size": asdict(case.size or size),
            "folder": folder,
        }
        seconds = _in_fresh_process({**request, "repeat": repeat})
        return [
            Result(
                contender.name,
                seconds[contender.name],
                _in_fresh_process({**request, "contender": contender.name})
                if case.memory
                else None,
            )
            for contender in case.contenders()
        ]


def _in_fresh_process(request: dict[str, Any]) -> Any:
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.benchmarks.measuring",
        json.dumps(request),
    ]
    done = subprocess.run(
        command, cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def _times(
    contenders: list[Contender], inputs: Any, repeat: int
) -> dict[str, list[float]]:
    """Seconds of every contender in every round; each round starts with another one."""
    number = {
        contender.name: _number(_time(contender.run, inputs))
        for contender in contenders
    }
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for turn in range(repeat):
        first = turn % len(contenders)
        for contender in contenders[first:] + contenders[:first]:
            seconds[contender.name].append(
                _time(contender.run, inputs, number[contender.name])
            )
    return seconds


def _number(seconds: float) -> int:
    """How many calls make one measurement."""
    return max(1, round(_SHORTEST / seconds))


def _time(run: Callable[[Any], Any], inputs: Any, number: int = 1) -> float:
    gc.collect()
    start = time.perf_counter()
    for _ in range(number):
        result = run(inputs)
    elapsed = (time.perf_counter() - start) / number
    return result if isinstance(result, Elapsed) else elapsed


def _extra_memory(run: Callable[[Any], Any], inputs: Any) -> int | None:
    """Peak of the resident memory during a call, less what was resident before; None where the system cannot say."""
    reset = Path("/proc/self/clear_refs")
    if not reset.exists():
        return None
    _release()
    reset.write_text("5")  # the high-water mark falls to what is resident now
    before = _high_water()
    run(inputs)
    return max(0, _high_water() - before)


def _release() -> None:
    """Give back what reading the inputs left with the allocators."""
    gc.collect()
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc
    if trim is not None:
        trim(0)


def _high_water() -> int:
    """Peak of this process's resident memory, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(
        int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")
    )


def _serve(request: dict[str, Any]) -> Any:
    case = next(case for case in CASES if case.name == request["case"])
    contenders = [
        contender
        for contender in case.contenders()
        if contender.name == request.get("contender", contender.name)
    ]
    for contender in contenders:
        importlib.import_module(contender.needs)
    folder = Path(request["folder"])
    stored = folder / "inputs.pickle"
    if "repeat" in request:
        inputs = case.build(Size(**request["size"]), folder)
        stored.write_bytes(pickle.dumps(inputs))
        return _times(contenders, inputs, request["repeat"])
    with tempfile.TemporaryDirectory() as other_folder:
        contenders[0].run(
            case.build(TINY, Path(other_folder))
        )  # modules are loaded, threads started
    with stored.open("rb") as file:
        inputs = pickle.load(
            file
        )  # building them here would leave memory behind that a contender gets for nothing
    return _extra_memory(contenders[0].run, inputs)


if __name__ == "__main__":
    print(json.dumps(_serve(json.loads(sys.argv[1]))))
