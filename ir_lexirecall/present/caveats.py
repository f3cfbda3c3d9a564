"""Warn of what weakens a comparison, or the values of runs.

Every function named after a caveat yields its notes, and none if the caveat does not apply. The
tuples `CAVEATS_ON_TESTS` and `CAVEATS_ON_DATA` list them. To add a caveat, write a function and add
it to a tuple. Graver notes are shown first, notes of one gravity in the order of the tuples.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats, Ints
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.compared import ComparedRuns
from ir_lexirecall.comparison.criteria import (
    Criterion,
    MeasureCriterion,
    PreferenceCriterion,
)
from ir_lexirecall.comparison.verdicts import (
    BETTER,
    NOT_WORSE,
    UNDECIDED,
    UNDONE,
    WITHIN,
    WORSE,
)
from ir_lexirecall.io.mteb_results import MissingCell
from ir_lexirecall.io.values import ValueTable
from ir_lexirecall.judging.predicted import ENOUGH
from ir_lexirecall.present.findings import (
    ASIDE,
    BROKEN,
    DOUBTFUL,
    FEW_QUERIES,
    WEAK,
    Note,
    deepest_cutoff,
    gravest_first,
    on_absent_rankings,
    run_caveats,
)
from ir_lexirecall.present.standings import SIGNS, Standing, defined, standings_of
from ir_lexirecall.present.text import (
    FEW_NAMES,
    correction_words,
    count,
    count_all,
    enumerated,
    format_bound,
    format_level,
    format_number,
    format_p,
    listed,
    p_words,
    sentences,
    top_words,
)
from ir_lexirecall.significance import (
    SKEWED,
    SignificanceTest,
    corrected,
    group_units,
    least_two_sided_p,
    may_miss,
    number_of_units,
    skewness,
    smallest_p,
    unseen_share,
)

# Beginnings of the kinds of notes that a mark, or a sentence on two runs, shows, too.
MIGHT_BE_UNDONE = "Significant by"
IDENTICAL = "Identical by"

# Such a run is kept as a possible best one in 0.67 of cases with 10 queries, in 0.93 with 25.
RARE = "a run that wins rarely but by much may wrongly be ruled out as the best"

_FEW = 25  # queries below which tests have little power
# Relevant documents of a query below which preferences have little to compare.
_FEW_LEVELS = 3
_MOST_CELLS = 3  # that a note names
_MANY_PAIRS = 10  # of runs, from which any false verdict among all pairs has a caveat
_FEW_FOR_PAIRS = 50  # queries below which it has one
# Queries below which there is a caveat if differences are mostly skewed, by more than:
_FEW_FOR_SKEWED_PAIRS = 100
_MOSTLY_SKEWED = 1.0
# Shares of samples of fewer queries in which some verdict on all pairs of 17 runs is false, on
# average and on the worst matrix (the last: of those whose differences are mostly skewed):
_FALSE_AMONG_PAIRS = (
    (25, 0.09, 0.40),
    (_FEW_FOR_PAIRS, 0.07, 0.24),
    (_FEW_FOR_SKEWED_PAIRS, 0.12, 0.18),
)
_RUNS_OF_THESE = 17
_LEVEL_OF_RATES = 0.05
# skewness / sqrt(queries), above which one-sided tests reject too often.
_TOO_SKEWED = 0.4
UNSEEN_LOSSES = "Losses that a sample may miss"  # how kinds of notes begin
# Queries below which a one-sided t-test, corrected for skewness, has a caveat.
_FEW_FOR_T = 10
_FEW_FOR_RESAMPLING = 50  # the same for tests that correct for nothing


def comparison_caveats(result: Comparison) -> list[Note]:
    """Return the notes on a comparison, the gravest first."""
    if len(result.runs) > 1:
        standings = standings_of(result)
    else:
        standings = []
    on_tests: list[Note] = []
    for caveat in CAVEATS_ON_TESTS:
        on_tests.extend(caveat(result, standings))
    return gravest_first([*on_tests, *caveats_on_data(result)])


def caveats_without(result: Comparison, kinds: Iterable[str]) -> list[Note]:
    """Return the notes on a comparison, without those whose kind begins as one of some kinds."""
    hidden = tuple(kinds)
    return [
        note for note in comparison_caveats(result) if not note.kind.startswith(hidden)
    ]


def caveats_on_data(result: Comparison) -> Iterator[Note]:
    """Yield the notes on queries, rankings and values, which need no test."""
    for caveat in CAVEATS_ON_DATA:
        yield from caveat(result)


# -- caveats on data -------------------------------------------------------------------------------


def repeated_values(result: Comparison) -> Iterator[Note]:
    """Say how far new repeats and new queries move a difference, for each criterion."""
    for name, criterion in result.compared.by.items():
        n_queries = len(criterion.query_ids)
        if criterion.repeated is None or n_queries < 2 or len(result.runs) < 2:
            continue
        deviations = result.tests.repeat_columns(name)
        pair = int(deviations["sd_seeds"].argmax())
        of_queries = deviations["sd_queries"][pair] / n_queries**0.5
        if len(result.criteria) > 1:
            beginning = f"By {name}, a"
        else:
            beginning = "A"
        new_set = f"{beginning} new set of {count(n_queries, result.compared.unit)}"
        a, b = result.pairs[pair]
        moves = f"{new_set} moves the difference of {a} and {b} by {_move(of_queries)}"
        if criterion.repeated.is_of_seeds:
            moved, repeats = deviations["sd_seeds"][pair], "seeds"
            handling = (
                "The t-test allows for both, with Satterthwaite's degrees of freedom."
            )
        else:
            moved = deviations["sd_noise"][pair] / n_queries**0.5
            repeats = "samples of the same"
            handling = "Repeats are averaged."
        new_repeats = (
            f"new {repeats} by {_move(moved)} if there is one of each "
            "(standard deviations)"
        )
        yield Note(f"{moves}, {new_repeats}. {handling}", ASIDE)


def _move(deviation: float) -> str:
    """Return how far a difference moves; a variance that noise hides is cut at 0, but not 0."""
    return f"{deviation:.2g}" if deviation > 0 else "too little to be seen"


def repeats_without_variation(result: Comparison) -> Iterator[Note]:
    """Warn of runs whose repeats have the same values on every query, as copies have."""
    for name, criterion in result.compared.by.items():
        if criterion.repeated is None:
            continue
        # Repeats of a preference have no values.
        values_of_runs = getattr(criterion.repeated, "values", ())
        for run, values in zip(result.runs, values_of_runs, strict=False):
            if len(values) > 1 and (values == values[0]).all():
                same = f"The repeats of {run} have the same {name} on every query"
                copies = "copies do not show how much repeats vary"
                kind = "Repeats with the same values on every query"
                yield Note(
                    f"{same}; {copies}.",
                    DOUBTFUL,
                    kind,
                    f"{run} by {name}",
                    runs=(run,),
                )


def unequal_repeats(result: Comparison) -> Iterator[Note]:
    """Say how many repeats each run has if the numbers differ."""
    for criterion in result.compared.by.values():
        if criterion.repeated is None:
            continue
        n_repeats = criterion.repeated.n_repeats.tolist()
        if len(set(n_repeats)) > 1:
            numbers = [
                f"{run} {n}" for run, n in zip(result.runs, n_repeats, strict=True)
            ]
            yield Note(
                f"Runs have different numbers of repeats: {listed(numbers)}.", ASIDE
            )
        return


def dominant_group(result: Comparison) -> Iterator[Note]:
    """Warn if one of several groups holds more than a third of the queries."""
    sizes = _sizes_of_units(result)
    if len(sizes) <= 2:
        return
    largest = max(sizes, key=lambda group: sizes[group])
    n_queries = len(result.query_ids)
    if 3 * sizes[largest] > n_queries:
        share = f"{sizes[largest]} of {count(n_queries, 'query')}"
        message = (
            f"Group {largest} holds {share}: overall results mostly reflect this group."
        )
        yield Note(message, DOUBTFUL)


def unequal_groups(result: Comparison) -> Iterator[Note]:
    """Warn if the largest group has more than twice as many queries as the smallest."""
    sizes = _sizes_of_units(result).values()
    if sizes and max(sizes) > 2 * min(sizes):
        yield Note(
            "Groups differ in size. The test keeps its level if size and difference are unrelated. "
            "There is an interval only if they seem unrelated and the groups weigh as much as 8 "
            "equal ones."
        )


def queries_without_relevant_documents(result: Comparison) -> Iterator[Note]:
    """Say how many queries preferences leave out because nothing is relevant."""
    preference = _first_preference(result)
    if preference is None:
        return
    n_excluded = len(result.query_ids) - len(preference.query_ids)
    if n_excluded == 0:
        return
    has, takes = ("has", "takes") if n_excluded == 1 else ("have", "take")
    where = "for preferences" if result.compared.measures else "in the comparison"
    threshold = f"rel={preference.preferences.rel:g}"
    excluded = f"{count(n_excluded, 'query')} {has} no relevant document ({threshold})"
    yield Note(f"{excluded} and {takes} no part {where}.", ASIDE)


def few_queries(result: Comparison) -> Iterator[Note]:
    """Warn if there are so few queries that tests detect only large differences."""
    n_queries = len(result.query_ids)
    if n_queries < _FEW:
        shown = count(n_queries, result.compared.unit)
        message = f"Only {shown}: tests detect only large differences."
        yield Note(message, DOUBTFUL, FEW_QUERIES, shown)


def values_of_tasks(result: Comparison) -> Iterator[Note]:
    """Say that tests look at a sample of tasks if there is one value for each task."""
    if result.compared.unit == "task":
        yield Note(
            "There is one value per task: tests and intervals take the tasks as a sample, and do "
            "not account for the uncertainty of each value."
        )


def doubtful_rows(result: Comparison) -> Iterator[Note]:
    """Yield the notes on the rows of a table of values; see `notes_on_rows`."""
    if result.compared.given is not None:
        by_pair = result.compared.has_uneven_pairs
        yield from notes_on_rows(
            result.compared.given, result.compared.unit, by_pair=by_pair
        )


def few_relevant_documents(result: Comparison) -> Iterator[Note]:
    """Warn if half of the queries have too few relevant documents for preferences."""
    preference = _first_preference(result)
    if preference is None or not preference.query_ids:
        return
    median = np.median(preference.preferences.m)
    if median < _FEW_LEVELS:
        documents = "document" if median == 1 else "documents"
        most = f"{median:g} relevant {documents}"
        yield Note(f"Half of the queries have at most {most}: few levels to compare.")


def mostly_tied_pairs(result: Comparison) -> Iterator[Note]:
    """Warn if two runs tie, or cannot be compared, on more than half of the queries."""
    for name in _defined_criteria(result):
        n_queries, wins, losses, incomparable = result.compared.pair_counts(name)
        ties = n_queries - wins - losses - incomparable
        for outcome, numbers in (("ties", ties), ("not comparable", incomparable)):
            for pair in np.flatnonzero(numbers > n_queries / 2).tolist():
                a, b = result.pairs[pair]
                share = f"{numbers[pair]} of {count(int(n_queries[pair]), 'query')}"
                message = f"{name}, {a} and {b}: {share} are {outcome}."
                if n_queries[pair] == 1:
                    what = outcome.replace("ties", "a tie")
                    message = f"{name}, {a} and {b}: the only query is {what}."
                kind, subject = f"Mostly {outcome} by {name}", f"{a} and {b} ({share})"
                yield Note(message, kind=kind, subject=subject, runs=(a, b))


def leaders_with_many_zeros(result: Comparison) -> Iterator[Note]:
    """Warn if even the best run has the value 0 on most queries, so that few queries decide."""
    for name, criterion in _defined_criteria(result).items():
        if not isinstance(criterion, MeasureCriterion) or criterion.smaller_is_better:
            continue
        n_queries, leader = len(criterion.query_ids), int(criterion.means.argmax())
        n_zeros = n_queries - np.count_nonzero(criterion.values[leader])
        if n_queries / 2 < n_zeros < n_queries:
            where = f"{n_zeros} of {n_queries} queries of {result.runs[leader]}"
            differs = (criterion.levelled != criterion.levelled[0]).any(axis=0)
            n_differing = count(int(differs.sum()), "query")
            leads = f"The best run by {name} has the value 0 on most queries ({where})"
            kind = "The best run has the value 0 on most queries"
            message = f"{leads}; the runs differ on {n_differing}."
            yield Note(message, DOUBTFUL, kind, f"{name} ({where})")


def doubtful_rankings(result: Comparison) -> Iterator[Note]:
    """Warn of rankings that are short, missing, tied or hardly judged; see `run_caveats`."""
    if result.compared.scored is None:
        yield from _absent_rankings_of_repeats(result)
        return
    scored = result.compared.scored.with_measures(result.compared.measures)
    preferences = [
        criterion.preference
        for criterion in result.compared.by.values()
        if isinstance(criterion, PreferenceCriterion)
    ]
    cutoff = deepest_cutoff([*scored.measures.values(), *preferences])
    yield from run_caveats(scored, cutoff)


def _absent_rankings_of_repeats(result: Comparison) -> Iterator[Note]:
    """Yield notes on systems, and on their repeats, that return nothing for some queries."""
    results = result.compared.results
    if results is not None:
        for name, has_results in {**results.of_runs, **results.of_repeats}.items():
            n_absent = int((~has_results).sum())
            yield from on_absent_rankings(name, n_absent, len(has_results))


CAVEATS_ON_DATA: tuple[Callable[[Comparison], Iterator[Note]], ...] = (
    repeated_values,
    repeats_without_variation,
    unequal_repeats,
    dominant_group,
    unequal_groups,
    queries_without_relevant_documents,
    few_queries,
    values_of_tasks,
    doubtful_rows,
    few_relevant_documents,
    mostly_tied_pairs,
    leaders_with_many_zeros,
    doubtful_rankings,
)


def _sizes_of_units(result: Comparison) -> dict[str, int]:
    """Return the size of each group if groups are the units of the tests; else nothing."""
    if result.compared.groups is None or not result.test.cluster:
        return {}
    return result.compared.groups.sizes


def _first_preference(result: Comparison) -> PreferenceCriterion | None:
    """Return the first preference, if any; all preferences count the same queries."""
    for criterion in result.compared.by.values():
        if isinstance(criterion, PreferenceCriterion):
            return criterion
    return None


def _defined_criteria(result: Comparison) -> Mapping[str, Criterion]:
    """Return the criteria that compare runs, by name; none if there is one run only."""
    if len(result.runs) > 1:
        return defined(result)
    return {}


# -- caveats on rows of values ---------------------------------------------------------------------


def notes_on_rows(
    table: ValueTable, unit: str, *, by_pair: bool = False
) -> Iterator[Note]:
    """Yield notes on rows of values that were left out, or that may not be queries.

    Args:
        table: the values.
        unit: what its rows are: ``"query"`` or ``"task"``.
        by_pair: whether each pair of runs is compared on the values that both have.
    """
    if table.skipped:
        yield Note(_rows_left_out(table, unit, by_pair), DOUBTFUL)
    if by_pair:
        both = f"Each pair of runs is compared on the {_plural(unit)} that both have"
        yield Note(f"{both}, means and best runs are of those that all have.", ASIDE)
    for message in table.cut:
        yield Note(message, DOUBTFUL)
    for message in table.notes:
        yield Note(message, ASIDE)
    if table.summaries:
        names = listed(map(repr, table.summaries), 3)
        hold = "holds" if len(table.summaries) == 1 else "hold"
        yield Note(
            f"{names} {hold} the means, or another statistic, of the other rows: left out.",
            ASIDE,
        )
    for name in table.doubtful[:3]:
        yield Note(
            f"{name!r} counts as a {unit}: its values are not the means of the others."
        )
    if table.missing_cells:
        yield Note(_cells_left_out(table.missing_cells, by_pair), DOUBTFUL)


def _rows_left_out(table: ValueTable, unit: str, by_pair: bool) -> str:
    """Return the sentence on rows without a value of some run."""
    n_skipped = len(table.skipped)
    names = listed(table.skipped, 3)
    lack = "lacks" if n_skipped == 1 else "lack"
    where = "left out of the means" if by_pair else "left out"
    sentence = f"{count(n_skipped, unit)} ({names}) {lack} a value of some run: {where}"
    shares = [
        f"{run} {n_missing} of {table.n_queries}, {table.missing_share(run):.1%}"
        for run, n_missing in table.missing_of_run.items()
    ]
    if shares:
        return f"{sentence} ({listed(shares, 5)})."
    return f"{sentence}."


def _cells_left_out(cells: Sequence[MissingCell], by_pair: bool) -> str:
    """Return the sentences on cells of MTEB's tasks that some run lacks."""
    shown = "; ".join(
        f"{cell.task} {cell.split} {cell.subset}, not of {listed(cell.runs, 2)}"
        for cell in cells[:_MOST_CELLS]
    )
    if len(cells) > _MOST_CELLS:
        shown += f"; and {len(cells) - _MOST_CELLS} more"
    noun, are = ("cell", "is") if len(cells) == 1 else ("cells", "are")
    cells_lacked = f"{len(cells)} {noun} (task, split, subset) that some run lacks"
    value = "The value of a task is the mean over the cells that all runs have"
    if by_pair:
        in_pairs = "or in comparisons both runs of the pair"
        return (
            f"{cells_lacked} {are} left out of the means: {shown}. {value}, {in_pairs}."
        )
    return f"{cells_lacked} {are} left out: {shown}. {value}."


