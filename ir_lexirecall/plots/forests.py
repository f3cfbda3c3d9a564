"""Forests: means and differences of runs with their intervals, best first."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from ir_lexirecall._util.errors import check_choice
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, WORSE
from ir_lexirecall.plots.axes import FIRST, GREY, SECOND, SMALL, bare, finish, label, name_ticks, new_axes
from ir_lexirecall.present.missing import outer_intervals
from ir_lexirecall.present.standings import Standing
from ir_lexirecall.present.words import confidence_words, estimate_words, provenance_line

_LETTERS = 66  # in a line below the axes


def means(result: Comparison, by: str | None = None, *, ax: Any = None) -> Any:
    """Means with their intervals, a row per run, best first; hollow: may be the best as well."""
    standing = Standing(result, result.criterion(by).name)
    ranking, runs, quantity = standing.ranking, standing.runs, result.criterion(by).quantity.removesuffix(standing.name)
    several = len(runs) > 1 and not standing.all_alike
    level = (
        [run in standing.may_be_best and run not in standing.leaders for run in runs]
        if several
        else [False] * len(runs)
    )
    colours = [FIRST if run in standing.leaders or same else GREY for run, same in zip(runs, level, strict=True)]
    ax = new_axes(ax, means_size(len(runs)))
    _rows(ax, runs, ranking["mean"], ranking["ci_low"], ranking["ci_high"], colours, [not same for same in level])
    confidence = confidence_words(ranking.attrs)
    _name_axis(ax, f"{quantity}{label(standing.name)}, {confidence} intervals{_cost(result, by)}")
    title = f"{label(runs[0])} has the best mean" if several else "All runs have the same mean" if len(runs) > 1 else ""
    if any(level):
        title += f"; hollow: may be the best as well, {confidence} ({sum(level)})"
    if several and GREY in colours:
        title += f"; grey: not among the best ({colours.count(GREY)})"
    return finish(ax, provenance_line(result.provenance), title, [standing.name])


def differences(result: Comparison, by: str | None = None, *, ax: Any = None) -> Any:
    """What the test estimates of all runs against the baseline, or the leader, with its interval; filled: significant.

    A thin line is the interval that holds any judging of the unjudged documents, too, of criteria whose bounds are known.
    """
    standing = Standing(result, result.criterion(by).name)
    reference = result.baseline or standing.runs[0]
    table = standing.beside(reference)
    runs = list(table["run"])
    ax = new_axes(ax, means_size(len(runs)))
    decided = _tested_rows(ax, runs, list(table.itertuples()))
    outer = outer_intervals(result, standing.name, reference)
    if outer is not None:
        ends = (list(map(of_runs.get, runs)) for of_runs in outer[1:])
        ax.hlines(np.arange(len(runs)), *ends, color=GREY, linewidth=0.8, zorder=0)
    thin = "" if outer is None else f"; thin: whatever unjudged documents are worth, depth {outer[0]}"
    _name_estimates(ax, standing, reference, thin)
    hollow = f"hollow: undecided ({decided.count(False)})"
    title = f"Against {label(reference)}: blue is significantly better, orange worse; {hollow}"
    return finish(ax, provenance_line(result.provenance), title, [standing.name])


def groups(result: Comparison, by: str | None = None, *, ax: Any = None) -> Any:
    """What the test estimates in each group of queries, of all runs against the baseline, or the leader; filled: significant."""
    standing = Standing(result, result.criterion(by).name)
    reference = result.baseline or standing.runs[0]
    tables = standing.in_groups(reference)
    rows = [
        (f"{run}, {group}", row)
        for run in standing.runs
        for group, table in tables.items()
        for row in table[table["run"] == run].itertuples()
    ]
    ax = new_axes(ax, means_size(len(rows)))
    _tested_rows(ax, [name for name, _ in rows], [row for _, row in rows])
    _name_estimates(ax, standing, reference)
    title = f"In each group of queries against {label(reference)}: blue is significantly better, orange worse"
    return finish(ax, provenance_line(result.provenance), title, [standing.name])


def _tested_rows(ax: Any, names: list[str], rows: list[Any]) -> list[bool]:
    """What a test estimates with its interval, a row for each of a table's, coloured by the verdict; which are decided."""
    decided = [row.verdict in (BETTER, WORSE) for row in rows]
    colours = [{BETTER: FIRST, WORSE: SECOND}.get(row.verdict, GREY) for row in rows]
    value, low, high = ([getattr(row, end) for row in rows] for end in ("estimate", "ci_low", "ci_high"))
    _rows(ax, names, value, low, high, colours, decided)
    ax.axvline(0, color="black", linewidth=0.8, linestyle=":")
    return decided


def _name_estimates(ax: Any, standing: Standing, reference: str, more: str = "") -> None:
    quantity = estimate_words(standing.result.test_of(standing.name))
    cost = _cost(standing.result, standing.name)
    what = f"{quantity}, by {label(standing.name)}, against {label(reference)}{cost}"
    _name_axis(ax, f"{what}; {confidence_words(standing.result.provenance)} intervals, uncorrected{more}")


def rank_profile(result: Comparison, query_id: str, *, ax: Any = None) -> Any:
    """Where the relevant documents of a query stand in every ranking, the best run first."""
    if result.scored is None:
        raise ValueError("only values were given: compare runs to see ranks")
    judgments = result.scored.judgments
    query = judgments.query_ids.index(check_choice("query_id", str(query_id), judgments.query_ids))
    runs = list(map(str, result.ranking()["run"]))
    ax = new_axes(ax, means_size(len(runs)))
    deepest = 10
    for place, name in enumerate(runs):
        run = result.scored.runs[name]
        depth = int(run.depth[query])
        deepest = max(deepest, depth)
        if depth:
            ax.hlines(place, 1, depth, color="#d9d9d9", linewidth=1.2, zorder=1)
            ax.plot([depth], [place], "|", color=GREY, markersize=9, zorder=2)
        found = run.rank[(run.query == query) & (run.grade >= judgments.threshold)].astype(float)
        ax.plot(found, np.full(len(found), place), "o", color=FIRST, markersize=5, alpha=0.75, zorder=3)
        words = f" {len(found)}" if depth else " no documents"
        ax.annotate(words, (1, place), xycoords=("axes fraction", "data"), va="center", fontsize=SMALL, color=GREY)
    ax.set_xscale("log")
    ax.set_xlim(0.85, 1.2 * deepest)
    ax.xaxis.set_major_formatter("{x:g}")
    name_ticks(ax.yaxis, runs)
    ax.set_ylim(len(runs) - 0.4, -0.6)
    ax.set_xlabel("rank (log scale); | end of the ranking; on the right: how many were retrieved")
    bare(ax)
    title = f"Relevant documents of query {label(str(query_id))}"
    return finish(ax, provenance_line(result.provenance), title)


def _cost(result: Comparison, by: str | None) -> str:
    return "; smaller is better" if result.criterion(by).smaller_is_better else ""


def _name_axis(ax: Any, words: str) -> None:
    """Say below what the numbers are, in lines that fit the picture."""
    ax.set_xlabel(textwrap.fill(words, _LETTERS, break_on_hyphens=False))


def means_size(runs: int) -> tuple[float, float]:
    """The size of a picture of this many runs, in inches."""
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
