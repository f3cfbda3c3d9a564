"""``gate``: does a change make rankings worse? And its ledger: how much of alpha the looks at a sequence of changes have spent.

A gate at every commit is a sequence of tests: of 20 harmless commits, some are stopped in .63 of projects. The n-th look tests at
alpha_n = 6 alpha / (pi n)^2, which sum to alpha over all looks that will ever be.

The file holds JSON lines and is only ever appended to: a look is written before anything is tested, so that one that crashes is
spent, too; then what it found. A line that a crash broke off counts as a look. Jobs that run at once lock the file while they number
their looks. The same data are looked at once: a job that runs again tests at the level that it had.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import IO, Any

import numpy as np

from ir_lexirecall._util.errors import (
    check_choice,
    check_integer,
    entry,
    is_integer,
    is_number,
    shown,
)
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import same
from ir_lexirecall.comparison.compared import Design, MarginLike
from ir_lexirecall.comparison.comparing import (
    CriteriaLike,
    compare_runs,
    parse_criteria,
    read_predicted,
)
from ir_lexirecall.comparison.result import Comparison
from ir_lexirecall.comparison.verdicts import UNDECIDED, UNDONE, WORSE, two_sided
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance import SignificanceTest

present: Any = LazyModule("ir_lexirecall.present")  # found late: it reads results

RULES = ("evidence", "judged", "strict", "drop")


@dataclass(frozen=True, eq=False)
class Gate:
    """What ``gate`` found.

    Attributes:
        comparison: of the candidate with the baseline.
        rule: ``'evidence'``, ``'judged'``, ``'strict'`` or ``'drop'``.
        release: of the candidate with a second baseline; None where there is none.
        look: which look at such data it is, and what it spends; None without a ledger.
    """

    comparison: Comparison = field(repr=False)
    rule: str
    release: Gate | None = None
    look: Look | None = None

    @property
    def baseline(self) -> str:
        """Name of the run to compare with."""
        return str(self.comparison.baseline)

    @cached_property
    def candidate(self) -> str:
        """Name of the run that must not be worse."""
        return next(run for run in self.comparison.runs if run != self.baseline)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The rows of ``Comparison.table``, with ``test``, ``queries``, ``margin``, ``holds`` (see ``Comparison.verdicts``) and ``fails``:
        whether the criterion stops the change.

        By evidence, strict or not, a criterion fails where the verdict is *worse*; it is undecided where ``holds`` is ``could be
        undone``, but by the rule ``'judged'``. By the rule ``'drop'`` it fails where a mean fell by more than the margin, or the test finds a preference for the
        baseline.
        """
        result = self.comparison
        table = result.table()
        table["holds"] = result.verdicts(holds=True)["holds"]
        for fact in ("test", "queries", "margin"):
            table[fact] = [result.provenance[fact][name] for name in table["criterion"]]
        if self.rule != "drop":
            if self.rule != "judged":
                excused = (table["verdict"] == WORSE) & (table["holds"] == UNDONE)
                table["verdict"] = table["verdict"].mask(excused, UNDECIDED)
            return table.assign(fails=table["verdict"] == WORSE)
        by = [result.by[name] for name in table["criterion"]]
        signs, margin = np.array([c.sign for c in by]), table["margin"].to_numpy()
        loss = -signs * table["difference"].to_numpy()
        scale = table[["mean_a", "mean_b"]].abs().max(axis=1).fillna(1.0).to_numpy()
        fallen = (loss > margin) & ~same(
            loss, margin, np.maximum(scale, margin)
        )  # and by more than rounding
        reject = (table["p_corrected"] <= result.test.alpha).to_numpy()
        against = np.array(two_sided(reject, signs * table["estimate"].to_numpy())) == WORSE
        return table.assign(fails=np.where([c.is_measure for c in by], fallen, against))

    @property
    def failed(self) -> list[str]:
        """The criteria that stop the change."""
        return self.table["criterion"][self.table["fails"]].tolist()

    @property
    def undecided(self) -> list[str]:
        """The criteria of which the evidence does not say."""
        table = self.table
        return table["criterion"][(table["verdict"] == UNDECIDED) & ~table["fails"]].tolist()

    @property
    def outcome(self) -> str:
        """``'worse'``, ``'undecided'`` (only where that does not pass), or ``'passed'``."""
        if self.failed or (self.release is not None and self.release.failed):
            return WORSE
        undecided = self.undecided or (self.release is not None and self.release.undecided)
        return UNDECIDED if self.rule == "strict" and undecided else "passed"

    @property
    def exit_code(self) -> int:
        """0 passed, 3 worse, 4 undecided where that does not pass."""
        return {"passed": 0, WORSE: 3, UNDECIDED: 4}[self.outcome]

    @entry
    def lost(self, most: int | None = None) -> pd.DataFrame:
        """The queries that the candidate loses by the first criterion, the largest losses first, and what decided: see ``explain``."""
        if most is not None:
            check_integer("most", most, least=0)
        result = self.comparison
        name = result.criteria[0]
        table = result.explain(self.candidate, self.baseline, name)
        lost = table[(table["winner"] == self.baseline).to_numpy()]
        losses = lost["preference"]
        if "value_a" in lost:
            losses = result.by[name].sign * (lost["value_a"] - lost["value_b"])
        return lost.loc[losses.sort_values(kind="stable").index].head(
            len(lost) if most is None else most
        )

    def __str__(self) -> str:
        return str(present.gate_text(self))

    def __repr__(self) -> str:
        return f"<Gate: {self.candidate} beside {self.baseline}: {self.outcome}; print() shows what it says>"


