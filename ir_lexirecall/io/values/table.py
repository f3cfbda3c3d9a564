"""One table of values: every cell once, none missing, all in range."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import and_more, did_you_mean, shown_names
from ir_lexirecall._util.lazy import pandas as pd
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
    """

    runs: list[str]
    query_ids: list[str]
    values: dict[str, Floats]
    skipped: tuple[str, ...] = ()
    per_task: bool = False
    source: str = "values"

    @property
    def measures(self) -> list[str]:
        """Names of measures, in the order of the source."""
        return list(self.values)

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
    ours = {known.measure: name for name in names if (known := equivalent(name)) is not None}
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
    known = {name: known.measure for name in (name, other) if (known := equivalent(name)) is not None}
    return known.get(name, name) == known.get(other, other)


_UNIT = frozenset(
    [
        "ap",
        "map",
        "p",
        "precision",
        "r",
        "recall",
        "rr",
        "mrr",
        "recip_rank",
        "rprec",
        "bpref",
        "infap",
        "success",
        "iprec",
        "iprec_at_recall",
        "ndcg",
        "map_cut",
        "ndcg_cut",
        "11pt_avg",
        "setp",
        "setr",
        "setf",
        "setap",
        "set_p",
        "set_recall",
        "set_f",
        "set_map",
        "rbp",
        "err",
        "judged",
        "unj",
        "lr",
        "lexirecall",
        "tse",
        "rbu",
        "strecall",
        "strec",
        "hit_rate",
        "alpha_ndcg",
        "alpha-ndcg",
        "err_ia",
        "err-ia",
        "nerr_ia",
        "nerr-ia",
        "nrbp",
        "recallloss",
        "elevenpt",
        "iprec_te",
        "rndcg",
    ]
)
"""Measures whose values lie between 0 and 1, in lower case and without parameters."""


def _refuse_values(cells: Cells, names: set[str]) -> None:
    """Refuse values that are infinite, or outside the range of a measure that is known by its name."""
    unit = texts(name in names and _base(name) in _UNIT for name in cells.measure).astype(bool)
    with np.errstate(invalid="ignore"):
        bad = np.isinf(cells.value) | (unit & ((cells.value < -1e-9) | (cells.value > 1 + 1e-9)))
    bad &= np.isin(cells.measure, list(names))
    if bad.any():
        n = int(bad.argmax())
        value = float(cells.value[n])
        cure = "leave it out" if np.isinf(value) else "its values lie between 0 and 1: divide percentages by 100"
        raise ValueError(
            f"{cells.place(n)}: the {cells.measure[n]} of run {cells.run[n]!r} for query {cells.query_id[n]!r} is {value:g}; "
            f"{cure}{and_more(int(bad.sum()) - 1)}"
        )


def _base(name: str) -> str:
    """A measure's name without its parameters.

    >>> [_base(name) for name in ("nDCG@10", "ndcg_cut_10", "P(rel=2)@5", "iprec_at_recall_0.10", "ndcg_at_10")]
    ['ndcg', 'ndcg_cut', 'p', 'iprec_at_recall', 'ndcg']
    """
    return re.sub(r"(\(.*|@.*|_at_\d+|_[\d.]+)\Z", "", name.lower())
