"""Draw comparisons, benchmarks over many collections, and recall; show results in notebooks."""

from __future__ import annotations

import io
import textwrap
import warnings
from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats
from ir_lexirecall._util.errors import counted, shown_names
from ir_lexirecall._util.rounding import same
from ir_lexirecall._util.selecting import among
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.criteria import Criterion
from ir_lexirecall.comparison.verdicts import (
    BETTER,
    NOT_WORSE,
    UNDECIDED,
    WITHIN,
    WORSE,
)
from ir_lexirecall.plots import axes
from ir_lexirecall.plots.kinds import picture_of
from ir_lexirecall.plots.marks import (
    MAY,
    REST,
    Mark,
    collection_marks,
    difference_marks,
    group_marks,
    mean_marks,
)
from ir_lexirecall.present.comparisons import comparison_glance
from ir_lexirecall.present.glance import glance_html
from ir_lexirecall.present.macro_means import benchmark_glance, wilcoxon_words
from ir_lexirecall.present.standings import (
    MacroStanding,
    Standing,
    defined,
    standing_of,
)
from ir_lexirecall.present.text import confidence_words, escape_html, provenance_line

# Colours of kinds of marks; others have the first one.
_COLOURS = {REST: axes.GREY, UNDECIDED: axes.GREY, WORSE: axes.SECOND}
_HOLLOW = (MAY, UNDECIDED)
# Verdicts that are not significant differences, in the order of a legend.
_WORDS = {
    WITHIN: "within the margin",
    NOT_WORSE: "not worse by more than the margin",
    UNDECIDED: "not significant",
}
_LETTERS = 66  # in a line below the axes
_MOST_NUMBERED = 60  # runs whose numbers are written into a heatmap
_MOST_NAMED = 60  # queries of a pair that are all named; of more, the extremes
_EXTREMES = 5  # of wins, and of losses
_MOST_DRAWN = 60  # runs in a picture of a notebook
_DPI = 110
# The second run's, over white, to the first one's.
_DIVERGING = [axes.SECOND, "#fbe3d3", "white", "#cfe5f2", axes.FIRST]


def _standing(result: Comparison, by: str | None) -> Standing:
    """Return how the runs stand by a criterion; raise if it compares nothing."""
    result.compared.check_compared(by)
    return standing_of(result, result.compared.criterion(by).name)


@picture_of(Comparison)
def means(result: Comparison, by: str | None = None, *, ax: Any = None) -> Any:
    """Draw means with their intervals, a row per run, best first.

    Hollow marks are runs that may be the best as well.
    """
    standing = _standing(result, by)
    marks, confidence = mean_marks(standing), confidence_words(standing.ranking.attrs)
    quantity = standing.quantity.removesuffix(standing.name)
    direction = _direction(standing)
    below = f"{quantity}{axes.label(standing.name)}, {confidence} intervals{direction}"
    meanings = {
        marks[0].kind: "best mean",
        MAY: f"may be best ({confidence})",
        REST: "not among the best",
    }
    if standing.all_alike:
        meanings = {marks[0].kind: "all runs have the same mean"}
    return _forest(ax, standing, marks, below, meanings if len(marks) > 1 else {})


@picture_of(Comparison)
def differences(result: Comparison, by: str | None = None, *, ax: Any = None) -> Any:
    """Draw the test's estimates of all runs against the baseline, or the leader.

    A filled mark is significant.

    A thin line is the interval that holds any judging of the unjudged documents, too, of criteria
    whose bounds are known.
    """
    standing = _standing(result, by)
    marks = difference_marks(standing.against.itertuples(), outer=standing.outer)
    below = _estimates(standing)
    if standing.outer is not None:
        depth = standing.outer[0]
        below += f"; thin: with any grades of the top {depth}'s unjudged documents"
    return _forest(ax, standing, marks, below, _verdicts_in_words(marks))


@picture_of(Comparison)
def groups(result: Comparison, by: str | None = None, *, ax: Any = None) -> Any:
    """Draw the test's estimates in each group of queries; a filled mark is significant.

    They are of all runs against the baseline, or the leader.
    """
    standing = _standing(result, by)
    marks = []
    for run, marks_of_run in group_marks(standing).items():
        for mark in marks_of_run:
            marks.append(mark._replace(name=f"{run}, {mark.name}"))
    below = f"{_estimates(standing)}; each group of queries by itself"
    return _forest(ax, standing, marks, below, _verdicts_in_words(marks))


