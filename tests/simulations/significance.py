"""Do the tests reject no more often than they say, and do the intervals cover? On data whose truth is known.

    python -m tests.simulations.significance [--samples 20000] [--resamples 1999]

prints two tables: under no difference the share of samples with p <= alpha (of a family of pairs: with any rejection), and
the share of intervals at confidence 1 - alpha that hold the truth. The tests run the same at a small size.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

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


@dataclass(frozen=True)
class Share:
    """A row of a table: a share that should be at most, or at least, a level, and its Monte Carlo error."""

    what: str
    test: str
    queries: int
    share: float
    level: float
    samples: int

    @property
    def error(self) -> float:
        """Standard error if the share is as large as the level."""
        return float(np.sqrt(self.level * (1 - self.level) / self.samples))

    def __str__(self) -> str:
        return f"{self.what:34} {self.test:24} {self.queries:5} {self.share:8.4f} {self.level:6.2f} +- {self.error:.4f}"


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


def levels(samples: int, n_resamples: int, alpha: float = 0.05) -> Iterator[Share]:
    """Every paired test on every kind of difference; families with corrections, and Tukey's HSD."""
    for name in PAIRED:
        for what, draw in SYMMETRIC.items():
            for queries in (8, 12, 25, 50, 100):
                test = SignificanceTest(name, alpha=alpha, n_resamples=n_resamples)
                yield Share(what, name, queries, rejections(test, draw, queries, samples), alpha, samples)
    families = [(name, correction) for name in PAIRED for correction in ("holm", "bonferroni", "holm-sidak")]
    for name, correction in [*families, ("tukey", None)]:
        for what, queries in (("normal", 25), ("preferences, 10 % ties", 60)):
            test = SignificanceTest(name, correction, alpha, n_resamples)
            few = samples // 10
            share = family_rejections(test, SYMMETRIC[what], queries, 5, few)
            yield Share(f"family of 5 systems: {what}", f"{name}, {correction}", queries, share, alpha, few)


def coverages(samples: int, n_resamples: int, alpha: float = 0.05) -> Iterator[Share]:
    """Every interval where the truth is known."""
    for win, loss in ((0.4, 0.4), (0.5, 0.1), (0.3, 0.02), (1.0, 0.0)):
        for queries in (8, 25, 100):
            share = sign_coverage(alpha, win, loss, queries, samples)
            yield Share(f"wins {win:g}, losses {loss:g}", "sign", queries, share, 1 - alpha, samples)
    for name in PAIRED[1:]:
        for what in ("normal", "heavy tails (t, 3 df)", "tenths (P@10)"):
            for queries in (8, 12, 25, 50, 100):
                test = SignificanceTest(name, alpha=alpha, n_resamples=n_resamples)
                share = coverage(test, SYMMETRIC[what], queries, samples, 0.1)
                yield Share(what, name, queries, share, 1 - alpha, samples)
    for effects in (np.zeros(5), np.arange(5) / 2):
        for queries in (8, 25, 100):
            few = samples // 10
            test = SignificanceTest("tukey", alpha=alpha, n_resamples=n_resamples)
            share = family_coverage(test, SYMMETRIC["normal"], queries, effects, few)
            yield Share(f"5 systems, effects to {effects.max():g}", "tukey", queries, share, 1 - alpha, few)


def main() -> None:
    """Print both tables; what is off by more than three Monte Carlo errors is marked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=20_000, help="simulated samples per row (default: 20000)")
    parser.add_argument("--resamples", type=int, default=1999, help="resamples per test (default: 1999)")
    options = parser.parse_args()
    for title, rows, sign in (
        ("p <= alpha under no difference: at most alpha", levels, 1),
        ("intervals that hold the truth: at least 1 - alpha", coverages, -1),
    ):
        print(title)
        for row in rows(options.samples, options.resamples):
            off = sign * (row.share - row.level) > 3 * row.error
            print(row, "  <--" if off else "", flush=True)


if __name__ == "__main__":
    main()
