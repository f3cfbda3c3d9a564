"""``evaluate``: one run, any measures, on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ir_measures import Qrel

from ir_lexirecall.arrow import evaluate_arrow, measures_by_column
from ir_lexirecall.evaluation import Evaluation, means
from spark_lexirecall.aspects import asked_aspects, aspects_in_rows, has_several_aspects
from spark_lexirecall.frames import bucket_count, by_bucket, collected, computed, of_qrels, of_run

if TYPE_CHECKING:
    import pyarrow as pa


def evaluate(run: Any, qrels: Any, measures: Any, *, buckets: int | None = None, aggregate: bool = False) -> Any:
    """``ir_lexirecall.evaluate`` for Spark DataFrames, with the same values bit for bit.

    The rows of a query meet in one of ``buckets`` buckets; a worker evaluates a whole bucket at once.

    Args:
        run: columns ``query_id``, ``doc_id``, ``score``; others are ignored.
        qrels: columns ``query_id``, ``doc_id``, ``relevance``. Subtopics come from ``subtopic_id`` or ``iteration``, their
            weights from ``weight``, aspects from further columns. Integer ids mean their decimal strings.
        measures: a measure or a string such as ``"TSE@1000"``, a sequence of them, or a mapping of column names to them.
        buckets: into how many parts to cut the queries; by default as many as ``spark.sql.shuffle.partitions``. A worker
            holds one at a time: some hundred thousand rows of the run are a good size, some millions possible.
        aggregate: give the means over queries instead of the values per query.

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
        evaluate(run, qrels, ["TSE", "nDCG@10"]).collect()  # [Row(query_id='q1', TSE=0.5, nDCG@10=1.0)]
    """
    named = measures_by_column(measures)
    run, qrels = of_run(run), of_qrels(qrels)
    buckets = bucket_count(run.sparkSession, buckets)
    aspects = aspects_in_rows(qrels, asked_aspects(named.values()))
    several = any(measure.NAME == "RBU" for measure in named.values()) and has_several_aspects(qrels)
    # Refuses measures that nobody serves, and warns of missing subtopics as for the whole qrels.
    Evaluation(named, [Qrel("q", "d", 1, str(aspect)) for aspect in range(1 + several)])

    def values(qrels: pa.Table, run: pa.Table) -> pa.Table:
        return evaluate_arrow(named, qrels, run, aspects=aspects)

    types = {"query_id": "string", **dict.fromkeys(named, "float64")}
    result = by_bucket(run, qrels, values, types, buckets)
    return means(collected(result).sort_by("query_id").to_pandas(), named) if aggregate else computed(result)
