"""Run `ir-lexirecall gate` with the inputs of the action, and write its summary to the job's page.

Inputs come as environment variables, so that nothing in them is taken for a command of a shell.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

OUTCOMES = {0: "passed", 3: "worse", 4: "undecided", 5: "incomplete"}


def words_of(inputs: Mapping[str, str]) -> list[str]:
    """Return the arguments of the command.

    Raises:
        ValueError: neither judgments nor values are given, or both are.
    """
    qrels, values = inputs["qrels"], inputs["values"].splitlines()
    files = [file.strip() for file in values if file.strip()]
    if bool(qrels) == bool(files):
        raise ValueError("give qrels, baseline and candidate, or values")
    names = ("baseline", "candidate")
    if qrels and not all(inputs[name] for name in names):
        raise ValueError("qrels need baseline and candidate, two run files")
    words = ["gate"]
    if qrels:
        words += [qrels, inputs["baseline"], inputs["candidate"]]
    else:
        words += ["--values", *files]
        words += [f"--{name}={inputs[name]}" for name in names if inputs[name]]
    if inputs["measures"]:
        words += ["-m", *inputs["measures"].split()]
    words += [
        f"--{name}={inputs[name]}" for name in ("margin", "ledger") if inputs[name]
    ]
    return words + shlex.split(inputs["options"])


def append(path: str | None, text: str) -> None:
    """Append a text to a file that GitHub names; elsewhere there is none."""
    if path:
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(text)


def main() -> int:
    """Run the command; return its exit code."""
    names = (
        "qrels",
        "values",
        "baseline",
        "candidate",
        "measures",
        "margin",
        "ledger",
        "options",
    )
    inputs = {
        name: os.environ.get(f"GATE_{name.upper()}", "").strip() for name in names
    }
    try:
        words = words_of(inputs)
    except ValueError as error:
        print(f"::error::gate: {error}")
        return 1
    command = [sys.executable, "-m", "ir_lexirecall", *words]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=False
    )
    print(done.stdout)
    append(os.environ.get("GITHUB_STEP_SUMMARY"), f"{done.stdout}\n")
    outcome = OUTCOMES.get(done.returncode, "error")
    append(os.environ.get("GITHUB_OUTPUT"), f"outcome={outcome}\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
