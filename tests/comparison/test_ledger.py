"""The gate at every commit: its ledger, a release, and judgments that are missing."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ir_lexirecall as irl
from ir_lexirecall import SignificanceTest
from ir_lexirecall.comparison import ledger as ledgers
from ir_lexirecall.comparison.ledger import Look, spent_at

QRELS = {f"q{i:02}": {"a": 1, "x0": 0, "x1": 0, "x2": 0} for i in range(40)}


def run(seed: int, depth: int = 3) -> dict[str, dict[str, float]]:
    """The relevant document at a random rank."""
    rng = np.random.default_rng(seed)
    ranks = rng.integers(depth, size=len(QRELS))
    return {
        q: {("a" if i == rank else f"x{i}"): float(-i) for i in range(depth)}
        for q, rank in zip(QRELS, ranks, strict=True)
    }


def test_each_look_spends_less_and_all_of_them_alpha(tmp_path: Path) -> None:
    ledger = tmp_path / "gate.jsonl"
    found = [
        irl.gate(QRELS, run(0), run(seed), "RR", ledger=ledger) for seed in (1, 2, 3)
    ]
    assert [one.look.number for one in found] == [1, 2, 3]
    assert [one.comparison.test.alpha for one in found] == [
        spent_at(n, 0.05) for n in (1, 2, 3)
    ]
    assert found[2].look.spent_in_all == pytest.approx(
        0.05 * 6 / np.pi**2 * (1 + 1 / 4 + 1 / 9)
    )
    assert f"Look 3 of {ledger}: level 0.0034; 0.041 of 0.05 used." in str(found[2])
    lines = [json.loads(line) for line in ledger.read_text().splitlines()]
    assert [line["look"] for line in lines] == [1, 1, 2, 2, 3, 3]
    assert [line["outcome"] for line in lines if "outcome" in line] == [
        one.outcome for one in found
    ]


def test_with_a_horizon_looks_share_alpha_equally_and_end(tmp_path: Path) -> None:
    ledger = tmp_path / "gate.jsonl"
    options: dict[str, Any] = {"ledger": ledger, "horizon": 3}
    found = [irl.gate(QRELS, run(0), run(seed), "RR", **options) for seed in (1, 2, 3)]
    assert [one.comparison.test.alpha for one in found] == [0.05 / 3] * 3
    assert found[2].look.spent_in_all == pytest.approx(0.05)
    assert f"Look 3 of 3 of {ledger}: level 0.017; 0.050 of 0.05 used." in str(found[2])
    again = irl.gate(QRELS, run(0), run(2), "RR", **options)  # costs nothing
    assert (again.look.number, again.look.again) == (2, True)
    with pytest.raises(
        ValueError, match=r"gate: the ledger .* has used all 3 looks of its horizon"
    ):
        irl.gate(QRELS, run(0), run(4), "RR", **options)
    assert len(ledger.read_text().splitlines()) == 6
    for horizon in (None, 4):
        with pytest.raises(
            ValueError, match=r"begun with alpha 0.05 and a horizon of 3"
        ):
            irl.gate(QRELS, run(0), run(4), "RR", ledger=ledger, horizon=horizon)


@pytest.mark.parametrize("horizon", [0, -1, 2.5, "20", True])
def test_a_horizon_is_a_number_of_looks(horizon: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"gate: horizon"):
        irl.gate(QRELS, run(0), run(1), "RR", ledger=tmp_path / "g", horizon=horizon)
    with pytest.raises(ValueError, match=r"horizon is the number of looks of a ledger"):
        irl.gate(QRELS, run(0), run(1), "RR", horizon=20)


def test_branches_with_a_horizon_stay_within_alpha(tmp_path: Path) -> None:
    """Two branches of one ledger look twice each: the merged file knows what both have spent."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for path, names in ((ours, "ab"), (theirs, "cd")):
        for name in names:
            Look.claim(path, {"runs": name}, 0.05, 5)
    ours.write_text(ours.read_text() + theirs.read_text())
    look = Look.claim(ours, {"runs": "e"}, 0.05, 5)
    assert look.spent_in_all <= 0.05 * (1 + 1e-9)


