"""How often intervals and tests over collections are right, on simulated benchmarks whose truth is known.

``coverage``: the share of benchmarks in which each interval holds the truth; ``errors``: where no run is better than another, the
share in which a test rejects anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ir_lexirecall.significance import SignificanceTest, corrected
from ir_lexirecall.significance import over_collections as inference
from ir_lexirecall.significance.deviations import rank_intervals, studentised_deviations

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
        options = {"n_resamples": n_resamples, "seed": number}
        resamples = inference.macro_bootstrap(values, over, **options)
        mean = inference.macro_means(values)
        low, high, _ = inference.studentised_interval(mean, inference.macro_error(values, over), resamples, ALPHA)
        note("mean", (low <= truth) & (truth <= high))
        differences = [x[1:] - x[:1] for x in values]
        of_differences = inference.macro_bootstrap(differences, over, **options)
        error = inference.macro_error(differences, over)
        low, high, _ = inference.studentised_interval(inference.macro_means(differences), error, of_differences, ALPHA)
        true_difference = truth[1:] - truth[0]
        note("difference", (low <= true_difference) & (true_difference <= high))
        if over == "collections":
            means, variance = _differences(differences)
            combined = inference.random_effects(means, variance, ALPHA)
            note("random effects", (combined.low <= true_difference) & (true_difference <= combined.high))
        true_rank = inference.ranks(truth)
        for name, (first, last) in {
            "rank of resamples": inference.rank_interval(resamples.mean, ALPHA),
            "rank": rank_intervals(studentised_deviations(values, over, **options), ALPHA),
        }.items():
            note(name, (first <= true_rank) & (true_rank <= last))
    return {name: float(np.mean(values)) for name, values in hits.items()}


def _differences(differences: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Mean differences and their sampling variances, shape ``(S - 1, D)`` each."""
    means = np.stack([x.mean(axis=1) for x in differences], axis=1)
    variance = np.stack([inference.macro_error([x], "queries") ** 2 for x in differences], axis=1)
    return means, variance


def errors(world: World, over: str, benchmarks: int, n_resamples: int, seed: int) -> dict[str, float]:
    """Share of simulated benchmarks, none of whose runs is better than another, in which each test rejects anything.

    ``p``: of one difference; ``any p``: of any difference to the first run, uncorrected; ``Holm``: the same, corrected; ``Tukey``: of any pair of runs on the first
    collection; over collections also ``Friedman``, ``Nemenyi`` (any pair) and ``heterogeneity``, where there is none.
    """
    rng = np.random.default_rng(seed)
    world = replace(world, quality=[0.35] * len(world.quality), between=0.0 if over == "queries" else world.between)
    rejected: dict[str, list[bool]] = {}

    def note(name: str, p: Floats | float) -> None:
        rejected.setdefault(name, []).append(bool(np.any(np.asarray(p) <= ALPHA)))

    for number in range(benchmarks):
        values = world.collections(rng)
        differences = [x[1:] - x[:1] for x in values]
        mean, error = inference.macro_means(differences), inference.macro_error(differences, over)
        _, _, p = inference.studentised_interval(
            mean, error, inference.macro_bootstrap(differences, over, n_resamples=n_resamples, seed=number), ALPHA
        )
        note("p", p[0])
        note("any p", p)
        note("Holm", corrected(p, "holm", ALPHA)[0])
        if over == "queries":
            tukey = SignificanceTest("tukey", alpha=ALPHA, n_resamples=n_resamples, seed=number, progress=False)
            note("Tukey", tukey.of_all(values[0].T).p)
            note("heterogeneity", inference.heterogeneity([x[:1] for x in differences], number)[1])
        else:
            of_runs = np.stack([x.mean(axis=1) for x in values])
            note("Friedman", inference.friedman(of_runs)[1])
            note("Nemenyi", inference.nemenyi(of_runs, ALPHA)[1])
    return {name: float(np.mean(values)) for name, values in rejected.items()}
