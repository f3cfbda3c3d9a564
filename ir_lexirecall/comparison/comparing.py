"""``compare``: from qrels and runs to a ``Comparison``."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import check_choice, check_integer, check_number, entry
from ir_lexirecall.comparison.criteria import Criterion, MeasureCriterion, PreferenceCriterion
from ir_lexirecall.comparison.margins import MarginLike, margins_against
from ir_lexirecall.comparison.of_values import check_needs_values_only, columns_of, comparison_of_values
from ir_lexirecall.comparison.result import Comparison
from ir_lexirecall.data.alignment import RunLike
from ir_lexirecall.data.judgments import ExcludeLike, Judgments, QrelsLike
from ir_lexirecall.evaluation.scored_runs import ScoredRuns, check_runs, run_name
from ir_lexirecall.io.columns import is_file
from ir_lexirecall.io.groups import GroupsLike, QueryGroups, read_groups
from ir_lexirecall.io.values import ValuesLike, ValueTable, read_values
from ir_lexirecall.io.values.frames import columns_of_frame
from ir_lexirecall.judging.predicted import human_queries
from ir_lexirecall.measures.parsing import MeasureLike, parse_measures, parse_one
from ir_lexirecall.measures.scoring import mean, smaller_is_better
from ir_lexirecall.preferences.counts import PreferenceCounts
from ir_lexirecall.preferences.functions import NAMES
from ir_lexirecall.significance import SignificanceTest

CriteriaLike: TypeAlias = MeasureLike | Iterable[MeasureLike] | Mapping[str, MeasureLike]
"""A measure, the name of a preference (``'lexirecall'``, ``'rpp'``, ...), several of these, or several by names of one's own."""

QUERIES = ("all", "relevant")
_COLUMNS = frozenset(
    [
        "criterion",
        "run",
        "run_a",
        "run_b",
        "query_id",
        "collection",
        "mean",
        "mean_a",
        "mean_b",
        "difference",
        "estimate",
        "ci_low",
        "ci_high",
        "p",
        "p_corrected",
        "verdict",
        "wins",
        "losses",
        "ties",
        "incomparable",
        "net_wins",
        "effect_size",
        "queries",
        "rank",
        "test",
    ]
)


