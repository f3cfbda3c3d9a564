"""Put the numbers of a `Comparison` into the tables of `pt.Experiment`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from ir_measures import NumQ, parse_trec_measure
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import required
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.selecting import with_keys
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.measures.parsing import parse_one
from ir_lexirecall.measures.scoring import is_added_up, smaller_is_better

Measures = Mapping[str, IRMeasure | None]
"""The measures by the names of their columns, in order; None for the time."""

Against = Mapping[str, tuple[Comparison | None, Callable[[], pd.DataFrame]]]
"""The comparison with each baseline, by the ending of its columns.

Each comes with a function that returns the averages of `pt.Experiment` with this baseline.
"""

Places = int | Mapping[str, int] | None
"""Decimal places of all numbers, or of those of some columns."""

NOTHING = NumQ
"""Stands in if there are only preferences: `pt.Experiment` needs a measure."""

TIME = "mrt"
"""What `pt.Experiment` measures itself: the mean time that a topic takes."""

KINDS = {
    "+": "wins",
    "-": "losses",
    "p-value": "p",
    "reject": "verdict",
    "p-value corrected": "p_corrected",
}
"""Statistics of `pt.Experiment` against a baseline, and the columns of `Comparison.table()`."""

WITH_MARGIN = {
    "verdict (corrected)": "verdict",
    "worse p-value (one-sided, corrected)": "worse_p",
    "better p-value (two-sided, corrected)": "better_p",
    "within p-value (one-sided, corrected)": "within_p",
    "not worse p-value (one-sided, corrected)": "not_worse_p",
}
"""Further statistics with a margin; the `p-value` stays two-sided and uncorrected."""

_OF_CORRECTION = ("reject", "p-value corrected")
# Values of unknown statistics; all others are NaN.
_BLANK = {"reject": False, "verdict (corrected)": None}
_LARGER, _SMALLER = "+", "-"  # values that are better


def read_metrics(
    metrics: Iterable[str | IRMeasure],
) -> tuple[list[str | IRMeasure], Measures]:
    """Read metrics by the names of trec_eval and of this library.

    `pt.Experiment` itself knows the names of trec_eval only.

    Returns:
        The metrics as `pt.Experiment` takes them, and the measures by the names of their columns.

    Raises:
        ValueError: an unknown measure.

    >>> from ir_lexirecall import LR
    >>> read_metrics(["map", "LR@10", "mrt", "P_5"])[0]
    ['map', LexiRecall@10, 'mrt', 'P_5']
    >>> read_metrics(["map", LR @ 10, "mrt", "P_5"])[1]
    {'map': AP, 'LexiRecall@10': LexiRecall@10, 'mrt': None, 'P_5': P@5}
    """
    taken: list[str | IRMeasure] = []
    measures: list[str | IRMeasure] = []
    names: dict[IRMeasure, str] = {}
    for metric in metrics:
        parsed: Sequence[Any] = [metric]
        if isinstance(metric, str) and metric != TIME:
            try:
                # The name of a family, such as P, gives several measures.
                parsed = parse_trec_measure(metric)
                if len(parsed) == 1:
                    names[parsed[0]] = metric
            except ValueError:
                metric = parse_one(metric)
                parsed = [metric]
        taken.append(metric)
        measures += parsed
    columns: dict[str, Any] = {}
    for m in measures:
        if isinstance(m, str):
            columns[names.get(m, str(m))] = None
        else:
            columns[names.get(m, str(m))] = m
    return taken if any(columns.values()) else [*taken, NOTHING], columns


# -- averages ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Evaluated:
    """What a table shows.

    Attributes:
        names: names of the systems, as they were given.
        measures: what is measured.
        comparison: the comparison of the systems; None if there is none.
        places: decimal places of the numbers of a frame.
    """

    names: Sequence[Any]
    measures: Measures
    comparison: Comparison | None
    places: Places


def averages(
    result: Any,
    evaluated: Evaluated,
    against: Against,
    *,
    corrected: bool,
    own_p: bool,
    highlight: str | None,
) -> Any:
    """Return the averages of `pt.Experiment` with the numbers of a comparison.

    A frame gets statistics against each baseline, and the preferences. A dict gets the means of the
    preferences only.

    Args:
        result: the averages, a frame or a dict.
        evaluated: what is shown.
        against: the comparison with each baseline.
        corrected: whether there are columns of corrected p-values.
        own_p: whether p-values of measures come from a test function of the user.
        highlight: how the best numbers of a frame are marked.
    """
    names = evaluated.names
    if not isinstance(result, pd.DataFrame):
        plain = pd.DataFrame([result[name] for name in names])
        exact = replace(evaluated, places=None)
        table = _Averages(plain, exact, against, corrected, own_p)
        columns = table.columns(with_statistics=False)
        frame = pd.DataFrame({name: column.cells for name, column in columns.items()})
        return dict(zip(names, frame.to_dict("records"), strict=True))

    table = _Averages(result, evaluated, against, corrected, own_p)
    columns = table.columns(with_statistics=True)
    cells = {name: column.cells for name, column in columns.items()}
    frame = pd.DataFrame({"name": list(names), **cells})
    frame.attrs["comparison"] = evaluated.comparison
    notes = _rare_losses(against)
    if notes:
        frame.attrs["diagnostics"] = notes
    return highlighted(
        frame, highlight, {name: column.best for name, column in columns.items()}
    )


class _Column(NamedTuple):
    """The cells of a column, one for each system.

    `best` is "+" if larger numbers are better and "-" if smaller ones are. For all else, no number
    is best.
    """

    cells: Any
    best: str = ""


@dataclass(frozen=True)
class _Averages:
    """The averages of `pt.Experiment`, and the comparisons that add to them.

    Attributes:
        plain: the averages, a row for each system.
        evaluated, against, corrected, own_p: as in `averages`.
    """

    plain: pd.DataFrame
    evaluated: Evaluated
    against: Against
    corrected: bool
    own_p: bool

    @property
    def comparison(self) -> Comparison | None:
        """The comparison of the systems."""
        return self.evaluated.comparison

    @cached_property
    def shown(self) -> Measures:
        """Measures with a column."""
        return {
            name: m for name, m in self.evaluated.measures.items() if name in self.plain
        }

    @cached_property
    def unjudged(self) -> Sequence[str]:
        """Systems that retrieved no judged document, so that preferences on them are not known."""
        return _without_judged_documents(self.comparison)

    def columns(self, with_statistics: bool) -> dict[str, _Column]:
        """Return all columns but the names of the systems, in order."""
        columns = {name: self._means(name) for name in self.shown}
        if with_statistics:
            for ending, name in product(self.against, self.shown):
                columns |= self._statistics(name, ending, name)
        columns |= self._further_columns(columns)
        for ending, name in product(
            self.against or [""], _preferences(self.comparison)
        ):
            columns |= self._preference(name, ending)
            if with_statistics and self.against and self.against[ending][0] is not None:
                columns |= self._statistics(name, ending, f"pref:{name}")
        return columns

    def _means(self, name: str) -> _Column:
        """Return the means of a measure; those of `pt.Experiment` if the comparison lacks it."""
        measure = self.evaluated.measures[name]
        if measure is None:
            return _Column(self.plain[name], _SMALLER)  # the time
        if smaller_is_better(measure):
            best = _SMALLER
        else:
            best = _LARGER
        criterion = None
        if self.comparison is not None:
            criterion = self.comparison.compared.by.get(name)
        if criterion is None or is_added_up(measure):
            return _Column(self.plain[name], best)
        return _Column(_rounded(name, criterion.means, self.evaluated.places), best)

    def _preference(self, name: str, ending: str) -> dict[str, _Column]:
        """Return the mean preferences over a baseline; over all other systems without one."""
        if self.against:
            over = self.against[ending][0]
        else:
            over = self.comparison
        if over is None:
            return {}
        if self.against:
            means = over.matrix(name)[over.baseline]
        else:
            means = over.compared.criterion(name).means
        column = f"pref:{name}{ending}"
        cells = _rounded(
            column, self._without_unknown(means, over), self.evaluated.places
        )
        return {column: _Column(cells, _LARGER)}

    def _statistics(self, name: str, ending: str, title: str) -> dict[str, _Column]:
        """Return how systems differ from a baseline by a measure or preference.

        The numbers are those of the comparison, or of `pt.Experiment` if the comparison lacks a
        measure. With a test function of the user, p-values of measures are its own.

        Args:
            name: name of the measure or preference.
            ending: ending of the baseline's columns.
            title: beginning of the columns.
        """
        over, plain_against = self.against[ending]
        cells_of_kind = _statistics_of_comparison(over, name)
        if name in self.evaluated.measures and (self.own_p or not cells_of_kind):
            counts_are_known = bool(cells_of_kind)
            plain = plain_against()
            for kind in KINDS:
                if f"{name} {kind}" in plain and not (
                    counts_are_known and kind in ("+", "-")
                ):
                    cells_of_kind[kind] = plain[f"{name} {kind}"]

        columns = {}
        for kind in (*KINDS, *WITH_MARGIN):
            if kind in cells_of_kind and (self.corrected or kind not in _OF_CORRECTION):
                cells = self._without_unknown(
                    cells_of_kind[kind], over, _BLANK.get(kind, np.nan)
                )
                columns[f"{title} {kind}{ending}"] = _Column(cells, best=kind)
        return columns

    def _without_unknown(
        self, cells: Any, over: Comparison | None, blank: Any = np.nan
    ) -> Any:
        """Blank the cells of systems without judged documents; all if the baseline is one."""
        if self.comparison is None or not self.unjudged:
            return cells
        if over is not None and over.baseline in self.unjudged:
            is_unknown = [True] * len(self.comparison.runs)
        else:
            is_unknown = [system in self.unjudged for system in self.comparison.runs]
        return np.where(is_unknown, blank, cells)

    def _further_columns(self, columns: Mapping[str, _Column]) -> dict[str, _Column]:
        """Return what else `pt.Experiment` may have in its table."""
        statistics = {
            f"{name} {kind}" for name in (*self.shown, NOTHING) for kind in KINDS
        }
        done = {"name", str(NOTHING), *statistics, *columns}
        return {
            name: _Column(self.plain[name]) for name in self.plain if name not in done
        }


def _rare_losses(against: Against) -> list[str]:
    """Return what the queries cannot show where a system is not worse, each sentence once."""
    notes: dict[str, None] = {}
    for over, _ in against.values():
        if over is not None:
            notes |= dict.fromkeys(over.table().attrs.get("diagnostics", []))
    return list(notes)


def _statistics_of_comparison(over: Comparison | None, name: str) -> dict[str, Any]:
    """Return how systems differ from the baseline of a comparison, by kind; nothing if unknown."""
    if over is None or name not in over.compared.by:
        return {}
    without_margins = Comparison(replace(over.compared, margins=None))
    rows = without_margins.table(name).set_index("run_a").reindex(over.runs)
    cells_of_kind: dict[str, Any] = {
        kind: rows[c].to_numpy() for kind, c in KINDS.items()
    }
    cells_of_kind["reject"] = rows["verdict"].isin([BETTER, WORSE]).to_numpy(bool)
    if over.compared.margins is not None:
        rows = over.table(name).set_index("run_a").reindex(over.runs)
        cells_of_kind |= {kind: rows[c].to_numpy() for kind, c in WITH_MARGIN.items()}
    return cells_of_kind


def _preferences(comparison: Comparison | None) -> list[str]:
    """Return the names of the preferences of a comparison."""
    if comparison is None:
        return []
    criteria = comparison.compared.by.items()
    return [name for name, criterion in criteria if not criterion.is_measure]


def _without_judged_documents(comparison: Comparison | None) -> list[str]:
    """Return the systems that retrieved no judged document."""
    if comparison is None or comparison.compared.scored is None:
        return []
    without = []
    for name, run in comparison.compared.scored.runs.items():
        if not len(run.doc):
            without.append(name)
    return without


# -- values per query ----------------------------------------------------------------------------


def per_query(result: Any, evaluated: Evaluated) -> Any:
    """Return the values per query of `pt.Experiment`, with preferences.

    Queries without relevant documents have no preferences.

    Args:
        result: the values, a frame or a dict.
        evaluated: what is shown.
    """
    names, measures = evaluated.names, evaluated.measures
    comparison = evaluated.comparison
    preferred: dict[str, pd.DataFrame] = {}
    systems: Sequence[Any] = list(names)
    if comparison is not None:
        unjudged = _without_judged_documents(comparison)
        systems = comparison.runs
        for name in _preferences(comparison):
            preferred[f"pref:{name}"] = comparison.per_query(name).drop(
                columns=unjudged
            )
    order = [*measures, *preferred]

    if not isinstance(result, pd.DataFrame):
        _add_to_dict(result, preferred, systems)
        return _in_order(result, order)

    # System by system, which tells systems of the same name apart.
    rows = result.sort_index()
    parts = [rows[rows["measure"].isin(list(measures))]]
    for column, table in preferred.items():
        for name, system in zip(names, systems, strict=True):
            if system in table:
                numbers = _rounded(column, table[system], evaluated.places)
                cells = {
                    "name": name,
                    "qid": table.index,
                    "measure": column,
                    "value": numbers,
                }
                parts.append(pd.DataFrame(cells))
    frame = _sorted_rows(pd.concat(parts, ignore_index=True), order)
    frame.attrs["comparison"] = comparison
    return frame


def _add_to_dict(
    result: Any, preferred: Mapping[str, pd.DataFrame], systems: Sequence[Any]
) -> None:
    """Add preferences to the values of systems, which are changed in place."""
    for column, table in preferred.items():
        for system, numbers in table.items():
            values_of_query = result[systems.index(system)]
            for query_id, number in numbers.items():
                values_of_query[query_id][column] = number


def _in_order(result: Mapping[Any, Any], order: Sequence[str]) -> dict[Any, Any]:
    """Return the values of each system and query with the measures in order."""
    ordered: dict[Any, Any] = {}
    for system, values_of_query in result.items():
        ordered[system] = {
            query_id: with_keys(values, order)
            for query_id, values in values_of_query.items()
        }
    return ordered


def _sorted_rows(rows: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Sort rows by system, query, and the order of the measures.

    Systems of the same name follow each other: the n-th value by a measure is of the n-th of them.
    """
    copy = rows.groupby(["name", "qid", "measure"], dropna=False).cumcount()
    rows = rows.assign(copy=copy, rank=rows["measure"].map(order.index))
    rows = rows.sort_values(["name", "qid", "copy", "rank"], ignore_index=True)
    return rows.drop(columns=["copy", "rank"])


