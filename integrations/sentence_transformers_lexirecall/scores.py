"""What all evaluators share: the values of measures per query, their means with intervals, and the file of results."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from ir_measures.measures.base import Measure as IRMeasure

from ir_lexirecall._util.errors import check_choice
from ir_lexirecall.data.alignment import RunLike, align
from ir_lexirecall.data.judgments import Judgments
from ir_lexirecall.io.files import written_whole
from ir_lexirecall.measures.parsing import MeasuresLike, parse_measures
from ir_lexirecall.measures.scoring import aggregate, values
from ir_lexirecall.significance.over_collections import mean_interval


def measures_and_primary(measures: MeasuresLike, primary: str | None) -> tuple[dict[str, IRMeasure], str]:
    """The measures by name, and the one that selects the best model: the first one, if none is named."""
    named = parse_measures(measures)
    return named, next(iter(named)) if primary is None else check_choice("primary", primary, named)


def per_query(measures: Mapping[str, IRMeasure], judgments: Judgments, run: RunLike) -> pd.DataFrame:
    """Values of a run: a row per query, a column per measure."""
    aligned = align(judgments, run)
    columns = {name: values(measure, aligned) for name, measure in measures.items()}
    return pd.DataFrame(columns, index=pd.Index(judgments.query_ids, name="query_id"))


def aggregates(measures: Mapping[str, IRMeasure], table: pd.DataFrame) -> dict[str, float]:
    """The value of each measure over all queries."""
    return {name: float(aggregate(measure, table[name].to_numpy())) for name, measure in measures.items()}


def intervals(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Means with the intervals that ``Comparison.means`` gives: ``measure``, ``mean``, ``ci_low``, ``ci_high``."""
    low, high = mean_interval(np.ascontiguousarray(table.to_numpy().T), alpha)
    means = table.mean().to_numpy()
    return pd.DataFrame({"measure": table.columns, "mean": means, "ci_low": low, "ci_high": high})


def add_to_last_row(path: Path, columns: Mapping[str, float]) -> None:
    """Add columns to the row that sentence-transformers wrote last; rows without them, from before, have nothing there."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    header += [name for name in columns if name not in header]
    padded: list[Sequence[object]] = [row + [""] * (len(header) - len(row)) for row in rows]
    last = {**dict(zip(header, padded[-1], strict=True)), **columns}
    padded[-1] = [last[name] for name in header]
    with written_whole(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *padded])
