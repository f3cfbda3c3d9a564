"""What missing judgments leave open between the runs of a comparison: for its sentences, caveats, pictures and pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats
from ir_lexirecall.judging.bounds import bounds_of_differences, bounds_of_wins
from ir_lexirecall.judging.ordering import depends_on_others
from ir_lexirecall.significance.binomial import sign_test

DEPTH = 100
"""Down to which rank documents count by a criterion without a cutoff."""
_NOISE = 1e-12
_WITH_OUTER = ("sign", "t", "bootstrap", "randomisation")
_MOST = 30_000_000  # documents of runs, or of pairs, that are looked at without being asked


@dataclass(frozen=True)
class LeftOpen:
    """What the unjudged documents of P pairs of runs could change by one criterion, on the Q queries that count."""

    depth: int  # down to which rank of either run
    is_open: Bools  # whether either run can win, shape ``(P, Q)``
    # Ends of what the sign test estimates, net wins / decided queries; otherwise of a measure's mean difference, or of a
    # preference's net wins / queries; shape ``(P,)``.
    low: Floats
    high: Floats
    # The ends of the interval that holds sampling of (independent) queries, too: of the sign test, from the lower end
    # of its interval under the worst judging to the upper one under the best; of means, Imbens and Manski's. None of
    # other tests, and of a preference's mean.
    outer: tuple[Floats, Floats] | None
    exact: Bools  # whether some judging does it, shape ``(P,)``; else "can" may be too much
    is_shared: bool  # whether documents that both runs have at the same rank can decide as well

    @property
    def holds_zero(self) -> Bools:
        """Whether the sign of the difference could be another one, or none, shape ``(P,)``."""
        return (self.low <= _NOISE) & (self.high >= -_NOISE)


def left_open(comparison: Any, name: str) -> LeftOpen | None:
    """What missing judgments leave open by one criterion; None where that is not known, or takes long.

    It is not known of criteria without a proven algorithm, of runs whose unjudged documents are not at hand, and where there are no
    unjudged documents.
    """
    scored, criterion = comparison.scored, comparison.by[name]
    if scored is None or not len(comparison.pairs) or not criterion.query_ids or not scored.has_unjudged:
        return None
    counted = np.array([scored.judgments.place[query_id] for query_id in criterion.query_ids], dtype=np.int64)
    test, alpha = comparison.test_of(name).name, comparison.test.alpha
    a, b = comparison.places
    own = scored.measures[name].params.get("cutoff") if criterion.is_measure else criterion.preferences.cutoff
    depth = DEPTH if own is None else own
    try:
        pool = scored.pool(max(DEPTH, depth))
    except (OSError, ValueError):  # aligned already, changed since, or read up
        return None
    if pool.is_judged.all() or len(pool.query) * len(a) > _MOST:
        return None
    if criterion.is_measure:
        bounds = bounds_of_differences(pool, scored.measures[name], scored.values[name], a, b, depth=depth)
        if bounds is None:
            return None
        low, high, exact = bounds.low, bounds.high, bounds.exact
        means: tuple[Floats, ...] = bounds.mean(counted, alpha)
    else:
        of_pairs = criterion.preferences
        wins = bounds_of_wins(pool, criterion.preference, a, b, rel=of_pairs.rel, cutoff=own, depth=depth)
        if wins is None:
            return None
        low, high, exact = wins.low.astype(np.float64), wins.high.astype(np.float64), wins.exact
        means = low[:, counted].mean(axis=1), high[:, counted].mean(axis=1)
    what = scored.measures[name] if criterion.is_measure else criterion.preference
    # By a preference, a query without a relevant document is a tie, until an unjudged one turns out to be relevant.
    signs = counted if criterion.is_measure else np.arange(low.shape[1])
    ends = _of_signs(low[:, signs], high[:, signs], alpha) if test == "sign" else means
    is_known = test in _WITH_OUTER and not comparison.cluster and comparison.predicted is None
    return LeftOpen(
        depth=depth,
        is_open=((low < -_NOISE) & (high > _NOISE))[:, counted],
        low=ends[0],
        high=ends[1],
        outer=(ends[2], ends[3]) if is_known and len(ends) == 4 else None,
        exact=np.all(exact[:, counted], axis=1),
        is_shared=depends_on_others(what, pool),
    )


def _of_signs(low: Floats, high: Floats, alpha: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Ends of what the sign test estimates, and of its intervals, over all judgings, shape ``(P,)`` each; from ends of shape ``(P, Q)``.

    Queries are judged independently, and both ends of the interval rise with every win more and every loss less: the worst outcome of
    every query gives the lowest, the best one the highest.
    """
    worst, best = (sign_test(np.where(np.abs(x) > _NOISE, x, 0.0), alpha) for x in (low, high))
    return worst.estimate, best.estimate, worst.low, best.high