@entry
def compare(
    qrels: QrelsLike | None = None,
    runs: Mapping[str, RunLike] | None = None,
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
    predicted: QrelsLike | None = None,
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
) -> Comparison:
    """Compare runs on one collection, query by query: by measures, by exact preferences between their rankings, or both.

    Args:
        qrels: judgments in any form that ``evaluate`` takes, or a collection's id.
        runs: at least two runs by name, in any form that ``evaluate`` takes, or aligned (``AlignedRun``).
        by: criteria: measures (``"nDCG@10"``), preferences, or several in a list. ``'lexirecall'`` prefers more relevant
            documents, then the earlier last one, then the one before it, ...; ``'lexiprecision'`` the same from the top;
            ``'rrlexiprecision'``, ``'rpp'``, ``'invrpp'``, ``'dcgrpp'`` (recall-paired preference and its weighted variants),
            ``'dominance'`` (a partial order). By default ``'lexirecall'``; of values all measures but counts.
        values: instead of ``qrels`` and ``runs``: values per query that something else computed, in any form that
            ``io.values.read_values`` takes (frames, files of trec_eval, ir_measures and others, mappings). Everything that needs
            only values works; a measure that is known neither here nor to trec_eval is better where it is larger. A leaderboard's
            table task x model is compared over tasks.
        baseline: compare every other run with this one, instead of all pairs.
        test: ``'t'``, ``'sign'`` (exact, without ties), ``'wilcoxon'``, ``'bootstrap'``, ``'randomisation'``, ``'tukey'``
            (randomised Tukey HSD), or a ``SignificanceTest``, which brings its own options. By default ``'t'`` for measures
            and ``'sign'`` for preferences.
        correction: for the comparisons of one criterion: ``'holm'``, another of statsmodels' ``multipletests``, or None.
        alpha: significance level, and 1 - confidence of the intervals.
        margin: a difference to the baseline that does not matter: a number in the criterion's unit, ``"2%"`` of the baseline's
            mean, or a mapping of criteria to these. Verdicts then answer one-sided questions, see ``Comparison.verdicts``.
        rel: smallest grade that counts as relevant for preferences; by default the collection's own threshold, else 1.
        cutoff: what is ranked below counts as not retrieved, for preferences.
        queries: ``'all'``: a measure counts every query of the qrels, a preference those with relevant documents;
            ``'relevant'``: those with relevant documents for all criteria.
        predicted: judgments by a program, such as a language model, of all queries; ``qrels`` are then those of people, for at
            least 10 of these queries, *drawn at random*. Differences, intervals and p-values use both (prediction-powered inference:
            what the program gets wrong on the sample is taken off), by a t-test; ``table()`` gains ``rho`` and ``n_effective``.
            By a preference, a query without relevant documents is a tie. Means stay those of people's queries.
        groups: the group of each query (its type, language, user, session): a mapping, a table with ``query_id`` and one more
            column, a column indexed by query, a file, or the name of a column of ``qrels``. ``Comparison.group_table`` then
            compares the runs in each group.
        cluster: take the groups, instead of queries, as the units of tests and intervals, because queries of a group depend on each
            other: by ``'t'`` (the default then) or ``'bootstrap'``.
        judged_only: take documents without a judgment out of the rankings first (condensed lists).
        exclude: documents that are taken out of rankings and judgments first, as in ``evaluate``.
        rules: apply the collection's own rules, as in ``evaluate``.
        allow_empty: take a run that has no query, or no document, in common with the qrels, with a warning.
        missing: where a run lacks a value for a query: ``"error"``, or ``"skip"`` the query.
        n_resamples, seed: of intervals and tests by resampling.
        progress: show progress bars; by default on a terminal only.

    Returns:
        ``Comparison``: means, tables, verdicts, explanations, pictures. A query that a run lacks is an empty ranking.

    Raises:
        ValueError: bad input, fewer than two runs, an unknown criterion, baseline, test or correction; with ``predicted`` fewer than
            10 queries in ``qrels``, or one that ``predicted`` lacks.

    Source: Diaz, Ekstrand, Mitra, Recall, Robustness, and Lexicographic Evaluation, TORS 2026,
    doi 10.1145/3728373.

    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"a": 1}}
    >>> good = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    >>> weak = {"q1": {"a": 3.0, "c": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    >>> table = compare(qrels, {"good": good, "weak": weak}).table()
    >>> table[["run_a", "run_b", "wins", "losses", "ties", "difference"]]
      run_a run_b  wins  losses  ties  difference
    0  good  weak     1       0     1         0.5
    >>> values = {"good": {"q1": {"AP": 1.0}, "q2": {"AP": 1.0}}, "weak": {"q1": {"AP": 0.83}, "q2": {"AP": 1.0}}}
    >>> compare(values=values).table()[["criterion", "wins", "losses", "difference"]]
      criterion  wins  losses  difference
    0        AP     1       0       0.085
    """
    tested = coerce_test(test, correction, alpha, n_resamples, seed, progress)
    if values is not None:
        if qrels is not None or runs is not None:
            raise ValueError("give qrels and runs, or values, not both")
        check_needs_values_only(
            rel=rel,
            cutoff=cutoff,
            queries=queries != "all",
            judged_only=judged_only,
            exclude=exclude is not None,
            predicted=predicted is not None,
        )
        wanted = columns_of(by)
        table = read_values(values, measures=wanted and wanted.values(), missing=missing)
        grouped, table = groups_of(groups, table.query_ids, values), without_column(table, groups)
        check_groups(tested, grouped, cluster)
        return comparison_of_values(
            table, wanted, baseline=run_name(baseline), test=tested, margin=margin, groups=grouped, cluster=cluster
        )
    if qrels is None or runs is None:
        raise ValueError("give qrels and runs, or values=")
    judgments = Judgments.from_qrels(qrels, exclude, rules=rules)
    result = compare_runs(
        judgments,
        runs,
        parse_criteria("lexirecall" if by is None else by),
        baseline=run_name(baseline),
        test=tested,
        margin=margin,
        rel=rel,
        cutoff=cutoff,
        queries=queries,
        predicted=None if predicted is None else Judgments.from_qrels(predicted, exclude, rules=rules),
        groups=groups_of(groups, judgments.query_ids, qrels),
        cluster=cluster,
        judged_only=judged_only,
        allow_empty=allow_empty,
    )
    for by_judge in (result, result.predicted):
        if by_judge is not None and by_judge.scored is not None:
            by_judge.scored.check_defined()
    return result


