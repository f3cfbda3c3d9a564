"""A comparison at a glance: who is ahead, whether that is significant, and what could change it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import same
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, NOT_WORSE, UNDECIDED, WITHIN, WORSE
from ir_lexirecall.preferences.functions import PAIRWISE
from ir_lexirecall.preferences.naming import parse_preference
from ir_lexirecall.present import glance as marks
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.caveats import MIGHT_BE_UNDONE, comparison_caveats, shared_words
from ir_lexirecall.present.findings import grouped
from ir_lexirecall.present.glance import Glance, Group, Part, Step
from ir_lexirecall.present.standings import (
    VERDICTS,
    Standing,
    bound_words,
    directions,
    display_name,
    families_words,
    how_compared,
    loss_words,
    missing_shares,
    missing_words,
    standings_of,
    verdict_words,
)
from ir_lexirecall.present.text import FEW_NAMES, count, gathered, listed
from ir_lexirecall.significance import least_two_sided_p, unseen_share

PLACES = 3  # decimal places of a glance
_POWER = 0.8  # with which a difference is found
_SIGNS = {BETTER: marks.BETTER, WORSE: marks.WORSE}


def comparison_glance(result: Comparison, places: int = PLACES) -> Glance:
    """Return a comparison at a glance: two runs as sentences, more as a table."""
    standings = standings_of(result)
    whole = Glance(_title(result), notes=_notes(result), names=result.criteria)
    missing = _left_out(result, standings)
    if not standings:
        return replace(whole, remarks=missing)
    whole = replace(whole, unjudged=[*_unjudged(result, standings)], steps=_steps(result))
    remarks = [*missing, *_predicted(result, standings), *_in_groups(result, standings)]
    if len(result.runs) == 2:
        facts = [(display_name(x.name, result), _fact(x, places)) for x in standings]
        legend = [*_how(result, standings), *_would_decide(result, standings)]
        return replace(whole, facts=facts, legend=legend, remarks=remarks)
    rows = _row_order(standings[0])
    groups = [
        _group(standing, rows, places, is_first=not number)
        for number, standing in enumerate(standings)
    ]
    return replace(
        whole,
        rows=rows,
        groups=groups,
        legend=[*_legend(result, standings, groups)],
        remarks=[*remarks, *_disagreeing(result, standings)],
        kept=[result.baseline] if result.baseline else [],
        is_numbered=result.baseline is None and len(rows) > 2,
    )


def _title(result: Comparison) -> str:
    """Return what was compared: runs, queries, collection, baseline."""
    runs = list(result.runs)
    what = listed(runs) if len(runs) == 2 else count(len(runs), "run")
    title = f"{what}, {count(len(result.query_ids), result.compared.unit)}"
    if result.compared.source:
        title += f" of {result.compared.source}"
    if result.provenance["rules"]:
        title += f" {result.provenance['rules']}"
    if result.baseline is not None:
        title += f", against {result.baseline}"
    elif len(runs) > 2:
        title += ", all pairs"
    shared = shared_words(result)
    return f"{title}; {shared}" if shared else title


def _notes(result: Comparison) -> list[str]:
    """Return the caveats, without those that a mark shows."""
    notes = comparison_caveats(result)
    return list(grouped(note for note in notes if not note.kind.startswith(MIGHT_BE_UNDONE)))


def _left_out(result: Comparison, standings: Sequence[Standing]) -> list[str]:
    """Return which criteria are left out, or why nothing can be compared."""
    shown = [standing.name for standing in standings]
    names = [
        name
        for name in result.compared.measures
        if name not in shown and result.compared.by[name].query_ids
    ]
    if names and standings:
        return [f"Left out, as not every value is a finite number: {listed(names)}."]
    if names:
        return [f"Not every value is a finite number: {listed(names)}."]
    if standings:
        return []
    empty = "No query has a relevant document" if result.query_ids else "There are no queries"
    return [f"{empty}: nothing can be compared."]


def _steps(result: Comparison) -> list[Step]:
    """Return how to see more."""
    if len(result.runs) < 2:
        return []
    a, b = list(result.runs)[:2] if len(result.runs) == 2 else ("A", "B")
    quoted = f"'{a}', '{b}'" if len(result.runs) == 2 else "a, b"
    steps = [Step("--pairs", ".table()"), Step(f"--explain {a} {b}", f".explain({quoted})")]
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
    net = dict(zip(standing.against["run"], standing.against["difference"], strict=True))
    return sorted(standing.runs, key=lambda run: -float(net.get(run, 0.0)))


def _group(standing: Standing, rows: Sequence[str], places: int, *, is_first: bool) -> Group:
    """Return the columns of a criterion."""
    if standing.result.baseline is not None and len(rows) > 1:
        return _group_against(standing, rows, places)
    table = standing.ranking.set_index("run").loc[list(rows)]
    means = [texts.format_number(float(x), places) for x in table["mean"]]
    ends = list(zip(table["ci_low"], table["ci_high"], strict=True))
    intervals = [texts.interval(low, high, places) for low, high in ends]
    level = texts.confidence_words(standing.ranking.attrs)
    parts = [
        Part(_mean_head(standing), means),
        *_missing_parts(standing, rows),
        Part(f"{level} interval", intervals, 1 if is_first else 2),
    ]
    spans = [
        (float(low), float(x), float(high))
        for (low, high), x in zip(ends, table["mean"], strict=True)
    ]
    return Group(_head(standing), parts, _best_marks(standing, rows), spans)


def _missing_parts(standing: Standing, rows: Sequence[str]) -> list[Part]:
    """Return the column of the shares of queries without a value, if there are any."""
    shares = missing_shares(standing.result, rows)
    return [Part("missing", shares)] if shares else []


def _head(standing: Standing) -> str:
    """Return the name above the columns of a criterion."""
    return display_name(standing.name, standing.result)


def _mean_head(standing: Standing) -> str:
    """Return what the means of a criterion are called above their column."""
    if standing.criterion.is_measure:
        return "mean"
    preference = parse_preference(standing.name)
    return "mean" if preference is not None and preference.NAME in PAIRWISE else "net"


def _best_marks(standing: Standing, rows: Sequence[str]) -> list[str]:
    """Return the marks of the best mean and of runs that may be the best as well."""
    if standing.all_alike or len(rows) < 2:
        return []
    shown = []
    for run in rows:
        if run in standing.leaders:
            shown.append(marks.BEST)
        else:
            shown.append(marks.MAY_BE_BEST if run in standing.may_be_best else "")
    return shown


def _group_against(standing: Standing, rows: Sequence[str], places: int) -> Group:
    """Return the columns of a criterion with a baseline: means or wins, and the difference to it."""
    result = standing.result
    against = {str(row["run"]): row for _, row in standing.against.iterrows()}
    means = standing.ranking.set_index("run")["mean"]
    level = texts.confidence_words(standing.ranking.attrs)
    columns: dict[str, list[str]] = {
        name: [] for name in ("first", "diff", "interval", "p", "verdict")
    }
    shown_marks = []
    for run in rows:
        row = against.get(run)
        mean = texts.format_number(float(means[run]), places)
        if row is None:
            columns["first"].append(mean if standing.criterion.is_measure else "baseline")
            for name in ("diff", "interval", "p", "verdict"):
                columns[name].append("")
            shown_marks.append("")
            continue
        score = f"{row['wins']}:{row['losses']}"
        columns["first"].append(mean if standing.criterion.is_measure else score)
        columns["diff"].append(signed(float(row["difference"]), places))
        columns["interval"].append(texts.interval(row["ci_low"], row["ci_high"], places))
        columns["p"].append(texts.format_p(float(row["p_corrected"])))
        columns["verdict"].append(_verdict_cell(standing, row))
        is_unsure = {run, result.baseline} in (standing.unsure or [])
        sign = "" if result.compared.margins is not None else _SIGNS.get(row["verdict"], "")
        shown_marks.append(sign + marks.UNSURE * is_unsure)
    first = "mean" if standing.criterion.is_measure else "won:lost"
    parts = [
        Part(first, columns["first"]),
        *_missing_parts(standing, rows),
        Part(_difference_head(standing), columns["diff"]),
    ]
    spans: list[tuple[float, float, float]] = []
    if standing.estimate == "mean difference":
        parts.append(Part(f"{level} interval", columns["interval"], 2))
        spans = [_span_of(against.get(run)) for run in rows]
    if result.compared.margins is None:
        parts.append(Part("p", columns["p"], 1))
    else:
        parts.append(Part("verdict", columns["verdict"], numeric=False))
    return Group(_head(standing), parts, shown_marks, spans)


def _span_of(row: pd.Series | None) -> tuple[float, float, float]:
    """Return the interval of a difference and its value; of the baseline, no interval."""
    if row is None:
        return (np.nan, 0.0, np.nan)
    return (float(row["ci_low"]), float(row["difference"]), float(row["ci_high"]))


def _difference_head(standing: Standing) -> str:
    """Return what the column of differences to the baseline is called."""
    return "diff." if standing.criterion.is_measure else _mean_head(standing)


def _verdict_cell(standing: Standing, row: pd.Series) -> str:
    """Return the verdict on a run, with the bound that decides it where there is a margin."""
    if standing.result.compared.margins is None or row["verdict"] == BETTER:
        return str(row["verdict"])
    return f"{row['verdict']}: {loss_words(standing, row)}"


def signed(value: float, places: int) -> str:
    """Return a difference with its sign.

    >>> signed(0.0175, 3), signed(-0.5, 1), signed(0.0, 2)
    ('+0.018', '-0.5', '0.00')
    """
    text = texts.format_number(value, places)
    return f"+{text}" if value > 0 else text


# -- the legend ------------------------------------------------------------------------------------


def _legend(
    result: Comparison, standings: Sequence[Standing], groups: Sequence[Group]
) -> Iterator[str]:
    """Yield what the marks mean, how differences were tested, and what else a reader must know."""
    if len(result.runs) < 2:
        return
    used = {mark for group in groups for cell in group.marks for mark in cell}
    how = _how_tested(result, standings)
    if result.baseline is None:
        level = texts.confidence_words(result.provenance)
        words = [f"{marks.BEST} best mean"] if marks.BEST in used else ["all runs are level"]
        if marks.MAY_BE_BEST in used:
            words.append(
                f"{marks.MAY_BE_BEST} may be the best as well ({level} for each criterion)"
            )
        yield ", ".join(words)
        yield _differing_pairs(result, standings, how)
    elif result.compared.margins is not None:
        yield f"verdicts against {result.baseline}: {how}"
        yield from _margin_legend(result, standings)
    elif used & {marks.BETTER, marks.WORSE}:
        yield f"+ better, - worse than {result.baseline} ({how})"
    else:
        yield f"no run differs significantly from {result.baseline} ({how})"
    yield from filter(None, [families_words(result)])
    if result.baseline is not None:
        yield from _would_decide(result, standings)
    yield from _about_preferences(result, standings)
    yield from filter(None, [missing_words(result)])
    if words_on_direction := directions(result.compared.by).strip():
        yield words_on_direction


def _how_tested(result: Comparison, standings: Sequence[Standing]) -> str:
    """Return how differences were tested; the next line of the legend is about the criteria."""
    how = how_compared(result, [standing.name for standing in standings])
    return how.removesuffix(", each criterion by itself") if families_words(result) else how


def _about_preferences(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield what the numbers of preferences are, and how the measure of the same name differs."""
    others = "against all other runs" if result.baseline is None else f"against {result.baseline}"
    heads = {_mean_head(x): x.name for x in standings if not x.criterion.is_measure}
    if "net" in heads:
        measures = [name for name, x in result.compared.by.items() if getattr(x, "order", None)]
        is_shared = any(display_name(x.name, result) != x.name for x in standings)
        same = f"; {listed(measures)}: the same order as a number" if is_shared else ""
        yield f"net: (won - lost) / queries, {others}{same}"
    if "mean" in heads:
        yield f"{heads['mean']}: mean preference from -1 to 1, {others}"


