r"""Expected values of lexicographic recall, LR = (r / (m + 1)) (1 + 1 / p*).

p* = P + y with P = p_r - 1, and y in (0, 1] says how good the placement of the other relevant
documents is among all placements above rank p_r. Going down the ranking, y begins with 1 and
changes at rank p, with i relevant documents down to it, by

    y -> (1 - i/p) y              if the document at rank p is not relevant,
    y -> (1 - i/p) + (i/p) y      if it is.

So the moments of u = 2 y - 1 follow from those one rank above, for every number of relevant
documents found. They are enough for the mean of

    1 / (P + y) = sum over k of (-u/2)^k / (P + 1/2)^(k+1),

whose terms shrink by a factor of at least 2 P + 1. Example: one relevant document, tied with one
other: rank 1 gives LR = 1/2 (1 + 1), rank 2 (P = 1, y = 1) LR = 1/2 (1 + 1/2), on average 7/8.
"""

from __future__ import annotations

from math import ceil, log
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import special
from ir_lexirecall.measures.expected.binary import relevant_groups, weighted_lexirecall
from ir_lexirecall.measures.expected.groups import NO_CUTOFF

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun

_NEGLIGIBLE = 1e-30  # probabilities below are left out
_PRECISION = 38.0  # natural logarithm of the error of the series, about 2^-55


