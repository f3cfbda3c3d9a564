"""Spark DataFrames give what the same tables give in one process, bit for bit."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# The folder of this file would pass for a package `spark`, so PySpark is asked for by its own name.
pytest.importorskip(
    "pyspark.sql", reason="PySpark is not installed: pip install '.[spark]'"
)
pytest.importorskip(
    "pyarrow", reason="PyArrow is not installed: pip install '.[spark]'"
)
if not (
    shutil.which("java")
    or Path(os.environ.get("JAVA_HOME", "none"), "bin", "java").exists()
):
    pytest.skip("there is no Java, which Spark needs", allow_module_level=True)

import spark_lexirecall
from ir_measures.measures.base import Measure
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from spark_lexirecall.exchange import collected

import ir_lexirecall as irl
from ir_lexirecall import CAM, CWL_ERR10, LR, MM, RBU, TOMA, TSE
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.shared_queries import NothingShared
from ir_lexirecall.data.judgments import Judgments
from tests.benchmarks.data import Size, collection
from tests.conftest import rankings, subtopic_collections, subtopic_table

pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark"),
    pytest.mark.slow,
]

SCALES = {"relevance": 2, "quality": 3}
MEASURES = [
    TSE,
    TSE(exposure="nDCG") @ 100,
    LR,
    CWL_ERR10(max_rel=2),
    RBU(p=0.9) @ 20,
    TOMA(aspects=SCALES) @ 20,
    CAM(aspects=SCALES, base="AP"),
    MM(aspects=SCALES),
    "AP",
    "nDCG@10",
    "NumRet",
]
EXAMPLES = [spark_lexirecall.evaluate, spark_lexirecall.compare]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one session of all tests."""
    places = {
        str(Path(module.__file__ or "").parents[1])
        for module in (irl, spark_lexirecall)
    }
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYSPARK_PYTHON", sys.executable)
        environment.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        environment.setenv(
            "PYTHONPATH",
            os.pathsep.join([*sorted(places), os.environ.get("PYTHONPATH", "")]),
        )
        environment.setenv("POLARS_MAX_THREADS", "1")
        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.sql.shuffle.partitions", "4")
            .config("spark.sql.session.timeZone", "UTC")
            # compiling takes longer than interpreting a few rows
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
            .getOrCreate()
        )
        yield session
        session.stop()


# -- a collection ----------------------------------------------------------------------------------


def made_run(seed: int, queries: range = range(1, 31)) -> pd.DataFrame:
    """Rankings with ties; query 7 is far longer than the others, query 3 has no ranking."""
    rng = np.random.default_rng(seed)
    tables = []
    for query in queries:
        length = 0 if query == 3 else 3000 if query == 7 else int(rng.integers(1, 60))
        docs = rng.choice(4000 if query == 7 else 80, size=length, replace=False)
        score = rng.integers(0, 20, size=length) / 7
        tables.append(
            pd.DataFrame(
                {
                    "query_id": str(query),
                    "doc_id": [f"d{doc}" for doc in docs],
                    "score": score,
                }
            )
        )
    return pd.concat(tables, ignore_index=True).sample(
        frac=1, random_state=seed, ignore_index=True
    )


def made_qrels() -> pd.DataFrame:
    """Judgments of subtopics with weights and a second aspect; queries 26 to 30 are not judged, 40 and 41 are only here."""
    rng = np.random.default_rng(0)
    rows = []
    for query in [*range(1, 26), 40, 41]:
        for doc in rng.choice(80, size=12, replace=False).tolist():
            quality = float(rng.integers(0, 4))
            for subtopic in rng.choice(3, size=2, replace=False).tolist():
                grade = 0 if query == 5 else int(rng.integers(-1, 3))
                rows.append(
                    (
                        str(query),
                        f"d{doc}",
                        grade,
                        f"s{subtopic}",
                        1.0 + subtopic,
                        quality,
                    )
                )
    columns = ["query_id", "doc_id", "relevance", "subtopic_id", "weight", "quality"]
    return pd.DataFrame(rows, columns=columns).sample(
        frac=1, random_state=0, ignore_index=True
    )


