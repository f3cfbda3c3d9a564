"""Resamples of queries and of collections, drawn once for everything that is computed from them.

They are drawn block by block. Which collections: ``default_rng([seed, D])`` draws ``integers(D,
size=(B, D))``, or all are there, in order. The queries of collection d: ``default_rng([seed, d])``,
of the first one ``default_rng(seed)``, draws ``integers(Q_d, size=(appearances, Q_d))``, in the
order of resamples and of the positions of the collection in them. So they do not depend on the
sizes of blocks, nor on what is computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, product, row_blocks
from ir_lexirecall._util.blocks import BLOCK
from ir_lexirecall._util.errors import check_choice
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.significance.outcomes import Resampled

OVER = ("queries", "collections")


class Statistic(ABC):
    """A statistic that is computed from resamples of values on the queries of D collections.

    Attributes:
        over: ``"queries"`` are drawn within each collection, or ``"collections"``, and queries
            within each drawn one.
        sizes: number of queries of each collection.
        n_resamples: how many resamples it takes, the first ones.
        widest: about how many numbers it keeps for each resample at once.
    """

    def __init__(
        self, values: Sequence[Floats], over: str, *, n_resamples: int, widest: int
    ) -> None:
        self.over: str = check_choice("over", over, OVER)
        self.sizes: tuple[int, ...] = tuple(x.shape[1] for x in values)
        self.n_resamples: int = n_resamples
        self.widest: int = widest

    @abstractmethod
    def take(self, draws: Draws) -> None:
        """Compute what follows from a block of the resamples."""


def resample(statistics: Sequence[Statistic], sampling: Resampled) -> None:
    """Give each statistic its ``n_resamples``, whatever the number in ``sampling``.

    Statistics take the same resamples if they agree in ``over`` and in the sizes of collections.
    """
    by_sample: dict[tuple[str, tuple[int, ...]], list[Statistic]] = {}
    for statistic in statistics:
        by_sample.setdefault((statistic.over, statistic.sizes), []).append(statistic)
    for (over, sizes), takers in by_sample.items():
        generators = _generators(sampling.seed, len(sizes), over)
        blocks = list(_blocks(takers))
        for block in progress_bar(sampling.progress, blocks, desc="resamples"):
            draws = Draws(block, sizes, over, generators)
            for statistic in takers:
                if block.start < statistic.n_resamples:
                    statistic.take(draws)


def _generators(seed: int, n_collections: int, over: str) -> list[np.random.Generator]:
    """Return a generator for the queries of each collection and, if need be, for collections."""
    seeds: list[Any] = [seed, *([seed, d] for d in range(1, n_collections))]
    if over == "collections":
        seeds.append([seed, n_collections])
    return [np.random.default_rng(one) for one in seeds]


def _blocks(statistics: Sequence[Statistic]) -> Iterator[slice]:
    """Yield blocks of resamples; no block goes beyond what a statistic wants."""
    start = 0
    for end in sorted({statistic.n_resamples for statistic in statistics}):
        takers = [statistic for statistic in statistics if statistic.n_resamples >= end]
        widest = max(
            max(sum(statistic.sizes), statistic.widest) for statistic in takers
        )
        for block in row_blocks(end - start, widest, BLOCK):
            yield slice(start + block.start, start + block.stop)
        start = end


@dataclass(frozen=True)
class Appearances:
    """How a collection is drawn, n times in a block of resamples.

    Attributes:
        count: how often each query is drawn there, shape ``(n, Q_d)``.
        position: as which of the D drawn collections it appears, shape ``(n,)``.
        resample: in which of these resamples, ascending, shape ``(n,)``.
    """

    count: Floats
    position: Ints
    resample: Ints


class Draws:
    """A block of B resamples of D collections.

    Attributes:
        block: where these resamples stand among all.
        over: what is drawn.
        drawn: the drawn collections, shape ``(B, D)``.
        collections: how each collection is drawn.
    """

    def __init__(
        self,
        block: slice,
        sizes: Sequence[int],
        over: str,
        generators: Sequence[np.random.Generator],
    ) -> None:
        """Draw a block of resamples of collections of these sizes."""
        self.block: slice = block
        self.over: str = over
        n_collections = len(sizes)
        shape = (block.stop - block.start, n_collections)
        self.drawn: Ints = np.broadcast_to(np.arange(n_collections), shape)
        if over == "collections":
            self.drawn = generators[-1].integers(n_collections, size=shape)
        by_collection = np.argsort(self.drawn, axis=None, kind="stable")
        ends = np.cumsum(np.bincount(self.drawn.ravel(), minlength=n_collections))
        appearances = np.split(by_collection, ends[:-1])
        self.collections: list[Appearances] = []
        for d, (n_queries, cells) in enumerate(zip(sizes, appearances, strict=True)):
            queries = generators[d].integers(n_queries, size=(len(cells), n_queries))
            resample, position = np.divmod(cells, n_collections)
            count = times_drawn(queries, n_queries)
            self.collections.append(Appearances(count, position, resample))

    def means(self, values: Sequence[Floats]) -> Floats:
        """Return the means in the drawn collections, shape ``(D, S, B)``.

        Args:
            values: of S runs on the queries of each collection, shape ``(S, Q_d)`` each.
        """
        means = np.empty((len(values), len(values[0]), len(self.drawn)))
        for d, (x, one) in enumerate(zip(values, self.collections, strict=True)):
            if self.over == "queries":
                means[d] = product(x, one.count.T) / x.shape[1]
            else:
                of_appearances = product(one.count, x.T) / x.shape[1]
                means[one.position, :, one.resample] = of_appearances
        return means

    @cached_property
    def count(self) -> Any:
        """How often each query is drawn in all, shape ``(sum Q_d, B)``.

        The array is contiguous, as matrix products then take three quarters of the time.
        """
        n_queries = sum(one.count.shape[1] for one in self.collections)
        count = np.zeros((n_queries, len(self.drawn)), dtype=np.float32)
        end = 0
        for one in self.collections:
            start, end = end, end + one.count.shape[1]
            if self.over == "queries":
                count[start:end] = one.count.T
            else:
                resample, first = np.unique(one.resample, return_index=True)
                count[start:end, resample] = np.add.reduceat(
                    one.count, first, dtype=np.float32
                ).T
        return count


def times_drawn(draw: Ints, queries: int) -> Floats:
    """Return how often each query is drawn, a row for each resample."""
    draw = draw + queries * np.arange(len(draw))[:, None]
    return (
        np.bincount(draw.ravel(), minlength=draw.size)
        .reshape(draw.shape)
        .astype(np.float64)
    )


# -- resamples that weigh things, the sample itself among them -------------------------------------


def sample_and_draws(rng: np.random.Generator, size: int, n_resamples: int) -> Floats:
    """Return how often each of ``size`` things is drawn; the first row is the sample itself.

    The generator draws counts, not things one by one as in ``Draws``.
    """
    drawn = rng.multinomial(size, np.full(size, 1 / size), size=n_resamples)
    return np.concatenate([np.ones((1, size)), drawn])


def percentile_interval(resampled: Floats, alpha: float) -> tuple[float, float, float]:
    """Return the value of the sample, the first, and the percentile interval of the resamples.

    Resamples without a value are left out.

    >>> percentile_interval(np.array([0.5, 0.1, 0.3, np.nan, 0.5]), 0.5)
    (0.5, 0.2, 0.4)
    """
    drawn = _with_value(resampled)
    if len(drawn) == 0:
        return float(resampled[0]), np.nan, np.nan
    low, high = np.quantile(drawn, [alpha / 2, 1 - alpha / 2])
    return float(resampled[0]), float(low), float(high)


def share_beyond_zero(resampled: Floats) -> float:
    """Return two-sided p of 0: 2 min(P(<= 0), P(>= 0)), the sample counted among the resamples.

    >>> share_beyond_zero(np.array([0.5, 0.1, 0.3, np.nan, -0.5]))
    1.0
    """
    drawn = _with_value(resampled)
    tail = min(np.count_nonzero(drawn <= 0), np.count_nonzero(drawn >= 0))
    return min(1.0, 2 * (1 + tail) / (1 + len(drawn)))


def _with_value(resampled: Floats) -> Floats:
    """Return the resamples that have a value, without the sample itself."""
    drawn = resampled[1:]
    return drawn[~np.isnan(drawn)]
