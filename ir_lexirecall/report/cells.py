"""Data frames as tables of a page: each cell its text, and all digits of its number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall.text import format_number, format_p

if TYPE_CHECKING:
    import pandas as pd

_PLACES = 4
_MOST_CELLS = 20_000  # of the values by query
P_VALUES = ("p", "p_corrected", "p_heterogeneity")

_COLUMNS = {
    "query_id": ("query", ""),
    "run_a": ("run A", ""),
    "run_b": ("run B", ""),
    "wins": ("wins", "queries on which run A is preferred"),
    "losses": ("losses", "queries on which run B is preferred"),
    "ties": ("ties", "queries on which neither is"),
    "incomparable": ("incomparable", "queries on which a partial order does not say"),
    "mean": ("mean", "mean preference for run A over the queries, from -1 to 1; of a measure, the mean difference"),
    "estimate": ("estimate", "what the test estimates: see the test"),
    "ci_low": (
        "CI low",
        "confidence interval of the estimate, at 1 - alpha: without 0 exactly where p is at most alpha",
    ),
    "ci_high": ("CI high", ""),
    "p": ("p", "of the test, for this pair alone"),
    "p_corrected": ("p corrected", "for all pairs together"),
    "reject": ("significant", "whether the corrected p is at most alpha"),
    "effect_size": (
        "effect size",
        "sign test: (wins - losses) / (wins + losses); Wilcoxon: rank-biserial correlation; else mean / standard deviation",
    ),
    "mean_rank": ("mean rank", "over the collections"),
    "rank_low": (
        "rank, low",
        "interval of the rank by the macro mean, which holds where many runs are nearly equal, too",
    ),
    "rank_high": ("rank, high", ""),
    "rank_from": ("rank, from", "where 1 - alpha of the resamples put the run"),
    "rank_to": ("rank, to", ""),
    "difference": ("difference", "to the baseline"),
    "difference_low": ("difference, low", "confidence interval of the difference"),
    "difference_high": ("difference, high", ""),
    "effect": ("effect", "random-effects mean of the differences over collections"),
    "effect_low": ("effect, low", ""),
    "effect_high": ("effect, high", ""),
    "tau2": ("tau²", "variance of the true differences between collections"),
    "i2": ("I²", "share of the variance that is not chance"),
    "p_heterogeneity": ("p heterogeneity", "of the test that the difference is the same on all collections"),
}
"""What columns are called in the report, and what they mean."""


@dataclass(frozen=True)
class Column:
    """A column of a table: what the API and what the page call it, whether it names its row, whether it holds numbers."""

    name: str
    label: str
    is_key: bool
    is_number: bool


@dataclass(frozen=True)
class Table:
    """A table of the page: rows of cells, each its text and all digits of its number (None: no number)."""

    columns: list[Column]
    rows: list[list[tuple[str, str | None]]]

    @classmethod
    def from_frame(cls, table: pd.DataFrame) -> Table:
        """A data frame as a table; its index is what names a row."""
        numbers = [(str(name), dtype.kind in "iuf") for name, dtype in zip(table.columns, table.dtypes, strict=True)]
        kinds = [(str(name), True, False) for name in table.index.names] + [(name, False, n) for name, n in numbers]
        columns = [Column(name, label_of(name), is_key, is_number) for name, is_key, is_number in kinds]
        rows = [(*(key if table.index.nlevels > 1 else [key]), *row) for key, *row in table.itertuples(name=None)]
        return cls(
            columns, [[cell(value, column.name) for value, column in zip(row, columns, strict=True)] for row in rows]
        )

    def cells(self) -> Iterator[Iterator[tuple[Column, tuple[str, str | None]]]]:
        """Rows of cells with their columns."""
        return (zip(self.columns, row, strict=True) for row in self.rows)


def label_of(column: str) -> str:
    """What a column is called.

    >>> label_of("p_corrected"), label_of("nDCG@10")
    ('p corrected', 'nDCG@10')
    """
    return _COLUMNS[column][0] if column in _COLUMNS else column


def meanings(columns: Iterable[str]) -> Mapping[str, str]:
    """What columns mean, by their labels, as far as that needs words."""
    known = (_COLUMNS[name] for name in dict.fromkeys(columns) if name in _COLUMNS)
    return {label: meaning for label, meaning in known if meaning}


def cell(value: Any, column: str = "") -> tuple[str, str | None]:
    """A value's text, and all its digits if it is a number; p-values as texts everywhere show them.

    >>> cell(1 / 3), cell(-0.00004), cell(1e-7, "p"), cell(True), cell(None)
    (('0.3333', '0.3333333333333333'), ('−4.0e−05', '-4e-05'), ('< 1e−4', '1e-07'), ('yes', None), ('–', None))
    """
    import pandas as pd

    if isinstance(value, str):
        return value, None
    if isinstance(value, (bool, np.bool_)):
        return ("yes" if value else "no"), None
    if value is None or value is pd.NA:
        return "–", None
    if isinstance(value, (float, np.floating)):
        shown = p_value(float(value)) if column in P_VALUES else number(float(value))
        return shown, repr(float(value))
    return minus(str(value)), str(value)


def number(value: float) -> str:
    """A number with four decimal places; one that would read as 0 but is not keeps its magnitude.

    >>> number(-0.5), number(0.00001), number(float("nan"))
    ('−0.5000', '1.0e−05', '–')
    """
    return "–" if np.isnan(value) else minus(format_number(value, _PLACES))


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.5), signed(-0.0), signed(-0.00001), signed(float("nan"))
    ('+0.5000', '+0.0000', '−1.0e−05', '–')
    """
    shown = number(value + 0.0)
    return shown if shown.startswith(("−", "–")) else f"+{shown}"


def p_value(p: float) -> str:
    """A p-value as texts show it.

    >>> p_value(0.5), p_value(1e-9), p_value(float("nan"))
    ('0.500', '< 1e−4', '–')
    """
    return "–" if np.isnan(p) else minus(format_p(p))


def minus(text: str) -> str:
    """The text of a number with the minus sign that all tables have (the numbers of ``data-value`` keep the hyphen).

    >>> minus("-1.0e-05")
    '−1.0e−05'
    """
    return text.replace("-", "−")


def values_by_query(values: pd.DataFrame, runs: Sequence[str]) -> dict[str, Any]:
    """``Benchmark.per_query``: a table per measure, with a row per query and a column per run; none where they are too many."""
    tables = {}
    if values.size <= _MOST_CELLS:
        tables = {str(name): Table.from_frame(column.unstack("run")[list(runs)]) for name, column in values.items()}
    return {"size": values.size, "tables": tables}
