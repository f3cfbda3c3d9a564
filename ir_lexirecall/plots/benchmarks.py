"""Pictures of benchmarks over many collections."""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_lexirecall.plots.axes import FIRST, SECOND, bare, finish, label, line_style, name_ticks, new_axes


def forest(table: Any, overall: Any, measure: str, baseline: str | None, *, caption: str = "", ax: Any = None) -> Any:
    """Differences to the baseline with their intervals, a row per collection; at the bottom, a diamond, over all of them.

    Args:
        table: ``collection``, ``run``, ``difference``, ``difference_low``, ``difference_high``.
        overall: the same without ``collection``, of all collections.
        measure: its name.
        baseline: name of the run that the others differ from.
        caption: what stands below in small print.
        ax: matplotlib axes; new ones by default.
    """
    overall = overall[overall["run"] != baseline]
    runs = list(overall["run"])
    names = [*dict.fromkeys(table["collection"]), "all"]
    rows = len(names) * (len(runs) + 1)
    ax = new_axes(ax, (7.5, min(40.0, max(3.0, 0.22 * rows + 1.4))))
    ticks, shown = [], []
    place = 0
    for name in names:
        part = overall if name == "all" else table[table["collection"] == name]
        part = part.set_index("run")
        for number, run in enumerate(runs):
            value, low, high = (float(part.loc[run, c]) for c in ("difference", "difference_low", "difference_high"))
            style = line_style(number, len(runs))
            colour = style["color"]
            if np.isfinite([low, high]).all():
                ax.plot([low, high], [place, place], color=colour, linewidth=2.5 if name == "all" else 1.2)
            ax.plot(
                [value], [place], "D" if name == "all" else "o", color=colour, markersize=7 if name == "all" else 4.5
            )
            ticks.append(place)
            shown.append(f"{label(name)}: {label(run)}" if len(runs) > 1 else str(name))
            place += 1
        place += 1 if len(runs) > 1 else 0
    ax.axvline(0, color="black", linewidth=0.8, linestyle=":")
    name_ticks(ax.yaxis, shown, ticks)
    ax.invert_yaxis()
    ax.set_xlabel(f"difference of {label(measure)} to {label(baseline)}, with its interval")
    bare(ax)
    title = f"Right of 0: better than {label(baseline)}; diamonds: over all collections"
    return finish(ax, caption, title, [measure])


def rank_intervals(table: Any, measure: str, *, caption: str = "", ax: Any = None) -> Any:
    """Rank of each run with its interval (thin), and where the resamples put it (thick), best first.

    Args:
        table: ``run``, ``rank_low``, ``rank_high``, ``rank_from``, ``rank_to``; the best run in the first row.
        measure, caption, ax: as in ``forest``.
    """
    ax = new_axes(ax, (6.0, min(40.0, max(2.5, 0.3 * len(table) + 1))))
    place = np.arange(len(table))
    ax.hlines(place, table["rank_low"], table["rank_high"], color=FIRST, linewidth=1)
    ax.hlines(place, table["rank_from"], table["rank_to"], color=FIRST, linewidth=4)
    ax.plot(place + 1, place, "o", color="black", markersize=4)
    name_ticks(ax.yaxis, list(table["run"]), fontsize=9.0)
    ax.invert_yaxis()
    ax.set_xlim(0.5, len(table) + 0.5)
    ax.set_xlabel(f"rank by macro mean of {label(measure)}")
    bare(ax)
    return finish(ax, caption, "Thin: interval of the rank; thick: where the resamples put the run", [measure])


def critical_differences(mean_rank: Any, difference: float, measure: str, *, caption: str = "", ax: Any = None) -> Any:
    """Mean ranks over collections; a bar joins runs whose mean ranks differ by less than the critical difference.

    Args:
        mean_rank: a Series by run, best first.
        difference: Nemenyi's critical difference.
        measure, caption, ax: as in ``forest``.
    """
    ranks = mean_rank.to_numpy()
    ax = new_axes(ax, (7.0, min(40.0, max(2.5, 0.28 * len(ranks) + 1.5))))
    place = np.arange(len(ranks))
    ax.plot(ranks, place, "o", color="black", markersize=4)
    name_ticks(ax.yaxis, list(mean_rank.index))
    for first, end in joined_ranks(ranks, difference):
        ax.plot([ranks[first], ranks[end]], [end + 0.35, end + 0.35], color=SECOND, linewidth=3)
        ax.vlines([ranks[first]], first, end + 0.35, color=SECOND, linewidth=0.6, linestyle=":")
    ax.invert_yaxis()
    ax.set_xlim(0.7, max(len(ranks), 1) + 0.3)
    ax.set_xlabel(f"mean rank over collections by {label(measure)}")
    bare(ax)
    title = f"critical difference {difference:.2f}: runs under one bar are not told apart"
    return finish(ax, caption, title, [measure])


def joined_ranks(ranks: Any, difference: float) -> list[tuple[int, int]]:
    """The longest stretches of runs, by mean rank, that differ by less than a critical difference: first and last place.

    >>> joined_ranks(np.array([1.0, 1.5, 2.5, 4.0]), 1.6)
    [(0, 2), (2, 3)]
    """
    stretches: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.flatnonzero(ranks - ranks[first] < difference).max(initial=first))
        if last > first and (not stretches or last > stretches[-1][1]):
            stretches.append((first, last))
    return stretches
