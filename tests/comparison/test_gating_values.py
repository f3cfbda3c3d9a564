"""Gates on values that another program computed: at every door, and as the same values from rankings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_line import exit_code
from pytest_lexirecall import assert_not_worse

import ir_lexirecall as irl
from ir_lexirecall import demo

ITEMS = [f"q{i:02}" for i in range(30)]
MAIN = dict.fromkeys(ITEMS, 1.0)
SAME = MAIN | {"q00": 0.0, "q01": 1.0}
WORSE = MAIN | dict.fromkeys(ITEMS[:12], 0.0)


def frame(values: dict[str, float], name: str = "accuracy") -> pd.DataFrame:
    return pd.DataFrame({"query_id": list(values), name: list(values.values())})


def written(path: Path, values: dict[str, float], name: str = "accuracy") -> str:
    frame(values, name).to_csv(path, index=False)
    return str(path)


def outcome_in_python(main: Any, branch: Any, **options: Any) -> int:
    return irl.gate(
        values={"main": frame(main), "branch": frame(branch)}, **options
    ).exit_code


def outcome_on_the_command_line(
    main: Any, branch: Any, folder: Path, **options: Any
) -> int:
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    files = [
        written(folder / f"{name}.csv", x)
        for name, x in (("main", main), ("branch", branch))
    ]
    return exit_code("gate", *words, "--values", *files)


@pytest.mark.parametrize(("branch", "code"), [(SAME, 0), (WORSE, 3)])
def test_every_door_gives_the_same_outcome(
    branch: dict[str, float],
    code: int,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert outcome_in_python(MAIN, branch) == code
    assert outcome_on_the_command_line(MAIN, branch, tmp_path) == code
    assert "unjudged" not in capfd.readouterr().out
    files = [str(tmp_path / "main.csv"), str(tmp_path / "branch.csv")]
    if code:
        with pytest.raises(
            AssertionError, match="branch is worse than main by accuracy"
        ):
            assert_not_worse(values=files)
    else:
        assert assert_not_worse(values=files).outcome == "passed"


def test_values_decide_as_the_rankings_that_they_come_from() -> None:
    runs = [demo.run("bm25"), demo.run("overlap")]
    by_rankings = irl.gate(demo.qrels(), *runs, "AP", rule="judged", names=("a", "b"))
    values = by_rankings.comparison.per_query("AP")
    tables = {name: values[[name]].rename(columns={name: "AP"}) for name in ("a", "b")}
    by_values = irl.gate(values=tables)
    columns = [
        "mean_a",
        "mean_b",
        "difference",
        "p",
        "worse_p",
        "not_worse_p",
        "verdict",
        "fails",
    ]
    pd.testing.assert_frame_equal(by_values.table[columns], by_rankings.table[columns])
    assert by_values.outcome == by_rankings.outcome


def test_smaller_values_may_be_better() -> None:
    faster = {"main": frame(MAIN, "steps"), "branch": frame(WORSE, "steps")}
    assert irl.gate(values=faster).outcome == "worse"
    assert irl.gate(values=faster, smaller_is_better="steps").outcome == "passed"


def test_margins_rules_and_groups_hold_as_of_rankings() -> None:
    values = {"main": frame(MAIN), "branch": frame(SAME)}
    assert irl.gate(values=values, rule="drop", margin=0.0).outcome == "worse"
    assert irl.gate(values=values, rule="drop", margin=0.1).outcome == "passed"
    assert irl.gate(values=values, rule="strict").exit_code == 4
    groups = {item: "even" if int(item[1:]) % 2 == 0 else "odd" for item in ITEMS}
    gate = irl.gate(values={"main": frame(MAIN), "branch": frame(WORSE)}, groups=groups)
    assert set(gate.comparison.group_table()["group"]) == {"even", "odd"}


def test_runs_are_chosen_by_name_and_others_play_no_part() -> None:
    part = frame(dict(list(MAIN.items())[:5]))  # lacks most values
    values = {"old": part, "main": frame(MAIN), "branch": frame(WORSE)}
    gate = irl.gate(values=values, baseline="main", candidate="branch")
    assert (gate.baseline, gate.candidate, gate.outcome) == ("main", "branch", "worse")
    assert len(gate.comparison.query_ids) == 30
    with pytest.raises(
        ValueError, match="gate: values hold the runs old, main, branch: name two"
    ):
        irl.gate(values=values)
    with pytest.raises(
        ValueError, match=r"no values of run 'mainn'; .*did you mean 'main'"
    ):
        irl.gate(values=values, baseline="mainn", candidate="branch")
    with pytest.raises(
        ValueError, match=r"the candidate and its baseline are one run, 'main'"
    ):
        irl.gate(values=values, baseline="main", candidate="main")


def test_a_ledger_counts_looks_at_values(tmp_path: Path) -> None:
    ledger = tmp_path / "gate.jsonl"
    values = {"main": frame(MAIN), "branch": frame(WORSE)}
    looks = [irl.gate(values=values, ledger=ledger).look for _ in range(2)]
    assert [(look and look.number, look and look.again) for look in looks] == [
        (1, False),
        (1, True),
    ]
    other = irl.gate(
        values={"main": frame(MAIN), "branch": frame(SAME)}, ledger=ledger
    ).look
    assert other is not None
    assert other.number == 2
    assert [json.loads(line)["look"] for line in ledger.read_text().splitlines()] == [
        1,
        1,
        2,
        2,
    ]


def test_the_release_is_a_second_baseline() -> None:
    half = MAIN | dict.fromkeys(ITEMS[:1], 0.0)
    values = {"main": frame(half), "branch": frame(WORSE), "release": frame(MAIN)}
    gate = irl.gate(
        values=values, baseline="main", candidate="branch", release="release"
    )
    assert gate.release is not None
    assert (gate.release.baseline, gate.release.candidate) == ("release", "branch")
    assert gate.comparison.test.alpha == pytest.approx(0.025)


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({}, "give qrels, baseline and candidate, or values="),
    ({"values": {"a": frame(MAIN)}}, "values hold the runs a: name two"),
    ({"values": {"a": frame(MAIN), "b": frame(MAIN)}, "qrels": {}}, "qrels and two runs, or values"),
    ({"values": {"a": frame(MAIN), "b": frame(MAIN)}, "names": ("x", "y")}, "names is for rankings"),
    ({"values": {"a": frame(MAIN), "b": frame(MAIN)}, "baseline": 3}, "baseline must be the name"),
    ({"values": {"a": frame(MAIN), "b": frame(MAIN)}, "by": "lexirecall"}, "compares rankings"),
    ({"qrels": {"q": {"d": 1}}, "baseline": {"q": {"d": 1}}, "candidate": {"q": {"d": 1}}, "by": "AP",
      "where": {"filter": "x"}}, "where needs values="),
    ({"qrels": {"q": {"d": 1}}, "baseline": {"q": {"d": 1}}, "candidate": {"q": {"d": 1}}, "by": "AP",
      "missing": "skip"}, "missing needs values=; in a run, a missing query counts as an empty ranking"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), FAULTS)
def test_bad_arguments_name_the_way_out(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=f"gate: .*{message}"):
        irl.gate(**arguments)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--values", "a.csv", "--levels", "1"], "--levels needs QRELS and RUN"),
        (
            ["q", "a", "b", "--values", "a.csv"],
            "give QRELS and RUN, or --values FILE, not both",
        ),
        (
            ["q", "a", "b", "--where", "x=1", "-m", "AP"],
            "--where needs --values",
        ),
        (
            ["q", "a", "b", "--candidate", "x", "-m", "AP"],
            "--candidate needs --values",
        ),
        (["--values", "a.csv", "--where", "x"], "must look like COLUMN=VALUE"),
    ],
)
def test_bad_command_lines_are_named(
    words: list[str], message: str, tmp_path: Path, monkeypatch: Any, capfd: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "a.csv", MAIN)
    assert exit_code("gate", *words) == 1
    assert message in capfd.readouterr().err


def test_the_same_file_twice_does_not_fail(tmp_path: Path) -> None:
    file = written(tmp_path / "main.csv", MAIN)
    assert exit_code("gate", "--values", file, file) == 0


def test_the_summary_speaks_of_values_only() -> None:
    text = str(irl.gate(values={"a": frame(MAIN), "b": frame(WORSE)}))
    assert "b is worse than a by accuracy" in text
    assert "unjudged" not in text
    assert "might undo" not in text