@entry
def gate(
    qrels: QrelsLike,
    baseline: RunLike,
    candidate: RunLike,
    by: CriteriaLike,
    *,
    margin: MarginLike = 0.01,
    test: str | SignificanceTest | None = None,
    rule: str = "evidence",
    names: tuple[str, str] = ("baseline", "candidate"),
    allow_empty: bool = False,
    ledger: str | os.PathLike[str] | None = None,
    release: RunLike | None = None,
    predicted: QrelsLike | None = None,
) -> Gate:
    """Say whether a candidate is worse than a baseline, from evidence: what stops a change before it is merged.

    A criterion is *worse* where the one-sided test finds a loss (corrected over all criteria), *not worse* where it finds that
    the loss is less than the margin, else *undecided*. So a change without an effect is called worse in at most alpha of the
    cases, all criteria together, and one that loses as much as the margin is called not worse in at most alpha for each (where
    differences are symmetric, or not too skewed: the page on error rates). That holds for each change alone: of 50 harmless
    ones, any is stopped in .93 of cases; with a ``ledger`` in at most alpha.

    Args:
        qrels, baseline, candidate: judgments and two runs, in any form that ``evaluate`` takes.
        by: criteria, as in ``compare``.
        margin: a loss that does not matter, as in ``compare``.
        test, allow_empty: as in ``compare``.
        rule: ``'evidence'``, which calls a criterion undecided, not worse, where some judging of unjudged documents is known to undo the
            loss (a candidate may find what the pool of the baseline does not hold); ``'judged'``: by evidence, as the documents are
            judged; ``'strict'``: by evidence, and what is undecided does not pass; or ``'drop'``: worse where a mean
            fell by more than the margin, whatever chance has to do with it.
        names: what the two runs are called.
        ledger: a file of JSON lines, in which each look is written down. The n-th look tests at 6 alpha / (pi n)^2, so that the sequence
            of all changes keeps alpha. It is appended to only; jobs may run at once, and the same data count once.
        release: a second baseline, of the last release: each of many small losses may pass, their sum does not. Both baselines are
            tested at half of alpha.
        predicted: judgments by a program of all queries, as in ``compare``: ``qrels`` are then those of people, for a random sample.
            Differences, tests and verdicts use both.

    Returns:
        ``Gate``: ``outcome``, ``failed``, ``table``, ``lost()``, ``exit_code``; ``str()`` is a summary in Markdown.

    Raises:
        ValueError: bad input, no query has a relevant document, a file that is no ledger, or one with the rule ``'drop'``.

    >>> qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(30)}
    >>> before = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    >>> after = {q: {"b": 2.0, "a": 1.0} if q < "q2" else {"a": 2.0, "b": 1.0} for q in qrels}
    >>> gate(qrels, before, before, "RR").outcome, gate(qrels, before, after, "RR").outcome
    ('passed', 'worse')
    """
    check_choice("rule", rule, RULES)
    if not isinstance(names, (tuple, list)) or len(names) != 2:
        raise ValueError(
            f"names must be two, the baseline's and the candidate's, not {shown(names)}"
        )
    if margin is None:
        raise ValueError(
            "margin must be a number, a share such as '2%', or one for each criterion, not None; 0 allows no loss"
        )
    if rule == "drop" and (ledger is not None or release is not None):
        raise ValueError("ledger and release need the rule 'evidence': they are about tests")
    judgments, criteria = Judgments.from_qrels(qrels), parse_criteria(by)
    by_program = None if predicted is None else read_predicted(predicted)
    design = Design(
        names[0], margin, SignificanceTest.by_name(test), by_program, allow_empty=allow_empty
    )
    preferences = [
        criterion for criterion in criteria.values() if isinstance(criterion, Preference)
    ]
    if not all(
        judgments.m(rel).any()
        for rel in {judgments.threshold, *(p.rel_in(judgments) for p in preferences)}
    ):
        raise ValueError("no query of the qrels has a relevant document: nothing can be compared")
    runs: dict[str, Any] = {names[0]: baseline, names[1]: candidate}
    results = [compare_runs(judgments, runs, criteria, design)]
    if release is not None:
        last = "release" if "release" not in names else f"{names[0]} (release)"
        runs = {
            last: release,
            names[1]: results[0].scored.sources[names[1]] if results[0].scored else candidate,
        }
        results.append(compare_runs(judgments, runs, criteria, replace(design, baseline=last)))
    alpha = design.test.alpha
    look = None
    if ledger is not None:
        digests = {}  # of the values and preferences of each run: with criteria, margins and tests, what is looked at
        for result in results:
            for place, run in enumerate(result.runs):
                judges = [result] if result.predicted is None else [result, result.predicted]
                standings = b"".join(
                    c.standings[place].tobytes() for judge in judges for c in judge.by.values()
                )
                digests[run] = hashlib.sha256(standings).hexdigest()[:16]
        margins = [dict(result.margins or {}) for result in results]
        look = Look.claim(
            ledger,
            {"runs": digests, "margins": margins, "tests": results[0].provenance["test"]},
            alpha,
        )
    test = replace(design.test, alpha=(alpha if look is None else look.spent) / len(results))
    found, *beside = (Gate(replace(result, test=test), rule) for result in results)
    found = replace(found, release=beside[0] if beside else None, look=look)
    if look is not None:
        tables = {one.baseline: one.table for one in (found, *beside)}
        verdicts = {
            name: dict(zip(table["criterion"], table["verdict"], strict=True))
            for name, table in tables.items()
        }
        look.record({"outcome": found.outcome, "verdicts": verdicts})
    return found


