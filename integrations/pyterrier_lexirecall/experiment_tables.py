"""What ``pt.lexirecall.Experiment`` gives back: tables of ``pt.Experiment`` with the numbers of a ``Comparison``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from ir_measures import NumQ, parse_trec_measure
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import required
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.measures.parsing import parse_one
from ir_lexirecall.measures.scoring import is_added_up, smaller_is_better

Measures = Mapping[str, IRMeasure | None]
"""The measures by the names of their columns, in order; None for the time."""

Against = Mapping[str, tuple[Comparison | None, Callable[[], pd.DataFrame]]]
"""By how columns about a baseline end: the comparison with it, and a function that gives the averages of ``pt.Experiment`` with it."""

Places = int | Mapping[str, int] | None
"""To how many decimal places numbers are rounded: all, or those of some columns."""

NOTHING = NumQ
"""Stands in where nothing but preferences is asked for: ``pt.Experiment`` needs a measure."""

TIME = "mrt"
"""What ``pt.Experiment`` measures itself: the mean time that a topic takes."""

KINDS = {
    "+": "wins",
    "-": "losses",
    "p-value": "p",
    "reject": "verdict",
    "p-value corrected": "p_corrected",
}
"""What ``pt.Experiment`` says of a difference to the baseline, and the columns of ``Comparison.table()`` with it."""

WITH_MARGIN = {
    "verdict (corrected)": "verdict",
    "worse p-value (one-sided, corrected)": "worse_p",
    "better p-value (two-sided, corrected)": "better_p",
    "within p-value (one-sided, corrected)": "within_p",
    "not worse p-value (one-sided, corrected)": "not_worse_p",
}
"""What a margin adds to these; ``pt.Experiment``'s own p-value beside them is two-sided and uncorrected."""


def read_metrics(metrics: Iterable[str | IRMeasure]) -> tuple[list[str | IRMeasure], Measures]:
    """Metrics as ``pt.Experiment`` takes them, and the measures by what it calls their columns.

    Of texts, it knows trec_eval's names only; others are read here.

    >>> from ir_lexirecall import LR
    >>> read_metrics(["map", "LR@10", "mrt", "P_5"])[0]
    ['map', LexiRecall@10, 'mrt', 'P_5']
    >>> read_metrics(["map", LR @ 10, "mrt", "P_5"])[1]
    {'map': AP, 'LexiRecall@10': LexiRecall@10, 'mrt': None, 'P_5': P@5}

    Raises:
        ValueError: an unknown measure.
    """
    taken: list[str | IRMeasure] = []
    measures: list[str | IRMeasure] = []
    names: dict[IRMeasure, str] = {}
    for metric in metrics:
        parsed: Sequence[Any] = [metric]
        if isinstance(metric, str) and metric != TIME:
            try:
                parsed = parse_trec_measure(metric)  # several for the name of a family, such as P
                if len(parsed) == 1:
                    names[parsed[0]] = metric
            except ValueError:
                metric = parse_one(metric)
                parsed = [metric]
        taken.append(metric)
        measures += parsed
    columns = {names.get(m, str(m)): None if isinstance(m, str) else m for m in measures}
    return taken if any(columns.values()) else [*taken, NOTHING], columns


def averages(
    result: Any,
    names: Sequence[Any],
    measures: Measures,
    comparison: Comparison | None,
    places: Places,
    against: Against,
    *,
    corrected: bool,
    own_p: bool,
    highlight: str | None,
) -> Any:
    """The averages of ``pt.Experiment``, a frame or a dict, with the comparison's numbers, further baselines and preferences.

    Args:
        result: the averages.
        names: of the systems, as they were given.
        measures: what is measured.
        comparison: of the systems; None where there is none.
        against: the same with each baseline.
        corrected: whether there are columns of corrected p-values.
        own_p: whether p-values of measures are PyTerrier's, of a function that the user gave.
        places, highlight: how numbers of a frame are rounded, and the best of them marked.
    """
    is_frame = isinstance(result, pd.DataFrame)
    if not is_frame:
        result, places = pd.DataFrame([result[name] for name in names]), None
    columns: dict[str, Any] = {"name": list(names)}
    better: dict[str, str] = {}  # larger or smaller values, where a column has best ones
    shown = {name: measure for name, measure in measures.items() if name in result}
    for name, measure in shown.items():
        columns[name] = result[name]
        if (
            measure is not None
            and comparison is not None
            and name in comparison.compared.by
            and not is_added_up(measure)
        ):
            columns[name] = _rounded(name, comparison.compared.by[name].means, places)
        better[name] = "-" if measure is None or smaller_is_better(measure) else "+"
    preferences, lacking = _known(comparison)

    def known(over: Comparison | None, numbers: Any, nothing: Any = np.nan) -> Any:
        """Numbers but of systems without judged documents, or of none where the baseline has none."""
        if comparison is None or not lacking:
            return numbers
        nobody = over is not None and over.baseline in lacking
        return np.where(
            [nobody or system in lacking for system in comparison.runs], nothing, numbers
        )

    def add_statistics(name: str, end: str, title: str) -> None:
        """How systems differ from a baseline by a measure or preference: the comparison's columns or PyTerrier's."""
        over, plain = against[end]
        found: dict[str, Any] = {}
        if over is not None and name in over.compared.by:
            without_margins = Comparison(replace(over.compared, margins=None))
            rows = without_margins.table(name)
            rows = rows.set_index("run_a").reindex(over.runs)
            found = {kind: rows[column].to_numpy() for kind, column in KINDS.items()}
            found["reject"] = rows["verdict"].isin([BETTER, WORSE]).to_numpy(bool)
            if over.compared.margins is not None:
                rows = over.table(name).set_index("run_a").reindex(over.runs)
                found |= {kind: rows[column].to_numpy() for kind, column in WITH_MARGIN.items()}
        if name in measures and (own_p or not found):
            table = plain()
            kinds = [
                kind for kind in KINDS if f"{name} {kind}" in table and not (found and kind in "+-")
            ]
            found |= {kind: table[f"{name} {kind}"] for kind in kinds}
        for kind in (*KINDS, *WITH_MARGIN):
            if kind in found and (corrected or kind not in ("reject", "p-value corrected")):
                nothing = {"reject": False, "verdict (corrected)": None}.get(kind, np.nan)
                columns[f"{title} {kind}{end}"] = known(over, found[kind], nothing)
                better[f"{title} {kind}{end}"] = kind

    for end, name in product(against if is_frame else (), shown):
        add_statistics(name, end, name)
    of_pyterrier = {
        str(NOTHING),
        *(f"{name} {kind}" for name in (*shown, NOTHING) for kind in KINDS),
    }
    for name in (
        set(result) - of_pyterrier - set(columns)
    ):  # whatever else PyTerrier may have to say
        columns[name] = result[name]
    for end, name in product(against or [""], preferences):
        over = against[end][0] if against else comparison
        if over is not None:
            column = f"pref:{name}{end}"
            means = (
                over.matrix(name)[over.baseline] if against else over.compared.criterion(name).means
            )
            columns[column], better[column] = _rounded(column, known(over, means), places), "+"
            if against and is_frame:
                add_statistics(name, end, f"pref:{name}")
    frame = pd.DataFrame(columns)
    if not is_frame:
        return dict(zip(names, frame.drop(columns="name").to_dict("records"), strict=True))
    frame.attrs["comparison"] = comparison
    return highlighted(frame, highlight, better)