def test_the_same_data_are_looked_at_once(tmp_path: Path) -> None:
    ledger = tmp_path / "gate.jsonl"
    for _ in range(2):
        first = irl.gate(QRELS, run(0), run(1), "RR", ledger=ledger)
    other = irl.gate(QRELS, run(0), run(1), "RR", ledger=ledger, margin=0.1)
    assert (first.look.number, first.look.again, other.look.number) == (1, True, 2)
    assert len(ledger.read_text().splitlines()) == 4


def claimed(path: Path, *data: Any) -> list[Look]:
    return [Look.claim(path, {"runs": one}, 0.05) for one in data]


@pytest.mark.parametrize(
    ("shared", "ours", "theirs"), [(3, 1, 1), (2, 2, 1), (4, 3, 5), (1, 0, 2)]
)
def test_branches_that_are_merged_stay_within_alpha(
    shared: int, ours: int, theirs: int, tmp_path: Path
) -> None:
    base, other = tmp_path / "ours.jsonl", tmp_path / "theirs.jsonl"
    claimed(base, *range(shared))
    other.write_text(base.read_text())
    claimed(base, *(f"ours {i}" for i in range(ours)))
    claimed(other, *(f"theirs {i}" for i in range(theirs)))
    added = other.read_text().splitlines(keepends=True)[shared:]
    base.write_text(base.read_text() + "".join(added))  # as git's merge=union has it
    spent = [
        spent_at(json.loads(line)["look"], 0.05)
        for line in base.read_text().splitlines()
    ]
    (look,) = claimed(base, "new")
    assert look.spent_before == pytest.approx(sum(spent))
    numbers = [json.loads(line)["look"] for line in base.read_text().splitlines()]
    assert look.number > max(numbers[:-1])
    later = 0.05 - sum(
        spent_at(n, 0.05) for n in range(1, look.number)
    )  # of it and all after it
    assert sum(spent) + later <= 0.05 + 1e-12
    if ours == 0:  # theirs only: as if there were no branch
        assert look.number == shared + theirs + 1


def test_looks_that_spent_more_than_alpha_say_so(tmp_path: Path) -> None:
    ledger = tmp_path / "gate.jsonl"
    claimed(ledger, "ours")
    ledger.write_text(ledger.read_text() + ledger.read_text().replace("ours", "theirs"))
    (look,) = claimed(ledger, "new")
    assert look.number == 3
    assert (
        "0.064 of 0.05 used, more than all looks may use together: begin a new"
        in str(look)
    )


def test_the_same_data_in_two_branches_are_one_look(tmp_path: Path) -> None:
    ledger = tmp_path / "gate.jsonl"
    claimed(ledger, "a", "b")
    first, second = ledger.read_text().splitlines(keepends=True)
    ledger.write_text(first + second + second.replace('"look": 2', '"look": 3'))
    (look,) = claimed(ledger, "b")
    assert (look.number, look.again) == (2, True)
    (new,) = claimed(ledger, "c")
    assert new.number == 4
    assert new.spent_before == pytest.approx(spent_at(1, 0.05) + spent_at(2, 0.05))


def test_marks_of_a_merge_are_named(tmp_path: Path) -> None:
    ledger = tmp_path / "gate.jsonl"
    claimed(ledger, "a")
    line = ledger.read_text()
    ledger.write_text(f"{line}<<<<<<< HEAD\n{line}=======\n{line}>>>>>>> branch\n")
    with pytest.raises(
        ValueError,
        match=r"line 2 of the ledger .* is left from a merge, '<<<<<<< HEAD'",
    ):
        claimed(ledger, "b")


def test_a_line_that_a_crash_broke_off_is_a_look(tmp_path: Path) -> None:
    ledger = tmp_path / "gate.jsonl"
    Look.claim(ledger, {"runs": 1}, 0.05)
    ledger.write_bytes(ledger.read_bytes() + b'{"look": 2, "da')
    assert Look.claim(ledger, {"runs": 2}, 0.05).number == 3
    assert Look.claim(ledger, {"runs": 2}, 0.05).again
    assert len(ledger.read_text().splitlines()) == 3


@pytest.mark.sparse
@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"correction": None},
        {"correction": "bonferroni"},
        {"n_resamples": 5000},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["t", "bootstrap", "randomisation"])
