"""Measures of which the smaller value is better (SL3, RE), wherever results say which run is better."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import exit_code

import ir_lexirecall as irl

QRELS = {f"q{i}": {"a": 1} for i in range(20)}
GOOD = {q: {"a": 3.0, "x": 2.0, "y": 1.0} for q in QRELS}
BAD = {q: {"x": 3.0, "y": 2.0, "a": 1.0} for q in QRELS}
RUNS = {"good": GOOD, "bad": BAD}


def test_a_benchmark_marks_the_run_with_the_smaller_value() -> None:
    result = irl.benchmark(QRELS, RUNS, ["SL3", "RR"])
    assert result.better_than == {"SL3": ["b", ""], "RR": ["b", ""]}
    assert "**0.0000**" in result.to_markdown()


def test_compare_prefers_the_smaller_value() -> None:
    assert irl.compare(QRELS, RUNS, "RE").table()["wins"].tolist() == [20]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "qrels").write_text("".join(f"{q} 0 a 1\n" for q in QRELS))
    for name, run in RUNS.items():
        lines = [f"{q} Q0 {doc} 0 {score} tag\n" for q, docs in run.items() for doc, score in docs.items()]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def test_eval_stars_the_smaller_value(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("eval", *(str(files / name) for name in ("qrels", "good.run", "bad.run")), "-m", "SL3") == 0
    starred = [line for line in capsys.readouterr().out.splitlines() if "*" in line]
    assert [line.split()[0] for line in starred] == ["good"]


@pytest.mark.parametrize(("baseline", "candidate", "code"), [("bad", "good", 0), ("good", "bad", 3)])
def test_the_gate_fails_where_the_value_rises(baseline: str, candidate: str, code: int, files: Path) -> None:
    words = (str(files / "qrels"), str(files / f"{baseline}.run"), str(files / f"{candidate}.run"))
    assert exit_code("gate", *words, "-m", "SL3") == code
