"""What is installed: names, entry points, package data, and words about every public name."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import ir_measures
import pytest

import ir_lexirecall as irl
from ir_lexirecall import demo

ROOT = Path(__file__).parents[2]


def pyproject() -> dict[str, Any]:
    content: dict[str, Any] = tomllib.loads(
        (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    )
    return content


def requirements(extra: str | None = None) -> set[str]:
    """Names of the distributions that the project, or an extra of it, asks for."""
    project = pyproject()["project"]
    listed = (
        project["dependencies"]
        if extra is None
        else project["optional-dependencies"][extra]
    )
    return {re.split(r"[\[<>=~! ;]", line)[0] for line in listed}


def test_names() -> None:
    project = pyproject()["project"]
    assert project["name"] == "ir-lexirecall"
    assert "version" in project["dynamic"]
    assert project["scripts"] == {"ir-lexirecall": "shell_lexirecall:run"}
    assert project["entry-points"]["pyterrier.modules"] == {
        "lexirecall": "pyterrier_lexirecall"
    }
    assert (ROOT / project["readme"]).is_file()
    assert all((ROOT / name).is_file() for name in project["license-files"])


def test_the_installed_distribution_is_this_project() -> None:
    installed = distribution("ir-lexirecall")
    assert installed.version == irl.__version__
    assert (
        installed.metadata["Requires-Python"]
        == pyproject()["project"]["requires-python"]
    )


def test_entry_points_can_be_loaded() -> None:
    ours = distribution("ir-lexirecall").entry_points
    assert {
        ("console_scripts", "ir-lexirecall"),
        ("pyterrier.modules", "lexirecall"),
    } <= {(p.group, p.name) for p in ours}
    for point in ours:
        if point.group.startswith("pyterrier"):
            pytest.importorskip("pyterrier.measures")
        assert point.load() is not None


def test_the_library_needs_no_framework() -> None:
    assert requirements() >= {"numpy", "scipy", "ir-measures"}
    assert not requirements() & {
        "pyterrier",
        "python-terrier",
        "matplotlib",
        "tabulate",
        "lenskit",
        "pyspark",
    }


@pytest.mark.slow
def test_every_distribution_that_is_imported_is_required() -> None:
    project = pyproject()["project"]
    required = requirements().union(
        *map(requirements, project["optional-dependencies"])
    )
    known = {name.replace("-", "_") for name in required} | {
        path.name for path in (ROOT / "integrations").iterdir()
    }
    for path in (ROOT / "ir_lexirecall").rglob("*.py"):
        if "pt_docs" in path.parts:  # the documentation's own build
            continue
        imported = imports(ast.parse(path.read_text(encoding="utf-8")))
        assert imported - set(sys.stdlib_module_names) - {"ir_lexirecall"} <= known, (
            path
        )


def imports(code: ast.AST) -> set[str]:
    """Top-level names of the modules that a module imports anywhere but for type checkers."""
    names = []
    for_type_checkers = {
        inner
        for node in ast.walk(code)
        if isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in ast.walk(code):
        if node in for_type_checkers:
            continue
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return {name.partition(".")[0] for name in names}


def test_the_demo_is_consistent() -> None:
    docs, queries, qrels = (
        set(demo.docs()["doc_id"]),
        set(demo.queries()["query_id"]),
        demo.qrels(),
    )
    assert set(qrels["query_id"]) == queries
    assert set(qrels["doc_id"]) <= docs
    assert set(zip(qrels["query_id"], qrels["subtopic_id"], strict=True)) == set(
        zip(demo.subtopics()["query_id"], demo.subtopics()["subtopic_id"], strict=True)
    )
    for name, run in demo.runs().items():
        assert set(run["doc_id"]) <= docs, name
        assert set(run["query_id"]) <= queries, name


@pytest.mark.parametrize("name", irl.__all__)
def test_public_names_have_docstrings(name: str) -> None:
    thing = getattr(irl, name)
    text = inspect.getdoc(
        type(thing) if isinstance(thing, ir_measures.Measure) else thing
    )
    assert text
    assert text != inspect.getdoc(ir_measures.Measure)
    assert text.splitlines()[0].rstrip().endswith((".", ":"))


@pytest.mark.parametrize(
    "name", [name for name in irl.__all__ if inspect.isclass(getattr(irl, name))]
)
def test_public_methods_have_docstrings(name: str) -> None:
    kind = getattr(irl, name)
    methods = [
        m
        for m, value in vars(kind).items()
        if not m.startswith("_")
        and (callable(value) or isinstance(value, (property, classmethod)))
    ]
    assert [
        method for method in methods if not inspect.getdoc(getattr(kind, method))
    ] == []


def test_every_public_name_has_a_note_on_its_stability() -> None:
    text = (
        (ROOT / "CONTRIBUTING.md")
        .read_text(encoding="utf-8")
        .partition("## Stability")[2]
    )
    assert "| every other measure | provisional |" in text
    others = {
        name
        for name in irl.__all__
        if not isinstance(getattr(irl, name), ir_measures.Measure)
    }
    assert others <= set(re.findall(r"`(\w+)`", text))


def test_what_to_install_is_an_extra_of_a_checkout() -> None:
    extras: dict[str, list[str]] = pyproject()["project"]["optional-dependencies"]
    named = set()
    for folder in ("ir_lexirecall", "integrations"):
        for path in (ROOT / folder).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            assert "pip install 'ir-lexirecall" not in source, path
            asked = r"\b(?:needs|required)\([^()]*?,\s*(\"[\w.]+\"|str\(error\.name\)),\s*\"([\w-]+)\",?\s*\)"
            named |= set(re.findall(asked, source))
    assert {extra for _, extra in named} <= set(extras)
    for package, extra in named:
        if package.startswith('"'):
            distributions = [name.casefold() for name in requirements(extra)]
            assert package.strip('"').casefold() in distributions, (package, extra)
    assert len(named) >= 8
