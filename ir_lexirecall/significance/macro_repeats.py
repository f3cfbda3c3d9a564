"""Macro means of stochastic systems on many collections: a seed moves all collections at once.

A system has R seeds, each of which was run on all D collections. The variance of a macro
difference is that of its test without seeds, and what the seeds add to it: as in ``repeats``, with
the variance between a system's R macro means in the place of that between its means. Nothing is
assumed about how alike the effects of a seed are on two collections: seeds that are drawn anew for
each collection are a special case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, ratio
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.significance.over_collections import (
    interval_over_collections,
    macro_error,
    means_on_collections,
)
from ir_lexirecall.significance.repeats import (
    DifferenceVariance,
    RepeatedValues,
    SeedVariance,
    difference_variance,
    satterthwaite,
    variance_of,
)


@dataclass(frozen=True, eq=False)
class MacroSeeds:
    """The values of S systems with seeds on D collections.

    Attributes:
        of_collections: the values on each collection, with the same systems and seeds in the same
            order.
    """

    of_collections: Sequence[RepeatedValues]

    @cached_property
    def seed_means(self) -> tuple[Floats, ...]:
        """For each system, the mean of each seed on each collection, shape ``(R, D)``."""
        n_systems = len(self.of_collections[0].values)
        return tuple(
            np.stack(
                [one.values[s].mean(axis=1) for one in self.of_collections], axis=1
            )
            for s in range(n_systems)
        )

    @cached_property
    def _averages(self) -> list[Floats]:
        """Values averaged over seeds, of each collection, shape ``(S, Q_d)``."""
        return [
            np.stack([x.mean(axis=0) for x in one.values])
            for one in self.of_collections
        ]

    def variance(self, pairs: Sequence[Ints], over: str) -> DifferenceVariance:
        """Return the variance of macro differences, with the part that the seeds have in it.

        Args:
            pairs: the systems of each pair by index; one array for means of single systems.
            over: what is a sample: ``"queries"``, or ``"collections"``, too.
        """
        x = []
        for values in self._averages:
            x.append(values[pairs[0]] - (values[pairs[1]] if pairs[1:] else 0))
        if over == "queries":
            return self._variance_over_queries(x, pairs)
        means = means_on_collections(x)
        if len(x) < 2:  # nothing is known of the spread
            unknown = np.full(len(means), np.inf)
            return DifferenceVariance(means[:, 0], unknown, np.ones(len(means)))
        return difference_variance(means, SeedVariance.of(self.seed_means), pairs)

    def _variance_over_queries(
        self, x: Sequence[Floats], pairs: Sequence[Ints]
    ) -> DifferenceVariance:
        """Return the variance of macro differences where the collections are fixed.

        Args:
            x: differences of averages over seeds, of each collection, shape ``(P, Q_d)``.
            pairs: the systems of each pair by index.
        """
        mean = np.mean([of_collection.mean(axis=1) for of_collection in x], axis=0)
        parts = np.stack(
            [
                of_collection.var(axis=1, ddof=1) / of_collection.shape[1]
                for of_collection in x
            ]
        )
        freedom = np.array([of_collection.shape[1] - 1 for of_collection in x])[:, None]
        squares = (parts**2 / freedom).sum(axis=0)
        # Equal differences on every query: any degrees of freedom do.
        degrees = ratio(parts.sum(axis=0) ** 2, squares, float(freedom.sum()))
        queries = degrees + 1
        systems = self._variance_of_sides(pairs, queries)
        sides = list(np.arange(len(pairs) * len(mean)).reshape(len(pairs), -1))
        of_queries = macro_error(x, "queries") ** 2
        variance, degrees = satterthwaite(of_queries, queries, systems, sides)
        return DifferenceVariance(mean, variance, degrees)

    def _variance_of_sides(
        self, pairs: Sequence[Ints], queries: Floats
    ) -> SeedVariance:
        """Return the variances that seeds have: of the first systems of all pairs, then the second.

        Args:
            pairs: the systems of each pair by index.
            queries: of each pair, by which ``satterthwaite`` divides the noise.
        """
        n_collections = len(self.of_collections)
        noises = [
            one.variance.noise / one.variance.queries for one in self.of_collections
        ]
        noise_of_mean = np.sum(noises, axis=0) / n_collections**2
        macro = [means.mean(axis=1) for means in self.seed_means]
        seeds = np.array(
            [
                float(variance_of(of_seed)) if len(of_seed) > 1 else 0.0
                for of_seed in macro
            ]
        )
        repeats = np.array([len(of_seed) for of_seed in macro])
        systems = np.concatenate(pairs)
        noise = noise_of_mean[systems] * np.tile(queries, len(pairs))
        return SeedVariance(repeats[systems], seeds[systems], noise, 1)

    def added(self) -> Floats:
        """Return what seeds add to the variance of each macro mean, shape ``(S,)``."""
        systems = [np.arange(len(self.seed_means))]
        of_queries = macro_error(self._averages, "queries") ** 2
        return np.maximum(0.0, self.variance(systems, "queries").variance - of_queries)

    def one_sided(self, over: str) -> Floats:
        """Return p that the column's system has no larger mean than the row's, shape ``(S, S)``.

        It is 1 on the diagonal. Over collections, p is at least half that of random effects.
        """
        n_systems = len(self.seed_means)
        a, b = np.triu_indices(n_systems, 1)
        tested = self.variance([a, b], over)
        a_is_better, b_is_better = (
            tested.one_sided_p(s * tested.mean) for s in (-1, 1)
        )
        if over == "collections":
            x = [values[a] - values[b] for values in self._averages]
            means = means_on_collections(x)
            *_, p = interval_over_collections(means, np.zeros(means.shape), 0.05)
            a_is_better, b_is_better = (
                np.maximum(q, p / 2) for q in (a_is_better, b_is_better)
            )
        result = np.ones((n_systems, n_systems))
        result[a, b], result[b, a] = b_is_better, a_is_better
        return result

    def _no_gain(self, sign: int, over: str) -> Floats:
        """Return p that the column's system is not the better one; arguments of `not_beaten`."""
        larger_is_not_better = self.one_sided(over)
        if sign > 0:
            return larger_is_not_better
        return larger_is_not_better.T

    def not_beaten(self, sign: int, over: str) -> Floats:
        """Return Bonferroni's p that no other system is better, for each system.

        Args:
            sign: -1 where the smaller value is better, else 1.
            over: as in `variance`.
        """
        p = self._no_gain(sign, over)
        return np.minimum(1.0, p.min(axis=1) * max(1, len(p) - 1))

    def rank_intervals(self, sign: int, over: str, alpha: float) -> tuple[Ints, Ints]:
        """Return the ranks that each system may have, by Bonferroni's correction over all pairs.

        Args: as in `not_beaten`; 1 - alpha is the confidence for all systems at once.
        """
        p = self._no_gain(sign, over)
        n_systems = len(p)
        level = alpha / max(1, n_systems * (n_systems - 1))
        is_better = p <= level
        return 1 + is_better.sum(axis=1), n_systems - is_better.sum(axis=0)
