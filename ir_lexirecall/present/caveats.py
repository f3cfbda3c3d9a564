"""When not to trust a comparison, or the values of runs: notes on queries, rankings, ties and leaders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.criteria import MeasureCriterion, PreferenceCriterion
from ir_lexirecall.comparison.verdicts import NOT_WORSE, UNDECIDED, WITHIN, WORSE
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
    gravest_first,
    run_caveats,
)
from ir_lexirecall.present.standings import SIGNS, Standing, defined, standings_of
from ir_lexirecall.present.text import (
    FEW_NAMES,
    correction_words,
    count,
    enumerated,
    format_bound,
    format_level,
    format_number,
    format_p,
    listed,
    top_words,
)
from ir_lexirecall.significance import (
    SKEWED,
    SignificanceTest,
    corrected,
    group_units,
    least_two_sided_p,
    may_miss,
    skewness,
    smallest_p,
    unseen_share,
)

MIGHT_BE_UNDONE = "Significant by"  # beginning of the kind of notes that a mark shows, too
_MOST_CELLS = 3  # that a note names
_TOO_SKEWED = 0.4  # skewness / sqrt(queries)
_MANY_PAIRS = 10  # of runs, from which any false verdict among all pairs has a caveat
_FEW_FOR_PAIRS = 50  # queries below which it has one
_FEW_FOR_SKEWED_PAIRS = 100  # the same where differences are mostly skewed, by more than:
_MOSTLY_SKEWED = 1.0
_FEW_FOR_T = 10  # queries below which a one-sided t-test, corrected for skewness, has a caveat
_FEW_FOR_RESAMPLING = 50  # the same for tests that correct for nothing
RARE = "a run that wins rarely but by much may wrongly be ruled out as the best"  # it is kept in .66 (10 queries), .93 (25)
OUTNUMBERED = "Has the better mean but loses more queries than it wins"  # kind of a note


def comparison_caveats(result: Comparison) -> list[Note]:
    """What to be careful about, the gravest first."""
    tested = standings_of(result) if len(result.runs) > 1 else []
    notes = [
        *_on_shared_queries(result),
        *_on_leaders(result, tested),
        *_on_judgments(result, tested),
        *_on_tests(result, tested),
        *_on_families(result, tested),
        *_on_few_differences(result, tested),
        *_on_zeros(result, tested),
        *_on_unseen_queries(result, tested),
    ]
    return gravest_first([*notes, *caveats_on_data(result)])


def _on_shared_queries(result: Comparison) -> Iterator[Note]:
    """Yield notes on pairs of runs that hardly share queries: the others count as empty rankings."""
    for pair in result.compared.poorly_shared:
        rest = "a query that only one has results for counts as an empty ranking of the other"
        yield Note(
            f"{pair}: {rest}.",
            BROKEN,
            "Runs share less than half of the queries that either has results for",
            f"{pair.run_a} and {pair.run_b} ({pair.both:,} of {pair.either:,})",
            runs=(pair.run_a, pair.run_b),
        )
    if words := _few_values_words(result):
        yield Note(f"{words[:1].upper()}{words[1:]}.", BROKEN)


def _few_values_words(result: Comparison) -> str:
    """Return that less than half of the queries have values of all runs; empty where more have."""
    skipped = 0 if result.compared.given is None else len(result.compared.given.skipped)
    queries = len(result.query_ids)
    if skipped <= queries:
        return ""
    return f"only {queries:,} of {count(queries + skipped, result.compared.unit)} have values of all runs"


def shared_words(result: Comparison) -> str:
    """Return that runs hardly share queries, for a headline; empty where they do."""
    pairs = result.compared.poorly_shared
    if not pairs:
        return _few_values_words(result)
    more = f" (and {count(len(pairs) - 1, 'more pair')} like these)" if len(pairs) > 1 else ""
    return f"{pairs[0]}{more}"


def caveats_on_data(result: Comparison) -> Iterator[Note]:
    """The notes on queries, rankings and values alone, which need no test."""
    queries = len(result.query_ids)
    yield from _on_repeats(result)
    if result.compared.groups is not None and result.test.cluster:
        sizes = result.compared.groups.sizes
        largest = max(sizes, key=lambda group: sizes[group])
        if 3 * sizes[largest] > queries and len(sizes) > 2:
            share = f"{sizes[largest]} of {count(queries, 'query')}"
            yield Note(
                f"Group {largest} holds {share}: overall results mostly reflect this group.",
                DOUBTFUL,
            )
        if sizes[largest] > 2 * min(sizes.values()):
            yield Note(
                "Groups differ in size: the test keeps its level where size and difference do not go together. An interval is given only where "
                "they do not seem to, and the groups weigh as much as 8 equal ones."
            )
    preferences = next(
        (c for c in result.compared.by.values() if isinstance(c, PreferenceCriterion)), None
    )
    if preferences is not None and (excluded := queries - len(preferences.query_ids)):
        has, takes = ("has", "takes") if excluded == 1 else ("have", "take")
        what = "for preferences" if result.compared.measures else "in the comparison"
        lack = f"{count(excluded, 'query')} {has} no relevant document (rel={preferences.preferences.rel:g})"
        yield Note(f"{lack} and {takes} no part {what}.", ASIDE)
    if queries < 25:
        some = count(queries, result.compared.unit)
        yield Note(
            f"Only {some}: tests detect only large differences.", DOUBTFUL, FEW_QUERIES, some
        )
    if result.compared.unit == "task":
        sample = "tests and intervals take these tasks as a sample of tasks"
        yield Note(f"A value per task: {sample}, and know nothing of the queries within.")
    if result.compared.given is not None:
        by_pair = result.compared.has_uneven_pairs
        yield from notes_on_rows(result.compared.given, result.compared.unit, by_pair=by_pair)
    if (
        preferences is not None
        and preferences.query_ids
        and (median := np.median(preferences.preferences.m)) < 3
    ):
        most = f"{median:g} relevant {'document' if median == 1 else 'documents'}"
        yield Note(f"Half of the queries have at most {most}: few levels to compare.")
    criteria = defined(result) if len(result.runs) > 1 else {}
    for name in criteria:  # pairs that are mostly ties, or mostly not comparable
        n_queries, wins, losses, incomparable = result.compared.pair_counts(name)
        for what, numbers in (
            ("ties", n_queries - wins - losses - incomparable),
            ("not comparable", incomparable),
        ):
            for place in np.flatnonzero(numbers > n_queries / 2).tolist():
                (a, b) = result.pairs[place]
                share = f"{numbers[place]} of {n_queries[place]} queries"
                sentence, kind = (
                    f"{name}, {a} and {b}: {share} are {what}.",
                    f"Mostly {what} by {name}",
                )
                yield Note(sentence, kind=kind, subject=f"{a} and {b} ({share})", runs=(a, b))
    for (
        name,
        criterion,
    ) in criteria.items():  # 0 on most queries even of the leader: few queries decide
        if isinstance(criterion, MeasureCriterion) and not criterion.smaller_is_better:
            queries, leader = len(criterion.query_ids), int(criterion.means.argmax())
            zeros = queries - np.count_nonzero(criterion.values[leader])
            if queries / 2 < zeros < queries:
                where = f"{zeros} of {queries} queries of {result.runs[leader]}"
                differ = count(
                    int((criterion.levelled != criterion.levelled[0]).any(axis=0).sum()), "query"
                )
                sentence = (
                    f"{name} is 0 on {where}, which leads by it; the runs differ on {differ}."
                )
                yield Note(
                    sentence, DOUBTFUL, "0 on most queries even of the leader", f"{name} ({where})"
                )
    if result.compared.scored is not None:
        yield from run_caveats(result.compared.scored.with_measures(result.compared.measures))


def _on_repeats(result: Comparison) -> Iterator[Note]:
    """Yield how far a new seed and a new set of queries move a difference, for each criterion."""
    for name, criterion in result.compared.by.items():
        queries = len(criterion.query_ids)
        if criterion.repeated is None or queries < 2 or len(result.runs) < 2:
            continue
        columns = result.tests.repeat_columns(name)
        of_seeds = columns["sd_seeds"]
        pair = int(of_seeds.argmax())
        run_a, run_b = result.pairs[pair]
        by = f"By {name}, a" if len(result.criteria) > 1 else "A"
        new_queries = columns["sd_queries"][pair] / queries**0.5
        moves = f"{by} new set of {count(queries, result.compared.unit)} moves the difference of {run_a} and"
        by_queries = f"{moves} {run_b} by {new_queries:.2g}"
        if not criterion.repeated.is_of_seeds:
            noise = columns["sd_noise"][pair] / queries**0.5
            yield Note(
                f"{by_queries}, new samples of the same by {noise:.2g} if there is one "
                "of each (standard deviations). Repeats are averaged.",
                ASIDE,
            )
            continue
        yield Note(
            f"{by_queries}, new seeds by {of_seeds[pair]:.2g} (standard "
            "deviations). The t-test allows for both, with Satterthwaite's degrees of freedom.",
            ASIDE,
        )


def notes_on_rows(table: ValueTable, unit: str, *, by_pair: bool = False) -> Iterator[Note]:
    """Yield notes on rows of values that were left out, or that may be no queries.

    Args:
        table: the values.
        unit: what its rows are: ``"query"`` or ``"task"``.
        by_pair: whether each pair of runs is compared on the values that both have.
    """
    if table.skipped:
        n, n_all = len(table.skipped), table.n_queries
        names = listed(list(table.skipped), 3)
        lack = f"{count(n, unit)} ({names}) {'lacks' if n == 1 else 'lack'} a value of some run"
        shares = [
            f"{run} {n_missing} of {n_all}, {table.missing_share(run):.1%}"
            for run, n_missing in table.missing_of_run.items()
        ]
        in_brackets = f" ({listed(shares, 5)})" if shares else ""
        done = "left out of the means" if by_pair else "left out"
        yield Note(f"{lack}: {done}{in_brackets}.", DOUBTFUL)
    if by_pair:
        both = f"Each pair of runs is compared on the {count(2, unit)[2:]} that both have"
        yield Note(f"{both}, means and best runs are of those that all have.", ASIDE)
    for sentence in table.cut:
        yield Note(sentence, DOUBTFUL)
    for sentence in table.notes:
        yield Note(sentence, ASIDE)
    if table.summaries:
        names = listed([repr(name) for name in table.summaries], 3)
        hold = "holds" if len(table.summaries) == 1 else "hold"
        yield Note(f"{names} {hold} the means of the other rows: left out.", ASIDE)
    for name in table.doubtful[:3]:
        yield Note(f"{name!r} counts as a {unit}: its values are not the means of the others.")
    if table.missing_cells:
        yield Note(_note_on_cells(table.missing_cells, by_pair), DOUBTFUL)


def _note_on_cells(cells: Sequence[MissingCell], by_pair: bool) -> str:
    """Return the sentences on cells of MTEB's tasks that some run lacks."""
    shown = [
        f"{cell.task} {cell.split} {cell.subset}, not of {listed(list(cell.runs), 2)}"
        for cell in cells[:_MOST_CELLS]
    ]
    more = f"; and {len(cells) - _MOST_CELLS} more" if len(cells) > _MOST_CELLS else ""
    n = len(cells)
    lack = f"{n} {'cell' if n == 1 else 'cells'} (task, split, subset) that some run lacks"
    left_out = f"{lack} {'is' if n == 1 else 'are'} left out"
    if by_pair:
        return (
            f"{left_out} of the means: {'; '.join(shown)}{more}. The value of a task is the mean "
            "over the cells that all runs have, or in comparisons both runs of the pair."
        )
    return (
        f"{left_out}: {'; '.join(shown)}{more}. "
        "The value of a task is the mean over the cells that all runs have."
    )


