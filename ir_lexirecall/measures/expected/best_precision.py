"""Expected values of interpolated precision: the best precision from some relevant document on.

The best precision of a ranking is the largest of those of its groups, which are independent. That
of a group is at most t if, at each of its ranks, the relevant documents so far are at most t times
the rank: the chains of counts that keep below this line are added up, for each t that can be the
best.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall.measures.expected.binary import relevant_groups
from ir_lexirecall.measures.trec_eval import ranking_of, recall_point_9
from ir_lexirecall.measures.trec_eval_10 import recall_point

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun
    from ir_lexirecall.measures.expected.groups import Groups

_MOST_STEPS = 300_000_000  # of the chains of one query
_ROOM = 2**20  # thresholds times counts that are held at once


def interpolated_precision(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected IPrec; NaN where a group has too many ranks and relevant documents."""
    ranking = ranking_of(measure, run)
    m = ranking.judgments.m(measure["rel"])
    groups = relevant_groups(ranking, measure["rel"])
    return best_precision(groups, recall_point_9(measure, m))


def interpolated_precision_10(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected IPrec_TE; NaN as in `interpolated_precision`."""
    m = run.judgments.m(measure["rel"])
    c = recall_point(measure["recall"], m, measure["version"])
    return best_precision(relevant_groups(run, measure["rel"]), c)


def eleven_points(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected ElevenPt, the mean of eleven interpolated precisions."""
    groups, m = relevant_groups(run, measure["rel"]), run.judgments.m(measure["rel"])
    total = np.zeros(len(m))
    points: dict[tuple[int, ...], Floats] = {}
    for tenth in range(11):
        c = recall_point(tenth / 10, m, measure["version"])
        key = tuple(np.maximum(c, 1).tolist())
        if key not in points:
            points[key] = best_precision(groups, c)
        total += points[key]
    return total / 11


def best_precision(groups: Groups, c: Any) -> Floats:
    """Return the expected best precision from the c-th relevant document of each query on."""
    value = np.zeros(groups.segments)
    query = groups.segment[groups.start]
    for q in np.unique(query).tolist():
        of_query = query == q
        value[q] = _of_query(groups, of_query, float(c[q]))
    return value


def _of_query(groups: Groups, which: Bools, c: float) -> float:
    """Return the expected best precision of one query."""
    rows = groups.start[which]
    first, size, count = groups.first[rows], groups.size[rows], groups.count[which]
    before = groups.level_before[which]
    last = before + count
    certain = last / (first + size - 1)  # at least this much at the end of each group
    floor = float(certain[last >= c].max(initial=0.0))
    open_groups = np.flatnonzero((size > 1) & (count < size) & (last >= c))
    candidates = [np.array([floor])]
    for g in open_groups.tolist():
        level = np.arange(max(before[g] + 1, c), last[g] + 1)
        rank = np.arange(first[g], first[g] + size[g])
        ratios = np.unique(level[:, None] / rank)
        candidates.append(ratios[ratios > floor])
    thresholds = np.unique(np.concatenate(candidates))
    if len(thresholds) * int((size * (count + 1))[open_groups].sum()) > _MOST_STEPS:
        return nan
    below = np.ones(len(thresholds))
    for g in open_groups.tolist():
        below *= _probability_below(thresholds, first[g], size[g], count[g], before[g], c)
    return float(thresholds @ np.diff(below, prepend=0.0))


def _probability_below(
    thresholds: Floats, first: int, size: int, count: int, before: int, c: float
) -> Floats:
    """Return the probability that the best precision of a group is at most each threshold."""
    step = max(1, _ROOM // (int(count) + 1))
    parts = [
        _chains_below(thresholds[i : i + step], int(first), int(size), int(count), int(before), c)
        for i in range(0, len(thresholds), step)
    ]
    return np.concatenate(parts)


def _chains_below(
    thresholds: Floats, first: int, size: int, count: int, before: int, c: float
) -> Floats:
    """Return the probability of the chains of counts that never exceed each threshold."""
    found: Ints = np.arange(count + 1)
    level = before + found
    chains = np.zeros((len(thresholds), count + 1))
    chains[:, 0] = 1.0
    for position in range(size):
        moved = chains * ((count - found) / (size - position))
        is_allowed = (level < c) | (level / (first + position) <= thresholds[:, None])
        chains = chains - moved
        chains[:, 1:] += (moved[:, :-1]) * is_allowed[:, 1:]
    result: Floats = chains.sum(axis=1)
    return result
