"""Differences of stochastic systems: several seeds of each, which move all queries at once.

A system has a value per seed and query. Its mean varies with the queries, with the seeds, and by
noise of seed and query. The difference of two means has the variance

    MS_query / Q + max(0, sum (s2_seed / R - s2_noise / (R Q)))

summed over the two systems: MS_query is the variance of the differences of averages over seeds,
s2_seed the variance of a system's R means per seed, and s2_noise its mean square of what remains.
Its degrees of freedom are Satterthwaite's, at most Q - 1. Those of the seeds' part are at most the
ones it has for equal variances.

Where the seeds add nothing, that is the t-test over queries, and never less.

Sources: Satterthwaite, An Approximate Distribution of Estimates of Variance Components, Biometrics
Bulletin 1946, doi 10.2307/3002019; Bouthillier et al., Accounting for Variance in Machine Learning
Benchmarks, MLSys 2021.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Interval, Ints, dividing_by_zero
from ir_lexirecall._util.errors import check_integer
from ir_lexirecall._util.lazy import cached_property, special
from ir_lexirecall._util.rounding import settled
from ir_lexirecall.significance.evidence import differing_queries
from ir_lexirecall.significance.outcomes import MarginTest, TestResult, check_squares
from ir_lexirecall.significance.planning import (
    MOST,
    check_levels,
    least_enough,
    noncentrality_to_find,
    ties_that_stay,
)

MOST_REPEATS = 1000
_N_OF_QUERIES, _N_OF_SEEDS, _N_OF_SPLITS = 4, 20, 5  # estimates that a plan looks at
Runs: TypeAlias = Sequence[Floats]
"""The values of each of S systems, shape ``(R_s, Q)``, with R_s repeats."""


@dataclass(frozen=True)
class SeedVariance:
    """How much the means of S systems vary with their seeds.

    Attributes:
        repeats: number of seeds of each system, shape ``(S,)``; 1 for a system without seeds.
        seeds: variance of a system's means per seed, shape ``(S,)``; 0 for a system without seeds.
        noise: mean square of what seeds and queries do not explain, shape ``(S,)``.
        queries: Q.
    """

    repeats: Ints
    seeds: Floats
    noise: Floats
    queries: int

    @classmethod
    def of(cls, runs: Runs) -> SeedVariance:
        """Return the variances of systems with a value per seed and query.

        >>> found = SeedVariance.of([np.array([[0.0, 1.0], [0.5, 0.5]]), np.array([[0.3, 0.4]])])
        >>> found.repeats.tolist(), found.seeds.tolist(), found.noise.tolist()
        ([2, 1], [0.0, 0.0], [0.25, 0.0])
        """
        check_squares(runs)
        queries = runs[0].shape[1]
        repeats = np.array([len(run) for run in runs])
        seeds, noise = np.zeros((2, len(runs)))
        for system, run in enumerate(runs):
            if len(run) < 2:
                continue
            of_seed = run.mean(axis=1)
            seeds[system] = variance_of(of_seed)
            rest = run - of_seed[:, None] - run.mean(axis=0) + run.mean()
            rest = settled(rest, np.abs(run).max(initial=0.0))
            noise[system] = (rest**2).sum() / ((len(run) - 1) * max(1, queries - 1))
        return cls(repeats, seeds, noise, queries)

    @property
    def component(self) -> Floats:
        """Variance of a system's mean between seeds, without the noise in it, shape ``(S,)``."""
        return _left(self.seeds, self.noise / self.queries)


def _left(variance: Floats, part: Floats) -> Floats:
    """Return what is left of variances without a part; 0 where that is rounding, or below 0."""
    return np.maximum(0.0, settled(variance - part, variance))


def variance_of(x: Floats) -> Floats:
    """Return the variance of each row, with n - 1; deviations that are rounding count as 0.

    >>> variance_of(np.array([[0.1 + 0.2, 0.3, 0.3], [1.0, 2.0, 3.0]]))
    array([0., 1.])
    """
    deviations = x - x.mean(axis=-1, keepdims=True)
    largest = np.abs(x).max(axis=-1, initial=0.0, keepdims=True)
    squares: Floats = settled(deviations, largest) ** 2
    return np.asarray(squares.sum(axis=-1) / (x.shape[-1] - 1))


