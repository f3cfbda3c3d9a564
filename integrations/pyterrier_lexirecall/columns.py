"""The columns of an experiment's table: names, order, statistics, highlighting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from ir_measures import parse_trec_measure
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall.arrays import Floats
from pyterrier_lexirecall.testing import PairedTest

STATISTICS = ("+", "-", "p-value", "reject", "p-value corrected")
"""What ``pt.Experiment`` says of a system's difference to the baseline, as its columns are called after the measure's."""

TIME = "mrt"
"""What ``pt.Experiment`` measures itself: the mean time that a topic takes."""

Statistics = dict[tuple[str, str], Any]
"""Columns by measure and statistic."""


def measure_columns(metrics: Iterable[str | IRMeasure]) -> list[str]:
    """What ``pt.Experiment`` calls the columns of measures, in the order of the measures.

    >>> from ir_lexirecall import LR
    >>> measure_columns(["map", LR @ 10, "mrt", "P_5"])
    ['map', 'LexiRecall@10', 'mrt', 'P_5']
    """
    measures: list[str | IRMeasure] = []
    names: dict[IRMeasure, str] = {}
    for metric in metrics:
        if isinstance(metric, IRMeasure) or metric == TIME:
            measures.append(metric)
            continue
        parsed = parse_trec_measure(metric)
        if len(parsed) == 1:
            names[parsed[0]] = metric
        measures.extend(parsed)  # several for the name of a family, such as P
    columns = [measure if isinstance(measure, str) else names.get(measure, str(measure)) for measure in measures]
    return list(dict.fromkeys(columns))


def tested_measures(columns: Iterable[str]) -> list[str]:
    """The measures of which ``pt.Experiment`` counted wins, in its order.

    >>> tested_measures(["name", "AP", "RR", "RR +", "RR -", "AP +"])
    ['RR', 'AP']
    """
    return [column.removesuffix(" +") for column in columns if column.endswith(" +")]


def statistics_of(table: pd.DataFrame) -> Statistics:
    """The statistics in a table of ``pt.Experiment``."""
    return {
        (measure, kind): table[f"{measure} {kind}"]
        for measure in tested_measures(table.columns)
        for kind in STATISTICS
        if f"{measure} {kind}" in table
    }


def statistics_against(
    baseline: int, values: Mapping[str, Sequence[Floats]], test: PairedTest, correction: str | None, alpha: float
) -> Statistics:
    """Statistics as ``pt.Experiment`` makes them, against another baseline than its own.

    Args:
        baseline: the place of the baseline among the systems.
        values: for every measure, the values per query of every system.
        test: gives the p-value at ``[1]``.
        correction: a method of statsmodels' ``multipletests``, or None.
        alpha: of the correction.

    >>> values = {"AP": [np.array([0.5, 0.25]), np.array([0.75, 0.25])]}
    >>> columns = statistics_against(1, values, lambda a, b: (0, 0.5), None, 0.05)
    >>> {kind: column.tolist() for (measure, kind), column in columns.items()}
    {'+': [0.0, nan], '-': [1.0, nan], 'p-value': [0.5, nan]}
    """
    columns: Statistics = {}
    for measure, of_system in values.items():
        reference = of_system[baseline]
        rows = [
            [np.nan] * 3
            if system == baseline
            else [(own > reference).sum(), (own < reference).sum(), test(own, reference)[1]]
            for system, own in enumerate(of_system)
        ]
        wins, losses, p = np.array(rows, dtype=np.float64).T
        columns |= {(measure, "+"): wins, (measure, "-"): losses, (measure, "p-value"): p}
        if correction is not None:
            from statsmodels.stats.multitest import multipletests

            reject, corrected, *_ = multipletests(np.delete(p, baseline), alpha=alpha, method=correction)
            columns[measure, "reject"] = np.insert(reject, baseline, False)
            columns[measure, "p-value corrected"] = np.insert(corrected, baseline, np.nan)
    return columns


@dataclass
class ColumnBuilder:
    """The columns of a table, and in which of them larger (``'+'``) or smaller (``'-'``) is better.

    Args:
        names: of the systems.
    """

    names: InitVar[Sequence[Any]]
    columns: dict[str, Any] = field(init=False)
    better: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self, names: Sequence[Any]) -> None:
        self.columns = {"name": list(names)}

    def add(self, name: str, values: Any, better: str | None = None) -> None:
        """Add a column."""
        self.columns[name] = values
        if better is not None:
            self.better[name] = better

    def add_statistics(self, name: str, statistics: Statistics, end: str) -> None:
        """Add the statistics of a measure or preference; ``end`` ends the names of their columns."""
        for kind in STATISTICS:
            if (name, kind) in statistics:
                self.add(f"{name} {kind}{end}", statistics[name, kind], better=kind if kind in ("+", "-") else None)


def highlighted(table: pd.DataFrame, style: str | None, better: Mapping[str, str]) -> Any:
    """The table with its best cells marked as ``pt.Experiment(highlight=...)`` marks them.

    Args:
        table: the table.
        style: ``'bold'``, ``'color'`` or ``'colour'``; others leave it as it is.
        better: the columns to be marked: ``'+'`` where larger is better, ``'-'`` where smaller is.
    """
    last = {"bold": "font-weight: bold", "color": "background-color: lightgreen"}
    tied = {"bold": "font-weight: bold", "color": "background-color: antiquewhite"}
    style = "color" if style == "colour" else style
    if style not in last:
        return table

    def marks(column: pd.Series) -> list[str]:
        cells = [""] * len(column)
        if column.name in better:
            best = np.flatnonzero(column == (column.max() if better[column.name] == "+" else column.min()))
            for row in best:
                cells[row] = last[style] if row == best[-1] else tied[style]
        return cells

    return table.style.apply(marks, axis=0)
