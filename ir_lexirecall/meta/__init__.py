"""Measuring measures: axioms, orientation, ties, sensitivity, stability and relations of any measure.

Every function takes measures (objects, or strings as in ``ir_measures``) and gives a tidy DataFrame, a ``Study``, that
says in ``attrs`` what was run and draws itself with ``plot()``.

>>> from ir_lexirecall import meta
>>> study = meta.tie_probabilities(n=1000, m=10)
>>> study.attrs["function"], study["measure"].tolist()
('tie_probabilities', ['LexiRecall', 'TSE', 'RR', 'R@1000', 'Rprec'])
"""

from ir_lexirecall.meta.balancing import balancing_index, partial_order
from ir_lexirecall.meta.behaviour import (
    agreement,
    orientation,
    provider_exposure,
    tie_probabilities,
    ties,
    worst_case,
)
from ir_lexirecall.meta.checking import axioms, check, properties
from ir_lexirecall.meta.relations import correlation, fit, per_topic_kendall, unanimity
from ir_lexirecall.meta.sensitivity import achieved_significance, discriminative_power
from ir_lexirecall.meta.simulation import simulate_rankings
from ir_lexirecall.meta.stability import degrade
from ir_lexirecall.meta.study import Study

__all__ = [
    "Study",
    "achieved_significance",
    "agreement",
    "axioms",
    "balancing_index",
    "check",
    "correlation",
    "degrade",
    "discriminative_power",
    "fit",
    "orientation",
    "partial_order",
    "per_topic_kendall",
    "properties",
    "provider_exposure",
    "simulate_rankings",
    "tie_probabilities",
    "ties",
    "unanimity",
    "worst_case",
]
