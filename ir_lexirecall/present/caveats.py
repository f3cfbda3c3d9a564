"""When not to trust a comparison, or the values of runs: notes on queries, rankings, ties and leaders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.rounding import same
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.criteria import MeasureCriterion, PreferenceCriterion
from ir_lexirecall.comparison.verdicts import BETTER, UNDECIDED, WORSE
from ir_lexirecall.judging.predicted import ENOUGH
from ir_lexirecall.present.findings import ASIDE, BROKEN, DOUBTFUL, FEW_QUERIES, WEAK, Note, gravest_first, run_caveats
from ir_lexirecall.present.standings import is_defined
from ir_lexirecall.present.text import FEW_NAMES, correction_words, count, enumerated, format_number, format_p, listed
from ir_lexirecall.significance import SKEWED, SignificanceTest, corrected, group_units, skewness, smallest_p

_TOO_SKEWED = 0.4  # skewness / sqrt(queries)
RARE = "a run that wins rarely but by much may wrongly be ruled out as the best"  # it is kept in .66 (10 queries), .93 (25)
OUTNUMBERED = "Has the better mean but loses more queries than it wins"  # kind of a note


def comparison_caveats(result: Comparison) -> list[Note]:
    """What to be careful about, the gravest first."""
    tested = [name for name, criterion in result.by.items() if is_defined(criterion)] if len(result.runs) > 1 else []
    notes = _on_leaders(result, tested)
    human = len(result.query_ids)
    least = min(result.groups.sizes.values()) if result.groups is not None and result.grouped else human
    if result.predicted is not None and min(least, human) < ENOUGH:
        of_group, of_groups, kind = " of a group", " of groups", "Few queries of a group judged by people"
        if human < ENOUGH:
            of_group = of_groups = ""
            kind = "Too few queries judged by people for prediction-powered intervals to keep their level"
        some = f"{count(human if human < ENOUGH else least, 'query')}{of_group} judged by people"
        less = f"prediction-powered intervals{of_groups} may hold the truth less often than they say"
        notes.append(Note(f"Only {some}: below {ENOUGH}, {less}.", DOUBTFUL, kind, some))
    # Significant differences that unjudged documents could undo. Predictions mend what queries people did not judge, not the
    # documents they left out on those they did.
    for name in tested:
        if (left := result.undecided(name)) is None:
            continue
        verdicts, depth = result.verdicts_by(name), f"depth {left.depth}"
        where = "" if result.predicted is None else "on the queries that people judged, "
        ends_of = zip(result.pairs, left.low, left.high, left.holds_zero, left.reached, strict=True)
        for (a, b), low, high, holds, reached in ends_of:
            if holds and verdicts.on(a, b) in (BETTER, WORSE):
                ends = f"{format_number(float(low), 4)} to {format_number(float(high), 4)}"
                could = "" if reached else "it is not ruled out that "
                undo = f"{could}unjudged documents could undo it"
                kind = f"Significant by {name}, but {undo} ({depth}; see bounds)"
                sentence = (
                    f"{name}, {a} and {b}: the difference is significant, but {undo} ({where}from {ends} as "
                    f"they are judged, {depth}; see bounds)."
                )
                notes.append(Note(sentence, DOUBTFUL, kind, f"{a} and {b}", runs=(a, b)))
    notes += [*_on_tests(result, tested), *_on_skewness(result, tested)]
    return gravest_first([*notes, *caveats_on_data(result)])


def caveats_on_data(result: Comparison) -> list[Note]:
    """The notes on queries, rankings and values alone, which need no test."""
    notes, queries = [], len(result.query_ids)
    if (
        result.groups is not None and result.test.cluster
    ):  # a group that outweighs the others, intervals that are missing
        sizes = result.groups.sizes
        largest = max(sizes, key=lambda group: sizes[group])
        if 3 * sizes[largest] > queries and len(sizes) > 2:
            share = f"{sizes[largest]} of {count(queries, 'query')}"
            notes.append(Note(f"Group {largest} holds {share}: overall results mostly reflect this group.", DOUBTFUL))
        if max(sizes.values()) > 2 * min(sizes.values()):
            sentence = (
                "Groups differ in size: the test keeps its level where size and difference do not go together. An interval is given only where "
                "they do not seem to, and the groups weigh as much as 8 equal ones."
            )
            notes.append(Note(sentence))
    preferences = next((c for c in result.by.values() if isinstance(c, PreferenceCriterion)), None)
    if preferences is not None and (excluded := queries - len(preferences.query_ids)):
        has, takes = ("has", "takes") if excluded == 1 else ("have", "take")
        rel, what = preferences.preferences.rel, "for preferences" if result.measures else "in the comparison"
        lack = f"{count(excluded, 'query')} {has} no relevant document (rel={rel:g})"
        notes.append(Note(f"{lack} and {takes} no part {what}.", ASIDE))
    if queries < 25:
        some = count(queries, result.unit)
        notes.append(Note(f"Only {some}: tests detect only large differences.", DOUBTFUL, FEW_QUERIES, some))
    if result.unit == "task":
        sample = "tests and intervals take these tasks as a sample of tasks"
        notes.append(Note(f"A value per task: {sample}, and know nothing of the queries within."))
    if result.given is not None and (skipped := result.given.skipped):
        some = f"{count(len(skipped), result.unit)} ({listed(list(skipped), 3)})"
        notes.append(
            Note(f"{some} {'lacks' if len(skipped) == 1 else 'lack'} a value of some run: left out.", DOUBTFUL)
        )
    if preferences is not None and preferences.query_ids:
        median = np.median(preferences.preferences.m)
        if median < 3:
            documents = "document" if median == 1 else "documents"
            notes.append(
                Note(f"Half of the queries have at most {median:g} relevant {documents}: few levels to compare.")
            )
    # Pairs that are mostly ties, or mostly not comparable.
    a, b = result.places
    defined = {name: criterion for name, criterion in result.by.items() if is_defined(criterion)}
    for name, criterion in defined.items() if len(a) else ():
        queries = len(criterion.query_ids)
        wins, losses, incomparable = criterion.counts(a, b)
        ties = queries - wins - losses - incomparable
        for what, numbers in (("ties", ties), ("not comparable", incomparable)):
            for place in np.flatnonzero(numbers > queries / 2).tolist():
                (first, second), share = result.pairs[place], f"{numbers[place]} of {queries} queries"
                sentence, kind = f"{name}, {first} and {second}: {share} are {what}.", f"Mostly {what} by {name}"
                subject = f"{first} and {second} ({share})"
                notes.append(Note(sentence, kind=kind, subject=subject, runs=(first, second)))
    # Measures that are 0 on most queries even of the leader: few queries decide.
    for name, criterion in defined.items() if len(result.runs) > 1 else ():
        if not isinstance(criterion, MeasureCriterion) or criterion.smaller_is_better:
            continue
        queries, leader = len(criterion.query_ids), int(criterion.means.argmax())
        zeros = queries - np.count_nonzero(criterion.values[leader])
        differ = int((criterion.levelled != criterion.levelled[0]).any(axis=0).sum())
        if queries / 2 < zeros < queries:
            where = f"{zeros} of {queries} queries of {result.runs[leader]}"
            sentence = f"{name} is 0 on {where}, which leads by it; the runs differ on {count(differ, 'query')}."
            notes.append(Note(sentence, DOUBTFUL, "0 on most queries even of the leader", f"{name} ({where})"))
    if result.scored is not None:
        notes += run_caveats(result.scored.with_measures(result.measures))
    return gravest_first(notes)


def _on_leaders(result: Comparison, tested: list[str]) -> list[Note]:
    """Notes on best sets of few queries, and on leaders by the mean that lose more queries than they win against runs that do not differ significantly."""
    notes = []
    groups = result.test.cluster and result.groups is not None
    units = min((len(result.groups or ()) if groups else len(result.by[name].query_ids) for name in tested), default=0)
    if len(result.runs) > 2 and units < 25 and not all(result.best_set(name)["may_be_best"].all() for name in tested):
        some = count(units, "group" if groups else result.unit)
        notes.append(Note(f"Only {some}: {RARE}."))
    for name in tested:
        criterion, verdicts = result.by[name], result.verdicts_by(name)
        leader = str(result.ranking(name)["run"].iloc[0])
        place = result.runs.index(leader)
        level, decided = same(criterion.means, criterion.means[place]), (None, BETTER, WORSE)
        others = [i for i, run in enumerate(result.runs) if not level[i] and verdicts.on(leader, run) not in decided]
        wins, losses, _ = criterion.counts(np.full(len(others), place), np.array(others, dtype=np.int64))
        beaten = [
            (result.runs[i], w, x) for i, w, x in zip(others, wins.tolist(), losses.tolist(), strict=True) if x > w
        ]
        if beaten:
            facts = enumerated([f"{run} (wins {w}, loses {x})" for run, w, x in beaten])
            runs = listed([run for run, *_ in beaten])
            mean = f"{leader} has the {'lower' if criterion.smaller_is_better else 'higher'} mean {name}"
            sentence = f"{mean}, but loses more queries than it wins against {facts}: no significant difference."
            subject, fact = f"{leader} by {name}, against {runs}", f"by {name}, against {runs}"
            notes.append(Note(sentence, DOUBTFUL, OUTNUMBERED, subject, runs=(leader,), fact=fact))
    return notes


def _on_tests(result: Comparison, tested: list[str]) -> list[Note]:
    """The smallest p of a test, where it cannot reject, or queries are few."""
    notes: list[Note] = []
    tests: dict[tuple[str, int], SignificanceTest] = {}
    for name in tested:
        tests.setdefault((str(result.test_of(name).name), len(result.by[name].query_ids)), result.test_of(name))
    for (_, queries), test in tests.items():
        least = smallest_p(test, queries)
        adjusted = float(
            corrected(np.full(len(result.pairs), least), test.counted_correction, test.alpha)[0].max(initial=least)
        )
        shown = count(queries, result.unit)
        sentence = f"The smallest p that the {test.name} test can give on {shown} is {format_p(least)}"
        if adjusted > least:
            correction = f"{correction_words(str(test.counted_correction))} for {len(result.pairs):,} comparisons"
            sentence += f" ({format_p(adjusted)} after {correction})"
        if adjusted > test.alpha:
            kind = f"The {test.name} test cannot reject at alpha {test.alpha:g}"
            subject = f"{shown} (smallest {'corrected ' if adjusted > least else ''}p {format_p(adjusted)})"
            notes.append(Note(f"{sentence}: it cannot reject at alpha {test.alpha:g}.", BROKEN, kind, subject))
        elif queries < 25 and adjusted > test.alpha / 10:
            notes.append(Note(f"{sentence}.", ASIDE))
    return notes


def _on_skewness(result: Comparison, tested: list[str]) -> list[Note]:
    """Verdicts with a margin on few queries, of groups, too, or of differences whose long tail is on the side that the verdict denies."""
    notes: list[Note] = []
    for name in tested if result.margins is not None else ():
        criterion, test = result.by[name], result.test_of(name)
        x = criterion.sign * np.concatenate([*criterion.differences(*result.places)])
        verdicts = [str(result.verdicts_by(name).on(a, b)) for a, b in result.pairs]
        units = x if test.groups is None else group_units(x, test.groups)
        unit = result.unit if test.groups is None else "group"
        notes += skewness_notes(name, test, result.pairs, {"": (units, verdicts)}, unit)
        if result.groups is not None and result.grouped:
            labels, of_groups = np.array(result.labels_of(criterion)), result.group_table(name)
            parts = {
                str(group): (x[:, labels == group], rows["verdict"].tolist())
                for group, rows in of_groups.groupby("group", sort=False)
            }
            notes += skewness_notes(name, test, result.pairs, parts, unit)
    return notes


def skewness_notes(
    name: str,
    test: SignificanceTest,
    pairs: Sequence[tuple[str, str]],
    parts: Mapping[str, tuple[Floats, Sequence[str]]],
    unit: str,
) -> list[Note]:
    """Notes on one-sided verdicts by tests whose level skewed differences break.

    Of resampled pairs of real runs whose long tail is on the losing side, verdicts are false, for .05, by t in .07 to .12 with 10
    queries and .05 to .07 from 25 on; by bootstrap and randomisation in .05 to .12, .06 to .10 with 25, .06 to .09 with 50. The sign
    test assumes no symmetry, and Wilcoxon's is right about the pseudomedian (.05 to .08), not about the mean (.07 to .18).

    Args:
        parts: differences, shape ``(P, Q)``, and the verdicts on the first runs of the pairs, by the name of a part of the queries.
    """
    if test.procedure.of == "signs":
        return []
    enough, notes = SKEWED if test.name == "t" else 2 * SKEWED, []
    few: dict[str, str] = {}
    for part, (x, verdicts) in parts.items():
        some, within = count(x.shape[1], unit), f"{part}: " if part else ""
        for (a, b), verdict, g in zip(pairs, verdicts, skewness(x).tolist(), strict=True):
            if verdict == UNDECIDED:
                continue
            denied, shown = g if verdict == WORSE else -g, format_number(g, 1)
            skewed, subject = f"{within}{name}, {a} and {b}: the differences", f"{within}{a} and {b} (skewness {shown})"
            skewed += f" have a skewness of {shown}"
            if test.procedure.of == "centre":
                if denied > 2 * np.sqrt(6 / x.shape[1]):
                    centre = f"the test ({test.procedure.title}) is on the {test.procedure.estimate}, not on their mean"
                    kind = f"Skewed differences by {name}: {centre}"
                    notes.append(Note(f"{skewed}; {centre}.", DOUBTFUL, kind, subject, runs=(a, b)))
            elif x.shape[1] < enough:
                few.setdefault(part, f"{verdict} rests on {some}")
            elif denied > _TOO_SKEWED * np.sqrt(x.shape[1]):
                alpha = f"{verdict} may be wrong more often than alpha {test.alpha:g}"
                kind = f"Differences too skewed for {some}, by {name}"
                sentence = f"{skewed}, which {some} do not settle; {alpha}."
                notes.append(Note(sentence, DOUBTFUL, kind, subject, runs=(a, b)))
    if few:
        rests = few.get("") or f"verdicts rest on few {count(2, unit)[2:]} in {listed([*few], FEW_NAMES)}"
        tests = f"one-sided tests ({test.name}) of fewer than {enough}"
        rates = f"{tests} reach error rates about twice the nominal, on some pairs more"
        notes.append(Note(f"{name}: {rests}; where differences are skewed, {rates}.", WEAK))
    return notes
