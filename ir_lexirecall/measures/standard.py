"""ir_measures' standard measures from the ranks of the judged documents, as trec_eval and cwl_eval compute them."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure
from ir_measures.providers.base import NOT_PROVIDED

from ir_lexirecall.alignment import AlignedRun, Relevant
from ir_lexirecall.arrays import Floats, Ints, per_query_sum, position_in_segment
from ir_lexirecall.measures import cwl
from ir_lexirecall.measures import gain as gains
from ir_lexirecall.measures.base import Utility


def serves(measure: IRMeasure) -> bool:
    """Whether a measure of ir_measures, with its parameters, is computed here."""
    if measure.NAME in _WITH_UTILITY:
        return True
    return measure.NAME in _SCORES and all(
        name in ("cutoff", "rel", "p") or value == measure.SUPPORTED_PARAMS[name].default
        for name, value in measure.params.items()
    )


def score(measure: IRMeasure, run: AlignedRun) -> Floats | Utility:
    """Values of a measure that is served, for all queries, shape ``(Q,)``."""
    return {**_SCORES, **_WITH_UTILITY}[measure.NAME](measure, run)


def _discount(measure: IRMeasure) -> cwl.Discount:
    """B of ir_measures' NERR8 to NERR11."""
    if measure.NAME == "NERR8":
        return cwl.Uniform()
    if measure.NAME == "NERR9":
        return cwl.Reciprocal()
    return cwl.Geometric(measure["p"]) if measure.NAME == "NERR10" else cwl.InverseSquare(measure["T"])


_PROGRAM_DEPTH = 1000  # cwl_eval pads or cuts every ranking to that


def _nerr(measure: IRMeasure, run: AlignedRun) -> Utility:
    """ir_measures' NERR*: linear gain between min_rel and max_rel over 1,000 ranks, as in cwl_eval."""
    low, high = measure["min_rel"], measure["max_rel"]
    if low >= high:
        raise ValueError(f"{measure}: min_rel={low} must be below max_rel={high}")
    run.judgments.check_top_grade(high, str(measure))
    k = _cutoff(measure) if "cutoff" in measure.SUPPORTED_PARAMS else inf
    r = np.maximum(np.maximum(run.grade, 0) - low, 0) / (high - low)
    discount, queries = _discount(measure), len(run.judgments)

    end = min(k, _PROGRAM_DEPTH)
    items, etu = cwl.cwl(run.query, run.rank, r, queries, discount, end=end, unjudged=np.zeros(queries))
    value, cost = etu / items, items
    if k > _PROGRAM_DEPTH:
        etu, cost = cwl.truncated_by_program(run.query, run.rank, r, discount, etu, items, _PROGRAM_DEPTH)
    return Utility(value=value, expected_total_utility=etu, expected_total_cost=cost, expected_items=items)


def _err(measure: IRMeasure, run: AlignedRun) -> Floats:
    """ir_measures' ERR@k: gdeval's, with top grade 4."""
    run.judgments.check_top_grade(4, str(measure))
    top = run.rank <= _cutoff(measure)
    r = gains.gain(run.grade[top], 4, "exp")
    return cwl.expected_reciprocal_rank(run.query[top], run.rank[top], r, len(run.judgments))


def _given(measure: IRMeasure, name: str) -> Any:
    """A parameter of one of ir_measures' own measures, None where it was not given."""
    value = measure[name]
    return None if value is NOT_PROVIDED else value


def _cutoff(measure: IRMeasure) -> float:
    """The cutoff of one of ir_measures' own measures, infinite where there is none."""
    k = _given(measure, "cutoff")
    if k is not None and k < 1:
        raise ValueError(f"{measure}: the cutoff must be at least 1")
    return inf if k is None else float(k)


def _ndcg(measure: IRMeasure, run: AlignedRun) -> Floats:
    j = run.judgments
    return ndcg(run.query, run.rank, run.grade, j.query, j.grade, len(j), _cutoff(measure))


def _relevant(measure: IRMeasure, run: AlignedRun) -> Relevant:
    k = _cutoff(measure) if "cutoff" in measure.SUPPORTED_PARAMS else inf
    return run.relevant(measure["rel"], None if k == inf else int(k))


