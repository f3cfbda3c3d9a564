"""What a comparison says in sentences: who leads, who may be the best as well, what differs.

All of it reads the verdicts.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator, Sequence

import numpy as np

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import (
    BETTER,
    NOT_BOUNDED,
    NOT_WORSE,
    UNDECIDED,
    WITHIN,
    WORSE,
)
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.caveats import comparison_caveats, shared_words
from ir_lexirecall.present.findings import Finding, grouped
from ir_lexirecall.present.standings import (
    MAY_BE_BEST,
    SIGNS,
    VERDICTS,
    Standing,
    against_words,
    bound_words,
    criteria_captions,
    defined,
    direction_words,
    directions,
    families_words,
    how_compared,
    standings_of,
)
from ir_lexirecall.present.tables import (
    BEST,
    DAGGER,
    PLACES,
    Column,
    Shown,
    best_marks,
    dagger_note,
)
from ir_lexirecall.present.text import FEW_NAMES, MOST_NAMES, count, gathered, listed
from ir_lexirecall.significance import least_two_sided_p, unseen_share


def comparison_finding(result: Comparison) -> Finding:
    head = f"{count(len(result.runs), 'run')} on {count(len(result.query_ids), result.unit)}"
    head += f" of {result.source}" if result.source else ""
    head += f" {result.provenance['rules']}" if result.provenance["rules"] else ""
    shared = shared_words(result)
    head += f", by {listed(result.criteria)}{f'; {shared}' if shared else ''}"
    sentences = [f"{head}.{directions(result.by)}"]
    notes, standings = grouped(comparison_caveats(result)), standings_of(result)
    names = [standing.name for standing in standings]
    left_out = listed(
        [name for name in result.measures if name not in names and result.by[name].query_ids]
    )
    if not standings:
        nothing = "No query has a relevant document" if result.query_ids else "There are no queries"
        why = (
            f"Not every value is a finite number: {left_out}."
            if left_out
            else f"{nothing}: nothing can be compared."
        )
        return Finding([*sentences, why], notes, names=result.criteria)
    if left_out:
        sentences.append(f"Left out, as not every value is a finite number: {left_out}.")
    sentences += _leading(result, standings)
    sentences += _predicted(result, names)
    sentences += filter(None, [families_words(result)])
    sentences += [*_in_groups(result, standings), *_unjudged(result, standings)]
    first, *others = standings
    ranking = first.ranking.drop(columns=["criterion", "direction"], errors="ignore")
    ranking = ranking.rename(columns={"mean": first.name})
    for other in others:
        means = other.ranking.set_index("run")["mean"].reindex(ranking["run"])
        ranking[other.name + direction_words(other.criterion)] = means.to_numpy()
    ranking.attrs.update(result.provenance)
    if result.baseline is not None:
        marks = [SIGNS.get(first.verdicts.on(run, result.baseline) or "", "") for run in first.runs]
        signs = f"+ better, - worse than {result.baseline}"
    else:
        others_best = (
            {*first.may_be_best} - {*first.leaders}
            if len(first.runs) > 2 and not first.all_alike
            else {}
        )
        marks = [MAY_BE_BEST if run in others_best else "" for run in first.runs]
        signs = f"{MAY_BE_BEST} may be the best as well"
    title = f"Ranking by {first.quantity}{direction_words(first.criterion)}, best first{f' ({signs})' if any(marks) else ''}:"
    return Finding(sentences, notes, ranking, marks, title, result.criteria)


def _predicted(result: Comparison, names: Sequence[str]) -> Iterator[str]:
    """Yield what predicted judgments add: how many queries they are worth, of measures only.

    Intervals of preferences are no narrower with them, so nothing is said of their precision.
    """
    if result.predicted is None:
        return
    human = len(result.query_ids)
    more = {}
    for name in names:
        if result.by[name].is_measure:
            gain = float(np.median(result.powered(name).n_effective)) - human
            more[name] = f"{gain:.0f}" if gain >= 0.5 else "no"
    pairs = f", the median over {len(result.pairs):,} pairs" if len(result.pairs) > 1 else ""
    worth = ""
    if more:
        numbers = [f"{number} more for {name}" for name, number in more.items()]
        if len(names) == 1:
            numbers = [f"{number} more" for number in more.values()]
        worth = f" are worth {listed(numbers)}{pairs}"
    judged = f"the {count(human, 'query')} that people judged"
    predictions = f"the predicted judgments of {len(result.predicted.query_ids):,} queries"
    yield (
        f"Differences are prediction-powered: beside {judged}, {predictions}"
        f"{worth or ' count'}. That holds only if people's queries were drawn at random. Means are "
        "those of the queries that people judged."
    )


def _leading(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Sentences on who leads, who may be the best as well, and what differs."""
    first, single = standings[0], len(standings) == 1
    if len(result.runs) == 1:
        yield f"{first.runs[0]}: {_mean(first)}."
        return
    names = [standing.name for standing in standings]
    how = how_compared(result, names)
    if len(result.runs) == 2:
        yield from (
            _two(standing, "" if single else f"By {standing.name}, ") for standing in standings
        )
        yield f"({how}.)"
        return
    groups = gathered((() if s.all_alike else tuple(s.leaders), s.name) for s in standings)
    if len(groups) == 1:
        by = f"({_mean(first)})" if single else f"by {listed(names)}"
        verb = "leads" if len(first.leaders) == 1 else "lead"
        yield (
            f"All runs are level {by}."
            if first.all_alike
            else f"{listed(first.leaders)} {verb} {by}."
        )
    else:
        parts = [
            f"by {listed(by)}, {listed(who) if who else 'all are level'}"
            for who, by in groups.items()
        ]
        yield f"Who leads depends on the criterion: {'; '.join(parts)}."
    if result.baseline is not None:
        said = [
            ("" if single else f"by {standing.name}, ") + against_words(standing)
            for standing in standings
        ]
        yield f"Against the baseline {result.baseline} ({how}): {'; '.join(said)}."
        yield from _margin_legend(result, standings)
        return
    some = [standing for standing in standings if not standing.all_alike]
    if some:
        yield from _best(standings, some)
    for standing in some:
        best = standing.runs[0]
        if beaten_by := [
            run for run in standing.runs[1:] if standing.verdicts.on(run, best) == BETTER
        ]:
            better = f"{'is' if len(beaten_by) == 1 else 'are'} significantly better than"
            leader = "it" if single else f"{best} by {standing.name}"
            yield f"But {listed(beaten_by)} {better} {leader}, pair by pair."
    if single:
        yield f"{first.verdicts.decided:,} of {count(len(result.pairs), 'pair')} differ significantly ({how})."
    else:
        differ = ", ".join(
            f"{standing.name} {standing.verdicts.decided:,}" for standing in standings
        )
        yield f"Significantly different pairs, of {len(result.pairs):,} ({how}): {differ}."