def test_another_correction_or_seed_is_another_chance_and_spends_alpha(
    name: str, change: dict[str, Any], tmp_path: Path
) -> None:
    ledger = tmp_path / "gate.jsonl"

    def look(**options: Any) -> Look:
        test = SignificanceTest(name, **{"n_resamples": 999} | options)
        found = irl.gate(QRELS, run(0), run(1), "RR", test=test, ledger=ledger).look
        assert found is not None
        return found

    first, other, repeated, first_again = look(), look(**change), look(**change), look()
    assert [x.number for x in (first, other, repeated, first_again)] == [1, 2, 2, 1]
    assert [x.again for x in (first, other, repeated, first_again)] == [
        False,
        False,
        True,
        True,
    ]
    assert first_again.spent == first.spent == spent_at(1, 0.05)
    assert len(ledger.read_text().splitlines()) == 4


def test_other_units_of_the_test_are_another_chance(tmp_path: Path) -> None:
    ledger = tmp_path / "gate.jsonl"
    groups = {q: q[:2] for q in QRELS}
    others = {q: q[-1] for q in QRELS}
    clustered = SignificanceTest(cluster=True)

    def look(**options: Any) -> int:
        return irl.gate(
            QRELS, run(0), run(1), "RR", ledger=ledger, **options
        ).look.number

    by_group = [{"groups": one, "test": clustered} for one in (groups, others)]
    assert [look(), *(look(**options) for options in by_group)] == [1, 2, 3]
    assert [look(), *(look(**options) for options in by_group)] == [1, 2, 3]
    assert look(groups=groups) == 1  # they are no units
    rows = [
        {"query_id": q, "run": name, "seed": seed, "x": float(np.cos(i * seed + j))}
        for i, q in enumerate(QRELS)
        for j, name in enumerate("ab")
        for seed in (1, 2, 3)
    ]
    values = pd.DataFrame(rows)
    for number, kind in enumerate(["samples", "seeds", "samples", "seeds"]):
        found = irl.gate(values=values, repeats=kind, ledger=ledger)
        assert found.look.number == 4 + number % 2


