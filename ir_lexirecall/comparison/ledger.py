"""The ledger of a gate: how much of alpha the looks at a sequence of changes have spent.

A gate at every commit is a sequence of tests: over 50 harmless commits, 0.93 of projects see at
least one stopped. So the n-th look tests at alpha_n = 6 alpha / (pi n)^2, which sum to alpha over
all looks, however many. With a horizon of N looks, known in advance, each of them tests at alpha /
N: with N = 20, a loss of half a standard deviation on 50 queries is found at look 20 in 0.69
instead of 0.32.

The file holds JSON lines and is only ever appended to. A look is written before anything is tested
(`Look.claim`), and what it found afterwards (`Look.record`):

    {"look": 1, "data": {...}, "alpha": 0.05, "spent": 0.0304, "time": "..."}
    {"look": 1, "data": {...}, "outcome": "passed", "verdicts": {...}, "time": "..."}

What keeps the level:

- A job that crashes between the two has spent its look. If it runs again, it tests at the level of
  that look, and records the outcome that is missing.
- The same data with the same test are the same look, whose outcome cannot differ. So a repeated
  look costs nothing. Data are what the test sees: the values of all criteria, margins, and the test
  with its correction, seed and number of resamples. With another correction or seed, the same
  values could get another outcome. That is another chance to stop a harmless change, so it is a new
  look, which spends alpha of its own.
- Jobs that run at once lock the file while they number their looks.
- A line that a crash broke off counts as a look, unless it is the outcome of a look above it.
- If the ledgers of two branches are merged, a number may be there twice. Both looks have spent
  their level, so the next look has the first number that leaves what they have spent within alpha.
  If no number does, the summary says that more than alpha is used.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, islice
from typing import IO, Any

from ir_lexirecall._util.errors import is_integer, is_number, shown
from ir_lexirecall._util.lazy import cached_property

_MOST_BYTES = 2**27  # of a ledger: about 200,000 looks
_MOST_LOOKS = 10**6
_ROUNDING = 1e-9
_MERGE_MARKS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_FIRST_WORDS = '{"look": '  # of every line
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def spent_at(look: int, alpha: float, horizon: int | None = None) -> float:
    """Return the level of a look: alpha_n = 6 alpha / (pi n)^2, or alpha / N for a horizon N.

    Looks beyond the horizon have a level of 0.

    >>> round(spent_at(1, 0.05), 4), round(sum(spent_at(n, 0.05) for n in range(1, 10_000)), 3)
    (0.0304, 0.05)
    >>> spent_at(20, 0.05, horizon=20), spent_at(21, 0.05, horizon=20)
    (0.0025, 0.0)
    """
    if horizon is None:
        return 6 * alpha / (math.pi * look) ** 2
    if look <= horizon:
        return alpha / horizon
    return 0.0


@dataclass(frozen=True)
class Spending:
    """How looks share alpha.

    Attributes:
        alpha: level of all looks together.
        horizon: number of looks that share it equally; None: any number, each at less.
    """

    alpha: float
    horizon: int | None = None

    def at(self, look: int) -> float:
        """Return the level of a look."""
        return spent_at(look, self.alpha, self.horizon)

    def __str__(self) -> str:
        """Return alpha and the horizon in words."""
        if self.horizon is None:
            horizon = "no horizon"
        else:
            horizon = f"a horizon of {self.horizon}"
        return f"alpha {self.alpha:g} and {horizon}"


@dataclass(frozen=True)
class Look:
    """A look at the data that a ledger counts.

    Attributes:
        ledger: path of the file.
        number: n, from 1 on.
        alpha: level of all looks together.
        again: whether the same data were looked at before.
        data: what is looked at: digests of the values, margins, and the test.
        spent_before: level of the other looks in the ledger when this one was first taken.
        next_number: number that a look at new data would have.
        horizon: number of looks that share alpha equally; None: any number of looks.
    """

    ledger: str
    number: int
    alpha: float
    again: bool
    data: Mapping[str, Any]
    spent_before: float
    next_number: int
    horizon: int | None = None

    @property
    def spent(self) -> float:
        """Level at which this look tests."""
        return spent_at(self.number, self.alpha, self.horizon)

    @property
    def spent_next(self) -> float:
        """Level at which the next look tests; 0 if the horizon is reached."""
        return spent_at(self.next_number, self.alpha, self.horizon)

    @property
    def spent_in_all(self) -> float:
        """Sum of the levels of the looks up to this one."""
        return self.spent_before + self.spent

    @staticmethod
    def claim(
        path: str | os.PathLike[str],
        data: Mapping[str, Any],
        alpha: float,
        horizon: int | None = None,
    ) -> Look:
        """Write down a new look at some data, or return the earlier look at the same data.

        Raises:
            ValueError: the file is no ledger, was begun at another level or horizon, or its horizon
                is reached.
        """
        name, data = _checked_path(path), json.loads(json.dumps(data))
        spending = Spending(alpha, horizon)
        with _locked(name) as file:
            entries = _Entries.read(file, name)
            entries.check_spending(spending)
            earlier = entries.number_of(data)
            spent_before = entries.spent_before(data, spending)
            number = entries.next_number(spending)
            if earlier is not None:
                return Look(
                    name, earlier, alpha, True, data, spent_before, number, horizon
                )
            look = Look(
                name, number, alpha, False, data, spent_before, number + 1, horizon
            )
            if not look.spent:
                raise ValueError(
                    f"the ledger {shown(name)} has used all {horizon} looks of its horizon; "
                    "begin a new ledger"
                )
            claim = {
                "look": look.number,
                "data": data,
                "alpha": alpha,
                "spent": look.spent,
            }
            if horizon is not None:
                claim["horizon"] = horizon
            _append(file, claim)
        return look

    def record(self, result: Mapping[str, Any]) -> None:
        """Append the outcome to the ledger, unless it holds an outcome of this look already."""
        with _locked(self.ledger) as file:
            if not _Entries.read(file, self.ledger).has_outcome(self.data):
                _append(file, {"look": self.number, "data": self.data, **result})

    def __str__(self) -> str:
        """Return the number of the look, its level, and the share of alpha used so far."""
        repeated = ", repeated on the same data" if self.again else ""
        used = f"{self.spent_in_all:#.2g} of {self.alpha:g} used"
        if self.spent_in_all > self.alpha * (1 + _ROUNDING):
            used += ", more than all looks may use together: begin a new ledger"
        if self.horizon is None:
            number = f"{self.number}"
        else:
            number = f"{self.number} of {self.horizon}"
        return f"Look {number} of {self.ledger}{repeated}: level {self.spent:#.2g}; {used}."


@dataclass(frozen=True)
class _Entries:
    """What the lines of a ledger say."""

    name: str
    claims: list[dict[str, Any]]
    outcomes: list[dict[str, Any]]
    n_broken: int  # claims that a crash broke off: looks at unknown data

    @classmethod
    def read(cls, file: IO[bytes], name: str) -> _Entries:
        """Read and check all lines.

        Raises:
            ValueError: a line is none that a gate wrote; it is named.
        """
        claims: list[dict[str, Any]] = []
        outcomes: list[dict[str, Any]] = []
        n_broken = 0
        file.seek(0)
        text = file.read().decode("utf-8-sig", errors="replace")
        if "\0" in text and not text.strip("\0\r\n "):
            raise ValueError(
                f"the ledger {shown(name)} holds NUL bytes only, so its looks are lost; restore "
                "it, or name a new file"
            )
        lines = text.split("\n")
        for number, line in enumerate(lines, start=1):
            text = line.strip("\0\r ")  # a crash of the machine may leave NULs
            if not text:
                continue
            entry = _entry(text, number, name)
            if entry is None:
                n_broken += not _is_outcome_of(text, len(claims) + n_broken)
            elif "outcome" in entry:
                outcomes.append(entry)
            else:
                claims.append(entry)
        return cls(name, claims, outcomes, n_broken)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Number of the look at each data, in the order of the file.

        The same data in two branches are one look, at the larger level of the two.
        """
        numbers: dict[str, int] = {}
        for claim in self.claims:
            key = json.dumps(claim["data"], sort_keys=True)
            numbers[key] = min(int(claim["look"]), numbers.get(key, int(claim["look"])))
        return numbers

    def spent_before(self, data: Any, spending: Spending) -> float:
        """Return the sum of the levels of the looks before the one at these data.

        If these data are new, all looks are before.
        """
        key = json.dumps(data, sort_keys=True)
        keys = list(self.numbers)
        if key in self.numbers:
            before = keys[: keys.index(key)]
        else:
            before = keys
        last = self.numbers.get(key, _MOST_LOOKS)
        spent = sum(spending.at(self.numbers[other]) for other in before)
        return spent + sum(spending.at(n) for n in self._broken_numbers() if n < last)

    def _broken_numbers(self) -> list[int]:
        """Return numbers for the looks that a crash broke off: the smallest unused ones.

        Their own numbers are lost.
        """
        taken, numbers = set(self.numbers.values()), count(1)
        return list(islice((n for n in numbers if n not in taken), self.n_broken))

    def next_number(self, spending: Spending) -> int:
        """Return the number of a new look: if possible, one that leaves all looks within alpha."""
        number = max([len(self.claims) + self.n_broken, *self.numbers.values()]) + 1
        spent = self.spent_before(None, spending)
        within = sum(spending.at(n) for n in range(1, number))
        for later in range(number, _MOST_LOOKS):
            if spent <= within * (1 + _ROUNDING):
                return later
            within += spending.at(later)
        return number

    def check_spending(self, spending: Spending) -> None:
        """Raise if the ledger was begun with another alpha or another horizon."""
        for claim in self.claims:
            begun = Spending(claim.get("alpha", spending.alpha), claim.get("horizon"))
            if begun.alpha != spending.alpha:
                raise ValueError(
                    f"the ledger {shown(self.name)} was begun with alpha {begun.alpha:g}; "
                    "keep that alpha, or name a new file"
                )
            if begun != spending:
                raise ValueError(
                    f"the ledger {shown(self.name)} was begun with {begun}, not {spending}; "
                    "keep that horizon, or name a new file"
                )

    def number_of(self, data: Any) -> int | None:
        """Return the number of the look at these data; None if there is none."""
        return self.numbers.get(json.dumps(data, sort_keys=True))

    def has_outcome(self, data: Any) -> bool:
        """Return whether the outcome of the look at these data is written down."""
        return any(outcome["data"] == data for outcome in self.outcomes)