QRELS, RUN = made_qrels(), made_run(1)
SMALL_QRELS = pd.DataFrame(
    {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "relevance": [1, 1, 2]}
)
SMALL_RUN = pd.DataFrame(
    {
        "query_id": ["q1", "q1", "q2"],
        "doc_id": ["a", "b", "x"],
        "score": [1.0, 2.0, 3.0],
    }
)


def as_pandas(values: DataFrame) -> pd.DataFrame:
    """Values as ``ir_lexirecall.evaluate`` gives them."""
    rows = values.toArrow().sort_by("query_id")
    columns = {name: rows[name].to_numpy() for name in rows.column_names[1:]}
    return pd.DataFrame(
        columns, index=pd.Index(rows["query_id"].to_pylist(), name="query_id")
    )


def assert_same(values: DataFrame, wanted: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(
        as_pandas(values),
        wanted.astype(float),
        check_exact=True,
        check_index_type=False,
        check_column_type=False,
    )
    values.unpersist()


def cached(spark: SparkSession) -> int:
    return int(spark.sparkContext._jsc.getPersistentRDDs().size())  # type: ignore[union-attr]


# -- evaluate --------------------------------------------------------------------------------------

CUTS: dict[str, tuple[int | None, Callable[[DataFrame], DataFrame]]] = {
    "one bucket": (1, lambda frame: frame),
    "few buckets": (3, lambda frame: frame.repartition(5)),
    "more buckets than queries": (100, lambda frame: frame.coalesce(1)),
    "skewed partitions": (
        None,
        lambda frame: frame.repartition(6, F.col("query_id") == "7"),
    ),
}


@pytest.mark.parametrize("cut", CUTS)
def test_values_are_those_of_one_process(cut: str, spark: SparkSession) -> None:
    buckets, partitioned = CUTS[cut]
    run, qrels = (partitioned(spark.createDataFrame(table)) for table in (RUN, QRELS))
    values = spark_lexirecall.evaluate(MEASURES, qrels, run, buckets=buckets)
    assert [kind for _, kind in values.dtypes] == ["string"] + ["double"] * len(
        MEASURES
    )
    assert_same(values, irl.evaluate(MEASURES, QRELS, RUN))


@pytest.mark.parametrize("buckets", [2, 8, 40])
def test_every_bucket_is_a_task_and_none_is_empty(
    buckets: int, spark: SparkSession
) -> None:
    rows = [(f"q{i}", "d", 1.0) for i in range(20 * buckets)]
    qrels, run = (
        spark.createDataFrame(rows, f"query_id string, doc_id string, {name} double")
        for name in ("relevance", "score")
    )
    values = spark_lexirecall.evaluate("RR", qrels, run, buckets=buckets)
    assert values.rdd.getNumPartitions() == buckets
    assert values.select(F.spark_partition_id()).distinct().count() == buckets
    values.unpersist()


RUN_SCHEMA = "query_id string, doc_id string, score double"
RUN_COLUMNS = ["query_id", "doc_id", "score"]
FEW = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)  # each starts Spark jobs


def run_rows(run: Any) -> pd.DataFrame:
    """A dict of dicts as rows."""
    rows = [
        (q, doc, score) for q, ranking in run.items() for doc, score in ranking.items()
    ]
    return pd.DataFrame(rows, columns=RUN_COLUMNS).astype({"score": float})


def on_cluster(
    spark: SparkSession, table: pd.DataFrame, schema: str, draw: Any
) -> DataFrame:
    """The rows in a random order, in a random number of partitions, a query's rows together or not."""
    order = draw.draw(st.permutations(range(len(table))), label="order")
    frame = spark.createDataFrame(
        list(table.iloc[order].itertuples(index=False, name=None)), schema
    )
    by = draw.draw(st.sampled_from([(), ("query_id",), ("doc_id",)]), label="together")
    return frame.repartition(draw.draw(st.integers(1, 5), label="partitions"), *by)


QREL_SCHEMA = "query_id string, doc_id string, relevance long, subtopic_id string"
WHOLE = st.sampled_from([-1, 0, 1, 2, 4])


