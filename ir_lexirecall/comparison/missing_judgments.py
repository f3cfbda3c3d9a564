"""Effect of missing judgments on pairs of runs: bounds, what to judge next, what could change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats, Interval
from ir_lexirecall._util.errors import check_integer, shown_names
from ir_lexirecall._util.lazy import Memoised, memoised
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import settled
from ir_lexirecall._util.selecting import among
from ir_lexirecall.comparison.compared import ComparedRuns
from ir_lexirecall.comparison.criteria import PreferenceCriterion
from ir_lexirecall.comparison.pair_tests import PairTests
from ir_lexirecall.comparison.tried_judgings import TriedJudgings
from ir_lexirecall.comparison.verdicts import (
    ANY_JUDGING,
    BETTER,
    NOT_BOUNDED,
    UNDONE,
    WORSE,
)
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.judging.algorithms import DEFAULT_DEPTH, Judgings
from ir_lexirecall.judging.bounds import (
    ValueBounds,
    refuse_or_warn_of,
    shares_documents,
)
from ir_lexirecall.judging.unjudged import (
    OpenPairs,
    PooledDocuments,
    RetrievedDocuments,
)
from ir_lexirecall.judging.winners import WEIGHTS
from ir_lexirecall.preferences.functions import PAIRWISE
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance.closed_form import sign_test

# More than so many documents of pairs are looked at only if somebody asks: they take a few seconds.
# Documents of the pool times pairs, if all pairs share their documents.
_MOST_SHARED = 1_000_000_000
# Documents of the two rankings of each pair, added up, if they do not.
_MOST_APART = 20_000_000
# Documents of the two rankings of each pair, added up, if judgings are tried one by one.
_MOST_TRIED = 1_000_000

_QUERY_COUNTS = ("certain_wins", "certain_losses", "open", "certain_ties")
_ENDS = ("low", "high", "ci_low", "ci_high")


@dataclass(frozen=True)
class Undecided:
    """What unjudged documents could change between P pairs of runs on Q queries, by one criterion.

    The queries are those that count for a measure, and all queries of the qrels for a preference.

    Attributes:
        depth: rank of either run down to which documents may get any grade.
        query_ids: ids of the Q queries.
        is_open: whether either run can win, shape `(P, Q)`; by a preference, where no relevant
            document is known, whether one of them can.
        low, high: ends of what the test estimates, shape `(P,)`: of the sign test, net wins /
            decided queries; else the mean difference of a measure, or net wins / queries. NaN for
            means of preferences that are more than won or lost.
        outer: ends of the interval that holds the sampling of (independent) queries, too. By the
            sign test, from the lower end of its interval under the worst judging to the upper end
            under the best. By tests of means, that of Imbens and Manski, and at least the test's.
            None by other tests, and for means of preferences.
        exact: whether some judging does what can be done, shape `(P,)`; else "can" may be too much.
        bounded: whether the sign of what the test estimates is bounded at all.
        reached: whether it is, and some judging reaches the ends, shape `(P,)`.
        is_shared: whether documents at the same rank in both runs can decide, too.
    """

    depth: int
    query_ids: list[str]
    is_open: Bools
    low: Floats
    high: Floats
    outer: Interval | None
    exact: Bools
    bounded: bool
    reached: Bools
    is_shared: bool

    @property
    def holds_zero(self) -> Bools:
        """Whether the difference could be zero or change its sign, shape `(P,)`."""
        return (self.low <= 0) & (self.high >= 0)

    @property
    def holds(self) -> list[str]:
        """How the sign of what the test estimates holds: see `Comparison.verdicts`."""
        if not self.bounded:
            return [NOT_BOUNDED] * len(self.low)
        could = np.where(self.reached, UNDONE, NOT_BOUNDED)
        words: list[str] = np.where(self.holds_zero, could, ANY_JUDGING).tolist()
        return words


@dataclass(frozen=True)
class _Ends:
    """What any judging can make of P pairs on Q queries, by one criterion."""

    low: Floats  # under the worst judging, shape `(P, Q)`
    high: Floats  # under the best judging, shape `(P, Q)`
    mean_low: Floats  # of the mean over the queries, shape `(P,)`
    mean_high: Floats
    # Ends that hold the sampling of queries, too, shape `(P,)` each.
    outer: Interval | None
    is_open: Bools  # whether either run can win, shape `(P, Q)`
    exact: Bools  # whether some judging does it, shape `(P, Q)`
    reached: Bools  # whether some judging reaches the ends, shape `(P, Q)`


@dataclass(frozen=True, eq=False)
class MissingJudgments(Memoised):
    """What documents that runs retrieved and nobody judged could change between tested runs."""

    tests: PairTests

    @property
    def compared(self) -> ComparedRuns:
        """The runs."""
        return self.tests.compared

    def bounds(self, by: str | None, judgings: Judgings) -> pd.DataFrame:
        """Bound each pair by what any judging can make of it; see ``Comparison.bounds``."""
        names = self.compared.names(by)
        pool = self._pool(judgings, names)
        columns = {name: self._bounds_columns(name, pool, judgings) for name in names}
        without = [name for name in names if "exact" not in columns[name]]
        refuse_or_warn_of(without, len(names))
        table = self.compared.frame(self._bounds_table(columns, judgings))
        table.attrs |= {
            "notes": self._on_shallow_runs(pool, names, judgings),
            "no_algorithm": without,
            "unretrieved": judgings.unretrieved,
            "alpha": self.compared.test.alpha,
        }
        return table

    def _bounds_columns(
        self, name: str, pool: RetrievedDocuments, judgings: Judgings
    ) -> dict[str, Any]:
        """Return the columns of ``bounds`` for one criterion; without ``exact`` if it has none."""
        criterion = self._measured(name)
        if isinstance(criterion, Preference):
            wins = pool.wins(criterion, self.compared.pair_indices, judgings)
            if wins is None:
                return {}
            return {**wins.counts(), "exact": wins.exact.all(axis=1)}
        of_measure = self._bounds_of(name, pool, judgings)
        if of_measure is None:
            return {}
        bounds, size = of_measure
        ends = [
            settled(end, size.mean(axis=1))
            for end in bounds.mean(self.compared.test.alpha)
        ]
        least, most = self.tests.interval(name, of_mean=True)
        outer = self._within_limits(name, (ends[2], ends[3]))
        return {
            "low": ends[0],
            "high": ends[1],
            "exact": bounds.exact.all(axis=1),
            "ci_low": np.minimum(outer[0], least),
            "ci_high": np.maximum(outer[1], most),
        }

    def _within_limits(self, name: str, ends: Interval) -> Interval:
        """Cut an interval of mean differences by a measure at the differences that are possible."""
        least, most = self.compared.by[name].range_of_differences
        return np.maximum(ends[0], least), np.minimum(ends[1], most)

    def _bounds_table(
        self, columns: dict[str, dict[str, Any]], judgings: Judgings
    ) -> pd.DataFrame:
        """Return the rows of ``bounds`` from the columns of each criterion."""
        parts = []
        for name, of_criterion in columns.items():
            depth = [judgings.depth_of(self._measured(name))] * len(self.compared.pairs)
            part = pd.DataFrame(
                {"criterion": name, **self.compared.pair_columns, **of_criterion}
            )
            parts.append(part.assign(depth=pd.array(depth, dtype="Int64")))
        table = pd.concat(parts, ignore_index=True)
        types = {name: "Int64" for name in _QUERY_COUNTS if name in table}
        table = table.astype(types | {"exact": "boolean"})
        if self.compared.test.cluster and "ci_low" in table:
            table[["ci_low", "ci_high"]] = np.nan  # they are for independent queries
        order = [
            "criterion",
            "run_a",
            "run_b",
            *_QUERY_COUNTS,
            *_ENDS,
            "exact",
            "depth",
        ]
        return table[among(order, table)]

    def _on_shallow_runs(
        self, pool: RetrievedDocuments, names: Sequence[str], judgings: Judgings
    ) -> list[str]:
        """Return a note on runs that retrieve fewer documents than the bounds look at, if any."""
        deepest = int(pool.deepest.max(initial=0))
        wanted = judgings.pool_depth(self._measured(name) for name in names) or deepest
        # By default, nobody asked for more than the deepest run has.
        if judgings.depth == "default":
            wanted = min(wanted, deepest)
        n_retrieved = zip(pool.names, pool.deepest.tolist(), strict=True)
        shallow = [name for name, n in n_retrieved if n < wanted]
        if not shallow:
            return []
        retrieve = "retrieves" if len(shallow) == 1 else "retrieve"
        fewer = f"{retrieve} fewer than {wanted} documents for every query"
        return [
            f"{shown_names(shallow)} {fewer}: bounds are narrower for that reason, too"
        ]

    def to_judge(self, n: int, by: str | None, judgings: Judgings) -> pd.DataFrame:
        """Return the n documents to judge next; see ``Comparison.to_judge``."""
        check_integer("n", n)
        name = self.compared.criterion(by).name
        if self.compared.scored is None:
            values = None
        else:
            values = self.compared.scored.values.get(name)
        pool = self._pool(judgings, [name])
        moving = None
        if judgings == Judgings():  # the same pairs as `holds` calls in doubt
            undecided = self.undecided(name)
            if undecided is not None and undecided.bounded:
                moving = undecided.holds_zero
        tests_signs = self.compared.test_of(name).procedure.of == "signs"
        pairs = OpenPairs(
            self._measured(name),
            self.compared.pair_indices,
            judgings,
            values,
            moving,
            by_size=self._is_graded(name) and not tests_signs,
        )
        table = self.compared.frame(pool.to_judge(pairs, n))
        table.attrs["texts"] = self.compared.texts
        return table

    @memoised
    def undecided(self, name: str) -> Undecided | None:
        """Return what missing judgments leave open by one criterion; None if that is not known.

        It is not known for criteria without a proven algorithm, for runs whose unjudged documents
        are not at hand, if nothing is unjudged, or if it would take long.
        """
        pool_and_depth = self._known_pool(name)
        if pool_and_depth is None or self.too_many(name):
            return None
        pool, depth = pool_and_depth
        criterion = self.compared.by[name]
        if not self.compared.pairs or not criterion.query_ids or pool.all_judged:
            return None
        measured = self._measured(name)
        if isinstance(measured, Preference):
            ends = self._ends_by_preference(measured, pool)
        else:
            ends = self._ends_by_measure(name, pool)
        if ends is None:
            return None
        query_ids = pool.judgments.query_ids
        if criterion.is_measure:
            query_ids = criterion.query_ids
        is_bounded = self._is_bounded(name)
        low, high, outer = self._ends_of_estimate(name, ends)
        return Undecided(
            depth=depth,
            query_ids=query_ids,
            is_open=ends.is_open,
            low=low,
            high=high,
            outer=outer,
            exact=np.all(ends.exact, axis=1),
            bounded=is_bounded,
            reached=np.all(ends.reached, axis=1) & is_bounded,
            is_shared=pool.depends_on_others(measured),
        )

    def _ends_by_preference(
        self, preference: Preference, pool: RetrievedDocuments
    ) -> _Ends | None:
        """Return what any judging can make of the pairs by a preference."""
        wins = pool.wins(preference, self.compared.pair_indices, Judgings())
        if wins is None:
            return None
        low, high = wins.low.astype(np.float64), wins.high.astype(np.float64)
        reached = wins.exact
        if preference.NAME in WEIGHTS:  # it is not certain that a tie can be reached
            today = pool.wins(preference, self.compared.pair_indices, None)
            assert today is not None
            reached = (
                reached
                & ((low != 0) | (today.low == 0))
                & ((high != 0) | (today.high == 0))
            )
        means = wins.ends_of_mean()
        return _Ends(low, high, *means, None, wins.is_open, wins.exact, reached)

    def _ends_by_measure(self, name: str, pool: RetrievedDocuments) -> _Ends | None:
        """Return what any judging can make of the pairs by a measure."""
        of_measure = self._bounds_of(name, pool, Judgings())
        if of_measure is None:
            return None
        bounds, size = of_measure
        mean_low, mean_high, *outer = bounds.mean(self.compared.test_of(name).alpha)
        mean_low, mean_high = (
            settled(end, size.mean(axis=1)) for end in (mean_low, mean_high)
        )
        low, high = settled(bounds.low, size), settled(bounds.high, size)
        is_open = (low < 0) & (high > 0)
        interval = self._within_limits(name, (outer[0], outer[1]))
        return _Ends(
            low,
            high,
            mean_low,
            mean_high,
            interval,
            is_open,
            bounds.exact,
            bounds.exact,
        )

    def _is_bounded(self, name: str) -> bool:
        """Return whether the sign of what the test estimates is bounded by judgings.

        With groups or predictions, and by Wilcoxon's test, another number is estimated. Wins do not
        bound the mean of a preference that is more than won or lost.
        """
        estimates = self.compared.test_of(name).procedure.of
        if (
            self.compared.test.cluster
            or self.compared.predicted is not None
            or estimates == "centre"
        ):
            return False
        return estimates == "signs" or not self._is_graded(name)

    def _is_graded(self, name: str) -> bool:
        """Return whether a criterion is a preference that is more than won or lost."""
        measured = self._measured(name)
        return isinstance(measured, Preference) and measured.NAME in PAIRWISE

    def _ends_of_estimate(
        self, name: str, ends: _Ends
    ) -> tuple[Floats, Floats, Interval | None]:
        """Return ends of what the test estimates, and of the interval that holds sampling, too."""
        test = self.compared.test_of(name)
        low, high, outer = ends.mean_low, ends.mean_high, ends.outer
        if test.procedure.of == "signs":
            # Queries are judged independently, and both ends of the interval rise with every win
            # more and every loss less.
            worst, best = (sign_test(x, test.alpha) for x in (ends.low, ends.high))
            low, high, outer = worst.estimate, best.estimate, (worst.low, best.high)
        elif self._is_graded(name):
            low = high = np.full(len(self.compared.pairs), np.nan)
        if outer is None or test.procedure.at_once or not self._is_bounded(name):
            return low, high, None
        tested = self.tests.interval(name, of_mean=False)
        outer = np.minimum(outer[0], tested[0]), np.maximum(outer[1], tested[1])
        return low, high, outer

    @memoised
    def too_many(self, name: str) -> bool:
        """Return whether ``undecided`` leaves out a criterion because it would take long.

        These are too many documents of too many pairs. ``bounds`` looks at them nevertheless.
        """
        pool_and_depth = self._known_pool(name)
        if pool_and_depth is None:
            return False
        pool, depth = pool_and_depth
        if pool.all_judged:
            return False
        n_pairs = len(self.compared.pairs)
        n_together, n_documents = pool.documents(depth)
        if shares_documents(self._measured(name), len(pool.names), n_pairs):
            return n_together * n_pairs > _MOST_SHARED
        n_apart = sum(
            int(n_documents[runs].sum()) for runs in self.compared.pair_indices
        )
        return n_apart > _MOST_APART

    @memoised
    def holds(self, name: str) -> tuple[int | None, list[str]]:
        """Return the depth, and how the sign of each pair's difference holds, as in ``verdicts``.

        Where bounds do not tell whether a significant difference holds, some judgings are tried.
        The depth is None if nothing is known of any pair.
        """
        depth, holds = self._holds_by_bounds(name)
        pool_and_depth = self._known_pool(name)
        if NOT_BOUNDED not in holds or pool_and_depth is None:
            return depth, holds
        pool, depth_of_pool = pool_and_depth
        if not isinstance(pool, PooledDocuments) or self.too_many(name):
            return depth, holds
        measured = self._measured(name)
        trial = TriedJudgings(self.compared, name, measured, pool.pool)
        is_known = np.array(holds) != NOT_BOUNDED
        has_no_open = ~is_known & ~trial.has_open_documents
        is_undone = self._is_undone(trial, ~is_known & ~has_no_open)
        if has_no_open.any() or is_undone.any():
            depth = depth_of_pool
        words = np.where(has_no_open, ANY_JUDGING, np.where(is_undone, UNDONE, holds))
        return depth, words.tolist()

    def _is_undone(self, trial: TriedJudgings, is_open: Bools) -> Bools:
        """Return which of some pairs differ significantly, but not under a judging that is tried.

        None of them is, where the pairs have too many documents to try judgings.
        """
        is_undone = np.zeros(len(is_open), dtype=bool)
        if not trial.is_possible:
            return is_undone
        [columns] = self.tests.columns_of(trial.name)
        is_decided = np.isin(np.array(columns["verdict"]), (BETTER, WORSE))
        pairs = np.flatnonzero(is_open & is_decided).tolist()
        if trial.n_documents(pairs) > _MOST_TRIED:
            return is_undone
        for pair in pairs:
            is_undone[pair] = trial.undoes(pair, float(columns["estimate"][pair]))
        return is_undone

    def _holds_by_bounds(self, name: str) -> tuple[int | None, list[str]]:
        """Return the depth, and how the sign of each pair's difference holds, by bounds alone."""
        undecided = self.undecided(name)
        if undecided is not None:
            return undecided.depth, undecided.holds
        n_pairs = len(self.compared.pairs)
        pool_and_depth = self._known_pool(name)
        if pool_and_depth is not None:
            pool, depth = pool_and_depth
            if pool.all_judged:
                return depth, [ANY_JUDGING] * n_pairs
        return None, [NOT_BOUNDED] * n_pairs

    def retrieve_the_same(self, a: str, b: str) -> bool:
        """Return whether two runs retrieve the same documents at the same ranks, for all queries.

        False if that is not known, as unjudged documents are not at hand.
        """
        if self.compared.scored is None:
            return False
        run, other = self.compared.scored.runs[a], self.compared.scored.runs[b]
        if run is other:
            return True
        if not all(
            np.array_equal(getattr(run, name), getattr(other, name))
            for name in ("query", "doc", "rank", "depth")
        ):
            return False
        source = self.compared.scored.sources.get(a)
        if source is not None and source is self.compared.scored.sources.get(b):
            return True
        try:
            pool = self.compared.scored.pool(None)
        except (OSError, ValueError):
            # A run was given aligned, or cannot be read again.
            return False
        rank = pool.rank[[pool.names.index(a), pool.names.index(b)]]
        return bool((rank[0] == rank[1]).all())

    def _measured(self, name: str) -> IRMeasure | Preference:
        """Return the measure or the preference behind a criterion."""
        if self.compared.scored is None:
            raise ValueError(
                "only values were given: compare runs to see what unjudged documents could change"
            )
        criterion = self.compared.by[name]
        if isinstance(criterion, PreferenceCriterion):
            return criterion.preference
        return self.compared.scored.measures[name]

    def _known_pool(self, name: str) -> tuple[RetrievedDocuments, int] | None:
        """Return what the runs retrieved, and the depth that counts for a criterion.

        None if nothing is unjudged, or the runs cannot be read again.
        """
        if self.compared.scored is None or not self.compared.scored.has_unjudged:
            return None
        depth = Judgings().depth_of(self._measured(name))
        assert depth is not None
        try:
            return self._pool(Judgings(), [name]), depth
        except (OSError, ValueError):
            # A run was given aligned, its file has changed, or its iterator is exhausted.
            return None

    def _pool(self, judgings: Judgings, names: Sequence[str]) -> RetrievedDocuments:
        """Return what the runs retrieved, as deep as these judgings look for these criteria."""
        # This raises if there are values only.
        measured = [self._measured(name) for name in names]
        assert self.compared.scored is not None
        depth = judgings.pool_depth(measured)
        if judgings.depth == "default" and depth is not None:
            depth = max(DEFAULT_DEPTH, depth)  # so that several criteria share one pool
        pool = self.compared.scored.pool(depth)
        if isinstance(pool, Pool):
            return PooledDocuments(pool)
        return pool

    def _bounds_of(
        self, name: str, pool: RetrievedDocuments, judgings: Judgings
    ) -> tuple[ValueBounds, Floats] | None:
        """Return bounds of a measure's differences on the queries that count.

        With them comes the size of the numbers that both ends are computed from, shape `(P, Q)`,
        which says what is rounding. None for a measure without a proven algorithm.
        """
        assert self.compared.scored is not None
        values = self.compared.scored.values[name]
        bounds = pool.differences(
            self.compared.scored.measures[name],
            values,
            self.compared.pair_indices,
            judgings,
        )
        if bounds is None:
            return None
        counted = [
            pool.judgments.place[query_id]
            for query_id in self.compared.by[name].query_ids
        ]
        bounds = ValueBounds(
            bounds.low[:, counted], bounds.high[:, counted], bounds.exact[:, counted]
        )
        ends = [
            *(values[:, counted][of] for of in self.compared.pair_indices),
            bounds.low,
            bounds.high,
        ]
        return bounds, np.maximum.reduce(np.abs(ends))
