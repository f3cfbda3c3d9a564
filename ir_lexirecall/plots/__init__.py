"""Pictures: tables of results drawn on matplotlib axes."""

from ir_lexirecall.plots.axes import labels, new_axes
from ir_lexirecall.plots.benchmarks import critical_differences, forest, joined_ranks, rank_intervals
from ir_lexirecall.plots.collections import relevant_documents
from ir_lexirecall.plots.comparison import heatmap, pair
from ir_lexirecall.plots.forests import differences, means, means_size, rank_profile
from ir_lexirecall.plots.inline import inline
from ir_lexirecall.plots.studies import plot

__all__ = [
    "critical_differences",
    "differences",
    "forest",
    "heatmap",
    "inline",
    "joined_ranks",
    "labels",
    "means",
    "means_size",
    "new_axes",
    "pair",
    "plot",
    "rank_intervals",
    "rank_profile",
    "relevant_documents",
]
