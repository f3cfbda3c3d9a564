"""What ``pt.lexirecall.Experiment`` gives back: tables of ``pt.Experiment`` with the numbers of a ``Comparison``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from ir_measures import NumQ, parse_trec_measure
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.measures.parsing import parse_one
from ir_lexirecall.measures.scoring import is_added_up, smaller_is_better

NOTHING = NumQ
"""Stands in where nothing but preferences is asked for: ``pt.Experiment`` needs a measure."""

TIME = "mrt"
"""What ``pt.Experiment`` measures itself: the mean time that a topic takes."""

KINDS = {"+": "wins", "-": "losses", "p-value": "p", "reject": "verdict", "p-value corrected": "p_corrected"}
"""What ``pt.Experiment`` says of a difference to the baseline, and the columns of ``Comparison.table()`` with it."""

WITH_MARGIN = {
    "verdict (corrected)": "verdict",
    "worse p-value (one-sided, corrected)": "worse_p",
    "better p-value (one-sided, corrected)": "better_p",
    "within p-value (one-sided, corrected)": "within_p",
    "not worse p-value (one-sided, corrected)": "not_worse_p",
}
"""What a margin adds to these; ``pt.Experiment``'s own p-value beside them is two-sided and uncorrected."""


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
        if not isinstance(metric, str) or metric == TIME:
            measures.append(metric)
            continue
        parsed = parse_trec_measure(metric)
        if len(parsed) == 1:
            names[parsed[0]] = metric
        measures.extend(parsed)  # several for the name of a family, such as P
    return {m if isinstance(m, str) else names.get(m, str(m)): None if isinstance(m, str) else m for m in measures}


