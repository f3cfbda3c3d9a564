"""``benchmark``: from collections and runs to a ``Benchmark``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ir_lexirecall._util.errors import and_more, check_choice, concerning, entry
from ir_lexirecall._util.progress import progress_bar
from ir_lexirecall._util.selecting import of_type, without, without_keys
from ir_lexirecall.benchmarks.result import Benchmark
from ir_lexirecall.benchmarks.sources import (
    CollectionsLike,
    RunsLike,
    groups_by_collection,
    is_source,
    named_collections,
    predicted_by_collection,
    read_source,
    runs_by_collection,
)
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.compared import Design, MarginLike
from ir_lexirecall.comparison.comparing import (
    Criteria,
    CriteriaLike,
    Wanted,
    compare_repeated,
    compare_runs,
    comparison_of_values,
    parse_criteria,
    refuse_reading_of_values,
    wanted_by_name,
    wanted_values,
    with_predictions,
)
from ir_lexirecall.comparison.criteria import MeasureCriterion
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import QrelsLike, load_collection
from ir_lexirecall.evaluation.scored_runs import run_name
from ir_lexirecall.io.files import named_files
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.io.repeated_values import Repeats, RepeatsLike
from ir_lexirecall.io.values import ValuesLike, ValueTable, read_collections
from ir_lexirecall.preferences.naming import Preference
from ir_lexirecall.significance import SignificanceTest

STANDARD = ("nDCG@10", "AP", "R@1000", "LR", "TSE", "lexirecall")
"""What many collections are compared by where nothing else is named."""


@entry
def benchmark(
    collections: CollectionsLike | None = None,
    runs: RunsLike | None = None,
    by: CriteriaLike | None = None,
    *,
    baseline: str | int | None = None,
    margin: MarginLike | None = None,
    test: str | SignificanceTest | None = None,
    values: ValuesLike | None = None,
    smaller_is_better: str | Iterable[str] | None = None,
    query: str | None = None,
    run: str | None = None,
    where: Mapping[str, Any] | None = None,
    predicted: QrelsLike | ValuesLike | Mapping[str, Any] | None = None,
    groups: GroupsLike | None = None,
    allow_empty: bool | None = None,
    missing: str | None = None,
    repeats: RepeatsLike | None = None,
    deterministic: str | Iterable[str] | None = None,
) -> Benchmark:
    """Compare runs on many collections: on each as ``compare`` does, and over all of them.

    Args:
        collections: a mapping of names to qrels in any form that ``evaluate`` takes, a list of data
            sets' ids, or a single collection: its id, the result of ``load``, or qrels. Or, without
            ``runs``, a folder that has a folder for each collection, with its runs and its qrels
            (``qrels.*``; without that file, the folder's name is the collection's id); or a TOML
            file with ``[collections]`` (name = id or qrels file), ``runs``, and arguments that are
            not given here: ``by``, ``baseline``, ``margin``, ``test``, ``correction``, ``alpha``,
            ... (a ``test`` given here as a string replaces only the name of the file's test; a
            ``SignificanceTest`` replaces everything except ``cluster``).
        runs: a mapping of collections to runs by name, each in any form that ``evaluate`` takes and
            read once (for a single collection, the runs by name); or a folder with the layout of
            SuiteEval or TIREx (``{collection}/{run}.res.gz``, ``{collection}/{run}/run.txt.gz``);
            or a function that returns the runs for a collection's name and is called for one
            collection after the other.
        by: criteria, as in ``compare``; by default nDCG@10, AP, R@1000, LR, TSE and the preference
            lexirecall; for a single data set the measures that it recommends, and lexirecall; with
            ``values`` all measures except counts.
        values: instead of ``collections`` and ``runs``: values per query that another program
            computed, in a form of ``io.values.read_collections`` (a mapping of collections, a
            table with a column ``collection``, a folder with a folder for each); or a leaderboard,
            with a value per task and run, for which inference is ``over="collections"`` only.
        smaller_is_better: measures of ``values`` whose smaller value is better, as in ``compare``.
        query: the column of queries in a table of ``values``, as in ``compare``.
        run: the column of runs, as in ``compare``.
        where: the rows to take, as in ``compare``.
        baseline: as in ``compare``.
        margin: as in ``compare``.
        test: as in ``compare``.
        allow_empty: as in ``compare``.
        predicted: a mapping of collections to a program's judgments of all their queries, as in
            ``compare``; collections may be left out. With ``values``: the program's values on all
            collections, in the form of ``values``. They count in the comparison of each collection;
            statements over collections use people's queries alone.
        groups: the group of each query, as in ``compare``; a table or file with a further column
            ``collection`` if collections share ids of queries; or a mapping of collections to
            these. ``Benchmark.group_table`` then compares the runs in each group of each
            collection. If groups are the units of tests, they are resampled over collections, too.
        missing: ``"error"`` (the default), or ``"skip"``: leave runs that some collections lack out
            of statements over collections (with ``values`` also queries that lack a value). Runs of
            a leaderboard, with a value per task and run, stay: a pair is compared on the tasks that
            both have (`Benchmark.overall`).
        repeats: the kind of repeats of a system, in ``values`` or as a list of rankings under one
            name, as in ``compare``. With ``"seeds"``, a run has the same seeds on all collections
            (rankings in the same order), and statements over collections allow for seeds that shift
            all collections together. This needs measures; preferences are refused.
        deterministic: as in ``compare``.

    Returns:
        ``Benchmark``, a mapping of names of collections to ``Comparison``. The runs of only one
        collection at a time are in memory; values and the ranks of judged documents stay.

    Raises:
        ValueError: bad input; the message names the collection and the first offender.

    >>> from ir_lexirecall import demo
    >>> runs = {"bm25": demo.run("bm25"), "ql": demo.run("ql")}
    >>> result = benchmark("lexirecall/demo", runs, ["nDCG@10", "LR"])
    >>> result["lexirecall/demo"].means()[["criterion", "run", "mean"]].round(3)
      criterion   run   mean
    0   nDCG@10  bm25  0.578
    1   nDCG@10    ql  0.565
    2        LR  bm25  0.651
    3        LR    ql  0.630
    """
    if missing is not None:
        check_choice("missing", missing, ["error", "skip"])
    options: dict[str, Any] = {
        "by": by,
        "baseline": baseline,
        "margin": margin,
        "test": test,
        "smaller_is_better": smaller_is_better,
        "groups": groups,
        "allow_empty": allow_empty,
        "missing": missing,
    }
    if values is None and runs is None and is_source(collections):
        source = read_source(collections)
        collections, runs = source.qrels, source.runs
        options = source.options_with(options)
        if options["by"] is None:
            options["by"] = STANDARD
    by, costs = options["by"], options["smaller_is_better"]
    missing = options["missing"] or "error"
    design = Design(
        run_name(options["baseline"]),
        options["margin"],
        SignificanceTest.by_name(options["test"]),
        predicted,
        options["groups"],
        bool(options["allow_empty"]),
        least=1,
    )
    if values is not None:
        if collections is not None or runs is not None:
            raise ValueError("give collections and runs, or values, not both")
        repeated = Repeats.from_argument(repeats, deterministic)
        wanted = wanted_values(by, costs, missing, query, run, where, repeated)
        result = _benchmark_of_values(values, wanted, design, missing)
        if predicted is None:
            return result
        return _with_predictions(result, predicted, wanted, design, missing)
    if collections is None or runs is None:
        raise ValueError("give collections and runs, or values=")
    refuse_reading_of_values(costs, query=query, run=run, where=where)
    repeated = Repeats.from_argument(repeats, deterministic)
    return _benchmark_of_runs(collections, runs, by, design, missing, repeated)


# -- values ----------------------------------------------------------------------------------------


def _benchmark_of_values(
    values: ValuesLike, wanted: Wanted, design: Design, missing: str
) -> Benchmark:
    """Return the benchmark of values from people's judgments; see ``benchmark``."""
    named, reading = wanted
    tables = read_collections(values, **reading)
    per_task = all(table.per_task for table in tables.values())
    missing_of_run = runs_that_lack_collections(
        {name: table.runs for name, table in tables.items()},
        missing,
        design.baseline,
        must_have_all=not per_task,
    )
    if design.groups is not None and per_task:
        raise ValueError(
            "a value per task has no queries in groups; "
            "compare(values=..., groups=...) takes groups of tasks"
        )
    groups = groups_by_collection(design.groups, list(tables))
    results: dict[str, Comparison] = {}
    for name, table in tables.items():
        with concerning("" if len(tables) == 1 else f"collection {name!r}"):
            if isinstance(values, Mapping):
                source = values.get(name)
            else:
                source = values
            of_collection = replace(
                design, groups=groups[name], predicted=None, collection=name
            )
            if per_task and design.baseline not in table.runs:
                of_collection = replace(of_collection, baseline=None, margin=None)
            results[name] = comparison_of_values(table, named, of_collection, source)
    _check_same_criteria(results)
    _check_same_seeds(tables, missing_of_run)
    results = _with_intervals_of_one_method(results)
    return Benchmark(results, design.baseline, design.test, missing_of_run)