def _entry(text: str, number: int, name: str) -> dict[str, Any] | None:
    """Return what a line says; None if a crash broke it off.

    Raises:
        ValueError: the line is none that a gate wrote.
    """
    try:
        entry = json.loads(text)
    except json.JSONDecodeError:
        if text.startswith(_FIRST_WORDS) or _FIRST_WORDS.startswith(text):
            return None
        entry = None
    except (RecursionError, ValueError):
        # It is nested too deeply, or a number has too many digits.
        entry = None
    if text.startswith(_MERGE_MARKS):
        raise ValueError(
            f"line {number} of the ledger {shown(name)} is left from a merge, {shown(text[:40])}; "
            "remove such lines, and keep the entries of both sides"
        )
    if not isinstance(entry, dict) or not {"look", "data"} <= entry.keys():
        if number == 1:
            raise ValueError(
                f"{shown(name)} is not a ledger of gate: its first line is {shown(text[:80])}; "
                "name a new file"
            )
        raise ValueError(
            f"line {number} of the ledger {shown(name)}: gate does not write {shown(text[:80])}; "
            "correct it, or name a new file"
        )
    _check_numbers(entry, number, name)
    return entry


def _check_numbers(entry: Mapping[str, Any], number: int, name: str) -> None:
    """Raise if the number of a look, or its alpha, is impossible."""
    message = None
    if not is_integer(entry["look"]):
        message = f"look must be a number, not {shown(entry['look'])}"
    elif not 1 <= entry["look"] <= number:  # as every look has a line
        message = f"look must be from 1 to {number}, not {shown(entry['look'])}"
    elif not is_number(entry.get("alpha", 0.05)):
        message = f"alpha must be a number, not {shown(entry['alpha'])}"
    elif not 0 < entry.get("alpha", 0.05) < 1:
        message = f"alpha must be between 0 and 1, not {shown(entry['alpha'])}"
    elif not _is_horizon(entry.get("horizon")):
        message = f"horizon must be a number of looks, not {shown(entry['horizon'])}"
    if message is not None:
        raise ValueError(
            f"line {number} of the ledger {shown(name)}: {message}; correct it, or name a new file"
        )


