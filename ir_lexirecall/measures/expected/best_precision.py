"""Expected values of interpolated precision: the best precision from a relevant document on.

Throughout, c is the level from which precisions count: those at the c-th relevant document of the
ranking and below it.

The best precision of a ranking is the largest of those of its groups, which are independent. That
of a group is at most t if, at each of its ranks, the relevant documents so far are at most t times
the rank: the chains of counts that keep below this line are added up, for each t that can be the
best.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, row_blocks
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
    groups = relevant_groups(measure, ranking)
    return best_precision(groups, recall_point_9(measure, m))


def interpolated_precision_10(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected IPrec_TE; NaN as in `interpolated_precision`."""
    m = run.judgments.m(measure["rel"])
    c = recall_point(measure["recall"], m, measure["version"])
    groups = relevant_groups(measure, run)
    return best_precision(groups, c)


def eleven_points(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected ElevenPt, the mean of eleven interpolated precisions."""
    groups, m = relevant_groups(measure, run), run.judgments.m(measure["rel"])
    total = np.zeros(len(m))
    precision_from: dict[
        tuple[int, ...], Floats
    ] = {}  # a level on, computed once for each
    for tenth in range(11):
        c = recall_point(tenth / 10, m, measure["version"])
        levels = tuple(np.maximum(c, 1).tolist())
        if levels not in precision_from:
            precision_from[levels] = best_precision(groups, c)
        total += precision_from[levels]
    return total / 11


def best_precision(groups: Groups, c: Any) -> Floats:
    """Return the expected best precision from the c-th relevant document of each query on."""
    value = np.zeros(groups.n_segments)
    for q in np.unique(groups.segment).tolist():
        ranked: list[_Group] = []
        level = 0
        for first, size, rows in groups.of_segment(q):
            n_relevant = rows.stop - rows.start
            ranked.append(_Group(first, size, n_relevant, level))
            level += n_relevant
        value[q] = _mean_of_best(ranked, float(c[q]))
    return value


class _Group(NamedTuple):
    """Tied documents of which some are relevant."""

    first: int  # rank
    size: int
    n_relevant: int
    level_before: int  # number of relevant documents above the group

    @property
    def last_level(self) -> int:
        """Return the number of relevant documents down to the end of the group."""
        return self.level_before + self.n_relevant

    @property
    def last_precision(self) -> float:
        """Return the precision at the end of the group, which is the same in every order."""
        return self.last_level / (self.first + self.size - 1)

    @property
    def depends_on_order(self) -> bool:
        """Return whether the order of the documents makes a difference."""
        return self.size > 1 and self.n_relevant < self.size

    @property
    def n_states(self) -> int:
        """Return the number of pairs of a position and a count of relevant documents."""
        return self.size * (self.n_relevant + 1)

    def precisions(self, c: float) -> Floats:
        """Return the precisions that the levels from c on can have at the ranks of the group."""
        level = np.arange(max(self.level_before + 1, c), self.last_level + 1)
        rank = np.arange(self.first, self.first + self.size)
        return np.unique(level[:, None] / rank)


def _mean_of_best(groups: Sequence[_Group], c: float) -> float:
    """Return the expected best precision of one query.

    It is the sum of t (P(best <= t) - P(best <= t')) over the values t that it can have, each with
    the next smaller value t'. P(best <= t) is a product over groups.
    """
    counted = [group for group in groups if group.last_level >= c]
    # The best precision is at least that at the last relevant document of each group.
    floor = max([0.0, *(group.last_precision for group in counted)])
    open_groups = [group for group in counted if group.depends_on_order]
    candidates = [np.array([floor])]
    for group in open_groups:
        precisions = group.precisions(c)
        candidates.append(precisions[precisions > floor])
    thresholds = np.unique(np.concatenate(candidates))

    n_states = sum(group.n_states for group in open_groups)
    if len(thresholds) * n_states > _MOST_STEPS:
        return nan
    probability_below = np.ones(len(thresholds))
    for group in open_groups:
        probability_below *= _probability_below(thresholds, group, c)
    return float(thresholds @ np.diff(probability_below, prepend=0.0))


def _probability_below(thresholds: Floats, group: _Group, c: float) -> Floats:
    """Return the probability that the best precision of a group is at most each threshold."""
    blocks = row_blocks(len(thresholds), group.n_relevant + 1, _ROOM)
    return np.concatenate(
        [_chains_below(thresholds[block], group, c) for block in blocks]
    )


def _chains_below(thresholds: Floats, group: _Group, c: float) -> Floats:
    """Return the probability of the chains of counts that never exceed each threshold."""
    n_so_far: Ints = np.arange(group.n_relevant + 1)
    level = group.level_before + n_so_far
    # A row for each threshold, a column for each number of relevant documents so far.
    probability = np.zeros((len(thresholds), len(n_so_far)))
    probability[:, 0] = 1.0
    for position in range(group.size):
        rank = group.first + position
        probability_relevant = (group.n_relevant - n_so_far) / (group.size - position)
        moved = probability * probability_relevant
        is_allowed = (level < c) | (level / rank <= thresholds[:, None])
        probability = probability - moved
        probability[:, 1:] += moved[:, :-1] * is_allowed[:, 1:]
    total: Floats = probability.sum(axis=1)
    return total
