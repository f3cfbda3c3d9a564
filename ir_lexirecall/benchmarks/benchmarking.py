"""``benchmark``: from collections and runs to a ``Benchmark``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ir_lexirecall._util.errors import and_more, check_choice, entry, naming
from ir_lexirecall._util.progress import progress_bar
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
    CriteriaLike,
    compare_runs,
    comparison_of_values,
    parse_criteria,
    refuse_costs,
    refuse_reading_of_values,
    wanted_values,
    with_predictions,
)
from ir_lexirecall.data.collection import Collection
from ir_lexirecall.data.judgments import QrelsLike, load_collection
from ir_lexirecall.evaluation.scored_runs import run_name
from ir_lexirecall.io.files import named_files
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.io.repeated_values import Repeats, RepeatsLike
from ir_lexirecall.io.values import ValuesLike, read_collections
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
    allow_empty: bool = False,
    missing: str = "error",
    repeats: RepeatsLike | None = None,
) -> Benchmark:
    """Compare runs on many collections: on each as ``compare`` does, and over all of them.

    Args:
        collections: a mapping of names to qrels in any form that ``evaluate`` takes, a list of data
            sets' ids, or a single collection: its id, what ``load`` gave, or qrels. Or, without
            ``runs``, a folder with a folder for each collection, of its runs and its qrels
            (``qrels.*``; without, its name is an id); or a TOML file with ``[collections]`` (name =
            id or qrels file), ``runs`` and what is not given here: ``by``, ``baseline``,
            ``margin``, ``test``, ``correction``, ``alpha``, ... (the name of a ``test`` given here
            changes the name alone; a ``SignificanceTest`` all of it but ``cluster``).
        runs: a mapping of collections to runs by name, each in any form that ``evaluate`` takes and
            read once (of a single collection: the runs by name); or a folder as SuiteEval or TIREx
            lay it out (``{collection}/{run}.res.gz``, ``{collection}/{run}/run.txt.gz``); or a
            function of a collection's name, called for one after the other.
        by: criteria, as in ``compare``; by default nDCG@10, AP, R@1000, LR, TSE and the preference
            lexirecall; of a single collection the measures that it recommends, and lexirecall; of
            values all measures but counts.
        values: instead of ``collections`` and ``runs``: values per query that something else
            computed, as ``io.values.read_collections`` takes them (a mapping of collections, a
            table with a column ``collection``, a folder with a folder for each); or a
            leaderboard's, a value per task and run, of which inference is ``over="collections"``
            only.
        smaller_is_better: measures of ``values`` of which the smaller value is the better one, as
            in ``compare``.
        query, run, where: how to read a table of ``values``, as in ``compare``.
        baseline, margin, test, allow_empty: as in ``compare``.
        predicted: judgments by a program of all queries, as in ``compare``, by collection; of those
            that are named (of values, of every collection, in the form of ``values``). They sharpen
            what is said of each collection; over collections, people's queries alone count.
        groups: the group of each query, as in ``compare``; a table or file with a further column
            ``collection`` where ids of queries are not enough; or a mapping of collections to
            these. ``Benchmark.group_table`` then compares the runs in each group of each
            collection; where groups are the units of tests, they are resampled over collections,
            too.
        missing: ``"error"``, or ``"skip"``: leave runs that some collections lack out of what is
            said over collections (of values also the queries that lack a value).

        repeats: what several ``values`` of a run for one query are, as in ``compare``; here
            ``"samples"``, which are averaged. Compare each collection by itself for ``"seeds"``: a
            seed that moves all collections at once is not allowed for over collections.

    Returns:
        ``Benchmark``, a mapping of names to ``Comparison``; one of a single collection has one. At
        any time the runs of one collection are in memory; what stays are the values and the ranks
        of judged documents.

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
    if values is None and runs is None and is_source(collections):
        source = read_source(collections)
        given: dict[str, Any] = {
            "by": by,
            "baseline": baseline,
            "margin": margin,
            "test": test,
            "groups": groups,
        }
        given |= {
            "predicted": predicted,
            "smaller_is_better": smaller_is_better,
            "query": query,
            "run": run,
            "where": where,
            "allow_empty": allow_empty or None,
        }
        given |= {"missing": None if missing == "error" else missing, "repeats": repeats}
        asked = source.arguments | {
            name: value for name, value in given.items() if value is not None
        }
        if test is not None:
            asked["test"] = source.test_with(test)
        return benchmark(source.qrels, source.runs, asked.pop("by", STANDARD), **asked)
    tested = SignificanceTest.by_name(test)
    design = Design(run_name(baseline), margin, tested, predicted, groups, allow_empty, least=1)
    results: dict[str, Comparison] = {}
    if values is not None:
        if collections is not None or runs is not None:
            raise ValueError("give collections and runs, or values, not both")
        repeated = _checked_repeats(repeats)
        wanted, reading = wanted_values(by, smaller_is_better, missing, query, run, where, repeated)
        tables = read_collections(values, **reading)
        lacking = _lacking(
            {name: table.runs for name, table in tables.items()}, missing, design.baseline
        )
        if groups is not None and all(table.per_task for table in tables.values()):
            raise ValueError(
                "a value per task has no queries in groups; compare(values=..., groups=...) takes groups of tasks"
            )
        by_collection = groups_by_collection(groups, list(tables))
        for name, table in tables.items():
            with naming("" if len(tables) == 1 else f"collection {name!r}"):
                origin = values.get(name) if isinstance(values, Mapping) else values
                here = replace(design, groups=by_collection[name], collection=name)
                results[name] = comparison_of_values(table, wanted, here, origin)
        first, *others = results.values()
        for name, result in zip(list(results)[1:], others, strict=True):
            if lost := [one for one in first.criteria if one not in result.criteria]:
                raise ValueError(
                    f"collection {name!r} has no values of {lost[0]}, which others have; name those to compare with by="
                )
        if predicted is not None:
            names = first.criteria if wanted is None else wanted
            options: dict[str, Any] = {
                "smaller_is_better": smaller_is_better,
                "query": query,
                "run": run,
                "where": where,
                "groups": groups,
                "missing": missing,
                "repeats": repeats,
            }
            every = benchmark(values=predicted, by=names, test=test, **options)
            if lost := [name for name in results if name not in every]:
                raise ValueError(
                    f"predicted holds no values of collection {lost[0]!r}{and_more(len(lost) - 1)}"
                )
            results = {
                name: with_predictions(result, every[name]) for name, result in results.items()
            }
        return Benchmark(results, design.baseline, design.test, lacking)
    if collections is None or runs is None:
        raise ValueError("give collections and runs, or values=")
    refuse_costs(smaller_is_better)
    refuse_reading_of_values(query=query, run=run, where=where, repeats=repeats)
    named, runs = named_collections(collections, runs)
    single = len(named) == 1
    criteria = None if by is None and single else parse_criteria(STANDARD if by is None else by)
    if not callable(runs):
        known = {
            name: [*map(str, of_one)] for name, of_one in runs_by_collection(runs, list(named))
        }
        _lacking(known, missing, design.baseline)
    grouped = groups_by_collection(groups, list(named))
    by_program = predicted_by_collection(predicted, list(named))
    parts = runs_by_collection(runs, list(named))
    for name, of_one in progress_bar(
        design.test.progress, parts, total=len(named), desc="collections"
    ):
        with naming("" if single else f"collection {name!r}"):
            qrels = named[name]
            if isinstance(qrels, str) and not named_files(qrels):
                qrels = load_collection(qrels)
            if (by_these := criteria) is None:
                if not isinstance(qrels, Collection):
                    raise ValueError(
                        "name the measures (by=...), or give a collection's id, which recommends some"
                    )
                by_these = parse_criteria([*qrels.recommended(), "lexirecall"])
            here = replace(
                design, predicted=by_program.get(name), groups=grouped[name], collection=name
            )
            if design.baseline not in [*map(str, of_one)]:
                here = replace(here, baseline=None, margin=None)
            results[name] = compare_runs(qrels, of_one, by_these, here)
            if not results[name].query_ids:
                raise ValueError("there are no judgments in it")
        if missing == "error":
            _lacking({name: result.runs for name, result in results.items()}, missing)
    lacking = _lacking(
        {name: result.runs for name, result in results.items()}, missing, design.baseline
    )
    return Benchmark(results, design.baseline, design.test, lacking)


