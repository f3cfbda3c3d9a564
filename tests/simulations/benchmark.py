"""Simulated benchmarks whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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

    def collections(
        self, rng: np.random.Generator, fixed: Floats | None = None
    ) -> list[Floats]:
        """Values of each collection, shape ``(S, Q_d)``; ``fixed``: gains of runs on collections, shape ``(S, D)``."""
        quality = np.array(self.quality)[:, None]
        runs, values = len(quality), []
        for d, count in enumerate(self.queries):
            gain = (
                rng.normal(0, self.between, (runs, 1))
                if fixed is None
                else fixed[:, d : d + 1]
            )
            ease = 0.1 * rng.normal() if fixed is None else 0.0
            query = 0.15 * (rng.exponential(size=count) - 1)
            noise = rng.normal(0, 0.25, (runs, count)) * (
                rng.random((runs, count)) < 0.5
            )
            values.append(quality + gain + ease + query + noise)
        return values
