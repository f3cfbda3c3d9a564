"""What the driver holds of a comparison: values and outcomes per query. Rows come when something asks for them, and not before."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.comparison.criteria import PreferenceCriterion
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.matching import check_matches
from ir_lexirecall.evaluation.arrow import RANK_TYPES, ranks_from_arrow
from ir_lexirecall.preferences.counts import PreferenceCounts, is_pairwise
from ir_lexirecall.preferences.naming import Preference
from spark_lexirecall.exchange import Exchange, explained, explained_types, ranks_of_run, summary, summary_types
from spark_lexirecall.unjudged import CollectedRuns, Whole, list_matrix


class DistantJudgments(Judgments):
    """Judgments whose ids of queries are here, and whose documents come to the driver when they are asked for."""

    @classmethod
    def of(cls, query_ids: list[str], fetch: Callable[[], Judgments]) -> DistantJudgments:
        """``fetch`` gives the judgments as they are."""
        judgments = object.__new__(cls)
        judgments.__dict__.update(query_ids=query_ids, fetch=fetch)
        return judgments

    @cached_property
    def _here(self) -> Judgments:
        fetched: Judgments = self.__dict__["fetch"]()
        return fetched

    query: Any = cached_property(lambda self: self._here.query)
    docs: Any = cached_property(lambda self: self._here.docs)
    grade: Any = cached_property(lambda self: self._here.grade)
    table: Any = cached_property(lambda self: self._here.table)


class DistantRun(AlignedRun):
    """A run whose depths are here, and whose ranks come to the driver when they are asked for."""

    @classmethod
    def of(cls, judgments: Judgments, depth: Ints, is_tied: bool, fetch: Callable[[], AlignedRun]) -> DistantRun:
        """``fetch`` gives the run as it is."""
        run = object.__new__(cls)
        run.__dict__.update(judgments=judgments, depth=depth, _is_tied=is_tied, fetch=fetch)
        return run

    @property
    def is_tied(self) -> bool:
        """Whether a judged document shares its score with another one."""
        return bool(self.__dict__.get("_is_tied", self.__dict__.get("ties") is not None))

    @cached_property
    def _here(self) -> AlignedRun:
        fetched: AlignedRun = self.__dict__["fetch"]()
        return fetched

    query: Any = cached_property(lambda self: self._here.query)
    doc: Any = cached_property(lambda self: self._here.doc)
    rank: Any = cached_property(lambda self: self._here.rank)
    ties: Any = cached_property(lambda self: self._here.ties)
    ranked: Any = cached_property(lambda self: self._here.ranked)

    def __getstate__(self) -> dict[str, Any]:
        """As any run: with its ranks, and without the cluster."""
        return {each.name: getattr(self, each.name) for each in fields(AlignedRun)}

    def forget(self) -> None:
        """Nothing: what is kept here was computed elsewhere."""


@dataclass(frozen=True)
class CollectedCounts(PreferenceCounts):
    """A preference between runs as the workers found it, for all queries of the judgments.

    ``outcomes``: how many runs are better than each, shape ``(S, Q)``; of a pairwise one its value for the pairs (i, j), i < j.
    """

    outcomes: Any = field(default=None, repr=False)

    def standing(self, preference: str) -> Any:
        """How many runs are better, shape ``(S, Q)``."""
        return np.ascontiguousarray(self.outcomes[:, self.queries], dtype=np.int32)  # sums depend on the layout

    def pairwise(self, preference: str, queries: Ints, runs: Any = slice(None)) -> Floats:
        """Preferences of all pairs (of some runs) on some queries."""
        size = len(self.runs)
        first, second = np.triu_indices(size, 1)
        tensor = np.zeros((len(queries), size, size))
        tensor[:, first, second] = self.outcomes[:, self.queries[queries]].T
        tensor[:, second, first] = 0 - tensor[:, first, second]
        return tensor if isinstance(runs, slice) else tensor[:, runs][:, :, runs]


@dataclass(frozen=True, eq=False)
class CollectedPreference(PreferenceCriterion):
    """A preference that asks the cluster what decided it."""

    asked: Callable[[int, int], pl.DataFrame] = field(repr=False)  # of two runs, what ``exchange.explained`` gives

    def explained(self, a: int, b: int) -> tuple[Floats, dict[str, Any]]:
        """Per query the preference of one run over another, and what decided: see ``Comparison.explain``."""
        found = self.asked(a, b)
        place = {query_id: row for row, query_id in enumerate(found["query_id"].to_list())}
        rows = found[[place[query_id] for query_id in self.query_ids]].drop("query_id")
        decided: dict[str, Any] = {}
        for name in rows.columns:
            if name in ("level", "rank_a", "rank_b"):
                numbers = rows[name].fill_null(0).to_numpy()
                decided[name] = pd.arrays.IntegerArray(numbers, numbers == 0)
            else:
                kind = np.int64 if rows[name].dtype.is_integer() else object
                decided[name] = np.array(rows[name].to_list(), dtype=kind)
        return self.preferences.of_pair(self.preference.NAME, a, b), decided


def collected_runs(
    exchange: Exchange,
    measures: Mapping[str, IRMeasure],
    preferences: Mapping[str, Preference],
    whole: Judgments | None,
    allow_empty: bool,
) -> tuple[CollectedRuns, dict[str, CollectedPreference]]:
    """Score the runs where their rows are; and the preferences between them.

    Args:
        whole: the judgments, where the driver has them.
        allow_empty: as in ``compare``.
    """
    work = partial(summary, measures, list(preferences.values()))
    found = exchange.ask(work, summary_types(), of_none=True)  # bad rows are refused
    query_ids, names = found["query_id"].to_list(), exchange.names
    queries, size = len(query_ids), len(names)

    def numbers(column: str, *shape: int, dtype: Any = np.float64) -> Any:
        """The lists of a column, in so many dimensions, along a last axis of queries; zeros where a query has none."""
        rows, which = math.prod(shape), np.flatnonzero(found[column].list.len())
        table = np.zeros((rows, queries), dtype=dtype)
        table[:, which] = list_matrix(found[column], rows)
        return table.reshape(*shape, queries)

    ordering = [name for name, preference in preferences.items() if not is_pairwise(preference.NAME)]
    others = [name for name in preferences if name not in ordering]
    depth, judged, first, tied, found_by, *standings = numbers("counts", 5 + len(ordering), size, dtype=np.int64)
    pairwise = numbers("pairwise", len(others), size * (size - 1) // 2)
    outcomes = dict(zip([*ordering, *others], [*standings, *pairwise], strict=True))
    m, not_relevant, fractions, *relevant = numbers("judged", 3 + len(preferences), dtype=np.int64)
    judgments = whole
    if judgments is None:
        judgments = DistantJudgments.of(query_ids, lambda: Judgments.from_qrels(exchange.qrels.toArrow()))
        judgments.__dict__["are_relevant"] = not not_relevant.any()
        judgments.cached(("m", judgments.threshold), lambda: m)
    of_measures, ends = numbers("values", len(measures), size), numbers("ends", 2, len(measures), size)
    alone, some = ~depth.any(axis=0), tied.any(axis=0)
    of_measures[:, :, alone] = numbers("of_none", len(measures))[:, np.newaxis, alone]
    low, high = np.where(some, ends, of_measures)
    runs: dict[str, AlignedRun] = {}
    for s, name in enumerate(names):
        runs[name] = run = DistantRun.of(
            judgments, depth[s], bool(tied[s].any()), partial(_ranks, exchange, name, judgments)
        )
        run.cached("judged first", partial(int, first[s].sum()))
        run.cached(("found", judgments.threshold), partial(np.asarray, found_by[s]))
        for i, measure in enumerate(measures.values()):
            run.cached(("ends", measure), partial(tuple, (low[i, s], high[i, s])))
        if not judged[s].any() and queries:
            nothing = np.zeros(0, dtype=np.int64)
            of_first = exchange.judgments_of(query_ids[0]) if whole is None else whole
            empty = AlignedRun(judgments, nothing, nothing, nothing, depth[s])
            check_matches(of_first, empty, None, f"run {name!r}", allow_empty=allow_empty)
    for preference, of_preference in zip(preferences.values(), relevant, strict=True):
        judgments.cached(("m", preference.rel_in(judgments)), partial(np.asarray, of_preference))
    values = {name: np.ascontiguousarray(of_measures[i]) for i, name in enumerate(measures)}
    by: dict[str, CollectedPreference] = {}
    for name, preference in preferences.items():
        rel, cutoff = preference.rel_in(judgments), preference["cutoff"]
        of_runs = CollectedCounts(runs, rel, cutoff, outcomes=outcomes[name])
        by[name] = CollectedPreference(name, preference, of_runs, partial(_explained, exchange, preference))
    about = Whole(float(found["top"].to_numpy().max(initial=0)), bool(fractions.any()))
    return CollectedRuns(judgments, runs, dict(measures), values, exchange=exchange, whole=about), by


def _ranks(exchange: Exchange, name: str, judgments: Judgments) -> AlignedRun:
    return ranks_from_arrow(judgments, exchange.ask(partial(ranks_of_run, name), RANK_TYPES).to_arrow())


def _explained(exchange: Exchange, preference: Preference, a: int, b: int) -> pl.DataFrame:
    pair = exchange.names[a], exchange.names[b]
    return exchange.ask(partial(explained, preference, pair), explained_types(preference))
