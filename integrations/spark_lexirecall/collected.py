"""What the driver holds of a comparison: values and outcomes per query.

Rows come when something asks for them, and not before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.selecting import index_of, without
from ir_lexirecall.comparison.criteria import PreferenceCriterion
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.matching import FIRST, check_matches
from ir_lexirecall.evaluation.arrow import RANK_TYPES, ranks_from_arrow, ranks_to_arrow
from ir_lexirecall.evaluation.scored_runs import (
    keep_tie_values,
    quick_tie_mean,
    tie_range,
)
from ir_lexirecall.io.schemas import RUN
from ir_lexirecall.io.source import Source, what_is
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.preferences.counts import PreferenceCounts, explain, is_pairwise
from ir_lexirecall.preferences.functions import LEXICOGRAPHIC, PAIRWISE
from ir_lexirecall.preferences.naming import Preference
from spark_lexirecall.exchange import (
    Exchange,
    F,
    Tables,
    aligned,
    list_matrix,
    lists,
    pa_,
)
from spark_lexirecall.unjudged import CollectedRuns

if TYPE_CHECKING:
    import pyarrow as pa

_SAMPLE = 1_000  # rows of a run in which ids are looked at


def _fetched(name: str) -> Any:
    """Return an attribute that comes to the driver when it is read."""
    return cached_property(lambda self: getattr(self._here, name))


def _made_here(name: str) -> Any:
    """Return a method that makes other judgments, or another run, of what comes to the driver."""
    return lambda self, *args, **options: getattr(self._here, name)(*args, **options)


class DistantJudgments(Judgments):
    """Judgments whose ids of queries are here, and whose documents are on the cluster."""

    query, docs, grade, table = map(_fetched, ("query", "docs", "grade", "table"))
    (
        restricted_to,
        as_part,
        with_grades,
        of_documents,
        excluding,
        with_levels,
        with_labels,
    ) = map(
        _made_here,
        (
            "restricted_to",
            "as_part",
            "with_grades",
            "of_documents",
            "excluding",
            "with_levels",
            "with_labels",
        ),
    )

    def __init__(
        self, exchange: Exchange, query_ids: list[str], *, are_relevant: bool
    ) -> None:
        self.exchange = exchange
        self.all_relevant = are_relevant
        object.__setattr__(self, "query_ids", query_ids)  # the class is frozen

    @property
    def are_relevant(self) -> bool:
        """Whether all judged documents are relevant."""
        return self.all_relevant

    @cached_property
    def _here(self) -> Judgments:
        return Judgments.from_qrels(self.exchange.qrels.toArrow())


class DistantRun(AlignedRun):
    """A run whose depths are here, and whose ranks are on the cluster."""

    query, doc, rank, ties, ranked = map(
        _fetched, ("query", "doc", "rank", "ties", "ranked")
    )
    with_grades, keeping, condensed, with_ties_broken, restricted_to = map(
        _made_here,
        ("with_grades", "keeping", "condensed", "with_ties_broken", "restricted_to"),
    )

    def __init__(
        self,
        exchange: Exchange,
        name: str,
        judgments: Judgments,
        depth: Ints,
        *,
        is_tied: bool,
    ) -> None:
        self.exchange = exchange
        self.name = name
        self.has_ties = is_tied
        object.__setattr__(self, "judgments", judgments)  # the class is frozen
        object.__setattr__(self, "depth", depth)

    @property
    def is_tied(self) -> bool:
        """Whether a judged document shares its score with another one."""
        return self.has_ties

    @cached_property
    def _here(self) -> AlignedRun:
        ranks = self.exchange.ask(partial(ranks_of_run, self.name), RANK_TYPES)
        return ranks_from_arrow(self.judgments, ranks.to_arrow())

    def forget(self) -> None:
        """Keep what was computed elsewhere."""


@dataclass(frozen=True)
class CollectedCounts(PreferenceCounts):
    """A preference between runs as the workers found it, for all queries of the judgments.

    ``outcomes``: how many runs are better than each, shape ``(S, Q)``; of a pairwise one its value
    for the pairs (i, j), i < j.
    """

    outcomes: Any = field(default=None, repr=False)

    def standing(self, preference: str) -> Any:
        """How many runs are better, shape ``(S, Q)``."""
        # Sums depend on the layout.
        return np.ascontiguousarray(self.outcomes[:, self.queries], dtype=np.int32)

    def pairwise(
        self, preference: str, queries: Ints, runs: Any = slice(None)
    ) -> Floats:
        """Preferences of all pairs (of some runs) on some queries."""
        size = len(self.runs)
        first, second = np.triu_indices(size, 1)
        tensor = np.zeros((len(queries), size, size))
        tensor[:, first, second] = self.outcomes[:, self.queries[queries]].T
        tensor[:, second, first] = 0 - tensor[:, first, second]
        return tensor[:, runs][:, :, runs]


@dataclass(frozen=True, eq=False)
class CollectedPreference(PreferenceCriterion):
    """A preference that asks the cluster what decided it."""

    exchange: Exchange = field(repr=False, kw_only=True)

    def explained(self, a: int, b: int) -> tuple[Floats, dict[str, Any]]:
        """Return per query the preference of run ``a`` over run ``b``, and what decided it.

        See ``Comparison.explain``.
        """
        kinds: dict[str, str] = {}
        if self.preference.NAME in LEXICOGRAPHIC:
            kinds = {
                "level": "int64",
                "tied_levels": "int64",
                "doc_id": "string",
                "rank_a": "int64",
                "rank_b": "int64",
                "other_doc_id": "string",
            }
        elif self.preference.NAME in PAIRWISE:
            kinds = {"levels_a": "int64", "levels_b": "int64"}
        pair = self.exchange.names[a], self.exchange.names[b]
        answers = self.exchange.ask(
            partial(explained, self.preference, pair), {"query_id": "string", **kinds}
        )
        row_of_query = index_of(answers["query_id"].to_list())
        rows = answers[[row_of_query[query_id] for query_id in self.query_ids]]
        decided: dict[str, Any] = {}
        for name in kinds:
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
    allow_empty: bool,
) -> tuple[CollectedRuns, dict[str, CollectedPreference]]:
    """Score the runs, and the preferences between them, where their rows are.

    ``allow_empty`` is as in ``compare``.
    """
    summaries = _Summaries.asked(exchange, measures, preferences)
    m, not_relevant, fractions, *relevant = summaries.numbers(
        "judged", 3 + len(preferences), dtype=np.int64
    )
    counts = summaries.counts(preferences)
    values, ends = summaries.values_and_ends(len(measures), counts)
    judgments = exchange.whole
    if judgments is None:
        judgments = DistantJudgments(
            exchange, summaries.query_ids, are_relevant=not not_relevant.any()
        )
        judgments.cached(("m", judgments.threshold), lambda: m)

    runs: dict[str, AlignedRun] = {}
    for s, name in enumerate(exchange.names):
        is_tied = bool(counts.tied[s].any())
        run = DistantRun(exchange, name, judgments, counts.depth[s], is_tied=is_tied)
        runs[name] = run
        run.cached("judged first", partial(int, counts.judged_first[s].sum()))
        found = partial(np.asarray, counts.found[s])
        run.cached(("found", judgments.threshold), found)
        for measure, (low, high, expected) in zip(
            measures.values(), ends[:, s], strict=True
        ):
            keep_tie_values(measure, run, low, expected, high)
        if summaries.query_ids and not counts.judged[s].any():
            first, title = summaries.query_ids[0], f"run {name!r}"
            _check_meets_qrels(
                exchange, name, title, first, run.depth, allow_empty=allow_empty
            )

    by: dict[str, CollectedPreference] = {}
    for (name, preference), n_relevant in zip(
        preferences.items(), relevant, strict=True
    ):
        rel = preference.rel_in(judgments)
        judgments.cached(("m", rel), partial(np.asarray, n_relevant))
        of_runs = CollectedCounts(
            runs, rel, preference["cutoff"], outcomes=counts.outcomes[name]
        )
        by[name] = CollectedPreference(name, preference, of_runs, exchange=exchange)
    scored = CollectedRuns(
        judgments,
        runs,
        dict(measures),
        dict(zip(measures, values, strict=True)),
        exchange=exchange,
        whole={
            "highest_grade": float(summaries.top_grades.max(initial=0)),
            "has_fractions": bool(fractions.any()),
        },
    )
    return scored, by


@dataclass(frozen=True)
class _Counts:
    """Numbers of documents of S runs for Q queries, shape ``(S, Q)`` each.

    Attributes:
        depth: retrieved documents.
        judged: retrieved judged documents.
        judged_first: those among the first ten.
        tied: whether a judged document is tied.
        found: retrieved relevant documents.
        outcomes: the `outcomes` of `CollectedCounts` for each preference.
    """

    depth: Ints
    judged: Ints
    judged_first: Ints
    tied: Ints
    found: Ints
    outcomes: Mapping[str, Any]


@dataclass(frozen=True)
class _Summaries:
    """The answers of the workers: a row per query, with the columns that `summary` returns."""

    answers: pl.DataFrame
    n_runs: int

    @classmethod
    def asked(
        cls,
        exchange: Exchange,
        measures: Mapping[str, IRMeasure],
        preferences: Mapping[str, Preference],
    ) -> _Summaries:
        """Ask the workers about all queries.

        Queries without judgments are among them, so that bad rows of these are refused, too.
        """
        work = partial(summary, measures, list(preferences.values()))
        kinds: dict[str, Any] = {"query_id": "string", "top": "float64"}
        kinds |= dict.fromkeys(("judged", "counts"), pa_.list_(pa_.int64()))
        kinds |= dict.fromkeys(
            ("values", "of_none", "ends", "pairwise"), pa_.list_(pa_.float64())
        )
        answers = exchange.ask(work, kinds, of_none=True)
        return cls(answers, len(exchange.names))

    @property
    def query_ids(self) -> list[str]:
        """The queries, in the order of all arrays."""
        return self.answers["query_id"].to_list()

    @property
    def top_grades(self) -> Floats:
        """The highest grade of each query."""
        return self.answers["top"].to_numpy()

    def numbers(self, column: str, *shape: int, dtype: Any = np.float64) -> Any:
        """Return the lists of a column as an array of a shape, with queries as a further last axis.

        Queries without a list have 0.
        """
        n_rows = math.prod(shape)
        has_list = np.flatnonzero(self.answers[column].list.len())
        table = np.zeros((n_rows, len(self.answers)), dtype=dtype)
        table[:, has_list] = list_matrix(self.answers[column], n_rows)
        return table.reshape(*shape, len(self.answers))

    def counts(self, preferences: Mapping[str, Preference]) -> _Counts:
        """Return the numbers of documents, and the outcomes of the preferences."""
        ordering = [
            name
            for name, preference in preferences.items()
            if not is_pairwise(preference.NAME)
        ]
        pairwise = without(preferences, ordering)
        depth, judged, judged_first, tied, found, *standings = self.numbers(
            "counts", 5 + len(ordering), self.n_runs, dtype=np.int64
        )
        n_pairs = self.n_runs * (self.n_runs - 1) // 2
        of_pairs = self.numbers("pairwise", len(pairwise), n_pairs)
        outcomes = zip([*ordering, *pairwise], [*standings, *of_pairs], strict=True)
        return _Counts(depth, judged, judged_first, tied, found, dict(outcomes))

    def values_and_ends(self, n_measures: int, counts: _Counts) -> tuple[Any, Any]:
        """Return the values of M measures, and their range and mean over orders of tied documents.

        Returns:
            Values, shape ``(M, S, Q)``; the lowest, highest and mean value of each, shape
            ``(M, S, 3, Q)``.
        """
        values = self.numbers("values", n_measures, self.n_runs)
        is_in_no_run = ~counts.depth.any(axis=0)
        of_none = self.numbers("of_none", n_measures)
        values[:, :, is_in_no_run] = of_none[:, np.newaxis, is_in_no_run]
        ends = self.numbers("ends", 3, n_measures, self.n_runs)
        has_ties = counts.tied.any(axis=0)
        return values, np.moveaxis(np.where(has_ties, ends, values), 0, 2)


def warn_of_nothing_shared(exchange: Exchange, has_query: bool, query_id: str) -> None:
    """Warn that a run retrieved no judged document, where it is the only one.

    Args:
        exchange: the qrels and the run.
        has_query: whether it has documents for a query of the qrels.
        query_id: the first query of the qrels.
    """
    [name] = exchange.names
    depth = np.array([int(has_query)])
    _check_meets_qrels(exchange, name, name, query_id, depth, allow_empty=True)


def _check_meets_qrels(
    exchange: Exchange,
    name: str,
    title: str,
    query_id: str,
    depth: Ints,
    *,
    allow_empty: bool,
) -> None:
    """Raise or warn, because a run retrieved no judged document.

    The message compares ids of the run with ids of one query of the qrels.
    """
    judgments = exchange.whole
    if judgments is None:
        of_query = exchange.qrels.filter(F.col("query_id") == query_id)
        judgments = Judgments.from_qrels(of_query.toArrow())
    nothing = np.zeros(0, dtype=np.int64)
    empty = AlignedRun(judgments, nothing, nothing, nothing, depth)
    rows = _first_rows(exchange, name, query_id)
    check_matches(judgments, empty, rows, title, allow_empty=allow_empty)


def _first_rows(exchange: Exchange, name: str, query_id: str) -> Source:
    """Return rows of a run, whose ids are compared: those of a query, or any if it has none."""
    number = exchange.names.index(name)
    of_run = exchange.runs.filter(F.col("run") == number).drop("run")
    rows = of_run.filter(F.col("query_id") == query_id).limit(_SAMPLE).toArrow()
    if not len(rows):
        rows = of_run.orderBy("query_id", "doc_id").limit(_SAMPLE).toArrow()
    return what_is(rows, RUN)


# -- on the workers --------------------------------------------------------------------------------


def summary(
    measures: Mapping[str, IRMeasure],
    preferences: Sequence[Preference],
    judgments: Judgments,
    tables: Tables,
) -> dict[str, Any]:
    """Return what a comparison of S runs reads of each query, in lists.

    For a query that no run has, these are only what the judgments say and a value per measure.

    ``top``: the highest grade. ``judged``: how many documents are relevant, judged not relevant,
    and judged by a fraction; for each preference the relevant ones. ``counts``: of the runs the
    depth, the judged documents that they retrieved, those among the first ten, whether one is tied,
    and the relevant documents that they retrieved; their standing by each preference that orders
    them. ``values``: of M measures of the runs; ``of_none``: of a query that no run has. ``ends``:
    where documents tie, the lowest, the highest and the mean of these values. ``pairwise``: for
    each of the other preferences its value for the pairs (i, j), i < j.
    """
    runs = aligned(judgments, tables)
    queries, every = len(judgments), list(runs.values())

    def per_query(run: AlignedRun, which: Any = slice(None)) -> Any:
        return np.bincount(run.query[which], minlength=queries)

    depths = [run.depth for run in every]
    tied = [
        per_query(run, [] if run.ties is None else run.ties.row) > 0 for run in every
    ]
    counts = [
        *depths,
        *map(per_query, every),
        *(per_query(run, (run.rank <= FIRST) & run.is_judged) for run in every),
        *tied,
    ]
    counts += [run.found(judgments.threshold) for run in every]
    judged = _judged_documents(judgments)
    top = np.full(queries, -np.inf)
    np.maximum.at(top, judgments.query, judgments.grade)
    pairwise: list[Floats] = []
    for preference in preferences:
        of_runs = PreferenceCounts(
            runs, preference.rel_in(judgments), preference["cutoff"]
        )
        judged.append(judgments.m(of_runs.rel))
        if is_pairwise(preference.NAME):
            pairwise += list(_of_pairs(of_runs, preference, queries))
        else:
            counts += list(_standing(of_runs, preference, queries))
    of_measures, ends = [], []
    for measure, run in product(measures.values(), every if queries else ()):
        value = values(measure, run).astype(np.float64)
        of_measures.append(value)
        mean = quick_tie_mean(measure, run, value)
        ends.append((*tie_range(measure, run, value), mean))
    is_in_run = np.any(depths, axis=0)
    return {
        "query_id": judgments.query_ids,
        "top": top,
        "judged": lists(judged, queries, np.int64),
        "counts": lists(counts, queries, np.int64, is_in_run),
        "values": lists(of_measures, queries, np.float64, is_in_run),
        "of_none": lists(of_measures[:: len(every)], queries, np.float64, ~is_in_run),
        "ends": lists(
            [of_one[i] for i in (0, 1, 2) for of_one in ends],
            queries,
            np.float64,
            np.any(tied, axis=0),
        ),
        "pairwise": lists(pairwise, queries, np.float64, is_in_run),
    }


def _judged_documents(judgments: Judgments) -> list[Ints]:
    """Return how many documents are relevant, judged not relevant, and judged by a fraction."""
    grade, queries = judgments.grade, len(judgments)
    is_not_relevant = judgments.query[judgments.is_judged & (grade <= 0)]
    is_fraction = judgments.query[(grade > 0) & (grade < 1)]
    return [
        judgments.m(judgments.threshold),
        np.bincount(is_not_relevant, minlength=queries),
        np.bincount(is_fraction, minlength=queries),
    ]


def _of_pairs(
    of_runs: PreferenceCounts, preference: Preference, queries: int
) -> Floats:
    """Return a preference for the pairs (i, j) of runs, i < j, on all queries."""
    first, second = np.triu_indices(len(of_runs.runs), 1)
    of_pairs = np.zeros((len(first), queries))
    of_pairs[:, of_runs.queries] = of_runs.tensor(preference.NAME)[:, first, second].T
    return of_pairs


def _standing(of_runs: PreferenceCounts, preference: Preference, queries: int) -> Ints:
    """Return how runs stand by a preference that orders them, on all queries."""
    standing = np.zeros((len(of_runs.runs), queries), dtype=np.int64)
    standing[:, of_runs.queries] = of_runs.standing(preference.NAME)
    return standing


def ranks_of_run(name: str, judgments: Judgments, tables: Tables) -> pa.Table:
    """Where the judged documents stand in a run: see ``align_arrow``."""
    return ranks_to_arrow(aligned(judgments, {name: tables[name]})[name])


def explained(
    preference: Preference, pair: tuple[str, str], judgments: Judgments, tables: Tables
) -> dict[str, Any]:
    """Return what decided a preference between two runs, for the queries that count."""
    runs = aligned(judgments, {name: tables[name] for name in pair})
    counts = PreferenceCounts(runs, preference.rel_in(judgments), preference["cutoff"])
    names = list(runs)
    first, second = (names.index(name) for name in pair)
    decided = explain(
        preference.NAME,
        counts,
        (first, second),
        counts.of_pair(preference.NAME, first, second),
    )
    return {
        "query_id": counts.query_ids,
        **{
            name: pa_.array(column, from_pandas=True)
            for name, column in decided.items()
        },
    }
