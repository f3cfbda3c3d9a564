"""What judgments that are missing mean for pairs of runs: bounds, what to judge next, what could be undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats
from ir_lexirecall._util.errors import check_integer, entry, shown_names
from ir_lexirecall._util.lazy import memoised
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import settled
from ir_lexirecall.comparison.criteria import PreferenceCriterion
from ir_lexirecall.comparison.pair_tests import Interval, TestedRuns
from ir_lexirecall.comparison.verdicts import ANY_JUDGING, NOT_BOUNDED, UNDONE
from ir_lexirecall.judging.algorithms import DEFAULT_DEPTH, DepthLike, Judgings
from ir_lexirecall.judging.bounds import ValueBounds, refuse_or_warn_of, shares_documents
from ir_lexirecall.judging.ordering import Unjudged
from ir_lexirecall.judging.winners import WEIGHTS
from ir_lexirecall.preferences.functions import PAIRWISE
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance.closed_form import sign_test

_MOST_SHARED = (
    1_000_000_000  # documents in the pool, for each pair, that are looked at unasked: a few seconds
)
_MOST_APART = (
    20_000_000  # documents of the two rankings of each pair, where nothing is shared between pairs
)
_COUNTS = ("certain_wins", "certain_losses", "open", "certain_ties")


@dataclass(frozen=True)
class Undecided:
    """What the unjudged documents of P pairs of runs could change by one criterion, query by query."""

    depth: int  # down to which rank of either run
    query_ids: list[
        str
    ]  # the Q queries: those that count for a measure, all of the qrels for a preference
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
    bounded: bool  # whether the sign of what the test estimates is bounded at all
    reached: Bools  # whether it is, and some judging reaches the ends, shape ``(P,)``
    is_shared: bool  # whether documents that both runs have at the same rank can decide as well

    @property
    def holds_zero(self) -> Bools:
        """Whether the sign of the difference could be another one, or none, shape ``(P,)``."""
        return (self.low <= 0) & (self.high >= 0)

    @property
    def holds(self) -> list[str]:
        """How the sign of what the test estimates holds: under any judging, it could be undone (by some judging), or it is not bounded."""
        if not self.bounded:
            return [NOT_BOUNDED] * len(self.low)
        could = np.where(self.reached, UNDONE, NOT_BOUNDED)
        words: list[str] = np.where(self.holds_zero, could, ANY_JUDGING).tolist()
        return words


@dataclass(frozen=True, eq=False)
class PooledRuns(TestedRuns):
    """Tested runs, and what the documents that they retrieved and nobody judged could change."""

    @entry
    def bounds(
        self,
        by: str | None = None,
        depth: DepthLike = "default",
        *,
        max_rel: float | None = None,
        unretrieved: int = 0,
    ) -> pd.DataFrame:
        """What any judging of the retrieved unjudged documents can make of each pair: a row per criterion and pair.

        An unjudged document counts as not relevant; here it may have any grade, the same in both rankings, so that what both
        retrieved at the same rank cancels. Of a preference, of all queries of the qrels: ``certain_wins`` (queries on which ``run_a`` can
        win under some judging and ``run_b`` cannot), ``certain_losses``, ``open`` (either can; where no relevant document is known,
        and nobody wins as it is, one of them), ``certain_ties``. Of a measure: ``low``, ``high`` of the mean
        difference, and ``ci_low``, ``ci_high``, which hold sampling of queries, too, and the interval that ``table`` has of the mean
        difference (by the sign and Wilcoxon's test, which estimate something else, that of the t-test; missing with ``cluster=True``). ``exact``: whether some judging reaches the bounds; ``depth``: down to which rank unjudged documents count.

        Args:
            depth: unjudged documents below this rank of both rankings are not relevant; by default
                the criterion's cutoff, or 100 if it has none. None: whole rankings.
            max_rel: top grade of the scale; by default the measure's own, else the highest grade of the qrels.
            unretrieved: relevant documents of each query, at most, that neither run retrieved and nobody judged.

        Raises:
            ValueError: no criterion has a proven algorithm, ``depth`` is above a cutoff, or the runs cannot be read again.
        """
        names, judgings = self._names(by), Judgings(depth, max_rel, unretrieved)
        pool, alpha = self._pool(judgings, names), self.test.alpha
        parts, lacking = [], []
        for name in names:
            what = self._measured(name)
            columns: dict[str, Any] = {"criterion": name, **self.of_pairs}
            if isinstance(what, Preference):
                wins = pool.wins(what, self.places, judgings)
                if wins is not None:
                    columns |= {**wins.counts(), "exact": wins.exact.all(axis=1)}
            elif (found := self._bounds_of(name, pool, judgings)) is not None:
                bounds, size = found
                low, high, *outer = (settled(end, size.mean(axis=1)) for end in bounds.mean(alpha))
                least, most = self.interval(name, of_mean=True)
                columns |= {"low": low, "high": high, "exact": bounds.exact.all(axis=1)}
                columns |= {
                    "ci_low": np.minimum(outer[0], least),
                    "ci_high": np.maximum(outer[1], most),
                }
            if "exact" not in columns:
                lacking.append(name)
            down_to = pd.array([judgings.depth_of(what)] * len(self.pairs), dtype="Int64")
            parts.append(pd.DataFrame(columns).assign(depth=down_to))
        refuse_or_warn_of(lacking, len(names))
        table = pd.concat(parts, ignore_index=True)
        table = table.astype(
            {name: "Int64" for name in _COUNTS if name in table} | {"exact": "boolean"}
        )
        if self.test.cluster and "ci_low" in table:
            table[["ci_low", "ci_high"]] = np.nan  # of independent queries
        known = [
            "criterion",
            "run_a",
            "run_b",
            *_COUNTS,
            "low",
            "high",
            "ci_low",
            "ci_high",
            "exact",
            "depth",
        ]
        table = self._frame(table[[name for name in known if name in table]])
        deepest = int(pool.deepest.max(initial=0))
        wanted = judgings.pool_depth(self._measured(name) for name in names) or deepest
        if depth == "default":  # nobody asked for more than the deepest run has
            wanted = min(wanted, deepest)
        notes = []
        if shallow := [
            name for name, n in zip(pool.names, pool.deepest.tolist(), strict=True) if n < wanted
        ]:
            fewer = f"retrieve{'s' if len(shallow) == 1 else ''} fewer than {wanted} documents for every query"
            notes = [f"{shown_names(shallow)} {fewer}: bounds are narrower for that reason, too"]
        table.attrs |= {
            "notes": notes,
            "no_algorithm": lacking,
            "unretrieved": unretrieved,
            "alpha": alpha,
        }
        return table

    @entry
    def to_judge(
        self,
        n: int = 100,
        by: str | None = None,
        depth: DepthLike = "default",
        *,
        max_rel: float | None = None,
    ) -> pd.DataFrame:
        """The n unjudged documents whose judgment decides most between the runs, by one criterion.

        Columns: ``query_id``, ``doc_id``, ``decides``, ``runs`` (how many retrieved it), ``rank_NAME`` for every run. Documents that
        cannot change who is better are left out: judging all of them leaves nothing open.

        Args:
            n: how many at most.
            depth, max_rel: as in ``bounds``.
        """
        check_integer("n", n)
        name, judgings = self.criterion(by).name, Judgings(depth, max_rel)
        values = None if self.scored is None else self.scored.values.get(name)
        pool = self._pool(judgings, [name])
        table = self._frame(pool.to_judge(self._measured(name), n, self.places, judgings, values))
        table.attrs["texts"] = self.texts
        return table

    @memoised
    def undecided(self, name: str) -> Undecided | None:
        """What missing judgments leave open by one criterion; None where that is not known, or takes long.

        It is not known of criteria without a proven algorithm, of runs whose unjudged documents are not at hand, and where there are no
        unjudged documents.
        """
        if (known := self._known_pool(name)) is None or self.too_many(name):
            return None
        (pool, depth), what, criterion = known, self._measured(name), self.by[name]
        places, test = self.places, self.test_of(name)
        if not len(places[0]) or not criterion.query_ids or pool.all_judged:
            return None
        hull: list[Floats] = []  # ends of an interval that holds sampling of queries, too
        if isinstance(what, Preference):
            wins = pool.wins(what, places, Judgings())
            if wins is None:
                return None
            low, high = wins.low.astype(np.float64), wins.high.astype(np.float64)
            exact, reached, is_open = wins.exact, wins.exact, wins.is_open
            if what.NAME in WEIGHTS:  # that a tie can be reached is not certain of them
                today = pool.wins(what, places, None)
                assert today is not None
                reached = (
                    exact & ((low != 0) | (today.low == 0)) & ((high != 0) | (today.high == 0))
                )
            # A query without a known relevant document takes no part, until an unjudged one turns out to be relevant.
            least, most = (
                np.mean(x, axis=1, where=~wins.unknown | (x * way > 0))
                for way, x in ((-1, low), (1, high))
            )
        else:
            found = self._bounds_of(name, pool, Judgings())
            if found is None:
                return None
            bounds, size = found
            exact = reached = bounds.exact
            least, most, *hull = bounds.mean(test.alpha)
            least, most = (settled(end, size.mean(axis=1)) for end in (least, most))
            low, high = settled(bounds.low, size), settled(bounds.high, size)
            is_open = (low < 0) & (high > 0)
        # What is estimated of groups or with predictions, and by Wilcoxon's test, is another number.
        bounded = not self.test.cluster and self.predicted is None and test.procedure.of != "centre"
        if test.procedure.of == "signs":
            # Queries are judged independently, and both ends of the interval rise with every win more and every loss less.
            worst, best = (sign_test(x, test.alpha) for x in (low, high))
            least, most, hull = worst.estimate, best.estimate, [worst.low, best.high]
        elif (
            isinstance(what, Preference) and what.NAME in PAIRWISE
        ):  # whose mean the wins do not bound
            least = most = np.full(len(places[0]), np.nan)
            bounded = False
        outer = None
        if hull and bounded and not test.procedure.at_once:
            tested = self.interval(name, of_mean=False)
            outer = np.minimum(hull[0], tested[0]), np.maximum(hull[1], tested[1])
        query_ids = criterion.query_ids if criterion.is_measure else pool.judgments.query_ids
        exact, reached = np.all(exact, axis=1), np.all(reached, axis=1) & bounded
        is_shared = pool.depends_on_others(what)
        return Undecided(
            depth, query_ids, is_open, least, most, outer, exact, bounded, reached, is_shared
        )

    @memoised
    def too_many(self, name: str) -> bool:
        """Whether ``undecided`` does not look at a criterion because that takes long (too many documents of too many pairs); ``bounds`` does."""
        if (known := self._known_pool(name)) is None or known[0].all_judged:
            return False
        (pool, depth), places = known, self.places
        together, documents = pool.documents(depth)
        if shares_documents(self._measured(name), len(pool.names), len(places[0])):
            return together * len(places[0]) > _MOST_SHARED
        return int(sum(documents[of].sum() for of in places)) > _MOST_APART

    def holds(self, name: str) -> tuple[int | None, list[str]]:
        """How the sign of each pair's difference holds, as in ``verdicts``, down to which depth; (None, ...) where nothing is bounded."""
        left = self.undecided(name)
        if left is not None:
            return left.depth, left.holds
        known = self._known_pool(name)
        if known is None or not known[0].all_judged:
            return None, [NOT_BOUNDED] * len(self.pairs)
        return known[1], [ANY_JUDGING] * len(self.pairs)

    def retrieve_the_same(self, a: str, b: str) -> bool:
        """Return whether two runs retrieve the same documents at the same ranks, for all queries.

        False if that is not known, as unjudged documents are not at hand.
        """
        if self.scored is None:
            return False
        run, other = self.scored.runs[a], self.scored.runs[b]
        if run is other:
            return True
        if not all(
            np.array_equal(getattr(run, name), getattr(other, name))
            for name in ("query", "doc", "rank", "depth")
        ):
            return False
        source = self.scored.sources.get(a)
        if source is not None and source is self.scored.sources.get(b):
            return True
        try:
            pool = self.scored.pool(None)
        except (OSError, ValueError):  # a run was given aligned, or cannot be read again
            return False
        rank = pool.rank[[pool.names.index(a), pool.names.index(b)]]
        return bool((rank[0] == rank[1]).all())

    def _measured(self, name: str) -> IRMeasure | Preference:
        """The measure or the preference that a criterion is."""
        if self.scored is None:
            raise ValueError(
                "only values were given: compare runs to see what unjudged documents could change"
            )
        criterion = self.by[name]
        return (
            criterion.preference
            if isinstance(criterion, PreferenceCriterion)
            else self.scored.measures[name]
        )

    def _known_pool(self, name: str) -> tuple[Unjudged, int] | None:
        """What the runs retrieved, and the depth that counts for a criterion; None where there is nothing unjudged, or it is not at hand."""
        if self.scored is None or not self.scored.has_unjudged:
            return None
        depth = Judgings().depth_of(self._measured(name))
        assert depth is not None
        try:
            return self._pool(Judgings(), [name]), depth
        except (OSError, ValueError):  # aligned already, changed since, or read up
            return None

    def _pool(self, judgings: Judgings, names: Sequence[str]) -> Unjudged:
        """Return what the runs retrieved, as deep as these judgings look for these criteria."""
        assert self.scored is not None
        depth = judgings.pool_depth(self._measured(name) for name in names)
        if judgings.depth == "default" and depth is not None:
            depth = max(DEFAULT_DEPTH, depth)  # so that several criteria share one pool
        pool = self.scored.pool(depth)
        return pool if isinstance(pool, Unjudged) else Unjudged(pool)

    def _bounds_of(
        self, name: str, pool: Unjudged, judgings: Judgings
    ) -> tuple[ValueBounds, Floats] | None:
        """Bounds of a measure's differences on the queries that count, and the size of what both are computed from, shape ``(P, Q)``."""
        assert self.scored is not None
        values = self.scored.values[name]
        bounds = pool.differences(self.scored.measures[name], values, self.places, judgings)
        if bounds is None:
            return None
        counted = [pool.judgments.place[query_id] for query_id in self.by[name].query_ids]
        bounds = ValueBounds(
            bounds.low[:, counted], bounds.high[:, counted], bounds.exact[:, counted]
        )
        ends = [*(values[:, counted][of] for of in self.places), bounds.low, bounds.high]
        return bounds, np.maximum.reduce(np.abs(ends))
