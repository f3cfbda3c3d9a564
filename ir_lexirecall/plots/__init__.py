"""Pictures: tables of results drawn on matplotlib axes."""

from ir_lexirecall.plots.axes import labels, new_axes
from ir_lexirecall.plots.benchmarks import critical_differences, forest, joined_ranks, rank_intervals
from ir_lexirecall.plots.collections import relevant_documents
from ir_lexirecall.plots.comparison import heatmap, pair
from ir_lexirecall.plots.inline import inline
from ir_lexirecall.plots.studies import plot

__all__ = [
    "critical_differences",
    "forest",
    "heatmap",
    "inline",
    "joined_ranks",
    "labels",
    "new_axes",
    "pair",
    "plot",
    "rank_intervals",
    "relevant_documents",
]
