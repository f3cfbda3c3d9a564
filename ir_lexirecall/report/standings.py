"""How the runs stand by each measure and preference: rankings with their marks, and who leads by which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall.benchmark import Benchmark
from ir_lexirecall.descriptions import describe
from ir_lexirecall.preferences.result import Preferences
from ir_lexirecall.report.findings import Summary
from ir_lexirecall.report.forests import Mark, Scale
from ir_lexirecall.report.rewards import Reward, reward
from ir_lexirecall.summary import Standing, estimate_words

if TYPE_CHECKING:
    pass


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
