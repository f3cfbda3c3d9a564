"""Which queries pairs of runs have results for: differences are paired, so runs must share queries.

A run has results for a query where its ranking holds a document. A query of the judgments that a
run lacks counts as an empty ranking, which is right for a few queries that a run failed on. Two
runs of different query sets, though, would be compared with nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Bools
from ir_lexirecall._util.errors import counted, shown_names, warn
from ir_lexirecall._util.selecting import index_of
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
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
    """

    run_a: str
    run_b: str
    both: int
    either: int

    def __str__(self) -> str:
        return (
            f"{self.run_a} and {self.run_b} share only {self.both:,} of the {self.either:,} "
            "queries that either has results for"
        )


class NothingShared(ValueError):
    """Two runs that are to be compared share no query for which both have results."""


def has_results(scored: ScoredRuns) -> Bools:
    """Return which runs have results for which queries of the judgments, shape ``(S, Q)``."""
    return np.stack([np.asarray(run.depth) > 0 for run in scored.runs.values()])


def poorly_shared(scored: ScoredRuns, pairs: Sequence[Pair]) -> Iterator[SharedQueries]:
    """Yield pairs of runs that share less than half of the queries that either has results for.

    A run without any results shares nothing with any other; it is refused, or allowed by name,
    when it is read.
    """
    if not pairs:
        return
    results = has_results(scored).astype(np.int64)
    numbers = results.sum(axis=1)
    both = results @ results.T
    index_of_run = index_of(scored.runs)
    for a, b in pairs:
        i, j = index_of_run[a], index_of_run[b]
        either = int(numbers[i] + numbers[j] - both[i, j])
        if numbers[i] and numbers[j] and both[i, j] < ENOUGH * either:
            yield SharedQueries(a, b, int(both[i, j]), either)


def nothing_shared(scored: ScoredRuns, pairs: Sequence[Pair]) -> str:
    """Return a message on the first pair of runs that share no query; empty if all share some."""
    pairs = list({frozenset(pair): pair for pair in pairs}.values())
    apart = [pair for pair in poorly_shared(scored, pairs) if not pair.both]
    if not apart:
        return ""
    first, results, names = apart[0], has_results(scored), list(scored.runs)
    sides = []
    for run in (first.run_a, first.run_b):
        queries = np.flatnonzero(results[names.index(run)])
        first_ids = shown_names(
            [scored.judgments.query_ids[q] for q in queries[:_MOST_NAMED]]
        )
        more = ", ..." if len(queries) > _MOST_NAMED else ""
        sides.append(f"{run!r} for {first_ids}{more} ({len(queries):,} in all)")
    others = ""
    if len(apart) > 1:
        others = f" (and {counted(len(apart) - 1, 'more pair')} of runs)"
    return (
        f"runs {first.run_a!r} and {first.run_b!r} share no query with results{others}: "
        f"{sides[0]}, {sides[1]}"
    )


def check_shared(scored: ScoredRuns, pairs: Sequence[Pair]) -> None:
    """Check that all pairs of runs to be compared share a query for which both have results.

    Raises:
        NothingShared: a pair shares none.
    """
    message = nothing_shared(scored, pairs)
    if message:
        raise NothingShared(
            f"{message}; compare runs of the same queries, or leave one out"
        )


def warn_of_poorly_shared(scored: ScoredRuns, pairs: Sequence[Pair]) -> None:
    """Warn of pairs that share less than half of their queries, for tables without caveats."""
    apart = [str(pair) for pair in poorly_shared(scored, pairs)]
    if not apart:
        return
    more = ""
    if len(apart) > 1:
        more = f" (and {counted(len(apart) - 1, 'more pair')} of runs like these)"
    warn(
        f"{apart[0]}{more}: a query that only one has results for counts as an empty ranking of "
        "the other"
    )