# -- caveats on tests: queries that runs share -----------------------------------------------------


def poorly_shared_queries(
    result: Comparison, standings: Sequence[Standing] = ()
) -> Iterator[Note]:
    """Warn if two runs hardly share queries, or few queries have values of all runs."""
    for pair in result.compared.poorly_shared:
        rest = "a query that only one has results for counts as an empty ranking of the other"
        yield Note(
            f"{pair}: {rest}.",
            BROKEN,
            "Runs share less than half of the queries that either has results for",
            f"{pair.run_a} and {pair.run_b} ({pair.both:,} of {pair.either:,})",
            runs=(pair.run_a, pair.run_b),
        )
    for sentence in sentences(_few_values_words(result)):
        yield Note(sentence, BROKEN)
    if result.compared.grouped:
        yield from _unshared_groups(result)


def _unshared_groups(result: Comparison) -> Iterator[Note]:
    """Yield a note on each pair of runs that share no query with results in a group."""
    kind = "Runs share no query with results in a group"
    for group in result.compared.apart_by_group:
        for a, b in pairs_apart(result, group):
            message = (
                f"{a} and {b} share no query with results, so they are not compared in "
                "this group."
            )
            yield Note(message, BROKEN, kind, f"{a} and {b}").within(group)


def pairs_apart(result: Comparison, group: str) -> list[tuple[str, str]]:
    """Return the pairs of runs that share no query with results in a group."""
    apart = result.compared.apart_by_group[group]
    return list(itertools.compress(result.pairs, apart))


