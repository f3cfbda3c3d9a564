"""What judgments that are missing mean for pairs of runs: bounds, what to judge next, what could be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall._util.errors import check_integer, shown_names
from ir_lexirecall._util.lazy import memoised
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import settled
from ir_lexirecall.comparison.criteria import PreferenceCriterion
from ir_lexirecall.comparison.pair_tests import Interval, TestedRuns
from ir_lexirecall.comparison.verdicts import ANY_JUDGING, NOT_BOUNDED, UNDONE
from ir_lexirecall.judging.algorithms import Judgings
from ir_lexirecall.judging.bounds import ValueBounds, refuse_or_warn_of, shares_documents
from ir_lexirecall.judging.ordering import Unjudged
from ir_lexirecall.judging.winners import WEIGHTS
from ir_lexirecall.preferences.functions import PAIRWISE
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance.closed_form import sign_test

DEPTH = 100
"""Down to which rank documents count by a criterion without a cutoff, where nobody names a depth."""
_MOST_SHARED = 1_000_000_000  # documents in the pool, for each pair, that are looked at unasked: a few seconds
_MOST_APART = 20_000_000  # documents of the two rankings of each pair, where nothing is shared between pairs
_COUNTS = ("certain_wins", "certain_losses", "open", "certain_ties")


def bounds_table(result: TestedRuns, names: Sequence[str], judgings: Judgings) -> pd.DataFrame:
    """The rows of ``Comparison.bounds``, a part per criterion.

    Returns:
        The columns of ``Comparison.bounds``, missing where a criterion has no proven algorithm. ``attrs``: ``notes`` on runs that are
        shallower than the depth, ``no_algorithm``, criteria without one.

    Raises:
        ValueError: no criterion has a proven algorithm, or ``depth`` is above a cutoff.
    """
    pool, alpha = _pool(result, judgings.depth, names), result.test.alpha
    parts, lacking = [], []
    for name in names:
        what = measured(result, name)
        columns: dict[str, Any] = {"criterion": name, **result.of_pairs}
        if isinstance(what, Preference):
            wins = pool.wins(what, result.places, judgings)
            if wins is not None:
                columns |= {**wins.counts(), "exact": wins.exact.all(axis=1)}
        elif (found := _bounds_of(result, name, pool, what, judgings)) is not None:
            low, high, *outer = (
                settled(end, found.size.mean(axis=1)) for end in found.bounds.mean(found.counted, alpha)
            )
            least, most = result.interval(name, of_mean=True)
            columns |= {"low": low, "high": high, "exact": found.bounds.exact[:, found.counted].all(axis=1)}
            columns |= {"ci_low": np.minimum(outer[0], least), "ci_high": np.maximum(outer[1], most)}
        if "exact" not in columns:
            lacking.append(name)
        depth = what.params.get("cutoff") if judgings.depth is None else judgings.depth
        parts.append(pd.DataFrame(columns).assign(depth=pd.array([depth] * len(result.pairs), dtype="Int64")))
    refuse_or_warn_of(lacking, len(names))
    table = pd.concat(parts, ignore_index=True)
    table = table.astype({name: "Int64" for name in _COUNTS if name in table} | {"exact": "boolean"})
    known = ["criterion", "run_a", "run_b", *_COUNTS, "low", "high", "ci_low", "ci_high", "exact", "depth"]
    table = table[[name for name in known if name in table]]
    wanted = int(pool.deepest.max(initial=0)) if judgings.depth is None else judgings.depth
    notes = []
    if shallow := [name for name, n in zip(pool.names, pool.deepest.tolist(), strict=True) if n < wanted]:
        retrieve = f"{shown_names(shallow)} retrieve{'s' if len(shallow) == 1 else ''}"
        notes = [f"{retrieve} fewer than {wanted} documents for every query: bounds are narrower for that reason, too"]
    table.attrs = {"notes": notes, "no_algorithm": lacking, "unretrieved": judgings.unretrieved, "alpha": alpha}
    return table


def next_to_judge(result: TestedRuns, name: str, n: int, judgings: Judgings) -> pd.DataFrame:
    """The rows of ``Comparison.to_judge``: see ``decides`` and ``to_judge_table``."""
    check_integer("n", n)
    what, pool = measured(result, name), _pool(result, judgings.depth, [name])
    values = None if result.scored is None else result.scored.values.get(name)
    return pool.to_judge(what, n, result.places, judgings, values)


@dataclass(frozen=True)
class Undecided:
    """What the unjudged documents of P pairs of runs could change by one criterion, query by query."""

    depth: int  # down to which rank of either run
    query_ids: list[str]  # the Q queries: those that count for a measure, all of the qrels for a preference
    # Whether either run can win, shape ``(P, Q)``; by a preference, where no relevant document is known, whether one of them can.
    is_open: Bools
    # Ends of what the sign test estimates, net wins / decided queries; otherwise of a measure's mean difference, or of a
    # preference's net wins / queries; shape ``(P,)``. NaN for means of preferences that are more than won or lost.
    low: Floats
    high: Floats
    # The ends of the interval that holds sampling of (independent) queries, too: of the sign test, from the lower end
    # of its interval under the worst judging to the upper one under the best; of means, Imbens and Manski's, and at least
    # the test's. None of other tests, and of a preference's mean.
    outer: Interval | None
    exact: Bools  # whether some judging does it, shape ``(P,)``; else "can" may be too much
    # Whether the sign of what the test estimates is bounded at all, and whether some judging reaches the ends, shape ``(P,)``.
    bounded: Bools
    reached: Bools
    is_shared: bool  # whether documents that both runs have at the same rank can decide as well

    @property
    def holds_zero(self) -> Bools:
        """Whether the sign of the difference could be another one, or none, shape ``(P,)``."""
        return (self.low <= 0) & (self.high >= 0)

    @property
    def holds(self) -> list[str]:
        """How the sign of what the test estimates holds: under any judging, it could be undone (by some judging), or it is not bounded."""
        could = np.where(self.reached, UNDONE, NOT_BOUNDED)
        return [
            str(word) for word in np.where(~self.bounded, NOT_BOUNDED, np.where(self.holds_zero, could, ANY_JUDGING))
        ]


@memoised
def undecided(result: TestedRuns, name: str) -> Undecided | None:
    """What missing judgments leave open by one criterion; None where that is not known, or takes long.

    It is not known of criteria without a proven algorithm, of runs whose unjudged documents are not at hand, and where there are no
    unjudged documents.
    """
    scored, criterion, places, test = result.scored, result.by[name], result.places, result.test_of(name)
    if scored is None or (known := _known_pool(result, name)) is None or too_many(result, name):
        return None
    (pool, depth), what = known, measured(result, name)
    if not len(places[0]) or not criterion.query_ids or pool.all_judged:
        return None
    ends: tuple[Floats, ...]
    if isinstance(what, Preference):
        wins = pool.wins(what, places, Judgings(depth))
        if wins is None:
            return None
        low, high, exact, is_open = wins.low.astype(np.float64), wins.high.astype(np.float64), wins.exact, wins.is_open
        reached = exact
        if what.NAME in WEIGHTS:  # that a tie can be reached is not certain of them
            today = pool.wins(what, places, None)
            reached = (
                exact if today is None else exact & ((low != 0) | (today.low == 0)) & ((high != 0) | (today.high == 0))
            )
        # A query without a known relevant document takes no part, until an unjudged one turns out to be relevant.
        ends = tuple(np.mean(x, axis=1, where=~wins.unknown | (x * way > 0)) for way, x in ((-1, low), (1, high)))
    else:
        if (found := _bounds_of(result, name, pool, what, Judgings(depth))) is None:
            return None
        bounds, counted, size = found
        exact = reached = bounds.exact[:, counted]
        ends = bounds.mean(counted, test.alpha)
        low, high = settled(bounds.low[:, counted], size), settled(bounds.high[:, counted], size)
        is_open = (low < 0) & (high > 0)
        ends = (*(settled(end, size.mean(axis=1)) for end in ends[:2]), *ends[2:])
    procedure = test.procedure
    if procedure.of == "signs":
        # Queries are judged independently, and both ends of the interval rise with every win more and every loss less.
        worst, best = (sign_test(x, test.alpha) for x in (low, high))
        ends = worst.estimate, best.estimate, worst.low, best.high
    graded = isinstance(what, Preference) and what.NAME in PAIRWISE and procedure.of != "signs"
    if graded:  # whose mean the wins do not bound
        ends = np.full(len(places[0]), np.nan), np.full(len(places[0]), np.nan)
    # What is estimated of groups or with predictions, and by Wilcoxon's test, is another number.
    of_queries = not result.test.cluster and result.predicted is None
    outer = None
    is_centre = procedure.of == "centre"
    if not is_centre and not procedure.at_once and of_queries and len(ends) == 4:
        least, most = result.interval(name, of_mean=False)
        outer = np.minimum(ends[2], least), np.maximum(ends[3], most)
    query_ids = criterion.query_ids if criterion.is_measure else scored.judgments.query_ids
    is_shared = pool.depends_on_others(what)
    bounded = np.full(len(places[0]), of_queries and not is_centre and not graded)
    of_pairs = np.all(exact, axis=1), bounded, np.all(reached, axis=1) & bounded
    return Undecided(depth, query_ids, is_open, ends[0], ends[1], outer, *of_pairs, is_shared)


@memoised
def too_many(result: TestedRuns, name: str) -> bool:
    """Whether ``undecided`` does not look at a criterion because that takes long (too many documents of too many pairs); ``bounds`` does."""
    if (known := _known_pool(result, name)) is None or known[0].all_judged:
        return False
    (pool, depth), places = known, result.places
    together, documents = pool.documents(depth)
    if shares_documents(measured(result, name), len(pool.names), len(places[0])):
        return together * len(places[0]) > _MOST_SHARED
    return int(sum(documents[of].sum() for of in places)) > _MOST_APART


def holds(result: TestedRuns, name: str) -> tuple[int | None, list[str]]:
    """How the sign of each pair's difference holds, as in ``Comparison.verdicts``, down to which depth; (None, ...) where nothing is bounded."""
    left = undecided(result, name)
    if left is not None:
        return left.depth, left.holds
    known = _known_pool(result, name)
    if known is None or not known[0].all_judged:
        return None, [NOT_BOUNDED] * len(result.pairs)
    return known[1], [ANY_JUDGING] * len(result.pairs)