def test_a_crash_before_the_outcome_loses_neither_the_look_nor_the_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = tmp_path / "gate.jsonl"
    with monkeypatch.context() as patch:
        patch.setattr(
            Look, "record", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        with pytest.raises(KeyboardInterrupt):
            irl.gate(QRELS, run(0), run(1), "RR", ledger=ledger)
    assert ["outcome" in line for line in map(json.loads, ledger.open())] == [False]
    for _ in range(2):  # the second time the outcome is there
        found = irl.gate(QRELS, run(0), run(1), "RR", ledger=ledger)
        assert (found.look.number, found.look.again) == (1, True)
        lines = [*map(json.loads, ledger.open())]
        assert ["outcome" in line for line in lines] == [False, True]
        assert lines[1]["outcome"] == found.outcome


@pytest.mark.parametrize("kept", [5, 30, 120])
def test_an_outcome_that_a_crash_broke_off_is_no_look_and_is_written_again(
    kept: int, tmp_path: Path
) -> None:
    ledger = tmp_path / "gate.jsonl"
    irl.gate(QRELS, run(0), run(1), "RR", ledger=ledger)
    claim, outcome = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(claim + outcome[:kept])
    irl.gate(QRELS, run(0), run(1), "RR", ledger=ledger)
    last = json.loads(ledger.read_bytes().splitlines()[-1])
    assert (last["look"], "outcome" in last) == (1, True)
    other = irl.gate(QRELS, run(0), run(2), "RR", ledger=ledger).look
    assert other.number == (
        3 if kept == 5 else 2
    )  # of 5 bytes nobody knows what they were


@pytest.mark.parametrize("end", ["\n", "\0\0\0", "\r\n\n"])
def test_blank_ends_are_no_looks(end: str, tmp_path: Path) -> None:
    ledger = tmp_path / "gate.jsonl"
    Look.claim(ledger, {"runs": 1}, 0.05)
    ledger.write_text(ledger.read_text() + end)
    assert Look.claim(ledger, {"runs": 2}, 0.05).number == 2
    assert Look.claim(ledger, {"runs": 1}, 0.05).again


def test_a_byte_order_mark_is_no_part_of_a_ledger(tmp_path: Path) -> None:
    ledger = tmp_path / "gate.jsonl"
    Look.claim(ledger, {"runs": 1}, 0.05)
    ledger.write_text(ledger.read_text(), encoding="utf-8-sig")
    assert Look.claim(ledger, {"runs": 2}, 0.05).number == 2
    assert Look.claim(ledger, {"runs": 1}, 0.05).again


@pytest.mark.parametrize(
    "kind", ["a device", "endless device", "a folder", "a pipe", "large"]
)
def test_what_cannot_be_a_ledger_is_refused_at_once(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path: Path = {
        "a device": Path("/dev/null"),
        "endless device": Path("/dev/zero"),
    }.get(kind, tmp_path / "gate.jsonl")
    if kind == "a folder":
        path.mkdir()
    elif kind == "a pipe":
        os.mkfifo(path)
    elif kind == "large":
        monkeypatch.setattr(ledgers, "_MOST_BYTES", 10)
        path.write_text('{"look": 1, "data": {}}')
    said = (
        "is not a ledger of gate: it has 23 bytes"
        if kind == "large"
        else f"is {kind}, not a file"
    )
    with pytest.raises(ValueError, match=f"^gate: .*{said.replace('endless', 'a')}"):
        irl.gate(QRELS, run(0), run(1), "RR", ledger=path)


@pytest.mark.parametrize("path", [3, True, "", b"gate.jsonl", ["gate.jsonl"]])
def test_a_ledger_is_a_path(path: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^gate: ledger must be the path of a file, not "
    ):
        irl.gate(QRELS, run(0), run(1), "RR", ledger=path)


def _claim(arguments: tuple[str, int]) -> int:
    return Look.claim(arguments[0], {"job": arguments[1]}, 0.05).number


@pytest.mark.slow
def test_jobs_that_run_at_once_have_looks_of_their_own(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        numbers = pool.map(
            _claim,
            [(str(tmp_path / "gate.jsonl"), job) for job in range(12)],
            chunksize=1,
        )
    assert sorted(numbers) == list(range(1, 13))


def test_many_small_losses_are_found_against_the_release(tmp_path: Path) -> None:
    good, bad = run(0, 1), run(0, 3)
    found = irl.gate(
        QRELS, bad, bad, "RR", release=good, ledger=tmp_path / "gate.jsonl"
    )
    assert (found.failed, found.release.failed, found.outcome, found.exit_code) == (
        [],
        ["RR"],
        "worse",
        3,
    )
    assert (
        found.comparison.test.alpha
        == found.release.comparison.test.alpha
        == spent_at(1, 0.05) / 2
    )
    assert str(found).startswith("### FAILED: candidate is worse than release by RR")


@pytest.mark.parametrize(
    ("first", "options", "said"),
    [
        ("q1 0 a 1", {}, "is not a ledger of gate"),
        ('{"look": 1, "data": {}, "alpha": 0.01}', {}, "was begun with alpha 0.01"),
        (
            '{"look": 1, "data": {}, "alpha": "0.05"}',
            {},
            "line 1 of the ledger .*: alpha must be a number, not '0.05'",
        ),
        (
            '{"look": "x", "data": {}, "alpha": 0.05}',
            {},
            "line 1 of the ledger .*: look must be a number, not 'x'",
        ),
        (
            '{"look": 0, "data": {}, "alpha": 0.05}',
            {},
            "look must be from 1 to 1, not 0",
        ),
        (
            '{"look": -1, "data": {}, "alpha": 0.05}',
            {},
            "look must be from 1 to 1, not -1",
        ),
        (
            '{"look": 9, "data": {}, "alpha": 0.05}',
            {},
            "look must be from 1 to 1, not 9",
        ),
        (
            '{"look": true, "data": {}, "alpha": 0.05}',
            {},
            "look must be a number, not True",
        ),
        (
            f'{{"look": 1{"0" * 400}, "data": {{}}}}',
            {},
            "look must be from 1 to 1, not 1",
        ),
        (f'{{"look": 1{"0" * 5000}, "data": {{}}}}', {}, "is not a ledger of gate"),
        ('{"look": 1, "data": {}, "alpha": NaN}', {}, "alpha must be "),
        (
            '{"look": 1, "data": {}, "alpha": 2}',
            {},
            "alpha must be between 0 and 1, not 2",
        ),
        ("[" * 100_000, {}, "is not a ledger of gate"),
        (
            '{"look": 1, "data": ' + "[" * 100_000 + "]" * 100_000 + "}",
            {},
            "is not a ledger of gate",
        ),
        (
            '{"look": 1, "data": {}}\n' + '{"a":' * 100_000,
            {},
            "line 2 of the ledger .*: gate does not write",
        ),
        ('{"q1": {"a": 1}}', {}, "is not a ledger of gate"),
        ('{"query_id": "q1", "doc_id": "a"}', {}, "is not a ledger of gate"),
        ('{\n  "q1": {"a": 1}\n}', {}, "line 2 of the ledger .*: gate does not write"),
        (
            '{"look": 1, "data": {}}\n{"values": 3}',
            {},
            "line 2 of the ledger .*: gate does not write",
        ),
        (
            '{"look": 1, "data": {}}\nnull',
            {},
            "line 2 of the ledger .*: gate does not write",
        ),
        ("\0" * 100, {}, "holds NUL bytes only, so its looks are lost; restore"),
        ("", {"rule": "drop"}, "ledger and release need the rule 'evidence'"),
    ],
)
def test_bad_ledgers(
    first: str, options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    ledger = tmp_path / "gate.jsonl"
    ledger.write_text(first and first + "\n")
    with pytest.raises(ValueError, match=f"^gate: .*{said}"):
        irl.gate(QRELS, run(0), run(1), "RR", ledger=ledger, **options)
    assert ledger.read_text() == (first and first + "\n")


def test_what_the_pool_does_not_hold_is_no_evidence_of_a_loss() -> None:
    """The candidate finds unjudged documents where the baseline has its judged one."""
    baseline = {q: {"a": 2.0, "b": 1.0} for q in QRELS}
    candidate = {
        q: {"new": 2.0, "a": 1.0} if q < "q30" else {"a": 2.0, "b": 1.0} for q in QRELS
    }
    found = irl.gate(QRELS, baseline, candidate, "P@1")
    assert (found.outcome, found.undecided) == ("passed", ["P@1"])
    assert "judgments of unjudged documents would decide" in str(found)
    assert "undecided ?" in " ".join(str(found).replace("|", " ").split())
    assert irl.gate(QRELS, baseline, candidate, "P@1", rule="strict").exit_code == 4
    assert irl.gate(QRELS, baseline, candidate, "P@1", rule="judged").outcome == "worse"
    # No bound is known, but a judging that is tried shows it.
    by_rank = irl.gate(QRELS, baseline, candidate, "P@1", test="wilcoxon")
    assert (by_rank.outcome, by_rank.undecided) == ("passed", ["P@1"])


def test_strict_asks_for_evidence_against_the_release_too() -> None:
    better = {
        q: {"a": 3.0, "x": 2.0, "y": 1.0} if i < 2 else docs
        for i, (q, docs) in enumerate(run(0, 3).items())
    }
    found = irl.gate(
        QRELS, run(0, 3), run(0, 3), "RR", margin=0.02, rule="strict", release=better
    )
    assert (
        found.undecided,
        found.release.undecided,
        found.outcome,
        found.exit_code,
    ) == (
        [],
        ["RR"],
        "undecided",
        4,
    )


def test_a_fall_of_exactly_the_margin_is_not_more() -> None:
    """.8 - .775 is more than .025 in floats."""
    first, one_less = (
        {q: {"a": 0.0 if i >= n else 2.0, "x0": 1.0} for i, q in enumerate(QRELS)}
        for n in (32, 31)
    )
    assert (
        irl.gate(QRELS, first, one_less, "P@1", margin=0.025, rule="drop").outcome
        == "passed"
    )
    assert (
        irl.gate(QRELS, first, one_less, "P@1", margin=0.0249, rule="drop").outcome
        == "worse"
    )


# -- clocks, full disks, folders that cannot be written in ------------------------------------------


@pytest.mark.parametrize("year", [1970, 2000, 9999])
def test_a_clock_that_jumps_changes_no_look(
    year: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines have a time for people; looks are counted by lines."""

    class Jumping(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime(year, 1, 1, tzinfo=tz)

    path = tmp_path / "gate.jsonl"
    claimed(path, "first")
    monkeypatch.setattr(ledgers, "datetime", Jumping)
    (second,) = claimed(path, "second")
    (again,) = claimed(path, "first")
    monkeypatch.undo()
    (third,) = claimed(path, "third")
    assert [second.number, again.number, third.number] == [2, 1, 3]
    assert str(year) in path.read_text()


@pytest.mark.parametrize("written", [0, 1, 25, 10_000])
def test_a_full_disk_spends_a_look_at_most_and_breaks_no_ledger(
    written: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much of the line is written before the disk is full."""
    path = tmp_path / "gate.jsonl"
    claimed(path, "first")

    def full(file: Any, line: Any) -> None:
        file.write((json.dumps(line) + "\n").encode()[:written])
        file.flush()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(ledgers, "_append", full)
        with pytest.raises(OSError, match="No space left"):
            claimed(path, "second")
    (look,) = claimed(path, "second")
    assert look.number in (2, 3)
    assert look.spent_before >= spent_at(1, 0.05)
    assert claimed(path, "third")[0].number == look.number + 1


def test_a_folder_that_cannot_be_written_in_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise OSError(30, "Read-only file system", str(tmp_path / "gate.jsonl"))

    monkeypatch.setattr(ledgers, "open", refused, raising=False)
    with pytest.raises(
        ValueError, match=r"gate.jsonl' cannot be opened: Read-only file system; name"
    ):
        irl.gate(QRELS, run(0), run(1), "RR", ledger=tmp_path / "gate.jsonl")


@pytest.mark.parametrize(
    "place", ["none/gate.jsonl", "none/of/these/gate.jsonl", "file/gate.jsonl"]
)
@pytest.mark.parametrize("is_relative", [False, True])
def test_a_folder_that_does_not_exist_is_named(
    place: str, is_relative: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("no folder")
    path = Path(place) if is_relative else tmp_path / place
    message = f"there is no folder {str(path.parent)!r}; make it, or name a file in another one"
    with pytest.raises(ValueError, match=f"^gate: the ledger .*{re.escape(message)}$"):
        irl.gate(QRELS, run(0), run(1), "RR", ledger=path)
    assert not path.exists()


def test_a_ledger_in_the_working_folder_needs_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert irl.gate(QRELS, run(0), run(1), "RR", ledger="gate.jsonl").look is not None
    assert Path("gate.jsonl").exists()


@pytest.mark.parametrize(("look", "earlier"), [(1, []), (2, [1]), (3, [1])])
def test_only_broken_looks_before_one_count_as_spent(
    look: int, earlier: list[int]
) -> None:
    """The number of a look that a crash broke off is the first one that no other has."""
    claims = [{"look": look, "data": "here"}]
    entries = ledgers._Entries("x", claims, [], n_broken=1)
    spending = ledgers.Spending(0.05)
    assert entries.spent_before("here", spending) == sum(
        spent_at(n, 0.05) for n in earlier
    )


def test_the_other_direction_is_a_look_of_its_own(tmp_path: Path) -> None:
    """Whether the baseline is worse than the candidate is another test, which spends alpha."""
    ledger = tmp_path / "gate.jsonl"
    values = {
        name: {f"q{i}": {"accuracy": 0.5 + step * (i % 2)} for i in range(20)}
        for name, step in (("main", 0.0), ("branch", 0.1), ("v1", 0.2))
    }
    numbers = []
    for baseline, candidate, release in (
        ("main", "branch", None),
        ("branch", "main", None),
        ("main", "branch", None),
        ("main", "branch", "v1"),
        ("v1", "branch", "main"),
    ):
        found = irl.gate(
            None, baseline, candidate, values=values, release=release, ledger=ledger
        )
        assert found.look is not None
        numbers.append(found.look.number)
    assert numbers == [1, 2, 1, 3, 4]


@pytest.mark.parametrize("name", ["a\0b", "a" * 300, "dangling", "locked/ledger"])
def test_a_ledger_that_cannot_be_opened_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere" / "x")
    (tmp_path / "locked").symlink_to(tmp_path / "locked")
    run = {"q": {"a": 1.0}}
    with pytest.raises(
        ValueError, match=r"^gate: the ledger .* cannot be (opened|made)"
    ):
        irl.gate({"q": {"a": 1}}, run, run, "RR", ledger=f"{tmp_path}/{name}")
