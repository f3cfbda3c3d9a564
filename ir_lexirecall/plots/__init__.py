"""Pictures: tables of results drawn on matplotlib axes.

Functions draw by a criterion ``by`` (by default the first one) on the axes ``ax`` (by default new ones), which they return.
"""

from ir_lexirecall.plots.across_collections import critical_differences as critical_differences
from ir_lexirecall.plots.across_collections import forest as forest
from ir_lexirecall.plots.across_collections import rank_intervals as rank_intervals
from ir_lexirecall.plots.across_collections import recall_curves as recall_curves
from ir_lexirecall.plots.compared_runs import differences as differences
from ir_lexirecall.plots.compared_runs import groups as groups
from ir_lexirecall.plots.compared_runs import heatmap as heatmap
from ir_lexirecall.plots.compared_runs import means as means
from ir_lexirecall.plots.compared_runs import notebook as notebook
from ir_lexirecall.plots.compared_runs import pair as pair
