"""trec_eval's measures from one aligned run, to the last bit.

Doubles are added and divided in trec_eval's order (``per_query_sum`` adds row by row), and
logarithms are the C library's, which NumPy's own differ from in the last bit at some ranks. What
several measures need is computed once: the relevant documents and the precision at each of them,
gains over discounts, the ideal ranking.

Conventions of trec_eval that its documentation does not mention:

- ``judged_only`` takes out documents with a negative grade, too.
- A query that the run lacks scores 0 with every measure, NumRel and NumQ included.
- IPrec rounds the recall to two digits; it is undefined (NaN) where ``judged_only`` leaves nothing
  of a ranking and no relevant document is needed to reach the recall.
- infAP takes documents with a negative grade as pooled but not judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure
from ir_measures.providers.base import NOT_PROVIDED

from ir_lexirecall._util.arrays import (
    Bools,
    Floats,
    Ints,
    per_query_sum,
    position_in_segment,
    ratio,
)
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.measures.declaration import Utility

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun, Relevant
    from ir_lexirecall.data.judgments import Judgments

_TABLE_DEPTH = 2**20  # ranks whose logarithms are kept
UNLIMITED = 2**62  # the cutoff where there is none
Score = Callable[[Measure, "AlignedRun"], "Floats | Utility"]
BY_TREC_EVAL: dict[str, Score] = {}
"""The functions of this module by the measure that they compute."""

INFAP_EPSILON = 0.00001
_PROGRAM_GAINS = 10**7  # pytrec_eval makes a table of as many as the largest grade


def computes(table: dict[str, Score], *names: str) -> Callable[[Score], Score]:
    """Register the decorated function in ``table`` as what computes the measures of these names."""

    def register(score: Score) -> Score:
        table.update(dict.fromkeys(names, score))
        return score

    return register


def optional(measure: Measure, name: str) -> Any:
    """Return a parameter's value or default; None if there is neither."""
    value = None
    if name in measure.SUPPORTED_PARAMS:
        value = measure[name]
    if value is NOT_PROVIDED:
        return None
    return value


def cutoff_of(measure: Measure) -> int:
    """Return the cutoff; `UNLIMITED` if there is none."""
    k = optional(measure, "cutoff")
    if k is not None and not k >= 1:
        raise ValueError(f"{measure}: the cutoff must be at least 1")
    if k is None:
        return UNLIMITED
    return min(k, UNLIMITED)


def number(
    measure: Measure, name: str, low: float = 0, high: float = math.inf
) -> float:
    """Return a parameter that is a finite number between `low` and `high`."""
    value = measure[name]
    if not (low <= value <= high and value < math.inf):
        if high == math.inf:
            expected = f"a number of at least {low:g}"
        else:
            expected = f"a number between {low:g} and {high:g}"
        raise ValueError(f"{measure}: {name} must be {expected}, not {value!r}")
    return float(value)


def ranking_of(measure: Measure, run: AlignedRun) -> AlignedRun:
    """Return the ranking, with `judged_only` without documents that trec_eval takes as unjudged.

    Documents of a negative grade are among them.
    """
    if not optional(measure, "judged_only"):
        return run

    def judged() -> AlignedRun:
        # Grades that are all negative count as 0, where trec_eval would crash.
        nothing_judged = run.judgments.m(0) == 0
        return run.keeping(run.is_judged | nothing_judged[run.query])

    return run.cached("judged only", judged)


def relevant_of(measure: Measure, run: AlignedRun) -> Relevant:
    """Return the relevant documents retrieved, by the measure's parameters."""
    k = cutoff_of(measure)
    return ranking_of(measure, run).relevant(
        measure["rel"], None if k == UNLIMITED else k
    )


def best_precision(relevant: Relevant, c: Ints | Floats) -> Floats:
    """Return the largest precision from the c-th relevant document on; 0 if there are fewer."""
    value, keep = np.zeros(len(c)), relevant.level >= c[relevant.query]
    np.maximum.at(value, relevant.query[keep], (relevant.level / relevant.rank)[keep])
    return value


@dataclass(frozen=True, eq=False)
class Gains:
    """Ranked documents with a gain above 0: their queries, ranks and gains."""

    query: Ints
    rank: Ints
    gain: Floats

    @cached_property
    def _discounted(self) -> Floats:
        return self.gain / log2_of_next(self.rank)

    def dcg(self, k: int | Ints, queries: int) -> Floats:
        """Sum of gain / log2(rank + 1) for each query, down to rank ``k``, or to its own."""
        deepest = k if isinstance(k, int) else k[self.query]
        return per_query_sum(
            self.query, np.where(self.rank <= deepest, self._discounted, 0.0), queries
        )


def gains(run: AlignedRun, dcg: str) -> Gains:
    """Return the documents with a gain: their grade (`'log2'`) or 2^grade - 1 (`'exp-log2'`)."""

    def ranked() -> Gains:
        row = np.flatnonzero(run.grade > 0)
        return Gains(
            run.query[row],
            run.rank[row],
            _gain(dcg, run.grade[row], run.query[row], run.judgments),
        )

    return run.cached(("gains", dcg), ranked)