def _verdicts_in_words(marks: Sequence[Mark]) -> dict[str, str]:
    """Return what the kinds of marks mean: the verdicts, in a legend's words."""
    verdicts = {mark.row.verdict for mark in marks}
    words = dict(_WORDS)
    if any(hasattr(mark.row, "better_p") for mark in marks):  # there is a margin
        words[UNDECIDED] = "undecided"
    not_significant = [words[verdict] for verdict in words if verdict in verdicts]
    return {
        BETTER: "significantly better",
        WORSE: "significantly worse",
        UNDECIDED: " or ".join(not_significant),
    }


def _direction(standing: Standing) -> str:
    """Return which value is better, if readers need to be told."""
    if standing.criterion.direction:
        return f"; {standing.criterion.direction}"
    return ""


def _estimates(standing: Standing) -> str:
    """Return what the test estimates, in words for below the axes."""
    by, against = axes.label(standing.name), axes.label(standing.reference)
    estimate = f"{standing.estimate}, by {by}, against {against}{_direction(standing)}"
    return f"{estimate}; {confidence_words(standing.result.provenance)} intervals, uncorrected"


def means_size(runs: int) -> tuple[float, float]:
    """Return the size of a picture of this many runs, in inches."""
    return 7.0, max(2.2, 0.27 * runs + 1.4)


def _forest(
    ax: Any,
    standing: Standing,
    marks: Sequence[Mark],
    below: str,
    meanings: Mapping[str, str],
) -> Any:
    """Draw a point with its interval for each mark, the first one on top.

    Args:
        ax: axes to draw on; None for new ones.
        standing: what the marks are of.
        marks: the points, with their intervals.
        below: what they are, in words for below the axes.
        meanings: of the kinds of marks, for the legend.
    """
    ax = axes.new_axes(ax, means_size(len(marks)))
    _draw_intervals(ax, marks)
    _draw_points(ax, marks)
    _draw_outer_intervals(ax, marks)
    axes.name_ticks(ax.yaxis, [mark.name for mark in marks])
    ax.set_ylim(len(marks) - 0.4, -0.6)
    ax.grid(axis="x", color="#e3e3e3", linewidth=0.6)
    ax.set_axisbelow(True)
    if any(mark.row is not None for mark in marks):  # differences, not means
        ax.axvline(0, color="black", linewidth=0.8, linestyle=":")
    ax.set_xlabel(textwrap.fill(below, _LETTERS, break_on_hyphens=False))
    kinds = {mark.kind for mark in marks}
    _legend_of_marks(
        ax, {kind: text for kind, text in meanings.items() if kind in kinds}
    )
    return axes.finish(
        ax, provenance_line(standing.result.provenance), measures=[standing.name]
    )


def _draw_intervals(ax: Any, marks: Sequence[Mark]) -> None:
    """Draw the interval of each mark that has one; the inner one if there are two."""
    rows = np.arange(len(marks))
    inner = [mark.inner or (mark.low, mark.high) for mark in marks]
    low, high = np.array(inner, dtype=float).reshape(-1, 2).T
    colours = np.array([_colour(mark.kind) for mark in marks])
    is_known = np.isfinite(low) & np.isfinite(high)
    ends = low[is_known], high[is_known]
    ax.hlines(
        rows[is_known], *ends, color=list(colours[is_known]), linewidth=1.8, zorder=1
    )


def _draw_outer_intervals(ax: Any, marks: Sequence[Mark]) -> None:
    """Draw the outer intervals thin, if there are inner ones."""
    if any(mark.inner for mark in marks):
        ends = [mark.low for mark in marks], [mark.high for mark in marks]
        ax.hlines(
            np.arange(len(marks)), *ends, color=axes.GREY, linewidth=0.8, zorder=0
        )


def _draw_points(ax: Any, marks: Sequence[Mark]) -> None:
    """Draw the value of each mark, hollow if nothing is decided."""
    ax.scatter(
        [mark.value for mark in marks],
        np.arange(len(marks)),
        s=34,
        facecolors=[_face(mark.kind) for mark in marks],
        edgecolors=[_colour(mark.kind) for mark in marks],
        linewidths=1.6,
        zorder=2,
    )


