"""``compare``: runs by exact preferences between rankings that are on a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ir_lexirecall.alignment import AlignedRun
from ir_lexirecall.arrays import Floats
from ir_lexirecall.arrow import RANK_TYPES, align_arrow, ranks_from_arrow
from ir_lexirecall.errors import naming
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.measures.scoring import check_served
from ir_lexirecall.preferences import Preferences
from ir_lexirecall.preferences.comparison import (
    CompareOptions,
    PreferenceLike,
    check_baseline,
    check_options,
    parse_preferences,
)
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.runs import ScoredRuns, check_runs, refuse_empty
from ir_lexirecall.significance import SignificanceTest
from spark_lexirecall.aspects import named_aspects
from spark_lexirecall.evaluation import warn_of_judgments
from spark_lexirecall.frames import bucket_count, by_bucket, collected, qrels_frame, run_frame

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack


class ClusterOptions(CompareOptions, total=False):
    """Options of a comparison on a cluster: those of ``ir_lexirecall.compare``, and ``buckets``."""

    buckets: int | None


def compare(
    qrels: DataFrame,
    runs: Mapping[str, DataFrame],
    preference: PreferenceLike = "lexirecall",
    *,
    baseline: str | None = None,
    rel: float = 1,
    cutoff: int | None = None,
    test: str | SignificanceTest = "sign",
    **options: Unpack[ClusterOptions],
) -> Preferences:
    """``ir_lexirecall.compare`` for Spark DataFrames, with the same result.

    The runs stay on the cluster: only the qrels and the ranks of the judged documents come to the driver.

    Args:
        qrels: as in ``evaluate``.
        runs: at least two runs by name, each as in ``evaluate``.
        preference, baseline, rel, cutoff, test: as in ``ir_lexirecall.compare``.
        options: ``buckets`` as in ``evaluate``, and the options of ``ir_lexirecall.compare``.

    Returns:
        ``Preferences``: table, matrix, ranking, explanations, plots.

    Raises:
        ValueError: bad input, fewer than two runs, or an unknown preference, baseline, test or correction.
        ModuleNotFoundError: PySpark is not installed.

    Example::

        qrels = spark.createDataFrame([("q1", "d1", 1), ("q1", "d2", 1)], ["query_id", "doc_id", "relevance"])
        a = spark.createDataFrame([("q1", "d2", 9.5), ("q1", "d1", 9.0)], ["query_id", "doc_id", "score"])
        b = spark.createDataFrame([("q1", "d2", 9.5)], ["query_id", "doc_id", "score"])
        compare(qrels, {"a": a, "b": b}).table()["wins"].to_list()  # [1]
    """
    buckets = options.pop("buckets", None)
    options.pop("rules", True)  # a DataFrame has no rules of a collection's own
    judged_only, exclude = options.pop("judged_only", False), options.pop("exclude", None)
    allow_empty = options.pop("allow_empty", False)
    tested = SignificanceTest.coerce(test, caller="compare", **options)
    check_options("compare", rel=rel, cutoff=cutoff)
    names, measures = parse_preferences("compare", preference)
    check_runs("compare", runs, 2)
    if baseline is not None:
        check_baseline("compare", baseline, runs)
    check_served(measures.values())
    qrels = qrels_frame(qrels)
    frames = {str(name): run_frame(run) for name, run in runs.items()}
    buckets = bucket_count("compare", qrels.sparkSession, buckets)
    whole = Judgments.from_qrels(qrels.toArrow())
    aspects = named_aspects(measures.values()) & set(whole.rows["aspect"].unique())
    judgments = Judgments.from_qrels(whole, exclude)
    warn_of_judgments(measures.values(), judgments)

    def ranks_and_values(qrels: pa.Table, run: pa.Table) -> pa.Table:
        return align_arrow(qrels, run, measures, aspects=aspects, judged_only=judged_only, exclude=exclude)

    types = {**RANK_TYPES, **dict.fromkeys(measures, "float64")}
    aligned: dict[str, AlignedRun] = {}
    values: dict[str, list[Floats]] = {name: [] for name in measures}
    for name, run in progress_bar(tested.progress, frames.items(), desc="runs"):
        with naming(f"run {name!r}"):
            table = collected(by_bucket(qrels, run, ranks_and_values, types, buckets), name)
        aligned[name] = ranks_from_arrow(judgments, table)
        if not allow_empty and len(judgments) and not aligned[name].depth.any():
            refuse_empty("compare", f"run {name!r}", judgments)
        of_query = pl.DataFrame(table).unique("query_id").sort("query_id")
        for measure in measures:
            values[measure].append(of_query[measure].to_numpy())
    scored = ScoredRuns(judgments, aligned, measures, {name: np.stack(rows) for name, rows in values.items()})
    return Preferences.from_runs(scored, names, baseline=baseline, rel=rel, cutoff=cutoff, test=tested)
