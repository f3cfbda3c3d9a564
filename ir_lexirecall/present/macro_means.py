"""A benchmark at a glance: means, ranks and differences over all collections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import SUM, levelled
from ir_lexirecall._util.selecting import without
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison.pair_tests import best_first
from ir_lexirecall.comparison.verdicts import BETTER, UNDECIDED
from ir_lexirecall.io.mteb_results import CellScores
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.caveats import (
    RARE,
    caveats_on_data,
    comparison_caveats,
    identical_pairs,
    losses_hidden_by_skewness,
    losses_on_unseen_queries,
    notes_on_rows,
    poorly_shared_queries,
    shared_words,
    skewness_notes,
)
from ir_lexirecall.present.comparisons import (
    comparison_glance,
    parts_of_means,
    signed,
    spans_of_means,
)
from ir_lexirecall.present.findings import (
    BROKEN,
    DOUBTFUL,
    FEW_QUERIES,
    Note,
    gravest_first,
    grouped,
)
from ir_lexirecall.present.glance import (
    MAY_BE_BEST,
    PLACES,
    Glance,
    Group,
    Part,
    Step,
)
from ir_lexirecall.present.paper_tables import TABLES, careful_notes
from ir_lexirecall.present.standings import (
    BY_ITSELF,
    MAY_BE_UNDECIDED,
    SIGNS,
    MacroStanding,
    criteria_captions,
    direction_words,
    directions,
    how_resampled,
    lacks_cells,
    macro_families_words,
    missing_shares,
    missing_words,
    standings_of,
)
from ir_lexirecall.present.tables import BEST, Column, Shown, best_marks
from ir_lexirecall.present.tables import PLACES as TABLE_PLACES
from ir_lexirecall.present.text import count, enumerated, gathered, listed
from ir_lexirecall.significance import SignificanceTest
from ir_lexirecall.significance.over_collections import MOST_FOR_T

MOST_COLLECTIONS = 4  # that a title names


def _resampled(result: Benchmark, over: str) -> str:
    """Return how means over all collections were judged, in a few words."""
    if result.has_seeds:
        sample = "queries and seeds" if over == "queries" else "collections and seeds"
        return f"t over {sample}, ranks with Bonferroni's correction"
    skewness = ", allowing for skewness" if len(result) > MOST_FOR_T else ""
    if result.per_task:
        how = f"t over tasks (random effects{skewness})"
        return f"{how}, ranks by a bootstrap over tasks"
    if over == "queries":
        return f"stratified bootstrap over {'groups of queries' if result.cluster else 'queries'}"
    groups = ", with at least the noise of groups of queries" if result.cluster else ""
    how = f"t over collections (random effects{skewness}{groups})"
    return f"{how}, ranks by a two-level bootstrap"


def benchmark_caveats(result: Benchmark) -> list[Note]:
    """Return the notes on a benchmark, the gravest first; of one collection, on its comparison."""
    if len(result) == 1:
        return comparison_caveats(next(iter(result.values())))
    return gravest_first(_notes(result))


def _notes(result: Benchmark) -> Iterator[Note]:
    """Yield what to be careful about, of several collections."""
    yield from _on_shared_queries(result)
    yield from _on_missing_runs(result)
    for name, reason in result.left_out.items():
        yield Note(
            f"{name} is left out of results over all collections: {reason}.", BROKEN
        )
    if len(result) < 5:
        number = count(len(result), "collection")
        yield Note(f"Only {number}: they say little about others (over='collections').")
    if result.per_task:
        yield from _on_values_per_task(result)
        yield from _on_few_queries(result)
        return
    yield from _on_small_collections(result)
    if result.baseline in result.runs:
        for name in result.quantities:
            yield from _on_leader_behind(result, name)
    yield from _on_few_queries(result)
    yield from _on_replicated(result)
    yield from _on_unseen_losses(result)
    yield from _on_undecided_pairs(result)
    for name, comparison in result.items():
        for note in caveats_on_data(comparison):
            # `_on_small_collections` says this of all collections at once.
            if note.kind != FEW_QUERIES:
                yield note.within(name)


def _on_shared_queries(result: Benchmark) -> Iterator[Note]:
    """Yield notes on runs that hardly share queries on a collection."""
    for name, comparison in result.items():
        for note in poorly_shared_queries(comparison):
            yield note.within(name)


def _on_unseen_losses(result: Benchmark) -> Iterator[Note]:
    """Yield which rare losses the verdicts of single collections may miss, each risk once."""
    names_of: dict[str, list[str]] = {}
    for name, comparison in result.items():
        if comparison.compared.margins is None:
            continue
        for note in losses_on_unseen_queries(comparison, standings_of(comparison)):
            names_of.setdefault(str(note), []).append(name)
    kind = "Verdicts of single collections may miss rare losses"
    for risk, names in names_of.items():
        message = f"{listed(names)}: {risk}"
        yield Note(message, kind=kind, subject=message.removesuffix("."))


def _on_undecided_pairs(result: Benchmark) -> Iterator[Note]:
    """Yield notes on pairs that a margin leaves undecided: identical, or worse two-sided only."""
    for name, comparison in result.items():
        for caveat in (identical_pairs, losses_hidden_by_skewness):
            for note in caveat(comparison, standings_of(comparison)):
                yield note.within(name)


def _on_missing_runs(result: Benchmark) -> Iterator[Note]:
    """Yield notes on runs that lack collections; one on all runs of a leaderboard."""
    if not result.has_gaps:
        for run, names in result.lacking.items():
            left_out = "it is left out of results over all collections"
            yield Note(f"{run} is missing for {', '.join(names)}: {left_out}.", BROKEN)
        return
    n_tasks = len(result)
    least_first = sorted(result.lacking.items(), key=lambda item: -len(item[1]))
    facts = [
        f"{run} has {n_tasks - len(names)} of {n_tasks}" for run, names in least_first
    ]
    runs = count(len(facts), "run")
    yield Note(
        f"{runs} {'lacks' if len(facts) == 1 else 'lack'} tasks ({listed(facts, 3)}): means are "
        "over the tasks that a run has, and two runs are compared on those that both have.",
        DOUBTFUL,
    )


def _on_values_per_task(result: Benchmark) -> Iterator[Note]:
    """Yield notes on the values of a leaderboard."""
    yield Note(
        "There is one value per collection: tests and intervals take the collections as a sample, "
        "and do not account for the uncertainty of each value."
    )
    tables = [
        result.compared.given for result in result.values() if result.compared.given
    ]
    if result.cell_scores is not None:
        yield from _on_cells(result, result.cell_scores)
        tables = [replace(table, missing_cells=()) for table in tables]
    for table in tables:
        yield from notes_on_rows(table, "task")


def _on_cells(result: Benchmark, scores: CellScores) -> Iterator[Note]:
    """Yield a note on the cells that some run lacks, and on the pair that shares the fewest."""
    runs_of_cell = scores.runs_that_lack(result.quantities[0])
    if not runs_of_cell or len(result.runs) < 2:
        return
    shown = [
        f"{' '.join(cell)}, not of {listed(runs, 2)}"
        for cell, runs in runs_of_cell.items()
    ]
    if len(shown) == 1:
        are = "cell (task, split, subset) is"
    else:
        are = "cells (task, split, subset) are"
    shared = result.shared_cells().to_numpy(copy=True)
    np.fill_diagonal(shared, shared.max())
    a, b = (result.runs[i] for i in np.unravel_index(shared.argmin(), shared.shape))
    yield Note(
        f"{len(shown)} {are} missing for some run: {enumerated(shown, 3)}. Over tasks, two runs "
        f"are compared on the cells that both have (fewest: {shared.min()}, {a} and {b}); one "
        "task alone, on the cells that all runs have (if none, that each run has).",
        DOUBTFUL,
    )


def _sizes(result: Benchmark) -> dict[str, int]:
    """Return how many queries each collection has; one where only a value of it is given."""
    sizes = {}
    for name, comparison in result.items():
        if result.per_task:
            sizes[name] = 1
        else:
            sizes[name] = len(comparison.query_ids)
    return sizes


def _on_few_queries(result: Benchmark) -> Iterator[Note]:
    """Yield a note if a best run may wrongly be ruled out.

    As many collections of the size of the smallest have fewer than 25 queries. Of 4 queries none is
    ruled out.
    """
    sizes = _sizes(result).values()
    if len(result.runs) > 2 and len(sizes) * min(sizes) < 25 and sum(sizes) > 4:
        yield Note(
            f"Few queries in all, or in one collection: {RARE}, and its rank may be too low."
        )


def _on_small_collections(result: Benchmark) -> Iterator[Note]:
    """Yield notes on collections of fewer than 25 queries, and of a single one."""
    sizes = _sizes(result)
    small = [name for name, size in sizes.items() if size < 25]
    if small:
        yield Note(f"Fewer than 25 queries: {', '.join(small)}.", DOUBTFUL)
    single = [name for name, size in sizes.items() if size == 1]
    if single:
        no_spread = "it has no spread, and intervals are missing (-)"
        yield Note(f"One query on {', '.join(single)}: {no_spread}.", DOUBTFUL)


def _on_leader_behind(result: Benchmark, name: str) -> Iterator[Note]:
    """Yield a note if the best run is behind the baseline on some collection."""
    baseline = result.runs.index(str(result.baseline))
    sign = result.criterion(name).sign
    try:
        values = result.values_of(name)
    except ValueError:  # a value that is not a number, which the finding says
        return
    means = sign * levelled(np.stack([x.mean(axis=1) for x in values], axis=1), SUM)
    leader = int(best_first(means.mean(axis=1))[0])
    is_behind = means[leader] < means[baseline]
    names = []
    for collection, is_one in zip(result, is_behind, strict=True):
        if is_one:
            names.append(collection)
    if names:
        run, behind = result.runs[leader], listed(names)
        kind = "Leaders behind the baseline on some collections"
        message = f"{run} leads by {name}, but is behind {result.baseline} on {behind}."
        yield Note(message, kind=kind, subject=f"{run} by {name} on {behind}")


_SETTLED = 200  # queries of a collection
_TOO_SMALL = (
    f"with skewed differences on fewer than {_SETTLED} queries such p are too small: "
    "the statement is false in up to 0.18 of cases, not in 0.05"
)


def _on_replicated(result: Benchmark) -> Iterator[Note]:
    """Yield notes on runs that are said to be better on collections of few queries.

    Of equal runs resampled from real ones by AP, any is said to be better on at least one of 8
    collections of 25 queries in 0.05 for 0.05 (TREC 2003 Robust) to 0.18 (CLEF eHealth 2016), by
    Fisher's combination, and in 0.07 to 0.16 by Simes'. The reason is a tail of which these queries
    hold nothing, so the skewness of the sample does not tell of it.
    """
    if result.baseline not in result.runs or len(result.runs) < 2:
        return
    for name in result.quantities:
        try:
            differences = result.differences_of(name)
            replicated = result.replicated(name)
        except ValueError:  # a value that is not a number, which the finding says
            continue
        test = next(iter(result.values())).compared.test_of(name)
        is_any_better = replicated["better_on_at_least"].any()
        is_any_small = min(x.shape[1] for x in differences) < _SETTLED
        if is_any_better and is_any_small and len(result) > 1 and test.name != "sign":
            number = f"some of {len(result)} collections"
            yield Note(
                f"{name}: better on {number} rests on one-sided p; {_TOO_SMALL}."
            )
        if not result.cluster:
            yield from _on_skewed_replicates(
                result, name, test, differences, replicated
            )


def _on_skewed_replicates(
    result: Benchmark,
    name: str,
    test: SignificanceTest,
    differences: Sequence[Floats],
    replicated: pd.DataFrame,
) -> Iterator[Note]:
    """Yield notes on skewed differences to the baseline, where a run is said to be better.

    Args:
        result: the benchmark.
        name: the criterion.
        test: how it is tested.
        differences: of each collection, shape ``(P, Q)``.
        replicated: on how many collections each run is better, at least.
    """
    sign = result.criterion(name).sign
    pairs = [(str(run), str(result.baseline)) for run in replicated["run"]]
    verdicts = []
    for least in replicated["better_on_at_least"]:
        if least:
            verdicts.append(BETTER)
        else:
            verdicts.append(UNDECIDED)
    of_collections = zip(result, differences, strict=True)
    parts = {collection: (sign * x, verdicts) for collection, x in of_collections}
    yield from skewness_notes(name, test, pairs, parts, "query")


def benchmark_glance(
    result: Benchmark, over: str | None = None, places: int = PLACES
) -> Glance:
    """Return a benchmark at a glance; on a single collection (``over`` queries) its comparison."""
    over = result.sample(over)
    if len(result) == 1 and over == "queries":
        return comparison_glance(next(iter(result.values())), places)
    notes = grouped(benchmark_caveats(result))
    if len(result) == 1:
        missing = (
            "it says nothing about others, and results over collections are missing (-)"
        )
        notes.append(Note(f"One collection: {missing}."))
    whole = Glance(_title(result), notes=notes, names=result.criteria)
    if not result.runs:
        return replace(whole, remarks=["No run is common to all collections."])
    try:
        result.overall(over)
    except ValueError as error:
        reason = str(error).removeprefix("overall: ")
        return replace(
            whole, remarks=[f"There are no results over all collections: {reason}."]
        )
    standings = [MacroStanding(result, name, over) for name in result.quantities]
    rows = standings[0].runs
    return replace(
        whole,
        rows=rows,
        groups=[_group(standing, rows, places) for standing in standings],
        legend=[*_legend(result, standings, over)],
        spare=[*_spare(result, standings, over)],
        remarks=[*_remarks(result, standings)],
        steps=[
            Step("--pairs", ".overall()"),
            Step("--report FILE", "report(result, path)"),
        ],
        kept=list(filter(None, [result.baseline])),
    )


def _title(result: Benchmark) -> str:
    """Return what was evaluated: runs, collections, queries, baseline."""
    queries = sum(len(comparison.query_ids) for comparison in result.values())
    if result.per_task:
        size = "a value of each"
    else:
        size = count(queries, "query")
    collections = (
        f"{count(len(result), 'collection')} ({listed(result, MOST_COLLECTIONS)})"
    )
    title = f"{count(len(result.runs), 'run')}, {collections}, {size}, each collection counts once"
    if result.baseline is not None:
        title += f"; against {result.baseline}"
    return title + _shared_words(result)


def _shared_words(result: Benchmark) -> str:
    """Return where runs hardly share queries, for a title; empty if they share most of them."""
    words = {name: shared_words(comparison) for name, comparison in result.items()}
    poor = [f"{name}: {said}" for name, said in words.items() if said]
    if not poor:
        return ""
    more = ""
    if len(poor) > 1:
        more = f" (and {count(len(poor) - 1, 'more collection')} like this)"
    return f"; {poor[0]}{more}"


def _group(standing: MacroStanding, rows: Sequence[str], places: int) -> Group:
    """Return the columns of a criterion: macro means, differences, and intervals of ranks."""
    table = standing.ranking.set_index("run").loc[list(rows)]
    parts = parts_of_means(standing, rows, places)
    marks = standing.best_marks(rows)
    if "difference" in table:
        parts += _difference_parts(table, places, standing.result.test.alpha)
        marks = [mark + sign for mark, sign in zip(marks, _signs(table), strict=True)]
    if len(rows) > 1:
        parts.append(Part("rank", ranks_of(table), numeric=False))
        if standing.result.per_task:
            parts.append(
                Part("by mean rank", ranks_of(table, "borda"), 3, numeric=False)
            )
    name = standing.name + direction_words(standing.criterion)
    return Group(name, parts, marks, spans_of_means(standing, rows))


def _signs(table: pd.DataFrame) -> list[str]:
    """Return the sign of each significant difference to the baseline."""
    return [SIGNS.get(verdict, "") for verdict in table["verdict"]]


def _difference_parts(table: pd.DataFrame, places: int, alpha: float) -> list[Part]:
    """Return the columns of differences to the baseline."""
    differences = []
    for x in table["difference"]:
        if np.isnan(x):
            differences.append("")
        else:
            differences.append(signed(x, places))
    ends = zip(table["difference_low"], table["difference_high"], strict=True)
    intervals = [texts.interval(*both, places) for both in ends]
    p = ["" if np.isnan(x) else texts.format_p(x, alpha) for x in table["p_corrected"]]
    return [
        Part("diff.", differences),
        Part("of difference", intervals, 3),
        Part("p", p, 1),
    ]


def _legend(
    result: Benchmark, standings: Sequence[MacroStanding], over: str
) -> Iterator[str]:
    """Yield what the marks mean, and how means and differences were tested."""
    if len(result.runs) > 1:
        level = texts.confidence_words(result.provenance)
        rank = f"rank: {level} for all runs at once ({_resampled(result, over)})"
        yield "; ".join([*_legend_of_best(result, standings), rank])
    if any(map(_leaves_out_undecided, standings)):
        yield MAY_BE_UNDECIDED
    if result.baseline is not None and result.rivals:
        yield from _legend_against(result, standings, over)
    criteria = {name: result.criterion(name) for name in result.quantities}
    if not all(criterion.is_measure for criterion in criteria.values()):
        means = "means of preferences are against all other runs"
        if result.rivals:
            means += f"; their differences are against {result.baseline} alone"
        yield means
    yield from filter(None, [missing_words(result), directions(criteria)])


def _legend_of_best(
    result: Benchmark, standings: Sequence[MacroStanding]
) -> Iterator[str]:
    """Yield the meaning of the marks, if any: of the best run and of runs that may be the best."""
    used = {mark for x in standings for mark in x.best_marks(x.runs)}
    marks, as_well = [], ""
    if BEST in used:
        best, as_well, others = f"{BEST} best mean", " as well", "each other run"
        if result.has_gaps:
            best += " of the runs with the most tasks"
            others = "each of these"
        if lacks_cells(result):
            best += f", also on the cells that it shares with {others}"
        marks.append(best)
    if MAY_BE_BEST in used:
        level = texts.confidence_words(result.provenance)
        marks.append(
            f"{MAY_BE_BEST} may be the best{as_well} ({level} for each criterion)"
        )
    if marks:
        yield ", ".join(marks)
    yield from _without_leader(result, standings)


def _without_leader(
    result: Benchmark, standings: Sequence[MacroStanding]
) -> Iterator[str]:
    """Yield why no mean is marked as the best, for each criterion by which none is."""
    cells = "cells" if lacks_cells(result) else "tasks"
    for standing in standings:
        if standing.contested_by:
            first, other = standing.runs[0], standing.contested_by
            yield (
                f"no best mean by {standing.name}: means are over different {cells}, and on those "
                f"that both have, if any, {first} is not ahead of {other}"
            )


def _leaves_out_undecided(standing: MacroStanding) -> bool:
    """Return whether leader and baseline do not differ, of which one is left out of the best."""
    if not standing.leaders or standing.reference not in standing.runs:
        return False
    if standing.against.empty:  # only the baseline is left
        return False
    best, leader = standing.may_be_best, standing.runs[0]
    verdicts = standing.against.set_index("run")["verdict"]
    if standing.reference != leader:
        return standing.reference not in best and verdicts[leader] == UNDECIDED
    return any(verdicts[without(standing.runs[1:], best)] == UNDECIDED)


def _legend_against(
    result: Benchmark, standings: Sequence[MacroStanding], over: str
) -> Iterator[str]:
    """Yield what the marks of differences to the baseline mean, and how they were tested."""
    families = macro_families_words(result, over)
    how = _how_tested(result, families) + _about_margin(result)
    if any(SIGNS.keys() & set(standing.against["verdict"]) for standing in standings):
        yield f"+ better, - worse than {result.baseline} ({how})"
    else:
        least = min(standing.against["p_corrected"].min() for standing in standings)
        none = f"no significant difference from {result.baseline}"
        yield f"{none}, smallest {texts.p_words(least, result.test.alpha)} ({how})"
    if families:
        yield families
    yield from _would_decide(result, standings, over)


def _about_margin(result: Benchmark) -> str:
    """Return that verdicts on means over collections know no margin, if one was given."""
    if all(comparison.compared.margins is None for comparison in result.values()):
        return ""
    units = "tasks" if result.per_task else "collections"
    return f"; the margin is for single {units}, not for these means"


def _would_decide(
    result: Benchmark, standings: Sequence[MacroStanding], over: str
) -> Iterator[str]:
    """Yield which difference would be significant, where a run is undecided."""
    facts = []
    for standing in standings:
        difference = _significant_difference(standing, over)
        if difference and len(standings) > 1:
            difference += f" by {standing.name}"
        if difference:
            facts.append(difference)
    if not facts:
        return
    if over == "queries":
        units = "queries"
    elif result.per_task:
        units = "tasks"
    else:
        units = "collections"
    yield (
        f"with the spread of these {units}, a difference of {listed(facts)} would be significant; "
        f"more {units} can show a smaller one"
    )


def _spare(
    result: Benchmark, standings: Sequence[MacroStanding], over: str
) -> Iterator[str]:
    """Yield what would decide the other runs, where some run is decided."""
    if result.baseline is None or not result.rivals:
        return
    if any(SIGNS.keys() & set(standing.against["verdict"]) for standing in standings):
        yield from _would_decide(result, standings, over)


def _significant_difference(standing: MacroStanding, over: str) -> str:
    """Return which difference would be significant of any undecided run; empty if unknown."""
    result = standing.result
    verdict_of_run = dict(
        zip(standing.against["run"], standing.against["verdict"], strict=True)
    )
    is_open = np.array([verdict_of_run[run] == UNDECIDED for run in result.rivals])
    if not is_open.any():
        return ""
    most = float(result.significant_differences(standing.name, over)[is_open].max())
    if not np.isfinite(most):
        return ""
    return texts.format_bound(rounded_up(most))


def rounded_up(value: float) -> float:
    """Return a number above 0 rounded up to two significant digits.

    >>> rounded_up(0.01712), rounded_up(0.25), rounded_up(3.01)
    (0.018, 0.25, 3.1)
    """
    places = 1 - int(np.floor(np.log10(value)))
    nearest = round(value, places)
    if nearest < value:
        return round(nearest + 10.0**-places, places)
    return nearest


def _how_tested(result: Benchmark, families: str) -> str:
    """Return how differences were tested, without its end if a sentence on families says more."""
    how = how_resampled(result)
    if families:
        return how.removesuffix(BY_ITSELF)
    return how


def _remarks(result: Benchmark, standings: Sequence[MacroStanding]) -> Iterator[str]:
    """Yield what the table cannot say: different leaders, and single collections."""
    if len(result.runs) > 1:
        yield from _different_leaders(standings)
        if result.per_task:
            yield from _corrected_winners(standings)
    if result.baseline is not None and result.rivals:
        yield from _replicated(result)
    elif result.baseline is not None:
        yield f"Only the baseline {result.baseline} is left: nothing can be compared with it."
    elif len(result.runs) == 1 and not result.has_gaps:
        yield f"{result.runs[0]} is the only run that all collections have: nothing is compared."


def _different_leaders(standings: Sequence[MacroStanding]) -> Iterator[str]:
    """Yield who leads by which criteria, if criteria have different leaders."""
    leads = []
    for standing in standings:
        lead = "all are level" if standing.all_alike else "none"
        if standing.leaders:
            lead = listed(standing.leaders)
        leads.append((lead, standing.name))
    criteria_of = gathered(leads)
    if len(criteria_of) < 2:
        return
    facts = [f"by {listed(names)}, {lead}" for lead, names in criteria_of.items()]
    yield f"Who leads depends on the criterion: {'; '.join(facts)}."


def _corrected_winners(standings: Sequence[MacroStanding]) -> Iterator[str]:
    """Yield the mean of the best run, corrected for having been selected."""
    facts, among_which = [], ""
    for standing in standings:
        rows = standing.ranking.dropna(subset="mean_corrected")
        if standing.ranking["tasks"].nunique() > 1:
            among_which = " among the runs with the most tasks"
        if len(rows):
            best = rows.iloc[0]
            corrected = texts.format_number(best["mean_corrected"], PLACES)
            observed = texts.format_number(best["mean"], PLACES)
            facts.append(
                f"{best['run']} {corrected} instead of {observed} by {standing.name}"
            )
    if facts:
        yield (
            f"The best mean{among_which}, corrected for having been selected: "
            f"{'; '.join(facts)}."
        )


def ranks_of(table: pd.DataFrame, name: str = "rank") -> list[str]:
    """Return intervals of ranks, in words.

    Args:
        table: rows of ``Benchmark.overall``.
        name: ``"rank"``, by means, or ``"borda"``, by mean ranks.
    """
    both = zip(table[f"{name}_low"], table[f"{name}_high"], strict=True)
    return [f"{low} to {high}" for low, high in both]


def _replicated(result: Benchmark) -> Iterator[str]:
    """Yield on how many single collections runs are better than the baseline, at least."""
    if len(result) < 2 or len(result.runs) < 2 or result.per_task:
        return
    tables = {name: result.replicated(name) for name in result.quantities}
    combinations = sorted(
        {str(table.attrs["combination"]) for table in tables.values()}
    )
    level = texts.confidence_words(result.provenance)
    combination = f"p combined by {' or '.join(combinations)}"
    how = f"({level} confidence for each criterion; {combination})"
    fact_of_criterion = {
        name: _replicated_fact(table, len(result)) for name, table in tables.items()
    }
    if not any(fact_of_criterion.values()):
        yield f"No run is shown to beat {result.baseline} on any single collection {how}."
        return
    none = "no run on any"
    facts = texts.once((fact or none, name) for name, fact in fact_of_criterion.items())
    yield f"Better than {result.baseline} on single collections {how}: {facts}."


def _replicated_fact(table: pd.DataFrame, n_collections: int) -> str:
    """Return which runs are better than the baseline on at least how many collections.

    Args:
        table: what `Benchmark.replicated` returned.
        n_collections: number of collections.
    """
    table = table.sort_values("better_on_at_least", ascending=False, kind="stable")
    runs = gathered(
        (int(row.better_on_at_least), row.run) for row in table.itertuples()
    )
    runs.pop(0, None)
    facts = [f"{listed(names)} on at least {least}" for least, names in runs.items()]
    facts[:1] = [
        f"{fact} of {count(n_collections, 'collection')}" for fact in facts[:1]
    ]
    return texts.enumerated(facts)


def wilcoxon_words(test: Mapping[str, Any]) -> str:
    """Return how many pairs differ by Wilcoxon's test over collections.

    Args:
        test: what ``Benchmark.friedman`` returned.
    """
    p = test["p_wilcoxon"].to_numpy()
    pairs = p[np.triu_indices(len(p), 1)]
    n_differing = int((pairs <= test["alpha"]).sum())
    of_pairs = f"{n_differing:,} of {count(len(pairs), 'pair')} differ"
    return (
        f"Wilcoxon's signed ranks over collections with Holm's correction: {of_pairs}"
    )


def benchmark_table(
    result: Benchmark,
    over: str | None = None,
    places: int = TABLE_PLACES,
    by: str | None = None,
    *,
    columns: str | None = None,
    caption: str | None = None,
) -> Shown:
    """Return ``overall`` as a table: numbers with their intervals in one cell.

    Args:
        result: the benchmark.
        over: what is a sample, as in ``Benchmark.overall``.
        places: decimal places.
        by: a criterion; by default all.
        columns: ``"means"`` (mean, rank, difference) or ``"differences"`` (difference, interval,
            p), which fit a page; by default every number.
        caption: the first sentence of the caption; by default what was evaluated.
    """
    if columns is not None:
        check_choice("columns", columns, TABLES)
    over = result.sample(over)
    result.overall(over)  # raises if nothing can be said
    standings = []
    for name in [by] if by else result.quantities:
        standings.append(MacroStanding(result, name, over))
    column_of = _columns_of(result, standings, places)
    shown = list(column_of.values())
    if columns is not None:
        wanted: tuple[str, ...] = _OF_DIFFERENCES
        if columns == "means":
            wanted = _OF_MEANS
        shown = [column for name, column in column_of.items() if name in wanted]
    title = caption
    if title is None:
        title = (
            f"Macro means over {count(len(result), 'collection')} ({listed(result)})."
        )
    return Shown(shown, title, _notes_of_table(result, standings, over))


_OF_MEANS = ("criterion", "run", "mean", "missing", "rank", "difference")
_OF_DIFFERENCES = ("criterion", "run", "difference", "p")


def _columns_of(
    result: Benchmark, standings: Sequence[MacroStanding], places: int
) -> dict[str, Column]:
    """Return every column of the table, by what it holds."""
    table = pd.concat([standing.ranking for standing in standings], ignore_index=True)
    names: list[str] = []
    best: list[str] = []
    for standing in standings:
        criterion, means = standing.criterion, standing.ranking["mean"]
        if result.has_gaps:
            tasks = standing.ranking["tasks"]
            means = means.where(tasks == tasks.max())
        if standing.contested_by:
            means = means.where(standing.ranking["run"].isin(standing.leaders))
        names += [standing.name + direction_words(criterion)] * len(standing.runs)
        best += best_marks(means, smaller_is_better=criterion.smaller_is_better)
    runs = table["run"].tolist()
    columns = {
        "criterion": Column("criterion", names),
        "run": Column("run", runs),
        "mean": Column(
            "mean (interval)", _cells(table, "mean", "ci", places), True, best
        ),
    }
    shares = missing_shares(result, runs)
    if shares:
        columns["missing"] = Column("missing", shares, numeric=True)
    mean_ranks = [f"{value:.2f}" for value in table["mean_rank"]]
    columns["mean rank"] = Column("mean rank", mean_ranks, True)
    columns["rank"] = Column("rank", ranks_of(table))
    if result.per_task:
        columns["borda"] = Column("rank by mean rank", ranks_of(table, "borda"))
    if "difference" in table:
        head = f"difference to {result.baseline}"
        cells = _cells(table, "difference", "difference", places)
        columns["difference"] = Column(head, cells, True, _signs(table))
        alpha = result.test.alpha
        p = [texts.format_p(x, alpha) for x in table["p_corrected"].astype(float)]
        columns["p"] = Column("p corrected", p, True, is_p=True)
    if "effect" in table:
        ends = zip(table["next_low"], table["next_high"], strict=True)
        intervals = [texts.interval(low, high) for low, high in ends]
        columns["next"] = Column("next collection", intervals, True)
        shares_of_variance = [texts.format_number(value, 2) for value in table["i2"]]
        columns["i2"] = Column("I2", shares_of_variance, True)
    return columns


def _cells(table: pd.DataFrame, value: str, ends: str, places: int) -> list[str]:
    """Return numbers with their intervals, for one column of a table."""
    cells = []
    both = zip(table[value], table[f"{ends}_low"], table[f"{ends}_high"], strict=True)
    for number, low, high in both:
        interval = texts.interval(low, high, places)
        cell = texts.format_number(number, places)
        if interval == "-":
            cells.append(cell)
        else:
            cells.append(f"{cell} ({interval})")
    return cells


def _notes_of_table(
    result: Benchmark, standings: Sequence[MacroStanding], over: str
) -> list[str]:
    """Return the legend of the table: its intervals, ranks and marks."""
    level = texts.confidence_words(result.provenance)
    ranks = (
        f"ranks: for all runs at once, for each criterion; {_resampled(result, over)}"
    )
    poor = _shared_words(result).removeprefix("; ")
    notes = [*careful_notes(poor), f"{level} intervals; {ranks}."]
    if result.rivals:
        families = macro_families_words(result, over)
        signs = f"+, -: significantly better, worse than {result.baseline}"
        notes.append(f"{signs} ({_how_tested(result, families)}).")
        notes += texts.sentences(families)
    notes += texts.sentences(missing_words(result))
    if result.has_gaps:
        notes.append("Bold: the best mean of the runs with the most tasks.")
    for reason in _without_leader(result, standings):
        notes += texts.sentences(reason)
    return [*notes, *criteria_captions(result.quantities)]
