"""From preferences on queries to one order of the systems."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ir_lexirecall.arrays import Floats, Ints
from ir_lexirecall.errors import needs

_TELEPORT = 0.05  # keeps MC4's chain connected where a system is never beaten


def borda(wins: Ints, ties: Ints) -> Floats:
    """Mean points per query: one for each system beaten, half for each tie. Counts have shape ``(S, S)``."""
    queries = max(1, int((wins + wins.T + ties)[0, 1]))
    points = wins.astype(np.float64) + ties / 2
    np.fill_diagonal(points, 0)
    return points.sum(axis=1) / queries


def mc4(wins: Ints, ties: Ints) -> Floats:
    """Stationary distribution of MC4: from a system go to a random one, if most queries prefer that."""
    size = len(wins)
    step = (wins < wins.T).astype(np.float64) / size  # from the row's system to the column's
    np.fill_diagonal(step, 0)
    np.fill_diagonal(step, 1 - step.sum(axis=1))
    step = (1 - _TELEPORT) * step + _TELEPORT / size
    # pi (step - 1) = 0 with sum pi = 1
    equations = np.vstack([step.T - np.eye(size), np.ones(size)])
    return np.linalg.lstsq(equations, np.r_[np.zeros(size), 1.0], rcond=None)[0]


def bradley_terry(wins: Ints, ties: Ints) -> Floats:
    """Log strengths of the Bradley-Terry model, ties half a win for each; slightly regularised, by choix.

    Where systems are (almost) perfectly ordered, the strengths that maximise the likelihood are infinite and choix does not
    converge: it is then regularised more, ten times as much at a time, until it does.
    """
    try:
        import choix
    except ModuleNotFoundError:
        raise ModuleNotFoundError(needs("ranking('bradley-terry')", "choix", "compare")) from None
    won = wins + ties / 2
    np.fill_diagonal(won, 0)
    alpha = 0.01  # rate of the comparisons that anyone may win
    while True:
        try:
            strengths: Floats = choix.ilsr_pairwise_dense(won, alpha=alpha)
        except RuntimeError:
            pass
        else:
            if np.isfinite(strengths).all():
                return strengths
        alpha *= 10


METHODS: dict[str, Callable[[Ints, Ints], Floats]] = {"borda": borda, "mc4": mc4, "bradley-terry": bradley_terry}
