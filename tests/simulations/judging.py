"""Are prediction-powered intervals right, and the sequential sign test? On simulated judges whose truth is known.

The table of coverage (``coverage.py``) and the tests call these.
"""

from __future__ import annotations

import numpy as np

from ir_lexirecall.judging.predicted import (
    powered_margin_test,
    powered_preferences,
    prediction_powered,
    with_people_alone,
)
from ir_lexirecall.judging.sequential import sequential_signs
from ir_lexirecall.significance import SignificanceTest, margin_test

ALPHA = 0.05
MEAN = 0.02  # of what differences are made of


def differences(
    rng: np.random.Generator, samples: int, queries: int, rho: float, bias: float
) -> tuple:
    """Human and predicted differences of two runs, correlated by ``rho``; the judge is too generous by ``bias`` for one of them.

    Many differences are 0 and the others skewed, as those of AP are.
    """
    shared, own, noise = (skewed(rng, samples, queries) for _ in range(3))
    d = shared * np.sqrt(rho) + own * np.sqrt(1 - rho)
    return d, shared * np.sqrt(rho) + noise * np.sqrt(1 - rho) + bias


def skewed(rng: np.random.Generator, samples: int, queries: int) -> np.ndarray:
    """Numbers of mean 0.02 and standard deviation about 0.1, a third of them near 0."""
    x = rng.standard_t(6, (samples, queries)) * 0.1 + 0.05 * (
        rng.exponential(size=(samples, queries)) - 1
    )
    return np.where(rng.random((samples, queries)) < 0.3, 0.1 * x, x) + MEAN


def coverage(
    rho: float, n: int, queries: int, bias: float, samples: int, seed: int = 0
) -> float:
    """Share of prediction-powered intervals that hold the population's mean."""
    rng = np.random.default_rng(seed)
    d, f = differences(rng, samples, queries, rho, bias)
    human = np.arange(n)  # differences are drawn at random: any n are a random sample
    truth = MEAN * (np.sqrt(rho) + np.sqrt(1 - rho))
    got = prediction_powered(d[:, human], f, human, ALPHA)
    return float(np.mean((got.low <= truth) & (truth <= got.high)))


def values_of_two_judges(
    samples: int, human: int, queries: int, seed: int = 0, rare: bool = False
) -> tuple:
    """Differences of values in 0 to 1 of two runs by people, of a sample of the queries, and by a judge that favours one run, of all.

    ``rare``: the first run gains much on a tenth of the queries, instead of a little on all.
    """
    rng = np.random.default_rng(seed)
    shape = samples, queries
    difficulty = rng.beta(1.2, 2.0, shape)
    gain = np.where(rng.random(shape) < 0.1, 0.4, 0.0) if rare else 0.04
    a, b = (
        np.clip(difficulty + extra + rng.normal(0, 0.12, shape), 0, 1)
        for extra in (gain, 0.0)
    )
    judged = [
        np.clip(0.8 * x + bias + rng.normal(0, 0.08, shape), 0, 1)
        for x, bias in ((a, 0.1), (b, 0.02))
    ]
    return (a - b)[:, :human], judged[0] - judged[1], np.arange(human)


def coverage_of_values(
    human: int, queries: int, samples: int, seed: int = 0
) -> dict[str, float]:
    """Share of intervals that hold the mean difference of all such queries, and their mean width: with predictions, people and judge alone."""
    d, f, sample = values_of_two_judges(samples, human, queries, seed)
    everything, _, _ = values_of_two_judges(200, 10_000, 10_000, seed + 1)
    truth = everything.mean()
    both = prediction_powered(d, f, sample, ALPHA)
    row = {
        "coverage": np.mean((both.low <= truth) & (truth <= both.high)),
        "width": np.mean(both.high - both.low),
    }
    for name, x in (("people", d), ("judge", f)):
        alone = SignificanceTest("t", alpha=ALPHA).of_pairs(x)
        row[f"{name}: coverage"] = np.mean((alone.low <= truth) & (truth <= alone.high))
        row[f"{name}: width"] = np.mean(alone.high - alone.low)
    return {name: float(number) for name, number in row.items()}


def false_margin_verdicts(
    human: int, queries: int, samples: int, seed: int = 0, *, rare: bool = False
) -> float:
    """Share of samples with a true loss of the margin that are called not worse, with predictions."""
    d, f, sample = values_of_two_judges(samples, human, queries, seed, rare)
    everything, _, _ = values_of_two_judges(200, 10_000, 10_000, seed + 1, rare)
    both = prediction_powered(d, f, sample, ALPHA)
    margin = everything.mean()  # the second run loses as much
    alone = margin_test(SignificanceTest("t"), -d, margin)
    return float(
        np.mean(
            powered_margin_test(both, d, alone, None, -1, margin).not_worse <= ALPHA
        )
    )


def coverage_of_preferences(
    n: int, queries: int, mean: float, samples: int, seed: int = 0
) -> float:
    """Share of prediction-powered intervals of a mean preference that hold it: a fifth of ties, a judge who is right on .85 of queries."""
    rng = np.random.default_rng(seed)
    ties = min(0.2, 1 - abs(mean))
    share = [(1 - ties - mean) / 2, ties, (1 - ties + mean) / 2]
    d, other = (
        rng.choice([-1.0, 0.0, 1.0], size=(samples, queries), p=share) for _ in range(2)
    )
    f = np.where(rng.random(d.shape) < 0.85, d, other)
    alone = SignificanceTest("t", alpha=ALPHA).of_pairs(d[:, :n], bounds=(-1, 1))
    given = d[:, :n], f, np.arange(n)
    found, is_powered = powered_preferences(prediction_powered(*given), *given)
    got = with_people_alone(found, d[:, :n], alone, (-1, 1), is_powered)
    return float(np.mean((got.low <= mean) & (mean <= got.high)))


def false_decisions(
    win: float, tie: float, queries: int, samples: int, seed: int = 0
) -> float:
    """Share of simulated comparisons in which the sequential sign test ever decides."""
    rng = np.random.default_rng(seed)
    x = rng.choice(
        [1.0, 0.0, -1.0],
        size=(samples, queries),
        p=[(1 - tie) * win, tie, (1 - tie) * (1 - win)],
    )
    return float(
        np.mean(sequential_signs(x, ALPHA, seed, correct=False).decided_after > 0)
    )


def false_decisions_of_any(
    runs: int, queries: int, samples: int, seed: int = 0, *, correct: bool = True
) -> float:
    """Share of simulated comparisons of equal runs in which the sequential sign test ever decides any pair."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(runs, 1)
    decided = []
    for sample in range(samples):
        values = rng.normal(size=(runs, queries)) + rng.normal(size=queries)
        signs = sequential_signs(values[i] - values[j], ALPHA, sample, correct=correct)
        decided.append((signs.decided_after > 0).any())
    return float(np.mean(decided))