@dataclass(frozen=True, eq=False)
class RepeatedValues:
    """The values of S systems on Q queries, with the repeats of each.

    Attributes:
        kind: ``'samples'``, noise of each query, or ``'seeds'``, which move all queries at once.
        values: of each system, shape ``(R, Q)``.
        labels: of each system, what tells its repeats apart; empty if nothing is known of that.
    """

    kind: str
    values: tuple[Floats, ...]
    labels: tuple[tuple[str, ...], ...] = ()

    @property
    def is_of_seeds(self) -> bool:
        """Whether a repeat moves all queries at once."""
        return self.kind == "seeds"

    @property
    def n_repeats(self) -> Ints:
        """Number of repeats of each system, shape ``(S,)``."""
        return self.variance.repeats

    @cached_property
    def variance(self) -> SeedVariance:
        """How much the means vary with their seeds."""
        return SeedVariance.of(self.values)

    def only(self, queries: Ints) -> RepeatedValues:
        """Return the values on some queries."""
        return replace(self, values=tuple(run[:, queries] for run in self.values))

    def of_systems(self, systems: Sequence[int]) -> RepeatedValues:
        """Return the values of some systems, each with its repeats in the order of their labels."""
        order = [np.argsort(self.labels[s], kind="stable") for s in systems]
        values = [self.values[s][rows] for s, rows in zip(systems, order, strict=True)]
        labels = [tuple(sorted(self.labels[s])) for s in systems]
        return replace(self, values=tuple(values), labels=tuple(labels))

    def components(self, x: Floats, pairs: Sequence[Ints]) -> Components:
        """Return the components of variance of pairs of systems; samples have no seeds."""
        return components_of(x, self.variance, pairs, has_seeds=self.is_of_seeds)


@dataclass(frozen=True)
class DifferenceVariance:
    """The variance of differences of P pairs of means, with its degrees of freedom, each ``(P,)``.

    Attributes:
        mean: the differences.
        variance: of the differences.
        degrees: of freedom of the variance.
    """

    mean: Floats
    variance: Floats
    degrees: Floats

    def two_sided_p(self) -> Floats:
        """Return the p of no difference."""
        return np.minimum(1.0, 2 * self.one_sided_p(-np.abs(self.mean)))

    def one_sided_p(self, distance: Floats) -> Floats:
        """Return the p of a difference that lies below its bound by minus a distance."""
        with dividing_by_zero():
            t = distance / np.sqrt(self.variance)
        p = special.stdtr(self.degrees, t)
        return np.where(np.isnan(p), np.where(distance < 0, 0.0, 1.0), p)

    def interval(self, alpha: float) -> Interval:
        """Return the interval of each difference at 1 - alpha."""
        half = -special.stdtrit(self.degrees, alpha / 2) * np.sqrt(self.variance)
        return self.mean - half, self.mean + half

    def detectable(self, x: Floats, power: float, alpha: float) -> Floats:
        """Return the smallest true difference that the two-sided test finds with some power.

        It is infinite where too few queries differ, and NaN for identical runs.

        Args:
            x: differences of averages over seeds, shape ``(P, Q)``, of which only ties count.
            power: the probability of finding it.
            alpha: level of the test.
        """
        check_levels(power, alpha)
        noncentrality = noncentrality_to_find(x, self.degrees, power, alpha)
        is_known = differing_queries(x) > 0
        return np.where(is_known, noncentrality, np.nan) * np.sqrt(self.variance)

    def widened(self, tested: TestResult, alpha: float) -> TestResult:
        """Return a t-test over queries that also allows for the seeds: p is never smaller."""
        low, high = self.interval(alpha)
        low, high = np.minimum(low, tested.low), np.maximum(high, tested.high)
        p = np.maximum(tested.p, self.two_sided_p())
        return replace(tested, low=low, high=high, p=p)

    def margin_test(self, tested: MarginTest, sign: int, margin: float) -> MarginTest:
        """Return one-sided t-tests over queries that also allow for the seeds.

        Args:
            tested: the tests over queries.
            sign: -1 where the smaller value is better, else 1.
            margin: the loss that does not matter.
        """
        gain = sign * self.mean
        not_worse = np.maximum(tested.not_worse, self.one_sided_p(-gain - margin))
        return MarginTest(
            np.maximum(tested.better, self.one_sided_p(-gain)),
            np.maximum(tested.worse, self.one_sided_p(gain)),
            not_worse,
            np.maximum(
                np.maximum(tested.within, not_worse), self.one_sided_p(gain - margin)
            ),
        )


def difference_variance(
    x: Floats, systems: SeedVariance, pairs: Sequence[Ints]
) -> DifferenceVariance:
    """Return the variance of mean differences, with the part that the seeds have in it.

    Args:
        x: differences of averages over seeds, shape ``(P, Q)``.
        systems: the variances between their seeds.
        pairs: the systems of each pair by index; one array for means of single systems.
    """
    queries = x.shape[1]
    of_queries = variance_of(x) / queries
    variance, degrees = satterthwaite(of_queries, queries, systems, pairs)
    return DifferenceVariance(x.mean(axis=1), variance, degrees)