def shared_words(result: Comparison) -> str:
    """Return that runs hardly share queries, for a headline; empty if they share most of them."""
    pairs = result.compared.poorly_shared
    if not pairs:
        return _few_values_words(result)
    if len(pairs) == 1:
        return str(pairs[0])
    return f"{pairs[0]} (and {count(len(pairs) - 1, 'more pair')} like these)"


def _few_values_words(result: Comparison) -> str:
    """Return that less than half of the queries have values of all runs; empty if more have."""
    table = result.compared.given
    n_skipped = 0 if table is None else len(table.skipped)
    n_queries = len(result.query_ids)
    if n_skipped <= n_queries:
        return ""
    n_all = count(n_queries + n_skipped, result.compared.unit)
    return f"only {n_queries:,} of {n_all} have values of all runs"


# -- caveats on tests: the leaders -----------------------------------------------------------------


def best_runs_of_few_queries(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Warn if runs are ruled out as the best one on few queries.

    With a baseline, runs are compared with it only, and no best ones are shown.
    """
    n_units, unit = sampled_units(result, standings)
    shows_best_runs = len(result.runs) > 2 and result.baseline is None
    if not shows_best_runs or n_units >= _FEW:
        return
    for standing in standings:
        if not result.best_set(standing.name)["may_be_best"].all():
            yield Note(f"Only {count(n_units, unit)}: {RARE}.")
            return


def sampled_units(result: Comparison, standings: Sequence[Standing]) -> tuple[int, str]:
    """Return how many queries or groups the tests look at, at least, and what they are called."""
    if result.test.cluster and result.compared.groups:
        return len(result.compared.groups), "group"
    n_queries = [len(standing.criterion.query_ids) for standing in standings]
    return min(n_queries, default=0), result.compared.unit


def outnumbered_leaders(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Warn if the run with the best mean loses more queries than it wins against another.

    Only runs that do not differ significantly from it are looked at.
    """
    if result.compared.margins is not None:
        end = ""
    else:
        end = ": no significant difference"
    for standing in standings:
        records = _records_of_outnumbered(result, standing)
        if not records:
            continue
        leader, name = standing.runs[0], standing.name
        better = "lower" if standing.criterion.smaller_is_better else "higher"
        mean = f"{leader} has the {better} mean {name}"
        rivals = enumerated([f"{run} ({record})" for run, record in records.items()])
        message = f"{mean}, but loses more queries than it wins against {rivals}{end}."
        begin = f"{leader} has a better mean than {listed(records)}"
        end_of_joined = ", but loses more queries than it wins"
        yield Note(
            message,
            DOUBTFUL,
            begin + end_of_joined,
            name,
            runs=(leader,),
            fact=name,
            around=(f"{begin} by ", f"{end_of_joined}."),
        )


def _records_of_outnumbered(result: Comparison, standing: Standing) -> dict[str, str]:
    """Return the leader's wins and losses against runs to which it loses more than it wins."""
    leader = standing.runs[0]
    rivals = []
    for run in result.runs:
        if run in standing.leaders:
            continue
        if standing.verdicts.on(leader, run) not in (None, *SIGNS):
            rivals.append(run)
    rival_index = np.array([result.runs.index(run) for run in rivals], dtype=np.int64)
    leader_index = np.full(len(rivals), result.runs.index(leader))
    wins, losses, _ = standing.criterion.counts(leader_index, rival_index)
    return {
        run: f"wins {won}, loses {lost}"
        for run, won, lost in zip(rivals, wins.tolist(), losses.tolist(), strict=True)
        if lost > won
    }


# -- caveats on tests: the judgments ---------------------------------------------------------------


def few_human_queries(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Warn if people judged too few queries for prediction-powered intervals.

    Predictions stand in for queries that people did not judge, but not for documents that people
    left out on the queries that they did judge.
    """
    if result.compared.predicted is None:
        return
    n_queries = n_smallest = len(result.query_ids)
    if result.compared.groups is not None and result.compared.grouped:
        n_smallest = min(result.compared.groups.sizes.values())
    if n_smallest >= ENOUGH:
        return
    if n_queries < ENOUGH:
        judged, intervals = count(n_queries, "query"), "prediction-powered intervals"
        kind = f"Too few queries judged by people for {intervals} to keep their level"
    else:
        judged = f"{count(n_smallest, 'query')} of a group"
        intervals = "prediction-powered intervals of groups"
        kind = "Few queries of a group judged by people"
    judged += " judged by people"
    risk = f"{intervals} may contain the truth less often than stated"
    yield Note(f"Only {judged}: below {ENOUGH}, {risk}.", DOUBTFUL, kind, judged)


def differences_that_judging_could_undo(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Warn if unjudged documents could undo a significant difference."""
    if result.compared.predicted is None:
        where = ""
    else:
        where = "on the queries that people judged, "
    for standing in standings:
        name, undecided = standing.name, standing.undecided
        if undecided is None:
            continue
        top = top_words({name: undecided.depth})
        for pair in np.flatnonzero(undecided.holds_zero).tolist():
            a, b = result.pairs[pair]
            if standing.verdicts.on(a, b) not in SIGNS:
                continue
            could = "could" if standing.holds[pair] == UNDONE else "might"
            doubt = f"unjudged documents {could} undo it"
            low = format_number(undecided.low[pair], 4)
            high = format_number(undecided.high[pair], 4)
            ends = (
                f"depending on their grades the difference is {low} to {high} ({top})"
            )
            message = f"{name}, {a} and {b}: significant, but {doubt}: {where}{ends}."
            kind = f"{MIGHT_BE_UNDONE} {name}, but {doubt} ({top})"
            yield Note(message, DOUBTFUL, kind, f"{a} and {b}", runs=(a, b))


# -- caveats on tests: the tests themselves --------------------------------------------------------


def tests_without_power(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Warn if a test cannot reject, or hardly can, however large the differences are."""
    tests: dict[tuple[str, int], SignificanceTest] = {}
    for standing in standings:
        test = standing.test
        most_queries = int(
            result.compared.n_queries_of_pairs(standing.name).max(initial=0)
        )
        tests.setdefault((str(test.name), most_queries), test)
    n_comparisons = len(result.pairs)
    if result.compared.margins is not None or result.test.family == "all":
        n_comparisons *= len(result.criteria)
    for (_, n_queries), test in tests.items():
        yield from _smallest_p_notes(result.compared, test, n_queries, n_comparisons)
    if result.compared.grouped:
        yield from _groups_without_power(result, standings)


def _groups_without_power(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Warn of groups of so few queries that a test cannot reject there, even before correction."""
    for group, part in result.compared.by_group.items():
        for standing in standings:
            test = part.test_of(standing.name)
            n_queries = len(part.by[standing.name].query_ids)
            for note in _smallest_p_notes(part, test, n_queries, n_comparisons=1):
                if note.gravity != ASIDE:
                    yield note.within(group)


def _smallest_p_notes(
    compared: ComparedRuns, test: SignificanceTest, n_queries: int, n_comparisons: int
) -> Iterator[Note]:
    """Yield the smallest p that a test can give if it is above alpha, or not far below.

    With a margin there are two: *better* is two-sided, *worse* is not.
    """
    n_units = number_of_units(test, n_queries)
    units = count(n_units, compared.unit if test.groups is None else "group")
    least = [smallest_p(test, n_queries)]
    shown = format_p(least[0], test.alpha)
    if compared.margins is not None:
        least.append(smallest_p(test, n_queries, one_sided=True))
        worse = f"{format_p(least[1], test.alpha)} for worse than it"
        shown = f"{shown} for better than the baseline and {worse}"
    adjusted = [_least_corrected(test, p, n_comparisons) for p in least]
    smallest = f"p {_joined_p(adjusted, test.alpha)}"
    message = f"The smallest p that the {test.name} test can give on {units} is {shown}"
    if adjusted > least:
        smallest = f"corrected {smallest}"
        correction = correction_words(str(test.counted_correction))
        comparisons = f"{n_comparisons:,} comparisons"
        message += (
            f" ({_joined_p(adjusted, test.alpha)} after {correction} for {comparisons})"
        )
    cannot = _cannot_show(test, adjusted)
    if cannot:
        gravity = BROKEN if min(adjusted) > test.alpha else DOUBTFUL
        kind = f"The {test.name} test {cannot}"
        yield Note(
            f"{message}: it {cannot}.", gravity, kind, f"{units} (smallest {smallest})"
        )
    elif n_units < _FEW and max(adjusted) > test.alpha / 10:
        yield Note(f"{message}.", ASIDE)


def _least_corrected(test: SignificanceTest, p: float, n_comparisons: int) -> float:
    """Return the smallest p after correction, where all comparisons have it."""
    p_corrected, _ = corrected(
        np.full(n_comparisons, p), test.counted_correction, test.alpha
    )
    return float(p_corrected.max(initial=p))


def _joined_p(p_values: Sequence[float], alpha: float) -> str:
    """Return one or two p as a text."""
    return " and ".join(format_p(p, alpha) for p in p_values)


def _cannot_show(test: SignificanceTest, least: Sequence[float]) -> str:
    """Return what a test can never show; empty if its smallest p, one or two, allow all."""
    level = f"at alpha {format_level(test.alpha, least)}"
    if max(least) <= test.alpha:
        return ""
    if len(least) == 1:
        return f"cannot reject {level}"
    if min(least) > test.alpha:
        return f"can show neither better nor worse {level}"
    return f"cannot show better {level}"


def skewed_verdicts(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Warn of verdicts with a margin on skewed differences, also in groups of queries."""
    if result.compared.margins is None:
        return
    for standing in standings:
        name, test = standing.name, standing.test
        if test.groups is None:
            unit = result.compared.unit
        else:
            unit = "group"
        for _, part in result.compared.pair_parts:
            differences = _signed_differences(part.by[name], part.pair_indices)
            if test.groups is not None:
                differences = group_units(differences, test.groups)
            verdicts = [str(standing.verdicts.on(a, b)) for a, b in part.pairs]
            parts = {"": (differences, verdicts)}
            yield from skewness_notes(name, test, part.pairs, parts, unit, [BETTER])
        if result.compared.grouped:
            parts = _differences_in_groups(result, standing)
            yield from skewness_notes(name, test, result.pairs, parts, unit, [BETTER])


def _signed_differences(
    criterion: Criterion, pair_indices: tuple[Ints, Ints]
) -> Floats:
    """Return the differences of pairs by query, positive where the first run is better."""
    return criterion.sign * np.concatenate([*criterion.differences(*pair_indices)])


def _differences_in_groups(
    result: Comparison, standing: Standing
) -> dict[str, tuple[Floats, list[str]]]:
    """Return the differences of all pairs and the verdicts on them, by group of queries."""
    criterion = standing.criterion
    differences = _signed_differences(criterion, result.compared.pair_indices)
    labels = np.array(result.compared.labels_of(criterion))
    verdicts = result.group_table(standing.name).groupby("group", sort=False)["verdict"]
    return {
        str(group): (differences[:, labels == group], of_group.tolist())
        for group, of_group in verdicts
    }


def many_pairs_on_few_queries(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Warn of tests of means on all pairs of many runs, of which some verdict is often false.

    Of 16 or 17 real runs, resampled such that no means differ, by 29 collections and measures, t
    with Holm says something false in 0.094, 0.071 and 0.057 of samples of 13, 25 and 50 queries on
    average, and in 0.40, 0.24 and 0.19 on the worst (Web 2011, AP, whose differences are skewed).
    Fewer runs err less often (5 runs in 0.055, 0.050 and 0.049), 40 runs more often (in 0.081 and
    0.067 at 25 and 50). So a rate is named for no more than 17 runs.
    """
    if result.baseline is not None or len(result.pairs) < _MANY_PAIRS:
        return
    for standing in standings:
        name, test = standing.name, standing.test
        n_queries = int(result.compared.n_queries_of_pairs(name).min())
        n_units = number_of_units(test, n_queries)
        if test.procedure.of != "mean" or n_units >= _FEW_FOR_SKEWED_PAIRS:
            continue
        least = smallest_p(test, n_queries)
        if _least_corrected(test, least, len(result.pairs)) > test.alpha:
            continue  # `tests_without_power` says that no verdict is possible
        must_be_skewed = n_units >= _FEW_FOR_PAIRS
        differences = _differences_of_parts(result, name)
        if must_be_skewed and not are_mostly_skewed(differences):
            continue
        unit = result.compared.unit if test.groups is None else "group"
        rates = _false_among_pairs(test, len(result.runs), n_units)
        if must_be_skewed:
            rates = f"with such skewed differences, {rates}"
        size = f"{len(result.pairs):,} pairs on {count(n_units, unit)}"
        risk = f"all {size}: {rates}; a baseline asks for fewer comparisons."
        yield Note(f"{name}: {risk}", WEAK, risk, name, around=("", f": {risk}"))


def _false_among_pairs(test: SignificanceTest, n_runs: int, n_units: int) -> str:
    """Return how often some verdict on all pairs is false; a rate only where it was measured."""
    settings = (test.name, test.correction, test.alpha)
    if settings != ("t", "holm", _LEVEL_OF_RATES) or n_runs > _RUNS_OF_THESE:
        level = format_level(test.alpha)
        return f"some verdict may be false in more than {level} of samples"
    mean, worst = next(rates for n, *rates in _FALSE_AMONG_PAIRS if n_units < n)
    return (
        f"among {_RUNS_OF_THESE} real runs, some verdict is false in {mean:.2f} of samples on "
        f"average, in {worst:.2f} at worst, instead of {_LEVEL_OF_RATES:g}"
    )


def _differences_of_parts(result: Comparison, name: str) -> Iterator[Floats]:
    """Yield the differences of pairs of runs that have values of the same queries."""
    for _, part in result.compared.pair_parts:
        yield _signed_differences(part.by[name], part.pair_indices)


def are_mostly_skewed(parts: Iterable[Floats]) -> bool:
    """Return whether half of the pairs that differ have clearly skewed differences.

    Args:
        parts: differences of P pairs on Q queries, shape ``(P, Q)``.
    """
    sizes = []
    for differences in parts:
        differs = np.any(differences != 0, axis=1)
        sizes += np.abs(skewness(differences[differs])).tolist()
    return bool(sizes and np.median(sizes) > _MOSTLY_SKEWED)


def pairs_with_few_differences(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Warn of pairs that differ on too few queries, of all or of a group, for any verdict."""
    for standing in standings:
        yield from _unresolvable_pairs(result.compared, standing.name)
        if result.compared.grouped:
            for group, part in result.compared.by_group.items():
                apart = pairs_apart(result, group)
                for note in _unresolvable_pairs(part, standing.name):
                    if note.runs not in apart:
                        yield note.within(group)


def _unresolvable_pairs(compared: ComparedRuns, name: str) -> Iterator[Note]:
    """Yield notes on pairs that differ by a criterion on some queries, but on too few."""
    test = compared.test_of(name)
    if test.procedure.at_once or test.groups is not None:
        return
    n_queries, wins, losses, _ = compared.pair_counts(name)
    if smallest_p(test, int(n_queries.max(initial=0))) > test.alpha:
        return  # `tests_without_power` says this of all pairs
    n_differing = wins + losses
    least = least_two_sided_p(n_differing)
    for pair in np.flatnonzero((n_differing > 0) & (least > test.alpha)).tolist():
        a, b = compared.pairs[pair]
        n = int(n_differing[pair])
        reason = unresolvable_words(n, compared.unit)
        limit = f"no p is below {format_p(least[pair], test.alpha)}"
        kind = f"Unresolvable by {name}, as too few {_plural(compared.unit)} differ"
        if compared.margins is not None:
            verdicts, limit = _unresolvable_verdicts(n, test.alpha)
            kind = (
                f"Too few {_plural(compared.unit)} differ by {name} to show {verdicts}"
            )
        message = f"{name}, {a} and {b}: {reason}, and so {limit}."
        yield Note(message, DOUBTFUL, kind, f"{a} and {b} ({n})", runs=(a, b))


def _unresolvable_verdicts(n_differing: int, alpha: float) -> tuple[str, str]:
    """Return which verdicts, with a margin, a pair cannot have, and the limits of their p.

    *Better* is two-sided, *worse* one-sided. *Not worse* and *within margin* have other limits.

    >>> _unresolvable_verdicts(5, 0.05)
    ('better', 'p is at least 0.062 for better')
    >>> _unresolvable_verdicts(4, 0.05)
    ('better or worse', 'p is at least 0.12 for better and 0.062 for worse')
    """
    two_sided = float(least_two_sided_p(np.array(n_differing)))
    limit = f"p is at least {format_p(two_sided, alpha)} for better"
    one_sided = least_one_sided_p(n_differing)
    if one_sided <= alpha:
        return "better", limit
    return (
        "better or worse",
        f"{limit} and {format_p(one_sided, alpha)} for worse",
    )


def least_one_sided_p(n_differing: int) -> float:
    """Return the smallest one-sided p of a paired test, 2^-k with k differing queries."""
    return float(np.ldexp(1.0, -n_differing))


def unresolvable_words(n_differing: int, unit: str) -> str:
    """Return that two runs differ on too few queries for any verdict.

    >>> unresolvable_words(1, "query"), unresolvable_words(3, "task")
    ('unresolvable: only 1 query differs', 'unresolvable: only 3 tasks differ')
    """
    verb = "differs" if n_differing == 1 else "differ"
    return f"unresolvable: only {count(n_differing, unit)} {verb}"


def losses_hidden_by_skewness(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Warn of losses that the two-sided test shows, but not the one-sided test of a margin.

    The one-sided t-test allows for skewed differences: a sample of few queries may lack those that
    one run wins by much.
    """
    if result.compared.margins is None:
        return
    for standing in standings:
        name, test = standing.name, standing.test
        if test.procedure.of != "mean" or test.procedure.at_once:
            continue
        table = result.table(name)
        is_undecided = (table["verdict"] == UNDECIDED).to_numpy()
        is_open = is_undecided & (table["p"] <= test.alpha).to_numpy()
        if not is_open.any():  # one-sided tests may take long
            continue
        one_sided = result.tests.one_sided_by(name, test, 0.0).worse
        is_hidden = is_open & (one_sided > test.alpha) & (one_sided < 0.5)
        for row, p in zip(
            table[is_hidden].itertuples(), one_sided[is_hidden], strict=True
        ):
            message = (
                f"{name}, {row.run_a} and {row.run_b}: {row.run_a} is worse two-sided "
                f"({p_words(row.p, test.alpha)}), but not one-sided ({p_words(p, test.alpha)}), "
                "as few queries may lack rare gains."
            )
            kind = f"Worse by {name} two-sided, but not one-sided"
            runs = (row.run_a, row.run_b)
            yield Note(
                message, DOUBTFUL, kind, f"{row.run_a} and {row.run_b}", runs=runs
            )


def identical_pairs(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Warn of runs that are identical on all queries, where that does not decide under a margin."""
    if result.compared.margins is None:
        return
    for standing in standings:
        name = standing.name
        n_queries = result.compared.n_queries_of_pairs(name).tolist()
        n_units, unit = sampled_units(result, [standing])
        table = result.table(name)
        for row, n in zip(table.itertuples(), n_queries, strict=True):
            if row.wins == row.losses == 0 and row.verdict == UNDECIDED and n:
                sampled = n_units if unit == "group" else n
                words = identical_words(n, result.compared.unit, sampled, unit)
                runs = f"{row.run_a} and {row.run_b}"
                yield Note(
                    f"{name}, {runs}: {words}.",
                    DOUBTFUL,
                    f"{IDENTICAL} {name} on {n}",
                    runs,
                    runs=(row.run_a, row.run_b),
                    around=(f"{name}: ", f": {words}."),
                )


def identical_words(n_queries: int, unit: str, n_units: int, sampled: str) -> str:
    """Return that runs are identical on all queries, and how many of such queries may differ.

    Args:
        n_queries: on how many.
        unit: what they are, queries or tasks.
        n_units: how many units the test looks at.
        sampled: what these are, the same or groups.

    >>> identical_words(10, "query", 10, "query")  # doctest: +NORMALIZE_WHITESPACE
    'identical on all 10 queries, which does not show equivalence: up to 26% of such queries
     may differ (95%)'
    """
    share = f"up to {unseen_share(n_units):.0%} of such {_plural(sampled)}"
    return (
        f"identical on {count_all(n_queries, unit)}, which does not show equivalence: "
        f"{share} may differ (95%)"
    )


def estimates_without_zeros(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Say that Wilcoxon's estimates leave out differences of 0, where there are any."""
    if result.compared.predicted is not None:
        return
    for standing in standings:
        name, test = standing.name, standing.test
        if test.name != "wilcoxon":
            continue
        n_queries, wins, losses, _ = result.compared.pair_counts(name)
        n_differing = wins + losses
        kind = (
            "By Wilcoxon, estimate and interval are those of the differences "
            f"by {name} that are not 0"
        )
        for pair in np.flatnonzero(
            (n_differing > 0) & (n_differing < n_queries)
        ).tolist():
            a, b = result.pairs[pair]
            n = int(n_differing[pair])
            middle = f"the pseudomedian of the {n} differences that are not 0"
            message = f"{name}, {a} and {b}: the estimate is {middle}"
            if smallest_p(test, n) > test.alpha:
                message += (
                    f", and so few have no interval at alpha {format_level(test.alpha)}"
                )
            subject = f"{a} and {b} ({n} of {n_queries[pair]})"
            yield Note(f"{message}.", ASIDE, kind, subject, runs=(a, b))


def losses_on_unseen_queries(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[Note]:
    """Say which rare losses the queries may miss, where a run is not worse or within the margin.

    The sign test needs no such note. Its margin is a share of the decided queries, however much is
    lost on them, and its exact bound allows for losses that the sample lacks.
    """
    names = [standing.name for standing in standings]
    yield from rare_losses(result, names, in_groups=result.compared.grouped)


def rare_losses(
    result: Comparison,
    names: Iterable[str],
    *,
    on_all: bool = True,
    in_groups: bool = False,
) -> Iterator[Note]:
    """Yield `losses_on_unseen_queries` by some criteria, from tests alone.

    Args:
        result: the comparison.
        names: the criteria.
        on_all: whether to look at the tests on all queries.
        in_groups: whether to look at those in each group.
    """
    labels_of: dict[str, list[str]] = {}  # the same risk is said once
    for name in names:
        margin = (result.compared.margins or {}).get(name)
        if margin is None or result.compared.test_of(name).procedure.of == "signs":
            continue
        width = result.compared.by[name].largest_loss(margin)
        samples: list[tuple[str, int, str]] = []
        if on_all:
            samples += _samples_without_losses(result, name)
        if in_groups:
            samples += _groups_without_losses(result, name)
        for label, n_units, unit in samples:
            if may_miss(n_units, margin, width):
                risk = _risk_of_rare_losses(n_units, unit, margin)
                labels_of.setdefault(risk, []).append(label)
    for risk, labels in labels_of.items():
        listed_labels = listed(labels)
        yield Note(
            f"{listed_labels}: {risk}.",
            kind=f"{UNSEEN_LOSSES} ({risk})",
            subject=listed_labels,
            around=("", f": {risk}."),
        )


def shortened(notes: Iterable[Note]) -> list[str]:
    """Return the notes of `losses_on_unseen_queries`, shortened; a single one without criteria."""
    sentences = [str(note) for note in notes]
    if len(sentences) == 1:
        sentences = [sentences[0].partition(": ")[2]]
    return [
        sentence.replace("fewer than", "under").replace("a loss of ", "")
        for sentence in sentences
    ]


def _risk_of_rare_losses(n_units: int, unit: str, margin: float) -> str:
    """Return which losses so many units may miss, and how large one is that costs the margin."""
    share = unseen_share(n_units)
    rare = f"fewer than {100 * share:.2g}% of {_plural(unit)}"
    cost = (
        f"a loss of {format_bound(margin / share)} there costs {format_bound(margin)}"
    )
    return f"{count(n_units, unit)} may miss losses on {rare}; {cost}"


def _samples_without_losses(
    result: Comparison, name: str
) -> Iterator[tuple[str, int, str]]:
    """Yield the sample by which a run is not worse or within the margin, if one is.

    Yields:
        The criterion; the number of units of the sample, for the pair with the fewest; and what
        the units are: queries, tasks or groups.
    """
    compared = result.compared
    # Not result.table, whose attrs have these sentences.
    (columns,) = result.tests.columns_of(name)
    is_cleared = _are_cleared(columns, compared.test_of(name).alpha)
    if not is_cleared.any():
        return
    if result.test.cluster and compared.groups:
        yield name, len(compared.groups), "group"
    else:
        n_queries = compared.n_queries_of_pairs(name)[is_cleared]
        yield name, int(n_queries.min()), compared.unit


def _groups_without_losses(
    result: Comparison, name: str
) -> Iterator[tuple[str, int, str]]:
    """Yield the same for each group of queries, with its name after the criterion's."""
    compared = result.compared
    alpha = compared.test_of(name).alpha
    # Not result.group_table, whose attrs have these sentences.
    of_groups = result.tests.columns_of(name, in_groups=True)
    for (group, part), columns in zip(
        compared.by_group.items(), of_groups, strict=True
    ):
        is_cleared = _are_cleared(columns, alpha)
        if is_cleared.any():
            n_queries = columns.get("queries", len(part.by[name].query_ids))
            fewest = np.broadcast_to(n_queries, is_cleared.shape)[is_cleared].min()
            yield f"{name} in {group}", int(fewest), compared.unit


def _are_cleared(columns: Mapping[str, Any], alpha: float) -> Bools:
    """Return which rows rule out a loss of the margin: by the verdict, or *worse, but by less*."""
    verdict, not_worse_p = map(np.asarray, (columns["verdict"], columns["not_worse_p"]))
    is_small_loss = (verdict == WORSE) & (not_worse_p <= alpha)
    is_cleared: Bools = np.isin(verdict, [NOT_WORSE, WITHIN]) | is_small_loss
    return is_cleared


CAVEATS_ON_TESTS: tuple[
    Callable[[Comparison, Sequence[Standing]], Iterator[Note]], ...
] = (
    poorly_shared_queries,
    best_runs_of_few_queries,
    outnumbered_leaders,
    few_human_queries,
    differences_that_judging_could_undo,
    tests_without_power,
    skewed_verdicts,
    many_pairs_on_few_queries,
    pairs_with_few_differences,
    losses_hidden_by_skewness,
    identical_pairs,
    estimates_without_zeros,
    losses_on_unseen_queries,
)


def _plural(unit: str) -> str:
    """Return the plural of a unit: queries, tasks or groups."""
    return count(2, unit).removeprefix("2 ")


# -- skewed differences ----------------------------------------------------------------------------


class _DecidedPair(NamedTuple):
    """Two runs with a verdict, and the skewness of their differences."""

    part: str  # of the queries; "" for all of them
    runs: tuple[str, str]
    verdict: str
    skewness: float

    @property
    def tail_against(self) -> float:
        """Skewness towards the side that the verdict denies: positive if the long tail is there."""
        if self.verdict == WORSE:
            return self.skewness
        return -self.skewness

    def message(self, name: str) -> str:
        """Return that the differences by a criterion are skewed, without a full stop."""
        a, b = self.runs
        shown = f"the differences have a skewness of {format_number(self.skewness, 1)}"
        return self._within_part(f"{name}, {a} and {b}: {shown}")

    def subject(self) -> str:
        """Return both runs and the skewness."""
        a, b = self.runs
        return self._within_part(
            f"{a} and {b} (skewness {format_number(self.skewness, 1)})"
        )

    def _within_part(self, text: str) -> str:
        """Return a text with the part of the data that it is about."""
        if self.part:
            return f"{self.part}: {text}"
        return text


def skewness_notes(
    name: str,
    test: SignificanceTest,
    pairs: Sequence[tuple[str, str]],
    parts: Mapping[str, tuple[Floats, Sequence[str]]],
    unit: str,
    two_sided: Sequence[str] = (),
) -> Iterator[Note]:
    """Warn of one-sided verdicts by tests that skewed differences make reject too often.

    Among resampled pairs of real runs whose long tail is on the losing side, at alpha 0.05, false
    verdicts are this frequent:

    - t, which is corrected for skewness: 0.06 with 5 to 25 queries (0.11 to 0.08 on the worst
      collection).
    - bootstrap and randomisation: 0.05 to 0.12, with 25 queries 0.06 to 0.10, with 50 0.06 to 0.09.
    - Wilcoxon: 0.05 to 0.08 on the pseudomedian, which it tests, but 0.07 to 0.18 on the mean.
    - sign: it assumes no symmetry.

    Args:
        name: name of the criterion.
        test: how the criterion is tested.
        pairs: names of the runs of P pairs.
        parts: differences, shape ``(P, Q)``, and verdicts on the first runs, by part of the
            queries; the part of all queries is called ``""``.
        unit: what differences are sampled over.
        two_sided: verdicts of two-sided tests, of which few queries need no warning.
    """
    if test.procedure.of == "signs":
        return
    if test.name == "t":
        enough = _FEW_FOR_T
    else:
        enough = _FEW_FOR_RESAMPLING
    first_of_few: dict[str, _DecidedPair] = {}
    for part, (differences, verdicts) in parts.items():
        decided = _decided_pairs(part, pairs, verdicts, differences)
        if not decided:
            continue
        n_units = differences.shape[1]
        if test.procedure.of == "centre":
            yield from _skewed_about_a_centre(name, test, decided, n_units)
        elif n_units >= enough:
            yield from _too_skewed(name, test, decided, count(n_units, unit), n_units)
        else:
            one_sided = [pair for pair in decided if pair.verdict not in two_sided]
            first_of_few.update((part, pair) for pair in one_sided[:1])
    if first_of_few:
        n_units_of_few = {part: parts[part][0].shape[1] for part in first_of_few}
        if "" in first_of_few:
            rests = (
                f"{first_of_few[''].verdict} rests on {count(n_units_of_few[''], unit)}"
            )
        else:
            groups = listed(first_of_few, FEW_NAMES)
            rests = f"verdicts rest on few {_plural(unit)} in {groups}"
        tests = f"one-sided tests ({test.name}) of fewer than {enough}"
        rates = f"{tests} {_skewed_rates(test, min(n_units_of_few.values()))}"
        yield Note(f"{name}: {rests}; where differences are skewed, {rates}.", WEAK)


def _decided_pairs(
    part: str,
    pairs: Sequence[tuple[str, str]],
    verdicts: Sequence[str],
    differences: Floats,
) -> list[_DecidedPair]:
    """Return the pairs with a verdict, with the skewness of their differences."""
    decided = []
    for runs, verdict, skew in zip(
        pairs, verdicts, skewness(differences).tolist(), strict=True
    ):
        if verdict != UNDECIDED:
            decided.append(_DecidedPair(part, runs, verdict, skew))
    return decided


def _skewed_about_a_centre(
    name: str, test: SignificanceTest, decided: Sequence[_DecidedPair], n_units: int
) -> Iterator[Note]:
    """Say that the test is not on the mean, if the differences are clearly skewed."""
    procedure = test.procedure
    standard_error = np.sqrt(6 / n_units)  # of the skewness of normal differences
    for pair in decided:
        if pair.tail_against > 2 * standard_error:
            centre = f"on the {procedure.estimate}, not on their mean"
            tested = f"the test ({procedure.title}) is {centre}"
            message = f"{pair.message(name)}; {tested}."
            kind = f"Skewed differences by {name}: {tested}"
            yield Note(message, DOUBTFUL, kind, pair.subject(), runs=pair.runs)


def _too_skewed(
    name: str,
    test: SignificanceTest,
    decided: Sequence[_DecidedPair],
    units: str,
    n_units: int,
) -> Iterator[Note]:
    """Warn of verdicts on differences that are too skewed for their number."""
    for pair in decided:
        if pair.tail_against > _TOO_SKEWED * np.sqrt(n_units):
            level = format_level(test.alpha)
            wrong = f"{pair.verdict} may be wrong more often than alpha {level}"
            message = f"{pair.message(name)}, too large for {units}; {wrong}."
            kind = f"Differences too skewed for {units}, by {name}"
            yield Note(message, DOUBTFUL, kind, pair.subject(), runs=pair.runs)


def _skewed_rates(test: SignificanceTest, n_units: int) -> str:
    """Return how often one-sided verdicts are false where the losing side has the long tail."""
    if test.name != "t":
        return "reach error rates about twice the nominal, on some pairs more"
    usual, worst = ("0.06", "0.11") if n_units >= SKEWED else ("0.09", "0.14")
    return f"are wrong in {usual} of cases for 0.05, on some collections in {worst}"