def _colour(kind: str) -> str:
    """Return the colour of a kind of marks."""
    return _COLOURS.get(kind, axes.FIRST)


def _face(kind: str) -> str:
    """Return the colour that a kind of marks is filled with."""
    if kind in _HOLLOW:
        return "white"
    return _colour(kind)


def _legend_of_marks(ax: Any, meanings: Mapping[str, str]) -> None:
    """Say above the axes what the marks of each kind mean."""
    if not meanings:
        return
    for kind, meaning in meanings.items():
        colours = {"facecolors": _face(kind), "edgecolors": _colour(kind)}
        ax.scatter([], [], s=34, linewidths=1.6, label=meaning, **colours)
    ax.legend(
        fontsize=axes.TEXT,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.0,
        frameon=False,
        ncols=len(meanings),
        handletextpad=0.2,
        columnspacing=1.2,
    )


@picture_of(Comparison)
def heatmap(result: Comparison, by: str | None = None, *, ax: Any = None) -> Any:
    """Draw the mean preference, or mean difference, of the row's run over the column's.

    The colours are the verdicts: blue is better, orange worse, also where the smaller value of a
    measure is better; the deeper, the larger the difference. Pairs that were not compared, since
    there is a baseline, are hatched.
    """
    standing = _standing(result, by)
    criterion, runs = standing.criterion, standing.runs
    matrix = result.matrix(standing.name).loc[runs, runs].to_numpy()
    verdicts = np.array(
        [[standing.verdicts.on(a, b) for b in runs] for a in runs], dtype=object
    )
    sign = (verdicts == BETTER).astype(float) - (verdicts == WORSE)
    widest = 1.0
    if criterion.is_measure:
        widest = float(np.nanmax(np.abs(matrix), initial=0.0)) or 1.0
    size = max(4.5, 0.52 * len(runs) + 2) + 0.07 * max(
        map(len, axes.labels(runs)), default=0
    )
    ax = axes.new_axes(ax, (size + 1, size))
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("runs", _DIVERGING)
    image = ax.imshow(
        sign * np.abs(matrix), cmap=colours, vmin=-1.25 * widest, vmax=1.25 * widest
    )
    axes.name_cells(ax, image, _numbers_of_cells(matrix, sign != 0), runs, runs)
    not_compared = np.array([[verdict is None for verdict in row] for row in verdicts])
    np.fill_diagonal(not_compared, val=False)
    axes.hatch_cells(ax, not_compared)
    ax.set_xlabel("over this run")
    ax.set_ylabel("this run")
    axes.colour_bar(ax, image, _quantity_of_cells(criterion), limits=(-widest, widest))
    title = f"* and colour: significantly better (blue), worse (orange); {standing.how}"
    if not_compared.any():
        title += "; hatched: not compared"
    return axes.finish(ax, provenance_line(result.provenance), title, [criterion.name])


def _numbers_of_cells(matrix: Floats, is_significant: Bools) -> list[list[str]]:
    """Return the numbers in the cells of a heatmap; of very many runs there are none."""
    n_runs = len(matrix)
    if n_runs > _MOST_NUMBERED:
        return []
    numbers = [[f"{value:.2f}" for value in row] for row in matrix.tolist()]
    for i, j in np.argwhere(is_significant).tolist():
        numbers[i][j] += "*"
    for i in range(n_runs):
        numbers[i][i] = ""
    return numbers


def _quantity_of_cells(criterion: Criterion) -> str:
    """Return what the numbers of a heatmap are."""
    name = axes.label(criterion.name)
    quantity = f"mean preference ({name})"
    if criterion.is_measure:
        quantity = f"mean difference of {name}"
    if criterion.smaller_is_better:
        return f"{quantity}, turned: above 0 is better"
    return quantity


