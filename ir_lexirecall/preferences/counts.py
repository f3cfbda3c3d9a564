"""Counts of preferences: which run wins how often, and what decided.

They come from standings if a preference orders the runs, else pair by pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats, Indices, Ints, row_blocks
from ir_lexirecall._util.blocks import BLOCK
from ir_lexirecall._util.lazy import Memoised, cached_property, memoised
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.preferences.functions import (
    LEXICOGRAPHIC,
    PAIRWISE,
    STANDINGS,
    Positions,
    Ranks,
    dominance,
)


@dataclass(frozen=True)
class Counts:
    """Counts of one preference for every ordered pair of S runs, shape ``(S, S)``.

    They are also there per query, against all other runs.
    """

    wins: Ints
    losses: Ints
    ties: Ints
    incomparable: Ints
    mean: Floats
    against_others: Floats  # (Q, S)


@dataclass(frozen=True)
class PreferenceCounts(Memoised):
    """Preferences between aligned runs on the queries that have relevant documents."""

    # The aligned runs by name, all with the same judgments.
    runs: Mapping[str, AlignedRun]
    rel: float = 1  # what counts as relevant
    cutoff: int | None = None  # what counts as retrieved
    # Indices, in the judgments, of the queries to take; None: all. See `queries`.
    some: Ints | None = field(default=None, repr=False)

    @property
    def judgments(self) -> Judgments:
        """What the runs are aligned with."""
        return next(iter(self.runs.values())).judgments

    @cached_property
    def queries(self) -> Ints:
        """Return the indices, in the judgments, of the queries with relevant documents.

        On the others no ranking is better. Measures have a value there, mostly 0.
        """
        queries = np.flatnonzero(self.judgments.m(self.rel) > 0)
        if self.some is None:
            return queries
        return np.intersect1d(queries, self.some)

    @property
    def query_ids(self) -> list[str]:
        """Return the ids of the queries that count."""
        return [self.judgments.query_ids[q] for q in self.queries]

    @property
    def m(self) -> Ints:
        """Return the number of relevant documents of each query that counts."""
        return self.judgments.m(self.rel)[self.queries]

    @cached_property
    def positions(self) -> Positions:
        """Ranks of the relevant documents of all runs on these queries."""
        return self._positions_from(self.rel)

    def _positions_from(self, grade: float) -> Positions:
        """Return the ranks of the documents of at least a grade."""
        runs = list(self.runs.values())
        return Positions.from_runs(runs, grade, self.cutoff, self.queries)

    @memoised
    def count(self, preference: str) -> Counts:
        """Wins, losses, ties and means of a preference."""
        size, queries = len(self.runs), len(self.queries)
        wins, incomparable = np.zeros((2, size, size), dtype=np.int64)
        if is_pairwise(preference):
            total, against_others = np.zeros((size, size)), np.zeros((queries, size))
            for where, block in self.blocks(preference):
                wins += np.count_nonzero(block > 0, axis=0)
                unordered = np.isnan(block)
                if unordered.any():
                    incomparable += np.count_nonzero(unordered, axis=0)
                    block = np.where(unordered, 0, block)
                for (
                    of_query
                ) in block:  # one by one: the same sum however many a block holds
                    total += of_query
                against_others[where] = block.sum(axis=2) / max(1, size - 1)
        else:
            standing = self.standing(preference)
            wins = np.stack(
                [np.count_nonzero(row < standing, axis=1) for row in standing]
            )
            total = (wins - wins.T).astype(np.float64)
            key = standing + size * np.arange(queries)
            # How many share the standing, the run itself included.
            if queries:
                alike = np.bincount(key.ravel(), minlength=1)[key]
            else:
                alike = key
            against_others = (size - 2 * standing - alike).T / max(1, size - 1)
        losses, mean = wins.T, total / max(1, queries)
        return Counts(
            wins,
            losses,
            queries - wins - losses - incomparable,
            incomparable,
            mean,
            against_others,
        )

    @memoised
    def standing(self, preference: str) -> NDArray[np.int32]:
        """Return how many runs are better, shape ``(S, Q)``, if a preference orders the runs."""
        standing = np.empty((len(self.runs), len(self.queries)), dtype=np.int32)
        for block in row_blocks(standing.shape[1], len(self.runs), BLOCK):
            standing[:, block] = STANDINGS[preference](self.positions.part(block))
        return standing

    def blocks(self, preference: str) -> Iterable[tuple[Any, Floats]]:
        """Yield blocks of queries with the preferences of all pairs, shape ``(q, S, S)``."""
        if not is_pairwise(preference):
            standing = self.standing(preference).T
            return (
                (
                    block,
                    np.sign(
                        standing[block][:, None, :] - standing[block][:, :, None]
                    ).astype(float),
                )
                for block in row_blocks(len(standing), len(self.runs) ** 2, BLOCK)
            )
        blocks = (
            (queries, self.pairwise(preference, queries))
            for queries in self._similar_queries
        )
        if len(self.queries) * len(self.runs) ** 2 > BLOCK:
            return blocks
        return self.cached(("blocks", preference), lambda: list(blocks))

    @cached_property
    def _similar_queries(self) -> list[Ints]:
        """Yield queries with similar numbers of relevant documents, as many as a block holds."""
        m = self.m
        order = np.argsort(m, kind="stable")
        groups, start = [], 0
        while start < len(order):
            queries = order[start:]
            # m rises: what the first queries need is their number times the last one's levels.
            needed = np.arange(1, len(queries) + 1) * m[queries] * len(self.runs) ** 2
            end = start + max(1, int(np.searchsorted(needed, BLOCK // 4, side="right")))
            groups.append(order[start:end])
            start = end
        return groups

    def ranks_of(self, pair: tuple[int, int]) -> Iterator[tuple[Ints, Ranks]]:
        """Return blocks of queries, with the ranks of two runs by level, ``(levels, q, 2)``."""
        return (
            (queries, self.positions.padded(queries, list(pair)))
            for queries in self._similar_queries
        )

    def pairwise(
        self, preference: str, queries: Ints, runs: Any = slice(None)
    ) -> Floats:
        """Return preferences of all pairs of runs on some queries, without an order of runs."""
        if preference == "dominance":
            by_grade = [one.padded(queries, runs) for one in self._positions_by_grade]
            return dominance(by_grade)
        return PAIRWISE[preference](
            self.positions.padded(queries, runs), self.positions.m[queries]
        )

    @cached_property
    def _positions_by_grade(self) -> list[Positions]:
        """Ranks of the documents of at least each grade that counts as relevant."""
        grades = np.unique(self.judgments.grade)
        relevant = grades[grades >= self.rel].tolist()
        return [self._positions_from(grade) for grade in relevant]

    def of_pair(self, preference: str, a: int, b: int) -> Floats:
        """Preferences of one run over another, shape ``(Q,)``; NaN: not comparable."""
        if not is_pairwise(preference):
            standing = self.standing(preference)
            return np.sign(standing[b] - standing[a]).astype(np.float64)
        values = np.empty(len(self.queries))
        for queries in self._similar_queries:
            values[queries] = self.pairwise(preference, queries, [a, b])[:, 0, 1]
        return values

    def of_pairs(self, preference: str, a: Indices, b: Indices) -> Iterator[Floats]:
        """Yield preferences of pairs of runs, some ``(p, Q)`` at a time; 0 if not comparable."""
        if is_pairwise(preference):
            out = np.empty((len(a), len(self.queries)))
            for where, block in self.blocks(preference):
                out[:, where] = np.nan_to_num(block[:, a, b], nan=0.0).T
            yield out
            return
        first, second = np.asarray(a), np.asarray(b)
        standing = self.standing(preference)
        for some in row_blocks(len(first), standing.shape[1], BLOCK):
            outcome = np.sign(standing[second[some]] - standing[first[some]])
            yield outcome.astype(np.float64)

    def tensor(self, preference: str) -> Floats:
        """Return the preference of every pair on every query, shape ``(Q, S, S)``.

        It is that of the first over the second run, NaN if they are not comparable.
        """
        tensor = np.empty((len(self.queries), len(self.runs), len(self.runs)))
        for where, block in self.blocks(preference):
            tensor[where] = block
        return tensor


def is_pairwise(preference: str) -> bool:
    """Whether a preference gives a number for every pair, not an order of the runs."""
    return preference not in STANDINGS


def explain(
    preference: str, counts: PreferenceCounts, pair: tuple[int, int], values: Floats
) -> dict[str, Any]:
    """Return what decided a preference between two runs, as columns with a row per query.

    Args:
        preference: its name.
        counts: the preferences between the runs.
        pair: the two runs, by their place among all.
        values: the preference of the first over the second on each query.
    """
    positions, table = counts.positions, {}
    runs = list(counts.runs.values())
    if preference in LEXICOGRAPHIC:
        from_the_end = preference == "lexirecall"
        level = np.zeros(len(values), dtype=np.int64)
        # A missing document differs from any other.
        for queries, ranks in counts.ranks_of(pair):
            differ = ranks[:, :, 0] != ranks[:, :, 1]
            if from_the_end:
                decides = len(differ) - differ[::-1].argmax(axis=0)
            else:
                decides = differ.argmax(axis=0) + 1
            level[queries] = np.where(differ.any(axis=0), decides, 0)
        # The recall level (from 1) at which the two first differ, 0 for a tie, and the levels that
        # tied before.
        table["level"] = _whole(level)
        table["tied_levels"] = np.where(
            (level == 0) | from_the_end, positions.m - level, level - 1
        )
        rank = np.zeros((2, len(level)), dtype=np.int64)
        doc_id = np.full((2, len(level)), None, dtype=object)
        # The rank (0: none) and the document with which each run reaches the level.
        for i, s in enumerate(pair):
            there = (level > 0) & (positions.r[s] >= level)
            row = (positions.start[s] + level - 1)[there]
            rank[i, there] = positions.rank[row]
            doc_id[i, there] = counts.judgments.ids_of(runs[s].doc[positions.row[row]])
        a_wins = values > 0
        table["doc_id"] = np.where(a_wins, doc_id[0], doc_id[1])
        table["rank_a"], table["rank_b"] = _whole(rank[0]), _whole(rank[1])
        table["other_doc_id"] = np.where(a_wins, doc_id[1], doc_id[0])
    elif preference in PAIRWISE:
        ahead = np.zeros((2, len(values)), dtype=np.int64)
        for queries, ranks in counts.ranks_of(pair):
            a, b = ranks[:, :, 0], ranks[:, :, 1]
            ahead[:, queries] = (a < b).sum(axis=0), (b < a).sum(axis=0)
        table["levels_a"], table["levels_b"] = ahead
    return table


def _whole(values: Ints) -> Any:
    """Integers in which 0 stands for nothing, as pandas' nullable ones."""
    return pd.arrays.IntegerArray(values, values == 0)
