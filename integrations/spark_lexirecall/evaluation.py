"""``evaluate``: one run, any measures, on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ir_lexirecall._util.errors import entry, warn
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.evaluation.arrow import evaluate_arrow, measures_by_column
from ir_lexirecall.measures import RBU
from ir_lexirecall.measures.declaration import Measure
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.measures.rbu import ONE_ASPECT
from ir_lexirecall.measures.scoring import aggregate as aggregated
from ir_lexirecall.measures.scoring import check_served
from spark_lexirecall.aspects import aspects_in_rows, has_several_aspects, named_aspects
from spark_lexirecall.frames import bucket_count, by_bucket, collected, computed, qrels_frame, run_frame

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


@entry
def evaluate(
    measures: MeasuresLike,
    qrels: DataFrame | Collection | Judgments,
    run: DataFrame,
    *,
    aggregate: bool = False,
    buckets: int | None = None,
) -> Any:
    """``ir_lexirecall.evaluate`` for Spark DataFrames, with the same values bit for bit.

    The rows of a query meet in one of ``buckets`` buckets; a worker evaluates a whole bucket at once.

    Args:
        measures: a measure or a string such as ``"TSE@1000"``, a sequence of them, or a mapping of column names to them.
        qrels: columns ``query_id``, ``doc_id``, ``relevance``. Subtopics come from ``subtopic_id`` or ``iteration``, their
            weights from ``weight``, aspects from further columns. Integer ids mean their decimal strings. Or what
            ``ir_lexirecall.load`` gives, which is sent to every worker.
        run: columns ``query_id``, ``doc_id``, ``score``; others are ignored.
        aggregate: give the means over queries instead of the values per query.
        buckets: into how many parts to cut the queries; by default as many as ``spark.sql.shuffle.partitions``. A worker
            holds one at a time: some hundred thousand rows of the run are a good size, some millions possible.

    Returns:
        A Spark DataFrame with a row per query of the qrels, in no particular order: ``query_id`` and a double column per
        measure. It is computed and cached: ``unpersist()`` it when it is no longer needed. With ``aggregate=True`` a pandas
        Series of means, indexed by measure.

    Raises:
        ValueError: bad input or an unknown measure; the message names the first offender of a bucket.
        ModuleNotFoundError: PySpark is not installed.

    Example::

        qrels = spark.createDataFrame([("q1", "d1", 1), ("q1", "d2", 1)], ["query_id", "doc_id", "relevance"])
        run = spark.createDataFrame([("q1", "d2", 9.5), ("q1", "d1", 9.0)], ["query_id", "doc_id", "score"])
        evaluate(["TSE", "nDCG@10"], qrels, run).collect()  # [Row(query_id='q1', TSE=0.5, nDCG@10=1.0)]
    """
    import pandas as pd

    named = measures_by_column(measures)
    check_served(named.values())
    run = run_frame(run)
    buckets = bucket_count(run.sparkSession, buckets)
    whole = Judgments.from_qrels(qrels) if isinstance(qrels, (Collection, Judgments)) else None
    frame, judged = qrels_frame(qrels if whole is None else whole, run.sparkSession)
    if whole is not None:
        for measure in named.values():
            if isinstance(measure, Measure):
                measure.check_judgments(whole)
    elif RBU.NAME in {measure.NAME for measure in named.values()} and not has_several_aspects(frame):
        warn(ONE_ASPECT)  # of the qrels as a whole, which no worker knows
    aspects = aspects_in_rows(frame if whole is None else whole, named_aspects(named.values()))

    def values(qrels: pa.Table, run: pa.Table) -> pa.Table:
        return evaluate_arrow(named, judged(qrels), run, aspects=aspects)

    types = {"query_id": "string", **dict.fromkeys(named, "float64")}
    result = by_bucket(frame, run, values, types, buckets)
    if not aggregate:
        return computed(result)
    table = collected(result).sort_by("query_id")
    return pd.Series({name: aggregated(named[name], table[name].to_numpy()) for name in named}, dtype=float)