@picture_of(Comparison)
def pair(
    result: Comparison,
    a: str | None = None,
    b: str | None = None,
    by: str | None = None,
    *,
    ax: Any = None,
) -> Any:
    """Draw where two runs differ, query by query.

    The wins of the first run come first, by their size, then ties, then its losses.

    For lexicographic preferences: the rank at which each run reaches the recall level that decided
    (a lost document at the bottom); for the others a bar as high as the preference, or the gain by
    a measure. Ties are dots. Of more than 60 queries, those with the largest differences are named.

    Raises:
        ValueError: ``a`` or ``b`` is not given, or no run.
    """
    if a is None or b is None:
        raise ValueError(
            f"name two of the runs, {shown_names(result.runs)}, as in plot('pair', a, b)"
        )
    result.compared.check_compared(by)
    criterion, table = result.compared.criterion(by), result.explain(a, b, by)
    sign = np.nan_to_num(table["preference"].to_numpy())
    ranks = None
    if "rank_a" in table and "value_a" not in table:
        ranks = table[["rank_a", "rank_b"]].to_numpy(dtype=float, na_value=np.nan)
    height = _heights_of_pair(criterion, table, sign, ranks)
    order = np.lexsort((-height, -np.sign(sign)))
    height, sign, table = height[order], sign[order], table.iloc[order]
    wins, losses = int((sign > 0).sum()), int((sign < 0).sum())

    ax = axes.new_axes(ax, (min(max(6.5, 0.18 * len(height)), 16.0), 4.0))
    _shade_winners(ax, wins, losses, len(sign))
    first = second = ""
    if ranks is not None:
        first, second = "● ", "◆ "
        _dumbbells(ax, ranks[order], sign != 0)
    else:
        _bars_of_pair(ax, height, sign)
        ax.set_ylabel(_quantity_of_bars(criterion, table))
    named = _queries_named(len(table), wins, losses)
    axes.name_ticks(
        ax.xaxis,
        table["query_id"].iloc[named].tolist(),
        named,
        rotation=90,
        fontsize=axes.SMALL,
    )
    ax.set_xlim(-0.7, max(1, len(sign)) - 0.3)
    ax.set_xlabel(counted(len(height), "query"))

    n_ties = len(sign) - wins - losses
    neither = f", {n_ties} neither" if n_ties else ""
    blue, orange = f"{first}{axes.label(a)} (blue)", f"{second}{axes.label(b)} (orange)"
    title = f"{blue} wins {wins}, {orange} wins {losses}{neither}"
    return axes.finish(ax, provenance_line(result.provenance), title, [criterion.name])


def _heights_of_pair(
    criterion: Criterion, table: Any, sign: Floats, ranks: Floats | None
) -> Floats:
    """Return how much the first run is better on each query, by which queries are sorted.

    Args:
        criterion: what compares the runs.
        table: what `Comparison.explain` returned.
        sign: the preference on each query, 0 for ties.
        ranks: ranks of both runs at the deciding level, NaN for a document that is lost; None where
            no level decides.
    """
    if "value_a" in table:
        return criterion.sign * (table["value_a"] - table["value_b"]).to_numpy()
    if ranks is None:
        return sign
    # How many times deeper the loser reaches the deciding level: a number that sorts; infinite
    # where it never does.
    ratio = np.nan_to_num(np.fmax(*ranks.T) / np.fmin(*ranks.T), nan=1.0)
    ratio[np.isnan(ranks).sum(axis=1) == 1] = np.inf
    return np.where(sign == 0, 0.0, sign * ratio)


def _quantity_of_bars(criterion: Criterion, table: Any) -> str:
    """Return what the bars of a pair show."""
    name = axes.label(criterion.name)
    if "value_a" not in table:
        return f"preference ({name})"
    turned = ", turned: up is better" if criterion.smaller_is_better else ""
    return f"difference of {name}{turned}"


def _shade_winners(ax: Any, wins: int, losses: int, n_queries: int) -> None:
    """Shade the queries on which one run wins, and those on which the other does."""
    shades = {
        axes.FIRST: (0, wins),
        axes.SECOND: (n_queries - losses, n_queries),
    }
    for colour, (start, end) in shades.items():
        if end > start:
            ax.axvspan(
                start - 0.5, end - 0.5, color=colour, alpha=0.08, linewidth=0, zorder=0
            )


def _bars_of_pair(ax: Any, height: Floats, sign: Floats) -> None:
    """Draw a bar for each query, in the colour of the run that wins; a dot for ties."""
    colours = np.where(sign > 0, axes.FIRST, axes.SECOND)
    ax.bar(range(len(height)), height, color=colours, width=0.8)
    ties = np.flatnonzero(height == 0)
    ax.plot(ties, np.zeros(len(ties)), ".", color=axes.GREY)
    ax.axhline(0, color="black", linewidth=0.8)


