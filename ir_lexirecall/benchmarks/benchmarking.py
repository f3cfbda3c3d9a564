"""``benchmark``: from collections and runs to a ``Benchmark``."""

from __future__ import annotations

from collections.abc import Mapping

from ir_lexirecall._util.errors import check_choice, entry, naming
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall.benchmarks.result import Benchmark
from ir_lexirecall.benchmarks.sources import (
    CollectionsLike,
    RunsLike,
    groups_by_collection,
    named_collections,
    runs_by_collection,
)
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.comparing import (
    CriteriaLike,
    check_groups,
    coerce_test,
    compare_runs,
    groups_of,
    parse_criteria,
    without_column,
)
from ir_lexirecall.comparison.margins import MarginLike
from ir_lexirecall.comparison.of_values import check_needs_values_only, columns_of, comparison_of_values
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import ExcludeLike, Judgments, QrelsLike, load_collection
from ir_lexirecall.evaluation.scored_runs import run_name
from ir_lexirecall.io.columns import is_file
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.io.values import ValuesLike, read_collections
from ir_lexirecall.significance import SignificanceTest

STANDARD = ("nDCG@10", "AP", "R@1000", "TSE", "LR", "lexirecall")
"""What many collections are compared by where nothing else is named."""


@entry
def benchmark(
    collections: CollectionsLike | None = None,
    runs: RunsLike | None = None,
    by: CriteriaLike | None = None,
    *,
    values: ValuesLike | None = None,
    baseline: str | int | None = None,
    test: str | SignificanceTest | None = None,
    correction: str | None = "holm",
    alpha: float = 0.05,
    margin: MarginLike | None = None,
    rel: float | None = None,
    cutoff: int | None = None,
    queries: str = "all",
    groups: GroupsLike | None = None,
    cluster: bool = False,
    judged_only: bool = False,
    exclude: ExcludeLike | None = None,
    rules: bool = True,
    allow_empty: bool = False,
    missing: str = "error",
    n_resamples: int = 10_000,
    seed: int = 0,
    progress: bool | None = None,
) -> Benchmark:
    """Compare runs on many collections: on each as ``compare`` does, and over all of them.

    Args:
        collections: a mapping of names to qrels in any form that ``evaluate`` takes, a list of data sets' ids, or a single
            collection: its id, what ``load`` gave, or qrels.
        runs: a mapping of collections to runs by name, each in any form that ``evaluate`` takes and read once (of a single
            collection: the runs by name); or a folder as SuiteEval or TIREx lay it out (``{collection}/{run}.res.gz``,
            ``{collection}/{run}/run.txt.gz``); or a function of a collection's name, called for one after the other.
        by: criteria, as in ``compare``; by default nDCG@10, AP, R@1000, TSE, LR and the preference lexirecall; of a single
            collection the measures that it recommends, and lexirecall; of values all measures but counts.
        values: instead of ``collections`` and ``runs``: values per query that something else computed, as
            ``io.values.read_collections`` takes them (a mapping of collections, a table with a column ``collection``, a folder
            with a folder for each); or a leaderboard's, a value per task and run, of which inference is
            ``over="collections"`` only.
        baseline, test, correction, alpha, margin, rel, cutoff, queries, judged_only, exclude, rules, allow_empty: as in ``compare``.
        groups: the group of each query, as in ``compare``; a table or file with a further column ``collection`` where ids of
            queries are not enough; or a mapping of collections to these. ``Benchmark.group_table`` then compares the runs in
            each group of each collection.
        cluster: as in ``compare``; over collections, too, groups are resampled instead of queries.
        missing: ``"error"``, or ``"skip"``: leave runs that some collections lack out of what is said over collections (of
            values also the queries that lack a value).
        n_resamples, seed, progress: as in ``compare``.

    Returns:
        ``Benchmark``, a mapping of names to ``Comparison``; one of a single collection has one. At any time the runs of one
        collection are in memory; what stays are the values and the ranks of judged documents.

    Raises:
        ValueError: bad input; the message names the collection and the first offender.

    >>> from ir_lexirecall import demo
    >>> result = benchmark("lexirecall/demo", {"bm25": demo.run("bm25"), "ql": demo.run("ql")}, ["nDCG@10", "LR"])
    >>> result["lexirecall/demo"].means()[["criterion", "run", "mean"]].round(3)
      criterion   run   mean
    0   nDCG@10  bm25  0.578
    1   nDCG@10    ql  0.565
    2        LR  bm25  0.651
    3        LR    ql  0.630
    """
    check_choice("missing", missing, ["error", "skip"])
    baseline = run_name(baseline)
    tested = coerce_test(test, correction, alpha, n_resamples, seed, progress)
    check_groups(tested, groups, cluster)
    if values is not None:
        if collections is not None or runs is not None:
            raise ValueError("give collections and runs, or values, not both")
        check_needs_values_only(
            rel=rel, cutoff=cutoff, queries=queries != "all", judged_only=judged_only, exclude=exclude is not None
        )
        return _of_values(values, columns_of(by), baseline, tested, margin, missing, groups, cluster)
    if collections is None or runs is None:
        raise ValueError("give collections and runs, or values=")
    named, runs = named_collections(collections, runs)
    single = len(named) == 1
    criteria = None if by is None and single else parse_criteria(STANDARD if by is None else by)
    if not callable(runs):
        known = {name: [*map(str, of_one)] for name, of_one in runs_by_collection(runs, list(named))}
        _check_baseline(baseline, known, _lacking(known, missing))
    grouped = groups_by_collection(groups, list(named))
    results: dict[str, Comparison] = {}
    bar = progress_bar(progress, runs_by_collection(runs, list(named)), total=len(named), desc="collections")
    for name, of_one in bar:
        with naming("" if single else f"collection {name!r}"):
            found = _found(named[name])
            with_baseline = baseline is not None and baseline in map(str, of_one)
            judgments = Judgments.from_qrels(found, exclude, rules=rules)
            results[name] = compare_runs(
                judgments,
                of_one,
                _recommended(found) if criteria is None else criteria,
                baseline=baseline if with_baseline else None,
                test=tested,
                margin=margin if with_baseline else None,
                rel=rel,
                cutoff=cutoff,
                queries=queries,
                groups=groups_of(grouped[name], judgments.query_ids, found, name),
                cluster=cluster,
                judged_only=judged_only,
                allow_empty=allow_empty,
                least=1,
            )
            if not results[name].query_ids:
                raise ValueError("there are no judgments in it")
        if missing == "error":
            _lacking({name: result.runs for name, result in results.items()}, missing)
    lacking = _lacking({name: result.runs for name, result in results.items()}, missing)
    _check_baseline(baseline, {name: result.runs for name, result in results.items()}, lacking)
    return Benchmark(results, baseline, tested, lacking)