# -- layout --------------------------------------------------------------------------------------


def _rounded(name: str, numbers: Any, places: Places) -> list[float]:
    """Round the numbers of a column, if decimal places are given for it."""
    if isinstance(places, Mapping):
        digits = places.get(name)
    else:
        digits = places
    if digits is None:
        return list(numbers.tolist())
    return [round(number, digits) for number in numbers.tolist()]


def highlighted(table: pd.DataFrame, style: str | None, best: Mapping[str, str]) -> Any:
    """Mark the best cells of a table, as `pt.Experiment` does.

    Args:
        table: the table.
        style: how they are marked; None for not at all.
        best: "+" for columns in which larger numbers are better, "-" if smaller ones are.
    """
    colours = ("background-color: lightgreen", "background-color: antiquewhite")
    styles = {"bold": ("font-weight: bold",) * 2, "color": colours, "colour": colours}
    if style not in styles:
        return table
    last, tied = styles[style]
    required("jinja2", f"highlight={style!r}", "Jinja2", "report")

    def marks(column: pd.Series) -> list[str]:
        cells = [""] * len(column)
        direction = best.get(str(column.name))
        if direction not in (_LARGER, _SMALLER):
            return cells
        if direction == _LARGER:
            extreme = column.max()
        else:
            extreme = column.min()
        rows = np.flatnonzero(column == extreme)
        for row in rows:
            if row == rows[-1]:
                cells[row] = last
            else:
                cells[row] = tied
        return cells

    return table.style.apply(marks, axis=0)
