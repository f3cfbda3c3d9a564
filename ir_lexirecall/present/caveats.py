"""When not to trust a comparison: notes on its queries, rankings, ties and leaders."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.rounding import same
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.criteria import MeasureCriterion, PreferenceCriterion
from ir_lexirecall.comparison.verdicts import BETTER, UNDECIDED, WORSE
from ir_lexirecall.judging.predicted import ENOUGH
from ir_lexirecall.present.notes import ASIDE, BROKEN, DOUBTFUL, FEW_QUERIES, WEAK, Note, gravest_first, run_caveats
from ir_lexirecall.present.standings import is_defined
from ir_lexirecall.present.text import correction_words, count, enumerated, format_number, format_p, listed
from ir_lexirecall.significance import SKEWED, skewness, smallest_p

_TOO_SKEWED = 0.4  # skewness / sqrt(queries)
OUTNUMBERED = "Has the better mean but loses more queries than it wins"  # kind of a note


def comparison_caveats(result: Comparison) -> list[Note]:
    """What to be careful about, the gravest first."""
    tested = [name for name, criterion in result.by.items() if is_defined(criterion)]
    of_tests = [
        *_on_leaders(result, tested),
        *_on_judgments(result, tested),
        *_on_tests(result, tested),
        *_on_skewness(result, tested),
        *_on_groups(result),
    ]
    return gravest_first([*of_tests, *caveats_on_data(result)])


def caveats_on_data(result: Comparison) -> list[Note]:
    """The notes on queries, rankings and values alone, which need no test."""
    notes = [*_on_queries(result), *_on_pairs(result), *_on_zeros(result)]
    if result.scored is not None:
        notes += run_caveats(result.scored.with_measures(result.measures))
    return gravest_first(notes)


def _on_queries(result: Comparison) -> Iterator[Note]:
    queries = len(result.query_ids)
    preferences = next((c for c in result.by.values() if isinstance(c, PreferenceCriterion)), None)
    if preferences is not None and (excluded := queries - len(preferences.query_ids)):
        has, takes = ("has", "takes") if excluded == 1 else ("have", "take")
        rel = f" (rel={preferences.preferences.rel:g})"
        what = "for preferences" if result.measures else "in the comparison"
        yield Note(f"{count(excluded, 'query')} {has} no relevant document{rel} and {takes} no part {what}.", ASIDE)
    if queries < 25:
        some = count(queries, result.unit)
        yield Note(f"Only {some}: a test sees no difference but a large one.", DOUBTFUL, FEW_QUERIES, some)
    if result.unit == "task":
        yield Note(
            "A value per task: tests and intervals take these tasks as a sample of tasks, and know nothing of the queries within."
        )
    if result.given is not None and (skipped := result.given.skipped):
        lack = "lacks" if len(skipped) == 1 else "lack"
        named = listed(list(skipped), 3)
        yield Note(f"{count(len(skipped), result.unit)} ({named}) {lack} a value of some run: left out.", DOUBTFUL)
    if preferences is not None and preferences.query_ids:
        median = np.median(preferences.preferences.positions.m)
        if median < 3:
            documents = "document" if median == 1 else "documents"
            yield Note(f"Half of the queries have at most {median:g} relevant {documents}: few levels to compare.")


def _on_pairs(result: Comparison) -> Iterator[Note]:
    """Notes on pairs that are mostly ties, or mostly not comparable."""
    a, b = result.places
    for name, criterion in result.by.items():
        queries = len(criterion.query_ids)
        if not is_defined(criterion) or not len(a):
            continue
        wins, losses, incomparable = criterion.counts(a, b)
        ties = queries - wins - losses - incomparable
        for what, numbers in (("ties", ties), ("not comparable", incomparable)):
            for place in np.flatnonzero(numbers > queries / 2).tolist():
                first, second = result.pairs[place]
                share = f"{numbers[place]} of {queries} queries"
                yield Note(
                    f"{name}, {first} and {second}: {share} are {what}.",
                    kind=f"Mostly {what} by {name}",
                    subject=f"{first} and {second} ({share})",
                    runs=(first, second),
                )


def _on_zeros(result: Comparison) -> Iterator[Note]:
    """Notes on measures that are 0 on most queries even of the leader: few queries decide."""
    for name, criterion in result.by.items() if len(result.runs) > 1 else ():
        if not isinstance(criterion, MeasureCriterion) or criterion.smaller_is_better or not is_defined(criterion):
            continue
        queries = len(criterion.query_ids)
        leader = int(criterion.means.argmax())
        zeros = queries - np.count_nonzero(criterion.values[leader])
        differ = int((criterion.levelled != criterion.levelled[0]).any(axis=0).sum())
        if queries / 2 < zeros < queries:
            where = f"{zeros} of {queries} queries of {result.runs[leader]}"
            yield Note(
                f"{name} is 0 on {where}, which leads by it; the runs differ on {count(differ, 'query')}.",
                DOUBTFUL,
                "0 on most queries even of the leader",
                f"{name} ({where})",
            )


def _on_leaders(result: Comparison, tested: list[str]) -> Iterator[Note]:
    """Notes on leaders by the mean that lose more queries than they win against runs that do not differ significantly."""
    for name in tested if len(result.runs) > 1 else ():
        criterion, verdicts = result.by[name], result.verdicts_by(name)
        leader = str(result.ranking(name)["run"].iloc[0])
        place = result.runs.index(leader)
        level = same(criterion.means, criterion.means[place])
        others = [
            i
            for i, run in enumerate(result.runs)
            if verdicts.on(leader, run) not in (None, BETTER, WORSE) and not level[i]
        ]
        wins, losses, _ = criterion.counts(np.full(len(others), place), np.array(others, dtype=np.int64))
        against = [
            (result.runs[i], w, x) for i, w, x in zip(others, wins.tolist(), losses.tolist(), strict=True) if x > w
        ]
        if against:
            facts = [f"{run} (wins {w}, loses {x})" for run, w, x in against]
            runs = listed([run for run, *_ in against])
            yield Note(
                f"{leader} has the {'lower' if criterion.smaller_is_better else 'higher'} mean {name}, but loses more queries than it wins against {enumerated(facts)}: "
                "no significant difference.",
                DOUBTFUL,
                OUTNUMBERED,
                f"{leader} by {name}, against {runs}",
                runs=(leader,),
                fact=f"by {name}, against {runs}",
            )


def _on_judgments(result: Comparison, tested: list[str]) -> Iterator[Note]:
    """Few human judgments beside predicted ones, and significant differences that unjudged documents could undo."""
    human = len(result.query_ids)
    if result.predicted is not None and human < ENOUGH:
        some = f"{count(human, 'query')} judged by people"
        yield Note(
            f"Only {some}: below {ENOUGH}, prediction-powered intervals may hold the truth less often than they say.",
            DOUBTFUL,
            "Too few queries judged by people for prediction-powered intervals to keep their level",
            some,
        )
    # Predictions mend what queries people did not judge, not the documents they left out on those they did.
    for name in tested if len(result.runs) > 1 else ():
        if (left := result.undecided(name)) is None:
            continue
        verdicts = result.verdicts_by(name)
        for (a, b), low, high, holds in zip(result.pairs, left.low, left.high, left.holds_zero, strict=True):
            if not holds or verdicts.on(a, b) not in (BETTER, WORSE):
                continue
            ends = f"{format_number(float(low), 4)} to {format_number(float(high), 4)}"
            where = "" if result.predicted is None else "on the queries that people judged, "
            yield Note(
                f"{name}, {a} and {b}: the difference is significant, but unjudged documents could undo it ({where}from {ends} as "
                f"they are judged, depth {left.depth}; see bounds).",
                DOUBTFUL,
                f"Significant by {name}, but unjudged documents could undo it (depth {left.depth}; see bounds)",
                f"{a} and {b}",
                runs=(a, b),
            )


def _on_tests(result: Comparison, tested: list[str]) -> Iterator[Note]:
    """The smallest p of a test, where it cannot reject, or queries are few."""
    seen = set()
    for name in tested if len(result.runs) > 1 else ():
        test, queries = result.test_of(name), len(result.by[name].query_ids)
        if (test.name, queries) in seen:
            continue
        seen.add((test.name, queries))
        least = smallest_p(test, queries)
        family: Floats = np.full(len(result.pairs), least)
        adjusted = float(test.corrected(family)[0].max(initial=least))
        shown = count(queries, result.unit)
        sentence = f"The smallest p that the {test.name} test can give on {shown} is {format_p(least)}"
        if adjusted > least:
            correction = f"{correction_words(str(test.counted_correction))} for {len(result.pairs):,} comparisons"
            sentence += f" ({format_p(adjusted)} after {correction})"
        if adjusted > test.alpha:
            corrected = "corrected " if adjusted > least else ""
            yield Note(
                f"{sentence}: it cannot reject at alpha {test.alpha:g}.",
                BROKEN,
                f"The {test.name} test cannot reject at alpha {test.alpha:g}",
                f"{shown} (smallest {corrected}p {format_p(adjusted)})",
            )
        elif queries < 25 and adjusted > test.alpha / 10:
            yield Note(f"{sentence}.", ASIDE)


def _on_skewness(result: Comparison, tested: list[str]) -> Iterator[Note]:
    """Verdicts with a margin by t of few queries, or of differences whose long tail is on the side that the verdict denies."""
    for name in tested if result.margins is not None else ():
        criterion, verdicts = result.by[name], result.verdicts_by(name)
        queries = len(criterion.query_ids)
        if result.test_of(name).name != "t":
            continue
        g = np.concatenate([skewness(criterion.sign * x) for x in criterion.differences(*result.places)])
        for (a, b), of_pair in zip(result.pairs, g.tolist(), strict=True):
            verdict = verdicts.on(a, b)
            if verdict == UNDECIDED:
                continue
            if queries < SKEWED:
                yield Note(
                    f"{name}: {verdict} rests on {count(queries, result.unit)}; where differences are skewed, one-sided tests of fewer than "
                    f"{SKEWED} are wrong in up to twice as many cases as they say.",
                    WEAK,
                )
                break
            denied = of_pair if verdict == WORSE else -of_pair
            if denied > _TOO_SKEWED * np.sqrt(queries):
                yield Note(
                    f"{name}, {a} and {b}: the differences have a skewness of {format_number(of_pair, 1)}, which {count(queries, 'query')} "
                    f"do not settle; {verdict} may be wrong more often than alpha {result.test.alpha:g}.",
                    DOUBTFUL,
                    f"Differences too skewed for {count(queries, 'query')}, by {name}",
                    f"{a} and {b} (skewness {format_number(of_pair, 1)})",
                    runs=(a, b),
                )


def _on_groups(result: Comparison) -> Iterator[Note]:
    """A group that holds more than a third of the queries, and intervals that are missing, where groups are units."""
    if result.groups is None or not result.cluster:
        return
    sizes = result.groups.sizes
    queries = sum(sizes.values())
    largest = max(sizes, key=lambda group: sizes[group])
    if 3 * sizes[largest] > queries and len(sizes) > 2:
        yield Note(
            f"Group {largest} holds {sizes[largest]} of {count(queries, 'query')}: what is said of all of them is said of it.",
            DOUBTFUL,
        )
    if max(sizes.values()) > 2 * min(sizes.values()):
        yield Note(
            "Groups differ in size: the test keeps its level where size and difference do not go together. An interval is given only where "
            "they do not seem to, and the groups weigh as much as 8 equal ones."
        )
