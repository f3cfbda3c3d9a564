"""Bounds of cascade measures, in which a document hides those below it: ERR and its kin."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints, position_in_segment
from ir_lexirecall.judging.ranking_pairs import Gain, Largest, RankingPairs, Retrieved
from ir_lexirecall.measures.discounts import Discount, cwl, expected_reciprocal_rank

_MOST_SHARED = 6  # open documents of both rankings whose 2^s judgings are all looked at


def cascade(gain: Gain, best: float, pairs: RankingPairs) -> Largest:
    """Bound the sum of r_i / i times the product of (1 - r_j) over j < i: ERR.

    ERR rises with every r_i, as what a document hides is worth at most 1 / (i + 1). The difference
    of two rankings is linear in the gain of each document, so grades 0 and `max_rel` are enough.
    Open documents of A alone get `max_rel`, those of B alone 0; of those in both, all choices are
    looked at, up to 2^6. If there are more, the bound is that of A's largest and B's smallest
    value, which no single judging may reach.

    Args:
        gain: of a grade.
        best: gain of the best grade that a document can get.
        pairs: the cases.
    """
    in_a, in_b = pairs.a.has, pairs.b.has
    shared = np.flatnonzero(pairs.shared)
    n_shared = np.bincount(pairs.case[shared], minlength=len(pairs))
    is_exact = n_shared <= _MOST_SHARED
    gains = np.where(pairs.is_open, 0.0, gain(pairs.grade))
    gains[pairs.is_open & in_a & ~in_b] = best
    with_all = gains.copy()
    with_all[shared] = best
    every = np.ones(len(pairs), dtype=bool)
    outer = _err(pairs, pairs.a, with_all, every) - _err(pairs, pairs.b, gains, every)
    high = np.where(is_exact, -np.inf, outer)
    for some_gains, cases in _choices(pairs, shared, n_shared, gains, best):
        of_a, of_b = (_err(pairs, one, some_gains, cases) for one in (pairs.a, pairs.b))
        high = np.where(cases, np.maximum(high, of_a - of_b), high)
    movable = pairs.count(pairs.is_open & (in_a | in_b)) > 0
    return np.where(movable, high, pairs.difference), is_exact


def _choices(
    pairs: RankingPairs, shared: Ints, n_shared: Ints, gains: Floats, best: float
) -> Iterator[tuple[Floats, Bools]]:
    """Yield the gains by every choice of relevant documents among the shared ones.

    The i-th bit of a choice says whether the i-th shared document of each case is relevant. With
    the gains come the cases that have as many choices, and few enough to look at all.
    """
    # A shift takes at most 62 bits.
    nth = np.minimum(position_in_segment(pairs.case[shared]), 62)
    is_exact = n_shared <= _MOST_SHARED
    n_choices = 2 ** np.minimum(n_shared, _MOST_SHARED)
    for choice in range(2 ** int(n_shared[is_exact].max(initial=0))):
        chosen = gains.copy()
        chosen[shared] = np.where(choice >> nth & 1, best, 0.0)
        yield chosen, is_exact & (choice < n_choices)


def _err(pairs: RankingPairs, one: Retrieved, gains: Floats, cases: Bools) -> Floats:
    """Return the ERR of one ranking in some of the cases, 0 in the others."""
    row = pairs.in_order(one, (gains > 0) & cases[pairs.case])
    rank = one.rank[row].astype(np.int64)
    return expected_reciprocal_rank(pairs.case[row], rank, gains[row], len(pairs))


def expected_utility(
    gain: Gain, best: float, discount: Discount, end: float, pairs: RankingPairs
) -> Largest:
    """Bound sum V r / sum V: CWL_ERR8 to CWL_ERR11, NERR8 to NERR11.

    V(i) = B(i) times the product of (1 - r_j) over j < i, and B falls. A larger r_i adds at least
    as much to sum V r as it hides further down, and shortens sum V: the value rises with every
    gain. Open documents of A get the best gain, those of B none. One judging does both if no open
    document is in both rankings.

    Args:
        gain: of a grade.
        best: gain of the best grade that a document can get.
        discount: B.
        end: the last rank that is looked at.
        pairs: the cases.
    """

    def value(one: Retrieved, gains: Floats) -> Floats:
        """Return the value of one ranking."""
        row = pairs.in_order(one, gains > 0)
        case, rank = pairs.case[row], one.rank[row].astype(np.int64)
        unjudged = np.zeros(len(pairs))
        items, utility = cwl(
            case, rank, gains[row], discount, end=end, unjudged=unjudged
        )
        return utility / items

    worst = np.where(pairs.is_open, 0.0, gain(pairs.grade))
    high = value(pairs.a, np.where(pairs.is_open, best, worst)) - value(pairs.b, worst)
    in_a, in_b = (
        one.has & (one.rank <= end) & pairs.is_open for one in (pairs.a, pairs.b)
    )
    movable = pairs.count(in_a | in_b) > 0
    return np.where(movable, high, pairs.difference), pairs.count(in_a & in_b) == 0