def satterthwaite(
    of_queries: Floats,
    queries: float | Floats,
    systems: SeedVariance,
    pairs: Sequence[Ints],
) -> tuple[Floats, Floats]:
    """Return variances of mean differences and their degrees of freedom, by pair.

    Args:
        of_queries: the part of the queries, MS_query / Q, shape ``(P,)``.
        queries: Q, which may differ from pair to pair.
        systems: the variances between their seeds.
        pairs: the systems of each pair by index.
    """
    repeats = np.stack([systems.repeats[side] for side in pairs])
    freedom = np.maximum(repeats - 1, 1)  # a system without seeds has a variance of 0
    seeds = np.stack([systems.seeds[side] for side in pairs]) / repeats
    noise = np.stack([systems.noise[side] for side in pairs]) / (repeats * queries)
    total = seeds.sum(axis=0)
    added = _left(total, noise.sum(axis=0))
    shares = np.where(repeats > 1, 1 / repeats, 0.0)
    with dividing_by_zero():
        own_freedom = total**2 / (seeds**2 / freedom).sum(axis=0)
        equal = shares.sum(axis=0) ** 2 / (shares**2 / freedom).sum(axis=0)
        squares = (
            of_queries**2 / (queries - 1)
            + total**2 / np.fmin(own_freedom, equal)
            + (noise**2 / (freedom * (queries - 1))).sum(axis=0)
        )
        degrees = (of_queries + added) ** 2 / squares
    degrees = np.where((added > 0) & np.isfinite(degrees), degrees, np.inf)
    return of_queries + added, np.minimum(degrees, queries - 1)


# -- components of variance, and planning ----------------------------------------------------------


@dataclass(frozen=True)
class Components:
    """Components of variance of differences of P pairs, as variances, shape ``(P,)``.

    A single query and a single seed of each system give a difference with their sum as variance.

    Attributes:
        queries: of the true differences of queries.
        seeds: of the mean difference between seeds.
        noise: of what seeds and queries do not explain.
        ties: queries that tie for each that differs, t. A true difference D lies on the latter
            only, and so the variance that a test sees is larger by t D^2.
    """

    queries: Floats
    seeds: Floats
    noise: Floats
    ties: Floats | float = 0.0

    def among_ties(self, x: Floats) -> Components:
        """Return the components that a plan needs, which know ties.

        The observed mean m lies on queries that differ, too. What it adds to the observed variance,
        t m^2, is no part of the variance without a difference.

        Args:
            x: observed differences of averages over repeats, shape ``(P, Q)``.
        """
        n_queries = x.shape[1]
        ties = ties_that_stay(x)
        ties = np.where(np.isfinite(ties), ties, 0.0)
        of_mean = ties * x.mean(axis=1) ** 2 * n_queries / (n_queries - 1)
        return replace(self, queries=np.maximum(0.0, self.queries - of_mean), ties=ties)


def components_of(
    x: Floats, systems: SeedVariance, pairs: Sequence[Ints], *, has_seeds: bool = True
) -> Components:
    """Return the components of variance of pairs of systems.

    Args: as in ``difference_variance``; and whether repeats are seeds, not samples.
    """
    noise = np.stack([systems.noise[side] for side in pairs])
    repeats = np.stack([systems.repeats[side] for side in pairs])
    of_queries = _left(variance_of(x), (noise / repeats).sum(axis=0))
    seeds = np.zeros(len(x))
    if has_seeds:
        seeds = sum((systems.component[side] for side in pairs), seeds)
    return Components(of_queries, seeds, noise.sum(axis=0))


def planned_power(
    components: Components,
    difference: float,
    queries: Floats,
    repeats: Floats,
    alpha: float,
) -> Floats:
    """Return the power of the two-sided test, where both systems have as many repeats.

    The test estimates the variance and its degrees of freedom. The power is the mean over what it
    may estimate, for normal values. The noncentral t of the expected variance and degrees of
    freedom would promise 0.80 where 3 seeds reach 0.78: estimates of two seed variances are seldom
    equal, and then have fewer degrees of freedom. Ties add to what the test estimates, but not to
    the error of the mean, as in ``planning``: in simulations of 40 to 93 queries of which 8 to 30
    differ, planned seeds find the difference in 0.73 to 0.89 of samples for 0.80.

    Args:
        components: of variance, of P pairs.
        difference: the true difference.
        queries: number of queries, shape ``(P,)``.
        repeats: number of repeats of either system, shape ``(P,)``.
        alpha: level of the test.
    """
    of_queries = (components.queries + components.noise / repeats) / queries
    of_seeds = (components.seeds + components.noise / queries) / repeats
    true_variance = of_queries + of_seeds - components.noise / (repeats * queries)
    of_ties = components.ties * difference**2 / queries
    part_of_queries, parts_of_seeds = _possible_estimates(
        of_queries + of_ties, of_seeds, queries, repeats
    )
    n_estimates = part_of_queries.shape[1]

    def of_each(numbers: Floats) -> Floats:
        return np.repeat(numbers, n_estimates)

    systems = SeedVariance(
        np.tile(of_each(repeats), 2),
        (parts_of_seeds * repeats[:, None]).ravel(),
        np.tile(of_each(components.noise / 2), 2),
        1,
    )
    n = part_of_queries.size
    pairs = [np.arange(n), np.arange(n) + n]
    variance, degrees = satterthwaite(
        part_of_queries.ravel(), of_each(queries), systems, pairs
    )
    critical = -special.stdtrit(degrees, alpha / 2) * np.sqrt(variance)
    with dividing_by_zero():
        error = np.sqrt(of_each(true_variance))
        above = special.ndtr((difference - critical) / error)
        below = special.ndtr((-difference - critical) / error)
    power: Floats = (above + below).reshape(part_of_queries.shape).mean(axis=1)
    return power


