"""Pictures of what missing labels do: decisions that stay, and groups that a pool left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_lexirecall.plots.axes import label, legend_label, line_style, show_legend


def stability(table: Any, ax: Any) -> Any:
    """Decisions that stay by the fraction of labels removed, a line style per policy."""
    single = table[table["minus"] == ""]
    styles = dict(zip(dict.fromkeys(single["policy"]), ("-", "--", ":"), strict=False))
    groups = single.groupby("measure", sort=False)
    for i, (name, rows) in enumerate(groups):
        for policy, some in rows.groupby("policy", sort=False):
            style = line_style(i, groups.ngroups, len(some)) | {"linestyle": styles[policy]}
            ax.plot(some["fraction"], some["decided"], label=legend_label(f"{name}, {policy}"), **style)
    ax.set_xlabel("fraction of relevant labels removed")
    ax.set_ylabel("share of decided pairs that stay")
    show_legend(ax)
    return ax


def left_out(table: Any, ax: Any) -> Any:
    """The bias of each measure with its interval, left out and with as many labels missing at random."""
    single = table[table["minus"] == ""]
    names = list(dict.fromkeys(single["measure"]))
    policies = dict.fromkeys(single["policy"])
    for i, policy in enumerate(policies):
        rows = single[single["policy"] == policy].set_index("measure").loc[names]
        y = np.arange(len(names)) + 0.25 * (i - (len(policies) - 1) / 2)
        ax.hlines(y, rows["ci_low"], rows["ci_high"], color=f"C{i}")
        ax.plot(rows["bias"], y, "o", color=f"C{i}", label=policy)
    ax.axvline(0, color="0.6", linewidth=0.8)
    ax.set_yticks(range(len(names)), list(map(label, names)))
    ax.invert_yaxis()
    ax.set_xlabel("change of the group's mean preference")
    show_legend(ax)
    return ax
