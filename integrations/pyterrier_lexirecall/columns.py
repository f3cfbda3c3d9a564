"""The columns of an experiment's table: names, order, statistics, highlighting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from ir_measures import parse_trec_measure
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.measures.parsing import parse_one
from pyterrier_lexirecall.testing import PairedTest

STATISTICS = ("+", "-", "p-value", "reject", "p-value corrected")
"""What ``pt.Experiment`` says of a system's difference to the baseline, as its columns are called after the measure's."""

WITH_MARGIN = {"verdict": "verdict", "worse p-value": "worse_p", "within p-value": "within_p"}
"""What a margin adds to these, and the columns of ``Comparison.table()`` that say it."""

TIME = "mrt"
"""What ``pt.Experiment`` measures itself: the mean time that a topic takes."""

Statistics = dict[tuple[str, str], Any]
"""Columns by measure and statistic."""


def readable(metric: Any) -> Any:
    """A metric as ``pt.Experiment`` takes it: of texts, it knows trec_eval's names only; others are read here.

    >>> readable("map"), readable("nDCG@10")
    ('map', nDCG@10)

    Raises:
        ValueError: an unknown measure.
    """
    if not isinstance(metric, str) or metric == TIME:
        return metric
    try:
        parse_trec_measure(metric)
    except ValueError:
        return parse_one(metric)
    return metric


def measure_columns(metrics: Iterable[str | IRMeasure]) -> dict[str, IRMeasure | None]:
    """The measures by what ``pt.Experiment`` calls their columns, in their order; None for the time.

    >>> from ir_lexirecall import LR
    >>> measure_columns(["map", LR @ 10, "mrt", "P_5"])
    {'map': AP, 'LexiRecall@10': LexiRecall@10, 'mrt': None, 'P_5': P@5}
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
    return {m if isinstance(m, str) else names.get(m, str(m)): None if isinstance(m, str) else m for m in measures}


def tested_measures(columns: Iterable[str]) -> list[str]:
    """The measures of which ``pt.Experiment`` counted wins, in its order.

    >>> tested_measures(["name", "AP", "RR", "RR +", "RR -", "AP +"])
    ['RR', 'AP']
    """
    return [column.removesuffix(" +") for column in columns if column.endswith(" +")]


def statistics_of(table: pd.DataFrame) -> Statistics:
    return {
        (measure, kind): table[f"{measure} {kind}"]
        for measure in tested_measures(table.columns)
        for kind in STATISTICS
        if f"{measure} {kind}" in table
    }


def statistics_in(comparison: Comparison, criterion: str) -> Statistics:
    """The statistics of a criterion against the comparison's baseline, as ``pt.Experiment`` calls them."""
    plain = replace(comparison, margins=None).table(criterion).set_index("run_a")
    rows = plain.reindex(comparison.runs)
    numbers = {"+": "wins", "-": "losses", "p-value": "p", "p-value corrected": "p_corrected"}
    statistics: Statistics = {(criterion, kind): rows[column].to_numpy(np.float64) for kind, column in numbers.items()}
    statistics[criterion, "reject"] = rows["verdict"].isin([BETTER, WORSE]).to_numpy(bool)
    if comparison.margins is not None:
        rows = comparison.table(criterion).set_index("run_a").reindex(comparison.runs)
        statistics |= {(criterion, kind): rows[column].to_numpy() for kind, column in WITH_MARGIN.items()}
    return statistics


def statistics_against(
    baseline: int, values: Mapping[str, Sequence[Floats]], test: PairedTest, correction: str | None, alpha: float
) -> Statistics:
    """Statistics as ``pt.Experiment`` makes them, against another baseline than its own.

    ``values`` are by measure, of every system, per query; ``baseline`` is the place of the other one among the systems.

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


class ColumnBuilder:
    """The columns of a table, and in which of them larger (``'+'``) or smaller (``'-'``) is better."""

    def __init__(self, names: Sequence[Any]) -> None:
        self.columns: dict[str, Any] = {"name": list(names)}
        self.better: dict[str, str] = {}

    def add(self, name: str, values: Any, better: str | None = None) -> None:
        self.columns[name] = values
        if better is not None:
            self.better[name] = better

    def add_statistics(
        self, name: str, statistics: Statistics, kinds: Iterable[str], end: str, title: str = ""
    ) -> None:
        """Add some kinds of statistics of a measure or preference; ``title`` and ``end`` begin and end the columns' names."""
        for kind in kinds:
            if (name, kind) in statistics:
                column = f"{title or name} {kind}{end}"
                self.add(column, statistics[name, kind], better=kind if kind in ("+", "-") else None)


def highlighted(table: pd.DataFrame, style: str | None, better: Mapping[str, str]) -> Any:
    """The table, the best cells of the columns that ``better`` has marked as ``pt.Experiment(highlight=...)`` marks them."""
    colours = ("background-color: lightgreen", "background-color: antiquewhite")
    known = {"bold": ("font-weight: bold",) * 2, "color": colours, "colour": colours}
    if style not in known:
        return table
    last, tied = known[style]

    def marks(column: pd.Series) -> list[str]:
        cells = [""] * len(column)
        if column.name in better:
            best = np.flatnonzero(column == (column.max() if better[column.name] == "+" else column.min()))
            for row in best:
                cells[row] = last if row == best[-1] else tied
        return cells

    return table.style.apply(marks, axis=0)


def in_order(rows: pd.DataFrame, measures: list[str]) -> pd.DataFrame:
    """Rows by name and query as ``pt.Experiment`` sorts them, and then by system and measure.

    The index numbers the rows system by system, which tells systems of the same name apart; the new one numbers them anew.
    """
    place = {name: i for i, name in enumerate(measures)}
    keys = rows[["name", "qid", "measure"]].sort_index()
    keys = keys.assign(
        system=keys.groupby(["name", "qid", "measure"], dropna=False).cumcount(), place=keys["measure"].map(place)
    )
    return rows.loc[keys.sort_values(["name", "qid", "system", "place"]).index].reset_index(drop=True)