def _on_leaders(result: Comparison, tested: Sequence[Standing]) -> Iterator[Note]:
    """Notes on best sets of few queries, and on leaders by the mean that lose more queries than they win against runs that do not differ significantly."""
    groups, unit = (
        (result.compared.groups, "group")
        if result.test.cluster and result.compared.groups
        else (None, result.compared.unit)
    )
    units = min((len(groups or standing.criterion.query_ids) for standing in tested), default=0)
    if (
        len(result.runs) > 2
        and units < 25
        and not all(result.best_set(x.name)["may_be_best"].all() for x in tested)
    ):
        yield Note(f"Only {count(units, unit)}: {RARE}.")
    for standing in tested:
        name, criterion, leader = standing.name, standing.criterion, standing.runs[0]
        others = [run for run in result.runs if run not in standing.leaders]
        others = [run for run in others if standing.verdicts.on(leader, run) not in (None, *SIGNS)]
        places = np.array([result.runs.index(run) for run in others], dtype=np.int64)
        wins, losses, _ = criterion.counts(np.full(len(others), result.runs.index(leader)), places)
        numbers = zip(others, wins.tolist(), losses.tolist(), strict=True)
        beaten = {run: f"wins {w}, loses {x}" for run, w, x in numbers if x > w}
        if beaten:
            facts = enumerated([f"{run} ({fact})" for run, fact in beaten.items()])
            mean = f"{leader} has the {'lower' if criterion.smaller_is_better else 'higher'} mean {name}"
            end = "" if result.compared.margins is not None else ": no significant difference"
            sentence = f"{mean}, but loses more queries than it wins against {facts}{end}."
            fact = f"by {name}, against {listed([*beaten])}"
            yield Note(
                sentence, DOUBTFUL, OUTNUMBERED, f"{leader} {fact}", runs=(leader,), fact=fact
            )


