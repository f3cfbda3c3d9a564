"""Prepare the sections of a page: rankings, differences on collections and in groups, heatmaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ir_lexirecall._util.rounding import DIFFERENCE
from ir_lexirecall._util.selecting import without
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, WORSE, p_of_verdict
from ir_lexirecall.descriptions import Description, describe
from ir_lexirecall.measures.parsing import known_measure
from ir_lexirecall.plots.marks import (
    LEADS,
    MAY,
    REST,
    Mark,
    collection_marks,
    difference_marks,
    group_marks,
    mean_marks,
)
from ir_lexirecall.present.findings import Note, notes_of_run
from ir_lexirecall.present.standings import (
    AnyStanding,
    MacroStanding,
    Standing,
    about_bounds,
    loss_words,
    standings_of,
    verdict_words,
)
from ir_lexirecall.present.tables import DAGGER, dagger_note
from ir_lexirecall.present.text import count, p_words
from ir_lexirecall.reports.report_tables import can_be_summed_up, minus

FOREST = {"width": 200, "height": 20}  # of the picture of a row
_MARGIN = 8
MAY_BE_BEST = "may be the best"
_KIND_OF_GROUP = {LEADS: LEADS, MAY_BE_BEST: MAY, "": REST}
_MOST_RUNS = 40  # in a heatmap
_SHADES = 10  # of a colour of the heatmap


@dataclass(frozen=True)
class Scale:
    """A range of numbers across the width of a picture, with a few round numbers on it."""

    low: float
    high: float
    ticks: Sequence[float]

    @classmethod
    def around(cls, numbers: Iterable[float], include: Sequence[float] = ()) -> Scale:
        """Return a scale that shows all finite numbers.

        >>> Scale.around([0.21, 0.68]).ticks
        [0.4, 0.6]
        >>> Scale.around([-0.3, 0.1], include=[0]).ticks
        [-0.3, -0.2, -0.1, 0.0, 0.1]
        """
        finite = [float(x) for x in (*numbers, *include) if np.isfinite(x)]
        if not finite:
            finite = [0.0, 1.0]
        low, high = min(finite), max(finite)
        if low == high:
            low, high = low - 0.5, high + 0.5
        step = 10.0 ** np.floor(np.log10((high - low) / 2))
        while (high - low) / step > 4:
            step *= 2 if (high - low) / step <= 8 else 2.5
        ticks = step * np.arange(
            np.ceil(low / step - DIFFERENCE), np.floor(high / step + DIFFERENCE) + 1
        )
        return cls(low, high, [float(round(tick, 10)) + 0.0 for tick in ticks])

    @classmethod
    def of(cls, marks: Iterable[Mark], include: Sequence[float] = ()) -> Scale:
        """Return a scale that shows all marks with their intervals."""
        ends: list[float] = []
        for mark in marks:
            ends += mark.value, mark.low, mark.high
        return cls.around(ends, include)

    def x(self, number: float) -> float | None:
        """Return the horizontal position of a number in a picture; None if it is not finite."""
        if not np.isfinite(number):
            return None
        shown = min(max(number, self.low), self.high)
        share = (shown - self.low) / (self.high - self.low)
        return round(_MARGIN + share * (FOREST["width"] - 2 * _MARGIN), 1)

    def labels(self) -> list[tuple[float | None, str]]:
        """Return the round numbers with their positions."""
        return [(self.x(tick), minus(f"{tick:g}")) for tick in self.ticks]


@dataclass(frozen=True)
class Row:
    """A run in a ranking.

    Attributes:
        mark: the mean with its interval.
        group: whether the run leads or may be the best; empty for all other runs.
        notes: caveats on the run.
        difference: the difference to the baseline or to the leader; None if there is none.
        p: the p-value that the verdict rests on; NaN if a margin leaves it undecided.
        bound: with a margin the one-sided bound that decides the verdict; else empty.
        others: the means by the other criteria, and whether the run leads by them.
        rank: the interval of the rank over collections, in words and as a mark.
    """

    mark: Mark
    group: str
    notes: list[str]
    difference: Mark | None
    p: float
    bound: str
    others: list[tuple[float, bool]]
    rank: tuple[str, Mark] | None


@dataclass(frozen=True)
class Ranking:
    """What a page shows for one criterion.

    Attributes:
        standing: how the runs stand by the criterion.
        rows: the runs, best first.
        compared: whether the runs are compared with the baseline or the leader.
        has_margin: whether they are compared with a margin.
        bounds: with a margin, what the bounds beside verdicts are; else empty.
        scale, difference_scale, rank_scale: the scales of the pictures of rows; there are no ranks
            on a single collection.
        others: the names of the other criteria.
        description: what the criterion measures; None if that is not known.
        forest: differences by run, in all groups of queries or, against the baseline, on all
            collections.
        forest_scale: the scale of `forest`.
        estimate: what the test of differences estimates.
        heatmap: every run against every other, on a single collection.
    """

    standing: AnyStanding
    rows: list[Row]
    compared: bool
    has_margin: bool
    bounds: str
    scale: Scale
    difference_scale: Scale
    rank_scale: Scale | None
    others: list[str]
    description: Description | None
    forest: dict[str, list[Mark]]
    forest_scale: Scale
    estimate: str
    heatmap: dict[str, Any] | None


Means = dict[str, dict[str, tuple[float, bool]]]
"""By criterion and run, the mean, and whether the run leads by it."""


def rankings_of(result: Comparison | Benchmark, notes: Sequence[Note]) -> list[Ranking]:
    """Return how the runs stand by each criterion.

    Collections that cannot be summed up have no rankings; the finding says why.

    Args:
        result: what the page is about.
        notes: the caveats of the page, of which each run gets its own.
    """
    standings = _standings(result)
    means = {standing.name: _means(standing) for standing in standings}
    notes_of = {run: notes_of_run(run, notes) for run in result.runs}
    return [_ranking(result, standing, means, notes_of) for standing in standings]


def _standings(result: Comparison | Benchmark) -> Sequence[AnyStanding]:
    """Return how the runs stand by each criterion, on one collection or over all."""
    if not isinstance(result, Benchmark):
        return standings_of(result)
    if not can_be_summed_up(result):
        return []
    return [MacroStanding(result, name) for name in result.quantities]


def _means(standing: AnyStanding) -> dict[str, tuple[float, bool]]:
    """Return the mean of each run, and whether the run leads."""
    if standing.all_alike:
        leaders = []
    else:
        leaders = standing.leaders
    means = zip(standing.runs, standing.ranking["mean"].tolist(), strict=True)
    return {run: (mean, run in leaders) for run, mean in means}


def _ranking(
    result: Comparison | Benchmark,
    standing: AnyStanding,
    means: Means,
    notes_of: Mapping[str, list[str]],
) -> Ranking:
    """Return what the page shows for one criterion."""
    several = len(standing.runs) > 1
    compared = several and bool(standing.reference)
    has_margin = compared and "better_p" in standing.against
    differences: list[Mark] = []
    if compared:
        differences = difference_marks(
            standing.against.itertuples(), outer=standing.outer
        )
    rows = _rows(
        standing, means, notes_of, differences, has_margin, result.baseline is not None
    )

    rank_scale = None
    if "rank_low" in standing.ranking:
        rank_scale = Scale.around([1, len(rows)])
    forest = _forest(result, standing, compared)
    heatmap = None
    if isinstance(standing, Standing) and several:
        heatmap = _heatmap(standing)
    if isinstance(result, Benchmark):
        comparison = next(iter(result.values()))
    else:
        comparison = result
    return Ranking(
        standing=standing,
        rows=rows,
        compared=compared,
        has_margin=has_margin,
        bounds=_about_bounds(standing, has_margin),
        scale=Scale.of(row.mark for row in rows),
        difference_scale=Scale.of(differences, include=[0]),
        rank_scale=rank_scale,
        others=without(means, [standing.name]),
        description=_description(comparison, standing),
        forest=forest,
        forest_scale=Scale.of(chain.from_iterable(forest.values()), include=[0]),
        estimate=comparison.compared.test_of(standing.name).procedure.estimate,
        heatmap=heatmap,
    )


def _rows(
    standing: AnyStanding,
    means: Means,
    notes_of: Mapping[str, list[str]],
    differences: Sequence[Mark],
    has_margin: bool,
    has_baseline: bool,
) -> list[Row]:
    """Return a row for each run, best first."""
    difference_of = {mark.name: mark for mark in differences}
    bound_of = _bounds_of_losses(standing, has_margin)
    over_all = "rank_low" in standing.ranking
    rows = []
    marks = zip(mean_marks(standing), standing.ranking.itertuples(), strict=True)
    for rank, (mark, cells) in enumerate(marks, start=1):
        run = mark.name
        difference = difference_of.get(run)
        group = _group(standing, run, leads=means[standing.name][run][1])
        kind = _KIND_OF_GROUP[group]
        if has_baseline:
            kind = "" if difference is None else difference.kind
        p = np.nan
        if difference is not None:
            p = p_of_verdict(difference.row, has_margin=has_margin)
        rank_interval = None
        if over_all:
            rank_interval = _interval_of_rank(rank, cells)
        row = Row(
            mark=mark._replace(kind=kind),
            group=group,
            notes=notes_of.get(run, []),
            difference=difference,
            p=p,
            bound=bound_of.get(run, ""),
            others=[
                of_run[run] for name, of_run in means.items() if name != standing.name
            ],
            rank=rank_interval,
        )
        rows.append(row)
    return rows


def _bounds_of_losses(standing: AnyStanding, has_margin: bool) -> dict[str, str]:
    """Return the one-sided bound that decides, by run; nothing without a margin."""
    if not has_margin or not isinstance(standing, Standing):
        return {}
    return {
        run: loss_words(standing, row)
        for run, row in standing.row_of_run.items()
        if row["verdict"] != BETTER
    }


def _about_bounds(standing: AnyStanding, has_margin: bool) -> str:
    """Return the meaning of the bounds beside verdicts; empty without a margin."""
    if not has_margin or not isinstance(standing, Standing):
        return ""
    return about_bounds(standing.result, [standing])


def _group(standing: AnyStanding, run: str, leads: bool) -> str:
    """Return whether a run leads or may be the best; an empty text for all other runs."""
    if len(standing.runs) < 2:
        return ""
    if leads:
        return LEADS
    if run in standing.may_be_best:
        return MAY_BE_BEST
    return ""


def _interval_of_rank(rank: int, row: Any) -> tuple[str, Mark]:
    """Return the interval of the rank of a run over collections, in words and as a mark."""
    resampled = row.rank_from, row.rank_to
    mark = Mark(row.run, rank, row.rank_low, row.rank_high, inner=resampled)
    return f"{mark.low} to {mark.high}", mark


def _description(comparison: Comparison, standing: AnyStanding) -> Description | None:
    """Return what a criterion measures; None if that is not known."""
    if comparison.compared.scored is None:
        measure = known_measure(standing.name)
    else:
        measure = comparison.compared.scored.measures.get(standing.name)
    described = measure or getattr(standing.criterion, "preference", None)
    if described:
        return describe(described)
    return None


def _forest(
    result: Comparison | Benchmark, standing: AnyStanding, compared: bool
) -> dict[str, list[Mark]]:
    """Return the differences on all collections, or in all groups of queries, by run."""
    if isinstance(result, Benchmark):
        if compared and result.baseline is not None:
            return collection_marks(result, standing.name)
        return {}
    if (
        isinstance(standing, Standing)
        and len(standing.runs) > 1
        and result.compared.grouped
    ):
        return group_marks(standing)
    return {}


# -- run against run -----------------------------------------------------------------------------


def _heatmap(standing: Standing) -> dict[str, Any]:
    """Return the differences of all pairs of runs, as a table with colours.

    Significant differences are coloured, larger ones deeper.

    Returns:
        `quantity`: what the numbers are; `note`: how many pairs differ; `rows`: cells, best runs
        first, and None on the diagonal. There are no rows if there are too many runs.
    """
    result, criterion = standing.result, standing.criterion
    matrix = result.matrix(standing.name).loc[standing.runs, standing.runs].to_numpy()
    largest = float(np.abs(matrix).max(initial=0.0)) or 1.0
    cells = _HeatmapCells(
        standing,
        largest,
        deepest=largest if criterion.is_measure else 1.0,
        facts=_facts_of_pairs(standing),
    )
    rows: list[list[dict[str, Any] | None]] = []
    if len(standing.runs) <= _MOST_RUNS:
        for a, line in zip(standing.runs, matrix.tolist(), strict=True):
            row = zip(standing.runs, line, strict=True)
            rows.append([None if a == b else cells.cell(a, b, x) for b, x in row])
    return {
        "quantity": _quantity_of_heatmap(standing),
        "note": _note_on_pairs(standing, rows),
        "rows": rows,
    }


def _quantity_of_heatmap(standing: Standing) -> str:
    """Return what the numbers of a heatmap are."""
    if not standing.criterion.is_measure:
        return "Mean preference of the row's run over the column's, from −1 to 1"
    if standing.result.compared.predicted is None:
        powered = ""
    else:
        powered = ", prediction-powered"
    if standing.criterion.smaller_is_better:
        cost = ", of which the smaller is better"
    else:
        cost = ""
    return f"Difference of the means of the row's run and the column's{powered}{cost}"


def _facts_of_pairs(standing: Standing) -> dict[tuple[str, str], str]:
    """Return the wins, losses, ties and p-value of all pairs of runs, in both orders."""
    facts = {}
    for row in standing.result.table(standing.name).itertuples():
        shared = f"{row.ties} tied; {p_words(row.p_corrected, standing.test.alpha)}"
        facts[row.run_a, row.run_b] = f"{row.wins} won, {row.losses} lost, {shared}"
        facts[row.run_b, row.run_a] = f"{row.losses} won, {row.wins} lost, {shared}"
    return facts


@dataclass(frozen=True)
class _HeatmapCells:
    """Makes the cells of a heatmap.

    Attributes:
        standing: how the runs stand.
        largest: the largest difference, which decides how many digits are shown.
        deepest: the difference that has the deepest colour.
        facts: what each cell says of its pair of runs.
    """

    standing: Standing
    largest: float
    deepest: float
    facts: Mapping[tuple[str, str], str]

    def cell(self, a: str, b: str, difference: float) -> dict[str, Any]:
        """Return the cell of run `a` against run `b`."""
        verdict = self.standing.verdicts.on(a, b)
        is_decided = verdict in (BETTER, WORSE)
        is_unsure = {a, b} in (self.standing.unsure or [])
        undone = "unjudged documents might undo it" if is_unsure else None
        words = [
            verdict_words(verdict, has_margin=self.standing.margin is not None),
            self.facts.get((a, b)),
            undone,
        ]
        return {
            "value": difference,
            "text": _short(difference, self.largest)
            + "*" * is_decided
            + DAGGER * is_unsure,
            "shade": self._shade(verdict, difference),
            "words": f"{a} against {b}: {'; '.join(filter(None, words))}",
            "run_a": a,
            "run_b": b,
        }

    def _shade(self, verdict: str | None, difference: float) -> str:
        """Return the CSS classes of a verdict; no colour if nothing is decided."""
        if verdict is None:
            return "none"
        if verdict not in (BETTER, WORSE):
            return ""
        depth = max(1, round(abs(difference) / self.deepest * _SHADES))
        return f"{verdict} d{depth}"


def _note_on_pairs(
    standing: Standing, rows: Sequence[Sequence[dict[str, Any] | None]]
) -> str:
    """Return how many pairs of runs differ, and what the daggers of cells mean."""
    pairs = count(len(standing.result.pairs), "pair")
    note = f"{standing.verdicts.decided:,} of {pairs} differ significantly ({standing.how})."
    if any(
        cell is not None and DAGGER in cell["text"]
        for cell in chain.from_iterable(rows)
    ):
        undecided = standing.undecided
        if undecided is None:
            depth_of = {}
        else:
            depth_of = {standing.name: undecided.depth}
        note += f" {dagger_note(depth_of)}"
    return note


def _short(difference: float, largest: float) -> str:
    """Return a difference with few decimal places: fewer if the largest one is large.

    >>> _short(-0.25, 0.5), _short(0.012, 0.03), _short(-42207.6, 50000.0)
    ('−.25', '+.012', '−42208')
    """
    if largest >= 10:
        return minus(f"{difference:+.0f}")
    if largest >= 0.1:
        decimals = 2
    elif largest >= 0.01:
        decimals = 3
    else:
        decimals = 4
    return minus(
        f"{difference:+.{decimals}f}".replace("+0.", "+.").replace("-0.", "-.")
    )
