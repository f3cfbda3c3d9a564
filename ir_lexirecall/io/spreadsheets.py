"""Tables that people open in a spreadsheet, which would execute texts that look like formulas."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

from ir_lexirecall._util.lazy import polars as pl

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

_FORMULA = re.compile(r"'*+[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""Matches the start of a formula, also in full-width signs and behind apostrophes of `escaped`."""
_FOR_PEOPLE = {"query_id", "query", "doc_id", "text"}
"""Columns that, together, only tables to judge in have."""


def escaped(value: Any) -> Any:
    """Return a text that no spreadsheet takes for a formula; other values as they are.

    >>> escaped("=1+1"), escaped("'=1"), escaped("d1"), escaped(-1)
    ("'=1+1", "''=1", 'd1', -1)
    """
    if isinstance(value, str) and _FORMULA.match(value):
        return f"'{value}"
    return value


def unescaped(text: str) -> str:
    """Return the text that `escaped` was given to make this one.

    >>> unescaped("'=1+1"), unescaped("''=1"), unescaped("=1"), unescaped("'d1'")
    ('=1+1', "'=1", '=1', "'d1'")
    """
    if _FORMULA.match(text):
        return text.removeprefix("'")
    return text


def escaped_table(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose cells and names of columns are no formulas."""
    cells = table.copy()
    for i, (_, column) in enumerate(table.items()):
        if column.dtype.kind not in "biuf":
            cells.isetitem(i, column.astype(object).map(escaped))
    return cells.set_axis([escaped(name) for name in table.columns], axis=1)


def write_spreadsheet(table: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV whose cells and names of columns are no formulas."""
    cells = escaped_table(table)
    texts = cells.select_dtypes(exclude="number").astype(str)
    # A carriage return alone ends a row, unless it is quoted, which the csv module does not see to.
    has_returns = bool((texts.map(lambda text: "\r" in text)).any(axis=None))
    quoting = csv.QUOTE_ALL if has_returns else csv.QUOTE_MINIMAL
    cells.to_csv(path, index=False, quoting=quoting)


def with_original_ids(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table for judges with ids as before `escaped`; other tables as they are."""
    if not set(table.columns) >= _FOR_PEOPLE:
        return table
    columns = {
        name: pl.Series(
            name, list(map(unescaped, table[name].to_list())), dtype=pl.String
        )
        for name in ("query_id", "doc_id")
    }
    return pl.DataFrame({**table.to_dict(), **columns})
