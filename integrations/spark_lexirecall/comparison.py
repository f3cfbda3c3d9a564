"""``compare``: runs on a cluster, by measures and exact preferences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import entry, naming
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.comparing import CriteriaLike, comparison_of, parse_criteria
from ir_lexirecall.comparison.design import Design, MarginLike, groups_of
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.matching import check_matches
from ir_lexirecall.evaluation.arrow import RANK_TYPES, align_arrow, ranks_from_arrow
from ir_lexirecall.evaluation.scored_runs import ScoredRuns, run_name
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.scoring import check_served
from ir_lexirecall.significance import SignificanceTest
from spark_lexirecall.aspects import aspects_in_rows, named_aspects
from spark_lexirecall.frames import bucket_count, by_bucket, collected, qrels_frame, run_frame

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


@entry
def compare(
    qrels: DataFrame | Collection | Judgments,
    runs: Mapping[str, DataFrame],
    by: CriteriaLike = "lexirecall",
    *,
    baseline: str | int | None = None,
    margin: MarginLike | None = None,
    test: str | SignificanceTest | None = None,
    groups: GroupsLike | DataFrame | None = None,
    cluster: bool = False,
    allow_empty: bool = False,
    buckets: int | None = None,
) -> Comparison:
    """``ir_lexirecall.compare`` for Spark DataFrames, with the same result.

    The runs stay on the cluster: only the qrels and the ranks of the judged documents come to the driver.

    Args:
        qrels: as in ``evaluate``.
        runs: at least two runs by name, each as in ``evaluate``.
        by, baseline, margin, test, cluster, allow_empty: as in ``ir_lexirecall.compare``.
        groups: as in ``ir_lexirecall.compare``; a table may be a Spark DataFrame, a name is that of a column of ``qrels``.
        buckets: as in ``evaluate``.

    Raises:
        ValueError: as ``ir_lexirecall.compare``.
        ModuleNotFoundError: PySpark is not installed.

    Example::

        qrels = spark.createDataFrame([("q1", "d1", 1), ("q1", "d2", 1)], ["query_id", "doc_id", "relevance"])
        a = spark.createDataFrame([("q1", "d2", 9.5), ("q1", "d1", 9.0)], ["query_id", "doc_id", "score"])
        b = spark.createDataFrame([("q1", "d2", 9.5)], ["query_id", "doc_id", "score"])
        compare(qrels, {"a": a, "b": b}).table()["wins"].to_list()  # [1]
    """
    design = Design(run_name(baseline), margin, SignificanceTest.by_name(test), cluster=cluster)
    design.check_given(groups)
    design.check_runs(runs)
    criteria = parse_criteria(by)
    measures = {name: criterion for name, criterion in criteria.items() if isinstance(criterion, IRMeasure)}
    check_served(measures.values())
    frames = {str(name): run_frame(run) for name, run in runs.items()}
    session = next(iter(frames.values())).sparkSession
    frame, judged = qrels_frame(qrels, session)
    buckets = bucket_count(session, buckets)
    judgments = Judgments.from_qrels(qrels if isinstance(qrels, (Collection, Judgments)) else frame.toArrow())
    aspects = aspects_in_rows(judgments, named_aspects(measures.values()))
    table = None
    if not isinstance(qrels, (Collection, Judgments)) and isinstance(groups, str) and groups in qrels.columns:
        table = qrels.toArrow()
    grouped = groups_of(getattr(groups, "toArrow", lambda: groups)(), judgments.query_ids, table)
    for measure in measures.values():
        if isinstance(measure, Measure):
            measure.check_judgments(judgments)

    def ranks_and_values(qrels: pa.Table, run: pa.Table) -> pa.Table:
        return align_arrow(judged(qrels), run, measures, aspects=aspects)

    types = {**RANK_TYPES, **dict.fromkeys(measures, "float64")}
    aligned: dict[str, AlignedRun] = {}
    values: dict[str, list[Floats]] = {name: [] for name in measures}
    for name, run in progress_bar(design.test.progress, frames.items(), desc="runs"):
        with naming(f"run {name!r}"):
            table = collected(by_bucket(frame, run, ranks_and_values, types, buckets), warns=False)
        aligned[name] = ranks_from_arrow(judgments, table)
        check_matches(judgments, aligned[name], None, f"run {name!r}", allow_empty=allow_empty)
        of_query = pl.DataFrame(table).unique("query_id").sort("query_id")
        for measure_name in measures:
            values[measure_name].append(of_query[measure_name].to_numpy())
    scored = ScoredRuns(judgments, aligned, measures, {name: np.stack(rows) for name, rows in values.items()})
    return comparison_of(scored, criteria, replace(design, groups=grouped))
