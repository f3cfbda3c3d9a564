"""The sections of a page: how runs stand by each criterion, over collections, in groups of queries, and against each other.

What templates read are dicts; the scales of the small pictures beside the rows of tables are
objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_lexirecall._util.rounding import DIFFERENCE
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.verdicts import BETTER, NOT_WORSE, WITHIN, WORSE
from ir_lexirecall.descriptions import describe
from ir_lexirecall.measures.parsing import known_measure
from ir_lexirecall.plots.marks import (
    Mark,
    collection_marks,
    difference_marks,
    group_marks,
    mean_marks,
)
from ir_lexirecall.present.findings import Note, notes_of_run
from ir_lexirecall.present.standings import (
    VERDICTS,
    MacroStanding,
    Standing,
    standings_of,
    verdict_words,
)
from ir_lexirecall.present.tables import DAGGER, dagger_note
from ir_lexirecall.present.text import count, p_words
from ir_lexirecall.reports.report_tables import can_be_summed_up, minus

FOREST = {"width": 200, "height": 20}  # of the picture of a row
_MARGIN = 8
LEADS, MAY_BE_BEST = "leads", "may be the best"
_WITH_MARGIN = {BETTER: "better_p", WORSE: "worse_p", WITHIN: "within_p", NOT_WORSE: "not_worse_p"}
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
        """The scale that shows all numbers (those that are finite), and some more.

        >>> Scale.around([0.21, 0.68]).ticks
        [0.4, 0.6]
        >>> Scale.around([-0.3, 0.1], include=[0]).ticks
        [-0.3, -0.2, -0.1, 0.0, 0.1]
        """
        finite = [float(x) for x in (*numbers, *include) if np.isfinite(x)] or [0.0, 1.0]
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
        """The scale that shows all marks."""
        return cls.around(
            (end for mark in marks for end in (mark.value, mark.low, mark.high)), include
        )

    def x(self, number: float) -> float | None:
        """Where a number stands, from the margin on the left to that on the right; None for what is not finite."""
        if not np.isfinite(number):
            return None
        share = (min(max(number, self.low), self.high) - self.low) / (self.high - self.low)
        return round(_MARGIN + share * (FOREST["width"] - 2 * _MARGIN), 1)

    def labels(self) -> list[tuple[float | None, str]]:
        """The round numbers with their places."""
        return [(self.x(tick), minus(f"{tick:g}")) for tick in self.ticks]


def rankings_of(result: Comparison | Benchmark, notes: Sequence[Note]) -> list[dict[str, Any]]:
    """What the page says by each criterion; nothing over collections where nothing can be said (the finding says why).

    Returns:
        By criterion: ``standing``; ``rows``, of the runs, best first; whether they are ``compared``
            with the baseline or the leader, and with a margin; scales; the names of the ``others``;
            what is ``said`` of the criterion; ``forest``: marks by run, of all groups of queries,
            or against the baseline of all collections; ``heatmap``, of the runs of a comparison.
    """
    standings: Sequence[Standing | MacroStanding]
    if isinstance(result, Benchmark):
        one, names = (
            next(iter(result.values())),
            result.quantities if can_be_summed_up(result) else [],
        )
        standings = [MacroStanding(result, name) for name in names]
    else:
        one, standings = result, standings_of(result)
    by_run = {run: notes_of_run(run, notes) for run in result.runs}
    means: dict[str, dict[str, tuple[float, bool]]] = {}  # of each run, and whether it leads
    for standing in standings:
        leaders = [] if standing.all_alike else standing.leaders
        numbers = zip(standing.runs, standing.ranking["mean"].tolist(), strict=True)
        means[standing.name] = {run: (mean, run in leaders) for run, mean in numbers}
    rankings = []
    for standing in standings:
        name, table, several = standing.name, standing.ranking, len(standing.runs) > 1
        over_all = "rank_low" in table
        compared = several and bool(standing.reference)
        drawn = (
            difference_marks(standing.against.itertuples(), outer=standing.outer)
            if compared
            else []
        )
        differences = {mark.name: mark for mark in drawn}
        has_margin = compared and "better_p" in standing.against
        p_of = _WITH_MARGIN if has_margin else dict.fromkeys(VERDICTS, "p_corrected")
        others = [other.name for other in standings if other is not standing]
        rows: list[dict[str, Any]] = []
        for place, (mark, row) in enumerate(
            zip(mean_marks(standing), table.itertuples(), strict=True), 1
        ):
            run, difference = str(row.run), differences.get(str(row.run))
            leads = several and means[name][run][1]
            group = (
                LEADS if leads else MAY_BE_BEST if several and run in standing.may_be_best else ""
            )
            kind = {LEADS: "leads", MAY_BE_BEST: "may"}.get(group, "rest")
            if result.baseline is not None:
                kind = "" if difference is None else difference.kind
            shown: dict[str, Any] = {
                "mark": mark._replace(kind=kind),
                "group": group,
                "notes": by_run.get(run, []),
            }
            shown |= {"difference": difference, "others": [means[other][run] for other in others]}
            if over_all:  # the interval of the rank in words, and its mark
                rank = Mark(
                    run, place, row.rank_low, row.rank_high, inner=(row.rank_from, row.rank_to)
                )
                shown["rank"] = (f"{rank.low} to {rank.high}", rank)
            if (
                difference is not None
            ):  # the p that its verdict rests on, none where a margin leaves it undecided
                shown["p"] = float(
                    getattr(difference.row, p_of.get(difference.row.verdict, ""), np.nan)
                )
            rows.append(shown)
        measure = (
            known_measure(name)
            if one.compared.scored is None
            else one.compared.scored.measures.get(name)
        )
        what = measure or getattr(standing.criterion, "preference", None)
        forest: dict[str, list[Mark]] = {}
        if isinstance(result, Benchmark) and compared and result.baseline is not None:
            forest = collection_marks(result, name)
        elif isinstance(standing, Standing) and several and standing.result.compared.grouped:
            forest = group_marks(standing)
        ranking = {
            "standing": standing,
            "compared": compared,
            "has_margin": has_margin,
            "scale": Scale.of(row["mark"] for row in rows),
            "difference_scale": Scale.of(drawn, include=[0]),
            "rank_scale": Scale.around([1, len(table)]) if over_all else None,
            "rows": rows,
            "others": others,
            "said": describe(what) if what else None,
            "forest": forest,
            "forest_scale": Scale.of(
                (mark for some in forest.values() for mark in some), include=[0]
            ),
            "estimate": one.compared.test_of(name).procedure.estimate,
            "heatmap": _heatmap(standing) if isinstance(standing, Standing) and several else None,
        }
        rankings.append(ranking)
    return rankings


def _heatmap(standing: Standing) -> dict[str, Any]:
    """Every run against every other, best first: coloured where the verdict is better or worse, the deeper the larger the difference.

    Returns:
        What the ``quantity`` is, what is ``said`` of all, and ``rows`` of cells, None on the
        diagonal; empty where there are too many runs.
    """
    result, criterion, unsure = standing.result, standing.criterion, standing.unsure or []
    what = "Mean preference of the row's run over the column's, from −1 to 1"
    if criterion.is_measure:
        powered = "" if result.compared.predicted is None else ", prediction-powered"
        cost = ", of which the smaller is better" if criterion.smaller_is_better else ""
        what = f"Difference of the means of the row's run and the column's{powered}{cost}"
    matrix = result.matrix(standing.name).loc[standing.runs, standing.runs].to_numpy()
    largest = float(np.abs(matrix).max(initial=0.0)) or 1.0
    widest = largest if criterion.is_measure else 1.0
    facts = {}
    for row in result.table(standing.name).itertuples():
        rest = f"{row.ties} tied; {p_words(float(row.p_corrected))}"
        facts[row.run_a, row.run_b] = f"{row.wins} won, {row.losses} lost, {rest}"
        facts[row.run_b, row.run_a] = f"{row.losses} won, {row.wins} lost, {rest}"
    rows = []
    for a, line in (
        zip(standing.runs, matrix.tolist(), strict=True) if len(standing.runs) <= _MOST_RUNS else ()
    ):
        cells: list[dict[str, Any] | None] = []
        for b, difference in zip(standing.runs, line, strict=True):
            verdict, is_unsure = standing.verdicts.on(a, b), {a, b} in unsure
            decided = verdict in (BETTER, WORSE)
            shade = (
                f"{verdict} d{max(1, round(abs(difference) / widest * _SHADES))}" if decided else ""
            )
            text = _short(difference, largest) + "*" * decided + DAGGER * is_unsure
            undone = "unjudged documents might undo it" if is_unsure else None
            words = verdict_words(verdict, has_margin=result.compared.margins is not None)
            said = "; ".join(filter(None, [words, facts.get((a, b)), undone]))
            cell = {
                "value": difference,
                "text": text,
                "shade": "none" if verdict is None else shade,
            }
            cells.append(
                None
                if a == b
                else {**cell, "words": f"{a} beside {b}: {said}", "run_a": a, "run_b": b}
            )
        rows.append(cells)
    differ = (
        f"{standing.verdicts.decided:,} of {count(len(result.pairs), 'pair')} differ significantly"
    )
    note = f"{differ} ({standing.how})."
    if any(cell is not None and DAGGER in cell["text"] for row in rows for cell in row):
        left = result.missing.undecided(standing.name)
        note += f" {dagger_note({} if left is None else {standing.name: left.depth})}"
    return {
        "quantity": what,
        "said": note,
        "rows": rows,
    }


def _short(difference: float, largest: float) -> str:
    """A difference with as few places as tell it from 0, by the size of the largest.

    >>> _short(-0.25, 0.5), _short(0.012, 0.03), _short(-42207.6, 50000.0)
    ('−.25', '+.012', '−42208')
    """
    if largest >= 10:
        return minus(f"{difference:+.0f}")
    places = 2 if largest >= 0.1 else 3 if largest >= 0.01 else 4
    return minus(f"{difference:+.{places}f}".replace("+0.", "+.").replace("-0.", "-."))
