"""The change proposed to ir_measures: its command and its strings find our measures without an import of ours."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import ir_measures
import pytest
from ir_measures import nDCG

import ir_lexirecall as irl
from ir_lexirecall import LR, demo

PATCH = (
    Path(__file__).parents[3]
    / "integrations"
    / "ir_measures_lexirecall"
    / "plugins.patch"
)


def apply_change(folder: Path, *options: str) -> None:
    if shutil.which("git") is None:
        pytest.skip("git, which applies the change, is not installed")
    subprocess.run(
        ["git", "apply", *options, str(PATCH)],
        cwd=folder,
        check=True,
        env=os.environ | {"GIT_DIR": os.devnull},
        timeout=600,
    )


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in ``folder``, whose ir_measures goes before the installed one."""
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "PYTHONWARNINGS": "default::UserWarning",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed ir_measures, changed, and the demo's files."""
    folder = tmp_path_factory.mktemp("changed")
    source = Path(ir_measures.__file__).parent
    shutil.copytree(
        source, folder / "ir_measures", ignore=shutil.ignore_patterns("__pycache__")
    )
    apply_change(folder, "--include=ir_measures/*")
    demo.write(folder / "demo")
    return folder


def test_the_entry_point_is_declared() -> None:
    points = distribution("ir-lexirecall").entry_points.select(
        group="ir_measures.plugins"
    )
    assert [(point.name, point.value) for point in points] == [
        ("lexirecall", "ir_lexirecall")
    ]


@pytest.mark.slow
def test_the_command_knows_the_measures(changed: Path) -> None:
    files = ["demo/qrels.txt", "demo/bm25.run"]
    found = run(changed, "-m", "ir_measures", *files, "LR", "nDCG@10")
    means = irl.evaluate([LR, nDCG @ 10], demo.qrels(), demo.runs()["bm25"]).mean()
    expected = "".join(f"{name}\t{mean:.4f}\n" for name, mean in means.items())
    assert (found.returncode, found.stdout) == (0, expected), found.stderr
    unknown = run(changed, "-m", "ir_measures", *files, "InNoPackage")
    assert unknown.returncode != 0
    assert "unknown measure: InNoPackage" in unknown.stderr


def test_strings_are_parsed_and_known_names_import_nothing(changed: Path) -> None:
    code = (
        "import sys, ir_measures as m; m.parse_measure('nDCG@10'); print('ir_lexirecall' in sys.modules);"
        "print(m.parse_measure('TSE@10')); print('ir_lexirecall' in sys.modules)"
    )
    assert run(changed, "-c", code).stdout.split() == ["False", "TSE@10", "True"]
    first_ours = "import ir_lexirecall, ir_measures; print(ir_measures.parse_measure('LR'), ir_measures.util.load_plugins)"
    assert run(changed, "-c", first_ours).stdout.startswith("LexiRecall <functools")


@pytest.mark.slow
def test_the_tests_of_ir_measures_pass_as_before(tmp_path: Path) -> None:
    """Those that fail without the change (a provider that is not installed) fail with it, no other; its own three pass."""
    checkout = os.environ.get("IR_MEASURES")
    if checkout is None:
        pytest.skip(
            "IR_MEASURES names no checkout of ir_measures, whose tests are not in its distributions"
        )
    outcomes = []
    for name in ("before", "after"):
        folder = tmp_path / name
        shutil.copytree(
            checkout, folder, ignore=shutil.ignore_patterns(".git", "__pycache__")
        )
        if name == "after":
            apply_change(folder)
        said = run(
            folder,
            "-m",
            "pytest",
            "-q",
            "tests",
            "-rA",
            "-p",
            "no:randomly",
            "-p",
            "no:cacheprovider",
        ).stdout
        outcomes.append(
            set(re.findall(r"^(PASSED|FAILED) (tests/\S+)", said, re.MULTILINE))
        )
    before, after = outcomes
    assert before <= after
    assert {outcome for outcome, _ in after - before} == {"PASSED"}
    assert len(after - before) == 3