def _margin_legend(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield what *undecided* and the bounds mean, where verdicts know a margin."""
    if result.margins is None:
        return
    verdicts = {word for standing in standings for word in standing.verdicts.pairs.values()}
    if UNDECIDED in verdicts:
        yield "Undecided: neither worse, nor better, nor shown to be non-inferior."
    if {WITHIN, NOT_WORSE} & verdicts:
        yield f"Bounds: one-sided {texts.confidence_words(result.provenance)}."


def _mean(standing: Standing) -> str:
    """The mean of the first run with its interval."""
    row = standing.ranking.iloc[0]
    within = texts.interval(row["ci_low"], row["ci_high"])
    within = (
        ""
        if within == "-"
        else f", {texts.confidence_words(standing.ranking.attrs)} interval {within}"
    )
    return f"{standing.quantity} {texts.format_number(float(row['mean']), 4)}{within}"


def _two(standing: Standing, by: str) -> str:
    """Return which of two runs is better, as tested."""
    (first, second), row = standing.runs, standing.result.table(standing.name).iloc[0]
    if standing.result.margins is not None:
        sentence = _two_with_margin(standing, row)
        if sentence is not None:
            return by + sentence
        p = texts.p_words(float(row["better_p" if row["verdict"] == BETTER else "worse_p"]))
    else:
        p = texts.p_words(float(row["p_corrected"]))
    verdict = standing.verdicts.on(first, second)
    if verdict in (BETTER, WORSE):
        better, worse = (first, second) if verdict == BETTER else (second, first)
        higher = "lower" if standing.criterion.smaller_is_better else "higher"
        agrees = verdict == BETTER or standing.all_alike
        counter = "" if agrees else f", although {first} has the {higher} mean"
        return f"{by}{better} is significantly better than {worse} ({p}){counter}."
    p += unresolvable_words(standing, row)
    if not standing.all_alike:
        return f"{by}{first} has the better mean, but the two do not differ significantly ({p})."
    alike = (
        "are level on every query"
        if row["wins"] == row["losses"] == 0
        else f"have the same mean ({p})"
    )
    return f"{by}{'the' if by else 'The'} two {alike}."


def _two_with_margin(standing: Standing, row: pd.Series) -> str | None:
    """Return what a margin lets one say of two runs; None where one is better."""
    run, baseline, verdict = row["run_a"], row["run_b"], row["verdict"]
    assert standing.result.margins is not None
    margin = f"margin {standing.result.margins[standing.name]:.3g}"
    if verdict == WITHIN:
        p = texts.p_words(float(row["within_p"]))
        bound = bound_words(standing, row)
        return f"{run} and {baseline} are equivalent ({margin}, {p}). {run} {bound}."
    not_worse = texts.p_words(float(row["not_worse_p"]))
    if verdict == NOT_WORSE:
        bound = bound_words(standing, row)
        return f"{run} is non-inferior to {baseline} ({margin}, {not_worse}). Not worse: {bound}."
    if verdict != UNDECIDED:
        return None
    queries = len(standing.criterion.query_ids)
    if row["ties"] == queries:
        share = f"{unseen_share(queries):.0%}"
        return (
            f"{run} and {baseline}: the two are identical on all "
            f"{count(queries, standing.result.unit)}, which does not show equivalence: "
            f"up to {share} of such {count(2, standing.result.unit)[2:]} may differ (95%); "
            f"undecided ({margin}, {not_worse})."
        )
    p = texts.p_words(float(min(row["better_p"], row["worse_p"])))
    p += unresolvable_words(standing, row)
    lead = "" if standing.all_alike else f"{standing.runs[0]} has the better mean, but "
    return (
        f"{lead}{run} is undecided: neither better nor worse ({p}), nor is {run} shown to be "
        f"non-inferior ({margin}, {not_worse}). It {bound_words(standing, row)}."
    )


def unresolvable_words(standing: Standing, row: pd.Series) -> str:
    """Return that too few queries differ for any verdict; empty where there are enough."""
    differing = int(row["wins"] + row["losses"])
    test = standing.result.test_of(standing.name)
    if not differing or test.procedure.at_once or test.groups is not None:
        return ""
    if least_two_sided_p(np.array(differing)) <= test.alpha:
        return ""
    verb = "differs" if differing == 1 else "differ"
    return f"; unresolvable: only {count(differing, standing.result.unit)} {verb}"


def _best(standings: Sequence[Standing], some: Sequence[Standing]) -> Iterator[str]:
    """Which runs may be the best, with the confidence of that, by ``some`` criteria: those by which not all runs are level."""
    single = len(standings) == 1
    none, every, most = "no other run", "every other run", FEW_NAMES
    if single:
        none = "No other run" if len(some[0].leaders) == 1 else "No run beside these"
        every, most = "Every other run", MOST_NAMES
    who = {}
    for standing in some:
        others = [run for run in standing.may_be_best if run not in standing.leaders]
        is_every = len(others) == len(standing.runs) - len(standing.leaders)
        who[standing.name] = none if not others else every if is_every else listed(others, most)
    confidence = texts.confidence_words(some[0].ranking.attrs)
    if single:
        (said,) = who.values()
        yield f"{said} may be the best{'' if said == none else ' as well'} ({confidence} confidence)."
    else:
        parts = texts.once((said, name) for name, said in who.items())
        sentence = f"May be the best as well ({confidence} confidence for each criterion): {parts}."
        if len({tuple(standing.leaders) for standing in standings}) > 1:
            everywhere = [
                run
                for run in standings[0].runs
                if all(run in standing.may_be_best for standing in some)
            ]
            sentence += f" {listed(everywhere) if everywhere else 'No run'} may be the best by every criterion."
        yield sentence
    omitted = ((x, run) for x in some for run in x.runs if run not in x.may_be_best)
    if any(
        standing.verdicts.on(standing.leaders[0], run) == UNDECIDED for standing, run in omitted
    ):
        asked = "who may be the best asks only whether some run is better, which takes fewer comparisons than all pairs"
        yield f"Some run is left out that is not significantly different from the leader: {asked}."


def _in_groups(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """What differs in which group of queries, in a sentence for each criterion."""
    if result.groups is None or not result.grouped or len(result.runs) < 2:
        return
    sizes = result.groups.sizes
    how = how_compared(result, [standing.name for standing in standings], len(sizes))
    beside = "" if result.baseline is None else f", against {result.baseline}"
    for standing in standings:
        facts = []
        for group, rows in result.group_table(standing.name).groupby("group", sort=False):
            if result.baseline is None:
                number = int(rows["verdict"].isin([BETTER, WORSE]).sum())
                said = f"{number:,} of {count(len(rows), 'pair')} differ" if number else ""
            else:
                runs = gathered(zip(rows["verdict"], rows["run_a"], strict=True))
                decided = [
                    verdict for verdict in VERDICTS if verdict in runs and verdict != UNDECIDED
                ]
                said = ", ".join(
                    f"{listed(runs[verdict], FEW_NAMES)} {verdict}" for verdict in decided
                )
            facts.append(
                (
                    said or "no significant differences",
                    f"{group} ({count(sizes[str(group)], 'query')})",
                )
            )
        by = f"by {standing.name}: " if len(standings) > 1 else ""
        head = f"By query group{beside} ({how}): {by}" if standing is standings[0] else f"B{by[1:]}"
        yield f"{head}{texts.once(facts, 'in')}."


def _unjudged(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield what unjudged documents could change.

    First, on how many queries they could change the winner of the two best runs, or of the best
    run and the baseline. Then, how many significant differences keep their sign whatever grades
    they would get.
    """
    if len(result.runs) < 2:
        return
    yield from _could_change_the_winner(result, standings)
    yield from _keep_their_sign(result, standings)
    for standing in standings:
        if standing.verdicts.decided:
            yield from _why_not_bounded(result, standing.name, _by(standing, standings))


def _by(standing: Standing, standings: Sequence[Standing]) -> str:
    """Return " by" and the criterion, which is left out where there is one only."""
    return f" by {standing.name}" if len(standings) > 1 else ""


def _could_change_the_winner(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield on how many queries unjudged documents could change the winner of the leading pair."""
    first, *others = standings[0].runs
    other = others[0] if result.baseline in (None, first) else str(result.baseline)
    pair = next(i for i, pair in enumerate(result.pairs) if set(pair) == {first, other})
    open_on, depth_of = [], {}
    for standing in standings:
        left = result.undecided(standing.name)
        if left is None:
            continue
        number, queries = int(left.is_open[pair].sum()), left.is_open.shape[1]
        most = "" if left.exact[pair] or not number else "at most "
        open_on.append(f"on {most}{number} of {count(queries, 'query')}{_by(standing, standings)}")
        depth_of[standing.name] = left.depth
    if open_on:
        who = f" between {first} and {other}" if len(result.runs) > 2 else ""
        documents = f"the unjudged documents of {texts.top_words(depth_of)}"
        yield f"Judging {documents} could change the winner{who} {listed(open_on)}."


def _keep_their_sign(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield how many significant differences keep their sign, whatever grades documents get."""
    kept, decided, depth_of = {}, {}, {}
    for standing in standings:
        left, name = result.undecided(standing.name), standing.name
        if standing.verdicts.decided and left is not None and standing.unsure is not None:
            decided[name] = standing.verdicts.decided
            kept[name] = decided[name] - len(standing.unsure)
            depth_of[name] = left.depth
    if not kept:
        return
    total, verb = sum(decided.values()), "keep their"
    by = "" if len(kept) == len(standings) else f" by {listed([*kept])}"
    if kept != decided:
        by_name = {name: f" by {name}" if len(standings) > 1 else "" for name in kept}
        differences = "significant differences"
        facts = [f"{kept[n]:,} of {decided[n]:,} {differences}{by_name[n]}" for n in kept]
        subject = listed(facts)
    elif total == 1:
        subject, verb = f"The significant difference{by}", "keeps its"
    else:
        subject = f"All {total:,} significant differences{by}"
    documents = f"the unjudged documents of {texts.top_words(depth_of)}"
    yield f"{subject} {verb} sign whatever grades {documents} would get."


def _why_not_bounded(result: Comparison, name: str, by: str) -> Iterator[str]:
    """Yield why it is not known what unjudged documents could change, if that has a reason to tell."""
    test = result.test_of(name).procedure
    if result.undecided(name) is not None:
        if test.of == "centre":
            yield f"What unjudged documents could change{by} is not bounded for the {test.title}."
    elif result.too_many(name):
        long = f"{count(len(result.pairs), 'pair')} take long; see bounds"
        yield f"What unjudged documents could change{by} was not looked at: {long}."


# -- tables ----------------------------------------------------------------------------------------


def marks_of(result: Comparison) -> dict[str, list[str]]:
    """Marks beside the means of each criterion, in the order of the runs: ``*`` the best, ``+`` and ``-`` by the verdicts."""
    marks, tested = {}, defined(result)
    for name, criterion in result.by.items():
        marks[name] = best_marks(criterion.means, smaller_is_better=criterion.smaller_is_better)
        if result.baseline is not None and name in tested:
            verdicts = [result.verdicts_by(name).on(run, result.baseline) for run in result.runs]
            marks[name] = [
                top + SIGNS.get(word or "", "")
                for top, word in zip(marks[name], verdicts, strict=True)
            ]
    return marks


def comparison_table(result: Comparison, places: int = PLACES, *, holds: bool = False) -> Shown:
    """Means for a paper: a row per run, best first by the first criterion, a column per criterion, marked by the verdicts.

    With a baseline, ``+`` and ``-`` are raised; without, the letters of the runs that each one is
    significantly better than. With ``holds``, a dagger follows the differences that unjudged
    documents might undo.
    """
    standings = {standing.name: standing for standing in standings_of(result)}
    ranked = map(str, result.ranking(next(iter(standings), None))["run"])
    places_of = {run: result.runs.index(run) for run in ranked}
    runs = list(places_of)
    # a, b, ... z, aa, ab, ...: as spreadsheets name their columns.
    words = (
        word
        for length in itertools.count(1)
        for word in itertools.product(string.ascii_lowercase, repeat=length)
    )
    letters = dict(zip(runs, map("".join, words), strict=False))
    separator = "" if len(runs) <= 26 else ","
    lettered = result.baseline is None and len(runs) > 1
    columns = [*([Column("", list(letters.values()))] if lettered else []), Column("run", runs)]
    marks, unbounded = marks_of(result), []
    depth_of: dict[str, int | None] = {}
    for name, criterion in result.by.items():
        standing, unsure = standings.get(name), []
        if holds and standing is not None:
            depth, held = result.holds(name)
            unsure = standing.unsure or []
            if unsure:
                depth_of[name] = depth
            if standing.unsure is None and standing.verdicts.decided and NOT_BOUNDED in held:
                unbounded.append(name)
        cells, signs = [], []
        for run, place in places_of.items():
            cells.append(texts.format_number(float(criterion.means[place]), places))
            sign = marks[name][place]
            if lettered and standing is not None:
                beaten = standing.verdicts.beaten(run, runs)
                sign += separator.join(
                    letters[other] + DAGGER * ({run, other} in unsure) for other in beaten
                )
            else:
                sign += DAGGER * ({run, result.baseline} in unsure)
            signs.append(sign)
        columns.append(Column(name + direction_words(criterion), cells, numeric=True, marks=signs))
    notes = (
        ["Bold: the best of its column."]
        if any(BEST in sign for of in columns for sign in of.marks)
        else []
    )
    if len(runs) > 1 and standings:
        raised = "Raised: significantly better than the runs of these letters"
        if result.baseline is not None:
            raised = f"+, -: significantly better, worse than {result.baseline}"
        notes.append(f"{raised} ({how_compared(result, list(standings))}).")
        notes += filter(None, [families_words(result)])
    if depth_of:
        notes.append(dagger_note(depth_of))
    if unbounded:
        notes.append(f"What unjudged documents could change is not bounded by {listed(unbounded)}.")
    notes += criteria_captions(result.by)
    where = f" of {result.source}" if result.source else ""
    return Shown(columns, f"Means on {count(len(result.query_ids), result.unit)}{where}.", notes)
