"""Tests, intervals, preferences and best sets of systems with seeds, each of which moves all queries at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from ir_lexirecall import significance as sig
from ir_lexirecall.comparison.compared import ComparedRuns
from ir_lexirecall.comparison.criteria import MeasureCriterion, all_differences
from ir_lexirecall.comparison.pair_tests import PairTests
from ir_lexirecall.comparison.repeated_preferences import RepeatedPreferences
from ir_lexirecall.significance import RepeatedValues, SignificanceTest
from ir_lexirecall.significance.repeats import Components, queries_with_repeats
from tests.simulations.rows import (
    ALPHA,
    BOTH,
    FAMILY,
    Floats,
    Row,
    covers,
    differences,
    false,
    values,
)

N_SEEDS = ((2, 2), (3, 3), (10, 10), (2, 10), (1, 3))
"""Seeds of two systems; one that has 1 is deterministic."""
N_QUERIES = (25, 1000)
DEVIATIONS = (0.0, 0.005, 0.02)
NOISE = 0.05
VARIANCE = (
    0.1**2 * 2 * 2 / 3
)  # of ``differences``: a third of them is 0, the others are t(4)
POWER = 0.8
MARGIN = 0.02
BLOCK = 100
FEW_SEEDS = "few queries or seeds"
MORE_SEEDS = "take more seeds"


def seeds(samples: int, rng: Generator) -> Iterator[Row]:
    """Pairs of systems with seeds, their means, and best sets of six."""
    for n_seeds in N_SEEDS:
        for n_queries in N_QUERIES:
            for deviation in DEVIATIONS:
                yield from _rows_of_pairs(samples, rng, n_seeds, n_queries, deviation)
    for n_seeds in N_SEEDS:
        for n_queries in (25, 250):
            for deviation in (0.0, 0.2):
                yield _row_of_preferences(samples, rng, n_seeds, n_queries, deviation)
    for n_seeds in (2, 3, 10):
        for n_queries in N_QUERIES:
            for deviation in DEVIATIONS:
                yield _row_of_means(samples, rng, n_seeds, n_queries, deviation)
    for n_seeds in (2, 3, 5):
        for n_queries in N_QUERIES:
            for deviation in DEVIATIONS:
                yield _row_of_best_sets(samples, rng, n_seeds, n_queries, deviation)


def planned_seeds(samples: int, rng: Generator) -> Iterator[Row]:
    """The power of the queries that are planned for systems with seeds."""
    for difference, n_seeds in ((0.02, 3), (0.02, 5), (0.02, 10), (0.01, 10)):
        yield _row_of_planned_queries(4 * samples, rng, difference, n_seeds)


def more_seeds(samples: int, rng: Generator) -> Iterator[Row]:
    """Five seeds, and seeds that move means by 0.01."""
    for n_queries in N_QUERIES:
        for deviation in (0.0, 0.01, 0.02):
            yield from _rows_of_pairs(samples, rng, (5, 5), n_queries, deviation)
        for deviation in (0.0, 0.01):
            yield _row_of_means(samples, rng, 5, n_queries, deviation)
    for n_seeds in N_SEEDS:
        two_sided, *_ = _rows_of_pairs(samples, rng, n_seeds, max(N_QUERIES), 0.01)
        yield two_sided


def samples_of_queries(samples: int, rng: Generator) -> Iterator[Row]:
    """Repeats that add noise to each query: their averages are tested over queries."""
    for n_repeats in ((3, 3), (10, 10), (1, 5)):
        for n_queries in (10, 25, 250):
            yield from _rows_of_samples(samples, rng, n_repeats, n_queries, 0.3)


def _rows_of_samples(
    samples: int,
    rng: Generator,
    n_repeats: tuple[int, int],
    n_queries: int,
    noise: float,
) -> Iterator[Row]:
    """Two-sided tests and intervals of averages over samples without a difference, and means."""
    said, means = [], []

    for block in range(0, samples, BLOCK):
        test = SignificanceTest("t", n_resamples=499, seed=block)
        level = values(rng, (BLOCK, n_queries))
        gain = differences(rng, (BLOCK, n_queries))
        systems = [
            _systems(rng, one, number, 0.0, noise)
            for one, number in zip((level + gain, level), n_repeats, strict=True)
        ]
        compared = _compared([*systems[0], *systems[1]], test, kind="samples")
        pairs = np.arange(BLOCK), np.arange(BLOCK, 2 * BLOCK)
        criterion = compared.by["x"]
        said.append(test.of_pairs(all_differences(criterion, pairs)).p <= ALPHA)
        ends = PairTests(compared).means_of("x")
        holds = (ends["ci_low"] <= 0.3) & (ends["ci_high"] >= 0.3)
        means.append(holds[BLOCK:])
    a, b = n_repeats
    number = f"{a} samples each" if a == b else f"{a} and {b} samples"
    setting = f"{number}, {n_queries} queries, noise {noise:g}"
    statement = "samples: p at most 0.05"
    yield false(statement, setting, np.concatenate(said), FEW_SEEDS)
    yield covers(
        "samples: mean of a measure", setting, np.concatenate(means), FEW_SEEDS
    )


def _row_of_planned_queries(
    samples: int, rng: Generator, difference: float, n_seeds: int
) -> Row:
    """Return how often the planned number of queries finds a difference."""
    deviation = 0.005
    variances = VARIANCE, 2 * deviation**2, 2 * NOISE**2
    components = Components(*(np.array([variance]) for variance in variances))
    planned = queries_with_repeats(components, difference, n_seeds, POWER, ALPHA)
    n_queries = int(planned[0])
    finds = []
    for _ in range(0, samples, BLOCK):
        level = values(rng, (BLOCK, n_queries))
        gain = differences(rng, (BLOCK, n_queries)) + difference
        a = _systems(rng, level + gain, n_seeds, deviation)
        b = _systems(rng, level, n_seeds, deviation)
        finds.append(_two_sided_of_pairs(a, b) <= ALPHA)
    setting = f"difference {difference:g}, {_label((n_seeds, n_seeds))}, "
    setting += f"{_setting(n_queries, deviation)}"
    power = float(np.mean(finds))
    return Row(
        "seeds: planned queries find the difference",
        setting,
        POWER,
        power,
        samples,
        instead=MORE_SEEDS,
        reached=True,
    )


def _rows_of_pairs(
    samples: int,
    rng: Generator,
    n_seeds: tuple[int, int],
    n_queries: int,
    deviation: float,
) -> Iterator[Row]:
    """Two-sided tests and intervals without a difference, and verdicts under a margin."""
    of_blocks = []
    for _ in range(0, samples, BLOCK):
        level = values(rng, (BLOCK, n_queries))
        apart = differences(rng, (BLOCK, n_queries))
        a = _systems(rng, level + apart, n_seeds[0], deviation)
        b = _systems(rng, level, n_seeds[1], deviation)
        of_blocks.append(_verdicts_of_pairs(a, b))
    two_sided, worse, not_worse, within = np.concatenate(of_blocks, axis=1)
    setting = f"{_label(n_seeds)}, {_setting(n_queries, deviation)}"
    for row in (
        false("seeds: p at most 0.05", setting, two_sided, FEW_SEEDS),
        false("seeds: worse", f"{setting}, no difference", worse, FEW_SEEDS),
        false(
            "seeds: not worse", f"{setting}, true loss the margin", not_worse, FEW_SEEDS
        ),
        false("seeds: within margin", f"{setting}, true loss the margin", within, BOTH),
    ):
        yield replace(row, instead=MORE_SEEDS)


def _two_sided_of_pairs(a: Sequence[Floats], b: Sequence[Floats]) -> Floats:
    """Return the p of each pair, shape ``(P,)``."""
    n = len(a)
    pairs = np.arange(n), np.arange(n, 2 * n)
    criterion = _criterion([*a, *b])
    tested = SignificanceTest("t").of_pairs(all_differences(criterion, pairs))
    p: Floats = criterion.variance_with_seeds(pairs).widened(tested, ALPHA).p
    return p


def _verdicts_of_pairs(a: Sequence[Floats], b: Sequence[Floats]) -> Floats:
    """Return per pair whether p and each verdict are wrong, shape ``(4, P)``."""
    test, n = SignificanceTest("t"), len(a)
    pairs = np.arange(n), np.arange(n, 2 * n)
    criterion = _criterion([*a, *b])
    x = all_differences(criterion, pairs)
    variance = criterion.variance_with_seeds(pairs)
    two_sided = variance.widened(test.of_pairs(x), ALPHA)
    none = variance.margin_test(sig.margin_test(test, x, MARGIN), 1, MARGIN)
    criterion = _criterion([*(runs - MARGIN for runs in a), *b])
    x = all_differences(criterion, pairs)
    variance = criterion.variance_with_seeds(pairs)
    loss = variance.margin_test(sig.margin_test(test, x, MARGIN), 1, MARGIN)
    return np.stack(
        [
            two_sided.p <= ALPHA,
            none.worse <= ALPHA,
            loss.not_worse <= ALPHA,
            loss.within <= ALPHA,
        ]
    )


@dataclass(frozen=True)
class _Preferences:
    """Preferences between rankings: the one of the higher score is better.

    Attributes:
        scores: shape ``(L, Q)``.
    """

    scores: Floats

    @property
    def query_ids(self) -> list[str]:
        """The queries."""
        return [str(q) for q in range(self.scores.shape[1])]

    def of_pairs(self, name: str, a: Floats, b: Floats) -> Iterator[Floats]:
        """Yield the preferences of pairs of rankings."""
        yield np.sign(self.scores[a] - self.scores[b])


def _row_of_preferences(
    samples: int,
    rng: Generator,
    n_seeds: tuple[int, int],
    n_queries: int,
    deviation: float,
) -> Row:
    """Two-sided tests of mean preferences without a difference."""
    systems = tuple(np.split(np.arange(sum(n_seeds)), [n_seeds[0]]))
    pair = [np.array([0]), np.array([1])]
    said = []
    for _ in range(samples):
        runs = [
            _systems(
                rng, rng.normal(0, 0.5, (1, n_queries)), number, deviation, noise=0.5
            )[0]
            for number in n_seeds
        ]
        preferences = RepeatedPreferences(
            "seeds", "", _Preferences(np.concatenate(runs)), systems
        )
        tested = SignificanceTest("t").of_pairs(
            preferences.average(0, 1)[None], bounds=(-1, 1)
        )
        said.append(preferences.variance(pair).widened(tested, ALPHA).p[0] <= ALPHA)
    setting = f"{_label(n_seeds)}, {_setting(n_queries, deviation)}"
    row = false("seeds: mean preference", setting, np.array(said), FEW_SEEDS)
    return replace(row, instead=MORE_SEEDS)


def _row_of_means(
    samples: int, rng: Generator, n_seeds: int, n_queries: int, deviation: float
) -> Row:
    """Intervals of means over queries and seeds."""
    holds = []
    for block in range(0, samples, BLOCK):
        test = SignificanceTest("t", n_resamples=499, seed=block)
        runs = _systems(rng, values(rng, (BLOCK, n_queries)), n_seeds, deviation)
        means = PairTests(_compared(runs, test)).means_of("x")
        holds.append((means["ci_low"] <= 0.3) & (means["ci_high"] >= 0.3))
    setting = f"{n_seeds} seeds, {_setting(n_queries, deviation)}"
    row = covers("seeds: mean of a measure", setting, np.concatenate(holds), FEW_SEEDS)
    return replace(row, instead=MORE_SEEDS)


def _row_of_best_sets(
    samples: int, rng: Generator, n_seeds: int, n_queries: int, deviation: float
) -> Row:
    """Whether the best of six equal systems is kept; it is as good as the others."""
    kept = []
    for _ in range(samples):
        level = values(rng, (1, n_queries)) + differences(rng, (6, n_queries))
        runs = _systems(rng, level, n_seeds, deviation)
        p = PairTests(_compared(runs, SignificanceTest("t"))).best_set_p("x")
        kept.append(p[0] > ALPHA)
    setting = f"6 equal runs of {n_seeds} seeds, {_setting(n_queries, deviation)}"
    row = covers("seeds: the best run is kept", setting, np.array(kept), FAMILY)
    return replace(row, instead=MORE_SEEDS)


def _systems(
    rng: Generator,
    of_queries: Floats,
    n_seeds: int,
    deviation: float,
    noise: float = NOISE,
) -> Sequence[Floats]:
    """Return the values of the seeds of each system, shape ``(R, Q)``; one seed moves nothing."""
    n, n_queries = of_queries.shape
    moved = rng.normal(0, deviation, (n, n_seeds, 1)) if n_seeds > 1 else 0.0
    return of_queries[:, None] + moved + rng.normal(0, noise, (n, n_seeds, n_queries))


def _criterion(runs: Sequence[Floats], kind: str = "seeds") -> MeasureCriterion:
    """Return values averaged over repeats, with those of each repeat."""
    averages = np.stack([of_run.mean(axis=0) for of_run in runs])
    queries = [str(q) for q in range(averages.shape[1])]
    repeated = RepeatedValues(kind, tuple(runs))
    return MeasureCriterion(
        "x", averages, queries, averages.mean(axis=1), repeated=repeated
    )


def _compared(
    runs: Sequence[Floats], test: SignificanceTest, kind: str = "seeds"
) -> ComparedRuns:
    """Return runs as `compare` compares them."""
    return ComparedRuns(
        [str(s) for s in range(len(runs))], {"x": _criterion(runs, kind)}, test=test
    )


def _label(n_seeds: tuple[int, int]) -> str:
    """Return how many seeds two systems have."""
    a, b = n_seeds
    if a == 1:
        return f"{b} seeds against a deterministic system"
    return f"{a} seeds each" if a == b else f"{a} and {b} seeds"


def _setting(n_queries: int, deviation: float) -> str:
    """Return the number of queries and how far a seed moves a mean."""
    return f"{n_queries} queries, seed deviation {deviation:g}"
