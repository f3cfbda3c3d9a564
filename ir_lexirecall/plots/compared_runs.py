"""Pictures of runs compared: forests of means and differences, all pairs, two runs query by query; and notebooks."""

from __future__ import annotations

import io
import textwrap
import warnings
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import NOT_WORSE, UNDECIDED, WITHIN, WORSE
from ir_lexirecall.plots import axes
from ir_lexirecall.plots.across_collections import rank_intervals
from ir_lexirecall.plots.marks import MAY, REST, Mark, difference_marks, group_marks, heat_of, mean_marks
from ir_lexirecall.present.comparisons import comparison_finding
from ir_lexirecall.present.findings import html
from ir_lexirecall.present.macro_means import benchmark_finding
from ir_lexirecall.present.standings import Standing, standings_of
from ir_lexirecall.present.text import confidence_words, escape_html, provenance_line

_LETTERS = 66  # in a line below the axes
_MOST_NUMBERED = 60  # runs whose numbers are written into a heatmap
_MOST_NAMED = 60  # queries of a pair that are all named; of more, the extremes
_EXTREMES = 5  # of wins, and of losses


def means(result: Comparison, by: str | None = None, *, ax: Any = None) -> Any:
    """Means with their intervals, a row per run, best first; hollow: may be the best as well."""
    standing = Standing(result, result.criterion(by).name)
    marks, several = mean_marks(standing), len(standing.runs) > 1 and not standing.all_alike
    level, rest = ([mark.kind for mark in marks].count(kind) for kind in (MAY, REST))
    confidence = confidence_words(standing.ranking.attrs)
    quantity = standing.quantity.removesuffix(standing.name)
    words = f"{quantity}{axes.label(standing.name)}, {confidence} intervals{_cost(standing)}"
    title = f"{axes.label(marks[0].name)} has the best mean" if several else ""
    title += "All runs have the same mean" if len(marks) > 1 and not several else ""
    title += f"; hollow: may be the best as well, {confidence} ({level})" if level else ""
    title += f"; grey: not among the best ({rest})" if rest else ""
    return _forest(ax, standing, marks, words, title)


def differences(result: Comparison, by: str | None = None, *, ax: Any = None) -> Any:
    """What the test estimates of all runs against the baseline, or the leader, with its interval; filled: significant.

    A thin line is the interval that holds any judging of the unjudged documents, too, of criteria whose bounds are known.
    """
    standing = Standing(result, result.criterion(by).name)
    marks = difference_marks(standing.against.itertuples(), outer=standing.outer)
    thin = "" if standing.outer is None else f"; thin: whatever unjudged documents are worth, depth {standing.outer[0]}"
    verdicts = [mark.row.verdict for mark in marks]
    known = [verdict for verdict in (WITHIN, NOT_WORSE) if verdict in verdicts]
    hollow = ", ".join(f"{verdict} ({verdicts.count(verdict)})" for verdict in (*known, UNDECIDED))
    title = f"Against {axes.label(standing.reference)}: blue is significantly better, orange worse; hollow: {hollow}"
    return _forest(ax, standing, marks, _estimates(standing) + thin, title)


def groups(result: Comparison, by: str | None = None, *, ax: Any = None) -> Any:
    """What the test estimates in each group of queries, of all runs against the baseline, or the leader; filled: significant."""
    standing = Standing(result, result.criterion(by).name)
    marks = [mark._replace(name=f"{run}, {mark.name}") for run, some in group_marks(standing).items() for mark in some]
    title = (
        f"In each group of queries against {axes.label(standing.reference)}: blue is significantly better, orange worse"
    )
    return _forest(ax, standing, marks, _estimates(standing), title)


def _estimates(standing: Standing) -> str:
    """What the test estimates, in words below the axes."""
    what = f"{standing.estimate}, by {axes.label(standing.name)}, against {axes.label(standing.reference)}{_cost(standing)}"
    return f"{what}; {confidence_words(standing.result.provenance)} intervals, uncorrected"


def _cost(standing: Standing) -> str:
    return f"; {standing.criterion.direction}" if standing.criterion.direction else ""


def means_size(runs: int) -> tuple[float, float]:
    """The size of a picture of this many runs, in inches."""
    return 7.0, max(2.2, 0.27 * runs + 1.4)


