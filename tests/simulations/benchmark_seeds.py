"""Tests, best sets and ranks over collections, of systems whose seeds move all collections at once.

Values of tests are normal, so that mean squares are drawn from their own distributions, not made of
values; those of best sets and ranks are normal or skewed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from ir_lexirecall.significance.macro_repeats import MacroSeeds
from ir_lexirecall.significance.repeats import (
    DifferenceVariance,
    RepeatedValues,
    SeedVariance,
    satterthwaite,
)
from tests.simulations.rows import ALPHA, FAMILY, Floats, Row, covers, false
from tests.simulations.seeds import FEW_SEEDS, MORE_SEEDS, N_SEEDS, NOISE

SIZES = ((25,) * 3, (10, 20, 40, 80), (250,) * 4)
"""Queries of each collection, where these are fixed."""
N_COLLECTIONS = (3, 5, 15)
"""Collections, where they are a sample."""
DEVIATIONS = ((0.0, 0.0), (0.02, 0.0), (0.0, 0.02))
"""Standard deviations of a seed's effect on all collections, and on each of them."""
OF_QUERIES = 0.1
"""Standard deviation of differences between queries."""
N_SYSTEMS = 6
"""Systems whose ranks are bounded."""
BETWEEN = 0.03
"""Standard deviation of differences between collections."""


def benchmark_seeds(samples: int, rng: Generator) -> Iterator[Row]:
    """Two-sided tests of pairs of equal systems, over queries and over collections."""
    for n_seeds in N_SEEDS:
        for deviations in DEVIATIONS:
            for sizes in SIZES:
                yield _row_over_queries(10 * samples, rng, n_seeds, deviations, sizes)
            for n_collections in N_COLLECTIONS:
                yield _row_over_collections(
                    10 * samples, rng, n_seeds, deviations, n_collections
                )


def benchmark_seed_ranks(samples: int, rng: Generator) -> Iterator[Row]:
    """Ranks of six nearly equal systems on three collections of 25 queries, and their best set."""
    for is_skewed in (False, True):
        for n_seeds in (2, 3, 5):
            for deviations in DEVIATIONS[:2]:
                for over in ("queries", "collections"):
                    yield from _rows_of_ranks(
                        samples, rng, n_seeds, deviations, over, is_skewed=is_skewed
                    )


def _rows_of_ranks(
    samples: int,
    rng: Generator,
    n_seeds: int,
    deviations: tuple[float, float],
    over: str,
    *,
    is_skewed: bool,
) -> Iterator[Row]:
    """Yield how often the true ranks are in the intervals of all, and the best system is kept."""
    ranks_hold, best_is_kept = [], []
    for _ in range(samples):
        quality = rng.normal(0, 0.002, N_SYSTEMS)
        found = _systems(rng, quality, n_seeds, deviations, over, is_skewed=is_skewed)
        rank = N_SYSTEMS - quality.argsort().argsort()
        low, high = found.rank_intervals(1, over, ALPHA)
        ranks_hold.append(np.all((low <= rank) & (rank <= high)))
        best_is_kept.append(found.not_beaten(1, over)[quality.argmax()] > ALPHA)
    kind = "skewed" if is_skewed else "normal"
    moved = f"moving all by {deviations[0]:g}"
    setting = f"{N_SYSTEMS} runs of {n_seeds} seeds, {moved}, {kind}"
    for name, holds in (("ranks", ranks_hold), ("the best run is kept", best_is_kept)):
        row = covers(
            f"benchmark of seeds, over {over}: {name}", setting, np.array(holds), FAMILY
        )
        yield replace(row, instead=MORE_SEEDS)


def _systems(
    rng: Generator,
    quality: Floats,
    n_seeds: int,
    deviations: tuple[float, float],
    over: str,
    *,
    is_skewed: bool,
) -> MacroSeeds:
    """Return values of systems with seeds on three collections of 25 queries."""
    n_systems = len(quality)
    moved = rng.normal(0, deviations[0], (n_systems, n_seeds, 1))
    collections = []
    for _ in range(3):
        shift = moved + rng.normal(0, deviations[1], (n_systems, n_seeds, 1))
        if over == "collections":
            shift = shift + rng.normal(0, BETWEEN, (n_systems, 1, 1))
        shape = n_systems, 1, 25
        if is_skewed:
            of_queries = OF_QUERIES * (rng.exponential(size=shape) - 1)
        else:
            of_queries = rng.normal(0, OF_QUERIES, shape)
        noise = rng.normal(0, NOISE, (n_systems, n_seeds, 25))
        values = quality[:, None, None] + shift + of_queries + noise
        collections.append(RepeatedValues("seeds", tuple(values)))
    return MacroSeeds(collections)