def _is_horizon(value: Any) -> bool:
    """Return whether a value is None or a number of looks."""
    return value is None or (is_integer(value) and value >= 1)


def _is_outcome_of(text: str, n_looks: int) -> bool:
    """Return whether a broken line was the outcome of one of the looks above it.

    >>> _is_outcome_of('{"look": 1, "data": {"ru', 1), _is_outcome_of('{"look": 2, "da', 1)
    (True, False)
    """
    look = re.match(r'\{"look": (\d{1,15}),', text)
    return look is not None and int(look[1]) <= n_looks


# -- the file --------------------------------------------------------------------------------------


def _checked_path(path: Any) -> str:
    """Return the path of a ledger as text.

    Raises:
        ValueError: it is no path, names a folder, a device, a pipe, or a file that is too large, or
            is in a folder that does not exist.
    """
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise ValueError(f"ledger must be the path of a file, not {shown(path)}")
    name = os.fsdecode(path)
    try:
        status = os.stat(name)
    except (FileNotFoundError, NotADirectoryError):  # a new ledger
        _check_folder_of(name)
        return name
    except (OSError, ValueError) as error:  # too long, or with a NUL
        raise _cannot_be_opened(name, error) from None
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "no file")
        raise ValueError(
            f"the ledger {shown(name)} is {kind}, not a file of JSON lines; name a new file"
        )
    if status.st_size > _MOST_BYTES:
        raise ValueError(
            f"{shown(name)} is not a ledger of gate: it has {status.st_size:,} bytes; "
            "name a new file"
        )
    return name


