"""What a comparison says in sentences: who leads, who may be the best as well, what differs. All of it reads the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, UNDECIDED, WORSE
from ir_lexirecall.present.caveats import comparison_caveats, is_defined
from ir_lexirecall.present.findings import Finding
from ir_lexirecall.present.missing import left_open_words, predicted_words
from ir_lexirecall.present.notes import grouped
from ir_lexirecall.present.standings import MAY_BE_BEST, SIGNS, Standing, verdict_words
from ir_lexirecall.present.tables import BEST, PLACES, Column, Shown, best_marks
from ir_lexirecall.present.text import format_number
from ir_lexirecall.present.words import (
    FEW_NAMES,
    MOST_NAMES,
    confidence_words,
    count,
    how_tested,
    interval,
    listed,
    p_words,
)


def comparison_finding(result: Comparison) -> Finding:
    head = _head(result)
    notes = grouped(comparison_caveats(result))
    names = [name for name, criterion in result.by.items() if is_defined(criterion)]
    left_out = [name for name in result.measures if name not in names and result.by[name].query_ids]
    if not names:
        nothing = "No query has a relevant document" if result.query_ids else "There are no queries"
        sentence = (
            f"Not every value is a finite number: {listed(left_out)}."
            if left_out
            else f"{nothing}: nothing can be compared."
        )
        return Finding([head, sentence], notes, names=result.criteria)
    without = [f"Left out, as not every value is a finite number: {listed(left_out)}."] if left_out else []
    standings = [Standing(result, name) for name in names]
    ranking, marks, title = ranked(result, standings)
    further = [
        *predicted_words(result, names),
        *_in_groups(result, standings),
        *left_open_words(result, names, standings[0].runs),
    ]
    sentences = [head, *without, *_leading(result, standings), *further]
    return Finding(sentences, notes, ranking, marks, title, result.criteria)


def _head(result: Comparison) -> str:
    what = [f"{count(len(result.runs), 'run')} on {count(len(result.query_ids), result.unit)}"]
    what += [f"of {result.source}"] if result.source else []
    provenance = result.provenance
    what += [provenance["rules"]] if provenance["rules"] else []
    what += [f"down to rank {provenance['cutoff']}"] if provenance["cutoff"] is not None else []
    return f"{' '.join(what)}, by {listed(result.criteria)}."


def _leading(result: Comparison, standings: Sequence[Standing]) -> list[str]:
    """Sentences on who leads, who may be the best as well, and what differs."""
    if len(result.runs) == 1:
        first = standings[0]
        return [f"{first.runs[0]}: {_mean(first, first.runs[0])}."]
    if len(result.runs) == 2:
        return [_two(standings, standing) for standing in standings] + [f"({_how(result, standings)}.)"]
    sentences = [_leads(standings[0])] if len(standings) == 1 else [_leaders(standings)]
    if result.baseline is not None:
        return [*sentences, _against_baseline(result, standings)]
    best = _best(standings)
    sentences += [best] if best else []
    for standing in standings:
        if standing.beaten_by and not standing.all_alike:
            better = f"{'is' if len(standing.beaten_by) == 1 else 'are'} significantly better than"
            leader = "it" if len(standings) == 1 else f"{standing.runs[0]} by {standing.name}"
            sentences.append(f"But {listed(standing.beaten_by)} {better} {leader}, pair by pair.")
    if len(standings) == 1:
        first = standings[0]
        number = f"{first.verdicts.decided:,} of {count(len(result.pairs), 'pair')}"
        return [*sentences, f"{number} differ significantly ({_how(result, standings)})."]
    differ = ", ".join(f"{standing.name} {standing.verdicts.decided:,}" for standing in standings)
    return [
        *sentences,
        f"Significantly different pairs, of {len(result.pairs):,} ({_how(result, standings)}): {differ}.",
    ]


def _how(result: Comparison, standings: Sequence[Standing]) -> str:
    return how_compared(result, [standing.name for standing in standings])


def how_compared(result: Comparison, names: Sequence[str]) -> str:
    """How differences by some criteria were tested, in a few words."""
    said = how_tested({name: result.test_of(name) for name in names}, len(result.pairs))
    return said if result.predicted is None else said.replace("paired", "prediction-powered", 1)


def _mean(standing: Standing, run: str) -> str:
    row = standing.ranking.set_index("run").loc[run]
    within = interval(row["ci_low"], row["ci_high"])
    confidence = f"{confidence_words(standing.ranking.attrs)} interval"
    quantity = standing.result.by[standing.name].quantity
    return f"{quantity} {format_number(float(row['mean']), 4)}{'' if within == '-' else f', {confidence} {within}'}"


def _two(standings: Sequence[Standing], standing: Standing) -> str:
    """Which of two runs is better, as tested."""
    first, second = standing.runs
    row = standing.result.table(standing.name).iloc[0]
    by = f"By {standing.name}, " if len(standings) > 1 else ""
    p = p_words(float(row["p_corrected"]))
    verdict = standing.verdicts.on(first, second)
    if verdict in (BETTER, WORSE):
        better, worse = (first, second) if verdict == BETTER else (second, first)
        counter = "" if verdict == BETTER or standing.all_alike else f", although {first} has the higher mean"
        return f"{by}{better} is significantly better than {worse} ({p}){counter}."
    if standing.all_alike and row["wins"] == row["losses"] == 0:
        return f"{by}{'the' if by else 'The'} two are level on every query."
    if standing.all_alike:
        return f"{by}{'the' if by else 'The'} two have the same mean ({p})."
    return f"{by}{first} has the better mean, but the two do not differ significantly ({p})."


def _leads(standing: Standing) -> str:
    number = _mean(standing, standing.runs[0])
    if standing.all_alike:
        return f"All runs are level ({number})."
    verb = "leads" if len(standing.leaders) == 1 else "lead"
    return f"{listed(standing.leaders)} {verb} ({number})."


def _grouped(standings: Sequence[Standing], key: Callable[[Standing], Any]) -> dict[Any, list[str]]:
    """The names of criteria by what they have in common."""
    groups: dict[Any, list[str]] = {}
    for standing in standings:
        groups.setdefault(key(standing), []).append(standing.name)
    return groups


def _leaders(standings: Sequence[Standing]) -> str:
    groups = _grouped(standings, lambda standing: () if standing.all_alike else tuple(standing.leaders))
    if len(groups) == 1:
        (leaders,) = groups
        if not leaders:
            return f"All runs are level by {listed(groups[leaders])}."
        return f"{listed(leaders)} {'leads' if len(leaders) == 1 else 'lead'} by {listed(groups[leaders])}."
    parts = [
        f"by {listed(names)}, {listed(leaders) if leaders else 'all are level'}" for leaders, names in groups.items()
    ]
    return f"Who leads depends on the criterion: {'; '.join(parts)}."


def _best(standings: Sequence[Standing]) -> str:
    """Which runs may be the best, with the confidence of that; empty where all runs are level."""
    some = [standing for standing in standings if not standing.all_alike]
    if not some:
        return ""
    confidence = confidence_words(some[0].ranking.attrs)

    def who(standing: Standing, every: str, others_than: str, most: int = MOST_NAMES) -> str:
        others = [run for run in standing.may_be_best if run not in standing.leaders]
        rest = len(standing.runs) - len(standing.leaders)
        return others_than if not others else every if len(others) == rest else listed(others, most)

    if len(standings) == 1:
        none = "No other run" if len(some[0].leaders) == 1 else "No run beside these"
        said = who(some[0], "Every other run", none)
        return f"{said} may be the best{'' if said == none else ' as well'} ({confidence} confidence)."
    parts = [
        f"by {listed(names)}, {level}"
        for level, names in _grouped(some, lambda s: who(s, "every other run", "no other run", FEW_NAMES)).items()
    ]
    sentence = f"May be the best as well ({confidence} confidence for each criterion): {'; '.join(parts)}."
    if len(_grouped(standings, lambda standing: tuple(standing.leaders))) == 1:
        return sentence
    everywhere = [run for run in standings[0].runs if all(run in standing.may_be_best for standing in some)]
    return f"{sentence} {listed(everywhere) if everywhere else 'No run'} may be the best by every criterion."


def _against_baseline(result: Comparison, standings: Sequence[Standing]) -> str:
    parts = []
    for standing in standings:
        groups = standing.against(str(result.baseline))
        facts = [
            f"{len(runs)} {verdict_words(verdict)} ({listed(runs)})"
            for verdict, runs in sorted(groups.items(), key=lambda group: _ORDER.index(group[0]))
        ]
        parts.append((f"by {standing.name}, " if len(standings) > 1 else "") + ", ".join(facts))
    return f"Against the baseline {result.baseline} ({_how(result, standings)}): {'; '.join(parts)}."


def _in_groups(result: Comparison, standings: Sequence[Standing]) -> list[str]:
    """What differs in which group of queries, in a sentence for each criterion."""
    if result.groups is None or not result.grouped or len(result.runs) < 2:
        return []
    sizes = result.groups.sizes
    tests = {standing.name: result.test_of(standing.name) for standing in standings}
    how = how_tested(tests, len(result.pairs) * len(sizes))
    beside = "" if result.baseline is None else f" beside {result.baseline}"
    sentences: list[str] = []
    for standing in standings:
        facts: dict[str, list[str]] = {}
        for group, rows in result.group_table(standing.name).groupby("group", sort=False):
            if result.baseline is None:
                number = int(rows["verdict"].isin([BETTER, WORSE]).sum())
                said = f"{number:,} of {count(len(rows), 'pair')} differ" if number else "nothing differs"
            else:
                runs = {verdict: [str(run) for run in some["run_a"]] for verdict, some in rows.groupby("verdict")}
                decided = [verdict for verdict in _ORDER if verdict in runs and verdict != UNDECIDED]
                said = ", ".join(f"{listed(runs[verdict], FEW_NAMES)} {verdict}" for verdict in decided)
                said = said or "nothing differs"
            facts.setdefault(said, []).append(f"{group} ({count(sizes[str(group)], 'query')})")
        where = "; ".join(f"in {listed(groups)}, {said}" for said, groups in facts.items())
        by = f"by {standing.name}: " if len(standings) > 1 else ""
        sentences.append(
            f"Within groups of queries{beside} ({how}), {by}{where}." if not sentences else f"B{by[1:]}{where}."
        )
    return sentences


_ORDER = [BETTER, WORSE, "within margin", "not worse", UNDECIDED]


# -- tables ----------------------------------------------------------------------------------------


def ranked(result: Comparison, standings: Sequence[Standing]) -> tuple[pd.DataFrame, list[str], str]:
    """The ranking by the first of several criteria, with the means of the others, its marks and its title."""
    first, *others = standings
    ranking = first.ranking.drop(columns="criterion").rename(columns={"mean": first.name})
    for standing in others:
        ranking[standing.name] = standing.ranking.set_index("run")["mean"].reindex(ranking["run"]).to_numpy()
    ranking.attrs.update(result.provenance)
    marks, legend = signs_of(result, first), ""
    if any(marks):
        sign = f"+ better, - worse than {result.baseline}"
        legend = f" ({sign if result.baseline else f'{MAY_BE_BEST} may be the best as well'})"
    return ranking, marks, f"Ranking by {result.by[first.name].quantity}, best first{legend}:"


def signs_of(result: Comparison, standing: Standing) -> list[str]:
    """A sign for each run of a ranking: with a baseline better or worse than it, else whether the run may be the best."""
    if result.baseline is not None:
        return [SIGNS.get(standing.verdicts.on(run, result.baseline) or "", "") for run in standing.runs]
    if len(standing.runs) < 3 or standing.all_alike:
        return [""] * len(standing.runs)
    return [MAY_BE_BEST if run in standing.may_be_best and run not in standing.leaders else "" for run in standing.runs]


def marks_of(result: Comparison) -> dict[str, list[str]]:
    """Marks beside the means of each criterion, in the order of the runs: ``*`` the best, ``+`` and ``-`` by the verdicts."""
    marks = {}
    for name, criterion in result.by.items():
        best = best_marks(criterion.means, smaller_is_better=criterion.smaller_is_better)
        if result.baseline is not None and is_defined(criterion):
            verdicts = result.verdicts_by(name)
            signs = [SIGNS.get(verdicts.on(run, result.baseline) or "", "") for run in result.runs]
            best = [top + sign for top, sign in zip(best, signs, strict=True)]
        marks[name] = best
    return marks


def comparison_table(result: Comparison, places: int = PLACES) -> Shown:
    """Means for a paper: a row per run, best first by the first criterion, a column per criterion, marked by the verdicts.

    With a baseline, ``+`` and ``-`` are raised; without, the letters of the runs that each one is significantly better than.
    """
    names = [name for name, criterion in result.by.items() if is_defined(criterion)]
    order = [result.runs.index(run) for run in result.ranking(names[0] if names else None)["run"]]
    runs = [result.runs[place] for place in order]
    letters = {run: letter(place) for place, run in enumerate(runs)}
    columns = [Column("run", runs)]
    lettered = result.baseline is None and len(runs) > 1
    if lettered:
        columns.insert(0, Column("", list(letters.values())))
    marks = marks_of(result)
    for name, criterion in result.by.items():
        signs = [marks[name][place] for place in order]
        if lettered and name in names:
            verdicts, separator = result.verdicts_by(name), "" if len(runs) <= 26 else ","
            beaten = [separator.join(letters[other] for other in verdicts.beaten(run, runs)) for run in runs]
            signs = [sign + beaten_by for sign, beaten_by in zip(signs, beaten, strict=True)]
        cells = [format_number(float(criterion.means[place]), places) for place in order]
        columns.append(Column(name, cells, numeric=True, marks=signs if any(signs) else ()))
    notes = (
        ["Bold: the best of its column."] if any(BEST in sign for column in columns for sign in column.marks) else []
    )
    if len(result.runs) > 1 and names:
        raised = "Raised: significantly better than the runs of these letters"
        if result.baseline is not None:
            raised = f"+, -: significantly better, worse than {result.baseline}"
        notes.append(f"{raised} ({how_compared(result, names)}).")
    where = f" of {result.source}" if result.source else ""
    return Shown(columns, f"Means on {count(len(result.query_ids), result.unit)}{where}.", notes)


def letter(place: int) -> str:
    """The letters of a number, as spreadsheets count their columns.

    >>> letter(0), letter(25), letter(26)
    ('a', 'z', 'aa')
    """
    letters = ""
    while place >= 0:
        place, rest = divmod(place, 26)
        letters = chr(ord("a") + rest) + letters
        place -= 1
    return letters