@FEW
@given(
    collection=subtopic_collections(WHOLE),
    buckets=st.none() | st.integers(1, 12),
    draw=st.data(),
)
def test_values_of_anything_are_those_of_one_process(
    collection, buckets, draw, spark: SparkSession
):
    qrels, run = subtopic_table(collection[0], "subtopic_id"), run_rows(collection[1])
    measures = [
        TSE,
        TSE(rel=2) @ 5,
        LR,
        CWL_ERR10(max_rel=4),
        RBU(p=0.9) @ 20,
        RBU,
        "nDCG@10",
        "AP(rel=2)",
    ]
    values = spark_lexirecall.evaluate(
        measures,
        on_cluster(spark, qrels, QREL_SCHEMA, draw),
        on_cluster(spark, run, RUN_SCHEMA, draw),
        buckets=buckets,
    )
    assert_same(values, irl.evaluate(measures, qrels, run))


@FEW
@given(
    collection=subtopic_collections(WHOLE), buckets=st.integers(1, 12), draw=st.data()
)
def test_comparisons_of_anything_are_those_of_one_process(
    collection, buckets, draw, spark: SparkSession
):
    qrels, run = subtopic_table(collection[0], "subtopic_id"), collection[1]
    others = st.dictionaries(st.sampled_from(sorted(collection[0])), rankings())
    runs = {
        "a": run_rows(run),
        **{name: run_rows(draw.draw(others, label=name)) for name in "bc"},
    }
    by = ["lexirecall", "rpp", RBU @ 10, "SL3(n=9000)", "AP"]
    frames = {
        name: on_cluster(spark, rows, RUN_SCHEMA, draw) for name, rows in runs.items()
    }
    compare = partial(
        spark_lexirecall.compare,
        on_cluster(spark, qrels, QREL_SCHEMA, draw),
        frames,
        by,
        buckets=buckets,
        allow_empty=True,
    )
    try:
        local = irl.compare(qrels, runs, by, allow_empty=True)
    except NothingShared as error:
        with pytest.raises(NothingShared, match=re.escape(str(error))):
            compare()
        return
    assert_same_comparison(compare(), local)


def test_the_values_are_cached_until_they_are_given_up(spark: SparkSession) -> None:
    before = cached(spark)
    values = spark_lexirecall.evaluate(
        TSE, spark.createDataFrame(SMALL_QRELS), spark.createDataFrame(SMALL_RUN)
    )
    assert values.is_cached
    assert cached(spark) == before + 1
    values.unpersist(blocking=True)
    assert cached(spark) == before


