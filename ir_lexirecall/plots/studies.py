"""Pictures of studies: one drawing function per study, found by the name in ``table.attrs["function"]``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ir_lexirecall.plots import missing_labels
from ir_lexirecall.plots.axes import (
    FIRST,
    GREY,
    SECOND,
    bare,
    colour_bar,
    finish,
    label,
    legend_label,
    line_style,
    name_ticks,
    new_axes,
    number_cells,
    show_legend,
    whole_numbers,
)

_MEASURES = ("measure", "measure_a", "measure_b", "target")  # columns of their names
_RESULTS = {"holds": 1.0, "fails": -1.0, "not applicable": 0.0}


Draw: TypeAlias = Callable[[Any, Any], Any]
"""Draws a study on axes, which it returns."""


class Drawing(NamedTuple):
    """How a study is drawn: the function, the title, and the columns whose names are the rows and columns of the picture."""

    draw: Draw
    title: str
    rows: str = ""
    columns: str = ""


_DRAWN: dict[str, Drawing] = {}
"""How each study is drawn, by the name of its function."""


def _draws(title: str, rows: str = "", columns: str = "") -> Callable[[Draw], Draw]:
    """Registers a function as that which draws the study of its name."""

    def register(draw: Draw) -> Draw:
        _DRAWN[draw.__name__.lstrip("_")] = Drawing(draw, title, rows, columns)
        return draw

    return register


def plot(table: Any, ax: Any = None) -> Any:
    """Draw a study.

    Args:
        table: what a function of ``ir_lexirecall.meta`` gave, or some of its rows; ``attrs["function"]`` names that function.
        ax: matplotlib axes; new ones by default.

    Raises:
        ValueError: the table is not a study.
    """
    function = getattr(table, "attrs", {}).get("function")
    if function not in _DRAWN:
        raise ValueError(f"plot: expected the table of a study (attrs['function'] names it), got {function!r}")
    drawing = _DRAWN[function]
    rows, columns = (list(table[name].unique()) if name else [] for name in (drawing.rows, drawing.columns))
    beside, below = (max((len(label(name)) - 12 for name in names), default=0) for names in (rows, columns))
    width = np.clip(0.5 * len(columns) + 3.5, 7.0, 24.0) + max(0.0, 0.075 * beside)
    height = np.clip(0.3 * len(rows) + 2.2, 4.0, 24.0) + max(0.0, 0.06 * below)
    ax = drawing.draw(table, new_axes(ax, (float(width), float(height))))
    if not ax.images:
        bare(ax)
    measures = {name for column in _MEASURES if column in table for name in table[column]}
    return finish(ax, title=drawing.title, measures=sorted(map(str, measures)))


# -- kinds of pictures -------------------------------------------------------------------------------


def _bars_of(ax: Any, names: Sequence[str], values: Any, meaning: str) -> Any:
    """A horizontal bar for each name, the first one on top."""
    ax.barh(range(len(names)), values, color=FIRST)
    name_ticks(ax.yaxis, names)
    ax.invert_yaxis()
    ax.set_xlabel(meaning)
    return ax


def _bars(column: str, meaning: str) -> Draw:
    """Draws a column as a bar per measure, the largest on top."""

    def draw(table: Any, ax: Any) -> Any:
        order = table.sort_values(column, ascending=False)
        return _bars_of(ax, order["measure"].tolist(), order[column].to_numpy(), meaning)

    return draw


def _lines(ax: Any, lines: Sequence[tuple[str, Any, Any]], x: str, y: str, **style: Any) -> Any:
    for place, (name, across, up) in enumerate(lines):
        ax.plot(across, up, label=legend_label(name), **line_style(place, len(lines), len(across)) | style)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    show_legend(ax)
    return ax


def _pairs_of_lines(ax: Any, lines: Sequence[tuple[str, Any, Any, Any]], x: str, y: str) -> Any:
    """A solid and a dashed line for each name, with their points."""
    for place, (name, across, solid, dashed) in enumerate(lines):
        style = line_style(place, len(lines), len(across))
        ax.plot(across, solid, label=legend_label(name), **style | {"linestyle": "-"})
        ax.plot(across, dashed, **style | {"linestyle": "--"})
    return _lines(ax, [], x, y)


def _curves(x: str, y: str, across: str, up: str) -> Draw:
    """Draws a column against a column of whole numbers, a line per measure."""

    def draw(table: Any, ax: Any) -> Any:
        whole_numbers(ax.xaxis)
        lines = [(name, rows[x], rows[y]) for name, rows in table.groupby("measure", sort=False)]
        return _lines(ax, lines, across, up)

    return draw


def _grid(
    ax: Any, values: Any, rows: Sequence[str], columns: Sequence[str], lowest: float, cmap: str, meaning: str
) -> Any:
    """A matrix of numbers up to 1, coloured and written."""
    image = ax.imshow(values, cmap=cmap, vmin=lowest, vmax=1)
    number_cells(ax, image, [[f"{value:.2f}" for value in row] for row in values.tolist()])
    name_ticks(ax.xaxis, columns, rotation=45, ha="right", rotation_mode="anchor")
    name_ticks(ax.yaxis, rows)
    colour_bar(ax, image, meaning)
    return ax


def _matrix(column: str, meaning: str, lowest: float = -1, cmap: str = "RdBu") -> Draw:
    """Draws a table of pairs of measures as a matrix of one of its columns, which reaches up to 1."""

    def draw(table: Any, ax: Any) -> Any:
        names = list(dict.fromkeys([*table["measure_a"], *table["measure_b"]]))
        place = {name: i for i, name in enumerate(names)}
        values = np.eye(len(names))
        pairs = set(zip(table["measure_a"], table["measure_b"], strict=True))
        for a, b, value in table[["measure_a", "measure_b", column]].itertuples(index=False, name=None):
            values[place[a], place[b]] = value
            if (b, a) not in pairs:
                values[place[b], place[a]] = value
        return _grid(ax, values, names, names, lowest, cmap, meaning)

    return draw


# -- studies -----------------------------------------------------------------------------------------


@_draws("How often runs tie, over all queries", "measure")
def _ties(table: Any, ax: Any) -> Any:
    """Share of tied pairs over all queries, a bar per measure."""
    totals = table.groupby("measure", sort=False)[["ties", "pairs"]].sum()
    return _bars_of(ax, totals.index.tolist(), totals["ties"] / totals["pairs"], "share of pairs of runs that tie")


_TIE_AXES = {
    "n": ("documents n", "log"),
    "depth": ("documents retrieved", "log"),
    "m": ("relevant documents m", "linear"),
}


@_draws("How likely two random rankings tie")
def _tie_probabilities(table: Any, ax: Any) -> Any:
    """Tie probability against the number that varies: n, the depth, or else m."""
    x = next((name for name in ("depth", "n") if table[name].nunique() > 1), "m")
    if x == "depth" and (table["depth"] == table["n"]).all():
        x = "n"
    rest = [name for name in ("n", "m", "depth") if name != x and not (x == "n" and name == "depth")]
    lines = []
    for (measure, *others), rows in table.groupby(["measure", *rest], sort=False):
        varied = [f"{name}={value:g}" for name, value in zip(rest, others, strict=True) if table[name].nunique() > 1]
        lines.append((", ".join([measure, *varied]), rows[x], rows["probability"]))
    meaning, scale = _TIE_AXES[x]
    if scale == "linear":
        whole_numbers(ax.xaxis)
    else:
        ax.set_xscale(scale)
    ax.set_yscale("linear" if x == "depth" else "log")
    return _lines(ax, lines, meaning, "probability of a tie")


@_draws("What the last relevant document is worth (recall, solid), and the first one (precision, dashed)")
def _orientation(table: Any, ax: Any) -> Any:
    """Precision orientation (dashed) and recall orientation (solid) against m."""
    several = table["n"].nunique() > 1
    lines = [
        (f"{measure}, n={n}" if several else measure, rows["m"], rows["recall"], rows["precision"])
        for (measure, n), rows in table.groupby(["measure", "n"], sort=False)
    ]
    whole_numbers(ax.xaxis)
    return _pairs_of_lines(ax, lines, "relevant documents m", "orientation")


@_draws("What the worst-off user gets, on average over the queries", "", "run")
def _worst_case(table: Any, ax: Any) -> Any:
    """Mean over queries of what the worst-off user gets, a group of bars per run."""
    best_known = table["user"].fillna(table["closed_form"])
    means = table.assign(value=best_known).groupby(["run", "measure"], sort=False)["value"].mean().unstack()
    width = 0.5 / max(1, means.shape[1])
    for number, measure in enumerate(means.columns):
        places = np.arange(len(means)) + (number - (means.shape[1] - 1) / 2) * width
        ax.bar(places, means[measure], width, label=legend_label(measure), color=line_style(number, 2)["color"])
    name_ticks(ax.xaxis, means.index.tolist(), rotation=90)
    return _lines(ax, [], "run", "mean value of the worst-off user")


@_draws("What the worst-off provider gets, on average over the queries", "run")
def _provider_exposure(table: Any, ax: Any) -> Any:
    """Mean over queries of the least exposure of a provider, a bar per run."""
    least = table.groupby(["run", "query_id"], sort=False)["exposure"].min().groupby("run", sort=False).mean()
    return _bars_of(ax, least.index.tolist(), least, "mean exposure of the worst-off provider")


@_draws("The row's ranking is better (>), worse (<), equal (=) or not comparable (?)", "ranking_a", "ranking_a")
def _partial_order(table: Any, ax: Any) -> Any:
    """A matrix: whether the row's ranking is better, equal, worse or not comparable with the column's."""
    names = list(dict.fromkeys([*table["ranking_a"], *table["ranking_b"]]))
    matrix = np.zeros((len(names), len(names)))
    symbols = {">": (1, ">"), "<": (-1, "<"), "=": (0, "="), "not comparable": (np.nan, "?")}
    mirrored = {">": "<", "<": ">"}
    for a, b, order in table[["ranking_a", "ranking_b", "order"]].itertuples(index=False):
        i, j = names.index(a), names.index(b)
        for x, y, way in ((i, j, order), (j, i, mirrored.get(order, order))):
            matrix[x, y], symbol = symbols[way]
            ax.text(y, x, symbol, ha="center", va="center")
    ax.imshow(matrix, cmap="RdBu", vmin=-2, vmax=2)
    name_ticks(ax.xaxis, names, rotation=45, ha="right", rotation_mode="anchor")
    name_ticks(ax.yaxis, names)
    return ax


@_draws("What measures guarantee: + holds, − fails, n/a does not apply", "property", "measure")
def _axioms(table: Any, ax: Any) -> Any:
    """Measures in columns, properties in rows: what holds is blue, what fails red, the rest grey."""
    matrix = table.assign(colour=table["result"].map(_RESULTS)).pivot(
        index="property", columns="measure", values="colour"
    )
    matrix = matrix.loc[table["property"].drop_duplicates(), table["measure"].drop_duplicates()]
    image = ax.imshow(matrix.to_numpy(), cmap="coolwarm_r", vmin=-1.6, vmax=1.6, aspect="auto")
    signs = {1.0: "+", -1.0: "−", 0.0: "n/a"}
    number_cells(ax, image, [[signs[result] for result in row] for row in matrix.to_numpy().tolist()])
    name_ticks(ax.xaxis, list(matrix.columns), rotation=45, ha="right", rotation_mode="anchor")
    name_ticks(ax.yaxis, list(matrix.index))
    return ax


@_draws("Properties by source")
def _properties(table: Any, ax: Any) -> Any:
    """Number of properties of each source."""
    counts = table["source"].value_counts(sort=False)
    return _bars_of(ax, counts.index.tolist(), counts, "properties")


@_draws("The value that correlates best is marked")
def _fit(table: Any, ax: Any) -> Any:
    """The correlation at every value tried, the best one marked."""
    ax.plot(table["value"], table["correlation"], ".-", color=FIRST)
    best = table[table["best"]]
    ax.plot(best["value"], best["correlation"], "o", color=SECOND)
    ax.set_xlabel(f"{table.attrs['parameter']} of {label(table.attrs['measure'])}")
    ax.set_ylabel(f"{table.attrs['coefficient']} with {label(table.attrs['target'])}")
    return ax


@_draws("The sooner a curve falls, the more pairs of runs the measure tells apart")
def _achieved_significance(table: Any, ax: Any) -> Any:
    """Achieved significance levels, largest first: the sooner a curve falls, the more the measure tells apart."""
    lines = [
        (f"{name} ({rows['significant'].mean():.1%})", rows["place"], rows["p"])
        for name, rows in table.groupby("measure", sort=False)
    ]
    ax.axhline(table.attrs["alpha"], color=GREY, linewidth=0.8, linestyle=":")
    whole_numbers(ax.xaxis)
    return _lines(ax, lines, "pairs of runs, by p-value", f"achieved significance level ({table.attrs['test']})")


@_draws("What incomplete judgments change: agreement (solid), ties (dashed)")
def _degrade(table: Any, ax: Any) -> Any:
    """Agreement (solid) and ties (dashed) by the fraction of labels removed, on average over the samples."""
    lines = []
    for name, rows in table.groupby("measure", sort=False):
        mean = rows.groupby("fraction")[["agreement", "ties"]].mean()
        lines.append((name, mean.index, mean["agreement"], mean["ties"]))
    removed = f"fraction of relevant labels removed ({table.attrs['policy']})"
    return _pairs_of_lines(ax, lines, removed, "share of decisions")


@_draws("Recall by rank, over all queries")
def _simulate_rankings(table: Any, ax: Any) -> Any:
    """Relevant documents found by rank, on average over the queries."""
    m = table.attrs["m"]
    relevant = sum(m) if isinstance(m, list) else table.attrs["queries"] * m
    ranks = {name: np.sort(rows["rank"].to_numpy()) for name, rows in table.groupby("run", observed=False)}
    lines = [(name, rank, np.arange(1, len(rank) + 1) / relevant) for name, rank in ranks.items()]
    ax.set_xscale("log")
    return _lines(ax, lines, "rank", "recall", drawstyle="steps-post")


@_draws("The best value that any ranking of these documents has")
def _reachable_maximum(table: Any, ax: Any) -> Any:
    """The largest value reached on every query, in rising order, a line per measure."""
    groups = table.groupby("measure", sort=False)
    lines = [(name, np.arange(1, len(rows) + 1), np.sort(rows["value"].to_numpy())) for name, rows in groups]
    return _lines(ax, lines, "queries, by what can be reached", "largest value of any ranking")


@_draws("How well one half of the queries predicts the other", "measure", "target")
def _split_half(table: Any, ax: Any) -> Any:
    """Kendall's tau of the measure (row) on one half with the target (column) on the other."""
    names, targets = (list(dict.fromkeys(table[column])) for column in ("measure", "target"))
    values = table.pivot(index="measure", columns="target", values="kendall").loc[names, targets].to_numpy()
    ax.set_xlabel("order on the other half by")
    ax.set_ylabel("predicted by")
    return _grid(ax, values, names, targets, float(np.nanmin(values, initial=0.0)), "Blues", "mean Kendall's tau")