def _on_judgments(result: Comparison, tested: Sequence[Standing]) -> Iterator[Note]:
    """Notes on few queries that people judged, and on significant differences that unjudged documents could undo.

    Predictions mend what queries people did not judge, not the documents they left out on those
    they did.
    """
    human = len(result.query_ids)
    least = (
        min(result.compared.groups.sizes.values())
        if result.compared.groups is not None and result.compared.grouped
        else human
    )
    if result.compared.predicted is not None and least < ENOUGH:
        some, of_groups = count(human, "query"), ""
        kind = (
            "Too few queries judged by people for prediction-powered intervals to keep their level"
        )
        if human >= ENOUGH:
            some, of_groups = f"{count(least, 'query')} of a group", " of groups"
            kind = "Few queries of a group judged by people"
        some += " judged by people"
        less = (
            f"prediction-powered intervals{of_groups} may hold the truth less often than they say"
        )
        yield Note(f"Only {some}: below {ENOUGH}, {less}.", DOUBTFUL, kind, some)
    where = "" if result.compared.predicted is None else "on the queries that people judged, "
    for standing in tested:
        name = standing.name
        if (left := result.missing.undecided(name)) is None:
            continue
        for i in np.flatnonzero(left.holds_zero).tolist():
            a, b = result.pairs[i]
            if standing.verdicts.on(a, b) in SIGNS:
                could = "could" if left.reached[i] else "might"
                doubt = f"unjudged documents {could} undo it"
                ends = f"{format_number(float(left.low[i]), 4)} to {format_number(float(left.high[i]), 4)}"
                top = top_words({name: left.depth})
                grades = f"{where}depending on their grades the difference is {ends} ({top})"
                sentence = f"{name}, {a} and {b}: significant, but {doubt}: {grades}."
                kind = f"{MIGHT_BE_UNDONE} {name}, but {doubt} ({top})"
                yield Note(sentence, DOUBTFUL, kind, f"{a} and {b}", runs=(a, b))


