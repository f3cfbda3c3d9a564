"""Pictures of studies: one drawing function per study, found by the name in ``table.attrs["function"]``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ir_lexirecall.plots.axes import (
    FIRST,
    GREY,
    SECOND,
    SMALL,
    bare,
    colour_bar,
    finish,
    label,
    legend_label,
    line_style,
    name_ticks,
    new_axes,
    show_legend,
    whole_numbers,
)

_MEASURES = ("measure", "measure_a", "measure_b", "target")  # columns of their names
_RESULTS = {"holds": 1.0, "fails": -1.0, "not applicable": 0.0}


def plot(table: Any, ax: Any = None) -> Any:
    """Draw a study.

    Args:
        table: what a function of ``ir_lexirecall.meta`` gave, or some of its rows; ``attrs["function"]`` names that function.
        ax: matplotlib axes; new ones by default.

    Returns:
        The axes.

    Raises:
        ValueError: the table is not a study.
    """
    function = getattr(table, "attrs", {}).get("function")
    if function not in _DRAWN:
        raise ValueError(f"plot: expected the table of a study (attrs['function'] names it), got {function!r}")
    ax = _DRAWN[function](table, new_axes(ax, (_width(function, table), _height(function, table))))
    if not ax.images:
        bare(ax)
    measures = {name for column in _MEASURES if column in table for name in table[column]}
    return finish(ax, title=_TITLES.get(function, ""), measures=sorted(map(str, measures)))


def _height(function: str, table: Any) -> float:
    """Inches: room for a row of each property, measure or run."""
    columns = _ROWS.get(function, ())
    names = max((table[column].nunique() for column in columns), default=0)
    return float(np.clip(0.3 * names + 2.2, 4.0, 24.0))


def _width(function: str, table: Any) -> float:
    """Inches: room for a column of each measure."""
    columns = _COLUMNS.get(function, ())
    names = max((table[column].nunique() for column in columns), default=0)
    return float(np.clip(0.5 * names + 3.5, 7.0, 24.0))


def _bars(column: str, meaning: str | None = None) -> Callable[[Any, Any], Any]:
    """Draws a column as a bar per measure, the largest on top."""

    def draw(table: Any, ax: Any) -> Any:
        order = table.sort_values(column, ascending=True)
        _bars_of(ax, order["measure"].tolist(), order[column].to_numpy())
        ax.set_xlabel(meaning or column.replace("_", " "))
        return ax

    return draw


def _bars_of(ax: Any, names: list[str], values: Any) -> None:
    """A horizontal bar for each name, the first one at the bottom."""
    ax.barh(range(len(names)), values, color=FIRST)
    name_ticks(ax.yaxis, names)


def _matrix(
    column: str, *, lowest: float = -1, cmap: str = "RdBu", meaning: str | None = None
) -> Callable[[Any, Any], Any]:
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
        image = ax.imshow(values, cmap=cmap, vmin=lowest, vmax=1)
        for (i, j), value in np.ndenumerate(values):
            colour = "white" if abs(value) > 0.6 else "black"
            ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=SMALL, color=colour)
        name_ticks(ax.xaxis, names, rotation=45, ha="right", rotation_mode="anchor")
        name_ticks(ax.yaxis, names)
        colour_bar(ax, image, meaning or column.replace("_", " "))
        return ax

    return draw


def _ties(table: Any, ax: Any) -> Any:
    """Share of tied pairs over all queries, a bar per measure."""
    totals = table.groupby("measure", sort=False)[["ties", "pairs"]].sum()
    _bars_of(ax, totals.index.tolist(), (totals["ties"] / totals["pairs"]).to_numpy())
    ax.invert_yaxis()
    ax.set_xlabel("share of pairs of runs that tie")
    return ax


_TIE_AXES = {
    "n": ("documents n", "log"),
    "depth": ("documents retrieved", "log"),
    "m": ("relevant documents m", "linear"),
}


def _tie_probabilities(table: Any, ax: Any) -> Any:
    """Tie probability against the number that varies: n, the depth, or else m."""
    x = next((name for name in ("depth", "n") if table[name].nunique() > 1), "m")
    if x == "depth" and (table["depth"] == table["n"]).all():
        x = "n"
    rest = [name for name in ("n", "m", "depth") if name != x and not (x == "n" and name == "depth")]
    groups = table.groupby(["measure", *rest], sort=False)
    for place, ((measure, *others), rows) in enumerate(groups):
        varied = [f"{name}={value:g}" for name, value in zip(rest, others, strict=True) if table[name].nunique() > 1]
        style = line_style(place, groups.ngroups, len(rows))
        ax.plot(rows[x], rows["probability"], label=legend_label(", ".join([measure, *varied])), **style)
    meaning, scale = _TIE_AXES[x]
    if scale == "linear":
        whole_numbers(ax.xaxis)
    else:
        ax.set_xscale(scale)
    ax.set_yscale("linear" if x == "depth" else "log")
    ax.set_xlabel(meaning)
    ax.set_ylabel("probability of a tie")
    show_legend(ax)
    return ax


def _orientation(table: Any, ax: Any) -> Any:
    """Precision orientation (dashed) and recall orientation (solid) against m."""
    several = table["n"].nunique() > 1
    groups = table.groupby(["measure", "n"], sort=False)
    for number, ((measure, n), rows) in enumerate(groups):
        name = legend_label(f"{measure}, n={n}" if several else measure)
        style = line_style(number, groups.ngroups, len(rows))
        ax.plot(rows["m"], rows["recall"], label=name, **style | {"linestyle": "-"})
        ax.plot(rows["m"], rows["precision"], **style | {"linestyle": "--"})
    whole_numbers(ax.xaxis)
    ax.set_xlabel("relevant documents m")
    ax.set_ylabel("orientation")
    show_legend(ax)
    return ax


def _worst_case(table: Any, ax: Any) -> Any:
    """Mean over queries of what the worst-off user gets, a group of bars per run."""
    best_known = table["user"].fillna(table["closed_form"])
    means = table.assign(value=best_known).groupby(["run", "measure"], sort=False)["value"].mean().unstack()
    width = 0.5 / max(1, means.shape[1])
    for number, measure in enumerate(means.columns):
        places = np.arange(len(means)) + (number - (means.shape[1] - 1) / 2) * width
        ax.bar(places, means[measure], width, label=legend_label(measure), color=line_style(number, 2)["color"])
    name_ticks(ax.xaxis, means.index.tolist(), rotation=90)
    ax.set_xlabel("run")
    show_legend(ax)
    ax.set_ylabel("mean value of the worst-off user")
    return ax


def _provider_exposure(table: Any, ax: Any) -> Any:
    """Mean over queries of the least exposure of a provider, a bar per run."""
    least = table.groupby(["run", "query_id"], sort=False)["exposure"].min().groupby("run", sort=False).mean()
    _bars_of(ax, least.index.tolist(), least.to_numpy())
    ax.invert_yaxis()
    ax.set_xlabel("mean exposure of the worst-off provider")
    return ax


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


def _balancing_index(table: Any, ax: Any) -> Any:
    """B(n) against n, a line per measure."""
    groups = table.groupby("measure", sort=False)
    for place, (measure, rows) in enumerate(groups):
        ax.plot(rows["n"], rows["B"], label=legend_label(measure), **line_style(place, groups.ngroups, len(rows)))
    whole_numbers(ax.xaxis)
    whole_numbers(ax.yaxis)
    ax.set_xlabel("length of the ranking n")
    ax.set_ylabel("balancing index B(n)")
    show_legend(ax)
    return ax


def _axioms(table: Any, ax: Any) -> Any:
    """Measures in columns, properties in rows: what holds is blue, what fails red, the rest grey."""
    matrix = table.assign(colour=table["result"].map(_RESULTS)).pivot(
        index="property", columns="measure", values="colour"
    )
    matrix = matrix.loc[table["property"].drop_duplicates(), table["measure"].drop_duplicates()]
    ax.imshow(matrix.to_numpy(), cmap="coolwarm_r", vmin=-1.6, vmax=1.6, aspect="auto")
    name_ticks(ax.xaxis, list(matrix.columns), rotation=45, ha="right", rotation_mode="anchor")
    name_ticks(ax.yaxis, list(matrix.index))
    for (i, j), result in np.ndenumerate(matrix.to_numpy()):
        ax.text(j, i, {1.0: "+", -1.0: "−", 0.0: "n/a"}[result], ha="center", va="center", fontsize=SMALL)
    return ax


def _properties(table: Any, ax: Any) -> Any:
    """Number of properties of each source."""
    counts = table["source"].value_counts(sort=False)
    _bars_of(ax, counts.index.tolist(), counts.to_numpy())
    ax.invert_yaxis()
    ax.set_xlabel("properties")
    return ax


def _fit(table: Any, ax: Any) -> Any:
    """The correlation at every value tried, the best one marked."""
    ax.plot(table["value"], table["correlation"], ".-", color=FIRST)
    best = table[table["best"]]
    ax.plot(best["value"], best["correlation"], "o", color=SECOND)
    ax.set_xlabel(f"{table.attrs['parameter']} of {label(table.attrs['measure'])}")
    ax.set_ylabel(f"{table.attrs['coefficient']} with {label(table.attrs['target'])}")
    return ax


def _achieved_significance(table: Any, ax: Any) -> Any:
    """Achieved significance levels, largest first: the sooner a curve falls, the more the measure tells apart."""
    groups = table.groupby("measure", sort=False)
    for place, (name, rows) in enumerate(groups):
        ax.plot(
            rows["place"],
            rows["p"],
            label=legend_label(f"{name} ({rows['significant'].mean():.1%})"),
            **line_style(place, groups.ngroups, len(rows)),
        )
    ax.axhline(table.attrs["alpha"], color=GREY, linewidth=0.8, linestyle=":")
    whole_numbers(ax.xaxis)
    ax.set_xlabel("pairs of runs, by p-value")
    ax.set_ylabel(f"achieved significance level ({table.attrs['test']})")
    show_legend(ax)
    return ax


def _degrade(table: Any, ax: Any) -> Any:
    """Agreement (solid) and ties (dashed) by the fraction of labels removed, on average over the samples."""
    groups = table.groupby("measure", sort=False)
    for i, (name, rows) in enumerate(groups):
        mean = rows.groupby("fraction")[["agreement", "ties"]].mean()
        style = line_style(i, groups.ngroups, len(mean))
        ax.plot(mean.index, mean["agreement"], label=legend_label(name), **style | {"linestyle": "-"})
        ax.plot(mean.index, mean["ties"], **style | {"linestyle": "--"})
    ax.set_xlabel(f"fraction of relevant labels removed ({table.attrs['policy']})")
    ax.set_ylabel("share of decisions")
    show_legend(ax)
    return ax


def _simulate_rankings(table: Any, ax: Any) -> Any:
    """Relevant documents found by rank, on average over the queries."""
    m = table.attrs["m"]
    relevant = sum(m) if isinstance(m, list) else table.attrs["queries"] * m
    groups = table.groupby("run", observed=False)
    for place, (name, rows) in enumerate(groups):
        rank = np.sort(rows["rank"].to_numpy())
        style = line_style(place, groups.ngroups, len(rank))
        ax.step(rank, np.arange(1, len(rank) + 1) / relevant, where="post", label=legend_label(name), **style)
    ax.set_xscale("log")
    ax.set_xlabel("rank")
    ax.set_ylabel("recall")
    show_legend(ax)
    return ax


def _best_run_labels(table: Any, ax: Any) -> Any:
    """Mean sum of labels by rank, a line per measure."""
    groups = table.groupby("measure", sort=False)
    for place, (measure, rows) in enumerate(groups):
        ax.plot(rows["rank"], rows["mean"], label=legend_label(measure), **line_style(place, groups.ngroups, len(rows)))
    whole_numbers(ax.xaxis)
    ax.set_xlabel("rank in the best run")
    ax.set_ylabel("mean sum of labels")
    show_legend(ax)
    return ax


def _reachable_maximum(table: Any, ax: Any) -> Any:
    """The largest value reached on every query, in rising order, a line per measure."""
    groups = table.groupby("measure", sort=False)
    for place, (measure, rows) in enumerate(groups):
        values = np.sort(rows["value"].to_numpy())
        style = line_style(place, groups.ngroups, len(rows))
        ax.plot(np.arange(1, len(rows) + 1), values, label=legend_label(measure), **style)
    ax.set_xlabel("queries, by what can be reached")
    ax.set_ylabel("largest value of any ranking")
    show_legend(ax)
    return ax


def _split_half(table: Any, ax: Any) -> Any:
    """Kendall's tau of the measure (row) on one half with the target (column) on the other."""
    names, targets = (list(dict.fromkeys(table[column])) for column in ("measure", "target"))
    values = table.pivot(index="measure", columns="target", values="kendall").loc[names, targets].to_numpy()
    image = ax.imshow(values, cmap="Blues", vmin=float(np.nanmin(values, initial=0.0)), vmax=1)
    for (i, j), value in np.ndenumerate(values):
        colour = "white" if value > 0.6 else "black"
        ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=SMALL, color=colour)
    name_ticks(ax.xaxis, targets, rotation=45, ha="right", rotation_mode="anchor")
    name_ticks(ax.yaxis, names)
    ax.set_xlabel("order on the other half by")
    ax.set_ylabel("predicted by")
    colour_bar(ax, image, "mean Kendall's tau")
    return ax


