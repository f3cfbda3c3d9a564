"""What a benchmark says: who leads over all collections, who may be the best as well, who differs from the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.rounding import SUM, levelled
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison.pair_tests import best_first
from ir_lexirecall.comparison.verdicts import BETTER, UNDECIDED
from ir_lexirecall.present import text as texts
from ir_lexirecall.present.caveats import (
    RARE,
    caveats_on_data,
    comparison_caveats,
    notes_on_rows,
    skewness_notes,
)
from ir_lexirecall.present.comparisons import comparison_finding
from ir_lexirecall.present.findings import (
    BROKEN,
    DOUBTFUL,
    FEW_QUERIES,
    Finding,
    Note,
    gravest_first,
    grouped,
)
from ir_lexirecall.present.standings import (
    MAY_BE_BEST,
    SIGNS,
    MacroStanding,
    against_words,
    criteria_captions,
    direction_words,
    directions,
    how_resampled,
    macro_families_words,
)
from ir_lexirecall.present.tables import PLACES, Column, Shown, best_marks
from ir_lexirecall.present.text import count, gathered, listed


def _resampled(result: Benchmark, over: str) -> str:
    """Return how means over all collections were judged, in a few words."""
    if over == "queries":
        return f"stratified bootstrap over {'groups of queries' if result.cluster else 'queries'}"
    groups = ", the noise of groups of queries as a floor" if result.cluster else ""
    return f"t over collections (random effects{groups}), ranks by a two-level bootstrap"


def benchmark_caveats(result: Benchmark) -> list[Note]:
    """What to be careful about, the gravest first; of a single collection what its comparison says."""
    return (
        comparison_caveats(next(iter(result.values())))
        if len(result) == 1
        else gravest_first(_notes(result))
    )


def _notes(result: Benchmark) -> Iterator[Note]:
    for run, names in result.lacking.items():
        left_out = "it is left out of what is said over collections"
        yield Note(f"{run} is missing for {', '.join(names)}: {left_out}.", BROKEN)
    if len(result) < 5:
        some = count(len(result), "collection")
        yield Note(f"Only {some}: little can be said of others (over='collections').")
    queries = {
        name: 1 if result.per_task else len(comparison.query_ids)
        for name, comparison in result.items()
    }
    few: list[Note] = []
    # As many collections of the size of the smallest have fewer than 25 queries; of 4 queries none
    # is ruled out.
    if (
        len(result.runs) > 2
        and len(queries) * min(queries.values()) < 25
        and sum(queries.values()) > 4
    ):
        few.append(
            Note(f"Few queries in all, or in one collection: {RARE}, and its rank be too low.")
        )
    if result.per_task:
        over = "tests and intervals are over collections, and know nothing of the queries within"
        yield Note(f"A value per collection: {over}.")
        for comparison in result.values():
            if comparison.given is not None:
                yield from notes_on_rows(comparison.given, "task")
        yield from few
        return
    if small := ", ".join(name for name, number in queries.items() if number < 25):
        yield Note(f"Fewer than 25 queries: {small}.", DOUBTFUL)
    if single := ", ".join(name for name, number in queries.items() if number == 1):
        yield Note(
            f"One query on {single}: it has no spread, so that intervals are missing (-).", DOUBTFUL
        )
    for name in result.quantities if result.baseline in result.runs else ():
        place, sign = result.runs.index(str(result.baseline)), result.criterion(name).sign
        try:
            means = sign * levelled(
                np.stack([x.mean(axis=1) for x in result.values_of(name)], axis=1), SUM
            )
        except ValueError:  # a value that is not a number, which the finding says
            continue
        leader = int(best_first(means.mean(axis=1))[0])
        behind = listed(
            [
                collection
                for d, collection in enumerate(result)
                if means[leader, d] < means[place, d]
            ]
        )
        if behind:
            run, kind = result.runs[leader], "Leaders behind the baseline on some collections"
            sentence = f"{run} leads by {name}, but its mean is behind that of {result.baseline} on {behind}."
            yield Note(sentence, kind=kind, subject=f"{run} by {name} on {behind}")
    yield from few
    yield from _on_replicated(result)
    for name, comparison in result.items():
        yield from (
            note.within(name) for note in caveats_on_data(comparison) if note.kind != FEW_QUERIES
        )


_SETTLED = 200  # queries of a collection
_TOO_SMALL = f"with skewed differences on fewer than {_SETTLED} queries such p are too small: it may be said twice as often as alpha"


def _on_replicated(result: Benchmark) -> Iterator[Note]:
    """That runs are said to be better on collections of few queries, or of skewed differences, by one-sided tests.

    Of equal runs resampled from real ones by AP, any is said to be better on at least one of 8
    collections of 25, 50, 100 or 200 queries in .10, .10, .09 and .07 for .05, of 16 in .16 to .08;
    by nDCG@10 in .01 to .03. A tail of which these queries hold nothing does it, so no skewness
    that is seen tells of it.
    """
    for name in (
        result.quantities if result.baseline in result.runs and len(result.runs) > 1 else ()
    ):
        try:
            differences, replicated = result.differences_of(name), result.replicated(name)
        except ValueError:  # a value that is not a number, which the finding says
            continue
        pairs = [(str(run), str(result.baseline)) for run in replicated["run"]]
        verdicts = [BETTER if least else UNDECIDED for least in replicated["better_on_at_least"]]
        parts = {
            one: (result.criterion(name).sign * x, verdicts)
            for one, x in zip(result, differences, strict=True)
        }
        test, small = (
            result[next(iter(parts))].test_of(name),
            min(x.shape[1] for x in differences) < _SETTLED,
        )
        if (
            replicated["better_on_at_least"].any()
            and small
            and len(result) > 1
            and test.name != "sign"
        ):
            rests = f"rests on p near {texts.format_p(test.alpha / len(pairs) / len(result))}"
            yield Note(
                f"{name}: better on some of {len(result)} collections {rests}; {_TOO_SMALL}."
            )
        if not result.cluster:
            yield from skewness_notes(name, test, pairs, parts, "query")


def benchmark_finding(result: Benchmark, over: str | None = None) -> Finding:
    """What a benchmark says; on a single collection (``over`` queries) what its comparison says."""
    over = result.sample(over)
    if len(result) == 1 and over == "queries":
        return comparison_finding(next(iter(result.values())))
    notes = grouped(benchmark_caveats(result))
    if len(result) == 1:
        missing = "nothing can be said of others, and what is over collections is missing (-)"
        notes.append(Note(f"One collection: {missing}."))
    queries = sum(len(comparison.query_ids) for comparison in result.values())
    size = "a value of each" if result.per_task else count(queries, "query")
    by = {name: result.criterion(name) for name in result.quantities or result.criteria}
    head = (
        f"{count(len(result.runs), 'run')} on {count(len(result), 'collection')} ({listed(list(result))}; {size}), "
        f"by {listed(list(by))}; each collection counts once.{directions(by)}"
    )
    if not result.runs:
        return Finding([head, "No run is common to all collections."], notes)
    try:
        overall = result.overall(over)
    except ValueError as error:
        return Finding(
            [
                head,
                f"Nothing can be said over collections: {str(error).removeprefix('overall: ')}.",
            ],
            notes,
        )
    first, *further = standings = [MacroStanding(result, name, over) for name in result.quantities]
    sentences = [head]
    by_best = gathered((tuple(s.may_be_best), s.name) for s in standings if len(result.runs) > 1)
    for best, names in by_best.items():
        sentences.append(_leader_sentence(best, names, len(result.runs)))
    confidence = texts.confidence_words(result.provenance)
    sentences.append(
        f"(Macro means; {_resampled(result, over)}; {confidence} confidence for each criterion.)"
    )
    if result.baseline is not None and result.rivals:
        said = "; ".join(f"by {standing.name}, {against_words(standing)}" for standing in standings)
        sentences.append(
            f"Against the baseline {result.baseline} ({how_resampled(result)}): {said}."
        )
        sentences += filter(None, [macro_families_words(result, over)])
        sentences += _replicated(result)
    elif result.baseline is not None:
        sentences.append(
            f"Only the baseline {result.baseline} is left: nothing can be compared with it."
        )
    ranking = first.ranking[["run", "mean", "ci_low", "ci_high"]].rename(
        columns={"mean": first.name}
    )
    ranking["rank"] = ranks_of(first.ranking)
    for standing in further:
        ranking[standing.name] = (
            standing.ranking.set_index("run")["mean"].reindex(ranking["run"]).to_numpy()
        )
    ranking.attrs = dict(overall.attrs)
    marks = ["", *(MAY_BE_BEST if run in first.may_be_best else "" for run in first.runs[1:])]
    legend = f" ({MAY_BE_BEST} may be the best as well)" if any(marks) else ""
    title = f"Ranking by {first.quantity}{direction_words(first.criterion)}, best first{legend}:"
    return Finding(sentences, notes, ranking, marks, title, result.quantities)


def _leader_sentence(best: Sequence[str], names: Sequence[str], runs: int) -> str:
    """Return a sentence on who leads by some criteria; `best` holds the leader first."""
    if not best:
        return f"By {listed(names)}, all runs are level."
    leader, *others = best
    if others:
        return f"By {listed(names)}, {leader} leads; {listed(others)} may be the best as well."
    if runs == 2:
        return f"{leader} leads by {listed(names)}."
    return f"By {listed(names)}, {leader} leads all others."


def ranks_of(table: pd.DataFrame) -> list[str]:
    """Intervals of ranks, in words."""
    return [
        f"{low} to {high}" for low, high in zip(table["rank_low"], table["rank_high"], strict=True)
    ]


def _replicated(result: Benchmark) -> list[str]:
    """On how many collections runs are better than the baseline, at least, in a sentence."""
    if len(result) < 2 or len(result.runs) < 2 or result.per_task:
        return []
    said_of = {}
    for name in result.quantities:
        table = result.replicated(name).sort_values(
            "better_on_at_least", ascending=False, kind="stable"
        )
        runs = gathered((int(row.better_on_at_least), str(row.run)) for row in table.itertuples())
        none = runs.pop(0, [])
        facts = [f"{listed(some)} on at least {least}" for least, some in runs.items()]
        facts[:1] = [f"{fact} of {count(len(result), 'collection')}" for fact in facts[:1]]
        facts += [f"no {'other ' if facts else ''}run is shown to be on any"] if none else []
        said_of[name] = texts.enumerated(facts)
    said = texts.once((facts, name) for name, facts in said_of.items())
    confidence = (
        f"{texts.confidence_words(result.provenance)} confidence for all runs by one criterion"
    )
    return [f"Better than {result.baseline} on single collections ({confidence}): {said}."]


def wilcoxon_words(test: Mapping[str, Any]) -> str:
    """How many pairs differ by Wilcoxon's test over collections, of what ``Benchmark.friedman`` gave."""
    p = test["p_wilcoxon"].to_numpy()
    pairs = p[np.triu_indices(len(p), 1)]
    differ = int((pairs <= test["alpha"]).sum())
    return f"Wilcoxon's signed ranks over collections with Holm's correction: {differ:,} of {count(len(pairs), 'pair')} differ"