def measured(result: TestedRuns, name: str) -> IRMeasure | Preference:
    """The measure or the preference that a criterion is."""
    if result.scored is None:
        raise ValueError("only values were given: compare runs to see what unjudged documents could change")
    criterion = result.by[name]
    return criterion.preference if isinstance(criterion, PreferenceCriterion) else result.scored.measures[name]


def _known_pool(result: TestedRuns, name: str) -> tuple[Unjudged, int] | None:
    """What the runs retrieved, and the depth that counts for a criterion; None where there is nothing unjudged, or it is not at hand."""
    if result.scored is None or not result.scored.has_unjudged:
        return None
    own = measured(result, name).params.get("cutoff")
    depth = DEPTH if own is None else int(own)
    try:
        return _pool(result, max(DEPTH, depth), [name]), depth
    except (OSError, ValueError):  # aligned already, changed since, or read up
        return None


def _pool(result: TestedRuns, depth: int | None, names: Sequence[str]) -> Unjudged:
    """What the runs retrieved, as deep as any criterion looks, or to a ``depth``."""
    cutoffs = [measured(result, name).params.get("cutoff") for name in names]
    assert result.scored is not None
    if depth is None and None not in cutoffs:
        depth = max(k for k in cutoffs if k is not None)
    pool = result.scored.pool(depth)
    return pool if isinstance(pool, Unjudged) else Unjudged(pool)


class _Bounds(NamedTuple):
    """Bounds of a measure's differences, the queries that count, and the size of what both are computed from, shape ``(P, Q)``."""

    bounds: ValueBounds
    counted: Ints
    size: Floats


def _bounds_of(result: TestedRuns, name: str, pool: Unjudged, measure: IRMeasure, judgings: Judgings) -> _Bounds | None:
    assert result.scored is not None
    values = result.scored.values[name]
    bounds = pool.differences(measure, values, result.places, judgings)
    if bounds is None:
        return None
    counted = np.array([pool.judgments.place[query_id] for query_id in result.by[name].query_ids], dtype=np.int64)
    ends = [*(values[:, counted][of] for of in result.places), bounds.low[:, counted], bounds.high[:, counted]]
    return _Bounds(bounds, counted, np.maximum.reduce(np.abs(ends)))
