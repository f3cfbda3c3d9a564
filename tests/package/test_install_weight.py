"""The page on installing says how many packages and megabytes an installation adds."""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest

requirements = pytest.importorskip("packaging.requirements")

ROOT = Path(__file__).parents[2]
_OURS = "ir-lexirecall"
_PYTERRIER = ("python-terrier", "pyterrier")
_TOLERANCE = 0.15  # between the versions of packages that are installed here and there


def required_by(*names: str) -> dict[str, Distribution]:
    """Return some distributions and all that they require without extras, by normalised name."""
    distributions: dict[str, Distribution] = {}
    waiting = [*names]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in distributions:
            continue
        distributions[name] = distribution(name)
        for line in distributions[name].requires or []:
            requirement = requirements.Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return distributions


def megabytes(name: str, installed: Distribution) -> float:
    """Return the size of the files of a distribution, without those that Python compiles."""
    if name == _OURS:  # which may be installed as a link to its sources
        folders = [ROOT / "ir_lexirecall", ROOT / "integrations"]
        sources = [
            path for folder in folders for path in folder.rglob("*") if path.is_file()
        ]
        return (
            sum(path.stat().st_size for path in sources if path.suffix != ".pyc") / 1e6
        )
    return (
        sum(
            path.size or 0
            for path in installed.files or []
            if not str(path).endswith(".pyc")
        )
        / 1e6
    )


def weight(distributions: dict[str, Distribution]) -> tuple[int, float]:
    """Return the number of distributions, and their size in megabytes."""
    return len(distributions), sum(megabytes(*item) for item in distributions.items())


def numbers_on_the_page(pattern: str) -> tuple[int, int]:
    """Return the packages and megabytes in a sentence of the page on installing."""
    page = (ROOT / "ir_lexirecall" / "pt_docs" / "start.rst").read_text(
        encoding="utf-8"
    )
    match = re.search(pattern, " ".join(page.split()))
    assert match is not None
    return int(match[1]), int(match[2])


def test_alone() -> None:
    packages, size = weight(required_by(_OURS))
    assert numbers_on_the_page(
        r"Without extras, it is (\d+) packages and (\d+) MB with its dependencies"
    ) == (
        packages,
        pytest.approx(size, rel=_TOLERANCE),
    )


def test_where_pyterrier_is_installed() -> None:
    try:
        there = required_by(*_PYTERRIER)
    except PackageNotFoundError:
        pytest.skip("PyTerrier is not installed")
    added = {name: one for name, one in required_by(_OURS).items() if name not in there}
    assert _OURS in added
    packages, size = weight(added)
    assert numbers_on_the_page(
        r"PyTerrier is installed, it adds (\d+) packages and (\d+) MB"
    ) == (
        packages,
        pytest.approx(size, rel=_TOLERANCE),
    )