def ideal_gains(judgments: Judgments, dcg: str) -> Gains:
    """Return all judged documents with a gain, best first."""

    def ideal() -> Gains:
        row = np.flatnonzero(judgments.grade > 0)
        query, grade = judgments.query[row], judgments.grade[row]
        grade = grade[np.lexsort((-grade, query))]  # the queries are in order already
        return Gains(
            query, position_in_segment(query) + 1, _gain(dcg, grade, query, judgments)
        )

    return judgments.cached(("ideal", dcg), ideal)


def _gain(dcg: str, grade: Floats, query: Ints, judgments: Judgments) -> Floats:
    """Return gains of grades above 0, divided by a power of 2 if they could be too large."""
    if dcg == "log2":
        return grade
    if judgments.highest_grade < 512:
        return np.exp2(grade) - 1
    top = np.zeros(len(judgments))
    np.maximum.at(top, judgments.query, np.floor(judgments.grade))
    return np.exp2(grade - top[query]) - np.exp2(-top[query])


def log2_of_next(rank: Ints) -> Floats:
    """Return log2(rank + 1) as the C library computes it, not NumPy."""
    top = int(rank.max()) if len(rank) else 0
    if top < _TABLE_DEPTH:
        return _log2_table(max(top.bit_length(), 10))[rank]
    return np.fromiter(map(math.log2, (rank + 1).tolist()), np.float64, len(rank))


@lru_cache
def _log2_table(bits: int) -> Floats:
    """log2(i + 1) for i = 0, ..., 2^bits - 1."""
    return np.fromiter(map(math.log2, range(1, 2**bits + 1)), np.float64, 2**bits)


_READ_BY_PROGRAM: dict[str, Callable[[Any], bool]] = {
    "RR.cutoff": lambda value: False,
    "NumRel.rel": lambda value: bool(value == 1),
    **dict.fromkeys(
        ("cutoff", "rel"), lambda value: type(value) is int and 1 <= value < 2**31
    ),
    "dcg": lambda value: bool(value == "log2"),
    "gains": lambda value: all(
        isinstance(gain, int) and abs(gain) < _PROGRAM_GAINS for gain in value.values()
    ),
    "beta": lambda value: str(value).replace(".", "").isdigit(),
    "recall": lambda value: bool(0 <= value <= 1),
}
"""Values of parameters that pytrec_eval takes as they were meant."""


def is_read_by_program(measure: Measure, name: str, value: Any) -> bool:
    """Return whether pytrec_eval gets this parameter as it was meant."""
    is_read = _READ_BY_PROGRAM.get(f"{measure.NAME}.{name}", _READ_BY_PROGRAM.get(name))
    return is_read is None or is_read(value)


@computes(BY_TREC_EVAL, "P", "R", "Success")
def _at_k(measure: Measure, run: AlignedRun) -> Floats:
    """Relevant documents among the first k: over k, over m, or whether there are any."""
    relevant = relevant_of(measure, run)
    if measure.NAME == "Success":
        return (relevant.r > 0).astype(np.float64)
    if measure.NAME == "P":
        return relevant.r / float(cutoff_of(measure))
    return ratio(relevant.r, relevant.m)


@computes(BY_TREC_EVAL, "Rprec")
def _rprec(measure: Measure, run: AlignedRun) -> Floats:
    """Relevant documents among the first m, over m."""
    relevant = relevant_of(measure, run)
    return ratio(
        np.bincount(
            relevant.query[relevant.rank <= relevant.m[relevant.query]],
            minlength=len(relevant.m),
        ),
        relevant.m,
    )


@computes(BY_TREC_EVAL, "AP")
def _ap(measure: Measure, run: AlignedRun) -> Floats:
    """AP = (1 / m) sum of i / p_i over the retrieved relevant documents, down to rank k."""
    relevant = relevant_of(measure, run)
    return ratio(
        per_query_sum(relevant.query, relevant.level / relevant.rank, len(relevant.m)),
        relevant.m,
    )


@computes(BY_TREC_EVAL, "RR")
def _rr(measure: Measure, run: AlignedRun) -> Floats:
    """RR = 1 / p_1, and 0 where p_1 is below rank k."""
    relevant = relevant_of(measure, run)
    value, first = np.zeros(len(relevant.m)), relevant.level == 1
    value[relevant.query[first]] = 1 / relevant.rank[first]
    return value


@computes(BY_TREC_EVAL, "nDCG")
def _ndcg(measure: Measure, run: AlignedRun) -> Floats:
    """Compute nDCG@k; the gain is g (`'log2'`) or 2^g - 1 (`'exp-log2'`)."""
    graded = with_named_gains(measure, run)
    return ndcg_of_gains(
        measure, graded, gains(ranking_of(measure, graded), measure["dcg"])
    )


def with_named_gains(measure: Measure, run: AlignedRun) -> AlignedRun:
    """Return the ranking with the gains that a measure names instead of these grades."""
    named = optional(measure, "gains")
    if not named:
        return run

    def mapped() -> Judgments:
        judgments = run.judgments
        grade = judgments.grade.copy()
        for one, gain in named.items():
            grade[judgments.grade == one] = gain
        return judgments.with_grades(grade)

    judgments = run.judgments.cached(("gains", frozenset(named.items())), mapped)
    return replace(run, judgments=judgments)