_DRAWN: dict[str, Callable[[Any, Any], Any]] = {
    "achieved_significance": _achieved_significance,
    "agreement": _matrix("agreement", lowest=0, cmap="Blues", meaning="agreement of the row with the column"),
    "axioms": _axioms,
    "balancing_index": _balancing_index,
    "best_run_labels": _best_run_labels,
    "check": _axioms,
    "correlation": _matrix("kendall", meaning="Kendall's tau"),
    "degrade": _degrade,
    "discriminative_power": _bars("share", "share of pairs of runs with a significant difference"),
    "fit": _fit,
    "orientation": _orientation,
    "partial_order": _partial_order,
    "per_query_kendall": _matrix("kendall", meaning="Kendall's tau"),
    "properties": _properties,
    "provider_exposure": _provider_exposure,
    "reachable_maximum": _reachable_maximum,
    "simulate_rankings": _simulate_rankings,
    "split_half": _split_half,
    "tie_probabilities": _tie_probabilities,
    "ties": _ties,
    "unanimity": _bars("unanimity"),
    "worst_case": _worst_case,
}

_ROWS = {
    **dict.fromkeys(("agreement", "correlation", "per_query_kendall"), ("measure_a",)),
    **dict.fromkeys(("discriminative_power", "split_half", "ties", "unanimity"), ("measure",)),
    **dict.fromkeys(("axioms", "check"), ("property",)),
    "provider_exposure": ("run",),
    "partial_order": ("ranking_a",),
}
"""What the rows of pictures are; _COLUMNS: their columns."""

