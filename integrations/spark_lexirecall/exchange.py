"""Check runs and qrels in Spark DataFrames, and run functions on buckets of whole queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import (
    called,
    check_integer,
    naming,
    required,
    shown,
    warn,
)
from ir_lexirecall._util.lazy import LazyModule
from ir_lexirecall.data.aligned_run import AlignedRun
from ir_lexirecall.data.alignment import align
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.columns import qrel_table, run_table
from ir_lexirecall.io.names import RUN_COLUMNS, our_names
from ir_lexirecall.io.schemas import QRELS, RUN, Schema
from ir_lexirecall.measures import RBU
from ir_lexirecall.measures.rbu import ONE_ASPECT
from ir_lexirecall.measures.scoring import (
    GradeRange,
    check_judgments,
    least_grade,
    several_grades_message,
    takes_one_grade,
    warn_if_unreached,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, GroupedData, SparkSession

F: Any = LazyModule("pyspark.sql.functions")
pa_: Any = LazyModule("pyarrow")

Tables = dict[str, pl.DataFrame]
"""The rows of each run, by its name."""
OfQueries = Callable[[Judgments, Tables], Any]
"""A function that a worker calls with whole queries.

It returns columns, or a table of them, with ``query_id``. It raises ``ValueError`` for bad input.
"""

OnNothing = Callable[[bool, str], None]
"""What to call where no document is shared, with whether a query is, and the first query."""

# Two further columns of every result: the message of a worker about bad input, ...
_ERROR = "__error__"
# ... and what runs and qrels have in common, one of three numbers.
_SHARED = "__shared__"
_NOTHING, _QUERIES, _DOCUMENTS = 0, 1, 2
_ROWS = 500_000  # of a bucket, where nobody says how many buckets there are
# Types of columns that hold numbers.
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double")


@dataclass(frozen=True)
class Exchange:
    """Runs and qrels on the cluster, whose rows meet query by query.

    Attributes:
        qrels: all columns; only the ids of queries if the judgments are from `irl.load`.
        whole: judgments from `irl.load`, which are sent to every worker; else None.
        runs: the rows of all runs, with the number of the run in a column `run`.
        names: the names of the runs.
        aspects: aspects on which the measures depend, as far as rows of the qrels name them.
        buckets: how many there are; a query belongs to one of them by the hash of its id.
    """

    qrels: DataFrame
    whole: Judgments | None
    runs: DataFrame
    names: list[str]
    aspects: set[str]
    buckets: int

    @classmethod
    def of(
        cls,
        qrels: Any,
        runs: Mapping[Any, Any],
        measures: Mapping[str, IRMeasure],
        buckets: int | None,
    ) -> Exchange:
        """Check the input, and warn of qrels that do not suit a measure.

        Both need all of the input, of which a worker sees only a part.

        Raises:
            ValueError: frames that cannot be read, runs whose columns have different types, or
                qrels without judgments.
        """
        names = list(map(str, runs))
        every = _in_one_frame(names, list(runs.values()))
        whole = None
        if isinstance(qrels, (Collection, Judgments)):
            whole = Judgments.from_qrels(qrels)
            query_ids = [(query_id,) for query_id in whole.query_ids]
            frame = every.sparkSession.createDataFrame(query_ids, "query_id string")
        else:
            frame = _readable(qrels, QRELS, qrel_table)
        buckets = _check_size(frame, every, buckets)
        aspects = _aspects(measures.values())
        if whole is not None:
            check_judgments(measures.values(), whole)
            return cls(
                frame, whole, every, names, aspects & whole.aspect_names, buckets
            )

        column = _aspect_column(frame)
        if any(measure.NAME == RBU.NAME for measure in measures.values()):
            _warn_of_one_aspect(frame, column)
        named = _named_aspects(frame, column, aspects)
        if "relevance" not in named:
            _warn_of_unreached_grades(frame, measures)
            _warn_of_several_grades(frame, column, measures)
        return cls(frame, None, every, names, named, buckets)

    def ask(
        self, work: OfQueries, types: Mapping[str, Any], *, of_none: bool = False
    ) -> pl.DataFrame:
        """Return the result of ``work`` for all queries on the driver, ordered by query id."""
        table = collected(self.meet(work, types, of_none=of_none))
        return pl.DataFrame(table).sort("query_id", maintain_order=True)

    def meet(
        self, work: OfQueries, types: Mapping[str, Any], *, of_none: bool = False
    ) -> DataFrame:
        """Apply ``work`` to whole queries, many at a time.

        ``collected`` or ``computed`` reads the result.

        Args:
            work: a function of judgments and of rows by run, either of which may be empty.
            types: the columns that it gives, ``query_id`` and others, and their types in Arrow, or
                the names of these.
            of_none: call it where no query is judged, too.
        """
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = pa_.schema([*types.items(), (_ERROR, "string"), (_SHARED, "int8")])
        columns = self.qrels.columns, self.runs.columns
        # The function takes these along, without the frames.
        names, whole, aspects = (self.names, self.whole, self.aspects)

        def on_worker(qrels_part: pa.Table, runs_part: pa.Table) -> pa.Table:
            import pyarrow as pa

            # Columns have the names of outside; the bucket is left out.
            qrels, runs = (
                part.select(list(range(len(known)))).rename_columns(known)
                for part, known in zip((qrels_part, runs_part), columns, strict=True)
            )
            try:
                with called(""):  # the function that the user called is on the driver
                    if whole is None:
                        judged = qrels
                    else:
                        judged = whole.restricted_to(qrels["query_id"].to_pylist())
                    judgments = Judgments.from_qrels(judged, allow_empty=True)
                    judgments = judgments.as_part(aspects)
                    rows = pl.DataFrame(runs)
                    tables = {
                        name: rows.filter(pl.col("run") == s).drop("run")
                        for s, name in enumerate(names)
                    }
                    if of_none or len(judgments):
                        answers = work(judgments, tables)
                    else:
                        answers = {name: [] for name in types}
            except ValueError as error:
                # As data: raised here, it would be tried again, and reported with a wall of Java.
                return pa.Table.from_pylist([{_ERROR: str(error)}], schema=schema)
            count = len(answers["query_id"])
            shared = _shared(judgments, rows)
            added = {
                _ERROR: pa.nulls(count, pa.string()),
                _SHARED: pa.array([shared] * count, pa.int8()),
            }
            return pa.Table.from_pydict(
                {name: answers[name] for name in types} | added, schema=schema
            )

        keys = _keys_of_partitions(self.runs.sparkSession, self.buckets)

        def in_buckets(frame: DataFrame) -> GroupedData:
            """Return the rows by the bucket of their query, each bucket in its own partition."""
            number = F.pmod(
                F.xxhash64(f"c{frame.columns.index('query_id')}"), F.lit(len(keys))
            ).cast("int")
            bucketed = _numbered(frame).withColumn(
                "bucket", F.array(*map(F.lit, keys))[number]
            )
            # A single partition would be shuffled again, into as many as Spark is configured for.
            return bucketed.repartition(max(2, len(keys)), "bucket").groupBy("bucket")

        met = in_buckets(self.qrels).cogroup(in_buckets(self.runs))
        return met.applyInArrow(on_worker, from_arrow_schema(schema))


def _shared(judgments: Judgments, rows: pl.DataFrame) -> int:
    """Return what rows of runs have in common with judgments: documents, queries, or nothing."""
    if not judgments.query_ids:
        return _NOTHING
    of_judged = rows.filter(pl.col("query_id").is_in(judgments.query_ids))
    if not len(of_judged):
        return _NOTHING
    if judgments.excluded:  # which runs may have retrieved
        return _DOCUMENTS
    query_ids = np.array(judgments.query_ids, dtype=object)[judgments.query]
    judged = pl.DataFrame({"query_id": query_ids.tolist(), "doc_id": judgments.doc_ids})
    of_documents = of_judged.join(judged, on=["query_id", "doc_id"], how="semi")
    return _DOCUMENTS if len(of_documents) else _QUERIES


def _in_one_frame(names: Sequence[str], runs: Sequence[Any]) -> DataFrame:
    """Return the rows of all runs, with the number of the run in a column `run`.

    Numbers become doubles.

    Raises:
        ValueError: the columns of two runs have different types.
    """
    frames = [_readable(run, RUN, run_table).select(*RUN_COLUMNS) for run in runs]
    numbered = []
    first_kinds: dict[str, str] = {}
    for number, (name, frame) in enumerate(zip(names, frames, strict=True)):
        kinds = {
            column: "double" if kind in _NUMBERS else kind
            for column, kind in frame.dtypes
        }
        first_kinds = first_kinds or kinds
        for column, kind in kinds.items():
            if kind != first_kinds[column]:
                raise ValueError(
                    f"run {name!r}: {column} is of type {kind}, "
                    f"in run {names[0]!r} of {first_kinds[column]}"
                )
        cast = frame.select(
            *(F.col(column).cast(kind) for column, kind in kinds.items())
        )
        numbered.append(cast.withColumn("run", F.lit(number)))
    return reduce(lambda one, other: one.unionByName(other), numbered)


def _check_size(qrels: DataFrame, runs: DataFrame, buckets: int | None) -> int:
    """Check that there are judgments, and return the number of buckets.

    By default, there are as many as hold a limited number of rows each. Rows are counted for this
    only, as it takes a pass over all of them.
    """
    if buckets is None:
        n_judgments = qrels.count()
        is_empty = n_judgments == 0
        buckets = max(1, -(-(n_judgments + runs.count()) // _ROWS))
    else:
        check_integer("buckets", buckets)
        is_empty = qrels.isEmpty()
    if is_empty:
        raise ValueError("qrels: there are no judgments in it; add some")
    return buckets


def _aspects(measures: Iterable[IRMeasure]) -> set[str]:
    """Return the aspects on which measures depend.

    `relevance` is always among them: if rows name it, it is the grade of every measure.
    """
    aspects = {"relevance"}
    for measure in measures:
        if "aspects" in measure.SUPPORTED_PARAMS:
            aspects.update(measure["aspects"])
    return aspects


def _aspect_column(qrels: DataFrame) -> Any:
    """Return the column that names aspects of relevance; None if there is no such column."""
    for name in ("subtopic_id", "iteration"):
        if name in qrels.columns:
            return F.coalesce(F.col(name).cast("string"), F.lit("0"))
    return None


def _named_aspects(qrels: DataFrame, column: Any, aspects: set[str]) -> set[str]:
    """Return the aspects, of those asked for, that rows of the qrels name."""
    if column is None:
        return set()
    named = F.collect_set(F.when(column.isin(*aspects), column))
    return set(qrels.agg(named).collect()[0][0])


def _warn_of_one_aspect(qrels: DataFrame, column: Any) -> None:
    """Warn if no query has several aspects."""
    if column is not None:
        has_several = F.countDistinct("query_id", column) > F.countDistinct("query_id")
        if qrels.agg(has_several).collect()[0][0]:
            return
    warn(ONE_ASPECT)


def _grade() -> Column:
    """Return the grades of qrels; null for texts that are no number, which are refused later."""
    return F.col("relevance").try_cast("double")


def _warn_of_unreached_grades(
    qrels: DataFrame, measures: Mapping[str, IRMeasure]
) -> None:
    """Warn of measures that count documents from a grade on that no judgment has."""
    least_grades = [(name, least_grade(one)) for name, one in measures.items()]
    if any(least > 0 for _, least in least_grades):
        gain = F.when(_grade() > 0, _grade())
        top, lowest = qrels.agg(F.max(_grade()), F.min(gain)).collect()[0]
        if top is not None:
            lowest_gain = math.inf if lowest is None else lowest
            warn_if_unreached(least_grades, GradeRange(top, lowest_gain))


def _warn_of_several_grades(
    qrels: DataFrame, column: Any, measures: Mapping[str, IRMeasure]
) -> None:
    """Warn if documents have several grades, of which a measure of one grade takes the highest."""
    of_one_grade = [*filter(takes_one_grade, measures.values())]
    if column is None or not of_one_grade:
        return
    differing = (
        qrels.groupBy("query_id", "doc_id")
        .agg(F.min(_grade()).alias("low"), F.max(_grade()).alias("high"))
        .filter("low < high")
    )
    first, count = differing.agg(
        F.min(F.struct("query_id", "doc_id")), F.count("low")
    ).collect()[0]
    if count:
        query_id, doc_id = first
        label = f"document {doc_id!r} of query {query_id!r}"
        warn(several_grades_message(label, count - 1, of_one_grade))


def _readable(
    frame: Any, schema: Schema, check: Callable[[pl.DataFrame], object]
) -> DataFrame:
    """Return a frame with our names of columns, ids as strings, and decimals as floats.

    Integers that databases call decimals are ids, too. Ranks without scores give negative scores.
    """
    _check_of_spark(frame, schema.what)
    check(pl.DataFrame({name: [] for name in frame.columns}))
    names = _our_columns(frame.columns, schema)
    if schema is QRELS and "relevance" not in names:  # BEIR calls grades scores
        raise ValueError("qrels: rename the column of grades to relevance")
    columns = []
    for i, (name, field) in enumerate(zip(names, frame.schema, strict=True)):
        is_id = name in ("query_id", "doc_id")
        columns.append(_cast(F.col(f"c{i}"), field.dataType, is_id=is_id))
    readable = _numbered(frame).select(columns).toDF(*names)
    if schema is RUN and "score" not in names:
        _check_ranks(readable)
        return readable.withColumn("score", -F.col("rank").cast("double"))
    return readable


def _check_ranks(run: DataFrame) -> None:
    """Raise if ranks that stand for scores are no numbers, by the type of their column."""
    kind = dict(run.dtypes)["rank"]
    row = None if kind in _NUMBERS else run.select("query_id", "doc_id", "rank").first()
    if row is not None:
        query_id, doc_id, rank = row
        raise ValueError(
            f"run: the rank of document {doc_id!r} for query {query_id!r} is {shown(rank)}, not a "
            f"finite number: the column rank is of type {kind}; cast it to int"
        )


def _check_of_spark(frame: Any, what: str) -> None:
    """Raise if a value is not a DataFrame of Spark."""
    sql = required("pyspark.sql", "spark_lexirecall", "PySpark", "spark")
    if not isinstance(frame, sql.DataFrame):
        way = "give a Spark DataFrame, such as spark.createDataFrame makes of a pandas one"
        message = f"{what} of type {type(frame).__name__} cannot be read: {way}"
        raise ValueError(
            f"{message}; ir_lexirecall.evaluate and compare read the other formats"
        )


def _cast(column: Column, kind: Any, *, is_id: bool) -> Column:
    """Return a column of a type: decimals as floats, but ids as strings."""
    from pyspark.sql import types

    is_decimal = isinstance(kind, types.DecimalType)
    if not is_id:
        return column.cast("double") if is_decimal else column
    is_text_or_integer = isinstance(kind, (types.IntegralType, types.StringType))
    if is_text_or_integer or (is_decimal and kind.scale == 0):
        return column.cast("string")
    return column


def _our_columns(names: Sequence[str], schema: Schema) -> list[str]:
    """Return our names of the columns that a schema needs; the others keep theirs."""
    wanted = {*schema.needed, "rank"} if schema is RUN else {*schema.needed}
    renamed = []
    for name, ours in zip(names, our_names(names), strict=True):
        renamed.append(ours if ours in wanted else name)
    return renamed


def _numbered(frame: DataFrame) -> DataFrame:
    """Call columns ``c0``, ``c1``, ...: names may hold dots and quotes, or differ in case only."""
    return frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))


@cache
def _keys_of_partitions(session: SparkSession, partitions: int) -> list[int]:
    """Return a key for each partition that Spark's hash sends there, so that none is empty."""
    tried, rows = 8 * partitions, list[Any]()
    while len(rows) < partitions:
        tried *= 2
        bucket = F.pmod(F.hash(F.col("id").cast("int")), F.lit(partitions))
        rows = (
            session.range(0, tried, 1, 1)
            .groupBy(bucket.alias("place"))
            .agg(F.min("id"))
            .collect()
        )
    return [key for _, key in sorted(rows)]