def _queries_named(n_queries: int, wins: int, losses: int) -> list[int]:
    """Return the queries with a name below the axes: of very many the largest wins and losses."""
    queries = list(range(n_queries))
    if n_queries <= _MOST_NAMED:
        return queries
    # The largest wins stand first, the largest losses last.
    return [*queries[:wins][:_EXTREMES], *queries[n_queries - losses :][-_EXTREMES:]]


def _dumbbells(ax: Any, ranks: Floats, decided: Bools) -> None:
    """For each query the ranks of both runs, joined; for those that are not decided a dot."""
    missing, x = 2 * np.nanmax(ranks, initial=1.0), np.arange(len(ranks))
    first, second = np.where(np.isnan(ranks), missing, ranks)[decided].T
    ax.vlines(x[decided], first, second, color="#bdbdbd", linewidth=2, zorder=1)
    ax.scatter(x[decided], first, color=axes.FIRST, marker="o", s=16, zorder=2)
    ax.scatter(x[decided], second, color=axes.SECOND, marker="D", s=16, zorder=2)
    ax.plot(x[~decided], np.ones((~decided).sum()), ".", color=axes.GREY)
    ax.axhline(missing, color=axes.GREY, linewidth=0.8, linestyle=":")
    transform = ax.get_yaxis_transform()
    ax.text(
        1,
        missing,
        " not retrieved",
        va="center",
        fontsize=axes.SMALL,
        color=axes.GREY,
        transform=transform,
    )
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_ylim(1.5 * missing, 0.8)
    ax.set_ylabel("rank at the deciding level")


@picture_of(Benchmark)
def forest(result: Benchmark, by: str | None = None, *, ax: Any = None) -> Any:
    """Draw the test's estimates against the baseline, a row per collection.

    Diamonds at the bottom are over all collections.

    Filled marks differ significantly, by the verdicts. An interval that cannot be estimated is not
    drawn.
    """
    criterion = result.criterion(by)
    result.check_rivals()
    marks_of_run = collection_marks(result, criterion.name)
    runs = among(result.runs, marks_of_run)  # in one order by all criteria
    blocks = _blocks_of_collections(list(result), [marks_of_run[run] for run in runs])
    blank = int(len(runs) > 1)  # rows between the blocks of collections
    ax = axes.new_axes(ax, (7.5, max(3.0, 0.22 * len(blocks) * (len(runs) + 1) + 1.4)))
    rows, names = [], []
    for number, marks in enumerate(blocks):
        is_over_all = number == len(blocks) - 1
        for line, (run, mark) in enumerate(zip(runs, marks, strict=True)):
            if mark is None:
                continue
            row = number * (len(runs) + blank) + line
            colour = axes.line_style(line, len(runs))["color"]
            _draw_estimate(ax, row, mark, colour, is_over_all=is_over_all)
            rows.append(row)
            if blank:
                names.append(f"{axes.label(mark.name)}: {axes.label(run)}")
            else:
                names.append(mark.name)
    ax.axvline(0, color="black", linewidth=0.8, linestyle=":")
    axes.name_ticks(ax.yaxis, names, rows)
    ax.invert_yaxis()
    estimate = (
        next(iter(result.values())).compared.test_of(criterion.name).procedure.estimate
    )
    quantity = (
        f"{estimate}, by {axes.label(criterion.name)}; over all: macro difference"
    )
    ax.set_xlabel(
        f"{quantity}; {confidence_words(result.provenance)} intervals, uncorrected"
    )
    side = "Left" if criterion.smaller_is_better else "Right"
    title = f"{side} of 0: better than {axes.label(str(result.baseline))}; filled: significantly"
    return axes.finish(ax, provenance_line(result.provenance), title, [criterion.name])


def _blocks_of_collections(
    collections: Sequence[str], marks_of_runs: Sequence[Sequence[Mark]]
) -> list[list[Mark | None]]:
    """Return the marks of all runs on each collection, and over all collections.

    A run may lack tasks of a leaderboard: None.

    Args:
        collections: their names.
        marks_of_runs: the marks of each run; the last one is over all collections.
    """
    mark_of_collection = [
        {mark.name: mark for mark in marks[:-1]} for marks in marks_of_runs
    ]
    blocks: list[list[Mark | None]] = []
    for name in collections:
        marks = [mark_of.get(name) for mark_of in mark_of_collection]
        if any(marks):
            blocks.append(marks)
    blocks.append([marks[-1] for marks in marks_of_runs])
    return blocks