# -- the ledger ------------------------------------------------------------------------------------


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
        name, data, looks = os.fspath(path), json.loads(json.dumps(data)), []
        with _locked(name) as file:
            for number, text in enumerate(
                file.read().decode(errors="replace").splitlines(), start=1
            ):
                if number == 1 and not text.startswith("{"):
                    said = f"is not a ledger of gate: its first line is {shown(text)}"
                    raise ValueError(f"{shown(name)} {said}; name a new file")
                line: Any = {}
                with suppress(json.JSONDecodeError):
                    line = json.loads(text)
                if not isinstance(line, dict) or not {"look", "data"} <= line.keys():
                    line = {}  # where a crash broke it off: it counts as a look at unknown data
                for key, is_right in (("look", is_integer), ("alpha", is_number)):
                    if not is_right(line.get(key, 1)):
                        said = f"{key} must be a number, not {shown(line[key])}; mend it, or name a new file"
                        raise ValueError(f"line {number} of the ledger {shown(name)}: {said}")
                if line.get("alpha", alpha) != alpha:
                    said = f"was begun with alpha {line['alpha']:g}; keep that alpha"
                    raise ValueError(f"the ledger {shown(name)} {said}, or name a new file")
                looks += [] if "outcome" in line else [line]
            known = [line["look"] for line in looks if line.get("data") == data]
            look = Look(name, known[0] if known else len(looks) + 1, alpha, bool(known), data)
            if not known:
                _append(
                    file, {"look": look.number, "data": data, "alpha": alpha, "spent": look.spent}
                )
        return look

    def record(self, found: Mapping[str, Any]) -> None:
        """Write down what was found, with ``outcome``; nothing of a look again."""
        if not self.again:
            with _locked(self.ledger) as file:
                _append(file, {"look": self.number, "data": self.data, **found})

    def __str__(self) -> str:
        again = ", again" if self.again else ""
        return (
            f"Look {self.number}{again} by the ledger {self.ledger}: it tests at {self.spent:.2g}; "
            f"{self.spent_in_all:.3g} of {self.alpha:g} are spent."
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
