"""Preferences between stochastic systems, of which each has several rankings.

A system is preferred on a query by the mean of the preferences of each of its rankings over each of
the other's:

    d_q = sum over i, j of preference(a_i, b_j, q) / (R_a R_b)

With seeds, a system's mean preference varies between its own seeds (averaged over the other's) and
between those of the other. Both enter the variance of d as in ``significance.repeats``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import Memoised, cached_property, memoised
from ir_lexirecall._util.rounding import SUM
from ir_lexirecall._util.selecting import without
from ir_lexirecall.preferences.counts import Counts, PreferenceCounts
from ir_lexirecall.significance.repeats import (
    Components,
    DifferenceVariance,
    SeedVariance,
    components_of,
    difference_variance,
)


@dataclass(frozen=True, eq=False)
class RepeatedPreferences(Memoised):
    """Preferences between the rankings of S systems on Q queries.

    Attributes:
        kind: ``'samples'``, noise of each query, or ``'seeds'``, which move all queries at once.
        name: the preference.
        preferences: between all rankings.
        systems: the rankings of each system, by index.
    """

    kind: str
    name: str
    preferences: PreferenceCounts = field(repr=False)
    systems: tuple[Ints, ...]

    @property
    def is_of_seeds(self) -> bool:
        """Whether a repeat moves all queries at once."""
        return self.kind == "seeds"

    @property
    def n_repeats(self) -> Ints:
        """Number of rankings of each system, shape ``(S,)``."""
        return np.array([len(rankings) for rankings in self.systems])

    def only(self, queries: Ints) -> RepeatedPreferences:
        """Return the preferences on a subset of the queries."""
        return replace(self, preferences=replace(self.preferences, some=queries))

    @memoised
    def of_rankings(self, a: int, b: int) -> Floats:
        """Return the preferences of each ranking of a over each of b, shape ``(R_a, R_b, Q)``."""
        if a > b:
            return -self.of_rankings(b, a).swapaxes(0, 1)
        first, second = self.systems[a], self.systems[b]
        blocks = self.preferences.of_pairs(
            self.name, np.repeat(first, len(second)), np.tile(second, len(first))
        )
        return np.concatenate(list(blocks)).reshape(len(first), len(second), -1)

    def average(self, a: int, b: int) -> Floats:
        """Return the mean preference of system a over b on each query, shape ``(Q,)``."""
        mean = self.of_rankings(a, b).mean(axis=(0, 1))
        return np.where(np.abs(mean) < SUM, 0.0, mean)  # what cancels is a tie

    @cached_property
    def counts(self) -> Counts:
        """Wins, losses, ties and means of all pairs of systems."""
        n_systems, n_queries = len(self.systems), len(self.preferences.query_ids)
        wins, losses = np.zeros((2, n_systems, n_systems), dtype=np.int64)
        mean = np.zeros((n_systems, n_systems))
        against_others = np.zeros((n_queries, n_systems))
        for a in range(n_systems):
            for b in range(n_systems):
                if a == b:
                    continue
                x = self.average(a, b)
                wins[a, b] = np.count_nonzero(x > 0)
                losses[a, b] = np.count_nonzero(x < 0)
                mean[a, b] = x.sum() / max(1, n_queries)
                against_others[:, a] += x / (n_systems - 1)
        ties = n_queries - wins - losses
        return Counts(wins, losses, ties, np.zeros_like(wins), mean, against_others)

    def variance(self, pairs: Sequence[Ints]) -> DifferenceVariance:
        """Return the variance of mean preferences of pairs of systems that have seeds."""
        x, sides = self._differences(pairs), self._sides(pairs)
        return difference_variance(x, *sides)

    def components(self, pairs: Sequence[Ints]) -> Components:
        """Return the components of variance of pairs of systems; samples have no seeds."""
        x, sides = self._differences(pairs), self._sides(pairs)
        return components_of(x, *sides, has_seeds=self.is_of_seeds)

    def variance_of_means(self) -> DifferenceVariance:
        """Return the variance of the mean preference of each system over all others.

        The mean varies with the seeds of the system and of each other one, so that its variance has
        S parts, of shape ``(R, Q)`` each. They stand one after the other, the system's own first.
        """
        n_systems = len(self.systems)
        parts: list[Floats] = []
        for a in range(n_systems):
            others = without(range(n_systems), [a])
            parts.append(np.mean([self._of_own_rankings(a, b) for b in others], axis=0))
            parts += [-self._of_own_rankings(b, a) / len(others) for b in others]
        index_of_part = np.arange(len(parts)).reshape(n_systems, n_systems)
        return difference_variance(
            self.counts.against_others.T,
            SeedVariance.of(parts),
            list(index_of_part.T),  # the n-th part of every system
        )

    def _of_own_rankings(self, a: int, b: int) -> Floats:
        """Return the preferences of each ranking of a, averaged over those of b, ``(R_a, Q)``."""
        return np.asarray(self.of_rankings(a, b).mean(axis=1))

    def _differences(self, pairs: Sequence[Ints]) -> Floats:
        """Return the mean preferences of pairs of systems, shape ``(P, Q)``."""
        x = [self.average(int(a), int(b)) for a, b in zip(*pairs, strict=True)]
        return np.array(x).reshape(len(x), len(self.preferences.query_ids))

    def _sides(self, pairs: Sequence[Ints]) -> tuple[SeedVariance, list[Ints]]:
        """Return the variances of both sides of each pair, and their indices."""
        runs: list[Floats] = []
        for a, b in zip(*pairs, strict=True):
            runs += [
                self._of_own_rankings(int(a), int(b)),
                self._of_own_rankings(int(b), int(a)),
            ]
        first = np.arange(0, len(runs), 2)
        return SeedVariance.of(runs), [first, first + 1]