def without_column(table: ValueTable, groups: GroupsLike | None) -> ValueTable:
    """Values without the column that names groups, which may be numbers."""
    if not isinstance(groups, str) or groups not in table.values:
        return table
    return replace(table, values={name: values for name, values in table.values.items() if name != groups})


def groups_of(
    groups: GroupsLike | None, query_ids: Sequence[str], table: Any = None, collection: str | None = None
) -> QueryGroups | None:
    """The groups of the queries; a name that is no file is that of a column of ``table``, where that is a table."""
    if groups is None:
        return None
    named = isinstance(groups, str) and not is_file(groups) and columns_of_frame(table) is not None
    return read_groups(groups, query_ids, table=table if named else None, collection=collection)


def coerce_test(
    test: str | SignificanceTest | None,
    correction: str | None,
    alpha: float,
    n_resamples: int,
    seed: int,
    progress: bool | None,
) -> SignificanceTest:
    """A test by its name with its options, or as it was given."""
    if isinstance(test, SignificanceTest):
        return test
    return SignificanceTest(test, correction, alpha, n_resamples, seed, progress)


def compare_runs(
    judgments: Judgments,
    runs: Mapping[str, RunLike],
    by: Mapping[str, str | IRMeasure],
    *,
    baseline: str | None,
    test: SignificanceTest,
    margin: MarginLike | None = None,
    rel: float | None = None,
    cutoff: int | None = None,
    queries: str = "all",
    predicted: Judgments | None = None,
    groups: QueryGroups | None = None,
    cluster: bool = False,
    judged_only: bool = False,
    allow_empty: bool = False,
    least: int = 2,
) -> Comparison:
    """``compare`` with the input read; ``by`` as from ``parse_criteria``, ``least`` the number of runs that are needed."""
    check_options(runs, baseline=baseline, rel=rel, cutoff=cutoff, queries=queries, least=least)
    if predicted is not None:
        if queries != "all":
            raise ValueError("a random sample counts as a whole: leave out queries='relevant' where predicted is given")
        human_queries(judgments.query_ids, predicted.query_ids)
    check_groups(test, groups, cluster, predicted)
    rel = judgments.threshold if rel is None else rel
    measures = {name: measure for name, measure in by.items() if isinstance(measure, IRMeasure)}
    scored = ScoredRuns.from_runs(
        measures, judgments, runs, judged_only=judged_only, allow_empty=allow_empty, progress=test.progress
    )
    result = comparison_of(
        scored,
        by,
        baseline=baseline,
        test=test,
        margin=margin,
        rel=rel,
        cutoff=cutoff,
        queries=queries,
        groups=groups,
        cluster=cluster,
    )
    if predicted is None:
        return result
    by_program = ScoredRuns.from_runs(
        measures, predicted, scored.sources, judged_only=judged_only, allow_empty=allow_empty, progress=test.progress
    )
    return replace(result, predicted=comparison_of(by_program, by, test=test, rel=rel, cutoff=cutoff))


def check_groups(test: SignificanceTest, groups: GroupsLike | None, cluster: bool, predicted: object = None) -> None:
    """Refuse groups as units where there are no groups, or for a test that cannot, and any groups with predicted judgments."""
    if groups is not None and predicted is not None:
        raise ValueError("predicted judgments sharpen what is said of all queries; leave groups out")
    if cluster and groups is None:
        raise ValueError("cluster=True takes groups of queries as units of the tests; pass groups=")
    if cluster:
        replace(test, groups=())