def _of_values(
    values: ValuesLike,
    wanted: Mapping[str, str] | None,
    baseline: str | None,
    test: SignificanceTest,
    margin: MarginLike | None,
    missing: str,
    groups: GroupsLike | None,
    cluster: bool,
) -> Benchmark:
    tables = read_collections(values, measures=wanted and wanted.values(), missing=missing)
    known = {name: table.runs for name, table in tables.items()}
    lacking = _lacking(known, missing)
    _check_baseline(baseline, known, lacking)
    if groups is not None and all(table.per_task for table in tables.values()):
        raise ValueError(
            "a value per task has no queries in groups; compare(values=..., groups=...) takes groups of tasks"
        )
    by_collection = groups_by_collection(groups, list(tables))
    results = {}
    for name, table in tables.items():
        with naming("" if len(tables) == 1 else f"collection {name!r}"):
            source = values.get(name) if isinstance(values, Mapping) else values
            results[name] = comparison_of_values(
                without_column(table, groups),
                wanted,
                baseline=baseline,
                test=test,
                margin=margin,
                groups=groups_of(by_collection[name], table.query_ids, source, name),
                cluster=cluster,
                least=1,
            )
    first, *others = results.values()
    for name, result in zip(list(results)[1:], others, strict=True):
        if lost := [measure for measure in first.criteria if measure not in result.criteria]:
            raise ValueError(
                f"collection {name!r} has no values of {lost[0]}, which others have; name those to compare with by="
            )
    return Benchmark(results, baseline, test, lacking)


def _found(collection: QrelsLike) -> QrelsLike:
    """A collection by its id; qrels pass through."""
    return load_collection(collection) if isinstance(collection, str) and not is_file(collection) else collection


def _recommended(found: QrelsLike) -> Mapping[str, object]:
    if not isinstance(found, Collection):
        raise ValueError("name the measures (by=...), or give a collection's id, which recommends some")
    return parse_criteria([*found.recommended(), "lexirecall"])


def _lacking(runs: Mapping[str, list[str]], missing: str) -> dict[str, list[str]]:
    """For each run that some collections lack, these collections."""
    everywhere = list(dict.fromkeys(run for of_one in runs.values() for run in of_one))
    lacking = {run: [name for name, of_one in runs.items() if run not in of_one] for run in everywhere}
    lacking = {run: names for run, names in lacking.items() if names}
    if lacking and missing == "error":
        run, names = next(iter(lacking.items()))
        more = f" (and {len(lacking) - 1} more runs like it)" if len(lacking) > 1 else ""
        raise ValueError(
            f"collection {names[0]!r} lacks run {run!r}, which others have{more}; add it, or give missing='skip'"
        )
    return lacking


def _check_baseline(baseline: str | None, runs: Mapping[str, list[str]], lacking: Mapping[str, list[str]]) -> None:
    if baseline is None:
        return
    check_choice("baseline", baseline, dict.fromkeys(run for of_one in runs.values() for run in of_one))
    if baseline in lacking:
        raise ValueError(f"the baseline {baseline!r} is missing for collection {lacking[baseline][0]!r}")