def _with_intervals_of_one_method(
    results: Mapping[str, Comparison],
) -> dict[str, Comparison]:
    """Return comparisons whose intervals of means are by one method for each measure.

    The method for values that are all 0 or 1 counts only if they are on all collections.
    """
    has_other_values = {
        name
        for result in results.values()
        for name, criterion in of_type(result.compared.by, MeasureCriterion).items()
        if not criterion.is_binary
    }
    changed = dict(results)
    for collection, result in results.items():
        alone = {
            name: replace(criterion, is_binary_in_call=False)
            for name, criterion in of_type(result.compared.by, MeasureCriterion).items()
            if name in has_other_values and criterion.is_binary
        }
        if alone:
            criteria = {**result.compared.by, **alone}
            changed[collection] = Comparison(replace(result.compared, by=criteria))
    return changed


def _check_same_seeds(
    tables: Mapping[str, ValueTable], lacking: Mapping[str, object]
) -> None:
    """Check that a run that all collections have was run with the same seeds on each of them.

    Raises:
        ValueError: a run has other seeds on another collection, or a collection has a single
            query, so that nothing tells of the noise.
    """
    seeds_of_run: dict[str, tuple[str, set[str]]] = {}
    for collection, table in tables.items():
        if table.repeat_kind != "seeds":
            continue
        if len(table.query_ids) < 2:
            raise ValueError(
                f"collection {collection!r} has a single query, which does not tell seeds from "
                "noise; leave it out"
            )
        for run, labels in zip(table.runs, table.repeat_labels, strict=True):
            if run in lacking:
                continue
            first, expected = seeds_of_run.setdefault(run, (collection, set(labels)))
            differing = sorted(expected ^ set(labels))
            if differing:
                raise ValueError(
                    f"run {run!r} has other seeds on collection {collection!r} than on {first!r} "
                    f"({differing[0]!r}{and_more(len(differing) - 1)} on one of them only); a "
                    "benchmark needs the same seeds on all collections, by the same names"
                )