@dataclass
class Tables:
    """The tables of one experiment.

    Attributes:
        names: of the systems, as they were given; ``distinct``: as the comparison calls them.
        measures: by the names of their columns, in order.
        baselines: places of the baselines; ``several``: columns about them end with their names.
        corrected: whether there are columns of corrected p-values.
        own_p: whether p-values of measures are PyTerrier's, of a function that the user gave.
        round, highlight: as the user gave them.
        comparison: of the systems; None where there is none.
        against: the same with each of the baselines, by its place.
        plain: the averages of ``pt.Experiment`` for a baseline, by its place.
    """

    names: Sequence[Any]
    distinct: Sequence[str]
    measures: Mapping[str, IRMeasure | None]
    baselines: Sequence[int]
    several: bool
    corrected: bool
    own_p: bool
    round: int | Mapping[str, int] | None
    highlight: str | None
    comparison: Comparison | None
    against: Mapping[int, Comparison]
    plain: Callable[[int], pd.DataFrame]

    @property
    def preferences(self) -> list[str]:
        """Names of the preferences that are compared."""
        return [] if self.comparison is None else [n for n, c in self.comparison.by.items() if not c.is_measure]

    @cached_property
    def unknown(self) -> list[int]:
        """Places of systems of which nothing is judged: columns of statistics and preferences leave them out."""
        if self.comparison is None or self.comparison.scored is None:
            return []
        return [place for place, run in enumerate(self.comparison.scored.runs.values()) if not len(run.doc)]

    def averages(self, result: Any) -> Any:
        """The averages, a frame or a dict, with the comparison's numbers, further baselines and preferences."""
        means: dict[
            str, list[float]
        ] = {}  # of the measures that the comparison has; counts are added up, as PyTerrier does
        for name in self.comparison.measures if self.comparison is not None else ():
            measure = self.measures[name]
            if self.comparison is not None and measure is not None and not is_added_up(measure):
                means[name] = self.comparison.by[name].means.tolist()
        if not isinstance(result, pd.DataFrame):
            added = {column: values for column, _, _, values in self._mean_preferences()}
            finished = {}
            for system, name in enumerate(self.names):
                row = result[name] | {measure: values[system] for measure, values in means.items()}
                finished[name] = {measure: row[measure] for measure in self.measures if measure in row}
                finished[name] |= {column: values[system] for column, values in added.items()}
            return finished
        columns: dict[str, Any] = {"name": list(self.names)}
        better: dict[str, str] = {}  # larger or smaller values, where a column has best ones
        shown = [name for name in self.measures if name in result]
        for name in shown:
            measure = self.measures[name]
            columns[name] = self._rounded(name, means[name]) if name in means else result[name]
            better[name] = "-" if measure is None or smaller_is_better(measure) else "+"

        def add_statistics(name: str, baseline: int, title: str) -> None:
            """How systems differ from a baseline by a measure or preference: the comparison's columns or PyTerrier's."""
            found: dict[str, Any] = {}
            compared = baseline in self.against and name in self.against[baseline].by and len(self.names) > 1
            if compared:
                against = self.against[baseline]
                plain = against if against.margins is None else replace(against, margins=None)
                rows = plain.table(name).set_index("run_a").reindex(against.runs)
                found = {kind: rows[column].to_numpy() for kind, column in KINDS.items()}
                found["reject"] = rows["verdict"].isin([BETTER, WORSE]).to_numpy(bool)
                if against.margins is not None:
                    rows = against.table(name).set_index("run_a").reindex(against.runs)
                    found |= {kind: rows[column].to_numpy() for kind, column in WITH_MARGIN.items()}
            if name in self.measures and (self.own_p or not compared):
                table = self.plain(baseline)
                kinds = [kind for kind in KINDS if f"{name} {kind}" in table and not (compared and kind in "+-")]
                found |= {kind: table[f"{name} {kind}"] for kind in kinds}
            unknown = self._unknown_against(baseline)
            for kind in (*KINDS, *WITH_MARGIN):
                if kind in found and (self.corrected or kind not in ("reject", "p-value corrected")):
                    nothing = {"reject": False, "verdict (corrected)": None}.get(kind, np.nan)
                    column = f"{title} {kind}{self._ending(baseline)}"
                    columns[column] = np.where(unknown, nothing, found[kind]) if unknown.any() else found[kind]
                    better[column] = kind

        for baseline, name in product(self.baselines, shown):
            add_statistics(name, baseline, name)
        known = {str(NOTHING), *(f"{name} {kind}" for name in (*shown, NOTHING) for kind in KINDS)}
        for name in set(result) - known - set(columns):  # whatever else PyTerrier may have to say
            columns[name] = result[name]
        for column, preference, over, means_over in self._mean_preferences():
            columns[column], better[column] = self._rounded(column, means_over), "+"
            if over is not None:
                add_statistics(preference, over, f"pref:{preference}")
        frame = pd.DataFrame(columns)
        frame.attrs["comparison"] = self.comparison
        return highlighted(frame, self.highlight, better)

    def rows(self, rows: Any) -> Any:
        """The values per query, a frame or a dict, with preferences: none of a query without relevant documents."""
        values = {}
        if self.comparison is not None:
            values = {f"pref:{name}": self.comparison.per_query(name) for name in self.preferences}
        if not isinstance(rows, pd.DataFrame):
            finished = {
                system: {q: {m: row[m] for m in self.measures if m in row} for q, row in by_query.items()}
                for system, by_query in rows.items()
            }
            for name, table in values.items():
                for system in finished:
                    for query_id, value in table[self.distinct[system]].items() if system not in self.unknown else ():
                        finished[system][query_id][name] = value
            return finished
        rows = rows.sort_index()  # system by system, which tells systems of the same name apart
        parts = [rows[rows["measure"].isin(list(self.measures))]]
        for column, table in values.items():
            for i, (name, system) in enumerate(zip(self.names, self.distinct, strict=True)):
                if i in self.unknown:
                    continue
                numbers = self._rounded(column, table[system].tolist())
                parts.append(pd.DataFrame({"name": name, "qid": table.index, "measure": column, "value": numbers}))
        rows = pd.concat(parts, ignore_index=True)
        copy = rows.groupby(["name", "qid", "measure"], dropna=False).cumcount()
        place = {name: i for i, name in enumerate([*self.measures, *values])}
        keys = rows.assign(copy=copy, place=rows["measure"].map(place))
        rows = rows.loc[keys.sort_values(["name", "qid", "copy", "place"]).index].reset_index(drop=True)
        rows.attrs["comparison"] = self.comparison
        return rows

    def _mean_preferences(self) -> Iterator[tuple[str, str, int | None, list[float]]]:
        """Column, preference, baseline, and each system's mean preference over the baseline, or over all others."""
        baselines: Sequence[int | None] = self.baselines or [None]
        for baseline, preference in product(baselines, self.preferences):
            if self.comparison is not None:
                over_all = self.comparison.criterion(preference).means
                over = over_all if baseline is None else self.comparison.matrix(preference)[self.distinct[baseline]]
                shown = np.where(self._unknown_against(baseline), np.nan, over)
                yield f"pref:{preference}{self._ending(baseline)}", preference, baseline, shown.tolist()

    def _unknown_against(self, baseline: int | None) -> Bools:
        """Of which systems nothing can be said: those without judged documents, or all where the baseline has none."""
        places = np.arange(len(self.names))
        return np.isin(places, self.unknown) | (baseline in self.unknown)

    def _ending(self, baseline: int | None) -> str:
        """How columns about this baseline end: with its name where there are several."""
        return f" ({self.distinct[baseline]})" if self.several and baseline is not None else ""

    def _rounded(self, name: str, numbers: Sequence[float]) -> list[float]:
        places = self.round.get(name) if isinstance(self.round, Mapping) else self.round
        return [number if places is None else round(number, places) for number in numbers]


def highlighted(table: pd.DataFrame, style: str | None, better: Mapping[str, str]) -> Any:
    """The table; where larger (``"+"``) or smaller is better, best cells are marked as ``pt.Experiment`` does."""
    colours = ("background-color: lightgreen", "background-color: antiquewhite")
    known = {"bold": ("font-weight: bold",) * 2, "color": colours, "colour": colours}
    if style not in known:
        return table
    last, tied = known[style]

    def marks(column: pd.Series) -> list[str]:
        cells = [""] * len(column)
        if better.get(str(column.name)) in ("+", "-"):
            best = np.flatnonzero(column == (column.max() if better[str(column.name)] == "+" else column.min()))
            for row in best:
                cells[row] = last if row == best[-1] else tied
        return cells

    return table.style.apply(marks, axis=0)
