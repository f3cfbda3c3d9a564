"""Pictures: tables of results drawn on matplotlib axes.

Functions draw by a criterion ``by`` (by default the first one) on the axes ``ax`` (by default new
ones), which they return. Those that are ``picture_of`` a type of results are kinds of pictures of
these: ``result.plot("heatmap", by)`` is ``heatmap(result, by)``.
"""

from ir_lexirecall.plots.kinds import KINDS as KINDS
from ir_lexirecall.plots.kinds import picture as picture
from ir_lexirecall.plots.results import critical_differences as critical_differences
from ir_lexirecall.plots.results import differences as differences
from ir_lexirecall.plots.results import forest as forest
from ir_lexirecall.plots.results import groups as groups
from ir_lexirecall.plots.results import heatmap as heatmap
from ir_lexirecall.plots.results import means as means
from ir_lexirecall.plots.results import notebook as notebook
from ir_lexirecall.plots.results import pair as pair
from ir_lexirecall.plots.results import rank_intervals as rank_intervals
from ir_lexirecall.plots.results import recall_curves as recall_curves
