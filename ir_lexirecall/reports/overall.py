"""What holds beside the ranking: over collections mean ranks and forests of differences, and forests in groups of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ir_lexirecall.benchmarks import Benchmark
from ir_lexirecall.comparison import Comparison
from ir_lexirecall.plots.benchmarks import joined_ranks
from ir_lexirecall.present.benchmarks import wilcoxon_words
from ir_lexirecall.present.caveats import is_defined
from ir_lexirecall.present.standings import Standing
from ir_lexirecall.present.words import confidence_words, estimate_words
from ir_lexirecall.reports.cells import p_value
from ir_lexirecall.reports.forests import Mark, Scale
from ir_lexirecall.reports.standings import Ranking


@dataclass(frozen=True)
class Overall:
    """What holds over collections by one criterion.

    Attributes:
        friedman: Friedman's test and Nemenyi's critical difference in words; empty with fewer than three runs.
        mean_ranks: rows of run, mean rank and its mark, and for each bar whether it passes the run.
        forest: with a baseline, for every other run rows of collection, what the test estimates there, and its mark; the last
            one the macro difference, with its corrected p.
    """

    ranking: Ranking
    friedman: str
    mean_ranks: Sequence[tuple[str, float, Mark, Sequence[bool]]]
    forest: Mapping[str, Sequence[tuple[str, float, Mark, float | None]]]
    forest_scale: Scale
    estimate: str


def overall_of(result: Benchmark, rankings: Sequence[Ranking]) -> list[Overall]:
    """What holds over collections by each criterion; nothing of a single run."""
    return [_overall(result, ranking) for ranking in rankings] if len(result.runs) > 1 else []


def _overall(result: Benchmark, ranking: Ranking) -> Overall:
    test, scale = result.friedman(ranking.standings.name), ranking.rank_scale
    assert scale is not None
    bars = joined_ranks(test["mean_rank"].to_numpy(), test["critical_difference"])
    said = ""
    if not np.isnan(test["p"]):
        said = (
            f"Friedman's test that all runs rank alike: chi-squared {test['chi2']:.3f}, p {p_value(test['p'])}; critical "
            f"difference {test['critical_difference']:.2f} (Nemenyi, which depends on all runs that are there): runs beside one bar do "
            f"not differ significantly. {wilcoxon_words(test)}"
        )
    mean_ranks = [
        (str(run), float(value), Mark.on(scale, value), [first <= place <= last for first, last in bars])
        for place, (run, value) in enumerate(test["mean_rank"].items())
    ]
    first = next(iter(result.values()))
    estimate = estimate_words(first.test_of(ranking.standings.name))
    return Overall(ranking, said, mean_ranks, *_forests(result, ranking), estimate)


def _forests(
    result: Benchmark, ranking: Ranking
) -> tuple[dict[str, list[tuple[str, float, Mark, float | None]]], Scale]:
    """What is estimated against the baseline on each collection and over all, for every other run, best first."""
    if result.baseline is None:
        return {}, ranking.difference_scale
    table = result.by_collection(ranking.standings.name)
    over_all = {row.run: row.difference for row in ranking.rows if row.difference is not None}
    ends = [end for whole, _ in over_all.values() for end in (whole.estimate, whole.ci_low, whole.ci_high)]
    scale = Scale.around([*table[["estimate", "ci_low", "ci_high"]].to_numpy().ravel(), *ends], include=[0])
    forest: dict[str, list[tuple[str, float, Mark, float | None]]] = {}
    for run, (whole, drawn) in over_all.items():
        rows = table[table["run_a"] == run].itertuples()
        forest[run] = [(str(row.collection), float(row.estimate), Mark.of_verdict(scale, row), None) for row in rows]
        mark = Mark.on(scale, whole.estimate, whole.ci_low, whole.ci_high, f"all {drawn.kind}")
        forest[run].append(("all", float(whole.estimate), mark, float(whole.p_corrected)))
    return forest, scale


# -- groups of queries -----------------------------------------------------------------------------


@dataclass(frozen=True)
class GroupForest:
    """What holds in each group by one criterion.

    Attributes:
        reference: the baseline, or the leader.
        forest: for every other run, best first, rows of group, what the test estimates, its mark, and the corrected p.
    """

    name: str
    reference: str
    forest: Mapping[str, Sequence[tuple[str, float, Mark, float]]]
    scale: Scale
    estimate: str
    confidence: str
    smaller_is_better: bool


def groups_of(result: Comparison) -> list[GroupForest]:
    """A forest for each criterion; none where there are no groups to compare."""
    if not result.grouped or len(result.runs) < 2:
        return []
    return [_forest(result, name) for name, criterion in result.by.items() if is_defined(criterion)]


def _forest(result: Comparison, name: str) -> GroupForest:
    standing = Standing(result, name)
    reference = result.baseline or standing.runs[0]
    tables = standing.in_groups(reference)
    scale = Scale.around(
        (end for table in tables.values() for end in table[["estimate", "ci_low", "ci_high"]].to_numpy().ravel()), [0]
    )
    forest: dict[str, list[tuple[str, float, Mark, float]]] = {run: [] for run in standing.runs if run != reference}
    for group, table in tables.items():
        for row in table.itertuples():
            mark = Mark.of_verdict(scale, row)
            forest[str(row.run)].append((f"{group} ({row.queries})", float(row.estimate), mark, float(row.p_corrected)))
    estimate, confidence = estimate_words(result.test_of(name)), confidence_words(result.provenance)
    return GroupForest(name, reference, forest, scale, estimate, confidence, result.by[name].smaller_is_better)