def _draw_estimate(
    ax: Any, row: int, mark: Mark, colour: str, *, is_over_all: bool
) -> None:
    """Draw an estimate with its interval, filled if significant; a diamond if it is over all."""
    symbol, size, width = ("D", 7, 2.5) if is_over_all else ("o", 4.5, 1.2)
    if np.isfinite([mark.low, mark.high]).all():
        ax.plot([mark.low, mark.high], [row, row], color=colour, linewidth=width)
    if mark.kind in (BETTER, WORSE):
        face = colour
    else:
        face = "white"
    ax.plot(
        [mark.value], [row], symbol, color=colour, markersize=size, markerfacecolor=face
    )


@picture_of(Benchmark)
def rank_intervals(
    result: Benchmark, by: str | None = None, over: str | None = None, *, ax: Any = None
) -> Any:
    """Draw ranks with their intervals (thin), and where resamples put them (thick), best first."""
    standing = MacroStanding(result, result.criterion(by).name, over)
    ranks = standing.ranking
    ax = axes.new_axes(ax, (6.0, max(2.5, 0.3 * len(ranks) + 1)))
    height = np.arange(len(ranks))
    ax.hlines(
        height, ranks["rank_low"], ranks["rank_high"], color=axes.FIRST, linewidth=1
    )
    ax.hlines(
        height, ranks["rank_from"], ranks["rank_to"], color=axes.FIRST, linewidth=4
    )
    ax.plot(height + 1, height, "o", color="black", markersize=4)
    axes.name_ticks(ax.yaxis, standing.runs)
    ax.invert_yaxis()
    ax.set_xlim(0.5, len(ranks) + 0.5)
    ax.set_xlabel(f"rank by macro mean of {axes.label(standing.name)}")
    title = (
        "Thin: interval of the rank, for all runs at once; thick: where the resamples "
        "put the run"
    )
    return axes.finish(ax, provenance_line(result.provenance), title, [standing.name])


@picture_of(Benchmark)
def critical_differences(
    result: Benchmark, by: str | None = None, *, ax: Any = None
) -> Any:
    """Draw mean ranks over collections.

    A bar joins runs whose mean ranks differ by less than the critical difference.
    """
    if len(result.runs) == 1:
        raise ValueError(
            "critical differences need at least 2 runs that all collections have, "
            f"not {result.runs[0]!r} alone"
        )
    test = result.friedman(by)
    mean_rank, difference = test["mean_rank"], test["critical_difference"]
    ranks = mean_rank.to_numpy()
    ax = axes.new_axes(ax, (7.0, max(2.5, 0.28 * len(ranks) + 1.5)))
    height = np.arange(len(ranks))
    ax.plot(ranks, height, "o", color="black", markersize=4)
    axes.name_ticks(ax.yaxis, list(mean_rank.index))
    for first, end in joined_ranks(ranks, difference):
        ax.plot(
            [ranks[first], ranks[end]],
            [end + 0.35, end + 0.35],
            color=axes.SECOND,
            linewidth=3,
        )
        ax.vlines(
            [ranks[first]],
            first,
            end + 0.35,
            color=axes.SECOND,
            linewidth=0.6,
            linestyle=":",
        )
    ax.invert_yaxis()
    ax.set_xlim(0.7, max(len(ranks), 1) + 0.3)
    ax.set_xlabel(f"mean rank over collections by {axes.label(test['criterion'])}")
    caption = (
        f"critical difference {difference:.2f}: runs under one bar do not differ "
        "significantly"
    )
    return axes.finish(
        ax,
        provenance_line(result.provenance),
        f"{caption}. {wilcoxon_words(test)}",
        [test["criterion"]],
    )


def joined_ranks(ranks: Any, difference: float) -> list[tuple[int, int]]:
    """Return the first and last index of stretches of runs that differ by less than a difference.

    The runs are ordered by mean rank; only the longest stretches are returned.

    >>> joined_ranks(np.array([1.0, 1.5, 2.5, 4.0]), 1.6)
    [(0, 2), (2, 3)]
    """
    stretches: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.flatnonzero(ranks - ranks[first] < difference).max(initial=first))
        if last > first and (not stretches or last > stretches[-1][1]):
            stretches.append((first, last))
    return stretches


