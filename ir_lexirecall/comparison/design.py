"""How runs are compared, whatever is compared: the baseline, the margin, the test, and groups of queries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ir_lexirecall._util.errors import check_choice, check_number, shown
from ir_lexirecall.comparison.criteria import Criterion
from ir_lexirecall.evaluation.scored_runs import check_runs
from ir_lexirecall.io.columns import is_file
from ir_lexirecall.io.groups import GroupsLike, QueryGroups, read_groups
from ir_lexirecall.io.value_cells import columns_of_frame
from ir_lexirecall.significance import SignificanceTest

MarginLike: TypeAlias = float | str | Mapping[str, float | str]
"""A margin for all criteria, or by criterion: a number in the criterion's unit, or ``"2%"`` of the baseline's mean."""

_PERCENT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*%\s*")


@dataclass(frozen=True)
class Design:
    """How runs are compared: see ``compare``, whose arguments these are.

    Raises:
        ValueError: groups as units where there are none.
    """

    baseline: str | None = None
    margin: MarginLike | None = None
    test: SignificanceTest = field(default_factory=SignificanceTest)
    predicted: Any = None
    groups: GroupsLike | None = None
    allow_empty: bool = False
    least: int = 2  # how many runs are needed

    def __post_init__(self) -> None:
        self.test.check_groups(self.groups)

    def check_runs(self, runs: Any) -> None:
        """Refuse runs that are no mapping of at least so many, or lack the baseline, before any is read."""
        check_runs(runs, self.least)
        if self.baseline is not None:
            check_choice("baseline", self.baseline, [str(name) for name in runs])

    def margins(self, criteria: Mapping[str, Criterion], runs: Sequence[str]) -> dict[str, float] | None:
        """The margin of each criterion in its own unit; None where there is none.

        Raises:
            ValueError: a margin without a baseline, below 0, not finite, relative to a preference, or for a criterion that is not
                there; or a criterion without a margin.
        """
        if self.margin is None:
            return None
        if self.baseline is None:
            raise ValueError("a margin needs a baseline that runs may not fall behind; pass baseline=")
        given = self.margin if isinstance(self.margin, Mapping) else dict.fromkeys(criteria, self.margin)
        for name in given:
            check_choice("criterion of a margin", str(name), criteria)
        if lacking := [name for name in criteria if name not in given]:
            raise ValueError(f"no margin for {lacking[0]}; give one for every criterion, or one number for all")
        margins = {}
        for name, criterion in criteria.items():
            margin = given[name]
            if not isinstance(margin, str):
                margins[name] = check_number(f"margin of {name}", margin, least=0)
                continue
            if (share := _PERCENT.fullmatch(margin)) is None:
                asked = "expected a number, or a share of the baseline's mean such as '2%'"
                raise ValueError(f"margin of {name}: {asked}, not {shown(margin)}")
            if not criterion.is_measure:
                said = f"{margin} is relative to a mean, and a preference has no mean; give a number"
                raise ValueError(f"margin of {name}: {said}")
            margins[name] = float(share[1]) / 100 * abs(float(criterion.means[runs.index(self.baseline)]))
        return margins


def groups_of(
    groups: GroupsLike | None, query_ids: Sequence[str], table: Any = None, collection: str | None = None
) -> QueryGroups | None:
    """The groups of the queries; a name that is no file is that of a column of ``table``, where that is a table."""
    if groups is None:
        return None
    named = isinstance(groups, str) and not is_file(groups) and columns_of_frame(table) is not None
    return read_groups(groups, query_ids, table=table if named else None, collection=collection)
