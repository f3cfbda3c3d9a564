"""Which of ir_measures' standard measures are computed here: trec_eval's to the last bit, other programs' to rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ir_measures
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.measures.declaration import Utility
from ir_lexirecall.measures.other_programs import BY_OTHERS
from ir_lexirecall.measures.rankings import Score
from ir_lexirecall.measures.trec_eval import BY_TREC_EVAL, is_read_by_program

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


def serves(measure: Measure) -> bool:
    """Whether a measure of ir_measures, with its parameters, is computed here.

    >>> from ir_measures import AP, RBP, Compat, P
    >>> [serves(measure) for measure in (AP(rel=2) @ 100, RBP(rel=1), P @ 10, P, Compat(p=0.8))]
    [True, True, True, False, False]
    """
    supported = measure.SUPPORTED_PARAMS
    return (
        type(measure) in _SCORES
        and measure.params.keys() <= supported.keys()
        and all(name in measure.params for name, param in supported.items() if param.required)
    )


def score(measure: Measure, run: AlignedRun) -> Floats | Utility:
    """Values of a measure that is served, for all queries, shape ``(Q,)``; with cost and utility where cwl_eval has them."""
    return _SCORES[type(measure)](measure, run)


def identical(measure: Measure) -> bool:
    """Whether ``values`` gives, bit for bit, what ir_measures' default pipeline gives for this measure.

    True for what pytrec_eval provides. Other providers break ties in other ways, and pytrec_eval reads only plain
    decimal parameters.

    >>> from ir_measures import AP, RBP, RR, nDCG
    >>> [identical(measure) for measure in (AP, nDCG @ 10, RR, RR @ 10, RBP(rel=1), AP(rel=0))]
    [True, True, True, False, False, False]
    """
    return (
        serves(measure)
        and measure.NAME in BY_TREC_EVAL
        and all(is_read_by_program(measure, name, value) for name, value in measure.params.items())
    )


_SCORES: dict[type[Measure], Score] = {
    type(getattr(ir_measures, name)): function for name, function in {**BY_TREC_EVAL, **BY_OTHERS}.items()
}
