"""Pictures: tables of results drawn on matplotlib axes."""

from ir_lexirecall.plots.axes import new_axes
from ir_lexirecall.plots.comparison import heatmap, pair

__all__ = ["heatmap", "new_axes", "pair"]