def _forest(ax: Any, standing: Standing, marks: Sequence[Mark], words: str, title: str) -> Any:
    """A point with its interval for each mark, the first one on top; below, what the numbers are."""
    ax = axes.new_axes(ax, means_size(len(marks)))
    place = np.arange(len(marks))
    colours = [
        axes.GREY if mark.kind in (REST, UNDECIDED) else axes.SECOND if mark.kind == WORSE else axes.FIRST
        for mark in marks
    ]
    hollow = [mark.kind in (MAY, UNDECIDED) for mark in marks]
    low, high = np.array([mark.inner or (mark.low, mark.high) for mark in marks], dtype=float).reshape(-1, 2).T
    known = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    ax.hlines(place[known], low[known], high[known], color=[colours[i] for i in known], linewidth=1.8, zorder=1)
    faces = ["white" if empty else colour for colour, empty in zip(colours, hollow, strict=True)]
    values = [mark.value for mark in marks]
    ax.scatter(values, place, s=34, facecolors=faces, edgecolors=colours, linewidths=1.6, zorder=2)
    if any(mark.inner for mark in marks):
        outer = ([mark.low for mark in marks], [mark.high for mark in marks])
        ax.hlines(place, *outer, color=axes.GREY, linewidth=0.8, zorder=0)
    axes.name_ticks(ax.yaxis, [mark.name for mark in marks])
    ax.set_ylim(len(marks) - 0.4, -0.6)
    ax.grid(axis="x", color="#e3e3e3", linewidth=0.6)
    ax.set_axisbelow(True)
    if any(mark.row is not None for mark in marks):
        ax.axvline(0, color="black", linewidth=0.8, linestyle=":")
    ax.set_xlabel(textwrap.fill(words, _LETTERS, break_on_hyphens=False))
    return axes.finish(ax, provenance_line(standing.result.provenance), title, [standing.name])


def heatmap(result: Comparison, by: str | None = None, *, ax: Any = None) -> Any:
    """Mean preference (of a measure: mean difference) of the row's run over the column's; coloured where significant.

    The colours are the verdicts: blue is better, orange worse, also where the smaller value of a measure is better; the deeper,
    the larger the difference.
    """
    standing = Standing(result, result.criterion(by).name)
    criterion, runs = standing.criterion, standing.runs
    matrix, ways = heat_of(standing)
    widest = 1.0 if not criterion.is_measure else float(np.nanmax(np.abs(matrix), initial=0.0)) or 1.0
    size = max(4.5, 0.52 * len(runs) + 2) + 0.07 * max(map(len, axes.labels(runs)), default=0)
    ax = axes.new_axes(ax, (size + 1, size))
    image = ax.imshow(ways * np.abs(matrix), cmap=axes.diverging(), vmin=-1.25 * widest, vmax=1.25 * widest)
    axes.name_ticks(ax.xaxis, runs, rotation=45, ha="right", rotation_mode="anchor")
    axes.name_ticks(ax.yaxis, runs)
    ax.set_xlabel("over this run")
    ax.set_ylabel("this run")
    if len(runs) <= _MOST_NUMBERED:
        pairs = (zip(values.tolist(), signs, strict=True) for values, signs in zip(matrix, ways, strict=True))
        numbers = [[f"{value:.2f}{'*' if sign else ''}" for value, sign in row] for row in pairs]
        for place, row in enumerate(numbers):
            row[place] = ""
        axes.number_cells(ax, image, numbers)
    name = axes.label(criterion.name)
    what = f"mean difference of {name}" if criterion.is_measure else f"mean preference ({name})"
    cost = ", turned: above 0 is better" if criterion.smaller_is_better else ""
    axes.colour_bar(ax, image, f"{what}{cost}", limits=(-widest, widest))
    title = f"* and colour: significantly better (blue), worse (orange); {standing.how}"
    return axes.finish(ax, provenance_line(result.provenance), title, [criterion.name])


