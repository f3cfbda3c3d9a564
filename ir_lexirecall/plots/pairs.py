"""Pictures of pairs of runs: all of them, or two runs query by query."""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.plots.axes import (
    FIRST,
    GREY,
    SECOND,
    SMALL,
    bare,
    colour_bar,
    diverging,
    finish,
    label,
    labels,
    name_ticks,
    new_axes,
    number_cells,
)
from ir_lexirecall.present.comparisons import how_compared
from ir_lexirecall.present.words import provenance_line

_MOST_NUMBERED = 60  # runs whose numbers are written into a heatmap
_MOST_NAMED = 60  # queries of a pair that are all named; of more, the extremes
_EXTREMES = 5  # of wins, and of losses


def heatmap(result: Comparison, by: str | None = None, *, ax: Any = None) -> Any:
    """Mean preference (of a measure: mean difference) of the row's run over the column's; coloured where significant.

    The colours are the verdicts: blue is better, orange worse, also where the smaller value of a measure is better; the deeper,
    the larger the difference.
    """
    criterion, verdicts = result.criterion(by), result.verdicts_by(by)
    order = list(result.ranking(criterion.name)["run"])
    matrix = result.matrix(criterion.name).loc[order, order].to_numpy()
    widest = 1.0 if not criterion.is_measure else float(np.nanmax(np.abs(matrix), initial=0.0)) or 1.0
    size = max(4.5, 0.52 * len(order) + 2) + 0.07 * max(map(len, labels(order)), default=0)
    ax = new_axes(ax, (size + 1, size))
    known = [[verdicts.on(row, column) for column in order] for row in order]
    ways = np.array([[{BETTER: 1.0, WORSE: -1.0}.get(verdict or "", 0.0) for verdict in row] for row in known])
    image = ax.imshow(ways * np.abs(matrix), cmap=diverging(), vmin=-1.25 * widest, vmax=1.25 * widest)
    name_ticks(ax.xaxis, order, rotation=45, ha="right", rotation_mode="anchor")
    name_ticks(ax.yaxis, order)
    ax.set_xlabel("over this run")
    ax.set_ylabel("this run")
    if len(order) <= _MOST_NUMBERED:
        numbers = [
            [f"{x:.2f}{'*' if way else ''}" for x, way in zip(*rows, strict=True)]
            for rows in zip(matrix, ways, strict=True)
        ]
        for place in range(len(order)):
            numbers[place][place] = ""
        number_cells(ax, image, numbers)
    what = (
        f"mean difference of {label(criterion.name)}"
        if criterion.is_measure
        else f"mean preference ({label(criterion.name)})"
    )
    cost = ", turned: above 0 is better" if criterion.smaller_is_better else ""
    colour_bar(ax, image, f"{what}{cost}", limits=(-widest, widest))
    how = how_compared(result, [criterion.name])
    title = f"* and colour: significantly better (blue), worse (orange); {how}"
    return finish(ax, provenance_line(result.provenance), title, [criterion.name])


def pair(result: Comparison, a: str, b: str, by: str | None = None, *, ax: Any = None) -> Any:
    """Where two runs differ, query by query: the first one's wins by their size, then ties, then its losses.

    For lexicographic preferences: the rank at which each run reaches the recall level that decided (a lost document
    at the bottom); for the others a bar as high as the preference, or the gain by a measure. Ties are dots. Of more than
    60 queries, those with the largest differences are named.
    """
    criterion, table = result.criterion(by), result.explain(a, b, by)
    sign = np.nan_to_num(table["preference"].to_numpy())
    height, what = sign, f"preference ({label(criterion.name)})"
    if "value_a" in table:
        height = criterion.sign * (table["value_a"] - table["value_b"]).to_numpy()
        what = f"difference of {label(criterion.name)}" + (
            ", turned: up is better" if criterion.smaller_is_better else ""
        )
    elif "rank_a" in table:
        height = np.where(sign == 0, 0.0, sign * _ratio(table))
    order = np.lexsort((-height, -np.sign(sign)))
    height, sign, table = height[order], sign[order], table.iloc[order]
    ax = new_axes(ax, (min(max(6.5, 0.18 * len(height)), 16.0), 4.0))
    wins, losses = int((sign > 0).sum()), int((sign < 0).sum())
    _divide(ax, wins, losses, len(sign))
    if "rank_a" in table:
        _dumbbells(ax, table)
    else:
        ax.bar(range(len(height)), height, color=np.where(sign > 0, FIRST, SECOND), width=0.8)
        ties = np.flatnonzero(height == 0)
        ax.plot(ties, np.zeros(len(ties)), ".", color=GREY)
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_ylabel(what)
    ids = table["query_id"].tolist()
    decided = np.flatnonzero(sign)
    extremes = [*decided[decided < wins][:_EXTREMES], *decided[decided >= wins][-_EXTREMES:]]
    named = list(range(len(ids))) if len(ids) <= _MOST_NAMED else extremes
    name_ticks(ax.xaxis, [ids[i] for i in named], named, rotation=90, fontsize=SMALL)
    ax.set_xlim(-0.7, max(1, len(sign)) - 0.3)
    ax.set_xlabel(f"{len(height)} queries")
    bare(ax)
    ties_said = f", {len(sign) - wins - losses} neither" if len(sign) > wins + losses else ""
    first, second = ("● ", "◆ ") if "rank_a" in table else ("", "")
    title = f"{first}{label(a)} (blue) wins {wins}, {second}{label(b)} (orange) wins {losses}{ties_said}"
    return finish(ax, provenance_line(result.provenance), title, [criterion.name])


def _ratio(table: Any) -> Any:
    """How many times deeper the loser reaches the deciding level: a number that sorts; infinite where it never does."""
    a, b = (table[column].to_numpy(dtype=float, na_value=np.nan) for column in ("rank_a", "rank_b"))
    lost = np.isnan(a) != np.isnan(b)
    return np.where(lost, np.inf, np.nan_to_num(np.fmax(a, b) / np.fmin(a, b), nan=1.0))


def _divide(ax: Any, wins: int, losses: int, queries: int) -> None:
    """Shade where one run wins, and where the other does."""
    for first, end, colour in ((0, wins, FIRST), (queries - losses, queries, SECOND)):
        if end > first:
            ax.axvspan(first - 0.5, end - 0.5, color=colour, alpha=0.08, linewidth=0, zorder=0)


def _dumbbells(ax: Any, table: Any) -> None:
    ranks = [table[column].to_numpy(dtype=float, na_value=np.nan) for column in ("rank_a", "rank_b")]
    tie = table["winner"].isna().to_numpy()
    deepest = np.nanmax(np.concatenate([*ranks, [1.0]]))
    missing = 2 * deepest
    shown = [np.where(np.isnan(rank), missing, rank) for rank in ranks]
    x = np.arange(len(table))
    ax.vlines(x[~tie], shown[0][~tie], shown[1][~tie], color="#bdbdbd", linewidth=2, zorder=1)
    for rank, colour, marker in zip(shown, (FIRST, SECOND), "oD", strict=True):
        ax.scatter(x[~tie], rank[~tie], color=colour, marker=marker, s=16, zorder=2)
    ax.plot(x[tie], np.ones(tie.sum()), ".", color=GREY)
    ax.axhline(missing, color=GREY, linewidth=0.8, linestyle=":")
    beside = ax.get_yaxis_transform()
    ax.text(1, missing, " not retrieved", va="center", fontsize=SMALL, color=GREY, transform=beside)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_ylim(1.5 * missing, 0.8)
    ax.set_ylabel("rank at the deciding level")
