"""ir_measures' standard measures from one aligned run: trec_eval's to the last bit, cwl_eval's and gdeval's to rounding.

Where trec_eval defines a value, doubles are added and divided in its order (``per_query_sum`` adds row by row), and
logarithms are the C library's, which NumPy's own differ from in the last bit at some ranks. What several measures need
is computed once: the relevant documents and the precision at each of them, gains over discounts, the ideal ranking.

Conventions of trec_eval that its documentation does not mention:

- ``judged_only`` takes out documents with a negative grade, too.
- A query that the run lacks scores 0 with every measure, NumRel and NumQ included.
- IPrec rounds the recall to two digits; it is undefined (NaN) where ``judged_only`` leaves nothing of a ranking and no
  relevant document is needed to reach the recall.
- infAP takes documents with a negative grade as pooled but not judged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
from ir_measures.measures.base import Measure
from ir_measures.providers.base import NOT_PROVIDED
from numpy.typing import NDArray

from ir_lexirecall.arrays import (
    Bools,
    Floats,
    Ints,
    per_query_sum,
    position_in_segment,
    running_product,
    running_sum,
    shifted_within_segment,
)
from ir_lexirecall.measures import cwl
from ir_lexirecall.measures.base import Utility
from ir_lexirecall.measures.gain import gain as scaled_gain

if TYPE_CHECKING:
    from ir_lexirecall.alignment import AlignedRun
    from ir_lexirecall.judgments import Judgments

_INFAP_EPSILON = 0.00001
_PROGRAM_DEPTH = 1000  # cwl_eval pads or cuts every ranking to that
_GDEVAL_MAX_REL = 4
_TABLE_DEPTH = 2**20  # ranks whose logarithms are kept
_PROGRAM_GAINS = 10**7  # pytrec_eval makes a table of as many as the largest grade
_UNLIMITED = 2**62  # the cutoff where there is none

_Score = Callable[[Measure, "AlignedRun"], "Floats | Utility"]


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
    """Values of a measure that is served, for all queries, shape ``(Q,)``; with cost and utility where cwl_eval has them.

    Raises:
        ValueError: a parameter out of range, or a grade above the measure's top grade.
    """
    return _SCORES[type(measure)](measure, run)


def values(measure: Measure, run: AlignedRun) -> Floats:
    """Values of a measure that is served, for all queries in the order of ``run.judgments.query_ids``, shape ``(Q,)``.

    >>> from ir_lexirecall import Judgments, align
    >>> run = align(Judgments.from_qrels({"q": {"a": 2, "b": 1}}), {"q": {"x": 3.0, "a": 2.0, "b": 1.0}})
    >>> values(ir_measures.AP, run), values(ir_measures.P @ 2, run)
    (array([0.58333333]), array([0.5]))

    Raises:
        ValueError: a parameter out of range, or a grade above the measure's top grade.
    """
    result = score(measure, run)
    return result.value if isinstance(result, Utility) else result


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
        and measure.NAME in _BY_TREC_EVAL
        and all(_reads(measure, name, value) for name, value in measure.params.items())
    )


# -- parameters --------------------------------------------------------------------------------------


def _optional(measure: Measure, name: str) -> Any:
    """A parameter's value or default, None where there is neither."""
    value = measure[name]
    return None if value is NOT_PROVIDED else value


def _cutoff(measure: Measure) -> int:
    """The cutoff, ``_UNLIMITED`` where there is none."""
    k = _optional(measure, "cutoff")
    if k is not None and not k >= 1:
        raise ValueError(f"{measure}: the cutoff must be at least 1")
    return _UNLIMITED if k is None else min(k, _UNLIMITED)


def _down_to(k: int, rank: Ints, terms: NDArray[Any]) -> Floats:
    """``terms`` down to rank ``k``, 0 below."""
    return terms if k == _UNLIMITED else np.where(rank <= k, terms, 0.0)


def _number(measure: Measure, name: str, low: float = 0, high: float = math.inf) -> float:
    """A parameter that is a finite number between ``low`` and ``high``."""
    value = measure[name]
    if not (low <= value <= high and value < math.inf):
        expected = f"a number of at least {low:g}" if high == math.inf else f"a number between {low:g} and {high:g}"
        raise ValueError(f"{measure}: {name} must be {expected}, not {value!r}")
    return float(value)


