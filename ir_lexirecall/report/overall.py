"""What holds over many collections: macro means, ranks and differences with their marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ir_lexirecall.benchmark import BenchmarkSuite
from ir_lexirecall.plots import joined_ranks
from ir_lexirecall.report.cells import p_value
from ir_lexirecall.report.forests import Mark, Scale

if TYPE_CHECKING:
    import pandas as pd


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
