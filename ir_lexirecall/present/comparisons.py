"""A comparison at a glance: who is ahead, whether that is significant, and what could change it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ir_lexirecall._util.arrays import Bools, Floats
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import same
from ir_lexirecall._util.selecting import without
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.criteria import has_seeds
from ir_lexirecall.comparison.verdicts import (
    BETTER,
    NOT_WORSE,
    UNDECIDED,
    UNDONE,
    WITHIN,
    WORSE,
    p_of_verdict,
)
from ir_lexirecall.preferences.functions import PAIRWISE
from ir_lexirecall.preferences.naming import parse_preference
from ir_lexirecall.present import glance as marks
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.caveats import (
    IDENTICAL,
    MIGHT_BE_UNDONE,
    UNSEEN_LOSSES,
    caveats_without,
    identical_words,
    least_one_sided_p,
    losses_on_unseen_queries,
    pairs_apart,
    sampled_units,
    shared_words,
    shortened,
    unresolvable_words,
)
from ir_lexirecall.present.findings import grouped
from ir_lexirecall.present.glance import PLACES, Glance, Group, Part, Span, Step
from ir_lexirecall.present.standings import (
    MAY_BE_UNDECIDED,
    SIGNS,
    VERDICTS,
    AnyStanding,
    MacroStanding,
    Standing,
    about_bounds,
    bound_words,
    directions,
    families_numbers,
    families_words,
    how_all_compared,
    how_compared,
    level_of_bounds,
    loses_less_before_correction,
    loss_cell,
    loss_words,
    missing_shares,
    missing_words,
    not_bounded_words,
    standings_of,
)
from ir_lexirecall.present.tables import BEST
from ir_lexirecall.present.text import FEW_NAMES, count, count_all, gathered, listed
from ir_lexirecall.significance import least_two_sided_p
from ir_lexirecall.significance.outcomes import MEAN_DIFFERENCE

POWER = 0.8  # with which a difference is found
_IN_SHORT = {
    "paired ": "",
    "; over the ": ", over ",
    "of each criterion for not worse and within margin": "per criterion for others",
    "for not worse and within margin, as all criteria must hold": "for others",
}
"""Replacements that shorten the description of the tests with a margin."""
_UNDECIDED_MEANS = "undecided: neither worse, nor better, nor shown to be not worse"


def comparison_glance(result: Comparison, places: int = PLACES) -> Glance:
    """Return a comparison at a glance: two runs as sentences, more as a table."""
    standings = standings_of(result)
    whole = Glance(_title(result), notes=_notes(result), names=result.criteria)
    missing = _left_out(result, standings)
    if not standings:
        return replace(whole, remarks=missing)
    whole = replace(
        whole, unjudged=[*_unjudged(result, standings)], steps=_steps(result)
    )
    remarks = [
        *missing,
        *about_predictions(result, standings),
        *_in_groups(result, standings),
    ]
    if len(result.runs) == 2:
        facts = [(x.label, _fact(x, places)) for x in standings]
        legend = [
            *_how(result, standings),
            *losses_on_unseen_queries(result, standings),
            *_would_decide(result, standings),
        ]
        return replace(whole, facts=facts, legend=legend, remarks=remarks)
    rows = _row_order(standings[0])
    disagreeing = [*_disagreeing(result, standings)]
    groups = [
        _group(standing, rows, places, is_first=not number)
        for number, standing in enumerate(standings)
    ]
    return replace(
        whole,
        rows=rows,
        groups=groups,
        legend=[*_legend(result, standings, groups)],
        short_legend=[*_legend(result, standings, groups, in_short=True)],
        short_groups=_short_groups(standings, rows, groups),
        spare=disagreeing if result.compared.margins is not None else [],
        remarks=[*remarks, *disagreeing],
        kept=list(filter(None, [result.baseline])),
        is_numbered=result.baseline is None and len(rows) > 2,
    )


def _title(result: Comparison) -> str:
    """Return what was compared: runs, queries, collection, baseline."""
    if len(result.runs) == 2:
        what = listed(result.runs)
    else:
        what = count(len(result.runs), "run")
    title = f"{what}, {count(len(result.query_ids), result.compared.unit)}"
    if result.compared.source:
        title += f" of {result.compared.source}"
    if result.provenance["rules"]:
        title += f" {result.provenance['rules']}"
    if result.baseline is not None:
        title += f", against {result.baseline}"
    elif len(result.runs) > 2:
        title += ", all pairs"
    shared = shared_words(result)
    if shared:
        return f"{title}; {shared}"
    return title


def _notes(result: Comparison) -> Sequence[str]:
    """Return the caveats, without those that a mark, the legend or a sentence on two runs shows."""
    shown = [MIGHT_BE_UNDONE, UNSEEN_LOSSES]
    if len(result.runs) == 2:
        shown.append(IDENTICAL)
    return grouped(caveats_without(result, shown))


def _left_out(result: Comparison, standings: Sequence[Standing]) -> list[str]:
    """Return which criteria are left out, or why nothing can be compared."""
    sentences = []
    single = _preferences_of_single_run(result)
    if single:
        sentences.append(
            f"A single run has no preference over others: left out {listed(single)}."
        )
    shown = [standing.name for standing in standings]
    not_finite = []
    for name in result.compared.measures:
        if name not in shown and result.compared.by[name].query_ids:
            not_finite.append(name)
    if not_finite and standings:
        sentences.append(
            f"Left out, as not every value is a finite number: {listed(not_finite)}."
        )
    elif not_finite:
        sentences.append(f"Not every value is a finite number: {listed(not_finite)}.")
    elif not standings and not single:
        sentences.append(_why_empty(result))
    return sentences


def _why_empty(result: Comparison) -> str:
    """Return why nothing can be compared."""
    if result.query_ids:
        empty = "No query has a relevant document"
    else:
        empty = "There are no queries"
    return f"{empty}: nothing can be compared."


def _preferences_of_single_run(result: Comparison) -> list[str]:
    """Return the preferences of a comparison of one run, which say nothing without another."""
    if len(result.runs) > 1:
        return []
    return without(result.criteria, result.compared.measures)


def _steps(result: Comparison) -> list[Step]:
    """Return how to see more."""
    if len(result.runs) < 2:
        return []
    if len(result.runs) == 2:
        a, b = result.runs
        quoted = f"'{a}', '{b}'"
    else:
        a, b = "A", "B"
        quoted = "a, b"
    steps = [
        Step("--pairs", ".table()"),
        Step(f"--explain {a} {b}", f".explain({quoted})"),
    ]
    if result.compared.scored is not None:
        steps.append(Step("--bounds", ".bounds()"))
    if len(result.criteria) > 1:
        steps.append(Step("--disagree X Y A B", ".disagreements(x, y, a, b)"))
    return [*steps, Step("report -o FILE", "report(result, path)")]


# -- a table of runs -------------------------------------------------------------------------------


def _row_order(standing: Standing) -> list[str]:
    """Return the runs, best first: by a preference with a baseline, by how they do against it."""
    baseline = standing.result.baseline
    if baseline is None or standing.criterion.is_measure:
        return standing.runs
    net = standing.against.set_index("run")["difference"].to_dict()
    return sorted(standing.runs, key=lambda run: -net.get(run, 0.0))


def _group(
    standing: Standing, rows: Sequence[str], places: int, *, is_first: bool
) -> Group:
    """Return the columns of a criterion."""
    if standing.result.baseline is not None and len(rows) > 1:
        return _group_against(standing, rows, places)
    importance = 1 if is_first else 2
    parts = parts_of_means(standing, rows, places, _mean_head(standing), importance)
    spans = spans_of_means(standing, rows)
    return Group(standing.label, parts, standing.best_marks(rows), spans)


def spans_of_means(standing: AnyStanding, rows: Sequence[str]) -> list[Span]:
    """Return the mean of each run between the ends of its interval."""
    ranking = standing.ranking.set_index("run")[["ci_low", "mean", "ci_high"]]
    return list(ranking.loc[list(rows)].itertuples(index=False, name=None))


def parts_of_means(
    standing: Standing | MacroStanding,
    rows: Sequence[str],
    places: int,
    head: str = "mean",
    importance: int = 2,
) -> list[Part]:
    """Return the columns of means, of missing shares if there are any, and of intervals."""
    spans = spans_of_means(standing, rows)
    means = [texts.format_number(mean, places) for _, mean, _ in spans]
    intervals = [texts.interval(low, high, places) for low, _, high in spans]
    level = texts.confidence_words(standing.result.provenance)
    return [
        Part(head, means),
        *_missing_parts(standing, rows),
        *_interval_parts(level, intervals, importance),
    ]


def _interval_parts(level: str, intervals: list[str], importance: int) -> list[Part]:
    """Return the column of intervals, none where no run has one, as on a single query."""
    if set(intervals) <= {"", "-"}:
        return []
    return [Part(f"{level} interval", intervals, importance)]


def _missing_parts(
    standing: Standing | MacroStanding, rows: Sequence[str]
) -> list[Part]:
    """Return the column of the shares of queries without a value, if there are any."""
    shares = missing_shares(standing.result, rows)
    if shares:
        return [Part("missing", shares)]
    return []


def _mean_head(standing: Standing) -> str:
    """Return what the means of a criterion are called above their column."""
    if standing.criterion.is_measure:
        return "mean"
    preference = parse_preference(standing.name)
    if preference is not None and preference.NAME in PAIRWISE:
        return "mean"
    return "net"


def _group_against(standing: Standing, rows: Sequence[str], places: int) -> Group:
    """Return the columns of a criterion with a baseline.

    These are means or wins, the difference to the baseline, and what supports it.
    """
    row_of_run = standing.row_of_run
    means = standing.ranking.set_index("run")["mean"]
    cells = [
        _cells_against(standing, means[run], row_of_run.get(run), places)
        for run in rows
    ]
    first, differences, intervals, p, verdicts, shown_marks = map(
        list, zip(*cells, strict=True)
    )
    parts = [
        Part("mean" if standing.criterion.is_measure else "won:lost", first),
        *_missing_parts(standing, rows),
        Part(_difference_head(standing), differences),
    ]
    spans: list[Span] = []
    if standing.estimate == MEAN_DIFFERENCE:
        level = texts.confidence_words(standing.ranking.attrs)
        column = _interval_parts(level, intervals, 2)
        parts += column
        if column:
            spans = [_span_of(row_of_run.get(run)) for run in rows]
    if standing.margin is None:
        parts.append(Part("p", p, 1))
    else:
        parts.append(Part("verdict", verdicts, numeric=False))
    return Group(standing.label, parts, shown_marks, spans)


class _CellsAgainst(NamedTuple):
    """Cells of a run in the columns of a criterion with a baseline."""

    first: str  # the mean, or by preferences the numbers of won and lost queries
    difference: str = ""
    interval: str = ""
    p: str = ""
    verdict: str = ""
    marks: str = ""


def _short_groups(
    standings: Sequence[Standing], rows: Sequence[str], groups: Sequence[Group]
) -> list[Group]:
    """Return the columns with verdicts in short; empty where there is no margin.

    The mean gives way where there is no room, as verdicts do not rest on it.
    """
    if standings[0].margin is None:
        return []
    short = []
    for standing, group in zip(standings, groups, strict=True):
        verdicts = []
        for run in rows:
            if run in standing.row_of_run:
                row = standing.row_of_run[run]
                verdicts.append(short_verdict_cell(standing, row))
            else:
                verdicts.append("")
        first, *others = group.parts[:-1]
        parts = [replace(first, importance=1), *others]
        parts.append(replace(group.parts[-1], cells=verdicts))
        short.append(replace(group, parts=parts))
    return short


def _cells_against(
    standing: Standing, mean: float, row: pd.Series | None, places: int
) -> _CellsAgainst:
    """Return the cells of a run.

    Args:
        standing: how the runs stand by the criterion.
        mean: the mean of the run.
        row: the difference of the run to the baseline; None for the baseline itself.
        places: decimal places.
    """
    is_measure = standing.criterion.is_measure
    shown_mean = texts.format_number(mean, places)
    if row is None:
        return _CellsAgainst(shown_mean if is_measure else "baseline")
    if is_measure:
        first = shown_mean
    else:
        first = f"{row['wins']}:{row['losses']}"
    sign = ""
    if standing.margin is None:
        sign = SIGNS.get(row["verdict"], "")
    pair = {row["run"], standing.result.baseline}
    if pair in (standing.unsure or []):
        sign += marks.UNSURE
    return _CellsAgainst(
        first,
        signed_beside(row["difference"], standing.margin, places),
        texts.interval(row["ci_low"], row["ci_high"], places),
        texts.format_p(row["p_corrected"], standing.test.alpha),
        verdict_cell(standing, row),
        sign,
    )


def _span_of(row: pd.Series | None) -> Span:
    """Return the interval of a difference and its value; of the baseline, no interval."""
    if row is None:
        return np.nan, 0.0, np.nan
    return row["ci_low"], row["difference"], row["ci_high"]


def _difference_head(standing: Standing) -> str:
    """Return what the column of differences to the baseline is called."""
    if standing.criterion.is_measure:
        return "diff."
    return _mean_head(standing)


def verdict_cell(standing: Standing, row: pd.Series) -> str:
    """Return the verdict on a run, with the bound that decides it where there is a margin."""
    if standing.margin is None or row["verdict"] == BETTER:
        return row["verdict"]
    return f"{row['verdict']}: {loss_words(standing, row)}"


def short_verdict_cell(standing: Standing, row: pd.Series) -> str:
    """Return the verdict on a run under a margin, with the bound of its loss as a number."""
    verdict = row["verdict"]
    if verdict == BETTER:
        return verdict
    return f"{verdict.removesuffix(' margin')} {loss_cell(standing, row)}"


def signed(value: float, places: int) -> str:
    """Return a difference with its sign.

    >>> signed(0.0175, 3), signed(-0.5, 1), signed(0.0, 2)
    ('+0.018', '-0.5', '0.00')
    """
    text = texts.format_number(value, places)
    return f"+{text}" if value > 0 else text


def signed_beside(value: float, margin: float | None, places: int) -> str:
    """Return a difference with its sign, and more digits if rounding moves it beyond a margin.

    A difference that is still nearer to the margin is shown as the margin.

    >>> signed_beside(0.0096, 0.0097, 3), signed_beside(0.0096, 0.02, 3)
    ('+0.0096', '+0.010')
    >>> signed_beside(-0.005 - 1e-17, 0.005, 3), signed_beside(0.0175, 0.0175, 3)
    ('-0.005', '+0.0175')
    """
    text = signed(value, places)
    if margin is None or np.isnan(value):
        return text
    for number in (value, float(np.copysign(margin, value))):
        for digits in range(places, places + 6):
            shown = signed(number, digits)
            if (abs(float(shown)) <= margin) == (abs(number) <= margin):
                return shown
    return text


# -- the legend ------------------------------------------------------------------------------------


def _legend(
    result: Comparison,
    standings: Sequence[Standing],
    groups: Sequence[Group],
    *,
    in_short: bool = False,
) -> Iterator[str]:
    """Yield what the marks mean, how differences were tested, and what else a reader must know.

    In short, tests are not named, and what they could detect is left out. With a margin, what would
    decide is kept.
    """
    if len(result.runs) < 2:
        return
    used = {mark for group in groups for cell in group.marks for mark in cell}
    if in_short:
        how = _how_corrected(result)
    else:
        how = how_all_compared(result, [x.name for x in standings])
    if result.baseline is not None:
        yield from _legend_with_baseline(
            result, standings, used, how, in_short=in_short
        )
    elif in_short:
        yield from _short_legend_of_pairs(result, standings, used, how)
    else:
        yield from _legend_of_pairs(result, standings, used, how)
    yield from filter(None, [missing_words(result), directions(result.compared.by)])


def _legend_with_baseline(
    result: Comparison,
    standings: Sequence[Standing],
    used: Collection[str],
    how: str,
    *,
    in_short: bool,
) -> Iterator[str]:
    """Yield what marks or verdicts mean, and what would decide the runs that are undecided."""
    has_margin = result.compared.margins is not None
    if in_short and has_margin:
        yield _short_margin_legend(result, standings)
    else:
        yield from _legend_against(result, standings, used, how)
        yield from _about_preferences(result, standings)
    yield from filter(None, [families_words(result)])
    unseen = losses_on_unseen_queries(result, standings)
    yield from shortened(unseen) if in_short else unseen
    if has_margin or not in_short:
        yield from _would_decide(result, standings)


def _legend_of_pairs(
    result: Comparison, standings: Sequence[Standing], used: Collection[str], how: str
) -> Iterator[str]:
    """Yield what the marks of runs mean, and how many pairs differ."""
    yield _legend_of_best(result, used)
    if any(map(_leaves_out_undecided, standings)):
        yield MAY_BE_UNDECIDED
    yield _differing_pairs(result, standings, how)
    yield from filter(None, [families_words(result)])
    yield from _about_preferences(result, standings)


def _leaves_out_undecided(standing: Standing) -> bool:
    """Return whether a run outside the best set does not differ significantly from the leader."""
    if standing.all_alike:
        return False
    left_out = without(standing.runs, standing.may_be_best)
    leader = standing.leaders[0]
    return any(standing.verdicts.on(leader, run) == UNDECIDED for run in left_out)


def _short_legend_of_pairs(
    result: Comparison, standings: Sequence[Standing], used: Collection[str], how: str
) -> Iterator[str]:
    """Yield in two sentences what the marks and numbers mean, and how many pairs differ."""
    best = _legend_of_best(result, used).replace(
        "may be the best as well", "may be best"
    )
    about = [
        sentence.replace(", against all other runs", "")
        for sentence in _about_preferences(result, standings)
    ]
    yield "; ".join([best, *about])
    numbers = families_numbers(result)
    yield _differing_pairs(result, standings, "; ".join(filter(None, [how, numbers])))
    if not numbers:
        yield from filter(None, [families_words(result)])


def _how_corrected(result: Comparison) -> str:
    """Return the correction and the level of the tests, without their names."""
    level = f"p <= {texts.format_level(result.test.alpha)}"
    correction, n_criteria = result.test.correction, len(result.criteria)
    is_over_all = result.test.family == "all" and n_criteria > 1
    if correction is None or (len(result.pairs) < 2 and not is_over_all):
        return level
    over = f" over all {n_criteria} criteria" if is_over_all else ""
    return f"{texts.correction_words(correction)}{over}, {level}"


def _legend_of_best(result: Comparison, used: Collection[str]) -> str:
    """Return what the marks of the best run and of those that may be the best mean."""
    if BEST in used:
        legend = f"{BEST} best mean"
    else:
        legend = "all runs are level"
    if marks.MAY_BE_BEST in used:
        level = texts.confidence_words(result.provenance)
        legend += f", {marks.MAY_BE_BEST} may be the best as well ({level} for each criterion)"
    return legend


def _legend_against(
    result: Comparison, standings: Sequence[Standing], used: Collection[str], how: str
) -> Iterator[str]:
    """Yield what the marks or verdicts of differences to the baseline mean."""
    if result.compared.margins is not None:
        yield f"verdicts against {result.baseline}: {how}"
        yield from _margin_legend(result, standings)
    elif marks.BETTER in used or marks.WORSE in used:
        yield f"+ better, - worse than {result.baseline} ({how})"
    else:
        yield f"no run differs significantly from {result.baseline} ({how})"


def _about_preferences(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[str]:
    """Yield what the numbers of preferences are, and how the measure of the same name differs."""
    if result.baseline is None:
        others = "against all other runs"
    else:
        others = f"against {result.baseline}"
    preferences = []
    for standing in standings:
        if not standing.criterion.is_measure:
            preferences.append(standing)
    pairwise = [x.name for x in preferences if _mean_head(x) == "mean"]
    if len(pairwise) < len(preferences):
        yield f"net: (won - lost) / queries, {others}{_same_order_words(result, standings)}"
    if pairwise:
        yield f"{listed(pairwise)}: mean preference from -1 to 1, {others}"


def _same_order_words(result: Comparison, standings: Sequence[Standing]) -> str:
    """Return which measures order rankings as a preference of the same name does."""
    if all(standing.label == standing.name for standing in standings):
        return ""
    measures = []
    for name, x in result.compared.by.items():
        if getattr(x, "order", None):
            measures.append(name)
    verb = "orders" if len(measures) == 1 else "order"
    return f"; {listed(measures)} {verb} rankings in the same way"


def _differing_pairs(
    result: Comparison, standings: Sequence[Standing], how: str
) -> str:
    """Return how many pairs differ significantly, by each criterion."""
    n_pairs = len(result.pairs)
    if len(standings) == 1:
        return (
            f"{standings[0].verdicts.decided:,} of {n_pairs:,} pairs differ "
            f"significantly ({how})"
        )
    numbers = [f"{x.verdicts.decided:,} by {x.label}" for x in standings]
    numbers[0] = numbers[0].replace(" by ", f" of {n_pairs:,} pairs by ", 1)
    return f"significantly different: {', '.join(numbers)} ({how})"


def _how(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield how the difference of two runs was tested."""
    how = how_all_compared(result, [x.name for x in standings])
    if any(map(_has_interval, standings)):
        how = f"intervals: {texts.confidence_words(result.provenance)}; {how}"
    yield f"({how})"
    yield from filter(None, [families_words(result), directions(result.compared.by)])


