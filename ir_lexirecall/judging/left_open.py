"""What missing judgments leave open between the runs of a comparison: for its sentences, caveats, pictures and pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats
from ir_lexirecall.judging.bounds import bounds_of_differences, bounds_of_wins
from ir_lexirecall.judging.ordering import depends_on_others

DEPTH = 100
"""Down to which rank documents count by a criterion without a cutoff."""
_NOISE = 1e-12
_MOST = 30_000_000  # documents of runs, or of pairs, that are looked at without being asked


@dataclass(frozen=True)
class LeftOpen:
    """What the unjudged documents of P pairs of runs could change by one criterion, on the Q queries that count.

    Attributes:
        depth: down to which rank of either run.
        is_open: whether either run can win, shape ``(P, Q)``.
        low, high: of a measure's mean difference, shape ``(P,)``; of a preference what net wins / queries can come to if the open
            queries go one way.
        outer: of a measure, the ends of the interval that holds sampling of (independent) queries, too; None of a preference.
        exact: whether some judging does it, shape ``(P,)``; else "can" may be too much.
        is_shared: whether documents that both runs have at the same rank can decide as well.
    """

    depth: int
    is_open: Bools
    low: Floats
    high: Floats
    outer: tuple[Floats, Floats] | None
    exact: Bools
    is_shared: bool

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
        is_open = (bounds.low < -_NOISE) & (bounds.high > _NOISE)
        low, high, *outer = bounds.mean(counted, comparison.test.alpha)
        exact = bounds.exact
    else:
        of_pairs = criterion.preferences
        wins = bounds_of_wins(pool, criterion.preference, a, b, rel=of_pairs.rel, cutoff=own, depth=depth)
        if wins is None:
            return None
        is_open = wins.a_can & wins.b_can
        today = np.sign(np.concatenate(list(criterion.differences(a, b))))
        closed = np.where(is_open[:, counted], 0, today).mean(axis=1)
        share = is_open[:, counted].mean(axis=1)
        low, high, outer, exact = closed - share, closed + share, [], wins.exact
    what = scored.measures[name] if criterion.is_measure else criterion.preference
    return LeftOpen(
        depth=depth,
        is_open=is_open[:, counted],
        low=low,
        high=high,
        outer=(outer[0], outer[1]) if outer and not comparison.cluster else None,
        exact=np.all(exact[:, counted], axis=1),
        is_shared=depends_on_others(what, pool),
    )
