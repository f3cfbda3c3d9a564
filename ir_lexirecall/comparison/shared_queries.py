"""Which queries pairs of runs have results for: differences are paired, so runs must share queries.

A run has results for a query where its ranking holds a document. A query of the judgments that a
run lacks counts as an empty ranking, which is right for a few queries that a run failed on. Two
runs of different query sets, though, would be compared with nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from ir_lexirecall._util.arrays import Bools, Ints
from ir_lexirecall._util.errors import counted, shown_names, warn
from ir_lexirecall._util.selecting import index_of
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.io.repeated_values import RepeatLabels
from ir_lexirecall.io.shared_values import Pair

_MOST_NAMED = 3  # queries of each run in a message
ENOUGH = 0.5  # share of the queries that either run has results for


@dataclass(frozen=True)
class SharedQueries:
    """How many queries two runs have results for.

    Attributes:
        run_a, run_b: names of the runs.
        both: queries for which both have results.
        either: queries for which at least one has.
        which: which queries count, after the word; empty if all do.
    """

    run_a: str
    run_b: str
    both: int
    either: int
    which: str = ""

    def __str__(self) -> str:
        return (
            f"{self.run_a} and {self.run_b} share only {self.both:,} of the {self.either:,} "
            f"queries{self.which} that either has results for"
        )


class NothingShared(ValueError):
    """Two runs that are to be compared share no query for which both have results."""


@dataclass(frozen=True, eq=False)
class QueriesWithResults:
    """The queries for which each run has results.

    Attributes:
        query_ids: the queries.
        of_runs: by run, for which queries it has results, shape ``(Q,)``; a system with several
            rankings has results where one of them has.
        of_repeats: the same for each ranking that lacks queries which others of its system have.
        has_relevant: which queries have relevant documents, where preferences leave out others;
            None if all queries count.
    """

    query_ids: list[str]
    of_runs: Mapping[str, Bools]
    of_repeats: Mapping[str, Bools] = field(default_factory=dict)
    has_relevant: Bools | None = None

    @classmethod
    def of(cls, scored: ScoredRuns, labels: RepeatLabels | None = None) -> Self:
        """Return the queries for which aligned runs rank documents.

        Args:
            scored: all runs.
            labels: of each system the names of its runs; None if each run is a system.
        """
        of_rankings = {
            name: np.asarray(run.depth) > 0 for name, run in scored.runs.items()
        }
        query_ids = list(scored.judgments.query_ids)
        if labels is None:
            return cls(query_ids, of_rankings)
        of_runs, of_repeats = {}, {}
        for system, names in labels.items():
            of_runs[system] = np.any([of_rankings[name] for name in names], axis=0)
            for name in names:
                if (of_rankings[name] != of_runs[system]).any():
                    of_repeats[name] = of_rankings[name]
        return cls(query_ids, of_runs, of_repeats)

    def without_irrelevant(self, relevant: Sequence[str]) -> Self:
        """Return the same where only queries with relevant documents count, if there are any."""
        if len(relevant) in (0, len(self.query_ids)):
            return self
        return replace(
            self, has_relevant=self._counted(np.isin(self.query_ids, relevant))
        )

    def _counted(self, results: Bools) -> Bools:
        """Return which results are of queries that count."""
        return results if self.has_relevant is None else results & self.has_relevant

    def poorly_shared(self, pairs: Sequence[Pair]) -> Iterator[SharedQueries]:
        """Yield pairs of runs that share less than half of their queries with results.

        A run without any results shares nothing with any other; it is refused, or allowed by name,
        when it is read.
        """
        if not pairs:
            return
        results = self._counted(np.stack([*self.of_runs.values()])).astype(np.int64)
        numbers = results.sum(axis=1)
        which = "" if self.has_relevant is None else " with relevant documents"
        both = results @ results.T
        index_of_run = index_of(self.of_runs)
        for a, b in pairs:
            i, j = index_of_run[a], index_of_run[b]
            either = int(numbers[i] + numbers[j] - both[i, j])
            if numbers[i] and numbers[j] and both[i, j] < ENOUGH * either:
                yield SharedQueries(a, b, int(both[i, j]), either, which)

    def apart_on(self, queries: Ints, pairs: Sequence[Pair]) -> Bools:
        """Return which pairs share no query among some, although both have results for any.

        Args:
            queries: indices of the queries.
            pairs: names of the two runs of each, P in all.

        Returns:
            Shape ``(P,)``.
        """
        apart = []
        for a, b in pairs:
            in_a, in_b = self._counted(self.of_runs[a]), self._counted(self.of_runs[b])
            is_shared = (in_a & in_b)[queries].any()
            apart.append(in_a.any() and in_b.any() and not is_shared)
        return np.array(apart, dtype=bool)

    def nothing_shared(self, pairs: Sequence[Pair]) -> str:
        """Return a message on the first pair that shares no query; empty if all share some."""
        pairs = list({frozenset(pair): pair for pair in pairs}.values())
        apart = [pair for pair in self.poorly_shared(pairs) if not pair.both]
        if not apart:
            return ""
        first = apart[0]
        sides = []
        for run in (first.run_a, first.run_b):
            queries = np.flatnonzero(self._counted(self.of_runs[run]))
            first_ids = shown_names([self.query_ids[q] for q in queries[:_MOST_NAMED]])
            more = ", ..." if len(queries) > _MOST_NAMED else ""
            sides.append(f"{run!r} for {first_ids}{more} ({len(queries):,} in all)")
        others = first.which and " among those with relevant documents"
        if len(apart) > 1:
            others += f" (and {counted(len(apart) - 1, 'more pair')} of runs)"
        return (
            f"runs {first.run_a!r} and {first.run_b!r} share no query with results{others}: "
            f"{sides[0]}, {sides[1]}"
        )

    def check(self, pairs: Sequence[Pair]) -> None:
        """Check that all pairs of runs to be compared share a query for which both have results.

        Raises:
            NothingShared: a pair shares none.
        """
        message = self.nothing_shared(pairs)
        if message:
            raise NothingShared(
                f"{message}; compare runs of the same queries, or leave one out"
            )

    def warn_of_poorly_shared(self, pairs: Sequence[Pair]) -> None:
        """Warn of pairs that share less than half of their queries, for tables without caveats."""
        apart = [str(pair) for pair in self.poorly_shared(pairs)]
        if not apart:
            return
        more = ""
        if len(apart) > 1:
            more = f" (and {counted(len(apart) - 1, 'more pair')} of runs like these)"
        warn(
            f"{apart[0]}{more}: a query that only one has results for counts as an empty ranking "
            "of the other"
        )
