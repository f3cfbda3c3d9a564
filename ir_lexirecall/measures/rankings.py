"""The judged documents of a run as trec_eval's definitions need them, and parameters of ir_measures' measures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure
from ir_measures.providers.base import NOT_PROVIDED
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Bools, Floats, Ints, per_query_sum, position_in_segment
from ir_lexirecall._util.lazy import Memoised, cached_property
from ir_lexirecall.measures.declaration import Utility

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.data.judgments import Judgments


_TABLE_DEPTH = 2**20  # ranks whose logarithms are kept
UNLIMITED = 2**62  # the cutoff where there is none
Score = Callable[[Measure, "AlignedRun"], "Floats | Utility"]


def computes(table: dict[str, Score], *names: str) -> Callable[[Score], Score]:
    """Register the decorated function in ``table`` as what computes the measures of these names."""

    def register(score: Score) -> Score:
        table.update(dict.fromkeys(names, score))
        return score

    return register


def optional(measure: Measure, name: str) -> Any:
    """A parameter's value or default, None where there is neither, or no such parameter."""
    value = measure[name] if name in measure.SUPPORTED_PARAMS else None
    return None if value is NOT_PROVIDED else value


def cutoff_of(measure: Measure) -> int:
    """The cutoff, ``UNLIMITED`` where there is none."""
    k = optional(measure, "cutoff")
    if k is not None and not k >= 1:
        raise ValueError(f"{measure}: the cutoff must be at least 1")
    return UNLIMITED if k is None else min(k, UNLIMITED)


def down_to(k: int | Ints, rank: Ints, terms: NDArray[Any]) -> Floats:
    """``terms`` down to rank ``k``, 0 below."""
    return terms if isinstance(k, int) and k == UNLIMITED else np.where(rank <= k, terms, 0.0)


def number(measure: Measure, name: str, low: float = 0, high: float = math.inf) -> float:
    """A parameter that is a finite number between ``low`` and ``high``."""
    value = measure[name]
    if not (low <= value <= high and value < math.inf):
        expected = f"a number of at least {low:g}" if high == math.inf else f"a number between {low:g} and {high:g}"
        raise ValueError(f"{measure}: {name} must be {expected}, not {value!r}")
    return float(value)


@dataclass(frozen=True, eq=False)
class Hits(Memoised):
    """The retrieved relevant documents."""

    query: Ints  # of each, ordered by query and rank
    rank: Ints
    row: Ints  # its row in the ranking
    i: Ints  # its number among those of its query, from 1
    precision: Floats  # i / rank
    m: Ints  # number of relevant documents of each query
    r: Ints  # how many of them were retrieved

    def up_to(self, k: int) -> Ints:
        """How many stand at rank ``k`` or above, for each query."""
        return self.cached(k, lambda: np.bincount(self.query[self.rank <= k], minlength=len(self.m)))


@dataclass(frozen=True, eq=False)
class Gains:
    """Documents with a gain above 0: their queries, ranks, and gain over the discount of the rank."""

    query: Ints
    rank: Ints
    discounted: Floats

    def dcg(self, k: int | Ints, queries: int) -> Floats:
        """Discounted cumulative gain of each query, down to rank ``k``, or to its own."""
        deepest = k if isinstance(k, int) else k[self.query]
        return per_query_sum(self.query, down_to(deepest, self.rank, self.discounted), queries)


