"""Pictures: tables of results drawn on matplotlib axes.

Functions draw by a criterion ``by`` (by default the first one) on the axes ``ax`` (by default new
ones), which they return. Those that are ``picture_of`` a type of results are kinds of pictures of
these: ``result.plot("heatmap", by)`` is ``heatmap(result, by)``.
"""

from ir_lexirecall.plots.kinds import KINDS, picture
from ir_lexirecall.plots.results import (
    critical_differences,
    differences,
    forest,
    groups,
    heatmap,
    means,
    notebook,
    pair,
    rank_intervals,
    recall_curves,
)

__all__ = [
    "KINDS",
    "critical_differences",
    "differences",
    "forest",
    "groups",
    "heatmap",
    "means",
    "notebook",
    "pair",
    "picture",
    "rank_intervals",
    "recall_curves",
]