def pair(result: Comparison, a: str, b: str, by: str | None = None, *, ax: Any = None) -> Any:
    """Where two runs differ, query by query: the first one's wins by their size, then ties, then its losses.

    For lexicographic preferences: the rank at which each run reaches the recall level that decided (a lost document
    at the bottom); for the others a bar as high as the preference, or the gain by a measure. Ties are dots. Of more than
    60 queries, those with the largest differences are named.
    """
    criterion, table = result.criterion(by), result.explain(a, b, by)
    sign = np.nan_to_num(table["preference"].to_numpy())
    height, what = sign, f"preference ({axes.label(criterion.name)})"
    if "value_a" in table:
        height = criterion.sign * (table["value_a"] - table["value_b"]).to_numpy()
        what = f"difference of {axes.label(criterion.name)}" + (
            ", turned: up is better" if criterion.smaller_is_better else ""
        )
    elif "rank_a" in table:
        # How many times deeper the loser reaches the deciding level: a number that sorts; infinite where it never does.
        ranks = [table[column].to_numpy(dtype=float, na_value=np.nan) for column in ("rank_a", "rank_b")]
        ratio = np.nan_to_num(np.fmax(*ranks) / np.fmin(*ranks), nan=1.0)
        ratio[np.isnan(ranks[0]) != np.isnan(ranks[1])] = np.inf
        height = np.where(sign == 0, 0.0, sign * ratio)
    order = np.lexsort((-height, -np.sign(sign)))
    height, sign, table = height[order], sign[order], table.iloc[order]
    ax = axes.new_axes(ax, (min(max(6.5, 0.18 * len(height)), 16.0), 4.0))
    wins, losses = int((sign > 0).sum()), int((sign < 0).sum())
    for start, end, colour in ((0, wins, axes.FIRST), (len(sign) - losses, len(sign), axes.SECOND)):
        if end > start:  # shade where one run wins, and where the other does
            ax.axvspan(start - 0.5, end - 0.5, color=colour, alpha=0.08, linewidth=0, zorder=0)
    if "rank_a" in table:
        _dumbbells(ax, table)
    else:
        ax.bar(range(len(height)), height, color=np.where(sign > 0, axes.FIRST, axes.SECOND), width=0.8)
        ties = np.flatnonzero(height == 0)
        ax.plot(ties, np.zeros(len(ties)), ".", color=axes.GREY)
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_ylabel(what)
    ids = table["query_id"].tolist()
    decided = np.flatnonzero(sign)
    extremes = [*decided[decided < wins][:_EXTREMES], *decided[decided >= wins][-_EXTREMES:]]
    named = list(range(len(ids))) if len(ids) <= _MOST_NAMED else extremes
    axes.name_ticks(ax.xaxis, [ids[i] for i in named], named, rotation=90, fontsize=axes.SMALL)
    ax.set_xlim(-0.7, max(1, len(sign)) - 0.3)
    ax.set_xlabel(f"{len(height)} queries")
    ties_said = f", {len(sign) - wins - losses} neither" if len(sign) > wins + losses else ""
    first, second = ("● ", "◆ ") if "rank_a" in table else ("", "")
    title = f"{first}{axes.label(a)} (blue) wins {wins}, {second}{axes.label(b)} (orange) wins {losses}{ties_said}"
    return axes.finish(ax, provenance_line(result.provenance), title, [criterion.name])


def _dumbbells(ax: Any, table: Any) -> None:
    ranks = [table[column].to_numpy(dtype=float, na_value=np.nan) for column in ("rank_a", "rank_b")]
    tie = table["winner"].isna().to_numpy()
    deepest = np.nanmax(np.concatenate([*ranks, [1.0]]))
    missing = 2 * deepest
    shown = [np.where(np.isnan(rank), missing, rank) for rank in ranks]
    x = np.arange(len(table))
    ax.vlines(x[~tie], shown[0][~tie], shown[1][~tie], color="#bdbdbd", linewidth=2, zorder=1)
    for rank, colour, marker in zip(shown, (axes.FIRST, axes.SECOND), "oD", strict=True):
        ax.scatter(x[~tie], rank[~tie], color=colour, marker=marker, s=16, zorder=2)
    ax.plot(x[tie], np.ones(tie.sum()), ".", color=axes.GREY)
    ax.axhline(missing, color=axes.GREY, linewidth=0.8, linestyle=":")
    beside = ax.get_yaxis_transform()
    ax.text(1, missing, " not retrieved", va="center", fontsize=axes.SMALL, color=axes.GREY, transform=beside)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_ylim(1.5 * missing, 0.8)
    ax.set_ylabel("rank at the deciding level")


_MOST_DRAWN = 60  # runs in a picture
_DPI = 110


def inline(draw: Callable[..., Any], size: tuple[float, float], description: str = "") -> str:
    """A picture as an element of HTML, drawn without a display and without pyplot; empty where matplotlib is not installed.

    >>> inline(lambda ax: ax.plot([1, 2]), (2, 1)).startswith('<img alt="" ')
    True
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        return ""
    figure = Figure(figsize=size, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    draw(ax=figure.subplots())
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        canvas.print_figure(stream, format="png", dpi=_DPI, bbox_inches="tight", pad_inches=0.05)
    data = b64encode(stream.getvalue()).decode("ascii")
    width = round(size[0] * 96)
    return f'<img alt="{escape_html(description)}" style="max-width:100%" width="{width}" src="data:image/png;base64,{data}">'


def notebook(result: Comparison | Benchmark) -> str:
    """A result as HTML; a benchmark of a single collection as its comparison."""
    if isinstance(result, Benchmark) and len(result) == 1:
        return notebook(next(iter(result.values())))
    draw: Callable[..., Any]
    if isinstance(result, Benchmark):
        said, draw, size = (
            benchmark_finding(result),
            partial(rank_intervals, result),
            (7.0, 1.5 + 0.32 * len(result.runs)),
        )
        drawn = said.ranking is not None and len(result.runs) > 1
    else:
        said, standings, size = comparison_finding(result), standings_of(result), means_size(len(result.runs))
        draw, drawn = partial(means, result, standings[0].name if standings else None), bool(standings)
    picture = inline(draw, size, said.title) if drawn and len(result.runs) <= _MOST_DRAWN else ""
    return html(said, picture, provenance_line(result.provenance))
