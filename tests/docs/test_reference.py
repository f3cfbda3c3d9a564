"""The reference names everything that is public, and docstrings explain every parameter."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ir_measures
import pytest

PAGES = Path(__file__).parents[2] / "ir_lexirecall" / "pt_docs"
INTEGRATIONS = [
    "pyterrier_lexirecall",
    "lenskit_lexirecall",
    "spark_lexirecall",
    "sentence_transformers_lexirecall",
]
FRAMEWORKS = {
    "lenskit_lexirecall": "lenskit.metrics",
    "spark_lexirecall": "pyspark",
    "sentence_transformers_lexirecall": "sentence_transformers",
}
MODULES = ["ir_lexirecall", "ir_lexirecall.meta", "ir_datasets_lexirecall", *INTEGRATIONS]


def public(module: str) -> list[tuple[str, Any]]:
    """The public names of a module and what they stand for; a test of a framework that is not there is skipped."""
    # pytest leaves empty modules behind where the collection of doctests could not import one.
    pytest.importorskip(FRAMEWORKS.get(module, module), exc_type=ImportError)
    loaded = pytest.importorskip(module, exc_type=ImportError)
    return [(name, getattr(loaded, name)) for name in loaded.__all__]


def described(module: str) -> set[str]:
    """Names that the reference, or a measure's page, describes for a module."""
    sources = [PAGES / "api.rst", PAGES / "made.py", *PAGES.glob("measures/*.rst")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    return set(re.findall(rf"auto\w+:: (?:{re.escape(module)}\.)(?:\w+\.)*(\w+)$", text, re.MULTILINE))


@pytest.mark.parametrize("module", MODULES)
def test_the_reference_has_every_public_name(module: str) -> None:
    names = {getattr(thing, "NAME", name) if is_measure(thing) else name for name, thing in public(module)}
    assert names - {"NAME"} <= described(module)


def is_measure(thing: Any) -> bool:
    return isinstance(thing, ir_measures.Measure)


def functions(module: str) -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Public functions, and constructors and methods of public classes, with the text that must explain their parameters."""
    for name, thing in public(module):
        if inspect.isclass(thing):
            text = inspect.getdoc(thing) or ""
            if "__init__" in vars(thing) or not issubclass(thing, ir_measures.Measure):
                yield name, thing, text
            for method, value in vars(thing).items():
                function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
                if not method.startswith("_") and inspect.isfunction(function):
                    yield f"{name}.{method}", function, f"{inspect.getdoc(function)}\n{text}"
        elif callable(thing) and not is_measure(thing):
            yield name, thing, inspect.getdoc(thing) or ""


@pytest.mark.parametrize("module", MODULES)
def test_every_parameter_is_explained(module: str) -> None:
    missing = []
    for name, function, text in functions(module):
        names = [p for p in inspect.signature(function).parameters if p not in ("self", "cls", "args", "kwargs")]
        explained = set(re.findall(r"``\*{0,2}(\w+)", text)) | set(
            re.findall(r"^\s+\*{0,2}(\w+)[,:(]", text, re.MULTILINE)
        )
        explained |= {
            name for line in re.findall(r"^\s+((?:\w+, )+\w+):", text, re.MULTILINE) for name in line.split(", ")
        }
        missing += [
            f"{name}({parameter})"
            for parameter in names
            if parameter not in explained and not parameter.startswith("_")
        ]
    assert missing == []


def test_every_measure_has_a_page() -> None:
    measures = {type(thing).__name__ for _, thing in public("ir_lexirecall") if is_measure(thing)}
    assert {path.stem for path in PAGES.glob("measures/*.rst")} - {"index", "standard"} == measures
