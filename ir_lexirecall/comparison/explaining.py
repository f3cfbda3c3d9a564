"""What decided between two runs, query by query, and where two criteria disagree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ir_lexirecall._util.arrays import Floats
from ir_lexirecall._util.errors import check_choice
from ir_lexirecall._util.lazy import pandas as pd
from ir_lexirecall._util.selecting import reading_order
from ir_lexirecall.comparison.compared import ComparedRuns

LEGEND = {
    "level": "level: i if the i-th relevant document decided",
    "tied_levels": "tied_levels: number of levels that tied before",
    "doc_id": "doc_id: the document that decided, in the winner's ranking",
    "rank_a": "rank_a, rank_b: ranks that decided, of {a} and {b} (-: not retrieved)",
    "other_doc_id": "other_doc_id: the other run's document at its rank",
    "value_a": "value_a, value_b: values of {a} and {b}",
    "strength": "strength: the two differences multiplied (of a preference, its value)",
}
"""Meanings of columns of `explained` and `disagreements` whose names do not tell."""


def explained(
    compared: ComparedRuns, a: str, b: str, by: str | None = None
) -> pd.DataFrame:
    """Return what decided between two runs by one criterion; see `Comparison.explain`."""
    name = compared.criterion(by).name
    for run in (a, b):
        check_choice("run", run, compared.runs)
    part = compared.part_of_pair(a, b)
    criterion, first, second = part.by[name], part.runs.index(a), part.runs.index(b)
    preference, decided = criterion.explained(first, second)
    run_of_sign = {1: a, -1: b}
    winner = [run_of_sign.get(sign) for sign in np.sign(preference).tolist()]
    columns = {
        "query_id": criterion.query_ids,
        "winner": pd.Series(winner, dtype=object),
        "preference": preference,
    }
    table = compared.frame(columns | decided)
    order = reading_order(criterion.query_ids)
    return table.iloc[order].reset_index(drop=True)


def explained_together(
    compared: ComparedRuns, a: str, b: str, names: Sequence[str]
) -> pd.DataFrame:
    """Return what decided between two runs by several criteria, in one table with a row per query.

    Columns of `explained` are called by the criterion: `AP winner`, `AP value_a`, ...; they are
    missing on queries that do not count for it.
    """
    parts = []
    query_ids = compared.query_ids
    if a in compared.runs and b in compared.runs:
        query_ids = compared.part_of_pair(a, b).query_ids
    for name in names:
        part = (
            explained(compared, a, b, name).set_index("query_id").add_prefix(f"{name} ")
        )
        integers = part.select_dtypes("int64").columns
        # Integers may be missing.
        parts.append(part.astype(dict.fromkeys(integers, "Int64")))
    counted = [q for q in query_ids if any(q in part.index for part in parts)]
    order = reading_order(counted)
    index = pd.Index([counted[i] for i in order], name="query_id")
    joined = pd.concat([part.reindex(index) for part in parts], axis=1).reset_index()
    joined.attrs.clear()
    return compared.frame(joined)


def disagreements(
    compared: ComparedRuns, by_a: str, by_b: str, a: str, b: str
) -> pd.DataFrame:
    """Return the queries on which two criteria prefer different runs; see `Comparison`.

    Raises:
        ValueError: the criteria are the same, or the runs are.
    """
    names = [compared.criterion(by).name for by in (by_a, by_b)]
    if names[0] == names[1]:
        raise ValueError(f"{names[0]} cannot disagree with itself; name two criteria")
    if a == b:
        raise ValueError(f"run {a!r} is named twice; name two runs")
    table = explained_together(compared, a, b, names)
    first, second = (table[f"{name} winner"] for name in names)
    opposed = first.notna() & second.notna() & (first != second)
    strength = pd.Series(1.0, index=table.index)
    for name in names:
        strength *= _sizes(table, name)
    differing = table.assign(strength=strength)[opposed]
    differing = differing.sort_values("strength", ascending=False, kind="stable")
    differing = compared.frame(differing.reset_index(drop=True))
    differing.attrs["counts"] = {
        "queries": len(table),
        "disagree": int(opposed.sum()),
        "agree": int((first.notna() & (first == second)).sum()),
        f"{names[0]} prefers {a}, {names[1]} {b}": int((opposed & (first == a)).sum()),
        f"{names[0]} prefers {b}, {names[1]} {a}": int((opposed & (first == b)).sum()),
    }
    return differing


def _sizes(table: pd.DataFrame, name: str) -> Floats:
    """Return how much one run is preferred: by a measure the difference, else the preference."""
    if f"{name} value_a" in table:
        sizes = table[f"{name} value_a"] - table[f"{name} value_b"]
    else:
        sizes = table[f"{name} preference"]
    return np.abs(sizes.to_numpy(dtype=float))