def recall_curves(table: Any, query: str | None = None, ax: Any = None) -> Any:
    """Draw recall over the share of a collection that is read: mean over queries, a line per run.

    The dotted line is reading at random. A line for one query is a curve of steps; a dot says where
    everything has been found. ``table`` is what ``recall_curves`` of
    ``ir_lexirecall.evaluation.evaluating`` gave.
    """
    if query is not None:
        table = table[table["query_id"] == query]
        if not len(table):
            raise ValueError(f"recall_curves: the table has no query {query!r}")
    ax = axes.new_axes(ax, (6.5, 4.2))
    queries = table["query_id"].unique()
    runs = list(dict.fromkeys(table["run"]))
    for number, run in enumerate(runs):
        share, recall = _mean_recall(table[table["run"] == run])
        style = axes.line_style(number, len(runs))
        mark = {"color": style["color"], "marker": style["marker"]}
        line = {key: x for key, x in style.items() if not key.startswith("mark")}
        ax.step(share, recall, where="post", label=axes.legend_label(run), **line)
        last = float(share[np.argmax((recall >= 1) | same(recall, 1.0))])
        ax.scatter(
            [last], [1.0], clip_on=False, s=40, zorder=3, edgecolor="white", **mark
        )
    ax.plot([0, 1], [0, 1], color=axes.GREY, linestyle=":", linewidth=1.0)
    ax.set(
        xlim=(0, 1),
        ylim=(0, 1.02),
        xlabel="share of the collection read",
        ylabel="recall",
    )
    axes.show_legend(ax)
    if len(queries) == 1:
        title = f"Recall on {queries[0]}"
    else:
        title = f"Mean recall on {len(queries)} queries"
    return axes.finish(
        ax, title=title, caption="dots: everything found; dotted: reading at random"
    )


def _mean_recall(curves: Any) -> tuple[Floats, Floats]:
    """Return the mean of a run's curves over queries, at every share where one of them rises."""
    of_query = []
    for _, curve in curves.groupby("query_id", sort=False):
        of_query.append((curve["share"].to_numpy(), curve["recall"].to_numpy()))
    share = np.unique(np.concatenate([shares for shares, _ in of_query]))
    recalls = []
    for shares, recall in of_query:
        step = np.searchsorted(shares, share, side="right") - 1
        recalls.append(recall[step])
    return share, np.mean(recalls, axis=0)


def notebook(result: Comparison | Benchmark) -> str:
    """Return a result as HTML; a benchmark of a single collection as its comparison.

    The picture is drawn without a display and without pyplot.
    """
    if isinstance(result, Benchmark) and len(result) == 1:
        result = next(iter(result.values()))
    if isinstance(result, Benchmark):
        glance = benchmark_glance(result)
        if glance.rows and len(result.runs) > 1:
            by = result.quantities[:1]
        else:
            by = []
    else:
        glance = comparison_glance(result)
        by = list(defined(result))[:1]
    picture = ""
    if by and len(result.runs) <= _MOST_DRAWN and find_spec("matplotlib") is not None:
        picture = _embedded_picture(result, by[0], glance.title)
    provenance = provenance_line(result.provenance)
    return glance_html(glance, picture=picture, provenance=provenance)


def _embedded_picture(result: Comparison | Benchmark, by: str, title: str) -> str:
    """Return the picture of means, or of ranks over collections, as an element of a page."""
    from matplotlib.figure import Figure

    draw: Any = means
    size = means_size(len(result.runs))
    if isinstance(result, Benchmark):
        draw, size = rank_intervals, (7.0, 1.5 + 0.32 * len(result.runs))
    figure = Figure(figsize=size, layout="constrained")
    draw(result, by, ax=figure.subplots())
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        figure.savefig(
            stream, format="png", dpi=_DPI, bbox_inches="tight", pad_inches=0.05
        )
    data, width = b64encode(stream.getvalue()).decode("ascii"), round(size[0] * 96)
    return (
        f'<img alt="{escape_html(title)}" style="max-width:100%" width="{width}" '
        f'src="data:image/png;base64,{data}">'
    )