def check_options(
    runs: Mapping[str, Any],
    *,
    baseline: str | None,
    rel: float | None,
    cutoff: int | None,
    queries: str,
    least: int = 2,
) -> None:
    """Refuse what can be refused before any run is read."""
    if rel is not None:
        check_number("rel", rel, above=0)
    if cutoff is not None:
        check_integer("cutoff", cutoff)
    check_choice("queries", queries, QUERIES)
    check_runs(runs, least)
    if baseline is not None:
        check_choice("baseline", baseline, [str(name) for name in runs])


def comparison_of(
    scored: ScoredRuns,
    by: Mapping[str, str | IRMeasure],
    *,
    baseline: str | None = None,
    test: SignificanceTest | None = None,
    margin: MarginLike | None = None,
    rel: float = 1,
    cutoff: int | None = None,
    queries: str = "all",
    groups: QueryGroups | None = None,
    cluster: bool = False,
) -> Comparison:
    """Compare runs that are aligned and scored already with the measures among the criteria."""
    counts = PreferenceCounts(scored.runs, rel, cutoff)
    counted = np.arange(len(scored.judgments)) if queries == "all" else counts.queries
    query_ids = [scored.judgments.query_ids[q] for q in counted]
    criteria: dict[str, Criterion] = {}
    for name, criterion in by.items():
        if isinstance(criterion, str):
            criteria[name] = PreferenceCriterion(name, criterion, counts)
            continue
        values = np.ascontiguousarray(scored.values[name][:, counted])
        means = np.array([mean(criterion, row) for row in values])
        criteria[name] = MeasureCriterion(name, values, query_ids, means, smaller_is_better(criterion))
    margins = margins_against(margin, criteria, scored.names, baseline)
    return Comparison(
        scored.names, criteria, baseline, test or SignificanceTest(), margins, scored, groups=groups, cluster=cluster
    )


def parse_criteria(by: CriteriaLike) -> dict[str, str | IRMeasure]:
    """Criteria by their names: preferences as their names, measures as objects.

    >>> parse_criteria(["rpp", "AP"])
    {'rpp': 'rpp', 'AP': AP}

    Raises:
        ValueError: no criterion, an unknown one, or a name of one's own that means something else.
    """
    named = (
        dict(by)
        if isinstance(by, Mapping)
        else {
            _name(item): item for item in ([by] if isinstance(by, (str, type)) or not isinstance(by, Iterable) else by)
        }
    )
    if not named:
        raise ValueError(f"no criterion is named; choose from {', '.join(NAMES)} and all measures")
    if isinstance(by, Mapping):
        for label, item in named.items():
            if meant := _meant_by(label, item):
                raise ValueError(f"{label!r} is the name of {meant}; call {item} otherwise")
    preferences = {name: item for name, item in named.items() if isinstance(item, str) and item in NAMES}
    try:
        measures = parse_measures({name: item for name, item in named.items() if name not in preferences})
    except ValueError as error:
        texts = [item for item in named.values() if isinstance(item, str)]
        close = [meant for text in texts for meant in difflib.get_close_matches(text, NAMES, 1, 0.8)]
        if close:
            before = f"{str(error)[:-1]}, or" if str(error).endswith("?") else f"{error}; did you mean"
            raise ValueError(f"{before} the preference {close[0]!r}?") from None
        raise ValueError(f"{error}; preferences are {', '.join(NAMES)}") from None
    return {str(name): preferences.get(name, measures.get(name)) for name in named}


def _meant_by(label: Any, item: Any) -> str:
    """What else a label of one's own names; empty where there is nothing."""
    if label in _COLUMNS or str(label).startswith("pref:"):
        return "a column of the tables"
    if label in NAMES and item != label:
        return "a preference"
    try:
        other, own = parse_one(label), parse_one(item)
    except ValueError:
        return ""
    return "another measure" if other.NAME != own.NAME else ""


def _name(criterion: Any) -> str:
    try:
        return str(criterion)
    except KeyError as error:  # a measure of ir_measures cannot print a parameter that it does not have
        raise ValueError(f"the measure {criterion.NAME} has no parameter {error}") from None
