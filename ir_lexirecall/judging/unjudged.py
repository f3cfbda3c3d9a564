"""Say what a comparison needs to know about unjudged documents, on this machine or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats, Ints, PairIndices
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.judging.algorithms import Judgings
from ir_lexirecall.judging.bounds import (
    ValueBounds,
    WinBounds,
    bounds_of_differences,
    bounds_of_wins,
)
from ir_lexirecall.judging.ordering import decides, depends_on_others, to_judge_table
from ir_lexirecall.preferences.naming import Preference


@dataclass(frozen=True)
class OpenPairs:
    """Pairs of runs between which more judgments could decide, by one criterion.

    Attributes:
        what: the measure, or the preference.
        pair_indices: indices of the runs of each pair.
        judgings: the judgments that are possible.
        values: values of a measure today, for every run and query; None for a preference.
        moving: which pairs can become equal or change sides, shape `(P,)`; None if that is to be
            found from the bounds of the means.
        by_size: whether the size of a preference counts, not only who wins.
    """

    what: IRMeasure | Preference
    pair_indices: PairIndices
    judgings: Judgings
    values: Floats | None = None
    moving: Bools | None = None
    by_size: bool = False


class RetrievedDocuments(Protocol):
    """Documents that runs retrieved, judged or not: on this machine or elsewhere.

    Attributes:
        judgments: the judgments of today.
        names: names of the runs.
        deepest: number of documents of each run's longest ranking, shape `(S,)`.
    """

    judgments: Judgments
    names: list[str]
    deepest: Ints

    @property
    def all_judged(self) -> bool:
        """Whether every document is judged."""

    def documents(self, depth: int) -> tuple[int, Ints]:
        """Count the documents that have a gain, or are unjudged down to `depth` of any run.

        Returns:
            The number for all runs together, and for each run, shape `(S,)`.
        """

    def wins(
        self,
        preference: Preference,
        pair_indices: PairIndices,
        judgings: Judgings | None,
    ) -> WinBounds | None:
        """Return who can win; see `bounds_of_wins`."""

    def differences(
        self,
        measure: IRMeasure,
        values: Floats,
        pair_indices: PairIndices,
        judgings: Judgings,
    ) -> ValueBounds | None:
        """Return the bounds of differences; see `bounds_of_differences`."""

    def to_judge(self, pairs: OpenPairs, n: int) -> pd.DataFrame:
        """Return the n documents to judge next; see `to_judge_table`."""

    def depends_on_others(self, what: IRMeasure | Preference) -> bool:
        """Return whether what a document adds depends on other relevant documents."""


class PooledDocuments:
    """Documents of a pool on this machine; implements `RetrievedDocuments`."""

    def __init__(self, pool: Pool) -> None:
        self.pool: Pool = pool
        self.judgments: Judgments = pool.judgments
        self.names: list[str] = pool.names
        self.deepest: Ints = pool.retrieved.max(axis=1, initial=0)

    @property
    def all_judged(self) -> bool:
        """Whether every document is judged."""
        return bool(self.pool.is_judged.all())

    def documents(self, depth: int) -> tuple[int, Ints]:
        """Count the documents that can matter; see `RetrievedDocuments`."""
        pool = self.pool.that_can_matter(depth)
        return len(pool.query), (pool.rank > 0).sum(axis=1)

    def wins(
        self,
        preference: Preference,
        pair_indices: PairIndices,
        judgings: Judgings | None,
    ) -> WinBounds | None:
        """Return who can win; see `bounds_of_wins`."""
        return bounds_of_wins(self.pool, preference, pair_indices, judgings)

    def differences(
        self,
        measure: IRMeasure,
        values: Floats,
        pair_indices: PairIndices,
        judgings: Judgings,
    ) -> ValueBounds | None:
        """Return the bounds of differences; see `bounds_of_differences`."""
        return bounds_of_differences(self.pool, measure, values, pair_indices, judgings)

    def to_judge(self, pairs: OpenPairs, n: int) -> pd.DataFrame:
        """Return the n documents to judge next; see `to_judge_table`."""
        scores = decides(
            self.pool,
            pairs.what,
            pairs.pair_indices,
            pairs.judgings,
            pairs.values,
            pairs.moving,
            by_size=pairs.by_size,
        )
        return to_judge_table(self.pool, n, *scores)

    def depends_on_others(self, what: IRMeasure | Preference) -> bool:
        """Return whether what a document adds depends on other relevant documents."""
        return depends_on_others(what, self.judgments)