def _possible_estimates(
    of_queries: Floats, of_seeds: Floats, queries: Floats, repeats: Floats
) -> tuple[Floats, Floats]:
    """Return equally likely estimates of the parts of the variance of a difference.

    The part of the queries and that of the seeds have chi-squared distributions; how the latter
    is split between the two systems has a beta distribution.

    Args:
        of_queries: the expected part of the queries, of P pairs.
        of_seeds: the expected part of the seeds of both systems, likewise.
        queries: number of queries, likewise.
        repeats: number of repeats of either system, likewise.

    Returns:
        The part of the queries in K estimates, shape ``(P, K)``, and of the seeds of each system,
        shape ``(2, P, K)``.
    """
    freedom = (repeats - 1)[:, None]
    queries_drawn = of_queries[:, None] * _mean_squares(queries - 1, _N_OF_QUERIES)
    seeds_drawn = of_seeds[:, None] * _mean_squares(2 * (repeats - 1), _N_OF_SEEDS)
    # Which system has the smaller part does not matter.
    smaller = special.betaincinv(
        freedom / 2, freedom / 2, _middles(_N_OF_SPLITS)[None] / 2
    )
    shape = (len(of_queries), _N_OF_QUERIES, _N_OF_SEEDS, _N_OF_SPLITS)
    part_of_queries = np.broadcast_to(queries_drawn[:, :, None, None], shape)
    both = seeds_drawn[:, None, :, None] * np.ones(shape)
    first = both * smaller[:, None, None, :]
    flat = (len(of_queries), -1)
    of_systems = np.stack([first.reshape(flat), (both - first).reshape(flat)])
    return part_of_queries.reshape(flat), of_systems


def _mean_squares(degrees: Floats, number: int) -> Floats:
    """Return equally likely values of chi-squared over its degrees, shape ``(P, number)``."""
    degrees = degrees[:, None]
    return np.asarray(special.chdtri(degrees, 1 - _middles(number)[None]) / degrees)


def _middles(number: int) -> Floats:
    """Return the middles of equal parts of the interval from 0 to 1.

    >>> _middles(2)
    array([0.25, 0.75])
    """
    return (np.arange(number) + 0.5) / number


def queries_with_repeats(
    components: Components, difference: float, repeats: int, power: float, alpha: float
) -> Floats:
    """Return the queries that find a difference with some repeats of both systems, shape ``(P,)``.

    Infinity: more than ten million, as where the seeds alone hide the difference.

    >>> parts = Components(*np.array([[0.01], [0.00005], [0.0]]))
    >>> queries_with_repeats(parts, 0.01, 3, 0.8, 0.05)
    array([inf])
    """
    check_integer("repeats", repeats, least=2)
    check_levels(power, alpha)
    n_repeats = np.full(len(components.queries), repeats)

    def is_enough(queries: Floats) -> Bools:
        enough: Bools = (
            planned_power(components, difference, queries, n_repeats, alpha) >= power
        )
        return enough

    return least_enough(is_enough, len(n_repeats), MOST)


def repeats_with_queries(
    components: Components, difference: float, queries: int, power: float, alpha: float
) -> Floats:
    """Return the repeats of both systems that find a difference with some queries, shape ``(P,)``.

    Infinity: more than 1,000.
    """
    check_integer("queries", queries, least=2)
    check_levels(power, alpha)
    n_queries = np.full(len(components.queries), float(queries))

    def is_enough(repeats: Floats) -> Bools:
        enough: Bools = (
            planned_power(components, difference, n_queries, repeats, alpha) >= power
        )
        return enough

    return least_enough(is_enough, len(n_queries), MOST_REPEATS)
