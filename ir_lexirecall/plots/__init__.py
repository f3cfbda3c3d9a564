"""Pictures: tables of results drawn on matplotlib axes.

Functions draw by a criterion ``by`` (by default the first one) on the axes ``ax`` (by default new ones), which they return.
"""

from ir_lexirecall.plots.benchmarks import critical_differences, forest, rank_intervals
from ir_lexirecall.plots.collections import recall_curves, relevant_documents
from ir_lexirecall.plots.forests import differences, groups, means, rank_profile
from ir_lexirecall.plots.notebooks import benchmark_notebook, collection_notebook, notebook
from ir_lexirecall.plots.pairs import heatmap, pair
from ir_lexirecall.plots.studies import plot

__all__ = [
    "benchmark_notebook",
    "collection_notebook",
    "critical_differences",
    "differences",
    "forest",
    "groups",
    "heatmap",
    "means",
    "notebook",
    "pair",
    "plot",
    "rank_intervals",
    "rank_profile",
    "recall_curves",
    "relevant_documents",
]