def _reads(measure: Measure, name: str, value: Any) -> bool:
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


# -- what several measures share ---------------------------------------------------------------------


def _ratio(part: Any, whole: Any) -> Floats:
    """``part / whole``, and 0 where ``whole`` is 0."""
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)


@dataclass(frozen=True, eq=False)
class _Hits:
    """The retrieved relevant documents.

    Attributes:
        query, rank: of each, ordered by query and rank.
        row: its row in the ranking.
        i: its number among those of its query, from 1.
        precision: i / rank.
        m, r: number of relevant documents, and of retrieved ones, of each query.
    """

    query: Ints
    rank: Ints
    row: Ints
    i: Ints
    precision: Floats
    m: Ints
    r: Ints
    _counts: dict[int, Ints] = field(default_factory=dict)

    def up_to(self, k: int) -> Ints:
        """How many stand at rank ``k`` or above, for each query."""
        if k not in self._counts:
            self._counts[k] = np.bincount(self.query[self.rank <= k], minlength=len(self.m))
        return self._counts[k]


@dataclass(frozen=True, eq=False)
class _Gains:
    """Documents with a gain above 0: their queries, ranks, and gain over the discount of the rank."""

    query: Ints
    rank: Ints
    discounted: Floats

    def dcg(self, k: int, queries: int) -> Floats:
        """Discounted cumulative gain of each query, down to rank ``k``."""
        return per_query_sum(self.query, _down_to(k, self.rank, self.discounted), queries)


@dataclass(frozen=True, eq=False)
class _Ranking:
    """The judged documents of a run, all of them or condensed, with the judgments' grades or those that ``gains`` gives.

    Attributes:
        judged_grade: grades of all judged documents.
        query, rank, grade: of each retrieved one, ordered by query and rank.
        depth: number of documents in the ranking of each query.
    """

    judgments: Judgments
    judged_grade: Floats
    query: Ints
    rank: Ints
    grade: Floats
    depth: Ints
    _cache: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def from_run(cls, run: AlignedRun, judged_only: bool = False, gains: dict[float, float] | None = None) -> _Ranking:
        key = ("ranking", judged_only, _key(gains))
        if key not in run._cache:
            run._cache[key] = cls._make(run, judged_only, gains)
        ranking: _Ranking = run._cache[key]
        return ranking

    @classmethod
    def _make(cls, run: AlignedRun, judged_only: bool, gains: dict[float, float] | None) -> _Ranking:
        judged_grade = _grades(run.judgments, gains)
        grade = judged_grade[run.doc]
        if not judged_only:
            return cls(run.judgments, judged_grade, run.query, run.rank, grade, run.depth)
        judged = grade >= 0
        if not judged.all():
            judged |= _all_negative(run.judgments, judged_grade)[run.query]
        query, grade = run.query[judged], grade[judged]
        depth = np.bincount(query, minlength=len(run.depth))
        return cls(run.judgments, judged_grade, query, position_in_segment(query) + 1, grade, depth)

    def hits(self, rel: float) -> _Hits:
        """The documents of at least grade ``rel``."""
        if ("hits", rel) not in self._cache:
            row = np.flatnonzero(self.grade >= rel)
            query, rank = self.query[row], self.rank[row]
            i = position_in_segment(query) + 1
            m = self.judgments.m(rel)
            self._cache["hits", rel] = _Hits(query, rank, row, i, i / rank, m, np.bincount(query, minlength=len(m)))
        hits: _Hits = self._cache["hits", rel]
        return hits

    def gains(self, dcg: str) -> _Gains:
        """The documents with a gain, discounted by log2(rank + 1)."""
        if ("gains", dcg) not in self._cache:
            row = np.flatnonzero(self.grade > 0)
            query, rank = self.query[row], self.rank[row]
            gain = _gain(dcg, self.grade[row], query, self.judgments, self.judged_grade)
            self._cache["gains", dcg] = _Gains(query, rank, gain / _log2_of_next(rank))
        gains: _Gains = self._cache["gains", dcg]
        return gains


