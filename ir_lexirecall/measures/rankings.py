"""Rankings and discounted gains as trec_eval's definitions need them, and parameters of ir_measures' measures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from ir_measures.measures.base import Measure
from ir_measures.providers.base import NOT_PROVIDED

from ir_lexirecall._util.arrays import Floats, Ints, per_query_sum, position_in_segment
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.measures.declaration import Utility

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun, Relevant
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


def number(measure: Measure, name: str, low: float = 0, high: float = math.inf) -> float:
    """A parameter that is a finite number between ``low`` and ``high``."""
    value = measure[name]
    if not (low <= value <= high and value < math.inf):
        expected = f"a number of at least {low:g}" if high == math.inf else f"a number between {low:g} and {high:g}"
        raise ValueError(f"{measure}: {name} must be {expected}, not {value!r}")
    return float(value)


def ranking_of(measure: Measure, run: AlignedRun) -> AlignedRun:
    """The ranking, with ``judged_only`` without documents that trec_eval takes as unjudged, those of a negative grade among them."""
    if not optional(measure, "judged_only"):
        return run

    def judged() -> AlignedRun:
        # Grades that are all negative count as 0, where trec_eval would crash.
        keep = (run.grade >= 0) | (run.judgments.m(0) == 0)[run.query]
        query = run.query[keep]
        depth = np.bincount(query, minlength=len(run.depth))
        rank = position_in_segment(query) + 1
        return replace(run, query=query, doc=run.doc[keep], rank=rank, depth=depth, ties=None)

    return run.cached("judged only", judged)


def relevant_of(measure: Measure, run: AlignedRun) -> Relevant:
    """The relevant documents retrieved, as the measure's parameters ``rel``, ``cutoff`` and ``judged_only`` define them."""
    k = cutoff_of(measure)
    return ranking_of(measure, run).relevant(measure["rel"], None if k == UNLIMITED else k)


def best_precision(found: Relevant, c: Ints) -> Floats:
    """Largest precision at the i-th relevant documents with i >= c, 0 where there are fewer; ``c`` and the value of shape ``(Q,)``."""
    value, keep = np.zeros(len(c)), found.level >= c[found.query]
    np.maximum.at(value, found.query[keep], (found.level / found.rank)[keep])
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
        return per_query_sum(self.query, np.where(self.rank <= deepest, self._discounted, 0.0), queries)


def gains(run: AlignedRun, dcg: str) -> Gains:
    """The documents with a gain: their grade (``'log2'``) or 2^grade - 1 (``'exp-log2'``)."""

    def ranked() -> Gains:
        row = np.flatnonzero(run.grade > 0)
        return Gains(run.query[row], run.rank[row], _gain(dcg, run.grade[row], run.query[row], run.judgments))

    return run.cached(("gains", dcg), ranked)


def ideal_gains(judgments: Judgments, dcg: str) -> Gains:
    """All judged documents with a gain, best first."""

    def ideal() -> Gains:
        row = np.flatnonzero(judgments.grade > 0)
        query, grade = judgments.query[row], judgments.grade[row]
        grade = grade[np.lexsort((-grade, query))]  # the queries are in order already
        return Gains(query, position_in_segment(query) + 1, _gain(dcg, grade, query, judgments))

    return judgments.cached(("ideal", dcg), ideal)


def _gain(dcg: str, grade: Floats, query: Ints, judgments: Judgments) -> Floats:
    """Gains of grades above 0, divided by a power of 2 for each query where they could be too large for a float."""
    if dcg == "log2":
        return grade
    if judgments.grade.max(initial=0) < 512:
        return np.exp2(grade) - 1
    top = np.zeros(len(judgments))
    np.maximum.at(top, judgments.query, np.floor(judgments.grade))
    return np.exp2(grade - top[query]) - np.exp2(-top[query])


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
