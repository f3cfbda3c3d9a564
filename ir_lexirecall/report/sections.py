"""From results to what the sections of a page show: numbers, marks and words, not yet HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall.benchmark import Benchmark, BenchmarkSuite
from ir_lexirecall.descriptions import describe
from ir_lexirecall.plots import joined_ranks
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.report.cells import Table, minus, p_value
from ir_lexirecall.report.forests import Mark, Scale
from ir_lexirecall.report.rewards import Reward, reward
from ir_lexirecall.summary import Standing, correction_words, estimate_words, grouped, notes_of_run

if TYPE_CHECKING:
    import pandas as pd

_MOST_CELLS = 20_000  # of the values by query
_MOST_RUNS = 40  # in a heatmap
_SHADES = 10  # of a colour of the heatmap


_PREFERENCES = {
    "lexirecall": (
        "Lexicographic recall, exactly",
        "More relevant documents win; where they are as many, the earlier last one wins, then the one before it, and so on.",
        "when every user counts, the worst-off first: recall, and ties of it decided",
    ),
    "lexiprecision": (
        "Lexicographic precision",
        "The first rank of a relevant document at which two rankings differ decides: the earlier one wins.",
        "when the top of the ranking counts, and ties of RR should be decided",
    ),
    "rrlexiprecision": (
        "Lexicographic precision, weighted by reciprocal ranks",
        "As lexiprecision, by the difference of 1/rank at the level that decides.",
        "when the top counts, and a difference at rank 1 more than one at rank 10",
    ),
    "rpp": (
        "Recall-paired preference",
        "The share of recall levels that a ranking reaches earlier, less the share that it reaches later.",
        "when all recall levels count alike",
    ),
    "invrpp": (
        "Recall-paired preference, weighted by 1/level",
        "As rpp, with the weight 1/i of the i-th relevant document.",
        "when early recall levels count more",
    ),
    "dcgrpp": (
        "Recall-paired preference, weighted by 1/log2(level + 1)",
        "As rpp, with the weight 1/log2(i + 1) of the i-th relevant document.",
        "when early recall levels count somewhat more",
    ),
    "dominance": (
        "Dominance, a partial order",
        "A ranking is better only if at every depth it has at least as many documents of every grade or more.",
        "when a difference should hold for every reasonable measure; many pairs are not comparable",
    ),
}
"""Title, meaning and use of the preferences that are no measures."""


# -- the summary -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Summary:
    """The sentences at the top of a page, and what should be distrusted.

    Attributes:
        sentences: what the result says.
        notes: diagnostics of the whole, the gravest first.
        by_run: those that concern a single run, by its name, without it.
        of_pairs: diagnostics that concern a pair of runs.
    """

    sentences: Sequence[str]
    notes: Sequence[str]
    by_run: Mapping[str, list[str]]
    of_pairs: Sequence[str]


def summary_of(result: Benchmark | BenchmarkSuite | Preferences) -> Summary:
    """The summary of a result, its diagnostics sorted by what they concern."""
    said = result.finding
    pairs = [note for note in result.notes if len(note.runs) == 2]
    others = [note for note in result.notes if len(note.runs) < 2]
    runs = dict.fromkeys(run for note in others for run in note.runs)
    by_run = {run: notes_of_run(run, others) for run in runs}
    sentences = [re.sub(r"\bp <= (?=[0-9])", "p ≤ ", sentence) for sentence in said.sentences]
    return Summary(sentences, grouped(others), by_run, pairs)


# -- rankings --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """What a run has over the reference: a number, its mark, the corrected p."""

    value: float
    mark: Mark
    p: float


@dataclass(frozen=True)
class RankedRun:
    """A run in a ranking: what it reaches, and how it stands to the reference (the leader, or the baseline).

    Attributes:
        place: from 1.
        run: its name.
        mean: its number and its mark.
        verdict: ``'leads'``, ``'level'``, ``'differs'``, ``'baseline'``, or empty where it was not compared with the reference.
        difference: to the reference.
        others: means of the other measures, and whether the run leads by them.
        notes: diagnostics that concern it.
    """

    place: int
    run: str
    mean: tuple[float, Mark]
    verdict: str
    difference: Difference | None
    others: Sequence[tuple[float, bool]]
    notes: Sequence[str]


@dataclass(frozen=True)
class Ranking:
    """The runs by one measure or preference, best first.

    Attributes:
        name: of the measure or preference.
        quantity: what the numbers are.
        reference: the run that the others are compared with: the leader, or the baseline.
        scale, difference_scale: of the marks.
        rows: best first.
        others: names of the other measures.
        confidence: of the intervals, in percent.
            difference: what the differences are: it depends on the test.
        level: how many runs the test does not tell from the reference.
        picture: what the measure rewards.
        words: what the measure is, in a sentence.
    """

    name: str
    quantity: str
    reference: str
    is_baseline: bool
    scale: Scale
    difference_scale: Scale
    rows: Sequence[RankedRun]
    others: Sequence[str]
    confidence: str
    difference: str
    level: int
    picture: Reward | None = None
    words: Mapping[str, str] = field(default_factory=dict)


def rankings_of(result: Benchmark | Preferences, summary: Summary) -> list[Ranking]:
    """A ranking by each measure, then by each preference that is none of them."""
    sources: list[tuple[Benchmark | Preferences, str]] = []
    preferences = result.preferences if isinstance(result, Benchmark) else result
    if isinstance(result, Benchmark):
        sources += [(result, name) for name in result.measures]
    if preferences is not None and preferences.query_ids:
        known = {name for _, name in sources}
        sources += [(preferences, name) for name in preferences.preferences if name not in known]
    standings = [source.standing(name) for source, name in sources]
    return [_ranking(result, shown, standings, summary) for shown in standings]


def _ranking(
    result: Benchmark | Preferences, shown: Standing, standings: Sequence[Standing], summary: Summary
) -> Ranking:
    others = [other for other in standings if other is not shown]
    reference = shown.leader if result.baseline is None else result.baseline
    ranking = shown.ranking
    scale = Scale.around(np.concatenate([ranking[name] for name in ("mean", "ci_low", "ci_high")]))
    against = shown.against(reference)
    compared = {row.run: row for row in against.itertuples()}
    differences = Scale.around(against[["estimate", "ci_low", "ci_high"]].to_numpy().ravel(), include=[0])
    means = {other.name: dict(zip(other.runs, other.ranking["mean"], strict=True)) for other in others}
    best = {other.name: other.leader for other in others}
    rows = []
    for number_of_row, row in enumerate(ranking.itertuples(), start=1):
        run = str(row.run)
        verdict = "baseline" if result.baseline == run else "leads" if run == reference else ""
        difference = None
        if (to := compared.get(run)) is not None:
            verdict = "level" if not to.reject else "better" if to.better else "worse"
            drawn = Mark.on(differences, to.estimate, to.ci_low, to.ci_high, verdict)
            difference = Difference(to.estimate, drawn, to.p_corrected)
        rows.append(
            RankedRun(
                place=number_of_row,
                run=run,
                mean=(float(row.mean), Mark.on(scale, row.mean, row.ci_low, row.ci_high, verdict)),
                verdict=verdict,
                difference=difference,
                others=[(float(means[name][run]), run == best[name]) for name in means],
                notes=summary.by_run.get(run, []),
            )
        )
    return Ranking(
        name=shown.name,
        quantity=shown.quantity,
        reference=reference,
        is_baseline=result.baseline is not None,
        scale=scale,
        difference_scale=differences,
        rows=rows,
        others=list(means),
        confidence=f"{100 * (1 - result.test.alpha):g} %",
        difference=estimate_words(result.test),
        level=sum(row.verdict == "level" for row in rows),
        picture=_reward_of(result, shown.name),
        words=described(result, shown.name),
    )


def _measure_of(result: Benchmark | Preferences, name: str) -> Any:
    preferences = result.preferences if isinstance(result, Benchmark) else result
    for scored in (result.scored, None if preferences is None else preferences.scored):
        if scored is not None and name in scored.measures:
            return scored.measures[name]
    return None


def _reward_of(result: Benchmark | Preferences, name: str) -> Reward | None:
    measure = _measure_of(result, name)
    return None if measure is None else reward(measure)


def described(result: Benchmark | Preferences, name: str) -> Mapping[str, str]:
    """What a measure or preference is, by ``title``, ``meaning``, ``use``; empty where nobody says."""
    if name in _PREFERENCES:
        return dict(zip(("title", "meaning", "use"), _PREFERENCES[name], strict=True))
    measure = _measure_of(result, name)
    if measure is None:
        return {}
    found = describe(measure)
    return {"title": found.title, "meaning": found.meaning, "use": found.use}


@dataclass(frozen=True)
class LeadingGroup:
    """Who leads, or is not told from the leader, by several measures.

    Attributes:
        names: of the measures and preferences.
        rows: for each run that some leading group has, those of most measures first: its name, and by each measure
            ``'leads'``, ``'level'`` or nothing.
        everywhere: the runs that are in the leading group by all of them.
    """

    names: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]
    everywhere: Sequence[str]


def leading_group(rankings: Sequence[Ranking]) -> LeadingGroup | None:
    """The leading groups of several rankings; None where there is one ranking only, or all differences are to a baseline."""
    if len(rankings) < 2 or any(ranking.is_baseline or len(ranking.rows) < 2 for ranking in rankings):
        return None
    verdicts = [{row.run: row.verdict for row in ranking.rows} for ranking in rankings]
    rows = [(row.run, [_group(by.get(row.run, "")) for by in verdicts]) for row in rankings[0].rows]
    rows = sorted((row for row in rows if any(row[1])), key=lambda row: -sum(map(bool, row[1])))
    return LeadingGroup([ranking.name for ranking in rankings], rows, [run for run, by in rows if all(by)])


def _group(verdict: str) -> str:
    return verdict if verdict in ("leads", "level") else ""


# -- pairs -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeatmapCell:
    """A pair of runs in a heatmap: its text, its shade, what it says in full."""

    text: str
    shade: str
    words: str
    run_a: str
    run_b: str


@dataclass(frozen=True)
class Comparison:
    """Every run against every other by one preference.

    Attributes:
        name: of the preference.
        runs: best first.
        heatmap: a row per run, a cell per run, None on the diagonal; None where there are too many runs.
        significant, pairs: how many differ, of how many.
        table, matrix: in numbers.
        test, alpha, correction: how differences are tested.
    """

    name: str
    runs: Sequence[str]
    heatmap: Sequence[Sequence[HeatmapCell | None]] | None
    significant: int
    pairs: int
    table: Table
    matrix: Table | None
    test: str
    alpha: float
    correction: str | None


def comparisons_of(preferences: Preferences) -> list[Comparison]:
    """Every run against every other, by each preference."""
    return [_comparison(preferences, name) for name in preferences.preferences]


def _comparison(preferences: Preferences, name: str) -> Comparison:
    table = preferences.table_of(name)
    runs = list(preferences.ranking("mean", name).index)
    drawn = preferences.query_ids and len(runs) <= _MOST_RUNS
    shown = table if "dominance" in preferences.preferences else table.drop(columns="incomparable")
    matrix = preferences.matrix(name).loc[runs, runs]
    return Comparison(
        name=name,
        runs=runs,
        heatmap=_heatmap(matrix, table) if drawn else None,
        significant=int(table["reject"].sum()),
        pairs=len(table),
        table=Table.from_frame(shown.set_index(["run_a", "run_b"])),
        matrix=Table.from_frame(matrix.rename_axis("run")) if len(runs) <= _MOST_RUNS else None,
        test=preferences.test.name,
        alpha=preferences.test.alpha,
        correction=correction_words(method) if (method := preferences.provenance["correction"]) else None,
    )


def _heatmap(matrix: pd.DataFrame, table: pd.DataFrame) -> list[list[HeatmapCell | None]]:
    rows = {}
    for row in table.itertuples():
        p = f"p {p_value(row.p_corrected)}"
        rows[row.run_a, row.run_b] = (f"{row.wins} won, {row.losses} lost, {row.ties} tied; {p}", bool(row.reject))
        rows[row.run_b, row.run_a] = (f"{row.losses} won, {row.wins} lost, {row.ties} tied; {p}", bool(row.reject))
    cells: list[list[HeatmapCell | None]] = []
    for a in matrix.index:
        line: list[HeatmapCell | None] = []
        for b in matrix.columns:
            if a == b:
                line.append(None)
                continue
            mean = float(matrix.loc[a, b])
            words, differs = rows.get((a, b), ("not compared: neither is the baseline", False))
            shade = round(abs(mean) * _SHADES)
            line.append(
                HeatmapCell(
                    text=minus(f"{mean:+.2f}".replace("0.", ".")) + ("*" if differs else ""),
                    shade=f"{'p' if mean > 0 else 'n'}{shade}" if shade else "",
                    words=f"{a} over {b}: {words}",
                    run_a=a,
                    run_b=b,
                )
            )
        cells.append(line)
    return cells


# -- tables ----------------------------------------------------------------------------------------


def values_by_query(result: Benchmark) -> dict[str, Any]:
    """The values by query: a table per measure, with a row per query and a column per run; none where they are too many."""
    if result.per_query.size > _MOST_CELLS:
        return {"size": result.per_query.size, "tables": {}}
    tables = {
        str(name): Table.from_frame(values.unstack("run")[result.runs]) for name, values in result.per_query.items()
    }
    return {"size": result.per_query.size, "tables": tables}


# -- many collections ------------------------------------------------------------------------------


@dataclass(frozen=True)
class SuiteQuantity:
    """What holds over collections by one measure or preference.

    Attributes:
        name: of the measure or preference.
        means: rows of run, mean and its mark, ranks (text and mark), best first.
        scale, rank_scale: of their marks.
        forest: with a baseline, for every other run rows of collection, difference and its mark, p, the last one over all.
        forest_scale: of the marks of all forests.
        friedman: as ``BenchmarkSuite.friedman`` gives it; None with fewer than three runs.
        mean_ranks: rows of run, mean rank and its mark, and for each bar whether it passes the run.
        mean_rank_scale: of their marks.
    """

    name: str
    means: Sequence[tuple[str, float, Mark, str, Mark]]
    scale: Scale
    rank_scale: Scale
    forest: Mapping[str, Sequence[tuple[str, float, Mark, float | None]]]
    forest_scale: Scale | None
    friedman: Mapping[str, Any] | None
    mean_ranks: Sequence[tuple[str, float, Mark, Sequence[bool]]]
    mean_rank_scale: Scale


def quantities_of(suite: BenchmarkSuite, overall: pd.DataFrame) -> list[SuiteQuantity]:
    """Every measure and preference over collections."""
    if len(suite.runs) < 2:
        return []
    return [_quantity(suite, overall[overall["measure"] == name], str(name)) for name in overall["measure"].unique()]


def _quantity(suite: BenchmarkSuite, overall: pd.DataFrame, name: str) -> SuiteQuantity:
    table = overall.sort_values("mean", ascending=name in suite.smaller_is_better, kind="stable")
    scale = Scale.around(np.concatenate([table[column] for column in ("mean", "ci_low", "ci_high")]))
    ranks = Scale.around([1, len(table)])
    means = []
    for place, row in enumerate(table.itertuples(), start=1):
        mark = Mark(
            ranks.x(place),
            ranks.x(row.rank_low),
            ranks.x(row.rank_high),
            (ranks.x(row.rank_from), ranks.x(row.rank_to)),
        )
        kind = "baseline" if row.run == suite.baseline else ""
        words = f"{place} ({row.rank_low} to {row.rank_high})"
        means.append(
            (str(row.run), float(row.mean), Mark.on(scale, row.mean, row.ci_low, row.ci_high, kind), words, mark)
        )
    forest, forest_scale = _forests(suite, table, name)
    test = suite.friedman(name)
    mean_rank = test["mean_rank"]
    bars = joined_ranks(mean_rank.to_numpy(), test["critical_difference"])
    rank_rows = [
        (str(run), float(value), Mark.on(ranks, value), [first <= place <= last for first, last in bars])
        for place, (run, value) in enumerate(mean_rank.items())
    ]
    return SuiteQuantity(
        name=name,
        means=means,
        scale=scale,
        rank_scale=ranks,
        forest=forest,
        forest_scale=forest_scale,
        friedman=None if np.isnan(test["p"]) else {**test, "p_text": p_value(test["p"])},
        mean_ranks=rank_rows,
        mean_rank_scale=ranks,
    )


def _forests(
    suite: BenchmarkSuite, overall: pd.DataFrame, name: str
) -> tuple[dict[str, list[tuple[str, float, Mark, float | None]]], Scale | None]:
    """Differences to the baseline on each collection and over all, for every other run, best first."""
    if suite.baseline is None:
        return {}, None
    by_collection, rising = suite.by_collection(name), name not in suite.smaller_is_better
    ends = ["difference", "difference_low", "difference_high"]
    others = overall[overall["run"] != suite.baseline]
    scale = Scale.around(np.concatenate([part[column] for part in (by_collection, others) for column in ends]), [0])
    forest: dict[str, list[tuple[str, float, Mark, float | None]]] = {}
    for whole in others.itertuples():
        rows: list[tuple[str, float, Mark, float | None]] = []
        for row in by_collection[by_collection["run"] == whole.run].itertuples():
            low, high = row.difference_low, row.difference_high
            kind = "level" if low <= 0 <= high else "better" if (low > 0) == rising else "worse"
            rows.append(
                (str(row.collection), float(row.difference), Mark.on(scale, row.difference, low, high, kind), None)
            )
        kind = "level" if not whole.reject else "better" if (whole.difference > 0) == rising else "worse"
        mark = Mark.on(scale, whole.difference, whole.difference_low, whole.difference_high, f"all {kind}")
        rows.append(("all", float(whole.difference), mark, float(whole.p_corrected)))
        forest[str(whole.run)] = rows
    return forest, scale
