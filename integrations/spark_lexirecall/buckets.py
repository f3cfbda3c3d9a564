"""Spark DataFrames: what is checked before they are read, what is known of all rows, how they are cut into buckets, how results come back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import called, check_integer, required, warn
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.data.matching import nothing_retrieved
from ir_lexirecall.io.columns import qrel_table, run_table
from ir_lexirecall.io.lines import RUN_COLUMNS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, GroupedData, SparkSession

    Work = Callable[[pa.Table, pa.Table], pa.Table]

F: Any = LazyModule("pyspark.sql.functions")

_ERROR = "__error__"  # a column of every result: what a worker has to say about bad input
_SHARED = "__shared__"  # and another: whether run and qrels have a query in common
_ROWS = 500_000  # of a bucket, where nobody says how many buckets there are


def run_frame(run: Any) -> DataFrame:
    """A run as the engine reads it: ``query_id``, ``doc_id`` and ``score``, integer ids as strings."""
    return _readable(run, "run", run_table).select(*RUN_COLUMNS)


def qrels_frame(
    qrels: Any, session: SparkSession
) -> tuple[DataFrame, Callable[[pa.Table], pa.Table | Judgments], Judgments | None]:
    """Qrels as the engine reads them, all their columns, integer ids as strings; and what a worker makes of a part.

    Of what ``irl.load`` gave, the frame has the ids of the queries; the judgments, which come third, are sent to every worker.
    """
    if isinstance(qrels, (Collection, Judgments)):
        judgments = Judgments.from_qrels(qrels)
        ids = session.createDataFrame([(query_id,) for query_id in judgments.query_ids], "query_id string")
        return ids, lambda part: judgments.restricted_to(part["query_id"].to_pylist()), judgments
    return _readable(qrels, "qrels", qrel_table), lambda part: part, None


def _readable(frame: Any, what: str, check: Callable[[pl.DataFrame], object]) -> DataFrame:
    """Ids as strings, also the integers that databases call decimals; other decimals as floats."""
    if not isinstance(frame, required("pyspark.sql", "spark_lexirecall", "PySpark", "spark").DataFrame):
        raise ValueError(
            f"{what} of type {type(frame).__name__} cannot be read: give a Spark DataFrame, such as spark.createDataFrame "
            "makes of a pandas one; ir_lexirecall.evaluate and compare read the other formats"
        )
    from pyspark.sql import types

    check(pl.DataFrame({name: [] for name in frame.columns}))
    columns = []
    for i, field in enumerate(frame.schema):
        column, kind = F.col(f"c{i}"), field.dataType
        decimal = isinstance(kind, types.DecimalType)
        if field.name not in ("query_id", "doc_id"):
            columns.append(column.cast("double") if decimal else column)
            continue
        whole = isinstance(kind, types.IntegralType) or (decimal and kind.scale == 0)
        columns.append(column.cast("string") if whole or isinstance(kind, types.StringType) else column)
    return _numbered(frame).select(columns).toDF(*frame.columns)


def _numbered(frame: DataFrame) -> DataFrame:
    """With columns ``c0``, ``c1``, ...: names may hold dots and quotes, or differ in case only."""
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))


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
        return {*names} & qrels.aspect_names
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


def bucket_count(frames: Iterable[DataFrame], buckets: int | None) -> int:
    """The number of buckets, by default as many as give each half a million of the rows, which are counted."""
    if buckets is None:
        rows: int = sum(frame.count() for frame in frames)
        return max(1, -(-rows // _ROWS))
    return check_integer("buckets", buckets)


def by_bucket(qrels: DataFrame, run: DataFrame, work: Work, types: Mapping[str, Any], buckets: int) -> DataFrame:
    """``work(qrels, run)`` on whole queries, many at a time; ``collected`` or ``computed`` reads the result.

    Args:
        qrels, run: from ``qrels_frame`` and ``run_frame``.
        work: a function of Arrow tables, either of which may be without rows. A ``ValueError`` of it means bad input.
        types: the columns that it gives, ``query_id`` and others, and their types in Arrow, or the names of these.
        buckets: how many there are; a query belongs to one of them by the hash of its id.
    """
    import pyarrow as pa
    from pyspark.sql.pandas.types import from_arrow_schema

    columns = {**types, _ERROR: "string", _SHARED: "bool"}
    schema = from_arrow_schema(pa.schema(list(columns.items())))
    run_names, qrel_names = run.columns, qrels.columns

    def work_on(qrels_part: pa.Table, run_part: pa.Table) -> pa.Table:
        import pyarrow as pa
        import pyarrow.compute as pc

        qrels, run = _named(qrels_part, qrel_names), _named(run_part, run_names)
        try:
            with called(""):  # the function that the user called is on the driver
                result = work(qrels, run)
        except ValueError as error:
            # As data: raised here, it would be tried again, and reported with a wall of Java.
            return pa.Table.from_pylist([{_ERROR: str(error)}], schema=pa.schema(list(columns.items())))
        shared = len(run) > 0 < len(qrels) and pc.any(pc.is_in(run["query_id"], qrels["query_id"].unique())).as_py()
        result = result.append_column(_ERROR, pa.nulls(len(result), pa.string()))
        return result.append_column(_SHARED, pa.repeat(shared, len(result)))

    keys = _keys_of_partitions(run.sparkSession, buckets)
    return _in_buckets(qrels, keys).cogroup(_in_buckets(run, keys)).applyInArrow(work_on, schema)


def _in_buckets(frame: DataFrame, keys: Sequence[int]) -> GroupedData:
    """The rows by the bucket of their query, each bucket in a partition of its own."""
    number = F.pmod(F.xxhash64(f"c{frame.columns.index('query_id')}"), F.lit(len(keys))).cast("int")
    numbered = _numbered(frame).withColumn("bucket", F.array(*map(F.lit, keys))[number])
    partitions = max(2, len(keys))  # a single one would be shuffled again, into as many as Spark is configured for
    return numbered.repartition(partitions, "bucket").groupBy("bucket")


_known_keys: dict[int, list[int]] = {}


def _keys_of_partitions(session: SparkSession, partitions: int) -> list[int]:
    """A key for each of so many partitions that Spark's hash sends there: of the numbers 0, 1, ... two may meet, and leave one empty."""
    tried = 8 * partitions
    while partitions not in _known_keys:
        tried *= 2
        place = F.pmod(F.hash(F.col("id").cast("int")), F.lit(partitions))
        rows = session.range(0, tried, 1, 1).groupBy(place.alias("place")).agg(F.min("id")).collect()
        if len(rows) == partitions:
            _known_keys[partitions] = [key for _, key in sorted(rows)]
    return _known_keys[partitions]