def warned(work: Callable[[], Any]) -> list[str]:
    """What a call warns of, other than PySpark of versions."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return [
        str(warning.message) for warning in caught if warning.category is UserWarning
    ]


def test_a_run_of_other_queries_is_warned_of(spark: SparkSession) -> None:
    of_other_queries = SMALL_RUN.replace({"query_id": {"q1": "r1", "q2": "r2"}})
    qrels, run, other = map(
        spark.createDataFrame, (SMALL_QRELS, SMALL_RUN, of_other_queries)
    )
    [local] = warned(lambda: irl.evaluate(TSE, SMALL_QRELS, of_other_queries))
    [ours] = warned(lambda: spark_lexirecall.evaluate(TSE, qrels, other))
    assert "do their query ids agree? The run's first is 'r1'" in local
    assert ours == local
    runs = {"a": of_other_queries, "b": SMALL_RUN}
    [local] = warned(lambda: irl.compare(SMALL_QRELS, runs, allow_empty=True))
    [ours] = warned(
        lambda: spark_lexirecall.compare(
            qrels, {"a": other, "b": run}, allow_empty=True
        )
    )
    assert local.startswith("run 'a' retrieves nothing")
    assert ours == local
    with pytest.raises(ValueError, match="compare: run 'a' retrieves nothing"):
        spark_lexirecall.compare(qrels, {"a": other, "b": run})


# -- compare ---------------------------------------------------------------------------------------

RUNS = {
    "one": RUN,
    "two": made_run(2),
    "none": RUN[:0],
    "three": made_run(3, range(2, 20)),
}


def assert_same_comparison(
    result: Comparison, wanted: Comparison, explained: int = 1
) -> None:
    """The same tables, and what decided by the first criteria, for which the cluster is asked again."""
    for table in ("means", "table", "verdicts"):
        pd.testing.assert_frame_equal(
            getattr(result, table)(), getattr(wanted, table)(), check_exact=True
        )
    assert result.runs == wanted.runs
    for name in wanted.criteria:
        pd.testing.assert_frame_equal(
            result.per_query(name), wanted.per_query(name), check_exact=True
        )
    for name in wanted.criteria[:explained]:
        decided, expected = (
            one.explain(*wanted.runs[:2], name) for one in (result, wanted)
        )
        pd.testing.assert_frame_equal(decided, expected, check_exact=True)


@pytest.mark.parametrize(
    "options",
    [
        {
            "test": irl.SignificanceTest(
                "t", correction=None, alpha=0.01, progress=False
            )
        },
        {
            "margin": {
                "lexirecall(rel=2)@40": 0.1,
                "rpp(rel=2)@40": 0.2,
                "nDCG@10": "5%",
                "RBU@10": 0.02,
            },
            "test": irl.SignificanceTest(seed=3, n_resamples=99, progress=False),
        },
    ],
    ids=["tested otherwise", "margins"],
)
def test_comparisons_are_those_of_one_process(
    options: dict[str, Any], spark: SparkSession
) -> None:
    preferences = ["lexirecall(rel=2)@40", "rpp(rel=2)@40", "nDCG@10", RBU @ 10]
    preferences += [] if "margin" in options else ["dominance(rel=2)@40"]
    options = {"baseline": "two", **options}
    before = cached(spark)
    runs = {name: spark.createDataFrame(run, RUN_SCHEMA) for name, run in RUNS.items()}
    options["allow_empty"] = True
    result = spark_lexirecall.compare(
        spark.createDataFrame(QRELS), runs, preferences, buckets=9, **options
    )
    wanted = irl.compare(QRELS, RUNS, preferences, **options)
    assert_same_comparison(result, wanted, explained=len(preferences))
    assert result.provenance == wanted.provenance
    assert result.diagnostics == wanted.diagnostics
    assert_nothing_fetched(result)
    assert result.compared.scored is not None
    assert wanted.compared.scored is not None
    for name, run in result.compared.scored.runs.items():
        local = wanted.compared.scored.runs[name]
        for attribute in ("query", "doc", "rank", "depth"):
            np.testing.assert_array_equal(
                getattr(run, attribute), getattr(local, attribute), strict=True
            )
        for ours, theirs in zip(run.tied(), local.tied(), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    assert cached(spark) == before


def test_a_million_rows_give_the_local_answer(
    spark: SparkSession, tmp_path: Path
) -> None:
    made = collection(Size(queries=500, depth=1000, judged=30))
    other = made.run.assign(score=made.run["score"].to_numpy()[::-1].copy())
    tables = {"qrels": made.qrels, "a": made.run, "b": other}
    for name, table in tables.items():
        table.to_parquet(tmp_path / f"{name}.parquet")
    frames = {
        name: spark.read.parquet(str(tmp_path / f"{name}.parquet")) for name in tables
    }
    runs, by = (
        {name: tables[name] for name in "ab"},
        ["lexirecall", "rpp", "AP", "nDCG@10"],
    )
    result = spark_lexirecall.compare(
        frames["qrels"], {name: frames[name] for name in runs}, by
    )
    assert_same_comparison(result, irl.compare(made.qrels, runs, by))
    assert_nothing_fetched(result)
    assert_same(
        spark_lexirecall.evaluate(by[2:], frames["qrels"], frames["b"]),
        irl.evaluate(by[2:], made.qrels, other),
    )


def test_of_queries_that_no_run_has_the_driver_gets_what_the_judgments_say(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: list[list[dict[str, Any]]] = []

    def seen(*arguments: Any, **options: Any) -> Any:
        table = collected(*arguments, **options)
        came.append(table.to_pylist())
        return table

    monkeypatch.setattr("spark_lexirecall.exchange.collected", seen)
    runs, by = (
        {name: RUNS[name] for name in ("one", "two")},
        ["lexirecall", "rpp", "AP", "SL3(n=9000)"],
    )
    frames = {
        name: spark.createDataFrame(run, RUN_SCHEMA) for name, run in runs.items()
    }
    result = spark_lexirecall.compare(
        spark.createDataFrame(QRELS), frames, by, buckets=2
    )
    [rows] = came
    assert {row["query_id"] for row in rows} == {*QRELS["query_id"]}
    for row in rows:
        in_run = row["query_id"] not in ("3", "40", "41")
        assert [
            len(row[name]) for name in ("counts", "pairwise", "values", "of_none")
        ] == ([12, 1, 4, 0] if in_run else [0, 0, 0, 2])
        assert len(row["judged"]) == 5
    assert_same_comparison(result, irl.compare(QRELS, runs, by))


def assert_nothing_fetched(result: Comparison) -> None:
    assert result.compared.scored is not None
    for here in (
        result.compared.scored.judgments,
        *result.compared.scored.runs.values(),
    ):
        assert "_here" not in vars(here)


def test_what_unjudged_documents_could_change_is_asked_where_they_are(
    spark: SparkSession,
) -> None:
    by = ["lexirecall", "rpp(rel=2)@40", "nDCG@10", "AP", "RBU@10", "TSE"]
    frames = {
        name: spark.createDataFrame(run, RUN_SCHEMA) for name, run in RUNS.items()
    }
    result = spark_lexirecall.compare(
        spark.createDataFrame(QRELS), frames, by, buckets=3, allow_empty=True
    )
    wanted = irl.compare(QRELS, RUNS, by, allow_empty=True)
    for options in ({}, {"depth": 40, "max_rel": 3, "unretrieved": 2}):
        bounds, expected = (
            warning_of_no_algorithm(one, **options) for one in (result, wanted)
        )
        pd.testing.assert_frame_equal(bounds, expected, check_exact=True)
        assert bounds.attrs == expected.attrs
    for name in by:
        for n in (7, 10_000):
            found, expected = (one.to_judge(n, name) for one in (result, wanted))
            pd.testing.assert_frame_equal(found, expected, check_exact=True)
    verdicts, expected = (one.verdicts(holds=True) for one in (result, wanted))
    pd.testing.assert_frame_equal(verdicts, expected, check_exact=True)
    assert result.diagnostics == wanted.diagnostics
    assert_nothing_fetched(result)
    with pytest.raises(
        ValueError,
        match=r"^bounds: depth 5 leaves out unjudged documents that .* looks at",
    ):
        result.bounds("nDCG@10", depth=5)


def warning_of_no_algorithm(result: Comparison, **options: Any) -> pd.DataFrame:
    with pytest.warns(UserWarning, match="no proven algorithm bounds RBU@10"):
        return result.bounds(**options)


def test_bounds_of_many_pairs(spark: SparkSession) -> None:
    runs = {f"run {seed}": made_run(seed, range(1, 7)) for seed in range(11)}
    qrels = QRELS[QRELS["query_id"].isin(list("123456"))]
    frames = {
        name: spark.createDataFrame(run, RUN_SCHEMA) for name, run in runs.items()
    }
    result = spark_lexirecall.compare(
        spark.createDataFrame(qrels), frames, ["AP", "LR"], buckets=3
    )
    wanted = irl.compare(qrels, runs, ["AP", "LR"])
    for depth in (None, 10):
        pd.testing.assert_frame_equal(
            result.bounds(depth=depth), wanted.bounds(depth=depth), check_exact=True
        )


TAKEN_OUT = (
    QRELS.loc[QRELS["relevance"] > 1, ["query_id", "doc_id"]]
    .drop_duplicates()
    .iloc[::2]
)


@pytest.mark.parametrize(
    "options",
    [{"judged_only": True}, {"exclude": TAKEN_OUT}, {"queries": "relevant"}],
    ids=lambda options: next(iter(options)),
)
def test_condensed_lists_and_documents_taken_out(
    options: dict[str, Any], spark: SparkSession
) -> None:
    runs = {name: spark.createDataFrame(run, RUN_SCHEMA) for name, run in RUNS.items()}
    qrels, preferences = irl.load(QRELS, **options), ["lexirecall", "nDCG@10"]
    result = spark_lexirecall.compare(
        qrels, runs, preferences, buckets=3, allow_empty=True
    )
    wanted = irl.compare(qrels, RUNS, preferences, allow_empty=True)
    assert_same_comparison(result, wanted)
    assert not result.table().equals(
        irl.compare(QRELS, RUNS, preferences, allow_empty=True).table()
    )
    values = spark_lexirecall.evaluate(MEASURES, qrels, runs["one"])
    assert_same(values, irl.evaluate(MEASURES, qrels, RUN))


def test_groups_of_queries_are_those_of_one_process(spark: SparkSession) -> None:
    kinds = {
        query: f"kind {i % 2}" for i, query in enumerate(sorted(set(QRELS["query_id"])))
    }
    runs = {name: spark.createDataFrame(run, RUN_SCHEMA) for name, run in RUNS.items()}
    qrels = spark.createDataFrame(QRELS.assign(kind=QRELS["query_id"].map(kinds)))
    table = pd.DataFrame(kinds.items(), columns=["query_id", "kind"])
    wanted = irl.compare(
        QRELS, RUNS, ["lexirecall", "nDCG@10"], groups=kinds, allow_empty=True
    )
    for groups in (kinds, "kind", spark.createDataFrame(table)):
        result = spark_lexirecall.compare(
            qrels,
            runs,
            ["lexirecall", "nDCG@10"],
            groups=groups,
            allow_empty=True,
            buckets=3,
        )
        pd.testing.assert_frame_equal(
            result.group_table(), wanted.group_table(), check_exact=True
        )
    options: dict[str, Any] = {
        "groups": kinds,
        "test": irl.SignificanceTest(cluster=True),
        "allow_empty": True,
    }
    result = spark_lexirecall.compare(qrels, runs, "nDCG@10", buckets=3, **options)
    assert_same_comparison(result, irl.compare(QRELS, RUNS, "nDCG@10", **options))
    for wrong, message in (
        (
            {"test": irl.SignificanceTest(cluster=True)},
            r"^compare: cluster=True takes groups of queries",
        ),
        (
            {"groups": dict(list(kinds.items())[1:]), "allow_empty": True},
            r"^compare: groups: query '1' has no group",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            spark_lexirecall.compare(qrels, runs, **wrong)


def test_an_argument_that_compare_does_not_have_is_named() -> None:
    with pytest.raises(
        TypeError,
        match=r"compare: unexpected argument 'bucket'; did you mean 'buckets'\?",
    ):
        spark_lexirecall.compare(None, {}, bucket=3)  # type: ignore[call-arg]


def test_the_library_warns_of_nothing_made_up(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said of the whole is said once, of it, at the user's own line; workers say nothing of their parts."""
    run, plain = spark.createDataFrame(SMALL_RUN), spark.createDataFrame(SMALL_QRELS)
    other = spark.createDataFrame(
        SMALL_RUN.replace({"query_id": {"q1": "r1", "q2": "r2"}})
    )
    made: list[list[str]] = []
    read = Judgments.from_qrels.__func__  # type: ignore[attr-defined]

    def counted(cls: Any, *arguments: Any, **options: Any) -> Judgments:
        judgments: Judgments = read(cls, *arguments, **options)
        made.append(judgments.query_ids)
        return judgments

    monkeypatch.setattr(Judgments, "from_qrels", classmethod(counted))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        spark_lexirecall.evaluate(RBU, plain, other, aggregate=True)
    said = [warning for warning in caught if warning.category is UserWarning]
    assert [
        str(warning.message).partition(":")[0].partition(" retrieves")[0]
        for warning in said
    ] == ["RBU", "the run"]
    assert {warning.filename for warning in said} == {__file__}
    assert made == [["q1"]]  # whose ids the warning shows
    made.clear()
    spark_lexirecall.evaluate(RBU, plain, run, aggregate=True)
    assert not made
    spark_lexirecall.compare(plain, {"a": run, "b": run}, RBU @ 5)
    assert not made  # nor does a comparison read the qrels


