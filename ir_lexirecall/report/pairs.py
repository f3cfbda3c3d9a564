"""Every run against every other: heatmaps and tables of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.report.cells import Table, minus, p_value
from ir_lexirecall.summary import correction_words

if TYPE_CHECKING:
    import pandas as pd

_MOST_RUNS = 40  # in a heatmap
_SHADES = 10  # of a colour of the heatmap


@dataclass(frozen=True)
class HeatmapCell:
    """A pair of runs in a heatmap: its text, its shade, what it says in full."""

    text: str
    shade: str
    words: str
    run_a: str
    run_b: str


@dataclass(frozen=True)
class Comparison:
    """Every run against every other by one preference.

    Attributes:
        name: of the preference.
        runs: best first.
        heatmap: a row per run, a cell per run, None on the diagonal; None where there are too many runs.
        significant, pairs: how many differ, of how many.
        table, matrix: in numbers.
        test, alpha, correction: how differences are tested.
    """

    name: str
    runs: Sequence[str]
    heatmap: Sequence[Sequence[HeatmapCell | None]] | None
    significant: int
    pairs: int
    table: Table
    matrix: Table | None
    test: str
    alpha: float
    correction: str | None


def comparisons_of(preferences: Preferences) -> list[Comparison]:
    """Every run against every other, by each preference."""
    return [_comparison(preferences, name) for name in preferences.preferences]


def _comparison(preferences: Preferences, name: str) -> Comparison:
    table = preferences.table_of(name)
    runs = list(preferences.ranking("mean", name).index)
    drawn = preferences.query_ids and len(runs) <= _MOST_RUNS
    shown = table if "dominance" in preferences.preferences else table.drop(columns="incomparable")
    matrix = preferences.matrix(name).loc[runs, runs]
    return Comparison(
        name=name,
        runs=runs,
        heatmap=_heatmap(matrix, table) if drawn else None,
        significant=int(table["reject"].sum()),
        pairs=len(table),
        table=Table.from_frame(shown.set_index(["run_a", "run_b"])),
        matrix=Table.from_frame(matrix.rename_axis("run")) if len(runs) <= _MOST_RUNS else None,
        test=preferences.test.name,
        alpha=preferences.test.alpha,
        correction=correction_words(method) if (method := preferences.provenance["correction"]) else None,
    )


def _heatmap(matrix: pd.DataFrame, table: pd.DataFrame) -> list[list[HeatmapCell | None]]:
    rows = {}
    for row in table.itertuples():
        p = f"p {p_value(row.p_corrected)}"
        rows[row.run_a, row.run_b] = (f"{row.wins} won, {row.losses} lost, {row.ties} tied; {p}", bool(row.reject))
        rows[row.run_b, row.run_a] = (f"{row.losses} won, {row.wins} lost, {row.ties} tied; {p}", bool(row.reject))
    cells: list[list[HeatmapCell | None]] = []
    for a in matrix.index:
        line: list[HeatmapCell | None] = []
        for b in matrix.columns:
            if a == b:
                line.append(None)
                continue
            mean = float(matrix.loc[a, b])
            words, differs = rows.get((a, b), ("not compared: neither is the baseline", False))
            shade = round(abs(mean) * _SHADES)
            line.append(
                HeatmapCell(
                    text=minus(f"{mean:+.2f}".replace("0.", ".")) + ("*" if differs else ""),
                    shade=f"{'p' if mean > 0 else 'n'}{shade}" if shade else "",
                    words=f"{a} over {b}: {words}",
                    run_a=a,
                    run_b=b,
                )
            )
        cells.append(line)
    return cells
