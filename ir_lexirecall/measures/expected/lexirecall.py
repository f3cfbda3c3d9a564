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
from ir_lexirecall.measures.expected.binary import relevant_groups
from ir_lexirecall.measures.expected.groups import NEGLIGIBLE, whole_cutoff
from ir_lexirecall.measures.expected.ranks_of_relevant import weighted_lexirecall

if TYPE_CHECKING:
    from ir_lexirecall.data.aligned_run import AlignedRun

_PRECISION = 38.0  # natural logarithm of the error of the series, about 2^-55


def lexirecall(measure: Any, run: AlignedRun) -> Floats:
    """Return the expected LR, in either form."""
    if measure["form"] == "weighted":
        return weighted_lexirecall(measure, run)
    k, m = whole_cutoff(measure), run.judgments.m(measure["rel"])
    groups = relevant_groups(measure, run)
    query, first = groups.segment_of_group, groups.first_of_group
    value = np.zeros(len(m))
    for q in np.unique(query).tolist():
        members = np.flatnonzero((query == q) & (first <= k))
        if len(members):
            size, count = groups.size_of_group[members], groups.count[members]
            ranking = _Ranking(first[members], size, count, k)
            value[q] = ranking.mean_of_last() / (m[q] + 1)
    return value


class _Ranking:
    """The relevant documents of one query, in their groups, down to a cutoff.

    Attributes:
        first: the first rank of each group.
        size: the number of its documents.
        n_relevant: how many of them are relevant.
        n_counted: how many of its ranks are above the cutoff.
    """

    def __init__(self, first: Ints, size: Ints, n_relevant: Ints, cutoff: int) -> None:
        self.first, self.size, self.n_relevant = first, size, n_relevant
        self.n_counted = np.minimum(size, cutoff - first + 1)

    def mean_of_last(self) -> float:
        """Return the mean of r (1 + 1 / p*); 0 where no relevant document is found."""
        affine = _Affine(self._order())
        moments = np.ones(len(affine.exponent))  # of u = 1
        total, level, rank = 0.0, 0, 0
        for g in range(len(self.first)):
            first = int(self.first[g])
            # Ranks of documents that are not relevant.
            ranks_between = np.arange(rank + 1, first)
            b = np.array([np.exp(np.log1p(-level / ranks_between).sum())])
            moments = affine.applied(moments[None, :], b - 1, b)[0]
            part, moments = self._through_group(g, level, moments, affine)
            total += part
            rank = first + int(self.n_counted[g]) - 1
            level += int(self.n_relevant[g])
        return total

    def _order(self) -> int:
        """Return how many moments are needed: fewer, the further down the last one must stand."""
        last = len(self.first) - 1
        if last and self.n_counted[last] < self.size[last]:
            last -= 1
        is_whole = self.n_counted[last] == self.size[last]
        n_certain = self.n_relevant[last] if is_whole else 1
        n_above = max(1, int(self.first[last] + n_certain - 2))
        return ceil(_PRECISION / log(2 * n_above + 1))

    def _through_group(
        self, g: int, level: int, moments: Floats, affine: _Affine
    ) -> tuple[float, Floats]:
        """Go down the ranks of a group.

        Args:
            g: the number of the group.
            level: relevant documents above it.
            moments: those above it.
            affine: how moments change.

        Returns:
            The mean of r (1 + 1 / p*) over the orders in which the last relevant document stands in
            this group, times their probability; and the moments below the group.
        """
        size, n_relevant = int(self.size[g]), int(self.n_relevant[g])
        n_counted = int(self.n_counted[g])
        total = 0.0
        # A row for each number of relevant documents so far: moments of u, times the probability.
        state = np.zeros((n_relevant + 1, len(moments)))
        state[0] = moments
        for position in range(n_counted):
            likely = np.flatnonzero(state[:, 0] > NEGLIGIBLE)
            n_so_far = np.arange(likely[0], likely[-1] + 1)
            rank = int(self.first[g]) + position
            n_left = n_relevant - n_so_far
            probability_relevant = n_left / (size - position)
            if_relevant = probability_relevant[:, None] * state[n_so_far]
            if_not = state[n_so_far] - if_relevant

            is_last = self._none_follow(g, n_left - 1, position + 1)
            ends = np.flatnonzero((is_last > 0) & (probability_relevant > 0))
            r = level + n_so_far[ends] + 1
            mean_inverse = affine.inverse(if_relevant[ends], rank - 1)
            total += float(
                (is_last[ends] * r * (if_relevant[ends, 0] + mean_inverse)).sum()
            )

            share = (level + n_so_far) / rank  # i/p, if the document is not relevant
            share_if_relevant = (level + n_so_far + 1) / rank
            same_number = affine.applied(if_not, -share, 1 - share)
            one_more = affine.applied(
                if_relevant, 1 - share_if_relevant, share_if_relevant
            )
            state = np.zeros(state.shape)
            state[n_so_far] = same_number
            has_left = n_left > 0
            state[n_so_far[has_left] + 1] += one_more[has_left]
        return total, state[-1]

    def _none_follow(self, g: int, n_relevant: Ints, position: int) -> Floats:
        """Return the probability that nothing relevant follows, in this group or a later one.

        Args:
            g: the number of the group.
            n_relevant: relevant documents of the group from the position on.
            position: number of ranks of the group above.
        """
        later = range(g + 1, len(self.first))
        if len(later) > 1:
            return np.zeros(len(n_relevant))
        if self.n_counted[g] == self.size[g]:  # most often: then nothing must be left
            probability = 1.0 * (n_relevant == 0)
        else:
            n_left = int(self.size[g]) - position
            n_drawn = int(self.n_counted[g]) - position
            probability = no_hit(n_left, n_relevant, n_drawn)
        for h in later:
            n_relevant_later = self.n_relevant[h : h + 1]
            none_later = no_hit(
                int(self.size[h]), n_relevant_later, int(self.n_counted[h])
            )
            probability = probability * none_later
        return probability


def no_hit(n: int, n_relevant: Any, n_drawn: int) -> Floats:
    """Return the probability that none of some documents drawn from n is relevant.

    It is C(n - R, d) / C(n, d) for R relevant and d drawn documents.

    >>> no_hit(4, np.array([0, 1, 2, 4]), 2).round(3).tolist()
    [1.0, 0.5, 0.167, 0.0]
    """
    n_other = n - n_relevant
    n_other_left = n_other - n_drawn
    is_possible = (n_other_left >= 0) & (n_relevant >= 0)
    log_probability = (
        special.gammaln(n - n_drawn + 1)
        - special.gammaln(n + 1)
        + special.gammaln(np.maximum(n_other, 0) + 1)
        - special.gammaln(np.maximum(n_other_left, 0) + 1)
    )
    is_certain = (n_relevant == 0) | (n_drawn == 0)
    probability = np.where(is_certain, 1.0, np.exp(log_probability))
    return np.where(is_possible, probability, 0.0)


class _Affine:
    """Moments 0, 1, ..., order of a + b u from those of u, in rows.

    E[(a + b u)^k] = sum over j of C(k, j) a^(k - j) b^j E[u^j].
    """

    def __init__(self, order: int) -> None:
        self.exponent = np.arange(order + 1)
        self.difference = self.exponent[:, None] - self.exponent
        # C(j, i) is 0 above the diagonal.
        self.binomial = special.comb(self.exponent[:, None], self.exponent)

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
