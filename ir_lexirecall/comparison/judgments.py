"""What judgments that are missing, or made by a program, mean for pairs of runs: bounds, what to judge next, predictions, when to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall._util.errors import check_integer, shown_names
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import settled
from ir_lexirecall.comparison.criteria import Criterion, Places, PreferenceCriterion
from ir_lexirecall.comparison.verdicts import ANY_JUDGING, NOT_BOUNDED, UNDONE
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.judging.algorithms import Judgings
from ir_lexirecall.judging.bounds import ValueBounds, refuse_or_warn_of, shares_documents
from ir_lexirecall.judging.predicted import (
    PredictionPowered,
    human_queries,
    powered_margin_test,
    prediction_powered,
    sequential_signs,
    with_people_alone,
)
from ir_lexirecall.judging.unjudged import PooledRuns, Unjudged
from ir_lexirecall.judging.winners import WEIGHTS
from ir_lexirecall.preferences.functions import PAIRWISE
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance import MarginTest, SignificanceTest, margin_test
from ir_lexirecall.significance.closed_form import sign_test

DEPTH = 100
"""Down to which rank documents count by a criterion without a cutoff, where nobody names a depth."""
_WITH_OUTER = ("sign", "t", "bootstrap", "randomisation")
_MOST_SHARED = 1_000_000_000  # documents in the pool, for each pair, that are looked at unasked: a few seconds
_MOST_APART = 20_000_000  # documents of the two rankings of each pair, where nothing is shared between pairs
_COUNTS = ("certain_wins", "certain_losses", "open", "certain_ties")
Interval = tuple[Floats, Floats]
IntervalOf = Callable[[Criterion, bool], Interval]
"""The interval of each pair by a criterion: what its test estimates, or (True) of the mean difference."""


def bounds_table(
    scored: ScoredRuns | None,
    criteria: Sequence[Criterion],
    pairs: Sequence[tuple[str, str]],
    places: Places,
    interval_of: IntervalOf,
    judgings: Judgings,
    alpha: float,
) -> pd.DataFrame:
    """The rows of ``Comparison.bounds``, a part per criterion.

    Args:
        pairs, places: the runs that are compared, by their names and by their places among the runs.
        interval_of: the interval of a measure's mean difference, as it is judged, which that of the bounds holds, too.
        judgings: which are possible.

    Returns:
        The columns of ``Comparison.bounds``, missing where a criterion has no proven algorithm. ``attrs``: ``notes`` on runs that are
        shallower than the depth, ``no_algorithm``, criteria without one.

    Raises:
        ValueError: no criterion has a proven algorithm, or ``depth`` is above a cutoff.
    """
    measured = [_measured(scored, criterion) for criterion in criteria]
    pool = _pool(scored, judgings.depth, measured)
    parts, lacking = [], []
    for criterion, what in zip(criteria, measured, strict=True):
        columns: dict[str, Any] = {
            "criterion": criterion.name,
            "run_a": [a for a, _ in pairs],
            "run_b": [b for _, b in pairs],
        }
        if isinstance(what, Preference):
            wins = pool.wins(what, *places, judgings)
            if wins is not None:
                columns |= {**wins.counts(), "exact": wins.exact.all(axis=1)}
        else:
            values = scored.values[criterion.name] if scored is not None else np.zeros((0, 0))
            bounds = pool.differences(what, values, *places, judgings)
            if bounds is not None:
                counted = _counted(pool, criterion)
                size = _magnitude(bounds, values, places, counted).mean(axis=1)
                low, high, *outer = (settled(end, size) for end in bounds.mean(counted, alpha))
                least, most = interval_of(criterion, True)
                columns |= {"low": low, "high": high, "exact": bounds.exact[:, counted].all(axis=1)}
                columns |= {"ci_low": np.minimum(outer[0], least), "ci_high": np.maximum(outer[1], most)}
        if "exact" not in columns:
            lacking.append(criterion.name)
        depth = what.params.get("cutoff") if judgings.depth is None else judgings.depth
        parts.append(pd.DataFrame(columns).assign(depth=pd.array([depth] * len(pairs), dtype="Int64")))
    refuse_or_warn_of(lacking, len(criteria))
    table = pd.concat(parts, ignore_index=True)
    table = table.astype({name: "Int64" for name in _COUNTS if name in table} | {"exact": "boolean"})
    known = ["criterion", "run_a", "run_b", *_COUNTS, "low", "high", "ci_low", "ci_high", "exact", "depth"]
    table = table[[name for name in known if name in table]]
    table.attrs = {
        "notes": _on_shallow_runs(pool, judgings.depth),
        "no_algorithm": lacking,
        "unretrieved": judgings.unretrieved,
        "alpha": alpha,
    }
    return table


def _on_shallow_runs(pool: Unjudged, depth: int | None) -> list[str]:
    """What to say of runs that retrieve fewer documents than bounds look at, and have fewer unjudged ones for that reason alone."""
    longest = pool.deepest
    wanted = int(longest.max(initial=0)) if depth is None else depth
    shallow = [name for name, n in zip(pool.names, longest.tolist(), strict=True) if n < wanted]
    if not shallow:
        return []
    return [
        f"{shown_names(shallow)} retrieve{'s' if len(shallow) == 1 else ''} fewer than {wanted} documents for every query: "
        "bounds are narrower for that reason, too"
    ]


def next_to_judge(
    scored: ScoredRuns | None, criterion: Criterion, places: Places, n: int, judgings: Judgings
) -> pd.DataFrame:
    """The rows of ``Comparison.to_judge``: see ``decides`` and ``to_judge_table``."""
    check_integer("n", n)
    what = _measured(scored, criterion)
    pool = _pool(scored, judgings.depth, [what])
    values = None if scored is None else scored.values.get(criterion.name)
    return pool.to_judge(what, n, *places, judgings, values)


def powered(
    human: Criterion, predicted: Criterion, queries: tuple[list[str], list[str]], places: Places, test: SignificanceTest
) -> PredictionPowered:
    """Differences by one criterion from judgments by people and predicted ones, of the ``queries`` of either: see ``prediction_powered``.

    A query on which a preference has nothing to say, having no relevant document, counts as a tie: else the queries that people
    judged would be no random sample of those with predictions.
    """
    d, f = (_differences(*each, places) for each in zip((human, predicted), queries, strict=True))
    result = prediction_powered(d, f, human_queries(*queries), test.alpha)
    return with_people_alone(result, d, test.of_pairs(d, bounds=human.bounds), human.bounds)


def powered_one_sided(
    result: PredictionPowered,
    human: Criterion,
    query_ids: Sequence[str],
    places: tuple[Ints, Ints],
    test: SignificanceTest,
    margin: float,
) -> MarginTest:
    """One-sided tests of what ``powered`` estimates: see ``powered_margin_test``; ``query_ids``: those that people judged."""
    d = _differences(human, query_ids, places)
    alone = margin_test(test, human.sign * d, margin)
    return powered_margin_test(result, d, alone, human.bounds, human.sign, margin)


def _differences(criterion: Criterion, query_ids: Sequence[str], places: tuple[Ints, Ints]) -> Floats:
    """Differences of pairs on some queries, 0 where a criterion has nothing to say, shape ``(P, Q)``."""
    place = {query_id: q for q, query_id in enumerate(query_ids)}
    differences = np.zeros((len(places[0]), len(place)))
    counted = [place[query_id] for query_id in criterion.query_ids]
    differences[:, counted] = np.concatenate([differences[:0, counted], *criterion.differences(*places)])
    return differences


def sequential_columns(
    criterion: Criterion, places: Places, test: SignificanceTest, alpha: float, seed: int
) -> dict[str, Any]:
    """Columns of ``Comparison.sequential`` but for the runs: see ``sequential_signs``."""
    differences = np.concatenate(list(criterion.differences(*places)))
    signs = sequential_signs(criterion.sign * differences, alpha, seed, correct=test.correction is not None)
    queries, decided = differences.shape[1], signs.decided_after > 0
    last = np.where(decided, signs.decided_after, queries) - 1
    row = np.arange(len(last))
    return {
        "verdict": [{1: "better", -1: "worse"}.get(way, "undecided") for way in (signs.sign * decided).tolist()],
        "decided_after": np.where(decided, signs.decided_after, np.nan),
        "queries": queries,
        "e": signs.e[row, last] if queries else np.ones(len(last)),
        "e_corrected": signs.e_corrected[row, last] if queries else np.ones(len(last)),
    }


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


def undecided(
    scored: ScoredRuns | None,
    criterion: Criterion,
    places: Places,
    test: SignificanceTest,
    interval_of: IntervalOf | None,
) -> Undecided | None:
    """What missing judgments leave open by one criterion; None where that is not known, or takes long.

    It is not known of criteria without a proven algorithm, of runs whose unjudged documents are not at hand, and where there are no
    unjudged documents. ``interval_of``: that of the table, None where it is no interval of independent queries.
    """
    if scored is None or (known := _known_pool(scored, criterion)) is None or too_many(scored, criterion, places):
        return None
    (pool, depth), what = known, _measured(scored, criterion)
    if not len(places[0]) or not criterion.query_ids or pool.all_judged:
        return None
    ends: tuple[Floats, ...]
    if isinstance(what, Preference):
        wins = pool.wins(what, *places, Judgings(depth))
        if wins is None:
            return None
        low, high, exact, is_open = wins.low.astype(np.float64), wins.high.astype(np.float64), wins.exact, wins.is_open
        reached = exact
        if what.NAME in WEIGHTS:  # that a tie can be reached is not certain of them
            today = pool.wins(what, *places, None)
            reached = (
                exact if today is None else exact & ((low != 0) | (today.low == 0)) & ((high != 0) | (today.high == 0))
            )
        # A query without a known relevant document takes no part, until an unjudged one turns out to be relevant.
        ends = tuple(np.mean(x, axis=1, where=~wins.unknown | (x * way > 0)) for way, x in ((-1, low), (1, high)))
    else:
        bounds = pool.differences(what, scored.values[criterion.name], *places, Judgings(depth))
        if bounds is None:
            return None
        counted = _counted(pool, criterion)
        exact = reached = bounds.exact[:, counted]
        ends = bounds.mean(counted, test.alpha)
        size = _magnitude(bounds, scored.values[criterion.name], places, counted)
        low, high = settled(bounds.low[:, counted], size), settled(bounds.high[:, counted], size)
        is_open = (low < 0) & (high > 0)
        ends = (*(settled(end, size.mean(axis=1)) for end in ends[:2]), *ends[2:])
    if test.name == "sign":
        # Queries are judged independently, and both ends of the interval rise with every win more and every loss less.
        worst, best = (sign_test(x, test.alpha) for x in (low, high))
        ends = worst.estimate, best.estimate, worst.low, best.high
    graded = isinstance(what, Preference) and what.NAME in PAIRWISE and test.name != "sign"
    if graded:  # whose mean the wins do not bound
        ends = np.full(len(places[0]), np.nan), np.full(len(places[0]), np.nan)
    outer = None
    if test.name in _WITH_OUTER and interval_of is not None and len(ends) == 4:
        least, most = interval_of(criterion, False)
        outer = np.minimum(ends[2], least), np.maximum(ends[3], most)
    query_ids = criterion.query_ids if criterion.is_measure else scored.judgments.query_ids
    is_shared = pool.depends_on_others(what)
    # What Wilcoxon's test estimates, and what is estimated of groups or with predictions, is another number.
    of_queries = np.full(len(places[0]), interval_of is not None and test.name != "wilcoxon" and not graded)
    of_pairs = np.all(exact, axis=1), of_queries, np.all(reached, axis=1) & of_queries
    return Undecided(depth, query_ids, is_open, ends[0], ends[1], outer, *of_pairs, is_shared)


def too_many(scored: ScoredRuns | None, criterion: Criterion, places: tuple[Ints, Ints]) -> bool:
    """Whether ``undecided`` does not look at a criterion because that takes long: too many documents of too many pairs."""
    if scored is None or (known := _known_pool(scored, criterion)) is None:
        return False
    (pool, depth), what = known, _measured(scored, criterion)
    if pool.all_judged:
        return False
    together, documents = pool.documents(depth)
    if shares_documents(what, len(pool.names), len(places[0])):
        return together * len(places[0]) > _MOST_SHARED
    return int(sum(documents[of].sum() for of in places)) > _MOST_APART


def judged_depth(scored: ScoredRuns | None, criterion: Criterion) -> int | None:
    """The depth down to which all documents are judged, as deep as ``undecided`` looks; None where they are not, or it is not known."""
    known = None if scored is None else _known_pool(scored, criterion)
    return known[1] if known is not None and known[0].all_judged else None


def _known_pool(scored: ScoredRuns, criterion: Criterion) -> tuple[Unjudged, int] | None:
    """What the runs retrieved, and the depth that counts for a criterion; None where there is nothing unjudged, or it is not at hand."""
    if not scored.has_unjudged:
        return None
    own = _measured(scored, criterion).params.get("cutoff")
    depth = DEPTH if own is None else int(own)
    try:
        return _unjudged(scored, max(DEPTH, depth)), depth
    except (OSError, ValueError):  # aligned already, changed since, or read up
        return None


def _measured(scored: ScoredRuns | None, criterion: Criterion) -> IRMeasure | Preference:
    """The measure or the preference that a criterion is."""
    if scored is None:
        raise ValueError("only values were given: compare runs to see what unjudged documents could change")
    return criterion.preference if isinstance(criterion, PreferenceCriterion) else scored.measures[criterion.name]


def _pool(scored: ScoredRuns | None, depth: int | None, measured: Sequence[IRMeasure | Preference]) -> Unjudged:
    """What the runs retrieved, as deep as any criterion looks."""
    assert scored is not None
    cutoffs = [what.params.get("cutoff") for what in measured]
    return _unjudged(
        scored, depth if depth is not None or None in cutoffs else max(k for k in cutoffs if k is not None)
    )


def _magnitude(bounds: ValueBounds, values: Floats, places: tuple[Ints, Ints], counted: Ints) -> Floats:
    """Of what differences and their bounds are computed from, on the queries that count: shape ``(P, Q)``."""
    low, high = np.abs(bounds.low[:, counted]), np.abs(bounds.high[:, counted])
    of_a, of_b = (np.abs(values[:, counted])[of] for of in places)
    return np.maximum.reduce([of_a, of_b, low, high])


def _unjudged(scored: ScoredRuns, depth: int | None) -> Unjudged:
    pool = scored.pool(depth)
    return pool if isinstance(pool, Unjudged) else PooledRuns(pool)


def _counted(pool: Unjudged, criterion: Criterion) -> Ints:
    """The queries that count for a criterion, as numbers."""
    return np.array([pool.judgments.place[query_id] for query_id in criterion.query_ids], dtype=np.int64)