@dataclass(frozen=True, eq=False)
class GradedRanking(Memoised):
    """The judged documents of a run, all of them or condensed, with the judgments' grades or those that ``gains`` gives."""

    judgments: Judgments
    judged_grade: Floats  # grades of all judged documents
    query: Ints  # of each retrieved one, ordered by query and rank
    rank: Ints
    grade: Floats
    depth: Ints  # number of documents in the ranking of each query

    @classmethod
    def from_run(
        cls, run: AlignedRun, judged_only: bool = False, gains: dict[float, float] | None = None
    ) -> GradedRanking:
        """The ranking, made once for the run."""

        def ranking() -> GradedRanking:
            judged_grade = grades_with(run.judgments, gains)
            grade = judged_grade[run.doc]
            if not judged_only:
                return cls(run.judgments, judged_grade, run.query, run.rank, grade, run.depth)
            judged = grade >= 0
            if not judged.all():  # grades that are all negative count as 0, where trec_eval would crash
                graded = run.judgments.query[judged_grade >= 0]
                judged |= (np.bincount(graded, minlength=len(run.judgments)) == 0)[run.query]
            query = run.query[judged]
            depth = np.bincount(query, minlength=len(run.depth))
            return cls(run.judgments, judged_grade, query, position_in_segment(query) + 1, grade[judged], depth)

        return run.cached(("ranking", judged_only, gains_key(gains)), ranking)

    def hits(self, rel: float) -> Hits:
        """The documents of at least grade ``rel``."""

        def hits() -> Hits:
            row = np.flatnonzero(self.grade >= rel)
            query, rank = self.query[row], self.rank[row]
            i = position_in_segment(query) + 1
            m = self.judgments.m(rel)
            return Hits(query, rank, row, i, i / rank, m, np.bincount(query, minlength=len(m)))

        return self.cached(("hits", rel), hits)

    def gains(self, dcg: str) -> Gains:
        """The documents with a gain, discounted by log2(rank + 1)."""

        def gains() -> Gains:
            row = np.flatnonzero(self.grade > 0)
            query, rank = self.query[row], self.rank[row]
            gain = discountable_gain(dcg, self.grade[row], query, self.judgments, self.judged_grade)
            return Gains(query, rank, gain / log2_of_next(rank))

        return self.cached(("gains", dcg), gains)

    @cached_property
    def first_row(self) -> Ints:
        """The row at which the documents of each query begin."""
        return np.searchsorted(self.query, np.arange(len(self.depth)))


def hits_of(measure: Measure, run: AlignedRun) -> Hits:
    """The relevant documents as the measure's parameters ``rel`` and ``judged_only`` define them."""
    return ranking_of(measure, run).hits(measure["rel"])


def ranking_of(measure: Measure, run: AlignedRun) -> GradedRanking:
    """The ranking as the measure's parameter ``judged_only`` defines it."""
    return GradedRanking.from_run(run, measure["judged_only"])


def gains_key(gains: dict[float, float] | None) -> Any:
    return None if gains is None else frozenset(gains.items())


def grades_with(judgments: Judgments, gains: dict[float, float] | None) -> Floats:
    """The grades of all judged documents; ``gains`` replaces those that it names."""
    if not gains:
        return judgments.grade

    def mapped() -> Floats:
        grades = judgments.grade.copy()
        for grade, gain in gains.items():
            grades[judgments.grade == grade] = gain
        return grades

    return judgments.cached(("grades", gains_key(gains)), mapped)


def best_precision(query: Ints, i: Ints, precision: Floats, c: Ints) -> Floats:
    """Largest precision at the i-th relevant documents with i >= c, 0 where there are fewer; ``c`` and the value of shape ``(Q,)``."""
    value, keep = np.zeros(len(c)), i >= c[query]
    np.maximum.at(value, query[keep], precision[keep])
    return value


def scored_queries(run: AlignedRun) -> Bools:
    """The queries that trec_eval scores: those of the run that have judged documents."""
    named = run.depth > 0
    named[run.ranked] = True
    return named & (run.judgments.m(-math.inf) > 0)


def log2_of_next(rank: Ints) -> Floats:
    """log2(rank + 1) as the C library computes it, not NumPy."""
    top = int(rank.max()) if len(rank) else 0
    if top < _TABLE_DEPTH:
        return _log2_table(max(top.bit_length(), 10))[rank]
    return np.fromiter(map(math.log2, (rank + 1).tolist()), np.float64, len(rank))


@lru_cache
def _log2_table(bits: int) -> Floats:
    """log2(i + 1) for i = 0, ..., 2^bits - 1."""
    return np.fromiter(map(math.log2, range(1, 2**bits + 1)), np.float64, 2**bits)


def discountable_gain(dcg: str, grade: Floats, query: Ints, judgments: Judgments, judged_grade: Floats) -> Floats:
    """Gains of grades above 0, divided by a power of 2 for each query where they could be too large for a float."""
    if dcg == "log2":
        return grade
    if judged_grade.max(initial=0) < 512:
        return np.exp2(grade) - 1
    top = np.zeros(len(judgments))
    np.maximum.at(top, judgments.query, np.floor(judged_grade))
    return np.exp2(grade - top[query]) - np.exp2(-top[query])
