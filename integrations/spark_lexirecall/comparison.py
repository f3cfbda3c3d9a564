"""``compare``: systems by exact preferences between rankings that are on a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from ir_lexirecall.tables import naming

from ir_lexirecall.alignment import align
from ir_lexirecall.arrow import RANK_TYPES, align_arrow, evaluate_arrow, ranks_from_arrow
from ir_lexirecall.evaluation import Evaluation
from ir_lexirecall.judgments import Judgments
from ir_lexirecall.preferences import Preferences, compare_ranks
from ir_lexirecall.preferences.comparison import parse_preferences
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.significance import Test
from spark_lexirecall.aspects import asked_aspects
from spark_lexirecall.frames import bucket_count, by_bucket, collected, of_qrels, of_run

if TYPE_CHECKING:
    import pyarrow as pa


def compare(
    qrels: Any,
    runs: Mapping[str, Any],
    preference: Any = "lexirecall",
    *,
    buckets: int | None = None,
    reference: str | None = None,
    rel: float = 1,
    cutoff: int | None = None,
    test: str = "sign",
    correction: str | None = "holm",
    alpha: float = 0.05,
    n_resamples: int = 10_000,
    seed: int = 0,
    progress: bool | None = None,
) -> Preferences:
    """``ir_lexirecall.compare`` for Spark DataFrames, with the same result.

    The runs stay on the cluster: only the qrels and the ranks of the judged documents come to the driver.

    Args:
        qrels: as in ``evaluate``.
        runs: at least two runs by name, each as in ``evaluate``.
        buckets: as in ``evaluate``.
        preference, reference, rel, cutoff, test, correction, alpha, n_resamples, seed, progress: as in
            ``ir_lexirecall.compare``.

    Returns:
        ``Preferences``: table, matrix, ranking, explanations, plots.

    Raises:
        ValueError: bad input, fewer than two runs, or an unknown preference, reference, test or correction.
        ModuleNotFoundError: PySpark is not installed.

    Example::

        qrels = spark.createDataFrame([("q1", "d1", 1), ("q1", "d2", 1)], ["query_id", "doc_id", "relevance"])
        a = spark.createDataFrame([("q1", "d2", 9.5), ("q1", "d1", 9.0)], ["query_id", "doc_id", "score"])
        b = spark.createDataFrame([("q1", "d2", 9.5)], ["query_id", "doc_id", "score"])
        compare(qrels, {"a": a, "b": b}).table()["wins"].to_list()  # [1]
    """
    if not isinstance(runs, Mapping):
        raise ValueError("compare: give the runs as a mapping of names to runs")
    named, measures = parse_preferences(preference, rel=rel, cutoff=cutoff)
    options: dict[str, Any] = {
        "reference": reference,
        "rel": rel,
        "cutoff": cutoff,
        "test": Test(test, correction, alpha, n_resamples, seed, progress),
    }
    frames = {str(name): of_run(run) for name, run in runs.items()}
    qrels = of_qrels(qrels)
    buckets = bucket_count(qrels.sparkSession, buckets)
    judgments = Judgments.of(qrels.toArrow())
    Evaluation(measures, judgments)  # refuses measures that nobody serves
    compare_ranks(dict.fromkeys(frames, align(judgments, {})), named, **options)  # refuses options before anything runs
    aspects = asked_aspects(measures.values()) & set(judgments.rows["aspect"].unique())

    def ranks_and_values(qrels: pa.Table, run: pa.Table) -> pa.Table:
        ranks = align_arrow(qrels, run)
        return ranks.join(evaluate_arrow(measures, qrels, run, aspects=aspects), "query_id") if measures else ranks

    types = {**RANK_TYPES, **dict.fromkeys(measures, "float64")}
    ranks, values = {}, []
    for name, run in progress_bar(progress, frames.items(), desc="runs"):
        with naming(f"run {name!r}"):
            table = collected(by_bucket(run, qrels, ranks_and_values, types, buckets), name)
        ranks[name] = ranks_from_arrow(judgments, table)
        values.append(pl.DataFrame(table).unique("query_id").sort("query_id"))
    scores = {measure: np.stack([each[measure].to_numpy() for each in values]) for measure in measures}
    return compare_ranks(ranks, named, scores=scores, **options)