def _on_tests(result: Comparison, tested: Sequence[Standing]) -> Iterator[Note]:
    """The smallest p of a test, where it cannot reject, or queries are few; verdicts with a margin on few queries, of groups, too, or of
    differences whose long tail is on the side that the verdict denies.
    """
    tests: dict[tuple[str, int], SignificanceTest] = {}
    for standing in tested:
        test = result.compared.test_of(standing.name)
        most_queries = int(result.compared.n_queries_of_pairs(standing.name).max(initial=0))
        tests.setdefault((str(test.name), most_queries), test)
    for (_, queries), test in tests.items():
        least, shown = smallest_p(test, queries), count(queries, result.compared.unit)
        every, _ = corrected(np.full(len(result.pairs), least), test.counted_correction, test.alpha)
        adjusted = float(every.max(initial=least))
        sentence = (
            f"The smallest p that the {test.name} test can give on {shown} is {format_p(least)}"
        )
        if adjusted > least:
            correction = f"{correction_words(str(test.counted_correction))} for {len(result.pairs):,} comparisons"
            sentence += f" ({format_p(adjusted)} after {correction})"
        if adjusted > test.alpha:
            cannot = f"cannot reject at alpha {format_level(test.alpha)}"
            subject = f"{shown} (smallest {'corrected ' if adjusted > least else ''}p {format_p(adjusted)})"
            yield Note(
                f"{sentence}: it {cannot}.", BROKEN, f"The {test.name} test {cannot}", subject
            )
        elif queries < 25 and adjusted > test.alpha / 10:
            yield Note(f"{sentence}.", ASIDE)
    for standing in tested if result.compared.margins is not None else ():
        name, criterion, test = (
            standing.name,
            standing.criterion,
            result.compared.test_of(standing.name),
        )
        for _, part in result.compared.pair_parts:
            x = criterion.sign * np.concatenate([*part.by[name].differences(*part.pair_indices)])
            verdicts = [str(standing.verdicts.on(a, b)) for a, b in part.pairs]
            units, unit = (
                (x, result.compared.unit)
                if test.groups is None
                else (group_units(x, test.groups), "group")
            )
            yield from skewness_notes(name, test, part.pairs, {"": (units, verdicts)}, unit)
        if result.compared.grouped:
            labels = np.array(result.compared.labels_of(criterion))
            of_groups = result.group_table(name).groupby("group", sort=False)["verdict"]
            parts = {
                str(group): (x[:, labels == group], some.tolist()) for group, some in of_groups
            }
            yield from skewness_notes(name, test, result.pairs, parts, unit)


