"""The sections of a page: how runs stand by each criterion, over collections, in groups of queries, and against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.lazy import cached_property
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, NOT_WORSE, WITHIN, WORSE
from ir_lexirecall.descriptions import Description, describe
from ir_lexirecall.measures.parsing import known_measure
from ir_lexirecall.plots.marks import Mark, collection_marks, difference_marks, group_marks, heat_of, mean_marks
from ir_lexirecall.present.macro_means import ranks_of
from ir_lexirecall.present.notes import Note, notes_of_run
from ir_lexirecall.present.standings import VERDICTS, MacroStanding, Standing, standings_of, verdict_words
from ir_lexirecall.present.tables import DAGGER, UNSURE
from ir_lexirecall.present.text import count, p_words
from ir_lexirecall.reports.report_tables import can_be_summed_up, minus
from ir_lexirecall.reports.svg import Scale

LEADS, MAY_BE_BEST = "leads", "may be the best"
_WITH_MARGIN = {BETTER: "better_p", WORSE: "worse_p", WITHIN: "within_p", NOT_WORSE: "not_worse_p"}
_MOST_RUNS = 40  # in a heatmap
_SHADES = 10  # of a colour of the heatmap


class RankedRun(NamedTuple):
    """A run in a ranking.

    Attributes:
        group: ``'leads'``, ``'may be the best'``, or empty.
        rank: over collections, the interval of its rank in words, and its mark.
        difference: to the reference; None of the reference itself.
        p: that its verdict rests on; not a number where a margin leaves the difference undecided.
        others: means by the other criteria, and whether the run leads by them.
    """

    mark: Mark
    group: str
    rank: tuple[str, Mark] | None
    difference: Mark | None
    p: float
    others: Sequence[tuple[float, bool]]
    notes: Sequence[str]


@dataclass(frozen=True)
class Leaderboard:
    """The runs by one criterion, best first.

    Attributes:
        compared: whether the others are compared with a run, the baseline or the leader.
    """

    standing: Standing | MacroStanding
    compared: bool
    has_margin: bool
    scale: Scale
    difference_scale: Scale
    rank_scale: Scale | None
    rows: Sequence[RankedRun]
    others: Sequence[str]
    said: Description | None


def rankings_of(result: Comparison | Benchmark, notes: Sequence[Note]) -> list[Leaderboard]:
    """The rankings by all criteria; none over collections where nothing can be said (the finding says why)."""
    standings: Sequence[Standing | MacroStanding]
    if isinstance(result, Benchmark):
        standings = [MacroStanding(result, name) for name in result.quantities] if can_be_summed_up(result) else []
    else:
        standings = standings_of(result)
    by_run = {run: notes_of_run(run, notes) for run in result.runs}
    scored = (next(iter(result.values())) if isinstance(result, Benchmark) else result).scored
    rankings = []
    for standing in standings:
        table, several = standing.ranking, len(standing.runs) > 1
        compared = several and bool(standing.reference)
        drawn = difference_marks(standing.against.itertuples(), outer=standing.outer) if compared else []
        differences = {mark.name: mark for mark in drawn}
        has_margin = compared and "better_p" in standing.against
        p_of = _WITH_MARGIN if has_margin else dict.fromkeys(VERDICTS, "p_corrected")
        over_all = "rank_low" in table
        ranks = ranks_of(table) if over_all else []
        others = [other for other in standings if other is not standing]
        means = [dict(zip(other.ranking["run"], other.ranking["mean"].tolist(), strict=True)) for other in others]
        rows = []
        for place, (mark, row) in enumerate(zip(mean_marks(standing), table.itertuples(), strict=True), 1):
            run, difference = str(row.run), differences.get(str(row.run))
            leads = run in standing.leaders and several and not standing.all_alike
            group = LEADS if leads else MAY_BE_BEST if several and run in standing.may_be_best else ""
            kind = {LEADS: "leads", MAY_BE_BEST: "may"}.get(group, "rest")
            if result.baseline is not None:
                kind = "" if difference is None else difference.kind
            rank, p = None, np.nan
            if over_all:
                ends = (row.rank_from, row.rank_to)
                rank = (ranks[place - 1], Mark(run, place, row.rank_low, row.rank_high, inner=ends))
            if difference is not None:
                p = float(getattr(difference.row, p_of.get(difference.row.verdict, ""), np.nan))
            by_others = [
                (mean[run], run in other.leaders and not other.all_alike)
                for other, mean in zip(others, means, strict=True)
            ]
            shown, said = mark._replace(kind=kind), by_run.get(run, [])
            rows.append(RankedRun(shown, group, rank, difference, p, by_others, said))
        name = standing.name
        measure: IRMeasure | None = known_measure(name) if scored is None else scored.measures.get(name)
        what = measure or getattr(standing.criterion, "preference", None)
        rankings.append(
            Leaderboard(
                standing=standing,
                compared=compared,
                has_margin=has_margin,
                scale=Scale.of(row.mark for row in rows),
                difference_scale=Scale.of(drawn, include=[0]),
                rank_scale=Scale.around([1, len(table)]) if over_all else None,
                rows=rows,
                others=[other.name for other in others],
                said=describe(what) if what else None,
            )
        )
    return rankings


def best_sets(rankings: Sequence[Leaderboard]) -> list[tuple[str, list[str]]]:
    """Runs that may be the best by some criterion, their groups by each; none of one ranking, or fewer than three runs."""
    if len(rankings) < 2 or len(rankings[0].rows) < 3:
        return []
    groups = [{row.mark.name: row.group for row in ranking.rows} for ranking in rankings]
    rows = [(run, [by[run] for by in groups]) for run in groups[0] if any(by[run] for by in groups)]
    return sorted(rows, key=lambda row: -sum(map(bool, row[1])))


# -- over collections, and in groups of queries ----------------------------------------------------


@dataclass(frozen=True)
class Forest:
    """What is estimated on each collection, or in each group, by one criterion: marks by run, best first."""

    standing: Standing | MacroStanding
    marks: Mapping[str, Sequence[Mark]]
    estimate: str

    @cached_property
    def scale(self) -> Scale:
        return Scale.of((mark for some in self.marks.values() for mark in some), include=[0])


def groups_of(result: Comparison) -> list[Forest]:
    """A forest for each criterion; none where there are no groups to compare."""
    standings = standings_of(result) if result.grouped and len(result.runs) > 1 else []
    return [Forest(standing, group_marks(standing), standing.estimate) for standing in standings]


def against_baseline(result: Benchmark, rankings: Sequence[Leaderboard]) -> list[Forest]:
    """What is estimated against the baseline on each collection, and over all, by each criterion; none without one, or other runs."""
    found = []
    for ranking in rankings if result.baseline is not None and len(result.runs) > 1 else ():
        name = ranking.standing.name
        estimate = next(iter(result.values())).test_of(name).procedure.estimate
        found.append(Forest(ranking.standing, collection_marks(result, name), estimate))
    return found


# -- run against run -------------------------------------------------------------------------------


class HeatmapCell(NamedTuple):
    """A pair of runs in a heatmap: its number, its text, its shade, what it says in full."""

    value: float
    text: str
    shade: str
    words: str
    run_a: str
    run_b: str


@dataclass(frozen=True)
class Heatmap:
    """Every run against every other by one criterion, the colours the verdicts.

    Attributes:
        rows: a row per run, best first, a cell per run, None on the diagonal; None where there are too many runs.
    """

    name: str
    quantity: str
    said: str
    runs: Sequence[str]
    rows: Sequence[Sequence[HeatmapCell | None]] | None


def heatmaps_of(result: Comparison) -> list[Heatmap]:
    found = []
    for standing in standings_of(result) if len(result.runs) > 1 else ():
        cost = ", of which the smaller is better" if standing.criterion.smaller_is_better else ""
        powered = "" if result.predicted is None else ", prediction-powered"
        what = "Mean preference of the row's run over the column's, from −1 to 1"
        if standing.criterion.is_measure:
            what = f"Difference of the means of the row's run and the column's{powered}{cost}"
        differ = f"{standing.verdicts.decided:,} of {count(len(result.pairs), 'pair')} differ significantly"
        rows = _cells(standing) if len(standing.runs) <= _MOST_RUNS else None
        said = f"{differ} ({standing.how})."
        if any(cell is not None and DAGGER in cell.text for row in rows or () for cell in row):
            said += f" {UNSURE}"
        found.append(Heatmap(standing.name, what, said, standing.runs, rows))
    return found


def _cells(standing: Standing) -> list[list[HeatmapCell | None]]:
    """The cells: coloured where the verdict is better or worse, the deeper the larger the difference."""
    matrix, _ = heat_of(standing)
    largest = float(np.abs(matrix).max(initial=0.0)) or 1.0
    widest = largest if standing.criterion.is_measure else 1.0
    facts, unsure = {}, standing.unsure or []
    for row in standing.result.table(standing.name).itertuples():
        p = p_words(float(row.p_corrected))
        facts[row.run_a, row.run_b] = f"{row.wins} won, {row.losses} lost, {row.ties} tied; {p}"
        facts[row.run_b, row.run_a] = f"{row.losses} won, {row.wins} lost, {row.ties} tied; {p}"

    rows = []
    for a, line in zip(standing.runs, matrix.tolist(), strict=True):
        cells: list[HeatmapCell | None] = []
        for b, difference in zip(standing.runs, line, strict=True):
            verdict = standing.verdicts.on(a, b)
            decided = verdict in (BETTER, WORSE)
            shade = f"{verdict} d{max(1, round(abs(difference) / widest * _SHADES))}" if decided else ""
            shade = "none" if verdict is None else shade
            is_unsure = {a, b} in unsure
            text = _short(difference, largest) + "*" * decided + DAGGER * is_unsure
            undone = "judging the unjudged documents is not known to leave its sign" if is_unsure else None
            said = "; ".join(filter(None, [verdict_words(verdict), facts.get((a, b)), undone]))
            cell = HeatmapCell(difference, text, shade, f"{a} beside {b}: {said}", a, b)
            cells.append(None if a == b else cell)
        rows.append(cells)
    return rows


def _short(difference: float, largest: float) -> str:
    """A difference with as few places as tell it from 0, by the size of the largest.

    >>> _short(-0.25, 0.5), _short(0.012, 0.03), _short(-42207.6, 50000.0)
    ('−.25', '+.012', '−42208')
    """
    if largest >= 10:
        return minus(f"{difference:+.0f}")
    places = 2 if largest >= 0.1 else 3 if largest >= 0.01 else 4
    return minus(f"{difference:+.{places}f}".replace("+0.", "+.").replace("-0.", "-."))
