"""Pictures of collections, and of recall over how much of one is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_lexirecall.data.collection import Collection
from ir_lexirecall.plots.axes import FIRST, GREY, bare, finish, legend_label, line_style, new_axes, show_legend

_MOST_BARS = 30


def relevant_documents(collection: Collection, *, ax: Any = None) -> Any:
    """How many queries have how many relevant documents: a bar for each number, or for a range of numbers."""
    ax = new_axes(ax, (5.0, 2.5))
    numbers = collection.relevant_by_query.to_numpy(np.int64)
    most = int(numbers.max(initial=1))
    width = -(-(most + 1) // _MOST_BARS)
    ax.hist(numbers, bins=np.arange(0, most + 1 + width, width) - 0.5, rwidth=0.9, color=FIRST)
    ax.set_xlabel("relevant documents")
    ax.set_ylabel("queries")
    ax.yaxis.get_major_locator().set_params(integer=True)
    bare(ax)
    return finish(
        ax,
        title=f"Relevant documents of {len(numbers)} queries"
        + (f", median {np.median(numbers):g}" if len(numbers) else ""),
    )


def recall_curves(table: Any, query: str | None = None, ax: Any = None) -> Any:
    """Draw recall over the share of a collection that is read: a line per run, the mean over queries.

    The dotted line is reading at random. A line for one query is a curve of steps; a dot says where everything has been found.
    ``table`` is what ``recall_curves`` of ``ir_lexirecall.evaluation.curves`` gave.
    """
    if query is not None:
        table = table[table["query_id"] == query]
        if not len(table):
            raise ValueError(f"recall_curves: the table has no query {query!r}")
    ax = new_axes(ax, (6.5, 4.2))
    queries = table["query_id"].unique()
    runs = list(dict.fromkeys(table["run"]))
    for place, run in enumerate(runs):
        parts = [part for _, part in table[table["run"] == run].groupby("query_id", sort=False)]
        style = line_style(place, len(runs))
        mark = {"color": style["color"], "marker": style["marker"], "s": 40, "zorder": 3, "edgecolor": "white"}
        style = {key: value for key, value in style.items() if not key.startswith("mark")}
        share, recall = _mean_curve(parts)
        ax.step(share, recall, where="post", label=legend_label(run), **style)
        last = float(share[np.argmax(recall >= 1 - 1e-12)])
        ax.scatter([last], [1.0], clip_on=False, **mark)
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.0)
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="share of the collection read", ylabel="recall")
    show_legend(ax)
    bare(ax)
    title = f"Recall on {queries[0]}" if len(queries) == 1 else f"Mean recall on {len(queries)} queries"
    return finish(ax, title=title, caption="dots: everything found; dotted: reading at random")


def _mean_curve(parts: list[Any]) -> tuple[Any, Any]:
    """The mean of step functions, at every share where one of them rises."""
    share = np.unique(np.concatenate([part["share"].to_numpy() for part in parts]))
    curves = [
        part["recall"].to_numpy()[np.searchsorted(part["share"].to_numpy(), share, side="right") - 1] for part in parts
    ]
    return share, np.mean(curves, axis=0)
