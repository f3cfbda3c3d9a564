"""Pictures of comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_lexirecall.plots.axes import colour_bar, finish, label, labels, legend_label, name_ticks, new_axes

_MOST_NUMBERED = 60  # runs whose numbers are written into a heatmap
_COLOURS = ("tab:blue", "tab:red")


def heatmap(matrix: Any, pairs: Any, preference: str, *, caption: str = "", ax: Any = None) -> Any:
    """Mean preference of the row's run over the column's; ``*``: significant by the corrected p-value.

    Args:
        matrix: mean preferences, a row and a column per run, in the order in which they are drawn.
        pairs: a row per pair, with ``run_a``, ``run_b`` and ``reject``; ``attrs`` hold ``alpha`` and ``correction``.
        preference: its name.
        caption: what stands below in small print.
        ax: matplotlib axes; new ones by default.
    """
    order = list(matrix.index)
    mean = matrix.to_numpy()
    size = max(4.0, 0.55 * len(order) + 2) + 0.07 * max(map(len, labels(order)), default=0)
    ax = new_axes(ax, (size + 1, size))
    image = ax.imshow(np.where(np.eye(len(order), dtype=bool), np.nan, mean), cmap="RdBu", vmin=-1, vmax=1)
    name_ticks(ax.xaxis, order, rotation=45, ha="right")
    name_ticks(ax.yaxis, order)
    ax.set_xlabel("over this run")
    ax.set_ylabel("preference of this run")
    rejected = pairs[pairs["reject"]]
    significant = set(map(frozenset, zip(rejected["run_a"], rejected["run_b"], strict=True)))
    for i, row in enumerate(order if len(order) <= _MOST_NUMBERED else ()):
        for j, column in enumerate(order):
            if i != j:
                star = "*" if frozenset((row, column)) in significant else ""
                ax.text(
                    j,
                    i,
                    f"{mean[i, j]:.2f}{star}",
                    ha="center",
                    va="center",
                    fontsize="x-small",
                    color="white" if abs(mean[i, j]) > 0.6 else "black",
                )
    colour_bar(ax, image, f"mean preference ({label(preference)})")
    correction = pairs.attrs["correction"]
    how = f"corrected ({correction}) " if correction else ""
    ax.set_title(f"* {how}p ≤ {pairs.attrs['alpha']:g}, {pairs.attrs['test']} test", fontsize="small", loc="left")
    return finish(ax, caption)


def pair(table: Any, a: str, b: str, preference: str, *, caption: str = "", ax: Any = None) -> Any:
    """Where two runs differ, query by query, the first one's wins first.

    For lexicographic preferences: the rank at which each run reaches the recall level that decided (a lost document
    at the bottom); for the others a bar as high as the preference, or the difference of a measure. Ties are dots.

    Args:
        table: what ``Preferences.explain`` gave for the two runs.
        a, b: their names.
        preference: name of the preference.
        caption: what stands below in small print.
        ax: matplotlib axes; new ones by default.
    """
    height = np.nan_to_num(table["preference"].to_numpy())
    what = f"preference ({label(preference)})"
    if "value_a" in table:
        height, what = (table["value_a"] - table["value_b"]).to_numpy(), f"difference of {label(preference)}"
    order = np.argsort(-height, kind="stable")
    height, table = height[order], table.iloc[order]
    ax = new_axes(ax, (min(max(6.0, 0.18 * len(height)), 24.0), 3.5))
    if "rank_a" in table:
        _dumbbells(ax, table, a, b)
    else:
        ax.bar(range(len(height)), height, color=np.where(height > 0, _COLOURS[0], _COLOURS[1]), width=0.8)
        ties = np.flatnonzero(height == 0)
        ax.plot(ties, np.zeros(len(ties)), ".", color="grey")
        ax.axhline(0, color="black", linewidth=0.8)
        ax.set_ylabel(what)
        ax.set_title(f"{label(a)} (blue) against {label(b)} (red)", fontsize="medium")
    few = len(height) <= 60
    name_ticks(ax.xaxis, table["query_id"].tolist() if few else [], rotation=90, fontsize="x-small")
    ax.set_xlabel(f"{len(height)} queries")
    return finish(ax, caption)


def _dumbbells(ax: Any, table: Any, a: str, b: str) -> None:
    ranks = [table[column].to_numpy(dtype=float, na_value=np.nan) for column in ("rank_a", "rank_b")]
    tie = table["winner"].isna().to_numpy()
    deepest = np.nanmax(np.concatenate([*ranks, [1.0]]))
    missing = 2 * deepest
    shown = [np.where(np.isnan(rank), missing, rank) for rank in ranks]
    x = np.arange(len(table))
    ax.vlines(x[~tie], shown[0][~tie], shown[1][~tie], color="lightgrey", linewidth=2, zorder=1)
    for name, rank, colour in zip((a, b), shown, _COLOURS, strict=True):
        ax.scatter(x[~tie], rank[~tie], color=colour, s=14, label=legend_label(name), zorder=2)
    ax.plot(x[tie], np.ones(tie.sum()), ".", color="grey")
    ax.axhline(missing, color="grey", linewidth=0.8, linestyle=":")
    beside = ax.get_yaxis_transform()
    ax.text(1, missing, " not retrieved", va="center", fontsize="x-small", color="grey", transform=beside)
    ax.set_yscale("log")
    ax.set_ylim(1.5 * missing, 0.8)
    ax.set_ylabel("rank at the deciding level")
    ax.legend(fontsize="small", loc="upper right")