def _check_same_criteria(results: Mapping[str, Comparison]) -> None:
    """Check that all collections have values of the criteria of the first one.

    Raises:
        ValueError: one has not.
    """
    criteria = next(iter(results.values())).criteria
    for name, result in results.items():
        absent = without(criteria, result.criteria)
        if absent:
            raise ValueError(
                f"collection {name!r} has no values of {absent[0]}, which others have; "
                "name those to compare with by="
            )


def _with_predictions(
    result: Benchmark,
    predicted: ValuesLike,
    wanted: Wanted,
    design: Design,
    missing: str,
) -> Benchmark:
    """Return a benchmark of values, each collection sharpened by values from a program's judgments.

    Args:
        result: the benchmark of values from people's judgments.
        predicted: the values from a program's judgments.
        wanted: as for ``result``.
        design: as for ``result``.
        missing: as for ``result``.

    Raises:
        ValueError: a collection has no predicted values.
    """
    by_program = _benchmark_of_values(
        predicted,
        wanted_by_name(wanted, result.criteria),
        Design(test=design.test, groups=design.groups, least=1),
        missing,
    )
    absent = without(result, by_program)
    if absent:
        more = and_more(len(absent) - 1)
        raise ValueError(
            f"predicted holds no values of collection {absent[0]!r}{more}; add them"
        )
    results = {
        name: with_predictions(one, by_program[name]) for name, one in result.items()
    }
    return replace(result, results=results)


# -- runs ------------------------------------------------------------------------------------------


def _benchmark_of_runs(
    collections: CollectionsLike,
    runs: RunsLike,
    by: CriteriaLike | None,
    design: Design,
    missing: str,
    repeated: Repeats | None,
) -> Benchmark:
    """Return the benchmark of runs; see ``benchmark``. One collection is read after the other."""
    named, runs = named_collections(collections, runs)
    is_single = len(named) == 1
    criteria = None if by is None else parse_criteria(by)
    if criteria is not None:
        _check_preferences(criteria, repeated)
    if not callable(runs):  # fails before any run is read
        names = {
            name: [*map(str, part)]
            for name, part in runs_by_collection(runs, list(named))
        }
        runs_that_lack_collections(names, missing, design.baseline)
    groups = groups_by_collection(design.groups, list(named))
    predicted = predicted_by_collection(design.predicted, list(named))
    parts = runs_by_collection(runs, list(named))
    results: dict[str, Comparison] = {}
    for name, of_collection in progress_bar(
        design.test.progress, parts, total=len(named), desc="collections"
    ):
        with concerning("" if is_single else f"collection {name!r}"):
            qrels = named[name]
            if isinstance(qrels, str) and not named_files(qrels):
                qrels = load_collection(qrels)
            by_name = criteria or _default_criteria(
                qrels, repeated, is_single=is_single
            )
            here = replace(
                design,
                predicted=predicted.get(name),
                groups=groups[name],
                collection=name,
            )
            results[name] = _comparison_on(
                qrels, of_collection, by_name, here, repeated
            )
        if missing == "error":
            runs_that_lack_collections(_runs_of(results), missing)
    missing_of_run = runs_that_lack_collections(
        _runs_of(results), missing, design.baseline
    )
    if repeated is not None:
        _check_repeats(repeated, results, missing_of_run)
    results = _with_intervals_of_one_method(results)
    return Benchmark(results, design.baseline, design.test, missing_of_run)


