"""Pictures of benchmarks over many collections, and of recall over how much of one is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_lexirecall._util.rounding import same
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.plots import axes
from ir_lexirecall.plots.marks import collection_marks, joined_ranks
from ir_lexirecall.present.macro_means import wilcoxon_words
from ir_lexirecall.present.standings import MacroStanding
from ir_lexirecall.present.text import confidence_words, provenance_line


def forest(result: Benchmark, by: str | None = None, *, ax: Any = None) -> Any:
    """What the test estimates against the baseline, with its interval, a row per collection; at the bottom, diamonds, over all.

    Filled marks differ significantly, by the verdicts. An interval that cannot be estimated is not drawn.
    """
    criterion = result.criterion(by)
    found = collection_marks(result, criterion.name)
    by_run = {run: found[run] for run in result.runs if run in found}  # in one order, and one colour, by all criteria
    several = len(by_run) > 1
    collections = list(zip(*by_run.values(), strict=True))
    ax = axes.new_axes(ax, (7.5, max(3.0, 0.22 * len(collections) * (len(by_run) + 1) + 1.4)))
    ticks, shown = [], []
    for number, marks in enumerate(collections):
        symbol, size, width = ("D", 7, 2.5) if number == len(collections) - 1 else ("o", 4.5, 1.2)
        for line, (run, mark) in enumerate(zip(by_run, marks, strict=True)):
            place = number * (len(by_run) + several) + line
            colour = axes.line_style(line, len(by_run))["color"]
            if np.isfinite([mark.low, mark.high]).all():
                ax.plot([mark.low, mark.high], [place, place], color=colour, linewidth=width)
            face = colour if mark.kind in (BETTER, WORSE) else "white"
            ax.plot([mark.value], [place], symbol, color=colour, markersize=size, markerfacecolor=face)
            ticks.append(place)
            shown.append(f"{axes.label(mark.name)}: {axes.label(run)}" if several else mark.name)
    ax.axvline(0, color="black", linewidth=0.8, linestyle=":")
    axes.name_ticks(ax.yaxis, shown, ticks)
    ax.invert_yaxis()
    estimate = next(iter(result.values())).test_of(criterion.name).procedure.estimate
    confidence = confidence_words(result.provenance)
    said = f"{estimate}, by {axes.label(criterion.name)}; over all: macro difference"
    ax.set_xlabel(f"{said}; {confidence} intervals, uncorrected")
    side = "Left" if criterion.smaller_is_better else "Right"
    title = f"{side} of 0: better than {axes.label(str(result.baseline))}; filled: significantly"
    return axes.finish(ax, provenance_line(result.provenance), title, [criterion.name])


def rank_intervals(result: Benchmark, by: str | None = None, over: str | None = None, *, ax: Any = None) -> Any:
    """Rank of each run with its interval (thin), and where the resamples put it (thick), best first."""
    standing = MacroStanding(result, result.criterion(by).name, over)
    ranks = standing.ranking
    ax = axes.new_axes(ax, (6.0, max(2.5, 0.3 * len(ranks) + 1)))
    place = np.arange(len(ranks))
    ax.hlines(place, ranks["rank_low"], ranks["rank_high"], color=axes.FIRST, linewidth=1)
    ax.hlines(place, ranks["rank_from"], ranks["rank_to"], color=axes.FIRST, linewidth=4)
    ax.plot(place + 1, place, "o", color="black", markersize=4)
    axes.name_ticks(ax.yaxis, standing.runs, fontsize=9.0)
    ax.invert_yaxis()
    ax.set_xlim(0.5, len(ranks) + 0.5)
    ax.set_xlabel(f"rank by macro mean of {axes.label(standing.name)}")
    title = "Thin: interval of the rank, for all runs at once; thick: where the resamples put the run"
    return axes.finish(ax, provenance_line(result.provenance), title, [standing.name])


def critical_differences(result: Benchmark, by: str | None = None, *, ax: Any = None) -> Any:
    """Mean ranks over collections; a bar joins runs whose mean ranks differ by less than the critical difference."""
    test = result.friedman(by)
    mean_rank, difference = test["mean_rank"], test["critical_difference"]
    ranks = mean_rank.to_numpy()
    ax = axes.new_axes(ax, (7.0, max(2.5, 0.28 * len(ranks) + 1.5)))
    place = np.arange(len(ranks))
    ax.plot(ranks, place, "o", color="black", markersize=4)
    axes.name_ticks(ax.yaxis, list(mean_rank.index))
    for first, end in joined_ranks(ranks, difference):
        ax.plot([ranks[first], ranks[end]], [end + 0.35, end + 0.35], color=axes.SECOND, linewidth=3)
        ax.vlines([ranks[first]], first, end + 0.35, color=axes.SECOND, linewidth=0.6, linestyle=":")
    ax.invert_yaxis()
    ax.set_xlim(0.7, max(len(ranks), 1) + 0.3)
    ax.set_xlabel(f"mean rank over collections by {axes.label(test['criterion'])}")
    title = (
        f"critical difference {difference:.2f}: runs under one bar do not differ significantly. {wilcoxon_words(test)}"
    )
    return axes.finish(ax, provenance_line(result.provenance), title, [test["criterion"]])


def recall_curves(table: Any, query: str | None = None, ax: Any = None) -> Any:
    """Draw recall over the share of a collection that is read: a line per run, the mean over queries.

    The dotted line is reading at random. A line for one query is a curve of steps; a dot says where everything has been found.
    ``table`` is what ``recall_curves`` of ``ir_lexirecall.evaluation.evaluating`` gave.
    """
    if query is not None:
        table = table[table["query_id"] == query]
        if not len(table):
            raise ValueError(f"recall_curves: the table has no query {query!r}")
    ax = axes.new_axes(ax, (6.5, 4.2))
    queries = table["query_id"].unique()
    runs = list(dict.fromkeys(table["run"]))
    for place, run in enumerate(runs):
        parts = [part for _, part in table[table["run"] == run].groupby("query_id", sort=False)]
        style = axes.line_style(place, len(runs))
        mark = {"color": style["color"], "marker": style["marker"], "s": 40, "zorder": 3, "edgecolor": "white"}
        style = {key: value for key, value in style.items() if not key.startswith("mark")}
        # The mean of step functions, at every share where one of them rises.
        share = np.unique(np.concatenate([part["share"].to_numpy() for part in parts]))
        steps = [np.searchsorted(part["share"].to_numpy(), share, side="right") - 1 for part in parts]
        recall = np.mean([part["recall"].to_numpy()[at] for part, at in zip(parts, steps, strict=True)], axis=0)
        ax.step(share, recall, where="post", label=axes.legend_label(run), **style)
        last = float(share[np.argmax((recall >= 1) | same(recall, 1.0))])
        ax.scatter([last], [1.0], clip_on=False, **mark)
    ax.plot([0, 1], [0, 1], color=axes.GREY, linestyle=":", linewidth=1.0)
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="share of the collection read", ylabel="recall")
    axes.show_legend(ax)
    title = f"Recall on {queries[0]}" if len(queries) == 1 else f"Mean recall on {len(queries)} queries"
    return axes.finish(ax, title=title, caption="dots: everything found; dotted: reading at random")
