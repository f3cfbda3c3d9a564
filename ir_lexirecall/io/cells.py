"""One value of a table: how a number and an id are read, from a text or from an object."""

from __future__ import annotations

import re
from decimal import Decimal
from math import inf, isfinite, nan
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.errors import check_text, is_integer, is_number, shown

NumbersByQuery: TypeAlias = dict[str, dict[str, float]]
"""Numbers of documents by query."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_NUMBER = r"[-+\u2212]?(?:\d+(?:[.,]\d+)?|[.,]\d+)"
_PRINTED_NUMBER = re.compile(
    rf"[*_~]*+{_NUMBER} ?[%\u2030]?(?:/\d+| ?(?:\u00b1|\+/-) ?{_NUMBER} ?%?| ?\({_NUMBER} ?%?\))?"
    r"[*_~\u2020\u2021]*+"
)
TRUTH_VALUES = {"true": 1.0, "false": 0.0}


def number_of_text(text: str) -> float | None:
    """Return the number that a text says, ``inf`` and ``nan`` included; None for other texts.

    >>> number_of_text("1e-3"), number_of_text("1_000"), number_of_text("x")
    (0.001, None, None)
    """
    if not text.isascii() or "_" in text or text != text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        return None


def number_or_text(value: Any) -> float | None:
    """Return a number, or the text of one, as a float; None for other values.

    Integers beyond the largest float give None, too.

    >>> number_or_text(3), number_or_text("0.5"), number_or_text(True), number_or_text(10**400)
    (3.0, 0.5, None, None)
    """
    if isinstance(value, str):
        return number_of_text(value)
    number = number_of(value)
    if number is None or (isinstance(value, int) and abs(number) == inf):
        return None
    return number


def text_hint(value: Any) -> str:
    """Return advice on a number that is written as a text, where a number is expected.

    >>> text_hint("1"), text_hint("high"), text_hint(None)
    ('; it is a text: write it without quotes, or convert the column', '', '')
    """
    number = number_or_text(value) if isinstance(value, str) else None
    if number is None or not isfinite(number):
        return ""
    return "; it is a text: write it without quotes, or convert the column"


def number_of(value: Any) -> float | None:
    """Return a number, or a decimal, as a float; None for other values.

    It is infinite if it is beyond all floats.

    >>> number_of(3), number_of(-(10**400)), number_of("3"), number_of(True)
    (3.0, -inf, None, None)
    """
    try:
        if is_number(value) or isinstance(value, Decimal):
            return float(value)
        return None
    except OverflowError:  # an integer of more than 1,000 bits
        return inf if value > 0 else -inf
    except ValueError:  # a decimal that signals that it is not a number
        return nan


def grade_of(value: Any) -> float | None:
    """Return a grade as a float: a number, or 1 for True and 0 for False; None for other values.

    >>> grade_of(2), grade_of(True), grade_of(np.False_), grade_of("2")
    (2.0, 1.0, 0.0, None)
    """
    if isinstance(value, (bool, np.bool_)):
        return float(value)
    return number_of(value)


def grade_of_text(text: str) -> float | None:
    """Return the grade that a text says: a number, or 1 for ``True`` and 0 for ``False``.

    Capitals do not matter. Other texts give None.

    >>> grade_of_text("2"), grade_of_text("TRUE"), grade_of_text("false"), grade_of_text("yes")
    (2.0, 1.0, 0.0, None)
    """
    number = number_of_text(text)
    if number is None:
        return TRUTH_VALUES.get(text.lower())
    return number


def unquoted(text: str) -> str:
    """Return a field of a table without the quotation marks that CSV puts around one.

    Within them, CSV writes each quotation mark twice; a text in which one stands alone has marks of
    its own, and is returned as it is.

    >>> unquoted('"q1"'), unquoted('"5"" disk"'), unquoted('5" disk'), unquoted('"a" or "b"')
    ('q1', '5" disk', '5" disk', '"a" or "b"')
    """
    if len(text) < 2 or not (text.startswith('"') and text.endswith('"')):
        return text
    inner = text[1:-1]
    if '"' in inner.replace('""', ""):
        return text
    return inner.replace('""', '"')


def number_hint(text: str) -> str:
    """Return advice on a number with a decimal comma; empty for other texts.

    >>> number_hint("0,5"), number_hint("high")
    ('; write decimals with a point', '')
    """
    if _DECIMAL_COMMA.fullmatch(text):
        return "; write decimals with a point"
    return ""


def is_printed_number(value: Any) -> bool:
    """Return whether a text is a number as it is printed for readers, not for programs.

    >>> is_printed_number("95 %"), is_printed_number("0,95"), is_printed_number("0.95 (0.02)")
    (True, True, True)
    >>> is_printed_number("12 monkeys"), is_printed_number("2024-01-31")
    (False, False)
    """
    if not isinstance(value, str):
        return False
    return _PRINTED_NUMBER.fullmatch(value.strip()) is not None


def id_of(value: Any) -> str:
    """Return a query or document id as a text; an integer means its decimal digits.

    Raises:
        ValueError: it is neither a text nor an integer, or is empty.

    >>> id_of(7), id_of("d7")
    ('7', 'd7')
    """
    if isinstance(value, str):
        if not value:
            raise ValueError("an id is empty; leave out rows without an id")
        return check_text(str(value), "ids")
    if is_integer(value):
        return str(int(value))
    raise ValueError(
        f"ids must be strings or integers, but one is {shown(value)} ({type(value).__name__})"
    )