# -- bad input -------------------------------------------------------------------------------------


def refusal(work: Callable[[], Any]) -> str:
    with pytest.raises(ValueError, match=r".") as caught:
        work()
    assert type(caught.value) is ValueError
    return str(caught.value)


ROW = SMALL_RUN[:1]
BAD_RUNS = {
    "a score that is missing": SMALL_RUN.assign(
        score=pd.Series([1.0, None, 2.0], dtype=object)
    ),
    "a document twice": pd.concat([SMALL_RUN, ROW]),
    "a score in words": SMALL_RUN.assign(score="high"),
    "ids that are fractions": SMALL_RUN.assign(doc_id=[1.5, 2.5, 3.5]),
}
BAD_QRELS = {
    "judged twice": pd.concat([SMALL_QRELS, SMALL_QRELS[:1].assign(relevance=2)]),
    "judged twice, a query that no run has": pd.concat(
        [
            SMALL_QRELS,
            pd.DataFrame(
                {"query_id": ["q9"] * 2, "doc_id": ["z"] * 2, "relevance": [1, 2]}
            ),
        ]
    ),
    "a grade in words": SMALL_QRELS.assign(relevance="good"),
}


@pytest.mark.parametrize("case", [*BAD_RUNS, *BAD_QRELS])
def test_bad_rows_are_refused_as_in_one_process(case: str, spark: SparkSession) -> None:
    run, qrels = BAD_RUNS.get(case, SMALL_RUN), BAD_QRELS.get(case, SMALL_QRELS)
    wanted = refusal(lambda: irl.evaluate(TSE, qrels, run))
    frames = spark.createDataFrame(qrels), spark.createDataFrame(run)
    before = cached(spark)
    assert refusal(lambda: spark_lexirecall.evaluate(TSE, *frames, buckets=1)) == wanted
    of_two = refusal(lambda: irl.compare(qrels, {"a": run, "b": run}))
    assert (
        refusal(
            lambda: spark_lexirecall.compare(
                frames[0], {"a": frames[1], "b": frames[1]}, buckets=1
            )
        )
        == of_two
    )
    assert cached(spark) == before


