"""trec_eval's measures from one aligned run, to the last bit.

Doubles are added and divided in trec_eval's order (``per_query_sum`` adds row by row), and logarithms are the C library's,
which NumPy's own differ from in the last bit at some ranks. What several measures need is computed once: the relevant
documents and the precision at each of them, gains over discounts, the ideal ranking.

Conventions of trec_eval that its documentation does not mention:

- ``judged_only`` takes out documents with a negative grade, too.
- A query that the run lacks scores 0 with every measure, NumRel and NumQ included.
- IPrec rounds the recall to two digits; it is undefined (NaN) where ``judged_only`` leaves nothing of a ranking and no
  relevant document is needed to reach the recall.
- infAP takes documents with a negative grade as pooled but not judged.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure

from ir_lexirecall._util.arrays import Floats, per_query_sum, position_in_segment, ratio
from ir_lexirecall.measures import rankings
from ir_lexirecall.measures.rankings import Gains, GradedRanking, Hits, Score

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun


BY_TREC_EVAL: dict[str, Score] = {}
"""The functions of this module by the measure that they compute."""

_computes = partial(rankings.computes, BY_TREC_EVAL)
_INFAP_EPSILON = 0.00001
_PROGRAM_GAINS = 10**7  # pytrec_eval makes a table of as many as the largest grade


def is_read_by_program(measure: Measure, name: str, value: Any) -> bool:
    """Whether ir_measures has pytrec_eval compute a measure with this parameter, and hands it on as it was meant."""
    if (measure.NAME, name) == ("RR", "cutoff"):
        return False
    if (measure.NAME, name) == ("NumRel", "rel"):
        return bool(value == 1)
    if name in ("cutoff", "rel"):
        return type(value) is int and 1 <= value < 2**31
    if name == "dcg":
        return bool(value == "log2")
    if name == "gains":
        return all(isinstance(gain, int) and abs(gain) < _PROGRAM_GAINS for gain in value.values())
    if name == "beta":
        return str(value).replace(".", "").isdigit()
    if name == "recall":
        return 0 <= value <= 1
    return True


@_computes("P", "R", "Success")
def _at_k(measure: Measure, run: AlignedRun) -> Floats:
    """Relevant documents among the first k: over k, over m, or whether there are any."""
    hits, k = rankings.hits_of(measure, run), rankings.cutoff_of(measure)
    found = hits.up_to(k)
    if measure.NAME == "Success":
        return (found > 0).astype(np.float64)
    return found / float(k) if measure.NAME == "P" else ratio(found, hits.m)


@_computes("Rprec")
def _rprec(measure: Measure, run: AlignedRun) -> Floats:
    """Relevant documents among the first m, over m."""
    hits = rankings.hits_of(measure, run)
    return ratio(np.bincount(hits.query[hits.rank <= hits.m[hits.query]], minlength=len(hits.m)), hits.m)


@_computes("AP")
def _ap(measure: Measure, run: AlignedRun) -> Floats:
    """AP = (1 / m) sum of i / p_i over the retrieved relevant documents, down to rank k."""
    hits = rankings.hits_of(measure, run)
    terms = rankings.down_to(rankings.cutoff_of(measure), hits.rank, hits.precision)
    return ratio(per_query_sum(hits.query, terms, len(hits.m)), hits.m)


@_computes("RR")
def _rr(measure: Measure, run: AlignedRun) -> Floats:
    """RR = 1 / p_1, and 0 where p_1 is below rank k."""
    hits = rankings.hits_of(measure, run)
    value = np.zeros(len(hits.m))
    first = np.flatnonzero(hits.i == 1)
    value[hits.query[first]] = rankings.down_to(rankings.cutoff_of(measure), hits.rank[first], hits.precision[first])
    return value


@_computes("nDCG")
def _ndcg(measure: Measure, run: AlignedRun) -> Floats:
    """DCG over that of the ideal ranking, both down to rank k; the gain is g (``'log2'``) or 2^g - 1 (``'exp-log2'``)."""
    gains, dcg, k = rankings.optional(measure, "gains"), measure["dcg"], rankings.cutoff_of(measure)
    judgments = run.judgments

    def ideal() -> Gains:
        """All judged documents with a gain, best first."""
        judged_grade = rankings.grades_with(judgments, gains)
        row = np.flatnonzero(judged_grade > 0)
        query, grade = judgments.query[row], judged_grade[row]
        grade = grade[np.lexsort((-grade, query))]  # the queries are in order already
        rank = position_in_segment(query) + 1
        gain = rankings.discountable_gain(dcg, grade, query, judgments, judged_grade)
        return Gains(query, rank, gain / rankings.log2_of_next(rank))

    key = ("ideal", rankings.gains_key(gains), dcg)
    best = judgments.cached((key, k), lambda: judgments.cached(key, ideal).dcg(k, len(judgments)))
    return ratio(GradedRanking.from_run(run, measure["judged_only"], gains).gains(dcg).dcg(k, len(judgments)), best)


@_computes("Bpref")
def _bpref(measure: Measure, run: AlignedRun) -> Floats:
    """(1 / m) sum over the relevant retrieved of 1 - min(n, m) / min(N, m): n of all N non-relevant judged stand before."""
    ranking, rel, judgments = GradedRanking.from_run(run), measure["rel"], run.judgments
    hits = ranking.hits(rel)
    before = hits.row - ranking.first_row[hits.query] - (hits.i - 1) - _negative_before(ranking, hits, rel)
    not_relevant = judgments.cached(
        ("not relevant", rel),
        lambda: np.bincount(
            judgments.query[(judgments.grade >= 0) & (judgments.grade < rel)], minlength=len(judgments)
        ),
    )
    m = hits.m[hits.query]
    lost = ratio(np.minimum(before, m), np.minimum(not_relevant[hits.query], m))
    return ratio(per_query_sum(hits.query, 1 - lost, len(hits.m)), hits.m)


@_computes("infAP")
def _infap(measure: Measure, run: AlignedRun) -> Floats:
    """AP with the precision at rank j + 1 expected from those of the j documents before that are judged (Yilmaz, Aslam)."""
    ranking, rel = GradedRanking.from_run(run), measure["rel"]
    hits = ranking.hits(rel)
    pooled = hits.row - ranking.first_row[hits.query]
    relevant = hits.i - 1
    judged = pooled - _negative_before(ranking, hits, rel)
    j = hits.rank - 1.0
    shares = (relevant + _INFAP_EPSILON) / (judged + 2 * _INFAP_EPSILON)
    with np.errstate(invalid="ignore"):
        expected = 1 / (j + 1) + (j / (j + 1)) * (pooled / j) * shares
    expected[j == 0] = 1.0
    return ratio(per_query_sum(hits.query, expected, len(hits.m)), hits.m)


def _negative_before(ranking: GradedRanking, hits: Hits, rel: float) -> Any:
    """How many documents with a negative grade, not relevant, stand before each relevant one."""
    negative = ranking.grade < min(rel, 0)
    if not negative.any():
        return 0
    before = np.r_[0, np.cumsum(negative)]
    return before[hits.row] - before[ranking.first_row[hits.query]]


@_computes("IPrec")
def _iprec(measure: Measure, run: AlignedRun) -> Floats:
    """The best precision at any rank at or below that of relevant document c, where the recall is reached."""
    recall = float(f"{rankings.number(measure, 'recall'):.2f}")
    ranking = rankings.ranking_of(measure, run)
    hits = ranking.hits(measure["rel"])
    c = np.floor(recall * hits.m + 0.9)
    value = rankings.best_precision(hits.query, hits.i, hits.precision, c)
    value[rankings.scored_queries(run) & (ranking.depth == 0) & (c == 0)] = math.nan
    return value


@_computes("SetP", "SetR", "SetAP", "SetF")
def _of_sets(measure: Measure, run: AlignedRun) -> Floats:
    """Of all retrieved: precision P (``relative``: over the most that could be relevant), recall R, P R, (beta + 1) P R / (beta P + R)."""
    ranking = GradedRanking.from_run(run, bool(rankings.optional(measure, "judged_only")))
    hits = ranking.hits(measure["rel"])
    r, depth, m = hits.r.astype(np.float64), ranking.depth, hits.m
    if measure.NAME == "SetP":
        return ratio(r, np.minimum(depth, m) if measure["relative"] else depth)
    if measure.NAME == "SetR":
        return ratio(r, m)
    if measure.NAME == "SetAP":
        return ratio(r * r, depth * m.astype(np.float64))
    beta, precision, recall = rankings.number(measure, "beta"), ratio(r, depth), ratio(r, m)
    return ratio((beta + 1) * precision * recall, beta * precision + recall)


@_computes("NumRet", "NumRel", "NumQ")
def _counts(measure: Measure, run: AlignedRun) -> Floats:
    """Documents retrieved (with ``rel`` the relevant ones), relevant ones, and 1: of the queries that the run has."""
    rel, scored = rankings.optional(measure, "rel"), rankings.scored_queries(run)
    if measure.NAME == "NumRel":
        return np.where(scored, run.judgments.m(rel), 0.0)
    if measure.NAME == "NumRet" and rel is not None:
        return GradedRanking.from_run(run).hits(rel).r.astype(np.float64)
    return (run.depth * scored if measure.NAME == "NumRet" else scored).astype(np.float64)
