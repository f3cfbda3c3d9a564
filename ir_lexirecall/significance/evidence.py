"""What few differing queries can show: floors of p-values, and what a sample may miss.

Two runs that agree on every query of a sample may differ on others. So ties are no evidence that
they are equivalent, and a test of means cannot tell more than the queries that differ.

Symbols: d, the difference on a query; n queries; D, a margin; W, the width of the range of a
measure, and so the largest loss on a query (1 for most measures, 2 for a preference).
"""

from __future__ import annotations

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints

CONVINCING = 8  # so many differences as large as the margin leave p without a floor
DECREASE = 5  # differences over which the weight of the floor falls from 1 to 0
_HALVINGS = 60  # of an interval that holds a root
_STEPS = 64  # in which losses below the margin are tried


def differing_queries(x: Floats) -> Ints:
    """Return on how many queries each pair differs.

    >>> differing_queries(np.array([[0.1, 0.0, -0.2], [0.0, 0.0, 0.0]]))
    array([2, 0])
    """
    return np.count_nonzero(x, axis=1)


def least_two_sided_p(differing: Ints) -> Floats:
    """Return the smallest two-sided p of a paired test of means, for each number of differences.

    Exchanging the signs of k differences gives a p of at least 2^(1-k).

    >>> least_two_sided_p(np.array([0, 1, 4, 6]))
    array([1.     , 1.     , 0.125  , 0.03125])
    """
    return np.minimum(1.0, np.ldexp(2.0, -np.asarray(differing)))


def tie_weight(x: Floats, margins: Floats | float) -> Floats:
    """Return the weight of the floor of p: 1 if nearly all queries tie, 0 if enough differ.

    S = sum over queries of min(|d| / D, 1): a difference much smaller than the margin counts as a
    tie. The weight is (8 - S) / 5, cut to [0, 1].

    Args:
        x: differences of P pairs on Q queries, shape ``(P, Q)``.
        margins: D of each pair, shape ``(P,)``, or of all.

    >>> tie_weight(np.array([[0.0] * 10, [0.1] * 5 + [0.0] * 5, [0.1] * 10]), 0.01)
    array([1. , 0.6, 0. ])
    """
    return weight_of_ties(shares_of_margin(x, margins).sum(axis=1))


def shares_of_margin(x: Floats, margins: Floats | float) -> Floats:
    """Return min(|d| / D, 1) of each difference, 0 for a tie; arguments as in ``tie_weight``.

    >>> shares_of_margin(np.array([[0.0, 0.25, -2.0]]), 0.5)
    array([[0. , 0.5, 1. ]])
    """
    margin = np.broadcast_to(margins, len(x)).astype(np.float64)[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.where(x == 0, 0.0, np.minimum(np.abs(x) / margin, 1.0))


def weight_of_ties(total: Floats) -> Floats:
    """Return the weight of the floor of p for S, the sum of the shares of the margin.

    >>> weight_of_ties(np.array([0.0, 5.5, 8.0]))
    array([1. , 0.5, 0. ])
    """
    return np.clip((CONVINCING - total) / DECREASE, 0.0, 1.0)


def least_margin_p(x: Floats, margins: Floats | float, width: Floats | float) -> Floats:
    """Return the smallest p of *not worse* and of *within margin*, w (1 - D / W)^n.

    It is the chance that a sample shows only ties if a share D / W of all queries loses W. For a
    margin of 0 it is 0: that asks for a gain, of which ties are no evidence anyway.

    Args:
        x: differences of P pairs on Q queries, shape ``(P, Q)``.
        margins: D of each pair, shape ``(P,)``, or of all.
        width: W, the largest loss on a query.

    >>> least_margin_p(np.zeros((1, 10)), 0.01, 1.0).round(3)
    array([0.904])
    """
    least = tie_weight(x, margins) * chance_of_ties(x.shape[1], margins, width)
    return np.where(np.asarray(margins) > 0, least, 0.0)


def chance_of_ties(
    queries: Floats | int, margins: Floats | float, width: Floats | float
) -> Floats:
    """Return (1 - D / W)^n; 0 if the margin is as wide as the range."""
    margins, width = np.broadcast_arrays(
        np.asarray(margins, dtype=np.float64), np.asarray(width, dtype=np.float64)
    )
    share = np.divide(margins, width, out=np.ones(margins.shape), where=width > margins)
    return (1.0 - share) ** queries


def least_loss_ruled_out(
    x: Floats, margins: Floats, width: Floats | float, alpha: float
) -> Floats:
    """Return the smallest loss that ties let a test rule out, as *not worse* at ``alpha``.

    Ties forbid *not worse* exactly if it is above the margin. It is 0 if enough queries differ.
    Ten identical queries rule out no loss below 0.26.

    >>> ties = np.zeros((1, 10))
    >>> least_loss_ruled_out(ties, np.array([0.01]), 1.0, 0.05).round(3)
    array([0.259])
    >>> least_loss_ruled_out(ties, np.array([0.5]), 1.0, 0.05).round(3)
    array([0.259])
    """
    margins = np.broadcast_to(margins, len(x)).astype(np.float64)
    width = np.broadcast_to(width, len(x)).astype(np.float64)
    loss = np.zeros(len(x))
    rows = np.flatnonzero((margins > 0) & (tie_weight(x, margins) > alpha))
    if not len(rows):
        return loss
    x, margins, width = x[rows], margins[rows], width[rows]
    beyond = width * unseen_share(x.shape[1], alpha)
    forbidden = np.where(least_margin_p(x, margins, width) > alpha, margins, 0.0)
    allowed = np.where(forbidden > 0, np.maximum(beyond, margins), margins)
    # Below the margin the floor may rise and fall again: look for the largest loss that it forbids.
    for share in np.arange(1, _STEPS) / _STEPS:
        is_forbidden = least_margin_p(x, share * margins, width) > alpha
        is_below = allowed == margins
        forbidden = np.where(is_below & is_forbidden, share * margins, forbidden)
    allowed = np.where(
        allowed == margins, np.minimum(allowed, forbidden + margins / _STEPS), allowed
    )
    is_infinite = np.isinf(allowed)
    for _ in range(_HALVINGS):
        middle = np.where(is_infinite, allowed, (forbidden + allowed) / 2)
        forbids = ~is_infinite & (least_margin_p(x, middle, width) > alpha)
        forbidden = np.where(forbids, middle, forbidden)
        allowed = np.where(forbids, allowed, middle)
    loss[rows] = np.where(forbidden > 0, allowed, 0.0)
    return loss


def unseen_share(queries: int, alpha: float = 0.05) -> float:
    """Return the share of queries that a sample misses altogether with a probability of ``alpha``.

    It is 1 - alpha^(1 / n). An effect on fewer queries may be missing in the sample.

    >>> round(unseen_share(50), 3), round(unseen_share(10), 2), unseen_share(0)
    (0.058, 0.26, 1.0)
    """
    if queries < 1:
        return 1.0
    return float(1 - alpha ** (1 / queries))


def may_miss(queries: int, margin: float, width: float, alpha: float = 0.05) -> bool:
    """Return whether so many queries may miss a loss as large as the margin.

    >>> may_miss(298, 0.01, 1.0), may_miss(299, 0.01, 1.0)
    (True, False)
    """
    return bool(margin > 0 and chance_of_ties(queries, margin, width) > alpha)
