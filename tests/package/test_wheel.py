"""What is built: the same wheel every time, with this project's packages, their data, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "ir_lexirecall",
    *(
        path.parent.name
        for path in (ROOT / "integrations").glob("*_lexirecall/__init__.py")
    ),
}
PAGES = "ir_lexirecall/pt_docs/"
OURS_ALONE = {
    "commands.py",
    "conf.py",
    "placeholders.py",
}  # PyTerrier's documentation has its own


def build(checkout: Path, kind: str, out: Path) -> Path:
    """A wheel, an sdist or an editable wheel of a checkout, built as pip and ``python -m build`` do."""
    code = f"import hatchling.build; hatchling.build.build_{kind}({str(out)!r})"
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert "warn" not in (done.stdout + done.stderr).lower()
    [made] = out.iterdir()
    return made


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as it is checked out, with what a build of the documentation leaves there."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("project") / "checkout"
    left_out = shutil.ignore_patterns(
        "__pycache__",
        ".git",
        ".venv*",
        ".*_cache",
        ".hypothesis",
        "gallery",
        "site",
        "build",
        "dist",
    )
    shutil.copytree(ROOT, folder, ignore=left_out)
    (folder / PAGES / "gallery").mkdir()
    (folder / PAGES / "gallery" / "made.rst").write_text("Made", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(checkout, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def files(wheel: Path) -> dict[str, bytes]:
    """The files of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_is_the_same_when_it_is_built_again(
    checkout: Path, wheel: Path, tmp_path: Path
) -> None:
    assert build(checkout, "wheel", tmp_path).read_bytes() == wheel.read_bytes()


def test_a_wheel_has_our_packages_and_nothing_else(files: dict[str, bytes]) -> None:
    [metadata] = {name.partition("/")[0] for name in files if "dist-info" in name}
    assert {name.partition("/")[0] for name in files} == {*PACKAGES, metadata}
    modules = [*ROOT.glob("ir_lexirecall/**/*.py"), *ROOT.glob("integrations/**/*.py")]
    expected = {
        str(path.relative_to(ROOT)).removeprefix("integrations/")
        for path in modules
        if "pt_docs" not in path.parts
    }
    assert {
        name for name in files if name.endswith(".py") and "pt_docs" not in name
    } == expected
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(files)


def test_a_wheel_has_the_data_of_the_packages(files: dict[str, bytes]) -> None:
    data = [
        *ROOT.glob("ir_lexirecall/data/demo/**/*.*"),
        *ROOT.glob("ir_lexirecall/*/templates/*"),
    ]
    data = [path for path in data if "__pycache__" not in path.parts]
    assert {str(path.relative_to(ROOT)) for path in data} <= set(files)
    assert len(data) > 15
    assert "ir_lexirecall/descriptions/entries.ini" in files


def test_a_wheel_has_the_pages_as_text_and_what_pyterrier_needs_to_show_them(
    files: dict[str, bytes],
) -> None:
    pages = {
        name.removeprefix(PAGES): content
        for name, content in files.items()
        if name.startswith(PAGES)
    }
    there = {
        str(path.relative_to(ROOT / PAGES)) for path in (ROOT / PAGES).rglob("*.*")
    }
    made = {
        name for name in there if {"gallery", "__pycache__"} & set(Path(name).parts)
    }
    assert set(pages) == there - made - OURS_ALONE
    assert {"index.rst", "judging.rst", "pages.py", "measures/recall.rst"} <= set(pages)
    assert {Path(name).suffix for name in pages} <= {
        ".rst",
        ".txt",
        ".py",
        ".css",
        ".js",
        ".svg",
    }
    assert all(content.decode("utf-8") for content in pages.values())
    assert sum(map(len, pages.values())) < 500_000


@pytest.mark.slow
def test_the_sources_have_the_tests_and_what_they_read(
    checkout: Path, tmp_path: Path
) -> None:
    with tarfile.open(build(checkout, "sdist", tmp_path)) as archive:
        names = {
            item.name.partition("/")[2]
            for item in archive.getmembers()
            if item.isfile()
        }
    assert not [name for name in names if "gallery/" in name]
    assert {
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CITATION.cff",
        "CONTRIBUTING.md",
        "pyproject.toml",
    } <= names
    for folder in ("tests", "examples", "ir_lexirecall", "integrations"):
        there = {
            str(path.relative_to(checkout))
            for path in (checkout / folder).rglob("*.*")
            if path.is_file()
        }
        assert {
            name for name in there - names if "gallery" not in Path(name).parts
        } == set()