def _hits(measure: Measure, run: AlignedRun) -> _Hits:
    """The relevant documents as the measure's parameters ``rel`` and ``judged_only`` define them."""
    return _ranking(measure, run).hits(measure["rel"])


def _ranking(measure: Measure, run: AlignedRun) -> _Ranking:
    """The ranking as the measure's parameter ``judged_only`` defines it."""
    return _Ranking.from_run(run, measure["judged_only"])


def _key(gains: dict[float, float] | None) -> Any:
    return None if gains is None else frozenset(gains.items())


def _grades(judgments: Judgments, gains: dict[float, float] | None) -> Floats:
    """The grades of all judged documents; ``gains`` replaces those that it names."""
    if not gains:
        return judgments.grade
    key = ("grades", _key(gains))
    if key not in judgments._cache:
        mapped = judgments.grade.copy()
        for grade, gain in gains.items():
            mapped[judgments.grade == grade] = gain
        judgments._cache[key] = mapped
    grades: Floats = judgments._cache[key]
    return grades


def _all_negative(judgments: Judgments, grade: Floats) -> Bools:
    """Queries whose grades are all negative: these count as 0 then, where trec_eval would crash."""
    return np.bincount(judgments.query[grade >= 0], minlength=len(judgments)) == 0


def _scored(run: AlignedRun) -> Bools:
    """The queries that trec_eval scores: those of the run that have judged documents."""
    named = run.depth > 0
    named[run.ranked] = True
    return named & (run.judgments.m(-math.inf) > 0)


def _log2_of_next(rank: Ints) -> Floats:
    """log2(rank + 1) as the C library computes it, not NumPy."""
    top = int(rank.max()) if len(rank) else 0
    if top < _TABLE_DEPTH:
        return _log2_table(max(top.bit_length(), 10))[rank]
    return np.fromiter(map(math.log2, (rank + 1).tolist()), np.float64, len(rank))


@lru_cache
def _log2_table(bits: int) -> Floats:
    """log2(i + 1) for i = 0, ..., 2^bits - 1."""
    return np.fromiter(map(math.log2, range(1, 2**bits + 1)), np.float64, 2**bits)


# -- trec_eval ---------------------------------------------------------------------------------------


def _p(measure: Measure, run: AlignedRun) -> Floats:
    """P@k: relevant documents among the first k, over k."""
    k = _cutoff(measure)
    return _hits(measure, run).up_to(k) / float(k)


def _r(measure: Measure, run: AlignedRun) -> Floats:
    """R@k: relevant documents among the first k, over m."""
    hits = _hits(measure, run)
    return _ratio(hits.up_to(_cutoff(measure)), hits.m)


def _success(measure: Measure, run: AlignedRun) -> Floats:
    """Success@k: 1 if any of the first k is relevant."""
    return (_hits(measure, run).up_to(_cutoff(measure)) > 0).astype(np.float64)


def _rprec(measure: Measure, run: AlignedRun) -> Floats:
    """Relevant documents among the first m, over m."""
    hits = _hits(measure, run)
    return _ratio(np.bincount(hits.query[hits.rank <= hits.m[hits.query]], minlength=len(hits.m)), hits.m)


def _ap(measure: Measure, run: AlignedRun) -> Floats:
    """AP = (1 / m) sum of i / p_i over the retrieved relevant documents, down to rank k."""
    hits = _hits(measure, run)
    terms = _down_to(_cutoff(measure), hits.rank, hits.precision)
    return _ratio(per_query_sum(hits.query, terms, len(hits.m)), hits.m)


def _rr(measure: Measure, run: AlignedRun) -> Floats:
    """RR = 1 / p_1, and 0 where p_1 is below rank k."""
    hits = _hits(measure, run)
    value = np.zeros(len(hits.m))
    first = np.flatnonzero(hits.i == 1)
    value[hits.query[first]] = _down_to(_cutoff(measure), hits.rank[first], hits.precision[first])
    return value


def _ndcg(measure: Measure, run: AlignedRun) -> Floats:
    """DCG over that of the ideal ranking, both down to rank k; the gain is g (``'log2'``) or 2^g - 1 (``'exp-log2'``)."""
    gains, dcg, k = _optional(measure, "gains"), measure["dcg"], _cutoff(measure)
    actual = _Ranking.from_run(run, measure["judged_only"], gains).gains(dcg).dcg(k, len(run.judgments))
    return _ratio(actual, _ideal_dcg(run.judgments, gains, dcg, k))


