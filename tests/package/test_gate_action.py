"""The GitHub Action of the gate: its script, run as the action runs it, and what the action declares."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from command_line import FILES

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")

ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github" / "actions" / "gate"
SAME = "query_id,acc\n" + "".join(f"q{i},1\n" for i in range(20))
WORSE = "query_id,acc\n" + "".join(f"q{i},{int(i > 9)}\n" for i in range(20))


@pytest.fixture(scope="module")
def action() -> Any:
    return yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))


def run(folder: Path, action: Any, **inputs: str) -> tuple[int, str, str, str]:
    """Run the step of the action: its exit code, output, and what it writes for the page and the next steps."""
    (step,) = action["runs"]["steps"]
    given = {
        name: str(one["default"]) for name, one in action["inputs"].items()
    } | inputs
    variables = {
        name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step["env"].items()
    }
    page, output = folder / "summary.md", folder / "output.txt"
    page.touch()
    output.touch()
    environment = {
        **os.environ,
        **variables,
        "GATE_PYTHON": sys.executable,
        "GITHUB_ACTION_PATH": str(ACTION),
        "GITHUB_STEP_SUMMARY": str(page),
        "GITHUB_OUTPUT": str(output),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "integrations")]),
    }
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return (
        done.returncode,
        done.stdout + done.stderr,
        page.read_text(),
        output.read_text(),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        **FILES,
        "main.csv": SAME,
        "same.csv": SAME,
        "worse.csv": WORSE,
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.slow_except("worse-3-worse")
@pytest.mark.parametrize(
    ("candidate", "code", "outcome"), [("same", 0, "passed"), ("worse", 3, "worse")]
)
def test_values_pass_or_stop(
    candidate: str, code: int, outcome: str, folder: Path, action: Any
) -> None:
    inputs = {
        "values": f"main.csv\n{candidate}.csv\n",
        "measures": "acc",
        "ledger": "gate.jsonl",
    }
    returned, printed, page, output = run(folder, action, **inputs)
    assert (returned, output) == (code, f"outcome={outcome}\n"), printed
    assert page.startswith("### ")
    assert "| acc " in page
    assert "Look 1 of gate.jsonl" in page
    assert (folder / "gate.jsonl").read_text().count("\n") == 2


@pytest.mark.slow
def test_rankings_are_gated_with_qrels(folder: Path, action: Any) -> None:
    qrels, first, second = list(FILES)[:3]
    inputs = {
        "qrels": qrels,
        "baseline": first,
        "candidate": second,
        "measures": "AP P@5",
    }
    code, printed, page, _ = run(folder, action, **inputs, margin="AP=0.5 P@5=1")
    assert code in (0, 3), printed
    assert "| AP " in page
    assert "| P@5 " in page


@pytest.mark.slow
def test_further_options_are_passed_on(folder: Path, action: Any) -> None:
    inputs = {"values": "main.csv\nsame.csv", "options": "--strict --queries 3"}
    code, _, page, output = run(folder, action, **inputs)
    assert (code, output) == (4, "outcome=undecided\n")
    assert "undecided" in page


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "give qrels, baseline and candidate, or values"),
        (
            {"qrels": "q", "values": "v"},
            "give qrels, baseline and candidate, or values",
        ),
        (
            {"qrels": "qrels.txt", "baseline": "a.run"},
            "qrels need baseline and candidate",
        ),
        ({"values": "nosuch.csv\nmain.csv"}, "nosuch.csv"),
    ],
)
def test_what_is_wrong_is_an_error_on_the_page_of_the_job(
    inputs: dict[str, str], message: str, folder: Path, action: Any
) -> None:
    code, printed, _, _ = run(folder, action, **inputs)
    assert code == 1
    assert message in printed


@pytest.mark.slow
def test_names_are_no_commands_of_a_shell(folder: Path, action: Any) -> None:
    (folder / "a b$(touch hacked).csv").write_text(SAME)
    code, printed, _, _ = run(folder, action, values="main.csv\na b$(touch hacked).csv")
    assert code == 0, printed
    assert not (folder / "hacked").exists()


def test_inputs_reach_the_script(action: Any) -> None:
    (step,) = action["runs"]["steps"]
    read = {
        value.removeprefix("${{ inputs.").removesuffix(" }}")
        for value in step["env"].values()
    }
    assert read == set(action["inputs"])
    assert {
        "qrels",
        "values",
        "baseline",
        "candidate",
        "measures",
        "margin",
        "ledger",
    } <= read