def per_query(
    result: Any,
    names: Sequence[Any],
    measures: Measures,
    comparison: Comparison | None,
    places: Places,
) -> Any:
    """The values per query, a frame or a dict, with preferences: none of a query without relevant documents.

    ``result`` of ``pt.Experiment``; the other arguments as of ``averages``.
    """
    systems, preferred = list(names), dict[str, pd.DataFrame]()
    if comparison is not None:
        preferences, lacking = _known(comparison)
        systems = comparison.runs
        preferred = {
            f"pref:{name}": comparison.per_query(name).drop(columns=lacking) for name in preferences
        }
    order = [*measures, *preferred]
    if not isinstance(result, pd.DataFrame):
        for column, table in preferred.items():
            for system, numbers in table.items():
                for query_id, number in numbers.items():
                    result[systems.index(system)][query_id][column] = number
        return {
            system: {
                query_id: {name: row[name] for name in order if name in row}
                for query_id, row in rows.items()
            }
            for system, rows in result.items()
        }
    rows = result.sort_index()  # system by system, which tells systems of the same name apart
    parts = [rows[rows["measure"].isin(list(measures))]]
    for column, table in preferred.items():
        for name, system in zip(names, systems, strict=True):
            if system in table:
                numbers = _rounded(column, table[system], places)
                parts.append(
                    pd.DataFrame(
                        {"name": name, "qid": table.index, "measure": column, "value": numbers}
                    )
                )
    rows = pd.concat(parts, ignore_index=True)
    copy, place = (
        rows.groupby(["name", "qid", "measure"], dropna=False).cumcount(),
        rows["measure"].map(order.index),
    )
    rows = rows.assign(copy=copy, place=place).sort_values(
        ["name", "qid", "copy", "place"], ignore_index=True
    )
    rows = rows.drop(columns=["copy", "place"])
    rows.attrs["comparison"] = comparison
    return rows


def _known(comparison: Comparison | None) -> tuple[list[str], list[str]]:
    """Names of the preferences, and of the systems of which nothing is judged, so that nothing is known how they rank."""
    if comparison is None or comparison.compared.scored is None:
        return [], []
    lacking = [name for name, run in comparison.compared.scored.runs.items() if not len(run.doc)]
    return [
        name for name, criterion in comparison.compared.by.items() if not criterion.is_measure
    ], lacking


def _rounded(name: str, numbers: Any, places: Places) -> list[float]:
    digits = places.get(name) if isinstance(places, Mapping) else places
    return [number if digits is None else round(number, digits) for number in numbers.tolist()]


def highlighted(table: pd.DataFrame, style: str | None, better: Mapping[str, str]) -> Any:
    """The table; where larger (``"+"``) or smaller is better, best cells are marked as ``pt.Experiment`` does."""
    colours = ("background-color: lightgreen", "background-color: antiquewhite")
    known = {"bold": ("font-weight: bold",) * 2, "color": colours, "colour": colours}
    if style not in known:
        return table
    last, tied = known[style]
    required("jinja2", f"highlight={style!r}", "Jinja2", "report")

    def marks(column: pd.Series) -> list[str]:
        cells = [""] * len(column)
        if better.get(str(column.name)) in ("+", "-"):
            best = np.flatnonzero(
                column == (column.max() if better[str(column.name)] == "+" else column.min())
            )
            for row in best:
                cells[row] = last if row == best[-1] else tied
        return cells

    return table.style.apply(marks, axis=0)
