"""Every run against every other: heatmaps whose colours are the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.present.caveats import is_defined
from ir_lexirecall.present.comparisons import how_compared
from ir_lexirecall.present.standings import Standing, verdict_words
from ir_lexirecall.present.words import count, p_words
from ir_lexirecall.reports.cells import minus

_MOST_RUNS = 40  # in a heatmap
_SHADES = 10  # of a colour of the heatmap


@dataclass(frozen=True)
class HeatmapCell:
    """A pair of runs in a heatmap: its number, its text, its shade, what it says in full."""

    value: float
    text: str
    shade: str
    words: str
    run_a: str
    run_b: str


@dataclass(frozen=True)
class Heatmap:
    """Every run against every other by one criterion.

    Attributes:
        rows: a row per run, best first, a cell per run, None on the diagonal; None where there are too many runs.
    """

    name: str
    quantity: str
    said: str
    runs: Sequence[str]
    rows: Sequence[Sequence[HeatmapCell | None]] | None


def heatmaps_of(result: Comparison) -> list[Heatmap]:
    names = [name for name, criterion in result.by.items() if is_defined(criterion) and len(result.runs) > 1]
    return [_heatmap(result, Standing(result, name)) for name in names]


def _heatmap(result: Comparison, standing: Standing) -> Heatmap:
    criterion, runs = result.by[standing.name], standing.runs
    how = how_compared(result, [standing.name])
    cost = ", of which the smaller is better" if criterion.smaller_is_better else ""
    what = (
        f"Difference of the means of the row's run and the column's{cost}"
        if criterion.is_measure
        else "Mean preference of the row's run over the column's, from −1 to 1"
    )
    return Heatmap(
        name=standing.name,
        quantity=what,
        said=f"{standing.verdicts.decided:,} of {count(len(result.pairs), 'pair')} differ significantly ({how}).",
        runs=runs,
        rows=_rows(result, standing) if len(runs) <= _MOST_RUNS else None,
    )


def _rows(result: Comparison, standing: Standing) -> list[list[HeatmapCell | None]]:
    """The cells: coloured where the verdict is better or worse, the deeper the larger the difference."""
    matrix = result.matrix(standing.name).loc[standing.runs, standing.runs].to_numpy()
    largest = float(np.abs(matrix).max(initial=0.0)) or 1.0
    widest = largest if result.by[standing.name].is_measure else 1.0
    facts = {}
    for row in result.table(standing.name).itertuples():
        p = p_words(float(row.p_corrected))
        facts[row.run_a, row.run_b] = f"{row.wins} won, {row.losses} lost, {row.ties} tied; {p}"
        facts[row.run_b, row.run_a] = f"{row.losses} won, {row.wins} lost, {row.ties} tied; {p}"
    rows: list[list[HeatmapCell | None]] = []
    for a, line in zip(standing.runs, matrix.tolist(), strict=True):
        cells: list[HeatmapCell | None] = []
        for b, difference in zip(standing.runs, line, strict=True):
            verdict = standing.verdicts.on(a, b)
            shade = max(1, round(abs(difference) / widest * _SHADES))
            said = "; ".join(filter(None, [verdict_words(verdict), facts.get((a, b))]))
            decided = verdict in (BETTER, WORSE)
            cell = HeatmapCell(
                value=difference,
                text=_short(difference, largest) + ("*" if decided else ""),
                shade=f"{verdict} d{shade}" if decided else "none" if verdict is None else "",
                words=f"{a} beside {b}: {said}",
                run_a=a,
                run_b=b,
            )
            cells.append(None if a == b else cell)
        rows.append(cells)
    return rows


def _short(difference: float, largest: float) -> str:
    """A difference with as few places as tell it from 0, by the size of the largest.

    >>> _short(-0.25, 0.5), _short(0.012, 0.03), _short(-42207.6, 50000.0)
    ('−.25', '+.012', '−42208')
    """
    places = 2 if largest >= 0.1 else 3 if largest >= 0.01 else 4
    text = (
        f"{difference:+.{places}f}".replace("+0.", "+.").replace("-0.", "-.") if largest < 10 else f"{difference:+.0f}"
    )
    return minus(text)
