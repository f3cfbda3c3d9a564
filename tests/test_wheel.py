"""What is built: the same wheel every time, with this project's packages, their data, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = [
    "pyproject.toml",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
]
PACKAGES = {
    "asreview_lexirecall",
    "ir_datasets_lexirecall",
    "ir_lexirecall",
    "lenskit_lexirecall",
    "pytest_lexirecall",
    "pyterrier_lexirecall",
    "sentence_transformers_lexirecall",
    "shell_lexirecall",
    "spark_lexirecall",
}
BUILD = "import sys; sys.path.insert(0, '.ci'); from clean_build import build_wheel; build_wheel({!r})"


def build(checkout: Path, out: Path) -> tuple[dict[str, int], str]:
    """The files of a wheel built in a checkout, with their check sums, and what was said."""
    out.mkdir()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", BUILD.format(str(out))]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    [wheel] = out.iterdir()
    with zipfile.ZipFile(wheel) as archive:
        return {item.filename: item.CRC for item in archive.infolist()}, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, int]], list[str]]:
    """The wheel of a checkout, that built again, that built without a module which was there before; what was said."""
    setuptools = pytest.importorskip("setuptools")
    if int(setuptools.__version__.partition(".")[0]) < 77:
        pytest.skip(f"setuptools {setuptools.__version__} is older than what the project is built with")
    folder = tmp_path_factory.mktemp("wheels")
    checkout = folder / "checkout"
    shutil.copytree(ROOT / "ir_lexirecall", checkout / "ir_lexirecall", ignore=shutil.ignore_patterns("gallery"))
    for name in (".ci", "integrations", "examples", "tests"):
        shutil.copytree(ROOT / name, checkout / name)
    for name in SOURCES:
        shutil.copy(ROOT / name, checkout)
    added = checkout / "ir_lexirecall" / "removed_later.py"
    built = [build(checkout, folder / "first")]
    added.write_text('"""A module."""\n', encoding="utf-8")
    build(checkout, folder / "with")
    added.unlink()
    built += [build(checkout, folder / "second"), build(checkout, folder / "third")]
    return [files for files, _ in built], [said for _, said in built]


def test_every_wheel_of_a_checkout_is_the_same(wheels: tuple[list[dict[str, int]], list[str]]) -> None:
    first, second, third = wheels[0]
    assert first == second == third


def test_a_wheel_has_our_packages_and_nothing_else(wheels: tuple[list[dict[str, int]], list[str]]) -> None:
    files = set(wheels[0][0])
    assert {name.partition("/")[0] for name in files} == {
        *PACKAGES,
        *{n.partition("/")[0] for n in files if "dist-info" in n},
    }
    modules = [*ROOT.glob("ir_lexirecall/**/*.py"), *ROOT.glob("integrations/**/*.py")]
    expected = {
        str(path.relative_to(ROOT)).removeprefix("integrations/") for path in modules if "pt_docs" not in path.parts
    }
    assert {name for name in files if name.endswith(".py") and "pt_docs" not in name} == expected


def test_a_wheel_has_the_pages_and_what_pyterrier_needs_to_show_them(
    wheels: tuple[list[dict[str, int]], list[str]],
) -> None:
    pages = {name.removeprefix("ir_lexirecall/pt_docs/") for name in wheels[0][0] if "/pt_docs/" in name}
    assert {name for name in pages if name.endswith(".py")} == {
        "__init__.py",
        "pages.py",
        "measure_pages.py",
        "drawings.py",
    }
    assert pages >= {
        str(path.relative_to(ROOT / "ir_lexirecall/pt_docs"))
        for path in ROOT.glob("ir_lexirecall/pt_docs/**/*.rst")
        if "gallery" not in path.parts
    }


def test_nothing_is_warned_of(wheels: tuple[list[dict[str, int]], list[str]]) -> None:
    assert [
        line for said in wheels[1] for line in said.splitlines() if re.search("warning|ignored|deprecat", line, re.I)
    ] == []
