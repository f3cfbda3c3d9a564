"""Checks of options that are handed on to `pt.Experiment`.

PyTerrier checks some of them by assertions, some only after systems ran, and ignores others. Here
each wrong value is refused by the name of its option, before any system runs.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyterrier as pt

from ir_lexirecall._util.errors import (
    check_choice,
    check_flag,
    check_integer,
    shown,
)
from ir_lexirecall._util.paths import is_path

_STYLES = ("bold", "color", "colour")
# Read before any monkey-patching: users may put `pt.lexirecall.Experiment` in its place.
OPTIONS = tuple(inspect.signature(pt.Experiment).parameters)
"""Names of the arguments of `pt.Experiment`."""


def check_options(options: Mapping[str, Any]) -> None:
    """Check each option of `pt.Experiment`, and those that exclude each other.

    Args:
        options: options by name; those that are not checked here are passed over.

    Raises:
        ValueError: a wrong value, or two options that cannot be combined.

    >>> check_options({"batch_size": 0})
    Traceback (most recent call last):
    ValueError: batch_size must be an integer of at least 1, not 0
    """
    for name, value in options.items():
        check = _CHECKS.get(name)
        if check is not None:
            check(value)
    _check_per_query(options)
    _check_saving(options)


# -- one option ----------------------------------------------------------------------------------


def _check_batch_size(value: Any) -> None:
    """Raise if a value is neither None nor a number of topics."""
    if value is not None:
        check_integer("batch_size", value)


def _check_flag_or(word: str, name: str, value: Any) -> None:
    """Raise if the value of an option is not True, False or a word."""
    is_word = isinstance(value, str) and value == word
    if not is_word and not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True, False or {word!r}, not {shown(value)}")


def _check_round(value: Any) -> None:
    """Raise if a value is not a number of decimal places, nor a mapping of columns to some."""
    if value is None:
        return
    if isinstance(value, Mapping):
        for column, places in value.items():
            check_integer(f"round of {column!r}", places, least=0)
        return
    check_integer("round", value, least=0)


def _check_highlight(value: Any) -> None:
    """Raise if a value is neither None nor a style."""
    if value is not None:
        check_choice("highlight", value, _STYLES)


def _check_save_dir(value: Any) -> None:
    """Raise if a value is neither None nor the path of a folder."""
    if value is not None and not is_path(value):
        raise ValueError(f"save_dir must be a folder, not {shown(value)}")


def _check_save_format(value: Any) -> None:
    """Raise if a value is not 'trec', a module such as `pickle`, nor two functions."""
    is_pair = isinstance(value, tuple) and len(value) == 2 and all(map(callable, value))
    if value == "trec" or is_pair or isinstance(value, types.ModuleType):
        return
    raise ValueError(
        "save_format must be 'trec', a module such as pickle, or a pair of functions that read "
        f"and write, not {shown(value)}"
    )


_CHECKS: dict[str, Callable[[Any], Any]] = {
    "batch_size": _check_batch_size,
    "perquery": partial(_check_flag_or, "both", "perquery"),
    "verbose": partial(_check_flag_or, "auto", "verbose"),
    "round": _check_round,
    "highlight": _check_highlight,
    "save_dir": _check_save_dir,
    "save_format": _check_save_format,
    "save_mode": partial(
        check_choice, "save_mode", choices=("warn", "error", "reuse", "overwrite")
    ),
    "validate": partial(check_choice, "validate", choices=("warn", "error", "ignore")),
    "plan": partial(check_choice, "plan", choices=("linear", "tree")),
    "dataframe": partial(check_flag, "dataframe"),
    "filter_by_qrels": partial(check_flag, "filter_by_qrels"),
    "filter_by_topics": partial(check_flag, "filter_by_topics"),
    "precompute_prefix": partial(check_flag, "precompute_prefix"),
}


# -- options that exclude each other -------------------------------------------------------------


def _check_per_query(options: Mapping[str, Any]) -> None:
    """Raise if values per query are asked for with options of averages."""
    if not options.get("perquery"):
        return
    if options.get("baseline") is not None:
        raise ValueError(
            "a baseline is compared by averages, not by values per query: leave out perquery, or "
            "the baseline"
        )
    if isinstance(options.get("round"), Mapping):
        raise ValueError(
            "decimal places by column are for averages, not for values per query: give one number "
            "as round, or leave out perquery"
        )


def _check_saving(options: Mapping[str, Any]) -> None:
    """Raise if results are to be saved in a way that `pt.Experiment` does not offer."""
    if options.get("save_dir") is None:
        return
    if options.get("plan") == "tree":
        raise ValueError(
            "plan='tree' saves no results: leave out plan, or save_dir (pt.lexirecall.Benchmark "
            "always saves them)"
        )
    is_trec = options.get("save_format", "trec") == "trec"
    if options.get("batch_size") is not None and not is_trec:
        raise ValueError(
            "batches of topics are saved in TREC's format only: leave out batch_size, or "
            "save_format"
        )