def _on_families(result: Comparison, tested: Sequence[Standing]) -> Iterator[Note]:
    """Yield notes on corrections over all pairs of many runs by tests of means.

    Of all pairs of 16 or 17 real runs, resampled, t with Holm says something false in 0.199, 0.142
    and 0.076 of samples of 25, 50 and 100 queries (CLEF eHealth 2016, AP, whose differences are
    skewed), and in 0.061, 0.056 and 0.047 (TREC 2003 Robust, AP).
    """
    if result.baseline is not None or len(result.pairs) < _MANY_PAIRS:
        return
    for standing in tested:
        name, test = standing.name, result.compared.test_of(standing.name)
        queries = int(result.compared.n_queries_of_pairs(name).min())
        if test.procedure.of != "mean" or queries >= _FEW_FOR_SKEWED_PAIRS:
            continue
        size = f"{len(result.pairs):,} pairs on {count(queries, result.compared.unit)}"
        if queries < _FEW_FOR_PAIRS:
            rates = "something false is said of real runs in 0.05 to 0.20 of cases for 0.05"
        elif _are_mostly_skewed(result, name):
            rates = "as skewed as these differences are, something false is said in 0.08 to 0.14"
        else:
            continue
        sentence = f"{name}: all {size}: {rates}; a baseline asks for fewer comparisons"
        yield Note(f"{sentence}.", WEAK, "All pairs of many runs on few queries", name)


def _are_mostly_skewed(result: Comparison, name: str) -> bool:
    """Return whether half of the pairs that differ have clearly skewed differences."""
    sizes = []
    for _, part in result.compared.pair_parts:
        x = np.concatenate([*part.by[name].differences(*part.pair_indices)])
        sizes += np.abs(skewness(x[np.any(x != 0, axis=1)])).tolist()
    return bool(sizes and np.median(sizes) > _MOSTLY_SKEWED)


def _on_few_differences(result: Comparison, tested: Sequence[Standing]) -> Iterator[Note]:
    """Yield notes on pairs of which too few queries differ for any verdict."""
    for standing in tested:
        name, test = standing.name, result.compared.test_of(standing.name)
        if test.procedure.at_once or test.groups is not None:
            continue
        queries, wins, losses, _ = result.compared.pair_counts(name)
        if smallest_p(test, int(queries.max(initial=0))) > test.alpha:
            continue  # which another note says, of all pairs
        differing = wins + losses
        least = least_two_sided_p(differing)
        for i in np.flatnonzero((differing > 0) & (least > test.alpha)).tolist():
            a, b = result.pairs[i]
            number = int(differing[i])
            only = f"only {count(number, result.compared.unit)} {'differs' if number == 1 else 'differ'}"
            sentence = (
                f"{name}, {a} and {b}: unresolvable: {only}, and so no p is below "
                f"{format_p(float(least[i]))}."
            )
            kind = f"Unresolvable by {name}, as too few {count(2, result.compared.unit)[2:]} differ"
            yield Note(sentence, DOUBTFUL, kind, f"{a} and {b} ({number})", runs=(a, b))


def _on_zeros(result: Comparison, tested: Sequence[Standing]) -> Iterator[Note]:
    """Yield which differences Wilcoxon's estimates and intervals are of, where some are 0."""
    if result.compared.predicted is not None:
        return
    for standing in tested:
        name, test = standing.name, result.compared.test_of(standing.name)
        if test.name != "wilcoxon":
            continue
        queries, wins, losses, _ = result.compared.pair_counts(name)
        differing = wins + losses
        estimate = f"estimate and interval are those of the differences by {name} that are not 0"
        for i in np.flatnonzero((differing > 0) & (differing < queries)).tolist():
            a, b = result.pairs[i]
            number = int(differing[i])
            middle = f"the median of the {number} differences that are not 0"
            sentence = f"{name}, {a} and {b}: the estimate is {middle}"
            if smallest_p(test, number) > test.alpha:
                sentence += f", and so few have no interval at alpha {format_level(test.alpha)}"
            subject = f"{a} and {b} ({number} of {queries[i]})"
            yield Note(f"{sentence}.", ASIDE, f"By Wilcoxon, {estimate}", subject, runs=(a, b))