class Unserved(Measure):  # type: ignore[misc]
    """A measure that no provider knows."""

    NAME = __name__ = "Unserved"


def test_what_no_worker_needs_to_see_is_refused_before_anything_runs(
    spark: SparkSession,
) -> None:
    ran = spark.sparkContext.accumulator(0)
    run, qrels = spark.createDataFrame(SMALL_RUN), spark.createDataFrame(SMALL_QRELS)
    seen = F.udf(lambda score: ran.add(1) or score, "double")
    watched = run.withColumn("score", seen("score"))
    evaluate, compare = spark_lexirecall.evaluate, spark_lexirecall.compare
    two = {"a": watched, "b": watched}
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: evaluate("Nope", qrels, watched), "'Nope'"),
        (lambda: evaluate({"query_id": TSE}, qrels, watched), "'query_id'"),
        (
            lambda: evaluate(TSE, qrels, watched, buckets=0),
            "evaluate: buckets must be an integer of at least 1, not 0",
        ),
        (
            lambda: evaluate(TSE, qrels, SMALL_RUN),
            "run of type DataFrame .* Spark DataFrame",
        ),
        (lambda: evaluate(TSE, {"q": {"d": 1}}, watched), "qrels of type dict"),
        (
            lambda: evaluate(TSE, qrels, watched.drop("score")),
            "run lacks the column 'score': it has query_id, doc_id",
        ),
        (
            lambda: evaluate(TSE, qrels.drop("relevance"), watched),
            "qrels lacks the column 'relevance'",
        ),
        (lambda: compare(qrels, [watched, watched]), "mapping of names"),
        (lambda: compare(qrels, two, "nope"), "nope"),
        (
            lambda: compare(qrels, two, "rpp(rel=0)"),
            "compare: rpp: rel must be a number above 0, not 0",
        ),
        (
            lambda: compare(qrels, two, buckets=0),
            "compare: buckets must be an integer of at least 1, not 0",
        ),
        (lambda: evaluate(Unserved(), qrels, watched), "Unsupported measures"),
        (lambda: compare(qrels, two, Unserved()), "Unsupported measures"),
    ]
    for work, message in cases:
        assert re.search(message, refusal(work))
    assert ran.value == 0