def _ideal_dcg(judgments: Judgments, gains: dict[float, float] | None, dcg: str, k: int) -> Floats:
    """DCG down to rank k of all judged documents, best first."""
    key = ("ideal", _key(gains), dcg)
    if (key, k) not in judgments._cache:
        if key not in judgments._cache:
            judgments._cache[key] = _ideal_gains(judgments, _grades(judgments, gains), dcg)
        ideal: _Gains = judgments._cache[key]
        judgments._cache[key, k] = ideal.dcg(k, len(judgments))
    best: Floats = judgments._cache[key, k]
    return best


def _ideal_gains(judgments: Judgments, judged_grade: Floats, dcg: str) -> _Gains:
    """All judged documents with a gain, best first."""
    row = np.flatnonzero(judged_grade > 0)
    query, grade = judgments.query[row], judged_grade[row]
    grade = grade[np.lexsort((-grade, query))]  # the queries are in order already
    rank = position_in_segment(query) + 1
    return _Gains(query, rank, _gain(dcg, grade, query, judgments, judged_grade) / _log2_of_next(rank))


def _gain(dcg: str, grade: Floats, query: Ints, judgments: Judgments, judged_grade: Floats) -> Floats:
    """Gains of grades above 0, divided by a power of 2 for each query where they could be too large for a float."""
    if dcg == "log2":
        return grade
    if judged_grade.max(initial=0) < 512:
        return np.exp2(grade) - 1
    top = np.zeros(len(judgments))
    np.maximum.at(top, judgments.query, np.floor(judged_grade))
    return np.exp2(grade - top[query]) - np.exp2(-top[query])


def _bpref(measure: Measure, run: AlignedRun) -> Floats:
    """(1 / m) sum over the relevant retrieved of 1 - min(n, m) / min(N, m): n of all N non-relevant judged stand before."""
    ranking, rel, judgments = _Ranking.from_run(run), measure["rel"], run.judgments
    hits = ranking.hits(rel)
    before = hits.row - _first_row(ranking)[hits.query] - (hits.i - 1) - _negative_before(ranking, hits, rel)
    key = ("not relevant", rel)
    if key not in judgments._cache:
        counted = (judgments.grade >= 0) & (judgments.grade < rel)
        judgments._cache[key] = np.bincount(judgments.query[counted], minlength=len(judgments))
    m = hits.m[hits.query]
    lost = _ratio(np.minimum(before, m), np.minimum(judgments._cache[key][hits.query], m))
    return _ratio(per_query_sum(hits.query, 1 - lost, len(hits.m)), hits.m)


def _infap(measure: Measure, run: AlignedRun) -> Floats:
    """AP with the precision at rank j + 1 expected from those of the j documents before that are judged (Yilmaz, Aslam)."""
    ranking, rel = _Ranking.from_run(run), measure["rel"]
    hits = ranking.hits(rel)
    pooled = hits.row - _first_row(ranking)[hits.query]
    relevant = hits.i - 1
    judged = pooled - _negative_before(ranking, hits, rel)
    j = hits.rank - 1.0
    shares = (relevant + _INFAP_EPSILON) / (judged + 2 * _INFAP_EPSILON)
    with np.errstate(invalid="ignore"):
        expected = 1 / (j + 1) + (j / (j + 1)) * (pooled / j) * shares
    expected[j == 0] = 1.0
    return _ratio(per_query_sum(hits.query, expected, len(hits.m)), hits.m)


def _first_row(ranking: _Ranking) -> Ints:
    """The row at which the documents of each query begin."""
    if "first row" not in ranking._cache:
        ranking._cache["first row"] = np.searchsorted(ranking.query, np.arange(len(ranking.depth)))
    first: Ints = ranking._cache["first row"]
    return first


def _negative_before(ranking: _Ranking, hits: _Hits, rel: float) -> Any:
    """How many documents with a negative grade, not relevant, stand before each relevant one."""
    negative = ranking.grade < min(rel, 0)
    if not negative.any():
        return 0
    before = np.r_[0, np.cumsum(negative)]
    return before[hits.row] - before[_first_row(ranking)[hits.query]]


