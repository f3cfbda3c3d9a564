"""Measuring measures: axioms, orientation, ties, sensitivity, stability and relations of any measure.

Every function takes measures (objects, or strings as in ``ir_measures``) and gives a tidy DataFrame that says in ``attrs``
what was run; ``plot`` draws it, ``summary`` says what stands out.

>>> from ir_lexirecall import meta
>>> table = meta.tie_probabilities(n=1000, m=10)
>>> table.attrs["function"], table["measure"].tolist()
('tie_probabilities', ['LexiRecall', 'TSE', 'RR', 'R@1000', 'Rprec'])
"""

from ir_lexirecall.meta.agreements import agreement, per_query_kendall
from ir_lexirecall.meta.aspect_labels import best_run_labels, reachable_maximum
from ir_lexirecall.meta.balancing import balancing_index
from ir_lexirecall.meta.checking import axioms, check, properties
from ir_lexirecall.meta.correlations import correlation
from ir_lexirecall.meta.degradation import degrade
from ir_lexirecall.meta.fitting import fit
from ir_lexirecall.meta.metric_unanimity import unanimity
from ir_lexirecall.meta.missing import left_out, stability
from ir_lexirecall.meta.orientations import orientation
from ir_lexirecall.meta.partial_orders import partial_order
from ir_lexirecall.meta.providers import provider_exposure
from ir_lexirecall.meta.sensitivity import achieved_significance, discriminative_power
from ir_lexirecall.meta.simulation import SimulatedRankings, simulate_rankings
from ir_lexirecall.meta.split_halves import split_half
from ir_lexirecall.meta.summarising import summary
from ir_lexirecall.meta.tie_rates import tie_probabilities, ties
from ir_lexirecall.meta.two_judges import judges
from ir_lexirecall.meta.worst_cases import worst_case
from ir_lexirecall.plots.studies import plot

__all__ = [
    "SimulatedRankings",
    "achieved_significance",
    "agreement",
    "axioms",
    "balancing_index",
    "best_run_labels",
    "check",
    "correlation",
    "degrade",
    "discriminative_power",
    "fit",
    "judges",
    "left_out",
    "orientation",
    "partial_order",
    "per_query_kendall",
    "plot",
    "properties",
    "provider_exposure",
    "reachable_maximum",
    "simulate_rankings",
    "split_half",
    "stability",
    "summary",
    "tie_probabilities",
    "ties",
    "unanimity",
    "worst_case",
]