def _differing_pairs(result: Comparison, standings: Sequence[Standing], how: str) -> str:
    """Return how many pairs differ significantly, by each criterion."""
    n_pairs = len(result.pairs)
    if len(standings) == 1:
        return (
            f"{standings[0].verdicts.decided:,} of {n_pairs:,} pairs differ significantly ({how})"
        )
    numbers = [f"{x.verdicts.decided:,} by {display_name(x.name, result)}" for x in standings]
    return f"significantly different pairs of {n_pairs:,}: {', '.join(numbers)} ({how})"


def _how(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield how the difference of two runs was tested."""
    level = texts.confidence_words(result.provenance)
    has_interval = any(
        result.compared.test_of(x.name).procedure.of != "signs" and not x.all_alike
        for x in standings
    )
    lead = f"intervals: {level}; " if has_interval else ""
    yield f"({lead}{_how_tested(result, standings)})"
    yield from filter(None, [families_words(result)])
    if words_on_direction := directions(result.compared.by).strip():
        yield words_on_direction


def _margin_legend(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield what *undecided* and the bounds mean, where verdicts know a margin."""
    verdicts = {word for standing in standings for word in standing.verdicts.pairs.values()}
    if UNDECIDED in verdicts:
        yield "undecided: neither worse, nor better, nor shown to be non-inferior"
    if {WITHIN, NOT_WORSE, UNDECIDED} & verdicts:
        yield f"bounds: one-sided {texts.confidence_words(result.provenance)}"


def _would_decide(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield what would decide the pairs that are not decided: how many queries, or how much."""
    if (
        result.compared.predicted is not None
        or result.test.cluster
        or result.compared.unit != "query"
    ):
        return
    facts = []
    for standing in standings:
        is_open = [standing.verdicts.on(a, b) == UNDECIDED for a, b in result.pairs]
        is_plannable = standing.criterion.is_measure and len(standing.criterion.query_ids) > 1
        if not any(is_open) or not is_plannable:
            continue
        fact = _planned_fact(result, standing, np.array(is_open))
        if fact:
            facts.append(fact)
    if not facts:
        return
    if result.compared.margins is not None:
        yield f"to decide, if there is no loss: about {listed(facts)} (power {_POWER:g})"
        return
    n_queries = count(len(result.query_ids), result.compared.unit)
    if result.compared.has_uneven_pairs:
        n_queries = "as many as each pair has"
    yield f"with {n_queries} a t-test finds a difference of at least {listed(facts)} (power {_POWER:g})"


def _planned_fact(result: Comparison, standing: Standing, is_open: np.ndarray) -> str:
    """Return the queries that a margin needs, or the difference that these queries reveal."""
    by = f" by {display_name(standing.name, result)}" if len(result.criteria) > 1 else ""
    if result.compared.margins is not None:
        margin = result.compared.margins[standing.name]
        if not margin > 0:
            return ""
        queries = result.queries_for_margin(margin, _POWER, standing.name)["queries"][is_open]
        most = float(queries.max())
        return f"{most:,.0f} queries{by}" if np.isfinite(most) else ""
    stricter = replace(result.test, alpha=result.test.alpha / max(len(result.pairs), 1))
    planned = result.with_test(stricter).detectable(_POWER, standing.name)
    difference = float(planned["difference"][is_open].max())
    if not np.isfinite(difference) or difference == 0:
        return ""
    return f"{texts.format_bound(difference)}{by}"


# -- two runs --------------------------------------------------------------------------------------


def _fact(standing: Standing, places: int) -> str:
    """Return which of two runs is better, as tested, in a sentence."""
    result, row = standing.result, standing.result.table(standing.name).iloc[0]
    verdict = row["verdict"]
    if row["wins"] == row["losses"] == 0 and verdict == UNDECIDED:
        return _identical(standing, row)
    if result.compared.margins is not None and verdict not in (BETTER, WORSE):
        return _fact_with_margin(standing, row, places)
    a, b = str(row["run_a"]), str(row["run_b"])
    if verdict in (BETTER, WORSE):
        subject = a if verdict == BETTER else b
        lead = f"{subject} is better: "
    else:
        subject = result.runs[0] if result.baseline else standing.runs[0]
        subject = a if result.baseline else subject
        lead = f"no significant difference: {subject} "
    reference = b if subject == a else a
    shown = standing.seen_from(reference).iloc[0]
    p_column = "p_corrected"
    if result.compared.margins is not None:
        p_column = "better_p" if verdict == BETTER else "worse_p"
    p = texts.p_words(float(row[p_column]))
    sentence = lead + _numbers(standing, shown, p, places)
    if verdict not in (BETTER, WORSE):
        return sentence + _unresolvable(standing, row)
    if standing.runs[0] != subject and not standing.all_alike:
        higher = "lower" if standing.criterion.smaller_is_better else "higher"
        sentence += f", although {reference} has the {higher} mean"
    return sentence


def _numbers(standing: Standing, row: pd.Series, p: str, places: int) -> str:
    """Return by how much a run differs from the other: wins and losses, or what the test estimates."""
    if standing.result.compared.test_of(standing.name).procedure.of == "signs":
        return f"wins {row['wins']}, loses {row['losses']} ({p})"
    label = "" if standing.estimate == "mean difference" else f"{standing.estimate} "
    interval = texts.interval(row["ci_low"], row["ci_high"], places)
    within = "" if interval == "-" else f"{interval}, "
    return f"{label}{signed(float(row['estimate']), places)} ({within}{p})"


def _identical(standing: Standing, row: pd.Series) -> str:
    """Return that two runs are level on every query."""
    queries, unit = len(standing.criterion.query_ids), standing.result.compared.unit
    if standing.result.compared.margins is None:
        return f"level on {count(queries, unit) if queries == 1 else f'all {count(queries, unit)}'}"
    share = f"{unseen_share(queries):.0%}"
    return (
        f"undecided: the two are identical on all {count(queries, unit)}, which does not show "
        f"equivalence: up to {share} of such {count(2, unit)[2:]} may differ (95%)"
    )


def _fact_with_margin(standing: Standing, row: pd.Series, places: int) -> str:
    """Return what a margin lets one say of two runs, of which neither is better."""
    assert standing.result.compared.margins is not None
    margin = f"margin {standing.result.compared.margins[standing.name]:.3g}"
    run, baseline, verdict = row["run_a"], row["run_b"], row["verdict"]
    bound = bound_words(standing, row)
    if verdict == WITHIN:
        p = texts.p_words(float(row["within_p"]))
        return f"{run} and {baseline} are equivalent ({margin}, {p}): {run} {bound}"
    not_worse = texts.p_words(float(row["not_worse_p"]))
    if verdict == NOT_WORSE:
        return f"{run} is non-inferior to {baseline} ({margin}, {not_worse}): {bound}"
    p = texts.p_words(float(min(row["better_p"], row["worse_p"])))
    return (
        f"undecided: {run} is neither better nor worse ({p}{_unresolvable(standing, row)}), nor "
        f"shown to be non-inferior ({margin}, {not_worse}); it {bound}"
    )


def _unresolvable(standing: Standing, row: pd.Series) -> str:
    """Return that too few queries differ for any verdict; empty where there are enough."""
    differing = int(row["wins"] + row["losses"])
    test = standing.result.compared.test_of(standing.name)
    if not differing or test.procedure.at_once or test.groups is not None:
        return ""
    if least_two_sided_p(np.array(differing)) <= test.alpha:
        return ""
    verb = "differs" if differing == 1 else "differ"
    return f"; unresolvable: only {count(differing, standing.result.compared.unit)} {verb}"


# -- what a table cannot say -------------------------------------------------------------------------


def _predicted(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
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
            worth[standing.name] = f"{gain:.0f}" if gain >= 0.5 else "no"
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
    pairs = f", the median over {len(result.pairs):,} pairs" if len(result.pairs) > 1 else ""
    numbers = [f"{number} more for {name}" for name, number in worth.items()]
    if n_criteria == 1:
        numbers = [f"{number} more" for number in worth.values()]
    return f" are worth {listed(numbers)}{pairs}"


def _in_groups(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield what differs in which group of queries, in a sentence for each criterion."""
    if result.compared.groups is None or not result.compared.grouped or len(result.runs) < 2:
        return
    sizes = result.compared.groups.sizes
    how = how_compared(result, [standing.name for standing in standings], len(sizes))
    baseline = "" if result.baseline is None else f", against {result.baseline}"
    for number, standing in enumerate(standings):
        facts = [
            (_in_group(result, rows), f"{group} ({count(sizes[str(group)], 'query')})")
            for group, rows in result.group_table(standing.name).groupby("group", sort=False)
        ]
        by = f"by {display_name(standing.name, result)}: " if len(standings) > 1 else ""
        head = f"B{by[1:]}" if number else f"By query group{baseline} ({how}): {by}"
        yield f"{head}{texts.once(facts, 'in')}."


def _in_group(result: Comparison, rows: pd.DataFrame) -> str:
    """Return what differs in a group of queries."""
    if result.baseline is None:
        number = int(rows["verdict"].isin([BETTER, WORSE]).sum())
        fact = f"{number:,} of {count(len(rows), 'pair')} differ" if number else ""
    else:
        runs = gathered(zip(rows["verdict"], rows["run_a"], strict=True))
        decided = [verdict for verdict in VERDICTS if verdict in runs and verdict != UNDECIDED]
        fact = ", ".join(f"{listed(runs[verdict], FEW_NAMES)} {verdict}" for verdict in decided)
    return fact or "no significant differences"


def _disagreeing(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield where criteria, or the mean and the pairwise tests, point to different runs."""
    several = [standing for standing in standings if not standing.all_alike]
    if result.baseline is None:
        yield from _best_by_all(several)
        for standing in several:
            yield from _better_than_the_leader(standing, is_single=len(standings) == 1)
        if any(map(_leaves_out_undecided, several)):
            yield "A run without a mark need not be significantly worse than the leader."
    if len(several) == 2:
        yield from _opposite_pairs(result, *several)


def _best_by_all(standings: Sequence[Standing]) -> Iterator[str]:
    """Yield which runs may be the best by every criterion, if criteria have different leaders."""
    if len({tuple(standing.leaders) for standing in standings}) < 2:
        return
    runs = standings[0].runs
    everywhere = [run for run in runs if all(run in x.may_be_best for x in standings)]
    number = "both criteria" if len(standings) == 2 else "every criterion"
    yield f"{listed(everywhere) if everywhere else 'No run'} may be the best by {number}."


def _better_than_the_leader(standing: Standing, *, is_single: bool) -> Iterator[str]:
    """Yield which runs are significantly better than the one with the best mean."""
    best = standing.runs[0]
    better = [run for run in standing.runs[1:] if standing.verdicts.on(run, best) == BETTER]
    if better:
        verb = "is" if len(better) == 1 else "are"
        by = "" if is_single else f" by {display_name(standing.name, standing.result)}"
        yield f"{listed(better)} {verb} significantly better than {best}{by}, pair by pair."


def _leaves_out_undecided(standing: Standing) -> bool:
    """Return whether a run outside the best set does not differ significantly from the leader."""
    left_out = [run for run in standing.runs if run not in standing.may_be_best]
    leader = standing.leaders[0]
    return any(standing.verdicts.on(leader, run) == UNDECIDED for run in left_out)


def _opposite_pairs(result: Comparison, first: Standing, second: Standing) -> Iterator[str]:
    """Yield how many pairs two criteria order differently."""
    signs = []
    for standing in (first, second):
        differences = result.compared.pair_differences(standing.name)
        is_level = same(differences, 0.0, 1.0)
        signs.append(np.where(is_level, 0, standing.criterion.sign * np.sign(differences)))
    n_opposite = int(np.count_nonzero(signs[0] * signs[1] < 0))
    if n_opposite:
        n_pairs = len(result.pairs)
        names = [display_name(standing.name, result) for standing in (first, second)]
        verb = "prefer" if result.baseline is None else "point to"
        yield f"{listed(names)} {verb} different runs in {n_opposite:,} of {count(n_pairs, 'pair')}."


# -- unjudged documents ------------------------------------------------------------------------------


def _unjudged(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield what unjudged documents could change."""
    if len(result.runs) < 2:
        return
    if len(result.runs) == 2 or not any(x.verdicts.decided for x in standings):
        yield from _could_change_the_winner(result, standings)
    if len(result.runs) == 2:
        yield from _ends_of_two(result, standings)
    yield from _which_hold(result, standings)
    for standing in standings:
        if standing.verdicts.decided:
            yield from _why_not_bounded(result, standing.name, _by(standing, standings))


def _by(standing: Standing, standings: Sequence[Standing]) -> str:
    """Return " by" and the criterion, which is left out where there is one only."""
    return f" by {display_name(standing.name, standing.result)}" if len(standings) > 1 else ""


def _could_change_the_winner(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield on how many queries unjudged documents could change the winner of the leading pair.

    These are the two best runs, or the best run and the baseline.
    """
    first, second = standings[0].runs[:2]
    other = second if result.baseline in (None, first) else str(result.baseline)
    pair = next(i for i, pair in enumerate(result.pairs) if set(pair) == {first, other})
    open_on, depth_of = [], {}
    for standing in standings:
        left = result.missing.undecided(standing.name)
        if left is None:
            continue
        number, queries = int(left.is_open[pair].sum()), left.is_open.shape[1]
        most = "" if left.exact[pair] or not number else "at most "
        open_on.append(f"on {most}{number} of {count(queries, 'query')}{_by(standing, standings)}")
        depth_of[standing.name] = left.depth
    if open_on:
        who = f" between {first} and {other}" if len(result.runs) > 2 else ""
        documents = f"Unjudged documents of {texts.top_words(depth_of)}"
        yield f"{documents} could change the winner{who} {listed(open_on)}."
        yield from _exact_bounds_of_the_same_order(result, pair, standings)


def _exact_bounds_of_the_same_order(
    result: Comparison, pair: int, standings: Sequence[Standing]
) -> Iterator[str]:
    """Yield which count holds, where a measure's bounds are wider than those of its preference."""
    preferences = [x.name for x in standings if display_name(x.name, result) != x.name]
    for standing in standings:
        left = result.missing.undecided(standing.name)
        is_loose = left is not None and left.is_open[pair].any() and not left.exact[pair]
        if preferences and is_loose and getattr(standing.criterion, "order", None):
            name = display_name(preferences[0], result)
            yield f"{standing.name} orders rankings as {name} does; the count for {name} is exact."


def _ends_of_two(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield the ends of a significant difference that unjudged documents might undo."""
    for standing in standings:
        left = result.missing.undecided(standing.name)
        if left is None or not standing.unsure:
            continue
        a, b = result.pairs[0]
        could = "could" if left.reached[0] else "might"
        low, high = float(left.low[0]), float(left.high[0])
        subject, other = (b, a) if standing.verdicts.on(a, b) == WORSE else (a, b)
        if subject == b:
            low, high = -high, -low
        ends = f"{texts.format_number(low, 4)} to {texts.format_number(high, 4)}"
        yield (
            f"They {could} undo the difference{_by(standing, standings)}: {subject} less {other} is "
            f"{ends}, depending on their grades."
        )


def _which_hold(result: Comparison, standings: Sequence[Standing]) -> Iterator[str]:
    """Yield how many significant differences unjudged documents might undo."""
    unsure, decided, depth_of = {}, {}, {}
    for standing in standings:
        left, name = result.missing.undecided(standing.name), standing.name
        if standing.verdicts.decided and left is not None and standing.unsure is not None:
            decided[name] = standing.verdicts.decided
            unsure[name] = len(standing.unsure)
            depth_of[name] = left.depth
    if not decided:
        return
    by_of = {standing.name: _by(standing, standings) for standing in standings}
    total, n_unsure = sum(decided.values()), sum(unsure.values())
    if not n_unsure:
        by = "" if len(decided) == len(standings) else f" by {listed([*decided])}"
        subject = f"All {total:,} significant differences{by} keep"
        if total == 1:
            subject = f"The significant difference{by} keeps"
        its = "its" if total == 1 else "their"
        documents = f"unjudged documents of {texts.top_words(depth_of)}"
        yield f"{subject} {its} sign whatever grades the {documents} would get."
        return
    if len(result.runs) == 2:
        return  # the ends say it
    differences = "significant differences"
    shares = [
        f"{n} of {decided[name]:,} {differences}{by_of[name]}" for name, n in unsure.items() if n
    ]
    tops = texts.top_words({name: depth_of[name] for name, n in unsure.items() if n})
    if result.baseline is not None:
        yield f"{marks.UNSURE} unjudged documents of {tops} might undo it ({listed(shares)})"
    else:
        yield f"unjudged documents of {tops} might undo {listed(shares)}"


def _why_not_bounded(result: Comparison, name: str, by: str) -> Iterator[str]:
    """Yield why it is not known what unjudged documents could change, if that has a reason to tell."""
    test = result.compared.test_of(name).procedure
    if result.missing.undecided(name) is not None:
        if test.of == "centre":
            yield f"What unjudged documents could change{by} is not bounded for the {test.title}."
    elif result.missing.too_many(name):
        long = f"{count(len(result.pairs), 'pair')} take long; see bounds"
        yield f"What unjudged documents could change{by} was not looked at: {long}."


def verdict_cells(result: Comparison, rows: pd.DataFrame) -> list[str]:
    """Return verdicts in words, for tables of pairs."""
    has_margin = result.compared.margins is not None
    return [verdict_words(verdict, has_margin=has_margin) for verdict in rows["verdict"]]