def _iprec(measure: Measure, run: AlignedRun) -> Floats:
    """The best precision at any rank at or below that of relevant document c, where the recall is reached."""
    recall = float(f"{_number(measure, 'recall'):.2f}")
    ranking = _ranking(measure, run)
    hits = ranking.hits(measure["rel"])
    c = np.floor(recall * hits.m + 0.9)
    value = np.zeros(len(hits.m))
    reached = np.flatnonzero((c <= hits.r) & (hits.r > 0))
    end = np.cumsum(hits.r)[reached]
    first = end - hits.r[reached] + np.maximum(c[reached].astype(np.int64), 1) - 1
    if len(reached):
        bounds = np.stack([first, end], axis=1).ravel()  # every second stretch lies between two queries
        value[reached] = np.maximum.reduceat(np.append(hits.precision, 0.0), bounds)[::2]
    value[_scored(run) & (ranking.depth == 0) & (c == 0)] = math.nan
    return value


def _setp(measure: Measure, run: AlignedRun) -> Floats:
    """Relevant documents retrieved, over all retrieved; ``relative``: over the most that could be relevant."""
    ranking = _ranking(measure, run)
    hits = ranking.hits(measure["rel"])
    return _ratio(hits.r, np.minimum(ranking.depth, hits.m) if measure["relative"] else ranking.depth)


def _setr(measure: Measure, run: AlignedRun) -> Floats:
    """Relevant documents retrieved, over m."""
    hits = _Ranking.from_run(run).hits(measure["rel"])
    return _ratio(hits.r, hits.m)


def _setap(measure: Measure, run: AlignedRun) -> Floats:
    """SetP times SetR."""
    ranking = _ranking(measure, run)
    hits = ranking.hits(measure["rel"])
    r = hits.r.astype(np.float64)
    return _ratio(r * r, ranking.depth * hits.m.astype(np.float64))


def _setf(measure: Measure, run: AlignedRun) -> Floats:
    """(beta + 1) P R / (beta P + R) of the precision P and the recall R of all retrieved."""
    ranking, beta = _ranking(measure, run), _number(measure, "beta")
    hits = ranking.hits(measure["rel"])
    p, r = _ratio(hits.r, ranking.depth), _ratio(hits.r, hits.m)
    return _ratio((beta + 1) * p * r, beta * p + r)


def _numret(measure: Measure, run: AlignedRun) -> Floats:
    """Documents retrieved, with ``rel`` the relevant ones among them."""
    rel = _optional(measure, "rel")
    count = run.depth * _scored(run) if rel is None else _Ranking.from_run(run).hits(rel).r
    return count.astype(np.float64)


def _numrel(measure: Measure, run: AlignedRun) -> Floats:
    """Relevant documents, of the queries that the run has."""
    return np.where(_scored(run), run.judgments.m(measure["rel"]), 0.0)


def _numq(measure: Measure, run: AlignedRun) -> Floats:
    """1 for every query that the run has."""
    return _scored(run).astype(np.float64)


# -- other programs ----------------------------------------------------------------------------------


def _judged(measure: Measure, run: AlignedRun) -> Floats:
    """Documents with a judgment among the first k, over how many these are."""
    k = _cutoff(measure)
    return _ratio(np.bincount(run.query[run.rank <= k], minlength=len(run.depth)), np.minimum(run.depth, k))


def _err(measure: Measure, run: AlignedRun) -> Floats:
    """gdeval's ERR: gains (2^g - 1) / 2^4."""
    run.judgments.check_top_grade(_GDEVAL_MAX_REL, str(measure))
    top = run.rank <= _cutoff(measure)
    r = scaled_gain(_Ranking.from_run(run).grade[top], _GDEVAL_MAX_REL, "exp")
    return cwl.expected_reciprocal_rank(run.query[top], run.rank[top], r, len(run.judgments))