def benchmark_table(
    result: Benchmark, over: str | None = None, places: int = PLACES, by: str | None = None
) -> Shown:
    """``overall`` for a paper, of one criterion or all: numbers with their intervals in one cell, the best mean of a criterion bold."""
    over = result.sample(over)
    result.overall(over)  # raises if nothing can be said
    standings = [MacroStanding(result, name, over) for name in ([by] if by else result.quantities)]
    table = pd.concat([standing.ranking for standing in standings], ignore_index=True)

    def intervals(value: str, low: str, high: str) -> list[str]:
        numbers = [texts.format_number(float(number), places) for number in table[value]]
        ends = [texts.interval(*both, places) for both in zip(table[low], table[high], strict=True)]
        return [x if end == "-" else f"{x} ({end})" for x, end in zip(numbers, ends, strict=True)]

    best: list[str] = []
    for standing in standings:
        best += best_marks(
            standing.ranking["mean"], smaller_is_better=standing.criterion.smaller_is_better
        )
    columns = [
        Column(
            "criterion", [x.name + direction_words(x.criterion) for x in standings for _ in x.runs]
        ),
        Column("run", list(map(str, table["run"]))),
        Column("mean (interval)", intervals("mean", "ci_low", "ci_high"), True, best),
        Column("mean rank", [f"{value:.2f}" for value in table["mean_rank"]], True),
        Column("rank", ranks_of(table)),
    ]
    if "difference" in table:
        signs = [SIGNS.get(str(verdict), "") for verdict in table["verdict"]]
        differences = intervals("difference", "difference_low", "difference_high")
        columns.append(Column(f"difference to {result.baseline}", differences, True, signs))
        columns.append(
            Column("p corrected", [texts.format_p(float(p)) for p in table["p_corrected"]], True)
        )
    if "effect" in table:
        ends = zip(table["next_low"], table["next_high"], strict=True)
        columns.append(Column("next collection", [texts.interval(*both) for both in ends], True))
        columns.append(
            Column("I2", [texts.format_number(float(value), 2) for value in table["i2"]], True)
        )
    confidence = texts.confidence_words(result.provenance)
    notes = [
        f"{confidence} intervals; ranks: simultaneous for each criterion; {_resampled(result, over)}."
    ]
    if result.rivals:
        notes.append(
            f"+, -: significantly better, worse than {result.baseline} ({how_resampled(result)})."
        )
        notes += filter(None, [macro_families_words(result, over)])
    notes += criteria_captions(result.quantities)
    return Shown(
        columns,
        f"Macro means over {count(len(result), 'collection')} ({listed(list(result))}).",
        notes,
    )
