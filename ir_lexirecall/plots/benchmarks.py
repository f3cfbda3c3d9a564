"""Pictures of benchmarks over many collections."""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.plots.axes import FIRST, SECOND, bare, finish, label, line_style, name_ticks, new_axes
from ir_lexirecall.present.benchmarks import ordered, wilcoxon_words
from ir_lexirecall.present.words import confidence_words, estimate_words, provenance_line

_OVERALL = {"difference": "estimate", "difference_low": "ci_low", "difference_high": "ci_high"}


def forest(result: Benchmark, by: str | None = None, *, ax: Any = None) -> Any:
    """What the test estimates against the baseline, with its interval, a row per collection; at the bottom, diamonds, over all.

    Filled marks differ significantly, by the verdicts. An interval that cannot be estimated is not drawn.
    """
    criterion, table = result.criterion(by), result.by_collection(by)
    whole = result.overall()
    whole = whole[(whole["criterion"] == criterion.name) & (whole["run"] != result.baseline)].set_index("run")
    runs = list(whole.index)
    parts = [(str(name), part.set_index("run_a"), False) for name, part in table.groupby("collection", sort=False)]
    parts.append(("all", whole.drop(columns=["ci_low", "ci_high"]).rename(columns=_OVERALL), True))
    rows = len(parts) * (len(runs) + 1)
    ax = new_axes(ax, (7.5, min(40.0, max(3.0, 0.22 * rows + 1.4))))
    ticks, shown = [], []
    place = 0
    for name, part, is_whole in parts:
        marker, size, width = ("D", 7, 2.5) if is_whole else ("o", 4.5, 1.2)
        for number, run in enumerate(runs):
            value, low, high = (float(part.loc[run, column]) for column in ("estimate", "ci_low", "ci_high"))
            colour = line_style(number, len(runs))["color"]
            if np.isfinite([low, high]).all():
                ax.plot([low, high], [place, place], color=colour, linewidth=width)
            face = colour if part.loc[run, "verdict"] in (BETTER, WORSE) else "white"
            ax.plot([value], [place], marker, color=colour, markersize=size, markerfacecolor=face)
            ticks.append(place)
            shown.append(f"{label(name)}: {label(run)}" if len(runs) > 1 else name)
            place += 1
        place += 1 if len(runs) > 1 else 0
    ax.axvline(0, color="black", linewidth=0.8, linestyle=":")
    name_ticks(ax.yaxis, shown, ticks)
    ax.invert_yaxis()
    estimate = estimate_words(next(iter(result.values())).test_of(criterion.name))
    confidence = confidence_words(result.provenance)
    ax.set_xlabel(
        f"{estimate}, by {label(criterion.name)}; over all: macro difference; {confidence} intervals, uncorrected"
    )
    bare(ax)
    side = "Left" if criterion.smaller_is_better else "Right"
    title = f"{side} of 0: better than {label(str(result.baseline))}; filled: significantly"
    return finish(ax, provenance_line(result.provenance), title, [criterion.name])


def rank_intervals(result: Benchmark, by: str | None = None, over: str | None = None, *, ax: Any = None) -> Any:
    """Rank of each run with its interval (thin), and where the resamples put it (thick), best first."""
    name, overall = result.criterion(by).name, result.overall(over)
    table = ordered(result, overall[overall["criterion"] == name])
    ax = new_axes(ax, (6.0, min(40.0, max(2.5, 0.3 * len(table) + 1))))
    place = np.arange(len(table))
    ax.hlines(place, table["rank_low"], table["rank_high"], color=FIRST, linewidth=1)
    ax.hlines(place, table["rank_from"], table["rank_to"], color=FIRST, linewidth=4)
    ax.plot(place + 1, place, "o", color="black", markersize=4)
    name_ticks(ax.yaxis, list(table["run"]), fontsize=9.0)
    ax.invert_yaxis()
    ax.set_xlim(0.5, len(table) + 0.5)
    ax.set_xlabel(f"rank by macro mean of {label(name)}")
    bare(ax)
    title = "Thin: interval of the rank, for all runs at once; thick: where the resamples put the run"
    return finish(ax, provenance_line(result.provenance), title, [name])


def critical_differences(result: Benchmark, by: str | None = None, *, ax: Any = None) -> Any:
    """Mean ranks over collections; a bar joins runs whose mean ranks differ by less than the critical difference."""
    test = result.friedman(by)
    mean_rank, difference = test["mean_rank"], test["critical_difference"]
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
    ax.set_xlabel(f"mean rank over collections by {label(test['criterion'])}")
    bare(ax)
    title = (
        f"critical difference {difference:.2f}: runs under one bar do not differ significantly. {wilcoxon_words(test)}"
    )
    return finish(ax, provenance_line(result.provenance), title, [test["criterion"]])


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
