"""Integrations take the options of the library, read from their sources: no framework is needed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPARE = ("ir_lexirecall/comparison/comparing.py", "compare")
OF_VALUES = {"values", "smaller_is_better", "query", "run", "where", "missing"}
OF_ONE_PROCESS = {"predicted", "repeats", "deterministic"}


def parameters(path: str, function: str) -> dict[str, str | None]:
    """Return the parameters of a function and their defaults, as its source has them."""
    module = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = (node for node in module.body if isinstance(node, ast.FunctionDef))
    arguments = next(node.args for node in functions if node.name == function)
    positional = [*arguments.posonlyargs, *arguments.args]
    required = [None] * (len(positional) - len(arguments.defaults))
    names = [argument.arg for argument in [*positional, *arguments.kwonlyargs]]
    defaults = [*required, *arguments.defaults, *arguments.kw_defaults]
    return {
        name: None if default is None else ast.unparse(default)
        for name, default in zip(names, defaults, strict=True)
    }


@pytest.mark.parametrize(
    ("path", "added"),
    [
        ("integrations/lenskit_lexirecall/__init__.py", ["run_key", "rating_field"]),
        ("integrations/spark_lexirecall/__init__.py", ["buckets"]),
    ],
)
def test_compare_takes_what_the_local_one_takes(path: str, added: list[str]) -> None:
    ours, local = parameters(path, "compare"), parameters(*COMPARE)
    not_here = OF_VALUES | OF_ONE_PROCESS
    assert list(ours) == [*(name for name in local if name not in not_here), *added]
    options = [name for name in ours if name not in ("qrels", "runs", "by", *added)]
    assert {name: ours[name] for name in options} == {
        name: local[name] for name in options
    }


def test_experiment_has_the_options_of_compare_with_their_defaults() -> None:
    ours = parameters("integrations/pyterrier_lexirecall/experiment.py", "Experiment")
    local = parameters(*COMPARE)
    # The rankings come from the pipelines; what is relevant is PyTerrier's to say.
    elsewhere = {"runs", "by", "allow_empty"}
    assert local.keys() - ours.keys() == OF_VALUES | elsewhere
    options = [name for name in local if name in ours and name != "qrels"]
    assert {name: ours[name] for name in options} == {
        name: local[name] for name in options
    }
