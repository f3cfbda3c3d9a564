"""``compare``: from qrels and runs to a ``Comparison``."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.arrays import Floats, Ints
from ir_lexirecall._util.errors import entry, naming, shown_names
from ir_lexirecall._util.selecting import index_of, of_type, without, without_keys
from ir_lexirecall.comparison.compared import ComparedRuns, Design, MarginLike
from ir_lexirecall.comparison.criteria import (
    Criterion,
    ExactOrder,
    MeasureCriterion,
    PreferenceCriterion,
)
from ir_lexirecall.comparison.repeated_preferences import RepeatedPreferences
from ir_lexirecall.comparison.result import Comparison
from ir_lexirecall.comparison.shared_queries import QueriesWithResults
from ir_lexirecall.comparison.verdicts import all_pairs
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import Judgments, QrelsLike
from ir_lexirecall.evaluation.scored_runs import ScoredRuns, run_name
from ir_lexirecall.io.frames import table_of_frame
from ir_lexirecall.io.groups import GroupsLike
from ir_lexirecall.io.measure_names import known_of, range_of
from ir_lexirecall.io.repeated_values import (
    CHOICES,
    RepeatLabels,
    Repeats,
    RepeatsLike,
    several_runs,
)
from ir_lexirecall.io.values import ValuesLike, ValueTable, read_values
from ir_lexirecall.judging.predicted import human_queries
from ir_lexirecall.measures.parsing import (
    MeasureLike,
    add_by_label,
    by_label,
    by_own_label,
    is_measures,
    known_measure,
    parse_measures,
    parse_one,
)
from ir_lexirecall.measures.recall import LexiRecall
from ir_lexirecall.measures.scoring import (
    GradeRange,
    is_added_up,
    mean,
    warn_if_unreached,
)
from ir_lexirecall.measures.scoring import smaller_is_better as is_cost
from ir_lexirecall.preferences.counts import PreferenceCounts
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.preferences.naming import Preference, parse_preference
from ir_lexirecall.significance import RepeatedValues, SignificanceTest

CriteriaLike: TypeAlias = (
    MeasureLike | Iterable[MeasureLike] | Mapping[str, MeasureLike]
)
"""One or several measures and names of preferences, such as ``'rpp'``, or a mapping of labels."""
Criteria: TypeAlias = Mapping[str, Preference | IRMeasure]

_COLUMNS = frozenset(
    {"criterion", "run", "query_id", "collection", "mean", "ci_low", "ci_high", "rank"}
)
"""Beside which columns of tables criteria are columns themselves."""


@entry
def compare(
    qrels: QrelsLike | None = None,
    runs: Mapping[str, RunLike] | None = None,
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
    missing: str = "error",
    repeats: RepeatsLike | None = None,
    deterministic: str | Iterable[str] | None = None,
    predicted: QrelsLike | ValuesLike | None = None,
    groups: GroupsLike | None = None,
    allow_empty: bool = False,
) -> Comparison:
    """Compare runs on one collection, query by query.

    Criteria are measures, preferences between rankings, or both. Measures count all queries,
    preferences those with relevant documents.

    Args:
        qrels: judgments in any form that ``evaluate`` takes, or a collection's id; ``load`` gives
            qrels with other rules, such as fewer queries.
        runs: at least two runs by name, in any form that ``evaluate`` takes, or aligned
            (``AlignedRun``).
        by: criteria: measures (``"nDCG@10"``), preferences, or several in a list. ``'lexirecall'``
            prefers more relevant documents, then the earlier last one, then the one before it, ...;
            ``'lexiprecision'`` the same from the top; ``'rrlexiprecision'``, ``'rpp'``,
            ``'invrpp'``, ``'dcgrpp'`` (recall-paired preference and its weighted variants),
            ``'dominance'`` (a partial order). They take parameters as measures do:
            ``'lexirecall(rel=2)@100'`` counts documents of grade 2 or higher as relevant (by
            default from the collection's own threshold on, else from 1), and documents below rank
            100 as not retrieved. By default ``'lexirecall'``; with ``values``, all measures except
            counts.
        values: instead of ``qrels`` and ``runs``: values per query that another program computed,
            in any form that ``io.values.read_values`` takes (frames, files of trec_eval,
            ir_measures and others, mappings). Everything that needs only values works. For a
            leaderboard's table of tasks and models, tasks take the place of queries.
        smaller_is_better: measures of ``values`` whose smaller value is better. The direction of
            measures of this library, ir_measures and trec_eval is known, and so are well-known
            costs by their names (RMSE, MAE, loss, latency, cost, perplexity, WER, error rate, ...).
            For any other measure, larger is assumed to be better, and the result says so.
        query: the column of ``values`` that names the queries, if its name is not a known one; see
            ``io.values.read_values``.
        run: the same for the column that names the runs.
        where: the rows of a table of ``values`` to take, by the value that a column must have, such
            as ``{"filter": "strict-match"}``.
        missing: what to do if a run lacks a value for a query: ``"error"``, or as in
            ``io.values.read_values``.
        baseline: compare every other run with this one, instead of all pairs.
        margin: a difference from the baseline that does not matter: a number in the criterion's
            unit, ``"2%"`` of the baseline's mean, or a mapping of criteria to these. Verdicts then
            answer one-sided questions; see ``Comparison.verdicts``.
        test: ``'t'``, ``'sign'`` or another of ``significance.TESTS``, or a ``SignificanceTest``
            with a correction, level, number of resamples and seed of its own. By default ``'t'``
            for measures and ``'sign'`` for preferences, corrected by Holm, at 0.05.
        repeats: the kind of repeats, if a system has several runs, in ``values`` or as a list of
            ``runs`` under one name. ``"samples"`` are noise within each query (a temperature above
            0, a judge that varies): they are averaged. Each of ``"seeds"`` shifts all queries
            together (it trains a model, or draws a whole run): tests and intervals allow for that.
            In ``values``, a column ``seed``, ``epoch``, ``repeat``, ``trial``, ``sample`` or
            ``fold`` tells repeats apart, or one that you name: ``("COLUMN", "seeds")``.
            ``table()`` gains ``repeats``, ``sd_queries``, ``sd_seeds`` and ``sd_noise``.
        deterministic: systems without seeds; the others then need at least 3.
        predicted: judgments of all queries by a program, such as a language model; ``qrels`` are
            then people's judgments of at least 10 of these queries, *drawn at random*. Differences,
            intervals and p-values use both: prediction-powered inference subtracts the program's
            error, which it measures on the sample. The test is a t-test, also with a margin, and in
            each group (of at least 10 queries that people judged); ``table()`` gains ``rho`` and
            ``n_effective``. With ``values``: values of all queries by the program's judgments, in
            the same form, for the same runs and measures. By a preference, a query without relevant
            documents is a tie. Means remain those of people's queries, so ``difference``, the
            estimate in the interval, is not the difference of two means.
        groups: the group of each query (its type, language, user, session): a mapping, a table with
            ``query_id`` and one more column, a column indexed by query, a file, or the name of a
            column of ``qrels``. ``Comparison.group_table`` then compares the runs in each group.
            If queries of a group depend on each other, take groups as the units of tests and
            intervals: ``test=SignificanceTest(cluster=True)`` (a randomisation test), or
            ``SignificanceTest("bootstrap", cluster=True)``.
        allow_empty: accept a run that shares no query, or no document, with the qrels, with a
            warning.

    Returns:
        ``Comparison``: means, tables, verdicts, explanations, pictures. A query that a run lacks
        counts as an empty ranking.

    Raises:
        ValueError: bad input, fewer than two runs, two runs that share no query with results, an
            unknown criterion, baseline, test or correction; with ``predicted`` fewer than 10
            queries in ``qrels``, or one that ``predicted`` lacks.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026,
    doi 10.1145/3728373.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    >>> good = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    >>> weak = {"q1": {"a": 3.0, "c": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    >>> table = compare(qrels, {"good": good, "weak": weak}).table()
    >>> table[["run_a", "run_b", "wins", "losses", "ties", "difference"]]
      run_a run_b  wins  losses  ties  difference
    0  good  weak     1       0     1         0.5
    >>> good = {"q1": {"AP": 1.0}, "q2": {"AP": 1.0}}
    >>> weak = {"q1": {"AP": 0.83}, "q2": {"AP": 1.0}}
    >>> values = {"good": good, "weak": weak}
    >>> compare(values=values).table()[["criterion", "wins", "losses", "difference"]]
      criterion  wins  losses  difference
    0        AP     1       0       0.085
    """
    design = Design(
        run_name(baseline),
        margin,
        SignificanceTest.by_name(test),
        predicted,
        groups,
        allow_empty,
    )
    repeated = Repeats.from_argument(repeats, deterministic)
    if values is not None:
        if qrels is not None or runs is not None:
            raise ValueError("give qrels and runs, or values, not both")
        wanted = wanted_values(
            by, smaller_is_better, missing, query, run, where, repeated
        )
        return compare_values(values, wanted, design)
    if qrels is None or runs is None:
        raise ValueError("give qrels and runs, or values=")
    if _are_runs(qrels) and not _are_runs(runs):
        raise ValueError(
            "the first argument is a mapping of names to runs; the order is compare(qrels, runs)"
        )
    refuse_reading_of_values(
        smaller_is_better, missing, query=query, run=run, where=where
    )
    criteria = parse_criteria("lexirecall" if by is None else by)
    if repeated is not None:
        return compare_repeated(qrels, runs, criteria, design, repeated)
    result = compare_runs(qrels, runs, criteria, design)
    result.compared.check_defined()
    if result.compared.predicted is not None:
        result.compared.predicted.check_defined()
    return result


def read_predicted(qrels: QrelsLike) -> Judgments:
    """Return predicted judgments; errors call them so."""
    with naming("predicted"):
        return Judgments.from_qrels(qrels)


def _are_runs(source: Any) -> bool:
    """Return whether an object is a mapping of names to runs: to files, frames or rankings.

    >>> _are_runs({"bm25": {"q1": {"d1": 2.5}}}), _are_runs({"q1": {"d1": 1}})
    (True, False)
    """
    if not isinstance(source, Mapping) or not source:
        return False
    for run in source.values():
        is_ranking = isinstance(run, Mapping) and any(
            isinstance(x, Mapping) for x in run.values()
        )
        if not (
            is_ranking or hasattr(run, "columns") or isinstance(run, (str, os.PathLike))
        ):
            return False
    return True


def compare_runs(
    qrels: QrelsLike, runs: Mapping[str, RunLike], by: Criteria, design: Design
) -> Comparison:
    """Compare runs by criteria as `parse_criteria` reads them.

    Raises:
        ValueError: a run is several rankings, predicted judgments do not suit the qrels, or bad
            input.
    """
    design.check_runs(runs)
    _check_single_rankings(runs)
    judgments = Judgments.from_qrels(qrels)
    if design.least > 1:  # a benchmark needs the same criteria on all collections
        by = distinct_criteria(by, judgments.threshold)
    warn_of_unreached_grades(by, judgments)

    predicted = None
    if design.predicted is None:
        groups = design.groups_of(judgments.query_ids, qrels)
    else:
        predicted = _predicted_like(judgments, design.predicted)
        groups = design.groups_of(predicted.query_ids, design.predicted)
    groups_of_judged = groups and groups.only(judgments.query_ids)
    scored = _scored(by, judgments, runs, design)
    result = comparison_of(scored, by, replace(design, groups=groups_of_judged))
    if predicted is None:
        return result

    by_program = _scored(by, predicted, scored.sources, design)
    criteria = {**by, **_resolved_preferences(result)}
    every = comparison_of(by_program, criteria, Design(test=design.test, groups=groups))
    return Comparison(replace(result.compared, predicted=every.compared))


def _check_single_rankings(runs: Mapping[str, RunLike]) -> None:
    """Raise if a run is a list of several rankings."""
    for name, run in runs.items():
        rankings = several_rankings(run)
        if rankings is not None:
            raise ValueError(
                f"run {str(name)!r} is a list of {len(rankings)} runs; say what they are: {CHOICES}"
            )


def warn_of_unreached_grades(
    by: Criteria, judgments: Judgments, grades: GradeRange | None = None
) -> None:
    """Warn of preferences that the grades of the judgments, or these, do not suit."""
    least_grades = [
        (name, preference.rel_in(judgments))
        for name, preference in of_type(by, Preference).items()
    ]
    warn_if_unreached(least_grades, grades or judgments)


def _predicted_like(judgments: Judgments, qrels: QrelsLike) -> Judgments:
    """Read the judgments of a program, for the same runs as the judgments of people.

    Raises:
        ValueError: they lack queries, or were not loaded as the judgments of people were.
    """
    predicted = read_predicted(qrels)
    human_queries(judgments.query_ids, predicted.query_ids)
    if judgments.only_relevant:
        raise ValueError(
            "predicted needs the whole random sample of queries; leave out queries='relevant'"
        )
    people_only = "was given for the qrels, but not for predicted; load both with it"
    if judgments.excluded and not predicted.excluded:
        raise ValueError(f"exclude {people_only}")
    if judgments.judged_only and not predicted.judged_only:
        raise ValueError(f"judged_only {people_only}")
    return replace(predicted, order=judgments.order)


def _scored(
    by: Criteria, judgments: Judgments, runs: Mapping[str, Any], design: Design
) -> ScoredRuns:
    """Align runs with judgments, and score them by the measures among the criteria."""
    return ScoredRuns.from_runs(
        of_type(by, IRMeasure),
        judgments,
        runs,
        allow_empty=design.allow_empty,
        progress=design.test.progress,
    )


def _resolved_preferences(result: Comparison) -> dict[str, Preference]:
    """Return the preferences of a comparison with the grade from which it takes documents."""
    preferences = {}
    for name, criterion in of_type(result.compared.by, PreferenceCriterion).items():
        preferences[name] = criterion.preference(rel=criterion.preferences.rel)
    return preferences


def compare_repeated(
    qrels: QrelsLike,
    runs: Mapping[str, Any],
    by: Criteria,
    design: Design,
    repeats: Repeats,
) -> Comparison:
    """Compare systems with several runs each, averaged over the runs of a system.

    Raises:
        ValueError: a criterion is a partial order, a system has too few runs, or bad input.
    """
    check_can_be_repeated(by, design)
    if repeats.column is not None:
        raise ValueError(
            f"repeats names the column {repeats.column!r}, which rankings do not have; give "
            f"repeats={repeats.kind!r}, and the runs of a system as a list under one name"
        )
    design.check_runs(runs)
    labels, run_of_label = _labelled_repeats(runs)
    repeats.check_labels(labels)
    judgments = Judgments.from_qrels(qrels)
    scored = _scored(by, judgments, run_of_label, design)
    scored.check_defined()
    groups = design.groups_of(judgments.query_ids, qrels)
    return comparison_of_repeats(
        scored, by, replace(design, groups=groups), labels, repeats
    )


def check_can_be_repeated(by: Criteria, design: Design) -> None:
    """Raise if repeats of runs cannot be averaged by a criterion, or tested as asked."""
    for name, criterion in by.items():
        if isinstance(criterion, Preference) and criterion.NAME == "dominance":
            raise ValueError(
                f"{name!r} leaves some rankings incomparable, so repeats cannot be averaged; name "
                "another preference, such as 'lexirecall'"
            )
    if design.predicted is not None or (
        design.groups is not None and design.test.cluster
    ):
        raise ValueError(
            "repeats of runs cannot be combined with predicted or cluster=True; leave these out"
        )


def comparison_of_repeats(
    scored: ScoredRuns,
    by: Criteria,
    design: Design,
    labels: RepeatLabels,
    repeats: Repeats,
) -> Comparison:
    """Compare systems of which each has several runs that are aligned and scored.

    Args:
        scored: all runs, with the measures among the criteria.
        by: the criteria.
        design: how they are compared.
        labels: of each system the labels of its runs.
        repeats: what the runs of a system are.

    Raises:
        ValueError: two systems that are to be compared share no query with results.
    """
    query_ids = list(scored.judgments.query_ids)
    source = scored.judgments.source or "qrels"
    costs = frozenset(
        name for name, measure in scored.measures.items() if is_cost(measure)
    )
    every = ValueTable(
        scored.names, query_ids, scored.values, source=source, costs=costs
    )
    table = every.averaged(labels, repeats)
    criteria: dict[str, Criterion] = {}
    for name, criterion in by.items():
        if isinstance(criterion, Preference):
            criteria[name] = _repeated_preference(
                name, criterion, scored, labels, repeats
            )
            continue
        of_measure = _criterion_of_measure(
            name, criterion, table.values[name], table.query_ids
        )
        repeated = RepeatedValues(
            repeats.kind, table.repeats[name], table.repeat_labels
        )
        criteria[name] = replace(of_measure, repeated=repeated)
    results = QueriesWithResults.of(scored, labels)
    results = _checked_results(results, criteria, design)
    return _comparison(table.runs, criteria, design, results=results, given=table)


def _labelled_repeats(runs: Mapping[str, Any]) -> tuple[RepeatLabels, dict[str, Any]]:
    """Label all runs; return the labels of each system, and the run of each label.

    A system with one run keeps its name as the label.

    Raises:
        ValueError: a system has no run.
    """
    labels_of_system: dict[str, list[str]] = {}
    run_of_label = {}
    for name, source in runs.items():
        if isinstance(source, (list, tuple)) and not source:
            raise ValueError(
                f"run {str(name)!r} is an empty list; give its runs, or leave it out"
            )
        rankings = several_rankings(source)
        if rankings is None:
            labels_of_system[str(name)] = [str(name)]
            run_of_label[str(name)] = source
            continue
        labels = [f"{name}, repeat {n}" for n, _ in enumerate(rankings, start=1)]
        labels_of_system[str(name)] = labels
        run_of_label |= dict(zip(labels, rankings, strict=True))
    return labels_of_system, run_of_label


def _repeated_preference(
    name: str,
    preference: Preference,
    scored: ScoredRuns,
    labels: RepeatLabels,
    repeats: Repeats,
) -> PreferenceCriterion:
    """Return a preference between systems, averaged over their runs."""
    counts = PreferenceCounts(
        scored.runs, preference.rel_in(scored.judgments), preference["cutoff"]
    )
    index = index_of(scored.names)
    systems = tuple(
        np.array([index[label] for label in of_system]) for of_system in labels.values()
    )
    repeated = RepeatedPreferences(repeats.kind, preference.NAME, counts, systems)
    return PreferenceCriterion(name, preference, counts, repeated)


def several_rankings(source: Any) -> list[Any] | None:
    """Return the runs of one system if a source is a list of them, not of a ranking's documents."""
    runs = several_runs(source)
    if not runs:
        return None
    if all(map(_is_run, runs)):
        return runs
    return None


def _is_run(source: Any) -> bool:
    """Return whether an object is a run: a file, a mapping, a frame, or a list of documents."""
    if isinstance(source, (list, tuple)):
        return bool(source) and all(
            isinstance(document, tuple) and hasattr(document, "query_id")
            for document in source
        )
    return isinstance(source, (str, os.PathLike, Mapping)) or hasattr(source, "columns")


def comparison_of(
    scored: ScoredRuns,
    by: Criteria,
    design: Design | None = None,
    queries: Ints | None = None,
) -> Comparison:
    """Compare runs that are aligned already, and scored with the measures among the criteria.

    Args:
        scored: the runs.
        by: the criteria.
        design: how they are compared; by default all pairs by the default tests.
        queries: indices of those that count; by default all.

    Raises:
        ValueError: two runs that are to be compared share no query with results.
    """
    design = design or Design()
    if queries is None:
        counted = np.arange(len(scored.judgments))
    else:
        counted = queries
    counts = _CountsByRelevance(scored)
    criteria: dict[str, Criterion] = {}
    for name, criterion in by.items():
        if isinstance(criterion, Preference):
            shared = counts.of(criterion.rel_in(scored.judgments), criterion["cutoff"])
            criteria[name] = PreferenceCriterion(name, criterion, shared)
        else:
            criteria[name] = _measure_criterion(
                name, criterion, scored, counted, counts
            )
    results = _checked_results(QueriesWithResults.of(scored), criteria, design)
    return _comparison(scored.names, criteria, design, scored=scored, results=results)


def _checked_results(
    results: QueriesWithResults, criteria: Mapping[str, Criterion], design: Design
) -> QueriesWithResults:
    """Return the queries with results, of those that all criteria count, after a check.

    Raises:
        NothingShared: two runs that are to be compared share none.
    """
    for criterion in of_type(criteria, PreferenceCriterion).values():
        results = results.without_irrelevant(criterion.query_ids)
    results.check(all_pairs(list(results.of_runs), design.baseline))
    return results


def _comparison(
    runs: list[str],
    criteria: dict[str, Criterion],
    design: Design,
    *,
    scored: ScoredRuns | None = None,
    results: QueriesWithResults | None = None,
    given: ValueTable | None = None,
) -> Comparison:
    """Return the comparison of runs by criteria, as a design asks for it.

    Args:
        runs: the names of the runs.
        criteria: what they are compared by.
        design: the baseline, the test, the margin, and the groups of the queries.
        scored: the rankings and their values, where rankings are compared.
        results: the queries for which they have results.
        given: the table of values, where values are compared.
    """
    compared = ComparedRuns(
        runs,
        criteria,
        design.baseline,
        design.test,
        design.margins(criteria, runs),
        scored=scored,
        results=results,
        given=given,
        groups=design.groups,
    )
    return Comparison(compared)


def _measure_criterion(
    name: str,
    measure: IRMeasure,
    scored: ScoredRuns,
    counted: Ints,
    counts: _CountsByRelevance,
) -> MeasureCriterion:
    """Return the criterion that compares runs by a measure, on the queries that count."""
    query_ids = [scored.judgments.query_ids[q] for q in counted]
    values = np.ascontiguousarray(scored.values[name][:, counted])
    criterion = _criterion_of_measure(name, measure, values, query_ids)
    if not isinstance(measure, LexiRecall):
        return criterion
    order = ExactOrder(counts.of(measure["rel"], measure["cutoff"]), query_ids)
    return replace(criterion, order=order)


def _criterion_of_measure(
    name: str, measure: IRMeasure, values: Floats, query_ids: list[str]
) -> MeasureCriterion:
    """Return the criterion that compares runs by these values of a measure."""
    return MeasureCriterion(
        name,
        values,
        query_ids,
        np.array([mean(measure, of_run) for of_run in values]),
        is_cost(measure),
        range=known_of(measure)[:2],
    )


class _CountsByRelevance:
    """Preferences between the runs, shared by criteria with the same `rel` and cutoff."""

    def __init__(self, scored: ScoredRuns) -> None:
        self._scored = scored
        self._counts: dict[tuple[float, int | None], PreferenceCounts] = {}

    def of(self, rel: float, cutoff: int | None) -> PreferenceCounts:
        """Return the preferences for a smallest relevant grade and a cutoff."""
        options = rel, cutoff
        if options not in self._counts:
            self._counts[options] = PreferenceCounts(self._scored.runs, *options)
        return self._counts[options]


# -- values ----------------------------------------------------------------------------------------


Wanted: TypeAlias = tuple[Mapping[str, str] | None, Mapping[str, Any]]
"""The value of each criterion, by its name (None for all), and the options of ``read_values``."""


def wanted_values(
    by: CriteriaLike | None,
    costs: str | Iterable[str] | None,
    missing: str = "error",
    query: str | None = None,
    run: str | None = None,
    where: Mapping[str, Any] | None = None,
    repeats: Repeats | None = None,
) -> Wanted:
    """Return which values are compared, and how they are read.

    Args:
        by: the criteria; None for all.
        costs: the criteria of which the smaller value is better.
        missing: as in ``read_values``.
        query: as in ``read_values``.
        run: as in ``read_values``.
        where: as in ``read_values``.
        repeats: as in ``read_values``.

    >>> wanted_values({"effort": "clicks", "AP": "map"}, "effort")[1]["measures"]
    ['clicks', 'map']
    """
    named = None
    if by is not None:
        named = {label: str(item) for label, item in by_label(by).items()}
        _check_no_preference(named.values())
    smaller = _measures_named_as_costs(costs, named)
    measures = None if named is None else [*named.values()]
    options = {"measures": measures, "smaller_is_better": smaller, "missing": missing}
    columns = {"query": query, "run": run, "where": where, "repeats": repeats}
    return named, options | columns


def wanted_by_name(wanted: Wanted, criteria: Sequence[str]) -> Wanted:
    """Return the wanted values by name: if the user named none, those of the compared criteria.

    Raises:
        ValueError: `smaller_is_better` has a name that is not among them.
    """
    named, options = wanted
    if named is None:
        named = {name: name for name in criteria}
        _measures_named_as_costs(options["smaller_is_better"], named)
    return named, {**options, "measures": [*named.values()]}


def _check_no_preference(names: Iterable[str]) -> None:
    """Check that no name is that of a preference, which compares rankings.

    Raises:
        ValueError: one is.
    """
    for name in names:
        if parse_preference(name) is not None:
            raise ValueError(
                f"the preference {name!r} compares rankings, not values; "
                "name measures, or give qrels and runs"
            )


def _measures_named_as_costs(
    costs: str | Iterable[str] | None, named: Mapping[str, str] | None
) -> list[str]:
    """Return the names of values of which the smaller is better.

    Args:
        costs: names of criteria or of values.
        named: the values that are compared, by criterion; None for all.

    Raises:
        ValueError: a name is not among what is compared.
    """
    if costs is None:
        return []
    if not isinstance(costs, Iterable):
        raise ValueError(f"smaller_is_better must name measures, not {costs!r}")
    if isinstance(costs, str):
        names = [costs]
    else:
        names = [str(name) for name in costs]
    if not named:
        return names
    smaller = [named.get(name, name) for name in names]
    unknown = without(smaller, named.values())
    if unknown:
        raise ValueError(
            f"smaller_is_better names {unknown[0]!r}, which is not among what is compared: "
            f"{', '.join(named)}"
        )
    return smaller


def compare_values(values: ValuesLike, wanted: Wanted, design: Design) -> Comparison:
    """Compare runs by their values.

    If there are values by a program's judgments of more queries, they sharpen the comparison.

    Raises:
        ValueError: predicted values are of other runs, lack a measure, or a value is missing; and
            what ``Comparison`` refuses.
    """
    named, options = wanted
    result = comparison_of_values(read_values(values, **options), named, design, values)
    if design.predicted is None:
        return result
    with naming("predicted"):
        named, options = wanted_by_name(wanted, result.criteria)
        wanted = named, {**options, "missing": "error"}
        every = compare_values(
            design.predicted, wanted, Design(test=result.test, groups=design.groups)
        )
    return with_predictions(result, every)


def with_predictions(result: Comparison, every: Comparison) -> Comparison:
    """Sharpen a comparison of values by one of values from a program's judgments.

    Raises:
        ValueError: the two comparisons have other runs.
    """
    if set(every.runs) != set(result.runs):
        other = sorted(set(every.runs) ^ set(result.runs))
        raise ValueError(
            "predicted and values must have the same runs; only one of them has "
            f"{shown_names(other)}"
        )
    order = [every.runs.index(run) for run in result.runs]
    sorted_by = {}
    for name, criterion in every.compared.by.items():
        if isinstance(criterion, MeasureCriterion):
            sorted_by[name] = replace(
                criterion, values=criterion.values[order], means=criterion.means[order]
            )
    predicted = replace(every.compared, runs=result.runs, by=sorted_by, given=None)
    return Comparison(replace(result.compared, predicted=predicted))


def refuse_reading_of_values(
    smaller_is_better: object, missing: str = "error", **options: object
) -> None:
    """Raise if an option that says how to read values is given for a comparison of runs."""
    if smaller_is_better:
        raise ValueError(
            "smaller_is_better needs values=; of measures of rankings, the direction is known"
        )
    if missing != "error":
        raise ValueError(
            "missing needs values=; in a run, a missing query counts as an empty ranking"
        )
    for name, value in options.items():
        if value is not None:
            raise ValueError(f"{name} needs values=; leave it out with runs")


def comparison_of_values(
    table: ValueTable, named: Mapping[str, str] | None, design: Design, source: Any
) -> Comparison:
    """Compare runs by the means of values.

    By default all measures in the table but counts are criteria; else those in `named`, under its
    names. The table knows which value of a measure is better (``ValueTable.is_cost``). Groups may
    be the name of a column of the ``source`` that was read; then that column is no measure.
    """
    if not table.query_ids:
        raise ValueError(
            f"{table.source}: no task has a value of every run; leave out the runs that lack most, "
            "or give them to benchmark, which compares two runs on the tasks that both have"
        )
    groups = design.groups_of(
        table.query_ids, _with_query_id(source, table.query_column)
    )
    if isinstance(design.groups, str):
        table = _without_measure(table, design.groups)
    try:
        design.check_runs(dict.fromkeys(table.runs))
    except ValueError as error:
        if len(table.runs) > 1:
            raise
        raise ValueError(f"{error}{_what_was_read(table)}") from None
    if named is None:
        named = {name: name for name in _without_counts(list(table.values))}
    criteria: dict[str, Criterion] = {
        label: _criterion_of_values(table, name, label) for label, name in named.items()
    }
    table = replace(
        table,
        shared=table.shared and table.shared.renamed(named),
        cells=table.cells and table.cells.renamed(named),
    )
    return _comparison(
        table.runs, criteria, replace(design, groups=groups), given=table
    )


def _what_was_read(table: ValueTable) -> str:
    """Return which runs and measures a table has, and what was left out, for a message."""
    runs, measures = shown_names(table.runs, 4), shown_names([*table.values], 4)
    notes = [note.removesuffix(".") for note in table.notes]
    return ". ".join([f" (runs: {runs}; measures: {measures})", *notes])


def _without_measure(table: ValueTable, name: str) -> ValueTable:
    """Return a table without the column of a measure, if it has that."""
    values = without_keys(table.values, [name])
    return replace(table, values=values, costs=table.costs & values.keys())


def _without_counts(names: list[str]) -> list[str]:
    """Return measures but those that are counts, which are added up; all if all are counts."""
    means = []
    for name in names:
        measure = known_measure(name)
        if measure is None or not is_added_up(measure):
            means.append(name)
    return means or names


def _criterion_of_values(table: ValueTable, name: str, label: str) -> MeasureCriterion:
    """Return the criterion that compares runs by one measure of a table, under another name."""
    costs = table.is_cost(name)
    # The last digit of sums depends on their order. It is that of rankings: values lie by run, and
    # means add them query by query.
    values = np.ascontiguousarray(table.values[name])
    means = values.cumsum(axis=1)[:, -1] / len(table.query_ids)
    repeated = None
    if table.repeat_kind is not None:
        repeated = RepeatedValues(
            table.repeat_kind, table.repeats[name], table.repeat_labels
        )
    return MeasureCriterion(
        label,
        values,
        table.query_ids,
        means,
        bool(costs),
        costs is None,
        range_of(name),
        repeated,
    )


def _with_query_id(source: Any, query_column: str | None) -> Any:
    """Return a frame where the column that names the queries is called ``query_id``."""
    if query_column in (None, "query_id"):
        return source
    frame = table_of_frame(source)
    if frame is None or "query_id" in frame.columns:
        return source
    if query_column not in frame.columns:
        return source
    return frame.renamed(str(query_column), "query_id")


# -- criteria --------------------------------------------------------------------------------------


def parse_criteria(by: CriteriaLike) -> dict[str, Preference | IRMeasure]:
    """Return criteria by their names, as preferences and measures.

    >>> parse_criteria(["rpp@100", "AP"])
    {'rpp@100': rpp@100, 'AP': AP}

    Raises:
        ValueError: no criterion, an unknown one, or a name of one's own that means something else.
    """
    named = _criteria_by_label(by)
    if not named:
        raise ValueError(
            f"no criterion is named; choose from {', '.join(NAMES)} and all measures"
        )
    preferences = {}
    for name, item in named.items():
        preference = parse_preference(item)
        if preference is not None:
            preferences[name] = preference
    others = without_keys(named, preferences)
    try:
        measures = parse_measures(others)
    except ValueError as error:
        raise _with_preferences_named(error, others) from None
    criteria = {str(name): preferences.get(name, measures.get(name)) for name in named}
    if isinstance(by, Mapping):
        return criteria
    return distinct_criteria(criteria)


def _criteria_by_label(by: CriteriaLike) -> dict[Any, Any]:
    """Return criteria as they were given, by the names of their columns.

    Raises:
        ValueError: a name of one's own means something else, or a measure lacks a parameter.
    """
    if isinstance(by, Mapping):
        for label, item in by.items():
            other = _meant_by(label, item)
            if other:
                raise ValueError(
                    f"{label!r} is the name of {other}; give {item} another name"
                )
        return dict(by)
    is_single = isinstance(by, (str, type)) or not isinstance(by, Iterable)
    items: Iterable[Any] = [by] if is_single else by
    named: dict[str, Any] = {}
    for item in items:
        try:
            add_by_label(named, item)
        except (
            KeyError
        ) as error:  # ir_measures cannot print a parameter that a measure lacks
            raise ValueError(
                f"the measure {getattr(item, 'NAME', item)} has no parameter {error}"
            ) from None
    return by_own_label(list(named.values()))


def _with_preferences_named(error: ValueError, others: Mapping[Any, Any]) -> ValueError:
    """Return the error about an unknown measure, with the preferences that could be meant.

    ``others`` are the criteria that are no preferences. An error about the parameters of a known
    measure stays as it is.
    """
    unread = [item for item in others.values() if not is_measures(item)]
    if not unread:
        return error
    name = ""
    if isinstance(unread[0], str):
        name = re.split("[@(]", unread[0])[0]
    if name and is_measures(name):
        return error
    message = str(error)
    close = difflib.get_close_matches(name.lower(), NAMES, 1, 0.66)
    if close:
        if message.endswith("?"):
            before = f"{message[:-1]}, or"
        else:
            before = f"{message}; did you mean"
        return ValueError(f"{before} the preference {close[0]!r}?")
    if message.endswith("?"):
        return error
    return ValueError(f"{message}; preferences are {', '.join(NAMES)}")


def distinct_criteria(
    criteria: Mapping[str, Any], threshold: float | None = None
) -> dict[str, Any]:
    """Return criteria with each preference once.

    `threshold` is the grade for preferences that name no `rel`; None if it is not known.

    >>> list(distinct_criteria(parse_criteria(["rpp", "rpp(rel=1)", "rpp@5"]), 1))
    ['rpp', 'rpp@5']
    """
    first: dict[tuple[Any, ...], str] = {}
    for name, criterion in criteria.items():
        is_preference = isinstance(criterion, Preference)
        # The user may have given the preference a label.
        if not is_preference or not name.strip().startswith(criterion.NAME):
            first[(name,)] = name
            continue
        rel = criterion["rel"]
        if rel is None:
            rel = threshold
        first.setdefault((criterion.NAME, rel, criterion["cutoff"]), name)
    return {name: criteria[name] for name in criteria if name in first.values()}


def _meant_by(label: Any, item: Any) -> str:
    """Return what else a label of the user's means; empty if it means nothing else."""
    if label in _COLUMNS or str(label).startswith("pref:"):
        return "a column of the tables"
    if label in NAMES:
        preference = parse_preference(item)
        if preference is None or label != preference.NAME:
            return "a preference"
    try:
        measure_of_label, measure = parse_one(label), parse_one(item)
    except ValueError:
        return ""
    if measure_of_label.NAME != measure.NAME:
        return "another measure"
    return ""