def lexirecall(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected LR, in either form."""
    if measure["form"] == "weighted":
        return weighted_lexirecall(measure, run)
    k = NO_CUTOFF if measure["cutoff"] is None else measure["cutoff"]
    groups, m = relevant_groups(run, measure["rel"]), run.judgments.m(measure["rel"])
    query = groups.segment[groups.start]
    first, size, count = groups.first[groups.start], groups.size[groups.start], groups.count
    value = np.zeros(len(m))
    for q in np.unique(query).tolist():
        of_query = np.flatnonzero((query == q) & (first <= k))
        if len(of_query):
            ranked = _Ranking(first[of_query], size[of_query], count[of_query], k)
            value[q] = ranked.mean_of_last() / (m[q] + 1)
    return value


class _Ranking:
    """The relevant documents of one query, in their groups, down to a cutoff."""

    def __init__(self, first: Ints, size: Ints, count: Ints, cutoff: int) -> None:
        self.first, self.size, self.count, self.cutoff = first, size, count, cutoff
        self.drawn = np.minimum(size, cutoff - first + 1)  # ranks of each group that count

    def none_found(self, group: int, relevant: Ints, left: int, drawn: int) -> Floats:
        """Return the probability that nothing relevant follows, in this group or a later one.

        Args:
            group: the number of the group.
            relevant: relevant documents of the group that are left.
            left: documents of the group that are left.
            drawn: how many of them count.
        """
        later = range(group + 1, len(self.first))
        if len(later) > 1:
            return np.zeros(len(relevant))
        # Most often the whole group counts: then nothing must be left.
        probability = 1.0 * (relevant == 0) if drawn == left else no_hit(left, relevant, drawn)
        for g in later:
            hit = no_hit(int(self.size[g]), self.count[g : g + 1], int(self.drawn[g]))
            probability = probability * hit
        return probability

    def order(self) -> int:
        """Return how many moments are needed: fewer, the further down the last one must stand."""
        last = len(self.first) - 1
        if last and self.drawn[last] < self.size[last]:
            last -= 1
        certain = self.count[last] if self.drawn[last] == self.size[last] else 1
        above = max(1, int(self.first[last] + certain - 2))
        return ceil(_PRECISION / log(2 * above + 1))

    def mean_of_last(self) -> float:
        """Return the mean of r (1 + 1 / p*); 0 where no relevant document is found."""
        order = self.order()
        affine = _Affine(order)
        moments = np.ones(order + 1)  # of u = 1
        total, level, rank = 0.0, 0, 0
        for g, (first, count) in enumerate(
            zip(self.first.tolist(), self.count.tolist(), strict=True)
        ):
            between = np.arange(rank + 1, first)
            b = np.array([np.exp(np.log1p(-level / between).sum())])
            moments = affine.applied(moments[None, :], b - 1, b)[0]
            part, moments = self._through(g, level, moments, affine)
            total += part
            rank = first + int(self.drawn[g]) - 1
            level += count
        return total

    def _through(
        self, g: int, level: int, moments: Floats, affine: _Affine
    ) -> tuple[float, Floats]:
        """Go through a group.

        Args:
            g: the number of the group.
            level: relevant documents above it.
            moments: those above it.
            affine: how moments change.

        Returns:
            The mean of r (1 + 1 / p*) over the orders in which the last relevant document stands in
            this group, times their probability; and the moments below the group.
        """
        first, size, count = int(self.first[g]), int(self.size[g]), int(self.count[g])
        drawn, total = int(self.drawn[g]), 0.0
        of_found = np.zeros((count + 1, len(moments)))  # a row for each number of documents found
        of_found[0] = moments
        for position in range(drawn):
            likely = np.flatnonzero(of_found[:, 0] > _NEGLIGIBLE)
            found = np.arange(likely[0], likely[-1] + 1)
            rank, hit = first + position, (count - found) / (size - position)
            reached = hit[:, None] * of_found[found]
            after = self.none_found(g, count - found - 1, size - position - 1, drawn - position - 1)
            ends = np.flatnonzero((after > 0) & (hit > 0))
            inverse = affine.inverse(reached[ends], rank - 1)
            r = level + found[ends] + 1
            total += float((after[ends] * r * (reached[ends, 0] + inverse)).sum())
            miss, grown = (level + found) / rank, (level + found + 1) / rank
            missed = affine.applied(of_found[found] - reached, -miss, 1 - miss)
            moved = affine.applied(reached, 1 - grown, grown)
            of_found = np.zeros(of_found.shape)
            of_found[found] = missed
            can_move = found < count
            of_found[found[can_move] + 1] += moved[can_move]
        return total, of_found[-1]


def no_hit(left: int, relevant: Any, drawn: int) -> Floats:
    """Return the probability that none of some documents is relevant.

    >>> no_hit(4, np.array([0, 1, 2, 4]), 2).round(3).tolist()
    [1.0, 0.5, 0.167, 0.0]
    """
    remaining = left - relevant - drawn
    can_miss = (remaining >= 0) & (relevant >= 0)
    a, b = np.maximum(left - relevant, 0), np.maximum(remaining, 0)
    logs = (
        special.gammaln(left - drawn + 1)
        - special.gammaln(left + 1)
        + special.gammaln(a + 1)
        - special.gammaln(b + 1)
    )
    exact = (relevant == 0) | (drawn == 0)
    return np.where(can_miss, np.where(exact, 1.0, np.exp(logs)), 0.0)


class _Affine:
    """Moments 0, 1, ..., order of a + b u from those of u, in rows."""

    def __init__(self, order: int) -> None:
        self.exponent = np.arange(order + 1)
        self.difference = self.exponent[:, None] - self.exponent
        self.binomial = special.comb(self.exponent[:, None], self.exponent)  # 0 above the diagonal

    def applied(self, moments: Floats, a: Floats, b: Floats) -> Floats:
        """Return the moments after each row's a + b u."""
        powers = a[:, None] ** self.exponent
        shift = self.binomial * powers[:, np.maximum(self.difference, 0)]
        scaled = moments * b[:, None] ** self.exponent
        result: Floats = np.einsum("skj,sj->sk", shift, scaled)
        return result

    def inverse(self, moments: Floats, above: int) -> Floats:
        """Return the mean of 1 / (above + y) of each row; y is 1 where nothing stands above."""
        if above == 0:
            return moments[:, 0]
        terms = (-0.5) ** self.exponent / (above + 0.5) ** (self.exponent + 1.0)
        result: Floats = moments @ terms
        return result
