"""Forests: means and differences of runs with their intervals, best first."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from ir_lexirecall.plots.axes import FIRST, GREY, SECOND, SMALL, bare, finish, label, name_ticks, new_axes

_LETTERS = 66  # in a line below the axes


def means(ranking: Any, level: Any, quantity: str, measure: str, *, caption: str = "", ax: Any = None) -> Any:
    """Means with their intervals, a row per run.

    Args:
        ranking: ``run``, ``mean``, ``ci_low``, ``ci_high``, in the order of the rows; ``attrs`` may hold ``confidence``.
        level: for each row, whether the run cannot be told from the first one; None where that was not tested.
        quantity: what the means are of.
        measure: the measure or preference in it.
        caption: what stands below in small print.
        ax: matplotlib axes; new ones by default.
    """
    runs = list(ranking["run"])
    alike = [False] * len(runs) if level is None else list(level)
    colours = [FIRST if i == 0 or level is None or same else GREY for i, same in enumerate(alike)]
    filled = [not same for same in alike]
    ax = new_axes(ax, means_size(len(runs)))
    _rows(ax, runs, ranking["mean"], ranking["ci_low"], ranking["ci_high"], colours, filled)
    _name_axis(ax, f"{label(quantity)}, {100 * ranking.attrs.get('confidence', 0.95):g} % intervals")
    title = f"{label(runs[0])} has the best mean" if len(runs) > 1 else ""
    if any(alike):
        title += f"; hollow: not told from it ({sum(alike)})"
    return finish(ax, caption, title, [measure])


def differences(table: Any, reference: str, quantity: str, measure: str, *, caption: str = "", ax: Any = None) -> Any:
    """Differences to a run with their intervals, a row for each other run.

    Args:
        table: ``run``, ``estimate``, ``ci_low``, ``ci_high``, ``p_corrected``, ``reject``, ``better``, in the order of the rows;
            ``attrs`` hold ``alpha``.
        reference: the run that the others are compared with.
        quantity: what the differences are; the measure and the reference follow.
        measure: the measure or preference they are by.
        caption: what stands below in small print.
        ax: matplotlib axes; new ones by default.
    """
    runs = list(table["run"])
    reject = table["reject"].to_numpy(dtype=bool)
    colours = np.where(reject, np.where(table["better"].to_numpy(dtype=bool), SECOND, GREY), FIRST).tolist()
    ax = new_axes(ax, means_size(len(runs)))
    _rows(ax, runs, table["estimate"], table["ci_low"], table["ci_high"], colours, reject.tolist())
    ax.axvline(0, color="black", linewidth=0.8, linestyle=":")
    what = f"{quantity}, by {label(measure)}, against {label(reference)}"
    _name_axis(ax, f"{what}; {100 * (1 - table.attrs.get('alpha', 0.05)):g} % intervals")
    alike = int((~reject).sum())
    title = f"Against {label(reference)}: filled differ by the corrected p, hollow do not ({alike})"
    return finish(ax, caption, title, [measure])


def rank_profile(ranks: Any, depths: Any, query_id: str, *, caption: str = "", ax: Any = None) -> Any:
    """Where the relevant documents of a query stand in every ranking.

    Args:
        ranks: for each run by name, the ranks of the relevant documents that it retrieved; in the order of the rows.
        depths: for each run, how many documents it retrieved.
        query_id: the query.
        caption: what stands below in small print.
        ax: matplotlib axes; new ones by default.
    """
    runs = list(ranks)
    ax = new_axes(ax, means_size(len(runs)))
    for place, run in enumerate(runs):
        if depths[run]:
            ax.hlines(place, 1, depths[run], color="#d9d9d9", linewidth=1.2, zorder=1)
            ax.plot([depths[run]], [place], "|", color=GREY, markersize=9, zorder=2)
        found = np.asarray(ranks[run], dtype=float)
        ax.plot(found, np.full(len(found), place), "o", color=FIRST, markersize=5, alpha=0.75, zorder=3)
        words = f" {len(found)}" if depths[run] else " no documents"
        ax.annotate(words, (1, place), xycoords=("axes fraction", "data"), va="center", fontsize=SMALL, color=GREY)
    ax.set_xscale("log")
    ax.set_xlim(0.85, 1.2 * max([10, *depths.values()]))
    ax.xaxis.set_major_formatter("{x:g}")
    name_ticks(ax.yaxis, runs)
    ax.set_ylim(len(runs) - 0.4, -0.6)
    ax.set_xlabel("rank (log scale); | end of the ranking; on the right: how many were retrieved")
    bare(ax)
    return finish(ax, caption, f"Relevant documents of query {label(query_id)}")


def _name_axis(ax: Any, words: str) -> None:
    """Say below what the numbers are, in lines that fit the picture."""
    ax.set_xlabel(textwrap.fill(words, _LETTERS, break_on_hyphens=False))


def means_size(runs: int) -> tuple[float, float]:
    """The size of the picture of so many runs, in inches."""
    return 7.0, max(2.2, 0.27 * runs + 1.4)


def _rows(ax: Any, runs: list[str], value: Any, low: Any, high: Any, colours: list[str], filled: list[bool]) -> None:
    """A point with an interval for each run, the first one on top."""
    place = np.arange(len(runs))
    low, high = (np.asarray(ends, dtype=float) for ends in (low, high))
    finite = np.isfinite(low) & np.isfinite(high)
    some = np.array(colours, dtype=object)[finite].tolist()
    ax.hlines(place[finite], low[finite], high[finite], color=some, linewidth=1.8, zorder=1)
    faces = [colour if full else "white" for colour, full in zip(colours, filled, strict=True)]
    ax.scatter(value, place, s=34, facecolors=faces, edgecolors=colours, linewidths=1.6, zorder=2)
    name_ticks(ax.yaxis, runs)
    ax.set_ylim(len(runs) - 0.4, -0.6)
    ax.grid(axis="x", color="#e3e3e3", linewidth=0.6)
    ax.set_axisbelow(True)
    bare(ax)
