"""Reciprocal ranks, of which two runs share many: intervals of means, and Wilcoxon's estimates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.random import Generator

from ir_lexirecall import significance as sig
from ir_lexirecall.significance import SignificanceTest
from tests.simulations.rows import (
    ALPHA,
    DISCRETE,
    ENDS,
    Floats,
    Row,
    covers,
    false,
)

DEPTH = 10  # below which nothing is found, so that the value is 0
EASE = (0.3, 0.9)  # chance that a document is the first relevant one
SIZES = (10, 25, 50, 100)


def zeros(samples: int, rng: Generator) -> Iterator[Row]:
    """Means of reciprocal ranks, and differences of two runs that tie on half of the queries."""
    for ease in EASE:
        truth = float(_chances(ease) @ _values())
        for n_queries in (2, 5, *SIZES):
            x = reciprocal_ranks(rng, (samples, n_queries), ease)
            low, high = sig.mean_interval(x, limits=(0.0, 1.0), few_values=True)
            setting = f"reciprocal ranks, mean {truth:.2f}, {n_queries} queries"
            yield covers(
                "mean of a measure", setting, (low <= truth) & (truth <= high), ENDS
            )
    test = SignificanceTest("wilcoxon", progress=False)
    for ease in (0.3, 0.6):
        for n_queries in SIZES:
            found_at = f"chance {ease:g} of each document"
            setting = f"reciprocal ranks ({found_at}), half tie, {n_queries} queries"
            same = test.of_pairs(_differences(rng, (samples, n_queries), ease, ease))
            yield false("wilcoxon: p at most 0.05", setting, same.p <= ALPHA, DISCRETE)
            truth = _pseudomedian(ease + 0.1, ease)
            gain = _differences(rng, (samples, n_queries), ease + 0.1, ease)
            found = test.of_pairs(gain)
            holds = (found.low <= truth) & (truth <= found.high)
            row = covers("wilcoxon: interval", setting, holds, DISCRETE)
            yield replace(row, instead="take t")


def reciprocal_ranks(rng: Generator, shape: tuple[int, ...], ease: float) -> Floats:
    """Return 1 / rank of the first relevant document, 0 if it is not among the first ten."""
    rank = rng.geometric(ease, shape)
    return np.where(rank > DEPTH, 0.0, 1 / rank)


def _values() -> Floats:
    """Return the possible reciprocal ranks."""
    return np.append(1 / np.arange(1, DEPTH + 1), 0.0)


def _chances(ease: float) -> Floats:
    """Return the chance of each possible reciprocal rank."""
    found = ease * (1 - ease) ** np.arange(DEPTH)
    return np.append(found, 1 - found.sum())


def _differences(
    rng: Generator, shape: tuple[int, ...], ease: float, ease_of_other: float
) -> Floats:
    """Return the differences of two runs that have the same rank on half of the queries."""
    x = reciprocal_ranks(rng, shape, ease)
    other = reciprocal_ranks(rng, shape, ease_of_other)
    return np.where(rng.random(shape) < 0.5, 0.0, x - other)


def _pseudomedian(ease: float, ease_of_other: float) -> float:
    """Return the median of means of two differences that are not 0."""
    values = np.subtract.outer(_values(), _values()).ravel()
    chances = np.outer(_chances(ease), _chances(ease_of_other)).ravel()
    values, chances = values[values != 0], chances[values != 0]
    means = np.add.outer(values, values).ravel() / 2
    of_means = np.outer(chances, chances).ravel() / chances.sum() ** 2
    order = np.argsort(means)
    reaches_half = np.cumsum(of_means[order]) >= 0.5
    return float(means[order][reaches_half.argmax()])
