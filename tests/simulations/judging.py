"""Are prediction-powered intervals right, and the sequential sign test? On simulated judges whose truth is known.

    python -m tests.simulations.judging [--samples 4000]

prints the share of intervals that hold the mean difference of the population that queries are from, and how often the sequential test decides where there is no
difference. The tests call ``coverage`` and ``false_decisions`` at a small size.
"""

from __future__ import annotations

import argparse

import numpy as np

from ir_lexirecall.judging.predicted import prediction_powered
from ir_lexirecall.judging.sequential import sequential_signs

ALPHA = 0.05
MEAN = 0.02  # of what differences are made of


def differences(rng: np.random.Generator, samples: int, queries: int, rho: float, bias: float) -> tuple:
    """Human and predicted differences of two runs, correlated by ``rho``; the judge is too generous by ``bias`` for one of them.

    Many differences are 0 and the others skewed, as those of AP are.
    """
    shared, own, noise = (skewed(rng, samples, queries) for _ in range(3))
    d = shared * np.sqrt(rho) + own * np.sqrt(1 - rho)
    return d, shared * np.sqrt(rho) + noise * np.sqrt(1 - rho) + bias


def skewed(rng: np.random.Generator, samples: int, queries: int) -> np.ndarray:
    """Numbers of mean 0.02 and standard deviation about 0.1, a third of them near 0."""
    x = rng.standard_t(6, (samples, queries)) * 0.1 + 0.05 * (rng.exponential(size=(samples, queries)) - 1)
    return np.where(rng.random((samples, queries)) < 0.3, 0.1 * x, x) + MEAN


def coverage(rho: float, n: int, queries: int, bias: float, samples: int, seed: int = 0) -> dict[str, float]:
    """Share of intervals that hold the population's mean: prediction-powered, and from predictions alone; and what these are worth."""
    rng = np.random.default_rng(seed)
    d, f = differences(rng, samples, queries, rho, bias)
    human = np.arange(n)  # differences are drawn at random: any n are a random sample
    truth = MEAN * (np.sqrt(rho) + np.sqrt(1 - rho))
    got = prediction_powered(d[:, human], f, human, ALPHA)
    error = f.std(axis=1, ddof=1) / np.sqrt(queries)
    return {
        "coverage": float(np.mean((got.low <= truth) & (truth <= got.high))),
        "predictions alone": float(np.mean(np.abs(f.mean(axis=1) - truth) <= 1.96 * error)),
        "rho": float(got.rho.mean()),
        "n_effective": float(np.median(got.n_effective)),
    }


def false_decisions(win: float, tie: float, queries: int, samples: int, seed: int = 0) -> float:
    """Share of simulated comparisons in which the sequential sign test ever decides."""
    rng = np.random.default_rng(seed)
    x = rng.choice([1.0, 0.0, -1.0], size=(samples, queries), p=[(1 - tie) * win, tie, (1 - tie) * (1 - win)])
    return float(np.mean(sequential_signs(x, ALPHA, seed).decided_after > 0))


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4000, help="simulated comparisons per row (default: 4000)")
    samples = parser.parse_args().samples
    print(
        f"prediction-powered intervals, N = 500, a judge biased by 0.05 (+- {2 * np.sqrt(0.05 * 0.95 / samples):.3f})"
    )
    for n in (20, 50):
        for rho in (0.0, 0.5, 0.8, 0.95):
            row = coverage(rho, n, 500, 0.05, samples)
            print(f"n {n:3}  rho {rho:4}", "  ".join(f"{name} {x:.3f}" for name, x in row.items()), flush=True)
    print(f"sequential sign test: decisions, at most {ALPHA:.0%} where wins are as likely as losses")
    for win in (0.5, 0.6, 0.7):
        for tie in (0.0, 0.3):
            print(f"P(win) {win}  ties {tie:.0%}  {false_decisions(win, tie, 500, samples):.3f}", flush=True)


if __name__ == "__main__":
    main()