# -- documentation ---------------------------------------------------------------------------------


@pytest.mark.parametrize("function", EXAMPLES, ids=lambda function: function.__name__)
def test_the_examples_run(function: Any, spark: SparkSession) -> None:
    code = textwrap.dedent(inspect.getdoc(function).split("Example::\n\n")[1])  # type: ignore[union-attr]
    *lines, last = code.strip().splitlines()
    names = {"spark": spark, function.__name__: function}
    exec("\n".join(lines), names)
    call, expected = last.split("  # ")
    assert expected == repr(eval(call, names))


# -- what is warned of, and read, as on one machine ------------------------------------------------

TINY_QRELS = pd.DataFrame(
    {"query_id": ["q1", "q2"], "doc_id": ["a", "b"], "relevance": [1.0, 1.0]}
)
TINY_RUN = pd.DataFrame(
    {"query_id": ["q1", "q2"], "doc_id": ["a", "b"], "score": [1.0, 1.0]}
)


def messages_of(ask: Callable[[], Any]) -> list[str]:
    """Return the warnings of a call, and the text of its error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            ask()
        except ValueError as error:
            return [str(error)]
    return sorted(str(one.message) for one in caught if one.category is UserWarning)


@pytest.mark.parametrize(
    "qrels",
    [
        TINY_QRELS.assign(relevance=[0.7, 0.2]),
        TINY_QRELS.assign(relevance=[0.7, 0.0]),
        TINY_QRELS.assign(relevance=[-1.0, 0.5]),
        pd.concat(
            [
                TINY_QRELS.assign(iteration="1", relevance=2.0),
                TINY_QRELS.assign(iteration="2"),
            ]
        ),
    ],
    ids=["fractions", "one fraction", "below 0", "several grades"],
)
def test_grades_that_do_not_suit_are_warned_of(
    spark: SparkSession, qrels: pd.DataFrame
) -> None:
    runs = {"a": TINY_RUN, "b": TINY_RUN.assign(score=[2.0, 1.0])}
    there = {name: spark.createDataFrame(run) for name, run in runs.items()}
    judged = spark.createDataFrame(qrels)
    by = ["AP", "lexirecall"]
    ours = messages_of(lambda: spark_lexirecall.compare(judged, there, by))
    assert ours == messages_of(lambda: irl.compare(qrels, runs, by))
    assert ours
    for measure in ("AP", "alpha_nDCG@5"):
        here = partial(spark_lexirecall.evaluate, measure, judged, there["a"])
        local = partial(irl.evaluate, measure, qrels, runs["a"])
        assert messages_of(here) == messages_of(local)


@pytest.mark.parametrize(
    "run",
    [
        TINY_RUN[:0],
        TINY_RUN.assign(query_id=["query-q1", "query-q2"]),
        TINY_RUN.assign(doc_id=["a.txt", "b.txt"]),
    ],
    ids=["empty", "queries", "documents"],
)
def test_runs_that_meet_nothing_are_named_as_by_compare(
    spark: SparkSession, run: pd.DataFrame
) -> None:
    types = "query_id string, doc_id string, score double"
    runs = {"a": run, "b": TINY_RUN}
    there = {name: spark.createDataFrame(one, types) for name, one in runs.items()}
    judged = spark.createDataFrame(TINY_QRELS)
    ours = messages_of(lambda: spark_lexirecall.compare(judged, there, "RR"))
    assert ours == messages_of(lambda: irl.compare(TINY_QRELS, runs, "RR"))
    local = messages_of(lambda: irl.evaluate("RR", TINY_QRELS, run))
    evaluate = partial(spark_lexirecall.evaluate, "RR", judged, there["a"])
    assert messages_of(evaluate) == local
    assert messages_of(partial(evaluate, aggregate=True)) == local


def test_ranks_that_are_no_numbers_are_named(spark: SparkSession) -> None:
    qrels = spark.createDataFrame(TINY_QRELS)
    for rank, kind in (("x", "string"), ("2", "string"), (True, "boolean")):
        run = spark.createDataFrame([("q1", "a", rank)], ["query_id", "doc_id", "rank"])
        with pytest.raises(
            ValueError,
            match=rf"^evaluate: run: the rank of document 'a' for query 'q1' is {rank!r}, not a "
            rf"finite number: the column rank is of type {kind}; cast it to int$",
        ):
            spark_lexirecall.evaluate("RR", qrels, run)
        with pytest.raises(ValueError, match=r"^compare: .*the rank of document 'a'"):
            spark_lexirecall.compare(qrels, {"a": run, "b": run}, "RR")


def test_columns_may_have_other_names_and_ranks_stand_for_scores(
    spark: SparkSession,
) -> None:
    qrels = TINY_QRELS.set_axis(["qid", "docno", "label"], axis=1)
    run = pd.DataFrame({"qid": ["q1"] * 2, "docno": ["x", "a"], "rank": [1, 2]})
    table = spark_lexirecall.evaluate(
        "RR", spark.createDataFrame(qrels), spark.createDataFrame(run)
    )
    assert {row["query_id"]: row["RR"] for row in table.collect()} == {
        "q1": 0.5,
        "q2": 0.0,
    }
