"""Importing the library is quick because it imports little; whatever is public is there when it is first looked at."""

from __future__ import annotations

import inspect
import pickle
import pkgutil
import sys
from pathlib import Path

from fresh import python

import ir_lexirecall as irl


def test_what_reads_compares_and_reports_is_imported_when_it_is_needed() -> None:
    modules = python("import ir_lexirecall, sys; print(*sys.modules)").split()
    ours = {name.split(".")[1] for name in modules if name.startswith("ir_lexirecall.")}
    assert ours == {"_util", "evaluation", "io", "measures"}
    of_io = {name for name in modules if name.startswith("ir_lexirecall.io.")}
    assert of_io == {"ir_lexirecall.io.measure_names"}  # a table
    assert "ir_lexirecall.evaluation.scored_runs" not in modules
    assert not {"difflib", "secrets", "xml.etree"} & set(modules)


def test_eval_imports_neither_pandas_nor_what_compares(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("q 0 a 1\n", encoding="utf-8")
    (tmp_path / "r").write_text("q Q0 a 1 2 t\n", encoding="utf-8")
    words = ["eval", str(tmp_path / "q"), str(tmp_path / "r"), "-m", "LR", "nDCG@10"]
    modules = python(
        f"import sys; from ir_lexirecall.cli import main; main({words}); print(*sys.modules)"
    ).split()
    assert not {"pandas", "scipy", "matplotlib", "ir_datasets"} & set(modules)
    ours = {
        name.split(".")[1]
        for name in modules
        if name.startswith("ir_lexirecall.") and name.count(".") > 1
    }
    assert (
        not {"benchmarks", "comparison", "judging", "plots", "preferences", "reports"}
        & ours
    )


def test_every_module_can_be_imported_by_its_dotted_name() -> None:
    for module in pkgutil.walk_packages(irl.__path__, "ir_lexirecall."):
        if ".pt_docs" in module.name or module.name.endswith("__main__"):
            continue
        namespace: dict[str, object] = {}
        exec(f"import {module.name} as module", namespace)
        assert namespace["module"] is sys.modules[module.name], (
            f"{module.name} is hidden by something of its name"
        )


def test_all_public_names_are_listed_and_there() -> None:
    listed = python("import ir_lexirecall as irl; print(*dir(irl))").split()
    assert set(irl.__all__) <= set(listed)
    assert {"demo", "meta", "plots", "significance"} <= set(listed)
    printed = python(
        "from ir_lexirecall import *; import ir_lexirecall as irl; print(*set(irl.__all__) - set(globals()))"
    )
    assert printed == ""


def test_public_functions_and_classes_can_be_pickled_and_say_what_they_take() -> None:
    for thing in (
        irl.benchmark,
        irl.report,
        irl.evaluate,
        irl.compare,
        irl.SignificanceTest,
    ):
        assert pickle.loads(pickle.dumps(thing)) is thing
        assert len(inspect.signature(thing).parameters) > 1


def test_the_version_needs_nothing() -> None:
    program = "import sys; sys.argv[1:] = ['--version']; from shell_lexirecall import main; main(); print(*sys.modules)"
    version, modules = python(program).splitlines()
    assert version == f"ir-lexirecall {irl.__version__}"
    assert not {"ir_lexirecall", "ir_measures", "numpy"} & set(modules.split())
