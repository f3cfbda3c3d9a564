"""Parse a measure's string, such as ``nDCG(dcg='exp-log2')@10``, as ir_measures does.

ir_measures' own parser asks ``ast`` for classes that Python 3.14 does not have. This one takes and
refuses the same strings; nothing in a string is evaluated.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import ir_measures
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import repeated, shown

_FORM = "write Name(parameter=value, ...)@cutoff"
_LONGEST = 10_000  # characters; Python takes seconds for 100,000


class UnknownMeasure(ValueError):
    """No measure of that name is registered."""


def parse_measure(text: str, known: Mapping[str, Any] | None = None) -> IRMeasure:
    """Return the measure that a string names, its parameters not yet checked.

    Args:
        text: the string.
        known: what there is by name; by default the measures of ir_measures' registry.

    Raises:
        UnknownMeasure: no measure has that name.
        ValueError: the string is not of the form ``Name(parameter=value, ...)@cutoff``, or the
            measure does not take such parameters.

    >>> parse_measure("nDCG(dcg='exp-log2')@10")
    nDCG(dcg='exp-log2')@10
    >>> parse_measure("AP@-1")
    Traceback (most recent call last):
    ValueError: 'AP@-1': the cutoff must not be negative, as -1 is
    """
    node, params = _expression_of(text), dict[str, Any]()
    cutoff = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        cutoff = _value(text, "the cutoff", node.right)
        node = node.left
    if isinstance(node, ast.Call):
        params = _parameters_of(text, node)
        node = node.func
    if not isinstance(node, ast.Name):
        raise ValueError(f"{shown(text)} is not a measure; {_FORM}")
    measure = (ir_measures.measures.registry if known is None else known).get(node.id)
    if measure is None:
        raise UnknownMeasure(f"unknown measure {shown(text)}")
    if cutoff is not None:
        if params.get(measure.AT_PARAM, cutoff) != cutoff:
            raise ValueError(
                f"{shown(text)} has two cutoffs, {params[measure.AT_PARAM]!r} and {cutoff!r}; "
                "leave one out"
            )
        params[measure.AT_PARAM] = cutoff
    try:
        return measure(**params)
    except (
        TypeError
    ) as error:  # a parameter named self, or what an own class makes of them
        raise ValueError(f"{shown(text)} is not a measure: {error}") from None


def _expression_of(text: str) -> ast.expr:
    """Return the single expression that a text is.

    Raises:
        ValueError: the text is not Python, or more than an expression.
    """
    if len(text) > _LONGEST:
        raise ValueError(
            f"{shown(text)} is not a measure: {len(text):,} characters; {_FORM}"
        )
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        # Thousands of brackets end in the last two.
        reason = str(error)
        if isinstance(error, SyntaxError):
            reason = error.msg
        raise ValueError(f"{shown(text)} is not a measure: {reason}; {_FORM}") from None
    if len(statements) != 1 or not isinstance(statements[0], ast.Expr):
        raise ValueError(f"{shown(text)} is not one measure; {_FORM}")
    return statements[0].value


def _parameters_of(text: str, call: ast.Call) -> dict[str, Any]:
    """Return the named parameters of a measure.

    Raises:
        ValueError: a parameter has no name, or one is given twice.
    """
    if call.args or any(keyword.arg is None for keyword in call.keywords):
        raise ValueError(f"{shown(text)}: parameters must be named; {_FORM}")
    names = [str(keyword.arg) for keyword in call.keywords]
    if twice := repeated(names):
        raise ValueError(
            f"{shown(text)}: the parameter {twice} is given twice; keep one"
        )
    return {
        name: _value(text, name, keyword.value)
        for name, keyword in zip(names, call.keywords, strict=True)
    }


def _value(text: str, name: str, node: ast.expr | None) -> Any:
    """Return the value of a literal; a negative number is an operation, and refused."""
    if isinstance(node, ast.Constant) and not isinstance(
        node.value, (bytes, type(...))
    ):
        return node.value
    if isinstance(node, ast.Dict):
        keys = [_value(text, name, key) for key in node.keys]
        if not any(isinstance(key, dict) for key in keys):
            return dict(
                zip(
                    keys,
                    (_value(text, name, value) for value in node.values),
                    strict=True,
                )
            )
    source: str | None = "**"
    if node is not None:
        source = ast.get_source_segment(text, node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        raise ValueError(f"{shown(text)}: {name} must not be negative, as {source} is")
    raise ValueError(
        f"{shown(text)}: {name} must be a number, text, True, False, None or a dict of them, "
        f"not {source}"
    )
