"""Benchmarks: runs on a collection, or on many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ir_lexirecall.lazy import LazyModule, exports

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ir_lexirecall.benchmark import running
    from ir_lexirecall.benchmark.inputs import CollectionsLike, RunsLike
    from ir_lexirecall.benchmark.running import BenchmarkOptions
    from ir_lexirecall.benchmark.single import Benchmark
    from ir_lexirecall.benchmark.suite import BenchmarkSuite
    from ir_lexirecall.evaluation import MeasuresLike
    from ir_lexirecall.preferences.comparison import PreferenceLike
    from ir_lexirecall.significance import SignificanceTest
else:
    running = LazyModule("ir_lexirecall.benchmark.running")
    __getattr__, __dir__ = exports(
        __name__, {"Benchmark": "ir_lexirecall.benchmark.single", "BenchmarkSuite": "ir_lexirecall.benchmark.suite"}
    )

__all__ = ["Benchmark", "BenchmarkSuite", "benchmark"]


def benchmark(
    collections: CollectionsLike,
    runs: RunsLike,
    measures: MeasuresLike | None = None,
    *,
    preference: PreferenceLike = "lexirecall",
    baseline: str | None = None,
    test: str | SignificanceTest = "sign",
    **options: Unpack[BenchmarkOptions],
) -> Benchmark | BenchmarkSuite:
    """Evaluate runs on a collection or on many: standard measures and ours side by side, and preferences between the runs.

    Args:
        collections: for one collection a data set's id, what ``load`` gave for one, or qrels in any form that ``evaluate`` takes
            (then ``measures`` are needed); for many a list of ids, or a mapping of names to any of these.
        runs: at least one run by name, each in any form that ``evaluate`` takes. Each is read once. For many collections: a
            mapping of collections to those; or a folder as SuiteEval or TIREx lay it out (``{collection}/{run}.res.gz``,
            ``{collection}/{run}/run.txt.gz``); or a function of a collection's name, called for one after the other.
        measures: as in ``evaluate``; None takes those that the collection recommends; of many, nDCG@10, AP, R@1000, TSE, LR.
        preference, baseline, test: as in ``compare``. Documents count as relevant from the collection's own threshold on (1
            where there is none).
        options: as in ``compare``; and ``missing``: ``"error"`` (default) or ``"skip"``, what to do where a collection lacks
            runs that others have. Skipped, they are left out of what is said over collections.

    Returns:
        ``Benchmark`` for one collection; ``BenchmarkSuite`` for many: tables, preferences, ``overall()``. At any time the runs of
        one collection are in memory; what stays are the values and the ranks of judged documents.

    Raises:
        ValueError: bad input; the message names the first offender.

    >>> from ir_lexirecall import demo
    >>> result = benchmark("lexirecall/demo", {"bm25": demo.run("bm25"), "ql": demo.run("ql")}, ["nDCG@10", "LR"])
    >>> result.table.round(3)
          nDCG@10     LR
    run
    bm25    0.578  0.651
    ql      0.565  0.630
    >>> result.preferences.matrix().loc["bm25", "ql"]
    np.float64(0.375)
    """
    return running.run_benchmark(collections, runs, measures, preference, baseline, test, options)