def _named(part: pa.Table, names: Sequence[str]) -> pa.Table:
    """The columns as they are called outside, without the bucket."""
    return part.select(list(range(len(names)))).rename_columns(list(names))


def collected(frame: DataFrame, *, warns: bool = True) -> pa.Table:
    """What ``by_bucket`` gave, on the driver; ``warns`` of a run that shares no query with the qrels."""
    import pyarrow.compute as pc

    table = frame.toArrow()
    shared = not warns or pc.any(table[_SHARED]).as_py()
    _check(table[_ERROR].unique().to_pylist(), shared, pc.min(table["query_id"]).as_py())
    return table.drop_columns([_ERROR, _SHARED])


def computed(frame: DataFrame) -> DataFrame:
    """What ``by_bucket`` gave, computed and cached."""
    checked = frame.persist()
    try:
        _check(*checked.agg(F.collect_set(_ERROR), F.bool_or(_SHARED), F.min("query_id")).first())
        values = checked.drop(_ERROR, _SHARED).persist()
        values.count()
    finally:
        checked.unpersist()
    return values


def _check(errors: Iterable[str | None], shared: bool | None, query_id: str | None) -> None:
    """Raise the first error, in alphabetical order so that it is always the same; warn where no query is shared."""
    if messages := sorted({error for error in errors if error is not None}):
        raise ValueError(messages[0] + (f" (bad input in another bucket: {messages[1]})" if len(messages) > 1 else ""))
    if query_id is not None and not shared:
        warn(nothing_retrieved("the run", query_id))
