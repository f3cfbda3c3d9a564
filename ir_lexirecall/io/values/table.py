"""One table of values: every cell once, none missing, all in range."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import and_more, did_you_mean, shown_names
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall.io.known_measures import known
from ir_lexirecall.io.trec_eval_names import equivalent
from ir_lexirecall.io.values.cells import Cells, texts


@dataclass(frozen=True)
class ValueTable:
    """Values of S runs on Q queries with each of some measures, computed elsewhere.

    Attributes:
        runs: names of runs, in the order of the source.
        query_ids: ids of queries, sorted.
        values: by measure, an array of shape ``(S, Q)`` without gaps.
        skipped: queries that were left out because a value was missing.
        per_task: whether the "queries" are tasks or collections, one value each: inference is over collections only.
        source: what messages call it.
        costs: measures of which the smaller value is better, as the user said; ``is_cost`` also knows some by their names.
    """

    runs: list[str]
    query_ids: list[str]
    values: dict[str, Floats]
    skipped: tuple[str, ...] = ()
    per_task: bool = False
    source: str = "values"
    costs: frozenset[str] = frozenset()

    @property
    def measures(self) -> list[str]:
        """Names of measures, in the order of the source."""
        return list(self.values)

    def is_cost(self, measure: str) -> bool | None:
        """Whether the smaller value of a measure is better; None where nothing is known of it: then the larger one is taken to be.

        >>> ValueTable([], [], {"RMSE": np.zeros((0, 0)), "zeal": np.zeros((0, 0))}).is_cost("RMSE")
        True
        """
        if measure in self.costs:
            return True
        return None if (of_measure := known(measure)) is None else of_measure.smaller_is_better

    def with_costs(self, names: str | Iterable[str] | None) -> ValueTable:
        """The same table, where the smaller value of some measures is better.

        Raises:
            ValueError: there is no such measure.
        """
        wanted = [names] if isinstance(names, str) else list(names or ())
        if unknown := [name for name in map(str, wanted) if name not in self.values]:
            raise ValueError(
                f"smaller_is_better: {self.source} has no measure {unknown[0]!r}; there are {shown_names(self.measures)}"
                f"{did_you_mean(unknown[0], self.measures)}"
            )
        return replace(self, costs=self.costs | set(map(str, wanted))) if wanted else self

    def by_task(self) -> dict[str, ValueTable]:
        """Where the "queries" are tasks: a table of one value per run for each of them."""
        return {
            task: replace(
                self, query_ids=[task], values={name: x[:, [q]] for name, x in self.values.items()}, skipped=()
            )
            for q, task in enumerate(self.query_ids)
        }

    def table(self) -> pd.DataFrame:
        """The values as a frame: ``run``, ``query_id``, and a column per measure."""
        columns = {name: values.ravel() for name, values in self.values.items()}
        ids = {
            "run": np.repeat(texts(self.runs), len(self.query_ids)),
            "query_id": texts(self.query_ids * len(self.runs)),
        }
        return pd.DataFrame({**ids, **columns})


def joined(parts: list[Cells]) -> Cells | None:
    parts = [part for part in parts if len(part)]
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([len(part) for part in parts])

    def place(n: int) -> str:
        part = int(np.searchsorted(ends, n, side="right"))
        return parts[part].place(n - int(ends[part]) + len(parts[part]))

    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ("run", "query_id", "measure")}
    value = np.concatenate([part.value for part in parts])
    return Cells(**columns, value=value, place=place, per_task=all(part.per_task for part in parts))


def arranged(cells: Cells, measures: list[str] | None, missing: str, source: str) -> ValueTable:
    """The cells as arrays; every fault is named."""
    nameless = next((n for n, run in enumerate(cells.run) if run is None), None)
    if nameless is not None:
        raise ValueError(f"{cells.place(nameless)}: there is no run; add a column run, or give {{run: values}}")
    s, runs = pd.factorize(cells.run)
    q, query_ids = pd.factorize(cells.query_id, sort=True)
    k, names = pd.factorize(cells.measure)
    names = list(names)
    theirs = names if measures is None else names_there(measures, names, source)
    shape = (len(names), len(runs), len(query_ids))
    cell = np.ravel_multi_index((k, s, q), shape)
    _refuse_repetitions(cells, cell)
    grid = np.full(shape, np.nan)
    grid.ravel()[cell] = cells.value
    grid = grid[[names.index(name) for name in theirs]]
    names = names if measures is None else measures
    _refuse_mixed(grid, names, list(runs), source)
    _refuse_values(cells, set(theirs))
    gaps = np.isnan(grid)
    incomplete = gaps.any(axis=(0, 1))
    if gaps.any() and missing == "error":
        a, b, c = (int(axis[0]) for axis in np.nonzero(gaps))
        raise ValueError(
            f"{source}: the {names[a]} of run {runs[b]!r} for query {query_ids[c]!r} is missing"
            f"{and_more(int(gaps.sum()) - 1)}; add it, or give missing='skip' to leave out {int(incomplete.sum())} of "
            f"{len(query_ids)} queries"
        )
    if incomplete.all():
        raise ValueError(f"{source}: no query has all values; do all runs name the same queries?")
    return ValueTable(
        list(runs),
        [str(query) for query in query_ids[~incomplete]],
        {name: values[:, ~incomplete] for name, values in zip(names, grid, strict=True)},
        tuple(str(query) for query in query_ids[incomplete]),
        cells.per_task,
        source,
    )


def names_there(wanted: Sequence[str], names: Sequence[str], source: str) -> list[str]:
    """What a source calls some measures: the same, or as trec_eval does.

    >>> names_there(["AP", "P@5"], ["map", "P_5", "P@5"], "values")
    ['map', 'P@5']
    """
    ours = {theirs.measure: name for name in names if (theirs := equivalent(name)) is not None}
    for name in wanted:
        if name not in names and name not in ours:
            raise ValueError(
                f"{source}: no values of {name!r}; there are {shown_names(list(names))}{did_you_mean(name, names)}"
            )
    return [name if name in names else ours[name] for name in wanted]


def _refuse_repetitions(cells: Cells, cell: NDArray[Any]) -> None:
    order = np.argsort(cell, kind="stable")
    again = order[1:][cell[order][1:] == cell[order][:-1]]
    if len(again):
        second = int(again.min())
        first = int(np.flatnonzero(cell == cell[second])[0])
        raise ValueError(
            f"{cells.place(second)}: the {cells.measure[second]} of run {cells.run[second]!r} for query "
            f"{cells.query_id[second]!r} is there already ({cells.place(first)}){and_more(len(again) - 1)}; keep one"
        )


def _refuse_mixed(grid: Floats, names: Sequence[str], runs: Sequence[str], source: str) -> None:
    there = {name: ~np.isnan(values).all(axis=1) for name, values in zip(names, grid, strict=True)}
    for name, has in there.items():
        if not has.all():
            common = [other for other, every in there.items() if every.all()]
            cure = (
                f"all have {shown_names(common)}: name what to take" if common else "there is no measure that all have"
            )
            twice = next((pair for pair in combinations(names, 2) if _same(*pair)), None)
            if not common and twice is not None:
                cure = f"{' and '.join(twice)} are what two programs call one measure: take the values of all runs from one"
            lacking = runs[int((~has).argmax())]
            raise ValueError(
                f"{source}: run {lacking!r} has no values of {name}{and_more(int((~has).sum()) - 1)}; {cure}"
            )


def _same(name: str, other: str) -> bool:
    """Whether two names are of one measure, for trec_eval and for ir_measures.

    >>> _same("map", "AP"), _same("P_5", "P@10")
    (True, False)
    """
    ours = {name: theirs.measure for name in (name, other) if (theirs := equivalent(name)) is not None}
    return ours.get(name, name) == ours.get(other, other)


def _refuse_values(cells: Cells, names: set[str]) -> None:
    """Refuse values that are infinite, or outside the range of a measure that is known by its name."""
    for name in [name for name in dict.fromkeys(cells.measure) if name in names]:
        of_measure = known(name)
        low, high = (-np.inf, np.inf) if of_measure is None else of_measure[:2]
        slack = 1e-9 * max(1.0, *(abs(end) for end in (low, high) if np.isfinite(end)), 1.0)
        outside = np.isinf(cells.value) | (cells.value < low - slack) | (cells.value > high + slack)
        bad = np.flatnonzero((cells.measure == name) & outside)
        if not len(bad):
            continue
        value = float(cells.value[bad[0]])
        if np.isinf(value):
            cure = "leave it out"
        elif (low, high) == (0.0, 1.0):
            cure = "its values lie between 0 and 1: divide percentages by 100"
        else:
            ends = [f"{word} {end:.6g}" for word, end in (("least", low), ("most", high)) if np.isfinite(end)]
            cure = f"its values are at {' and at '.join(ends)}; is it another measure? Call it otherwise"
        raise ValueError(
            f"{cells.place(int(bad[0]))}: the {name} of run {cells.run[bad[0]]!r} for query {cells.query_id[bad[0]]!r} is "
            f"{value:g}; {cure}{and_more(len(bad) - 1)}"
        )