_CONCLUSIONS = {
    "both": "significant by both",
    "only_a": "by the first judge only",
    "only_b": "by the second judge only",
    "opposite": "in opposite directions",
    "neither": "by neither",
}


@_draws("What two judges conclude about pairs of runs")
def _judges(table: Any, ax: Any) -> Any:
    """Pairs of runs by what two judges conclude, a bar per measure and threshold."""
    names = [f"{measure}, grade ≥ {rel:g}" for measure, rel in zip(table["measure"], table["rel"], strict=True)]
    left = np.zeros(len(table))
    colours = (FIRST, line_style(1, 5)["color"], line_style(2, 5)["color"], "#b3261e", "#d0d7de")
    for (column, meaning), colour in zip(_CONCLUSIONS.items(), colours, strict=True):
        ax.barh(range(len(table)), table[column], left=left, label=meaning, color=colour)
        left += table[column].to_numpy()
    name_ticks(ax.yaxis, names)
    ax.invert_yaxis()
    ax.set_xlabel("pairs of runs")
    show_legend(ax)
    return ax


_of_pairs = _matrix("agreement", "agreement of the row with the column", lowest=0, cmap="Blues")
_kendall = _matrix("kendall", "Kendall's tau")
_shares = _bars("share", "share of pairs of runs with a significant difference")
_balance = _curves("n", "B", "length of the ranking n", "balancing index B(n)")
_labels = _curves("rank", "mean", "rank in the best run", "mean sum of labels")
_DRAWN |= {
    "agreement": Drawing(
        _of_pairs, "Of the pairs that the row decides, how many the column decides alike", "measure_a", "measure_a"
    ),
    "balancing_index": Drawing(
        _balance, "How many documents of the lowest relevant grade outweigh one of the top grade"
    ),
    "best_run_labels": Drawing(_labels, "What the best run by each measure shows at each rank"),
    "check": _DRAWN["axioms"],
    "correlation": Drawing(_kendall, "How alike measures order the runs: Kendall's tau", "measure_a", "measure_a"),
    "discriminative_power": Drawing(_shares, "How many pairs of runs each measure tells apart", "measure"),
    "left_out": Drawing(missing_labels.left_out, "What a group of runs loses that the pool left out", "measure"),
    "per_query_kendall": Drawing(
        _kendall, "How alike measures order the runs of a query: mean Kendall's tau", "measure_a", "measure_a"
    ),
    "stability": Drawing(
        missing_labels.stability, "Which decisions survive missing labels, by which labels are missing"
    ),
    "unanimity": Drawing(
        _bars("unanimity", "unanimity"), "Agreement with what all other measures say together, in bits", "measure"
    ),
}