def _rbp(measure: Measure, run: AlignedRun) -> Floats | Utility:
    """(1 - p) sum of p^(i-1) g_i; cwl_eval's, of binary gains without cutoff, is that of 1,000 ranks, scaled to sum to 1."""
    p, rel, k = _number(measure, "p", high=1), _optional(measure, "rel"), _cutoff(measure)
    ranking = _Ranking.from_run(run)
    gain = np.maximum(ranking.grade, 0) if rel is None else (ranking.grade >= rel).astype(np.float64)
    if rel is not None and k == _UNLIMITED:
        return _weighted(run, gain, p ** np.arange(_PROGRAM_DEPTH + 1.0), _PROGRAM_DEPTH)
    terms = (1 - p) * p ** (ranking.rank - 1.0) * gain
    return per_query_sum(ranking.query, _down_to(k, ranking.rank, terms), len(ranking.depth))


def _linear_gain(measure: Measure, run: AlignedRun) -> Floats:
    """Gain of each judged document retrieved: its grade between min_rel and max_rel, scaled to [0, 1]."""
    low, high = measure["min_rel"], measure["max_rel"]
    if low >= high:
        raise ValueError(f"{measure}: min_rel={low} must be below max_rel={high}")
    run.judgments.check_top_grade(high, str(measure))
    return np.maximum(np.maximum(_Ranking.from_run(run).grade, 0) - low, 0) / (high - low)


def _weighted(run: AlignedRun, gain: Floats, v: Floats, end: int) -> Utility:
    """Expected utility of users who look at rank i with probability ``v[i - 1]``, and end at rank ``end``.

    cwl_eval leaves the users out of the total utility and cost who would look at rank 1,001: ``v[1000]``, if given.
    """
    queries, top = len(run.depth), run.rank <= end
    query, gain = run.query[top], gain[top]
    utility = per_query_sum(query, v[run.rank[top] - 1] * gain, queries)
    items = np.full(queries, v[:end].sum())
    beyond = v[end:].sum()
    return Utility(
        value=utility / items,
        expected_total_utility=utility - beyond * per_query_sum(query, gain, queries),
        expected_total_cost=items - beyond * end,
        expected_items=items,
    )


def _sdcg(measure: Measure, run: AlignedRun) -> Utility:
    """V(i) = 1 / log2(i + 1) down to rank k."""
    k = min(_cutoff(measure), _PROGRAM_DEPTH + 1)
    return _weighted(run, _linear_gain(measure, run), 1 / _log2_of_next(np.arange(1, k + 1)), min(k, _PROGRAM_DEPTH))


def _insq(measure: Measure, run: AlignedRun) -> Utility:
    """V(i) = (2T / (i + 2T - 1))^2."""
    t = _number(measure, "T", high=cwl.MOST_HOPED_FOR)
    i = np.arange(2, _PROGRAM_DEPTH + 2)
    v = np.r_[1.0, (2 * t / (i - 1 + 2 * t)) ** 2]
    return _weighted(run, _linear_gain(measure, run), v, _PROGRAM_DEPTH)


def _inst(measure: Measure, run: AlignedRun) -> Utility:
    """V(i + 1) / V(i) = ((b - 1) / b)^2, b = i + 2T less the gain down to rank i; between two gains, sums of V close."""
    t = _number(measure, "T", low=0.25, high=cwl.MOST_HOPED_FOR)  # below, V(2) could be above V(1)
    gain, queries = _linear_gain(measure, run), len(run.depth)
    keep = (gain > 0) & (run.rank <= _PROGRAM_DEPTH)
    query, rank, gain = run.query[keep], run.rank[keep], gain[keep]
    total = running_sum(query, gain)
    # V falls as (b / (i + c))^2 below rank i0, with c = 2T - 1 less the gain so far, and b = i0 + c.
    first = shifted_within_segment(query, rank, 0)  # i0, where a gain was before
    c = 2 * t - 1 - shifted_within_segment(query, total, 0)
    b = np.maximum(first, 1) + c
    v = running_product(query, (b / (rank + c)) ** 2)
    between = shifted_within_segment(query, v, 1) * cwl.inverse_square_sum(b, first + 1 + c, rank - first - 1.0)
    # Below the last gain the ranking goes on to rank 1,000.
    last, v_last, gained = np.zeros(queries), np.ones(queries), np.zeros(queries)
    last[query], v_last[query], gained[query] = rank, v, total  # the last row of each query stays
    c = 2 * t - 1 - gained
    b = np.maximum(last, 1) + c
    below = v_last * cwl.inverse_square_sum(b, last + 1 + c, _PROGRAM_DEPTH - last)
    beyond = v_last * (b / (_PROGRAM_DEPTH + 1 + c)) ** 2
    items = per_query_sum(query, v + between, queries) + below
    utility = per_query_sum(query, v * gain, queries)
    return Utility(utility / items, utility - beyond * gained, items - beyond * _PROGRAM_DEPTH, items)


