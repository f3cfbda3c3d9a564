"""Tests, means, best sets and ranks over collections, of systems whose seeds move all of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from ir_lexirecall.significance import RepeatedValues
from ir_lexirecall.significance.macro_repeats import MacroSeeds
from ir_lexirecall.significance.over_collections import interval_over_collections
from tests.simulations.rows import ALPHA, FAMILY, Floats, Row, covers, differences, false, values
from tests.simulations.seeds import FEW_SEEDS, MORE_SEEDS, NOISE

N_SEEDS = ((3, 3), (2, 2), (2, 10), (1, 3))
"""Seeds of two systems; one that has 1 is deterministic."""
SIZES = ((25,) * 3, (10, 20, 40, 80), (50,) * 8)
"""Queries of each collection."""
DEVIATIONS = ((0.02, 0.0), (0.0, 0.02), (0.0, 0.0))
"""Standard deviations of a seed's effect on all collections, and on each of them."""
BETWEEN = 0.02
"""Standard deviation of a system's gain on a collection, where collections are a sample."""
BLOCK = 100


def benchmark_seeds(samples: int, rng: Generator) -> Iterator[Row]:
    """Pairs of equal systems on several collections, and six that are nearly equal."""
    for over in ("queries", "collections"):
        for sizes in SIZES:
            for deviations in DEVIATIONS:
                for n_seeds in N_SEEDS:
                    yield _row_of_pairs(2 * samples, rng, n_seeds, sizes, deviations, over)
                yield from _rows_of_families(samples // 2, rng, sizes, deviations, over)


def _row_of_pairs(
    samples: int,
    rng: Generator,
    n_seeds: tuple[int, int],
    sizes: Sequence[int],
    deviations: tuple[float, float],
    over: str,
) -> Row:
    """Two-sided tests without a difference."""
    rejected = []
    for _ in range(0, samples, BLOCK):
        systems = [n_seeds[0]] * BLOCK + [n_seeds[1]] * BLOCK
        of_systems = _seeds(rng, systems, sizes, deviations, BETWEEN * (over == "collections"))
        pairs = [np.arange(BLOCK), np.arange(BLOCK, 2 * BLOCK)]
        p = of_systems.variance(pairs, over).two_sided_p()
        if over == "collections":
            means = np.array([run.mean(axis=0) for run in of_systems.seed_means])
            x = means[pairs[0]] - means[pairs[1]]
            p = np.maximum(p, interval_over_collections(x, np.zeros(x.shape), ALPHA)[2])
        rejected.append(p <= ALPHA)
    label = " and ".join("no" if n == 1 else str(n) for n in n_seeds)
    setting = f"{label} seeds, {_label(sizes, deviations)}"
    row = false(f"benchmark of seeds, over {over}: p", setting, np.concatenate(rejected), FEW_SEEDS)
    return replace(row, instead=MORE_SEEDS)


def _rows_of_families(
    samples: int,
    rng: Generator,
    sizes: Sequence[int],
    deviations: tuple[float, float],
    over: str,
) -> Iterator[Row]:
    """Best sets, ranks and intervals of means of six systems with three seeds; the last is best."""
    kept, ranked, covered = [], [], []
    truth = 0.3 + 0.001 * np.arange(6)
    systems = np.arange(6)
    for _ in range(samples):
        between = BETWEEN * (over == "collections")
        of_systems = _seeds(rng, [3] * 6, sizes, deviations, between, truth - 0.3)
        kept.append(of_systems.not_beaten(1, over)[-1] > ALPHA)
        low, high = of_systems.rank_intervals(1, over, ALPHA)
        ranked.append(((low <= 6 - systems) & (6 - systems <= high)).all())
        low, high = of_systems.variance([systems], over).interval(ALPHA)
        covered.append((low <= truth) & (truth <= high))
    setting = f"6 near-equal systems of 3 seeds, {_label(sizes, deviations)}"
    start = f"benchmark of seeds, over {over}"
    for row in (
        covers(f"{start}: best set", setting, np.array(kept), FAMILY),
        covers(f"{start}: ranks of all", setting, np.array(ranked), FAMILY),
        covers(f"{start}: mean", setting, np.array(covered), FEW_SEEDS),
    ):
        yield replace(row, instead=MORE_SEEDS)


def _seeds(
    rng: Generator,
    n_seeds: Sequence[int],
    sizes: Sequence[int],
    deviations: tuple[float, float],
    between: float,
    gain: Floats | float = 0.0,
) -> MacroSeeds:
    """Return systems with some numbers of seeds, their values on each collection."""
    n = len(n_seeds)
    gains = np.broadcast_to(gain, n)
    of_all = [rng.normal(0, deviations[0], (k, 1)) * (k > 1) for k in n_seeds]
    collections = []
    for size in sizes:
        level = values(rng, (1, size)) + differences(rng, (n, size))
        level += gains[:, None] + rng.normal(0, between, (n, 1))
        of_systems = tuple(
            level[s]
            + of_all[s]
            + rng.normal(0, deviations[1], (k, 1)) * (k > 1)
            + rng.normal(0, NOISE, (k, size)) * (k > 1)
            for s, k in enumerate(n_seeds)
        )
        collections.append(RepeatedValues("seeds", of_systems))
    return MacroSeeds(collections)


def _label(sizes: Sequence[int], deviations: tuple[float, float]) -> str:
    """Return the words for a setting."""
    same = len(set(sizes)) == 1
    queries = f"{len(sizes)} x {sizes[0]}" if same else " + ".join(map(str, sizes))
    return f"moving all by {deviations[0]:g}, each by {deviations[1]:g}, {queries} queries"
