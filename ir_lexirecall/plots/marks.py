"""Numbers with their intervals that pictures show, and how each is drawn, without matplotlib.

Pictures and the pages of reports draw the same marks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison.verdicts import BETTER, UNDECIDED, WORSE
from ir_lexirecall.present.standings import (
    AnyStanding,
    MacroStanding,
    Outer,
    Standing,
)

LEADS, MAY, REST = "leads", "may", "rest"


class Mark(NamedTuple):
    """A number with its interval.

    Attributes:
        name: of its row: a run, a collection, a group of queries.
        kind: how it is drawn: ``'leads'``, ``'may'`` (be the best), ``'rest'``; ``'better'``,
            ``'worse'``, ``'undecided'``; or plain.
        inner: ends of a narrower interval, drawn thick.
        row: the row of a table that it is from.
    """

    name: str
    value: float
    low: float = np.nan
    high: float = np.nan
    kind: str = ""
    inner: tuple[float, float] | None = None
    row: Any = None


def mean_marks(standing: AnyStanding) -> list[Mark]:
    """Means with their intervals, best first."""
    marks = []
    for row in standing.ranking.itertuples():
        if row.run in standing.leaders:
            kind = LEADS
        elif row.run in standing.may_be_best:
            kind = MAY
        else:
            kind = REST
        marks.append(Mark(row.run, row.mean, row.ci_low, row.ci_high, kind))
    return marks


def difference_marks(
    rows: Iterable[Any], name: str = "run", outer: Outer | None = None
) -> list[Mark]:
    """Return marks of a test's estimates, from rows with verdicts.

    With ``Standing.outer``, the interval of the test is the inner one.
    """
    marks = []
    for row in rows:
        if row.verdict in (BETTER, WORSE):
            kind = row.verdict
        else:
            kind = UNDECIDED
        mark = Mark(
            str(getattr(row, name)),
            row.estimate,
            row.ci_low,
            row.ci_high,
            kind,
            row=row,
        )
        if outer is not None and np.isfinite([row.ci_low, row.ci_high]).all():
            low, high = outer[1][mark.name]
            inner = (row.ci_low, row.ci_high)
            mark = mark._replace(
                low=min(low, row.ci_low), high=max(high, row.ci_high), inner=inner
            )
        marks.append(mark)
    return marks


def group_marks(standing: Standing) -> dict[str, list[Mark]]:
    """Return marks of the test's estimates in each group of queries, by run, best first."""
    tables, marks = standing.in_groups().values(), {}
    for run in standing.runs:
        if run != standing.reference:
            of_run = (table[table["run"] == run].itertuples() for table in tables)
            marks[run] = [
                mark for rows in of_run for mark in difference_marks(rows, "group")
            ]
    return marks


def collection_marks(result: Benchmark, by: str) -> dict[str, list[Mark]]:
    """Return marks of the test's estimates on each collection, by run; the last one is over all."""
    table, standing = result.by_collection(by), MacroStanding(result, by)
    over_all = {
        mark.name: mark._replace(name="all")
        for mark in difference_marks(standing.against.itertuples())
    }
    marks_of_run = {}
    for run, mark in over_all.items():
        marks_of_run[run] = [
            *difference_marks(table[table["run_a"] == run].itertuples(), "collection"),
            mark,
        ]
    return marks_of_run