def _ap(measure: IRMeasure, run: AlignedRun) -> Floats:
    found = _relevant(measure, run)
    return average_precision(found.query, found.rank, found.m)


def _p(measure: IRMeasure, run: AlignedRun) -> Floats:
    return precision(_relevant(measure, run).query, len(run.judgments), int(_cutoff(measure)))


def _r(measure: IRMeasure, run: AlignedRun) -> Floats:
    found = _relevant(measure, run)
    return recall(found.query, found.m)


def _rprec(measure: IRMeasure, run: AlignedRun) -> Floats:
    found = _relevant(measure, run)
    return r_precision(found.query, found.rank, found.m)


def _rr(measure: IRMeasure, run: AlignedRun) -> Floats:
    found = _relevant(measure, run)
    return reciprocal_rank(found.query, found.rank, len(found.m))


def _rbp(measure: IRMeasure, run: AlignedRun) -> Floats:
    found = _relevant(measure, run)
    return rank_biased_precision(found.query, found.rank, len(found.m), measure["p"])


def dcg(query: Ints, rank: Ints, grade: Floats, queries: int) -> Floats:
    """Sum of grade / log2(rank + 1); a grade below 0 counts as 0."""
    return per_query_sum(query, np.maximum(grade, 0) / np.log2(rank + 1.0), queries)


def ndcg(
    query: Ints, rank: Ints, grade: Floats, judged_query: Ints, judged_grade: Floats, queries: int, k: float
) -> Floats:
    """DCG@k over the DCG@k of the ideal ranking; ``judged_*`` are all judged documents, by query."""
    order = np.lexsort((-judged_grade, judged_query))
    ideal_query, ideal_grade = judged_query[order], judged_grade[order]
    ideal_rank = position_in_segment(ideal_query) + 1
    top = ideal_rank <= k
    ideal = dcg(ideal_query[top], ideal_rank[top], ideal_grade[top], queries)
    top = rank <= k
    actual = dcg(query[top], rank[top], grade[top], queries)
    return np.divide(actual, ideal, out=np.zeros(queries), where=ideal > 0)


def average_precision(query: Ints, rank: Ints, m: Ints) -> Floats:
    """AP = (1 / m) sum of i / p_i over the retrieved relevant documents (``query``, ``rank``: theirs)."""
    total = per_query_sum(query, (position_in_segment(query) + 1) / rank, len(m))
    return np.divide(total, m, out=np.zeros(len(m)), where=m > 0)


def precision(query: Ints, queries: int, k: int) -> Floats:
    """P@k: relevant documents among the first k, over k."""
    return np.bincount(query, minlength=queries) / k


def recall(query: Ints, m: Ints) -> Floats:
    """R@k: relevant documents among the first k, over m."""
    return np.divide(np.bincount(query, minlength=len(m)), m, out=np.zeros(len(m)), where=m > 0)


def r_precision(query: Ints, rank: Ints, m: Ints) -> Floats:
    """Rprec: relevant documents among the first m, over m."""
    return recall(query[rank <= m[query]], m)


def reciprocal_rank(query: Ints, rank: Ints, queries: int) -> Floats:
    """RR = 1 / p_1."""
    value = np.zeros(queries)
    first = position_in_segment(query) == 0
    value[query[first]] = 1 / rank[first]
    return value


def rank_biased_precision(query: Ints, rank: Ints, queries: int, p: float) -> Floats:
    """RBP = (1 - p) sum of p^(i - 1) over the ranks of the retrieved relevant documents."""
    return per_query_sum(query, (1 - p) * p ** (rank - 1.0), queries)


_SCORES: dict[str, Callable[[IRMeasure, AlignedRun], Floats]] = {
    "nDCG": _ndcg,
    "AP": _ap,
    "P": _p,
    "R": _r,
    "Rprec": _rprec,
    "RR": _rr,
    "RBP": _rbp,
}
_WITH_UTILITY: dict[str, Callable[[IRMeasure, AlignedRun], Floats | Utility]] = {
    **dict.fromkeys(("NERR8", "NERR9", "NERR10", "NERR11"), _nerr),
    "ERR": _err,
}
