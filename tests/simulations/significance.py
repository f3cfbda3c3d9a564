"""Do the tests reject no more often than they say, and do the intervals cover? On data whose truth is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ir_lexirecall.significance import TESTS, SignificanceTest

Floats = NDArray[np.float64]
Draw = Callable[[Generator, tuple[int, ...]], Floats]

PAIRED = tuple(name for name in TESTS if name != "tukey")


def preferences(tie: float) -> Draw:
    """-1, 0 or 1, wins as likely as losses."""
    return lambda rng, shape: rng.choice([-1.0, 0.0, 1.0], size=shape, p=[(1 - tie) / 2, tie, (1 - tie) / 2])


# Differences that are symmetric around 0.
SYMMETRIC: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "heavy tails (t, 3 df)": lambda rng, shape: rng.standard_t(3, size=shape),
    "tenths (P@10)": lambda rng, shape: np.round(rng.normal(scale=2, size=shape)) / 10,
    "preferences, 10 % ties": preferences(0.1),
    "preferences, 60 % ties": preferences(0.6),
    "of all sizes (1e-50 to 1)": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.uniform(-50, 0, size=shape),
}


def rejections(test: SignificanceTest, draw: Draw, queries: int, samples: int, seed: int = 0) -> float:
    """Share of samples without a difference in which p <= alpha."""
    return float(np.mean([part.p <= test.alpha for part in _tested(test, draw, queries, samples, seed, 0.0)]))


def coverage(test: SignificanceTest, draw: Draw, queries: int, samples: int, truth: float, seed: int = 0) -> float:
    """Share of intervals that hold the centre of the differences, which is moved to ``truth``."""
    parts = _tested(test, draw, queries, samples, seed, truth)
    return float(np.mean([(part.low <= truth) & (truth <= part.high) for part in parts]))


def _tested(
    test: SignificanceTest, draw: Draw, queries: int, samples: int, seed: int, centre: float, blocks: int = 10
) -> Iterator:
    """Results of samples, in blocks that are resampled with seeds of their own."""
    rng = np.random.default_rng(seed)
    for block in range(blocks):
        x = draw(rng, (samples // blocks, queries)) + centre
        yield replace(test, seed=seed + block, progress=False).of_pairs(x)


def sign_coverage(alpha: float, win: float, loss: float, queries: int, samples: int, seed: int = 0) -> float:
    """Share of the sign test's intervals that hold (win - loss) / (win + loss)."""
    x = np.random.default_rng(seed).choice([-1.0, 0.0, 1.0], (samples, queries), p=[loss, 1 - win - loss, win])
    result = SignificanceTest("sign", alpha=alpha).of_pairs(x)
    truth = (win - loss) / (win + loss)
    return float(np.mean((result.low <= truth) & (truth <= result.high)))


def values_of_systems(rng: Generator, draw: Draw, queries: int, effects: Floats) -> Floats:
    """Values ``(Q, S)``: a query's difficulty, a system's effect, and noise."""
    return rng.normal(size=(queries, 1)) + effects + draw(rng, (queries, len(effects)))


def family_rejections(test: SignificanceTest, draw: Draw, queries: int, systems: int, samples: int) -> float:
    """Share of families of all pairs of equal systems in which any difference is rejected after correction."""
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(systems, 1)
    rejected = 0
    for sample in range(samples):
        values = values_of_systems(rng, draw, queries, np.zeros(systems))
        p = replace(test, seed=sample, progress=False).of_all(values).p[i, j]
        rejected += bool(test.corrected(p)[1].any())
    return rejected / samples


def family_coverage(test: SignificanceTest, draw: Draw, queries: int, effects: Floats, samples: int) -> float:
    """Share of families of intervals of Tukey's HSD that hold the true difference of every pair."""
    rng = np.random.default_rng(0)
    truth = effects[:, None] - effects
    covered = 0
    for sample in range(samples):
        values = values_of_systems(rng, draw, queries, effects)
        result = replace(test, seed=sample, progress=False).of_all(values)
        covered += bool(((result.low <= truth + 1e-12) & (truth - 1e-12 <= result.high)).all())
    return covered / samples
