"""Importing the library is quick because it imports little; whatever is public is there when it is first looked at."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import pytest

import ir_lexirecall as irl
from ir_lexirecall.lazy import exports


def python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout.strip()


def test_what_reads_compares_and_reports_is_imported_when_it_is_needed() -> None:
    modules = python("import ir_lexirecall, sys; print(*sys.modules)").split()
    ours = {name.split(".")[1] for name in modules if name.startswith("ir_lexirecall.")}
    assert ours == {"arrays", "benchmark", "errors", "lazy", "measures", "provider", "report"}
    assert not {"ir_lexirecall.benchmark.running", "ir_lexirecall.report.page"} & set(modules)
    assert not {"difflib", "secrets", "xml.etree"} & set(modules)


@pytest.mark.parametrize("name", ["benchmark", "report"])
@pytest.mark.parametrize(
    "before",
    ["", "from ir_lexirecall.{name} import *", "import ir_lexirecall.benchmark.single, ir_lexirecall.report.page"],
)
def test_functions_that_are_called_like_their_packages_stay_functions(name: str, before: str) -> None:
    program = f"import ir_lexirecall as irl\n{before.format(name=name)}\nirl.Benchmark, irl.compare\nprint(irl.{name})"
    assert python(program).startswith(f"<function {name} at ")


def test_all_public_names_are_listed_and_there() -> None:
    listed = python("import ir_lexirecall as irl; print(*dir(irl))").split()
    assert set(irl.__all__) <= set(listed)
    assert {"demo", "meta", "plots", "significance"} <= set(listed)
    printed = python(
        "from ir_lexirecall import *; import ir_lexirecall as irl; print(*set(irl.__all__) - set(globals()))"
    )
    assert printed == ""


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError, match=r"module 'ir_lexirecall' has no attribute 'experiment'"):
        irl.experiment  # noqa: B018
    with pytest.raises(ImportError, match="experiment"):
        exec("from ir_lexirecall import experiment")


def test_public_functions_and_classes_can_be_pickled_and_say_what_they_take() -> None:
    for name in (
        "benchmark",
        "report",
        "evaluate",
        "compare",
        "Benchmark",
        "BenchmarkSuite",
        "Preferences",
        "Judgments",
    ):
        thing = getattr(irl, name)
        assert pickle.loads(pickle.dumps(thing)) is thing
        assert len(inspect.signature(thing).parameters) > 1


def test_the_accelerated_start() -> None:
    program = "import ir_lexirecall, ir_measures; print(ir_measures.DefaultPipeline.providers[0].NAME)"
    environment = f"import os; os.environ['IR_LEXIRECALL_ACCELERATE'] = '1'; {program}"
    assert python(environment) == "ir_lexirecall_accelerated"
    assert python(program) != "ir_lexirecall_accelerated"


def test_exports_looks_once() -> None:
    get, names = exports("ir_lexirecall", {"plots": "ir_lexirecall.plots"})
    assert get("plots") is irl.plots
    assert "plots" in names()
