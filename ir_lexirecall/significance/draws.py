"""Resamples of queries and of collections, drawn once for all that is computed from them, block by block.

Which collections: ``default_rng([seed, D])`` draws ``integers(D, size=(B, D))``, or all are there,
in order. The queries of
collection d: ``default_rng([seed, d])``, of the first one ``default_rng(seed)``, draws
``integers(Q_d, size=(appearances, Q_d))``, in the order of resamples and of the places where the
collection stands. So they do not depend on the sizes of blocks, nor on what is computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats, Ints, row_blocks
from ir_lexirecall._util.blocks import BLOCK
from ir_lexirecall._util.errors import check_choice
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.progress import progress_bar

OVER = ("queries", "collections")


class Statistic(ABC):
    """What is computed from resamples of values, shape ``(S, Q_d)`` for each of D collections.

    Attributes:
        over: ``"queries"`` are drawn within each collection, or ``"collections"``, and queries
            within each drawn one.
        sizes: queries of each of D collections.
        n_resamples: how many it takes, the first ones.
        widest: numbers that it needs of each resample at once, about.
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
        """Compute what follows from some of the resamples."""


def resample(statistics: Sequence[Statistic], *, seed: int, progress: bool | None = False) -> None:
    """Let statistics take as many resamples as they want; those over the same and of the same sizes take the same ones."""
    alike: dict[tuple[str, tuple[int, ...]], list[Statistic]] = {}
    for statistic in statistics:
        alike.setdefault((statistic.over, statistic.sizes), []).append(statistic)
    for (over, sizes), several in alike.items():
        seeds: list[Any] = [
            seed,
            *([seed, d] for d in range(1, len(sizes) + (over == "collections"))),
        ]
        generators = [np.random.default_rng(one) for one in seeds]
        for some in progress_bar(progress, list(_blocks(several)), desc="resamples"):
            draws = Draws(some, sizes, over, generators)
            for statistic in several:
                if some.start < statistic.n_resamples:
                    statistic.take(draws)


def _blocks(statistics: Sequence[Statistic]) -> Iterator[slice]:
    """Blocks of resamples, none of which goes beyond what a statistic wants."""
    start = 0
    for end in sorted({statistic.n_resamples for statistic in statistics}):
        widest = max(
            max(sum(one.sizes), one.widest) for one in statistics if one.n_resamples >= end
        )
        yield from (
            slice(start + some.start, start + some.stop)
            for some in row_blocks(end - start, widest, BLOCK)
        )
        start = end


@dataclass(frozen=True)
class Appearances:
    """How a collection is drawn, n times in some resamples.

    Attributes:
        count: how often each query is drawn there, shape ``(n, Q_d)``.
        place: as which of the D drawn collections it appears, shape ``(n,)``.
        resample: in which of these resamples, ascending, shape ``(n,)``.
    """

    count: Floats
    place: Ints
    resample: Ints


class Draws:
    """A block of B resamples of D collections.

    Attributes:
        some: which of all resamples.
        over: what is drawn.
        drawn: the drawn collections, shape ``(B, D)``.
        collections: of each collection where and how it is drawn.
    """

    def __init__(
        self,
        some: slice,
        sizes: Sequence[int],
        over: str,
        generators: Sequence[np.random.Generator],
    ) -> None:
        """Draw the next resamples, ``some`` of them, of collections of these ``sizes``."""
        self.some: slice = some
        self.over: str = over
        shape = (some.stop - some.start, len(sizes))
        self.drawn: Ints = np.broadcast_to(np.arange(len(sizes)), shape)
        if over == "collections":
            self.drawn = generators[-1].integers(len(sizes), size=shape)
        by_collection = np.argsort(self.drawn, axis=None, kind="stable")
        ends = np.cumsum(np.bincount(self.drawn.ravel(), minlength=len(sizes)))
        self.collections: list[Appearances] = []
        for d, (queries, here) in enumerate(
            zip(sizes, np.split(by_collection, ends[:-1]), strict=True)
        ):
            count = times_drawn(generators[d].integers(queries, size=(len(here), queries)), queries)
            self.collections.append(Appearances(count, here % len(sizes), here // len(sizes)))

    def means(self, values: Sequence[Floats]) -> Floats:
        """Of the drawn collections, shape ``(D, S, B)``, from values of S runs, shape ``(S, Q_d)`` each."""
        means = np.empty((len(values), len(values[0]), len(self.drawn)))
        for d, (x, one) in enumerate(zip(values, self.collections, strict=True)):
            if self.over == "queries":
                np.matmul(x, one.count.T, out=means[d])
                means[d] /= x.shape[1]
            else:
                means[one.place, :, one.resample] = one.count @ x.T / x.shape[1]
        return means

    @cached_property
    def count(self) -> Any:
        """How often each query is drawn in all, shape ``(sum Q_d, B)``, contiguous: matrix products take three quarters of the time."""
        count = np.zeros(
            (sum(one.count.shape[1] for one in self.collections), len(self.drawn)), dtype=np.float32
        )
        end = 0
        for one in self.collections:
            start, end = end, end + one.count.shape[1]
            if self.over == "queries":
                count[start:end] = one.count.T
            else:
                resample, first = np.unique(one.resample, return_index=True)
                count[start:end, resample] = np.add.reduceat(one.count, first, dtype=np.float32).T
        return count


def times_drawn(draw: Ints, queries: int) -> Floats:
    """How often each query is drawn, a row per resample."""
    draw = draw + queries * np.arange(len(draw))[:, None]
    return np.bincount(draw.ravel(), minlength=draw.size).reshape(draw.shape).astype(np.float64)