def _has_interval(standing: Standing) -> bool:
    """Return whether a sentence on two runs gives an interval of their difference."""
    test = standing.test
    if test.procedure.of == "signs" or standing.all_alike:
        return False
    return bool(np.isfinite(standing.against["ci_low"]).any())


def _margin_legend(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield what *undecided* and the bounds mean, where verdicts know a margin."""
    verdicts = _all_verdicts(standings)
    if UNDECIDED in verdicts:
        yield _UNDECIDED_MEANS
    if {WORSE, WITHIN, NOT_WORSE, UNDECIDED} & verdicts:
        means = [x for x in standings if x.test.procedure.of != "signs"]
        yield about_bounds(result, means)


def _all_verdicts(standings: Iterable[Standing]) -> set[str]:
    """Return the verdicts on the pairs by any criterion."""
    return {
        verdict
        for standing in standings
        for verdict in standing.verdicts.pairs.values()
    }


def _short_margin_legend(result: Comparison, standings: Sequence[Standing]) -> str:
    """Return in short how verdicts were tested, what they mean, and what preferences are."""
    how = how_all_compared(result, [x.name for x in standings])
    for long, short in _IN_SHORT.items():
        how = how.replace(long, short)
    level = level_of_bounds(result)
    bounds = f"bounds of the loss (within: difference): {level}"
    facts = [f"verdicts: {how}; {bounds}"]
    if UNDECIDED in _all_verdicts(standings):
        undecided = "undecided: none of these is shown"
        facts.append(undecided + _before_correction(standings))
    return "; ".join([*facts, *_about_preferences(result, standings)])


def _before_correction(standings: Iterable[Standing]) -> str:
    """Return what a bound below the margin of a run that is undecided means; empty without one."""
    for standing in standings:
        for row in standing.row_of_run.values():
            if loses_less_before_correction(standing, row):
                return "; its bound may be below the margin, before correction"
    return ""


def _would_decide(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield what would decide the pairs that are not decided: how many queries, or how much."""
    compared = result.compared
    if (
        compared.predicted is not None
        or result.test.cluster
        or compared.unit != "query"
    ):
        return
    plannable = [standing for standing in standings if _is_plannable(standing)]
    if compared.margins is not None:
        needed = {s.label: _queries_for_margin(s) for s in plannable}
        if facts := _by_criterion(needed, result):
            yield f"if there is no loss, about {facts} would decide (power {POWER:g})"
    else:
        yield from _would_show(result, plannable)


def _would_show(result: Comparison, plannable: Sequence[Standing]) -> Iterator[str]:
    """Yield which differences the queries can show, and where more queries are needed."""
    differences = {s.label: _detectable_differences(s) for s in plannable}
    largest = {label: _largest_of(x) for label, x in differences.items()}
    if facts := _by_criterion(largest, result):
        queries = "these queries"
        if result.compared.has_uneven_pairs:
            queries = "the queries of each pair"
        yield f"{queries} can show a difference of {facts} (t-test, power {POWER:g})"
    too_few = [s for s in plannable if np.isinf(differences[s.label]).any()]
    if too_few:
        yield _more_queries(result, too_few)


def _is_plannable(standing: Standing) -> bool:
    """Return whether a plan for undecided pairs can be made: by a measure, from two queries on."""
    criterion = standing.criterion
    if not criterion.is_measure or len(criterion.query_ids) < 2:
        return False
    return bool(_is_open(standing).any())


def _is_open(standing: Standing) -> Bools:
    """Return which pairs are undecided."""
    pairs = standing.result.pairs
    return np.array([standing.verdicts.on(a, b) == UNDECIDED for a, b in pairs])


def _by_criterion(facts: Mapping[str, str], result: Comparison) -> str:
    """Return the facts that are known, with their criteria if there are several."""
    shown = []
    for label, fact in facts.items():
        if fact and len(result.criteria) > 1:
            shown.append(f"{fact} by {label}")
        elif fact:
            shown.append(fact)
    return listed(shown)


def _more_queries(result: Comparison, standings: Sequence[Standing]) -> str:
    """Return the sentence on criteria by which some pair differs on too few queries."""
    by = ""
    if len(result.criteria) > 1:
        by = f" by {listed(standing.label for standing in standings)}"
    needed = f"more queries are needed{by}"
    if all(_differ_everywhere(result, standing.name) for standing in standings):
        return needed
    runs = "the runs" if len(result.pairs) == 1 else "some runs"
    return f"{needed}: {runs} differ on too few of these"


def _differ_everywhere(result: Comparison, name: str) -> bool:
    """Return whether no pair ties on any query by a criterion."""
    n_queries, wins, losses, _ = result.compared.pair_counts(name)
    return bool(np.all(wins + losses == n_queries))


def _queries_for_margin(standing: Standing) -> str:
    """Return how many queries would show that no loss reaches the margin; empty if unknown."""
    queries = _corrected_plan(standing)
    if queries is None:
        return ""
    most = queries[_is_open(standing)].max()
    if not np.isfinite(most):
        return ""
    n_queries = standing.result.compared.n_queries_of_pairs(standing.name).min()
    did_not = f" (these {n_queries:,} did not)" if most <= n_queries else ""
    return f"{most:,.0f} queries{did_not}"


def _corrected_plan(standing: Standing) -> Floats | None:
    """Return `planned_queries` of each pair, corrected for the number of pairs.

    At the level of one, a pair is decided whatever the others are. By Holm, the pair that needs the
    most has the full level once all others are decided.
    """
    result, name, margin = standing.result, standing.name, standing.margin
    assert margin is not None
    alone = planned_queries(result, name, margin)
    if alone is None or result.test.correction is None:
        return alone
    corrected = planned_queries(_at_level_of_one(result), name, margin)
    assert corrected is not None
    if result.test.correction == "holm":
        hardest = int(np.argmax(np.nan_to_num(alone, nan=0.0)))
        others = np.nan_to_num(np.delete(corrected, hardest), nan=np.inf)
        after_others = np.fmax(alone[hardest], others.max(initial=0.0))
        corrected = corrected.copy()
        corrected[hardest] = min(corrected[hardest], after_others)
    return corrected


def planned_queries(result: Comparison, name: str, margin: float) -> Floats | None:
    """Return how many queries would show of each pair that no loss reaches a margin.

    None if no plan is possible: plans are of means of measures, judged by people, without seeds, on
    queries that are independent of each other.
    """
    criterion = result.compared.by[name]
    is_plannable = (
        criterion.is_measure
        and len(criterion.query_ids) > 1
        and not has_seeds(criterion)
        and not result.test.cluster
        and result.compared.predicted is None
        and result.compared.test_of(name).procedure.of == "mean"
    )
    if not is_plannable or not margin > 0:
        return None
    return result.queries_for_margin(margin, POWER, name)["queries"].to_numpy()


def _at_level_of_one(result: Comparison) -> Comparison:
    """Return the comparison at the level that decides a pair whatever the others are."""
    stricter = replace(result.test, alpha=result.test.alpha / max(len(result.pairs), 1))
    return result.with_test(stricter)


def _detectable_differences(standing: Standing) -> Floats:
    """Return the differences that these queries reveal between the undecided pairs.

    Of identical runs it is 0; infinite if too few queries of a pair differ.
    """
    result = _at_level_of_one(standing.result)
    planned = result.detectable(POWER, standing.name)
    return planned["difference"].to_numpy()[_is_open(standing)]


def _largest_of(differences: Floats) -> str:
    """Return the largest difference that is finite; empty if there is none above 0."""
    largest = differences[np.isfinite(differences)].max(initial=0.0)
    if largest == 0:
        return ""
    return texts.format_bound(largest)


# -- two runs --------------------------------------------------------------------------------------


def _fact(standing: Standing, places: int) -> str:
    """Return which of two runs is better, as tested, in a sentence."""
    result, row = standing.result, standing.result.table(standing.name).iloc[0]
    verdict = row["verdict"]
    if row["wins"] == row["losses"] == 0 and verdict == UNDECIDED:
        return _identical(standing)
    if verdict in (BETTER, WORSE):
        return _significant(standing, row, places)
    if standing.margin is not None:
        return _fact_with_margin(standing, row, places)
    a, b = row["run_a"], row["run_b"]
    subject = a if result.baseline else standing.runs[0]
    seen = standing.seen_from(b if subject == a else a).iloc[0]
    p = texts.p_words(row["p_corrected"], standing.test.alpha)
    numbers = _numbers(standing, seen, p, places)
    return (
        f"no significant difference: {subject} {numbers}{_unresolvable(standing, row)}"
    )


def _significant(standing: Standing, row: pd.Series, places: int) -> str:
    """Return which of two runs is significantly better, even if the other has the better mean.

    With a margin, *worse* is one-sided and shows of no run that it is better.
    """
    run, other, word = row["run_a"], row["run_b"], row["verdict"]
    has_margin = standing.margin is not None
    p = texts.p_words(p_of_verdict(row, has_margin=has_margin), standing.test.alpha)
    if word == WORSE and has_margin:
        p = f"one-sided {p}"
    elif word == WORSE:
        run, other, word = other, run, BETTER
    numbers = _numbers(standing, standing.seen_from(other).iloc[0], p, places)
    sentence = f"{run} is {word}: {numbers}"
    higher = "lower" if standing.criterion.smaller_is_better else "higher"
    leads = standing.runs[0] == run
    if leads != (word == BETTER) and not standing.all_alike:
        leader = other if word == BETTER else "it"
        sentence += f", although {leader} has the {higher} mean"
    if word == WORSE:
        return f"{sentence}; it {bound_words(standing, row)}"
    return sentence


def _numbers(standing: Standing, row: pd.Series, p: str, places: int) -> str:
    """Return by how much a run differs from the other: wins and losses, or an estimate."""
    if standing.test.procedure.of == "signs":
        return f"wins {row['wins']}, loses {row['losses']} ({p})"
    if standing.estimate == MEAN_DIFFERENCE:
        label = ""
    else:
        label = f"{standing.estimate} "
    interval = texts.interval(row["ci_low"], row["ci_high"], places)
    within = "" if interval == "-" else f"{interval}, "
    return f"{label}{signed(row['estimate'], places)} ({within}{p})"


def _identical(standing: Standing) -> str:
    """Return that two runs are level on every query."""
    n_queries, unit = len(standing.criterion.query_ids), standing.result.compared.unit
    if standing.margin is None:
        return f"level on {count_all(n_queries, unit)}"
    words = identical_words(
        n_queries, unit, *sampled_units(standing.result, [standing])
    )
    return f"undecided: the two are {words}"


def _fact_with_margin(standing: Standing, row: pd.Series, places: int) -> str:
    """Return what a margin lets one say of two runs, of which neither is better."""
    margin, alpha = f"margin {standing.margin:.3g}", standing.test.alpha
    run, baseline, verdict = row["run_a"], row["run_b"], row["verdict"]
    bound = f"{bound_words(standing, row)}; {_with_interval(standing, row, places)}"
    if verdict == WITHIN:
        p = texts.p_words(row["within_p"], alpha)
        return f"{run} and {baseline} are equivalent ({margin}, {p}): {run} {bound}"
    not_worse = texts.p_words(row["not_worse_p"], alpha)
    if verdict == NOT_WORSE:
        return f"{run} is not worse than {baseline} ({margin}, {not_worse}): {bound}"
    p = _p_of_neither(row, alpha)
    return (
        f"undecided: {run} is neither better nor worse ({p}{_unresolvable(standing, row)}), nor "
        f"shown to be not worse ({margin}, {not_worse}); it {bound}"
    )


def _p_of_neither(row: pd.Series, alpha: float) -> str:
    """Return the smaller p of *better* and *worse*, which are both above alpha."""
    return texts.p_words(min(row["better_p"], row["worse_p"]), alpha)


def _with_interval(standing: Standing, row: pd.Series, places: int) -> str:
    """Return what the test estimates with its two-sided interval, beside a one-sided bound."""
    label = "estimate"  # which the words on the bound name
    if standing.estimate == MEAN_DIFFERENCE:
        label = "difference"
    shown = signed_beside(row["estimate"], standing.margin, places)
    estimate = f"{label} {shown}"
    interval = texts.interval(row["ci_low"], row["ci_high"], places)
    if interval == "-":
        return estimate
    level = texts.confidence_words(standing.result.provenance)
    return f"{estimate} ({level} interval {interval})"


def _unresolvable(standing: Standing, row: pd.Series) -> str:
    """Return that too few queries differ for any verdict; empty where there are enough."""
    differing = int(row["wins"] + row["losses"])
    test = standing.test
    if not differing or test.procedure.at_once or test.groups is not None:
        return ""
    if standing.margin is None:
        least = float(least_two_sided_p(np.array(differing)))
    else:  # worse is one-sided
        least = least_one_sided_p(differing)
    if least <= test.alpha:
        return ""
    return f"; {unresolvable_words(differing, standing.result.compared.unit)}"


# -- what a table cannot say -----------------------------------------------------------------------


def about_predictions(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[str]:
    """Yield how many queries predicted judgments are worth, of measures only.

    Preferences gain less, and not for all pairs, so nothing is said of their precision.
    """
    if result.compared.predicted is None:
        return
    human = len(result.query_ids)
    worth = {}
    for standing in standings:
        if standing.criterion.is_measure:
            effective = result.tests.powered(standing.name).n_effective
            gain = float(np.median(effective)) - human
            if gain >= 0.5:
                worth[standing.name] = f"{gain:.0f}"
            else:
                worth[standing.name] = "no"
    judged = f"the {count(human, 'query')} that people judged"
    predictions = f"the predicted judgments of {len(result.compared.predicted.query_ids):,} queries"
    yield (
        f"Differences are prediction-powered: besides {judged}, {predictions}"
        f"{_worth_words(result, worth, len(standings))}. That holds only if people's queries were "
        "drawn at random. Means are those of the queries that people judged."
    )


def _worth_words(result: Comparison, worth: Mapping[str, str], n_criteria: int) -> str:
    """Return how many more queries predicted judgments are worth."""
    if not worth:
        return " count"
    if len(result.pairs) > 1:
        pairs = f", the median over {len(result.pairs):,} pairs"
    else:
        pairs = ""
    numbers = [f"{number} more for {name}" for name, number in worth.items()]
    if n_criteria == 1:
        numbers = [f"{number} more" for number in worth.values()]
    return f" are worth {listed(numbers)}{pairs}"


def _in_groups(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield what differs in which group of queries, in a sentence for each criterion."""
    if (
        result.compared.groups is None
        or not result.compared.grouped
        or len(result.runs) < 2
    ):
        return
    sizes = result.compared.groups.sizes
    how = how_compared(result, [standing.name for standing in standings], len(sizes))
    if result.baseline is None:
        baseline = ""
    else:
        baseline = f", against {result.baseline}"
    for number, standing in enumerate(standings):
        by = ""
        if len(standings) > 1:
            by = f"by {standing.label}: "
        if number == 0:
            head = f"By query group{baseline} ({how}): {by}"
        else:
            head = texts.capitalised(by)
        facts = []
        table = result.group_table(standing.name)
        for group, rows in table.groupby("group", sort=False):
            where = f"{group} ({count(sizes[group], 'query')})"
            facts.append((_with_apart(result, str(group), rows), where))
        yield f"{head}{texts.once(facts, 'in')}."


def _with_apart(result: Comparison, group: str, rows: pd.DataFrame) -> str:
    """Return what differs in a group of queries, and how many pairs share no query there."""
    fact, apart = _in_group(result, rows), pairs_apart(result, group)
    if not apart:
        return fact
    runs = " and ".join(apart[0])
    if len(apart) > 1:
        runs = count(len(apart), "pair")
    shared = f"{runs} share no query with results"
    return shared if len(apart) == len(rows) else f"{fact}, {shared}"


def _in_group(result: Comparison, rows: pd.DataFrame) -> str:
    """Return what differs in a group of queries."""
    if result.baseline is None:
        number = int(rows["verdict"].isin([BETTER, WORSE]).sum())
        fact = ""
        if number:
            fact = f"{number:,} of {count(len(rows), 'pair')} differ"
    else:
        runs = gathered(zip(rows["verdict"], rows["run_a"], strict=True))
        decided = []
        for verdict in VERDICTS:
            if verdict in runs and verdict != UNDECIDED:
                decided.append(verdict)
        fact = ", ".join(
            f"{listed(runs[verdict], FEW_NAMES)} {verdict}" for verdict in decided
        )
    if not fact and result.compared.margins is not None:
        return "all undecided"
    return fact or "no significant differences"


def _disagreeing(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield where criteria, or the mean and the pairwise tests, prefer different runs."""
    several = [standing for standing in standings if not standing.all_alike]
    if result.baseline is None:
        yield from _best_by_all(several)
        for standing in several:
            yield from _better_than_the_leader(standing, is_single=len(standings) == 1)
    if len(several) == 2:
        yield from _opposite_pairs(result, *several)


def _best_by_all(standings: Sequence[Standing]) -> Iterator[str]:
    """Yield which runs may be the best by every criterion, if criteria have different leaders."""
    if len({tuple(standing.leaders) for standing in standings}) < 2:
        return
    runs = standings[0].runs
    everywhere = [run for run in runs if all(run in x.may_be_best for x in standings)]
    number = "both criteria" if len(standings) == 2 else "every criterion"
    runs_named = listed(everywhere, FEW_NAMES) if everywhere else "No run"
    yield f"{runs_named} may be the best by {number}."


def _better_than_the_leader(standing: Standing, *, is_single: bool) -> Iterator[str]:
    """Yield which runs are significantly better than the one with the best mean."""
    best = standing.runs[0]
    better = []
    for run in standing.runs[1:]:
        if standing.verdicts.on(run, best) == BETTER:
            better.append(run)
    if better:
        verb = "is" if len(better) == 1 else "are"
        if is_single:
            by = ""
        else:
            by = f" by {standing.label}"
        yield f"{listed(better)} {verb} significantly better than {best}{by}, pair by pair."


def _opposite_pairs(
    result: Comparison, first: Standing, second: Standing
) -> Iterator[str]:
    """Yield how many pairs two criteria order differently."""
    signs = []
    for standing in (first, second):
        differences = result.compared.pair_differences(standing.name)
        is_level = same(differences, 0.0, 1.0)
        signs.append(
            np.where(is_level, 0, standing.criterion.sign * np.sign(differences))
        )
    n_opposite = int(np.count_nonzero(signs[0] * signs[1] < 0))
    if n_opposite:
        n_pairs = len(result.pairs)
        names = [standing.label for standing in (first, second)]
        share = f"{n_opposite:,} of {count(n_pairs, 'pair')}"
        yield f"{listed(names)} prefer different runs in {share}."


# -- unjudged documents ----------------------------------------------------------------------------


def _unjudged(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield what unjudged documents could change."""
    if len(result.runs) < 2:
        return
    if len(result.runs) == 2 or not any(x.verdicts.decided for x in standings):
        yield from _either_could_win(result, standings)
    if len(result.runs) == 2:
        yield from _ends_of_two(result, standings)
    yield from _which_hold(result, standings)
    yield from _not_bounded(result, standings)


def _by(standing: Standing, standings: Sequence[Standing]) -> str:
    """Return " by" and the criterion, which is left out where there is one only."""
    if len(standings) > 1:
        return f" by {standing.label}"
    return ""


def _either_could_win(
    result: Comparison, standings: Sequence[Standing]
) -> Iterator[str]:
    """Yield on how many queries either run of the leading pair could win, by unjudged documents.

    These are the two best runs, or the best run and the baseline.
    """
    first, second = standings[0].runs[:2]
    if result.baseline in (None, first):
        other = second
    else:
        other = str(result.baseline)
    pair = [set(runs) for runs in result.pairs].index({first, other})
    open_on, depth_of = [], {}
    for standing in standings:
        undecided = standing.undecided
        if undecided is None:
            continue
        is_open = undecided.is_open[pair]
        n_open = int(is_open.sum())
        most = "" if undecided.exact[pair] or not n_open else "at most "
        share = f"{most}{n_open} of {count(len(is_open), 'query')}"
        open_on.append(f"on {share}{_by(standing, standings)}")
        depth_of[standing.name] = undecided.depth
    if open_on:
        either = "either run"
        if len(result.runs) > 2:
            either = f"either of {first} and {other}"
        documents = f"Unjudged documents of {texts.top_words(depth_of)}"
        yield f"{documents} could let {either} win {listed(open_on)}."
        yield from _exact_bounds_of_the_same_order(pair, standings)


def _exact_bounds_of_the_same_order(
    pair: int, standings: Sequence[Standing]
) -> Iterator[str]:
    """Yield which count holds, where a measure's bounds are wider than those of its preference."""
    preferences = [x.label for x in standings if x.label != x.name]
    for standing in standings:
        undecided = standing.undecided
        if not preferences or undecided is None or undecided.exact[pair]:
            continue
        if undecided.is_open[pair].any() and getattr(standing.criterion, "order", None):
            order = f"{standing.name} orders rankings as {preferences[0]} does"
            yield f"{order}; the count for {preferences[0]} is exact."


def _ends_of_two(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield the ends of a significant difference that unjudged documents might undo."""
    for standing in standings:
        if not standing.unsure:
            continue
        a, b = result.pairs[0]
        is_turned = standing.verdicts.on(a, b) == WORSE
        if is_turned:  # the better run is named first
            a, b = b, a
        by = _by(standing, standings)
        bounded = standing.bounded
        if bounded is None:
            documents = "They"
            if standing.undecided is None:
                documents = f"Unjudged documents of {_depths([standing])}"
            effect = f"could undo the difference{by}"
            yield f"{documents} {effect}: with some grades, {a} is not ahead."
            continue
        low, high = float(bounded.low[0]), float(bounded.high[0])
        if is_turned:
            low, high = -high, -low
        could = "could" if standing.holds[0] == UNDONE else "might"
        ends = f"{texts.format_number(low, 4)} to {texts.format_number(high, 4)}"
        yield (
            f"They {could} undo the difference{by}: depending on their grades, "
            f"{a} minus {b} is {ends}."
        )


def _which_hold(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield how many significant differences unjudged documents might undo."""
    bounded = [standing for standing in standings if _is_known(standing)]
    if not bounded:
        return
    unsure = [standing for standing in bounded if standing.unsure]
    if not unsure:
        by = ""
        if len(bounded) < len(standings):
            by = f" by {listed(standing.name for standing in bounded)}"
        yield _all_hold(bounded, by)
    elif len(result.runs) > 2:  # of two runs, `_ends_of_two` says more
        yield _might_be_undone(result, unsure, standings)


def _is_known(standing: Standing) -> bool:
    """Return whether there are significant differences, and it is known if some hold."""
    return bool(standing.verdicts.decided) and standing.unsure is not None


def _depths(standings: Sequence[Standing]) -> str:
    """Return to which depths unjudged documents are looked at."""
    depth_of = {}
    for standing in standings:
        if standing.undecided is None:
            depth_of[standing.name], _ = standing.result.missing.holds(standing.name)
        else:
            depth_of[standing.name] = standing.undecided.depth
    return texts.top_words(depth_of)


def _all_hold(bounded: Sequence[Standing], by: str) -> str:
    """Return that every significant difference keeps its sign under any judging."""
    total = sum(standing.verdicts.decided for standing in bounded)
    if total == 1:
        keep = f"The significant difference{by} keeps its sign"
    elif total == 2:
        keep = f"Both significant differences{by} keep their sign"
    else:
        keep = f"All {total:,} significant differences{by} keep their sign"
    documents = f"unjudged documents of {_depths(bounded)}"
    return f"{keep} whatever grades the {documents} would get."


def _might_be_undone(
    result: Comparison, unsure: Sequence[Standing], standings: Sequence[Standing]
) -> str:
    """Return how many significant differences might be undone, by each criterion."""
    documents = f"unjudged documents of {_depths(unsure)}"
    shares = []
    for standing in unsure:
        n_of = f"{len(standing.unsure or [])} of {standing.verdicts.decided:,}"
        shares.append(f"{n_of}{_by(standing, standings)}")
    if result.baseline is not None:
        return (
            f"{marks.UNSURE} {documents} might undo the difference ({listed(shares)})"
        )
    pairs = [pair for standing in unsure for pair in standing.unsure or []]
    if len(pairs) == 1:
        by = _by(unsure[0], standings)
        return f"{documents} might undo {_the_difference(unsure[0], by)}"
    shares[0] = shares[0].replace(" by ", " differences by ", 1)
    if len(standings) == 1:
        shares[0] += " significant differences"
    return f"{documents} might undo {listed(shares)}"


def _the_difference(standing: Standing, by: str) -> str:
    """Return the one significant difference that might be undone, with the names of its runs."""
    (pair,) = standing.unsure or []
    runs = listed(run for run in standing.runs if run in pair)
    if standing.verdicts.decided == 1:
        return f"the only significant difference{by}, that between {runs}"
    share = f"1 of {standing.verdicts.decided:,} significant differences"
    return f"{share}{by}, that between {runs}"


def _not_bounded(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield by which criteria bounds of significant differences are unknown, and why.

    The reason is left out where a reader need not know it. Values come without documents.
    """
    if result.compared.given is not None:
        return
    unexplained = []
    for standing in standings:
        if not standing.verdicts.decided:
            continue
        reasons = [*_why_not_bounded(standing, _by(standing, standings))]
        yield from reasons
        if standing.is_unbounded and not reasons:
            unexplained.append(standing.label)
    if unexplained:
        yield not_bounded_words(unexplained)


def _why_not_bounded(standing: Standing, by: str) -> Iterator[str]:
    """Yield why bounds are unknown, if there is a reason that a reader should know."""
    result, procedure = standing.result, standing.test.procedure
    if standing.undecided is not None:
        if procedure.of == "centre" and standing.is_unbounded:
            effects = f"bounds{by} on what unjudged documents could change"
            yield f"There are no {effects}, for the {procedure.title}."
    elif result.missing.too_many(standing.name):
        long = f"{count(len(result.pairs), 'pair')} take long; see bounds"
        yield f"Bounds{by} on what unjudged documents could change were left out: {long}."
