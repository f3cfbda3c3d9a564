"""Types as a user's type checker sees them: a strict program without an error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = '''
"""A user's program."""

from ir_measures import AP, nDCG

import ir_lexirecall as irl
from ir_lexirecall import LR, RBU, TSE, Measure, evaluate

qrels = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}
run = {"q1": {"a": 2.5, "x": 1.5}, "q2": {"c": 0.5}}

first: Measure = TSE @ 5
second: Measure = LR(form="weighted")(n=5) @ 10
names: list[str] = [str(measure) for measure in (TSE, first, second, RBU(p=0.9) @ 20)]
table = evaluate(["TSE@5", first, second, AP, nDCG @ 10], qrels, run)
means = irl.evaluate({"five": first, "all": "TSE"}, qrels, run, aggregate=True)
one = irl.evaluate(TSE, irl.load(qrels, exclude="self", rules=False), run)
print(table.round(3), means.to_dict(), one.shape, names)
reveal_type(TSE @ 5)
reveal_type(TSE(rel=2))
reveal_type(irl.describe("TSE"))
'''


@pytest.mark.slow
def test_a_strict_program_has_no_type_error(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    places = os.pathsep.join(
        str(Path(__file__).parents[2] / folder) for folder in (".", "integrations")
    )
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--cache-dir",
        str(tmp_path / "cache"),
    ]
    done = subprocess.run(
        [*command, "--no-error-summary", "--follow-imports=silent", str(program)],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": places},
        cwd=tmp_path,
        timeout=600,
    )
    notes = [line.partition("note: ")[2] for line in done.stdout.splitlines()]
    assert [line for line in done.stdout.splitlines() if "error:" in line] == []
    assert (
        notes[:2]
        == ['Revealed type is "ir_lexirecall.measures.declaration.Measure"'] * 2
    )
    assert notes[2].startswith('Revealed type is "ir_lexirecall.descriptions.')
