"""Pictures of rankings of runs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ir_lexirecall.plots.axes import finish, name_ticks, new_axes
from ir_lexirecall.text import printable

_LEVEL, _OTHERS = "tab:blue", "grey"


def means(
    ranking: Any,
    quantity: str,
    level: Collection[str] = (),
    *,
    confidence: float = 0.95,
    caption: str = "",
    ax: Any = None,
) -> Any:
    """Means of runs with their intervals, best first; filled: the leader and the runs that cannot be told from it.

    Args:
        ranking: ``run``, ``mean``, ``ci_low``, ``ci_high``, best first.
        quantity: what the means are of.
        level: names of the runs that the test does not tell from the leader.
        confidence: of the intervals.
        caption: what stands below in small print.
        ax: matplotlib axes; new ones by default.
    """
    ax = new_axes(ax, means_size(len(ranking)))
    runs = list(map(str, ranking["run"]))
    for place, (run, mean, low, high) in enumerate(
        zip(runs, *(ranking[column] for column in ("mean", "ci_low", "ci_high")), strict=True)
    ):
        leads = place == 0 or run in level
        colour = _LEVEL if leads else _OTHERS
        if np.isfinite([low, high]).all():
            ax.plot([low, high], [place, place], color=colour, linewidth=1.6, solid_capstyle="butt")
        ax.plot([mean], [place], "o", color=colour, markerfacecolor=colour if leads else "white", markersize=6)
    name_ticks(ax.yaxis, runs)
    ax.set_ylim(len(runs) - 0.5, -0.5)
    ax.grid(axis="x", color="lightgrey", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel(f"{printable(quantity)}, {100 * confidence:g} % intervals")
    if len(runs) > 1:
        ax.set_title("filled: the leader, and runs that cannot be told from it", fontsize="small", loc="left")
    return finish(ax, caption)


def means_size(runs: int) -> tuple[float, float]:
    """The size of the picture of so many runs, in inches."""
    return 6.5, 1.3 + 0.3 * runs
