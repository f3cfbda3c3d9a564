"""How the runs stand by each criterion: rankings with their marks, and who may be the best by which. All of it is read off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.comparison.criteria import Criterion
from ir_lexirecall.descriptions import Description, describe
from ir_lexirecall.measures.parsing import known_measure
from ir_lexirecall.present.benchmarks import how_resampled, may_be_best, ordered
from ir_lexirecall.present.caveats import is_defined
from ir_lexirecall.present.comparisons import how_compared
from ir_lexirecall.present.missing import outer_intervals
from ir_lexirecall.present.notes import Note, notes_of_run
from ir_lexirecall.present.standings import Standing
from ir_lexirecall.present.words import confidence_words, estimate_words
from ir_lexirecall.reports.forests import Mark, Scale
from ir_lexirecall.reports.rewards import Reward, reward

LEADS, MAY_BE_BEST = "leads", "may be the best"


@dataclass(frozen=True)
class RankedRun:
    """A run in a ranking.

    Attributes:
        group: ``'leads'``, ``'may be the best'``, or empty.
        rank: over collections, the interval of its rank in words, and its mark.
        difference: to the reference, a row of a table with verdicts, and its mark; None of the reference itself.
        others: means by the other criteria, and whether the run leads by them.
    """

    place: int
    run: str
    mean: float
    mark: Mark
    group: str
    rank: tuple[str, Mark] | None
    difference: tuple[Any, Mark] | None
    others: Sequence[tuple[float, bool]]
    notes: Sequence[str]


@dataclass(frozen=True)
class Standings:
    """How runs stand by a criterion, whether on one collection or over several.

    Attributes:
        table: ``run``, ``mean``, ``ci_low``, ``ci_high``, best first; over collections also the interval of ranks.
        leaders, best: the runs that lead, and those that may be the best.
        against: a row for every run that was compared with the reference; None where nothing is compared.
        reference: the run that the others are compared with: the leader, or the baseline; empty where nothing is compared.
        outer: the depth, and the ends of the intervals that hold any judging of unjudged documents, too; None where not known.
    """

    criterion: Criterion
    quantity: str
    table: pd.DataFrame
    leaders: Sequence[str]
    best: Sequence[str]
    against: pd.DataFrame | None = None
    reference: str = ""
    how: str = ""
    estimate: str = ""
    outer: tuple[int, Mapping[str, float], Mapping[str, float]] | None = None

    @property
    def name(self) -> str:
        return self.criterion.name


@dataclass(frozen=True)
class Ranking:
    """The runs by one criterion, best first.

    Attributes:
        is_baseline: whether the reference is the baseline.
    """

    standings: Standings
    is_baseline: bool
    scale: Scale
    difference_scale: Scale
    rank_scale: Scale | None
    rows: Sequence[RankedRun]
    others: Sequence[str]
    confidence: str
    said: Description | None
    picture: Reward | None


def rankings_of(result: Comparison | Benchmark, notes: Sequence[Note]) -> list[Ranking]:
    standings = _over_collections(result) if isinstance(result, Benchmark) else _on_one(result)
    by_run = {run: notes_of_run(run, notes) for run in result.runs}
    return [_ranking(result, standing, standings, by_run) for standing in standings]


def _on_one(result: Comparison) -> list[Standings]:
    found = []
    for name in [name for name, criterion in result.by.items() if is_defined(criterion)]:
        standing = Standing(result, name)
        one = Standings(result.by[name], result.by[name].quantity, standing.ranking, [], [])
        if len(result.runs) > 1:
            reference = result.baseline or standing.runs[0]
            one = replace(
                one,
                leaders=[] if standing.all_alike else standing.leaders,
                best=standing.may_be_best,
                against=standing.beside(reference),
                reference=reference,
                how=how_compared(result, [name]),
                estimate=estimate_words(result.test_of(name)),
                outer=outer_intervals(result, name, reference),
            )
        found.append(one)
    return found


def overall_table(result: Benchmark) -> pd.DataFrame | None:
    """``Benchmark.overall``; None where nothing can be said over collections (the finding says why)."""
    try:
        return result.overall()
    except ValueError:
        return None


def _over_collections(result: Benchmark) -> list[Standings]:
    overall = overall_table(result)
    if overall is None:
        return []
    found = []
    for name in result.quantities:
        criterion, table = result.criterion(name), ordered(result, overall[overall["criterion"] == name])
        best = may_be_best(result, table) if len(table) > 1 else []
        one = Standings(criterion, f"macro {criterion.quantity}", table, best[:1], best)
        if result.baseline is not None and len(table) > 1:
            columns = {"difference": "estimate", "difference_low": "ci_low", "difference_high": "ci_high"}
            others = table[table["run"] != result.baseline].drop(columns=["ci_low", "ci_high"])
            how = how_resampled(result)
            one = replace(one, against=others.rename(columns=columns), reference=result.baseline, how=how)
        found.append(replace(one, estimate="macro difference"))
    return found


def _ranking(
    result: Comparison | Benchmark,
    shown: Standings,
    all_of_them: Sequence[Standings],
    notes: Mapping[str, Sequence[str]],
) -> Ranking:
    scale = Scale.around(shown.table[["mean", "ci_low", "ci_high"]].to_numpy().ravel())
    against = [] if shown.against is None else list(shown.against.itertuples())
    ends = [end for row in against for end in (row.estimate, row.ci_low, row.ci_high)]
    outer = {} if shown.outer is None else {run: (low, shown.outer[2][run]) for run, low in shown.outer[1].items()}
    differences = Scale.around([*ends, *(end for both in outer.values() for end in both)], include=[0])
    compared = {str(row.run): (row, Mark.of_verdict(differences, row, outer.get(str(row.run)))) for row in against}
    ranks = Scale.around([1, len(shown.table)]) if "rank_low" in shown.table else None
    others = [other for other in all_of_them if other is not shown]
    means = [dict(zip(other.table["run"], other.table["mean"].tolist(), strict=True)) for other in others]
    rows = []
    for place, row in enumerate(shown.table.itertuples(), start=1):
        run = str(row.run)
        group = LEADS if run in shown.leaders else MAY_BE_BEST if run in shown.best else ""
        kind = {LEADS: "leads", MAY_BE_BEST: "may"}.get(group, "rest")
        if result.baseline is not None:
            kind = compared[run][1].kind if run in compared else ""
        rows.append(
            RankedRun(
                place=place,
                run=run,
                mean=float(row.mean),
                mark=Mark.on(scale, row.mean, row.ci_low, row.ci_high, kind),
                group=group,
                rank=None if ranks is None else (f"{row.rank_low} to {row.rank_high}", Mark.of_rank(ranks, place, row)),
                difference=compared.get(run),
                others=[(mean[run], run in other.leaders) for mean, other in zip(means, others, strict=True)],
                notes=notes.get(run, []),
            )
        )
    measure = _measure(result, shown.name)
    return Ranking(
        standings=shown,
        is_baseline=result.baseline is not None,
        scale=scale,
        difference_scale=differences,
        rank_scale=ranks,
        rows=rows,
        others=[other.name for other in others],
        confidence=confidence_words(result.provenance),
        said=describe(what) if (what := measure or getattr(shown.criterion, "preference", None)) else None,
        picture=reward(measure) if measure else None,
    )


def _measure(result: Comparison | Benchmark, name: str) -> IRMeasure | None:
    """The measure that a criterion is; None for preferences, and for values of one that is not known by its name."""
    scored = (next(iter(result.values())) if isinstance(result, Benchmark) else result).scored
    return known_measure(name) if scored is None else scored.measures.get(name)


def best_sets(rankings: Sequence[Ranking]) -> list[tuple[str, list[str]]]:
    """Runs that may be the best by some criterion, their groups by each; none of one ranking, or fewer than three runs."""
    if len(rankings) < 2 or len(rankings[0].rows) < 3:
        return []
    groups = [{row.run: row.group for row in ranking.rows} for ranking in rankings]
    rows = [(row.run, [by[row.run] for by in groups]) for row in rankings[0].rows if any(by[row.run] for by in groups)]
    return sorted(rows, key=lambda row: -sum(map(bool, row[1])))
