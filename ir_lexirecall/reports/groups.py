"""What holds in each group of queries: a forest of differences for each criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ir_lexirecall.comparison import Comparison
from ir_lexirecall.present.caveats import is_defined
from ir_lexirecall.present.standings import Standing
from ir_lexirecall.present.words import confidence_words, estimate_words
from ir_lexirecall.reports.forests import Mark, Scale


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