def _row_over_queries(
    samples: int,
    rng: Generator,
    n_seeds: Sequence[int],
    deviations: tuple[float, float],
    sizes: Sequence[int],
) -> Row:
    """Return the row of a benchmark whose collections are fixed."""
    repeats, queries = np.array(n_seeds), np.array(sizes)
    n_collections, has_seeds = len(queries), repeats > 1
    noise = (NOISE**2 / queries).sum() / n_collections**2 * has_seeds
    seeds = (deviations[0] ** 2 + deviations[1] ** 2 / n_collections) * has_seeds
    mean_square = OF_QUERIES**2 + (NOISE**2 * has_seeds / repeats).sum()
    variance = mean_square / queries / n_collections**2
    parts = variance * _chi2(rng, samples, queries - 1)
    of_queries = parts.sum(axis=1)
    degrees = of_queries**2 / (parts**2 / (queries - 1)).sum(axis=1)
    found = SeedVariance(
        np.repeat(repeats, samples),
        ((seeds + noise) * _chi2(rng, samples, np.maximum(repeats - 1, 1))).T.ravel(),
        (noise[:, None] * (degrees + 1)).ravel(),
        1,
    )
    mean = rng.normal(0, np.sqrt(variance.sum() + (seeds / repeats).sum()), samples)
    setting = f"{_label(n_seeds, deviations)}, {' + '.join(map(str, sizes))} queries"
    return _row("queries", setting, mean, of_queries, degrees + 1, found)


def _row_over_collections(
    samples: int,
    rng: Generator,
    n_seeds: Sequence[int],
    deviations: tuple[float, float],
    n_collections: int,
) -> Row:
    """Return the row of a benchmark whose collections are a sample."""
    repeats = np.array(n_seeds)
    has_seeds = repeats > 1
    noise = (deviations[1] ** 2 + NOISE**2 / 25) * has_seeds
    seeds = deviations[0] ** 2 * has_seeds
    variance = (
        BETWEEN**2 + OF_QUERIES**2 / 25 + (noise / repeats).sum()
    ) / n_collections
    degrees = n_collections - 1
    of_collections = variance * _chi2(rng, samples, np.array([degrees]))[:, 0]
    freedom = np.maximum(repeats - 1, 1)
    found = SeedVariance(
        np.repeat(repeats, samples),
        ((seeds + noise / n_collections) * _chi2(rng, samples, freedom)).T.ravel(),
        (noise * _chi2(rng, samples, freedom * degrees)).T.ravel(),
        n_collections,
    )
    mean = rng.normal(0, np.sqrt(variance + (seeds / repeats).sum()), samples)
    setting = f"{_label(n_seeds, deviations)}, {n_collections} collections"
    return _row(
        "collections",
        setting,
        mean,
        of_collections,
        np.full(samples, n_collections),
        found,
    )


def _row(
    over: str,
    setting: str,
    mean: Floats,
    without_seeds: Floats,
    units: Floats,
    systems: SeedVariance,
) -> Row:
    """Return how often equal systems are told apart.

    Args:
        over: what is a sample.
        setting: of the row.
        mean: differences.
        without_seeds: their variance over queries or collections.
        units: its degrees of freedom and 1.
        systems: the variances between seeds, those of all first systems first.
    """
    n = len(mean)
    sides = [np.arange(n), np.arange(n) + n]
    with_seeds = satterthwaite(without_seeds, units, systems, sides)
    p = np.maximum(
        DifferenceVariance(mean, *with_seeds).two_sided_p(),
        DifferenceVariance(mean, without_seeds, units - 1).two_sided_p(),
    )
    row = false(f"benchmark of seeds, over {over}: p", setting, p <= ALPHA, FEW_SEEDS)
    return replace(row, instead=MORE_SEEDS)


def _chi2(rng: Generator, samples: int, degrees: Floats) -> Floats:
    """Return chi-squared numbers over their degrees of freedom, a column for each of these."""
    return rng.chisquare(degrees, (samples, len(degrees))) / degrees


def _label(n_seeds: Sequence[int], deviations: tuple[float, float]) -> str:
    """Return the words for systems."""
    numbers = " and ".join("no" if n == 1 else str(n) for n in n_seeds)
    return (
        f"{numbers} seeds, moving all by {deviations[0]:g}, each by {deviations[1]:g}"
    )