def _comparison_on(
    qrels: QrelsLike,
    runs: Mapping[str, Any],
    by: Criteria,
    design: Design,
    repeated: Repeats | None,
) -> Comparison:
    """Compare the runs on one collection, against the baseline if it is one of them.

    Raises:
        ValueError: there are no judgments.
    """
    names = [*map(str, runs)]
    if design.baseline not in names:
        design = replace(design, baseline=None, margin=None)
    if repeated is None:
        result = compare_runs(qrels, runs, by, design)
    else:
        result = compare_repeated(qrels, runs, by, design, repeated.of_runs(names))
    if not result.query_ids:
        raise ValueError("there are no judgments in it; add some")
    return result


def _check_preferences(by: Criteria, repeated: Repeats | None) -> None:
    """Check that runs with seeds are compared by measures only.

    What seeds add to the variance of preferences over collections is not known.

    Raises:
        ValueError: a criterion is a preference, and runs have seeds.
    """
    preferences = list(of_type(by, Preference))
    if preferences and repeated is not None and repeated.kind == "seeds":
        raise ValueError(
            f"runs with seeds are not compared by preferences ({preferences[0]}) over "
            "collections; name measures, or compare each collection with repeats='seeds'"
        )


def _check_repeats(
    repeated: Repeats, results: Mapping[str, Comparison], lacking: Mapping[str, object]
) -> None:
    """Check that runs without seeds are there, and others have the same seeds on all collections.

    Raises:
        ValueError: a run that is called deterministic is on no collection, or seeds differ.
    """
    runs = list(dict.fromkeys(run for one in results.values() for run in one.runs))
    for name in repeated.deterministic:
        check_choice("deterministic", name, runs)
    tables = {name: one.compared.given for name, one in results.items()}
    _check_same_seeds({name: table for name, table in tables.items() if table}, lacking)


def _default_criteria(
    qrels: QrelsLike, repeated: Repeats | None, *, is_single: bool
) -> Criteria:
    """Return the criteria if none are named: those a single data set recommends, or standard.

    Runs with seeds are compared by the measures among them.
    """
    names: Sequence[str] = STANDARD
    if is_single and isinstance(qrels, Collection):
        names = [*qrels.recommended(), "lexirecall"]
    criteria = parse_criteria(names)
    if repeated is not None and repeated.kind == "seeds":
        return without_keys(criteria, of_type(criteria, Preference))
    return criteria


def _runs_of(results: Mapping[str, Comparison]) -> dict[str, list[str]]:
    """Return the names of the runs of each collection."""
    return {name: result.runs for name, result in results.items()}


def _check_none_lacks(lacking: Mapping[str, list[str]]) -> None:
    """Raise if a run lacks a collection; ``lacking``: the collections it lacks, by run."""
    if not lacking:
        return
    run, names = next(iter(lacking.items()))
    more = ""
    if len(lacking) > 1:
        more = f" (and {len(lacking) - 1} more)"
    raise ValueError(
        f"collection {names[0]!r} lacks run {run!r}, which others have{more}; "
        "add it, or give missing='skip'"
    )


def runs_that_lack_collections(
    runs: Mapping[str, list[str]],
    missing: str,
    baseline: str | None = None,
    *,
    must_have_all: bool = True,
) -> dict[str, list[str]]:
    """Return the collections that a run lacks, for each run that lacks some.

    Args:
        runs: names of the runs of each collection.
        missing: ``"error"`` to allow no such run, or ``"skip"``.
        baseline: the run that others are compared with.
        must_have_all: whether the baseline must lack none.

    Raises:
        ValueError: a run lacks a collection, or the baseline does or is none of the runs.
    """
    everywhere = list(dict.fromkeys(run for of_one in runs.values() for run in of_one))
    missing_of_run = {}
    for run in everywhere:
        names = [name for name, of_one in runs.items() if run not in of_one]
        if names:
            missing_of_run[run] = names
    if missing == "error":
        _check_none_lacks(missing_of_run)
    if baseline is not None:
        check_choice("baseline", baseline, dict.fromkeys(everywhere))
        if must_have_all and baseline in missing_of_run:
            first = missing_of_run[baseline][0]
            raise ValueError(
                f"the baseline {baseline!r} is missing for collection {first!r}; add it, "
                "leave out the collection, or name another baseline"
            )
    return missing_of_run
