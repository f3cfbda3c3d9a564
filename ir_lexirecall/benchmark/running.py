"""What ``benchmark`` does: from collections and runs to an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ir_lexirecall.benchmark.inputs import (
    CollectionsLike,
    RunsLike,
    named_collections,
    runs_by_collection,
    runs_in_folder,
)
from ir_lexirecall.benchmark.single import Benchmark, Settings, benchmark_collection
from ir_lexirecall.benchmark.suite import BenchmarkSuite
from ir_lexirecall.errors import check_choice, naming
from ir_lexirecall.evaluation import MeasuresLike, parse_measures
from ir_lexirecall.preferences.comparison import CompareOptions, PreferenceLike, check_baseline, parse_preferences
from ir_lexirecall.progress import progress_bar
from ir_lexirecall.runs import check_runs
from ir_lexirecall.significance import SignificanceTest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ir_lexirecall.judgments import QrelsLike


class BenchmarkOptions(CompareOptions, total=False):
    """Options of a benchmark: those of a comparison, and ``missing``."""

    missing: str


def run_benchmark(
    collections: CollectionsLike,
    runs: RunsLike,
    measures: MeasuresLike | None,
    preference: PreferenceLike,
    baseline: str | None,
    test: str | SignificanceTest,
    options: BenchmarkOptions,
) -> Benchmark | BenchmarkSuite:
    """Benchmark one collection or many; arguments as in ``benchmark``."""
    judged_only, missing = options.pop("judged_only", False), options.pop("missing", "error")
    exclude, rules = options.pop("exclude", None), options.pop("rules", True)
    allow_empty = options.pop("allow_empty", False)
    check_choice("benchmark", "missing", missing, ["error", "skip"])
    tested = SignificanceTest.coerce(test, caller="benchmark", **options)
    settings = Settings(measures, preference, baseline, tested, judged_only, exclude, rules, allow_empty)
    named = named_collections(collections)
    if named is not None:
        return _benchmark_all(named, runs, settings, missing)
    if isinstance(runs, (str, bytes)) or hasattr(runs, "__fspath__"):
        name = getattr(collections, "dataset_id", collections)
        if not isinstance(name, str):
            raise ValueError(
                "benchmark: a folder of runs needs the collection's name; give a mapping of names to qrels"
            )
        runs = runs_in_folder(runs, [name])[name]  # type: ignore[arg-type]
    return benchmark_collection(collections, runs, settings)  # type: ignore[arg-type]


_MEASURES = ("nDCG@10", "AP", "R@1000", "TSE", "LR")


def _benchmark_all(
    collections: Mapping[str, QrelsLike], runs: RunsLike, settings: Settings, missing: str
) -> BenchmarkSuite:
    """One collection after the other."""
    measures = parse_measures(list(_MEASURES) if settings.measures is None else settings.measures)
    parse_preferences("benchmark", settings.preference)
    names = list(collections)
    results: dict[str, Benchmark] = {}
    if not callable(runs):
        known = dict(runs_by_collection(runs, names))
        lacking = _lacking({name: [*map(str, of_one)] for name, of_one in known.items()}, missing)
        if settings.baseline is not None:
            check_baseline("benchmark", settings.baseline, {run: None for of_one in known.values() for run in of_one})
            _check_everywhere(settings.baseline, lacking)
    bar = progress_bar(settings.test.progress, runs_by_collection(runs, names), total=len(names), desc="collections")
    first: list[str] | None = None
    for name, of_one in bar:
        with naming(f"collection {name!r}"):
            check_runs("benchmark", of_one, 1)
            if first is None:
                first = [*map(str, of_one)]
            elif missing == "error" and callable(runs):
                _lacking({next(iter(results)): first, name: [*map(str, of_one)]}, missing)
            results[name] = benchmark_collection(collections[name], of_one, replace(settings, measures=measures))
            if not results[name].query_ids:
                raise ValueError("there are no judgments in it")
    lacking = _lacking({name: result.runs for name, result in results.items()}, missing)
    if settings.baseline is not None:
        _check_everywhere(settings.baseline, lacking)
    return BenchmarkSuite(results, settings.baseline, settings.test, lacking)


def _lacking(runs: Mapping[str, list[str]], missing: str) -> dict[str, list[str]]:
    """For each run that some collections lack, these collections."""
    everywhere = list(dict.fromkeys(run for of_one in runs.values() for run in of_one))
    lacking = {run: [name for name, of_one in runs.items() if run not in of_one] for run in everywhere}
    lacking = {run: names for run, names in lacking.items() if names}
    if lacking and missing == "error":
        run, names = next(iter(lacking.items()))
        more = f" (and {len(lacking) - 1} more runs like it)" if len(lacking) > 1 else ""
        raise ValueError(
            f"benchmark: collection {names[0]!r} lacks run {run!r}, which others have{more}; add it, or give missing='skip'"
        )
    return lacking


def _check_everywhere(baseline: str, lacking: Mapping[str, list[str]]) -> None:
    if baseline in lacking:
        raise ValueError(f"benchmark: the baseline {baseline!r} is missing for collection {lacking[baseline][0]!r}")
