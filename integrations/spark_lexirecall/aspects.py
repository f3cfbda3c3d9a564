"""What a bucket of qrels cannot know: the aspects that rows of the other buckets name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall.data.judgments import Judgments

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

F: Any = LazyModule("pyspark.sql.functions")


def named_aspects(measures: Iterable[IRMeasure]) -> set[str]:
    """The aspects on which the measures depend.

    >>> from ir_lexirecall import CAM, TSE
    >>> sorted(named_aspects([TSE, CAM(aspects={"trust": 1, "quality": 2})]))
    ['quality', 'relevance', 'trust']
    """
    several = (measure["aspects"] for measure in measures if "aspects" in measure.SUPPORTED_PARAMS)
    return {"relevance"}.union(*several)  # if rows name it, it is the grade of every measure


def aspects_in_rows(qrels: DataFrame | Judgments, names: Iterable[str]) -> set[str]:
    """Which of the aspects any row of the qrels names."""
    if isinstance(qrels, Judgments):
        return {*names} & set(qrels.rows["aspect"].unique())
    if (aspect := _aspect(qrels)) is None:
        return set()
    return set(qrels.agg(F.collect_set(F.when(aspect.isin(*names), aspect))).collect()[0][0])


def has_several_aspects(qrels: DataFrame) -> bool:
    """Whether rows name more than one aspect for any query."""
    if (aspect := _aspect(qrels)) is None:
        return False
    return bool(qrels.agg(F.countDistinct("query_id", aspect) > F.countDistinct("query_id")).collect()[0][0])


def _aspect(qrels: DataFrame) -> Column | None:
    """The aspect that each row names, as ``Judgments`` reads it."""
    column = next((name for name in ("subtopic_id", "iteration") if name in qrels.columns), None)
    return None if column is None else F.coalesce(F.col(column).cast("string"), F.lit("0"))