_COLUMNS = {
    **dict.fromkeys(("agreement", "correlation", "per_query_kendall"), ("measure_a",)),
    **dict.fromkeys(("axioms", "check"), ("measure",)),
    "split_half": ("target",),
    "partial_order": ("ranking_a",),
    "worst_case": ("run",),
}

_TITLES = {
    "achieved_significance": "The sooner a curve falls, the more pairs of runs the measure tells apart",
    "agreement": "Of the pairs that the row decides, how many the column decides alike",
    "axioms": "What measures guarantee: + holds, − fails, n/a does not apply",
    "balancing_index": "How many documents of the lowest relevant grade outweigh one of the top grade",
    "best_run_labels": "What the best run by each measure shows at each rank",
    "check": "What measures guarantee: + holds, − fails, n/a does not apply",
    "correlation": "How alike measures order the runs: Kendall's tau",
    "degrade": "What incomplete judgments change: agreement (solid), ties (dashed)",
    "discriminative_power": "How many pairs of runs each measure tells apart",
    "fit": "The value that correlates best is marked",
    "orientation": "What the last relevant document is worth (recall, solid), and the first one (precision, dashed)",
    "partial_order": "The row's ranking is better (>), worse (<), equal (=) or not comparable (?)",
    "per_query_kendall": "How alike measures order the runs of a query: mean Kendall's tau",
    "properties": "Properties by source",
    "provider_exposure": "What the worst-off provider gets, on average over the queries",
    "reachable_maximum": "The best value that any ranking of these documents has",
    "simulate_rankings": "Recall by rank, over all queries",
    "split_half": "How well one half of the queries predicts the other",
    "tie_probabilities": "How likely two random rankings tie",
    "ties": "How often runs tie, over all queries",
    "unanimity": "Agreement with what all other measures say together, in bits",
    "worst_case": "What the worst-off user gets, on average over the queries",
}
"""What the picture of each study shows, in a line."""