def collected(frame: DataFrame, on_nothing: OnNothing | None = None) -> pa.Table:
    """Bring the result of ``Exchange.meet`` to the driver.

    With `on_nothing`, call it if no document is shared.
    """
    import pyarrow.compute as pc

    table = frame.toArrow()
    shared = pc.max(table[_SHARED]).as_py()
    errors = table[_ERROR].unique().to_pylist()
    _check(errors, shared, pc.min(table["query_id"]).as_py(), on_nothing)
    return table.drop_columns([_ERROR, _SHARED])


def computed(frame: DataFrame, on_nothing: OnNothing) -> DataFrame:
    """Return the result of ``Exchange.meet``, cached on the cluster.

    If no document is shared, call `on_nothing`, as `collected` does.
    """
    checked = frame.persist()
    try:
        errors, shared, query_id = checked.agg(
            F.collect_set(_ERROR), F.max(_SHARED), F.min("query_id")
        ).first()
        _check(errors, shared, query_id, on_nothing)
        values = checked.drop(_ERROR, _SHARED).persist()
        values.count()
    finally:
        checked.unpersist()
    return values


def _check(
    errors: Iterable[str | None],
    shared: int | None,
    query_id: str | None,
    on_nothing: OnNothing | None,
) -> None:
    """Raise the first error, if there is one; else say if no query, or no document, is shared.

    Errors arrive in any order; the first one by alphabet is the same in every run.
    """
    messages = sorted({error for error in errors if error is not None})
    if len(messages) > 1:
        raise ValueError(f"{messages[0]} (bad input in another bucket: {messages[1]})")
    if messages:
        raise ValueError(messages[0])
    if on_nothing is None or query_id is None or shared == _DOCUMENTS:
        return
    on_nothing(shared == _QUERIES, query_id)


def aligned(judgments: Judgments, tables: Tables) -> dict[str, AlignedRun]:
    """Align every run; errors name the run."""
    runs = {}
    for name, table in tables.items():
        with naming(f"run {name!r}"):
            runs[name] = align(judgments, table)
    return runs


def lists(rows: Any, queries: int, dtype: Any, which: Any = None) -> Any:
    """Return a list of numbers for each query, from rows of one number per query.

    With ``which``, the lists of all other queries are empty.
    """
    table = np.array(rows, dtype=dtype).reshape(len(rows), queries).T
    if which is None:
        which = np.ones(queries, dtype=bool)
    offsets = np.r_[0, np.cumsum(which * len(rows))].astype(np.int32)
    return pa_.ListArray.from_arrays(
        pa_.array(offsets), pa_.array(np.ascontiguousarray(table[which]).ravel())
    )


def list_matrix(lists: pl.Series, rows: int) -> Any:
    """Return lists of equal length as the columns of a matrix, without the empty lists."""
    flat = lists.to_arrow().flatten().to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(flat.reshape(len(flat) // max(rows, 1), rows).T)