def _cannot_be_opened(name: str, error: Exception) -> ValueError:
    """Return the error for a ledger that cannot be opened."""
    reason = getattr(error, "strerror", None) or str(error)
    return ValueError(
        f"the ledger {shown(name)} cannot be opened: {reason}; name another file"
    )


def _check_folder_of(path: str) -> None:
    """Raise if the folder in which a new ledger would be made does not exist."""
    folder = os.path.dirname(path) or os.curdir
    if not os.path.isdir(folder):
        raise ValueError(
            f"the ledger {shown(path)} cannot be made: there is no folder {shown(folder)}; make "
            "it, or name a file in another one"
        )


def _append(file: IO[bytes], line: Mapping[str, Any]) -> None:
    """Write a line, after the end of one that a crash broke off."""
    file.seek(0)
    start = b"" if file.read()[-1:] in (b"", b"\n") else b"\n"
    timed = {**line, "time": datetime.now(UTC).isoformat(timespec="seconds")}
    file.write(start + json.dumps(timed).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _locked(path: str) -> Iterator[IO[bytes]]:
    """Open the file, made if it is not there, and lock it until it is closed.

    A process that dies leaves no lock.
    """
    try:
        opened = open(path, "a+b")  # noqa: SIM115
    except OSError as error:
        raise _cannot_be_opened(path, error) from None
    with opened as file:
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
