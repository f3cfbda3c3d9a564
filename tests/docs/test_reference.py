"""The reference names everything that is public, and docstrings explain every parameter."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ir_measures
import pytest

import ir_lexirecall
from ir_lexirecall.measures.declaration import REGISTRY
from ir_lexirecall.measures.parameters import Param
from ir_lexirecall.pt_docs import pages

pytestmark = pytest.mark.sparse

PAGES = Path(__file__).parents[2] / "ir_lexirecall" / "pt_docs"
INTEGRATIONS = [
    "pytest_lexirecall",
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
MODULES = [
    "ir_lexirecall",
    "ir_lexirecall.meta",
    "ir_lexirecall.reports",
    "ir_lexirecall.evaluation.arrow",
    "ir_lexirecall.data.demo",
    "ir_datasets_lexirecall",
    *INTEGRATIONS,
]


def public(module: str) -> list[tuple[str, Any]]:
    """The public names of a module and what they stand for; a test of a framework that is not there is skipped."""
    # pytest leaves empty modules behind where the collection of doctests could not import one.
    pytest.importorskip(FRAMEWORKS.get(module, module), exc_type=ImportError)
    loaded = pytest.importorskip(module, exc_type=ImportError)
    defined = [
        n
        for n, thing in vars(loaded).items()
        if n[0] != "_" and getattr(thing, "__module__", "") == module
    ]
    return [
        (name, getattr(loaded, name)) for name in getattr(loaded, "__all__", defined)
    ]


def described(module: str) -> set[str]:
    """Names that the reference describes for a module."""
    sources = [*PAGES.glob("api/*.rst"), PAGES / "api" / "integrations.txt"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    return set(
        re.findall(
            rf"auto\w+:: (?:{re.escape(module)}\.)(?:\w+\.)*(\w+)$", text, re.MULTILINE
        )
    )


@pytest.mark.parametrize("module", MODULES)
def test_the_reference_has_every_public_name(module: str) -> None:
    names = {
        name
        for name, thing in public(module)
        if not is_measure(thing)  # pages of their own
        and (
            module == "ir_lexirecall" or thing is not getattr(ir_lexirecall, name, None)
        )  # described once
    }
    assert names - {"NAME"} <= described(module) | described(module.rpartition(".")[0])


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
                function = (
                    value.__func__
                    if isinstance(value, (classmethod, staticmethod))
                    else value
                )
                if not method.startswith("_") and inspect.isfunction(function):
                    yield (
                        f"{name}.{method}",
                        function,
                        f"{inspect.getdoc(function)}\n{text}",
                    )
        elif callable(thing) and not is_measure(thing):
            yield name, thing, inspect.getdoc(thing) or ""


def explained(text: str) -> set[str]:
    """The parameters that a docstring explains: as code, or at the beginning of a line before what they are."""
    names = set(re.findall(r"``\*{0,2}(\w+)", text)) | set(
        re.findall(r"^\s+\*{0,2}(\w+)[,:(]", text, re.MULTILINE)
    )
    listed = re.findall(r"^\s+((?:\w+, )+\w+):", text, re.MULTILINE)
    return names | {name for line in listed for name in line.split(", ")}


def unexplained(function: Callable[..., Any], text: str) -> list[str]:
    """Parameters that neither the text nor the docstring to which it refers explains."""
    wanted = []
    for name in inspect.signature(function).parameters:
        if name not in ("self", "cls", "args", "kwargs") and not name.startswith("_"):
            wanted.append(name)
    there = explained(text)
    for name in re.findall(
        r"(?:are those of|as in|options of)\s+``(?:ir_lexirecall\.)?(\w+)``", text
    ):
        other = getattr(ir_lexirecall, name, None) or getattr(
            inspect.getmodule(function), name, None
        )
        there |= explained(inspect.getdoc(other) or "")
    return [name for name in wanted if name not in there]


@pytest.mark.parametrize("module", MODULES)
def test_every_parameter_is_explained(module: str) -> None:
    missing = {
        name: unexplained(function, text) for name, function, text in functions(module)
    }
    assert {name: names for name, names in missing.items() if names} == {}


@pytest.mark.parametrize("name", ["cutoff", "rel"])
def test_parameters_that_measures_share_are_in_the_reference(name: str) -> None:
    function = getattr(ir_lexirecall.measures.parameters, name)
    assert name in described("ir_lexirecall")
    assert isinstance(function(), Param)
    assert unexplained(function, inspect.getdoc(function) or "") == []


def returns_a_parameter(thing: Any) -> bool:
    return inspect.isfunction(thing) and thing.__annotations__.get("return") in (
        Param,
        "Param",
    )


def test_what_measures_share_is_complete() -> None:
    there = vars(ir_lexirecall.measures.parameters).items()
    shared = {
        name
        for name, thing in there
        if returns_a_parameter(thing)
        or (name[0] != "_" and isinstance(thing, (Param, dict)))
    }
    assert shared - {"JUDGED_ONLY"} <= described("ir_lexirecall")
    assert {"cutoff", "GAIN_ON_SCALE"} <= shared


@pytest.mark.parametrize("module", ["ir_lexirecall", "ir_lexirecall.meta"])
def test_what_public_functions_return_is_in_the_reference(module: str) -> None:
    """Classes of this library in the annotations of results: also what a method of a public class gives."""
    returned = set()
    for _, function, _ in functions(module):
        returned |= set(
            re.findall(
                r"\b[A-Z]\w+", str(inspect.signature(function).return_annotation)
            )
        )
    ours = {
        name
        for loaded, thing in list(sys.modules.items())
        if loaded.startswith("ir_lexirecall.")
        for name in returned
        if inspect.isclass(kind := vars(thing).get(name))
        and kind.__module__.startswith("ir_lexirecall")
    }
    assert ours <= described("ir_lexirecall") | described("ir_lexirecall.meta")


MEASURES = sorted(
    {type(thing).__name__ for _, thing in public("ir_lexirecall") if is_measure(thing)}
)


def test_every_measure_stands_on_one_page_under_its_title(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        pages, "drawing", lambda name: ""
    )  # of the built pages; it takes seconds
    monkeypatch.setattr(
        pages, "text_of", pages.text_of.__wrapped__
    )  # not the kept texts
    listed = {name: page for page, names in pages.families().items() for name in names}
    assert sorted(listed) == sorted({REGISTRY[name].NAME for name in MEASURES})
    for name, page in listed.items():
        text = (PAGES / "measures" / f"{page}.rst").read_text(encoding="utf-8")
        assert f".. automodule:: ir_lexirecall.pt_docs.pages.{page}\n" in text
        title = f"{name}: {ir_lexirecall.describe(name).title}"
        assert (
            getattr(pages, page).__doc__.count(
                f".. _measure-{name}:\n\n{title}\n{'-' * len(title)}\n"
            )
            == 1
        )


def test_the_table_of_tests_has_a_row_for_each() -> None:
    table = inspect.cleandoc(pages.table_of_tests())
    assert table.startswith(".. list-table::\n   :header-rows: 1\n")
    assert re.findall(r"^   \* - ``'(\w+)'``$", table, re.MULTILINE) == list(
        ir_lexirecall.significance.TESTS
    )


@pytest.mark.parametrize(
    ("plain", "typeset"),
    [
        (
            "p_1 < ... < p_r: their ranks",
            r":math:`p_{1} < \ldots < p_{r}`: their ranks",
        ),
        ("1/2 or (1-p) p^(i-1)", r"1/2 or :math:`(1-p)\, p^{i-1}`"),
        ("N' = C(0, 1) = 0", r":math:`N' = \binom{0}{1} = 0`"),
        ("g/max_rel ('linear')", r":math:`g/\mathrm{max\_rel}` ('linear')"),
        ("a document, the first of the N", "a document, the first of the N"),
        ("EU(e=0,gain='linear') = 1.25", "EU(e=0,gain='linear') = 1.25"),
    ],
)
def test_formulas_in_plain_text_are_typeset(plain: str, typeset: str) -> None:
    assert pages.typeset(plain) == typeset