def _on_unseen_queries(result: Comparison, tested: Sequence[Standing]) -> Iterator[Note]:
    """Yield what so few queries cannot show, where *not worse* or *within margin* is said."""
    for standing in tested if result.compared.margins is not None else ():
        if not {NOT_WORSE, WITHIN} & {*standing.verdicts.pairs.values()}:
            continue
        name, criterion = standing.name, standing.criterion
        margin = (result.compared.margins or {})[name]
        queries = int(
            result.compared.n_queries_of_pairs(name).min(initial=len(criterion.query_ids))
        )
        if not may_miss(queries, margin, criterion.largest_loss(margin)):
            continue
        share = unseen_share(queries)
        some, rare = count(queries, result.compared.unit), f"{100 * share:.2g}%"
        yield Note(
            f"{name}: {some} may miss what happens on fewer than {rare} of {count(2, result.compared.unit)[2:]}: "
            f"a loss of {format_bound(margin / share)} there costs {format_bound(margin)}."
        )


def skewness_notes(
    name: str,
    test: SignificanceTest,
    pairs: Sequence[tuple[str, str]],
    parts: Mapping[str, tuple[Floats, Sequence[str]]],
    unit: str,
) -> Iterator[Note]:
    """Yield notes on one-sided verdicts by tests whose level skewed differences break.

    Of resampled pairs of real runs whose long tail is on the losing side, verdicts are false, for
    .05, by t in .06 with 5 to 25 queries (.11 to .08 on the worst collection), as it is corrected
    for skewness; by bootstrap and randomisation in .05 to .12, .06 to .10 with 25, .06 to .09 with
    50. The sign test assumes no symmetry, and Wilcoxon's is right about the pseudomedian (.05 to
    .08), not about the mean (.07 to .18).

    Args:
        parts: differences, shape ``(P, Q)``, and the verdicts on the first runs of the pairs, by
            the name of a part of the queries.
    """
    if test.procedure.of == "signs":
        return
    enough = _FEW_FOR_T if test.name == "t" else _FEW_FOR_RESAMPLING
    few: dict[str, str] = {}
    for part, (x, verdicts) in parts.items():
        some, within = count(x.shape[1], unit), f"{part}: " if part else ""
        for (a, b), verdict, g in zip(pairs, verdicts, skewness(x).tolist(), strict=True):
            if verdict == UNDECIDED:
                continue
            denied, shown = g if verdict == WORSE else -g, format_number(g, 1)
            skewed = f"{within}{name}, {a} and {b}: the differences have a skewness of {shown}"
            subject = f"{within}{a} and {b} (skewness {shown})"
            if test.procedure.of == "centre":
                if denied > 2 * np.sqrt(6 / x.shape[1]):
                    centre = f"the test ({test.procedure.title}) is on the {test.procedure.estimate}, not on their mean"
                    kind = f"Skewed differences by {name}: {centre}"
                    yield Note(f"{skewed}; {centre}.", DOUBTFUL, kind, subject, runs=(a, b))
            elif x.shape[1] < enough:
                few.setdefault(part, f"{verdict} rests on {some}")
            elif denied > _TOO_SKEWED * np.sqrt(x.shape[1]):
                alpha = f"{verdict} may be wrong more often than alpha {format_level(test.alpha)}"
                kind = f"Differences too skewed for {some}, by {name}"
                yield Note(
                    f"{skewed}, which {some} do not settle; {alpha}.",
                    DOUBTFUL,
                    kind,
                    subject,
                    runs=(a, b),
                )
    if few:
        rests = (
            few.get("")
            or f"verdicts rest on few {count(2, unit)[2:]} in {listed([*few], FEW_NAMES)}"
        )
        smallest = min(x.shape[1] for part, (x, _) in parts.items() if part in few)
        tests = f"one-sided tests ({test.name}) of fewer than {enough}"
        rates = f"{tests} {_skewed_rates(test, smallest)}"
        yield Note(f"{name}: {rests}; where differences are skewed, {rates}.", WEAK)


def _skewed_rates(test: SignificanceTest, queries: int) -> str:
    """Return how often one-sided verdicts are false where the losing side has the long tail."""
    if test.name != "t":
        return "reach error rates about twice the nominal, on some pairs more"
    usual, worst = ("0.06", "0.11") if queries >= SKEWED else ("0.09", "0.14")
    return f"are wrong in {usual} of cases for 0.05, on some collections in {worst}"
