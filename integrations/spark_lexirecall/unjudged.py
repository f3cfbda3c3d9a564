"""What unjudged documents could change between runs that are on the cluster.

The workers compute it, where the rows of a query meet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Bools, Floats, Ints, PairIndices
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.pools import Pool
from ir_lexirecall.evaluation.scored_runs import ScoredRuns
from ir_lexirecall.judging.algorithms import Judgings, bounded
from ir_lexirecall.judging.bounds import (
    ValueBounds,
    WinBounds,
    bounds_of_differences,
    bounds_of_wins,
    is_open_below,
    shares_documents,
)
from ir_lexirecall.judging.ordering import (
    can_change,
    decides,
    depends_on_others,
    first_to_judge,
    to_judge_table,
)
from ir_lexirecall.judging.unjudged import OpenPairs
from ir_lexirecall.judging.winners import WEIGHTS
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.preferences.functions import LEXICOGRAPHIC
from ir_lexirecall.preferences.naming import Preference
from spark_lexirecall.exchange import Exchange, Tables, aligned, list_matrix, lists, pa_

OfPool = Callable[[Pool, Tables], dict[str, Any]]
"""A function that a worker calls with the pooled documents of whole queries.

It returns columns, by default with a row per query.
"""


@dataclass(frozen=True, kw_only=True)
class CollectedRuns(ScoredRuns):
    """Runs that are scored here, and whose documents are on the cluster.

    ``whole`` holds facts about all judgments, for parts of them: ``highest_grade`` and
    ``has_fractions``.
    """

    exchange: Exchange = field(repr=False)
    whole: Mapping[str, Any] = field(repr=False)

    @property
    def can_be_read_again(self) -> bool:
        """Whether runs can be read again: always, as the documents stay on the cluster."""
        return True

    def _pooled(self, depth: int | None) -> Any:
        return DistantDocuments(self, depth)


class DistantDocuments:
    """Documents on the cluster; implements `RetrievedDocuments`."""

    def __init__(self, scored: CollectedRuns, depth: int | None) -> None:
        self.exchange, self.whole, self.depth = scored.exchange, scored.whole, depth
        self.judgments, self.names = scored.judgments, scored.names
        one = Judgments(["-"], np.zeros(1, dtype=np.int64), ["-"], np.zeros(1))
        self.in_short = one.knowing(**scored.whole)  # enough to choose an algorithm
        self._known: dict[int | None, pl.DataFrame] = {}
        self.retrieved = np.stack([run.depth for run in scored.runs.values()])
        self.deepest = self.retrieved.max(axis=1, initial=0)

    def _ask(self, work: OfPool, types: Mapping[str, Any]) -> pl.DataFrame:
        """Return the results of a function on the pooled documents of all queries."""
        whole, depth = self.whole, self.depth

        def on_worker(judgments: Judgments, tables: Tables) -> dict[str, Any]:
            pool = Pool.from_runs(judgments.knowing(**whole), tables, depth)
            return {"query_id": judgments.query_ids} | work(pool, tables)

        return self.exchange.ask(on_worker, {"query_id": "string", **types})

    def _bounds(
        self, work: Callable[[Pool, Tables], Any], dtype: Any, pair_indices: PairIndices
    ) -> tuple[Any, Any, Bools]:
        """Return ``low``, ``high`` and ``exact`` of pairs of runs, each of shape ``(P, Q)``."""
        names = ("low", "high", "exact")

        def columns(pool: Pool, tables: Tables) -> dict[str, Any]:
            bounds = work(pool, tables)
            return {
                name: lists(getattr(bounds, name), len(pool.judgments), dtype)
                for name in names
            }

        answers = self._ask(
            columns, dict.fromkeys(names, pa_.list_(pa_.from_numpy_dtype(dtype)))
        )
        low, high, exact = (
            list_matrix(answers[name], len(pair_indices[0])) for name in names
        )
        return low, high, exact.astype(bool)

    def _counted(self, depth: int | None) -> pl.DataFrame:
        """Return how many documents of each query are unjudged, and how many can matter."""

        def counted(pool: Pool, tables: Tables) -> dict[str, Any]:
            queries = len(pool.judgments)
            unjudged = np.bincount(pool.query[~pool.is_judged], minlength=queries)
            pool = pool.that_can_matter(depth)
            of_runs = [
                np.bincount(pool.query[rank > 0], minlength=queries)
                for rank in pool.rank
            ]
            together = np.bincount(pool.query, minlength=queries)
            return {
                "unjudged": unjudged,
                "together": together,
                "of_runs": lists(of_runs, queries, np.int64),
            }

        if depth not in self._known:
            numbers: dict[str, Any] = {
                "unjudged": "int64",
                "together": "int64",
                "of_runs": pa_.list_(pa_.int64()),
            }
            self._known[depth] = self._ask(counted, numbers)
        return self._known[depth]

    def documents(self, depth: int) -> tuple[int, Ints]:
        """Count the documents that can matter; see `RetrievedDocuments`."""
        counted = self._counted(depth)
        return int(counted["together"].sum()), list_matrix(
            counted["of_runs"], len(self.names)
        ).sum(axis=1)

    @property
    def all_judged(self) -> bool:
        """Whether every document is judged."""
        return not self._counted(next(iter(self._known), self.depth))["unjudged"].sum()

    def wins(
        self,
        preference: Preference,
        pair_indices: PairIndices,
        judgings: Judgings | None,
    ) -> WinBounds | None:
        """Return who can win; see `bounds_of_wins`."""
        if preference.NAME not in (*LEXICOGRAPHIC, *WEIGHTS):
            return None
        if judgings is not None:
            judgings.depth_of(preference)
        bounds = self._bounds(
            lambda pool, _: bounds_of_wins(pool, preference, pair_indices, judgings),
            np.int8,
            pair_indices,
        )
        unknown = self.judgments.m(preference.rel_in(self.judgments)) == 0
        return WinBounds(*bounds, unknown)

    def differences(
        self,
        measure: IRMeasure,
        values: Floats,
        pair_indices: PairIndices,
        judgings: Judgings,
    ) -> ValueBounds | None:
        """Return the bounds of differences; see `bounds_of_differences`."""
        if bounded(measure, self.in_short, judgings) is None:
            return None
        judgings.depth_of(measure)
        below = None
        if shares_documents(measure, len(self.names), len(pair_indices[0])):

            def open_below(pool: Pool, tables: Tables) -> dict[str, Any]:
                return {
                    "below": [is_open_below(pool, measure, judgings)]
                    * len(pool.judgments)
                }

            below = bool(self._ask(open_below, {"below": "bool"})["below"].any())

        def differences(pool: Pool, tables: Tables) -> ValueBounds | None:
            of_runs = _values(measure, pool.judgments, tables)
            return bounds_of_differences(
                pool, measure, of_runs, pair_indices, judgings, below
            )

        return ValueBounds(*self._bounds(differences, np.float64, pair_indices))

    def to_judge(self, pairs: OpenPairs, n: int) -> pd.DataFrame:
        """Return the n documents to judge next; see `to_judge_table`."""
        what = pairs.what
        pair_indices = pairs.pair_indices
        judgings = pairs.judgings
        by_size = pairs.by_size
        moving = pairs.moving
        if moving is None:
            moving = self._moving(pairs)

        def next_documents(pool: Pool, tables: Tables) -> dict[str, Any]:
            if isinstance(what, Preference):
                of_runs = None
            else:
                of_runs = _values(what, pool.judgments, tables)
            scores, concerns = decides(
                pool,
                what,
                pair_indices,
                judgings,
                of_runs,
                moving,
                by_size=by_size,
            )
            row = np.sort(first_to_judge(pool, n, scores, concerns))
            return {
                "query_id": [
                    pool.judgments.query_ids[q] for q in pool.query[row].tolist()
                ],
                "doc_id": pool.doc_id.gather(row).to_list(),
                "decides": scores[row],
                "concerns": concerns[row],
                "ranks": lists(pool.rank[:, row], len(row), np.int64),
            }

        types: dict[str, Any] = {
            "doc_id": "string",
            "decides": "float64",
            "concerns": "float64",
            "ranks": pa_.list_(pa_.int64()),
        }
        answers = self._ask(next_documents, types)
        query = np.array(
            [self.judgments.place[query_id] for query_id in answers["query_id"]],
            dtype=np.int64,
        )
        rank = list_matrix(answers["ranks"], len(self.names))
        unjudged = np.full(len(query), -1)
        of_all = Pool(
            self.judgments,
            self.names,
            self.depth,
            query,
            unjudged,
            answers["doc_id"],
            rank,
            self.retrieved,
        )
        return to_judge_table(
            of_all, n, answers["decides"].to_numpy(), answers["concerns"].to_numpy()
        )

    def _moving(self, pairs: OpenPairs) -> Bools | None:
        """Return which pairs can become equal or change sides; None without bounds."""
        bounds: ValueBounds | WinBounds | None
        if isinstance(pairs.what, Preference):
            bounds = self.wins(pairs.what, pairs.pair_indices, pairs.judgings)
        else:
            assert pairs.values is not None
            bounds = self.differences(
                pairs.what, pairs.values, pairs.pair_indices, pairs.judgings
            )
        return None if bounds is None else can_change(bounds)

    def depends_on_others(self, what: IRMeasure | Preference) -> bool:
        """Return whether what a document adds depends on other relevant documents."""
        return depends_on_others(what, self.in_short)


def _values(measure: IRMeasure, judgments: Judgments, tables: Tables) -> Floats:
    """Return the values of a measure for all runs, shape ``(S, Q)``."""
    return np.stack(
        [
            values(measure, run).astype(np.float64)
            for run in aligned(judgments, tables).values()
        ]
    )
