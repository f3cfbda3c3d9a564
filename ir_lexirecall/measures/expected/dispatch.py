"""Which function computes the expected value of which measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.measures import (
    composed,
    cwl,
    diversity,
    novelty,
    rbu,
    recall,
    toolkits,
    total_recall,
    trec_eval_10,
)
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.expected import (
    best_precision,
    binary,
    covering,
    graded,
    lexirecall,
    ranks_of_relevant,
    ratios,
    stopping,
    subtopics,
)
from ir_lexirecall.measures.expected.orders import mean_over_orders
from ir_lexirecall.measures.other_programs import is_of_ndeval
from ir_lexirecall.measures.scoring import is_standard, values, with_threshold

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun

Expected: TypeAlias = Callable[[Any, "AlignedRun"], Floats]

_STANDARD: dict[str, Expected] = {
    "P": binary.precision,
    "R": binary.recall,
    "Success": binary.success,
    "Rprec": binary.r_precision,
    "AP": binary.average_precision,
    "RR": binary.reciprocal_rank,
    "nDCG": graded.ndcg,
    "Bpref": binary.bpref,
    "infAP": binary.inferred_ap,
    "IPrec": best_precision.interpolated_precision,
    "Judged": binary.judged,
    "ERR": graded.err,
    "RBP": graded.rbp,
    "SDCG": graded.sdcg,
    "INSQ": graded.insq,
    "BPM": stopping.bpm,
    **dict.fromkeys(("NERR8", "NERR9", "NERR10", "NERR11"), ratios.nerr),
    **dict.fromkeys(
        ("SetP", "SetR", "SetAP", "SetF", "NumRet", "NumRel", "NumQ"), values
    ),
}
"""Measures of ir_measures by name; those of sets do not depend on the order."""

_OF_LIBRARY: dict[type[Measure], Expected] = {
    recall.TSE: ranks_of_relevant.total_search_efficiency,
    recall.LexiRecall: lexirecall.lexirecall,
    recall.SL3: ranks_of_relevant.search_length,
    recall.RE: ranks_of_relevant.recall_error,
    cwl.CWL_ERR8: ratios.cwl_err,
    cwl.CWL_ERR9: ratios.cwl_err,
    cwl.CWL_ERR10: ratios.cwl_err,
    cwl.CWL_ERR11: ratios.cwl_err,
    cwl.CWL_RBP: graded.cwl_rbp,
    cwl.GERR: graded.gerr,
    diversity.D_nDCG: subtopics.d_ndcg,
    diversity.DSharp: subtopics.d_sharp,
    diversity.EU: subtopics.expected_utility,
    diversity.CT: subtopics.cube_test,
    diversity.SRR: covering.coverage_of,
    toolkits.DCG: graded.dcg,
    toolkits.F1: binary.of_count,
    toolkits.R_cap: binary.of_count,
    novelty.ACT: subtopics.cube_test,
    novelty.nDCU: subtopics.expected_utility,
    novelty.alpha_DCG_IA: subtopics.novelty,
    novelty.alpha_nDCG_G: subtopics.novelty,
    novelty.NRBP_G: subtopics.novelty,
    novelty.P_at_Recall: covering.coverage_of,
    rbu.RBU: subtopics.rank_biased_utility,
    total_recall.WSS: ranks_of_relevant.work_saved,
    total_recall.ATD: ranks_of_relevant.time_to_discovery,
    total_recall.RecallLoss: ranks_of_relevant.recall_loss,
    total_recall.LastRel: ranks_of_relevant.last_relevant,
    total_recall.ERF: ranks_of_relevant.extra_relevant_found,
    trec_eval_10.IPrec_TE: best_precision.interpolated_precision_10,
    trec_eval_10.ElevenPt: best_precision.eleven_points,
    trec_eval_10.RBP_TE: graded.rbp_of_trec_eval,
    trec_eval_10.RelP: binary.of_count,
    trec_eval_10.Rndcg: graded.of_mean_gains,
    trec_eval_10.nDCG_JK: graded.of_mean_gains,
    trec_eval_10.Unjudged: binary.unjudged,
}


def expected_values(
    measure: IRMeasure, run: AlignedRun, threshold: float | None = None
) -> Floats:
    """Return the mean of a measure over all orders of tied documents, shape `(Q,)`.

    It is NaN where neither a formula nor few orders make it exact: for INST, MM, WHAM, a measure of
    another provider or of a user, and a query with more than 4,096 orders (120 for providers).

    >>> import ir_measures
    >>> from ir_lexirecall.data.alignment import align
    >>> from ir_lexirecall.data.judgments import Judgments
    >>> judgments = Judgments.from_qrels({"q": {"a": 1, "b": 0}})
    >>> expected_values(ir_measures.RR, align(judgments, {"q": {"a": 1.0, "b": 1.0}}))
    array([0.75])

    Args:
        measure: any measure.
        run: an aligned run.
        threshold: the measure's `rel` unless it names one itself.
    """
    if run.ties is None:
        return values(measure, run, threshold)
    measure = with_threshold(measure, threshold)
    by_formula = _by_formula(measure, run)
    if by_formula is not None and not np.isnan(by_formula).any():
        return by_formula
    by_orders = mean_over_orders(measure, run, threshold)
    if by_formula is None:
        return by_orders
    return np.where(np.isnan(by_formula), by_orders, by_formula)


def _by_formula(measure: IRMeasure, run: AlignedRun) -> Floats | None:
    """Return the expected values by the measure's formula; None if it has none."""
    if isinstance(measure, Measure):
        return _of_library(measure, run.condensed() if measure["judged_only"] else run)
    if is_of_ndeval(measure):
        return subtopics.of_ndeval(measure, run)
    if is_standard(measure) and measure.NAME in _STANDARD:
        return _STANDARD[measure.NAME](measure, run)
    return None


def _of_library(measure: Measure, run: AlignedRun) -> Floats | None:
    """Return the expected values of a measure of this library; None if it has no formula."""
    if isinstance(measure, diversity.IA):
        return _intent_aware(measure, run)
    if isinstance(measure, composed.TOMA):
        return expected_values(*measure.as_base(run))
    if isinstance(measure, composed.CAM):
        return measure.mean_of(*measure.base_scores(run, expected_values))
    formula = _OF_LIBRARY.get(type(measure))
    if formula is None:
        return None
    return formula(measure, run)


def _intent_aware(measure: diversity.IA, run: AlignedRun) -> Floats:
    """Return the expected IA: the weighted mean of the expected values of its base."""
    base = measure.base_measure()
    value = np.zeros(len(run.judgments))
    for ranking, query, weight in measure.by_subtopic(run):
        value[query] += weight * expected_values(base, ranking, 1)[query]
    return value