def _bpm(measure: Measure, run: AlignedRun) -> Utility:
    """The mean gain down to the rank at which the gain reaches T, or rank k."""
    t, k = _number(measure, "T"), _cutoff(measure)
    gain, queries = _linear_gain(measure, run), len(run.depth)
    end = min(k, _PROGRAM_DEPTH) if t > 0 else 1
    keep = (gain > 0) & (run.rank <= end)
    query, rank = run.query[keep], run.rank[keep]
    total = running_sum(query, gain[keep])
    last = np.full(queries, end)
    reached = np.flatnonzero(total >= t)[::-1]
    last[query[reached]] = rank[reached]  # the first row of each query stays
    gained = np.zeros(queries)
    seen = rank <= last[query]
    gained[query[seen]] = total[seen]  # the last row of each query stays
    items = last.astype(np.float64)
    # cwl_eval gives users who would look at rank 1,001 no total utility or cost.
    stops = (np.bincount(query[reached], minlength=queries) > 0) | (end != _PROGRAM_DEPTH) | (k <= _PROGRAM_DEPTH)
    return Utility(gained / items, gained * stops, items * stops, items)


def _nerr(measure: Measure, run: AlignedRun) -> Utility:
    """V(i) of the measure's discount times the satisfaction left over: the product of 1 - r_j over j < i."""
    k = _cutoff(measure) if "cutoff" in measure.SUPPORTED_PARAMS else _UNLIMITED
    r, discount, queries = _linear_gain(measure, run), _nerr_discount(measure), len(run.depth)
    if discount is None:
        return _weighted(run, r, np.ones(1), 1)
    end = min(k, _PROGRAM_DEPTH)
    items, utility = cwl.cwl(run.query, run.rank, r, queries, discount, end=end, unjudged=np.zeros(queries))
    total, cost = utility, items
    if k > _PROGRAM_DEPTH:
        total, cost = cwl.truncated_by_program(run.query, run.rank, r, discount, utility, items, _PROGRAM_DEPTH)
    return Utility(utility / items, total, cost, items)


def _nerr_discount(measure: Measure) -> cwl.Discount | None:
    """The discount of NERR8 to NERR11; None where every user stops at rank 1."""
    if measure.NAME == "NERR10":
        p = _number(measure, "p", high=1)
        return cwl.Geometric(p) if p > 0 else None
    if measure.NAME == "NERR11":
        t = _number(measure, "T", high=cwl.MOST_HOPED_FOR)
        return cwl.InverseSquare(t) if t > 0 else None
    return cwl.Uniform() if measure.NAME == "NERR8" else cwl.Reciprocal()


_BY_TREC_EVAL: dict[str, _Score] = {
    "P": _p,
    "R": _r,
    "AP": _ap,
    "nDCG": _ndcg,
    "RR": _rr,
    "Rprec": _rprec,
    "Bpref": _bpref,
    "Success": _success,
    "IPrec": _iprec,
    "infAP": _infap,
    "SetP": _setp,
    "SetR": _setr,
    "SetF": _setf,
    "SetAP": _setap,
    "NumRet": _numret,
    "NumRel": _numrel,
    "NumQ": _numq,
}
_BY_OTHERS: dict[str, _Score] = {
    "Judged": _judged,
    "ERR": _err,
    "RBP": _rbp,
    "SDCG": _sdcg,
    "INSQ": _insq,
    "INST": _inst,
    "BPM": _bpm,
    "NERR8": _nerr,
    "NERR9": _nerr,
    "NERR10": _nerr,
    "NERR11": _nerr,
}
_SCORES: dict[type[Measure], _Score] = {
    type(getattr(ir_measures, name)): function for name, function in {**_BY_TREC_EVAL, **_BY_OTHERS}.items()
}