def _checked_repeats(repeats: RepeatsLike | None) -> Repeats | None:
    """Return what repeats of values are.

    Raises:
        ValueError: they are seeds, which are not allowed for over collections.
    """
    found = Repeats.from_argument(repeats, None)
    if found is not None and found.kind == "seeds":
        raise ValueError(
            "a benchmark does not allow for seeds that move all collections at once; give "
            "repeats='samples', or compare each collection with repeats='seeds'"
        )
    return found


def _lacking(
    runs: Mapping[str, list[str]], missing: str, baseline: str | None = None
) -> dict[str, list[str]]:
    """For each run that some collections lack, these collections; refused where the baseline is none of the runs, or among these."""
    everywhere = list(dict.fromkeys(run for of_one in runs.values() for run in of_one))
    lacking = {
        run: [name for name, of_one in runs.items() if run not in of_one] for run in everywhere
    }
    lacking = {run: names for run, names in lacking.items() if names}
    if lacking and missing == "error":
        run, names = next(iter(lacking.items()))
        more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
        raise ValueError(
            f"collection {names[0]!r} lacks run {run!r}, which others have{more}; add it, or give missing='skip'"
        )
    if baseline is not None:
        check_choice("baseline", baseline, dict.fromkeys(everywhere))
        if baseline in lacking:
            raise ValueError(
                f"the baseline {baseline!r} is missing for collection {lacking[baseline][0]!r}"
            )
    return lacking
