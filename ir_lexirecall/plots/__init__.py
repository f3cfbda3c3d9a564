"""Pictures: tables of results drawn on matplotlib axes."""

from ir_lexirecall.plots.axes import new_axes
from ir_lexirecall.plots.comparison import heatmap, pair
from ir_lexirecall.plots.studies import plot

__all__ = ["heatmap", "new_axes", "pair", "plot"]
