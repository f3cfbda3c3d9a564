"""How often intervals and tests over collections are right, on simulated benchmarks whose truth is known.

``python -m simulations.benchmark 2000`` (in ``tests``) prints a table; the tests call ``coverage`` at a small size.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ir_lexirecall.benchmark import inference

ALPHA = 0.05
Floats = np.ndarray


@dataclass(frozen=True)
class World:
    """Benchmarks of one kind: runs of known quality on collections with so many queries each.

    A value is the run's quality + what the run gains or loses on this collection + the collection's ease + that of the query
    (skewed, the same for all runs) + noise, most of it 0, as where two runs often tie.
    """

    queries: Sequence[int]
    quality: Sequence[float]
    between: float  # standard deviation of what a run gains or loses on a collection

    def collections(self, rng: np.random.Generator, fixed: Floats | None = None) -> list[Floats]:
        """Values of each collection, shape ``(S, Q_d)``; ``fixed``: gains of runs on collections, shape ``(S, D)``."""
        quality = np.array(self.quality)[:, None]
        runs, values = len(quality), []
        for d, count in enumerate(self.queries):
            gain = rng.normal(0, self.between, (runs, 1)) if fixed is None else fixed[:, d : d + 1]
            ease = 0.1 * rng.normal() if fixed is None else 0.0
            query = 0.15 * (rng.exponential(size=count) - 1)
            noise = rng.normal(0, 0.25, (runs, count)) * (rng.random((runs, count)) < 0.5)
            values.append(quality + gain + ease + query + noise)
        return values


WORLDS = {
    "5 collections, 50 queries": World([50] * 5, [0.30, 0.34, 0.38, 0.45], 0.03),
    "5 collections, 10 queries": World([10] * 5, [0.30, 0.34, 0.38, 0.45], 0.03),
    "15 collections, unequal": World(
        [10, 15, 20, 20, 30, 40, 50, 50, 60, 80, 100, 100, 150, 200, 300], [0.3, 0.32, 0.33, 0.4], 0.03
    ),
    "8 collections, no effects": World([30] * 8, [0.30, 0.34, 0.38, 0.45], 0.0),
    "10 collections, near ties": World([40] * 10, [0.300, 0.302, 0.304, 0.306, 0.308, 0.31], 0.02),
}


def coverage(world: World, over: str, benchmarks: int, n_resamples: int, seed: int) -> dict[str, float]:
    """Share of simulated benchmarks in which each interval holds the truth."""
    rng = np.random.default_rng(seed)
    quality = np.array(world.quality)
    hits: dict[str, list[float]] = {}

    def note(name: str, holds: Floats) -> None:
        hits.setdefault(name, []).append(float(np.mean(holds)))

    for number in range(benchmarks):
        gains = rng.normal(0, world.between, (len(quality), len(world.queries)))
        values = world.collections(rng, gains if over == "queries" else None)
        truth = quality + gains.mean(axis=1) if over == "queries" else quality
        resample = inference.stratified_bootstrap if over == "queries" else inference.two_level_bootstrap
        options = {"n_resamples": n_resamples, "seed": number}
        resamples = resample(values, **options)
        mean = inference.macro_means(values)
        low, high, _ = inference.studentised_interval(mean, inference.macro_error(values, over), resamples, ALPHA)
        note("mean", (low <= truth) & (truth <= high))
        if over == "queries":
            low, high = inference.bca_ends(values, resamples.mean, ALPHA)
            note("mean, BCa", (low <= truth) & (truth <= high))
        differences = [x[1:] - x[:1] for x in values]
        of_differences = resample(differences, **options)
        error = inference.macro_error(differences, over)
        low, high, _ = inference.studentised_interval(inference.macro_means(differences), error, of_differences, ALPHA)
        true_difference = truth[1:] - truth[0]
        note("difference", (low <= true_difference) & (true_difference <= high))
        true_rank = inference.ranks(truth)
        for name, (first, last) in {
            "rank of resamples": inference.rank_interval(resamples.mean, ALPHA),
            "rank": inference.simultaneous_rank_interval(mean, resamples.mean, ALPHA),
        }.items():
            note(name, (first <= true_rank) & (true_rank <= last))
    return {name: float(np.mean(values)) for name, values in hits.items()}


def main(benchmarks: int = 2000, n_resamples: int = 1999) -> None:
    """Print coverage for every world."""
    for over in ("queries", "collections"):
        for name, world in WORLDS.items():
            shares = coverage(world, over, benchmarks, n_resamples, seed=1)
            print(
                f"{over:<12} {name:<28}", "  ".join(f"{what} {share:.3f}" for what, share in shares.items()), flush=True
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