def ndcg_of_gains(measure: Measure, run: AlignedRun, actual: Gains) -> Floats:
    """Return nDCG@k of the gains that stand at the ranks of a run."""
    dcg, k, judgments = measure["dcg"], cutoff_of(measure), run.judgments
    best = judgments.cached(
        ("ideal", dcg, k), lambda: ideal_gains(judgments, dcg).dcg(k, len(judgments))
    )
    return ratio(actual.dcg(k, len(judgments)), best)


@computes(BY_TREC_EVAL, "Bpref")
def _bpref(measure: Measure, run: AlignedRun) -> Floats:
    """Compute bpref: (1/m) sum of 1 - min(n, m) / min(N, m), n of N non-relevant ones before."""
    rel = measure["rel"]
    relevant = run.relevant(rel)
    before = _judged_down_to(run, rel) - relevant.level
    not_relevant = np.maximum(run.judgments.m(0) - relevant.m, 0)
    m = relevant.m[relevant.query]
    lost = ratio(np.minimum(before, m), np.minimum(not_relevant[relevant.query], m))
    return ratio(per_query_sum(relevant.query, 1 - lost, len(relevant.m)), relevant.m)


@computes(BY_TREC_EVAL, "infAP")
def _infap(measure: Measure, run: AlignedRun) -> Floats:
    """Compute infAP, with precision expected from the judged documents above (Yilmaz, Aslam)."""
    rel = measure["rel"]
    relevant = run.relevant(rel)
    pooled = np.flatnonzero(run.grade >= rel) - np.searchsorted(
        run.query, relevant.query
    )
    judged = _judged_down_to(run, rel) - 1
    j = relevant.rank - 1.0
    shares = (relevant.level - 1 + INFAP_EPSILON) / (judged + 2 * INFAP_EPSILON)
    with np.errstate(invalid="ignore"):
        expected = 1 / (j + 1) + (j / (j + 1)) * (pooled / j) * shares
    expected[j == 0] = 1.0
    return ratio(per_query_sum(relevant.query, expected, len(relevant.m)), relevant.m)


def _judged_down_to(run: AlignedRun, rel: float) -> Ints:
    """Count the documents down to each relevant one that are judged, or relevant by `rel`."""
    total = np.r_[0, np.cumsum(run.is_judged | (run.grade >= rel))]
    row = np.flatnonzero(run.grade >= rel)
    return total[row + 1] - total[np.searchsorted(run.query, run.query[row])]


@computes(BY_TREC_EVAL, "IPrec")
def _iprec(measure: Measure, run: AlignedRun) -> Floats:
    """Compute the best precision at or below the rank where the recall is reached."""
    ranking = ranking_of(measure, run)
    relevant = ranking.relevant(measure["rel"])
    c = recall_point_9(measure, relevant.m)
    value = best_precision(relevant, c)
    value[_scored_queries(run) & (ranking.depth == 0) & (c == 0)] = math.nan
    return value


def recall_point_9(measure: Measure, m: Ints) -> Floats:
    """Return which relevant document reaches the recall of IPrec, with m relevant ones."""
    recall = float(f"{number(measure, 'recall'):.2f}")
    return np.floor(recall * m + 0.9)


@computes(BY_TREC_EVAL, "SetP", "SetR", "SetAP", "SetF")
def _of_sets(measure: Measure, run: AlignedRun) -> Floats:
    """Compute SetP, SetR, SetAP and SetF, of all documents retrieved."""
    ranking = ranking_of(measure, run)
    relevant, depth = ranking.relevant(measure["rel"]), ranking.depth
    r, m = relevant.r.astype(np.float64), relevant.m
    if measure.NAME == "SetP":
        return ratio(r, np.minimum(depth, m) if measure["relative"] else depth)
    if measure.NAME == "SetR":
        return ratio(r, m)
    if measure.NAME == "SetAP":
        return ratio(r * r, depth * m.astype(np.float64))
    beta, precision, recall = number(measure, "beta"), ratio(r, depth), ratio(r, m)
    return ratio((beta + 1) * precision * recall, beta * precision + recall)


@computes(BY_TREC_EVAL, "NumRet", "NumRel", "NumQ")
def _counts(measure: Measure, run: AlignedRun) -> Floats:
    """Count retrieved or relevant documents, or queries, of the queries that the run has."""
    rel, scored = optional(measure, "rel"), _scored_queries(run)
    if measure.NAME == "NumRel":
        return np.where(scored, run.judgments.m(rel), 0.0)
    if measure.NAME == "NumRet" and rel is not None:
        return run.relevant(rel).r.astype(np.float64)
    if measure.NAME == "NumRet":
        return (run.depth * scored).astype(np.float64)
    return scored.astype(np.float64)


def _scored_queries(run: AlignedRun) -> Bools:
    """Return the queries that trec_eval scores: those of the run that have judged documents."""
    named = run.depth > 0
    named[run.ranked] = True
    return named & (run.judgments.m(-math.inf) > 0)
