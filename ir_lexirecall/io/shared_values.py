"""Values of runs that lack some: each pair of runs is compared on what both have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ir_lexirecall._util.arrays import Ints
from ir_lexirecall._util.errors import shown
from ir_lexirecall.io.mteb_results import TaskResult
from ir_lexirecall.io.value_cells import Cells

Key: TypeAlias = tuple[str, ...]
"""A measure and what one of its values is of: a query, or a task, a split and a subset."""
Pair: TypeAlias = tuple[str, str]
"""Names of two runs."""
Table: TypeAlias = Any
"""A `ValueTable`, whose module imports this one."""


@dataclass(frozen=True)
class SharedValues:
    """Values of runs of which some lack a few: those that the runs of a pair share.

    Attributes:
        keys_of_run: what each run has values for.
        read: returns the table of some runs, on what all of these have.
        names: the measure of the source that each measure is.
    """

    keys_of_run: Mapping[str, frozenset[Key]]
    read: Callable[[Sequence[str]], Table]
    names: Mapping[str, str]

    def renamed(self, names: Mapping[str, str]) -> SharedValues:
        """Return the same values under other names of measures.

        Args:
            names: the present name of each measure that is kept, by its new name.
        """
        return replace(
            self, names={new: self.names[name] for new, name in names.items()}
        )

    def n_cells(self, measure: str, pairs: Sequence[Pair]) -> Ints | None:
        """Return the number of cells (task, split, subset) of each pair; None without cells."""
        source = self.names[measure]
        cells_of_run = {
            run: {key for key in keys if key[0] == source and len(key) > 2}
            for run, keys in self.keys_of_run.items()
        }
        if not any(cells_of_run.values()):
            return None
        return np.array([len(cells_of_run[a] & cells_of_run[b]) for a, b in pairs])

    def tables(self, pairs: Sequence[Pair]) -> list[tuple[list[int], Table]]:
        """Return tables, each with the indices of the pairs whose runs share just its values.

        All runs of a table have all of its values: those of a pair with the same shared values do.

        Raises:
            ValueError: the runs of a pair share no values.
        """
        pairs_of_keys: dict[frozenset[Key], list[int]] = {}
        for index, (a, b) in enumerate(pairs):
            shared = self.keys_of_run[a] & self.keys_of_run[b]
            pairs_of_keys.setdefault(shared, []).append(index)
        tables = []
        for indices in pairs_of_keys.values():
            runs = dict.fromkeys(run for index in indices for run in pairs[index])
            try:
                table = self.read([run for run in self.keys_of_run if run in runs])
            except ValueError as error:
                a, b = pairs[indices[0]]
                raise ValueError(
                    f"runs {shown(a)} and {shown(b)} cannot be compared: {error}"
                ) from None
            values = {name: table.values[source] for name, source in self.names.items()}
            tables.append((indices, replace(table, values=values)))
        return tables


def keys_of_runs(
    cells: Iterable[Cells], results: Iterable[TaskResult]
) -> dict[str, frozenset[Key]]:
    """Return what each run has values for, in the order of the source."""
    keys: dict[str, set[Key]] = {}
    for part in cells:
        has_value = ~np.isnan(part.value)
        columns = (part.run, part.measure, part.query_id)
        for run, measure, query_id in zip(
            *(x[has_value] for x in columns), strict=True
        ):
            keys.setdefault(str(run), set()).add((str(measure), str(query_id)))
    for result in results:
        present = {(result.measure, result.task, *cell) for cell in result.present}
        keys.setdefault(result.run, set()).update(present)
    return {run: frozenset(of_run) for run, of_run in keys.items()}
