"""The ledger of a gate: how much of alpha the looks at a sequence of changes have spent.

A gate at every commit is a sequence of tests: of 20 harmless commits, some are stopped in .63 of projects. The n-th look tests at
alpha_n = 6 alpha / (pi n)^2, which sum to alpha over all looks that will ever be.

The file holds JSON lines and is only ever appended to: a look is written before anything is tested, so that one that crashes is
spent, too; then what it found. A line that a crash broke off counts as a look. Jobs that run at once lock the file while they number
their looks. The same data are looked at once: a job that runs again tests at the level that it had.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Any

from ir_lexirecall._util.errors import is_integer, is_number, shown

KEYS = ("look", "data")  # of every line


def spent_at(look: int, alpha: float) -> float:
    """alpha_n = 6 alpha / (pi n)^2.

    >>> round(spent_at(1, 0.05), 4), round(sum(spent_at(n, 0.05) for n in range(1, 10_000)), 3)
    (0.0304, 0.05)
    """
    return 6 * alpha / (math.pi * look) ** 2


@dataclass(frozen=True)
class Look:
    """A look at the data that a ledger counts.

    Attributes:
        ledger: path of the file.
        number: n, from 1 on.
        alpha: level of all looks together.
        again: whether the same data were looked at before.
    """

    ledger: str
    number: int
    alpha: float
    again: bool
    data: Mapping[str, Any]

    @property
    def spent(self) -> float:
        """Level at which this look tests."""
        return spent_at(self.number, self.alpha)

    @property
    def spent_in_all(self) -> float:
        """Sum of the levels of the looks up to this one."""
        return sum(spent_at(n, self.alpha) for n in range(1, self.number + 1))

    @staticmethod
    def claim(path: str | os.PathLike[str], data: Mapping[str, Any], alpha: float) -> Look:
        """Write down a new look at some data, or find the one that was.

        Raises:
            ValueError: the file is no ledger, or was begun at another level.
        """
        name, data = os.fspath(path), json.loads(json.dumps(data))
        with _locked(name) as file:
            lines = file.read().decode(errors="replace").splitlines()
            if lines and not lines[0].startswith("{"):
                raise ValueError(
                    f"{shown(name)} is not a ledger of gate: its first line is {shown(lines[0])}; name a new file"
                )
            parsed = [*map(_parsed, lines)]
            for number, line in enumerate(parsed, start=1):
                for key, is_right in (("look", is_integer), ("alpha", is_number)):
                    if not is_right(line.get(key, 1)):
                        bad = (
                            f"line {number} of the ledger {shown(name)}: {key} must be a number, not {shown(line[key])}"
                        )
                        raise ValueError(f"{bad}; mend the line, or name a new file")
            looks = [line for line in parsed if "outcome" not in line]
            for line in looks:
                if line.get("alpha", alpha) != alpha:
                    raise ValueError(
                        f"the ledger {shown(name)} was begun with alpha {line['alpha']:g}; keep that alpha, or name a new file"
                    )
            known = [line["look"] for line in looks if line.get("data") == data]
            look = Look(name, known[0] if known else len(looks) + 1, alpha, bool(known), data)
            if not known:
                _append(file, {"look": look.number, "data": data, "alpha": alpha, "spent": look.spent} | _now())
        return look

    def record(self, found: Mapping[str, Any]) -> None:
        """Write down what was found, with ``outcome``; nothing of a look again."""
        if not self.again:
            with _locked(self.ledger) as file:
                _append(file, {"look": self.number, "data": self.data, **found} | _now())

    def __str__(self) -> str:
        again = ", again" if self.again else ""
        return (
            f"Look {self.number}{again} by the ledger {self.ledger}: it tests at {self.spent:.2g}; "
            f"{self.spent_in_all:.3g} of {self.alpha:g} are spent."
        )


def _now() -> dict[str, str]:
    return {"time": datetime.now(UTC).isoformat(timespec="seconds")}


def _parsed(line: str) -> dict[str, Any]:
    """A line; an empty one where a crash broke it off: it counts as a look at unknown data."""
    try:
        found = json.loads(line)
    except json.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) and all(key in found for key in KEYS) else {}


def _append(file: IO[bytes], line: Mapping[str, Any]) -> None:
    end = file.seek(0, os.SEEK_END)
    if end:
        file.seek(end - 1)
        broken = file.read(1) != b"\n"
        file.seek(0, os.SEEK_END)
        if broken:
            file.write(b"\n")
    file.write(json.dumps(line).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _locked(path: str) -> Iterator[IO[bytes]]:
    """The file, made if it is not there, locked until it is closed: a process that dies leaves no lock."""
    with open(path, "a+b") as file:
        try:
            import fcntl
        except ModuleNotFoundError:  # Windows
            import msvcrt

            file.seek(0)
            lock: Any = msvcrt
            lock.locking(file.fileno(), lock.LK_LOCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        try:
            yield file
        finally:
            if os.name == "nt":
                file.seek(0)
                lock.locking(file.fileno(), lock.LK_UNLCK, 1)
