"""Runs and qrels whose rows meet query by query, and what is asked of them there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import naming
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.matching import FIRST
from ir_lexirecall.evaluation.arrow import ranks_to_arrow
from ir_lexirecall.evaluation.scored_runs import tie_range
from ir_lexirecall.measures.scoring import values
from ir_lexirecall.preferences.counts import PreferenceCounts, explain, is_pairwise
from ir_lexirecall.preferences.functions import PAIRWISE
from ir_lexirecall.preferences.naming import Preference
from spark_lexirecall.buckets import by_bucket, collected

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

F: Any = LazyModule("pyspark.sql.functions")
pa_: Any = LazyModule("pyarrow")

Tables = dict[str, pl.DataFrame]
"""The rows of each run, by its name."""
OfQueries = Callable[[Judgments, Tables], "pa.Table"]
"""What a worker makes of whole queries: columns, with ``query_id``."""


@dataclass(frozen=True)
class Exchange:
    """Runs and qrels on the cluster."""

    qrels: DataFrame
    runs: DataFrame  # all of them, with their number in a column ``run``
    names: list[str]
    judged: Callable[[pa.Table], pa.Table | Judgments]  # what a worker makes of a part of the qrels
    aspects: set[str]  # that rows name
    buckets: int

    @staticmethod
    def union(runs: Mapping[str, DataFrame]) -> DataFrame:
        """All runs, from ``run_frame``, as one frame.

        Raises:
            ValueError: a column has another type than in another run.
        """
        frames = [
            frame.select([F.col(name).cast("double") if _is_number(kind) else name for name, kind in frame.dtypes])
            for frame in runs.values()
        ]
        for name, frame in zip(runs, frames, strict=True):
            for (column, kind), (_, first) in zip(frame.dtypes, frames[0].dtypes, strict=True):
                if kind != first:
                    raise ValueError(
                        f"run {name!r}: {column} is of type {kind}, in run {next(iter(runs))!r} of {first}"
                    )
        numbered = [frame.withColumn("run", F.lit(number)) for number, frame in enumerate(frames)]
        return reduce(lambda one, other: one.unionByName(other), numbered)

    def ask(self, work: OfQueries, types: Mapping[str, Any], *, of_none: bool = False) -> pl.DataFrame:
        """What ``work`` gives for all queries, in the order of their ids; ``types`` as in ``by_bucket``.

        ``of_none``: call it where no query is judged, too.
        """
        names, judged, aspects = self.names, self.judged, self.aspects  # without the frames

        def on_worker(qrels: pa.Table, runs: pa.Table) -> pa.Table:
            judgments = Judgments.from_qrels(judged(qrels)).as_part(aspects)
            if not (of_none or len(judgments)):
                return no_rows(types)
            rows = pl.DataFrame(runs)
            return work(judgments, {name: rows.filter(pl.col("run") == s).drop("run") for s, name in enumerate(names)})

        table = collected(by_bucket(self.qrels, self.runs, on_worker, types, self.buckets), warns=False)
        return pl.DataFrame(table).sort("query_id", maintain_order=True)

    def judgments_of(self, query_id: str) -> Judgments:
        """The judgments of one query."""
        return Judgments.from_qrels(self.qrels.filter(F.col("query_id") == query_id).toArrow())


def no_rows(types: Mapping[str, Any]) -> pa.Table:
    """A table of such columns without rows."""
    return pa_.schema(list(types.items())).empty_table()


def _is_number(kind: str) -> bool:
    return kind in ("tinyint", "smallint", "int", "bigint", "float", "double")


def aligned(judgments: Judgments, tables: Tables) -> dict[str, AlignedRun]:
    """Every run, aligned; errors call it by its name."""
    runs = {}
    for name, table in tables.items():
        with naming(f"run {name!r}"):
            runs[name] = align(judgments, table)
    return runs


# -- what runs are worth ---------------------------------------------------------------------------


def summary_types() -> dict[str, Any]:
    """The columns of ``summary``, and their types in Arrow."""
    numbers = {name: pa_.list_(pa_.int64()) for name in ("judged", "counts")}
    numbers |= {name: pa_.list_(pa_.float64()) for name in ("values", "of_none", "ends", "pairwise")}
    return {"query_id": "string", "top": "float64", **numbers}


def summary(
    measures: Mapping[str, IRMeasure], preferences: Sequence[Preference], judgments: Judgments, tables: Tables
) -> pa.Table:
    """Of each query what a comparison of S runs reads, in lists; of a query that no run has only what the judgments say, and a value per measure.

    ``top``: the highest grade. ``judged``: how many documents are relevant, judged not relevant, and judged by a fraction; for each preference the relevant ones.
    ``counts``: of the runs the depth, the judged documents that they retrieved, those among the first ten, whether one is tied, and the
    relevant documents that they retrieved; their standing by each preference that orders them. ``values``: of M measures of the runs; ``of_none``: of a query that no run has.
    ``ends``: where documents tie, the lowest and the highest of these values. ``pairwise``: for each of the other preferences its value for the pairs (i, j), i < j.
    """
    runs = aligned(judgments, tables)
    queries, every = len(judgments), list(runs.values())

    def per_query(run: AlignedRun, which: Any = slice(None)) -> Any:
        return np.bincount(run.query[which], minlength=queries)

    depths = [run.depth for run in every]
    tied = [per_query(run, [] if run.ties is None else run.ties.row) > 0 for run in every]
    counts = [*depths, *map(per_query, every), *(per_query(run, run.rank <= FIRST) for run in every), *tied]
    counts += [run.found(judgments.threshold) for run in every]
    grade, query = judgments.grade, judgments.query
    judged = [judgments.m(judgments.threshold)]
    judged += [np.bincount(query[which], minlength=queries) for which in (grade <= 0, (grade > 0) & (grade < 1))]
    top = np.full(queries, -np.inf)
    np.maximum.at(top, query, grade)
    pairwise: list[Floats] = []
    first, second = np.triu_indices(len(runs), 1)
    for preference in preferences:
        of_runs = PreferenceCounts(runs, preference.rel_in(judgments), preference["cutoff"])
        judged.append(judgments.m(of_runs.rel))
        if is_pairwise(preference.NAME):
            of_pairs = np.zeros((len(first), queries))
            of_pairs[:, of_runs.queries] = of_runs.tensor(preference.NAME)[:, first, second].T
            pairwise += list(of_pairs)
        else:
            standing = np.zeros((len(runs), queries), dtype=np.int64)
            standing[:, of_runs.queries] = of_runs.standing(preference.NAME)
            counts += list(standing)
    of_measures, low, high = [], [], []
    for measure in measures.values() if queries else ():
        for run in every:
            value = values(measure, run).astype(np.float64)
            of_measures.append(value)
            ends = tie_range(measure, run, value)
            low.append(ends[0])
            high.append(ends[1])
    is_in_run = np.any(depths, axis=0)
    return pa_.table(
        {
            "query_id": pa_.array(judgments.query_ids, pa_.string()),
            "top": pa_.array(top),
            "judged": lists(judged, queries, np.int64),
            "counts": lists(counts, queries, np.int64, is_in_run),
            "values": lists(of_measures, queries, np.float64, is_in_run),
            "of_none": lists(of_measures[:: len(every)], queries, np.float64, ~is_in_run),
            "ends": lists([*low, *high], queries, np.float64, np.any(tied, axis=0)),
            "pairwise": lists(pairwise, queries, np.float64, is_in_run),
        }
    )


def lists(rows: Any, queries: int, dtype: Any, which: Any = None) -> Any:
    """Numbers of each query as a list, from rows of a number per query; empty but for some queries (``which``)."""
    table = np.array(rows, dtype=dtype).reshape(len(rows), queries).T
    which = np.ones(queries, dtype=bool) if which is None else which
    offsets = np.r_[0, np.cumsum(which * len(rows))].astype(np.int32)
    return pa_.ListArray.from_arrays(pa_.array(offsets), pa_.array(np.ascontiguousarray(table[which]).ravel()))


# -- what is asked later ---------------------------------------------------------------------------


def ranks_of_run(name: str, judgments: Judgments, tables: Tables) -> pa.Table:
    """Where the judged documents stand in a run: see ``align_arrow``."""
    return ranks_to_arrow(aligned(judgments, {name: tables[name]})[name])


def explained(preference: Preference, pair: tuple[str, str], judgments: Judgments, tables: Tables) -> pa.Table:
    """What decided a preference between two runs, for the queries that count: see ``explain``."""
    runs = aligned(judgments, {name: tables[name] for name in pair})
    counts, names = PreferenceCounts(runs, preference.rel_in(judgments), preference["cutoff"]), list(runs)
    first, second = (names.index(name) for name in pair)
    decided = explain(preference.NAME, counts, (first, second), counts.of_pair(preference.NAME, first, second))
    columns = {"query_id": counts.query_ids, **decided}
    types = explained_types(preference)
    return pa_.table({name: pa_.array(columns[name], kind, from_pandas=True) for name, kind in types.items()})


def explained_types(preference: Preference) -> dict[str, Any]:
    """The columns of ``explained``, and their types in Arrow."""
    of_level = {"level": "int64", "tied_levels": "int64", "doc_id": "string", "rank_a": "int64", "rank_b": "int64"}
    if "lexi" in preference.NAME:
        columns = {**of_level, "other_doc_id": "string"}
    else:
        columns = dict.fromkeys(("levels_a", "levels_b") if preference.NAME in PAIRWISE else (), "int64")
    return {name: pa_.type_for_alias(kind) for name, kind in {"query_id": "string", **columns}.items()}
