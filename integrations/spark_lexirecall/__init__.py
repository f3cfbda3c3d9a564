"""The same evaluation where the data is: on Spark DataFrames, with the same values bit for bit.

    import spark_lexirecall
    values = spark_lexirecall.evaluate([TSE, LR, nDCG @ 10], qrels, run)

``qrels`` has the columns ``query_id``, ``doc_id``, ``relevance`` and whatever else
``ir_lexirecall`` reads (``subtopic_id`` or ``iteration``, ``weight``, aspects); ``run`` has
``query_id``, ``doc_id``, ``score``. Needs PySpark 4 or later, and ``ir-lexirecall`` and PyArrow on
the workers too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import entry
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.selecting import of_type
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.compared import Design, MarginLike
from ir_lexirecall.comparison.comparing import (
    CriteriaLike,
    comparison_of,
    distinct_criteria,
    parse_criteria,
    warn_of_unreached_grades,
)
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.evaluation.arrow import evaluate_arrow, measures_by_column
from ir_lexirecall.evaluation.scored_runs import run_name
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.measures import scoring
from ir_lexirecall.measures.parsing import MeasuresLike
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance import SignificanceTest
from spark_lexirecall.collected import collected_runs, warn_of_nothing_shared
from spark_lexirecall.exchange import Exchange, Tables, collected, computed

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

__all__ = ["compare", "evaluate"]


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

    The rows of a query meet in one of ``buckets`` buckets; a worker evaluates a whole bucket at
    once.

    Args:
        measures: a measure or a string such as ``"TSE@1000"``, a sequence of them, or a mapping of
            column names to them.
        qrels: columns ``query_id``, ``doc_id``, ``relevance``. Subtopics come from ``subtopic_id``
            or ``iteration``, their weights from ``weight``, aspects from further columns. Integer
            ids mean their decimal strings. Or what ``ir_lexirecall.load`` gives, which is sent to
            every worker.
        run: columns ``query_id``, ``doc_id``, ``score``; others are ignored.
        aggregate: give the means over queries instead of the values per query.
        buckets: into how many parts to cut the queries, each of which is one task; by default so
            many that each has about half a million rows, for which the rows are counted first. A
            worker holds one at a time: some millions are possible.

    Returns:
        A Spark DataFrame with a row per query of the qrels, in no particular order: ``query_id``
        and a double column per measure. It is computed and cached: ``unpersist()`` it when it is no
        longer needed. With ``aggregate=True`` a pandas Series of means, indexed by measure.

    Raises:
        ValueError: bad input or an unknown measure; the message names the first offender of a
            bucket.
        ModuleNotFoundError: PySpark is not installed.

    Example::

        columns = ["query_id", "doc_id", "relevance"]
        qrels = spark.createDataFrame([("q1", "d1", 1), ("q1", "d2", 1)], columns)
        columns = ["query_id", "doc_id", "score"]
        run = spark.createDataFrame([("q1", "d2", 9.5), ("q1", "d1", 9.0)], columns)
        table = evaluate(["TSE", "nDCG@10"], qrels, run)
        table.collect()  # [Row(query_id='q1', TSE=0.5, nDCG@10=1.0)]
    """
    named = measures_by_column(measures)
    scoring.check_served(named.values())
    exchange = Exchange.of(qrels, {"the run": run}, named, buckets)
    aspects = exchange.aspects  # without the frames

    def values(judgments: Judgments, runs: Tables) -> pa.Table:
        return evaluate_arrow(named, judgments, runs["the run"], aspects=aspects)

    result = exchange.meet(
        values, {"query_id": "string", **dict.fromkeys(named, "float64")}, of_none=True
    )
    on_nothing = partial(warn_of_nothing_shared, exchange)
    if not aggregate:
        return computed(result, on_nothing)
    table = collected(result, on_nothing).sort_by("query_id")
    return pd.Series(
        {
            name: scoring.aggregate(named[name], table[name].to_numpy())
            for name in named
        },
        dtype=float,
    )


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
    allow_empty: bool = False,
    buckets: int | None = None,
) -> Comparison:
    """``ir_lexirecall.compare`` for Spark DataFrames, with the same result.

    Qrels and runs stay on the cluster: they meet there once, by query, and the driver gets values
    and outcomes per query; of a query that no run has, what the judgments alone say. ``explain``
    has them meet again; pictures of single rankings bring the judgments, and the ranks of the
    judged documents, to the driver.

    Args:
        qrels: as in ``evaluate``.
        runs: at least two runs by name, each as in ``evaluate``.
        by: the measures and preferences, as in ``ir_lexirecall.compare``.
        baseline: as in ``ir_lexirecall.compare``.
        margin: as in ``ir_lexirecall.compare``.
        test: as in ``ir_lexirecall.compare``.
        groups: as in ``ir_lexirecall.compare``; a table may be a Spark DataFrame, a name is that of
            a column of ``qrels``.
        allow_empty: as in ``ir_lexirecall.compare``.
        buckets: as in ``evaluate``.

    Raises:
        ValueError: as ``ir_lexirecall.compare``.
        ModuleNotFoundError: PySpark is not installed.

    Example::

        columns = ["query_id", "doc_id", "relevance"]
        qrels = spark.createDataFrame([("q1", "d1", 1), ("q1", "d2", 1)], columns)
        columns = ["query_id", "doc_id", "score"]
        a = spark.createDataFrame([("q1", "d2", 9.5), ("q1", "d1", 9.0)], columns)
        b = spark.createDataFrame([("q1", "d2", 9.5)], columns)
        compare(qrels, {"a": a, "b": b}).table()["wins"].to_list()  # [1]
    """
    design = Design(
        run_name(baseline), margin, SignificanceTest.by_name(test), groups=groups
    )
    design.check_runs(runs)
    criteria = parse_criteria(by)
    measures = of_type(criteria, IRMeasure)
    scoring.check_served(measures.values())
    exchange = Exchange.of(qrels, runs, measures, buckets)
    criteria = distinct_criteria(criteria, (exchange.whole or Judgments).threshold)
    preferences = of_type(criteria, Preference)
    scored, counted = collected_runs(exchange, measures, preferences, allow_empty)
    # Only the warning of measures looks for grades below 1, on the cluster.
    grades = scoring.GradeRange(scored.whole["highest_grade"], lowest_gain=math.inf)
    warn_of_unreached_grades(preferences, scored.judgments, grades)
    table = None
    if (
        exchange.whole is None
        and isinstance(groups, str)
        and groups in exchange.qrels.columns
    ):
        column = "`{}`".format(groups.replace("`", "``"))
        table = exchange.qrels.select("query_id", column).distinct().toArrow()
    grouped = Design(groups=getattr(groups, "toArrow", lambda: groups)()).groups_of(
        scored.judgments.query_ids, table
    )
    result = comparison_of(scored, criteria, replace(design, groups=grouped))
    return Comparison(replace(result.compared, by={**result.compared.by, **counted}))
