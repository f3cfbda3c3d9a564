"""How runs are compared, whatever is compared: the baseline, the margin, the test, and groups of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ir_lexirecall._util.errors import check_choice
from ir_lexirecall.comparison.margins import MarginLike
from ir_lexirecall.evaluation.scored_runs import check_runs
from ir_lexirecall.io.columns import is_file
from ir_lexirecall.io.groups import GroupsLike, QueryGroups, read_groups
from ir_lexirecall.io.values import ValueTable
from ir_lexirecall.io.values.frames import columns_of_frame
from ir_lexirecall.significance import SignificanceTest


@dataclass(frozen=True)
class Design:
    """How runs are compared: see ``compare``, whose arguments these are."""

    baseline: str | None = None
    margin: MarginLike | None = None
    test: SignificanceTest = field(default_factory=SignificanceTest)
    groups: QueryGroups | None = None
    cluster: bool = False

    def check_groups(self, groups: object, predicted: object = None) -> None:
        """Refuse groups as units where there are no groups, or for a test that cannot, and any groups with predicted judgments."""
        if groups is not None and predicted is not None:
            raise ValueError("predicted judgments sharpen what is said of all queries; leave groups out")
        if self.cluster and groups is None:
            raise ValueError("cluster=True takes groups of queries as units of the tests; pass groups=")
        if self.cluster:
            replace(self.test, groups=())

    def check_runs(self, runs: Any, least: int = 2) -> None:
        """Refuse runs that are no mapping of at least so many, or lack the baseline, before any is read."""
        check_runs(runs, least)
        if self.baseline is not None:
            check_choice("baseline", self.baseline, [str(name) for name in runs])


def groups_of(
    groups: GroupsLike | None, query_ids: Sequence[str], table: Any = None, collection: str | None = None
) -> QueryGroups | None:
    """The groups of the queries; a name that is no file is that of a column of ``table``, where that is a table."""
    if groups is None:
        return None
    named = isinstance(groups, str) and not is_file(groups) and columns_of_frame(table) is not None
    return read_groups(groups, query_ids, table=table if named else None, collection=collection)


def without_column(table: ValueTable, groups: GroupsLike | None) -> ValueTable:
    """Values without the column that names groups, which may be numbers."""
    if not isinstance(groups, str) or groups not in table.values:
        return table
    kept = {name: values for name, values in table.values.items() if name != groups}
    return replace(table, values=kept, costs=table.costs & kept.keys())
